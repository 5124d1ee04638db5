"""Agreement as a table: one row a number, then the alternative-annotator test in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from adjudge.core.score import listed
from adjudge.meta.agreement.agreement import Agreement
from adjudge.meta.agreement.alternative import FEWEST, AlternativeTest
from adjudge.report.numbers import exact_cells, interval, number, whole
from adjudge.report.tables import Table

__all__ = ["agreement_data", "agreement_table"]

_DIGITS: Final = 3


def agreement_table(agreement: Agreement, *, exact: bool) -> Table:
    """One row a number; a line between criteria.

    Args:
        agreement: of people, and of judges with them.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    rows = []
    for row in agreement.rows:
        low, high = row.result.interval or (None, None)
        if exact:
            cells = exact_cells(row.result.value, low, high)
        else:
            cells = [number(row.result.value, _DIGITS), interval(row.result.interval, _DIGITS)]
        n = whole(row.result.n, exact=exact)
        rows.append([row.criterion, row.measure, " and ".join(row.between), *cells, n])
    criteria = [row.criterion for row in agreement.rows]
    ends = [">low", ">high"] if exact else [">95 % interval"]
    table = Table(
        columns=["criterion", "measure", "between", ">value", *ends, ">n"],
        rows=rows,
        rules=frozenset(i for i in range(len(criteria) - 1) if criteria[i] != criteria[i + 1]),
        notes=[*dict.fromkeys(_reasons(agreement)), *_test_notes(agreement), *agreement.notes],
    )
    return table if any(criteria) else _without_criterion(table)


def _without_criterion(table: Table) -> Table:
    return Table(
        columns=table.columns[1:], rows=[row[1:] for row in table.rows], rules=table.rules, notes=table.notes
    )


def _reasons(agreement: Agreement) -> Iterator[str]:
    """Why some numbers are missing."""
    for row in agreement.rows:
        if row.result.value is None:
            yield f"{row.measure}, {' and '.join(row.between)}: {row.result.reason}."


def _test_notes(agreement: Agreement) -> Iterator[str]:
    for (criterion, judge), test in agreement.tests.items():
        on = f" on {criterion}" if criterion else ""
        if test.passes is None or test.winning_rate is None or test.advantage is None:
            yield (
                f"The alternative-annotator test of {judge}{on} needs {FEWEST} units that a person shares "
                f"with the judge and another person; the most is {max(o.n for o in test.opponents)}."
            )
            continue
        verdict = "may stand in for a person" if test.passes else "is not shown to equal a person"
        beaten, tested = (sum(o.beaten for o in test.opponents), sum(o.p is not None for o in test.opponents))
        yield (
            f"{judge} {verdict}{on}: it beats {beaten} of {tested} by the alternative-annotator test "
            f"(winning rate {number(test.winning_rate, 2)}, advantage {number(test.advantage, 2)}, "
            f"epsilon {test.epsilon:g})."
        )


def agreement_data(agreement: Agreement) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "rows": [
            {
                "criterion": row.criterion or None,
                "measure": row.measure,
                "between": list(row.between),
                "value": row.result.value,
                "interval": listed(row.result.interval),
                "n": row.result.n,
            }
            for row in agreement.rows
        ],
        "tests": [
            {"criterion": criterion or None, "judge": judge, **_test_data(test)}
            for (criterion, judge), test in agreement.tests.items()
        ],
        "notes": list(agreement.notes),
    }


def _test_data(test: AlternativeTest) -> dict[str, Any]:
    return {
        "passes": test.passes,
        "winning_rate": test.winning_rate,
        "advantage": test.advantage,
        "epsilon": test.epsilon,
        "people": [
            {"person": o.person, "n": o.n, "judge": o.judge, "human": o.human, "p": o.p, "beaten": o.beaten}
            for o in test.opponents
        ],
    }
