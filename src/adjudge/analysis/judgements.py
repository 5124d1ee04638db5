"""Whatever a user has at hand, as judgements: a run, or a file of any format that holds some.

The command line and the public functions read through this module, so that both take the same.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import DataError, DataWarning, UsageError

__all__ = [
    "domains_known",
    "domains_of",
    "read_if_taken",
    "read_judgements",
    "read_scores",
    "read_source",
    "refuse_texts",
    "takes_texts",
    "texts_of",
    "with_texts",
]

if TYPE_CHECKING:
    from adjudge.analysis.compare import Place
    from adjudge.analysis.gate import Judged
    from adjudge.analysis.preferences import Source
    from adjudge.core.record import Annotation, Record
    from adjudge.core.scores import Run, Scores
    from adjudge.core.segment import TestSet
    from adjudge.core.typology import Weights

    Texts = TestSet | Path | str | None


def read_scores(
    path: Path | str,
    *,
    weights: str | Weights | None,
    lp: str | None,
    criterion: str | None,
    texts: Texts = None,
) -> Scores:
    """Read a run or a file and score it.

    Raises:
        DataError: it is neither, or cannot be scored.
        UsageError: weights, lp, criterion or texts that it has no use for.
    """
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.core.language import canonical_lp

    lp = None if lp is None else canonical_lp(lp)
    return score(read_judgements(path, lp, texts), weights=weights, lp=lp, criterion=criterion)


def read_judgements(path: Path | str, lp: str | None = None, texts: Texts = None) -> Run | Sequence[Record]:
    """Read a run or a file; a `DataWarning` says what is odd in it, or left out.

    Args:
        path: where it is; `-` for records on standard input.
        lp: language pair of a file that does not say its own.
        texts: test set that ratings without ids are about, or its path.

    Raises:
        DataError: it is neither.
        UsageError: texts that it has no use for, or none where it needs them.
    """
    from adjudge.analysis.segment_scores import repeats_note, without_repeats
    from adjudge.core.language import canonical_lp
    from adjudge.formats.convert import FORMATS, find_format, read_content
    from adjudge.formats.mtme import find_test_set
    from adjudge.formats.read import detect
    from adjudge.store.run_directory import read_run

    path, lp = Path(path), None if lp is None else canonical_lp(lp)
    form = "records" if str(path) == "-" else detect(path)
    kind = find_format(form)
    if texts is not None and not kind.takes_texts:
        takers = ", ".join(sorted(each.name for each in FORMATS if each.takes_texts))
        raise UsageError(f"--test-set is for {takers}, and {path} is {form}")
    if form == "run":
        return read_run(path)
    if not kind.has_records:
        is_empty = path.is_file() and not path.stat().st_size
        what = "the file is empty" if is_empty else f"{form} holds texts and no judgements"
        raise DataError(f"{what}; give a run or records", path=path)
    if form == "mtme-scores" and texts is None and find_test_set(path) is None:
        if not (found := [*_read_segment_scores(path, lp)]):
            raise DataError("there is no score in this file: every line says None", path=path)
        return found
    known = _loaded(texts, lp)
    content = read_content(path, form, lp=lp if kind.needs_lp else None, test_set=known)
    if content.records is None:
        raise DataError("this file holds texts and no judgements; give a run or records", path=path)
    records, repeated = without_repeats(content.records)
    for what in (*(f"{count:,} {what}" for what, count in content.met.items()), *repeats_note(repeated)):
        warnings.warn(f"{path}: {what}", DataWarning, stacklevel=3)
    return records


def refuse_texts(texts: Texts) -> None:
    """Raise `UsageError` if texts are given with runs, records or scores, which have their ids."""
    if texts is not None:
        raise UsageError("test_set is for the path of ratings without ids: leave it out with what was read")


def takes_texts(path: Path) -> bool:
    """Whether a file is of a format that has no texts, or not all, and is read with those of a test set."""
    from adjudge.formats.convert import find_format
    from adjudge.formats.read import detect

    return str(path) != "-" and find_format(detect(path)).takes_texts


def texts_of(path: Path, lp: str | None, texts: Path | None) -> TestSet | None:
    """Texts that are given, else those of a run, of a file that has some, or that a score file lies in."""
    from adjudge.formats.convert import find_format
    from adjudge.formats.mtme import find_test_set
    from adjudge.formats.read import detect, load

    if texts is not None:
        return load(texts, lp)
    if str(path) != "-" and "test set" in find_format(detect(path)).holds:
        return load(path, lp)
    return find_test_set(path)


def read_if_taken(path: Path, lp: str | None, texts: Path | None) -> Judged:
    """Read a run or a file, with the texts where its format takes them; else they say the domains alone."""
    return read_judgements(path, lp, texts if texts is not None and takes_texts(path) else None)


def domains_of(source: object) -> Iterator[tuple[Place, str]]:
    """Domain of each segment, where the source knows it: a run does."""
    from adjudge.core.scores import Run

    if isinstance(source, Run):
        yield from (((s.lp, s.segment), s.domain) for s in source.test_set)


def domains_known(
    judged: Sequence[object], paths: Sequence[Path], lp: str | None, texts: Texts
) -> dict[Place, str]:
    """Of segments: from the texts given, else from the runs, else from the test set a score file lies in.

    Args:
        judged: what was read.
        paths: where it lies.
        lp: language pair of the texts.
        texts: test set, or its path; None where none was named.
    """
    from adjudge.formats.mtme import find_test_set

    if texts is None and (found := {place: name for each in judged for place, name in domains_of(each)}):
        return found
    sets = map(find_test_set, paths) if texts is None else [_loaded(texts, lp)]
    known = next((each for each in sets if each is not None), None)
    return {} if known is None else {(s.lp, s.segment): s.domain for s in known}


def read_source(path: Path, lp: str | None, texts: Texts) -> Source:
    """Read a run or a file of any format that holds judgements, with the texts that they are about.

    Args:
        path: where it is.
        lp: keep one language pair.
        texts: test set, or its path; else that of the run, or the one that a score file lies in.
    """
    from adjudge.analysis.preferences import source_of
    from adjudge.core.language import canonical_lp
    from adjudge.formats.mtme import find_test_set

    lp = None if lp is None else canonical_lp(lp)
    is_bare = takes_texts(path)
    source = source_of(str(path), read_judgements(path, lp, texts if is_bare else None), lp)
    if source.test_set is not None:
        return source
    if texts is None:
        return replace(source, test_set=find_test_set(path) if is_bare else None)
    return with_texts(source, lp, texts)


def with_texts(source: Source, lp: str | None, texts: Texts) -> Source:
    """Return a source with the texts given, unless it has its own or none are given."""
    if source.test_set is not None or texts is None:
        return source
    lps = {record.lp for record in source.records}
    return replace(source, test_set=_loaded(texts, lps.pop() if len(lps) == 1 else lp))


def _loaded(texts: Texts, lp: str | None) -> TestSet | None:
    """Return a test set as it is, or read it from its path."""
    from adjudge.formats.read import load

    return load(texts, lp) if isinstance(texts, Path | str) else texts


def _read_segment_scores(path: Path, lp: str | None) -> Iterator[Annotation]:
    """Read a score file that stands outside of its test set; `None` is not judged, and not a failure."""
    from adjudge.core.record import Annotation
    from adjudge.formats.score_file import name_and_lp, read_score_file

    table = read_score_file(path)
    name, lp = name_and_lp(path, lp)
    if lp is None:
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    for system, values in zip(table.systems, table.values.tolist(), strict=True):
        for unit, value in zip(table.units, values, strict=True):
            if not math.isnan(value):
                yield Annotation(
                    lp=lp, segment=unit, system=system, annotator=name, protocol="metric", rating=value
                )
