"""The MQM typology, the aliases of every year's spelling, and the named weights: all of it data.

Categories are `core type/subtype` in lower case, as in `accuracy/omission`. HiMATE's five core types with
nineteen subtypes (HiMATE, table of the appendix) plus what the WMT typology adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, get_args

from adjudge.errors import DataError, UsageError

__all__ = [
    "CATEGORIES",
    "SEVERITIES",
    "SUBTYPES",
    "WEIGHTS",
    "Severity",
    "Weights",
    "find_category",
    "find_severity",
    "find_weights",
]

Severity = Literal["neutral", "minor", "major", "critical"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)

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
    # the catch-all of each core type
    "accuracy/other": "accuracy",
    "fluency/other": "fluency",
    "locale convention/other": "locale convention",
    "style/other": "style",
    "terminology/other": "terminology",
}
"""Spellings of other years and tools, folded as `_fold` does, to the canonical category.

A subtype that has no counterpart becomes its core type; what it was called stays in `ErrorSpan.label`.
"""


def _fold(label: str) -> str:
    """Lower case, single blanks, no blanks around the slash, no trailing mark."""
    parts = [" ".join(part.split()) for part in label.lower().split("/")]
    return "/".join(part for part in parts if part not in {"", "-"}).rstrip("!").rstrip()


@lru_cache(maxsize=1024)
def find_category(label: str) -> str | None:
    """Canonical category of a label in any year's spelling, or None if no year has it.

    Three forms are understood: the canonical one, a known alias, and a bare subtype that occurs under
    one core type only, such as `omission`.
    """
    folded = _fold(label)
    folded = _ALIASES.get(folded, folded)
    if folded in CATEGORIES:
        return folded
    return _BARE_SUBTYPES.get(folded)


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


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each error costs; named data that every signature shows.

    Args:
        name: the word on the command line.
        rules: `severity`, `severity/category` or `*/category` to points; the most specific rule wins.
        first: only so many errors count, in the order they were given; None for all.
        cap: no translation loses more than this; None for no cap.
        source: where the numbers come from.
    """

    name: str
    rules: Mapping[str, float]
    source: str
    first: int | None = None
    cap: float | None = None

    def points(self, severity: Severity, category: str | None) -> float:
        """Points that one error costs, 0 or more.

        Raises:
            DataError: no such category; a severity without a name is one that no rule knows.
            UsageError: these weights say nothing of such an error; that is never weight 0.
        """
        known = self._known.get((severity, category))
        if known is None:
            known = self._known[severity, category] = self._find(severity, category)
        return known

    @cached_property
    def _known(self) -> dict[tuple[Severity, str | None], float]:
        """Points that were looked up before: a test set has few kinds of errors, and each of them often."""
        return {}

    def _find(self, severity: Severity, category: str | None) -> float:
        if category is not None and category not in CATEGORIES:
            raise DataError(f"category must be one of {', '.join(CATEGORIES)}; got {category!r}")
        for key in self._keys(severity, category):
            if key in self.rules:
                return self.rules[key]
        what = severity if category is None else f"{severity} {category}"
        raise UsageError(
            f"weights {self.name!r} have no rule for a {what} error; choose others of {_names()}"
        )

    @staticmethod
    def _keys(severity: Severity, category: str | None) -> list[str]:
        if category is None:
            return [severity]
        core = category.split("/", 1)[0]
        names = [category, core]
        return [f"{s}/{name}" for name in names for s in (severity, "*")] + [severity]


_NO_POINTS: Final[Mapping[str, float]] = {"*/source error": 0, "*/accuracy/creative reinterpretation": 0}
"""Marked in the WMT data but not held against a system."""

_GOOGLE: Final[Mapping[str, float]] = {
    "critical": 25,
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "minor/fluency/punctuation": 0.1,
    "*/non-translation": 25,
}

_M_MAD: Final[Mapping[str, float]] = {
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "*/non-translation": 25,
    "*/source error": 0,
}

WEIGHTS: Final[Mapping[str, Weights]] = {
    w.name: w
    for w in (
        Weights(
            name="mqm-google",
            source="Freitag et al. 2021, as WMT23 applies it; critical as in the ESA paper's MQM campaigns",
            rules={**_GOOGLE, **_NO_POINTS},
        ),
        Weights(
            name="mqm-google-2021",
            source="fits the published scores of WMT21's TED files, where errors of the source cost too",
            rules=_GOOGLE,
        ),
        Weights(
            name="gemba",
            source="GEMBA-MQM, Kocmi and Federmann 2023: the first five errors, at most 25 points",
            rules={"critical": 25, "major": 5, "minor": 1, "neutral": 0, "*/non-translation": 25},
            first=5,
            cap=25,
        ),
        Weights(
            name="himate",
            source="HiMATE, table 6",
            rules={"major": 5, "minor": 1, "neutral": 0, "minor/fluency/punctuation": 0.1},
        ),
        Weights(
            name="m-mad",
            source="M-MAD, section 3",
            rules=_M_MAD,
        ),
        Weights(
            name="m-mad-capped",
            source="M-MAD, section 2.1: no segment is worse than 25",
            rules=_M_MAD,
            cap=25,
        ),
        Weights(
            name="m-mad-published",
            source="fits M-MAD's published score files, which differ from the paper in punctuation",
            rules={**_M_MAD, "minor/fluency/punctuation": 0.1},
        ),
        Weights(name="ea-prompt", source="EAPrompt, Lu et al. 2024", rules={"major": 5, "minor": 1}),
        Weights(
            name="ea-prompt-published",
            source="fits the published EAPrompt files, where a major error costs 6",
            rules={"major": 6, "minor": 1},
        ),
        Weights(
            name="esa-spans",
            source="ESA paper, section 4; 4.8 is the scanned optimum for a major error",
            rules={"critical": 5, "major": 5, "minor": 1, "neutral": 0},
        ),
    )
}


def _names() -> str:
    return ", ".join(WEIGHTS)


def find_weights(name: str) -> Weights:
    """Look weights up by their name.

    Raises:
        UsageError: there are none of that name.
    """
    if name not in WEIGHTS:
        raise UsageError(f"no weights {name!r}; there are {_names()}")
    return WEIGHTS[name]
