"""A model that is asked in batches: it answers what a batch has brought, and collects the rest."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

import orjson

from adjudge.core.ask import Reply
from adjudge.data.call_rows import Attempt
from adjudge.errors import AdjudgeError, AnswerError, ModelError, ServerStopError
from adjudge.llm.batch.dialect import Item, open_batch_dialect
from adjudge.llm.batch.results import Results
from adjudge.llm.batch.spool import Spool
from adjudge.llm.batch.wire import BatchWire
from adjudge.llm.budget import Account, most_of
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.faults import Fault
from adjudge.llm.limits import Limiter
from adjudge.llm.model import NotYetError, Request, SchemaUse

__all__ = ["BatchModel"]

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

    def leave_schema(self, why: str) -> None:
        """Send no schema any more; see `llm.models.Remote`."""
        self.schema = SchemaUse("refused", why)

    def was_held(self, key: bytes) -> bool:  # noqa: ARG002 (as in `llm.models.Remote`)
        """Whether the last answer to a call came to a request with its schema."""
        return self._sends_schema

    def observe(self, note: Callable[[Attempt], None]) -> None:
        """Have every failed attempt written down."""
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
            _fail(self._failed[key])
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


def _fail(fault: Fault) -> NoReturn:
    raise AnswerError(fault.reason, fault.detail)
