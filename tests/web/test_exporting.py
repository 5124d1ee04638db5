"""Downloads of what is finished so far."""

import tempfile
from pathlib import Path

import pytest

from tests.web.conftest import House, OpenHouse


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_download_leaves_no_file_behind(house: House, temporary: Path) -> None:
    response = house.browser("organiser").get("/api/export/campaign")
    assert (response.status, response.text.count("\n")) == (200, 1)
    assert list(temporary.iterdir()) == []


def test_a_download_that_is_refused_leaves_no_file_behind_and_says_why(
    open_house: OpenHouse, temporary: Path
) -> None:
    house = open_house(protocol="mqm")
    response = house.browser("organiser").get("/api/export/mqm-tsv")
    expected = f"nobody has judged anything in {house.campaign.name} yet, and mqm-tsv cannot be empty"
    assert (response.status, response.json()["message"]) == (422, expected)
    assert list(temporary.iterdir()) == []
