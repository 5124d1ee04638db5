"""The answer of a gate: a table for people, Markdown for a pull request, JUnit for what runs the tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

from adjudge.core.score import Interval
from adjudge.core.wording import count, form, of_all
from adjudge.meta.comparing.gate import Gate, GateRow, Verdict, signed, verdict_words
from adjudge.report.invisible import name_invisible
from adjudge.report.numbers import NOTHING, digits_for, interval, number, p_value, whole
from adjudge.report.tables import Table, render_table

__all__ = ["gate_table", "render_junit", "render_summary"]

_EXACT = ("candidate", "baseline", "difference", "low", "high", "margin", "p_as_good", "p_worse", "n")


def gate_table(gate: Gate, *, exact: bool) -> Table:
    """One row for all segments, then one for each language pair and each domain.

    Args:
        gate: what was found.
        exact: full precision and no notes, for programs.
    """
    if exact:
        columns = ["kind", "name", *(f">{c}" for c in _EXACT), "verdict", ">more"]
        return Table(columns=columns, rows=[_exact(row) for row in gate.rows])
    between = f">{100 * (1 - 2 * gate.settings.alpha):g} % interval"
    columns = ["segments", *_names(gate), ">difference", between, ">margin"]
    columns += [">p as good", ">p worse", ">n", "by the test", ">more"]
    bounds = [Interval(row.found.low, row.found.high) for row in gate.rows]
    digits = digits_for([row.found.candidate for row in gate.rows], bounds)
    return Table(
        columns=columns,
        rows=[_row(row, digits) for row in gate.rows],
        rules=frozenset({0}) if len(gate.rows) > 1 else frozenset(),
        title=_heading(gate),
        notes=[*gate.reasons, *_notes(gate)],
    )


def _heading(gate: Gate) -> str:
    return f"{verdict_words(gate.verdict).capitalize()}: {gate.candidate.name} for {gate.baseline.name}"


def _names(gate: Gate) -> list[str]:
    return [f">{gate.candidate.name}", f">{gate.baseline.name}"]


def _row(row: GateRow, digits: int) -> list[str]:
    found = row.found
    numbers = (found.candidate, found.baseline, found.difference)
    return [
        row.name,
        *(number(value, digits) for value in numbers),
        interval(Interval(found.low, found.high), digits),
        f"{row.margin:g}",
        p_value(found.p_as_good),
        p_value(found.p_worse),
        whole(row.n),
        verdict_words(row.verdict),
        NOTHING if row.more is None else whole(row.more),
    ]


def _exact(row: GateRow) -> list[str]:
    found = row.found
    numbers = (found.candidate, found.baseline, found.difference, found.low, found.high, row.margin)
    return [
        *(row.kind, row.name, *map(repr, numbers), repr(found.p_as_good), repr(found.p_worse), str(row.n)),
        *(row.verdict, "" if row.more is None else str(row.more)),
    ]


def _notes(gate: Gate) -> Iterator[str]:
    """What must be known besides the verdict and its reasons."""
    sides = (gate.candidate, gate.baseline)
    yield from dict.fromkeys(str(side.signature) for side in sides)
    counts = "; ".join(f"{side.name}: {side.n:,} judged, {side.failed:,} failed" for side in sides)
    lack = f"{of_all(gate.missing, gate.asked, 'segment')} {form(gate.missing, 'lacks', 'lack')}"
    yield f"{counts}; {lack} a score on one side."
    if gate.critical is not None:
        found = gate.critical
        yield (
            f"Critical errors: in {count(found.candidate, 'segment')} of the candidate, {found.baseline} of "
            f"the baseline, {found.allowed} allowed; {len(found.new)} new, {found.gone} gone; p "
            f"{p_value(found.p)} by McNemar's exact test, a veto from {found.alpha:g} on."
        )
    yield (
        f"Two one-sided tests: {gate.method}. "
        "As good: lower by less than the margin, if at all; worse: lower by more. "
        f"More: further segments that would tell, with the chance {gate.settings.power:g}."
    )
    yield "The scores are an annotator's, and a gate is as good as its annotator: see `adjudge meta`."
    yield from gate.notes


def render_summary(gate: Gate) -> str:
    """Markdown for a pull request or the summary of a build: the verdict first."""
    heading = f"## {_heading(gate)}"
    reasons = "\n".join(f"- {name_invisible(reason)}" for reason in gate.reasons)
    table = replace(gate_table(gate, exact=False), title="", notes=list(_notes(gate)))
    return f"{name_invisible(heading)}\n\n{reasons}\n\n{render_table(table, 'markdown')}"


def render_junit(gate: Gate) -> str:
    """JUnit XML: one case a row, one for critical errors, one for missing judgements.

    Whatever keeps the candidate from being shipped is a failure, and its type is the verdict; a case that is
    undecided only is no `skipped`, which a build would take for passed.
    """
    suite = ET.Element("testsuite", name=f"adjudge gate: {gate.candidate.name} for {gate.baseline.name}")
    for row in gate.rows:
        problem = None if row.verdict == "ship" else (row.verdict, _told(row))
        _case(suite, f"{row.kind} {row.name}" if row.kind != "all" else "all segments", problem)
    if gate.critical is not None:
        found = gate.critical
        told = (
            f"{count(found.candidate, 'segment')}, {found.allowed} allowed, p {found.p:.2g}; "
            f"new: {', '.join(found.new)}"
        )
        _case(suite, "critical errors", ("do-not-ship", told) if found.is_vetoed else None)
    too_many = gate.missing > gate.settings.max_failed * gate.asked
    missing = of_all(gate.missing, gate.asked, "segment")
    _case(suite, "judgements missing", ("not-enough-data", missing) if too_many else None)
    failures = sum(case.find("failure") is not None for case in suite)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _told(row: GateRow) -> str:
    found = row.found
    numbers = f"{signed(found.difference)}, {signed(found.low)} to {signed(found.high)}"
    told = f"difference {numbers}, margin {row.margin:g}"
    return told if row.more is None else f"{told}; {row.more} more segments would tell"


def _case(suite: ET.Element, name: str, problem: tuple[Verdict, str] | None) -> None:
    case = ET.SubElement(suite, "testcase", classname="adjudge.gate", name=name_invisible(name))
    if problem is not None:
        kind, told = verdict_words(problem[0]), problem[1]
        ET.SubElement(case, "failure", type=kind, message=name_invisible(f"{kind}: {told}"))
