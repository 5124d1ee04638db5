"""Every route, and seven people who knock: no answer of success but those written here.

A route that has no row here fails the first test, and so does a row without a route.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import select

from adjudge.campaigns.database import METADATA
from adjudge.campaigns.people import Link, people, revoke
from tests.campaigns.conftest import make_test_set, opener
from tests.web.client import Client, Response
from tests.web.conftest import House, copy_of
from tests.web.test_annotating import change, items_of, send, start

ACTORS = ("organiser", "owner", "other", "stranger", "link", "nobody", "revoked")
"""Who: has everything; has the task; has another one; is of another campaign; has a link and has not opened
it; has nothing; was shut out with the session still in the browser."""

INSIDERS = {"organiser", "owner", "other"}
ANNOTATORS = {"owner", "other"}
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
    return client.post(f"/api/work/{scene.assignment}/done")


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
    "POST /api/events": (save_something, OWNER),
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
            make(annotators=4, assignment="pool", redundancy=2) for _ in range(2)
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
        "revoked": "annotator-4",
    }
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
            assert client.post(f"/api/work/{scene.assignment}/done").status in {400, 403}
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
