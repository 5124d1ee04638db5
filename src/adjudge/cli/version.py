"""What `adjudge --version` says: all that a report of a fault needs to say of the program."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

from adjudge.core.version import VERSION, read_build

__all__ = ["render_version"]

UNKNOWN = "unknown, not installed from a built package"


def render_version() -> str:
    """The version alone on its first line, then one fact a line; no name of a person or of a machine."""
    build = read_build()
    facts = {
        "commit": build.commit or UNKNOWN,
        "lock": f"sha256:{build.lock}" if build.lock else UNKNOWN,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "libraries": ", ".join(f"{name} {_version_of(name)}" for name in _libraries()),
    }
    return "\n".join([f"adjudge {VERSION}", *(f"{name}: {value}" for name, value in facts.items())])


def _libraries() -> list[str]:
    """Names of what adjudge needs, without extras."""
    wanted = [line for line in requires("adjudge") or [] if "extra ==" not in line]
    return sorted(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in wanted)


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
