"""An adjudicator sees what each person said, takes it over, changes it and decides."""

import time
from collections.abc import Iterator
from pathlib import Path

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
from tests.browser.served import Visit, make_test_set, serving, visit
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
        start = TEXT.index(words)
        span = {"id": "m", "start": start, "end": start + len(words), "text": words, "severity": severity}
        event = change(shown, rating=rating, spans=[span], comment=said)
        assert save(campaign, who, given.id, "p", [event], now).saved
    finish(campaign, who, given.id, now)


@pytest.fixture
def adjudicator(tmp_path: Path, chromium: Browser) -> Iterator[Visit]:
    """Two people differ on one translation; a third one opens it."""
    test_set = make_test_set("en-de", ("The cat sleeps on the red mat.", TEXT))
    with serving(tmp_path / "c", test_set, ["ann", "ben"], redundancy=2) as site:
        ann, ben = (next(one for one in people(site.campaign) if one.name == name) for name in ("ann", "ben"))
        judge_all(site.campaign, ann, 20, "Katze", "major", "The wrong animal.")
        judge_all(site.campaign, ben, 90, "roten Matte", "minor", "")
        (link,) = add_people(site.campaign, ["kim"], "adjudicator", time.time(), actor="test")
        assert adjudicate(site.campaign, time.time(), actor="test").sent == 1
        site.links = (*(one for one in site.links if one.role != "annotator"), link)
        found = visit(chromium, site, role="adjudicator")
        found.begin()
        yield found
        found.context.close()


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
