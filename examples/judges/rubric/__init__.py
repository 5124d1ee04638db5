"""
Rubric: each criterion of a rubric from 1 to 5, in a question of its own, and their weighted mean.

Paper    none; the method is what graders of essays do
Code     none
Prompt   prompts/rubric, in our own words; rubric.toml is the rubric, and --prompts puts another in its place
Differs  nothing to differ from
"""

import asyncio
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from adjudge.kit import (
    TEXT_FILES,
    About,
    Annotation,
    AnswerError,
    Ask,
    Calls,
    Message,
    Profile,
    Prompted,
    Prompts,
    Reading,
    Reply,
    Subject,
    UsageError,
    annotation_of,
    judged_texts,
    language_names,
    load_prompts,
    object_schema,
    or_error,
    render_texts,
)

LOW, HIGH = 1, 5
SCHEMA: Final[Mapping[str, object]] = object_schema(
    rating={"type": "integer", "minimum": LOW, "maximum": HIGH}
)


class Criterion(NamedTuple):
    """One criterion: its name, its weight above 0, and what it means to the model."""

    name: str
    weight: float
    text: str


class Rated(NamedTuple):
    """A rating from 1 to 5, and flags that say how it was read."""

    rating: int
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Rubric(Prompted):
    """The weighted mean of a rubric's criteria; 1 on all of them is 0, and 5 is 100."""

    name: ClassVar[str] = "rubric"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Rate one translation by each criterion; without one of them there is no mean."""
        found = await asyncio.gather(*(or_error(self.rate(one, subject, ask)) for one in self.criteria))
        rated: list[Rated] = []
        for one in found:
            if isinstance(one, AnswerError):
                raise one
            rated.append(one)
        pairs = [*zip(self.criteria, rated, strict=True)]
        mean = math.fsum(c.weight * r.rating for c, r in pairs) / math.fsum(c.weight for c, _ in pairs)
        return annotation_of(
            self,
            subject,
            rating=100 * (mean - LOW) / (HIGH - LOW),
            rationale=", ".join(f"{c.name} {r.rating} (weight {c.weight:g})" for c, r in pairs),
            flags=tuple(flag for r in rated for flag in r.flags),
        )

    async def rate(self, criterion: Criterion, subject: Subject, ask: Ask) -> Rated:
        """Rate by one criterion."""
        markers, names = self._files.piece("markers"), language_names(subject.lp)
        system = self._files.message("system", "system", markers=markers, criterion=criterion.text, **names)
        about = About(
            judge=self.name,
            stage="rating",
            role=criterion.name,
            subject=subject,
            wants="rating",
            facts={"low": LOW, "high": HIGH},
        )
        texts = Message("user", render_texts(self._files, subject))
        read = partial(read_rated, subject=subject)
        return (await ask([system, texts], about=about, read=read, schema=SCHEMA)).value

    @property
    def calls(self) -> Calls:
        """One a criterion."""
        return Calls(*[len(self.criteria)] * 3)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria in the order of the file."""
        return read_rubric(self._files.texts["rubric.toml"])

    @cached_property
    def _files(self) -> Prompts:
        used = ("rubric.toml", "system.md", "texts.md", *TEXT_FILES)
        return load_prompts("rubric", used, self.prompts, package=__package__)


def read_rated(reply: Reply, subject: Subject) -> Rated:
    """Read the rating by one criterion.

    Raises:
        AnswerError: the reply is not one JSON object with a whole number from 1 to 5.
    """
    reading = Reading(reply, judged_texts(subject))
    rating = reading.integer(reading.answer("rating")["rating"], LOW, HIGH, "the rating")
    return Rated(rating, reading.settle(is_clean=rating == HIGH))


def read_rubric(text: str) -> tuple[Criterion, ...]:
    """Read a rubric: a table for each criterion, with `weight` and `text`.

    Raises:
        UsageError: it is no TOML, has no criterion, or one without a text or without a weight above 0.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"rubric.toml is no TOML: {error}") from None
    found = []
    for name, table in tables.items():
        match table:
            case {"weight": int() | float() as weight, "text": str(said)} if 0 < weight < math.inf:
                found.append(Criterion(name, weight, said.strip()))
            case _:
                raise UsageError(
                    f"rubric.toml: [{name}] needs a weight above 0 and a text, got {table!r:.80}"
                )
    if not found:
        raise UsageError("rubric.toml has no criterion; each is a table, such as [accuracy]")
    return tuple(found)
