"""Ask models in batches: providers answer within a day, for less money.

A run then works in waves. `BatchModel` answers what earlier batches have brought and collects every other
question in its `Spool`, a file. Between two waves the `Desk` makes batches of the collected questions, sends
them, waits for them and fetches their results; `Results` finds a result by the key of its question.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import orjson

from adjudge.core.ask import Reply, Usage
from adjudge.errors import (
    AdjudgeError,
    AnswerError,
    ModelError,
    ServerAwayError,
    ServerStopError,
    StoreError,
    UsageError,
)
from adjudge.llm.batch_providers import (
    Batch,
    BatchDialect,
    BatchWire,
    Ending,
    Frame,
    Item,
    Ledger,
    Limits,
    Sent,
    Status,
    UnsureError,
    expired,
    key_in,
    open_batch_dialect,
    read_key,
)
from adjudge.llm.dialect import read_json_body, refuse_duplicate_keys
from adjudge.llm.faults import Fault, retried
from adjudge.llm.limits import Limiter
from adjudge.llm.model import NotYetError, Request, SchemaUse
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.money import Account, Meter, batch_name, most_of
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.remote import RemoteModel
from adjudge.store.call_file import Attempt

__all__ = ["Desk", "Found", "Results", "Spool", "check_batches", "open_desk"]


_NOTHING: Final = Usage()


class _Row(NamedTuple):
    key: bytes
    start: int
    length: int
    prompt: int
    completion: int


class Chunk(NamedTuple):
    """What goes out as one batch: its keys, and what it may cost at most."""

    keys: tuple[bytes, ...]
    most: Usage
    start: int
    lengths: tuple[int, ...]


class Spool:
    """Questions that were not sent yet, each once.

    Args:
        folder: on whose disk they wait, from the first; they have no name there, and vanish with the process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: IO[bytes] | None = None
        self._rows: dict[bytes, _Row] = {}
        self._end = 0

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: bytes, line: bytes, most: Usage) -> None:
        """Take one question as it will be sent, and what it may cost at most.

        Raises:
            StoreError: there is no room for it.
        """
        try:
            self._file.seek(self._end)
            self._file.write(line)
        except OSError as error:
            raise _no_room(error) from error
        self._rows[key] = _Row(key, self._end, len(line), most.prompt, most.completion)
        self._end += len(line)

    def chunks(self, limits: Limits, frame: Frame, fits: Callable[[Usage], bool]) -> Iterator[Chunk]:
        """Cut them into batches, as far as `fits` lets them; it is asked with all of them so far."""
        rows, before = list(self._rows.values()), _NOTHING
        while rows:
            count, most = _first(rows, limits, frame, fits, before)
            if not count:
                return
            taken, rows, before = rows[:count], rows[count:], before + most
            keys, lengths = tuple(row.key for row in taken), tuple(row.length for row in taken)
            yield Chunk(keys, most, taken[0].start, lengths)

    def most_of(self, count: int) -> Usage:
        """What the first so many questions may cost at most."""
        rows = islice(self._rows.values(), count)
        return sum((Usage(prompt=row.prompt, completion=row.completion) for row in rows), _NOTHING)

    def write(self, chunk: Chunk, frame: Frame, path: Path) -> None:
        """Write a chunk as it is sent; it is on the disk afterwards.

        Raises:
            StoreError: there is no room for it.
        """
        try:
            self._file.seek(chunk.start)
            with path.open("wb") as out:
                out.write(frame.head)
                for number, length in enumerate(chunk.lengths):
                    out.write((frame.between if number else b"") + self._file.read(length))
                out.write(frame.tail)
                out.flush()
                os.fsync(out.fileno())  # which keys are out is known by this file alone
        except OSError as error:
            raise _no_room(error) from error

    def clear(self) -> None:
        """Forget what was sent, and what is asked for again by whoever needs it."""
        if self._rows:
            self._rows.clear()
            self._end = 0
            self._file.truncate(0)

    def close(self) -> None:
        """Drop the file."""
        if self._opened is not None:
            with suppress(OSError):
                self._opened.close()

    @property
    def _file(self) -> IO[bytes]:
        if self._opened is None:
            self._opened = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (as long as the run)
        return self._opened


def _first(
    rows: list[_Row], limits: Limits, frame: Frame, fits: Callable[[Usage], bool], before: Usage
) -> tuple[int, Usage]:
    """How many of these make one batch, and what they may cost at most, beside what stood before them."""
    size, most = len(frame.head) + len(frame.tail), _NOTHING
    for count, row in enumerate(rows):
        size += row.length + len(frame.between)
        more = most + Usage(prompt=row.prompt, completion=row.completion)
        if count == limits.requests or size > limits.size or not fits(before + more):
            return count, most
        most = more
    return len(rows), most


def _no_room(error: OSError) -> StoreError:
    return StoreError(f"cannot keep the questions of a batch: {error.strerror}; make room and run it again")


_LONGEST: Final = 8 << 20  # bytes of a line: a body, what stands around it, and alternatives of its tokens


class _Place(NamedTuple):
    path: Path
    start: int
    length: int


@dataclass
class Found:
    """What some files held.

    Args:
        lines: of questions of ours.
        unknown: lines of questions that nobody asked.
        torn: lines that are no JSON, as where a file was cut.
        twice: questions with two different results.
    """

    lines: int = 0
    unknown: int = 0
    torn: int = 0
    twice: int = 0

    def __str__(self) -> str:
        """What is odd about them; empty where nothing is."""
        odd = {
            "results of no question of ours": self.unknown,
            "lines that cannot be read": self.torn,
            "questions with two results": self.twice,
        }
        return ", ".join(f"{number} {what}" for what, number in odd.items() if number)


class Results:
    """Results by key; the lines stay on disk."""

    def __init__(self, dialect: BatchDialect) -> None:
        self._dialect = dialect
        self._places: dict[bytes, _Place | Fault] = {}

    def __contains__(self, key: bytes) -> bool:
        """Whether there is a result that was not read."""
        return key in self._places

    def add(self, path: Path, wanted: Container[bytes], found: Found) -> None:
        """Find the lines of a file.

        Args:
            path: of the file.
            wanted: keys that were sent.
            found: is counted up.
        """
        start = 0
        with path.open("rb") as file:
            while line := file.readline():
                if line.strip():
                    self._add(line, _Place(path, start, len(line)), wanted, found)
                start += len(line)

    def add_missing(self, keys: set[bytes], fault: Fault) -> int:
        """Say what became of the questions that have no result; how many there are."""
        missing = [key for key in keys if key not in self._places]
        self._places.update(dict.fromkeys(missing, fault))
        return len(missing)

    def drop(self, keys: set[bytes]) -> None:
        """Forget what nobody asked for."""
        for key in keys:
            self._places.pop(key, None)

    def take(self, key: bytes, *, strictly: bool) -> Item | None:
        """The result of a question, once; None where there is none.

        Args:
            key: of the question.
            strictly: refuse a line in which one object gives a key two values.
        """
        place = self._places.pop(key, None)
        if place is None or isinstance(place, Fault):
            return None if place is None else Item(fault=place)
        try:
            line = _line_at(place)
            if strictly:
                refuse_duplicate_keys(line)
            return self._dialect.read(_object(line))
        except AnswerError as error:
            return Item(fault=retried(error.reason, error.detail))

    def _add(self, line: bytes, place: _Place, wanted: Container[bytes], found: Found) -> None:
        try:
            value = _object(line)
        except AnswerError as error:
            found.torn += 1
            if error.reason == "encoding" and (said := key_in(line)) in wanted:
                self._places.setdefault(said, retried(error.reason, error.detail))
            return
        key = read_key(value)
        if key is None or key not in wanted:
            found.unknown += 1
            return
        before = self._places.get(key)
        if before is None:
            found.lines += 1
            self._places[key] = place
        elif isinstance(before, Fault) or _said(_object(_line_at(before))) != _said(value):
            found.twice += 1
            self._places[key] = retried("ambiguous", "the batch brought two different results")


def _line_at(place: _Place) -> bytes:
    with place.path.open("rb") as file:
        file.seek(place.start)
        return file.read(place.length)


def _object(line: bytes) -> dict[str, Any]:
    """A line as a JSON object.

    Raises:
        AnswerError: it is none.
    """
    if len(line) > _LONGEST:
        raise AnswerError("oversize", f"a line of results is longer than {_LONGEST} bytes")
    value = read_json_body(line)
    if not isinstance(value, dict):
        raise AnswerError("bad_envelope", "a line of results is no object")
    return value


def _said(value: dict[str, Any]) -> list[object]:
    """What a line says of its question, without the ids that the provider gives each line."""
    response = value.get("response")
    if isinstance(response, dict):
        return [response.get("status_code"), response.get("body"), value.get("error")]
    return [value.get("result"), value.get("error")]


_TIMES: Final = 3  # that a question is sent in all, where its fault says nothing else


class BatchModel:
    """One model of one provider; satisfies `llm.model.Model`.

    Args:
        endpoint: the model on its server.
        name: `provider/model`, as in the signature.
        folder: run directory.
    """

    limiter: Limiter | None = None

    def __init__(self, endpoint: Endpoint, name: str, folder: Path) -> None:
        self.name = name
        self.wire = BatchWire(endpoint, self.name)
        self.dialect = open_batch_dialect(endpoint.provider.batch)
        self.results = Results(self.dialect)
        self.spool = Spool(folder)
        self.sent: set[bytes] = set()
        """Keys in batches whose results are not here."""
        self.stopped: AdjudgeError | None = None
        """Why no further batch shall be sent."""
        self.account = Account(self.name)
        self._patience = endpoint.patience
        self._times: Counter[bytes] = Counter()
        self._failed: dict[bytes, Fault] = {}
        self._refusals: Counter[str] = Counter()
        self._note: Callable[[Attempt], None] | None = None
        self._sends_schema = endpoint.constrained
        self.schema = SchemaUse("on" if endpoint.constrained else "off")
        """What becomes of the JSON schema: it is sent or not; none is only tried, for that takes a day."""

    tools_refused = ""
    """What the server said to tools: judges that call them are not judged in batches."""

    def leave_schema(self, why: str) -> None:
        """Send no schema any more; see `llm.model_choice.Remote`."""
        self.schema = SchemaUse("refused", why)

    def was_held(self, key: bytes) -> bool:  # noqa: ARG002 (as in `llm.model_choice.Remote`)
        """Whether the last answer to a call came to a request with its schema."""
        return self._sends_schema

    def observe(
        self, note: Callable[[Attempt], None], depart: Callable[[Attempt], Awaitable[None]] | None = None
    ) -> None:
        """Have every failed attempt written down; what is sent stands in the ledger of batches."""
        del depart
        self._note = note

    def charge(self, account: Account) -> None:
        """Have every attempt counted."""
        self.account = account

    async def drain(self) -> None:
        """Send nothing more; what was sent stays with the provider."""

    async def close(self) -> None:
        """Let the connections go."""
        self.spool.close()
        await self.wire.close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`.

        Raises:
            AnswerError: its result is none, after as many batches as its fault allows.
            NotYetError: it is in a batch, or will be in the next.
        """
        key = request.key
        item = self.results.take(key, strictly=self.wire.reads_objects(request))
        if item is not None:
            outcome = self._read(item, request)
            if isinstance(outcome, Reply):
                return outcome
            self._take(key, outcome)
        if key in self._failed:
            fault = self._failed[key]
            raise AnswerError(fault.reason, fault.detail)
        if key not in self.sent and key not in self.spool and self.stopped is None:
            line = orjson.dumps(self.dialect.line(key, self.wire.dialect.payload(request)))
            self.spool.add(key, line, most_of(request))
        raise NotYetError

    def _read(self, item: Item, request: Request) -> Reply | Fault:
        """The result as a live call would have had it, counted and, where it is a fault, written down."""
        outcome = item.fault or self.wire.read(orjson.dumps(item.body), request)
        unsure = self.account.settle(request, None, outcome)
        if isinstance(outcome, Reply):
            self._refusals.clear()
        elif self._note is not None:
            when, detail = dt.datetime.now(dt.UTC), self.wire.redactor.error(outcome.detail)
            said = (outcome.reason, detail, outcome.status, outcome.usage, outcome.body)
            self._note(
                Attempt(
                    request.key,
                    when.isoformat(timespec="milliseconds"),
                    0.0,
                    *said,
                    self.account.model,
                    unsure,
                )
            )
        return outcome

    def _take(self, key: bytes, fault: Fault) -> None:
        """Decide whether a question that got no answer is sent again."""
        self._times[key] += 1
        detail = self.wire.redactor.error(fault.detail)
        if fault.consequence == "stop":
            self.stopped = ServerStopError(f"{self.name}: {detail}")
        elif fault.consequence == "setting":
            self._refusals[fault.detail] += 1
            if self._refusals[fault.detail] >= self._patience.settings:
                self.stopped = ModelError(f"{self.name} refuses every call: {detail}")
            self._failed[key] = fault
        elif fault.consequence == "fail" or self._times[key] >= (fault.tries or _TIMES):
            self._failed[key] = fault


_TRIES: Final = 3  # to send a batch, or to fetch whole results
_LONGEST_PAUSE: Final = 60.0
_SETTLED: Final = 8  # looks after which a batch that got there is in the list: half a minute
_FEWEST: Final = 4  # at least one in so many calls must fit the budget: no day is spent on a handful
_LINE: Final = 1 << 20  # bytes that a result may have
_LATER: Final = re.compile(r"token_limit|enqueued|quota|billing|rate_?limit", re.IGNORECASE)
_MISSING: Final = Fault(consequence="retry", reason="missing", detail="the batch brought no result for it")


def pause_before(look: int) -> float:
    """Seconds before the provider is asked again how its batches stand, the first time being 0."""
    return min(1.5**look, _LONGEST_PAUSE)


class Desk:
    """The batches of one session.

    Args:
        models: by name, those that are asked in batches.
        folder: run directory.
        token: of the run; what is sent carries it, where there is a place for it.
    """

    def __init__(self, models: Mapping[str, BatchModel], folder: Path, token: str) -> None:
        self._models = models
        self._ledger = Ledger(folder)
        self._token = token
        self._meter = Meter({})
        self._say: Callable[[str], None] = lambda _: None
        self._sync: Callable[[], None] = lambda: None
        self.is_open = False
        self._keys: dict[int, set[bytes]] = {}
        self._holds: dict[int, int] = {}
        self._done: dict[int, int] = {}
        self.wave = 0

    @property
    def words(self) -> str:
        """How it stands, for a line of progress."""
        out = [batch for batch in self._ledger.open if batch.number in self._done]
        if not out:
            return ""
        done, sent = sum(self._done[batch.number] for batch in out), sum(batch.count for batch in out)
        return f"wave {self.wave}: {sent:,} submitted, {done:,} done"

    def begin(self, meter: Meter, say: Callable[[str], None], sync: Callable[[], None]) -> None:
        """Take up what an earlier session has sent.

        Args:
            meter: of the run; every batch that is out is held against the budget.
            say: tells a person.
            sync: puts the answers that are in the call store where no power cut can take them.
        """
        self._meter, self._say, self._sync, self.is_open = meter, say, sync, True
        for batch in self._ledger.open:
            self._watch(batch, self._ledger.keys(batch))
            if batch.state == "fetched":
                self._index(batch)
            say(f"taking up {count_calls(batch)} in batch {batch.id or batch.number} of {batch.model}")

    async def turn(self) -> None:
        """End a wave: send what it asked, and wait for it.

        Raises:
            BudgetError: nothing of it fits the budget.
            ModelError: a batch was refused.
            ServerStopError: the provider stopped us; the same run goes on later.
        """
        self.end()
        for batch in self._ledger.open:
            if batch.state == "prepared":
                await self._send(batch, is_new=False)
        left = {n: m.spool.most_of(_least(len(m.spool))) for n, m in self._models.items() if len(m.spool)}
        for model in self._models.values():
            await self._submit(model)
        if not self._ledger.open:
            name, most = next(iter(left.items()))
            raise self._meter.refusal(
                self._models[name].account.model, most, "the smallest batch worth a wave"
            )
        self.wave += 1
        await self._wait()

    def end(self) -> None:
        """Let go of batches whose results were read: their answers are in the call store.

        Raises:
            AdjudgeError: why a model shall be asked no more.
        """
        if read := [batch for batch in self._ledger.open if batch.state == "fetched"]:
            self._sync()
        for batch in read:
            self._models[batch.model].results.drop(self._keys.pop(batch.number))
            self._meter.free(self._holds.pop(batch.number))
            self._ledger.finish(batch)
        for model in self._models.values():
            if model.stopped is not None:
                raise model.stopped

    # Out...

    async def _submit(self, model: BatchModel) -> None:
        """Send what a model is asked, in as many batches as its provider wants and the budget bears."""
        limits, frame, spool = model.dialect.limits, model.dialect.frame, model.spool
        chunks = list(spool.chunks(limits, frame, lambda u: self._meter.fits(model.account.model, u)))
        if sum(len(chunk.keys) for chunk in chunks) >= _least(len(spool)):
            for chunk in chunks:
                batch = self._ledger.next(model.name)
                batch.count = len(chunk.keys)
                batch.prompt, batch.completion = chunk.most.prompt, chunk.most.completion
                spool.write(chunk, frame, self._ledger.requests(batch))
                self._ledger.prepare(batch)
                self._watch(batch, set(chunk.keys))
                await self._send(batch, is_new=True)
        spool.clear()

    def _watch(self, batch: Batch, keys: set[bytes]) -> None:
        """Remember that these are out, and what they may cost."""
        model = self._models[batch.model]
        self._keys[batch.number] = keys
        model.sent |= keys
        most = Usage(prompt=batch.prompt, completion=batch.completion)
        self._holds[batch.number] = self._meter.hold(model.account.model, most)
        self._done[batch.number] = 0

    async def _send(self, batch: Batch, *, is_new: bool) -> None:
        """Send a batch, unless it may have got there already and does turn up."""
        model, token, why = self._models[batch.model], f"{self._token}-{batch.number}", ""
        for _ in range(_TRIES):
            if not is_new and (found := await self._find(model, batch, token)):
                self._ledger.mark(batch, id=found, state="submitted", guessed=True)
                break
            is_new = False
            try:
                sent = await model.dialect.submit(model.wire, self._ledger.requests(batch), token)
            except (UnsureError, AnswerError) as error:
                why = str(error)
                await asyncio.sleep(pause_before(_SETTLED))
                continue
            self._ledger.mark(batch, id=sent, state="submitted", guessed=False)
            break
        else:
            model.wire.away(why)
        self._say(f"wave {self.wave + 1}: {count_calls(batch)} in batch {batch.id} of {batch.model}")

    async def _find(self, model: BatchModel, batch: Batch, token: str) -> str:
        try:
            return await model.dialect.find(model.wire, Sent(batch, token, self._ledger.ids))
        except (AnswerError, ModelError) as error:
            raise ServerStopError(
                f"cannot tell whether batch {batch.number} was taken, as the list of batches cannot be had: "
                f"{error}. If it was not, delete {self._ledger.path}; if it was, its calls are paid again"
            ) from error

    # And back...

    async def _wait(self) -> None:
        """Look after all batches until the results of each are here."""
        look = 0
        while out := [batch for batch in self._ledger.open if batch.state != "fetched"]:
            for batch in out:
                if batch.state == "prepared":  # what was found was another's
                    await self._send(batch, is_new=False)
                status = await self._status(batch)
                self._done[batch.number] = status.done
                if status.state != "running":
                    await self._fetch(batch, status)
            if any(batch.state != "fetched" for batch in self._ledger.open):
                await asyncio.sleep(pause_before(look))
                look += 1

    async def _status(self, batch: Batch) -> Status:
        model, why = self._models[batch.model], ""
        for _ in range(_TRIES):
            try:
                return await model.dialect.status(model.wire, batch.id)
            except AnswerError as error:
                why = str(error)
            except ServerStopError as error:
                if "status 404" not in str(error):
                    raise
                raise ServerStopError(
                    f"{error}: batch {batch.id} is not there; is this the key that it was sent with? "
                    f"Without {self._ledger.path} its calls are sent and paid again"
                ) from error
        raise ServerAwayError(f"{model.name}: batch {batch.id}: {why}; the same command goes on later")

    async def _fetch(self, batch: Batch, status: Status) -> None:
        model = self._models[batch.model]
        if status.state == "failed":
            self._ledger.finish(batch)
            later = ServerAwayError if _LATER.search(status.why) else ModelError
            raise later(f"{model.name} refused batch {batch.id}: {model.wire.redactor.error(status.why)}")
        for number, (url, least) in enumerate(status.results):
            path = self._ledger.results(batch, number)
            for _ in range(_TRIES):
                await model.wire.download(url, path, batch.count * _LINE)
                with path.open("rb") as file:
                    if sum(bool(line.strip()) for line in file) >= least:
                        break
        ending: Ending = "cancelled" if status.state == "cancelled" else "ended"
        self._ledger.mark(batch, state="fetched", ending="expired" if status.expired else ending)
        self._index(batch)

    def _index(self, batch: Batch) -> None:
        """Have the results at hand; what has none is asked again."""
        model, keys, found = self._models[batch.model], self._keys[batch.number], Found()
        for path in self._ledger.all_results(batch):
            model.results.add(path, keys, found)
        if batch.guessed and not found.lines:
            wrong = (*batch.wrong, batch.id)
            self._ledger.mark(batch, id="", state="prepared", guessed=False, wrong=wrong)
            return
        model.sent -= keys
        if batch.ending == "cancelled":
            model.stopped = ServerStopError(
                f"{model.name}: batch {batch.id} was cancelled; the same command sends what it left over"
            )
        else:
            model.results.add_missing(keys, expired() if batch.ending == "expired" else _MISSING)
        if str(found):
            self._say(f"batch {batch.id}: {found}")


def _least(waiting: int) -> int:
    """How many of the calls that wait must be affordable, so that a wave is begun."""
    return -(-waiting // _FEWEST)


def count_calls(batch: Batch) -> str:
    """How many calls a batch has, in words."""
    return f"{batch.count:,} call{'' if batch.count == 1 else 's'}"


_OPTION: Final = "--engine batch"


def check_batches(models: Models) -> None:
    """Refuse models that cannot be asked in batches, and those that need not be.

    Raises:
        UsageError: as said.
    """
    remotes = [model for model in models.all if isinstance(model.remote, RemoteModel)]
    if not remotes:
        raise UsageError(f"{_OPTION}: {models.name} is not on a server; leave the option out")
    for model in remotes:
        if isinstance(model.remote, RemoteModel) and not model.remote.endpoint.provider.batch:
            known = ", ".join(row.name for row in PROVIDERS.values() if row.batch)
            raise UsageError(
                f"{_OPTION}: {model.remote.endpoint.provider.name} takes no batches that we know of; "
                f"{known} do, and servers at --base-url that speak as OpenAI does"
            )


def open_desk(models: Models, folder: Path, token: str) -> tuple[Models, Desk]:
    """The same models, asked in batches, and the desk that sends and fetches these.

    Args:
        models: as they are asked one by one.
        folder: run directory.
        token: of the run; its batches carry it.
    """
    opened: dict[str, OpenModel] = {}
    for model in models.all:
        if isinstance(model.remote, RemoteModel) and model.name not in opened:
            batched = BatchModel(model.remote.endpoint, model.name, folder)
            billed = batch_name(model.name)
            opened[model.name] = replace(model, model=batched, remote=batched, billed_as=billed)
    roles: Mapping[str, OpenModel] = {
        role: opened.get(model.name, model) for role, model in models.roles.items()
    }
    default = opened.get(models.default.name, models.default)
    desks = {m.model.name: m.model for m in opened.values() if isinstance(m.model, BatchModel)}
    return replace(models, default=default, roles=roles), Desk(desks, folder, token)
