"""What a person marks is what the store has, in every script, with the mouse and with the keyboard."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.served import Visit, make_test_set, serving, visit

pytestmark = pytest.mark.browser

SCRIPTS = {  # target: (translation, the words to be marked)
    "de": ("Der schöne Abend war schön.", "schöne"),
    "fr": ("Le cafe\u0301 noir e\u0301tait froid.", "cafe\u0301"),
    "ar": ("قرأ 12 كتابًا هذا الصيف في بيروت.", "كتابًا"),
    "he": ("הוא קרא 12 ספרים בקיץ הזה.", "ספרים"),
    "hi": ("कुत्ता तुरंत घर भाग गया।", "तुरंत"),
    "th": ("ครอบครัวไปเที่ยวทะเลเมื่อวานนี้", "เที่ยว"),
    "ja": ("静かな夜でした。雪が降りました。", "雪"),
    "zh": ("商店早上九点开门，中午休息。", "九点"),
    "ko": ("가게는 아침 아홉 시에 문을 엽니다.", "아침"),
    "en": ("The family 👨‍👩‍👧‍👦 waved 👋🏽 goodbye 🇨🇭 today.", "👨‍👩‍👧‍👦"),
}


@dataclass
class Case:
    """A task of one segment, open in a browser, and what is to be marked in it."""

    visit: Visit
    code: str
    text: str
    part: str

    @property
    def page(self) -> Page:
        return self.visit.page

    @property
    def start(self) -> int:
        return self.text.index(self.part)

    @property
    def end(self) -> int:
        return self.start + len(self.part)

    def graphemes(self, text: str) -> list[int]:
        """Lengths of what people see as characters, as the browser itself has them."""
        code = "text => [...new Intl.Segmenter().segment(text)].map((s) => Array.from(s.segment).length)"
        found: list[int] = self.page.evaluate(code, text)
        return found

    def is_stored(self, severity: str) -> bool:
        """Whether the store has this mark alone, and removing it removes it there."""
        self.visit.settle()
        (span,) = self.visit.site.state()["translations"][0]["spans"]
        assert (span["text"], span["start"], span["end"]) == (self.part, self.start, self.end)
        self.page.locator(".translation .text").focus()
        self.page.keyboard.press("Home")
        self.page.keyboard.press("n")
        self.page.keyboard.press("Delete")
        self.visit.settle()
        assert self.visit.site.state()["translations"][0]["spans"] == []
        assert not self.visit.misdeeds
        return bool(span["severity"] == severity)


SHOWN = ("ar", "en", "hi")
"""Targets that are tried by day: from right to left, characters of many code points, clusters."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(code, marks=() if code in SHOWN else pytest.mark.nightly, id=code) for code in SCRIPTS
    ],
)
def case(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, request: pytest.FixtureRequest
) -> Iterator[Case]:
    """An ESA task of one segment."""
    text, part = SCRIPTS[request.param]
    test_set = make_test_set(
        f"{'de' if request.param == 'en' else 'en'}-{request.param}", ("A source.", text)
    )
    with serving(tmp_path_factory.mktemp("marking") / "campaign", test_set) as site:
        found = visit(chromium, site)
        found.begin()
        yield Case(found, request.param, text, part)
        found.context.close()


def place(page: Page, start: int, end: int) -> dict[str, float]:
    """Left, right and middle of a stretch of a text on the screen, in code points."""
    box: dict[str, float] = page.locator(".translation .text").evaluate(
        """(text, [start, end]) => {
            const node = [...text.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
            const chars = Array.from(node.data);
            const range = document.createRange();
            range.setStart(node, chars.slice(0, start).join('').length);
            range.setEnd(node, chars.slice(0, end).join('').length);
            const rect = range.getBoundingClientRect();
            const {left, right, top, width, height} = rect;
            return {left, right, x: left + width / 2, y: top + height / 2};
        }""",
        [start, end],
    )
    return box


def test_a_drag_marks_just_what_was_dragged_over(case: Case) -> None:
    box = place(case.page, case.start, case.end)
    case.page.mouse.move(box["left"] + 1, box["y"])
    case.page.mouse.down()
    case.page.mouse.move(box["right"] - 1, box["y"], steps=4)
    case.page.mouse.up()
    case.page.locator("#menu").get_by_role("button", name="major").click()
    expect(case.page.locator(".translation .errors li")).to_have_count(1)
    assert case.is_stored("major")


def test_two_clicks_mark_from_one_character_to_the_other(case: Case) -> None:
    lengths = case.graphemes(case.part)
    first = place(case.page, case.start, case.start + lengths[0])
    last = place(case.page, case.end - lengths[-1], case.end)
    case.page.mouse.click(last["x"], last["y"])
    if len(lengths) == 1:  # at the same place, that would be a double click
        case.page.locator(".translation .text").dispatch_event(
            "click", {"clientX": first["x"], "clientY": first["y"], "detail": 1}
        )
    else:
        case.page.mouse.click(first["x"], first["y"])
    case.page.locator("#menu").get_by_role("button", name="minor").click()
    assert case.is_stored("minor")


def test_the_keyboard_marks_by_character(case: Case) -> None:
    forward = "ArrowLeft" if case.code in {"ar", "he"} else "ArrowRight"
    case.page.locator(".translation .text").focus()
    case.page.keyboard.press("Home")
    for _ in case.graphemes(case.text[: case.start]):
        case.page.keyboard.press(forward)
    for _ in case.graphemes(case.part):
        case.page.keyboard.press(f"Shift+{forward}")
    case.page.keyboard.press("2")
    assert case.is_stored("major")


def test_a_finger_marks_what_its_handles_enclose(case: Case) -> None:
    """The browser's own selection, as a long press makes it; the menu follows it."""
    case.page.locator(".translation .text").dispatch_event("pointerdown", {"pointerType": "touch"})
    case.page.evaluate(
        """([start, end]) => {
            const node = document.querySelector('.translation .text').firstChild;
            const chars = Array.from(node.data);
            const unit = (point) => chars.slice(0, point).join('').length;
            getSelection().setBaseAndExtent(node, unit(start), node, unit(end));
        }""",
        [case.start, case.end],
    )
    case.page.locator("#menu").get_by_role("button", name="minor").click()
    case.page.locator(".translation .text").dispatch_event("pointerdown", {"pointerType": "mouse"})
    assert case.is_stored("minor")
