"""What a user gets: the built wheel with the locked core and every extra, in an environment of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from release.programs import ROOT, ReleaseError, output_of, program

__all__ = ["install"]


def install(wheel: Path, folder: Path) -> Path:
    """Make the environment, run the wheel in it, and give its Python."""
    uv = program("uv")
    output_of(
        *(uv, "sync", "--quiet", "--frozen", "--project", ROOT, "--python", sys.executable),
        *("--no-default-groups", "--all-extras", "--no-install-project"),
        changes={"UV_PROJECT_ENVIRONMENT": str(folder)},
    )
    python = folder / "bin" / "python"
    output_of(uv, "pip", "install", "--quiet", "--python", python, "--no-deps", "--reinstall", wheel)
    said = output_of(folder / "bin" / "adjudge", "--version")
    print(said.rstrip())
    if "unknown" in said:
        raise ReleaseError("the wheel does not know its commit and its lock: see hatch_build.py")
    return python
