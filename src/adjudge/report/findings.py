"""What a ranking says, in a sentence that a reader takes away.

Every sentence rests on the tests of pairs of systems, never on clusters: those chain, so that systems of one
cluster may differ with any p-value. That a test finds no difference does not make two systems equal either.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from adjudge.core.wording import count
from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.numbers import digits_for, number

__all__ = ["LOOSE", "finding", "in_words", "is_loose", "leader", "unbeaten"]

_MOST_NAMES: Final = 4
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
    return _pairs(judged) + _unjudged(rows)


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


def _pairs(judged: Sequence[RankedSystem]) -> str:
    """State what the tests of two systems or more show."""
    names = [row.system for row in judged]
    pairs = len(names) * (len(names) - 1) // 2
    found = sum(len(row.better_than) for row in judged)
    first, last = judged[0], judged[-1]
    if not found:
        which = f"any two of the {len(names)} systems" if len(names) > _MOST_NAMES else in_words(names)
        return f"No significant difference between {which}"
    if len(names) == 2:
        return f"{names[0]} is significantly better than {names[1]}"
    if found == pairs:
        order = f"{names[0]} is best, then {in_words(names[1:])}" if len(names) <= _MOST_NAMES else ""
        return f"All {pairs} pairs differ significantly: {order or f'{names[0]} is best'}"
    others = len(names) - 1
    won = len(first.better_than)
    if won == others:
        among, left = pairs - others, found - others
        rest = f"{left} of the other {among} pairs {'differs' if left == 1 else 'differ'} significantly"
        if not left:
            which = in_words(names[1:]) if others < _MOST_NAMES else f"the {others} others"
            rest = f"no significant difference between {which}"
        return f"{first.system} is significantly better than every other system; {rest}"
    missed = in_words([name for name in names[1:] if name not in first.better_than])
    lead = f"{first.system} is significantly better than {won} of the {others} others, but not than {missed}"
    if not won:
        lead = "No system is significantly better than every other one"
    if last.best == len(names):
        lead += f"; {last.system} is significantly worse than every other one"
    return f"{lead}; {found} of {pairs} pairs differ significantly"


def _unjudged(rows: Sequence[RankedSystem]) -> str:
    names = [row.system for row in rows if row.score is None]
    return f"; nothing was judged for {in_words(names)}" if names else ""


def leader(rows: Sequence[RankedSystem], among: Collection[str] | None = None) -> str | None:
    """Name the system that is significantly better than every other one, if one is.

    Args:
        rows: a ranking.
        among: leaves the other systems out.
    """
    judged = {row.system for row in rows if row.score is not None and (among is None or row.system in among)}
    for row in rows:
        if len(judged) > 1 and row.system in judged and judged - {row.system} <= {*row.better_than}:
            return row.system
    return None


def unbeaten(rows: Sequence[RankedSystem]) -> list[str]:
    """Name the systems that no other one is significantly better than."""
    beaten = {name for row in rows for name in row.better_than}
    return [row.system for row in rows if row.best is not None and row.system not in beaten]
