"""What all rankings of a page show together, in its largest sentence.

Annotators are compared on what both of them judged, and a ranking that could not be made shows nothing. A
system is said to be best where the tests of its pairs show it better than every other one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from adjudge.core.wording import count
from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.findings import LOOSE, finding, in_words, is_loose, leader

__all__ = ["headline"]

_MOST_ANNOTATORS: Final = 3
_MOST_SYSTEMS: Final = 3

Place = tuple[str, str]
"""Language pair and annotator."""


def headline(rankings: Mapping[Place, Sequence[RankedSystem]], gold: Collection[str] = ()) -> str:
    """State what all rankings show together; annotators are compared on systems that both of them judged.

    Args:
        rankings: language pair and annotator to rows, best first.
        gold: the annotators among them that the others are measured by.
    """
    judged = {key: rows for key, rows in rankings.items() if any(row.score is not None for row in rows)}
    if len(rankings) == 1 or not judged:
        return finding(next(iter(rankings.values()), ()))
    told = {key: rows for key, rows in judged.items() if not is_loose(rows)}
    if not told:
        return LOOSE
    systems = sorted({name for rows in told.values() for name in _judged(rows)})
    lps = dict.fromkeys(lp for lp, _ in told)
    pairs = f"all {len(lps)} language pairs" if len(lps) > 2 else "both language pairs"
    if len(systems) == 1:
        return f"Only {systems[0]} was judged" + (f", in {pairs}" if len(lps) > 1 else "")
    common = {lp: _common(rows for (other, _), rows in told.items() if other == lp) for lp in lps}
    is_whole = all(_judged(rows) == common[lp] for (lp, _), rows in told.items())
    leading = {(lp, who): leader(rows, common[lp]) for (lp, who), rows in told.items()}
    agreed = is_whole and len(set(leading.values())) == 1
    partly = _partly(judged, gold) + _left(len(judged) - len(told))
    if not agreed and (words := _beside_gold(told, gold, pairs)):
        return words + partly
    if any(len(names) < 2 for names in common.values()) and not is_whole:
        return "The annotators did not judge the same systems"
    words = (_agreement(leading, pairs) or _disagreement(leading)) + partly
    return words if is_whole else f"{_without(told, common)}: {words}"


def _partly(judged: Mapping[Place, object], gold: Collection[str]) -> str:
    """Say who judged some of the language pairs only, so that nobody is taken to have shown it in all."""
    lps = dict.fromkeys(lp for lp, _ in judged)
    found: dict[tuple[str, ...], list[str]] = {}
    for who in dict.fromkeys(annotator for _, annotator in judged if annotator not in gold):
        found.setdefault(tuple(lp for lp in lps if (lp, who) in judged), []).append(who)
    return "".join(
        f"; {_who(names)} judged {in_words(own)} only" for own, names in found.items() if len(own) < len(lps)
    )


def _left(amount: int) -> str:
    """Say how many rankings show nothing, for want of segments that all of their systems have."""
    words = f"; {count(amount, 'more ranking')} {'lacks' if amount == 1 else 'lack'} common segments"
    return words if amount else ""


def _who(names: Sequence[str]) -> str:
    """Name annotators; many are counted."""
    return in_words(names) if len(names) <= _MOST_ANNOTATORS else f"{len(names)} annotators"


def _without(told: Mapping[Place, Sequence[RankedSystem]], common: Mapping[str, set[str]]) -> str:
    """Name the systems that are in none of it, for some annotator did not judge them."""
    left = dict.fromkeys(
        row.system
        for (lp, _), rows in told.items()
        for row in rows
        if row.score is not None and row.system not in common[lp]
    )
    return f"Without {in_words([*left], _MOST_SYSTEMS)}, which not every annotator judged"


def _judged(rows: Sequence[RankedSystem]) -> set[str]:
    return {row.system for row in rows if row.score is not None}


def _common(rankings: Iterable[Sequence[RankedSystem]]) -> set[str]:
    """Systems that every one of these rankings has."""
    return set.intersection(*map(_judged, rankings))


def _agreement(leading: Mapping[Place, str | None], pairs: str) -> str | None:
    """Say what all rankings have in common: their best system, or that they have none."""
    if len(set(leading.values())) > 1:
        return None
    (name,) = set(leading.values())
    several = len({lp for lp, _ in leading}) > 1
    if name is None:
        where = ", in any language pair" if several else ""
        return f"No system is significantly better than every other one{where}"
    annotators = len({annotator for _, annotator in leading})
    agreed = f"{'All' if annotators > 2 else 'Both'} annotators agree: " if annotators > 1 else ""
    return f"{agreed}{name} is significantly better than every other system" + (
        f" in {pairs}" if several else ""
    )


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
    parts = [f"By gold, {name} is significantly better than every other system{where}"]
    if agreed or astray:
        parts.append(_shown(agreed, [a for a in astray if a not in contrary], contrary))
    if silent:
        parts.append(f"{_who(silent)} did not rank {name}")
    return "; ".join(parts)


def _ranks(rows: Sequence[RankedSystem], name: str, systems: Collection[str]) -> bool:
    """Whether a ranking has a system beside another one of these."""
    both = _judged(rows).intersection(systems)
    return name in both and len(both) > 1


def _denies(rows: Sequence[RankedSystem], name: str, systems: Collection[str]) -> bool:
    """Whether a ranking shows another system to be significantly better than this one."""
    return any(name in row.better_than for row in rows if row.system in systems)


def _shown(agreed: Sequence[str], unsure: Sequence[str], contrary: Sequence[str]) -> str:
    """Who shows what gold shows, who does not tell, and who finds the opposite."""
    parts = []
    if agreed:
        parts.append(f"{_who(agreed)} {'shows' if len(agreed) == 1 else 'show'} it too")
    if unsure:
        does = "does not" if len(unsure) == 1 else "do not"
        parts.append(f"{_who(unsure)} {does}" + ("" if agreed else " show it"))
    if contrary:
        parts.append(f"{_who(contrary)} {'contradicts' if len(contrary) == 1 else 'contradict'} it")
    return ", ".join(parts)


def _disagreement(leading: Mapping[Place, str | None]) -> str:
    """Say whether it is the annotators or the language pairs that differ."""
    by_lp: dict[str, set[str | None]] = {}
    for (lp, _), name in leading.items():
        by_lp.setdefault(lp, set()).add(name)
    if any(len(names - {None}) > 1 for names in by_lp.values()):
        return "The annotators do not agree on which system is best"
    named = {name for name in leading.values() if name is not None}
    if len(named) == 1:
        (name,) = named
        wins = sum(first is not None for first in leading.values())
        rest = "the other one" if len(leading) - wins == 1 else "the others"
        return (
            f"{name} is significantly better than every other system in {wins} of {len(leading)} rankings; "
            f"in {rest} no system is"
        )
    return "Which system is best depends on the language pair"
