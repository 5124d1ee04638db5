"""Preferences: those that were given, those that scores make, and both as arrays.

`preferences_of` turns any judgements into preferences; `tabulate` arranges those on one criterion,
comparisons by annotators, NaN where a verdict is missing. `calibrate_ties` finds how strong a preference
must be to count.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from adjudge.analysis.segment_scores import score_records
from adjudge.core.frozen import frozen
from adjudge.core.mqm import Weights
from adjudge.core.protocol import find_category, find_protocol
from adjudge.core.record import (
    RENORMALISED,
    Annotation,
    ErrorSpan,
    Failure,
    Preference,
    Record,
    Verdict,
    grouped,
)
from adjudge.core.scores import SegmentScore
from adjudge.errors import DataError, UsageError, warn
from adjudge.formats.read import Judgements
from adjudge.stats.judged import Floats, divided

VERDICTS: Final[Mapping[Verdict, float]] = {"A": 1.0, "E": 0.0, "B": -1.0}
"""A verdict as a number: how far it is for A."""


class Comparison(NamedTuple):
    """Two translations of one segment; `first` is before `second` in the order of names."""

    lp: str
    segment: str
    first: str
    second: str
    document: str = ""


@frozen
class Comparisons:
    """Verdicts of any number of annotators on one criterion."""

    criterion: str
    units: tuple[Comparison, ...]  # what was compared, in order of first appearance
    annotators: tuple[str, ...]
    # units by annotators: 1 for the first system, 0 for a tie, -1 for the second, NaN for none
    labels: Floats
    failed: Mapping[str, int]  # comparisons asked for and not obtained, by annotator
    failed_of: Mapping[str, int]  # the same by system
    # comparisons whose verdict changed with the order and counts as none, by annotator
    undecided: Mapping[str, int] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system that was compared, or should have been, in the order of names."""
        return tuple(sorted({s for u in self.units for s in (u.first, u.second)} | set(self.failed_of)))

    @property
    def segments(self) -> list[int]:
        """Group of each unit: its segment, numbered from 0."""
        return numbered([(u.lp, u.segment) for u in self.units])

    @property
    def documents(self) -> list[int]:
        """Group of each unit: its document, numbered from 0; a segment without one is one of its own."""
        return numbered([(u.lp, u.document, "" if u.document else u.segment) for u in self.units])

    def column(self, annotator: str) -> Floats:
        return np.asarray(self.labels[:, self.annotators.index(annotator)])

    def mean_of(self, annotators: Sequence[str]) -> Floats:
        """Mean verdict of several annotators, over those of them who judged; NaN where none did."""
        labels = self.labels[:, [self.annotators.index(name) for name in annotators]]
        return divided(np.nansum(labels, axis=1), (~np.isnan(labels)).sum(axis=1))


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """Number keys from 0 in order of first appearance; equal ones alike."""
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return [places[key] for key in keys]


def tabulate(records: Iterable[Record], criterion: str) -> Comparisons:
    """Arrange the preferences on one criterion; others, and annotations, are left out."""
    units: dict[tuple[str, ...], Comparison] = {}
    verdicts: dict[tuple[tuple[str, ...], str], float] = {}
    failed: Counter[str] = Counter()
    failed_of: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    annotators: dict[str, None] = {}
    for record in records:
        if isinstance(record, Failure) and len(record.systems) == 2 and record.criterion in {None, criterion}:
            failed[record.annotator] += 1
            failed_of.update(record.systems)
        elif not isinstance(record, Preference) or record.criterion != criterion:
            continue
        else:
            first, second, verdict = in_order_of_names(record)
            unit = Comparison(record.lp, record.segment, first, second, record.document)
            key = unit[:4]
            if (key, record.annotator) in verdicts:
                systems = " and ".join(record.systems)
                where = f"segment {record.segment!r} of {record.lp} for {record.criterion}"
                raise DataError(
                    f"{record.annotator!r} compared {systems} twice on {where}; keep the record that counts"
                )
            verdicts[key, record.annotator] = np.nan if record.is_undecided else verdict
            undecided[record.annotator] += record.is_undecided
            units[key] = units[key] if key in units and units[key].document else unit
        annotators[record.annotator] = None
    rows = {key: place for place, key in enumerate(units)}
    columns = {name: place for place, name in enumerate(annotators)}
    labels = np.full((len(rows), len(columns)), np.nan)
    for (compared, annotator), verdict in verdicts.items():
        labels[rows[compared], columns[annotator]] = verdict
    return Comparisons(
        criterion=criterion,
        units=tuple(units.values()),
        annotators=tuple(columns),
        labels=labels,
        failed=failed,
        failed_of=failed_of,
        undecided=+undecided,
    )


def in_order_of_names(record: Preference) -> tuple[str, str, float]:
    """The two systems in the order of their names, and how far the verdict is for the first."""
    first, second = sorted(record.systems)
    verdict = VERDICTS[record.verdict] * (1 if record.systems[0] == first else -1)
    return first, second, verdict + 0.0  # a tie is 0, not -0


OVERALL: Final = "overall"

CRITERIA: Final[Mapping[str, frozenset[str]]] = {
    "faithfulness": frozenset({"accuracy", "terminology", "non-translation"}),
    "fluency": frozenset({"fluency", "locale convention"}),
    "style": frozenset({"style"}),
}
"""Criterion to the core types of its errors: FiRE's table 13, which has no locale convention.

`other` and errors of the source belong to none.
"""

_DIGITS: Final = 10  # so that rounding noise prefers nothing


def preferences_from_annotations(
    records: Iterable[Record],
    *,
    weights: str | Weights | None = None,
    by_criterion: bool = False,
    epsilon: float = 0.0,
) -> list[Preference | Failure]:
    """Every pair of systems of every segment, as each annotator's scores prefer them.

    A where score(A) - score(B) > epsilon, B where it is < -epsilon, else E. Systems stand in the order of
    their names. A pair of which one judgement failed is a failure; a translation that was not judged is in
    no pair. Scores are those of `analysis.segment_scores`: MQM by weights, the others by their rating.

    FiRE, section 4.1, with `by_criterion`: the errors of each criterion (`CRITERIA`) are scored on their own,
    and `overall` is scored by the errors of all three, which is the sum of their scores.
    """
    if not epsilon >= 0:
        raise UsageError(f"epsilon must be 0 or more, got {epsilon}")
    by_annotator: dict[str, list[Record]] = {}
    for record in records:
        if isinstance(record, Preference):
            raise DataError("the records hold preferences already; scores were expected")
        by_annotator.setdefault(record.annotator, []).append(record)
    return [
        preference
        for own in by_annotator.values()
        for criterion, chosen in _by_criterion(own, by_criterion=by_criterion)
        for preference in _preferences(chosen, weights, criterion, epsilon)
    ]


def _preferences(
    records: Sequence[Record], weights: str | Weights | None, criterion: str, epsilon: float
) -> Iterator[Preference | Failure]:
    segments = score_records(records, weights=weights).segments
    yield from preferences_from_scores(
        segments, epsilon=epsilon, annotator=records[0].annotator, criterion=criterion
    )
    failures = {(f.lp, f.segment, s): f for f in records if isinstance(f, Failure) for s in f.systems}
    for a, b in _pairs(segments):
        if a.score is None or b.score is None:
            failed = failures[a.lp, a.segment, a.system if a.score is None else b.system]
            yield replace(failed, systems=(a.system, b.system), protocol="pairwise", criterion=criterion)


def preferences_from_scores(
    segments: Iterable[SegmentScore],
    *,
    epsilon: float = 0.0,
    annotator: str = "scores",
    criterion: str = OVERALL,
) -> list[Preference]:
    """Every pair of judged systems of every segment, in the order of their names."""
    return [
        Preference(
            lp=a.lp,
            segment=a.segment,
            systems=(a.system, b.system),
            annotator=annotator,
            criterion=criterion,
            verdict=_verdict(a.score, b.score, epsilon),
            document=a.document,
        )
        for a, b in _pairs(segments)
        if a.score is not None and b.score is not None
    ]


def _by_criterion(records: Sequence[Record], *, by_criterion: bool) -> Iterator[tuple[str, Sequence[Record]]]:
    if not by_criterion:
        yield OVERALL, records
        return
    for criterion in CRITERIA:
        yield criterion, criterion_annotations(records, criterion)
    yield OVERALL, criterion_annotations(records, OVERALL)


def criterion_annotations(records: Iterable[Record], criterion: str) -> list[Record]:
    """Keep the errors of one criterion; `overall` keeps those of all three."""
    if criterion not in {*CRITERIA, OVERALL}:
        raise UsageError(f"criterion must be one of {', '.join([*CRITERIA, OVERALL])}; got {criterion!r}")
    core = frozenset().union(*CRITERIA.values()) if criterion == OVERALL else CRITERIA[criterion]
    return [_kept(r, core) if isinstance(r, Annotation) else r for r in records]


def _kept(record: Annotation, core: frozenset[str]) -> Annotation:
    if record.protocol != "mqm":
        raise UsageError(f"criteria need categories of errors; protocol {record.protocol} has none")
    if record.counts:
        where = f"{record.system} segment {record.segment} of {record.lp}"
        raise DataError(f"errors of {where} are counted and not marked, so that none has a category")
    spans = tuple(s for s in record.spans if (own := _core_type(s, record)) is None or own in core)
    return replace(record, spans=spans)


def _core_type(span: ErrorSpan, record: Annotation) -> str | None:
    """Core type of an error, by its label where the subtype is unknown; None where it has no category."""
    if span.category is None and span.label:
        core = find_category(span.label.split("/")[0])
        if core is None:
            where = f"{record.system} segment {record.segment} of {record.lp}, by {record.annotator}"
            raise DataError(f"category {span.label!r} belongs to no criterion that adjudge knows: {where}")
        return core.split("/")[0]
    return None if span.category is None else span.category.split("/")[0]


def _pairs(segments: Iterable[SegmentScore]) -> Iterator[tuple[SegmentScore, SegmentScore]]:
    for rows in grouped(((s.lp, s.segment), s) for s in segments).values():
        yield from combinations(sorted(rows, key=lambda s: s.system), 2)


def _verdict(a: float, b: float, epsilon: float) -> Verdict:
    difference = round(a - b, _DIGITS)
    if abs(difference) <= epsilon:
        return "E"
    return "A" if difference > 0 else "B"


class TieAgreement(NamedTuple):
    """Share of comparisons on which judge and gold agree; None of none."""

    all: float | None  # of every comparison
    ranked: float | None  # of those that gold ranks
    tied: float | None  # of those that gold ties
    ties: int  # comparisons that the judge ties


@frozen
class TieCalibration:
    """The best threshold of one criterion, and what it changes."""

    criterion: str
    threshold: float  # a preference that is not stronger is a tie
    n: int  # comparisons that both judged
    tied: int  # those that gold ties
    split: int  # comparisons on which gold has no majority; they count nowhere
    before: TieAgreement  # agreement of the verdicts as they are
    after: TieAgreement  # agreement under the threshold
    held_out: float  # balanced agreement on segments that the threshold was not chosen on, by five folds


FOLDS: Final = 5


_TWO_KINDS: Final = (
    f"some strengths are {RENORMALISED} and some plain probabilities, and one threshold fits one kind"
)


def calibrate_ties(
    preferences: Iterable[Preference | Failure], gold: Iterable[Preference | Failure]
) -> tuple[TieCalibration, ...]:
    """Find for each criterion the threshold under which verdicts agree best with gold, ranked and tied alike.

    A threshold t makes E of every verdict whose strength is t or less in size. The best one has the highest
    mean of two agreements: on pairs that gold ranks, and on pairs that gold ties; of equal ones the lowest.
    Of several annotators of gold the majority counts; pairs without one are left out, as in FiRE. Undecided
    comparisons are left out.
    """
    votes = grouped(_keyed(p) for p in gold if isinstance(p, Preference) and not p.is_undecided)
    wanted: dict[tuple[str, ...], float] = {}
    split: Counter[str] = Counter()
    for place, own in votes.items():
        said, count = Counter(own).most_common(1)[0]
        if 2 * count > len(own):
            wanted[place] = said
        else:
            split[place[2]] += 1
    if not wanted and not split:
        raise DataError("gold has no verdicts on pairs, and a threshold is compared with such verdicts")
    both: dict[str, list[tuple[float, float, float, int]]] = {}
    kinds = set()
    for p in preferences:
        if isinstance(p, Preference) and p.strength is not None and not p.is_undecided:
            key, verdict = _keyed(p)
            if key in wanted:
                fold = int(hashlib.sha256(f"{p.lp}/{p.segment}".encode()).hexdigest(), 16) % FOLDS
                both.setdefault(p.criterion, []).append((abs(p.strength), verdict, wanted[key], fold))
                kinds.add(RENORMALISED in p.flags)
    if not both:
        raise DataError(
            "no comparison in gold was measured; run the judge with --samples, or --strength logprob"
        )
    found, without = [], [_TWO_KINDS] if len(kinds) > 1 else []
    for name, rows in both.items():
        try:
            found.append(_calibrated(name, sorted(rows), split[name]))
        except DataError as error:
            without.append(str(error))
    if not found:
        raise DataError("; ".join(without))
    for told in without:
        warn(told)
    return tuple(found)


def _calibrated(
    criterion: str, rows: Sequence[tuple[float, float, float, int]], split: int
) -> TieCalibration:
    strengths, said, right, folds = np.array(rows).T
    if (missing := "tied" if (right != 0).all() else "ranked" if (right == 0).all() else "") != "":
        raise DataError(f"gold has no {missing} pair on {criterion}, and a threshold weighs both kinds")
    threshold = _best(strengths, said, right)
    after = np.where(strengths <= threshold, 0.0, said)
    if not after.any():
        raise DataError(
            f"on {criterion} no threshold agrees better with gold than to call every pair a tie: the "
            "strength of this judge's preferences says nothing of ties; use it without --tie-threshold"
        )
    held_out = np.array(said)
    for fold in range(FOLDS):
        here = folds == fold
        others = right[~here]
        if here.any() and (others == 0).any() and (others != 0).any():
            chosen = _best(strengths[~here], said[~here], others)
            held_out[here & (strengths <= chosen)] = 0.0
    same = held_out == right
    return TieCalibration(
        criterion=criterion,
        threshold=threshold,
        n=len(rows),
        tied=int((right == 0).sum()),
        split=split,
        before=_agreement(said, right),
        after=_agreement(after, right),
        held_out=float((same[right != 0].mean() + same[right == 0].mean()) / 2),
    )


def _best(strengths: Floats, said: Floats, right: Floats) -> float:
    ties, ranks = right == 0, right != 0
    gained = np.cumsum(
        (ties & (said != 0)) / max(int(ties.sum()), 1) - (ranks & (said == right)) / max(int(ranks.sum()), 1)
    )
    last = np.append(strengths[1:] != strengths[:-1], True)  # a threshold takes all that are equally strong
    options = [(0.0, 0.0), *zip(gained[last].round(12).tolist(), strengths[last].tolist(), strict=True)]
    return float(max(options, key=lambda option: (option[0], -option[1]))[1])


def _agreement(said: Floats, right: Floats) -> TieAgreement:
    same = said == right
    return TieAgreement(
        all=_share(same),
        ranked=_share(same[right != 0]),
        tied=_share(same[right == 0]),
        ties=int((said == 0).sum()),
    )


def _share(same: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float | None:
    return float(same.mean()) if len(same) else None


def _keyed(preference: Preference) -> tuple[tuple[str, ...], float]:
    """What is compared, and the verdict: how far it is for the first in the order of names."""
    first, second, verdict = in_order_of_names(preference)
    return (preference.lp, preference.segment, preference.criterion, first, second), verdict


def named_apart(sources: Sequence[Judgements]) -> list[Judgements]:
    """Put the source's name before annotators that stand in several sources: `run-1:fire`.

    So people asked twice and a judge sampled twice are compared with themselves.
    """
    found = Counter(annotator for source in sources for annotator in source.annotators)
    shared = {annotator for annotator, times in found.items() if times > 1}
    names = Counter((s.name, a) for s in sources for a in s.annotators if a in shared)
    for (name, annotator), times in names.items():
        if times > 1:
            raise DataError(f"{name!r} is given {times} times, each with judgements of {annotator!r}")
    return [
        replace(
            source,
            records=tuple(
                replace(r, annotator=f"{source.name}:{r.annotator}") if r.annotator in shared else r
                for r in source.records
            ),
        )
        for source in sources
    ]


def preferences_of(
    source: Judgements,
    *,
    by_criterion: bool = False,
    epsilon: float = 0.0,
    weights: str | Weights | None = None,  # points of marked errors; None for those of the source's run
) -> list[Preference | Failure]:
    """Preferences of a source: its own, or those that its scores make."""
    if source.has_scores:
        protocols = {r.protocol for r in source.records if isinstance(r, Annotation)}
        if weights is None and any(find_protocol(name).has_spans for name in protocols):
            weights = source.weights
        return preferences_from_annotations(
            source.records, weights=weights, by_criterion=by_criterion, epsilon=epsilon
        )
    return [r for r in source.records if not isinstance(r, Annotation)]


def criteria_of(records: Iterable[Preference | Failure]) -> list[str]:
    """Every criterion that something was preferred on, in order of first appearance."""
    return list(dict.fromkeys(r.criterion for r in records if isinstance(r, Preference)))
