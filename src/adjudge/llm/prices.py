"""What tokens cost: dated rows that we ship, and before them those of the user.

A model that no row names has no price. That is None, "unknown" in tables, and never 0.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NoReturn

from adjudge.core.ask import Usage
from adjudge.errors import UsageError

__all__ = [
    "Price",
    "PriceTable",
    "batch_name",
    "find_prices",
    "read_prices",
    "shipped_prices",
    "with_batches",
]

MILLION: Final = 1_000_000
_KEYS: Final = frozenset({"names", "as_of", "prompt", "cached", "completion", "source", "batch"})
_BATCH: Final = " (batch)"


@dataclass(frozen=True, kw_only=True)
class Price:
    """Price of one model, or of several that cost the same.

    Args:
        names: patterns of `provider/model` with `*`, `?` and `[...]`.
        as_of: the day from which it is known to hold.
        currency: such as USD.
        prompt: of a million prompt tokens.
        completion: of a million tokens of the reply, thinking included.
        cached: of a million prompt tokens that the server had kept; None where they cost as much as others.
        source: where it stands.
        batch: share of these prices that calls in batches cost.
    """

    names: tuple[str, ...]
    as_of: dt.date
    currency: str
    prompt: Decimal
    completion: Decimal
    cached: Decimal | None = None
    source: str = ""
    batch: Decimal = Decimal(1)

    @property
    def in_batches(self) -> Price:
        """The same for calls in batches."""
        share = self.batch
        cached = None if self.cached is None else self.cached * share
        return replace(
            self,
            prompt=self.prompt * share,
            cached=cached,
            completion=self.completion * share,
            batch=Decimal(1),
        )

    def cost(self, usage: Usage) -> Decimal:
        """Price of some tokens.

        A server that counts thinking apart from the reply counts more of it than of the reply, or it would
        be part of it: then both are paid.
        """
        cached = min(usage.cached, usage.prompt)
        apart = usage.reasoning if usage.reasoning > usage.completion else 0
        rate = self.prompt if self.cached is None else self.cached
        prompt = (usage.prompt - cached) * self.prompt + cached * rate
        return (prompt + (usage.completion + apart) * self.completion) / MILLION


@dataclass(frozen=True, kw_only=True)
class PriceTable:
    """Rows of one file.

    Args:
        rows: in any order.
        currency: of every row.
        before: the table whose rows come first.
    """

    rows: tuple[Price, ...]
    currency: str = "USD"
    before: PriceTable | None = None

    def find(self, name: str, today: dt.date | None = None) -> Price | None:
        """The price of a model, None where it is unknown.

        Of several rows the one with the longest pattern counts, of those the latest that holds already; the
        earliest, where none does.
        """
        if self.before is not None and (found := self.before.find(name, today)) is not None:
            return found
        today = today or dt.datetime.now(dt.UTC).date()
        fitting = [(len(p), row) for row in self.rows for p in row.names if _fits(name, p)]
        if not fitting:
            return None
        longest = max(length for length, _ in fitting)
        rows = sorted((row for length, row in fitting if length == longest), key=lambda row: row.as_of)
        return next((row for row in reversed(rows) if row.as_of <= today), rows[0])


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def shipped_prices() -> PriceTable:
    """The table that comes with adjudge."""
    place = files("adjudge.llm") / "prices.toml"
    return _read_table(tomllib.loads(place.read_text(encoding="utf-8"), parse_float=Decimal), "prices.toml")


def read_prices(path: Path | None) -> PriceTable:
    """The shipped table, and before it that of `--prices`, or else of `adjudge.toml` in the working folder.

    Raises:
        UsageError: the file cannot be read, or a row is not as it must be.
    """
    place = path or Path("adjudge.toml")
    shipped = shipped_prices()
    if path is None and not place.is_file():
        return shipped
    try:
        found = tomllib.loads(place.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read prices from {place}: {error}") from error
    if path is None:
        if "prices" not in found:
            return shipped
        found = found["prices"]
    own = _read_table(found, str(place))
    return PriceTable(rows=shipped.rows, currency=own.currency, before=own)


def find_prices(names: Iterable[str], file: Path | str | None) -> dict[str, Price | None]:
    """Prices of some models, None where unknown.

    Raises:
        UsageError: the user's table cannot be read, or the models are priced in several currencies.
    """
    table = read_prices(None if file is None else Path(file))
    found = {name: table.find(name) for name in names}
    currencies = sorted({price.currency for price in found.values() if price is not None})
    if len(currencies) > 1:
        raise UsageError(f"prices in {' and '.join(currencies)} cannot be added up: --prices with all models")
    return found


def with_batches(prices: Mapping[str, Price | None]) -> dict[str, Price | None]:
    """The same, and under the names of their own what calls in batches cost."""
    batches = {batch_name(n): None if price is None else price.in_batches for n, price in prices.items()}
    return {**prices, **batches}


def batch_name(name: str) -> str:
    """Name that a model's calls in batches are charged under."""
    return f"{name}{_BATCH}"


def _read_table(value: object, place: str) -> PriceTable:
    if not isinstance(value, Mapping):
        _fail(place, "prices must be a table with currency and [[model]] rows", value)
    currency, rows = value.get("currency", "USD"), value.get("model", [])
    if not isinstance(currency, str) or not currency:
        _fail(place, "currency must be a name such as USD", currency)
    if unknown := sorted(value.keys() - {"currency", "model", "batch"}):
        _fail(place, "known are currency, batch and model", unknown[0])
    batch = _share(value, place)
    if not isinstance(rows, list) or not rows:
        _fail(place, "there must be at least one [[model]]", rows)
    return PriceTable(rows=tuple(_read_rows(rows, currency, batch, place)), currency=currency)


def _read_rows(rows: list[object], currency: str, batch: Decimal, place: str) -> Iterator[Price]:
    for number, row in enumerate(rows, start=1):
        where = f"{place}, model {number}"
        if not isinstance(row, Mapping):
            _fail(where, "a row must be a table", row)
        if unknown := sorted(row.keys() - _KEYS):
            _fail(where, f"known are {', '.join(sorted(_KEYS))}", unknown[0])
        prompt, cached = _amount(row, "prompt", where), None
        if "cached" in row:
            cached = _amount(row, "cached", where)
            if cached > prompt:
                _fail(where, f"cached must be at most prompt, {prompt}", cached)
        yield Price(
            names=_names(row, where),
            as_of=_date(row.get("as_of"), where),
            currency=currency,
            prompt=prompt,
            completion=_amount(row, "completion", where),
            cached=cached,
            source=str(row.get("source", "")),
            batch=_share(row, where) if "batch" in row else batch,
        )


def _names(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    names = row.get("names")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) and n for n in names):
        _fail(where, "names must be a list of names such as openai/gpt-5-mini", names)
    return tuple(names)


def _date(value: object, where: str) -> dt.date:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        _fail(where, "as_of must be a date such as 2026-11-20", value)
    return value


def _amount(row: Mapping[str, Any], key: str, where: str) -> Decimal:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        _fail(where, f"{key} must be a price per million tokens", value)
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0:
        _fail(where, f"{key} must be at least 0", value)
    return amount


def _share(row: Mapping[str, Any], where: str) -> Decimal:
    """The share that calls in batches cost; all where it is not said."""
    if "batch" not in row:
        return Decimal(1)
    share = _amount(row, "batch", where)
    if share > 1:
        _fail(where, "batch must be a share of the price, at most 1", share)
    return share


def _fail(where: str, wanted: str, came: object) -> NoReturn:
    raise UsageError(f"prices ({where}): {wanted}; got {came!r}")
