"""The wheel and the sdist, built twice: whoever has the commit can show that they are made from it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from release.programs import ROOT, ReleaseError, output_of, program

__all__ = ["Surroundings", "build", "digests_of", "refuse_differences"]

CONSTRAINTS = ROOT / "release" / "build-constraints.txt"
CHECKED = frozenset({"pyproject.toml", "uv.lock"})


class Surroundings(NamedTuple):
    """What must not show in a build.

    Args:
        umask: rights of files that are made.
        changes: of the environment.
    """

    umask: int
    changes: dict[str, str]


TWICE = (
    Surroundings(0o022, {"TZ": "UTC", "PYTHONHASHSEED": "1", "LC_ALL": "C"}),
    Surroundings(0o077, {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"}),
)


def build(out: Path) -> Path:
    """Build the commit at hand twice, from nothing but the commit, into `out`; give the wheel."""
    commit = output_of("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    print(f"commit {commit}")
    if changed := output_of("git", "-C", ROOT, "status", "--porcelain").splitlines():
        print(f"not in it: {len(changed)} files that are changed or new")
    if {line[3:] for line in changed} & CHECKED:
        raise ReleaseError(f"commit {' and '.join(sorted(CHECKED))} first: the checks read the files at hand")
    with tempfile.TemporaryDirectory() as folder:
        made = [_build_once(commit, Path(folder) / str(n), around) for n, around in enumerate(TWICE)]
        digests = [digests_of(files) for files in made]
        refuse_differences(*digests)
        out.mkdir(parents=True, exist_ok=True)
        for name, digest in digests[0].items():
            print(f"sha256 {digest}  {name}, both times")
            shutil.copyfile(made[0] / name, out / name)
    return next(out / name for name in digests[0] if name.endswith(".whl"))


def _build_once(commit: str, folder: Path, around: Surroundings) -> Path:
    """Clone and build; uv makes the wheel from the sdist, so that the sdist is shown to be whole."""
    checkout, out = folder / "checkout", folder / "out"
    output_of("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, checkout, umask=around.umask)
    output_of("git", "-C", checkout, "checkout", "--quiet", "--detach", commit, umask=around.umask)
    epoch = output_of("git", "-C", checkout, "show", "--no-patch", "--format=%ct", commit).strip()
    output_of(
        *(program("uv"), "build", "--quiet", checkout, "--out-dir", out),
        *("--build-constraints", CONSTRAINTS, "--require-hashes"),
        changes={**around.changes, "SOURCE_DATE_EPOCH": epoch},
        umask=around.umask,
    )
    return out


def digests_of(folder: Path) -> dict[str, str]:
    """The sha256 of each package by file name."""
    packages = sorted(path for path in folder.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in packages}


def refuse_differences(first: dict[str, str], second: dict[str, str]) -> None:
    """Raise where two builds are not the same wheel and sdist, to the byte."""
    kinds = {".whl" if name.endswith(".whl") else ".tar.gz" for name in first}
    if len(first) != 2 or kinds != {".whl", ".tar.gz"}:
        raise ReleaseError(f"a wheel and an sdist were wanted, the build made {sorted(first) or 'nothing'}")
    if first != second:
        differ = sorted(n for n in first.keys() | second.keys() if first.get(n) != second.get(n))
        raise ReleaseError(
            f"two builds of one commit differ in {', '.join(differ)}: compare them with diffoscope"
        )
