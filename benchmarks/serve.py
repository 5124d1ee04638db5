"""How long `adjudge serve` takes to start over many judgements, what memory it keeps, how soon it answers.

The inputs are those of `benchmarks/report.py`. Answers are timed from asking to the last byte, each question
asked for the first time; peak and rest of memory are what Linux says of the process.
"""

import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request
from pathlib import Path

from page import find_data, make_parser, write_section
from report import SYSTEMS, write_inputs

TITLE = "Reading runs"
QUESTIONS = {
    "the first 20 segments": "amount=20",
    "those with a major error": "severity=major&amount=20",
    "lowest score first": "order=low&by=0&amount=20",
    "annotators disagree": "disagreement=on&amount=20",
    "words in any text": "search=haus&amount=20",
    "words in no text": "search=nowhere+at+all&amount=20",
    "50 more, far behind": "start=10000&amount=50",
}


def megabytes(process: int, name: str) -> float:
    """A figure of a process's memory, in megabytes of a million bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def ask(address: str, query: str) -> tuple[float, int]:
    """Seconds and bytes of an answer."""
    start = time.perf_counter()
    with urllib.request.urlopen(f"{address}/api/segments?{query}") as answer:  # noqa: S310 (our own server)
        size = len(answer.read())
    return time.perf_counter() - start, size


def wait_for_figures(address: str) -> int:
    """Ask for every figure, as the page does; how many there are."""
    with urllib.request.urlopen(address) as answer:  # noqa: S310 (our own server)
        amount = answer.read().count(b"data-figure=")
    for number in range(amount):
        urllib.request.urlopen(f"{address}/api/figure?number={number}").close()  # noqa: S310 (our own server)
    return amount


def measure(inputs: list[str]) -> list[tuple[str, str]]:
    """Start the server, ask it everything, stop it; what was measured, in words."""
    start = time.perf_counter()
    command = [str(Path(sys.executable).parent / "adjudge"), "serve", *inputs, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 (our own)
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        address = next(line.split()[-1] for line in lines if line.startswith("The report is at"))
        rows = [("ready", f"{time.perf_counter() - start:.0f} s")]
        for what, query in QUESTIONS.items():
            seconds, size = ask(address, query)
            rows.append((what, f"{1000 * seconds:,.0f} ms, {size / 1000:,.0f} kB"))
        figures = wait_for_figures(address)
        rows.append(("all figures drawn", f"{time.perf_counter() - start:.0f} s, {figures} of them"))
        rows += [
            (what, f"{megabytes(process.pid, name):,.0f} MB")
            for what, name in (("memory at most", "VmHWM"), ("memory afterwards", "VmRSS"))
        ]
        process.send_signal(signal.SIGINT)
    return rows


def main() -> None:
    """Measure, and with --write put the figures into docs/benchmark-tables.md."""
    parser = make_parser(__doc__)
    parser.add_argument("--segments", type=int, nargs="+", default=[30_000])
    chosen = parser.parse_args()
    if (data := find_data()) is None:
        return
    columns: list[str] = []
    table: dict[str, list[str]] = {}
    for amount in chosen.segments:
        with tempfile.TemporaryDirectory() as folder:
            inputs, counts = write_inputs(data / "wmt23", Path(folder), amount, SYSTEMS)
            columns.append(f"{amount:,} segments, {sum(counts):,} judgements")
            for what, figure in measure(inputs):
                table.setdefault(what, []).append(figure)
                print(f"{columns[-1]}: {what}: {figure}")
    if chosen.write:
        amounts = " ".join(map(str, chosen.segments))
        command = f"ADJUDGE_DATA=DIR .venv/bin/python benchmarks/serve.py --segments {amounts} --write"
        head = f"| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}"
        body = "\n".join(f"| {what} | {' | '.join(figures)} |" for what, figures in table.items())
        about = textwrap.fill(f"`adjudge serve`. {(__doc__ or '').split(chr(10) * 2, 1)[1]}", 118)
        write_section(TITLE, f"`{command}`\n\n{about}\n\n{head}\n{body}\n")


if __name__ == "__main__":
    main()
