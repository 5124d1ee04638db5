"""Who asks, and whether they may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final

from fastapi import Depends, Path, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyCookie

from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.people import Person
from adjudge.campaigns.sessions import LONGEST, who
from adjudge.errors import AccessError, NotYoursError
from adjudge.web.limits import Guesses, TooOftenError, Window
from adjudge.web.security import Site

__all__ = [
    "Annotator",
    "Id",
    "Organiser",
    "Served",
    "ServedHere",
    "SignedIn",
    "annotator_of",
    "drop_cookie",
    "give_cookie",
    "served_by",
]

Id = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""A key of the store."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """What all routes of a server share.

    Args:
        campaign: that is served.
        site: where browsers find it.
        clock: seconds since 1970.
        guesses: wrong secrets so far.
        changes: requests of each person that change something; far more than a page sends.
    """

    campaign: Campaign
    site: Site
    clock: Callable[[], float]
    guesses: Guesses = field(default_factory=Guesses)
    changes: Window = field(default_factory=lambda: Window(most=1200, seconds=60.0))


def served_by(request: Request) -> Served:
    """What all routes share."""
    served: Served = request.app.state.served
    return served


async def _served(request: Request) -> Served:
    return served_by(request)


ServedHere = Annotated[Served, Depends(_served)]

_COOKIE: Final = APIKeyCookie(name="adjudge", auto_error=False, description="A session")
_SAFE: Final = frozenset({"GET", "HEAD"})


def _person_of(request: Request, served: Served) -> Person:
    cookie = request.cookies.get(served.site.cookie, "")
    now = served.clock()
    person = who(served.campaign, cookie, now) if cookie else None
    if person is None:
        raise AccessError("You are not signed in (any more). Open your link again.")
    if request.method not in _SAFE and (wait := served.changes.take(str(person.id), now)):
        raise TooOftenError(wait)
    return person


async def _signed_in(
    request: Request, served: ServedHere, _: Annotated[str | None, Security(_COOKIE)] = None
) -> Person:
    return await run_in_threadpool(_person_of, request, served)


SignedIn = Annotated[Person, Depends(_signed_in)]


async def _organiser(person: SignedIn) -> Person:
    if person.role != "organiser":
        raise NotYoursError("This is for the organiser of the campaign.")
    return person


def _as_annotator(person: Person) -> Person:
    if person.role == "organiser":
        raise NotYoursError("Organisers do not annotate: open an annotator's link for that.")
    return person


async def _annotator(person: SignedIn) -> Person:
    return _as_annotator(person)


def annotator_of(request: Request, served: Served) -> Person:
    """The annotator who asks, for a route that is in a thread already.

    Raises:
        AccessError: nobody is signed in.
        NotYoursError: it is an organiser.
        TooOftenError: they changed something too often.
    """
    return _as_annotator(_person_of(request, served))


Organiser = Annotated[Person, Depends(_organiser)]
Annotator = Annotated[Person, Depends(_annotator)]


def give_cookie(response: Response, site: Site, cookie: str) -> None:
    """Start a session in the browser: no script reads it, no other site sends it."""
    response.set_cookie(
        site.cookie, cookie, max_age=int(LONGEST), secure=site.is_secure, httponly=True, samesite="strict"
    )


def drop_cookie(response: Response, site: Site) -> None:
    """End the session in the browser."""
    response.delete_cookie(site.cookie, secure=site.is_secure, httponly=True, samesite="strict")
