"""How many draws the intervals and tests of a page take."""

from __future__ import annotations

from typing import Final

__all__ = ["draws_for"]

_MANY: Final = 20_000


def draws_for(translations: int) -> int:
    """A thousand; two hundred where so many translations were judged that intervals are narrow anyway."""
    return 1000 if translations <= _MANY else 200
