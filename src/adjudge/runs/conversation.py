"""A conversation as a person reads it: what was asked, by whom, what came back, and what became of it.

`rehearse` has the embedded model answer a judge's questions, `render_exchange` writes one question and its
answer out, and `ReadableRun` reads the conversation behind a judgement of a run as data for a page: who said
what, how long it took, what it cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import orjson

from adjudge.core.ask import About, Answer, Message, Query, Reply, Sampling, Snippet, Tool, ToolCall, value_of
from adjudge.core.judge import Judge
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError, ModelError, UsageError
from adjudge.judges._prompts import ADAPTER, Adapter, role_of
from adjudge.judges._samples import Sampled
from adjudge.llm.asking import Adapting
from adjudge.llm.embedded_rules import ROLES, RulesModel
from adjudge.llm.model import Model, Request, mark_of, render_message
from adjudge.llm.money import PriceTable, read_prices, render_price
from adjudge.llm.remote import query_message, search_reply
from adjudge.runs.units import adapter_of, judge_subject
from adjudge.store.call_file import Attempt, Exchange, StoredRequest, Use
from adjudge.store.traces import Conversations

T = TypeVar("T")

_FOUND: Final = Snippet(title="What was found", text="Here stands what the search engine found.")


class _Recorder:
    """An `Ask` that writes down everything and sends nothing anywhere but to the embedded model."""

    def __init__(self, model: Model, adapter: Adapting | None) -> None:
        self.exchanges: list[Exchange] = []
        self.kinds: set[str] = set()
        self._model = model
        self._adapter = adapter

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Mapping[str, object] | None = None,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        del attempts
        self.kinds |= {about.wants, role_of(about)}
        request = Request(
            messages=tuple(messages), about=about, schema=schema, sampling=sampling, tools=tuple(tools)
        )
        said, drawn = request.messages, sampling
        if self._adapter is not None and self._adapter.knows(about.wants):
            (said, drawn), schema = self._adapter.put(about, said, sampling), None
        stored = StoredRequest(model={}, messages=said, sampling=drawn, schema=schema, tools=request.tools)
        place, use = len(self.exchanges), Use(b"", about.stage, about.role)
        self.exchanges.append(Exchange(use=use, request=stored, reply=None))
        try:
            reply = await self._model.reply(request)
            self.exchanges[place] = Exchange(use=use, request=stored, reply=reply)
            return Answer(value=value_of(read, reply, about), reply=reply)
        except (AnswerError, ModelError) as error:
            why = error if isinstance(error, AnswerError) else AnswerError("missing", str(error))
            use = replace(use, reason=why.reason, detail=why.detail)
            self.exchanges[place] = replace(self.exchanges[place], use=use)
            raise why from None

    async def search(self, query: Query) -> tuple[Snippet, ...]:
        stored = StoredRequest(model={}, messages=(query_message(query),), sampling=Sampling())
        said = Exchange(use=Use(b"", "search", "engine"), request=stored, reply=search_reply("", [_FOUND]))
        self.exchanges.append(said)
        return (_FOUND,)


async def rehearse(judge: Judge, subject: Subject, model: Model) -> list[Exchange]:
    """Every question that a judge puts about one subject, with the answers of the embedded model.

    A question that the model cannot answer is the last that depends on no other answer.
    """
    ask = _Recorder(model, adapter_of(judge))
    with suppress(AnswerError):  # the last exchange says so
        await judge_subject(judge, subject, ask, ask)
    return ask.exchanges


async def check_adapter(judge: Judge, adapter: Adapter, subjects: Iterable[Subject]) -> None:
    """Refuse an adapter that speaks of questions which a judge does not ask.

    The judge is rehearsed: which questions it asks can depend on the answers.
    """
    ask = _Recorder(RulesModel(), None)
    for subject in subjects:
        with suppress(AnswerError):
            await judge_subject(judge, subject, ask, ask)
    known, found = {*ROLES, *ask.kinds}, ", ".join(sorted(kind for kind in ask.kinds if "." not in kind))
    for name in (*adapter.rules, *adapter.turns, *filter(None, adapter.sampling)):
        kind = name.partition(".")[0]
        if kind not in known or (kind in ask.kinds and name not in ask.kinds):
            raise UsageError(f"{ADAPTER}: {judge.name} has no question {name!r}; its questions are {found}")
    if not any(adapter.knows(kind) for kind in ask.kinds):
        raise UsageError(f"{ADAPTER} names no question of {judge.name}; its questions are {found}")
    if isinstance(judge, Sampled) and any("temperature" in changes for changes in adapter.sampling.values()):
        raise UsageError(f"{ADAPTER} sets the temperature: leave it out there, or draw no samples")


def render_exchange(exchange: Exchange, number: int, mark: str) -> str:
    """Write one question and its answer out, as the model got it."""
    use, request, reply = exchange.use, exchange.request, exchange.reply
    role = f", {use.role}" if use.role else ""
    lines = [f"── {number}. {use.stage}{role} {_asked(request)}".rstrip() + " ──"]
    if request is not None:
        for message in request.messages:
            lines += _spoken(message, mark)
        if request.schema is not None:
            schema = orjson.dumps(request.schema, option=orjson.OPT_INDENT_2).decode()
            lines += ["[schema of the answer]", _indent(schema)]
        lines += [f"[tool {tool.name}] {tool.description}" for tool in request.tools]
        if (s := request.sampling).temperature or s.stop:
            drawn = [f"temperature {s.temperature:g}, at most {s.max_tokens} tokens", *map(repr, s.stop)]
            lines.append(f"[drawn] {', stop at '.join(drawn)}")
    lines += [f"[failed attempt] {attempt.reason}: {attempt.detail}" for attempt in exchange.failed]
    if reply is not None:
        if reply.reasoning:
            lines += ["[thinking]", _indent(reply.reasoning)]
        tokens = ", ".join(f"{count} {name}" for name, count in reply.usage.counts.items() if count)
        facts = filter(None, (reply.model, reply.finish, tokens and f"tokens: {tokens}"))
        lines += [f"[reply] {', '.join(facts)}", _indent(reply.text), *_asked_for(reply.calls)]
    if use.reason:
        lines.append(f"[not used] {use.reason}: {use.detail}")
    return "\n".join(lines) + "\n"


def _spoken(message: Message, mark: str) -> list[str]:
    name = f" {message.calls[0].name} {message.calls[0].id}" if message.role == "tool" else ""
    lines = [f"[{message.role}{name}]", _indent(render_message(message, mark))]
    return lines if message.role == "tool" else [*lines, *_asked_for(message.calls)]


def _asked_for(calls: Iterable[ToolCall]) -> list[str]:
    return [f"[calls {call.name} {call.id}] {orjson.dumps(call.arguments).decode()}" for call in calls]


def _asked(request: StoredRequest | None) -> str:
    if request is None:
        return ""
    sample, again = request.sample
    parts = [f"sample {sample + 1}"] if sample else []
    parts += [f"asked again ({again})"] if again else []
    return f"({', '.join(parts)})" if parts else ""


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def exchange_to_json(exchange: Exchange, mark: str) -> dict[str, object]:
    """One question and its answer as a JSON object."""
    request, reply = exchange.request, exchange.reply
    return {
        "stage": exchange.use.stage,
        "role": exchange.use.role,
        "reason": exchange.use.reason,
        "detail": exchange.use.detail,
        "messages": [
            {"role": message.role, "content": render_message(message, mark)} | _calls(message.calls)
            for message in (() if request is None else request.messages)
        ],
        "schema": None if request is None else request.schema,
        "sample": None if request is None else list(request.sample),
        "failed_attempts": [
            {"reason": a.reason, "detail": a.detail, "time": a.time} for a in exchange.failed
        ],
        "reply": None
        if reply is None
        else {
            "text": reply.text,
            "reasoning": reply.reasoning,
            "model": reply.model,
            "finish": reply.finish,
            "tokens": reply.usage.counts,
        }
        | _calls(reply.calls),
    } | (
        {}
        if request is None or not request.tools
        else {"tools": [{"name": tool.name, "parameters": tool.parameters} for tool in request.tools]}
    )


def _calls(calls: Iterable[ToolCall]) -> dict[str, object]:
    shown = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return {"calls": shown} if shown else {}


class ReadableRun:
    """A run directory whose conversations can be read."""

    def __init__(self, path: Path) -> None:
        self._conversations = Conversations(path)
        self._secret = bytes.fromhex(self._conversations.info.secret)
        self._prices = read_prices(None)

    def conversation(self, segment: Segment, systems: tuple[str, ...]) -> list[dict[str, object]]:
        """Questions and answers behind a judgement, in the order asked.

        For each what `exchange_to_json` says, and `time`, `seconds`, `asked` (the model) and `price` in
        words; these are empty where no attempt is known.
        """
        mark = mark_of(segment, self._secret)
        found = self._conversations.find(segment.lp, segment.segment, systems)
        return [
            exchange_to_json(exchange, mark) | _answered(exchange, attempt, self._prices)
            for exchange, attempt in found
        ]


def _answered(exchange: Exchange, attempt: Attempt | None, prices: PriceTable) -> dict[str, object]:
    if attempt is None:
        return {"time": "", "seconds": None, "asked": "", "price": ""}
    usage, price = attempt.usage, prices.find(attempt.model)
    is_counted = bool(usage.prompt or usage.completion or usage.reasoning)
    cost = None if price is None or not is_counted else price.cost(usage)
    is_free = attempt.model.startswith("builtin/") or exchange.reply is None
    return {
        "time": attempt.time,
        "seconds": attempt.seconds,
        "asked": attempt.model,
        "price": "" if is_free else render_price(cost, "" if price is None else price.currency),
    }
