"""Reads policy.toml, strictly: a misspelt rule would be none."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from release.programs import ROOT, ReleaseError

__all__ = ["Excepted", "Policy", "read_policy"]


class Excepted(NamedTuple):
    """A distribution that may be there under a licence that is not allowed.

    Args:
        licence: what it says of itself; with another one it is no exception any more.
        reason: why.
    """

    licence: str
    reason: str


class Policy(NamedTuple):
    """What may be in an install.

    Args:
        allowed: SPDX identifiers.
        names: words of older metadata to SPDX identifiers.
        excepted: distribution to its exception.
        start_files: file of site-packages to the reason why Python may run it whenever it starts.
    """

    allowed: frozenset[str]
    names: dict[str, str]
    excepted: dict[str, Excepted]
    start_files: dict[str, str]


def read_policy(path: Path = ROOT / "release" / "policy.toml") -> Policy:
    """Read the file; every exception has a reason."""
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text())
        policy = Policy(
            allowed=frozenset(found["licences"]["allowed"]),
            names=found["licences"]["names"],
            excepted={n: Excepted(**e) for n, e in found["licences"]["exceptions"].items()},
            start_files=found["start_files"]["exceptions"],
        )
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ReleaseError(f"{path.name} cannot be read: {error!r}") from error
    reasons = [excepted.reason for excepted in policy.excepted.values()] + list(policy.start_files.values())
    if not all(reason.strip() for reason in reasons):
        raise ReleaseError(f"{path.name}: an exception wants a reason")
    return policy
