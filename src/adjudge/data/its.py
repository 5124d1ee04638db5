"""ITS 2.0: how a quality issue, its severity and who found it are said in localisation files.

The types are those of the Internationalization Tag Set 2.0 (W3C, 2013), appendix C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from adjudge.core.annotation import Annotation, ErrorSpan
from adjudge.core.protocol import find_protocol
from adjudge.core.typology import CATEGORIES, Severity
from adjudge.data.labels import Label

__all__ = [
    "ISSUE_TYPES",
    "ITS",
    "SEVERITIES",
    "annotator_of",
    "annotators_ref",
    "confidence_of",
    "issue_attributes",
    "its",
    "label_of",
    "severity_of",
    "writable",
]

ITS: Final = "http://www.w3.org/2005/11/its"
_ANNOTATOR: Final = "urn:adjudge:annotator:"

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

_CATEGORIES: Final[Mapping[str, str]] = {
    "mistranslation": "accuracy/mistranslation",
    "terminology": "terminology",
    "style": "style",
    "locale-violation": "locale convention",
    **{kind: category for category, kind in _OWN.items() if kind not in {"formatting", "other"}},
    "other": "other",
}
"""`locQualityIssueType` to the category that says the same; other types have none."""


def its(name: str) -> str:
    """A name of ITS with its namespace."""
    return f"{{{ITS}}}{name}"


def writable(text: str) -> str:
    """Text that an attribute can hold: a mark for each character that XML has no way to write."""
    return "".join(c if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") else "\ufffd" for c in text)


def issue_attributes(span: ErrorSpan, protocol: str) -> dict[str, str]:
    """Attributes of a `locQualityIssue`, without their namespace, in characters that XML can write."""
    what = span.label or span.category or "error"
    where = f" in the source: “{span.text}”" if span.side == "source" else f": “{span.text}”"
    comment = f"{what}, {span.severity}" + (where if span.text else "")
    return {
        "locQualityIssueType": ISSUE_TYPES[span.category] if span.category else "uncategorized",
        "locQualityIssueComment": writable(comment + (f" - {span.note}" if span.note else "")),
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
    name = f"{_ANNOTATOR}{quote(annotator, safe='')}"
    return f"localization-quality-issue|{name} mt-confidence|{name}"


def annotator_of(refs: str, data_category: str) -> str | None:
    """Who is named for a data category in `annotatorsRef`: one of ours by its name, others by their IRI."""
    for ref in refs.split():
        category, _, name = ref.partition("|")
        if category == data_category and name:
            return unquote(name.removeprefix(_ANNOTATOR)) if name.startswith(_ANNOTATOR) else name
    return None


def label_of(issue_type: str) -> Label:
    """Category of a `locQualityIssueType`, whose spelling is kept; None where no category says the same."""
    if issue_type in {"", "uncategorized"}:
        return Label(None, None)
    return Label(_CATEGORIES.get(issue_type), issue_type)


def severity_of(number: float) -> tuple[Severity, bool]:
    """Severity of a `locQualityIssueSeverity`, 0 to 100, and whether it is one of `SEVERITIES`.

    Any other number goes to the nearest step, to the worse of two; above 0 that is never neutral, which
    costs nothing.
    """
    for severity, step in SEVERITIES.items():
        if round(number) == step and (number == 0) == (step == 0):
            return severity, True
    steps = [(abs(number - step), -step, severity) for severity, step in SEVERITIES.items() if step > 0]
    return min(steps)[2], False
