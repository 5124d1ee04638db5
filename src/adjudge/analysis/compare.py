"""`compare`: how much better one of two systems is on the same segments, and how sure that is.

Two steps: the difference with its interval, p-value and effect size (`difference`), and that on what is
judged in both, whole, by language pair and by domain (`compare_scores`). `compare` reads files for all
this. A unit is a segment or a document: what varies independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.score import Place, Source, few_documents_note, scored, together
from adjudge.analysis.segment_scores import (
    ScoreMatrix,
    coverage_note,
    score_matrix,
    untranslated_note,
)
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.scores import INTERVAL, Interval, Scores, Signature
from adjudge.core.verb import ByDocument, Names, OneAnnotator, Option, Resamples, Seed, settings, takes
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import is_same_source, refuse_twice
from adjudge.stats.bootstrap import bootstrap_means, lone_unit_note
from adjudge.stats.bounds import (
    METHOD,
    Bounds,
    Totals,
    bounds_of_difference,
    has_flips,
    linearised,
    permutation_p_value,
)
from adjudge.stats.judged import Floats
from adjudge.stats.paired import (
    ROUNDING,
    enlarged,
    holm,
    is_exact,
    sign_flip_p_values,
    signed_rank_p_value,
    smallest_p_value,
    too_few,
    unit_differences,
)


def effective_size(segments: Totals, units: Totals) -> float:
    """Independent segments that would give the same standard error as these documents, at most all segments.

    n se(segments)^2 / se(documents)^2, Kish's design effect turned round; the number of documents where no
    difference varies.
    """
    within, between = linearised(segments), linearised(units)
    n, m = len(within), len(between)
    alone, together = (float(parts @ parts) for parts in (within, between))
    return float(min(n, n * alone / together)) if together else float(m)


PairedTest = Literal["permutation", "bootstrap", "wilcoxon"]
PAIRED_TITLES: Final[Mapping[PairedTest, str]] = {
    "permutation": "paired permutation test",
    "bootstrap": "paired bootstrap",
    "wilcoxon": "Wilcoxon signed-rank test",
}


@frozen
class Effect:
    """How large a difference is, apart from how sure it is."""

    # mean difference over the standard deviation of the differences; None where they do not vary
    d_z: float | None
    superiority: float  # share of units where the first is better, half of the ties added; 0.5 is no effect
    # Cliff's delta, chance that any score of the first is above any of the second, less the opposite; from -1
    # to 1, and unlike the others not paired
    cliff: float
    wins: int  # units where the first is better
    ties: int  # units where both are equal
    losses: int  # units where the second is better


@frozen
class Difference:
    """The first system less the second. Above 0 the first is better."""

    first: float
    second: float
    value: float  # first less second
    interval: Interval | None  # 95 % interval of that, by `stats.bounds`; None for one unit
    p: float  # two-sided p-value
    effect: Effect
    units: int  # segments, or documents, that were drawn or flipped
    effective: float  # independent segments that would be worth as much; `units` where those are segments


def difference(
    totals: Totals,
    segments: Totals | None = None,
    *,
    test: PairedTest = "permutation",
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """Compare the two systems of `totals`, units by two, both judged in every unit.

    permutation: `bounds.permutation_p_value`, of sign flips of the unit's parts in the means; also known as
        approximate randomisation (Riezler and Maxwell 2005). All flips up to 12 units.
    bootstrap: share of draws with replacement (Koehn 2004) that lie as far from the difference as that lies
        from 0, and at least the p of the interval: drawn alone, it finds too many differences with few units.
    wilcoxon: `paired.signed_rank_p_value` of the unit's means: whether differences lie around 0, which is
        not the same as whether the means differ.

    `segments`: the same by segment, for the effective size; None where `totals` is that.
    """
    bounds = bounds_of_difference(totals)
    first, second = (float(mean) for mean in totals.shares.mean(axis=0))
    return Difference(
        first=first,
        second=second,
        value=first - second,
        interval=bounds.interval,
        p=_p_value(totals, bounds, test, resamples, seed, by_document=segments is not None),
        effect=effect(totals.means),
        units=len(totals.sums),
        effective=len(totals.sums) if segments is None else effective_size(segments, totals),
    )


def _p_value(
    totals: Totals, bounds: Bounds, test: PairedTest, resamples: int, seed: int, *, by_document: bool
) -> float:
    if test == "permutation":
        gaps = unit_differences(totals, np.array([0]), np.array([1]))
        flipped = float(sign_flip_p_values(gaps, resamples=resamples, seed=seed)[0])
        return permutation_p_value(flipped, bounds.p, bounds, by_document=by_document)
    if test == "wilcoxon":
        means = enlarged(totals.means)
        return signed_rank_p_value(means[:, 0] - means[:, 1])
    sums = enlarged(totals.sums)
    drawn = bootstrap_means(sums, totals.sizes, resamples=resamples, seed=seed)
    means = sums.sum(axis=0) / totals.sizes.sum(axis=0)
    gaps, gap = np.abs(drawn[:, 0] - means[0] - drawn[:, 1] + means[1]), abs(means[0] - means[1])
    return max((int((gaps >= gap * (1 - ROUNDING)).sum()) + 1) / (resamples + 1), bounds.p)


def effect(scores: Floats) -> Effect:
    """Size of the difference of two systems.

    d_z: Cohen 1988, on paired differences. Superiority: Grissom 1994. Delta: Cliff 1993. Scores are
    `enlarged` and rounded to ten decimals first, so that noise breaks no tie.
    """
    first, second = np.round(enlarged(scores), 10).T
    gaps = np.round(first - second, 10)
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    spread = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    ordered = np.sort(second)
    below, upto = (np.searchsorted(ordered, first, side=side) for side in ("left", "right"))
    return Effect(
        d_z=float(gaps.mean()) / spread if spread > 0 else None,
        superiority=(wins + (len(gaps) - wins - losses) / 2) / len(gaps),
        cliff=float((below + upto).sum() / (len(gaps) * len(gaps)) - 1),
        wins=wins,
        ties=len(gaps) - wins - losses,
        losses=losses,
    )


def method_of(test: PairedTest, units: int, of: str, resamples: int, seed: int) -> str:
    if test == "permutation" and not has_flips(units, by_document=of == "documents"):
        return f"95 % interval and two-sided p: {METHOD} over {of}"
    flips = f", {'all' if is_exact(units) else f'{resamples:,}'} sign flips" if test == "permutation" else ""
    if test == "bootstrap":
        flips = f", {resamples:,} resamples"
    if test != "wilcoxon":
        flips += ", at least the p of the interval"
    return f"95 % interval: {METHOD} over {of}; two-sided p by {PAIRED_TITLES[test]}{flips}; seed {seed}"


class Part(NamedTuple):
    """Some of the segments: name, kind of that name, and which rows they are."""

    name: str
    kind: str
    rows: NDArray[np.bool_]


LEAST: Final = 10
"""Segments of a stratum; of fewer, no difference is said."""

_ALPHA: Final = 0.05


@frozen
class Side:
    """One of the two that are compared."""

    name: str  # of the system, or of the run where it has several systems or both have the same one
    signature: Signature
    n: int  # translations judged
    failed: int  # judgements asked for and not obtained
    untranslated: int = 0  # segments that it did not translate

    @property
    def counted(self) -> str:
        holes = f"{self.untranslated:,} not translated, " if self.untranslated else ""
        return f"{self.name}: {self.n:,} judged, {holes}{self.failed:,} failed"


@frozen
class Stratum:
    """The difference on some of the segments."""

    name: str  # `all`, a language pair or a domain
    kind: str
    n: int  # segments that both were judged on
    difference: Difference  # first less second
    p_holm: float | None = None  # p corrected for the number of strata, where that was asked for


@frozen
class Comparison(Framed):
    """Two systems on the segments that both were judged on."""

    first: Side
    second: Side
    whole: Stratum  # the difference on all common segments
    # the difference for each language pair, and for each domain, where there are several
    strata: tuple[Stratum, ...] = ()
    method: str = ""  # how interval and p came about
    notes: tuple[str, ...] = ()  # what a reader must know: segments left out, failures, few units

    def groups(self) -> dict[str, tuple[Stratum, ...]]:
        """All segments, then each language pair and each domain."""
        return {"": (self.whole, *self.strata)}

    def columns(self) -> list[Column]:
        corrected = any(row.p_holm is not None for row in (self.whole, *self.strata))
        effect = "difference.effect"
        return [
            Column("kind", "what the name is", title=""),
            Column("name", "all, a language pair or a domain", title="segments"),
            Column(
                "first", "mean of the first system", "score", of="difference.first", title=self.first.name
            ),
            Column(
                "second", "mean of the second system", "score", of="difference.second", title=self.second.name
            ),
            Column("difference", "first less second", "score", of="difference.value"),
            replace(INTERVAL, of="difference.interval"),
            Column("p", "p-value of no difference, two-sided", "p", of="difference.p"),
            Column(
                "p_holm",
                "p corrected by Holm for the number of rows",
                "p",
                title="p (Holm)" if corrected else "",
            ),
            Column(
                "d_z", "mean over standard deviation of differences", "decimal", of=f"{effect}.d_z", digits=2
            ),
            Column(
                "superiority",
                "share of units in which the first is better, ties counting half",
                "percent",
                of=f"{effect}.superiority",
                title="better in",
            ),
            Column("cliff", "Cliff's delta", "decimal", of=f"{effect}.cliff", title="delta", digits=2),
            Column("wins", "units where the first is better", "count", of=f"{effect}.wins", title=""),
            Column("ties", "units where none is", "count", of=f"{effect}.ties", title=""),
            Column("losses", "units where the second is better", "count", of=f"{effect}.losses", title=""),
            Column("n", "segments that both were judged on", "count"),
        ]


@settings
class CompareSettings(OneAnnotator):
    """How to compare."""

    systems: Annotated[
        Names | None, Option(help="Two systems to compare: of one run, or one of each run.")
    ] = None
    test: Annotated[
        PairedTest, Option(help="Test of means (permutation, bootstrap) or of ranks (wilcoxon).")
    ] = "permutation"
    by_document: ByDocument = None
    holm: Annotated[bool, Option(help="Correct the p-values of language pairs and domains too (Holm).")] = (
        False
    )
    resamples: Resamples = 1000
    seed: Seed = 0


def compare_scores(
    first: Scores,
    second: Scores,
    systems: Sequence[str] | None = None,
    *,
    settings: CompareSettings | None = None,
    domains: Mapping[Place, str] | None = None,
) -> Comparison:
    """Compare two systems on the segments that both were judged on.

    Without `systems`, each side is expected to have one. Where they have several, those that both have are
    compared, and a segment's score is the mean over those of its systems that were judged in both, since
    translations of one segment are not independent of each other.
    """
    settings = settings or CompareSettings()
    pairs = pairs_of(first, second, systems)
    places, matrix, asked = side_by_side(first, second, pairs)
    if settings.by_document is None:
        settings = replace(settings, by_document=are_documents_known(matrix))
    parts, small = parts_of(places, domains or {})
    strata = [_stratum(p.name, p.kind, matrix.select(p.rows, (0, 1)), settings) for p in parts]
    if settings.holm:
        corrected = holm(np.array([stratum.difference.p for stratum in strata])).tolist()
        strata = [replace(s, p_holm=p) for s, p in zip(strata, corrected, strict=True)]
    whole = _stratum("all", "all", matrix, settings)
    names = pairs[0] if len(pairs) == 1 else ("first", "second")
    sides = [
        side_of(name, scores, {pair[index] for pair in pairs})
        for index, (name, scores) in enumerate(zip(names, (first, second), strict=True))
    ]
    units = whole.difference.units
    of = "documents" if settings.by_document else "segments"
    if strata and not settings.holm:
        told = f"The {len(strata)} p-values below the first are not corrected for their number; --holm does."
        small.append(told)
    return Comparison(
        first=sides[0],
        second=sides[1],
        whole=whole,
        strata=tuple(strata),
        method=method_of(settings.test, units, of, settings.resamples, settings.seed),
        notes=(
            *notes_of(first, second, pairs),
            *_coverage_notes(asked - len(places), asked, len(pairs)),
            *unit_notes(whole.n, units, whole.difference.effective, by_document=bool(settings.by_document)),
            *_power_notes(whole.difference, settings),
            *small,
        ),
    )


def pairs_of(first: Scores, second: Scores, systems: Sequence[str] | None) -> list[tuple[str, str]]:
    here, there = (list(dict.fromkeys(s.system for s in scores.segments)) for scores in (first, second))
    if systems is not None:
        if len(systems) != 2:
            raise UsageError(f"two systems are compared, got {len(systems)}: {', '.join(systems) or 'none'}")
        for name, known in zip(systems, (here, there), strict=True):
            if name not in known:
                raise UsageError(f"there is no system {name!r}; there are {', '.join(known)}")
        if first is second and systems[0] == systems[1]:
            raise UsageError(f"{systems[0]!r} would be compared with itself")
        return [(systems[0], systems[1])]
    if len(here) == len(there) == 1:
        return [(here[0], there[0])]
    common = [name for name in here if name in there]
    if not common:
        raise UsageError(
            f"no system is in both: the first has {', '.join(here)}, the second {', '.join(there)}; "
            "name one of each with --systems A,B"
        )
    return [(name, name) for name in common]


def side_by_side(
    first: Scores, second: Scores, pairs: Sequence[tuple[str, str]]
) -> tuple[list[Place], ScoreMatrix, int]:
    """Segments judged in both, their scores in two columns, and how many segments there are in all."""
    systems = [f"0{name}" for name, _ in pairs], [f"1{name}" for _, name in pairs]
    marked = [
        replace(s, system=f"{side}{s.system}")
        for side, scores in enumerate((first, second))
        for s in scores.segments
        if f"{side}{s.system}" in systems[side]
    ]
    matrix = score_matrix(marked)
    place = list(dict.fromkeys((s.lp, s.segment) for s in marked))
    columns = [[matrix.systems.index(name) for name in names] for names in systems]
    scores, weights = (np.stack([array[:, c] for c in columns]) for array in (matrix.scores, matrix.weights))
    known = ~np.isnan(scores).any(axis=0)
    sizes = np.where(known, weights, 0.0).sum(axis=2)
    rows = sizes.all(axis=0)
    if not rows.any():
        holes = len({(s.lp, s.segment) for s in marked if s.is_untranslated})
        hint = f"{count(holes, 'segment')} {form(holes, 'is', 'are')} not translated on one side"
        raise DataError(
            f"no segment is judged in both: {hint if holes else 'do the two judge the same test set?'}"
        )
    sums = np.where(known, weights * np.nan_to_num(scores), 0.0).sum(axis=2)
    return (
        [name for name, kept in zip(place, rows.tolist(), strict=True) if kept],
        ScoreMatrix(
            systems=("first", "second"),
            documents=tuple(d for d, kept in zip(matrix.documents, rows.tolist(), strict=True) if kept),
            scores=(sums[:, rows] / sizes[:, rows]).T,
            weights=sizes[:, rows].T,
        ),
        len(place),
    )


def _stratum(name: str, kind: str, matrix: ScoreMatrix, settings: CompareSettings) -> Stratum:
    segments = matrix.totals(by_document=False)
    documents = matrix.totals(by_document=True) if settings.by_document else None
    found = difference(
        *((segments,) if documents is None else (documents, segments)),
        test=settings.test,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return Stratum(name=name, kind=kind, n=len(matrix.scores), difference=found)


def parts_of(places: Sequence[Place], domains: Mapping[Place, str]) -> tuple[list[Part], list[str]]:
    """Language pairs and domains, where there are several of a kind; and what is said of too small ones."""
    found, small = [], []
    for part in every_part(places, domains):
        if part.rows.sum() >= LEAST:
            found.append(part)
        else:
            small.append(f"{part.name} is not compared alone: it has fewer than {LEAST} common segments.")
    return found, small


def every_part(places: Sequence[Place], domains: Mapping[Place, str]) -> Iterator[Part]:
    """Language pairs and domains, where there are several of a kind, however small."""
    kinds = {"lp": [lp for lp, _ in places], "domain": [domains.get(place, "") for place in places]}
    for kind, labels in kinds.items():
        names = [name for name in dict.fromkeys(labels) if name]
        for name in names if len(names) > 1 else []:
            yield Part(name, kind, np.array([label == name for label in labels]))


def side_of(name: str, scores: Scores, systems: set[str]) -> Side:
    """What is said of one side: how many of its translations were judged, and how many could not be."""
    parts = scores.lps.values() or [scores]
    rows = [system for part in parts for system in part.systems if system.system in systems]
    return Side(
        name=name,
        signature=scores.signature_of("mean"),
        n=sum(s.score is not None for s in scores.segments if s.system in systems),
        failed=sum(row.failed for row in rows),
        untranslated=sum(s.is_untranslated for s in scores.segments if s.system in systems),
    )


# Notes


def notes_of(first: Scores, second: Scores, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What the scores say of themselves and of these systems, and whether they can be compared."""
    systems = {name for pair in pairs for name in pair}
    for scores in (first,) if first is second else (first, second):
        yield from untranslated_note(s for s in scores.segments if s.system in systems)
    parts = [part for each in (first, second) for part in (each, *each.lps.values())]
    every = {n for part in parts for tell in (coverage_note, untranslated_note) for n in tell(part.segments)}
    for note in dict.fromkeys((*first.notes, *second.notes)):
        if not any(note.endswith(each) for each in every):  # coverage and holes are of all systems
            yield note
    one, other = (scores.signature_of("mean") for scores in (first, second))
    if not one.is_comparable_with(other):
        yield (
            "The signatures differ: the difference may be that of the judges or settings and not of the "
            f"systems ({one}; {other})."
        )
    if first.is_corpus or second.is_corpus:
        yield "These are means of segment scores; corpus scores (`adjudge score`) cannot be resampled."


def _coverage_notes(dropped: int, asked: int, systems: int) -> Iterator[str]:
    if systems > 1:
        yield f"Each segment's score is the mean over the {systems} systems that both have."
    if dropped:
        which = of_all(dropped, asked, "segment")
        yield f"{which} {form(dropped, 'is', 'are')} not judged in both, and left out."


def are_documents_known(matrix: ScoreMatrix) -> bool:
    """Whether segments name two documents or more: then documents, and not segments, are drawn."""
    return len({key for key in matrix.documents if key[1]}) > 1


def unit_notes(n: int, units: int, effective: float, *, by_document: bool) -> Iterator[str]:
    """Say what varies independently, and how much it is worth."""
    if by_document:
        yield (
            f"Documents are the unit: {n:,} segments of {units:,} documents are worth about {effective:,.0f} "
            "independent segments. --by-segment takes segments as independent."
        )


def _power_notes(found: Difference, settings: CompareSettings) -> Iterator[str]:
    units = found.units
    yield from lone_unit_note(units, "documents" if settings.by_document else "segments")
    if found.interval is not None and found.interval.low == found.interval.high:
        yield "All differences are equal: the interval has no width and says nothing of other segments."
    yield from few_documents_note(units, by_document=bool(settings.by_document))

    def least(n: int) -> float:
        return smallest_p_value(n - 1, settings.resamples) if is_exact(n) else 1 / (settings.resamples + 1)

    of = "documents" if settings.by_document else "segments"
    is_flipped = settings.test == "permutation" and has_flips(units, by_document=bool(settings.by_document))
    if is_flipped and (few := too_few(units, of, least, _ALPHA)):
        yield f"{few}. p cannot be below {least(units):g}."


@takes(CompareSettings)
def compare(first: Source, second: Source | None, settings: CompareSettings) -> Comparison:
    """Compare two runs, or two systems of one, on the segments that both were judged on.

    Args:
        first: scores, a run, records, or the path of whatever holds judgements; the path of a test set with
            gold or metric.
        second: the same; None for two systems of the first.
        settings: how to compare.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, none in common, one run given twice, or a setting out of its range.
    """
    if second is None and settings.systems is None:
        raise UsageError("two systems of one run are compared by name: systems=(A, B); or give a second run")
    if second is not None and settings.is_of_test_set:
        raise UsageError("gold or metric is of one test set: give its path and two systems")
    if settings.systems is None:
        refuse_twice([first, second])
    notes: list[str] = []
    if second is None or is_same_source(first, second):
        one = other = scored(first, settings)
    else:
        sides, notes = together([first, second], settings, "sources")
        one, other = (scored(side, replace(settings, documents=None)) for side in sides)
    domains = {**other.domains, **one.domains}
    found = compare_scores(one.scores, other.scores, settings.systems, settings=settings, domains=domains)
    return replace(found, notes=(*found.notes, *notes))
