"""How long a report of 30,000 segments takes to write, how large it is, and how soon a browser can filter it.

Segments are those of wmt23 en-de (`ADJUDGE_DATA`), again and again, each text with its number behind it so
that no two are equal. Judged by people (MQM, as a judge's run), by people again (DA+SQM) and by two metrics.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from page import find_data, make_parser, write_section

from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run, RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.mtme import read_mtme
from adjudge.formats.read import read_content
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import write_run_info

if TYPE_CHECKING:
    from playwright.sync_api import Page

LP = "en-de"
SYSTEMS = ("GPT4-5shot", "ONLINE-W")
JUDGE = "human-scores/en-de.mqm.merged.seg.rating"
METRICS = {name: f"metric-scores/en-de/{name}.seg.score" for name in ("COMET-refA", "chrF-refA")}
TRIES = 3
TEXT = """`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/report.py --write`

A report of segments of wmt23 en-de, again and again, each text with a number behind it so that no two are
equal: by people as a judge's run (MQM, with spans), alone; then with two metrics, and people again (DA+SQM)
as gold. The command with its start and its reading, best of three, by the clock and of CPU; then Chromium,
from asking for the file until segments stand there, until a filter chosen at once is applied, and what a
search takes. Wanted: written in 5 s, 20 MB, usable within 2 s.

Figures are drawn by a second process while this one packs segments: CPU s is that of both.

| annotators | segments | systems | judgements | s | CPU s | MB | shown, s | filtered, s | search, s |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
PEOPLE = "human-scores/en-de.da-sqm.seg.score"


def tiled(segments: Iterable[Segment], amount: int, systems: tuple[str, ...]) -> Iterator[Segment]:
    """The segments again and again, each with the number of its round, until there are enough."""
    own = [replace(s, translations={n: s.translations[n] for n in systems}, references={}) for s in segments]
    for index in range(amount):
        turn, s = index // len(own), own[index % len(own)]
        texts = {name: f"{text} {turn}" for name, text in s.translations.items()}
        yield replace(
            s,
            segment=f"{turn}-{s.segment}",
            document=f"{turn}-{s.document}",
            source=f"{s.source} {turn}",
            translations=texts,
        )


def repeated(records: Iterable[Record], test_set: TestSet) -> Iterator[Record]:
    """Each segment's records, for every round of it."""
    known: dict[str, list[Record]] = {}
    for record in records:
        known.setdefault(record.segment, []).append(record)
    for s in test_set:
        for record in known.get(s.segment.split("-", 1)[1], ()):
            if isinstance(record, Annotation) and record.system in s.translations:
                yield replace(record, segment=s.segment, document=s.document)


def run_of(name: str, records: Iterable[Record], test_set: TestSet, protocol: str) -> Run:
    """A run whose annotator said all that."""
    own = tuple(replace(r, annotator=name) for r in repeated(records, test_set))
    fields = {"model": "local/tiled"} if protocol == "mqm" else {}
    info = RunInfo(
        signature=Signature(name, fields | {"seed": "0", "version": "0.1.0"}),
        kind="judge" if protocol == "mqm" else "metric",
        annotator=name,
        protocol=protocol,
        weights="mqm-google" if protocol == "mqm" else None,
        counts={"judged": len(own), "failed": 0, "pending": 0},
        calls={"asked": len(own)},
        tokens={"prompt": 900 * len(own), "completion": 150 * len(own)},
        price=0.0004 * len(own),
        currency="USD",
    )
    return Run(info=info, test_set=test_set, records=own)


def write_inputs(
    data: Path, folder: Path, amount: int, systems: tuple[str, ...]
) -> tuple[list[str], list[int]]:
    """Write the runs and the gold; the arguments of `adjudge report` for them, and the judgements of each."""
    whole = read_mtme(data, LP)
    test_set = TestSet(name="tiled", segments=tuple(tiled(whole, amount, systems)))

    def read(path: str) -> tuple[Record, ...]:
        return tuple(read_content(data / path, test_set=whole).records or ())

    runs = [run_of("mqm-judge", read(JUDGE), test_set, "mqm")]
    runs += [run_of(name, read(path), test_set, "metric") for name, path in METRICS.items()]
    for run in runs:
        place = folder / run.info.annotator
        place.mkdir(exist_ok=True)
        write_run_info(place, run.info)
        write_test_set(place / "test_set.jsonl", run.test_set)
        write_records(place / "records.jsonl", run.records)
    gold = folder / "people.jsonl"
    by_people = list(repeated(read(PEOPLE), test_set))
    write_records(gold, by_people)
    counts = [*(len(run.records) for run in runs), len(by_people)]
    return [*(str(folder / run.info.annotator) for run in runs), "--gold", str(gold)], counts


def write_report(arguments: list[str], out: Path) -> tuple[float, float]:
    """Seconds that the command takes, its start included, by the clock and of CPU: the best of three."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [
        str(Path(sys.executable).parent / "adjudge"),
        "report",
        *arguments,
        "--out",
        str(out),
        "--force",
    ]
    found = []
    for _ in range(TRIES):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 (our own)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((time.perf_counter() - start, spent))
    return min(wall for wall, _ in found), min(spent for _, spent in found)


def open_report(path: Path) -> tuple[float, float, float]:
    """Seconds until segments stand there, until a filter chosen at once is applied, and of a search."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        found = [_opened(browser.new_page(), path) for _ in range(TRIES)]
        browser.close()
    return tuple(map(min, zip(*found, strict=True)))  # type: ignore[return-value]


def _opened(page: Page, path: Path) -> tuple[float, float, float]:
    """Open the page once; all times by the browser's own clock, from the moment it was asked for the file."""
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("#list > li")
    shown = page.evaluate("performance.now()") / 1000
    page.select_option("select[name=severity]", "major")
    page.locator("#shown", has_text="that match").wait_for()
    filtered = page.evaluate("performance.now()") / 1000
    page.fill("input[name=search]", "Haus")
    page.wait_for_selector("#list:not([aria-busy])", state="attached")
    searched = page.evaluate("performance.now()") / 1000 - filtered
    page.close()
    return shown, filtered, searched


def measure(data: Path, folder: Path, amount: int, systems: tuple[str, ...], *, alone: bool) -> list[str]:
    """A row of the table; of the judge alone, or of all annotators."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs, counts = write_inputs(data, folder, amount, systems)
    inputs, counts = (inputs[:1], counts[:1]) if alone else (inputs, counts)
    out = folder / "report.html"
    wall, spent = write_report(inputs, out)
    shown, filtered, searched = open_report(out)
    return [
        str(len(counts)),
        f"{amount:,}",
        str(len(systems)),
        f"{sum(counts):,}",
        f"{wall:.1f}",
        f"{spent:.1f}",
        f"{out.stat().st_size / 1e6:.1f}",
        f"{shown:.1f}",
        f"{filtered:.1f}",
        f"{searched:.1f}",
    ]


def main() -> None:
    """Measure, and with --write put the figures into docs/benchmark-tables.md."""
    parser = make_parser(__doc__)
    parser.add_argument("--segments", type=int, default=30_000)
    parser.add_argument("--keep", type=Path, help="folder for inputs and reports, kept")
    chosen = parser.parse_args()
    if (data := find_data()) is None:
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        rows = []
        for systems, alone in ((SYSTEMS[:1], True), (SYSTEMS[:1], False), (SYSTEMS, False)):
            place = folder / str(len(systems))
            rows.append(measure(data / "wmt23", place, chosen.segments, systems, alone=alone))
            print(" ".join(rows[-1]), flush=True)
    if chosen.write:
        write_section("A large report", TEXT + "\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
