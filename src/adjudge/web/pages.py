"""Pages of a campaign's server, and the files that they name.

What pages show comes from `campaigns`; what they do goes through the API. An annotator's page never tells
whose translations it shows. Besides: guidelines from Markdown, in which raw HTML stays text; the whole
analysis of a campaign under way, as `adjudge campaign analyse` prints it; our own files, and the media files
of a campaign.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from markdown_it import MarkdownIt
from markupsafe import Markup
from sqlalchemy import text
from starlette.exceptions import HTTPException

from adjudge.campaigns.again import why_no_gate
from adjudge.campaigns.answers import ItemView, TaskView, task_view
from adjudge.campaigns.assigning import assignments
from adjudge.campaigns.campaign import open_campaign, read_guidelines
from adjudge.campaigns.dashboard import Resting, find_own_progress
from adjudge.campaigns.database import ROLES, Campaign, Person
from adjudge.campaigns.exporting import export_campaign, fitting_forms
from adjudge.campaigns.items import OMISSION
from adjudge.campaigns.settings import Scale
from adjudge.campaigns.tasks import FOLDER
from adjudge.core.language import is_right_to_left, language_name, source_language, target_language
from adjudge.formats.campaign_export import apart
from adjudge.reports.segments import to_script_json
from adjudge.reports.tables import NAMES, RANGES, Table
from adjudge.web.catalogues import GUIDELINES, Words
from adjudge.web.requests import AtOnce, address, own_files, render, takes_gzip, words_for
from adjudge.web.security import Annotator, Id, Organiser, ServedHere, SignedIn

_DEEPEST: Final = 6


@lru_cache(maxsize=64)  # every page that is opened has the guidelines
def render_markdown(text: str, *, below: int = 0) -> Markup:
    renderer = _renderer()
    tokens = renderer.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + below, _DEEPEST)}"
    return Markup(renderer.renderer.render(tokens, renderer.options, {}))  # noqa: S704 (escaped by the renderer)


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


Json = dict[str, Any]

_MOST_CHOICES: Final = 12
"""A rating with more steps is given on a line."""


def page_names(campaign: Campaign, view: TaskView, words: Words) -> Json:
    """What the template names: the protocol, and how it is asked for."""
    protocol = campaign.protocol
    return {
        "number": view.number,
        "is_test": view.is_test,
        "is_tutorial": view.is_tutorial and not view.is_test,
        "is_adjudication": view.is_adjudication,
        "is_editable": view.is_editable,
        "protocol": protocol,
        "source": _language(source_language(view.lp_shown), words.language),
        "target": _language(target_language(view.lp_shown), words.language),
        "scale": protocol.scale,
        "choices": _choices(protocol.scale),
        "severities": protocol.severities,
        "categories": _groups(campaign.categories) if protocol.has_categories else {},
        "has_notes": protocol.has_categories or bool(protocol.criteria and protocol.severities),
        "must_declare": protocol.record == "mqm",
    }


def page_data(campaign: Campaign, person: Person, view: TaskView, words: Words) -> Json:
    """What the page's script reads; `WorkData` in page.js says what each part is."""
    protocol = campaign.protocol
    return {
        "assignment": view.assignment,
        "number": None if view.is_tutorial else view.number,
        "frame": str([view.lp, view.lp_shown, view.is_tutorial, view.is_adjudication, view.is_editable]),
        "person": person_key(campaign, person),
        "is_editable": view.is_editable,
        "source": _language(source_language(view.lp_shown), words.language),
        "target": _language(target_language(view.lp_shown), words.language),
        "shows": protocol.shows,
        "scale": None if protocol.scale is None else asdict(protocol.scale),
        "severities": list(protocol.severities),
        "categories": list(campaign.categories) if protocol.has_categories else [],
        "omission": _omission(campaign.categories) if protocol.has_categories else None,
        "criteria": list(protocol.criteria),
        "marks_source": protocol.marks_source,
        "must_declare": protocol.record == "mqm",
        "idle_after": campaign.settings.time_idle_after,
        "invisible": {"ranges": RANGES, "names": NAMES},
        "items": [_item(item, words) for item in view.items],
    }


def person_key(campaign: Campaign, person: Person) -> str:
    """Whose changes a browser keeps: several people of several campaigns may use it."""
    return f"{campaign.name}/{person.id}"


def _omission(categories: Iterable[str]) -> str | None:
    names = list(categories)
    return OMISSION if OMISSION in names else next((name for name in names if "omission" in name), names[0])


def _item(item: ItemView, words: Words) -> Json:
    shown = zip(item.texts, item.given, strict=True)
    return {
        "id": item.id,
        "media": item.media,
        "source": item.source if item.media == "text" else address(f"/{quote(item.source)}"),
        "translations": [{"text": text, "given": list(given)} for text, given in shown],
        "hashes": list(item.hashes),
        "state": item.state.model_dump(mode="json"),
        "revision": item.revision,
        "complete": item.is_complete,
        "says": words.say_protocol("tutorial", item.says),
        "marks_instruction": item.marks_instruction,
        "between": [state.model_dump(mode="json") for state in item.between],
    }


@cache
def _language(code: str, speaking: str) -> Json:
    direction = "rtl" if is_right_to_left(code) else "ltr"
    return {"lang": code.replace("_", "-"), "dir": direction, "name": language_name(code, speaking)}


def _groups(categories: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for category, means in categories.items():
        found.setdefault(category.partition("/")[0], {})[category] = means
    return found


def _choices(scale: Scale | None) -> list[tuple[str, str]]:
    if scale is None or (scale.high - scale.low) / scale.step > _MOST_CHOICES:
        return []
    means = {anchor.at: anchor.means for anchor in scale.anchors}
    values = [
        scale.low + index * scale.step for index in range(int((scale.high - scale.low) / scale.step) + 1)
    ]
    return [(f"{value:g}", means.get(value, "")) for value in reversed(values)]


_UNDER_A_DIALOG: Final = 2  # level of the heading above


def _analysed(campaign: Campaign, now: float) -> dict[str, Any]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        tables = pool.submit(tables_of, campaign.folder).result()
    return {"campaign": campaign.name, "as_of": datetime.fromtimestamp(now, UTC), "tables": tables}


_ANALYSES: Final = Resting(_analysed, perf_counter)


def tables_of(folder: Path) -> list[Table]:
    """Tables of what the store of a campaign holds now."""
    from adjudge.analysis.study import analyse
    from adjudge.reports.campaign_report import analysis_tables

    with open_campaign(folder) as campaign:
        file = export_campaign(campaign)
    return analysis_tables(*map(analyse, apart(file)))


PAGE_ROUTER: Final = APIRouter(include_in_schema=False)


@PAGE_ROUTER.get("/")
def entry_page(request: Request, served: ServedHere) -> Response:
    """Where links lead; a script takes the secret from behind the # and sends it."""
    return render("entry.html", {"campaign": served.campaign.name}, words_for(request))


@PAGE_ROUTER.get("/sign-in")
def sign_in_page(request: Request, served: ServedHere) -> Response:
    return render("sign-in.html", {"campaign": served.campaign.name}, words_for(request))


@PAGE_ROUTER.get("/work")
def home_page(request: Request, served: ServedHere, person: SignedIn) -> Response:
    """What an annotator has done and is to do; organisers have the dashboard."""
    if person.role == "organiser":
        return RedirectResponse(address("/dashboard"), 303)
    campaign = served.campaign
    given = assignments(campaign, person)
    names = {
        "campaign": campaign.name,
        "protocol": campaign.protocol,
        "person": person.name,
        "person_key": person_key(campaign, person),
        "current": next((one for one in given if one.state == "leased"), None),
        "finished": [one for one in given if one.state == "done"],
        "own": find_own_progress(campaign, person),
        "has_tutorial": campaign.settings.tutorial and person.tutorial_at is None,
        "is_test": campaign.settings.pass_mark is not None,
        "languages": served.words.values(),
    }
    return render("home.html", names, words_for(request, person))


def work_page(assignment: Id, request: Request, served: ServedHere, person: Annotator) -> Response:
    """A task, to work on or to look at again."""
    campaign = served.campaign
    view = task_view(campaign, person, assignment)
    words = words_for(request, person)
    names = {
        **page_names(campaign, view, words),
        "guidelines": _guidelines(words, read_guidelines(campaign, view.lp), below=_UNDER_A_DIALOG),
        "data": Markup(to_script_json(page_data(campaign, person, view, words))),  # noqa: S704 (made safe for it)
    }
    return render("work/page.html", names, words)


PAGE_ROUTER.add_api_route("/work/{assignment}", work_page, methods=["GET"], route_class_override=AtOnce)


def _guidelines(words: Words, text: str, *, below: int = 0) -> tuple[str, Markup]:
    said = words.say_protocol(GUIDELINES, text)
    return words.tag_of(GUIDELINES, text), render_markdown(said, below=below)


@PAGE_ROUTER.get("/guidelines")
def guidelines_page(request: Request, served: ServedHere, person: SignedIn) -> Response:
    """What annotators are to know: guidelines of all language pairs, each text once."""
    campaign = served.campaign
    texts = dict.fromkeys(read_guidelines(campaign, lp) for lp in campaign.settings.lps)
    words = words_for(request, person)
    return render("guidelines.html", {"texts": [_guidelines(words, text) for text in texts]}, words)


@PAGE_ROUTER.get("/dashboard")
def dashboard_page(served: ServedHere, _: Organiser) -> Response:
    """What the campaign has found so far."""
    campaign = served.campaign
    names = {
        "campaign": campaign.name,
        "judges": campaign.protocol.shows != "candidates",
        "has_gate": why_no_gate(campaign) is None,
        "forms": fitting_forms(campaign.protocol),
        "lps": campaign.settings.lps,
    }
    return render("dashboard.html", names)


@PAGE_ROUTER.get("/dashboard/people")
def people_page(served: ServedHere, _: Organiser) -> Response:
    lps = served.campaign.settings.lps
    return render("dashboard-people.html", {"campaign": served.campaign.name, "roles": ROLES, "lps": lps})


@PAGE_ROUTER.get("/dashboard/analysis")
def analysis_page(served: ServedHere, _: Organiser) -> Response:
    """All that the campaign shows so far: rankings, agreement, attention, times, marks and ratings.

    It rests between two times, as `Resting` says, and says of when it is.
    """
    return render("dashboard-analysis.html", _ANALYSES.of(served.campaign, served.clock()))


@PAGE_ROUTER.get("/openapi.json")
def openapi(request: Request, _: Organiser) -> Response:
    """What the API takes and answers, for programs."""
    return JSONResponse(request.app.openapi())


@PAGE_ROUTER.get("/health")
def health(served: ServedHere) -> Response:
    """Whether the server and its store answer, for who watches it."""
    with served.campaign.database.reading() as connection:
        connection.execute(text("SELECT 1"))
    return JSONResponse({"status": "ok"})


_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_MEDIA_TYPES: Final = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".png": "image/png",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webp": "image/webp",
}
"""What a browser shows and never runs: no HTML, no SVG, no PDF."""
_NAME: Final = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{3,4}")

FILE_ROUTER: Final = APIRouter(include_in_schema=False)


@FILE_ROUTER.get("/static/{path:path}")
async def static_file(path: str, request: Request) -> Response:
    """One of our own files; browsers keep those of the bundle, and ask each time whether another changed."""
    kind = _TYPES.get(PurePosixPath(path).suffix)
    content, packed = own_files().get(path), own_files().get(f"{path}.gz")
    headers, encoding = {"Cache-Control": "no-cache"}, {}
    if packed is not None:
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        content = gzip.decompress(packed)
        if takes_gzip(request):
            content, encoding = packed, {"Content-Encoding": "gzip"}
    if kind is None or content is None:
        raise HTTPException(404)
    headers["ETag"] = tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if tag in re.findall('"[^"]*"', request.headers.get("if-none-match", "")):  # a proxy puts W/ before it
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers | encoding)


@FILE_ROUTER.get("/media/{path:path}")
def media_file(path: str, served: ServedHere, _: SignedIn) -> Response:
    """An image, a recording or a film that a task shows."""
    file = served.campaign.folder / FOLDER / path
    # A name is a digest and nothing else, so that no other path is one.
    is_media = _NAME.fullmatch(path) and file.suffix in _MEDIA_TYPES and file.is_file()
    if not is_media or file.is_symlink():
        raise HTTPException(404)
    headers = {"Cache-Control": "private, no-cache", "Content-Disposition": "inline"}
    return FileResponse(file, media_type=_MEDIA_TYPES[file.suffix], headers=headers)
