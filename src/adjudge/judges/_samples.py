"""Several independent judgements of one unit of work, and one judgement made of them.

`Sampled` and its kin do it around any judge, one class for each kind of judge. `vote` finds the errors that
several judgements of one translation agree on. gemba-v2 has the methods of its paper, and shares what counts
as enough.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from adjudge.core.ask import About, Answer, Ask, Message, Reply, Sampling, SearchEngine, Tool
from adjudge.core.judge import (
    Calls,
    CriteriaJudge,
    Judge,
    PairJudge,
    Profile,
    SearchingJudge,
    SourceJudge,
    TranslationJudge,
)
from adjudge.core.mqm import find_weights, mqm_score
from adjudge.core.protocol import SEVERITIES
from adjudge.core.record import UNDECIDED, Annotation, ErrorSpan, Preference, Verdict
from adjudge.core.segment import Subject, read_criteria
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._pairs import (
    IDENTICAL,
    INCONSISTENT,
    SIGNS,
    TIE_BY_STRENGTH,
    Inconsistent,
    TieThreshold,
    check_threshold,
    disagreement,
)

__all__ = [
    "OUTVOTED",
    "TEMPERATURE",
    "Repeated",
    "Sampled",
    "SampledCriteria",
    "SampledPairs",
    "SampledSearches",
    "SampledSources",
    "check_temperature",
    "is_outvoted",
    "middle",
    "readable",
    "vote",
]


def vote(samples: Sequence[Sequence[ErrorSpan]]) -> tuple[ErrorSpan, ...]:
    """The errors that more than half of the samples mark, in the order of the text.

    A sample supports an error if it has a span that overlaps it on the same side; errors without a place
    support each other if they quote the same words, or quote none and are of one category. Each span
    supports one error only, so that two errors in one place need twice the votes.

    - The error with the most supporters is settled first, each sample giving the span that fits best.
    - Category: the most frequent one. Place: of the spans of that category, the one that overlaps the
      others best. Severity: the worst that more than half of the supporters call at least so severe; that
      is the majority's, where there is one.
    """
    ballot = _Ballot([(sample, span) for sample, spans in enumerate(samples) for span in spans])
    agreed = []
    while group := ballot.strongest(more_than=len(samples) / 2):
        agreed.append(ballot.settle(group))
        ballot.remove(group)
    return tuple(sorted(agreed, key=_order))


def is_outvoted(samples: Sequence[Sequence[ErrorSpan]], agreed: Sequence[ErrorSpan]) -> bool:
    """Whether some sample marks an error in a place where none was agreed on."""
    return any(not any(_overlap(span, kept) for kept in agreed) for spans in samples for span in spans)


def middle(numbers: Sequence[int]) -> int:
    """The largest number that more than half of the samples reach: the median, the lower one of two."""
    return sorted(numbers)[(len(numbers) - 1) // 2]


class _Ballot:
    """All spans by number, how well each two fit, and which of them still have a vote."""

    def __init__(self, marked: Sequence[tuple[int, ErrorSpan]]) -> None:
        self._free = set(range(len(marked)))
        self._sample = [sample for sample, _ in marked]
        self._span = [span for _, span in marked]
        self._fit: list[dict[int, float]] = [{} for _ in marked]
        for one in range(len(marked)):
            for other in range(one, len(marked)):
                if fit := _overlap(self._span[one], self._span[other]):
                    self._fit[one][other] = self._fit[other][one] = fit
        self._groups = {centre: self._group(centre) for centre in range(len(marked))}

    def strongest(self, *, more_than: float) -> list[int]:
        """The spans of the error that most samples support; empty if no error has enough of them."""
        groups = [group for group in self._groups.values() if len(group) > more_than]
        return max(groups, key=lambda group: (len(group), self._tightness(group[0], group)), default=[])

    def remove(self, group: Sequence[int]) -> None:
        """Take the votes of an error that is settled; whoever was near it looks for others."""
        self._free -= set(group)
        near = {centre for one in group for centre in self._fit[one]}
        for centre in near & self._groups.keys():
            if centre in self._free:
                self._groups[centre] = self._group(centre)
            else:
                del self._groups[centre]

    def settle(self, group: Sequence[int]) -> ErrorSpan:
        """One span for all of a group."""
        counts = Counter(self._span[one].category for one in group)
        most = max(counts.values())
        best = sorted(group, key=lambda one: -self._tightness(one, group))
        chosen = next(self._span[one] for one in best if counts[self._span[one].category] == most)
        severities = [SEVERITIES.index(self._span[one].severity) for one in group]
        return replace(chosen, severity=SEVERITIES[middle(severities)])

    def _group(self, centre: int) -> list[int]:
        """A span, and of every other sample the one that supports it best."""
        best: dict[int, int] = {}
        for other in sorted(self._fit[centre].keys() & self._free, key=lambda one: self._rank(centre, one)):
            best[self._sample[other]] = other
        best.pop(self._sample[centre])
        return [centre, *best.values()]

    def _rank(self, centre: int, other: int) -> tuple[bool, float, int]:
        """Same category first, then the better fit, then the earlier one; the best comes last."""
        same = self._span[other].category == self._span[centre].category
        return (same, self._fit[centre][other], -other)

    def _tightness(self, centre: int, group: Sequence[int]) -> float:
        return sum(self._fit[centre].get(other, 0.0) for other in group)


def _overlap(one: ErrorSpan, other: ErrorSpan) -> float:
    """Shared characters by all characters of both; 1 for the same place, 0 for different ones."""
    if one.side != other.side:
        return 0.0
    if one.start is None or one.end is None or other.start is None or other.end is None:
        if one.start is not None or other.start is not None:
            return 0.0
        same_words = " ".join(one.text.split()) == " ".join(other.text.split())
        return float(same_words and (bool(one.text.strip()) or one.category == other.category))
    if (one.start, one.end) == (other.start, other.end):
        return 1.0
    shared = min(one.end, other.end) - max(one.start, other.start)
    return max(0, shared) / (max(one.end, other.end) - min(one.start, other.start))


def _order(span: ErrorSpan) -> tuple[bool, bool, int]:
    """Translation before source, by place, errors without one last."""
    return (span.start is None, span.side == "source", span.start or 0)


T = TypeVar("T")

TEMPERATURE: Final = 0.7
"""Where the user says nothing. At 0 all samples would be one."""
MISSING: Final = "samples_missing"
OUTVOTED: Final = "outvoted_errors"
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
        """Return the name of the wrapped judge."""
        return self.judge.name

    @property
    def protocol(self) -> str:
        """Return the protocol of the wrapped judge."""
        return self.judge.protocol

    @property
    def weights(self) -> str | None:
        """Return the weights of the wrapped judge."""
        return self.judge.weights

    @property
    def profile(self) -> Profile:
        """Return the profile of the wrapped judge."""
        return self.judge.profile

    @property
    def with_reference(self) -> bool:
        """Return whether the wrapped judge is shown a reference."""
        return self.judge.with_reference

    @property
    def prompts_digest(self) -> str:
        """Return the digest of the wrapped judge's prompts."""
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
    marked = [one.spans for one in read]
    if is_outvoted(marked, spans := vote(marked)):
        flags.append(OUTVOTED)
    numbers = [_number(one, weights) for one in read]
    mean = _mean(numbers)
    return replace(
        read[min(range(len(numbers)), key=lambda index: abs(numbers[index] - mean))],
        rating=None if read[0].rating is None else mean,
        spans=spans,
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


Outcome = Preference | AnswerError


@dataclass(frozen=True, kw_only=True)
class SampledPairs(Repeated):
    """A judge of pairs, asked several times.

    Args:
        tie_threshold: a preference that is not stronger is E; None makes no ties.
    """

    judge: PairJudge
    tie_threshold: TieThreshold | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_threshold(self.tie_threshold, is_measured=True)

    async def compare(self, subject: Subject, ask: Ask) -> Sequence[Outcome]:
        """Compare several times; on each criterion, the verdict that most samples give.

        Verdict: the most frequent, E if two are. Orders: the same of each order. Strength: the mean of the
        samples, each with the strength that was measured, else 1 for A, -1 for B and 0 for E. A pair that
        nobody is asked about is settled by the first.
        """
        warm = self.warm(ask)
        taken = [await self._compare(subject, warm)]
        if all(isinstance(one, Preference) and IDENTICAL in one.flags for one in taken[0]):
            return taken[0]
        taken += [await self._compare(subject, warm) for _ in range(self.samples - 1)]
        return [self._together(own) for own in zip(*taken, strict=True)]

    @property
    def criteria(self) -> tuple[str, ...]:
        """Return the criteria of the wrapped judge."""
        return self.judge.criteria

    async def _compare(self, subject: Subject, ask: Ask) -> Sequence[Outcome]:
        return await taken_of_each(self.judge.compare(subject, ask), len(self.criteria))

    def _together(self, taken: Sequence[Outcome]) -> Outcome:
        try:
            read = readable(taken)
        except AnswerError as error:
            return error
        verdict = _most_frequent([one.verdict for one in read])
        strength = _mean([SIGNS[one.verdict] if one.strength is None else one.strength for one in read])
        longest = max(len(one.orders) for one in read)  # a sample in which a part is missing has no orders
        known = [one.orders for one in read if len(one.orders) == longest]
        orders = tuple(map(_most_frequent, zip(*known, strict=True)))
        inconsistent: Inconsistent = getattr(self.judge, "inconsistent", "E")
        flags = [flag for one in read for flag in one.flags if flag not in {INCONSISTENT, UNDECIDED}]
        flags += [*([MISSING] if len(read) < len(taken) else []), *disagreement(orders, inconsistent)]
        criterion = read[0].criterion
        is_weak = self.tie_threshold is not None and self.tie_threshold.takes(strength, criterion)
        if verdict != "E" and is_weak:
            verdict, flags = "E", [*flags, TIE_BY_STRENGTH]
        telling = next((one for one in read if one.verdict == verdict), read[0])
        return replace(
            telling,
            verdict="E" if UNDECIDED in flags else verdict,
            orders=orders,
            flags=tuple(dict.fromkeys(flags)),
            samples=tuple(one.verdict for one in read),
            strength=strength,
        )


def _most_frequent(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict given most often; E where two are given as often."""
    (first, most), *others = Counter(verdicts).most_common()
    return "E" if others and others[0][1] == most else first


Judged = Annotation | AnswerError
Annotate = Callable[[Subject, Ask], Awaitable[Sequence[Judged]]]


@dataclass(frozen=True, kw_only=True)
class _Counted(Repeated):
    """How many calls it takes depends on what is judged."""

    judge: SourceJudge | SearchingJudge | CriteriaJudge

    def calls_for(self, subject: Subject) -> Calls:
        """The judge's own, as often as there are samples."""
        return Calls(*(self.samples * count for count in self.judge.calls_for(subject)))


@dataclass(frozen=True, kw_only=True)
class SampledCriteria(_Counted):
    """A judge that checks the criteria of a segment, asked several times."""

    judge: CriteriaJudge

    async def check(self, subject: Subject, ask: Ask) -> Sequence[Judged]:
        """Check several times; on each criterion, the verdict of more than half of the samples read.

        Where as many samples pass as fail, there is no verdict: the failure is `ambiguous`.
        """
        warm, count = self.warm(ask), len(read_criteria(subject.segment))
        checks = (self.judge.check(subject, warm) for _ in range(self.samples))
        taken = [await taken_of_each(checking, count) for checking in checks]
        return [_majority(own) for own in zip(*taken, strict=True)]


@dataclass(frozen=True, kw_only=True)
class SampledSources(_Counted):
    """A judge of all translations of a source, asked several times."""

    judge: SourceJudge

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Judged]:
        """Judge all translations several times; of each put together what its judgements agree on."""
        return await _sampled(self, self.judge.annotate_all, subject, ask)


@dataclass(frozen=True, kw_only=True)
class SampledSearches(_Counted):
    """A judge of all translations of a source that looks things up, asked several times.

    Each sample begins anew, with nothing in its memory; a query has one answer for all of them.
    """

    judge: SearchingJudge

    @property
    def search(self) -> str:
        """Return the search setting of the wrapped judge."""
        return self.judge.search

    @property
    def said(self) -> Sequence[str]:
        """Return what the wrapped judge has to say of its settings."""
        found: Sequence[str] = getattr(self.judge, "said", ())
        return found

    def fitted(self, *, search: str, takes_tools: bool) -> SampledSearches:
        """With the judge as it fits; see `core.judge.SearchingJudge`."""
        return replace(self, judge=self.judge.fitted(search=search, takes_tools=takes_tools))

    async def annotate_all(
        self, subject: Subject, ask: Ask, engine: SearchEngine | None = None
    ) -> Sequence[Judged]:
        """Judge all translations several times; of each put together what its judgements agree on."""
        return await _sampled(self, partial(self.judge.annotate_all, engine=engine), subject, ask)


def _majority(taken: Sequence[Judged]) -> Judged:
    """One verdict on one criterion, or why there is none."""
    try:
        read = readable(taken)
    except AnswerError as error:
        return error
    verdicts = tuple(_number(one, None) for one in read)
    passes = sum(verdicts)
    if 2 * passes == len(verdicts):
        return AnswerError("ambiguous", f"{passes:g} of {len(verdicts)} samples pass, and as many fail")
    verdict = float(2 * passes > len(verdicts))
    flags = [*(flag for one in read for flag in one.flags), *([MISSING] if len(read) < len(taken) else [])]
    telling = read[verdicts.index(verdict)]
    return replace(telling, flags=tuple(dict.fromkeys(flags)), samples=verdicts)


async def _sampled(sampled: Repeated, annotate: Annotate, subject: Subject, ask: Ask) -> Sequence[Judged]:
    """Of each system one outcome, put together from all samples."""
    warm = sampled.warm(ask)
    judgings = (annotate(subject, warm) for _ in range(sampled.samples))
    taken = [await taken_of_each(judging, len(subject.systems)) for judging in judgings]
    return [_together(own, sampled.weights) for own in zip(*taken, strict=True)]


def _together(taken: Sequence[Judged], weights: str | None) -> Judged:
    try:
        return together(taken, weights)
    except AnswerError as error:
        return error
