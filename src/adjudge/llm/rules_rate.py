"""What the embedded rules say in RATE's roles: fixed decisions of the core agent, and what its tools answer.

They know no slang: a search is put once for a source, with the source itself as the question. They write no
translations: as a poor one they give the source as it stands, as an excellent one the translation judged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from adjudge.checks import Finding
from adjudge.core.ask import About, TokenLogprob, ToolCall
from adjudge.llm.rules_findings import certainty_of, findings_of, rating_of, writable

__all__ = ["answer_action", "answer_assessment", "answer_queries", "answer_question"]

_SURE: Final = 0.9  # below this confidence RATE compares
_LONGEST: Final = 200

Tokens = tuple[TokenLogprob, ...]


def answer_action(about: About) -> Tokens | ToolCall:
    """The next tool: search once, evaluate, compare once where unsure, finish."""
    facts = about.facts
    tool, arguments, thought = _preparing(about) if "prepare" in _tools(facts) else _judging(about)
    if facts.get("form") == "native":
        return ToolCall(id="call", name=tool, arguments={"thought": thought, **arguments})
    spelled = {key: str(value).replace("<", "‹") for key, value in arguments.items()}  # no tag in a value
    pairs = "\n".join(f"<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>" for k, v in spelled.items())
    return _said(f"{thought}\n<tool_call>{tool}\n{pairs}\n</tool_call>")


def _tools(facts: Mapping[str, Any]) -> list[str]:
    return [str(tool) for tool in facts.get("tools", ())]


Step = tuple[str, dict[str, Any], str]


def _preparing(about: About) -> Step:
    facts, source = about.facts, _safe(about.subject.source)
    if "search" in _tools(facts) and not facts.get("searched"):
        return "search", {"query": source[:_LONGEST]}, "Nothing is known of the source yet."
    anchors = {"low_anchor": source, "high_anchor": source} if facts.get("anchors") else {}
    return "prepare", {"context_notes": _known(facts), **anchors}, "The rules can find out no more."


def _judging(about: About) -> Step:
    facts, subject = about.facts, about.subject
    tools, notes, score = _tools(facts), _known(facts), facts.get("score")
    if "search" in tools and not facts.get("searched"):
        query = _safe(subject.source)[:_LONGEST]
        return "search", {"query": query}, "Nothing is known of the source yet."
    if score is None and "evaluate" in tools:
        return "evaluate", {"context_notes": notes}, "There is no score yet."
    unsure = float(str(facts.get("confidence") or 0)) < _SURE
    if "compare" in tools and unsure and not facts.get("compared") and not facts.get("frozen"):
        written = {"low_anchor": _safe(subject.source), "high_anchor": _safe(subject.translation)}
        anchors = written if facts.get("cold") else {}
        given = {"tentative_score": score, "context_notes": notes, **anchors}
        return "compare", given, "The confidence is below 0.9."
    suggested = facts.get("suggested")
    final = score if suggested is None else suggested
    return "finish", {"score": final, "rationale": "What the rules found, no more."}, "Nothing is open."


def answer_assessment(about: About) -> Tokens:
    """Full marks less the points of weights `mqm-google`, and how often the rules behind them are right."""
    findings = findings_of(about.subject)
    low, high = int(str(about.facts["low"])), int(str(about.facts["high"]))
    logprob = certainty_of(findings)
    answer = {
        "rationale": f"{len(findings)} findings of fixed rules",
        "error_spans": [_span(finding) for finding in findings],
        "suspected_gaps": [],
        "score": rating_of(findings, low, high),
        "confidence": round(math.exp(logprob), 2),
    }
    return (TokenLogprob(json.dumps(answer, ensure_ascii=False), logprob),)


def answer_queries(about: About) -> Tokens:
    """The question itself."""
    query = {"query": str(about.facts.get("question", "")), "recency": None}
    return _said(json.dumps({"queries": [query]}, ensure_ascii=False))


def answer_question(about: About) -> Tokens:
    """The first result as it stands."""
    found = _safe(str(about.facts.get("found", "")))
    answer = {"reasoning": "The first result, unread.", "answer": found}
    return _said(json.dumps(answer, ensure_ascii=False))


def _span(finding: Finding) -> dict[str, str]:
    text, is_source = _safe(finding.span.text), finding.span.side == "source"
    return {
        "source": text if is_source else "",
        "translation": "" if is_source else text,
        "issue": f"rule {finding.rule}",
    }


def _known(facts: Mapping[str, Any]) -> str:
    return str(facts.get("known") or "nothing is known")


def _safe(text: str) -> str:
    """A text that every form of answer can hold; one of nothing says so."""
    return writable(text).strip() or "(empty)"


def _said(text: str) -> Tokens:
    return (TokenLogprob(text, 0.0),)
