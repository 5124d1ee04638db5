"""The embedded model `builtin/rules`: no network, no weights, no language model.

It answers what a call is about (`About.wants`) from the findings of `adjudge.checks`, so that judges run
offline: for the demo, for tests, and as the floor that a real judge must beat.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adjudge.checks import CLEAN_PRECISION, Finding
from adjudge.core.ask import About, Reply, TokenLogprob, ToolCall
from adjudge.core.segment import Subject
from adjudge.core.typology import CATEGORIES, SEVERITIES, Severity, find_weights
from adjudge.errors import ModelError
from adjudge.llm.model import Request
from adjudge.llm.rules_categories import category_among
from adjudge.llm.rules_curation import answer_categories, answer_difficulty, answer_translation
from adjudge.llm.rules_findings import certainty_of, findings_of, rating_of, writable
from adjudge.llm.rules_himate import answer_correction, answer_opinion, answer_response, answer_verification
from adjudge.llm.rules_m_mad import answer_agreement, answer_merged, answer_remark, answer_statement
from adjudge.llm.rules_rate import answer_action, answer_assessment, answer_queries, answer_question
from adjudge.llm.rules_verdicts import answer_verdict

__all__ = ["ROLES", "RulesModel"]

_NAME: Final = "builtin/rules"
_COUNTED: Final[tuple[Severity, ...]] = ("major", "minor")
_LONG_WORD: Final = 20  # code points that a quotation grows by at most, where no space stands
_DOUBLE_QUOTES: Final = re.compile('["“”]')


@dataclass(frozen=True, kw_only=True)
class RulesModel:
    """Answers by deterministic checks."""

    name: str = _NAME

    async def reply(self, request: Request) -> Reply:
        """Answer one request; the same one always gets the same reply, whatever its sampling.

        Raises:
            ModelError: the judge wants what no rule can give.
        """
        answer = ROLES.get(request.about.wants)
        if answer is None:
            wanted, judge = request.about.wants, request.about.judge
            raise ModelError(
                f"this judge's role is not known to {_NAME}: {judge} wants {wanted!r}, it can give "
                f"{', '.join(ROLES)}; choose a language model with --model"
            )
        tokens = answer(request.about)
        if isinstance(tokens, ToolCall):
            return Reply(text="", model=_NAME, calls=(tokens,))
        return Reply(
            text="".join(token.token for token in tokens),
            model=_NAME,
            logprobs=tokens if request.sampling.logprobs else (),
        )


Tokens = tuple[TokenLogprob, ...]


@dataclass(frozen=True, kw_only=True)
class _Error:
    """A finding as the call wants it: in its severities and categories."""

    severity: Severity
    category: str
    finding: Finding


def _answer_errors(about: About) -> Tokens:
    """The errors, in JSON or under headings. Every error is one token with its rule's precision."""
    errors = _errors_wanted(about)
    if _form(about) == "headings":
        return _headings(errors, _severities(about), about.subject)
    return (_certain('{"errors": ['), *_objects(errors, about), _verdict("]}", errors))


def _answer_rating(about: About) -> Tokens:
    """Full marks less the points of weights `mqm-google`: 25 points bring the lowest rating."""
    low, high = _number(about, "low", 0), _number(about, "high", 100)
    findings = findings_of(about.subject)
    rating = rating_of(findings, low, high)
    text = f'{{"rating": {rating}}}' if _form(about) == "json" else f"{rating}"
    return (TokenLogprob(text, certainty_of(findings)),)


def _answer_counts(about: About) -> Tokens:
    """How many errors there are of each severity."""
    errors = _errors_wanted(about)
    counts = _counts(errors, about)
    if _form(about) == "json":
        text = json.dumps(counts)
    else:
        text = "\n".join(f"{severity.capitalize()}: {count}" for severity, count in counts.items())
    return (TokenLogprob(text, certainty_of([e.finding for e in errors])),)


def _answer_errors_and_counts(about: About) -> Tokens:
    """The errors, how many there are, and minus 5 for a major and 1 for a minor one."""
    counts = _counts(_errors_wanted(about), about)
    weights = find_weights("ea-prompt")
    score = -sum(round(count * weights.points(severity, None)) for severity, count in counts.items())
    if _form(about) == "json":
        *errors, end = _answer_errors(about)
        closing = f'], "counts": {json.dumps(counts)}, "score": {score}}}'
        return (*errors, TokenLogprob(closing, end.logprob))
    listed = ", ".join(map(str, counts.values()))
    return (*_answer_errors(about), _certain(f"\nCounts: {listed}\n<score>{score}</score>"))


ROLES: Final[Mapping[str, Callable[[About], Tokens | ToolCall]]] = {
    "errors": _answer_errors,
    "rating": _answer_rating,
    "counts": _answer_counts,
    "errors+counts": _answer_errors_and_counts,
    "verdict": answer_verdict,
    "action": answer_action,
    "assessment": answer_assessment,
    "queries": answer_queries,
    "answer": answer_question,
    "correction": answer_correction,
    "verification": answer_verification,
    "opinion": answer_opinion,
    "response": answer_response,
    "statement": answer_statement,
    "remark": answer_remark,
    "agreement": answer_agreement,
    "merged": answer_merged,
    "difficulty": answer_difficulty,
    "translation": answer_translation,
    "categories": answer_categories,
}
"""What a call wants, and who answers it."""


# What was found, as the call wants it...


def _errors_wanted(about: About) -> list[_Error]:
    """Findings in the severities and categories asked about."""
    errors = []
    for finding in findings_of(about.subject):
        severity = _severity_wanted(finding.span.severity, _severities(about))
        category = _category_wanted(finding, about.facts.get("categories", True))
        if severity is not None and category is not None:
            errors.append(_Error(severity=severity, category=category, finding=finding))
    return errors


def _severity_wanted(severity: Severity, wanted: Sequence[Severity]) -> Severity | None:
    """The worst severity that may be given and is no worse than the rule's."""
    milder = [s for s in wanted if SEVERITIES.index(s) <= SEVERITIES.index(severity) and s != "neutral"]
    return max(milder, key=SEVERITIES.index, default=None)


def _category_wanted(finding: Finding, wanted: object) -> str | None:
    """Its name among those that may be given; its own where categories are not asked for."""
    if isinstance(wanted, bool):
        return finding.span.category or "other"
    return category_among(finding, _words(wanted, tuple(CATEGORIES)))


def _severities(about: About) -> tuple[Severity, ...]:
    """Severities that may be given, in the order of the headings."""
    words = _words(about.facts.get("severities"), _COUNTED)
    return tuple(severity for word in words for severity in SEVERITIES if severity == word)


def _words(value: object, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(word) for word in value) if isinstance(value, Iterable) else default


def _form(about: About) -> str:
    return str(about.facts.get("form", "json"))


def _number(about: About, name: str, default: int) -> int:
    value = about.facts.get(name, default)
    if not isinstance(value, int):
        raise ModelError(f"{_NAME} needs a whole number for {name} of {about.judge}, got {value!r}")
    return value


def _counts(errors: Sequence[_Error], about: About) -> dict[Severity, int]:
    return {severity: sum(e.severity == severity for e in errors) for severity in _severities(about)}


# How it is written...


def _objects(errors: Sequence[_Error], about: About) -> Tokens:
    tokens = []
    for index, error in enumerate(errors):
        fields = {
            "span": _quote(error.finding, about.subject),
            "category": error.category,
            "severity": error.severity,
            "side": error.finding.span.side,
        }
        if about.facts.get("categories", True) is False:
            del fields["category"]
        if "explain_in" in about.facts:  # its words for a rule are English, whatever language is wanted
            fields["note"] = f"found by rule {error.finding.rule}"
        text = (", " if index else "") + json.dumps(fields, ensure_ascii=False)
        tokens.append(TokenLogprob(text, math.log(error.finding.precision)))
    return tuple(tokens)


def _headings(errors: Sequence[_Error], severities: Sequence[Severity], subject: Subject) -> Tokens:
    tokens = []
    for index, severity in enumerate(severities):
        tokens.append(_certain(("\n" if index else "") + f"{severity.capitalize()}:"))
        found = [e for e in errors if e.severity == severity]
        tokens += [TokenLogprob(_line(e, subject), math.log(e.finding.precision)) for e in found]
        if not found:
            tokens.append(_verdict("\nno-error", errors))
    return tuple(tokens)


def _line(error: _Error, subject: Subject) -> str:
    """One error under its heading. No side can be said here, so that only an omission quotes the source."""
    if error.finding.span.side == "source" and not error.category.endswith("omission"):
        return f"\n{error.category}"
    quote = " ".join(_quote(error.finding, subject).split())
    return f'\n{error.category} - "{quote}"'


def _quote(finding: Finding, subject: Subject) -> str:
    """The marked text, with as much before it as lets a reader find its place."""
    span = finding.span
    text = subject.source if span.side == "source" else subject.translation
    start, end = span.start or 0, span.end or 0
    while start > 0 and not (text[start:end].strip() and text.find(text[start:end].strip()) >= start):
        low = max(0, start - _LONG_WORD)
        start = max(low, text.rfind(" ", low, start - 1) + 1)
    quote = text[start:end]
    shown = writable(quote)
    return quote if shown == quote else _DOUBLE_QUOTES.sub("'", shown)  # which is found nowhere


def _certain(text: str) -> TokenLogprob:
    return TokenLogprob(text, 0.0)


def _verdict(text: str, errors: Sequence[_Error]) -> TokenLogprob:
    """The token that says that there is nothing (more): a finding where nothing was found."""
    return _certain(text) if errors else TokenLogprob(text, math.log(CLEAN_PRECISION))
