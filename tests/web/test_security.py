"""What every request passes before a route sees it, as tables."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from adjudge.campaigns.database import METADATA
from adjudge.campaigns.people import Link, add_people, people, revoke
from adjudge.errors import AccessError, UsageError
from adjudge.web import security
from adjudge.web.app import create_app
from adjudge.web.security import (
    Guard,
    Guesses,
    Site,
    TooOftenError,
    Window,
    network_of,
    read_site,
    refusal_of,
)
from tests.campaigns.conftest import make_test_set, opener
from tests.web.client import Client, Response
from tests.web.conftest import House, copy_of
from tests.web.test_api import change, items_of, send, start

# Every route, and eight people who knock: no answer of success but those written here.


ACTORS = ("organiser", "owner", "other", "adjudicator", "stranger", "link", "nobody", "revoked")
"""Who: has everything; has the task; has another one; decides between others; is of another campaign; has a
link and has not opened it; has nothing; was shut out with the session still in the browser."""

ANNOTATORS = {"owner", "other", "adjudicator"}
INSIDERS = {"organiser", *ANNOTATORS}
ORGANISER = {"organiser"}
OWNER = {"owner"}
EVERYONE = set(ACTORS)


@dataclass
class Scene:
    """A campaign with work under way, and a browser of each actor."""

    house: House
    browsers: dict[str, Client]
    assignment: int

    @property
    def other_person(self) -> int:
        return next(one.id for one in people(self.house.campaign) if one.name == "annotator-3")


def by_name(links: Iterable[Link]) -> dict[str, Link]:
    return {link.name: link for link in links}


def save_something(scene: Scene, client: Client) -> Response:
    return send(client, scene.assignment, change(items_of(scene.house, scene.assignment)[0]))


def by_get(path: str) -> Callable[[Scene, Client], Response]:
    return lambda scene, client: client.get(
        path.format(assignment=scene.assignment, person=scene.other_person, number=1)
    )


def by_post(path: str, body: object = None) -> Callable[[Scene, Client], Response]:
    return lambda scene, client: client.post(
        path.format(assignment=scene.assignment, person=scene.other_person, number=1), body
    )


def finish(scene: Scene, client: Client) -> Response:
    """Only the owner can make the task ready."""
    owner = scene.browsers["owner"]
    send(owner, scene.assignment, *(change(row) for row in items_of(scene.house, scene.assignment)))
    return client.post(f"/api/work/{scene.assignment}/done", {})


def enter(scene: Scene, client: Client) -> Response:
    """A link is all that it takes, whoever has it."""
    return client.post("/api/enter", {"secret": scene.house.links["annotator-2"].secret})


ROWS: dict[str, tuple[Callable[[Scene, Client], Response], set[str]]] = {
    "GET /": (by_get("/"), EVERYONE),
    "GET /sign-in": (by_get("/sign-in"), EVERYONE),
    "GET /health": (by_get("/health"), EVERYONE),
    "GET /static/{path:path}": (by_get("/static/adjudge.css"), EVERYONE),
    "GET /media/{path:path}": (by_get("/media/" + "0" * 32 + ".png"), INSIDERS),
    "GET /guidelines": (by_get("/guidelines"), INSIDERS),
    "GET /work": (by_get("/work"), ANNOTATORS),
    "GET /work/{assignment}": (by_get("/work/{assignment}"), OWNER),
    "GET /dashboard": (by_get("/dashboard"), ORGANISER),
    "GET /dashboard/people": (by_get("/dashboard/people"), ORGANISER),
    "GET /dashboard/analysis": (by_get("/dashboard/analysis"), ORGANISER),
    "GET /openapi.json": (by_get("/openapi.json"), ORGANISER),
    "POST /api/enter": (enter, EVERYONE),
    "POST /api/sign-in": (by_post("/api/sign-in", {"name": "organiser", "password": "x"}), set()),
    "POST /api/leave": (by_post("/api/leave"), EVERYONE),
    "POST /api/next": (by_post("/api/next"), ANNOTATORS),
    "POST /api/language": (by_post("/api/language", {"language": "en"}), ANNOTATORS),
    "POST /api/events": (save_something, OWNER),
    "GET /api/work/{assignment}": (by_get("/api/work/{assignment}"), OWNER),
    "POST /api/work/{assignment}/done": (finish, OWNER),
    "GET /api/dashboard": (by_get("/api/dashboard"), ORGANISER),
    "GET /api/export/{form}": (by_get("/api/export/campaign"), ORGANISER),
    "POST /api/gate": (by_post("/api/gate"), ORGANISER),
    "POST /api/people": (by_post("/api/people", {"name": "Ann"}), ORGANISER),
    "POST /api/people/{person}/link": (by_post("/api/people/{person}/link"), ORGANISER),
    "POST /api/people/{person}/revoke": (by_post("/api/people/{person}/revoke"), ORGANISER),
    "POST /api/tasks/{number}/release": (by_post("/api/tasks/{number}/release"), ORGANISER),
}
"""Route to a request that would succeed, and who may send it."""


@pytest.fixture(scope="session")
def model_scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """What `scene` is a copy of."""
    for make in opener(tmp_path_factory.mktemp("scene"), make_test_set("en-de"), None):
        (here, links), (elsewhere, others) = (
            make(annotators=4, assignment="pool", raters=2) for _ in range(2)
        )
        yield build_scene(House(here, by_name(links)), House(elsewhere, by_name(others)))


def build_scene(house: House, elsewhere: House) -> Scene:
    """Everybody comes in, two begin to work, and one is shut out."""
    folder = house.campaign.folder / "media"
    folder.mkdir(exist_ok=True)
    (folder / ("0" * 32 + ".png")).write_bytes(b"png")
    names = {
        "organiser": "organiser",
        "owner": "annotator-1",
        "other": "annotator-2",
        "adjudicator": "adjudicator",
        "revoked": "annotator-4",
    }
    added = add_people(house.campaign, ["adjudicator"], "adjudicator", house.clock(), actor="organiser")
    house.links |= by_name(added)
    browsers = {actor: house.browser(names.get(actor)) for actor in ACTORS}
    browsers["stranger"].cookies = dict(elsewhere.browser("organiser").cookies)
    shut_out = next(one.id for one in people(house.campaign) if one.name == "annotator-4")
    revoke(house.campaign, shut_out, house.clock(), actor="organiser")
    start(browsers["other"])
    return Scene(house, browsers, start(browsers["owner"]))


@pytest.fixture
def scene(model_scene: Scene, tmp_path: Path) -> Iterator[Scene]:
    """A campaign under way, and everybody's browser."""
    house = copy_of(model_scene.house, tmp_path / "house")
    browsers = {
        actor: Client(house.app, cookies=dict(client.cookies))
        for actor, client in model_scene.browsers.items()
    }
    yield Scene(house, browsers, model_scene.assignment)
    house.campaign.database.close()


def test_every_route_has_a_row(house: House) -> None:
    named = {
        f"{method} {route.path}"
        for room in house.app.routes
        for route in room.original_router.routes  # type: ignore[attr-defined] # another kind of route fails here
        for method in route.methods
    }
    assert named == set(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_who_may_does_and_nobody_else(scene: Scene, row: str) -> None:
    request, allowed = ROWS[row]
    seen = {actor: request(scene, scene.browsers[actor]) for actor in sorted(ACTORS, key="other owner".find)}
    assert {actor for actor, response in seen.items() if 200 <= response.status < 300} == allowed
    refused = {actor: response for actor, response in seen.items() if actor not in allowed}
    assert {response.status for response in refused.values()} <= {303, 401, 403}
    for response in refused.values():
        assert response.status != 303 or response.headers["location"] in {"/", "/dashboard"}


def test_no_route_changes_anything_for_another_site(scene: Scene) -> None:
    foreign: list[dict[str, str | None]] = [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": None, "origin": "https://evil.example"},
        {"sec-fetch-site": None, "origin": "null"},
        {"host": "evil.example"},
    ]
    unsafe = [
        request for row, (request, _) in ROWS.items() if row.startswith("POST") and request is not finish
    ]
    before = version_of(scene)
    for client in scene.browsers.values():
        for headers in foreign:
            client.headers = headers
            assert {request(scene, client).status for request in unsafe} <= {400, 403}
            assert client.post(f"/api/work/{scene.assignment}/done", {}).status in {400, 403}
    assert version_of(scene) == before


def test_reading_changes_nothing(scene: Scene) -> None:
    before = version_of(scene)
    for row, (request, _) in ROWS.items():
        if row.startswith("GET"):
            for client in scene.browsers.values():
                request(scene, client)
    assert version_of(scene) == before


def version_of(scene: Scene) -> list[tuple[str, list[tuple[object, ...]]]]:
    """Everything in the store."""
    with scene.house.campaign.database.reading() as connection:
        return [
            (table.name, [tuple(row) for row in connection.execute(select(table))])
            for table in METADATA.sorted_tables
        ]


def test_other_methods_are_refused(scene: Scene) -> None:
    paths = {row.split()[1].replace("{path:path}", "x").replace("{form}", "campaign") for row in ROWS}
    for path in paths:
        target = path.format(assignment=scene.assignment, person=1, number=1)
        for method in ("PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "HEAD", "OPTIONS"):
            assert scene.browsers["organiser"].request(method, target).status == 405, (method, target)


# How often a secret may be guessed, and how generously saves are limited.


def guess(
    guesses: Guesses, address: str, now: float, cookie: str | None = None, *, is_guessable: bool = True
) -> str:
    def enter() -> str:
        if cookie is None:
            raise AccessError("wrong")
        return cookie

    try:
        return guesses.attempt(address, now, enter, is_guessable=is_guessable)
    except AccessError:
        return "wrong"
    except TooOftenError as error:
        return f"wait {error.seconds:g}"


def test_many_addresses_together_get_no_more_guesses_than_one() -> None:
    guesses = Guesses()
    assert [guess(guesses, f"192.0.2.{n}", 0.0) for n in range(10)] == ["wrong"] * 10
    assert guess(guesses, "192.0.2.99", 1.0) == "wait 59"


def test_who_is_wrong_at_many_addresses_shuts_nobody_with_a_link_out() -> None:
    guesses = Guesses()
    assert [guess(guesses, f"192.0.2.{n}", 0.0, is_guessable=False) for n in range(10)] == ["wrong"] * 10
    assert guess(guesses, "192.0.2.99", 1.0, "cookie", is_guessable=False) == "cookie"
    assert guess(guesses, "192.0.2.99", 1.0, "cookie", is_guessable=True) == "wait 59"
    assert guess(guesses, "192.0.2.98", 1.0, is_guessable=False) == "wait 59"
    assert guess(guesses, "192.0.2.97", 60.0, is_guessable=False) == "wrong", "later ones did not prolong it"


def test_guesses_sent_at_once_are_counted_like_others() -> None:
    guesses = Guesses()
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda _: guess(guesses, "192.0.2.1", 0.0), range(100)))
    assert done.count("wrong") == 10
    right = Guesses()
    assert {guess(right, "192.0.2.1", 0.0, "cookie") for _ in range(300)} == {"cookie"}, "without limit"


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    window = Window(most=1, seconds=60.0)
    assert window.take("a", 1000.0) == 0
    assert window.take("a", 10.0) == 0


def test_one_customer_of_a_provider_is_one_guesser() -> None:
    one = [
        ("2001:db8::1", "2001:db8::ffff:1"),
        ("fe80::1%eth0", "fe80::2%eth0"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("unix", "unix"),
    ]
    two = [
        ("192.0.2.1", "192.0.2.2"),
        ("2001:db8::1", "2001:db8:0:1::1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2"),
    ]
    assert [pair for pair in one + two if network_of(pair[0]) == network_of(pair[1])] == one


def test_keys_do_not_fill_the_memory() -> None:
    window = Window(most=1, seconds=60.0)
    for number in range(10_001):
        window.count(str(number), 0.0)
    assert window.wait("0", 1.0) == 0
    assert window.wait("10000", 1.0) == 59


def test_each_key_has_its_own_window() -> None:
    window = Window(most=2, seconds=1.0)
    assert [window.take(key, 0.0) for key in "aabab"] == [0, 0, 0, 1, 0]


HTTPS = Site(origin="https://judge.example.org")
PORTED = Site(origin="https://judge.example.org:8443")
LOCAL = Site()


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with how many bytes came, and note that something did."""
    request = Request(scope, receive)
    REACHED.append(request.method)
    await PlainTextResponse(f"{len(await request.body())}")(scope, receive, send)


REACHED: list[str] = []


@pytest.fixture
def guarded() -> Client:
    """A guarded app that echoes."""
    REACHED.clear()
    return Client(Guard(app=echo, site=LOCAL))


# The name of the server...


def test_a_server_answers_to_its_own_name_and_to_bare_addresses() -> None:
    bare = ["127.0.0.1:8000", "LocalHost", "[::1]:8000"]
    tricks = ["localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:8000@evil.example"]
    broken = ["127.0.0.1:80 00", "127.1", "0x7f000001", "[::1", ""]
    ours = {
        LOCAL: bare,
        HTTPS: [*bare, "judge.example.org", "JUDGE.example.org"],
        PORTED: [*bare, "judge.example.org:8443"],
    }
    theirs = {
        LOCAL: [*tricks, *broken, "judge.example.org", "evil.example"],
        HTTPS: [*tricks, *broken, "judge.example.org:8443", "judge.example.org.", "other.example.org"],
        PORTED: [*tricks, *broken, "judge.example.org"],
    }
    for site, hosts in ours.items():
        every = hosts + theirs[site]
        assert [host for host in every if refusal_of("GET", "/", headers(host), site) is None] == hosts


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    two = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    assert refusal_of("GET", "/", two, LOCAL) is not None
    assert refusal_of("GET", "/", Headers({}), LOCAL) is not None


def test_a_public_url_is_an_origin() -> None:
    origins = {
        None: "",
        "https://Judge.Example.org/": "https://judge.example.org",
        "https://judge.example.org:443": "https://judge.example.org",
        "https://judge.example.org:8443": "https://judge.example.org:8443",
        "http://192.0.2.1:80": "http://192.0.2.1",
        "http://[::1]:8000": "http://[::1]:8000",
    }
    sites = {url: read_site(url) for url in origins}
    assert {url: site.origin for url, site in sites.items()} == origins
    secure = {url for url, site in sites.items() if site.cookie == "__Host-adjudge"}
    assert secure == {url for url, origin in origins.items() if origin.startswith("https:")}


def test_what_is_no_origin_is_refused_in_words() -> None:
    more = [f"https://judge.example.org{rest}" for rest in ("/path", "?x", "#x")]
    others = ["judge.example.org", "ftp://judge.example.org", "https://", "javascript:alert(1)"]
    for url in [*more, *others, "https://me:secret@judge.example.org", "https://judge example.org"]:
        with pytest.raises(UsageError, match=r"must look like https://judge\.example\.org"):
            read_site(url)


# Who asks for a change...


def headers(host: str = "judge.example.org", **more: str) -> Headers:
    return Headers({"host": host} | {name.replace("_", "-"): value for name, value in more.items()})


def test_only_the_servers_own_pages_ask_for_changes() -> None:
    own = "https://judge.example.org"
    passing = [
        headers(),  # no browser
        headers(sec_fetch_site="same-origin", origin=own),
        headers(sec_fetch_site="none"),  # the person typed it
        headers(origin=own),  # a browser of before 2023
        headers(origin="https://JUDGE.example.org"),
    ]
    fetched = ["same-site", "cross-site", "same-origin, cross-site", "Same-Origin", "anything"]
    others = ["http://judge.example.org", "https://judge.example.org:8443", "https://evil.example"]
    foreign = [
        headers(sec_fetch_site="cross-site", origin=own),
        *(headers(sec_fetch_site=value) for value in fetched),
        *(headers(origin=value) for value in [*others, "https://judge.example.org.evil.example", "null", ""]),
    ]
    for method in ("POST", "PUT", "PATCH", "DELETE", "ANYTHING"):
        assert [refusal_of(method, "/api/next", each, HTTPS) for each in passing] == [None] * len(passing)
        refusals = [refusal_of(method, "/api/next", each, HTTPS) for each in foreign]
        assert [refusal and refusal.status for refusal in refusals] == [403] * len(foreign)
    for method in ("GET", "HEAD", "OPTIONS"):  # links lead here from anywhere
        assert [refusal_of(method, "/", each, HTTPS) for each in foreign] == [None] * len(foreign)


def test_without_a_public_name_the_origin_is_the_host() -> None:
    passing = {
        ("127.0.0.1:8000", "http://127.0.0.1:8000"): True,
        ("127.0.0.1:8000", "http://localhost:8000"): False,
        ("127.0.0.1:8000", "http://127.0.0.1:8001"): False,
        ("127.0.0.1:8000", "http://127.0.0.1"): False,
        ("[::1]:8000", "http://[::1]:8000"): True,
        ("192.0.2.1", "https://192.0.2.1"): True,  # behind a proxy that ends TLS
    }
    assert passing == {
        (host, origin): refusal_of("POST", "/api/next", headers(host, origin=origin), LOCAL) is None
        for host, origin in passing
    }


# Bodies...


def test_a_body_over_the_limit_is_refused_by_its_declared_length_alone(guarded: Client) -> None:
    response = guarded.request("POST", "/api/enter", body=b"{}", headers={"content-length": "65537"})
    assert (response.status, response.headers["connection"], REACHED) == (413, "close", [])
    assert "65,536 bytes" in response.json()["message"]


def test_a_body_over_the_limit_is_not_read_to_its_end(guarded: Client) -> None:
    taken: list[Message] = []

    async def receive() -> Message:
        taken.append({"type": "http.request", "body": b"x" * 16384, "more_body": True})
        return taken[-1]

    body = asyncio.run(security._read_body(receive, "/api/enter"))
    assert isinstance(body, security.Refusal)
    assert (body.status, len(taken)) == (413, 5)


def test_the_limit_is_exact(guarded: Client) -> None:
    for path, limit in (("/api/enter", 65536), ("/anything", 65536), ("/api/events", 4 * 1024 * 1024)):
        half = b"x" * (limit // 2)
        assert guarded.request("POST", path, body=[half, half]).text == str(limit)
        assert guarded.request("POST", path, body=[half, half + b"x"]).status == 413, path


def test_a_length_that_is_no_number_is_refused() -> None:
    for length in ("-1", "abc", "1e3", "9" * 30, "٣", ""):
        raw = [(b"host", b"localhost"), (b"content-length", length.encode())]
        refusal = refusal_of("POST", "/api/enter", Headers(raw=raw), LOCAL)
        assert refusal is not None, length
        assert refusal.status == 413


def test_a_form_of_another_site_cannot_send_what_a_route_reads(guarded: Client) -> None:
    json_types = ["application/json", "Application/JSON; charset=utf-8"]
    forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    for kind in [*json_types, *forms, "application/json-patch+json", None]:
        status = guarded.request("POST", "/api/next", body=b"{}", headers={"content-type": kind}).status
        assert status == (200 if kind in json_types else 415), kind
        assert guarded.post("/api/next", headers={"content-type": kind}).status == 200  # nothing to read


def test_a_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "_PATIENCE", 0.0)

    async def trickle() -> Message:
        await asyncio.Event().wait()
        return {}

    async def leave() -> Message:
        return {"type": "http.disconnect"}

    late, gone = (asyncio.run(security._read_body(receive, "/")) for receive in (trickle, leave))
    assert isinstance(late, security.Refusal)
    assert isinstance(gone, security.Refusal)
    assert late.status == 408


# Headers...


def test_every_response_carries_the_policy(guarded: Client) -> None:
    for response in (guarded.get("/"), guarded.post("/", headers={"sec-fetch-site": "cross-site"})):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cross-origin-opener-policy"] == "same-origin"
        assert response.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in response.headers
        assert "access-control-allow-origin" not in response.headers
    secure = Client(Guard(app=echo, site=HTTPS), host="judge.example.org").get("/")
    assert secure.headers["strict-transport-security"].startswith("max-age=")


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    """Fail as no route should."""
    raise RuntimeError("canary")


def test_an_error_of_ours_is_logged_and_shown_without_its_inside(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = Client(Guard(app=broken, site=LOCAL)).get("/work/1?secret=x")
    assert response.status == 500
    assert "canary" not in response.text
    assert "content-security-policy" in response.headers
    assert "canary" in caplog.text
    assert "secret" not in caplog.text


def test_no_server_reports_to_telemetry_whatever_the_environment_says(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    app: Any = create_app(house.campaign)
    assert {name: value for name, value in app._telemetry.items() if value} == {}
