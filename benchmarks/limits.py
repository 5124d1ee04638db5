"""How the time of the checks grows with the length of a text, and that of reading XLIFF with its size.

Texts are repetitions that a regular expression or a comparison might take quadratic time for. A ratio of 4 is
linear, 16 quadratic.
"""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from page import make_parser, show

from adjudge.checks import find_errors
from adjudge.checks.attacks import find_attacks
from adjudge.formats.xliff import read_judged_xliff

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


UNIT = (
    '<trans-unit id="{0}"><source>The cat {0} slept on the <g id="1">sofa</g>.</source>'
    '<target state="translated">Die Katze {0} schlief auf dem <g id="1">Sofa</g>.</target></trans-unit>\n'
)
READERS = """`.venv/bin/python benchmarks/limits.py --write`

CPU seconds to read XLIFF with its judgements, a quarter of the file and all of it. A ratio of 4 is linear.
Before attributes that say nothing were passed over, the first file took 3 times as long. Of the second kind,
a file of 7,000 segments took 47 s.

| file | megabytes | a quarter, s | all, s | ratio |
| --- | ---: | ---: | ---: | ---: |
"""


def xliff_of(kind: str, units: int) -> str:
    """XLIFF 1.2 of many units, or XLIFF 2 of one unit with many segments."""
    if kind == "1.2, many units":
        body = "".join(UNIT.format(number) for number in range(units))
        file = f'<file source-language="en" target-language="de"><body>{body}</body></file>'
        return f'<xliff version="1.2">{file}</xliff>'
    body = "<segment><source>A cat.</source><target>Eine Katze.</target></segment>\n" * units
    file = f'<file id="a"><unit id="u">{body}</unit></file>'
    return f'<xliff version="2.0" srcLang="en" trgLang="de">{file}</xliff>'


def seconds_to_read(text: str) -> float:
    """CPU seconds; the better of two."""
    times = []
    with TemporaryDirectory() as folder:
        (path := Path(folder) / "x.xlf").write_text(text)
        for _ in range(2):
            began = time.process_time()
            read_judged_xliff(path)
            times.append(time.process_time() - began)
    return min(times)


def show_readers(*, write: bool) -> None:
    """Print the table of readers, and fail where one is not linear."""
    rows = []
    for kind in ("1.2, many units", "2, one unit of many segments"):
        long = xliff_of(kind, 40_000)
        low, high = seconds_to_read(xliff_of(kind, 10_000)), seconds_to_read(long)
        rows.append(f"| {kind} | {len(long) / 1e6:.1f} | {low:.2f} | {high:.2f} | {high / low:.1f} |")
        assert high / low < MOST_RATIO, kind
    show("Reading long XLIFF", READERS + "\n".join(rows), write=write)


def main() -> None:
    """Print the tables, and fail where something took too long."""
    arguments = make_parser(__doc__).parse_args()
    show_readers(write=arguments.write)
    rows = []
    for unit in UNITS:
        short, long = seconds(unit, LENGTH // 4), seconds(unit, LENGTH)
        rows.append(f"| `{unit!r}` | {short:.2f} | {long:.2f} | {long / short:.1f} |")
        assert long < MOST_SECONDS, unit
        assert long < 0.1 or long / short < MOST_RATIO, unit
    show("Checks of long texts", TEXT + "\n".join(rows), write=arguments.write)


if __name__ == "__main__":
    main()
