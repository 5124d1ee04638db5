"""Scores with and without the texts that look like attacks on whoever judges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adjudge.core.annotation import SUSPECT
from adjudge.core.score import Suspects, SystemScore
from adjudge.core.wording import form, of_all
from adjudge.scoring.judgements import Judgement

__all__ = ["find_suspects", "suspects_note"]

_IN_TRANSLATION = "@translation"
_DIGITS = 4


def find_suspects(
    judged: Sequence[Judgement], score: Callable[[Sequence[Judgement]], Sequence[SystemScore]], share: int
) -> Suspects | None:
    """Count flagged judgements, and score the systems without the segments that have one.

    A flagged segment is left out for every system, so that what is left can still be compared.

    Args:
        judged: of one language pair, or of several that are scored as one.
        score: scores systems.
        share: how many judgements are one, as the two of a comparison.

    Returns:
        None where nothing is flagged.
    """
    flagged = [j for j in judged if SUSPECT in j.flags]
    if not flagged:
        return None
    segments = {(j.lp, j.segment) for j in flagged}
    rest = [j for j in judged if (j.lp, j.segment) not in segments]
    alone = sum(any(flag.endswith(_IN_TRANSLATION) for flag in j.flags) for j in flagged)
    return Suspects(
        judgements=len(flagged) // share,
        asked=len(judged) // share,
        in_translation=alone // share,
        segments=len(segments),
        systems=tuple(score(rest)),
    )


def suspects_note(suspects: Suspects | None, systems: Iterable[SystemScore]) -> list[str]:
    """Say how many judgements are flagged, and how much it matters."""
    if suspects is None:
        return []
    flagged = of_all(suspects.judgements, suspects.asked, "judgement")
    which = f"{flagged} {form(suspects.judgements, 'is', 'are')} flagged {SUSPECT}"
    alone = f"{suspects.in_translation} of them for what a translation holds and its source does not"
    without = {s.system: s.score for s in suspects.systems}
    moves = {
        s.system: rest - s.score
        for s in systems
        if s.score is not None and (rest := without.get(s.system)) is not None
    }
    if not moves:
        return [f"{which}, {alone}; no score can be had without their segments ({suspects.segments})."]
    most = max(moves, key=lambda name: abs(moves[name]))
    segments = f"Without their segments ({suspects.segments}) {most} moves most"
    return [f"{which}, {alone}. {segments}, by {moves[most]:+.{_DIGITS}g}."]
