"""The authors' own rules of reading: how the public code of a paper reads a reply.

In profiles paper and code a judge reads a reply by our grammar first. What the grammar does not read is read
again by the rule of the authors' code, where that code is public (`or_authors`). What the rule finds counts,
flagged `authors_reader`. Where it finds nothing, or takes nothing for "no errors", the failure of our grammar
stands. A rule sees the reply without thinking and marks of a chat template; a reply that is cut, blocked or
empty never reaches it. It returns the answer as our JSON, and raises ValueError where there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from adjudge.core.ask import UNSETTLED, Reply
from adjudge.errors import AnswerError
from adjudge.judges._reading import AuthorsReply, Reading, Rule

__all__ = ["agreement", "error_lines", "fenced", "last_letter", "last_list", "only_number", "or_authors"]

T = TypeVar("T")

_CATEGORIES: Final = {
    "accuracy": "addition|mistranslation|omission|untranslated text",
    "fluency": "character encoding|grammar|inconsistency|punctuation|register|spelling",
    "locale convention": "currency|date|name|telephone|time",
    "style": "awkward",
    "terminology": "inappropriate|inconsistent",
    "non-translation": "(?!)",
    "other": "(?!)",
}
"""Names that GEMBA-MQM's code looks for in a line: the first of these core types, then a subtype of it."""
_HEADINGS: Final = ("critical:", "major:", "minor:")
_NO_ERROR: Final = re.compile("no[- ]error")
_QUOTED: Final = re.compile('["“”„«「]([^"“”„«»「」]+)["“”»」]')
_LETTER: Final = re.compile(r'result["\\]*\s*:[\\\s"{]*(?P<letter>[abe])', re.IGNORECASE | re.ASCII)
_LIST: Final = re.compile(r'"(?:annotations|errors)"\s*:\s*(\[.*\])', re.DOTALL)


def or_authors(read: Callable[[Reply], T], rule: Rule | None) -> Callable[[Reply], T]:
    """Return a reader that reads by the authors' rule what `read` refuses; `read` itself without a rule."""
    if rule is None:
        return read

    def either(reply: Reply) -> T:
        try:
            return read(reply)
        except AnswerError:
            (UNSETTLED.get() or []).clear()
            with suppress(AnswerError, ValueError):
                return read(AuthorsReply(**vars(reply), rule=rule))
            raise

    return either


def only_number(reading: Reading) -> str:
    """GEMBA-DA, GEMBA-SQM, the rating of GEMBA-ESA: the only run of digits; our grammar reads NN/100."""
    (digits,) = re.findall(r"\d+", reading.text)
    reading.flag_copied(digits)
    return f'{{"rating": {int(digits)}}}'


def error_lines(reading: Reading) -> str:
    """GEMBA-MQM: each line below a heading is an error, unless it says "no error".

    The code ignores lines above the first heading, and takes any reply without errors for a clean one. Here
    such a reply is clean only if a line says "no error" and no line was ignored.
    """
    reading.flag_copied(reading.text)
    lines = [line.strip() for line in reading.text.split("\n") if not _NO_ERROR.search(line.lower())]
    errors, severity = [], ""
    for line in filter(None, lines):
        low = line.lower()
        if low in _HEADINGS:
            severity = low[:-1]
            continue
        core = next(filter(low.__contains__, _CATEGORIES), "other")
        errors.append(
            {
                "span": _QUOTED.split(line)[:2][-1],
                "line": line,
                "category": "/".join([core, *re.findall(_CATEGORIES[core], low)[-1:]]),
                "severity": "critical" if severity and "non-translation" in low else severity,
            }
        )
    found = [error for error in errors if error["severity"]]
    if not found and (errors or not _NO_ERROR.search(reading.text.lower())):
        raise ValueError("no line is an error, and none says that there is no error")
    return json.dumps({"errors": found})


def last_letter(reading: Reading) -> str:
    """FiRE: the letter behind the last `result:`, whatever stands behind the letter."""
    *_, last = _LETTER.finditer(reading.text)
    reading.flag_copied(last[0])
    return json.dumps({"result": last["letter"], "analysis": reading.text})


def last_list(reading: Reading) -> str:
    """M-MAD: the list of the field `annotations`, here `errors`, up to the last bracket of the reply."""
    (raw,) = _LIST.findall(reading.text)
    reading.flag_copied(raw)
    return f'{{"statement": {json.dumps(reading.text)}, "errors": {raw}}}'


def agreement(reading: Reading) -> str:
    """M-MAD's checker: yes anywhere, else no anywhere; not in an object, which our question asks for."""
    words = re.findall("yes|no|[{]", reading.text)
    return json.dumps({"agreed": "yes" in words}) if words and "{" not in words else ""


def fenced(reading: Reading) -> str:
    """RATE: the JSON in the first fence of that name, else the whole reply."""
    return reading.text.partition("```json")[2].partition("```")[0] or reading.text
