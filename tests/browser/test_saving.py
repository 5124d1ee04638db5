"""Nothing that was done is lost, whatever happens to the network, the page, the tab or the server."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.killed import serve_alone, taken_port
from tests.browser.served import Site, Visit, make_test_set, press, serving, visit

pytestmark = pytest.mark.browser

TEXTS = make_test_set("en-de", ("One cat.", "Eine Katze."), ("Two cats.", "Zwei Katzen."))


@pytest.fixture
def work(tmp_path: Path, chromium: Browser) -> Iterator[Visit]:
    """An ESA task of two segments."""
    with serving(tmp_path / "campaign", TEXTS) as site:
        found = visit(chromium, site)
        found.begin()
        yield found
        found.context.close()


def saved(page: Page) -> str:
    return page.locator("#saved").text_content() or ""


def reload(page: Page) -> None:
    page.reload()
    page.wait_for_selector("body[data-ready]")


def ratings(site: Site) -> list[float | None]:
    return [state["translations"][0]["rating"] for state in site.states()]


def test_a_dead_network_keeps_everything_in_order_and_sends_it_once(work: Visit) -> None:
    page = work.page
    press(page, "t", "w", "1")
    work.settle()
    work.context.set_offline(True)
    press(page, "r", "4", "2", "c")
    page.keyboard.type("no net")
    press(page, "Alt+ArrowDown", "w", "2")
    expect(page.locator("#saved")).to_contain_text("There is no connection")
    assert work.site.kinds() == ["mark"]
    work.context.set_offline(False)
    work.settle()
    first, second = work.site.states()
    assert (first["translations"][0]["rating"], first["comment"]) == (42, "no net")
    assert second["translations"][0]["spans"][0]["text"] == "Zwei"
    assert work.site.kinds() == ["mark", "rate", "comment", "mark"]


SLOW_DISK = """() => {
    window.isSlow = true;
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (value) {
        const wait = () => { if (window.isSlow) this.get("").onsuccess = wait; };
        wait();
        return put.call(this, value);
    };
}"""
"""The browser's store does not end its work until it is told to."""


def test_nothing_is_called_kept_before_it_is(work: Visit) -> None:
    page = work.page
    work.context.route("**/api/events", lambda route: route.abort())
    press(page, "t", "w", "2")
    expect(page.locator("#saved")).to_contain_text("kept in this browser")
    page.evaluate(SLOW_DISK)
    press(page, "r", "3")
    expect(page.locator("#saved")).to_contain_text("Saving changes: 2")
    page.evaluate("() => { window.isSlow = false; }")
    expect(page.locator("#saved")).to_contain_text("Changes kept in this browser: 2")


LETS_GO = "() => dispatchEvent(new Event('beforeunload', { cancelable: true }))"
"""Whether the page may be left: all changes are kept, if only in the browser."""


@pytest.mark.parametrize("pause", [0, 50, 300, 700, 1600, 3000])
def test_a_page_that_is_loaded_again_soon_after_a_change_saves_on(work: Visit, pause: int) -> None:
    """Milliseconds after a rating: what is typed is sent, told as late time, or on its way at that moment."""
    page = work.page
    for rating in "123":
        press(page, "Alt+ArrowUp", "t", "w", "1", "r", rating)
        page.wait_for_timeout(pause)
        page.wait_for_function(LETS_GO)
        reload(page)
        expect(page.locator("output").first).to_have_text(rating)
        expect(page.locator("#notices .notice")).to_have_count(0)
    press(page, "Alt+ArrowUp", "r", "4", "2")
    work.settle()
    (state, *_) = work.site.states()
    assert state["translations"][0]["rating"] == 42
    assert len(state["translations"][0]["spans"]) == 1
    assert work.misdeeds == []


def test_what_is_saved_while_a_page_is_loaded_is_on_the_page(work: Visit) -> None:
    """The new page was made before the last change of the old one came."""
    page = work.page
    made = work.context.request.get(page.url).text()
    press(page, "r", "8")
    work.settle()
    work.context.route(page.url, lambda route: route.fulfill(body=made, content_type="text/html"))
    reload(page)
    expect(page.locator("output").first).to_have_text("8")
    press(page, "Alt+ArrowUp", "r", "9")
    work.settle()
    assert ratings(work.site) == [9]


def test_what_was_not_sent_is_there_after_a_reload(work: Visit) -> None:
    page = work.page
    work.context.route("**/api/events", lambda route: route.abort())
    press(page, "t", "w", "2", "r", "3", "0", "c")
    page.keyboard.type("typed")
    expect(page.locator("#saved")).to_contain_text("kept in this browser")
    reload(page)
    expect(page.locator("output").first).to_have_text("30")
    expect(page.locator(".comment textarea").first).to_have_value("typed")
    work.context.unroute("**/api/events")
    reload(page)
    work.settle()
    (state,) = work.site.states()
    assert (state["translations"][0]["rating"], state["comment"]) == (30, "typed")
    kinds = [kind for kind, _ in groupby(work.site.kinds())]  # a slow machine sends 3 before 30 is typed
    assert kinds == ["mark", "rate", "comment"]


def test_what_was_saved_but_not_acknowledged_counts_once(work: Visit) -> None:
    """The server has it, its answer was lost, and the page sends it again after a reload."""
    page = work.page
    page.route("**/api/events", lambda route: (route.fetch(), route.abort()))
    press(page, "t", "w", "2")
    expect(page.locator("#saved")).to_contain_text("kept in this browser")
    page.unroute("**/api/events")
    reload(page)
    work.settle()
    assert work.site.kinds() == ["mark"]
    press(page, "r", "5")
    work.settle()
    assert ratings(work.site) == [5]


def test_the_overview_sends_what_a_task_left_behind(work: Visit) -> None:
    page = work.page
    page.route("**/api/events", lambda route: route.abort())
    press(page, "r", "6", "1")
    expect(page.locator("#saved")).to_contain_text("kept in this browser")
    page.unroute("**/api/events")
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#saved")).to_have_text("")
    page.wait_for_url("**/work")
    for _ in range(100):
        if work.site.states():
            break
        page.wait_for_timeout(50)
    assert ratings(work.site) == [61]


def test_who_was_signed_out_is_told_and_loses_nothing(work: Visit) -> None:
    page = work.page
    cookies = work.context.cookies()
    work.context.clear_cookies()
    press(page, "r", "7", "0")
    expect(page.locator("#saved")).to_contain_text("signed out")
    work.context.add_cookies(cookies)  # type: ignore[arg-type]
    reload(page)
    work.settle()
    assert ratings(work.site) == [70]


def test_who_is_signed_out_comes_in_again_on_the_page(work: Visit) -> None:
    page = work.page
    work.context.clear_cookies()
    press(page, "r", "7", "0")
    page.get_by_role("button", name="Show the message").click()
    page.get_by_label("Your link").fill(f"{work.site.url}/#wrong")
    page.get_by_role("button", name="Sign in again").click()
    notice = page.locator("#notices .notice")
    expect(notice.get_by_role("status")).not_to_be_empty()
    page.get_by_label("Your link").fill(work.site.link())
    page.get_by_role("button", name="Sign in again").click()
    work.settle()
    expect(notice).to_have_count(0)
    assert ratings(work.site) == [70]
    assert not work.misdeeds


def test_a_change_that_the_server_refuses_is_shown_and_not_dropped(work: Visit) -> None:
    page = work.page
    refusal = '{"message": "no", "saved": [], "stale": [], "refused": [{"id": "x", "item": 1, "why": "so"}]}'
    page.route("**/api/events", lambda route: route.fulfill(status=422, body=refusal))
    press(page, "r", "8", "0")
    notice = page.locator("#notices .notice")
    expect(notice).to_contain_text("segment 1: so")
    page.unroute("**/api/events")
    notice.get_by_role("button", name="Try again").click()
    work.settle()
    assert ratings(work.site) == [80]


def test_what_was_given_up_comes_back_with_undo(work: Visit) -> None:
    page = work.page
    press(page, "r", "3", "0")
    work.settle()
    refusal = '{"message": "no", "saved": [], "stale": [], "refused": [{"id": "x", "item": 1, "why": "so"}]}'
    page.route("**/api/events", lambda route: route.fulfill(status=422, body=refusal))
    press(page, "t", "w", "1", "r", "8", "0", "c")
    page.keyboard.type("mine")
    notice = page.locator("#notices .notice")
    give_up = notice.get_by_role("button", name="Give it up and load what was saved")
    page.route("**/api/work/*", lambda route: route.abort())
    give_up.click()
    expect(notice).to_contain_text("does not say what was saved")
    expect(page.locator("output").first).to_have_text("80")
    page.unroute("**/api/work/*")
    page.unroute("**/api/events")
    give_up.click()
    expect(notice).to_have_count(0)
    first = page.locator(".item").first
    expect(page.locator("output").first).to_have_text("30")
    expect(first.locator(".errors li")).to_have_count(0)
    expect(page.locator("#hint")).to_contain_text("Undo (Ctrl+Z) brings back")
    work.settle()
    assert said(work.site) == [(30, [], "")]
    first.locator(".translation .text").focus()
    press(page, "Control+z")
    expect(page.locator("output").first).to_have_text("80")
    expect(first.locator(".errors li")).to_have_count(1)
    work.settle()
    assert said(work.site) == [(80, ["Eine"], "mine")]
    press(page, "Control+y")
    expect(page.locator("output").first).to_have_text("30")
    work.settle()
    assert said(work.site) == [(30, [], "")]
    assert not work.misdeeds


def test_what_is_given_up_on_a_page_with_old_texts_is_still_there_after_it_was_loaded_again(
    work: Visit,
) -> None:
    page = work.page
    refusal = '{"message": "no", "saved": [], "stale": [], "refused": [{"id": "x", "item": 1, "why": "so"}]}'
    page.route("**/api/events", lambda route: route.fulfill(status=422, body=refusal))
    press(page, "r", "8", "0")
    notice = page.locator("#notices .notice")
    give_up = notice.get_by_role("button", name="Give it up and load what was saved")

    def other_text(route: Route) -> None:
        found = route.fetch().json()
        found["items"][0]["hashes"][0] = "0" * 16
        route.fulfill(json=found)

    page.route("**/api/work/*", other_text, times=1)
    with page.expect_navigation():
        give_up.click()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("output").first).to_have_text("80")
    page.unroute("**/api/events")
    give_up.click()
    expect(page.locator("output").first).to_have_text("–")
    page.locator(".item").first.locator(".translation .text").focus()
    press(page, "Control+z")
    work.settle()
    assert ratings(work.site) == [80]


# Two at once...


def test_what_a_tab_has_not_sent_is_taken_over_with_its_task(work: Visit) -> None:
    """Also where the first tab cannot send it, and then sends it too."""
    work.page.route("**/api/events", lambda route: route.abort())
    press(work.page, "r", "8", "0")
    expect(work.page.locator("#saved")).to_contain_text("kept in this browser")
    other = work.watch(work.context.new_page())
    other.goto(work.page.url)
    with other.expect_navigation():
        other.get_by_role("button", name="Work here").click()
    other.wait_for_selector("body[data-ready]")
    expect(other.locator("output").first).to_have_text("80")
    expect(other.locator("#saved")).to_have_text("All saved")
    work.page.unroute("**/api/events")
    press(other, "Alt+ArrowUp", "r", "9", "0")
    work.page.evaluate("dispatchEvent(new Event('online'))")
    for page in (work.page, other):
        expect(page.locator("#saved")).to_have_text("All saved")
    assert (ratings(work.site), work.site.kinds()) == ([90], ["rate", "rate"])


def test_a_second_tab_says_so_and_can_take_the_task_over(work: Visit) -> None:
    other = work.watch(work.context.new_page())
    other.goto(work.page.url)
    notice = other.locator("#notices .notice")
    expect(notice).to_contain_text("open in another tab")
    assert other.locator("#items").evaluate("items => items.inert")
    with other.expect_navigation():
        notice.get_by_role("button", name="Work here").click()
    other.wait_for_selector("body[data-ready]")
    expect(other.locator("#notices .notice")).to_have_count(0)
    expect(work.page.locator("#notices .notice")).to_contain_text("open in another tab")
    press(other, "r", "9", "0")
    expect(other.locator("#saved")).to_have_text("All saved")
    expect(other.locator("output").first).to_have_text("90")
    with work.page.expect_navigation():
        work.page.get_by_role("button", name="Work here").click()
    expect(work.page.locator("output").first).to_have_text("90")
    assert ratings(work.site) == [90]


Said = tuple[float | None, list[str], str]


def change_elsewhere(work: Visit, chromium: Browser, *keys: str) -> None:
    """Work on the task in another browser of the same person."""
    other = visit(chromium, work.site)
    other.page.goto(work.page.url)
    other.page.wait_for_selector("body[data-ready]")
    press(other.page, *keys)
    other.settle()
    other.context.close()


def said(site: Site) -> list[Said]:
    """Rating, marked words and comment of each segment."""
    found = [(state["translations"][0], state["comment"]) for state in site.states()]
    return [(one["rating"], [span["text"] for span in one["spans"]], comment) for one, comment in found]


OURS: Said = (20.0, ["Eine"], "mine")
THEIRS: Said = (10.0, [], "")


@pytest.mark.parametrize(
    ("choice", "chosen", "other"), [("on this page", OURS, THEIRS), ("saved there", THEIRS, OURS)]
)
def test_a_stale_page_asks_which_state_counts(
    work: Visit,
    chromium: Browser,
    choice: str,
    chosen: Said,
    other: Said,
) -> None:
    """Another browser of the same person changed the segment: nothing is lost, whichever is chosen."""
    change_elsewhere(work, chromium, "r", "1", "0")
    page = work.page
    press(page, "t", "w", "1", "r", "2", "0", "c")
    page.keyboard.type("mine")
    notice = page.locator(".item").first.locator(".conflict")
    expect(notice).to_contain_text("segment 1 was changed")
    expect(notice).to_be_in_viewport()
    ours, theirs = notice.locator("section").all()
    for line in ("rating 20", "minor: “Eine”", "comment: mine"):
        expect(ours).to_contain_text(line)
    expect(theirs.locator("li")).to_have_text(["rating 10"])
    assert said(work.site) == [THEIRS]
    notice.get_by_role("button", name=choice).click()
    expect(notice).to_have_count(0)
    work.settle()
    assert said(work.site) == [chosen]
    expect(page.locator("output").first).to_have_text(f"{chosen[0]:g}")
    for keys, wanted in (("Control+z", other), ("Control+y", chosen)):
        page.locator(".item").first.locator(".translation .text").focus()
        press(page, keys)
        expect(page.locator("output").first).to_have_text(f"{wanted[0]:g}")
        work.settle()
        assert said(work.site) == [wanted]
    assert not work.misdeeds


@pytest.mark.parametrize("button", ["Show the message", "Finish"])
def test_a_conflict_that_is_off_screen_is_a_click_away(work: Visit, chromium: Browser, button: str) -> None:
    page = work.page
    change_elsewhere(work, chromium, "Alt+ArrowDown", "r", "5", "Alt+ArrowUp", "r", "1", "0")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    change_elsewhere(work, chromium, "r", "1", "1")
    page.route("**/api/events", lambda route: route.abort())
    press(page, "r", "2", "0", "Alt+ArrowDown")
    page.set_viewport_size({"width": 1280, "height": 400})
    page.mouse.wheel(0, 9999)
    page.unroute("**/api/events")
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#saved")).to_contain_text("See the message")
    page.get_by_role("button", name=button).click()
    expect(page.locator(".item").first.locator(".conflict")).to_be_in_viewport()
    page.keyboard.press("Enter")
    work.settle()
    assert ratings(work.site) == [20, 5]
    expect(page.get_by_role("button", name="Show the message")).to_be_hidden()


# A server that is killed...


@pytest.fixture
def port() -> Iterator[int]:
    with taken_port() as found:
        yield found


def test_a_server_that_is_killed_and_comes_back_has_everything_once(
    tmp_path: Path, chromium: Browser, port: int
) -> None:
    folder = tmp_path / "campaign"
    with serving(folder, TEXTS) as made:
        site = replace(made, url=f"http://127.0.0.1:{port}")
        with serve_alone(folder, port):
            found = visit(chromium, site)
            found.begin()
            press(found.page, "t", "w", "1")
            found.settle()
        press(found.page, "r", "5", "5", "c")
        found.page.keyboard.type("while it was dead")
        expect(found.page.locator("#saved")).to_contain_text("There is no connection")
        with serve_alone(folder, port):
            found.page.evaluate("dispatchEvent(new Event('online'))")  # sooner than the next attempt
            found.settle()
        state = site.state()
        assert (state["translations"][0]["rating"], state["comment"]) == (55, "while it was dead")
        assert site.kinds() == ["mark", "rate", "comment"]
        found.context.close()
