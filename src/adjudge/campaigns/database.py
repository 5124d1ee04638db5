"""The store of campaigns: SQLite by default, PostgreSQL by its address.

SQLite writes one at a time: writers of this process wait for each other in the order in which they came,
those of other processes at BEGIN IMMEDIATE, where they look again every few milliseconds: SQLite itself would
look ever more seldom, and find the store taken each time while another process imports. Readers never wait.
A commit is on the disk before it is acknowledged.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from adjudge.campaigns.together import Together
from adjudge.campaigns.turns import Turns
from adjudge.errors import StoreError, UsageError

__all__ = ["Database"]

_BUSY: Final = 30.0  # seconds that a writer of another process is waited for
_LOOK: Final = 0.003  # seconds between two looks whether it has ended
_POOL: Final = {"pool_size": 20, "max_overflow": 0, "pool_use_lifo": True}
"""Connections of a process: all are kept, since a server takes longer to make one than to save by it; the one
used last comes first, since it knows the statements. Four processes fit into what PostgreSQL allows."""
_MIGRATION_LOCK: Final = 7_236_014  # any number, the same for all processes that migrate

_Found = TypeVar("_Found")


class Database:
    """A store; safe to share between threads.

    Args:
        url: `sqlite:///PATH` or `postgresql://...`, as text or taken apart.

    Raises:
        UsageError: another kind of address.
    """

    def __init__(self, url: str | URL) -> None:
        self._engine = _engine(url)
        self._writing = self._engine.execution_options(writes=True)
        self.is_sqlite: Final = self._engine.dialect.name == "sqlite"
        self._writers = Turns()
        self._together = Together(self.writing)

    @property
    def url(self) -> str:
        """Address, without its password."""
        return _name(self._engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read one state of the store, whatever others write meanwhile.

        Raises:
            StoreError: it cannot be read.
        """
        with _told(self._engine), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Write in one transaction: all of it or, after an error, nothing. Not to be nested.

        Raises:
            StoreError: it cannot be written, as on a full disk.
        """
        with _told(self._engine):
            if self.is_sqlite:
                with self._writers, self._writing.begin() as connection:
                    yield connection
            else:
                with self._engine.begin() as connection:
                    yield connection

    def write(self, work: Callable[[Connection], _Found]) -> _Found:
        """Do some work in a transaction, on SQLite with that of other threads: on the disk when this returns.

        After an error nothing of it is written; the work of others is. Not to be nested.

        Raises:
            StoreError: it cannot be written, as on a full disk.
        """
        with _told(self._engine):
            if self.is_sqlite:
                return self._together.do(work)
            with self._engine.begin() as connection:
                return work(connection)

    def migrate(self) -> None:
        """Carry an older or an empty store to the tables of this version.

        Raises:
            StoreError: a newer version of adjudge wrote it.
        """
        from adjudge.campaigns.migrations import is_current, upgrade

        with self.reading() as connection:
            if is_current(connection):
                return  # opening waits for nobody who writes
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            upgrade(connection)

    def backup(self, path: Path) -> None:
        """Copy one state of the store to a file, while others read and write.

        Raises:
            UsageError: the file exists, or the store is on a server.
        """
        if not self.is_sqlite:
            raise UsageError("a store on a PostgreSQL server is copied with its own pg_dump")
        if path.exists():
            raise UsageError(f"{path} exists; a backup never writes over a file")
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.unlink(missing_ok=True)
        with _told(self._engine):
            _copy(Path(self._engine.url.database or ""), unfinished)
            unfinished.rename(path)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        target.chmod(0o600)
        old.backup(new)


@contextmanager
def _told(engine: Engine) -> Iterator[None]:
    """Name the store in an error of it."""
    try:
        yield
    except IntegrityError:
        raise  # a row that may not be: whoever writes it knows what that means
    except (SQLAlchemyError, engine.dialect.loaded_dbapi.Error) as error:
        cause = getattr(error, "orig", None) or error
        message = str(cause).strip().replace("\n", " ")
        raise StoreError(f"the campaign's store {_name(engine)} says: {message}") from error


def _name(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _engine(url: str | URL) -> Engine:
    try:
        address = make_url(url)
        if address.drivername in {"postgresql", "postgres"}:
            address = address.set(drivername="postgresql+psycopg")
        if address.drivername == "postgresql+psycopg":
            return create_engine(address, pool_pre_ping=True, **_POOL)
    except (ArgumentError, NoSuchModuleError):
        address = make_url("unknown://")
    if address.drivername != "sqlite" or not address.database:
        raise UsageError("a store's address is sqlite:///PATH or postgresql://USER@HOST/DATABASE")
    engine = create_engine(address, connect_args={"timeout": _BUSY, "check_same_thread": False}, **_POOL)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401 (a connection of the driver)
    connection.isolation_level = None  # we say BEGIN ourselves
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    if not connection.get_execution_options().get("writes"):
        driver.execute("BEGIN")
        return
    driver.execute("PRAGMA busy_timeout=0")
    try:
        _begin_to_write(driver)
    finally:
        driver.execute(f"PRAGMA busy_timeout={1000 * _BUSY:.0f}")


def _begin_to_write(driver: sqlite3.Connection) -> None:
    until = time.monotonic() + _BUSY
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_LOOK)
        else:
            return
