"""The fault server with batches, in the words of OpenAI and of Anthropic.

A batch is over after `polls` looks at it. What its results are is decided by `bend`, which gets all good
lines and may drop, double, break or replace them. `lose` has the connection end after a batch was taken,
`drop` before; `holds` has nobody ever told its id, `hides` nobody find it in the list. `trips` has faults for
what is asked beside the questions, by a part of method and path; each is played once.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.faults.dialects import NATIVE, Json, NativeServer
from tests.faults.server import FAULTS, envelope, judge, plain

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Bend = Callable[[list[Json]], list[Json | bytes]]


def as_they_are(lines: list[Json]) -> list[Json | bytes]:
    return list(lines)


class BatchServer(NativeServer):
    """Live calls and batches; `sizes` has the requests of each batch that was made."""

    def __init__(self) -> None:
        super().__init__(judge)
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.polls = 1
        self.looks = 0
        self.bend: Bend = as_they_are
        self.ending = "completed"
        self.why = "invalid_json_line: no"
        self.lose = self.drop = 0
        self.holds = self.hides = False
        self.trips: dict[str, list[str]] = {}
        self.tell: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Json] = {}
        self.keys: list[str] = []
        self.downloads = 0
        self.cut_downloads = 0

    @property
    def sizes(self) -> list[int]:
        return [len(batch["requests"]) for batch in self.batches.values()]

    def route(self, router: web.UrlDispatcher) -> None:
        super().route(router)
        router.add_post("/v1/files", self._tripping(self._upload))
        router.add_get("/v1/files/{id}/content", self._tripping(self._content))
        for path, name in (("/v1/batches", "openai"), ("/v1/messages/batches", "anthropic")):
            router.add_post(path, self._tripping(self._make(name)))
            router.add_get(path, self._tripping(self._list(name)))
            router.add_get(path + "/{id}", self._tripping(self._show(name)))
        router.add_get("/v1/messages/batches/{id}/results", self._tripping(self._content))

    def _tripping(self, handler: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            for part, names in self.trips.items():
                if names and part in f"{request.method} {request.path}":
                    return await FAULTS[names.pop(0)](request, "")
            return await handler(request)

        return handle

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        upload: Any = form["file"]
        name = f"file-{len(self.files)}"
        self.files[name] = upload.file.read()
        return web.json_response({"id": name, "object": "file"})

    def _make(self, name: str) -> Callable[[web.Request], Any]:
        async def make(request: web.Request) -> web.StreamResponse:
            self.headers.append(dict(request.headers))
            value = json.loads(await request.read())
            if self.drop:
                self.drop -= 1
                return abort(request)
            if name == "openai":
                assert value["completion_window"] == "24h"
                lines = [json.loads(line) for line in self.files[value["input_file_id"]].splitlines()]
                assert {line["url"] for line in lines} == {value["endpoint"]}
                requests = [(line["custom_id"], line["body"]) for line in lines]
            else:
                requests = [(line["custom_id"], line["params"]) for line in value["requests"]]
            assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", key) for key, _ in requests)
            assert len({key for key, _ in requests}) == len(requests)
            made = f"{name}_{len(self.batches)}"
            when = 1_700_000_000 if name == "openai" else "2999-01-01T00:00:00Z"
            self.batches[made] = {
                "requests": requests,
                "metadata": value.get("metadata"),
                "created_at": when,
                "looks": 0,
            }
            self.keys += [key for key, _ in requests]
            if self.holds:
                await asyncio.sleep(30)
            if self.lose:
                self.lose -= 1
                return abort(request)
            return web.json_response(self._state(name, made))

        return make

    def _list(self, name: str) -> Callable[[web.Request], Any]:
        async def listing(request: web.Request) -> web.Response:
            listed = [] if self.hides else reversed(self.batches)
            found = [self._state(name, made) for made in listed if made.startswith(name)]
            after = request.query.get("after") or request.query.get("after_id")
            if after:
                found = found[[row["id"] for row in found].index(after) + 1 :]
            return web.json_response({"data": found[:1], "has_more": len(found) > 1})

        return listing

    def _show(self, name: str) -> Callable[[web.Request], Any]:
        async def show(request: web.Request) -> web.Response:
            made = request.match_info["id"]
            if made not in self.batches:
                return web.json_response({"error": {"message": "no such batch"}}, status=404)
            self.looks += 1
            self.batches[made]["looks"] += 1
            return web.json_response(self._state(name, made) | self.tell)

        return show

    def _state(self, name: str, made: str) -> Json:
        batch = self.batches[made]
        is_over, size = batch["looks"] > self.polls, len(batch["requests"])
        if name == "anthropic":
            counts = {"processing": 0 if is_over else size, "succeeded": size if is_over else 0}
            if is_over and self.ending == "cancelled":
                counts = {"processing": 0, "succeeded": 0, "canceled": size}
            place = f"{self.url}/messages/batches/{made}/results" if is_over else None
            return {
                "id": made,
                "processing_status": "ended" if is_over else "in_progress",
                "request_counts": counts,
                "results_url": place,
                "created_at": batch["created_at"],
            }
        good, bad = self._results(made) if is_over else ([], [])
        return {
            "id": made,
            "object": "batch",
            "status": self.ending if is_over else "in_progress",
            "metadata": batch["metadata"],
            "request_counts": {"total": size, "completed": len(good), "failed": len(bad)},
            "output_file_id": f"{made}.good" if good else None,
            "error_file_id": f"{made}.bad" if bad else None,
            "errors": {"data": [dict(zip(("code", "message"), self.why.split(": "), strict=True))]},
        }

    def _results(self, made: str) -> tuple[list[bytes], list[bytes]]:
        """The lines of results, and those of errors where they have a file of their own."""
        batch = self.batches[made]
        if "lines" not in batch:
            lines = [self._answer(made, key, payload) for key, payload in batch["requests"]]
            bent = self.bend(lines)
            batch["lines"] = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in bent]
        errors = [
            line for line in batch["lines"] if made.startswith("openai") and b'"response": null' in line
        ]
        return [line for line in batch["lines"] if line not in errors], errors

    def _answer(self, made: str, key: str, payload: Json) -> Json:
        if made.startswith("openai"):
            self.requests[plain(payload)] += 1
            body = envelope(self.answer(payload))
            return good_line(key, body)
        chat = NATIVE["anthropic"].chat_of(payload)
        self.requests[plain(chat)] += 1
        message = NATIVE["anthropic"].good(payload, self.answer(chat))
        return {"custom_id": key, "result": {"type": "succeeded", "message": message}}

    async def _content(self, request: web.Request) -> web.StreamResponse:
        self.downloads += 1
        made, _, kind = request.match_info["id"].partition(".")
        good, bad = self._results(made)
        content = b"\n".join(bad if kind == "bad" else good) + b"\n"
        if self.cut_downloads:
            self.cut_downloads -= 1
            content = content[: len(content) // 3]
        return web.Response(body=content, content_type="application/octet-stream")


def abort(request: web.Request) -> web.Response:
    """End the connection without a word."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def good_line(key: str, body: object, status: int = 200) -> Json:
    """A line of results as OpenAI writes it."""
    response = {"status_code": status, "request_id": f"req_{key[:6]}", "body": body}
    return {"id": f"batch_req_{key[:6]}", "custom_id": key, "response": response, "error": None}


@contextmanager
def taking_batches() -> Iterator[BatchServer]:
    """A server with batches for as long as the block lasts."""
    server = BatchServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
