"""Files that Python runs whenever it starts, without an import: the place of stealers in poisoned wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from release.policy import Policy, read_policy
from release.programs import ReleaseError, output_of

__all__ = ["check_start_files", "find_start_files", "refuse_start_files"]

CUSTOMIZE = re.compile(r"(sitecustomize|usercustomize)(\..+)?")


def check_start_files(python: Path) -> None:
    """Raise where an environment holds such a file that the policy has no reason for."""
    where = "import sysconfig; print(*{sysconfig.get_path(p) for p in ('purelib', 'platlib')}, sep='\\n')"
    folders = [Path(line) for line in output_of(python, "-I", "-c", where).splitlines()]
    refuse_start_files((name for folder in folders for name in find_start_files(folder)), read_policy())
    print("no distribution runs anything when Python starts")


def find_start_files(folder: Path) -> Iterator[str]:
    """Names at the top of site-packages, where alone Python looks for them."""
    for path in sorted(folder.iterdir()):
        if path.suffix in {".pth", ".start"} or CUSTOMIZE.fullmatch(path.name):
            yield path.name


def refuse_start_files(names: Iterator[str], policy: Policy) -> None:
    """Raise where a name has no exception."""
    if found := [name for name in names if name not in policy.start_files]:
        raise ReleaseError(f"Python would run {', '.join(found)} whenever it starts: find out who ships that")
