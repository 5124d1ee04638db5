"""Routes that one turn of a thread answers: who asks, what they send, and what becomes of it.

FastAPI takes a turn for each of the three, and makes every answer twice: a save would wait for that longer
than for the store. The endpoint's signature still is what the API's description is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final, get_type_hints

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from adjudge.web.access import Id, annotator_of, served_by
from adjudge.web.strict import read_body

__all__ = ["AtOnce"]

_ID: Final = TypeAdapter[int](Id)


class AtOnce(APIRoute):
    """A route of annotators.

    Its endpoint takes `served` and `person`, and by their names the keys in its path; `body`, if it wants
    one. It gives a response, or a model that becomes one.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Answer in place of FastAPI."""
        wanted = get_type_hints(self.endpoint).get("body")

        def answer(request: Request, content: bytes) -> Response:
            served = served_by(request)
            given: dict[str, Any] = {"served": served, "person": annotator_of(request, served)}
            given |= {name: _read_key(name, text) for name, text in request.path_params.items()}
            if wanted is not None:
                given["body"] = read_body(wanted, content)
            return _respond(self.endpoint(**given))

        async def answer_at_once(request: Request) -> Response:
            return await run_in_threadpool(answer, request, await request.body())

        return answer_at_once


def _read_key(name: str, text: str) -> int:
    try:
        return _ID.validate_python(text)
    except ValidationError as error:
        raise RequestValidationError([{"loc": ("path", name), "msg": "no key"}]) from error


def _respond(found: Response | BaseModel) -> Response:
    if isinstance(found, Response):
        return found
    return Response(found.model_dump_json(), media_type="application/json")
