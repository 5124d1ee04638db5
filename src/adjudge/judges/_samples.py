"""Several independent judgements of one unit of work, and one judgement made of them.

`Sampled` and those of `_sampled_sources.py` and `_sampled_pairs.py` do it around any judge; gemba-v2 has the
methods of its paper, and shares what counts as enough.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from adjudge.core.annotation import Annotation
from adjudge.core.ask import About, Answer, Ask, Message, Reply, Sampling, Tool
from adjudge.core.judge import Calls, Judge, Profile, TranslationJudge
from adjudge.core.segment import Subject
from adjudge.core.typology import find_weights
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.judges._vote import middle, vote
from adjudge.scoring.mqm import mqm_score

__all__ = [
    "MISSING",
    "TEMPERATURE",
    "Repeated",
    "Sampled",
    "check_temperature",
    "readable",
    "taken",
    "taken_of_each",
    "together",
]

T = TypeVar("T")

TEMPERATURE: Final = 0.7
"""Where the user says nothing. At 0 all samples would be one."""
MISSING: Final = "samples_missing"
"""Flag of a judgement of which not all samples could be read."""


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """A judge that is asked several times about each unit of work; it is such a judge itself.

    The samples are taken one after the other, so that which is which does not depend on who answers first,
    and a run that goes on after a stop reads its store as it was written.

    Args:
        judge: whose questions are asked.
        samples: how often each unit is judged.
        temperature: of every question that the judge would ask at 0.

    Raises:
        UsageError: fewer than two samples, or no temperature above 0.
    """

    judge: Judge
    samples: int
    temperature: float = TEMPERATURE

    def __post_init__(self) -> None:
        """Refuse what would be one judgement, or the same one again and again."""
        if self.samples < 2:
            raise UsageError(f"samples must be 2 or more, got {self.samples}; for one, leave it out")
        check_temperature(self.temperature)

    def warm(self, ask: Ask) -> Ask:
        """The same `ask`, which draws at random what would be drawn at temperature 0."""
        return _Warm(ask, self.temperature)

    @property
    def name(self) -> str:
        """The judge's own."""
        return self.judge.name

    @property
    def protocol(self) -> str:
        """The judge's own."""
        return self.judge.protocol

    @property
    def weights(self) -> str | None:
        """The judge's own."""
        return self.judge.weights

    @property
    def profile(self) -> Profile:
        """The judge's own."""
        return self.judge.profile

    @property
    def with_reference(self) -> bool:
        """The judge's own."""
        return self.judge.with_reference

    @property
    def prompts_digest(self) -> str:
        """The judge's own."""
        return self.judge.prompts_digest

    @property
    def calls(self) -> Calls:
        """The judge's own, as often as there are samples."""
        return Calls(*(self.samples * count for count in self.judge.calls))


@dataclass(frozen=True, kw_only=True)
class Sampled(Repeated):
    """A judge of single translations, asked several times."""

    judge: TranslationJudge

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Judge one translation several times, and put together what the judgements agree on.

        Raises:
            AnswerError: half of the samples or more could not be read.
        """
        warm = self.warm(ask)
        judgings = (self.judge.annotate(subject, warm) for _ in range(self.samples))
        return together([await taken(judging) for judging in judgings], self.judge.weights)


async def taken(judging: Awaitable[T]) -> T | AnswerError:
    """One sample, or why there is none."""
    try:
        return await judging
    except AnswerError as error:
        return error
    except DataError as error:  # a value of the model's that no record accepts
        return AnswerError("schema", str(error))


async def taken_of_each(
    judging: Awaitable[Sequence[T | AnswerError]], count: int
) -> Sequence[T | AnswerError]:
    """One sample of so many judgements that are made at once, each of them or why there is none."""
    found = await taken(judging)
    return [found] * count if isinstance(found, AnswerError) else found


def together(samples: Sequence[Annotation | AnswerError], weights: str | None) -> Annotation:
    """One annotation of several of one translation.

    Rating: the mean. Spans: by `vote`. Counts: the largest that more than half of the samples reach.
    Flags: all, each once. Rationale: that of the sample whose number is nearest to the mean.

    Args:
        samples: in order.
        weights: of marked errors; None where translations are rated.

    Raises:
        AnswerError: half of the samples or more could not be read.
    """
    read = readable(samples)
    flags = [flag for one in read for flag in one.flags]
    if len(read) < len(samples):
        flags.append(MISSING)
    numbers = [_number(one, weights) for one in read]
    return replace(
        read[_nearest(numbers)],
        rating=None if read[0].rating is None else _mean(numbers),
        spans=vote([one.spans for one in read]),
        counts={s: middle([one.counts.get(s, 0) for one in read]) for s in read[0].counts},
        flags=tuple(dict.fromkeys(flags)),
        samples=tuple(numbers),
    )


def _number(annotation: Annotation, weights: str | None) -> float:
    if annotation.rating is not None:
        return float(annotation.rating)
    return mqm_score(annotation, find_weights(weights or "mqm-google"))


@dataclass(frozen=True)
class _Warm:
    """An `Ask` that draws at random what would be drawn at temperature 0."""

    ask: Ask
    temperature: float

    async def __call__(  # noqa: PLR0913 (as in core)
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
        """Ask; see `core.ask.Ask`."""
        if sampling.temperature == 0:
            sampling = replace(sampling, temperature=self.temperature)
        return await self.ask(
            messages,
            about=about,
            read=read,
            attempts=attempts,
            schema=schema,
            sampling=sampling,
            tools=tools,
        )


def check_temperature(temperature: float) -> None:
    """Refuse a temperature at which all samples would be one.

    Raises:
        UsageError: it is not above 0.
    """
    if not 0 < temperature < math.inf:
        raise UsageError(f"samples need a temperature above 0, got {temperature!r}")


def readable(samples: Sequence[T | AnswerError]) -> list[T]:
    """The samples that could be read, in order, if they are more than half of those that were taken.

    Raises:
        AnswerError: they are not; with the reason that all the others share, else count.
    """
    read = [one for one in samples if not isinstance(one, AnswerError)]
    failed = [one for one in samples if isinstance(one, AnswerError)]
    if 2 * len(read) > len(samples):
        return read
    reasons = Counter(error.reason for error in failed)
    listed = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
    detail = f"{len(read)} of {len(samples)} samples could be read, and more than half must be ({listed}); "
    raise AnswerError(failed[0].reason if len(reasons) == 1 else "count", detail + failed[0].detail)


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _nearest(numbers: Sequence[float]) -> int:
    mean = _mean(numbers)
    return min(range(len(numbers)), key=lambda index: (abs(numbers[index] - mean), index))
