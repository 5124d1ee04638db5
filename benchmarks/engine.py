"""How much the engine takes of a client: calls over the loopback, and stored calls walked on resume.

Side by side: aiohttp and orjson alone, adjudge (gemba-mqm, durable store), and with `--others` the openai
SDK, litellm and inspect_ai, in an environment of their own under build/, which is made the first time. Each
runs in a process of its own on one core; the server that they ask has another one, where there are two, and
answers 1 KB after 50 ms. CPU time counts, for other work on the machine stretches wall time.
"""

import argparse
import asyncio
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path

import aiohttp
import orjson

from adjudge.cli.main import main as adjudge
from adjudge.core.ask import Reply, Usage
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.judges.gemba_mqm import GembaMqm
from adjudge.llm.model import Identity, Request, render_message
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.reports.tables import Table, render_table
from adjudge.runs.job import Job, prepare
from adjudge.runs.run import execute

LATENCY = 0.050
SYSTEMS = "ABCDEFGHIJ"
ERRORS = (
    '{"errors": [{"span": "Zahl", "category": "accuracy/mistranslation", '
    '"severity": "minor", "side": "translation"}]}'
)
ROUNDS = 3  # of all clients in turn, since other work on the machine comes and goes
CLIENTS = ("aiohttp + orjson", "adjudge")
OTHERS = {"openai": "openai==3.57.0", "litellm": "litellm==1.110.2", "inspect_ai": "inspect-ai==0.3.285"}
FILE = Path(__file__).with_name("clients.py")
ENVIRONMENT = Path(__file__).parents[1] / "build" / "clients"
WANTED = {64: 4.5, 512: 3.5, "walk": 60.0, "mb": 500.0}


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000, help="of each client at each concurrency")
    parser.add_argument("--resume", type=int, default=100_000, metavar="N", help="stored calls to walk")
    parser.add_argument("--others", action="store_true", help="also other clients; installs them")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        PARTS[args.part[0]](*args.part[1:])
        return
    if args.calls:
        compare_clients(args.calls, make_environment() if args.others else None)
    if args.resume:
        compare_sessions(args.resume)


def make_environment() -> Path:
    """Install other clients where nothing of ours is; their Python."""
    python = ENVIRONMENT / "bin" / "python"
    uv = str(Path(sys.executable).with_name("uv"))
    if not python.exists():
        subprocess.run([uv, "venv", "--quiet", ENVIRONMENT], check=True)  # noqa: S603 (ours)
    install = [uv, "pip", "install", "--quiet", "--python", python, *OTHERS.values()]
    subprocess.run(install, check=True)  # noqa: S603 (ours)
    return python


def compare_clients(calls: int, others: Path | None) -> None:
    """Print what a call costs each client."""
    command = [sys.executable, __file__, "--part", "serve"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 (ourselves)
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        bodies = Path(folder) / "bodies.jsonl"
        bodies.write_bytes(b"\n".join(orjson.dumps(make_body(number)) for number in range(1000)))
        wanted = [*CLIENTS, *(OTHERS if others else ())]

        def cost_of(name: str, width: int) -> dict[str, float]:
            if name in CLIENTS:
                return run_part("client", name, url, str(width), str(calls))
            few = str(max(width, calls // 10))  # they are slower, and a call costs the same
            return run([str(others), str(FILE), name, url, str(width), few, str(bodies)])

        try:
            for width in (64, 512):
                rounds = [{name: cost_of(name, width) for name in wanted} for _ in range(ROUNDS)]
                found = {name: median([costs[name] for costs in rounds]) for name in wanted}
                bare = found[CLIENTS[0]]
                for name, cost in found.items():
                    ratios = [f"{cost['cpu'] / bare['cpu']:.1f}", f"{cost['rate'] / bare['rate']:.2f}"]
                    figures = [f"{cost['rate']:,.0f}", f"{cost['cpu'] * 1e3:.3f}", f"{cost['mb']:.0f}"]
                    rows.append([name, str(width), *figures, *ratios])
        finally:
            server.terminate()
            server.wait()
    heads = [
        "client",
        ">at a time",
        ">calls/s",
        ">CPU ms a call",
        ">peak MB",
        ">CPU / bare",
        ">calls/s / bare",
    ]
    print(render_table(Table(columns=heads, rows=rows), "markdown"))
    print(f"Wanted: at most {WANTED[64]:g} times the CPU of aiohttp alone at 64, {WANTED[512]:g} at 512.\n")


def compare_sessions(units: int) -> None:
    """Print what it takes to fill a store, and to walk over it again."""
    with tempfile.TemporaryDirectory() as folder:
        first, again = (run_part("session", folder, str(units)) for _ in range(2))
        read = {f"`adjudge {name}`": run_part("read", name, folder, str(units)) for name in ("score", "rank")}
    assert (first["asked"], again["asked"]) == (units, 0), "resuming asked again"
    costs = {"a model that answers at once": first, "resumed, all stored": again} | read
    rows = [
        [name, f"{cost['seconds']:.1f}", f"{cost['cpu'] * 1e6:.0f}", f"{cost['mb']:.0f}"]
        for name, cost in costs.items()
    ]
    heads = [f"{units:,} calls", ">seconds", ">CPU µs a call", ">peak MB"]
    print(render_table(Table(columns=heads, rows=rows), "markdown"))
    print(f"Wanted: a million resumed in {WANTED['walk']:g} s of CPU and under {WANTED['mb']:g} MB.")


def median(costs: list[dict[str, float]]) -> dict[str, float]:
    """The one of several runs of a client that took the middle of all CPU times."""
    return sorted(costs, key=lambda cost: cost.get("cpu", 0.0))[len(costs) // 2]


def run_part(*args: str) -> dict[str, float]:
    """Run a part in a process of its own."""
    return run([sys.executable, __file__, "--part", *args])


def run(command: list[str]) -> dict[str, float]:
    """Run a process that prints what it measured."""
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 (ourselves)
    said = said.splitlines()[-1]
    found: dict[str, float] = json.loads(said)
    return found


def take_core(number: int) -> None:
    """Stay on one core, where the system lets us and has two."""
    if hasattr(os, "sched_setaffinity") and len(cores := sorted(os.sched_getaffinity(0))) > 1:
        os.sched_setaffinity(0, {cores[number]})


def measured(calls: int, began: tuple[float, float], **more: float) -> None:
    """Print the cost of what was done since `began`, as the parent process reads it."""
    seconds, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(json.dumps({"rate": calls / seconds, "seconds": seconds, "cpu": cpu / calls, "mb": peak, **more}))


def now() -> tuple[float, float]:
    """Wall time and CPU time."""
    return time.perf_counter(), time.process_time()


# What is judged...


def make_test_set(units: int) -> TestSet:
    """Ten systems, and as many segments as that takes."""
    return TestSet(name="speed", segments=tuple(map(make_segment, range(-(-units // len(SYSTEMS))))))


def make_segment(number: int) -> Segment:
    """A sentence with its translations."""
    return Segment(
        segment=str(number),
        lp="en-de",
        source=f"The number {number} stands here, and a longer sentence about nothing much follows it.",
        translations={
            system: f"Die Zahl {number} steht hier, und ihr folgt ein längerer Satz über {system}."
            for system in SYSTEMS
        },
    )


def make_body(call: int) -> dict[str, object]:
    """The request that adjudge sends for a unit of work, made before the clock runs."""
    subject = Subject(segment=make_segment(call), systems=("A",))
    messages = [
        {"role": message.role, "content": render_message(message, "0123456789abcdef")}
        for message in BODY_JUDGE.messages(subject)
    ]
    return {"model": "mock", "messages": messages, "temperature": 0.0, "max_tokens": 2048}


BODY_JUDGE = GembaMqm()


# The server...


class Server(asyncio.Protocol):
    """Answers every request after a while, whatever it says."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""
        self.loop = asyncio.get_running_loop()

    def data_received(self, data: bytes) -> None:
        """Count whole requests off the front of what came."""
        self.buffer += data
        while (head := self.buffer.find(b"\r\n\r\n")) >= 0:
            fields = self.buffer[:head].lower()
            length = int(fields.partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
            if len(self.buffer) < head + 4 + length:
                return
            self.buffer = self.buffer[head + 4 + length :]
            self.loop.call_later(LATENCY, self.answer)

    def answer(self) -> None:
        """Send the one answer that there is."""
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


def make_answer() -> bytes:
    """A chat completion of 1 KB."""
    message = {"role": "assistant", "content": ERRORS}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mock",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 800, "completion_tokens": 30, "total_tokens": 830},
    }
    body = orjson.dumps(completion)
    body += b" " * (1024 - len(body))
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1024\r\n\r\n" + body


ANSWER = make_answer()


def serve() -> None:
    """Serve until the parent ends us; the first line says the port."""
    take_core(1)

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(forever())


# The clients...

Call = Callable[[dict[str, object]], Awaitable[str | None]]


def client(name: str, url: str, width: str, calls: str) -> None:
    """Make the calls of one client."""
    take_core(0)
    ask = {"aiohttp + orjson": ask_bare, "adjudge": ask_adjudge}[name]
    asyncio.run(ask(url, int(width), int(calls)))


async def make_calls(call: Call, width: int, calls: int) -> None:
    """So many calls, so many at a time; a first round opens the connections."""
    bodies = [make_body(number) for number in range(1000)]

    async def worker(numbers: range) -> None:
        for number in numbers:
            assert await call(bodies[number % len(bodies)]) == ERRORS

    await asyncio.gather(*(worker(range(1)) for _ in range(width)))
    began = now()
    await asyncio.gather(*(worker(range(first, calls, width)) for first in range(width)))
    measured(calls, began)


async def ask_bare(url: str, width: int, calls: int) -> None:
    """As little as a call can take in Python: no check, no store, no judge."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def call(body: dict[str, object]) -> str | None:
            async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                text: str = orjson.loads(await response.read())["choices"][0]["message"]["content"]
                return text

        await make_calls(call, width, calls)


async def ask_adjudge(url: str, width: int, calls: int) -> None:
    """A whole run: units of work, prompts, store, reading, records."""
    test_set = make_test_set(calls)
    with tempfile.TemporaryDirectory() as folder:
        job = prepare(
            "gemba-mqm", test_set, out=folder, model="mock", base_url=url, served_as="any", concurrency=width
        )
        began = now()
        outcome = await execute(job)
        assert outcome.info.counts["judged"] == len(job.plan), outcome.info
        measured(len(job.plan), began)


# Stored calls...


class Instant:
    """A model that answers at once."""

    name = "mock"

    async def reply(self, request: Request) -> Reply:  # noqa: ARG002 (as models have it)
        """Answer."""
        return Reply(text=ERRORS, model="mock", usage=Usage(prompt=800, completion=30))


def session(folder: str, units: str) -> None:
    """One session of a run over so many units; the second finds everything stored."""
    take_core(0)
    job = prepare(
        "gemba-mqm", make_test_set(int(units)), out=Path(folder) / "run", model="mock", base_url="http://x"
    )
    instant = OpenModel(identity=Identity(endpoint="compatible", model="mock"), model=Instant(), served="any")
    asyncio.run(walk(replace(job, models=Models(default=instant))))


async def walk(job: Job) -> None:
    """Run it, and say what it took."""
    began = now()
    outcome = await execute(job)
    assert outcome.info.counts["judged"] == len(job.plan), outcome.info
    measured(len(job.plan), began, asked=outcome.tally.asked)


def read(command: str, folder: str, units: str) -> None:
    """A command that reads what a run left."""
    take_core(0)
    began = now()
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        adjudge([command, f"{folder}/run"])
    measured(int(units), began)


PARTS: dict[str, Callable[..., None]] = {"serve": serve, "client": client, "session": session, "read": read}

if __name__ == "__main__":
    main()
