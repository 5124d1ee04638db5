"""`adjudge serve`: a report whose segments come from a server, a few at a time, with every conversation.

Read-only and local. Four addresses, all of them GET; a request names rows and positions by number, never
a file. Host names of others are refused (DNS rebinding), and the page may run its own script alone.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from adjudge.core.segment import Segment
from adjudge.core.version import VERSION
from adjudge.errors import AdjudgeError
from adjudge.report.collecting import uncollected
from adjudge.report.drawer import Drawer
from adjudge.report.html import render_page, served_policy
from adjudge.report.page import Page
from adjudge.report.segments import to_script_json
from adjudge.web.connections import Connections, protocol_of
from adjudge.web.security import NO_TELEMETRY, Guard, Site
from adjudge.web.serving import ending_quietly
from adjudge.web.viewer_figures import Figures
from adjudge.web.viewer_rows import Rows, Wanted

__all__ = ["Talk", "create_viewer", "serve_viewer"]

Talk = Callable[[Segment, tuple[str, ...]], Sequence[Mapping[str, object]]]
"""What tells the conversation behind a judgement: of a segment (without its translations) and systems."""

_MOST: Final = 100
_LARGEST: Final = 1_000_000_000
_GRACE: Final = 2  # seconds in which requests under way may end
_WORDS: Final = {404: "There is no such page.", 405: "This server only shows; it takes nothing."}


class _Asked(Wanted):
    """What is looked for, and which part of the answer.

    Args:
        start: how many to leave out.
        amount: how many to send.
    """

    start: int = Field(0, ge=0, le=_LARGEST)
    amount: int = Field(20, ge=1, le=_MOST)


def create_viewer(
    page: Page, *, talks: Mapping[int, Talk], commands: Sequence[str] = (), drawer: Drawer | None = None
) -> FastAPI:
    """Make the server of a page (ASGI). It keeps the page's HTML, and its segments in a database on disk.

    Args:
        page: the page; it is not needed any more afterwards.
        talks: conversations, by the position of the annotator that had them.
        commands: the command lines that make the page again.
        drawer: draws its figures while it is read already; None to draw each when it is asked for.
    """
    figures = Figures(page.figures, drawer)
    with uncollected():
        rows, systems = Rows(page.iter_segments(), page.facts), page.systems
    annotators = [{**each, "talks": by in talks} for by, each in enumerate(page.facts["annotators"])]
    served = {**page.facts, "annotators": annotators, "total": rows.total}
    html = render_page(page, commands, served=served).encode()
    headers = {"Content-Security-Policy": _policy()}
    app = FastAPI(
        version=VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )

    @app.get("/")
    def whole_page() -> Response:
        return HTMLResponse(html, headers=headers)

    @app.get("/api/segments")
    def segments(asked: Annotated[_Asked, Query()]) -> Response:
        wanted = Wanted(**asked.model_dump(exclude={"start", "amount"}))
        found, shown = rows.find(wanted, asked.start, asked.amount)
        return _json(b'{"found":%d,"total":%d,"segments":[%b]}' % (found, rows.total, b",".join(shown)))

    @app.get("/api/figure")
    async def figure(number: Annotated[int, Query(ge=0, le=_LARGEST)]) -> Response:
        if number >= len(figures):
            raise HTTPException(404, "There is no such figure.")
        return Response(await figures.svg(number), media_type="image/svg+xml")

    @app.get("/api/conversation")
    def conversation(
        row: Annotated[int, Query(ge=0, le=_LARGEST)],
        by: Annotated[int, Query(ge=0)],
        of: Annotated[str, Query(pattern=r"^\d{1,9}(,\d{1,9})?$")],
    ) -> Response:
        places = [int(place) for place in of.split(",")]
        segment = rows.segment(row)
        if segment is None or by not in talks or max(places) >= len(systems):
            raise HTTPException(404, "There is no such judgement.")
        said = talks[by](segment, tuple(systems[place] for place in places))
        return _json(to_script_json({"exchanges": list(said)}).encode())

    _add_messages(app)
    app.add_middleware(Guard, site=Site())
    return app


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _policy() -> str:
    """What the page's own policy says, and what only a header can say."""
    return (
        f"{served_policy()}; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _add_messages(app: FastAPI) -> None:
    """Say every error in words, as JSON."""

    async def say_http(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        detail = str(error.detail) if isinstance(error, HTTPException) else ""
        generic = {"Not Found", "Method Not Allowed"}
        return JSONResponse({"message": _WORDS[status] if detail in generic else detail}, status)

    async def say_invalid(_: Request, error: Exception) -> Response:
        found: dict[str, Any] = error.errors()[0] if isinstance(error, RequestValidationError) else {}
        where = ".".join(str(part)[:40] for part in found["loc"][1:])
        return JSONResponse({"message": f"{where}: {found['msg']}"}, 422)

    async def say_ours(_: Request, error: Exception) -> Response:
        return JSONResponse({"message": str(error)}, 503)

    app.add_exception_handler(HTTPException, say_http)
    app.add_exception_handler(RequestValidationError, say_invalid)
    app.add_exception_handler(AdjudgeError, say_ours)


def serve_viewer(app: FastAPI, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        app: of `create_viewer`.
        listening: the port.
    """
    config = uvicorn.Config(
        app,
        http=protocol_of(Connections.that_fit()),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE,
    )
    with ending_quietly():
        uvicorn.Server(config).run(sockets=[listening])
