"""The organiser's pages: numbers move after a save, people are let in and out, everybody can read it."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from adjudge.campaigns.answers import release
from adjudge.campaigns.assigning import assignments
from adjudge.campaigns.people import enter, people
from adjudge.core.segment import TestSet
from adjudge.errors import AccessError
from tests.browser.conftest import PATIENCE
from tests.browser.served import Site, make_test_set, serving
from tests.campaigns.conftest import make_test_set as campaigns_texts
from tests.campaigns.work import answer_all, person, take, work_off

pytestmark = pytest.mark.browser

"""Milliseconds: pages ask again and again, and what they ask for is slow on a busy machine."""
SOONER = """{
    const later = setTimeout;
    setTimeout = (work, pause, ...more) => later(work, Math.min(pause, 500), ...more);
}"""
"""No test waits the five seconds after which a page asks again."""
NAMES = 'Zoë <b>"&amp;'
ROWS = [(f"Sentence {n}.", f"Satz {n}.", f"Der {n}. Satz.") for n in range(12)]
Open = Callable[..., Page]


def is_misdeed(printed: str) -> bool:
    """The browser itself prints what a server refuses."""
    return "Failed to load resource" not in printed


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serving(tmp_path / "watched", make_test_set("en-de", *ROWS), annotators=2, raters=2) as found:
        yield found


@pytest.fixture
def open_dashboard(chromium: Browser, site: Site) -> Iterator[Open]:
    """Open the organiser's link; a page must do nothing that a page should not do."""
    opened = []
    misdeeds: list[str] = []

    def make(path: str = "", **options: object) -> Page:
        (link,) = (one for one in site.links if one.role == "organiser")
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        context.add_init_script(SOONER)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: misdeeds.append(str(error)))
        page.on(
            "console", lambda message: misdeeds.append(message.text) if is_misdeed(message.text) else None
        )
        page.goto(f"{site.url}{link.path}")
        page.wait_for_url("**/dashboard")
        if path:
            page.goto(f"{site.url}{path}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield make
    for context in opened:
        context.close()
    assert misdeeds == []


def test_numbers_move_after_somebody_worked(site: Site, open_dashboard: Open) -> None:
    page = open_dashboard()
    expect(page.locator("#answer")).to_have_text("No judgements yet: 0 of 48.")
    for number in (0, 1):
        work_off(site.campaign, person(site.campaign, number), time.time(), rating=70)
    expect(page.locator(".systems tr")).to_have_count(2)
    expect(page.locator("#progress")).to_contain_text("48 of 48 (100 %)")
    expect(page.locator("#answer")).to_contain_text("Both systems are still tied.")
    expect(page.locator(".pairs tr")).to_contain_text("tied")
    expect(page.locator("#people tr")).to_have_count(2)
    expect(page.locator("#agreement")).to_contain_text("does not vary enough yet")


@pytest.fixture
def look(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open the dashboard of a campaign of one's own, after everybody has done all there is for them."""
    closing = ExitStack()

    def make(rows: TestSet, people: int = 2, works: int = 2, **settings: Any) -> Page:
        own = closing.enter_context(serving(tmp_path / "own", rows, annotators=people, **settings))
        for number in range(works):
            work_off(own.campaign, person(own.campaign, number), time.time())
        (link,) = (one for one in own.links if one.role == "organiser")
        page = chromium.new_page()
        closing.callback(page.close)
        page.set_default_timeout(PATIENCE)
        page.goto(f"{own.url}{link.path}")
        page.wait_for_selector("body[data-ready]")
        return page

    with closing:
        yield make


def test_each_language_pair_is_ranked_apart(look: Callable[..., Page]) -> None:
    both = TestSet(name="both", segments=(*make_test_set("en-de", *ROWS), *make_test_set("en-cs", *ROWS[:5])))
    page = look(both, works=1, assignment="static")
    expect(page.locator(".standing h2")).to_have_count(1)
    expect(page.locator(".systems tr")).to_have_count(2)
    judged = page.locator(".standing h2").inner_text()
    (other,) = {"en-de", "en-cs"} - {judged}
    expect(page.locator("#answer")).to_contain_text(f"Nothing is judged yet of {other}.")
    assert "0" not in page.locator(".systems tr td:last-child").all_inner_texts()


def test_comparisons_are_told_by_criterion_beside_the_protocol(look: Callable[..., Page]) -> None:
    page = look(make_test_set("en-de", *ROWS), protocol="pairwise", raters=2)
    expect(page.locator(".standing h2").first).to_contain_text("en-de, ")
    expect(page.locator("#protocol")).to_have_text("Pairwise comparison by criterion.")
    names = page.locator(".standing h2").all_inner_texts()
    assert len(set(names)) == len(names) > 1
    for name in names:
        expect(page.locator("#agreement")).to_contain_text(f"{name}: Fleiss kappa")
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()


def test_where_references_are_written_nobody_asks_which_systems_differ(look: Callable[..., Page]) -> None:
    page = look(make_test_set("en-de", *ROWS), protocol="post-edit")
    expect(page.locator("#answer")).to_have_text("12 of 12 items are done.")
    for words in ("tied", "told apart", "judged by two"):
        assert words not in page.locator("main").inner_text()


def test_an_export_is_a_file_or_says_why_it_is_none(site: Site, open_dashboard: Open) -> None:
    page = open_dashboard()
    page.get_by_role("link", name="MQM TSV").click()
    expect(page.locator("#exported")).to_contain_text("nobody has judged anything in watched yet")
    work_off(site.campaign, person(site.campaign), time.time(), rating=70)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="MQM TSV").click()
    assert downloading.value.suggested_filename == "watched.mqm.tsv"
    assert Path(downloading.value.path()).read_text().count("System0") == 12
    expect(page.locator("#exported")).to_have_text("")


def test_a_person_takes_two_lines_at_most_in_a_narrow_window(site: Site, open_dashboard: Open) -> None:
    work_off(site.campaign, person(site.campaign, 0), time.time(), rating=70)
    page = open_dashboard(viewport={"width": 320, "height": 800})
    row = page.locator("#people tr").first
    expect(row.locator("td").last).not_to_have_text("–")
    lines = "cell => parseFloat(getComputedStyle(cell).lineHeight)"
    assert row.evaluate("row => row.clientHeight") < 3 * row.locator("th").evaluate(lines)


def test_a_person_is_added_let_in_again_and_shut_out(site: Site, open_dashboard: Open) -> None:
    page = open_dashboard("/dashboard/people")
    page.get_by_label("Another person").fill(NAMES)
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#whose")).to_have_text(f"{NAMES}:")
    first = page.locator("#link").inner_text()
    assert first.startswith(f"{site.url}/#")
    row = page.locator("#ways li", has_text=NAMES)
    row.get_by_role("button", name="New link").click()
    row.get_by_role("button", name="Leave it").click()
    expect(page.locator("#link")).to_have_text(first)
    row.get_by_role("button", name="New link").click()
    row.get_by_role("button", name="Make a new link").click()
    expect(page.locator("#link")).not_to_have_text(first)
    page.route("**/api/dashboard", lambda route: route.abort())  # it does not wait for new numbers
    row.get_by_role("button", name="Shut out").click()
    expect(row).to_contain_text("what they did stays")
    expect(row.locator(".badge")).to_have_text("annotator")
    row.get_by_role("button", name="Shut them out").click()
    expect(row.locator(".badge")).to_have_text("shut out")
    secret = page.locator("#link").inner_text().partition("#")[2]
    with pytest.raises(AccessError):
        enter(site.campaign, secret, time.time())


def test_an_adjudicator_is_added_as_one(site: Site, open_dashboard: Open) -> None:
    page = open_dashboard("/dashboard/people")
    page.get_by_label("Another person").fill("Kim")
    page.get_by_label("Role").select_option("adjudicator")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#whose")).to_have_text("Kim:")
    assert [one.role for one in people(site.campaign) if one.name == "Kim"] == ["adjudicator"]


def test_somebody_added_gets_a_language_pair_and_its_next_work(tmp_path: Path, chromium: Browser) -> None:
    people = {"ann": ["en-de"], "ben": ["en-zh"]}
    texts = campaigns_texts("en-de", "en-zh")
    with serving(tmp_path / "two", texts, people, assignment="static") as two:
        (link,) = (one for one in two.links if one.role == "organiser")
        page = chromium.new_page()
        page.goto(f"{two.url}{link.path}")
        page.wait_for_url("**/dashboard")
        page.goto(f"{two.url}/dashboard/people")
        page.get_by_label("Another person").fill("Cleo")
        page.get_by_label("Language pair").select_option("en-de")
        page.get_by_role("button", name="Make a link").click()
        row = page.locator("#people tr", has_text="Cleo")
        expect(row.locator("td").nth(0)).to_have_text("en-de", timeout=PATIENCE)
        expect(row.locator("td").nth(1)).to_have_text("2")
        assert {one.lp for one in work_off(two.campaign, person(two.campaign, -1), time.time())} == {"en-de"}
        page.close()


def test_a_link_is_selected_where_a_page_may_not_copy(open_dashboard: Open) -> None:
    """As on a machine of the local network, to which browsers come without https."""
    page = open_dashboard("/dashboard/people")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_label("Another person").fill("Cleo")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#copied")).to_have_text("Selected: copy it with Ctrl+C")
    assert page.evaluate("String(getSelection())") == page.locator("#link").inner_text()


def test_a_name_that_is_taken_is_said_and_stays_said(open_dashboard: Open) -> None:
    page = open_dashboard("/dashboard/people")
    page.get_by_label("Another person").fill("annotator-1")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#refused")).to_contain_text("annotator-1")
    with page.expect_response("**/api/dashboard"):
        pass
    expect(page.locator("#refused")).to_contain_text("annotator-1")


def test_a_task_is_taken_back_by_its_number(site: Site, open_dashboard: Open) -> None:
    number = take(site.campaign, person(site.campaign, 0), time.time()).number
    page = open_dashboard("/dashboard/people")
    for words in (f"Task {number} was taken back from one person.", f"Nobody was working on task {number}."):
        page.get_by_label("Number of a task").fill(f"{number}")
        page.get_by_role("button", name="Take back").click()
        expect(page.locator("#taken")).to_have_text(words)
    assert [one.state for one in assignments(site.campaign, person(site.campaign, 0))] == ["expired"]


def test_what_was_finished_in_a_task_that_was_taken_back_is_counted_beside(
    site: Site, open_dashboard: Open
) -> None:
    who = person(site.campaign, 0)
    given = take(site.campaign, who, time.time())
    answer_all(site.campaign, who, given, time.time())
    release(site.campaign, given.number, time.time(), actor="test")
    page = open_dashboard()
    expect(page.locator("#progress")).to_contain_text("Done besides, in tasks that were given back12")
    expect(page.locator(".systems")).to_contain_text("System")


def test_the_gate_says_what_it_decided(site: Site, open_dashboard: Open) -> None:
    for number, rating in ((0, 70), (1, 64)):
        work_off(site.campaign, person(site.campaign, number), time.time(), rating=rating)
    page = open_dashboard()
    page.get_by_role("button", name="Send out again what people do not agree on").click()
    expect(page.locator("#decided")).to_have_text("")
    page.get_by_role("button", name="Send it out again").click()
    expect(page.locator("#decided")).to_contain_text("0 of 12 segments decided on: 0 sent out again")


def test_there_is_no_gate_where_one_person_alone_judges(tmp_path: Path, chromium: Browser) -> None:
    with serving(tmp_path / "alone", make_test_set("en-de", *ROWS)) as alone:
        (link,) = (one for one in alone.links if one.role == "organiser")
        page = chromium.new_page()
        page.goto(f"{alone.url}{link.path}")
        page.wait_for_url("**/dashboard")
        assert page.get_by_role("button", name="Send out again").count() == 0
        page.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.exhaustive)])
def test_the_whole_analysis_is_a_click_away_and_can_be_read_by_all(
    site: Site, open_dashboard: Open, scheme: str
) -> None:
    for number in (0, 1):
        work_off(site.campaign, person(site.campaign, number), time.time(), rating=70 + number)
    page = open_dashboard(color_scheme=scheme)
    page.get_by_role("link", name="The whole analysis").click()
    page.wait_for_url("**/dashboard/analysis")  # with its style sheets: headings can be seen before them
    expect(page.get_by_role("heading", name="What does it show so far?")).to_be_visible()
    expect(page.get_by_role("table", name="Which systems are better?").first).to_be_visible()
    for width in (320, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()


def test_a_server_that_is_gone_is_said(open_dashboard: Open) -> None:
    page = open_dashboard()
    page.route("**/api/dashboard", lambda route: route.fulfill(status=401, body="{}"))
    expect(page.locator("#trouble")).to_contain_text("signed out")
    expect(page.get_by_label("Your link")).to_be_visible()
    page.unroute("**/api/dashboard")
    expect(page.locator("#trouble")).to_be_hidden()


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/people"])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.exhaustive)])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    site: Site, open_dashboard: Open, path: str, scheme: str
) -> None:
    for number in (0, 1):
        work_off(site.campaign, person(site.campaign, number), time.time(), rating=70)
    page = open_dashboard(path, color_scheme=scheme)
    for width in (320, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()
