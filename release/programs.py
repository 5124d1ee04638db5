"""Programs that the steps start, and the one error by which a step fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["ROOT", "ReleaseError", "output_of", "program"]

ROOT = Path(__file__).parents[1]


class ReleaseError(Exception):
    """Why this must not be released, in words for the person who wanted to."""


def program(name: str) -> str:
    """The path of a program, first among those of this Python: the lock chose their versions."""
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if found := shutil.which(name, path=folders):
        return found
    raise ReleaseError(f"the program {name} is wanted and is not here: `make release` installs it")


def output_of(
    *command: str | Path,
    changes: Mapping[str, str] | None = None,
    umask: int = -1,
    ok: tuple[int, ...] = (0,),
) -> str:
    """What a program prints.

    Args:
        command: the program and its arguments.
        changes: of the environment.
        umask: for the files it makes; -1 for ours.
        ok: exit codes by which it says that it did its work.
    """
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **(changes or {})},
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in ok:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise ReleaseError(f"{Path(command[0]).name} ended with exit code {done.returncode}: {last}")
    return done.stdout
