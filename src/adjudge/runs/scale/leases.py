"""How processes share what one of them alone would have: calls at a time, and a budget. Plain arithmetic.

Nothing here waits or knows of time. `broker.py` has one of each for a run, and lends out of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import Final, NamedTuple

from adjudge.llm.budget import Budget

__all__ = ["NOTHING", "Calls", "Money", "Purse", "divide"]

_BLOCK: Final = 4  # a lease takes at most so small a part of what is left, divided by the number of workers
_STEP: Final = Decimal("1e-9")


def divide(total: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Divide so that nobody has more than wanted while another has less than that: max-min fairness.

    Args:
        total: to be divided; at least as much as there are who want it.
        wanted: by whom, how much.

    Returns:
        To each at least 1; more than `total` is given only where there are more than that.
    """
    left, given = total, dict.fromkeys(wanted, 1)
    left -= len(given)
    hungry = [name for name in wanted if wanted[name] > 1]
    while left > 0 and hungry:
        share = max(left // len(hungry), 1)
        for name in hungry[:left]:
            more = min(share, wanted[name] - given[name])
            given[name] += more
            left -= more
        hungry = [name for name in hungry if given[name] < wanted[name]]
    for place, name in enumerate(given):  # nobody wants the rest: it lies where it is quickly used
        given[name] += max(left, 0) // len(given) + (place < max(left, 0) % len(given))
    return given


@dataclass
class Calls:
    """Calls at a time with one server, lent to workers.

    Args:
        total: in all; at least one for each worker.
        workers: who borrow.
    """

    total: int
    workers: tuple[str, ...]
    lent: dict[str, int] = field(init=False)
    wanted: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Lend to all alike, until they say what they want."""
        self.wanted = dict.fromkeys(self.workers, 1)
        self.lent = divide(self.total, self.wanted)

    def lend(self, worker: str, wanted: int, flying: int) -> int:
        """Say anew how many a worker may have.

        What others have is taken from nobody: they give it back when they say anew, and so the total holds.

        Args:
            worker: who asks.
            wanted: calls that it has under way or waiting.
            flying: of them, those under way; they cannot be taken back.
        """
        self.wanted[worker] = max(wanted, 1)
        target = divide(self.total, self.wanted)[worker]
        others = sum(lent for name, lent in self.lent.items() if name != worker)
        self.lent[worker] = max(min(target, self.total - others), min(flying, self.lent.get(worker, 0)), 1)
        return self.lent[worker]

    def take_back(self, worker: str) -> None:
        """Take back what a worker had that is no more, but for what its successor begins with."""
        self.lent[worker] = self.wanted[worker] = 1


class Money(NamedTuple):
    """A part of a budget: an amount, and tokens."""

    amount: Decimal
    tokens: int

    def plus(self, other: Money) -> Money:
        """Both together."""
        return Money(self.amount + other.amount, self.tokens + other.tokens)

    def minus(self, other: Money) -> Money:
        """What is left without the other."""
        return Money(self.amount - other.amount, self.tokens - other.tokens)


NOTHING: Final = Money(Decimal(), 0)


class Purse:
    """A budget, lent to workers in blocks that get smaller as it ends.

    Args:
        budget: what the run directory may cost in all.
        paid: by earlier sessions.
        workers: so many borrow.
    """

    def __init__(self, budget: Budget, paid: Money, workers: int) -> None:
        self.budget = budget
        self.paid = paid
        self.is_scarce = False
        self._workers = max(workers, 1)
        self._lent: defaultdict[str, Money] = defaultdict(lambda: NOTHING)

    @property
    def lent(self) -> Money:
        """What workers hold that is neither paid nor given back."""
        total = NOTHING
        for money in self._lent.values():
            total = total.plus(money)
        return total

    def borrow(self, worker: str, need: Money) -> Money | None:
        """Lend at least what is needed; None where that is not left, and from then on it is scarce."""
        left = self._left()
        if not _covers(left, need):
            self.is_scarce = True
            return None
        parts = _BLOCK * self._workers
        amount = (left.amount / parts).quantize(_STEP, ROUND_DOWN)  # or sums would not come out even
        block = Money(amount, left.tokens // parts)
        if self.is_scarce or not _covers(block, need):
            self.is_scarce = True
            block = need
        self._lent[worker] = self._lent[worker].plus(block)
        return block

    def settle(self, worker: str, paid: Money, back: Money) -> None:
        """Take what a worker has paid of its loan, and what it gives back."""
        self.paid = self.paid.plus(paid)
        self._lent[worker] = self._lent[worker].minus(paid).minus(back)

    def write_off(self, worker: str) -> None:
        """Count all that a worker held as paid which is no more: it may have been."""
        self.paid = self.paid.plus(self._lent.pop(worker, NOTHING))

    def _left(self) -> Money:
        """What can be lent; nothing of what has no limit, since nobody needs it."""
        gone = self.paid.plus(self.lent)
        amount, tokens = self.budget.amount, self.budget.tokens
        return Money(
            Decimal() if amount is None else amount - gone.amount,
            0 if tokens is None else tokens - gone.tokens,
        )


def _covers(left: Money, need: Money) -> bool:
    return left.amount >= need.amount and left.tokens >= need.tokens
