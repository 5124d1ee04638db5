"""Which pairs of translations are compared: all systems and sources alike, weak systems more rarely.

FiRE, section 3.2 and appendix J: all pairs of systems of each source, those of one text left out, drawn
evenly; pairs of a system that is much weaker than the others are thinned, for they are easy and would be too
many.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge
from pydantic import BeforeValidator

from adjudge.analysis.pair_schedules import ListedPair, Pair, Place
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import Option, settings, takes
from adjudge.errors import UsageError

__all__ = ["PairSample", "draw_pairs"]


@dataclass(frozen=True, kw_only=True)
class Composition:
    """What became of the pairs of two systems in one language pair.

    Args:
        lp: language pair.
        systems: the two.
        there: sources that both translated.
        identical: of these, with one and the same text.
        drawn: pairs that were drawn.
    """

    lp: str
    systems: Pair
    there: int
    identical: int
    drawn: int


@dataclass(frozen=True, kw_only=True)
class PairSample:
    """Pairs that were drawn, in test-set order.

    Args:
        pairs: all of them.
        compositions: by language pair and systems.
        sources: sources by the number of their pairs, by language pair.
    """

    pairs: tuple[ListedPair, ...]
    compositions: tuple[Composition, ...]
    sources: Mapping[str, Mapping[int, int]]


def _read_factors(value: object) -> object:
    """Read `SYSTEM=3` of the command line; a mapping is left to the check of its type."""
    if isinstance(value, Mapping):
        return value
    found = {}
    for text in value if isinstance(value, list | tuple) else [value]:
        name, equals, factor = str(text).rpartition("=")
        try:
            found[name] = float(factor if equals else "")
        except ValueError:
            raise ValueError("like SYSTEM=3") from None
    return found


@settings
class DrawSettings:
    """Which pairs are drawn."""

    pairs: Annotated[int | None, Ge(1), Option(help="Draw so many of each language pair; else all.")] = None
    thin: Annotated[
        Mapping[str, float] | None,
        BeforeValidator(lambda it: None if it is None else _read_factors(it)),
        Option(
            help="Draw pairs of a weak system more rarely by a factor; repeat.",
            metavar="SYSTEM=FACTOR",
            repeats=True,
        ),
    ] = None
    seed: Annotated[int, Option(help="Seed of the draws.")] = 0


@takes(DrawSettings)
def draw_pairs(test_set: TestSet, settings: DrawSettings) -> PairSample:
    """Draw pairs of each language pair, as even as they can be over systems first, then over sources.

    Two texts are one where they are equal but for white space. Of pairs with a thinned system, 1 of
    `factor` may be drawn, and they come up as much more rarely. The next pair is always of the two systems
    that have the fewest for their weight, and of the source that has the fewest; among equals it is drawn.

    Args:
        test_set: with two systems at least.
        settings: how many, and which more rarely.

    Raises:
        UsageError: fewer than one pair, an unknown system, a factor below 1, or nothing to compare.
    """
    thin = settings.thin or {}
    _check(test_set, thin)
    chosen: list[ListedPair] = []
    compositions: list[Composition] = []
    sources: dict[str, dict[int, int]] = {}
    for lp in test_set.lps:
        board = _Board([s for s in test_set if s.lp == lp], thin, f"{settings.seed}/{lp}")
        board.draw(settings.pairs)
        chosen += board.listed()
        compositions += board.compositions(lp)
        sources[lp] = board.spread()
    if not chosen:
        raise UsageError(f"{test_set.name!r} has no two translations of a source that differ")
    return PairSample(pairs=tuple(chosen), compositions=tuple(compositions), sources=sources)


def _check(test_set: TestSet, thin: Mapping[str, float]) -> None:
    for name, factor in thin.items():
        if name not in test_set.systems:
            raise UsageError(
                f"--thin: {test_set.name!r} has no system {name!r}; it has {', '.join(test_set.systems)}"
            )
        if not 1 <= factor < math.inf:
            raise UsageError(f"--thin {name}: a factor must be 1 or more, got {factor:g}")


@dataclass
class _Deck:
    """The pairs of two systems.

    Args:
        open: places of sources that may still be drawn, in an order that is drawn.
        limit: how many may be drawn.
        weight: how often they come up, beside other decks.
        there: sources that both translated.
    """

    open: np.ndarray[tuple[int], np.dtype[np.int64]]
    limit: int
    weight: float
    there: int
    identical: int
    drawn: list[int] = field(default_factory=list)

    @property
    def need(self) -> float:
        """How far this deck is, for its weight; the lowest one is next."""
        return (len(self.drawn) + 0.5) / self.weight


class _Board:
    """One language pair: its sources, and a deck for every two systems."""

    def __init__(self, segments: Sequence[Segment], thin: Mapping[str, float], seed: str) -> None:
        systems = tuple(dict.fromkeys(name for s in segments for name in s.translations))
        pairs = Place(segments[0].lp, "", systems).pairs
        self._segments = segments
        self._draws = random.Random(seed)
        self._decks = {pair: _deck(segments, pair, thin, self._draws) for pair in pairs}
        self._counts = np.zeros(len(segments), dtype=np.int64)

    def draw(self, number: int | None) -> None:
        """Draw so many pairs, or all that may be drawn.

        The next pair is always of a deck that is least far, and of the source with the fewest pairs so far.
        """
        left = sum(deck.limit for deck in self._decks.values())
        for _ in range(left if number is None else min(number, left)):
            open_ = [deck for deck in self._decks.values() if len(deck.drawn) < deck.limit]
            least = min(deck.need for deck in open_)
            deck = self._draws.choice([deck for deck in open_ if deck.need <= least + 1e-12])
            place = int(self._counts[deck.open].argmin())  # among equals the first of the drawn order
            source = int(deck.open[place])
            deck.open = np.delete(deck.open, place)
            deck.drawn.append(source)
            self._counts[source] += 1

    def listed(self) -> list[ListedPair]:
        """What was drawn, in test-set order."""
        drawn = sorted(
            (source, row) for row, deck in enumerate(self._decks.values()) for source in deck.drawn
        )
        pairs = list(self._decks)
        return [
            ListedPair(lp=s.lp, segment=s.segment, document=s.document, systems=pairs[row])
            for source, row in drawn
            for s in [self._segments[source]]
        ]

    def compositions(self, lp: str) -> list[Composition]:
        """What became of each two systems."""
        return [
            Composition(
                lp=lp, systems=pair, there=deck.there, identical=deck.identical, drawn=len(deck.drawn)
            )
            for pair, deck in self._decks.items()
        ]

    def spread(self) -> dict[int, int]:
        """Number of pairs to the sources that have so many."""
        numbers, sources = np.unique(self._counts, return_counts=True)
        return dict(zip(numbers.tolist(), sources.tolist(), strict=True))


def _deck(segments: Sequence[Segment], pair: Pair, thin: Mapping[str, float], draws: random.Random) -> _Deck:
    there = [place for place, s in enumerate(segments) if all(map(s.has_translation, pair))]
    differ = [
        place
        for place in there
        if len({" ".join(segments[place].translations[name].split()) for name in pair}) == 2
    ]
    draws.shuffle(differ)
    weight = 1 / math.prod(thin.get(name, 1.0) for name in pair)
    return _Deck(
        open=np.array(differ, dtype=np.int64),
        limit=round(len(differ) * weight),
        weight=weight,
        there=len(there),
        identical=len(there) - len(differ),
    )
