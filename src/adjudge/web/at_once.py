"""A route that one turn of a thread answers: who asks, what they send, and what becomes of it.

FastAPI takes a turn for each of the three, and makes every answer twice: a save would wait for that longer
than for the store. The endpoint's signature still is what the API's description is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from adjudge.web.access import annotator_of, served_by
from adjudge.web.strict import read_body

__all__ = ["AtOnce"]


class AtOnce(APIRoute):
    """A route whose endpoint takes `body`, `served` and `person`, an annotator, and gives the response."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Answer in place of FastAPI."""
        wanted = get_type_hints(self.endpoint)["body"]

        def answer(request: Request, content: bytes) -> Response:
            served = served_by(request)
            person = annotator_of(request, served)
            response: Response = self.endpoint(body=read_body(wanted, content), served=served, person=person)
            return response

        async def answer_at_once(request: Request) -> Response:
            return await run_in_threadpool(answer, request, await request.body())

        return answer_at_once
