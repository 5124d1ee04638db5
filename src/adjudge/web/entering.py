"""API: ways in and out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from adjudge.campaigns.people import Role
from adjudge.campaigns.sessions import enter, leave, sign_in, who
from adjudge.web.access import Served, ServedHere, drop_cookie, give_cookie
from adjudge.web.messages import MESSAGES
from adjudge.web.strict import Body, StrictRoute

__all__ = ["ROUTER"]

ROUTER: Final = APIRouter(prefix="/api", route_class=StrictRoute, responses=MESSAGES, tags=["entering"])


class Secret(Body):
    """What stands behind the # of a person's link."""

    secret: Annotated[str, Field(min_length=1, max_length=200)]


class NameAndPassword(Body):
    """An organiser's."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    password: Annotated[str, Field(min_length=1, max_length=1000)]


class Entered(BaseModel):
    """Who came in, and the page where they go on."""

    name: str
    role: Role
    to: str


class Left(BaseModel):
    """The page where somebody without a session is."""

    to: str = "/"


@ROUTER.post("/enter")
def enter_by_link(body: Secret, request: Request, response: Response, served: ServedHere) -> Entered:
    """Exchange the secret of a link for a session."""
    entering = partial(enter, served.campaign, body.secret)
    return _enter(served, request, response, entering, is_guessable=False)


@ROUTER.post("/sign-in")
def enter_by_password(
    body: NameAndPassword, request: Request, response: Response, served: ServedHere
) -> Entered:
    """Exchange an organiser's name and password for a session."""
    entering = partial(sign_in, served.campaign, body.name, body.password)
    return _enter(served, request, response, entering, is_guessable=True)


def _enter(
    served: Served, request: Request, response: Response, start: Callable[[float], str], *, is_guessable: bool
) -> Entered:
    """Start a session; one that the browser had ends, so that none can be planted."""
    now = served.clock()
    address = request.client.host if request.client else ""
    cookie = served.guesses.attempt(address, now, lambda: start(now), is_guessable=is_guessable)
    if old := request.cookies.get(served.site.cookie):
        leave(served.campaign, old)
    person = who(served.campaign, cookie, now)
    assert person is not None  # noqa: S101 (the session began a moment ago)
    give_cookie(response, served.site, cookie)
    to = "/dashboard" if person.role == "organiser" else "/work"
    return Entered(name=person.name, role=person.role, to=to)


@ROUTER.post("/leave")
def end_session(request: Request, response: Response, served: ServedHere) -> Left:
    """End the session, wherever its cookie was copied to."""
    if cookie := request.cookies.get(served.site.cookie):
        leave(served.campaign, cookie)
    drop_cookie(response, served.site)
    return Left()
