"""The analysis of a campaign as tables, data and figures, and the ESA paper's figures from its numbers.

`analysis_tables` are for people, one a question; `analysis_rows` and `analysis_data` for programs, one row or
object a number. `campaign_figures` draws the scores, systems, people and curves of a campaign.
`reproduction_figures` draws figures 4 and 9 of the ESA paper from the numbers that `reproduce` computes; its
figures 5, 7 and 8 are drawn by `adjudge campaign analyse --figures` on the paper's CSV files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from adjudge.analysis.rank import RankedSystem, Ranking
from adjudge.analysis.study import Analysis
from adjudge.analysis.study_agreement import PairAgreement, Twice
from adjudge.analysis.study_pieces import Number, Section
from adjudge.analysis.study_systems import WEIGHTS
from adjudge.core.record import grouped
from adjudge.core.scores import listed
from adjudge.core.wording import count
from adjudge.reports.figures import (
    COLOURS,
    Figure,
    distribution_figure,
    draw_matrix,
    figure_canvas,
    label_ends,
    label_points,
    ranking_figure,
    short_name,
    spread_heights,
)
from adjudge.reports.result_tables import ranking_table
from adjudge.reports.tables import Table, exact_cells, interval, name_invisible, number, whole
from adjudge.reports.words import leader, unbeaten
from adjudge.reproduce.reproduction import Reproduction
from adjudge.stats.correlation import pearson
from adjudge.stats.judged import Floats, Result
from adjudge.stats.spa import pairwise_accuracy

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_DEFINITIONS: Final = {"paper": "as the paper", "mended": "mended", "": ""}
_SIGNIFICANT: Final = 3  # digits of a number
_WHOSE: Final = (
    "as the paper: the ESA paper's definition; mended: ours, without its flaw. The page "
    "campaign-analysis of the documentation says what differs."
)


_PAIRS_SHOWN: Final = 10  # of people, in a table; of more, those who agree least stand there
_NAMED: Final = 3  # people, systems or pairs that have no value for the same reason


def analysis_tables(*found: Analysis) -> list[Table]:
    """One table a question, rankings after what there is; of many pairs of people a summary.

    Of several language pairs each has its own, and its name stands in their titles.
    """
    if len(found) == 1:
        return _tables(*found)
    return [
        replace(table, title=f"{each.lp}: {table.title or table.columns[0]}")
        for each in found
        for table in _tables(each)
    ]


def _tables(found: Analysis) -> list[Table]:
    tables = [_section_table(section) for section in found.sections if section.numbers or section.notes]
    question = "Which systems are better?"
    rankings = [
        ranking_table(ranking, exact=False, title=f"{question} By {name}" if name else question)
        for name, ranking in found.rankings.items()
    ]
    is_told = any(number.definition for section in found.sections for number in section.numbers)
    notes = [*found.notes, *([_WHOSE] if is_told else [])]
    last = [Table(columns=["what to mind"], rows=[[note] for note in notes])] if notes else []
    return [*tables[:1], *rankings, *tables[1:], *last]


def _section_table(section: Section) -> Table:
    numbers, told = _shown_numbers(section.numbers)
    has_both = any(number.definition for number in numbers)
    if section.name == "counts":
        rows = [[number.measure, whole(number.result.n)] for number in section.numbers]
        return Table(columns=["what", ">amount"], rows=rows, title=section.title, notes=section.notes)
    columns = ["of", "measure", *(["definition"] if has_both else []), ">value", ">95 % interval", ">n"]
    rows = [_cells(number, has_both=has_both) for number in numbers]
    lacking = grouped(
        ((one.measure, one.result.reason), one.of) for one in section.numbers if one.result.value is None
    )
    reasons = []
    for (measure, reason), own in lacking.items():
        whom = [*dict.fromkeys(own)]
        if len(whom) > _NAMED + 1:
            whom = [*whom[:_NAMED], f"{len(whom) - _NAMED:,} others"]
        reasons.append(f"{measure} of {', '.join(whom)}: none, for {reason}.")
    is_grouped = len({number.of for number in numbers}) * 2 <= len(numbers)
    return Table(
        columns=columns,
        rows=rows,
        rules=frozenset(k for k, (a, b) in enumerate(pairwise(numbers)) if a.of != b.of and is_grouped),
        title=section.title,
        notes=[*section.notes, *told, *reasons],
    )


def _shown_numbers(numbers: Sequence[Number]) -> tuple[list[Number], list[str]]:
    pairs = grouped((number.of, number) for number in numbers if number.is_of_pair)
    if len(pairs) <= _PAIRS_SHOWN:
        return [*numbers], []
    of_pairs = [number for own in pairs.values() for number in own]
    by_measure = grouped(((number.measure, number.definition), number) for number in of_pairs)
    known = {
        key: [number.result.value for number in own if number.result.value is not None]
        for key, own in by_measure.items()
    }
    summary = [
        Number(
            of=f"{word} of pairs",
            measure=measure,
            definition=definition,
            result=Result(value=float(of(values)), n=len(values)),
        )
        for word, of in (("median", np.median), ("lowest", np.min))
        for (measure, definition), values in known.items()
        if values
    ]
    first = next((key for key, values in known.items() if values), next(iter(known)))
    least = sorted(
        (number for number in by_measure[first] if number.result.value is not None),
        key=lambda number: number.result.value or 0.0,
    )[:_PAIRS_SHOWN]
    shown = (
        f"the {len(least)} with the lowest {first[0]} stand here; n of median and lowest is pairs"
        if least
        else "none has a value"
    )
    told = (
        f"Of {len(pairs):,} pairs of people {shown}. `adjudge campaign analyse` has them all with --format "
        "json, csv or tsv."
    )
    return [*(number for number in numbers if not number.is_of_pair), *summary, *least], [told]


def _cells(row: Number, *, has_both: bool) -> list[str]:
    result = row.result
    size = max((abs(v) for v in (result.value, *(result.interval or ())) if v), default=0.0)
    digits = max(0, _SIGNIFICANT - len(str(int(size)))) if size >= 1 else _SIGNIFICANT
    value = number(result.value, digits)
    definition = [_DEFINITIONS[row.definition]] if has_both else []
    return [row.of, row.measure, *definition, value, interval(result.interval, digits), whole(result.n)]


def analysis_rows(*found: Analysis) -> Table:
    """One row a number, every digit; rankings are sections of their own."""
    rows = [
        [
            *(each.lp, section.name, row.of, row.measure, row.definition),
            *exact_cells(row.result.value, *(row.result.interval or (None, None))),
            *(str(row.result.n), row.result.reason),
        ]
        for each in found
        for section in each.sections
        for row in section.numbers
    ]
    for lp, name, ranking in ((each.lp, *named) for each in found for named in each.rankings.items()):
        for system in ranking.systems:
            score = exact_cells(system.score, *(system.interval or (None, None)))
            cluster = [str(system.cluster or ""), "", ""]
            rows += [
                [lp, "ranking", system.system, f"{what} {name}".strip(), "", *cells, str(system.n), ""]
                for what, cells in (("score", score), ("cluster", cluster))
            ]
    columns = ["lp", "section", "of", "measure", "definition", ">value", ">low", ">high", ">n", "reason"]
    return Table(columns=columns, rows=rows)


def analysis_data(*found: Analysis) -> list[dict[str, Any]]:
    """The same as JSON, an object a language pair."""
    return [
        {
            "campaign": each.name,
            "lp": each.lp,
            "protocol": each.protocol,
            "rankings": {name: _ranking_data(ranking) for name, ranking in each.rankings.items()},
            "sections": {section.name: _section_data(section) for section in each.sections},
            "notes": list(each.notes),
        }
        for each in found
    ]


def _ranking_data(ranking: Ranking) -> dict[str, Any]:
    systems = [
        {
            "system": r.system,
            "score": r.score,
            "interval": listed(r.interval),
            "ranks": None if r.best is None else [r.best, r.worst],
            "cluster": r.cluster,
            "n": r.n,
        }
        for r in ranking.systems
    ]
    return {
        "signature": str(ranking.signature),
        "method": ranking.method,
        "systems": systems,
        "notes": list(ranking.notes),
    }


def _section_data(section: Section) -> dict[str, Any]:
    numbers = [
        {
            "of": row.of,
            "measure": row.measure,
            "definition": row.definition or None,
            "value": row.result.value,
            "interval": listed(row.result.interval),
            "n": row.result.n,
            "p": row.result.p,
            "reason": row.result.reason or None,
        }
        for row in section.numbers
    ]
    return {"title": section.title, "numbers": numbers, "notes": list(section.notes)}


_INK, _SOFT, _ACCENT, _LINE, _ = COLOURS
_STYLES: Final = ((_ACCENT, "-"), (_INK, "--"), (_SOFT, "-."), (_SOFT, ":"), (_INK, "-"))
_short = partial(short_name, longest=22)
_MOST_PEOPLE: Final = 40
_HIGH: Final = 0.95  # a share of pairs ordered alike that is called high
_GAP: Final = 0.08  # of two labels, as a part of the height of the axes


def campaign_figures(*found: Analysis) -> Iterator[Figure]:
    """All that can be drawn of a campaign, of each language pair."""
    for each in found:
        before = f"{each.lp}." if len(found) > 1 else ""
        yield from (replace(figure, name=f"{before}{figure.name}") for figure in _figures(each))


def _figures(found: Analysis) -> Iterator[Figure]:
    for name, ranking in found.rankings.items():
        rows = [row for row in ranking.systems if row.score is not None]
        if len(rows) > 1:
            stem = f"ranking.{name}" if name else "ranking"
            yield ranking_figure(stem, _leaders(rows), rows, name or "score, higher is better")
    curves = found.curves
    if curves.scores:
        yield distribution_figure("scores", curves.scores, curves.what, top=curves.top, lost={"failed": {}})
    if (beside := curves.beside) is not None:
        yield systems_figure("systems", beside.systems, beside.ours, beside.gold, beside.cuts, beside.n)
    for both in curves.twice:
        if len(both.first) > 1:
            yield twice_figure(f"twice.{both.name.replace(' ', '-')}", both)
    yield from _of_annotators(curves.annotators)
    yield from _of_people(found)
    if len(curves.pace) > 1 and curves.pace.any():
        yield pace_figure("pace", curves.pace)
    if len(curves.weights):
        yield weights_figure("weights", curves.weights)
    if curves.subsets:
        kept = {_DEFINITIONS[name]: Subsets(*curve) for name, curve in curves.subsets.items()}
        yield subsets_figure("subsets", kept)


def _leaders(rows: Sequence[RankedSystem]) -> str:
    if name := leader(rows):
        return f"{name} is significantly better than every other system"
    ties = len(unbeaten(rows))
    return f"{ties} of {len(rows)} systems may be the best; {rows[0].system} has the highest score"


def _of_annotators(pairs: Sequence[PairAgreement]) -> Iterator[Figure]:
    names = sorted({name for pair in pairs for name in (pair.first, pair.second)})
    lp = next((pair.lp for pair in pairs), "")
    for stem, words in {"systems": "of systems", "segments": "within segments"}.items():
        table = np.full((len(names), len(names)), np.nan)
        for pair in pairs:
            result = pair.over_systems if stem == "systems" else pair.within_segments
            if result.value is not None:
                row, column = names.index(pair.first), names.index(pair.second)
                table[row, column] = table[column, row] = result.value
        if np.isnan(table).all():
            continue
        known = table[~np.isnan(table)]
        low, high = (number(float(r), 2) for r in (known.min(), known.max()))
        title = f"Annotators' ratings {words} correlate with r from {low} to {high}"
        caption = f"Pearson's r, {lp}; white is 0 or less, darkest is 1; grey: nothing shared, or no r"
        draw = partial(draw_matrix, title, names, table, caption)
        yield Figure(name=f"annotators.{stem}.{lp}", title=title, draw=draw)


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


def systems_figure(
    name: str, systems: Sequence[str], ours: Floats, gold: Floats, cuts: Sequence[float], n: int
) -> Figure:
    """Draw each system at its mean by people and by gold, with people's clusters. The ESA paper, figure 4."""
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
        label_points(axes, systems, list(zip(ours.tolist(), gold.tolist(), strict=True)))
        return drawing

    return Figure(name=name, title=title, draw=draw)


def twice_figure(name: str, both: Twice) -> Figure:
    """Draw every translation that was judged twice at both scores. The ESA paper, figure 7."""
    first, second = both.scores
    known = pearson(first, second).value
    told = "cannot be correlated" if known is None else f"correlate with r = {number(known, 2)}"
    title = f"Scores of the same translation ({name_invisible(both.name)}) {told}"
    points, times = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    low, high = float(points.min()), float(points.max())

    def draw() -> Drawing:
        drawing, axes = figure_canvas(title, 1, 2.5)
        axes.plot([low, high], [low, high], color=_LINE, linewidth=0.8)
        axes.scatter(points[:, 0], points[:, 1], s=4.0 * times, color=_ACCENT, alpha=0.45, linewidths=0)
        axes.set_xlabel(
            f"first score; n = {count(len(first), 'translation')}, larger where several are alike"
        )
        axes.set_ylabel("second score")
        return drawing

    return Figure(name=name, title=title, draw=draw)


def people_figure(name: str, rows: Sequence[Number], what: str) -> Figure:
    """Draw one number of each person with its interval, the lowest below."""
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


def pace_figure(name: str, seconds: Floats) -> Figure:
    """Draw seconds of a segment by how much of the work is done. The ESA paper, figure 5."""
    edge = max(1, len(seconds) // 10)
    start, end = float(seconds[:edge].mean()), float(seconds[-edge:].mean())
    title = f"A segment takes {number(start, 0)} s at the start and {number(end, 0)} s at the end"
    lines = {"": (np.linspace(0, 100, len(seconds)), seconds)}
    return _line_figure(name, title, lines, ("% of the work done", "seconds a segment"), bottom=0)


def weights_figure(name: str, curve: Floats) -> Figure:
    """Draw how well marked errors fit ratings, by the weight of a major one. The ESA paper, figure 8."""
    best = int(np.nanargmax(curve))
    title = f"Errors fit ratings best where a major one weighs {WEIGHTS[best]:g} minor ones"
    words = ("weight of a major error", "Pearson's r with the rating")
    return _line_figure(name, title, {"": (WEIGHTS, curve)}, words)


@dataclass(frozen=True)
class Subsets:
    """Sizes of random parts, and the share of pairs of systems that each orders as all segments do."""

    sizes: Sequence[int]
    shares: Sequence[float]


def subsets_figure(name: str, curves: Mapping[str, Subsets], of: str = "") -> Figure:
    """Draw how few segments order the systems as all of them do. The ESA paper, figure 9.

    `of`: label of the curve that the title tells of; empty for the last one, without its name.
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
        low, high = axes.get_ylim()
        downs = [(high - float(y[-1])) / (high - low) - 1e-9 * float(y.mean()) for _, y in lines.values()]
        places = [1 - down for down in spread_heights(downs, _GAP)]
        ends = [
            (float(x[-1]), low + place * (high - low))
            for (x, _), place in zip(lines.values(), places, strict=True)
        ]
        label_ends(axes, lines, ends, [colour for colour, _ in _STYLES * len(lines)])
        if bottom is not None:
            axes.set_ylim(bottom=bottom)
        return drawing

    return Figure(name=name, title=title, draw=draw)


_GOLD: Final = "MQM_WMT"
_NO_SYSTEM: Final = re.compile(r"Spearman|% accuracy|clusters?\b.*|cut \d+")
_SIZE: Final = re.compile(r"(\d+) segments")
_SEGMENTS: Final = 156  # of the systems' means, which all protocols share


def reproduction_figures(found: Reproduction) -> Iterator[Figure]:
    """All that can be drawn; nothing of other papers, and nothing where files are missing."""
    if found.paper == "esa":
        columns = _columns(found, "Figure 4")
        gold = columns.get(_GOLD, {})
        for protocol, numbers in columns.items():
            systems = [row for row in numbers if row in gold and not _NO_SYSTEM.fullmatch(row)]
            if protocol == _GOLD or len(systems) < 2:
                continue
            cuts = [value for row, value in numbers.items() if row.startswith("cut ")]
            ours, theirs = (np.array([side[system] for system in systems]) for side in (numbers, gold))
            yield systems_figure(f"figure-4.{protocol}", systems, ours, theirs, cuts, _SEGMENTS)
        # Figure 9: as the paper counts, and its mended columns, which end in `, pairs`.
        for name, is_mended in (("figure-9", False), ("figure-9.pairs", True)):
            curves = {
                protocol.removesuffix(", pairs"): _curve(numbers)
                for protocol, numbers in _columns(found, "Figure 9").items()
                if protocol.endswith(", pairs") == is_mended
            }
            if curves:
                best = max(curves, key=lambda protocol: sum(curves[protocol].shares))
                yield subsets_figure(name, curves, best)


def _columns(found: Reproduction, table: str) -> dict[str, dict[str, float]]:
    columns: dict[str, dict[str, float]] = {}
    for cell in found.cells:
        if cell.table == table and cell.ours is not None:
            columns.setdefault(cell.column, {})[cell.row] = cell.ours
    return columns


def _curve(numbers: Mapping[str, float]) -> Subsets:
    points = sorted(
        (int(match[1]), value / 100) for row, value in numbers.items() if (match := _SIZE.match(row))
    )
    return Subsets([size for size, _ in points], [share for _, share in points])
