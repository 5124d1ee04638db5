"""Which search engine a judge looks things up with: by its name, as a model is named.

none                         no engine
files:DIR                    a folder of notes, without a network
http:URL, or the URL         an endpoint of anybody's own
searxng:URL                  a SearXNG server
wikipedia, wikipedia:LANG    Wikipedia in English or another language; wikipedia:URL for any MediaWiki
tavily, serper, brave        hosted engines, with a key; NAME:URL for another address
bing:URL                     an engine that answers as Bing's API version 7 did
recorded:RUN[#ENGINE]        what a run or a call store has kept: another machine repeats it without a network

`FilesModel` searches a folder. `SearchDialect` speaks to engines behind a wire, whose connection, limits and
faults are those of models.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from adjudge.core.ask import NO_ENGINE, Query, Reply, Snippet, Usage
from adjudge.core.frozen import frozen
from adjudge.errors import AnswerError, ModelError, ServerAwayError, ServerStopError, UsageError
from adjudge.llm.credentials import Redactor, check_address, read_key
from adjudge.llm.dialect import Dialect, fail_envelope, object_of, read_words
from adjudge.llm.faults import Patience
from adjudge.llm.model import Identity, Model, Request
from adjudge.llm.model_choice import OpenModel
from adjudge.llm.providers import Endpoint, Provider
from adjudge.llm.remote import ENDPOINT, RemoteModel, open_recorded, read_query, search_reply
from adjudge.llm.wire import Wire

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
        digest = hashlib.sha256("".join(f"{name}\0{text}\0" for name, text in texts.items()).encode())
        self.engine = f"files:{digest.hexdigest()[:6]}"
        """With a digest of the notes: others are another engine."""
        self.name = f"{ENDPOINT}/{self.engine}"
        self._notes = [note for name, text in texts.items() for note in _notes(name, text)]

    async def reply(self, request: Request) -> Reply:
        """The notes that fit best; their age is not known, so that recency changes nothing."""
        wanted = set(_words(read_query(request.messages[0]).text))
        usual = sum(counts.total() for counts in self._counts) / max(len(self._counts), 1)
        ranked = []
        for place, counts in enumerate(self._counts):
            length = 1 - _B + _B * counts.total() / usual
            if found := wanted & counts.keys():
                score = sum(self._rarity(w) * _weight(counts[w], length) for w in sorted(found))
                ranked.append((-score, place))
        return search_reply(self.engine, (self._notes[place] for _, place in sorted(ranked)))

    def _rarity(self, word: str) -> float:
        notes = self._spread[word]
        return math.log(1 + (len(self._notes) - notes + 0.5) / (notes + 0.5))

    @cached_property
    def _counts(self) -> Sequence[Counter[str]]:
        return [Counter(_words(f"{note.title} {note.text}")) for note in self._notes]

    @cached_property
    def _spread(self) -> Counter[str]:
        return Counter(word for counts in self._counts for word in counts)


def _weight(count: int, length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * length)


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
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        for run in _UNSPACED.findall(word):
            yield from (run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        yield from filter(None, _UNSPACED.split(word))


_FORMS: Final = (
    "none, files:DIR, http:URL, searxng:URL, wikipedia[:LANG], tavily, serper, brave, bing:URL "
    "or recorded:RUN"
)
_SEARXNG: Final = "SearXNG answers so where its settings.yml does not list json under search.formats"
_PATIENCE: Final = Patience(attempts=4, longest_wait=60.0, first_wait=5.0, seconds=180.0)
_CONCURRENCY: Final = 4
_LANGUAGE: Final = re.compile(r"[a-z][a-z-]{1,11}")
_PROVIDER: Final = Provider(name=ENDPOINT, title="search engine", needs_key=False)


class _Patient:
    """A search engine behind the wire: one that is away has not stopped the run, it has not answered."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self.name = remote.name

    async def reply(self, request: Request) -> Reply:
        try:
            return await self._remote.reply(request)
        except ServerAwayError as error:
            raise AnswerError("connection", str(error)) from error
        except ServerStopError as error:
            if "searxng:" in self.name and "status 403" in str(error):
                raise ServerStopError(f"{error}; {_SEARXNG}") from error
            raise


def open_search(
    name: str, *, key_env: str | None = None, timeout: float = 30.0, needs_key: bool = True
) -> OpenModel | None:
    """Open a search engine; None for `none`. `timeout`: seconds for one attempt."""
    kind, _, place = name.partition(":")
    if kind in {"http", "https"}:
        kind, address = "http", name if place.startswith("//") else place
    elif kind == "wikipedia":
        address = _mediawiki(place)
    else:
        address = place or (_ENGINES[kind].address if kind in _ENGINES else "")
    if kind in _ENGINES and address:
        return _remote(kind, address, key_env, timeout, needs_key=needs_key)
    if key_env is not None and kind not in _ENGINES:
        raise UsageError(f"--search-key-env: {name} needs no key")
    if name == NO_ENGINE:
        return None
    if kind == "files" and place:
        model = FilesModel(Path(place))
        return _opened(model.engine, model)
    if kind == "recorded" and place:
        identity, recorded = open_recorded(place, kind="search engine")
        return _opened(identity.model, recorded)
    raise UsageError(f"no search engine {name!r}; say {_FORMS}")


def _mediawiki(place: str) -> str:
    if "://" in place:
        return place
    if not _LANGUAGE.fullmatch(place or "en"):
        raise UsageError(f"--search wikipedia:LANG takes the code of a language, such as de; got {place!r}")
    return f"https://{place or 'en'}.wikipedia.org/w/api.php"


def _remote(kind: str, address: str, key_env: str | None, timeout: float, *, needs_key: bool) -> OpenModel:
    url = check_address(address, "", option="--search")
    parts = urlsplit(url)
    engine = f"{kind}:{parts.netloc}{parts.path}"
    endpoint = Endpoint(
        provider=_PROVIDER,
        url=url,
        model=engine,
        key=_key(kind, key_env) if needs_key else "",
        timeout=timeout,
        concurrency=_CONCURRENCY,
        patience=_PATIENCE,
    )
    remote = RemoteModel(endpoint, Wire(endpoint, SearchDialect(endpoint)))
    return _opened(engine, _Patient(remote), remote)


def _key(kind: str, key_env: str | None) -> str:
    default = _ENGINES[kind].key_env
    if key_env is None and not default:
        return ""
    try:
        return read_key(key_env, None, default=default, needed=True)
    except ModelError as error:
        said = str(error).replace("--key-env", "--search-key-env")
        raise ModelError(f"--search {kind}: {said}") from error


def _opened(engine: str, model: Model, remote: RemoteModel | None = None) -> OpenModel:
    identity = Identity(endpoint=ENDPOINT, model=engine)
    return OpenModel(identity=identity, model=model, served="any", remote=remote, takes_tools=False)


_COUNT: Final = 8
_RANGES: Final = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))


@frozen
class _Engine:
    """How one engine is asked, and where its results stand."""

    ask: Callable[[Query], dict[str, Any]]  # the body, or the parameters of a GET, for a query
    # keys that lead to the list of results; of several ways the first whose first key is there
    rows: tuple[tuple[str, ...], ...] = (("results",),)
    # what a body without any of them holds where nothing was found. title, text, place, date: keys of a
    # result; of several the first that is there.
    nothing: Mapping[str, object] | None = None
    title: tuple[str, ...] = ("title",)
    text: tuple[str, ...]
    place: tuple[str, ...] = ("url",)
    date: tuple[str, ...] = ()
    rank: str = ""  # key by which results are ordered
    # whether a result without text is an error, and not left out. method, path: of the request.
    each_has_text: bool = False
    method: Literal["GET", "POST"] = "GET"
    path: str = ""
    address: str = ""
    key_env: str = ""  # environment variable of its key, which it needs
    header: str = "Authorization"  # that holds the key

    def read(self, value: Mapping[str, object], redactor: Redactor) -> list[Snippet]:
        rows = self._rows(value)
        found = [self._snippet(row, redactor) for row in rows]
        kept = [snippet for snippet in found if snippet.text]
        if len(kept) < len(found) and (self.each_has_text or not kept):
            fail_envelope(f"results with their text as {' or '.join(self.text)}", rows[0])
        return kept

    def _rows(self, value: Mapping[str, object]) -> list[Any]:
        way = next((way for way in self.rows if way[0] in value), None)
        if way is None:
            if self.nothing is not None and self.nothing.items() <= value.items():
                return []
            fail_envelope(f"results under {' or '.join(way[0] for way in self.rows)}", dict(value))
        found: object = value
        for key in way:
            found = found.get(key) if isinstance(found, dict) else None
        if not isinstance(found, list) or not all(isinstance(row, dict | str) for row in found):
            fail_envelope(f"a list under {'.'.join(way)}", found)
        return sorted(found, key=lambda row: _index(row.get(self.rank))) if self.rank else found

    def _snippet(self, row: Mapping[str, object] | str, redactor: Redactor) -> Snippet:
        if isinstance(row, str):
            return Snippet(title="", text=read_words(row, redactor))
        fields = {"title": self.title, "text": self.text, "place": self.place, "date": self.date}
        return Snippet(**{name: _text(row, keys, redactor) for name, keys in fields.items()})


def _asked(query: Query, names: Mapping[str, str], field: str, /, **asked: object) -> dict[str, Any]:
    if query.recency is None:
        return asked
    within = next((names.get(name) for days, name in _RANGES if query.recency <= days), None)
    return asked if within is None else {**asked, field: within}


_NAMED: Final = {name: name for _, name in _RANGES}
_ENGINES: Final[Mapping[str, _Engine]] = {
    "http": _Engine(  # an endpoint of anybody's own: also the form that RATE's authors use, and common ones
        ask=lambda query: {
            "query": query.text,
            **({} if query.recency is None else {"recency": query.recency}),
            "count": _COUNT,
        },
        rows=(("results",), ("snippets",), ("organic",)),
        title=("title", "name"),
        text=("text", "content", "snippet", "description"),
        place=("place", "url", "link"),
        date=("date",),
        each_has_text=True,
        method="POST",
    ),
    "searxng": _Engine(
        ask=lambda query: _asked(query, _NAMED, "time_range", q=query.text, format="json"),
        text=("content",),
        date=("publishedDate",),
        path="/search",
    ),
    "wikipedia": _Engine(  # a MediaWiki with the extension TextExtracts, as every Wikipedia has it
        ask=lambda query: {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": query.text,
            "gsrlimit": str(_COUNT),
            "prop": "extracts",
            "exintro": "1",
            "explaintext": "1",
        },
        rows=(("query", "pages"),),
        nothing={"batchcomplete": True},
        text=("extract",),
        place=("title",),
        rank="index",
    ),
    "tavily": _Engine(
        ask=lambda query: _asked(query, _NAMED, "time_range", query=query.text, max_results=_COUNT),
        text=("content",),
        date=("published_date",),
        method="POST",
        path="/search",
        address="https://api.tavily.com",
        key_env="TAVILY_API_KEY",
    ),
    "serper": _Engine(
        ask=lambda query: _asked(
            query, {name: f"qdr:{name[0]}" for name in _NAMED}, "tbs", q=query.text, num=_COUNT
        ),
        rows=(("organic",),),
        text=("snippet",),
        place=("link",),
        date=("date",),
        method="POST",
        path="/search",
        address="https://google.serper.dev",
        key_env="SERPER_API_KEY",
        header="X-API-KEY",
    ),
    "brave": _Engine(
        ask=lambda query: _asked(
            query, {name: f"p{name[0]}" for name in _NAMED}, "freshness", q=query.text, count=str(_COUNT)
        ),
        rows=(("web", "results"),),
        nothing={"type": "search"},
        text=("description",),
        date=("page_age", "age"),
        path="/res/v1/web/search",
        address="https://api.search.brave.com",
        key_env="BRAVE_API_KEY",
        header="X-Subscription-Token",
    ),
    "bing": _Engine(  # what Bing's own service answered until 2025, and others still do
        ask=lambda query: _asked(
            query,
            {name: name.title() for name in ("day", "week", "month")},
            "freshness",
            q=query.text,
            count=str(_COUNT),
        ),
        rows=(("webPages", "value"),),
        nothing={"_type": "SearchResponse"},
        title=("name",),
        text=("snippet",),
        date=("datePublished",),
        path="/v7.0/search",
        header="Ocp-Apim-Subscription-Key",
    ),
}


class SearchDialect(Dialect):
    """One search engine."""

    words = frozenset()

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._engine = _ENGINES[endpoint.model.partition(":")[0]]
        self.method = self._engine.method
        parts = urlsplit(endpoint.url)
        path = parts.path.rstrip("/").removesuffix(self._engine.path) + self._engine.path
        self.address = parts._replace(path=path or "/").geturl()

    def headers(self) -> dict[str, str]:
        """The key, where there is one, in the header that the engine reads."""
        key, header = self._endpoint.key, self._engine.header
        return {header: f"Bearer {key}" if header == "Authorization" else key} if key else {}

    def payload(self, request: Request) -> dict[str, Any]:
        return self._engine.ask(read_query(request.messages[0]))

    def read(self, value: object, request: Request, redactor: Redactor) -> Reply:
        """Read the results; see `llm.dialect.Dialect`."""
        del request
        return search_reply(self._endpoint.model, self._engine.read(object_of(value), redactor))

    def usage(self, value: object) -> Usage:
        """No tokens."""
        del value
        return Usage()


def _text(row: Mapping[str, object], names: Sequence[str], redactor: Redactor) -> str:
    value = next((row[name] for name in names if row.get(name)), "")
    if not isinstance(value, str):
        fail_envelope(f"{' or '.join(names)} as text", value)
    return read_words(value, redactor)


def _index(value: object) -> int:
    return value if isinstance(value, int) else 1_000_000
