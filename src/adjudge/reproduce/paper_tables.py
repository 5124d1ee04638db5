"""A paper's tables as data, and the files that they are computed from.

A `Paper` says what stands in each cell, and which measure of which files a column claims to be; each is a
TOML file of `papers/`. `Inputs` finds the files below one folder, and reads them when a cell wants them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from adjudge.analysis.eval_set import EvalSet, OwnScores, ScoreSet
from adjudge.analysis.eval_set_files import read_one
from adjudge.analysis.shared_tasks import LpRule, Wishes, choose, find_task, suspicious
from adjudge.core.frozen import frozen
from adjudge.errors import DataError, UsageError
from adjudge.formats.catalog import CATALOG, cached_path
from adjudge.formats.ment import ANNOTATOR
from adjudge.formats.mtme import find_lps
from adjudge.stats.judged import Average
from adjudge.stats.measures import MEASURES, Scale

EMPTY: Final = "-"
UNPRINTED: Final = "?"
"""A number that the paper gives in a picture only, or not at all, and that is computed all the same."""

META: Final = "meta"
COUNT: Final = "translations"


@frozen
class Definition:
    """What a column's numbers are."""

    # in `stats.measures`; `meta`, a task's mean; `translations`, how many people judged, of the language
    # pairs that the row's metric names; or one of `reproduction.PAIR_MEASURES`, `reproduction.MARK_MEASURES`
    # or `esa_tables.CAMPAIGN_MEASURES`
    measure: str
    lps: tuple[str, ...]  # language pairs, one unless it is a mean
    average: Average | None = None  # of a segment measure; None for the measure's own
    task: str | None = None  # whose mean `meta` is; None for that of the input
    metric: str | None = None  # another than the row's
    # first and last line, counted from 1, of every language pair or by it; None for all
    segments: tuple[int, int] | Mapping[str, tuple[int, int]] | None = None
    domain: str | None = None
    # shortest source and the first length that is too long, in tokens; None for all
    lengths: tuple[int, int] | None = None
    scale: Scale = "range"  # of mean errors
    totals: bool = False  # scores of systems are passed as those of one segment
    # digits after the point that the parts of a mean over language pairs are rounded to
    rounded: int | None = None
    criterion: str | None = None  # of pairs, None for the row's; of campaigns, which of the row's numbers
    subset: str = "ranked"
    threshold: float = 0.5  # of marked errors, the overlap that a match needs
    judged_by: str = ""  # only what this metric judged; empty for all. The evaluator of `pairs_score`.

    @property
    def is_of_systems(self) -> bool:
        return self.measure == META or (
            self.measure in MEASURES and MEASURES[self.measure].takes == "systems"
        )


@frozen
class Row:
    """One row: its name, the metric that it is about, and its cells as printed."""

    name: str
    metric: str
    cells: tuple[str, ...]


@frozen
class PaperTable:
    """One table."""

    name: str  # such as `Table 2`
    input: str  # name of the input that its numbers come from
    columns: Mapping[str, Definition]
    rows: tuple[Row, ...]  # in order
    percent: bool = False  # whether numbers are printed a hundred times as large


@frozen
class Reason:
    """Why a paper's number is not what its column says."""

    tables: tuple[str, ...]
    text: str
    rows: tuple[str, ...] = ()  # names; empty for all
    columns: tuple[str, ...] = ()  # names; empty for all
    # fields of the definition that the paper used in place of the column's
    instead: Mapping[str, Any] = field(default_factory=dict)
    rounding: bool = False  # whether it is a matter of rounding

    def applies(self, table: str, row: str, column: str) -> bool:
        return (
            table in self.tables
            and (not self.rows or row in self.rows)
            and (not self.columns or column in self.columns)
        )

    def definition(self, claimed: Definition) -> Definition | None:
        """What the paper used; None where nobody knows."""
        return replace(claimed, **_tuples(self.instead)) if self.instead else None


@frozen
class Input:
    """A test set that tables are computed from."""

    place: str  # the folder's name in `Paper.places`
    gold: str = ""
    task: str | None = None  # that says which systems are compared and which reference metrics were shown
    reference: str = "src"  # that metrics were shown, where the task says nothing
    # language pair to the systems that are compared; empty for those of the task
    systems: Mapping[str, list[str]] = field(default_factory=dict)


@frozen
class Paper:
    """All that we know of a paper's tables."""

    name: str  # such as `m-mad`
    title: str
    source: str
    # name of a folder to where it may lie below the data folder, the usual place first
    places: Mapping[str, list[str]]
    inputs: Mapping[str, Input]
    tables: tuple[PaperTable, ...]  # in order
    reasons: tuple[Reason, ...]  # the first that applies to a cell counts
    notes: tuple[str, ...]  # what a reader of the tables must know


def list_papers() -> tuple[str, ...]:
    folder = files("adjudge.reproduce") / "papers"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


@cache
def read_paper(name: str) -> Paper:
    """Read what we know of a paper."""
    if name not in list_papers():
        raise UsageError(f"no paper {name!r}; there are {', '.join(list_papers())}")
    file = files("adjudge.reproduce") / "papers" / f"{name}.toml"
    values = tomllib.loads(file.read_text(encoding="utf-8"))
    return Paper(
        name=name,
        title=values["title"],
        source=values["source"],
        places=values["places"],
        inputs={key: Input(**value) for key, value in values["inputs"].items()},
        tables=tuple(map(_table, values["tables"])),
        reasons=tuple(Reason(**_tuples(reason)) for reason in values.get("reasons", [])),
        notes=tuple(values.get("notes", [])),
    )


def _table(values: Mapping[str, Any]) -> PaperTable:
    columns = {}
    for column in values["columns"]:
        name = column.pop("name")
        columns[name] = Definition(**_tuples(column))
    rows = tuple(
        Row(name=name, metric=metric, cells=tuple(cells.split())) for name, metric, cells in values["rows"]
    )
    return PaperTable(
        name=values["name"],
        input=values["input"],
        columns=columns,
        rows=rows,
        percent=values.get("percent", False),
    )


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


Content = TypeVar("Content")

_SEG: Final = ".seg.score"
_ENDINGS: Final = (_SEG, f"{_SEG}.gz", ".jsonl", "")
"""Of a file of scores; records, as `adjudge run` writes them; a run."""


class MissingInputError(Exception):
    """A cell cannot be computed; says what is wanted. Never reaches a user."""


@frozen
class Side:
    """Gold of one language pair, over the systems that are compared."""

    eval_set: EvalSet  # with these systems
    gold: ScoreSet  # systems by segments
    folder: Path  # of the test set


class Inputs:
    """What lies below a data folder; everything is read once.

    `notes` collects what a reader must know of the files that were read.
    """

    def __init__(self, data: Path, paper: Paper, own: Mapping[str, OwnScores]) -> None:
        self.data, self.paper, self.own = data, paper, own
        self.side = cache(self._side)
        self.metric = cache(self._metric)
        self.notes: dict[str, None] = {}
        self._contents: dict[tuple[Path, str], Any] = {}

    def place(self, name: str, wanted: str) -> Path:
        """A folder that is there: below the data folder, or a public test set that was fetched."""
        usual = self.paper.places[name][0]
        places = [self.data / place for place in self.paper.places[name]]
        places += [cached_path(entry) for entry in CATALOG if entry.name == name]
        found = next((place for place in places if place.is_dir()), None)
        if found is None:
            raise MissingInputError(f"{usual}/{wanted}")
        return found

    def rule(self, name: str, lp: str) -> LpRule:
        """What the task of an input says of a language pair."""
        task = self.paper.inputs[name].task
        return LpRule() if task is None else find_task(task).rule(lp)

    def _side(self, name: str, lp: str) -> Side:
        wanted = self.paper.inputs[name]
        folder = self.place(wanted.place, f"sources/{lp}.txt")
        if lp not in find_lps(folder):
            raise MissingInputError(self.told(folder / "sources" / f"{lp}.txt"))
        gold = f"{lp}.{wanted.gold}" if wanted.gold else lp
        file = folder / "human-scores" / f"{gold}.seg.score"
        if not file.is_file():
            raise MissingInputError(self.told(file))
        found = read_one(folder, lp, "gold", wanted.gold or ANNOTATOR)
        systems = self._systems(found, name, lp, folder)
        chosen = found.select(systems)
        return Side(eval_set=chosen, gold=next(iter(chosen.golds.values())), folder=folder)

    def _systems(self, found: EvalSet, name: str, lp: str, folder: Path) -> Sequence[str]:
        wanted = self.paper.inputs[name].systems.get(lp)
        if wanted is None:
            gold = next(iter(found.golds.values()))
            return choose(found, gold, self.rule(name, lp), Wishes()).systems
        for system in wanted:
            if system not in found.systems:
                raise MissingInputError(self.told(folder / "system-outputs" / lp / f"{system}.txt"))
        return wanted

    def _metric(self, name: str, lp: str, metric: str) -> ScoreSet:
        side = self.side(name, lp)
        reference = self.rule(name, lp).reference or self.paper.inputs[name].reference
        if metric in self.own or "/" in metric:
            file = self.file(metric, lp)
            source = str(file)
        else:
            source = metric.format(lp=lp, ref=reference)
            file = side.folder / "metric-scores" / lp / f"{source}.seg.score"
            if not any(path.is_file() for path in (file, file.with_name(f"{file.name}.gz"))):
                raise MissingInputError(self.told(file))
        found = self.read(metric, partial(read_one, side.folder, lp, "metric", source))
        scores = next(iter(found.select(side.eval_set.systems).metrics.values()))
        place = self.told(file)
        rows = zip(side.eval_set.systems, scores.segments, strict=True)
        if absent := [system for system, row in rows if np.isnan(row).all()]:
            raise MissingInputError(f"scores of {', '.join(absent)} in {place}")
        self.notes |= dict.fromkeys(suspicious(place, scores, side.gold, side.eval_set.systems))
        self.notes |= dict.fromkeys(found.notes)
        columns = [c for table in self.paper.tables for c in table.columns.values() if c.is_of_systems]
        if (
            columns
            and _SEG in file.name
            and not file.with_name(file.name.replace(_SEG, ".sys.score")).is_file()
        ):
            self.notes[
                f"{self.told(file)}: without a .sys.score, a system's score is its segments' mean."
            ] = None
        return scores

    def read(self, metric: str, read: Callable[[], Content]) -> Content:
        """Read a metric's file. One of `own` that is about something else leaves its cells empty."""
        try:
            return read()
        except (DataError, UsageError) as error:
            if metric not in self.own:
                raise
            raise MissingInputError(str(error)) from error

    def file(self, metric: str, lp: str, endings: Sequence[str] = _ENDINGS) -> Path:
        """Return the path if it is an existing file or run directory."""
        if metric in self.own:
            path = self.own[metric].file_of(lp)
            if not isinstance(path, Path):
                raise MissingInputError(f"judgements of {lp}")
            return path
        place, _, stem = metric.format(lp=lp).partition("/")
        folder = self.place(place, f"{stem}{endings[0]}")
        found = next((path for end in endings if (path := folder / f"{stem}{end}").exists()), None)
        if found is None:
            raise MissingInputError(self.told(folder / f"{stem}{endings[0]}"))
        return found

    def content(self, file: Path, read: Callable[[Path], Content], lp: str = "") -> Content:
        """Read a file of another kind, or what it has of a language pair; the second time it is known."""
        if (file, lp) not in self._contents:
            self._contents[file, lp] = read(file)
        known: Content = self._contents[file, lp]
        return known

    def told(self, file: Path) -> str:
        """A path as people are told it: from the data folder, where it lies below that."""
        return (file.relative_to(self.data) if file.is_relative_to(self.data) else file).as_posix()
