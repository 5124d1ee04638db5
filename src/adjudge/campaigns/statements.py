"""Statements of the busiest requests, made into SQL once and handed to the driver.

SQLAlchemy makes the text, so that it fits every kind of store. If it also ran it, that would take ten times
as long as SQLite needs.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Insert, Select, Update
from sqlalchemy.sql.compiler import SQLCompiler

__all__ = ["AnyStatement", "Statement"]

AnyStatement = Select[Any] | Insert | Update


class _Made(NamedTuple):
    """A statement for one kind of store."""

    sql: str
    values: Mapping[str, Any]
    names: Sequence[str] | None

    def filled(self, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 (values by name or in order, for the driver)
        """Values of all that the statement leaves open."""
        values = {**self.values, **given}
        return values if self.names is None else [values[name] for name in self.names]


class Statement:
    """A statement; its rows have the names of its columns, and what the driver gives: truths may be 0 and 1.

    Args:
        statement: with a `bindparam` for each value that is given when it is run; none that expands.
    """

    def __init__(self, statement: AnyStatement) -> None:
        self._statement: Final = statement
        self._made: Final[dict[str, _Made]] = {}
        found = statement.selected_columns if isinstance(statement, Select) else statement.exported_columns
        names = [str(column.key) for column in found]
        # No type checker and no lint rule knows the names of a statement's columns.
        row: Callable[..., Any] = namedtuple("_Row", names, rename=True)  # type: ignore[misc] # noqa: PYI024
        self._row: Final = row

    def rows(self, connection: Connection, **given: object) -> list[Any]:
        """Run it, and read all rows."""
        cursor = connection.connection.cursor()
        try:
            made = self._for(connection)
            cursor.execute(made.sql, made.filled(given))
            return [self._row(*row) for row in cursor.fetchall()]
        finally:
            cursor.close()

    def first(self, connection: Connection, **given: object) -> Any:  # noqa: ANN401 (a row of what was selected)
        """Run it, and read the first row; None where there is none."""
        return next(iter(self.rows(connection, **given)), None)

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of several rows of values."""
        cursor = connection.connection.cursor()
        try:
            made = self._for(connection)
            cursor.executemany(made.sql, [made.filled(row) for row in rows])
        finally:
            cursor.close()

    def _for(self, connection: Connection) -> _Made:
        dialect = connection.dialect
        if dialect.name not in self._made:
            made = self._statement.compile(dialect=dialect)
            assert isinstance(made, SQLCompiler)  # noqa: S101 (no other statement is taken)
            self._made[dialect.name] = _Made(str(made), made.params, made.positiontup)
        return self._made[dialect.name]
