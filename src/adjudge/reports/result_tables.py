"""Biases as a table: one row a bias, so that every number stands beside its interval and its n."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any, Final, TypeVar
from xml.etree import ElementTree as ET

from adjudge.analysis.agreement import Agreement
from adjudge.analysis.bias import Bias, Biases
from adjudge.analysis.compare import Comparison, Side, Stratum
from adjudge.analysis.estimate import SystemEstimate
from adjudge.analysis.gate import Gate, GateRow, Verdict, signed, verdict_words
from adjudge.analysis.power import MOST_UNITS, Plan, Separation
from adjudge.analysis.rank import RankedSystem, Ranking
from adjudge.analysis.segment_scores import DocumentScore, document_scores
from adjudge.analysis.thresholds import Band, Cut, Thresholds
from adjudge.core.mqm import PassMark
from adjudge.core.scores import Card, Interval, Scores, SystemScore, listed
from adjudge.core.wording import count, form, of_all
from adjudge.reports.tables import (
    CHECKLIST,
    CHECKLIST_NOTE,
    NOTHING,
    Table,
    checklist_cells,
    digits_for,
    exact_cells,
    interval,
    name_invisible,
    number,
    p_value,
    rank_range,
    render_table,
    share,
    whole,
)
from adjudge.reports.words import card_words
from adjudge.stats.agreement_coefficients import FEWEST, AlternativeTest
from adjudge.stats.few_labels import Estimate
from adjudge.stats.judged import Result

__all__ = [
    "agreement_data",
    "agreement_table",
    "bias_data",
    "bias_table",
    "comparison_table",
    "document_table",
    "estimate_table",
    "gate_table",
    "guarantees",
    "p_value_table",
    "plan_table",
    "ranking_table",
    "render_junit",
    "render_summary",
    "segment_table",
    "separation_cautions",
    "separation_table",
    "system_table",
    "threshold_table",
]


# Scores and rankings as tables: fixed digits and notes for people, full precision for programs.


T = TypeVar("T", bound=SystemScore | RankedSystem)
_ALL: Final = "all"  # stands for the language pair in rows over all of them
_STRENGTH_DIGITS: Final = 2


def system_table(scores: Scores, *, exact: bool) -> Table:
    """One row a system, best first.

    Args:
        scores: with or without intervals; several language pairs stand one below the other, then all of
            them together.
        exact: full precision, and an empty cell where there is no number, for programs.
    """
    groups = _groups({lp: part.systems for lp, part in scores.lps.items()}, scores.systems)
    ordered = {lp: sorted(rows, key=_best_first) for lp, rows in groups.items()}

    def cells(row: SystemScore, digits: int) -> list[str]:
        return [
            row.system,
            *_score_cells(row, digits, exact=exact),
            *amounts(row),
            *(card_cells(row.card, exact=exact) if passing else ()),
            *(checklist_cells(row.checklist, exact=exact) if has_lists else ()),
        ]

    counts, amounts = _counts(groups, exact=exact)
    passing = None if scores.weights is None else scores.weights.passing
    has_lists = any(s.checklist for rows in groups.values() for s in rows)
    columns = ["system", *_score_columns(exact=exact), *counts]
    columns += card_columns(passing, exact=exact) if passing else CHECKLIST if has_lists else ()
    rows, rules = _rows(ordered, cells)
    notes = [*_notes(scores), *scores.interval_notes, *([] if passing is None else [card_words(passing)])]
    notes += [CHECKLIST_NOTE] if has_lists else []
    return Table(columns=_with_lp(columns, groups), rows=rows, rules=rules, notes=notes)


def card_columns(passing: PassMark, *, exact: bool) -> list[str]:
    """Columns of a scorecard; `card_cells` fills them."""
    rate = ">rate" if exact else f">per {passing.words:,g} words"
    return [">words", ">points", rate, ">quality", ">critical", ">unjudged", "scorecard"]


def card_cells(card: Card | None, *, exact: bool) -> list[str]:
    """A scorecard as the cells of a row; empty where there is none."""
    if card is None:
        return [""] * 7
    return [
        whole(card.words, exact=exact),
        _number(card.points, 1, exact=exact),
        _number(card.rate, 2, exact=exact),
        _number(card.quality, 2, exact=exact),
        whole(card.critical, exact=exact),
        whole(card.unjudged, exact=exact),
        card.verdict,
    ]


def ranking_table(ranking: Ranking, *, exact: bool, title: str = "") -> Table:
    """One row a system, best first, with the ranks that its tests allow and a line below each cluster.

    Args:
        ranking: several language pairs stand one below the other, then all of them together.
        exact: full precision, and an empty cell where there is no number, for programs.
        title: such as the run's name.
    """
    groups = _groups({lp: part.systems for lp, part in ranking.lps.items()}, ranking.systems)

    every = [row for group in groups.values() for row in group]
    has_strengths = any(row.strength is not None for row in every)

    def cells(row: RankedSystem, digits: int) -> list[str]:
        strength = [_number(row.strength, _STRENGTH_DIGITS, exact=exact)] if has_strengths else []
        cluster = ("" if exact else NOTHING) if row.cluster is None else str(row.cluster)
        ranks = exact_cells(row.best, row.worst) if exact else [rank_range(row.best, row.worst)]
        score = _score_cells(row, digits, exact=exact)
        return [
            row.system,
            *score,
            *strength,
            *ranks,
            cluster,
            *amounts(row),
        ]

    counts, amounts = _counts(groups, exact=exact)
    ranks = [">best_rank", ">worst_rank"] if exact else [">rank"]
    strengths = [">log strength"] if has_strengths else []
    columns = ["system", *_score_columns(exact=exact), *strengths, *ranks, ">cluster", *counts]
    rows, rules = _rows(groups, cells)
    clusters = [row.cluster for row in every]
    ends = {i for i, (this, following) in enumerate(pairwise(clusters)) if this != following}
    return Table(
        columns=_with_lp(columns, groups),
        rows=rows,
        rules=rules | ends,
        title=title,
        notes=[str(ranking.signature), f"Method: {ranking.method}.", *ranking.notes],
    )


def p_value_table(ranking: Ranking, *, exact: bool) -> Table:
    """One row a system, best first: the two-sided p-value of its difference to each system below.

    Args:
        ranking: several language pairs stand one below the other, then all of them together.
        exact: full precision, one row a pair, for programs.
    """
    parts = {**ranking.lps, _ALL: ranking} if ranking.lps else {"": ranking}
    parts = {lp: part for lp, part in parts.items() if part.p_values}
    names = {lp: [row.system for row in part.systems if row.best is not None] for lp, part in parts.items()}
    if exact:
        rows = [
            [*([lp] if lp else []), names[lp][i], names[lp][j], repr(part.p_values[i][j])]
            for lp, part in parts.items()
            for i, j in combinations(range(len(names[lp])), 2)
        ]
        return Table(columns=_with_lp(["better", "worse", ">p"], parts), rows=rows)
    most = max(map(len, names.values()), default=0)
    cells = [
        [*([lp] if lp else []), f"{i + 1} {name}", *(_p_value(p) for p in part.p_values[i][:most])]
        for lp, part in parts.items()
        for i, name in enumerate(names[lp])
    ]
    notes = (
        "p: two-sided, of the difference of two systems; not corrected for the number of pairs.",
        "Columns are numbered as rows are.",
    )
    columns = _with_lp(["system", *(f">{j + 1}" for j in range(most))], parts)
    width = len(columns)
    cells = [[*row, *[NOTHING] * (width - len(row))] for row in cells]
    ends = [len(own) for own in names.values()]
    rules = frozenset(sum(ends[: k + 1]) - 1 for k in range(len(ends) - 1))
    return Table(columns=columns, rows=cells, rules=rules, notes=list(notes))


def _p_value(p: float | None) -> str:
    return NOTHING if p is None else p_value(p)


def document_table(scores: Scores, *, exact: bool) -> Table:
    """One row a document and system, in test-set order."""
    documents = document_scores(scores.segments)
    holes = _hole_columns(documents, exact=exact)
    digits = digits_for([d.score for d in documents], ())
    rows = [
        [
            d.lp,
            d.document,
            d.system,
            _number(d.score, digits, exact=exact),
            whole(d.n, exact=exact),
            whole(d.failed, exact=exact),
            *([whole(d.untranslated, exact=exact)] if holes else ()),
        ]
        for d in documents
    ]
    columns = ["lp", "document", "system", ">score", ">n", ">failed", *holes]
    return _without_one_lp(Table(columns=columns, rows=rows, notes=_notes(scores, "mean")), scores)


def segment_table(scores: Scores, *, exact: bool) -> Table:
    """One row a translation, in test-set order; why there is no score, where there is none."""
    digits = digits_for([s.score for s in scores.segments], ())
    rows = []
    for s in scores.segments:
        why = "" if exact or s.score is not None else "not translated" if s.is_untranslated else "failed"
        rows.append([s.lp, s.segment, s.system, why or _number(s.score, digits, exact=exact)])
    columns = ["lp", "segment", "system", ">score"]
    return _without_one_lp(Table(columns=columns, rows=rows, notes=_notes(scores, "segment")), scores)


def _hole_columns(rows: Iterable[SystemScore | RankedSystem | DocumentScore], *, exact: bool) -> list[str]:
    """The column of segments without a translation, where some row has one."""
    is_needed = any(row.untranslated for row in rows)
    return [">untranslated" if exact else ">not translated"] if is_needed else []


def _counts(groups: Mapping[str, Sequence[T]], *, exact: bool) -> tuple[list[str], Callable[[T], list[str]]]:
    """Columns of what a score is over, where some row has any, and what fills them."""
    every = [row for rows in groups.values() for row in rows]
    readings = list(dict.fromkeys(flag for row in every for flag in row.readings))
    holes = _hole_columns(every, exact=exact)

    def amounts(row: T) -> list[str]:
        found = [row.n, row.failed, *([row.untranslated] if holes else ())]
        return [whole(n, exact=exact) for n in (*found, *(row.readings.get(flag, 0) for flag in readings))]

    return [">n", ">failed", *holes, *(f">{flag}" for flag in readings)], amounts


def _groups(lps: Mapping[str, Sequence[T]], whole: Sequence[T]) -> dict[str, Sequence[T]]:
    """Rows by language pair, then those over all; one language pair has no name here."""
    return {**lps, _ALL: whole} if lps else {"": whole}


def _with_lp(columns: list[str], groups: Mapping[str, object]) -> list[str]:
    return columns if "" in groups else ["lp", *columns]


def _rows(
    groups: Mapping[str, Sequence[T]], cells: Callable[[T, int], list[str]]
) -> tuple[list[list[str]], frozenset[int]]:
    """Cells of all rows, with the same digits in all of them, and the rows that end a language pair."""
    every = [row for group in groups.values() for row in group]
    digits = digits_for([row.score for row in every], [row.interval for row in every])
    rows: list[list[str]] = []
    ends = set()
    for lp, group in groups.items():
        rows += [[lp, *cells(row, digits)] if lp else cells(row, digits) for row in group]
        ends.add(len(rows) - 1)
    return rows, frozenset(ends - {-1, len(rows) - 1})


def _best_first(row: SystemScore) -> tuple[bool, float]:
    return (row.score is None, -(row.score or 0.0))


def _score_columns(*, exact: bool) -> list[str]:
    return [">score", ">low", ">high"] if exact else [">score", ">95 % interval"]


def _score_cells(row: SystemScore | RankedSystem, digits: int, *, exact: bool) -> list[str]:
    if not exact:
        return [number(row.score, digits), interval(row.interval, digits)]
    return exact_cells(row.score, *(row.interval or (None, None)))


def _number(value: float | None, digits: int, *, exact: bool) -> str:
    return exact_cells(value)[0] if exact else number(value, digits)


def _notes(scores: Scores, level: str = "corpus") -> list[str]:
    """Signature, range and notes; `level` is that of the table, where a metric has a score of the corpus."""
    low, high = (number(bound, 0) for bound in scores.range)
    has_corpus = "level" in scores.signature.fields
    signature = scores.signature.with_fields(level=level) if has_corpus else scores.signature
    return [str(signature), f"Scores lie in {low} to {high}; {scores.direction}.", *scores.notes]


def _without_one_lp(table: Table, scores: Scores) -> Table:
    """Leave out the column of the language pair where there is one only."""
    if scores.lps:
        return table
    return replace(table, columns=table.columns[1:], rows=[row[1:] for row in table.rows])


# Comparisons of two systems as tables.


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
    counts = "; ".join(side.counted for side in sides)
    found = comparison.whole
    units = "segments" if found.difference.units == found.n else "documents"
    explained = (
        "d_z: mean difference over the standard deviation of differences. Better in: "
        f"share of {units} where the first is better, ties counting half. Delta: Cliff's, from \u22121 to 1."
    )
    return [*lines, f"{counts}.", explained]


# The answer of a gate: a table for people, Markdown for a pull request, JUnit for what runs the tests.


_GATE_EXACT = (
    "candidate",
    "baseline",
    "difference",
    "low",
    "high",
    "margin",
    "p_as_good",
    "p_worse",
    "n",
)


def gate_table(gate: Gate, *, exact: bool) -> Table:
    """One row for all segments, then one for each language pair and each domain.

    Args:
        gate: what was found.
        exact: full precision and no notes, for programs.
    """
    if exact:
        columns = ["kind", "name", *(f">{c}" for c in _GATE_EXACT), "verdict", ">more"]
        return Table(columns=columns, rows=[_gate_exact(row) for row in gate.rows])
    between = f">{100 * (1 - 2 * gate.settings.alpha):g} % interval"
    columns = ["segments", *_names(gate), ">difference", between, ">margin"]
    columns += [">p as good", ">p worse", ">n", "by the test", ">more"]
    bounds = [Interval(row.found.low, row.found.high) for row in gate.rows]
    digits = digits_for([row.found.candidate for row in gate.rows], bounds)
    return Table(
        columns=columns,
        rows=[_gate_row(row, digits) for row in gate.rows],
        rules=frozenset({0}) if len(gate.rows) > 1 else frozenset(),
        title=_gate_heading(gate),
        notes=[*gate.reasons, *_gate_notes(gate)],
    )


def _gate_heading(gate: Gate) -> str:
    return f"{verdict_words(gate.verdict).capitalize()}: {gate.candidate.name} for {gate.baseline.name}"


def _names(gate: Gate) -> list[str]:
    return [f">{gate.candidate.name}", f">{gate.baseline.name}"]


def _gate_row(row: GateRow, digits: int) -> list[str]:
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


def _gate_exact(row: GateRow) -> list[str]:
    found = row.found
    numbers = (found.candidate, found.baseline, found.difference, found.low, found.high, row.margin)
    return [
        *(row.kind, row.name, *map(repr, numbers), repr(found.p_as_good), repr(found.p_worse), str(row.n)),
        *(row.verdict, "" if row.more is None else str(row.more)),
    ]


def _gate_notes(gate: Gate) -> Iterator[str]:
    """What must be known besides the verdict and its reasons."""
    sides = (gate.candidate, gate.baseline)
    yield from dict.fromkeys(str(side.signature) for side in sides)
    counts = "; ".join(side.counted for side in sides)
    lack = f"{of_all(gate.missing, gate.asked, 'segment')} {form(gate.missing, 'lacks', 'lack')}"
    yield f"{counts}; {lack} a score on one side."
    if gate.critical is not None:
        found = gate.critical
        yield (
            f"Critical errors: in {count(found.candidate, 'segment')} of the candidate, {found.baseline} of "
            f"the baseline, {found.allowed} allowed; {len(found.new)} new, {found.gone} gone; p "
            f"{p_value(found.p)} by McNemar's exact test, a veto from {found.alpha:g} on."
        )
    if gate.rows:
        yield (
            f"Two one-sided tests: {gate.method}. "
            "As good: lower by less than the margin, if at all; worse: lower by more. "
            f"More: further segments that would tell, with the chance {gate.settings.power:g}."
        )
    yield "This verdict is only as reliable as the judge. Check the judge with `adjudge meta`."
    yield from gate.notes


def render_summary(gate: Gate) -> str:
    """Markdown for a pull request or the summary of a build: the verdict first."""
    heading = f"## {_gate_heading(gate)}"
    reasons = "\n".join(f"- {name_invisible(reason)}" for reason in gate.reasons)
    table = replace(gate_table(gate, exact=False), title="", notes=list(_gate_notes(gate)))
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
    for system, card in gate.cards.items():
        told = (
            f"{card.points:g} points in {count(card.words, 'word')}, {card.unjudged} segments without a score"
        )
        verdict: Verdict = "do-not-ship" if card.verdict == "fail" else "not-enough-data"
        _case(suite, f"scorecard {system}", None if card.verdict == "pass" else (verdict, told))
    if gate.candidate.untranslated or gate.baseline.untranslated:
        _case(suite, "not translated", ("do-not-ship", gate.left_out) if gate.left_out else None)
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


# What judgements can show, as tables.


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
        return Table(columns=columns, rows=[_power_exact(row) for row in found])
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


def _power_exact(row: Separation) -> list[str]:
    values = (row.n, row.difference, row.p, row.plan.sd, row.detectable, row.power, row.needed, row.more)
    return [row.first, row.second, *exact_cells(*values)]


# Cut-offs with their promise, and estimates from few labels, as tables.


_EXACT_CUTS = ("bound", "n", "wrong", "low", "high")
_MOST_DIGITS = 15
_EXACT_ESTIMATE = ("value", "low", "high", "plain", "plain_low", "plain_high", "weight", "gain")


def threshold_table(found: Thresholds, *, exact: bool) -> Table:
    """One row for all translations, then one for each language pair and each domain.

    Args:
        found: the cut-offs.
        exact: full precision and no notes, for programs.
    """
    if exact:
        cuts = [f">{side}_{name}" for side in ("publish", "reject") for name in _EXACT_CUTS]
        shares = [">published", ">post_edited", ">rejected"]
        columns = ["kind", "name", ">n", ">sources", ">bad", *cuts, *shares]
        return Table(columns=columns, rows=[_exact_band(band) for band in found.bands])
    digits = _digits_apart(found.bands)
    columns = [
        *("translations", ">labelled", ">bad", ">publish from", ">bad of them", ">95 % interval"),
        *(">reject to", ">good of them", ">95 % interval", ">published", ">post-edited", ">rejected"),
    ]
    return Table(
        columns=columns,
        rows=[_band(band, digits) for band in found.bands],
        rules=frozenset({0}) if len(found.bands) > 1 else frozenset(),
        notes=[*guarantees(found), found.signature, *found.notes],
    )


def _digits_apart(bands: Sequence[Band]) -> int:
    """Digits after the point, with which the two cut-offs of a band look the same only if they are."""
    both = [(band.publish.bound, band.reject.bound) for band in bands]
    digits = digits_for((bound for pair in both for bound in pair), [])
    apart = [(a, b) for a, b in both if a != b]
    while digits < _MOST_DIGITS and any(number(a, digits) == number(b, digits) for a, b in apart):
        digits += 1
    return digits


def guarantees(found: Thresholds) -> Iterator[str]:
    """What the cut-offs promise, in words."""
    s = found.settings
    yield f"Bad: {found.bad}."
    publish, reject, sure = (_percent(share) for share in (s.publish_risk, s.reject_risk, 1 - s.delta))
    if s.guarantee == "tested":
        each = "all of it" if s.together else "each"
        yield (
            f"With a chance of {sure} {each}: at most {publish} of what is published is bad, and at most "
            f"{reject} of what is rejected is good."
        )
    else:
        yield (
            f"On average: at most {publish} of all translations are published and bad, and at most {reject} "
            "are rejected and good."
        )
    yield "This holds for translations like the labelled ones, judged by the same judge in the same settings."


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _band(band: Band, digits: int) -> list[str]:
    shares = [f"{100 * share:.0f} %" for share in band.shares.values()]
    return [
        *(band.name, whole(band.n), whole(band.bad)),
        *_cut(band.publish, digits),
        *_cut(band.reject, digits),
        *shares,
    ]


def _cut(cut: Cut, digits: int) -> list[str]:
    if cut.interval is None:
        return [number(cut.bound, digits), NOTHING, NOTHING]
    span = f"{100 * cut.interval.low:.1f} to {100 * cut.interval.high:.1f} %"
    return [number(cut.bound, digits), f"{cut.wrong} of {cut.n}", span]


def _exact_band(band: Band) -> list[str]:
    cuts: list[str] = []
    for cut in (band.publish, band.reject):
        low, high = cut.interval or (None, None)
        cuts += exact_cells(cut.bound, cut.n, cut.wrong, low, high)
    counts = (str(band.n), str(band.sources), str(band.bad))
    return [band.kind, band.name, *counts, *cuts, *map(repr, band.shares.values())]


def estimate_table(rows: Sequence[SystemEstimate], notes: Sequence[str], *, exact: bool) -> Table:
    """One row a system, best first: its mean from labels and scores, from labels alone, and its lead.

    Args:
        rows: the estimates.
        notes: what a reader must know.
        exact: full precision and no notes, for programs.
    """
    if exact:
        leads = [f">ahead_{name}" for name in _EXACT_ESTIMATE]
        columns = ["system", ">labelled", ">scored", *(f">{name}" for name in _EXACT_ESTIMATE), *leads]
        columns += [">best_rank", ">worst_rank"]
        return Table(columns=columns, rows=[_exact_system(row) for row in rows])
    means = [row.mean.value for row in rows]
    digits = digits_for(means, [row.mean.interval for row in rows])
    columns = [
        *("system", ">rank", ">mean", ">95 % interval", ">labels alone", ">95 % interval", ">worth labels"),
        *(">labelled", ">scored", ">ahead of the next by", ">95 % interval"),
    ]
    explained = (
        "Worth labels: so many labels alone would have given as narrow an interval. Rank: those that the "
        "intervals of the differences of two systems allow."
    )
    return Table(columns=columns, rows=[_system(row, digits) for row in rows], notes=[explained, *notes])


def _system(row: SystemEstimate, digits: int) -> list[str]:
    mean, ahead = row.mean, row.ahead
    return [
        row.system,
        rank_range(row.best, row.worst),
        number(mean.value, digits),
        interval(mean.interval, digits),
        number(mean.plain, digits),
        interval(mean.plain_interval, digits),
        whole(round(mean.gain * mean.labelled)),
        whole(mean.labelled),
        whole(mean.scored),
        NOTHING if ahead is None else number(ahead.value, digits),
        NOTHING if ahead is None else interval(ahead.interval, digits),
    ]


def _exact_system(row: SystemEstimate) -> list[str]:
    counts = [str(row.mean.labelled), str(row.mean.scored)]
    ahead = [""] * len(_EXACT_ESTIMATE) if row.ahead is None else _decisions_exact(row.ahead)
    return [row.system, *counts, *_decisions_exact(row.mean), *ahead, str(row.best), str(row.worst)]


def _decisions_exact(found: Estimate) -> list[str]:
    spans = (*(found.interval or (None, None)), found.plain, *(found.plain_interval or (None, None)))
    return exact_cells(found.value, *spans, found.weight, found.gain)


# Agreement as a table: one row a number, then the alternative-annotator test in words.


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


_BIAS_COLUMNS: Final = ("annotator", "criterion", "bias", "number")


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
        columns=[*_BIAS_COLUMNS, ">value", *ends, ">p", ">n", ">failed"],
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
                **({} if bias.repeat is None else {"repeat": _bias_number(bias.repeat)}),
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
    return named | {name: _bias_number(getattr(part, name)) for name in names}


def _bias_number(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    found: dict[str, Any] = {"value": result.value, "interval": listed(result.interval), "n": result.n}
    return found | ({} if result.p is None else {"p": result.p})
