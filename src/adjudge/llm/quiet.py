"""Which of several failed questions a judgement fails with: not the one that a fast server failed first.

A judge asks in parallel, and the first exception ends its `gather`. Were it raised at once, the reason of the
failure would depend on timing, and a run that was interrupted would end in other records than one that was
not. So a failed question waits until its unit of work is quiet, that is until every other question of the
unit was answered or failed too; then the failures are raised in an order that only the questions decide.

Where answers come later (`--engine batch`), questions are parked. A unit that is quiet and has parked
questions can get no further now, and is told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

__all__ = ["Quiet"]

Order = tuple[str, str, bytes]
_TURNS: Final = 10  # of the event loop; an answered question starts its next one within three


class Quiet:
    """The open and the failed questions of one unit of work."""

    def __init__(self) -> None:
        self._open = 0
        self._changes = 0
        self._held: list[tuple[Order, asyncio.Future[None]]] = []
        self._parked = 0
        self._stop: Callable[[], object] | None = None
        self.is_waiting = False
        """Whether the unit can get no further before answers come."""

    def __enter__(self) -> None:
        """Count a question as open."""
        self._open += 1
        self._changed()

    def __exit__(self, *_: object) -> None:
        """Count it as answered or failed."""
        self._open -= 1
        self._changed()

    async def wait_turn(self, order: Order) -> None:
        """Hold a failed question until the unit is quiet and all that order before it are through."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        held = (order, turn)
        self._held.append(held)
        self._changed()
        try:
            await turn
        finally:
            if held in self._held:
                self._held.remove(held)

    def stop_with(self, stop: Callable[[], object]) -> None:
        """Say what is to be called once the unit can get no further before answers come."""
        self._stop = stop

    async def park(self) -> NoReturn:
        """Hold a question whose answer comes later, until its unit of work is stopped."""
        self._parked += 1
        self._changed()
        try:
            while True:
                await asyncio.get_running_loop().create_future()
        finally:
            self._parked -= 1

    def end(self) -> None:
        """Let everything go: the judgement is over."""
        for _, turn in self._held:
            if not turn.done():
                turn.set_result(None)

    def _changed(self) -> None:
        self._changes += 1
        still = len(self._held) + self._parked
        if still and still == self._open:
            self._look_again(self._changes, _TURNS)

    def _look_again(self, changes: int, turns: int) -> None:
        """Whoever was just answered has some turns to ask on before silence counts as silence."""
        if changes != self._changes or not (self._held or self._parked):
            return
        if turns:
            asyncio.get_running_loop().call_soon(self._look_again, changes, turns - 1)
            return
        if self._parked:
            self.is_waiting = True
            if self._stop is not None:
                self._stop()
            return
        _, turn = min(self._held, key=lambda held: held[0])
        if not turn.done():
            turn.set_result(None)
