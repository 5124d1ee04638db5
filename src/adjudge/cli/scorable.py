"""What `score` and `rank` read: a run, or a file of any format that holds judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from adjudge.cli.output import print_note
from adjudge.errors import DataError, UsageError

if TYPE_CHECKING:
    from adjudge.core.annotation import Annotation, Record
    from adjudge.core.run import Run
    from adjudge.core.score import Scores
    from adjudge.core.segment import TestSet
    from adjudge.meta.agreement.sources import Source
    from adjudge.meta.comparing.replacing import Judged
    from adjudge.meta.comparing.two_systems import Place

__all__ = [
    "CriterionOption",
    "GoldOfSetOption",
    "MetricOfSetOption",
    "TextsOption",
    "WeightsOption",
    "domains_known",
    "read_if_taken",
    "read_judgements",
    "read_scores",
    "read_source",
    "refuse_of_judgements",
    "takes_texts",
    "texts_of",
]

WeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        "-w",
        help="Points of marked errors, one of `adjudge list weights`; else the run's, else mqm-google.",
    ),
]
CriterionOption = Annotated[
    str | None, typer.Option(help="Of preferences, such as fluency; else the only one, else overall.")
]
GoldOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the gold, its own or a file, whose scores count.")
]
MetricOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the metric, its own or a file, whose scores count.")
]
TextsOption = Annotated[
    Path | None,
    typer.Option(
        "--test-set", metavar="PATH", help="Texts of a .seg.rating that lies elsewhere; batches of Appraise."
    ),
]

_SEGMENT_SCORES: Final = ".seg.score"


def read_scores(
    path: Path, *, weights: str | None, lp: str | None, criterion: str | None, texts: Path | None = None
) -> Scores:
    """Read a run or a file and score it.

    Raises:
        DataError: it is neither, or cannot be scored.
        UsageError: weights, lp, criterion or texts that it has no use for.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.scoring.score import score

    lp = None if lp is None else canonical_lp(lp)
    return score(read_judgements(path, lp, texts), weights=weights, lp=lp, criterion=criterion)


def read_judgements(path: Path, lp: str | None, texts: Path | None) -> Run | Sequence[Record]:
    """Read a run or a file; what is odd in it, or left out, is said on standard error.

    Args:
        path: where it is; `-` for records on standard input.
        lp: canonical language pair of a file that does not say its own.
        texts: test set that ratings without ids are about.

    Raises:
        DataError: it is neither.
        UsageError: texts that it has no use for, or none where it needs them.
    """
    from adjudge.data.convert import read_content
    from adjudge.data.formats import FORMATS, find_format
    from adjudge.data.load import detect, load
    from adjudge.data.mtme_ratings import find_test_set
    from adjudge.data.run_dir import read_run
    from adjudge.scoring.repeats import repeats_note, without_repeats

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
    known = None if texts is None else load(texts, lp)
    content = read_content(path, form, lp=lp if kind.needs_lp else None, test_set=known)
    if content.records is None:
        raise DataError("this file holds texts and no judgements; give a run or records", path=path)
    records, repeated = without_repeats(content.records)
    for what in (*(f"{count} {what}" for what, count in content.met.items()), *repeats_note(repeated)):
        print_note(f"adjudge: {path}: {what}")
    return records


def refuse_of_judgements(beside: str, **given: object) -> None:
    """Refuse options about judgements where none are read, which would go unheard.

    Args:
        beside: the options in whose company none are.
        given: values of options by their names in Python; None where one was left out.
    """
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is for judgements: leave it out with {beside}")


def takes_texts(path: Path) -> bool:
    """Whether a file is of a format that has no texts, or not all, and is read with those of a test set."""
    from adjudge.data.formats import find_format
    from adjudge.data.load import detect

    return str(path) != "-" and find_format(detect(path)).takes_texts


def texts_of(path: Path, lp: str | None, texts: Path | None) -> TestSet | None:
    """Texts that are given, else those of a run, of a file that has some, or that a score file lies in."""
    from adjudge.data.formats import find_format
    from adjudge.data.load import detect, load
    from adjudge.data.mtme_ratings import find_test_set

    if texts is not None:
        return load(texts, lp)
    if str(path) != "-" and "test set" in find_format(detect(path)).holds:
        return load(path, lp)
    return find_test_set(path)


def read_if_taken(path: Path, lp: str | None, texts: Path | None) -> Judged:
    """Read a run or a file, with the texts where its format takes them; else they say the domains alone."""
    return read_judgements(path, lp, texts if texts is not None and takes_texts(path) else None)


def domains_known(
    judged: Sequence[Judged], paths: Sequence[Path], lp: str | None, texts: Path | None
) -> dict[Place, str]:
    """Of segments: from the texts given, else from the runs, else from the test set a score file lies in.

    Args:
        judged: what was read.
        paths: where it lies.
        lp: language pair of the texts.
        texts: test set; None where none was named.
    """
    from adjudge.data.load import load
    from adjudge.data.mtme_ratings import find_test_set
    from adjudge.meta.comparing.compare import domains_of

    if texts is None and (found := {place: name for each in judged for place, name in domains_of(each)}):
        return found
    sets = map(find_test_set, paths) if texts is None else [load(texts, lp)]
    known = next((each for each in sets if each is not None), None)
    return {} if known is None else {(s.lp, s.segment): s.domain for s in known}


def read_source(path: Path, lp: str | None, texts: Path | None) -> Source:
    """Read a run or a file of any format that holds judgements, with the texts that they are about.

    Args:
        path: where it is.
        lp: keep one language pair.
        texts: test set; else that of the run, or the one that a score file lies in.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.data.load import load
    from adjudge.data.mtme_ratings import find_test_set
    from adjudge.meta.agreement.sources import source_of

    lp = None if lp is None else canonical_lp(lp)
    is_bare = takes_texts(path)
    source = source_of(str(path), read_judgements(path, lp, texts if is_bare else None), lp)
    if source.test_set is not None:
        return source
    if texts is None:
        return replace(source, test_set=find_test_set(path) if is_bare else None)
    lps = {record.lp for record in source.records}
    return replace(source, test_set=load(texts, lp=lps.pop() if len(lps) == 1 else lp))


def _read_segment_scores(path: Path, lp: str | None) -> Iterator[Annotation]:
    """Read a score file that stands outside of its test set; `None` is not judged, and not a failure."""
    from adjudge.core.annotation import Annotation
    from adjudge.data.score_files import read_score_file

    table = read_score_file(path)
    name, lp = _name_and_lp(path, lp)
    if lp is None:
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de")
    for system, values in zip(table.systems, table.values.tolist(), strict=True):
        for unit, value in zip(table.units, values, strict=True):
            if not math.isnan(value):
                yield Annotation(
                    lp=lp, segment=unit, system=system, annotator=name, protocol="metric", rating=value
                )


def _name_and_lp(path: Path, lp: str | None) -> tuple[str, str | None]:
    """Name of the scores, and their language pair: before the name, as given, or the folder's (MTME)."""
    from adjudge.core.language import canonical_lp
    from adjudge.data.score_files import AVERAGES

    stem = path.name.removesuffix(_SEGMENT_SCORES).removesuffix(AVERAGES)
    before, dot, name = stem.partition(".")
    for text, rest in ((before if dot else "", name), (lp or path.resolve().parent.name, stem)):
        try:
            return rest, canonical_lp(text)
        except UsageError:
            continue
    return stem, None
