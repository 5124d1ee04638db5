"""An item of a task: what an annotator is shown, what they may say of it, and what is expected.

`SpanShown`, `Shown` and `Expected` are what the store keeps of an item, as JSON. `State` is everything that a
person has marked, rated, chosen and written of one, in the order shown. `read_item` gives an item in one
person's order, `faults` says what a state cannot be and is refused, `lacks` what is still to do (half-done
work is kept), `score_of` gives a number, and `feedback` tells what a tutorial or a check expected otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Row, and_, bindparam, select

from adjudge.campaigns.database import Campaign, Statement, answer, item
from adjudge.campaigns.settings import CampaignProtocol, canonical_category
from adjudge.core.frozen import frozen
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import CATEGORIES, INSTRUCTION_FAULT, Severity
from adjudge.core.record import Side, Verdict
from adjudge.errors import DataError

Media = Literal["text", "image", "audio", "video"]
MEDIA: Final[tuple[Media, ...]] = get_args(Media)


class SpanShown(TypedDict):
    """A span that was marked beforehand; half-open offsets in code points of the text shown.

    The marks that something is missing, or an instruction not followed, have no place: None and None.
    """

    side: str
    start: int | None
    end: int | None
    text: str
    severity: str
    category: str | None
    note: str


class Shown(TypedDict):
    """One translation of an item.

    `given`: spans marked beforehand; None where none were asked for. `original`: in a check, the text before
    it was damaged; None where it was not. `withheld`: in a control, the spans that would have been given.
    `instruction`: what the translation had to follow, where the segment has one.
    """

    system: str
    text: str
    given: list[SpanShown] | None
    original: str | None
    withheld: NotRequired[list[SpanShown] | None]
    instruction: NotRequired[str]


class Said(TypedDict):
    """What one person said before an adjudication: name, and the `State` as JSON, in the systems' order."""

    person: str
    state: dict[str, Any]


class Expected(TypedDict, total=False):
    """What a check or a tutorial expects of an item; nothing of what it does not say.

    `what`: `damaged`, `missing`, `score` or `tutorial`. `translation`: index among systems; in a check the
    damaged one. `spans`: to be marked, each with start, end and severity (None: any), in a tutorial with its
    text, and its category where one is to be chosen. `missing`: whether something missing is to be marked.
    `rating`: lowest and highest. `verdicts`: criterion to A, B or E, A the first system. `chosen`: index of
    the draft to choose. `says`: told to the person beforehand. `lp`: languages of the texts, where they are
    not those of the task. `between`: what an adjudication decides between.
    """

    what: str
    translation: int
    spans: list[dict[str, Any]]
    missing: bool
    rating: list[float]
    verdicts: dict[str, Verdict]
    chosen: int
    says: str
    lp: str
    between: list[Said]


OMISSION: Final = "accuracy/omission"
"""What [missing] means where the protocol asks for no category."""
_MOST_NOTE: Final = 2_000


def _encodable(text: str) -> str:
    text.encode()
    return text


_Text = Annotated[str, AfterValidator(_encodable)]
"""Half of a surrogate pair, which JSON can hold, is no text: UnicodeEncodeError is a ValueError."""
_Name = Annotated[_Text, Field(min_length=1, max_length=64)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class MarkedSpan(_Part):
    """A mark; `given` is the index of the span marked beforehand that it was at first."""

    id: _Name
    start: int
    end: int
    text: _Text
    severity: Severity
    side: Side = "translation"
    category: _Text | None = None
    note: _Text = Field(default="", max_length=_MOST_NOTE)
    given: int | None = None


class Missing(_Part):
    """The mark that something is missing; it has no place."""

    severity: Severity
    category: _Text | None = None


class TranslationState(_Part):
    """What was said of one translation.

    `instruction_fault`: how badly the segment's instruction is not followed; None where it is. `removed`:
    indices of spans marked beforehand and deleted.
    """

    rating: float | None = None
    spans: list[MarkedSpan] = Field(default_factory=list)
    missing: Missing | None = None
    instruction_fault: Severity | None = None
    removed: list[int] = Field(default_factory=list)


class State(_Part):
    """A full snapshot of an item; A is the first translation shown."""

    translations: list[TranslationState]
    verdicts: dict[_Text, Verdict] = Field(default_factory=dict)
    chosen: int | None = None
    edited: _Text | None = None
    comment: _Text = ""
    is_non_translation: list[bool] = Field(default_factory=list)


@frozen
class Asked:
    """What an item shows and asks for."""

    protocol: CampaignProtocol  # of the campaign, with the severities and the steps that it has there
    source: str  # text shown, or the address of its media file
    texts: Sequence[str]  # translations in the order shown
    given: Sequence[Sequence[Mapping[str, Any]]] = ()  # of each translation, the spans marked beforehand
    categories: Collection[str] = field(default_factory=lambda: CATEGORIES)  # that a mark may have
    instruction: str = ""  # what the translations had to follow; empty where there is nothing

    @property
    def marks_instruction(self) -> bool:
        """Whether it can be marked that the instruction is not followed: wherever there is one."""
        return self.protocol.marks_missing and bool(self.instruction)

    @property
    def hashes(self) -> list[str]:
        return [text_hash(text) for text in (self.source, *self.texts)]

    def given_of(self, index: int) -> Sequence[Mapping[str, Any]]:
        """Spans of one translation that were marked beforehand."""
        return self.given[index] if index < len(self.given) else ()


def text_hash(text: str) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shown_order(seed: int, item: int, count: int) -> tuple[int, ...]:
    """Indices of the translations in the order shown: the same for the same seed and item, for ever."""

    def key(index: int) -> bytes:
        return hashlib.sha256(f"{seed}/{item}/{index}".encode()).digest()

    return tuple(sorted(range(count), key=key))


def first_state(asked: Asked) -> State:
    """Nothing said yet: the spans marked beforehand stand, and nothing is rated."""
    return State(translations=[_given_part(asked.given_of(index)) for index in range(len(asked.texts))])


def _given_part(given: Sequence[Mapping[str, Any]]) -> TranslationState:
    spans = [_given_span(index, span) for index, span in enumerate(given) if span["start"] is not None]
    nowhere = [span for span in given if span["start"] is None]
    missing = [span for span in nowhere if span["category"] != INSTRUCTION_FAULT]
    unfollowed = [span["severity"] for span in nowhere if span["category"] == INSTRUCTION_FAULT]
    return TranslationState(
        spans=spans,
        missing=Missing(severity=missing[0]["severity"], category=missing[0]["category"])
        if missing
        else None,
        instruction_fault=unfollowed[0] if unfollowed else None,
    )


def _given_span(index: int, fields: Mapping[str, Any]) -> MarkedSpan:
    kept = {name: fields[name] for name in ("start", "end", "text", "severity")}
    side, category = fields.get("side", "translation"), fields.get("category")
    note = (fields.get("note") or "")[:_MOST_NOTE]
    return MarkedSpan(id=f"g{index}", given=index, side=side, category=category, note=note, **kept)


def read_state(fields: object) -> State:
    """Read a state as the page or the store has it: JSON text, or what it parsed to."""
    try:
        if isinstance(fields, str | bytes):
            return State.model_validate_json(fields)
        return State.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise DataError(f"this is no state of an item: {place}: {first['msg']}") from None


AnyRow = Row[*tuple[Any, ...]]
ITEM_COLUMNS: Final = (
    item.c.id.label("item_id"),
    item.c.place.label("item_place"),
    item.c.segment,
    item.c.media,
    item.c.source,
    item.c.translations,
    item.c.check,
)
"""What `read_item` reads."""
IS_ITS_ANSWER: Final = and_(answer.c.item_id == item.c.id, answer.c.assignment_id == bindparam("assignment"))
"""Joins an item to its answer in an `assignment`."""
ITEMS_AND_ANSWERS: Final = Statement(
    select(*ITEM_COLUMNS, answer.c.revision, answer.c.state, answer.c.is_complete, answer.c.active)
    .select_from(item.outerjoin(answer, IS_ITS_ANSWER))
    .where(item.c.task_id == bindparam("task"))
    .order_by(item.c.place)
)
"""All of a `task` as an `assignment` has it, in order; what was not looked at has no answer."""
TURNED: Final[Mapping[Verdict, Verdict]] = {"A": "B", "B": "A", "E": "E"}
"""A verdict on two sides that change places."""


@frozen
class ItemShown:
    """One item in one person's order."""

    id: int
    place: int  # within its task, from 0
    segment: str
    media: str  # text, image, audio or video
    translations: tuple[Shown, ...]  # in the order shown; they name their systems, which no annotator may see
    order: tuple[int, ...]  # of each translation shown, its place among the item's systems
    # what a tutorial or a check expects, its translation and its verdicts by the order shown
    check: Expected | None
    asked: Asked  # what may be said of it
    between: tuple[tuple[str, State], ...]  # in an adjudication, who said what before, in the order shown


def read_item(campaign: Campaign, row: AnyRow, seed: int) -> ItemShown:
    """Read an item in the order that a seed gives."""
    stored: list[Shown] = json.loads(row.translations)
    order = shown_order(seed, row.item_id, len(stored))
    translations = tuple(stored[index] for index in order)
    stored_check = None if row.check is None else json.loads(row.check)
    check = None if stored_check is None else _as_shown(stored_check, order, campaign.categories)
    return ItemShown(
        id=row.item_id,
        place=row.item_place,
        segment=row.segment,
        media=row.media,
        translations=translations,
        order=order,
        check=check,
        asked=Asked(
            protocol=campaign.protocol,
            source=row.source,
            texts=[shown["text"] for shown in translations],
            given=[shown["given"] or () for shown in translations],
            categories=campaign.categories,
            instruction=next((told for one in translations if (told := one.get("instruction"))), ""),
        ),
        between=tuple(
            (said["person"], _rearranged(read_state(said["state"]), order))
            for said in (check or {}).get("between", ())
        ),
    )


def in_systems_order(state: State, order: Sequence[int]) -> State:
    """A state in the order of its item's systems. `state`: in the order shown."""
    return _rearranged(state, sorted(range(len(order)), key=order.__getitem__))


def _rearranged(state: State, order: Sequence[int]) -> State:
    is_turned = tuple(order) == (1, 0)
    return state.model_copy(
        update={
            "translations": [state.translations[index] for index in order],
            "is_non_translation": [state.is_non_translation[i] for i in order if state.is_non_translation],
            "chosen": None if state.chosen is None else order.index(state.chosen),
            "verdicts": {k: TURNED[v] if is_turned else v for k, v in state.verdicts.items()},
        }
    )


def _as_shown(check: Expected, order: tuple[int, ...], categories: Collection[str]) -> Expected:
    """Count the translations of an expectation, and name its sides, as they are shown.

    A category that people cannot choose, in a typology of one's own, is not expected.
    """
    for span in check.get("spans", ()):
        if span.get("category") not in categories:
            span.pop("category", None)
    if "translation" in check:
        check["translation"] = order.index(check["translation"])
    if "chosen" in check:
        check["chosen"] = order.index(check["chosen"])
    if "verdicts" in check and order == (1, 0):
        check["verdicts"] = {name: TURNED[verdict] for name, verdict in check["verdicts"].items()}
    return check


_MOST_SPANS: Final = 200
_MOST_COMMENT: Final = 20_000  # bytes in UTF-8, as is the next
_MOST_EDITED: Final = 100_000


def faults(state: State, asked: Asked) -> list[str]:
    """Why the state cannot be one of these texts under this protocol; empty where it can."""
    if len(state.translations) != len(asked.texts):
        shown = len(asked.texts)
        return [f"the state has {len(state.translations)} translations, and {shown} are shown"]
    found = [why for i, part in enumerate(state.translations) for why in _Checked(asked, i, part).faults()]
    return [*found, *_choice_faults(state, asked), *_size_faults(state)]


@dataclass(frozen=True)
class _Checked:
    asked: Asked
    index: int
    part: TranslationState

    def faults(self) -> Iterator[str]:
        yield from self.rating_faults()
        for span in self.part.spans:
            yield from self.span_faults(span)
        yield from self.missing_faults()
        yield from self.instruction_faults()
        yield from self.given_faults()
        ids = [span.id for span in self.part.spans]
        if len(set(ids)) < len(ids):
            yield "two marks have the same id"
        if len(ids) > _MOST_SPANS:
            yield f"a text may have {_MOST_SPANS} marks, this one has {len(ids)}"

    def rating_faults(self) -> Iterator[str]:
        rating, scale = self.part.rating, self.asked.protocol.scale
        if rating is None:
            return
        if scale is None:
            yield f"{self.asked.protocol.name} has no rating, got {rating:g}"
        elif not scale.low <= rating <= scale.high:
            yield f"a rating lies in {scale.low:g} to {scale.high:g}, got {rating:g}"
        elif (rating - scale.low) % scale.step:
            yield f"ratings have steps of {scale.step:g}, got {rating:g}"

    def span_faults(self, span: MarkedSpan) -> Iterator[str]:
        if not self.asked.protocol.severities:
            yield f"{self.asked.protocol.name} marks nothing"
            return
        if span.side == "source" and not self.asked.protocol.marks_source:
            yield f"{self.asked.protocol.name} marks nothing in the source"
            return
        text = self.asked.source if span.side == "source" else self.asked.texts[self.index]
        if not 0 <= span.start < span.end <= len(text):
            yield f"a mark from {span.start} to {span.end} does not lie in a text of {len(text)} characters"
        elif span.text != text[span.start : span.end]:
            there = text[span.start : span.end]
            yield f"from {span.start} to {span.end} the text reads {there!r}, the mark says {span.text!r}"
        yield from self.kind_faults(span)

    def kind_faults(self, mark: MarkedSpan | Missing) -> Iterator[str]:
        severities = self.asked.protocol.severities
        if mark.severity not in severities:
            yield f"severity is one of {', '.join(severities)}; got {mark.severity}"
        if mark.category is None:
            return
        allowed = self.asked.categories if self.asked.protocol.has_categories else _PLAIN
        if mark.category not in allowed and not _is_given(mark, self.asked.given_of(self.index)):
            yield f"there is no category {mark.category!r} here"

    def missing_faults(self) -> Iterator[str]:
        if self.part.missing is None:
            return
        if not self.asked.protocol.marks_missing:
            yield f"{self.asked.protocol.name} has no mark for what is missing"
            return
        yield from self.kind_faults(self.part.missing)

    def instruction_faults(self) -> Iterator[str]:
        severity, severities = self.part.instruction_fault, self.asked.protocol.severities
        if severity is None:
            return
        if not self.asked.marks_instruction:
            yield "there is no instruction here that could be marked as not followed"
        elif severity not in severities:
            yield f"severity is one of {', '.join(severities)}; got {severity}"

    def given_faults(self) -> Iterator[str]:
        kept = [span.given for span in self.part.spans if span.given is not None]
        named, count = [*kept, *self.part.removed], len(self.asked.given_of(self.index))
        if len(set(named)) < len(named):
            yield "a mark that was there beforehand can be kept once or removed once"
        if any(not 0 <= index < count for index in named):
            yield f"{count} marks were there beforehand, and the state names one that was not"


_PLAIN: Final = frozenset({OMISSION})


def _is_given(mark: MarkedSpan | Missing, given: Sequence[Mapping[str, Any]]) -> bool:
    index = mark.given if isinstance(mark, MarkedSpan) else None
    return index is not None and 0 <= index < len(given) and given[index].get("category") == mark.category


def _choice_faults(state: State, asked: Asked) -> Iterator[str]:
    protocol = asked.protocol
    unknown = sorted(state.verdicts.keys() - set(protocol.criteria))
    if unknown:
        yield f"{protocol.name} does not ask for {', '.join(unknown)}"
    if protocol.shows != "candidates" and (state.chosen is not None or state.edited is not None):
        yield f"in {protocol.name} no draft is chosen or edited"
    if state.chosen is not None and not 0 <= state.chosen < len(asked.texts):
        yield f"{len(asked.texts)} drafts are shown, and number {state.chosen} was chosen"
    if len(state.is_non_translation) not in {0, len(asked.texts)}:
        yield f"{len(asked.texts)} translations are shown, {len(state.is_non_translation)} are said to be one"
    if any(state.is_non_translation) and protocol.record != "mqm":
        yield f"{protocol.name} does not know non-translations"


def _size_faults(state: State) -> Iterator[str]:
    for what, text, most in (("comment", state.comment, _MOST_COMMENT), ("text", state.edited, _MOST_EDITED)):
        size = len((text or "").encode())
        if size > most:
            yield f"a {what} may have {most:,} bytes, this one has {size:,}"


def lacks(state: State, asked: Asked, *, is_declared: bool) -> list[str]:
    """What is still to do before the item is finished; empty where nothing is."""
    protocol = asked.protocol
    found = [
        f"{criterion} is not decided" for criterion in protocol.criteria if criterion not in state.verdicts
    ]
    for part in state.translations:
        found += _missing_of(part, protocol)
    if protocol.shows == "candidates":
        found += ["no draft is chosen"] * (state.chosen is None)
        found += ["the reference is empty"] * (not (state.edited or "").strip())
    if protocol.record == "mqm" and not is_declared:
        found.append("it is not said that all errors are marked")
    return found


def _missing_of(part: TranslationState, protocol: CampaignProtocol) -> Iterator[str]:
    if protocol.scale is not None and part.rating is None:
        yield "a rating is missing"
    if protocol.has_categories:
        yield from (f"{span.text!r} has no category" for span in part.spans if span.category is None)
        if part.missing is not None and part.missing.category is None:
            yield "what is missing has no category"


def score_of(state: State, shown: int, protocol: CampaignProtocol) -> float | None:
    """The rating of a translation, or minus the points of its marks where the protocol rates nothing.

    This is the number that `analysis.study` computes once the item is exported.

    None where it was not rated. `shown`: index of the translation in the order shown.
    """
    if protocol.scale is not None:
        return state.translations[shown].rating
    weights = find_weights("mqm-google" if protocol.record == "mqm" else "esa-spans")
    return 0.0 - sum(weights.points(*error) for error in _errors(state, shown))


def _errors(state: State, shown: int) -> Iterator[tuple[Severity, str | None]]:
    part = state.translations[shown]
    for span in part.spans:
        yield span.severity, None if span.category is None else canonical_category(span.category)
    if part.missing is not None:
        yield part.missing.severity, canonical_category(part.missing.category or OMISSION)
    if part.instruction_fault is not None:
        yield part.instruction_fault, INSTRUCTION_FAULT
    if any(state.is_non_translation[shown : shown + 1]):
        yield "major", "non-translation"


TOLERANCE: Final = 3
"""Characters by which the ends of a mark may miss those of a tutorial's."""


def feedback(state: State, expected: Expected) -> list[str]:
    """What is missing or wrong in the eyes of who made the item; empty where it was passed.

    In a tutorial every expected mark must be there, within `TOLERANCE`, with its severity and its
    category, and no other.
    In a check any mark that touches the damage will do.
    """
    part = state.translations[expected.get("translation", 0)]
    found = [*_span_faults(part, expected), *_missing_faults(part, expected), *_rating_faults(part, expected)]
    for criterion, verdict in expected.get("verdicts", {}).items():
        if state.verdicts.get(criterion) != verdict:
            found.append(f"{criterion}: {_SAID[verdict]}")
    if state.chosen != expected.get("chosen", state.chosen):
        found.append("another draft is better")
    return found


_SAID: Final = {"A": "the first one is better", "B": "the second one is better", "E": "both are as good"}


def _span_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    if "spans" not in expected:
        return
    marked = [span for span in part.spans if span.side == "translation"]
    if expected.get("what") != "tutorial":
        if not any(_touches(span, wanted) for span in marked for wanted in expected["spans"]):
            yield "some words were exchanged, and they are not marked"
        return
    left = list(marked)
    for wanted in expected["spans"]:
        fitting = next((span for span in left if _is_near(span, wanted)), None)
        if fitting is None:
            text = wanted.get("text")
            yield f"{text!r} is not marked" if text else "an error is not marked"
            continue
        left.remove(fitting)
        if wanted.get("severity") not in {None, fitting.severity}:
            yield f"{fitting.text!r} is {wanted['severity']}, and marked as {fitting.severity}"
        if wanted.get("category") not in {None, fitting.category}:
            yield f"{fitting.text!r} is {wanted['category']}, and marked as {fitting.category}"
    yield from (f"{span.text!r} is marked, and is no error" for span in left)


def _touches(span: MarkedSpan, wanted: dict[str, Any]) -> bool:
    return bool(span.start < wanted["end"] and wanted["start"] < span.end)


def _is_near(span: MarkedSpan, wanted: dict[str, Any]) -> bool:
    start, end = abs(span.start - wanted["start"]), abs(span.end - wanted["end"])
    return max(start, end) <= TOLERANCE and _touches(span, wanted)


def _missing_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    wanted = expected.get("missing")
    if wanted and part.missing is None and not any(span.side == "source" for span in part.spans):
        yield "something is missing, and not marked as missing"
    elif wanted is False and part.missing is not None:
        yield "nothing is missing, and it is marked"


def _rating_faults(part: TranslationState, expected: Expected) -> Iterator[str]:
    if "rating" in expected:
        low, high = expected["rating"]
        if part.rating is None or not low <= part.rating <= high:
            yield f"a rating from {low:g} to {high:g} would fit"
