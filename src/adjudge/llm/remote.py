"""A model behind the wire, in any dialect: its faults are tried again where that helps."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

import orjson

from adjudge.core.ask import Reply
from adjudge.data.call_rows import Attempt
from adjudge.errors import AnswerError, ModelError, ServerAwayError, ServerStopError
from adjudge.llm.budget import STOPPED, Account
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.faults import Fault
from adjudge.llm.limits import Limiter, join
from adjudge.llm.model import Request, SchemaUse
from adjudge.llm.retry import Tries
from adjudge.llm.turns import Share, Turn
from adjudge.llm.wire import Wire

__all__ = ["Endpoint", "RemoteModel"]


class RemoteModel:
    """A model behind the wire; satisfies `llm.model.Model`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._wire = Wire(endpoint)
        self._share: Share | None = None
        self._refusals: Counter[str] = Counter()
        self._note: Callable[[Attempt], None] | None = None
        self._account = Account(self.name)
        how: Literal["on", "off", "tried"] = "on" if endpoint.constrained else "off"
        self._schema = SchemaUse("tried" if endpoint.tries_schema else how)
        self._bare: set[bytes] = set()

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self._endpoint.provider.name}/{self._endpoint.model}"

    @property
    def endpoint(self) -> Endpoint:
        """The model on its server."""
        return self._endpoint

    @property
    def schema(self) -> SchemaUse:
        """What became of the JSON schema so far."""
        return self._schema

    def leave_schema(self, why: str) -> None:
        """Send no schema any more: the server has refused it."""
        self._schema = SchemaUse("refused", why)

    def was_held(self, key: bytes) -> bool:
        """Whether the last answer to a call came to a request with its schema; to be asked once."""
        is_held = key not in self._bare
        self._bare.discard(key)
        return is_held

    def observe(self, note: Callable[[Attempt], None]) -> None:
        """Have every failed attempt written down."""
        self._note = note

    def charge(self, account: Account) -> None:
        """Have every attempt counted, and none made that could cross the budget."""
        self._account = account

    async def drain(self) -> None:
        """Send nothing more; what is on its way may come back."""
        self._joined().close()

    async def close(self) -> None:
        """Let the connections go."""
        if self._share is not None:
            self._share.leave()
            self._share = None
        await self._wire.close()

    @property
    def limiter(self) -> Limiter | None:
        """What all share that ask this model with this key; None before the first call."""
        return None if self._share is None else self._share.limiter

    def _joined(self) -> Share:
        """Our part in the limiter of the server; one for all that ask this model with this key."""
        if self._share is None:
            one = self._endpoint
            self._share = join(one.limited_as, one.concurrency, one.patience)
        return self._share

    async def reply(self, request: Request) -> Reply:
        """Answer one request, trying again where that can help; see `llm.model.Model`."""
        asked, body = self._said(request)
        refusal: Fault | None = None  # of the schema, as it seems
        tries = Tries(self._endpoint.patience, self._endpoint.timeout)
        share = self._joined()
        place = share.place(len(body), request.sampling.max_tokens)
        while True:
            async with share.turn(place) as turn:
                if asked.schema is not None and self._schema.how == "refused":
                    asked, body = self._said(request)
                outcome = turn.judged(await self._attempt(asked, body, turn))
            if isinstance(outcome, Reply):
                self._refusals.clear()
                self._learn_of_schema(request, asked, refusal)
                return outcome
            if outcome.names_schema and asked.schema is not None and self._endpoint.tries_schema:
                refusal, (asked, body) = outcome, self._said(request, is_bare=True)
                continue
            await share.sleep(self._pause_or_give_up(outcome, tries))

    def _said(self, request: Request, *, is_bare: bool = False) -> tuple[Request, bytes]:
        """The request as it is sent now, and its body: without a schema where the server refuses one."""
        is_bare = is_bare or self._schema.how == "refused"
        asked = request.but(schema=None) if is_bare and request.schema is not None else request
        return asked, orjson.dumps(self._wire.dialect.payload(asked))

    def _learn_of_schema(self, request: Request, asked: Request, refusal: Fault | None) -> None:
        """An answer without the schema to a call that was refused with it shows that this was the reason."""
        if request.schema is None:
            return
        if asked.schema is None:
            self._bare.add(request.key)
            if refusal is not None and self._schema.how != "refused":
                self.leave_schema(refusal.detail)
        elif self._schema.how == "tried":
            self._schema = SchemaUse("on")

    def _pause_or_give_up(self, fault: Fault, tries: Tries) -> float:
        if fault.consequence == "stop":
            stopped = ServerAwayError if fault.reason == "connection" else ServerStopError
            raise stopped(f"{self.name}: {fault.detail}{self._key_advice(fault)}")
        if fault.consequence == "fail":
            raise AnswerError(fault.reason, fault.detail)
        if fault.consequence == "setting":
            self._refuse_setting(fault)
        return tries.next_pause(fault)

    def _key_advice(self, fault: Fault) -> str:
        if fault.status != 401 or self._endpoint.key:
            return ""
        return "; no key was sent: name its environment variable with --key-env, or its file with --key-file"

    def _refuse_setting(self, fault: Fault) -> None:
        """One refusal may be about one text; the same words again and again are about how we ask."""
        self._refusals[fault.detail] += 1
        if self._refusals[fault.detail] >= self._endpoint.patience.settings:
            hint = " (--json-schema off asks without a schema)" if self._endpoint.constrained else ""
            raise ModelError(f"{self.name} refuses every call: {fault.detail}{hint}")
        raise AnswerError(fault.reason, fault.detail)

    async def _attempt(self, request: Request, body: bytes, turn: Turn) -> Reply | Fault:
        hold = await self._account.reserve(request)
        began, when = time.monotonic(), dt.datetime.now(dt.UTC)
        outcome: Reply | Fault | None = None
        try:
            outcome = await self._wire.exchange(body, request, turn.heard)
        except asyncio.CancelledError:
            outcome = STOPPED
            raise
        finally:
            unsure = self._account.settle(request, hold, outcome)
            if isinstance(outcome, Fault) and self._note is not None:
                seconds, time_ = round(time.monotonic() - began, 3), when.isoformat(timespec="milliseconds")
                said = (outcome.reason, outcome.detail, outcome.status, outcome.usage, outcome.body)
                self._note(Attempt(request.key, time_, seconds, *said, self._account.model, unsure))
        return outcome
