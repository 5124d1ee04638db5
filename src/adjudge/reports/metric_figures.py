"""Figures of metrics and marked errors measured against gold.

`meta_figures` draws a meta-evaluation: systems by gold and metric, how metrics correlate, and what a score
means. `threshold_figure` draws precision, recall and F1 of marked errors over the threshold of a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from adjudge.analysis.eval_set import EvalSet
from adjudge.analysis.meta_settings import MetaEvaluation
from adjudge.analysis.spans import SpanComparison, SpanScore
from adjudge.core.wording import count
from adjudge.reports.figures import (
    COLOURS,
    Figure,
    draw_matrix,
    figure_canvas,
    fitting_lines,
    label_ends,
    label_points,
    range_words,
    short_name,
    spread_heights,
)
from adjudge.reports.metric_tables import best_first
from adjudge.reports.part_figures import binned_means
from adjudge.reports.tables import name_invisible, number
from adjudge.stats.correlation import pearson
from adjudge.stats.judged import Floats
from adjudge.stats.spa import pairwise_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_INK, _SOFT, _ACCENT, _LINE, _PAPER = COLOURS
_short = partial(short_name, longest=22)
_GAP: Final = 0.075  # of two labels, as a part of the height of the axes
_AXES_WIDTH: Final = 2.6  # inches that a label below the axes may take


def meta_figures(found: MetaEvaluation) -> Iterator[Figure]:
    """Scatter and calibration of each metric, and one matrix, for each language pair and gold."""
    for part in found.parts or (found,):
        scores = part.scores
        if scores is None:
            continue
        stem = f"{part.lp}.{part.gold}"
        names = [m.name for m in best_first(part.metrics, part.measures)]
        for name in names:
            if _judged_systems(scores, part.gold, name).sum() > 1:
                yield scatter_figure(f"scatter.{stem}.{name}", scores, part.gold, name)
        if not _varies(scores.golds[part.gold].segments):
            continue
        usable = [name for name in names if _varies(scores.metrics[name].segments)]
        for name in usable:
            yield calibration_figure(f"calibration.{stem}.{name}", scores, part.gold, name)
        if len(usable) > 1:
            yield matrix_figure(f"correlations.{stem}", scores, part.gold, usable)


def _judged_systems(scores: EvalSet, gold: str, name: str) -> Floats:
    return np.asarray(~np.isnan(scores.golds[gold].systems) & ~np.isnan(scores.metrics[name].systems))


def _varies(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 1 and bool(np.ptp(known) > 0)


def scatter_figure(name: str, scores: EvalSet, gold: str, metric: str) -> Figure:
    """Draw each system at its gold score and its metric score, with its name."""
    kept = _judged_systems(scores, gold, metric)
    x, y = scores.golds[gold].systems[kept], scores.metrics[metric].systems[kept]
    systems = [s for s, k in zip(scores.systems, kept.tolist(), strict=True) if k]
    accuracy = pairwise_accuracy(x, y)
    right = round((accuracy.value or 0) * accuracy.n)
    title = f"{metric} orders {right} of {count(accuracy.n, 'pair')} of systems as {gold} does"

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 2.5)
        axes.plot(x, y, "o", color=_ACCENT, markersize=3.6, markeredgewidth=0)
        axes.margins(0.16)
        # Put a score that all systems share in the middle of its axis, whose steps would else be minute.
        for values, show in ((x, axes.set_xlim), (y, axes.set_ylim)):
            if np.ptp(values) == 0:
                middle, reach = float(values[0]), float(abs(values[0])) / 2 or 0.5
                show(middle - reach, middle + reach)
        caption = f"score by {_short(gold)}, higher is better; n = {count(len(systems), 'system')}"
        axes.set_xlabel("\n".join(fitting_lines(name_invisible(caption), _AXES_WIDTH, size=7.5)))
        axes.set_ylabel(f"score by {_short(metric)}")
        axes.grid(color=_LINE, linewidth=0.5)
        drawing.draw_without_rendering()  # so that sizes are known
        axes.autoscale(enable=False)  # a hairline must not move the points away from their labels
        label_points(axes, systems, list(zip(x.tolist(), y.tolist(), strict=True)))
        return drawing

    return Figure(name=name, title=title, draw=draw)


def matrix_figure(name: str, scores: EvalSet, gold: str, metrics: Sequence[str]) -> Figure:
    """Draw Pearson's r of every two metrics, and of each with gold, over the translations both judged."""
    names = [gold, *metrics]
    arrays = [scores.golds[gold].segments, *(scores.metrics[m].segments for m in metrics)]
    table = np.array([[pearson(a, b).value or 0.0 for b in arrays] for a in arrays])
    title = _matrix_title(table, names)
    n = int((~np.isnan(arrays[0])).sum())
    caption = f"Pearson's r, white is 0 or less, darkest is 1; {gold} judged {n:,} translations"

    def draw() -> Drawing:
        drawing = draw_matrix(title, names, table, caption)
        (axes,) = drawing.axes
        axes.axhline(0.5, color=_INK, linewidth=0.7)
        axes.axvline(0.5, color=_INK, linewidth=0.7)
        return drawing

    return Figure(name=name, title=title, draw=draw)


def _matrix_title(table: Floats, names: Sequence[str]) -> str:
    metrics = table[1:, 1:].copy()
    np.fill_diagonal(metrics, -2)
    first, second = np.unravel_index(int(metrics.argmax()), metrics.shape)
    most, gold = float(metrics.max()), float(table[0, 1:].max())
    return (
        f"{names[int(first) + 1]} and {names[int(second) + 1]} agree with each other at r {number(most, 2)}, "
        f"no metric with {names[0]} above {number(gold, 2)}"
    )


def calibration_figure(name: str, scores: EvalSet, gold: str, metric: str) -> Figure:
    """Draw the mean gold score of translations in tenths by metric score, worst tenth first.

    A metric that knows nothing is flat; gold itself, dotted, is the steepest line there can be. Equal scores
    share their mean rank, and so their tenth.
    """
    truth = scores.golds[gold].segments
    best, curve = _curve(truth, truth), _curve(truth, scores.metrics[metric].segments)
    y = [*best[1], *curve[1]]
    title = (
        f"From the worst to the best tenth by {metric}, {gold} goes from {number(curve[1][0], 1)} "
        f"to {number(curve[1][-1], 1)}"
    )

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 2.0)
        axes.plot(*best, ":", color=_SOFT, linewidth=1.1)
        axes.plot(*curve, "-", color=_ACCENT, linewidth=1.4, marker="o", markersize=2.8)
        axes.margins(0.04)
        curves = {gold: best, metric: curve}
        height = max(y) - min(y)
        places = [p * height for p in spread_heights([y[-1] / height for _, y in curves.values()], _GAP)]
        ends = [(100.0, place) for place in places]
        label_ends(axes, map(_short, curves), ends, (_SOFT, _ACCENT), gap=4, size=7)
        axes.set_xlim(0, 100)
        axes.grid(axis="y", color=_LINE, linewidth=0.5)
        n = int((~np.isnan(truth) & ~np.isnan(scores.metrics[metric].segments)).sum())
        caption = f"percentile of {_short(metric)}, worst first; dotted: {gold} itself"
        lines = fitting_lines(name_invisible(caption), _AXES_WIDTH, size=7.5)
        axes.set_xlabel("\n".join([*lines, f"n = {n:,} translations"]))
        axes.set_ylabel(f"mean score by {gold}")
        return drawing

    return Figure(name=name, title=title, draw=draw)


_Curve = tuple[list[float], list[float]]


def _curve(gold: Floats, metric: Floats) -> _Curve:
    tenths = binned_means(gold, metric)
    return [tenth.percentile for tenth in tenths], [tenth.gold for tenth in tenths]


_MEASURES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}
_STYLES: Final = [(colour, dash) for dash in ("-", "--", ":") for colour in (_ACCENT, _INK, _SOFT)]
_GAP_OF_RUNS: Final = 0.085  # of two labels, as a part of the height of the axes


def threshold_figure(name: str, comparisons: Mapping[str, SpanComparison]) -> Figure:
    """Draw how precision, recall and F1 fall as more of two marks must agree."""
    curves = {run: [s for s in c.scores if not s.group] for run, c in comparisons.items()}
    single = len(curves) == 1

    def draw() -> Drawing:
        drawing, axes = figure_canvas(_title(curves), 1 if single else 3, 1.75 if single else 1.05)
        if single:
            (rows,) = curves.values()
            _draw(axes, {_MEASURES[key]: _line(rows, key) for key in ("f1", "precision", "recall")})
        else:
            axes.remove()
            for axes, (key, measure) in zip(
                drawing.subplots(3, 1, sharex=True), _MEASURES.items(), strict=True
            ):
                _draw(axes, {_short_run(run): _line(rows, key) for run, rows in curves.items()})
                axes.set_title(measure)
        n = range_words([c.n_segments for c in comparisons.values()])
        failed = sum(c.failed for c in comparisons.values())
        lines = [
            "words that must agree, as a part of both marks",
            f"n = {n} translations, failed: {failed or 'none'}",
            "bands: 95 % intervals, bootstrap over segments",
        ]
        axes.set_xlabel(
            "\n".join(lines[: 3 if any(s.intervals for c in comparisons.values() for s in c.scores) else 2])
        )  # of the only panel, or the lowest
        return drawing

    return Figure(name=name, title=_title(curves), draw=draw)


class _Line(NamedTuple):
    """One measure over the thresholds; an interval that is not known ends at the value."""

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
    places = spread_heights([line.values[-1] / top for line in lines.values()], _GAP_OF_RUNS)
    ends = [(line.thresholds[-1], place * top) for line, place in zip(lines.values(), places, strict=True)]
    label_ends(axes, lines, ends, [colour for colour, _ in _STYLES * len(lines)])


def _short_run(run: str) -> str:
    return short_name(run.rstrip("/").rpartition("/")[2] or run, 14)


def _title(curves: Mapping[str, Sequence[SpanScore]]) -> str:
    if len(curves) == 1:
        (rows,) = curves.values()
        first, last = rows[0], rows[-1]
        return (
            f"F1 is {number(first.f1, 2)} where {first.threshold:.0%} of the words must agree, "
            f"{number(last.f1, 2)} where {last.threshold:.0%} must"
        ).replace("%", " %")
    leads: list[str] = []
    for scores in zip(*curves.values(), strict=True):
        best = max(s.f1 for s in scores)
        leading = [run for run, s in zip(curves, scores, strict=True) if s.f1 == best]
        leads += leading if len(leading) == 1 else []
    if not leads:
        return "No run has the highest F1 alone at any threshold"
    leader = max(dict.fromkeys(leads), key=leads.count)
    often, all_ = leads.count(leader), len(curves[leader])
    where = "every threshold" if often == all_ else f"{often} of {all_} thresholds"
    return f"{_short_run(leader)} has the highest F1 at {where}"
