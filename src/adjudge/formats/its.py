"""ITS 2.0: how a quality issue, its severity and who found it are said in localisation files.

The types are those of the Internationalization Tag Set 2.0 (W3C, 2013), appendix C. Beside them stands all
that adjudge says of a judgement (`render_stated`, `read_stated`); `keep_spans` and `keep_rating` say what of
it still holds once somebody has changed the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from adjudge.core.protocol import CATEGORIES, Severity, find_protocol
from adjudge.core.record import Annotation, ErrorSpan, Side
from adjudge.errors import AdjudgeError, DataError
from adjudge.formats.mqm_tsv import Label
from adjudge.store.files import read_json, render_json_line
from adjudge.store.json_lines import record_from_json, record_to_json

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
    "instruction fault": "other",
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


class Issue(NamedTuple):
    """One issue."""

    # its attributes without their namespace; none where what is referred to is not in the file
    says: Mapping[str, str]
    side: Side
    place: tuple[int, int] | None  # where it is in that; None where it is about the whole
    annotator: str | None  # who says so; None where the file does not say
    severity: float | None  # 0 to 100; None where the file does not say
    is_enabled: bool = True  # False where somebody took it back


def its(name: str) -> str:
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


STATED_NAMESPACE: Final = "urn:adjudge:xliff"
STATED: Final = f"{{{STATED_NAMESPACE}}}record"
"""Attribute with what adjudge says of a judgement beside ITS, so that nothing is lost."""

_PLACE: Final = frozenset({"kind", "lp", "segment", "system", "annotator"})
_UNWRITABLE: Final = str.maketrans({"\ufffe": "\\ufffe", "\uffff": "\\uffff"})


def render_stated(annotation: Annotation) -> str:
    """An annotation as an attribute, without what the file says anyway: JSON."""
    value = {key: value for key, value in record_to_json(annotation).items() if key not in _PLACE}
    return render_json_line(value).decode().removesuffix("\n").translate(_UNWRITABLE)


def read_stated(raw: str, place: dict[str, str], line: int) -> Annotation:
    value = read_json(raw, line=line)
    if not isinstance(value, dict):
        raise DataError("adjudge:record must be a JSON object", line=line)
    try:
        record = record_from_json({**value, **place, "kind": "annotation"})
    except AdjudgeError as error:
        raise DataError(f"adjudge:record: {error}", line=line) from error
    if not isinstance(record, Annotation):
        raise DataError("adjudge:record must be an annotation", line=line)
    return record


def keep_spans(stated: Annotation, issues: Sequence[Issue], text: str) -> tuple[list[ErrorSpan], list[Issue]]:
    """Those of the errors stated that still hold, where ITS says they are now.

    Also the issues that adjudge did not state, or not so.
    """
    rest, spans, lost = [*issues], [], []
    for span in stated.spans:
        says = issue_attributes(span, stated.protocol)
        same = [issue for issue in rest if issue.says == says]
        if same:
            own = _place(span)
            issue = min(same, key=lambda each: (each.place != own, each.place is not None))
            rest.remove(issue)
            spans += [_placed(span, issue.place, text)] if issue.is_enabled else []
        else:
            lost.append(span)
    there = [issue.place for issue in rest]
    for span in lost:
        if _place(span) in there:
            there.remove(_place(span))  # said otherwise by now
        else:
            spans.append(_placed(span, None, text))
    return spans, [issue for issue in rest if issue.is_enabled]


def _place(span: ErrorSpan) -> tuple[int, int] | None:
    return None if span.start is None or span.end is None else (span.start, span.end)


def _placed(span: ErrorSpan, place: tuple[int, int] | None, text: str) -> ErrorSpan:
    """An error where its mark is; one without a mark where it was, unless the text there has changed."""
    if span.side == "source":
        return span
    if place is None:
        if span.start is None or _fits(span, text):
            return span
        return replace(span, start=None, end=None, match="unmatched")
    if place == _place(span) and _fits(span, text):
        return span
    start, end = place
    return replace(span, start=start, end=end, text=text[start:end], match="exact")


def _fits(span: ErrorSpan, text: str) -> bool:
    found = text[span.start : span.end]
    within = span.end is not None and span.end <= len(text)
    return within and (found == span.text or not span.text or span.match != "exact")


def keep_rating(stated: Annotation, confidence: float | None) -> float | None:
    """The rating stated, or that of the confidence where it says another one.

    `confidence`: 0 to 1 along the protocol's scale; None where there is none.
    """
    protocol, said = find_protocol(stated.protocol), confidence_of(stated)
    if confidence is None or said is None or float(said) == confidence:
        return stated.rating
    low, high = protocol.low or 0.0, protocol.high or 0.0
    return low + confidence * (high - low)
