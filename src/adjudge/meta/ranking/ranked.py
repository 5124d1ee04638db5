"""What a ranking is, whichever way it was made, and with which settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

import numpy as np

from adjudge.core.score import Interval, Signature
from adjudge.errors import UsageError
from adjudge.meta.measures.result import Floats
from adjudge.meta.paired import is_exact, smallest_p_value
from adjudge.meta.ranking.clusters import rank_ranges, significance_clusters, significantly_better
from adjudge.meta.ranking.comparison_graph import Cycle
from adjudge.meta.ranking.pairs import TESTS, Test

__all__ = [
    "BY_SEGMENT_NOTE",
    "DEFAULT_TEST",
    "FEW_DOCUMENTS",
    "METHODS",
    "Method",
    "RankSettings",
    "RankedSystem",
    "Ranking",
    "few_documents_note",
    "p_value_rows",
    "placed",
    "too_few_note",
    "unjudged",
]

Method = Literal["mean", "copeland", "bradley-terry", "davidson"]
"""How systems get their scores: from the scores of segments, or from comparisons of two systems each."""
METHODS: Final[tuple[Method, ...]] = get_args(Method)

FEW_DOCUMENTS: Final = 10
"""Documents below which intervals and tests over them deserve a warning."""

BY_SEGMENT_NOTE: Final = (
    "Intervals and tests take segments for independent. Segments of one document are not: intervals are too "
    "narrow and more differences are found than there are."
)

DEFAULT_TEST: Final[Test] = "permutation"
"""Of the pairs, where scores are means or points."""


@dataclass(frozen=True, kw_only=True)
class RankedSystem:
    """One row of a ranking.

    Args:
        system: its name.
        score: mean over the common segments; points of its comparisons, won or expected; None where nothing
            was judged.
        interval: 95 % bootstrap interval of the score.
        cluster: counted from 1, best first; None where nothing was judged. Two systems of one cluster may
            differ significantly: a cluster is no statement of equality.
        n: common segments; comparisons of the system.
        failed: judgements asked for and not obtained, on all segments.
        strength: log strength with mean 0, of Bradley-Terry and Davidson; None where it has no bound.
        best: the best rank, from 1, that the two-sided tests of its pairs allow; None where nothing was
            tested.
        worst: the worst one.
        better_than: names of the systems that it is significantly better than.
        readings: as in `SystemScore`, on all segments.
    """

    system: str
    score: float | None
    interval: Interval | None
    cluster: int | None
    n: int
    failed: int
    strength: float | None = None
    best: int | None = None
    worst: int | None = None
    better_than: tuple[str, ...] = ()
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
        p_values: rows and columns in the order of `systems`: the two-sided p-value of the difference of two
            systems, not corrected for the number of pairs. None where the column's system does not stand
            below the row's, or nothing of it was judged.
    """

    signature: Signature
    method: str
    systems: tuple[RankedSystem, ...]
    notes: tuple[str, ...] = ()
    lps: Mapping[str, Ranking] = field(default_factory=dict)
    cycles: tuple[Cycle, ...] = ()
    p_values: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RankSettings:
    """How to rank; see `meta.ranking.rank.rank`.

    Args:
        method: what a system's score is.
        test: of the pairs; None for the default.
        alpha: bound of the tests.
        resamples: draws of the bootstrap, and random sign flips.
        seed: of the draws.
        by_document: whether documents or segments are drawn and tested; None for documents where two or more
            are known.
        epsilon: largest difference that is a tie.

    Raises:
        UsageError: a setting out of its range, or a test that the method has no use for.
    """

    method: Method
    test: Test | None
    alpha: float
    resamples: int
    seed: int
    by_document: bool | None
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

    def settled(self, documents: Collection[tuple[str, str]]) -> RankSettings:
        """Settle whether documents or segments are drawn and tested, and with which test.

        Where all sign flips of so few documents cannot reach alpha, and no test is asked for, the test is
        Student's t over documents.

        Args:
            documents: lp and document of each segment; "" where a segment has no document.

        Raises:
            UsageError: documents are asked for and none is known.
        """
        known = len({document for document in documents if document[1]})
        if self.by_document and not known:
            raise UsageError("--by-document needs documents, and these records name none")
        by_document = known > 1 if self.by_document is None else self.by_document
        units = known + sum(not name for _, name in documents)  # a segment without one is its own
        is_few = (
            by_document and units > 1 and is_exact(units) and 2 * smallest_p_value(units, 1) >= self.alpha
        )
        test = "t" if self.test is None and not self.is_model and is_few else self.test
        return replace(self, by_document=by_document, test=test)

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
        least: the smallest one-sided one that there can be.
    """
    return f"Too few segments or resamples: p cannot be below {2 * least:g}, so no system can be ranked."


def few_documents_note(units: int) -> str:
    """Say how sure intervals and tests over so few documents are.

    Args:
        units: documents.
    """
    return (
        f"There are only {units} documents, so that intervals are wide and tests weak. Judge more documents; "
        "--by-segment takes segments for independent and finds more differences than there are."
    )


def placed(
    rows: Sequence[RankedSystem], compared: Sequence[float], p_values: Floats, alpha: float
) -> list[RankedSystem]:
    """Give each row its cluster, its range of ranks, and the systems that it is significantly better than.

    Args:
        rows: best first.
        compared: their scores, without rounding noise.
        p_values: rows by rows; [i, j] is the one-sided p-value of "i is better than j". Clusters take it as
            it is, as WMT does; all else takes twice as much, because the means decide which system is tested
            to be better.
        alpha: bound, strict.
    """
    better = significantly_better(compared, 2 * p_values, alpha)
    clusters = significance_clusters(compared, p_values, alpha)
    names = [row.system for row in rows]
    return [
        replace(
            row,
            cluster=cluster,
            best=best,
            worst=worst,
            better_than=tuple(name for name, is_beaten in zip(names, beaten, strict=True) if is_beaten),
        )
        for row, cluster, (best, worst), beaten in zip(
            rows, clusters, rank_ranges(better), better.tolist(), strict=True
        )
    ]


def p_value_rows(p_values: Floats, unjudged: int) -> tuple[tuple[float | None, ...], ...]:
    """Arrange p-values as `Ranking.p_values` has them.

    Args:
        p_values: one-sided, of the systems judged, best first.
        unjudged: systems behind them of which nothing was judged.
    """
    n = len(p_values) + unjudged
    found: list[list[float | None]] = [[None] * n for _ in range(n)]
    for row, column in zip(*np.triu_indices(len(p_values), 1), strict=True):
        found[row][column] = min(1.0, 2 * float(p_values[row, column]))
    return tuple(map(tuple, found))
