"""The fields of a JSON answer, each checked: nothing is turned into what was wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adjudge.errors import AnswerError
from adjudge.judges._read import shown

__all__ = ["check_keys", "object_schema", "read_truth", "read_whole_number", "read_words"]


def check_keys(value: object, keys: Collection[str], what: str) -> dict[str, object]:
    """Refuse what is no object with exactly these keys.

    Raises:
        AnswerError: schema.
    """
    if not isinstance(value, dict):
        raise AnswerError("schema", f"{what} must be an object, got {shown(value)}")
    if value.keys() != set(keys):
        wanted, came = ", ".join(keys), ", ".join(value) or "nothing"
        raise AnswerError("schema", f"{what} must have exactly {wanted}; got {shown(came)}")
    return value


def object_schema(**fields: object) -> Mapping[str, object]:
    """JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read_whole_number(value: object, low: int, high: int, what: str) -> int:
    """A number as JSON has it: no text, no truth value, no fraction.

    Raises:
        AnswerError: range.
    """
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


def read_truth(value: object, what: str) -> bool:
    """True or false as JSON has it.

    Raises:
        AnswerError: schema.
    """
    if not isinstance(value, bool):
        raise AnswerError("schema", f"{what} must be true or false, got {shown(value)}")
    return value
