"""Write any format from a test set and records."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from adjudge.core.record import Record, are_by_criteria
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise import (
    write_batches,
)
from adjudge.formats.appraise_campaign import (
    MORE,
    appraise_batches_of,
    write_appraise_submissions,
)
from adjudge.formats.campaign_export import (
    CampaignFile,
    write_campaign_file,
)
from adjudge.formats.catalog import Format, find_format
from adjudge.formats.ment import write_ment_folder
from adjudge.formats.mqm_tsv import write_mqm_tsv
from adjudge.formats.mtme import (
    write_mtme,
    write_ratings,
    write_score_records,
)
from adjudge.formats.pearmut import write_pearmut_submissions
from adjudge.formats.read import Content
from adjudge.formats.spreadsheet import write_judgements, write_spreadsheet
from adjudge.formats.text import write_text_folder
from adjudge.formats.wmt import write_wmt25, write_wmt26
from adjudge.formats.xliff import write_xliff
from adjudge.store.json_lines import write_records, write_test_set

__all__ = ["check_target", "of_annotator", "write_content"]


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
    if target.has_records and target.name not in _ALONE_WRITERS and are_by_criteria(content.records or ()):
        raise UsageError(
            f"{target.name} holds one judgement of a translation, and these records hold one for each "
            f"criterion of its segment: convert them to {' or '.join(_ALONE_WRITERS)}, or write their scores "
            "with `adjudge score --score-files DIR`"
        )
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
        writers: dict[str, Callable[..., Counter[str]]] = {
            "mqm-tsv": write_mqm_tsv,
            "mtme-ratings": write_ratings,
            "mtme-scores": write_score_records,
            "wmt25": write_wmt25,
            "wmt26-task1": partial(write_wmt26, task=1),
            "wmt26-task2": partial(write_wmt26, task=2),
            "wmt26-task3": partial(write_wmt26, task=3),
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
