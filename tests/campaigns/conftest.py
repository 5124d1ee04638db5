"""A small test set in several scripts, and campaigns over it in every kind of store that is at hand."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError

from adjudge.campaigns.database import Campaign
from adjudge.campaigns.making import Extras, new_campaign
from adjudge.campaigns.people import Link
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.segment import Segment, TestSet
from tests.campaigns.tables import ready_made

NOW = 1_760_000_000.0
Made = tuple[Campaign, tuple[Link, ...]]
MakeCampaign = Callable[..., Made]

TEXTS = {  # lp: documents of (source, translations)
    "en-de": [
        [
            ("The tram stops here.", "Die Straßenbahn hält hier.", "Hier hält die Tram."),
            (
                "No one got off before seven o'clock.",
                "Vor sieben Uhr stieg niemand aus.",
                "Niemand stieg aus.",
            ),
        ],
        [("Tea or coffee?", "Tee oder Kaffee?", "Möchten Sie lieber Tee oder doch Kaffee?")],
        [
            (
                "Her cat sleeps all day long.",
                "Ihre Katze schläft den ganzen Tag.",
                "Die Katze schläft am Tag.",
            ),
            ("It is called Möhre.", "Sie heißt Möhre.", "Sie wird Mo\u0308hre genannt. 🥕"),
            ("Yes.", "Ja.", "Jawohl."),
        ],
    ],
    "en-zh": [
        [("The shop opens at nine in the morning.", "商店早上九点开门，中午休息。", "这家店九点开始营业。")]
    ],
    "en-ar": [[("He read 12 books this summer.", "قرأ 12 كتابًا هذا الصيف.", "قرأ اثني عشر كتابا في الصيف.")]],
    "en-hi": [[("The dog ran home at once.", "कुत्ता तुरंत घर भाग गया।", "कुत्ता भागकर घर गया।")]],
    "en-th": [[("The family went to the sea.", "ครอบครัวไปเที่ยวทะเล", "ครอบครัวไปทะเลกัน 👨‍👩‍👧‍👦")]],
    "en-ja": [[("A quiet night.", "静かな夜でした。", "静かな夜。")]],
}
SYSTEMS = ("Alder", "Birch")


def make_test_set(*lps: str) -> TestSet:
    """The texts above of some language pairs; en-de alone has several documents."""
    segments = [
        Segment(
            segment=f"{place}.{line}",
            lp=lp,
            document=f"doc-{place}",
            source=source,
            translations=dict(zip(SYSTEMS, translations, strict=True)),
        )
        for lp in lps
        for place, document in enumerate(TEXTS[lp], start=1)
        for line, (source, *translations) in enumerate(document, start=1)
    ]
    return TestSet(name="small", segments=tuple(segments))


def grow(segments: int, *systems: str, lp: str = "en-de") -> TestSet:
    """As many segments, each a document."""
    made = (
        Segment(segment=str(n), lp=lp, source=f"s{n}", translations={x: f"{x} {n}" for x in systems})
        for n in range(segments)
    )
    return TestSet(name="many", segments=tuple(made))


@pytest.fixture(scope="session", autouse=True)
def _cheap(cheap_passwords: None) -> None:
    """No test of this folder needs a hash that withstands anybody."""


@pytest.fixture
def small() -> TestSet:
    """Six segments in three documents, English to German."""
    return make_test_set("en-de")


@pytest.fixture
def scripts() -> TestSet:
    """Six language pairs in as many scripts."""
    return make_test_set(*TEXTS)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """What `database` of a new campaign is: None for a file, or a schema of the test's own on a server."""
    if request.param == "sqlite":
        yield None
    else:
        yield from server_store()


def server_store() -> Iterator[str]:
    """A schema of one's own on the PostgreSQL server of these tests, where there is one."""
    if not (url := os.environ.get("ADJUDGE_TEST_DATABASE")):
        pytest.skip("ADJUDGE_TEST_DATABASE is not set: it names an empty database of a PostgreSQL server")
    drop_leftovers()
    name = f"{SCHEMA}{uuid.uuid4().hex}"
    with server_connection() as connection:  # as long as it is open, others leave the schema alone
        connection.execute(text("SELECT pg_advisory_lock(:kind, hashtext(:name))"), lock_of(name))
        connection.execute(text(f"CREATE SCHEMA {name}"))
        try:
            yield f"{url}?options=-csearch_path%3D{name}"
        finally:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))


SCHEMA = "adjudge_test_"


@contextmanager
def server_connection() -> Iterator[Connection]:
    """A connection to the server, on which each statement is a transaction."""
    url = os.environ["ADJUDGE_TEST_DATABASE"].replace("postgresql://", "postgresql+psycopg://")
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            yield connection
    finally:
        server.dispose()


def lock_of(name: str) -> dict[str, object]:
    """What is locked while the process lives that has made a schema; of a dead one the server lets it go."""
    return {"kind": 7_236_015, "name": name}


def schemas(connection: Connection) -> set[str]:
    """Schemas of tests, of whatever process."""
    query = text("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, :start)")
    return set(connection.execute(query, {"start": SCHEMA}).scalars())


@cache
def drop_leftovers() -> None:
    """Once in a process: drop the schemas of tests that were killed."""
    with server_connection() as connection:
        connection.execute(text("SET lock_timeout = '5s'"))
        for name in schemas(connection):
            query = text("SELECT pg_try_advisory_lock(:kind, hashtext(:name))")
            if connection.execute(query, lock_of(name)).scalar_one():
                with suppress(OperationalError):  # a server that the test had started uses it: next time
                    connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))


def opener(folder: Path, test_set: TestSet, store: str | None) -> Iterator[MakeCampaign]:
    """Make campaigns, and close their stores afterwards."""
    made: list[Campaign] = []

    def make(protocol: str = "esa", annotators: Any = 3, **more: Any) -> Made:
        chosen = more.pop("test_set", test_set)
        named = {key: key for key in Extras.__dataclass_fields__} | {"tutorial": "extras_tutorial"}
        extras = Extras(
            database=store, **{key: more.pop(name) for key, name in named.items() if name in more}
        )
        now, name = more.pop("now", NOW), more.pop("name", f"campaign-{len(made)}")
        settings = CampaignSettings(protocol=protocol, **more)
        with ready_made():
            found = new_campaign(folder / name, chosen, settings, annotators, now=now, extras=extras)
        made.append(found[0])
        return found

    try:
        yield make
    finally:
        for campaign in made:
            campaign.database.close()


@pytest.fixture
def make_campaign(tmp_path: Path, small: TestSet) -> Iterator[MakeCampaign]:
    """Make campaigns in SQLite: protocol, annotators, any setting, `test_set`, `given`, `now`, `name`, ..."""
    yield from opener(tmp_path, small, None)


@pytest.fixture
def make_campaign_anywhere(tmp_path: Path, small: TestSet, store: str | None) -> Iterator[MakeCampaign]:
    """The same in every kind of store that is at hand."""
    yield from opener(tmp_path, small, store)


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    """An ESA campaign of three people in SQLite, without checks and tutorial."""
    return make_campaign()[0]
