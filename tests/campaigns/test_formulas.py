"""No file that people open in a spreadsheet has a cell that it would run, whoever named whatever."""

import csv
import time
from pathlib import Path

from adjudge.campaigns.campaign import read_links
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import Settings
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.formats.convert import content_of, write_content
from tests.campaigns.work import person, work_off

FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://x")',
    " =1",
    "\u200b=1",
    "\uff1d1",
    "%1",
    "|calc",
)
PEOPLE = [*FORMULAS[:5], *FORMULAS[7:], "'=1", "O'Neil", "''"]
LIVE = ("=", "+", "-", "@", "|", "%", "\uff1d", "\t", "\r", "\n", "\0")


def is_live(cell: str) -> bool:
    """Whether a spreadsheet would run a cell."""
    return cell.lstrip(" \u200b\ufeff").startswith(LIVE) and not cell.replace(".", "").isdecimal()


def test_names_texts_and_comments_are_no_formulas(tmp_path: Path) -> None:
    segments = tuple(
        Segment(
            segment=one, document=one, lp="en-de", source=one, translations={"=A1": f"{one} x", "@B": one}
        )
        for one in FORMULAS
    )
    settings = Settings(protocol="esa", assignment="pool")
    texts = TestSet(name="=set", segments=segments)
    campaign, links = new_campaign(tmp_path / "=c", texts, settings, PEOPLE, now=time.time())
    work_off(campaign, person(campaign), time.time(), rating=5, comment="=1+1")
    write_content(tmp_path / "out.csv", "spreadsheet", content_of(export_campaign(campaign)))
    campaign.database.close()
    for path in (tmp_path / "out.csv", tmp_path / "=c" / "links.csv"):
        rows = list(csv.reader(path.read_text("utf-8-sig").splitlines()))
        assert len(rows) > len(FORMULAS)
        assert [cell for row in rows for cell in row if is_live(cell)] == []
    assert read_links(tmp_path / "=c") == links
