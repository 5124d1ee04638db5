"""Statements that go to the driver: the same rows and errors as by SQLAlchemy, on every kind of store."""

from pathlib import Path

import pytest
from sqlalchemy import bindparam, insert, literal, select, update

from adjudge.campaigns.database import Database, Statement, campaign
from adjudge.errors import StoreError
from tests.campaigns.conftest import NOW

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
def database(store: str | None, tmp_path: Path) -> Database:
    made = Database(store or f"sqlite:///{tmp_path / 'store.sqlite'}")
    made.migrate()
    with made.writing() as connection:
        ADD.run(connection, [{"name": name} for name in NAMES])
    return made


def test_rows_have_the_names_of_columns_and_the_values_that_were_given(database: Database) -> None:
    with database.reading() as connection:
        rows = FIND.rows(connection, now=NOW)
        assert [(row.name, row.at) for row in rows] == [("Alder", NOW), ("Birch", NOW)]
        assert [tuple(row) for row in rows] == [("Alder", NOW, "Alder"), ("Birch", NOW, "Birch")]
        assert FIND.first(connection, now=NOW).name == "Alder"
        assert FIND.first(connection, now=NOW - 1) is None
    database.close()


def test_each_of_several_rows_is_written_in_the_transaction(database: Database) -> None:
    def rename() -> None:
        with database.writing() as connection:
            RENAME.run(connection, [{"old": name, "new": f"{name}!"} for name in NAMES])
            raise InterruptedError

    with pytest.raises(InterruptedError):
        rename()
    with database.reading() as connection:
        assert len(FIND.rows(connection, now=NOW)) == 2
    database.close()


def test_an_error_of_the_driver_names_the_store(database: Database) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE campaign RENAME COLUMN name TO title")
    with pytest.raises(StoreError, match=r"store .* says: .*name"), database.reading() as connection:
        FIND.rows(connection, now=NOW)
    database.close()
