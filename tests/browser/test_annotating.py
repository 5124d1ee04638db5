"""Every protocol from the link to the last click, with the mouse and with the keyboard alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from adjudge.core.record import Annotation, ErrorSpan
from tests.browser.served import Visit, make_test_set, opening, press

pytestmark = pytest.mark.browser

ROWS = (
    ("The cat sleeps on the red mat.", "Die Katze schläft auf der roten Matte.", "Der Kater schlief dort."),
    ("It snores.", "Sie schnarcht.", "Es schnurrt."),
)
Open = Callable[..., Visit]
ONE_SYSTEM = make_test_set("en-de", *(row[:2] for row in ROWS))
TWO_SYSTEMS = make_test_set("en-de", *ROWS)


@pytest.fixture
def open_task(tmp_path: Path, chromium: Browser) -> Iterator[Open]:
    """Serve a campaign of a protocol, and open its first task."""
    with opening(tmp_path, chromium) as make:
        yield lambda protocol, texts=TWO_SYSTEMS, **settings: make(protocol, texts, **settings)


def drag(
    page: Page, words: str, selector: str = ".item[aria-current] .translation .text", nth: int = 0
) -> None:
    """Select words with the mouse."""
    box = (
        page.locator(selector)
        .nth(nth)
        .evaluate(
            """(text, words) => {
            const start = text.textContent.indexOf(words);
            const range = document.createRange();
            range.setStart(text.firstChild, start);
            range.setEnd(text.firstChild, start + words.length);
            const {left, right, top, height} = range.getBoundingClientRect();
            return [left + 1, right - 1, top + height / 2];
        }""",
            words,
        )
    )
    page.mouse.move(box[0], box[2])
    page.mouse.down()
    page.mouse.move(box[1], box[2], steps=3)
    page.mouse.up()


def marks(state: dict[str, list[dict[str, list[dict[str, str]]]]], index: int = 0) -> list[tuple[str, str]]:
    return [(span["text"], span["severity"]) for span in state["translations"][index]["spans"]]


def ends_well(found: Visit) -> None:
    found.page.wait_for_url("**/work")
    assert not found.misdeeds


# With the mouse...


def test_esa_with_the_mouse(open_task: Open) -> None:
    found = open_task("esa", ONE_SYSTEM)
    page = found.page
    drag(page, "roten")
    page.get_by_role("button", name="major").click()
    drag(page, "Katze schläft")
    page.get_by_role("button", name="minor").click()
    current = page.locator(".item[aria-current]")
    current.get_by_label("Something of the source is missing").select_option("major")
    expect(current.get_by_role("slider")).to_have_attribute("aria-valuetext", "not rated yet")
    current.get_by_role("slider").click()
    page.locator(".item").nth(1).get_by_role("slider").click(position={"x": 3, "y": 10})
    expect(page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")
    expect(page.locator(".item[aria-current] .warning")).to_contain_text("no error is marked")
    found.settle()
    first, second = found.site.states()
    assert marks(first) == [("Katze schläft", "minor"), ("roten", "major")]
    assert first["translations"][0]["missing"] == {"severity": "major", "category": None}
    assert first["translations"][0]["rating"] == 50
    assert second["translations"][0]["rating"] < 5
    page.get_by_role("button", name="Finish").click()
    ends_well(found)


@pytest.mark.parametrize("way", ["drag", "double click", "two clicks"])
def test_nothing_moves_under_the_pointer_when_it_goes_to_another_segment(open_task: Open, way: str) -> None:
    found = open_task("esa", ONE_SYSTEM)
    page = found.page
    page.locator(".item[aria-current]").get_by_role("slider").click()
    text = page.locator(".item").nth(1).locator(".translation .text")
    before = text.bounding_box()
    assert before is not None
    x, y = before["x"] + 5, before["y"] + before["height"] / 2
    if way == "drag":
        drag(page, "Sie", ".item:nth-child(2) .translation .text")
    elif way == "double click":
        page.mouse.dblclick(x, y, delay=50)
    else:
        page.mouse.click(x, y, delay=50)
        page.wait_for_timeout(700)  # no double click
        page.mouse.click(x + 14, y, delay=50)
    page.get_by_role("button", name="minor").click()
    found.settle()
    first, second = found.site.states()
    assert (marks(first), first["translations"][0]["rating"]) == ([], 50)
    ((words, _),) = marks(second)
    assert words in "Sie" if way == "two clicks" else words == "Sie"
    assert text.bounding_box() == before
    assert not found.misdeeds


def test_mqm_with_the_mouse(open_task: Open) -> None:
    found = open_task("mqm", make_test_set("en-de", ROWS[0][:2]), critical=True)
    page = found.page
    drag(page, "roten")
    page.get_by_role("button", name="critical").click()
    page.get_by_label("Category").select_option("fluency/grammar")
    page.get_by_label("Note").fill("wrong ending")
    page.locator("#menu").get_by_role("button", name="Close").click()
    drag(page, "red", ".item[aria-current] .source .text")
    page.get_by_role("button", name="minor").click()
    page.get_by_role("button", name="All errors are marked").click()
    expect(page.locator("#hint")).to_have_text("segment 1: still to do: categories.")
    page.locator(".errors").get_by_role("button", name="red").click()
    page.get_by_label("Category").select_option("accuracy/omission")
    page.locator("#menu").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="All errors are marked").click()
    ends_well(found)
    spans = found.site.state()["translations"][0]["spans"]
    kept = [(s["text"], s["side"], s["severity"], s["category"], s["note"]) for s in spans]
    assert kept == [
        ("roten", "translation", "critical", "fluency/grammar", "wrong ending"),
        ("red", "source", "minor", "accuracy/omission", ""),
    ]


def test_a_non_translation_in_mqm(open_task: Open) -> None:
    found = open_task("mqm", make_test_set("en-de", ROWS[0][:2]))
    found.page.get_by_label("no translation of the source at all").check()
    found.page.get_by_role("button", name="All errors are marked").click()
    ends_well(found)
    assert found.site.state()["is_non_translation"] == [True]


def test_sqm_has_half_steps_where_they_are_asked_for(open_task: Open) -> None:
    found = open_task("sqm", make_test_set("en-de", ROWS[0][:2]), half_steps=True)
    expect(found.page.get_by_role("radio")).to_have_count(9)
    assert not found.page.locator("input:checked").count()
    found.page.get_by_label("2.5").check()
    found.page.get_by_role("button", name="Finish").click()
    ends_well(found)
    assert found.site.state()["translations"][0]["rating"] == 2.5


def test_contrastive_esa_rates_every_translation(open_task: Open) -> None:
    found = open_task("contrastive-esa", make_test_set("en-de", ROWS[1]))
    page = found.page
    for index in range(2):
        page.get_by_role("slider").nth(index).click()
        expect(page.get_by_role("slider").nth(index)).to_have_attribute("aria-valuetext", "50")
    drag(page, "schn", nth=1)
    page.get_by_role("button", name="minor").click()
    page.get_by_role("button", name="Finish").click()
    ends_well(found)
    state = found.site.state()
    assert [one["rating"] for one in state["translations"]] == [50, 50]
    assert [len(marks(state, index)) for index in range(2)] == [0, 1]


def test_pairwise_with_reasons(open_task: Open) -> None:
    found = open_task("pairwise", make_test_set("en-de", ROWS[1]))
    page = found.page
    for criterion, verdict in zip(("Faithfulness", "Fluency", "Style", "Overall"), "AEBB", strict=True):
        words = {"A": "A is better", "E": "equally good", "B": "B is better"}[verdict]
        page.get_by_role("group", name=criterion).get_by_label(words).check()
    drag(page, "schn", nth=1)
    page.get_by_role("button", name="minor").click()
    page.locator(".errors").get_by_role("button", name="schn").click()
    page.get_by_label("Note").fill("not a sound of sleep")
    page.locator("#menu").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Finish").click()
    ends_well(found)
    state = found.site.state()
    assert state["verdicts"] == {"faithfulness": "A", "fluency": "E", "style": "B", "overall": "B"}
    assert state["translations"][1]["spans"][0]["note"] == "not a sound of sleep"


def test_post_edit_never_throws_away_what_was_written(open_task: Open) -> None:
    found = open_task("post-edit", make_test_set("en-de", ROWS[1]))
    page = found.page
    drafts = page.locator(".translation .text").all_text_contents()
    page.get_by_label("Choose this draft").nth(0).check()
    area = page.get_by_label("Your reference")
    expect(area).to_have_value(drafts[0])
    page.get_by_label("Choose this draft").nth(1).check()
    expect(area).to_have_value(drafts[1])
    area.fill(drafts[1].replace(".", " laut."))
    expect(page.locator(".diff ins")).to_have_text([" laut"])
    page.get_by_label("Choose this draft").nth(0).check()
    expect(area).to_have_value(drafts[1].replace(".", " laut."))
    page.get_by_role("button", name="Finish").click()
    ends_well(found)
    state = found.site.state()
    assert (state["chosen"], state["edited"]) == (0, drafts[1].replace(".", " laut."))


def test_esa_ai_shows_what_was_marked_beforehand_and_keeps_what_became_of_it(open_task: Open) -> None:
    row = ROWS[0][:2]
    start = row[1].index("roten")
    given = [
        Annotation(
            lp="en-de",
            segment="0",
            document="doc",
            system="System0",
            annotator="judge",
            protocol="mqm",
            spans=tuple(
                ErrorSpan(severity="minor", text=row[1][a:b], start=a, end=b)
                for a, b in ((0, 3), (4, 9), (start, start + 5))
            ),
        )
    ]
    found = open_task("esa-ai", make_test_set("en-de", row), given=given)
    page = found.page
    expect(page.locator("main > .soft")).to_contain_text("keep, change or remove each mark")
    expect(page.locator(".errors .badge")).to_have_text(["marked beforehand"] * 3)
    page.locator(".errors").get_by_role("button", name="Die").click()
    page.locator("#menu").get_by_role("button", name="Remove").click()
    page.locator(".errors").get_by_role("button", name="roten").click()
    page.locator("#menu").get_by_role("button", name="major").click()
    expect(page.locator(".errors .badge")).to_have_text(["marked beforehand", "changed by you"])
    page.get_by_role("slider").click()
    page.get_by_role("button", name="Finish").click()
    ends_well(found)
    part = found.site.state()["translations"][0]
    assert [(s["text"], s["severity"], s["given"]) for s in part["spans"]] == [
        ("Katze", "minor", 1),
        ("roten", "major", 2),
    ]
    assert part["removed"] == [0]


# With the keyboard alone...


def test_esa_with_the_keyboard(open_task: Open) -> None:
    found = open_task("esa", ONE_SYSTEM)
    page = found.page
    press(page, "t")
    expect(page.locator(".item[aria-current] .translation .text")).to_be_focused()
    press(page, "Control+ArrowRight", "w", "w", "1")  # Die, schläft
    press(page, "Home", "n", "2", "x", "Shift+Control+ArrowRight", "Enter")  # major, and longer
    press(page, "m", "r", "7", "2", "Control+Enter")
    expect(page.locator(".item").nth(1)).to_have_attribute("aria-current", "true")
    press(page, "r", "ArrowRight", "c")
    page.keyboard.type("fine")
    press(page, "Control+Enter")
    ends_well(found)
    first, second = found.site.states()
    assert marks(first) == [("Die Katze schläft", "major")]
    assert first["translations"][0]["missing"]["severity"] == "minor"
    assert (first["translations"][0]["rating"], second["translations"][0]["rating"]) == (72, 51)
    assert second["comment"] == "fine"


def test_mqm_with_the_keyboard(open_task: Open) -> None:
    found = open_task("mqm", make_test_set("en-de", ROWS[0][:2]))
    page = found.page
    press(page, "t", "Control+ArrowRight", "ArrowRight", "w", "3")
    expect(page.get_by_label("Category")).to_be_focused()
    page.keyboard.type("gg")  # the second with g; different letters count together within one second only
    press(page, "Tab")
    page.keyboard.type("case")
    press(page, "Enter", "t", "w", "2")
    page.keyboard.type("o")
    press(page, "Escape", "Control+Enter")
    ends_well(found)
    spans = found.site.state()["translations"][0]["spans"]
    assert [(s["text"], s["side"], s["severity"], s["category"], s["note"]) for s in spans] == [
        ("Katze", "translation", "major", "fluency/grammar", "case"),
        ("The", "source", "minor", "accuracy/omission", ""),
    ]


def test_pairwise_with_the_keyboard(open_task: Open) -> None:
    found = open_task("pairwise", make_test_set("en-de", ROWS[1]))
    press(found.page, "r", "Space", "r", "ArrowRight", "r", "ArrowLeft", "r", "Space", "Control+Enter")
    ends_well(found)
    assert found.site.state()["verdicts"] == {
        "faithfulness": "A",
        "fluency": "E",
        "style": "B",
        "overall": "A",
    }


@pytest.mark.parametrize(("protocol", "rating"), [("da-sqm", 72), ("sqm", 3)])
def test_ratings_with_the_keyboard(open_task: Open, protocol: str, rating: float) -> None:
    found = open_task(protocol, make_test_set("en-de", ROWS[0][:2]))
    press(found.page, "r", *(("7", "2") if protocol == "da-sqm" else ("Space", "ArrowDown")), "Control+Enter")
    ends_well(found)
    assert found.site.state()["translations"][0]["rating"] == rating


def test_a_digit_chooses_a_rating_of_sqm(open_task: Open) -> None:
    found = open_task("sqm", make_test_set("en-de", ROWS[0][:2]))
    press(found.page, "r", "2", "3", "Control+Enter")
    ends_well(found)
    assert found.site.state()["translations"][0]["rating"] == 3


def test_a_digit_after_a_pause_begins_another_rating(open_task: Open) -> None:
    found = open_task("da-sqm", make_test_set("en-de", ROWS[0][:2]))
    press(found.page, "r", "1", "0")
    found.page.wait_for_timeout(1600)
    press(found.page, "0", "Control+Enter")
    ends_well(found)
    assert found.site.state()["translations"][0]["rating"] == 0


def test_escape_leaves_the_comment(open_task: Open) -> None:
    found = open_task("esa", make_test_set("en-de", ROWS[0][:2]))
    press(found.page, "t", "c", "x", "Escape")
    assert not found.page.evaluate("document.activeElement.matches('textarea')")


def test_contrastive_esa_with_the_keyboard(open_task: Open) -> None:
    found = open_task("contrastive-esa", make_test_set("en-de", ROWS[1]))
    press(found.page, "t", "w", "2", "r", "4", "0", "t", "t", "w", "1", "r", "8", "0", "Control+Enter")
    ends_well(found)
    state = found.site.state()
    assert [one["rating"] for one in state["translations"]] == [40, 80]
    assert [marks(state, index)[0][1] for index in range(2)] == ["major", "minor"]


def test_post_edit_with_the_keyboard(open_task: Open) -> None:
    found = open_task("post-edit", make_test_set("en-de", ROWS[1]))
    press(found.page, "r", "Space", "r", "Control+End")
    found.page.keyboard.type("!")
    press(found.page, "Control+Enter")
    ends_well(found)
    assert str(found.site.state()["edited"]).endswith(".!")


# Undo...


def test_every_change_is_undone_and_redone_and_saved_as_such(open_task: Open) -> None:
    found = open_task("esa", make_test_set("en-de", ROWS[0][:2]))
    page = found.page
    press(page, "t", "w", "1", "r", "4", "0", "m")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    found.settle()
    part = found.site.state()["translations"][0]
    assert (part["spans"], part["rating"], part["missing"]) == ([], None, None)
    press(page, "Control+Shift+z", "Control+y")
    found.settle()
    part = found.site.state()["translations"][0]
    assert (len(part["spans"]), part["rating"], part["missing"]) == (1, 40, None)
    assert found.site.kinds()[-5:] == ["undo"] * 3 + ["redo"] * 2
    press(page, "Control+y", "Control+y")
    expect(page.locator("#spoken")).to_have_text("nothing to redo")


def test_earlier_tasks_can_be_opened_and_changed_again(open_task: Open) -> None:
    found = open_task("da-sqm", make_test_set("en-de", ROWS[0]))
    press(found.page, "r", "5", "Control+Enter")
    found.page.wait_for_url("**/work/2")
    found.page.get_by_role("link", name="Overview").click()
    found.page.locator(".tasks a").first.click()
    expect(found.page.locator("output")).to_have_text("5")
    press(found.page, "r", "6", "Control+Enter")
    found.page.wait_for_url("**/work/2")
    rated = [state["translations"][0]["rating"] for _, kind, state in found.site.events() if kind == "rate"]
    assert rated == [5, 6]
