"""Read an eval set: a folder of mt-metrics-eval or of MENT, or any test set with files of scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Final, Literal

import numpy as np

from adjudge.analysis.eval_set import (
    EvalSet,
    Found,
    Frame,
    InMemory,
    OwnScores,
    ScoreSet,
    foreign_note,
    read_score_source,
    source_lengths,
    split_raters,
    split_score,
    stem_of,
    tables_as_scores,
)
from adjudge.analysis.meta_settings import base_name
from adjudge.analysis.shared_tasks import list_tasks, references_in
from adjudge.core.frozen import frozen
from adjudge.core.names import as_name, by_name
from adjudge.core.protocol import PROTOCOLS
from adjudge.core.record import grouped
from adjudge.core.segment import TestSet
from adjudge.core.verb import Mismatched
from adjudge.errors import DataError, LanguagePairError, UsageError
from adjudge.formats.ment import ANNOTATOR, read_ment_folder
from adjudge.formats.mtme import (
    ScoreFile,
    choose_lp,
    find_lps,
    find_score_files,
    read_mtme,
    read_ratings,
)
from adjudge.formats.read import detect, find_path, load
from adjudge.formats.score_file import read_score_file
from adjudge.store.files import find_files, read_bytes

_FOLDERS: Final = frozenset({"mtme", "ment"})
_JUDGED_TEXTS: Final = frozenset({"mqm-tsv", "ment-jsonl", "wmt25", "wmt25-jsonl"})
"""Formats that hold texts and the gold of these texts in one file."""


def known_name(path: Path | str | TestSet) -> str:
    """Name that task sets know a test set by: that of its folder, else of the task whose metrics it has.

    MENT is `ment` wherever it lies. A folder of another name is taken for the test set of the task of whose
    primary metrics it has most, and at least half. One in memory is called as it says.
    """
    if isinstance(path, TestSet):
        return path.name
    path, _ = find_path(path)
    if detect(path).startswith("ment"):
        return ANNOTATOR
    name = path.resolve().name
    if any(name in task.test_sets for task in list_tasks()):
        return name
    scores = [file.stem.split(".")[0] for file in find_files(path, "metric-scores/*/*.seg.score")]
    if not scores:
        return name
    there, lps = {score.rpartition("-")[0] for score in scores}, find_lps(path).keys()
    found = [
        (len(there & {*task.primary}) / len(task.primary), len(lps & {*task.lps}), task.test_sets[0])
        for task in list_tasks()
        if task.primary and task.test_sets
    ]
    share, shared_lps, known = max(found, key=lambda row: row[:2])
    return known if share >= _MOST_OF_A_TASK and shared_lps else name


_MOST_OF_A_TASK: Final = 0.5  # of its primary metrics


def find_set_lps(path: Path | str | TestSet) -> tuple[str, ...]:
    if isinstance(path, TestSet):
        return path.lps
    path, lp = find_path(path)
    if path.is_dir() and detect(path) in _FOLDERS:
        return (lp,) if lp is not None else tuple(find_lps(path))
    return load(path, lp).lps


def find_metrics(path: Path | str | TestSet) -> frozenset[str]:
    """Names of a folder's metrics in all its language pairs, without what they were shown; none of others."""
    if isinstance(path, TestSet):
        return frozenset()
    path, _ = find_path(path)
    if not path.is_dir() or detect(path) not in _FOLDERS:
        return frozenset()
    found = (file for lp in find_lps(path) for file in find_score_files(path, lp))
    return frozenset(file.name for file in found if file.kind != "gold" and file.name)


def find_references(path: Path | str | TestSet, lp: str) -> frozenset[str]:
    """References of a language pair: those that a test set has, and those that metrics were shown."""
    source, _ = _open(path, lp, None)
    return source.known_references | source.shown


def read_eval_set(  # noqa: PLR0913 (what can be read; every one has its default)
    path: Path | str | TestSet,
    lp: str | None = None,
    *,
    gold: Sequence[str | tuple[str, InMemory]] | None = (),
    scores: Mapping[str, OwnScores] | None = None,
    metrics: Sequence[str] = (),
    preferred: str | None = None,
    weights: str | None = None,
    reference: str | None = None,  # that the metrics compared were shown; None for any
    people: bool = False,
    mismatched: Mismatched = "refuse",
) -> EvalSet:
    """Read one language pair with its gold and its metrics.

    `gold`: names of the folder's own, or files, also as `NAME=FILE`, or a name and what is in memory; empty
    for the only one, None for none. `metrics`: of the folder's own only these, and no file of another; empty
    for all. A name without a reference is that of the metric with `reference`.
    """
    source, read = _open(path, lp, weights, mismatched)
    names = () if gold is None else gold or source.default_gold(preferred)
    golds = {}
    for each in names:
        if isinstance(each, tuple):
            name, found = each[0], read(each[1], each[0])
        else:
            name, found = source.read_gold(each) or _read_file(each, source, read)
        if name in golds:
            raise UsageError(
                f"there are two golds {name!r} of {source.frame.lp}: give each a name of its own"
            )
        raters = found.scores.raters or (source.raters(name) if people and name == each else None)
        golds[name] = replace(found, scores=replace(found.scores, name=name, raters=raters))
    read = partial(read, golds=[found.scores for found in golds.values()])
    chosen = source.choose_metrics(metrics, scores or {}, reference)
    judged = source.read_metrics(chosen)
    own = {name: _read_own(name, each, source, read) for name, each in (scores or {}).items()}
    judged |= {name: found for name, found in own.items() if found is not None}
    _check_weights(weights, [*golds.values(), *judged.values()])
    second = dict(source.second_golds(golds)) if people and golds else {}
    known = [gold.scores.segments for gold in golds.values()]  # in the folder under another name, too
    second = {
        name: found
        for name, found in second.items()
        if name not in judged
        and not any(np.array_equal(found.scores.segments, k, equal_nan=True) for k in known)
    }
    unread = () if metrics else tuple(name for name in source.metrics if name not in chosen)
    return replace(source.eval_set(golds, judged | second), people=tuple(second), unread=unread)


def _read_own(name: str, own: OwnScores, source: _Source, read: partial[Found]) -> Found | None:
    """Read a metric of the user's own; None where it has nothing of the language pair."""
    file = own.file_of(source.frame.lp)
    if file is None:
        return None
    if name in source.metrics:
        raise UsageError(f"there are two metrics {name!r}: call that of {file} by another name, NAME={file}")
    try:
        found = read(file, name)
    except LanguagePairError:
        if own.is_shared:
            return None
        raise
    shown = name.rpartition("-")[2]
    if not own.in_folder or (shown != "src" and not references_in(shown) <= source.known_references):
        return found
    return replace(found, scores=replace(found.scores, reference=shown))


def read_one(
    path: Path | str | TestSet,
    lp: str | None,
    kind: Literal["gold", "metric"],
    name: str,
    weights: str | None = None,
    mismatched: Mismatched = "refuse",
) -> EvalSet:
    """Read one language pair with one gold, or one metric, of the folder's own or a file, nothing else."""
    source, read = _open(path, lp, weights, mismatched)
    found = source.read_gold(name) if kind == "gold" else source.read_metric(name)
    found = found or _read_file(name, source, read, kind)
    _check_weights(weights, [found[1]])
    one = {found[0]: replace(found[1], scores=replace(found[1].scores, name=found[0]))}
    return source.eval_set(one, {}) if kind == "gold" else source.eval_set({}, one)


def _open(
    path: Path | str | TestSet, lp: str | None, weights: str | None, mismatched: Mismatched = "refuse"
) -> tuple[_Source, partial[Found]]:
    if isinstance(path, TestSet):
        source = _own(path, "", lp)
    else:
        path, lp = find_path(path, lp)
        form = detect(path)
        source = _folder(path, form, lp) if form in _FOLDERS else _own(path, form, lp)
    return source, partial(
        read_score_source, frame=source.frame, texts=source.texts, weights=weights, mismatched=mismatched
    )


def _check_weights(weights: str | None, found: Sequence[Found]) -> None:
    if weights is not None and not any(each.has_marks for each in found):
        names = ", ".join(each.scores.name for each in found)
        raise UsageError(f"weights need marked errors, and these inputs have none: {names}")


def _read_file(
    wanted: str, source: _Source, read: partial[Found], kind: Literal["gold", "metric"] = "gold"
) -> tuple[str, Found]:
    told, path = split_score(wanted)
    if not path.exists():
        there = ", ".join(source.golds if kind == "gold" else source.metrics) or "none of its own"
        message = f"{source.frame.name} has no {kind} {wanted!r}, and there is no such file; it has {there}"
        raise UsageError(message)
    name = (told or stem_of(path)).removeprefix(f"{source.frame.lp}.")
    return name, read(path, name)


@frozen
class _Source:
    """Where an eval set comes from."""

    path: Path | TestSet  # folder or file, or the texts themselves
    frame: Frame  # its systems and segments
    golds: Mapping[str, list[ScoreFile]]  # name to the files of a gold
    metrics: Mapping[str, list[ScoreFile]]  # name to the files of a metric
    with_gold: bool = False  # whether the file of the texts holds the gold too
    known_references: frozenset[str] = frozenset()  # of the test set
    torn: tuple[str, ...] = ()  # which files of translations do not fit the segments

    def texts(self) -> TestSet:
        held = self.path
        return held.select(lp=self.frame.lp) if isinstance(held, TestSet) else load(held, self.frame.lp)

    def default_gold(self, preferred: str | None) -> Sequence[str]:
        if self.with_gold:
            return [str(self.path)]
        if preferred in self.golds:
            return [str(preferred)]
        if len(self.golds) == 1:
            return list(self.golds)
        there = (
            f"has {', '.join(self.golds)}: choose with --gold" if self.golds else "has none: add --gold FILE"
        )
        raise UsageError(f"name the gold: {self.frame.name} {self.frame.lp} {there}")

    def second_golds(self, asked: Iterable[str]) -> Iterator[tuple[str, Found]]:
        known = {_annotation(name) for name in asked}
        for name, files in self.golds.items():
            is_other = _annotation(name) not in known and "merged" not in name
            if is_other and any(file.level == "seg" for file in files) and (found := self.read_gold(name)):
                yield found

    def raters(self, gold: str) -> tuple[ScoreSet, ScoreSet] | None:
        if gold != _RATED or gold not in self.golds or not isinstance(self.path, Path):
            return None
        stem = find_lps(self.path)[self.frame.lp]
        files = find_files(self.path, f"human-scores/{stem}.{gold}.*.seg.rating*")
        files = [file for file in files if ".merged." not in file.name]
        if len(files) < 2:
            return None
        texts = TestSet(name=self.frame.name, segments=self.frame.segments)
        return split_raters((r for file in files for r in read_ratings(file, texts).records), self.frame)

    def read_gold(self, name: str) -> tuple[str, Found] | None:
        """Read a gold of the folder; None if it has no such one."""
        if name not in self.golds:
            return None
        found = self._read(name, self.golds[name])
        return name, replace(found, scores=replace(found.scores, range=_range(name)))

    def read_metric(self, name: str) -> tuple[str, Found] | None:
        """Read a metric of the folder; None if it has no such one."""
        return None if name not in self.metrics else (name, self._read(name, self.metrics[name]))

    def choose_metrics(
        self, wanted: Sequence[str], own: Collection[str], reference: str | None
    ) -> frozenset[str]:
        """Choose among the folder's metrics by name, with or without what they were shown (`-refA`, `-src`).

        `wanted`: names; empty for all that were shown no other reference. `reference`: that the metrics
        compared were shown; None for any.
        """
        if not wanted:
            return frozenset(name for name in self.metrics if self._is_shown(name, reference))
        chosen: set[str] = set()
        for name in wanted:
            same = [n for n in self.metrics if name in {n, self._base(n), n.removesuffix("-src")}]
            if not same and name not in own:
                there = ", ".join((*self.metrics, *own)) or "none"
                raise UsageError(
                    f"{self.frame.name} {self.frame.lp} has no metric {name!r}; there are {there}"
                )
            chosen |= {each for each in same if self._is_shown(each, reference)}
            if same and not chosen & {*same}:
                alone = self._base(same[0])
                raise UsageError(
                    f"{self.frame.name} {self.frame.lp} compares metrics that were shown {reference}, and "
                    f"{', '.join(same)} was not: name {alone} for the one that was, or add --reference"
                )
        return frozenset(chosen)

    def _base(self, name: str) -> str:
        return base_name(name, self.metrics[name][0].reference)

    def _is_shown(self, name: str, reference: str | None) -> bool:
        shown = references_in(self.metrics[name][0].reference)
        return reference is None or reference not in self.shown or shown <= {reference}

    @cached_property
    def shown(self) -> frozenset[str]:
        return frozenset(
            each for files in self.metrics.values() for each in references_in(files[0].reference)
        )

    def read_metrics(self, only: Collection[str]) -> dict[str, Found]:
        return {name: self._read(name, files) for name, files in self.metrics.items() if name in only}

    def _read(self, name: str, files: Sequence[ScoreFile]) -> Found:
        sizes = {"seg": len(self.frame.segments), "sys": 1}
        tables = [read_score_file(f.path, level=f.level, units=sizes[f.level]) for f in files]
        return tables_as_scores(name, tables, self.frame, files[0].reference)

    def eval_set(self, golds: Mapping[str, Found], metrics: Mapping[str, Found]) -> EvalSet:
        frame = self.frame
        odd = (note for found in (*golds.values(), *metrics.values()) for note in found.notes)
        notes = (*self.torn, *_foreign({**golds, **metrics}, frame), *odd)
        return EvalSet(
            name=frame.name,
            lp=frame.lp,
            systems=frame.systems,
            segments=tuple(s.segment for s in frame.segments),
            documents=tuple(s.document for s in frame.segments),
            domains=tuple(s.domain for s in frame.segments),
            lengths=source_lengths(frame.segments, frame.lp),
            golds={name: found.scores for name, found in golds.items()},
            metrics={name: found.scores for name, found in metrics.items()},
            references=frame.references,
            shown=tuple(sorted(self.shown)),
            known_as=known_name(self.path),
            notes=tuple(dict.fromkeys(notes)),
        )


_RATED: Final = "mqm"
"""Gold whose scores are the points of the errors in rating files."""


def _annotation(gold: str) -> str:
    return gold.removesuffix("-z").removesuffix("-raw")


def _foreign(found: Mapping[str, Found], frame: Frame) -> Iterator[str]:
    scorers = grouped((each.foreign, name) for name, each in found.items() if each.foreign)
    for systems, names in scorers.items():
        more = f" and {len(names) - 3} others" if len(names) > 4 else ""
        yield foreign_note(", ".join(names[: 3 if more else 4]) + more, systems, frame.name)


def _torn(files: Iterable[Path], count: int) -> Iterator[str]:
    for file in files:
        lines = len(read_bytes(file).removesuffix(b"\n").split(b"\n"))
        if lines != count:
            yield (
                f"system-outputs/{file.parent.name}/{file.name} has {lines:,} lines, where there are "
                f"{count:,} segments: are texts and scores of one version? Scores are taken as they are."
            )


def _range(gold: str) -> tuple[float, float] | None:
    protocol = PROTOCOLS.get("sqm" if gold == ANNOTATOR else gold)
    if protocol is None or protocol.low is None or protocol.high is None:
        return None
    return protocol.low, protocol.high


def _folder(path: Path, form: str, lp: str | None) -> _Source:
    lps = find_lps(path)
    lp = choose_lp(lps, lp, path)
    stem = lps[lp]
    texts = read_ment_folder(path, lp) if form == "ment" else read_mtme(path, lp, sources_only=True)
    outputs = find_files(path, f"system-outputs/{stem}/*")
    systems = sorted(by_name({file.name.removesuffix(".txt"): file for file in outputs}))
    golds: dict[str, list[ScoreFile]] = {}
    metrics: dict[str, list[ScoreFile]] = {}
    unnamed = ANNOTATOR if form == "ment" else "gold"
    for file in find_score_files(path, lp):
        if file.level in {"seg", "sys"}:
            name = "-".join(part for part in (file.name, file.reference) if part)
            (golds if file.kind == "gold" else metrics).setdefault(name or unnamed, []).append(file)
    if not systems:
        raise DataError(f"no system: there is nothing in system-outputs/{stem}", path=path)
    references = {
        as_name(f.name.removeprefix(f"{stem}.").removesuffix(".txt"), "reference")
        for f in find_files(path, f"references/{stem}.*.txt")
    }
    frame = Frame(
        name=texts.name,
        lp=lp,
        segments=texts.segments,
        systems=tuple(systems),
        references=tuple(sorted(name for name in references if name in systems)),
    )
    return _Source(
        path=path,
        frame=frame,
        golds=golds,
        metrics=metrics,
        known_references=frozenset(references),
        torn=tuple(_torn(outputs, len(texts))),
    )


def _own(path: Path | TestSet, form: str, lp: str | None) -> _Source:
    test_set = path.select(lp=lp) if isinstance(path, TestSet) else load(path, lp)
    if len(test_set.lps) > 1:
        raise UsageError(
            f"{test_set.name} has several language pairs: add --lp, one of {', '.join(test_set.lps)}"
        )
    frame = Frame(
        name=test_set.name,
        lp=test_set.lps[0],
        segments=test_set.segments,
        systems=tuple(sorted(test_set.systems)),
        references=tuple(sorted(set(test_set.references) & set(test_set.systems))),
    )
    return _Source(
        path=path,
        frame=frame,
        golds={},
        metrics={},
        known_references=frozenset(test_set.references),
        with_gold=form in _JUDGED_TEXTS,
    )
