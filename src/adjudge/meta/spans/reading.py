"""Judgements with their texts, from whatever holds them: runs, records, MQM TSV, ratings, scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Record
from adjudge.core.run import Run
from adjudge.core.segment import TestSet
from adjudge.data.convert import read_content
from adjudge.data.formats import find_format
from adjudge.data.load import detect, find_path, load
from adjudge.data.mtme_ratings import find_test_set
from adjudge.data.run_dir import read_run
from adjudge.errors import DataError

__all__ = ["Judged", "read_both", "read_judged"]

_SAY_THEIR_LP: Final = {"records", "mtme-ratings", "mtme-scores"}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Judgements from one place.

    Args:
        name: of the file or folder.
        records: what was judged, failures among them.
        test_set: the texts; None where they are not known.
        weights: named weights of the run's paper.
        met: what was odd, and how often.
    """

    name: str
    records: tuple[Record, ...]
    test_set: TestSet | None = None
    weights: str | None = None
    met: Counter[str] = field(default_factory=Counter)


def read_judged(
    source: Run | Iterable[Record] | Path | str,
    *,
    lp: str | None = None,
    test_set: TestSet | Path | str | None = None,
    known: TestSet | None = None,
) -> Judged:
    """Read judgements with their texts.

    Args:
        source: a run or its directory, records or their file, an MQM TSV, a `.seg.rating` or `.seg.score`.
        lp: of a file that does not say its own.
        test_set: texts of ratings that lie outside of their folder, and of records; a run has its own.
        known: texts in which the marks of an MQM TSV are placed where its ids are the same.

    Raises:
        DataError: it cannot be read, or holds no judgement.
        UsageError: its texts are needed and not there.
    """
    if isinstance(source, Run):
        return _of_run(source, source.info.annotator)
    texts = load(test_set, lp) if isinstance(test_set, Path | str) else test_set
    if not isinstance(source, Path | str):
        return Judged(name="records", records=tuple(source), test_set=texts)
    path, found_lp = find_path(source, lp)
    form = detect(path)
    if form == "run":
        return _of_run(read_run(path), str(source))
    if form == "mqm-tsv" and texts is None:
        texts = known
    content = read_content(
        path,
        form,
        lp=None if form in _SAY_THEIR_LP else found_lp,
        test_set=texts if form == "records" or find_format(form).takes_texts else None,
    )
    if content.records is None:
        raise DataError(f"{form} holds texts and no judgements; give a run or records", path=path)
    return Judged(
        name=str(source), records=tuple(content.records), test_set=content.test_set, met=content.met
    )


def read_both(
    run: Run | Iterable[Record] | Path | str,
    gold: Run | Iterable[Record] | Path | str,
    *,
    lp: str | None,
    test_set: TestSet | Path | str | None,
) -> tuple[Judged, Judged]:
    """Read a run and its gold.

    Marks of gold's MQM TSV are placed in the texts of the run. Lines without ids, outside of the folder that
    they belong to, are about the texts of the other side where `test_set` says nothing else.
    """
    if test_set is None and _lacks_texts(run):
        found = read_judged(gold, lp=lp)
        return read_judged(run, lp=lp, test_set=found.test_set), found
    pred = read_judged(run, lp=lp, test_set=test_set)
    if test_set is None and _lacks_texts(gold):
        test_set = pred.test_set
    return pred, read_judged(gold, lp=lp, test_set=test_set, known=pred.test_set)


def _lacks_texts(source: Run | Iterable[Record] | Path | str) -> bool:
    """Whether this is a file whose lines are about a test set that does not lie beside it."""
    if not isinstance(source, Path | str) or not Path(source).is_file():
        return False
    return detect(Path(source)) in {"mtme-ratings", "mtme-scores"} and find_test_set(source) is None


def _of_run(run: Run, name: str) -> Judged:
    return Judged(name=name, records=run.records, test_set=run.test_set, weights=run.info.weights)
