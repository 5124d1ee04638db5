"""Ways in: a link or a password is exchanged for a session, which ends after a while.

A link's secret has 128 bits and is exchanged for a session's cookie, which has 256.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from adjudge.campaigns.audit import write_audit
from adjudge.campaigns.people import PERSON_COLUMNS, Person, read_person, select_people
from adjudge.campaigns.schema import person, session
from adjudge.campaigns.secret import hash_of, is_password, new_secret
from adjudge.campaigns.statements import Statement
from adjudge.errors import AccessError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["IDLE", "LONGEST", "enter", "leave", "sign_in", "who"]

IDLE: Final = 12 * 3600.0
"""Seconds without a request after which a session ends."""
LONGEST: Final = 7 * 86400.0
"""Seconds after which a session ends in any case."""

_SEEN_EVERY: Final = 60.0  # a session's last request is known to the minute, and most requests write nothing

_OF_SESSION: Final = Statement(
    select(*PERSON_COLUMNS, session.c.created_at, session.c.seen_at)
    .join_from(session, person)
    .where(session.c.hash == bindparam("hash"), person.c.campaign_id == bindparam("campaign"))
)
_SEEN: Final = Statement(
    update(session).where(session.c.hash == bindparam("cookie")).values(seen_at=bindparam("at"))
)


def enter(campaign: Campaign, secret: str, now: float) -> str:
    """Exchange a link's secret for the cookie of a new session.

    Raises:
        AccessError: no such link, or its person was revoked.
    """
    chosen = select_people(campaign).where(person.c.link_hash == hash_of(secret))
    with campaign.database.reading() as connection:
        found = connection.execute(chosen).first()
    if found is None or found.revoked_at is not None:  # whoever guesses keeps nobody from writing
        raise AccessError("this link is not valid (any more); ask the organiser for a new one")
    with campaign.database.writing() as connection:
        return _start(connection, campaign, read_person(found), now)


def sign_in(campaign: Campaign, name: str, password: str, now: float) -> str:
    """Exchange an organiser's name and password for the cookie of a new session.

    Raises:
        AccessError: they do not belong together; which of them is wrong is not said.
    """
    asked = name if name.isprintable() else ""  # no database takes NUL or half a surrogate pair
    is_theirs = (person.c.name == asked) & (person.c.role == "organiser") & person.c.revoked_at.is_(None)
    chosen = select_people(campaign).add_columns(person.c.password_hash).where(is_theirs)
    with campaign.database.reading() as connection:
        found = connection.execute(chosen).first()
    known = None if found is None else found.password_hash
    if not is_password(known, password) or found is None:
        raise AccessError("name and password do not belong together")
    with campaign.database.writing() as connection:
        return _start(connection, campaign, read_person(found), now)


def who(campaign: Campaign, cookie: str, now: float) -> Person | None:
    """The person of a session; None where it has ended, was ended, or never was."""
    with campaign.database.reading() as connection:
        found = _OF_SESSION.first(connection, hash=hash_of(cookie), campaign=campaign.id)
    if found is None or found.revoked_at is not None:
        return None
    if now - found.seen_at > IDLE or now - found.created_at > LONGEST:
        return None
    if now - found.seen_at > _SEEN_EVERY:
        seen = {"cookie": hash_of(cookie), "at": now}
        campaign.database.write(lambda connection: _SEEN.run(connection, [seen]))
    return read_person(found)


def leave(campaign: Campaign, cookie: str) -> None:
    """End a session."""
    with campaign.database.writing() as connection:
        connection.execute(delete(session).where(session.c.hash == hash_of(cookie)))


def _start(connection: Connection, campaign: Campaign, found: Person, now: float) -> str:
    cookie = new_secret(32)
    old = (session.c.person_id == found.id) & (session.c.created_at < now - LONGEST)
    connection.execute(delete(session).where(old))
    values = {"hash": hash_of(cookie), "person_id": found.id, "created_at": now, "seen_at": now}
    connection.execute(insert(session).values(**values))
    write_audit(connection, campaign.id, now, actor=found.name, action="enter")
    return cookie
