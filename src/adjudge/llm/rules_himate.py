"""The embedded rules in the later stages of HiMATE: correction, comparison, opinion, response."""

from __future__ import annotations

import json
import math
from typing import Final

from adjudge.checks import CLEAN_PRECISION, Finding, find_errors
from adjudge.core.ask import About, TokenLogprob
from adjudge.llm.rules_categories import category_among
from adjudge.llm.rules_findings import writable

__all__ = ["answer_correction", "answer_opinion", "answer_response", "answer_verification"]

_LIKELY: Final = 0.5  # precision from which a finding is taken for an error

Tokens = tuple[TokenLogprob, ...]


def answer_correction(about: About) -> Tokens:
    """The translation without the wrong words, or with the missing ones; no rule translates."""
    subject, span = about.subject, str(about.facts.get("span", ""))
    text = subject.translation
    if about.facts.get("side") == "source":
        text = f"{text} {span}".strip()
    elif span:
        text = " ".join(text.replace(span, "", 1).split())
    source = subject.source.strip()
    left = text.strip() or (source if source != subject.translation.strip() else "") or "–"
    return _said(1.0, translation=writable(left))


def answer_verification(about: About) -> Tokens:
    """Corrected, if the rules find fewer errors of the category than before."""
    before = _findings(about, about.subject.translation)
    after = _findings(about, str(about.facts.get("corrected", "")))
    if len(after) < len(before):
        return _said(max(found.precision for found in before), result="corrected")
    return _said(CLEAN_PRECISION, result="no difference")


def answer_opinion(about: About) -> Tokens:
    """An error, if a rule that is right more often than not finds it."""
    found = _strongest(about)
    exists = found is not None and found.precision >= _LIKELY
    severity = found.span.severity if found is not None and exists else "neutral"
    if severity == "critical":  # none of HiMATE's
        severity = "major"
    return _said(_precision(found), opinion=_reason(found), exists=exists, severity=severity)


def answer_response(about: About) -> Tokens:
    """Agreement, if the other one says what the rules say."""
    found = _strongest(about)
    exists = found is not None and found.precision >= _LIKELY
    return _said(_precision(found), reply=_reason(found), agrees=about.facts.get("exists") == exists)


def _findings(about: About, translation: str) -> list[Finding]:
    category = str(about.facts.get("category"))
    found = find_errors(about.subject.source, translation, about.subject.lp)
    return [one for one in found if category_among(one, {category})]


def _strongest(about: About) -> Finding | None:
    """The surest finding of the category that shares words with the error."""
    span = str(about.facts.get("span", ""))
    near = [f for f in _findings(about, about.subject.translation) if f.span.text in span]
    return max(near, key=lambda found: found.precision, default=None)


def _precision(found: Finding | None) -> float:
    return CLEAN_PRECISION if found is None else found.precision


def _reason(found: Finding | None) -> str:
    return "no rule finds it" if found is None else f"found by rule {found.rule}"


def _said(precision: float, **fields: object) -> Tokens:
    return (TokenLogprob(json.dumps(fields, ensure_ascii=False), math.log(precision)),)
