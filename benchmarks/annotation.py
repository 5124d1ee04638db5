"""Many annotators on a served campaign while texts are imported; and one client, beside Pearmut's server.

    .venv/bin/python benchmarks/annotation.py [--annotators 300 1000] [--seconds 60] [--pearmut PYTHON]
    .venv/bin/python benchmarks/annotation.py --browser [--pearmut PYTHON]

`--browser` measures the annotator's page instead. Without, the server is `adjudge campaign serve`, the
annotators are a process of their own, and a third one inserts 100,000 segments into the same store again and
again until the annotators stop. ADJUDGE_TEST_DATABASE, the address of an empty PostgreSQL database, adds rows
for that store.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from adjudge.campaigns.campaign import open_campaign, read_links
from adjudge.campaigns.making import Extras, insert_tasks, new_campaign
from adjudge.campaigns.settings import CampaignSettings
from adjudge.campaigns.tasks import make_tasks
from adjudge.core.segment import Segment, TestSet
from adjudge.reports.tables import Table, render_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.annotation_browser import beside_in_browser  # noqa: E402 (found by the line above)
from benchmarks.annotators import Annotator, Times, work_together  # noqa: E402 (found by the line above)
from benchmarks.page import make_parser, show  # noqa: E402 (found by the line above)
from benchmarks.servers import pearmut_served, served  # noqa: E402 (found by the line above)

TITLE = "Annotators at once"
THINK = 10.0  # seconds
ITEMS = 10  # of a document
TURN = 10  # documents in a row: each server is as warm as one that is busy
PEOPLE, DOCUMENTS = 100, 2000  # beside Pearmut
SENTENCE = "The committee met again in March and put off the vote on the new bridge until the summer. "
COLUMNS = (
    "store",
    "annotators",
    "import",
    "saves",
    "saves/s",
    "p50",
    "p95",
    "p99",
    "errors",
    "CPU",
    "MB",
)


def main() -> None:
    """Run what the arguments ask for."""
    parser = make_parser(__doc__)
    parser.add_argument("--browser", action="store_true", help="the page in a browser, and nothing else")
    parser.add_argument("--annotators", type=int, nargs="+", default=[300])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--segments", type=int, default=100_000, help="inserted at a time; 0 for no import")
    parser.add_argument("--pearmut", metavar="PYTHON", help="of an environment that has Pearmut")
    parser.add_argument("--saves", type=int, default=200, help="of each of the two servers")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        PARTS[args.part[0]](*args.part[1:])
        return
    busy = os.getloadavg()[0]
    pearmut = Path(args.pearmut) if args.pearmut else None
    if args.browser:
        title, body = "The annotator's page", beside_in_browser(pearmut)
    else:
        title, body = TITLE, _HEAD + _many(args)
        body += "" if pearmut is None else "\n" + _beside_pearmut(pearmut, args.saves)
    cores = os.cpu_count()
    body += f"\nLoad of the machine when this began: {busy:.1f} on {cores} cores, by other work.\n"
    show(title, body, write=args.write)


_HEAD = f"""`.venv/bin/python benchmarks/annotation.py --annotators 300 1000 --pearmut PYTHON --write`

One `adjudge campaign serve`; every annotator has connections of their own and thinks for {THINK:g} s before
each save, finish or next page. *import*: segments that another process inserted into the same store.
Times are milliseconds at the browser's end, the load generator's own delays included; CPU is the server's
share of one core, MB its largest memory. To reach: at 300 annotators p95 50 ms and p99 200 ms, at 1,000
p95 100 ms.

"""


# Many at once...


def _many(args: argparse.Namespace) -> str:
    stores: list[str | None] = [None]
    if address := os.environ.get("ADJUDGE_TEST_DATABASE"):
        stores.append(address)
    rows = [_run(store, people, args) for store in stores for people in args.annotators]
    return render_table(Table(columns=COLUMNS, rows=tuple(rows)), "markdown") + "\n"


def _run(store: str | None, people: int, args: argparse.Namespace) -> tuple[str, ...]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "campaign"
        database = None if store is None else stack.enter_context(_schema(store))
        documents = max(20, int(people * (2 + args.seconds / THINK / ITEMS / 3)))
        _make(folder, documents, people, database)
        server, url = stack.enter_context(served(folder))
        asked = [str(folder), url, str(server.pid), str(args.seconds), str(args.segments)]
        load = json.loads(_part("load", *asked))
        cpu, memory = _usage(server.pid)
        times = Times(load["taken"], load["errors"])
    for error in times.errors[:5]:
        print(error, file=sys.stderr)
    count, *quantiles = times.quantiles("save")
    return (
        "SQLite" if store is None else "PostgreSQL",
        f"{people:,}",
        f"{load['imported']:,}",
        f"{count:,.0f}",
        f"{count / load['seconds']:.0f}",
        *(f"{value:.0f}" for value in quantiles),
        str(len(times.errors)),
        f"{(cpu - load['cpu_before']) / load['seconds']:.0%}",
        f"{memory / 2**20:.0f}",
    )


def _make(folder: Path, documents: int, people: int, database: str | None = None) -> None:
    settings = CampaignSettings(protocol="esa", assignment="pool")
    texts, extras = _test_set("texts", documents), Extras(database=database)
    made, _ = new_campaign(folder, texts, settings, people, now=time.time(), extras=extras)
    made.database.close()


def _test_set(name: str, documents: int, items: int = ITEMS) -> TestSet:
    """Documents of one system, whose texts have some hundred characters."""
    return TestSet(
        name=name,
        segments=tuple(
            Segment(
                segment=f"{name}-{document}-{place}",
                lp="en-de",
                document=f"{name}-{document}",
                source=f"{document}.{place} {SENTENCE}{SENTENCE}",
                translations={"Alder": f"{place}.{document} {SENTENCE[::-1]}{SENTENCE}"},
            )
            for document in range(documents)
            for place in range(items)
        ),
    )


@contextmanager
def _schema(store: str) -> Iterator[str]:
    """A schema of our own on the server."""
    name = f"bench_{uuid.uuid4().hex}"
    server = create_engine(store.replace("postgresql://", "postgresql+psycopg://"))
    with server.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    try:
        yield f"{store}?options=-csearch_path%3D{name}"
    finally:
        with server.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        server.dispose()


def _usage(process: int) -> tuple[float, int]:
    """CPU seconds so far, and the most bytes that were in memory."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) * 1024


def _part(*words: str) -> str:
    command = [sys.executable, __file__, "--part", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 (ourselves)


def _load(folder: str, url: str, server: str, seconds: str, segments: str) -> None:
    """Everybody annotates while another process imports texts; print what was measured."""
    secrets = [link.secret for link in read_links(Path(folder)) if link.role == "annotator"]
    importer: list[subprocess.Popen[str]] = []
    noted: dict[str, float] = {}

    def begin() -> None:
        noted.update(cpu=_usage(int(server))[0], start=time.monotonic())
        if int(segments):
            command = [sys.executable, __file__, "--part", "import", folder, segments, seconds]
            importer.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))  # noqa: S603 (ourselves)

    times = asyncio.run(work_together(url, secrets, THINK, float(seconds), begin))
    spent = time.monotonic() - noted["start"]
    imported = int(importer[0].communicate()[0]) if importer else 0
    found = {"taken": times.taken, "errors": times.errors, "imported": imported}
    print(json.dumps(found | {"seconds": spent, "cpu_before": noted["cpu"]}))


def _import(folder: str, segments: str, seconds: str) -> None:
    """Insert so many segments again and again, and say how many they were."""
    until = time.monotonic() + float(seconds)
    tasks = make_tasks(_test_set("more", int(segments) // ITEMS), "one")
    campaign = open_campaign(folder)
    count = 0
    while time.monotonic() < until:
        insert_tasks(campaign.database, campaign.id, tasks)
        count += int(segments)
    campaign.database.close()
    print(count)


# One client, beside Pearmut...


def _beside_pearmut(python: Path, saves: int) -> str:
    """The same documents in both; one client saves one after the other, in turns."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _make(folder / "campaign", DOCUMENTS, PEOPLE)
        _, ours = stack.enter_context(served(folder / "campaign"))
        documents = {"bench": _test_set("texts", DOCUMENTS)}
        _, theirs = stack.enter_context(pearmut_served(python, folder, documents, PEOPLE))
        (link, *_) = read_links(folder / "campaign")
        times = asyncio.run(_in_turns(Annotator(ours, link.secret, Times()), theirs, folder, saves))
    rows = []
    for kind, name in (("save", "save a document"), ("next", "finish, and open the next one")):
        mine, other = times[0].quantiles(kind), times[1].quantiles(kind)
        cells = (*(f"{value:.1f}" for value in (*mine[1:3], *other[1:3])), f"{other[1] / mine[1]:.1f}")
        rows.append((name, f"{mine[0]:,.0f}", *cells))
    for error in times[0].errors + times[1].errors:
        print(error, file=sys.stderr)
    columns = ("", "times", "median", "p95", "Pearmut median", "Pearmut p95", "ratio of medians")
    return _PEARMUT_HEAD + render_table(Table(columns=columns, rows=tuple(rows)), "markdown") + "\n"


_PEARMUT_HEAD = f"""Beside Pearmut 1.1.6 (`--pearmut`):
{PEOPLE} users, {DOCUMENTS:,} documents of {ITEMS} segments,
one client that saves whole documents to both servers, {TURN} in turn, in one run. Pearmut's assignment is its
`single-stream`, which is like our `pool`. What adjudge acknowledges is on the disk (fsync); Pearmut's
files are written without. Milliseconds.

"""


async def _in_turns(mine: Annotator, theirs: str, folder: Path, saves: int) -> tuple[Times, Times]:
    """Save some documents here, then as many there, and so on."""
    other = Annotator(theirs, "", Times())
    await mine.enter()
    await other.connect()
    user = next(iter(json.loads((folder / "data/progress/bench.json").read_text())))
    who = {"campaign_id": "bench", "user_id": user}
    document = await other.ask("first", "/get-next-item", who)
    mine.times = Times()
    for _ in range(saves // TURN):
        for _ in range(TURN):
            await mine.send([mine.change(item, "rate") for item in mine.task["items"]])
            start = time.perf_counter()
            await mine.finish()
            mine.times.add("next", time.perf_counter() - start)
        for _ in range(TURN):
            said = {"annotation": _said(document), "actions": _actions(), "item": document["payload"]}
            asked = {**who, "item_i": document["info"]["item_i"], "payload": said}
            await other.ask("save", "/log-response", asked)
            document = await other.ask("next", "/get-next-item", who)
    await mine.session.close()
    await other.session.close()
    return mine.times, other.times


def _said(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {system: {"score": 72, "error_spans": []} for system in item["tgt"]} for item in document["payload"]
    ]


def _actions() -> list[dict[str, Any]]:
    now = time.time()
    rated = [{"time": now + place, "action": "score", "index": place} for place in range(ITEMS)]
    return [{"time": now, "action": "load"}, *rated, {"time": now + ITEMS, "action": "submit"}]


PARTS = {"load": _load, "import": _import}

if __name__ == "__main__":
    main()
