"""Figures of a campaign: what people gave, whether they agree, notice, hurry and drift.

Each takes numbers alone, so that `adjudge reproduce` draws a paper's figures with the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from adjudge.core.wording import count
from adjudge.meta.campaign.agreement import Twice
from adjudge.meta.campaign.analysis import Analysis
from adjudge.meta.campaign.numbers import Number
from adjudge.meta.campaign.weights import WEIGHTS
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats
from adjudge.meta.measures.system import pairwise_accuracy
from adjudge.meta.ranking.ranked import RankedSystem
from adjudge.report.figures import (
    COLOURS,
    Figure,
    distribution_figure,
    figure_canvas,
    ranking_figure,
    short_name,
)
from adjudge.report.findings import leader, unbeaten
from adjudge.report.invisible import name_invisible
from adjudge.report.labels import spread_heights
from adjudge.report.meta_figures import label_points
from adjudge.report.numbers import number, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "Subsets",
    "campaign_figures",
    "pace_figure",
    "people_figure",
    "subsets_figure",
    "systems_figure",
    "twice_figure",
    "weights_figure",
]

_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_STYLES: Final = ((_ACCENT, "-"), (_INK, "--"), (_SOFT, "-."), (_SOFT, ":"), (_INK, "-"))
_LONGEST: Final = 22
_MOST_PEOPLE: Final = 40
_HIGH: Final = 0.95  # a share of pairs ordered alike that is called high
_WHOSE: Final = {"paper": "as the paper", "mended": "mended", "": ""}
_GAP: Final = 0.08  # of two labels, as a part of the height of the axes


def campaign_figures(found: Analysis) -> Iterator[Figure]:
    """All that can be drawn of a campaign."""
    for name, ranking in found.rankings.items():
        rows = [row for row in ranking.systems if row.score is not None]
        if len(rows) > 1:
            stem = f"ranking.{name}" if name else "ranking"
            yield ranking_figure(stem, _leaders(rows), rows, name or "score, higher is better")
    curves = found.curves
    if curves.scores:
        yield distribution_figure("scores", curves.scores, curves.what, top=curves.top, failed={})
    if curves.beside is not None:
        beside = curves.beside
        yield systems_figure("systems", beside.systems, beside.ours, beside.gold, beside.cuts, beside.n)
    for both in curves.twice:
        if len(both.first) > 1:
            yield twice_figure(f"twice.{both.name.replace(' ', '-')}", both)
    yield from _of_people(found)
    if len(curves.pace) > 1 and curves.pace.any():
        yield pace_figure("pace", {"": curves.pace})
    if len(curves.weights):
        yield weights_figure("weights", curves.weights)
    if curves.subsets:
        kept = {_WHOSE[name]: Subsets(*curve) for name, curve in curves.subsets.items()}
        yield subsets_figure("subsets", kept)


def _leaders(rows: Sequence[RankedSystem]) -> str:
    """Say which systems may be the best one, by the tests of their pairs."""
    if name := leader(rows):
        return f"{name} is significantly better than every other system"
    ties = len(unbeaten(rows))
    return f"{ties} of {len(rows)} systems may be the best; {rows[0].system} has the highest score"


def _of_people(found: Analysis) -> Iterator[Figure]:
    wanted = (
        ("attention", "share with a lower score", "share of damaged copies rated lower"),
        ("drift", None, "score above others on the same systems"),
    )
    for section, measure, what in wanted:
        rows = [
            row
            for part in found.sections
            if part.name == section
            for row in part.numbers
            if row.of != "all" and (row.measure == measure or (measure is None and "above" in row.measure))
        ]
        if len(rows) > 1:
            yield people_figure(section, rows, what)


# Systems...


def systems_figure(
    name: str, systems: Sequence[str], ours: Floats, gold: Floats, cuts: Sequence[float], n: int
) -> Figure:
    """Draw each system at its mean by people and by gold, with people's clusters. The ESA paper, figure 4.

    Args:
        name: stem of its files.
        systems: names.
        ours: mean of each by people.
        gold: by gold.
        cuts: on our scale, where a cluster ends.
        n: segments.
    """
    accuracy = pairwise_accuracy(gold, ours)
    right = round((accuracy.value or 0) * accuracy.n)
    title = f"People order {right} of {count(accuracy.n, 'pair')} of systems as gold does"

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 2.5)
        axes.plot(ours, gold, "o", color=_ACCENT, markersize=3.6, markeredgewidth=0)
        axes.margins(0.16)
        for cut in cuts:
            axes.axvline(cut, color=_SOFT, linewidth=0.7, linestyle="--")
        clusters = f"dashed: {count(len(cuts) + 1, 'cluster')} by rank sums"
        axes.set_xlabel(f"score by people, higher is better\nn = {count(n, 'segment')}; {clusters}")
        axes.set_ylabel("score by gold")
        drawing.draw_without_rendering()  # so that sizes are known
        points = list(zip(ours.tolist(), gold.tolist(), strict=True))
        label_points(axes, systems, points)
        return drawing

    return Figure(name=name, title=title, draw=draw)


# Two judgements...


def twice_figure(name: str, both: Twice) -> Figure:
    """Draw every translation that was judged twice at both scores. The ESA paper, figure 7.

    Args:
        name: stem of its files.
        both: judgements; equal points grow with their number.
    """
    first, second = both.scores
    known = pearson(first, second).value
    told = "cannot be correlated" if known is None else f"correlate with r = {number(known, 2)}"
    title = f"Scores of the same translation ({name_invisible(both.name)}) {told}"
    points, times = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    low, high = float(points.min()), float(points.max())

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 2.5)
        axes.plot([low, high], [low, high], color=_LINE, linewidth=0.8)
        sizes = 4.0 * times
        axes.scatter(points[:, 0], points[:, 1], s=sizes, color=_ACCENT, alpha=0.45, linewidths=0)
        axes.set_xlabel(
            f"first score; n = {count(len(first), 'translation')}, larger where several are alike"
        )
        axes.set_ylabel("second score")
        return drawing

    return Figure(name=name, title=title, draw=draw)


# People...


def people_figure(name: str, rows: Sequence[Number], what: str) -> Figure:
    """Draw one number of each person with its interval, the lowest below.

    Args:
        name: stem of its files.
        rows: one a person.
        what: what it is.
    """
    known = sorted((r for r in rows if r.result.value is not None), key=lambda r: -(r.result.value or 0.0))
    kept = (
        known if len(known) <= _MOST_PEOPLE else [*known[: _MOST_PEOPLE // 2], *known[-_MOST_PEOPLE // 2 :]]
    )
    last, first = known[-1], known[0]
    ends = [number(row.result.value, 2) for row in (last, first)]
    title = (
        f"{what[0].upper()}{what[1:]}: from {ends[0]} ({_short(last.of)}) to {ends[1]} ({_short(first.of)})"
    )

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, len(kept), 0.16)
        if min(row.result.value or 0.0 for row in kept) < 0:
            axes.axvline(0, color=_SOFT, linewidth=0.7)
        for place, row in enumerate(kept):
            if row.result.interval is not None:
                axes.plot(list(row.result.interval), [place, place], color=_ACCENT, linewidth=1.4)
            axes.plot([row.result.value or 0.0], [place], "o", markersize=3.2, color=_INK)
        axes.set_yticks(
            range(len(kept)), [f"{_short(r.of)} ({whole(r.result.n)})" for r in kept], fontsize=6.5
        )
        axes.set_ylim(len(kept) - 0.5, -0.5)
        left = f"; {len(known) - len(kept)} in the middle left out" if len(kept) < len(known) else ""
        axes.set_xlabel(f"{what}\nin brackets: n; lines: 95 % intervals{left}")
        return drawing

    return Figure(name=name, title=title, draw=draw)


# Curves...


def pace_figure(name: str, curves: Mapping[str, Floats]) -> Figure:
    """Draw seconds of a segment by how much of the work is done. The ESA paper, figure 5.

    Args:
        name: stem of its files.
        curves: label to seconds, from the start to the end; one without a label has the name `""`.
    """
    first = next(iter(curves.values()))
    edge = max(1, len(first) // 10)
    start, end = float(first[:edge].mean()), float(first[-edge:].mean())
    whose = next(iter(curves))
    title = f"A segment takes {number(start, 0)} s at the start and {number(end, 0)} s at the end"
    if whose:
        title += f" ({whose})"
    lines = {label: (np.linspace(0, 100, len(own)), own) for label, own in curves.items()}
    return _line_figure(name, title, lines, ("% of the work done", "seconds a segment"), bottom=0)


def weights_figure(name: str, curve: Floats, label: str = "") -> Figure:
    """Draw how well marked errors fit ratings, by the weight of a major one. The ESA paper, figure 8.

    Args:
        name: stem of its files.
        curve: correlation at each of `WEIGHTS`.
        label: of whom.
    """
    best = int(np.nanargmax(curve))
    title = f"Errors fit ratings best where a major one weighs {WEIGHTS[best]:g} minor ones"
    words = f"weight of a major error{f' ({label})' if label else ''}"
    return _line_figure(name, title, {"": (WEIGHTS, curve)}, (words, "Pearson's r with the rating"))


@dataclass(frozen=True)
class Subsets:
    """Sizes of random parts, and the share of pairs of systems that each orders as all segments do."""

    sizes: Sequence[int]
    shares: Sequence[float]


def subsets_figure(name: str, curves: Mapping[str, Subsets], of: str = "") -> Figure:
    """Draw how few segments order the systems as all of them do. The ESA paper, figure 9.

    Args:
        name: stem of its files.
        curves: label to curve.
        of: label of the curve that the title tells of; empty for the last one, without its name.
    """
    last = curves[of] if of else list(curves.values())[-1]
    enough = next((n for n, share in zip(last.sizes, last.shares, strict=True) if share >= _HIGH), None)
    told = "no part" if enough is None else f"{enough:,} of {last.sizes[-1]:,} segments"
    told = f"{told} {'orders' if enough is None else 'order'} 95 % of the pairs as all do"
    title = f"{of}: {told}" if of else told[0].upper() + told[1:]
    lines = {label: (np.array(c.sizes, dtype=float), 100 * np.array(c.shares)) for label, c in curves.items()}
    return _line_figure(name, title, lines, ("segments drawn", "% of pairs of systems ordered as by all"))


def _line_figure(
    name: str,
    title: str,
    lines: Mapping[str, tuple[Floats, Floats]],
    words: tuple[str, str],
    bottom: float | None = None,
) -> Figure:
    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 1.9)
        for (x, y), (colour, dash) in zip(lines.values(), _STYLES * len(lines), strict=False):
            axes.plot(x, y, dash, color=colour, linewidth=1.4)
        axes.grid(axis="y", color=_LINE, linewidth=0.5)
        axes.set_xlabel(words[0])
        axes.set_ylabel(words[1])
        _label_lines(axes, lines)
        if bottom is not None:
            axes.set_ylim(bottom=bottom)
        return drawing

    return Figure(name=name, title=title, draw=draw)


def _label_lines(axes: Axes, lines: Mapping[str, tuple[Floats, Floats]]) -> None:
    """Write each line's name at its end, from above; lines that end together in the order of their means."""
    low, high = axes.get_ylim()
    ends = [(high - float(y[-1])) / (high - low) - 1e-9 * float(y.mean()) for _, y in lines.values()]
    places = [1 - down for down in spread_heights(ends, _GAP)]
    for (label, (x, _)), place, (colour, _) in zip(lines.items(), places, _STYLES * len(lines), strict=False):
        axes.annotate(
            label,
            (float(x[-1]), low + place * (high - low)),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )


def _short(name: str) -> str:
    return short_name(name, _LONGEST)
