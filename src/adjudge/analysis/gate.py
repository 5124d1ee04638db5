"""`gate`: may the candidate replace the baseline? Ship, do not ship, or not enough data.

`non_inferiority` tests whether the candidate is worse by more than a margin, `critical_p_value` whether it
has critical errors in more segments than it may. `gate_scores` decides by both, on scores; `gate` reads
files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BeforeValidator

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.compare import (
    LEAST,
    Side,
    are_documents_known,
    effective_size,
    notes_of,
    pairs_of,
    parts_of,
    side_by_side,
    side_of,
    unit_notes,
)
from adjudge.analysis.power import MOST_UNITS, least_enough
from adjudge.analysis.score import (
    Place,
    Source,
    domains_of,
    is_critical,
    score_judgements,
    scored,
    texts_of,
    with_cards,
)
from adjudge.analysis.segment_scores import ScoreMatrix
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, Record, without_repeats
from adjudge.core.scores import Card, CardVerdict, Interval, Scores
from adjudge.core.verb import Alpha, ByDocument, Names, OneAnnotator, Option, settings, takes
from adjudge.core.wording import count, form, of_all, unfit_first
from adjudge.errors import DataError, UsageError
from adjudge.formats.join import put_together
from adjudge.formats.read import Judgements, is_same_source, read_judgements
from adjudge.stats.bounds import ENOUGH_UNITS, Totals, Unseen, cautious_bounds
from adjudge.stats.paired import holm, sign_flip_p_values

_NUISANCE = 0.005  # what `critical_p_value` spends on how many segments differ


@frozen
class NonInferiority:
    """What the data say of a candidate against a baseline."""

    candidate: float  # mean score
    baseline: float  # mean score
    difference: float  # candidate less baseline; above 0 the candidate is better
    low: float  # lower bound of the difference: one-sided, at level 1 - alpha
    high: float  # upper bound, likewise; both together hold 1 - 2 alpha
    p_as_good: float  # p-value behind "not worse by more than the margin"; small is good
    p_worse: float  # p-value behind "worse by more than the margin"; small is bad
    error: float  # standard error of the difference; infinite for one unit
    units: int  # segments, or documents, that vary independently
    effective: float  # independent segments that are worth as much as these
    # points that one more unit at the end of the scale would cost all segments together; 0 where no such unit
    # is reckoned with
    reach: float


def non_inferiority(
    totals: Totals,
    margin: float,
    *,
    alpha: float = 0.05,
    segments: Totals | None = None,  # the same by segment; None where `totals` is that
    scale: tuple[float, float] | None = None,
) -> NonInferiority:
    """Test a candidate against a baseline, both judged in every unit; one unit alone shows nothing.

    Two one-sided tests, of "the difference is above -margin" (Schuirmann 1987, one half of it) and of the
    opposite, by `cautious_bounds`. With a scale, one more unit at its end is counted. By segment it
    weighs as a segment; by document as many segments as the design effect says go wrong together, from one to
    the mean length of a document. Where the units do not differ at all, only the scale says what another one
    may bring; without it both p are 1.

    `scale`: lowest and highest score; None where it has no ends, or they are not to count.
    """
    alone = totals if segments is None else segments
    n, units = len(alone.sums), len(totals.sums)
    candidate, baseline = (totals.sums.sum(axis=0) / totals.sizes.sum(axis=0)).tolist()
    effective = effective_size(alone, totals)
    together = min(max(n / effective, 1.0), n / units)  # segments that go wrong together
    unseen = None
    if scale is not None:
        unseen = Unseen(low=scale[0], high=scale[1], size=together * float(alone.sizes.mean()))
    found = cautious_bounds(totals, unseen)
    return NonInferiority(
        candidate=candidate,
        baseline=baseline,
        difference=candidate - baseline,
        low=found.low(alpha),
        high=found.high(alpha),
        p_as_good=found.p_above(-margin),
        p_worse=found.p_below(-margin),
        error=found.error,
        units=units,
        effective=effective,
        reach=0.0 if scale is None else together * (scale[1] - scale[0]),
    )


def more_segments(
    found: NonInferiority, n: int, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Segments still needed to decide, if the difference at hand is the true one; None where out of reach.

    The least N with |d + margin| - reach / N >= (z(1 - alpha) + z(power)) sqrt(n se^2 / N + (reach / N)^2),
    normal law, whichever way the decision will fall.
    """
    from scipy.special import ndtri  # scipy.stats takes seconds to import

    distance, spread = abs(found.difference + margin), n * found.error**2
    if not distance or math.isinf(found.error) or not (spread or found.reach):
        return None
    steps = float(ndtri(1 - alpha) + ndtri(power))

    def is_enough(segments: int) -> bool:
        reach = found.reach / segments
        return distance - reach >= steps * math.sqrt(spread / segments + reach * reach)

    needed = least_enough(is_enough, exact=True)
    return None if needed is None or needed > MOST_UNITS else max(needed - n, 1)


def critical_p_value(
    new: np.ndarray[tuple[int], np.dtype[np.bool_]],
    gone: np.ndarray[tuple[int], np.dtype[np.bool_]],
    allowed: int = 0,
    documents: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None,
) -> float:
    """One-sided p-value behind "the candidate has critical errors in more segments than it may".

    McNemar's exact test: of the segments in which one side alone has critical errors, k in all, the
    candidate's are binomial with chance 1/2 where both are alike (McNemar 1947; `statsmodels`
    `mcnemar(exact=True)`, one-sided). With `allowed` segments more, the chance is (1 + allowed / K) / 2, K
    being the expected k; its lower bound at 0.005 (Clopper and Pearson) takes its place, and 0.005 is added
    (Berger and Boos 1994). With documents, the larger of that and of the test that flips whole documents
    (`paired.sign_flip_p_values`). No such segment: 1.

    `documents`: number of the document of each segment; None where segments are independent.
    """
    from scipy.special import bdtrc, betaincinv

    n, more, fewer = len(new), int(new.sum()), int(gone.sum())
    differing = more + fewer
    if more - fewer <= allowed:
        return 1.0
    chance, spent = 0.5, 0.0
    if allowed:
        expected = n * float(betaincinv(differing, n - differing + 1, _NUISANCE))
        chance, spent = (1 + allowed / max(expected, allowed)) / 2, _NUISANCE
    p = min(1.0, float(bdtrc(more - 1, differing, chance)) + spent)
    if documents is None:
        return p
    gaps = np.bincount(documents, new.astype(np.float64) - gone - allowed / n).astype(np.float64)
    return max(p, float(sign_flip_p_values(gaps[:, None], alternative="greater")[0]))


Verdict = Literal["ship", "do-not-ship", "not-enough-data"]

Reckoning = Literal["scale", "seen"]
_SHOWN: Final = 5  # segments that are named


def _read_scale(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        low, high = map(float, value.split(","))
    except ValueError:
        raise UsageError(
            f"--range takes the lowest and the highest score, as LOW,HIGH; got {value!r}"
        ) from None
    return low, high


@settings
class GateSettings(OneAnnotator):
    """What is asked of a candidate."""

    margin: Annotated[
        float,
        Ge(0),
        Lt(math.inf),
        Option(help="Largest acceptable drop of the mean, in units of the scores."),
    ]
    alpha: Annotated[float, Gt(0), Lt(0.5), Option(help="Largest chance of each wrong verdict.")] = 0.05
    systems: Annotated[
        Names | None, Option(help="System of the baseline and system of the candidate: A,B.")
    ] = None
    domain_margin: Annotated[
        Annotated[float, Ge(0), Lt(math.inf)] | None,
        Option(help="Margin in each language pair and domain; default: --margin."),
    ] = None
    more_critical: Annotated[
        int,
        Ge(0),
        Option(help="Allow N more segments with critical errors than the baseline has.", metavar="N"),
    ] = 0
    more_untranslated: Annotated[
        int,
        Ge(0),
        Option(help="Allow N more segments without a translation than the baseline has.", metavar="N"),
    ] = 0
    critical_alpha: Annotated[
        Alpha | None, Option(help="Alpha of the test of critical errors; default: --alpha.")
    ] = None
    max_failed: Annotated[
        float, Ge(0), Le(1), Option(help="Largest share of segments without a score on one side.")
    ] = 0.01
    power: Annotated[Alpha, Option(help="Power that the number of further segments is computed for.")] = 0.8
    any_signature: Annotated[bool, Option(help="Allow scores of different judges or settings.")] = False
    by_document: ByDocument = None
    unseen: Annotated[
        Reckoning,
        Option(help="Assume that unseen segments are at worst as the scale allows, or as seen ones."),
    ] = "scale"
    scale: Annotated[
        tuple[float, float] | None,
        BeforeValidator(_read_scale),
        Option(
            help="Lowest and highest possible score, if the scores state none.",
            name="range",
            metavar="LOW,HIGH",
            kind=str,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is not None and not -math.inf < self.scale[0] < self.scale[1] < math.inf:
            low, high = self.scale
            raise UsageError(f"a range goes from a number to a larger one, got {low:g} to {high:g}")

    @property
    def veto_alpha(self) -> float:
        return self.alpha if self.critical_alpha is None else self.critical_alpha

    @property
    def part_margin(self) -> float:
        return self.margin if self.domain_margin is None else self.domain_margin


@frozen
class GateRow:
    """What all segments, those of a language pair, or those of a domain say."""

    name: str  # `all`, a language pair or a domain
    kind: str
    n: int  # segments judged on both sides
    margin: float  # that holds here
    found: NonInferiority  # difference, bounds and both tests
    verdict: Verdict  # of these segments alone
    more: int | None  # segments that would most likely decide it; None where it is decided or out of reach


@frozen
class Critical:
    """Segments with critical errors."""

    baseline: int  # how many of its translations have one
    candidate: int
    allowed: int
    new: tuple[str, ...]  # segments in which the candidate alone has one, as LP/SEGMENT
    gone: int  # how many the baseline alone has
    p: float  # p-value behind "more than allowed", of McNemar's exact test; see `critical_p_value`
    alpha: float

    @property
    def is_vetoed(self) -> bool:
        """Whether it is shown that there are too many."""
        return self.p <= self.alpha


@frozen
class Gate(Framed):
    """The answer, and what it rests on."""

    verdict: Verdict
    reasons: tuple[str, ...]  # why, the weightiest first
    # all segments, then language pairs and domains where there are several; none where nothing is judged on
    # both sides, because the candidate's translations are missing
    rows: tuple[GateRow, ...]
    critical: Critical | None  # errors that veto; None where nobody could have marked one
    cards: Mapping[str, Card]  # scorecards of the candidate's systems, where the weights say what passes
    candidate: Side  # the system that would replace the other
    baseline: Side  # the system that is to be replaced
    missing: int  # segments that are translated on both sides and lack a score on one
    asked: int  # segments that are translated on both sides
    settings: GateSettings  # what was asked; `by_document` and `scale` are what was taken
    method: str = ""  # how the bounds came about, in one line
    notes: tuple[str, ...] = ()  # what a reader must know
    left_out: str = ""  # why the candidate's missing translations are too many; empty where they are not

    def groups(self) -> dict[str, tuple[GateRow, ...]]:
        """All segments, then each language pair and each domain."""
        return {"": self.rows}

    def columns(self) -> list[Column]:
        return [
            Column("kind", "what the name is", title=""),
            Column("name", "all, a language pair or a domain", title="segments"),
            Column("candidate", "its mean", "score", of="found.candidate", title=self.candidate.name),
            Column("baseline", "its mean", "score", of="found.baseline", title=self.baseline.name),
            Column("difference", "candidate less baseline", "score", of="found.difference"),
            Column(
                "interval",
                "of the difference, two one-sided bounds",
                "interval",
                of=lambda row: Interval(row.found.low, row.found.high),
                title=f"{100 * (1 - 2 * self.settings.alpha):g} % interval",
                ends=("low", "high"),
            ),
            Column("margin", "how much lower it may be", "score", words=lambda margin: f"{margin:g}"),
            Column(
                "p_as_good",
                "p-value that shows it lower by less than the margin",
                "p",
                of="found.p_as_good",
                title="p as good",
            ),
            Column(
                "p_worse", "p-value that shows it lower by more", "p", of="found.p_worse", title="p worse"
            ),
            Column("n", "segments judged on both sides", "count"),
            Column("verdict", "of these segments alone", words=verdict_words, title="by the test"),
            Column("more", "further segments that would most likely tell", "count"),
        ]


def gate_scores(
    candidate: Scores,
    baseline: Scores,
    records: tuple[Iterable[Record], Iterable[Record]] | None,
    systems: Sequence[str] | None = None,
    *,
    settings: GateSettings,
    domains: Mapping[Place, str] | None = None,
) -> Gate:
    """Decide on the segments that both are judged on.

    Ship: on all segments, and in every language pair and domain of ten segments or more, it is shown that the
    candidate is not worse by the margin; each at alpha, for all must hold. Do not ship: it is shown that the
    candidate has critical errors in more segments than it may, at an alpha of its own, or it leaves more
    segments untranslated than it may, or it is shown
    somewhere that it is worse by more than the margin; the tests of all segments, language pairs and domains
    are corrected for their number (Holm). Else, or of fewer than ten segments, or where too many judgements
    are missing, there is not enough data.

    `records`: of both, in which critical errors are counted; None where there are scores alone.
    """
    new, old = (scores.signature_of("mean") for scores in (candidate, baseline))
    if not settings.any_signature and not new.is_comparable_with(old):
        raise UsageError(
            "candidate and baseline were not judged alike, so that their difference may be the judges': "
            f"{new}; {old}. Judge both alike, or say --any-signature"
        )
    pairs = pairs_of(candidate, baseline, systems)
    named = {pair[0] for pair in pairs}
    whole = [("", candidate)] if candidate.systems else [(f", {lp}", s) for lp, s in candidate.lps.items()]
    cards = {
        f"{s.system}{place}": s.card
        for place, scores in whole
        for s in scores.systems
        if s.card is not None and s.system in named
    }
    names = pairs[0] if len(pairs) == 1 else ("candidate", "baseline")
    sides = [
        side_of(name, scores, {pair[index] for pair in pairs})
        for index, (name, scores) in enumerate(zip(names, (candidate, baseline), strict=True))
    ]
    left_out, allowed = "", sides[1].untranslated + settings.more_untranslated
    if sides[0].untranslated > allowed:
        left_out = (
            f"Segments that are not translated: candidate {sides[0].untranslated:,}, baseline "
            f"{sides[1].untranslated:,}, allowed {allowed:,} (--more-untranslated)."
        )
    against = [left_out] if left_out else []
    marked = [
        s
        for index, scores in enumerate((candidate, baseline))
        for s in scores.segments
        if s.system in {pair[index] for pair in pairs}
    ]
    translated = {(s.lp, s.segment) for s in marked}.difference(
        (s.lp, s.segment) for s in marked if s.is_untranslated
    )
    try:
        places, matrix, _ = side_by_side(candidate, baseline, pairs)
    except DataError:
        if not against:
            raise
        return Gate(
            verdict="do-not-ship",
            reasons=(*against, *_cards_that(cards, "fail")),
            rows=(),
            critical=None,
            cards=cards,
            candidate=sides[0],
            baseline=sides[1],
            missing=len(translated),
            asked=len(translated),
            settings=settings,
            left_out=left_out,
            notes=tuple(notes_of(candidate, baseline, pairs)),
        )
    ranges = (candidate.range, baseline.range)
    by_document = are_documents_known(matrix) if settings.by_document is None else settings.by_document
    scale = settings.scale or (min(low for low, _ in ranges), max(high for _, high in ranges))
    found = matrix.scores[~np.isnan(matrix.scores)]
    if settings.scale is not None and (found.min() < scale[0] or found.max() > scale[1]):
        raise UsageError(
            f"scores lie from {found.min():g} to {found.max():g}, outside of the range {scale[0]:g} to "
            f"{scale[1]:g}"
        )
    settings = (
        replace(settings, by_document=by_document, scale=None)
        if settings.unseen == "seen" or math.isinf(scale[0]) or math.isinf(scale[1])
        else replace(settings, by_document=by_document, scale=scale)
    )
    rows, small = _rows(places, matrix, domains or {}, settings)
    if not any((domains or {}).get(place) for place in places):
        small.append("No domains are known, and none is tested: give the test set that says them.")
    critical, unmarked = _critical(records, pairs, places, matrix, settings)
    asked = len(translated)
    missing = len(translated.difference(places))
    against += [*_vetoes(critical), *_cards_that(cards, "fail"), *_of(rows, "do-not-ship")]
    verdict, reasons = _verdict(rows, against, cards, missing, asked, settings)
    return Gate(
        verdict=verdict,
        reasons=tuple(reasons),
        rows=tuple(rows),
        critical=critical,
        cards=cards,
        candidate=sides[0],
        baseline=sides[1],
        missing=missing,
        asked=asked,
        settings=settings,
        left_out=left_out,
        method=_method(rows[0], settings),
        notes=(
            *notes_of(candidate, baseline, pairs),
            *unit_notes(
                rows[0].n,
                rows[0].found.units,
                rows[0].found.effective,
                by_document=bool(settings.by_document),
            ),
            *_scale_notes(settings),
            *small,
            *unmarked,
        ),
    )


def _method(row: GateRow, settings: GateSettings) -> str:
    parts = ["student-t", "hall"]
    if row.found.units < ENOUGH_UNITS:
        parts.append("worst-seen")
    if settings.scale is not None:
        parts.append(f"scale({settings.scale[0]:g},{settings.scale[1]:g})")
    unit = "document" if settings.by_document else "segment"
    return f"unit:{unit}|bounds:{'+'.join(parts)}|alpha:{settings.alpha:g}|resamples:1999|seed:0"


def _scale_notes(settings: GateSettings) -> Iterator[str]:
    if settings.scale is not None:
        low, high = settings.scale
        yield (
            f"The bounds count one more segment at the end of the scale ({low:g} to {high:g}), so that they "
            "hold for rare errors that no segment shows. --unseen seen leaves that out."
        )
    elif settings.unseen == "scale":
        yield (
            "The scores state no lowest and highest value, so that the bounds do not count rare errors that "
            "no segment shows. --range LOW,HIGH states them."
        )


def _rows(
    places: Sequence[Place], matrix: ScoreMatrix, domains: Mapping[Place, str], settings: GateSettings
) -> tuple[list[GateRow], list[str]]:
    parts, small = parts_of(places, domains)
    if settings.by_document:
        lone = [
            part for part in parts if len({matrix.documents[row] for row in np.flatnonzero(part.rows)}) < 2
        ]
        parts = [part for part in parts if part not in lone]
        small += [f"{part.name} is not compared alone: it has one document." for part in lone]
    found = [_row("all", "all", matrix, settings, settings.margin)]
    for part in parts:
        rows = matrix.select(part.rows, (0, 1))
        found.append(_row(part.name, part.kind, rows, settings, settings.part_margin))
    p_worse = holm(np.array([row.found.p_worse for row in found])).tolist()
    rows_found = [_decided(row, p, settings) for row, p in zip(found, p_worse, strict=True)]
    return rows_found, [note.replace("compared", "tested") for note in small]


def _row(name: str, kind: str, matrix: ScoreMatrix, settings: GateSettings, margin: float) -> GateRow:
    segments = matrix.totals(by_document=False)
    totals = matrix.totals(by_document=True) if settings.by_document else segments
    if settings.by_document and len(totals.sums) < 2:
        raise UsageError(
            f"{name}: a verdict over documents needs two documents or more, and there is one: judge more "
            "documents"
        )
    found = non_inferiority(totals, margin, alpha=settings.alpha, segments=segments, scale=settings.scale)
    n = len(matrix.scores)
    return GateRow(
        name=name, kind=kind, n=n, margin=margin, found=found, verdict="not-enough-data", more=None
    )


def _decided(row: GateRow, p_worse: float, settings: GateSettings) -> GateRow:
    if row.n >= LEAST and row.found.p_as_good <= settings.alpha:
        return replace(row, verdict="ship")
    if row.n >= LEAST and p_worse <= settings.alpha:
        return replace(row, verdict="do-not-ship")
    more = more_segments(row.found, row.n, row.margin, alpha=settings.alpha, power=settings.power)
    return replace(row, more=more if row.n >= LEAST else max(LEAST - row.n, more or 0))


def _critical(
    records: tuple[Iterable[Record], Iterable[Record]] | None,
    pairs: Sequence[tuple[str, str]],
    places: Sequence[Place],
    matrix: ScoreMatrix,
    settings: GateSettings,
) -> tuple[Critical | None, list[str]]:
    """Segments with critical errors on both sides; None, and a note, where nobody could mark one."""
    if records is None:
        return None, ["The critical-error check is off: score files carry no error spans."]
    sides = []
    for index, side in enumerate(records):
        systems = {pair[index] for pair in pairs}
        judged = [r for r in side if isinstance(r, Annotation) and r.system in systems]
        if not any("critical" in find_protocol(r.protocol).severities for r in judged):
            of = ", ".join(sorted({r.protocol for r in judged})) or "preferences"
            return None, [f"The critical-error check is off: {of} does not mark critical errors."]
        sides.append({(r.lp, r.segment) for r in judged if is_critical(r)}.intersection(places))
    new, gone = sides[0] - sides[1], sides[1] - sides[0]
    p = critical_p_value(
        np.array([place in new for place in places]),
        np.array([place in gone for place in places]),
        settings.more_critical,
        matrix.document_numbers() if settings.by_document else None,
    )
    found = Critical(
        baseline=len(sides[1]),
        candidate=len(sides[0]),
        allowed=len(sides[1]) + settings.more_critical,
        new=tuple("/".join(place) for place in sorted(new)),
        gone=len(gone),
        p=p,
        alpha=settings.veto_alpha,
    )
    return found, []


def _verdict(
    rows: Sequence[GateRow],
    against: list[str],
    cards: Mapping[str, Card],
    missing: int,
    asked: int,
    settings: GateSettings,
) -> tuple[Verdict, list[str]]:
    if against:
        return "do-not-ship", against
    if missing > settings.max_failed * asked:
        lack = f"{of_all(missing, asked, 'segment')} {form(missing, 'lacks', 'lack')}"
        reason = f"{lack} a score on one side, more than {settings.max_failed:.0%}"
        return "not-enough-data", [f"{reason}: judge them, or allow more with --max-failed."]
    open_rows = [*_cards_that(cards, "open"), *_of(rows, "not-enough-data")]
    if open_rows:
        return "not-enough-data", open_rows
    kinds = {"lp": " and in each language pair", "domain": " and in each domain"}
    everywhere = "".join(told for kind, told in kinds.items() if any(row.kind == kind for row in rows))
    return "ship", [f"The candidate is shown not to be worse by the margin, on all segments{everywhere}."]


def _vetoes(critical: Critical | None) -> Iterator[str]:
    if critical is None or not critical.is_vetoed:
        return
    shown = ", ".join(critical.new[:_SHOWN]) + (", ..." if len(critical.new) > _SHOWN else "")
    yield (
        f"Segments with critical errors: candidate {critical.candidate}, baseline {critical.baseline}, "
        f"allowed {critical.allowed}, p {critical.p:.2g} by McNemar's exact test; new: {shown}."
    )


def _cards_that(cards: Mapping[str, Card], verdict: CardVerdict) -> Iterator[str]:
    for system, card in cards.items():
        if card.verdict == verdict:
            does = "fails" if verdict == "fail" else "is open"
            graves = f"critical errors in {count(card.critical, 'translation')}"
            lack = f"{count(card.unjudged, 'segment')} without a score"
            lack += f", {card.untranslated:,} of them not translated" if card.untranslated else ""
            found = f"{card.points:g} points in {count(card.words, 'word')}, {graves}, {lack}"
            yield f"The scorecard of {system} {does}: {found}."


def _of(rows: Sequence[GateRow], verdict: Verdict) -> Iterator[str]:
    for row in rows:
        if row.verdict == verdict:
            lower, least = -row.found.difference, -row.found.high
            seen = f"lower by {lower:.4g}, and by no less than {least:.4g}"
            worse = f"{_place(row)}: worse by more than the margin of {row.margin:g}: {seen}."
            yield worse if verdict == "do-not-ship" else _open(row)


def _open(row: GateRow) -> str:
    found = row.found
    if row.n < LEAST and row.more is not None:
        few = f"a verdict takes {LEAST} that are judged on both sides, got {row.n}"
        return f"{_place(row)}: {few}; {row.more:,} more would tell."
    if math.isinf(found.low):
        told = "all differences are equal" if not found.error else "one unit says nothing of others"
        return f"{_place(row)}: {told}, and the scores state no range (--range): no bound can be given."
    low, high = signed(found.low), signed(found.high)
    seen = f"{_place(row)}: a difference of {signed(found.difference)}, that may lie from {low} to {high}"
    if row.more is None:
        return f"{seen}: as close to the margin of {row.margin:g} as this, no number of segments would tell."
    allowed = (
        f"the margin allows down to {signed(-row.margin)}" if row.margin else "the margin allows none below 0"
    )
    return f"{seen}, where {allowed}; {row.more:,} more segments would tell."


def verdict_words(verdict: Verdict) -> str:
    return verdict.replace("-", " ")


def signed(value: float) -> str:
    """A difference with its sign, as tables write it."""
    return f"{value:+.4g}".replace("-", "−")


def _place(row: GateRow) -> str:
    return "All segments" if row.kind == "all" else row.name


@takes(GateSettings)
def gate(baseline: Source, candidate: Source | None, settings: GateSettings) -> Gate:
    """Say whether a candidate may replace the baseline; see `gate_scores`.

    Args:
        baseline: a run or records of what is in use, or their path; the path of a test set with gold or
            metric.
        candidate: the same of what would replace it; None for a system of the baseline's.
        settings: what is asked.

    Raises:
        DataError: nothing is judged in both, and not because the candidate's translations are missing.
        UsageError: no such system, one system as both, scores of different signatures, or a setting out of
            its range.
    """
    is_one = candidate is None or is_same_source(baseline, candidate)
    if settings.systems is None:
        if is_one:
            raise UsageError("baseline and candidate are one: name both systems with --systems OLD,NEW")
        systems = None
    else:
        if len(settings.systems) != 2:
            got = ",".join(settings.systems)
            raise UsageError(f"--systems takes the baseline's and the candidate's, as OLD,NEW; got {got!r}")
        if is_one and settings.systems[0] == settings.systems[1]:
            raise UsageError(
                f"--systems names {settings.systems[0]!r} twice: the candidate must be another system"
            )
        systems = settings.systems
    if settings.is_of_test_set:
        if not is_one:
            raise UsageError(
                "with --gold or --metric both systems are of one test set: name it as --baseline"
            )
        of_set = scored(baseline, settings)
        names = None if systems is None else (systems[1], systems[0])
        return gate_scores(
            of_set.scores, of_set.scores, None, names, settings=settings, domains=of_set.domains
        )
    sides = [baseline] if is_one else [candidate, baseline]
    both = [_read_side(each, settings) for each in sides]
    read, told = put_together(both, "sources", settings.mismatched, settings.lp)
    if all(each.is_unnamed for each in read):  # the name of a file is no setting of its metric
        settings = replace(settings, any_signature=True)
    unfit = unfit_first(sight_of(read))[0]
    if systems is not None:
        read = _of_systems(read, {*systems})
    scores = [
        with_cards(
            score_judgements(each, settings),
            each.run or each.records,
            texts_of(each, settings.test_set),
            lp=settings.lp,
        )
        for each in read
    ]
    domains: Mapping[Place, str] = {place: name for each in read for place, name in each.domains.items()}
    if settings.test_set is not None:
        domains = domains_of(settings.test_set, settings.lp)
    records = [without_repeats(each.records)[0] for each in read]
    found = gate_scores(
        scores[0],
        scores[-1],
        (records[0], records[-1]),
        None if systems is None else (systems[1], systems[0]),
        settings=settings,
        domains=domains,
    )
    found = replace(found, notes=(*found.notes, *told))
    if not unfit or found.left_out:
        return found
    # what such a judge says is no reason, for or against
    notes = tuple(dict.fromkeys((*unfit, *found.notes)))
    return replace(found, verdict="not-enough-data", reasons=tuple(unfit), notes=notes)


def _read_side(source: Source | None, settings: GateSettings) -> Judgements:
    if source is None or isinstance(source, Scores):
        raise UsageError(
            "a gate looks for critical errors: give runs, records or files, and not their scores"
        )
    return read_judgements(
        source, settings.lp, settings.test_set, needed=False, documents=settings.documents
    ).warn()


def _of_systems(read: Sequence[Judgements], names: set[str]) -> list[Judgements]:
    """Keep what was judged of two systems, so that notes tell of no other.

    Comparisons stay, for their points are of all that was compared. So does everything where one of the two
    is missing: what there is instead will be said.
    """
    if names - {name for each in read for record in each.records for name in record.systems}:
        return [*read]
    return [
        each.with_records(r for r in each.records if r.protocol == "pairwise" or names & {*r.systems})
        for each in read
    ]
