"""How often `adjudge.analysis.blindness` names blind judges, and people and published metrics by mistake.

Slices of 120 scores are drawn from each metric and each people's file of a WMT folder: at random, from one
system in a row, and as thirty segments in a row of four systems; so are slices of pairs that scores make, of
two systems and of four. Every sign counts as a false alarm, whether it ends in "unfit" or in "not shown to
see". A metric that draws its scores at random is no honest one. Blind judges answer 100 slices of each kind.

    python benchmarks/blindness.py shared/data/complete/wmt23
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adjudge.analysis.blindness import Answers, signs

DRAWS = 40
RUNS = 100
SIZE = 120
KINDS = ("random", "one system", "thirty segments")
PAIRED = ("two systems", "four systems")
NO_METRIC = "Random-sysname"  # scores drawn at random


Place = tuple[str, str, tuple[str, ...]]
"""Language pair, segment and systems."""


class Texts(NamedTuple):
    """Texts of a language pair."""

    lp: str
    sources: Sequence[str]
    outputs: Mapping[str, Sequence[str]]


def read_texts(root: Path) -> Iterator[Texts]:
    """The language pairs of a folder."""
    for source in sorted((root / "sources").glob("*.txt")):
        lp = source.stem
        yield Texts(
            lp=lp,
            sources=source.read_text().split("\n")[:-1],
            outputs={
                p.stem: p.read_text().split("\n")[:-1] for p in (root / "system-outputs" / lp).glob("*.txt")
            },
        )


def tables(root: Path, lp: str) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Each file of segment scores: system to scores, NaN where there is none."""
    files = [
        *(root / "human-scores").glob(f"{lp}.*.seg.score"),
        *(root / "metric-scores" / lp).glob("*.seg.score"),
    ]
    for file in sorted(files):
        found: dict[str, list[float]] = defaultdict(list)
        for line in file.read_text().splitlines():
            system, score = line.split()[:2]
            found[system].append(np.nan if score == "None" else float(score))
        yield file.name.removesuffix(".seg.score"), {name: np.array(own) for name, own in found.items()}


def places(known: np.ndarray, how: str, chance: np.random.Generator) -> list[tuple[int, int]]:
    """Systems and segments of one slice that have a score, in the order in which a judge is asked.

    Args:
        known: systems by segments, whether there is a score.
        how: the kind of slice.
        chance: draws.
    """
    if how == "random":
        return [(i, j) for i, j in chance.permutation(np.argwhere(known))[:SIZE].tolist()]
    segments = np.flatnonzero(known.any(axis=0))
    width = {"one system": 1, "two systems": 2}.get(how, 4)
    length = {"two systems": 2 * SIZE, "four systems": SIZE // 3}.get(how, SIZE // width)
    length = min(length, len(segments))
    start = chance.integers(len(segments) - length + 1)
    systems = np.sort(chance.choice(len(known), width, replace=False)).tolist()
    return [(i, j) for j in segments[start : start + length].tolist() for i in systems if known[i, j]]


def answers(texts: Texts, names: Sequence[str], at: Sequence[tuple[int, int]], scores: np.ndarray) -> Answers:
    """A slice as a judge's answers, those to the same texts once."""
    found: dict[tuple[str, ...], tuple[Place, float]] = {}
    for i, j in at:
        key = texts.sources[j], texts.outputs[names[i]][j]
        place = texts.lp, str(j), (names[i],)
        found.setdefault(key, (place, float(scores[i, j])))
    return _answers(found)


def preferences(
    texts: Texts, names: Sequence[str], at: Sequence[tuple[int, int]], scores: np.ndarray
) -> Answers:
    """The pairs of a slice by their scores, asked in both orders without a lean."""
    found: dict[tuple[str, ...], tuple[Place, float]] = {}
    of_segment: dict[int, list[int]] = defaultdict(list)
    for i, j in at:
        of_segment[j].append(i)
    for j, systems in of_segment.items():
        for a, b in combinations(systems, 2):
            one, other = (texts.outputs[names[i]][j] for i in (a, b))
            if one != other:
                place = texts.lp, str(j), (names[a], names[b])
                found[texts.sources[j], one, other] = place, float(np.sign(scores[a, j] - scores[b, j]))
    return _answers(dict(islice(found.items(), SIZE)), paired=True)


def _answers(
    found: Mapping[tuple[str, ...], tuple[Place, float]],
    *,
    paired: bool = False,
) -> Answers:
    scores = np.array([score for _, score in found.values()])
    said = [("EAB"[int(score)],) * 2 if paired else () for score in scores]
    return Answers(
        places=[place for place, _ in found.values()],
        texts=[*found],
        said=said,
        scores=scores,
    )


Blind = Callable[[int, np.random.Generator], np.ndarray]
"""Scores of so many calls, whatever was asked."""

BLIND: dict[str, Blind] = {
    "one score, whatever is quoted": lambda n, _: np.full(n, -5.0),
    "97 % one rating": lambda n, chance: np.where(chance.random(n) < 0.97, 87, chance.integers(0, 101, n)),
    "97 % clean": lambda n, chance: np.where(chance.random(n) < 0.97, 0, -chance.integers(1, 26, n)),
    "drift": lambda n, _: np.round(95 - 60 * np.arange(n) / n),
    "drift, with noise": lambda n, chance: np.round(95 - 60 * np.arange(n) / n + chance.normal(0, 2, n)),
    "drift, with more noise": lambda n, chance: np.round(95 - 60 * np.arange(n) / n + chance.normal(0, 8, n)),
    "cycle of two": lambda n, _: np.where(np.arange(n) % 2, 60.0, 90),
    "cycle of five": lambda n, _: np.arange(n) % 5 * 10.0 + 50,
    "cycle of two, with noise": lambda n, chance: np.arange(n) % 2 * 20 + chance.integers(50, 61, n),
    "cycle of five, with noise": lambda n, chance: np.arange(n) % 5 * 10 + chance.integers(50, 61, n),
}


def blind(texts: Sequence[Texts], chance: np.random.Generator) -> None:
    """Print how many of 100 runs of each blind judge are named, by kind of slice."""
    named: Counter[tuple[str, str]] = Counter()
    for how in KINDS:
        for run in range(RUNS):
            one = texts[run % len(texts)]
            names = sorted(one.outputs)
            shape = len(names), len(one.sources)
            at = places(np.ones(shape, dtype=bool), how, chance)
            asked = answers(one, names, at, np.zeros(shape))
            n = len(asked.texts)
            for name, judge in BLIND.items():
                scores = judge(n, chance).astype(float)
                named[name, how] += any(signs(asked._replace(scores=scores)))
            by_source: dict[str, float] = {}
            scores = np.array(
                [by_source.setdefault(t[0], float(chance.integers(50, 101))) for t in asked.texts]
            )
            name = "one score for all systems of a source"
            named[name, how] += any(signs(asked._replace(scores=scores)))
    print(f"| named of {RUNS} | {' | '.join(KINDS)} |\n| --- |{' ---: |' * len(KINDS)}")
    for name in (*BLIND, "one score for all systems of a source"):
        print(f"| {name} | {' | '.join(str(named[name, how]) for how in KINDS)} |")
    pairs: Counter[tuple[str, str]] = Counter()
    for how in PAIRED:
        for run in range(RUNS):
            one = texts[run % len(texts)]
            names = sorted(one.outputs)
            shape = len(names), len(one.sources)
            at = places(np.ones(shape, dtype=bool), how, chance)
            asked = preferences(one, names, at, np.zeros(shape))
            n = len(asked.texts)
            orders = [tuple(np.where(chance.random(2) < 0.96, ("A", "B"), ("B", "A"))) for _ in range(n)]
            both = np.array([0.0 if a != b else 1.0 if a == "A" else -1.0 for a, b in orders])
            pairs["the one shown first in 96 %", how] += any(signs(asked._replace(said=orders, scores=both)))
            lengths = np.sign([len(a) - len(b) or 1 for _, a, b in asked.texts])
            won = np.where(chance.random(n) < 0.85, lengths, -lengths).astype(float)
            said = [("AB"[int(v < 0)],) * 2 for v in won]
            pairs["the longer in 85 %", how] += any(signs(asked._replace(said=said, scores=won)))
    print(f"\n| named of {RUNS} | {' | '.join(PAIRED)} |\n| --- |{' ---: |' * len(PAIRED)}")
    for name in dict.fromkeys(name for name, _ in pairs):
        print(f"| {name} | {' | '.join(str(pairs[name, how]) for how in PAIRED)} |")


def main() -> None:
    """Print how many blind judges are named, and how many slices of people and metrics, by kind of slice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    root, chance = options.root, np.random.default_rng(0)
    every = [*read_texts(root)]
    blind(every, chance)
    alarms: Counter[tuple[str, str]] = Counter()
    drawn: Counter[tuple[str, str]] = Counter()
    worst: Counter[str] = Counter()
    for texts in every:
        people = {p.name.removesuffix(".seg.score") for p in (root / "human-scores").glob("*.seg.score")}
        for name, table in tables(root, texts.lp):
            systems = [s for s, own in table.items() if s in texts.outputs and len(own) == len(texts.sources)]
            if len(systems) < 4 or name.startswith(NO_METRIC):
                continue
            whose = "people" if name in people else "metrics"
            scores = np.array([table[s] for s in systems])
            for how in (*KINDS, *PAIRED):
                for _ in range(options.draws):
                    at = places(~np.isnan(scores), how, chance)
                    made = (preferences if how in PAIRED else answers)(texts, systems, at, scores)
                    found = [*signs(made)] if len(made.texts) >= SIZE // 2 else None
                    if found is not None:
                        drawn[whose, how] += 1
                        alarms[whose, how] += bool(found)
                        worst[f"{texts.lp} {name}, {how}"] += bool(found)
    print("\n| slices of 120 | of | drawn | named | share |\n| --- | --- | ---: | ---: | ---: |")
    for (whose, how), number in sorted(drawn.items()):
        crossed = alarms[whose, how]
        print(f"| {how} | {whose} | {number:,} | {crossed} | {crossed / number:.2%} |")
    for name, number in worst.most_common(5):
        print(f"most: {name}: {number} of {options.draws}")


if __name__ == "__main__":
    main()
