"""The parts of a page that its annotators share, for one language pair.

`beside` puts the scores of all annotators side by side, in arrays of systems by segments. From these come
agreement, calibration against gold, quality against cost, systems by criterion, and means by domain, length
and document; error profiles come from counts. Each `*_part` gives None where it would have nothing to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.eval_set import length_names, source_lengths
from adjudge.analysis.preferences import tabulate
from adjudge.analysis.rank import RankSettings, rank_by_criterion
from adjudge.analysis.score import draws_documents
from adjudge.analysis.segment_scores import score_records
from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, Failure, Record
from adjudge.core.scores import Interval, RunInfo, Scores
from adjudge.core.segment import Segment
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import Judgements
from adjudge.reports.annotators import Annotator
from adjudge.reports.figures import radar_figure, range_words
from adjudge.reports.part_figures import (
    Bin,
    Dot,
    Part,
    Point,
    bars_figure,
    binned_means,
    clustered_mean,
    cost_figure,
    curve_figure,
    dots_figure,
    file_stem,
    matrix_figure,
)
from adjudge.reports.segments import Errors
from adjudge.reports.tables import NOTHING, Table, digits_for, draws_for, interval, number, whole
from adjudge.reports.words import in_words
from adjudge.stats.agreement_coefficients import PairAgreement, agreement_matrix, cohen_kappa
from adjudge.stats.bootstrap import Draws
from adjudge.stats.judged import Floats, Result

_MOST_PEOPLE: Final = 8
_FEWEST_SHARED: Final = 2
MOST_ROWS: Final = 16  # of a matrix in which numbers can be read


@dataclass(frozen=True, kw_only=True, eq=False)  # two of them are one only where they are the same
class Voice:
    """Scores of one annotator, or of one person of several."""

    label: str  # what the page calls it
    scores: Floats  # systems by segments, NaN where not judged or failed
    annotator: Annotator
    range: tuple[float, float]  # lowest and highest possible score


@frozen
class Beside:
    """All annotators of one language pair."""

    lp: str  # language pair
    segments: tuple[Segment, ...]
    systems: tuple[str, ...]
    voices: tuple[Voice, ...]  # one for each annotator with scores of translations, in page order
    # people of annotators that are several, where they judged the same translations
    people: tuple[Voice, ...]
    annotators: tuple[Annotator, ...]  # all of the language pair, those that compare translations among them

    @cached_property
    def units(self) -> NDArray[np.int64] | None:
        """Number of each segment's document, from 0; None where fewer than two documents are known.

        A segment without a document is one of its own.
        """
        if not draws_documents((self.lp, s.document) for s in self.segments):
            return None
        names = [(s.document, "" if s.document else s.segment) for s in self.segments]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([numbers[name] for name in names])

    @property
    def of(self) -> str:
        return "segments" if self.units is None else "documents"

    @property
    def size(self) -> int:
        return len(self.segments) * len(self.systems)

    @cached_property
    def truth(self) -> Voice | None:
        """What the others are measured by: gold, or where there is none, people."""
        kinds = ("gold", "people")
        return next((v for kind in kinds for v in self.voices if v.annotator.kind == kind), None)

    @property
    def measured(self) -> list[Voice]:
        """The others, where there is something to measure them by."""
        truth = self.truth
        return [v for v in self.voices if truth not in {None, v} and v.annotator.kind != "gold"]

    @cached_property
    def agreement(self) -> list[PairAgreement]:
        """Agreement of every two that have a row of the matrix; people instead of all of them together."""
        apart = {v.annotator.label for v in self.people}
        voices = [v for v in self.voices if v.label not in apart]
        scores = {v.label: v.scores for v in (*voices, *self.people)}
        kept = dict(list(scores.items())[:MOST_ROWS])
        return agreement_matrix(kept, resamples=draws_for(self.size))

    def agreement_with(self, truth: Voice, other: Voice) -> Result:
        """Pearson's r of two, whether they have a row or not."""
        two = {truth.label, other.label}
        known = next((p for p in self.agreement if {*p.between} == two), None)
        if known is None:
            scores = {v.label: v.scores for v in (truth, other)}
            (known,) = agreement_matrix(scores, resamples=draws_for(self.size))
        return known.pearson


def beside(lp: str, segments: Iterable[Segment], annotators: Sequence[Annotator]) -> Beside:
    """Put the scores of annotators side by side."""
    own = tuple(s for s in segments if s.lp == lp)
    systems = tuple(dict.fromkeys(name for s in own for name in s.translations))
    columns = {s.segment: column for column, s in enumerate(own)}
    rows = {name: row for row, name in enumerate(systems)}
    concerned = tuple(a for a in annotators if lp in a.results)
    scored = [a for a in concerned if a.protocol != "pairwise"]
    return Beside(
        lp=lp,
        segments=own,
        systems=systems,
        voices=tuple(_voice(a.label, a, a.results[lp].scores, rows, columns) for a in scored),
        people=tuple(v for a in scored if a.is_several for v in _people(a, lp, rows, columns)),
        annotators=concerned,
    )


def _voice(
    label: str, annotator: Annotator, scores: Scores, rows: Mapping[str, int], columns: Mapping[str, int]
) -> Voice:
    grid = np.full((len(rows), len(columns)), np.nan)
    known = [s for s in scores.segments if s.score is not None]
    grid[[rows[s.system] for s in known], [columns[s.segment] for s in known]] = [s.score for s in known]
    return Voice(label=label, scores=grid, annotator=annotator, range=scores.range)


def _people(
    annotator: Annotator, lp: str, rows: Mapping[str, int], columns: Mapping[str, int]
) -> Iterator[Voice]:
    by_person: dict[str, list[Record]] = {}
    for record in annotator.of_lp(lp):
        by_person.setdefault(record.annotator, []).append(record)
    if len(by_person) > _MOST_PEOPLE:
        return
    judged = {
        name: {(r.segment, r.system) for r in records if isinstance(r, Annotation)}
        for name, records in by_person.items()
    }
    sharing = {
        name
        for two in combinations(judged, 2)
        if len(judged[two[0]] & judged[two[1]]) >= _FEWEST_SHARED
        for name in two
    }
    for name in (name for name in by_person if name in sharing):
        yield _voice(
            _person(annotator, name), annotator, score_records(by_person[name], lp=lp), rows, columns
        )


def _person(annotator: Annotator, name: str) -> str:
    return f"{name} ({annotator.label})" if annotator.is_several else annotator.label


_DIGITS: Final = 2


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
    figures = []
    if len(names) > 2 and pairs:
        amounts = range_words([p.pearson.n for p in pairs])
        what = f"Pearson's r over the translations that both judged; n = {amounts}"
        values = {p.between: p.pearson.value for p in pairs}
        figures.append(matrix_figure(f"agreement.{found.lp}", title, names, values, what))
    tables = ([_score_table(pairs, draws)] if pairs else []) + ([_kappa_table(kappas)] if kappas else [])
    failed = sum(row.failed for a in found.annotators for row in a.results[found.lp].ranking.systems)
    note = f"{count(failed, 'judgement')} failed and {'is' if failed == 1 else 'are'} in none of this."
    return Part(
        name="agreement",
        title="Agreement between annotators",
        finding=title,
        figures=tuple(figures),
        tables=tuple(tables),
        notes=(note,) if failed else (),
    )


def _score_finding(pairs: Sequence[PairAgreement], truth: str | None) -> str:
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
    low, high = _value(tied[-1]), _value(first)
    values = high if low == high else f"{low} to {high}"
    rest = "" if last in tied else f"; {_other(last, truth)} least, at {_value(last)}"
    return f"{lead} {verb} most with {truth}, at r {values}{rest}"


def _reaches(pair: PairAgreement, first: PairAgreement) -> bool:
    """Whether an interval reaches that of the first, so that the two are not told apart."""
    own, best = pair.pearson.interval, first.pearson.interval
    return pair is first or (own is not None and best is not None and own.high >= best.low)


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


_Kappas = Mapping[tuple[str, tuple[str, str]], tuple[Result, float]]


def _kappas(found: Beside, draws: int) -> _Kappas:
    records = [
        replace(r, annotator=_person(a, r.annotator))
        for a in found.annotators
        for r in a.of_lp(found.lp)
        if not isinstance(r, Annotation) and a.protocol == "pairwise"
    ]
    kappas: dict[tuple[str, tuple[str, str]], tuple[Result, float]] = {}
    for criterion in dict.fromkeys(r.criterion for r in records if r.criterion):
        compared = tabulate(records, criterion)
        settings = Draws(groups=compared.segments, resamples=draws)
        for two in combinations(compared.annotators[:MOST_ROWS], 2):
            a, b = (compared.column(name) for name in two)
            both = ~np.isnan(a) & ~np.isnan(b)
            if both.any():
                kappas[criterion, two] = cohen_kappa(a, b, settings), float((a == b)[both].mean())
    return kappas


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


_MOST: Final = 8
_FEWEST: Final = 20  # translations; with fewer a tenth is one or two


def calibration_part(found: Beside) -> Part | None:
    """Curves of everybody who can be measured by gold or people; None where nobody can."""
    truth = found.truth
    if truth is None:
        return None
    curves = {}
    for voice in found.measured[:_MOST]:
        bins = binned_means(truth.scores, voice.scores, found.units)
        if sum(b.n for b in bins) >= _FEWEST and len(bins) > 1:
            curves[voice.label] = (voice, bins)
    if not curves:
        return None
    method = (
        "Translations in tenths by an annotator’s score, from its lowest to its highest, and the mean score "
        f"of {truth.label} in each; equal scores stand together. Bars: 95 % intervals over {found.of}."
    )
    return Part(
        name="calibration",
        title="Calibration",
        finding=_finding({label: bins for label, (_, bins) in curves.items()}, truth),
        figures=tuple(
            curve_figure(
                f"calibration.{found.lp}.{file_stem(label)}",
                _title(label, bins, truth),
                bins,
                (label, truth.label),
                same_scale=_is_same_scale(voice, truth),
            )
            for label, (voice, bins) in curves.items()
        ),
        notes=(method,),
    )


def _is_same_scale(voice: Voice, truth: Voice) -> bool:
    signatures = [next(iter(v.annotator.results.values())).scores.signature for v in (voice, truth)]
    weights = {signature.fields.get("weights") for signature in signatures}
    same = voice.annotator.protocol == truth.annotator.protocol != "metric"
    return same and voice.range == truth.range and len(weights) == 1


def _title(label: str, bins: list[Bin], truth: Voice) -> str:
    known = truth.scores[~np.isnan(truth.scores)]
    digits = 1 if np.ptp(known) > 5 else digits_for([b.gold for b in bins], [b.interval for b in bins])
    low, high = number(bins[0].gold, digits), number(bins[-1].gold, digits)
    return f"From the lowest to the highest scores by {label}, {truth.label} goes from {low} to {high}"


def _finding(curves: dict[str, list[Bin]], truth: Voice) -> str:
    telling = [label for label, bins in curves.items() if _is_below(bins[0].interval, bins[-1].interval)]
    if not telling:
        return f"Nobody’s lowest scores are shown to be worse by {truth.label} than the highest"
    silent = [label for label in curves if label not in telling]
    does = "scores" if len(telling) == 1 else "score"
    lead = f"What {in_words(telling)} {does} lowest is worse by {truth.label} than what is scored highest"
    if not silent:
        return lead
    return f"{lead}; of {in_words(silent)} that is not shown" + (
        "" if len(silent) < 4 else f" ({count(len(silent), 'annotator')})"
    )


def _is_below(low: Interval | None, high: Interval | None) -> bool:
    return low is not None and high is not None and low.high < high.low


@frozen
class Cost:
    """What a run cost."""

    judgements: int  # that were obtained or failed; what failed was paid for too
    calls: int  # asked of a server, stored answers not counted twice
    tokens: int | None  # prompt and completion; None where no server counted them
    price: float | None  # in `currency`; None for unknown. A run that asked nothing cost nothing.
    currency: str

    @property
    def per_thousand(self) -> float | None:
        return None if self.price is None or not self.judgements else 1000 * self.price / self.judgements

    @property
    def tokens_each(self) -> float | None:
        return None if self.tokens is None or not self.judgements else self.tokens / self.judgements


def cost_of(info: RunInfo) -> Cost:
    """Read the cost of a run from what it says of itself."""
    judgements = info.counts.get("judged", 0) + info.counts.get("failed", 0)
    tokens = info.tokens.get("prompt", 0) + info.tokens.get("completion", 0)
    is_free = info.kind == "metric"
    return Cost(
        judgements=judgements,
        calls=info.calls.get("asked", 0),
        tokens=0 if is_free else tokens or None,
        price=0.0 if is_free else info.price,
        currency=info.currency,
    )


def cost_part(found: Beside) -> Part | None:
    """Cost of every run, and its agreement with gold where there is some; None where no run asked a model."""
    runs = {a.label: cost_of(a.info) for a in found.annotators if a.info is not None}
    if not any(cost.calls for cost in runs.values()):
        return None
    truth = found.truth
    measured = [v for v in found.measured if v.label in runs]
    agreed = {} if truth is None else {v.label: found.agreement_with(truth, v) for v in measured}
    unknown = [label for label, cost in runs.items() if cost.price is None]
    by_price = len(unknown) < sum(cost.calls > 0 for cost in runs.values())
    points = _points(runs, agreed, by_price=by_price)
    currency = next((c.currency for c in runs.values() if c.currency), "")
    unit = f"{currency or 'price'} for 1,000 judgements" if by_price else "tokens a judgement"
    words = unit if by_price else f"{unit}, price unknown"
    title = _cost_finding(points, unit, truth)
    figures = []
    if any(runs[p.label].calls and p.cost for p in points):
        with_whom = f"Pearson’s r with {'gold' if truth is None else truth.label}"
        figures.append(cost_figure(f"cost.{found.lp}", title, points, (words, with_whom)))
    notes = [f"The cost of {in_words(unknown)} is unknown."] if unknown else []
    shared = "A run’s cost is that of all its language pairs and of everything asked, failures too."
    return Part(
        name="cost",
        title="Quality against cost",
        finding=title,
        figures=tuple(figures),
        tables=(_table(runs, agreed, currency),),
        notes=(*notes, shared),
    )


def _points(runs: dict[str, Cost], agreed: dict[str, Result], *, by_price: bool) -> list[Point]:
    points = []
    for label, cost in runs.items():
        spent = cost.per_thousand if by_price else cost.tokens_each
        result = agreed.get(label)
        if spent is not None and result is not None and result.value is not None:
            points.append(Point(label=label, cost=spent, value=result.value, interval=result.interval))
    return points


def _cost_finding(points: list[Point], unit: str, truth: Voice | None) -> str:
    if truth is None:
        return "What each run cost; there is no gold to say what it was worth"
    if len(points) < 2:
        return f"What each run cost, and how far it agrees with {truth.label}"
    if not any(p.cost for p in points):
        return "All runs with a known cost were free"
    best = max(points, key=lambda p: p.value)
    cheaper = [
        p
        for p in points
        if p.cost < best.cost
        and p.interval is not None
        and best.interval is not None
        and p.interval.high >= best.interval.low
    ]
    if not cheaper:
        return (
            f"{best.label} agrees most with {truth.label}, at r {number(best.value, 2)}, "
            f"and takes {_amount(best.cost)} {unit}"
        )
    cheap = min(cheaper, key=lambda p: p.cost)
    return (
        f"{cheap.label} agrees with {truth.label} about as far as {best.label}, at {_amount(cheap.cost)} "
        f"instead of {_amount(best.cost)} {unit}"
    )


def _amount(value: float) -> str:
    return number(value, 0 if value >= 100 or value == 0 else 2)


def _table(runs: dict[str, Cost], agreed: dict[str, Result], currency: str) -> Table:
    rows = []
    for label, cost in runs.items():
        result = agreed.get(label)
        each, price = cost.tokens_each, cost.per_thousand
        rows.append(
            [
                label,
                whole(cost.judgements),
                whole(cost.calls),
                NOTHING if each is None else number(each, 0),
                "unknown" if cost.price is None else number(cost.price, _DIGITS),
                "unknown" if price is None else number(price, _DIGITS),
                NOTHING if result is None else number(result.value, _DIGITS),
                NOTHING if result is None else interval(result.interval, _DIGITS),
                NOTHING if result is None else whole(result.n),
            ]
        )
    money = currency or "price"
    columns = [
        "Run",
        ">judgements",
        ">calls",
        ">tokens each",
        f">{money}",
        f">{money} for 1,000",
        ">Pearson’s r",
        ">95 % interval",
        ">n",
    ]
    return Table(columns=columns, rows=rows, title=f"Cost of {count(len(runs), 'run')}")


_MOST_COMPARISONS: Final = 20_000  # that a radar is drawn from; more take longer than the rest of a page
_MOST_RECORDS: Final = 2000
_RESAMPLES: Final = 500
_MOST_SYSTEMS: Final = 14
_CRITERIA: Final = 4  # of marked errors, the overall one among them


def criteria_part(found: Beside) -> Part | None:
    """A radar of each annotator that prefers on three criteria, or marks errors of three; else None."""
    figures = []
    notes = ["Each two translations of a source are compared by the criterion’s errors, or as was preferred."]
    for annotator in found.annotators:
        source = _source(annotator, found.lp)
        if source is None:
            continue
        kept, step = _thinned(source)
        try:
            rankings = rank_by_criterion(kept, RankSettings(method="copeland", resamples=_RESAMPLES))
            name = f"criteria.{found.lp}.{file_stem(annotator.label)}"
            figures.append(radar_figure(name, rankings, by=annotator.label))
        except (DataError, UsageError):  # fewer than three criteria, or nothing to compare
            continue
        if step > 1:
            notes.append(
                f"{annotator.label}: drawn from one in {step} segments, `adjudge rank --radar` takes all."
            )
    if not figures:
        return None
    return Part(
        name="criteria",
        title="By criterion",
        finding=figures[0].title,
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _thinned(source: Judgements) -> tuple[Judgements, int]:
    step = max(-(-_comparisons(source) // _MOST_COMPARISONS), -(-len(source.records) // _MOST_RECORDS))
    if step <= 1:
        return source, 1
    places = {name: place for place, name in enumerate(dict.fromkeys(r.segment for r in source.records))}
    kept = tuple(r for r in source.records if places[r.segment] % step == 0)
    return replace(source, records=kept), step


def _source(annotator: Annotator, lp: str) -> Judgements | None:
    if annotator.protocol not in {"mqm", "pairwise"}:
        return None
    records = annotator.of_lp(lp)
    systems = {name for r in records for name in r.systems}
    if not 2 <= len(systems) <= _MOST_SYSTEMS or not any(not isinstance(r, Failure) for r in records):
        return None
    weights = None if annotator.info is None else annotator.info.weights
    return Judgements(name=annotator.label, records=records, weights=weights)


def _comparisons(source: Judgements) -> int:
    if not source.has_scores:
        return len(source.records)
    judged = Counter((r.annotator, r.segment) for r in source.records)
    return _CRITERIA * sum(n * (n - 1) // 2 for n in judged.values())


_ERRORS_MOST: Final = 5  # categories that stand side by side; the rest are one
_ERRORS_FEWEST: Final = 10  # errors of a system; shares of fewer say little


def errors_part(lp: str, errors: Mapping[str, Errors]) -> Part | None:
    """Kinds of errors as shares of all errors of each system, by each annotator that marks categories."""
    figures, findings, few = [], [], []
    for label, own in errors.items():
        totals = _core_totals(own)
        kept = {system: counts for system, counts in totals.items() if counts.total() >= _ERRORS_FEWEST}
        if not kept:
            continue
        few += [name for name in totals if name not in kept and totals[name].total()]
        shares = _shares(kept)
        title = _errors_finding(label, kept)
        findings.append(title)
        n = sum(counts.total() for counts in kept.values())
        what = f"share of a system’s errors by {label}, {n:,} errors in all"
        figures.append(bars_figure(f"errors.{lp}.{file_stem(label)}", title, shares, what))
    if not figures:
        return None
    notes = (
        [f"Fewer than {_ERRORS_FEWEST} errors, and no profile: {in_words(list(dict.fromkeys(few)))}."]
        if few
        else []
    )
    return Part(
        name="errors", title="Error profile", finding=findings[0], figures=tuple(figures), notes=tuple(notes)
    )


def _core_totals(errors: Errors) -> dict[str, Counter[str]]:
    totals: dict[str, Counter[str]] = {system: Counter() for system in errors.systems}
    for category, counts in errors.categories.items():
        core = category.partition("/")[0]
        for system, amount in counts.items():
            totals.setdefault(system, Counter())[core] += amount
    return totals


def _shares(totals: Mapping[str, Counter[str]]) -> dict[str, dict[str, float]]:
    whole = sum(totals.values(), Counter())
    first = [name for name, _ in whole.most_common(_ERRORS_MOST)]
    first = first if len(whole) <= _ERRORS_MOST else first[: _ERRORS_MOST - 1]
    shares = {}
    for system, counts in totals.items():
        row = {name: counts[name] / counts.total() for name in first}
        if len(whole) > len(first):
            row["all others"] = sum(counts[name] for name in whole if name not in first) / counts.total()
        shares[system] = row
    return shares


def _errors_finding(label: str, totals: Mapping[str, Counter[str]]) -> str:
    whole = sum(totals.values(), Counter())
    name, amount = whole.most_common(1)[0]
    leading = sum(counts.most_common(1)[0][0] == name for counts in totals.values())
    of = "every system" if leading == len(totals) else f"{leading} of {count(len(totals), 'system')}"
    share = round(100 * amount / whole.total())
    return f"By {label}, {share} % of errors are of {name}, most frequent in {of}"


_MOST_DOMAINS: Final = 12
_DOCUMENTS: Final = 6
_STRATA_FEWEST: Final = 6  # segments; fewer are not worth cutting into parts


@frozen
class Stratum:
    """Segments that have something in common."""

    kind: str  # domain, length or document
    label: str
    columns: NDArray[np.bool_]


def strata_part(found: Beside) -> Part | None:
    """Means of every annotator by stratum, and of every system by the one that the others are measured by."""
    voices = found.voices
    if not voices or len(found.segments) < _STRATA_FEWEST:
        return None
    first = found.truth or voices[0]
    strata = [*_by_domain(found), *_by_length(found), *_by_document(found, first)]
    if len(strata) < 2:
        return None
    every = [_dot(first.scores, s, found.units) for s in strata if s.kind != "document"]
    dots = [dot for dot in every if dot is not None]
    title = _strata_finding(first, dots)
    n = int((~np.isnan(first.scores)).sum())
    axis = f"mean score by {first.label}, higher is better; n = {n:,} translations, those of a row at its end"
    columns = [_column(v.scores, strata, found.units) for v in found.voices]
    rows = [
        [s.kind, s.label, whole(int(s.columns.sum())), *(column[row] for column in columns)]
        for row, s in enumerate(strata)
    ]
    headings = ["By", "Part", ">segments", *(f">{v.label}" for v in found.voices)]
    rules = frozenset(i for i, (a, b) in enumerate(pairwise(strata)) if a.kind != b.kind)
    means = replace(
        Table(columns=headings, rows=rows, rules=rules, title="Mean score of all systems"),
        notes=_document_notes(found, first, strata),
    )
    note = f"Intervals (95 %, after ±) are over {found.of}; means are over all systems that were judged."
    return Part(
        name="strata",
        title="Domains, lengths, documents",
        finding=title,
        figures=(dots_figure(f"strata.{found.lp}", title, dots, axis),) if len(dots) > 1 else (),
        tables=(means, _system_table(found, first, strata)),
        notes=(note,),
    )


def _document_notes(found: Beside, first: Voice, strata: Sequence[Stratum]) -> list[str]:
    shown = sum(s.kind == "document" for s in strata)
    several = sum(n > 1 for n in Counter(s.document for s in found.segments if s.document).values())
    if not shown:
        return []
    if shown == several:
        return [f"All {several:,} documents of several segments, the lowest by {first.label} first."]
    return [f"Of {several:,} documents of several segments, the {shown} that score lowest by {first.label}."]


def _by_domain(found: Beside) -> Iterator[Stratum]:
    counts = Counter(s.domain for s in found.segments)
    if len(counts) < 2:
        return
    for domain, _ in counts.most_common(_MOST_DOMAINS):
        columns = np.array([s.domain == domain for s in found.segments])
        yield Stratum(kind="domain", label=domain or "no domain", columns=columns)


def _by_length(found: Beside) -> Iterator[Stratum]:
    lengths = np.array(source_lengths(found.segments, found.lp))
    cuts = sorted({int(np.ceil(q)) for q in np.quantile(lengths, (1 / 3, 2 / 3))} - {int(lengths.min())})
    if not cuts:
        return
    place = np.searchsorted(cuts, lengths, side="right")
    for index, name in enumerate(length_names(found.lp, cuts)):
        yield Stratum(kind="length", label=name, columns=place == index)


def _by_document(found: Beside, first: Voice) -> list[Stratum]:
    counts = Counter(s.document for s in found.segments if s.document)
    if len(counts) < 2 or len(counts) * 2 > len(found.segments):
        return []
    documents = [s.document for s in found.segments]
    judged = ~np.isnan(first.scores)
    sums = np.where(judged, first.scores, 0.0).sum(axis=0)
    totals: dict[str, list[float]] = {}
    for document, part, amount in zip(documents, sums.tolist(), judged.sum(axis=0).tolist(), strict=True):
        known = totals.setdefault(document, [0.0, 0.0])
        known[0] += part
        known[1] += amount
    several = {name for name in counts if counts[name] > 1}
    means = {name: part / amount for name, (part, amount) in totals.items() if amount and name in several}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_DOCUMENTS]
    return [
        Stratum(kind="document", label=name, columns=np.array([d == name for d in documents]))
        for name in lowest
    ]


def _dot(scores: Floats, stratum: Stratum, units: NDArray[np.int64] | None) -> Dot | None:
    """The mean of some scores in a stratum; None where it has none of them."""
    inside = ~np.isnan(scores) & stratum.columns
    if not inside.any():
        return None
    value, interval = clustered_mean(scores, inside, units)
    return Dot(group=stratum.kind, label=stratum.label, value=value, interval=interval, n=int(inside.sum()))


def _strata_finding(first: Voice, dots: Sequence[Dot]) -> str:
    """Which domain, or else length, is told apart from the best one of its kind."""
    for kind in ("domain", "length"):
        own = sorted((d for d in dots if d.group == kind), key=lambda d: d.value)
        if len(own) < 2:
            continue
        low, high = own[0], own[-1]
        if _is_below(low.interval, high.interval):
            digits = digits_for([d.value for d in own], [d.interval for d in own])
            values = f"{number(low.value, digits)} against {number(high.value, digits)}"
            return f"By {first.label}, {low.label} scores lowest and {high.label} highest: {values}"
    return f"No domain or length is told apart by {first.label}"


def _column(scores: Floats, strata: Sequence[Stratum], units: NDArray[np.int64] | None) -> list[str]:
    dots = [_dot(scores, s, units) for s in strata]
    digits = digits_for([d.value for d in dots if d], [d.interval for d in dots if d])
    return [NOTHING if d is None else _with_reach(d, digits) for d in dots]


def _with_reach(dot: Dot, digits: int) -> str:
    ends = dot.interval
    reach = "" if ends is None else f" ± {number((ends.high - ends.low) / 2, digits)}"
    return number(dot.value, digits) + reach


def _system_table(found: Beside, first: Voice, strata: Sequence[Stratum]) -> Table:
    kept = [s for s in strata if s.kind != "document"] or list(strata)
    judged = [row for row in range(len(found.systems)) if not np.isnan(first.scores[row]).all()]
    rows = [[found.systems[row], *_column(first.scores[[row]], kept, found.units)] for row in judged]
    return Table(
        columns=["System", *(f">{s.label}" for s in kept)],
        rows=rows,
        title=f"Mean score of each system by {first.label}",
    )
