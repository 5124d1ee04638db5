"""Which pairs of systems are compared where all pairs are too many: drawn by a schedule, or listed in a file.

Judging (`runs`) and the building of benchmarks (`curation`) draw pairs in one way. A list is JSON lines,
`{"lp", "document", "segment", "systems": [A, B]}`.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from adjudge.analysis.segment_scores import points
from adjudge.core.frozen import frozen
from adjudge.core.record import Preference
from adjudge.errors import UsageError
from adjudge.stats.bradley_terry import fit_bradley_terry
from adjudge.stats.judged import Floats
from adjudge.store.files import read_fields, read_json_lines, render_json_line, write_bytes

ScheduleKind = Literal["all", "sampled", "anchored", "adaptive", "listed"]
"""Every pair; some at random; every system with some others; the pairs whose order is least certain; those of
a list."""
Pair = tuple[str, str]

ROUND: Final = 8
"""Segments of which pairs are chosen at once, before anything of them is known."""

_PRIOR: Final = 1.0  # precision of a log strength of which nothing is known: a normal prior, deviation 1
_DIGITS: Final = 6  # so that rounding noise decides nothing


class Place(NamedTuple):
    """A segment with what can be compared there; `own` are the pairs of a test set of pairs."""

    lp: str
    segment: str
    systems: tuple[str, ...]
    own: tuple[Pair, ...] | None = None

    @property
    def pairs(self) -> list[Pair]:
        """Every two of its systems, in their order; of a test set of pairs, those of them that it lists."""
        if self.own is None:
            return list(combinations(self.systems, 2))
        return [pair for pair in self.own if {*pair} <= {*self.systems}]


@frozen
class Schedule:
    """How pairs are chosen."""

    kind: ScheduleKind = "all"
    # of a sample, pairs of each segment; of an adaptive schedule too, where None is half as many as there are
    # systems
    per_segment: int | None = None
    in_all: int | None = None  # of a sample, pairs of all segments together, in place of `per_segment`
    anchors: tuple[str, ...] = ()  # systems that the others are compared with
    seed: int = 0  # of the sample, and of pairs that are equally uncertain
    # pairs by language pair and segment, in whichever order of the two
    listed: Mapping[tuple[str, str], Collection[Pair]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(ScheduleKind):
            raise UsageError(f"--pairs must be one of {', '.join(get_args(ScheduleKind))}; got {self.kind!r}")
        used = {
            "--pairs-per-segment": (self.per_segment, self.kind in {"sampled", "adaptive"}),
            "--pairs-in-all": (self.in_all, self.kind == "sampled"),
            "--anchors": (self.anchors or None, self.kind == "anchored"),
            "--pairs-file": (self.listed or None, self.kind == "listed"),
        }
        for name, (value, is_used) in used.items():
            if value is not None and not is_used:
                raise UsageError(f"{name} has no effect with --pairs {self.kind}: leave it out")
            if isinstance(value, int) and value < 1:
                raise UsageError(f"{name} must be 1 or more, got {value}")
        if self.kind == "sampled" and (self.per_segment is None) == (self.in_all is None):
            raise UsageError("--pairs sampled needs --pairs-per-segment or --pairs-in-all, and not both")
        if self.kind == "anchored" and not self.anchors:
            raise UsageError("--pairs anchored needs --anchors")
        if self.kind == "listed" and not self.listed:
            raise UsageError("--pairs listed needs a --pairs-file with pairs in it, or a test set of pairs")

    def __str__(self) -> str:
        if self.kind == "anchored":
            return f"anchored,{','.join(self.anchors)}"
        if self.kind == "listed":
            lines = sorted(repr((*key, *sorted(pair))) for key, own in self.listed.items() for pair in own)
            digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
            return f"listed,{digest[:6]}"
        if self.in_all is not None:
            return f"sampled,{self.in_all} in all"
        return self.kind if self.per_segment is None else f"{self.kind},{self.per_segment} a segment"

    def count(self, places: Iterable[Place]) -> int:
        found = sum(self._count(place) for place in places)
        return found if self.in_all is None else min(found, self.in_all)

    def rounds(self, places: Sequence[Place], standings: Standings) -> Iterator[Iterable[list[Pair]]]:
        """Pairs of each place, in rounds; a round is chosen when it is asked for, by what is known then.

        `places`: in order.
        """
        if self.kind != "adaptive":
            yield self._fixed(places)
            return
        for start in range(0, len(places), ROUND):
            chosen = places[start : start + ROUND]
            yield standings.choose(chosen, [self._count(place) for place in chosen], self.seed)

    def _count(self, place: Place) -> int:
        every = len(place.pairs)
        if self.kind in {"anchored", "listed"}:
            return len(self._named(place))
        if self.kind == "adaptive" and self.per_segment is None:
            return min(every, max(1, len(place.systems) // 2))
        return every if self.per_segment is None else min(every, self.per_segment)

    def _fixed(self, places: Sequence[Place]) -> Iterator[list[Pair]]:
        if self.in_all is not None:
            yield from self._sampled(places, self.in_all)
            return
        for place in places:
            if self.kind in {"anchored", "listed"}:
                yield self._named(place)
            elif self.per_segment is None:
                yield place.pairs
            else:
                drawn = random.Random(f"{self.seed}/{place.lp}/{place.segment}")
                yield _in_order(drawn.sample(place.pairs, self._count(place)), place)

    def _named(self, place: Place) -> list[Pair]:
        if self.kind == "listed":
            wanted = {frozenset(pair) for pair in self.listed.get((place.lp, place.segment), ())}
            return [pair for pair in place.pairs if frozenset(pair) in wanted]
        return [pair for pair in place.pairs if not set(self.anchors).isdisjoint(pair)]

    def _sampled(self, places: Sequence[Place], wanted: int) -> Iterator[list[Pair]]:
        total = sum(self._count(place) for place in places)
        kept = set(random.Random(self.seed).sample(range(total), min(wanted, total)))
        number = 0
        for place in places:
            pairs = place.pairs
            yield [pair for offset, pair in enumerate(pairs) if number + offset in kept]
            number += len(pairs)


def _in_order(chosen: Iterable[Pair], place: Place) -> list[Pair]:
    kept = set(chosen)
    return [pair for pair in place.pairs if pair in kept]


class Standings:
    """What comparisons say so far, language pair by language pair; in which order they came is no matter."""

    def __init__(self) -> None:
        self._points: defaultdict[str, defaultdict[Pair, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, preference: Preference) -> None:
        """Count a comparison; one that is undecided says nothing."""
        if not preference.is_undecided:
            a, b = preference.systems
            earned = points(preference)
            self._points[preference.lp][a, b] += earned[0]
            self._points[preference.lp][b, a] += earned[1]

    def choose(self, places: Sequence[Place], counts: Sequence[int], seed: int) -> list[list[Pair]]:
        """The pairs of each place whose order is least certain; equally uncertain ones are drawn.

        d is the difference of two log strengths and s its standard deviation in a Bradley-Terry model with a
        standard normal prior (Laplace's approximation). Uncertainty is the expected loss of taking the one
        that looks better for the better one: s * (phi(d / s) - d / s * Phi(-d / s)). It falls with every
        comparison, so that two systems that are equal do not take all. What is chosen counts as compared for
        the choices after it, so that the places of a round do not all get the same pairs.
        """
        systems: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for place in places:
            systems[place.lp] |= dict.fromkeys(place.systems)
        boards = {lp: _Board(list(names), self._points[lp]) for lp, names in systems.items()}
        return [
            _in_order(boards[place.lp].choose(place, count, f"{seed}/{place.lp}/{place.segment}"), place)
            for place, count in zip(places, counts, strict=True)
        ]


class _Board:
    """Strengths of one language pair's systems, and how surely each difference is known."""

    def __init__(self, systems: Sequence[str], earned: defaultdict[Pair, float]) -> None:
        self._place = {name: place for place, name in enumerate(systems)}
        table = np.array([[earned[a, b] if a != b else 0.0 for b in systems] for a in systems])
        self._logs = fit_bradley_terry(table[None], _PRIOR).logs[0]
        chance = 1 / (1 + np.exp(self._logs[None, :] - self._logs[:, None]))
        self._weights = chance * (1 - chance)
        played = (table + table.T) * self._weights
        self._precision = np.diag(played.sum(axis=1) + _PRIOR) - played

    def choose(self, place: Place, count: int, seed: str) -> list[Pair]:
        free = place.pairs
        random.Random(seed).shuffle(free)
        chosen = []
        for _ in range(count):
            covariance = np.linalg.inv(self._precision)
            pair = max(free, key=lambda two: self._loss(covariance, *(self._place[name] for name in two)))
            free.remove(pair)
            chosen.append(pair)
            a, b = (self._place[name] for name in pair)
            weight = self._weights[a, b]  # counts a comparison whose outcome is not known yet
            self._precision[[a, b], [a, b]] += weight
            self._precision[[a, b], [b, a]] -= weight
        return chosen

    def _loss(self, covariance: Floats, a: int, b: int) -> float:
        """Expected strength lost where the one that looks better is taken for the better one."""
        deviation = math.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        lead = abs(float(self._logs[a] - self._logs[b])) / deviation
        density = math.exp(-(lead**2) / 2) / math.sqrt(2 * math.pi)
        return round(deviation * (density - lead * math.erfc(lead / math.sqrt(2)) / 2), _DIGITS)


_KEYS: Final = frozenset({"lp", "document", "segment", "systems"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPair:
    """Two translations of one source."""

    lp: str  # language pair
    segment: str
    document: str
    systems: tuple[str, str]


def read_pairs(path: Path) -> list[ListedPair]:
    """Read the pairs of a file, in its order."""
    found: dict[tuple[str, str, frozenset[str]], ListedPair] = {}
    for line, value in read_json_lines(path):
        fields = read_fields(value, _KEYS, "pair", path, line)
        systems = fields.values.get("systems")
        if not isinstance(systems, list) or len({name for name in systems if isinstance(name, str)}) != 2:
            fields.fail(f"'systems' must be two different names, got {systems!r}")
        lp = fields.lp("lp")
        first, second = systems
        pair = ListedPair(
            lp=lp,
            segment=fields.text("segment"),
            document=fields.text("document", ""),
            systems=(first, second),
        )
        if found.setdefault((lp, pair.segment, frozenset(systems)), pair) is not pair:
            fields.fail(f"{first} and {second} are compared twice on segment {pair.segment!r}")
    return list(found.values())


def write_pairs(path: Path, pairs: Iterable[ListedPair]) -> None:
    """Write one pair a line; the file appears whole or not at all."""
    told = (
        {name: getattr(pair, name) for name in ("lp", "document", "segment", "systems")} for pair in pairs
    )
    write_bytes(path, map(render_json_line, told))
