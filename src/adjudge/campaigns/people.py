"""Who takes part: people, their roles, the links that let them in, organisers' passwords.

A link or a password is exchanged for a session, which ends after a while. The store never holds a secret: it
has the SHA-256 of what we draw, and argon2's hash of passwords, which people make up. Whoever is revoked, or
gets another link or password, is out at once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.campaigns.assigning import HELD, give_back, share_work
from adjudge.campaigns.database import (
    ROLES,
    Campaign,
    Person,
    Role,
    Statement,
    assignment,
    person,
    session,
    task,
    write_audit,
)
from adjudge.core.frozen import frozen
from adjudge.core.names import as_name
from adjudge.errors import AccessError, UsageError
from adjudge.formats.campaign_export import FIRST

if TYPE_CHECKING:
    from argon2 import PasswordHasher


def hash_of(secret: str) -> str:
    """What the store keeps of a secret that is too long to be guessed."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def is_password(known: str | None, password: str) -> bool:
    """Whether a password is the one of this hash; without a hash it is not, and that takes as long."""
    from argon2.exceptions import VerifyMismatchError

    try:
        _hasher().verify(known or _nobodys(), password.encode(errors="surrogatepass"))
    except VerifyMismatchError:
        return False
    return known is not None


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobodys() -> str:
    return _hasher().hash(secrets.token_urlsafe(16))


_SHORTEST_PASSWORD: Final = 12
_LONGEST_NAME: Final = 200


@frozen
class Link:
    """A way in; the only place where its secret is ever seen."""

    name: str
    role: Role
    secret: str

    @property
    def path(self) -> str:
        """Address below the campaign's own; a fragment, which browsers never send or log."""
        return f"/#{self.secret}"


PERSON_COLUMNS: Final = (
    *(person.c.id, person.c.name, person.c.role, person.c.lps),
    *(person.c.tutorial_at, person.c.revoked_at, person.c.language),
)
"""What `read_person` reads."""


def people(campaign: Campaign) -> tuple[Person, ...]:
    """Everyone, in the order in which they were added; those who were revoked, too."""
    with campaign.database.reading() as connection:
        rows = connection.execute(select_people(campaign).order_by(person.c.id))
        return tuple(read_person(row) for row in rows)


def valid_links(campaign: Campaign, links: Iterable[Link]) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """Those of some links that still let somebody in, and the names of whom none of them lets in.

    Who was revoked is in neither.
    """
    active = (person.c.campaign_id == campaign.id) & person.c.revoked_at.is_(None)
    chosen = select(person.c.name, person.c.link_hash).where(active).order_by(person.c.id)
    with campaign.database.reading() as connection:
        names = {row.link_hash: row.name for row in connection.execute(chosen)}
    kept = {hash_of(link.secret): link for link in links}
    valid = tuple(kept[hashed] for hashed in kept if hashed in names)
    return valid, tuple(name for hashed, name in names.items() if hashed not in kept)


def add_people(
    campaign: Campaign,
    names: Iterable[str],
    role: Role,
    now: float,  # seconds since 1970
    *,
    actor: str,
    lps: Sequence[str] = (),
) -> tuple[Link, ...]:
    """Add people to a campaign that is under way; an annotator gets a language pair, and its next work.

    In a static campaign that is what others have most of and did not begin.
    """
    if strangers := set(lps) - set(campaign.settings.lps):
        known = ", ".join(campaign.settings.lps)
        raise UsageError(f"language pairs are {known}; got {', '.join(sorted(strangers))}")
    links: list[Link] = []
    with campaign.database.writing() as connection:
        for name in names:
            own = tuple(dict.fromkeys(lps))
            if role == "annotator" and not own:
                own = (_neediest(connection, campaign),)
            row: tuple[str, Role, Sequence[str]] = (name, role, own)
            links += insert_people(connection, campaign.id, [row], now, actor=actor)
            if role == "annotator" and campaign.settings.assignment == "static":
                is_new = (person.c.campaign_id == campaign.id) & (person.c.name == links[-1].name)
                number = connection.execute(select(person.c.id).where(is_new)).scalar_one()
                share_work(connection, campaign, number, own)
    return tuple(links)


def _neediest(connection: Connection, campaign: Campaign) -> str:
    done = select(func.count()).where(assignment.c.task_id == task.c.id, assignment.c.state == "done")
    open_tasks = select(task.c.lp, func.sum(task.c.raters - done.scalar_subquery()))
    is_theirs = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    left = dict(map(tuple, connection.execute(open_tasks.where(is_theirs).group_by(task.c.lp))))
    everyone = [read_person(row) for row in connection.execute(select_people(campaign))]
    workers = [one for one in everyone if one.role == "annotator" and one.revoked_at is None]

    def need(lp: str) -> float:
        return float(left.get(lp, 0)) / (1 + sum(lp in (one.lps or campaign.settings.lps) for one in workers))

    return max(campaign.settings.lps, key=need)


def insert_people(
    connection: Connection,
    campaign: int,
    rows: Iterable[tuple[str, Role, Sequence[str]]],
    now: float,
    *,
    actor: str,
) -> tuple[Link, ...]:
    """Add people within a transaction: name, role and language pairs of each; none for all."""
    links = []
    for name, role, lps in rows:
        if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            raise UsageError(f"a name has 1 to {_LONGEST_NAME} characters that can be seen, got {name!r}")
        if role not in ROLES:
            raise UsageError(f"a role is one of {', '.join(ROLES)}; got {role!r}")
        link = Link(name=as_name(name, "person"), role=role, secret=secrets.token_urlsafe(16))
        own = json.dumps(list(lps)) if lps else None
        values = {"campaign_id": campaign, "name": link.name, "role": role, "lps": own, "created_at": now}
        try:
            connection.execute(insert(person).values(**values, link_hash=hash_of(link.secret)))
        except IntegrityError as error:
            raise UsageError(f"there is somebody called {name!r} already; names are unique") from error
        write_audit(connection, campaign, now, actor=actor, action="add person", detail=f"{name} ({role})")
        links.append(link)
    return tuple(links)


def new_link(campaign: Campaign, number: int, now: float, *, actor: str) -> Link:
    """Give a person another link; the one before and all sessions end. Whoever was revoked is let in again.

    `now`: seconds since 1970.
    """
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        link = Link(name=found.name, role=found.role, secret=secrets.token_urlsafe(16))
        _change(connection, number, link_hash=hash_of(link.secret), revoked_at=None)
        write_audit(connection, campaign.id, now, actor=actor, action="new link", detail=found.name)
        return link


def revoke(campaign: Campaign, number: int, now: float, *, actor: str) -> None:
    """Shut a person out: link and sessions end, tasks under way are free for others, answers stay."""
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        active = (person.c.role == "organiser") & person.c.revoked_at.is_(None)
        organisers = select(func.count()).where(person.c.campaign_id == campaign.id, active)
        if found.role == "organiser" and connection.execute(organisers).scalar_one() == 1:
            raise UsageError(f"{found.name!r} is the last organiser; add another one first")
        _change(connection, number, link_hash=None, password_hash=None, revoked_at=now)
        give_back(connection, (assignment.c.person_id == number) & assignment.c.state.in_(HELD))
        write_audit(connection, campaign.id, now, actor=actor, action="revoke", detail=found.name)


def set_password(campaign: Campaign, number: int, password: str, now: float, *, actor: str) -> None:
    """Give an organiser a password; all sessions end."""
    if len(password) < _SHORTEST_PASSWORD:
        raise UsageError(f"a password has {_SHORTEST_PASSWORD} characters or more, got {len(password)}")
    hashed = _hasher().hash(password)
    with campaign.database.writing() as connection:
        found = _find(connection, campaign, number)
        if found.role != "organiser":
            raise UsageError(f"{found.name!r} is {found.role}; only organisers have a password")
        _change(connection, number, password_hash=hashed)
        write_audit(connection, campaign.id, now, actor=actor, action="set password", detail=found.name)


def choose_language(campaign: Campaign, number: int, language: str) -> None:
    """Keep in which language a person's pages are."""
    chosen = update(person).where(person.c.id == number, person.c.campaign_id == campaign.id)
    with campaign.database.writing() as connection:
        connection.execute(chosen.values(language=language))


def _find(connection: Connection, campaign: Campaign, number: int) -> Person:
    found = connection.execute(select_people(campaign).where(person.c.id == number)).first()
    if found is None:
        raise UsageError(f"campaign {campaign.name!r} has no person with number {number}")
    return read_person(found)


def _change(connection: Connection, number: int, **values: object) -> None:
    connection.execute(update(person).where(person.c.id == number).values(**values))
    connection.execute(delete(session).where(session.c.person_id == number))


def select_people(campaign: Campaign) -> Select[Any]:
    """A query for the people of a campaign, which may be narrowed."""
    return select(*PERSON_COLUMNS).where(person.c.campaign_id == campaign.id)


def read_person(row: Any) -> Person:  # noqa: ANN401 (a row of whatever was selected besides)
    values = {column.name: getattr(row, column.name) for column in PERSON_COLUMNS}
    return Person(**{**values, "lps": tuple(json.loads(row.lps)) if row.lps else ()})


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
    """Exchange a link's secret for the cookie of a new session."""
    chosen = select_people(campaign).where(person.c.link_hash == hash_of(secret))
    with campaign.database.reading() as connection:
        found = connection.execute(chosen).first()
    if found is None or found.revoked_at is not None:  # whoever guesses keeps nobody from writing
        raise AccessError("this link is not valid (any more); ask the organiser for a new one")
    return _start(campaign, read_person(found), now)


def sign_in(campaign: Campaign, name: str, password: str, now: float) -> str:
    """Exchange an organiser's name and password for the cookie of a new session."""
    asked = name if name.isprintable() else ""  # no database takes NUL or half a surrogate pair
    is_theirs = (person.c.name == asked) & (person.c.role == "organiser") & person.c.revoked_at.is_(None)
    chosen = select_people(campaign).add_columns(person.c.password_hash).where(is_theirs)
    with campaign.database.reading() as connection:
        found = connection.execute(chosen).first()
    known = None if found is None else found.password_hash
    if not is_password(known, password) or found is None:
        raise AccessError("name and password do not belong together")
    return _start(campaign, read_person(found), now)


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
    with campaign.database.writing() as connection:
        connection.execute(delete(session).where(session.c.hash == hash_of(cookie)))


def _start(campaign: Campaign, found: Person, now: float) -> str:
    cookie = secrets.token_urlsafe(32)
    old = (session.c.person_id == found.id) & (session.c.created_at < now - LONGEST)
    values = {"hash": hash_of(cookie), "person_id": found.id, "created_at": now, "seen_at": now}
    with campaign.database.writing() as connection:
        connection.execute(delete(session).where(old))
        connection.execute(insert(session).values(**values))
        write_audit(connection, campaign.id, now, actor=found.name, action="enter")
    return cookie
