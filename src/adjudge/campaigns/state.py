"""State of an item: everything a person has marked, rated, chosen and written of it, in the order shown.

The page sends the whole state with every change; which ones cannot be is said in `faults.py`. Offsets are
half-open and count Unicode code points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from adjudge.campaigns.protocols import CampaignProtocol
from adjudge.core.annotation import Side, Verdict
from adjudge.core.typology import CATEGORIES, Severity
from adjudge.errors import DataError

__all__ = [
    "OMISSION",
    "Asked",
    "MarkedSpan",
    "Missing",
    "State",
    "TranslationState",
    "first_state",
    "read_state",
    "shown_order",
    "text_hash",
]

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
    """What was said of one translation; `removed` are indices of spans marked beforehand and deleted."""

    rating: float | None = None
    spans: list[MarkedSpan] = Field(default_factory=list)
    missing: Missing | None = None
    removed: list[int] = Field(default_factory=list)


class State(_Part):
    """A full snapshot of an item; A is the first translation shown."""

    translations: list[TranslationState]
    verdicts: dict[_Text, Verdict] = Field(default_factory=dict)
    chosen: int | None = None
    edited: _Text | None = None
    comment: _Text = ""
    is_non_translation: list[bool] = Field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What an item shows and asks for.

    Args:
        protocol: of the campaign, with the severities and the steps that it has there.
        source: text shown, or the address of its media file.
        texts: translations in the order shown.
        given: of each translation, the spans marked beforehand.
        categories: that a mark may have.
    """

    protocol: CampaignProtocol
    source: str
    texts: Sequence[str]
    given: Sequence[Sequence[Mapping[str, Any]]] = ()
    categories: Collection[str] = field(default_factory=lambda: CATEGORIES)

    @property
    def hashes(self) -> list[str]:
        """Of every text shown, the source first."""
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
    """Marks that were there beforehand; the one without a place says that something is missing."""
    spans = [_given_span(index, span) for index, span in enumerate(given) if span["start"] is not None]
    nowhere = [span for span in given if span["start"] is None]
    missing = Missing(severity=nowhere[0]["severity"], category=nowhere[0]["category"]) if nowhere else None
    return TranslationState(spans=spans, missing=missing)


def _given_span(index: int, fields: Mapping[str, Any]) -> MarkedSpan:
    kept = {name: fields[name] for name in ("start", "end", "text", "severity")}
    side, category = fields.get("side", "translation"), fields.get("category")
    note = (fields.get("note") or "")[:_MOST_NOTE]
    return MarkedSpan(id=f"g{index}", given=index, side=side, category=category, note=note, **kept)


def read_state(fields: object) -> State:
    """Read a state as the page or the store has it: JSON text, or what it parsed to.

    Raises:
        DataError: it is none; says which part, and why.
    """
    try:
        if isinstance(fields, str | bytes):
            return State.model_validate_json(fields)
        return State.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise DataError(f"this is no state of an item: {place}: {first['msg']}") from None
