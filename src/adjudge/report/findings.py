"""What a ranking says, in a sentence that a reader takes away.

Only what the clusters carry is said: within a cluster nobody leads, whatever the means are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.numbers import count, digits_for, number

__all__ = ["finding", "headline", "in_words", "leader"]

Place = tuple[str, str]
"""Language pair and annotator."""

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


def leader(rows: Sequence[RankedSystem], among: Collection[str] | None = None) -> str | None:
    """Name the system that leads alone, if one does; `among` leaves the other systems out."""
    judged = [row for row in rows if row.score is not None and (among is None or row.system in among)]
    first = _first(judged)
    return first[0] if len(first) == 1 and len(judged) > 1 else None


def _first(judged: Sequence[RankedSystem]) -> list[str]:
    """The systems that no other one is told apart from as better; none without clusters."""
    best = min((row.cluster for row in judged if row.cluster is not None), default=None)
    return [row.system for row in judged if best is not None and row.cluster == best]


def headline(rankings: Mapping[Place, Sequence[RankedSystem]], gold: Collection[str] = ()) -> str:
    """State what all rankings show together; annotators are compared on systems that both of them judged.

    Args:
        rankings: language pair and annotator to rows, best first.
        gold: the annotators among them that the others are measured by.
    """
    told = {key: rows for key, rows in rankings.items() if any(row.score is not None for row in rows)}
    if len(rankings) == 1 or not told:
        return finding(next(iter(rankings.values()), ()))
    systems = sorted({name for rows in told.values() for name in _judged(rows)})
    lps = dict.fromkeys(lp for lp, _ in told)
    pairs = f"all {len(lps)} language pairs" if len(lps) > 2 else "both language pairs"
    if len(systems) == 1:
        return f"Only {systems[0]} was judged" + (f", in {pairs}" if len(lps) > 1 else "")
    common = {lp: _common(rows for (other, _), rows in told.items() if other == lp) for lp in lps}
    is_whole = all(_judged(rows) == common[lp] for (lp, _), rows in told.items())
    leaders = {(lp, who): leader(rows, common[lp]) for (lp, who), rows in told.items()}
    agreed = is_whole and len(set(leaders.values())) == 1
    partly = _partly(told, lps, gold)
    if not agreed and (words := _beside_gold(told, gold, pairs)):
        return words + partly
    if any(len(names) < 2 for names in common.values()) and not is_whole:
        return "The annotators did not judge the same systems"
    words = (_agreement(leaders, pairs) or _disagreement(leaders)) + partly
    return words if is_whole else f"On the systems that every annotator judged: {words}"


def _partly(told: Mapping[Place, object], lps: Collection[str], gold: Collection[str]) -> str:
    """Say who judged some of the language pairs only, so that nobody is taken to have shown it in all."""
    found: dict[tuple[str, ...], list[str]] = {}
    for who in dict.fromkeys(annotator for _, annotator in told if annotator not in gold):
        found.setdefault(tuple(lp for lp in lps if (lp, who) in told), []).append(who)
    return "".join(
        f"; {in_words(names)} judged {in_words(own)} only"
        for own, names in found.items()
        if len(own) < len(lps)
    )


def _judged(rows: Sequence[RankedSystem]) -> set[str]:
    return {row.system for row in rows if row.score is not None}


def _common(rankings: Iterable[Sequence[RankedSystem]]) -> set[str]:
    """Systems that every one of these rankings has."""
    return set.intersection(*map(_judged, rankings))


def _agreement(leaders: Mapping[Place, str | None], pairs: str) -> str | None:
    """Say what all rankings have in common: their leader, or that they have none."""
    if len(set(leaders.values())) > 1:
        return None
    (name,) = set(leaders.values())
    several = len({lp for lp, _ in leaders}) > 1
    if name is None:
        return "No system leads alone" + (" in any language pair" if several else "")
    annotators = len({annotator for _, annotator in leaders})
    agreed = f"{'All' if annotators > 2 else 'Both'} annotators agree: " if annotators > 1 else ""
    return f"{agreed}{name} leads" + (f" in {pairs}" if several else "")


def _beside_gold(
    told: Mapping[Place, Sequence[RankedSystem]], gold: Collection[str], pairs: str
) -> str | None:
    """Say who shows what gold shows, if gold has one leader; else None.

    Who did not rank that leader beside another system of gold can neither show nor deny it.
    """
    by_gold = {leader(rows) for (_, annotator), rows in told.items() if annotator in gold}
    lps = list(dict.fromkeys(lp for lp, annotator in told if annotator in gold))
    if len(by_gold) != 1 or None in by_gold:
        return None
    name = by_gold.pop() or ""
    systems = {lp: _common(r for (other, a), r in told.items() if other == lp and a in gold) for lp in lps}
    others: dict[str, dict[str, Sequence[RankedSystem]]] = {}
    for (lp, annotator), rows in told.items():
        if annotator not in gold and lp in systems:
            others.setdefault(annotator, {})[lp] = rows
    if not others:
        return None
    silent = [
        a for a, own in others.items() if not all(_ranks(r, name, systems[lp]) for lp, r in own.items())
    ]
    astray = [
        annotator
        for annotator, own in others.items()
        if annotator not in silent and any(leader(rows, systems[lp]) != name for lp, rows in own.items())
    ]
    contrary = [a for a in astray if any(_denies(r, name, systems[lp]) for lp, r in others[a].items())]
    agreed = [annotator for annotator in others if annotator not in {*silent, *astray}]
    several = {lp for lp, _ in told}
    where = "" if len(several) == 1 else f" in {pairs if len(lps) == len(several) else in_words(lps)}"
    parts = [f"By gold, {name} leads{where}"]
    if agreed or astray:
        parts.append(_shown(agreed, [a for a in astray if a not in contrary], contrary))
    if silent:
        parts.append(f"{in_words(silent)} did not rank {name}")
    return "; ".join(parts)


def _ranks(rows: Sequence[RankedSystem], name: str, systems: Collection[str]) -> bool:
    """Whether a ranking has a system beside another one of these."""
    both = _judged(rows).intersection(systems)
    return name in both and len(both) > 1


def _denies(rows: Sequence[RankedSystem], name: str, systems: Collection[str]) -> bool:
    """Whether a ranking tells another system apart from this one as better."""
    first = _first([row for row in rows if row.score is not None and row.system in systems])
    return bool(first) and name not in first


def _shown(agreed: Sequence[str], unsure: Sequence[str], contrary: Sequence[str]) -> str:
    """Who shows what gold shows, who does not tell, and who finds the opposite."""
    parts = []
    if agreed:
        parts.append(f"{in_words(agreed)} {'shows' if len(agreed) == 1 else 'show'} it too")
    if unsure:
        does = "does not" if len(unsure) == 1 else "do not"
        parts.append(f"{in_words(unsure)} {does}" + ("" if agreed else " show it"))
    if contrary:
        parts.append(f"{in_words(contrary)} {'contradicts' if len(contrary) == 1 else 'contradict'} it")
    return ", ".join(parts)


def _disagreement(leaders: Mapping[Place, str | None]) -> str:
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
