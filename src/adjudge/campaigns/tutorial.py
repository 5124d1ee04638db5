"""The tutorial: a few items with something to do in each, from a TOML file, ours or another."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from adjudge.campaigns.items import Expected, Shown, SpanShown
from adjudge.campaigns.settings import CampaignProtocol
from adjudge.campaigns.tasks import Item, Task
from adjudge.core.language import canonical_lp
from adjudge.core.protocol import Severity
from adjudge.core.record import Verdict
from adjudge.errors import DataError, UsageError
from adjudge.store.files import read_text

DOCUMENT: Final = "tutorial"
"""Document of every tutorial task."""


def _canonical(lp: str) -> str:
    try:
        return canonical_lp(lp)
    except UsageError as error:
        raise ValueError(error) from error


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Span(_Part):
    """A span by its text, which must stand in the translation once."""

    text: Annotated[str, Field(min_length=1)]
    severity: Severity
    category: str | None = None

    def place(self, translation: str) -> tuple[int, int]:
        if translation.count(self.text) != 1:
            times = translation.count(self.text)
            raise ValueError(f"{self.text!r} must stand once in {translation!r}, it stands {times} times")
        start = translation.index(self.text)
        return start, start + len(self.text)


class _Expects(_Part):
    translation: int = 0
    spans: tuple[_Span, ...] | None = None
    missing: bool | None = None
    rating: tuple[float, float] | None = None
    verdicts: dict[str, Verdict] = Field(default_factory=dict)
    chosen: int | None = None


class _Item(_Part):
    source: str
    translations: Annotated[tuple[str, ...], Field(min_length=1)]
    says: str
    expects: _Expects
    given: tuple[tuple[_Span, ...], ...] | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        count = len(self.translations)
        if self.given is not None and len(self.given) != count:
            raise ValueError(f"given: wanted a list for each of {count} translations, got {len(self.given)}")
        for place in (self.expects.translation, self.expects.chosen or 0):
            if not 0 <= place < count:
                raise ValueError(f"there is no translation {place} of {count}")
        for span in self.expects.spans or ():
            span.place(self.translations[self.expects.translation])
        for translation, spans in zip(self.translations, self.given or (), strict=False):
            for span in spans:
                span.place(translation)
        return self


class _Tutorial(_Part):
    lp: Annotated[str, AfterValidator(_canonical)] = ""  # of its texts; empty: the task's
    items: Annotated[tuple[_Item, ...], Field(min_length=1)]


def make_tutorial(protocol: CampaignProtocol, lp: str, *, own: Path | None = None) -> Task:
    """The task that everybody of a language pair does first."""
    if own is None:
        folder = Path(str(files("adjudge.campaigns") / "tutorials"))
        special = folder / f"{protocol.name}.{lp}.toml"
        own = special if special.is_file() else folder / f"{protocol.name}.toml"
    items = read_tutorial(own, protocol)
    names = [shown["system"] for shown in items[0].translations]
    return Task(kind="tutorial", lp=lp, document=DOCUMENT, systems=tuple(names), items=items, raters=0)


def read_tutorial(path: Path, protocol: CampaignProtocol) -> tuple[Item, ...]:
    try:
        read = _Tutorial.model_validate(tomllib.loads(read_text(path)))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"no TOML: {error}", path=path) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"no tutorial: {where}: {first['msg']}", path=path) from error
    sizes = {len(item.translations) for item in read.items}
    if len(sizes) > 1:
        raise DataError("every item of a tutorial shows equally many translations", path=path)
    for number, item in enumerate(read.items, start=1):
        if fault := _fault(item, protocol):
            raise DataError(f"item {number}: {fault}", path=path)
    return tuple(_read(number, item, read.lp) for number, item in enumerate(read.items, start=1))


def _fault(item: _Item, protocol: CampaignProtocol) -> str:
    """What of an item its protocol does not have; empty where it has all."""
    count, expects = len(item.translations), item.expects
    if {"one": count != 1, "pair": count != 2}.get(protocol.shows, count < 2):
        return f"{protocol.name} shows {protocol.shows}, got {count} translations"
    severities = {span.severity for span in expects.spans or ()} - set(protocol.severities)
    is_sorted = any(span.category is not None for span in expects.spans or ())
    asked = {
        "categories": is_sorted and not protocol.has_categories,
        f"severity {', '.join(sorted(severities))}": bool(severities),
        "a rating": expects.rating is not None and protocol.scale is None,
        "a mark for what is missing": expects.missing is not None and not protocol.marks_missing,
        "spans marked beforehand": item.given is not None and not protocol.is_given_spans,
        "such criteria": bool(expects.verdicts.keys() - set(protocol.criteria)),
        "a choice of drafts": expects.chosen is not None and protocol.shows != "candidates",
    }
    return ", ".join(
        f"{protocol.name} does not have {what}" for what, is_foreign in asked.items() if is_foreign
    )


def _read(number: int, item: _Item, lp: str) -> Item:
    given = item.given or [None] * len(item.translations)
    shown: list[Shown] = [
        {
            "system": f"tutorial-{place}",
            "text": text,
            "given": None if spans is None else [_given(span, text) for span in spans],
            "original": None,
        }
        for place, (text, spans) in enumerate(zip(item.translations, given, strict=True), start=1)
    ]
    return Item(segment=str(number), source=item.source, translations=tuple(shown), check=_expected(item, lp))


def _given(span: _Span, text: str) -> SpanShown:
    start, end = span.place(text)
    return {
        "side": "translation",
        "start": start,
        "end": end,
        "text": span.text,
        "severity": span.severity,
        "category": None,
        "note": "",
    }


def _expected(item: _Item, lp: str) -> Expected:
    expects = item.expects
    expected: Expected = {"what": "tutorial", "translation": expects.translation, "says": item.says}
    if lp:
        expected["lp"] = lp
    if expects.spans is not None:
        text = item.translations[expects.translation]
        expected["spans"] = [_expected_span(span, text) for span in expects.spans]
    plain = {"missing", "rating", "verdicts", "chosen"}
    rest = expects.model_dump(mode="json", include=plain, exclude_defaults=True)
    return cast("Expected", {**expected, **rest})


def _expected_span(span: _Span, text: str) -> dict[str, Any]:
    start, end = span.place(text)
    category = {} if span.category is None else {"category": span.category}
    return {"start": start, "end": end, "text": span.text, "severity": span.severity, **category}
