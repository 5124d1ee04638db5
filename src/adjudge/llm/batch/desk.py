"""What goes out and comes back between two waves of a run: batches are made, sent, waited for and fetched.

A wave is all that the units of work of a run ask until they can get no further. Whatever stops the process,
the ledger knows what was sent; the next session takes it up, and sends nothing twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NoReturn

from adjudge.core.ask import Usage
from adjudge.errors import AnswerError, ModelError, ServerAwayError, ServerStopError
from adjudge.llm.batch.dialect import Sent, Status, expired
from adjudge.llm.batch.ledger import Batch, Ending, Ledger
from adjudge.llm.batch.model import BatchModel
from adjudge.llm.batch.results import Found
from adjudge.llm.batch.spool import Chunk
from adjudge.llm.batch.wire import UnsureError
from adjudge.llm.budget import Meter
from adjudge.llm.faults import Fault

__all__ = ["Desk", "pause_before"]

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
        self._say: Callable[[str], None] = _say_nothing
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
        self._finish()
        self._stop_where_stopped()
        for batch in self._ledger.open:
            if batch.state == "prepared":
                await self._send(batch, is_new=False)
        left = {n: m.spool.most_of(_least(len(m.spool))) for n, m in self._models.items() if len(m.spool)}
        for model in self._models.values():
            await self._submit(model)
        if not self._ledger.open:
            self._refuse(left)
        self.wave += 1
        await self._wait()

    def end(self) -> None:
        """The run is over: every result was read."""
        self._finish()
        self._stop_where_stopped()

    def _stop_where_stopped(self) -> None:
        for model in self._models.values():
            if model.stopped is not None:
                raise model.stopped

    def _finish(self) -> None:
        """Let go of batches whose results were read: their answers are in the call store."""
        if read := [batch for batch in self._ledger.open if batch.state == "fetched"]:
            self._sync()
        for batch in read:
            self._models[batch.model].results.drop(self._keys.pop(batch.number))
            self._meter.free(self._holds.pop(batch.number))
            self._ledger.finish(batch)

    def _refuse(self, left: Mapping[str, Usage]) -> NoReturn:
        """Nothing is out and nothing could be sent.

        Raises:
            BudgetError: always: what waits cannot be paid.
        """
        name, most = next(iter(left.items()))
        raise self._meter.refusal(self._models[name].account.model, most, "the smallest batch worth a wave")

    # Out...

    async def _submit(self, model: BatchModel) -> None:
        """Send what a model is asked, in as many batches as its provider wants and the budget bears."""
        limits, frame, spool = model.dialect.limits, model.dialect.frame, model.spool
        chunks = list(spool.chunks(limits, frame, lambda u: self._meter.fits(model.account.model, u)))
        if sum(len(chunk.keys) for chunk in chunks) >= _least(len(spool)):
            for chunk in chunks:
                await self._send(self._prepare(model, chunk), is_new=True)
        model.spool.clear()

    def _prepare(self, model: BatchModel, chunk: Chunk) -> Batch:
        batch = self._ledger.next(model.name)
        batch.count = len(chunk.keys)
        batch.prompt, batch.completion = chunk.most.prompt, chunk.most.completion
        model.spool.write(chunk, model.dialect.frame, self._ledger.requests(batch))
        self._ledger.prepare(batch)
        self._watch(batch, set(chunk.keys))
        return batch

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
                raise self._gone(batch, error) from error
        raise ServerAwayError(f"{model.name}: batch {batch.id}: {why}; the same command goes on later")

    def _gone(self, batch: Batch, error: ServerStopError) -> ServerStopError:
        """A batch that is not there, with what to do; any other reason as it is."""
        if "status 404" not in str(error):
            return error
        return ServerStopError(
            f"{error}: batch {batch.id} is not there; is this the key that it was sent with? "
            f"Without {self._ledger.path} its calls are sent and paid again"
        )

    async def _fetch(self, batch: Batch, status: Status) -> None:
        """Fetch the results of a batch that has ended."""
        model = self._models[batch.model]
        if status.state == "failed":
            self._ledger.finish(batch)
            later = ServerAwayError if _LATER.search(status.why) else ModelError
            raise later(f"{model.name} refused batch {batch.id}: {model.wire.redactor.error(status.why)}")
        for number, (url, least) in enumerate(status.results):
            path = self._ledger.results(batch, number)
            for _ in range(_TRIES):
                await model.wire.download(url, path, batch.count * _LINE)
                if _count_lines(path) >= least:
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


def _say_nothing(_: str) -> None:
    """Before anybody listens."""


def _least(waiting: int) -> int:
    """How many of the calls that wait must be affordable, so that a wave is begun."""
    return -(-waiting // _FEWEST)


def count_calls(batch: Batch) -> str:
    """How many calls a batch has, in words."""
    return f"{batch.count:,} call{'' if batch.count == 1 else 's'}"


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(bool(line.strip()) for line in file)
