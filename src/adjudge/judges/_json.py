"""From the words of a reply to one JSON value: strictly, or not at all.

A reply that stands on none of these rungs is an `AnswerError`:

strict      the whole text is JSON
extracted   the object is in a known wrapper, or has words around it that leave it an answer (`_prose`)
normalised  the object has more fields than were asked for, or line breaks in strings
repaired    the object is broken in commas, colons or quotation marks only, and mending it keeps the rest
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Self

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError, FailureReason
from adjudge.judges._replies import (
    Trust,
    admits_no_errors,
    check_around,
    check_characters,
    check_reasons,
    copied,
    echoes,
    is_refusal,
    read_text,
    shown,
    unreadable,
    unwrap,
)

__all__ = [
    "Reading",
    "check_keys",
    "object_schema",
    "pick_keys",
    "read_digits",
    "read_object",
    "read_reasons",
    "read_truth",
    "read_whole_number",
    "read_words",
]


# The fields of a JSON answer, each checked; what is meant beyond doubt is normalised.


_INTEGRAL: Final = re.compile(r"(?:0|[1-9][0-9]*)\.0+")
_DECLINING_KEY: Final = re.compile(
    r"error|exception|refus(?:al|ed)|declined|rejected|blocked|abstain(?:ed)?|fail(?:ed|ure)|warning|retracted|invalid"
)
_CERTAINTY: Final = re.compile(r"confidence|certainty|probability")
_COUNT: Final = re.compile(
    r"(?:\w+_)?(?:errors?|issues?|mistakes?)?_?(?:count|total|number|found)s?|num_\w+|n_\w+|total_\w+"
)
_CLEAN_KEY: Final = re.compile(
    r"(?:no_errors?|error_free|(?:is_)?(?:correct|clean|accurate|error_free|valid))"
)


class Written(float):
    """A number of an answer that is not spelled as an integer, with its spelling."""

    spelling: str

    def __new__(cls, spelling: str) -> Self:
        """Read a number as JSON spells it."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


class Fields(NamedTuple):
    """The fields that were asked for, what stood beside them, and whether a key had to be normalised."""

    values: dict[str, object]
    dropped: dict[str, object]

    @property
    def flags(self) -> tuple[str, ...]:
        """`normalised` if the object did not have exactly the fields that were asked for."""
        return ("normalised",) if self.dropped else ()


def pick_keys(value: object, keys: Collection[str], what: str, *, optional: Collection[str] = ()) -> Fields:
    """Take the fields that were asked for, in any capitals, and set the others apart.

    Raises:
        AnswerError: schema for what is no object or lacks a field; ambiguous for a field that stands twice
        with
            different values.
    """
    if not isinstance(value, dict):
        raise AnswerError("schema", f"{what} must be an object, got {shown(value)}")
    wanted = {*keys, *optional}
    if value.keys() == wanted or value.keys() == set(keys):
        return Fields(value, {})
    values: dict[str, object] = {}
    dropped: dict[str, object] = {}
    for spelled, item in value.items():
        key = spelled.casefold()
        if key not in wanted:
            dropped[spelled] = item
            continue
        if key in values and repr(values[key]) != repr(item):
            raise AnswerError("ambiguous", f"key {shown(key)} stands twice, with different values")
        values[key] = item
        if key != spelled:
            dropped.setdefault("", None)  # normalised, and nothing is lost
    if missing := [key for key in keys if key not in values]:
        wanted_keys, came = ", ".join(keys), ", ".join(value) or "nothing"
        raise AnswerError(
            "schema", f"{what} must have {wanted_keys}; {missing[0]} is missing in {shown(came)}"
        )
    return Fields(values, dropped)


def check_keys(value: object, keys: Collection[str], what: str) -> dict[str, object]:
    """Take the fields that were asked for out of an object within an answer; others are dropped.

    Raises:
        AnswerError: schema, ambiguous, or refused where what stands beside them declines.
    """
    fields = pick_keys(value, keys, what)
    for words in _texts(fields.dropped):
        check_reasons(words, what)
    return fields.values


def check_dropped(dropped: Mapping[str, object], trust: Trust, what: str) -> None:
    """Refuse an answer whose object also declines, reports an error, or contradicts a clean verdict.

    Raises:
        AnswerError: refused or schema.
    """
    for key, value in dropped.items():
        name = re.sub(r"[\s-]+", "_", key.strip().casefold())
        for words in _texts(value):
            check_reasons(words, what)
        if _DECLINING_KEY.fullmatch(name) and value:
            raise AnswerError("schema", f"beside {what} stands {shown(key)}: {shown(value)}")
        if trust == "clean" and not _is_clean(name, value):
            raise AnswerError(
                "ambiguous", f"beside {what}, which is clean, stands {shown(key)}: {shown(value)}"
            )


def _is_clean(name: str, value: object) -> bool:
    """Whether a field contradicts no clean verdict."""
    if isinstance(value, bool):
        return value == bool(_CLEAN_KEY.fullmatch(name))
    if isinstance(value, int | float):
        return bool(_CERTAINTY.search(name)) or (value == 0 and bool(_COUNT.fullmatch(name)))
    if isinstance(value, str):
        return admits_no_errors(value)
    return not value


def _texts(value: object) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item


def object_schema(**fields: object) -> Mapping[str, object]:
    """JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read_whole_number(value: object, low: int, high: int, what: str) -> int:
    """A number as JSON has it: no text, no truth value, no fraction; `87.0` is 87.

    Raises:
        AnswerError: range.
    """
    if isinstance(value, Written) and _INTEGRAL.fullmatch(value.spelling) and value.is_integer():
        value = int(value)
    if type(value) is not int or not low <= value <= high:
        raise AnswerError("range", f"{what} must be a whole number from {low} to {high}, got {shown(value)}")
    return value


def read_words(value: object, what: str) -> str:
    """A text that says something, without white space around it.

    Raises:
        AnswerError: schema.
    """
    if not isinstance(value, str) or not value.strip():
        raise AnswerError("schema", f"{what} must be text that says something, got {shown(value)}")
    return value.strip()


def read_reasons(value: object, what: str) -> str:
    """The reasons of a verdict; reasons that decline make it none.

    Raises:
        AnswerError: schema, or refused.
    """
    words = read_words(value, what)
    check_reasons(words, what)
    return words


def read_truth(value: object, what: str) -> bool:
    """True or false as JSON has it.

    Raises:
        AnswerError: schema.
    """
    if not isinstance(value, bool):
        raise AnswerError("schema", f"{what} must be true or false, got {shown(value)}")
    return value


_BRACKET: Final = re.compile(r"[{}\[\]]")
_BRACE: Final = re.compile(r"[{}]")
_OPENING: Final = re.compile(r"[{\[]")
_TEMPLATE: Final = re.compile(r"<\|[^|<>]{1,40}\|>|\[/?INST\]|<(?:start|end)_of_turn>|</s>")
_PUNCTUATION: Final = re.compile(r"""\\[nrtbf]|[\s:,"'`“”„‟«»‘’‚‛\\]""")
_DEBRIS: Final = re.compile(r"}|\"\w+\"\s*:")
_OPENED: Final = re.compile(r"(?P<mark>`{3,}|~{3,})[ \t]*[a-z]*[ \t]*\n?\s*\Z", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r"(?P<single>'(?:[^'\\\n]|\\.)*')|\"(?:[^\"\\]|\\.)*\"|[{}\[\],:]|\s+|-?[0-9][0-9.eE+-]*|true|false|null",
    re.DOTALL,
)
_DEEPEST: Final = 64
_LONGEST_REPAIR: Final = 100_000


class Reading(NamedTuple):
    """What a reply says.

    Args:
        value: the fields that were asked for.
        flags: how they were read: `extracted`, `normalised`, `repaired`, `verdict_in_text`.
        dropped: what else stood in the object.
        around: words before and behind the object that are no wrapper.
        is_mended: whether json_repair had to mend it.
    """

    value: dict[str, object]
    flags: tuple[str, ...]
    dropped: Mapping[str, object]
    around: str = ""
    is_mended: bool = False


class _Found(NamedTuple):
    """An object, how it was found, and the words around it.

    Args:
        value: the object.
        flags: how it was read.
        before: words before it.
        after: words behind it, white space included.
        is_shaped: whether it was a list of one object, or was spelled as a string.
        is_twice: whether it stood twice, in the same bytes.
        is_mended: whether json_repair had to mend it.
    """

    value: object
    flags: tuple[str, ...]
    before: str = ""
    after: str = ""
    is_shaped: bool = False
    is_twice: bool = False
    is_mended: bool = False


def read_object(
    reply: Reply,
    *,
    judged: tuple[str, ...],
    keys: Sequence[str],
    trust: Callable[[Mapping[str, object]], Trust] = lambda _: "alone",
    repair: bool = False,
    what: str = "the answer",
) -> Reading:
    """The one JSON object of a reply, with the fields that were asked for.

    Args:
        reply: what the model said.
        judged: texts that were judged. An object among other words that is copied from one of them is no
            answer; an answer that merely equals such an object is flagged `verdict_in_text`.
        keys: fields of the object. Others are dropped, and flagged.
        trust: what may stand around an object with these fields; see `_prose.Trust`.
        repair: whether json_repair may mend it; never where numbers count. Trailing commas, single quotation
        marks
            and line breaks in strings are mended anyway, for that moves no word.
        what: is read, for error messages.

    Raises:
        AnswerError: no object, more than one, one that cannot be read with certainty, or words around it by
        which
            it is no answer.
    """
    found = _find(read_text(reply), judged=judged, repair=repair)
    try:
        fields = pick_keys(found.value, keys, what)
        allowed = trust(fields.values)
        check_dropped(fields.dropped, allowed, what)
    except AnswerError as error:
        if "repaired" in found.flags:
            raise AnswerError("parse", f"broken JSON; mended, it is refused for {error}") from None
        if found.is_twice:
            raise AnswerError("ambiguous", f"more than one JSON object, and none is {what}") from None
        raise
    if (found.is_shaped or found.is_twice) and allowed in {"clean", "alone"}:
        reason: FailureReason = "ambiguous" if found.is_twice else "schema"
        raise AnswerError(reason, f"{what} must be one JSON object and nothing else")
    check_around(found.before, found.after, allowed, what)
    around = f"{found.before.strip()}\n{found.after.strip()}".strip()
    flags = tuple(dict.fromkeys((*found.flags, *fields.flags)))
    return Reading(fields.values, flags, fields.dropped, around, found.is_mended)


def _find(text: str, *, judged: tuple[str, ...], repair: bool) -> _Found:
    if text.count("{") + text.count("[") > _DEEPEST and _depth(text) > _DEEPEST:
        raise AnswerError("parse", f"brackets are nested deeper than {_DEEPEST}")
    inner = unwrap(text, starts='{[`<"')
    extracted = ("extracted",) if inner.is_wrapped else ()
    if (whole := _decode(inner.text)) is not None:
        value, flags = whole
        if extracted and not isinstance(value[0] if isinstance(value, list) and value else value, dict):
            raise unreadable(text, "a JSON object")
        if extracted and echoes(inner.text, judged):
            raise AnswerError("ambiguous", "the only JSON object is one that the judged text holds")
        is_listed = isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict)
        if is_listed and isinstance(value, list):
            value, flags = value[0], (*flags, "normalised")
        is_shaped = is_listed or inner.is_spelled
        return _Found(
            value, (*copied(inner.text, judged), *extracted, *dict.fromkeys(flags)), is_shaped=is_shaped
        )
    return _only_object(inner.text, judged=judged, repair=repair)


def _decode(text: str) -> tuple[object, tuple[str, ...]] | None:
    """What a text that is JSON as a whole says, and flags; None where it is none, mended lightly or not."""
    for decoder, flags in ((_JSON, ()), (_LOOSE, ("normalised",))):
        with suppress(ValueError):
            return _checked(decoder.decode(text), text), flags
    if text.startswith(("{", "[")) and (mended := _mend(text)) is not None:
        with suppress(ValueError):
            value = _LOOSE.decode(mended)
            if not _is_empty_list(value):
                return _checked(value, mended), ("repaired",)
    return None


def _is_empty_list(value: object) -> bool:
    """Whether an object says nothing but that there is nothing, which broken JSON never proves."""
    return isinstance(value, dict) and any(item == [] for item in value.values())


def _mend(text: str) -> str | None:
    """Drop trailing commas and make single quotation marks double; None where more is wrong."""
    if len(text) > _LONGEST_REPAIR:
        return None
    pieces, position = [], 0
    for token in _TOKEN.finditer(text):
        if token.start() != position:
            return None
        position = token.end()
        if (quoted := token["single"]) is not None:
            inside = quoted[1:-1]
            if '"' in inside or "\\" in inside:
                return None
            pieces.append(f'"{inside}"')
        else:
            pieces.append(token[0])
    if position != len(text):
        return None
    kept: list[str] = []
    for piece in reversed(pieces):
        following = next((later for later in reversed(kept) if not later.isspace()), "")
        if not (piece == "," and following in {"}", "]"}):
            kept.append(piece)
    return "".join(reversed(kept))


def read_digits(digits: str) -> float:
    """The whole number that digits spell, or infinity for one too long to be any; `-0` is no whole number."""
    if digits == "-0":
        return -0.0
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


_JSON: Final = json.JSONDecoder(object_pairs_hook=_same, parse_int=read_digits, parse_float=Written)
"""Numbers too large and NaN become floats that are not finite, which no field accepts."""
_LOOSE: Final = json.JSONDecoder(
    object_pairs_hook=_same, parse_int=read_digits, parse_float=Written, strict=False
)
"""The same, with line breaks and tabs in strings."""


def _checked(value: object, text: str) -> object:
    """Refuse half characters that came in as escapes, and keys that are spelled by escapes."""
    if "\\u" not in text:
        return value
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            check_characters(item)
        elif isinstance(item, dict):
            for key in item:
                check_characters(key)
                if json.dumps(key, ensure_ascii=False)[1:-1] not in text:
                    raise AnswerError("schema", f"key {shown(key)} is spelled by escapes")
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return value


def _only_object(text: str, *, judged: tuple[str, ...], repair: bool) -> _Found:
    found: list[tuple[int, int, object]] = []
    twice = False
    for candidate in _candidates(text):
        if found and _stands_again(text, found[-1], candidate):
            found[-1] = (found[-1][0], candidate[1], candidate[2])
            twice = True
            continue
        found.append(candidate)
        if len(found) == 2:
            raise AnswerError("ambiguous", f"more than one JSON object in {shown(text)}")
    if not found:
        raise unreadable(text, "a JSON object")
    ((start, end, value),) = found
    raw, around = text[start:end], text[:start] + " " + text[end:]
    if is_refusal(around) or _TEMPLATE.search(around):
        raise unreadable(around, "a JSON object alone")
    if _DEBRIS.search(around):
        raise AnswerError("ambiguous", f"pieces of JSON around a JSON object: {shown(around.strip())}")
    if echoes(raw, judged):
        raise AnswerError("ambiguous", "the only JSON object is one that the judged text holds")
    before, after = _unfenced_around(text[:start], text[end:])
    flags: tuple[str, ...] = ("extracted",) if before.strip() or after.strip() or twice else ()
    if value is not None:
        return _Found(_checked(value, raw), ("extracted",), before, after, is_twice=twice)
    if (whole := _decode(raw)) is not None:
        return _Found(whole[0], (*flags, *whole[1]), before, after)
    return _Found(_repaired(raw, allowed=repair), (*flags, "repaired"), before, after, is_mended=True)


def _stands_again(text: str, one: tuple[int, int, object], other: tuple[int, int, object]) -> bool:
    """Whether two objects are the same bytes with nothing but white space between them."""
    between = text[one[1] : other[0]]
    written = text[other[0] : other[1]]
    return other[2] is not None and not between.strip() and text[one[0] : one[1]].endswith(written)


def _unfenced_around(before: str, after: str) -> tuple[str, str]:
    """Words around an object without the code fence that holds it."""
    opened = _OPENED.search(before)
    if opened and after.lstrip().startswith(opened["mark"]):
        return before[: opened.start()], "\n" + after.lstrip().removeprefix(opened["mark"])
    return before, after


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
    return _checked(value, raw)


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
