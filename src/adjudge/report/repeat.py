"""The commands that make a run and its numbers again, from what the run says of itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from adjudge.core.run import Run, RunInfo
from adjudge.report.given import Judged

__all__ = ["page_commands", "rank_command", "run_command"]

_SAID_ELSEWHERE: Final = frozenset({"name", "profile", "prompts"})
_OF_THE_RUN: Final = {
    "reference": None,
    "base_url": None,
    "json_schema": "auto",
    "effort": None,
    "context": 0,
    "terms": "",
    "seed": 0,
}
"""Settings that any run has, and what they are where nobody chose."""
_PLACES: Final = {"base_url": "URL", "terms": "FILE"}
"""What stands for a place that is nobody's business but the runner's: a report goes to others."""


_FILES: Final = re.compile(r"(?<=^files):.*", re.DOTALL)
"""The digest that a signature names in place of the folder in which a judge searched."""


def run_command(info: RunInfo, folder: str | None = None) -> str:
    """The `adjudge run` that judges the same test set in the same way, or the same `adjudge ensemble`.

    Args:
        info: of the run.
        folder: its directory, whose copy of the test set is judged again; None where it has no place.
    """
    if info.kind == "ensemble":
        return _ensemble_command(info, folder)
    test_set = "TEST_SET" if folder is None else f"{folder.rstrip('/')}/test_set.jsonl"
    again = "RUN" if folder is None else f"{folder.rstrip('/')}-again"
    words = ["adjudge", "run", info.annotator, test_set, "--out", again]
    fields = info.signature.fields
    if info.kind == "judge":
        for name in filter(None, fields.get("model", "").split(";")):
            words += ["--model", name]
        if (profile := fields.get("profile", "recommended")) != "recommended":
            words += ["--profile", profile]
    words += _changed_settings(info)
    settings = dict(info.settings) | {"reference": _reference(info)}
    settings |= {name: word for name, word in _PLACES.items() if settings.get(name)}
    for name, default in _OF_THE_RUN.items():
        if (value := settings.get(name)) and value != default:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _ensemble_command(info: RunInfo, folder: str | None) -> str:
    """The `adjudge ensemble` of the same members, whose places are the runner's business."""
    members, own, gold = (_mapping(info, key) for key in ("members", info.kind, "gold"))
    words = [f"{name}=RUN" for name in members]
    words += ["--out", "RUN" if folder is None else f"{folder.rstrip('/')}-again"]
    words += [word for name, value in own.items() for word in (f"--{name}", str(value))]
    words += [word for name in gold for word in ("--gold", f"{name}=FILE")]
    return shlex.join(["adjudge", "ensemble", *words])


def _mapping(info: RunInfo, key: str) -> Mapping[str, object]:
    found = info.settings.get(key)
    return found if isinstance(found, Mapping) else {}


def _reference(info: RunInfo) -> str | None:
    """The reference that was shown, where one was and it is the same in all language pairs."""
    shown = info.settings.get("reference")
    names = set(shown.values()) if isinstance(shown, Mapping) else set()
    return names.pop() if len(names) == 1 else None


def _changed_settings(info: RunInfo) -> list[str]:
    """Settings of the judge that the signature names, which are those that were changed."""
    own = info.settings.get(info.kind)
    names = [name for name in own if name not in _SAID_ELSEWHERE] if isinstance(own, Mapping) else []
    fields = info.signature.fields
    return [
        word
        for name in names
        if name in fields
        for word in (f"--{name}", _FILES.sub(":FOLDER", fields[name]))
    ]


def page_commands(
    command: str,
    judged: Sequence[Judged],
    places: Sequence[Path | str],
    options: Mapping[str, object],
) -> list[str]:
    """The command lines that make the runs, their rankings and a page of them again, each as it stands.

    Args:
        command: that makes the page.
        judged: what is on it.
        places: where each of that is.
        options: of the command, by their names in Python; True for one without a value.
    """
    names = [str(place) for place in places]
    runs = [run_command(r.info, n) for r, n in zip(judged, names, strict=True) if isinstance(r, Run)]
    ranked = [n for r, n in zip(judged, names, strict=True) if isinstance(r, Run) or not Path(n).is_dir()]
    lp = options.get("lp")
    ranking = [rank_command(ranked, None if lp is None else str(lp))] if ranked else []
    return [*runs, *ranking, shlex.join(["adjudge", command, *names, *_words(options)])]


def _words(options: Mapping[str, object]) -> Iterator[str]:
    for name, value in options.items():
        if value is not None:
            yield f"--{name.replace('_', '-')}"
            yield from () if value is True else (str(value),)


def rank_command(folders: Sequence[str], lp: str | None) -> str:
    """The `adjudge rank` that prints the rankings of some runs."""
    return shlex.join(["adjudge", "rank", *folders, *([] if lp is None else ["--lp", lp])])
