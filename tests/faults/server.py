"""A loopback server that speaks the OpenAI-compatible dialect, well or badly, as a seeded plan says.

`Server` runs in a thread with an event loop of its own. What it does to a request is decided by `play`, which
gets the number of the request and may return a fault, or its name in `FAULTS`, or None for a good answer.
"""

import asyncio
import gzip
import json
import math
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Answer = Callable[[dict[str, Any]], str]
Fault = Callable[[web.Request, str], Awaitable[web.StreamResponse]]
Play = Callable[[int], str | Fault | None]

MARK = re.compile(r"<<(/?[\w-]+) [0-9a-f]{16}>>")
TEXT = re.compile(r"<<translation [0-9a-f]{16}>>\n(.*)\n<</translation [0-9a-f]{16}>>")
HOLE = b'{"choices": [{"message": {"content": "'


def plain(payload: dict[str, Any]) -> str:
    """What was asked, whatever the delimiters of the run were: two equal ones are one call."""
    asked = {key: value for key, value in payload.items() if key != "stream"}
    return MARK.sub(r"<<\1>>", json.dumps(asked, sort_keys=True))


def judge(payload: dict[str, Any]) -> str:
    """Answer in the form that is asked for: deterministic, and not always the same.

    An error is found in every translation whose first word is long.
    """
    contents = [str(message["content"]) for message in payload["messages"]]
    if '"minor":' in contents[-1]:
        return '{"major": 0, "minor": 0}'
    if any('"rating"' in content for content in contents):
        return '{"rating": 87}'
    found = TEXT.findall(contents[-1])
    words = json.loads(found[-1]).split() if found else []
    if not words or len(words[0]) < 5:
        return '{"errors": []}'
    error = {
        "span": words[0],
        "category": "accuracy/mistranslation",
        "severity": "minor",
        "side": "translation",
    }
    return json.dumps({"errors": [error]}, ensure_ascii=False)


def envelope(
    content: object, *, model: str = "mock", finish: object = "stop", **message: object
) -> dict[str, Any]:
    """A good body around some content."""
    return {
        "id": "x",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


def spelled(content: str) -> dict[str, Any]:
    """Log-probabilities of a content, a word a token."""
    tokens = [
        {"token": word, "logprob": -0.25, "top_logprobs": []} for word in re.findall(r"\s*\S+", content)
    ]
    return {"content": tokens}


class Server:
    """One server; `requests` counts what was asked, `log` keeps every payload in order."""

    def __init__(self, answer: Answer = judge) -> None:
        self.answer = self._usual = answer
        self.play: Play = lambda number: None
        self.log: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.requests: Counter[str] = Counter()
        self.delay = 0.0
        self.jitter = 0.0
        self.held_from = math.inf  # requests from this number on are not answered as long as it stands
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def reset(self) -> None:
        """Forget what was asked, and answer as at first: well and at once."""
        self.fails(None)
        self.answer = self._usual
        self.delay = self.jitter = 0.0
        self.held_from = math.inf

    def fails(self, *names: str | Fault | None) -> None:
        """Play these in turn, the last one for ever."""
        self.log.clear()
        self.headers.clear()
        self.requests.clear()
        self.play = lambda number: names[min(number, len(names) - 1)]

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def route(self, router: web.UrlDispatcher) -> None:
        """Say who answers what."""
        router.add_post("/v1/chat/completions", self._chat)
        router.add_post("/elsewhere", self._chat)

    async def _run(self) -> None:
        app = web.Application(client_max_size=2**24)
        self.route(app.router)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=512)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        payload = json.loads(await request.read())
        number = len(self.log)
        self.log.append(payload)
        self.headers.append(dict(request.headers))
        self.requests[plain(payload)] += 1
        while number >= self.held_from:  # noqa: ASYNC110 (set by the thread of a test, which an Event of asyncio is not for)
            await asyncio.sleep(0.01)
        if self.delay or self.jitter:
            await asyncio.sleep(self.delay + self.jitter * random.random())
        name = self.play(number)
        if name is not None:
            fault = FAULTS[name] if isinstance(name, str) else name
            return await fault(request, self.answer(payload))
        good = envelope(self.answer(payload))
        if payload.get("logprobs"):
            good["choices"][0]["logprobs"] = spelled(good["choices"][0]["message"]["content"])
        return web.json_response(good)


@contextmanager
def running(answer: Answer = judge) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    server = Server(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()


# Faults...


def body(value: object, status: int = 200, **headers: str) -> Fault:
    """An answer that is this JSON value."""

    async def fault(request: web.Request, content: str) -> web.StreamResponse:
        return web.json_response(value, status=status, headers=headers)

    return fault


def raw(content: bytes, kind: str = "application/json", status: int = 200) -> Fault:
    """An answer of these bytes."""

    async def fault(request: web.Request, text: str) -> web.StreamResponse:
        return web.Response(body=content, status=status, headers={"Content-Type": kind})

    return fault


def says(content: object, **more: Any) -> Fault:
    """A good envelope around this content."""
    return body(envelope(content, **more))


def status(code: int, message: str = "", **headers: str) -> Fault:
    """A refusal with an error object."""
    return body({"error": {"message": message or "no", "type": "some_error"}}, code, **headers)


def wrap(**changes: object) -> Fault:
    """A good answer whose choice is changed."""

    async def fault(request: web.Request, content: str) -> web.StreamResponse:
        good = envelope(content)
        good["choices"][0] |= changes
        return web.json_response(good)

    return fault


async def reset(request: web.Request, content: str) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def cut(request: web.Request, content: str) -> web.StreamResponse:
    good = json.dumps(envelope(content)).encode()
    response = web.StreamResponse(
        headers={"Content-Type": "application/json", "Content-Length": str(len(good))}
    )
    await response.prepare(request)
    await response.write(good[: len(good) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


async def stall(request: web.Request, content: str) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


async def drip(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(1000):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


async def endless(request: web.Request, content: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(HOLE)
    for _ in range(4096):
        await response.write(b"a" * 65536)
    return response


async def echo_key(request: web.Request, content: str) -> web.StreamResponse:
    key = request.headers.get("Authorization", "")
    error = {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}
    return web.json_response({"error": error}, status=500)


async def tell_key(request: web.Request, content: str) -> web.StreamResponse:
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return web.json_response(envelope(f"Your key is {key}", model=key))


async def break_key(request: web.Request, content: str) -> web.StreamResponse:
    key = request.headers.get("Authorization", "").encode()
    return web.Response(body=b'{"choices": "\xff' + key + b'"}', content_type="application/json")


async def zipped(request: web.Request, content: str) -> web.StreamResponse:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return web.Response(body=gzip.compress(json.dumps(envelope(content)).encode()), headers=headers)


FAULTS: dict[str, Fault] = {
    # Statuses...
    **{str(code): status(code) for code in (400, 401, 402, 403, 404, 405, 408, 409, 413, 422, 425, 429)},
    **{str(code): status(code) for code in (500, 502, 503, 504, 529)},
    "429 soon": status(429, "slow down", **{"Retry-After": "0.05"}),
    "429 tomorrow": status(429, "slow down", **{"Retry-After": "86400"}),
    "429 garbage": status(429, "slow down", **{"Retry-After": "soon"}),
    "429 quota": body({"error": {"message": "You exceeded", "code": "insufficient_quota"}}, 429),
    "400 context": status(400, "This model's maximum context length is 8192 tokens"),
    "400 filter": body({"error": {"message": "no", "code": "content_filter"}}, 400),
    "500 html": raw(b"<html>Bad gateway</html>", "text/html", 500),
    "redirect": body({}, 307, Location="http://other.example/v1/chat/completions"),
    # The connection...
    "reset": reset,
    "cut": cut,
    "stall": stall,
    "drip": drip,
    "endless": endless,
    # Bodies that are no answer...
    "html": raw(b"<html>maintenance</html>", "text/html"),
    "empty": raw(b""),
    "null": raw(b"null"),
    "cut json": raw(b'{"choices": [{"mess'),
    "nan": raw(b'{"choices": [], "x": NaN}'),
    "deep": raw(b"[" * 100_000),
    "gzip": zipped,
    "utf-8": raw(b'{"choices": [{"message": {"content": "\xff"}, "finish_reason": "stop"}]}'),
    "surrogate": raw(rb'{"choices": [{"message": {"content": "\ud800"}, "finish_reason": "stop"}]}'),
    "nul": says("\0"),
    "error 200": body({"error": {"message": "overloaded", "code": 503}}),
    "error 200 quota": body({"error": {"message": "no money", "code": "insufficient_quota"}}),
    "error 200 context": body({"error": {"message": "no", "code": "context_length_exceeded"}}),
    # Envelopes that are none...
    "no choices": body({"id": "x"}),
    "choices []": body({"choices": []}),
    "choices text": body({"choices": "oops"}),
    "two choices": body({"choices": [envelope("a")["choices"][0]] * 2}),
    "content 87": says(87),
    "content list": says(["a"]),
    "message null": wrap(message=None),
    "finish null": wrap(finish_reason=None),
    "finish odd": wrap(finish_reason="banana"),
    # Answers that cannot be read...
    "content null": says(None),
    "content empty": says("  \n"),
    "thinking only": says(None, reasoning_content="Let me think"),
    "length": wrap(finish_reason="length"),
    "filter": wrap(finish_reason="content_filter"),
    "refusal": says(None, refusal="I cannot help with that"),
    "refusal prose": says("I'm sorry, but I can't assist with that request."),
    "prose": says("The translation is good."),
    "two objects": says('{"errors": []} {"errors": [1]}'),
    "duplicate keys": says('{"errors": [], "errors": [{}]}'),
    "missing key": says("{}"),
    "extra key": says('{"errors": [], "score": 0}'),
    "unknown severity": says(
        '{"errors": [{"span": "a", "category": "other", "severity": "huge", "side": "translation"}]}'
    ),
    "other model": says('{"errors": []}', model="another-model"),
    # Keys...
    "echo key": echo_key,
    "tell key": tell_key,
    "break key": break_key,
}


def patient(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait until something is so, in small steps; whether it came to be."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
