"""What people said in Pearmut: one JSON line a document submitted, or one JSON of several campaigns' lines.

A line holds the document as it was shown, so that nothing else is needed to read it. A document of one person
that stands in several lines was submitted again, and the last line counts; so it does where that shows more
models than the ones before. A line that says `__RESET__` takes back everything that its user had submitted
before it. What was skipped is no judgement. What our own words have no place for is kept in
`Submission.more`: `pearmut_export` writes back what is equal to what was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from adjudge.core.annotation import Annotation
from adjudge.data.files import read_json_file, read_json_lines
from adjudge.data.pearmut import PearmutItem, find_lp, read_item, read_spans
from adjudge.data.shape import Fields
from adjudge.data.submissions import CampaignFile, Kind, Submission
from adjudge.errors import DataError

__all__ = ["MORE", "RESET", "read_pearmut_submissions"]

MORE: Final = "pearmut"
"""Key of `Submission.more` and of `CampaignFile.settings`: what else a file of Pearmut said."""
RESET: Final = "__RESET__"

_LONGEST_GAP: Final = 61.0
"""Seconds between two actions that still count as work, as Pearmut counts."""
_SKIPPED: Final = "submit_skip"
"""Action that ends a document whose open items were left open."""
_KINDS: Final[Mapping[str, Kind]] = {"welcome": "tutorial", "goodbye": "tutorial", "random": "check"}
"""What documents are that stand beside a campaign's data, by how their numbers begin."""
_PROTOCOLS: Final = {"DA": "da-sqm", "ESA": "esa", "cESA": "contrastive-esa", "MQM": "mqm"}


@dataclass(frozen=True, kw_only=True)
class _Line:
    number: int
    campaign: str
    fields: Fields

    @property
    def user(self) -> str:
        return self.fields.text("user_id", "unknown")

    @property
    def is_reset(self) -> bool:
        return self.fields.values.get("annotation") == RESET

    @property
    def is_other(self) -> bool:
        """Whether it judges no translation: it takes back, or answers a form."""
        items = self.fields.values.get("item")
        forms = [i for i in items if isinstance(i, dict) and "form" in i] if isinstance(items, list) else []
        return self.is_reset or bool(forms)

    @property
    def actions(self) -> list[Fields]:
        """What the person did, in the order in which it was logged."""
        actions = self.fields.values.get("actions") or []
        if not isinstance(actions, list):
            self.fields.fail(f"'actions' must be a list, got {actions!r:.80}")
        path, line = self.fields.path, self.fields.line
        return [Fields(action, "action", path, line) for action in actions if isinstance(action, dict)]

    @property
    def is_skipped(self) -> bool:
        """Whether what had no score then was left out."""
        return any(action.values.get("action") == _SKIPPED for action in self.actions)


def read_pearmut_submissions(
    path: Path | str, lp: str | None = None, *, protocol: str | None = None
) -> CampaignFile:
    """Read annotations.

    Args:
        path: JSON lines, whose file is named after its campaign, or JSON: campaign to its lines.
        lp: language pair, where no campaign's name says it.
        protocol: DA, ESA, cESA or MQM as the campaign has it; told by the answers if left out.

    Raises:
        DataError: a line is none; says which.
        UsageError: nothing says the language pair.
    """
    path = Path(path)
    is_json, lines = _read_lines(path)
    told = _PROTOCOLS.get(protocol or "") or _told(lines)
    found = [one for line in lines if not line.is_other for one in _submissions(line, lp, told)]
    kept = [
        {"line": o.number, "campaign": o.campaign, "fields": dict(o.fields.values)}
        for o in lines
        if o.is_other
    ]
    names = [*dict.fromkeys(line.campaign for line in lines)]
    return CampaignFile(
        name=names[0] if len(names) == 1 else path.stem,
        protocol=told,
        submissions=_in_order(found, [line for line in lines if line.is_reset]),
        settings={MORE: {"is_json": is_json, "campaigns": names, "others": kept}},
    )


def _read_lines(path: Path) -> tuple[bool, list[_Line]]:
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        return False, [_line(value, number, name, path) for number, value in read_json_lines(path)]
    found = read_json_file(path)
    if not isinstance(found, dict) or not all(isinstance(lines, list) for lines in found.values()):
        raise DataError("wanted a JSON object: campaign to a list of what was submitted", path=path)
    rows = [(name, value) for name, lines in found.items() for value in lines]
    return True, [_line(value, number, name, path) for number, (name, value) in enumerate(rows, start=1)]


def _line(value: object, number: int, campaign: str, path: Path) -> _Line:
    if not isinstance(value, dict) or "annotation" not in value:
        raise DataError("wanted a JSON object with an annotation", path=path, line=number)
    fields = Fields(value, "submission", path, number)
    return _Line(number=number, campaign=campaign, fields=fields)


def _told(lines: Iterable[_Line]) -> str:
    """Protocol by what was answered: categories, several models side by side, or neither."""
    has_several = False
    for answer in (answer for line in lines for answer in _answers(line)):
        has_several |= len(answer) > 1
        marked = [one["error_spans"] for one in answer.values() if isinstance(one.get("error_spans"), list)]
        if any(isinstance(span, dict) and span.get("category") for spans in marked for span in spans):
            return "mqm"
    return "contrastive-esa" if has_several else "esa"


def _answers(line: _Line) -> Iterator[Mapping[str, Mapping[str, Any]]]:
    """Of each item, the models that were answered for: in a document that was skipped, those with a score."""
    answers, is_skipped = line.fields.values["annotation"], line.is_skipped
    for answer in answers if isinstance(answers, list) else ():
        kept = answer.items() if isinstance(answer, dict) else ()
        said = {model: one for model, one in kept if isinstance(one, dict)}
        yield {model: one for model, one in said.items() if not is_skipped or one.get("score") is not None}


def _submissions(line: _Line, lp: str | None, protocol: str) -> Iterator[Submission]:
    fields = line.fields
    items, answers = fields.values.get("item"), fields.values["annotation"]
    if not isinstance(items, list) or not isinstance(answers, list) or len(items) != len(answers):
        fields.fail("'item' and 'annotation' must be two lists of one length")
    rest = {k: v for k, v in fields.values.items() if k not in {"annotation", "item", "user_id"}}
    by, times = (line.user, find_lp(line.campaign, lp), protocol), _times(line.actions, len(items))
    for at, answer in enumerate(_answers(line)):
        item = read_item(items[at], fields.path, fields.line)
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
            given=_given(item, fields),
            started=started,
            ended=ended,
            active=active,
            idle=idle,
            more={MORE: more},
        )


def _kind(item: PearmutItem, number: object) -> Kind:
    name, dash, _ = str(number).partition("_")
    if dash and name in _KINDS:
        return _KINDS[name]
    return "check" if item.is_check else "original"


def _given(item: PearmutItem, where: Fields) -> dict[str, Any]:
    marked = Fields(item.values, "item", where.path, where.line).mapping("error_spans")
    return {
        model: read_spans(marked[model], item.texts[model], where) for model in item.texts if model in marked
    }


def _records(
    item: PearmutItem, answer: Mapping[str, Mapping[str, Any]], by: tuple[str, str, str], where: Fields
) -> tuple[Annotation, ...]:
    """One annotation a model that was answered for; what was skipped has none."""
    found: list[Annotation] = []
    for model, said in answer.items():
        if model not in item.texts:
            where.fail(f"an answer is about {model!r}, which the item does not show")
        try:
            found += _record(item, model, Fields(said, "answer", where.path, where.line), by)
        except DataError as error:
            if error.path is not None:
                raise
            where.fail(str(error))
    return tuple(found)


def _record(item: PearmutItem, model: str, said: Fields, by: tuple[str, str, str]) -> Iterator[Annotation]:
    person, lp, protocol = by
    record = {"contrastive-esa": "esa"}.get(protocol, protocol)
    rating = said.number("score")
    if record == "mqm" or rating is not None:
        yield Annotation(
            lp=lp,
            segment=item.segment,
            system=model,
            annotator=person,
            protocol=record,
            document=item.document,
            rating=None if record == "mqm" else rating,
            spans=read_spans(said.values.get("error_spans"), item.texts[model], said),
        )


def _times(actions: Sequence[Fields], count: int) -> list[tuple[float, float, float, float]]:
    """Start, end, seconds of work and of pauses of each item: a gap is of the action that ends it."""
    timed = ((action.number("time"), action.whole("index")) for action in actions)
    known = [(time, -1 if index is None else index) for time, index in timed if time is not None]
    moments = sorted(known, key=lambda moment: moment[0])
    if not moments:
        return [(0.0, 0.0, 0.0, 0.0)] * count
    found = []
    for at in range(count):
        gaps = [later - earlier for (earlier, _), (later, of) in pairwise(moments) if of == at]
        own = [time for time, of in moments if of == at] or [moments[0][0]]
        active = sum(min(gap, _LONGEST_GAP) for gap in gaps)
        found.append((min(own), max(own), active, sum(gaps) - active))
    return found


def _in_order(submissions: list[Submission], resets: Sequence[_Line]) -> tuple[Submission, ...]:
    """By when they were finished; with tasks, places, and which one counts."""
    reset = {(line.campaign, line.fields.optional_text("user_id")): line.number for line in resets}
    last = {same: (one.more[MORE]["line"], one.item) for one in submissions for same in _same(one)}
    tasks: dict[int, int] = {}
    done: Counter[str] = Counter()
    ordered = []
    for one in sorted(submissions, key=lambda s: (s.ended, s.more[MORE]["line"], s.item)):
        more = one.more[MORE]
        is_last = any(last[same] == (more["line"], one.item) for same in _same(one))
        taken_back = max(reset.get((more["campaign"], user), 0) for user in (one.person, None))
        is_last = is_last and more["line"] > taken_back
        task = tasks.setdefault(more["line"], len(tasks) + 1)
        ordered.append(replace(one, task=task, place=done[one.person], is_last=is_last))
        done[one.person] += 1
    return tuple(ordered)


def _same(one: Submission) -> list[tuple[str, ...]]:
    """What is the same, of each model, when the same person submits an item again."""
    return [(one.more[MORE]["campaign"], one.person, one.segment, model, one.kind) for model in one.texts]
