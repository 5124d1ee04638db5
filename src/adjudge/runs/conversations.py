"""The conversation behind a judgement as data for a page: who said what, how long it took, what it cost."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from adjudge.core.segment import Segment
from adjudge.data.call_rows import Attempt, Exchange
from adjudge.data.conversations import Conversations
from adjudge.llm.budget import render_price
from adjudge.llm.delimiters import mark_of
from adjudge.llm.prices import PriceTable, read_prices
from adjudge.runs.conversation import exchange_to_json

__all__ = ["ReadableRun"]


class ReadableRun:
    """A run directory whose conversations can be read."""

    def __init__(self, path: Path) -> None:
        """Find its store.

        Raises:
            DataError: it is no run directory.
            StoreError: it has no call store, or not one of ours.
            UsageError: prices in `adjudge.toml` that cannot be read.
        """
        self._conversations = Conversations(path)
        self._secret = bytes.fromhex(self._conversations.info.secret)
        self._prices = read_prices(None)

    def conversation(self, segment: Segment, systems: tuple[str, ...]) -> list[dict[str, object]]:
        """Questions and answers behind a judgement, in the order asked.

        Returns:
            For each what `exchange_to_json` says, and `time`, `seconds`, `asked` (the model) and `price` in
            words; these are empty where no attempt is known.

        Raises:
            StoreError: the store cannot be read any more.
        """
        mark = mark_of(segment, self._secret)
        found = self._conversations.find(segment.lp, segment.segment, systems)
        return [
            exchange_to_json(exchange, mark) | _answered(exchange, attempt, self._prices)
            for exchange, attempt in found
        ]


def _answered(exchange: Exchange, attempt: Attempt | None, prices: PriceTable) -> dict[str, object]:
    """When, how quickly and for how much a call was answered."""
    if attempt is None:
        return {"time": "", "seconds": None, "asked": "", "price": ""}
    return {
        "time": attempt.time,
        "seconds": attempt.seconds,
        "asked": attempt.model,
        "price": _price(exchange, attempt, prices),
    }


def _price(exchange: Exchange, attempt: Attempt, prices: PriceTable) -> str:
    """What it cost; nothing where no tokens are counted by design, as of the embedded rules."""
    usage = attempt.usage
    price = prices.find(attempt.model)
    is_counted = bool(usage.prompt or usage.completion or usage.reasoning)
    if attempt.model.startswith("builtin/") or (exchange.reply is None):
        return ""
    cost: Decimal | None = None if price is None or not is_counted else price.cost(usage)
    return render_price(cost, "" if price is None else price.currency)
