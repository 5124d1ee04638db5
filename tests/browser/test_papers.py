"""Campaigns as papers did them, from a test set to their table of agreement, by people in a browser."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from adjudge.analysis.study import Analysis, analyse
from adjudge.campaigns.again import apply_gate
from adjudge.campaigns.dashboard import dashboard
from adjudge.campaigns.exporting import export_campaign, stream_submissions
from adjudge.core.segment import Segment
from adjudge.core.segment import TestSet as Texts
from adjudge.curation.settling import settle
from adjudge.formats.campaign_export import final_records
from adjudge.reports.campaign_report import analysis_tables
from adjudge.reports.tables import render_table
from adjudge.stats.bootstrap import Draws
from tests.browser.served import Site, serving, visit

pytestmark = pytest.mark.browser

Rate = Callable[[str, str], int]
"""Segment and system to a rating."""


def value(found: Analysis, section: str, of: str, measure: str) -> float | None:
    numbers = found.section(section).numbers
    (one,) = (n for n in numbers if (n.of, n.measure) == (of, measure))
    return one.result.value


def sources(count: int, systems: int) -> Texts:
    """Sources that stand alone; a translation says what it is of."""
    return Texts(
        name="ment",
        segments=tuple(
            Segment(
                segment=f"s{n}",
                lp="zh-en",
                source=f"来源 {n}",
                translations={f"System{x}": f"Text {x} of s{n}" for x in range(systems)},
            )
            for n in range(count)
        ),
    )


def rate_page(page: Page, rate: Rate) -> None:
    """Rate every translation of the one source on a page, as its text says."""
    for translation in page.locator(".translation").all():
        _, system, _, segment = translation.locator(".text").inner_text().split()
        translation.locator(f"input[type=radio][value='{rate(segment, system)}']").check()


def work_through(
    browser: Browser, site: Site, place: int, rate: Rate, *, systems: int, says: str = "Everything is done"
) -> int:
    """Do all that a person is given, until the page says so; how many pages that was."""
    found = visit(browser, site, place)
    page, pages = found.page, 0
    page.locator("#go").click()
    while True:
        page.wait_for_selector("body[data-ready], #end:not([hidden]) h2")
        if not page.url.rsplit("/", 1)[1].isdigit():
            expect(page.locator("#end h2")).to_contain_text(says)
            break
        expect(page.locator(".translation")).to_have_count(systems)
        rate_page(page, rate)
        found.settle()
        page.evaluate("document.body.removeAttribute('data-ready')")
        page.get_by_role("button", name="Finish").click()
        pages += 1
    assert not found.misdeeds
    found.context.close()
    return pages


def test_ment_two_people_rate_ten_systems_the_gate_asks_again_and_their_agreement_is_told(
    chromium: Browser, tmp_path: Path
) -> None:
    """Two pages a day, a source on which they differ, a second round, and the table of agreement."""
    day = 0
    people = {
        "protocol": "contrastive-sqm",
        "assignment": "static",
        "raters": 2,
        "pairs_of_people": True,
        "ratings_a_day": 20,
        "clock": lambda: time.time() + 86_400 * day,
    }

    def steady(_: str, system: str) -> int:
        return int(system) // 2

    def contrary(segment: str, system: str) -> int:
        return 4 - int(system) // 2 if segment == "s1" else int(system) // 2

    with serving(tmp_path / "ment", sources(3, 10), ["ann", "ben"], **people) as site:
        work = partial(work_through, chromium, site, systems=10)
        for day, pages in enumerate((2, 1)):
            words = ("enough for today", "Everything is done")[day]
            assert work(0, steady, says=words) == work(1, contrary, says=words) == pages
        first = apply_gate(site.campaign, time.time() + 86_400 * day, actor="test")
        assert (first.first, first.failed, first.unjudged) == (3, 1, 0)
        before = analyse(export_campaign(site.campaign), draws=Draws(resamples=20))
        assert value(before, "annotators", "all", "share of segments with r of 0.7") == pytest.approx(2 / 3)
        assert work(0, steady) == work(1, steady) == 1, "the same two people judge s1 anew"
        second = apply_gate(site.campaign, time.time() + 86_400 * day, actor="test")
        assert (second.second, second.dropped) == (1, 0)
        found = analyse(export_campaign(site.campaign), draws=Draws(resamples=20))
    assert value(found, "annotators", "ann and ben", "Pearson over systems") == pytest.approx(1)
    assert value(found, "annotators", "all", "share of segments with r of 0.7") == 1
    tables = [render_table(table, "table") for table in analysis_tables(found)]
    assert any("ann and ben" in text and "Pearson within segments" in text for text in tables)


CRITERIA = ("faithfulness", "fluency", "style", "overall")
WORDS = {"A": "A is better", "E": "equally good", "B": "B is better"}
TEST = """
[[items]]
source = "One."
translations = ["A: one.", "B: two."]
says = "Say that the first one is better."
expects = { verdicts = { faithfulness = "A", overall = "A" } }
"""


def compare_page(page: Page, prefer: Callable[[str, str], str | None]) -> None:
    """Say of every criterion which translation is better; None: neither."""
    shown = page.locator(".translation .text").all_inner_texts()
    source = page.locator(".source .text").inner_text()
    for criterion in CRITERIA:
        better = prefer(source, criterion)
        side = "E" if better is None else "A" if better in shown[0] else "B"
        page.get_by_role("group", name=criterion.capitalize()).get_by_label(WORDS[side]).check()


def compare_all(
    browser: Browser, site: Site, place: int, prefer: Callable[[str, str], str | None], says: str
) -> int:
    """Compare all that a person is given, until the page says so; how many pages that was."""
    found = visit(browser, site, place)
    page, pages = found.page, 0
    page.locator("#go").click()
    while True:
        page.wait_for_selector("body[data-ready], #end:not([hidden]) h2")
        if not page.url.rsplit("/", 1)[1].isdigit():
            expect(page.locator("#end h2")).to_contain_text(says)
            break
        assert "Say that the first" not in page.locator("main").inner_text()
        compare_page(page, prefer)
        found.settle()
        page.evaluate("document.body.removeAttribute('data-ready')")
        page.get_by_role("button", name="Finish").click()
        pages += 1
    assert not found.misdeeds
    found.context.close()
    return pages


def test_fire_three_people_pass_a_test_and_compare_and_kappa_majority_easy_and_hard_are_told(
    chromium: Browser, tmp_path: Path
) -> None:
    """Of four pairs all agree on two, two of three agree on one, and three say three things of one."""
    texts = Texts(
        name="fire",
        segments=tuple(
            Segment(
                segment=f"{n}", lp="en-zh", source=f"Source {n}", translations={"X": f"X {n}", "Y": f"Y {n}"}
            )
            for n in range(4)
        ),
    )
    (tmp_path / "test.toml").write_text(TEST)
    said = {"Source 0": "XXX", "Source 1": "YYY", "Source 2": "XXE", "Source 3": "XYE"}

    def who(number: int) -> Callable[[str, str], str | None]:
        def prefer(source: str, _: str) -> str | None:
            better = "A: one" if source == "One." else said[source][number]
            return None if better == "E" else better

        return prefer

    settings = {
        "protocol": "pairwise",
        "assignment": "static",
        "raters": 3,
        "tutorial": True,
        "tutorial_file": tmp_path / "test.toml",
        "pass_mark": 1.0,
    }
    with serving(tmp_path / "fire", texts, ["ann", "ben", "cem"], **settings) as site:
        for number in range(3):
            assert compare_all(chromium, site, number, who(number), "Everything is done") == 5
        agreement = dashboard(site.campaign, time.time())["agreement"]
        records, _ = final_records(stream_submissions(site.campaign))
    told = {one["criterion"]: one["value"] for one in agreement if one["name"] == "Fleiss kappa"}
    assert set(told) == set(CRITERIA)
    agreed = settle(records)
    assert {one.criterion for one in agreed} == set(CRITERIA)
    for one in agreed:
        assert told[one.criterion] == pytest.approx(one.kappa.value)
        assert (one.judged, one.split, one.ranked, one.tied, one.easy, one.hard) == (4, 1, 3, 0, 2, 1)
        assert {p.segment: p.verdict for p in one.gold} == {"0": "A", "1": "B", "2": "A"}


def test_fire_who_does_not_pass_the_test_gets_no_pairs(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "test.toml").write_text(TEST)
    with serving(
        tmp_path / "fire",
        sources(2, 2),
        protocol="pairwise",
        tutorial=True,
        tutorial_file=tmp_path / "test.toml",
        pass_mark=1.0,
    ) as site:
        assert compare_all(chromium, site, 0, lambda *_: "B: two", "did not pass the test") == 1
        with chromium.new_context() as context:
            page = context.new_page()
            page.goto(site.link(role="organiser"))
            page.wait_for_url("**/dashboard")
            page.goto(f"{site.url}/dashboard/people")
            for place in ("#people th", "#ways li"):
                expect(page.locator(place).first.locator(".badge")).to_have_text("failed the test")
