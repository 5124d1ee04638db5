"""Who agrees with whom in a campaign: people with themselves, each other, another campaign, gold.

Agreement is of scores, of errors and of marks, on translations that were judged twice. `segment_agreements`
says of each segment whether its annotators agree, which is RATE's and MENT's gate, and `pair_agreements` how
far every two annotators order the systems alike, which is MENT's inter-annotator agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.analysis.preferences import numbered
from adjudge.analysis.study_pieces import (
    SAME,
    Definition,
    Key,
    Mark,
    Number,
    Piece,
    Section,
    by_translation,
    counted,
    covered_share,
    final_pieces,
    independent,
    marks_of,
    over_segments,
    pooled_share,
    ratio_of,
    repeated_share,
    share_of,
    starts_or_ends_within,
    touches,
)
from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, grouped
from adjudge.errors import UsageError
from adjudge.stats.agreement_coefficients import cohen_kappa, error_recall, krippendorff_alpha
from adjudge.stats.bootstrap import NO_INTERVAL, Draws, estimate
from adjudge.stats.correlation import kendall_c, pearson
from adjudge.stats.judged import Floats, Result, divided

Severities = Sequence[Sequence[str]]
Marks = Sequence[Sequence[Mark]]

_KINDS: Final[Mapping[str, tuple[str, ...] | None]] = {"any": None, "minor": ("minor",), "major": ("major",)}
_MOST_CELLS: Final = 2**16  # of a table of both scores' different values, which is made for every draw
_FLAT: Final = 1e-12  # share of a sum of squares; scores with less variance are constant
_BLOCK: Final = 2**22  # numbers at a time


def count_errors(severities: Severities, kinds: Sequence[str] | None = None) -> Floats:
    """How many errors of some severities, or of any, each translation has."""
    return np.array([float(len(e) if kinds is None else sum(s in kinds for s in e)) for e in severities])


def score_agreement(first: Floats, second: Floats, draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """Kendall's tau-c and Pearson's r over all translations together. The ESA paper, tables 2 and 4."""
    found = {"Kendall tau-c": kendall_c(first, second), "Pearson": pearson(first, second)}
    drawn = {"Kendall tau-c": _drawn_tau_c, "Pearson": _drawn_pearson}
    return {name: _with_interval(found[name], drawn[name](first, second), draws) for name in found}


def _with_interval(found: Result, statistic: Callable[[Floats], Floats] | None, draws: Draws) -> Result:
    if found.value is None or statistic is None or not draws.resamples:
        return found
    every = np.ones(found.n, dtype=np.bool_)
    return replace(found, interval=estimate(statistic, every, draws, "").interval)


def _drawn_pearson(first: Floats, second: Floats) -> Callable[[Floats], Floats]:
    a, b = first - first.mean(), second - second.mean()
    moments = np.stack([a, b, a * a, b * b, a * b], axis=1)

    def statistic(counts: Floats) -> Floats:
        one, other, square, other_square, both = (counts @ moments / counts.sum(axis=1)[:, None]).T
        spread, other_spread = square - one**2, other_square - other**2
        varies = (spread > _FLAT * square) & (other_spread > _FLAT * other_square)
        below = np.sqrt(np.where(varies, spread * other_spread, 1))
        return np.where(varies, (both - one * other) / below, np.nan)

    return statistic


def _drawn_tau_c(first: Floats, second: Floats) -> Callable[[Floats], Floats] | None:
    (a_values, a), (b_values, b) = (np.unique(s, return_inverse=True) for s in (first, second))
    rows, columns = len(a_values), len(b_values)
    if rows * columns > _MOST_CELLS:
        return None
    cell = a * columns + b
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    used = cell[order][starts]

    def statistic(counts: Floats) -> Floats:
        found = []
        for drawn in np.array_split(counts, 1 + counts.shape[0] * rows * columns // _BLOCK):
            tables = np.zeros((len(drawn), rows * columns))
            tables[:, used] = np.add.reduceat(drawn[:, order], starts, axis=1)
            found.append(_tau_c(tables.reshape(-1, rows, columns)))
        return np.concatenate(found)

    return statistic


def _tau_c(tables: Floats) -> Floats:
    """Stuart's tau-c of contingency tables, draws by rows by columns."""
    below = np.zeros((len(tables), tables.shape[1] + 1, tables.shape[2] + 1))
    below[:, 1:, 1:] = tables.cumsum(axis=1).cumsum(axis=2)
    lower_left = below[:, :-1, :-1]
    lower_right = below[:, :-1, -1:] - below[:, :-1, 1:]
    surplus = (tables * (lower_left - lower_right)).sum(axis=(1, 2))
    n = tables.sum(axis=(1, 2))
    values = np.minimum((tables.sum(axis=2) > 0).sum(axis=1), (tables.sum(axis=1) > 0).sum(axis=1))
    return divided(2 * surplus * values, n * n * (values - 1))


def error_agreement(
    first: Severities, second: Severities, draws: Draws = NO_INTERVAL
) -> Iterator[tuple[str, Definition, Result]]:
    """Whether both marked an error: of any severity, a minor one, a major one.

    As the ESA paper's table 4 has it: the share of translations that both marked or neither did. It calls
    that recall, and where errors are rare chance alone makes it high. Mended: Cohen's kappa of the same.
    """
    for name, kinds in _KINDS.items():
        one, other = count_errors(first, kinds), count_errors(second, kinds)
        yield f"error recall, {name}", "paper", error_recall(one, other, draws)
        kappa = cohen_kappa((one > 0).astype(np.float64), (other > 0).astype(np.float64), draws)
        yield f"error kappa, {name}", "mended", kappa


def meets(one: Mark, other: Mark) -> bool:
    """Whether two marks share a character, or are both without a place; the same whichever comes first."""
    return touches(one, other) or (one.first is None and other.first is None)


def mark_agreement(
    first: Marks, second: Marks, draws: Draws = NO_INTERVAL
) -> Iterator[tuple[str, Definition, Result]]:
    """How many marks of the one meet one alike of the other. The ESA paper, table 5.

    The paper asks it of the first annotator's marks alone, and misses marks that hold another one whole.
    Mended: of the marks of both, by any shared character, with an interval.
    """
    for same in SAME:
        if "category" in same and not any(
            mark.category for each in [*first, *second] for mark in each if mark.first is not None
        ):
            continue
        share = repeated_share(first, second, same, starts_or_ends_within)
        yield f"marks met, {same}", "paper", _share(share, sum(map(len, first)))
        yield f"marks met, {same}", "mended", met_by_both(first, second, draws, same=same)


def met_by_both(
    first: Marks,
    second: Marks,
    draws: Draws = NO_INTERVAL,
    *,
    same: str = "any",
    nothing: str = "nothing was marked",
) -> Result:
    """Share of the marks of both that meet one alike of the other, by any shared character."""
    hits = [
        sum(
            any(meets(one, other) and SAME[same](one, other) for other in others)
            for ones, others in ((a, b), (b, a))
            for one in ones
        )
        for a, b in zip(first, second, strict=True)
    ]
    of = [len(a) + len(b) for a, b in zip(first, second, strict=True)]
    return ratio_of(np.array(hits, float), np.array(of, float), draws, nothing)


def mark_coverage(by: Marks, marked: Marks) -> Iterator[tuple[Definition, Result]]:
    """How much of B's places A touches. The ESA paper, table 3.

    As in the paper: the mean over translations, where one without marks in B counts as covered. Mended: of
    all places together, so that translations without marks count nothing.
    """
    if by:
        yield "paper", _share(covered_share(by, marked), len(by))
    n = sum(len({(b.first, b.last) for b in marks if b.first is not None}) for marks in marked)
    yield "mended", _share(pooled_share(by, marked), n)


def _share(value: float, n: int) -> Result:
    if np.isnan(value):
        return Result(value=None, n=n, reason="nothing was marked")
    return Result(value=value, n=n)


_MOST_PAIRS: Final = 40  # of people whose agreement is told two by two
_FEWEST: Final = 3  # translations of two people of whom anything is told


@frozen
class Twice:
    """Translations that were judged twice."""

    name: str
    first: Sequence[Piece]
    second: Sequence[Piece]  # of the same translations

    @property
    def scores(self) -> tuple[Floats, Floats]:
        one, other = (np.array([piece.score for piece in side]) for side in (self.first, self.second))
        return one, other

    @property
    def marks(self) -> tuple[list[Sequence[Mark]], list[Sequence[Mark]]]:
        return [piece.marks for piece in self.first], [piece.marks for piece in self.second]

    @property
    def severities(self) -> tuple[list[list[str]], list[list[str]]]:
        return [piece.severities for piece in self.first], [piece.severities for piece in self.second]

    @property
    def has_marks(self) -> bool:
        return all(piece.has_marks for piece in (*self.first, *self.second))


def twice_judged(pieces: Sequence[Piece], beside: Sequence[Piece] = (), other: str = "") -> list[Twice]:
    """Every two judgements of one translation: of one person, of two people, of two campaigns.

    Of two people's, every pair of judgements counts once, the people in the order of their names. One
    person's are those of the first pass and of the last. With another campaign, the last judgement of each
    translation meets the last one there.
    """
    known = by_translation(independent(pieces))
    found: dict[str, list[tuple[Piece, Piece]]] = {"one person twice": [], "two people": []}
    for group in known.values():
        own = grouped((p.person, p) for p in sorted(group, key=lambda p: p.submission.ended))
        found["one person twice"] += [(mine[0], mine[-1]) for mine in own.values() if len(mine) > 1]
        found["two people"] += [(own[a][-1], own[b][-1]) for a, b in combinations(sorted(own), 2)]
    if beside:
        theirs = {p.key: p for p in sorted(final_pieces(beside), key=lambda p: p.submission.ended)}
        ours = {p.key: p for p in sorted(final_pieces(pieces), key=lambda p: p.submission.ended)}
        found[f"with {other}"] = [(piece, theirs[key]) for key, piece in ours.items() if key in theirs]
    return [
        Twice(name=name, first=[a for a, _ in pairs], second=[b for _, b in pairs])
        for name, pairs in found.items()
        if pairs
    ]


def agreement_section(pieces: Sequence[Piece], twice: Sequence[Twice], draws: Draws) -> Section:
    """Scores, errors and marks of the same translations. The ESA paper, tables 4 and 5."""
    title = "Do judgements of the same translation agree?"
    numbers: list[Number] = []
    for both in twice:
        numbers += _briefly(both.name, both, draws)
        if both.has_marks:
            for measure, definition, result in mark_agreement(*both.marks, over_segments(both.first, draws)):
                numbers.append(Number(of=both.name, measure=measure, result=result, definition=definition))
    numbers += _alpha(pieces, draws)
    notes = [] if twice else ["No translation was judged twice."]
    looks = [p for p in counted(pieces) if p.submission.kind == "again" and not p.submission.is_independent]
    if looks:
        notes.append(
            f"{len(looks):,} second looks at marks that people were shown are in none of these numbers."
        )
    met = grouped(
        (f"{a.person} and {b.person}", (a, b))
        for both in twice
        if both.name == "two people"
        for a, b in zip(both.first, both.second, strict=True)
    )
    ordered = sorted(met.items(), key=lambda item: (-len(item[1]), item[0]))
    pairs = {
        name: Twice(name=name, first=[a for a, _ in own], second=[b for _, b in own])
        for name, own in ordered
        if len(own) >= _FEWEST
    }
    for name, two in list(pairs.items())[:_MOST_PAIRS] if len(pairs) > 1 else []:
        numbers += [replace(one, is_of_pair=True) for one in _briefly(name, two, draws)]
    if len(pairs) > _MOST_PAIRS:
        notes.append(f"Of {len(pairs):,} pairs of people, the {_MOST_PAIRS} who share most are counted.")
    return Section(name="agreement", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _briefly(name: str, both: Twice, draws: Draws) -> Iterator[Number]:
    drawing = over_segments(both.first, draws)
    for measure, result in score_agreement(*both.scores, drawing).items():
        yield Number(of=name, measure=measure, result=result)
    if both.has_marks:
        for measure, definition, result in error_agreement(*both.severities, drawing):
            yield Number(of=name, measure=measure, result=result, definition=definition)


def _alpha(pieces: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    shared = {
        key: group
        for key, group in by_translation(final_pieces(independent(pieces))).items()
        if len({piece.person for piece in group}) > 1
    }
    if not shared:
        return
    people = {p: column for column, p in enumerate(sorted({x.person for g in shared.values() for x in g}))}
    labels = np.full((len(shared), len(people)), np.nan)
    for row, group in enumerate(shared.values()):
        for piece in group:
            labels[row, people[piece.person]] = piece.score
    drawing = replace(draws, groups=numbered([key[:2] for key in shared]))
    result = krippendorff_alpha(labels, "interval", drawing)
    yield Number(of="two people", measure="Krippendorff alpha, interval", result=result)


def overlap_section(pieces: Sequence[Piece], twice: Sequence[Twice], gold: dict[Key, Annotation]) -> Section:
    """How much of what one marked the other marked, too. The ESA paper, table 3."""
    numbers: list[Number] = []
    for both in twice:
        if both.has_marks:
            sides = both.marks
            words = ("first", "second")
            for place in (0, 1):
                name = f"{both.name}: the {words[place]} covers the {words[1 - place]}"
                numbers += _coverage(name, sides[place], sides[1 - place])
    marked = [piece for piece in final_pieces(pieces) if piece.key in gold and piece.has_marks]
    if marked and any(annotation.spans for annotation in gold.values()):
        ours = [piece.marks for piece in marked]
        theirs = [marks_of(s for s in gold[piece.key].spans if s.severity != "neutral") for piece in marked]
        numbers += _coverage("people cover gold", ours, theirs)
        numbers += _coverage("gold covers people", theirs, ours)
    notes = () if numbers else ("Nothing was marked twice, and there is no gold with marks.",)
    title = "How much of one's marks does the other one have?"
    return Section(name="overlap", title=title, numbers=tuple(numbers), notes=notes)


def _coverage(name: str, by: Sequence[Sequence[Mark]], marked: Sequence[Sequence[Mark]]) -> Iterator[Number]:
    for definition, result in mark_coverage(by, marked):
        yield Number(of=name, measure="share of marks covered", result=result, definition=definition)


def gold_section(pieces: Sequence[Piece], gold: dict[Key, float], draws: Draws) -> Section:
    """Scores of translations beside gold's. The ESA paper, table 2."""
    title = "Do people rate translations as gold does?"
    kept = [piece for piece in final_pieces(pieces) if piece.key in gold]
    if len(kept) < 2:
        return Section(name="gold", title=title, notes=("Gold judged none of these translations.",))
    groups = by_translation(kept)
    theirs = np.array([gold[key] for key in groups])
    drawing = replace(draws, groups=numbered([key[:2] for key in groups]))
    numbers = []
    for name in ("rating", "points") if kept[0].rating is not None and kept[0].has_marks else ("",):
        values = [[p.points if name == "points" else p.score for p in group] for group in groups.values()]
        ours = np.array([float(np.mean(own)) for own in values])
        for measure, result in score_agreement(theirs, ours, drawing).items():
            numbers.append(Number(of=name or "all", measure=measure, result=result))
    missing = len(by_translation(final_pieces(pieces))) - len(groups)
    notes = (f"Translations left out, for which gold has no score: {missing:,}.",) if missing else ()
    return Section(name="gold", title=title, numbers=tuple(numbers), notes=notes)


THRESHOLD: Final = 0.7
LEAST_SHARED: Final = 5
"""Systems that two people must both have rated in a segment before their correlation decides on it."""

_Segment = tuple[str, str]


@frozen
class SegmentAgreement:
    """How far annotators agree on one segment's systems."""

    lp: str  # language pair
    segment: str
    annotators: int  # how many rated it
    pairs: int  # pairs of them that share enough systems
    undefined: int  # of these, pairs without a correlation, since ratings are constant
    # smallest correlation of a pair; 1 for identical constant ratings. None where no pair has one.
    lowest: float | None
    passes: bool | None  # whether every pair reaches the threshold; None where there is no pair


def segment_agreements(
    annotations: Iterable[Annotation], threshold: float = THRESHOLD, *, least_shared: int = LEAST_SHARED
) -> list[SegmentAgreement]:
    """Agreement on each segment, in the order in which they are first met.

    RATE and MENT, section 3.4: of each segment, the scores that any two annotators give to the translations
    of all systems must have a Pearson correlation of 0.7 or more. r does not exist where one of the two
    gave all systems the same rating: two who gave every system the same rating as each other agree all the
    same, other constant ratings fail, and are counted. Of few systems r says next to nothing: of two it is
    always 1 or -1. Where two share fewer than five, nothing is said; a segment without any pair that can be
    judged is left alone, and counted.
    """
    if least_shared < 2:
        raise UsageError(f"a correlation needs two systems or more, got least_shared={least_shared!r}")
    if not -1 <= threshold <= 1:
        raise UsageError(f"a correlation lies in -1 to 1, got a threshold of {threshold!r}")
    found = _rated(annotations)
    return [_agreement(key, ratings, threshold, least_shared) for key, ratings in found.items()]


def _rated(annotations: Iterable[Annotation]) -> dict[_Segment, dict[str, dict[str, float]]]:
    found: dict[_Segment, dict[str, dict[str, float]]] = {}
    for one in annotations:
        if one.rating is not None:
            by_annotator = found.setdefault((one.lp, one.segment), {})
            by_annotator.setdefault(one.annotator, {})[one.system] = one.rating
    return found


def _agreement(
    key: _Segment, ratings: Mapping[str, Mapping[str, float]], threshold: float, least_shared: int
) -> SegmentAgreement:
    both = combinations(ratings.values(), 2)
    pairs = [(one, other) for one, other in both if len(one.keys() & other.keys()) >= least_shared]
    known: list[float | None] = []
    agreed: list[float | None] = []
    for one, other in pairs:
        shared = sorted(one.keys() & other.keys())
        first, second = (np.array([ratings[system] for system in shared]) for ratings in (one, other))
        known.append(pearson(first, second).value)
        agreed.append(1.0 if known[-1] is None and (first == second).all() else known[-1])
    return SegmentAgreement(
        lp=key[0],
        segment=key[1],
        annotators=len(ratings),
        pairs=len(pairs),
        undefined=known.count(None),
        lowest=min((r for r in agreed if r is not None), default=None),
        passes=all(r is not None and r >= threshold for r in agreed) if pairs else None,
    )


@frozen
class PairAgreement:
    """How far two annotators order the systems of one language pair alike."""

    lp: str
    first: str  # annotator, before the second one by name
    second: str
    # Pearson of the systems' sums over the segments that both rated whole; `n` is systems
    over_systems: Result
    within_segments: Result  # mean over segments of the Pearson of that segment's systems; `n` is segments
    summed: int  # segments in the sums
    partial: int  # segments left out of the sums, since one of the two did not rate all of the systems there
    undefined: int  # segments left out of the mean, since they have too few systems or one rating for all

    @property
    def name(self) -> str:
        return f"{self.first} and {self.second}"


def pair_agreements(
    annotations: Iterable[Annotation], *, least_shared: int = LEAST_SHARED
) -> list[PairAgreement]:
    """Inter-annotator agreement of every two who rated the same segments, by language pair and name.

    MENT (the RATE paper, appendix A.3): equation 1 is the Pearson of two vectors, which hold for each system
    the sum of one annotator's ratings over the segments that both rated (figure 3); figure 7 is the mean over
    these segments of each one's own Pearson. Sums of different segments would compare different texts: a
    segment where one of the two lacks a system is left out of the sums, and counted.
    """
    pairs = grouped(
        ((lp, first, second), (ratings[first], ratings[second]))
        for (lp, _), ratings in _rated(annotations).items()
        for first, second in combinations(sorted(ratings), 2)
    )
    return [_of_pair(who, both, least_shared) for who, both in sorted(pairs.items())]


def _of_pair(
    who: tuple[str, str, str],
    both: Sequence[tuple[Mapping[str, float], Mapping[str, float]]],
    least_shared: int,
) -> PairAgreement:
    systems = sorted({name for one, other in both for name in (*one, *other)})
    whole = [pair for pair in both if all(len(ratings) == len(systems) for ratings in pair)]
    sums = np.array([[sum(pair[side][name] for pair in whole) for name in systems] for side in (0, 1)], float)
    over = Result(value=None, n=len(systems), reason="no segment has ratings of all systems by both")
    if len(systems) < least_shared:
        over = Result(value=None, n=len(systems), reason=f"fewer than {least_shared} systems")
    elif whole:
        over = pearson(sums[0], sums[1])
    within = []
    for one, other in both:
        names = sorted(one.keys() & other.keys())
        if len(names) >= least_shared:
            rows = (np.array([ratings[name] for name in names]) for ratings in (one, other))
            within.append(pearson(next(rows), next(rows)).value)
    known = [r for r in within if r is not None]
    return PairAgreement(
        lp=who[0],
        first=who[1],
        second=who[2],
        over_systems=over,
        within_segments=Result(value=float(np.mean(known)), n=len(known))
        if known
        else Result(value=None, n=0, reason="no segment has a correlation"),
        summed=len(whole),
        partial=len(both) - len(whole),
        undefined=len(both) - len(known),
    )


def annotator_section(final: Sequence[Piece], pairs: Sequence[PairAgreement]) -> Section:
    """How far every two annotators order systems alike, and how many segments pass. RATE, figures 3, 7."""
    numbers: list[Number] = []
    for one in pairs:
        both = {"Pearson over systems": one.over_systems, "Pearson within segments": one.within_segments}
        numbers += [Number(of=one.name, measure=m, result=r, is_of_pair=True) for m, r in both.items()]
    outcomes = [one.passes for one in segment_agreements(piece.annotation for piece in final)]
    passed = share_of([one for one in outcomes if one is not None], "no segment can be decided on")
    numbers.append(Number(of="all", measure=f"share of segments with r of {THRESHOLD}", result=passed))
    told = {
        "left out of sums over segments, since one of two did not rate all systems": sum(
            one.partial for one in pairs
        ),
        "left out of means, since ratings of too few systems or all alike have no correlation": sum(
            one.undefined for one in pairs
        ),
        f"not decided on, since no two rated {LEAST_SHARED} systems of them": outcomes.count(None),
    }
    return Section(
        name="annotators",
        title="Do every two annotators order the systems alike?",
        numbers=tuple(numbers),
        notes=tuple(f"Segments {what}: {amount:,}." for what, amount in told.items() if amount),
    )
