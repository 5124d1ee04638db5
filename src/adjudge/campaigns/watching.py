"""The answers of a campaign as numbers in memory: read once, then only what changed since.

A dashboard asks every few seconds, and a hundred thousand answers take a while to read. What is kept of an
answer is its score and where its marks stand, no text. What counts here is what an export holds: every item
that somebody finished, also in a task that was given back since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Row, Select, func, select

from adjudge.campaigns.database import Database
from adjudge.campaigns.exporting import dropped_segments
from adjudge.campaigns.schema import answer, assignment, event, item, task
from adjudge.campaigns.scores import score_of
from adjudge.campaigns.state import State, TranslationState, read_state, shown_order
from adjudge.data.submissions import PASSES, Kind
from adjudge.meta.campaign.marks import Mark
from adjudge.meta.ranking.comparisons import VERDICTS

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["Seen", "Watched", "watched"]

_OVERLAP: Final = 1000  # events read again: transactions end in another order than their numbers were given
_MOST_CHANGED: Final = 10_000  # assignments that are asked for by their numbers; of more, all are read


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What one person said of one translation, or of a pair.

    Args:
        person: key in the store.
        kind: of the task.
        unit: language pair and segment.
        system: that was judged; of a pair, the first.
        other: of a pair, the second.
        score: rating, or minus the points of marks; of a pair, 1 for the first, 0 a tie, -1 the second.
        about: what was judged: the unit and its systems in the order of their names.
        marks: with both ends inclusive; None where nothing can be marked.
        seconds: of work on the item.
        at: when it was begun.
        ended: when it was last changed.
    """

    person: int
    kind: Kind
    unit: tuple[str, str]
    system: str
    score: float
    seconds: float
    at: float
    ended: float
    about: tuple[str, ...]
    other: str = ""
    marks: tuple[Mark, ...] | None = None


@dataclass
class Watched:
    """All finished answers of a campaign.

    Args:
        newest: number of the newest event that is in here.
        answers: assignment and item to what was said there.
        dropped: language pair and id of the segments that the agreement gate dropped.
        lock: who reads on, reads alone.
    """

    newest: int = 0
    answers: dict[tuple[int, int], tuple[Seen, ...]] = field(default_factory=dict)
    dropped: frozenset[tuple[str, str]] = frozenset()
    lock: Lock = field(default_factory=Lock)

    @property
    def seen(self) -> list[Seen]:
        """Everything that was said and counts."""
        return [one for said in self.answers.values() for one in said if one.unit not in self.dropped]


_KEPT: WeakKeyDictionary[Database, dict[int, Watched]] = WeakKeyDictionary()


def watched(campaign: Campaign) -> Watched:
    """The answers of a campaign, as new as its store."""
    kept = _KEPT.setdefault(campaign.database, {}).setdefault(campaign.id, Watched())
    with kept.lock, campaign.database.reading() as connection:
        _read_on(campaign, connection, kept)
        kept.dropped = dropped_segments(connection, campaign)
    return kept


def _read_on(campaign: Campaign, connection: Connection, kept: Watched) -> None:
    newest = int(connection.execute(select(func.max(event.c.id))).scalar() or 0)
    if newest == kept.newest:
        return
    rows = _rows(campaign)
    if kept.newest:
        changed = select(event.c.assignment_id).where(event.c.id > kept.newest - _OVERLAP).distinct()
        numbers = connection.execute(changed.limit(_MOST_CHANGED + 1)).scalars().all()
        if len(numbers) <= _MOST_CHANGED:
            rows = rows.where(answer.c.assignment_id.in_(numbers))
    for row in connection.execute(rows):
        key = (row.assignment_id, row.item_id)
        if row.is_complete:
            kept.answers[key] = tuple(_read(campaign, row))
        else:
            kept.answers.pop(key, None)
    kept.newest = newest


def _rows(campaign: Campaign) -> Select[Any]:
    return (
        select(
            answer.c.assignment_id,
            answer.c.item_id,
            answer.c.state,
            answer.c.is_complete,
            answer.c.active,
            answer.c.first_at,
            answer.c.last_at,
            assignment.c.person_id,
            assignment.c.seed,
            task.c.kind,
            task.c.lp,
            task.c.systems,
            item.c.segment,
        )
        .select_from(answer)
        .join(assignment, answer.c.assignment_id == assignment.c.id)
        .join(task, assignment.c.task_id == task.c.id)
        .join(item, answer.c.item_id == item.c.id)
        .where(task.c.campaign_id == campaign.id, task.c.kind.in_(tuple(PASSES)))
    )


def _read(campaign: Campaign, row: Row[Any]) -> Iterator[Seen]:
    state, systems = read_state(row.state), json.loads(row.systems)
    order = shown_order(row.seed, row.item_id, len(systems))
    shown = [systems[index] for index in order]
    unit = (row.lp, row.segment)
    whose = {
        "person": row.person_id,
        "kind": row.kind,
        "unit": unit,
        "seconds": row.active,
        "at": row.first_at,
        "ended": row.last_at,
    }
    protocol = campaign.protocol
    if protocol.shows == "pair":
        one, other = shown
        about = (*unit, *sorted(shown))
        if (score := _verdict(state, protocol.criteria)) is not None:
            yield Seen(**whose, about=about, system=one, other=other, score=score)
    elif protocol.shows != "candidates":
        for place, system in enumerate(shown):
            if (score := score_of(state, place, protocol)) is not None:
                marks = _marks(state.translations[place]) if protocol.severities else None
                yield Seen(**whose, about=(*unit, system), system=system, score=score, marks=marks)


def _verdict(state: State, criteria: Sequence[str]) -> float | None:
    """Of the pair as a whole where that is asked for, else on the first criterion."""
    chosen = "overall" if "overall" in criteria else criteria[0]
    verdict = state.verdicts.get(chosen)
    return None if verdict is None else VERDICTS[verdict]


def _marks(said: TranslationState) -> tuple[Mark, ...]:
    errors = [span for span in said.spans if span.severity != "neutral" and span.side == "translation"]
    found = [Mark(span.start, span.end - 1, span.severity) for span in errors]
    return tuple(found + ([Mark(None, None, said.missing.severity)] if said.missing else []))
