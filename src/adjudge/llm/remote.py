"""Models that are not in this process: behind the wire, or recorded in a store.

`RemoteModel` asks a server in any dialect, and tries again where that helps. `ReplayModel` answers what was
answered before, and asks nobody. `query_message`, `search_reply` and their readers write queries and snippets
as text, which is how a call store keeps a search.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from adjudge.core.ask import Message, Query, Reply, Snippet, Usage
from adjudge.errors import AnswerError, ModelError, NoToolsError, ServerAwayError, ServerStopError, UsageError
from adjudge.llm.faults import Fault, Tries
from adjudge.llm.limits import Limiter, Share, Turn, join
from adjudge.llm.model import Identity, Request, SchemaUse
from adjudge.llm.money import STOPPED, Account, most_of, most_of_body
from adjudge.llm.providers import Endpoint
from adjudge.llm.wire import Wire
from adjudge.store.call_file import KILLED, SUSPECT, Attempt
from adjudge.store.calls import SEARCH_PREFIX, CallReader, find_store

_ENOUGH: Final = 2048  # tokens of a reply; a server that refuses so few refuses the question
_FEWER: Final = (5, 0)  # alternatives of a token, one after the other, where a server refuses more


_KEY_ADVICE: Final = (
    "; no key was sent: name its environment variable with --key-env, or its file with --key-file"
)


class RemoteModel:
    """A model behind the wire; satisfies `llm.model.Model`."""

    def __init__(self, endpoint: Endpoint, wire: Wire | None = None) -> None:
        self.endpoint = endpoint
        self.name = f"{endpoint.provider.name}/{endpoint.model}"
        self.wire = Wire(endpoint) if wire is None else wire
        self._share: Share | None = None
        self._refusals: Counter[str] = Counter()
        self._note: Callable[[Attempt], None] | None = None
        self._depart: Callable[[Attempt], Awaitable[None]] | None = None
        self.account = Account(self.name)
        how: Literal["on", "off", "tried"] = "on" if endpoint.constrained else "off"
        self.schema = SchemaUse("tried" if endpoint.tries_schema else how)
        """What became of the JSON schema so far."""
        self.tools_refused = ""  # what the server said to a request that offered tools
        self._took_tools = False  # after that, a fault that speaks of tools is about one question
        self._gives_logprobs = True
        self._alternatives = endpoint.provider.alternatives
        self._bare: set[bytes] = set()
        self._fitting: dict[int, int] = {}  # tokens of a reply, by the bytes of the shortest request for it

    def leave_schema(self, why: str) -> None:
        """Send no schema any more: the server has refused it."""
        self.schema = SchemaUse("refused", why)

    def was_held(self, key: bytes) -> bool:
        """Whether the last answer to a call came to a request with its schema; to be asked once."""
        is_held = key not in self._bare
        self._bare.discard(key)
        return is_held and self.endpoint.constrained

    def observe(
        self, note: Callable[[Attempt], None], depart: Callable[[Attempt], Awaitable[None]] | None = None
    ) -> None:
        """Have every failed attempt written down, and every request before it is sent."""
        self._note, self._depart = note, depart
        self.wire.surplus.doubt = lambda key: note(
            Attempt(key, now(), 0.0, "connection", SUSPECT, model=self.account.model)
        )

    def charge(self, account: Account) -> None:
        """Have every attempt counted, and none made that could cross the budget."""
        self.account = account

    async def drain(self) -> None:
        """Send nothing more; what is on its way may come back."""
        self._joined().close()

    async def close(self) -> None:
        if self._share is not None:
            self._share.leave()
            self._share = None
        await self.wire.close()

    @property
    def limiter(self) -> Limiter | None:
        """What all share that ask this model with this key; None before the first call."""
        return None if self._share is None else self._share.limiter

    def _joined(self) -> Share:
        if self._share is None:
            one = self.endpoint
            self._share = join(one.limited_as, one.concurrency, one.patience)
        return self._share

    async def reply(self, request: Request) -> Reply:
        """Answer one request, trying again where that can help; see `llm.model.Model`."""
        if request.tools and self.tools_refused:
            raise NoToolsError("server_error", self.tools_refused)
        asked, body = self._said(request)
        refusal: Fault | None = None  # of the schema, as it seems
        tries = Tries(self.endpoint.patience, self.endpoint.timeout)
        share = self._joined()
        turn = share.turn(len(body), request.sampling.max_tokens)
        while True:
            async with turn:
                if asked.schema is not None and self.schema.how == "refused":
                    asked, body = self._said(request)
                outcome = turn.judged(await self._attempt(asked, body, turn))
            if isinstance(outcome, Reply):
                self._refusals.clear()
                self._took_tools = self._took_tools or bool(request.tools)
                self._learn_of_schema(request, asked, refusal)
                return outcome
            if outcome.names_tools and request.tools and not self._took_tools:
                self.tools_refused = outcome.detail
                raise NoToolsError(outcome.reason, outcome.detail)
            if (less := self._with_less(request, asked, len(body), outcome)) is not None:
                asked, body = less
                continue
            if outcome.names_logprobs and asked.sampling.logprobs:
                raise AnswerError("logprob", f"the server refuses log-probabilities: {outcome.detail}")
            if outcome.names_schema and asked.schema is not None and self.endpoint.tries_schema:
                refusal, (asked, body) = outcome, self._said(request, is_bare=True)
                continue
            await share.sleep(self._pause_or_give_up(outcome, tries))

    def _said(self, request: Request, *, is_bare: bool = False) -> tuple[Request, bytes]:
        is_bare = is_bare or self.schema.how == "refused"
        asked = request.but(schema=None) if is_bare and request.schema is not None else request
        if asked.alternatives > self._alternatives:
            asked = asked.but(alternatives=self._alternatives)
        if asked.sampling.logprobs == "try" and not self._gives_logprobs:
            asked = asked.but(sampling=replace(asked.sampling, logprobs=False))
        body = orjson.dumps(self.wire.dialect.payload(asked))
        fitting = [tokens for tokens, size in self._fitting.items() if size <= len(body)]
        if fitting and min(fitting) < asked.sampling.max_tokens:
            return self._limited(asked, min(fitting))
        return asked, body

    def _with_less(
        self, request: Request, asked: Request, size: int, outcome: Fault
    ) -> tuple[Request, bytes] | None:
        """The request with less of what the server refuses; None where it refuses something else."""
        if outcome.names_logprobs and asked.sampling.logprobs and asked.alternatives:
            fewer = next(number for number in _FEWER if number < asked.alternatives)
            self._alternatives = min(self._alternatives, fewer)
            return self._said(request, is_bare=asked.schema is None)
        if outcome.names_logprobs and asked.sampling.logprobs == "try":
            self._gives_logprobs = False
            return self._said(request, is_bare=asked.schema is None)
        if outcome.names_length and asked.sampling.max_tokens > _ENOUGH:
            tokens = max(_ENOUGH, asked.sampling.max_tokens // 2)
            self._fitting[tokens] = min(size, self._fitting.get(tokens, size))
            return self._limited(asked, tokens)
        return None

    def _limited(self, asked: Request, tokens: int) -> tuple[Request, bytes]:
        asked = asked.but(sampling=replace(asked.sampling, max_tokens=tokens))
        return asked, orjson.dumps(self.wire.dialect.payload(asked))

    def _learn_of_schema(self, request: Request, asked: Request, refusal: Fault | None) -> None:
        if request.schema is None:
            return
        if asked.schema is None:
            self._bare.add(request.key)
            if refusal is not None and self.schema.how != "refused":
                self.leave_schema(refusal.detail)
        elif self.schema.how == "tried":
            self.schema = SchemaUse("on")

    def _pause_or_give_up(self, fault: Fault, tries: Tries) -> float:
        if fault.consequence == "stop":
            stopped = ServerAwayError if fault.reason == "connection" else ServerStopError
            advice = _KEY_ADVICE if fault.status == 401 and not self.endpoint.key else ""
            raise stopped(f"{self.name}: {fault.detail}{advice}")
        if fault.consequence == "setting":
            # One refusal may be about one text; the same words again and again are about how we ask.
            self._refusals[fault.detail] += 1
            if self._refusals[fault.detail] >= self.endpoint.patience.settings:
                hint = (
                    " (--json-schema off asks without a schema, and needs another --out)"
                    if self.endpoint.constrained
                    else ""
                )
                raise ModelError(f"{self.name} refuses every call: {fault.detail}{hint}")
        if fault.consequence in {"fail", "setting"}:
            raise AnswerError(fault.reason, fault.detail)
        return tries.next_pause(fault)

    async def _attempt(self, request: Request, body: bytes, turn: Turn) -> Reply | Fault:
        hold, room = await self.account.reserve(request)
        is_short = room < request.sampling.max_tokens
        if is_short:
            request, body = self._limited(request, room)
        when = now()
        await self._write_down(request, len(body), hold, when)
        began = time.monotonic()
        outcome: Reply | Fault | None = None
        try:
            outcome = await self.wire.exchange(body, request, turn.heard)
        except asyncio.CancelledError:
            outcome = STOPPED
            raise
        finally:
            unsure = self.account.settle(request, hold, outcome)
            if isinstance(outcome, Fault):
                self._write_fault(request, outcome, when, round(time.monotonic() - began, 3), unsure)
        meter = self.account.meter
        if is_short and meter is not None and isinstance(outcome, Reply) and outcome.finish == "length":
            raise meter.stop(self.account.model, most_of(request))  # a longer reply cannot be paid
        return outcome

    def _write_fault(self, request: Request, fault: Fault, when: str, seconds: float, unsure: Usage) -> None:
        if self._note is not None:
            said = (fault.reason, fault.detail, fault.status, fault.usage, fault.body)
            self._note(Attempt(request.key, when, seconds, *said, self.account.model, unsure))

    async def _write_down(self, request: Request, size: int, hold: int, when: str) -> None:
        if self._depart is None:
            return
        most = most_of_body(size, request)  # `most_of` would render every message once more
        attempt = Attempt(request.key, when, 0.0, "connection", KILLED, model=self.account.model, most=most)
        try:
            await self._depart(attempt)
        except BaseException:
            self.account.settle(request, hold, None)
            raise


def now() -> str:
    """This moment as a call store has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


ENDPOINT: Final = SEARCH_PREFIX.rstrip("/")
"""Before the slash in the name of every search engine, where a model has its provider."""

_MOST: Final = 8  # snippets of one query
_LONGEST: Final = 1000  # code points of one snippet
_ENDED: Final = "…"


def is_search(name: str) -> bool:
    """Whether this is the name of a search engine, and not of a model."""
    return name.startswith(SEARCH_PREFIX)


def query_message(query: Query) -> Message:
    fields: dict[str, Any] = {"query": query.text}
    if query.recency is not None:
        fields["recency"] = query.recency
    return Message("user", (json.dumps(fields, ensure_ascii=False),))


def read_query(message: Message) -> Query:
    fields = json.loads("".join(part for part in message.parts if isinstance(part, str)))
    return Query(text=fields["query"], recency=fields.get("recency"))


def search_reply(engine: str, snippets: Iterable[Snippet]) -> Reply:
    """The reply of an engine: its best snippets, cut where they are long, the same one once."""
    kept = dict.fromkeys(snippet for snippet in map(_cut, snippets) if snippet.text or snippet.title)
    rows = [
        {name: text for name, text in vars(snippet).items() if text or name in {"title", "text"}}
        for snippet in [*kept][:_MOST]
    ]
    return Reply(text=json.dumps(rows, ensure_ascii=False), model=f"{ENDPOINT}/{engine}")


def _cut(snippet: Snippet) -> Snippet:
    title, text = (" ".join(words.split()) for words in (snippet.title, snippet.text))
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1].rstrip() + _ENDED
    return Snippet(title=title[:_LONGEST], text=text, place=snippet.place[:_LONGEST], date=snippet.date[:40])


def read_snippets(reply: Reply) -> tuple[Snippet, ...]:
    """The snippets that `search_reply` wrote."""
    try:
        return tuple(Snippet(**row) for row in json.loads(reply.text))
    except (TypeError, ValueError) as error:
        raise AnswerError(
            "bad_envelope", f"the search engine's stored answer holds no snippets: {error}"
        ) from None


Kind = Literal["model", "search engine"]
_FORMS: Final[Mapping[Kind, tuple[str, str]]] = {
    "model": ("--model replay:", "replay:PATH#MODEL"),
    "search engine": ("--search recorded:", "recorded:PATH#ENGINE"),
}
"""How a recorded one is named: before its path, and in all."""


class ReplayModel:
    """One model of a recorded store, which it opens once it is asked; satisfies `llm.model.Model`."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self._path = path
        self.name = identity.name
        """The recorded model's name: its answers are its answers, whoever repeats them."""
        self._reader: CallReader | None = None

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    async def reply(self, request: Request) -> Reply:
        """The recorded reply; see `llm.model.Model`."""
        if self._reader is None:
            self._reader = CallReader(self._path)
        reply = self._reader.find(request.key)
        if reply is None:
            kind = NoToolsError if request.tools else AnswerError
            raise kind("missing", f"the recorded store {self._path.name} has no such call")
        return reply


def open_recorded(
    place: str, effort: str | None = None, *, kind: Kind = "model"
) -> tuple[Identity, ReplayModel]:
    """Find the model or search engine that a run or a call store has recorded."""
    place, _, name = place.partition("#")
    said, form = _FORMS[kind]
    if not Path(place).exists():
        raise UsageError(f"{said}{place}: no run and no call store there")
    with closing(CallReader(find_store(Path(place)))) as reader:
        recorded = (Identity(**row) for row in reader.models())
        ours = [i for i in recorded if is_search(i.name) == (kind == "search engine")]
        known = {i.name.removeprefix(SEARCH_PREFIX): i for i in ours if effort is None or i.effort == effort}
        if not name and len(known) == 1:
            (name,) = known
        if name not in known:
            names = ", ".join(known) or "none"
            wanted = f"no {kind} {name!r}" if name else f"several {kind}s or none"
            raise UsageError(f"{reader.path} has {wanted}; it has {names}: say {form}")
    return known[name], ReplayModel(reader.path, known[name])
