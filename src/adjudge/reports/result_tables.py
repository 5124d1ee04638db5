"""Results as tables: scores, rankings, comparisons, gates, power, cut-offs, estimates, agreement, biases.

What the columns are stands beside each result (`columns()`); here are the notes that people read below them,
the p-values of all pairs, the gate as Markdown and JUnit XML, and agreement and biases as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any, Final, Literal
from xml.etree import ElementTree as ET

from adjudge.analysis.agreement import Agreement
from adjudge.analysis.bias import Biases
from adjudge.analysis.compare import Comparison
from adjudge.analysis.estimate import Estimation
from adjudge.analysis.gate import Gate, GateRow, Verdict, signed, verdict_words
from adjudge.analysis.power import Plan, Power
from adjudge.analysis.rank import Ranking
from adjudge.analysis.segment_scores import document_scores
from adjudge.analysis.thresholds import Thresholds
from adjudge.core.columns import Column
from adjudge.core.scores import (
    CHECKLIST,
    Scores,
    SegmentScore,
    by_lp,
    listed,
    spread_columns,
    untranslated_columns,
)
from adjudge.core.wording import count, form, of_all
from adjudge.reports.tables import (
    CHECKLIST_NOTE,
    NOTHING,
    Table,
    digits_for,
    name_invisible,
    number,
    p_value,
    render_table,
    table_of,
)
from adjudge.reports.words import card_words
from adjudge.stats.agreement_coefficients import FEWEST, AlternativeTest
from adjudge.stats.judged import Result

# Scores and rankings


def system_table(scores: Scores, *, exact: bool) -> Table:
    """One row a system, best first."""
    columns = scores.columns()
    passing = None if scores.weights is None else scores.weights.passing
    notes = [*_notes(scores), *scores.interval_notes, *([] if passing is None else [card_words(passing)])]
    notes += [CHECKLIST_NOTE] if CHECKLIST[0] in columns else []
    return table_of(columns, scores.groups(), exact=exact, notes=notes)


def ranking_table(ranking: Ranking, *, exact: bool, title: str = "") -> Table:
    """One row a system, best first, with the ranks that its tests allow and a line below each cluster."""
    clusters = [row.cluster for rows in ranking.groups().values() for row in rows]
    return table_of(
        ranking.columns(),
        ranking.groups(),
        exact=exact,
        rules=_between(clusters),
        title=title,
        notes=[str(ranking.signature), f"Method: {ranking.method}.", *ranking.notes],
    )


def _between(labels: Sequence[object]) -> frozenset[int]:
    return frozenset(i for i, (this, following) in enumerate(pairwise(labels)) if this != following)


def p_value_table(ranking: Ranking, *, exact: bool) -> Table:
    """One row a system, best first: the two-sided p-value of its difference to each system below."""
    parts = {lp: part for lp, part in by_lp(ranking.lps, ranking).items() if part.p_values}
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


_LP: Final = Column("lp", "language pair")
_SCORE: Final = Column("score", "mean over the segments", "score")


def document_table(scores: Scores, *, exact: bool) -> Table:
    """One row a document and system, in test-set order."""
    documents = document_scores(scores.segments)
    columns = [
        *([_LP] if scores.lps else []),
        Column("document", "its name"),
        Column("system", "its name"),
        _SCORE,
        Column("n", "segments that the score is over", "count"),
        Column("failed", "segments without a score", "count"),
        *untranslated_columns(documents),
    ]
    return table_of(columns, {"": documents}, exact=exact, notes=_notes(scores, "mean"))


def segment_table(scores: Scores, *, exact: bool) -> Table:
    """One row a translation, in test-set order; why there is no score, where there is none."""
    digits = digits_for([s.score for s in scores.segments], ())

    def told(segment: SegmentScore) -> str:
        why = "not translated" if segment.is_untranslated else "failed"
        return why if segment.score is None else number(segment.score, digits)

    columns = [
        *([_LP] if scores.lps else []),
        Column("segment", "its id"),
        Column("system", "its name"),
        _SCORE if exact else Column("score", "of the translation", "score", of=told, words=str),
        *spread_columns(scores.segments),
    ]
    return table_of(columns, {"": scores.segments}, exact=exact, digits=0, notes=_notes(scores, "segment"))


def _with_lp(columns: list[str], groups: Mapping[str, object]) -> list[str]:
    return columns if "" in groups else ["lp", *columns]


def _notes(scores: Scores, level: Literal["corpus", "mean", "segment"] = "corpus") -> list[str]:
    low, high = (number(bound, 0) for bound in scores.range)
    scale = f"Scores lie in {low} to {high}; {scores.direction}."
    return [str(scores.signature_of(level)), scale, *scores.notes]


def comparison_table(comparison: Comparison, *, exact: bool) -> Table:
    """One row for all segments, then one for each language pair and each domain."""
    sides = (comparison.first, comparison.second)
    lines = list(dict.fromkeys(str(side.signature) for side in sides))
    counts = "; ".join(side.counted for side in sides)
    found = comparison.whole
    units = "segments" if found.difference.units == found.n else "documents"
    explained = (
        "d_z: mean difference over the standard deviation of differences. Better in: "
        f"share of {units} where the first is better, ties counting half. Delta: Cliff's, from \u22121 to 1."
    )
    return table_of(
        comparison.columns(),
        comparison.groups(),
        exact=exact,
        rules=_below_first(comparison.strata),
        notes=[*[*lines, f"{counts}.", explained], f"Method: {comparison.method}.", *comparison.notes],
    )


def _below_first(others: Sequence[object]) -> frozenset[int]:
    return frozenset({0} if others else ())


# Gates


def gate_table(gate: Gate, *, exact: bool) -> Table:
    """One row for all segments, then one for each language pair and each domain."""
    return table_of(
        gate.columns(),
        gate.groups(),
        exact=exact,
        rules=_below_first(gate.rows[1:]),
        title=_gate_heading(gate),
        notes=[*gate.reasons, *_gate_notes(gate)],
    )


def _gate_heading(gate: Gate) -> str:
    return f"{verdict_words(gate.verdict).capitalize()}: {gate.candidate.name} for {gate.baseline.name}"


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


# Power


def power_table(found: Power, *, exact: bool) -> Table:
    """One row for each pair of systems, or one for the plan."""
    plans = [pair.plan for pair in found.pairs] if found.plan is None else [found.plan]
    several = len({plan.segments for plan in plans}) > 1
    return table_of(
        found.columns(),
        found.groups(),
        exact=exact,
        digits=digits_for([plan.detectable for plan in plans], ()),
        notes=[
            *([] if found.signature is None else [str(found.signature)]),
            _explained(plans[0], "n" if several else f"{plans[0].segments:,}"),
            *found.notes,
        ],
    )


def _explained(plan: Plan, segments: str) -> str:
    annotators = f" and {plan.annotators} annotators" if plan.annotators > 1 else ""
    chance = f"with a chance of {100 * plan.power:g} %, two-sided at {plan.alpha:g}"
    return f"Detectable: smallest true difference that {segments} segments{annotators} show {chance}."


_MOST_DIGITS = 15


def threshold_table(found: Thresholds, *, exact: bool) -> Table:
    """One row for all translations, then one for each language pair and each domain."""
    both = [(band.publish.bound, band.reject.bound) for band in found.bands]
    digits = digits_for((bound for pair in both for bound in pair), [])
    apart = [(a, b) for a, b in both if a != b]
    while digits < _MOST_DIGITS and any(number(a, digits) == number(b, digits) for a, b in apart):
        digits += 1
    return table_of(
        found.columns(),
        found.groups(),
        exact=exact,
        digits=digits,
        rules=_below_first(found.bands[1:]),
        notes=[*guarantees(found), found.signature, *found.notes],
    )


def guarantees(found: Thresholds) -> Iterator[str]:
    """What the cut-offs promise, in words."""
    s = found.settings
    yield f"Bad: {found.bad}."
    publish, reject, sure = ((f"{100 * share:g} %") for share in (s.publish_risk, s.reject_risk, 1 - s.delta))
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


_WORTH: Final = Column(
    "",
    "labels that would have given as narrow an interval",
    "count",
    of=lambda row: round(row.mean.gain * row.mean.labelled),
    title="worth labels",
)
_FOR_PEOPLE: Final = (
    "system ranks value interval plain plain_interval worth labelled scored ahead_value ahead_interval"
)


def estimate_table(found: Estimation, *, exact: bool) -> Table:
    """One row a system, best first: its mean from labels and scores, from labels alone, and its lead."""
    known = {column.name: column for column in found.columns()} | {"worth": _WORTH}
    explained = (
        "Worth labels: so many labels alone would have given as narrow an interval. Rank: those that the "
        "intervals of the differences of two systems allow."
    )
    columns = found.columns() if exact else [known[name] for name in _FOR_PEOPLE.split()]
    notes = [explained, str(found.signature), str(found.gold), *found.notes]
    return table_of(columns, found.groups(), exact=exact, notes=notes)


# Agreement


_DIGITS: Final = 3


def agreement_table(agreement: Agreement, *, exact: bool) -> Table:
    """One row a number; a line between criteria."""
    criteria = [row.criterion for row in agreement.rows]
    return table_of(
        agreement.columns(),
        agreement.groups(),
        exact=exact,
        digits=_DIGITS,
        rules=_between(criteria),
        notes=[*dict.fromkeys(_reasons(agreement)), *_test_notes(agreement), *agreement.notes],
    )


def _reasons(agreement: Agreement) -> Iterator[str]:
    for row in agreement.rows:
        if row.result.value is None:
            yield f"{row.measure}, {' and '.join(row.between)}: {row.result.reason}."


def _test_notes(agreement: Agreement) -> Iterator[str]:
    for (lp, criterion, judge), test in agreement.tests.items():
        on = f" on {criterion}" if criterion else ""
        on += f" in {lp}" if "" not in agreement.groups() else ""
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
                "lp": row.lp,
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
            {"lp": lp, "criterion": criterion or None, "judge": judge, **_test_data(test)}
            for (lp, criterion, judge), test in agreement.tests.items()
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


def bias_table(biases: Biases, *, exact: bool) -> Table:
    """One row a number; a line below each annotator and criterion."""
    groups = biases.groups()
    return table_of(
        biases.columns(),
        groups,
        exact=exact,
        digits=_DIGITS,
        rules=_between([id(number.of) for rows in groups.values() for number in rows]),
        notes=[str(biases.signature), *biases.notes],
    )


def bias_data(biases: Biases) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "rows": [
            {
                "lp": bias.lp,
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
