"""Several independent comparisons of one pair, and one verdict made of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adjudge.core.annotation import UNDECIDED, Preference, Verdict
from adjudge.core.ask import Ask
from adjudge.core.judge import PairJudge
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._comparison import IDENTICAL
from adjudge.judges._samples import MISSING, Repeated, readable, taken_of_each
from adjudge.judges._verdicts import (
    INCONSISTENT,
    SIGNS,
    TIE_BY_STRENGTH,
    Inconsistent,
    check_threshold,
    disagreement,
    is_near_tie,
)

__all__ = ["SampledPairs"]

Outcome = Preference | AnswerError


@dataclass(frozen=True, kw_only=True)
class SampledPairs(Repeated):
    """A judge of pairs, asked several times.

    Args:
        tie_threshold: a preference that is not stronger is E; None makes no ties.
    """

    judge: PairJudge
    tie_threshold: float | None = None

    def __post_init__(self) -> None:
        """Refuse what would be one comparison, and a threshold that is none."""
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
        """The judge's own."""
        return self.judge.criteria

    async def _compare(self, subject: Subject, ask: Ask) -> Sequence[Outcome]:
        return await taken_of_each(self.judge.compare(subject, ask), len(self.criteria))

    def _together(self, taken: Sequence[Outcome]) -> Outcome:
        """One preference on one criterion."""
        try:
            read = readable(taken)
        except AnswerError as error:
            return error
        verdict, strength = _most(read), _strength(read)
        orders, inconsistent = _orders(read), self._inconsistent
        flags = [flag for one in read for flag in one.flags if flag not in {INCONSISTENT, UNDECIDED}]
        flags += [*([MISSING] if len(read) < len(taken) else []), *disagreement(orders, inconsistent)]
        if verdict != "E" and is_near_tie(strength, self.tie_threshold):
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

    @property
    def _inconsistent(self) -> Inconsistent:
        """The judge's own setting, if it has one."""
        return getattr(self.judge, "inconsistent", "E")


def _most(read: Sequence[Preference]) -> Verdict:
    return _most_frequent([one.verdict for one in read])


def _most_frequent(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict given most often; E where two are given as often."""
    (first, most), *others = Counter(verdicts).most_common()
    return "E" if others and others[0][1] == most else first


def _orders(read: Sequence[Preference]) -> tuple[Verdict, ...]:
    """The verdict of each order; a sample in which a part is missing has none."""
    longest = max(len(one.orders) for one in read)
    known = [one.orders for one in read if len(one.orders) == longest]
    return tuple(map(_most_frequent, zip(*known, strict=True)))


def _strength(read: Sequence[Preference]) -> float:
    signs = [SIGNS[one.verdict] if one.strength is None else one.strength for one in read]
    return math.fsum(signs) / len(signs)
