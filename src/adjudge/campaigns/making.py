"""A campaign made of a test set: its tasks, its people and their links, whole or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.campaigns.assigning import FOREVER, deal_rows
from adjudge.campaigns.attention_checks import Checks
from adjudge.campaigns.campaign import (
    TYPOLOGY,
    open_campaign,
    protocol_of,
    refuse_taken,
    store_url,
    unfinished,
    write_file,
    write_guidelines,
    write_links,
)
from adjudge.campaigns.database import (
    Campaign,
    Database,
    Role,
    assignment,
    audit,
    item,
    person,
    task,
    write_audit,
)
from adjudge.campaigns.database import campaign as campaign_table
from adjudge.campaigns.people import Link, insert_people
from adjudge.campaigns.planning import Plan, plan_tasks
from adjudge.campaigns.settings import CampaignProtocol, CampaignSettings, read_typology, render_settings
from adjudge.campaigns.tasks import (
    Given,
    Item,
    Pairs,
    Priorities,
    Task,
    copy_media,
    find_media,
    make_tasks,
    place_media,
)
from adjudge.campaigns.tutorial import make_tutorial
from adjudge.core.frozen import frozen
from adjudge.core.record import Record
from adjudge.core.segment import TestSet
from adjudge.core.wording import count, form, of_all
from adjudge.errors import UsageError, warn
from adjudge.formats.campaign_export import FIRST
from adjudge.formats.text import check_file_name
from adjudge.store.files import read_text, write_text

_ITEMS: Final = 200  # of a transaction: some ten milliseconds
_PAUSE: Final = 0.02  # seconds at least: longer than a writer that waits looks away
_SHARE: Final = 2.0  # times as long as a transaction took: on a slow machine, those who save need longer too


def insert_tasks(database: Database, campaign: int, tasks: Sequence[Task]) -> list[int]:
    """Append tasks to a campaign, whose first task of these gets the next free number.

    They are written in transactions so short that nobody who annotates notices.

    Their ids. `tasks`: in order; `copy_of` is a place in them, before or after the copy.
    """
    with database.reading() as connection:
        highest = select(func.max(task.c.number)).where(task.c.campaign_id == campaign)
        first = (connection.execute(highest).scalar() or 0) + 1
    ids: list[int] = []
    for start, chunk in _chunks(tasks):
        rows = [_task_row(campaign, first + start + at, one) for at, one in enumerate(chunk)]
        items = [[_item_row(place, shown) for place, shown in enumerate(one.items)] for one in chunk]
        with database.writing() as connection:
            began = monotonic()
            query = insert(task).returning(task.c.id, sort_by_parameter_order=True)
            added = list(connection.execute(query, rows).scalars())
            owned = zip(added, items, strict=True)
            connection.execute(insert(item), [{"task_id": i, **row} for i, own in owned for row in own])
        ids += added
        if len(ids) < len(tasks):
            sleep(max(_PAUSE, _SHARE * (monotonic() - began)))
    _link_copies(database, tasks, ids)
    return ids


def _chunks(tasks: Sequence[Task]) -> Iterator[tuple[int, Sequence[Task]]]:
    start, items = 0, 0
    for place, one in enumerate(tasks, start=1):
        items += len(one.items)
        if items >= _ITEMS or place == len(tasks):
            yield start, tasks[start:place]
            start, items = place, 0


def _task_row(campaign: int, number: int, one: Task) -> dict[str, Any]:
    return {
        "campaign_id": campaign,
        "number": number,
        "kind": one.kind,
        "lp": one.lp,
        "document": one.document,
        "systems": json.dumps(one.systems, ensure_ascii=False),
        "batch": one.batch,
        "raters": one.raters,
        "priority": one.priority,
        "is_closed": False,
    }


def _item_row(place: int, shown: Item) -> dict[str, Any]:
    return {
        "place": place,
        "segment": shown.segment,
        "media": shown.media,
        "source": shown.source,
        "translations": json.dumps(shown.translations, ensure_ascii=False),
        "check": None if shown.check is None else json.dumps(shown.check, ensure_ascii=False),
    }


def _link_copies(database: Database, tasks: Sequence[Task], ids: Sequence[int]) -> None:
    copies = [(ids[at], ids[one.copy_of]) for at, one in enumerate(tasks) if one.copy_of is not None]
    for start in range(0, len(copies), _ITEMS):
        with database.writing() as connection:
            for copy, original in copies[start : start + _ITEMS]:
                connection.execute(task.update().where(task.c.id == copy).values(copy_of=original))


@frozen
class Extras:
    """What a campaign may have besides a test set."""

    pairs: Pairs | None = None  # see `tasks.Pairs`; None for all (pairwise)
    # stored annotations of one annotator, whose spans are shown (esa-ai)
    given: Iterable[Record] | None = None
    priorities: Priorities | None = None  # see `tasks.Priorities`; for a dynamic assignment
    media: Path | None = None  # folder of the files that sources which are no text name
    guidelines: Path | None = None  # folder with `guidelines.md` or LP.md in place of ours
    tutorial: Path | None = None  # TOML file in place of ours
    typology: Path | None = None  # TOML file of categories in place of ours (mqm)
    database: str | None = None  # address of a PostgreSQL server's database; None for a file in the folder


def new_campaign(
    folder: Path | str,
    test_set: TestSet,
    settings: CampaignSettings,
    annotators: int | Sequence[str] | Mapping[str, Sequence[str]],
    *,
    now: float,  # seconds since 1970
    extras: Extras = Extras(),  # noqa: B008 (it never changes)
) -> tuple[Campaign, tuple[Link, ...]]:
    """Make a campaign, whole or not at all.

    The campaign, and everyone's link: the annotators' in order, then the organiser's.
    """
    folder = Path(folder)
    refuse_taken(folder)
    settings = replace(settings, test_set=test_set.name, digest=test_set.digest, lps=test_set.lps)
    people = _people(annotators)
    _check_extras(settings, extras)
    media = find_media(test_set, extras.media)
    places = place_media(media)
    plan = _plan(test_set, settings, [*people.values()], extras, places)
    with unfinished(folder) as draft:
        copy_media(media, places, draft)
        write_guidelines(draft / "guidelines", settings.protocol, test_set.lps, own=extras.guidelines)
        if extras.typology is not None:
            write_text(draft / TYPOLOGY, [read_text(extras.typology)])
        store = Database(store_url(draft, extras.database))
        try:
            store.migrate()
            links = _fill(store, check_file_name(folder.name), settings, plan, [*people], now)
        finally:
            store.close()
        write_file(draft, folder.name, settings.protocol, extras.database)
        write_links(draft, links, plan.held)
    return open_campaign(folder), links


def _people(annotators: int | Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    count = annotators if isinstance(annotators, int) else len(annotators)
    if count < 1:
        raise UsageError(f"a campaign needs one annotator or more, got {count}")
    if isinstance(annotators, Mapping):
        return dict(annotators)
    if isinstance(annotators, int):
        annotators = [f"annotator-{number:0{len(str(count))}d}" for number in range(1, count + 1)]
    if twice := [name for name, times in Counter(annotators).items() if times > 1]:
        raise UsageError(f"there is somebody called {twice[0]!r} already; names are unique")
    return dict.fromkeys(annotators, ())


def _check_extras(settings: CampaignSettings, extras: Extras) -> None:
    protocol = protocol_of(settings)
    if extras.typology is not None:
        if not protocol.has_categories:
            raise UsageError(f"typology: protocol {settings.protocol} asks for no categories; mqm does")
        read_typology(extras.typology)
    if extras.tutorial is not None and not settings.tutorial:
        raise UsageError("a tutorial was given, and the settings do not ask for one")
    if settings.pass_mark is not None and not settings.tutorial:
        raise UsageError("pass_mark: a test is a tutorial without hints, and no tutorial is asked for")
    if extras.pairs is not None and protocol.shows != "pair":
        raise UsageError(f"pairs: protocol {settings.protocol} compares no pairs; pairwise does")
    wants = {"missing": protocol.marks_missing, "score": protocol.scale is not None}
    for kind in settings.check_kinds:
        if settings.checks and not wants.get(kind, True):
            raise UsageError(
                f"checks of kind {kind!r}: an annotator of {settings.protocol} could not answer them"
            )


def _plan(
    test_set: TestSet,
    settings: CampaignSettings,
    people: Sequence[Sequence[str]],
    extras: Extras,
    media: Mapping[str, str],
) -> Plan:
    protocol = protocol_of(settings)
    given = None if extras.given is None else Given(extras.given, protocol.severities)
    if protocol.is_given_spans and not given:
        raise UsageError(
            f"protocol {settings.protocol} shows spans marked beforehand: give a run or a file of them"
        )
    if given is not None and not protocol.is_given_spans:
        raise UsageError(f"protocol {settings.protocol} shows no spans marked beforehand; esa-ai does")
    tasks = make_tasks(
        test_set, protocol.shows, pairs=extras.pairs, given=given, priorities=extras.priorities, media=media
    )
    planned = plan_tasks(tasks, settings, people, Checks(tasks, protocol).damage)
    unshown = _unshown(extras.pairs, tasks) if extras.pairs else _identical(test_set, tasks, protocol)
    left_out = [
        *_untranslated(test_set),
        *unshown,
        *_without_time(tasks, planned.tasks, settings, len(people)),
    ]
    for warning in (*left_out, *(() if given is None else given.warnings)):
        warn(warning)
    if not settings.tutorial:
        return planned
    first = [make_tutorial(protocol, lp, own=extras.tutorial) for lp in test_set.lps]
    by = len(first)
    moved = (one if one.copy_of is None else replace(one, copy_of=one.copy_of + by) for one in planned.tasks)
    dealt = [[(number + by, place) for number, place in row] for row in planned.dealt]
    return replace(planned, tasks=[*first, *moved], dealt=dealt)


def _untranslated(test_set: TestSet) -> Iterator[str]:
    systems = {lp: test_set.select(lp=lp).systems for lp in test_set.lps}
    asked = [(segment, name) for segment in test_set for name in systems[segment.lp]]
    if holes := sum(not segment.has_translation(name) for segment, name in asked):
        which = of_all(holes, len(asked), "translation")
        yield f"{which} {form(holes, 'is', 'are')} missing and shown to nobody"


def _identical(test_set: TestSet, tasks: Sequence[Task], protocol: CampaignProtocol) -> Iterator[str]:
    if protocol.shows == "pair":
        every = sum(comb(sum(map(s.has_translation, s.translations)), 2) for s in test_set)
        if same := every - sum(len(task.items) for task in tasks):
            which = of_all(same, every, "pair of translations", "pairs of translations")
            yield f"{which} {form(same, 'is', 'are')} left out: both are one text"


def _unshown(pairs: Pairs, tasks: Sequence[Task]) -> Iterator[str]:
    if lost := len(pairs) - sum(len(task.items) for task in tasks):
        which = of_all(lost, len(pairs), "pair that was asked for", "pairs that were asked for")
        why = "the test set does not have them, or both texts are one"
        yield f"{which} {form(lost, 'is', 'are')} left out: {why}"


def _without_time(
    tasks: Sequence[Task], planned: Sequence[Task], settings: CampaignSettings, people: int
) -> Iterator[str]:
    kept = [task for task in planned if task.kind in FIRST]
    every, fitting = (sum(len(task.items) for task in row) for row in (tasks, kept))
    if settings.segments_each is not None and len(kept) < len(tasks):
        most = count(settings.segments_each, "segment")
        asked = f"is asked for {most}" if people == 1 else f"are asked for {most} each"
        lost = every - fitting
        which = f"{of_all(lost, every, 'segment')}, {of_all(len(tasks) - len(kept), len(tasks), 'task')},"
        who = count(people, "person", "people")
        yield f"{which} {form(lost, 'is', 'are')} left out: {who} {asked} at most"


def _fill(
    store: Database, name: str, settings: CampaignSettings, plan: Plan, names: Sequence[str], now: float
) -> tuple[Link, ...]:
    rows: list[tuple[str, Role, Sequence[str]]] = [
        *((person_name, "annotator", lps) for person_name, lps in zip(names, plan.lps, strict=True)),
        ("organiser", "organiser", ()),
    ]
    values = {"name": name, "protocol": settings.protocol, "settings": render_settings(settings)}
    try:
        with store.writing() as connection:
            added = connection.execute(insert(campaign_table).values(**values, created_at=now))
            (number,) = added.inserted_primary_key or (0,)
            write_audit(connection, number, now, actor="command", action="new campaign", detail=name)
            links = insert_people(connection, number, rows, now, actor="command")
    except IntegrityError as error:
        raise UsageError(
            f"the store {store.url} has a campaign {name!r} already; choose another name"
        ) from error
    try:
        ids = insert_tasks(store, number, plan.tasks)
        _deal(store, number, settings, plan, ids)
    except BaseException:
        _discard(store, number)
        raise
    return links


def _deal(store: Database, campaign: int, settings: CampaignSettings, plan: Plan, ids: Sequence[int]) -> None:
    with store.writing() as connection:
        chosen = select(person.c.id).where(person.c.campaign_id == campaign).order_by(person.c.id)
        people = connection.execute(chosen).scalars().all()
        for number, row in zip(people, plan.dealt, strict=False):  # the organiser, who is last, has none
            tasks = [(ids[at], place) for at, place in sorted(row, key=lambda entry: entry[1])]
            if tasks:
                connection.execute(insert(assignment), deal_rows(settings.seed, number, tasks, FOREVER))
        if any(plan.dealt):
            is_dealt = task.c.kind.in_(FIRST) & (task.c.campaign_id == campaign)
            connection.execute(update(task).where(is_dealt).values(is_closed=True))


def _discard(store: Database, number: int) -> None:
    tasks = select(task.c.id).where(task.c.campaign_id == number)
    with store.writing() as connection:
        connection.execute(update(task).where(task.c.campaign_id == number).values(copy_of=None))
        connection.execute(delete(item).where(item.c.task_id.in_(tasks)))
        connection.execute(delete(assignment).where(assignment.c.task_id.in_(tasks)))
        for table in (task, person, audit):
            connection.execute(delete(table).where(table.c.campaign_id == number))
        connection.execute(delete(campaign_table).where(campaign_table.c.id == number))
