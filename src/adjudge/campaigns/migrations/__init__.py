"""Steps that make the tables of a store, in `versions/`; each is applied once, in order."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from adjudge.errors import StoreError

__all__ = ["is_current", "is_store", "upgrade"]

_HERE: Final = Path(__file__).parent


def is_store(connection: Connection) -> bool:
    """Whether there are campaigns' tables of any version: not in an empty store, nor in another program's."""
    return MigrationContext.configure(connection).get_current_revision() is not None


def is_current(connection: Connection) -> bool:
    """Whether a store has all tables of this version."""
    head, *earlier = _steps()
    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found not in {head, *earlier}:
        message = f"this campaign's store is of a newer adjudge (its tables are at {found!r},"
        raise StoreError(f"{message} this version knows {head!r}); update adjudge to open it")
    return found == head


def upgrade(connection: Connection) -> None:
    """Apply what a store lacks."""
    if not is_current(connection):
        command.upgrade(_config(connection), "head")


@cache
def _steps() -> tuple[str, ...]:
    return tuple(step.revision for step in ScriptDirectory.from_config(_config(None)).walk_revisions())


def _config(connection: Connection | None) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    return config
