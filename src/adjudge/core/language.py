"""Languages and language pairs in whatever spelling a user has."""

from __future__ import annotations

import re

from adjudge.errors import UsageError

__all__ = ["canonical_lp"]


def canonical_lp(text: str) -> str:
    """Canonical form of a language pair, such as `en-de`.

    Raises:
        UsageError: it names no two languages.
    """
    if not re.fullmatch(r"[a-z]{2,3}(_[A-Za-z]{2,4})*-[a-z]{2,3}(_[A-Za-z]{2,4})*", text):
        raise UsageError(f"a language pair looks like 'en-de', got {text!r}")
    return text
