"""From the store to submissions: what people said, under the names of the systems, whenever it is asked for.

What is finished is exported, of tasks under way too; items without all that the protocol asks for are not.
Texts stand in the order in which they were shown, records in the systems' order. `fitting_forms` and
`check_form` say which file formats hold what people say under a protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, select, tuple_

from adjudge.campaigns.database import Campaign, answer, assignment, item, person, task
from adjudge.campaigns.database import verdict as decisions
from adjudge.campaigns.items import (
    ITEM_COLUMNS,
    OMISSION,
    TURNED,
    AnyRow,
    ItemShown,
    MarkedSpan,
    State,
    feedback,
    read_item,
    read_state,
)
from adjudge.campaigns.settings import CampaignProtocol, canonical_category
from adjudge.core.protocol import INSTRUCTION_FAULT, find_severity
from adjudge.core.record import ADJUDICATED, SECOND_LOOK, Annotation, ErrorSpan, Preference
from adjudge.core.segment import INSTRUCTION
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import CampaignFile, Submission, select_lp, write_campaign_file
from adjudge.formats.convert import of_annotator, write_content
from adjudge.formats.file_content import content_of
from adjudge.store.json_lines import record_to_json, span_to_json

NON_TRANSLATION: Final = "non-translation"
"""Category of the mark over a whole translation that is none of its source."""
_COUNTS: Final = answer.c.is_complete.is_(True)
_AT_ONCE: Final = 300  # answers read at a time


def export_campaign(campaign: Campaign) -> CampaignFile:
    """Everything that is finished, in memory; `stream_submissions` is for what should not be held there."""
    return replace(campaign_header(campaign), submissions=tuple(stream_submissions(campaign)))


def campaign_header(campaign: Campaign) -> CampaignFile:
    """An export without its submissions, to be written before them."""
    return CampaignFile(
        name=campaign.name,
        protocol=campaign.settings.protocol,
        submissions=(),
        settings={
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(campaign.settings).items()
        },
    )


def stream_submissions(campaign: Campaign) -> Iterator[Submission]:
    """Submissions in the order in which they were finished, some hundreds in memory at a time."""
    finished: Counter[int] = Counter()
    with campaign.database.reading() as connection:
        keys = _keys(connection, campaign)
        dropped = dropped_segments(connection, campaign)
        for start in range(0, len(keys), _AT_ONCE):
            chunk = keys[start : start + _AT_ONCE]
            answered = (
                answer.c.revision,
                answer.c.state,
                answer.c.active,
                answer.c.idle,
                answer.c.first_at,
                answer.c.last_at,
                answer.c.language,
            )
            query = (
                select(
                    *ITEM_COLUMNS,
                    *answered,
                    assignment.c.id.label("assignment_id"),
                    assignment.c.seed,
                    assignment.c.person_id,
                    person.c.name,
                    task.c.kind,
                    task.c.lp,
                    task.c.document,
                    task.c.number,
                    task.c.batch,
                )
                .join_from(answer, item)
                .join(assignment, assignment.c.id == answer.c.assignment_id)
                .join(task, task.c.id == assignment.c.task_id)
                .join(person, person.c.id == assignment.c.person_id)
                .where(tuple_(answer.c.assignment_id, answer.c.item_id).in_(chunk), _COUNTS)
            )
            rows = {(row.assignment_id, row.item_id): row for row in connection.execute(query)}
            for key in chunk:
                if (row := rows.get(key)) is None:
                    continue  # taken back since, on a server that shows each query the newest state
                place = finished[row.person_id]
                shown = read_item(campaign, row, row.seed)
                state = read_state(row.state)
                chosen = None if state.chosen is None else shown.translations[state.chosen]["system"]
                between = [
                    {
                        "person": name,
                        "records": [
                            record_to_json(r)
                            for r in _records(campaign, row, shown, (name, state), "original")
                        ],
                    }
                    | ({} if state.chosen is None else {"chosen": shown.translations[state.chosen]["system"]})
                    | ({} if state.edited is None else {"edited": state.edited})
                    for name, state in shown.between
                ]
                yield (
                    Submission(
                        person=row.name,
                        protocol=campaign.settings.protocol,
                        kind=row.kind,
                        lp=row.lp,
                        document=row.document,
                        segment=row.segment,
                        task=row.number,
                        item=row.item_place,
                        place=place,
                        batch=row.batch,
                        records=_records(campaign, row, shown, (row.name, state), row.kind),
                        texts={one["system"]: one["text"] for one in shown.translations},
                        source=row.source,
                        originals={
                            one["system"]: one["original"]
                            for one in shown.translations
                            if one["original"] is not None
                        },
                        given=_beforehand(shown, "given"),
                        chosen=chosen,
                        edited=state.edited,
                        started=row.first_at,
                        ended=row.last_at,
                        active=row.active,
                        idle=row.idle,
                        language=row.language,
                        revision=row.revision,
                        more=_more(row.kind, shown, state)
                        | ({"role": "adjudicator", "between": between} if between else {})
                        | ({"gate": "dropped"} if (row.lp, row.segment) in dropped else {}),
                    )
                )
                finished[row.person_id] += 1


def _keys(connection: Connection, campaign: Campaign) -> list[tuple[int, int]]:
    query = (
        select(answer.c.assignment_id, answer.c.item_id)
        .join_from(answer, assignment)
        .join(task, task.c.id == assignment.c.task_id)
        .where(task.c.campaign_id == campaign.id, _COUNTS)
        .order_by(answer.c.last_at, answer.c.assignment_id, answer.c.item_id)
    )
    return [(number, item_number) for number, item_number in connection.execute(query)]


def dropped_segments(connection: Connection, campaign: Campaign) -> frozenset[tuple[str, str]]:
    """Language pair and id of the segments that the agreement gate dropped."""
    is_dropped = (decisions.c.campaign_id == campaign.id) & (decisions.c.decision == "dropped")
    rows = connection.execute(select(decisions.c.lp, decisions.c.segment).where(is_dropped))
    return frozenset((lp, segment) for lp, segment in rows)


def _records(
    campaign: Campaign, row: AnyRow, shown: ItemShown, by: tuple[str, State], kind: str
) -> tuple[Annotation | Preference, ...]:
    protocol = campaign.protocol
    name, state = by
    said: dict[str, Any] = {
        "lp": row.lp,
        "segment": row.segment,
        "annotator": name,
        "document": row.document,
        "rationale": state.comment or None,
        "flags": _FLAGS.get(kind, ()) if shown.check is not None else (),
    }
    if protocol.criteria:
        return tuple(_preferences(shown, state, said))
    if not protocol.record:
        return ()
    places = sorted(range(len(shown.order)), key=shown.order.__getitem__)
    return tuple(_annotation(shown, state, place, {**said, "protocol": protocol.record}) for place in places)


_FLAGS: Final = {"adjudication": (ADJUDICATED,), "again": (SECOND_LOOK,)}
"""Of people who are shown what others said; what the gate sends again shows nothing, and expects nothing."""


def _preferences(shown: ItemShown, state: State, said: Mapping[str, Any]) -> Iterator[Preference]:
    first, second = (one["system"] for one in shown.translations)
    is_turned = shown.order == (1, 0)
    systems = (second, first) if is_turned else (first, second)
    for criterion, verdict in state.verdicts.items():
        ours = TURNED[verdict] if is_turned else verdict
        yield Preference(**said, systems=systems, criterion=criterion, verdict=ours)


def _annotation(shown: ItemShown, state: State, place: int, said: Mapping[str, Any]) -> Annotation:
    one, part = shown.translations[place], state.translations[place]
    spans = [_span(span) for span in part.spans]
    if (missing := part.missing) is not None:
        kind = _categories(missing.category or OMISSION)
        spans.append(ErrorSpan(severity=missing.severity, match="unplaced", **kind))
    if (fault := part.instruction_fault) is not None:
        spans.append(ErrorSpan(severity=fault, match="unplaced", category=INSTRUCTION_FAULT))
    if place < len(state.is_non_translation) and state.is_non_translation[place]:
        text = one["text"]
        whole = ErrorSpan(severity="major", start=0, end=len(text), text=text, category=NON_TRANSLATION)
        spans.append(whole)
    return Annotation(**said, system=one["system"], rating=part.rating, spans=tuple(spans))


def _span(span: MarkedSpan) -> ErrorSpan:
    return ErrorSpan(
        severity=span.severity,
        start=span.start,
        end=span.end,
        text=span.text,
        side=span.side,
        note=span.note,
        **_categories(span.category),
    )


def _categories(category: str | None) -> dict[str, Any]:
    if category is None:
        return {"category": None}
    canonical = canonical_category(category)
    return {"category": canonical, "label": None if canonical == category else category}


def _beforehand(shown: ItemShown, name: Literal["given", "withheld"]) -> dict[str, tuple[ErrorSpan, ...]]:
    return {
        one["system"]: tuple(
            ErrorSpan(
                severity=find_severity(span["severity"]) or "neutral",
                match="exact" if span["text"] else "unplaced",
                start=span["start"],
                end=span["end"],
                text=span["text"],
                side="source" if span["side"] == "source" else "translation",
                note=span["note"],
                **_categories(span["category"]),
            )
            for span in spans
        )
        for one in shown.translations
        if (spans := one.get(name)) is not None
    }


def _more(kind: str, shown: ItemShown, state: State) -> dict[str, Any]:
    found: dict[str, Any] = {INSTRUCTION: told} if (told := shown.asked.instruction) else {}
    if kind == "control" and (withheld := _beforehand(shown, "withheld")):
        found["withheld"] = {system: [*map(span_to_json, spans)] for system, spans in withheld.items()}
    if state.comment and shown.asked.protocol.shows == "candidates":
        found["comment"] = state.comment
    if shown.asked.protocol.shows == "pair":
        reasons = {
            one["system"]: [span.model_dump(mode="json", exclude={"id", "given"}) for span in part.spans]
            for one, part in zip(shown.translations, state.translations, strict=True)
            if part.spans
        }
        found |= {"reasons": reasons} if reasons else {}
    if shown.check is not None and kind in {"check", "tutorial"}:
        found["is_passed"] = not feedback(state, shown.check)
    return found


_ALWAYS: Final = ("campaign", "jsonl", "spreadsheet")
_MARKS: Final = frozenset({"mqm-tsv", "mtme-ratings"})
_NEVER_EMPTY: Final = (*_MARKS, "mtme-scores")  # a line a translation, of one language pair
_HOLD_ALL: Final = frozenset({"campaign", "appraise", "pearmut", "spreadsheet"})
_BEST: Final = 100
_FORMS: Final = (*_ALWAYS, "records", "appraise", "pearmut", *sorted(_MARKS), "mtme-scores")


def fitting_forms(protocol: CampaignProtocol) -> tuple[str, ...]:
    """Names of the formats that a campaign of a protocol can be exported to."""
    return tuple(form for form in _FORMS if not _misfit(protocol, form))


def check_form(protocol: CampaignProtocol, form: str) -> None:
    """Refuse to export a campaign to a format that does not hold it."""
    if why := _misfit(protocol, form):
        fitting = ", ".join(fitting_forms(protocol))
        raise UsageError(f"{form} {why}; a campaign of {protocol.name} is exported as {fitting}")


def write_export(
    campaign: Campaign,
    form: str,
    path: Path,
    *,
    lp: str | None = None,  # language pair that is wanted; None for all that the format can hold
    annotator: str | None = None,  # whose judgements alone; None for everybody's
    force: bool = False,
) -> tuple[CampaignFile | None, Counter[str]]:
    """Write everything that is finished so far.

    The campaign, and what the format does not hold of it; None where all was written line by line.
    """
    check_form(campaign.protocol, form)
    if form == "campaign" and lp is None and annotator is None:  # however many: a line at a time
        write_campaign_file(path, campaign_header(campaign), stream_submissions(campaign))
        return None, Counter()
    file = export_campaign(campaign)
    if not file.submissions and form in _NEVER_EMPTY:
        raise UsageError(f"nobody has judged anything in {file.name} yet, and {form} cannot be empty")
    content = content_of(select_lp(file, lp))
    if annotator is not None:
        content = of_annotator(content, annotator)
    left_out = write_content(path, form, content, force=force)
    return file, left_out if form in _HOLD_ALL else content.met + left_out


def _misfit(protocol: CampaignProtocol, form: str) -> str:
    """Why a format does not hold what is said; empty where it does."""
    if form in _ALWAYS or (form == "records" and protocol.record):
        return ""
    scale = protocol.scale
    best = _BEST if scale is None else scale.high
    misfits = (
        (not protocol.record, "holds judgements, and people write references here"),
        (bool(protocol.criteria), "holds no comparisons"),
        (
            form in _MARKS and not protocol.severities,
            "holds marked errors, and would call all that was rated free of them",
        ),
        (
            form in {"appraise", "pearmut"} and best != _BEST,
            f"rates from 0 to {_BEST}, and people rate from 0 to {best:g} here",
        ),
        (
            form == "mtme-scores" and scale is None,
            "holds ratings, and people mark errors alone; `adjudge score` turns marks into numbers",
        ),
    )
    return next((why for is_one, why in misfits if is_one), "")
