"""Biases as a table: one row a bias, so that every number stands beside its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from adjudge.core.score import listed
from adjudge.meta.bias.biases import Bias, Biases
from adjudge.meta.measures.result import Result
from adjudge.report.numbers import exact_cells, interval, number, p_value, whole
from adjudge.report.tables import Table

__all__ = ["bias_data", "bias_table"]

_DIGITS: Final = 3
_COLUMNS: Final = ("annotator", "criterion", "bias", "number")


def bias_table(biases: Biases, *, exact: bool) -> Table:
    """One row a number; a line below each annotator and criterion.

    Args:
        biases: of any number of annotators.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    rows, rules = [], set()
    for bias in biases.rows:
        for kind, name, result in _results(bias):
            cells = _exact_cells(result) if exact else _cells(result)
            amounts = [whole(n, exact=exact) for n in (result.n, bias.failed)]
            rows.append([bias.annotator, bias.criterion, kind, name, *cells, *amounts])
        rules.add(len(rows) - 1)
    ends = [">low", ">high"] if exact else [">95 % interval"]
    return Table(
        columns=[*_COLUMNS, ">value", *ends, ">p", ">n", ">failed"],
        rows=rows,
        rules=frozenset(rules - {-1, len(rows) - 1}),
        notes=[str(biases.signature), *biases.notes],
    )


def _results(bias: Bias) -> Iterator[tuple[str, str, Result]]:
    """Every number of one annotator on one criterion: kind of bias, name, result."""
    if (position := bias.position) is not None:
        yield "position", "same verdict in both orders", position.consistency
        yield "position", "chose the first", position.first
        yield "position", "chose the second", position.second
        yield "position", "chose neither", position.tie
        yield "position", "first wins both orders, less second", position.lean
    if bias.repeat is not None:
        yield "chance", "same verdict in two samples", bias.repeat
    if (length := bias.length) is not None:
        yield "length", "points of the longer", length.longer
        for name, result in (("by gold", length.gold), ("beyond gold", length.beyond_gold)):
            if result is not None:
                yield "length", f"points of the longer, {name}", result
    if (family := bias.family) is not None:
        yield f"family {family.family}", "points of its own", family.own
        for name, result in (
            ("by other judges", family.others),
            ("beyond other judges", family.beyond_others),
            ("by gold", family.gold),
            ("beyond gold", family.beyond_gold),
        ):
            if result is not None:
                yield f"family {family.family}", f"points of its own, {name}", result


def _cells(result: Result) -> list[str]:
    p = "" if result.p is None else p_value(result.p)
    return [number(result.value, _DIGITS), interval(result.interval, _DIGITS), p]


def _exact_cells(result: Result) -> list[str]:
    low, high = result.interval or (None, None)
    return exact_cells(result.value, low, high, result.p)


def bias_data(biases: Biases) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "rows": [
            {
                "annotator": bias.annotator,
                "criterion": bias.criterion,
                "n": bias.n,
                "failed": bias.failed,
                **({"undecided": bias.undecided} if bias.undecided else {}),
                "position": _part(bias.position, ("consistency", "first", "second", "tie", "lean")),
                **({} if bias.repeat is None else {"repeat": _number(bias.repeat)}),
                "length": _part(bias.length, ("longer", "gold", "beyond_gold")),
                "family": _part(bias.family, ("own", "others", "beyond_others", "gold", "beyond_gold")),
            }
            for bias in biases.rows
        ],
        "signature": str(biases.signature),
        "notes": list(biases.notes),
    }


def _part(part: object, names: tuple[str, ...]) -> dict[str, Any] | None:
    if part is None:
        return None
    named = {key: getattr(part, key) for key in ("family", "systems") if hasattr(part, key)}
    return named | {name: _number(getattr(part, name)) for name in names}


def _number(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    found: dict[str, Any] = {"value": result.value, "interval": listed(result.interval), "n": result.n}
    return found | ({} if result.p is None else {"p": result.p})
