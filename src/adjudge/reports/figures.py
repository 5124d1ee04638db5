"""Figures for pages and papers, and what every figure is made with.

A `Figure` is drawn when it is wanted, and written as PDF, SVG or PNG; `page_svg` makes it a part of a page.
Here are rankings, distributions of scores, the turns of judges that choose their tools, and radars by
criterion; other modules of the room draw theirs with the canvas, captions and labels from here. Titles say
the finding, labels stand where the things are, and both ends of an axis are those of the data.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import as_file, files
from itertools import product, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
from markupsafe import Markup

from adjudge.analysis.rank import RankedSystem, Ranking
from adjudge.core.extras import import_extra
from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, Record
from adjudge.core.wording import count, shortened
from adjudge.errors import UsageError
from adjudge.reports.tables import digits_for, name_invisible, number, share
from adjudge.reports.words import in_words, leader
from adjudge.stats.judged import Floats
from adjudge.store.files import make_folder, make_parents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

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
_LONGEST_LABEL: Final = 22
_LINE_HEIGHT: Final = 1.2 / 72  # inches for each point of the size of letters
_USUAL_LINES: Final = 2  # of a caption; drawings grow with further ones
_BINS: Final = 24
_MOST_NUMBERS: Final = 14  # names in whose matrix there is room for numbers
_DATES: Final[Mapping[str, Mapping[str, None]]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}
"""Metadata left out, so that the same input gives the same bytes."""


@frozen
class Figure:
    """One figure, ready to be drawn and written."""

    name: str  # stem of its files, such as `ranking.en-de.gemba-mqm`
    title: str  # the finding that it shows
    # draws it with matplotlib, when it is wanted; the page's figures draw in another process, too
    draw: Callable[[], Drawing]

    @property
    def drawing(self) -> Drawing:
        """What is drawn, as matplotlib knows it; a new one each time, for writing one changes it."""
        with figure_style():
            return self.draw()

    def render(self, form: str) -> bytes:
        buffer = io.BytesIO()
        with figure_style():
            self.drawing.savefig(buffer, format=form, metadata=dict(_DATES[form]), transparent=form == "svg")
        return buffer.getvalue()

    def write(self, folder: Path) -> list[Path]:
        paths = [folder / f"{self.name}.{form}" for form in FILE_FORMATS]
        make_folder(folder)
        for path in paths:
            self.write_file(path)
        return paths

    def write_file(self, path: Path) -> None:
        """Write one file, in the format that its name ends in."""
        form = figure_format(path)
        make_parents(path)
        path.write_bytes(self.render(form))


def figure_format(path: Path) -> str:
    """Format that the name of a figure's file ends in."""
    form = path.suffix.removeprefix(".").lower()
    if form not in FILE_FORMATS:
        raise UsageError(f"a figure is a file that ends in .{', .'.join(FILE_FORMATS)}; got {str(path)!r}")
    return form


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply the style file; a name in a script that no font here has is drawn as boxes, without a word."""
    style = import_extra("matplotlib.style")
    with as_file(files("adjudge.reports") / "figures.mplstyle") as path, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        with style.context(path):
            yield


def figure_canvas(title: str, rows: int, row_height: float) -> tuple[Drawing, Axes]:
    """Make a drawing of one column's width with its title; `row_height` is in inches."""
    drawing = titled_drawing(title, 0.75 + row_height * rows)
    return drawing, drawing.add_subplot()


def titled_drawing(title: str, height: float) -> Drawing:
    """Make an empty drawing of one column's width with its title; `height` is that of the rest, in inches."""
    from matplotlib.figure import Figure as Drawing

    words = name_invisible(title)
    lines = fitting_lines(words, _TITLE_ROOM * _WIDTH, size=_TITLE_SIZE, weight="bold", most=_TITLE_WIDTH)
    drawing = Drawing(figsize=(_WIDTH, 0.15 * len(lines) + height))
    drawing.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=_TITLE_SIZE, fontweight="bold")
    return drawing


def fitting_lines(
    text: str,
    inches: float,
    *,
    size: float,
    weight: str = "normal",
    most: int = 120,
    fewest: int = _FEWEST_LETTERS,
) -> list[str]:
    """Break text into lines that fit into a width, measured and not estimated by the number of letters."""
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
    """Put text below everything that is drawn, in lines that the drawing is wide enough for."""
    inches = _TITLE_ROOM * drawing.get_figwidth()
    lines = [line for words in paragraphs for line in fitting_lines(name_invisible(words), inches, size=size)]
    drawing.set_figheight(drawing.get_figheight() + _LINE_HEIGHT * size * max(len(lines) - _USUAL_LINES, 0))
    drawing.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=size, color=_SOFT)


def draw_matrix(title: str, names: Sequence[str], table: Floats, caption: str) -> Drawing:
    """Draw correlations of every two as a heat map: white is 0 or less, the darkest 1, grey is unknown.

    `table`: correlations, rows by columns; NaN where there is none.
    """
    from matplotlib.colors import LinearSegmentedColormap

    with_numbers = len(names) <= _MOST_NUMBERS
    side = (0.26 if with_numbers else 0.17) * len(names)
    drawing, axes = figure_canvas(title, 1, side)
    drawing.set_size_inches(max(3.4, side + 1.6), drawing.get_figheight() + 1.15)
    shades = LinearSegmentedColormap.from_list("accent", [_PAPER, _ACCENT]).with_extremes(bad=_LINE)
    axes.imshow(table, cmap=shades, vmin=0, vmax=1)
    shown = [short_name(name, longest=22) for name in names]
    axes.set_yticks(range(len(names)), shown, fontsize=6.5)
    axes.set_xticks(range(len(names)), shown, rotation=90, fontsize=6.5, color=_INK)
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(table):
        if with_numbers and row != column and not np.isnan(value):
            colour = _PAPER if value > 0.7 else _INK
            text = number(float(value), 2).replace("0.", ".")
            axes.text(column, row, text, ha="center", va="center", fontsize=5.5, color=colour)
    add_caption(drawing, caption)
    return drawing


def ranking_figure(name: str, title: str, rows: Sequence[RankedSystem], what: str) -> Figure:
    """Draw a ranking: mean and interval of each system, a line between clusters."""
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
    add_caption(drawing, *_caption(what, [row.n for row in judged], lost_of(rows)))
    axes.margins(x=0.04)
    return drawing


def distribution_figure(
    name: str,
    scores: Mapping[str, Sequence[float]],
    what: str,
    *,
    top: float,  # the best possible score; a share of scores that reaches it is named
    lost: Mapping[str, Mapping[str, int]],
) -> Figure:
    """Draw how the scores of each system spread: one row of bars for each, on one axis.

    `scores`: system to scores of its segments, best system first; without failed ones, at least one.
    """
    import numpy as np

    known = {system: [float(v) for v in values] for system, values in scores.items() if len(values)}
    title, labels = _spread_words(known, top)
    values = [v for values in known.values() for v in values]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / (_BINS - 1)
    edges = [low + step * (index - 0.5) for index in range(_BINS + 1)]
    heights = {system: np.histogram(values, edges)[0] / len(values) for system, values in known.items()}
    tallest = max(float(h.max()) for h in heights.values())
    rows = [
        _Row(short_name(system), labels[system], [float(h) / tallest * 0.78 for h in height])
        for system, height in heights.items()
    ]
    words = _caption(what, [len(values) for values in known.values()], lost)
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
    width = 0.86 * (edges[1] - edges[0])
    for place, row in enumerate(rows):
        upwards = [-h for h in row.heights]
        bars: Any = axes.bar(edges[:-1], upwards, width, place, align="edge", color=_ACCENT)
        for bar, height in zip(bars, row.heights, strict=True):
            bar.set_visible(height > 0)
        axes.axhline(place, color=_LINE, linewidth=0.7)
        axes.text(1.01, place, row.label, transform=axes.get_yaxis_transform(), va="bottom", color=_SOFT)
    axes.set_yticks([p - 0.2 for p in range(len(rows))], [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.9, -0.9)
    axes.set_xlim(edges[0], edges[-1])
    add_caption(drawing, *words)
    return drawing


def lost_of(rows: Sequence[RankedSystem]) -> dict[str, dict[str, int]]:
    """Count what has no score: why, and of which system."""
    return {
        "failed": {row.system: row.failed for row in rows},
        "not translated": {row.system: row.untranslated for row in rows if row.untranslated},
    }


def _caption(what: str, amounts: Sequence[int], lost: Mapping[str, Mapping[str, int]]) -> tuple[str, str]:
    """Say over how many segments, and how many have no score and why."""
    parts = [f"n = {range_words(amounts)} each"]
    for why, amounts_of in lost.items():
        listed = ", ".join(f"{short_name(name)} {amount:,}" for name, amount in amounts_of.items() if amount)
        parts += [f"{why}: {listed or 'none'}"] if listed or why == "failed" else []
    return what, ", ".join(parts)


def range_words(amounts: Collection[int]) -> str:
    """The least and the greatest of some amounts, or the one amount that all of them are."""
    low, high = min(amounts), max(amounts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def short_name(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name on a drawing, cut where it would take the place of what is drawn."""
    return shortened(name_invisible(name), longest)


def _spread_words(scores: Mapping[str, Sequence[float]], top: float) -> tuple[str, dict[str, str]]:
    """Say what the distributions show: who reaches the best score how often, or else the medians."""
    from statistics import median

    at_top = {system: sum(value >= top for value in values) for system, values in scores.items()}
    if sum(at_top.values()) * 20 >= sum(map(len, scores.values())) > 0:
        shares = {system: share(at_top[system], len(scores[system])) for system in scores}
        ordered = sorted(scores, key=lambda system: -at_top[system] / len(scores[system]))
        first, last = _alike(ordered, shares, ordered[0]), _alike(ordered, shares, ordered[-1])
        gets, whose = ("gets", "its") if len(first) == 1 else ("get", "their")
        title = f"{in_words(first)} {gets} the best score in {shares[ordered[0]]} of {whose} segments"
        return (title if first == last else f"{title}, {in_words(last)} in {shares[ordered[-1]]}"), {
            system: f"{shares[system]} at {number(top, 0)}" for system in scores
        }
    medians = {system: median(values) for system, values in scores.items()}
    ordered = sorted(medians, key=lambda system: -medians[system])
    digits = 1 if max(map(abs, medians.values())) > 5 else 2
    words = {system: number(value, digits) for system, value in medians.items()}
    return _median_words(scores, ordered, words), {system: f"median {word}" for system, word in words.items()}


def _alike(ordered: Sequence[str], words: Mapping[str, str], own: str) -> list[str]:
    return [system for system in ordered if words[system] == words[own]]


def _median_words(
    scores: Mapping[str, Sequence[float]], ordered: Sequence[str], words: Mapping[str, str]
) -> str:
    first, last = (_alike(ordered, words, ordered[end]) for end in (0, -1))
    best = words[ordered[0]]
    if len({value for values in scores.values() for value in values}) == 1:
        return f"All judged segments have the same score, {best}"
    if len(ordered) == 1:
        return f"The median score of {ordered[0]} is {best}"
    if first == last:
        return f"The median score is {best} for {'both' if len(ordered) == 2 else 'all'} systems"
    return f"The median score of {in_words(first)} is {best}, that of {in_words(last)} {words[ordered[-1]]}"


_SVG: Final = "{http://www.w3.org/2000/svg}"
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def page_svg(figure: Figure, prefix: str, drawn: bytes | None = None) -> Markup:
    """Render a figure as an inline `svg` element, in the colours of the page's theme.

    Nothing stays in it that a Content Security Policy refuses.
    """
    root = ET.fromstring(figure.render("svg") if drawn is None else drawn)  # noqa: S314 (by matplotlib)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                parent.remove(child)
    attributes = [element.attrib for element in root.iter()]
    referred = {own[_HREF][1:] for own in attributes if _HREF in own}
    referred |= {m for own in attributes for value in own.values() for m in _REFERENCE.findall(value)}
    for element in root.iter():
        _clean(element, prefix, referred)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update({"class": "figure", "role": "img", "aria-label": name_invisible(figure.title)})
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})
    ET.register_namespace("", "http://www.w3.org/2000/svg")
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 (the tree's own escaping)


def _clean(element: ET.Element, prefix: str, referred: set[str]) -> None:
    attributes = element.attrib
    _unstyle(attributes, is_text=element.tag == f"{_SVG}text")
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    if (own := attributes.pop("id", "")) in referred:
        attributes["id"] = f"{prefix}-{own}"
    if _HREF in attributes:
        attributes["href"] = f"#{prefix}-{attributes.pop(_HREF)[1:]}"
    for name, value in attributes.items():
        attributes[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)


def _unstyle(attributes: dict[str, str], *, is_text: bool) -> None:
    for declaration in filter(None, attributes.pop("style", "").split(";")):
        name, _, value = declaration.partition(":")
        if name.strip() not in {"font-family", "font"}:
            attributes[name.strip()] = value.strip()
    if is_text:
        attributes.setdefault("fill", "var(--ink)")
    for name in ("fill", "stroke"):
        if (theme := COLOURS.get(attributes.get(name, ""))) is not None:
            attributes[name] = f"var(--{theme})"


class Box(NamedTuple):
    """A rectangle, in whatever unit the drawing has."""

    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: Box) -> float:
        """Area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def nearest(self, point: tuple[float, float]) -> tuple[float, float]:
        """The place in the rectangle that is nearest to a point."""
        x, y = point
        return min(max(x, self.left), self.right), min(max(y, self.bottom), self.top)


def spread_heights(heights: Sequence[float], gap: float) -> list[float]:
    """Move labels apart that would stand upon one another, from the lowest upwards."""
    placed: dict[int, float] = {}
    last = -gap
    for index in sorted(range(len(heights)), key=lambda i: heights[i]):
        last = placed[index] = max(heights[index], last + gap)
    return [placed[index] for index in range(len(heights))]


def label_ends(
    axes: Axes,
    labels: Iterable[str],
    ends: Iterable[tuple[float, float]],
    colours: Iterable[str],  # at least as many
    *,
    gap: float = 6,
    size: float | None = None,  # of the letters, in points; None for the usual one
) -> None:
    """Write the name of each line at its end, in the line's colour, outside of the axes."""
    for label, end, colour in zip(labels, ends, colours, strict=False):
        axes.annotate(
            label,
            end,
            xytext=(gap, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=size,
            annotation_clip=False,
        )


_STEPS: Final = tuple(sorted((step / 2 for step in range(-16, 17)), key=lambda step: (abs(step), -step)))
_SIDES: Final = tuple(product(_STEPS, ("right", "left")))
"""Places of a label in order of liking: beside its point, then half its own height higher and lower."""

_FAR: Final = 0.05
"""What one step away costs, as a part of the label's area that stands upon something."""


def place_labels(
    points: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]], frame: Box, gap: float
) -> list[Box]:
    """Put a label beside each point, where it covers the least of other labels and points.

    Labels are placed one after the other, points in the densest places first; a place outside of the frame
    costs as much as one upon another label.
    """
    taken = [Box(x - gap / 2, y - gap / 2, x + gap / 2, y + gap / 2) for x, y in points]
    placed: dict[int, Box] = {}
    near = [sum(abs(a - x) < 10 * gap and abs(b - y) < 10 * gap for a, b in points) for x, y in points]
    for index in sorted(range(len(points)), key=lambda i: -near[i]):
        others = [*(box for i, box in enumerate(taken) if i != index), *placed.values()]
        boxes = [_box(points[index], sizes[index], side, gap) for side in _SIDES]
        costs = [_cost(b, others, frame) + _FAR * abs(up) for b, (up, _) in zip(boxes, _SIDES, strict=True)]
        placed[index] = boxes[costs.index(min(costs))]
    return [placed[index] for index in range(len(points))]


def label_points(axes: Axes, labels: Sequence[str], points: Sequence[tuple[float, float]]) -> None:
    """Write each label where it covers least, with a hairline to its point where it had to move."""
    pixels = [(float(x), float(y)) for x, y in axes.transData.transform(points)]
    texts = [
        axes.text(x, y, short_name(s, _LONGEST_LABEL), fontsize=6.5, color=_SOFT)
        for s, (x, y) in zip(labels, points, strict=True)
    ]
    extents = [text.get_window_extent() for text in texts]
    frame = axes.get_window_extent()
    gap = 0.012 * frame.width + 2
    boxes = place_labels(
        pixels,
        [(e.width, e.height * 0.92) for e in extents],
        Box(frame.x0, frame.y0, frame.x1, frame.y1),
        gap,
    )
    back = axes.transData.inverted()
    for text, box, pixel, point in zip(texts, boxes, pixels, points, strict=True):
        text.set_position(tuple(back.transform((box.left, box.bottom))))
        near = box.nearest(pixel)
        if abs(near[0] - pixel[0]) + abs(near[1] - pixel[1]) > 2 * gap:
            end = back.transform(near)
            axes.plot([point[0], end[0]], [point[1], end[1]], color=_SOFT, linewidth=0.4, zorder=0)


def _box(point: tuple[float, float], size: tuple[float, float], side: tuple[float, str], gap: float) -> Box:
    (x, y), (width, height), (up, across) = point, size, side
    left = x + gap if across == "right" else x - gap - width
    bottom = y - height / 2 + up * height
    return Box(left, bottom, left + width, bottom + height)


def _cost(box: Box, others: Sequence[Box], frame: Box) -> float:
    area = (box.right - box.left) * (box.top - box.bottom)
    return (sum(map(box.shared, others)) + area - box.shared(frame)) / area


_FILLS: Final = ((_ACCENT, ""), (_INK, ""), (_SOFT, ""), (_LINE, ""), (_LINE, "////"), (_SOFT, "////"))
"""Fill and hatching of each tool, in the order of first use; further tools begin again."""


def count_steps(records: Iterable[Record]) -> list[Counter[str]]:
    """Tools by turn, and how many judgements used each; empty where no judge had a choice."""
    steps = [record.steps for record in records if isinstance(record, Annotation)]
    return [Counter(tool for tool in tools if tool is not None) for tools in zip_longest(*steps)]


def steps_figure(name: str, turns: Sequence[Mapping[str, int]]) -> Figure:
    """Draw a bar for each turn of a judge that chooses its tools: how many judgements used which tool.

    `turns`: as `count_steps` gives them, at least one.
    """
    first = turns[0]
    tool = max(first, key=lambda name: first[name])
    total = sum(first.values())
    used = sum(sum(turn.values()) for turn in turns)
    begin = "All" if first[tool] == total else share(first[tool], total)
    title = f"{begin} begin with {tool}; a judgement takes {used / total:.1f} turns"
    return Figure(name=name, title=title, draw=partial(_draw_steps, title, turns))


def _draw_steps(title: str, turns: Sequence[Mapping[str, int]]) -> Drawing:
    tools = list(dict.fromkeys(tool for turn in turns for tool in turn))
    places = range(1, len(turns) + 1)
    drawing, axes = figure_canvas(title, 1, 1.6)
    bottoms = [0] * len(turns)
    for index, tool in enumerate(tools):
        heights = [turn.get(tool, 0) for turn in turns]
        fill, hatch = _FILLS[index % len(_FILLS)]
        axes.bar(places, heights, 0.8, bottoms, label=tool, color=fill, hatch=hatch, edgecolor=_SOFT)
        bottoms = [low + high for low, high in zip(bottoms, heights, strict=True)]
    axes.set_xticks(list(places))
    axes.set_ylim(0, max(bottoms))
    axes.set_yticks([0, max(bottoms)])
    axes.set_ylabel("judgements")
    axes.set_xlabel("turn")
    used = [f"{tool} {sum(turn.get(tool, 0) for turn in turns):,}" for tool in tools]
    add_caption(drawing, f"{count(sum(turns[0].values()), 'judgement')}: {', '.join(used)}")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, reverse=True)
    return drawing


_COLUMNS: Final = 2
_NAME_WIDTH: Final = 1.3  # of the name above a panel, in inches
_LABEL_WIDTH: Final = 0.6  # of the name of a criterion, in inches
_FEWEST_LETTERS_OF_AXIS: Final = 6
_LABEL_LINE: Final = 7.2  # height of a line of a label, in points
_PANEL: Final = 1.5  # height of a row of panels, in inches
_REACH: Final = 1.08  # how far from the middle a label stands
_Points = Mapping[str, RankedSystem]


def radar_figure(name: str, rankings: Mapping[str, Ranking], by: str = "") -> Figure:
    """Draw the points of every system on every criterion, from 0 in the middle to 1, with their intervals.

    Each system has a small panel, with the others behind it as thin lines.

    `rankings`: criterion to ranking by comparisons, at least three. Systems stand in the order of their mean
    points; those that some criterion has no score for are left out.
    """
    rows = {
        criterion: {s.system: s for s in r.systems if s.score is not None}
        for criterion, r in rankings.items()
    }
    led: dict[str, list[str]] = {}
    for criterion, ranking in rankings.items():
        led.setdefault(leader(ranking.systems) or "", []).append(criterion)
    told = [f"{name} is best on {in_words(on, len(on))}" for name, on in led.items() if name]
    if none := led.get(""):
        told.append(f"no system is significantly better than all others on {in_words(none, len(none))}")
    words = "; ".join(told)
    if by:
        title = f"By {by}, {words}"
    else:
        title = words[:1].upper() + words[1:] if words.startswith("no system") else words
    return Figure(name=name, title=title, draw=partial(_draw_radar, title, rows, _radar_caption(rankings)))


def _draw_radar(title: str, rows: Mapping[str, _Points], caption: str) -> Drawing:
    common = set.intersection(*({*found} for found in rows.values()))
    systems = sorted(common, key=lambda s: (-sum(found[s].score or 0.0 for found in rows.values()), s))
    lines = math.ceil(len(systems) / _COLUMNS)
    drawing = titled_drawing(title, lines * _PANEL)
    grid = drawing.subplots(lines, _COLUMNS, squeeze=False)
    for axes in grid.flat[len(systems) :]:
        axes.remove()
    for axes, system in zip(grid.flat, systems, strict=False):
        n = len(list(rows))
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
        for other in systems:
            if other != system:
                _outline(axes, [found[other].score or 0.0 for found in rows.values()], is_own=False)
        _draw_system(axes, system, {criterion: found[system] for criterion, found in rows.items()})
    add_caption(drawing, caption, size=6)
    return drawing


def _place(spoke: int, spokes: int, radius: float) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * spoke / spokes
    return radius * math.cos(angle), radius * math.sin(angle)


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
        label = fitting_lines(name_invisible(criterion), _LABEL_WIDTH, size=6, fewest=_FEWEST_LETTERS_OF_AXIS)
        words = "\n".join([*label, number(row.score, 2)])
        highest = highest or len(label) + 1
        axes.text(x, y, words, ha=side, va="bottom" if y > 0.5 else "center", color=_SOFT, fontsize=6)
    name = fitting_lines(
        short_name(system), _NAME_WIDTH, size=8, weight="bold", fewest=_FEWEST_LETTERS_OF_AXIS
    )
    axes.set_title("\n".join(name), loc="center", fontsize=8, pad=8 + _LABEL_LINE * (highest - 2))


def _radar_caption(rankings: Mapping[str, Ranking]) -> str:
    rows = [row for ranking in rankings.values() for row in ranking.systems]
    n = range_words([row.n for row in rows])
    failed = sum(row.failed for row in rows) // 2  # a comparison is of two systems
    return (
        "Points of comparisons (win 1, tie 0.5): middle 0, rings 0.5 and 1; bars: 95 % intervals; thin "
        f"lines: the other systems. {n} comparisons a system and criterion, failed: {failed or 'none'}."
    )
