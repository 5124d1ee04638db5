"""API: what an annotator's page asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from adjudge.campaigns.answers import save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.completion import completion_code
from adjudge.campaigns.events import Event
from adjudge.campaigns.finishing import finish
from adjudge.campaigns.state import State
from adjudge.errors import UnfinishedError
from adjudge.web.access import Annotator, Id, ServedHere
from adjudge.web.at_once import AtOnce
from adjudge.web.messages import MESSAGES, Message
from adjudge.web.strict import Body

__all__ = ["ROUTER"]

ROUTER: Final = APIRouter(prefix="/api", route_class=AtOnce, responses=MESSAGES, tags=["annotating"])

_Key = Annotated[int, Field(ge=1, le=2**63 - 1)]
_Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
_Seconds = Annotated[float, Field(ge=0, le=86_400)]

Kind = Literal[
    "mark",
    "unmark",
    "severity",
    "category",
    "rate",
    "missing",
    "verdict",
    "choose",
    "edit",
    "comment",
    "complete",
    "undo",
    "redo",
    "restore",
    "time",
    "reset",
]
"""What a person did to an item."""


class Change(Body):
    """One change of an item, and the whole item after it."""

    id: _Token
    item: _Key
    base: Annotated[int, Field(ge=0, le=2**31 - 1)]
    kind: Kind
    at: Annotated[float, Field(ge=0, le=1e11)]
    state: State
    hashes: Annotated[list[Annotated[str, Field(pattern="^[0-9a-f]{16}$")]], Field(max_length=100)]
    active: _Seconds = 0.0
    idle: _Seconds = 0.0


class Changes(Body):
    """Changes of one page, in order."""

    assignment: _Key
    page: _Token
    events: Annotated[list[Change], Field(min_length=1, max_length=100)]


class Saved(BaseModel):
    """A change that is on the disk."""

    id: str
    item: int
    revision: int
    complete: bool


class Stale(BaseModel):
    """An item that another page has changed since; nothing was written over it."""

    item: int
    revision: int
    state: State


class Refused(BaseModel):
    """A change that cannot be, and why."""

    id: str
    item: int
    why: str


class Outcome(BaseModel):
    """What became of each change; the message is empty where all are saved."""

    message: str = ""
    saved: list[Saved] = []
    stale: list[Stale] = []
    refused: list[Refused] = []


class Next(BaseModel):
    """The task to work on; where all is done, the code that tells a platform so, if there is one."""

    assignment: int | None
    done: bool
    code: str = ""


class Feedback(BaseModel):
    """What an item still lacks, or what a check or a tutorial has to say of it."""

    item: int
    ok: bool
    says: list[str]


class Finished(BaseModel):
    """The task to work on next, if there is one, and what is to be said of this one."""

    next: int | None
    feedback: list[Feedback]


class Unfinished(Message):
    """Why a task is not finished."""

    feedback: list[Feedback]


_OUTCOMES: Final[dict[int | str, dict[str, Any]]] = {409: {"model": Outcome}, 422: {"model": Outcome}}
_UNFINISHED: Final[dict[int | str, dict[str, Any]]] = {409: {"model": Unfinished}}
_FIELDS: Final = tuple(field.name for field in fields(Event))


@ROUTER.post("/next")
def next_task(served: ServedHere, person: Annotator) -> Next:
    """Go on with the task that this person has, or get another one."""
    now = served.clock()
    given = assign_next(served.campaign, person, now)
    if given is None:
        return Next(assignment=None, done=True, code=completion_code(served.campaign, person))
    return Next(assignment=given.id, done=False)


@ROUTER.post("/events", response_model=Outcome, responses=_OUTCOMES)
def save_changes(body: Changes, served: ServedHere, person: Annotator) -> Response:
    """Save changes; when this answers 200, all are on the disk. One that was sent before counts once."""
    events = [Event(**{name: getattr(change, name) for name in _FIELDS}) for change in body.events]
    done = save(served.campaign, person, body.assignment, body.page, events, served.clock())
    if done.stale:
        status, message = 409, "Another page has changed this since. Choose which one stays."
    elif done.refused:
        status, message = 422, done.refused[0].why
    else:
        status, message = 200, ""
    outcome = {"message": message, "saved": done.saved, "stale": done.stale, "refused": done.refused}
    return Response(orjson.dumps(outcome), status, media_type="application/json")


@ROUTER.post("/work/{assignment}/done", response_model=Finished, responses=_UNFINISHED)
def finish_task(assignment: Id, served: ServedHere, person: Annotator) -> Finished | JSONResponse:
    """Finish a task and get the next one; 409 says what is still to do."""
    now = served.clock()
    try:
        done = finish(served.campaign, person, assignment, now)
    except UnfinishedError as error:
        unfinished = Unfinished(message=str(error), feedback=_feedback(error.todo))
        return JSONResponse(unfinished.model_dump(), 409)
    given = assign_next(served.campaign, person, now)
    return Finished(next=None if given is None else given.id, feedback=_feedback(done.notes))


def _feedback(of_items: Mapping[int, Sequence[str]]) -> list[Feedback]:
    return [Feedback(item=item, ok=False, says=list(says)) for item, says in of_items.items()]
