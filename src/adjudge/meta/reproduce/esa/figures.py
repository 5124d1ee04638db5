"""The ESA paper's figures, number by number: name of a row and of a column to the number as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from adjudge.data.appraise import AppraiseRow
from adjudge.meta.campaign.agreeing import count_errors
from adjudge.meta.campaign.cuts import cluster_cuts
from adjudge.meta.campaign.pace import learned_speed_up, median_seconds, seconds_between_starts
from adjudge.meta.campaign.profile import bins_of, token_counts
from adjudge.meta.campaign.subsets import subset_agreement
from adjudge.meta.campaign.weights import best_major_weight, major_weight_curve
from adjudge.meta.matrix import Totals
from adjudge.meta.measures.correlation import spearman
from adjudge.meta.measures.result import Floats
from adjudge.meta.measures.system import pairwise_accuracy
from adjudge.meta.ranking.clusters import significance_clusters
from adjudge.meta.ranking.pairs import Test, better_p_values
from adjudge.meta.reproduce.esa.study import Study
from adjudge.meta.reproduce.esa.tables import Numbers, known

__all__ = [
    "distributions",
    "major_weights",
    "rankings",
    "speed",
    "subset_consistency",
    "times",
    "wmt_systems",
]

_ALPHA: Final = 0.05
_CLIPPED: Final = -15  # the paper's histograms of points end here
_PROTOCOLS: Final = ("DA_WMT", "ESA_1", "ESA_1_spans", "MQM", "MQM_WMT", "ESA_2")
_SIZES: Final = (*range(10, 160, 15), 160)
_WEIGHTS: Final = np.arange(101) / 10


def distributions(study: Study) -> Numbers:
    """Figure 3: the slider in ten bins, and how much of the points is cut off or exactly 0."""
    tenths = bins_of(study.scores("ESA_1", study.shared), 0, 100)
    found = {(words, "ESA_1"): float(n) for words, n in tenths}
    for name in ("ESA_1_spans", "MQM", "MQM_WMT"):
        points = study.scores(name, study.shared)
        found["% below -15", name] = 100 * float((points < _CLIPPED).mean())
        found["% at 0", name] = 100 * float((points == 0).mean())
    return found


def rankings(study: Study) -> Numbers:
    """Figure 4: systems by protocol beside WMT23's MQM, over the shared translations."""
    gold = study.by_system("MQM_WMT").mean(axis=1)
    found: Numbers = {}
    for name in _PROTOCOLS:
        scores = study.by_system(name)
        means = scores.mean(axis=1)
        found["Spearman", name] = known(spearman(gold, means))
        found["% accuracy", name] = 100 * known(pairwise_accuracy(gold, means))
        cuts = cluster_cuts(scores)
        found["clusters", name] = len(cuts) + 1
        found |= {(f"cut {place}", name): cut for place, cut in enumerate(cuts, start=1)}
        found["clusters, rank sums as WMT", name] = _clusters(scores, "rank-sum")
        found["clusters, signed ranks", name] = _clusters(scores, "wilcoxon")
        best = float(means[study.systems.index("refA")])
        found["cluster of refA", name] = 1 + sum(cut > best for cut in cuts)
        found |= {(system, name): float(means[place]) for place, system in enumerate(study.systems)}
    return found


def _clusters(scores: Floats, test: Test) -> int:
    """How many clusters there are where all systems above must be better than all below."""
    means = scores.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    totals = Totals(sums=scores[order].T, sizes=np.ones_like(scores.T))
    p_values = better_p_values(totals, test, resamples=0, seed=0)  # neither test draws
    return significance_clusters(means[order].tolist(), p_values, _ALPHA)[-1]


# Time...


def _work(study: Study, campaign: str) -> list[AppraiseRow]:
    """One row an item and login, the first of the file, in reversed file order, which is oldest first.

    Damaged copies and fillers are among them, for they are work too.
    """
    found: dict[tuple[str, int], AppraiseRow] = {}
    for row in reversed(study.rows(campaign)):
        found[row.login, row.item] = row
    return list(found.values())


def _seconds(rows: Sequence[AppraiseRow]) -> Floats:
    return seconds_between_starts([row.login for row in rows], np.array([row.start for row in rows]))


def times(study: Study) -> Numbers:
    """Section 6.5: seconds a segment, and how much less ESA takes; of all items, and of the shared ones."""
    found: Numbers = {}
    for ending, of_all in (("", True), (", shared", False)):
        for name in ("MQM", "ESA_1"):
            rows = _work(study, name) if of_all else sorted(_work(study, name), key=lambda row: row.start)
            seconds, kept = _seconds(rows), np.ones(len(rows), dtype=bool)
            if not of_all:
                kept = np.array([_is_shared(study, row) for row in rows])
            people = [study.people[row.login] for row, keep in zip(rows, kept, strict=True) if keep]
            median, mean = median_seconds(people, seconds[kept])
            found[name, f"median{ending}"] = median
            found[name, f"mean of medians{ending}"] = mean
        for column in (f"median{ending}", f"mean of medians{ending}"):
            found["% less", column] = 100 * (1 - found["ESA_1", column] / found["MQM", column])
    return found


def _is_shared(study: Study, row: AppraiseRow) -> bool:
    return row.kind == "TGT" and not row.is_duplicate and study.key(row) in study.is_shared


def speed(study: Study) -> Numbers:
    """Figure 5: how much faster people become; times counted in the order of starts, or of the file."""
    campaigns = {"MQM": ["MQM"], "ESA": ["ESA_1", "ESA_2"], "ESA_1": ["ESA_1"], "ESA_2": ["ESA_2"]}
    found: Numbers = {}
    for ending, by_start in (("", True), (", file order", False)):
        people = {name: _people(study, name, by_start=by_start) for name in ("MQM", "ESA_1", "ESA_2")}
        for row, names in campaigns.items():
            seen = learned_speed_up([seconds for name in names for seconds in people[name]])
            found[row, f"saved{ending}"] = seen.saved
            found[row, f"start{ending}"], found[row, f"end{ending}"] = seen.start, seen.end
    return found


def _people(study: Study, campaign: str, *, by_start: bool) -> list[Floats]:
    """The seconds of each annotator's translations, in the order of their starts.

    Args:
        study: where they lie.
        campaign: its name.
        by_start: whether the item before is the one that was started before, or that stands before.
    """
    rows = _work(study, campaign)
    if by_start:
        rows.sort(key=lambda row: row.start)
    timed = sorted(zip(rows, _seconds(rows).tolist(), strict=True), key=lambda pair: pair[0].start)
    found: dict[str, list[float]] = {}
    for row, seconds in timed:
        if row.kind == "TGT" and not row.is_duplicate:
            found.setdefault(study.people[row.login], []).append(seconds)
    return [np.array(values) for values in found.values()]


# All of WMT23...


def wmt_systems(study: Study, name: str) -> Numbers:
    """Figure 6: systems and cuts by WMT23's own scores, over every segment that was judged.

    Args:
        study: where they lie.
        name: of the scores, such as `en-de.mqm`; also the column.
    """
    table = study.gold(name)
    rows = [place for place, system in enumerate(table.systems) if system != "synthetic_ref"]
    scores = table.values[rows]
    means = np.nanmean(scores, axis=1)
    cuts = sorted(cluster_cuts(scores))
    return {
        **{(table.systems[row], name): float(mean) for row, mean in zip(rows, means, strict=True)},
        ("systems", name): len(rows),
        ("cuts", name): len(cuts),
        **{(f"cut {place}", name): cut for place, cut in enumerate(cuts, start=1)},
    }


# How many errors, how many segments...


def major_weights(study: Study) -> Numbers:
    """Figure 8: which weight of a major error fits the slider best."""
    ratings, errors = study.scores("ESA_1", study.annotated), study.severities("ESA_1", study.annotated)
    minor, major = (count_errors(errors, (kind,)) for kind in ("minor", "major"))
    tokens = token_counts([study.shown[key].translation for key in study.annotated])
    shared = study.severities("ESA_1", study.shared)
    few_minor, few_major = (count_errors(shared, (kind,)) for kind in ("minor", "major"))
    few_ratings = study.scores("ESA_1", study.shared)
    curve = major_weight_curve(ratings, minor, major, _WEIGHTS)
    return {
        ("best weight", "annotated"): best_major_weight(ratings, minor, major, _WEIGHTS),
        ("best weight", "a token"): best_major_weight(ratings, minor / tokens, major / tokens, _WEIGHTS),
        ("best weight", "shared"): best_major_weight(few_ratings, few_minor, few_major, _WEIGHTS),
        **{(f"Pearson at {_WEIGHTS[at]:g}", "annotated"): float(curve[at]) for at in (48, 50, 0, 100)},
    }


def subset_consistency(study: Study) -> Numbers:
    """Figure 9: how well some of the 156 segments rank the systems as all of them do."""
    found: Numbers = {}
    for name in ("MQM_WMT", "DA_WMT", "ESA_1", "ESA_1_spans", "MQM"):
        scores = study.by_system(name)
        for ending, as_paper in (("", True), (", pairs", False)):
            curve = [subset_agreement(scores, size, as_paper=as_paper) for size in _SIZES]
            shares = dict(zip(_SIZES, curve, strict=True))
            found |= {(f"{size} segments", f"{name}{ending}"): 100 * share for size, share in shares.items()}
            found["mean", f"{name}{ending}"] = 100 * float(np.mean(curve))
    means = [found["mean", name] for name in ("ESA_1", "ESA_1_spans", "MQM")]
    found["place among ESA, its errors and MQM", "ESA_1"] = 1 + sum(mean > means[0] for mean in means)
    return found
