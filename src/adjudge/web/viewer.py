"""`adjudge serve`: a report whose segments come from a server, a few at a time, with every conversation.

`Rows` keeps every segment in a database that has no name and ends with the process. Another process draws the
figures one after the other, while the page is read already (`Figures`).

Read-only and local. Four addresses, all of them GET; a request names rows and positions by number, never
a file. Host names of others are refused (DNS rebinding), and the page may run its own script alone.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from threading import Lock
from typing import Annotated, Any, Final, Literal

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from adjudge.core.scores import VERSION
from adjudge.core.segment import Segment
from adjudge.errors import AdjudgeError
from adjudge.reports.figures import Figure, page_svg
from adjudge.reports.html import Drawer, drawn, render_page, served_policy
from adjudge.reports.page import Page
from adjudge.reports.segments import to_script_json
from adjudge.store.files import uncollected
from adjudge.web.app import Connections, ending_quietly, protocol_of
from adjudge.web.security import NO_TELEMETRY, Guard, Site

Json = dict[str, Any]
_Condition = tuple[str, tuple[object, ...]]

_KEPT: Final = 8  # answers whose rows are kept, so that the next page of one costs nothing
_BATCH: Final = 500
_MEMORY: Final = 64_000  # kB
_LARGEST: Final = 1_000_000_000

_TABLES: Final = """
CREATE TABLE segment (row INTEGER PRIMARY KEY, lp BLOB, id BLOB, domain BLOB);
CREATE TABLE content (row INTEGER PRIMARY KEY, content BLOB, words BLOB);
CREATE TABLE text (row INTEGER, system INTEGER, spread REAL);
CREATE TABLE said (row INTEGER, "by" INTEGER, system INTEGER, other INTEGER, score REAL, failed INTEGER);
CREATE TABLE error (row INTEGER, "by" INTEGER, system INTEGER, severity BLOB, category BLOB, core BLOB);
"""


_CHOSEN: Final = "coalesce(system IN (?, ?), TRUE)"
_SCORES: Final = (
    "SELECT row, avg(score) AS value FROM said"
    ' WHERE coalesce(system IN (?, ?), TRUE) AND "by" = ? GROUP BY row'
)
_GAPS: Final = (
    "SELECT row, abs(avg(CASE WHEN system = ? THEN score END) - avg(CASE WHEN system = ? THEN score END))"
    ' AS value FROM said WHERE "by" = ? GROUP BY row'
)
_SPREADS: Final = (
    "SELECT row, max(spread) AS value FROM text WHERE coalesce(system IN (?, ?), TRUE) GROUP BY row"
)
_ORDERS: Final[Mapping[str, tuple[str, str]]] = {
    "low": (_SCORES, "own.value IS NULL, own.value, segment.row"),
    "high": (_SCORES, "own.value IS NULL, own.value DESC, segment.row"),
    "gap": (_GAPS, "own.value IS NULL, own.value DESC, segment.row"),
    "spread": (_SPREADS, "coalesce(own.value, 0) DESC, segment.row"),
}
"""What segments are ordered by, and how; what has no score comes last."""


class Wanted(BaseModel):
    """What a reader looks for; the fields of the page's form, by the same names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    segment: str = ""  # id of a single one
    lp: str = ""  # language pair
    domain: int | None = Field(None, ge=0, le=_LARGEST)  # its position among those of the page
    system: int | None = Field(None, ge=0, le=_LARGEST)  # its position; then only what was said of it counts
    against: int | None = Field(None, ge=0, le=_LARGEST)  # the position of another one, that stands beside it
    annotator: int | None = Field(None, ge=0, le=_LARGEST)  # their position; then only what they said counts
    severity: str = ""
    category: str = ""  # of an error, or the core type of it
    failures: Literal["", "on"] = ""  # whether a judgement must have failed
    disagreement: Literal["", "on"] = ""  # whether annotators must disagree
    search: str = Field("", max_length=1000)  # words that must stand somewhere, in any case
    # by score of annotator `by`, by the difference of two systems, or by disagreement; else as in the test
    # set
    order: Literal["", "low", "high", "gap", "spread"] = ""
    by: int = Field(0, ge=0, le=_LARGEST)  # whose scores order

    @property
    def systems(self) -> tuple[int | None, int | None]:
        """Both positions; the one that there is twice, or None twice for all."""
        first = self.against if self.system is None else self.system
        return first, first if self.against is None else self.against


class Rows:
    """Segments as the script of a page reads them, found by what a reader wants."""

    def __init__(self, segments: Iterable[Json], facts: Mapping[str, Any]) -> None:
        self._domains: Sequence[str] = facts["domains"]
        self._apart: float = facts["apart"]
        self._lock = Lock()
        self._answers: OrderedDict[Wanted, array[int]] = OrderedDict()
        self._connection = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        for setting in (f"cache_size = -{_MEMORY}", "journal_mode = OFF", "synchronous = OFF"):
            self._connection.execute(f"PRAGMA {setting}")
        self._connection.executescript(_TABLES)
        self._connection.execute("BEGIN")
        numbered = enumerate(segments)
        while batch := list(islice(numbered, _BATCH)):
            add = self._connection.executemany
            own = [(row, _bytes(s["lp"]), _bytes(s["id"]), _bytes(s.get("domain", ""))) for row, s in batch]
            add("INSERT INTO segment VALUES (?, ?, ?, ?)", own)
            content = [(row, to_script_json({**s, "row": row}).encode(), _words(s)) for row, s in batch]
            add("INSERT INTO content VALUES (?, ?, ?)", content)
            add("INSERT INTO text VALUES (?, ?, ?)", (each for row, s in batch for each in _texts(row, s)))
            add(
                "INSERT INTO said VALUES (?, ?, ?, ?, ?, ?)",
                (each for row, s in batch for each in _said(row, s)),
            )
            add(
                "INSERT INTO error VALUES (?, ?, ?, ?, ?, ?)",
                (each for row, s in batch for each in _errors(row, s)),
            )
        self._connection.execute("CREATE INDEX segment_id ON segment (id)")
        self._connection.execute("COMMIT")
        (self.total,) = self._connection.execute("SELECT count(*) FROM segment").fetchone()

    def close(self) -> None:
        self._connection.close()

    def find(self, wanted: Wanted, start: int, amount: int) -> tuple[int, list[bytes]]:
        """Find segments. How many match, and some of them as JSON. `amount`: how many to give at most."""
        with self._lock:
            rows = self._found(wanted)
            query = "SELECT content FROM content WHERE row = ?"
            shown = [
                self._connection.execute(query, (row,)).fetchone()[0] for row in rows[start : start + amount]
            ]
        return len(rows), shown

    def segment(self, row: int) -> Segment | None:
        """Language pair, id and source of a segment; None where there is none of that number."""
        with self._lock:
            query = "SELECT content FROM content WHERE row = ?"
            found = self._connection.execute(query, (row,)).fetchone()
        if found is None:
            return None
        content = json.loads(found[0])  # orjson refuses the half of a surrogate pair
        return Segment(segment=content["id"], lp=content["lp"], source=content["source"], translations={})

    def _found(self, wanted: Wanted) -> array[int]:
        if wanted in self._answers:
            self._answers.move_to_end(wanted)
            return self._answers[wanted]
        conditions = list(self._conditions(wanted))
        where = " AND ".join(["TRUE", *(condition for condition, _ in conditions)])
        values = [value for _, own in conditions for value in own]
        query = f"SELECT segment.row FROM segment WHERE {where} ORDER BY segment.row"  # noqa: S608 (ours alone)
        if wanted.order:
            source, order = _ORDERS[wanted.order]
            values[:0] = wanted.systems if wanted.order == "spread" else (*wanted.systems, wanted.by)
            join = f"segment LEFT JOIN ({source}) AS own ON own.row = segment.row"
            query = f"SELECT segment.row FROM {join} WHERE {where} ORDER BY {order}"  # noqa: S608 (ours alone)
        rows = array("q", (row for (row,) in self._connection.execute(query, values)))
        self._answers[wanted] = rows
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        return rows

    def _conditions(self, wanted: Wanted) -> Iterator[_Condition]:
        if wanted.segment:
            yield "id = ?", (_bytes(wanted.segment),)
        if wanted.lp:
            yield "lp = ?", (_bytes(wanted.lp),)
        if wanted.domain is not None:
            named = self._domains[wanted.domain : wanted.domain + 1]
            yield "domain = ?", (_bytes(named[0]) if named else None,)
        systems = wanted.systems
        if wanted.disagreement:
            yield _in("text", f"{_CHOSEN} AND spread >= ?"), (*systems, self._apart)
        for system in (one for one in systems if one is not None):
            yield _in("text", "system = ?"), (system,)
        about = f'({_CHOSEN} OR other IN (?, ?)) AND "by" = coalesce(?, "by")'
        own = (*systems, *systems, wanted.annotator)
        if wanted.annotator is not None:
            yield _in("said", about), own
        if wanted.failures:
            yield _in("said", f"failed AND {about}"), own
        if wanted.severity or wanted.category:
            what = (*map(_bytes, (wanted.severity, wanted.severity, *[wanted.category] * 3)),)
            marked = "(severity = ? OR ? = x'') AND (category = ? OR core = ? OR ? = x'')"
            both = f'{_CHOSEN} AND "by" = coalesce(?, "by")'
            yield _in("error", f"{marked} AND {both}"), (*what, *systems, wanted.annotator)
        if words := wanted.search.strip().lower():
            yield _in("content", "instr(words, ?) > 0"), (_bytes(words),)


def _in(table: str, condition: str) -> str:
    return f"segment.row IN (SELECT row FROM {table} WHERE {condition})"  # noqa: S608 (ours alone)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _texts(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    spread = segment.get("spread") or [0.0] * len(segment["texts"])
    for system, text in enumerate(segment["texts"]):
        if text is not None:
            yield row, system, spread[system]


def _said(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    for said in segment.get("said", ()):
        one, other = said.get("pair") or (said["of"], said["of"])
        yield row, said["by"], one, other, said.get("score"), "failed" in said


def _errors(row: int, segment: Json) -> Iterator[tuple[object, ...]]:
    for said in segment.get("said", ()):
        for error in said.get("errors", ()):
            category = error.get("category", "")
            core = category.split("/", 1)[0] if "/" in category else ""
            yield row, said["by"], said["of"], *map(_bytes, (error["severity"], category, core))


def _words(segment: Json) -> bytes:
    words = [segment["id"], segment.get("document"), segment["source"], *segment["texts"]]
    words += segment.get("references", {}).values()
    for said in segment.get("said", ()):
        words += [said.get("rationale"), said.get("detail"), said.get("criterion")]
        words += [error.get(name) for error in said.get("errors", ()) for name in ("note", "quote")]
    return _bytes("\n".join(filter(None, words)).lower())


_GLANCE: Final = 0.05  # seconds after which a figure that is awaited is looked for again


class Figures:
    """Figures of a page, by their place in it."""

    def __init__(self, figures: Sequence[Figure], drawer: Drawer | None) -> None:
        """Have them drawn. `drawer`: None where they are drawn here, each when it is asked for."""
        self._figures = figures
        self._waiting: Sequence[Future[bytes] | None] = (
            [None] * len(figures) if drawer is None else drawer.begin(figures)
        )
        self._lock = Lock()  # matplotlib draws for one at a time

    def __len__(self) -> int:
        return len(self._figures)

    async def svg(self, place: int) -> str:
        """A figure as an `svg` element, when it is drawn.

        Who waits holds no thread, and is no reason not to stop the server.
        """
        waiting = self._waiting[place]
        while waiting is not None and not waiting.done():  # noqa: ASYNC110 (of another thread)
            await asyncio.sleep(_GLANCE)
        return await run_in_threadpool(self._page_svg, place)

    def _page_svg(self, place: int) -> str:
        with self._lock:
            figure = self._figures[place]
            return str(page_svg(figure, f"figure-{place}", drawn(figure, self._waiting[place])))


Talk = Callable[[Segment, tuple[str, ...]], Sequence[Mapping[str, object]]]
"""What tells the conversation behind a judgement: of a segment (without its translations) and systems."""

_MOST: Final = 100
_MORE_POLICY: Final = "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
"""What only a header can say, besides a page's own policy."""
_GRACE: Final = 2  # seconds in which requests under way may end
_WORDS: Final = {404: "There is no such page.", 405: "This server only shows; it takes nothing."}


class _Asked(Wanted):
    start: int = Field(0, ge=0, le=_LARGEST)  # how many to leave out
    amount: int = Field(20, ge=1, le=_MOST)  # how many to send


def create_viewer(
    page: Page, *, talks: Mapping[int, Talk], commands: Sequence[str] = (), drawer: Drawer | None = None
) -> FastAPI:
    """Make the server of a page (ASGI). It keeps the page's HTML, and its segments in a database on disk.

    `drawer`: draws its figures while it is read already; None to draw each when it is asked for.
    """
    figures = Figures(page.figures, drawer)
    with uncollected():
        rows, systems = Rows(page.iter_segments(), page.facts), page.systems
    annotators = [{**each, "talks": by in talks} for by, each in enumerate(page.facts["annotators"])]
    served = {**page.facts, "annotators": annotators, "total": rows.total}
    html = render_page(page, commands, served=served).encode()
    headers = {"Content-Security-Policy": f"{served_policy()}; {_MORE_POLICY}"}
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


def create_follower(look: Callable[[], object], make: Callable[[], FastAPI], *, is_ready: bool) -> ASGIApp:
    """Make the server of what places hold now: whoever asks for the page gets what was made of the latest."""
    seen, report = (look(), make()) if is_ready else (None, None)
    one_at_a_time = asyncio.Lock()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal seen, report
        response: ASGIApp | None = None
        async with one_at_a_time:
            if scope["path"] == "/":
                # Looked at before it is read: what is written meanwhile is read at the next request.
                now = await run_in_threadpool(look)
                if report is None or now != seen:
                    try:
                        seen, report = now, await run_in_threadpool(make)
                    except AdjudgeError as error:
                        response = PlainTextResponse(str(error), 503)
            response = response or report or PlainTextResponse(_WORDS[404], 404)
        await response(scope, receive, send)

    return Guard(answer, site=Site())


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _add_messages(app: FastAPI) -> None:
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


def serve_viewer(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM."""
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
