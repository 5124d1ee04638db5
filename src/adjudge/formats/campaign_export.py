"""A campaign's submissions: what each one says, which judgements count, and the texts that they are about.

Its export is JSON lines: the first names schema and campaign, every other is a submission. `final_records`
gives the judgements that count, `campaign_test_set` the texts as they were before any was damaged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

from adjudge.core.frozen import frozen
from adjudge.core.language import lp_among
from adjudge.core.names import keep_names
from adjudge.core.protocol import find_protocol, is_number
from adjudge.core.record import DUPLICATE, Annotation, ErrorSpan, Failure, Preference, by_pair
from adjudge.core.segment import INSTRUCTION, Segment, TestSet
from adjudge.errors import DataError, UsageError, placing
from adjudge.store.files import Fields, read_fields, read_json_lines, render_json_line, write_bytes
from adjudge.store.json_lines import record_from_json, record_to_json, span_from_json, span_to_json

SCHEMA: Final = "adjudge-campaign/1"

UNDECIDED_MARK: Final = "undecided"
"""Severity of a mark that was being removed when it was stored; the note of the neutral span made of it."""

Kind = Literal["original", "check", "tutorial", "control", "again", "adjudication"]
"""Why an item was shown.

`original`: to be judged. `check`: a damaged copy, to see whether the person reads. `tutorial`: to learn.
`control`: without the spans that others see marked. `again`: a second pass over what was annotated.
`adjudication`: a third person decides between two.
"""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PASSES: Final[Mapping[Kind, int]] = {"original": 0, "control": 0, "again": 1, "adjudication": 2}
"""Kinds that judge translations as they are, and which pass over them each one is: a later one decides."""
FIRST: Final[tuple[Kind, ...]] = tuple(kind for kind, number in PASSES.items() if number == 0)
"""Kinds of the first pass."""

_Said = TypeVar("_Said")


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """One person's finished work on one item of a task."""

    person: str
    protocol: str  # of the campaign, such as `esa-ai`; the records may have a plainer one (`esa`)
    kind: Kind  # why it was shown
    lp: str  # language pair
    segment: str
    document: str = ""
    task: int = 0  # number of the task: a document of one system, or of several side by side
    item: int = 0  # number of the item within its task, from 0
    place: int = 0  # how many items the person had finished before this one
    batch: int | None = None  # number of the static batch; None where tasks came from a pool
    # what it comes to, one annotation a translation shown, or one preference a criterion; empty where a
    # reference was written
    records: tuple[Annotation | Preference, ...] = ()
    # system to the text that was shown, which in a check is the damaged one
    texts: Mapping[str, str] = field(default_factory=dict)
    source: str = ""  # text that was shown
    originals: Mapping[str, str] = field(default_factory=dict)
    # system to the spans that were marked beforehand; absent where none were asked for
    given: Mapping[str, tuple[ErrorSpan, ...]] = field(default_factory=dict)
    chosen: str | None = None  # system of the candidate that was edited
    edited: str | None = None  # the text that the person wrote
    started: float = 0.0  # first action, seconds since 1970
    ended: float = 0.0  # last action
    # seconds in which the page was visible and used; None where only start and end are known
    active: float | None = None
    idle: float = 0.0  # seconds of longer pauses in between
    # of the page on which it was said, such as `pt-BR`; None where that is unknown
    language: str | None = None
    revision: int = 1  # how many changes led to it; 1 where that is unknown
    is_last: bool = True  # whether the person did not submit this item again later; earlier ones never count
    # what a foreign format said besides, carried along for its round trip
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_names(self, person="person", segment="segment", document="document")
        if self.kind not in KINDS:
            raise DataError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        times = {"started": self.started, "ended": self.ended, "active": self.active, "idle": self.idle}
        for name, value in times.items():
            if value is not None and not is_number(value):
                raise DataError(f"{name!r} must be a finite number of seconds, got {value!r}")
        if self.ended < self.started:
            raise DataError(f"a submission cannot end ({self.ended}) before it starts ({self.started})")

    @property
    def is_filler(self) -> bool:
        """Whether it fills up a batch: what the person said of the translation in its own place counts."""
        return any(isinstance(r, Annotation) and DUPLICATE in r.flags for r in self.records)

    @property
    def is_dropped(self) -> bool:
        """Whether the agreement gate dropped its segment, which counts no more."""
        return self.more.get("gate") == "dropped"

    @property
    def decided_between(self) -> list[Mapping[str, Any]]:
        """In an adjudication, for each person the name (`person`) and what was said before (`records`)."""
        found = self.more.get("between")
        return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []

    @property
    def is_independent(self) -> bool:
        """Whether the person was shown nothing that others said, as in adjudications and second looks."""
        return self.kind != "adjudication" and not (self.kind == "again" and self.given)

    @property
    def instruction(self) -> str:
        """What the translations had to follow, as it was shown; empty where there was nothing."""
        found = self.more.get(INSTRUCTION)
        return found if isinstance(found, str) else ""

    @property
    def reasons(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """System and mark, as JSON, of what a person marked to say why one of two translations is better."""
        found = self.more.get("reasons")
        for system, spans in found.items() if isinstance(found, Mapping) else ():
            yield from ((system, span) for span in spans if isinstance(span, Mapping))


@frozen
class CampaignFile:
    """One campaign's export."""

    name: str
    protocol: str
    submissions: tuple[Submission, ...]  # all, in the order in which they were finished
    settings: Mapping[str, Any] = field(default_factory=dict)  # how the campaign was set up, for people

    def spelled(self, lps: Mapping[str, str]) -> CampaignFile:
        """Return the same with language pairs in another spelling."""
        said = []
        for one in self.submissions if lps else ():
            lp = lps.get(one.lp, one.lp)
            said.append(replace(one, lp=lp, records=tuple(replace(r, lp=lp) for r in one.records)))
        return replace(self, submissions=tuple(said)) if lps else self


def of_latest_pass(
    said: Iterable[_Said], kind: Callable[[_Said], Kind], about: Callable[[_Said], Hashable]
) -> list[_Said]:
    """What decides: of all that was judged, what was said in the latest pass over it, in the order given."""
    listed = list(said)
    passes = [PASSES[kind(one)] for one in listed]
    if not any(passes):  # as mostly: nothing was looked at again
        return listed
    latest: dict[Hashable, int] = {}
    for one, number in zip(listed, passes, strict=True):
        latest[about(one)] = max(number, latest.get(about(one), 0))
    return [one for one, number in zip(listed, passes, strict=True) if number == latest[about(one)]]


def read_campaign_file(path: Path) -> CampaignFile:
    header, submissions = read_submissions(path)
    return replace(header, submissions=tuple(submissions))


def read_submissions(path: Path) -> tuple[CampaignFile, Iterator[Submission]]:
    """Read a campaign's export line by line.

    The campaign without its submissions, and these as their lines are read.
    """
    lines = read_json_lines(path)
    line, value = next(lines, (None, None))
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        wanted = f"the first line of a campaign's export has the schema {SCHEMA!r}"
        newer = "; a newer adjudge may read it" if str(schema).startswith(SCHEMA.partition("/")[0]) else ""
        raise DataError(f"{wanted}, got {schema!r}{newer}", path=path, line=line)
    fields = read_fields(value, frozenset({"schema", "name", "protocol", "settings"}), "campaign", path, line)
    name, protocol, settings = fields.text("name"), fields.text("protocol"), fields.mapping("settings")
    header = CampaignFile(name=name, protocol=protocol, submissions=(), settings=settings)
    return header, (_read(value, path, line) for line, value in lines)


def _read(value: object, path: Path, line: int) -> Submission:
    with placing(path, line):
        return submission_from_json(value)


def submission_from_json(value: object) -> Submission:
    fields = read_fields(value, frozenset(_READERS), "submission")
    wanted = {"person", "protocol", "kind", "lp", "segment", *fields.values}
    said = {key: read(fields, key) for key, read in _READERS.items() if key in wanted}
    return Submission(**{key: value for key, value in said.items() if value is not None})


def _records(fields: Fields, key: str) -> tuple[Annotation | Preference, ...]:
    values = fields.values[key]
    if not isinstance(values, list):
        fields.fail(f"{key!r} must be a list, got {values!r}")
    return tuple(_judgement(record, fields) for record in values)


def _truth(fields: Fields, key: str) -> bool:
    value = fields.values[key]
    if not isinstance(value, bool):
        fields.fail(f"{key!r} must be true or false, got {value!r}")
    return value


def _judgement(value: object, fields: Fields) -> Annotation | Preference:
    record = record_from_json(value)
    if isinstance(record, Failure):
        fields.fail("'records' holds what a person said, and never a failure")
    return record


def _spans(fields: Fields, key: str) -> dict[str, tuple[ErrorSpan, ...]]:
    found = fields.by_name(key)
    for values in found.values():
        if not isinstance(values, list):
            fields.fail(f"{key!r} must hold lists of spans, got {values!r}")
    return {system: tuple(map(span_from_json, values)) for system, values in found.items()}


_READERS: Final[Mapping[str, Callable[[Fields, str], Any]]] = {
    "person": Fields.name,
    "protocol": Fields.name,
    "kind": Fields.name,
    "lp": Fields.lp,
    "document": partial(Fields.name, default=""),
    "segment": Fields.name,
    "task": Fields.whole,
    "item": Fields.whole,
    "place": Fields.whole,
    "batch": Fields.whole,
    "records": _records,
    "source": Fields.text,
    "texts": Fields.text_mapping,
    "started": Fields.number,
    "ended": Fields.number,
    "active": Fields.number,
    "idle": Fields.number,
    "language": Fields.optional_text,
    "revision": Fields.whole,
    "is_last": _truth,
    "originals": Fields.text_mapping,
    "given": _spans,
    "chosen": Fields.optional_text,
    "edited": Fields.optional_text,
    "more": Fields.mapping,
}
"""Keys of a submission, in the order in which they are written, and how each is read."""


def write_campaign_file(
    path: Path, file: CampaignFile, submissions: Iterable[Submission] | None = None
) -> None:
    """Write a campaign's export; it appears whole or not at all."""
    settings = _checked(file.settings)
    header = {"schema": SCHEMA, "name": file.name, "protocol": file.protocol, "settings": settings}
    lines = map(submission_to_json, file.submissions if submissions is None else submissions)
    write_bytes(path, map(render_json_line, chain([header], lines)))


def submission_to_json(submission: Submission) -> dict[str, Any]:
    """The JSON object of a submission; left out what a reader would take for granted."""
    values = {key: getattr(submission, key) for key in _READERS}
    values["records"] = [record_to_json(record) for record in submission.records]
    values["given"] = {name: [*map(span_to_json, spans)] for name, spans in submission.given.items()}
    values["more"] = _checked(submission.more)
    rare = ("originals", "given", "chosen", "edited", "language", "more")
    return {key: value for key, value in values.items() if key not in rare or value not in (None, {})}


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        same = json.loads(json.dumps(values, allow_nan=False)) == values
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"'settings' and 'more' must be plain JSON: {error}") from error
    if not same:
        raise DataError("'settings' and 'more' must be plain JSON: lists, and objects with texts as keys")
    return dict(values)


Judgement = Annotation | Preference


def judgements(submissions: Iterable[Submission]) -> list[tuple[Submission, Judgement | None, str]]:
    """Every judgement with its submission, and why it does not count: empty where it does.

    Tutorials and checks never count, and of one person's submissions of an item the last does. What was
    annotated a second time, or decided by a third person, replaces what was said of it before. What the
    agreement gate of a campaign dropped does not count. A submission without a judgement stands once, with
    None.
    """
    listed = [(s, record, _outside(s)) for s in submissions for record in (s.records or (None,))]
    may_count = [one for one in listed if one[1] is not None and not one[2]]
    final = of_latest_pass(may_count, kind=lambda one: one[0].kind, about=lambda one: _about(one[1]))
    replaced = {*map(id, may_count)} - {*map(id, final)}
    return [(*one[:2], REPLACED) if id(one) in replaced else one for one in listed]


REPLACED: Final = "replaced by a later pass"


def _outside(submission: Submission) -> str:
    if submission.is_dropped:
        return "of segments that the agreement gate dropped"
    if submission.kind not in PASSES:
        return f"of kind {submission.kind}"
    return "" if submission.is_last else "submitted again"


def final_records(submissions: Iterable[Submission]) -> tuple[list[Judgement], Counter[str]]:
    """The judgements that count, as `judgements` has it, in the order in which they were finished.

    Also what was left out and how often.
    """
    listed = list(submissions)
    found = judgements(listed)
    met = Counter(f"submissions {why}" for why in map(_outside, listed) if why)
    met["submissions without a judgement"] = sum(
        record is None and not why and one.edited is None for one, record, why in found
    )
    met["marks that say why one of two is better"] = sum(
        1 for one in listed if not _outside(one) for _ in one.reasons
    )
    met[f"judgements {REPLACED}"] = sum(why == REPLACED for *_, why in found)
    return [record for _, record, why in found if record is not None and not why], +met


def _about(record: Judgement | None) -> tuple[object, ...]:
    if record is None:
        return ()
    if isinstance(record, Annotation):
        return record.lp, record.segment, record.system
    return record.lp, record.segment, frozenset(record.systems), record.criterion


def unsaid_elsewhere(submission: Submission) -> Counter[str]:
    """What a submission says for which neither Appraise nor Pearmut has words, and how often."""
    said = [record for record in submission.records if isinstance(record, Annotation)]
    return Counter(
        {
            "preferences": len(submission.records) - len(said),
            "references that people wrote": int(submission.edited is not None),
            "comments": sum(record.rationale is not None for record in said),
            "notes on marks": sum(
                span.note not in {"", UNDECIDED_MARK} for record in said for span in record.spans
            ),
            "ratings of another scale, which are read there as of 0 to 100": sum(
                find_protocol(record.protocol).high not in {None, 100} for record in said
            ),
            "submissions of a second pass, which count there beside those that they replaced": int(
                PASSES.get(submission.kind, 0) > 0
            ),
            "submissions that the agreement gate dropped, which count there": int(submission.is_dropped),
        }
    )


def in_place(finished: Iterable[Submission]) -> Iterator[Submission]:
    """Give each submission the number of those that its person had finished before.

    `finished`: all of a campaign, in the order in which they were finished.
    """
    done: Counter[str] = Counter()
    for submission in finished:
        yield replace(submission, place=done[submission.person])
        done[submission.person] += 1


def apart(file: CampaignFile) -> list[CampaignFile]:
    """The campaign of each language pair on its own; itself where there is none."""
    pairs = by_pair(file.submissions).values()
    return [replace(file, submissions=tuple(own)) for own in pairs] or [file]


def select_lp(file: CampaignFile, lp: str | None) -> CampaignFile:
    """Keep one language pair; all of them without one."""
    told = file.settings.get("lps")
    there = [*map(str, told if isinstance(told, list) else ()), *(s.lp for s in file.submissions)]
    lp = lp_among(lp, there, repr(file.name))
    own = tuple(s for s in file.submissions if lp in {None, s.lp})
    if lp is not None and not own:
        raise UsageError(f"{file.name!r} has no judgements yet of {lp}")
    return replace(file, submissions=own)


def campaign_test_set(file: CampaignFile) -> TestSet:
    """The texts that a campaign showed, as they were before any was damaged, without its tutorial.

    Segments come in the order of tasks. A translation that a person wrote stands there as one of the system
    `post-edit:PERSON`.
    """
    found: dict[tuple[str, str], Segment] = {}
    for submission in sorted(file.submissions, key=lambda s: (s.task, s.item)):
        if submission.kind != "tutorial":
            key = submission.lp, submission.segment
            before = found.get(key)
            translations = dict(before.translations) if before else {}
            if before is not None and before.source != submission.source:
                raise _differs(submission, "source")
            for system, text in _undamaged(submission):
                if translations.setdefault(system, text) != text:
                    raise _differs(submission, f"translation by {system!r}")
            found[key] = Segment(
                segment=submission.segment,
                lp=submission.lp,
                source=submission.source,
                translations=translations,
                document=submission.document,
                meta={INSTRUCTION: submission.instruction} if submission.instruction else {},
            )
    return TestSet(name=file.name, segments=tuple(found.values()))


def _undamaged(submission: Submission) -> Iterator[tuple[str, str]]:
    shown = submission.originals if submission.kind == "check" else submission.texts
    yield from shown.items()
    if submission.edited is not None and submission.is_last and submission.kind != "check":
        yield f"post-edit:{submission.person}", submission.edited


def _differs(submission: Submission, what: str) -> DataError:
    where = f"segment {submission.segment!r} of {submission.lp}"
    return DataError(f"{where} was shown with two texts as its {what}: {submission.person!r} saw another one")
