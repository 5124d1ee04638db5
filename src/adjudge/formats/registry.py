"""Every format that is read or written: a row each, the most specific first.

A row says how a file or a folder of the format is known, how its texts and judgements are read, how they are
written, and what it can hold. `adjudge list formats`, the page about formats and the errors are made of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import RunInfo
from adjudge.core.segment import Digests, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import (
    batches_test_set,
    find_batch_file,
    find_batches,
    names_items,
    read_appraise_records,
    read_batches,
    write_batches,
)
from adjudge.formats.appraise_campaign import (
    appraise_batches_of,
    batches_beside,
    read_appraise_submissions,
    write_appraise_submissions,
)
from adjudge.formats.campaign_export import (
    CampaignFile,
    campaign_test_set,
    read_campaign_file,
    select_lp,
    write_campaign_file,
)
from adjudge.formats.file_content import Content, as_read, content_of
from adjudge.formats.fire_mt import is_fire_folder, read_fire
from adjudge.formats.ment import (
    is_ment_folder,
    read_ment_file,
    read_ment_folder,
    read_ment_ratings,
    write_ment_folder,
)
from adjudge.formats.mqm_tsv import is_mqm_heading, read_mqm_tsv, write_mqm_tsv
from adjudge.formats.mtme import (
    find_test_set,
    is_mtme_folder,
    read_mtme,
    read_ratings,
    read_score_records,
    write_mtme,
    write_ratings,
    write_score_records,
)
from adjudge.formats.pearmut import (
    pearmut_test_set,
    read_pearmut,
    read_pearmut_submissions,
    write_pearmut_submissions,
)
from adjudge.formats.rows import read_parquet, write_parquet
from adjudge.formats.score_file import AVERAGES, is_lines_folder, is_number, is_score_table, read_plain_scores
from adjudge.formats.spreadsheet import write_judgements, write_spreadsheet
from adjudge.formats.tabular import is_csv_of_texts, read_csv_texts, read_po, read_tmx, read_xlsx
from adjudge.formats.text import is_text_folder, read_text_folder, write_text_folder
from adjudge.formats.wmt import (
    is_challenge_folder,
    is_score_folder,
    is_system_folder,
    read_challenge_set,
    read_wmt25,
    read_wmt25_jsonl,
    read_wmt26,
    read_wmt_scores,
    read_wmt_systems,
    write_wmt25,
    write_wmt26,
)
from adjudge.formats.xliff import read_judged_xliff, read_xliff, write_xliff
from adjudge.formats.xml_text import check_type, root_name
from adjudge.store.files import find_files, inside, read_head, uncollected
from adjudge.store.json_lines import read_test_set, write_records, write_test_set
from adjudge.store.run_directory import INFO, TEST_SET, read_records, read_run, read_run_info, run_of

_HEAD: Final = 1 << 20  # bytes of a file that tell what it is
_TOKEN: Final = re.compile(rb'"(?P<text>(?:[^"\\]|\\.)*+)(?:"(?P<key>\s*+:)?|\Z)|[{}\[\]]', re.DOTALL)


class Seen:
    """A file or a folder as the rows look at it: its name, and how it begins.

    `head` has the first bytes of a file, less a byte-order mark and empty lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name.removesuffix(".gz")
        self.is_folder = path.is_dir()
        self.head = b"" if self.is_folder else read_head(path, _HEAD).lstrip(b"\xef\xbb\xbf\r\n ")

    @cached_property
    def first(self) -> str:
        return self.head.partition(b"\n")[0].decode(errors="replace")

    @cached_property
    def keys(self) -> tuple[set[str], set[str]]:
        """The keys of the first JSON value of a file: of its outermost objects, and of those in them."""
        found: tuple[set[str], set[str]] = set(), set()
        objects = lists = 0
        for token in _TOKEN.finditer(self.head) if self.head[:1] in {b"{", b"["} else ():
            mark = token[0]
            if token["key"] is not None and 0 < objects <= len(found):
                found[objects - 1].add(token["text"].decode(errors="replace"))
            objects += (mark == b"{") - (mark == b"}")
            lists += (mark == b"[") - (mark == b"]")
            if objects == lists == 0:
                break
        return found

    @cached_property
    def root(self) -> str | None:
        """Name of the outermost element, where the file is XML."""
        check_type(self.head, self.path)
        return root_name(self.head)


@frozen
class Asked:
    """What is wanted of a file."""

    lp: str | None = None  # this language pair only, or that of a file which does not say its own
    texts: TestSet | None = None  # what its judgements are about, where they were given
    protocol: str = "metric"  # of ratings that do not name theirs
    as_campaign: bool = False  # whether who judged what when is wanted besides the judgements


def _write_nothing(path: Path, _: Content[Record]) -> Counter[str]:
    raise UsageError(f"{path}: this format is read, not written")


@frozen
class Format:
    """One format."""

    name: str  # the word on the command line
    title: str
    holds: str  # a test set, records, both, or one or the other
    folder: Callable[[Path], object] | None = None  # tells whether a folder is of this format
    # endings of the names of its files; this, or one of the next five, is enough to know a file
    named: tuple[str, ...] = ()
    starts: bytes = b""  # pattern that its files begin with
    # keys that the first JSON object of a file has, with spaces between; each text is one way
    keys: tuple[str, ...] = ()
    # keys that an object right in the first one has, written in the same way
    inner_keys: tuple[str, ...] = ()
    holds_text: bytes = b""  # what a file that is known by its keys must hold, too
    root: str = ""  # name of the outermost element of a file of XML
    text: Callable[[Seen], bool] | None = None  # tells whether a file that is no JSON is of this format
    texts: Callable[[Path, str | None], TestSet] | None = None
    # reads texts and judgements, where it holds more than a test set
    read: Callable[[Path, Asked], Content[Record]] | None = None
    # writes a file or a new folder, and counts what the format cannot hold
    write: Callable[[Path, Content[Record]], Counter[str]] = field(default=_write_nothing)
    files: tuple[str, ...] = ()  # entries of its folder, the telling one first; empty where it is one file
    takes_texts: bool = False  # whether it has no texts, or not all, and is read with those of a test set
    needs_lp: bool = False  # whether a file of it does not say its language pair
    is_campaign: bool = False  # whether it says who judged what when, and not the judgements alone
    is_for_people: bool = False  # whether it is a table to look at, of a campaign or of judgements alone
    # whether it is written as the file that its texts came from, with judgements in it
    is_marked_up: bool = False

    @property
    def has_records(self) -> bool:
        return "records" in self.holds

    @property
    def reads(self) -> bool:
        return self.read is not None or self.texts is not None

    @property
    def writes(self) -> bool:
        return self.write is not _write_nothing

    def claims(self, seen: Seen) -> bool:
        """Whether a file or a folder is of this format, if it is of none above."""
        if seen.is_folder:
            return self.folder is not None and bool(self.folder(seen.path))
        if seen.name.endswith(self.named) or (self.starts and re.match(self.starts, seen.head)):
            return True
        for wanted, known in zip((self.keys, self.inner_keys), seen.keys, strict=True):
            for way in wanted:
                if known.issuperset(way.split()) and self.holds_text in seen.head:
                    return True
        if seen.keys[0]:
            return False
        return bool(self.root and self.root == seen.root) or (self.text is not None and self.text(seen))

    @uncollected()
    def content(self, path: Path, asked: Asked, *, texts_only: bool = False) -> Content[Record]:
        """Read all of a file or a folder, or its texts only where they can be read alone."""
        if not self.reads:
            raise UsageError(f"{self.name} is written, not read")
        try:
            found: Content[Record] = Content()
            if self.texts is not None and (texts_only or self.read is None):
                found = Content(test_set=self.texts(path, asked.lp))
            elif self.read is not None:
                found = self.read(path, asked)
            texts = asked.texts if found.test_set is None else found.test_set
            return as_read(replace(found, test_set=texts), asked.lp, path)
        except UsageError as error:
            if str(path) in str(error):
                raise
            raise UsageError(f"{path}: {error}") from error
        except DataError as error:
            if error.path is not None or str(path) in error.message:
                raise
            raise DataError(error.message, path=path, line=error.line) from error


def _about(texts: TestSet | None, content: Content[Record]) -> Content[Record]:
    if texts is None or content.test_set is None:
        return replace(content, test_set=texts or content.test_set)
    own = {(segment.lp, segment.segment): segment for segment in content.test_set}
    records = [
        record
        if record.digests or (segment := own.get((record.lp, record.segment))) is None
        else replace(record, digests=Digests.of(segment, record.systems))
        for record in content.records
    ]
    return replace(content, test_set=texts, records=tuple(records))


def _read_run(path: Path) -> Content[Record]:
    run, origin = read_run(path), None
    if isinstance(name := run.info.test_set.get("origin"), str) and (path / name).is_file():
        form = claimed_by(Seen(path / name))
        origin = path / name if form is not None and form.is_marked_up else None
    records = _with_weights(run.records, run.info)
    return Content(test_set=run.test_set, records=records, origin=origin)


def _with_weights(records: Sequence[Record], info: RunInfo) -> Sequence[Record]:
    """Have every annotation of a run name the weights of its judge, which a file of them would lose."""
    if info.weights is None:
        return records
    return [replace(r, weights=info.weights) if isinstance(r, Annotation) else r for r in records]


def _read_records(path: Path) -> Content[Record]:
    records, run = read_records(path), run_of(path)
    return Content(records=_with_weights(records, read_run_info(run)) if run else records)


def _read_lines(
    read: Callable[[Path, TestSet, str], Content[Record]],
) -> Callable[[Path, Asked], Content[Record]]:
    def read_with_texts(path: Path, asked: Asked) -> Content[Record]:
        if (texts := asked.texts or find_test_set(path)) is None:
            raise UsageError(f"{path} has lines without ids: say what they are about with --test-set")
        return replace(read(path, texts, asked.protocol), test_set=texts)

    return read_with_texts


def _read_appraise(path: Path, asked: Asked) -> Content[Record]:
    if asked.as_campaign:
        if (batches := find_batch_file(path)) is None:
            raise UsageError(
                f"a campaign is read from {path} and the only batches*.json beside it: put it there"
            )
        file, met = read_appraise_submissions(path, read_batches(batches))
        content = _of_campaign(file, asked)
        return replace(content, met=met + content.met)
    texts = asked.texts
    test_set = texts if texts is not None and names_items(texts) else find_batches(path) or texts
    if test_set is None:
        raise UsageError(
            f"{path} says item numbers and no texts: give the campaign's batches with --test-set BATCHES.json"
        )
    return replace(read_appraise_records(path, test_set), test_set=test_set)


def _of_campaign(file: CampaignFile, asked: Asked) -> Content[Record]:
    return content_of(select_lp(file, asked.lp))


def _write_texts(write: Callable[..., Counter[str] | None]) -> Callable[..., Counter[str]]:
    return lambda path, content: (
        +(Counter(judgements=len(content.records)) + (write(path, content.test_set) or Counter()))
    )


def _write_both(write: Callable[..., Counter[str]]) -> Callable[..., Counter[str]]:
    return lambda path, content: write(path, content.records, content.test_set)


def _write_records(path: Path, content: Content[Record]) -> Counter[str]:
    write_records(path, content.records, content.test_set or ())
    return Counter() if content.test_set is None else Counter(texts=len(content.test_set))


def _write_campaign(write: Callable[..., Counter[str] | None]) -> Callable[..., Counter[str]]:
    return lambda path, content: write(path, content.campaign) or Counter()


def _write_appraise(path: Path, file: CampaignFile) -> Counter[str]:
    left_out = write_appraise_submissions(path, file)
    if (beside := batches_beside(path, file)) is not None:
        write_batches(beside, appraise_batches_of(file))
    return left_out


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="run",
        title="run directory",
        holds="test set, records",
        folder=lambda path: (path / INFO).is_file(),
        texts=lambda path, _: read_run(path).test_set,
        read=lambda path, _: _read_run(path),
        files=(INFO,),
    ),
    Format(
        name="ment",
        title="folder of MENT, as in RATE's repository: lines are JSON; its sys.score files are sums",
        holds="test set",
        folder=lambda path: is_mtme_folder(path) and is_ment_folder(path),
        texts=read_ment_folder,
        write=_write_texts(write_ment_folder),
        files=("sources", "references", "system-outputs"),
    ),
    Format(
        name="mtme",
        title="folder of mt-metrics-eval v2; scores and spans are mtme-scores and mtme-ratings",
        holds="test set",
        folder=lambda path: is_mtme_folder(path) and not is_ment_folder(path),
        texts=read_mtme,
        write=_write_texts(write_mtme),
        files=("sources", "documents", "references", "system-outputs"),
    ),
    Format(
        name="text",
        title="folder of line-aligned text: source.txt, translations/, references/",
        holds="test set",
        folder=is_text_folder,
        texts=read_text_folder,
        write=_write_texts(write_text_folder),
        files=("source.txt", "translations", "references"),
    ),
    Format(
        name="fire-mt",
        title="FiRE's benchmark (LP-annotation.json, or the folder annotation): pairs and their majorities",
        holds="test set, records",
        folder=is_fire_folder,
        keys=("src trans1 trans2",),
        read=lambda path, asked: read_fire(path, asked.lp),
        files=("LP/LP-annotation.json",),
    ),
    Format(
        name="wmt-challenge",
        title="folder with a challenge set of WMT25 (SET.LP.src.txt, .ref.txt, .hyp-N.txt, .meta.txt)",
        holds="test set",
        folder=is_challenge_folder,
        texts=lambda path, _: read_challenge_set(path),
        files=("SET.LP.src.txt",),
    ),
    Format(
        name="wmt-scores",
        title="WMT25's scores: TSV with `overall`, or JSONL with `metric_scores` (file or folder)",
        holds="records",
        folder=is_score_folder,
        starts=rb"doc_id\tsegment_id\t(?![^\n]*source_segment)[^\n]*overall",
        keys=("document_id metric_scores",),
        read=lambda path, _: read_wmt_scores(path),
    ),
    Format(
        name="wmt-systems",
        title="documents of WMT25's and WMT26's systems (JSONL, file or folder) beside their sources",
        holds="test set",
        folder=is_system_folder,
        keys=("doc_id hypothesis",),
        read=lambda path, _: read_wmt_systems(path),
    ),
    Format(
        name="mtme-ratings",
        title="error spans of mt-metrics-eval (LP.NAME.seg.rating)",
        holds="records",
        named=(".seg.rating",),
        read=_read_lines(lambda path, texts, _: read_ratings(path, texts)),
        write=_write_both(write_ratings),
        takes_texts=True,
    ),
    Format(
        name="mtme-scores",
        title="segment ratings of mt-metrics-eval (LP.NAME.seg.score); read, too: NAME.avg_seg_scores.tsv",
        holds="records",
        named=(".seg.score", AVERAGES),
        read=_read_lines(
            lambda path, texts, protocol: Content(records=read_score_records(path, texts, protocol))
        ),
        write=_write_both(write_score_records),
        takes_texts=True,
    ),
    Format(
        name="mqm-tsv",
        title="MQM TSV of WMT, any year: what was judged, and its errors; opens in Marot",
        holds="test set, records",
        text=lambda seen: is_mqm_heading(seen.first),
        texts=lambda path, lp: read_mqm_tsv(path, lp).test_set,
        read=lambda path, asked: _about(asked.texts, read_mqm_tsv(path, asked.lp, asked.texts)),
        write=_write_both(write_mqm_tsv),
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="wmt25",
        title="WMT25's table of texts and marked errors (TSV); predictions of its second task",
        holds="test set, records",
        starts=rb"doc_id\tsegment_id\t",
        read=lambda path, asked: _about(asked.texts, read_wmt25(path)),
        write=_write_both(write_wmt25),
    ),
    Format(
        name="wmt25-jsonl",
        title="WMT25's general task with what people said (JSONL)",
        holds="test set, records",
        keys=("doc_id src_text tgt_text",),
        read=lambda path, _: read_wmt25_jsonl(path),
    ),
    Format(
        name="ment-jsonl",
        title="MENT as on the hub: ratings from 0 to 4",
        holds="test set, records",
        keys=("src_lang trans_lang",),
        texts=lambda path, _: read_ment_file(path),
        read=lambda path, _: Content(test_set=read_ment_file(path), records=read_ment_ratings(path)),
        needs_lp=True,
    ),
    Format(
        name="campaign",
        title="our export of a campaign: who judged what when, a submission a line",
        holds="test set, records",
        keys=("schema",),
        holds_text=b'"adjudge-campaign/',
        texts=lambda path, _: campaign_test_set(read_campaign_file(path)),
        read=lambda path, asked: _of_campaign(read_campaign_file(path), asked),
        write=_write_campaign(write_campaign_file),
        is_campaign=True,
    ),
    Format(
        name="appraise",
        title="Appraise's export of a campaign (CSV), with its batches beside it or in --test-set",
        holds="records",
        starts=rb'[^,"]+,[^,]+,[0-9]+,(?:TGT|BAD),',
        read=_read_appraise,
        write=_write_campaign(_write_appraise),
        takes_texts=True,
        is_campaign=True,
    ),
    Format(
        name="appraise-batches",
        title="Appraise's batches (JSON), which start a campaign; written beside appraise",
        holds="test set",
        keys=("items task",),
        texts=lambda path, _: batches_test_set(read_batches(path), path.stem),
    ),
    Format(
        name="pearmut-campaign",
        title="Pearmut's campaign (JSON), which starts it",
        holds="test set",
        keys=("campaign_id data info",),
        texts=lambda path, lp: pearmut_test_set(read_pearmut(path), lp),
    ),
    Format(
        name="pearmut",
        title="Pearmut's annotations (JSONL of a campaign, or annotations.json of several)",
        holds="test set, records",
        keys=("annotation item",),
        inner_keys=("annotation item",),
        read=lambda path, asked: _of_campaign(read_pearmut_submissions(path, asked.lp), asked),
        texts=lambda path, lp: campaign_test_set(read_pearmut_submissions(path, lp)),
        write=_write_campaign(write_pearmut_submissions),
        needs_lp=True,
        is_campaign=True,
    ),
    Format(
        name="wmt26",
        title="WMT26's evaluation task: mteval-test26.jsonl, or predictions for it",
        holds="test set, records",
        keys=("item_id",),
        holds_text=b"_###_",
        read=lambda path, _: read_wmt26(path),
    ),
    Format(
        name="wmt26-task1",
        title="predictions of errors for WMT26",
        holds="records",
        write=_write_both(partial(write_wmt26, task=1)),
    ),
    Format(
        name="wmt26-task2",
        title="predictions of scores for WMT26",
        holds="records",
        write=_write_both(partial(write_wmt26, task=2)),
    ),
    Format(
        name="wmt26-task3",
        title="predictions of scores and of translations without errors for WMT26",
        holds="records",
        write=_write_both(partial(write_wmt26, task=3)),
    ),
    Format(
        name="spreadsheet",
        title="judgements or a campaign as CSV for people, where nothing is run as a formula",
        holds="records",
        write=lambda path, it: (
            write_judgements(path, it.records, it.test_set)
            if it.campaign is None
            else write_spreadsheet(path, it.campaign)
        ),
        is_campaign=True,
        is_for_people=True,
    ),
    Format(
        name="xliff",
        title="XLIFF 1.2 and 2; judgements are quality issues of ITS 2.0 in the file that was judged",
        holds="test set, records",
        root="xliff",
        texts=read_xliff,
        read=lambda path, asked: replace(read_judged_xliff(path, asked.lp), origin=path),
        write=lambda path, it: write_xliff(
            path, it.records, it.origin or path, None if it.test_set is None else it.test_set.lps[0]
        ),
        needs_lp=True,
        is_marked_up=True,
    ),
    Format(name="tmx", title="TMX, a translation memory", holds="test set", root="tmx", texts=read_tmx),
    Format(name="po", title="PO of gettext", holds="test set", named=(".po", ".pot"), texts=read_po),
    Format(
        name="xlsx",
        title="table of texts with a heading (Excel): a column for each system, and perhaps criteria",
        holds="test set",
        starts=rb"(?s)PK\x03\x04.*?\bxl/",
        texts=read_xlsx,
    ),
    Format(
        name="parquet",
        title="data frame (Parquet): the columns of our records, of scores, or of texts",
        holds="test set or records",
        starts=rb"PAR1",
        read=lambda path, asked: read_parquet(path, asked.lp, asked.texts),
        write=write_parquet,
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="csv",
        title="table of texts with a heading (CSV, TSV): a column for each system, and perhaps criteria",
        holds="test set",
        keys=("src mt",),
        text=lambda seen: is_csv_of_texts(seen.first, seen.path),
        texts=read_csv_texts,
    ),
    Format(
        name="comet",
        title="scores that COMET writes with --to_json",
        holds="records",
        inner_keys=("mt COMET",),
        read=lambda path, asked: read_plain_scores(path, "comet", asked.lp, asked.texts),
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-table",
        title="table of scores (CSV, TSV): system, score, and perhaps segment, lp, document, metric",
        holds="records",
        text=lambda seen: is_score_table(seen.first),
        read=lambda path, asked: read_plain_scores(path, "score-table", asked.lp, asked.texts),
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-lines",
        title="scores of one system, one number a line; a folder of such files has several systems",
        holds="records",
        folder=is_lines_folder,
        text=lambda seen: is_number(seen.first),
        read=lambda path, asked: read_plain_scores(path, "score-lines", asked.lp, asked.texts),
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="records",
        title="our records, one judgement a line",
        holds="records",
        keys=("kind annotator",),
        read=lambda path, _: _read_records(path),
        write=_write_records,
    ),
    Format(
        name="jsonl",
        title="our test set, one segment a line",
        holds="test set",
        folder=lambda path: find_files(path, TEST_SET),
        keys=("segment", "source", "translations"),
        text=lambda seen: seen.head[:1] in {b"", b"{", b"["} and seen.name.endswith(".jsonl"),
        texts=lambda path, lp: read_test_set(inside(path, path / TEST_SET) if path.is_dir() else path, lp),
        write=_write_texts(write_test_set),
    ),
)


_BY_NAME: Final = {form.name: form for form in FORMATS}


def claimed_by(seen: Seen) -> Format | None:
    """The first format that a file or a folder is of."""
    for form in FORMATS:
        if form.claims(seen):
            return form
    return None


def find_format(name: str) -> Format:
    if name not in _BY_NAME:
        raise UsageError(f"no format {name!r}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
