"""
M-MAD: an expert for each dimension, a debate in each that found something, and a final judge.

Paper    Feng et al., 2025, M-MAD: Multidimensional Multi-Agent Debate for Advanced Machine Translation
         Evaluation, https://arxiv.org/abs/2412.20127
Code     SU-JIAYUAN/M-MAD at d1e662e, code/stage1.py, code/stage2_3.py and code/utils/stage1.json; of the four
         strategies it has consensus, of the three topics severity, of the ablations none
Prompt   prompts/m_mad, in our own words, with examples of our own (en-de, zh-en, he-en)
Differs  1. What to do stands in a system message, and the texts, lists and statements are quoted data. Errors
            have the side that they are quoted from. The original flags errors of the source with yes or no;
            ours are of category `source error`, which costs nothing.
         2. A statement is reasons and a list of errors in one object, and the list is taken whole. In the
            recommended profile errors have numbers in a debate on severity or category. A statement gives
            each number `major`, `minor` or `none`, or a category: nobody can forget or invent an error. An
            error that a debate on any topic drops or adds is flagged (`debate_dropped`, `debate_added`). An
            error of another dimension is not in the form, and neither is a reply without the form: it is a
            failure, or in profiles paper and code is read by the code's rules (flag `authors_reader`): the
            list behind "annotations" or "errors" up to the last bracket, also in the code's own keys (source
            errors are then quoted from the source), and the checker's yes or no. Where these find nothing,
            the code goes on with no errors, and here the reply is a failure. Profile paper asks once, the
            others once more; the recommended one sends the schema.
         3. Severity: the other side begins with the same errors as minor. On severity and category it denies
            that a non-translation is one. Minor errors alone leave nothing to debate, and stand. In doubt an
            error is minor and nothing a non-translation, as the code tells its agents. But where a debate
            leaves nothing of a list with a non-translation, that list goes to the final judge, and stands
            where there is none, flag `debate_cleared`: the worst error would be a perfect score. On category
            and entirety any error is debated (paper); under profile code only lists with a major one or a
            non-translation.
         4. A round is supporter, opponent, checker, and the opponent knows what the supporter just said.
            Under profile code both speak without knowing, as the code has it. The checker sees the two lists
            alone, as in the code, and answers with an object. The recommended profile asks no checker: both
            sides agree if their errors have the same places, severities and categories.
         5. Consensus: the supporter's last list is taken; the paper does not say whose. If a checker calls
            two different lists agreed, the record is flagged `consensus_mismatch`.
         6. No consensus: the expert's list stands (paper); under profile code the supporter's last list. The
            record is flagged `no_consensus`.
         7. Deliberation, interactive review and consultancy review follow the few lines that the paper has of
            each: an arbiter decides from the transcript; a reviewer asks after each round but the last, and
            both answer in the next; the consultant examines, and no opponent speaks. No rounds, no debate.
         8. The final judge is asked if any error is left; under profile code also after a debate that left
            nothing, as the code has it. In the recommended profile it answers by number: `keep`, `repeats N`
            with an N that it keeps, or `no error`; it adds and changes nothing. N is offered on the same side
            in words that overlap or touch, without a place where both have none, and for a non-translation.
            Of errors that repeat one another the gravest stands, whichever is kept; one of the source, which
            costs nothing, is the lightest. The final judge alone clears no non-translation: one that no
            debate disputed to its end stands, flag `final_cleared`. In profiles paper and code it lists
            errors, and may add, change and clear: flags `final_added`, and `final_changed` for another
            category or severity. In all profiles an error that it leaves out, or makes one with another, is
            flagged `final_dropped`. Its rules are applied to its answer too: a non-translation stands alone,
            and one span has one error; flag `tidied` where that drops something. Rationale: its
            statement.
         9. Without stage 1 (partition=false) one expert marks all four dimensions and there is one debate;
            with another strategy that is a baseline of the paper's table 5. Without stage 2: strategy=none.
            Without stage 3 (final_judge=false) the union of the viewpoints is scored; what stands in several
            of them counts once, flag `tidied`.
        10. Weights: the paper's; under profile code those that fit the published scores. A non-translation
            costs 25, which equation 1 does not have and the published files do; they have no cap, and
            capped=true ends the paper's scale at 25.
        11. Experts are shown examples in the language pair that is judged, or one near it: a non-translation,
            a translation with errors and one without; the code has demonstrations of its own for each
            language pair. Debaters are told the definitions of their categories, and to oppose.
        12. Earlier statements are shown as one transcript in one message; under profile code as turns of a
            conversation, as the code sends them. The judged text stands last, behind lists and transcript;
            under profiles paper and code before them. The temperature is 0, not the server's own. The expert
            of partition=false is ours; table 5 debates the output of GEMBA-MQM. The debates of Liang and of
            Khan are not built.
        13. Each agent may have a model of its own (`--model supporter=... --model opponent=...`), the paper's
            future work; context and glossary are shown where the user gives them; with explain_in reasons and
            a note for each error are in that language.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple, TypeVar, get_args

from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.language import language_name
from adjudge.core.protocol import SEVERITIES as TYPOLOGY_SEVERITIES
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, check_one_of
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._answers import ErrorList, Marked, may_repeat
from adjudge.judges._prompts import (
    TEXT_FILES,
    Parts,
    Prompted,
    Prompts,
    attempts_of,
    judged_texts,
    load_prompts,
    nearest,
    paragraphs,
    render_example,
    render_texts,
)
from adjudge.judges._reading import (
    AuthorsReply,
    Reading,
    Rule,
    agreement,
    last_list,
    object_schema,
    or_authors,
)

# What agents share


T = TypeVar("T")

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor")
NON_TRANSLATION: Final = "non-translation"
OPEN_TO_ALL: Final = ("source error", NON_TRANSLATION)


@frozen
class Dimension:
    """One kind of error with an expert: name of roles and files, name in prompts, categories of no other."""

    name: str
    shown: str
    own: tuple[str, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """All that its expert may give."""
        return (*self.own, *OPEN_TO_ALL)


DIMENSIONS: Final = (
    Dimension(
        name="accuracy",
        shown="accuracy",
        own=tuple(f"accuracy/{n}" for n in ("addition", "omission", "mistranslation", "untranslated text")),
    ),
    Dimension(
        name="fluency",
        shown="fluency",
        own=(
            *("fluency/punctuation", "fluency/spelling", "fluency/grammar"),
            *("fluency/register", "fluency/inconsistency", "fluency/character encoding"),
        ),
    ),
    Dimension(
        name="terminology",
        shown="terminology",
        own=("terminology/inappropriate for context", "terminology/inconsistent use"),
    ),
    Dimension(name="style", shown="style", own=("style/awkward",)),
)
"""The paper's four, in the order that decides between equally severe errors of one span."""

ALL: Final = Dimension(name="all", shown="every kind", own=tuple(c for d in DIMENSIONS for c in d.own))
"""All four at once, for the ablation without dimension partition."""


def is_garbled(span: ErrorSpan) -> bool:
    """Whether the error is that nothing is translated."""
    return span.category == NON_TRANSLATION


class Viewpoint(NamedTuple):
    """What is held of one dimension, and the flags of what led there."""

    dimension: Dimension
    spans: tuple[ErrorSpan, ...]
    flags: tuple[str, ...]


Choices = Sequence[Mapping[str, ErrorSpan | None]]
"""What may be said of each number of a list, and what that makes of its error; None drops it."""

KEEP: Final = "keep"
REPEATS: Final = "repeats "


def _gravity(span: ErrorSpan) -> tuple[bool, bool, int]:
    severity = TYPOLOGY_SEVERITIES.index(span.severity)
    return not is_garbled(span), span.category == "source error", -severity


class Statement(NamedTuple):
    """Reasons, and the errors that the speaker holds."""

    words: str
    marked: Marked
    held: object = None  # the errors as the speaker wrote them; None for words alone


@frozen
class Panel:
    """All agents of one judge."""

    judge: str
    prompts: Prompts
    profile: Profile  # the recommended one holds models to a schema; the paper asks once
    # code of the language of reasons and notes; None for reasons alone, in any language
    explain_in: str | None

    def errors(self, categories: tuple[str, ...]) -> ErrorList:
        """How errors of these categories are asked for."""
        return find_error_list(categories, self.explain_in)

    async def put(
        self,
        messages: Sequence[Message],
        about: About,
        read: Callable[[Reply], T],
        schema: Mapping[str, object] | None,
        ask: Ask,
        rule: Rule | None = last_list,
    ) -> T:
        answer = await ask(
            messages,
            about=about,
            read=or_authors(read, rule if self.profile != "recommended" else None),
            attempts=attempts_of(self.profile),
            schema=schema if self.profile == "recommended" else None,
        )
        return answer.value

    async def put_statement(
        self, messages: Sequence[Message], about: About, categories: tuple[str, ...], ask: Ask
    ) -> Statement:
        """Put a question that is answered by reasons and a list of errors."""
        errors = self.errors(categories)
        read = partial(read_statement, subject=about.subject, errors=errors)
        schema = object_schema(statement={"type": "string"}, errors=errors.list_schema)
        return await self.put(messages, about, read, schema, ask)

    async def put_numbers(
        self, messages: Sequence[Message], about: About, choices: Choices, ask: Ask
    ) -> Statement:
        """Put a question that is answered by reasons and a word for each number of a list."""
        each = {str(n): {"type": "string", "enum": [*known]} for n, known in enumerate(choices, 1)}
        schema = object_schema(statement={"type": "string"}, errors=object_schema(**each))
        read = partial(read_numbers, subject=about.subject, choices=choices)
        return await self.put(messages, about, read, schema, ask)

    async def put_remark(self, messages: Sequence[Message], about: About, ask: Ask) -> Statement:
        """Put a question that is answered by words alone."""
        read = partial(read_remark, subject=about.subject)
        return await self.put(messages, about, read, object_schema(statement={"type": "string"}), ask, None)

    def statement_form(self, answers: str = "") -> Parts:
        """Say how to answer by reasons and a list of errors, or by such answers for the numbers of a list."""
        if answers:
            told = self.prompts.piece(f"answers_{answers}")
            return self.prompts.piece("statement_numbers", language=self._language, answers=told)
        listed = "statement_json" if self.explain_in is None else "statement_json_explained"
        return self.prompts.piece(listed, language=self._language)

    def define(self, categories: Sequence[str]) -> str:
        lines = self.prompts.texts["categories.md"].splitlines()
        known = {line.removeprefix("- ").partition(":")[0]: line for line in lines if line.strip()}
        if missing := [name for name in categories if name not in known]:
            raise UsageError(f"categories.md must have a line '- CATEGORY: DEFINITION' for {missing[0]}")
        return "\n".join(known[name] for name in categories)

    def remark_form(self) -> Parts:
        """Say how to answer by words alone."""
        return self.prompts.piece("remark_json", language=self._language)

    @property
    def is_by_number(self) -> bool:
        """Whether lists have numbers where nobody may add to them, and are compared without a checker."""
        return self.profile == "recommended"

    def quote_errors(self, spans: Sequence[ErrorSpan], numbers: Sequence[int] = ()) -> Quoted:
        """Quote errors that an agent listed, with their numbers where the answer is by number."""
        listed: Sequence[Mapping[str, object]] = self.listed(spans)
        if numbers:
            listed = [{"number": number, **error} for number, error in zip(numbers, listed, strict=True)]
        return Quoted("errors", json.dumps({"errors": listed}, ensure_ascii=False), is_json=True)

    def quote_statement(self, statement: Statement) -> Quoted:
        """Quote an agent's statement, in the form in which it was asked for."""
        errors = {} if statement.held is None else {"errors": statement.held}
        said = json.dumps({"statement": statement.words, **errors}, ensure_ascii=False)
        return Quoted("statement", said, is_json=True)

    def listed(self, spans: Sequence[ErrorSpan]) -> tuple[Mapping[str, str], ...]:
        """Return errors as prompts show them and as the embedded model is told of them."""
        return tuple(json.loads(self.errors(ALL.categories).render_spans(spans))["errors"])

    def question(self, subject: Subject, *told: Parts) -> Message:
        """What is told of a translation, and the translation last; in the papers' order first."""
        texts = render_texts(self.prompts, subject)
        return Message(
            "user", paragraphs([*told, texts] if self.profile == "recommended" else [texts, *told])
        )

    @property
    def _language(self) -> str:
        return "" if self.explain_in is None else f"in {language_name(self.explain_in)}, "


@lru_cache(maxsize=64)
def find_error_list(categories: tuple[str, ...], explain_in: str | None) -> ErrorList:
    """How errors of these categories are asked for."""
    return ErrorList(form="json", severities=SEVERITIES, categories=categories, explain_in=explain_in)


def read_statement(reply: Reply, subject: Subject, errors: ErrorList) -> Statement:
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer("statement", "errors")
    words = reading.words(said["statement"], "statement")
    spans = errors.read_list(said["errors"], subject, reading)
    marked = held_to(errors, Marked(spans, reading.settle(is_clean=not spans)), reply)
    return Statement(words, marked, json.loads(errors.render_spans(spans))["errors"])


def held_to(errors: ErrorList, marked: Marked, reply: Reply) -> Marked:
    """Refuse an error of another kind than the agent was asked for; the authors' code takes it."""
    kinds = {name.partition("/")[0] for name in errors.categories}
    others = [s.category for s in marked.spans if (s.category or "").partition("/")[0] not in kinds]
    if others and not isinstance(reply, AuthorsReply):
        raise AnswerError("label", f"{others[0]} is no category that this agent was asked for")
    return marked


def read_numbers(reply: Reply, subject: Subject, choices: Choices) -> Statement:
    """Read reasons and a word for each number; of a kept one and its repetitions the gravest is held."""
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer("statement", "errors")
    words = reading.words(said["statement"], "statement")
    known = {str(number): choice for number, choice in enumerate(choices, 1)}
    listed = reading.fields(said["errors"], known, "errors")
    given = {n: reading.label(listed[n], tuple(choice), f"error {n}") for n, choice in known.items()}
    if lost := [n for n, word in given.items() if given.get(word.removeprefix(REPEATS), KEEP) != KEEP]:
        raise AnswerError("schema", f"error {lost[0]} {given[lost[0]]}, which is not kept")
    groups: dict[str, list[ErrorSpan]] = {}
    for n in sorted(known, key=lambda n: given[n] != KEEP):  # of equally grave ones the kept one
        if held := known[n][given[n]]:
            head = given[n].removeprefix(REPEATS)
            groups.setdefault(head if head in known else n, []).append(held)
    kept = tuple(min(group, key=_gravity) for group in groups.values())
    return Statement(words, Marked(kept, reading.settle(is_clean=not kept)), given)


def read_remark(reply: Reply, subject: Subject) -> Statement:
    """Read words alone."""
    reading = Reading(reply, judged_texts(subject))
    words = reading.words(reading.answer("statement")["statement"], "statement")
    return Statement(words, Marked((), reading.settle()))


# Agents of a debate


Topic = Literal["severity", "category", "entirety"]
Speaker = Literal["supporter", "opponent", "reviewer"]

MISMATCH: Final = "consensus_mismatch"
CLEARED: Final = "debate_cleared"

DEBATE_FILES: Final = (
    *("debate_system.md", "debate.md", "silence.md", "transcript.md", "said.md", "remark_json.md"),
    *(f"turn_{name}.md" for name in ("supporter", "opponent", "reviewer", "consultant", "arbiter")),
    *(f"topic_{name}.md" for name in ("severity", "non_translation", "category", "entirety")),
    *(f"opposed_{name}.md" for name in ("severity", "non_translation", "category", "entirety")),
    *(f"task_{name}.md" for name in ("severity", "non_translation", "category", "entirety")),
)
CHECKER_FILES: Final = ("checker.md", "compared.md")
NUMBERED: Final = "statement_numbers.md"
_SIDES: Final = {
    "supporter": "The supporting side",
    "opponent": "The opposing side",
    "reviewer": "The reviewer",
}
_AGREED: Final = object_schema(agreed={"type": "boolean"})


class Said(NamedTuple):
    """One contribution to a debate."""

    speaker: Speaker
    round: int
    statement: Statement


@frozen
class Floor:
    """Where the agents of one debate speak."""

    panel: Panel
    viewpoint: Viewpoint
    subject: Subject
    ask: Ask
    topic: Topic

    async def speak(self, side: Speaker, said: Sequence[Said], number: int) -> Said:
        """A statement of one side: its reasons, and the errors that it holds now."""
        if self.panel.profile == "code":
            messages = self.conversation(side, said, number)
        else:
            messages = self.messages(said, self._turn(f"turn_{side}", number), self._form)
        return Said(side, number, await self._state("debate", side, messages))

    async def examine(self, said: Sequence[Said], number: int, turn: str) -> Said:
        """What a reviewer, who holds no list, asks or objects."""
        messages = self.messages(said, self._turn(turn, number), self.panel.remark_form())
        about = self._about("review", "reviewer", "remark")
        return Said("reviewer", number, await self.panel.put_remark(messages, about, self.ask))

    async def decide(self, said: Sequence[Said]) -> Statement:
        """The decision of an arbiter who took no part."""
        messages = self.messages(said, self.panel.prompts.piece("turn_arbiter"), self._form)
        return await self._state("decision", "arbiter", messages)

    async def _state(self, stage: str, agent: str, messages: Sequence[Message]) -> Statement:
        if self._is_by_number:
            wants = "severities" if self._debated == "severity" else "labels"
            about = self._about(stage, agent, wants)
            spans = self.viewpoint.spans
            choices: Choices = (
                [{**{s: replace(one, severity=s) for s in SEVERITIES}, "none": None} for one in spans]
                if self._debated == "severity"
                else [{c: replace(one, category=c, label=None) for c in self._offered} for one in spans]
            )
            return await self.panel.put_numbers(messages, about, choices, self.ask)
        about = self._about(stage, agent, "statement")
        return await self.panel.put_statement(messages, about, self._offered, self.ask)

    async def check(self, first: Statement, second: Statement) -> tuple[bool, list[str]]:
        """Whether both lists agree, by comparison or by a checker who sees nothing else; and flags."""
        files, lists = self.panel.prompts, (first.marked.spans, second.marked.spans)
        differ = {*map(_compared_fields, lists[0])} != {*map(_compared_fields, lists[1])}
        if self.panel.is_by_number:
            return not differ, []
        quoted = [self.panel.quote_errors(spans) for spans in lists]
        messages = [
            files.message("system", "checker", markers=files.piece("markers")),
            files.message("user", "compared", first=quoted[0], second=quoted[1]),
        ]
        facts = {"held": tuple(map(self.panel.listed, lists))}
        about = replace(self._about("consensus", "checker", "agreement"), facts=facts)
        read = partial(read_agreement, subject=self.subject)
        agreed, flags = await self.panel.put(messages, about, read, _AGREED, self.ask, agreement)
        return agreed, [*flags, *([MISMATCH] if agreed and differ else [])]

    def messages(self, said: Sequence[Said], turn: Parts, form: Parts) -> list[Message]:
        """What is debated and how to answer; both standpoints, what was said, whose turn it is, the texts."""
        files = self.panel.prompts
        system = files.message(
            "system",
            "debate_system",
            kind=self.viewpoint.dimension.shown,
            markers=files.piece("markers"),
            topic=files.piece(f"topic_{self._debated}"),
            severities=files.piece("severities"),
            categories=self.panel.define(self._offered),
            form=form,
        )
        debated = files.piece(
            "debate",
            supported=self._quoted(self.viewpoint.spans),
            opposed=self._opposed(),
            transcript=files.piece("transcript", said=self._spoken(said)) if said else files.piece("silence"),
            turn=turn,
        )
        return [system, self.panel.question(self.subject, debated)]

    def conversation(self, side: Speaker, said: Sequence[Said], number: int) -> list[Message]:
        """Show the debate as a conversation, as the code does: own statements are the assistant's turns."""
        files, turn = self.panel.prompts, f"turn_{side}"
        told = self.messages((), self._turn(turn, 1), self._form)
        for past in range(1, number):
            of_round = [one for one in said if one.round == past]
            own = (self.panel.quote_statement(one.statement) for one in of_round if one.speaker == side)
            others = self._spoken([one for one in of_round if one.speaker != side])
            told.append(Message("assistant", tuple(own)))
            told.append(files.message("user", "reply", said=others, turn=self._turn(turn, past + 1)))
        return told

    @property
    def _form(self) -> Parts:
        return self.panel.statement_form(self._debated if self._is_by_number else "")

    def _opposed(self) -> Parts:
        name = f"opposed_{self._debated}"
        if self._debated != "severity":
            return self.panel.prompts.piece(name)
        milder = [replace(span, severity="minor") for span in self.viewpoint.spans]
        return self.panel.prompts.piece(name, errors=self._quoted(milder))

    def _quoted(self, spans: Sequence[ErrorSpan]) -> Quoted:
        return self.panel.quote_errors(spans, range(1, len(spans) + 1) if self._is_by_number else ())

    def _spoken(self, said: Sequence[Said]) -> Parts:
        pieces = [
            self.panel.prompts.piece(
                "said",
                speaker=_SIDES[one.speaker],
                round=str(one.round),
                statement=self.panel.quote_statement(one.statement),
            )
            for one in said
        ]
        return paragraphs(pieces)

    def _turn(self, name: str, number: int) -> Parts:
        told = (
            {"opposed": self.panel.prompts.piece(f"task_{self._debated}")} if name == "turn_opponent" else {}
        )
        return self.panel.prompts.piece(name, round=str(number), **told)

    def _about(self, stage: str, agent: str, wants: str) -> About:
        return About(
            judge=self.panel.judge,
            stage=stage,
            subject=self.subject,
            wants=wants,
            role=f"{agent}.{self.viewpoint.dimension.name}",
            facts={"held": self.panel.listed(self.viewpoint.spans)},
        )

    @property
    def _is_by_number(self) -> bool:
        return self.panel.is_by_number and self._debated in {"severity", "category"}

    @property
    def _debated(self) -> str:
        """The topic, which for a non-translation is whether it is one."""
        garbled = any(map(is_garbled, self.viewpoint.spans))
        return "non_translation" if garbled and self.topic != "entirety" else self.topic

    @property
    def _offered(self) -> tuple[str, ...]:
        if self._debated == "category":
            return tuple(name for name in ALL.categories if name != NON_TRANSLATION)
        return self.viewpoint.dimension.categories


def changes(stage: str, before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> list[str]:
    """Flags for errors that a stage added or dropped; another category or severity is the same error."""
    old, new = ([(_same(span), span.category, span.severity) for span in spans] for spans in (before, after))
    gained, lost = (
        Counter(s for s, *_ in a) - Counter(s for s, *_ in b) for a, b in ((new, old), (old, new))
    )
    kept = {same for same, *_ in old}
    is_changed = stage == "final" and any(each[0] in kept and each not in old for each in new)
    found = {"added": gained, "dropped": lost, "changed": is_changed}
    return [f"{stage}_{what}" for what, there in found.items() if there]


def _same(span: ErrorSpan) -> object:
    if is_garbled(span):
        return NON_TRANSLATION
    return (span.side, span.start, span.end, span.text)


def read_agreement(reply: Reply, subject: Subject) -> tuple[bool, tuple[str, ...]]:
    reading = Reading(reply, judged_texts(subject))
    agreed = reading.truth(reading.answer("agreed")["agreed"], "agreed")
    return agreed, reading.settle()


def _compared_fields(span: ErrorSpan) -> tuple[object, ...]:
    """What two sides must say alike."""
    place = (span.start, span.end) if span.start is not None else (span.text,)
    return (span.side, place, span.severity, span.category)


# Stage 2, debate


Strategy = Literal["consensus", "deliberation", "interactive-review", "consultancy-review", "none"]

NO_CONSENSUS: Final = "no_consensus"
DISPUTED: Final = frozenset({CLEARED, NO_CONSENSUS})


def debate_calls(strategy: Strategy, rounds: int, *, has_checker: bool = True) -> tuple[int, int]:
    """Calls of one debate, at least and at most."""
    if rounds == 0 or strategy == "none":
        return 0, 0
    return {
        "consensus": (2 + has_checker, (2 + has_checker) * rounds),  # two sides and a checker
        "deliberation": (2 * rounds + 1, 2 * rounds + 1),  # two sides, one arbiter at the end
        "interactive-review": (3 * rounds, 3 * rounds),  # the same, and a reviewer between rounds
        "consultancy-review": (2 * rounds + 1, 2 * rounds + 1),  # one side, a reviewer, an arbiter
    }[strategy]


def debaters(strategy: Strategy, rounds: int, *, has_checker: bool) -> tuple[str, ...]:
    """Agents of a debate; the reviewer of an interactive review speaks between rounds."""
    if debate_calls(strategy, rounds) == (0, 0):
        return ()
    if strategy == "consensus":
        return "supporter", "opponent", *(("checker",) if has_checker else ())
    if strategy == "consultancy-review":
        return "supporter", "reviewer", "arbiter"
    between = ("reviewer",) if strategy == "interactive-review" and rounds > 1 else ()
    return "supporter", "opponent", *between, "arbiter"


@frozen
class Debate:
    """One debate."""

    floor: Floor
    strategy: Strategy
    rounds: int

    @property
    def is_needed(self) -> bool:
        """Whether the other side has something to say."""
        spans = self.floor.viewpoint.spans
        if debate_calls(self.strategy, self.rounds) == (0, 0):
            return False
        if self.floor.topic == "severity" or self.floor.panel.profile == "code":
            return any(span.severity == "major" or is_garbled(span) for span in spans)
        return bool(spans)

    async def hold(self) -> Viewpoint:
        """Debate, and say what is held of this dimension in the end."""
        if not self.is_needed:
            return self.floor.viewpoint
        lead = {"consensus": self.reach_consensus, "consultancy-review": self.consult}
        return await lead.get(self.strategy, self.deliberate)()

    async def reach_consensus(self) -> Viewpoint:
        """Rounds until both agree; if they never do, the expert's list stands."""
        said: tuple[Said, ...] = ()
        flags: list[str] = []
        for number in range(1, self.rounds + 1):
            round_ = await self.exchange(said, number)
            said = (*said, *round_)
            agreed, more = await self.floor.check(*(one.statement for one in round_))
            flags += more
            if agreed:
                return self.outcome(said, said[-2].statement, flags)
        if self.floor.panel.profile == "code":
            return self.outcome(said, said[-2].statement, [*flags, NO_CONSENSUS])
        return self.outcome(said, None, [*flags, NO_CONSENSUS])

    async def deliberate(self) -> Viewpoint:
        """All rounds, then an arbiter reads the transcript and decides.

        In an interactive review a reviewer asks between the rounds what both must answer.
        """
        said: tuple[Said, ...] = ()
        for number in range(1, self.rounds + 1):
            said = (*said, *await self.exchange(said, number))
            if self.strategy == "interactive-review" and number < self.rounds:
                said = (*said, await self.floor.examine(said, number, "turn_reviewer"))
        return self.outcome(said, await self.floor.decide(said))

    async def consult(self) -> Viewpoint:
        """The supporting side and a reviewer in turns, then an arbiter decides."""
        said: tuple[Said, ...] = ()
        for number in range(1, self.rounds + 1):
            said = (*said, await self.floor.speak("supporter", said, number))
            said = (*said, await self.floor.examine(said, number, "turn_consultant"))
        return self.outcome(said, await self.floor.decide(said))

    async def exchange(self, said: tuple[Said, ...], number: int) -> tuple[Said, Said]:
        """One statement of each side. In the code neither knows what the other says in this round."""
        if self.floor.panel.profile == "code":
            return await asyncio.gather(
                self.floor.speak("supporter", said, number), self.floor.speak("opponent", said, number)
            )
        first = await self.floor.speak("supporter", said, number)
        return first, await self.floor.speak("opponent", (*said, first), number)

    def outcome(
        self, said: Sequence[Said], decided: Statement | None, flags: Sequence[str] = ()
    ) -> Viewpoint:
        """What is held in the end; None for what the expert listed. A non-translation is never cleared."""
        expert = self.floor.viewpoint
        told = [flag for one in said for flag in one.statement.marked.flags]
        if decided is None:
            return expert._replace(flags=(*expert.flags, *told, *flags))
        told += decided.marked.flags
        spans = decided.marked.spans
        if not spans and any(map(is_garbled, expert.spans)):
            return expert._replace(flags=(*expert.flags, *told, CLEARED, *flags))
        told += changes("debate", expert.spans, spans)
        return expert._replace(spans=spans, flags=(*expert.flags, *told, *flags))


# Stage 1, evaluation


_GARBLED: Final = "non_translation"


async def mark(panel: Panel, dimension: Dimension, subject: Subject, ask: Ask) -> Viewpoint:
    errors = panel.errors(dimension.categories)
    about = About(
        judge=panel.judge,
        stage="annotation",
        subject=subject,
        wants="errors",
        role=f"expert.{dimension.name}",
        facts=errors.facts,
    )

    def read(reply: Reply) -> Marked:
        return held_to(errors, errors.read(reply, subject), reply)

    marked = await panel.put(messages(panel, dimension, subject), about, read, errors.schema, ask)
    return Viewpoint(dimension, marked.spans, marked.flags)


def messages(panel: Panel, dimension: Dimension, subject: Subject) -> list[Message]:
    """The dimension, a non-translation, examples in one language pair, with errors and without; the texts."""
    files, errors = panel.prompts, panel.errors(dimension.categories)
    system = files.message(
        "system",
        "expert",
        markers=files.piece("markers"),
        kind=files.piece(f"kind_{dimension.name}"),
        categories=panel.define(dimension.categories),
        severities=files.piece("severities"),
        form=errors.render_form(files),
    )
    known = files.examples(dimension.name)
    shown = known[nearest(subject.lp, [example.lp for example in known])].lp if known else ""
    examples = [*files.examples(_GARBLED), *(example for example in known if example.lp == shown)]
    shots = (render_example(files, one, errors.render_answer(one.errors)) for one in examples)
    texts = Message("user", render_texts(files, subject))
    return [system, *(message for shot in shots for message in shot), texts]


def expert_files(dimension: Dimension, explain_in: str | None) -> tuple[str, ...]:
    kinds = ("examples",) if explain_in is None else ("examples", "notes")
    names = (dimension.name, _GARBLED)
    return (
        *("expert.md", "categories.md", "severities.md"),
        f"kind_{dimension.name}.md",
        *(f"{kind}_{name}.jsonl" for kind in kinds for name in names),
    )


# Stage 3, final judge


TIDIED: Final = "tidied"
UPHELD: Final = "final_cleared"


class Judgement(NamedTuple):
    """The errors in the end, flags, and the reasons of the final judge, where one was asked."""

    spans: tuple[ErrorSpan, ...]
    flags: tuple[str, ...]
    rationale: str | None


async def judge(panel: Panel, viewpoints: Sequence[Viewpoint], subject: Subject, ask: Ask) -> Judgement:
    """Ask the final judge; what its rules would not leave is dropped, and flagged.

    By number it alone clears no non-translation that nobody disputed before.
    """
    errors, told = union(viewpoints), final_messages(panel, viewpoints, subject)
    choices = final_choices(errors)
    about = About(
        judge=panel.judge,
        stage="final",
        subject=subject,
        wants="kept" if panel.is_by_number else "merged",
        role="final",
        facts={"held": panel.listed(errors), "choices": tuple(map(tuple, choices))},
    )
    upheld: list[ErrorSpan] = []
    if panel.is_by_number:
        words, marked, _ = await panel.put_numbers(told, about, choices, ask)
        agreed = [viewpoint.spans for viewpoint in viewpoints if not DISPUTED & {*viewpoint.flags}]
        if not any(map(is_garbled, marked.spans)):
            upheld = [span for spans in agreed for span in spans if is_garbled(span)]
    else:
        words, marked, _ = await panel.put_statement(told, about, ALL.categories, ask)
    kept = (*marked.spans, *upheld)
    spans = tidy(kept)
    flags = [*marked.flags, *([TIDIED] if spans != kept else []), *([UPHELD] if upheld else [])]
    flags += changes("final", [span for viewpoint in viewpoints for span in viewpoint.spans], kept)
    return Judgement(spans, tuple(flags), words)


def final_choices(errors: Sequence[ErrorSpan]) -> Choices:
    """What the final judge may say of each error: keep it as it is, or not."""
    other = dict(enumerate(errors, 1))
    return [
        {KEEP: e, **{f"{REPEATS}{n}": e for n in other if may_repeat(e, other[n])}, "no error": None}
        for e in errors
    ]


def final_messages(panel: Panel, viewpoints: Sequence[Viewpoint], subject: Subject) -> list[Message]:
    """The rules and how to answer, then the list of every dimension and the texts."""
    files, errors = panel.prompts, union(viewpoints)
    names = [viewpoint.dimension.shown for viewpoint in viewpoints]
    system = files.message(
        "system",
        "final_numbers" if panel.is_by_number else "final",
        kinds=" and ".join(filter(None, (", ".join(names[:-1]), names[-1]))),
        markers=files.piece("markers"),
        severities=files.piece("severities"),
        categories=panel.define(ALL.categories),
        form=panel.statement_form("final" if panel.is_by_number else ""),
    )
    pieces = []
    for viewpoint in viewpoints:
        numbers = [errors.index(span) + 1 for span in viewpoint.spans] if panel.is_by_number else ()
        quoted = panel.quote_errors(viewpoint.spans, numbers)
        pieces.append(files.piece("viewpoint", kind=viewpoint.dimension.shown, errors=quoted))
    return [system, panel.question(subject, *pieces)]


def union(viewpoints: Sequence[Viewpoint]) -> tuple[ErrorSpan, ...]:
    """All errors of all viewpoints; the very same one once."""
    return tuple(dict.fromkeys(span for viewpoint in viewpoints for span in viewpoint.spans))


def tidy(spans: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """What the final judge's rules leave of a list.

    A non-translation stands alone and once. Of several errors of one span only the most severe is kept, and
    one of the source, which costs nothing, only if there is no other; of equally severe ones the first in the
    order accuracy, fluency, terminology, style. An error without a place shares its span with no other.
    """
    if garbled := [*filter(is_garbled, spans)]:
        return (min(garbled, key=_rank),)
    best: dict[object, ErrorSpan] = {}
    for number, span in enumerate(spans):
        place = number if span.start is None else (span.side, span.start, span.end)
        if place not in best or _rank(span) < _rank(best[place]):
            best[place] = span
    kept = set(map(id, best.values()))
    return tuple(span for span in spans if id(span) in kept)


def _rank(span: ErrorSpan) -> tuple[tuple[bool, bool, int], int]:
    core = (span.category or "").partition("/")[0]
    names = [dimension.name for dimension in DIMENSIONS]
    return _gravity(span), names.index(core) if core in names else len(names)


ROUNDS: Final = 3
MOST_ROUNDS: Final = 5


@frozen
class MMad(Prompted):
    """Experts by dimension, debates between two sides, and a final judge.

    Args:
        profile: see Differs.
        strategy: how a debate is led and decided; none for no debate.
        topic: what is debated.
        rounds: of each debate, at most; 0 to 5.
        partition: an expert for each dimension, or one for all of them.
        final_judge: whether one makes the final list, or the union stands.
        capped: whether no translation loses more than 25 points.
        explain_in: code of the language of reasons and notes.
        prompts: folder with files that stand in for ours.
    """

    name: ClassVar[str] = "m-mad"
    protocol: ClassVar[str] = "mqm"
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    strategy: Strategy = "consensus"
    topic: Topic = "severity"
    rounds: int = ROUNDS
    partition: bool = True
    final_judge: bool = True
    capped: bool = False
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        check_one_of("strategy", self.strategy, get_args(Strategy), UsageError)
        check_one_of("topic", self.topic, get_args(Topic), UsageError)
        if not 0 <= self.rounds <= MOST_ROUNDS:
            raise UsageError(f"rounds must be 0 to {MOST_ROUNDS}, got {self.rounds}")
        if self.topic != "severity" and debate_calls(self.strategy, self.rounds) == (0, 0):
            raise UsageError(
                f"topic {self.topic} needs a debate; strategy none or rounds 0 has none: drop topic"
            )
        if self.strategy == "none" and self.rounds not in {0, ROUNDS}:
            raise UsageError(f"rounds {self.rounds} needs a debate; strategy none has none: drop rounds")
        if self.capped and self.profile == "code":
            raise UsageError("profile code scores as the published files, which have no cap; drop capped")

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark by dimension, debate, and make one list."""
        marked = await self.mark(subject, ask)
        viewpoints = await self.debate(marked, subject, ask)
        spans, flags, rationale = await self.judge(viewpoints, subject, ask)
        told = [flag for viewpoint in viewpoints for flag in viewpoint.flags if flag != "span_unmatched"]
        unmatched = ["span_unmatched"] if any(span.match == "unmatched" for span in spans) else []
        kept = [flag for flag in flags if flag != "span_unmatched"]
        return annotation_of(
            self, subject, spans=spans, flags=(*told, *kept, *unmatched), rationale=rationale
        )

    async def mark(self, subject: Subject, ask: Ask) -> list[Viewpoint]:
        """Stage 1: each expert marks the errors of its dimension."""
        experts_ = (mark(self._panel, dimension, subject, ask) for dimension in self._dimensions)
        return await asyncio.gather(*experts_)

    async def debate(self, marked: list[Viewpoint], subject: Subject, ask: Ask) -> list[Viewpoint]:
        """Stage 2: in each dimension two sides debate what its expert marked."""
        floors = (
            Floor(panel=self._panel, viewpoint=viewpoint, subject=subject, ask=ask, topic=self.topic)
            for viewpoint in marked
        )
        debates = (Debate(floor=floor, strategy=self.strategy, rounds=self.rounds) for floor in floors)
        return await asyncio.gather(*(debate.hold() for debate in debates))

    async def judge(self, viewpoints: list[Viewpoint], subject: Subject, ask: Ask) -> Judgement:
        """Stage 3: one list of all viewpoints."""
        errors = union(viewpoints)
        # The authors' code asks it after every debate: what one left is a dict, and never null.
        emptied = self.profile == "code" and any("debate_dropped" in one.flags for one in viewpoints)
        if not (errors or emptied) or not self.final_judge:
            is_tidied = len(errors) < sum(len(viewpoint.spans) for viewpoint in viewpoints)
            return Judgement(errors, (TIDIED,) if is_tidied else (), None)
        return await judge(self._panel, viewpoints, subject, ask)

    @property
    def weights(self) -> str:
        """The paper's, those that fit the published files, or the paper's with its cap."""
        if self.profile == "code":
            return "m-mad-published"
        return "m-mad-capped" if self.capped else "m-mad"

    @property
    def calls(self) -> Calls:
        """Nothing found; one dimension debated for as short as can be; all of them for as long."""
        experts_, last = len(self._dimensions), int(self.final_judge)
        least, most = debate_calls(self.strategy, self.rounds, has_checker=not self._panel.is_by_number)
        return Calls(experts_, experts_ + least + last, experts_ * (1 + most) + last)

    @property
    def roles(self) -> tuple[str, ...]:
        """Experts, debaters of each dimension, and the final judge."""
        debating = debaters(self.strategy, self.rounds, has_checker=not self._panel.is_by_number)
        agents = ("expert", *debating)
        spoken = (f"{agent}.{dimension.name}" for agent in agents for dimension in self._dimensions)
        return (*spoken, *(["final"] if self.final_judge else []))

    @property
    def _dimensions(self) -> tuple[Dimension, ...]:
        return DIMENSIONS if self.partition else (ALL,)

    @cached_property
    def _panel(self) -> Panel:
        return Panel(judge=self.name, prompts=self._files, profile=self.profile, explain_in=self.explain_in)

    @cached_property
    def _files(self) -> Prompts:
        errors, by_number = (
            find_error_list(ALL.categories, self.explain_in).file,
            self.profile == "recommended",
        )
        stated = "statement_json.md" if self.explain_in is None else "statement_json_explained.md"
        debate: tuple[str, ...] = ()
        if debate_calls(self.strategy, self.rounds) != (0, 0):
            own = (NUMBERED, "answers_severity.md", "answers_category.md") if by_number else CHECKER_FILES
            debate = (*DEBATE_FILES, stated, *own, *(("reply.md",) if self.profile == "code" else ()))
        last = (NUMBERED, "answers_final.md", "final_numbers.md") if by_number else (stated, "final.md")
        last = (*last, "viewpoint.md") if self.final_judge else ()
        marking = [file for one in self._dimensions for file in expert_files(one, self.explain_in)]
        used = dict.fromkeys((*marking, *debate, *last, errors, "texts.md", *TEXT_FILES))
        return load_prompts("m_mad", used, self.prompts)
