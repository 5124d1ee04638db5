"""Judges by name. Each is one file named after its method; a package of its own may bring more.

`adjudge.judges.GembaMqm(profile="paper")` makes one in Python, `load_judge("gemba-mqm")` from a command line.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Mapping
from dataclasses import Field, fields
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from adjudge.core.judge import PROFILES, Judge, Profile
from adjudge.errors import UsageError

__all__ = ["JUDGES", "load_judge"]

JUDGES: Final[Mapping[str, str]] = {
    "gemba-mqm": "adjudge.judges.gemba_mqm:GembaMqm",
    "gemba-da": "adjudge.judges.gemba_da:GembaDa",
    "gemba-sqm": "adjudge.judges.gemba_sqm:GembaSqm",
    "gemba-esa": "adjudge.judges.gemba_esa:GembaEsa",
    "ea-prompt": "adjudge.judges.ea_prompt:EaPrompt",
    "single-agent": "adjudge.judges.single_agent:SingleAgent",
}
"""Name to where its class stands. Other packages add theirs under the entry point group `adjudge.judges`."""

_OPTIONS: Final = {"profile", "prompts"}
_TRUTH: Final = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}


def load_judge(
    name: str,
    *,
    profile: Profile = "recommended",
    prompts: Path | None = None,
    settings: Mapping[str, str] = types.MappingProxyType({}),
) -> Judge:
    """Make the judge of that name.

    Args:
        name: in `JUDGES`, or of an entry point.
        profile: recommended, paper or code.
        prompts: folder with files that stand in for the judge's own.
        settings: fields of its dataclass, as text.

    Raises:
        UsageError: no such judge, profile or setting, a value that its field cannot have, or prompts that
            are not as they must be.
    """
    make = _find_class(name)
    if profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    known = {field.name: field for field in fields(make) if field.init}
    values: dict[str, object] = {"profile": profile}
    if prompts is not None:
        values["prompts"] = prompts
    if unknown := sorted(values.keys() - known.keys() - {"profile"}):
        raise UsageError(f"judge {name!r} has no {' or '.join(unknown)} to set")
    types_of = get_type_hints(make)
    for key, text in settings.items():
        field = key.replace("-", "_")
        if field in _OPTIONS or field not in known:
            raise UsageError(f"judge {name!r} has no setting {key!r}; it has {_settings(known)}")
        values[field] = _convert(text, types_of[field], f"setting {key!r} of {name!r}")
    judge = cast(Judge, make(**{key: value for key, value in values.items() if key in known}))
    _ = judge.prompts_digest  # a folder of prompts that cannot be used is said before anything is asked
    return judge


def _find_class(name: str) -> type[Any]:
    places = {entry.name: entry.value for entry in entry_points(group="adjudge.judges")} | dict(JUDGES)
    if name not in places:
        raise UsageError(f"no judge {name!r}; there are {', '.join(places)}")
    module, _, attribute = places[name].partition(":")
    try:
        return cast(type[Any], getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise UsageError(f"judge {name!r} cannot be loaded from {places[name]!r}: {error}") from error


def _settings(known: Mapping[str, Field[Any]]) -> str:
    return ", ".join(field for field in known if field not in _OPTIONS) or "none"


def _convert(text: str, wanted: Any, what: str) -> object:  # noqa: ANN401 (any type of a field)
    """Turn the text of a setting into a value of its field's type."""
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
        (inner,) = (one for one in get_args(wanted) if one is not types.NoneType)
        return _convert(text, inner, what)
    try:
        return wanted(text)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} must be of type {wanted.__name__}: {error}") from None


def __getattr__(name: str) -> object:
    """Import a judge's class when it is first named."""
    for place in JUDGES.values():
        module, _, attribute = place.partition(":")
        if attribute == name:
            return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
