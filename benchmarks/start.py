"""What it takes until adjudge is there, and until its first jobs are done.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/start.py [--write]

Each command is a process of its own, and so is the bare interpreter that it stands beside: CPU time of user
and system together, the median of several, taken in turn so that a busy machine burdens all alike. `--write`
puts the figures into docs/benchmark-tables.md. Without ADJUDGE_DATA the job on WMT23 is left out.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from adjudge.reports.tables import Table, render_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

TITLE = "Start"
ADJUDGE = (str(Path(sys.executable).with_name("adjudge")),)
BARE = "python -c pass"
STARTS = {
    BARE: (sys.executable, "-c", "pass"),
    "python -c 'import adjudge'": (sys.executable, "-c", "import adjudge"),
    "python -c 'import numpy'": (sys.executable, "-c", "import numpy"),
    "adjudge --help": (*ADJUDGE, "--help"),
    "adjudge list judges": (*ADJUDGE, "list", "judges"),
}
DEMO = "adjudge demo --out DIR"
WMT23 = (
    *("gemba-mqm", "--lp", "en-de", "--systems", "refA,ONLINE-B", "--limit", "200"),
    *("--model", "builtin/rules"),
)


class Cost(NamedTuple):
    """Seconds: CPU of user and system together, and on the clock."""

    cpu: float
    wall: float


def main() -> None:
    """Measure and print."""
    parser = make_parser(__doc__)
    parser.add_argument("--times", type=int, default=15, help="how often each start is measured")
    wanted = parser.parse_args()
    text = "\n".join(
        [
            "`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/start.py --write`",
            "",
            f"CPU time of user and system, the median of {wanted.times} starts taken in turn, beside an",
            "interpreter that does nothing.",
            "",
            starts_table(wanted.times),
            "Whole jobs with the embedded rules, the median of three:",
            "",
            jobs_table(find_data()),
        ]
    )
    show(TITLE, text, write=wanted.write)


def starts_table(times: int) -> str:
    """One row a command that does next to nothing."""
    found: dict[str, list[Cost]] = {name: [] for name in STARTS}
    for _ in range(times + 1):
        for name, command in STARTS.items():
            found[name].append(cost_of(command))
    cpu = {name: median(costs[1:]).cpu for name, costs in found.items()}  # the first one compiles
    rows = [[f"`{name}`", f"{spent * 1e3:.0f}", f"{spent / cpu[BARE]:.1f}"] for name, spent in cpu.items()]
    return render_table(Table(columns=["command", ">CPU ms", ">times bare"], rows=rows), "markdown")


def jobs_table(data: Path | None) -> str:
    """One row a job."""
    with tempfile.TemporaryDirectory() as folder:
        jobs: dict[str, Callable[[str], Sequence[str]]] = {
            DEMO: lambda n: ("demo", "--out", f"{folder}/demo{n}")
        }
        if data is not None:
            judge, *options = WMT23
            told = f"adjudge run {judge} WMT23 {' '.join(options)} --out DIR"
            jobs[told] = lambda n: ("run", judge, str(data / "wmt23"), *options, "--out", f"{folder}/run{n}")
        costs = {
            name: median([cost_of((*ADJUDGE, *arguments(str(n)))) for n in range(3)])
            for name, arguments in jobs.items()
        }
    rows = [[f"`{name}`", f"{cost.cpu:.1f}", f"{cost.wall:.1f}"] for name, cost in costs.items()]
    return render_table(Table(columns=["job", ">CPU s", ">seconds"], rows=rows), "markdown")


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command to its end; what it says is of no interest unless it fails.

    Raises:
        SystemExit: it failed.
    """
    before, began = cpu_of_children(), time.perf_counter()
    ended = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 (ours)
    cost = Cost(cpu_of_children() - before, time.perf_counter() - began)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.strip()}")
    return cost


def cpu_of_children() -> float:
    """Seconds that ended children of this process have taken."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def median(costs: Sequence[Cost]) -> Cost:
    """Of each figure on its own."""
    return Cost(*(statistics.median(figures) for figures in zip(*costs, strict=True)))


if __name__ == "__main__":
    main()
