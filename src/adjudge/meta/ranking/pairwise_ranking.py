"""Rankings of comparisons: normalised Copeland, Bradley-Terry and Davidson, with intervals and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from adjudge.core.score import Signature
from adjudge.errors import DataError
from adjudge.meta.bootstrap import lone_unit_note, percentile_intervals
from adjudge.meta.matrix import Totals
from adjudge.meta.measures.result import Floats
from adjudge.meta.paired import smallest_p_value
from adjudge.meta.ranking.bradley_terry import PULL, Strengths, fit_bradley_terry, fit_davidson
from adjudge.meta.ranking.comparison_graph import (
    Cycle,
    connected_parts,
    has_finite_davidson,
    smallest_cycles,
    unbeaten_groups,
)
from adjudge.meta.ranking.comparisons import Comparisons
from adjudge.meta.ranking.pairs import TITLES, better_p_values
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
from adjudge.meta.ranking.tally import Tally, tally_comparisons

__all__ = ["rank_comparisons"]

_TITLES: Final[Mapping[Method, str]] = {
    "copeland": "normalised Copeland: points (win 1, tie 0.5) by comparisons",
    "bradley-terry": "Bradley-Terry, a tie half a win for each: points expected against every other system",
    "davidson": "Davidson: points (win 1, tie 0.5) expected against every other system",
}
_DIGITS: Final = 10  # so that rounding noise is no difference
_PULLED_DIGITS: Final = 5  # as far as the pull leaves a score what it tends to


def rank_comparisons(
    table: Comparisons, signature: Signature, failed: Mapping[str, int], settings: RankSettings
) -> Ranking:
    """Rank the systems of comparisons; verdicts of several annotators are comparisons of their own.

    Copeland: FiRE, equation 2. Bradley-Terry and Davidson: `bradley_terry`, scored by expected points,
    which stay finite where a strength does not. Intervals: percentile bootstrap over units, all systems on
    the same draws. Ranges of ranks and clusters (`clusters`) rest on one-sided p-values; Copeland's by the
    test of the settings on the points of units, those of the models by the share of draws in which the better
    system is not ahead, never below what an exact permutation test of so many units can give.

    Args:
        table: the comparisons.
        signature: of the scores.
        failed: system to judgements asked for and not obtained.
        settings: how to rank.

    Raises:
        DataError: there is one system only, or strengths are wanted of systems that no comparison connects.
        UsageError: documents wanted where there are none.
    """
    documents = {(u.lp, u.segment): (u.lp, u.document) for u in table.units}
    settings = settings.settled(tuple(documents.values()))
    tally = tally_comparisons(table, by_document=bool(settings.by_document))
    nothing = [unjudged(s, n) for s, n in failed.items() if s not in tally.systems]
    if not tally.systems:
        if len(nothing) == 1:
            (name,) = failed
            raise DataError(
                f"{settings.method} compares systems, and there is one only, {name}; take --method mean"
            )
        return Ranking(signature=signature, method="nothing was compared", systems=tuple(nothing))
    wins, ties = tally.wins.sum(axis=0), tally.ties.sum(axis=0)
    fitted, notes = _fit(wins, ties, tally.systems, settings.method)
    rows, p_values = _rows(tally, fitted, failed, settings)
    least = _smallest_p(tally, settings)
    if settings.is_bounded and len(rows) > 1 and 2 * least >= settings.alpha:
        notes.append(too_few_note(least))
    if not settings.by_document and any(u.document for u in table.units):
        notes.append(BY_SEGMENT_NOTE)
    if settings.by_document and 1 < len(tally.wins) < FEW_DOCUMENTS:
        notes.append(few_documents_note(len(tally.wins)))
    notes += lone_unit_note(len(tally.wins), settings.of)
    cycles = smallest_cycles(wins + ties / 2, tally.systems)
    return Ranking(
        signature=signature,
        method=_method(tally, settings),
        systems=(*rows, *nothing),
        notes=(*notes, *_cycle_notes(cycles)),
        cycles=tuple(cycles),
        p_values=p_value_rows(p_values, len(nothing)),
    )


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Score of each system, and its log strength where there is one."""

    scores: Floats
    strengths: Sequence[float | None]


def _fit(wins: Floats, ties: Floats, systems: Sequence[str], method: Method) -> tuple[_Fit, list[str]]:
    """Score the systems, and say what the comparisons leave open.

    Raises:
        DataError: strengths are wanted of systems that no comparison connects.
    """
    points = wins + ties / 2
    parts = [_listed([systems[i] for i in part]) for part in connected_parts(points + points.T)]
    if method == "copeland":
        scores = _copeland(wins[None], ties[None])[0]
        apart = f"No comparison connects {' with '.join(parts)}: their scores rest on different opponents."
        return _Fit(scores=scores, strengths=[None] * len(systems)), [apart] if len(parts) > 1 else []
    if len(parts) > 1:
        raise DataError(
            f"{method} needs systems that comparisons connect, directly or through others; none connects "
            f"{' with '.join(parts)}. Rank them apart, or take --method copeland"
        )
    groups = [[systems[i] for i in group] for group in unbeaten_groups(points)]
    is_finite = len(groups) == 1 and (method == "bradley-terry" or has_finite_davidson(wins, ties))
    model = _model(wins[None], ties[None], method, 0.0 if is_finite else PULL)
    if is_finite:
        return _Fit(scores=model.points[0], strengths=model.logs[0].tolist()), []
    scores = np.round(model.points[0], _PULLED_DIGITS)
    return _Fit(scores=scores, strengths=[None] * len(systems)), [*_bound_notes(groups)]


def _bound_notes(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    if len(groups) > 1:
        yield (
            "Some strengths have no bound, and none is given: no system won a point against one of a group "
            f"before its own in {' > '.join(map(_listed, groups))}. Scores are what they tend to; groups "
            "that never met, also not through others, are expected to share their points."
        )
    else:
        yield (
            "Wins and ties leave Davidson's strengths without bounds, and none is given: too few pairs have "
            "wins of both sides. Scores are what they tend to."
        )


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(names)})" if len(names) > 1 else names[0]


def _copeland(wins: Floats, ties: Floats) -> Floats:
    """Draws by systems: points by comparisons; NaN where a system has none."""
    played = (wins + wins.swapaxes(1, 2) + ties).sum(axis=2)
    found = np.full(played.shape, np.nan)
    np.divide((wins + ties / 2).sum(axis=2), played, out=found, where=played > 0)
    return found


def _model(wins: Floats, ties: Floats, method: Method, pull: float) -> Strengths:
    if method == "davidson":
        return fit_davidson(wins, ties, pull)
    return fit_bradley_terry(wins + ties / 2, pull)


def _drawn_scores(tally: Tally, settings: RankSettings) -> Floats:
    """Draws by systems; NaN where a draw holds no comparison of a system.

    Draws are fitted under the pull, for some may leave strengths without bounds.
    """
    found = []
    for wins, ties in tally.draws(settings.resamples, settings.seed):
        scores = _copeland(wins, ties)
        if settings.is_model:
            model = np.round(_model(wins, ties, settings.method, PULL).points, _PULLED_DIGITS)
            scores = np.where(np.isnan(scores), np.nan, model)
        found.append(scores)
    return np.concatenate(found) if found else np.full((settings.resamples, len(tally.systems)), np.nan)


def _rows(
    tally: Tally, fitted: _Fit, failed: Mapping[str, int], settings: RankSettings
) -> tuple[list[RankedSystem], Floats]:
    """Rows of the systems compared, best first, equal scores in the order of their names; p-values."""
    scores = np.round(fitted.scores, _DIGITS).tolist()
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], tally.systems[i]))
    drawn = _drawn_scores(tally, settings)[:, order]
    ordered = [scores[i] for i in order]
    p_values = _p_values(tally, drawn, order, settings)
    played = (tally.wins + tally.wins.swapaxes(1, 2) + tally.ties).sum(axis=(0, 2))
    rows = [
        RankedSystem(
            system=tally.systems[i],
            score=float(fitted.scores[i]),
            interval=interval,
            cluster=None,
            n=int(played[i]),
            failed=failed.get(tally.systems[i], 0),
            strength=fitted.strengths[i],
        )
        for i, interval in zip(order, percentile_intervals(drawn), strict=True)
    ]
    return placed(rows, ordered, p_values, settings.alpha), p_values


def _p_values(tally: Tally, drawn: Floats, order: list[int], settings: RankSettings) -> Floats:
    """Systems by systems, best first: [i, j] is the one-sided p-value of "i is better than j"."""
    if not settings.is_model:
        totals = Totals(sums=tally.totals.sums[:, order], sizes=tally.totals.sizes[:, order])
        test = settings.test or DEFAULT_TEST
        return better_p_values(totals, test, resamples=settings.resamples, seed=settings.seed)
    rounded = np.round(drawn, _DIGITS)
    hits = np.array([(~(column[:, None] > rounded)).sum(axis=0) for column in rounded.T])
    return np.maximum((hits + 1) / (len(drawn) + 1), _smallest_p(tally, settings))


def _smallest_p(tally: Tally, settings: RankSettings) -> float:
    return smallest_p_value(len(tally.wins), settings.resamples)


def _method(tally: Tally, settings: RankSettings) -> str:
    comparisons = int(tally.totals.sizes.sum()) // 2
    test = "bootstrap of the difference" if settings.is_model else TITLES[settings.test or DEFAULT_TEST]
    return (
        f"{_TITLES[settings.method]}; {comparisons} comparisons in {len(tally.wins)} {settings.of}; 95 % "
        f"intervals by bootstrap over {settings.of}, {settings.resamples} resamples; ranks by two-sided, "
        f"clusters by one-sided {test} of every pair, p < {settings.alpha:g}, not corrected for the number "
        f"of pairs; seed {settings.seed}"
    )


def _cycle_notes(cycles: Sequence[Cycle]) -> Iterator[str]:
    if not cycles:
        return
    first = cycles[0]
    steps = zip(first.systems, first.shares, [*first.systems[1:], first.systems[0]], strict=True)
    told = ", ".join(
        f"{winner} takes {share:.1%} of the points from {loser}" for winner, share, loser in steps
    )
    more = f"; {len(cycles) - 1} more of this length" if len(cycles) > 1 else ""
    yield f"Preferences go round: {told}{more}."
