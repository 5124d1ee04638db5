"""What a person sees: marks that were there before the page, the selection, and several translations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from adjudge.core.record import Annotation, ErrorSpan
from tests.browser.served import Site, Visit, make_test_set, press, serving, visit

pytestmark = pytest.mark.browser

ROWS = (("The cat sleeps.", "Die Katze schläft."), ("It snores.", "Sie schnarcht laut."))
PAINTED = """() => {
    const found = [...CSS.highlights].map(([name, ranges]) => [name, [...ranges].map(String)]);
    return Object.fromEntries(found.filter(([_, texts]) => texts.length));
}"""
PLACES = """() => [...document.querySelectorAll('.item[aria-current] .translation')].map((one) => {
    const {left, top} = one.getBoundingClientRect();
    return [left, top];
})"""


@pytest.fixture
def given(tmp_path: Path) -> Iterator[Site]:
    """A campaign with marks made beforehand."""
    spans = (
        ErrorSpan(severity="minor", start=4, end=9, text="Katze"),
        ErrorSpan(severity="major", start=4, end=9, text="schna"),
    )
    said: dict[str, Any] = {"lp": "en-de", "system": "System0", "annotator": "judge", "protocol": "mqm"}
    marks = [Annotation(**said, segment=str(n), spans=(span,)) for n, span in enumerate(spans)]
    with serving(tmp_path / "c", make_test_set("en-de", *ROWS), protocol="esa-ai", given=marks) as site:
        yield site


def painted(page: Page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = page.evaluate(PAINTED)
    return found


def reopen(found: Visit) -> None:
    found.settle()
    found.page.reload()
    found.page.wait_for_selector("body[data-ready]")


def test_marks_that_were_there_before_the_page_are_painted(given: Site, chromium: Browser) -> None:
    found = visit(chromium, given)
    page = found.begin()
    assert painted(page) == {"minor-0": ["Katze"], "major-0": ["schna"]}
    for key in ("t", "w", "2", "Control+z", "Control+Shift+z"):
        page.keyboard.press(key)
    reopen(found)
    assert painted(page) == {"minor-0": ["Katze"], "major-0": ["Die", "schna"]}
    found.context.close()


def test_a_selection_is_painted_where_the_person_works_alone(given: Site, chromium: Browser) -> None:
    found = visit(chromium, given)
    page = found.begin()
    for key in ("t", "w"):
        page.keyboard.press(key)
    assert painted(page)["selection"] == ["Die"]
    page.keyboard.press("r")
    assert "selection" not in painted(page)
    page.keyboard.press("t")
    assert painted(page)["selection"] == ["Die"]  # the keys go on with it
    page.keyboard.press("2")
    page.keyboard.press("Alt+ArrowDown")
    assert set(painted(page)) == {"minor-0", "major-0"}
    found.context.close()


def test_a_line_that_was_only_passed_by_is_no_rating(given: Site, chromium: Browser) -> None:
    found = visit(chromium, given)
    page = found.begin()
    slider = page.locator(".item[aria-current]").get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "not rated yet")
    for key in ("r", "Tab", "r", "Escape", "Control+Enter", "m"):
        page.keyboard.press(key)
    slider.hover()
    expect(page.locator(".item.complete")).to_have_count(0)
    reopen(found)
    assert [state["translations"][0]["rating"] for state in given.states()] == [None]
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("#hint")).to_contain_text("rating")
    found.context.close()


def test_four_translations_stand_two_and_two(tmp_path: Path, chromium: Browser) -> None:
    texts = make_test_set("en-de", ("A cat.", *(f"Katze {n}." for n in range(4))))
    with serving(tmp_path / "c", texts, protocol="contrastive-esa") as site:
        found = visit(chromium, site, width=1440)
        tops = [top for _, top in found.begin().evaluate(PLACES)]
        assert [tops.count(top) for top in sorted(set(tops))] == [2, 2]
        found.page.set_viewport_size({"width": 320, "height": 800})
        assert len({left for left, _ in found.page.evaluate(PLACES)}) == 1
        found.context.close()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_a_tap_anywhere_on_an_untouched_line_is_a_rating(
    tmp_path: Path, chromium: Browser, share: float
) -> None:
    with serving(tmp_path / "campaign", make_test_set("en-de", *ROWS), protocol="da-sqm") as site:
        found = visit(chromium, site, has_touch=True)
        page = found.begin()
        box = page.locator(".item").first.get_by_role("slider").bounding_box()
        assert box is not None
        page.touchscreen.tap(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        found.settle()
        (rating,) = [state["translations"][0]["rating"] for state in site.states()]
        assert rating == pytest.approx(100 * share, abs=4)
        found.context.close()


def test_keys_of_an_input_method_that_composes_are_its_own(given: Site, chromium: Browser) -> None:
    found = visit(chromium, given)
    page = found.begin()
    page.keyboard.press("c")
    area = page.locator(".item[aria-current] .comment textarea")
    for key in ("Escape", "Enter"):
        area.evaluate(
            """(area, key) => area.dispatchEvent(new KeyboardEvent('keydown', {
                key, ctrlKey: key === 'Enter', isComposing: true, bubbles: true, cancelable: true}))""",
            key,
        )
        expect(area).to_be_focused()
    page.keyboard.press("Escape")
    expect(area).not_to_be_visible()
    found.context.close()


def test_rows_stand_close_and_nothing_of_them_folds_or_moves(tmp_path: Path, chromium: Browser) -> None:
    rows = [(f"{number}. {'The museum reopens on Monday. ' * 9}",) * 2 for number in range(6)]
    with serving(tmp_path / "campaign", make_test_set("en-de", *rows), protocol="esa") as site:
        found = visit(chromium, site, width=1366)
        page = found.begin()
        page.set_viewport_size({"width": 1366, "height": 768})
        boxes = (
            "() => [...document.querySelectorAll('.item')].map((item) => item.getBoundingClientRect().bottom)"
        )
        before = page.evaluate(boxes)
        assert sum(bottom <= 768 for bottom in before) >= 3
        rating = page.locator(".item").first.get_by_role("slider").bounding_box()
        text = page.locator(".item").first.locator(".source .text").bounding_box()
        assert rating is not None
        assert text is not None
        assert rating["y"] + rating["height"] - text["y"] <= 180
        for item in page.locator(".item").all():
            item.get_by_role("slider").click()
            item.locator(".source .text").click()
        page.locator(".item").nth(1).locator(".translation .text").dblclick(position={"x": 40, "y": 10})
        page.locator("#menu").get_by_role("button", name="major").click()
        found.settle()
        assert page.evaluate(boxes) == before
        found.context.close()


def test_ten_systems_of_one_source_fit_on_a_screen(tmp_path: Path, chromium: Browser) -> None:
    ten = (
        "The museum reopens on Monday.",
        *(f"Das Museum öffnet am Montag wieder ({n})." for n in range(10)),
    )
    with serving(tmp_path / "campaign", make_test_set("en-de", ten), protocol="contrastive-sqm") as site:
        page = visit(chromium, site).begin()
        boxes = [box for one in page.locator(".translation").all() if (box := one.bounding_box())]
        assert len(boxes) == 10
        assert boxes[-1]["y"] + boxes[-1]["height"] - boxes[0]["y"] <= 700
        page.context.close()


def test_the_end_is_reached_at_the_first_press_while_the_anchors_are_shown(
    tmp_path: Path, chromium: Browser
) -> None:
    with serving(tmp_path / "campaign", make_test_set("en-de", *ROWS), protocol="da-sqm") as site:
        found = visit(chromium, site, width=320)
        page = found.begin()
        page.set_viewport_size({"width": 320, "height": 300})
        for slider in page.get_by_role("slider").all():
            slider.focus()
            page.keyboard.press("5")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.get_by_role("button", name="Finish").click()
        expect(page.get_by_role("heading", name="Everything is done")).to_be_visible()
        found.context.close()


SAID = """() => [...document.querySelectorAll('.translation')].flatMap((one) => {
    const parts = ['.text', '.controls', '.rating'].map((part) => one.querySelector(part));
    const [text, row, line] = parts.map((part) => part.getBoundingClientRect());
    return [[row.top - text.bottom, row.height, line.top - row.top]];
})"""


@pytest.mark.parametrize("protocol", ["esa", "contrastive-esa"])
def test_what_is_said_stands_in_one_row_below_the_translation_and_marks_and_warnings_move_none_of_it(
    tmp_path: Path, chromium: Browser, protocol: str
) -> None:
    row = ("The museum reopens on Monday. " * 20, *(f"Das Museum öffnet am Montag. {n}" for n in range(2)))
    texts = make_test_set("en-de", row if protocol != "esa" else row[:2])
    with serving(tmp_path / "campaign", texts, protocol=protocol) as site:
        found = visit(chromium, site, width=768)
        page = found.begin()
        before = page.evaluate(SAID)
        assert all(gap < 12 and height < 32 and top < 2 for gap, height, top in before)
        page.get_by_role("slider").first.click(position={"x": 20, "y": 14})
        expect(page.locator(".warning").first).not_to_be_empty()
        assert page.evaluate(SAID) == before
        press(page, "t", "w", "1", "ArrowRight", "w", "2", "ArrowRight", "w", "1", "w", "w", "2")
        expect(page.locator(".errors").first.locator("li")).to_have_count(4)
        assert page.evaluate(SAID) == before
        found.context.close()


def test_the_ticks_of_a_line_stand_where_its_thumb_does(tmp_path: Path, chromium: Browser) -> None:
    with serving(tmp_path / "campaign", make_test_set("en-de", *ROWS), protocol="da-sqm") as site:
        found = visit(chromium, site)
        slider = found.begin().get_by_role("slider").first
        ticks = "line => getComputedStyle(line).backgroundImage.split('linear-gradient').length"
        before = slider.evaluate(ticks)
        slider.focus()
        found.page.keyboard.press("5")
        assert slider.evaluate(ticks) == before == 9  # nothing, seven anchors and the line itself
        found.context.close()
