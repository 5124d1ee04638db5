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
from adjudge.judges._fields import check_keys, object_schema, read_whole_number
from adjudge.judges._json import read_object
from adjudge.judges._profiles import find_form
from adjudge.judges._prompts import Prompts
from adjudge.judges._read import copied, read_text, shown, unreadable
from adjudge.judges._subject import judged_texts

__all__ = ["Rating", "RatingScale"]

_LOW: Final = 0
_HIGH: Final = 100
_BARE: Final = re.compile(r"0|[1-9][0-9]{0,2}")
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
        """Read the number. A bare one must be all that the reply says, in ASCII digits.

        Raises:
            AnswerError: anything else; range for what is a number but not one of these.
        """
        if self.form == "json":
            reading = read_object(reply, judged=judged_texts(subject))
            value = check_keys(reading.value, ("rating",), "the answer")["rating"]
            return Rating(read_whole_number(value, _LOW, _HIGH, "the rating"), reading.flags)
        text = read_text(reply)
        if _BARE.fullmatch(text) and int(text) <= _HIGH:
            return Rating(int(text), copied(text, judged_texts(subject)))
        if _LIKE_A_NUMBER.fullmatch(text):
            raise AnswerError("range", f"wanted a whole number from {_LOW} to {_HIGH}, got {shown(text)}")
        raise unreadable(text, "a number and nothing else")
