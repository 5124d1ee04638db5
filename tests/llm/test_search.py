"""Search engines: behind a loopback server, in a folder of notes, and recorded."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adjudge.core.ask import About, Query, Reply, Sampling, Snippet
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError, ModelError, ServerStopError, UsageError
from adjudge.llm import search
from adjudge.llm.asking import Asker
from adjudge.llm.faults import Patience
from adjudge.llm.model import Request
from adjudge.llm.model_choice import EMBEDDED, Models, OpenModel, open_model
from adjudge.llm.providers import Connection
from adjudge.llm.remote import RemoteModel, query_message, read_query, read_snippets, search_reply
from adjudge.llm.search import open_search
from adjudge.store.calls import CallReader, CallStore

SEGMENT = Segment(segment="1", lp="zh-en", source="夺笋啊", translations={"A": "So mean."})
SUBJECT = Subject(segment=SEGMENT, systems=("A",))
Play = Callable[[web.Request, Any], Awaitable[web.StreamResponse]]


class Engine:
    """A loopback server that keeps what it was asked."""

    def __init__(self, play: Play) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._play = play
        self._loop = asyncio.new_event_loop()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        said = await request.json() if request.method == "POST" else dict(request.query)
        self.asked.append({"method": request.method, "path": request.path, **said})
        self.headers.append(dict(request.headers))
        return await self._play(request, said)

    async def _start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        return runner

    @contextmanager
    def running(self) -> Iterator["Engine"]:
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(10)
            self._loop.close()


def answers(value: object, status: int = 200, **headers: str) -> Play:
    async def play(request: web.Request, said: Any) -> web.StreamResponse:
        return web.json_response(value, status=status, headers=headers)

    return play


def engine(name: str, **options: Any) -> OpenModel:
    opened = open_search(name, **options)
    assert opened is not None
    return opened


async def look_up(opened: OpenModel, text: str, recency: int | None = None) -> tuple[Snippet, ...]:
    message = query_message(Query(text=text, recency=recency))
    about = About(judge="", stage="search", subject=SUBJECT, wants="snippets")
    request = Request(messages=(message,), about=about, schema=None, sampling=Sampling())
    try:
        return read_snippets(await opened.reply(request))
    finally:
        if opened.remote is not None:
            await opened.remote.close()


RESULTS = {
    "results": [
        {"title": "Slang", "text": "It means: how mean", "place": "dict", "date": "2021"},
        {"text": "b"},
    ]
}
SEARX = {"query": "q", "results": [{"title": "Slang", "content": "It means: how mean", "url": "http://x/y"}]}
WIKI = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {"pageid": 2, "title": "Second", "index": 2, "extract": "Less."},
            {"pageid": 1, "title": "First", "index": 1, "extract": "How mean."},
        ]
    },
}


async def test_an_endpoint_of_ones_own_is_asked_by_post(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "canary-4f1d9b7c2e8a6053")
    with Engine(answers(RESULTS)).running() as server:
        found = await look_up(engine(f"{server.url}/find", key_env="MY_KEY"), "夺笋", 30)
    assert found == (
        Snippet(title="Slang", text="It means: how mean", place="dict", date="2021"),
        Snippet(title="", text="b"),
    )
    assert server.asked == [{"method": "POST", "path": "/find", "query": "夺笋", "recency": 30, "count": 8}]
    assert server.headers[0]["Authorization"] == "Bearer canary-4f1d9b7c2e8a6053"


@pytest.mark.parametrize(
    ("recency", "range_"), [(None, None), (1, "day"), (30, "month"), (90, "year"), (999, None)]
)
async def test_searxng_is_asked_for_json(recency: int | None, range_: str | None) -> None:
    with Engine(answers(SEARX)).running() as server:
        found = await look_up(engine(f"searxng:{server.url}/"), "a & b", recency)
    assert found == (Snippet(title="Slang", text="It means: how mean", place="http://x/y"),)
    within = {} if range_ is None else {"time_range": range_}
    assert server.asked == [{"method": "GET", "path": "/search", "q": "a & b", "format": "json", **within}]


async def test_wikipedia_gives_introductions_in_the_order_of_their_rank() -> None:
    with Engine(answers(WIKI)).running() as server:
        found = await look_up(engine(f"wikipedia:{server.url}/w/api.php"), "x")
    assert [(s.title, s.text) for s in found] == [("First", "How mean."), ("Second", "Less.")]
    assert (server.asked[0]["path"], server.asked[0]["gsrsearch"]) == ("/w/api.php", "x")


TAVILY = {
    "query": "q",
    "results": [{"title": "Slang", "url": "http://x/y", "content": "It means: how mean", "score": 0.9}],
    "response_time": 1.1,
}
SERPER = {
    "searchParameters": {"q": "q"},
    "organic": [
        {"title": "Slang", "link": "http://x/y", "snippet": "It means: how mean", "position": 1},
        {"title": "No text", "link": "http://x/z", "position": 2},
    ],
}
BRAVE = {
    "type": "search",
    "web": {"results": [{"title": "Slang", "url": "http://x/y", "description": "It means: how mean"}]},
}
BING = {
    "_type": "SearchResponse",
    "webPages": {"value": [{"name": "Slang", "url": "http://x/y", "snippet": "It means: how mean"}]},
}
Hosted = tuple[str, object, str, str, tuple[str, str], str, dict[str, object], object]
HOSTED: list[Hosted] = [
    (
        *("tavily", TAVILY, "POST", "/search", ("Authorization", "Bearer "), "TAVILY_API_KEY"),
        {"query": "q", "max_results": 8, "time_range": "month"},
        {"results": []},
    ),
    (
        *("serper", SERPER, "POST", "/search", ("X-API-KEY", ""), "SERPER_API_KEY"),
        {"q": "q", "num": 8, "tbs": "qdr:m"},
        {"organic": []},
    ),
    (
        *("brave", BRAVE, "GET", "/res/v1/web/search", ("X-Subscription-Token", ""), "BRAVE_API_KEY"),
        {"q": "q", "count": "8", "freshness": "pm"},
        {"type": "search", "query": {}},
    ),
    (
        *("bing", BING, "GET", "/v7.0/search", ("Ocp-Apim-Subscription-Key", ""), "MY_KEY"),
        {"q": "q", "count": "8", "freshness": "Month"},
        {"_type": "SearchResponse", "queryContext": {}},
    ),
]


@pytest.mark.parametrize("row", HOSTED, ids=[row[0] for row in HOSTED])
async def test_a_hosted_engine_is_asked_and_read_in_its_own_dialect(
    row: Hosted, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    kind, body, method, path, header, variable, asked, nothing = row
    monkeypatch.setenv(variable, "canary-4f1d9b7c2e8a6053")
    key = {"key_env": variable} if kind == "bing" else {}
    with Engine(answers(body)).running() as server:
        found = await look_up(engine(f"{kind}:{server.url}", **key), "q", 30)
    assert found == (Snippet(title="Slang", text="It means: how mean", place="http://x/y"),)
    assert server.asked == [{"method": method, "path": path, **asked}]
    assert server.headers[0][header[0]] == f"{header[1]}canary-4f1d9b7c2e8a6053"
    with Engine(answers(nothing)).running() as server:
        assert await look_up(engine(f"{kind}:{server.url}", **key), "q") == ()
        assert not {"time_range", "tbs", "freshness"} & server.asked[0].keys()
    with Engine(answers({"unexpected": 1})).running() as server, pytest.raises(AnswerError) as raised:
        await look_up(engine(f"{kind}:{server.url}", **key), "q")
    assert raised.value.reason == "bad_envelope"


@pytest.mark.parametrize("kind", ["tavily", "serper", "brave"])
def test_a_hosted_engine_without_its_key_says_which_variable_holds_it(kind: str) -> None:
    with pytest.raises(
        ModelError, match=f"--search {kind}: no key: .*{kind.upper()}_API_KEY.*--search-key-env"
    ):
        open_search(kind)
    assert open_search(kind, needs_key=False) is not None


@pytest.mark.parametrize(
    "body",
    [
        {"snippets": ["It means: how mean", "b"], "count": 2},
        {"results": [{"content": "It means: how mean"}, {"snippet": "b"}]},
        {"organic": [{"snippet": "It means: how mean"}, {"description": "b"}]},
    ],
    ids=["the form of RATE's authors", "content and snippet", "organic"],
)
async def test_an_endpoint_of_ones_own_may_answer_as_others_do(body: object) -> None:
    with Engine(answers(body)).running() as server:
        found = await look_up(engine(server.url), "x")
    assert found == (Snippet(title="", text="It means: how mean"), Snippet(title="", text="b"))


async def test_nothing_found_is_an_empty_list_in_every_form() -> None:
    for key in ("results", "snippets", "organic"):
        with Engine(answers({key: []})).running() as server:
            assert await look_up(engine(server.url), "x") == ()
    with Engine(answers({"batchcomplete": True})).running() as server:
        assert await look_up(engine(f"wikipedia:{server.url}/w/api.php"), "x") == ()


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [("searxng:", 403, r"json under search\.formats"), ("", 401, "status 401")],
)
async def test_a_server_that_lets_nobody_in_stops_the_run_and_searxng_says_which_setting_it_wants(
    kind: str, status: int, said: str, quick: None
) -> None:
    with Engine(answers({}, status)).running() as server, pytest.raises(ServerStopError, match=said):
        await look_up(engine(f"{kind}{server.url}"), "x")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("wikipedia", "https://en.wikipedia.org/w/api.php"),
        ("wikipedia:zh", "https://zh.wikipedia.org/w/api.php"),
        ("searxng:http://host:8080", "http://host:8080/search"),
        ("searxng:http://host/s/search", "http://host/s/search"),
        ("http:https://host/find", "https://host/find"),
    ],
)
def test_an_engine_is_found_at_its_address(name: str, address: str) -> None:
    remote = engine(name).remote
    assert isinstance(remote, RemoteModel)
    assert remote.wire.dialect.address == address


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": "broken"}, "server_error"),
        ([], "bad_envelope"),
        ({"results": "none"}, "bad_envelope"),
        ({"results": [7]}, "bad_envelope"),
        ({"results": [{"text": 7}]}, "bad_envelope"),
        ({"results": [{"title": "a"}]}, "bad_envelope"),
        ({"results": [{"text": "a"}, {"summary": "b"}]}, "bad_envelope"),
        ({"snippets": ["a", ""]}, "bad_envelope"),
        ({"answer": "x"}, "bad_envelope"),
        ({"results": [{"text": "a\0b"}]}, "encoding"),
    ],
)
async def test_a_body_without_results_is_no_empty_result(body: object, reason: str, quick: None) -> None:
    with Engine(answers(body)).running() as server, pytest.raises(AnswerError) as raised:
        await look_up(engine(server.url), "x")
    assert raised.value.reason == reason


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        search, "_PATIENCE", Patience(attempts=2, first_pause=0.01, first_wait=0.05, longest_wait=0.2)
    )


async def test_a_server_that_stumbles_is_asked_again(quick: None) -> None:
    async def play(request: web.Request, said: Any) -> web.StreamResponse:
        good = len(server.asked) > 1
        return web.json_response(RESULTS if good else {}, status=200 if good else 503)

    with (server := Engine(play)).running():
        assert len(await look_up(engine(server.url), "x")) == 2
    assert len(server.asked) == 2


async def test_a_key_in_an_answer_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "canary-4f1d9b7c2e8a6053")
    body = {"results": [{"text": "your key is canary-4f1d9b7c2e8a6053"}]}
    with Engine(answers(body)).running() as server:
        found = await look_up(engine(server.url, key_env="MY_KEY"), "x")
    assert found[0].text == "your key is [key]"


def test_long_snippets_are_cut_and_repeated_ones_are_dropped() -> None:
    same = Snippet(title="t", text="a  b\n c")
    found = read_snippets(
        search_reply("x", [same, same, Snippet(title="", text="é" * 3000), Snippet(title="", text=" ")])
    )
    assert found[0] == Snippet(title="t", text="a b c")
    assert len(found) == 2
    assert len(found[1].text) == 1000
    assert found[1].text.endswith("…")


@pytest.mark.parametrize("query", [Query(text='夺笋啊 "x"\n'), Query(text="x", recency=7)])
def test_a_query_is_read_as_it_was_written(query: Query) -> None:
    assert read_query(query_message(query)) == query


@pytest.mark.parametrize("text", ["no", "{}x", '{"a": 1}', '[{"title": "a"}]', "[7]", '[{"x": "y"}]'])
def test_what_is_no_list_of_snippets_is_refused(text: str) -> None:
    with pytest.raises(AnswerError, match="bad_envelope"):
        read_snippets(Reply(text=text))


def notes(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


SLANG = "# 夺笋啊\n\n夺笋啊 sounds like 多损啊: how mean.\n\n# Bamboo\n\nA plant with shoots, 竹笋."


async def test_notes_are_ranked_by_what_they_share_with_the_query(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes", slang=SLANG, other="Cats sleep.\r\n\r\nDogs bark at cats.")
    opened = engine(f"files:{folder}")
    assert [s.title for s in await look_up(opened, "夺笋啊 meaning")] == ["夺笋啊"]
    found = await look_up(opened, "CATS bark")
    assert [s.text for s in found] == ["Dogs bark at cats.", "Cats sleep."]
    assert found[0].place == "other.md"
    assert await look_up(opened, "nothing alike") == ()


async def test_one_file_may_hold_all_notes(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes", slang=SLANG)
    one = engine(f"files:{folder / 'slang.md'}")
    assert one.name == engine(f"files:{folder}").name
    assert [s.place for s in await look_up(one, "bamboo shoots")] == ["slang.md"]


async def test_other_notes_are_another_engine(tmp_path: Path) -> None:
    one, two = notes(tmp_path / "a", x="Cats."), notes(tmp_path / "b", x="Cats.")
    assert engine(f"files:{one}").name == engine(f"files:{two}").name
    (two / "x.md").write_text("Dogs.")
    assert engine(f"files:{one}").name != engine(f"files:{two}").name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bing", "no search engine 'bing'; say none, files:DIR"),
        ("files:", "no search engine"),
        ("files:nowhere", "no such folder"),
        ("recorded:nowhere", "no run and no call store"),
        ("wikipedia:x/y", "takes the code of a language"),
        ("http:host", "must look like"),
        ("http://user:pass@host/", "must hold no user name"),
        ("https://host/?api_key=x", "must hold no key"),
    ],
)
def test_an_engine_that_there_is_not_is_said(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as raised:
        open_search(name)
    assert message in str(raised.value)
    assert "pass@" not in str(raised.value)


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"")
    with pytest.raises(UsageError, match="holds no notes"):
        open_search(f"files:{tmp_path}")
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="readable UTF-8"):
        open_search(f"files:{tmp_path}")


def test_a_key_is_asked_for_only_where_something_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ModelError, match="MY_KEY"):
        open_search("http://host/", key_env="MY_KEY")
    assert open_search("http://host/", key_env="MY_KEY", needs_key=False) is not None
    with pytest.raises(UsageError, match="needs no key"):
        open_search("none", key_env="MY_KEY")


def asker(store: CallStore, opened: OpenModel, *, offline: bool = False) -> Asker:
    models = Models(default=open_model(EMBEDDED, Connection()), search=opened)
    return Asker(models, store, secret=bytes(16), offline=offline)


async def ask_twice(path: Path, opened: OpenModel, *, offline: bool = False) -> list[tuple[Snippet, ...]]:
    store = CallStore(path, "run")
    try:
        asking = asker(store, opened, offline=offline)
        unit = asking.for_unit(SUBJECT)
        assert unit.engine is not None
        found = [tuple(await unit.engine.search(Query(text="夺笋啊"))) for _ in range(2)]
        unit.end()
        assert asking.tally.asked == 0
        return found
    finally:
        store.close()


async def test_a_query_is_put_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with Engine(answers(RESULTS)).running() as server:
        opened = engine(server.url)
        first = await ask_twice(path, opened)
        assert first[0] == first[1]
        assert await ask_twice(path, opened, offline=True) == first
        assert opened.remote is not None
        await opened.remote.close()
        assert len(server.asked) == 1
    recorded = engine(f"recorded:{path}")
    assert recorded.identity == opened.identity
    assert await ask_twice(tmp_path / "other.sqlite", recorded) == first
    await Models(default=recorded).close()
    reader = CallReader(path)
    (exchange, again) = reader.conversation("run", '["zh-en","1","A"]')
    assert (exchange.use.stage, exchange.use.role) == ("search", "engine")
    assert exchange.reply == again.reply
    reader.close()


async def test_a_recorded_engine_that_was_never_asked_gives_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    await ask_twice(path, engine(f"files:{notes(tmp_path / 'notes', x=SLANG)}"))
    recorded = engine(f"recorded:{path}")
    with pytest.raises(AnswerError, match="missing"):
        await look_up(recorded, "something else")
    await Models(default=recorded).close()
    with pytest.raises(UsageError, match="no search engine 'bing'"):
        open_search(f"recorded:{path}#bing")


def test_stored_snippets_hold_only_what_is_there() -> None:
    reply = search_reply("files:x", [Snippet(title="a", text="b")])
    assert json.loads(reply.text) == [{"title": "a", "text": "b"}]
    assert reply.model == "search/files:x"
