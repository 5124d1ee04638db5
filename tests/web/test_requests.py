"""What no page of ours sends: always a message, never an error of the server's, and nothing is stored."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select

from adjudge.campaigns.database import event
from tests.web.client import Client
from tests.web.conftest import House
from tests.web.test_api import change, items_of, send, start

SQL = ["' OR 1=1 --", "1; DROP TABLE event; --", '" OR ""="', "%' AND 1=CAST(1 AS TEXT) --", "\\'; --"]
NUMBERS = [True, 1.5, -1, 2**63, 10**400]
WRONG: list[Any] = [None, *NUMBERS, "", "\x00", "\ud800", [], {}, [[]], "x" * 100_000, *SQL]
BODIES = {
    "nothing": b" ",
    "half": b'{"assignment": 1',
    "no JSON": b"assignment=1",
    "null": b"null",
    "deep": b"[" * 60_000,
    "a number of 5,000 digits": b'{"assignment": ' + b"9" * 5000 + b', "page": "p", "events": []}',
    "a number beyond the store's": b'{"assignment": 9223372036854775808, "page": "p", "events": []}',
    "a mark in front": "\ufeff{}".encode(),
    "no UTF-8": b'{"page": "\xff\xfe"}',
    "half a surrogate pair": b'{"assignment": 1, "page": "\\ud800", "events": []}',
    "NUL": b'{"assignment": 1, "page": "a\\u0000b", "events": []}',
    "a field too many": b'{"assignment": 1, "page": "p", "events": [], "admin": true}',
    "a field too few": b'{"assignment": 1, "events": []}',
    "a number as text": b'{"assignment": "1", "page": "p", "events": []}',
    "a truth as number": b'{"assignment": true, "page": "p", "events": []}',
    "events of another kind": b'{"assignment": 1, "page": "p", "events": [1, null, "x", [], {}]}',
    "a prototype": b'{"__proto__": {"role": "organiser"}, "constructor": {}}',
}


@pytest.fixture
def client(house: House) -> Client:
    return house.browser("annotator-1")


def stored(house: House) -> int:
    with house.campaign.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(event)).scalar_one())


@pytest.mark.parametrize("field", ["id", "item", "base", "kind", "at", "state", "hashes", "active", "idle"])
def test_a_wrong_value_in_a_change_gets_a_message(house: House, client: Client, field: str) -> None:
    assignment = start(client)
    row = items_of(house, assignment)[0]
    for value in WRONG:
        response = send(client, assignment, change(row) | {field: value})
        fits = field in {"at", "active", "idle"} and value == 1.5
        assert (response.status == 200) == fits, (field, value, response.text)
        assert fits or (response.status == 422 and response.json()["message"])


def test_a_query_changes_nothing(house: House, client: Client) -> None:
    plain = client.get("/work").body
    for value in SQL:
        assert client.get(f"/work?id={value}&next=//evil.example&debug=1&_method=DELETE").body == plain


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


def test_an_error_page_says_nothing_of_what_was_sent(house: House, client: Client) -> None:
    probe = "<script>alert(1)</script>"
    for path in (f"/{probe}", f"/work/{probe}", f"/static/{probe}"):
        assert "alert" not in client.get(path).text
    response = client.request("POST", "/api/events", body=json.dumps({probe: 1}).encode())
    assert response.headers["content-type"] == "application/json"


def test_bodies_that_are_none_of_ours_get_a_message(house: House, client: Client) -> None:
    organiser, wrong = house.browser("organiser"), []
    for name, body in BODIES.items():
        for path in ("/api/events", "/api/enter", "/api/sign-in", "/api/people"):
            sender = organiser if path == "/api/people" else client
            response = sender.request("POST", path, body=body)
            if response.status not in {400, 422} or not response.json()["message"]:
                wrong.append((name, path, response.status, response.text))
    assert not wrong
    assert stored(house) == 0


def test_a_wrong_value_around_changes_gets_a_message(house: House, client: Client) -> None:
    assignment = start(client)
    body = {"assignment": assignment, "page": "p", "events": [change(items_of(house, assignment)[0])]}
    for field in body:
        for value in WRONG:
            response = client.post("/api/events", body | {field: value})
            assert response.status in {403, 422}, (field, value, response.text)
            assert response.json()["message"]
    assert stored(house) == 0


def test_addresses_that_lead_nowhere_are_pages_that_say_so(house: House, client: Client) -> None:
    numbers = ["0", "-1", "x", "1.0", "%00", "१", " 1", "9223372036854775808", "9" * 5000, "1%20OR%201=1"]
    others = ["nothing", "API/next", "/evil.example", "work//", "api/export/../campaign", "api/export/zip"]
    paths = [f"/work/{number}" for number in numbers] + [f"/{other}" for other in [*others, ".git/config"]]
    wrong = []
    for browser in (client, house.browser("organiser"), house.browser()):
        for path in paths:
            response = browser.get(path)
            if not (response.status == 303 and response.headers["location"] == "/"):
                wrong += [(path, response.status)] * (response.status not in {401, 403, 404})
    assert not wrong


def test_numbers_in_addresses_are_numbers(house: House) -> None:
    organiser, client = house.browser("organiser"), house.browser("annotator-1")
    for value in [*SQL, "0", "-1", "9" * 30, "%00", "..", "1/../1"]:
        for path in ("/api/people/{}/link", "/api/people/{}/revoke", "/api/tasks/{}/release"):
            assert organiser.post(path.format(value)).status in {404, 422}, (path, value)
        assert client.post(f"/api/work/{value}/done", {}).status in {403, 404}, value
    assert client.get("/work").status == 200


def test_no_address_leads_out_of_its_folder(client: Client) -> None:
    up = ["../", "..%2f", "%2e%2e/", "..%252f", "..\\", "..%5c", "..%c0%af", "....//", "js/../../"]
    files = ["pages.py", "campaign.json", "campaign.sqlite", "links.csv"]
    rest = ["/etc/passwd", "%2fetc%2fpasswd", "file:///etc/passwd", "adjudge.css%00.png", "~root/.ssh/id_rsa"]
    names = [f"{step}{file}" for step in ["", *up] for file in files]
    targets = [*names, *rest, "%00", "", ".", "..", "js", "js/", "a" * 5000]
    found = {f"/{folder}/{target}" for folder in ("static", "media") for target in targets}
    assert [target for target in found if client.get(target).status != 404] == []


def test_a_name_is_text_whatever_stands_in_it(house: House) -> None:
    organiser = house.browser("organiser")
    for name in ["Ann", "<b>Ann</b>", "Анна", "安娜", "آنا", *SQL]:
        made = organiser.post("/api/people", {"name": name})
        assert (made.status, made.json()["name"]) == (200, name)
        client = house.browser()
        entered = client.post("/api/enter", {"secret": made.json()["path"].removeprefix("/#")})
        assert entered.json()["name"] == name
        assert "<b>Ann" not in client.get("/work").text
