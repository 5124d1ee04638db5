"""Agreement: how far people agree with each other, and judges with people.

Judgements become a table of labels, units by annotators (`LabelTable`): of verdicts on pairs, or of scores.
From it come kappas, alphas, correlations and the alternative-annotator test (`find_agreement`).
`consistency` is WMT26's filter of annotators: how well one person's ratings fit those of all.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import combinations
from typing import Annotated, Final

import numpy as np
from annotated_types import Ge, Le

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.preferences import (
    Comparisons,
    criteria_of,
    named_apart,
    preferences_of,
    tabulate,
)
from adjudge.analysis.segment_scores import score_records, undecided_note
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.protocol import find_protocol
from adjudge.core.record import (
    SECOND_LOOK,
    Annotation,
    Failure,
    Preference,
    Record,
    by_pair,
    rows_by_pair,
)
from adjudge.core.scores import INTERVAL
from adjudge.core.segment import LEVELS
from adjudge.core.verb import IntervalDraws, LanguagePair, OfMismatched, Option, Seed, Texts, settings
from adjudge.core.wording import count, form, of_all
from adjudge.errors import UsageError
from adjudge.formats.join import put_together
from adjudge.formats.read import Judgements
from adjudge.stats.agreement_coefficients import (
    MAJORITY,
    OF_SCORES,
    Alignment,
    AlternativeTest,
    Level,
    alternative_annotator_test,
    cohen_kappa,
    error_recall,
    fleiss_kappa,
    krippendorff_alpha,
    majority,
    percentage_agreement,
)
from adjudge.stats.bootstrap import Draws, mean_of
from adjudge.stats.judged import Floats, Result


@frozen
class LabelTable:
    """Labels of people and judges on the same units."""

    lp: str = ""  # language pair
    criterion: str  # of verdicts; empty for scores
    annotators: tuple[str, ...]
    people: tuple[str, ...]  # those that are no judges
    labels: Floats  # units by annotators, NaN where there is none
    groups: Sequence[int]  # segment of each unit, numbered from 0
    # of verdicts on a benchmark that tells them: 1 for an easy unit, 0 for a hard one, else NaN
    levels: Floats | None = None
    grid: Floats | None = None  # of scores: annotators by systems by segments; None for verdicts
    # of scores with marked errors: `any`, `minor`, `major` to how many were marked, shaped as the grid
    errors: Mapping[str, Floats] = field(default_factory=dict)
    # of scores: annotator to what the scale is called; only values on one scale can be compared
    scales: Mapping[str, str] = field(default_factory=dict)

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(a for a in self.annotators if a not in self.people)

    def is_on_one_scale(self, names: Iterable[str]) -> bool:
        """Whether labels of these annotators are values that can be compared."""
        return len({self.scales.get(name) for name in names}) <= 1

    def labels_of(self, names: Sequence[str]) -> Floats:
        """Units by these annotators."""
        return np.asarray(self.labels[:, [self.annotators.index(name) for name in names]])


def pair_table(
    comparisons: Comparisons, people: Sequence[str], told: Mapping[tuple[str, str, str], float]
) -> LabelTable:
    """Verdicts on one criterion."""
    return LabelTable(
        criterion=comparisons.criterion,
        annotators=comparisons.annotators,
        people=tuple(a for a in comparisons.annotators if a in people),
        labels=comparisons.labels,
        groups=comparisons.segments,
        levels=np.array(
            [told.get((u.lp, u.segment, comparisons.criterion), np.nan) for u in comparisons.units]
        ),
    )


def score_table(sources: Sequence[Judgements], people: Sequence[str]) -> LabelTable:
    """Scores and marked errors of every translation by every annotator.

    Scores are those of `analysis.segment_scores`: MQM by weights, the others by their rating.
    """
    by_annotator: dict[str, tuple[Judgements, list[Record]]] = {}
    for source in sources:
        for record in source.records:
            by_annotator.setdefault(record.annotator, (source, []))[1].append(record)
    every = [r for _, records in by_annotator.values() for r in records if isinstance(r, Annotation)]
    segments = {key: place for place, key in enumerate(dict.fromkeys((r.lp, r.segment) for r in every))}
    systems = {key: place for place, key in enumerate(sorted({r.system for r in every}))}
    grid = np.full((len(by_annotator), len(systems), len(segments)), np.nan)
    errors = {kind: grid.copy() for kind in ("any", "minor", "major")}
    scales = {}
    for row, (name, (source, records)) in enumerate(by_annotator.items()):
        scored = score_records(records, weights=source.weights if records[0].protocol == "mqm" else None)
        scales[name] = _scale(scored.range)
        for s in scored.segments:
            if s.score is not None:
                grid[row, systems[s.system], segments[s.lp, s.segment]] = s.score
        for record in records:
            if isinstance(record, Annotation) and find_protocol(record.protocol).has_spans:
                place = (row, systems[record.system], segments[record.lp, record.segment])
                for kind, n in _marked(record).items():
                    errors[kind][place] = n
    return LabelTable(
        criterion="",
        annotators=tuple(by_annotator),
        people=tuple(a for a in by_annotator if a in people),
        labels=grid.reshape(len(grid), -1).T,
        groups=list(range(len(segments))) * len(systems),
        grid=grid,
        errors={} if np.isnan(errors["any"]).all() else errors,
        scales=scales,
    )


def _scale(bounds: tuple[float, float]) -> str:
    low, high = bounds
    if high == 0:
        return "points of errors"
    return "no stated range" if math.isinf(low) and math.isinf(high) else f"{low:g} to {high:g}"


def _marked(record: Annotation) -> dict[str, int]:
    counts = record.counts or {}
    severities = [s for s, n in counts.items() for _ in range(n)] or [s.severity for s in record.spans]
    minor = severities.count("minor")
    major = severities.count("major") + severities.count("critical")
    return {"any": minor + major, "minor": minor, "major": major}


ALL: Final = ("all",)
_LEVELS: Final[Mapping[bool, tuple[Level, ...]]] = {
    True: ("nominal", "ordinal"),
    False: ("ordinal", "interval"),
}
_ALIGNMENTS: Final[Mapping[bool, Alignment]] = {True: "accuracy", False: "rmse"}


@frozen
class AgreementRow:
    """One number."""

    criterion: str  # of preferences; empty for scores
    measure: str  # such as `Fleiss kappa`
    between: tuple[str, ...]  # `all` people, or two names
    result: Result  # value, n, interval
    lp: str = ""  # language pair


@frozen
class Agreement(Framed):
    """Agreement of people, and of a judge with them."""

    rows: tuple[AgreementRow, ...]  # of each language pair, criterion by criterion
    # language pair, criterion and judge to the alternative-annotator test
    tests: Mapping[tuple[str, str, str], AlternativeTest]
    notes: tuple[str, ...] = ()  # what a reader must know

    def groups(self) -> dict[str, list[AgreementRow]]:
        return rows_by_pair(self.rows)

    def columns(self) -> list[Column]:
        criterion = Column("criterion", "of preferences or of errors")
        return [
            *([criterion] if any(row.criterion for row in self.rows) else []),
            Column("measure", "such as Fleiss kappa"),
            Column("between", "all people, or two names", of=lambda row: " and ".join(row.between)),
            Column("value", "of the measure", "score", of="result.value"),
            replace(INTERVAL, of="result.interval"),
            Column("n", "units", "count", of="result.n"),
        ]


@settings
class AgreementSettings:
    """How agreement is measured."""

    lp: LanguagePair = None
    test_set: Texts = None
    mismatched: OfMismatched = "refuse"
    pairs: Annotated[bool, Option(help="Compare scores as preferences between two systems.")] = False
    by_criterion: Annotated[
        bool, Option(help="Turn the MQM errors of each criterion into preferences (FiRE).")
    ] = False
    tie: Annotated[float, Ge(0), Option(help="Largest score difference that counts as a tie.")] = 0.0
    epsilon: Annotated[
        float, Ge(0), Le(1), Option(help="Allowed disadvantage of a judge against a person (alt-test).")
    ] = 0.2
    resamples: IntervalDraws = 1000
    seed: Seed = 0

    @property
    def draws(self) -> Draws:
        """Draws of the intervals; segments are drawn whole."""
        return Draws(resamples=self.resamples, seed=self.seed)


def find_agreement(
    people: Sequence[Judgements],
    judges: Sequence[Judgements],
    settings: AgreementSettings,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Agreement:
    """Measure how people agree with each other, and judges with people.

    Preferences: percentage agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha (nominal, ordinal).
    Scores: Krippendorff's alpha (ordinal, interval) and, of each two annotators, the measures of
    `stats.agreement_coefficients`. Judges against people by the alternative-annotator test also. An annotator
    in several sources is compared with itself. Alpha and the test compare values, and are left out
    of scores on different scales. What failed has no label and is in no number.
    """
    sides, told = put_together([*people, *judges], "translations", settings.mismatched)
    apart = named_apart(sides)
    names = tuple(dict.fromkeys(a for s in apart[: len(people)] for a in s.annotators))
    if len(names) < 2 and not judges:
        raise UsageError(f"agreement needs two annotators or a judge; these are all by {', '.join(names)}")
    tables = [
        replace(table, lp=lp)
        for lp in by_pair(r for s in apart for r in s.records)
        for table in _tables(
            [s.with_records(r for r in s.records if r.lp == lp) for s in apart], names, settings
        )
    ]
    groups = [(table.lp, group) for table in tables for group in _groups(table, settings)]
    rows: list[AgreementRow] = []
    for done, (lp, group) in enumerate(groups, start=1):
        rows += [replace(row, lp=lp) for row in group]
        if progress is not None:
            progress(done, len(groups))
    tests = {
        (table.lp, table.criterion, judge): test
        for table in tables
        for judge, test in _tests(table, settings)
    }
    failed = sum(isinstance(r, Failure) for s in apart for r in s.records)
    notes = sight_of(sides)
    if failed:
        have = form(failed, "it has no label and is", "they have no label and are")
        notes.append(f"{count(failed, 'judgement')} failed; {have} in no number.")
    notes += undecided_note(r for s in apart for r in s.records if isinstance(r, Preference))
    looks = sum(SECOND_LOOK in r.flags for s in apart for r in s.records if not isinstance(r, Failure))
    if looks:
        which = count(looks, "judgement is", "judgements are")
        notes.append(f"{which} of people who were shown what others had marked: no independent agreement.")
    notes += dict.fromkeys(note for table in tables for note in _table_notes(table))
    return Agreement(rows=tuple(rows), tests=tests, notes=(*notes, *told))


def _table_notes(table: LabelTable) -> Iterator[str]:
    if not table.is_on_one_scale(table.people):
        scales = "; ".join(f"{name}: {table.scales[name]}" for name in table.people)
        test = " and the alternative-annotator test" if table.judges else ""
        yield (
            f"The scores lie on different scales ({scales}). Krippendorff's alpha{test} would compare "
            "their values, and are left out; --pairs compares preferences."
        )
    elif len(table.people) > 1:
        for judge in _elsewhere(table):
            yield (
                f"{judge} is on another scale ({table.scales[judge]}) than the others "
                f"({table.scales[table.people[0]]}): no alternative-annotator test; "
                "--pairs compares preferences."
            )
    if len(table.annotators) == 1:
        yield f"All of {table.lp} is by {table.annotators[0]}: there is nobody to agree with."
    judged = dict(zip(table.annotators, ~np.isnan(table.labels).T, strict=True))
    two = [pair for pair in combinations(judged, 2) if {*pair} & {*table.people}]
    apart = sum(not (judged[a] & judged[b]).any() for a, b in two)
    if apart:
        on = f" on {table.criterion}" if table.criterion else ""
        which = of_all(apart, len(two), "pair of annotators", "pairs of annotators")
        yield f"{which} judged nothing in common{on}, and {form(apart, 'has', 'have')} no row."


def _elsewhere(table: LabelTable) -> list[str]:
    return [judge for judge in table.judges if not table.is_on_one_scale([*table.people, judge])]


def _tables(
    sources: Sequence[Judgements], people: Sequence[str], settings: AgreementSettings
) -> list[LabelTable]:
    are_scores = {s.has_scores for s in sources if s.records}
    if settings.by_criterion or settings.pairs or are_scores == {False}:
        made = [
            p
            for s in sources
            for p in preferences_of(s, by_criterion=settings.by_criterion, epsilon=settings.tie)
        ]
        texts = [segment for source in sources for segment in source.test_set or ()]
        told = {
            (s.lp, s.segment, criterion): float(level == "easy")
            for s in texts
            if isinstance(levels := s.meta.get(LEVELS), Mapping)
            for criterion, level in levels.items()
            if level in {"easy", "hard"}
        }
        return [pair_table(tabulate(made, criterion), people, told) for criterion in criteria_of(made)]
    if are_scores == {True}:
        return [score_table(sources, people)]
    raise UsageError(
        "some inputs hold preferences and others scores: add --pairs to turn the scores into preferences"
    )


def _groups(table: LabelTable, settings: AgreementSettings) -> Iterator[Iterator[AgreementRow]]:
    draws = replace(settings.draws, groups=table.groups)
    if len(table.people) > 1:
        yield agreement_of_all(table, draws)
    for two in combinations(table.people, 2):
        yield _rows_of_two(table, two, draws)
    for judge in table.judges:
        if table.grid is None:
            yield _with_majority(table, judge, draws)
        else:
            yield from (_rows_of_two(table, (judge, person), draws) for person in table.people)


def agreement_of_all(table: LabelTable, draws: Draws) -> Iterator[AgreementRow]:
    """Agreement of all people together: Krippendorff's alpha, and of verdicts Fleiss' kappa."""
    row = partial(AgreementRow, criterion=table.criterion, between=ALL)
    labels = table.labels_of(table.people)
    if table.grid is None:
        yield row(measure="Fleiss kappa", result=fleiss_kappa(labels, draws))
    for level in _LEVELS[table.grid is None] if table.is_on_one_scale(table.people) else ():
        found = krippendorff_alpha(labels, level, draws)
        yield row(measure=f"Krippendorff alpha, {level}", result=found)


def _with_majority(table: LabelTable, judge: str, draws: Draws) -> Iterator[AgreementRow]:
    row = partial(AgreementRow, criterion=table.criterion)
    verdicts, gold = table.labels_of([judge])[:, 0], table.labels_of(table.people)
    for share in percentage_agreement(verdicts, gold, table.people, draws, table.levels):
        between = (judge, share.against)
        yield row(measure=f"agreement, {share.pairs}", between=between, result=share.agreement)
    kappa = cohen_kappa(verdicts, majority(gold), draws)
    yield row(measure="Cohen kappa", between=(judge, MAJORITY), result=kappa)


def _rows_of_two(table: LabelTable, two: tuple[str, str], draws: Draws) -> Iterator[AgreementRow]:
    for measure, result in _of_two(table, two, draws):
        yield AgreementRow(criterion=table.criterion, measure=measure, between=two, result=result)


def _of_two(table: LabelTable, two: Sequence[str], draws: Draws) -> Iterator[tuple[str, Result]]:
    a, b = (table.labels_of([name])[:, 0] for name in two)
    if (np.isnan(a) | np.isnan(b)).all():
        return
    if table.grid is None:
        yield "Cohen kappa", cohen_kappa(a, b, draws)
        yield "agreement", mean_of(np.where(np.isnan(a) | np.isnan(b), np.nan, a == b), draws, "")
        return
    first, second = (table.grid[table.annotators.index(name)] for name in two)
    for measure, function in OF_SCORES.items():
        yield measure, function(first, second)
    for kind, marked in table.errors.items():
        one, other = (marked[table.annotators.index(name)].ravel() for name in two)
        yield f"error recall, {kind}", error_recall(one, other, draws)


def _tests(table: LabelTable, settings: AgreementSettings) -> Iterator[tuple[str, AlternativeTest]]:
    """Whether each judge may stand in for a person; two people or more can tell."""
    if len(table.people) < 2:
        return
    gold, alignment = table.labels_of(table.people), _ALIGNMENTS[table.grid is None]
    apart = _elsewhere(table)
    for judge in (name for name in table.judges if name not in apart):
        labels = table.labels_of([judge])[:, 0]
        yield (
            judge,
            alternative_annotator_test(
                labels, gold, table.people, alignment=alignment, epsilon=settings.epsilon
            ),
        )


_FEWEST_DOCUMENTS: Final = 3
"""Documents of an annotator from which on the filter decides."""
_MOST_UNSURE: Final = 10
"""Ratings of a system up to which its mean is not compared."""
_NEVER_ZERO: Final = 1e-6


def consistency(records: Iterable[Record]) -> dict[tuple[str, str], float]:
    """Language pair and annotator to how well the annotator's ratings fit those of all, 0 to 1.

    mean of 2^(-(d - m)^2 / (2 (v + w))) over all two systems that the annotator rated on one segment

    d: difference of the two ratings; m: difference of the systems' mean ratings by everybody; v, w: the
    variances of their ratings (n - 1). WMT26 leaves out annotators below 0.75 (humeval/02a-filter_data.py of
    the repository of its general translation task). The annotator's own ratings are among those of all.

    Without annotators of fewer than three documents, and without those whose systems all have ten ratings or
    fewer: nothing is said of them.
    """
    ratings: dict[tuple[str, str], list[float]] = defaultdict(list)
    rated: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    documents: dict[tuple[str, str], set[str]] = defaultdict(set)
    for r in records:
        if isinstance(r, Annotation) and r.rating is not None and r.criterion is None:
            who = r.lp, r.annotator
            ratings[r.lp, r.system].append(r.rating)
            rated[who][r.segment][r.system] = r.rating
            documents[who].add(r.document or r.segment)
    known = {s: (np.mean(x), np.var(x, ddof=1)) for s, x in ratings.items() if len(x) > _MOST_UNSURE}
    found = {}
    for (lp, name), segments in rated.items():
        fits = []
        for said in segments.values():
            for a, b in combinations([s for s in said if (lp, s) in known], 2):
                (mean_a, var_a), (mean_b, var_b) = known[lp, a], known[lp, b]
                off = said[a] - said[b] - (mean_a - mean_b)
                fits.append(2.0 ** -(off**2 / (2 * (var_a + var_b) + _NEVER_ZERO)))
        if fits and len(documents[lp, name]) >= _FEWEST_DOCUMENTS:
            found[lp, name] = float(np.mean(fits))
    return found
