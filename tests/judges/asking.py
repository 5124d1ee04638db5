"""A scripted `ask`, and subjects to be judged."""

from typing import Any, cast

from adjudge import judges
from adjudge.core.ask import About, Asked, Reply, Script
from adjudge.core.judge import TranslationJudge
from adjudge.core.segment import Segment, Subject, Term

__all__ = ["SINGLE", "Asked", "Asking", "Script", "load_judge", "pair", "subject"]

SINGLE = tuple(name for name in judges.JUDGES if hasattr(judges.load_judge(name), "annotate"))
"""Judges of single translations."""


def load_judge(name: str, **options: Any) -> TranslationJudge:
    """A judge of single translations."""
    judge = judges.load_judge(name, **options)
    assert hasattr(judge, "annotate"), f"{name} judges no single translation"
    return cast(TranslationJudge, judge)


class Asking(Script):
    """An `ask` that keeps what it was asked; what it says to that is for its kinds to say."""

    def says(self, about: About) -> str | Reply:
        raise NotImplementedError


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
