"""Which search engine a judge looks things up with: by its name, as a model is named.

none                         no engine
files:DIR                    a folder of notes, without a network
http:URL, or the URL         an endpoint of anybody's own
searxng:URL                  a SearXNG server
wikipedia, wikipedia:LANG    Wikipedia in English or another language; wikipedia:URL for any MediaWiki
recorded:RUN[#ENGINE]        what a run or a call store has kept: another machine repeats it without a network
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol
from urllib.parse import urlsplit

from adjudge.core.ask import NO_ENGINE, Query, Reply, Snippet, Usage
from adjudge.errors import AnswerError, ServerAwayError, UsageError
from adjudge.llm.credentials import Redactor, check_address, read_key
from adjudge.llm.dialect import fail_envelope, read_words
from adjudge.llm.faults import Patience
from adjudge.llm.model import Identity, Model, Request
from adjudge.llm.model_choice import OpenModel
from adjudge.llm.providers import Endpoint, Provider
from adjudge.llm.remote import ENDPOINT, RemoteModel, open_recorded, read_query, search_reply

__all__ = ["SearchDialect", "open_search"]


# The search engine `files`: a local folder of notes, or a single file, searched without a network.


_SUFFIXES: Final = (".md", ".txt")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
_HEADING: Final = re.compile(r"#+ +(?P<title>.+)")
_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_K1: Final = 1.2
_B: Final = 0.75


class FilesModel:
    """A folder of notes; satisfies `llm.model.Model`."""

    def __init__(self, folder: Path) -> None:
        """Read the notes.

        Raises:
            UsageError: there is no such folder, no note in it, or one that is no UTF-8 text.
        """
        if not folder.exists():
            raise UsageError(f"--search files:{folder}: no such folder")
        root, found = (folder.parent, [folder]) if folder.is_file() else (folder, sorted(folder.rglob("*")))
        paths = [p for p in found if p.suffix in _SUFFIXES and p.is_file()]
        if not paths:
            raise UsageError(f"--search files:{folder} holds no notes; notes are files in .md or .txt")
        try:
            texts = {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in paths}
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"--search files:{folder}: notes must be readable UTF-8 files: {error}"
            ) from None
        self.engine = f"files:{_digest(texts)}"
        self._notes = [note for name, text in texts.items() for note in _notes(name, text)]

    @property
    def name(self) -> str:
        """With a digest of the notes: others are another engine."""
        return f"{ENDPOINT}/{self.engine}"

    async def reply(self, request: Request) -> Reply:
        """The notes that fit best; their age is not known, so that recency changes nothing."""
        wanted = set(_words(read_query(request.messages[0]).text))
        ranked = sorted(self._scored(wanted), key=lambda found: (-found[0], found[1]))
        return search_reply(self.engine, (self._notes[place] for _, place in ranked))

    def _scored(self, wanted: set[str]) -> Iterator[tuple[float, int]]:
        """Score and place of every note that has any of the words."""
        usual = sum(counts.total() for counts in self._counts) / max(len(self._counts), 1)
        for place, counts in enumerate(self._counts):
            length = 1 - _B + _B * counts.total() / usual
            if found := wanted & counts.keys():
                yield sum(self._rarity(w) * _weight(counts[w], length) for w in sorted(found)), place

    def _rarity(self, word: str) -> float:
        notes = self._spread[word]
        return math.log(1 + (len(self._notes) - notes + 0.5) / (notes + 0.5))

    @cached_property
    def _counts(self) -> Sequence[Counter[str]]:
        return [Counter(_words(f"{note.title} {note.text}")) for note in self._notes]

    @cached_property
    def _spread(self) -> Counter[str]:
        """In how many notes each word stands."""
        return Counter(word for counts in self._counts for word in counts)


def _weight(count: int, length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * length)


def _digest(texts: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, text in texts.items():
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()[:6]


def _notes(name: str, text: str) -> Iterator[Snippet]:
    title = name
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n")):
        said = paragraph.strip()
        first, _, rest = said.partition("\n")
        if heading := _HEADING.fullmatch(first):
            title, said = heading["title"].strip(), rest.strip()
        if said:
            yield Snippet(title=title, text=said, place=name)


def _words(text: str) -> Iterator[str]:
    """Words to compare by; a run of a script without spaces gives its pairs of characters."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        for run in _UNSPACED.findall(word):
            yield from (run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        yield from filter(None, _UNSPACED.split(word))


_FORMS: Final = "none, files:DIR, http:URL, searxng:URL, wikipedia[:LANG] or recorded:RUN"
_PATIENCE: Final = Patience(attempts=4, longest_wait=60.0, first_wait=5.0, seconds=180.0)
_CONCURRENCY: Final = 4
_LANGUAGE: Final = re.compile(r"[a-z][a-z-]{1,11}")
_PROVIDER: Final = Provider(name=ENDPOINT, title="search engine", dialect="search", needs_key=False)


class _Patient:
    """A search engine behind the wire: one that is away has not stopped the run, it has not answered."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self.name = remote.name

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`."""
        try:
            return await self._remote.reply(request)
        except ServerAwayError as error:
            raise AnswerError("connection", str(error)) from error


def open_search(
    name: str, *, key_env: str | None = None, timeout: float = 30.0, needs_key: bool = True
) -> OpenModel | None:
    """Open a search engine; None for `none`.

    Args:
        name: see above.
        key_env: environment variable with its key, for engines behind a wire.
        timeout: seconds for one attempt.
        needs_key: whether the key must be there; not where nothing is sent.

    Raises:
        UsageError: no engine has this name, or its address, folder or run is none.
        ModelError: the key is missing.
    """
    kind, _, place = name.partition(":")
    if kind in {"http", "https"}:
        return _remote(
            "http", name if place.startswith("//") else place, key_env, timeout, needs_key=needs_key
        )
    if key_env is not None and kind not in {"searxng", "wikipedia"}:
        raise UsageError(f"--search-key-env: {name} needs no key")
    if name == NO_ENGINE:
        return None
    if kind == "files" and place:
        model = FilesModel(Path(place))
        return _opened(model.engine, model)
    if kind == "recorded" and place:
        return _recorded(place)
    if kind == "searxng" and place:
        return _remote(kind, place, key_env, timeout, needs_key=needs_key)
    if kind == "wikipedia":
        return _remote(kind, _mediawiki(place), key_env, timeout, needs_key=needs_key)
    raise UsageError(f"no search engine {name!r}; say {_FORMS}")


def _mediawiki(place: str) -> str:
    """Address of the API: of a Wikipedia by its language, or as it is given."""
    if "://" in place:
        return place
    if not _LANGUAGE.fullmatch(place or "en"):
        raise UsageError(f"--search wikipedia:LANG takes the code of a language, such as de; got {place!r}")
    return f"https://{place or 'en'}.wikipedia.org/w/api.php"


def _remote(kind: str, address: str, key_env: str | None, timeout: float, *, needs_key: bool) -> OpenModel:
    url = check_address(address, "", option="--search")
    parts = urlsplit(url)
    engine = f"{kind}:{parts.netloc}{parts.path}"
    remote = RemoteModel(
        Endpoint(
            provider=_PROVIDER,
            url=url,
            model=engine,
            key=read_key(key_env, None) if needs_key and key_env is not None else "",
            timeout=timeout,
            concurrency=_CONCURRENCY,
            patience=_PATIENCE,
        )
    )
    return _opened(engine, _Patient(remote), remote)


def _recorded(place: str) -> OpenModel:
    path, _, wanted = place.partition("#")
    if not Path(path).exists():
        raise UsageError(f"--search recorded:{path}: no run and no call store there")
    name = f"{ENDPOINT}/{wanted}" if wanted else ""
    identity, model = open_recorded(Path(path), name, kind="search engine")
    return _opened(identity.model, model)


def _opened(engine: str, model: Model, remote: RemoteModel | None = None) -> OpenModel:
    identity = Identity(endpoint=ENDPOINT, model=engine)
    return OpenModel(identity=identity, model=model, served="any", remote=remote, takes_tools=False)


# How search engines behind a wire are spoken to; connection, limits and faults are those of models.


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
