"""How often the promises of intervals and cut-offs hold, simulated on gold of WMT23.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/label_coverage.py [--write]

`--write` puts the figures into docs/benchmark-tables.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adjudge.analysis.score import intervals_of_means
from adjudge.reports.tables import Table, render_table
from adjudge.stats.bounds import Totals
from adjudge.stats.few_labels import Labelled, Sample, Target, estimate_mean, shown_bound
from adjudge.stats.judged import Floats
from adjudge.stats.paired import Test, better_p_values

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

# Estimate, thresholds, ranks...

TITLE = "Coverage of estimates, cut-offs and ranks"
INTRODUCTION = """\
`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/label_coverage.py --write`

Simulated on MQM gold of WMT23. *Labels* are drawn anew from the segments (or documents) of each system; the
truth is the mean of all of its segments. For the population, the test set itself is drawn from the gold, by
documents. The promise of a *risk* is broken where the true share above the cut-off is larger."""
RUNS = 40


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Gold and a metric of one system: scores of its segments, and the document of each."""

    labels: Floats
    scores: Floats
    documents: np.ndarray[tuple[int], np.dtype[np.int64]]


def read_judged(data: Path, lp: str, metric: str) -> list[Judged]:
    """Read every system that both gold and the metric scored."""
    gold = _read_scores(data / "wmt23" / "human-scores" / f"{lp}.mqm.seg.score")
    scores = _read_scores(data / "wmt23" / "metric-scores" / lp / f"{metric}.seg.score")
    lines = (data / "wmt23" / "documents" / f"{lp}.docs").read_text(encoding="utf-8").splitlines()
    documents = np.unique(lines, return_inverse=True)[1]
    found = []
    for system in sorted(gold.keys() & scores.keys()):
        both = ~np.isnan(gold[system]) & ~np.isnan(scores[system])
        if both.any():
            found.append(
                Judged(labels=gold[system][both], scores=scores[system][both], documents=documents[both])
            )
    return found


def _read_scores(path: Path) -> dict[str, Floats]:
    found: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, value = line.split("\t")
        found.setdefault(system, []).append(np.nan if value == "None" else float(value))
    return {system: np.array(values) for system, values in sorted(found.items())}


def estimate_coverage(
    systems: list[Judged], labels: int, target: Target, *, by_document: bool = False, runs: int = RUNS
) -> float:
    """Return how often the interval of a mean holds the truth, with so many labelled segments or documents.

    Args:
        systems: of one language pair.
        labels: segments, or documents, that are labelled.
        target: what the interval is for.
        by_document: whether whole documents are drawn.
        runs: draws for each system.
    """
    rng = np.random.default_rng(0)
    held = total = 0
    for one in systems:
        for run in range(runs):
            drawn = one if target == "test-set" else _resampled(one, rng)
            units = drawn.documents if by_document else np.arange(len(drawn.labels))
            chosen = rng.permutation(np.unique(units))[:labels]
            known = np.isin(units, chosen)
            sample = Sample(
                labels=np.where(known, drawn.labels, np.nan),
                scores=drawn.scores,
                drawn=units,
                clusters=drawn.documents,
                strata=np.zeros(len(units), dtype=np.int64),
            )
            interval = estimate_mean(sample, target=target, seed=run).interval
            held += interval is not None and interval.low <= one.labels.mean() <= interval.high
            total += 1
    return held / total


def _resampled(one: Judged, rng: np.random.Generator) -> Judged:
    """Draw documents with replacement."""
    names = np.unique(one.documents)
    rows = [np.flatnonzero(one.documents == name) for name in rng.choice(names, len(names))]
    index = np.concatenate(rows)
    documents = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    return Judged(labels=one.labels[index], scores=one.scores[index], documents=documents)


def rank_coverage(systems: list[Judged], documents: int, *, runs: int = 300) -> tuple[float, float]:
    """Return how often intervals of means hold the truth, and how often two equal systems are ranked.

    Documents are drawn with replacement. Two systems are made equal by changing places at random in each.

    Args:
        systems: of one language pair.
        documents: that are drawn.
        runs: in all.
    """
    rng = np.random.default_rng(0)
    held = ranked = 0
    for run in range(runs):
        one, other = (systems[i] for i in rng.choice(len(systems), 2, replace=False))
        n = min(len(one.labels), len(other.labels))
        names = np.unique(one.documents[:n])
        both = [
            np.bincount(one.documents[:n], each.labels[:n], names.max() + 1)[names] for each in (one, other)
        ]
        sizes = np.bincount(one.documents[:n], minlength=names.max() + 1)[names].astype(float)
        chosen = rng.integers(0, len(names), documents)
        first, second = (each[chosen] for each in both)
        size = sizes[chosen]
        totals = Totals(sums=first[:, None], sizes=size[:, None])
        (interval,) = intervals_of_means(totals, (-math.inf, math.inf))
        truth = both[0].sum() / sizes.sum()
        held += interval is not None and interval.low <= truth <= interval.high
        swap = rng.random(documents) < 0.5
        pair = np.stack([np.where(swap, second, first), np.where(swap, first, second)], axis=1)
        pair = pair[:, np.argsort(-pair.sum(axis=0))]
        test: Test = "t" if documents < 6 else "permutation"
        null = Totals(sums=pair, sizes=np.stack([size, size], axis=1))
        ranked += 2 * better_p_values(null, test, resamples=500, seed=run)[0, 1] < 0.05
    return held / runs, ranked / runs


def threshold_outcomes(
    systems: list[Judged], sources: int, each: int, risk: float, *, runs: int = 100
) -> tuple[float, float]:
    """Return how often the promise of a cut-off is broken, and how often none can be given.

    Bad is a translation that costs 5 points or more. Sources are drawn, and `each` systems for each of them.

    Args:
        systems: of one language pair, all of them with the same segments.
        sources: labelled sources.
        each: labelled translations of each.
        risk: share of bad ones among those published.
        runs: draws.
    """
    rng = np.random.default_rng(0)
    length = min(len(one.labels) for one in systems)
    bad = np.stack([one.labels[:length] <= -5 for one in systems])
    scores = np.stack([one.scores[:length] for one in systems])
    broken = none = 0
    for _ in range(runs):
        chosen = rng.choice(length, sources)
        who = np.stack([rng.choice(len(systems), each, replace=False) for _ in chosen])
        labelled = Labelled(
            scores=scores[who, chosen[:, None]].ravel(),
            bad=bad[who, chosen[:, None]].ravel(),
            groups=np.repeat(np.arange(sources), each),
        )
        bound = shown_bound(labelled, risk, 0.05)
        none += bound is None
        if bound is not None:
            above = scores >= bound
            counts = above.sum(axis=0)
            shares = (bad & above).sum(axis=0)[counts > 0] / counts[counts > 0]
            broken += float(shares.mean() if each > 1 else bad[above].mean()) > risk
    return broken / runs, none / runs


PAIRS = (("en-de", "MetricX-23-QE-src"), ("en-de", "XCOMET-Ensemble-refA"), ("zh-en", "MetricX-23-refA"))


def rows(data: Path) -> Iterator[list[str]]:
    """One row a promise."""
    for lp, metric in PAIRS:
        systems = read_judged(data, lp, metric)
        where = f"{lp}, {metric.split('-')[0]}"
        for labels in (15, 30, 50, 100, 200):
            yield [
                f"estimate, {where}",
                f"{labels} segments, this test set",
                "95 %",
                _percent(estimate_coverage(systems, labels, "test-set")),
            ]
        for labels in (15, 30, 60):
            if labels < len(np.unique(systems[0].documents)):
                yield [
                    f"estimate, {where}",
                    f"{labels} documents, this test set",
                    "95 %",
                    _percent(
                        estimate_coverage(systems, labels, "test-set", by_document=True, runs=RUNS // 2)
                    ),
                ]
        for labels in (30, 100, 200):
            yield [
                f"estimate, {where}",
                f"{labels} segments, population",
                "95 %",
                _percent(estimate_coverage(systems, labels, "population", runs=RUNS // 2)),
            ]
    for lp, metric in (PAIRS[0], PAIRS[2]):
        systems = read_judged(data, lp, metric)
        for documents in (4, 8, 20, 60):
            held, ranked = rank_coverage(systems, documents)
            yield [f"rank, {lp}", f"interval of a mean, {documents} documents", "95 %", _percent(held)]
            yield [f"rank, {lp}", f"equal systems ranked, {documents} documents", "5 %", _percent(ranked)]
        for sources, each, risk in ((100, 4, 0.2), (300, 4, 0.2), (300, 1, 0.2), (300, 4, 0.3)):
            broken, none = threshold_outcomes(systems, sources, each, risk)
            what = f"{sources} sources x {each}, risk {risk:g}"
            yield [f"thresholds, {lp}", f"{what}: broken", "at most 5 %", _percent(broken)]
            yield [f"thresholds, {lp}", f"{what}: no cut-off", "", _percent(none)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main() -> None:
    """Simulate and print."""
    wanted = make_parser(__doc__).parse_args()
    if (data := find_data()) is None:
        return
    table = Table(columns=["what", "of", ">promised", ">found"], rows=list(rows(data)))
    show(TITLE, f"{INTRODUCTION}\n\n{render_table(table, 'markdown')}", write=wanted.write)


if __name__ == "__main__":
    main()
