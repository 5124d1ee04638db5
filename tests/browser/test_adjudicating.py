"""An adjudicator sees what each person said, takes it over, changes it and decides."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from adjudge.campaigns.again import adjudicate
from adjudge.campaigns.answers import finish, save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.database import Campaign, Person
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import add_people, people
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation
from tests.browser.served import Visit, faults, make_test_set, serving, visit
from tests.browser.test_pages import wider
from tests.campaigns.work import change, items

pytestmark = pytest.mark.browser

TEXT = "Die Katze schläft auf der roten Matte."


def judge_all(
    campaign: Campaign, who: Person, rating: int, words: str, severity: Severity, said: str
) -> None:
    """Mark words and rate."""
    now = time.time()
    given = assign_next(campaign, who, now)
    assert given is not None
    for shown in items(campaign, given):
        (text,) = shown.asked.texts
        start = text.index(words)
        span = {"id": "m", "start": start, "end": start + len(words), "text": words, "severity": severity}
        event = change(shown, rating=rating, spans=[span], comment=said)
        assert save(campaign, who, given.id, "p", [event], now).saved
    finish(campaign, who, given.id, now)


@contextmanager
def adjudicating(
    folder: Path,
    browser: Browser,
    lp: str,
    row: tuple[str, str],
    marked: tuple[str, str],
    comment: str = "The wrong animal.",
    **options: Any,
) -> Iterator[Visit]:
    """Two people differ on one translation; a third one opens it."""
    test_set = make_test_set(lp, row, meta={"instruction": "Be brief."})
    with serving(folder, test_set, ["ann", "ben"], raters=2) as site:
        ann, ben = (next(one for one in people(site.campaign) if one.name == name) for name in ("ann", "ben"))
        judge_all(site.campaign, ann, 20, marked[0], "major", comment)
        judge_all(site.campaign, ben, 90, marked[1], "minor", "")
        (link,) = add_people(site.campaign, ["kim"], "adjudicator", time.time(), actor="test")
        assert adjudicate(site.campaign, time.time(), actor="test").sent == 1
        site.links = (*(one for one in site.links if one.role != "annotator"), link)
        found = visit(browser, site, role="adjudicator", **options)
        found.begin()
        yield found
        found.context.close()


@pytest.fixture
def adjudicator(tmp_path: Path, chromium: Browser) -> Iterator[Visit]:
    row, marked = ("The cat sleeps on the red mat.", TEXT), ("Katze", "roten Matte")
    with adjudicating(tmp_path / "c", chromium, "en-de", row, marked) as found:
        yield found


def test_what_others_said_stands_side_by_side_and_can_be_taken_over(adjudicator: Visit) -> None:
    page = adjudicator.page
    first, second = (page.get_by_role("region", name=f"Person {number}") for number in (1, 2))
    for part, lines in (
        (first, ["rating 20", "major: “Katze”", "comment: The wrong animal."]),
        (second, ["rating 90", "minor: “roten Matte”"]),
    ):
        assert part.locator("li").all_inner_texts() == lines
        expect(part.locator(".text")).to_have_text(TEXT)
    tops = [part.bounding_box() for part in (first, second)]
    assert tops[0] is not None
    assert tops[1] is not None
    assert tops[0]["y"] == tops[1]["y"], "side by side"
    assert "ann" not in page.locator("#items").inner_text().split()
    own = page.locator(".translations .errors li")
    expect(own).to_have_count(0)
    painted = page.evaluate(
        "[...CSS.highlights].flatMap(([name, all]) => [...all].map((one) => [name, `${one}`]))"
    )
    assert sorted(painted) == [
        ["major-0", "Katze"],
        ["minor-0", "roten Matte"],
        ["person-1", "Katze"],
        ["person-2", "roten Matte"],
    ]
    first.get_by_role("button", name="Take over").click()
    expect(own).to_have_count(1)
    expect(own).to_contain_text("Katze")
    expect(page.locator(".rating output")).to_have_text("20")
    expect(first.get_by_role("button")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Undo").click()
    expect(own).to_have_count(0)
    expect(page.locator(".rating output")).to_have_text("–")
    expect(first.get_by_role("button")).to_have_attribute("aria-pressed", "false")
    second.get_by_role("button", name="Take over").click()
    expect(own).to_contain_text("roten Matte")
    page.locator(".rating input").press("4")
    page.locator(".rating input").press("0")
    expect(second.get_by_role("button")).to_have_attribute("aria-pressed", "false")
    adjudicator.settle()
    page.locator("#finish").click()
    page.wait_for_url("**/work")
    assert not adjudicator.misdeeds
    (decision,) = [one for one in stream_submissions(adjudicator.site.campaign) if one.kind == "adjudication"]
    (record,) = decision.records
    assert isinstance(record, Annotation)
    assert (record.annotator, record.rating, record.flags) == ("kim", 40, ("adjudicated",))
    assert [span.text for span in record.spans] == ["roten Matte"]
    assert [one["person"] for one in decision.decided_between] == ["ann", "ben"]


def test_a_state_taken_over_is_there_after_the_page_was_loaded_again(adjudicator: Visit) -> None:
    page = adjudicator.page
    page.get_by_role("region", name="Person 1").get_by_role("button").click()
    adjudicator.settle()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page.get_by_role("region", name="Person 1").get_by_role("button")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert adjudicator.site.states()[-1]["comment"] == "The wrong animal."


RTL = {
    "en-he": (
        ("The cat sleeps on the red mat.", "החתול ישן על המחצלת האדומה ABC-12."),
        ("החתול", "המחצלת האדומה"),
    ),
    "ar-en": (("القطة تنام على الحصيرة الحمراء.", "The cat sleeps on the red mat."), ("cat", "red mat")),
    "en-ar": (("The cat sleeps.", "القطة تنام على الحصيرة الحمراء رقم 12."), ("القطة", "الحصيرة الحمراء")),
}


OUTSIDE = """() => [...document.querySelectorAll('main *')].filter((one) => {
    const {left, right, width} = one.getBoundingClientRect();
    return width && !one.closest('.hidden-text') && (left < 0 || right > innerWidth);
}).map((one) => one.outerHTML.slice(0, 120))"""
"""What reaches out of the window, on the left too."""


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("lp", RTL)
def test_it_is_readable_in_the_dark_on_a_narrow_screen_and_from_right_to_left(
    tmp_path: Path, chromium: Browser, lp: str, width: int
) -> None:
    row, marked = RTL[lp]
    options = {"width": width, "color_scheme": "dark", "bypass_csp": True}
    with adjudicating(tmp_path / "c", chromium, lp, row, marked, "חיה אחרת!", **options) as found:
        page = found.page
        direction = "rtl" if lp.split("-")[1] in {"he", "ar"} else "ltr"
        for number, words in enumerate(marked, start=1):
            part = page.get_by_role("region", name=f"Person {number}")
            assert part.locator(".text").evaluate("text => getComputedStyle(text).direction") == direction
            expect(part.locator("li", has_text=words)).to_have_count(1)
        comment = page.locator(".person bdi", has_text="חיה אחרת!")
        assert comment.evaluate("one => getComputedStyle(one).direction") == "rtl"
        assert page.evaluate(OUTSIDE) == []
        assert wider(page, width) == []
        assert faults(page) == []
        page.emulate_media(color_scheme="dark")
        page.get_by_role("button", name="Take over from Person 1").click()
        expect(page.locator(".translations .errors li")).to_contain_text(marked[0])
        assert page.evaluate(OUTSIDE) == []
        assert wider(page, width) == []
        assert faults(page) == []
        assert not found.misdeeds
