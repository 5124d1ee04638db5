"""Work of many threads in one transaction: done once, durable for all, and a failure is its own alone."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, insert, select

from adjudge.campaigns.database import Database, Statement, audit, campaign
from adjudge.errors import StoreError
from tests.campaigns.conftest import NOW

ADD = Statement(
    insert(campaign).inline().values(name=bindparam("name"), protocol="esa", settings="{}", created_at=NOW)
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'store.sqlite'}")
    made.migrate()
    yield made
    made.close()


def add(name: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        ADD.run(connection, [{"name": name}])
        return name

    return work


def names(database: Database) -> list[str]:
    with database.reading() as connection:
        return list(connection.execute(select(campaign.c.name).order_by(campaign.c.name)).scalars())


def at_once(
    database: Database, jobs: list[Callable[[Connection], str]]
) -> tuple[list[Future[str]], list[str]]:
    """Have jobs wait for each other behind somebody who writes; what became of them, and what SQLite did."""
    asked: list[str] = []
    with ThreadPoolExecutor(len(jobs)) as pool, database.writing() as connection:
        driver: Any = connection.connection.driver_connection
        driver.set_trace_callback(asked.append)
        done = [pool.submit(database.write, jobs[0])]
        while not database._writers._waiting:  # the first one leads, and waits for its turn
            pass
        done += [pool.submit(database.write, job) for job in jobs[1:]]
        while len(database._together._waiting) < len(jobs) - 1:
            pass
    driver.set_trace_callback(None)
    return done, asked


def test_what_comes_meanwhile_is_committed_once(database: Database) -> None:
    done, asked = at_once(database, [add(f"c{number:02d}") for number in range(20)])
    assert [one.result() for one in done] == names(database) == [f"c{number:02d}" for number in range(20)]
    assert asked.count("COMMIT") == 3  # who was there before, the leader, and all who came meanwhile


def test_more_than_fit_into_one_transaction_are_all_written(database: Database) -> None:
    done, asked = at_once(database, [add(f"c{number:03d}") for number in range(70)])
    assert [one.result() for one in done] == names(database)
    assert asked.count("COMMIT") == 5


def test_what_fails_writes_nothing_and_the_others_are_written(database: Database) -> None:
    def fail(connection: Connection) -> str:
        ADD.run(connection, [{"name": "half"}])
        raise InterruptedError

    def break_a_rule(connection: Connection) -> str:
        ADD.run(connection, [{"name": "a"}])
        return "never"

    done, _ = at_once(database, [add("a"), fail, add("b"), break_a_rule, add("c")])
    assert isinstance(done[1].exception(), InterruptedError)
    assert isinstance(done[3].exception(), StoreError)
    assert [done[place].result() for place in (0, 2, 4)] == names(database) == ["a", "b", "c"]


def test_a_commit_that_fails_fails_for_everybody_in_it(database: Database) -> None:
    def break_at_the_end(connection: Connection) -> str:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        values = {"campaign_id": 99, "at": NOW, "actor": "x", "action": "x", "detail": ""}
        connection.execute(insert(audit).values(**values))
        return "never"

    done, _ = at_once(database, [add("a"), add("b"), break_at_the_end, add("c")])
    assert done[0].result() == "a"
    assert all(one.exception() for one in done[1:])
    assert names(database) == ["a"]
    assert database.write(add("d")) == "d"
