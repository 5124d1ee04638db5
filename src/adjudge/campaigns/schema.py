"""Tables of a campaign's store; `migrations/` carries older stores to them.

An answer is the state after the newest event of an item; events are appended and never changed. Times are
seconds since 1970; JSON is text, so that SQLite and PostgreSQL keep the same.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = [
    "METADATA",
    "answer",
    "assignment",
    "audit",
    "campaign",
    "event",
    "item",
    "person",
    "session",
    "task",
    "verdict",
]

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
    Column("settings", Text, nullable=False),  # JSON of campaigns.settings.Settings
    Column("created_at", Float, nullable=False),
)

person: Final = Table(
    "person",
    METADATA,
    _key(),
    _of("campaign"),
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),  # annotator, adjudicator, organiser
    Column("batch", Integer),  # static assignment: the batch that is this person's
    Column("link_hash", String(64), unique=True),  # SHA-256 of the link's secret
    Column("password_hash", Text),  # argon2, organisers alone
    Column("revoked_at", Float),
    Column("tutorial_at", Float),  # when the tutorial was passed
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
    Column("kind", String(20), nullable=False),  # data.submissions.Kind
    Column("lp", String(80), nullable=False),
    Column("document", Text, nullable=False),
    Column("systems", Text, nullable=False),  # JSON list: one, a pair, or several
    Column("batch", Integer),
    Column("copy_of", ForeignKey("task.id")),  # the original of a check, of a second pass, of an adjudication
    Column("redundancy", Integer, nullable=False),  # how many people it needs
    Column("only_for", ForeignKey("person.id")),  # where just one person may have it
    Column("priority", Float, nullable=False),  # higher first
    Column("is_closed", Boolean, nullable=False),
    UniqueConstraint("campaign_id", "number"),
    Index("ix_task_open", "campaign_id", "kind", "is_closed", text("priority DESC"), "number"),
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
    Column(
        "source", Text, nullable=False
    ),  # text, or the address of the media file below the campaign's folder
    Column(
        "translations", Text, nullable=False
    ),  # JSON list of campaigns.tasks.Shown, in the order of systems
    Column("check", Text),  # JSON: what a tutorial or a check expects
    UniqueConstraint("task_id", "place"),
)

assignment: Final = Table(
    "assignment",
    METADATA,
    _key(),
    _of("task"),
    _of("person"),
    Column("state", String(10), nullable=False),  # leased, done, expired
    Column("place", Integer, nullable=False),  # the person's how manieth, from 0
    Column("seed", Integer, nullable=False),  # of the order in which sides are shown
    Column("leased_until", Float, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("done_at", Float),
    UniqueConstraint("task_id", "person_id"),
    Index(None, "person_id", "state"),
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
    Column("state", Text, nullable=False),  # JSON of campaigns.state.State
    Column("is_complete", Boolean, nullable=False),
    Column("active", Float, nullable=False),  # seconds
    Column("idle", Float, nullable=False),
    Column("first_at", Float, nullable=False),
    Column("last_at", Float, nullable=False),
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
    Column("revision", Integer, nullable=False),
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
