"""What requests send and get: strict JSON bodies, routes, pages from templates, errors as messages.

`StrictRoute` and `AtOnce` read bodies as strict JSON; one turn of a thread answers a route of `AtOnce`. In a
page of `render` texts are never markup, and a name that is missing is an error. Errors are JSON for scripts
and a page for people.
"""

from __future__ import annotations

import gzip
import json
import logging
import math
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import cache
from importlib.abc import Traversable
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Final, TypeVar, get_type_hints

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from fastapi.responses import Response as ResponsesResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from adjudge.campaigns.database import Person
from adjudge.errors import AccessError, AdjudgeError, NotYoursError, StoreError
from adjudge.web.catalogues import IN_ENGLISH, Words, choose
from adjudge.web.security import Id, Served, TooOftenError, annotator_of


class Body(BaseModel):
    """A body: no field that is not asked for, no number that is written as text, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_Wanted = TypeVar("_Wanted", bound=Body)


def read_body(wanted: type[_Wanted], content: bytes) -> _Wanted:
    """Read a body as FastAPI would."""
    try:
        return wanted.model_validate(read_json(content))
    except json.JSONDecodeError as error:
        raise RequestValidationError([{"loc": ("body", error.pos), "msg": "JSON decode error"}]) from error
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from None


class StrictRoute(APIRoute):
    """A route whose body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def answer_strictly(request: Request) -> Response:
            return await answer(_StrictRequest(request.scope, request.receive))

        return answer_strictly


class _StrictRequest(Request):
    async def json(self) -> Any:  # noqa: ANN401 (JSON is anything)
        return read_json(await self.body())


def read_json(body: bytes) -> object:
    """Read strict JSON in UTF-8: no NaN, no half of a surrogate pair, no NUL, no endless nesting, no mark."""
    content = orjson.loads(body)
    if rb"\u0000" in body and _has_nul(content):
        raise json.JSONDecodeError("a text has a NUL character", "", 0)
    return content


def _has_nul(content: object) -> bool:
    if isinstance(content, str):
        return "\0" in content
    if isinstance(content, dict):
        return any(_has_nul(key) or _has_nul(value) for key, value in content.items())
    return isinstance(content, list) and any(map(_has_nul, content))


_ID: Final = TypeAdapter[int](Id)
_SHORT: Final = 1_000  # bytes; one packet holds them anyway


class AtOnce(APIRoute):
    """A route of annotators.

    Its endpoint takes `served` and `person`, and by their names the keys in its path; `body` and `request`,
    if it wants them. It gives a response, or a model that becomes one.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Answer in place of FastAPI."""
        hints = get_type_hints(self.endpoint)
        wanted = hints.get("body")

        def answer(request: Request, content: bytes) -> Response:
            served: Served = request.app.state.served
            given: dict[str, Any] = {"served": served, "person": annotator_of(request, served)}
            given |= {name: _read_key(name, text) for name, text in request.path_params.items()}
            if "request" in hints:
                given["request"] = request
            if wanted is not None:
                given["body"] = read_body(wanted, content)
            found = self.endpoint(**given)
            if not isinstance(found, Response):
                found = Response(found.model_dump_json(), media_type="application/json")
            if len(found.body) > _SHORT and takes_gzip(request):
                found.body = gzip.compress(found.body, 5)
                found.headers.update({"Content-Encoding": "gzip", "Content-Length": str(len(found.body))})
            return found

        async def answer_at_once(request: Request) -> Response:
            return await run_in_threadpool(answer, request, await request.body())

        return answer_at_once


def takes_gzip(request: Request) -> bool:
    """Whether a browser accepts gzip: it names the coding, and not with a weight of zero."""
    accepted = request.headers.get("accept-encoding", "")
    return re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", accepted, re.IGNORECASE) is not None


def _read_key(name: str, text: str) -> int:
    try:
        return _ID.validate_python(text)
    except ValidationError as error:
        raise RequestValidationError([{"loc": ("path", name), "msg": "no key"}]) from error


def address(path: str) -> str:
    """Return the address of a page or route. Pages, redirects and answers name none without asking here."""
    return path


@cache
def own_files() -> Mapping[str, bytes]:
    """All of our own files by their path. A release has a bundle of them, too, which hatch_build.py makes."""
    return dict(_walk(files("adjudge.web") / "static", ""))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()


@cache
def static(name: str) -> str:
    """Return the address of one of our own files: in the bundle, where the package has one."""
    bundled = (path for path in own_files() if PurePosixPath(path).match(f"bundle/*/{name}.gz"))
    return f"/static/{next(bundled, name).removesuffix('.gz')}"


def words_for(request: Request, person: Person | None = None) -> Words:
    """The language of a page: the one that its person chose, else the one that the browser likes best."""
    known: Mapping[str, Words] = request.app.state.served.words
    chosen = known.get((person and person.language) or "")
    return chosen or known[choose(known, request.headers.get("accept-language", ""))]


def render(
    template: str, context: Mapping[str, object], words: Words = IN_ENGLISH, *, status: int = 200
) -> HTMLResponse:
    said = {"words": words, "_": words.say, "protocol_words": words.say_protocol}
    return HTMLResponse(_templates().get_template(template).render({**context, **said}), status)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("adjudge.web"),
        autoescape=True,
        auto_reload=False,  # no look at every file for every page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"address": address, "static": static}
    return templates


_LOG: Final = logging.getLogger("adjudge.web")


class Message(BaseModel):
    """Why something was not done, and what to do, for a person."""

    message: str


MESSAGES: Final[dict[int | str, dict[str, Any]]] = {
    code: {"model": Message, "description": description}
    for code, description in {
        400: "The request is not one of ours.",
        401: "Nobody is signed in, or a secret is wrong.",
        403: "Another site asked, or the person may not.",
        404: "There is no such thing, or it is not this person's.",
        408: "The body took too long.",
        409: "Something else happened meanwhile.",
        413: "The body is too large.",
        415: "The body is not JSON.",
        422: "The body is not what is wanted; the message says where.",
        429: "Too often; Retry-After says when again.",
        503: "The store cannot be written just now; nothing was changed.",
    }.items()
}
"""Responses that any route may give."""

_WORDS: Final = {404: "There is no such page.", 405: "That cannot be done here."}


def add_messages(app: FastAPI) -> None:
    app.add_exception_handler(AdjudgeError, _say_ours)
    app.add_exception_handler(HTTPException, _say_http)
    app.add_exception_handler(RequestValidationError, _say_invalid)


def _say(request: Request, status: int, message: str, **headers: str) -> ResponsesResponse:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"message": message}, status, headers)
    if status == 401:
        return RedirectResponse(address("/"), 303)
    page = render("message.html", {"message": message}, words_for(request), status=status)
    page.headers.update(headers)
    return page


async def _say_ours(request: Request, error: Exception) -> ResponsesResponse:
    if isinstance(error, TooOftenError):
        return _say(request, 429, str(error), **{"Retry-After": str(math.ceil(error.seconds))})
    if isinstance(error, StoreError):
        _LOG.error("%s", error)
        message = "The store cannot be reached just now. Nothing was changed; try again."
        return _say(request, 503, message, **{"Retry-After": "5"})
    if isinstance(error, NotYoursError):
        return _say(request, 403, str(error))
    return _say(request, 401 if isinstance(error, AccessError) else 422, str(error))


async def _say_http(request: Request, error: Exception) -> ResponsesResponse:
    status, detail, headers = 500, "", {}
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, str(error.detail), dict(error.headers or {})
    return _say(request, status, _WORDS.get(status, detail), **headers)


async def _say_invalid(request: Request, error: Exception) -> ResponsesResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": (), "msg": ""}
    kind, *place = first["loc"]
    if kind == "path":
        return _say(request, 404, _WORDS[404])
    where = ".".join(str(part)[:40] for part in place)
    return _say(request, 422, f"{where}: {first['msg']}" if where else str(first["msg"]))
