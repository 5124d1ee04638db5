"""Radar of a ranking by criterion: one small panel a system, the others behind it as thin lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from adjudge.meta.ranking.ranked import RankedSystem, Ranking
from adjudge.report.figures import COLOURS, Figure, add_caption, fitting_lines, short_name, titled_drawing
from adjudge.report.findings import in_words, leader
from adjudge.report.invisible import name_invisible
from adjudge.report.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["radar_figure"]

_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_COLUMNS: Final = 2
_NAME_WIDTH: Final = 1.3  # of the name above a panel, in inches
_LABEL_WIDTH: Final = 0.6  # of the name of a criterion, in inches
_FEWEST_LETTERS: Final = 6
_LABEL_LINE: Final = 7.2  # height of a line of a label, in points
_PANEL: Final = 1.5  # height of a row of panels, in inches
_REACH: Final = 1.08  # how far from the middle a label stands
_Points = Mapping[str, RankedSystem]


def radar_figure(name: str, rankings: Mapping[str, Ranking], by: str = "") -> Figure:
    """Draw the points of every system on every criterion, from 0 in the middle to 1, with their intervals.

    Args:
        name: stem of its files.
        rankings: criterion to ranking by comparisons, at least three. Systems stand in the order of their
            mean points; those that some criterion has no score for are left out.
        by: whose rankings they are, where figures of several stand side by side.
    """
    rows = {
        criterion: {s.system: s for s in r.systems if s.score is not None}
        for criterion, r in rankings.items()
    }
    title = _title(rankings, by)
    return Figure(name=name, title=title, draw=partial(_draw_radar, title, rows, _caption(rankings)))


def _draw_radar(title: str, rows: Mapping[str, _Points], caption: str) -> Drawing:
    systems = _common(list(rows.values()))
    height = math.ceil(len(systems) / _COLUMNS) * _PANEL
    drawing = titled_drawing(title, height)
    grid = drawing.subplots(math.ceil(len(systems) / _COLUMNS), _COLUMNS, squeeze=False)
    for axes in grid.flat[len(systems) :]:
        axes.remove()
    for axes, system in zip(grid.flat, systems, strict=False):
        _draw_web(axes, list(rows))
        for other in systems:
            if other != system:
                _outline(axes, [found[other].score or 0.0 for found in rows.values()], is_own=False)
        _draw_system(axes, system, {criterion: found[system] for criterion, found in rows.items()})
    add_caption(drawing, caption, size=6)
    return drawing


def _common(rows: Sequence[_Points]) -> list[str]:
    """Systems that every criterion has a score for, most points first."""
    common = [s for s in rows[0] if all(s in found for found in rows)]
    return sorted(common, key=lambda s: (-sum(found[s].score or 0.0 for found in rows), s))


def _place(spoke: int, spokes: int, radius: float) -> tuple[float, float]:
    """Where a radius ends on a spoke; the first one points up, the others follow clockwise."""
    angle = math.pi / 2 - 2 * math.pi * spoke / spokes
    return radius * math.cos(angle), radius * math.sin(angle)


def _draw_web(axes: Axes, criteria: Sequence[str]) -> None:
    """Draw rings at 0.5 and 1, and the spokes."""
    n = len(criteria)
    for ring in (0.5, 1.0):
        corners = [_place(spoke, n, ring) for spoke in range(n)]
        axes.fill(*zip(*corners, strict=True), fill=False, edgecolor=_LINE, linewidth=0.7, zorder=0)
    for spoke in range(n):
        x, y = _place(spoke, n, 1.0)
        axes.plot([0, x], [0, y], color=_LINE, linewidth=0.7, zorder=0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(min(_place(spoke, n, 1.0)[1] for spoke in range(n)) - 0.2, 1.35)


def _outline(axes: Axes, scores: Sequence[float], *, is_own: bool) -> None:
    corners = [_place(spoke, len(scores), score) for spoke, score in enumerate(scores)]
    xs, ys = zip(*corners, strict=True)
    if is_own:
        axes.fill(xs, ys, facecolor=_ACCENT, alpha=0.18)
    width, colour, order = (1.4, _ACCENT, 3) if is_own else (0.4, _SOFT, 2)
    axes.fill(xs, ys, fill=False, edgecolor=colour, linewidth=width, zorder=order)


def _draw_system(axes: Axes, system: str, rows: _Points) -> None:
    _outline(axes, [row.score or 0.0 for row in rows.values()], is_own=True)
    highest = 0  # lines of the label that points up, below the name
    for spoke, (criterion, row) in enumerate(rows.items()):
        if row.interval is not None:
            ends = [_place(spoke, len(rows), radius) for radius in row.interval]
            axes.plot(*zip(*ends, strict=True), color=_INK, linewidth=1.1, zorder=4)
        x, y = _place(spoke, len(rows), _REACH)
        side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        label = fitting_lines(name_invisible(criterion), _LABEL_WIDTH, size=6, fewest=_FEWEST_LETTERS)
        words = "\n".join([*label, number(row.score, 2)])
        highest = highest or len(label) + 1
        axes.text(x, y, words, ha=side, va="bottom" if y > 0.5 else "center", color=_SOFT, fontsize=6)
    name = fitting_lines(short_name(system), _NAME_WIDTH, size=8, weight="bold", fewest=_FEWEST_LETTERS)
    axes.set_title("\n".join(name), loc="center", fontsize=8, pad=8 + _LABEL_LINE * (highest - 2))


def _title(rankings: Mapping[str, Ranking], by: str) -> str:
    """Say which system is significantly better than every other one on which criterion."""
    led: dict[str, list[str]] = {}
    for criterion, ranking in rankings.items():
        led.setdefault(leader(ranking.systems) or "", []).append(criterion)
    told = [f"{name} is best on {_listed(criteria)}" for name, criteria in led.items() if name]
    if "" in led:
        told.append(f"no system is significantly better than all others on {_listed(led[''])}")
    words = "; ".join(told)
    if by:
        return f"By {by}, {words}"
    return words[:1].upper() + words[1:] if words.startswith("no system") else words


def _caption(rankings: Mapping[str, Ranking]) -> str:
    """Say what the rings and bars are, over how many comparisons, and how many failed."""
    rows = [row for ranking in rankings.values() for row in ranking.systems]
    low, high = min(row.n for row in rows), max(row.n for row in rows)
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    failed = sum(row.failed for row in rows) // 2  # a comparison is of two systems
    return (
        "Points of comparisons (win 1, tie 0.5): middle 0, rings 0.5 and 1; bars: 95 % intervals; thin "
        f"lines: the other systems. {n} comparisons a system and criterion, failed: {failed or 'none'}."
    )


def _listed(criteria: Sequence[str]) -> str:
    return in_words(criteria, len(criteria))
