"""Downloads of what is finished so far."""

import json
import tempfile
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from sqlalchemy import func, select

from adjudge.campaigns.database import answer, event, item
from adjudge.campaigns.database import assignment as assignments
from adjudge.campaigns.items import text_hash
from adjudge.campaigns.people import new_link, people, set_password
from adjudge.web.app import create_app
from tests.campaigns.conftest import NOW
from tests.campaigns.work import person, work_off
from tests.web.client import Client, Response
from tests.web.conftest import House, OpenHouse

# Saving and finishing through the API: what is acknowledged, refused, stale, doubled.


Json = dict[str, Any]


def start(client: Client) -> int:
    """Get a task; its assignment."""
    response = client.post("/api/next")
    assert response.status == 200, response.text
    return int(response.json()["assignment"])


def items_of(house: House, assignment: int) -> list[Any]:
    """Rows of the items of an assignment, with the texts that the page shows."""
    query = select(item).join(assignments, assignments.c.task_id == item.c.task_id)
    with house.campaign.database.reading() as connection:
        return list(connection.execute(query.where(assignments.c.id == assignment).order_by(item.c.place)))


def change(row: Any, rating: float | None = 72, base: int = 0, **other: object) -> Json:
    """A change that rates a segment."""
    text = json.loads(row.translations)[0]["text"]
    state: Json = {"translations": [{"rating": rating, "spans": [], "missing": None, "removed": []}]}
    return {
        "id": str(uuid.uuid4()),
        "item": row.id,
        "base": base,
        "kind": "rate",
        "at": NOW,
        "state": state,
        "hashes": [text_hash(row.source), text_hash(text)],
        "active": 1.5,
        "idle": 0.0,
    } | other


def send(client: Client, assignment: int, *changes: Json, page: str = "page-1") -> Response:
    """Save changes."""
    return client.post("/api/events", {"assignment": assignment, "page": page, "events": list(changes)})


def count(house: House, table: Any) -> int:
    with house.campaign.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def test_a_task_is_rated_and_finished_and_the_next_one_follows(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    assert start(client) == assignment
    rows = items_of(house, assignment)
    response = send(client, assignment, *(change(row) for row in rows))
    assert response.status == 200, response.text
    assert [(one["item"], one["revision"], one["complete"]) for one in response.json()["saved"]] == [
        (row.id, 1, True) for row in rows
    ]
    kept = client.get(f"/api/work/{assignment}").json()["items"]
    assert [(one["id"], one["revision"], one["complete"]) for one in kept] == [
        (row.id, 1, True) for row in rows
    ]
    assert kept[0]["state"]["translations"][0]["rating"] == 72
    done = client.post(f"/api/work/{assignment}/done", {})
    assert done.status == 200
    assert done.json()["next"]["assignment"] != assignment


def test_the_overview_says_how_much_is_done_and_how_much_is_left(open_house: OpenHouse) -> None:
    for how, before, after in (
        ("static", "Segments: 0 done, 12 to do.", "Segments: 12 done, 0 to do."),
        ("pool", "", "Segments: 12 done."),
    ):
        house = open_house(annotators=1, raters=1, assignment=how)
        client = house.browser("annotator-1")
        assert before in client.get("/work").text
        assert bool(before) == ("Segments:" in client.get("/work").text)
        work_off(house.campaign, person(house.campaign), house.clock.now)
        assert after in client.get("/work").text


def test_when_nothing_is_left_the_page_is_told_so_with_the_code(open_house: OpenHouse) -> None:
    house = open_house(code_pass="THANKS", code_fail="SORRY")
    client = house.browser("annotator-1")
    assignment: int | None = start(client)
    while assignment is not None:
        assert send(client, assignment, *(change(row) for row in items_of(house, assignment))).status == 200
        following = client.post(f"/api/work/{assignment}/done", {}).json()["next"]
        assignment = following and following["assignment"]
    told = {"assignment": None, "done": True, "code": "THANKS", "held": 0, "why": ""}
    assert client.post("/api/next").json() == told


def test_who_did_a_days_portion_is_asked_to_come_again_and_gets_no_code(open_house: OpenHouse) -> None:
    house = open_house(annotators=1, raters=1, code_pass="THANKS", ratings_a_day=1)
    work_off(house.campaign, person(house.campaign), house.clock.now)
    told = {"assignment": None, "done": False, "code": "", "held": 0, "why": "tomorrow"}
    assert house.browser("annotator-1").post("/api/next").json() == told


def test_who_waits_for_what_others_hold_is_told_how_much(open_house: OpenHouse) -> None:
    house = open_house(annotators=2, raters=1, assignment="pool")
    other, client = house.browser("annotator-2"), house.browser("annotator-1")
    start(other)
    work_off(house.campaign, person(house.campaign), house.clock.now)
    told = {"assignment": None, "done": True, "code": "", "held": 2, "why": ""}
    assert client.post("/api/next").json() == told


def test_the_end_of_a_task_carries_its_last_changes(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    first, *rest = items_of(house, assignment)
    path = f"/api/work/{assignment}/done"
    stray = {**change(first), "item": 10**6}
    refused = client.post(path, {"page": "p1", "events": [change(first), stray]})
    assert refused.status == 422
    assert [one["item"] for one in refused.json()["saved"]] == [first.id]
    comment = {**change(first, base=1, kind="comment"), "id": "c1"}
    unfinished = client.post(path, {"page": "p1", "events": [comment]})
    assert unfinished.status == 409
    assert [one["id"] for one in unfinished.json()["saved"]] == ["c1"]
    events = [change(row) for row in rest]
    last = {"page": "p1", "events": events}
    done = client.post(path, last)
    assert done.status == 200
    assert [one["item"] for one in done.json()["saved"]] == [row.id for row in rest]
    page = client.get(f"/work/{done.json()['next']['assignment']}").text
    assert json.loads(page.partition('id="data">')[2].partition("<")[0]) == done.json()["next"]
    assert [one["id"] for one in client.post(path, last).json()["saved"]] == [one["id"] for one in events]


def test_an_unfinished_task_says_what_is_to_do(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    rows = items_of(house, assignment)
    send(client, assignment, change(rows[0], rating=None, kind="comment"))
    response = client.post(f"/api/work/{assignment}/done", {})
    assert response.status == 409
    todo = {"item": rows[0].id, "ok": False, "says": ["segment 1: a rating is missing"]}
    assert response.json()["feedback"][0] == todo
    assert response.json()["message"]


def test_each_step_of_an_annotator_takes_one_turn_of_a_thread(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    changes = [change(row) for row in items_of(house, assignment)]
    run, turns = to_thread.run_sync, []

    async def noted(*args: Any, **named: Any) -> Any:
        turns.append(args)
        return await run(*args, **named)

    monkeypatch.setattr(to_thread, "run_sync", noted)
    steps: list[Callable[[], Response]] = [
        lambda: send(client, assignment, *changes),
        lambda: client.post(f"/api/work/{assignment}/done", {}),
        lambda: client.post("/api/next"),
        lambda: client.get(f"/work/{assignment}"),
    ]
    for taken, step in enumerate(steps, start=1):
        assert step().status == 200
        assert len(turns) == taken


def test_a_click_that_is_sent_by_many_threads_counts_once(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    one = change(items_of(house, assignment)[0])
    body = {"assignment": assignment, "page": "page-1", "events": [one]}

    def from_another_thread(_: int) -> int:
        other = Client(house.app, cookies=dict(client.cookies))
        return other.post("/api/events", body).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(from_another_thread, range(40))) == {200}
    assert (count(house, event), count(house, answer)) == (1, 1)


def test_a_stale_page_gets_the_newer_state_and_writes_nothing(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    row = items_of(house, assignment)[0]
    send(client, assignment, change(row, rating=10), page="one")
    response = send(client, assignment, change(row, rating=90), page="other")
    assert response.status == 409
    assert response.json()["message"]
    (stale,) = response.json()["stale"]
    assert (stale["item"], stale["revision"], stale["state"]["translations"][0]["rating"]) == (row.id, 1, 10)
    assert count(house, event) == 1


def test_what_cannot_be_is_refused_with_the_reason_and_the_rest_is_saved(house: House) -> None:
    client = house.browser("annotator-1")
    assignment = start(client)
    rows = items_of(house, assignment)
    wrong = change(rows[0], rating=101)
    response = send(client, assignment, wrong, *(change(row) for row in rows[1:]))
    assert response.status == 422
    (refused,) = response.json()["refused"]
    assert (refused["id"], refused["item"]) == (wrong["id"], rows[0].id)
    assert "0 to 100" in refused["why"]
    assert response.json()["message"] == refused["why"]
    assert len(response.json()["saved"]) == len(rows) - 1
    assert house.browser().post("/api/events", {"no": "change"}).status == 401, "whatever they send"


def test_another_persons_task_is_nobody_elses(house: House) -> None:
    owner, other = house.browser("annotator-1"), house.browser("annotator-2")
    assignment = start(owner)
    one = change(items_of(house, assignment)[0])
    assert send(other, assignment, one).status == 403
    assert other.post(f"/api/work/{assignment}/done", {}).status == 403
    assert send(house.browser("organiser"), assignment, one).status == 403
    assert count(house, event) == 0


def test_a_flood_of_changes_is_slowed_down_and_an_annotator_never_is(house: House) -> None:
    client = house.browser("annotator-1")
    window = house.app.state.served.changes
    assert window.most / window.seconds >= 20  # a page sends some in a second at the very most
    window.most = 20
    assert {client.post("/api/next").status for _ in range(20)} == {200}
    response = client.post("/api/next")
    assert response.status == 429
    assert int(response.headers["retry-after"]) > 0
    assert house.browser("annotator-2").post("/api/next").status == 200
    house.clock.now += 60
    assert client.post("/api/next").status == 200


# Sessions: how they begin, what they survive, how they end.


PASSWORD = "correct horse battery"


def number_of(house: House, name: str) -> int:
    return next(person.id for person in people(house.campaign) if person.name == name)


def is_in(client: Client) -> bool:
    """Whether the browser has a session."""
    response = client.get("/media/nothing.png")
    assert response.status in {303, 404}
    return response.status == 404


def test_a_link_becomes_a_session_and_says_where_to_go(house: House) -> None:
    client = house.browser()
    assert not is_in(client)
    response = client.post("/api/enter", {"secret": house.links["annotator-1"].secret})
    assert response.json() == {"name": "annotator-1", "role": "annotator", "to": "/work"}
    assert is_in(client)
    organiser = house.browser().post("/api/enter", {"secret": house.links["organiser"].secret})
    assert organiser.json()["to"] == "/dashboard"


def test_the_cookie_is_kept_from_scripts_and_other_sites(house: House) -> None:
    response = house.browser().post("/api/enter", {"secret": house.links["annotator-1"].secret})
    morsel = response.cookies["adjudge"]
    said = {name: morsel[name] for name in ("httponly", "samesite", "path", "domain")}
    assert said == {"httponly": True, "samesite": "strict", "path": "/", "domain": ""}
    assert len(morsel.value) >= 43  # 256 bits


def test_on_https_the_cookie_is_bound_to_the_host(house: House) -> None:
    app = create_app(house.campaign, public_url="https://judge.example.org", clock=house.clock)
    client = Client(app, host="judge.example.org")
    response = client.post("/api/enter", {"secret": house.links["annotator-1"].secret})
    morsel = response.cookies["__Host-adjudge"]
    assert (morsel["secure"], morsel["path"], morsel["domain"]) == (True, "/", "")
    assert is_in(client)
    client.cookies = {"adjudge": client.cookies["__Host-adjudge"]}
    assert not is_in(client)


def test_the_eleventh_wrong_secret_of_a_minute_waits_and_so_does_a_right_one_from_there(house: House) -> None:
    client = house.browser()
    assert [client.post("/api/enter", {"secret": "x"}).status for _ in range(11)] == [401] * 10 + [429]
    right = {"secret": house.links["annotator-1"].secret}
    response = client.post("/api/enter", right)
    assert (response.status, response.headers["retry-after"]) == (429, "60")
    assert house.browser(address="198.51.100.1").post("/api/enter", right).status == 200
    house.clock.now += 60
    assert client.post("/api/enter", right).status == 200
    wrong = {"name": "organiser", "password": "wrong"}
    assert [client.post("/api/sign-in", wrong).status for _ in range(10)] == [401] * 10
    assert client.post("/api/enter", {"secret": "x"}).status == 429, "passwords and links share their guesses"


def test_an_address_that_a_browser_claims_to_forward_for_counts_nothing(house: House) -> None:
    client = house.browser()
    for number in range(10):
        forged = {"x-forwarded-for": f"198.51.100.{number}", "forwarded": f"for=198.51.100.{number}"}
        client.post("/api/enter", {"secret": "x"}, headers=forged)
    assert (
        client.post("/api/enter", {"secret": "x"}, headers={"x-forwarded-for": "203.0.113.9"}).status == 429
    )


def test_an_organiser_signs_in_with_a_password(house: House) -> None:
    set_password(house.campaign, number_of(house, "organiser"), PASSWORD, house.clock(), actor="command")
    client = house.browser()
    assert '<a href="/sign-in">' in client.get("/").text
    response = client.post("/api/sign-in", {"name": "organiser", "password": PASSWORD})
    assert response.json()["to"] == "/dashboard"
    assert is_in(client)


def test_a_session_planted_before_is_not_the_one_that_begins(house: House) -> None:
    attacker = house.browser("annotator-2")
    victim = house.browser()
    victim.cookies = dict(attacker.cookies)
    response = victim.post("/api/enter", {"secret": house.links["annotator-1"].secret})
    assert response.cookies["adjudge"].value != attacker.cookies["adjudge"]
    assert not is_in(attacker)
    planted = house.browser()
    planted.cookies = {"adjudge": "chosen-by-somebody"}
    planted.post("/api/enter", {"secret": house.links["annotator-1"].secret})
    assert planted.cookies["adjudge"] != "chosen-by-somebody"


def test_a_new_link_ends_the_old_one_and_its_sessions(house: House) -> None:
    client = house.browser("annotator-1")
    link = new_link(house.campaign, number_of(house, "annotator-1"), house.clock(), actor="command")
    assert not is_in(client)
    assert house.browser().post("/api/enter", {"secret": house.links["annotator-1"].secret}).status == 401
    assert house.browser().post("/api/enter", {"secret": link.secret}).status == 200


def test_name_and_password_must_belong_together_and_which_is_wrong_is_not_said(house: House) -> None:
    set_password(house.campaign, number_of(house, "organiser"), PASSWORD, house.clock(), actor="command")
    wrong = [
        ("organiser", "wrong"),
        ("Organiser", PASSWORD),
        ("nobody", PASSWORD),
        ("annotator-1", PASSWORD),
        ("organiser' --", PASSWORD),
        ("organiser", PASSWORD + "\ufeff"),
    ]
    for name, password in wrong:
        response = house.browser().post("/api/sign-in", {"name": name, "password": password})
        assert response.status == 401, name
        assert response.json() == {"message": "name and password do not belong together"}
        house.clock.now += 60


def test_leaving_ends_the_session_wherever_its_cookie_is_and_no_other(house: House) -> None:
    client, other = house.browser("annotator-1"), house.browser("annotator-1")
    copy = house.browser()
    copy.cookies = dict(client.cookies)
    response = client.post("/api/leave")
    assert (response.status, response.json(), client.cookies) == (200, {"to": "/"}, {})
    assert (is_in(copy), is_in(other)) == (False, True)
    assert client.post("/api/leave").status == 200


def test_a_download_made_or_refused_leaves_no_file_behind(
    open_house: OpenHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, empty = open_house(), tmp_path / "temporary"
    empty.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(empty))
    made = house.browser("organiser").get("/api/export/campaign")
    assert (made.status, made.text.count("\n")) == (200, 1)
    refused = house.browser("organiser").get("/api/export/mqm-tsv")
    assert refused.status == 422
    assert f"nobody has judged anything in {house.campaign.name} yet" in refused.json()["message"]
    assert list(empty.iterdir()) == []
