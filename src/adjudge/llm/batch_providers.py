"""The providers of batches, and the ledger of what was sent to them.

`BatchDialect` is what differs between providers: `FileBatches` speaks the Batch API of OpenAI, where a file
of requests is uploaded, and `MessageBatches` that of Anthropic, where one body holds all requests.
`BatchWire` is the connection to one provider. The `Ledger` of a run is on disk before anything is sent, so
that a run that was killed picks its batches up again.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

import aiohttp
import orjson

from adjudge.core.ask import Usage
from adjudge.core.frozen import frozen
from adjudge.errors import AnswerError, ModelError, ServerAwayError, ServerStopError, StoreError, UsageError
from adjudge.llm.dialect import fail_envelope, object_of, read_json_body
from adjudge.llm.faults import Fault, Tries, fault_of, read_error, retried
from adjudge.llm.providers import Endpoint
from adjudge.llm.wire import JSON_BODY, Wire, read_body

_TRANSFER: Final = 3600.0  # seconds for a file
_CHUNK: Final = 1 << 20
_LONGEST_LINE: Final = 64 << 20  # bytes that are held in memory

T = TypeVar("T")
Say = Callable[[ExitStack], dict[str, Any]]
"""What goes out with a request, once more for each try; its files are closed afterwards."""


class UnsureError(Exception):
    """The provider may have taken what was sent, and may not have; it must be looked for."""


class BatchWire(Wire):
    """The connections to one provider of batches."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        super().__init__(endpoint)
        self.name = name
        self._met = False

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 (any JSON)
        """Read something; tried again where that can help."""
        return await self._ask("GET", path, lambda _: {"params": query})

    async def pages(self, path: str, after: str) -> AsyncIterator[list[Any]]:
        """The pages of a list of batches; `after` names the parameter that asks for the next one."""
        query = {"limit": "100"}
        for _ in range(_PAGES):
            page = await self.get(path, query)
            rows = page.get("data") if isinstance(page, dict) else None
            if not isinstance(rows, list):
                fail_envelope("a list of batches", rows)
            yield rows
            if not rows or page.get("has_more") is not True:
                return
            query[after] = read_id(rows[-1], "a batch")

    async def upload(self, path: str, file: Path, **fields: str) -> Any:  # noqa: ANN401 (any JSON)
        """Send a file as a form; tried again where that can help."""
        return await self._ask(
            "POST",
            path,
            lambda files: {"data": {**fields, "file": files.enter_context(file.open("rb"))}},
            _TRANSFER,
        )

    async def post_once(self, path: str, value: object) -> Any:  # noqa: ANN401 (any JSON)
        """Make something that must not be made twice."""
        body = orjson.dumps(value)
        return await self._ask("POST", path, lambda _: {"data": body, "headers": JSON_BODY}, once=True)

    async def post_file_once(self, path: str, file: Path) -> Any:  # noqa: ANN401 (any JSON)
        """The same with a file as the body."""
        return await self._ask(
            "POST",
            path,
            lambda files: {"data": files.enter_context(file.open("rb")), "headers": JSON_BODY},
            _TRANSFER,
            once=True,
        )

    async def download(self, url: str, file: Path, most: int) -> None:
        """Fetch a file, whole or not at all; keys in it are taken out. `most`: bytes that it may have."""
        ours, place = urlsplit(self.endpoint.url), urlsplit(url)
        if (place.scheme, place.netloc) != (ours.scheme, ours.netloc):
            raise ModelError(
                f"{self.name}: the results are at {place.scheme}://{place.hostname}, another server than "
                f"{ours.scheme}://{ours.hostname}; the key is not sent there"
            )
        await self._until_had(lambda: self._save(url, file, most), _TRANSFER)

    async def _ask(
        self, method: str, path: str, say: Say, seconds: float = 0.0, *, once: bool = False
    ) -> Any:  # noqa: ANN401 (any JSON)
        seconds = seconds or self.endpoint.timeout
        return await self._until_had(lambda: self._call(method, path, say), seconds, once=once)

    async def _until_had(
        self, sending: Callable[[], Coroutine[Any, Any, T | Fault]], seconds: float, *, once: bool = False
    ) -> T:
        patience = self.endpoint.patience
        tries = Tries(patience, patience.longest_wait if self._met else patience.first_wait)
        while True:
            fault = await self.guarded(sending(), seconds)
            if not isinstance(fault, Fault):
                self._met = True
                return fault
            detail = self.redactor.error(fault.detail)
            if fault.consequence == "stop":
                hint = "; does this server take batches?" if fault.status == 404 and not self._met else ""
                raise ServerStopError(f"{self.name}: {detail}{hint}")
            if fault.consequence != "retry":
                raise ModelError(f"{self.name} refuses the batch: {detail}")
            if once and not fault.is_free and fault.status != 429:
                raise UnsureError(detail)
            try:
                pause = tries.next_pause(fault)
            except AnswerError:
                self.away(detail)
            await asyncio.sleep(pause)

    async def _call(self, method: str, path: str, say: Say) -> Any:  # noqa: ANN401 (any JSON)
        with ExitStack() as files:
            async with self.request(method, self.endpoint.at(path), **say(files)) as response:
                if (refusal := await self.refusal(response)) is not None:
                    return refusal
                raw = await read_body(response, self.endpoint.body_cap)
        if raw is None:
            return retried("oversize", f"the body is longer than {self.endpoint.body_cap} bytes")
        try:
            value = read_json_body(raw)
        except AnswerError as error:
            return retried(error.reason, error.detail)
        error_ = read_error(value)
        return value if error_ is None else fault_of(*error_)

    async def _save(self, url: str, file: Path, most: int) -> Fault | None:
        part = file.with_suffix(".part")
        async with self.request("GET", url) as response:
            if (refusal := await self.refusal(response)) is not None:
                return refusal
            if response.headers.get("Content-Encoding", "identity") != "identity":
                return retried("not_json", "the results came packed")
            try:
                with part.open("wb") as out:
                    if too_much := await self._copy(response.content, out, most):
                        return retried("oversize", f"the results have {too_much}")
                    out.flush()
                    os.fsync(out.fileno())
                part.replace(file)
            except OSError as error:
                if isinstance(error, ConnectionError | TimeoutError):
                    raise
                raise StoreError(f"cannot keep the results of a batch: {error.strerror}") from error
        return None

    async def _copy(self, content: aiohttp.StreamReader, out: BinaryIO, most: int) -> str:
        """Copy line by line, for a key could stand across two pieces; what was too much, in words."""
        rest, size = b"", 0
        async for piece in content.iter_chunked(_CHUNK):
            size += len(piece)
            if size > most:
                return f"more than {most} bytes"
            lines, newline, rest = (rest + piece).rpartition(b"\n")
            if len(rest) > _LONGEST_LINE:
                return f"a line of more than {_LONGEST_LINE} bytes"
            out.write(self.redactor.raw(lines + newline))
        out.write(self.redactor.raw(rest))
        return ""

    def away(self, detail: str) -> NoReturn:
        raise ServerAwayError(f"{self.name}: {detail}; the same command goes on later")


LEDGER: Final = "batches.jsonl"
_FOLDER: Final = "batches"

_KEY: Final = re.compile(rb'"custom_id": ?"([0-9a-f]{64})"')

State = Literal["prepared", "submitted", "fetched", "done"]
Ending = Literal["ended", "expired", "cancelled"]


class Place(NamedTuple):
    """Where a result stands."""

    path: Path
    start: int
    length: int

    @property
    def line(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read(self.length)


@dataclass(kw_only=True)
class Batch:
    """One batch. Its last three fields are not in the ledger's file: they last as long as a session."""

    number: int  # from 1, in this run
    model: str
    count: int
    prompt: int = 0  # tokens of all prompts at most
    completion: int = 0  # tokens of all replies at most
    token: str = ""  # that it is sent with, where there is a place for it
    time: str = ""  # it was prepared, ISO 8601 with offset
    # prepared (it may have been sent or not), submitted (it was, and we know its id), fetched (its results
    # are here), done (they are in the call store)
    state: State = "prepared"
    id: str = ""  # the provider's; empty as long as it is not known
    # whether the id was found and not given, so that the results must tell if it is ours
    guessed: bool = False
    ending: Ending = "ended"  # how it ended, once its results are here
    wrong: Sequence[str] = ()  # ids that were found and turned out to be of others
    # by key, those whose results were not read: where one stands, what came instead, None if nothing did
    calls: dict[bytes, Place | Fault | None] = field(init=False, default_factory=dict)
    hold: int = field(init=False, default=0)  # number under which the budget has what it may cost
    done: int = field(init=False, default=0)  # requests that are answered or failed


class Ledger:
    """All batches of a run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        self.folder = folder / _FOLDER
        self.batches: dict[int, Batch] = {}
        for row in _rows(self.path):
            try:
                before = self.batches.get(row["number"])
                batch = Batch(**row) if before is None else replace(before, **row)
            except (KeyError, TypeError, ValueError) as error:
                raise StoreError(f"{self.path} is damaged at {row!r}; restore it from a copy") from error
            self.batches[batch.number] = batch

    @property
    def open(self) -> list[Batch]:
        return [batch for batch in self.batches.values() if batch.state != "done"]

    @property
    def out(self) -> list[Batch]:
        return [batch for batch in self.open if batch.state != "fetched"]

    def batch_of(self, key: bytes) -> Batch | None:
        """The batch that has this call, unless its result was read."""
        return next((batch for batch in self.open if key in batch.calls), None)

    @property
    def ids(self) -> frozenset[str]:
        found = {batch.id for batch in self.batches.values()} - {""}
        return frozenset(found.union(*(batch.wrong for batch in self.batches.values())))

    def requests(self, batch: Batch) -> Path:
        return self.folder / f"{batch.number}.requests.jsonl"

    def keys(self, batch: Batch) -> set[bytes]:
        path = self.requests(batch)
        after = f"restore it from a copy. Without {self.path} the calls of the batch are sent and paid again"
        try:
            with path.open("rb") as file:
                found = set(map(key_in, file)) - {b""}
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}; {after}") from error
        if len(found) != batch.count:
            raise StoreError(f"{path} is damaged: {len(found)} of {batch.count} calls are in it; {after}")
        return found

    def results(self, batch: Batch, number: int) -> Path:
        return self.folder / f"{batch.number}.results-{number}.jsonl"

    def all_results(self, batch: Batch) -> list[Path]:
        return sorted(self.folder.glob(f"{batch.number}.results-*.jsonl"))

    def next(self, model: str, calls: int, most: Usage) -> Batch:
        """A batch to be prepared; nothing of it is written yet."""
        self.folder.mkdir(exist_ok=True)
        number = max(self.batches, default=0) + 1
        return Batch(number=number, model=model, count=calls, prompt=most.prompt, completion=most.completion)

    def prepare(self, batch: Batch) -> None:
        """Write down that a batch is about to be sent; its file must be there."""
        batch.time = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self.batches[batch.number] = batch
        self.mark(batch, **{one.name: getattr(batch, one.name) for one in fields(batch) if one.init})

    def mark(self, batch: Batch, **changes: object) -> None:
        """Write down what became of a batch, before anything rests on it."""
        self._write({**changes, "number": batch.number})
        for name, value in changes.items():
            setattr(batch, name, value)

    def finish(self, batch: Batch) -> None:
        """Every answer of it is in the call store: its files are not needed any more."""
        self.mark(batch, state="done")
        batch.calls.clear()
        for path in self.folder.glob(f"{batch.number}.*"):
            path.unlink(missing_ok=True)

    def _write(self, row: dict[str, object]) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(orjson.dumps(row) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; nothing was sent") from error


def key_in(line: bytes) -> bytes:
    """The key in a line of questions or results, whatever else it holds; empty where there is none."""
    match = _KEY.search(line)  # a quote within a text is escaped
    return b"" if match is None else bytes.fromhex(match[1].decode())


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    content = path.read_bytes()
    whole, _, torn = content.rpartition(b"\n")
    if torn:
        with path.open("r+b") as file:
            file.truncate(len(content) - len(torn))
    try:
        return [orjson.loads(line) for line in whole.splitlines() if line]
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{path} is damaged: {error}; restore it from a copy") from error


def refuse_open_batches(folder: Path) -> None:
    """Refuse to pay for calls that are in a batch already."""
    if found := Ledger(folder).open:
        names = ", ".join(batch.id or "one that may not have got there" for batch in found)
        raise UsageError(
            f"{folder} has calls in batches ({names}): fetch them with --engine batch, or delete "
            f"{folder / LEDGER}, and they are paid again"
        )


_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_HEX: Final = re.compile(r"[0-9a-f]{64}")


class Limits(NamedTuple):
    """What one batch may hold at most: requests, and bytes of all."""

    requests: int
    size: int


class Frame(NamedTuple):
    """What stands before, between and after the requests in what is sent."""

    head: bytes
    between: bytes
    tail: bytes


@frozen
class Status:
    """How a batch stands."""

    # still running; ended, with a result for what was answered; expired or cancelled, with those until then;
    # or failed as a whole
    state: Literal["running", "failed"] | Ending
    done: int = 0  # requests that are answered or failed
    # addresses of the results, once it has ended, each with the lines that it has at least
    results: tuple[tuple[str, int], ...] = ()
    why: str = ""


class BatchDialect(Protocol):
    """One provider; keeps no state."""

    limits: Limits
    frame: Frame

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        """One request, under the key that its call is stored under."""

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:
        """Send a file of requests, with a token where there is a place for it; the id of the batch."""

    async def find(self, wire: BatchWire, batch: Batch, known: Container[str]) -> str:
        """The id of a batch that may have got there; empty if it did not."""

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        """How a batch stands."""

    def read(self, value: Mapping[str, Any]) -> object:
        """Read one line of results: a body as a live call would have brought it, or a `Fault`."""


def read_id(value: object, what: str) -> str:
    """The id in an answer of the provider; it becomes a part of an address."""
    found = value.get("id") if isinstance(value, dict) else None
    if not isinstance(found, str) or not _ID.fullmatch(found):
        fail_envelope(f"the id of {what}", found)
    return found


def read_key(value: Mapping[str, Any]) -> bytes:
    """The key in a line of results; empty for what is none of ours."""
    found = value.get("custom_id")
    return bytes.fromhex(found) if isinstance(found, str) and _HEX.fullmatch(found) else b""


def count_of(value: Mapping[str, Any], *names: str) -> int:
    """The sum of some counts of requests; what the provider does not count is 0."""
    counts = value.get("request_counts")
    found = [counts.get(name) for name in names] if isinstance(counts, dict) else []
    return sum(number for number in found if type(number) is int and number > 0)


EXPIRED: Final = Fault(
    consequence="retry", reason="timeout", detail="the batch ended before its turn", is_free=True
)
"""The fault of a request that was never answered; nobody pays for it."""


def refused(value: object, status: int | None) -> Fault:
    """The fault of a request that the provider refused or could not answer; nobody pays for it."""
    error = read_error(value)
    if error is None:
        if status is None:
            raise AnswerError("bad_envelope", "a result has neither an answer nor an error")
        error = status, ""
    return fault_of(status or error[0], error[1])


def open_batch_dialect(name: str) -> BatchDialect:
    return MessageBatches() if name == "anthropic" else FileBatches()


_RUNNING: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_ENDED: Final[Mapping[object, Ending]] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
}
_PATH: Final = "/v1/chat/completions"
_PAGES: Final = 20


class FileBatches:
    """The Batch API as OpenAI has it; satisfies `llm.batch_providers.BatchDialect`."""

    limits = Limits(50_000, 200_000_000)
    frame = Frame(b"", b"\n", b"\n")

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"custom_id": key.hex(), "method": "POST", "url": _PATH, "body": payload}

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:
        """Upload the file, then make the batch; an upload costs nothing and may be repeated."""
        uploaded = await wire.upload("files", file, purpose="batch")
        made = {
            "input_file_id": read_id(uploaded, "an uploaded file"),
            "endpoint": _PATH,
            "completion_window": "24h",
            "metadata": {"adjudge": token},
        }
        return read_id(await wire.post_once("batches", made), "a batch")

    async def find(self, wire: BatchWire, batch: Batch, known: Container[str]) -> str:  # noqa: ARG002
        """Look for the token; every batch of ours carries one."""
        async for rows in wire.pages("batches", "after"):
            for row in rows:
                if isinstance(row, dict) and (row.get("metadata") or {}).get("adjudge") == batch.token:
                    return read_id(row, "a batch")
        return ""

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        value = object_of(await wire.get(f"batches/{batch_id}"), "a batch")
        word = value.get("status")
        done = count_of(value, "completed", "failed")
        if word in _RUNNING:
            return Status(state="running", done=done)
        if word == "failed":
            errors = value.get("errors")
            rows = errors.get("data") if isinstance(errors, dict) else None
            found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            words = [f"{row.get('code')}: {row.get('message')}" for row in found[:3]]
            return Status(state="failed", why="; ".join(words) or "no reason was given")
        if (state := _ENDED.get(word)) is None:
            raise AnswerError("bad_envelope", f"{str(word)[:40]!r} is no status of a batch that we know")
        answered = count_of(value, "completed")
        if answered and not value.get("output_file_id"):  # they are paid
            fail_envelope(f"a file of {answered} results", value.get("output_file_id"))
        files = (("output_file_id", answered), ("error_file_id", 0))
        return Status(
            state=state,
            done=done,
            results=tuple(
                (wire.endpoint.at(f"files/{read_id({'id': value[name]}, 'a file')}/content"), lines)
                for name, lines in files
                if value.get(name)
            ),
        )

    def read(self, value: Mapping[str, Any]) -> object:
        """Read one line of the file of results, or of errors."""
        response, error = value.get("response"), value.get("error")
        if isinstance(response, dict):
            status = response.get("status_code")
            if status == 200:
                return response.get("body")
            return refused(response.get("body"), status if type(status) is int else None)
        code = error.get("code") if isinstance(error, dict) else None
        is_over = str(code) in {"batch_expired", "batch_cancelled"}
        return EXPIRED if is_over else refused({"error": error}, None)


_ANTHROPIC_PATH: Final = "messages/batches"
_DRIFT: Final = dt.timedelta(minutes=5)  # between the provider's clock and ours
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_ALL: Final = ("succeeded", "errored", "canceled", "expired")


class MessageBatches:
    """The Message Batches API; satisfies `llm.batch_providers.BatchDialect`."""

    limits = Limits(100_000, 256_000_000)
    frame = Frame(b'{"requests":[', b",\n", b"]}\n")

    def line(self, key: bytes, payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"custom_id": key.hex(), "params": payload}

    async def submit(self, wire: BatchWire, file: Path, token: str) -> str:  # noqa: ARG002 (no place for it)
        """Send all at once; there is no place for the token."""
        return read_id(await wire.post_file_once(_ANTHROPIC_PATH, file), "a batch")

    async def find(self, wire: BatchWire, batch: Batch, known: Container[str]) -> str:
        """Look for one of the same size that was made since; its results will tell whether it is ours."""
        since = dt.datetime.fromisoformat(batch.time) - _DRIFT
        async for rows in wire.pages(_ANTHROPIC_PATH, "after_id"):
            recent = [row for row in rows if isinstance(row, dict) and _made(row) >= since]
            for row in recent:
                if count_of(row, "processing", *_ALL) == batch.count and row.get("id") not in known:
                    return read_id(row, "a batch")
            if len(recent) < len(rows):
                break
        return ""

    async def status(self, wire: BatchWire, batch_id: str) -> Status:
        value = object_of(await wire.get(f"{_ANTHROPIC_PATH}/{batch_id}"), "a batch")
        word = value.get("processing_status")
        if word not in ("in_progress", "canceling", "ended"):
            raise AnswerError("bad_envelope", f"{str(word)[:40]!r} is no status of a batch that we know")
        done = count_of(value, *_ALL)
        if word != "ended":
            return Status(state="running", done=done)
        place = value.get("results_url")
        if not isinstance(place, str):
            fail_envelope("the address of the results", place)
        return Status(
            state="cancelled" if count_of(value, "canceled") else "ended",
            done=done,
            results=((place, done),),
        )

    def read(self, value: Mapping[str, Any]) -> object:
        result = value.get("result")
        kind = result.get("type") if isinstance(result, dict) else None
        if not isinstance(result, dict) or kind not in _ALL:
            raise AnswerError("bad_envelope", f"{str(kind)[:40]!r} is no type of a result that we know")
        if kind == "succeeded":
            return result.get("message")
        return _fault(result.get("error")) if kind == "errored" else EXPIRED


def _fault(error: object) -> Fault:
    inner = error.get("error") if isinstance(error, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return refused(error, _STATUS.get(kind) if isinstance(kind, str) else None)


def _made(row: Mapping[str, Any]) -> dt.datetime:
    """When a batch was made; long ago for one that does not say."""
    try:
        when = dt.datetime.fromisoformat(str(row.get("created_at")))
    except ValueError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
    return when if when.tzinfo else when.replace(tzinfo=dt.UTC)
