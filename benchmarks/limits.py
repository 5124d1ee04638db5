"""How the time of the checks grows with the length of a text: seconds at 25 kB and 100 kB, and their ratio.

Texts are repetitions that a regular expression or a comparison might take quadratic time for. A ratio of 4 is
linear, 16 quadratic.
"""

from __future__ import annotations

import time
from itertools import count

from page import make_parser, show

from adjudge.checks import find_errors
from adjudge.checks.attacks import find_attacks

LENGTH = 100_000
UNITS = (
    "\n",
    "1 ",
    "1'",
    "12:30 ",
    "#:30 ",
    "3.#.2020 ",
    "+49 30 #000 ",
    "AB#X ",
    "<a#>",
    "%(a)0",
    "a b#",
    "百",
    "hundred ",
)
MOST_SECONDS, MOST_RATIO = 2.0, 8.0
TEXT = """`.venv/bin/python benchmarks/limits.py --write`

CPU seconds of all checks and detectors on a source and a translation that repeat something (`#`: a number
that grows), at 25 kB and at 100 kB. A ratio of 4 is linear, 16 quadratic. Wanted: 2 s at 100 kB,
a ratio below 8.

| repeated | 25 kB, s | 100 kB, s | ratio |
| --- | ---: | ---: | ---: |
"""


def text_of(unit: str, length: int) -> str:
    """Repeat a unit."""
    found, size = [], 0
    for number in count(100):
        found.append(unit.replace("#", str(number)))
        size += len(found[-1])
        if size >= length:
            break
    return "".join(found)


def seconds(unit: str, length: int) -> float:
    """CPU seconds; the better of two."""
    text, times = text_of(unit, length), []
    for _ in range(2):
        began = time.process_time()
        find_errors(text, text + " 7", "en-de")
        find_attacks.__wrapped__(text)
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    """Print the table, and fail where a text took too long."""
    arguments = make_parser(__doc__).parse_args()
    rows = []
    for unit in UNITS:
        short, long = seconds(unit, LENGTH // 4), seconds(unit, LENGTH)
        rows.append(f"| `{unit!r}` | {short:.2f} | {long:.2f} | {long / short:.1f} |")
        assert long < MOST_SECONDS, unit
        assert long < 0.1 or long / short < MOST_RATIO, unit
    show("Checks of long texts", TEXT + "\n".join(rows), write=arguments.write)


if __name__ == "__main__":
    main()
