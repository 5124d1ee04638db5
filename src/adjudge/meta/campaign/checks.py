"""The attention checks of a campaign: which damaged copy belongs to which original of the same person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.campaign.attention import Check, attention, damaged_range
from adjudge.meta.campaign.numbers import Definition, Number, Section
from adjudge.meta.campaign.pieces import Key, Piece, counted, score_name
from adjudge.meta.ranking.comparisons import numbered

__all__ = ["check_section", "checks_of"]

_TITLE: Final = "Do people notice damaged translations?"
_WHOSE: Final[Mapping[str, Definition]] = {
    "share with the damage marked": "paper",
    "share with the damage marked exactly": "mended",
}


def checks_of(pieces: Sequence[Piece]) -> tuple[list[Check], int]:
    """Every damaged copy whose original the same person judged, and how many others there are.

    Of one person's several judgements of the original, the last one counts.
    """
    originals: dict[tuple[str, Key], Piece] = {}
    for piece in sorted(counted(pieces), key=lambda p: p.submission.ended):
        originals[piece.person, piece.key] = piece
    found, alone = [], 0
    for copy in (piece for piece in pieces if piece.submission.kind == "check"):
        first = originals.get((copy.person, copy.key))
        if first is None:
            alone += 1
            continue
        text = copy.submission.originals.get(copy.annotation.system, first.text)
        check = Check(
            original=first.score,
            damaged=copy.score,
            original_marks=len(first.errors),
            marks=copy.marks,
            damage=damaged_range(text, copy.text),
            person=copy.person,
        )
        found.append(check)
    return found, alone


def check_section(pieces: Sequence[Piece], draws: Draws) -> Section:
    """Attention of all together and of each person."""
    checks, alone = checks_of(pieces)
    notes = []
    if alone:
        notes.append(f"Copies left out, whose originals are not judged by the same person: {alone:,}.")
    if not checks:
        return Section(name="attention", title=_TITLE, notes=(*notes, "There is no attention check."))
    if score_name(pieces) == "points":
        notes.append("Scores are points of the marked errors, since nothing was rated.")
    return Section(
        name="attention", title=_TITLE, numbers=tuple(_numbers(checks, pieces, draws)), notes=tuple(notes)
    )


def _numbers(checks: Sequence[Check], pieces: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    by_person: dict[str, list[Check]] = {}
    for check in checks:
        by_person.setdefault(check.person, []).append(check)
    groups: dict[str, tuple[Sequence[Check], Draws]] = {
        "all": (checks, replace(draws, groups=numbered([(c.person,) for c in checks])))
    }
    groups |= {person: (own, replace(draws, groups=None)) for person, own in sorted(by_person.items())}
    has_marks = any(piece.has_marks for piece in pieces)
    for who, (own, drawing) in groups.items():
        for measure, result in attention(own, drawing).items():
            if has_marks or "mark" not in measure:
                name = measure.removesuffix(" exactly")
                yield Number(of=who, measure=name, result=result, definition=_WHOSE.get(measure, ""))
