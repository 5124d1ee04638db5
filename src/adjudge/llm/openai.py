"""A model behind the wire, in any dialect: its faults are tried again where that helps."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import Counter
from collections.abc import Callable

import orjson

from adjudge.core.ask import Reply
from adjudge.data.call_rows import Attempt
from adjudge.errors import AnswerError, ModelError, ServerStopError
from adjudge.llm.budget import STOPPED, Account
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.faults import Fault
from adjudge.llm.model import Request
from adjudge.llm.retry import Gate, Tries
from adjudge.llm.wire import Wire

__all__ = ["Endpoint", "RemoteModel"]


class RemoteModel:
    """A model behind the wire; satisfies `llm.model.Model`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._wire = Wire(endpoint)
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._gate = Gate()
        self._refusals: Counter[str] = Counter()
        self._unreachable = 0
        self._note: Callable[[Attempt], None] | None = None
        self._account = Account(self.name)

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self._endpoint.provider.name}/{self._endpoint.model}"

    def observe(self, note: Callable[[Attempt], None]) -> None:
        """Have every failed attempt written down."""
        self._note = note

    def charge(self, account: Account) -> None:
        """Have every attempt counted, and none made that could cross the budget."""
        self._account = account

    async def drain(self) -> None:
        """Send nothing more; what is on its way may come back."""
        self._gate.close()

    async def close(self) -> None:
        """Let the connections go."""
        await self._wire.close()

    async def reply(self, request: Request) -> Reply:
        """Answer one request, trying again where that can help; see `llm.model.Model`."""
        body = orjson.dumps(self._wire.dialect.payload(request))
        tries = Tries(self._endpoint.patience, self._endpoint.timeout)
        while True:
            await self._gate.enter()
            async with self._slots:
                if self._gate.is_closed:
                    raise asyncio.CancelledError
                outcome = await self._attempt(request, body)
            if isinstance(outcome, Reply):
                self._refusals.clear()
                self._unreachable = 0
                return outcome
            await self._wait_or_give_up(outcome, tries)

    async def _wait_or_give_up(self, fault: Fault, tries: Tries) -> None:
        if fault.consequence == "stop":
            raise ServerStopError(f"{self.name}: {fault.detail}")
        if fault.consequence == "fail":
            raise AnswerError(fault.reason, fault.detail)
        if fault.consequence == "setting":
            self._refuse_setting(fault)
        try:
            pause = tries.next_pause(fault)
        except AnswerError:
            self._count_unreachable(fault)
            raise
        if fault.limited:
            self._gate.hold(pause)
        await self._gate.sleep(pause)

    def _refuse_setting(self, fault: Fault) -> None:
        """One refusal may be about one text; the same words again and again are about how we ask."""
        self._refusals[fault.detail] += 1
        if self._refusals[fault.detail] >= self._endpoint.patience.settings:
            hint = " (--json-schema off asks without a schema)" if self._endpoint.constrained else ""
            raise ModelError(f"{self.name} refuses every call: {fault.detail}{hint}")
        raise AnswerError(fault.reason, fault.detail)

    def _count_unreachable(self, fault: Fault) -> None:
        self._unreachable = self._unreachable + 1 if fault.is_free and fault.status is None else 0
        if self._unreachable >= self._endpoint.patience.unreachable:
            raise ServerStopError(
                f"{self.name}: {self._unreachable} calls in a row found no server; resume later"
            )

    async def _attempt(self, request: Request, body: bytes) -> Reply | Fault:
        hold = await self._account.reserve(request)
        began, when = time.monotonic(), dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        outcome: Reply | Fault | None = None
        try:
            outcome = await self._wire.exchange(body, request)
        except asyncio.CancelledError:
            outcome = STOPPED
            raise
        finally:
            unsure = self._account.settle(hold, outcome)
            if isinstance(outcome, Fault) and self._note is not None:
                seconds = round(time.monotonic() - began, 3)
                said = (outcome.reason, outcome.detail, outcome.status, outcome.usage, outcome.body)
                self._note(Attempt(request.key, when, seconds, *said, self._account.model, unsure))
        return outcome
