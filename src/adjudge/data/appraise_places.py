r"""Places in a translation as Appraise counts them: UTF-16 units of what its page shows, inclusive ends.

The page shows the text without white space at its edges, and `<br>` as the end of a line, which is one unit.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from adjudge.data.units import code_points, code_units

__all__ = ["Place", "place_of", "units_of"]

_WHITE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What JavaScript takes for white space; Python takes U+001C to U+001F and U+0085, and no U+FEFF."""
_SHOWN: Final = re.compile(r"<br\s*/?>|.", re.DOTALL | re.IGNORECASE)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)


class Place(NamedTuple):
    """Half-open code points of a text, None where it has none; and what was odd: empty where nothing was.

    `span_clipped` where a part of a mark lies beyond what is shown, `span_bad_offsets` where all of it does.
    """

    start: int | None
    end: int | None
    odd: str = ""


def place_of(text: str, first: int, last: int) -> Place:
    """Where the units from the first to the last, both included, lie in a text."""
    shown, places = _shown(text)
    units = code_units(shown, len(shown))
    if not first <= last or first >= units:
        return Place(None, None, "span_bad_offsets")
    start, end = code_points(shown, first, min(last + 1, units))
    return Place(places[start][0], places[end - 1][1], "span_clipped" if last >= units else "")


def units_of(text: str, start: int, end: int) -> tuple[int, int] | None:
    """First and last unit of half-open code points; None where nothing of them is shown."""
    shown, places = _shown(text)
    first = bisect_right(places, start, key=itemgetter(1))
    after = bisect_left(places, end, key=itemgetter(0))
    return None if first >= after else (code_units(shown, first), code_units(shown, after) - 1)


@lru_cache(maxsize=16)  # the marks of a text come one after the other
def _shown(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """What is shown of a text, and where each of its characters begins and ends in it."""
    start = len(text) - len(text.lstrip(_WHITE))
    end = max(start, len(text.rstrip(_WHITE)))
    places = tuple(found.span() for found in _SHOWN.finditer(text, start, end))
    return _BREAK.sub("\n", text[start:end]), places
