"""Sources that are no text: copied under names of ours, and nothing from outside of their folder."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adjudge.campaigns import database
from adjudge.campaigns.tasks import find_media, place_media
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError
from tests.campaigns.conftest import MakeCampaign


def segment(number: int = 1, **meta: Any) -> Segment:
    return Segment(segment=str(number), lp="en-de", source="", translations={"A": "a"}, meta=meta)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    (folder / "deep").mkdir(parents=True)
    for name, content in {"x.png": b"1", "deep/Ünï 2.PNG": b"2", "same.jpg": b"1", "s.mp3": b"3"}.items():
        (folder / name).write_bytes(content)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    return folder


def test_files_are_copied_under_names_of_ours(make_campaign: MakeCampaign, folder: Path) -> None:
    sources = [
        segment(1, media="image", file="x.png"),
        segment(2, media="image", file="deep/Ünï 2.PNG"),
        segment(3, media="audio", file="s.mp3"),
        replace(segment(4), source="Plain text."),
        segment(5, media="image", file="x.png"),
    ]
    campaign, _ = make_campaign(test_set=TestSet(name="seen", segments=tuple(sources)), media=folder)
    with campaign.database.reading() as connection:
        columns = (database.item.c.segment, database.item.c.media, database.item.c.source)
        rows = {row.segment: row for row in connection.execute(select(*columns))}
    assert [rows[str(n)].media for n in range(1, 6)] == ["image", "image", "audio", "text", "image"]
    assert rows["4"].source == "Plain text."
    assert rows["1"].source == rows["5"].source
    contents = [(campaign.folder / rows[n].source).read_bytes() for n in ("1", "2", "3")]
    assert contents == [b"1", b"2", b"3"]
    names = sorted(path.name for path in (campaign.folder / "media").iterdir())
    assert all(len(name) == 36 and name.isascii() and name == name.lower() for name in names)
    assert len(names) == 3


def test_equal_files_are_one(folder: Path) -> None:
    named = find_media([segment(media="image", file="x.png")], folder)
    assert place_media(named) == place_media(find_media([segment(media="image", file="x.png")], folder))


@pytest.mark.parametrize(
    ("meta", "wrong"),
    [
        ({"media": "image", "file": "../secret.png"}, "outside"),
        ({"media": "image", "file": "deep/../../secret.png"}, "outside"),
        ({"media": "image", "file": "link.png"}, "outside"),
        ({"media": "image", "file": "/etc/x.png"}, "outside"),
        ({"media": "image", "file": "none.png"}, "no file"),
        ({"media": "image", "file": "a\0.png"}, "no name of a file"),
        ({"media": "image", "file": "x.svg"}, "media is one of"),
        ({"media": "image", "file": "x.html"}, "media is one of"),
        ({"media": "image", "file": "s.mp3"}, "media is one of"),
        ({"media": "image"}, "media is one of"),
        ({"media": "image", "file": 7}, "media is one of"),
        ({"media": "html", "file": "x.png"}, "media is one of"),
        ({"media": None, "file": "x.png"}, "media is one of"),
    ],
)
def test_what_is_no_media_file_of_the_folder_is_refused(
    folder: Path, meta: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(DataError, match=wrong) as caught:
        find_media([segment(**meta)], folder)
    assert "segment '1' of en-de" in str(caught.value)


def test_files_need_a_folder() -> None:
    with pytest.raises(DataError, match="no folder of media files was given"):
        find_media([segment(media="image", file="x.png")], None)
