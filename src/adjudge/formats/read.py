"""Find out what a path holds and load the test set in it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from adjudge.core.judge import checks_keywords
from adjudge.core.language import canonical_lp
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import batches_test_set, read_batches
from adjudge.formats.campaign_export import campaign_test_set, read_campaign_file
from adjudge.formats.catalog import cached_path, find_public_set
from adjudge.formats.ment import is_ment_folder, read_ment_file, read_ment_folder
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.mtme import is_mtme_folder, read_mtme
from adjudge.formats.pearmut import pearmut_test_set, read_pearmut, read_pearmut_submissions
from adjudge.formats.po import read_po
from adjudge.formats.score_file import AVERAGES, is_number, is_score_table
from adjudge.formats.table import is_csv_of_texts, read_csv_texts, read_xlsx
from adjudge.formats.text import is_text_folder, read_files, read_text_folder, split_names
from adjudge.formats.tmx import read_tmx
from adjudge.formats.wmt import read_wmt25, read_wmt25_jsonl
from adjudge.formats.xliff import read_xliff
from adjudge.formats.xml_text import check_type, root_name
from adjudge.store.files import read_head
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import INFO, TEST_SET, is_split, read_run

__all__ = ["detect", "find_path", "load", "load_chosen", "load_lines"]

_FIRST_LINES: Final = {
    rb"system\tdoc": "mqm-tsv",
    rb"doc_id\tsegment_id\t": "wmt25",
    rb'[^,"]+,[^,]+,[0-9]+,(?:TGT|BAD),': "appraise",
    rb"\[": "appraise-batches",
}
"""How a file starts, and its format."""

_ENDINGS: Final = {
    ".seg.rating": "mtme-ratings",
    ".seg.score": "mtme-scores",
    AVERAGES: "mtme-scores",
    ".po": "po",
    ".pot": "po",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
"""How a file's name ends, and its format."""

_ROOTS: Final = ("xliff", "tmx")
"""Outermost elements of XML that are names of formats, too."""

_KEYS: Final = {
    "campaign": (b'"schema"', b'"adjudge-campaign/'),
    "ment-jsonl": (b'"src_lang"', b'"trans_lang"'),
    "wmt25-jsonl": (b'"doc_id"', b'"src_text"', b'"tgt_text"'),
    "records": (b'"kind"', b'"annotator"'),
    "comet": (b'"mt"', b'"COMET"'),
    "jsonl": (b'"segment"', b'"source"'),
    "pearmut-campaign": (b'"campaign_id"', b'"data"', b'"info"'),
    "pearmut": (b'"annotation"', b'"item"'),
}
"""Keys of a JSON object's beginning, and its format; the first that fits."""

_HEAD: Final = 1 << 20  # bytes of a file that tell what it is

_CAMPAIGN: Final = "campaign.json"
_FOLDERS: Final = (
    f"a run ({INFO})",
    "the layout of mt-metrics-eval (sources/LP.txt)",
    "line-aligned text (source.txt)",
    f"{TEST_SET}",
)


@checks_keywords()
def load(path: Path | str, lp: str | None = None, *, form: str | None = None) -> TestSet:
    """Load a test set.

    Args:
        path: a folder in MTME or MENT layout, a run directory, a folder of line-aligned text, a JSONL file,
            an MQM TSV, a TSV of WMT25, XLIFF, TMX, PO, a table of texts (CSV, XLSX), or a name of
            `adjudge list test-sets`.
        lp: keep this language pair only; needed where a folder has several.
        form: name of the format, as in `adjudge list formats`; found out if left out.

    Raises:
        DataError: nothing there can be read as a test set; says what was looked for and what was found.
        UsageError: no such name, or an lp that is not there.
    """
    path, lp = find_path(path, lp)
    form = detect(path) if form is None else form
    if form not in _READERS:
        raise DataError(f"{form} holds judgements and no texts; a test set was wanted", path=path)
    return _READERS[form](path / TEST_SET if form == "jsonl" and path.is_dir() else path, lp)


def _read_run(path: Path, lp: str | None) -> TestSet:
    test_set = read_run(path).test_set
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


def _read_mqm(path: Path, lp: str | None) -> TestSet:
    return read_mqm_tsv(path, lp).test_set


def _read_batches(path: Path, lp: str | None) -> TestSet:
    test_set = batches_test_set(read_batches(path), path.stem)
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


def _read_campaign(path: Path, lp: str | None) -> TestSet:
    test_set = campaign_test_set(read_campaign_file(path))
    return test_set if lp is None else test_set.select(lp=canonical_lp(lp))


_READERS: Final[Mapping[str, Callable[[Path, str | None], TestSet]]] = {
    "appraise-batches": _read_batches,
    "campaign": _read_campaign,
    "csv": read_csv_texts,
    "jsonl": read_test_set,
    "ment": read_ment_folder,
    "ment-jsonl": read_ment_file,
    "mqm-tsv": _read_mqm,
    "mtme": read_mtme,
    "pearmut": lambda path, lp: campaign_test_set(read_pearmut_submissions(path, lp)),
    "pearmut-campaign": lambda path, lp: pearmut_test_set(read_pearmut(path), lp),
    "po": read_po,
    "run": _read_run,
    "text": read_text_folder,
    "tmx": read_tmx,
    "wmt25": lambda path, lp: read_wmt25(path, lp).test_set,
    "wmt25-jsonl": lambda path, lp: read_wmt25_jsonl(path, lp).test_set,
    "xliff": read_xliff,
    "xlsx": read_xlsx,
}


def detect(path: Path) -> str:
    """Name of the format of a path, as in `adjudge list formats`.

    Raises:
        DataError: it is none; says what was looked for and what was found.
    """
    if not path.is_dir():
        return _detect_file(path)
    if (path / INFO).is_file() or is_split(path):
        return "run"
    if is_mtme_folder(path):
        return "ment" if is_ment_folder(path) else "mtme"
    if is_text_folder(path):
        return "text"
    if (path / TEST_SET).is_file():
        return "jsonl"
    if (path / _CAMPAIGN).is_file():
        export = f"`adjudge campaign export {shlex.quote(str(path))} FILE.jsonl` writes what is read here"
        raise DataError(f"a campaign in its folder: {export}", path=path)
    entries = sorted(entry.name for entry in path.iterdir())
    found = ", ".join(entries[:5]) + (", ..." if len(entries) > 5 else "") if entries else "an empty folder"
    raise DataError(f"no known format: looked for {', '.join(_FOLDERS)}; found {found}", path=path)


def _detect_file(path: Path) -> str:
    """Tell a file by its name, else by its first line."""
    if (form := _told_by_name(path)) is not None:
        return form
    content = read_head(path, _HEAD).lstrip(b"\xef\xbb\xbf\r\n ")
    first = content.partition(b"\n")[0]
    for start, form in _FIRST_LINES.items():
        if re.match(start, first):
            return form
    if is_number(text := first.decode(errors="replace")) or is_score_table(text):
        return "score-lines" if is_number(text) else "score-table"
    is_lines = path.name.removesuffix(".gz").endswith(".jsonl")
    if first.startswith(b"{"):
        keys = first if is_lines else content
        return next((form for form, words in _KEYS.items() if all(word in keys for word in words)), "jsonl")
    return "jsonl" if is_lines else _detect_localisation(path, content, first)


def _told_by_name(path: Path) -> str | None:
    """Format that a name alone tells; None where the file must be looked into."""
    for ending, form in _ENDINGS.items():
        if path.name.removesuffix(".gz").endswith(ending):
            return form
    _refuse(path)
    return "jsonl" if str(path) == "-" else None


def _detect_localisation(path: Path, content: bytes, first: bytes) -> str:
    """Tell XML by its outermost element, a table by its heading."""
    if not content:
        raise DataError("the file is empty", path=path)
    check_type(content, path)
    root = root_name(content)
    if root in _ROOTS:
        return str(root)
    if is_csv_of_texts(first.decode(errors="replace"), path):
        return "csv"
    hint = (
        "a file is JSONL, an MQM TSV, a TSV of WMT25, .seg.rating or .seg.score, XLIFF, TMX, PO, XLSX, a CSV "
        "with a column 'source' or with 'system' and 'score', COMET's --to_json, one number a line, or of "
        "Appraise or Pearmut; "
        "line-aligned files are given with -s and -t"
    )
    raise DataError(f"no known format: {hint}", path=path)


def _refuse(path: Path) -> None:
    """Refuse a file that is known by its name and not read.

    Raises:
        DataError: it is one; says what to give instead.
    """
    for level in ("sys", "domain", "doc"):
        if path.name.removesuffix(".gz").endswith(f".{level}.score"):
            what = f"scores of the level {level!r} of mt-metrics-eval, which are known and not read here"
            raise DataError(f"{what}: give the .seg.score or .seg.rating beside it", path=path)
    if path.name.endswith((".tgz", ".tar.gz", ".tar", ".zip")):
        raise DataError("an archive: unpack it first", path=path)


def find_path(path: Path | str, lp: str | None = None) -> tuple[Path, str | None]:
    """Where something lies: the path itself, or the place in the cache that a public name stands for.

    Args:
        path: path or name; what is there comes before a public name.
        lp: language pair; taken from a public set that has one only.

    Raises:
        UsageError: neither a path nor a public name.
        DataError: a public test set that was not fetched yet; says how.
    """
    path = Path(path)
    if path.exists() or str(path) == "-":
        return path, lp
    entry = find_public_set(str(path))
    cached = cached_path(entry)
    if not cached.exists():
        fetching = f"`adjudge fetch {entry.name}` downloads it ({entry.size})"
        raise DataError(f"{entry.name} is public but not here yet: {fetching}; looked for", path=cached)
    return cached, entry.lps[0] if lp is None and len(entry.lps) == 1 else lp


def load_lines(
    source: Path | str, translations: Iterable[str], references: Iterable[str], lp: str | None
) -> TestSet:
    """Load line-aligned files.

    Args:
        source: one segment a line; `-` is standard input.
        translations: `NAME=FILE`, or `FILE` whose stem is the system's name.
        references: the same.
        lp: language pair; text files do not say it.

    Raises:
        UsageError: no lp, two files of one name, or a file that is not there.
        DataError: the files differ in length; names both and both counts.
    """
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


def load_chosen(
    test_set: Path | str | None,
    lp: str | None,
    files: tuple[Path | None, Sequence[str] | None, Sequence[str] | None],
    systems: str | Sequence[str] | None,
    limit: int | None,
) -> TestSet:
    """Load a test set from a path or from line-aligned files, and keep what was chosen.

    Args:
        test_set: folder, file or name.
        lp: language pair.
        files: source, translations and references as line-aligned files.
        systems: names to keep, a list or one text with commas; None for all.
        limit: first segments to keep.

    Raises:
        UsageError: both a test set and files, neither, or files that lack their source.
    """
    source, translations, references = files
    _refuse_mixtures(test_set, source, [*(translations or []), *(references or [])])
    if source is None:
        chosen = load(_required(test_set), lp=lp)
    else:
        chosen = load_lines(source, translations or [], references or [], lp=lp)
    if isinstance(systems, str):
        systems = [name.strip() for name in systems.split(",") if name.strip()]
    return chosen.select(systems=systems, limit=limit)


def _refuse_mixtures(test_set: Path | str | None, source: Path | None, others: Sequence[str]) -> None:
    if test_set is not None and (source is not None or others):
        raise UsageError(f"give either the test set {str(test_set)!r} or files with -s, -t and -r; not both")
    if source is None and others:
        raise UsageError(f"-t and -r need the source that {others[0]!r} belongs to: add -s FILE")


def _required(test_set: Path | str | None) -> Path | str:
    if test_set is None:
        raise UsageError("give a TEST_SET, or line-aligned files with -s and -t")
    return test_set
