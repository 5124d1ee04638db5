"""What every request passes before a route sees it, as tables."""

import asyncio
import logging
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from adjudge.errors import UsageError
from adjudge.web import security
from adjudge.web.app import create_app
from adjudge.web.security import Guard, Site, read_site, refusal_of
from tests.web.client import Client
from tests.web.conftest import House

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


@pytest.mark.parametrize(
    ("site", "host", "ours"),
    [
        (LOCAL, "127.0.0.1:8000", True),
        (LOCAL, "localhost:8000", True),
        (LOCAL, "LocalHost", True),
        (LOCAL, "[::1]:8000", True),
        (LOCAL, "192.0.2.1:8000", True),
        (LOCAL, "judge.example.org", False),
        (LOCAL, "localhost.evil.example", False),
        (LOCAL, "evil.example", False),
        (LOCAL, "127.0.0.1.evil.example", False),
        (LOCAL, "127.0.0.1:8000@evil.example", False),
        (LOCAL, "127.0.0.1:80 00", False),
        (LOCAL, "127.1", False),
        (LOCAL, "0x7f000001", False),
        (LOCAL, "[::1", False),
        (LOCAL, "", False),
        (HTTPS, "judge.example.org", True),
        (HTTPS, "JUDGE.example.org", True),
        (HTTPS, "judge.example.org:8443", False),
        (HTTPS, "judge.example.org.", False),
        (HTTPS, "other.example.org", False),
        (HTTPS, "127.0.0.1:8000", True),
        (PORTED, "judge.example.org:8443", True),
        (PORTED, "judge.example.org", False),
    ],
)
def test_a_server_answers_to_its_own_name_and_to_bare_addresses(site: Site, host: str, *, ours: bool) -> None:
    assert site.is_ours(host) == ours
    assert (refusal_of("GET", "/", Headers({"host": host}), site) is None) == ours


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    two = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    assert refusal_of("GET", "/", two, LOCAL) is not None
    assert refusal_of("GET", "/", Headers({}), LOCAL) is not None


@pytest.mark.parametrize(
    ("url", "origin", "cookie"),
    [
        (None, "", "adjudge"),
        ("https://judge.example.org", "https://judge.example.org", "__Host-adjudge"),
        ("https://Judge.Example.org/", "https://judge.example.org", "__Host-adjudge"),
        ("https://judge.example.org:443", "https://judge.example.org", "__Host-adjudge"),
        ("https://judge.example.org:8443", "https://judge.example.org:8443", "__Host-adjudge"),
        ("http://192.0.2.1:80", "http://192.0.2.1", "adjudge"),
        ("http://[::1]:8000", "http://[::1]:8000", "adjudge"),
    ],
)
def test_a_public_url_is_an_origin(url: str | None, origin: str, cookie: str) -> None:
    assert read_site(url) == Site(origin=origin)
    assert read_site(url).cookie == cookie


@pytest.mark.parametrize(
    "url",
    [
        "judge.example.org",
        "ftp://judge.example.org",
        "https://judge.example.org/path",
        "https://judge.example.org?x",
        "https://judge.example.org#x",
        "https://me:secret@judge.example.org",
        "https://",
        "https://judge example.org",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_origin_is_refused_in_words(url: str) -> None:
    with pytest.raises(UsageError, match=r"must look like https://judge\.example\.org"):
        read_site(url)


# Who asks for a change...

OWN = "https://judge.example.org"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "ANYTHING"])
@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({}, True),  # no browser
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin", "origin": OWN}, True),
        ({"sec-fetch-site": "none"}, True),  # the person typed it
        ({"sec-fetch-site": "same-site"}, False),  # another name of the same domain
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": OWN}, False),
        ({"sec-fetch-site": "same-origin, cross-site"}, False),
        ({"sec-fetch-site": "Same-Origin"}, False),
        ({"sec-fetch-site": "anything"}, False),
        ({"origin": OWN}, True),  # a browser of before 2023
        ({"origin": "https://JUDGE.example.org"}, True),
        ({"origin": "http://judge.example.org"}, False),
        ({"origin": "https://judge.example.org:8443"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "https://judge.example.org.evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
    ],
)
def test_only_the_servers_own_pages_ask_for_changes(
    method: str, headers: dict[str, str], *, passes: bool
) -> None:
    refusal = refusal_of(method, "/api/next", Headers({"host": "judge.example.org"} | headers), HTTPS)
    assert (refusal is None) == passes
    assert refusal is None or refusal.status == 403


@pytest.mark.parametrize(
    ("host", "origin", "passes"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000", True),
        ("127.0.0.1:8000", "http://localhost:8000", False),
        ("127.0.0.1:8000", "http://127.0.0.1:8001", False),
        ("127.0.0.1:8000", "http://127.0.0.1", False),
        ("[::1]:8000", "http://[::1]:8000", True),
        ("192.0.2.1", "https://192.0.2.1", True),  # behind a proxy that ends TLS
    ],
)
def test_without_a_public_name_the_origin_is_the_host(host: str, origin: str, *, passes: bool) -> None:
    refusal = refusal_of("POST", "/api/next", Headers({"host": host, "origin": origin}), LOCAL)
    assert (refusal is None) == passes


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_open_to_links_from_anywhere(method: str) -> None:
    headers = {"host": "judge.example.org", "sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    assert refusal_of(method, "/", Headers(headers), HTTPS) is None


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


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/api/enter", 65536, 200),
        ("/api/enter", 65537, 413),
        ("/api/events", 4 * 1024 * 1024, 200),
        ("/api/events", 4 * 1024 * 1024 + 1, 413),
        ("/anything", 65537, 413),
    ],
)
def test_the_limit_is_exact(guarded: Client, path: str, size: int, status: int) -> None:
    half = b"x" * (size // 2)
    response = guarded.request("POST", path, body=[half, b"x" * (size - len(half))])
    assert response.status == status
    assert status == 413 or response.text == str(size)


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "9" * 30, "٣", ""])
def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    headers = Headers(raw=[(b"host", b"localhost"), (b"content-length", length.encode("utf-8"))])
    refusal = refusal_of("POST", "/api/enter", headers, LOCAL)
    assert refusal is not None
    assert refusal.status == 413


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json-patch+json", 415),
        (None, 415),
    ],
)
def test_a_form_of_another_site_cannot_send_what_a_route_reads(
    guarded: Client, kind: str | None, status: int
) -> None:
    assert guarded.request("POST", "/api/next", body=b"{}", headers={"content-type": kind}).status == status
    assert guarded.post("/api/next", headers={"content-type": kind}).status == 200  # nothing to read


def test_a_body_that_trickles_in_is_given_up(guarded: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "_PATIENCE", 0.0)

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {}

    body = asyncio.run(security._read_body(receive, "/api/enter"))
    assert isinstance(body, security.Refusal)
    assert body.status == 408


def test_a_browser_that_leaves_in_the_middle_saves_nothing(guarded: Client) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    assert isinstance(asyncio.run(security._read_body(receive, "/")), security.Refusal)


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


def test_https_is_remembered_where_it_is_used() -> None:
    response = Client(Guard(app=echo, site=HTTPS), host="judge.example.org").get("/")
    assert response.headers["strict-transport-security"].startswith("max-age=")


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
