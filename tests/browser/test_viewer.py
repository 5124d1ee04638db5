"""The segment browser: annotators over one another, addresses that can be shared, one segment of many.

And the same from a server, with conversations.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect
from starlette.types import ASGIApp

from adjudge.core.record import Annotation, Failure, Record
from adjudge.core.segment import Segment
from adjudge.reports.html import render_page
from adjudge.reports.page import Page as ReportPage
from adjudge.reports.page import make_page
from adjudge.reports.words import FAILURES
from adjudge.web.app import address_of, listen
from adjudge.web.viewer import create_viewer
from tests.browser.conftest import PATIENCE, OpenPage, Watched
from tests.browser.payloads import PAYLOADS
from tests.browser.served import faults
from tests.reports.samples import (
    failure,
    judge_all,
    make_run,
    many_segments,
    mark,
    preferences,
    small_test_set,
)
from tests.web.drawing import Waiting

pytestmark = pytest.mark.browser

TEST_SET = small_test_set()


def other_records() -> list[Record]:
    """What another annotator says: Birch is clean, Cedar failed once, and the first word of Alder is odd."""
    found: list[Record] = []
    for record in judge_all(TEST_SET, "other"):
        assert isinstance(record, Annotation)
        segment = next(s for s in TEST_SET if s.segment == record.segment)
        text = segment.translations[record.system]
        spans = (mark(text, text.split()[0], "neutral", "style/awkward"),) if record.system == "Alder" else ()
        found.append(record if record.system == "Cedar" else replace(record, spans=spans))
    found[2] = failure(TEST_SET.segments[0], "Cedar", "other")
    return found


@pytest.fixture(scope="module")
def whole() -> ReportPage:
    """Two judges and gold of two raters, without figures: drawing them takes seconds."""
    gold = [*judge_all(TEST_SET, "anna"), *judge_all(TEST_SET, "ben"), *preferences(TEST_SET, "rater")]
    runs = [make_run(), make_run(records=other_records(), annotator="other")]
    return replace(make_page(runs, gold=gold), sections=())


@pytest.fixture(scope="module")
def report(whole: ReportPage) -> str:
    return render_page(whole)


def talk(segment: Segment, systems: tuple[str, ...]) -> list[dict[str, object]]:
    """A conversation with a payload wherever a model, a server or a translation has words."""
    calls = [{"id": "1", "name": one, "arguments": {one: one}} for one in PAYLOADS]
    return [
        {
            "stage": one,
            "role": one,
            "reason": one,
            "detail": one,
            "messages": [
                {"role": one, "content": one},
                {"role": "assistant", "content": f"{segment.segment}, {systems}", "calls": calls[:2]},
                {"role": "tool", "content": one, "calls": calls[:1]},
            ],
            "schema": {one: one},
            "sample": [1, 2],
            "failed_attempts": [{"reason": one, "detail": one, "time": one}],
            "reply": {
                "text": f"{one}\u202eabc\u200b",
                "reasoning": one,
                "model": one,
                "finish": one,
                "tokens": {one: 12345},
                "calls": calls[:2],
            },
            "tools": [{"name": one, "parameters": {one: one}}],
            "time": "2026-01-02T03:04:05.678+00:00",
            "seconds": 1.5,
            "asked": one,
            "price": "0.012 USD",
        }
        for one in PAYLOADS[:44]
    ]


@pytest.fixture(scope="module")
def address_of_server(whole: ReportPage) -> Iterator[str]:
    """The same page from a server."""
    with served(create_viewer(whole, talks={0: talk})) as address:
        yield address


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    with listen("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield address_of(listening)
        server.should_exit = True
        thread.join()


OpenServed = Callable[..., Watched]


@pytest.fixture
def open_served(chromium: Browser, address_of_server: str) -> Iterator[OpenServed]:
    """Open the server's page; what goes elsewhere is noted."""
    contexts = []

    def go_there(words: str = "", *, at: str = "", bypass_csp: bool = False) -> Watched:
        context = chromium.new_context(viewport={"width": 1024, "height": 900}, bypass_csp=bypass_csp)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        watched = Watched(context.new_page())
        page = watched.page
        own = f"{at or address_of_server}/"
        page.on("request", lambda r: None if r.url.startswith(own) else watched.requests.append(r.url))
        page.on("console", lambda message: watched.printed.append(message.text))
        page.on("pageerror", lambda error: watched.thrown.append(str(error)))
        page.on("dialog", watched.dismiss)
        page.goto(f"{own}{words}")
        return watched

    yield go_there
    for context in contexts:
        context.close()


def settled(page: Page) -> Page:
    """Wait until the list shows what was asked for."""
    expect(page.locator("#list:not([aria-busy])")).to_have_count(1)
    return page


def ids(page: Page) -> list[str]:
    return settled(page).locator("#list > li > header > span:first-child").all_text_contents()


def address(page: Page) -> str:
    return page.url.partition("#")[2]


def go(page: Page, words: str) -> Page:
    page.evaluate("(words) => { location.hash = words; }", words)
    page.evaluate("new Promise((done) => setTimeout(done))")
    return settled(page)


def test_marks_of_several_annotators_lie_over_one_another(report: str, open_page: OpenPage) -> None:
    watched = open_page(report)
    page = go(watched.page, "view=over&lp=en-de")
    cedar = page.locator("#list > li").nth(1).locator(".translation").nth(2)
    expect(cedar.locator(".text")).to_have_count(1)
    expect(cedar.locator(".text")).to_have_text("Kinder fahren nicht kostenlos.")
    titles = [" ".join(title.split()) for title in cedar.locator(".voice > header").all_text_contents()]
    assert titles == ["judge−30", "other−30", "gold (mqm), anna−30", "gold (mqm), ben−30"]
    numbers = "all => all.map((e) => e.dataset.voice)"
    assert cedar.locator(".voice > header").evaluate_all(numbers) == ["1", "2", "3", "4"]
    assert cedar.locator(".tag").evaluate_all(numbers) == ["1", None, "2", None, "3", None, "4", None]
    labels = cedar.locator(".tag").evaluate_all("all => all.map((e) => e.dataset.label)")
    assert [label for label in labels if label.startswith("gold")] == [
        "gold (mqm), anna: mistranslation",
        "gold (mqm), anna: grammar",
        "gold (mqm), ben: mistranslation",
        "gold (mqm), ben: grammar",
    ]
    offsets = cedar.locator("mark").evaluate_all(
        "all => all.map((e) => getComputedStyle(e).textUnderlineOffset)"
    )
    assert len(set(offsets)) == 8  # two of each annotator, no line upon another
    lines, height = cedar.locator(".text").evaluate(
        "e => [e.getBoundingClientRect().height, parseFloat(getComputedStyle(e).fontSize)]"
    )
    assert lines > 3 * height
    innermost = cedar.locator("mark:not(:has(mark))").last
    innermost.hover()
    lit = cedar.locator(".errors li.on")
    expect(lit).to_have_count(8)  # all that lie there
    expect(cedar.locator(".tag.on")).to_have_count(1)
    assert cedar.locator(".tag.on").get_attribute("data-label") == "gold (mqm), ben: grammar"
    named = str(cedar.locator(".tag.on").get_attribute("data-all")).split("; ")
    assert sorted(named) == sorted(labels)
    assert named[0] == "gold (mqm), ben: grammar"
    failed = page.locator("#list > li").first.locator(".translation").nth(2).locator(".voice").nth(1)
    expect(failed.locator(".failed")).to_have_text("failed: refused")
    assert not watched.misdeeds


@pytest.mark.parametrize("width", [320, 1024])
def test_a_label_stays_within_the_window(report: str, open_page: OpenPage, width: int) -> None:
    page = go(open_page(report, width=width).page, "view=over&lp=en-de")
    cedar = page.locator("#list > li").nth(1).locator(".translation").nth(2)
    innermost = cedar.locator("mark:not(:has(mark))")
    for place in (innermost.first, innermost.last):
        place.hover()
        start, end = cedar.locator(".tag.on").evaluate(
            """(e) => {
              const style = getComputedStyle(e, "::after");
              const shift = new DOMMatrix(style.transform).e;
              const end = e.getBoundingClientRect().right + shift;
              return [end - parseFloat(style.width), end];
            }"""
        )
        assert 0 <= start < end <= width


def test_an_annotator_can_be_read_alone(report: str, open_page: OpenPage) -> None:
    page = open_page(report).page
    page.select_option("select[name=annotator]", label="other")
    page.select_option("select[name=severity]", label="neutral")
    assert ids(page) == [s.segment for s in TEST_SET]
    assert page.locator(".judgement").count() == 3 * len(TEST_SET)
    page.select_option("select[name=annotator]", label="judge")
    assert ids(page) == []
    page.select_option("select[name=annotator]", label="other")
    page.select_option("select[name=severity]", label="any")
    page.locator("[name=failures]").check()
    assert ids(page) == ["en-de-0"]
    assert address(page) == "annotator=other&failures=on"


def test_a_view_is_kept_in_the_address_and_comes_back_from_it(report: str, open_page: OpenPage) -> None:
    page = open_page(report).page
    page.select_option("select[name=system]", label="Birch")
    page.select_option("select[name=sort]", label="lowest score first, judge")
    page.fill("input[name=search]", "Korsund & so")
    page.fill("input[name=search]", "fähre")
    assert ids(page) == ["en-de-0"]
    assert address(page) == "search=f%C3%A4hre&system=Birch&sort=lowest%3Ajudge"
    other = go(open_page(report).page, address(page))
    assert ids(other) == ["en-de-0"]
    assert other.locator(".translation .system").all_text_contents() == ["Birch"]
    assert other.locator("select[name=sort]").input_value() == "low:0"
    other.locator("button[type=reset]").click()
    assert ids(other) == [s.segment for s in TEST_SET]
    assert address(other) == ""
    expect(go(other, "system=Nobody&severity=minor").get_by_role("alert")).to_contain_text(
        "left out: system Nobody."
    )
    assert other.locator("select[name=severity]").input_value() == "minor"
    expect(go(other, "lp=en-de").get_by_role("alert")).to_have_count(0)
    go(other, "again")  # a part of the page: what is shown stays
    assert ids(other) == ["en-de-0", "en-de-1"]


def test_a_link_leads_to_one_segment_and_back(report: str, open_page: OpenPage) -> None:
    page = open_page(report, permissions=["clipboard-read", "clipboard-write"]).page
    page.select_option("select[name=lp]", "zh-en")
    second = page.locator("#list > li").nth(1)
    second.get_by_role("button", name="Copy link").click()
    expect(second.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("page.html#segment=zh-en-1&lp=zh-en")
    second.get_by_role("link").click()
    expect(page.locator("#shown")).to_have_text("Showing this segment alone, of 6.")
    assert ids(page) == ["zh-en-1"]
    expect(page.get_by_role("button", name="Show all segments")).to_be_focused()
    page.go_back()
    assert ids(settled(page)) == ["zh-en-0", "zh-en-1"]
    page.go_forward()
    page.get_by_role("button", name="Show all segments").click()
    assert ids(page) == ["zh-en-0", "zh-en-1"]
    go(page, f"segment={quote('<b>& 5')}")
    expect(page.locator("#shown")).to_have_text(
        "No segment <b>& 5 matches what the address asks for: the button below leads to all."
    )


def test_typing_searches_once(open_page: OpenPage) -> None:
    page = open_page(render_page(replace(make_page([make_run(many_segments(300))]), sections=()))).page
    page.evaluate(
        "window.asked = 0; const real = find; find = (q) => { window.asked += 1; return real(q); }; null"
    )
    page.locator("input[name=search]").evaluate(
        """(input) => {
            for (const letter of "299. the") {
                input.value += letter;
                input.dispatchEvent(new Event("input", { bubbles: true }));
            }
        }"""
    )
    assert ids(page) == ["299"]
    assert page.evaluate("window.asked") == 1


# From a server...

ADDRESSES = (
    "",
    "lp=zh-en&view=over",
    "system=Birch&severity=minor",
    "system=Alder&category=style",
    "annotator=other&failures=on",
    "annotator=gold+(pairwise)&system=Cedar",
    "disagreement=on",
    "disagreement=on&system=Birch",
    "domain=travel&sort=lowest:judge",
    "sort=highest:other&system=Cedar",
    "sort=disagreement",
    "search=KORSUND",
    "search=%E5%A4%9C%E9%97%B4&annotator=judge",
    "search=%25",
    "segment=en-ar-1",
    "segment=en-ar-1&lp=zh-en",
)


def test_a_server_finds_what_the_page_itself_finds(
    report: str, open_page: OpenPage, open_served: OpenServed
) -> None:
    one, other = open_page(report), open_served()
    seen = []
    for words in ADDRESSES:
        pages = [go(watched.page, words) for watched in (one, other)]
        mine, theirs = ([ids(page), page.locator("#shown").text_content()] for page in pages)
        assert mine == theirs, words
        assert pages[0].locator(".text").all_text_contents() == pages[1].locator(".text").all_text_contents()
        seen.append(tuple(mine[0] or ()))
    assert len(set(seen)) > 7
    assert not one.misdeeds
    assert not other.misdeeds


def test_a_conversation_is_shown_and_nothing_in_it_runs(open_served: OpenServed) -> None:
    watched = open_served("#segment=en-de-1&system=Cedar")
    page = settled(watched.page)
    expect(page.locator(".talk")).to_have_count(1)  # of the one annotator that had any
    page.locator(".talk > summary").click()
    expect(page.locator(".calls > li")).to_have_count(44)
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    first = page.locator(".calls > li").first
    expect(first.locator("header")).to_have_text(f"1. {PAYLOADS[0]}{PAYLOADS[0]}, sample 2, asked again (2)")
    expect(first.locator("pre").filter(has_text="en-de-1, ('Cedar',)")).to_have_count(1)
    reply = first.locator("pre").filter(has_text="\u202eabc")
    assert reply.locator(".invisible").evaluate_all("all => all.map((e) => e.dataset.name)") == [
        "RLO",
        "ZWSP",
    ]
    expect(first).to_contain_text("tokens: 12,345")
    expect(first).to_contain_text("0.012 USD · 1.50 s · 2026-01-02 03:04:05 UTC")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert page.evaluate("window.pwned") is None
    assert page.locator("iframe, img, object, embed, base, form:not(#filters)").count() == 0
    for width in (320, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not watched.misdeeds


def test_figures_take_their_places_when_they_are_drawn(open_served: OpenServed) -> None:
    drawer, page = Waiting(), make_page([make_run(small_test_set(["en-de"]))])
    with served(create_viewer(page, talks={}, drawer=drawer)) as where:
        watched = open_served(at=where)
        shown = settled(watched.page)
        places = shown.locator("[data-figure]")
        expect(places).to_have_count(len(page.figures))
        expect(places.first).to_contain_text(page.figures[1].title)
        for figure, svg in zip(page.figures, drawer.svgs, strict=True):
            svg.set_result(figure.render("svg"))
        expect(places).to_have_count(0)
        expect(shown.locator("figure svg[role=img]")).to_have_count(len(page.figures))
        box = shown.locator("figure svg[role=img]").first.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 50
        assert not watched.misdeeds
        shown.route("**/api/figure*", lambda route: route.abort())
        shown.reload()
        expect(places.first).to_contain_text("The figure did not come")


def test_axe_finds_nothing(open_served: OpenServed) -> None:
    page = settled(open_served("#view=over&lp=en-ar", bypass_csp=True).page)
    page.locator(".talk > summary").first.click()
    expect(page.locator(".calls > li").first).to_be_visible()
    page.evaluate("for (const e of [...document.querySelectorAll('.calls > li')].slice(2)) e.remove()")
    page.evaluate("for (const e of document.querySelectorAll('details:not(.talk)')) e.open = true")
    assert page.locator(".calls > li").count() == 2
    assert faults(page) == []


def test_a_server_that_is_gone_is_said_and_can_be_asked_again(open_served: OpenServed) -> None:
    page = settled(open_served().page)
    page.route("**/api/**", lambda route: route.abort())
    page.locator("[name=disagreement]").check()
    expect(page.locator("#shown")).to_contain_text("does not answer any more")
    page.locator(".talk > summary").first.click()
    expect(page.locator(".talk").first).to_contain_text("does not answer any more")
    page.unroute("**/api/**")
    page.locator(".talk > summary").first.click()
    page.locator(".talk > summary").first.click()
    expect(page.locator(".calls > li").first).to_be_visible()
    page.locator("[name=disagreement]").uncheck()
    assert ids(page) == [s.segment for s in TEST_SET]


# Verdicts on the criteria of a segment.


def criteria_page(*, beside: bool = True) -> ReportPage:
    """A segment with two criteria, one of them a payload: a pass and a failure, then a fail and a pass."""
    first, *others = TEST_SET.segments
    criteria = {"criteria": [{"id": "fare", "text": PAYLOADS[0]}, "The fare is in euros."]}
    texts = replace(TEST_SET, segments=(replace(first, meta=criteria), *others))
    who: dict[str, Any] = {"lp": first.lp, "segment": first.segment, "annotator": "criteria"}
    who["protocol"] = "criteria"
    said: list[Record] = [
        Annotation(**who, system="Alder", criterion="fare", rating=1, rationale=PAYLOADS[1]),
        Failure(**who, systems=("Alder",), criterion="2", reason="refused", detail=PAYLOADS[2]),
        Annotation(**who, system="Birch", criterion="fare", rating=0),
        Annotation(**who, system="Birch", criterion="2", rating=1),
    ]
    run = make_run(texts, said, annotator="criteria", protocol="criteria")
    marks = make_run(texts, judge_all(texts, "judge"))
    return replace(make_page([run, marks] if beside else [run]), sections=())


@pytest.mark.parametrize("beside", [True, False], ids=["beside marks", "alone"])
def test_every_criterion_stands_below_its_translation_with_its_verdict(
    open_page: OpenPage, *, beside: bool
) -> None:
    watched = open_page(render_page(criteria_page(beside=beside)))
    settled(watched.page)
    alder, birch, *_ = watched.page.locator("#list > li").first.locator(".translation").all()
    lines = alder.locator("ul.errors > li:has(bdi)").all_text_contents()
    assert lines == [
        f"pass fare: {PAYLOADS[0]} {PAYLOADS[1]}",
        f"failed: refused 2: The fare is in euros. {FAILURES['refused']}: {PAYLOADS[2]}",
    ]
    expect(alder.locator(".check")).to_have_text(["pass"])
    expect(alder.locator(".failed")).to_have_text(["failed: refused"])
    expect(birch.locator(".check")).to_have_text(["fail", "pass"])
    expect(birch.locator(".check.fail + bdi")).to_have_text(f"fare: {PAYLOADS[0]}")
    scores = [each.locator("div.small > .score").all_text_contents() for each in (alder, birch)]
    assert scores == [["1"], ["0.500"]]
    assert not watched.misdeeds
    page = go(watched.page, "search=fare is in euros")
    assert ids(page) == [TEST_SET.segments[0].segment]


def test_a_server_shows_one_conversation_for_all_criteria_of_a_translation(open_served: OpenServed) -> None:
    with served(create_viewer(criteria_page(), talks={0: talk})) as at:
        watched = open_served(at=at)
        settled(watched.page)
        alder, birch, *_ = watched.page.locator("#list > li").first.locator(".translation").all()
        expect(alder.locator(".talk")).to_have_count(1)
        expect(birch.locator(".check")).to_have_text(["fail", "pass"])
        assert ids(go(watched.page, "failures=on")) == [TEST_SET.segments[0].segment]
        assert not watched.misdeeds
