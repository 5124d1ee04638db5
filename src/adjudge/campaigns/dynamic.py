"""Which systems the next judgement tells most of, by the answers so far.

`ties`: the systems whose mean cannot be told from most others' yet: the interval of the difference of two
means, d ± 1.96 sqrt(v1 / n1 + v2 / n2), holds 0, or one of them has fewer than two judgements.
`information`: the systems whose mean is known least, by its variance v / n. `disagreement`: whatever was
given a high priority when the campaign was made. Judgements are taken as independent, which makes intervals
too wide where systems were judged on the same segments; the analysis of a campaign pairs them.

What is known is kept in memory and grows by the tasks that were finished since, so that a choice costs the
same with a hundred tasks as with a hundred thousand.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, func, select

from adjudge.campaigns.database import Database
from adjudge.campaigns.schema import answer, assignment, task
from adjudge.campaigns.scores import score_of
from adjudge.campaigns.state import State, read_state, shown_order
from adjudge.data.submissions import FIRST
from adjudge.meta.ranking.comparisons import VERDICTS

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["Known", "Ranked", "Tally", "rank_systems"]

_Z: Final = 1.96
_OVERLAP: Final = 60.0  # seconds read again: transactions end in another order than they began
_COUNTED_EVERY: Final = 60.0  # seconds between counts of the open tasks


@dataclass(kw_only=True)
class Tally:
    """Judgements of one system, or of a pair.

    Args:
        count: how many.
        total: their sum.
        squares: sum of their squares.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: Iterable[float], sign: int = 1) -> None:
        """Add judgements, or with -1 take them back."""
        for value in values:
            self.count += sign
            self.total += sign * value
            self.squares += sign * value * value

    @property
    def mean(self) -> float:
        """Mean; 0 without judgements."""
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """Variance of the mean; infinite with fewer than two judgements."""
        if self.count < 2:
            return math.inf
        spread = max(0.0, self.squares - self.total * self.total / self.count)
        return spread / (self.count - 1) / self.count


@dataclass(kw_only=True)
class Ranked:
    """Systems of tasks as JSON, most telling first; empty where priorities alone decide."""

    systems: tuple[str, ...] = ()
    known: Known | None = None

    def note_exhausted(self, systems: str) -> None:
        """Leave systems without open tasks out until they are counted again."""
        if self.known is not None:
            self.known.open.pop(systems, None)


@dataclass(kw_only=True)
class Known:
    """What the answers of a campaign say so far.

    Args:
        tallies: systems of a task, as JSON, to their judgements.
        open: the same to how many of their tasks are open.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    _values: dict[int, tuple[str, list[float]]] = field(default_factory=dict)
    _read_until: float = -math.inf
    _counted_at: float = -math.inf

    def update(self, connection: Connection, campaign: Campaign, now: float) -> None:
        """Read what was finished since the last time."""
        is_new = (assignment.c.state == "done") & (assignment.c.done_at >= self._read_until - _OVERLAP)
        query = (
            select(assignment.c.id, assignment.c.seed, assignment.c.done_at, task.c.systems, answer)
            .join_from(assignment, task)
            .join(answer, answer.c.assignment_id == assignment.c.id)
            .where(is_new, task.c.campaign_id == campaign.id, task.c.kind.in_(FIRST))
        )
        found: dict[int, tuple[str, list[float]]] = {}
        for row in connection.execute(query):
            self._read_until = max(self._read_until, row.done_at)
            values = _values(campaign, read_state(row.state), row.seed, row.item_id)
            found.setdefault(row.id, (row.systems, []))[1].extend(values)
        for number, (systems, values) in found.items():
            self._replace(number, systems, values)
        if not 0 <= now - self._counted_at < _COUNTED_EVERY:
            self._count(connection, campaign)
            self._counted_at = now

    def _replace(self, number: int, systems: str, values: list[float]) -> None:
        tally = self.tallies.setdefault(systems, Tally())
        tally.add(self._values.get(number, ("", []))[1], sign=-1)
        tally.add(values)
        self._values[number] = (systems, values)

    def _count(self, connection: Connection, campaign: Campaign) -> None:
        is_open = (task.c.campaign_id == campaign.id) & task.c.is_closed.is_(False) & task.c.kind.in_(FIRST)
        query = select(task.c.systems, func.count()).where(is_open).group_by(task.c.systems)
        self.open = dict(connection.execute(query).all())

    def ranked(self, leased: Counter[str], value: Callable[[Known, str], float]) -> tuple[str, ...]:
        """Systems with open tasks, most telling first; of equals, those with the fewest judgements.

        Args:
            leased: tasks under way by their systems: what they tell is on its way.
            value: how much is to be learned.
        """
        per_task = len(self._values) and sum(tally.count for tally in self.tallies.values()) / len(
            self._values
        )

        def key(systems: str) -> tuple[float, float, str]:
            tally = self.tallies.get(systems, Tally())
            coming = leased[systems] * (per_task or 1)
            share = tally.count / (tally.count + coming) if tally.count else 1.0
            return -value(self, systems) * share, tally.count + coming, systems

        return tuple(sorted(self.open, key=key))


def tied_with(known: Known, systems: str) -> float:
    """With how many others a system is tied; of a pair, 1 where its two are."""
    tally = known.tallies.get(systems, Tally())
    if len(json.loads(systems)) == 2:
        return float(not abs(tally.mean) > _Z * math.sqrt(tally.variance))
    others = [other for other in known.open.keys() | known.tallies.keys() if other != systems]
    return float(sum(_is_tied(tally, known.tallies.get(other, Tally())) for other in others))


def _is_tied(one: Tally, other: Tally) -> bool:
    return abs(one.mean - other.mean) <= _Z * math.sqrt(one.variance + other.variance)


def uncertainty(known: Known, systems: str) -> float:
    """Variance of the mean."""
    return known.tallies.get(systems, Tally()).variance


_VALUES: Final = {"ties": tied_with, "information": uncertainty}
_GUARD: Final = Lock()
_KNOWN: Final[WeakKeyDictionary[Database, dict[int, Known]]] = WeakKeyDictionary()


def rank_systems(campaign: Campaign, now: float) -> Ranked:
    """Order the systems by how much the next judgement of them tells.

    Args:
        campaign: with a dynamic assignment.
        now: seconds since 1970.
    """
    value = _VALUES.get(campaign.settings.dynamic_by)
    if value is None or campaign.protocol.shows not in {"one", "pair"}:
        return Ranked()
    with _GUARD, campaign.database.reading() as connection:
        known = _KNOWN.setdefault(campaign.database, {}).setdefault(campaign.id, Known())
        known.update(connection, campaign, now)
        is_leased = (assignment.c.state == "leased") & (task.c.campaign_id == campaign.id)
        query = select(task.c.systems, func.count()).join_from(assignment, task).where(is_leased)
        leased: Counter[str] = Counter(dict(connection.execute(query.group_by(task.c.systems)).all()))
        return Ranked(systems=known.ranked(leased, value), known=known)


def _values(campaign: Campaign, state: State, seed: int, item: int) -> list[float]:
    """An answer as numbers: ratings, penalties, or 1 for the first of a pair and -1 for the second."""
    if campaign.protocol.criteria:
        sign = 1.0 if shown_order(seed, item, 2) == (0, 1) else -1.0
        points = [sign * VERDICTS[verdict] for verdict in state.verdicts.values()]
        return [sum(points) / len(points)] if points else []
    scores = [score_of(state, shown, campaign.protocol) for shown in range(len(state.translations))]
    return [score for score in scores if score is not None]
