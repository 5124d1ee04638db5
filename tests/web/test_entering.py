"""Sessions: how they begin, what they survive, how they end."""

import pytest

from adjudge.campaigns.people import IDLE, LONGEST, add_people, new_link, people, revoke, set_password
from adjudge.web.app import create_app
from tests.web.client import Client
from tests.web.conftest import House, OpenHouse

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
    assert (morsel["httponly"], morsel["samesite"], morsel["path"], morsel["domain"]) == (
        True,
        "strict",
        "/",
        "",
    )
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


@pytest.mark.parametrize("secret", ["wrong", "", "\ud800", "' OR 1=1 --", "x" * 5000, "\x00"])
def test_a_wrong_secret_lets_nobody_in(house: House, secret: str) -> None:
    client = house.browser()
    response = client.post("/api/enter", {"secret": secret})
    assert response.status in {401, 422}
    assert response.json()["message"]
    assert not client.cookies


def test_the_eleventh_wrong_secret_of_a_minute_waits_and_so_does_a_right_one_from_there(house: House) -> None:
    client = house.browser()
    assert [client.post("/api/enter", {"secret": "x"}).status for _ in range(11)] == [401] * 10 + [429]
    right = {"secret": house.links["annotator-1"].secret}
    response = client.post("/api/enter", right)
    assert (response.status, response.headers["retry-after"]) == (429, "60")
    assert house.browser(address="198.51.100.1").post("/api/enter", right).status == 200
    house.clock.now += 60
    assert client.post("/api/enter", right).status == 200


def test_passwords_and_links_share_their_guesses(house: House) -> None:
    client = house.browser()
    wrong = {"name": "organiser", "password": "wrong"}
    assert [client.post("/api/sign-in", wrong).status for _ in range(10)] == [401] * 10
    assert client.post("/api/enter", {"secret": "x"}).status == 429


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


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("organiser", "wrong"),
        ("nobody", PASSWORD),
        ("annotator-1", PASSWORD),
        ("organiser' --", PASSWORD),
        ("organiser", PASSWORD + "\ufeff"),
    ],
)
def test_which_of_name_and_password_is_wrong_is_not_said(house: House, name: str, password: str) -> None:
    set_password(house.campaign, number_of(house, "organiser"), PASSWORD, house.clock(), actor="command")
    response = house.browser().post("/api/sign-in", {"name": name, "password": password})
    assert response.status == 401
    assert response.json() == {"message": "name and password do not belong together"}


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


def test_every_way_in_begins_a_session_of_its_own(house: House) -> None:
    one, other = house.browser("annotator-1"), house.browser("annotator-1")
    assert one.cookies != other.cookies
    assert is_in(one)
    assert is_in(other)


def test_leaving_ends_the_session_wherever_its_cookie_is(house: House) -> None:
    client = house.browser("annotator-1")
    copy = house.browser()
    copy.cookies = dict(client.cookies)
    response = client.post("/api/leave")
    assert (response.status, response.json(), client.cookies) == (200, {"to": "/"}, {})
    assert not is_in(copy)
    assert client.post("/api/leave").status == 200


def test_who_is_revoked_is_out_at_once(house: House) -> None:
    client = house.browser("annotator-1")
    revoke(house.campaign, number_of(house, "annotator-1"), house.clock(), actor="command")
    assert not is_in(client)
    again = house.browser().post("/api/enter", {"secret": house.links["annotator-1"].secret})
    assert again.status == 401


def test_a_new_link_ends_the_old_one_and_its_sessions(house: House) -> None:
    client = house.browser("annotator-1")
    link = new_link(house.campaign, number_of(house, "annotator-1"), house.clock(), actor="command")
    assert not is_in(client)
    assert house.browser().post("/api/enter", {"secret": house.links["annotator-1"].secret}).status == 401
    assert house.browser().post("/api/enter", {"secret": link.secret}).status == 200


@pytest.mark.parametrize(("pause", "step"), [(IDLE + 1, 0.0), (LONGEST + 1, IDLE - 1)])
def test_a_session_ends_after_a_pause_and_after_a_week(house: House, pause: float, step: float) -> None:
    client, start = house.browser("annotator-1"), house.clock.now
    while step and house.clock.now + step < start + LONGEST:
        house.clock.now += step
        assert is_in(client)
    house.clock.now = start + pause
    assert not is_in(client)


def test_a_cookie_of_another_campaign_opens_nothing(house: House, open_house: OpenHouse) -> None:
    other = open_house()
    client = house.browser()
    client.cookies = dict(other.browser("annotator-1").cookies)
    assert not is_in(client)
    assert client.post("/api/enter", {"secret": other.links["annotator-1"].secret}).status == 401


def test_people_added_later_come_in_like_others(house: House) -> None:
    (link,) = add_people(house.campaign, ["Ann"], "annotator", house.clock(), actor="command")
    assert house.browser().post("/api/enter", {"secret": link.secret}).json()["name"] == "Ann"
