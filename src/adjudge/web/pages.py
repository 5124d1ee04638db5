"""Pages. What they show comes from `campaigns`; what they do goes through the API."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import text

from adjudge.campaigns.forms import fitting_forms
from adjudge.campaigns.gate import why_no_gate
from adjudge.campaigns.people import ROLES
from adjudge.web.access import Annotator, Id, Organiser, ServedHere, SignedIn
from adjudge.web.analysis import analysis_context
from adjudge.web.at_once import AtOnce
from adjudge.web.rendering import render
from adjudge.web.work import guidelines_context, home_context, work_context

__all__ = ["ROUTER"]

ROUTER: Final = APIRouter(include_in_schema=False)


@ROUTER.get("/")
def entry_page(served: ServedHere) -> Response:
    """Where links lead; a script takes the secret from behind the # and sends it."""
    return render("entry.html", {"campaign": served.campaign.name})


@ROUTER.get("/sign-in")
def sign_in_page(served: ServedHere) -> Response:
    """Name and password of an organiser."""
    return render("sign-in.html", {"campaign": served.campaign.name})


@ROUTER.get("/work")
def home_page(served: ServedHere, person: SignedIn) -> Response:
    """What an annotator has done and is to do; organisers have the dashboard."""
    if person.role == "organiser":
        return RedirectResponse("/dashboard", 303)
    return render("home.html", home_context(served.campaign, person))


def work_page(assignment: Id, served: ServedHere, person: Annotator) -> Response:
    """A task, to work on or to look at again."""
    return render("work/page.html", work_context(served.campaign, person, assignment))


ROUTER.add_api_route("/work/{assignment}", work_page, methods=["GET"], route_class_override=AtOnce)


@ROUTER.get("/guidelines")
def guidelines_page(served: ServedHere, _: SignedIn) -> Response:
    """What annotators are to know."""
    return render("guidelines.html", guidelines_context(served.campaign))


@ROUTER.get("/dashboard")
def dashboard_page(served: ServedHere, _: Organiser) -> Response:
    """What the campaign has found so far."""
    campaign = served.campaign
    has_gate, forms = why_no_gate(campaign) is None, fitting_forms(campaign.protocol)
    return render("dashboard.html", {"campaign": campaign.name, "has_gate": has_gate, "forms": forms})


@ROUTER.get("/dashboard/people")
def people_page(served: ServedHere, _: Organiser) -> Response:
    """Who annotates, and how."""
    return render("dashboard-people.html", {"campaign": served.campaign.name, "roles": ROLES})


@ROUTER.get("/dashboard/analysis")
def analysis_page(served: ServedHere, _: Organiser) -> Response:
    """All that the campaign shows so far: rankings, agreement, attention, times, marks and ratings."""
    return render("dashboard-analysis.html", analysis_context(served.campaign, served.clock()))


@ROUTER.get("/openapi.json")
def openapi(request: Request, _: Organiser) -> Response:
    """What the API takes and answers, for programs."""
    return JSONResponse(request.app.openapi())


@ROUTER.get("/health")
def health(served: ServedHere) -> Response:
    """Whether the server and its store answer, for who watches it."""
    with served.campaign.database.reading() as connection:
        connection.execute(text("SELECT 1"))
    return JSONResponse({"status": "ok"})
