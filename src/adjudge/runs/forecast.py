"""What a run will ask and cost, before anything is sent.

Each judgement is begun: the judge puts its questions as far as the store answers them, and the first that the
store does not answer is measured. How many calls follow is what the judge says (`judge.calls`), less the
answers in the store; prompts of later questions are taken to be as long as the first. Tokens are estimated,
see `llm/money.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.ask import Message, Reply, Usage
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Judge
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.errors import AnswerError, DataError
from adjudge.llm.asking import Asker, UnitAsk
from adjudge.llm.model import Identity, Request, render_message
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.money import Price, Tokens, batch_name, estimate_messages, estimate_text
from adjudge.llm.remote import is_search
from adjudge.runs.job import ForecastSettings, Job, prepare
from adjudge.runs.session import run_to_end
from adjudge.runs.units import Annotator, Plan, Unit, adapter_of, calls_of, is_judge, judge_subject
from adjudge.store.call_file import Attempt, StoredRequest, Use
from adjudge.store.calls import CallReader

_MARK: Final = "0" * 16
_SAMPLE: Final = 500
_ENOUGH: Final = 10  # answered calls of a model before its own count is believed
_DOUBT: Final = 0.05  # that stays, however alike the calls were
_SECONDS: Final = 3.0  # of a call, where none was seen

_INTRODUCED: Final = Tokens(0, 60, 500)  # what a server says of tools in general

_TYPICAL: Final = {"rating": 12, "says": 8, "counts": 15, "errors": 90, "errors+counts": 110}
"""Tokens of an answer by what it must hold: two errors in JSON are about 90."""
_OTHERWISE: Final = 200


@dataclass
class Seen:
    """Answered calls of one model whose tokens its server counted."""

    estimated: float = 0.0  # what we would have said of their prompts
    counted: int = 0  # what the server said
    least: float = float("inf")  # smallest share of counted to estimated in one call
    most: float = 0.0  # largest share
    calls: int = 0
    # calls and tokens of replies, by the instruction they followed
    replies: dict[str, list[int]] = field(default_factory=dict)

    def add(self, estimate: Tokens, prompt: int, completion: int, instruction: str) -> None:
        self.estimated += estimate.typical
        self.counted += prompt
        self.least = min(self.least, prompt / estimate.typical)
        self.most = max(self.most, prompt / estimate.typical)
        self.calls += 1
        reply = self.replies.setdefault(instruction, [0, 0])
        reply[0] += 1
        reply[1] += completion


@frozen
class Experience:
    """What was seen of each model."""

    models: dict[str, Seen] = field(default_factory=dict)  # by name, those with enough calls
    seconds: float = _SECONDS

    @property
    def calls(self) -> int:
        return sum(seen.calls for seen in self.models.values())

    def estimate(self, model: str, request: Request) -> tuple[Tokens, Tokens]:
        """Tokens of a prompt and of its reply."""
        typical = float(_TYPICAL.get(request.about.wants, _OTHERWISE))
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
        seen = found.setdefault(name, Seen())
        usage = reply.usage
        apart = usage.reasoning if usage.reasoning > usage.completion else 0
        seen.add(_prompt(request), usage.prompt, usage.completion + apart, _instruction(request.messages))
    enough = {name: seen for name, seen in found.items() if seen.calls >= _ENOUGH}
    return Experience(models=enough, seconds=reader.seconds() or _SECONDS)


def _prompt(request: Request | StoredRequest) -> Tokens:
    total = Tokens()  # of the tools: each server puts them in its own way into the prompt, introduced or not
    for tool in request.tools:
        words = estimate_text(tool.name + tool.description)
        shape = _text_tokens(orjson.dumps(tool.parameters, option=orjson.OPT_SORT_KEYS))
        total += words + Tokens(shape.low / 2, shape.typical, shape.high)
    return (
        estimate_messages(request.messages, _MARK)
        + _schema(request.schema)
        + (total + _INTRODUCED if total.high else total)
    )


def _schema(schema: object) -> Tokens:
    if schema is None:
        return Tokens()
    size = _text_tokens(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))
    return Tokens(0.0, size.typical, size.high)


@lru_cache(maxsize=64)
def _text_tokens(raw: bytes) -> Tokens:
    return estimate_text(raw.decode())


def _instruction(messages: Iterable[Message]) -> str:
    first = next(iter(messages), None)
    return "" if first is None else render_message(first, _MARK)


_BEGUN: Final = 100_000  # judgements that are begun at most; others are like these
_SECRET: Final = bytes(16)


class _Ledger:
    """What an `Asker` takes for its store; it reads the real one, and writes nothing."""

    def __init__(self, reader: CallReader | None) -> None:
        self.stored = 0
        self._reader = reader
        self.began_empty = reader is None

    def find(self, key: bytes) -> Reply | None:
        reply = None if self._reader is None else self._reader.find(key)
        self.stored += reply is not None and not is_search(reply.model)
        return reply

    async def save(
        self,
        key: bytes,
        request: StoredRequest,
        reply: Reply,
        *,
        replaces: bool = False,
    ) -> Reply:
        del key, request, replaces
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


class _Unasked:
    """Stands in a model's or an engine's place: takes down a question, and ends the judgement there."""

    def __init__(self, opened: OpenModel, questions: _Questions) -> None:
        self.name = opened.identity.name
        self._sends_schema = opened.identity.constrained
        self._questions = questions

    async def reply(self, request: Request) -> Reply:
        sent = request if self._sends_schema else replace(request, schema=None)
        self._questions.meet(self.name, sent)
        raise AnswerError("missing", "only the first question is looked at")


class _Questions:
    """The question at which a judgement was left: the first that the store cannot answer."""

    def __init__(self) -> None:
        self.first: tuple[str, Request] | None = None
        self.is_left = False
        self._met: set[bytes] = set()

    def begin(self) -> None:
        self.first, self.is_left = None, False

    def meet(self, model: str, request: Request) -> None:
        """Take it down, unless a judgement before asks the same: then that one pays for both."""
        if not self.is_left and request.key not in self._met:
            self.first = (model, request)
        self.is_left = True
        self._met.add(request.key)


class Beginnings:
    """Judgements as far as the store has answers. `experience`: of the tokens of these models."""

    def __init__(self, job: Job, models: Models, reader: CallReader | None, experience: Experience) -> None:
        self.begun = self.stored = 0
        self.bounds = [0, 0, 0]
        self.prompt, self.completion = Tokens(), Tokens()
        self._job = job
        self._experience = experience
        self._ledger = _Ledger(reader)
        self._questions = _Questions()
        unasked = Models(
            default=self._unasked(models.default),
            roles={role: self._unasked(model) for role, model in models.roles.items()},
            search=None if models.search is None else self._unasked(models.search),
        )
        self._asker = Asker(unasked, self._ledger, secret=_SECRET, seed=job.options.seed)

    def _unasked(self, opened: OpenModel) -> OpenModel:
        return OpenModel(identity=opened.identity, model=_Unasked(opened, self._questions), served="any")

    async def run(self, judge: Judge, most: int) -> int:
        """Begin so many judgements at most, evenly spread; how many there are in all."""
        self._asker.adapter = adapter_of(judge)
        count = sum(unit.is_there for unit in self._job.plan)
        for unit in _spread(self._job.plan, count, min(count, most)):
            self.begun += 1
            await self._begin(judge, unit)
        return count

    async def _begin(self, judge: Judge, unit: Unit) -> None:
        ask, has_failed = await self._put(judge, unit)
        if has_failed and not self._questions.is_left and self._job.options.retry_failed:
            self._asker.forget(ask.refused)
            await self._put(judge, unit)
        self.stored += self._ledger.stored
        if self._questions.first is None:  # store or another judgement answers everything
            return
        model, request = self._questions.first
        bounds = [max(bound - self._ledger.stored, 1) for bound in calls_of(judge, unit.subject)]
        self.bounds = [whole + bound for whole, bound in zip(self.bounds, bounds, strict=True)]
        prompt, completion = self._experience.estimate(model, request)
        self.prompt += _of_calls(prompt, *bounds)
        self.completion += _of_calls(completion, *bounds)

    async def _put(self, judge: Judge, unit: Unit) -> tuple[UnitAsk, bool]:
        self._questions.begin()
        self._ledger.stored = 0
        ask = self._asker.for_unit(unit.subject)
        try:
            found = await judge_subject(judge, unit.subject, ask, ask.engine)
        except (AnswerError, DataError):
            return ask, True
        finally:
            ask.end()
        return ask, any(isinstance(outcome, AnswerError) for outcome in found)


def _of_calls(tokens: Tokens, least: int, typical: int, most: int) -> Tokens:
    return Tokens(tokens.low * least, tokens.typical * typical, tokens.high * most)


def _spread(plan: Plan, count: int, wanted: int) -> Iterator[Unit]:
    for place, unit in enumerate(unit for unit in plan if unit.is_there):
        if (place + 1) * wanted // count > place * wanted // count:
            yield unit


_NONE: Final = Calls(0, 0, 0)

_COLUMNS: Final = (
    Column("quantity", "units, calls, prompt, completion, price or time", of=itemgetter(0)),
    Column("unit", "what it is counted in", of=itemgetter(1)),
    Column("low", "at least", "decimal", of=itemgetter(2)),
    Column("typical", "what is most likely", "decimal", of=itemgetter(3)),
    Column("high", "at most", "decimal", of=itemgetter(4)),
)


@frozen
class Forecast(Framed):
    """What is still to be asked and paid."""

    units: int  # units of work of the run
    # to be put to the model; what the store answers and what judgements share is left out. Answers that
    # cannot be read are asked for again, and come on top.
    calls: Calls = _NONE
    stored: int = 0  # calls that the store answers
    prompt: Calls = _NONE  # tokens of the prompts
    completion: Calls = _NONE  # tokens of the replies; at most what they have room for
    # least, typical and most; None where the price of a model is unknown
    price: tuple[Decimal, Decimal, Decimal] | None = (Decimal(), Decimal(), Decimal())
    currency: str = ""
    # the day from which the prices are known to hold; of several the earliest
    price_date: dt.date | None = None
    # how long it typically takes; None where the provider decides when it answers
    seconds: float | None = 0.0
    begun: int = 0  # judgements whose first question was looked at
    seen: int = 0  # answered calls by whose tokens the estimate was corrected

    def columns(self) -> Sequence[Column]:
        return _COLUMNS

    def groups(self) -> dict[str, list[tuple[str, *tuple[object, ...]]]]:
        """A row for each quantity: its name and unit, then least, typical and most."""
        price = (None, None, None) if self.price is None else map(float, self.price)
        rows = [
            ("units", "", None, self.units, None),
            ("calls", "", *self.calls),
            ("prompt", "tokens", *self.prompt),
            ("completion", "tokens", *self.completion),
            ("price", self.currency, *price),
            ("time", "seconds", None, self.seconds, None),
        ]
        return {"": rows}

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


async def forecast_job(job: Job, most: int = _BEGUN) -> Forecast:
    """What a job will ask and cost.

    `most`: judgements that are begun at most, evenly spread; others are taken to be like these.
    """
    if job.models is None or not is_judge(job.annotator):
        return Forecast(units=len(job.plan))
    with ExitStack() as opened:
        reader = opened.enter_context(closing(CallReader(job.store))) if job.store.is_file() else None
        experience = Experience() if reader is None else learn(reader, job.models)
        found = Beginnings(job, job.models, reader, experience)
        count = await found.run(job.annotator, most)
    scale = count / max(found.begun, 1)
    prompt, completion = found.prompt.times(scale), found.completion.times(scale)
    calls = Calls(*(round(bound * scale) for bound in found.bounds))
    dates = [price.as_of for price in job.prices.values() if price is not None]
    is_batch = job.options.engine == "batch"
    return Forecast(
        units=len(job.plan),
        calls=calls,
        stored=round(found.stored * scale),
        prompt=_whole(prompt),
        completion=_whole(completion),
        price=_price(
            prompt,
            completion,
            [job.prices[batch_name(name) if is_batch else name] for name in job.models.paid],
        ),
        currency=next((price.currency for price in job.prices.values() if price is not None), ""),
        price_date=min(dates, default=None),
        seconds=None if is_batch else calls.typical * experience.seconds / job.options.concurrency,
        begun=found.begun,
        seen=experience.calls,
    )


def _whole(tokens: Tokens) -> Calls:
    return Calls(int(tokens.low), round(tokens.typical), -int(-tokens.high // 1))


def _price(
    prompt: Tokens, completion: Tokens, prices: Sequence[Price | None]
) -> tuple[Decimal, Decimal, Decimal] | None:
    if not prices or not prompt.high:
        return Decimal(), Decimal(), Decimal()
    if None in prices:
        return None
    known = [price for price in prices if price is not None]
    kept = int(prompt.low)
    least = Usage(prompt=kept, cached=kept, completion=int(completion.low))
    typical = Usage(prompt=round(prompt.typical), completion=round(completion.typical))
    most = Usage(prompt=int(prompt.high) + 1, completion=int(completion.high) + 1)
    return (
        min(price.cost(least) for price in known),
        sum((price.cost(typical) for price in known), Decimal()) / len(known),
        max(price.cost(most) for price in known),
    )
