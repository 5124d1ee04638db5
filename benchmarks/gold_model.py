"""A scripted model that knows gold: with it every judge must give gold's order back.

It is the embedded model with gold's errors in the place of what rules find: so it answers every role of every
judge, and what a judge loses on the way from errors to scores is the judge's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from adjudge.checks import Finding
from adjudge.core.ask import About, TokenLogprob, ToolCall
from adjudge.core.record import Annotation, ErrorSpan, Record
from adjudge.core.segment import TestSet
from adjudge.llm import embedded_rules
from adjudge.llm.embedded_rules import Tokens, points_of

__all__ = ["knowing"]

_WORST = 25.0
_MAJOR = ErrorSpan(severity="major", match="unplaced", category="accuracy/mistranslation")
_MINOR = replace(_MAJOR, severity="minor")
_NO_WORDS = ' .…"“”„'
_WORD = re.compile(r"\w\w+")
_SCORE = re.compile(r"(<arg_key>score</arg_key>\n<arg_value>)[^<]*")


@contextmanager
def knowing(test_set: TestSet, gold: Iterable[Record]) -> Iterator[None]:
    """Put gold's errors of each translation in the place of what the rules find, while the block lasts."""
    judged = [r for r in gold if isinstance(r, Annotation)]
    high = max((r.rating or 0.0 for r in judged), default=0.0)
    marked = {(r.segment, r.system): r.spans or _as_spans(r.rating, high) for r in judged}
    known = {
        (segment.source, translation): _findings(marked.get((segment.segment, system), ()), translation)
        for segment in test_set
        for system, translation in segment.translations.items()
    }

    def find_gold(source: str, translation: str, lp: str) -> list[Finding]:
        del lp
        return known.get((source, translation), [])

    before = vars(embedded_rules)["find_errors"], embedded_rules.ROLES
    roles: Mapping[str, object] = {**embedded_rules.ROLES, "action": _act}
    vars(embedded_rules).update(find_errors=find_gold, ROLES=roles)
    try:
        yield
    finally:
        vars(embedded_rules).update(find_errors=before[0], ROLES=before[1])


def _as_spans(rating: float | None, high: float) -> tuple[ErrorSpan, ...]:
    """Errors that cost as much of 25 points as a rating lacks of the highest one."""
    points = 0 if rating is None or not high else round(_WORST * (1 - rating / high))
    majors, minors = divmod(points, 5)
    return (*[_MAJOR] * majors, *[_MINOR] * minors)


def _findings(spans: Sequence[ErrorSpan], translation: str) -> list[Finding]:
    """Errors that cost something, as judges can list them: of a category that all know, with words to quote.

    An error without words, or with words of the source, is put at the first word that no such error has.
    """
    words = list(_WORD.finditer(translation))
    found = []
    for span in spans:
        category = "accuracy/mistranslation" if span.category in {None, "other"} else span.category
        said = replace(span, category=category)
        if not points_of([Finding(span=span, rule="gold", precision=1.0)]):
            continue
        has_words = span.text.strip(_NO_WORDS) and span.side == "translation"
        if not has_words and words and category not in {"accuracy/omission", "non-translation"}:
            word = words.pop(0)
            said = replace(
                said, side="translation", match="exact", start=word.start(), end=word.end(), text=word[0]
            )
        found.append(Finding(span=said, rule="gold", precision=1.0))
    return found


def _act(about: About) -> Tokens | ToolCall:
    """RATE's core agent: as the rules, but it finishes with a score that is not rounded."""
    step = embedded_rules.answer_action(about)
    high = float(str(about.facts.get("high", 4)))
    lost = points_of(embedded_rules.findings_of(about.subject)) if len(about.subject.systems) == 1 else 0.0
    score = round(high - high * min(lost, _WORST) / _WORST, 4)
    if isinstance(step, ToolCall):
        if step.name != "finish":
            return step
        return ToolCall(id=step.id, name="finish", arguments={**step.arguments, "score": score})
    return tuple(TokenLogprob(_SCORE.sub(rf"\g<1>{score}", token.token), token.logprob) for token in step)
