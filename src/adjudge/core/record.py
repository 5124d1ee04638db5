"""The three records in which people, judges and metrics meet.

An `Annotation` says what one annotator marked or rated on one translation, a `Preference` which of two
translations it preferred, a `Failure` that an answer was asked for and not obtained. A `Failure` has no
number: nothing that computes a score accepts one.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeVar, get_args

from adjudge.core.columns import as_html
from adjudge.core.names import KEPT, keep_names
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity, find_protocol, is_number
from adjudge.core.segment import Digests
from adjudge.core.wording import count, form
from adjudge.errors import FAILURE_REASONS, DataError, FailureReason

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class OfPair(Protocol):
    """What is of one language pair."""

    @property
    def lp(self) -> str:
        """Of which."""


P = TypeVar("P", bound=OfPair)

Side = Literal["translation", "source"]
Verdict = Literal["A", "B", "E"]
Match = Literal["exact", "normalised", "ambiguous", "unmatched", "unplaced"]
"""How a span's quote was found in its text.

`exact`, `normalised` (white space and quotes), `ambiguous` (stands in several places; the first one not
yet taken was chosen), `unmatched` (quote kept, found nowhere), `unplaced` (an error without a place).
"""


ADJUDICATED: Final = "adjudicated"
"""Flag of a judgement in which an adjudicator decided between those of others."""
SECOND_LOOK: Final = "second-look"
"""Flag of a judgement by somebody who was shown what another person had marked."""
DUPLICATE: Final = "duplicate"
"""Flag of an item that fills up a batch: its translation stands elsewhere in the campaign, too."""
SUSPECT: Final = "injection_suspect"
"""Flag of a judgement of texts that may hold something meant for the judge; `checks.attacks` finds it."""
RENORMALISED: Final = "renormalised"
"""Flag of a judgement with a probability that is a share of what could be answered."""
UNDECIDED: Final = "position_undecided"
"""Flag of a comparison whose verdict changed with the order and was kept as that: neither a win nor a tie."""

_NAMES: Final = {name: name for name in ("segment", "annotator", "document")}
_SIDES: Final = get_args(Side)
_MATCHES: Final = get_args(Match)


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class ErrorSpan:
    """One error.

    Args:
        start: first code point of the marked text, counted from 0; None where it has no place.
        end: one past the last code point; None where it has no place.
        text: the marked text itself, or an unmatched quote.
        severity: neutral, minor, major or critical.
        category: canonical category of `core.protocol`, or None where the protocol asks for none.
        side: the text in which `start` and `end` count.
        match: how the place was found.
        note: explanation by the annotator, plain text.
        label: the category as its source spelled it, where that differs.
        confidence: of a judge in this error, from 0 to 1, where it measures one.

    Raises:
        DataError: unknown severity, category or side, or offsets that are no half-open range.
    """

    severity: Severity
    start: int | None = None
    end: int | None = None
    text: str = ""
    category: str | None = None
    side: Side = "translation"
    match: Match = "exact"
    note: str = ""
    label: str | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        check_one_of("severity", self.severity, SEVERITIES)
        check_one_of("side", self.side, _SIDES)
        check_one_of("match", self.match, _MATCHES)
        if self.category is not None:
            check_one_of("category", self.category, CATEGORIES)
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise DataError(f"confidence must be from 0 to 1, got {self.confidence!r}")
        if (self.start is None) != (self.end is None):
            raise DataError(f"a span needs both offsets or none, got {self.start!r} and {self.end!r}")
        placed = self.match not in {"unmatched", "unplaced"}
        if placed != (self.start is not None):
            raise DataError(f"a span that is {self.match} cannot have start {self.start!r}")
        if self.start is not None and self.end is not None and not 0 <= self.start <= self.end:
            raise DataError(f"a span needs 0 <= start <= end, got {self.start} and {self.end}")


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class Annotation:
    """All that one annotator said of one translation. No spans means: judged, and found clean.

    Args:
        lp: language pair.
        segment: segment id.
        system: who made the translation.
        annotator: a person or a judge.
        protocol: name in `core.protocol.PROTOCOLS`; it gives range and direction of the rating.
        document: document id.
        rating: the number given on the protocol's scale; None where the protocol has none.
        spans: the marked errors.
        counts: errors by severity as the annotator counted them, for methods that score the count.
        flags: short marks such as `repaired`, `span_unmatched`, `count_mismatch`.
        rationale: explanation, plain text.
        samples: where a judge judged several times, the number that each single judgement comes to, in the
            order taken: its rating, or its errors by the judge's weights. Outliers are among them.
        steps: where a judge decides by itself what to do next, the tool that it used in each turn.
        criterion: id of the criterion of the segment that is passed or failed, under protocol criteria alone.
        weights: name of the weights of its errors, where it was taken out of a run whose judge has its own.
        digests: of the texts that were judged, where they are known; two records are equal without them.

    Raises:
        DataError: a rating that is not a finite number within the protocol's range, counts or samples that
            are none, or a criterion that is missing or that the protocol does not have.
    """

    lp: str
    segment: str
    system: str
    annotator: str
    protocol: str
    document: str = ""
    rating: float | None = None
    spans: tuple[ErrorSpan, ...] = ()
    counts: Mapping[Severity, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    rationale: str | None = None
    samples: tuple[float, ...] = ()
    steps: tuple[str, ...] = ()
    criterion: str | None = None
    weights: str | None = None
    digests: Digests | None = field(default=None, compare=False)

    _repr_html_ = as_html

    def __post_init__(self) -> None:
        if not KEPT.issuperset((self.segment, self.system, self.annotator, self.document or self.segment)):
            keep_names(self, **_NAMES, system="system")
        protocol = find_protocol(self.protocol)
        if protocol.has_criteria != (self.criterion is not None):
            what = "needs the criterion of" if protocol.has_criteria else "has no criterion for"
            raise DataError(f"protocol {self.protocol} {what} each record: {self.system} {self.segment}")
        if self.rating is not None:
            protocol.check_rating(self.rating)
        elif protocol.needs_rating:
            raise DataError(f"protocol {self.protocol} needs a rating for {self.system} {self.segment}")
        if not (self.counts or self.samples):
            return
        for severity, amount in self.counts.items():
            check_one_of("severity", severity, SEVERITIES)
            if amount < 0:
                raise DataError(f"a count of {severity} errors must be 0 or more, got {amount!r}")
        for sample in self.samples:
            if not is_number(sample):
                raise DataError(f"a sample must be a finite number, got {sample!r}")

    @property
    def systems(self) -> tuple[str, ...]:
        """Its system, as the other records have theirs."""
        return (self.system,)


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class Preference:
    """Which of two translations one annotator preferred on one criterion.

    Args:
        lp: language pair.
        segment: segment id.
        systems: the pair (A, B).
        annotator: a person or a judge.
        criterion: such as faithfulness, fluency, style, overall.
        verdict: A, B, or E for equally good.
        document: document id.
        protocol: always pairwise.
        orders: the verdict of each order asked, mapped back to (A, B); empty for people asked once.
        flags: short marks such as `position_inconsistent`. With `position_undecided` nothing was decided,
            and the verdict, which must be something, is E: nothing that counts verdicts counts it.
        rationale: explanation, plain text.
        samples: where a judge compared several times, the verdict of each single comparison, in the order
            taken.
        strength: how far the judge was for A (up to 1) or for B (down to -1), where that was measured.
        digests: of the texts that were compared, as of an annotation.

    Raises:
        DataError: a verdict that is none, one system twice, an undecided comparison with a winner, or a
            strength outside of its range.
    """

    lp: str
    segment: str
    systems: tuple[str, str]
    annotator: str
    criterion: str
    verdict: Verdict
    document: str = ""
    protocol: str = "pairwise"
    orders: tuple[Verdict, ...] = ()
    flags: tuple[str, ...] = ()
    rationale: str | None = None
    samples: tuple[Verdict, ...] = ()
    strength: float | None = None
    digests: Digests | None = field(default=None, compare=False)

    _repr_html_ = as_html

    def __post_init__(self) -> None:
        keep_names(self, **_NAMES, systems="system")
        for verdict in (self.verdict, *self.orders, *self.samples):
            check_one_of("verdict", verdict, get_args(Verdict))
        if self.systems[0] == self.systems[1]:
            raise DataError(f"a preference needs two different systems, got {self.systems[0]!r} twice")
        if self.is_undecided and self.verdict != "E":
            raise DataError(f"a comparison that is {UNDECIDED} has verdict E, got {self.verdict}")
        if self.strength is not None and not (is_number(self.strength) and abs(self.strength) <= 1):
            raise DataError(f"a strength must be a number from -1 to 1, got {self.strength!r}")

    @property
    def is_undecided(self) -> bool:
        """Whether the verdict changed with the order, and counts as none."""
        return UNDECIDED in self.flags


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class Failure:
    """Asked for and not obtained. It has a reason and no number.

    Args:
        lp: language pair.
        segment: segment id.
        systems: the system, or the systems, whose judgement is missing.
        annotator: who was asked.
        protocol: what was asked for.
        reason: one of `errors.FAILURE_REASONS`.
        detail: what came instead, short.
        document: document id.
        criterion: for a failed preference, or a failed verdict on one criterion of a segment.
        digests: of the texts that were asked about, as of an annotation.
    """

    lp: str
    segment: str
    systems: tuple[str, ...]
    annotator: str
    protocol: str
    reason: FailureReason
    detail: str = ""
    document: str = ""
    criterion: str | None = None
    digests: Digests | None = field(default=None, compare=False)

    _repr_html_ = as_html

    def __post_init__(self) -> None:
        keep_names(self, **_NAMES, systems="system")
        check_one_of("reason", self.reason, FAILURE_REASONS)


Record = Annotation | Preference | Failure


def are_by_criteria(records: Iterable[Record]) -> bool:
    """Whether some of these are of one criterion of their segment each, and not of a whole translation."""
    return any(find_protocol(record.protocol).has_criteria for record in records)


def check_one_of(
    what: str, value: object, known: Collection[str], error: type[Exception] = DataError
) -> None:
    """Refuse a value that is none of those known."""
    if value not in known:
        raise error(f"{what} must be one of {', '.join(known)}; got {value!r}")


def without_repeats(records: Sequence[Record]) -> tuple[list[Record], int]:
    """Leave out fillers whose translation the same annotator judged in its own place.

    Files have them in any order, so the judgement without the flag is the first; of fillers alone, the first
    one. What somebody else judged is a second opinion, and stays.

    Also how many were left out.
    """
    fillers = [r for r in records if isinstance(r, Annotation) and DUPLICATE in r.flags]
    if not fillers:
        return [*records], 0
    marked = set(map(id, fillers))
    judged = {_key(r) for r in records if isinstance(r, Annotation) and id(r) not in marked}
    for filler in fillers:
        if _key(filler) not in judged:
            judged.add(_key(filler))
            marked.remove(id(filler))
    kept = [r for r in records if id(r) not in marked]
    return kept, len(records) - len(kept)


def _key(record: Annotation) -> tuple[str | None, ...]:
    return record.annotator, record.lp, record.segment, record.system, record.criterion


def repeats_note(repeated: int) -> list[str]:
    if not repeated:
        return []
    which = f"{count(repeated, 'judgement')} {form(repeated, 'was', 'were')}"
    why = "the same annotator had judged the translation before (flag duplicate)"
    return [f"{which} repeated: {why}. The first judgement counts."]


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """All values of each key, in order of appearance."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def by_pair(items: Iterable[P]) -> dict[str, list[P]]:
    """Everything by language pair: over several of them nothing is averaged, ranked or compared."""
    return grouped((item.lp, item) for item in items)


def rows_by_pair(rows: Sequence[P]) -> dict[str, list[P]]:
    """Rows of a result by language pair; a single one has no name there."""
    return by_pair(rows) if len({row.lp for row in rows}) > 1 else {"": [*rows]}
