"""What uv.lock holds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Locked", "layers", "read_lock", "render_requirements"]


class Locked(NamedTuple):
    """A package of the lock.

    Args:
        name: as the lock writes it, in lower case with hyphens.
        version: exact.
        hashes: `sha256:…` of all its files.
    """

    name: str
    version: str
    hashes: tuple[str, ...]


def read_lock(path: Path) -> tuple[Locked, ...]:
    """Read all packages but adjudge itself: core, extras and groups, for every Python and platform."""
    packages = tomllib.loads(path.read_text())["package"]
    return tuple(
        Locked(package["name"], package["version"], tuple(_hashes(package)))
        for package in packages
        if "registry" in package["source"]
    )


def _hashes(package: dict[str, Any]) -> Iterator[str]:
    files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    return (file["hash"] for file in files)


def layers(packages: tuple[Locked, ...]) -> list[list[Locked]]:
    """The packages so that no layer has a name twice; a lock has two versions of one for two Pythons."""
    found: list[list[Locked]] = []
    for package in packages:
        free = (layer for layer in found if package.name not in {other.name for other in layer})
        if (layer := next(free, None)) is None:
            found.append(layer := [])
        layer.append(package)
    return found


def render_requirements(packages: list[Locked]) -> str:
    """One requirement a package, with hashes and without markers: what is locked for others counts, too."""
    return "".join(
        f"{p.name}=={p.version} {' '.join(f'--hash={digest}' for digest in p.hashes)}\n" for p in packages
    )
