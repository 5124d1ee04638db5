"""From one task to the next: the page stays, and the browser's own ways through it work."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from adjudge.campaigns.database import answer
from adjudge.core.segment import Segment, TestSet
from tests.browser.served import Site, Visit, serving, visit

pytestmark = pytest.mark.browser

Browser = Callable[[], Visit]


def documents(*names: str, lp: str = "en-de") -> list[Segment]:
    return [
        Segment(
            segment=f"{name}{place}",
            lp=lp,
            document=name,
            source=f"A sentence of {name}.",
            translations={"System": f"Ein Satz aus {name}, Nummer {place}."},
        )
        for name in names
        for place in range(2)
    ]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    segments = [*documents("one", "two", "three"), *documents("four", lp="zh-en")]
    texts = TestSet(name="small", segments=tuple(segments))
    with serving(tmp_path / "campaign", texts, {"anna": ["en-de", "zh-en"]}) as found:
        yield found


@pytest.fixture
def found(site: Site, chromium: object) -> Iterator[Visit]:
    visitor = visit(chromium, site)  # type: ignore[arg-type]
    visitor.begin()
    visitor.page.evaluate("window.isSame = true")
    yield visitor
    assert not visitor.misdeeds
    visitor.context.close()


def first_text(page: Page) -> str:
    return page.locator(".item .translation .text").first.inner_text()


def rate_all(page: Page, rating: int) -> None:
    for item in page.locator(".item").all():
        item.get_by_role("slider").focus()
        for digit in str(rating):
            page.keyboard.press(digit)


def finish(page: Page) -> str:
    before = page.url
    page.locator("#finish").click()
    page.wait_for_url(lambda url: url != before)
    page.wait_for_selector("body[data-ready]")
    return first_text(page)


def is_same(page: Page) -> bool:
    return page.evaluate("window.isSame") is True


def test_the_next_document_takes_the_place_of_the_one_before_without_a_load(found: Visit) -> None:
    page = found.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/api")[2]))
    title, text = page.title(), first_text(page)
    rate_all(page, 71)
    found.settle()
    asked.clear()
    page.mouse.wheel(0, 500)
    following = finish(page)
    assert following != text
    assert is_same(page)
    assert len(asked) == 1, asked  # the end of the task; nothing else was asked for
    assert page.title() == page.locator("h1").inner_text() != title
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("[...CSS.highlights.values()].every((one) => one.size === 0)")
    expect(page.locator(".item .translation .text").first).to_be_focused()
    expect(page.locator("#progress")).to_have_text("0 of 2 done")
    assert page.locator(".item").count() == 2


def test_last_changes_go_along_with_the_end(found: Visit) -> None:
    page = found.page
    rate_all(page, 64)
    page.locator(".item .comment").last.evaluate("(one) => { one.open = true }")
    page.locator(".item textarea").last.fill("said at the last moment")
    finish(page)
    last = found.site.states()[1]
    assert (last["translations"][0]["rating"], last["comment"]) == (64, "said at the last moment")


def test_back_forward_and_a_printed_link_open_what_they_name(found: Visit) -> None:
    page = found.page
    first, text = page.url, first_text(page)
    rate_all(page, 50)
    following = finish(page)
    second = page.url
    page.go_back()
    page.wait_for_url(first)
    page.wait_for_selector("body[data-ready]")
    assert first_text(page) == text
    expect(page.locator("output").first).to_have_text("50")
    page.go_forward()
    page.wait_for_url(second)
    page.wait_for_selector("body[data-ready]")
    assert first_text(page) == following
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert first_text(page) == following


def test_another_language_pair_is_a_page_of_its_own(found: Visit) -> None:
    page = found.page
    kept = []
    for _ in range(3):
        rate_all(page, 80)
        finish(page)
        kept.append(is_same(page))
    assert kept == [True, True, False]
    expect(page.locator(".how")).to_contain_text("Chinese to English")


def test_each_change_belongs_to_its_own_task_and_each_second_is_counted_once(found: Visit) -> None:
    page = found.page
    start = time.monotonic()
    for rating in (30, 40, 50):
        rate_all(page, rating)
        page.wait_for_timeout(400)
        page.mouse.move(200, 200 + rating)
        finish(page)
    passed = time.monotonic() - start
    found.settle()
    with found.site.campaign.database.reading() as connection:
        rows = connection.execute(select(answer).order_by(answer.c.assignment_id, answer.c.item_id)).all()
    ratings = [one["translations"][0]["rating"] for one in found.site.states()]
    assert ratings[:6] == [30, 30, 40, 40, 50, 50]
    assert 1.2 <= sum(row.active for row in rows[:6]) <= passed + 1


def test_a_second_press_ends_one_task(found: Visit) -> None:
    page = found.page
    rate_all(page, 20)
    length = page.evaluate("history.length")
    page.evaluate("for (const _ of [1, 2, 3]) document.querySelector('#finish').click()")
    expect(page.locator("#progress")).to_have_text("0 of 2 done")
    page.wait_for_timeout(300)
    assert page.evaluate("history.length") == length + 1
    with found.site.campaign.database.reading() as connection:
        assert len(connection.execute(select(answer)).all()) == 2


def test_without_a_connection_nothing_goes_on_and_nothing_is_lost(found: Visit) -> None:
    page = found.page
    text = first_text(page)
    rate_all(page, 33)
    found.context.set_offline(True)
    page.locator("#finish").click()
    expect(page.locator("#hint")).not_to_be_empty()
    assert first_text(page) == text
    found.context.set_offline(False)
    found.settle()
    assert finish(page) != text
    assert [one["translations"][0]["rating"] for one in found.site.states()[:2]] == [33, 33]


def test_a_task_that_went_on_here_is_free_for_another_tab(found: Visit) -> None:
    page = found.page
    first = page.url
    rate_all(page, 45)
    finish(page)
    other = found.watch(found.context.new_page())
    other.goto(first)
    other.wait_for_selector("body[data-ready]")
    expect(other.locator("#notices")).to_be_empty()
    other.goto(page.url)
    expect(other.locator("#notices")).to_contain_text("open in another tab")
    other.get_by_role("button", name="Work here").click()
    other.wait_for_selector("body[data-ready]")
    expect(page.locator("#notices")).to_contain_text("open in another tab")
