"""What a run will ask and cost, before anything is sent.

Every judgement is rehearsed: the judge puts its real questions, the store answers what it holds, and the
embedded rules answer the rest in the model's place. So the prompts that are counted are the prompts that will
be sent. How many calls there are at least and at most is exact; tokens are estimated, see `llm/money.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.ask import Message, Reply, Tool, Usage
from adjudge.core.judge import Calls, Judge
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.errors import AnswerError, DataError, ModelError
from adjudge.llm.asking import Asker
from adjudge.llm.embedded_rules import RulesModel
from adjudge.llm.model import Identity, Model, Request, render_message
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.money import Price, Tokens, batch_name, estimate_messages, estimate_text
from adjudge.llm.remote import is_search, search_reply
from adjudge.runs.job import ForecastSettings, Job, prepare
from adjudge.runs.session import run_to_end
from adjudge.runs.units import Annotator, Plan, Unit, calls_of, is_judge, judge_subject
from adjudge.store.call_file import Attempt, StoredRequest, Use
from adjudge.store.calls import CallReader

__all__ = ["Experience", "Forecast", "aforecast", "forecast", "forecast_job", "learn"]


# What a store teaches about tokens: how its server counts, and how long its answers are.


_MARK: Final = "0" * 16
_SAMPLE: Final = 500
_ENOUGH: Final = 10  # answered calls of a model before its own count is believed
_DOUBT: Final = 0.05  # that stays, however alike the calls were
_SECONDS: Final = 3.0  # of a call, where none was seen

_INTRODUCED: Final = Tokens(0, 60, 500)  # what a server says of tools in general

_TYPICAL: Final = {"rating": 12, "counts": 15, "errors": 90, "errors+counts": 110}
"""Tokens of an answer by what it must hold: two errors in JSON are about 90."""
_OTHERWISE: Final = 200


@dataclass
class Seen:
    """Answered calls of one model whose tokens its server counted.

    Args:
        estimated: what we would have said of their prompts.
        counted: what the server said.
        least: smallest share of counted to estimated in one call.
        most: largest share.
        calls: how many.
        replies: calls and tokens of replies, by the instruction they followed.
    """

    estimated: float = 0.0
    counted: int = 0
    least: float = float("inf")
    most: float = 0.0
    calls: int = 0
    replies: dict[str, list[int]] = field(default_factory=dict)

    def add(self, estimate: Tokens, prompt: int, completion: int, instruction: str) -> None:
        """One more call."""
        self.estimated += estimate.typical
        self.counted += prompt
        self.least = min(self.least, prompt / estimate.typical)
        self.most = max(self.most, prompt / estimate.typical)
        self.calls += 1
        reply = self.replies.setdefault(instruction, [0, 0])
        reply[0] += 1
        reply[1] += completion


@dataclass(frozen=True, kw_only=True)
class Experience:
    """What was seen of each model.

    Args:
        models: by name, those with enough calls.
        seconds: of one call.
    """

    models: dict[str, Seen] = field(default_factory=dict)
    seconds: float = _SECONDS

    @property
    def calls(self) -> int:
        """All that was looked at."""
        return sum(seen.calls for seen in self.models.values())

    def estimate(self, model: str, request: Request, reply: Reply) -> tuple[Tokens, Tokens]:
        """Tokens of a prompt and of its reply.

        Args:
            model: who would be asked.
            request: what.
            reply: what the rules say to it.
        """
        said = estimate_text(reply.text).typical
        typical = max(said, float(_TYPICAL.get(request.about.wants, _OTHERWISE)))
        most = request.sampling.max_tokens
        prompt, seen = _prompt(request), self.models.get(model)
        if seen is None:
            return prompt, Tokens(1.0, min(typical, most), most)
        factor = seen.counted / seen.estimated
        least, highest = min(seen.least, factor * (1 - _DOUBT)), max(seen.most, factor * (1 + _DOUBT))
        prompt = Tokens(prompt.typical * least, prompt.typical * factor, prompt.typical * highest)
        calls, tokens = seen.replies.get(_instruction(request.messages), (0, 0))
        return prompt, Tokens(1.0, min(tokens / calls if calls else typical, most), most)


def learn(reader: CallReader, models: Models) -> Experience:
    """Compare our estimates with what the servers of these models counted."""
    wanted = {model.name for model in models.all}
    found: dict[str, Seen] = {}
    for request, reply in reader.answered(_SAMPLE):
        name = Identity(**request.model).name
        if name not in wanted or not reply.usage.prompt:
            continue
        estimate = _prompt(request)
        seen = found.setdefault(name, Seen())
        usage = reply.usage
        apart = usage.reasoning if usage.reasoning > usage.completion else 0
        seen.add(estimate, usage.prompt, usage.completion + apart, _instruction(request.messages))
    enough = {name: seen for name, seen in found.items() if seen.calls >= _ENOUGH}
    return Experience(models=enough, seconds=reader.seconds() or _SECONDS)


def _prompt(request: Request | StoredRequest) -> Tokens:
    return estimate_messages(request.messages, _MARK) + _schema(request.schema) + _tools(request.tools)


def _tools(tools: Iterable[Tool]) -> Tokens:
    """Tools are words of the prompt; each server puts them in its own way, introduced or not."""
    total = Tokens()
    for tool in tools:
        words = estimate_text(tool.name + tool.description)
        shape = _text_tokens(orjson.dumps(tool.parameters, option=orjson.OPT_SORT_KEYS))
        total += words + Tokens(shape.low / 2, shape.typical, shape.high)
    return total + _INTRODUCED if total.high else total


def _schema(schema: object) -> Tokens:
    """A schema is part of the prompt with some servers, and free with others."""
    if schema is None:
        return Tokens()
    size = _text_tokens(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))
    return Tokens(0.0, size.typical, size.high)


@lru_cache(maxsize=64)
def _text_tokens(raw: bytes) -> Tokens:
    return estimate_text(raw.decode())


def _instruction(messages: Iterable[Message]) -> str:
    """The first message: every role and stage has its own."""
    first = next(iter(messages), None)
    return "" if first is None else render_message(first, _MARK)


# A run without a model: every judge puts its real questions, and nothing is sent or written.


_BEGIN: Final = 100_000  # judgements of which it is found out whether they ask anything; exact up to here
_SECRET: Final = bytes(16)


@dataclass
class Sums:
    """Tokens of one model."""

    prompt: Tokens = field(default_factory=Tokens)
    completion: Tokens = field(default_factory=Tokens)


@dataclass(frozen=True)
class _Call:
    """One question that would be sent."""

    model: str
    prompt: Tokens
    completion: Tokens


class _Ledger:
    """What an `Asker` takes for its store; it reads the real one, and writes nothing."""

    def __init__(self, reader: CallReader | None) -> None:
        self.stored = 0
        self._reader = reader
        self.began_empty = reader is None
        self._new: dict[bytes, Reply] = {}

    def find(self, key: bytes) -> Reply | None:
        """The stored reply, or that of another judgement to the same question."""
        if key in self._new:
            return self._new[key]
        reply = None if self._reader is None else self._reader.find(key)
        self.stored += reply is not None and not is_search(reply.model)
        return reply

    async def save(
        self,
        key: bytes,
        request: StoredRequest,
        reply: Reply,
        *,
        replaces: bool = False,  # noqa: ARG002 (as in `Keeper`)
    ) -> Reply:
        """Keep it for the next who asks the same."""
        del request
        self._new[key] = reply
        return reply

    async def claim(self, key: bytes, *, anew: bool = False) -> None:
        """Let every question be asked."""

    def release(self, key: bytes) -> None:
        """Nothing is claimed."""

    async def depart(self, attempt: Attempt) -> None:
        """Nothing is sent."""

    def note(self, attempt: Attempt) -> None:
        """Nothing was attempted."""

    def save_uses(self, unit: str, uses: Sequence[Use], *, maybe_known: bool = True) -> None:
        """Nothing was used."""


class _Understudy:
    """Answers in a model's place."""

    def __init__(self, identity: Identity, model: Model, script: _Script) -> None:
        self.name = identity.name
        self._sends_schema = identity.constrained
        self._model = model
        self._script = script

    async def reply(self, request: Request) -> Reply:
        """Answer by the rules.

        Raises:
            AnswerError: nothing more need be known of this judgement, or the rules do not know the question.
        """
        self._script.meet(request.key)
        sent = request if self._sends_schema else replace(request, schema=None)
        try:
            reply = await self._model.reply(request)
        except ModelError as error:
            self._script.count(self.name, sent, Reply(text=""))
            raise AnswerError("missing", str(error)) from error
        self._script.count(self.name, sent, reply)
        return reply


class _Silence:
    """Answers in a search engine's place: a rehearsal looks nothing up, so it finds nothing."""

    def __init__(self, engine: OpenModel) -> None:
        self.name = engine.name
        self._engine = engine.identity.model

    async def reply(self, request: Request) -> Reply:
        """No snippets."""
        del request
        return search_reply(self._engine, ())


class _Script:
    """Which questions of one judgement would be sent; some judgements are only begun, to know that."""

    def __init__(self, experience: Experience) -> None:
        self.calls: list[_Call] = []
        self.is_asked = False
        self._experience = experience
        self._is_brief = False
        self._is_over = False
        self._met: set[bytes] = set()

    def begin(self, *, is_brief: bool) -> None:
        """The next judgement."""
        self.calls.clear()
        self.is_asked = self._is_over = False
        self._is_brief = is_brief

    def meet(self, key: bytes) -> None:
        """A question that the store cannot answer.

        Raises:
            AnswerError: a judgement before asks the same, or this one is only begun.
        """
        if not self._is_over and key not in self._met:
            self.is_asked = True
        self._is_over = self._is_over or self._is_brief or key in self._met
        if self._is_over:
            self._met.add(key)
            raise AnswerError("missing", "not rehearsed any further")

    def count(self, model: str, request: Request, reply: Reply) -> None:
        """A question that would be sent, and what might be answered."""
        prompt, completion = self._experience.estimate(model, request, reply)
        self.calls.append(_Call(model, prompt, completion))


class Rehearsal:
    """Judgements without a model.

    Args:
        plan: what would be judged.
        models: whom it would ask.
        reader: of the run's store, if there is one.
        experience: of the tokens of these models.
        seed: of sampling.
    """

    def __init__(
        self, plan: Plan, models: Models, reader: CallReader | None, experience: Experience, *, seed: int
    ) -> None:
        self.looked_at = self.begun = self.stored = 0
        self.bounds = [0, 0, 0]  # of all that were begun ...
        self.known = 0  # ... and typically, of those that were looked at to their end
        self.sums: dict[str, Sums] = {}
        self._plan = plan
        self._ledger = _Ledger(reader)
        self._script = _Script(experience)
        understudies = Models(
            default=self._understudy(models.default),
            roles={role: self._understudy(model) for role, model in models.roles.items()},
            search=_silenced(models.search),
        )
        self._asker = Asker(understudies, self._ledger, secret=_SECRET, seed=seed)

    def _understudy(self, opened: OpenModel) -> OpenModel:
        model = RulesModel() if opened.remote is not None else opened.model
        stand_in = _Understudy(opened.identity, model, self._script)
        return OpenModel(identity=opened.identity, model=stand_in, served="any")

    async def run(self, judge: Judge, look: int) -> int:
        """Rehearse some judgements, evenly spread, and begin the others; how many there are in all."""
        count = sum(unit.is_there for unit in self._plan)
        begun = min(count, _BEGIN)
        for place, unit in enumerate(_spread(self._plan, count, begun)):
            is_brief = place * look // begun == (place - 1) * look // begun and look < begun
            self.looked_at += not is_brief
            self.begun += 1
            await self._judge(judge, unit, is_brief=is_brief)
        return count

    async def _judge(self, judge: Judge, unit: Unit, *, is_brief: bool) -> None:
        self._script.begin(is_brief=is_brief)
        self._ledger.stored = 0
        ask = self._asker.for_unit(unit.subject)
        with suppress(AnswerError, DataError):
            await judge_subject(judge, unit.subject, ask, ask.engine)
        ask.end()
        self.stored += self._ledger.stored
        if self._script.is_asked:  # else store or another judgement answers everything
            least, typical, most = (
                max(bound - self._ledger.stored, 1) for bound in calls_of(judge, unit.subject)
            )
            for place, bound in enumerate((least, typical, most)):
                self.bounds[place] += bound
            if self._script.calls:
                self.known += typical
                self._add(Calls(least, typical, most))

    def _add(self, bounds: Calls) -> None:
        """The tokens of one judgement."""
        calls = self._script.calls
        least, typical, most = (bound / len(calls) for bound in bounds)
        longest = max(call.prompt.high for call in calls)
        for call in calls:
            p, c = call.prompt, call.completion
            high = p.high * min(most, 1.0) + longest * max(most - 1.0, 0.0)
            sums = self.sums.setdefault(call.model, Sums())
            sums.prompt += Tokens(p.low * least, p.typical * typical, high)
            sums.completion += Tokens(c.low * least, c.typical * typical, c.high * most)


def _silenced(engine: OpenModel | None) -> OpenModel | None:
    if engine is None:
        return None
    return OpenModel(identity=engine.identity, model=_Silence(engine), served="any")


def _spread(plan: Plan, count: int, wanted: int) -> Iterator[Unit]:
    """So many of the units that have something to judge, evenly."""
    present = (unit for unit in plan if unit.is_there)
    for place, unit in enumerate(present):
        if (place + 1) * wanted // count > place * wanted // count:
            yield unit


_LOOK: Final = 1000  # judgements that are rehearsed to their end at most; tokens of others are like these
_NONE: Final = Calls(0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is still to be asked and paid.

    Args:
        units: units of work of the run.
        calls: to be put to the model; what the store answers and what judgements share is left out. Answers
            that cannot be read are asked for again, and come on top.
        stored: calls that the store answers.
        prompt: tokens of the prompts.
        completion: tokens of the replies; at most what they have room for.
        price: least, typical and most; None where the price of a model is unknown.
        currency: of the price.
        price_date: the day from which the prices are known to hold; of several the earliest.
        seconds: how long it typically takes; None where the provider decides when it answers.
        looked_at: judgements that were rehearsed.
        seen: answered calls by whose tokens the estimate was corrected.
    """

    units: int
    calls: Calls = _NONE
    stored: int = 0
    prompt: Calls = _NONE
    completion: Calls = _NONE
    price: tuple[Decimal, Decimal, Decimal] | None = (Decimal(), Decimal(), Decimal())
    currency: str = ""
    price_date: dt.date | None = None
    seconds: float | None = 0.0
    looked_at: int = 0
    seen: int = 0

    def to_json(self) -> dict[str, object]:
        """As `adjudge forecast --format json` prints it; the price is the typical one."""
        return {
            "units": self.units,
            "calls": self.calls._asdict(),
            "tokens": {"prompt": self.prompt._asdict(), "completion": self.completion._asdict()},
            "price": None if self.price is None else float(self.price[1]),
            "currency": self.currency or None,
            "price_date": None if self.price_date is None else self.price_date.isoformat(),
        }


@takes(ForecastSettings)
def forecast(
    judge: Annotator | str, test_set: TestSet | Path | str | None, settings: ForecastSettings
) -> Forecast:
    """What a run will ask and cost; nothing is sent, and no key is needed.

    Args:
        judge: judge or metric, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from.
        settings: those of the run; `out` only where the run was begun already.

    Raises:
        UsageError: the call itself is wrong.
    """
    return run_to_end(aforecast.by(judge, test_set, settings))


@takes(ForecastSettings)
async def aforecast(
    judge: Annotator | str, test_set: TestSet | Path | str | None, settings: ForecastSettings
) -> Forecast:
    """What a run will ask and cost, in an event loop of yours; see `forecast`."""
    return await forecast_job(prepare.by(judge, test_set, replace(settings, dry_run=True)))


async def forecast_job(job: Job, look: int = _LOOK) -> Forecast:
    """What a job will ask and cost.

    Args:
        job: ready to go; it may go afterwards.
        look: judgements that are rehearsed at most.
    """
    if job.models is None or not is_judge(job.annotator):
        return Forecast(units=len(job.plan))
    reader = CallReader(job.store) if job.store.is_file() else None
    try:
        experience = Experience() if reader is None else learn(reader, job.models)
        rehearsal = Rehearsal(job.plan, job.models, reader, experience, seed=job.options.seed)
        count = await rehearsal.run(job.annotator, look)
        return _forecast(job, rehearsal, count, experience)
    finally:
        if reader is not None:
            reader.close()


def _forecast(job: Job, rehearsal: Rehearsal, count: int, experience: Experience) -> Forecast:
    scale = count / max(rehearsal.begun, 1)
    least, typical, most = (round(bound * scale) for bound in rehearsal.bounds)
    more = typical / max(rehearsal.known, 1)
    sums = {name: Sums(s.prompt.times(more), s.completion.times(more)) for name, s in rehearsal.sums.items()}
    dates = [price.as_of for price in job.prices.values() if price is not None]
    return Forecast(
        units=len(job.plan),
        calls=Calls(least, typical, most),
        stored=round(rehearsal.stored * scale),
        prompt=_whole(s.prompt for s in sums.values()),
        completion=_whole(s.completion for s in sums.values()),
        price=_price(sums, _prices(job)),
        currency=next((price.currency for price in job.prices.values() if price is not None), ""),
        price_date=min(dates, default=None),
        seconds=None
        if job.options.engine == "batch"
        else typical * experience.seconds / job.options.concurrency,
        looked_at=rehearsal.looked_at,
        seen=experience.calls,
    )


def _prices(job: Job) -> Mapping[str, Price | None]:
    """What calls cost in the way that they are put, by model."""
    if job.models is None or job.options.engine != "batch":
        return job.prices
    return {name: job.prices[batch_name(name)] for name in job.models.paid}


def _whole(parts: Iterator[Tokens]) -> Calls:
    total = sum(parts, Tokens())
    return Calls(int(total.low), round(total.typical), -int(-total.high // 1))


def _price(
    sums: Mapping[str, Sums], prices: Mapping[str, Price | None]
) -> tuple[Decimal, Decimal, Decimal] | None:
    """Least, typical and most. At least: every prompt was kept by the server. Models that cost nothing: 0."""
    total = [Decimal(), Decimal(), Decimal()]
    for name, s in sums.items():
        if name not in prices:
            continue
        price = prices[name]
        if price is None:
            return None
        kept = int(s.prompt.low)
        total[0] += price.cost(Usage(prompt=kept, cached=kept, completion=int(s.completion.low)))
        total[1] += price.cost(Usage(prompt=round(s.prompt.typical), completion=round(s.completion.typical)))
        total[2] += price.cost(Usage(prompt=int(s.prompt.high) + 1, completion=int(s.completion.high) + 1))
    return total[0], total[1], total[2]
