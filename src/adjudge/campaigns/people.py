"""Who may do what: links with a secret, sessions, organisers' passwords.

A link's secret has 128 bits and is exchanged once for a session's cookie, which has 256; the store keeps only
SHA-256 of both, and argon2 of passwords. Whoever is revoked is out at once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.campaigns.audit import write_audit
from adjudge.campaigns.leases import give_back
from adjudge.campaigns.schema import assignment, person, session
from adjudge.campaigns.statements import Statement
from adjudge.errors import AccessError, UsageError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from adjudge.campaigns.campaign import Campaign

__all__ = [
    "IDLE",
    "LONGEST",
    "ROLES",
    "Link",
    "Person",
    "Role",
    "add_people",
    "enter",
    "insert_people",
    "leave",
    "new_link",
    "people",
    "revoke",
    "set_password",
    "sign_in",
    "who",
]

Role = Literal["annotator", "adjudicator", "organiser"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

IDLE: Final = 12 * 3600.0
"""Seconds without a request after which a session ends."""
LONGEST: Final = 7 * 86400.0
"""Seconds after which a session ends in any case."""

_SEEN_EVERY: Final = 60.0  # a session's last request is known to the minute, and most requests write nothing
_SHORTEST_PASSWORD: Final = 12
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody of a campaign.

    Args:
        id: in the store.
        name: unique within the campaign.
        role: annotators judge, adjudicators judge and decide between others, organisers see everything.
        batch: of a static assignment; None where there is none.
        tutorial_at: when the tutorial was passed.
        revoked_at: when the person was shut out.
    """

    id: int
    name: str
    role: Role
    batch: int | None = None
    tutorial_at: float | None = None
    revoked_at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Link:
    """A way in; the only place where its secret is ever seen."""

    name: str
    role: Role
    secret: str

    @property
    def path(self) -> str:
        """Address below the campaign's own; a fragment, which browsers never send or log."""
        return f"/#{self.secret}"


_COLUMNS: Final = (person.c.id, person.c.name, person.c.role, person.c.batch)
_COLUMNS_OF_TIME: Final = (person.c.tutorial_at, person.c.revoked_at)
_OF_SESSION: Final = Statement(
    select(*_COLUMNS, *_COLUMNS_OF_TIME, session.c.created_at, session.c.seen_at)
    .join_from(session, person)
    .where(session.c.hash == bindparam("hash"), person.c.campaign_id == bindparam("campaign"))
)

_SEEN: Final = Statement(
    update(session).where(session.c.hash == bindparam("cookie")).values(seen_at=bindparam("at"))
)


def people(campaign: Campaign) -> tuple[Person, ...]:
    """Everyone, in the order in which they were added; those who were revoked, too."""
    found = select(*_COLUMNS, *_COLUMNS_OF_TIME).where(person.c.campaign_id == campaign.id)
    with campaign.database.reading() as connection:
        return tuple(_person(row) for row in connection.execute(found.order_by(person.c.id)))


def add_people(
    campaign: Campaign, names: Iterable[str], role: Role, now: float, *, actor: str, batch: int | None = None
) -> tuple[Link, ...]:
    """Add people to a campaign that is under way.

    Args:
        campaign: theirs.
        names: of the new people.
        role: of all of them.
        now: seconds since 1970.
        actor: who adds them.
        batch: of a static assignment, that they share with those who have it.

    Raises:
        UsageError: a name that is taken, empty or too long.
    """
    with campaign.database.writing() as connection:
        rows = [(name, role, batch) for name in names]
        return insert_people(connection, campaign.id, rows, now, actor=actor)


def insert_people(
    connection: Connection,
    campaign: int,
    rows: Iterable[tuple[str, Role, int | None]],
    now: float,
    *,
    actor: str,
) -> tuple[Link, ...]:
    """Add people within a transaction: name, role and batch of each."""
    links = []
    for name, role, batch in rows:
        link = Link(name=_checked(name), role=_checked_role(role), secret=_secret(16))
        values = {"campaign_id": campaign, "name": link.name, "role": role, "batch": batch, "created_at": now}
        try:
            connection.execute(insert(person).values(**values, link_hash=_hash(link.secret)))
        except IntegrityError as error:
            raise UsageError(f"there is somebody called {name!r} already; names are unique") from error
        write_audit(connection, campaign, now, actor=actor, action="add person", detail=f"{name} ({role})")
        links.append(link)
    return tuple(links)


def _checked(name: str) -> str:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(f"a name has 1 to {_LONGEST_NAME} characters that can be seen, got {name!r}")
    return name.strip()


def _checked_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise UsageError(f"a role is one of {', '.join(ROLES)}; got {role!r}")


# Ways in...


def enter(campaign: Campaign, secret: str, now: float) -> str:
    """Exchange a link's secret for the cookie of a new session.

    Raises:
        AccessError: no such link, or its person was revoked.
    """
    with campaign.database.reading() as connection:
        found = connection.execute(_of(campaign).where(person.c.link_hash == _hash(secret))).first()
    if found is None or found.revoked_at is not None:  # whoever guesses keeps nobody from writing
        raise AccessError("this link is not valid (any more); ask the organiser for a new one")
    with campaign.database.writing() as connection:
        return _start(connection, campaign, _person(found), now)


def sign_in(campaign: Campaign, name: str, password: str, now: float) -> str:
    """Exchange an organiser's name and password for the cookie of a new session.

    Raises:
        AccessError: they do not belong together; which of them is wrong is not said.
    """
    asked = name if name.isprintable() else ""  # no database takes NUL or half a surrogate pair
    chosen = _of(campaign).where(person.c.name == asked, person.c.role == "organiser")
    with campaign.database.reading() as connection:
        found = connection.execute(chosen.where(person.c.revoked_at.is_(None))).first()
    known = found.password_hash if found is not None and found.password_hash else _nobody()
    if not _is_password(known, password) or found is None:  # as slow for a name that does not exist
        raise AccessError("name and password do not belong together")
    with campaign.database.writing() as connection:
        return _start(connection, campaign, _person(found), now)


def who(campaign: Campaign, cookie: str, now: float) -> Person | None:
    """The person of a session; None where it has ended, was ended, or never was."""
    with campaign.database.reading() as connection:
        found = _OF_SESSION.first(connection, hash=_hash(cookie), campaign=campaign.id)
    if found is None or found.revoked_at is not None:
        return None
    if now - found.seen_at > IDLE or now - found.created_at > LONGEST:
        return None
    if now - found.seen_at > _SEEN_EVERY:
        seen = {"cookie": _hash(cookie), "at": now}
        campaign.database.write(lambda connection: _SEEN.run(connection, [seen]))
    return _person(found)


def leave(campaign: Campaign, cookie: str) -> None:
    """End a session."""
    with campaign.database.writing() as connection:
        connection.execute(delete(session).where(session.c.hash == _hash(cookie)))


def _start(connection: Connection, campaign: Campaign, found: Person, now: float) -> str:
    cookie = _secret(32)
    old = (session.c.person_id == found.id) & (session.c.created_at < now - LONGEST)
    connection.execute(delete(session).where(old))
    values = {"hash": _hash(cookie), "person_id": found.id, "created_at": now, "seen_at": now}
    connection.execute(insert(session).values(**values))
    write_audit(connection, campaign.id, now, actor=found.name, action="enter")
    return cookie


# What an organiser does...


def new_link(campaign: Campaign, number: int, now: float, *, actor: str) -> Link:
    """Give a person another link; the one before and all sessions end. Whoever was revoked is let in again.

    Args:
        campaign: the person's.
        number: id of the person.
        now: seconds since 1970.
        actor: who does it.

    Raises:
        UsageError: no such person.
    """
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        link = Link(name=found.name, role=found.role, secret=_secret(16))
        _change(connection, number, link_hash=_hash(link.secret), revoked_at=None)
        write_audit(connection, campaign.id, now, actor=actor, action="new link", detail=found.name)
        return link


def revoke(campaign: Campaign, number: int, now: float, *, actor: str) -> None:
    """Shut a person out: link and sessions end, tasks under way are free for others, answers stay.

    Raises:
        UsageError: no such person, or the last organiser.
    """
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        if found.role == "organiser" and _organisers(connection, campaign) == 1:
            raise UsageError(f"{found.name!r} is the last organiser; add another one first")
        _change(connection, number, link_hash=None, password_hash=None, revoked_at=now)
        give_back(connection, (assignment.c.person_id == number) & (assignment.c.state == "leased"))
        write_audit(connection, campaign.id, now, actor=actor, action="revoke", detail=found.name)


def set_password(campaign: Campaign, number: int, password: str, now: float, *, actor: str) -> None:
    """Give an organiser a password; all sessions end.

    Raises:
        UsageError: no such person, no organiser, or a password that is too short.
    """
    if len(password) < _SHORTEST_PASSWORD:
        raise UsageError(f"a password has {_SHORTEST_PASSWORD} characters or more, got {len(password)}")
    hashed = _hasher().hash(password)
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        if found.role != "organiser":
            raise UsageError(f"{found.name!r} is {found.role}; only organisers have a password")
        _change(connection, number, password_hash=hashed)
        write_audit(connection, campaign.id, now, actor=actor, action="set password", detail=found.name)


def _find(connection: Connection, campaign: Campaign, number: int) -> Person:
    found = connection.execute(_of(campaign).where(person.c.id == number)).first()
    if found is None:
        raise UsageError(f"campaign {campaign.name!r} has no person with number {number}")
    return _person(found)


def _organisers(connection: Connection, campaign: Campaign) -> int:
    active = (person.c.role == "organiser") & person.c.revoked_at.is_(None)
    chosen = select(func.count()).where(person.c.campaign_id == campaign.id, active)
    return int(connection.execute(chosen).scalar_one())


def _change(connection: Connection, number: int, **values: object) -> None:
    connection.execute(update(person).where(person.c.id == number).values(**values))
    connection.execute(delete(session).where(session.c.person_id == number))


# Rows and secrets...


def _of(campaign: Campaign) -> Select[Any]:
    columns = (*_COLUMNS, *_COLUMNS_OF_TIME, person.c.password_hash)
    return select(*columns).where(person.c.campaign_id == campaign.id)


def _person(row: Any) -> Person:  # noqa: ANN401 (a row of whatever was selected besides)
    return Person(
        id=row.id,
        name=row.name,
        role=row.role,
        batch=row.batch,
        tutorial_at=row.tutorial_at,
        revoked_at=row.revoked_at,
    )


def _secret(size: int) -> str:
    return secrets.token_urlsafe(size)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobody() -> str:
    return _hasher().hash(_secret(16))


def _is_password(known: str, password: str) -> bool:
    from argon2.exceptions import VerifyMismatchError

    try:
        return _hasher().verify(known, password.encode(errors="surrogatepass"))
    except VerifyMismatchError:
        return False
