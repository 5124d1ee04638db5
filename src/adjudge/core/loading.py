"""Make a judge or a metric by its name, with settings that came as text.

Judges and metrics do not know each other, and both come from our own table or from another package.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from adjudge.errors import SettingError, UsageError

__all__ = ["choices_of", "find_attribute", "find_class", "read_settings"]

_NUMBERS: Final[Mapping[type, str]] = {int: "a whole number", float: "a number"}
_TRUTH: Final = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}


def find_class(kind: str, name: str, ours: Mapping[str, str], others: Iterable[EntryPoint]) -> type[Any]:
    """Import the class that stands behind a name.

    Args:
        kind: `judge` or `metric`, for messages.
        name: as on the command line.
        ours: name to `module:Class`; nobody else can take one of these names.
        others: entry points of other packages.

    Raises:
        UsageError: there is none of that name, or it cannot be imported.
    """
    places = {entry.name: entry.value for entry in others} | dict(ours)
    if name not in places:
        raise UsageError(f"no {kind} {name!r}; there are {', '.join(places)}")
    module, _, attribute = places[name].partition(":")
    try:
        return cast(type[Any], getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{kind} {name!r} cannot be loaded from {places[name]!r}: {error}") from error


def find_attribute(room: str, name: str, ours: Mapping[str, str]) -> object:
    """Import one of our classes by its own name, for a room's `__getattr__`.

    Raises:
        AttributeError: none of them is called so.
    """
    for place in ours.values():
        module, _, attribute = place.partition(":")
        if attribute == name:
            return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {room!r} has no attribute {name!r}")


def read_settings(
    what: str, make: type[Any], settings: Mapping[str, str], *, reserved: Iterable[str] = ()
) -> dict[str, object]:
    """Turn texts into values of a dataclass's fields.

    Args:
        what: kind and name, such as `judge 'ea-prompt'`, for messages.
        make: the dataclass; its fields are its settings.
        settings: name of a field, `-` for `_` allowed, to text.
        reserved: fields that are no settings.

    Raises:
        SettingError: no such setting.
        UsageError: a value that its field cannot have.
    """
    known = [field.name for field in fields(make) if field.init and field.name not in set(reserved)]
    types_of = get_type_hints(make)
    values: dict[str, object] = {}
    for key, text in settings.items():
        field = key.replace("-", "_")
        if field not in known:
            raise SettingError(what, key, known)
        values[field] = _convert(text, types_of[field], f"setting {key!r} of {what}")
    return values


def choices_of(make: type[Any]) -> dict[str, tuple[str, ...]]:
    """What may be given for each field of a dataclass that has a choice, as a command line spells it."""
    found = {field: _choices(wanted) for field, wanted in get_type_hints(make).items()}
    return {field: choices for field, choices in found.items() if choices}


def _choices(wanted: Any) -> tuple[str, ...]:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) is Literal:
        return tuple(map(str, get_args(wanted)))
    if wanted is bool:
        return "yes", "no"
    kinds = get_args(wanted) if get_origin(wanted) in {Union, types.UnionType} else ()
    return tuple(choice for kind in kinds for choice in _choices(kind))


def _convert(text: str, wanted: Any, what: str) -> object:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) is Literal:
        choices = {str(choice): choice for choice in get_args(wanted)}
    elif wanted is bool:
        choices = _TRUTH
        text = text.lower()
    else:
        return _construct(text, wanted, what)
    if text not in choices:
        raise UsageError(f"{what} must be one of {', '.join(choices)}; got {text!r}")
    return choices[text]


def _construct(text: str, wanted: Any, what: str) -> object:  # noqa: ANN401 (any type of a field)
    if get_origin(wanted) in {Union, types.UnionType}:
        if str in get_args(wanted):
            return text
        (inner,) = (one for one in get_args(wanted) if one is not types.NoneType)
        return _convert(text, inner, what)
    try:
        return wanted(text)
    except (TypeError, ValueError) as error:
        if wanted in _NUMBERS:
            raise UsageError(f"{what} must be {_NUMBERS[wanted]}, got {text!r}") from None
        raise UsageError(f"{what} must be of type {wanted.__name__}: {error}") from None
