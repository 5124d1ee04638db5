"""A test set as meta-evaluation sees it: scores of gold and metrics as arrays, systems by segments.

`Frame` says which systems and segments the arrays are about, `ScoreSet` holds what one annotator or metric
gave, and `EvalSet` all of one language pair. `read_score_source` reads scores wherever they stand: score
files, runs, records, MQM TSV, ratings. `eval_set_files` reads a whole eval set.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.segment_scores import score_records
from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp, lp_named, script_of, source_language
from adjudge.core.mqm import Weights, mean, unknown_categories_note
from adjudge.core.protocol import SEVERITIES, find_protocol
from adjudge.core.record import Annotation, Record, grouped
from adjudge.core.scores import Run, Scores
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import Mismatched
from adjudge.core.wording import count, form, of_sight
from adjudge.errors import DataError, LanguagePairError, UsageError
from adjudge.formats.join import put_together, uncompared
from adjudge.formats.read import Judgements, detect, read_judgements, refuse_twice
from adjudge.formats.score_file import ScoreTable, lp_before_dot, read_score_file
from adjudge.stats.judged import Floats, divided

Level = Literal["segment", "document", "domain"]
"""What measures of segments compare: segments, or means of their scores over documents or domains."""

CLEAN: Final = -1
"""Stands for the worst severity where nothing was marked."""
UNSEEN: Final = -2
"""Where nobody looked."""


@frozen
class ScoreSet:
    """Scores that one annotator, metric or gold, gave to the systems of an `EvalSet`."""

    name: str  # such as `mqm` or `COMET-refA`
    segments: Floats  # systems by segments, higher is better; NaN where a translation was not judged
    systems: Floats  # one score a system; NaN where it was not judged
    # judgements asked for and not obtained, by system; no number stands for them
    failed: Mapping[str, int] = field(default_factory=dict)
    reference: str = ""  # that a metric was shown, `src` for none; empty where that is not known
    # lowest and highest possible score, where the protocol has bounds
    range: tuple[float, float] | None = None
    # systems by segments, the worst severity marked: its place in `SEVERITIES`, `CLEAN` or `UNSEEN`. None
    # where that is not known.
    worst: NDArray[np.int8] | None = None
    # of gold, two annotations of the translations that several people judged, see `split_raters`; None where
    # there is no such translation, or it is not known who judged
    raters: tuple[ScoreSet, ScoreSet] | None = None

    @property
    def unscored(self) -> NDArray[np.bool_]:
        """Systems without any score: of segments, or, where there is none of these at all, of systems."""
        lost = np.asarray(np.isnan(self.segments).all(axis=1), dtype=np.bool_)
        return np.asarray(np.isnan(self.systems), dtype=np.bool_) if lost.all() else lost

    def select(self, rows: Sequence[int], names: Sequence[str]) -> ScoreSet:
        """Keep some systems."""
        return replace(
            self,
            segments=self.segments[rows],
            systems=self.systems[rows],
            failed={name: self.failed[name] for name in names if name in self.failed},
            worst=None if self.worst is None else self.worst[rows],
            raters=self._each_rater(lambda each: each.select(rows, names)),
        )

    def over(self, columns: Sequence[NDArray[np.intp]]) -> ScoreSet:
        """Put some segments in the place of each column: its score is the mean of those they have."""
        worst = None if self.worst is None else [self.worst[:, c].max(axis=1) for c in columns]
        return replace(
            self,
            segments=np.stack([row_means(self.segments[:, c]) for c in columns], axis=1),
            worst=None if worst is None else np.stack(worst, axis=1),
            raters=self._each_rater(lambda each: each.over(columns)),
        )

    def _each_rater(self, change: Callable[[ScoreSet], ScoreSet]) -> tuple[ScoreSet, ScoreSet] | None:
        return None if self.raters is None else (change(self.raters[0]), change(self.raters[1]))


@frozen
class EvalSet:
    """One language pair of a test set, with its gold and its metrics."""

    name: str  # of the test set
    lp: str  # language pair
    systems: tuple[str, ...]  # rows of every array, in the order of their names
    segments: tuple[str, ...]  # ids, columns of every array
    documents: tuple[str, ...]  # document of each segment; empty where there is none
    domains: tuple[str, ...]  # domain of each segment; empty where there is none
    # of each source, in white-space tokens, or characters where the script has no spaces
    lengths: tuple[int, ...]
    golds: Mapping[str, ScoreSet]
    metrics: Mapping[str, ScoreSet]
    references: tuple[str, ...] = ()  # systems that are references, such as `refA`
    # references that the test set's own metrics were shown, those that were not read included
    shown: tuple[str, ...] = ()
    known_as: str = ""  # name that task sets know it by
    # names of those of `metrics` that are golds nobody asked for: second annotations by people
    people: tuple[str, ...] = ()
    # metrics that were not read, for they were shown another reference than those compared
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what a reader of the numbers must know of the files

    def select(self, systems: Sequence[str]) -> EvalSet:
        rows = [self.systems.index(name) for name in systems]
        return replace(
            self,
            systems=tuple(systems),
            golds={name: gold.select(rows, systems) for name, gold in self.golds.items()},
            metrics={name: metric.select(rows, systems) for name, metric in self.metrics.items()},
            references=tuple(name for name in self.references if name in systems),
        )


_UNSPACED: Final = frozenset({"Hans", "Hant", "Hani", "Jpan", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
"""Scripts that put no space between words."""


@frozen
class Frame:
    """Rows and columns of the arrays of one language pair."""

    name: str  # of the test set
    lp: str  # canonical language pair
    segments: tuple[Segment, ...]  # columns, in test-set order
    systems: tuple[str, ...]  # rows, in the order of their names
    references: tuple[str, ...] = ()  # systems that are references too

    @cached_property
    def rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.systems)}

    @cached_property
    def columns(self) -> dict[str, int]:
        return {segment.segment: column for column, segment in enumerate(self.segments)}

    def empty(self) -> Floats:
        """Systems by segments without a score."""
        return np.full((len(self.systems), len(self.segments)), np.nan)


def row_means(scores: Floats) -> Floats:
    """Mean of each system over the segments that have a score; NaN where none has.

    `scores`: systems by segments.
    """
    judged = ~np.isnan(scores)
    return divided(np.where(judged, scores, 0.0).sum(axis=1), judged.sum(axis=1))


def over_units(eval_set: EvalSet, level: Level) -> EvalSet:
    """Put each document, or domain, in the place of its segments: its score is the mean of those it has.

    Scores of systems stay as they are.
    """
    if level == "segment":
        return eval_set
    labels = eval_set.documents if level == "document" else eval_set.domains
    if not labels or not all(labels):
        raise UsageError(f"{eval_set.name} {eval_set.lp} does not name the {level} of each segment")
    names = tuple(dict.fromkeys(labels))
    columns = [np.flatnonzero(np.array(labels) == name) for name in names]

    return replace(
        eval_set,
        segments=names,
        documents=names if level == "document" else ("",) * len(names),
        domains=tuple(eval_set.domains[c[0]] if eval_set.domains else "" for c in columns),
        lengths=tuple(sum(eval_set.lengths[n] for n in c.tolist()) for c in columns),
        golds={name: gold.over(columns) for name, gold in eval_set.golds.items()},
        metrics={name: metric.over(columns) for name, metric in eval_set.metrics.items()},
    )


def source_lengths(segments: Iterable[Segment], lp: str) -> tuple[int, ...]:
    """Length of each source: white-space tokens, or characters where no space stands between words."""
    if is_unspaced(lp):
        return tuple(sum(not char.isspace() for char in s.source) for s in segments)
    return tuple(len(s.source.split()) for s in segments)


def length_names(lp: str, bins: Sequence[int]) -> list[str]:
    """Names of bins of `source_lengths`, shortest first: `under 12 tokens`, `12 to 26 tokens`, and so on."""
    unit = "characters" if is_unspaced(lp) else "tokens"
    if not bins:
        return [f"any number of {unit}"]
    inner = [f"{low} to {high - 1} {unit}" for low, high in pairwise(bins)]
    return [f"under {bins[0]} {unit}", *inner, f"{bins[-1]} {unit} and more"]


def is_unspaced(lp: str) -> bool:
    """Whether no space stands between the words of the source."""
    return script_of(source_language(lp)) in _UNSPACED


_SEG, _SYS = ".seg.score", ".sys.score"

_OF_FOLDER: Final = "metric-scores"
"""Where a folder of mt-metrics-eval has its metrics."""


@frozen
class Found:
    """Scores, and what was odd in them."""

    scores: ScoreSet  # of the systems and segments of a frame
    notes: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()  # systems that were scored too, and that the frame does not have
    has_marks: bool = False  # whether they are points of marked errors


def stem_of(path: Path) -> str:
    """Name of what a file or a run holds: `COMET-refA` of `COMET-refA.seg.score`, `mqm` of `mqm.tsv`."""
    name = path.name.removesuffix(".gz")
    for ending in (_SEG, _SYS, ".seg.rating"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    if name == "records.jsonl":
        return path.resolve().parent.name
    return name if path.is_dir() else Path(name).stem


def split_score(text: str) -> tuple[str, Path]:
    """Read `NAME=PATH` or `PATH`: the name, empty where none is given, and the path."""
    name, equals, file = text.partition("=")
    return (name, Path(file)) if equals and not Path(text).exists() else ("", Path(text))


class InMemory(NamedTuple):
    """Scores that are in memory: an array of systems by segments, or what `read_judgements` takes."""

    value: Any

    def __repr__(self) -> str:
        return f"a {type(self.value).__name__} in memory"


@frozen
class OwnScores:
    """Where the scores of a metric of a user's own are."""

    # language pair to run or file, or to what is in memory; None for one that may hold any number of language
    # pairs
    files: dict[str | None, Path | InMemory] = field(default_factory=dict)
    # whether its name is that of a file in a folder, which ends in the reference it was shown
    in_folder: bool = False
    is_shared: bool = False  # whether several language pairs are evaluated, of which a file need not hold all

    def file_of(self, lp: str | None) -> Path | InMemory | None:
        """The run or file that holds a language pair; None where there is none."""
        return self.files.get(lp, self.files.get(None))


def find_own_scores(
    given: Iterable[str] | Mapping[str, object], lps: Sequence[str | None]
) -> dict[str, OwnScores]:
    """Find the runs and files that `--scores` names, for each language pair.

    A run and a file of records say their language pairs. Of a score file the folder says it (`en-de/`) or the
    beginning of its name (`en-de.`); a folder of score files holds a metric or several. A folder of
    files with one number a line, of one system each, is one metric, called by the folder.

    `lps`: that are evaluated; None for the only one of the test set.
    """
    found: dict[str, OwnScores] = {}
    split = [*_given(given)]
    if missing := [path for _, path, _ in split if isinstance(path, Path) and not path.exists()]:
        raise UsageError(f"no run and no file at {str(missing[0])!r}")
    refuse_twice(path for _, path, lp in split if lp is None and isinstance(path, Path))
    for name, path, lp in split:
        if isinstance(path, InMemory):
            if lp is None and len(lps) > 1 and hasattr(path.value, "columns"):
                read_judgements(path.value)  # which refuses scores that do not say their language pair
            _add(found.setdefault(name, OwnScores(is_shared=len(lps) > 1)), name, lp, path)
            continue
        is_folder = path.is_dir() and not _is_known(path)
        files = _in_folder(path, lp, lps) if is_folder else [(path, stem_of(path), lp or _lp_of(path, lps))]
        for file, stem, told in files:
            own = OwnScores(in_folder=is_folder and not name, is_shared=len(lps) > 1)
            _add(found.setdefault(name or stem, own), name or stem, told, file)
    return found


def _given(
    given: Iterable[str] | Mapping[str, object],
) -> Iterator[tuple[str, Path | InMemory, str | None]]:
    if not isinstance(given, Mapping):
        if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
            raise UsageError(
                f"scores must be name to scores, such as {{'chrF': run}}, or texts [NAME=]FILE; got "
                f"{type(given).__name__}"
            )
        for text in given:
            yield *split_score(text), None
        return
    for name, files in given.items():
        for lp, file in files.items() if isinstance(files, Mapping) else [(None, files)]:
            held = Path(file) if isinstance(file, str | Path) else InMemory(file)
            yield name, held, None if lp is None else canonical_lp(lp)


def golds_by_lp(
    golds: Sequence[str | tuple[str, InMemory]], lps: Sequence[str | None]
) -> dict[str | None, list[str | tuple[str, InMemory]]]:
    """The golds of each language pair: a file whose folder or name says one (`en-de/`, `en-de.`)."""
    told = [(gold, None if isinstance(gold, tuple) else _lp_of_gold(gold, lps)) for gold in golds]
    found = {lp: [gold for gold, own in told if own in {None, lp}] for lp in lps}
    if golds and (without := [lp for lp, own in found.items() if not own]):
        raise UsageError(f"none of the golds is of {without[0]}, by the names of their files and folders")
    return found


def _lp_of_gold(gold: str, lps: Sequence[str | None]) -> str | None:
    _, path = split_score(gold)
    told = _lp_named(path) if path.is_file() else None
    return told if told in lps else None


def _add(own: OwnScores, name: str, lp: str | None, path: Path | InMemory) -> None:
    if lp in own.files:
        if lp is None:
            raise UsageError(
                f"two scores {name!r}: {own.files[lp]} and {path}; give each a name of its own, NAME=FILE"
            )
        raise UsageError(f"two files hold the scores of {name!r} for {lp}: {own.files[lp]} and {path}")
    own.files[lp] = path


def _is_known(path: Path) -> bool:
    try:
        return detect(path) in {"run", "score-lines"}
    except DataError:
        return False


def _in_folder(
    folder: Path, lp: str | None, lps: Sequence[str | None]
) -> Iterator[tuple[Path, str, str | None]]:
    root = folder / _OF_FOLDER if (folder / _OF_FOLDER).is_dir() else folder
    seen: set[tuple[str | None, str]] = set()
    files = [file for file in sorted((*root.glob("*.score*"), *root.glob("*/*.score*"))) if file.is_file()]
    files = [file for file in files if file.name.removesuffix(".gz").endswith((_SEG, _SYS))]
    if not files:
        raise UsageError(f"{folder} is no run, and no {_SEG} or {_SYS} is in it or in its folders")
    for file in files:
        told = lp or _lp_of(file, lps)
        stem = stem_of(file)
        stem = stem.partition(".")[2] if lp_before_dot(Path(stem)) else stem
        if told is None and file.parent != root:
            continue  # of a language pair that is not evaluated
        if (told, stem) not in seen:
            seen.add((told, stem))
            yield file, stem, told


_OF_ANY_PAIR: Final = frozenset({"comet", "score-lines", "score-table"})
"""Formats whose files may say no language pair."""


def _lp_of(path: Path, lps: Sequence[str | None]) -> str | None:
    """Language pair of a score file, one of those that are evaluated; None for any other file."""
    if not path.name.removesuffix(".gz").endswith((_SEG, _SYS)):
        if len(lps) > 1 and detect(path) in _OF_ANY_PAIR:
            read_judgements(path)  # which refuses scores that do not say their language pair
        return None
    told = _lp_named(path)
    if told in lps:
        return told
    if len(lps) > 1 and told is None:
        raise UsageError(
            f"{path} does not say its language pair: begin its name with one (en-de.{path.name}), or put it "
            "into a folder that is called by it (en-de/)"
        )
    return told if len(lps) > 1 else None


def _lp_named(path: Path) -> str | None:
    """Language pair of a file by its name, or else by that of its folder."""
    return lp_before_dot(Path(stem_of(path))) or lp_named(path.resolve().parent.name)


def read_score_source(
    path: Path | InMemory,
    name: str,
    frame: Frame,  # systems and segments; lines of a score file are its segments, in order
    texts: Callable[[], TestSet],
    *,
    weights: str | None = None,
    mismatched: Mismatched = "refuse",
    golds: Sequence[ScoreSet] = (),
) -> Found:
    """Read the scores in a file or a run, and put them where the frame has their systems and segments."""
    score = partial(records_as_scores, weights=weights, golds=golds)
    read = partial(_read, name=name, frame=frame, texts=texts, mismatched=mismatched, score=score)
    if isinstance(path, InMemory):
        if hasattr(path.value, "__array__") and not hasattr(path.value, "columns"):
            return array_as_scores(name, path.value, frame, texts())
        try:
            return read(path.value)
        except UsageError as error:
            raise UsageError(f"scores of {name!r}: {error}") from error
    if path.name.removesuffix(".gz").endswith((_SEG, _SYS)):
        if (told := _lp_named(path)) not in {None, canonical_lp(frame.lp)}:
            raise UsageError(f"{path} has scores of {told}, and those of {frame.lp} are wanted")
        found = tables_as_scores(name, _read_tables(path, frame), frame)
        return replace(found, notes=(f"{name}: {uncompared([str(path)])}",))
    return read(path)


def _read(
    source: Any,  # noqa: ANN401 (whatever is read)
    name: str,
    frame: Frame,
    texts: Callable[[], TestSet],
    mismatched: Mismatched,
    score: Callable[..., Found],
) -> Found:
    whole = Judgements(name=frame.name, records=(), test_set=texts())
    read = read_judgements(source, frame.lp, beside=whole.test_set)
    (_, read), told = put_together([whole, read], "translations", mismatched)
    found = score(name, read.run or read.records, frame)
    changed = read.run is not None and "changed" in read.run.info.signature.fields
    told = ["The records were changed after the run", *told] if changed else told
    notes = tuple(f"{name}: {note.removesuffix('.')}." for note in (*read.notes, *told))
    return replace(found, notes=(*notes, *found.notes))


def array_as_scores(name: str, array: Any, frame: Frame, texts: TestSet) -> Found:  # noqa: ANN401 (of any library)
    """Take an array of systems by segments, in the order of the test set; NaN is a failure."""
    found = np.asarray(array, dtype=np.float64)
    shape = len(texts.systems), len(frame.segments)
    if found.shape != shape:
        raise UsageError(
            f"scores of {name!r} must be an array of {shape[0]} systems by {shape[1]} segments, in the "
            f"order of the test set; got one of {' by '.join(map(str, found.shape)) or 'no dimension'}"
        )
    if np.isnan(found).all() or np.isinf(found).any():
        raise DataError(f"scores of {name!r} have {'no number' if np.isnan(found).all() else 'infinity'}")
    segments = found[[texts.systems.index(system) for system in frame.systems]]
    failed = np.isnan(segments).sum(axis=1).tolist()
    scores = ScoreSet(
        name=name,
        segments=segments,
        systems=row_means(segments),
        failed={system: n for system, n in zip(frame.systems, failed, strict=True) if n},
    )
    return Found(scores=scores)


# Score files


def _read_tables(path: Path, frame: Frame) -> list[ScoreTable]:
    packed = ".gz" if path.name.endswith(".gz") else ""
    stem = path.name.removesuffix(packed).removesuffix(_SEG).removesuffix(_SYS)
    files = [path.with_name(f"{stem}{ending}{packed}") for ending in (_SEG, _SYS)]
    tables = {file: read_score_file(file) for file in files if file.is_file()}
    tables = tables or {path: read_score_file(path)}
    for file, table in tables.items():
        wanted, found = 1 if table.level == "sys" else len(frame.segments), len(table.units)
        if found != wanted:
            hint = ": are those of several systems under one name?" if found % wanted == 0 else ""
            message = f"{found} {table.level} scores a system, where {frame.name} has {wanted}{hint}"
            raise DataError(message, path=file)
    if all(np.isnan(table.values).all() for table in tables.values()):
        raise DataError("there is no score in this file: every line says None", path=path)
    return list(tables.values())


def tables_as_scores(name: str, tables: Iterable[ScoreTable], frame: Frame, reference: str = "") -> Found:
    """Put tables of the levels `seg` and `sys` into one score set.

    A system's score is what the `sys` file says; without one it is the mean over its segments.
    """
    segments, systems = frame.empty(), np.full(len(frame.systems), np.nan)
    foreign: dict[str, None] = {}
    levels = set()
    for table in tables:
        kept = [place for place, system in enumerate(table.systems) if system in frame.rows]
        foreign |= dict.fromkeys(system for system in table.systems if system not in frame.rows)
        if not kept:
            raise DataError(f"{foreign_note(name, foreign, frame.name)} It has {', '.join(frame.systems)}")
        target = [frame.rows[table.systems[place]] for place in kept]
        levels.add(table.level)
        if table.level == "sys":
            systems[target] = table.values[kept, 0]
        else:
            segments[target] = table.values[kept]
    if "sys" not in levels:
        systems = row_means(segments)
    scores = ScoreSet(name=name, segments=segments, systems=systems, reference=reference)
    return Found(scores=scores, foreign=tuple(foreign))


def foreign_note(names: str, systems: Iterable[str], texts: str) -> str:
    """Say which systems the test set does not have. `systems`: at least one."""
    what = ", ".join(systems)
    return f"Systems that {texts} does not have, scored by {names}, are left out: {what}."


# Records


def records_as_scores(
    name: str,
    judged: Run | Iterable[Record],
    frame: Frame,
    weights: str | None = None,
    golds: Sequence[ScoreSet] = (),
) -> Found:
    """Score records as `adjudge score` does; a failure has no number and is counted."""
    records = judged.records if isinstance(judged, Run) else tuple(judged)
    _refuse_lps(name, [r.lp for r in records], frame.name, [frame.lp])
    has_marks = any(find_protocol(r.protocol).has_spans for r in records)
    weights = weights if has_marks else None
    is_judge = isinstance(judged, Run) and judged.info.kind == "judge"
    scores = score_records(
        judged if isinstance(judged, Run) else records,
        weights=weights,
        lp=frame.lp,
        beside=[r for gold in golds for r in _as_records(gold, frame)] if is_judge else (),
    )
    values, notes, foreign = _segment_values(name, scores, frame)
    notes += [f"{name}: {note}" for note in of_sight(scores.notes)]
    if scores.weights is not None:
        own = (r for r in records if r.lp == frame.lp)
        notes += [f"{name}: {note}" for note in unknown_categories_note(own, scores.weights)]
    systems = np.full(len(frame.systems), np.nan)
    for system in scores.systems:
        if system.system in frame.rows and system.score is not None:
            systems[frame.rows[system.system]] = system.score
    worst = np.full((len(frame.systems), len(frame.segments)), UNSEEN, dtype=np.int8)
    seen = False
    for r in records:
        if not isinstance(r, Annotation) or r.lp != frame.lp or r.protocol not in {"mqm", "esa"}:
            continue
        row, column = frame.rows.get(r.system), frame.columns.get(r.segment)
        if row is not None and column is not None:
            seen = True
            marked = max((SEVERITIES.index(span.severity) for span in r.spans), default=CLEAN)
            worst[row, column] = max(worst[row, column], marked)
    found = ScoreSet(
        name=name,
        segments=values,
        systems=systems,
        failed={s.system: s.failed for s in scores.systems if s.failed},
        range=scores.range if all(map(math.isfinite, scores.range)) else None,
        worst=worst if seen else None,
        raters=split_raters(records, frame, scores.weights),
    )
    return Found(scores=found, notes=tuple(notes), foreign=tuple(foreign), has_marks=has_marks)


def _as_records(gold: ScoreSet, frame: Frame) -> Iterator[Annotation]:
    for row, column in np.argwhere(~np.isnan(gold.segments)).tolist():
        segment, system = frame.segments[column].segment, frame.systems[row]
        value = float(gold.segments[row, column])
        yield Annotation(
            lp=frame.lp,
            segment=segment,
            system=system,
            annotator=gold.name,
            protocol="metric",
            rating=value,
        )


def _segment_values(name: str, scores: Scores, frame: Frame) -> tuple[Floats, list[str], dict[str, None]]:
    """Scores in their places, what was odd, and systems that the frame does not have."""
    values = frame.empty()
    lost: set[str] = set()
    foreign: dict[str, None] = {}
    for s in scores.segments:
        row, column = frame.rows.get(s.system), frame.columns.get(s.segment)
        if row is None:
            foreign[s.system] = None
        elif column is None:
            lost.add(s.segment)
        elif s.score is not None:
            values[row, column] = s.score
    if scores.segments and np.isnan(values).all() and any(s.score is not None for s in scores.segments):
        raise _no_match(name, frame.name, foreign, lost)
    return values, list(_lost_note(name, frame.name, lost)), foreign


def count_strangers(
    name: str,
    judged: Iterable[tuple[str, str, Sequence[str]]],
    texts: str,
    known: Mapping[tuple[str, str], Collection[str]],
) -> int:
    """Count judgements that are about no segment and systems of a test set, in its language pairs."""
    judged, lps = list(judged), dict.fromkeys(lp for lp, _ in known)
    _refuse_lps(name, [lp for lp, _, _ in judged], texts, lps)
    own = [(lp, segment, systems) for lp, segment, systems in judged if lp in lps]
    strangers = [each for each in own if not {*each[2]} <= {*known.get(each[:2], ())}]
    if len(strangers) == len(own):
        there = {system for systems in known.values() for system in systems}
        foreign = dict.fromkeys(s for _, _, systems in own for s in systems if s not in there)
        lost = {segment for lp, segment, _ in own if (lp, segment) not in known}
        raise _no_match(name, texts, foreign, lost)
    return len(strangers)


def _refuse_lps(name: str, lps: Collection[str], texts: str, wanted: Collection[str]) -> None:
    if not any(lp in wanted for lp in lps):
        told = ", ".join(dict.fromkeys(lps)) or "no language pair"
        raise LanguagePairError(f"{name} judges {told}; {', '.join(wanted)} of {texts} was wanted")


def _no_match(name: str, texts: str, systems: Collection[str], segments: Collection[str]) -> DataError:
    why = [*([foreign_note(name, systems, texts)] if systems else []), *_lost_note(name, texts, segments)]
    return DataError(f"{name} judges no system and segment of {texts}: {' '.join(why)}")


def _lost_note(name: str, texts: str, segments: Collection[str]) -> Iterator[str]:
    if segments:
        which = count(len(segments), "segment")
        yield (
            f"{name} judges {which} that {texts} does not have, such as {min(segments)!r}; "
            f"{form(len(segments), 'it is', 'they are')} left out."
        )


def split_raters(
    records: Iterable[Record], frame: Frame, weights: Weights | None = None
) -> tuple[ScoreSet, ScoreSet] | None:
    """Split judgements into two annotations: one rater of each translation, and the mean of the others.

    Only translations that two or more raters judged are in them. The rater set apart is the same for a whole
    segment, as far as that rater judged it: the one who judged most of its translations, and of several
    the one who was set apart least often so far.

    None where no translation has two raters. `weights`: of marked errors; None where ratings are scored.
    """
    cells = grouped(
        ((frame.columns[r.segment], frame.rows[r.systems[0]]), r)
        for r in records
        if r.lp == frame.lp
        and r.protocol != "pairwise"
        and r.segment in frame.columns
        and r.systems[0] in frame.rows
    )
    several = [said for said in cells.values() if len({r.annotator for r in said}) > 1]
    found: dict[int, dict[int, dict[str, float]]] = {}
    for rater, own in sorted(grouped((r.annotator, r) for said in several for r in said).items()):
        for s in score_records(own, weights=weights).segments:
            if s.score is not None:
                by_row = found.setdefault(frame.columns[s.segment], {})
                by_row.setdefault(frame.rows[s.system], {})[rater] = s.score
    both = {c: {row: said for row, said in by_row.items() if len(said) > 1} for c, by_row in found.items()}
    numbers = {column: by_row for column, by_row in both.items() if by_row}
    if not numbers:
        return None
    apart, others = frame.empty(), frame.empty()
    turns: Counter[str] = Counter()
    for column, rows in sorted(numbers.items()):
        judged = Counter(rater for said in rows.values() for rater in said)
        order = sorted(judged, key=lambda rater: (-judged[rater], turns[rater], rater))
        chosen = {row: next(rater for rater in order if rater in said) for row, said in rows.items()}
        turns.update(set(chosen.values()))
        for row, said in rows.items():
            apart[row, column] = said.pop(chosen[row])
            others[row, column] = mean(sorted(said.values()))
    return (
        ScoreSet(name="one rater", segments=apart, systems=row_means(apart)),
        ScoreSet(name="the other raters", segments=others, systems=row_means(others)),
    )
