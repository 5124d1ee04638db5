"""Every page of an annotator: usable by everyone, on every screen, and asking nobody else for anything."""

import base64
import wave
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from adjudge.campaigns.settings import NAMES
from adjudge.core.record import Annotation, ErrorSpan
from tests.browser.served import Site, Visit, faults, make_test_set, serving, visit

pytestmark = pytest.mark.browser

LONG = "Der Donaudampfschifffahrtsgesellschaftskapitän verlor\u200b seine Mütze. 12.345,67\u00a0€"
BEFOREHAND = [
    Annotation(
        lp="en-de",
        segment=segment,
        document="doc",
        system=system,
        annotator="judge",
        protocol="mqm",
        spans=(ErrorSpan(severity="minor", start=0, end=2),),
    )
    for segment in ("0", "1")
    for system in ("System0", "System1")
]


@pytest.fixture(scope="module", params=NAMES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A campaign of each protocol, with a code at its end."""
    texts = make_test_set(
        "en-de", ("The captain lost his hat.", LONG, "Die Mütze fiel."), ("Oh.", "Oh.", "Ach.")
    )
    folder = tmp_path_factory.mktemp("pages") / "campaign"
    more: dict[str, Any] = {"given": BEFOREHAND} if request.param == "esa-ai" else {}
    with serving(folder, texts, protocol=request.param, code_pass="PASS-1", **more) as found:
        yield found


def wider(page: Page, width: int) -> list[str]:
    """What is wider than the window, once it is drawn; nothing where the page cannot be scrolled sideways."""
    page.set_viewport_size({"width": width, "height": 800})
    found: list[str] = page.evaluate(
        """async (width) => {
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            if (document.documentElement.scrollWidth <= width) return [];
            return [...document.body.querySelectorAll('*')]
              .filter((e) => e.getBoundingClientRect().right > width).map((e) => e.outerHTML.slice(0, 120));
        }""",
        width,
    )
    return found


def with_marks(found: Visit) -> Page:
    """A task under way: two marks, an open menu, an open comment."""
    page = found.begin()
    if page.locator(".markable").count():
        page.keyboard.press("t")
        for key in ("w", "1", "Escape", "Control+ArrowRight", "w", "2", "Escape", "w", "Enter"):
            page.keyboard.press(key)
    page.locator(".item[aria-current] .comment").evaluate("details => { details.open = true; }")
    return page


def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(site: Site, chromium: Browser) -> None:
    found = visit(chromium, site, bypass_csp=True)
    assert faults(found.page) == []
    page = with_marks(found)
    assert faults(page) == []
    for width in (320, 768, 1440):
        assert wider(page, width) == []
    for name in ("Guidelines", "Keys"):
        page.get_by_role("button", name=name).click()
        assert wider(page, 320) == []
        assert faults(page) == []
        page.locator("dialog[open]").get_by_role("button", name="Close").click()
    for address in ("/guidelines", "/", "/sign-in", "/work/999"):
        page.goto(site.url + address)
        assert faults(page) == []
        assert wider(page, 320) == []
    found.context.close()


def test_under_its_policy_a_page_asks_nobody_else_and_complains_of_nothing(
    site: Site, chromium: Browser
) -> None:
    found = visit(chromium, site)
    with_marks(found)
    assert not found.misdeeds
    found.context.close()


# What holds for every protocol, shown with one...


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is closed at the end."""
    with ExitStack() as found:
        yield found


def opened(stack: ExitStack, chromium: Browser, folder: Path, lp: str, *row: str, **more: Any) -> Visit:
    site = stack.enter_context(serving(folder / "campaign", make_test_set(lp, row), **more))
    found = visit(chromium, site)
    stack.callback(found.context.close)
    return found


def test_at_the_end_there_is_a_code_to_be_copied(stack: ExitStack, chromium: Browser, tmp_path: Path) -> None:
    more = {"protocol": "da-sqm", "code_pass": "PASS-1"}
    found = opened(stack, chromium, tmp_path, "en-de", "Yes.", "Ja.", **more)
    page = found.begin()
    for key in ("r", "9", "Control+Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**/work")
    expect(page.locator("#code")).to_have_text("PASS-1")
    expect(page.locator("#go")).to_be_hidden()
    page.reload()
    page.locator("#go").click()
    expect(page.locator("#code")).to_have_text("PASS-1")
    found.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#copied")).to_have_text("Copied")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(found.site.url + "/")
    page.goto(found.site.url + "/work")
    page.wait_for_url(found.site.url + "/")


def test_texts_keep_every_character_in_one_node_with_language_and_direction(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    odd = "قال\r\n\u202e12 <b>&amp;\u2028\u200f x"
    page = opened(stack, chromium, tmp_path, "en-ar", "a\u200bb", odd).begin()
    text = page.locator(".translation .text")
    assert text.evaluate("text => [text.childNodes.length, text.firstChild.data]") == [1, odd]
    assert (text.get_attribute("lang"), text.get_attribute("dir")) == ("ar", "rtl")
    names = page.locator(".layer .invisible").evaluate_all("all => all.map((e) => e.dataset.name)")
    assert names == ["ZWSP", "CR", "RLO", "LS", "RLM"]


def test_without_custom_highlights_boxes_lie_behind_the_text(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    found = opened(stack, chromium, tmp_path, "en-de", "One cat.", "Eine Katze.")
    found.context.add_init_script("delete window.Highlight")
    page = found.begin()
    for key in ("t", "w", "1", "w", "w", "2"):
        page.keyboard.press(key)
    boxes = page.locator(".layer .box.span").evaluate_all("all => all.map((e) => e.className)")
    assert boxes == ["box span major lane-0", "box span minor lane-1"]
    assert not found.misdeeds


LARGEST = """() => {
    const shown = [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility()
      && [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    const sizes = shown.map((e) => [parseFloat(getComputedStyle(e).fontSize), e.className]);
    const most = Math.max(...sizes.map(([size]) => size));
    return sizes.filter(([size]) => size === most).map(([_, name]) => name.split(' ')[0]);
}"""
LINE_AND_MENU = """() => {
    const box = (e) => { const {top, bottom} = e.getBoundingClientRect(); return {top, bottom}; };
    const {left, right} = document.querySelector('#menu').getBoundingClientRect();
    return {menu: box(document.querySelector('#menu')), left, right: innerWidth - right,
            line: box([...CSS.highlights.get('minor-0')].at(-1))};
}"""


@pytest.mark.parametrize("lp", ["en-de", "en-ar"])
def test_the_text_is_the_largest_and_the_menu_of_a_mark_leaves_its_line_free(
    stack: ExitStack, chromium: Browser, tmp_path: Path, lp: str
) -> None:
    row = ("A long story. " * 9, {"en-de": LONG, "en-ar": "ارتفع السعر في 12 مارس 2024 بنسبة 3.5%. "}[lp] * 3)
    page = opened(stack, chromium, tmp_path, lp, *row).begin()
    assert set(page.evaluate(LARGEST)) == {"text"}
    for key in ("t", "ArrowDown", "w", "1", "Enter"):
        page.keyboard.press(key)
    for width in (320, 768, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(  # the menu follows its line once the window has been laid out anew
            f"""() => {{
                const found = ({LINE_AND_MENU})();
                const isClear = found.menu.top >= found.line.bottom || found.menu.bottom <= found.line.top;
                return isClear && Math.min(found.left, found.right) >= 0;
            }}"""
        )


def test_texts_stay_where_they_are_while_a_change_is_saved(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    texts = make_test_set("en-de", *[("One cat.", "Eine Katze.")] * 10)
    site = stack.enter_context(serving(tmp_path / "campaign", texts))
    found = visit(chromium, site, width=390)
    stack.callback(found.context.close)
    page = found.begin()
    text, saved = page.locator(".translation .text").first, page.locator("#saved")
    expect(saved).to_have_text("All saved")
    before = text.bounding_box()
    page.route("**/api/events", lambda _: None)  # no answer comes
    page.keyboard.press("5")
    expect(saved).to_contain_text("Saving changes")
    assert text.bounding_box() == before


def test_single_keys_can_be_switched_off(stack: ExitStack, chromium: Browser, tmp_path: Path) -> None:
    page = opened(stack, chromium, tmp_path, "en-de", "One cat.", "Eine Katze.").begin()
    page.keyboard.press("g")
    expect(page.locator("dialog#guidelines[open]")).to_contain_text("major")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator("#keys").get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert page.locator("dialog[open]").count() == 0


def test_guidelines_open_at_their_beginning(stack: ExitStack, chromium: Browser, tmp_path: Path) -> None:
    page = opened(stack, chromium, tmp_path, "en-de", "One cat.", "Eine Katze.").begin()
    page.set_viewport_size({"width": 320, "height": 400})
    page.keyboard.press("g")
    dialog = page.locator("dialog#guidelines[open]")
    assert dialog.evaluate("it => [it.scrollTop, it.scrollHeight > it.clientHeight]") == [0, True]
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('#guidelines').scrollTop > 0")


def test_a_page_that_is_not_there_yet_says_nothing_of_what_is_saved(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    found = opened(stack, chromium, tmp_path, "en-de", "One cat.", "Eine Katze.")
    found.page.route("**/js/page.js", lambda route: route.abort())
    found.page.locator("#go").click()
    expect(found.page.locator("#saved")).to_have_text("Loading…")
    expect(found.page.locator("#finish")).to_be_hidden()
    found.page.unroute("**/js/page.js")
    found.page.reload()
    found.settle()
    expect(found.page.locator("#finish")).to_be_visible()


def test_a_tutorial_says_what_is_expected_until_it_is_done(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    found = opened(stack, chromium, tmp_path, "en-de", "One cat.", "Eine Katze.", tutorial=True)
    page = found.begin()
    assert page.locator(".instructions").first.text_content()
    for item in page.locator(".item").all():
        item.click()
        item.get_by_role("slider").click(position={"x": 1, "y": 10})
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator("#hint")).to_contain_text("Not quite yet")
    expect(page.locator(".feedback .wrong").first).not_to_be_empty()


def test_an_instruction_stands_above_the_segment_as_text(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    told = "Keep <b>{{count}}</b> & placeholders."
    texts = make_test_set("en-de", ("A story.", "Eine Geschichte."), meta={"instruction": told})
    site = stack.enter_context(serving(tmp_path / "campaign", texts))
    found = visit(chromium, site)
    stack.callback(found.context.close)
    page = found.begin()
    assert page.locator(".item .instructions").inner_text() == told
    assert page.locator(".item .instructions b").count() == 0


def test_a_translation_that_does_not_follow_the_instruction_is_marked_beside_what_is_missing(
    stack: ExitStack, chromium: Browser, tmp_path: Path
) -> None:
    texts = make_test_set(
        "en-de", ("A long story.", "Eine Geschichte.", "Lang."), meta={"instruction": "Brief!"}
    )
    (segment,) = texts.segments
    plain = replace(segment, segment="plain", meta={})
    texts = replace(texts, segments=(segment, plain))
    site = stack.enter_context(serving(tmp_path / "campaign", texts, protocol="contrastive-esa"))
    found = visit(chromium, site)
    stack.callback(found.context.close)
    page = found.begin()
    asked = page.get_by_label("The instruction is not followed")
    expect(asked).to_have_count(2)
    assert [one.locator(".fault").count() for one in page.locator(".item").all()] == [2, 0]
    asked.nth(1).select_option("major")
    page.locator(".translation .text").nth(1).focus()
    page.keyboard.press("m")
    found.settle()
    said = [(one["missing"], one["instruction_fault"]) for one in site.states()[0]["translations"]]
    assert said == [(None, None), ({"severity": "minor", "category": None}, "major")]
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(asked.nth(1)).to_have_value("")
    for _ in range(2):
        page.keyboard.press("f")
    expect(asked.nth(1)).to_have_value("major")
    found.settle()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(asked.nth(1)).to_have_value("major")
    expect(asked.nth(0)).to_have_value("")
    assert not found.misdeeds


FILM = """async () => {
    const canvas = document.createElement('canvas');
    canvas.getContext('2d').fillRect(0, 0, 9, 9);
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
    const said = new Promise((heard) => { recorder.ondataavailable = ({ data }) => heard(data); });
    const drawing = setInterval(() => canvas.getContext('2d').fillRect(0, 0, 9 * Math.random(), 9), 20);
    recorder.start();
    await new Promise((later) => setTimeout(later, 500));
    recorder.stop();
    clearInterval(drawing);
    return [...new Uint8Array(await (await said).arrayBuffer())];
}"""
"""Half a second of film, which the browser itself records."""
PICTURE = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==")


def write_media(file: Path, chromium: Browser) -> None:
    """Write something of the kind that the file's name says."""
    if file.suffix == ".gif":
        file.write_bytes(PICTURE)
    elif file.suffix == ".wav":
        with wave.open(str(file), "wb") as sound:
            sound.setparams((1, 2, 8000, 800, "NONE", ""))
            sound.writeframes(bytes(1600))
    else:
        page = chromium.new_page()
        file.write_bytes(bytes(page.evaluate(FILM)))
        page.close()


@pytest.mark.parametrize(
    ("kind", "file", "tag"),
    [("image", "x.gif", "img"), ("audio", "x.wav", "audio"), ("video", "x.webm", "video")],
)
def test_the_source_may_be_a_picture_a_recording_or_a_film(
    stack: ExitStack, chromium: Browser, tmp_path: Path, kind: str, file: str, tag: str
) -> None:
    """The browser loads it, under the site's own policy."""
    media = tmp_path / "media"
    media.mkdir()
    write_media(media / file, chromium)
    texts = make_test_set("en-de", ("A story.", "Eine Geschichte."), meta={"media": kind, "file": file})
    site = stack.enter_context(serving(tmp_path / "campaign", texts, media=media))
    found = visit(chromium, site)
    stack.callback(found.context.close)
    page = found.begin()
    shown = page.locator(f".source {tag}").element_handle()
    assert shown is not None
    is_loaded = "image => image.complete && image.naturalWidth > 0"
    page.wait_for_function(is_loaded if tag == "img" else "media => media.readyState > 0", arg=shown)
    assert tag == "img" or shown.get_attribute("controls") == ""
    assert not found.misdeeds
    assert faults(page) == []


def test_an_arabic_page_runs_from_right_to_left_and_its_texts_as_they_do(
    tmp_path: Path, chromium: Browser
) -> None:
    with serving(tmp_path / "campaign", make_test_set("en-ar", (LONG, "رسالة", "رد"))) as site:
        found = visit(chromium, site, bypass_csp=True, locale="ar")
        assert found.page.locator("#go").inner_text() == "ابدأ"
        assert faults(found.page) == []
        page = with_marks(found)
        assert faults(page) == []
        for width in (320, 768, 1440):
            assert wider(page, width) == []
        source, translation = (page.locator(f".item .{side} .text") for side in ("source", "translation"))
        assert [one.evaluate("e => getComputedStyle(e).direction") for one in (source, translation)] == [
            "ltr",
            "rtl",
        ]
        left, right = (box["x"] for one in (translation, source) if (box := one.bounding_box()))
        assert left < right  # the source stands first, which is on the right
        page.goto(f"{site.url}/work")
        page.locator("#language").select_option("de")
        expect(page.locator("#go")).to_contain_text("Weiter mit Aufgabe")
        assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["de", "ltr"]
        assert not found.misdeeds
        found.context.close()
