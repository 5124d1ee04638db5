"""Curves of precision, recall and F1 over the threshold of a matching rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from adjudge.meta.spans.compare import SpanComparison, SpanScore
from adjudge.report.figures import COLOURS, Figure, figure_canvas, short_name
from adjudge.report.labels import spread_heights
from adjudge.report.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["threshold_figure"]

_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_MEASURES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}
_STYLES: Final = [(colour, dash) for dash in ("-", "--", ":") for colour in (_ACCENT, _INK, _SOFT)]
_GAP: Final = 0.085  # of two labels, as a part of the height of the axes
_LONGEST: Final = 14


def threshold_figure(name: str, comparisons: Mapping[str, SpanComparison]) -> Figure:
    """Draw how precision, recall and F1 fall as more of two marks must agree.

    Args:
        name: stem of its files.
        comparisons: by run, each with rows of one rule at several thresholds. One run is one panel with
            three lines; several are three panels with a line each.
    """
    curves = {run: [s for s in c.scores if not s.group] for run, c in comparisons.items()}
    single = len(curves) == 1

    def draw() -> Drawing:
        drawing, axes = figure_canvas(_title(curves), 1 if single else 3, 1.75 if single else 1.05)
        panels = [axes]
        if not single:
            axes.remove()
            panels = list(drawing.subplots(3, 1, sharex=True))
        if single:
            (rows,) = curves.values()
            _draw(panels[0], {_MEASURES[key]: _line(rows, key) for key in ("f1", "precision", "recall")})
        else:
            for panel, (key, title) in zip(panels, _MEASURES.items(), strict=True):
                _draw(panel, {_short(run): _line(rows, key) for run, rows in curves.items()})
                panel.set_title(title)
        panels[-1].set_xlabel(_axis_label(comparisons))
        return drawing

    return Figure(name=name, title=_title(curves), draw=draw)


class _Line(NamedTuple):
    """One measure over the thresholds, with the ends of its intervals where they are known."""

    thresholds: list[float]
    values: list[float]
    lows: list[float]
    highs: list[float]


def _line(rows: Sequence[SpanScore], measure: str) -> _Line:
    known = [row for row in rows if row.threshold is not None]
    values = [float(getattr(row, measure)) for row in known]
    ends = [row.intervals.get(measure) or (value, value) for row, value in zip(known, values, strict=True)]
    thresholds = [float(row.threshold or 0) for row in known]
    return _Line(thresholds, values, [low for low, _ in ends], [high for _, high in ends])


def _draw(axes: Axes, lines: Mapping[str, _Line]) -> None:
    for line, (colour, dash) in zip(lines.values(), _STYLES * len(lines), strict=False):
        axes.fill_between(line.thresholds, line.lows, line.highs, color=colour, alpha=0.13, linewidth=0)
        axes.plot(line.thresholds, line.values, dash, color=colour, linewidth=1.4, marker="o", markersize=2.6)
    top = max([high for line in lines.values() for high in line.highs], default=1.0) * 1.05 or 1.0
    axes.set_ylim(0, top)
    axes.grid(axis="y", color=_LINE, linewidth=0.5)
    axes.set_xticks([0.2, 0.4, 0.6, 0.8, 1.0])
    places = spread_heights([line.values[-1] / top for line in lines.values()], _GAP)
    for (label, line), place, (colour, _) in zip(lines.items(), places, _STYLES * len(lines), strict=False):
        axes.annotate(
            label,
            (line.thresholds[-1], place * top),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )


def _short(run: str) -> str:
    """Last part of a path."""
    return short_name(run.rstrip("/").rpartition("/")[2] or run, _LONGEST)


def _title(curves: Mapping[str, Sequence[SpanScore]]) -> str:
    """Say what the curves show."""
    if len(curves) == 1:
        (rows,) = curves.values()
        first, last = rows[0], rows[-1]
        return (
            f"F1 is {number(first.f1, 2)} where {first.threshold:.0%} of the words must agree, "
            f"{number(last.f1, 2)} where {last.threshold:.0%} must"
        ).replace("%", " %")
    leads = [run for rows in _by_threshold(curves) for run in curves if _leads(run, rows)]
    if not leads:
        return "No run has the highest F1 alone at any threshold"
    leader = max(dict.fromkeys(leads), key=leads.count)
    often, all_ = leads.count(leader), len(curves[leader])
    where = "every threshold" if often == all_ else f"{often} of {all_} thresholds"
    return f"{_short(leader)} has the highest F1 at {where}"


def _leads(run: str, rows: Mapping[str, SpanScore]) -> bool:
    return all(rows[run].f1 > row.f1 for other, row in rows.items() if other != run)


def _by_threshold(curves: Mapping[str, Sequence[SpanScore]]) -> list[dict[str, SpanScore]]:
    return [dict(zip(curves, rows, strict=True)) for rows in zip(*curves.values(), strict=True)]


def _axis_label(comparisons: Mapping[str, SpanComparison]) -> str:
    amounts = sorted({c.n_segments for c in comparisons.values()})
    n = f"{amounts[0]:,}" if len(amounts) == 1 else f"{amounts[0]:,} to {amounts[-1]:,}"
    failed = sum(c.failed for c in comparisons.values())
    lines = [
        "words that must agree, as a part of both marks",
        f"n = {n} translations, failed: {failed or 'none'}",
        "bands: 95 % intervals, bootstrap over segments",
    ]
    return "\n".join(lines[: 3 if any(s.intervals for c in comparisons.values() for s in c.scores) else 2])
