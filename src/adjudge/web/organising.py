"""API: what an organiser's pages ask for."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

from fastapi import APIRouter, BackgroundTasks
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from adjudge.campaigns.dashboard import dashboard
from adjudge.campaigns.finishing import release
from adjudge.campaigns.gate import apply_gate
from adjudge.campaigns.people import Link, Role, add_people, new_link, people, revoke
from adjudge.web.access import Id, Organiser, Served, ServedHere
from adjudge.web.exports import SUFFIXES, ExportForm, write_export
from adjudge.web.messages import MESSAGES
from adjudge.web.strict import Body, StrictRoute

__all__ = ["ROUTER"]

ROUTER: Final = APIRouter(prefix="/api", route_class=StrictRoute, responses=MESSAGES, tags=["organising"])


class NewPerson(Body):
    """Somebody who is to take part."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: Role = "annotator"
    batch: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


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


@ROUTER.get("/dashboard", response_model=dict[str, Any])
def dashboard_numbers(served: ServedHere, _: Organiser) -> JSONResponse:
    """Everything that the dashboard shows."""
    return JSONResponse(dashboard(served.campaign, served.clock()))


@ROUTER.post("/people")
def add_person(body: NewPerson, served: ServedHere, organiser: Organiser) -> WayIn:
    """Add a person, and make their link."""
    (link,) = add_people(
        served.campaign, [body.name], body.role, served.clock(), actor=organiser.name, batch=body.batch
    )
    return _way_in(served, link)


@ROUTER.post("/people/{person}/link")
def make_new_link(person: Id, served: ServedHere, organiser: Organiser) -> WayIn:
    """Make a person's link anew; the one before, and all their sessions, end."""
    _find_person(served, person)
    return _way_in(served, new_link(served.campaign, person, served.clock(), actor=organiser.name))


@ROUTER.post("/people/{person}/revoke")
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
    return WayIn(person=number, name=link.name, role=link.role, path=link.path)


@ROUTER.post("/tasks/{number}/release")
def release_task(number: Id, served: ServedHere, organiser: Organiser) -> Released:
    """Take a task back from everybody who has not finished it, so that others get it."""
    return Released(released=release(served.campaign, number, served.clock(), actor=organiser.name))


@ROUTER.post("/gate")
def decide_on_segments(served: ServedHere, organiser: Organiser) -> Gate:
    """Send out again what its annotators do not agree on, and drop what failed twice."""
    report = apply_gate(served.campaign, served.clock(), actor=organiser.name)
    return Gate(**{name: getattr(report, name) for name in Gate.model_fields})


@ROUTER.get("/export/{form}", response_class=FileResponse)
def export(form: ExportForm, served: ServedHere, _: Organiser, after: BackgroundTasks) -> FileResponse:
    """Everything that is finished so far, as one file."""
    name = f"{served.campaign.name}.{SUFFIXES[form]}"
    with ExitStack() as folders:
        path = Path(folders.enter_context(TemporaryDirectory(prefix="adjudge-"))) / name
        write_export(served.campaign, form, path)
        after.add_task(folders.pop_all().close)  # after what is written here is sent, and not before
    return FileResponse(path, filename=name, media_type="application/octet-stream")
