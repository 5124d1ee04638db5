"""The store: transactions, turns of writers, migrations, backups."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, bindparam, func, insert, inspect, literal, select, text, update
from sqlalchemy.event import listen
from sqlalchemy.exc import IntegrityError

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import (
    _MOST_DEADLOCKS,
    METADATA,
    Database,
    Statement,
    Turns,
    audit,
    campaign,
)
from adjudge.errors import StoreError, UsageError
from tests.campaigns.conftest import (
    NOW,
    SCHEMA,
    MakeCampaign,
    drop_leftovers,
    schemas,
    server_connection,
    server_store,
)
from tests.faults.server import patient

ROW = {"protocol": "esa", "settings": "{}", "created_at": NOW}


@pytest.fixture
def empty(url: str) -> Iterator[Database]:
    """A store of each kind with the tables of today."""
    with closing(Database(url)) as made:
        made.migrate()
        yield made


@pytest.fixture
def in_a_file(tmp_path: Path) -> Iterator[Database]:
    """The same in a file."""
    with closing(Database(f"sqlite:///{tmp_path / 'store.sqlite'}")) as made:
        made.migrate()
        yield made


@pytest.fixture
def url(store: str | None, tmp_path: Path) -> str:
    return store or f"sqlite:///{tmp_path / 'store.sqlite'}"


def count(database: Database) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(campaign)).scalar_one())


def assert_has_all(database: Database) -> None:
    """All tables, columns and indexes of today."""
    with database.writing() as connection:
        assert set(METADATA.tables) <= set(inspect(connection).get_table_names())
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
        names = {index.name for table in METADATA.tables.values() for index in table.indexes}
        found = {
            index["name"] for table in METADATA.tables for index in inspect(connection).get_indexes(table)
        }
    assert [found for found in differences if "index" not in found[0]] == []  # SQLite tells no expressions
    assert names <= found


def test_an_empty_store_gets_all_tables(url: str) -> None:
    with closing(Database(url)) as database:
        for _ in range(2):  # the second time nothing is left to do
            database.migrate()
        assert_has_all(database)


def test_a_newer_store_is_refused_and_left_as_it_is(empty: Database) -> None:
    with empty.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'm999'"))
    with pytest.raises(StoreError, match=r"newer adjudge.*'m999'.*update adjudge"):
        empty.migrate()
    with empty.reading() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "m999"


def test_all_connections_are_kept_and_whoever_finds_none_waits(url: str) -> None:
    database = Database(url)
    made: list[object] = []
    listen(database._engine, "connect", lambda *one: made.append(one))
    database._engine.pool._timeout = 0  # type: ignore[attr-defined] # how long one waits
    for _ in range(2):
        with ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(database.reading())
            with pytest.raises(StoreError, match="limit of size 20"), database.reading():
                pass
    assert len(made) == 20
    database.close()


def test_a_store_of_today_is_opened_while_somebody_writes(url: str) -> None:
    database, other = Database(url), Database(url)
    database.migrate()
    with database.writing() as connection:
        connection.execute(insert(campaign).values(name="x", **ROW))
        other.migrate()
    assert count(other) == 1
    for one in (database, other):
        one.close()


def test_processes_that_start_together_migrate_once(url: str) -> None:
    databases = [Database(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Database.migrate, databases))
    assert [count(database) for database in databases] == [0] * 4
    for database in databases:
        database.close()


def test_a_file_that_others_make_at_this_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that switch one file to WAL, SQLite refuses one at once, whatever time it was given."""
    refused: list[str] = []

    class Refusing(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            if "WAL" in sql and len(refused) < 2:
                refused.append(sql)
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise error
            return super().execute(sql, *parameters)

    connect = sqlite3.dbapi2.connect  # what SQLAlchemy calls
    monkeypatch.setattr(sqlite3.dbapi2, "connect", lambda *a, **k: connect(*a, **k, factory=Refusing))
    database = Database(f"sqlite:///{tmp_path / 'store.sqlite'}")
    database.migrate()
    assert len(refused) == 2
    assert count(database) == 0
    database.close()


def test_a_row_that_may_not_be_is_the_callers_business(empty: Database) -> None:
    with pytest.raises(IntegrityError), empty.writing() as connection:
        connection.execute(insert(campaign), [{"name": "x", **ROW}] * 2)
    row = {"campaign_id": 99, "at": NOW, "actor": "", "action": "", "detail": ""}
    with pytest.raises(IntegrityError), empty.writing() as connection:  # foreign keys hold
        connection.execute(insert(audit).values(**row))


def test_a_reader_sees_one_state_whatever_is_written(in_a_file: Database) -> None:
    with in_a_file.reading() as connection:
        before = connection.execute(select(func.count()).select_from(campaign)).scalar_one()
        with in_a_file.writing() as other:
            other.execute(insert(campaign).values(name="x", **ROW))
        after = connection.execute(select(func.count()).select_from(campaign)).scalar_one()
    assert (before, after, count(in_a_file)) == (0, 0, 1)


def test_many_writers_at_once_all_get_their_turn(empty: Database) -> None:
    def write(name: str) -> None:
        for number in range(10):
            with empty.writing() as connection:
                found = connection.execute(select(func.count()).select_from(campaign)).scalar_one()
                connection.execute(insert(campaign).values(name=f"{name}-{number}-{found}", **ROW))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, "abcdefgh"))
    assert count(empty) == 80


def test_a_writer_of_another_process_is_waited_for_but_not_for_ever(
    in_a_file: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, path = in_a_file, tmp_path / "store.sqlite"
    looks: list[float] = []
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")

        def look(seconds: float) -> None:
            looks.append(seconds)
            if len(looks) == 3:
                other.execute("COMMIT")

        monkeypatch.setattr("adjudge.store.sqlite.time.sleep", look)
        with database.writing() as connection:
            connection.execute(insert(campaign).values(name="x", **ROW))
            assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 30_000
        assert len(looks) == 3
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("adjudge.campaigns.database._BUSY", 0.0)
        with pytest.raises(StoreError, match="database is locked"), database.writing():
            pass
    assert count(database) == 1


def test_a_commit_is_on_the_disk_before_it_is_acknowledged(in_a_file: Database) -> None:
    with in_a_file.reading() as connection:
        pragmas = [
            connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 2, 1]


def test_other_stores_are_refused() -> None:
    drivers = ["sqlite+pysqlcipher:///x", "postgresql+pg8000://x"]
    for url in ["", "store.sqlite", "mysql://host/x", "sqlite://", *drivers]:
        with pytest.raises(UsageError, match="sqlite:///PATH or postgresql://"):
            Database(url)


def test_an_address_never_shows_its_password() -> None:
    database = Database("postgresql://ann:hidden@localhost:1/none?connect_timeout=1")
    assert "hidden" not in database.url
    with pytest.raises(StoreError, match="ann:\\*\\*\\*@localhost") as caught, database.reading():
        pass
    assert "hidden" not in str(caught.value)


def test_a_path_may_hold_any_character(make_campaign: MakeCampaign) -> None:
    made, _ = make_campaign(name="50% Größe? #1 & mehr")
    opened = open_campaign(made.folder)
    assert opened.name == "50% Größe? #1 & mehr"
    opened.database.close()


# Backups...


def test_a_backup_holds_everything_that_was_acknowledged_before(in_a_file: Database, tmp_path: Path) -> None:
    acknowledged, is_done = [0], threading.Event()

    def write() -> None:
        while not is_done.is_set():
            with in_a_file.writing() as connection:
                connection.execute(insert(campaign).values(name=str(acknowledged[0]), **ROW))
            acknowledged[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            before = acknowledged[0]
            in_a_file.backup(tmp_path / f"{number}.sqlite", "")
            with closing(sqlite3.connect(tmp_path / f"{number}.sqlite")) as copy:
                assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert copy.execute("SELECT count(*) FROM campaign").fetchone()[0] >= before
    finally:
        is_done.set()
        writer.join()


def test_a_backup_writes_over_nothing_and_leaves_nothing_unfinished(
    in_a_file: Database, tmp_path: Path
) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        in_a_file.backup(tmp_path / "there", "")
    with pytest.raises(StoreError):
        in_a_file.backup(tmp_path / "no" / "folder", "")
    assert (tmp_path / "there").read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


# Turns...


def test_who_waits_longest_goes_first() -> None:
    turns, order, threads = Turns(), [], []

    def wait(number: int) -> None:
        with turns:
            order.append(number)

    with turns:
        for number in range(20):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            while len(turns._waiting) <= number:
                threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_an_error_within_a_turn_lets_the_next_one_in() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns:
        raise ZeroDivisionError
    with turns:
        pass


# Statements that go to the driver: the same rows and errors as by SQLAlchemy, on every kind of store.


NAMES = ("Alder", "Birch", "Cedar")
ADD = Statement(
    insert(campaign).inline().values(name=bindparam("name"), protocol="esa", settings="{}", created_at=NOW)
)
FIND = Statement(
    select(campaign.c.name, campaign.c.created_at.label("at"), campaign.c.name)
    .where(campaign.c.name.in_(map(literal, NAMES[:2])), campaign.c.created_at <= bindparam("now"))
    .order_by(campaign.c.name)
)
RENAME = Statement(update(campaign).where(campaign.c.name == bindparam("old")).values(name=bindparam("new")))


@pytest.fixture
def database(empty: Database) -> Database:
    with empty.writing() as connection:
        ADD.run(connection, [{"name": name} for name in NAMES])
    return empty


def test_rows_have_the_names_of_columns_and_the_values_that_were_given(database: Database) -> None:
    with database.reading() as connection:
        rows = FIND.rows(connection, now=NOW)
        assert [(row.name, row.at) for row in rows] == [("Alder", NOW), ("Birch", NOW)]
        assert [tuple(row) for row in rows] == [("Alder", NOW, "Alder"), ("Birch", NOW, "Birch")]
        assert FIND.first(connection, now=NOW).name == "Alder"
        assert FIND.first(connection, now=NOW - 1) is None


def test_each_of_several_rows_is_written_in_the_transaction(database: Database) -> None:
    def rename() -> None:
        with database.writing() as connection:
            RENAME.run(connection, [{"old": name, "new": f"{name}!"} for name in NAMES])
            raise InterruptedError

    with pytest.raises(InterruptedError):
        rename()
    with database.reading() as connection:
        assert len(FIND.rows(connection, now=NOW)) == 2


def test_an_error_of_the_driver_names_the_store(database: Database) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE campaign RENAME COLUMN name TO title")
    with pytest.raises(StoreError, match=r"store .* says: .*name"), database.reading() as connection:
        FIND.rows(connection, now=NOW)


# Work of many threads in one transaction: done once, durable for all, and a failure is its own alone.


def add(name: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        ADD.run(connection, [{"name": name}])
        return name

    return work


def names(in_a_file: Database) -> list[str]:
    with in_a_file.reading() as connection:
        return list(connection.execute(select(campaign.c.name).order_by(campaign.c.name)).scalars())


def at_once(
    in_a_file: Database, jobs: list[Callable[[Connection], str]]
) -> tuple[list[Future[str]], list[str]]:
    """Have jobs wait for each other behind somebody who writes; what became of them, and what SQLite did."""
    asked: list[str] = []
    with ThreadPoolExecutor(len(jobs)) as pool, in_a_file.writing() as connection:
        driver: Any = connection.connection.driver_connection
        driver.set_trace_callback(asked.append)
        done = [pool.submit(in_a_file.write, jobs[0])]
        while not in_a_file._writers._waiting:  # the first one leads, and waits for its turn
            pass
        done += [pool.submit(in_a_file.write, job) for job in jobs[1:]]
        while len(in_a_file._together._waiting) < len(jobs) - 1:
            pass
    driver.set_trace_callback(None)
    return done, asked


def test_what_comes_meanwhile_is_committed_once(in_a_file: Database) -> None:
    done, asked = at_once(in_a_file, [add(f"c{number:02d}") for number in range(20)])
    assert [one.result() for one in done] == names(in_a_file) == [f"c{number:02d}" for number in range(20)]
    assert asked.count("COMMIT") == 3  # who was there before, the leader, and all who came meanwhile


def test_more_than_fit_into_one_transaction_are_all_written(in_a_file: Database) -> None:
    done, asked = at_once(in_a_file, [add(f"c{number:03d}") for number in range(70)])
    assert [one.result() for one in done] == names(in_a_file)
    assert asked.count("COMMIT") == 5


def test_what_fails_writes_nothing_and_the_others_are_written(in_a_file: Database) -> None:
    def fail(connection: Connection) -> str:
        ADD.run(connection, [{"name": "half"}])
        raise InterruptedError

    def break_a_rule(connection: Connection) -> str:
        ADD.run(connection, [{"name": "a"}])
        return "never"

    done, _ = at_once(in_a_file, [add("a"), fail, add("b"), break_a_rule, add("c")])
    assert isinstance(done[1].exception(), InterruptedError)
    assert isinstance(done[3].exception(), StoreError)
    assert [done[place].result() for place in (0, 2, 4)] == names(in_a_file) == ["a", "b", "c"]


def test_a_commit_that_fails_fails_for_everybody_in_it(in_a_file: Database) -> None:
    def break_at_the_end(connection: Connection) -> str:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        values = {"campaign_id": 99, "at": NOW, "actor": "x", "action": "x", "detail": ""}
        connection.execute(insert(audit).values(**values))
        return "never"

    done, _ = at_once(in_a_file, [add("a"), add("b"), break_at_the_end, add("c")])
    assert done[0].result() == "a"
    assert all(one.exception() for one in done[1:])
    assert names(in_a_file) == ["a"]
    assert in_a_file.write(add("d")) == "d"


def test_who_a_deadlock_sends_away_does_its_work_again(url: str) -> None:
    with closing(Database(url)) as database:
        database.migrate()
        with database.writing() as connection:
            for name in ("one", "two"):
                connection.execute(insert(campaign).values(name=name, **ROW))
        both_hold_one = threading.Barrier(2)
        tries: list[str] = []

        def rename(first: str, second: str) -> None:
            def work(connection: Connection) -> None:
                tries.append(first)
                for name in (first, second):
                    chosen = campaign.c.name.like(f"{name}%")
                    connection.execute(update(campaign).where(chosen).values(name=campaign.c.name + "!"))
                    if len(tries) <= 2 and name == first and not database.is_sqlite:
                        both_hold_one.wait(timeout=60)  # SQLite has one writer at a time

            database.write_alone(work)

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(rename, "one", "two"), pool.submit(rename, "two", "one")]:
                done.result(timeout=60)
        with database.reading() as connection:
            assert sorted(connection.execute(select(campaign.c.name)).scalars()) == ["one!!", "two!!"]
        assert len(tries) in ([2] if database.is_sqlite else range(3, 2 * (_MOST_DEADLOCKS + 1) + 1))


KILLED = """
import os
from tests.campaigns.conftest import server_store
store = server_store()
print(next(store).rpartition("%3D")[2], flush=True)
os._exit(1)
"""


def left_after_another_look() -> set[str]:
    drop_leftovers.__wrapped__()
    with server_connection() as connection:
        return schemas(connection)


@pytest.mark.slow
def test_the_schema_of_a_test_that_was_killed_is_dropped_by_the_next_and_no_other() -> None:
    command = [sys.executable, "-c", KILLED]
    with contextmanager(server_store)() as url:
        killed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        assert killed.returncode == 1
        assert killed.stdout.startswith(SCHEMA)
        assert patient(60, lambda: killed.stdout.strip() not in left_after_another_look())
        assert url.rpartition("%3D")[2] in left_after_another_look()
