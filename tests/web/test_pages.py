"""The whole analysis, on a page."""

import re
from html import unescape

from adjudge.analysis.study import analyse
from adjudge.campaigns.exporting import export_campaign
from adjudge.reports.campaign_report import analysis_tables
from tests.campaigns.work import person, work_off
from tests.web.conftest import House, OpenHouse


def shown(house: House) -> str:
    response = house.browser("organiser").get("/dashboard/analysis")
    assert response.status == 200, response.text
    return response.text


def test_it_says_what_the_command_says(open_house: OpenHouse) -> None:
    house = open_house(annotators=["Zoë", "<b>Ben", "organ"], raters=2)
    for number in (0, 1):
        work_off(house.campaign, person(house.campaign, number), house.clock.now, rating=40 + 10 * number)
    page = shown(house)
    tables = analysis_tables(analyse(export_campaign(house.campaign)))
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*><bdi>(.*?)</bdi>", page, re.DOTALL)]
    assert cells == [cell for table in tables if len(table.columns) > 1 for row in table.rows for cell in row]
    titles = [unescape(title) for title in re.findall(r"<h2>(.*?)</h2>", page)]
    assert titles == [table.title or "What to mind" for table in tables]
    assert "<b>Ben" in cells
    assert "<b>Ben" not in page


def test_before_the_first_answer_it_says_that_there_is_none(house: House) -> None:
    page = shown(house)
    assert "What is there" in page
    assert '<time datetime="2025-10-09T08:53:20+00:00">2025-10-09 08:53 UTC</time>' in page
