"""`adjudge trace`: the conversation behind a judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import existing
from adjudge.cli.output import FormatOption, print_note, print_result, print_text
from adjudge.errors import UsageError
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.data.trace import Trace, TracedUnit

__all__ = ["command"]

_SHOWN = 10
_ORDER = {"failed": 0, "pending": 1, "judged": 2}


def command(
    run: Annotated[Path, typer.Argument(callback=existing, help="Run directory.")],
    segment: Annotated[str | None, typer.Option(help="Id of a segment.")] = None,
    system: Annotated[str | None, typer.Option(help="Name of a system.")] = None,
    lp: Annotated[str | None, typer.Option("--lp", "-l", help="Language pair.")] = None,
    form: FormatOption = "table",
) -> None:
    """Show the conversation behind judgements: every question, answer, re-ask and fault.

    Without --segment: a list of what was judged, failures first.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.data.trace import Trace

    lp = None if lp is None else canonical_lp(lp)
    trace = Trace(run)
    try:
        every = [*trace.units()]
        units = [unit for unit in every if _is_wanted(unit, segment, system, lp)]
        if not units:
            chosen = {"segment": segment, "system": system, "lp": lp}
            raise UsageError(f"{run} has no such judgement: {_missing(every, chosen)}")
        if segment is None:
            _print_list(units, form)
        else:
            _print_conversations(trace, units, form)
    finally:
        trace.close()


def _is_wanted(unit: TracedUnit, segment: str | None, system: str | None, lp: str | None) -> bool:
    return (
        (segment is None or unit.segment.segment == segment)
        and (system is None or system in unit.systems)
        and (lp is None or unit.segment.lp == lp)
    )


def _missing(units: Sequence[TracedUnit], chosen: Mapping[str, str | None]) -> str:
    """Name what was asked for and is not there, beside what is; or say that it is not there together."""
    known = {
        "segment": dict.fromkeys(unit.segment.segment for unit in units),
        "system": dict.fromkeys(name for unit in units for name in unit.systems),
        "lp": dict.fromkeys(unit.segment.lp for unit in units),
    }
    for what, name in chosen.items():
        if name is not None and name not in known[what]:
            some = [*known[what]][:_SHOWN]
            more = ", ..." if len(known[what]) > _SHOWN else ""
            return f"no {what} {name!r}; there are {', '.join(some)}{more}"
    return "no " + " with ".join(f"{what} {name!r}" for what, name in chosen.items() if name is not None)


def _print_list(units: list[TracedUnit], form: str) -> None:
    units = sorted(units, key=lambda unit: _ORDER[unit.state])
    rows = [
        [
            unit.segment.lp,
            unit.segment.segment,
            " ".join(unit.systems),
            unit.state + (f"({unit.reason})" if unit.reason else ""),
            str(unit.calls),
            unit.detail,
        ]
        for unit in units
    ]
    table = Table(columns=["lp", "segment", "system", "state", ">calls", "detail"], rows=rows)
    print_result(form, table, {"units": [_unit_to_json(unit) for unit in units]})  # type: ignore[arg-type]
    if len({unit.unit for unit in units}) < len(units):
        print_note("calls are those for a source: its systems were judged together")
    print_note("one conversation: add --segment ID --system NAME")


def _unit_to_json(unit: TracedUnit) -> dict[str, object]:
    return {
        "lp": unit.segment.lp,
        "segment": unit.segment.segment,
        "systems": list(unit.systems),
        "state": unit.state,
        "reason": unit.reason,
        "detail": unit.detail,
        "calls": unit.calls,
    }


def _print_conversations(trace: Trace, units: list[TracedUnit], form: str) -> None:
    from adjudge.llm.delimiters import mark_of
    from adjudge.runs.conversation import exchange_to_json, render_exchange

    data, rows = [], []
    for unit in units:
        mark = mark_of(unit.segment, bytes.fromhex(trace.info.secret))
        exchanges = trace.conversation(unit)
        data.append(_unit_to_json(unit) | {"exchanges": [exchange_to_json(e, mark) for e in exchanges]})
        rows += [
            [str(n), e.use.stage, e.use.role, e.use.reason, "" if e.reply is None else e.reply.text]
            for n, e in enumerate(exchanges, start=1)
        ]
        if form == "table":
            failed = f"({unit.reason}): {unit.detail}" if unit.reason else ""
            name = f"{unit.segment.lp}, segment {unit.segment.segment}, {' and '.join(unit.systems)}"
            print_text(f"{name}: {unit.state}{failed}\n\n")
            for number, exchange in enumerate(exchanges, start=1):
                print_text(render_exchange(exchange, number, mark) + "\n")
    if form != "table":
        table = Table(columns=[">", "stage", "role", "not used", "reply"], rows=rows)
        print_result(form, table, {"units": data})  # type: ignore[arg-type]
