"""How often the detectors of attacks flag clean translations, and how many attacks of ours they find.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/attacks.py [--write]

`--write` puts the figures into docs/benchmark-tables.md. Without ADJUDGE_DATA clean translations are not
counted.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from adjudge.checks.attacks import DETECTORS, find_attacks
from adjudge.formats.read import load

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)
from tests.attacks.corpus import ATTACKS, KINDS  # noqa: E402 (found by the line above)

CLEAN = (("wmt23", "en-de"), ("wmt23", "zh-en"), ("ment", "zh-en"))
TITLE = "Detectors of attacks"


def main() -> None:
    """Measure and print."""
    wanted = make_parser(__doc__).parse_args()
    data = find_data()
    lines = [
        "`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/attacks.py --write`",
        "",
        "Flagged translations of public test sets, in which nobody attacks a judge. The bound is 0.5 %.",
        "What `padding` flags here is output that says the same again and again.",
        "",
        *(clean_table(data) if data else ["Not measured: ADJUDGE_DATA is not set."]),
        "",
        "Flagged attacks of our own corpus (`tests/attacks/corpus.py`). The detectors were written with them",
        "in view, so this is no estimate for attacks of others. Hidden characters (13 to 15) must all be",
        "found, which a test holds.",
        "",
        *corpus_table(),
    ]
    text = "\n".join(lines)
    show(TITLE, text, write=wanted.write)


def clean_table(data: Path) -> Iterator[str]:
    """One row a test set."""
    yield "| test set | translations | flagged | share | µs a text | by |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for name, lp in CLEAN:
        segments = load(data / name, lp=lp).segments
        texts = list(dict.fromkeys(text for s in segments for text in s.translations.values()))
        find_attacks.cache_clear()
        began = time.process_time()
        flagged, by = count(texts)
        cost = (time.process_time() - began) / len(texts)
        names = ", ".join(f"{detector} {by[detector]}" for detector in DETECTORS if by[detector]) or "none"
        share = flagged / len(texts)
        yield f"| {name} {lp} | {len(texts):,} | {flagged} | {share:.3%} | {cost * 1e6:.0f} | {names} |"


def corpus_table() -> Iterator[str]:
    """One row a kind."""
    yield "| kind | strings | flagged | share |"
    yield "| --- | ---: | ---: | ---: |"
    for kind in KINDS:
        texts = [attack.text for attack in ATTACKS if attack.kind == kind]
        flagged, _ = count(texts)
        yield f"| {kind} | {len(texts)} | {flagged} | {flagged / len(texts):.1%} |"
    flagged, _ = count(attack.text for attack in ATTACKS)
    yield f"| all | {len(ATTACKS)} | {flagged} | {flagged / len(ATTACKS):.1%} |"


def count(texts: Iterable[str]) -> tuple[int, Counter[str]]:
    """Texts that are flagged, and how many of them by each detector."""
    flagged, by = 0, Counter[str]()
    for text in texts:
        names = {one.detector for one in find_attacks(text)}
        flagged += bool(names)
        by.update(names)
    return flagged, by


if __name__ == "__main__":
    main()
