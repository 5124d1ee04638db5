"""Which tasks there is time for, who gets which, and in what order: even, and drawn by a seed.

`plan_tasks` also puts controls and attention checks among the tasks. `disagreement` says where metrics
disagree most: translations that people should see first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, cycle, pairwise, zip_longest
from random import Random
from typing import Any, NamedTuple

import numpy as np

from adjudge.campaigns.items import Shown
from adjudge.campaigns.settings import CampaignSettings, CheckKind
from adjudge.campaigns.tasks import Item, Priorities, Task
from adjudge.core.record import grouped
from adjudge.core.scores import Scores
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError

__all__ = ["batches_of_people", "disagreement", "plan_tasks"]

Damage = Callable[[Task, CheckKind, Random], Task | None]
"""A damaged copy of a task; None where it cannot be damaged."""

_SOONEST, _LATEST = 2, 12
"""A check comes so many tasks after its original: long enough to forget how it was rated."""


def batches_of_people(people: int, settings: CampaignSettings) -> list[int | None]:
    """The batch of each person: with a redundancy of k, every batch is that of k people or of a few more.

    Raises:
        UsageError: fewer people than each task needs.
    """
    if people < settings.redundancy:
        wanted = f"a redundancy of {settings.redundancy} needs as many annotators"
        raise UsageError(f"{wanted}, got {people}; one person never judges a task twice")
    if settings.assignment != "static":
        return [None] * people
    return [person % (people // settings.redundancy) for person in range(people)]


def plan_tasks(tasks: Sequence[Task], settings: CampaignSettings, people: int, damage: Damage) -> list[Task]:
    """Choose, spread and order tasks, and put controls and checks among them.

    Args:
        tasks: of a test set, in its order.
        settings: of the campaign.
        people: how many annotators there are.
        damage: makes checks.

    Returns:
        Tasks in the order of their numbers; a check's `copy_of` is a place in it.

    Raises:
        UsageError: too few people, or not one document fits.
    """
    draw = Random(settings.seed)
    sizes = Counter(batches_of_people(people, settings))
    planned: list[Task] = []
    seen = 0
    for lp, batches in _batches_of_lps(tasks, list(sizes)).items():
        weights = [sizes[batch] for batch in batches]
        ordered = _ordered([task for task in tasks if task.lp == lp], settings, draw)
        kept = _fitting(ordered, settings, sum(weights))
        for batch, row in zip(batches, _spread(kept, weights, settings), strict=True):
            if settings.assignment == "static":
                draw.shuffle(row)  # a batch is finished: systems of a document need not be together
            given = [replace(task, batch=batch, redundancy=settings.redundancy) for task in row]
            controls = _controls(settings.control, seen + len(row)) - _controls(settings.control, seen)
            seen += len(row)
            for place in [draw.choice(stretch) for stretch in _stretches(len(row), controls)]:
                items = tuple(map(_without_marks, given[place].items))
                given[place] = replace(given[place], kind="control", items=items)
            planned += _with_checks(given, settings, damage, draw, len(planned))
    return planned


def _batches_of_lps(tasks: Iterable[Task], batches: list[int | None]) -> dict[str, list[int | None]]:
    """Which batches are of which language pair: by the segments of each, at least one for each."""
    load: Counter[str] = Counter()
    for task in tasks:
        load[task.lp] += len(task.items)
    if len(batches) < len(load):
        pairs = f"{len(load)} language pairs ({', '.join(load)})"
        raise UsageError(
            f"{pairs} need a batch each, and there {'is' if len(batches) == 1 else 'are'} {len(batches)}: "
            "choose a language pair, or add annotators and assign in static batches"
        )
    total, free = sum(load.values()), iter(batches)
    counts = {lp: max(1, math.floor(load[lp] / total * len(batches))) for lp in load}
    while (spare := len(batches) - sum(counts.values())) != 0:
        wanted = {lp: load[lp] / total * len(batches) - counts[lp] for lp in load}
        if spare > 0:
            counts[max(wanted, key=wanted.__getitem__)] += 1
        else:
            counts[min((lp for lp in wanted if counts[lp] > 1), key=wanted.__getitem__)] -= 1
    return {lp: [next(free) for _ in range(counts[lp])] for lp in load}


def _ordered(tasks: Sequence[Task], settings: CampaignSettings, draw: Random) -> list[Task]:
    """Document by document, or in rounds of one task of each system; both in an order that is drawn."""
    groups = grouped(
        (task.systems if settings.balance == "systems" else _document(task), task) for task in tasks
    )
    drawn = list(groups.values())
    draw.shuffle(drawn)
    for group in drawn:
        draw.shuffle(group)
    if settings.balance == "documents":
        return [task for group in drawn for task in group]
    return [task for group in zip_longest(*drawn) for task in group if task is not None]


def _document(task: Task) -> tuple[str, str]:
    """What a task is of; segments without a document stand alone."""
    return task.document, "" if task.document else task.items[0].segment


def _fitting(tasks: list[Task], settings: CampaignSettings, people: int) -> list[Task]:
    """The first tasks that so many people can judge, as often as each needs to be judged; checks count."""
    if settings.segments_each is None:
        return tasks
    room = settings.segments_each * people / settings.redundancy * (1 - settings.checks)
    kept: list[Task] = []
    for group in _groups(tasks, settings):
        size = sum(len(task.items) for task in group)
        if size <= room:
            kept += group
            room -= size
    if not kept:
        raise UsageError(
            f"not one document fits into {count(settings.segments_each, 'segment')} for each of "
            f"{count(people, 'person', 'people')}, with a redundancy of {settings.redundancy}"
        )
    return kept


def _groups(tasks: Iterable[Task], settings: CampaignSettings) -> Iterator[list[Task]]:
    if settings.balance == "systems":
        yield from ([task] for task in tasks)
        return
    yield from grouped((_document(task), task) for task in tasks).values()


def _spread(tasks: Sequence[Task], weights: Sequence[int], settings: CampaignSettings) -> list[list[Task]]:
    """Give each task to a batch: evenly by document or system first, then by segments, then by the other.

    `weights` are the people of each batch: who shares a batch gets more of it done.
    """
    people = np.array(weights, dtype=float)
    load = np.zeros(len(weights))
    by_document: dict[object, np.ndarray[Any, np.dtype[np.int16]]] = {}
    by_systems: dict[object, np.ndarray[Any, np.dtype[np.int16]]] = {}
    rows: list[list[Task]] = [[] for _ in weights]
    for task in tasks:
        document = by_document.setdefault(_document(task), np.zeros(len(weights), dtype=np.int16))
        systems = by_systems.setdefault(task.systems, np.zeros(len(weights), dtype=np.int16))
        first, last = (document, systems) if settings.balance == "documents" else (systems, document)
        chosen = int(np.lexsort((last, load / people, first / people))[0])
        rows[chosen].append(task)
        document[chosen] += 1
        systems[chosen] += 1
        load[chosen] += len(task.items)
    return rows


def _controls(share: float, tasks: int) -> int:
    """How many of the first tasks of all batches are controls: one at least where any are wanted."""
    return max(round(share * tasks), bool(share and tasks))


def _without_marks(item: Item) -> Item:
    bare: list[Shown] = [{**shown, "given": None, "withheld": shown["given"]} for shown in item.translations]
    return replace(item, translations=tuple(bare))


def _stretches(length: int, count: int) -> list[range]:
    """Equal parts of a row, so that what is drawn from each stands all over it."""
    edges = [place * length // count for place in range(count + 1)] if count else []
    return [range(low, high) for low, high in pairwise(edges) if low < high]


class _Placed(NamedTuple):
    at: float
    task: Task
    original: int  # place in the row
    is_copy: bool


def _with_checks(
    row: list[Task], settings: CampaignSettings, damage: Damage, draw: Random, offset: int
) -> list[Task]:
    """Put damaged copies behind their originals, or before them where a check may come before.

    There are so many that their share of all is as wanted; each stands between two tasks.
    """
    placed = [_Placed(float(place), task, place, is_copy=False) for place, task in enumerate(row)]
    wanted = round(settings.checks / (1 - settings.checks) * len(row)) or bool(settings.checks)
    kinds = cycle(settings.check_kinds)
    for stretch in _stretches(len(row), wanted):
        if found := _first_check(row, stretch, next(kinds), damage, draw):
            place, copy = found
            at = min(place + draw.uniform(_SOONEST, _LATEST), len(row) - draw.uniform(0.1, 0.9))
            if settings.checks_first:
                at = draw.uniform(place - _LATEST, at)
            placed.append(_Placed(at, copy, place, is_copy=True))
    placed.sort(key=lambda entry: entry.at)
    final = {entry.original: at for at, entry in enumerate(placed, start=offset) if not entry.is_copy}
    return [
        replace(entry.task, copy_of=final[entry.original]) if entry.is_copy else entry.task
        for entry in placed
    ]


def _first_check(
    row: list[Task], stretch: range, kind: CheckKind, damage: Damage, draw: Random
) -> tuple[int, Task] | None:
    for place in draw.sample(stretch, len(stretch)):
        if (copy := damage(row[place], kind, draw)) is not None:
            return place, copy
    return None


_Key = tuple[str, str, str]


def disagreement(metrics: Sequence[Scores]) -> Priorities:
    """Spread of each translation's scores: the standard deviation over metrics of its z-scores.

    Scores are standardised by metric, over all translations that it scored, so that scales do not matter.
    Translations that fewer than two metrics scored are left out: nothing is known of them.

    Args:
        metrics: two or more.

    Raises:
        UsageError: fewer than two metrics.
        DataError: no translation has two scores.
    """
    if len(metrics) < 2:
        raise UsageError(f"disagreement needs the scores of two metrics or judges, got {len(metrics)}")
    found = grouped(chain.from_iterable(_standardised(scores).items() for scores in metrics))
    spreads = {key: float(np.std(values)) for key, values in found.items() if len(values) > 1}
    if not spreads:
        raise DataError("no translation is scored by two of the metrics: are they of one test set?")
    return spreads


def _standardised(scores: Scores) -> dict[_Key, float]:
    known = {(s.lp, s.segment, s.system): s.score for s in scores.segments if s.score is not None}
    values = np.array(list(known.values()))
    spread = float(values.std()) if len(values) else 0.0
    standard = (values - values.mean()) / spread if spread else np.zeros(len(values))
    return dict(zip(known, standard.tolist(), strict=True))
