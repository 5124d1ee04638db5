"""What a ranking says, in a sentence that a reader takes away.

Only what the clusters carry is said: within a cluster nobody leads, whatever the means are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Final

from adjudge.meta.ranking import RankedSystem
from adjudge.report.numbers import count, digits_for, number

__all__ = ["finding", "headline", "in_words", "leader"]

_MOST_NAMES: Final = 4
_MOST_GROUPS: Final = 2


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
    if any(row.cluster is None for row in judged):
        return "The systems were not judged on the same segments and cannot be ranked"
    groups = [[row.system for row in group] for _, group in groupby(judged, key=lambda row: row.cluster)]
    return _order(groups) + _unjudged(rows)


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


def leader(rows: Sequence[RankedSystem]) -> str | None:
    """Name the system that leads alone, if one does."""
    first = [row.system for row in rows if row.score is not None and row.cluster == 1]
    judged = sum(row.score is not None for row in rows)
    return first[0] if len(first) == 1 and judged > 1 else None


def headline(rankings: Mapping[tuple[str, str], Sequence[RankedSystem]], gold: Collection[str] = ()) -> str:
    """State what all rankings show together.

    Args:
        rankings: language pair and annotator to rows, best first.
        gold: the annotators among them that the others are measured by.
    """
    told = {key: rows for key, rows in rankings.items() if any(row.score is not None for row in rows)}
    if len(rankings) == 1 or not told:
        return finding(next(iter(rankings.values()), ()))
    systems = sorted({row.system for rows in told.values() for row in rows if row.score is not None})
    lps, annotators = {lp for lp, _ in told}, {annotator for _, annotator in told}
    pairs = f"all {len(lps)} language pairs" if len(lps) > 2 else "both language pairs"
    if len(systems) == 1:
        return f"Only {systems[0]} was judged" + (f", in {pairs}" if len(lps) > 1 else "")
    leaders = {key: leader(rows) for key, rows in told.items()}
    if len(set(leaders.values())) > 1:
        where = f" in {pairs}" if len(lps) > 1 else ""
        return _beside_gold(leaders, gold, where) or _disagreement(leaders)
    (name,) = set(leaders.values())
    if name is None:
        return "No system leads alone" + (" in any language pair" if len(lps) > 1 else "")
    agreed = f"{'All' if len(annotators) > 2 else 'Both'} annotators agree: " if len(annotators) > 1 else ""
    return f"{agreed}{name} leads" + (f" in {pairs}" if len(lps) > 1 else "")


def _beside_gold(
    leaders: Mapping[tuple[str, str], str | None], gold: Collection[str], where: str
) -> str | None:
    """Say who shows what gold shows, if gold has one leader; else None."""
    by_gold = {name for (_, annotator), name in leaders.items() if annotator in gold}
    if len(by_gold) != 1 or None in by_gold:
        return None
    others = list(dict.fromkeys(annotator for _, annotator in leaders if annotator not in gold))
    astray = [a for a in others if any(n not in by_gold for (_, by), n in leaders.items() if by == a)]
    agreed = [a for a in others if a not in astray]
    words = f"By gold, {by_gold.pop()} leads{where}; "
    if agreed:
        words += f"{in_words(agreed)} {'shows' if len(agreed) == 1 else 'show'} it too, "
    return f"{words}{in_words(astray)} {'does' if len(astray) == 1 else 'do'} not" + (
        "" if agreed else " show it"
    )


def _disagreement(leaders: Mapping[tuple[str, str], str | None]) -> str:
    """Say whether it is the annotators or the language pairs that differ."""
    by_lp: dict[str, set[str | None]] = {}
    for (lp, _), name in leaders.items():
        by_lp.setdefault(lp, set()).add(name)
    if any(len(names - {None}) > 1 for names in by_lp.values()):
        return "The annotators do not agree on which system leads"
    named = {name for name in leaders.values() if name is not None}
    if len(named) == 1:
        (name,) = named
        wins = sum(leading is not None for leading in leaders.values())
        rest = "the other one" if len(leaders) - wins == 1 else "the others"
        return f"{name} leads in {wins} of {len(leaders)} rankings; in {rest} no system leads alone"
    return "Which system leads depends on the language pair"
