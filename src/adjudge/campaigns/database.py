"""The store of campaigns: SQLite by default, PostgreSQL by its address.

Here are `Database`, which reads and writes it; its tables, which `migrations/` makes;
`Statement`, which makes the SQL of the busiest requests once; what a campaign and a person are in memory; and
the audit of who did what, a list that only grows.

SQLite writes one at a time: writers of this process wait for each other in the order in which they came,
those of other processes at BEGIN IMMEDIATE, where they look again every few milliseconds: SQLite itself would
look ever more seldom, and find the store taken each time while another process imports. Readers never wait.
A commit is on the disk before it is acknowledged.
"""

from __future__ import annotations

import json
import sqlite3
from collections import deque, namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar, get_args

from sqlalchemy import (
    URL,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Insert,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    Update,
    create_engine,
    func,
    insert,
    make_url,
    select,
    text,
)
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.sql.compiler import SQLCompiler

from adjudge.campaigns.settings import CampaignProtocol, CampaignSettings
from adjudge.core.frozen import frozen
from adjudge.core.wording import count as counted
from adjudge.errors import DataError, StoreError, UsageError
from adjudge.store.sqlite import insist

_MOST: Final = 32  # of one transaction: the first of them waits for the last
_Found = TypeVar("_Found")


class _Job:
    """Some work, until it is on the disk or has failed."""

    def __init__(self, work: Callable[[Connection], object]) -> None:
        self._work = work
        self._found: object = None
        self.error: BaseException | None = None
        self.is_done = False
        self.turn = Lock()
        self.turn.acquire()  # until it is done, or leads

    def run(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        driver.execute("SAVEPOINT job")
        try:
            self._found = self._work(connection)
        except Exception as error:  # noqa: BLE001 (raised again in its own thread)
            self.error = error
            driver.execute("ROLLBACK TO job")
        driver.execute("RELEASE job")

    def result(self) -> Any:  # noqa: ANN401 (what the work gave)
        if self.error is not None:
            raise self.error
        return self._found


class Together:
    """Transactions that threads share: one of them leads, and does the work of all who wait."""

    def __init__(self, writing: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._writing = writing
        self._guard = Lock()
        self._waiting: deque[_Job] = deque()
        self._is_led = False

    def do(self, work: Callable[[Connection], _Found]) -> _Found:
        """Have work done; committed when this returns. What it raises is raised here."""
        mine = _Job(work)
        with self._guard:
            self._waiting.append(mine)
            leads, self._is_led = not self._is_led, True
        if not leads:
            mine.turn.acquire()
        if not mine.is_done:
            self._lead()
        found: _Found = mine.result()
        return found

    def _lead(self) -> None:
        with self._guard:
            jobs = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
        try:
            with self._writing() as connection:
                for job in jobs:
                    job.run(connection)
        except BaseException as error:  # noqa: BLE001 (raised again in each of their threads)
            for job in jobs:
                job.error = job.error or error
        with self._guard:
            self._is_led = bool(self._waiting)
            following = [self._waiting[0]] if self._waiting else []
        for job in jobs:
            job.is_done = True
        for job in (*jobs, *following):
            job.turn.release()


class Turns:
    """One at a time, first come, first served; a plain lock often goes back to the thread that left it."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._waiting: deque[Lock] = deque()
        self._is_taken = False

    def __enter__(self) -> None:
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # until the one before leaves

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False


_BUSY: Final = 30.0  # seconds that a writer of another process is waited for
_POOL: Final = {"pool_size": 20, "max_overflow": 0, "pool_use_lifo": True}
"""Connections of a process: all are kept, since a server takes longer to make one than to save by it; the one
used last comes first, since it knows the statements. Four processes fit into what PostgreSQL allows."""
_MIGRATION_LOCK: Final = 7_236_014  # any number, the same for all processes that migrate


class Database:
    """A store; safe to share between threads."""

    def __init__(self, url: str | URL) -> None:
        self._engine = _engine(url)
        self._writing = self._engine.execution_options(writes=True)
        self.is_sqlite: Final = self._engine.dialect.name == "sqlite"
        self._writers = Turns()
        self._together = Together(self.writing)

    @property
    def url(self) -> str:
        return _name(self._engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read one state of the store, whatever others write meanwhile."""
        with _told(self._engine), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Write in one transaction: all of it or, after an error, nothing. Not to be nested."""
        turn = self._writers if self.is_sqlite else nullcontext()
        with _told(self._engine), turn, self._writing.begin() as connection:
            yield connection

    @contextmanager
    def writing_alone(self) -> Iterator[Connection]:
        """Write while nobody else writes to any campaign of the store; who waits goes on afterwards."""
        with self.writing() as connection:
            if not self.is_sqlite:
                names = map(self._engine.dialect.identifier_preparer.format_table, METADATA.sorted_tables)
                connection.execute(text(f"LOCK TABLE {', '.join(names)} IN SHARE ROW EXCLUSIVE MODE"))
            yield connection

    def is_same(self, other: Database) -> bool:
        """Whether another address is of this store, too."""
        if self.is_sqlite or other.is_sqlite:
            paths = [Path(one._engine.url.database or "").resolve() for one in (self, other)]  # noqa: SLF001 (its own)
            return self.is_sqlite == other.is_sqlite and paths[0] == paths[1]
        places = []
        for one in (self, other):
            with one.reading() as connection:
                places.append(tuple(connection.execute(text(_PLACE)).one()))
        return places[0] == places[1]

    def write(self, work: Callable[[Connection], _Found]) -> _Found:
        """Do some work in a transaction, on SQLite with that of other threads: on the disk when this returns.

        After an error nothing of it is written; the work of others is. Not to be nested.
        """
        if self.is_sqlite:
            with _told(self._engine):
                return self._together.do(work)
        return self.write_alone(work)

    def write_alone(self, work: Callable[[Connection], _Found]) -> _Found:
        """Do some work in a transaction of its own, again where a server ended it because of a deadlock."""
        for _ in range(_MOST_DEADLOCKS):
            try:
                with self.writing() as connection:
                    return work(connection)
            except StoreError as error:
                if getattr(getattr(error.__cause__, "orig", error.__cause__), "sqlstate", "") != _DEADLOCK:
                    raise
        with self.writing() as connection:
            return work(connection)

    def migrate(self) -> None:
        """Make the tables of this version where a store lacks them."""
        from adjudge.campaigns.migrations import is_current, upgrade

        with self.reading() as connection:
            if is_current(connection):
                return  # opening waits for nobody who writes
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            upgrade(connection)

    def backup(self, path: Path, name: str) -> None:
        """Copy one state of a campaign to a SQLite store, while others read and write."""
        if path.exists():
            raise UsageError(f"{path} exists; a backup never writes over a file")
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.unlink(missing_ok=True)
        with _told(self._engine):
            if self.is_sqlite:
                with (
                    closing(sqlite3.connect(self._engine.url.database or "")) as old,
                    closing(sqlite3.connect(unfinished)) as new,
                ):
                    unfinished.chmod(0o600)
                    old.backup(new)
            else:
                with closing(Database(URL.create("sqlite", database=str(unfinished.absolute())))) as copy:
                    copy.migrate()
                    unfinished.chmod(0o600)
                    with self.reading() as source, copy.writing() as target:
                        copy_campaign(name, source, target)
            unfinished.rename(path)

    def close(self) -> None:
        self._engine.dispose()


_PLACE: Final = "SELECT pg_postmaster_start_time()::text, current_database(), to_regclass('campaign')::oid"
_DEADLOCK: Final = "40P01"  # of PostgreSQL: of two who wait for each other, one is sent away
_MOST_DEADLOCKS: Final = 5


@contextmanager
def _told(engine: Engine) -> Iterator[None]:
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
    sqlalchemy_event.listen(engine, "connect", _prepare)
    sqlalchemy_event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401 (a connection of the driver)
    connection.isolation_level = None  # we say BEGIN ourselves
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        insist(connection, f"PRAGMA {pragma}", _BUSY)


def _begin(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    if not connection.get_execution_options().get("writes"):
        driver.execute("BEGIN")
        return
    driver.execute("PRAGMA busy_timeout=0")
    try:
        insist(driver, "BEGIN IMMEDIATE", _BUSY)
    finally:
        driver.execute(f"PRAGMA busy_timeout={1000 * _BUSY:.0f}")


METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up in INTEGER keys alone


def _key() -> Column[int]:
    return Column("id", _Id, primary_key=True)


def _of(table: str, *, nullable: bool = False) -> Column[int]:
    return Column(f"{table}_id", ForeignKey(f"{table}.id"), nullable=nullable)


campaign: Final = Table(
    "campaign",
    METADATA,
    _key(),
    Column("name", String(200), nullable=False, unique=True),
    Column("protocol", String(40), nullable=False),
    Column("settings", Text, nullable=False),  # JSON of campaigns.settings.CampaignSettings
    Column("created_at", Float, nullable=False),
)

person: Final = Table(
    "person",
    METADATA,
    _key(),
    _of("campaign"),
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),  # annotator, adjudicator, organiser
    Column("lps", Text),  # JSON list of language pairs; NULL for all of the campaign
    Column("link_hash", String(64), unique=True),  # SHA-256 of the link's secret
    Column("password_hash", Text),  # argon2, organisers alone
    Column("revoked_at", Float),
    Column("tutorial_at", Float),  # when the tutorial was passed
    Column("language", String(64)),  # of the pages; NULL where none was chosen
    Column("created_at", Float, nullable=False),
    UniqueConstraint("campaign_id", "name"),
)

session: Final = Table(
    "session",
    METADATA,
    Column("hash", String(64), primary_key=True),  # SHA-256 of the cookie
    _of("person"),
    Column("created_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
)

task: Final = Table(
    "task",
    METADATA,
    _key(),
    _of("campaign"),
    Column("number", Integer, nullable=False),
    Column("kind", String(20), nullable=False),  # formats.campaign_export.Kind
    Column("lp", String(80), nullable=False),
    Column("document", Text, nullable=False),
    Column("systems", Text, nullable=False),  # JSON list: one, a pair, or several
    Column("batch", Integer),  # tasks of one batch are dealt together: a document with all its systems
    Column("copy_of", ForeignKey("task.id")),  # the original of a check, of a second pass, of an adjudication
    Column("raters", Integer, nullable=False),  # how many people it needs
    Column("only_for", ForeignKey("person.id")),  # where just one person may have it
    Column("priority", Float, nullable=False),  # higher first
    Column("is_closed", Boolean, nullable=False),
    UniqueConstraint("campaign_id", "number"),
    Index("ix_task_open", "campaign_id", "kind", "is_closed", "lp", text("priority DESC"), "number"),
    Index(None, "campaign_id", "batch", "is_closed", "number"),
    Index(None, "copy_of"),
    Index(None, "only_for"),
)

item: Final = Table(
    "item",
    METADATA,
    _key(),
    _of("task"),
    Column("place", Integer, nullable=False),  # within its task, from 0
    Column("segment", Text, nullable=False),
    Column("media", String(10), nullable=False),  # text, image, audio, video
    Column("source", Text, nullable=False),  # text, or the media file's address below the campaign's folder
    Column("translations", Text, nullable=False),  # JSON list of campaigns.items.Shown, by systems
    Column("check", Text),  # JSON: what a tutorial or a check expects
    UniqueConstraint("task_id", "place"),
)

assignment: Final = Table(
    "assignment",
    METADATA,
    _key(),
    _of("task"),
    _of("person"),
    Column("state", String(10), nullable=False),  # dealt, leased, done, expired
    Column("place", Integer, nullable=False),  # the person's how manieth, from 0; of dealt ones their order
    Column("seed", Integer, nullable=False),  # of the order in which sides are shown
    Column("leased_until", Float, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("done_at", Float),
    UniqueConstraint("task_id", "person_id"),
    Index(None, "person_id", "state", "place"),
    Index(None, "task_id", "state"),
    Index(None, "state", "leased_until"),
    Index(None, "state", "done_at"),
)

answer: Final = Table(
    "answer",
    METADATA,
    Column("assignment_id", ForeignKey("assignment.id"), primary_key=True),
    Column("item_id", ForeignKey("item.id"), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("state", Text, nullable=False),  # JSON of campaigns.items.State
    Column("is_complete", Boolean, nullable=False),
    Column("active", Float),  # seconds; NULL where nobody measured them
    Column("idle", Float, nullable=False),
    Column("first_at", Float, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("language", String(64)),  # of the page that saved last; NULL where that is unknown
)

event: Final = Table(
    "event",
    METADATA,
    _key(),
    _of("assignment"),
    _of("item"),
    _of("person"),
    Column("client_id", String(64), nullable=False),  # made in the browser; the same one counts once
    Column("page", String(64), nullable=False),
    Column("revision", Integer),  # that it made; a time makes none
    Column("kind", String(20), nullable=False),
    Column("state", Text, nullable=False),
    Column("client_at", Float, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("person_id", "client_id"),
    UniqueConstraint("assignment_id", "item_id", "revision"),
)

verdict: Final = Table(
    "verdict",  # what the agreement gate decided of a segment
    METADATA,
    _key(),
    _of("campaign"),
    Column("lp", String(80), nullable=False),
    Column("segment", Text, nullable=False),
    Column("pass", Integer, nullable=False),  # 1 or 2
    Column("decision", String(10), nullable=False),  # kept, again, dropped
    Column("agreement", Float),
    Column("at", Float, nullable=False),
    UniqueConstraint("campaign_id", "lp", "segment", "pass"),
)

audit: Final = Table(
    "audit",
    METADATA,
    _key(),
    _of("campaign"),
    Column("at", Float, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("action", String(40), nullable=False),
    Column("detail", Text, nullable=False),
)


def copy_campaign(name: str, source: Connection, target: Connection) -> None:
    """Copy all rows of a campaign to another store, under the same keys, in the place of what that has of it.

    The order in which people see translations depends on the key of an item, and notes of second looks name
    the keys of assignments: other keys would give what people said to other systems.
    """
    if not has_campaign(name, source):
        raise DataError(f"it has no campaign {name!r}")
    delete_campaign(name, target)
    for table in METADATA.sorted_tables:
        query = select(table).where(_belongs(table, name)).order_by(*table.primary_key)
        for rows in source.execute(query).mappings().partitions(_COPIED):
            try:
                target.execute(insert(table), [*map(dict, rows)])
            except IntegrityError as error:
                raise UsageError(
                    "the store has another campaign under the same keys: restore this one to a database, or "
                    "a schema, of its own"
                ) from error
        if "id" in table.c and target.dialect.name == "postgresql":
            highest = select(func.coalesce(func.max(table.c.id), 1)).scalar_subquery()
            target.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), highest)))


_COPIED: Final = 2000  # rows at a time


def delete_campaign(name: str, connection: Connection) -> None:
    """Delete all rows of a campaign; where it has none, nothing."""
    for table in reversed(METADATA.sorted_tables):
        connection.execute(table.delete().where(_belongs(table, name)))


def has_campaign(name: str, connection: Connection) -> bool:
    """Whether a store has a campaign of this name."""
    return connection.execute(select(campaign.c.id).where(campaign.c.name == name)).first() is not None


def size_of(name: str, connection: Connection) -> str:
    """How many people and finished segments a campaign has, in words."""
    chosen = (
        select(func.count()).select_from(person).where(_belongs(person, name)),
        select(func.count()).select_from(answer).where(_belongs(answer, name), answer.c.is_complete),
    )
    people, finished = (connection.execute(query).scalar_one() for query in chosen)
    return f"{counted(people, 'person', 'people')}, {counted(finished, 'finished segment')}"


def holds_nothing_new(name: str, one: Connection, other: Connection) -> bool:
    """Whether another store has all that people did in a campaign, as this one has it.

    It has where both say that it was made at the same moment, and it has every event and every line of the
    audit, which are never changed.
    """
    made = select(campaign.c.id, campaign.c.created_at).where(campaign.c.name == name)
    queries = [made] + [
        select(table.c.id, *(table.c[column] for column in columns)).where(_belongs(table, name))
        for table, columns in ((event, ("client_id", "at")), (audit, ("actor", "action", "detail", "at")))
    ]
    return all({*map(tuple, one.execute(query))} <= {*map(tuple, other.execute(query))} for query in queries)


def _belongs(table: Table, name: str) -> ColumnElement[bool]:
    """Whether a row is of a campaign, by the table that it must name first."""
    if table is campaign:
        return campaign.c.name == name
    key = next(key for column in table.c if not column.nullable for key in column.foreign_keys)
    parent = key.column.table
    return key.parent.in_(select(parent.c.id).where(_belongs(parent, name)))


AnyStatement = Select[Any] | Insert | Update


class _Made(NamedTuple):
    sql: str
    values: Mapping[str, Any]
    names: Sequence[str] | None

    def filled(self, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 (values by name or in order, for the driver)
        values = {**self.values, **given}
        return values if self.names is None else [values[name] for name in self.names]


class Statement:
    """A statement; its rows have the names of its columns, as the driver gives them: truth may be 0 or 1."""

    def __init__(self, statement: AnyStatement) -> None:
        self._statement: Final = statement
        self._made: Final[dict[str, _Made]] = {}
        found = statement.selected_columns if isinstance(statement, Select) else statement.exported_columns
        names = [str(column.key) for column in found]
        # No type checker and no lint rule knows the names of a statement's columns.
        row: Callable[..., Any] = namedtuple("_Row", names, rename=True)  # type: ignore[misc] # noqa: PYI024
        self._row: Final = row

    def rows(self, connection: Connection, **given: object) -> list[Any]:
        made = self._for(connection)
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(made.sql, made.filled(given))
            return [self._row(*row) for row in cursor.fetchall()]

    def first(self, connection: Connection, **given: object) -> Any:  # noqa: ANN401 (a row of what was selected)
        """Run it, and read the first row; None where there is none."""
        return next(iter(self.rows(connection, **given)), None)

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of several rows of values."""
        made = self._for(connection)
        with closing(connection.connection.cursor()) as cursor:
            cursor.executemany(made.sql, [made.filled(row) for row in rows])

    def _for(self, connection: Connection) -> _Made:
        dialect = connection.dialect
        if dialect.name not in self._made:
            made = self._statement.compile(dialect=dialect)
            assert isinstance(made, SQLCompiler)  # noqa: S101 (no other statement is taken)
            self._made[dialect.name] = _Made(str(made), made.params, made.positiontup)
        return self._made[dialect.name]


@frozen
class Campaign:
    """An open campaign; safe to share between threads."""

    folder: Path
    id: int
    name: str  # also of the folder, when it was made
    settings: CampaignSettings  # as it was set up
    # as the settings have it: with half steps or critical errors where they were asked for
    protocol: CampaignProtocol
    categories: Mapping[str, str]  # that an error may have, and what each means
    database: Database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()


Role = Literal["annotator", "adjudicator", "organiser"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@frozen
class Person:
    """Somebody of a campaign."""

    id: int
    name: str  # unique within the campaign
    role: Role  # annotators judge, adjudicators judge and decide between others, organisers see everything
    lps: tuple[str, ...] = ()  # language pairs; empty for all of the campaign
    tutorial_at: float | None = None  # when the tutorial was passed
    revoked_at: float | None = None  # when the person was shut out
    language: str | None = None  # of the pages; None where none was chosen


def lps_of(campaign: Campaign, lps: str | None) -> tuple[str, ...]:
    """Language pairs of a person, from the column of their row."""
    return campaign.settings.lps if lps is None else tuple(json.loads(lps))


@frozen
class AuditLine:
    """One thing that was done."""

    at: float  # seconds since 1970
    actor: str  # name of a person, or `command` where it was the command line
    action: str  # one word or two
    detail: str


def read_audit(campaign: Campaign) -> tuple[AuditLine, ...]:
    """Everything that was done to a campaign, the first thing first."""
    columns = (audit.c.at, audit.c.actor, audit.c.action, audit.c.detail)
    query = select(*columns).where(audit.c.campaign_id == campaign.id).order_by(audit.c.id)
    with campaign.database.reading() as connection:
        rows = connection.execute(query)
        return tuple(AuditLine(at=at, actor=who, action=what, detail=more) for at, who, what, more in rows)


def write_audit(
    connection: Connection, campaign: int, now: float, *, actor: str, action: str, detail: str = ""
) -> None:
    """Add a line. `now`: seconds since 1970."""
    row = {"campaign_id": campaign, "at": now, "actor": actor, "action": action, "detail": detail}
    connection.execute(insert(audit).values(**row))
