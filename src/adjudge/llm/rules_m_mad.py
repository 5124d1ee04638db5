"""What the embedded rules say in a debate: of each error, whether their own findings bear it out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from adjudge.checks import Finding
from adjudge.core.ask import About, TokenLogprob
from adjudge.core.typology import SEVERITIES
from adjudge.errors import ModelError
from adjudge.llm.rules_findings import certainty_of, findings_of

__all__ = ["answer_agreement", "answer_merged", "answer_remark", "answer_statement"]

Error = Mapping[str, str]
"""One error as it stands in an answer: span, category, severity, side, and note where there are notes."""

_GARBLED: Final = "non-translation"
_ORDER: Final = ("accuracy", "fluency", "terminology", "style")
_EVEN: Final = 0.5  # precision from which a rule is more often right than wrong


def answer_statement(about: About) -> tuple[TokenLogprob, ...]:
    """Every error that is debated: major where a rule that is mostly right calls it so, else minor.

    A non-translation that no rule bears out is dropped.
    """
    errors, findings = _held(about), findings_of(about.subject)
    borne = [[f for f in findings if _bears_out(f, error)] for error in errors]
    kept = [
        {**error, "severity": "major" if any(map(_is_grave, found)) else "minor"}
        for error, found in zip(errors, borne, strict=True)
        if found or error["category"] != _GARBLED
    ]
    words = f"rules bear out {sum(map(bool, borne))} of {len(errors)} errors"
    return _answer({"statement": words, "errors": kept}, [f for found in borne for f in found])


def answer_remark(about: About) -> tuple[TokenLogprob, ...]:
    """How many of the errors a rule finds too."""
    errors, findings = _held(about), findings_of(about.subject)
    count = sum(any(_bears_out(finding, error) for finding in findings) for error in errors)
    return _answer(
        {"statement": f"a rule finds {count} of the {len(errors)} errors; what of the others?"}, []
    )


def answer_agreement(about: About) -> tuple[TokenLogprob, ...]:
    """Whether two lists hold the same errors, in any order."""
    held = about.facts.get("held")
    if not isinstance(held, tuple) or len(held) != 2:
        raise ModelError(f"the rules compare two lists of errors for {about.judge}, got {held!r}")
    first, second = ({json.dumps(dict(error), sort_keys=True) for error in errors} for errors in held)
    return _answer({"agreed": first == second}, [])


def answer_merged(about: About) -> tuple[TokenLogprob, ...]:
    """One list of several: of each span the most severe error, of equals the first by dimension."""
    errors = _held(about)
    if garbled := [error for error in errors if error["category"] == _GARBLED]:
        errors = garbled[:1]
    best: dict[object, Error] = {}
    for number, error in enumerate(errors):
        place = (error["side"], error["span"]) if error["span"] else number
        if place not in best or _rank(error) < _rank(best[place]):
            best[place] = error
    kept = list(best.values())
    words = f"{len(kept)} of {len(errors)} errors have a span of their own"
    found = [f for f in findings_of(about.subject) if any(_bears_out(f, error) for error in kept)]
    return _answer({"statement": words, "errors": kept}, found)


def _held(about: About) -> list[Error]:
    """The errors that are debated.

    Raises:
        ModelError: the judge names none.
    """
    held = about.facts.get("held")
    if not isinstance(held, tuple) or not all(isinstance(error, Mapping) for error in held):
        raise ModelError(f"the rules need to know which errors {about.judge} debates, got {held!r}")
    return [cast(Error, error) for error in held]


def _bears_out(finding: Finding, error: Error) -> bool:
    """Whether both speak of the same words; errors without words, whether they are of one category."""
    said, found = error["span"].strip(), finding.span.text.strip()
    if not said or not found:
        return finding.span.category == error["category"]
    return finding.span.side == error["side"] and (found in said or said in found)


def _is_grave(finding: Finding) -> bool:
    return finding.span.severity in {"major", "critical"} and finding.precision >= _EVEN


def _rank(error: Error) -> tuple[int, int]:
    core = error["category"].partition("/")[0]
    severities: Sequence[str] = SEVERITIES
    return -severities.index(error["severity"]), _ORDER.index(core) if core in _ORDER else len(_ORDER)


def _answer(value: Mapping[str, object], findings: Sequence[Finding]) -> tuple[TokenLogprob, ...]:
    """An answer with the probability that all findings behind it are right."""
    return (TokenLogprob(json.dumps(value, ensure_ascii=False), certainty_of(findings)),)
