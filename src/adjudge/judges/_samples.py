"""Several independent judgements of one unit of work, and one judgement made of them.

`Sampled` does it around any judge. `vote` finds the errors that several judgements of one translation agree
on. gemba-v2 has the methods of its paper, and shares what counts as enough.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any, Final, TypeVar

from adjudge.core.ask import About, Answer, Ask, Message, Reply, Sampling, SearchEngine, Tool
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Judge, is_pair_judge
from adjudge.core.mqm import find_weights, mqm_score
from adjudge.core.protocol import SEVERITIES
from adjudge.core.record import UNDECIDED, Annotation, ErrorSpan, Preference, Verdict
from adjudge.core.segment import Subject
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
    return tuple(
        sorted(agreed, key=lambda span: (span.start is None, span.side == "source", span.start or 0))
    )


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
        groups = [group for group in self._groups.values() if len(group) > more_than]
        return max(groups, key=lambda group: (len(group), self._tightness(group[0], group)), default=[])

    def remove(self, group: Sequence[int]) -> None:
        self._free -= set(group)
        near = {centre for one in group for centre in self._fit[one]}
        for centre in near & self._groups.keys():
            if centre in self._free:
                self._groups[centre] = self._group(centre)
            else:
                del self._groups[centre]

    def settle(self, group: Sequence[int]) -> ErrorSpan:
        counts = Counter(self._span[one].category for one in group)
        most = max(counts.values())
        best = sorted(group, key=lambda one: -self._tightness(one, group))
        chosen = next(self._span[one] for one in best if counts[self._span[one].category] == most)
        severities = [SEVERITIES.index(self._span[one].severity) for one in group]
        return replace(chosen, severity=SEVERITIES[middle(severities)])

    def _group(self, centre: int) -> list[int]:
        best: dict[int, int] = {}
        for other in sorted(self._fit[centre].keys() & self._free, key=lambda one: self._rank(centre, one)):
            best[self._sample[other]] = other
        best.pop(self._sample[centre])
        return [centre, *best.values()]

    def _rank(self, centre: int, other: int) -> tuple[bool, float, int]:
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


T = TypeVar("T")
Outcome = Annotation | Preference | AnswerError

TEMPERATURE: Final = 0.7
"""Where the user says nothing. At 0 all samples would be one."""
MISSING: Final = "samples_missing"
"""Flag of a judgement of which not all samples could be read."""
OUTVOTED: Final = "outvoted_errors"
_JUDGING: Final = frozenset({"annotate", "annotate_all", "check", "compare"})


@frozen
class Sampled:
    """A judge of any kind that judges each unit of work several times; it is such a judge itself.

    The samples are taken one after the other, so that which is which does not depend on who answers first,
    and a run that goes on after a stop reads its store as it was written. Of each translation, criterion or
    pair they become one judgement:

    - rating: the mean; spans: by `vote`; counts: the largest that more than half of the samples reach.
    - pass or fail (`criteria`): what more than half of the samples say; else the failure is `ambiguous`.
    - verdict: the most frequent, E if two are; orders: the same of each order. Strength: the mean of the
      samples, each with the strength that was measured, else 1 for A, -1 for B and 0 for E.
    - flags: all, each once. Rationale: that of the sample nearest to the result.

    Args:
        judge: whose questions are asked.
        samples: how often each unit is judged.
        temperature: of every question that the judge would ask at 0.
        tie_threshold: of a judge of pairs; a preference that is not stronger is E. None makes no ties.

    Raises:
        UsageError: fewer than two samples, no temperature above 0, or a threshold that is none.
    """

    judge: Judge
    samples: int
    temperature: float = TEMPERATURE
    tie_threshold: TieThreshold | None = None

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise UsageError(f"samples must be 2 or more, got {self.samples}; for one, leave it out")
        check_temperature(self.temperature)
        if self.tie_threshold is not None and not is_pair_judge(self.judge):
            raise UsageError(f"tie_threshold is for judges of pairs, and {self.judge.name} is none")
        check_threshold(self.tie_threshold, is_measured=True)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the judge has)
        if name == "judge" or name.startswith("__"):  # a copy is asked before it has its fields
            raise AttributeError(name)
        found = getattr(self.judge, name)
        if name in _JUDGING:
            return partial(self._judge, found)
        if name == "calls":
            return self._times(found)
        if name == "calls_for":
            return lambda subject: self._times(found(subject))
        if name == "fitted":
            return lambda **given: replace(self, judge=found(**given))
        return found

    def _times(self, calls: Calls) -> Calls:
        return Calls(*(self.samples * count for count in calls))

    async def _judge(
        self, verb: Callable[..., Awaitable[Any]], subject: Subject, ask: Ask, *engine: SearchEngine
    ) -> Any:  # noqa: ANN401 (as the verb)
        warm, taken = _Warm(ask, self.temperature), []
        for _ in range(self.samples):
            try:
                taken.append(await verb(subject, warm, *engine))
            except AnswerError as error:
                taken.append(error)
            if isinstance(taken[0], Sequence) and all(
                IDENTICAL in getattr(one, "flags", ()) for one in taken[0]
            ):
                return taken[0]  # a pair of one text: nobody was asked
        read = [one for one in taken if not isinstance(one, AnswerError)]
        if not read or isinstance(read[0], Annotation):
            return self._together(taken)
        each = [[one] * len(read[0]) if isinstance(one, AnswerError) else one for one in taken]
        found: list[Outcome] = []
        for own in zip(*each, strict=True):
            try:
                found.append(self._together(own))
            except AnswerError as error:
                found.append(error)
        return found

    def _together(self, taken: Sequence[Outcome]) -> Annotation | Preference:
        read = readable(taken)
        missing = [MISSING] if len(read) < len(taken) else []
        if compared := [one for one in read if isinstance(one, Preference)]:
            return self._compared(compared, missing)
        return self._annotated([one for one in read if isinstance(one, Annotation)], missing)

    def _annotated(self, read: Sequence[Annotation], missing: Sequence[str]) -> Annotation:
        marked = [one.spans for one in read]
        flags = [*(flag for one in read for flag in one.flags), *missing]
        if is_outvoted(marked, spans := vote(marked)):
            flags.append(OUTVOTED)
        numbers = [_number(one, self.judge.weights) for one in read]
        result, count = fmean(numbers), len(numbers)
        if self.judge.protocol == "criteria":
            passes = sum(numbers)
            if 2 * passes == count:
                raise AnswerError("ambiguous", f"{passes:g} of {count} samples pass, and as many fail")
            result = float(2 * passes > count)
        return replace(
            read[min(range(len(numbers)), key=lambda index: abs(numbers[index] - result))],
            rating=None if read[0].rating is None else result,
            spans=spans,
            counts={s: middle([one.counts.get(s, 0) for one in read]) for s in read[0].counts},
            flags=tuple(dict.fromkeys(flags)),
            samples=tuple(numbers),
        )

    def _compared(self, read: Sequence[Preference], missing: Sequence[str]) -> Preference:
        verdict = _most_frequent([one.verdict for one in read])
        strength = fmean([SIGNS[one.verdict] if one.strength is None else one.strength for one in read])
        longest = max(len(one.orders) for one in read)  # a sample in which a part is missing has no orders
        known = [one.orders for one in read if len(one.orders) == longest]
        orders = tuple(map(_most_frequent, zip(*known, strict=True)))
        inconsistent: Inconsistent = getattr(self.judge, "inconsistent", "E")
        flags = [flag for one in read for flag in one.flags if flag not in {INCONSISTENT, UNDECIDED}]
        flags += [*missing, *disagreement(orders, inconsistent)]
        is_weak = self.tie_threshold is not None and self.tie_threshold.takes(strength, read[0].criterion)
        if verdict != "E" and is_weak:
            verdict, flags = "E", [*flags, TIE_BY_STRENGTH]
        return replace(
            next((one for one in read if one.verdict == verdict), read[0]),
            verdict="E" if UNDECIDED in flags else verdict,
            orders=orders,
            flags=tuple(dict.fromkeys(flags)),
            samples=tuple(one.verdict for one in read),
            strength=strength,
        )


def _number(annotation: Annotation, weights: str | None) -> float:
    if annotation.rating is not None:
        return float(annotation.rating)
    return mqm_score(annotation, find_weights(weights or "mqm-google"))


def _most_frequent(verdicts: Sequence[Verdict]) -> Verdict:
    (first, most), *others = Counter(verdicts).most_common()
    return "E" if others and others[0][1] == most else first


@dataclass(frozen=True)
class _Warm:
    """An `Ask` that draws at random what would be drawn at temperature 0."""

    ask: Ask
    temperature: float

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
    """Refuse a temperature at which all samples would be one."""
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
