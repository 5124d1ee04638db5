"""May the candidate replace the baseline? Ship, do not ship, or not enough data. Pure; reads no files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import numpy as np

from adjudge.core.annotation import Annotation, Record
from adjudge.core.protocol import find_protocol
from adjudge.core.score import Scores
from adjudge.core.wording import form, of_all
from adjudge.errors import UsageError
from adjudge.meta.comparing.bounds import ENOUGH_UNITS, FEW_UNITS
from adjudge.meta.comparing.noninferiority import (
    NonInferiority,
    critical_p_value,
    more_segments,
    non_inferiority,
)
from adjudge.meta.comparing.two_systems import (
    LEAST,
    Place,
    Side,
    are_documents_known,
    notes_of,
    pairs_of,
    parts_of,
    side_by_side,
    side_of,
    unit_notes,
)
from adjudge.meta.matrix import ScoreMatrix
from adjudge.meta.significance.corrections import holm

__all__ = ["Critical", "Gate", "GateRow", "GateSettings", "Verdict", "gate_scores", "signed", "verdict_words"]

Verdict = Literal["ship", "do-not-ship", "not-enough-data"]

Reckoning = Literal["scale", "seen"]
_RECKONINGS: Final[tuple[Reckoning, ...]] = get_args(Reckoning)
_SHOWN: Final = 5  # segments that are named


@dataclass(frozen=True, kw_only=True)
class GateSettings:
    """What is asked of a candidate.

    Args:
        margin: so much lower a mean is still as good; in the units of the scores, 0 or more.
        domain_margin: the same for each language pair and domain; None for `margin`.
        alpha: chance, at most, to ship what is worse by the margin, and not to ship what is not.
        power: chance to decide that the number of further segments is for.
        by_document: documents vary as wholes; None for documents where they are known.
        unseen: how bad a segment may be that nobody saw: `scale`, as the scores' range allows, where it is
            known; `seen`, as the worst seen.
        scale: lowest and highest score; None for the range that the scores state.
        more_critical: in so many more segments than the baseline the candidate may have critical errors.
        critical_alpha: chance, at most, that critical errors veto a candidate that has no more of them; None
            for alpha.
        max_failed: share of segments that may lack a score on either side.
        any_signature: whether the two may have been judged by different judges or settings.

    Raises:
        UsageError: a setting out of its range.
    """

    margin: float
    domain_margin: float | None = None
    alpha: float = 0.05
    power: float = 0.8
    by_document: bool | None = None
    unseen: Reckoning = "scale"
    scale: tuple[float, float] | None = None
    more_critical: int = 0
    critical_alpha: float | None = None
    max_failed: float = 0.01
    any_signature: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name, margin in (("margin", self.margin), ("domain margin", self.part_margin)):
            if not 0 <= margin < math.inf:
                raise UsageError(f"a {name} is 0 or more, in the units of the scores; got {margin:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.power < 1):
            raise UsageError(
                f"alpha lies between 0 and 0.5, power between 0 and 1; got {self.alpha:g}, {self.power:g}"
            )
        if not 0 < self.veto_alpha < 1:
            raise UsageError(f"the alpha of critical errors lies between 0 and 1, got {self.veto_alpha:g}")
        if self.unseen not in _RECKONINGS:
            raise UsageError(f"unseen must be one of {', '.join(_RECKONINGS)}; got {self.unseen!r}")
        if self.scale is not None and not -math.inf < self.scale[0] < self.scale[1] < math.inf:
            low, high = self.scale
            raise UsageError(f"a range goes from a number to a larger one, got {low:g} to {high:g}")
        if self.more_critical < 0 or not 0 <= self.max_failed <= 1:
            raise UsageError(
                f"further critical errors are 0 or more, a share of failures lies in 0 to 1; "
                f"got {self.more_critical} and {self.max_failed:g}"
            )

    @property
    def veto_alpha(self) -> float:
        """Of the test of critical errors."""
        return self.alpha if self.critical_alpha is None else self.critical_alpha

    @property
    def part_margin(self) -> float:
        """Of a language pair or a domain."""
        return self.margin if self.domain_margin is None else self.domain_margin


@dataclass(frozen=True, kw_only=True)
class GateRow:
    """What all segments, those of a language pair, or those of a domain say.

    Args:
        name: `all`, a language pair or a domain.
        kind: what the name is.
        n: segments judged on both sides.
        margin: that holds here.
        found: difference, bounds and both tests.
        verdict: of these segments alone.
        more: segments that would most likely decide it; None where it is decided or out of reach.
    """

    name: str
    kind: str
    n: int
    margin: float
    found: NonInferiority
    verdict: Verdict
    more: int | None


@dataclass(frozen=True, kw_only=True)
class Critical:
    """Segments with critical errors.

    Args:
        baseline: how many of its translations have one.
        candidate: of its.
        allowed: for the candidate.
        new: segments in which the candidate alone has one, as LP/SEGMENT.
        gone: how many the baseline alone has.
        p: p-value behind "more than allowed", of McNemar's exact test; see `noninferiority.critical_p_value`.
        alpha: p from which on they veto.
    """

    baseline: int
    candidate: int
    allowed: int
    new: tuple[str, ...]
    gone: int
    p: float
    alpha: float

    @property
    def is_vetoed(self) -> bool:
        """Whether it is shown that there are too many."""
        return self.p <= self.alpha


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The answer, and what it rests on.

    Args:
        verdict: of all of it.
        reasons: why, the weightiest first.
        rows: all segments, then language pairs and domains where there are several.
        critical: errors that veto; None where nobody could have marked one.
        candidate: the system that would replace the other.
        baseline: the system that is to be replaced.
        missing: segments without a score on one side.
        asked: segments there are.
        settings: what was asked; `by_document` and `scale` are what was taken.
        method: how the bounds came about, in one line.
        notes: what a reader must know.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    rows: tuple[GateRow, ...]
    critical: Critical | None
    candidate: Side
    baseline: Side
    missing: int
    asked: int
    settings: GateSettings
    method: str = ""
    notes: tuple[str, ...] = ()


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
    candidate has critical errors in more segments than it may, at an alpha of its own, or it is shown
    somewhere that it is worse by more than the margin; the tests of all segments, language pairs and domains
    are corrected for their number (Holm). Else, or of fewer than ten segments, or where too many judgements
    are missing, there is not enough data.

    Args:
        candidate: scores that hold the candidate.
        baseline: scores that hold the baseline.
        records: of both, in which critical errors are counted; None where there are scores alone.
        systems: name of the candidate and of the baseline; as in `compare_scores`.
        settings: what is asked.
        domains: of segments.

    Raises:
        DataError: nothing is judged in both.
        UsageError: scores of different signatures, no such system, none in common, or one document alone.
    """
    if not settings.any_signature and not candidate.signature.is_comparable_with(baseline.signature):
        raise UsageError(
            "candidate and baseline were not judged alike, so that their difference may be the judges': "
            f"{candidate.signature}; {baseline.signature}. Judge both alike, or say --any-signature"
        )
    pairs = pairs_of(candidate, baseline, systems)
    places, matrix, asked = side_by_side(candidate, baseline, pairs)
    settings = _settled(settings, matrix, (candidate.range, baseline.range))
    rows, small = _rows(places, matrix, domains or {}, settings)
    critical, unmarked = _critical(records, pairs, places, matrix, settings)
    missing = asked - len(places)
    verdict, reasons = _verdict(rows, critical, missing, asked, settings)
    names = pairs[0] if len(pairs) == 1 else ("candidate", "baseline")
    sides = [
        side_of(name, scores, {pair[index] for pair in pairs})
        for index, (name, scores) in enumerate(zip(names, (candidate, baseline), strict=True))
    ]
    return Gate(
        verdict=verdict,
        reasons=tuple(reasons),
        rows=tuple(rows),
        critical=critical,
        candidate=sides[0],
        baseline=sides[1],
        missing=missing,
        asked=asked,
        settings=settings,
        method=_method(rows[0], settings),
        notes=(
            *notes_of(candidate, baseline),
            *unit_notes(
                rows[0].n,
                rows[0].found.units,
                rows[0].found.effective,
                by_document=bool(settings.by_document),
            ),
            *_scale_notes(settings),
            *small,
            *_domain_notes(places, domains or {}),
            *unmarked,
        ),
    )


def _settled(
    settings: GateSettings, matrix: ScoreMatrix, ranges: tuple[tuple[float, float], tuple[float, float]]
) -> GateSettings:
    """Settings with what the data decide: the unit, and the ends of the scale where they count."""
    by_document = are_documents_known(matrix) if settings.by_document is None else settings.by_document
    scale = settings.scale or (min(low for low, _ in ranges), max(high for _, high in ranges))
    found = matrix.scores[~np.isnan(matrix.scores)]
    if settings.scale is not None and (found.min() < scale[0] or found.max() > scale[1]):
        raise UsageError(
            f"scores lie from {found.min():g} to {found.max():g}, outside of the range {scale[0]:g} to "
            f"{scale[1]:g}"
        )
    if settings.unseen == "seen" or math.isinf(scale[0]) or math.isinf(scale[1]):
        return replace(settings, by_document=by_document, scale=None)
    return replace(settings, by_document=by_document, scale=scale)


def _method(row: GateRow, settings: GateSettings) -> str:
    parts = ["student-t"]
    if row.found.units >= FEW_UNITS:
        parts.append("bootstrap-t")
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


def _domain_notes(places: Sequence[Place], domains: Mapping[Place, str]) -> Iterator[str]:
    if not any(domains.get(place) for place in places):
        yield "No domains are known, and none is tested: give the test set that says them."


# The rows...


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
        raise UsageError(f"{name}: one document alone says nothing of how others would differ")
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


# Critical errors...


def _critical(
    records: tuple[Iterable[Record], Iterable[Record]] | None,
    pairs: Sequence[tuple[str, str]],
    places: Sequence[Place],
    matrix: ScoreMatrix,
    settings: GateSettings,
) -> tuple[Critical | None, list[str]]:
    """Segments with critical errors on both sides; None, and a note, where nobody could mark one."""
    if records is None:
        return None, ["Critical errors veto nothing here: scores alone do not tell of them."]
    sides = []
    for index, side in enumerate(records):
        systems = {pair[index] for pair in pairs}
        judged = [r for r in side if isinstance(r, Annotation) and r.system in systems]
        if not any("critical" in find_protocol(r.protocol).severities for r in judged):
            of = ", ".join(sorted({r.protocol for r in judged})) or "preferences"
            return None, [f"Critical errors veto nothing here: {of} does not mark them."]
        sides.append({(r.lp, r.segment) for r in judged if _is_critical(r)}.intersection(places))
    new, gone = sides[0] - sides[1], sides[1] - sides[0]
    documents = matrix.document_numbers() if settings.by_document else None
    p = critical_p_value(
        np.array([place in new for place in places]),
        np.array([place in gone for place in places]),
        settings.more_critical,
        documents,
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


def _is_critical(record: Annotation) -> bool:
    return any(s.severity == "critical" for s in record.spans) or record.counts.get("critical", 0) > 0


# The verdict...


def _verdict(
    rows: Sequence[GateRow], critical: Critical | None, missing: int, asked: int, settings: GateSettings
) -> tuple[Verdict, list[str]]:
    against = [*_vetoes(critical), *_of(rows, "do-not-ship")]
    if against:
        return "do-not-ship", against
    if missing > settings.max_failed * asked:
        lack = f"{of_all(missing, asked, 'segment')} {form(missing, 'lacks', 'lack')}"
        reason = f"{lack} a score on one side, more than {settings.max_failed:.0%}"
        return "not-enough-data", [f"{reason}: judge them, or allow more with --max-failed."]
    open_rows = list(_of(rows, "not-enough-data"))
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


def _of(rows: Sequence[GateRow], verdict: Verdict) -> Iterator[str]:
    for row in rows:
        if row.verdict == verdict:
            yield _worse(row) if verdict == "do-not-ship" else _open(row)


def _worse(row: GateRow) -> str:
    found = row.found
    seen = f"lower by {-found.difference:.4g}, and by no less than {-found.high:.4g}"
    return f"{_place(row)}: worse by more than the margin of {row.margin:g}: {seen}."


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
    """A verdict as people read it."""
    return verdict.replace("-", " ")


def signed(value: float) -> str:
    """A difference with its sign, as tables write it."""
    return f"{value:+.4g}".replace("-", "−")


def _place(row: GateRow) -> str:
    return "All segments" if row.kind == "all" else row.name
