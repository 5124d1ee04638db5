"""What a run has paid, and whether it may pay for one call more.

Before an attempt is sent, the most that it can cost is set aside: every byte of its messages as a token, and
a reply as long as it may be. What it did cost takes its place afterwards. An attempt that may have been paid
and was not counted, since its answer never came whole, goes on counting with that most. So a budget is never
crossed, whatever is in flight; near its end fewer calls are made at a time, and then none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import orjson

from adjudge.core.ask import Reply, Usage
from adjudge.data.calls import Spent
from adjudge.errors import BudgetError
from adjudge.llm.delimiters import render_message
from adjudge.llm.faults import Fault
from adjudge.llm.model import Request
from adjudge.llm.prices import Price

__all__ = ["NOTHING", "STOPPED", "Account", "Budget", "Meter", "most_of", "render_price", "unsure_of"]

_FRAME: Final = 64  # tokens of a chat template around one message, and around all

NOTHING: Final = Usage()

STOPPED: Final = Fault(consequence="retry", reason="connection", detail="the run was stopped meanwhile")
"""Outcome of an attempt that was under way when the run was stopped."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of what a run directory may cost, over all its sessions.

    Args:
        amount: in the currency of the prices; None for no limit.
        tokens: of prompts and replies; None for no limit.
    """

    amount: Decimal | None = None
    tokens: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return self.amount is not None or self.tokens is not None


def most_of(request: Request) -> Usage:
    """What a call can cost at most: no token is shorter than a byte, and the reply may fill its room."""
    size = _FRAME if request.schema is None else _FRAME + len(orjson.dumps(request.schema))
    size += sum(_FRAME + len(orjson.dumps([t.name, t.description, t.parameters])) for t in request.tools)
    for message in request.messages:
        size += _FRAME + len(render_message(message, request.mark).encode())
        size += sum(_FRAME + len(orjson.dumps([c.name, c.arguments, c.state])) for c in message.calls)
    return Usage(prompt=size, completion=request.sampling.max_tokens)


class Meter:
    """What a run has paid so far; shared by all its models.

    Args:
        prices: of each model that may be asked, None where unknown.
        budget: limits.
        before: what earlier sessions paid, by model.
    """

    def __init__(
        self,
        prices: Mapping[str, Price | None],
        budget: Budget = Budget(),
        before: Mapping[str, Spent] | None = None,
    ) -> None:
        self._prices = prices
        self._budget = budget
        self._spent = dict(before or {})
        self._held: dict[int, tuple[str, Usage]] = {}
        self._numbers = iter(range(2**62))
        self._waiting: list[asyncio.Future[None]] = []
        self._amount = Decimal()
        for name, spent in self._spent.items():
            self._amount += self._cost(name, spent.usage) + self._cost(name, spent.unsure)
        self._tokens = sum(_size(s.usage) + _size(s.unsure) for s in self._spent.values())
        self._held_amount = Decimal()
        self._held_tokens = 0
        self._over: BudgetError | None = None

    @property
    def price(self) -> Decimal | None:
        """What was paid; None where the price of a model is unknown, or an answer came without a count."""
        total = Decimal()
        for name, spent in self._spent.items():
            price = self._prices.get(name)
            if price is None and (_size(spent.usage) or spent.uncounted):
                return None
            if price is not None:
                if spent.uncounted and (price.prompt or price.completion):
                    return None
                total += price.cost(spent.usage)
        return total

    @property
    def paid(self) -> tuple[Decimal, int]:
        """Amount and tokens that count against the budget."""
        return self._amount, self._tokens

    @property
    def words(self) -> str:
        """The price as a person reads it."""
        return render_price(self.price, self.currency)

    @property
    def currency(self) -> str:
        """Of the price; empty where there is none."""
        return next((price.currency for price in self._prices.values() if price is not None), "")

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        return self._budget.is_set

    def fits(self, model: str, most: Usage) -> bool:
        """Whether so much more cannot cross the budget."""
        return not self.is_limited or self._fits(model, most)

    def hold(self, model: str, most: Usage) -> int:
        """Set aside what calls can cost that are out already; `free` takes the number."""
        number = next(self._numbers)
        self._held[number] = (model, most)
        self._held_amount += self._cost(model, most)
        self._held_tokens += _size(most)
        return number

    def free(self, number: int) -> tuple[str, Usage]:
        """Give back what was set aside: what it did cost is known."""
        model, most = self._held.pop(number)
        self._held_amount -= self._cost(model, most)
        self._held_tokens -= _size(most)
        return model, most

    def refusal(self, model: str, most: Usage, what: str = "the next call") -> BudgetError:
        """Why what can cost so much is not asked."""
        return BudgetError(self._say(model, most, what))

    async def reserve(self, model: str, most: Usage) -> int:
        """Set aside what an attempt can cost at most; wait while calls in flight leave no room for it.

        Returns:
            What `settle` must be called with once the attempt is over, whatever became of it.

        Raises:
            BudgetError: nothing is in flight, and it could cross the budget.
        """
        while not self._fits(model, most):
            if not self._held and self._over is None:
                self._over = self.refusal(model, most)
                self._wake()
            if self._over is not None:
                raise self._over
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        return self.hold(model, most)

    def settle(
        self, model: str, number: int | None, paid: Usage, *, unsure: Usage = NOTHING, answered: bool = False
    ) -> None:
        """Take what an attempt did cost in place of what was set aside.

        Args:
            model: that was asked.
            number: what `reserve` gave; None where more was set aside at once, which `free` gives back.
            paid: tokens that the server counted.
            unsure: what it may have cost at most, where the server counted none and may be paid.
            answered: whether an answer came.
        """
        size, before = _size(paid), self._spent.get(model) or Spent()
        self._spent[model] = Spent(
            before.usage + paid if size else before.usage,
            before.unsure + unsure if unsure is not NOTHING else before.unsure,
            before.uncounted + (answered and not size),
        )
        if not self.is_limited:
            return
        if number is not None:
            self.free(number)
        self._amount += self._cost(model, paid) + self._cost(model, unsure)
        self._tokens += size + _size(unsure)
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _fits(self, model: str, most: Usage) -> bool:
        if self._over is not None:
            return False
        amount, tokens = self._budget.amount, self._budget.tokens
        if amount is not None and self._amount + self._held_amount + self._cost(model, most) > amount:
            return False
        return tokens is None or self._tokens + self._held_tokens + _size(most) <= tokens

    def _cost(self, model: str, usage: Usage) -> Decimal:
        price = self._prices.get(model)
        return Decimal() if price is None else price.cost(usage)

    def _say(self, model: str, most: Usage, what: str) -> str:
        """What is left, and what comes next may cost."""
        budget = self._budget
        if budget.amount is not None and self._amount + self._cost(model, most) > budget.amount:
            option = "--budget"
            numbers = (budget.amount, self._amount, self._cost(model, most))
            limit, paid, next_ = (render_price(number, self.currency) for number in numbers)
        else:
            option = "--budget-tokens"
            limit, paid, next_ = (f"{n:,} tokens" for n in (budget.tokens, self._tokens, _size(most)))
        return (
            f"the budget of {limit} is reached: {paid} are paid, and {what} may cost up to "
            f"{next_}. What was answered is stored; the same command with a higher {option} goes on"
        )


@dataclass(frozen=True)
class Account:
    """What one model is charged to; without a meter nothing is counted.

    Args:
        model: `provider/model`.
        meter: of the run.
    """

    model: str
    meter: Meter | None = None

    async def reserve(self, request: Request) -> int:
        """Set aside what the attempt can cost, where there is a budget; see `Meter.reserve`."""
        if self.meter is None or not self.meter.is_limited:
            return 0
        return await self.meter.reserve(self.model, most_of(request))

    def settle(self, request: Request, number: int | None, outcome: Reply | Fault | None) -> Usage:
        """Count what the attempt did cost; None is one that was never sent.

        Returns:
            What it may have cost at most, where that is not known.
        """
        is_unsure = outcome is not None and _may_be_paid(outcome)
        unsure = most_of(request) if is_unsure else NOTHING
        if self.meter is not None:
            paid, answered = NOTHING if outcome is None else outcome.usage, isinstance(outcome, Reply)
            self.meter.settle(self.model, number, paid, unsure=unsure, answered=answered)
        return unsure


def unsure_of(request: Request, reply: Reply) -> Usage:
    """What an answer may have cost at most, whose tokens the server did not count."""
    return NOTHING if _size(reply.usage) else most_of(request)


def _may_be_paid(outcome: Reply | Fault) -> bool:
    """Whether the server may have answered and asked for money, and no count of it came."""
    if _size(outcome.usage):
        return False
    if isinstance(outcome, Reply):
        return True
    is_sent = outcome.consequence == "retry" and not outcome.is_free
    return is_sent and (outcome.status is None or 200 <= outcome.status < 300)


def _size(usage: Usage) -> int:
    """Tokens that are paid."""
    apart = usage.reasoning if usage.reasoning > usage.completion else 0
    return usage.prompt + usage.completion + apart


def render_price(price: Decimal | float | None, currency: str) -> str:
    """A price as a person reads it; what is unknown is never 0."""
    return "price unknown" if price is None else f"{_short(Decimal(price))} {currency}".rstrip()


def _short(amount: Decimal) -> str:
    """To the cent; what is less than 1 to four digits."""
    if amount >= 1 or amount == round(amount, 2):
        return f"{amount:.2f}"
    return f"{amount:.{3 - amount.adjusted()}f}".rstrip("0")
