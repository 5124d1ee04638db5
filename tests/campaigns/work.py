"""A person at work, for tests: takes tasks, marks, rates, finishes."""

import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from adjudge.campaigns.answers import Event, Saved, finish, save
from adjudge.campaigns.assigning import Assignment, assign_next, expire_overdue
from adjudge.campaigns.database import Campaign, Person, item
from adjudge.campaigns.items import ITEM_COLUMNS, ItemShown, first_state, read_item
from adjudge.campaigns.people import people


def person(campaign: Campaign, number: int = 0) -> Person:
    """The annotators in order; -1 is the organiser."""
    return people(campaign)[number]


def expire(campaign: Campaign, now: float) -> int:
    """Give back what is overdue, as whoever asks for a task does."""
    with campaign.database.writing() as connection:
        return expire_overdue(connection, now)


def statements_of(campaign: Campaign, work: Callable[[], object]) -> list[str]:
    """What SQLite is asked to read and write while one thing is done after another."""
    asked: list[str] = []
    with campaign.database._engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
    driver.set_trace_callback(asked.append)
    work()
    driver.set_trace_callback(None)
    verbs = ("SELECT", "INSERT", "UPDATE", "DELETE")
    return [" ".join(text.split()) for text in asked if text.startswith(verbs)]


def items(campaign: Campaign, given: Assignment) -> list[ItemShown]:
    """Items of an assignment, in order."""
    query = select(*ITEM_COLUMNS).where(item.c.task_id == given.task).order_by(item.c.place)
    with campaign.database.reading() as connection:
        return [read_item(campaign, row, given.seed) for row in connection.execute(query)]


def fields(shown: ItemShown, **changes: Any) -> dict[str, Any]:
    """The first state, with changes of the whole or, where it has such a part, of its translations."""
    state = first_state(shown.asked).model_dump(mode="json")
    for name, value in changes.items():
        for part in [state] if name in state else state["translations"]:
            part[name] = value
    return state


def change(shown: ItemShown, base: int = 0, *, name: str = "", **more: Any) -> Event:
    """An event of an item; `state` in full, or changes of the first one."""
    own = {key: more.pop(key) for key in ("kind", "at", "active", "idle", "hashes") if key in more}
    state = more.pop("state", None)
    defaults = {"kind": "rate", "at": 0.0, "hashes": shown.asked.hashes, **own}
    said = fields(shown, **more) if state is None else state
    return Event(id=name or uuid.uuid4().hex, item=shown.id, base=base, state=said, **defaults)


def answer_all(campaign: Campaign, who: Person, given: Assignment, now: float, **changes: Any) -> Saved:
    """Say the same of every item, and that it is complete."""
    changes = changes or finished(campaign)
    events = [change(shown, kind="complete", at=now, **changes) for shown in items(campaign, given)]
    return save(campaign, who, given.id, "page", events, now)


def finished(campaign: Campaign) -> dict[str, Any]:
    """What each protocol needs."""
    protocol = campaign.protocol
    if protocol.scale is not None:
        return {"rating": protocol.scale.high}
    if protocol.criteria:
        return {"verdicts": dict.fromkeys(protocol.criteria, "A")}
    return {"chosen": 0, "edited": "Text."} if protocol.shows == "candidates" else {}


def begin(campaign: Campaign, now: float) -> tuple[Person, Assignment, ItemShown]:
    """The first person, their task and its first item."""
    who = person(campaign)
    given = take(campaign, who, now)
    return who, given, items(campaign, given)[0]


def do_one(campaign: Campaign, who: Person, now: float, **changes: Any) -> Assignment:
    """Do the next task of a person."""
    given = take(campaign, who, now)
    answer_all(campaign, who, given, now, **changes)
    finish(campaign, who, given.id, now)
    return given


def take(campaign: Campaign, who: Person, now: float) -> Assignment:
    """The next task of a person who has one."""
    given = assign_next(campaign, who, now)
    assert given is not None
    return given


def work_off(
    campaign: Campaign,
    who: Person,
    now: float,
    say: Callable[[ItemShown], dict[str, Any]] | None = None,
    **changes: Any,
) -> list[Assignment]:
    """Do all that there is for a person: a task a minute, or all at once what `say` gives of each item."""
    done: list[Assignment] = []
    while (given := assign_next(campaign, who, now)) is not None:
        assert len(done) < 1000
        if say is None:
            answer_all(campaign, who, given, now, **changes)
        else:
            said = [change(one, kind="complete", at=now, **say(one)) for one in items(campaign, given)]
            assert not save(campaign, who, given.id, "page", said, now).refused
        finish(campaign, who, given.id, now)
        done.append(given)
        now += 60 if say is None else 0
    return done
