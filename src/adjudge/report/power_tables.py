"""What judgements can show, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.meta.comparing.power import MOST_UNITS, Plan
from adjudge.meta.comparing.separating import Separation
from adjudge.report.numbers import digits_for, exact_cells, number, p_value, share
from adjudge.report.tables import Table

__all__ = ["plan_table", "separation_cautions", "separation_table"]

_CAUTION = (
    "Power and what is needed take the difference at hand for the true one, which it need not be: the "
    "largest of many differences is too large on average."
)
_FEW = 30
_ROUGH = f"With fewer than {_FEW} units these numbers are rough: few units say little of the spread."
_FULL = ("n", "difference", "p", "sd", "detectable", "power", "needed", "more")


def plan_table(plan: Plan, difference: float | None, *, exact: bool) -> Table:
    """One row: what a plan can show.

    Args:
        plan: the study.
        difference: to be found; None where none was named.
        exact: full precision, for programs.
    """
    columns = [">segments", ">annotators", ">detectable"]
    values: list[float | int | None] = [plan.segments, plan.annotators, plan.detectable]
    if difference is not None:
        columns += [">difference", ">power", ">segments needed"]
        values += [difference, plan.power_for(difference), plan.needed_for(difference)]
    if exact:
        return Table(columns=columns, rows=[exact_cells(*values)])
    cells = [f"{plan.segments:,}", f"{plan.annotators:,}", number(plan.detectable, 3)]
    if difference is not None:
        cells += [number(difference, 3), _chance(plan.power_for(difference)), _count(values[-1])]
    return Table(columns=columns, rows=[cells], notes=[_explained(plan, f"{plan.segments:,}")])


def separation_table(found: Sequence[Separation], signature: str, *, exact: bool) -> Table:
    """One row for each pair of systems.

    Args:
        found: pairs.
        signature: of the scores.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    if exact:
        columns = ["first", "second", *(f">{name}" for name in _FULL)]
        return Table(columns=columns, rows=[_exact(row) for row in found])
    digits = digits_for([row.detectable for row in found], ())
    rows = [
        [
            row.first,
            row.second,
            f"{row.n:,}",
            number(row.difference, digits),
            p_value(row.p),
            number(row.detectable, digits),
            _chance(row.power),
            _count(row.needed),
            _count(row.more),
        ]
        for row in found
    ]
    plan = found[0].plan
    columns = ["system", "and", ">n", ">difference", ">p", ">detectable", ">power", ">segments needed"]
    return Table(
        columns=[*columns, ">judgements still needed"],
        rows=rows,
        notes=[
            signature,
            _explained(plan, f"{plan.segments:,}" if len({row.plan.segments for row in found}) == 1 else "n"),
            *separation_cautions(found),
        ],
    )


def separation_cautions(found: Sequence[Separation]) -> list[str]:
    """What must be known of such numbers, whoever reads them."""
    least = min(found, key=lambda row: row.units)
    documents = [
        f"Documents are the unit: {row.n:,} segments of {row.units:,} documents; new segments are taken to "
        "come in documents of that length. --by-segment takes segments as independent."
        for row in [least]
        if row.units < row.n
    ]
    return [_CAUTION, *documents, *([_ROUGH] if least.units < _FEW else [])]


def _explained(plan: Plan, segments: str) -> str:
    annotators = f" and {plan.annotators} annotators" if plan.annotators > 1 else ""
    chance = f"with a chance of {100 * plan.power:g} %, two-sided at {plan.alpha:g}"
    return f"Detectable: smallest true difference that {segments} segments{annotators} show {chance}."


def _chance(power: float) -> str:
    return share(min(round(power * 10_000), 9_999 if power < 1 else 10_000), 10_000)


def _count(value: float | None) -> str:
    return f">{MOST_UNITS:,}" if value is None else f"{value:,}"


def _exact(row: Separation) -> list[str]:
    values = (row.n, row.difference, row.p, row.plan.sd, row.detectable, row.power, row.needed, row.more)
    return [row.first, row.second, *exact_cells(*values)]
