"""How well `adjudge align` finds segments again whose lines were merged, broken, lost and added.

`python benchmarks/alignment.py DIR`, DIR with the folder wmt23 of mt-metrics-eval. Every system's lines are
damaged at random, document by document, aligned again, and compared with what they were.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from adjudge.analysis.align import align_texts, pieces_of
from adjudge.core.segment import TestSet
from adjudge.formats.read import load


def damage(
    lines: Sequence[str], rate: float, rng: random.Random, foreign: Sequence[str]
) -> tuple[str, list[str]]:
    """Merge, split, drop and add lines; the text, and what stands in it of each line."""
    text, kept = "", []
    for line in lines:
        own = line.strip()
        if rng.random() < rate / 4:
            kept.append("")
            continue
        if rng.random() < rate / 4:
            text += rng.choice(foreign).strip() + "\n"
        parts = pieces_of(own)
        if len(parts) > 1 and rng.random() < rate:
            cut = rng.randrange(1, len(parts))
            own = "".join(parts[:cut]).rstrip() + "\n" + "".join(parts[cut:])
        text += own + (" " if rng.random() < rate else "\n")
        kept.append(own)
    return text, kept


def measure(test_set: TestSet, system: str, rate: float, *, with_reference: bool) -> tuple[int, int, int]:
    """Segments, those recovered exactly, and those recovered to 90 % of their characters."""
    rng = random.Random(f"{system} {rate}")
    documents: dict[str, list[int]] = {}
    for place, segment in enumerate(test_set):
        documents.setdefault(segment.document, []).append(place)
    foreign = [s.translations[system] for s in test_set if s.translations[system].strip()]
    total = exact = near = 0
    for places in documents.values():
        segments = [test_set.segments[place] for place in places]
        text, kept = damage([s.translations[system] for s in segments], rate, rng, foreign)
        pieces = pieces_of(text)
        references = [next(iter(s.references.values())) for s in segments] if with_reference else []
        groups = align_texts([s.source for s in segments], references, pieces)
        found = [""] * len(segments)
        for (first, _), (begin, end) in groups:
            found[first] = "".join(pieces[begin:end])
        for own, wanted in zip(found, kept, strict=True):
            a, b = "".join(own.split()), "".join(wanted.split())
            total += 1
            exact += a == b
            near += a == b or (
                bool(a and b) and (a in b or b in a) and min(len(a), len(b)) >= 0.9 * max(len(a), len(b))
            )
    return total, exact, near


def main() -> None:
    """Print one row a language pair, rate and way."""
    folder = Path(sys.argv[1]) / "wmt23"
    print("| lp | rate | reference | segments | exact | to 90 % |\n| --- | ---: | --- | ---: | ---: | ---: |")
    for lp in ("en-de", "zh-en"):
        test_set = load(folder, lp)
        systems = [s for s in test_set.systems if s not in test_set.references][:4]
        for rate in (0.05, 0.2, 0.5):
            for with_reference in (False, True):
                counts = [measure(test_set, s, rate, with_reference=with_reference) for s in systems]
                total, exact, near = (sum(c) for c in zip(*counts, strict=True))
                told = f"{exact / total:.1%} | {near / total:.1%}"
                way = "yes" if with_reference else "no"
                print(f"| {lp} | {rate:.0%} | {way} | {total:,} | {told} |", flush=True)
    test_set = load(folder, "zh-en")
    sources = [s.source for s in test_set] * 5
    text = "\n".join(s.translations[test_set.systems[0]] for s in test_set)
    pieces = pieces_of("\n".join([text] * 5))
    start = time.process_time()
    align_texts(sources, [], pieces)
    took = time.process_time() - start
    print(f"\n{len(sources):,} segments and {len(pieces):,} pieces in one text: {took:.1f} s of CPU")


if __name__ == "__main__":
    main()
