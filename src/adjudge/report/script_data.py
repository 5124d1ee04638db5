"""What the script of a page reads: its data, and what its filters and orders offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from adjudge.core.annotation import Annotation
from adjudge.core.language import is_right_to_left, language_name, source_language, target_language
from adjudge.core.segment import Segment
from adjudge.core.typology import CATEGORIES, SEVERITIES
from adjudge.report.annotators import Annotator
from adjudge.report.invisible import NAMES, RANGES
from adjudge.report.segments import Key, spread_by_translation
from adjudge.report.words import FAILURES, lp_words

__all__ = ["filter_choices", "page_facts", "segment_orders"]

_APART: Final = 0.5
"""Spread of ranks from which annotators are said to disagree on a translation."""
_ONE_IN: Final = 10
"""Of so many segments, they are said to disagree on one: many annotators are half apart on nearly all."""


def page_facts(
    segments: Mapping[Key, Segment], annotators: Sequence[Annotator], systems: Sequence[str]
) -> dict[str, Any]:
    """Everything that the script needs but the segments themselves; plain JSON types only."""
    return {
        "lps": {lp: _languages(lp) for lp in dict.fromkeys(lp for lp, _ in segments)},
        "systems": list(systems),
        "annotators": [
            {"label": a.label, "digits": _segment_digits(a), "marks": _marks(a)} for a in annotators
        ],
        "reasons": FAILURES,
        "invisible": {"ranges": RANGES, "names": NAMES},
        "apart": _apart(segments, annotators),
        "domains": _several(s.domain for s in segments.values()),
    }


def _apart(segments: Mapping[Key, Segment], annotators: Sequence[Annotator]) -> float:
    """From which spread on annotators disagree: half of the ranks, or more where many would be."""
    widest = dict.fromkeys(segments, 0.0)
    for (key, _), spread in spread_by_translation(annotators).items():
        widest[key] = max(widest[key], spread)
    ordered = sorted(widest.values(), reverse=True)
    return max(_APART, round(ordered[len(ordered) // _ONE_IN], 2)) if ordered else _APART


def _languages(lp: str) -> dict[str, dict[str, str]]:
    return {"source": _language(source_language(lp)), "target": _language(target_language(lp))}


def _language(code: str) -> dict[str, str]:
    direction = "rtl" if is_right_to_left(code) else "ltr"
    return {"lang": code.replace("_", "-"), "dir": direction, "name": language_name(code)}


def _segment_digits(annotator: Annotator) -> int:
    """As many digits as the scores of segments need, at most two; three where they lie within 0 and 1."""
    scores = [score for score in annotator.segment_scores.values() if score is not None]
    if scores and max(map(abs, scores)) <= 1 and any(score % 1 for score in scores):
        return 3
    return next((d for d in (0, 1) if all(abs(s - round(s, d)) < 1e-9 for s in scores)), 2)


def _marks(annotator: Annotator) -> bool:
    return any(isinstance(r, Annotation) and (r.spans or r.counts) for r in annotator.records)


def filter_choices(
    segments: Mapping[Key, Segment], annotators: Sequence[Annotator], systems: Sequence[str]
) -> dict[str, list[tuple[str, str]]]:
    """What each filter offers: the word that the script knows it by, and the one that is read.

    A filter that would offer nothing to choose stays empty.
    """
    severities, categories = _kinds(annotators)
    lps = {lp: lp_words(lp) for lp, _ in segments}
    domains = _several(s.domain for s in segments.values())
    return {
        "lp": list(lps.items()) if len(lps) > 1 else [],
        "system": _numbered(systems) if len(systems) > 1 else [],
        "annotator": _numbered(a.label for a in annotators) if len(annotators) > 1 else [],
        "severity": [(name, name) for name in SEVERITIES if name in severities],
        "category": [(name, name) for name in _with_cores(c for c in CATEGORIES if c in categories)],
        "domain": [(value, words or "none") for value, words in _numbered(domains)],
        "view": [("over", "over one another")] if _is_choir(annotators) else [],
    }


def _kinds(annotators: Sequence[Annotator]) -> tuple[set[str], set[str]]:
    """Every severity and category of an error that was marked or counted."""
    annotations = [r for a in annotators for r in a.records if isinstance(r, Annotation)]
    severities: set[str] = {span.severity for r in annotations for span in r.spans}
    severities.update(name for r in annotations if r.counts and not r.spans for name in r.counts)
    return severities, {span.category or "" for r in annotations for span in r.spans}


def _is_choir(annotators: Sequence[Annotator]) -> bool:
    """Whether several mark the same texts."""
    marking = [annotator for annotator in annotators if _marks(annotator)]
    return len(marking) > 1 or any(annotator.is_several for annotator in marking)


def _numbered(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names that the script knows by their position, for they may hold anything."""
    return [(str(index), name) for index, name in enumerate(names)]


def segment_orders(annotators: Sequence[Annotator]) -> list[tuple[str, str]]:
    """The orders in which segments can be shown, each with the word that the script knows it by."""
    orders = [("", "as in the test set")]
    for index, annotator in enumerate(annotators):
        if annotator.results:
            orders += [
                (f"low:{index}", f"lowest score first, {annotator.label}"),
                (f"high:{index}", f"highest score first, {annotator.label}"),
            ]
    return [*orders, ("spread:", "largest disagreement first")] if len(annotators) > 1 else orders


def _with_cores(categories: Iterable[str]) -> list[str]:
    """Put each core type before its subtypes."""
    return list(dict.fromkeys(part for name in categories for part in (name.split("/", 1)[0], name)))


def _several(values: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(values))
    return found if len(found) > 1 else ()
