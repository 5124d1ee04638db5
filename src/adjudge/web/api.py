"""The API of a campaign's server: what its pages ask for.

Annotators get tasks, save changes and finish; organisers see the dashboard, add people, take tasks back and
get exports, one file each; everyone comes in by a link or a password, and leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import APIRouter, BackgroundTasks, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from adjudge.campaigns.again import apply_gate
from adjudge.campaigns.answers import Event, finish, release, save, task_view
from adjudge.campaigns.answers import Saved as SavedChanges
from adjudge.campaigns.assigning import assign_next, count_held_by_others
from adjudge.campaigns.campaign import completion_code
from adjudge.campaigns.dashboard import dashboard
from adjudge.campaigns.database import Person, Role
from adjudge.campaigns.exporting import write_export
from adjudge.campaigns.items import State
from adjudge.campaigns.people import (
    Link,
    add_people,
    choose_language,
    enter,
    leave,
    new_link,
    people,
    revoke,
    sign_in,
    who,
)
from adjudge.campaigns.stopping import WhyNothing, why_nothing
from adjudge.core.language import canonical_lp
from adjudge.errors import UnfinishedError, UsageError
from adjudge.web.pages import page_data
from adjudge.web.requests import MESSAGES, AtOnce, Body, Message, StrictRoute, address, words_for
from adjudge.web.security import Annotator, Id, Organiser, Served, ServedHere, drop_cookie, give_cookie

ANNOTATOR_ROUTER: Final = APIRouter(
    prefix="/api", route_class=AtOnce, responses=MESSAGES, tags=["annotating"]
)

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
    "fault",
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


class Ending(Body):
    """The last changes of a task, in order, and the page that made them."""

    page: _Token = "-"
    language: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,64}$")] = ""
    events: Annotated[list[Change], Field(max_length=100, default_factory=list)]


class Changes(Ending):
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


class Answer(BaseModel):
    """What is saved of an item; revision 0 before the first change."""

    id: int
    revision: int
    state: State
    complete: bool
    hashes: list[str]


class Answers(BaseModel):
    """What is saved of a task."""

    items: list[Answer]


class Next(BaseModel):
    """The task to work on; where all is done, the code that tells a platform so, if there is one.

    `held`: tasks that others are at work on, which would come to this person if they were given back.
    """

    assignment: int | None
    done: bool
    code: str = ""
    held: int = 0
    why: WhyNothing = ""


class Feedback(BaseModel):
    """What an item still lacks, or what a check or a tutorial has to say of it."""

    item: int
    ok: bool
    says: list[str]


class Finished(BaseModel):
    """The task to work on next, if there is one, as its page has it; and what is to be said of this one."""

    next: dict[str, Any] | None
    feedback: list[Feedback]
    saved: list[Saved]


class Unfinished(Message):
    """Why a task is not finished."""

    feedback: list[Feedback]
    saved: list[Saved]


_OUTCOMES: Final[dict[int | str, dict[str, Any]]] = {409: {"model": Outcome}, 422: {"model": Outcome}}
_UNFINISHED: Final[dict[int | str, dict[str, Any]]] = {409: {"model": Unfinished}}
_FIELDS: Final = tuple(Change.model_fields)


@ANNOTATOR_ROUTER.post("/next")
def next_task(served: ServedHere, person: Annotator) -> Next:
    """Go on with the task that this person has, or get another one."""
    now = served.clock()
    given = assign_next(served.campaign, person, now)
    if given is None and (why := why_nothing(served.campaign, person, now)):
        return Next(assignment=None, done=why == "test", why=why)
    if given is None:
        code = completion_code(served.campaign, person)
        held = count_held_by_others(served.campaign, person)
        return Next(assignment=None, done=True, code=code, held=held)
    return Next(assignment=given.id, done=False)


@ANNOTATOR_ROUTER.post("/events", response_model=Outcome, responses=_OUTCOMES)
def save_changes(body: Changes, served: ServedHere, person: Annotator) -> Response:
    """Save changes; when this answers 200, all are on the disk. One that was sent before counts once."""
    return _outcome(_save(served, person, body.assignment, body))


def _save(served: Served, person: Person, assignment: int, body: Ending) -> SavedChanges:
    events = [
        Event(language=body.language, **{name: getattr(change, name) for name in _FIELDS})
        for change in body.events
    ]
    return save(served.campaign, person, assignment, body.page, events, served.clock())


def _outcome(done: SavedChanges) -> Response:
    if done.stale:
        status, message = 409, "Another page has changed this since. Choose which one stays."
    elif done.refused:
        status, message = 422, done.refused[0].why
    else:
        status, message = 200, ""
    outcome = {"message": message, "saved": done.saved, "stale": done.stale, "refused": done.refused}
    return Response(orjson.dumps(outcome), status, media_type="application/json")


@ANNOTATOR_ROUTER.get("/work/{assignment}")
def answers(assignment: Id, served: ServedHere, person: Annotator) -> Answers:
    """What is saved of each item of a task."""
    items = task_view(served.campaign, person, assignment).items
    found = [
        Answer(
            id=one.id,
            revision=one.revision,
            state=one.state,
            complete=one.is_complete,
            hashes=list(one.hashes),
        )
        for one in items
    ]
    return Answers(items=found)


@ANNOTATOR_ROUTER.post("/work/{assignment}/done", response_model=Finished, responses=_UNFINISHED)
def finish_task(
    body: Ending, assignment: Id, request: Request, served: ServedHere, person: Annotator
) -> Finished | Response:
    """Save a task's last changes, finish it and get the next one; 409 says what is still to do.

    Where a change is not saved, the task is not finished, and the answer is that of `save_changes`.
    """
    campaign, now = served.campaign, served.clock()
    kept = _save(served, person, assignment, body) if body.events else SavedChanges()
    if kept.stale or kept.refused:
        return _outcome(kept)
    saved = [Saved(**asdict(one)) for one in kept.saved]
    try:
        done = finish(campaign, person, assignment, now)
    except UnfinishedError as error:
        unfinished = Unfinished(message=str(error), feedback=_feedback(error.todo), saved=saved)
        return JSONResponse(unfinished.model_dump(), 409)
    given = assign_next(campaign, person, now)
    data = None
    if given is not None:
        data = page_data(campaign, person, task_view(campaign, person, given.id), words_for(request, person))
    return Finished(next=data, feedback=_feedback(done.notes), saved=saved)


def _feedback(of_items: Mapping[int, Sequence[str]]) -> list[Feedback]:
    return [Feedback(item=item, ok=False, says=list(says)) for item, says in of_items.items()]


class Chosen(Body):
    """The language of a person's pages from now on."""

    language: _Token


@ANNOTATOR_ROUTER.post("/language")
def choose_pages_language(body: Chosen, served: ServedHere, person: Annotator) -> Chosen:
    if body.language not in served.words:
        raise UsageError(f"the pages are in {', '.join(served.words)}; got {body.language!r}")
    choose_language(served.campaign, person.id, body.language)
    return body


ExportForm = Literal["campaign", "records", "jsonl", "appraise", "pearmut", "mqm-tsv", "spreadsheet"]
"""Formats of `formats.read` that are one file."""
SUFFIXES: Final[Mapping[ExportForm, str]] = {
    "campaign": "campaign.jsonl",
    "records": "records.jsonl",
    "jsonl": "texts.jsonl",
    "appraise": "appraise.csv",
    "pearmut": "pearmut.jsonl",
    "mqm-tsv": "mqm.tsv",
    "spreadsheet": "csv",
}


ORGANISER_ROUTER: Final = APIRouter(
    prefix="/api", route_class=StrictRoute, responses=MESSAGES, tags=["organising"]
)


class NewPerson(Body):
    """Somebody who is to take part; without language pairs an annotator gets one."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: Role = "annotator"
    lps: Annotated[list[Annotated[str, Field(max_length=80)]], Field(max_length=100, default_factory=list)]


class WayIn(BaseModel):
    """A person's link: the site's address, and this path, whose secret is shown this once."""

    person: int
    name: str
    role: Role
    path: str


class Revoked(BaseModel):
    """Who is out from now on."""

    person: int


class Released(BaseModel):
    """How many people had the task, and do not have it any more."""

    released: int


class Gate(BaseModel):
    """What the agreement gate decided so far: segments judged once, sent out again, judged again, dropped."""

    segments: int
    first: int
    failed: int
    second: int
    dropped: int
    undefined: int
    unjudged: int


@ORGANISER_ROUTER.get("/dashboard", response_model=dict[str, Any])
def dashboard_numbers(served: ServedHere, _: Organiser) -> JSONResponse:
    return JSONResponse(dashboard(served.campaign, served.clock()))


@ORGANISER_ROUTER.post("/people")
def add_person(body: NewPerson, served: ServedHere, organiser: Organiser) -> WayIn:
    (link,) = add_people(
        served.campaign, [body.name], body.role, served.clock(), actor=organiser.name, lps=body.lps
    )
    return _way_in(served, link)


@ORGANISER_ROUTER.post("/people/{person}/link")
def make_new_link(person: Id, served: ServedHere, organiser: Organiser) -> WayIn:
    """Make a person's link anew; the one before, and all their sessions, end."""
    _find_person(served, person)
    return _way_in(served, new_link(served.campaign, person, served.clock(), actor=organiser.name))


@ORGANISER_ROUTER.post("/people/{person}/revoke")
def revoke_person(person: Id, served: ServedHere, organiser: Organiser) -> Revoked:
    """Shut a person out; what they did stays."""
    _find_person(served, person)
    revoke(served.campaign, person, served.clock(), actor=organiser.name)
    return Revoked(person=person)


def _find_person(served: Served, number: int) -> None:
    if number not in {one.id for one in people(served.campaign)}:
        raise HTTPException(404, "There is no such person in this campaign.")


def _way_in(served: Served, link: Link) -> WayIn:
    (number,) = (one.id for one in people(served.campaign) if one.name == link.name)
    return WayIn(person=number, name=link.name, role=link.role, path=address(link.path))


@ORGANISER_ROUTER.post("/tasks/{number}/release")
def release_task(number: Id, served: ServedHere, organiser: Organiser) -> Released:
    """Take a task back from everybody who has not finished it, so that others get it."""
    return Released(released=release(served.campaign, number, served.clock(), actor=organiser.name))


@ORGANISER_ROUTER.post("/gate")
def decide_on_segments(served: ServedHere, organiser: Organiser) -> Gate:
    """Send out again what its annotators do not agree on, and drop what failed twice."""
    report = apply_gate(served.campaign, served.clock(), actor=organiser.name)
    return Gate(**{name: getattr(report, name) for name in Gate.model_fields})


@ORGANISER_ROUTER.get("/export/{form}", response_class=FileResponse)
def export(
    form: ExportForm,
    served: ServedHere,
    _: Organiser,
    after: BackgroundTasks,
    lp: Annotated[str | None, Query(max_length=80)] = None,
) -> FileResponse:
    """Everything that is finished so far, or what is of one language pair, as one file."""
    name = ".".join([served.campaign.name, *([] if lp is None else [canonical_lp(lp)]), SUFFIXES[form]])
    with ExitStack() as folders:
        path = Path(folders.enter_context(TemporaryDirectory(prefix="adjudge-"))) / name
        write_export(served.campaign, form, path, lp=lp)
        after.add_task(folders.pop_all().close)  # after what is written here is sent, and not before
    return FileResponse(path, filename=name, media_type="application/octet-stream")


ENTRY_ROUTER: Final = APIRouter(prefix="/api", route_class=StrictRoute, responses=MESSAGES, tags=["entering"])


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

    to: str


@ENTRY_ROUTER.post("/enter")
def enter_by_link(body: Secret, request: Request, response: Response, served: ServedHere) -> Entered:
    """Exchange the secret of a link for a session."""
    entering = partial(enter, served.campaign, body.secret)
    return _enter(served, request, response, entering, is_guessable=False)


@ENTRY_ROUTER.post("/sign-in")
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
    client = request.client.host if request.client else ""
    cookie = served.guesses.attempt(client, now, lambda: start(now), is_guessable=is_guessable)
    if old := request.cookies.get(served.site.cookie):
        leave(served.campaign, old)
    person = who(served.campaign, cookie, now)
    assert person is not None  # noqa: S101 (the session began a moment ago)
    give_cookie(response, served.site, cookie)
    to = address("/dashboard" if person.role == "organiser" else "/work")
    return Entered(name=person.name, role=person.role, to=to)


@ENTRY_ROUTER.post("/leave")
def end_session(request: Request, response: Response, served: ServedHere) -> Left:
    """End the session, wherever its cookie was copied to."""
    if cookie := request.cookies.get(served.site.cookie):
        leave(served.campaign, cookie)
    drop_cookie(response, served.site)
    return Left(to=address("/"))
