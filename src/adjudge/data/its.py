"""ITS 2.0: how a quality issue, its severity and who found it are said in localisation files.

The types are those of the Internationalization Tag Set 2.0 (W3C, 2013), appendix C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.protocol import find_protocol
from adjudge.core.typology import CATEGORIES, Severity

__all__ = ["ISSUE_TYPES", "ITS", "SEVERITIES", "annotators_ref", "confidence_of", "issue_attributes"]

ITS: Final = "http://www.w3.org/2005/11/its"

_CORE: Final = {
    "accuracy": "mistranslation",
    "terminology": "terminology",
    "fluency": "uncategorized",
    "style": "style",
    "locale convention": "locale-violation",
    "source error": "other",
    "non-translation": "mistranslation",
    "other": "other",
}
_OWN: Final = {
    "accuracy/addition": "addition",
    "accuracy/omission": "omission",
    "accuracy/untranslated text": "untranslated",
    "fluency/punctuation": "typographical",
    "fluency/spelling": "misspelling",
    "fluency/grammar": "grammar",
    "fluency/register": "register",
    "fluency/inconsistency": "inconsistency",
    "fluency/character encoding": "characters",
    "fluency/text-breaking": "formatting",
    "accuracy/creative reinterpretation": "other",
}
ISSUE_TYPES: Final[Mapping[str, str]] = {
    category: _OWN.get(category, _CORE[category.partition("/")[0]]) for category in CATEGORIES
}
"""Category to `locQualityIssueType`. Several categories share a type; the comment names the category."""

SEVERITIES: Final[Mapping[Severity, int]] = {"neutral": 0, "minor": 33, "major": 67, "critical": 100}
"""Severity to `locQualityIssueSeverity`, 0 to 100: evenly spaced, and no weights."""


def issue_attributes(span: ErrorSpan, protocol: str) -> dict[str, str]:
    """Attributes of a `locQualityIssue`, without their namespace."""
    what = span.label or span.category or "error"
    where = f" in the source: “{span.text}”" if span.side == "source" else f": “{span.text}”"
    comment = f"{what}, {span.severity}" + (where if span.text else "")
    return {
        "locQualityIssueType": ISSUE_TYPES[span.category] if span.category else "uncategorized",
        "locQualityIssueComment": comment + (f" - {span.note}" if span.note else ""),
        "locQualityIssueSeverity": str(SEVERITIES[span.severity]),
        "locQualityIssueProfileRef": f"urn:adjudge:protocol:{quote(protocol, safe='')}",
    }


def confidence_of(annotation: Annotation) -> str | None:
    """The rating as `mtConfidence`, 0 to 1 along the protocol's scale; None without rating or ends."""
    protocol = find_protocol(annotation.protocol)
    low, high = protocol.low, protocol.high
    if annotation.rating is None or low is None or high is None or abs(low) + abs(high) == float("inf"):
        return None
    share = (annotation.rating - low) / (high - low)
    return f"{share:.6f}".rstrip("0").rstrip(".")


def annotators_ref(annotator: str) -> str:
    """Who says it, for both data categories."""
    name = f"urn:adjudge:annotator:{quote(annotator, safe='')}"
    return f"localization-quality-issue|{name} mt-confidence|{name}"
