"""What a ranking says, in a sentence that a reader takes away.

Only what the clusters carry is said: within a cluster nobody leads, whatever the means are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Final

from adjudge.core.wording import count
from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.numbers import digits_for, number

__all__ = ["LOOSE", "finding", "in_words", "is_loose", "leader", "leaders"]

_MOST_NAMES: Final = 4
_MOST_GROUPS: Final = 2
LOOSE: Final = "The systems were not judged on the same segments and cannot be ranked"


def in_words(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Join names as a sentence does; more than `most` are counted."""
    if len(names) > most:
        names = [*names[: most - 1], count(len(names) - most + 1, "other")]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def finding(rows: Sequence[RankedSystem]) -> str:
    """State what one ranking shows. Rows are in order, best first."""
    judged = [row for row in rows if row.score is not None]
    if not judged:
        failed = sum(row.failed for row in rows)
        why = f": {_all_failed(failed)} failed" if failed else ""
        return f"Nothing was judged{why}"
    if len(judged) == 1:
        return _only(judged[0]) + _unjudged(rows)
    if is_loose(rows):
        return LOOSE
    groups = [[row.system for row in group] for _, group in groupby(judged, key=lambda row: row.cluster)]
    return _order(groups) + _unjudged(rows)


def is_loose(rows: Sequence[RankedSystem]) -> bool:
    """Whether systems were judged and cannot be ranked."""
    judged = [row for row in rows if row.score is not None]
    return len(judged) > 1 and any(row.cluster is None for row in judged)


def _all_failed(failed: int) -> str:
    return "the one judgement" if failed == 1 else f"all {failed:,} judgements"


def _only(row: RankedSystem) -> str:
    digits = digits_for([row.score], [row.interval])
    around = ""
    if row.interval is not None:
        around = f" ({number(row.interval.low, digits)} to {number(row.interval.high, digits)})"
    return f"{row.system} scores {number(row.score, digits)}{around} on {count(row.n, 'segment')}"


def _order(groups: list[list[str]]) -> str:
    first, *others = groups
    if not others:
        if len(first) > _MOST_NAMES:
            return f"None of the {len(first)} systems can be told apart"
        return f"{in_words(first)} cannot be told apart"
    lead = f"{first[0]} leads" if len(first) == 1 else f"{in_words(first)} lead and cannot be told apart"
    if len(groups) > 2 and all(len(group) == 1 for group in groups):
        names = [group[0] for group in others]
        return f"{lead}, then {in_words(names)}, each told apart from the next"
    parts = [lead]
    for group in others[:_MOST_GROUPS]:
        if len(group) > 1:
            nor = "apart" in parts[-1]
            parts.append(f"nor can {in_words(group)}" if nor else f"{in_words(group)} cannot be told apart")
        else:
            parts.append(f"{group[0]} {'is last' if group is others[-1] else 'follows'}")
    if left := sum(map(len, others[_MOST_GROUPS:])):
        parts.append(f"{count(left, 'other')} {'comes' if left == 1 else 'come'} after")
    return "; ".join(parts)


def _unjudged(rows: Sequence[RankedSystem]) -> str:
    names = [row.system for row in rows if row.score is None]
    return f"; nothing was judged for {in_words(names)}" if names else ""


def leader(rows: Sequence[RankedSystem], among: Collection[str] | None = None) -> str | None:
    """Name the system that leads alone, if one does; `among` leaves the other systems out."""
    judged = [row for row in rows if row.score is not None and (among is None or row.system in among)]
    first = leaders(judged)
    return first[0] if len(first) == 1 and len(judged) > 1 else None


def leaders(judged: Sequence[RankedSystem]) -> list[str]:
    """The systems that no other one is told apart from as better; none without clusters."""
    best = min((row.cluster for row in judged if row.cluster is not None), default=None)
    return [row.system for row in judged if best is not None and row.cluster == best]
