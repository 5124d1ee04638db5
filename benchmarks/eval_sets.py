"""What reading an eval set takes: all score files of a large language pair.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/eval_sets.py [--write]

`--write` puts the figures into docs/benchmark-tables.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from adjudge.analysis.eval_set import EvalSet
from adjudge.analysis.eval_set_files import read_eval_set
from adjudge.reports.tables import Table, render_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

TITLE = "Reading eval sets"
LP = "zh-en"
METRICS = 68  # of the WMT23 folder; the files at hand are repeated under other names
THEIRS = 1.05  # CPU seconds of mt-metrics-eval for these score files, measured once on another machine
INTRODUCTION = f"""\
`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/eval_sets.py --write`

CPU time of this process, the best of five: a folder like that of WMT23 {LP}, with {METRICS} metrics of
segments and systems. mt-metrics-eval took {THEIRS} s for the same files, on another machine."""


def main() -> None:
    """Measure and print."""
    wanted = make_parser(__doc__).parse_args()
    if (data := find_data()) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        found = link(data / "wmt23", Path(folder) / "wmt23")
        text = f"{INTRODUCTION}\n\n{measure(found)}"
    show(TITLE, text, write=wanted.write)


def link(source: Path, folder: Path) -> Path:
    """Make a folder with as many metrics as WMT23 has."""
    for file in source.rglob(f"{LP}*"):
        target = folder / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.parent.name == "metric-scores":
            target.mkdir()
        else:
            target.symlink_to(file)
    stems = sorted(
        {f.name.removesuffix(".seg.score") for f in (source / "metric-scores" / LP).glob("*.seg.score")}
    )
    for number in range(METRICS):
        stem = stems[number % len(stems)]
        name, _, reference = stem.rpartition("-")
        for level in ("seg", "sys"):
            new = folder / "metric-scores" / LP / f"{name}{number}-{reference}.{level}.score"
            new.symlink_to(source / "metric-scores" / LP / f"{stem}.{level}.score")
    return folder


def measure(folder: Path) -> str:
    """Read five times."""
    times = []
    found: EvalSet | None = None
    for _ in range(5):
        start = time.process_time()
        found = read_eval_set(folder, LP, gold=["mqm"])
        times.append(time.process_time() - start)
    assert found is not None
    assert len(found.metrics) == METRICS
    scores = sum(metric.segments.size for metric in found.metrics.values())
    row = [f"{METRICS}", f"{scores:,}", f"{min(times):.2f} s", f"{1e6 * min(times) / scores:.2f} µs"]
    columns = [">metrics", ">scores of segments", ">CPU", ">a score"]
    return render_table(Table(columns=columns, rows=[row]), "markdown")


if __name__ == "__main__":
    main()
