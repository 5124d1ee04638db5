"""What `--engine ray` costs beside a local run: to start, and for each unit of work.

The embedded rules judge, so that nothing is waited for and all that is measured is ours and Ray's. Needs Ray
(`make with-ray`) and says so where it is not there.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from adjudge.core.segment import Segment, TestSet
from adjudge.reports.tables import Table, render_table
from adjudge.runs.engines import carry_out
from adjudge.runs.job import prepare
from adjudge.runs.ray import Fleet
from adjudge.store.json_lines import write_test_set

SYSTEMS = "ABCDEFGHIJ"


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=20_000, help="translations to judge")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        print(json.dumps(judge(Path(args.part[0]), args.part[1])))
    elif importlib.util.find_spec("ray") is None:
        print("Ray is not installed: `make with-ray` installs it. Nothing was measured.")
    else:
        compare(args.units)


def compare(units: int) -> None:
    """Print what each way to judge a test set takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size, file in ((len(SYSTEMS), "few.jsonl"), (units, "many.jsonl")):
            write_test_set(folder / file, made(size // len(SYSTEMS)))
        start = {engine: part(folder / f"few-{engine}", engine) for engine in ("local", "ray")}
        many = {engine: part(folder / f"many-{engine}", engine) for engine in ("local", "ray")}
        records = {(path / "records.jsonl").read_bytes() for path in folder.glob("many-*") if path.is_dir()}
        assert len(records) == 1, "the records differ"
    rows = []
    for engine in ("local", "ray"):
        few, cost = start[engine], many[engine]
        rows.append([f"{len(SYSTEMS)} units, {engine}", f"{few['seconds']:.1f}", f"{few['cpu']:.1f}", ""])
        each = (cost["cpu"] - few["cpu"]) / units * 1e6
        rows.append(
            [f"{units:,} units, {engine}", f"{cost['seconds']:.1f}", f"{cost['cpu']:.1f}", f"{each:.0f}"]
        )
    heads = ["", ">seconds", ">CPU s, all processes", ">CPU µs a unit, without the start"]
    print(render_table(Table(columns=heads, rows=rows), "markdown"))
    print("Records are equal, byte for byte.")


def made(segments: int) -> TestSet:
    """Segments in which every translation is another text."""
    return TestSet(
        name="made",
        segments=tuple(
            Segment(
                segment=str(number),
                lp="en-de",
                source=f"Train {number} leaves from platform {number % 40} in {number % 7} minutes.",
                translations={
                    name: f"Zug {number} fährt in {number % 7} Minuten von Gleis {number % 40}, sagt {name}."
                    for name in SYSTEMS
                },
            )
            for number in range(segments)
        ),
    )


def judge(out: Path, engine: str) -> dict[str, float]:
    """One run, from a process that has just started; what it and all that it started took."""
    others = 0.0
    stop = Fleet.stop

    async def counting(fleet: Fleet, lanes: list[asyncio.Task[None]]) -> None:
        nonlocal others
        others = cpu_of_descendants()
        await stop(fleet, lanes)

    Fleet.stop = counting  # type: ignore[method-assign,assignment]
    began = time.perf_counter()
    asyncio.run(carry_out(prepare("gemba-mqm", file_of(out), out=out, engine=engine, model="builtin/rules")))
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() + others}


def cpu_of_descendants() -> float:
    """CPU seconds of every process that this one started, or that those started."""
    parents, seconds, ticks = {}, {}, os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / ticks

    def descends(process: int) -> bool:
        while process and process != os.getpid():
            process = parents.get(process, 0)
        return bool(process)

    return sum(cpu for process, cpu in seconds.items() if process != os.getpid() and descends(process))


def file_of(out: Path) -> Path:
    """The test set of a run directory."""
    return out.with_name(f"{out.name.partition('-')[0]}.jsonl")


def part(out: Path, engine: str) -> dict[str, float]:
    """What `judge` gives in a process of its own."""
    command = [sys.executable, __file__, "--part", str(out), engine]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 (ourselves)
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
