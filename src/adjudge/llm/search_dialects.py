"""How search engines behind a wire are spoken to; connection, limits and faults are those of models.

http        POST {"query", "recency", "count"}, answered by {"results": [{"title", "text", "place", "date"}]};
            recency (days) and all of a result but its text may be missing
searxng     GET /search with format=json; the server's settings must allow that format
wikipedia   GET the MediaWiki API: pages by full text, each with its introduction; age is not known
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, Protocol
from urllib.parse import urlsplit

from adjudge.core.ask import Reply, Usage
from adjudge.core.search import Query, Snippet
from adjudge.llm.body import fail_envelope, read_words
from adjudge.llm.credentials import Redactor
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.model import Request
from adjudge.llm.search_results import read_query, search_reply

__all__ = ["SearchDialect"]

_COUNT: Final = 8
_RANGES: Final = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))


class _Engine(Protocol):
    """What differs between engines."""

    method: Literal["GET", "POST"]
    path: str

    def ask(self, query: Query) -> dict[str, Any]:
        """The body, or the parameters of a GET."""
        ...

    def read(self, value: Mapping[str, object], redactor: Redactor) -> Iterator[Snippet]:
        """Read the results, strictly."""
        ...


class _Http:
    """An endpoint of anybody's own."""

    method: Literal["GET", "POST"] = "POST"
    path = ""

    def ask(self, query: Query) -> dict[str, Any]:
        recency = {} if query.recency is None else {"recency": query.recency}
        return {"query": query.text, **recency, "count": _COUNT}

    def read(self, value: Mapping[str, object], redactor: Redactor) -> Iterator[Snippet]:
        for row in _rows(value.get("results"), "results"):
            yield _snippet(row, redactor, title="title", text="text", place="place", date="date")


class _Searxng:
    """SearXNG, see its documentation of the search API."""

    method: Literal["GET", "POST"] = "GET"
    path = "/search"

    def ask(self, query: Query) -> dict[str, Any]:
        asked = {"q": query.text, "format": "json"}
        if query.recency is None or query.recency > _RANGES[-1][0]:
            return asked
        return asked | {"time_range": next(name for days, name in _RANGES if query.recency <= days)}

    def read(self, value: Mapping[str, object], redactor: Redactor) -> Iterator[Snippet]:
        for row in _rows(value.get("results"), "results"):
            yield _snippet(row, redactor, title="title", text="content", place="url", date="publishedDate")


class _Wikipedia:
    """A MediaWiki with the extension TextExtracts, as every Wikipedia has it."""

    method: Literal["GET", "POST"] = "GET"
    path = ""

    def ask(self, query: Query) -> dict[str, Any]:
        return {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": query.text,
            "gsrlimit": str(_COUNT),
            "prop": "extracts",
            "exintro": "1",
            "explaintext": "1",
        }

    def read(self, value: Mapping[str, object], redactor: Redactor) -> Iterator[Snippet]:
        found = value.get("query", {"pages": []})  # left out where nothing was found
        if not isinstance(found, dict):
            fail_envelope("a query", found)
        pages = _rows(found.get("pages"), "pages")
        for row in sorted(pages, key=lambda page: _index(page.get("index"))):
            yield _snippet(row, redactor, title="title", text="extract", place="title", date="")


_ENGINES: Final[Mapping[str, _Engine]] = {"http": _Http(), "searxng": _Searxng(), "wikipedia": _Wikipedia()}


class SearchDialect:
    """One search engine; satisfies `llm.dialect.Dialect`."""

    words: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._engine = _ENGINES[endpoint.model.partition(":")[0]]
        self.method = self._engine.method
        parts = urlsplit(endpoint.url)
        path = parts.path.rstrip("/").removesuffix(self._engine.path) + self._engine.path
        self.address = parts._replace(path=path or "/").geturl()

    def headers(self) -> dict[str, str]:
        """The key, where there is one, as a bearer token."""
        return {"Authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}

    def payload(self, request: Request) -> dict[str, Any]:
        """The query as the engine wants it."""
        return self._engine.ask(read_query(request.messages[0]))

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read the results; see `llm.dialect.Dialect`."""
        del request
        if not isinstance(value, dict):
            fail_envelope("an object", value)
        return search_reply(self._endpoint.model, self._engine.read(value, redactor))

    def usage(self, value: object) -> Usage:
        """No tokens."""
        del value
        return Usage()


def _rows(value: object, what: str) -> list[dict[str, object]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        fail_envelope(f"a list of {what}", value)
    return value


def _snippet(
    row: Mapping[str, object], redactor: Redactor, *, title: str, text: str, place: str, date: str
) -> Snippet:
    return Snippet(
        title=_text(row, title, redactor),
        text=_text(row, text, redactor),
        place=_text(row, place, redactor),
        date=_text(row, date, redactor),
    )


def _text(row: Mapping[str, object], name: str, redactor: Redactor) -> str:
    """Text of a field; empty where it is missing."""
    value = row.get(name) or ""
    if not isinstance(value, str):
        fail_envelope(f"{name} as text", value)
    return read_words(value, redactor)


def _index(value: object) -> int:
    """Rank of a page; those without one come last."""
    return value if isinstance(value, int) else 1_000_000
