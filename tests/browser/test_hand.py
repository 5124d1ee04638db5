"""Few movements: a drag that ends on a severity, letters that find a word, digits that rate."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.served import Visit, make_test_set, opening, press

pytestmark = pytest.mark.browser

LONG = "Der alte Zug fährt jeden Morgen durch das Tal, und niemand weiß, warum er so langsam ist."
HINDI = "पुरानी रेलगाड़ी हर सुबह घाटी से गुज़रती है।"
HEBREW = "הרכבת הישנה נוסעת כל בוקר דרך העמק"
ENGLISH = ("The old train passes through the valley.", "Nobody knows why.")
GERMAN = make_test_set("en-de", (ENGLISH[0], LONG), (ENGLISH[1], "Niemand weiß es."))
Open = Callable[..., Visit]


@pytest.fixture
def open_task(tmp_path: Path, chromium: Browser) -> Iterator[Open]:
    """Serve a campaign of ESA, if of no other protocol, and open its first task."""
    with opening(tmp_path, chromium) as make:
        yield lambda protocol="esa", texts=GERMAN, **seen: make(protocol, texts, seen)


def place_of(page: Page, word: str, at: float = 0.5) -> tuple[float, float]:
    """A point in a word of the first translation."""
    x, y = page.locator(".translation .text").first.evaluate(
        """(text, [word, at]) => {
            const [range, node] = [document.createRange(), text.firstChild];
            range.setStart(node, node.data.indexOf(word));
            range.setEnd(node, node.data.indexOf(word) + word.length);
            const box = range.getBoundingClientRect();
            return [box.left + at * box.width, box.top + box.height / 2];
        }""",
        [word, at],
    )
    return x, y


def drag(page: Page, first: str, last: str) -> None:
    """From the first word to the last one, and straight up into the menu; the button stays down."""
    page.mouse.move(*place_of(page, first, 0.01))
    page.mouse.down()
    x, y = place_of(page, last, 0.99)
    page.mouse.move(x, y, steps=4)
    expect(page.locator("#menu")).to_be_visible()
    box = page.locator("#menu").bounding_box()
    assert box is not None
    page.mouse.move(x, box["y"] + box["height"] - 1, steps=8)


def release_on(page: Page, severity: str) -> None:
    box = page.locator(f".menu [data-severity={severity}]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=6)
    page.mouse.up()


def spans(found: Visit, item: int = 0) -> list[tuple[str, str]]:
    found.settle()
    return [(one["text"], one["severity"]) for one in found.site.states()[item]["translations"][0]["spans"]]


# The mouse...


@pytest.mark.parametrize("hand", ["mouse", "keys"])
def test_what_follows_a_drag_at_once_is_done_to_its_words(open_task: Open, hand: str) -> None:
    """A busy browser runs a timer after the clicks and keys that were made before it."""
    found = open_task("mqm")
    found.page.evaluate(
        "() => { const own = setTimeout; setTimeout = (act, delay = 0) => own(act, delay + 400); }"
    )
    drag(found.page, "jeden", "Morgen")
    found.page.mouse.move(*place_of(found.page, "Morgen", 0.99))
    found.page.mouse.up()
    menu = found.page.locator("#menu")
    if hand == "mouse":
        box = menu.locator("[data-severity=major]").bounding_box()
        assert box is not None
        found.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    else:
        found.page.keyboard.press("3")
    found.page.wait_for_timeout(600)
    menu.locator("input").fill("Zeit")
    assert spans(found) == [("jeden Morgen", "major")]
    assert found.site.states()[0]["translations"][0]["spans"][0]["note"] == "Zeit"


@pytest.mark.parametrize("severity", ["minor", "major"])
def test_a_drag_that_ends_on_a_severity_marks(open_task: Open, severity: str) -> None:
    found = open_task()
    drag(found.page, "jeden", "Morgen")
    release_on(found.page, severity)
    assert spans(found) == [("jeden Morgen", severity)]
    assert found.site.kinds() == ["mark"]
    expect(found.page.locator("#menu")).to_be_hidden()
    assert not found.page.evaluate("getSelection().toString()")
    press(found.page, "8", "1")
    found.settle()
    assert found.site.state()["translations"][0]["rating"] == 81
    assert not found.misdeeds


def test_what_is_let_go_beside_the_buttons_stays_selected(open_task: Open) -> None:
    found = open_task()
    page = found.page
    drag(page, "Zug", "Zug")
    page.mouse.up()
    expect(page.locator("#menu")).to_be_visible()
    page.locator(".menu [data-severity=minor]").click()
    assert spans(found) == [("Zug", "minor")]


def test_a_drag_backward_is_not_in_the_way_of_the_menu(open_task: Open) -> None:
    found = open_task()
    page = found.page
    page.mouse.move(*place_of(page, "Tal", 0.99))
    page.mouse.down()
    page.mouse.move(*place_of(page, "durch", 0.01), steps=4)
    expect(page.locator("#menu")).to_be_hidden()
    page.mouse.up()
    page.locator(".menu [data-severity=major]").click()
    assert spans(found) == [("durch das Tal", "major")]


def test_a_double_click_on_a_blank_selects_nothing(open_task: Open) -> None:
    found = open_task()
    page = found.page
    page.mouse.dblclick(*place_of(page, " "))
    page.wait_for_timeout(100)
    expect(page.locator("#menu")).to_be_hidden()
    page.mouse.dblclick(*place_of(page, "jeden"))
    page.locator(".menu [data-severity=minor]").click()
    assert spans(found) == [("jeden", "minor")]


@pytest.mark.parametrize("is_touch", [False, True])
def test_a_tap_at_the_end_of_a_line_takes_no_blank_along(open_task: Open, is_touch: bool) -> None:
    found = open_task(
        texts=make_test_set("en-de", (LONG, f"{LONG} {LONG} {LONG}")), width=390, has_touch=True
    )
    page = found.page
    word, x, y = page.locator(".translation .text").first.evaluate(
        """(text) => {
            const [range, node] = [document.createRange(), text.firstChild];
            const top = (at) => {
                range.setStart(node, at);
                range.setEnd(node, at + 1);
                return range.getBoundingClientRect().top;
            };
            let at = 0;
            while (top(at + 1) === top(0)) at += 1;
            const last = node.data.slice(0, at + 1).trimEnd();
            const word = last.slice(last.lastIndexOf(" ") + 1);
            top(last.length - 1);
            const box = range.getBoundingClientRect();
            return [word, box.right + 2, box.top + box.height / 2];
        }"""
    )
    tap = page.touchscreen.tap if is_touch else page.mouse.click
    tap(*place_of(page, word, 0.05))
    page.wait_for_timeout(600)  # else it is a double tap
    tap(x, y)
    page.locator(".menu [data-severity=minor]").click()
    assert spans(found) == [(word, "minor")]


# The keyboard...


def test_seven_keys_mark_in_the_middle_rate_and_go_on(open_task: Open) -> None:
    found = open_task()
    press(found.page, "/", "m", "o", "2", "6", "4", "Enter")
    expect(found.page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")
    assert spans(found) == [("Morgen", "major")]
    assert found.site.states()[0]["translations"][0]["rating"] == 64
    press(found.page, "9", "9", "Enter")
    found.page.wait_for_url("**/work")
    assert [one["translations"][0]["rating"] for one in found.site.states()] == [64, 99]
    assert not found.misdeeds


@pytest.mark.parametrize(
    ("lp", "text", "keys", "wanted"),
    [
        ("en-de", LONG, "faehrt", None),
        ("en-de", LONG, "FAHR", "fährt"),
        ("en-de", LONG, "d/", "durch"),
        ("en-de", LONG, "d///", "Der"),
        ("en-hi", HINDI, "घा", "घाटी"),
        ("en-he", HEBREW, "בו", "בוקר"),
        ("en-uk", "Старий потяг їде крізь долину", "їд", "їде"),
        ("en-de", "Im Jahr 2024 fuhr er 20 Mal", "202", "2024"),
    ],
)
def test_letters_find_a_word(open_task: Open, lp: str, text: str, keys: str, wanted: str | None) -> None:
    found = open_task(texts=make_test_set(lp, (ENGLISH[0], text)))
    page = found.page
    press(page, "/")
    for key in keys:  # as keyboards of any script press them
        page.evaluate(
            """(key) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))""",
            key,
        )
    if wanted is None:
        expect(page.locator("#hint")).to_contain_text("fa")
        press(page, "Escape")
        expect(page.locator("#hint")).to_be_empty()
        return
    press(page, "Enter", "1")
    assert spans(found) == [(wanted, "minor")]
    expect(page.locator("#hint")).to_be_empty()


def test_a_letter_that_no_word_has_does_not_count(open_task: Open) -> None:
    found = open_task()
    press(found.page, "/", "n", "Backspace", "t", "x", "a", "Shift+Control+ArrowRight", "2")
    assert spans(found) == [("Tal, und", "major")]


def test_a_digit_with_nothing_selected_never_marks_and_with_a_selection_never_rates(open_task: Open) -> None:
    found = open_task()
    page = found.page
    press(page, "t", "Home", "1")
    found.settle()
    state = found.site.state()["translations"][0]
    assert (state["spans"], state["rating"]) == ([], 1)
    press(page, "w", "2")
    found.settle()
    state = found.site.state()["translations"][0]
    assert ([span["severity"] for span in state["spans"]], state["rating"]) == (["major"], 1)
    press(page, "n", "1")
    found.settle()
    state = found.site.state()["translations"][0]
    assert ([span["severity"] for span in state["spans"]], state["rating"]) == (["minor"], 1)


def test_digits_write_a_number_and_a_pause_begins_another(open_task: Open) -> None:
    found = open_task()
    page = found.page
    press(page, "1", "0", "0")
    expect(page.locator("output").first).to_have_text("100")
    page.wait_for_timeout(700)
    press(page, "4")
    expect(page.locator("output").first).to_have_text("4")
    press(page, "2")
    found.settle()
    assert found.site.state()["translations"][0]["rating"] == 42


@pytest.mark.parametrize(("before", "after"), [("", None), ("42", 42)])
@pytest.mark.parametrize("typed", ["150", "101", "1000", "999"])
def test_a_number_beyond_the_scale_is_no_rating_and_the_page_says_so(
    open_task: Open, typed: str, before: str, after: int | None
) -> None:
    found = open_task()
    page = found.page
    press(page, *before)
    page.wait_for_timeout(700)
    press(page, *typed)
    expect(page.locator("#hint")).to_have_text(f"{typed} is no rating: it is 0 to 100.")
    expect(page.locator("output").first).to_have_text(before or "–")
    found.settle()
    assert found.site.state()["translations"][0]["rating"] == after


def test_enter_of_a_button_a_list_and_a_field_is_their_own(open_task: Open) -> None:
    found = open_task()
    page = found.page
    press(page, "5", "0", "c")
    page.keyboard.type("two")
    press(page, "Enter")
    page.keyboard.type("lines")
    expect(page.locator(".item").first).to_have_attribute("aria-current", "true")
    press(page, "Control+Enter")
    expect(page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")
    found.settle()
    assert found.site.states()[0]["comment"] == "two\nlines"
    page.locator("#show-keys").focus()
    press(page, "Enter")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")


def test_a_key_that_is_held_down_ends_one_segment(open_task: Open) -> None:
    found = open_task("mqm", make_test_set("en-de", *((source, LONG) for source in ENGLISH * 2)))
    page = found.page
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    expect(page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")
    found.settle()
    assert found.site.kinds() == ["complete"]


def test_enter_names_what_is_missing(open_task: Open) -> None:
    found = open_task()
    press(found.page, "t", "Enter")
    expect(found.page.locator("#hint")).to_have_text("segment 1: still to do: rating.")
    assert found.page.evaluate("document.activeElement.type") == "range"


def test_letters_say_which_is_better(open_task: Open) -> None:
    texts = make_test_set("en-de", (ENGLISH[0], LONG, "Ein Zug."), (ENGLISH[1], "Niemand.", "Keiner."))
    found = open_task("pairwise", texts)
    press(found.page, "b", "a", "e", "b", "Enter", "e", "e", "a", "a", "Enter")
    found.page.wait_for_url("**/work")
    assert ["".join(one["verdicts"].values()) for one in found.site.states()] == ["BAEB", "EEAA"]


def test_letters_choose_a_category(open_task: Open) -> None:
    found = open_task("mqm")
    page = found.page
    press(page, "/", "t", "a", "2", "o", "m", "Enter")
    found.settle()
    (span,) = found.site.state()["translations"][0]["spans"]
    assert (span["text"], span["category"]) == ("Tal", "accuracy/omission")
    expect(page.locator("#menu")).to_be_hidden()


def test_letters_choose_the_category_of_a_mark_that_was_clicked(open_task: Open) -> None:
    found = open_task("mqm")
    page = found.page
    press(page, "/", "t", "a", "2", "o", "m", "Enter")
    page.locator("button.mark-line").click()
    press(page, "m", "i", "s", "Enter")
    expect(page.locator("#menu")).to_be_hidden()
    found.settle()
    translation = found.site.state()["translations"][0]
    assert [span["category"] for span in translation["spans"]] == ["accuracy/mistranslation"]
    assert translation["missing"] is None


def test_single_keys_that_are_off_leave_the_digits_of_the_rating(open_task: Open) -> None:
    found = open_task()
    page = found.page
    press(page, "?")
    page.locator("#keys input").uncheck()
    press(page, "Escape")
    page.evaluate("document.activeElement.blur()")
    press(page, "7", "r")
    expect(page.locator("output").first).to_have_text("–")
    page.get_by_role("slider").first.focus()
    press(page, "7")
    expect(page.locator("output").first).to_have_text("7")


@pytest.mark.parametrize(("lp", "text"), [("en-de", LONG), ("en-he", HEBREW)])
def test_the_caret_goes_down_line_by_line_in_its_column(open_task: Open, lp: str, text: str) -> None:
    found = open_task(texts=make_test_set(lp, (ENGLISH[0], f"{text} " * 12)))
    page = found.page
    press(page, "t", "Home")
    places = []
    for _ in range(4):
        places.append(page.locator(".caret").evaluate("(one) => [one.offsetLeft, one.offsetTop]"))
        press(page, "ArrowDown")
    lefts, tops = zip(*places, strict=True)
    assert len(set(lefts)) == 1
    assert {lower - upper for upper, lower in pairwise(tops)} == {22}
