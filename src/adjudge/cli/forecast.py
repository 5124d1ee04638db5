"""`adjudge forecast`: calls, tokens, price and time before anything is paid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from adjudge.cli.output import print_note, print_result
from adjudge.cli.run import make_job
from adjudge.cli.run_options import with_run_options
from adjudge.cli.settings import WithSettings
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from adjudge.runs.forecast import Forecast
    from adjudge.runs.job import Job

__all__ = ["WithSettings", "announce", "command", "print_forecast"]

_OUT = Annotated[
    Path | None, typer.Option("--out", "-o", help="Run directory: what it has answered costs nothing.")
]
_LOOK_BEFORE_A_RUN: Final = 100


@with_run_options({"out": (_OUT, None)}, dropped={"dry_run", "max_failed"})
def command(**values: Any) -> None:  # noqa: ANN401 (the options of `adjudge run`)
    """Say what a run would ask and cost. Nothing is sent, and no key is needed.

    It takes the options of `adjudge run`, so that one word of a command line is all there is to change.
    """
    from adjudge.runs.forecast import NOWHERE

    form: TableFormat = values.pop("form")
    print_forecast(make_job(values, values["out"] or NOWHERE, dry=True), form)


def print_forecast(job: Job, form: TableFormat) -> None:
    """Print what a job would ask and cost."""
    from adjudge.runs.forecast import forecast_job
    from adjudge.runs.run import run_to_end

    found = run_to_end(forecast_job(job))
    notes = [str(job.signature), *_schema_note(job), *_notes(found)]
    print_result(form, _table(found, notes), found.to_json(), notes)


def announce(job: Job) -> None:
    """Say on one line what a run will cost, where it costs anything."""
    from adjudge.runs.forecast import forecast_job
    from adjudge.runs.run import run_to_end

    if not job.prices or job.offline:
        return
    found = run_to_end(forecast_job(job, _LOOK_BEFORE_A_RUN))
    least, typical, most = found.calls
    calls = f"{typical:,} calls" + ("" if least == most else f" ({least:,} to {most:,})")
    tokens = f"about {found.prompt.typical + found.completion.typical:,} tokens"
    print_note(f"forecast: {calls}, {tokens}, {_span(found)}{_dated(found)}")


def _span(found: Forecast) -> str:
    from adjudge.llm.budget import render_price

    if found.price is None:
        return "price unknown"
    least, typical, most = (render_price(price, "") for price in found.price)
    return f"{typical} {found.currency} ({least} to {most})"


def _dated(found: Forecast) -> str:
    return "" if found.price_date is None else f" at prices of {found.price_date}"


def _table(found: Forecast, notes: list[str]) -> Table:
    rows = [
        ["units", "", f"{found.units:,}", ""],
        ["calls", *(f"{count:,}" for count in found.calls)],
        ["prompt tokens", *(f"{count:,}" for count in found.prompt)],
        ["completion tokens", *(f"{count:,}" for count in found.completion)],
        _price_row(found.price, found.currency),
        ["minutes", "", "unknown" if found.seconds is None else f"{found.seconds / 60:,.1f}", ""],
    ]
    return Table(columns=["", ">at least", ">typically", ">at most"], rows=rows, notes=notes)


def _price_row(price: tuple[Decimal, ...] | None, currency: str) -> list[str]:
    from adjudge.llm.budget import render_price

    if price is None:
        return ["price", "unknown", "unknown", "unknown"]
    return [f"price, {currency}" if currency else "price", *(render_price(part, "") for part in price)]


def _schema_note(job: Job) -> Iterator[str]:
    """What `--json-schema auto` comes to, where there is a choice."""
    if job.models is not None and job.models.is_paid and job.settings["json_schema"] == "auto":
        used = cast("Mapping[str, str]", job.settings["json_schema_used"])
        yield "--json-schema auto: " + ", ".join(f"{how} for {name}" for name, how in used.items())


def _notes(found: Forecast) -> Iterator[str]:
    if not (found.calls.max or found.stored):
        yield "no model is asked"
        return
    if found.stored:
        yield f"{found.stored:,} answers are kept from before; asking for them is not in these numbers"
    if found.seen:
        yield f"tokens are estimated, and corrected by {found.seen:,} answered calls"
    else:
        yield "tokens are estimated from the scripts of the texts, without a tokenizer"
    if found.seconds is None:
        yield "calls go out in batches, wave by wave; the provider answers a wave within a day"
    if found.price is None:
        yield "the price of the model is not known; --prices FILE tells it"
    elif found.price_date is not None:
        yield f"prices of {found.price_date}"
    yield "answers that cannot be read are asked for again and come on top; nothing was sent"
