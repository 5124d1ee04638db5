"""A campaign's export as JSON lines: the first names schema and campaign, every other is a submission.

Nothing is lost: what is read is equal to what was written, of whatever campaign it was. Lines are read and
written one at a time, so that a campaign need not stand in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Preference
from adjudge.data.files import read_json_lines, render_json_line, write_bytes
from adjudge.data.records import record_from_json, record_to_json, span_from_json, span_to_json
from adjudge.data.shape import Fields, read_fields
from adjudge.data.submissions import SCHEMA, CampaignFile, Kind, Submission
from adjudge.errors import DataError

__all__ = [
    "read_campaign_file",
    "read_submissions",
    "submission_from_json",
    "submission_to_json",
    "write_campaign_file",
]

_HEADER: Final = frozenset({"schema", "name", "protocol", "settings"})
_KEYS: Final = frozenset(
    {"person", "protocol", "kind", "lp", "document", "segment", "task", "item", "place", "batch"}
    | {"records", "texts", "source", "originals", "given", "chosen", "edited"}
    | {"started", "ended", "active", "idle", "revision", "is_last", "more"}
)


def read_campaign_file(path: Path | str) -> CampaignFile:
    """Read a campaign's export.

    Raises:
        DataError: it is none, or a line is no submission; says which and what is wrong with it.
    """
    header, submissions = read_submissions(path)
    return CampaignFile(
        name=header.name,
        protocol=header.protocol,
        submissions=tuple(submissions),
        settings=header.settings,
    )


def read_submissions(path: Path | str) -> tuple[CampaignFile, Iterator[Submission]]:
    """Read a campaign's export line by line.

    Returns:
        The campaign without its submissions, and these as their lines are read.

    Raises:
        DataError: the first line names no campaign; a later one is no submission, as soon as it is read.
    """
    path = Path(path)
    lines = read_json_lines(path)
    line, value = next(lines, (None, None))
    return _read_header(value, path, line), (_read(value, path, line) for line, value in lines)


def _read_header(value: object, path: Path, line: int | None) -> CampaignFile:
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        wanted = f"the first line of a campaign's export has the schema {SCHEMA!r}"
        newer = "; a newer adjudge may read it" if str(schema).startswith(SCHEMA.partition("/")[0]) else ""
        raise DataError(f"{wanted}, got {schema!r}{newer}", path=path, line=line)
    fields = read_fields(value, _HEADER, "campaign", path, line)
    return CampaignFile(
        name=fields.text("name"),
        protocol=fields.text("protocol"),
        submissions=(),
        settings=fields.mapping("settings"),
    )


def _read(value: object, path: Path, line: int) -> Submission:
    try:
        return submission_from_json(value)
    except DataError as error:
        raise DataError(str(error), path=path, line=line) from error


def submission_from_json(value: object) -> Submission:
    """Make a submission of its JSON object.

    Raises:
        DataError: it is none.
    """
    fields = read_fields(value, _KEYS, "submission")
    records, is_last = fields.values.get("records", []), fields.values.get("is_last", True)
    if not isinstance(records, list) or not isinstance(is_last, bool):
        fields.fail(f"'records' must be a list and 'is_last' true or false, got {records!r} and {is_last!r}")
    return Submission(
        person=fields.name("person"),
        protocol=fields.name("protocol"),
        kind=cast("Kind", fields.name("kind")),
        lp=fields.name("lp"),
        segment=fields.name("segment"),
        document=fields.name("document", ""),
        task=fields.whole("task") or 0,
        item=fields.whole("item") or 0,
        place=fields.whole("place") or 0,
        batch=fields.whole("batch"),
        records=tuple(_judgement(record, fields) for record in records),
        texts=fields.text_mapping("texts"),
        source=fields.text("source", ""),
        originals=fields.text_mapping("originals"),
        given={system: _spans(spans, fields) for system, spans in fields.mapping("given").items()},
        chosen=fields.optional_text("chosen"),
        edited=fields.optional_text("edited"),
        started=fields.number("started") or 0.0,
        ended=fields.number("ended") or 0.0,
        active=fields.number("active"),
        idle=fields.number("idle") or 0.0,
        revision=1 if (revision := fields.whole("revision")) is None else revision,
        is_last=is_last,
        more=fields.mapping("more"),
    )


def _judgement(value: object, fields: Fields) -> Annotation | Preference:
    record = record_from_json(value)
    if isinstance(record, Failure):
        fields.fail("'records' holds what a person said, and never a failure")
    return record


def _spans(values: object, fields: Fields) -> tuple[ErrorSpan, ...]:
    if not isinstance(values, list):
        fields.fail(f"'given' must hold lists of spans, got {values!r}")
    return tuple(map(span_from_json, values))


# Writing...


def write_campaign_file(
    path: Path | str, file: CampaignFile, submissions: Iterable[Submission] | None = None
) -> None:
    """Write a campaign's export; it appears whole or not at all.

    Args:
        path: where to; `-` is standard output.
        file: the campaign.
        submissions: instead of the file's own, where they are too many to stand in memory.

    Raises:
        DataError: it cannot be written, or holds what is no JSON: a NaN, half a surrogate pair.
    """
    write_bytes(Path(path), _lines(file, file.submissions if submissions is None else submissions))


def _lines(file: CampaignFile, submissions: Iterable[Submission]) -> Iterator[bytes]:
    settings = _checked(file.settings)
    yield render_json_line(
        {"schema": SCHEMA, "name": file.name, "protocol": file.protocol, "settings": settings}
    )
    yield from map(render_json_line, map(submission_to_json, submissions))


def submission_to_json(submission: Submission) -> dict[str, Any]:
    """The JSON object of a submission; left out what a reader would take for granted.

    Raises:
        DataError: `more` holds what is no JSON.
    """
    s = submission
    given = {system: [span_to_json(span) for span in spans] for system, spans in s.given.items()}
    values: dict[str, Any] = {
        "person": s.person,
        "protocol": s.protocol,
        "kind": s.kind,
        "lp": s.lp,
        "document": s.document,
        "segment": s.segment,
        "task": s.task,
        "item": s.item,
        "place": s.place,
        "batch": s.batch,
        "records": [record_to_json(record) for record in s.records],
        "source": s.source,
        "texts": dict(s.texts),
        "started": s.started,
        "ended": s.ended,
        "active": s.active,
        "idle": s.idle,
        "revision": s.revision,
        "is_last": s.is_last,
    }
    rare = {"originals": dict(s.originals), "given": given, "chosen": s.chosen, "edited": s.edited}
    values |= {key: value for key, value in rare.items() if value not in (None, {})}
    return values | ({"more": _checked(s.more)} if s.more else {})


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """What comes from elsewhere, once it is sure that reading it gives the same.

    Raises:
        DataError: it would not.
    """
    try:
        same = json.loads(json.dumps(values, allow_nan=False)) == values
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"'settings' and 'more' must be plain JSON: {error}") from error
    if not same:
        raise DataError("'settings' and 'more' must be plain JSON: lists, and objects with texts as keys")
    return dict(values)
