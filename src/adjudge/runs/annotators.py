"""What is run: a judge or a metric, by name or as an object, and what a signature says of it."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeGuard

from adjudge.core.judge import Judge, Metric, Profile
from adjudge.core.loading import choices_of
from adjudge.core.score import Signature
from adjudge.core.version import VERSION
from adjudge.errors import UsageError
from adjudge.judges import Repeated

__all__ = [
    "Annotator",
    "is_judge",
    "is_metric",
    "load_annotator",
    "options_of",
    "settings_of",
    "signature_of",
]

Annotator = Judge | Metric
_IDENTITY = frozenset({"name", "profile", "prompts"})  # said elsewhere in the signature
_SAID = frozenset({"samples", "temperature"})


_NEURAL: Final = ("comet", "metricx", "bleurt", "bertscore", "unite", "kiwi")
"""Words in names of metrics that a bridge starts."""


def load_annotator(
    name: str,
    *,
    profile: Profile = "recommended",
    prompts: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Annotator:
    """Load a judge or a metric by its name.

    Raises:
        UsageError: there is none, or it has no such setting.
    """
    from adjudge.judges import JUDGES, load_judge
    from adjudge.metrics import METRICS, load_metric

    judges, metrics = names_in("adjudge.judges", JUDGES), names_in("adjudge.metrics", METRICS)
    if name not in {*judges, *metrics}:
        if any(word in name.casefold() for word in _NEURAL):
            raise UsageError(
                f'{name} runs in an environment of its own: adjudge run bridge --command "PROGRAM" '
                f"--name {name}; docs/bridge.md has the programs of COMET and MetricX. Scores that are there "
                "already are read by score, rank and meta as they are"
            )
        near = difflib.get_close_matches(name, [*judges, *metrics], n=1)
        raise UsageError(
            f"no judge and no metric {name!r}; there are the judges {', '.join(judges)}, and the metrics "
            f"{', '.join(metrics)}" + (f"; did you mean {near[0]}?" if near else "")
        )
    if name not in metrics:
        return load_judge(name, profile=profile, prompts=prompts, settings=settings or {})
    if prompts is not None or profile != "recommended":
        raise UsageError(f"{name} is a metric: it has neither prompts nor profiles")
    return load_metric(name, settings or {})


def names_in(group: str, ours: Mapping[str, str]) -> list[str]:
    """Return the names of ours, then of those that other packages bring in an entry point group."""
    return [*dict.fromkeys((*ours, *(entry.name for entry in entry_points(group=group))))]


def is_metric(annotator: Annotator) -> TypeGuard[Metric]:
    """Whether it scores without a language model."""
    return hasattr(annotator, "corpus_score")


def is_judge(annotator: Annotator) -> TypeGuard[Judge]:
    """Whether it asks a language model."""
    return not is_metric(annotator)


def settings_of(annotator: Annotator) -> dict[str, object]:
    """Every setting with its value, as `run.json` keeps it."""
    if isinstance(annotator, Repeated):
        names = [f.name for f in dataclasses.fields(annotator) if f.name != "judge"]
        drawn = {name: value for name in names if (value := getattr(annotator, name)) is not None}
        return settings_of(annotator.judge) | drawn
    thing: Any = annotator
    names = [f.name for f in dataclasses.fields(thing) if f.init] if dataclasses.is_dataclass(thing) else []
    found = {name: _plain(getattr(annotator, name)) for name in names}
    if "prompts" in found and is_judge(annotator):
        found["prompts"] = annotator.prompts_digest  # the folder may move; its content may not
    return found


def options_of(judge: Judge) -> list[str]:
    """Every setting as an option with its value, and what else may be given where there is a choice."""
    kinds = [type(judge.judge), type(judge)] if isinstance(judge, Repeated) else [type(judge)]
    choices = {name: found for kind in kinds for name, found in choices_of(kind).items()}
    lines = []
    for name, value in settings_of(judge).items():
        if name != "prompts":
            option = "--" + name.replace("_", "-")
            given = f"{option}: not set" if value is None else f"{option} {_text(value)}"
            lines.append(given + (f" (of: {', '.join(choices[name])})" if name in choices else ""))
    return lines


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _changed(annotator: Annotator) -> dict[str, str]:
    """Settings that differ from the default of their profile; how samples are drawn is always said.

    A judge may name others in `said`.
    """
    now = settings_of(annotator)
    said = _SAID | frozenset(getattr(annotator, "said", ()))
    if isinstance(annotator, Repeated):
        annotator = annotator.judge
    profile = {name: now[name] for name in ("profile",) if name in now}
    make: Callable[..., Annotator] = type(annotator)
    try:
        default = settings_of(make(**profile))
    except TypeError:  # a judge from outside with a setting that has no default
        default = {}
    return {
        name: _text(value)
        for name, value in now.items()
        if name not in _IDENTITY and (name in said or name not in default or default[name] != value)
    }


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def signature_of(
    annotator: Annotator,
    *,
    reference: str,
    lps: tuple[str, ...],
    extra: Mapping[str, str],
    model: str = "",
    seed: int | None = None,
) -> Signature:
    """The signature of a run in which nothing failed yet.

    Args:
        annotator: who judges.
        reference: name of the reference shown, or `src`.
        lps: language pairs, for what a metric does differently in each.
        extra: settings of the run that differ from their default.
        model: whom a judge asks.
        seed: of a judge's sampling.
    """
    fields: dict[str, str] = {}
    if is_metric(annotator):
        fields |= {"ref": reference, **_by_lp({lp: annotator.settings(lp) for lp in lps})}
    if is_judge(annotator):
        fields |= {"model": model, "prompts": annotator.prompts_digest, "profile": annotator.profile}
        fields |= {"ref": reference, **_changed(annotator)}
    fields |= extra
    if annotator.weights is not None:
        fields["weights"] = annotator.weights
    fields["failed"] = "0/0"
    if seed is not None:
        fields["seed"] = str(seed)
    return Signature(annotator.name, {**fields, "version": VERSION})


def _by_lp(settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """One value where all language pairs agree, else each with its own."""
    names = dict.fromkeys(name for values in settings.values() for name in values)
    found = {}
    for name in names:
        values = {lp: own[name] for lp, own in settings.items() if name in own}
        same = len(set(values.values())) == 1 and len(values) == len(settings)
        parts = [next(iter(values.values()))] if same else [f"{lp}={v}" for lp, v in values.items()]
        found[name] = ",".join(parts)
    return found
