"""Who judges which segments, in which order, with which checks: a plan drawn by a seed.

`plan_tasks` deals documents to people. A document stands in one language pair, has all its systems, and goes
to as many people as are to rate it, who are the same for all its systems. What a pool or a dynamic assignment
deals later is made here too, and dealt by the same rules (`due_checks`). `disagreement` says where metrics
disagree most: translations that people should see first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle, pairwise, zip_longest
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from adjudge.campaigns.items import Shown
from adjudge.campaigns.settings import CampaignSettings, CheckKind
from adjudge.campaigns.tasks import Item, Priorities, Task
from adjudge.core.frozen import frozen
from adjudge.core.record import grouped
from adjudge.core.scores import Scores
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError

Damage = Callable[[Task, CheckKind, Random], Task | None]
"""A damaged copy of a task; None where it cannot be damaged."""

_SOONEST, _LATEST = 2, 12
"""A check comes so many tasks after its original: long enough to forget how it was rated."""
_TINY = 1e-9  # a share of segments that is whole, and that floats put below that


@frozen
class Plan:
    """What a campaign starts with."""

    # in the order of their numbers; a check's `copy_of` is a place in it. Tasks of one document have one
    # `batch`. The `raters` of a check is 0: whoever it is dealt to does it.
    tasks: list[Task]
    lps: list[tuple[str, ...]]  # language pairs of each person
    # of each person, places in `tasks`, each with the place in the person's own order, by which they are
    # sorted; empty where people get their documents one by one
    dealt: list[list[tuple[int, int]]]

    @property
    def held(self) -> list[tuple[tuple[str, ...], int, int]]:
        """Language pairs, documents and segments of each person; those of checks, too, are segments."""
        found = []
        for lps, row in zip(self.lps, self.dealt, strict=True):
            own = [self.tasks[number] for number, _ in row]
            documents = {one.batch for one in own if one.kind != "check"}
            found.append((lps, len(documents), sum(len(one.items) for one in own)))
        return found


def share_languages(
    loads: Mapping[str, int], asked: Sequence[Sequence[str]], raters: int
) -> list[tuple[str, ...]]:
    """Give a language pair to everybody who has none: first where raters lack, then where most is to do.

    `asked`: language pairs of each person; empty for any.
    """
    people = Counter(chain.from_iterable(asked))
    if strangers := people.keys() - loads.keys():
        raise UsageError(
            f"language pairs are {', '.join(loads)}; somebody has {', '.join(sorted(strangers))}"
        )
    shared = []
    for own in asked:
        chosen = tuple(dict.fromkeys(own))
        if not chosen:
            chosen = (max(loads, key=lambda lp: (people[lp] < raters, loads[lp] / (people[lp] + 1))),)
            people[chosen[0]] += 1
        shared.append(chosen)
    for lp in loads:
        if people[lp] < raters:
            several = ", or give some several language pairs (NAME:en-de+he-en)" if len(loads) > 1 else ""
            raise UsageError(
                f"each segment needs {count(raters, 'rater')}, and {lp} has "
                f"{count(people[lp], 'annotator')}: "
                f"one person never judges a segment twice; add annotators{several}"
            )
    return shared


def deal(
    sizes: Sequence[int], people: int, settings: CampaignSettings, draw: Random, *, most: float = math.inf
) -> list[tuple[int, ...]]:
    """Deal documents to people of one language pair, each to as many as there are raters.

    Loads differ by no more than the largest document. Without `pairs_of_people` a document goes to those who
    have least so far. With them, people stand in a circle and take turns, the largest document first: so
    there are as few different sets of raters as the numbers allow.

    Who gets each document; nobody where it does not fit.
    """
    load = [0] * people
    dealt: list[tuple[int, ...]] = [()] * len(sizes)
    order, turn = list(range(len(sizes))), 0
    if settings.pairs_of_people:
        order.sort(key=lambda document: -sizes[document])
    for document in order:
        if settings.pairs_of_people:
            chosen = [(turn + step) % people for step in range(settings.raters)]
        else:
            chosen = sorted(range(people), key=lambda one: (load[one], draw.random()))[: settings.raters]
        if max(load[one] for one in chosen) + sizes[document] <= most:
            turn += settings.raters
            dealt[document] = tuple(chosen)
            for one in chosen:
                load[one] += sizes[document]
    return dealt


_Check = TypeVar("_Check")


def due_checks(
    share: float, segments: int, given: int, waiting: Iterable[tuple[_Check, int]]
) -> list[_Check]:
    """Which checks a person is due: a share of all their segments, rounded down, at least one."""
    most = max(1, math.floor(_rate(share) * segments + _TINY)) if share and segments else 0
    due = []
    for check, size in sorted(waiting, key=lambda one: -one[1]):  # a large one does not fit later
        if given + size <= most:
            given += size
            due.append(check)
    return due


def place_of_check(original: int, draw: Random, *, first: bool = False) -> int:
    """Place of a check in a person's order: some tasks after its original; before it where that is asked."""
    return max(0, original + draw.randint(-_LATEST if first else _SOONEST, _LATEST))


def _rate(share: float) -> float:
    return share / (1 - share)


def plan_tasks(
    tasks: Sequence[Task], settings: CampaignSettings, people: Sequence[Sequence[str]], damage: Damage
) -> Plan:
    """Choose, deal and order tasks, and put controls and checks among them.

    `people`: language pairs of each annotator; empty where the plan chooses one.
    """
    draw = Random(settings.seed)
    segments: Counter[str] = Counter()
    for task in tasks:
        segments[task.lp] += len(task.items)
    planning = _Planning(settings, share_languages(segments, people, settings.raters), damage, draw)
    for lp in segments:
        planning.add([task for task in tasks if task.lp == lp], lp)
    return Plan(tasks=planning.tasks, lps=planning.lps, dealt=planning.dealt)


class _Document(NamedTuple):
    """Tasks that are dealt together, and what may be checked of them: place among the tasks, damaged copy."""

    tasks: list[Task]
    checks: list[tuple[int, Task]]

    @property
    def size(self) -> int:
        return sum(len(task.items) for task in self.tasks)


class _Entry(NamedTuple):
    """A task in a person's order."""

    document: int
    at: int  # among the document's tasks, or among its checks
    is_check: bool = False


class _Planning:
    """A plan that grows by one language pair after another."""

    def __init__(
        self, settings: CampaignSettings, lps: list[tuple[str, ...]], damage: Damage, draw: Random
    ) -> None:
        self.tasks: list[Task] = []
        self.lps = lps
        self.dealt: list[list[tuple[int, int]]] = [[] for _ in lps]
        self._settings, self._damage, self._draw = settings, damage, draw
        self._kinds = cycle(settings.check_kinds)
        self._held = [(0, 0)] * len(lps)  # segments of each person so far, and those of checks
        self._seen = self._batches = 0

    def add(self, tasks: Sequence[Task], lp: str) -> None:
        settings, draw = self._settings, self._draw
        people = [number for number, own in enumerate(self.lps) if lp in own]
        room = None
        if settings.segments_each is not None:
            room = [settings.segments_each * (1 - settings.checks) / len(self.lps[one]) for one in people]
        kept = self._with_controls(_fitting(_ordered(tasks, settings, draw), settings, room))
        together = [[task] for task in kept]  # what tells most by what is known is no whole document
        if settings.assignment != "dynamic":
            together = [*grouped((_document(task), task) for task in kept).values()]
        documents = [_Document(own, self._checks(own)) for own in together]
        if settings.assignment != "static":
            self._append(documents, [True] * len(documents), {})
            return
        most = math.inf if room is None else min(room)
        hands = deal([one.size for one in documents], len(people), settings, draw, most=most)
        if not any(hands):
            raise UsageError(_too_little(settings, len(people)))
        rows = {
            person: self._row(person, documents, [at for at, hand in enumerate(hands) if place in hand])
            for place, person in enumerate(people)
        }
        self._append(documents, [bool(hand) for hand in hands], rows)

    def _with_controls(self, kept: list[Task]) -> list[Task]:
        share, until = self._settings.control, self._seen + len(kept)
        controls = _controls(share, until) - _controls(share, self._seen)
        self._seen = until
        edges = [at * len(kept) // controls for at in range(controls + 1)] if controls else []
        for low, high in pairwise(edges):  # one in each of equal parts, so that they stand all over
            place = self._draw.randrange(low, high)
            items = tuple(map(_without_marks, kept[place].items))
            kept[place] = replace(kept[place], kind="control", items=items)
        return kept

    def _checks(self, tasks: Sequence[Task]) -> list[tuple[int, Task]]:
        due = _rate(self._settings.checks) * sum(len(task.items) for task in tasks)
        left = math.floor(due + _TINY)
        most = max(1, (left + 1) // 2)  # small enough to fit beside what one is given at least
        more = math.ceil(due - _TINY) - left
        starts = [(at, start) for at, one in enumerate(tasks) for start in range(0, len(one.items), most)]
        self._draw.shuffle(starts)
        found: list[tuple[int, Task]] = []
        for at, start in starts:
            if not left and not more:
                break
            run = tasks[at].items[start : start + min(most, left or more)]
            copy = self._damage(replace(tasks[at], items=run), next(self._kinds), self._draw)
            if copy is not None:
                found.append((at, copy))
                left, more = max(left - len(run), 0), more if left else 0
        return found

    def _row(self, person: int, documents: Sequence[_Document], own: list[int]) -> list[tuple[_Entry, int]]:
        self._draw.shuffle(own)
        row: list[tuple[_Entry, int]] = []
        waiting: dict[_Entry, tuple[int, int]] = {}
        (segments, given), place = self._held[person], 0
        for number in own:
            document = documents[number]
            order = [*range(len(document.tasks))]
            self._draw.shuffle(order)
            row += [(_Entry(number, at), place + step) for step, at in enumerate(order)]
            for at, (original, copy) in enumerate(document.checks):
                waiting[_Entry(number, at, is_check=True)] = len(copy.items), place + order.index(original)
            segments, place = segments + document.size, place + len(order)
            sizes = [(entry, size) for entry, (size, _) in waiting.items()]
            for entry in due_checks(self._settings.checks, segments, given, sizes):
                size, original = waiting.pop(entry)
                given += size
                first = self._settings.checks_first
                row.append((entry, place_of_check(original, self._draw, first=first)))
        self._held[person] = segments, given
        return row

    def _append(
        self,
        documents: Sequence[_Document],
        are_dealt: Sequence[bool],
        rows: Mapping[int, list[tuple[_Entry, int]]],
    ) -> None:
        used = {entry for row in rows.values() for entry, _ in row}
        places: dict[_Entry, int] = {}
        for number, document in enumerate(documents):
            if not are_dealt[number]:
                continue
            for at, one in enumerate(document.tasks):
                places[_Entry(number, at)] = len(self.tasks)
                raters = self._settings.raters
                self.tasks.append(replace(one, batch=self._batches, raters=raters))
            for at, (original, one) in enumerate(document.checks):
                if not rows or _Entry(number, at, is_check=True) in used:
                    places[_Entry(number, at, is_check=True)] = len(self.tasks)
                    copy_of = places[_Entry(number, original)]
                    self.tasks.append(replace(one, batch=self._batches, raters=0, copy_of=copy_of))
            self._batches += 1
        for person, row in rows.items():
            before = max((place for _, place in self.dealt[person]), default=-1) + 1
            self.dealt[person] += [(places[entry], before + place) for entry, place in row]


def _ordered(tasks: Sequence[Task], settings: CampaignSettings, draw: Random) -> list[Task]:
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
    return task.document, "" if task.document else task.items[0].segment


def _fitting(tasks: list[Task], settings: CampaignSettings, rooms: Sequence[float] | None) -> list[Task]:
    if rooms is None:
        return tasks
    room = sum(rooms) / settings.raters
    kept: list[Task] = []
    for group in _groups(tasks, settings):
        size = sum(len(task.items) for task in group)
        if size <= room:
            kept += group
            room -= size
    if not kept:
        raise UsageError(_too_little(settings, len(rooms)))
    return kept


def _too_little(settings: CampaignSettings, people: int) -> str:
    return (
        f"not one document fits into {count(settings.segments_each or 0, 'segment')} for each of "
        f"{count(people, 'person', 'people')}, with {count(settings.raters, 'rater')} of each segment"
    )


def _groups(tasks: Iterable[Task], settings: CampaignSettings) -> Iterator[list[Task]]:
    if settings.balance == "systems":
        yield from ([task] for task in tasks)
        return
    yield from grouped((_document(task), task) for task in tasks).values()


def _controls(share: float, tasks: int) -> int:
    return max(round(share * tasks), bool(share and tasks))


def _without_marks(item: Item) -> Item:
    bare: list[Shown] = [{**shown, "given": None, "withheld": shown["given"]} for shown in item.translations]
    return replace(item, translations=tuple(bare))


_Key = tuple[str, str, str]


def disagreement(metrics: Sequence[Scores]) -> Priorities:
    """Spread of each translation's scores: the standard deviation over metrics of its z-scores.

    Scores are standardised by metric, over all translations that it scored, so that scales do not matter.
    Translations that fewer than two metrics scored are left out: nothing is known of them.
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
