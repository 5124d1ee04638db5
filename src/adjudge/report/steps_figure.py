"""Which tool a judge used at which turn, where it decides by itself what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from adjudge.core.annotation import Annotation, Record
from adjudge.core.wording import count
from adjudge.report.figures import COLOURS, Figure, add_caption, figure_canvas
from adjudge.report.numbers import share

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["count_steps", "steps_figure"]

_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_FILLS: Final = ((_ACCENT, ""), (_INK, ""), (_SOFT, ""), (_LINE, ""), (_LINE, "////"), (_SOFT, "////"))
"""Fill and hatching of each tool, in the order of first use; further tools begin again."""
_WIDTH: Final = 0.8


def count_steps(records: Iterable[Record]) -> list[Counter[str]]:
    """Tools by turn, and how many judgements used each; empty where no judge had a choice."""
    turns: list[Counter[str]] = []
    for record in records:
        for turn, tool in enumerate(record.steps if isinstance(record, Annotation) else ()):
            if turn == len(turns):
                turns.append(Counter())
            turns[turn][tool] += 1
    return turns


def steps_figure(name: str, turns: Sequence[Mapping[str, int]]) -> Figure:
    """Draw a bar for each turn: judgements by the tool that they used in it.

    Args:
        name: stem of its files.
        turns: as `count_steps` gives them, at least one.
    """
    title = _finding(turns)
    return Figure(name=name, title=title, draw=partial(_draw_steps, title, turns))


def _draw_steps(title: str, turns: Sequence[Mapping[str, int]]) -> Drawing:
    tools = list(dict.fromkeys(tool for turn in turns for tool in turn))
    places = range(1, len(turns) + 1)
    drawing, axes = figure_canvas(title, 1, 1.6)
    bottoms = [0] * len(turns)
    for index, tool in enumerate(tools):
        heights = [turn.get(tool, 0) for turn in turns]
        fill, hatch = _FILLS[index % len(_FILLS)]
        axes.bar(places, heights, _WIDTH, bottoms, label=tool, color=fill, hatch=hatch, edgecolor=_SOFT)
        bottoms = [low + high for low, high in zip(bottoms, heights, strict=True)]
    axes.set_xticks(list(places))
    axes.set_ylim(0, max(bottoms))
    axes.set_yticks([0, max(bottoms)])
    axes.set_ylabel("judgements")
    axes.set_xlabel("turn")
    add_caption(drawing, _totals(turns, tools))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, reverse=True)
    return drawing


def _finding(turns: Sequence[Mapping[str, int]]) -> str:
    """What comes first, and how long it takes."""
    first = turns[0]
    tool = max(first, key=lambda name: first[name])
    total = sum(first.values())
    used = sum(sum(turn.values()) for turn in turns)
    begin = "All" if first[tool] == total else share(first[tool], total)
    return f"{begin} begin with {tool}; a judgement takes {used / total:.1f} turns"


def _totals(turns: Sequence[Mapping[str, int]], tools: Sequence[str]) -> str:
    """How often each tool was used in all."""
    used = [f"{tool} {sum(turn.get(tool, 0) for turn in turns):,}" for tool in tools]
    return f"{count(sum(turns[0].values()), 'judgement')}: " + ", ".join(used)
