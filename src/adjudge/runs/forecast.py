"""What a run will ask and cost, before anything is sent.

Every judgement is rehearsed: the judge puts its real questions, the store answers what it holds, and the
embedded rules answer the rest in the model's place. So the prompts that are counted are the prompts that will
be sent. How many calls there are at least and at most is exact; tokens are estimated, see `llm/tokens.py`.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, Unpack

from adjudge.core.ask import Usage
from adjudge.core.judge import Calls
from adjudge.core.keywords import checks_keywords
from adjudge.core.segment import TestSet
from adjudge.data.calls import CallReader
from adjudge.llm.prices import Price, batch_name
from adjudge.llm.tokens import Tokens
from adjudge.runs.annotators import Annotator, is_judge
from adjudge.runs.experience import Experience, learn
from adjudge.runs.job import Job, prepare
from adjudge.runs.options import RunOptions, choose
from adjudge.runs.rehearsal import Rehearsal, Sums
from adjudge.runs.run import run_to_end

__all__ = ["NOWHERE", "Forecast", "aforecast", "forecast", "forecast_job"]

_LOOK: Final = 1000  # judgements that are rehearsed to their end at most; tokens of others are like these
_NONE: Final = Calls(0, 0, 0)
NOWHERE: Final = Path(os.devnull)  # a run directory in which there never is a store


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


@checks_keywords(RunOptions)
def forecast(
    judge: Annotator | str,
    test_set: TestSet | Path | str | None = None,
    *,
    out: Path | str | None = None,
    **options: Unpack[RunOptions],
) -> Forecast:
    """What a run will ask and cost; nothing is sent, and no key is needed.

    Args:
        judge: judge or metric, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from.
        out: run directory, where the run was begun already: what it has answered costs nothing.
        options: those of the run.

    Raises:
        UsageError: the call itself is wrong.
    """
    return run_to_end(aforecast(judge, test_set, out=out, **options))


@checks_keywords(RunOptions)
async def aforecast(
    judge: Annotator | str,
    test_set: TestSet | Path | str | None = None,
    *,
    out: Path | str | None = None,
    **options: Unpack[RunOptions],
) -> Forecast:
    """What a run will ask and cost, in an event loop of yours; see `forecast`."""
    chosen, rest = choose(judge, test_set, options)
    rest["dry"] = True
    return await forecast_job(prepare(judge, chosen, NOWHERE if out is None else out, **rest))


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
        rehearsal = Rehearsal(job.plan, job.models, reader, experience, seed=job.seed)
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
        seconds=None if job.engine == "batch" else typical * experience.seconds / job.width,
        looked_at=rehearsal.looked_at,
        seen=experience.calls,
    )


def _prices(job: Job) -> Mapping[str, Price | None]:
    """What calls cost in the way that they are put, by model."""
    if job.models is None or job.engine != "batch":
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
