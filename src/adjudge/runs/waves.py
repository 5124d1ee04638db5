"""Work through units in waves: all of them until they can get no further, then what they asked, and again.

Judging again is what resuming a run is: a judge is deterministic given its answers, so it walks through the
call store and gets as far as there are answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from typing import Final

from adjudge.runs.journal import Entry
from adjudge.runs.units import Unit
from adjudge.runs.work import WINDOW, Judging, Sink, work

__all__ = ["work_in_waves"]

_BLOCK: Final = WINDOW
"""Units in one wave at most: so many may wait for the slowest before them."""


async def work_in_waves(
    units: Iterator[Unit],
    at_hand: Callable[[Iterator[Unit]], Iterator[Unit]],
    judge: Judging,
    sink: Sink,
    *,
    width: int,
    turn: Callable[[], Awaitable[None]],
) -> None:
    """Judge all units; their questions go out together, wave by wave.

    Args:
        units: to be judged.
        at_hand: has their stored calls at hand.
        judge: one unit; gives None where it can get no further before answers come.
        sink: takes the records.
        width: units at a time.
        turn: between two waves: sends what was asked, and waits for it.

    Raises:
        AdjudgeError: the first that a unit or a turn raises.
    """
    while left := list(islice(units, _BLOCK)):
        while left := await _wave(at_hand(iter(left)), judge, sink, width):
            await turn()


async def _wave(units: Iterator[Unit], judge: Judging, sink: Sink, width: int) -> list[Unit]:
    """Take all as far as possible; those that wait for answers, in order."""
    waiting: list[Unit] = []

    async def judged(unit: Unit) -> Entry | None:
        entry = await judge(unit)
        if entry is None:
            waiting.append(unit)
        return entry

    await work(units, judged, sink, width=width)
    return sorted(waiting, key=lambda unit: unit.index)
