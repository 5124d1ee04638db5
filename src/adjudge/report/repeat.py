"""The commands that make a run and its numbers again, from what the run says of itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from adjudge.core.run import RunInfo

__all__ = ["rank_command", "run_command"]

_SAID_ELSEWHERE = frozenset({"name", "profile", "prompts"})


def run_command(info: RunInfo, folder: str | None = None) -> str:
    """The `adjudge run` that judges the same test set in the same way.

    Args:
        info: of the run.
        folder: its directory, whose copy of the test set is judged again; None where it has no place.
    """
    test_set = "TEST_SET" if folder is None else f"{folder.rstrip('/')}/test_set.jsonl"
    again = "RUN" if folder is None else f"{folder.rstrip('/')}-again"
    words = ["adjudge", "run", info.annotator, test_set, "--out", again]
    fields = info.signature.fields
    if info.kind == "judge":
        for name in filter(None, fields.get("model", "").split(",")):
            words += ["--model", name]
        if (profile := fields.get("profile", "recommended")) != "recommended":
            words += ["--profile", profile]
    words += _changed_settings(info)
    if info.settings.get("context"):
        words += ["--context", str(info.settings["context"])]
    if info.settings.get("terms"):
        words += ["--terms", "FILE"]
    if info.settings.get("seed"):
        words += ["--seed", str(info.settings["seed"])]
    return shlex.join(words)


def _changed_settings(info: RunInfo) -> list[str]:
    """Settings of the judge that the signature names, which are those that were changed."""
    own = info.settings.get(info.kind)
    names = [name for name in own if name not in _SAID_ELSEWHERE] if isinstance(own, Mapping) else []
    fields = info.signature.fields
    return [word for name in names if name in fields for word in (f"--{name}", fields[name])]


def rank_command(folders: Sequence[str], lp: str | None) -> str:
    """The `adjudge rank` that prints the rankings of some runs."""
    return shlex.join(["adjudge", "rank", *folders, *([] if lp is None else ["--lp", lp])])
