"""Which sources a benchmark keeps: the hardest of each domain, with what was found in them."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from adjudge.core.segment import Segment, TestSet
from adjudge.curation.asking import Key
from adjudge.curation.difficulty import LOWEST, PLACE, Difficulty
from adjudge.curation.privacy import find_private
from adjudge.errors import UsageError

__all__ = ["Domain", "Flagged", "Keeping", "Kept", "keep_hardest", "quotas"]

Flagged = Literal["mark", "drop"]
"""What becomes of a source that is personal or offensive: said in its `meta`, or not kept."""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """How many sources are kept.

    Args:
        top: so many of all; None for all, or for `share`.
        share: of those that were rated, above 0 and at most 1.
        least: none that is easier than this.
        by_domain: take from each domain in proportion to what was rated there.
        flagged: what becomes of a source that is personal or offensive.
        seed: which of several equally hard ones are kept at the bound.

    Raises:
        UsageError: both numbers, or one out of its range.
    """

    top: int | None = None
    share: float | None = None
    least: int = LOWEST
    by_domain: bool = True
    flagged: Flagged = "mark"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what contradicts."""
        if self.top is not None and self.share is not None:
            raise UsageError("--top and --share: choose one of them")
        if self.top is not None and self.top < 1:
            raise UsageError(f"--top must be 1 or more, got {self.top}")
        if self.share is not None and not 0 < self.share <= 1:
            raise UsageError(f"--share must be above 0 and at most 1, got {self.share:g}")

    def wanted(self, rated: int) -> int:
        """How many of so many rated sources."""
        if self.share is not None:
            return math.ceil(self.share * rated - 1e-9)
        return rated if self.top is None else min(self.top, rated)


@dataclass(frozen=True, kw_only=True)
class Domain:
    """What became of the sources of one domain of one language pair.

    Args:
        lp: language pair.
        name: of the domain; empty for sources without one, or where domains do not matter.
        sources: all.
        rated: those with a difficulty.
        failed: those whose difficulty was asked for and not obtained; never kept.
        personal: those that identify a person, by a rule or by the model.
        offensive: those that the model warns of.
        kept: in the benchmark.
        mean: of the difficulties; None without any.
        easiest: difficulty of the easiest source that was kept.
    """

    lp: str
    name: str
    sources: int
    rated: int
    failed: int
    personal: int
    offensive: int
    kept: int
    mean: float | None
    easiest: int | None


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A benchmark's sources.

    Args:
        test_set: in their order; `meta` says under `difficulty` what the model said and what was found.
        domains: what became of all.
    """

    test_set: TestSet
    domains: tuple[Domain, ...]


@dataclass(frozen=True, kw_only=True)
class _Source:
    segment: Segment
    difficulty: Difficulty | None

    @cached_property
    def private(self) -> tuple[str, ...]:
        kinds = dict.fromkeys(place.kind for place in find_private(self.segment.source))
        return tuple(kinds)

    @property
    def is_personal(self) -> bool:
        return bool(self.private) or (self.difficulty is not None and self.difficulty.personal)

    @property
    def is_offensive(self) -> bool:
        return self.difficulty is not None and self.difficulty.offensive

    def marked(self) -> Segment:
        if self.difficulty is None:
            return self.segment
        said: dict[str, object] = {"score": self.difficulty.score, "reasons": self.difficulty.reasons}
        found = {"personal": self.is_personal, "private": list(self.private), "offensive": self.is_offensive}
        return replace(
            self.segment,
            meta={**self.segment.meta, "difficulty": said | {k: v for k, v in found.items() if v}},
        )


def keep_hardest(test_set: TestSet, found: Mapping[Key, Difficulty], keeping: Keeping) -> Kept:
    """Keep the hardest sources of each language pair, and of each domain its share.

    Sources that failed are never kept, for they have no score. At the bound, which of several equally hard
    ones are kept is drawn.

    Raises:
        UsageError: nothing is left.
    """
    sources = [_Source(segment=s, difficulty=found.get(Key(s.lp, s.segment, PLACE))) for s in test_set]
    groups: dict[tuple[str, str], list[_Source]] = {}
    for source in sources:
        name = source.segment.domain if keeping.by_domain else ""
        groups.setdefault((source.segment.lp, name), []).append(source)
    kept: set[Key] = set()
    for lp in test_set.lps:
        kept |= _keep(lp, {name: group for (of, name), group in groups.items() if of == lp}, keeping)
    if not kept:
        raise UsageError("no source is kept: none was rated, or none is as hard as --least asks")
    chosen = tuple(source.marked() for source in sources if _key(source) in kept)
    domains = tuple(_count(lp, name, group, kept) for (lp, name), group in groups.items())
    return Kept(test_set=TestSet(name=test_set.name, segments=chosen), domains=domains)


def _keep(lp: str, groups: Mapping[str, Sequence[_Source]], keeping: Keeping) -> set[Key]:
    """The kept ones of one language pair."""
    fit = {name: [s for s in group if _fits(s, keeping)] for name, group in groups.items()}
    rated = {name: sum(s.difficulty is not None for s in group) for name, group in groups.items()}
    counts = quotas(rated, {n: len(g) for n, g in fit.items()}, keeping.wanted(sum(rated.values())))
    return {
        _key(source)
        for name, group in fit.items()
        for source in _hardest(group, counts[name], f"{keeping.seed}/{lp}/{name}")
    }


def _fits(source: _Source, keeping: Keeping) -> bool:
    if source.difficulty is None or source.difficulty.score < keeping.least:
        return False
    return keeping.flagged == "mark" or not (source.is_personal or source.is_offensive)


def _hardest(group: Iterable[_Source], count: int, seed: str) -> list[_Source]:
    drawn = list(group)
    random.Random(seed).shuffle(drawn)
    drawn.sort(key=lambda s: -(s.difficulty.score if s.difficulty else 0))
    return drawn[:count]


def quotas(sizes: Mapping[str, int], there: Mapping[str, int], wanted: int) -> dict[str, int]:
    """Share a number among groups in proportion to their sizes, none more than is there.

    Whole parts first, then one more for the largest remainders; what one group cannot fill goes to the
    others.

    Args:
        sizes: to which shares are proportional.
        there: how many each group has to give.
        wanted: in all.
    """
    found = dict.fromkeys(sizes, 0)
    open_ = {name for name in sizes if there[name]}
    while (left := wanted - sum(found.values())) > 0 and open_:
        total = sum(sizes[name] for name in open_)
        parts = {name: left * sizes[name] / total for name in sizes if name in open_}
        whole = {name: math.floor(part + 1e-9) for name, part in parts.items()}
        spare = left - sum(whole.values())
        for name in sorted(parts, key=lambda name: whole[name] - parts[name])[:spare]:
            whole[name] += 1
        for name, part in whole.items():
            found[name] = min(there[name], found[name] + part)
        open_ = {name for name in open_ if found[name] < there[name]}
    return found


def _key(source: _Source) -> Key:
    return Key(source.segment.lp, source.segment.segment, PLACE)


def _count(lp: str, name: str, group: Sequence[_Source], kept: Collection[Key]) -> Domain:
    scores = [s.difficulty.score for s in group if s.difficulty is not None]
    taken = [s.difficulty.score for s in group if s.difficulty is not None and _key(s) in kept]
    return Domain(
        lp=lp,
        name=name,
        sources=len(group),
        rated=len(scores),
        failed=len(group) - len(scores),
        personal=sum(source.is_personal for source in group),
        offensive=sum(source.is_offensive for source in group),
        kept=len(taken),
        mean=math.fsum(scores) / len(scores) if scores else None,
        easiest=min(taken, default=None),
    )
