"""What no page of ours sends: always a message, never an error of the server's, and nothing is stored."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select

from adjudge.campaigns.database import event
from tests.web.client import Client
from tests.web.conftest import House
from tests.web.test_api import change, items_of, start

SQL = ["' OR 1=1 --", "1; DROP TABLE event; --", '" OR ""="', "%' AND 1=CAST(1 AS TEXT) --", "\\'; --"]
BODIES = {
    "nothing": b" ",
    "half": b'{"assignment": 1',
    "no JSON": b"assignment=1",
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "NaN": b'{"assignment": NaN, "page": "p", "events": []}',
    "deep": b"[" * 60_000,
    "deep in a field": b'{"assignment": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a number of 5,000 digits": b'{"assignment": ' + b"9" * 5000 + b', "page": "p", "events": []}',
    "a number beyond the store's": b'{"assignment": 9223372036854775808, "page": "p", "events": []}',
    "a fraction beyond all": b'{"assignment": 1e999, "page": "p", "events": []}',
    "a mark in front": "\ufeff{}".encode(),
    "UTF-16": '{"assignment": 1}'.encode("utf-16"),
    "no UTF-8": b'{"page": "\xff\xfe"}',
    "half a surrogate pair": b'{"assignment": 1, "page": "\\ud800", "events": []}',
    "half a pair as a key": b'{"\\udfff": 1}',
    "NUL": b'{"assignment": 1, "page": "a\\u0000b", "events": []}',
    "raw NUL": b'{"assignment": 1, "page": "a\x00b", "events": []}',
    "a field too many": b'{"assignment": 1, "page": "p", "events": [], "admin": true}',
    "a field too few": b'{"assignment": 1, "events": []}',
    "a number as text": b'{"assignment": "1", "page": "p", "events": []}',
    "a truth as number": b'{"assignment": true, "page": "p", "events": []}',
    "no events": b'{"assignment": 1, "page": "p", "events": []}',
    "events of another kind": b'{"assignment": 1, "page": "p", "events": [1, null, "x", [], {}]}',
    "a prototype": b'{"__proto__": {"role": "organiser"}, "constructor": {}}',
}


@pytest.fixture
def client(house: House) -> Client:
    return house.browser("annotator-1")


def stored(house: House) -> int:
    with house.campaign.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(event)).scalar_one())


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_none_of_ours_gets_a_message(house: House, client: Client, body: bytes) -> None:
    organiser = house.browser("organiser")
    for path in ("/api/events", "/api/enter", "/api/sign-in"):
        response = client.request("POST", path, body=body)
        assert response.status in {400, 422}, (path, response.status, response.text)
        assert response.json()["message"]
    assert organiser.request("POST", "/api/people", body=body).status in {400, 422}
    assert stored(house) == 0


def wrong_values() -> list[Any]:
    """Values that no field takes."""
    return [
        None,
        True,
        "",
        "\x00",
        "\ud800",
        1.5,
        -1,
        2**63,
        2**64,
        10**400,
        [],
        {},
        [[]],
        "x" * 100_000,
        *SQL,
    ]


@pytest.mark.parametrize("field", ["id", "item", "base", "kind", "at", "state", "hashes", "active", "idle"])
def test_a_wrong_value_in_a_change_gets_a_message(house: House, client: Client, field: str) -> None:
    assignment = start(client)
    row = items_of(house, assignment)[0]
    for value in wrong_values():
        one = change(row) | {field: value}
        response = client.post("/api/events", {"assignment": assignment, "page": "p", "events": [one]})
        fits = field in {"at", "active", "idle"} and value == 1.5 and value is not True
        assert (response.status == 200) == fits, (field, value, response.text)
        assert fits or (response.status == 422 and response.json()["message"])


@pytest.mark.parametrize("field", ["assignment", "page", "events"])
def test_a_wrong_value_around_changes_gets_a_message(house: House, client: Client, field: str) -> None:
    assignment = start(client)
    for value in wrong_values():
        body = {"assignment": assignment, "page": "p", "events": [change(items_of(house, assignment)[0])]}
        response = client.post("/api/events", body | {field: value})
        assert response.status in {403, 422}, (field, value, response.text)
        assert response.json()["message"]
    assert stored(house) == 0


WRONG_STATES: dict[str, Any] = {
    "no translations": {"translations": []},
    "too many translations": {"translations": [{}, {}]},
    "a rating beyond the scale": {"translations": [{"rating": 1e9}]},
    "a rating between the steps": {"translations": [{"rating": 0.5}]},
    "a span beyond the text": {
        "translations": [{"spans": [{"id": "a", "start": 0, "end": 10**9, "text": "x", "severity": "minor"}]}]
    },
    "a span of other words": {
        "translations": [{"spans": [{"id": "a", "start": 0, "end": 3, "text": "xyz", "severity": "minor"}]}]
    },
    "a span before the text": {
        "translations": [{"spans": [{"id": "a", "start": -3, "end": 3, "text": "x", "severity": "minor"}]}]
    },
    "a severity of another protocol": {
        "translations": [{"spans": [{"id": "a", "start": 0, "end": 1, "text": "x", "severity": "critical"}]}]
    },
    "a field too many": {"translations": [{}], "score": 100},
    "a comment with NUL": {"translations": [{}], "comment": "\x00"},
    "a comment with half a pair": {"translations": [{}], "comment": "\udc00"},
    "a comment that is too long": {"translations": [{}], "comment": "x" * 20_001},
}


@pytest.mark.parametrize("state", WRONG_STATES.values(), ids=WRONG_STATES)
def test_a_state_that_cannot_be_is_refused_with_the_reason(house: House, client: Client, state: Any) -> None:
    assignment = start(client)
    one = change(items_of(house, assignment)[0], state=state)
    response = client.post("/api/events", {"assignment": assignment, "page": "p", "events": [one]})
    assert response.status == 422
    assert response.json()["message"]
    assert stored(house) == 0


@pytest.mark.parametrize(
    "path",
    [
        *("/work/0", "/work/-1", "/work/x", "/work/1.0", "/work/1e3", "/work/%00", "/work/१", "/work/ 1"),
        *("/work/9223372036854775808", "/work/" + "9" * 5000, "/work/1%20OR%201=1", "/work/'--"),
        *("/nothing", "/API/next", "//evil.example", "/work//", "/api", "/api/export/../campaign"),
        *("/api/export/zip", "/api/export/%2e%2e", "/dashboard/", "/.env", "/.git/config", "/admin"),
    ],
)
def test_an_address_that_leads_nowhere_is_a_page_that_says_so(
    house: House, client: Client, path: str
) -> None:
    for browser in (client, house.browser("organiser"), house.browser()):
        response = browser.get(path)
        assert response.status in {303, 401, 403, 404}, (response.status, response.text)
        assert response.status != 303 or response.headers["location"] == "/"


@pytest.mark.parametrize("value", [*SQL, "0", "-1", "9" * 30, "%00", "..", "1/../1"])
def test_numbers_in_addresses_are_numbers(house: House, value: str) -> None:
    organiser, client = house.browser("organiser"), house.browser("annotator-1")
    for path in ("/api/people/{}/link", "/api/people/{}/revoke", "/api/tasks/{}/release"):
        assert organiser.post(path.format(value)).status in {404, 422}
    assert client.post(f"/api/work/{value}/done", {}).status in {403, 404}
    assert client.get("/work").status == 200


def test_a_query_changes_nothing(house: House, client: Client) -> None:
    plain = client.get("/work").body
    for value in SQL:
        assert client.get(f"/work?id={value}&next=//evil.example&debug=1&_method=DELETE").body == plain


TRAVERSALS = [
    "../pages.py",
    "../../cli/main.py",
    "..%2fpages.py",
    "%2e%2e/pages.py",
    "%2e%2e%2fpages.py",
    "..%252fpages.py",
    "..\\pages.py",
    "..%5cpages.py",
    "..%c0%afpages.py",
    "....//pages.py",
    "js/../../pages.py",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "file:///etc/passwd",
    "adjudge.css%00.png",
    "%00",
    "",
    ".",
    "..",
    "js",
    "js/",
    "~root/.ssh/id_rsa",
    "con",
    "a" * 5000,
    "campaign.json",
    "../campaign.json",
    "../campaign.sqlite",
    "..%2flinks.csv",
    "links.csv",
]


@pytest.mark.parametrize("path", TRAVERSALS)
@pytest.mark.parametrize("folder", ["static", "media"])
def test_no_address_leads_out_of_its_folder(house: House, client: Client, folder: str, path: str) -> None:
    assert client.get(f"/{folder}/{path}").status == 404


def test_media_are_files_of_their_folder_and_no_links(house: House, client: Client) -> None:
    folder, name = house.campaign.folder / "media", "0123456789abcdef" * 2
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.png").write_bytes(b"png")
    (folder / f"{name}.html").write_text("<script>alert(1)</script>")
    (folder / f"{name}.svg").write_text("<svg onload='alert(1)'/>")
    (folder / f"{name}.jpg").symlink_to(house.campaign.folder / "campaign.json")
    (folder / "plain.png").write_bytes(b"png")
    response = client.get(f"/media/{name}.png")
    assert (response.status, response.headers["content-type"]) == (200, "image/png")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get(f"/media/{name}.png", headers={"range": "bytes=1-1"}).body == b"n"
    for hidden in (f"{name}.html", f"{name}.svg", f"{name}.jpg", "plain.png"):
        assert client.get(f"/media/{hidden}").status == 404


def test_own_files_have_their_type_and_are_not_sent_twice(house: House) -> None:
    client = house.browser()
    response = client.get("/static/js/api.js")
    assert response.headers["content-type"].startswith("text/javascript")
    again = client.get("/static/js/api.js", headers={"if-none-match": response.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "name", ["a\r\nSet-Cookie: x=1", "a\nb", "a\x00b", "", " ", "\u202e", "x" * 201, "\ud800"]
)
def test_a_name_that_cannot_be_seen_is_refused(house: House, name: str) -> None:
    response = house.browser("organiser").post("/api/people", {"name": name})
    assert response.status == 422
    assert response.json()["message"]


@pytest.mark.parametrize("name", ["Ann", "<b>Ann</b>", "Анна", "安娜", "آنا", *SQL])
def test_a_name_is_text_whatever_stands_in_it(house: House, name: str) -> None:
    response = house.browser("organiser").post("/api/people", {"name": name})
    assert response.status == 200
    assert response.json()["name"] == name
    secret = response.json()["path"].removeprefix("/#")
    client = house.browser()
    assert client.post("/api/enter", {"secret": secret}).json()["name"] == name
    assert "<b>Ann" not in client.get("/work").text


def test_an_error_page_says_nothing_of_what_was_sent(house: House, client: Client) -> None:
    probe = "<script>alert(1)</script>"
    for path in (f"/{probe}", f"/work/{probe}", f"/static/{probe}"):
        assert "alert" not in client.get(path).text
    response = client.request("POST", "/api/events", body=json.dumps({probe: 1}).encode())
    assert response.headers["content-type"] == "application/json"
