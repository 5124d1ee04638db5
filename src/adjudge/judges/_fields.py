"""The fields of a JSON answer, each checked; what is meant beyond doubt is normalised."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple, Self

from adjudge.errors import AnswerError
from adjudge.judges._prose import Trust, admits_no_errors, check_reasons
from adjudge.judges._read import shown

__all__ = [
    "Fields",
    "Written",
    "check_dropped",
    "check_keys",
    "object_schema",
    "pick_keys",
    "read_reasons",
    "read_truth",
    "read_whole_number",
    "read_words",
]

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
