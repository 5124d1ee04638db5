"""What an annotator marks and rates: the protocols with their scales, and the MQM typology of errors.

Categories are `core type/subtype` in lower case, as in `accuracy/omission`: HiMATE's five core types with
nineteen subtypes (HiMATE, table of the appendix), and what the WMT typology adds. The spellings of every year
are aliases. What errors cost is in `core/mqm.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, TypeGuard, get_args

from adjudge.core.frozen import frozen
from adjudge.errors import DataError, UsageError

Severity = Literal["neutral", "minor", "major", "critical"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)

INSTRUCTION_FAULT: Final = "instruction fault"
"""Category of a fault of following the instruction of a segment; it has no place in a text."""

CATEGORIES: Final[Mapping[str, str]] = {
    "accuracy/addition": "text that the source does not have",
    "accuracy/omission": "something of the source is missing",
    "accuracy/mistranslation": "says something else than the source",
    "accuracy/untranslated text": "source language left standing",
    "terminology/inappropriate for context": "not the term that the field or the client uses",
    "terminology/inconsistent use": "one term translated in several ways",
    "fluency/punctuation": "punctuation wrong for the target language",
    "fluency/spelling": "misspelled, or wrong capitals",
    "fluency/grammar": "grammar other than spelling and punctuation",
    "fluency/register": "too formal or too informal, wrong form of address",
    "fluency/inconsistency": "inconsistent within the text, other than in its terms",
    "fluency/character encoding": "characters garbled",
    "style/awkward": "correct, but nobody would write it so",
    "locale convention/address": "address in the wrong form",
    "locale convention/currency": "currency in the wrong form",
    "locale convention/date": "date in the wrong form",
    "locale convention/name": "name in the wrong form",
    "locale convention/telephone": "telephone number in the wrong form",
    "locale convention/time": "time in the wrong form",
    "accuracy/creative reinterpretation": "freer than the source, but meant so; costs nothing",
    "accuracy/gender mismatch": "gender other than the source's",
    "fluency/text-breaking": "broken off or broken apart",
    "accuracy": "accuracy, not further classified",
    "terminology": "terminology, not further classified",
    "fluency": "fluency, not further classified",
    "style": "style, not further classified",
    "locale convention": "locale convention, not further classified",
    "source error": "the source itself is wrong",
    "non-translation": "no translation of the source at all",
    INSTRUCTION_FAULT: "an instruction that the translation had to follow is not followed",
    "other": "an error that no category describes",
}
"""Canonical category to what it means, in the order of the typology."""

SUBTYPES: Final[tuple[str, ...]] = tuple(CATEGORIES)[:19]
"""HiMATE's nineteen subtypes."""

_ALIASES: Final[Mapping[str, str]] = {
    # Google's MQM files, 2020 to 2023, and the WMT metrics task
    "accuracy/omission (translation)": "accuracy/omission",
    "accuracy/omission (translation 1)": "accuracy/omission",
    "accuracy/omission (translation 2)": "accuracy/omission",
    "accuracy/source language fragment": "accuracy/untranslated text",
    "fluency/encoding": "fluency/character encoding",
    "locale": "locale convention",
    "locale convention/address format": "locale convention/address",
    "locale convention/currency format": "locale convention/currency",
    "locale convention/date format": "locale convention/date",
    "locale convention/name format": "locale convention/name",
    "locale convention/telephone format": "locale convention/telephone",
    "locale convention/time format": "locale convention/time",
    "instruction_fault": "instruction fault",
    "instruction-fault": "instruction fault",
    "instructions fault": "instruction fault",
    "non translation": "non-translation",
    "source issue": "source error",
    "style/bad sentence structure": "style/awkward",
    "style/unnatural or awkward": "style/awkward",
    "terminology/contextually inappropriate": "terminology/inappropriate for context",
    "terminology/inappropriate": "terminology/inappropriate for context",
    "terminology/inconsistent": "terminology/inconsistent use",
    "terminology/inconsistent use of terminology": "terminology/inconsistent use",
    # MQM core as Appraise offers it (the ESA paper's MQM campaigns)
    "accuracy/do not translate": "accuracy",
    "accuracy/overtranslation": "accuracy/mistranslation",
    "accuracy/undertranslation": "accuracy/mistranslation",
    "accuracy/untranslated": "accuracy/untranslated text",
    "audience appropriateness": "other",
    "audience appropriateness/culture-specific reference": "other",
    "audience appropriateness/offensive": "other",
    "design and markup": "other",
    "design and markup/layout": "other",
    "design and markup/link/cross-reference": "other",
    "design and markup/markup tag": "other",
    "design and markup/missing text": "other",
    "design and markup/truncation/text expansion": "other",
    "linguistic conventions": "fluency",
    "linguistic conventions/character encoding": "fluency/character encoding",
    "linguistic conventions/grammar": "fluency/grammar",
    "linguistic conventions/punctuation": "fluency/punctuation",
    "linguistic conventions/spelling": "fluency/spelling",
    "linguistic conventions/textual conventions": "fluency",
    "linguistic conventions/unintelligible": "fluency",
    "locale convention/measurement format": "locale convention",
    "locale convention/number format": "locale convention",
    "locale convention/shortcut key": "locale convention",
    "style/awkward style": "style/awkward",
    "style/inconsistent style": "style",
    "style/inconsistent with external reference": "style",
    "style/language register": "fluency/register",
    "style/organization style": "style",
    "style/third-party style": "style",
    "style/unidiomatic style": "style/awkward",
    "terminology/inconsistent with terminology resource": "terminology/inappropriate for context",
    "terminology/wrong term": "terminology/inappropriate for context",
    # further subtypes of MQM's full typology
    "accuracy/ambiguous translation": "accuracy/mistranslation",
    "accuracy/entity": "accuracy/mistranslation",
    "accuracy/false friend": "accuracy/mistranslation",
    "accuracy/number": "accuracy/mistranslation",
    "accuracy/over-translation": "accuracy/mistranslation",
    "accuracy/overly literal": "accuracy/mistranslation",
    "accuracy/should not have been translated": "accuracy",
    "accuracy/under-translation": "accuracy/mistranslation",
    "accuracy/unit conversion": "accuracy/mistranslation",
    "fluency/agreement": "fluency/grammar",
    "fluency/capitalization": "fluency/spelling",
    "fluency/coherence": "fluency",
    "fluency/cohesion": "fluency",
    "fluency/diacritics": "fluency/spelling",
    "fluency/duplication": "fluency",
    "fluency/function words": "fluency/grammar",
    "fluency/part of speech": "fluency/grammar",
    "fluency/typography": "fluency",
    "fluency/unclear reference": "fluency",
    "fluency/unintelligible": "fluency",
    "fluency/word form": "fluency/grammar",
    "fluency/word order": "fluency/grammar",
    "style/register": "fluency/register",
    "style/unidiomatic": "style/awkward",
    # the catch-all of each core type
    "accuracy/other": "accuracy",
    "fluency/other": "fluency",
    "locale convention/other": "locale convention",
    "style/other": "style",
    "terminology/other": "terminology",
}
"""Spellings of other years and tools, folded as `fold_label` does, to the canonical category.

A subtype that has no counterpart becomes its core type; what it was called stays in `ErrorSpan.label`.
"""


def fold_label(label: str) -> str:
    """Lower case, single blanks, no blanks around the slash, no trailing mark."""
    parts = [" ".join(part.split()) for part in label.lower().split("/")]
    return "/".join(part for part in parts if part not in {"", "-"}).rstrip("!").rstrip()


@lru_cache(maxsize=1024)
def find_category(label: str) -> str | None:
    """Canonical category of a label in any year's spelling, or None if no year has it.

    Three forms are understood: the canonical one, a known alias, and a bare subtype that occurs under
    one core type only, such as `omission`.
    """
    folded = fold_label(label)
    folded = _ALIASES.get(folded, folded)
    return folded if folded in CATEGORIES else _BARE_SUBTYPES.get(folded)


def _bare_subtypes() -> dict[str, str]:
    spellings = {name: name for name in CATEGORIES if "/" in name}
    spellings |= {name: canonical for name, canonical in _ALIASES.items() if "/" in name}
    found: dict[str, str] = {}
    for spelling, canonical in spellings.items():
        bare = spelling.split("/", 1)[1]
        if found.setdefault(bare, canonical) != canonical:
            found[bare] = ""
    return {bare: canonical for bare, canonical in found.items() if canonical}


_BARE_SUBTYPES: Final[Mapping[str, str]] = _bare_subtypes()


@lru_cache(maxsize=1024)
def find_severity(label: str) -> Severity | None:
    """Severity of a label in any capitals, or None if there is no such severity."""
    return next((s for s in SEVERITIES if s == label.strip().lower()), None)


@frozen
class Protocol:
    """One way to annotate. Higher ratings are better in every protocol."""

    name: str  # the word on the command line and in records
    title: str
    low: float | None = None  # worst rating, or None where nothing is rated
    high: float | None = None  # best rating, or None where nothing is rated
    has_spans: bool = False  # whether errors are marked
    has_categories: bool = False  # whether a marked error has a category
    severities: tuple[Severity, ...] = ()  # severities that an annotator may choose
    # whether a record is of one criterion of its segment, rated 1 for pass or 0 for fail
    has_criteria: bool = False
    needs_translation: bool = True  # whether a record is about a translation, and not about a source alone

    @property
    def needs_rating(self) -> bool:
        """Whether a record of this protocol must have a rating."""
        return self.low is not None

    def check_rating(self, rating: object) -> None:
        """Refuse a rating that is no finite number within the range."""
        if self.low is None or self.high is None:
            raise DataError(f"protocol {self.name} has no rating, got {rating!r}")
        if not is_number(rating) or not self.low <= rating <= self.high:
            raise DataError(f"a rating of {self.name} lies in {self.low:g} to {self.high:g}, got {rating!r}")
        if self.has_criteria and rating not in {self.low, self.high}:
            raise DataError(f"a rating of {self.name} is 1 for pass or 0 for fail, got {rating!r}")


PROTOCOLS: Final[dict[str, Protocol]] = {
    p.name: p
    for p in (
        Protocol(
            name="esa",
            title="Error Span Annotation",
            low=0,
            high=100,
            has_spans=True,
            severities=("minor", "major"),
        ),
        Protocol(
            name="mqm",
            title="Multidimensional Quality Metrics",
            has_spans=True,
            has_categories=True,
            severities=SEVERITIES,
        ),
        Protocol(name="da-sqm", title="Direct Assessment with SQM labels", low=0, high=100),
        Protocol(name="sqm", title="Scalar Quality Metric, 0 to 4", low=0, high=4),
        Protocol(
            name="criteria",
            title="Pass or fail on each criterion of a segment",
            low=0,
            high=1,
            has_criteria=True,
        ),
        Protocol(name="pairwise", title="Pairwise preference"),
        Protocol(
            name="curation",
            title="Answer to a question of curation: no judgement, never a score",
            needs_translation=False,
        ),
        Protocol(name="metric", title="Score of a metric", low=float("-inf"), high=float("inf")),
    )
}


def find_protocol(name: str) -> Protocol:
    if (found := PROTOCOLS.get(name)) is None:
        raise UsageError(f"no protocol {name!r}; there are {', '.join(PROTOCOLS)}")
    return found


_NUMBERS: Final = (int, float)  # a union would be made anew in each of a million calls


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a finite int or float, and not a bool."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool) and math.isfinite(value)
