"""How long people take for a segment, and whether they become faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from adjudge.errors import UsageError
from adjudge.meta.measures.result import Floats

__all__ = [
    "BREAK",
    "SpeedUp",
    "learned_speed_up",
    "median_seconds",
    "progress_curve",
    "seconds_between_starts",
]

BREAK: Final = 300.0
"""Seconds; what is longer is a break and no work."""

_WINDOW: Final = 15  # segments that are averaged
_BINS: Final = 100
_EDGE: Final = slice(5, 10)  # bins at the start, without the first which hold the tutorial's habits


class SpeedUp(NamedTuple):
    """Seconds that a segment takes at the start and at the end; what each hundredth of the work saves."""

    start: float
    end: float
    saved: float


def seconds_between_starts(logins: Sequence[str], starts: Floats) -> Floats:
    """Time from the start of the item before to this one's, of the same login; 0 for the first.

    What the ESA paper calls the time of a segment, since in Appraise half of the items start and end at once.
    A break counts as work, and what is really measured is the item before. Where rows are not in the order of
    their starts, a difference may be negative.

    Args:
        logins: of each item, in the order of work.
        starts: seconds.
    """
    before: dict[str, float] = {}
    found = np.zeros(len(starts))
    for place, (login, start) in enumerate(zip(logins, starts.tolist(), strict=True)):
        found[place] = start - before.get(login, start)
        before[login] = start
    return found


def median_seconds(annotators: Sequence[str], seconds: Floats) -> tuple[float, float]:
    """Median over all items, and the mean of the annotators' medians, which slow and busy people cannot sway.

    Raises:
        UsageError: there is no item.
    """
    if not len(seconds):
        raise UsageError("a median of times needs one item at least")
    names = np.array(annotators)
    medians = [np.median(seconds[names == name]) for name in dict.fromkeys(annotators)]
    return float(np.median(seconds)), float(np.mean(medians))


def progress_curve(people: Sequence[Floats], *, bins: int = _BINS, window: int = _WINDOW) -> Floats:
    """Mean seconds of a segment by how much of the work is done.

    Breaks of more than 300 s become the person's median; each person is smoothed by a moving average and
    stretched to the bins; a bin is the mean of all that falls into it, so that who did more weighs more.
    Bins into which nothing falls are left out. The ESA paper, figure 5.

    Args:
        people: of each person, seconds of the segments in the order of work.
        bins: from the start to the end of the work.
        window: segments that are averaged; who judged fewer is left out.
    """
    found: list[list[float]] = [[] for _ in range(bins)]
    for seconds in people:
        if len(seconds) < window:
            continue
        steady = np.where(seconds > BREAK, np.median(seconds), seconds)
        smooth = np.convolve(steady, np.full(window, 1 / window), mode="valid")
        for place, value in enumerate(smooth.tolist()):
            found[place * bins // len(smooth)].append(value)
    return np.array([np.mean(values) for values in found if values])


def learned_speed_up(people: Sequence[Floats]) -> SpeedUp:
    """How much faster people become: mean of bins 6 to 10, of bins 91 to 95, and their difference over 100.

    The ESA paper, figure 5, which calls the last one seconds a segment, though it is a hundredth of the work.

    Raises:
        UsageError: too few segments to tell a start and an end.
    """
    curve = progress_curve(people)
    if len(curve) < _BINS // 4:
        raise UsageError(f"a speed-up needs more segments of one person, got a curve of {len(curve)} points")
    start, end = float(curve[_EDGE].mean()), float(curve[-10:-5].mean())
    return SpeedUp(start, end, (start - end) / _BINS)
