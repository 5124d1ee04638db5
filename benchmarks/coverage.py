"""Whether what intervals, tests and verdicts promise holds: each guarantee simulated on WMT23's gold.

    make coverage
    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/coverage.py [--write] [--only NAME]... [--draws N]

`--write` puts the table into docs/coverage.md, and with `--only` the rows that were measured. A guarantee is
a function from a population, a number of units and a number of draws to one `Measured` or more; add it to
`GUARANTEES`.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.compare import difference
from adjudge.analysis.gate import critical_p_value, non_inferiority
from adjudge.analysis.power import units_needed
from adjudge.analysis.rank import RankSettings, placed, tested_pairs, unjudged
from adjudge.analysis.score import with_intervals
from adjudge.core.scores import Scores, SegmentScore, Signature, SystemScore
from adjudge.reports.tables import Table, render_table
from adjudge.stats import bounds, paired
from adjudge.stats.bounds import Totals
from adjudge.stats.paired import holm, sign_flip_p_values

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


Floats = NDArray[np.float64]
PAGE = ROOT / "docs" / "coverage.md"
LPS = ("en-de", "zh-en", "he-en")  # those that are in the folder
UNITS = (8, 10, 20, 30, 60, 100, 170)
DRAWS = 2000


@dataclass(frozen=True, kw_only=True)
class Population:
    """All judgements of one language pair: the truth that samples are drawn from.

    Args:
        name: language pair, and the gold.
        scores: systems by segments.
        documents: number of each segment's document.
        scale: lowest and highest score; None where there is none.
    """

    name: str
    scores: Floats
    documents: NDArray[np.int64]
    scale: tuple[float, float] | None = None

    def pairs(self) -> list[tuple[int, int]]:
        """Ordered pairs of systems, in a fixed random order."""
        found = list(itertools.permutations(range(len(self.scores)), 2))
        np.random.default_rng(0).shuffle(found)
        return found

    def gaps(self, pair: tuple[int, int], mean: float) -> Floats:
        """Differences of two systems by segment, moved so that their mean is `mean`."""
        gaps = self.scores[pair[0]] - self.scores[pair[1]]
        return np.asarray(gaps - gaps.mean() + mean)

    @cached_property
    def _rows(self) -> list[NDArray[np.int64]]:
        return [np.flatnonzero(self.documents == number) for number in range(self.documents.max() + 1)]

    def draw(self, gaps: Floats, units: int, rng: np.random.Generator, *, by_document: bool) -> Sample:
        """Draw whole documents, or segments, with replacement."""
        if not by_document:
            return Sample(gaps[rng.integers(0, len(gaps), units)], np.arange(units))
        chosen = [self._rows[number] for number in rng.integers(0, len(self._rows), units)]
        return Sample(gaps[np.concatenate(chosen)], np.repeat(np.arange(units), [len(row) for row in chosen]))


@dataclass(frozen=True)
class Sample:
    """Differences by segment, and the number of each segment's unit."""

    gaps: Floats
    units: NDArray[np.int64]

    @property
    def segments(self) -> Totals:
        """By segment; the second system has 0 everywhere."""
        return _totals(self.gaps, np.ones(len(self.gaps)))

    @property
    def totals(self) -> Totals:
        """By unit."""
        return _totals(
            np.bincount(self.units, self.gaps).astype(np.float64),
            np.bincount(self.units).astype(np.float64),
        )


def _totals(sums: Floats, sizes: Floats) -> Totals:
    return Totals(sums=np.stack([sums, np.zeros_like(sums)], axis=1), sizes=np.stack([sizes, sizes], axis=1))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How often something came about.

    Args:
        what: that was counted.
        promised: how often it should.
        found: how often it did.
        draws: samples drawn.
        units: of each sample.
        of: what the units are.
    """

    what: str
    promised: float
    found: float
    draws: int
    units: int
    of: str = "documents"

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of `found`."""
        share = min(max(self.found, 1 / self.draws), 1 - 1 / self.draws)
        return math.sqrt(share * (1 - share) / self.draws)


Guarantee = Callable[[Population, int, int], Iterator[Measured]]
"""From a population, a number of units and a number of draws."""


def populations(data: Path) -> Iterator[Population]:
    """WMT23's MQM gold of each language pair that the folder has; `complete/wmt23` is taken first."""
    whole = data / "complete" / "wmt23"
    folder = whole if whole.is_dir() else data / "wmt23"
    for lp in LPS:
        path = folder / "human-scores" / f"{lp}.mqm.seg.score"
        if path.exists():
            yield _read(path, folder / "documents" / f"{lp}.docs", lp)


def _read(path: Path, documents: Path, lp: str) -> Population:
    scores: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, value = line.split("\t")
        scores.setdefault(system, []).append(math.nan if value == "None" else float(value))
    names = [line.split("\t")[1] for line in documents.read_text(encoding="utf-8").splitlines()]
    kept = {name: row for name, row in scores.items() if not np.isnan(row).all() and "ref" not in name}
    matrix = np.array(list(kept.values()))
    judged = ~np.isnan(matrix).any(axis=0)
    _, numbers = np.unique(np.array(names)[judged], return_inverse=True)
    return Population(name=lp, scores=matrix[:, judged], documents=numbers.astype(np.int64))


@contextmanager
def remembering() -> Iterator[None]:
    """Make the random numbers of a seed and size once: they are the same for each of a thousand samples."""
    drawers = [(bounds, "_weights"), (paired, "sign_vectors")]
    kept = [getattr(module, name) for module, name in drawers]
    for (module, name), function in zip(drawers, kept, strict=True):
        setattr(module, name, cache(lambda *key, function=function: list(function(*key))))
    try:
        yield
    finally:
        for (module, name), function in zip(drawers, kept, strict=True):
            setattr(module, name, function)


def _cycled(population: Population, draws: int) -> Iterator[tuple[tuple[int, int], np.random.Generator]]:
    pairs = population.pairs()
    for number in range(draws):
        yield pairs[number % len(pairs)], np.random.default_rng([number, len(pairs)])


# One system: score...


def score_by_document(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The 95 % interval of a mean that `score` prints: over documents, and by segment for what that costs."""
    held = np.zeros(2)
    for number in range(draws):
        row = population.scores[number % len(population.scores)]
        sample = population.draw(row, units, np.random.default_rng([number, 5]), by_document=True)
        scores = _scores(sample)
        for place, by_document in enumerate((True, False)):
            (system,) = with_intervals(scores, by_document=by_document).systems
            held[place] += system.interval is not None and (
                system.interval.low <= row.mean() <= system.interval.high
            )
    measured_as = partial(Measured, draws=draws, units=units)
    what = "score: 95 % interval holds the mean"
    yield measured_as(what=what, promised=0.95, found=held[0] / draws)
    yield measured_as(what=f"{what}, with --by-segment", promised=math.nan, found=held[1] / draws)


def score_by_segment(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The same where segments are independent and no documents are known."""
    held = 0
    for number in range(draws):
        row = population.scores[number % len(population.scores)]
        sample = population.draw(row, units, np.random.default_rng([number, 5]), by_document=False)
        (system,) = with_intervals(_scores(sample), by_document=False).systems
        held += system.interval is not None and system.interval.low <= row.mean() <= system.interval.high
    what = "score: 95 % interval holds the mean"
    yield Measured(what=what, promised=0.95, found=held / draws, draws=draws, units=units, of="segments")


def _scores(sample: Sample) -> Scores:
    return Scores(
        signature=Signature("sample", {}),
        range=(-math.inf, 0),
        segments=tuple(
            SegmentScore(lp="xx-yy", segment=str(number), system="a", score=score, document=str(unit))
            for number, (score, unit) in enumerate(
                zip(sample.gaps.tolist(), sample.units.tolist(), strict=True)
            )
        ),
        systems=(SystemScore(system="a", score=float(sample.gaps.mean()), n=len(sample.gaps), failed=0),),
    )


# All systems: rank...


def rank_of_all(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """What `rank` says of all systems together, alone and with `--holm`; its intervals are those of `score`.

    `better than` is wrong where the other system is as good or better: in the gold as it is, and where all
    systems are moved to one mean, the hardest case. Without `--holm` nothing is promised of all at once.
    """
    documents, systems = population.documents, len(population.scores)
    sums = np.stack([np.bincount(documents, row) for row in population.scores], axis=1)
    sizes = np.repeat(np.bincount(documents)[:, None].astype(np.float64), systems, axis=1)
    means = sums.sum(axis=0) / sizes.sum(axis=0)
    for is_level, with_holm in itertools.product((False, True), repeat=2):
        truth = np.zeros(systems) if is_level else means
        documents_drawn = [("xx-yy", str(number)) for number in range(units)]
        settings = RankSettings(holm=with_holm).settled(documents_drawn, systems)
        wrong = held = 0
        for number in range(draws):
            chosen = np.random.default_rng([number, 11]).integers(0, len(sums), units)
            drawn = sums[chosen] - (means * sizes[chosen] if is_level else 0)
            order = np.argsort(-drawn.sum(axis=0))
            ordered = Totals(sums=drawn[:, order], sizes=sizes[chosen])
            found = (ordered.sums.sum(axis=0) / ordered.sizes.sum(axis=0)).tolist()
            p_values = tested_pairs(ordered, settings)
            rows = placed([unjudged(str(n), 0) for n in order], found, p_values, settings.alpha)
            wrong += any(truth[int(row.system)] <= truth[int(n)] for row in rows for n in row.better_than)
            ranks = 1 + (truth[:, None] > truth[order]).sum(axis=0)
            held += all(
                row.best is not None and row.worst is not None and row.best <= true <= row.worst
                for row, true in zip(rows, ranks.tolist(), strict=True)
            )
        measured_as = partial(Measured, draws=draws, units=units)
        name, promised = ("rank --holm", 0.05) if with_holm else ("rank", math.nan)
        what = f"{name}: some wrong `better than`{', all systems equal' if is_level else ''}"
        yield measured_as(what=what, promised=promised, found=wrong / draws)
        if not is_level:
            what = f"{name}: all ranges of ranks hold at once"
            yield measured_as(what=what, promised=1 - promised, found=held / draws)


# Two systems: compare and gate...


def compare_by_document(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The 95 % interval and the permutation test of `compare`, where both systems are equally good."""
    yield from _compare(population, units, draws, by_document=True)


def compare_by_segment(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The same where segments are independent and no documents are known."""
    yield from _compare(population, units, draws, by_document=False)


def _compare(population: Population, units: int, draws: int, *, by_document: bool) -> Iterator[Measured]:
    of = "documents" if by_document else "segments"
    held = rejected = 0
    for pair, rng in _cycled(population, draws):
        sample = population.draw(population.gaps(pair, 0.0), units, rng, by_document=by_document)
        found = difference(sample.totals, resamples=999, seed=1)
        held += found.interval is not None and found.interval.low <= 0 <= found.interval.high
        rejected += found.p <= 0.05
    measured_as = partial(Measured, draws=draws, units=units, of=of)
    yield measured_as(what="compare: 95 % interval holds the difference", promised=0.95, found=held / draws)
    yield measured_as(what="compare: p of equal systems at most 0.05", promised=0.05, found=rejected / draws)


def gate_at_the_margin(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """False verdicts where the candidate is worse by exactly the margin, the hardest case for both."""
    shipped = refused = 0
    for pair, rng in _cycled(population, draws):
        sample = population.draw(population.gaps(pair, -0.5), units, rng, by_document=True)
        found = non_inferiority(sample.totals, 0.5, segments=sample.segments, scale=population.scale)
        shipped += found.p_as_good <= 0.05
        refused += found.p_worse <= 0.05
    measured_as = partial(Measured, draws=draws, units=units)
    yield measured_as(what="gate: ships at the margin", promised=0.05, found=shipped / draws)
    yield measured_as(what="gate: refuses at the margin", promised=0.05, found=refused / draws)


def gate_of_the_most_skewed(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The same for the five pairs whose differences are most skewed against the candidate."""
    gaps = {pair: population.gaps(pair, 0.0) for pair in population.pairs()}
    sums = {pair: np.bincount(population.documents, values) for pair, values in gaps.items()}
    skew = {pair: (s**3).mean() / (s**2).mean() ** 1.5 for pair, s in sums.items()}
    worst = sorted(skew, key=lambda pair: float(skew[pair]))[:5]
    shipped = 0
    for number in range(draws):
        rng = np.random.default_rng([number, 7])
        sample = population.draw(gaps[worst[number % 5]], units, rng, by_document=True)
        found = non_inferiority(sample.totals, 0.0, segments=sample.segments, scale=population.scale)
        shipped += found.p_as_good <= 0.05
    what = "gate: ships at the margin, the five most skewed pairs"
    yield Measured(what=what, promised=0.05, found=shipped / draws, draws=draws, units=units)


def gate_with_domains(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """A refusal by any of all documents and four domains, all of them at the margin."""
    refused = 0
    for pair, rng in _cycled(population, draws):
        sample = population.draw(population.gaps(pair, 0.0), units, rng, by_document=True)
        p_worse = [non_inferiority(sample.totals, 0.0).p_worse]
        for domain in range(4):
            rows = sample.units % 4 == domain
            _, numbers = np.unique(sample.units[rows], return_inverse=True)
            part = Sample(sample.gaps[rows], numbers.astype(np.int64))
            p_worse.append(non_inferiority(part.totals, 0.0).p_worse)
        refused += bool(holm(np.array(p_worse)).min() <= 0.05)
    what = "gate: refuses at the margin, by all or one of four domains"
    yield Measured(what=what, promised=0.05, found=refused / draws, draws=draws, units=units)


def critical_errors(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """A veto where critical errors, those of 25 points and more, are as frequent on both sides."""
    vetoed = 0
    for pair, rng in _cycled(population, draws):
        ours, theirs = population.scores[list(pair)] <= -25
        sample = population.draw((ours & ~theirs) + 2.0 * (theirs & ~ours), units, rng, by_document=True)
        new, gone = sample.gaps == 1, sample.gaps == 2
        swapped = (rng.random(units) < 0.5)[sample.units]  # by document, so that both sides are alike
        new, gone = np.where(swapped, gone, new), np.where(swapped, new, gone)
        vetoed += critical_p_value(new, gone, documents=sample.units) <= 0.05
    what = "gate: critical errors veto, equally frequent"
    yield Measured(what=what, promised=0.05, found=vetoed / draws, draws=draws, units=units)


def rare_catastrophes(_: Population, units: int, draws: int) -> Iterator[Measured]:
    """1 % of segments at -25, which costs exactly the margin of 0.25; all others are equal."""
    shipped = 0
    for number in range(draws):
        rng = np.random.default_rng([number, 3])
        gaps = np.where(rng.random(units) < 0.01, -25.0, 0.0)
        found = non_inferiority(Sample(gaps, np.arange(units)).totals, 0.25, scale=(-25, 0))
        shipped += found.p_as_good <= 0.05
    what = "gate: ships with 1 % at the scale's end, worth the margin"
    yield Measured(what=what, promised=0.05, found=shipped / draws, draws=draws, units=units, of="segments")


def gate_power(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """How often a candidate ships where a t-test that knows the spread would let it in 80 % of cases.

    No promise: the price of bounds that hold, on the scale cut off at -25, with and without its end.
    """
    capped = Population(
        name=population.name,
        scores=np.maximum(population.scores, -25),
        documents=population.documents,
        scale=(-25, 0),
    )
    shipped = np.zeros(2)
    sizes = np.bincount(capped.documents)
    for pair, rng in _cycled(capped, draws):
        gaps = capped.gaps(pair, 0.0)
        sums = np.bincount(capped.documents, gaps)
        error = math.sqrt(float(sums @ sums) / len(sums) / units) / sizes.mean()
        sample = capped.draw(gaps + 2.486 * error, units, rng, by_document=True)
        for place, scale in enumerate((None, capped.scale)):
            found = non_inferiority(sample.totals, 0.0, segments=sample.segments, scale=scale)
            shipped[place] += found.p_as_good <= 0.05
    for told, count in zip(("", ", with the end of the scale"), shipped.tolist(), strict=True):
        what = f"power of gate where a t-test has 80 %{told}"
        yield Measured(what=what, promised=math.nan, found=count / draws, draws=draws, units=units)


def planned_power(population: Population, units: int, draws: int) -> Iterator[Measured]:
    """The power reached with as many documents as `power` asks for; the pilot has `units` documents.

    The pilot's own difference is taken for the true one, as `power` says: pilots are moved to the true one.
    """
    reached = 0.0
    draws = max(20, draws // 10)
    for pair, rng in _cycled(population, draws):
        gaps = population.gaps(pair, 0.0)
        sums, sizes = np.bincount(population.documents, gaps), np.bincount(population.documents)
        wanted = 2.8 * float(sums.std()) / sizes.mean() / math.sqrt(60)  # some 60 documents show it
        sample = population.draw(gaps, units, rng, by_document=True)
        shares = sample.totals.shares[:, 0]
        needed = units_needed(shares - shares.mean() + wanted, resamples=300)
        if needed is not None:
            reached += _power(population, gaps + wanted, needed, rng)
    what = "power: promised by a plan from a pilot, reached"
    yield Measured(what=what, promised=0.8, found=reached / draws, draws=draws * 50, units=units)


def _power(population: Population, gaps: Floats, units: int, rng: np.random.Generator) -> float:
    sums = np.bincount(population.documents, gaps)
    sizes = np.bincount(population.documents)
    rows = rng.integers(0, len(sums), (units, 50))
    shares = sums[rows] / sizes[rows].mean(axis=0)
    return float((sign_flip_p_values(shares, resamples=399) <= 0.05).mean())


GUARANTEES: dict[str, tuple[Guarantee, Sequence[int]]] = {
    "score": (score_by_document, UNITS),
    "rank": (rank_of_all, (10, 30, 100)),
    "score-segments": (score_by_segment, (15, 30, 100, 300)),
    "compare": (compare_by_document, (4, *UNITS)),
    "compare-segments": (compare_by_segment, (15, 30, 100, 300)),
    "gate": (gate_at_the_margin, UNITS),
    "gate-skew": (gate_of_the_most_skewed, UNITS),
    "gate-domains": (gate_with_domains, (60, 170)),
    "gate-critical": (critical_errors, (20, 60, 170)),
    "gate-power": (gate_power, (60, 100, 170)),
    "power": (planned_power, (15, 60)),
}
ALONE: dict[str, tuple[Guarantee, Sequence[int]]] = {
    "gate-rare": (rare_catastrophes, (50, 100, 300, 1000)),
}
"""Those that need no population."""


# What it comes to...


def measured(data: Path, only: Sequence[str], draws: int) -> Iterator[tuple[str, Measured]]:
    """Every guarantee on every population."""
    nowhere = Population(name="made up", scores=np.zeros((2, 1)), documents=np.zeros(1, dtype=np.int64))
    for found, tried in ((populations(data), GUARANTEES), ([nowhere], ALONE)):
        for population in found:
            for name, (guarantee, sizes) in tried.items():
                for units in sizes if not only or name in only else ():
                    for one in guarantee(population, units, draws):
                        yield population.name, one


def cells(rows: Sequence[tuple[str, Measured]]) -> list[list[str]]:
    """One row a guarantee, population and number of units."""
    return [
        [
            one.what,
            name,
            str(one.units),
            one.of,
            "" if math.isnan(one.promised) else f"{one.promised:.2f}",
            f"{one.found:.3f}",
            f"{one.error:.3f}",
            f"{one.draws:,}",
        ]
        for name, one in rows
    ]


def table(rows: Sequence[list[str]]) -> str:
    """Rows of `cells`, by guarantee."""
    columns = ["guarantee", "data", ">units", "of", ">promised", ">measured", ">standard error", ">draws"]
    return render_table(Table(columns=columns, rows=sorted(rows, key=lambda row: row[0])), "markdown")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/coverage.md")
    parser.add_argument(
        "--only", choices=[*GUARANTEES, *ALONE], action="append", default=[], help="some guarantees"
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help="samples of each row")
    wanted = parser.parse_args()
    if not (data := os.environ.get("ADJUDGE_DATA")):
        print("ADJUDGE_DATA is not set: it names the folder with the public test sets")
        return
    began = time.monotonic()
    with remembering():
        found = cells(list(measured(Path(data), wanted.only, wanted.draws)))
    print(table(found))
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    if wanted.write:
        page = PAGE.read_text(encoding="utf-8")
        (old,) = re.findall(r"(?<=<!-- table -->\n\n).*?(?=\n\n<!-- end -->)", page, flags=re.DOTALL)
        known = [[cell.strip() for cell in line[1:-1].split("|")] for line in old.splitlines()[2:]]
        names = {row[0] for row in found}
        others = [row for row in known if wanted.only and row[0] not in names]
        PAGE.write_text(page.replace(old, table([*others, *found])), encoding="utf-8")


if __name__ == "__main__":
    main()
