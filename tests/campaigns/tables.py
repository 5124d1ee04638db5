"""Tables of a new store, made by the migrations once and copied from then on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Connection

from adjudge.campaigns import migrations
from adjudge.campaigns.database import Database

_upgrade = migrations.upgrade


@cache
def _made() -> tuple[tuple[str, ...], str]:
    """What makes all tables in SQLite, and the last of the migrations."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite"
        store = Database(f"sqlite:///{path}")
        with store.writing() as connection:
            _upgrade(connection)
        store.close()
        with closing(sqlite3.connect(path)) as made:
            rows = made.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            tables = [sql for (sql,) in rows if "sqlite_" not in sql]
            ((version,),) = made.execute("SELECT version_num FROM alembic_version")
    return tuple(tables), version


def _copied(connection: Connection) -> None:
    is_ours = connection.dialect.name == "sqlite"
    if not is_ours or connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").first():
        _upgrade(connection)
        return
    statements, version = _made()
    for statement in statements:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (version,))


@contextmanager
def ready_made() -> Iterator[None]:
    """Within it a new store in SQLite gets a copy of the tables that migrations make, which takes longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "upgrade", _copied)
        yield
