"""The licence of every installed distribution, held against the policy.

A distribution is taken at its word: what a wheel bundles is in its files, not in its metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from release.policy import Policy, read_policy
from release.programs import ReleaseError, output_of, program

__all__ = ["Distribution", "check_licences", "installed_in", "is_allowed", "licence_of", "refuse_licences"]

UNKNOWN = "UNKNOWN"
TOKEN = re.compile(r"\s*([()]|[\w.+-]+)")


class Distribution(NamedTuple):
    """What is installed.

    Args:
        name: as its metadata writes it.
        version: its version.
        licence: an SPDX expression, or words that the policy does not know.
    """

    name: str
    version: str
    licence: str


def check_licences(installed: Iterable[Distribution], out: Path) -> None:
    """Write the list, for who packages adjudge, and raise where it holds what is not allowed."""
    found = sorted(installed, key=lambda one: one.name.lower())
    out.write_text(json.dumps([one._asdict() for one in found], indent=1) + "\n")
    refuse_licences(found, read_policy())
    print(f"{out.name}: {len(found)} distributions, every licence allowed")


def installed_in(python: Path, policy: Policy) -> list[Distribution]:
    """Every distribution of an environment."""
    listed = output_of(
        *(program("pip-licenses"), "--python", python, "--from", "all", "--with-system", "--format", "json")
    )
    return [Distribution(row["Name"], row["Version"], licence_of(row, policy)) for row in json.loads(listed)]


def licence_of(row: dict[str, str], policy: Policy) -> str:
    """One expression of what stands in three fields of metadata.

    The expression of newer metadata holds alone. Of older metadata every classifier and the licence field
    hold, unless the field is a whole text beside a classifier.
    """
    if (expression := row["License-Expression"]) != UNKNOWN:
        return expression
    words = row["License-Classifier"].split("; ")
    field = row["License-Metadata"].strip()
    if "\n" not in field or words == [UNKNOWN]:
        words.append(field)
    known = dict.fromkeys(
        policy.names.get(word, word.partition("\n")[0]) for word in words if word != UNKNOWN
    )
    return " AND ".join(known) or UNKNOWN


def refuse_licences(installed: Iterable[Distribution], policy: Policy) -> None:
    """Raise where a licence is neither allowed nor excepted."""
    refused = [
        f"{one.name} {one.version}: {one.licence}"
        for one in installed
        if not is_allowed(one.licence, policy.allowed)
        and (one.name not in policy.excepted or policy.excepted[one.name].licence != one.licence)
    ]
    if refused:
        raise ReleaseError(
            f"licences that release/policy.toml does not allow: {'; '.join(refused)}. Drop what needs them, "
            "or name an exception with its reason"
        )


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether a licence that may be chosen is allowed; what is no SPDX expression is not.

    `WITH` only gives rights: it is allowed where the licence before it is.
    """
    tokens = TOKEN.findall(expression)
    if "".join(tokens) != re.sub(r"\s", "", expression):
        return False
    try:
        is_good = _any_of(tokens, allowed)
    except IndexError:
        return False
    return is_good and not tokens


def _any_of(tokens: list[str], allowed: frozenset[str]) -> bool:
    return _joined(tokens, "OR", any, lambda: _all_of(tokens, allowed))


def _all_of(tokens: list[str], allowed: frozenset[str]) -> bool:
    return _joined(tokens, "AND", all, lambda: _one(tokens, allowed))


def _joined(
    tokens: list[str], word: str, join: Callable[[list[bool]], bool], part: Callable[[], bool]
) -> bool:
    parts = [part()]
    while tokens[:1] == [word]:
        tokens.pop(0)
        parts.append(part())
    return join(parts)


def _one(tokens: list[str], allowed: frozenset[str]) -> bool:
    first = tokens.pop(0)
    if first == "(":
        is_good = _any_of(tokens, allowed)
        return tokens.pop(0) == ")" and is_good
    if tokens[:1] == ["WITH"]:
        del tokens[:1]
        tokens.pop(0)
    return first in allowed
