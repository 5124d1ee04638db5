"""Pearmut's campaigns, read as texts, and its annotations, read and written as submissions.

A campaign is one JSON with what is shown. `data` holds documents, each a list of items with a source and a
text of each model; in a task-based campaign tasks hold the documents, by number or, once it runs, by user.
Ends of spans are inclusive and offsets count UTF-16 units of the whole text; an offset behind the text is one
of the words shown after it, `[missing]` usually. Where a campaign has several such words (WMT26: `[missing]`,
`[instructions fault]`), they are counted from there.

Annotations are one JSON line a document submitted, or one JSON of several campaigns' lines.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp, lp_named
from adjudge.core.names import by_name
from adjudge.core.protocol import INSTRUCTION_FAULT, find_severity
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import INSTRUCTION, Segment, TestSet
from adjudge.errors import DataError, UsageError, names_file
from adjudge.formats.appraise import OMISSION, code_points, code_units
from adjudge.formats.campaign_export import (
    UNDECIDED_MARK,
    CampaignFile,
    Kind,
    Submission,
    in_place,
    unsaid_elsewhere,
)
from adjudge.formats.file_content import placed
from adjudge.formats.mqm_tsv import read_label, render_label
from adjudge.store.files import Fields, read_json_file, read_json_lines, write_lines, write_text

_DOCUMENT: Final = re.compile(r"(.*)_(?:#|###)_", re.DOTALL)
"""What comes before the last part of an id is the document."""
_TUTORIAL: Final = "_#_tutorial_#_"
_SPECIAL: Final = (OMISSION, INSTRUCTION_FAULT)
"""What the words behind a text stand for, in the order of WMT26's campaigns."""


@frozen
class PearmutItem:
    """One source with its translations."""

    segment: str  # its `item_id`, or a digest of its source where it has none
    document: str  # what its id says of it; empty where it says nothing
    source: str  # text; empty where there is none
    reference: str | None  # text, or None
    texts: Mapping[str, str]
    is_check: bool  # whether it says what a careful person would answer
    values: Mapping[str, Any]  # everything that the file says


@frozen
class PearmutCampaign:
    """One campaign, with the items that are to be judged."""

    name: str
    documents: tuple[tuple[PearmutItem, ...], ...]


@names_file
def read_pearmut(path: Path) -> PearmutCampaign:
    found = read_json_file(path)
    if not isinstance(found, dict) or "campaign_id" not in found or "data" not in found:
        raise DataError("wanted a JSON object with campaign_id, info and data")
    fields = Fields(found, "campaign")
    documents = _documents(found["data"], fields)
    return PearmutCampaign(
        name=fields.text("campaign_id"),
        documents=tuple(tuple(read_item(item) for item in items) for items in documents),
    )


def _documents(data: object, fields: Fields) -> list[list[object]]:
    parts: deque[object] = deque(data.values() if isinstance(data, dict) else [data])
    found: list[list[object]] = []
    while parts:
        part = parts.popleft()
        if not isinstance(part, list):
            fields.fail(f"'data' must hold lists of documents, got {part!r:.80}")
        if any(isinstance(item, list) for item in part):
            parts.extendleft(reversed(part))
        elif part and not all(isinstance(item, dict) and "form" in item for item in part):
            found.append(part)
    return found


def read_item(value: object, line: int | None = None) -> PearmutItem:
    if not isinstance(value, dict):
        raise DataError(f"an item must be a JSON object, got {value!r:.80}", line=line)
    fields = Fields(value, "item", line=line)
    texts = fields.text_mapping("tgt")
    if not texts:
        fields.fail("'tgt' must say a text of one model at least")
    segment = fields.name("item_id") if fields.has("item_id") else _digest(value)
    before = _DOCUMENT.match(segment)
    return PearmutItem(
        segment=segment,
        document=(fields.name("doc_id", "") if fields.has("doc_id") else "") or (before[1] if before else ""),
        source=fields.optional_text("src") or "",
        reference=fields.optional_text("ref"),
        texts=texts,
        is_check=bool(fields.mapping("validation")) or segment.startswith("attention_check_"),
        values=value,
    )


def _digest(item: Mapping[str, Any]) -> str:
    """A name for an item without one: the same for the same source, whatever its translations."""
    kept = {key: item.get(key) for key in ("src", "ref", "instructions")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:12]


def find_lp(name: str, wanted: str | None = None) -> str:
    """Take the language pair of a part of a campaign's name, such as `eng---deu v3`; else the one given."""
    if (lp := _own_lp(name) or (wanted and canonical_lp(wanted))) is None:
        raise UsageError(f"campaign {name!r} does not say its language pair: add --lp, such as --lp en-de")
    return lp


def _own_lp(name: str) -> str | None:
    parts = (part.split(" ")[0].replace("---", "-") for part in reversed(name.split("_#_")))
    return next(filter(None, map(lp_named, parts)), None)


def pearmut_test_set(campaign: PearmutCampaign, lp: str | None = None) -> TestSet:
    """The texts of a campaign, one segment an item, without those that are checks."""
    lp = find_lp(campaign.name, lp)
    found: dict[str, Segment] = {}
    for number, items in enumerate(campaign.documents, start=1):
        instruction = next((text for item in items if (text := _instruction(item.values))), "")
        for item in items:
            if not item.is_check and _TUTORIAL not in item.segment:
                document = item.document or str(number)
                before = found.get(item.segment)
                texts = {**item.texts, **(before.translations if before else {})}
                is_same = before is None or before.source == item.source
                if not is_same or any(texts[model] != text for model, text in item.texts.items()):
                    raise DataError(f"item {item.segment!r} stands in the campaign with two different texts")
                joined = Segment(
                    segment=item.segment,
                    lp=lp,
                    source=item.source,
                    translations=texts,
                    references={} if item.reference is None else {"ref": item.reference},
                    document=before.document if before else document,
                )
                meta = {INSTRUCTION: instruction} if instruction else {}
                found[item.segment] = replace(joined, meta={**joined.meta, **meta})
    return TestSet(name=campaign.name, segments=tuple(found.values()))


def _instruction(item: object) -> str:
    said = item.get("instructions") if isinstance(item, Mapping) else None
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", said)).split()) if isinstance(said, str) else ""


def read_spans(values: object, text: str, where: Fields) -> tuple[ErrorSpan, ...]:
    """Read spans. `values`: list as the file has it, or None for an empty one."""
    if values is not None and not isinstance(values, list):
        where.fail(f"'error_spans' must be a list, got {values!r:.80}")
    return tuple(_spans(values or (), text, where))


def _spans(values: Sequence[Any], text: str, where: Fields) -> Iterator[ErrorSpan]:
    units = code_units(text, len(text))
    for value in values:
        if not isinstance(value, dict):
            where.fail(f"a span must be a JSON object, got {value!r:.80}")
        fields = where.inner(value, "span")
        first, last = fields.whole("start_i"), fields.whole("end_i")
        if first is None or last is None or last < first:
            fields.fail(f"wanted 'start_i' and an 'end_i' not before it, got {first!r} and {last!r}")
        named = fields.optional_text("severity")
        severity = "neutral" if named is None else find_severity(named)
        if severity is None:
            fields.fail(f"severity must be one of neutral, minor, major, critical; got {named!r}")
        category, label = read_label(fields.optional_text("category") or "")
        note = "" if named else UNDECIDED_MARK
        said: dict[str, Any] = {"severity": severity, "note": note, "label": label}
        if first < units:
            place = code_points(text, first, min(last + 1, units))
            yield placed(text, *place, category=category, **said)
            continue
        if last - units >= len(_SPECIAL):
            fields.fail(
                f"the mark ends {last - units + 1} places behind the text, where there are {len(_SPECIAL)} "
                "words"
            )
        for special in _SPECIAL[first - units : last - units + 1]:
            known = special if category is None and label is None else category
            yield ErrorSpan(match="unplaced", category=known, **said)


def render_spans(spans: Sequence[ErrorSpan], text: str, *, has_categories: bool) -> list[dict[str, Any]]:
    """Spans as Pearmut has them; what it cannot hold (marks of the source or of nothing) is left out."""
    return [
        _rendered(span, text, has_categories=has_categories)
        for span in spans
        if span.side == "translation" and (span.start is None or span.start != span.end)
    ]


def _rendered(span: ErrorSpan, text: str, *, has_categories: bool) -> dict[str, Any]:
    place = code_units(text, len(text))
    place += _SPECIAL.index(span.category) if span.category in _SPECIAL else 0
    at = (place, place)
    if span.start is not None and span.end is not None:
        at = code_units(text, span.start), code_units(text, span.end) - 1
    is_plain = span.start is None and span.category in _SPECIAL and span.label is None
    label = render_label(span.category, span.label) if has_categories or not is_plain else ""
    severity = None if span.note == UNDECIDED_MARK else span.severity
    return {"start_i": at[0], "end_i": at[1], "category": label or None, "severity": severity}


MORE: Final = "pearmut"
"""Key of `Submission.more` and of `CampaignFile.settings`: what else a file of Pearmut said."""
RESET: Final = "__RESET__"
_CAMPAIGN: Final = "campaign_id"
"""Key of a line of JSON lines that we write: their file may have another name than the campaign."""

_LONGEST_GAP: Final = 61.0
"""Seconds between two actions that still count as work, as Pearmut counts."""
_KINDS: Final[Mapping[str, Kind]] = {"welcome": "tutorial", "goodbye": "tutorial", "random": "check"}
"""What documents are that stand beside a campaign's data, by how their numbers begin."""
_PROTOCOLS: Final = {"DA": "da-sqm", "ESA": "esa", "cESA": "contrastive-esa", "MQM": "mqm"}


@frozen
class _Line:
    number: int
    campaign: str
    fields: Fields

    @property
    def user(self) -> str:
        return self.fields.name("user_id", "unknown")

    @property
    def is_reset(self) -> bool:
        return self.fields.values.get("annotation") == RESET

    @property
    def is_other(self) -> bool:
        items = self.fields.values.get("item")
        forms = [i for i in items if isinstance(i, dict) and "form" in i] if isinstance(items, list) else []
        return self.is_reset or bool(forms)

    @property
    def actions(self) -> list[Fields]:
        actions = self.fields.values.get("actions") or []
        if not isinstance(actions, list):
            self.fields.fail(f"'actions' must be a list, got {actions!r:.80}")
        path, line = self.fields.path, self.fields.line
        return [Fields(action, "action", path, line) for action in actions if isinstance(action, dict)]

    @property
    def is_skipped(self) -> bool:
        """Whether the document was ended with items left open, so that what had no score then is left out."""
        return any(action.values.get("action") == "submit_skip" for action in self.actions)


@names_file
def read_pearmut_submissions(
    path: Path, lp: str | None = None, *, protocol: str | None = None
) -> CampaignFile:
    is_json, lines = _read_lines(path)
    told = _PROTOCOLS.get(protocol or "") or _told(lines)
    found = [one for line in lines if not line.is_other for one in _submissions(line, lp, told)]
    kept = [
        {"line": o.number, "campaign": o.campaign, "fields": dict(o.fields.values)}
        for o in lines
        if o.is_other
    ]
    names = [*dict.fromkeys(line.campaign for line in lines)]
    titles = {
        o.campaign.removesuffix(f"_#_{find_lp(o.campaign, lp)}") if o.fields.has(_CAMPAIGN) else o.campaign
        for o in lines
    }
    return CampaignFile(
        name=titles.pop() if len(titles) == 1 else path.stem,
        protocol=told,
        submissions=_in_order(found, [line for line in lines if line.is_reset]),
        settings={MORE: {"is_json": is_json, "campaigns": names, "others": kept}},
    )


def _read_lines(path: Path) -> tuple[bool, list[_Line]]:
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        read = [_line(value, number, name) for number, value in read_json_lines(path)]
        return False, [replace(one, campaign=one.fields.text(_CAMPAIGN, name)) for one in read]
    found = read_json_file(path)
    if not isinstance(found, dict) or not all(isinstance(lines, list) for lines in found.values()):
        raise DataError("wanted a JSON object: campaign to a list of what was submitted")
    rows = [(name, value) for name, lines in found.items() for value in lines]
    return True, [_line(value, number, name) for number, (name, value) in enumerate(rows, start=1)]


def _line(value: object, number: int, campaign: str) -> _Line:
    if not isinstance(value, dict) or "annotation" not in value:
        raise DataError("wanted a JSON object with an annotation", line=number)
    fields = Fields(value, "submission", line=number)
    return _Line(number=number, campaign=campaign, fields=fields)


def _told(lines: Iterable[_Line]) -> str:
    has_several = False
    for answer in (answer for line in lines for answer in _answers(line)):
        has_several |= len(answer) > 1
        marked = [one["error_spans"] for one in answer.values() if isinstance(one.get("error_spans"), list)]
        if any(isinstance(span, dict) and span.get("category") for spans in marked for span in spans):
            return "mqm"
    return "contrastive-esa" if has_several else "esa"


def _answers(line: _Line) -> Iterator[Mapping[str, Mapping[str, Any]]]:
    answers, is_skipped = line.fields.values["annotation"], line.is_skipped
    for answer in answers if isinstance(answers, list) else ():
        kept = answer.items() if isinstance(answer, dict) else ()
        answered = {model: one for model, one in kept if isinstance(one, dict)}
        said = by_name(answered, "system", line.fields.path, line.fields.line)
        yield {model: one for model, one in said.items() if not is_skipped or one.get("score") is not None}


def _submissions(line: _Line, lp: str | None, protocol: str) -> Iterator[Submission]:
    fields = line.fields
    items, answers = fields.values.get("item"), fields.values["annotation"]
    if not isinstance(items, list) or not isinstance(answers, list) or len(items) != len(answers):
        fields.fail("'item' and 'annotation' must be two lists of one length")
    rest = {k: v for k, v in fields.values.items() if k not in {"annotation", "item", "user_id"}}
    by, times = (line.user, find_lp(line.campaign, lp), protocol), _times(line.actions, len(items))
    told = next((text for value in items if (text := _instruction(value))), "")
    for at, answer in enumerate(_answers(line)):
        item = read_item(items[at], fields.line)
        marked = fields.inner(item.values, "item").by_name("error_spans")
        more = {"line": line.number, "at": at, "campaign": line.campaign, "item": dict(item.values)}
        more |= {"answer": answers[at], **({"fields": rest} if at == 0 else {})}
        started, ended, active, idle = times[at]
        yield Submission(
            person=line.user,
            protocol=protocol,
            kind=_kind(item, rest.get("item_i")),
            lp=by[1],
            segment=item.segment,
            document=item.document,
            item=at,
            records=_records(item, answer, by, fields),
            texts=item.texts,
            source=item.source,
            given={
                model: read_spans(marked[model], text, fields)
                for model, text in item.texts.items()
                if model in marked
            },
            started=started,
            ended=ended,
            active=active,
            idle=idle,
            more={MORE: more} | ({INSTRUCTION: told} if told else {}),
        )


def _kind(item: PearmutItem, number: object) -> Kind:
    if _TUTORIAL in item.segment:
        return "tutorial"
    name, dash, _ = str(number).partition("_")
    if dash and name in _KINDS:
        return _KINDS[name]
    return "check" if item.is_check else "original"


def _records(
    item: PearmutItem, answer: Mapping[str, Mapping[str, Any]], by: tuple[str, str, str], where: Fields
) -> tuple[Annotation, ...]:
    found: list[Annotation] = []
    person, lp, of_campaign = by
    protocol = "esa" if of_campaign == "contrastive-esa" else of_campaign
    for model, answered in answer.items():
        if model not in item.texts:
            where.fail(f"an answer is about {model!r}, which the item does not show")
        said = where.inner(answered, "answer")
        try:
            rating = said.number("score")
            if protocol == "mqm" or rating is not None:
                found.append(
                    Annotation(
                        lp=lp,
                        segment=item.segment,
                        system=model,
                        annotator=person,
                        protocol=protocol,
                        document=item.document,
                        rating=None if protocol == "mqm" else rating,
                        spans=read_spans(said.values.get("error_spans"), item.texts[model], said),
                    )
                )
        except DataError as error:
            if error.path is not None:
                raise
            where.fail(str(error))
    return tuple(found)


def _times(actions: Sequence[Fields], count: int) -> list[tuple[float, float, float | None, float]]:
    """Start, end, seconds of work and of pauses of each item: a gap is of the action that ends it.

    Where there are no times, nobody knows the seconds of work.
    """
    timed = ((action.number("time"), action.whole("index")) for action in actions)
    known = [(time, -1 if index is None else index) for time, index in timed if time is not None]
    moments = sorted(known, key=lambda moment: moment[0])
    if not moments:
        return [(0.0, 0.0, None, 0.0)] * count
    found: list[tuple[float, float, float | None, float]] = []
    for at in range(count):
        gaps = [later - earlier for (earlier, _), (later, of) in pairwise(moments) if of == at]
        own = [time for time, of in moments if of == at] or [moments[0][0]]
        active = sum(min(gap, _LONGEST_GAP) for gap in gaps)
        found.append((min(own), max(own), active, sum(gaps) - active))
    return found


def _in_order(submissions: list[Submission], resets: Sequence[_Line]) -> tuple[Submission, ...]:
    reset = {(line.campaign, line.fields.optional_text("user_id")): line.number for line in resets}
    last = {same: (one.more[MORE]["line"], one.item) for one in submissions for same in _same(one)}
    tasks: dict[int, int] = {}
    ordered = []
    for one in sorted(submissions, key=lambda s: (s.ended, s.more[MORE]["line"], s.item)):
        more = one.more[MORE]
        taken_back = max(reset.get((more["campaign"], user), 0) for user in (one.person, None))
        counts = any(last[same] == (more["line"], one.item) for same in _same(one))
        task = tasks.setdefault(more["line"], len(tasks) + 1)
        ordered.append(replace(one, task=task, is_last=counts and more["line"] > taken_back))
    return tuple(in_place(ordered))


def _same(one: Submission) -> list[tuple[str, ...]]:
    return [(one.more[MORE]["campaign"], one.person, one.segment, model, one.kind) for model in one.texts]


def write_pearmut_submissions(path: Path, file: CampaignFile) -> Counter[str]:
    """Write annotations as JSON lines or, where they came from one JSON of several campaigns, as that.

    What came from Pearmut is written as it stood there.

    What Pearmut has no words for, and how often it was left out.
    """
    left_out: Counter[str] = Counter()
    about: Mapping[str, Any] = file.settings.get(MORE, {})
    lines = [(other["line"], other["campaign"], other["fields"]) for other in about.get("others", ())]
    lines += _stored([s for s in file.submissions if MORE in s.more])
    last = max((number for number, _, _ in lines), default=0)
    ours = _rendered_submissions(file, left_out)
    lines += [(number, line[_CAMPAIGN], line) for number, line in enumerate(ours, start=last + 1)]
    lines.sort(key=lambda line: line[0])
    if about.get("is_json"):
        found: dict[str, list[object]] = {name: [] for name in about["campaigns"]}
        for _, campaign, line in lines:
            found.setdefault(campaign, []).append(line)
        write_text(path, [json.dumps(found, ensure_ascii=False), "\n"])
    else:
        write_lines(path, (json.dumps(line, ensure_ascii=False) for _, _, line in lines))
    return +left_out


def _stored(submissions: Sequence[Submission]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    kept = (s.more[MORE] | {"person": s.person} for s in submissions)
    in_order = sorted(kept, key=lambda more: (more["line"], more["at"]))
    for number, group in groupby(in_order, key=lambda more: more["line"]):
        parts = [*group]
        line = {"annotation": [p["answer"] for p in parts], "item": [p["item"] for p in parts]}
        rest = parts[0]["fields"]
        user = {} if parts[0]["person"] == "unknown" else {"user_id": parts[0]["person"]}
        yield number, parts[0]["campaign"], {**line, **rest, **user}


def _rendered_submissions(file: CampaignFile, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    tasks: dict[_Task, list[Submission]] = {}
    for one in file.submissions:
        if MORE not in one.more:
            left_out.update(unsaid_elsewhere(one))
            if any(isinstance(record, Annotation) for record in one.records):
                tasks.setdefault((one.person, one.task, one.is_last, one.lp), []).append(one)
    for (person, task, _, lp), said in sorted(tasks.items(), key=_order):
        parts = sorted(said, key=lambda s: (s.item, s.ended))
        actions = [{"time": min(s.started for s in parts), "action": "load"}]
        actions += [{"time": s.ended, "action": "score", "index": at} for at, s in enumerate(parts)]
        yield {
            "annotation": [_answer(s, left_out) for s in parts],
            "actions": [*actions, {"time": max(s.ended for s in parts), "action": "submit"}],
            "item": [_item(s) for s in parts],
            "user_id": person,
            "item_i": f"welcome_{task}" if parts[0].kind == "tutorial" else task,
            _CAMPAIGN: file.name if _own_lp(file.name) == lp else f"{file.name}_#_{lp}",
        }


_Task = tuple[str, int, bool, str]
"""Person, number of the task, whether it counts, and language pair."""


def _order(entry: tuple[_Task, Sequence[Submission]]) -> tuple[bool, bool, float]:
    """What counts comes last, since of one item the later line counts: not what a filler showed again."""
    (_, _, is_last, _), parts = entry
    return is_last, not any(submission.is_filler for submission in parts), parts[0].ended


def _answer(submission: Submission, left_out: Counter[str]) -> dict[str, Any]:
    found = {}
    for record in submission.records:
        if isinstance(record, Annotation):
            text = submission.texts.get(record.system, "")
            has_categories = record.protocol == "mqm"
            said = record.spans if has_categories else tuple(map(_plain, record.spans))
            left_out["categories of marks, which would make it MQM without ratings"] += sum(
                one.category != span.category for one, span in zip(said, record.spans, strict=True)
            )
            spans = render_spans(said, text, has_categories=has_categories)
            left_out["marks of the source, or of nothing"] += len(record.spans) - len(spans)
            found[record.system] = {"score": record.rating, "error_spans": spans}
    return found


def _plain(span: ErrorSpan) -> ErrorSpan:
    special = span.category if span.category in _SPECIAL else OMISSION
    category = special if span.start is None else None
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
        **({"instructions": html.escape(told)} if (told := submission.instruction) else {}),
        **({"error_spans": given} if given else {}),
        **({"validation": check} if submission.kind == "check" else {}),
    }
