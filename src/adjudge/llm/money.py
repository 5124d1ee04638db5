"""What calls cost: estimates of tokens, prices, and the budget of a run.

Prices are dated rows, those of the user before those that adjudge ships. A `Meter` counts what a run has paid
and says whether it may pay for one call more.

`estimate_text` downloads no tokenizer: every model cuts text in its own way, and what can be said beforehand
is how many tokens a character of a script makes: seldom fewer than `low`, often about `typical`, seldom more
than `high`. The numbers span what tokenizers with vocabularies from 32,000 to 260,000 pieces do to running
text; `docs/forecast.md` says how wrong they can be. Once a run has seen what its server counts,
`runs/forecast.py` corrects them by that.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import orjson

from adjudge.core.ask import Message, Reply, Usage
from adjudge.errors import BudgetError, UsageError
from adjudge.llm.faults import Fault
from adjudge.llm.model import Request, render_message
from adjudge.store.calls import Spent
from adjudge.store.settings_files import find_default, read_toml

# Prices


MILLION: Final = 1_000_000
_KEYS: Final = frozenset({"names", "as_of", "prompt", "cached", "completion", "source", "batch"})
_BATCH: Final = " (batch)"


@dataclass(frozen=True, kw_only=True)
class Price:
    """Price of one model, or of several that cost the same."""

    names: tuple[str, ...]  # patterns of `provider/model` with `*`, `?` and `[...]`
    as_of: dt.date  # the day from which it is known to hold
    currency: str  # such as USD
    prompt: Decimal  # of a million prompt tokens
    completion: Decimal  # of a million tokens of the reply, thinking included
    # of a million prompt tokens that the server had kept; None where they cost as much as others
    cached: Decimal | None = None
    source: str = ""
    batch: Decimal = Decimal(1)  # share of these prices that calls in batches cost

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
    """Rows of one file."""

    rows: tuple[Price, ...]
    currency: str = "USD"  # of every row
    before: PriceTable | None = None  # the table whose rows come first

    def find(self, name: str, today: dt.date | None = None) -> Price | None:
        """The price of a model, None where it is unknown.

        Of several rows the one with the longest pattern counts, of those the latest that holds already; the
        earliest, where none does.
        """
        if self.before is not None and (found := self.before.find(name, today)) is not None:
            return found
        today = today or dt.datetime.now(dt.UTC).date()
        fitting = [
            (len(p), row)
            for row in self.rows
            for p in row.names
            if fnmatchcase(name.casefold(), p.casefold())
        ]
        if not fitting:
            return None
        longest = max(length for length, _ in fitting)
        rows = sorted((row for length, row in fitting if length == longest), key=lambda row: row.as_of)
        return next((row for row in reversed(rows) if row.as_of <= today), rows[0])


def shipped_prices() -> PriceTable:
    place = files("adjudge.llm") / "prices.toml"
    return _read_table(tomllib.loads(place.read_text(encoding="utf-8"), parse_float=Decimal), "prices.toml")


def read_prices(path: Path | None) -> PriceTable:
    """The shipped table, and before it that of `--prices`, or else of a settings file."""
    shipped = shipped_prices()
    found, place = find_default("prices") if path is None else (read_toml(path), str(path))
    if found is None:
        return shipped
    own = _read_table(found, place)
    return PriceTable(rows=shipped.rows, currency=own.currency, before=own)


def find_prices(names: Iterable[str], file: Path | str | None) -> dict[str, Price | None]:
    """Prices of some models, None where unknown."""
    table = read_prices(None if file is None else Path(file))
    found = {name: table.find(name) for name in names}
    currencies = sorted({price.currency for price in found.values() if price is not None})
    if len(currencies) > 1:
        raise UsageError(
            f"prices in {' and '.join(currencies)} cannot be added up: give the prices of all models in "
            "one currency, with --prices"
        )
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
        names, as_of = row.get("names"), row.get("as_of")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) and n for n in names):
            _fail(where, "names must be a list of names such as openai/gpt-5-mini", names)
        if not isinstance(as_of, dt.date) or isinstance(as_of, dt.datetime):
            _fail(where, "as_of must be a date such as 2026-11-20", as_of)
        yield Price(
            names=tuple(names),
            as_of=as_of,
            currency=currency,
            prompt=prompt,
            completion=_amount(row, "completion", where),
            cached=cached,
            source=str(row.get("source", "")),
            batch=_share(row, where) if "batch" in row else batch,
        )


def _amount(row: Mapping[str, Any], key: str, where: str) -> Decimal:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        _fail(where, f"{key} must be a price per million tokens", value)
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0:
        _fail(where, f"{key} must be at least 0", value)
    return amount


def _share(row: Mapping[str, Any], where: str) -> Decimal:
    if "batch" not in row:
        return Decimal(1)
    share = _amount(row, "batch", where)
    if share > 1:
        _fail(where, "batch must be a share of the price, at most 1", share)
    return share


def _fail(where: str, wanted: str, came: object) -> NoReturn:
    raise UsageError(f"prices ({where}): {wanted}; got {came!r}")


# Budget and payments


_FEWEST: Final = 256  # tokens of a reply for which a call is worth sending, before any reply was counted
_MOST_KINDS: Final = 1000
_FRAME: Final = 64  # tokens of a chat template around one message, and around all

NOTHING: Final = Usage()

STOPPED: Final = Fault(consequence="retry", reason="connection", detail="the run was stopped meanwhile")
"""Outcome of an attempt that was under way when the run was stopped."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of what a run directory may cost, over all its sessions."""

    amount: Decimal | None = None  # in the currency of the prices; None for no limit
    tokens: int | None = None  # of prompts and replies; None for no limit

    @property
    def is_set(self) -> bool:
        return self.amount is not None or self.tokens is not None


def most_of(request: Request) -> Usage:
    """What a call can cost at most: no token is shorter than a byte, and the reply may fill its room."""
    size = _FRAME if request.schema is None else _FRAME + len(orjson.dumps(request.schema))
    size += sum(_FRAME + len(orjson.dumps([t.name, t.description, t.parameters])) for t in request.tools)
    for message in request.messages:
        size += _FRAME + len(render_message(message, request.mark).encode())
        size += sum(_FRAME + len(orjson.dumps([c.name, c.arguments, c.state])) for c in message.calls)
    return Usage(prompt=size, completion=request.sampling.max_tokens)


def most_of_body(size: int, request: Request) -> Usage:
    """The same of a request whose body has so many bytes; never less than `most_of`."""
    frames = _FRAME * (2 + len(request.messages) + len(request.tools))
    return Usage(prompt=size + frames, completion=request.sampling.max_tokens)


@dataclass
class _Kind:
    """What is known of calls of one model that differ in the quoted texts alone."""

    text: bytes = b""  # of a prompt that the server counted
    prompt: int = 0  # its tokens
    reply: int = 0  # tokens of the longest reply; 0 before there was one

    def most_of(self, request: Request) -> Usage:
        from rapidfuzz.distance import Postfix, Prefix

        most, text = most_of(request), _text_of(request)
        shared = Prefix.similarity(self.text, text) + Postfix.similarity(self.text, text)
        shared = min(shared, len(text), len(self.text))
        prompt = min(self.prompt + most.prompt - shared, most.prompt)
        return Usage(prompt=prompt, completion=most.completion)

    def learn(self, request: Request, usage: Usage) -> None:
        if usage.prompt:
            self.text, self.prompt = _text_of(request), usage.prompt
            self.reply = max(self.reply, usage.completion)


def _text_of(request: Request) -> bytes:
    return "".join(render_message(message, request.mark) for message in request.messages).encode()


class Meter:
    """What a run has paid so far; shared by all its models.

    `prices`: of each model that may be asked, None where unknown.
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
        self._amount, self._tokens = Decimal(), 0
        for name, spent in self._spent.items():
            self._amount += self._cost(name, spent.usage) + self._cost(name, spent.unsure)
            self._tokens += _size(spent.usage) + _size(spent.unsure)
        self._held_amount = Decimal()
        self._held_tokens = 0
        self._over: BudgetError | None = None
        self._kinds: dict[int, _Kind] = {}

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
        return render_price(self.price, self.currency)

    @property
    def currency(self) -> str:
        """Of the price; empty where there is none."""
        return next((price.currency for price in self._prices.values() if price is not None), "")

    @property
    def is_limited(self) -> bool:
        return self._budget.is_set

    def fits(self, model: str, most: Usage) -> bool:
        """Whether so much more cannot cross the budget."""
        if self._over is not None:
            return False
        amount, tokens = self._budget.amount, self._budget.tokens
        if amount is not None and self._amount + self._held_amount + self._cost(model, most) > amount:
            return False
        return tokens is None or self._tokens + self._held_tokens + _size(most) <= tokens

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
        budget = self._budget
        if budget.amount is not None and self._amount + self._cost(model, most) > budget.amount:
            option = "--budget"
            numbers = (budget.amount, self._amount, self._cost(model, most))
            limit, paid, next_ = (render_price(number, self.currency) for number in numbers)
        else:
            option = "--budget-tokens"
            limit, paid, next_ = (f"{n:,} tokens" for n in (budget.tokens, self._tokens, _size(most)))
        return BudgetError(
            f"the budget of {limit} is reached: {paid} are paid at most, and {what} may cost up to "
            f"{next_}. What was answered is stored; the same command with a higher {option} goes on"
        )

    def kind_of(self, model: str, request: Request) -> _Kind:
        """What is known of calls with these words of ours; of a thousand kinds at most."""
        words = [part for message in request.messages for part in message.parts if isinstance(part, str)]
        if len(self._kinds) > _MOST_KINDS:
            self._kinds.clear()
        return self._kinds.setdefault(hash((model, *words)), _Kind())

    async def reserve(self, model: str, most: Usage, least: int) -> tuple[int, int]:
        """Set aside what an attempt can cost at most; wait while calls in flight leave no room for it.

        What `settle` must be called with once the attempt is over, whatever became of it; and how many tokens
        its reply may have: fewer where nothing is in flight and only a shorter one can be paid. `most`:
        tokens. `least`: tokens of a reply that is likely to be whole.
        """
        while not self.fits(model, most):
            if not self._held and self._over is None:
                shorter = replace(most, completion=most.completion // 2)
                if shorter.completion >= least:
                    most = shorter
                    continue
                self.stop(model, most)
            if self._over is not None:
                raise self._over
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        return self.hold(model, most), most.completion

    def stop(self, model: str, most: Usage) -> BudgetError:
        """Pay for nothing more: what can cost so much could cross the budget."""
        self._over = self.refusal(model, most)
        self._wake()
        return self._over

    def settle(
        self, model: str, number: int | None, paid: Usage, *, unsure: Usage = NOTHING, answered: bool = False
    ) -> None:
        """Take what an attempt did cost in place of what was set aside.

        `number`: what `reserve` gave; None where more was set aside at once, which `free` gives back. `paid`:
        tokens that the server counted. `unsure`: what it may have cost at most, where the server counted none
        and may be paid.
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

    def _cost(self, model: str, usage: Usage) -> Decimal:
        price = self._prices.get(model)
        return Decimal() if price is None else price.cost(usage)


@dataclass(frozen=True)
class Account:
    """What one model is charged to; without a meter nothing is counted."""

    model: str
    meter: Meter | None = None

    async def reserve(self, request: Request) -> tuple[int, int]:
        """Set aside what the attempt can cost, where there is a budget; see `Meter.reserve`."""
        room = request.sampling.max_tokens
        if self.meter is None or not self.meter.is_limited:
            return 0, room
        kind = self.meter.kind_of(self.model, request)
        return await self.meter.reserve(self.model, kind.most_of(request), 2 * kind.reply or _FEWEST)

    def settle(self, request: Request, number: int | None, outcome: Reply | Fault | None) -> Usage:
        """Count what the attempt did cost; None is one that was never sent.

        What it may have cost at most, where that is not known.
        """
        is_unsure = outcome is not None and _may_be_paid(outcome)
        unsure = most_of(request) if is_unsure else NOTHING
        if self.meter is not None:
            paid, answered = NOTHING if outcome is None else outcome.usage, isinstance(outcome, Reply)
            self.meter.settle(self.model, number, paid, unsure=unsure, answered=answered)
            if self.meter.is_limited:
                self.meter.kind_of(self.model, request).learn(request, paid)
        return unsure


def unsure_of(request: Request, reply: Reply) -> Usage:
    """What an answer may have cost at most, whose tokens the server did not count."""
    return NOTHING if _size(reply.usage) else most_of(request)


def _may_be_paid(outcome: Reply | Fault) -> bool:
    if _size(outcome.usage):
        return False
    if isinstance(outcome, Reply):
        return True
    is_sent = outcome.consequence == "retry" and not outcome.is_free
    return is_sent and (outcome.status is None or 200 <= outcome.status < 300)


def _size(usage: Usage) -> int:
    apart = usage.reasoning if usage.reasoning > usage.completion else 0
    return usage.prompt + usage.completion + apart


def render_price(price: Decimal | float | None, currency: str) -> str:
    """A price as a person reads it; what is unknown is never 0."""
    return "price unknown" if price is None else f"{_short(Decimal(price))} {currency}".rstrip()


def _short(amount: Decimal) -> str:
    if amount >= 1 or amount == round(amount, 2):
        return f"{amount:.2f}"
    return f"{amount:.{3 - amount.adjusted()}f}".rstrip("0")


Script = Literal[
    "latin",
    "accented",
    "digits",
    "signs",
    "greek",
    "cyrillic",
    "semitic",
    "indic",
    "southeast",
    "han",
    "kana",
    "hangul",
    "other",
]


@dataclass(frozen=True)
class Tokens:
    """A number of tokens that is not known exactly."""

    low: float = 0.0
    typical: float = 0.0
    high: float = 0.0

    def __add__(self, other: Tokens) -> Tokens:
        """Both together; the errors add up, since one tokenizer makes them all."""
        return Tokens(self.low + other.low, self.typical + other.typical, self.high + other.high)

    def times(self, factor: float) -> Tokens:
        return Tokens(self.low * factor, self.typical * factor, self.high * factor)


Rate = Tokens
"""Tokens of one character."""

RATES: Final[dict[Script, Rate]] = {
    "latin": Rate(0.19, 0.22, 0.36),  # letters of ASCII and blanks: English 4 to 5 a token, Finnish 3
    "accented": Rate(0.25, 0.65, 1.5),
    "digits": Rate(0.33, 0.5, 1.0),  # three a token, or one
    "signs": Rate(0.2, 0.5, 1.0),
    "greek": Rate(0.28, 0.45, 1.1),
    "cyrillic": Rate(0.2, 0.33, 0.65),
    "semitic": Rate(0.22, 0.4, 1.0),
    "indic": Rate(0.2, 0.45, 1.8),  # bytes, where the tokenizer does not know the script
    "southeast": Rate(0.2, 0.5, 2.2),
    "han": Rate(0.4, 0.72, 1.5),
    "kana": Rate(0.35, 0.65, 1.4),
    "hangul": Rate(0.35, 0.6, 1.5),
    "other": Rate(0.3, 1.5, 4.0),  # at most its bytes in UTF-8
}

_MESSAGE: Final = Tokens(3, 5, 12)  # role and separators of the chat template
_CALL: Final = Tokens(0, 3, 12)

_STARTS: Final[tuple[tuple[int, Script], ...]] = (
    (0x0000, "other"),
    (0x00C0, "accented"),
    (0x0300, "other"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "other"),
    (0x0590, "semitic"),
    (0x0780, "other"),
    (0x0900, "indic"),
    (0x0E00, "southeast"),
    (0x0F00, "other"),
    (0x1000, "southeast"),
    (0x10A0, "other"),
    (0x1100, "hangul"),
    (0x1200, "other"),
    (0x1780, "southeast"),
    (0x1800, "other"),
    (0x1E00, "accented"),
    (0x1F00, "greek"),
    (0x2000, "signs"),
    (0x2100, "other"),
    (0x3000, "signs"),
    (0x3040, "kana"),
    (0x3100, "other"),
    (0x3130, "hangul"),
    (0x3190, "other"),
    (0x3400, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7B0, "other"),
    (0xF900, "han"),
    (0xFB00, "other"),
    (0xFF00, "signs"),
    (0x10000, "other"),
    (0x20000, "han"),
    (0x32000, "other"),
)
_PLACES: Final = [start for start, _ in _STARTS]


@lru_cache(maxsize=65_536)
def script_of_character(character: str) -> Script:
    """The row of `RATES` that a character counts under."""
    if character.isascii():
        if character.isalpha() or character in " \n\r\t":
            return "latin"
        return "digits" if character.isdigit() else "signs"
    return _STARTS[bisect_right(_PLACES, ord(character)) - 1][1]


@lru_cache(maxsize=4096)
def estimate_text(text: str) -> Tokens:
    low = typical = high = 0.0
    for character, count in Counter(text).items():
        rate = RATES[script_of_character(character)]
        low, typical, high = (
            low + count * rate.low,
            typical + count * rate.typical,
            high + count * rate.high,
        )
    return Tokens(low, typical, high)


def estimate_messages(messages: Iterable[Message], mark: str) -> Tokens:
    """Tokens of a whole prompt as it goes over the wire, delimiters and tool calls included."""
    total = _CALL
    for message in messages:
        total += _MESSAGE + estimate_text(render_message(message, mark))
        for call in message.calls:
            total += _MESSAGE + estimate_text(call.name + orjson.dumps(call.arguments).decode())
    return total
