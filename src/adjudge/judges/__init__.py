"""Judges by name. Each is a module or package named after its method; a package of its own may bring more.

`adjudge.judges.GembaMqm(profile="paper")` makes one in Python, `load_judge("gemba-mqm")` from a command line.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, get_origin, get_type_hints

from adjudge.core.judge import (
    PROFILES,
    Calls,
    Judge,
    Profile,
    find_attribute,
    find_class,
    fits,
    read_settings,
)
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import find_protocol
from adjudge.core.wording import command, count
from adjudge.errors import AdjudgeError, UsageError, blamed
from adjudge.judges._samples import Sampled

if TYPE_CHECKING:
    from adjudge.judges.criteria import Criteria
    from adjudge.judges.ea_prompt import EaPrompt
    from adjudge.judges.fire import DirectRank, Fire
    from adjudge.judges.gemba_da import GembaDa, GembaSqm
    from adjudge.judges.gemba_esa import GembaEsa
    from adjudge.judges.gemba_mqm import GembaMqm
    from adjudge.judges.gemba_v2 import GembaV2
    from adjudge.judges.himate import Himate
    from adjudge.judges.m_mad import MMad
    from adjudge.judges.rate import Rate
    from adjudge.judges.single_agent import SingleAgent

__all__ = [
    "JUDGES",
    "Criteria",
    "DirectRank",
    "EaPrompt",
    "Fire",
    "GembaDa",
    "GembaEsa",
    "GembaMqm",
    "GembaSqm",
    "GembaV2",
    "Himate",
    "MMad",
    "Rate",
    "Sampled",
    "SingleAgent",
    "differences",
    "has_setting",
    "load_judge",
    "profile_note",
]

JUDGES: Final[Mapping[str, str]] = {
    "gemba-mqm": "adjudge.judges.gemba_mqm:GembaMqm",
    "gemba-da": "adjudge.judges.gemba_da:GembaDa",
    "gemba-sqm": "adjudge.judges.gemba_da:GembaSqm",
    "gemba-esa": "adjudge.judges.gemba_esa:GembaEsa",
    "gemba-v2": "adjudge.judges.gemba_v2:GembaV2",
    "criteria": "adjudge.judges.criteria:Criteria",
    "ea-prompt": "adjudge.judges.ea_prompt:EaPrompt",
    "single-agent": "adjudge.judges.single_agent:SingleAgent",
    "himate": "adjudge.judges.himate:Himate",
    "m-mad": "adjudge.judges.m_mad:MMad",
    "fire": "adjudge.judges.fire:Fire",
    "rate": "adjudge.judges.rate:Rate",
    "direct-rank": "adjudge.judges.fire:DirectRank",
}
"""Name to where its class stands. Other packages add theirs under the entry point group `adjudge.judges`."""

_SAID: Final = ("name", "protocol", "weights", "profile", "with_reference", "prompts_digest", "calls")
"""What every judge says of itself; see `core.judge.Judge`."""
_MORE: Final = ("criteria", "said", "search", "needs_logprobs")
"""What some judges say of themselves besides."""
_OPTIONS: Final = frozenset({"profile", "prompts"})
_SAMPLING: Final = frozenset({"samples", "temperature", "tie_threshold"})


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
        settings: fields of its dataclass, as text. `samples` and `temperature` are settings of every judge:
            with them it is `Sampled`, unless it has samples of its own.

    Raises:
        UsageError: no such judge, profile or setting, a value that its field cannot have, prompts that
            are not as they must be, or a class of another package that is no judge.
    """
    make = find_class("judge", name, JUDGES)
    if profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    known = {field.name for field in fields(make) if field.init}
    values: dict[str, object] = {"profile": profile} if "profile" in known else {}
    if prompts is not None:
        if "prompts" not in known:
            raise UsageError(f"judge {name!r} has no prompts to set")
        values["prompts"] = prompts
    if "temperature" in settings.keys() - known and "samples" not in settings:
        raise UsageError(f"temperature is for samples, and {name} takes none: add samples, such as 5")
    drawn, own = {}, settings
    if "samples" in settings.keys() - known:
        drawn = {key: text for key, text in settings.items() if key.replace("-", "_") in _SAMPLING}
        own = {key: text for key, text in settings.items() if key not in drawn}
    if own:
        values |= read_settings(f"judge {name!r}", make, own, reserved=_OPTIONS)
    judge = cast(Judge, make(**values)) if name in JUDGES else _make(name, make, values)
    _ = judge.prompts_digest  # a folder of prompts that cannot be used is said before anything is asked
    if not drawn:
        return judge
    chosen = read_settings("sampling", Sampled, drawn, reserved={"judge"})
    return cast(Judge, Sampled(judge=judge, **chosen))  # type: ignore[arg-type]


def _make(name: str, make: type[Any], values: Mapping[str, object]) -> Judge:
    try:
        _check_class(name, make)
        judge = cast(Judge, make(**values))
        _check_judge(name, make, judge)
        _ = judge.prompts_digest
    except AdjudgeError:
        raise
    except Exception as error:  # whatever a judge of another package does
        raise UsageError(
            f"judge {name!r} cannot be made of its settings, which all need a default: {blamed(error)}"
        ) from error
    return judge


def _check_class(name: str, make: type[Any]) -> None:
    if not make.__dataclass_params__.frozen:
        raise UsageError(f"judge {name!r} must not change: write @dataclass(frozen=True, kw_only=True)")
    for kind in make.__mro__:
        if kind.__module__.startswith("adjudge."):
            continue
        for each, value in vars(kind).items():
            is_said = each.startswith("_") or each in {*_SAID, *_MORE, *vars(kind).get("__annotations__", {})}
            if not is_said and isinstance(value, bool | int | float | str | tuple | list | dict | None):
                raise UsageError(
                    f"judge {name!r}: {each} = {value!r:.40} has no type; a setting is "
                    f"{each}: TYPE = {value!r:.40}, and what is no setting a ClassVar"
                )
    for field, wanted in get_type_hints(make).items():
        default = make.__dataclass_fields__[field].default if field in make.__dataclass_fields__ else MISSING
        if get_origin(wanted) is not ClassVar and default is not MISSING and not fits(default, wanted):
            raise UsageError(f"judge {name!r}: setting {field} is {wanted}, and its default {default!r:.40}")


def _check_judge(name: str, make: type[Any], judge: Any) -> None:  # noqa: ANN401 (it may say anything)
    """Refuse a judge that does not say what every judge says of itself."""
    if missing := [each for each in _SAID if not hasattr(make, each) and not hasattr(judge, each)]:
        raise UsageError(f"judge {name!r} must say its {', '.join(missing)}; docs/write-a-judge.md has all")
    if judge.name != name:
        raise UsageError(f"judge {name!r} calls itself {judge.name!r}; its entry point needs that name too")
    if (
        not isinstance(judge.calls, Calls)
        or not 0 <= judge.calls.min <= judge.calls.typical <= judge.calls.max
    ):
        raise UsageError(f"the calls of judge {name!r} must be Calls(least, typical, most): {judge.calls!r}")
    find_protocol(judge.protocol)
    if judge.weights is not None:
        find_weights(judge.weights)


def differences(judge: object) -> tuple[str, ...]:
    """Points in which a judge differs from its paper, as the docstring of its module numbers them."""
    text = sys.modules[type(judge).__module__].__doc__ or ""
    points = re.split(r"(?:^ |\n {8}) ?[0-9]+\. ", text.partition("\nDiffers")[2].partition("\n\n")[0])
    return tuple(" ".join(point.split()) for point in points[1:])


def profile_note(judge: Judge) -> tuple[str, ...]:
    """One line on the profile that judges, where its docstring numbers differences from a paper."""
    if not (points := differences(judge)):
        return ()
    which = f"which differs from its paper in up to {count(len(points), 'point')}"
    return (f"profile {judge.profile} of {judge.name}, {which}: {command('show', judge.name, '--differs')}",)


def has_setting(name: str, setting: str) -> bool:
    """Whether a judge has a setting of this name; what is no judge has none."""
    try:
        make = find_class("judge", name, JUDGES)
    except UsageError:
        return False
    return setting in {field.name for field in fields(make) if field.init}


if not TYPE_CHECKING:  # a type checker knows every class from above, and reports any other

    def __getattr__(name: str) -> object:
        return find_attribute(__name__, name, JUDGES)


def __dir__() -> list[str]:
    return sorted(__all__)
