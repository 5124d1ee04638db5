"""What a server does cannot cost more time or memory than was allowed."""

import asyncio
import os
import subprocess
import sys
import time

import pytest
from aiohttp import web

from adjudge.errors import AnswerError
from adjudge.llm.faults import Patience
from adjudge.llm.providers import COMPATIBLE, Endpoint
from adjudge.llm.remote import RemoteModel
from tests.faults.server import HOLE, Fault, Server, running
from tests.llm.conftest import make_request

CHAOS = int(os.environ.get("ADJUDGE_CHAOS_KILLS", "0")) >= 1000
LATE = 1.1 if CHAOS else 10.0  # times the deadline; a drip without one has no end
MEGABYTE = 2**20


def dripping(pause: float, head: bytes, kind: str) -> Fault:
    async def drip(request: web.Request, content: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        await response.write(head)
        while True:
            await asyncio.sleep(pause)
            await response.write(b" ")

    return drip


async def slow_headers(request: web.Request, content: str) -> web.StreamResponse:
    assert request.transport is not None
    for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + b"X: y\r\n" * 1000:
        request.transport.write(bytes([byte]))
        await asyncio.sleep(0.02)
    return web.Response()


@pytest.mark.parametrize(
    "fault",
    [
        dripping(0.06, b"", "application/json"),
        dripping(0.06, HOLE, "application/json"),
        dripping(0.06, b": keep-alive\n\n", "text/event-stream"),
        slow_headers,
    ],
    ids=["body", "half a body", "stream", "headers"],
)
async def test_a_drip_ends_at_the_deadline(server: Server, fault: Fault) -> None:
    server.play = lambda number: fault
    assert 0.8 <= await seconds_of(server, 0.8) <= LATE * 0.8


async def test_a_byte_every_third_of_a_second_ends_after_four_seconds(server: Server) -> None:
    server.play = lambda number: dripping(0.3, b"", "application/json")
    assert 4.0 <= await seconds_of(server, 4.0) <= LATE * 4.0


async def seconds_of(server: Server, deadline: float) -> float:
    """How long one attempt takes that never ends by itself; of three, since others want this machine too."""
    found: list[float] = []
    once = Patience(attempts=1)
    remote = RemoteModel(
        Endpoint(provider=COMPATIBLE, url=server.url, model="mock", timeout=deadline, patience=once)
    )
    try:
        while len(found) < 3 and (not found or found[-1] > LATE * deadline):
            began = time.monotonic()
            with pytest.raises(AnswerError, match="timeout"):
                await remote.reply(make_request())
            found.append(time.monotonic() - began)
    finally:
        await remote.close()
    return found[-1]


CLIENT = """
import asyncio, resource, sys
from adjudge.errors import AnswerError
from adjudge.llm.providers import Endpoint
from adjudge.llm.providers import COMPATIBLE
from adjudge.llm.remote import RemoteModel
from tests.llm.conftest import make_request

async def ask():
    remote = RemoteModel(Endpoint(provider=COMPATIBLE, url=sys.argv[1], model="mock", timeout=20))
    try:
        print((await remote.reply(make_request())).text[:10])
    except AnswerError as error:
        print(error.reason)
    await remote.close()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

asyncio.run(ask())
before = peak()
asyncio.run(ask())
print(peak() - before)
"""


async def gigabyte(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(HOLE)
    piece = b"a" * MEGABYTE
    for _ in range(1024):
        await response.write(piece)
        SENT[-1] += len(piece)
    return response


async def claimed(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(2**30)})
    await response.prepare(request)
    await response.write(HOLE)
    return response


SENT: list[int] = []


@pytest.mark.parametrize("fault", [gigabyte, claimed], ids=["sent", "claimed"])
def test_a_gigabyte_is_cut_after_a_megabyte_and_costs_no_memory(fault: Fault) -> None:
    SENT.append(0)
    with running() as server:
        server.play = lambda number: None if number == 0 else fault
        run = [sys.executable, "-c", CLIENT, server.url]
        said = subprocess.run(run, capture_output=True, text=True, check=True, timeout=240).stdout.split()
    assert said[-2] == "oversize"
    assert int(said[-1]) < 50 * 1024, "kilobytes of RSS"
    assert SENT[-1] <= 16 * MEGABYTE, "what the kernels hold; the rest was never sent"
