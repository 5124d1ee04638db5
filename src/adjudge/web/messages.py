"""Errors as messages: JSON for scripts, a page for people."""

from __future__ import annotations

import logging
import math
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from adjudge.errors import AccessError, AdjudgeError, NotYoursError, StoreError
from adjudge.web.limits import TooOftenError
from adjudge.web.rendering import render

__all__ = ["MESSAGES", "Message", "add_messages"]

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
    """Have an app answer errors with messages."""
    app.add_exception_handler(AdjudgeError, _say_ours)
    app.add_exception_handler(HTTPException, _say_http)
    app.add_exception_handler(RequestValidationError, _say_invalid)


def _say(request: Request, status: int, message: str, **headers: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"message": message}, status, headers)
    if status == 401:
        return RedirectResponse("/", 303)
    page = render("message.html", {"message": message}, status=status)
    page.headers.update(headers)
    return page


async def _say_ours(request: Request, error: Exception) -> Response:
    if isinstance(error, TooOftenError):
        return _say(request, 429, str(error), **{"Retry-After": str(math.ceil(error.seconds))})
    if isinstance(error, StoreError):
        _LOG.error("%s", error)
        message = "The store cannot be reached just now. Nothing was changed; try again."
        return _say(request, 503, message, **{"Retry-After": "5"})
    return _say(request, _status_of(error), str(error))


def _status_of(error: Exception) -> int:
    if isinstance(error, NotYoursError):
        return 403
    return 401 if isinstance(error, AccessError) else 422


async def _say_http(request: Request, error: Exception) -> Response:
    status, detail, headers = 500, "", {}
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, str(error.detail), dict(error.headers or {})
    return _say(request, status, _WORDS.get(status, detail), **headers)


async def _say_invalid(request: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": (), "msg": ""}
    kind, *place = first["loc"]
    if kind == "path":
        return _say(request, 404, _WORDS[404])
    where = ".".join(str(part)[:40] for part in place)
    return _say(request, 422, f"{where}: {first['msg']}" if where else str(first["msg"]))
