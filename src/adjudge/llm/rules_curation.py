"""What the embedded rules answer to questions of curation: stand-ins, by the look of the texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Final

from adjudge.checks import Finding
from adjudge.core.annotation import ErrorSpan
from adjudge.core.ask import About, TokenLogprob
from adjudge.errors import ModelError
from adjudge.llm.rules_categories import category_among
from adjudge.llm.rules_findings import findings_of

__all__ = ["answer_categories", "answer_difficulty", "answer_translation"]

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


def answer_difficulty(about: About) -> tuple[TokenLogprob, ...]:
    """One point, and one more for each sign of a text that is more than plain words."""
    source = about.subject.source
    signs = [name for name, sign in _SIGNS.items() if re.search(sign, source)]
    signs += ["length"] if len(source) > _LONG else []
    said = {
        "reasons": f"found by rules: {', '.join(signs) or 'nothing'}",
        "personal": False,
        "offensive": False,
        "difficulty": min(1 + len(signs), _HIGHEST),
    }
    return (TokenLogprob(json.dumps(said), 0.0),)


def answer_translation(about: About) -> tuple[TokenLogprob, ...]:
    """The source itself behind the code of the language: rules cannot translate."""
    text = f"[{about.facts.get('language', '')}] {about.subject.source}"
    return (TokenLogprob(json.dumps({"translation": text}, ensure_ascii=False), 0.0),)


def answer_categories(about: About) -> tuple[TokenLogprob, ...]:
    """Of each mark, the category of the first finding that overlaps it; `other` where there is none."""
    marks, offered = about.facts.get("marks"), about.facts.get("categories")
    if not isinstance(marks, tuple) or not isinstance(offered, tuple):
        raise ModelError(f"the rules need the marks and the categories that {about.judge} asks about")
    findings = findings_of(about.subject)
    named = [_category(mark, findings, offered) for mark in marks]
    listed = [{"number": number, "category": name} for number, name in enumerate(named, start=1)]
    return (TokenLogprob(json.dumps({"categories": listed}), 0.0),)


def _category(mark: ErrorSpan, findings: Sequence[Finding], offered: Sequence[str]) -> str:
    found = next((finding for finding in findings if _overlap(mark, finding.span)), None)
    return "other" if found is None else category_among(found, offered) or "other"


def _overlap(mark: ErrorSpan, span: ErrorSpan) -> bool:
    if mark.side != span.side or mark.start is None or span.start is None:
        return False
    ends = (mark.end or math.inf, span.end or math.inf)
    return max(mark.start, span.start) < min(ends)
