"""Write what was read in any format, whole or not at all, and refuse early what cannot be written."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

from adjudge.core.mqm import DEFAULT_WEIGHTS
from adjudge.core.names import as_name
from adjudge.core.record import Annotation, Record, are_by_criteria
from adjudge.errors import DataError, UsageError
from adjudge.formats.appraise_campaign import batches_beside
from adjudge.formats.file_content import Content
from adjudge.formats.registry import Format, find_format
from adjudge.store.files import make_parents

_BY_CRITERIA = ("records", "parquet", "spreadsheet")
"""Formats that hold a judgement for each criterion of a segment."""
_WITH_WEIGHTS = ("records", "parquet", "xliff")
"""Formats that name the weights of marked errors."""


def of_annotator(content: Content[Record], name: str) -> Content[Record]:
    """Keep what one annotator said."""
    name = as_name(name, "annotator")
    records = [r for r in content.records if r.annotator == name]
    if not records:
        known = ", ".join(sorted({r.annotator for r in content.records})) or "nobody"
        raise UsageError(f"no record by {name!r}; annotators are {known}")
    if content.campaign is None:
        return replace(content, records=records)
    own = tuple(s for s in content.campaign.submissions if s.person == name)
    return replace(content, records=records, campaign=replace(content.campaign, submissions=own))


def write_content(
    path: Path | str, form: str, content: Content[Record], *, force: bool = False
) -> Counter[str]:
    """Write a file or a folder; it appears whole or not at all.

    What the format cannot hold and how often it was changed or left out.
    """
    path, target = Path(path), check_target(path, form, force=force)
    if target.is_campaign and not target.is_for_people and content.campaign is None:
        why = "and the input has judgements alone" if content.records else "and the input has no judgements"
        raise UsageError(f"{target.name} says who judged what when, {why}")
    if target.is_marked_up and (content.origin is None or not content.records):
        what = "the file that was judged is not known" if content.records else "there are no records to write"
        raise UsageError(
            f"{target.name} is written into the file that was judged, and {what}: give a run or records, "
            "and that file with --test-set FILE"
        )
    if (
        target.has_records
        and " or " not in target.holds
        and not (content.records or content.campaign)
        and content.test_set is not None
    ):
        raise UsageError(f"{target.name} holds records, and the input is a test set without any")
    if target.has_records and target.name not in _BY_CRITERIA and are_by_criteria(content.records):
        raise UsageError(
            f"{target.name} holds one judgement of a translation, and these records hold one for each "
            f"criterion of its segment: convert them to {' or '.join(_BY_CRITERIA)}, or write their scores "
            "with `adjudge score --score-files DIR`"
        )
    if target.name not in {"records", "parquet"} and not target.is_campaign and content.test_set is None:
        raise UsageError(f"{target.name} needs the texts that the records are about: add --test-set")
    beside = batches_beside(path, content.campaign) if target.name == "appraise" else None
    if beside is not None and beside.exists() and not force:
        raise UsageError(f"{beside} exists: --force replaces it")
    if not target.files:
        return target.write(path, content) + _weights_lost(content, target)
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}.part")
    try:
        make_parents(path)
        new.mkdir()
        left_out = target.write(new, content)
        _swap(new, path)
    except DataError as error:
        raise DataError(str(error).replace(str(new), str(path))) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return left_out


def _weights_lost(content: Content[Record], target: Format) -> Counter[str]:
    """Count the annotations of each judge's own weights, where the format cannot name them."""
    if not target.has_records or target.name in _WITH_WEIGHTS:
        return Counter()
    names = (r.weights for r in content.records if isinstance(r, Annotation) and r.weights is not None)
    return Counter(
        f"annotations whose errors the run scores by {name}: score this file with --weights {name}"
        for name in names
        if name != DEFAULT_WEIGHTS
    )


def check_target(path: Path | str, form: str, *, force: bool = False) -> Format:
    """Refuse early what cannot be written: an unknown format, or a path that is taken."""
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
        raise UsageError(
            f"{path} also holds {foreign[0]!r}, which is no part of {target.name}: choose another name"
        )
    if not force and (not target.files or any(path.iterdir())):
        raise UsageError(f"{path} exists: --force replaces it")
    return target


def _swap(new: Path, path: Path) -> None:
    if not path.exists():
        new.replace(path)
        return
    old = path.with_name(f".{path.name}-{secrets.token_hex(4)}.old")
    path.replace(old)
    new.replace(path)
    shutil.rmtree(old)
