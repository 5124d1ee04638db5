"""Campaigns as Pearmut's annotations: a line for each document that a person submitted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.data.files import write_lines, write_text
from adjudge.data.pearmut import render_spans
from adjudge.data.pearmut_submissions import MORE
from adjudge.data.submission_records import unsaid_elsewhere
from adjudge.data.submissions import CampaignFile, Submission

__all__ = ["write_pearmut_submissions"]

_OMISSION: Final = "accuracy/omission"
_CATEGORIES: Final = "categories of marks, which would make it MQM without ratings"


def write_pearmut_submissions(path: Path | str, file: CampaignFile) -> Counter[str]:
    """Write annotations as JSON lines or, where they came from one JSON of several campaigns, as that.

    What came from Pearmut is written as it stood there.

    Returns:
        What Pearmut has no words for, and how often it was left out.

    Raises:
        DataError: it cannot be written.
    """
    left_out: Counter[str] = Counter()
    about: Mapping[str, Any] = file.settings.get(MORE, {})
    lines = [(other["line"], other["campaign"], other["fields"]) for other in about.get("others", ())]
    lines += _stored([s for s in file.submissions if MORE in s.more])
    last = max((number for number, _, _ in lines), default=0)
    ours = _rendered([s for s in file.submissions if MORE not in s.more], left_out)
    lines += [(number, file.name, line) for number, line in enumerate(ours, start=last + 1)]
    lines.sort(key=lambda line: line[0])
    if about.get("is_json"):
        found: dict[str, list[object]] = {name: [] for name in about["campaigns"]}
        for _, campaign, line in lines:
            found.setdefault(campaign, []).append(line)
        write_text(Path(path), [json.dumps(found, ensure_ascii=False), "\n"])
    else:
        write_lines(Path(path), (json.dumps(line, ensure_ascii=False) for _, _, line in lines))
    return +left_out


def _stored(submissions: Sequence[Submission]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Lines as they stood in the file that they came from."""
    kept = sorted((s.more[MORE] | {"person": s.person} for s in submissions), key=_place)
    for number, group in groupby(kept, key=lambda more: more["line"]):
        parts = [*group]
        line = {"annotation": [p["answer"] for p in parts], "item": [p["item"] for p in parts]}
        rest = parts[0]["fields"]
        user = {} if parts[0]["person"] == "unknown" else {"user_id": parts[0]["person"]}
        yield number, parts[0]["campaign"], {**line, **rest, **user}


def _place(more: Mapping[str, Any]) -> tuple[int, int]:
    return more["line"], more["at"]


def _rendered(submissions: Sequence[Submission], left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """Lines of a campaign that was not Pearmut's: what one person did of one task."""
    tasks: dict[tuple[str, int, bool], list[Submission]] = {}
    for submission in submissions:
        left_out.update(unsaid_elsewhere(submission))
        if any(isinstance(record, Annotation) for record in submission.records):
            tasks.setdefault((submission.person, submission.task, submission.is_last), []).append(submission)
    for (person, task, _), parts in sorted(tasks.items(), key=_order):
        yield _line(person, task, sorted(parts, key=lambda s: (s.item, s.ended)), left_out)


def _order(entry: tuple[tuple[str, int, bool], Sequence[Submission]]) -> tuple[bool, bool, float]:
    """What counts comes last, since of one item the later line counts: not what a filler showed again."""
    (_, _, is_last), parts = entry
    return is_last, not any(submission.is_filler for submission in parts), parts[0].ended


def _line(person: str, task: int, parts: Sequence[Submission], left_out: Counter[str]) -> dict[str, Any]:
    actions = [{"time": min(s.started for s in parts), "action": "load"}]
    actions += [{"time": s.ended, "action": "score", "index": at} for at, s in enumerate(parts)]
    return {
        "annotation": [_answer(s, left_out) for s in parts],
        "actions": [*actions, {"time": max(s.ended for s in parts), "action": "submit"}],
        "item": [_item(s) for s in parts],
        "user_id": person,
        "item_i": f"welcome_{task}" if parts[0].kind == "tutorial" else task,
    }


def _answer(submission: Submission, left_out: Counter[str]) -> dict[str, Any]:
    found = {}
    for record in submission.records:
        if isinstance(record, Annotation):
            text = submission.texts.get(record.system, "")
            has_categories = record.protocol == "mqm"
            said = record.spans if has_categories else tuple(map(_plain, record.spans))
            left_out[_CATEGORIES] += sum(
                one.category != span.category for one, span in zip(said, record.spans, strict=True)
            )
            spans = render_spans(said, text, has_categories=has_categories)
            left_out["marks of the source, or of nothing"] += len(record.spans) - len(spans)
            found[record.system] = {"score": record.rating, "error_spans": spans}
    return found


def _plain(span: ErrorSpan) -> ErrorSpan:
    """A mark as a protocol with ratings has it: with categories, Pearmut's readers take it for MQM."""
    category = _OMISSION if span.start is None else None
    return replace(span, category=category, label=None)


def _item(submission: Submission) -> dict[str, Any]:
    given = {
        system: render_spans(spans, submission.texts.get(system, ""), has_categories=False)
        for system, spans in submission.given.items()
    }
    check = {system: {"warning": "a damaged copy"} for system in submission.originals}
    return {
        "item_id": submission.segment,
        "doc_id": submission.document,
        "src": submission.source,
        "tgt": dict(submission.texts),
        **({"error_spans": given} if given else {}),
        **({"validation": check} if submission.kind == "check" else {}),
    }
