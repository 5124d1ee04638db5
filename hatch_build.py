"""What an installed adjudge knows of its build: the commit and the lock file it was made from.

Hatchling calls this while it builds; nothing asks git when adjudge runs. The facts go into the sdist, too,
so that a wheel built from that, where there is no git, has the same.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"sdist": "src/adjudge/build.json", "wheel": "adjudge/build.json"}


class BuildFacts(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `build.json` to the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the facts, unless the files of the package may change after this."""
        root = Path(self.root)
        if version == "editable" or (root / PLACES["sdist"]).exists():
            return
        file = Path(tempfile.mkdtemp()) / "build.json"
        file.write_text(json.dumps(build_facts(root)) + "\n")
        build_data["force_include"][str(file)] = PLACES[self.target_name]


def build_facts(root: Path) -> dict[str, str | None]:
    """The commit, with a plus where files differ from it, and the sha256 of uv.lock; None where unknown."""
    lock = root / "uv.lock"
    return {
        "commit": commit_of(root),
        "lock": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else None,
    }


def commit_of(root: Path) -> str | None:
    """The commit of a checkout that begins at `root`: adjudge may lie unpacked in another's checkout."""
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return commit + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout.strip()
