"""Agreement between annotators, people and judges alike, over the translations that two of them judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.core.wording import count
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.agreement.kappa import cohen_kappa
from adjudge.meta.agreement.matrix import PairAgreement
from adjudge.meta.measures.result import Result
from adjudge.meta.ranking.comparisons import Comparisons, tabulate
from adjudge.report.draws import draws_for
from adjudge.report.findings import in_words
from adjudge.report.numbers import interval, number, whole
from adjudge.report.parts.beside import MOST_ROWS, Beside
from adjudge.report.parts.figures import Square, matrix_figure
from adjudge.report.parts.part import Part
from adjudge.report.tables import Table

__all__ = ["agreement_part"]

_DIGITS: Final = 2
_TITLE: Final = "Agreement between annotators"


def agreement_part(found: Beside) -> Part | None:
    """Pearson's r and Kendall's tau-c of scores, Cohen's kappa of preferences; None where none are shared."""
    draws = draws_for(found.size)
    names = list(dict.fromkeys(name for pair in found.agreement for name in pair.between))
    pairs = [p for p in found.agreement if p.pearson.n]
    kappas = _kappas(found, draws)
    if not pairs and not kappas:
        return None
    truth = None if found.truth is None or found.truth.label not in names else found.truth.label
    title = _score_finding(pairs, truth) if pairs else _kappa_finding(kappas)
    name = f"agreement.{found.lp}"
    figures = (
        [matrix_figure(name, title, names, _squares(pairs), _what(pairs))] if len(names) > 2 and pairs else []
    )
    tables = ([_score_table(pairs, draws)] if pairs else []) + ([_kappa_table(kappas)] if kappas else [])
    return Part(
        name="agreement",
        title=_TITLE,
        finding=title,
        figures=tuple(figures),
        tables=tuple(tables),
        notes=_notes(found),
    )


def _what(pairs: Sequence[PairAgreement]) -> str:
    low, high = min(p.pearson.n for p in pairs), max(p.pearson.n for p in pairs)
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"Pearson's r over the translations that both judged; n = {n}"


def _squares(pairs: Sequence[PairAgreement]) -> list[Square]:
    return [Square(between=p.between, value=p.pearson.value) for p in pairs]


def _score_finding(pairs: Sequence[PairAgreement], truth: str | None) -> str:
    """Who agrees most with gold; where there is none, which two agree most."""
    with_truth = [p for p in pairs if truth in p.between and p.pearson.value is not None]
    known = with_truth or [p for p in pairs if p.pearson.value is not None]
    if not known:
        return "No two annotators judged enough of the same translations to say how far they agree"
    ordered = sorted(known, key=lambda p: -(p.pearson.value or 0.0))
    first, last = ordered[0], ordered[-1]
    if not with_truth:
        who = f"{in_words(first.between)} agree {'most' if len(known) > 1 else ''}".rstrip()
        return f"{who}, at r {_value(first)}" + (
            f"; {in_words(last.between)} least, at {_value(last)}" if len(known) > 1 else ""
        )
    if len(known) == 1:
        return f"{_other(first, truth)} agrees with {truth} at r {_value(first)}"
    tied = [p for p in ordered if _reaches(p, first)]
    lead = in_words([_other(p, truth) for p in tied])
    verb = "agrees" if len(tied) == 1 else "agree"
    rest = "" if last in tied else f"; {_other(last, truth)} least, at {_value(last)}"
    return f"{lead} {verb} most with {truth}, at r {_values(tied)}{rest}"


def _reaches(pair: PairAgreement, first: PairAgreement) -> bool:
    """Whether an interval reaches that of the first, so that the two are not told apart."""
    own, best = pair.pearson.interval, first.pearson.interval
    return pair is first or (own is not None and best is not None and own.high >= best.low)


def _values(pairs: Sequence[PairAgreement]) -> str:
    low, high = _value(pairs[-1]), _value(pairs[0])
    return high if low == high else f"{low} to {high}"


def _value(pair: PairAgreement) -> str:
    return number(pair.pearson.value, _DIGITS)


def _other(pair: PairAgreement, truth: str | None) -> str:
    return pair.between[1] if pair.between[0] == truth else pair.between[0]


def _score_table(pairs: Sequence[PairAgreement], draws: int) -> Table:
    ordered = sorted(pairs, key=lambda p: -(-2.0 if p.pearson.value is None else p.pearson.value))
    return Table(
        columns=["Annotators", ">Pearson’s r", ">95 % interval", ">Kendall’s τ-c", ">n"],
        rows=[
            [
                " and ".join(p.between),
                _value(p),
                interval(p.pearson.interval, _DIGITS),
                number(p.kendall, _DIGITS),
                whole(p.pearson.n),
            ]
            for p in ordered
        ],
        title="How alike two annotators score",
        notes=[f"n: translations that both judged. Intervals: bootstrap over segments, {draws:,} resamples."],
    )


# Preferences...

_Kappas = Mapping[tuple[str, tuple[str, str]], tuple[Result, float]]


def _kappas(found: Beside, draws: int) -> _Kappas:
    """Criterion and two annotators to Cohen's kappa and the share of equal verdicts."""
    records = found.preferences()
    criteria = dict.fromkeys(r.criterion for r in records if r.criterion)
    kappas: dict[tuple[str, tuple[str, str]], tuple[Result, float]] = {}
    for criterion in criteria:
        compared = tabulate(records, criterion)
        for two in combinations(compared.annotators[:MOST_ROWS], 2):
            result = _kappa(compared, two, draws)
            if result is not None:
                kappas[criterion, two] = result
    return kappas


def _kappa(compared: Comparisons, two: tuple[str, str], draws: int) -> tuple[Result, float] | None:
    a, b = (compared.column(name) for name in two)
    both = ~np.isnan(a) & ~np.isnan(b)
    if not both.any():
        return None
    settings = Draws(groups=compared.segments, resamples=draws)
    return cohen_kappa(a, b, settings), float((a == b)[both].mean())


def _kappa_finding(kappas: _Kappas) -> str:
    known = {key: r.value for key, (r, _) in kappas.items() if r.value is not None}
    if not known:
        return "No two annotators gave different verdicts often enough to say how far they agree"
    criterion, two = max(known, key=lambda key: known[key] or 0.0)
    return f"On {criterion}, {in_words(two)} agree at kappa {number(known[criterion, two], _DIGITS)}"


def _kappa_table(kappas: _Kappas) -> Table:
    return Table(
        columns=["Criterion", "Annotators", ">Cohen’s κ", ">95 % interval", ">same verdict", ">n"],
        rows=[
            [
                criterion,
                " and ".join(two),
                number(result.value, _DIGITS),
                interval(result.interval, _DIGITS),
                f"{100 * same:.0f} %",
                whole(result.n),
            ]
            for (criterion, two), (result, same) in kappas.items()
        ],
        title="How alike two annotators prefer",
        notes=["n: pairs of translations that both compared; a tie is a verdict like the others."],
    )


def _notes(found: Beside) -> tuple[str, ...]:
    failed = sum(row.failed for a in found.annotators for row in a.results[found.lp].ranking.systems)
    return (
        (f"{count(failed, 'judgement')} failed and {'is' if failed == 1 else 'are'} in none of this.",)
        if failed
        else ()
    )
