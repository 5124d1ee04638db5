"""What an installed adjudge has of its build: the commit, the lock file, and the bundle of its pages.

Hatchling calls this while it builds; nothing asks git or node when adjudge runs. All of it goes into the
sdist, too: a wheel built from that, where there is no git and no `node_modules`, has the same.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"sdist": "src/adjudge", "wheel": "adjudge"}
NAMED = re.compile(r"""\bstatic\("([^"]+)"\)""")  # by a template


class BuildFacts(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `build.json`, and `web/static/bundle` where esbuild is there, to the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make both, unless the files of the package may change after this."""
        root, place = Path(self.root), PLACES[self.target_name]
        if version == "editable" or (root / PLACES["sdist"] / "build.json").exists():
            return
        made = Path(tempfile.mkdtemp())
        (made / "build.json").write_text(json.dumps(build_facts(root)) + "\n")
        build_data["force_include"][str(made / "build.json")] = f"{place}/build.json"
        if esbuild := shutil.which("esbuild", path=str(root / "node_modules" / ".bin")):
            bundle(root / PLACES["sdist"] / "web", esbuild, made / "bundle")
            build_data["force_include"][str(made / "bundle")] = f"{place}/web/static/bundle"


def bundle(web: Path, esbuild: str, folder: Path) -> None:
    """Write each file that a template names, with all that it imports, as `folder/DIGEST/NAME.gz`."""
    pages = [page.read_text("utf-8") for page in sorted((web / "templates").rglob("*.html"))]
    names = sorted({name for page in pages for name in NAMED.findall(page)})
    options = ["--bundle", "--minify", "--format=esm", "--charset=utf8", "--loader:.svg=copy"]
    places = ["--outbase=.", f"--outdir={folder}", "--entry-names=[hash]/[dir]/[name]"]
    command = [esbuild, *names, *options, *places, "--log-level=warning"]
    subprocess.run(command, cwd=web / "static", check=True)  # noqa: S603
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        file.unlink()


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
