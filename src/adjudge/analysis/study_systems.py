"""What a campaign says of systems: their ranking, how few segments would have done, who is still tied.

Systems beside gold and cut into clusters as the ESA paper does it, the weight of a major error that fits
ratings, comparisons of two translations, and drafts that were chosen to be edited. `find_standing` is for a
campaign that is under way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from typing import Final, Literal

import numpy as np

from adjudge.analysis.agreement import AgreementSettings, find_agreement
from adjudge.analysis.power import Plan
from adjudge.analysis.preferences import numbered
from adjudge.analysis.rank import Ranking, rank
from adjudge.analysis.segment_scores import score_records
from adjudge.analysis.study_pieces import (
    Definition,
    Key,
    Number,
    Piece,
    Section,
    by_translation,
    final_pieces,
    matrix_of,
    over_segments,
    share_of,
)
from adjudge.core.frozen import frozen
from adjudge.core.record import Preference, grouped
from adjudge.core.scores import Interval, Scores
from adjudge.errors import AdjudgeError, UsageError
from adjudge.formats.campaign_export import FIRST, Submission
from adjudge.formats.read import Judgements
from adjudge.stats.bootstrap import Draws, bootstrap_means, estimate, mean_of, percentile_intervals
from adjudge.stats.correlation import pearson, spearman
from adjudge.stats.judged import Floats, Result
from adjudge.stats.paired import rank_sum_p_value
from adjudge.stats.spa import pairwise_accuracy


def subset_agreement(
    scores: Floats, size: int, draws: int = 1000, seed: int = 0, *, as_paper: bool = False
) -> float:
    """Mean share of pairs of systems that random segments order as all segments do.

    agreement = mean over draws of |{i < j: sign(s_i - s_j) = sign(m_i - m_j)}| / |{i < j}|

    m: means over all segments; s: over the drawn ones, without replacement, at most all of them. A tie among
    the drawn ones is wrong. The ESA paper's figure 9 differs in two ways, which `as_paper` follows: each
    system's pair with itself counts, and always agrees, so that 13 systems start from 7.7 % and not from 0;
    and of tied systems the first one is ahead.

    `scores`: systems by segments, without gaps.
    """
    systems, segments = scores.shape
    if systems < 2 or np.isnan(scores).any():
        raise UsageError(f"a subset's ranking needs two systems and every score, got {systems} systems")
    rng = np.random.default_rng(seed)
    chosen = np.zeros((segments, draws))
    for draw in range(draws):
        chosen[rng.permutation(segments)[:size], draw] = 1.0
    means = scores @ chosen / min(size, segments)
    whole = scores.mean(axis=1)
    first, second = np.triu_indices(systems, 1)
    signs = np.sign(np.round(means[first] - means[second], 10))  # rounding noise is no order
    order = np.sign(whole[first] - whole[second])[:, None]
    if not as_paper:
        return float((signs == order).mean())
    right = float(((signs >= 0) == (order >= 0)).mean())
    return float((systems + 2 * right * len(first)) / systems**2)


def cluster_cuts(scores: Floats, alpha: float = 0.05) -> list[float]:
    """Scores between systems where a cluster ends, best first.

    A cut falls below a system that is better than *every* lower one with p < alpha by the one-sided rank-sum
    test; it lies midway between the two means. The ESA paper, figures 4 and 6. `significance_clusters` asks
    more, as WMT does: that all systems above are better than all below.

    `scores`: systems by segments; NaN where not judged.
    """
    means = np.nanmean(scores, axis=1)
    order = np.argsort(-means, kind="stable")
    ranked = scores[order]
    cuts = []
    for place in range(len(order) - 1):
        lower = ranked[place + 1 :]
        if all(rank_sum_p_value(ranked[place], other, "greater") < alpha for other in lower):
            cuts.append(float(means[order[place]] + means[order[place + 1]]) / 2)
    return cuts


_STEPS: Final = 10
_LEAST: Final = 5  # segments of the smallest part
_LEAST_DRAWS: Final = 100


@frozen
class Beside:
    """Systems' means by people and by gold, over the translations that both judged."""

    systems: tuple[str, ...]
    ours: Floats
    gold: Floats  # of the same ones
    cuts: tuple[float, ...]  # of the paper, on our scale
    n: int  # segments that every system has


def scores_of(pieces: Sequence[Piece], *, by_points: bool = False) -> Scores:
    """Scores as `adjudge score` has them; by points, those of the marked errors."""
    kept = final_pieces(pieces)
    is_mqm = bool(kept) and kept[0].annotation.protocol == "mqm"
    weights = kept[0].weights if kept and (by_points or is_mqm) else None
    return score_records([piece.annotation for piece in kept], weights=weights)


def ranked(pieces: Sequence[Piece], draws: Draws) -> tuple[dict[str, Ranking], list[str]]:
    """Rankings by rating and by points, and why there is none where there is none."""
    kept = final_pieces(pieces)
    if not kept:
        return {}, ["No translation is judged yet."]
    names = {"": False}
    if kept[0].rating is not None and kept[0].has_marks:
        names = {"rating": False, "points": True}
    found, notes = {}, []
    for name, by_points in names.items():
        try:
            found[name] = rank(
                scores_of(kept, by_points=by_points), resamples=max(1, draws.resamples), seed=draws.seed
            )
        except AdjudgeError as error:
            notes.append(f"No ranking{f' by {name}' if name else ''}: {error}.")
    return found, list(dict.fromkeys(notes))


def systems_beside(pieces: Sequence[Piece], gold: Mapping[Key, float]) -> Beside | None:
    """Means by people and by gold; None with fewer than two systems or nothing judged by both."""
    groups = by_translation(piece for piece in final_pieces(pieces) if piece.key in gold)
    firsts = [group[0] for group in groups.values()]
    means = [float(np.mean([piece.score for piece in group])) for group in groups.values()]
    systems, ours, _ = matrix_of(firsts, means)
    _, theirs, _ = matrix_of(firsts, [gold[key] for key in groups])
    if len(systems) < 2 or not ours.shape[1]:
        return None
    return Beside(
        systems=systems,
        ours=ours.mean(axis=1),
        gold=theirs.mean(axis=1),
        cuts=tuple(cluster_cuts(ours)),
        n=ours.shape[1],
    )


def system_section(pieces: Sequence[Piece], beside: Beside | None) -> Section:
    """Clusters as the paper cuts them, and the order of systems beside gold's. The ESA paper, figure 4."""
    title = "Which systems differ?"
    kept = final_pieces(pieces)
    _, matrix, dropped = matrix_of(kept, [piece.score for piece in kept])
    notes = [f"Segments left out, not judged for every system: {dropped:,}."] if dropped else []
    if matrix.shape[0] < 2 or not matrix.shape[1]:
        return Section(
            name="systems", title=title, notes=(*notes, "No two systems are judged on the same segments.")
        )
    clusters = Result(value=len(cluster_cuts(matrix)) + 1.0, n=matrix.shape[1])
    numbers = [Number(of="all", measure="clusters by rank sums", result=clusters, definition="paper")]
    if beside is not None:
        order = {
            "Spearman of systems": spearman(beside.gold, beside.ours),
            "pairwise accuracy": pairwise_accuracy(beside.gold, beside.ours),
        }
        numbers += [Number(of="with gold", measure=name, result=result) for name, result in order.items()]
    return Section(name="systems", title=title, numbers=tuple(numbers), notes=tuple(notes))


def subset_sizes(segments: int) -> list[int]:
    """Ten sizes up to all segments; none below five segments."""
    return sorted({round(segments * step / _STEPS) for step in range(1, _STEPS + 1)} - set(range(_LEAST)))


SubsetCurves = Mapping[Definition, tuple[Sequence[int], Sequence[float]]]
"""Whose definition to sizes of subsets, and the share of pairs of systems that each orders as all do."""


def subset_section(pieces: Sequence[Piece], draws: Draws) -> tuple[Section, SubsetCurves]:
    """How well some of the segments rank the systems as all of them do. The ESA paper, figure 9."""
    title = "How few segments would have ranked the systems so?"
    kept = final_pieces(pieces)
    _, matrix, dropped = matrix_of(kept, [piece.score for piece in kept])
    sizes = subset_sizes(matrix.shape[1])
    if matrix.shape[0] < 2 or len(sizes) < 2:
        few = "Too few segments are judged for every system."
        return Section(name="subsets", title=title, notes=(few,)), {}
    curves: dict[Definition, tuple[Sequence[int], Sequence[float]]] = {}
    numbers: list[Number] = []
    definitions: tuple[Definition, ...] = ("paper", "mended")
    for definition in definitions:
        is_paper = definition == "paper"
        amount = max(_LEAST_DRAWS, draws.resamples)
        curve = [subset_agreement(matrix, n, amount, draws.seed, as_paper=is_paper) for n in sizes]
        results = {f"{n} segments": Result(value=share, n=n) for n, share in zip(sizes, curve, strict=True)}
        results["mean of all sizes"] = Result(value=float(np.mean(curve)), n=sizes[-1])
        numbers += [
            Number(of=of, measure="pairs of systems ordered alike", result=result, definition=definition)
            for of, result in results.items()
        ]
        curves[definition] = sizes, curve
    notes = (f"Segments left out, not judged for every system: {dropped:,}.",) if dropped else ()
    return Section(name="subsets", title=title, numbers=tuple(numbers), notes=notes), curves


WEIGHTS = np.arange(101) / 10
"""Of a major error, where a minor one is 1: those that are tried."""
_NOTHING: Final = 1e-12  # a variance below is rounding noise


def major_weight_curve(ratings: Floats, minor: Floats, major: Floats, weights: Floats) -> Floats:
    """Pearson's r of ratings with -(minor + weight * major), for each weight. The ESA paper, figure 8.

    NaN where the errors of all translations weigh the same.
    """
    found = [pearson(ratings, -(minor + weight * major)).value for weight in weights.tolist()]
    return np.array([np.nan if value is None else value for value in found])


def best_major_weight(ratings: Floats, minor: Floats, major: Floats, weights: Floats) -> float:
    """The weight with the highest correlation; the first of equal ones."""
    curve = major_weight_curve(ratings, minor, major, weights)
    if np.isnan(curve).all():
        raise UsageError("no weight of a major error fits ratings or errors that are all the same")
    return float(weights[np.nanargmax(curve)])


def drawn_major_weights(
    ratings: Floats, minor: Floats, major: Floats, weights: Floats, draws: Draws
) -> Interval | None:
    """95 % interval of `best_major_weight`: of each draw, the weight with the highest correlation.

    The correlation of a sum is one of its parts' moments, so that no draw goes through the translations once
    for every weight.
    """
    parts = [values - values.mean() for values in (ratings, minor, major)]
    pairs = list(combinations_with_replacement(range(3), 2))
    moments = np.stack([*parts, *(parts[i] * parts[j] for i, j in pairs)], axis=1)

    def statistic(counts: Floats) -> Floats:
        means = counts @ moments / counts.sum(axis=1)[:, None]
        cov = {(i, j): means[:, 3 + k] - means[:, i] * means[:, j] for k, (i, j) in enumerate(pairs)}
        above = -(cov[0, 1][:, None] + weights * cov[0, 2][:, None])
        below = cov[1, 1][:, None] + 2 * weights * cov[1, 2][:, None] + weights**2 * cov[2, 2][:, None]
        found = np.full(below.shape, -np.inf)
        np.divide(above, np.sqrt(np.clip(below, 0, None)), out=found, where=below > _NOTHING)
        return np.where(np.isinf(found).all(axis=1), np.nan, weights[found.argmax(axis=1)])

    return estimate(statistic, np.ones(len(ratings), dtype=np.bool_), draws, "").interval


def weight_section(final: Sequence[Piece], draws: Draws) -> tuple[Section, Floats]:
    """Which weight of a major error fits the ratings best. The ESA paper, figure 8."""
    title = "Which weight of a major error fits the ratings?"
    ratings = np.array([piece.score for piece in final])
    minor, major = (
        np.array([float(sum(s in kinds for s in piece.severities)) for piece in final])
        for kinds in (("minor",), ("major", "critical"))
    )
    try:
        best = best_major_weight(ratings, minor, major, WEIGHTS)
    except AdjudgeError as error:
        return Section(name="weights", title=title, notes=(f"{error}.",)), np.zeros(0)
    curve = major_weight_curve(ratings, minor, major, WEIGHTS)
    interval = drawn_major_weights(ratings, minor, major, WEIGHTS, over_segments(final, draws))
    n = len(final)
    numbers = [
        Number(of="all", measure="best weight", result=Result(value=best, n=n, interval=interval)),
        Number(
            of="all", measure="Pearson at the best weight", result=Result(value=float(np.nanmax(curve)), n=n)
        ),
        Number(of="all", measure="Pearson at weight 5", result=Result(value=float(curve[50]), n=n)),
    ]
    return Section(name="weights", title=title, numbers=tuple(numbers)), curve


def preferences_of(submissions: Sequence[Submission]) -> list[tuple[Submission, Preference]]:
    """Preferences that count: of last submissions that are neither tutorial nor check."""
    return [
        (submission, record)
        for submission in submissions
        if submission.is_last and submission.kind not in {"tutorial", "check"}
        for record in submission.records
        if isinstance(record, Preference)
    ]


def comparison_sections(submissions: Sequence[Submission], draws: Draws) -> tuple[Section, Section]:
    """How far people agree, and whether a verdict follows the side; of people who were shown nothing."""
    judged = [one for one in preferences_of(submissions) if one[0].is_independent]
    numbers: list[Number] = []
    known = [(p, next((system for system in s.texts if system in p.systems), None)) for s, p in judged]
    placed = [(p, first) for p, first in known if first is not None]
    people = sorted({p.annotator for p, _ in placed})
    for who in ("all", *(people if len(people) > 1 else ())):
        own = [(p, first) for p, first in placed if who in {"all", p.annotator}]
        drawing = replace(draws, groups=numbered([(p.lp, p.segment) for p, _ in own]))
        winners = [{"A": p.systems[0], "B": p.systems[1]}.get(p.verdict) for p, _ in own]
        first = np.array([winner == shown for winner, (_, shown) in zip(winners, own, strict=True)])
        tied = np.array([winner is None for winner in winners])
        shares = {
            "share for the first side": first,
            "share for the second side": ~first & ~tied,
            "share tied": tied,
        }
        for measure, hits in shares.items():
            result = mean_of(hits.astype(np.float64), drawing, "nothing was compared")
            numbers.append(Number(of=who, measure=measure, result=result))
    lost = len(known) - len(placed)
    notes = [f"Preferences left out, not known which side was shown first: {lost:,}."] if lost else []
    title = "Does a verdict follow the side?"
    return _agreement(judged, draws), Section(
        name="sides", title=title, numbers=tuple(numbers), notes=tuple(notes)
    )


def _agreement(judged: Sequence[tuple[Submission, Preference]], draws: Draws) -> Section:
    title = "Do people prefer the same translations?"
    latest = {(p.lp, p.segment, frozenset(p.systems), p.annotator, p.criterion): p for _, p in judged}
    try:
        source = Judgements(name="campaign", records=tuple(latest.values()))
        settings = AgreementSettings(resamples=draws.resamples, seed=draws.seed)
        found = find_agreement([source.of_one_kind(None)], [], settings)
    except UsageError as error:
        return Section(name="agreement", title=title, notes=(f"Nothing to compare: {error}.",))
    numbers = [
        Number(
            of=" and ".join(row.between),
            measure=f"{row.criterion}: {row.measure}" if row.criterion else row.measure,
            result=row.result,
        )
        for row in found.rows
    ]
    return Section(name="agreement", title=title, numbers=tuple(numbers), notes=found.notes)


def draft_section(submissions: Sequence[Submission]) -> Section:
    """Whose drafts people chose to edit, how often they left one as it was, and what a second review says.

    A reference passes the second review where whoever looked at it again left it as it was written; in MENT
    96.1 % of them do (RATE, section 3.4).
    """
    found = [s for s in submissions if s.is_last and s.chosen is not None]
    chosen = [s for s in found if s.kind in FIRST]
    systems = sorted({system for s in chosen for system in s.texts})
    numbers = []
    for system in systems:
        result = share_of([s.chosen == system for s in chosen if system in s.texts])
        numbers.append(Number(of=system, measure="share chosen", result=result))
    left = share_of([s.edited == s.texts.get(s.chosen or "") for s in chosen], "no draft was chosen")
    numbers.append(Number(of="all", measure="share left as it was", result=left))
    written = grouped(((s.lp, s.document, s.segment), s.edited) for s in chosen)
    reviewed = [s for s in found if s.kind == "again"]
    if reviewed:
        passed = share_of([s.edited in written.get((s.lp, s.document, s.segment), ()) for s in reviewed])
        numbers.append(Number(of="all", measure="share passed at second review", result=passed))
    return Section(name="drafts", title="Which drafts do people choose?", numbers=tuple(numbers))


State = Literal["apart", "leaning", "tied", "unknown"]
"""Told apart for good; apart if nobody had looked before; not apart; fewer than two units for both."""

_FEWEST: Final = 10  # units of both systems before anything is called more than tied


@frozen
class PairStanding:
    """Two systems, the one ahead first."""

    first: str  # ahead by the mean over what both share
    second: str
    n: int  # units judged for both: segments, or comparisons of the two
    difference: float  # of their means over these
    p: float | None  # two-sided, by the normal law; None with fewer than two units
    state: State  # what can be said
    # units still needed to tell them apart, with a chance of 80 %, if the difference at hand is the true one;
    # 0 where they are apart, None where nothing says it
    needed: int | None


@frozen
class SystemStanding:
    """One system."""

    system: str
    mean: float | None  # over its units; None before the first
    interval: Interval | None  # 95 %, by bootstrap over units
    n: int
    best: int  # rank if everything that is not told apart fell its way, from 1
    worst: int  # if nothing did


@frozen
class Standing:
    """All systems, best first, and every pair of them."""

    systems: tuple[SystemStanding, ...]  # those without a judgement last
    pairs: tuple[PairStanding, ...]  # ahead first, in the order of the systems
    done: float  # part of the work that is done, 0 to 1
    is_over: bool  # whether every pair is apart, or all the work is done

    @property
    def open(self) -> tuple[PairStanding, ...]:
        return tuple(pair for pair in self.pairs if pair.state != "apart")


def find_standing(
    systems: Sequence[str], scores: Floats, done: float, *, resamples: int = 500, alpha: float = 0.05
) -> Standing:
    """Say which systems differ so far.

    Whoever looks again and again finds differences by chance. So a pair counts as told apart only where its
    difference is more than z / sqrt(t) standard errors, t the part of the work that is done and z the
    two-sided bound at the end (1.96 at 5 %). These are about O'Brien and Fleming's bounds (1979), which
    take hardly anything from the last look.

    `scores`: units by systems, NaN where not judged. Of comparisons, the points of both.
    """
    judged = ~np.isnan(scores)
    drawn = bootstrap_means(np.nan_to_num(scores), judged.astype(np.float64), resamples=resamples)
    intervals = percentile_intervals(drawn)
    amounts = judged.sum(axis=0)
    means = [float(np.nanmean(scores[:, k])) if amounts[k] else None for k in range(len(systems))]
    order = sorted(range(len(systems)), key=lambda k: (means[k] is None, -(means[k] or 0.0), systems[k]))
    pairs = tuple(_pairs(systems, scores, order, done, alpha))
    apart = [pair for pair in pairs if pair.state == "apart"]
    rows = [
        SystemStanding(
            system=systems[k],
            mean=means[k],
            interval=intervals[k],
            n=int(amounts[k]),
            best=1 + sum(pair.second == systems[k] for pair in apart),
            worst=len(systems) - sum(pair.first == systems[k] for pair in apart),
        )
        for k in order
    ]
    is_over = done >= 1 or (bool(pairs) and len(apart) == len(pairs))
    return Standing(systems=tuple(rows), pairs=pairs, done=done, is_over=is_over)


def _pairs(
    systems: Sequence[str], scores: Floats, order: Sequence[int], done: float, alpha: float
) -> Iterator[PairStanding]:
    for one, other in combinations(order, 2):
        gaps = scores[:, one] - scores[:, other]
        gaps = gaps[~np.isnan(gaps)]
        ahead, behind = (one, other) if not len(gaps) or gaps.mean() >= 0 else (other, one)
        yield _pair(systems[ahead], systems[behind], gaps, done, alpha)


def _pair(first: str, second: str, gaps: Floats, done: float, alpha: float) -> PairStanding:
    from scipy.special import ndtr, ndtri  # scipy.stats takes seconds to import

    n = len(gaps)
    difference = abs(float(gaps.mean())) if n else 0.0
    if n < 2:
        return PairStanding(
            first=first, second=second, n=n, difference=difference, p=None, state="unknown", needed=None
        )
    plan = Plan(sd=float(gaps.std(ddof=1)), segments=n, alpha=alpha)
    error = plan.spread / math.sqrt(n)
    z = difference / error if error else (math.inf if difference else 0.0)
    usual = -float(ndtri(alpha / 2))
    bound = usual / math.sqrt(min(max(done, 1e-9), 1.0))
    state: State = "tied"
    if n >= _FEWEST and z > usual:
        state = "apart" if z > bound else "leaning"
    least = plan.needed_for(difference) if error else _FEWEST
    return PairStanding(
        first=first,
        second=second,
        n=n,
        difference=difference,
        p=float(2 * ndtr(-z)),
        state=state,
        needed=0 if state == "apart" else None if least is None else max(1, least - n),
    )
