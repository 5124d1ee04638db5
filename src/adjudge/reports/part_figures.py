"""Figures of the parts of a page, and what they are drawn from.

A `Part` says in a sentence what it shows, and has figures, tables and notes. `binned_means` and
`clustered_mean` are mean scores with intervals over documents or segments; the figures are matrices of
agreement, curves of calibration, costs, means in rows, and small bars.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.core.scores import Interval
from adjudge.errors import UsageError
from adjudge.reports.figures import (
    COLOURS,
    Figure,
    add_caption,
    figure_canvas,
    label_points,
    short_name,
    titled_drawing,
)
from adjudge.reports.tables import Table, number
from adjudge.stats.bounds import Totals, bounds_of_means
from adjudge.stats.correlation import ranks
from adjudge.stats.judged import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@frozen
class Bin:
    """Translations whose scores by one annotator are alike."""

    score: float  # their mean score by that annotator
    percentile: float  # the mean of their ranks by it, 0 to 100
    gold: float  # their mean score by gold
    interval: Interval | None  # 95 % interval of `gold`; None where there is one document or segment only
    n: int


def binned_means(
    gold: Floats, scores: Floats, units: NDArray[np.int64] | None = None, bins: int = 10
) -> list[Bin]:
    """Mean gold score of translations in bins of equal size by another annotator, worst bin first.

    Equal scores share their mean rank and so their bin; a bin that nothing falls into is left out. What one
    of them did not judge is in none. Intervals as `clustered_mean`.

    `gold`: systems by segments, NaN where not judged. `scores`: the same shape.
    """
    if gold.shape != scores.shape:
        raise UsageError(f"gold and scores must have the same shape, got {gold.shape} and {scores.shape}")
    both = ~np.isnan(gold) & ~np.isnan(scores)
    if not both.any():
        return []
    share = np.full(gold.shape, np.nan)
    share[both] = ranks(scores[both][:, None])[:, 0] / both.sum()
    number = np.full(gold.shape, -1)
    number[both] = np.minimum((share[both] * bins).astype(int), bins - 1)
    found = []
    for inside in (number == place for place in range(bins)):
        if not inside.any():
            continue
        mean, interval = clustered_mean(gold, inside, units)
        found.append(
            Bin(
                score=float(scores[inside].mean()),
                percentile=float(100 * share[inside].mean()),
                gold=mean,
                interval=interval,
                n=int(inside.sum()),
            )
        )
    return found


def clustered_mean(
    scores: Floats, inside: NDArray[np.bool_], units: NDArray[np.int64] | None = None
) -> tuple[float, Interval | None]:
    """Mean of some cells, and its 95 % interval over documents or segments (`stats.bounds`).

    Translations of one segment are not independent of each other, nor are segments of one document:
    their sums count. No interval where all cells are of one document or segment.

    `scores`: systems by segments. `inside`: the same shape; at least one cell, and none of them NaN. `units`:
    number of each segment's document, from 0; None where segments are independent.
    """
    sums, sizes = np.where(inside, scores, 0.0).sum(axis=0), inside.sum(axis=0).astype(np.float64)
    if units is not None:
        sums, sizes = np.bincount(units, sums), np.bincount(units, sizes)
    (bounds,) = bounds_of_means(Totals(sums=sums[:, None], sizes=sizes[:, None]))
    return float(sums.sum() / sizes.sum()), None if bounds is None else bounds.interval


_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_short = partial(short_name, longest=20)
_DARKEST: Final = 0.45  # so that ink can be read on it in both themes
_COLUMN_TITLE: Final = 6.0  # size of the title of a column of bars
_APART: Final = 0.85  # of the place that a column has, as much as its title may fill
_HALF: Final = 6  # columns that half of a page holds
_LONG_BAR: Final = 0.5  # of the longest one; on it there is room for a number


Values = Mapping[tuple[str, str], float | None]
"""Two annotators to what they have in common."""


def matrix_figure(name: str, title: str, names: Sequence[str], values: Values, what: str) -> Figure:
    """Draw a value for every two annotators, darker where it is larger.

    `values`: of each two, up to 1; None where it is not defined. Two without a value stay empty.
    """
    return Figure(name=name, title=title, draw=partial(_draw_matrix, title, names, values, what))


def _draw_matrix(title: str, names: Sequence[str], values: Values, what: str) -> Drawing:
    from matplotlib.patches import Rectangle

    known = {frozenset(between): value for between, value in values.items()}
    side = max(0.26 * len(names), 0.8)
    drawing, axes = figure_canvas(title, 1, side + 1.05)
    for row, first in enumerate(names):
        for column, second in enumerate(names[:row]):
            value = known.get(frozenset({first, second}))
            if value is None:
                continue
            shade = _DARKEST * min(max(value, 0.0), 1.0)
            axes.add_patch(
                Rectangle(
                    (column - 0.48, row - 0.48), 0.96, 0.96, facecolor=_ACCENT, alpha=shade, linewidth=0
                )
            )
            text = number(value, 2).replace("0.", ".")
            axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=_INK)
    axes.set_xlim(-0.5, len(names) - 1.5)
    axes.set_ylim(len(names) - 0.5, 0.5)
    axes.set_yticks(range(1, len(names)), [_short(n) for n in names[1:]], fontsize=7)
    axes.set_xticks(
        range(len(names) - 1), [_short(n) for n in names[:-1]], rotation=90, fontsize=7, color=_INK
    )
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    add_caption(drawing, what)
    return drawing


def curve_figure(
    name: str, title: str, bins: Sequence[Bin], labels: tuple[str, str], *, same_scale: bool
) -> Figure:
    """Draw mean gold scores of bins by another annotator's score, with their intervals."""
    return Figure(
        name=name, title=title, draw=partial(_draw_curve, title, bins, labels, same_scale=same_scale)
    )


def _draw_curve(title: str, bins: Sequence[Bin], labels: tuple[str, str], *, same_scale: bool) -> Drawing:
    judge, gold = (_short(label) for label in labels)
    drawing, axes = figure_canvas(title, 1, 1.9)
    x, y = [b.score for b in bins], [b.gold for b in bins]
    if same_scale:
        ends = [min(*x, *y), max(*x, *y)]
        axes.plot(ends, ends, ":", color=_SOFT, linewidth=1)
    for b in bins:
        if b.interval is not None:
            axes.plot([b.score, b.score], list(b.interval), color=_ACCENT, linewidth=1.6)
    axes.plot(x, y, "-", color=_ACCENT, linewidth=0.8)
    axes.plot(x, y, "o", color=_INK, markersize=3)
    axes.grid(axis="y", color=_LINE, linewidth=0.5)
    axes.margins(0.05)
    n = sum(b.n for b in bins)
    dotted = "; dotted: equal scores" if same_scale else ""
    add_caption(drawing, f"score by {judge}, in tenths of {n:,} translations{dotted}")
    axes.set_ylabel(f"mean score by {gold}")
    return drawing


@frozen
class Point:
    """An annotator at what it costs and how far it agrees with gold."""

    label: str
    cost: float
    value: float
    interval: Interval | None


def cost_figure(name: str, title: str, points: Sequence[Point], axes_words: tuple[str, str]) -> Figure:
    """Draw agreement with gold over cost, each annotator with its name and interval.

    `points`: at least one.
    """
    return Figure(name=name, title=title, draw=partial(_draw_costs, title, points, axes_words))


def _draw_costs(title: str, points: Sequence[Point], axes_words: tuple[str, str]) -> Drawing:
    drawing, axes = figure_canvas(title, 1, 2.1)
    for point in points:
        if point.interval is not None:
            axes.plot([point.cost] * 2, list(point.interval), color=_ACCENT, linewidth=1.6)
    axes.plot([p.cost for p in points], [p.value for p in points], "o", color=_INK, markersize=3.6)
    axes.grid(axis="y", color=_LINE, linewidth=0.5)
    most = max(p.cost for p in points) or 1.0
    axes.set_xlim(-0.04 * most, 1.3 * most)
    axes.margins(y=0.12)
    add_caption(drawing, axes_words[0])
    axes.set_ylabel(axes_words[1])
    drawing.draw_without_rendering()  # so that sizes are known
    axes.autoscale(enable=False)
    label_points(axes, [p.label for p in points], [(p.cost, p.value) for p in points])
    return drawing


@frozen
class Dot:
    """One row: a mean with its interval; `group` is what the row belongs to."""

    group: str
    label: str
    value: float
    interval: Interval | None
    n: int


def dots_figure(name: str, title: str, dots: Sequence[Dot], what: str) -> Figure:
    """Draw means with their intervals, a row each, a line between groups."""
    return Figure(name=name, title=title, draw=partial(_draw_dots, title, dots, what))


def _draw_dots(title: str, dots: Sequence[Dot], what: str) -> Drawing:
    drawing, axes = figure_canvas(title, len(dots), 0.22)
    for place, dot in enumerate(dots):
        if dot.interval is not None:
            axes.plot(list(dot.interval), [place, place], color=_ACCENT, linewidth=1.6)
        axes.plot([dot.value], [place], "o", color=_INK, markersize=3.6)
        axes.text(
            1.02,
            place,
            f"{dot.n:,}",
            transform=axes.get_yaxis_transform(),
            va="center",
            color=_SOFT,
            fontsize=7,
        )
        if place and dots[place - 1].group != dot.group:
            axes.axhline(place - 0.5, color=_SOFT, linewidth=0.7)
    axes.set_yticks(range(len(dots)), [_short(dot.label) for dot in dots])
    axes.set_ylim(len(dots) - 0.5, -0.5)
    axes.grid(axis="x", color=_LINE, linewidth=0.5)
    add_caption(drawing, what)
    axes.margins(x=0.04)
    return drawing


def bars_figure(name: str, title: str, shares: Mapping[str, Mapping[str, float]], what: str) -> Figure:
    """Draw shares as small bars: a row for each system, a column for each category.

    `shares`: system to category to share, 0 to 1; the same categories in all of them.
    """
    return Figure(name=name, title=title, draw=partial(_draw_shares, title, shares, what))


def _draw_shares(title: str, shares: Mapping[str, Mapping[str, float]], what: str) -> Drawing:
    systems = list(shares)
    categories = list(next(iter(shares.values())))
    most = max(max(row.values()) for row in shares.values()) or 1.0
    drawing = titled_drawing(title, 0.85 + 0.2 * len(systems))
    grid = drawing.subplots(1, len(categories), sharey=True, squeeze=False)[0]
    for axes, category in zip(grid, categories, strict=True):
        values = [shares[s][category] for s in systems]
        axes.barh(range(len(values)), list(values), height=0.62, color=_ACCENT, alpha=_DARKEST)
        for place, value in enumerate(values):
            start = 0.0 if value > _LONG_BAR * most else value
            axes.text(start + 0.03 * most, place, f"{100 * value:.0f} %", va="center", fontsize=6, color=_INK)
        axes.set_xlim(0, most)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines["bottom"].set_visible(False)
    titles = [
        axes.set_title(
            "\n".join(textwrap.wrap(category, 12)), loc="left", fontsize=_COLUMN_TITLE, fontweight="normal"
        )
        for axes, category in zip(grid, categories, strict=True)
    ]
    grid[0].set_yticks(range(len(systems)), [_short(s) for s in systems], fontsize=7)
    grid[0].set_ylim(len(systems) - 0.5, -0.5)
    add_caption(drawing, what)
    if len(grid) > 1:
        drawing.draw_without_rendering()  # so that sizes are known
        widest = max(name.get_window_extent().width for name in titles)
        room = _APART * (grid[1].bbox.x0 - grid[0].bbox.x0)
        for name in titles:  # so small that none runs into the next
            name.set_fontsize(_COLUMN_TITLE * min(1.0, room / widest))
    return drawing


@frozen
class Part:
    """One part."""

    name: str  # in addresses, such as `agreement`
    title: str
    finding: str  # what it shows, a sentence without its full stop
    figures: tuple[Figure, ...] = ()  # in page order
    tables: tuple[Table, ...] = ()  # in page order
    notes: tuple[str, ...] = ()  # what a reader must know

    @property
    def is_wide(self) -> bool:
        """Whether half of a page is too narrow for it."""
        return len(self.figures) > 1 or any(len(table.columns) > _HALF for table in self.tables)


def file_stem(label: str) -> str:
    """A label as a part of a file's name."""
    kept = "".join(char if char.isalnum() or char in "-_" else "-" for char in label)
    return "-".join(filter(None, kept.split("-")))[:80] or "annotator"
