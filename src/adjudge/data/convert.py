"""Read any format into a test set and records, and write any format from them."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Record
from adjudge.core.language import canonical_lp
from adjudge.core.segment import TestSet
from adjudge.data.appraise_batches import read_batches, write_batches
from adjudge.data.appraise_export import appraise_batches_of, write_appraise_submissions
from adjudge.data.appraise_records import (
    find_batch_file,
    find_batches,
    names_items,
    read_appraise_records,
)
from adjudge.data.appraise_rows import MORE
from adjudge.data.appraise_submissions import read_appraise_submissions
from adjudge.data.formats import Format, find_format
from adjudge.data.jsonl import write_test_set
from adjudge.data.load import detect, find_path, load
from adjudge.data.ment import read_ment_ratings, write_ment_folder
from adjudge.data.mqm_tsv import read_mqm_tsv
from adjudge.data.mqm_writer import write_mqm_tsv
from adjudge.data.mtme import write_mtme
from adjudge.data.mtme_ratings import find_test_set, read_ratings, write_ratings
from adjudge.data.mtme_scores import read_score_records, write_score_records
from adjudge.data.pearmut_export import write_pearmut_submissions
from adjudge.data.pearmut_submissions import read_pearmut_submissions
from adjudge.data.plain_scores import FORMS, read_plain_scores
from adjudge.data.records import read_records, write_records
from adjudge.data.run_dir import read_run_info
from adjudge.data.spreadsheet import write_judgements, write_spreadsheet
from adjudge.data.submission_lines import read_campaign_file, write_campaign_file
from adjudge.data.submission_records import campaign_test_set, final_records, select_lp
from adjudge.data.submissions import CampaignFile
from adjudge.data.text import write_text_folder
from adjudge.data.wmt25 import read_wmt25
from adjudge.data.wmt25_jsonl import read_wmt25_jsonl
from adjudge.data.wmt25_writer import write_wmt25
from adjudge.data.xliff_judged import read_judged_xliff
from adjudge.data.xliff_writer import write_xliff
from adjudge.errors import DataError, UsageError

__all__ = ["Content", "check_target", "content_of", "of_annotator", "read_content", "write_content"]


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
