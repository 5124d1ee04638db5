"""Quality against cost: what each run cost, and how far its scores agree with gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adjudge.core.run import RunInfo
from adjudge.core.wording import count
from adjudge.meta.measures.result import Result
from adjudge.report.annotators import Annotator
from adjudge.report.findings import in_words
from adjudge.report.numbers import NOTHING, interval, number, whole
from adjudge.report.parts.beside import Beside, Voice
from adjudge.report.parts.figures import Point, cost_figure
from adjudge.report.parts.part import Part
from adjudge.report.tables import Table

__all__ = ["Cost", "cost_of", "cost_part"]

_PER: Final = 1000
_DIGITS: Final = 2


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run cost.

    Args:
        judgements: that were obtained or failed; what failed was paid for too.
        calls: asked of a server, stored answers not counted twice.
        tokens: prompt and completion; None where no server counted them.
        price: in `currency`; None for unknown. A run that asked nothing cost nothing.
        currency: of the price.
    """

    judgements: int
    calls: int
    tokens: int | None
    price: float | None
    currency: str

    @property
    def per_thousand(self) -> float | None:
        """Price of a thousand judgements."""
        return None if self.price is None or not self.judgements else _PER * self.price / self.judgements

    @property
    def tokens_each(self) -> float | None:
        """Tokens of a judgement."""
        return None if self.tokens is None or not self.judgements else self.tokens / self.judgements


def cost_of(info: RunInfo) -> Cost:
    """Read the cost of a run from what it says of itself."""
    judgements = info.counts.get("judged", 0) + info.counts.get("failed", 0)
    calls = info.calls.get("asked", 0)
    if info.kind == "metric" or (not calls and not any(info.tokens.values())):
        free = info.kind == "metric"
        return Cost(
            judgements=judgements,
            calls=calls,
            tokens=0 if free else None,
            price=0.0 if free else info.price,
            currency=info.currency,
        )
    tokens = info.tokens.get("prompt", 0) + info.tokens.get("completion", 0)
    return Cost(
        judgements=judgements, calls=calls, tokens=tokens or None, price=info.price, currency=info.currency
    )


def cost_part(found: Beside) -> Part | None:
    """Cost of every run, and its agreement with gold where there is some; None where no run asked a model."""
    runs = {a.label: cost_of(a.info) for a in found.annotators if a.info is not None}
    if not any(cost.calls for cost in runs.values()):
        return None
    agreed = _agreement(found, [a for a in found.annotators if a.info is not None])
    unknown = [label for label, cost in runs.items() if cost.price is None]
    by_price = len(unknown) < sum(cost.calls > 0 for cost in runs.values())
    points = _points(runs, agreed, by_price=by_price)
    currency = next((c.currency for c in runs.values() if c.currency), "")
    unit = f"{currency or 'price'} for 1,000 judgements" if by_price else "tokens a judgement"
    words = unit if by_price else f"{unit}, price unknown"
    title = _finding(points, unit, found.truth)
    asked = [p for p in points if runs[p.label].calls and p.cost]
    figure = (
        [cost_figure(f"cost.{found.lp}", title, points, (words, f"Pearson’s r with {_truth(found)}"))]
        if asked
        else []
    )
    notes = [f"The cost of {in_words(unknown)} is unknown."] if unknown else []
    shared = "A run’s cost is that of all its language pairs and of everything asked, failures too."
    return Part(
        name="cost",
        title="Quality against cost",
        finding=title,
        figures=tuple(figure),
        tables=(_table(runs, agreed, currency),),
        notes=(*notes, shared),
    )


def _truth(found: Beside) -> str:
    return "gold" if found.truth is None else found.truth.label


def _agreement(found: Beside, annotators: list[Annotator]) -> dict[str, Result]:
    """Pearson's r of each run's scores with gold."""
    truth = found.truth
    if truth is None:
        return {}
    labels = {a.label for a in annotators}
    voices: list[Voice] = [v for v in found.measured if v.label in labels]
    return {voice.label: found.agreement_with(truth, voice) for voice in voices}


def _points(runs: dict[str, Cost], agreed: dict[str, Result], *, by_price: bool) -> list[Point]:
    """Runs whose cost and agreement are known."""
    points = []
    for label, cost in runs.items():
        spent = cost.per_thousand if by_price else cost.tokens_each
        result = agreed.get(label)
        if spent is not None and result is not None and result.value is not None:
            points.append(Point(label=label, cost=spent, value=result.value, interval=result.interval))
    return points


def _finding(points: list[Point], unit: str, truth: Voice | None) -> str:
    if truth is None:
        return "What each run cost; there is no gold to say what it was worth"
    if len(points) < 2:
        return f"What each run cost, and how far it agrees with {truth.label}"
    if not any(p.cost for p in points):
        return "No run with a known cost cost anything"
    best = max(points, key=lambda p: p.value)
    cheaper = [
        p
        for p in points
        if p.cost < best.cost
        and p.interval is not None
        and best.interval is not None
        and p.interval.high >= best.interval.low
    ]
    if not cheaper:
        return (
            f"{best.label} agrees most with {truth.label}, at r {number(best.value, 2)}, "
            f"and takes {_amount(best.cost)} {unit}"
        )
    cheap = min(cheaper, key=lambda p: p.cost)
    return (
        f"{cheap.label} agrees with {truth.label} about as far as {best.label}, at {_amount(cheap.cost)} "
        f"instead of {_amount(best.cost)} {unit}"
    )


def _amount(value: float) -> str:
    return number(value, 0 if value >= 100 or value == 0 else 2)


def _table(runs: dict[str, Cost], agreed: dict[str, Result], currency: str) -> Table:
    rows = []
    for label, cost in runs.items():
        result = agreed.get(label)
        each, price = cost.tokens_each, cost.per_thousand
        rows.append(
            [
                label,
                whole(cost.judgements),
                whole(cost.calls),
                NOTHING if each is None else number(each, 0),
                "unknown" if cost.price is None else number(cost.price, _DIGITS),
                "unknown" if price is None else number(price, _DIGITS),
                NOTHING if result is None else number(result.value, _DIGITS),
                NOTHING if result is None else interval(result.interval, _DIGITS),
                NOTHING if result is None else whole(result.n),
            ]
        )
    money = currency or "price"
    columns = ["Run", ">judgements", ">calls", ">tokens each", f">{money}", f">{money} for 1,000"]
    columns += [">Pearson’s r", ">95 % interval", ">n"]
    return Table(columns=columns, rows=rows, title=f"Cost of {count(len(runs), 'run')}")
