"""UTF-16 units, in which browsers count, to code points and back."""

from __future__ import annotations

__all__ = ["code_points", "code_units"]


def code_points(text: str, start: int, end: int) -> tuple[int, int]:
    """Half-open code points of half-open UTF-16 units; a character that is cut in two is taken whole.

    >>> code_points("a😀b", 1, 2)
    (1, 2)
    """
    units = _units(text)
    if len(units) == 2 * len(text):
        return start, end
    first = len(units[: 2 * start].decode("utf-16-le", "ignore"))  # half a character is none
    last = len(units[: 2 * end].decode("utf-16-le", "replace")) if end > start else first
    return first, last


def code_units(text: str, point: int) -> int:
    """UTF-16 units before a code point.

    >>> code_units("a😀b", 2)
    3
    """
    return len(_units(text[: max(point, 0)])) // 2


def _units(text: str) -> bytes:
    """Two bytes a unit."""
    return text.encode("utf-16-le", "surrogatepass")
