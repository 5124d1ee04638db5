"""How often people and published metrics would be called blind: false alarms of `adjudge.analysis.blindness`.

Slices of 64 scores are drawn from each metric and each people's file of a WMT folder: at random, from one
system in a row, and as sixteen segments in a row of four systems. The rules and a perfect model are tests.

    python benchmarks/blindness.py shared/data/complete/wmt23
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from adjudge.analysis.blindness import MOST_ALIKE, MOST_BY_LENGTH, association

DRAWS = 200
SIZE = 64


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


def places(scores: np.ndarray, how: str, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Systems and segments of one slice, those without a score left out."""
    known = np.flatnonzero(~np.isnan(scores).all(axis=0))
    if how == "random":
        every = np.argwhere(~np.isnan(scores))
        return tuple(chance.permutation(every)[:SIZE].T)  # type: ignore[return-value]
    width = 1 if how == "one system" else 4
    start = chance.integers(len(known) - SIZE // width + 1)
    systems = chance.choice(len(scores), width, replace=False)
    i, j = (a.ravel() for a in np.meshgrid(systems, known[start : start + SIZE // width]))
    kept = ~np.isnan(scores[i, j])
    return i[kept], j[kept]


def main() -> None:
    """Print how many slices in a thousand cross a limit, by kind of slice and by sign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    root, chance = parser.parse_args().root, np.random.default_rng(0)
    alarms: Counter[tuple[str, str]] = Counter()
    drawn: Counter[str] = Counter()
    worst: Counter[str] = Counter()
    for source in sorted((root / "sources").glob("*.txt")):
        lp, texts = source.stem, source.read_text().split("\n")[:-1]
        outputs = {
            p.stem: p.read_text().split("\n")[:-1] for p in (root / "system-outputs" / lp).glob("*.txt")
        }
        for name, table in tables(root, lp):
            systems = [s for s, own in table.items() if s in outputs and len(own) == len(texts)]
            if len(systems) < 4:
                continue
            scores = np.array([table[s] for s in systems])
            for how in ("random", "one system", "sixteen segments"):
                crossed = 0
                for _ in range(DRAWS):
                    i, j = places(scores, how, chance)
                    if len(i) < 48:
                        continue
                    drawn[how] += 1
                    chosen = [outputs[systems[a]][b] for a, b in zip(i, j, strict=True)]
                    lengths = (
                        [len(t) for t in chosen],
                        [len(t.split()) for t in chosen],
                        [len(texts[b]) for b in j],
                    )
                    found = [association(scores[i, j], np.array(x, float)) for x in lengths]
                    alike = Counter(scores[i, j]).most_common(1)[0][1] > MOST_ALIKE * len(i)
                    by_length = any(f is not None and abs(f) > MOST_BY_LENGTH for f in found)
                    alarms[how, "the same answer"] += alike
                    alarms[how, "length"] += by_length
                    crossed += alike or by_length
                worst[f"{lp} {name}, {how}"] = crossed
    print("| slices of 64 | drawn | the same answer | length |\n| --- | ---: | ---: | ---: |")
    for how, number in drawn.items():
        shares = [f"{alarms[how, sign] / number:.2%}" for sign in ("the same answer", "length")]
        print(f"| {how} | {number:,} | {' | '.join(shares)} |")
    for name, number in worst.most_common(5):
        print(f"most: {name}: {number} of {DRAWS}")


if __name__ == "__main__":
    main()
