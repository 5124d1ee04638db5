"""One number from 0 to 100 as judges ask for it and read it: in a JSON object, or bare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from adjudge.core.ask import Message, Reply
from adjudge.core.judge import Profile
from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._fields import object_schema, read_whole_number
from adjudge.judges._json import read_object
from adjudge.judges._profiles import find_form
from adjudge.judges._prompts import Prompts
from adjudge.judges._prose import Trust, check_around, unwrap
from adjudge.judges._read import copied, read_text, shown, unreadable
from adjudge.judges._subject import judged_texts

__all__ = ["Rating", "RatingScale", "check_scale"]

_LOW: Final = 0
_HIGH: Final = 100
_BARE: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_MAY_BE_OTHER_SCALE: Final = 10
_LABELLED: Final = re.compile(r"\A[^\W\d_]")
"""A number behind words, such as `Score: 4`, of which nobody knows the scale where it is small."""
_CERTAINTY: Final = re.compile(r"confidence|certainty|probability")
_SCALE_KEY: Final = re.compile(r"scale|max|range|out_?of|best|worst|unit")
_STATED: Final = re.compile(
    r"([0-9]+(?:\.[0-9]+)?) ?(?:/|out of|of|von|sur|de|su|z|из) ?([0-9]+)|"
    r"\b(?:rating|score|rate it|bewertung|note|nota)\b[^0-9.]{0,12}([0-9]+(?:\.[0-9]+)?)|\b([0-9]+) "
    r"(?:points?|stars?)\b",
    re.IGNORECASE,
)
_LIKE_A_NUMBER: Final = re.compile(
    r"[+\-−–]?\s*(?:[.,٫٬_]*\d[\d.,٫٬_]*(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE
)


class Rating(NamedTuple):
    """The number of one reply, and the flags that go on the annotation."""

    number: int
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RatingScale:
    """How one judge asks for a rating.

    Args:
        profile: the recommended one has JSON, the others the bare number of the papers.
    """

    profile: Profile

    @property
    def form(self) -> Literal["json", "number"]:
        """Form of the answer."""
        return "json" if find_form(self.profile) == "json" else "number"

    @property
    def file(self) -> str:
        """Prompt file that describes the form."""
        return f"rating_{self.form}.md"

    @property
    def facts(self) -> Mapping[str, object]:
        """What the embedded model needs to know."""
        return {"form": self.form, "low": _LOW, "high": _HIGH}

    @property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None for a bare number."""
        if self.form != "json":
            return None
        return object_schema(rating={"type": "integer", "minimum": _LOW, "maximum": _HIGH})

    def render_system(self, prompts: Prompts, name: str, subject: Subject) -> Message:
        """The system message: what the scale means, and how to answer."""
        return prompts.message(
            "system",
            name,
            source_language=language_name(source_language(subject.lp)),
            target_language=language_name(target_language(subject.lp)),
            markers=prompts.piece("markers"),
            form=prompts.piece(f"rating_{self.form}"),
        )

    def read(self, reply: Reply, subject: Subject) -> Rating:
        """Read the number; a bare one in ASCII digits.

        The best and the worst rating are read from a whole reply or a known wrapper alone: models write 100
        to repeat
        the scale, and 0 where they have nothing to rate.

        Raises:
            AnswerError: anything else; range for what is a number but not one of these.
        """
        judged = judged_texts(subject)
        if self.form == "json":
            reading = read_object(reply, judged=judged, keys=("rating",), trust=_trust, what="the rating")
            number = read_whole_number(reading.value["rating"], _LOW, _HIGH, "the rating")
            check_scale(number, reading.dropped)
            return Rating(number, reading.flags)
        return _read_bare(read_text(reply), judged)


def check_scale(number: int, dropped: Mapping[str, object], high: int = _HIGH) -> None:
    """Refuse a number beside which the same object has another number, or another scale.

    Args:
        number: that was read.
        dropped: what stood beside it.
        high: highest number of the scale that was asked for.

    Raises:
        AnswerError: ambiguous.
    """
    for key, value in dropped.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and value not in (number, high) and not _CERTAINTY.search(key.lower()):
            raise AnswerError("ambiguous", f"beside {number} stands {shown(key)}: {shown(value)}")
        if isinstance(value, str):
            stated = {float(group) for m in _STATED.finditer(value) for group in m.groups() if group}
            if stated - {float(number), float(high)}:
                raise AnswerError("ambiguous", f"beside {number} stands another number in {shown(value)}")
            if _SCALE_KEY.search(key.lower()) and not set(re.findall(r"\d+", value)) <= {"0", "1", str(high)}:
                raise AnswerError("ambiguous", f"beside {number} stands another scale: {shown(value)}")


def _trust(value: Mapping[str, object]) -> Trust:
    number = value["rating"]
    return "after" if isinstance(number, int | float) and _LOW < number < _HIGH else "alone"


def _read_bare(text: str, judged: tuple[str, ...]) -> Rating:
    inner = unwrap(text, starts="0123456789")
    first, _, after = inner.text.partition("\n")
    first = first.rstrip()
    spelled = first[1:-1] if len(first) > 2 and first[0] == first[-1] == '"' else first
    spelled = unwrap(spelled).text.removesuffix("%").rstrip()
    if not _BARE.fullmatch(spelled) or int(spelled) > _HIGH:
        if _LIKE_A_NUMBER.fullmatch(text):
            raise AnswerError("range", f"wanted a whole number from {_LOW} to {_HIGH}, got {shown(text)}")
        raise unreadable(text, "a number and nothing else")
    number = int(spelled)
    if _LABELLED.search(text) and number <= _MAY_BE_OTHER_SCALE:
        raise AnswerError("parse", f"{shown(text)} may be a number of another scale than {_LOW} to {_HIGH}")
    check_around("", "\n" + after, "after" if _LOW < number < _HIGH else "alone", "the rating")
    extracted = inner.is_wrapped or bool(after.strip())
    flags = (*(["extracted"] if extracted else []), *(["normalised"] if spelled != first else []))
    return Rating(number, (*copied(spelled if extracted else text, judged), *flags))
