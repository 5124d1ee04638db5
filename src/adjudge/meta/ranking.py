"""`rank`: systems best first, with intervals and significance clusters, on the segments all of them share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.run import Run
from adjudge.core.score import Interval, Scores, Signature
from adjudge.errors import DataError, UsageError
from adjudge.meta.bootstrap import bootstrap_means, percentile_intervals
from adjudge.meta.clusters import significance_clusters
from adjudge.meta.matrix import ScoreMatrix, Totals, score_matrix
from adjudge.meta.paired import is_exact, smallest_p_value
from adjudge.meta.pairs import TESTS, TITLES, Test, better_p_values
from adjudge.meta.scoring import score
from adjudge.scoring.coverage import coverage_note
from adjudge.scoring.means import total

__all__ = ["RankedSystem", "Ranking", "rank"]

_EACH: Final = "each language pair on its own"
_NOTHING: Final = "nothing was judged"


@dataclass(frozen=True, kw_only=True)
class RankedSystem:
    """One row of a ranking.

    Args:
        system: its name.
        score: mean over the common segments; None where nothing was judged.
        interval: 95 % bootstrap interval of that mean.
        cluster: counted from 1, best first; None where nothing was judged.
        n: common segments.
        failed: judgements asked for and not obtained, on all segments.
    """

    system: str
    score: float | None
    interval: Interval | None
    cluster: int | None
    n: int
    failed: int


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
    """

    signature: Signature
    method: str
    systems: tuple[RankedSystem, ...]
    notes: tuple[str, ...] = ()
    lps: Mapping[str, Ranking] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    seed: int
    resamples: int
    alpha: float
    test: Test
    by_document: bool

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise UsageError(f"test must be one of {', '.join(TESTS)}; got {self.test!r}")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, got {self.alpha}")
        if self.resamples < 1:
            raise UsageError(f"resamples must be 1 or more, got {self.resamples}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, got {self.seed}")


def rank(
    scores: Scores | Run | Path | str,
    *,
    seed: int = 0,
    resamples: int = 1000,
    alpha: float = 0.05,
    test: Test = "permutation",
    by_document: bool = False,
) -> Ranking:
    """Rank systems by their mean on the segments that are judged for all of them.

    Intervals: paired percentile bootstrap (`meta.bootstrap`). Clusters: one-sided tests of every pair
    (`meta.paired`), then WMT's rule (`meta.clusters`). Segments that lack a judgement of any system are
    dropped, and `notes` says how many. A system of which nothing was judged is listed last, without
    score and cluster, and drops nothing. Several language pairs are ranked each on its own.

    Args:
        scores: of one signature; a run, or the path of a run or of records, is scored as it says.
        seed: of bootstrap and permutation.
        resamples: draws of the bootstrap, and random sign flips of the permutation test.
        alpha: bound of the clusters' tests.
        test: `permutation` (paired), `wilcoxon` (signed-rank, paired), `rank-sum` (not paired; WMT's).
        by_document: draw and flip whole documents, whose segments are not independent.

    Raises:
        DataError: no segment is judged for every system.
        UsageError: a setting out of its range, or documents wanted where there are none.
    """
    settings = _Settings(seed=seed, resamples=resamples, alpha=alpha, test=test, by_document=by_document)
    if not isinstance(scores, Scores):
        scores = score(scores)
    if not scores.lps:
        return _noted(scores, _rank(scores, settings))
    parts = {lp: _rank(part, settings) for lp, part in scores.lps.items()}
    if scores.systems:
        whole = _rank(scores, settings)
    else:
        notes = [f"{lp}: {note}" for lp, part in parts.items() for note in part.notes]
        whole = Ranking(signature=scores.signature, method=_EACH, systems=(), notes=tuple(notes))
    return replace(
        _noted(scores, whole), lps={lp: _noted(scores.lps[lp], part) for lp, part in parts.items()}
    )


def _noted(scores: Scores, ranking: Ranking) -> Ranking:
    """Put what the scores say before what the ranking says, but for the coverage: it is equal here."""
    coverage = set(coverage_note(scores.segments))
    for lp, part in scores.lps.items():
        coverage |= {f"{lp}: {note}" for note in coverage_note(part.segments)}
    kept = [note for note in scores.notes if note not in coverage]
    return replace(ranking, notes=(*kept, *ranking.notes))


def _rank(scores: Scores, settings: _Settings) -> Ranking:
    """Rank one language pair, or several as one; the notes are those of the ranking alone."""
    matrix = score_matrix(scores.segments)
    judged = ~np.isnan(matrix.scores)
    present = [column for column in range(len(matrix.systems)) if judged[:, column].any()]
    failed = {s.system: s.failed for s in scores.systems}
    nothing = [_unjudged(s, failed[s]) for c, s in enumerate(matrix.systems) if c not in present]
    if not present:
        return Ranking(signature=scores.signature, method=_NOTHING, systems=tuple(nothing))
    rows = np.asarray(judged[:, present].all(axis=1))
    if not rows.any():
        names = ", ".join(matrix.systems[column] for column in present)
        raise DataError(f"no segment of {_lps(scores)} is judged for every one of {names}")
    common = matrix.select(rows, present)
    totals = common.totals(by_document=settings.by_document)
    return Ranking(
        signature=_signature(scores),
        method=_method(common, totals, settings),
        systems=(*_ranked(common, totals, settings, failed), *nothing),
        notes=tuple(_notes(scores, rows, totals, settings)),
    )


def _lps(scores: Scores) -> str:
    return ", ".join(dict.fromkeys(s.lp for s in scores.segments))


def _unjudged(system: str, failed: int) -> RankedSystem:
    return RankedSystem(system=system, score=None, interval=None, cluster=None, n=0, failed=failed)


def _ranked(
    common: ScoreMatrix, totals: Totals, settings: _Settings, failed: Mapping[str, int]
) -> list[RankedSystem]:
    """Rows of the systems that are judged, best first; equal means in the order of their names."""
    means = [_mean(common, column) for column in range(len(common.systems))]
    order = sorted(range(len(means)), key=lambda column: (-means[column], common.systems[column]))
    ordered = Totals(sums=totals.sums[:, order], sizes=totals.sizes[:, order])
    drawn = bootstrap_means(ordered.sums, ordered.sizes, resamples=settings.resamples, seed=settings.seed)
    p_values = better_p_values(ordered, settings.test, resamples=settings.resamples, seed=settings.seed)
    clusters = significance_clusters([means[c] for c in order], p_values, settings.alpha)
    rows = zip(order, percentile_intervals(drawn), clusters, strict=True)
    return [
        RankedSystem(
            system=common.systems[column],
            score=means[column],
            interval=interval,
            cluster=cluster,
            n=len(common.scores),
            failed=failed[common.systems[column]],
        )
        for column, interval, cluster in rows
    ]


def _mean(common: ScoreMatrix, column: int) -> float:
    """Mean of one system, added up as `score` does."""
    weights = common.weights[:, column].tolist()
    scores = common.scores[:, column].tolist()
    return total(w * s for w, s in zip(weights, scores, strict=True)) / total(weights)


def _signature(scores: Scores) -> Signature:
    return scores.signature.with_fields(level="mean") if _is_corpus(scores) else scores.signature


def _is_corpus(scores: Scores) -> bool:
    return scores.signature.fields.get("level") == "corpus"


def _method(common: ScoreMatrix, totals: Totals, settings: _Settings) -> str:
    units = len(totals.sums)
    of = "documents" if settings.by_document else "segments"
    flips = f", {'all' if is_exact(units) else settings.resamples} sign flips of {units} {of}"
    return (
        f"mean over {len(common.scores)} common segments; 95 % intervals by bootstrap over {of}, "
        f"{settings.resamples} resamples; clusters by one-sided {TITLES[settings.test]}, "
        f"p < {settings.alpha:g}{flips if settings.test == 'permutation' else ''}; seed {settings.seed}"
    )


def _notes(scores: Scores, rows: NDArray[np.bool_], totals: Totals, settings: _Settings) -> Iterator[str]:
    dropped = int((~rows).sum())
    if dropped:
        yield f"{dropped} of {len(rows)} segments are not judged for every system and were dropped."
    if _is_corpus(scores):
        yield "These are means of segment scores; the corpus scores (`adjudge score`) cannot be resampled."
    units, systems = totals.sums.shape
    least = smallest_p_value(units, settings.resamples)
    if settings.test == "permutation" and systems > 1 and least >= settings.alpha:
        yield f"Too few segments or resamples: p cannot be below {least:g}, so all share one cluster."
