"""Who agrees with whom: people with themselves, with each other, with another campaign, with gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from adjudge.core.annotation import Annotation
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.agreement.krippendorff import krippendorff_alpha
from adjudge.meta.campaign.agreeing import error_agreement, mark_agreement, mark_coverage, score_agreement
from adjudge.meta.campaign.marks import Mark, marks_of
from adjudge.meta.campaign.numbers import Number, Section
from adjudge.meta.campaign.pieces import Key, Piece, by_translation, counted, final_pieces
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import numbered

__all__ = ["Twice", "agreement_section", "gold_section", "overlap_section", "twice_judged"]

_MOST_PAIRS: Final = 40  # of people whose agreement is told two by two
_FEWEST: Final = 3  # translations of two people of whom anything is told


@dataclass(frozen=True, kw_only=True)
class Twice:
    """Translations that were judged twice.

    Args:
        name: by whom.
        first: judgements.
        second: of the same translations.
    """

    name: str
    first: Sequence[Piece]
    second: Sequence[Piece]

    @property
    def scores(self) -> tuple[Floats, Floats]:
        """Scores of both."""
        one, other = (np.array([piece.score for piece in side]) for side in (self.first, self.second))
        return one, other

    @property
    def marks(self) -> tuple[list[Sequence[Mark]], list[Sequence[Mark]]]:
        """Marks of both."""
        return [piece.marks for piece in self.first], [piece.marks for piece in self.second]

    @property
    def severities(self) -> tuple[list[list[str]], list[list[str]]]:
        """Severities of both."""
        return [piece.severities for piece in self.first], [piece.severities for piece in self.second]

    @property
    def has_marks(self) -> bool:
        """Whether errors could be marked, both times."""
        return all(piece.has_marks for piece in (*self.first, *self.second))


def twice_judged(pieces: Sequence[Piece], beside: Sequence[Piece] = (), other: str = "") -> list[Twice]:
    """Every two judgements of one translation: of one person, of two people, of two campaigns.

    Of two people's, every pair of judgements counts once, the people in the order of their names. One
    person's are those of the first pass and of the last. With another campaign, the last judgement of each
    translation meets the last one there.

    Args:
        pieces: of the campaign.
        beside: of another campaign of the same translations.
        other: name of that one.
    """
    known = by_translation(counted(pieces))
    found = {"one person twice": _one_person(known.values()), "two people": _two_people(known.values())}
    if beside:
        theirs = {p.key: p for p in sorted(final_pieces(beside), key=lambda p: p.submission.ended)}
        ours = {p.key: p for p in sorted(final_pieces(pieces), key=lambda p: p.submission.ended)}
        found[f"with {other}"] = [(piece, theirs[key]) for key, piece in ours.items() if key in theirs]
    return [
        Twice(name=name, first=[a for a, _ in pairs], second=[b for _, b in pairs])
        for name, pairs in found.items()
        if pairs
    ]


def _one_person(groups: Iterable[Sequence[Piece]]) -> list[tuple[Piece, Piece]]:
    found = []
    for group in groups:
        own: dict[str, list[Piece]] = {}
        for piece in sorted(group, key=lambda p: p.submission.ended):
            own.setdefault(piece.person, []).append(piece)
        found += [(mine[0], mine[-1]) for mine in own.values() if len(mine) > 1]
    return found


def _two_people(groups: Iterable[Sequence[Piece]]) -> list[tuple[Piece, Piece]]:
    found = []
    for group in groups:
        last = {piece.person: piece for piece in sorted(group, key=lambda p: p.submission.ended)}
        found += [(last[a], last[b]) for a, b in combinations(sorted(last), 2)]
    return found


# Sections...


def agreement_section(pieces: Sequence[Piece], twice: Sequence[Twice], draws: Draws) -> Section:
    """Scores, errors and marks of the same translations. The ESA paper, tables 4 and 5."""
    title = "Do judgements of the same translation agree?"
    numbers: list[Number] = []
    for both in twice:
        numbers += _of_two(both, draws)
    numbers += _alpha(pieces, draws)
    notes = []
    if not twice:
        notes.append("No translation was judged twice.")
    pairs = _by_people(twice)
    for name, two in list(pairs.items())[:_MOST_PAIRS] if len(pairs) > 1 else []:
        numbers += _briefly(name, two, draws)
    if len(pairs) > _MOST_PAIRS:
        notes.append(f"Of {len(pairs):,} pairs of people, the {_MOST_PAIRS} who share most stand here.")
    return Section(name="agreement", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _by_people(twice: Sequence[Twice]) -> dict[str, Twice]:
    """Two people each, those who share most first."""
    pairs: dict[str, list[tuple[Piece, Piece]]] = {}
    for both in twice:
        if both.name == "two people":
            for a, b in zip(both.first, both.second, strict=True):
                pairs.setdefault(f"{a.person} and {b.person}", []).append((a, b))
    ordered = sorted(pairs.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        name: Twice(name=name, first=[a for a, _ in own], second=[b for _, b in own])
        for name, own in ordered
        if len(own) >= _FEWEST
    }


def _draws_of(both: Twice, draws: Draws) -> Draws:
    return replace(draws, groups=numbered([piece.key[:2] for piece in both.first]))


def _of_two(both: Twice, draws: Draws) -> Iterator[Number]:
    yield from _briefly(both.name, both, draws)
    if both.has_marks:
        for measure, definition, result in mark_agreement(*both.marks, _draws_of(both, draws)):
            yield Number(of=both.name, measure=measure, result=result, definition=definition)


def _briefly(name: str, both: Twice, draws: Draws) -> Iterator[Number]:
    drawing = _draws_of(both, draws)
    for measure, result in score_agreement(*both.scores, drawing).items():
        yield Number(of=name, measure=measure, result=result)
    if both.has_marks:
        for measure, definition, result in error_agreement(*both.severities, drawing):
            yield Number(of=name, measure=measure, result=result, definition=definition)


def _alpha(pieces: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    """Krippendorff's alpha of everybody's scores, on translations that several people judged."""
    shared = {
        key: group
        for key, group in by_translation(final_pieces(pieces)).items()
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
    notes = []
    groups = by_translation(kept)
    theirs = np.array([gold[key] for key in groups])
    drawing = replace(draws, groups=numbered([key[:2] for key in groups]))
    names = ["rating", "points"] if kept[0].rating is not None and kept[0].has_marks else [""]
    numbers = []
    for name in names:
        values = [[p.points if name == "points" else p.score for p in group] for group in groups.values()]
        ours = np.array([float(np.mean(own)) for own in values])
        for measure, result in score_agreement(theirs, ours, drawing).items():
            numbers.append(Number(of=name or "all", measure=measure, result=result))
    missing = len(by_translation(final_pieces(pieces))) - len(groups)
    if missing:
        notes.append(f"Translations left out, for which gold has no score: {missing:,}.")
    return Section(name="gold", title=title, numbers=tuple(numbers), notes=tuple(notes))
