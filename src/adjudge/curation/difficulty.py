"""How far a translator must leave the words of a source: MENT's filter before anything is translated.

Paper    RATE and MENT, under review, section 3.1 (Data Filtering) and appendix A.1
Code     none public
Prompt   curation/prompts/difficulty, in our own words
Differs  1. The target language is named; the paper says "another language".
         2. What is personal or offensive is asked about in the same call; people looked for it in the
            paper. What rules can find (`privacy`) is found by them too.
         3. The reasons come before the number. An answer that cannot be read is asked for once more, then
            it is a failure, and a failure is no score: its source is not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from adjudge.core.ask import About, Ask, Reply
from adjudge.core.segment import Subject
from adjudge.curation.asking import SourceQuestion
from adjudge.errors import AnswerError
from adjudge.judges._fields import object_schema, read_whole_number
from adjudge.judges._json import read_object
from adjudge.judges._rating import check_scale
from adjudge.judges._read import shown
from adjudge.judges._subject import judged_texts

__all__ = ["HIGHEST", "LOWEST", "PLACE", "AskDifficulty", "Difficulty"]

LOWEST: Final = 1
HIGHEST: Final = 10
PLACE: Final = "source"
"""Name under which a source itself is asked about."""

_KEYS: Final = ("reasons", "personal", "offensive", "difficulty")
_SCHEMA: Final = object_schema(
    reasons={"type": "string"},
    personal={"type": "boolean"},
    offensive={"type": "boolean"},
    difficulty={"type": "integer", "minimum": LOWEST, "maximum": HIGHEST},
)


@dataclass(frozen=True, kw_only=True)
class Difficulty:
    """What a model said of one source.

    Args:
        score: 1 (word for word will do) to 10 (only a new text can do the same).
        reasons: in words.
        personal: whether it names what identifies a private person.
        offensive: whether annotators should be warned of it.
    """

    score: int
    reasons: str
    personal: bool
    offensive: bool

    def __str__(self) -> str:
        """The number, then the reasons."""
        words = [word for word in ("personal", "offensive") if getattr(self, word)]
        return ": ".join([", ".join([f"difficulty {self.score}", *words]), self.reasons])


@dataclass(frozen=True, kw_only=True)
class AskDifficulty(SourceQuestion[Difficulty]):
    """One question about each source."""

    name: ClassVar[str] = "difficulty"

    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[Difficulty | AnswerError]:
        """Put the one question."""
        answer = await ask(
            self.messages(subject),
            about=About(judge=self.name, stage="difficulty", subject=subject, wants="difficulty"),
            read=partial(read_difficulty, subject=subject),
            schema=_SCHEMA,
        )
        return [answer.value]


def read_difficulty(reply: Reply, subject: Subject) -> Difficulty:
    """Read the answer.

    Raises:
        AnswerError: anything but the object that was asked for; ambiguous for another number beside it.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=_KEYS)
    value = answer = reading.value
    reasons, personal, offensive = (answer[key] for key in _KEYS[:3])
    if not isinstance(reasons, str) or not isinstance(personal, bool) or not isinstance(offensive, bool):
        raise AnswerError(
            "schema", f"wanted reasons in words, personal and offensive true or false: {shown(value)}"
        )
    score = read_whole_number(answer["difficulty"], LOWEST, HIGHEST, "the difficulty")
    check_scale(score, reading.dropped, HIGHEST)
    return Difficulty(score=score, reasons=reasons.strip(), personal=personal, offensive=offensive)
