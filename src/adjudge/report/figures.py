"""Figures for pages and papers: rankings with their intervals, and distributions of scores.

Titles say the finding, labels stand where the things are, and both ends of an axis are those of the data.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from adjudge.errors import UsageError
from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.findings import in_words
from adjudge.report.invisible import name_invisible
from adjudge.report.numbers import digits_for, number, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "COLOURS",
    "FILE_FORMATS",
    "Figure",
    "add_caption",
    "distribution_figure",
    "figure_canvas",
    "figure_format",
    "figure_style",
    "fitting_lines",
    "ranking_figure",
    "short_name",
    "titled_drawing",
]

COLOURS: Final[Mapping[str, str]] = {
    "#1c1d20": "ink",
    "#5a5d64": "soft",
    "#0b5d53": "accent",
    "#dcd9d2": "line",
    "#fcfbf9": "paper",
}
"""Every colour of a figure, with the custom property of the stylesheet that takes its place in a page."""

FILE_FORMATS: Final = ("pdf", "svg", "png")

_INK, _SOFT, _ACCENT, _LINE, _PAPER = COLOURS
_WIDTH: Final = 3.4  # of a column of a paper, in inches
_TITLE_SIZE: Final = 8.5
_TITLE_WIDTH: Final = 46  # letters of a line
_FEWEST_LETTERS: Final = 20
_TITLE_ROOM: Final = 0.96  # of the width, as the letters of a browser may be a little wider
_LONGEST_NAME: Final = 24
_LINE_HEIGHT: Final = 1.2 / 72  # inches for each point of the size of letters
_USUAL_LINES: Final = 2  # of a caption; drawings grow with further ones
_BINS: Final = 24
_DATES: Final[Mapping[str, Mapping[str, None]]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}
"""Metadata left out, so that the same input gives the same bytes."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure, ready to be drawn and written.

    Args:
        name: stem of its files, such as `ranking.en-de.gemba-mqm`.
        title: the finding that it shows.
        draw: draws it with matplotlib, when it is wanted; the page's figures draw in another process, too.
    """

    name: str
    title: str
    draw: Callable[[], Drawing]

    @property
    def drawing(self) -> Drawing:
        """What is drawn, as matplotlib knows it; a new one each time, for writing one changes it."""
        with figure_style():
            return self.draw()

    def render(self, form: str) -> bytes:
        """Write it as `pdf`, `svg` or `png`."""
        buffer = io.BytesIO()
        with figure_style():
            self.drawing.savefig(buffer, format=form, metadata=dict(_DATES[form]), transparent=form == "svg")
        return buffer.getvalue()

    def write(self, folder: Path) -> list[Path]:
        """Write all three files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}.{form}" for form in FILE_FORMATS]
        for path, form in zip(paths, FILE_FORMATS, strict=True):
            path.write_bytes(self.render(form))
        return paths

    def write_file(self, path: Path) -> None:
        """Write one file, in the format that its name ends in.

        Raises:
            UsageError: it ends in none.
        """
        form = figure_format(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.render(form))


def figure_format(path: Path) -> str:
    """Format that the name of a figure's file ends in.

    Raises:
        UsageError: it ends in none.
    """
    form = path.suffix.removeprefix(".").lower()
    if form not in FILE_FORMATS:
        raise UsageError(f"a figure is a file that ends in .{', .'.join(FILE_FORMATS)}; got {str(path)!r}")
    return form


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply the style file; a name in a script that no font here has is drawn as boxes, without a word."""
    import matplotlib.style

    with as_file(files("adjudge.report") / "figures.mplstyle") as path, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        with matplotlib.style.context(path):
            yield


def figure_canvas(title: str, rows: int, row_height: float) -> tuple[Drawing, Axes]:
    """Make a drawing of one column's width with its title; `row_height` is in inches."""
    drawing = titled_drawing(title, 0.75 + row_height * rows)
    return drawing, drawing.add_subplot()


def titled_drawing(title: str, height: float) -> Drawing:
    """Make an empty drawing of one column's width with its title; `height` is that of the rest, in inches."""
    from matplotlib.figure import Figure as Drawing

    lines = _title_lines(name_invisible(title))
    drawing = Drawing(figsize=(_WIDTH, 0.15 * len(lines) + height))
    drawing.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=_TITLE_SIZE, fontweight="bold")
    return drawing


def _title_lines(title: str) -> list[str]:
    """Break a title into lines that the drawing is wide enough for, however wide its letters are."""
    return fitting_lines(title, _TITLE_ROOM * _WIDTH, size=_TITLE_SIZE, weight="bold", most=_TITLE_WIDTH)


def fitting_lines(
    text: str,
    inches: float,
    *,
    size: float,
    weight: str = "normal",
    most: int = 120,
    fewest: int = _FEWEST_LETTERS,
) -> list[str]:
    """Break text into lines that fit into a width, measured and not estimated by the number of letters.

    Args:
        text: one paragraph.
        inches: the width.
        size: of the letters, in points.
        weight: `normal` or `bold`.
        most: letters in a line, however narrow they are.
        fewest: letters in a line, however wide they are.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font, measure = FontProperties(size=size, weight=weight), TextToPath()
    for letters in range(most, fewest, -1):
        lines = textwrap.wrap(text, letters)
        widths = [measure.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
        if max(widths, default=0.0) <= inches * 72:
            return lines
    return textwrap.wrap(text, fewest)


def add_caption(drawing: Drawing, *paragraphs: str, size: float = 7.5) -> None:
    """Put text below everything that is drawn, in lines that the drawing is wide enough for.

    Args:
        drawing: made by `titled_drawing` or `figure_canvas`.
        paragraphs: each begins a line.
        size: of the letters, in points.
    """
    inches = _TITLE_ROOM * drawing.get_figwidth()
    lines = [line for words in paragraphs for line in fitting_lines(name_invisible(words), inches, size=size)]
    drawing.set_figheight(drawing.get_figheight() + _LINE_HEIGHT * size * max(len(lines) - _USUAL_LINES, 0))
    drawing.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=size, color=_SOFT)


def ranking_figure(name: str, title: str, rows: Sequence[RankedSystem], what: str) -> Figure:
    """Draw a ranking: mean and interval of each system, a line between clusters.

    Args:
        name: stem of its files.
        title: the finding.
        rows: best first; those without a score are left out.
        what: what the axis shows.
    """
    return Figure(name=name, title=title, draw=partial(_draw_ranking, title, rows, what))


def _draw_ranking(title: str, rows: Sequence[RankedSystem], what: str) -> Drawing:
    judged = [row for row in rows if row.score is not None]
    drawing, axes = figure_canvas(title, len(judged), 0.24)
    digits = digits_for((row.score for row in judged), (row.interval for row in judged))
    for place, row in enumerate(judged):
        if row.interval is not None:
            axes.plot([row.interval.low, row.interval.high], [place, place], color=_ACCENT, linewidth=1.6)
        axes.plot([row.score or 0.0], [place], marker="o", markersize=4, color=_INK)
        if place and judged[place - 1].cluster != row.cluster:
            axes.axhline(place - 0.5, color=_SOFT, linewidth=0.7)
        axes.text(
            1.02,
            place,
            number(row.score, digits),
            transform=axes.get_yaxis_transform(),
            va="center",
            color=_SOFT,
        )
    axes.set_yticks(range(len(judged)), [short_name(row.system) for row in judged])
    axes.set_ylim(len(judged) - 0.5, -0.5)
    add_caption(drawing, *_caption(what, [row.n for row in judged], {row.system: row.failed for row in rows}))
    axes.margins(x=0.04)
    return drawing


def distribution_figure(
    name: str, scores: Mapping[str, Sequence[float]], what: str, *, top: float, failed: Mapping[str, int]
) -> Figure:
    """Draw how the scores of each system spread: one row of bars for each, on one axis.

    Args:
        name: stem of its files.
        scores: system to scores of its segments, best system first; without failed ones, at least one.
        what: what the axis shows.
        top: the best possible score; a share of scores that reaches it is named.
        failed: system to judgements that failed.
    """
    import numpy as np

    known = {system: np.asarray(values, dtype=float) for system, values in scores.items() if len(values)}
    title, labels = _spread_words({s: [float(v) for v in values] for s, values in known.items()}, top)
    edges = _edges([float(v) for values in known.values() for v in values])
    heights = {system: np.histogram(values, edges)[0] / len(values) for system, values in known.items()}
    tallest = max(float(h.max()) for h in heights.values())
    rows = [
        _Row(short_name(system), labels[system], [float(h) / tallest * 0.78 for h in height])
        for system, height in heights.items()
    ]
    words = _caption(what, [len(values) for values in known.values()], failed)
    return Figure(name=name, title=title, draw=partial(_draw_distribution, title, edges, rows, words))


class _Row(NamedTuple):
    """How the scores of one system spread: its name, what stands at the end of its row, heights of bars."""

    name: str
    label: str
    heights: Sequence[float]


def _draw_distribution(
    title: str, edges: Sequence[float], rows: Sequence[_Row], words: Sequence[str]
) -> Drawing:
    drawing, axes = figure_canvas(title, len(rows), 0.36)
    for place, row in enumerate(rows):
        _draw_row(axes, edges, row.heights, place)
        axes.text(1.01, place, row.label, transform=axes.get_yaxis_transform(), va="bottom", color=_SOFT)
    axes.set_yticks([p - 0.2 for p in range(len(rows))], [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.9, -0.9)
    axes.set_xlim(edges[0], edges[-1])
    add_caption(drawing, *words)
    return drawing


def _caption(what: str, amounts: Sequence[int], failed: Mapping[str, int]) -> tuple[str, str]:
    """Say what an axis shows, over how many segments, and how many judgements failed."""
    low, high = min(amounts), max(amounts)
    n = f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"
    lost = ", ".join(f"{short_name(system)} {amount:,}" for system, amount in failed.items() if amount)
    return what, f"{n} each, failed: {lost or 'none'}"


def short_name(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name on a drawing, cut where it would take the place of what is drawn."""
    text = name_invisible(name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _draw_row(axes: Axes, edges: Sequence[float], heights: Sequence[float], place: int) -> None:
    width = edges[1] - edges[0]
    bars: Any = axes.bar(edges[:-1], [-h for h in heights], width * 0.86, place, align="edge", color=_ACCENT)
    for bar, height in zip(bars, heights, strict=True):
        bar.set_visible(height > 0)
    axes.axhline(place, color=_LINE, linewidth=0.7)


def _edges(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / (_BINS - 1)
    return [low + step * (index - 0.5) for index in range(_BINS + 1)]


def _spread_words(scores: Mapping[str, Sequence[float]], top: float) -> tuple[str, dict[str, str]]:
    """Say what the distributions show: who reaches the best score how often, or else the medians."""
    from statistics import median

    at_top = {system: sum(value >= top for value in values) for system, values in scores.items()}
    if sum(at_top.values()) * 20 >= sum(map(len, scores.values())) > 0:
        shares = {system: share(at_top[system], len(scores[system])) for system in scores}
        ordered = sorted(scores, key=lambda system: -at_top[system] / len(scores[system]))
        return _top_words(ordered, shares), {
            system: f"{shares[system]} at {number(top, 0)}" for system in scores
        }
    medians = {system: median(values) for system, values in scores.items()}
    ordered = sorted(medians, key=lambda system: -medians[system])
    digits = 1 if max(map(abs, medians.values())) > 5 else 2
    words = {system: number(value, digits) for system, value in medians.items()}
    return _median_words(scores, ordered, words), {system: f"median {word}" for system, word in words.items()}


def _top_words(ordered: Sequence[str], shares: Mapping[str, str]) -> str:
    """Who reaches the best score most often, and least."""
    first, last = _alike(ordered, shares, ordered[0]), _alike(ordered, shares, ordered[-1])
    gets, whose = ("gets", "its") if len(first) == 1 else ("get", "their")
    title = f"{in_words(first)} {gets} the best score in {shares[ordered[0]]} of {whose} segments"
    return title if first == last else f"{title}, {in_words(last)} in {shares[ordered[-1]]}"


def _alike(ordered: Sequence[str], words: Mapping[str, str], own: str) -> list[str]:
    """Systems of which the same is said as of one."""
    return [system for system in ordered if words[system] == words[own]]


def _median_words(
    scores: Mapping[str, Sequence[float]], ordered: Sequence[str], words: Mapping[str, str]
) -> str:
    """Compare the middle of the best system with that of the last one; say it where nothing differs."""
    first, last = (_alike(ordered, words, ordered[end]) for end in (0, -1))
    best = words[ordered[0]]
    if len({value for values in scores.values() for value in values}) == 1:
        return f"All judged segments have the same score, {best}"
    if len(ordered) == 1:
        return f"The median score of {ordered[0]} is {best}"
    if first == last:
        return f"The median score is {best} for {'both' if len(ordered) == 2 else 'all'} systems"
    return f"The median score of {in_words(first)} is {best}, that of {in_words(last)} {words[ordered[-1]]}"
