"""What the sections of a study are made of: judgements as a campaign saw them, and numbers about them.

A `Piece` is one person's judgement of one translation; a `Number` is one result, a `Section` the numbers
that answer one question. Between them: shares, ratios, differences and slopes with intervals, and how much
of one annotation's marks another one has, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.preferences import numbered
from adjudge.core.frozen import frozen
from adjudge.core.mqm import Weights, find_weights, mqm_score
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, ErrorSpan, grouped
from adjudge.core.scores import Interval
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import PASSES, Submission, of_latest_pass
from adjudge.stats.bootstrap import NO_INTERVAL, Draws, estimate, mean_of
from adjudge.stats.judged import Floats, Result, divided
from adjudge.store.json_lines import span_from_json

Definition = Literal["", "paper", "mended"]
"""Whose definition it is, where the ESA paper's has a flaw: the paper's, or ours without it."""

_LEVEL: Final = 0.95
_NOTHING: Final = "nothing to count"


@frozen
class Number:
    """One number."""

    of: str  # whom or what it is about: a person, a system, `all`, two people
    measure: str
    result: Result  # value, n, interval; or why there is none
    definition: Definition = ""
    is_of_pair: bool = False  # whether it is about two people by their names, of whom there are many pairs


@frozen
class Section:
    """Numbers that answer one question."""

    name: str  # one word, such as `attention`
    title: str  # the question, for people
    # in the order in which they are read; empty where nothing can be said, and `notes` say why
    numbers: tuple[Number, ...] = ()
    notes: tuple[str, ...] = ()  # what was left out, how many and why; what a reader must know


def wilson_interval(hits: int, n: int) -> Interval:
    """95 % interval of a share by Wilson's score method, which stays within 0 and 1.

    Wilson 1927; `scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")`. Whatever the share is, where
    n is 0.
    """
    from scipy.special import ndtri  # scipy.stats takes seconds to import

    if n == 0:
        return Interval(0.0, 1.0)
    z = -float(ndtri((1 - _LEVEL) / 2))
    share, weight = hits / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * float(np.sqrt(share * (1 - share) / n + weight / (4 * n)))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def share_of(hits: Sequence[bool] | NDArray[np.bool_], nothing: str = _NOTHING) -> Result:
    """Share of what holds, with Wilson's interval: each of them counts as independent of the others."""
    n, found = len(hits), int(np.count_nonzero(hits))
    if not n:
        return Result(value=None, n=0, reason=nothing)
    return Result(value=found / n, n=n, interval=wilson_interval(found, n))


def ratio_of(parts: Floats, wholes: Floats, draws: Draws = NO_INTERVAL, nothing: str = _NOTHING) -> Result:
    """Sum of parts by sum of wholes, such as minor errors by all errors; `n` is the sum of the wholes."""
    if not len(wholes):
        return Result(value=None, n=0, reason=nothing)

    def statistic(counts: Floats) -> Floats:
        return divided(counts @ parts, counts @ wholes)

    found = estimate(statistic, np.ones(len(wholes), dtype=np.bool_), draws, nothing)
    return replace(found, n=int(wholes.sum()))


def difference_of(values: Floats, is_first: NDArray[np.bool_], draws: Draws, nothing: str) -> Result:
    """Mean of some units less the mean of the others, with its interval."""
    if not is_first.any() or is_first.all():
        return Result(value=None, n=len(values), reason=nothing)
    first = is_first.astype(np.float64)

    def statistic(counts: Floats) -> Floats:
        one, other = (divided(counts @ (values * part), counts @ part) for part in (first, 1 - first))
        return np.asarray(one - other)

    return estimate(statistic, np.ones(len(values), dtype=np.bool_), draws, nothing)


def mean_by_student(values: Sequence[float], nothing: str = _NOTHING) -> Result:
    """Mean of few values, one a person, with Student's interval; none around a single value."""
    known = np.asarray(values, dtype=np.float64)
    found = mean_of(known, NO_INTERVAL, nothing)
    if found.value is None or found.n < 2:
        return found
    error = float(known.std(ddof=1)) / found.n**0.5
    return replace(found, interval=_by_student(found.value, error, found.n - 1))


def slope_of(x: Floats, y: Floats, nothing: str) -> Result:
    """Least-squares slope of y on x, with Student's interval; needs three points and an x that varies."""
    n = len(x)
    spread = float(((x - x.mean()) ** 2).sum()) if n else 0.0
    if n < 3 or spread == 0:
        return Result(value=None, n=n, reason=nothing)
    slope = float((x - x.mean()) @ (y - y.mean())) / spread
    rest = y - y.mean() - slope * (x - x.mean())
    error = float(np.sqrt(rest @ rest / (n - 2) / spread))
    return Result(value=slope, n=n, interval=_by_student(slope, error, n - 2))


def _by_student(middle: float, error: float, freedom: int) -> Interval:
    from scipy.special import stdtrit

    half = -float(stdtrit(freedom, (1 - _LEVEL) / 2)) * error
    return Interval(middle - half, middle + half)


class Mark(NamedTuple):
    """One error as it is compared: both ends *inclusive*; None where it has no place in the translation."""

    first: int | None
    last: int | None
    severity: str = ""
    category: str = ""
    subcategory: str = ""


Marks = Sequence[Mark]


def marks_of(spans: Iterable[ErrorSpan]) -> tuple[Mark, ...]:
    """Marks of our records; errors of the source, and those that mark no character, have no place."""
    found = []
    for span in spans:
        core, _, sub = (span.category or "").partition("/")
        first, last = None, None
        if span.side == "translation" and span.start is not None and span.end and span.end > span.start:
            first, last = span.start, span.end - 1
        found.append(Mark(first, last, span.severity, core, sub))
    return tuple(found)


def touches(one: Mark, other: Mark) -> bool:
    """Whether two marks share a character; marks without a place share none."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return False
    return one.first <= other.last and other.first <= one.last


def starts_or_ends_within(one: Mark, other: Mark) -> bool:
    """Whether one mark starts or ends in the other, as the ESA paper's table 5 asks.

    Not symmetric: a mark misses another one that lies strictly inside it. Two marks without a place meet.
    """
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return one.first is None and other.first is None
    return other.first <= one.first <= other.last or other.first <= one.last <= other.last


def covered_share(by: Sequence[Marks], marked: Sequence[Marks]) -> float:
    """Mean over translations of the share of one annotation's places that the other one touches.

    mean over translations of |{b in B: some a in A touches b}| / |B|, and 1 where B is empty

    The ESA paper, table 3. B is a set: one place counts once. Marks without a place are left out. Where most
    translations have no marks in B, most of this number is the 1 of them: see `pooled_share`.
    """
    shares = [hit / of if of else 1.0 for hit, of in _covered(by, marked)]
    if not shares:
        raise UsageError("covered shares need one translation at least")
    return float(np.mean(shares))


def pooled_share(by: Sequence[Marks], marked: Sequence[Marks]) -> float:
    """The same over all places of all translations together, so that unmarked translations count nothing.

    NaN where nothing is marked.
    """
    counts = _covered(by, marked)
    total = sum(of for _, of in counts)
    return sum(hit for hit, _ in counts) / total if total else float("nan")


def _covered(by: Sequence[Marks], marked: Sequence[Marks]) -> list[tuple[int, int]]:
    counts = []
    for ours, theirs in zip(by, marked, strict=True):
        places = {(b.first, b.last) for b in theirs if b.first is not None}
        hit = sum(any(touches(a, Mark(*place)) for a in ours) for place in places)
        counts.append((hit, len(places)))
    return counts


SAME: dict[str, Callable[[Mark, Mark], bool]] = {
    "any": lambda _, __: True,
    "severity": lambda one, other: one.severity == other.severity,
    "category": lambda one, other: one.category == other.category,
    "severity and category": lambda one, other: (
        (one.severity, one.category) == (other.severity, other.category)
    ),
    "severity and subcategory": lambda one, other: one[2:] == other[2:],
}
"""What two marks that meet may have in common."""


def repeated_share(
    marked: Sequence[Marks],
    again: Sequence[Marks],
    same: str = "any",
    meets: Callable[[Mark, Mark], bool] = touches,
) -> float:
    """Share of all marks that meet one of the other annotation which is alike. The ESA paper, table 5.

    NaN where nothing is marked.
    """
    is_same = SAME[same]
    found = [
        any(meets(one, other) and is_same(one, other) for other in others)
        for ones, others in zip(marked, again, strict=True)
        for one in ones
    ]
    return float(np.mean(found)) if found else float("nan")


Key = tuple[str, str, str]
"""Language pair, segment, system: one translation."""


@frozen
class Piece:
    """One person's judgement of one translation."""

    submission: Submission
    annotation: Annotation
    text: str  # of the translation that was shown
    weights: Weights  # of marked errors

    @property
    def person(self) -> str:
        return self.submission.person

    @property
    def key(self) -> Key:
        """What was judged; of a damaged copy, the original."""
        return self.annotation.lp, self.annotation.segment, self.annotation.system

    @property
    def rating(self) -> float | None:
        """The number given; None where none was asked for."""
        return self.annotation.rating

    @cached_property
    def points(self) -> float:
        return mqm_score(self.annotation, self.weights)

    @property
    def score(self) -> float:
        """The rating, or the points where nothing is rated; higher is better."""
        return self.points if self.rating is None else self.rating

    @cached_property
    def errors(self) -> tuple[ErrorSpan, ...]:
        """Marks that cost something: neutral ones are no errors."""
        return tuple(span for span in self.annotation.spans if span.severity != "neutral")

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The errors, as they are compared."""
        return marks_of(self.errors)

    @property
    def severities(self) -> list[str]:
        return [span.severity for span in self.errors]

    @property
    def has_marks(self) -> bool:
        return find_protocol(self.annotation.protocol).has_spans

    @property
    def given(self) -> tuple[ErrorSpan, ...] | None:
        """Spans that were marked beforehand; None where it was shown without any."""
        if self.submission.kind == "control":
            return None
        return self.submission.given.get(self.annotation.system)

    @property
    def withheld(self) -> tuple[ErrorSpan, ...] | None:
        """Spans that a control did not show; None where they are not known."""
        known = self.submission.more.get("withheld")
        spans = known.get(self.annotation.system) if isinstance(known, Mapping) else None
        return tuple(map(span_from_json, spans)) if isinstance(spans, list) else None


def pieces_of(submissions: Iterable[Submission], weights: str | None = None) -> tuple[Piece, ...]:
    """Judgements of translations, of the last submission of each item; no tutorials.

    `weights`: of marked errors; None for `esa-spans` with ESA, `mqm-google` with MQM.
    """
    found = []
    for submission in submissions:
        if submission.is_last and submission.kind != "tutorial":
            for record in submission.records:
                if isinstance(record, Annotation):
                    name = weights or ("mqm-google" if record.protocol == "mqm" else "esa-spans")
                    text = submission.texts.get(record.system, "")
                    piece = Piece(
                        submission=submission, annotation=record, text=text, weights=find_weights(name)
                    )
                    found.append(piece)
    return tuple(found)


def counted(pieces: Iterable[Piece]) -> list[Piece]:
    """Those that judge a translation as it is, which damaged copies do not, and were not dropped."""
    return [p for p in pieces if p.submission.kind in PASSES and not p.submission.is_dropped]


def independent(pieces: Iterable[Piece]) -> list[Piece]:
    """Those that count, of people who were shown nothing that others said."""
    return [piece for piece in counted(pieces) if piece.submission.is_independent]


def final_pieces(pieces: Iterable[Piece]) -> list[Piece]:
    """Those that decide: of each translation, the ones of its latest pass.

    An adjudication decides over a second pass, and that over the first one. Several people of one pass all
    count; of one person's several judgements in a pass, the one that ended last.
    """
    last: dict[tuple[Key, str], Piece] = {}
    for piece in of_latest_pass(counted(pieces), lambda p: p.submission.kind, lambda p: p.key):
        known = last.get((piece.key, piece.person))
        if known is None or piece.submission.ended >= known.submission.ended:
            last[piece.key, piece.person] = piece
    return list(last.values())


def left_out(submissions: Sequence[Submission]) -> Iterator[str]:
    """Say what is in no number about translations, and how much of it there is."""
    again = sum(not s.is_last for s in submissions)
    kinds = Counter(s.kind for s in submissions if s.is_last)
    if again:
        yield f"{again:,} submissions were replaced by a later one of the same person, and count nowhere."
    if kinds["tutorial"]:
        yield f"{kinds['tutorial']:,} submissions belong to a tutorial, and count nowhere."
    if kinds["check"]:
        yield f"{kinds['check']:,} submissions are of damaged copies: they count in checks and times alone."
    if decisions := sum(s.is_last and s.kind == "adjudication" and not s.is_dropped for s in submissions):
        where = "they count in place of what they decide between, and in no agreement"
        yield f"{decisions:,} submissions are decisions of adjudicators: {where}."
    if looks := sum(s.is_last and s.kind == "again" and not s.is_independent for s in submissions):
        where = "they count in place of what they look at, and in no agreement"
        yield f"{looks:,} submissions are second looks at marks that people were shown: {where}."
    if dropped := sum(s.is_last and s.is_dropped and s.kind in PASSES for s in submissions):
        what = "are of segments that the agreement gate dropped"
        yield f"{dropped:,} submissions {what}: they count in times alone."


def over_segments(pieces: Iterable[Piece], draws: Draws) -> Draws:
    """Draws in which all judgements of one segment are drawn together."""
    return replace(draws, groups=numbered([piece.key[:2] for piece in pieces]))


def score_name(pieces: Sequence[Piece]) -> str:
    """What `Piece.score` is: `rating`, or `points` where nothing is rated."""
    return "points" if pieces and pieces[0].rating is None else "rating"


def has_marks(pieces: Iterable[Piece]) -> bool:
    """Whether errors could be marked in any of them."""
    return any(piece.has_marks for piece in pieces)


def has_ratings(pieces: Iterable[Piece]) -> bool:
    return any(piece.rating is not None for piece in pieces)


def matrix_of(pieces: Sequence[Piece], values: Sequence[float]) -> tuple[tuple[str, ...], Floats, int]:
    """Mean values of translations, systems by the segments of which every system has one.

    Systems by name; the matrix; how many segments were dropped because a system lacks there.
    """
    systems = sorted({piece.annotation.system for piece in pieces})
    columns = numbered([piece.key[:2] for piece in pieces])
    rows = [systems.index(piece.annotation.system) for piece in pieces]
    sums = np.zeros((len(systems), max(columns, default=-1) + 1))
    sizes = np.zeros_like(sums)
    np.add.at(sums, (rows, columns), values)
    np.add.at(sizes, (rows, columns), 1)
    whole = (sizes > 0).all(axis=0)
    return tuple(systems), sums[:, whole] / sizes[:, whole], int((~whole).sum())


def by_translation(pieces: Iterable[Piece]) -> Mapping[Key, list[Piece]]:
    return grouped((piece.key, piece) for piece in pieces)
