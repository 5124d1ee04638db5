"""What judges ask: the shape of "put this to a model" and of "look this up".

`Ask` takes messages and returns one checked value, `SearchEngine` takes a query and returns snippets. Judges
know this file and nothing else of models; `llm/` stands behind it, or in tests a `Script`. `value_of` has a
reply read by the function that the judge gave with its question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from adjudge.core.frozen import frozen
from adjudge.core.segment import Subject
from adjudge.errors import AdjudgeError, AnswerError, UsageError, blamed

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Role = Literal["system", "user", "assistant", "tool"]
Way = Literal["strict", "leaves", "confirmed"]
"""How a reply is read: `strict` refuses words beside the answer, `confirmed` reads over them, since the model
was shown its reply and gave the same answer alone, and `leaves` only tells the answer
(`WordsBesideError`)."""


CLEAN: Final = "a clean answer"
"""How the detail of a failure names an answer that says that all is well: no errors, the best rating, E."""


CHAT_TOKEN: Final = re.compile(
    # ChatML, Llama 3, Phi, Command R, harmony, GLM and Kimi write <|...|>, DeepSeek <｜...｜>; Llama 2
    # writes <s> and <<SYS>>, Gemma <start_of_turn> and <turn|>, Hermes and Qwen <tool_call>.
    r"<(?=[|｜]|</?[A-Za-z]+>|/?[A-Za-z0-9:]+(?:_\w*|\|)>"
    # Names without a shape of their own; HTML has a tag of the first of them too.
    r"|/?(?i:s|bos|eos|pad|unk|mask|cls|sep|sop|eop|eod|eoh|eoa|eot|unused\d+|think|thinking|thought"
    r"|seed:bos|seed:eos|seed:think|role|response|answer|tools|image|img|audio|video)>)"
    # Llama 2 and Mistral write [INST] and [TOOL_CALLS], ChatGLM [gMASK], EXAONE [|...|], Kimi ◁think▷.
    r"|\[(?=\||/?[A-Z][A-Z_]+\]|/?[a-z]MASK\])|◁"
)
"""The first character of everything that a chat template may have a control token for."""
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make one for each text


@dataclass(frozen=True)
class Quoted:
    """Text that is judged, and therefore data: never expanded, never obeyed.

    The engine writes it as a JSON string between delimiters that nobody can guess; see
    `llm.model`. What a call is stored under holds the plain text.

    Args:
        name: what the text is, such as `source`; part of the delimiter.
        text: the text itself.
        is_json: whether the text is a JSON value that we wrote, such as a list of errors. It is shown as it
            is, for a JSON string around it would be read with two layers of escapes.
    """

    name: str
    text: str
    is_json: bool = False

    def render(self, mark: str) -> str:
        """Write the text between its delimiters, as JSON in which no server finds a control token.

        JSON leaves `<|im_end|>` as it is, and servers look for such tokens in the whole prompt. With its
        first character as an escape it stays text.
        """
        text = CHAT_TOKEN.sub(
            lambda found: f"\\u{ord(found[0]):04x}", self.text if self.is_json else _encode(self.text)
        )
        return f"<<{self.name} {mark}>>\n{text}\n<</{self.name} {mark}>>"


@frozen
class Tool:
    """Something that a model may ask us to do.

    Args:
        name: letters, digits, `_` and `-`.
        description: what it does, to the model.
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, object]


@frozen
class ToolCall:
    """A model asks for a tool.

    Args:
        id: joins the call and its result.
        name: of the tool.
        arguments: a JSON object, not yet checked against the tool's schema.
        state: what the server wants back with the call, and we do not read: its sealed thinking.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    state: str = ""


@dataclass(frozen=True)
class Message:
    """One message: our words and quoted texts, in order.

    Args:
        role: who speaks; `tool` gives the result of one call.
        parts: what is said.
        calls: of an assistant, the tools it asked for; of a tool, the one call that it answers.
    """

    role: Role
    parts: tuple[str | Quoted, ...]
    calls: tuple[ToolCall, ...] = ()


@frozen
class About:
    """Which judgement a call serves. Remote models never see it.

    Args:
        judge: such as `himate`.
        stage: such as `verification`; of one system among several that are judged together,
            `SYSTEM: stage`.
        subject: what is judged.
        role: the agent that speaks, such as `accuracy.omission`; chooses the model of `--model ROLE=NAME`.
        wants: the kind of answer, one word such as `errors`, `rating` or `verdict`, or a word of the judge's
            own. No remote model sees it. The embedded rules answer by it, and a kind that they do not know
            ends the run before it begins; `adapter.toml` of a user's prompts names kinds by it; a
            forecast takes the usual length of such an answer, 200 tokens for a kind that it does not know.
            docs/write-a-judge.md lists the kinds and what each answer holds.
        facts: what the embedded rules need besides, such as `low` and `high` of a rating.
    """

    judge: str
    stage: str
    subject: Subject
    wants: str
    role: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


@frozen
class Usage:
    """Tokens of one call as its server counted them."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """All four by name, as `run.json` has them."""
        return {
            "prompt": self.prompt,
            "cached": self.cached,
            "completion": self.completion,
            "reasoning": self.reasoning,
        }

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class TokenLogprob:
    """One token of a reply with its natural log-probability.

    Args:
        token: as the server writes it.
        logprob: natural, at most 0.
        alternatives: the likeliest tokens at its place with theirs, itself perhaps among them; none where the
            server gives none.
    """

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@frozen
class Reply:
    """What a model answered.

    Args:
        text: its words; thinking that the server reports apart is not among them.
        model: name that the server gave for itself.
        finish: why it stopped; `stop` is the good one.
        usage: tokens.
        reasoning: thinking that the server reports apart.
        logprobs: where asked for and given; the tokens spell the text.
        calls: tools that the model asks for, where any were offered; the text may then be empty.
        way: how it is read; see `Way`.
        is_last: whether nothing more is asked where an error quotes words that stand nowhere.
        fingerprint: name that the server gave for the state that it was in (`system_fingerprint`), if any.
        is_held: whether the server was given the JSON schema of the answer, and did not refuse it.
    """

    text: str
    model: str = ""
    finish: str = "stop"
    usage: Usage = Usage()
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    way: Way = "strict"
    is_last: bool = True
    fingerprint: str = ""
    is_held: bool = False


class WordsBesideError(AnswerError):
    """A reply gives one answer, and words beside it that nobody asked for and nobody reads.

    `leaves`: of the answer: its labels, numbers and quotations, in order. An answer without its words that
    has the same leaves confirms it.
    """

    def __init__(self, words: str, *, leaves: tuple[Hashable, ...], is_clean: bool) -> None:
        super().__init__("words", f"words stand beside {CLEAN if is_clean else 'the answer'}: {words}")
        self.has_words = bool(words)
        self.leaves = leaves
        self.is_clean = is_clean


@frozen
class Sampling:
    """How a reply is drawn.

    Args:
        temperature: 0 or more.
        max_tokens: of the reply, thinking included.
        logprobs: whether token log-probabilities are wanted; `try` where an answer without them will do.
        stop: words before which the reply ends.
    """

    temperature: float = 0.0
    max_tokens: int = 2048
    logprobs: Literal[True, False, "try"] = False
    stop: tuple[str, ...] = ()


@frozen
class Answer(Generic[T_co]):
    """A value read from a reply.

    Args:
        value: what `read` made of it.
        reply: the reply that could be read.
        asked: how often the question was put, unreadable replies included.
    """

    value: T_co
    reply: Reply
    asked: int = 1


class Ask(Protocol):
    """Put messages to a model until a reply can be read, and return the value."""

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Mapping[str, object] | None = None,
        sampling: Sampling = Sampling(),  # noqa: B008 (it never changes)
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        """Ask.

        Args:
            messages: the conversation so far.
            about: what the call is for.
            read: turns a reply into a value, or raises `AnswerError`.
            attempts: how often an unreadable answer may be asked for, the first time included.
            schema: JSON schema of the answer, for models that can be held to one.
            sampling: how the reply is drawn.
            tools: what the model may ask for; `read` then looks at `Reply.calls` too, which may name others.

        Raises:
            AnswerError: no readable answer; the judgement becomes a `Failure` with its reason.
        """


UNSETTLED: Final[ContextVar[list[object] | None]] = ContextVar("unsettled", default=None)
"""What a reader has read an answer with and not settled yet (`Reading.settle`), while `value_of` calls it."""


def value_of(read: Callable[[Reply], T], reply: Reply, about: About) -> T:
    """What a judge's reader makes of a reply."""
    unsettled: list[object] = []
    token = UNSETTLED.set(unsettled)
    try:
        value = read(reply)
    except AdjudgeError:
        raise
    except Exception as error:  # whatever a judge of another package does
        raise UsageError(
            f"the reader of {about.judge}, stage {about.stage}, ended with {blamed(error)}. "
            "A reader is given a Reply, whose words are reply.text, and refuses what it cannot read by "
            "raising AnswerError(reason, detail)"
        ) from error
    finally:
        UNSETTLED.reset(token)
    if unsettled:
        raise UsageError(
            f"the reader of {about.judge}, stage {about.stage}, did not call Reading.settle(): it refuses "
            "words beside the answer, and gives the flags of the record"
        )
    return value


class Asked(NamedTuple):
    """One question as a judge put it; the fields are the arguments of `Ask`."""

    messages: tuple[Message, ...]
    about: About
    attempts: int = 2
    schema: Mapping[str, object] | None = None
    sampling: Sampling = Sampling()
    tools: Sequence[Tool] = ()

    @property
    def words(self) -> str:
        """Everything that the judge says in words of its own."""
        return "\n".join(p for m in self.messages for p in m.parts if isinstance(p, str))

    @property
    def quoted(self) -> list[Quoted]:
        """Every text that the judge quotes, in order."""
        return [p for m in self.messages for p in m.parts if isinstance(p, Quoted)]


class Script:
    """An `Ask` for tests: it gives replies that were written beforehand, in their order, and sends nothing.

    A reply that the judge's reader refuses raises the reader's `AnswerError` at once: nothing is asked again.
    A subclass may overwrite `says`, so that the reply depends on the question.

    Args:
        replies: texts, or whole replies.
    """

    def __init__(self, *replies: str | Reply) -> None:
        self.asked: list[Asked] = []
        """Every question so far."""
        self._written = replies

    def says(self, about: About) -> str | Reply:
        """The reply to the question that was added to `asked` last.

        Raises:
            UsageError: there are more questions than replies.
        """
        if len(self.asked) > len(self._written):
            raise UsageError(f"the script has no reply for question {len(self.asked)}, stage {about.stage}")
        return self._written[len(self.asked) - 1]

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        **more: Any,  # noqa: ANN401 (the other arguments of `Ask`)
    ) -> Answer[T]:
        """Give the next reply; see `Ask`."""
        self.asked.append(Asked(tuple(messages), about, **more))
        said = self.says(about)
        reply = Reply(text=said) if isinstance(said, str) else said
        return Answer(value=value_of(read, reply, about), reply=reply)


NO_ENGINE = "none"
"""What a judge that searches calls its engine where it has none."""


@frozen
class Query:
    """What is looked up.

    Args:
        text: words to search for.
        recency: nothing older than so many days, where the engine can tell; None for any age.
    """

    text: str
    recency: int | None = None


@frozen
class Snippet:
    """One result: an excerpt, never a whole page.

    Args:
        title: of the page.
        text: what it says.
        place: where it stands, an address or the name of a file.
        date: as the engine gave it; empty where it gave none.
    """

    title: str
    text: str
    place: str = ""
    date: str = ""


class SearchEngine(Protocol):
    """Looks things up."""

    async def search(self, query: Query) -> Sequence[Snippet]:
        """Snippets for one query, best first; none where nothing was found.

        Raises:
            AnswerError: the engine gave no answer, after the retries that its fault allows.
        """
