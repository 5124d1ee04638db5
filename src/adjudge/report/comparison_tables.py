"""Comparisons of two systems as tables."""

from __future__ import annotations

from adjudge.meta.comparing.two_systems import Comparison, Side, Stratum
from adjudge.report.numbers import NOTHING, digits_for, exact_cells, interval, number, p_value, whole
from adjudge.report.tables import Table

__all__ = ["comparison_table"]

_COLUMNS = ("first", "second", "difference")
_EXACT = ("low", "high", "p", "p_holm", "d_z", "superiority", "cliff", "wins", "ties", "losses", "n")


def comparison_table(comparison: Comparison, *, exact: bool) -> Table:
    """One row for all segments, then one for each language pair and each domain.

    Args:
        comparison: what was found.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    rows = (comparison.whole, *comparison.strata)
    if exact:
        columns = ["kind", "name", *(f">{c}" for c in (*_COLUMNS, *_EXACT))]
        return Table(columns=columns, rows=[_exact(row) for row in rows])
    corrected = any(row.p_holm is not None for row in rows)
    digits = digits_for([row.difference.first for row in rows], [row.difference.interval for row in rows])
    names = [_heading(side) for side in (comparison.first, comparison.second)]
    tests = [">p", *([">p (Holm)"] if corrected else [])]
    columns = [
        "segments",
        *names,
        ">difference",
        ">95 % interval",
        *tests,
        ">d_z",
        ">better in",
        ">delta",
        ">n",
    ]
    return Table(
        columns=columns,
        rows=[_row(row, digits, corrected=corrected) for row in rows],
        rules=frozenset({0}) if len(rows) > 1 else frozenset(),
        notes=[*_signatures(comparison), f"Method: {comparison.method}.", *comparison.notes],
    )


def _heading(side: Side) -> str:
    return f">{side.name}"


def _row(stratum: Stratum, digits: int, *, corrected: bool) -> list[str]:
    found = stratum.difference
    cells = [
        stratum.name,
        *(number(value, digits) for value in (found.first, found.second, found.value)),
        interval(found.interval, digits),
        p_value(found.p),
    ]
    if corrected:
        cells.append(NOTHING if stratum.p_holm is None else p_value(stratum.p_holm))
    effect = found.effect
    better = f"{100 * effect.superiority:.0f} %"
    return [*cells, number(effect.d_z, 2), better, number(effect.cliff, 2), whole(stratum.n)]


def _exact(stratum: Stratum) -> list[str]:
    found, effect = stratum.difference, stratum.difference.effect
    low, high = found.interval or (None, None)
    numbers = exact_cells(
        *(found.first, found.second, found.value, low, high, found.p, stratum.p_holm),
        *(effect.d_z, effect.superiority, effect.cliff, effect.wins, effect.ties, effect.losses, stratum.n),
    )
    return [stratum.kind, stratum.name, *numbers]


def _signatures(comparison: Comparison) -> list[str]:
    sides = (comparison.first, comparison.second)
    lines = list(dict.fromkeys(str(side.signature) for side in sides))
    counts = "; ".join(f"{side.name}: {side.n:,} judged, {side.failed:,} failed" for side in sides)
    found = comparison.whole
    units = "segments" if found.difference.units == found.n else "documents"
    explained = (
        "d_z: mean difference over the standard deviation of differences. Better in: "
        f"share of {units} where the first is better, ties counting half. Delta: Cliff's, from \u22121 to 1."
    )
    return [*lines, f"{counts}.", explained]
