"""Bodies of requests: strict JSON, read once, and no surprise in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import orjson
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError

__all__ = ["Body", "StrictRoute", "read_body", "read_json"]


class Body(BaseModel):
    """A body: no field that is not asked for, no number that is written as text, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_Wanted = TypeVar("_Wanted", bound=Body)


def read_body(wanted: type[_Wanted], content: bytes) -> _Wanted:
    """Read a body as FastAPI would.

    Raises:
        RequestValidationError: it is not what is wanted; says where.
    """
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
        """Read the body before the route does."""
        answer = super().get_route_handler()

        async def answer_strictly(request: Request) -> Response:
            return await answer(_StrictRequest(request.scope, request.receive))

        return answer_strictly


class _StrictRequest(Request):
    async def json(self) -> Any:  # noqa: ANN401 (JSON is anything)
        return read_json(await self.body())


def read_json(body: bytes) -> object:
    """Read strict JSON in UTF-8: no NaN, no half of a surrogate pair, no NUL, no endless nesting, no mark.

    Raises:
        JSONDecodeError: it is not; PostgreSQL, for one, keeps no text with NUL.
    """
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
