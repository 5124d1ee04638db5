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
    """What a column's numbers are.

    Args:
        measure: in `stats.measures`; `meta`, a task's mean; `translations`, how many people judged, of the
            language pairs that the row's metric names; or one of `reproduction.PAIR_MEASURES`,
            `reproduction.MARK_MEASURES` or `esa_tables.CAMPAIGN_MEASURES`.
        lps: language pairs, one unless it is a mean.
        average: of a segment measure; None for the measure's own.
        task: whose mean `meta` is; None for that of the input.
        metric: another than the row's.
        segments: first and last line, counted from 1, of every language pair or by it; None for all.
        domain: only this one.
        lengths: shortest source and the first length that is too long, in tokens; None for all.
        scale: of mean errors.
        totals: scores of systems are passed as those of one segment.
        rounded: digits after the point that the parts of a mean over language pairs are rounded to.
        criterion: of pairs, None for the row's; of campaigns, which of the row's numbers.
        subset: of pairs.
        threshold: of marked errors, the overlap that a match needs.
        judged_by: only what this metric judged; empty for all. The evaluator of `pairs_score`.
    """

    measure: str
    lps: tuple[str, ...]
    average: Average | None = None
    task: str | None = None
    metric: str | None = None
    segments: tuple[int, int] | Mapping[str, tuple[int, int]] | None = None
    domain: str | None = None
    lengths: tuple[int, int] | None = None
    scale: Scale = "range"
    totals: bool = False
    rounded: int | None = None
    criterion: str | None = None
    subset: str = "ranked"
    threshold: float = 0.5
    judged_by: str = ""

    @property
    def is_of_systems(self) -> bool:
        """Whether scores of systems are compared."""
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
    """One table.

    Args:
        name: such as `Table 2`.
        input: name of the input that its numbers come from.
        columns: name to definition.
        rows: in order.
        percent: whether numbers are printed a hundred times as large.
    """

    name: str
    input: str
    columns: Mapping[str, Definition]
    rows: tuple[Row, ...]
    percent: bool = False


@frozen
class Reason:
    """Why a paper's number is not what its column says.

    Args:
        tables: where.
        rows: names; empty for all.
        columns: names; empty for all.
        text: the reason.
        instead: fields of the definition that the paper used in place of the column's.
        rounding: whether it is a matter of rounding.
    """

    tables: tuple[str, ...]
    text: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    instead: Mapping[str, Any] = field(default_factory=dict)
    rounding: bool = False

    def applies(self, table: str, row: str, column: str) -> bool:
        """Whether it is about this cell."""
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
    """A test set that tables are computed from.

    Args:
        place: the folder's name in `Paper.places`.
        gold: name of its gold.
        task: that says which systems are compared and which reference metrics were shown.
        reference: that metrics were shown, where the task says nothing.
        systems: language pair to the systems that are compared; empty for those of the task.
    """

    place: str
    gold: str = ""
    task: str | None = None
    reference: str = "src"
    systems: Mapping[str, list[str]] = field(default_factory=dict)


@frozen
class Paper:
    """All that we know of a paper's tables.

    Args:
        name: such as `m-mad`.
        title: of the paper.
        source: address.
        places: name of a folder to where it may lie below the data folder, the usual place first.
        inputs: by name.
        tables: in order.
        reasons: the first that applies to a cell counts.
        notes: what a reader of the tables must know.
    """

    name: str
    title: str
    source: str
    places: Mapping[str, list[str]]
    inputs: Mapping[str, Input]
    tables: tuple[PaperTable, ...]
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]


def list_papers() -> tuple[str, ...]:
    """Names of the papers that we know."""
    folder = files("adjudge.reproduce") / "papers"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


@cache
def read_paper(name: str) -> Paper:
    """Read what we know of a paper.

    Raises:
        UsageError: there is no such paper.
    """
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
    """TOML has lists, where frozen fields are tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


Content = TypeVar("Content")

_SEG: Final = ".seg.score"
_ENDINGS: Final = (_SEG, f"{_SEG}.gz", ".jsonl", "")
"""Of a file of scores; records, as `adjudge run` writes them; a run."""


class MissingInputError(Exception):
    """A cell cannot be computed; says what is wanted. Never reaches a user."""


@frozen
class Side:
    """Gold of one language pair, over the systems that are compared.

    Args:
        eval_set: with these systems.
        gold: systems by segments.
        folder: of the test set.
    """

    eval_set: EvalSet
    gold: ScoreSet
    folder: Path


class Inputs:
    """What lies below a data folder; everything is read once.

    Args:
        data: the folder.
        paper: says what may lie where.
        own: runs and files of a user's own, by the metric of their rows.

    `notes` collects what a reader must know of the files that were read.
    """

    def __init__(self, data: Path, paper: Paper, own: Mapping[str, OwnScores]) -> None:
        self.data, self.paper, self.own = data, paper, own
        self.side = cache(self._side)
        self.metric = cache(self._metric)
        self.notes: dict[str, None] = {}
        self._contents: dict[tuple[Path, str], Any] = {}

    def place(self, name: str, wanted: str) -> Path:
        """A folder that is there: below the data folder, or a public test set that was fetched.

        Args:
            name: in `Paper.places`.
            wanted: file in it, for the message.

        Raises:
            MissingInputError: it lies nowhere that we look.
        """
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
        """Gold of one language pair of an input, over the systems that are compared.

        Raises:
            MissingInputError: the folder, the language pair or the gold is not there.
            DataError: a file is not what it should be.
        """
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
        """Read a metric, over the systems that are compared.

        Args:
            name: of the input.
            lp: language pair.
            metric: of the test set's folder; with a `/`, the place and the stem of a file beside it. `{lp}`
                and `{ref}` stand for the language pair and the reference. Or one of `own`.

        Raises:
            MissingInputError: there is no such file.
            DataError: it is not what it should be.
        """
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
        self._check(scores, side, self.told(file))
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

    def _check(self, scores: ScoreSet, side: Side, source: str) -> None:
        """Refuse a metric without one of the systems, and note what looks wrong in it.

        Raises:
            MissingInputError: a paper's number is over all systems, and this one would not be.
        """
        rows = zip(side.eval_set.systems, scores.segments, strict=True)
        if absent := [system for system, row in rows if np.isnan(row).all()]:
            raise MissingInputError(f"scores of {', '.join(absent)} in {source}")
        self.notes |= dict.fromkeys(suspicious(source, scores, side.gold, side.eval_set.systems))

    def read(self, metric: str, read: Callable[[], Content]) -> Content:
        """Read a metric's file. One of `own` that is about something else leaves its cells empty.

        Raises:
            MissingInputError: it is one of `own`, and cannot be used here.
        """
        try:
            return read()
        except (DataError, UsageError) as error:
            if metric not in self.own:
                raise
            raise MissingInputError(str(error)) from error

    def file(self, metric: str, lp: str, endings: Sequence[str] = _ENDINGS) -> Path:
        """Return the path if it is an existing file or run directory.

        Args:
            metric: its place and stem, with a `/` between them; or one of `own`.
            lp: language pair.
            endings: that the name may have, the usual one first.

        Raises:
            MissingInputError: there is none.
        """
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
