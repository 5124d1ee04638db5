"""`rank`: systems best first, with intervals, the tests of every pair, ranges of ranks and clusters.

Systems are ranked by mean scores over common segments, by means over each one's own (WMT26), or by
comparisons of two: normalised Copeland, Bradley-Terry, Davidson. `tested_pairs` tests every pair of
systems; `rank_by_criterion` makes one ranking for each criterion.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Annotated, Final, Literal

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from adjudge.analysis.agreement import consistency
from adjudge.analysis.preferences import (
    OVERALL,
    Comparisons,
    criteria_of,
    preferences_from_scores,
    preferences_of,
    tabulate,
)
from adjudge.analysis.score import (
    Source,
    costly_note,
    draws_documents,
    few_documents_note,
    intervals_of_means,
    lone_system_note,
    scored,
    translated_by_all,
)
from adjudge.analysis.segment_scores import (
    ScoreMatrix,
    coverage_note,
    score_matrix,
    score_records,
)
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.mqm import total
from adjudge.core.scores import INTERVAL, Interval, Scores, Signature, by_lp, counted_columns
from adjudge.core.verb import Alpha, OneAnnotator, Option, Resamples, Seed, settings, takes
from adjudge.core.wording import count, form, of_all, unfit_first
from adjudge.errors import DataError, UnfitWarning, UsageError, warn
from adjudge.formats.read import Judgements, read_judgements
from adjudge.stats.bootstrap import bootstrap_means, lone_unit_note, percentile_intervals, unit_draws
from adjudge.stats.bounds import METHOD, Totals, has_flips, permutation_p_values
from adjudge.stats.bradley_terry import (
    PULL,
    Cycle,
    Strengths,
    connected_parts,
    fit_bradley_terry,
    fit_davidson,
    has_finite_davidson,
    smallest_cycles,
    unbeaten_groups,
)
from adjudge.stats.judged import Floats, divided
from adjudge.stats.paired import (
    TITLES,
    Test,
    better_p_values,
    holm,
    is_exact,
    rank_ranges,
    significance_clusters,
    significantly_better,
    smallest_p_value,
    too_few,
)

Method = Literal["mean", "item-mean", "copeland", "bradley-terry", "davidson"]
"""How systems get their scores: from the scores of segments, or from comparisons of two systems each."""

BY_SEGMENT_NOTE: Final = (
    "Intervals and tests take segments for independent. Segments of one document are not: intervals are too "
    "narrow and more differences are found than there are."
)

DEFAULT_TEST: Final[Test] = "permutation"
"""Of the pairs, where scores are means or points."""


@frozen
class RankedSystem:
    """One row of a ranking."""

    system: str
    # mean over the common segments; points of its comparisons, won or expected; None where nothing was judged
    score: float | None
    interval: Interval | None  # 95 % interval of the score; a note says of which kind
    # counted from 1, best first; None where nothing was judged. Two systems of one cluster may differ
    # significantly: a cluster is no statement of equality.
    cluster: int | None
    n: int  # common segments; comparisons of the system
    failed: int  # judgements asked for and not obtained, on all segments
    # log strength with mean 0, of Bradley-Terry and Davidson; None where it has no bound
    strength: float | None = None
    # the best rank, from 1, that the two-sided tests of its pairs allow; None where nothing was tested
    best: int | None = None
    worst: int | None = None
    better_than: tuple[str, ...] = ()  # names of the systems that it is significantly better than
    readings: Mapping[str, int] = field(default_factory=dict)  # as in `SystemScore`, on all segments
    untranslated: int = 0  # segments that it did not translate


@frozen
class Ranking(Framed):
    """Systems, best first."""

    signature: Signature
    method: str  # what was compared on what, with which test and settings
    # best first; systems of which nothing was judged last. Empty where several language pairs have not the
    # same systems.
    systems: tuple[RankedSystem, ...]
    notes: tuple[str, ...] = ()  # what a reader must know: dropped segments, failures
    # each language pair on its own, where there are several; else empty
    lps: Mapping[str, Ranking] = field(default_factory=dict)
    # of comparisons, the smallest: each system beat the next, and the last the first
    cycles: tuple[Cycle, ...] = ()
    # rows and columns in the order of `systems`: the two-sided p-value of the difference of two systems,
    # corrected for the number of pairs with `holm` only. None where the column's system does not stand below
    # the row's, or nothing of it was judged.
    p_values: tuple[tuple[float | None, ...], ...] = ()
    # that so few segments or documents cannot tell two systems apart, and how many are needed; else empty
    few: str = ""

    def __iter__(self) -> Iterator[RankedSystem]:
        return iter(self.systems)

    def groups(self) -> dict[str, tuple[RankedSystem, ...]]:
        """Systems of each language pair, best first, then those over all."""
        return by_lp({lp: part.systems for lp, part in self.lps.items()}, self.systems)

    def columns(self) -> list[Column]:
        rows = [row for group in self.groups().values() for row in group]
        strength = Column("strength", "log strength, with mean 0", "decimal", title="log strength", digits=2)
        return [
            Column("system", "its name"),
            Column("score", "mean over the common segments, or points of comparisons", "score"),
            INTERVAL,
            *([strength] if any(row.strength is not None for row in rows) else []),
            Column(
                "ranks",
                "best and worst rank that the tests of its pairs allow",
                "rank",
                of=lambda row: None if row.best is None else (row.best, row.worst),
                title="rank",
                ends=("best_rank", "worst_rank"),
            ),
            Column("cluster", "significance cluster, from 1", "count"),
            *counted_columns(rows),
        ]


@settings
class RankSettings(OneAnnotator):
    """How to rank."""

    method: Annotated[
        Method,
        Option(
            help="Rank by means over shared segments, by means over each system's own segments "
            "(item-mean; WMT26), or by comparisons."
        ),
    ] = "mean"
    consistency: Annotated[
        Annotated[float, Ge(0), Le(1)] | None,
        Option(help="Exclude raters who agree less with the others, 0 to 1; WMT26: 0.75."),
    ] = None
    epsilon: Annotated[
        float,
        Ge(0),
        Option(help="Largest score difference that counts as a tie in comparisons."),
    ] = 0.0
    test: Annotated[
        Test | None,
        Option(
            help="Test of every pair of systems; default: permutation, except for bradley-terry and davidson."
        ),
    ] = None
    alpha: Annotated[Alpha, Option(help="Significance level of the tests.")] = 0.05
    holm: Annotated[
        bool,
        Option(help="Correct the p-values for the number of pairs (Holm)."),
    ] = False
    resamples: Resamples = 1000
    seed: Seed = 0
    by_document: Annotated[
        bool | None,
        Option(
            help="Resample and test documents (default if known) or single segments.",
            off="by-segment",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test is not None and self.has_own_test:
            raise UsageError(f"{self.method} has a test of its own: leave out the test {self.test!r}")
        if self.epsilon and self.method in {"mean", "item-mean"}:
            raise UsageError(
                f"epsilon is for methods that compare pairs, and the method {self.method} compares none"
            )
        if self.by_document and self.method == "item-mean":
            raise UsageError("the method item-mean draws segments, as WMT26 does: leave out --by-document")
        if self.consistency is not None and self.is_of_test_set:
            raise UsageError("--consistency is for people's ratings: leave it out with --gold or --metric")

    @property
    def is_model(self) -> bool:
        return self.method in {"bradley-terry", "davidson"}

    @property
    def has_own_test(self) -> bool:
        """Whether the method says how pairs are tested."""
        return self.is_model or self.method == "item-mean"

    def is_bounded(self, units: int) -> bool:
        """Whether so few units keep every p-value from being small."""
        return self.is_model or self.flips(units)

    def flips(self, units: int) -> bool:
        """Whether so many units are tested by flips of signs; with Holm's correction always."""
        is_flipped = self.holm or has_flips(units, by_document=bool(self.by_document))
        return (self.test or DEFAULT_TEST) == "permutation" and is_flipped

    def settled(self, documents: Collection[tuple[str, str]], systems: int) -> RankSettings:
        """Settle whether documents or segments are drawn and tested, and how often.

        Holm's correction needs p-values far below alpha, and flips in proportion: five times what the first
        of the pairs takes.
        """
        by_document = draws_documents(documents, by_document=self.by_document)
        draws = self.resamples
        if self.holm and not self.has_own_test:
            draws = max(draws, math.ceil(10 * math.comb(systems, 2) / self.alpha))
        return replace(self, by_document=by_document, resamples=draws)

    def title(self, units: int) -> str:
        test = self.test or DEFAULT_TEST
        return TITLES[test] if test != "permutation" or self.flips(units) else METHOD

    def corrected(self, p_values: Floats) -> Floats:
        """One-sided p-values of the pairs, those above the diagonal, corrected where that was asked for."""
        if not self.holm:
            return p_values
        pairs, found = np.triu_indices(len(p_values), 1), p_values.copy()
        found[pairs] = holm(p_values[pairs])
        return found

    @property
    def correction(self) -> str:
        """What was done about the number of tests."""
        if not self.holm:
            return "not corrected for the number of pairs"
        bounded = "" if self.has_own_test or (self.test or DEFAULT_TEST) != "permutation" else " and the skew"
        return (
            f"corrected for the number of pairs (Holm){bounded}, so that all ranges of ranks hold at once "
            f"with {100 * (1 - self.alpha):g} %"
        )

    @property
    def of(self) -> str:
        return "documents" if self.by_document else "segments"


def unjudged(system: str, failed: int) -> RankedSystem:
    """The row of a system of which nothing was judged."""
    return RankedSystem(system=system, score=None, interval=None, cluster=None, n=0, failed=failed)


def _least(units: int, systems: int, settings: RankSettings) -> float:
    return 2 * smallest_p_value(units, settings.resamples) * (math.comb(systems, 2) if settings.holm else 1)


def _too_few(units: int, systems: int, settings: RankSettings) -> str:
    """Say that so few units cannot tell any two systems apart, and how many are needed; else nothing."""
    if not settings.is_bounded(units) or systems < 2:
        return ""
    return too_few(units, settings.of, lambda n: _least(n, systems, settings), settings.alpha)


def _sureness_notes(
    units: int, systems: int, settings: RankSettings, *, has_documents: bool
) -> Iterator[str]:
    if few := _too_few(units, systems, settings):
        least = min(1, _least(units, systems, settings))
        yield f"{few}. p cannot be below {least:g}, so that no system is significantly better than another."
    if not settings.by_document and has_documents:
        yield BY_SEGMENT_NOTE
    yield from few_documents_note(units, by_document=bool(settings.by_document))


def placed(
    rows: Sequence[RankedSystem], compared: Sequence[float], p_values: Floats, alpha: float
) -> list[RankedSystem]:
    """Give each row its cluster, its range of ranks, and the systems that it is significantly better than.

    `p_values`: rows by rows; [i, j] is the one-sided p-value of "i is better than j". Clusters take it as it
    is, as WMT does; all else takes twice as much, because the means decide which system is tested to be
    better.
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
    """Arrange p-values as `Ranking.p_values` has them."""
    n = len(p_values) + unjudged
    found: list[list[float | None]] = [[None] * n for _ in range(n)]
    for row, column in zip(*np.triu_indices(len(p_values), 1), strict=True):
        found[row][column] = min(1.0, 2 * float(p_values[row, column]))
    return tuple(map(tuple, found))


@frozen
class Tally:
    """What each unit, a segment or a document, holds."""

    systems: tuple[str, ...]  # that were compared, rows and columns of the arrays
    wins: Floats  # units by systems by systems, how often row beat column
    ties: Floats  # the same of ties; symmetric

    @property
    def totals(self) -> Totals:
        """Points (win 1, tie 0.5) and number of the comparisons of each system in each unit."""
        played = self.wins + self.wins.swapaxes(1, 2) + self.ties
        return Totals(sums=(self.wins + self.ties / 2).sum(axis=2), sizes=played.sum(axis=2))

    def draws(self, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
        """Wins and ties of units drawn with replacement, draws by systems by systems, in blocks."""
        for counts in unit_draws(len(self.wins), resamples, seed):
            yield np.tensordot(counts, self.wins, axes=1), np.tensordot(counts, self.ties, axes=1)


def tally_comparisons(table: Comparisons, *, by_document: bool) -> Tally:
    """Count wins and ties of each unit; comparisons without any verdict are left out."""
    judged = ~np.isnan(table.labels)
    used = [u for u, row in zip(table.units, judged, strict=True) if row.any()]
    systems = tuple(sorted({s for u in used for s in (u.first, u.second)}))
    places = {s: place for place, s in enumerate(systems)}
    groups = np.asarray(table.documents if by_document else table.segments)
    wins = np.zeros((len(set(groups.tolist())), len(systems), len(systems)))
    ties = np.zeros_like(wins)
    for row, column in np.argwhere(judged):
        unit, label = table.units[row], table.labels[row, column]
        pair = (places[unit.first], places[unit.second])
        if label == 0:
            ties[(groups[row], *pair)] += 1
            ties[(groups[row], *pair[::-1])] += 1
        else:
            wins[(groups[row], *(pair if label > 0 else pair[::-1]))] += 1
    held = (wins + ties).any(axis=(1, 2))
    return Tally(systems=systems, wins=wins[held], ties=ties[held])


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
    """
    documents = {(u.lp, u.segment): (u.lp, u.document) for u in table.units}
    settings = settings.settled(tuple(documents.values()), len(table.systems))
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
    notes = [*_balance_note(wins + wins.T + ties), *notes]
    rows, p_values = _rows(tally, fitted, failed, settings)
    has_documents = any(u.document for u in table.units)
    notes += _sureness_notes(len(tally.wins), len(rows), settings, has_documents=has_documents)
    notes += lone_unit_note(len(tally.wins), settings.of)
    cycles = smallest_cycles(wins + ties / 2, tally.systems)
    return Ranking(
        signature=signature,
        method=_method(tally, settings),
        systems=(*rows, *nothing),
        notes=(*notes, *_cycle_notes(cycles)),
        cycles=tuple(cycles),
        p_values=p_value_rows(p_values, len(nothing)),
        few=_too_few(len(tally.wins), len(rows), settings),
    )


@frozen
class _Fit:
    scores: Floats
    strengths: Sequence[float | None]


def _fit(wins: Floats, ties: Floats, systems: Sequence[str], method: Method) -> tuple[_Fit, list[str]]:
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
    """Resamples by systems: points by comparisons; NaN where a system has none."""
    played = (wins + wins.swapaxes(1, 2) + ties).sum(axis=2)
    return divided((wins + ties / 2).sum(axis=2), played)


def _model(wins: Floats, ties: Floats, method: Method, pull: float) -> Strengths:
    if method == "davidson":
        return fit_davidson(wins, ties, pull)
    return fit_bradley_terry(wins + ties / 2, pull)


def _drawn_scores(tally: Tally, settings: RankSettings) -> Floats:
    """Resamples by systems; NaN where a draw holds no comparison of a system.

    Resamples are fitted under the pull, for some may leave strengths without bounds.
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


def tested_pairs(ordered: Totals, settings: RankSettings) -> Floats:
    """`better_p_values` by the settings; those of the permutation test by `bounds.permutation_p_values`.

    With Holm's correction the documents are never too few for flips: it needs p-values so small that the skew
    misleads the bounds.
    """
    test = settings.test or DEFAULT_TEST
    p_values = better_p_values(ordered, test, resamples=settings.resamples, seed=settings.seed)
    if test == "permutation":
        is_few = bool(settings.by_document) and not settings.holm
        p_values = permutation_p_values(p_values, ordered, by_document=is_few)
    return settings.corrected(p_values)


def _p_values(tally: Tally, drawn: Floats, order: list[int], settings: RankSettings) -> Floats:
    """Systems by systems, best first: [i, j] is the one-sided p-value of "i is better than j"."""
    if not settings.is_model:
        totals = Totals(sums=tally.totals.sums[:, order], sizes=tally.totals.sizes[:, order])
        return tested_pairs(totals, settings)
    rounded = np.round(drawn, _DIGITS)
    hits = np.array([(~(column[:, None] > rounded)).sum(axis=0) for column in rounded.T])
    least = smallest_p_value(len(tally.wins), settings.resamples)
    return settings.corrected(np.maximum((hits + 1) / (len(drawn) + 1), least))


def _method(tally: Tally, settings: RankSettings) -> str:
    comparisons = int(tally.totals.sizes.sum()) // 2
    test = "bootstrap of the difference" if settings.is_model else settings.title(len(tally.wins))
    return (
        f"{_TITLES[settings.method]}; {comparisons} comparisons in {len(tally.wins)} {settings.of}; 95 % "
        f"intervals by bootstrap over {settings.of}, {settings.resamples} resamples; ranks by two-sided, "
        f"clusters by one-sided {test} of every pair, p < {settings.alpha:g}, {settings.correction}; seed "
        f"{settings.seed}"
    )


def _balance_note(played: Floats) -> Iterator[str]:
    pairs = played[np.triu_indices(len(played), 1)]
    if pairs.min() < pairs.max():
        each = f"{pairs.min():,.0f} to {pairs.max():,.0f}"
        yield f"{pairs.sum():,.0f} comparisons count, {each} of each two systems."


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


_FEWEST: Final = 3  # fewer make no surface


def rank_by_criterion(judgements: Judgements, settings: RankSettings) -> dict[str, Ranking]:
    """Rank the systems on each criterion of preferences, or of marked MQM errors (`preferences`).

    `overall` is left out where there are three others. The method `mean` stands for `copeland` here.
    """
    made = preferences_of(judgements, by_criterion=judgements.has_scores)
    criteria = criteria_of(made)
    others = [c for c in criteria if c != OVERALL]
    chosen = others if len(others) >= _FEWEST else criteria
    if len(chosen) < _FEWEST:
        found = ", ".join(chosen) or "none"
        raise UsageError(f"a radar needs {_FEWEST} criteria or more; {judgements.name} has {found}")
    settings = replace(settings, method="copeland") if settings.method == "mean" else settings
    return {each: rank_scores(score_records(made, criterion=each), settings) for each in chosen}


Range = tuple[float, float]
"""Lowest and highest possible score."""

_BETTER_OF_TWO: Final = (
    "Systems were judged on different segments. WMT26's rule takes the better of two tests of a pair: among "
    "systems of one quality it found 8 of 100 pairs different in either direction, where one test finds 5."
)
_NOTHING: Final = "nothing was judged, so that there is nothing to rank"


@takes(RankSettings)
def rank(source: Source, settings: RankSettings) -> Ranking:
    """Rank systems by their scores, or by comparisons of two systems each.

    `mean`: of the segments that are judged for all systems; others are dropped, and `notes` says how many.
    Every pair of systems has a test (`stats.paired`). From the two-sided tests come the ranks that each
    system may have, from the one-sided ones WMT's clusters, which are no statement of equality. They are
    corrected for the number of pairs with `holm` only: then the chance that any system is falsely called
    better than another stays below alpha, and all ranges of ranks hold at once with 1 - alpha.

    Documents are the unit where two or more are known, since segments of one document are not
    independent; else segments. Intervals of means are those of `stats.bounds`.

    `item-mean`: of whatever each system was judged on, for campaigns in which each segment was judged for
    some systems only; tests and clusters are those of WMT26 (humeval/02b-analyze_results.py of its
    repository), with percentiles of `resamples` draws in place of its 100 draws corrected for bias (BCa).

    `copeland`, `bradley-terry`, `davidson`: of all preferences that were scored; of scores, every two
    translations of a segment are compared, and nothing is dropped. With a criterion, marked MQM errors are
    ranked by the preferences that the errors of this category make.

    The permutation test is that of `compare`: `bounds.permutation_p_value`.

    A system of which nothing was judged is listed last, without score and cluster, and drops nothing.
    Several language pairs are ranked each on its own.

    Args:
        source: scores of one signature; a run, records, or the path of whatever holds judgements; the path of
            a test set with gold or metric.
        settings: how to rank.

    Raises:
        DataError: no segment is judged for every system; no comparison connects systems whose strengths are
            wanted.
        UsageError: a setting out of its range, documents wanted where there are none, an epsilon for
            preferences, or a choice among what was scored already.

    Warns:
        UnfitWarning: a run is of a judge that does not see what it judges.
    """
    left_out: tuple[str, ...] = ()
    if settings.consistency is not None:
        if isinstance(source, Scores):
            raise UsageError(
                "the input holds scores already: give consistency with the judgements behind them"
            )
        given = settings.documents
        judgements = read_judgements(source, settings.lp, settings.test_set, documents=given).warn()
        found = consistency(judgements.records)
        lost = {place for place, value in found.items() if value < settings.consistency}
        kept = [record for record in judgements.records if (record.lp, record.annotator) not in lost]
        names = ", ".join(f"{name} ({lp}, {found[lp, name]:.2f})" for lp, name in sorted(lost))
        everybody = {(record.lp, record.annotator) for record in judgements.records}
        said = (
            f"{len(lost)} of {len(everybody)} annotators are left out, whose ratings fit those of all less "
            f"than {settings.consistency:g}{f': {names}' if names else ''}."
        )
        unknown = len(everybody) - len(found)
        more = [f"{unknown} annotators rated too little to tell, and stay."] if unknown else []
        source, left_out = kept, (said, *more)
    scores = scored(source, settings, needed=True, errors_as_preferences=True).scores
    if settings.consistency is not None:
        signature = scores.signature.with_fields(consistency=f"{settings.consistency:g}")
        scores = replace(scores, signature=signature, notes=(*left_out, *scores.notes))
    for note in unfit_first(scores.notes)[0]:
        warn(note, UnfitWarning)
    return rank_scores(scores, settings)


def rank_scores(scores: Scores, settings: RankSettings) -> Ranking:
    """Rank what is scored already; see `rank`."""
    if not scores.lps:
        return _noted(scores, _rank(scores, settings))
    parts = {lp: _rank(part, settings) for lp, part in scores.lps.items()}
    notes = tuple(f"{lp}: {note}" for lp, part in parts.items() for note in part.notes)
    whole = Ranking(
        signature=scores.signature, method="each language pair on its own", systems=(), notes=notes
    )
    if scores.systems:
        whole = _rank(scores, settings)
        whole = replace(whole, method=f"{whole.method}; {_together(parts)}")
        if "mean" not in settings.method:  # what comparisons leave open in one lp, others may settle
            whole = replace(whole, notes=(*whole.notes, *notes))
    lps = {lp: _noted(scores.lps[lp], part) for lp, part in parts.items()}
    return replace(_noted(scores, whole), lps=lps)


def _together(parts: Mapping[str, Ranking]) -> str:
    judged = [lp for lp, part in parts.items() if any(row.score is not None for row in part.systems)]
    return (
        f"nothing was judged but {judged[0]}" if len(judged) == 1 else f"{', '.join(judged or parts)} pooled"
    )


def _noted(scores: Scores, ranking: Ranking) -> Ranking:
    """Put what the scores say before what the ranking says, but for the coverage: it is equal here."""
    coverage = set(coverage_note(scores.segments))
    for lp, part in scores.lps.items():
        coverage |= {f"{lp}: {note}" for note in coverage_note(part.segments)}
    kept = [note for note in scores.notes if note not in coverage]
    known = {s.system: s for s in scores.systems}
    systems = tuple(
        replace(s, readings=row.readings, untranslated=row.untranslated)
        if (row := known.get(s.system))
        else s
        for s in ranking.systems
    )
    lone = lone_system_note([s.system for s in systems])
    return replace(ranking, systems=systems, notes=(*kept, *ranking.notes, *lone))


def _rank(scores: Scores, settings: RankSettings) -> Ranking:
    if settings.method == "mean":
        return _rank_means(scores, settings)
    if settings.method != "item-mean":
        criterion = scores.signature.fields.get("criterion")
        failed = {s.system: s.failed for s in scores.systems}
        if criterion is not None:
            if settings.epsilon:
                raise UsageError("epsilon is for scores; preferences state their own ties: leave it out")
            return rank_comparisons(
                tabulate(scores.preferences, criterion), scores.signature, failed, settings
            )
        pairs = preferences_from_scores(scores.segments, epsilon=settings.epsilon)
        by_pairs = rank_comparisons(tabulate(pairs, OVERALL), scores.signature_of("mean"), failed, settings)
        ties = f"within {settings.epsilon:g}" if settings.epsilon else "of equal scores"
        annotators = scores.signature.fields.get("annotators")
        of = f"means over {annotators} annotators" if annotators else "segment scores"
        return replace(by_pairs, method=f"{by_pairs.method}; pairs of {of}, ties {ties}")
    scores, notes = translated_by_all(scores)
    ranking = _rank_item_means(scores, settings)
    return replace(ranking, notes=(*notes, *ranking.notes))


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
        lps = ", ".join(dict.fromkeys(s.lp for s in scores.segments))
        raise DataError(f"no segment of {lps} is judged for every one of {names}: {hint}")
    common = matrix.select(rows, present)
    settings = settings.settled(common.documents, len(present))
    totals = common.totals(by_document=bool(settings.by_document))
    means = [_mean(common, column) for column in range(len(common.systems))]
    order = sorted(range(len(means)), key=lambda column: (-means[column], common.systems[column]))
    ordered = Totals(sums=totals.sums[:, order], sizes=totals.sizes[:, order])
    intervals = intervals_of_means(ordered, scores.range)
    p_values = tested_pairs(ordered, settings)
    ranked = [
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
    units = len(totals.sums)
    of = count(units, settings.of.removesuffix("s"))
    by = f" over {of}"
    if settings.flips(units):
        by = f", {'all' if is_exact(units) else settings.resamples} sign flips of {of}"
    return Ranking(
        signature=scores.signature_of("mean"),
        method=(
            f"mean over {count(len(common.scores), 'common segment')}; 95 % intervals by {METHOD} over "
            f"{of}; ranks by two-sided, clusters by one-sided {settings.title(units)} of every pair{by}, p < "
            f"{settings.alpha:g}, {settings.correction}; seed {settings.seed}"
        ),
        systems=(*placed(ranked, [means[c] for c in order], p_values, settings.alpha), *nothing),
        notes=(*_notes(scores, rows, totals, settings), *costly_note(judged[:, present], common.systems)),
        p_values=p_value_rows(p_values, len(nothing)),
        few=_too_few(len(totals.sums), len(present), settings),
    )


def _rank_item_means(scores: Scores, settings: RankSettings) -> Ranking:
    matrix = score_matrix(scores.segments)
    own = [np.flatnonzero(~np.isnan(column)) for column in matrix.scores.T]
    failed = {s.system: s.failed for s in scores.systems}
    nothing = [unjudged(s, failed[s]) for s, rows in zip(matrix.systems, own, strict=True) if not len(rows)]
    means = [float(matrix.scores[rows, c].mean()) if len(rows) else np.nan for c, rows in enumerate(own)]
    order = sorted(
        (c for c, rows in enumerate(own) if len(rows)), key=lambda c: (-means[c], matrix.systems[c])
    )
    if not order:
        return Ranking(signature=scores.signature, method=_NOTHING, systems=tuple(nothing))
    values = [matrix.scores[own[c], c][:, None] for c in order]
    drawn = [_drawn_means(v, settings, place) for place, v in enumerate(values)]
    p_values = np.ones((len(order), len(order)))
    for a, b in combinations(range(len(order)), 2):
        difference = matrix.scores[:, order[a]] - matrix.scores[:, order[b]]
        common = _drawn_means(difference[~np.isnan(difference)][:, None], settings, len(order))
        p_values[a, b] = min(_share_not_above(drawn[a] - drawn[b]), _share_not_above(common))
    p_values = settings.corrected(p_values)
    rows = [
        RankedSystem(
            system=matrix.systems[c],
            score=means[c],
            interval=percentile_intervals(drawn[place])[0],
            cluster=None,
            n=len(own[c]),
            failed=failed[matrix.systems[c]],
        )
        for place, c in enumerate(order)
    ]
    counts = [len(own[c]) for c in order]
    method = (
        f"mean over each system's own segments, {min(counts):,} to {max(counts):,}; 95 % intervals by "
        f"bootstrap over them, {settings.resamples} resamples; ranks by twice, clusters by once the smaller "
        "p of two one-sided bootstraps of every pair, of the segments that both have and of each one's own "
        f"(WMT26), p < {settings.alpha:g}, {settings.correction}; seed {settings.seed}"
    )
    return Ranking(
        signature=scores.signature_of("mean"),
        method=method,
        systems=(*placed(rows, [means[c] for c in order], p_values, settings.alpha), *nothing),
        notes=(_BETTER_OF_TWO, *([BY_SEGMENT_NOTE] if any(s.document for s in scores.segments) else ())),
        p_values=p_value_rows(p_values, len(nothing)),
    )


def _drawn_means(scores: Floats, settings: RankSettings, place: int) -> Floats:
    return bootstrap_means(
        scores, np.ones_like(scores), resamples=settings.resamples, seed=settings.seed + place
    )


def _share_not_above(draws: Floats) -> float:
    return float((np.count_nonzero(~(draws > 0)) + 1) / (len(draws) + 1))


def _mean(common: ScoreMatrix, column: int) -> float:
    weights = common.weights[:, column].tolist()
    scores = common.scores[:, column].tolist()
    return total(w * s for w, s in zip(weights, scores, strict=True)) / total(weights)


def _notes(scores: Scores, rows: NDArray[np.bool_], totals: Totals, settings: RankSettings) -> Iterator[str]:
    if dropped := int((~rows).sum()):
        which = of_all(dropped, len(rows), "segment")
        yield f"{which} {form(dropped, 'is', 'are')} not judged for every system, and left out."
    if scores.is_corpus:
        yield "These are means of segment scores; the corpus scores (`adjudge score`) cannot be resampled."
    units, systems = totals.sums.shape
    yield from lone_unit_note(units, settings.of)
    has_documents = any(s.document for s in scores.segments)
    yield from _sureness_notes(units, systems, settings, has_documents=has_documents)
