"""Read whatever a user has: a path becomes a test set (`load`), judgements (`read_judgements`), or both.

`detect` tells the format of a path by the rows of `formats.registry`, and says of a file that is of none what
it is. `read_content` is what `adjudge convert` reads; `read_judgements` takes runs, records and data frames,
too, and finds the texts that judgements are about. `TextSettings` are the options that choose texts.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, cast

from annotated_types import Ge
from pydantic import BeforeValidator

from adjudge.core.frozen import frozen
from adjudge.core.language import coded_lp, lp_among, of_lp
from adjudge.core.record import Annotation, Preference, Record, repeats_note, without_repeats
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.core.verb import LanguagePair, Names, Option, checks_keywords, settings
from adjudge.core.wording import command, of_all
from adjudge.errors import DataError, UsageError, warn
from adjudge.formats.appraise import find_batches
from adjudge.formats.catalog import cached_path, find_public_set
from adjudge.formats.file_content import Content, respelled, warn_of_names
from adjudge.formats.mtme import find_test_set, read_bare_scores
from adjudge.formats.registry import FORMATS, Asked, Seen, claimed_by, find_format
from adjudge.formats.rows import HUB, Frame, Rows, content_of_rows, place_of, rows_in
from adjudge.formats.score_file import count_of_lines, files_beside_lines, lp_before_dot, read_plain_scores
from adjudge.formats.text import read_documents, read_files, split_names, with_documents
from adjudge.store.files import read_text
from adjudge.store.run_directory import TEST_SET, read_run, run_of


@checks_keywords
def load(
    path: Path | str | Frame | Rows,
    lp: str | None = None,
    *,
    form: str | None = None,
    documents: Path | str | None = None,
) -> TestSet:
    """Load a test set.

    Args:
        path: a folder in MTME or MENT layout, a run directory, a folder of line-aligned text, a JSONL file,
            an MQM TSV, a TSV of WMT25, XLIFF, TMX, PO, a table of texts (CSV, XLSX, Parquet), or a name of
            `adjudge list test-sets`; `hf:OWNER/NAME@REVISION`; a frame of polars, pandas or Arrow, or a
            list of dictionaries, with the columns of a table of texts.
        lp: keep this language pair only; needed where a folder has several.
        form: name of the format, as in `adjudge list formats`; found out if left out.
        documents: a file with the document of each segment, one a line, for texts that name none.

    Raises:
        DataError: nothing there can be read as a test set; says what was looked for and what was found.
        UsageError: no such name, or an lp that is not there.
    """
    if (rows := rows_in(path)) is not None:
        place: Path | str = place_of(path)
        found = content_of_rows(rows, lp, None, place).test_set
        if found is None:
            raise DataError(f"{place} holds judgements and no texts; a test set was wanted")
    else:
        place, lp = find_path(path, lp)
        kind = find_format(detect(place) if form is None else form)
        is_there = kind.texts is not None or "test set" in kind.holds
        found = kind.content(place, Asked(lp=lp), texts_only=True).test_set if is_there else None
        if found is None:
            raise DataError(f"{kind.name} holds judgements and no texts; a test set was wanted", path=place)
    return found if documents is None else with_documents(found, Path(documents))


_SAID: ContextVar[tuple[str, frozenset[Path]] | None] = ContextVar("said", default=None)


@contextmanager
def reading_as(form: str, paths: Iterable[Path | str] | Path | str) -> Iterator[None]:
    """Take a path, or several, for a format wherever they are read, in place of finding the format out."""
    if not find_format(form).reads:
        raise UsageError(f"{form} is written, not read")
    named = [paths] if isinstance(paths, Path | str) else paths
    token = _SAID.set((form, frozenset(Path(path).resolve() for path in named)))
    try:
        yield
    finally:
        _SAID.reset(token)


def detect(path: Path) -> str:
    """Name of the format of a path, as in `adjudge list formats`; `-` is standard input."""
    if (said := _SAID.get()) is not None and path.resolve() in said[1]:
        if path.is_dir() and not find_format(said[0]).claims(Seen(path)):
            raise UsageError(
                f"{path} is a folder, and not one of {said[0]}: a run, and any folder that is known, is read "
                "without --from"
            )
        return said[0]
    seen = Seen(path)
    for what, known in _REFUSED.items() if not seen.is_folder else ():
        if re.match(known, seen.head) if isinstance(known, bytes) else seen.name.endswith(known):
            raise DataError(what, path=path)
    if (found := claimed_by(seen)) is None:
        raise DataError(_stranger(seen), path=path)
    return found.name


_REFUSED: Final[Mapping[str, tuple[str, ...] | bytes]] = {
    "scores of systems, domains or documents, which are known and not read here: give the .seg.score or "
    ".seg.rating beside it": (".sys.score", ".domain.score", ".doc.score"),
    "an archive: unpack it first": (".tgz", ".tar", ".zip"),
    "a zip archive that is no workbook, such as a document of Word: save its texts as XLSX or CSV, or unpack "
    "it": rb"(?s)PK\x03\x04(?!.*?\bxl/)",
    "an Office document of the old kind, or with a password: save it as XLSX without": rb"\xd0\xcf\x11\xe0",
    "a PDF, which is not read: write its texts to a CSV with a column 'source'": rb"%PDF-",
    "a page of HTML, which is not read: if a server sent it in place of a file, fetch the file again": (
        rb"(?i)(?:<[?!][^>]*>\s*)*<html\b|<!doctype html"
    ),
    "UTF-16, and UTF-8 is read: `iconv -f UTF-16 -t UTF-8 FILE` converts it": (
        rb"\xff\xfe(?!<)|\xfe\xff(?!\0<)|(?:[^\0<]\0){2}|(?:\0[^\0<]){2}"
    ),
    "YAML, which is not read: write JSON lines": (".yaml", ".yml"),
    "an empty list, with nothing to read": rb"\[\s*\]",
    "subtitles (SRT), which are not read: write their lines to a CSV with a column 'source'": (
        rb"\d+\s*\n[\d:,.]+ *-->"
    ),
    "subtitles (WebVTT), which are not read: write their lines to a CSV with a column 'source'": rb"WEBVTT\b",
    "strings of Android (XML), which are not read: convert them to XLIFF or PO": (
        rb"(?:<[?!][^>]*>\s*)*<resources\b"
    ),
}
"""Files that are known and not read: what to say of them, and how their names end or how they begin."""


def _damage(seen: Seen) -> str | None:
    """Say where a file of no known format stops being text, or JSON; None where it does not."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(seen.head)
    except UnicodeDecodeError as error:
        return (
            "no text, and no other format that is known: byte "
            f"0x{seen.head[error.start]:02X} near its start is not UTF-8"
        )
    if seen.head[:1] not in {b"{", b"["}:
        return None
    try:
        json.loads(read_text(seen.path))
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):  # lines, each a value
            return (
                f"JSON that is cut off or damaged: {error.msg} at line {error.lineno}, column {error.colno}"
            )
    return None


def _stranger(seen: Seen) -> str:
    path = seen.path
    if not seen.is_folder:
        if not seen.head:
            return "the file is empty"
        if (damage := _damage(seen)) is not None:
            return damage
        keys = ", ".join(sorted(seen.keys[0])[:5])
        found = f"JSON with the keys {keys}" if keys else f"a file that begins with {seen.first[:40]!r}"
        return (
            f"no known format: {found}; `adjudge list formats` says what is read, --from NAME which of it "
            "this is; line-aligned files are given with -s and -t"
        )
    if (path / "campaign.json").is_file():
        export = f"`{command('campaign', 'export', path, 'FILE.jsonl')}` writes what is read here"
        return f"a campaign in its folder: {export}"
    entries = sorted(entry.name for entry in path.iterdir())
    if len(beside := files_beside_lines(path)) < sum(not name.startswith(".") for name in entries):
        return (
            "a folder of scores, one number a line, holds nothing else: take "
            f"{', '.join(beside[:5])} out of it, or name the files of scores"
        )
    found = ", ".join(entries[:5]) + (", ..." if len(entries) > 5 else "") if entries else "an empty folder"
    looked = ", ".join(f"{form.files[0]} ({form.name})" for form in FORMATS if form.reads and form.files)
    runs = [str(path / name) for name in entries if (path / name / "run.json").is_file()]
    return (
        f"a folder of runs; name a run: {', '.join(runs[:3])}{', ...' if len(runs) > 3 else ''}"
        if runs
        else f"no known format: looked for {looked} and {TEST_SET}; found {found}"
    )


def find_path(path: object, lp: str | None = None) -> tuple[Path, str | None]:
    """Where something lies: the path itself, or the place in the cache that a public name stands for."""
    if not isinstance(path, os.PathLike | str):
        raise UsageError(
            f"a path, the name of a public test set, a data frame or a list of dictionaries was wanted, got "
            f"{'an empty list' if isinstance(path, list) and not path else type(path).__name__}"
        )
    path, lp = Path(path), None if lp is None else coded_lp(lp)
    if path.exists() or str(path) == "-":
        return path, lp
    entry = find_public_set(str(path))
    cached = cached_path(entry)
    if not cached.exists():
        raise DataError(
            f"{entry.name} is public but not here yet: `{command('fetch', entry.name)}` downloads it "
            f"({entry.size}); looked for",
            path=cached,
        )
    return cached, entry.lps[0] if lp is None and len(entry.lps) == 1 else lp


def load_lines(
    source: Path | str, translations: Iterable[str], references: Iterable[str], lp: str | None
) -> TestSet:
    """Load line-aligned files."""
    if lp is None:
        raise UsageError("line-aligned files do not say their language pair: add --lp, such as --lp en-de")
    systems, refs = split_names(translations, "translation"), split_names(references, "reference")
    files = [Path(source), *systems.values(), *refs.values()]
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("only one file can come from standard input")
    if missing := [file for file in files if str(file) != "-" and not file.exists()]:
        raise UsageError(f"no file {str(missing[0])!r}")
    (name,) = split_names([str(source)], "source")
    return read_files(Path(source), systems, refs, lp, name)


OneOrMore = Annotated[Sequence[str], BeforeValidator(lambda it: (it,) if isinstance(it, str) else it)]
"""Texts; one alone stands for itself."""


@settings
class TextSettings:
    """Which texts: a test set or line-aligned files, and what is chosen of them."""

    lp: LanguagePair = None
    systems: Annotated[Names | None, Option(help="Use only these systems, separated by commas.")] = None
    limit: Annotated[int | None, Ge(1), Option(help="Use only the first N segments of each pair.")] = None
    source: Annotated[Path | str | None, Option(help="Source, one segment a line.", short="s", kind=Path)] = (
        None
    )
    translation: Annotated[
        OneOrMore | None,
        Option(
            help="Output of one system, one segment a line; repeat for more.",
            short="t",
            metavar="[NAME=]FILE",
            repeats=True,
        ),
    ] = None
    reference_file: Annotated[
        OneOrMore | None,
        Option(
            help="Reference, one segment a line; repeat for more.",
            short="r",
            metavar="[NAME=]FILE",
            repeats=True,
        ),
    ] = None
    documents: Annotated[
        Path | str | None, Option(help="File with the document name of each line.", kind=Path, metavar="FILE")
    ] = None

    def load(self, test_set: TestSet | Path | str | None) -> TestSet:
        """Load the test set, and keep what was chosen of it.

        `test_set`: a loaded one, a path or a name; None with `source`.
        """
        if test_set is None:
            found = self._load_lines()
        elif self.source is not None or self.translation or self.reference_file:
            raise UsageError(
                "give either a test set or source, translation and reference_file; not both"
                if isinstance(test_set, TestSet)
                else f"give either the test set {str(test_set)!r} or files with -s, -t and -r; not both"
            )
        elif isinstance(test_set, TestSet):
            found = test_set.select(lp=self.lp)
        else:
            found = load(test_set, lp=self.lp)
        if self.documents is not None:
            found = with_documents(found, Path(self.documents))
        return found.select(systems=self.systems, limit=self.limit)

    def _load_lines(self) -> TestSet:
        translations, references = self.translation or (), self.reference_file or ()
        if self.source is not None:
            return load_lines(self.source, translations, references, self.lp)
        if others := (*translations, *references):
            raise UsageError(f"-t and -r need the source that {others[0]!r} belongs to: add -s FILE")
        raise UsageError("give a TEST_SET, or line-aligned files with -s and -t")


def read_content(
    path: Path | str,
    form: str | None = None,
    *,
    lp: str | None = None,
    test_set: TestSet | None = None,
    protocol: str = "metric",
    as_campaign: bool = False,
) -> Content[Record]:
    """Read a file or a folder."""
    if (rows := rows_in(path)) is not None:
        content = content_of_rows(rows, lp, test_set, place_of(path))
    else:
        place, lp = find_path(path, lp)
        kind = find_format(detect(place) if form is None else form)
        texts = test_set
        if texts is not None:
            texts = _of_one_lp(place, texts, lp) if kind.name in _LINES else texts.select(lp=lp)
        asked = Asked(lp=lp, texts=texts, protocol=protocol, as_campaign=as_campaign)
        content = kind.content(place, asked)
    _refuse_other_texts(str(path), content.records, test_set)
    return content


_LINES: Final = frozenset({"mtme-ratings", "mtme-scores"})
"""Formats whose lines are those of a whole test set, of one language pair."""


@frozen
class Judgements:
    """Judgements as they were read, whoever made them."""

    # path of the file or run as it was given; what was in memory has the name of its annotator, or is called
    # "records"
    name: str
    records: tuple[Record, ...]  # every judgement, failures among them
    test_set: TestSet | None = None  # the texts that they are about; None where they are not known
    # whether these texts are another input's, with which a file without its own was read
    is_lent: bool = False
    run: Run | None = None  # the run that they are of; None for anything else
    form: str = ""  # name of the format, as in `adjudge list formats`; empty for what was in memory
    # name of the weights of the run's marked errors; None for the default of the protocol
    weights: str | None = None
    notes: tuple[str, ...] = ()  # what was odd in the file or left out of it
    is_unnamed: bool = False
    # other judgements of the same texts that were read with these, such as gold
    beside: tuple[Record, ...] = ()

    @property
    def has_scores(self) -> bool:
        """Whether translations were judged, and not pairs of them."""
        return any(isinstance(record, Annotation) for record in self.records)

    @property
    def annotators(self) -> tuple[str, ...]:
        """Who judged, or was asked to, in order of first appearance."""
        return tuple(dict.fromkeys(record.annotator for record in self.records))

    @property
    def domains(self) -> Mapping[tuple[str, str], str]:
        """Language pair and id of each segment to its domain; empty where the texts are not known."""
        return {} if self.test_set is None else {(s.lp, s.segment): s.domain for s in self.test_set}

    def warn(self) -> Judgements:
        """Warn of the notes with a `DataWarning` each, for results that have no notes of their own."""
        for note in self.notes:
            warn(f"{self.name}: {note}")
        return self

    def with_records(self, records: Iterable[Record]) -> Judgements:
        """Return the same with other records, in the run too."""
        kept = tuple(records)
        run = None if self.run is None else replace(self.run, records=kept)
        return replace(self, records=kept, run=run)

    def spelled(self, lps: Mapping[str, str]) -> Judgements:
        """Return the same with language pairs in another spelling, in the run and its texts too."""
        if not lps:
            return self
        texts = self.test_set and replace(self.test_set, segments=respelled(self.test_set.segments, lps))
        run = self.run and replace(self.run, test_set=texts or self.run.test_set)
        return replace(self, test_set=texts, run=run).with_records(respelled(self.records, lps))

    def of_one_kind(self, lp: str | None) -> Judgements:
        """Keep one language pair, and the first of repeated judgements."""
        if not self.records:
            raise DataError(f"{self.name} has no records")
        kept, _ = without_repeats(of_lp(self.records, lp, self.name))
        if {Annotation, Preference} <= {type(r) for r in kept}:
            raise DataError(f"{self.name} holds preferences and annotations; give them as two files")
        return replace(self, records=tuple(kept))


Texts = TestSet | Frame | Rows | Path | str | None
"""Texts that judgements are about, or their path; None for those that the judgements bring."""

Given = Judgements | Run | Iterable[Record | Mapping[str, Any] | Path | str] | Frame | Path | str
"""What judgements are read from."""


def read_judgements(
    source: Given,
    lp: str | None = None,
    texts: Texts = None,
    *,
    beside: TestSet | None = None,
    needed: bool = True,
    documents: Path | str | None = None,
) -> Judgements:
    if documents is not None:
        read = read_judgements(source, lp, texts, beside=beside, needed=needed)
        return _with_documents(read, source, Path(documents))
    if isinstance(source, Judgements):
        return source
    lp = None if lp is None else coded_lp(lp)
    if not isinstance(source, Path | str) or str(source).startswith(HUB):
        return _of_object(source, lp, texts, beside, needed=needed)
    path, lp = find_path(source, lp)
    form = detect(path)
    kind = find_format(form)
    if texts is not None and needed and not kind.takes_texts:
        takers = ", ".join(sorted(each.name for each in FORMATS if each.takes_texts))
        raise UsageError(f"--test-set is for {takers}, and {path} is {form}")
    if form == "run":
        return _of_run(read_run(path), str(source))
    if not kind.has_records:
        what = f"{form} holds texts and no judgements"
        if not path.is_dir() and str(path) != "-":
            if not Seen(path).head:
                what = (
                    "the file is empty"
                    if not path.stat().st_size
                    else "the file holds blanks and empty lines only"
                )
            else:
                with suppress(UsageError):  # a language pair that nobody said: it is a file of texts
                    what = what if len(load(path, lp)) else _HEADING_ONLY
        raise DataError(f"{what}; give a run or records", path=path)
    known = _loaded(texts, lp)
    found = known or _lying_near(path, form)
    own = (found or beside) if kind.takes_texts else None
    if own is not None and form in _LINES:
        own = _of_one_lp(path, own, lp)
    if form == "mtme-scores" and own is None:
        return Judgements(name=str(source), records=tuple(read_bare_scores(path, lp)), form=form)
    lp = lp if kind.needs_lp or path.is_dir() else None
    content = kind.content(path, Asked(lp=lp, texts=own and own.select(lp=lp)))
    return replace(
        _of_content(str(source), form, content, known, path), is_lent=own is not None and found is None
    )


_HEADING_ONLY: Final = "the file holds a heading and no row below it"


def _of_files(files: Sequence[Path], lp: str | None, texts: TestSet | None) -> Judgements:
    for file in files:
        if (form := detect(file)) != "score-lines" or file.is_dir():
            raise UsageError(
                f"files with one number a line are read together; {file} is {form}: give it alone"
            )
    found = read_plain_scores(files[0], "score-lines", lp, texts, files=files)
    return _of_content(", ".join(map(str, files)), "score-lines", found, texts, files[0])


def _with_documents(judgements: Judgements, source: Given, file: Path) -> Judgements:
    if judgements.form != "score-lines" or isinstance(source, Judgements):
        raise UsageError(
            f"--documents is for files with a number a line, and {judgements.name} is none: leave it out"
        )
    if judgements.test_set is not None:
        texts = with_documents(judgements.test_set, file)
        places = {segment.segment: segment.document for segment in texts}
    else:
        first = source[0] if isinstance(source, list | tuple) else source
        texts, names = None, read_documents(file, count_of_lines(Path(str(first))))
        places = {str(number): name for number, name in enumerate(names, start=1)}
    records = (replace(record, document=places[record.segment]) for record in judgements.records)
    return replace(judgements, records=tuple(records), test_set=texts)


def _of_object(
    source: Any,  # noqa: ANN401 (a frame's type is its library's)
    lp: str | None,
    texts: Texts,
    beside: TestSet | None,
    *,
    needed: bool,
) -> Judgements:
    if isinstance(source, list | tuple) and source and all(isinstance(each, Path | str) for each in source):
        return _of_files([Path(each) for each in source], lp, _loaded(texts, lp))
    if texts is not None and needed:
        raise UsageError("test_set is for the path of ratings without ids: leave it out with what was read")
    texts = _loaded(texts, lp)
    if isinstance(source, Run):
        return _of_run(source, source.info.annotator)
    if (rows := rows_in(source)) is None:
        records = tuple(source) if isinstance(source, Iterable) else (source,)
        if strange := [each for each in records if not isinstance(each, Record)]:
            raise UsageError(
                f"judgements are wanted: a run, records, a data frame or a path; got {type(source).__name__} "
                f"with {strange[0]!r:.40}"
            )
        warn_of_names("the records", texts, records)
        _refuse_other_texts("the records", records, texts)
        return Judgements(name="records", records=records, test_set=texts)
    place = place_of(source)
    content = content_of_rows(rows, lp, texts or beside, place)
    return replace(_of_content(place, "", content, texts, place), is_lent=texts is None)


def _of_run(run: Run, name: str) -> Judgements:
    warn_of_names(name, run.test_set, run.records)
    _refuse_other_texts(name, run.records, run.test_set)
    return Judgements(
        name=name, records=run.records, test_set=run.test_set, run=run, form="run", weights=run.info.weights
    )


def _of_content(
    name: str, form: str, content: Content[Any], texts: TestSet | None, path: Path | str
) -> Judgements:
    if not content.records and content.test_set is not None:
        what = "this holds texts and no judgements" if len(content.test_set) else _HEADING_ONLY
        raise DataError(f"{what}; give a run or records", path=path)
    metrics = list(dict.fromkeys(record.annotator for record in content.records))
    if content.is_of_metrics and len(metrics) > 1:
        raise DataError(
            f"scores of {len(metrics)} metrics ({', '.join(metrics[:5])}), whose mean says nothing; "
            f"`{command('convert', 'FILE', 'OUT', '--annotator', metrics[0], '--to', 'records')}` keeps one",
            path=path,
        )
    records, repeated = without_repeats(content.records)
    _refuse_other_texts(name, records, texts)
    return Judgements(
        name=name,
        records=tuple(records),
        test_set=content.test_set or texts,
        form=form,
        notes=(*content.notes, *repeats_note(repeated)),
        is_unnamed=content.is_unnamed,
    )


def _refuse_other_texts(name: str, records: Sequence[Record], texts: TestSet | None) -> None:
    segments = {(segment.lp, segment.segment): segment for segment in texts or ()}
    told = [
        (r, r.digests, segments[key]) for r in records if r.digests and (key := (r.lp, r.segment)) in segments
    ]
    other = [r for r, digests, segment in told if not digests.fits(segment, r.systems)]
    if texts is not None and other:
        first = f"the first is segment {other[0].segment!r} of {other[0].lp}"
        raise UsageError(
            f"{texts.name} has other texts than {of_all(len(other), len(told), 'judgement')} of {name}: "
            f"{first}. Give the texts that were judged"
        )


def sources_of(given: Given | Sequence[Given]) -> Sequence[Given]:
    """What judgements are read from, where one or several are given: a list of records or rows is one."""
    is_many = isinstance(given, list | tuple) and not any(
        isinstance(each, Record | Mapping) for each in given
    )
    return cast("Sequence[Given]", given if is_many else [given])


def is_same_source(first: Any, second: Any) -> bool:  # noqa: ANN401 (any source)
    """Whether two sources are one object, or one run or file however each path is spelled."""
    return _identity(first) == _identity(second)


def _identity(source: Any) -> object:  # noqa: ANN401 (any source)
    if not isinstance(source, Path | str):
        return id(source)
    real = Path(source).resolve()
    return run_of(real) or real


def refuse_twice(given: Iterable[Any]) -> None:
    """Refuse a source that is given twice: it would count as two, and agree with itself."""
    seen: dict[object, str] = {}
    for each in given:
        name = str(each) if isinstance(each, Path | str) else f"one {type(each).__name__}"
        if (first := seen.get(key := _identity(each))) is not None:
            told = f"{name} is given twice" if first == name else f"{first} and {name} are one"
            raise UsageError(f"{told}: give each run and each file once")
        seen[key] = name


def _loaded(texts: Texts, lp: str | None) -> TestSet | None:
    return texts if texts is None or isinstance(texts, TestSet) else load(texts, lp)


def _lying_near(path: Path, form: str) -> TestSet | None:
    if form == "appraise":
        return find_batches(path)
    return find_test_set(path) if form in _LINES else None


def _of_one_lp(path: Path, texts: TestSet, lp: str | None) -> TestSet:
    chosen = lp_before_dot(path) or lp
    with suppress(UsageError):  # a folder may be called as nothing that is there
        chosen = chosen or lp_among(path.resolve().parent.name, texts.lps, path)
    if chosen is None and len(texts.lps) > 1:
        raise UsageError(f"{path} does not name its language pair, one of {', '.join(texts.lps)}: add --lp")
    return texts if chosen is None else texts.select(lp=chosen)
