"""What a mean does not show: which segments it is over. Sentences for people, with the counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from adjudge.core.score import SegmentScore, SystemScore
from adjudge.core.wording import count, form, of_all
from adjudge.scoring.judgements import Judgement

__all__ = [
    "READINGS",
    "annotators_note",
    "comparisons_note",
    "coverage_note",
    "failures_note",
    "pending_note",
    "readings_note",
]

READINGS: Final[Mapping[str, str]] = {
    "extracted": "read out of a longer reply",
    "normalised": "read from another spelling than asked for",
    "comparison_failed": "made though a comparison on the way failed, which may have moved the score",
}
"""Flags that say how far a judgement is from a whole reply in the form that was asked for, in the order of
signatures."""

_MOST_NAMES = 3


def failures_note(failed: int, asked: int) -> list[str]:
    """Say how many judgements failed."""
    if not failed:
        return []
    have = form(failed, "it has no score and is", "they have no score and are")
    return [f"{of_all(failed, asked, 'judgement')} failed; {have} in no mean."]


def readings_note(counts: Mapping[str, int], asked: int) -> list[str]:
    """Say how many judgements were read out of anything but a whole reply in the form that was asked for.

    Args:
        counts: judgements by flag, `READINGS`.
        asked: judgements that were asked for.
    """
    return [
        f"{of_all(number, asked, 'judgement')} {form(number, 'was', 'were')} {READINGS[flag]} (flag {flag})."
        for flag, number in counts.items()
        if number
    ]


def pending_note(pending: int) -> list[str]:
    """Say how many judgements an unfinished run lacks."""
    if not pending:
        return []
    which = f"{count(pending, 'judgement')} {form(pending, 'is', 'are')}"
    return [f"{which} still pending: the run is not finished."]


def coverage_note(segments: Iterable[SegmentScore]) -> list[str]:
    """Say so where systems are not judged on the same segments: their means are not comparable."""
    judged: dict[str, set[tuple[str, str]]] = {}
    for s in segments:
        found = judged.setdefault(s.system, set())
        if s.score is not None:
            found.add((s.lp, s.segment))
    sets = list(judged.values())
    if all(found == sets[0] for found in sets):
        return []
    common = len(set.intersection(*sets))
    sizes = {system: len(found) for system, found in judged.items()}
    which = f"The systems are not judged on the same segments ({_spread(sizes)}; {common:,} in common)"
    return [f"{which}: compare them with `adjudge rank`, which takes the common segments only."]


def comparisons_note(systems: Iterable[SystemScore]) -> list[str]:
    """Say so where systems are compared unequally often."""
    sizes = {s.system: s.n for s in systems}
    if len(set(sizes.values())) == 1:
        return []
    return [f"The systems are not compared equally often ({_spread(sizes)} comparisons)."]


def _spread(sizes: Mapping[str, int]) -> str:
    """List a few counts, or the lowest and the highest of many."""
    if len(sizes) <= _MOST_NAMES:
        return ", ".join(f"{system} {n:,}" for system, n in sizes.items())
    low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    return f"from {sizes[low]:,} for {low} to {sizes[high]:,} for {high}"


def annotators_note(judgements: Sequence[Judgement]) -> list[str]:
    """Say so where some translations were judged by more annotators than others."""
    counts: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for j in judgements:
        counts[j.lp, j.segment, j.system] += j.number is not None
    judged = [n for n in counts.values() if n]
    if not judged or min(judged) == max(judged):
        return []
    which = f"Each translation was judged by {min(judged)} to {max(judged)} annotators"
    return [f"{which}; its score is the mean over those who judged it."]
