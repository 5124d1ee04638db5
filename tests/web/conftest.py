"""A served campaign, and one browser for each kind of person who may knock."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fastapi import FastAPI

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import Campaign
from adjudge.campaigns.people import Link
from adjudge.web.app import create_app
from tests.campaigns.conftest import NOW, MakeCampaign, make_test_set, opener, server_store
from tests.web.client import Client


@dataclass
class Clock:
    """Stands still until a test moves it."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class House:
    """A campaign and its server."""

    campaign: Campaign
    links: dict[str, Link]
    clock: Clock = field(default_factory=Clock)
    app: FastAPI = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(self.campaign, clock=self.clock)

    def browser(self, name: str | None = None, *, address: str = "192.0.2.7") -> Client:
        """A browser; with a name, one in which that person opened their link."""
        client = Client(self.app, address=address)
        if name is not None:
            response = client.post("/api/enter", {"secret": self.links[name].secret})
            assert response.status == 200, response.text
        return client


OpenHouse = Callable[..., House]


@pytest.fixture(scope="session", autouse=True)
def _cheap(cheap_passwords: None) -> None:
    """No test of this folder needs a hash that withstands anybody."""


@pytest.fixture
def make_campaign(tmp_path: Path) -> Iterator[MakeCampaign]:
    """Make campaigns in SQLite, over six segments in three documents."""
    yield from opener(tmp_path, make_test_set("en-de"), None)


@pytest.fixture
def make_campaign_on_a_server(tmp_path: Path) -> Iterator[MakeCampaign]:
    """The same with a store on a PostgreSQL server."""
    for database in server_store():
        yield from opener(tmp_path, make_test_set("en-de"), database)


@pytest.fixture
def open_house(make_campaign: MakeCampaign) -> OpenHouse:
    """Serve a new campaign; arguments are those of `make_campaign`."""

    def make(**settings: object) -> House:
        campaign, links = make_campaign(**{"assignment": "pool", "raters": 2, **settings})
        return House(campaign, {link.name: link for link in links})

    return make


def copy_of(house: House, folder: Path) -> House:
    """The same house somewhere else, as it stands: quicker than to build one."""
    house.campaign.database.close()
    shutil.copytree(house.campaign.folder, folder)
    return House(open_campaign(folder), house.links, Clock(house.clock.now))


@pytest.fixture(scope="session")
def model_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """What `house` is a copy of."""
    for make in opener(tmp_path_factory.mktemp("model"), make_test_set("en-de"), None):
        campaign, links = make(assignment="pool", raters=2)
        yield House(campaign, {link.name: link for link in links})


@pytest.fixture
def house(model_house: House, tmp_path: Path) -> Iterator[House]:
    """An ESA campaign of three people."""
    house = copy_of(model_house, tmp_path / "house")
    yield house
    house.campaign.database.close()
