"""`rank`: systems best first, with intervals, the tests of every pair, ranges of ranks and clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.annotation import Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.run import Run
from adjudge.core.score import Interval, Scores, Signature
from adjudge.core.segment import TestSet
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.meta.bootstrap import bootstrap_means, lone_unit_note, percentile_intervals
from adjudge.meta.comparing.compare import chosen_annotator, read_one_annotator
from adjudge.meta.intervals import student_intervals
from adjudge.meta.judgements import read_judgements, refuse_texts
from adjudge.meta.matrix import Floats, ScoreMatrix, Totals, score_matrix
from adjudge.meta.paired import is_exact, smallest_p_value
from adjudge.meta.ranking.comparisons import tabulate
from adjudge.meta.ranking.criterion_ranking import score_for_ranking
from adjudge.meta.ranking.pairs import TITLES, Test, better_p_values
from adjudge.meta.ranking.pairwise_ranking import rank_comparisons
from adjudge.meta.ranking.preferences import OVERALL, preferences_from_scores
from adjudge.meta.ranking.ranked import (
    BY_SEGMENT_NOTE,
    DEFAULT_TEST,
    FEW_DOCUMENTS,
    Method,
    RankedSystem,
    Ranking,
    RankSettings,
    few_documents_note,
    p_value_rows,
    placed,
    too_few_note,
    unjudged,
)
from adjudge.scoring.coverage import coverage_note
from adjudge.scoring.means import total

__all__ = ["RankedSystem", "Ranking", "rank"]

Range = tuple[float, float]
"""Lowest and highest possible score."""

_EACH: Final = "each language pair on its own"
_NOTHING: Final = "nothing was judged"


@checks_keywords()
def rank(  # noqa: PLR0913 (what a ranking can be asked for; every one has its default)
    scores: Scores | Run | Iterable[Record] | Path | str,
    *,
    weights: str | None = None,
    lp: str | None = None,
    criterion: str | None = None,
    gold: str | None = None,
    metric: str | None = None,
    method: Method = "mean",
    seed: int = 0,
    resamples: int = 1000,
    alpha: float = 0.05,
    test: Test | None = None,
    by_document: bool | None = None,
    epsilon: float = 0.0,
    test_set: TestSet | Path | str | None = None,
) -> Ranking:
    """Rank systems by their scores, or by comparisons of two systems each.

    `mean`: of the segments that are judged for all systems; others are dropped, and `notes` says how many.
    Every pair of systems has a test (`meta.paired`), not corrected for the number of pairs. From the
    two-sided tests come the ranks that each system may have, from the one-sided ones WMT's clusters
    (`meta.ranking.clusters`), which are no statement of equality.

    Documents are drawn and tested where two or more are known, since segments of one document are not
    independent. Intervals of means over documents are Student's t (`meta.intervals`); else intervals are
    paired percentile bootstrap (`meta.bootstrap`).

    `copeland`, `bradley-terry`, `davidson`: of all preferences that were scored; of scores, every two
    translations of a segment are compared, and nothing is dropped (`meta.ranking.pairwise_ranking`).

    A system of which nothing was judged is listed last, without score and cluster, and drops nothing.
    Several language pairs are ranked each on its own.

    Args:
        scores: of one signature; a run, records, or the path of whatever holds judgements, are scored first;
            a test set with gold or metric.
        weights: name of the points of marked errors; None for those of the run, else `mqm-google`.
        lp: language pair to keep.
        criterion: of preferences, or those that marked MQM errors of one category make; None for the only one
            of preferences, else `overall`.
        gold: of a test set, whose path is `scores`: the gold, its own or a file, that ranks its systems.
        metric: the same of a metric.
        method: what a system's score is.
        seed: of bootstrap and permutation.
        resamples: draws of the bootstrap, and random sign flips of the permutation test.
        alpha: bound of the pairs' tests.
        test: `permutation` (paired; the default), `t` (paired; the default where all sign flips of so few
            documents cannot reach alpha), `wilcoxon` (signed-rank, paired), `rank-sum` (not paired; WMT's).
            Bradley-Terry and Davidson take none: their bootstrap is the test.
        by_document: whether whole documents are drawn and tested, or segments as if they were independent;
            None for documents where two or more are known.
        epsilon: largest difference of two scores that is a tie, where pairs are made of scores.
        test_set: texts, or their path, that ratings without ids are about; for the path of such a file.

    Raises:
        DataError: no segment is judged for every system; no comparison connects systems whose strengths are
            wanted.
        UsageError: a setting out of its range, documents wanted where there are none, an epsilon for
            preferences, or a choice among what was scored already.
    """
    settings = RankSettings(
        method=method,
        test=test,
        alpha=alpha,
        resamples=resamples,
        seed=seed,
        by_document=by_document,
        epsilon=epsilon,
    )
    if gold is not None or metric is not None:
        if criterion is not None or test_set is not None or not isinstance(scores, Path | str):
            raise UsageError("gold or metric is of a test set: give its path, and no criterion or test_set")
        scores, _ = read_one_annotator(Path(scores), lp, *chosen_annotator(gold, metric), weights)
    else:
        scores = _scored(scores, {"weights": weights, "lp": lp, "criterion": criterion}, test_set)
    if not scores.lps:
        return _noted(scores, _rank(scores, settings))
    parts = {lp: _rank(part, settings) for lp, part in scores.lps.items()}
    notes = tuple(f"{lp}: {note}" for lp, part in parts.items() for note in part.notes)
    whole = Ranking(signature=scores.signature, method=_EACH, systems=(), notes=notes)
    if scores.systems:
        whole = _rank(scores, settings)
        whole = replace(whole, method=f"{whole.method}; {_together(parts)}")
        if method != "mean":  # what comparisons leave open in one language pair, others may settle
            whole = replace(whole, notes=(*whole.notes, *notes))
    lps = {lp: _noted(scores.lps[lp], part) for lp, part in parts.items()}
    return replace(_noted(scores, whole), lps=lps)


def _together(parts: Mapping[str, Ranking]) -> str:
    """Name the language pairs that are ranked as one: those in which something was judged."""
    judged = [lp for lp, part in parts.items() if any(row.score is not None for row in part.systems)]
    return (
        f"nothing was judged but {judged[0]}" if len(judged) == 1 else f"{', '.join(judged or parts)} pooled"
    )


def _scored(
    source: Scores | Run | Iterable[Record] | Path | str,
    choices: Mapping[str, str | None],
    texts: TestSet | Path | str | None,
) -> Scores:
    """Score what was judged.

    Raises:
        UsageError: these are scores already, and can only be chosen among where they are made; or texts that
            what was judged has no use for.
    """
    if isinstance(source, Scores):
        given = ", ".join(f"{name}=..." for name, value in choices.items() if value is not None)
        if given:
            raise UsageError(f"these are scores already: choose where they are made, score({given})")
    if isinstance(source, (Path, str)):
        judged = read_judgements(source, choices["lp"], texts)
        return score_for_ranking(str(source), judged, **choices)
    refuse_texts(texts)
    if isinstance(source, Scores):
        return source
    if isinstance(source, Run):
        return score_for_ranking(source.info.annotator, source, **choices)
    return score_for_ranking("records", source, **choices)


def _noted(scores: Scores, ranking: Ranking) -> Ranking:
    """Put what the scores say before what the ranking says, but for the coverage: it is equal here."""
    coverage = set(coverage_note(scores.segments))
    for lp, part in scores.lps.items():
        coverage |= {f"{lp}: {note}" for note in coverage_note(part.segments)}
    kept = [note for note in scores.notes if note not in coverage]
    readings = {s.system: s.readings for s in scores.systems}
    systems = tuple(replace(s, readings=readings.get(s.system, {})) for s in ranking.systems)
    return replace(ranking, systems=systems, notes=(*kept, *ranking.notes))


def _rank(scores: Scores, settings: RankSettings) -> Ranking:
    """Rank one language pair, or several as one; the notes are those of the ranking alone."""
    if settings.method != "mean":
        return _rank_pairs(scores, settings)
    return _rank_means(scores, settings)


def _rank_pairs(scores: Scores, settings: RankSettings) -> Ranking:
    criterion = scores.signature.fields.get("criterion")
    failed = {s.system: s.failed for s in scores.systems}
    if criterion is not None:
        if settings.epsilon:
            raise UsageError("epsilon makes ties of scores; these are preferences, which say their ties")
        return rank_comparisons(tabulate(scores.preferences, criterion), scores.signature, failed, settings)
    pairs = preferences_from_scores(scores.segments, epsilon=settings.epsilon)
    ranking = rank_comparisons(tabulate(pairs, OVERALL), _signature(scores), failed, settings)
    ties = f"within {settings.epsilon:g}" if settings.epsilon else "of equal scores"
    annotators = scores.signature.fields.get("annotators")
    of = f"means over {annotators} annotators" if annotators else "segment scores"
    return replace(ranking, method=f"{ranking.method}; pairs of {of}, ties {ties}")


def _rank_means(scores: Scores, settings: RankSettings) -> Ranking:
    matrix = score_matrix(scores.segments)
    judged = ~np.isnan(matrix.scores)
    present = [column for column in range(len(matrix.systems)) if judged[:, column].any()]
    failed = {s.system: s.failed for s in scores.systems}
    nothing = [unjudged(s, failed[s]) for c, s in enumerate(matrix.systems) if c not in present]
    if not present:
        return Ranking(signature=scores.signature, method=_NOTHING, systems=tuple(nothing))
    rows = np.asarray(judged[:, present].all(axis=1))
    if not rows.any():
        names = ", ".join(matrix.systems[column] for column in present)
        hint = "`adjudge rank --method copeland` compares every two systems where both are judged"
        raise DataError(f"no segment of {_lps(scores)} is judged for every one of {names}: {hint}")
    common = matrix.select(rows, present)
    settings = settings.settled(common.documents)
    totals = common.totals(by_document=bool(settings.by_document))
    systems, p_values = _ranked(common, totals, settings, (scores.range, failed))
    return Ranking(
        signature=_signature(scores),
        method=_method(common, totals, settings),
        systems=(*systems, *nothing),
        notes=tuple(_notes(scores, rows, totals, settings)),
        p_values=p_value_rows(p_values, len(nothing)),
    )


def _lps(scores: Scores) -> str:
    return ", ".join(dict.fromkeys(s.lp for s in scores.segments))


def _ranked(
    common: ScoreMatrix, totals: Totals, settings: RankSettings, known: tuple[Range, Mapping[str, int]]
) -> tuple[list[RankedSystem], Floats]:
    """Rows of the systems that are judged, best first, equal means in the order of their names; p-values.

    Args:
        common: scores.
        totals: of its documents or segments.
        settings: how to rank.
        known: range of the scores, and failures of each system.
    """
    scale, failed = known
    means = [_mean(common, column) for column in range(len(common.systems))]
    order = sorted(range(len(means)), key=lambda column: (-means[column], common.systems[column]))
    ordered = Totals(sums=totals.sums[:, order], sizes=totals.sizes[:, order])
    intervals = _intervals(ordered, settings, scale)
    test = settings.test or DEFAULT_TEST
    p_values = better_p_values(ordered, test, resamples=settings.resamples, seed=settings.seed)
    rows = [
        RankedSystem(
            system=common.systems[column],
            score=means[column],
            interval=interval,
            cluster=None,
            n=len(common.scores),
            failed=failed[common.systems[column]],
        )
        for column, interval in zip(order, intervals, strict=True)
    ]
    return placed(rows, [means[c] for c in order], p_values, settings.alpha), p_values


def _intervals(totals: Totals, settings: RankSettings, scale: Range) -> Sequence[Interval | None]:
    if settings.by_document:
        return student_intervals(totals, scale)
    drawn = bootstrap_means(totals.sums, totals.sizes, resamples=settings.resamples, seed=settings.seed)
    return percentile_intervals(drawn)


def _mean(common: ScoreMatrix, column: int) -> float:
    """Mean of one system, added up as `score` does."""
    weights = common.weights[:, column].tolist()
    scores = common.scores[:, column].tolist()
    return total(w * s for w, s in zip(weights, scores, strict=True)) / total(weights)


def _signature(scores: Scores) -> Signature:
    return scores.signature.with_fields(level="mean") if _is_corpus(scores) else scores.signature


def _is_corpus(scores: Scores) -> bool:
    return scores.signature.fields.get("level") == "corpus"


def _method(common: ScoreMatrix, totals: Totals, settings: RankSettings) -> str:
    units = len(totals.sums)
    of = count(units, settings.of.removesuffix("s"))
    test = settings.test or DEFAULT_TEST
    by = f" over {of}"
    if test == "permutation":
        by = f", {'all' if is_exact(units) else settings.resamples} sign flips of {of}"
    intervals = f"bootstrap over {settings.of}, {settings.resamples} resamples"
    if settings.by_document:
        intervals = f"Student's t over {of}"
    return (
        f"mean over {count(len(common.scores), 'common segment')}; 95 % intervals by {intervals}; ranks by "
        f"two-sided, clusters by one-sided {TITLES[test]} of every pair{by}, p < {settings.alpha:g}, not "
        f"corrected for the number of pairs; seed {settings.seed}"
    )


def _notes(scores: Scores, rows: NDArray[np.bool_], totals: Totals, settings: RankSettings) -> Iterator[str]:
    dropped = int((~rows).sum())
    if dropped:
        which = of_all(dropped, len(rows), "segment")
        yield f"{which} {form(dropped, 'is', 'are')} not judged for every system, and left out."
    if _is_corpus(scores):
        yield "These are means of segment scores; the corpus scores (`adjudge score`) cannot be resampled."
    units, systems = totals.sums.shape
    yield from lone_unit_note(units, settings.of)
    least = smallest_p_value(units, settings.resamples)
    if settings.is_bounded and systems > 1 and 2 * least >= settings.alpha:
        yield too_few_note(least)
    if not settings.by_document and any(s.document for s in scores.segments):
        yield BY_SEGMENT_NOTE
    if settings.by_document and 1 < units < FEW_DOCUMENTS:
        yield few_documents_note(units)
