"""What a ranking is, whichever way it was made, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from adjudge.core.score import Interval, Signature
from adjudge.errors import UsageError
from adjudge.meta.ranking.comparison_graph import Cycle
from adjudge.meta.ranking.pairs import TESTS, Test

__all__ = [
    "DEFAULT_TEST",
    "METHODS",
    "Method",
    "RankSettings",
    "RankedSystem",
    "Ranking",
    "too_few_note",
    "unjudged",
]

Method = Literal["mean", "copeland", "bradley-terry", "davidson"]
"""How systems get their scores: from the scores of segments, or from comparisons of two systems each."""
METHODS: Final[tuple[Method, ...]] = get_args(Method)

DEFAULT_TEST: Final[Test] = "permutation"
"""Of the clusters, where scores are means or points."""


@dataclass(frozen=True, kw_only=True)
class RankedSystem:
    """One row of a ranking.

    Args:
        system: its name.
        score: mean over the common segments; points of its comparisons, won or expected; None where nothing
            was judged.
        interval: 95 % bootstrap interval of the score.
        cluster: counted from 1, best first; None where nothing was judged.
        n: common segments; comparisons of the system.
        failed: judgements asked for and not obtained, on all segments.
        strength: log strength with mean 0, of Bradley-Terry and Davidson; None where it has no bound.
        readings: as in `SystemScore`, on all segments.
    """

    system: str
    score: float | None
    interval: Interval | None
    cluster: int | None
    n: int
    failed: int
    strength: float | None = None
    readings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Systems, best first.

    Args:
        signature: of the scores.
        method: what was compared on what, with which test and settings.
        systems: best first; systems of which nothing was judged last. Empty where several language pairs
            have not the same systems.
        notes: what a reader must know: dropped segments, failures.
        lps: each language pair on its own, where there are several; else empty.
        cycles: of comparisons, the smallest: each system beat the next, and the last the first.
    """

    signature: Signature
    method: str
    systems: tuple[RankedSystem, ...]
    notes: tuple[str, ...] = ()
    lps: Mapping[str, Ranking] = field(default_factory=dict)
    cycles: tuple[Cycle, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RankSettings:
    """How to rank; see `meta.ranking.rank.rank`.

    Raises:
        UsageError: a setting out of its range, or a test that the method has no use for.
    """

    method: Method
    test: Test | None
    alpha: float
    resamples: int
    seed: int
    by_document: bool
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.method not in METHODS:
            raise UsageError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}")
        if self.test is not None and self.test not in TESTS:
            raise UsageError(f"test must be one of {', '.join(TESTS)}; got {self.test!r}")
        if self.test is not None and self.is_model:
            raise UsageError(
                f"{self.method} is tested by its own bootstrap: leave out the test {self.test!r}"
            )
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, got {self.alpha}")
        if self.resamples < 1:
            raise UsageError(f"resamples must be 1 or more, got {self.resamples}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")
        if not self.epsilon >= 0:
            raise UsageError(f"epsilon must be 0 or more, got {self.epsilon}")
        if self.epsilon and self.method == "mean":
            raise UsageError("epsilon makes ties of pairs, and the method mean compares none")

    @property
    def is_model(self) -> bool:
        """Whether strengths are fitted."""
        return self.method in {"bradley-terry", "davidson"}

    @property
    def is_bounded(self) -> bool:
        """Whether few units keep every p-value from being small."""
        return self.is_model or (self.test or DEFAULT_TEST) == "permutation"

    @property
    def of(self) -> str:
        """What is drawn."""
        return "documents" if self.by_document else "segments"


def unjudged(system: str, failed: int) -> RankedSystem:
    """The row of a system of which nothing was judged."""
    return RankedSystem(system=system, score=None, interval=None, cluster=None, n=0, failed=failed)


def too_few_note(least: float) -> str:
    """Say that no p-value can be small enough.

    Args:
        least: the smallest that there can be.
    """
    return f"Too few segments or resamples: p cannot be below {least:g}, so all share one cluster."
