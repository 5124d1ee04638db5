"""How much memory and time a metric takes by the number of segments: `adjudge run chrf`, one system.

Segments are made from a seed: 20 words, some of which the translation has changed.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from page import make_parser, show

from adjudge.core.segment import Segment, TestSet
from adjudge.store.json_lines import write_test_set

AMOUNTS = (20_000, 200_000)
METRICS = ("chrf", "bleu")
TEXT = """`.venv/bin/python benchmarks/metrics.py --write`

`adjudge run METRIC` on one system and one reference, 20 words a segment. The most memory is that of the
process, with the test set and the records. Wanted: under 1 GB for 200,000 segments.

| metric | segments | s | most memory, MB |
| --- | ---: | ---: | ---: |
"""


def segments(amount: int) -> Iterator[Segment]:
    """Make segments that differ."""
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(5000)
    ]
    for number in range(amount):
        reference = chance.choices(words, k=20)
        translation = [chance.choice(words) if chance.random() < 0.3 else word for word in reference]
        yield Segment(
            segment=str(number + 1),
            lp="en-de",
            source=" ".join(reversed(reference)),
            translations={"Alder": " ".join(translation)},
            references={"refA": " ".join(reference)},
        )


def main() -> None:
    """Run each metric in a process of its own."""
    arguments = make_parser(__doc__).parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for amount in AMOUNTS:
            path = Path(folder) / f"{amount}.jsonl"
            write_test_set(path, TestSet(name="made", segments=tuple(segments(amount))))
            for metric in METRICS:
                out = Path(folder) / f"{metric}-{amount}"
                seconds, memory = run("run", metric, str(path), "--out", str(out))
                rows.append(f"| {metric} | {amount:,} | {seconds:.0f} | {memory:,.0f} |")
                print(rows[-1], flush=True)
    show("Metrics: memory and time", TEXT + "\n".join(rows), write=arguments.write)


def run(*arguments: str) -> tuple[float, float]:
    """Seconds and MB of one command."""
    program = (
        "import resource, sys; from adjudge.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return time.monotonic() - began, int(done.stdout.splitlines()[-1]) / 1000


if __name__ == "__main__":
    main()
