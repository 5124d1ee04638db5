"""Read any format into a test set and records, and write any format from them."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from adjudge.core.language import canonical_lp
from adjudge.core.record import Record
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import (
    find_batch_file,
    find_batches,
    names_items,
    read_appraise_records,
    read_batches,
    write_batches,
)
from adjudge.formats.appraise_campaign import (
    MORE,
    appraise_batches_of,
    read_appraise_submissions,
    write_appraise_submissions,
)
from adjudge.formats.campaign_export import (
    CampaignFile,
    campaign_test_set,
    final_records,
    read_campaign_file,
    select_lp,
    write_campaign_file,
)
from adjudge.formats.ment import read_ment_ratings, write_ment_folder
from adjudge.formats.mqm_tsv import read_mqm_tsv, write_mqm_tsv
from adjudge.formats.mtme import (
    find_test_set,
    read_ratings,
    read_score_records,
    write_mtme,
    write_ratings,
    write_score_records,
)
from adjudge.formats.pearmut import read_pearmut_submissions, write_pearmut_submissions
from adjudge.formats.read import detect, find_path, load
from adjudge.formats.score_file import FORMS, read_plain_scores
from adjudge.formats.spreadsheet import write_judgements, write_spreadsheet
from adjudge.formats.text import write_text_folder
from adjudge.formats.wmt import read_wmt25, read_wmt25_jsonl, write_wmt25
from adjudge.formats.xliff import read_judged_xliff, write_xliff
from adjudge.store.json_lines import read_records, write_records, write_test_set
from adjudge.store.run_directory import read_run_info

__all__ = [
    "FORMATS",
    "Content",
    "Format",
    "check_target",
    "content_of",
    "find_format",
    "of_annotator",
    "read_content",
    "write_content",
]


# Every format that is read or written, by name.


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Args:
        name: the word on the command line.
        title: for people.
        holds: a test set, records, or both.
        reads: whether it is read.
        writes: whether it is written.
        files: entries of its folder; empty where it is one file.
        takes_texts: whether it has no texts, or not all, and is read with those of a test set.
        needs_lp: whether a file of it does not say its language pair.
        is_campaign: whether it says who judged what when, and not the judgements alone.
        is_for_people: whether it is a table to look at, of a campaign or of judgements alone.
        is_marked_up: whether it is written as the file that its texts came from, with judgements in it.
    """

    name: str
    title: str
    holds: str
    reads: bool = True
    writes: bool = True
    files: tuple[str, ...] = ()
    takes_texts: bool = False
    needs_lp: bool = False
    is_campaign: bool = False
    is_for_people: bool = False
    is_marked_up: bool = False

    @property
    def has_records(self) -> bool:
        """Whether it holds judgements."""
        return "records" in self.holds


FORMATS: Final[tuple[Format, ...]] = (
    Format(name="jsonl", holds="test set", title="our test set, one segment a line"),
    Format(
        name="mtme",
        holds="test set",
        title="folder of mt-metrics-eval v2; scores and spans are mtme-scores and mtme-ratings",
        files=("sources", "documents", "references", "system-outputs"),
    ),
    Format(
        name="ment",
        holds="test set",
        title="folder of MENT, lines are JSON; its sys.score files are sums over segments",
        files=("sources", "references", "system-outputs"),
    ),
    Format(
        name="text",
        holds="test set",
        title="folder of line-aligned text: source.txt, translations/, references/",
        files=("source.txt", "translations", "references"),
    ),
    Format(
        name="ment-jsonl",
        holds="test set, records",
        title="MENT as on the hub",
        writes=False,
        needs_lp=True,
    ),
    Format(name="run", holds="test set, records", title="run directory", writes=False),
    Format(
        name="mqm-tsv",
        holds="test set, records",
        title="MQM TSV of WMT, any year; opens in Marot",
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="wmt25",
        holds="test set, records",
        title="WMT25's table of texts and marked errors (TSV); predictions of its second task",
    ),
    Format(
        name="wmt25-jsonl",
        holds="test set, records",
        title="WMT25's general task with what people said (JSONL)",
        writes=False,
    ),
    Format(
        name="campaign",
        holds="test set, records",
        title="our export of a campaign: who judged what when, a submission a line",
        is_campaign=True,
    ),
    Format(
        name="appraise",
        holds="records",
        title="Appraise's export of a campaign (CSV), with its batches beside it or in --test-set",
        takes_texts=True,
        is_campaign=True,
    ),
    Format(name="appraise-batches", holds="test set", title="Appraise's batches (JSON)", writes=False),
    Format(
        name="pearmut",
        holds="test set, records",
        title="Pearmut's annotations of a campaign (JSONL, JSON)",
        needs_lp=True,
        is_campaign=True,
    ),
    Format(name="pearmut-campaign", holds="test set", title="Pearmut's campaign (JSON)", writes=False),
    Format(
        name="spreadsheet",
        holds="records",
        title="judgements or a campaign as CSV for people, where nothing is run as a formula",
        reads=False,
        is_campaign=True,
        is_for_people=True,
    ),
    Format(
        name="xliff",
        holds="test set, records",
        title="XLIFF 1.2 and 2; judgements are quality issues of ITS 2.0 in the file that was judged",
        needs_lp=True,
        is_marked_up=True,
    ),
    Format(name="tmx", holds="test set", title="TMX, a translation memory", writes=False),
    Format(name="po", holds="test set", title="PO of gettext", writes=False),
    Format(name="csv", holds="test set", title="table of texts with a heading (CSV, TSV)", writes=False),
    Format(name="xlsx", holds="test set", title="table of texts with a heading (Excel)", writes=False),
    Format(name="records", holds="records", title="our records, one judgement a line"),
    Format(
        name="mtme-ratings",
        holds="records",
        title="error spans of mt-metrics-eval (.seg.rating)",
        takes_texts=True,
    ),
    Format(
        name="mtme-scores",
        holds="records",
        title="segment ratings of mt-metrics-eval (.seg.score)",
        takes_texts=True,
    ),
    Format(
        name="comet",
        holds="records",
        title="scores that COMET writes with --to_json",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-table",
        holds="records",
        title="table of scores with columns system and score (CSV, TSV)",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-lines",
        holds="records",
        title="scores of one system, one number a line",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
)


def find_format(name: str) -> Format:
    """Look a format up by its name.

    Raises:
        UsageError: there is none of that name.
    """
    found = next((form for form in FORMATS if form.name == name), None)
    if found is None:
        raise UsageError(f"no format {name!r}; there are {', '.join(form.name for form in FORMATS)}")
    return found


@dataclass(frozen=True, kw_only=True)
class Content:
    """What was read.

    Args:
        test_set: texts; None where the format has none and none were given.
        records: judgements; None where the format has none.
        met: what was odd in it, and how often.
        campaign: who judged what when; None where the format does not say it, or nobody asked for it.
        origin: file that the texts were read from, where judgements can be written into it.
    """

    test_set: TestSet | None = None
    records: Sequence[Record] | None = None
    met: Counter[str] = field(default_factory=Counter)
    campaign: CampaignFile | None = None
    origin: Path | None = None


def read_content(
    path: Path | str,
    form: str | None = None,
    *,
    lp: str | None = None,
    test_set: TestSet | None = None,
    protocol: str = "metric",
    as_campaign: bool = False,
) -> Content:
    """Read a file or a folder.

    Args:
        path: where it is, or the name of a public test set.
        form: name of its format; found out if left out.
        lp: keep this language pair only.
        test_set: all texts that records are about, where their format has none or only those judged.
        protocol: of the ratings in a score file.
        as_campaign: whether who judged what when is wanted besides the judgements.

    Raises:
        DataError: it is not what the format says.
        UsageError: no such format, or records need texts that were not given.
    """
    path, lp = find_path(path, lp)
    name = detect(path) if form is None else _readable(form)
    texts = test_set if test_set is None or lp is None else test_set.select(lp=canonical_lp(lp))
    if name in {"mqm-tsv", "wmt25"}:
        file = read_mqm_tsv(path, lp, texts) if name == "mqm-tsv" else read_wmt25(path, lp)
        return Content(test_set=texts or file.test_set, records=file.records, met=file.met)
    if name in {"campaign", "pearmut"} or (name == "appraise" and as_campaign):
        return _read_campaign(path, name, lp)
    if name == "appraise":
        return _read_appraise(path, texts)
    if name in {"mtme-ratings", "mtme-scores"}:
        return _read_mtme(path, name, texts or find_test_set(path), protocol)
    if name in FORMS or name == "records":
        plain = read_plain_scores(path, name, lp, texts) if name in FORMS else None
        records = _of_lp(read_records(path), lp) if plain is None else plain.records
        return Content(test_set=texts, records=records, met=Counter() if plain is None else plain.met)
    return _read_with_texts(path, name, lp)


def _read_with_texts(path: Path, name: str, lp: str | None) -> Content:
    """Read what has all texts of its own, with or without judgements."""
    if name == "xliff":
        judged = read_judged_xliff(path, lp)
        return Content(test_set=judged.test_set, records=judged.records or None, met=judged.met, origin=path)
    if name == "wmt25-jsonl":
        said = read_wmt25_jsonl(path, lp)
        return Content(test_set=said.test_set, records=said.records, met=said.met)
    loaded, records = load(path, lp, form=name), None
    if name == "run":
        return Content(test_set=loaded, records=_of_lp(read_records(path), lp), origin=_origin_of(path))
    if name == "ment-jsonl":
        records = read_ment_ratings(path, lp)
    return Content(test_set=loaded, records=records)


def _origin_of(run: Path) -> Path | None:
    """The file that a run has judged, where it is still there and judgements can be written into it."""
    origin = read_run_info(run).test_set.get("origin")
    if not isinstance(origin, str) or not (path := run / origin).is_file():
        return None
    return path if find_format(detect(path)).is_marked_up else None


def _readable(form: str) -> str:
    found = find_format(form)
    if not found.reads:
        raise UsageError(f"{form} is written, not read")
    return found.name


def _read_mtme(path: Path, name: str, test_set: TestSet | None, protocol: str) -> Content:
    if test_set is None:
        raise UsageError(f"{path} has lines without ids: say what they are about with --test-set")
    if name == "mtme-scores":
        return Content(test_set=test_set, records=read_score_records(path, test_set, protocol))
    file = read_ratings(path, test_set)
    return Content(test_set=test_set, records=file.records, met=file.met)


def _read_appraise(path: Path, texts: TestSet | None) -> Content:
    """Read an export with the batches that were given, else with those beside it."""
    test_set = texts if texts is not None and names_items(texts) else find_batches(path) or texts
    if test_set is None:
        raise UsageError(
            f"{path} says item numbers and no texts: give the campaign's batches with --test-set BATCHES.json"
        )
    file = read_appraise_records(path, test_set)
    return Content(test_set=test_set, records=file.records, met=file.met)


def _read_campaign(path: Path, name: str, lp: str | None) -> Content:
    """Read who judged what when, and what of it counts."""
    met: Counter[str] = Counter()
    if name == "pearmut":
        file = read_pearmut_submissions(path, lp)
    elif name == "campaign":
        file = read_campaign_file(path)
    elif (batches := find_batch_file(path)) is not None:
        file, met = read_appraise_submissions(path, read_batches(batches))
    else:
        raise UsageError(f"a campaign is read from {path} and the only batches*.json beside it: put it there")
    content = content_of(file if lp is None else select_lp(file, canonical_lp(lp)))
    return replace(content, met=met + content.met)


def content_of(campaign: CampaignFile) -> Content:
    """A campaign with its texts and with those of its judgements that count."""
    records, met = final_records(campaign.submissions)
    return Content(test_set=campaign_test_set(campaign), records=records, met=met, campaign=campaign)


def of_annotator(content: Content, name: str) -> Content:
    """Keep what one annotator said.

    Raises:
        UsageError: nothing was said by such a one.
    """
    records = [r for r in content.records or () if r.annotator == name]
    if not records:
        known = ", ".join(sorted({r.annotator for r in content.records or ()})) or "nobody"
        raise UsageError(f"no record by {name!r}; annotators are {known}")
    if content.campaign is None:
        return replace(content, records=records)
    own = tuple(s for s in content.campaign.submissions if s.person == name)
    return replace(content, records=records, campaign=replace(content.campaign, submissions=own))


def _of_lp(records: Sequence[Record], lp: str | None) -> Sequence[Record]:
    return records if lp is None else [r for r in records if r.lp == canonical_lp(lp)]


def write_content(path: Path | str, form: str, content: Content, *, force: bool = False) -> Counter[str]:
    """Write a file or a folder; it appears whole or not at all.

    Args:
        path: where to.
        form: name of the format.
        content: what to write.
        force: whether something of that format may be replaced.

    Returns:
        What the format cannot hold and how often it was changed or left out.

    Raises:
        UsageError: the path exists, or the content lacks what the format holds.
        DataError: a text cannot be held by the format.
    """
    path, target = Path(path), check_target(path, form, force=force)
    _check(content, target)
    beside = _batches_beside(path, content.campaign) if target.name == "appraise" else None
    if beside is not None and beside.exists() and not force:
        raise UsageError(f"{beside} exists: --force replaces it")
    if not target.files:
        return _write(path, target, content)
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    try:
        left_out = _write(new, target, content)
        _swap(new, path)
    except DataError as error:
        raise DataError(str(error).replace(str(new), str(path))) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return left_out


def _check(content: Content, target: Format) -> None:
    """Refuse content that has nothing, or not enough, of what a format holds."""
    if target.is_campaign and not target.is_for_people and content.campaign is None:
        why = "and the input has judgements alone" if content.records else "and the input has no judgements"
        raise UsageError(f"{target.name} says who judged what when, {why}")
    if target.is_marked_up and (content.origin is None or not content.records):
        what = "the file that was judged is not known" if content.records else "there are no records to write"
        raise UsageError(
            f"{target.name} is written into the file that was judged, and {what}: give a run or records, "
            "and that file with --test-set FILE"
        )
    if target.has_records and content.records is None:
        raise UsageError(f"{target.name} holds records, and the input is a test set without any")
    if target.name != "records" and not target.is_campaign and content.test_set is None:
        raise UsageError(f"{target.name} needs the texts that the records are about: add --test-set")


def check_target(path: Path | str, form: str, *, force: bool = False) -> Format:
    """Refuse early what cannot be written: an unknown format, or a path that is taken.

    Raises:
        UsageError: it cannot be written; says why.
    """
    path, target = Path(path), find_format(form)
    if not target.writes:
        raise UsageError(f"{target.name} is read, not written")
    if str(path) == "-" and target.files:
        raise UsageError(f"{target.name} is a folder, and cannot go to standard output")
    if not path.exists():
        return target
    if path.is_dir() != bool(target.files):
        kind = "folder" if path.is_dir() else "file"
        raise UsageError(f"{path} is a {kind}, {target.name} is not: choose another name")
    foreign = sorted(e.name for e in path.iterdir() if e.name not in target.files) if target.files else []
    if foreign:
        what = f"{foreign[0]!r}, which is no part of {target.name}"
        raise UsageError(f"{path} also holds {what}: choose another name")
    if not force and (not target.files or any(path.iterdir())):
        raise UsageError(f"{path} exists: --force replaces it")
    return target


def _swap(new: Path, path: Path) -> None:
    """Put a new folder in the place of an old one."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new.replace(path)
        return
    old = path.with_name(f".{path.name}-{secrets.token_hex(4)}.old")
    path.replace(old)
    new.replace(path)
    shutil.rmtree(old)


def _write(path: Path, target: Format, content: Content) -> Counter[str]:
    records = [] if content.records is None else content.records
    if content.campaign is not None and target.is_campaign:
        return _CAMPAIGN_WRITERS[target.name](path, content.campaign)
    if target.name in _ALONE_WRITERS:
        return _ALONE_WRITERS[target.name](path, records, content.test_set)
    if content.origin is not None and target.is_marked_up:
        lp = content.test_set.lps[0] if content.test_set is not None else None
        return write_xliff(path, records, content.origin, lp)
    if content.test_set is None:
        return Counter()
    test_set = content.test_set
    if target.has_records:
        writers = {
            "mqm-tsv": write_mqm_tsv,
            "mtme-ratings": write_ratings,
            "mtme-scores": write_score_records,
            "wmt25": write_wmt25,
        }
        return writers[target.name](path, records, test_set)
    left_out = Counter({"judgements": len(records)})
    if target.name == "mtme":
        left_out += write_mtme(path, test_set)
    elif target.name == "ment":
        left_out += write_ment_folder(path, test_set)
    elif target.name == "text":
        left_out += write_text_folder(path, test_set)
    else:
        write_test_set(path, test_set)
    return +left_out


def _write_records(path: Path, records: Sequence[Record], test_set: TestSet | None) -> Counter[str]:
    write_records(path, records)
    return Counter({"texts": len(test_set)} if test_set is not None else {})


def _write_campaign(path: Path, file: CampaignFile) -> Counter[str]:
    write_campaign_file(path, file)
    return Counter()


def _write_appraise(path: Path, file: CampaignFile) -> Counter[str]:
    """An export and, where Appraise's own are not at hand, the batches without which nobody can read it."""
    left_out = write_appraise_submissions(path, file)
    if (beside := _batches_beside(path, file)) is not None:
        write_batches(beside, appraise_batches_of(file))
    return left_out


def _batches_beside(path: Path, file: CampaignFile | None) -> Path | None:
    """Where batches go beside an export; None where none are written."""
    is_theirs = file is None or any(MORE in submission.more for submission in file.submissions)
    return None if is_theirs or str(path) == "-" else path.with_name(f"batches-{path.stem}.json")


_CAMPAIGN_WRITERS: Final[dict[str, Callable[[Path, CampaignFile], Counter[str]]]] = {
    "appraise": _write_appraise,
    "campaign": _write_campaign,
    "pearmut": write_pearmut_submissions,
    "spreadsheet": write_spreadsheet,
}
_ALONE_WRITERS: Final[dict[str, Callable[[Path, Sequence[Record], TestSet | None], Counter[str]]]] = {
    "records": _write_records,
    "spreadsheet": write_judgements,
}
"""Formats that judgements go to with or without their texts."""
