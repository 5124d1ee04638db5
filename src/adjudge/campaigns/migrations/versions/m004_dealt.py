"""Tasks are dealt to people: who shared a batch holds its tasks, as many people as a task needs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from alembic import op
from sqlalchemy import Column, Connection, Text, TextClause, inspect, text

revision = "m004"
down_revision = "m003"

_FOREVER = 1e11


def upgrade() -> None:
    """Deal static batches; make each task of a pool a batch of its own; give people language pairs."""
    connection = op.get_bind()
    inspector = inspect(connection)
    columns = {column["name"] for column in inspector.get_columns("person")}
    if "lps" not in columns:
        op.add_column("person", Column("lps", Text))
    if "batch" in columns:
        _deal(connection)
        op.drop_column("person", "batch")
    if "ix_assignment_person_id_state" in {str(one["name"]) for one in inspector.get_indexes("assignment")}:
        op.drop_index("ix_assignment_person_id_state", "assignment")
        op.create_index("ix_assignment_person_id_state_place", "assignment", ["person_id", "state", "place"])
        op.drop_index("ix_task_open", "task")
        order: list[str | TextClause] = [
            "campaign_id",
            "kind",
            "is_closed",
            "lp",
            text("priority DESC"),
            "number",
        ]
        op.create_index("ix_task_open", "task", order)


_SEPARATE = """
UPDATE task SET batch = COALESCE(
  (SELECT first.number FROM task AS first WHERE first.id = task.copy_of AND task.kind = 'check'), number)
WHERE campaign_id = :campaign AND batch IS NULL AND kind IN ('original', 'control', 'check')
"""
_PEOPLE = """
SELECT id, batch FROM person
WHERE campaign_id = :campaign AND batch IS NOT NULL AND revoked_at IS NULL ORDER BY id
"""
_TASKS = """
SELECT id, batch, lp, copy_of, redundancy FROM task
WHERE campaign_id = :campaign AND kind IN ('original', 'control', 'check') AND only_for IS NULL
ORDER BY number
"""
_HAD = """
SELECT task_id, person_id, assignment.state FROM assignment JOIN task ON task.id = task_id
WHERE campaign_id = :campaign
"""
_INSERT = """
INSERT INTO assignment (task_id, person_id, state, place, seed, leased_until, started_at)
VALUES (:task, :person, 'dealt', :place, :seed, :until, :at)
"""


def _deal(connection: Connection) -> None:
    for number, words, at in connection.execute(text("SELECT id, settings, created_at FROM campaign")).all():
        settings = json.loads(words)
        if settings.get("assignment", "static") == "static":
            _deal_static(connection, number, settings.get("seed", 0), at)
        connection.execute(text(_SEPARATE), {"campaign": number})


def _deal_static(connection: Connection, campaign: int, seed: int, at: float) -> None:
    """Deal what is free to those who share its batch and have least; a check to who has its original."""
    asked = {"campaign": campaign}
    people = [tuple(row) for row in connection.execute(text(_PEOPLE), asked)]
    had: dict[int, dict[int, str]] = {}
    for task, person, state in connection.execute(text(_HAD), asked):
        had.setdefault(task, {})[person] = state
    load = Counter(person for of_task in had.values() for person in of_task)
    place: Counter[int] = Counter()
    lps: dict[int, set[str]] = {person: set() for person, _ in people}
    for row in connection.execute(text(_TASKS), asked).all():
        theirs = had.setdefault(row.id, {})
        free = row.redundancy - sum(state != "expired" for state in theirs.values())
        sharing = [person for person, batch in people if batch == row.batch]
        for person in sharing:
            lps[person].add(row.lp)
        fit = [
            person
            for person in sharing
            if person not in theirs and (row.copy_of is None or person in had.get(row.copy_of, ()))
        ]
        chosen = sorted(fit, key=lambda person: (load[person], person))[: max(free, 0)]
        for person in chosen:
            digest = hashlib.sha256(f"{seed}/{row.id}/{person}".encode()).digest()
            values = {"task": row.id, "person": person, "place": place[person], "until": _FOREVER, "at": at}
            connection.execute(text(_INSERT), {**values, "seed": int.from_bytes(digest[:4]) >> 1})
            theirs[person] = "dealt"
            load[person] += 1
            place[person] += 1
        close = text("UPDATE task SET is_closed = :closed WHERE id = :task")
        connection.execute(close, {"closed": len(chosen) >= free, "task": row.id})
    for person, own in lps.items():
        given = {"lps": json.dumps(sorted(own)), "person": person}
        connection.execute(text("UPDATE person SET lps = :lps WHERE id = :person"), given)
