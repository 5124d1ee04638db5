"""The embedded model `builtin/rules`: no network, no weights, no language model.

It answers what a call is about (`About.wants`) from the findings of `adjudge.checks`, so that judges run
offline: for the demo, for tests, and as the floor that a real judge must beat. Each `answer_...` function
answers one such question. `RulesModel` chooses among them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from adjudge.checks import CLEAN_PRECISION, Finding, find_errors
from adjudge.core.ask import About, Reply, TokenLogprob, ToolCall
from adjudge.core.frozen import frozen
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity
from adjudge.core.segment import Subject
from adjudge.errors import ModelError
from adjudge.llm.model import Request

Tokens = tuple[TokenLogprob, ...]

_STAND_INS: Final = {
    "empty-translation": "accuracy/omission",
    "source-copied": "accuracy/untranslated text",
    "wrong-language": "accuracy/untranslated text",
    "refusal": "accuracy/mistranslation",
}
"""Of non-translations, which HiMATE's nineteen subtypes do not name: what they are among those."""


def category_among(finding: Finding, offered: Collection[str]) -> str | None:
    """The category itself, its core type, what stands in for it, or `other`: the first that is offered."""
    category = finding.span.category or "other"
    names = (category, category.partition("/")[0], _STAND_INS.get(finding.rule, "other"), "other")
    return next((name for name in names if name in offered), None)


# Findings and their worth


_WEIGHTS: Final = find_weights("mqm-google")
_WORST: Final = 25.0  # points at which a rating is the lowest
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")


def findings_of(subject: Subject) -> list[Finding]:
    if len(subject.systems) != 1:
        raise ModelError(f"the rules look at one translation at a time, got {', '.join(subject.systems)}")
    return find_errors(subject.source, subject.translation, subject.lp)


def points_of(findings: Sequence[Finding]) -> float:
    return sum(_WEIGHTS.points(f.span.severity, f.span.category) for f in findings)


def rating_of(findings: Sequence[Finding], low: int, high: int) -> int:
    """Full marks less the points: 25 of them bring the lowest rating."""
    return high - round((high - low) * min(points_of(findings), _WORST) / _WORST)


def certainty_of(findings: Sequence[Finding]) -> float:
    """Log-probability that all findings are right, or that there is rightly none."""
    return sum(math.log(f.precision) for f in findings) if findings else math.log(CLEAN_PRECISION)


def writable(text: str) -> str:
    """The text with a mark for every character that no reader of answers takes."""
    return _UNWRITABLE.sub("\ufffd", text)


# Answers for curation


_SIGNS: Final = {
    "a hashtag or a name of the net": r"(?<!\w)[#@]\w",
    "letters drawn out": r"([^\W\d_])\1\1",
    "an emoji": "[\U0001f300-\U0001faff\u2600-\u27bf]",
    "quotation marks": '["“”„«»「」]',
    "a question or an exclamation": "[?!？！]",
    "dots or dashes": "\\.\\.\\.|…|—|–",
    "several lines": r"\S\s*\n\s*\S",
    "an apostrophe within a word": r"\w['’]\w",
}
_LONG: Final = 120  # code points
_HIGHEST: Final = 10


def answer_difficulty(about: About) -> Tokens:
    """One point, and one more for each sign of a text that is more than plain words."""
    source = about.subject.source
    signs = [name for name, sign in _SIGNS.items() if re.search(sign, source)]
    signs += ["length"] if len(source) > _LONG else []
    return _json_answer(
        1.0,
        reasons=f"found by rules: {', '.join(signs) or 'nothing'}",
        personal=False,
        offensive=False,
        difficulty=min(1 + len(signs), _HIGHEST),
    )


def answer_translation(about: About) -> Tokens:
    """The source itself behind the code of the language: rules cannot translate."""
    return _json_answer(1.0, translation=f"[{about.facts.get('language', '')}] {about.subject.source}")


# Answers on pairs and criteria


_CORES: Final[Mapping[str, frozenset[str]]] = {
    "faithfulness": frozenset({"accuracy", "terminology", "other"}),
    "fluency": frozenset({"fluency", "locale convention"}),
    "style": frozenset({"style"}),
}
"""FiRE's criteria by the core types that speak to them, beside a non-translation; others look at all."""


def answer_verdict(about: About) -> Tokens:
    """The better of two translations by one criterion; E where the points are equal."""
    if len(about.subject.systems) != 2:
        raise ModelError(f"the rules compare two translations, got {', '.join(about.subject.systems)}")
    first, second = (_findings(about, system) for system in about.subject.systems)
    lost = points_of(first) - points_of(second)
    verdict = "E" if lost == 0 else "B" if lost > 0 else "A"
    analysis = f"{len(first)} findings in A, {len(second)} in B"
    aspects = about.facts.get("aspects") or ()
    told = dict.fromkeys(aspects, analysis) if isinstance(aspects, tuple) and aspects else analysis
    return (
        TokenLogprob(f'{{"analysis": {json.dumps(told)}, "result": "', 0.0),
        TokenLogprob(verdict, certainty_of([*first, *second])),
        TokenLogprob('"}', 0.0),
    )


def answer_criterion(about: About) -> Tokens:
    """Pass where no rule finds an error in the translation; rules cannot read what a criterion asks."""
    findings = findings_of(about.subject)
    names = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    reason = f"found by {names}" if findings else "no rule finds an error"
    said = {"reason": f"{reason}; rules do not read the criterion", "verdict": "fail" if findings else "pass"}
    return _answer(said, findings)


def _findings(about: About, system: str) -> list[Finding]:
    cores = _CORES.get(str(about.facts.get("criterion", "")))
    found = findings_of(about.subject.of(system))
    if cores is None:
        return found
    return [f for f in found if (f.span.category or "other").partition("/")[0] in {*cores, "non-translation"}]


# Answers in HiMATE's later stages


_LIKELY: Final = 0.5  # precision from which a finding is taken for an error


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
    return _json_answer(1.0, translation=writable(left))


def answer_verification(about: About) -> Tokens:
    """Corrected, if the rules find fewer errors of the category than before."""
    before = _himate_findings(about, about.subject.translation)
    after = _himate_findings(about, str(about.facts.get("corrected", "")))
    if len(after) < len(before):
        return _json_answer(max(found.precision for found in before), result="corrected")
    return _json_answer(CLEAN_PRECISION, result="no difference")


def answer_versions(about: About) -> Tokens:
    """Both versions, if the rules find as many errors of the category after the correction as before."""
    before, after = (
        _himate_findings(about, text) for text in (about.subject.translation, str(about.facts["corrected"]))
    )
    if not before:
        return _json_answer(CLEAN_PRECISION, result="neither")
    surest = max(found.precision for found in before)
    return _json_answer(surest, result="both" if len(after) >= len(before) else str(about.facts["original"]))


def answer_opinion(about: About, *, of_place: bool = False) -> Tokens:
    """An error, if a rule that is right more often than not finds it; of a place the surest."""
    reported = [about]
    if of_place:
        claims = cast(Sequence[Mapping[str, object]], about.facts["claims"])
        reported = [replace(about, facts=claim) for claim in claims]
    pairs = [(_strongest(one), one.facts["category"]) for one in reported]
    found, category = max(pairs, key=lambda pair: pair[0].precision if pair[0] else 0.0)
    exists = found is not None and found.precision >= _LIKELY
    severity = found.span.severity if found is not None and exists else "neutral"
    if severity == "critical":  # none of HiMATE's
        severity = "major"
    more = {"subtype": category} if of_place else {}
    return _json_answer(_precision(found), opinion=_reason(found), exists=exists, **more, severity=severity)


def answer_response(about: About) -> Tokens:
    """Agreement, if the other one says what the rules say."""
    found = _strongest(about)
    exists = found is not None and found.precision >= _LIKELY
    return _json_answer(_precision(found), reply=_reason(found), agrees=about.facts.get("exists") == exists)


def _himate_findings(about: About, translation: str) -> list[Finding]:
    category = str(about.facts.get("category"))
    found = find_errors(about.subject.source, translation, about.subject.lp)
    return [one for one in found if category_among(one, {category})]


def _strongest(about: About) -> Finding | None:
    span = str(about.facts.get("span", ""))
    near = [f for f in _himate_findings(about, about.subject.translation) if f.span.text in span]
    return max(near, key=lambda found: found.precision, default=None)


def _precision(found: Finding | None) -> float:
    return CLEAN_PRECISION if found is None else found.precision


def _reason(found: Finding | None) -> str:
    return "no rule finds it" if found is None else f"found by rule {found.rule}"


def _json_answer(precision: float, **fields: object) -> Tokens:
    return (TokenLogprob(json.dumps(fields, ensure_ascii=False), math.log(precision)),)


# Answers in a debate


Error = Mapping[str, str]
"""One error as it stands in an answer: span, category, severity, side, and note where there are notes."""

_GARBLED: Final = "non-translation"
_ORDER: Final = ("accuracy", "fluency", "terminology", "style")


def answer_statement(about: About, *, numbered: str = "") -> Tokens:
    """Every error that is debated: major where a rule that is mostly right calls it so, else minor.

    A non-translation that no rule bears out is dropped.
    """
    errors, findings = _debated_errors(about), findings_of(about.subject)
    borne = [[f for f in findings if _bears_out(f, error)] for error in errors]
    kept = [
        {
            **error,
            "severity": "major"
            if any(f.span.severity in {"major", "critical"} and f.precision >= _LIKELY for f in found)
            else "minor",
        }
        for error, found in zip(errors, borne, strict=True)
        if found or error["category"] != _GARBLED
    ]
    words = f"rules bear out {sum(map(bool, borne))} of {len(errors)} errors"
    said = {str(n): error[numbered] for n, error in enumerate(kept, 1)} if numbered else kept
    return _answer({"statement": words, "errors": said}, [f for found in borne for f in found])


def answer_remark(about: About) -> Tokens:
    """How many of the errors a rule finds too."""
    errors, findings = _debated_errors(about), findings_of(about.subject)
    count = sum(any(_bears_out(finding, error) for finding in findings) for error in errors)
    return _answer(
        {"statement": f"a rule finds {count} of the {len(errors)} errors; what of the others?"}, []
    )


def answer_agreement(about: About) -> Tokens:
    """Whether two lists hold the same errors, in any order."""
    held = about.facts.get("held")
    if not isinstance(held, tuple) or len(held) != 2:
        raise ModelError(f"the rules compare two lists of errors for {about.judge}, got {held!r}")
    first, second = ({json.dumps(dict(error), sort_keys=True) for error in errors} for errors in held)
    return _answer({"agreed": first == second}, [])


def answer_merged(about: About, *, by_number: bool = False) -> Tokens:
    """One list of several: of each span the most severe error, of equals the first by dimension."""
    errors = dict(enumerate(_debated_errors(about), 1))
    garbled = any(error["category"] == _GARBLED for error in errors.values())
    places = {n: garbled or ((e["side"], e["span"]) if e["span"] else n) for n, e in errors.items()}
    best: dict[object, int] = {}
    for number in sorted(errors, key=lambda n: (errors[n]["category"] != _GARBLED, *_rank(errors[n]))):
        best.setdefault(places[number], number)
    kept = [errors[best[place]] for place in dict.fromkeys(places.values())]
    words = f"{len(kept)} of {len(errors)} errors have a span of their own"
    found = [f for f in findings_of(about.subject) if any(_bears_out(f, error) for error in kept)]
    offered: Any = about.facts.get("choices")
    repeats = {n: "keep" if best[at] == n else f"repeats {best[at]}" for n, at in places.items()}
    said = (
        {str(n): word if not offered or word in offered[n - 1] else "keep" for n, word in repeats.items()}
        if by_number
        else kept
    )
    return _answer({"statement": words, "errors": said}, found)


def _debated_errors(about: About) -> list[Error]:
    held = about.facts.get("held")
    if not isinstance(held, tuple) or not all(isinstance(error, Mapping) for error in held):
        raise ModelError(f"the rules need to know which errors {about.judge} debates, got {held!r}")
    return [cast(Error, error) for error in held]


def _bears_out(finding: Finding, error: Error) -> bool:
    said, found = error["span"].strip(), finding.span.text.strip()
    if not said or not found:
        return finding.span.category == error["category"]
    return finding.span.side == error["side"] and (found in said or said in found)


def _rank(error: Error) -> tuple[int, int]:
    core = error["category"].partition("/")[0]
    severities: Sequence[str] = SEVERITIES
    return -severities.index(error["severity"]), _ORDER.index(core) if core in _ORDER else len(_ORDER)


def _answer(value: Mapping[str, object], findings: Sequence[Finding]) -> Tokens:
    return (TokenLogprob(json.dumps(value, ensure_ascii=False), certainty_of(findings)),)


# Answers in RATE's roles


_SURE: Final = 0.9  # below this confidence RATE compares
_LONGEST: Final = 200


def answer_action(about: About) -> Tokens | ToolCall:
    """The next tool: search once, evaluate, compare once where unsure, finish."""
    facts = about.facts
    tool, arguments, thought = _step(about)
    if facts.get("form") == "native":
        return ToolCall(id="call", name=tool, arguments={"thought": thought, **arguments})
    spelled = {key: str(value).replace("<", "‹") for key, value in arguments.items()}  # no tag in a value
    pairs = "\n".join(f"<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>" for k, v in spelled.items())
    return (_certain(f"{thought}\n<tool_call>{tool}\n{pairs}\n</tool_call>"),)


Step = tuple[str, dict[str, Any], str]


def _step(about: About) -> Step:
    facts: Mapping[str, Any] = about.facts
    tools, source = facts.get("tools", ()), _safe(about.subject.source)
    notes, score = str(facts.get("known") or "nothing is known"), facts.get("score")
    if "search" in tools and not facts.get("searched"):
        return "search", {"query": source[:_LONGEST]}, "Nothing is known of the source yet."
    if "prepare" in tools:
        anchors = {"low_anchor": source, "high_anchor": source} if facts.get("anchors") else {}
        return "prepare", {"context_notes": notes, **anchors}, "The rules can find out no more."
    if score is None and "evaluate" in tools:
        return "evaluate", {"context_notes": notes}, "There is no score yet."
    unsure = float(str(facts.get("confidence") or 0)) < _SURE
    if "compare" in tools and unsure and not facts.get("compared") and not facts.get("frozen"):
        written = {"low_anchor": source, "high_anchor": _safe(about.subject.translation)}
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
    answer = {
        "rationale": f"{len(findings)} findings of fixed rules",
        "error_spans": [_span(finding) for finding in findings],
        "suspected_gaps": [],
        "score": rating_of(findings, low, high),
        "confidence": round(math.exp(certainty_of(findings)), 2),
    }
    return _answer(answer, findings)


def answer_queries(about: About) -> Tokens:
    query = {"query": str(about.facts.get("question", "")), "recency": None}
    return _json_answer(1.0, queries=[query])


def answer_question(about: About) -> Tokens:
    found = _safe(str(about.facts.get("found", "")))
    return _json_answer(1.0, reasoning="The first result, unread.", answer=found)


def _span(finding: Finding) -> dict[str, str]:
    text, is_source = _safe(finding.span.text), finding.span.side == "source"
    return {
        "source": text if is_source else "",
        "translation": "" if is_source else text,
        "issue": f"rule {finding.rule}",
    }


def _safe(text: str) -> str:
    return writable(text).strip() or "(empty)"


_NAME: Final = "builtin/rules"
_COUNTED: Final[tuple[Severity, ...]] = ("major", "minor")
_LONG_WORD: Final = 20  # code points that a quotation grows by at most, where no space stands
_DOUBLE_QUOTES: Final = re.compile('["“”]')


@frozen
class RulesModel:
    """Answers by deterministic checks."""

    name: str = _NAME

    async def reply(self, request: Request) -> Reply:
        """Answer one request; the same one always gets the same reply, whatever its sampling."""
        answer = ROLES.get(request.about.wants)
        if answer is None:
            wanted, judge = request.about.wants, request.about.judge
            raise ModelError(
                f"a kind of answer (`wants`) that {_NAME} do not know: {judge} wants {wanted!r}, it can give "
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


@frozen
class _Error:
    """A finding as the call wants it: in its severities and categories."""

    severity: Severity
    category: str
    finding: Finding


def _answer_errors(about: About) -> Tokens:
    errors = _errors_wanted(about)
    if _form(about) == "headings":
        tokens = []
        for index, severity in enumerate(_severities(about)):
            tokens.append(_certain(("\n" if index else "") + f"{severity.capitalize()}:"))
            found = [e for e in errors if e.severity == severity]
            tokens += [TokenLogprob(_line(e, about.subject), math.log(e.finding.precision)) for e in found]
            if not found:
                tokens.append(_verdict("\nno-error", errors))
        return tuple(tokens)
    return (_certain('{"errors": ['), *_objects(errors, about), _verdict("]}", errors))


def _answer_rating(about: About) -> Tokens:
    low, high = _number(about, "low", 0), _number(about, "high", 100)
    findings = findings_of(about.subject)
    rating = rating_of(findings, low, high)
    text = f'{{"rating": {rating}}}' if _form(about) == "json" else f"{rating}"
    return (TokenLogprob(text, certainty_of(findings)),)


def _answer_counts(about: About) -> Tokens:
    errors = _errors_wanted(about)
    counts = _counts(errors, about)
    text = json.dumps(counts) if _form(about) == "json" else ", ".join(map(str, counts.values()))
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
    "criterion": answer_criterion,
    "says": lambda about: _json_answer(1.0, says=about.facts["verdict"]),  # rules write no reason against it
    "action": answer_action,
    "assessment": answer_assessment,
    "queries": answer_queries,
    "answer": answer_question,
    "correction": answer_correction,
    "verification": answer_verification,
    "versions": answer_versions,
    "opinion": answer_opinion,
    "place": partial(answer_opinion, of_place=True),
    "response": answer_response,
    "statement": answer_statement,
    "severities": partial(answer_statement, numbered="severity"),
    "labels": partial(answer_statement, numbered="category"),
    "remark": answer_remark,
    "agreement": answer_agreement,
    "merged": answer_merged,
    "kept": partial(answer_merged, by_number=True),
    "difficulty": answer_difficulty,
    "translation": answer_translation,
}
"""What a call wants, and who answers it."""


# Errors


def _errors_wanted(about: About) -> list[_Error]:
    errors = []
    for finding in findings_of(about.subject):
        worst = SEVERITIES.index(finding.span.severity)
        milder = [s for s in _severities(about) if SEVERITIES.index(s) <= worst and s != "neutral"]
        severity = max(milder, key=SEVERITIES.index, default=None)
        wanted = about.facts.get("categories", True)
        category = (
            finding.span.category or "other"
            if isinstance(wanted, bool)
            else category_among(finding, _words(wanted, tuple(CATEGORIES)))
        )
        if severity is not None and category is not None:
            errors.append(_Error(severity=severity, category=category, finding=finding))
    return errors


def _severities(about: About) -> tuple[Severity, ...]:
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


# Writing errors


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


def _line(error: _Error, subject: Subject) -> str:
    """One error under its heading. No side can be said here, so that only an omission quotes the source."""
    if error.finding.span.side == "source" and not error.category.endswith("omission"):
        return f"\n{error.category}"
    quote = " ".join(_quote(error.finding, subject).split())
    return f'\n{error.category} - "{quote}"'


def _quote(finding: Finding, subject: Subject) -> str:
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
    return _certain(text) if errors else TokenLogprob(text, math.log(CLEAN_PRECISION))
