"""A scripted `ask`, and subjects to be judged."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from adjudge import judges
from adjudge.core.ask import About, Answer, Message, Quoted, Reply, Sampling, Tool
from adjudge.core.judge import TranslationJudge, is_translation_judge
from adjudge.core.segment import Segment, Subject, Term

T = TypeVar("T")


SINGLE = tuple(name for name in judges.JUDGES if is_translation_judge(judges.load_judge(name)))
"""Judges of single translations."""


def load_judge(name: str, **options: Any) -> TranslationJudge:
    """A judge of single translations."""
    judge = judges.load_judge(name, **options)
    assert is_translation_judge(judge), f"{name} judges no single translation"
    return judge


class Asked(NamedTuple):
    """One question as it arrived."""

    messages: tuple[Message, ...]
    about: About
    attempts: int
    schema: Mapping[str, object] | None
    sampling: Sampling
    tools: tuple[Tool, ...] = ()

    @property
    def words(self) -> str:
        """Everything that is said in our own words."""
        return "\n".join(p for m in self.messages for p in m.parts if isinstance(p, str))

    @property
    def quoted(self) -> list[Quoted]:
        """Everything that is quoted."""
        return [p for m in self.messages for p in m.parts if isinstance(p, Quoted)]


class Asking:
    """An `ask` that keeps what it was asked; what it says to that is for its kinds to say."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def says(self, about: About) -> str | Reply:
        raise NotImplementedError

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Mapping[str, object] | None = None,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        self.asked.append(Asked(tuple(messages), about, attempts, schema, sampling, tuple(tools)))
        said = self.says(about)
        reply = Reply(text=said) if isinstance(said, str) else said
        return Answer(value=read(reply), reply=reply)


class Script(Asking):
    """Answers with the replies it was given, in their order."""

    def __init__(self, *replies: str | Reply) -> None:
        super().__init__()
        self._replies = list(replies)

    def says(self, about: About) -> str | Reply:
        return self._replies.pop(0)


def subject(
    translation: str = "Die Katze schlief auf dem neuen Sofa, während Anna die die Nachrichten las.",
    source: str = "The cat slept on the new sofa while Anna calmly read the news.",
    *,
    lp: str = "en-de",
    reference: str | None = None,
    context: tuple[Segment, ...] = (),
    terms: tuple[Term, ...] = (),
) -> Subject:
    segment = Segment(
        segment="7",
        document="cats",
        lp=lp,
        source=source,
        translations={"sys": translation, "other": "Miau."},
    )
    return Subject(segment=segment, systems=("sys",), reference=reference, context=context, terms=terms)


def pair(first: str = "Sie hat die Bank verlassen.", second: str = "Sie verließ die Bank.") -> Subject:
    """Two translations of a source."""
    segment = Segment(
        segment="7", lp="en-de", source="She left the bank.", translations={"X": first, "Y": second}
    )
    return Subject(segment=segment, systems=("X", "Y"))
