"""A campaign's analysis as tables: one a question for people, one row a number for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adjudge.core.score import listed
from adjudge.meta.campaign.analysis import Analysis
from adjudge.meta.campaign.numbers import Number, Section
from adjudge.meta.measures.result import Result
from adjudge.meta.ranking.ranked import Ranking
from adjudge.report.numbers import exact_cells, interval, number, whole
from adjudge.report.score_tables import ranking_table
from adjudge.report.tables import Table

__all__ = ["analysis_data", "analysis_rows", "analysis_tables"]

_DEFINITIONS: Final = {"paper": "as the paper", "mended": "mended", "": ""}
_SIGNIFICANT: Final = 3
_MOST_DIGITS: Final = 3
_WHOSE: Final = (
    "as the paper: the ESA paper's definition; mended: ours, without its flaw. The page "
    "campaign-analysis of the documentation says what differs."
)


def analysis_tables(found: Analysis) -> list[Table]:
    """One table a question, rankings after what there is."""
    tables = [_section_table(section) for section in found.sections if section.numbers or section.notes]
    rankings = [
        ranking_table(ranking, exact=False, title=_ranking_title(name))
        for name, ranking in found.rankings.items()
    ]
    last = _noted(found)
    return [*tables[:1], *rankings, *tables[1:], *last]


def _noted(found: Analysis) -> list[Table]:
    """What was left out of everything, as a table of its own."""
    is_told = any(number.definition for section in found.sections for number in section.numbers)
    notes = [*found.notes, *([_WHOSE] if is_told else [])]
    return [Table(columns=["what to mind"], rows=[[note] for note in notes])] if notes else []


def _ranking_title(name: str) -> str:
    return f"Which systems are better? By {name}" if name else "Which systems are better?"


def _section_table(section: Section) -> Table:
    has_both = any(number.definition for number in section.numbers)
    if section.name == "counts":
        rows = [[number.measure, whole(number.result.n)] for number in section.numbers]
        return Table(columns=["what", ">amount"], rows=rows, title=section.title, notes=section.notes)
    columns = ["of", "measure", *(["definition"] if has_both else []), ">value", ">95 % interval", ">n"]
    rows = [_cells(number, has_both=has_both) for number in section.numbers]
    reasons = dict.fromkeys(
        f"{n.measure} of {n.of}: none, for {n.result.reason}."
        for n in section.numbers
        if n.result.value is None
    )
    return Table(
        columns=columns,
        rows=rows,
        rules=frozenset(_ends(section.numbers)),
        title=section.title,
        notes=[*section.notes, *reasons],
    )


def _ends(numbers: Sequence[Number]) -> list[int]:
    """The last row of each whom or what, but for the very last one."""
    return [k for k in range(len(numbers) - 1) if numbers[k].of != numbers[k + 1].of and _is_grouped(numbers)]


def _is_grouped(numbers: Sequence[Number]) -> bool:
    return len({number.of for number in numbers}) * 2 <= len(numbers)


def _cells(row: Number, *, has_both: bool) -> list[str]:
    result = row.result
    digits = _digits(result)
    value = number(result.value, digits)
    definition = [_DEFINITIONS[row.definition]] if has_both else []
    return [row.of, row.measure, *definition, value, interval(result.interval, digits), whole(result.n)]


def _digits(result: Result) -> int:
    """Three significant digits, by the larger end of the interval where there is one."""
    sizes = [abs(v) for v in (result.value, *(result.interval or ())) if v]
    size = max(sizes, default=0.0)
    return max(0, min(_MOST_DIGITS, _SIGNIFICANT - len(str(int(size))) if size >= 1 else _MOST_DIGITS))


# For programs...


def analysis_rows(found: Analysis) -> Table:
    """One row a number, every digit; rankings are sections of their own."""
    rows = [
        [section.name, row.of, row.measure, row.definition, *_exact(row.result)]
        for section in found.sections
        for row in section.numbers
    ]
    for name, ranking in found.rankings.items():
        rows += [["ranking", *cells] for cells in _ranking_rows(name, ranking)]
    columns = ["section", "of", "measure", "definition", ">value", ">low", ">high", ">n", "reason"]
    return Table(columns=columns, rows=rows)


def _exact(result: Result) -> list[str]:
    low, high = result.interval or (None, None)
    return [*exact_cells(result.value, low, high), str(result.n), result.reason]


def _ranking_rows(name: str, ranking: Ranking) -> list[list[str]]:
    found = []
    for row in ranking.systems:
        low, high = row.interval or (None, None)
        score = exact_cells(row.score, low, high)
        found.append([row.system, f"score {name}".strip(), "", *score, str(row.n), ""])
        found.append(
            [row.system, f"cluster {name}".strip(), "", str(row.cluster or ""), "", "", str(row.n), ""]
        )
    return found


def analysis_data(found: Analysis) -> dict[str, Any]:
    """The same as one JSON object."""
    return {
        "campaign": found.name,
        "protocol": found.protocol,
        "rankings": {name: _ranking_data(ranking) for name, ranking in found.rankings.items()},
        "sections": {section.name: _section_data(section) for section in found.sections},
        "notes": list(found.notes),
    }


def _ranking_data(ranking: Ranking) -> dict[str, Any]:
    systems = [
        {
            "system": r.system,
            "score": r.score,
            "interval": listed(r.interval),
            "ranks": None if r.best is None else [r.best, r.worst],
            "cluster": r.cluster,
            "n": r.n,
        }
        for r in ranking.systems
    ]
    notes = list(ranking.notes)
    return {"signature": str(ranking.signature), "method": ranking.method, "systems": systems, "notes": notes}


def _section_data(section: Section) -> dict[str, Any]:
    numbers = [
        {
            "of": row.of,
            "measure": row.measure,
            "definition": row.definition or None,
            "value": row.result.value,
            "interval": listed(row.result.interval),
            "n": row.result.n,
            "p": row.result.p,
            "reason": row.result.reason or None,
        }
        for row in section.numbers
    ]
    return {"title": section.title, "numbers": numbers, "notes": list(section.notes)}
