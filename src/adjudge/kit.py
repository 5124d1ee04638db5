"""Everything that a judge in a package of its own needs, by one import; docs/write-a-judge.md is the lesson.

A judge is a frozen, keyword-only dataclass that derives from `Prompted`. Its fields are its settings, class
variables say what it is (`name`, `protocol`, `weights`, `with_reference`, `calls`), and `_files` are its
prompts. What it judges at once decides which method it has: `annotate` for one translation, `compare` for a
pair (derive from `PairSettings`), `annotate_all` for all translations of a source, `check` for criteria.
`adjudge new-judge NAME` writes a package with such a judge, its prompts and its test.

- **Prompts**: `load_prompts("my_judge", names, self.prompts, package=__package__)` finds
  `prompts/my_judge/*.md` of your package, the files that all judges share (`texts.md`, those of `TEXT_FILES`
  and of `PAIR_FILES`), and the user's `--prompts`. `Prompts.message` and `Prompts.piece` fill them in;
  `render_texts` and `render_pair` write what is judged as `Quoted` texts, which are data and never obeyed.
- **Asking**: `await ask(messages, about=About(...), read=...)` gives an `Answer` with a checked `value`.
  `About.wants` names the kind of answer. `or_error` turns a question that failed into a value, so that others
  go on.
- **Reading**: a reader gets a `Reply` and returns a value, or raises `AnswerError(reason, detail)`. All that
  is read goes through one `Reading`: `answer` for the fields of the JSON object, then `integer`, `number`,
  `label`, `truth`, `words` or `items` for each of them, and `settle` at the end for the flags. A reader that
  takes an answer and does not settle it stops the run, for words beside the answer would pass. Three kinds of
  answer are ready: `ErrorList` (errors with places), `RatingScale` (a number from 0 to 100) and
  `read_compared` (a verdict on a pair). Each of them takes a `Reply` or its text.
- **Pairs**: a `Comparison` asks which of two translations is better by a `Criterion`, in both orders;
  `preference_by` makes the record, `synthesise` one verdict of several.
- **Samples**: `--samples` and `--temperature` work with every judge. One that draws samples of its own takes
  `readable` (the samples that could be read, if they are more than half), `vote` and `middle`.
- **Records**: `annotation_of` and `preference_of` fill in what was judged and by whom. A record of anything
  but what the judge was asked about stops the run. A judge computes no score of its errors: its `weights` do.
  What was asked for and not obtained is an `AnswerError`, which the run keeps as a `Failure`; a judge never
  puts a number in its place.
- **Tests**: a `Script` is an `ask` with replies of your own.

Names that are not in `__all__` may change without notice.
"""

from adjudge.core.ask import (
    About,
    Answer,
    Ask,
    Asked,
    Message,
    Query,
    Quoted,
    Reply,
    Sampling,
    Script,
    SearchEngine,
    Snippet,
    TokenLogprob,
    Tool,
    ToolCall,
)
from adjudge.core.judge import (
    Calls,
    CriteriaJudge,
    Judge,
    PairJudge,
    Profile,
    SearchingJudge,
    SourceJudge,
    TranslationJudge,
    annotation_of,
    preference_of,
)
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Preference, Verdict
from adjudge.core.segment import Segment, Subject, Term
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._answers import ErrorList, Marked, Rating, RatingScale
from adjudge.judges._pairs import (
    IDENTICAL,
    PAIR_FILES,
    VERDICTS,
    Compared,
    Comparison,
    Criterion,
    PairSettings,
    preference_by,
    read_compared,
    synthesise,
)
from adjudge.judges._prompts import (
    TEXT_FILES,
    Prompted,
    Prompts,
    attempts_of,
    find_form,
    joined,
    judged_texts,
    language_names,
    load_prompts,
    paragraphs,
    render_example,
    render_pair,
    render_texts,
)
from adjudge.judges._reading import Reading, either, object_schema, or_error, shown
from adjudge.judges._samples import middle, readable, vote

__all__ = [
    "IDENTICAL",
    "PAIR_FILES",
    "TEXT_FILES",
    "VERDICTS",
    "About",
    "Annotation",
    "Answer",
    "AnswerError",
    "Ask",
    "Asked",
    "Calls",
    "Compared",
    "Comparison",
    "CriteriaJudge",
    "Criterion",
    "ErrorList",
    "ErrorSpan",
    "Judge",
    "Marked",
    "Message",
    "PairJudge",
    "PairSettings",
    "Preference",
    "Profile",
    "Prompted",
    "Prompts",
    "Query",
    "Quoted",
    "Rating",
    "RatingScale",
    "Reading",
    "Reply",
    "Sampling",
    "Script",
    "SearchEngine",
    "SearchingJudge",
    "Segment",
    "Severity",
    "Snippet",
    "SourceJudge",
    "Subject",
    "Term",
    "TokenLogprob",
    "Tool",
    "ToolCall",
    "TranslationJudge",
    "UsageError",
    "Verdict",
    "annotation_of",
    "attempts_of",
    "either",
    "find_form",
    "joined",
    "judged_texts",
    "language_names",
    "load_prompts",
    "middle",
    "object_schema",
    "or_error",
    "paragraphs",
    "preference_by",
    "preference_of",
    "read_compared",
    "readable",
    "render_example",
    "render_pair",
    "render_texts",
    "shown",
    "synthesise",
    "vote",
]
