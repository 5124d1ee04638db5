"""From the words of a reply to one JSON value: strictly, or not at all.

Three rungs, and a reply that stands on none of them is an `AnswerError`:

strict      the whole text is JSON
extracted   the text holds one object, and words or a fence around it
repaired    that object is broken in commas, colons or quotation marks only, and mending it keeps the rest
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError
from adjudge.judges._read import check_characters, copied, echoes, read_text, shown, unreadable
from adjudge.judges._refusals import is_refusal

__all__ = ["Reading", "read_digits", "read_object"]

_BRACKET: Final = re.compile(r"[{}\[\]]")
_BRACE: Final = re.compile(r"[{}]")
_OPENING: Final = re.compile(r"[{\[]")
_TEMPLATE: Final = re.compile(r"<\|[^|<>]{1,40}\|>|\[/?INST\]|<(?:start|end)_of_turn>|</s>")
_PUNCTUATION: Final = re.compile(r"""\\[nrtbf]|[\s:,"'`“”„‟«»‘’‚‛\\]""")
_DEBRIS: Final = re.compile(r"}|\"\w+\"\s*:")
_DEEPEST: Final = 64
_LONGEST_REPAIR: Final = 100_000


class Reading(NamedTuple):
    """What a reply says, and the flags that tell how: `extracted`, `repaired`, `verdict_in_text`."""

    value: object
    flags: tuple[str, ...]


def read_object(reply: Reply, *, judged: tuple[str, ...], repair: bool = False) -> Reading:
    """The one JSON value of a reply.

    Args:
        reply: what the model said.
        judged: texts that were judged. An object among other words that is copied from one of them is no
            answer; an answer that merely equals such an object is flagged `verdict_in_text`.
        repair: whether broken punctuation may be mended; never where numbers count.

    Raises:
        AnswerError: no object, more than one, or one that cannot be read with certainty.
    """
    text = read_text(reply)
    if text.count("{") + text.count("[") > _DEEPEST and _depth(text) > _DEEPEST:
        raise AnswerError("parse", f"brackets are nested deeper than {_DEEPEST}")
    try:
        value: object = _JSON.decode(text)
    except ValueError:
        return _only_object(text, judged=judged, repair=repair)
    return Reading(_checked(value) if "\\u" in text else value, copied(text, judged))


def read_digits(digits: str) -> float:
    """The whole number that digits spell, or infinity for one too long to be any."""
    return int(digits) if len(digits) < 20 else math.inf


def _same(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    found.clear()
    for key, value in pairs:
        if key in found and repr(found[key]) != repr(value):
            raise AnswerError("ambiguous", f"key {shown(key)} stands twice, with different values")
        found[key] = value
    return found


_JSON: Final = json.JSONDecoder(
    object_pairs_hook=_same,
    parse_int=read_digits,
)
"""Numbers too large and NaN become floats that are not finite, which no field accepts."""


def _checked(value: object) -> object:
    """Refuse half characters that came in as escapes."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            check_characters(item)
        elif isinstance(item, dict):
            stack += [*item, *item.values()]
        elif isinstance(item, list):
            stack += item
    return value


def _only_object(text: str, *, judged: tuple[str, ...], repair: bool) -> Reading:
    found = []
    for candidate in _candidates(text):
        found.append(candidate)
        if len(found) == 2:
            raise AnswerError("ambiguous", f"more than one JSON object in {shown(text)}")
    if not found:
        raise unreadable(text, "a JSON object")
    ((start, end, value),) = found
    around = text[:start] + " " + text[end:]
    if is_refusal(around) or _TEMPLATE.search(around):
        raise unreadable(around, "a JSON object alone")
    if _DEBRIS.search(around):
        raise AnswerError("ambiguous", f"pieces of JSON around a JSON object: {shown(around.strip())}")
    raw = text[start:end]
    if echoes(raw, judged):
        raise AnswerError("ambiguous", "the only JSON object is one that the judged text holds")
    if value is not None:
        return Reading(_checked(value), ("extracted",))
    return Reading(_repaired(raw, allowed=repair), ("repaired",))


def _candidates(text: str) -> Iterator[tuple[int, int, object]]:
    """Start, end and value of what is or looks like an object, outermost only; None cannot be decoded."""
    position = 0
    while match := _OPENING.search(text, position):
        start = match.start()
        try:
            value, position = _JSON.raw_decode(text, start)
        except ValueError:
            if text[start] == "[":
                position = start + 1
                continue
            value, position = None, _closing(text, start)
        if text[start] == "{" or _holds_object(value):
            yield start, position, value


def _holds_object(value: object) -> bool:
    if isinstance(value, list):
        return any(_holds_object(item) for item in value)
    return isinstance(value, dict)


def _closing(text: str, start: int) -> int:
    """One past the brace that closes the one at `start`; the end of the text where none does."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _repaired(raw: str, *, allowed: bool) -> object:
    """Mend punctuation. Whatever could have lost or moved a word is refused."""
    if raw.count("{") != raw.count("}") or raw.count("[") != raw.count("]"):
        raise AnswerError("truncated", f"a JSON object that does not end: {shown(raw)}")
    if not allowed or len(raw) > _LONGEST_REPAIR:
        raise AnswerError("parse", f"broken JSON: {shown(raw)}")
    from json_repair import repair_json

    value: object = repair_json(raw, return_objects=True, skip_json_loads=True)
    if "".join(_words(value)) != _PUNCTUATION.sub("", raw):
        raise AnswerError("parse", f"broken JSON, and mending it would change it: {shown(raw)}")
    return _checked(value)


def _words(value: object) -> Iterator[str]:
    """Everything that a value says, in order: its words and brackets, without other punctuation."""
    if isinstance(value, dict):
        yield "{"
        for key, item in value.items():
            yield _PUNCTUATION.sub("", key)
            yield from _words(item)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for item in value:
            yield from _words(item)
        yield "]"
    else:
        yield _PUNCTUATION.sub("", value if isinstance(value, str) else json.dumps(value))


def _depth(text: str) -> int:
    """Deepest nesting of brackets, those in strings included."""
    depth = deepest = 0
    for char in _BRACKET.findall(text):
        depth = depth + 1 if char in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
