"""Tutorials: ours can be passed as they say, and others are read strictly."""

from pathlib import Path

import pytest
from sqlalchemy import select

from adjudge.campaigns import database
from adjudge.campaigns.answers import finish, save, task_view
from adjudge.campaigns.assigning import Assignment, assign_next
from adjudge.campaigns.dashboard import find_progress
from adjudge.campaigns.database import Campaign, Person
from adjudge.campaigns.items import MarkedSpan, Missing, State, TranslationState, feedback
from adjudge.campaigns.making import insert_tasks
from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.campaigns.stopping import why_nothing
from adjudge.campaigns.tasks import Item
from adjudge.campaigns.tutorial import DOCUMENT, make_tutorial, read_tutorial
from adjudge.errors import DataError, NotYoursError, UnfinishedError, UsageError
from tests.campaigns.conftest import NOW, MakeCampaign, make_test_set
from tests.campaigns.work import change, items, person, take, work_off

ITEM = """
[[items]]
source = "A cat."
translations = ["Ein Hund."]
says = "Mark the animal."
expects = { spans = [{ text = "Hund", severity = "major" }], rating = [0, 50] }
"""


def answer(item: Item, **other: str) -> State:
    """What a person says who does as they are told, but for some fields of all marks."""
    expected = item.check or {}
    spans = [MarkedSpan(id=str(n), **{**span, **other}) for n, span in enumerate(expected.get("spans", []))]
    missing = Missing(severity="major") if expected.get("missing") else None
    rating = sum(expected["rating"]) / 2 if "rating" in expected else None
    parts = [
        TranslationState(spans=spans, missing=missing, rating=rating)
        if place == expected.get("translation", 0)
        else TranslationState()
        for place in range(len(item.translations))
    ]
    said = {"verdicts": expected.get("verdicts", {}), "chosen": expected.get("chosen")}
    return State.model_validate({"translations": parts, **said})


@pytest.mark.parametrize("lp", ["en-de", "de-hsb"])
@pytest.mark.parametrize("protocol", NAMES)
def test_ours_can_be_passed_and_not_by_doing_nothing(protocol: str, lp: str) -> None:
    task = make_tutorial(find_campaign_protocol(protocol), lp)
    assert (task.kind, task.document, task.raters, task.lp) == ("tutorial", DOCUMENT, 0, lp)
    nothing = [State(translations=[TranslationState() for _ in item.translations]) for item in task.items]
    assert [feedback(answer(item), item.check or {}) for item in task.items] == [[]] * len(task.items)
    assert any(feedback(state, item.check or {}) for state, item in zip(nothing, task.items, strict=True))
    assert all((item.check or {}).get("says") for item in task.items)


def test_the_tutorial_of_mqm_refuses_another_category() -> None:
    first, *_ = make_tutorial(find_campaign_protocol("mqm"), "en-de").items
    said = answer(first, category="fluency/spelling")
    assert feedback(said, first.check or {}) == [
        "'dog' is accuracy/mistranslation, and marked as fluency/spelling"
    ]


def test_a_category_that_nobody_can_choose_is_not_expected(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text('[categories]\n"Meaning" = "it says something else"\n')
    campaign, _ = make_campaign("mqm", 1, tutorial=True, typology=tmp_path / "own.toml")
    given = take(campaign, person(campaign), NOW)
    for shown in items(campaign, given):
        done = Item(segment="1", source="", translations=shown.translations, check=shown.check)
        said = answer(done, category="Meaning")
        assert feedback(said, shown.check or {}) == []


def test_a_language_pair_may_have_a_tutorial_of_its_own_and_a_general_one_is_english() -> None:
    for protocol in map(find_campaign_protocol, NAMES):
        german, general = make_tutorial(protocol, "en-de"), make_tutorial(protocol, "en-ar")
        assert {(item.check or {}).get("lp") for item in general.items} == {"en-en"}, protocol.name
        if protocol.name == "esa":
            texts = [task.items[0].translations[0]["text"] for task in (german, general)]
            assert texts == ["Der Hund schläft auf dem warmen Dach.", "The dog sleeps on the warm roof."]


@pytest.mark.parametrize(
    ("lp", "shown"), [("", "en-de"), ('lp = "de-fr"', "de-fr"), ('lp = "English-Arabic"', "en-ar")]
)
def test_a_tutorial_is_shown_in_its_own_languages(
    make_campaign: MakeCampaign, tmp_path: Path, lp: str, shown: str
) -> None:
    (tmp_path / "own.toml").write_text(f"{lp}\n{ITEM}")
    campaign, _ = make_campaign("esa", 1, tutorial=True, extras_tutorial=tmp_path / "own.toml")
    who = person(campaign)
    view = task_view(campaign, who, take(campaign, who, NOW).id)
    assert (view.lp, view.lp_shown) == ("en-de", shown)


def test_spans_are_found_by_their_text(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(ITEM)
    (item,) = read_tutorial(tmp_path / "own.toml", find_campaign_protocol("esa"))
    assert item.check == {
        "what": "tutorial",
        "translation": 0,
        "says": "Mark the animal.",
        "spans": [{"start": 4, "end": 8, "text": "Hund", "severity": "major"}],
        "rating": [0, 50],
    }


@pytest.mark.parametrize(
    ("protocol", "change", "wrong"),
    [
        ("esa", ("[[items]]", "[items"), "no TOML"),
        ("esa", (ITEM, ""), "items: Field required"),
        ("esa", ("says", "sez"), "says: Field required"),
        ("esa", ("\n[[items]]", 'lp = "xx"\n[[items]]'), "no tutorial: lp: .* got 'xx'"),
        ("esa", ('"Hund"', '"Katze"'), "it stands 0 times"),
        ("esa", ('"major"', '"huge"'), "severity"),
        ("esa", ('"major"', '"critical"'), "item 1: esa does not have severity critical"),
        ("esa", ('["Ein Hund."]', '["Ein Hund.", "Eine Katze."]'), "esa shows one, got 2"),
        ("esa", ("expects = { ", "expects = { translation = 1, "), "no translation 1 of 1"),
        ("esa", ("expects = { ", "expects = { chosen = 0, "), "a choice of drafts"),
        ("esa", ("says", "given = [[]]\nsays"), "spans marked beforehand"),
        ("esa-ai", ("says", "given = []\nsays"), "wanted a list for each of 1"),
        ("mqm", ("Mark", "Do mark"), "mqm does not have a rating"),
        ("esa", ("severity = ", 'category = "other", severity = '), "esa does not have categories"),
        ("pairwise", ('["Ein Hund."]', '["Ein Hund.", "x", "y"]'), "pairwise shows pair, got 3"),
        ("esa", ("expects = { ", 'expects = { verdicts = { style = "A" }, '), "such criteria"),
    ],
)
def test_what_is_no_tutorial_is_refused_with_the_reason(
    tmp_path: Path, protocol: str, change: tuple[str, str], wrong: str
) -> None:
    (tmp_path / "own.toml").write_text(ITEM.replace(*change))
    with pytest.raises(DataError, match=wrong) as caught:
        read_tutorial(tmp_path / "own.toml", find_campaign_protocol(protocol))
    assert "own.toml" in str(caught.value)


def test_a_campaign_has_one_for_each_language_pair_before_all_else(make_campaign: MakeCampaign) -> None:
    chosen = make_test_set("en-de", "en-zh")
    campaign, _ = make_campaign("esa", 4, tutorial=True, checks=0.2, test_set=chosen)
    columns = (database.task.c.kind, database.task.c.lp, database.task.c.raters, database.task.c.batch)
    with campaign.database.reading() as connection:
        first, second, *rest = connection.execute(select(*columns).order_by(database.task.c.number)).all()
    assert [tuple(first), tuple(second)] == [("tutorial", "en-de", 0, None), ("tutorial", "en-zh", 0, None)]
    assert {row.kind for row in rest} == {"original", "check"}


def test_a_tutorial_of_ones_own_needs_a_campaign_with_a_tutorial(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(ITEM)
    make_campaign(tutorial=True)
    campaign, _ = make_campaign(tutorial=True, extras_tutorial=tmp_path / "own.toml")
    (shown,) = items(campaign, take(campaign, person(campaign), NOW))
    assert shown.asked.source == "A cat."
    with pytest.raises(UsageError, match="settings do not ask for one"):
        make_campaign(extras_tutorial=tmp_path / "own.toml")


# A test before work: nothing is told in it, it is done once, and it has a pass mark.


def take_test(campaign: Campaign, who: Person, right: int) -> Assignment:
    """Do the test, so many of its items right."""
    given = take(campaign, who, NOW)
    assert given.kind == "tutorial"
    view = task_view(campaign, who, given.id)
    assert view.is_test
    assert not any(one.says for one in view.items)
    for place, shown in enumerate(items(campaign, given)):
        assert shown.check is not None
        low, high = shown.check["rating"]
        rating = low if place < right else 4 - high
        assert save(campaign, who, given.id, "p", [change(shown, rating=rating)], NOW).saved
    finish(campaign, who, given.id, NOW)
    return given


@pytest.mark.parametrize(
    ("mark", "right", "passes"), [(1.0, 2, True), (1.0, 1, False), (0.5, 1, True), (0.5, 0, False)]
)
@pytest.mark.parametrize("how", ["static", "pool"])
def test_who_is_below_the_pass_mark_gets_no_work(
    make_campaign: MakeCampaign, how: str, mark: float, right: int, passes: bool
) -> None:
    campaign, _ = make_campaign("sqm", 1, tutorial=True, pass_mark=mark, assignment=how)
    who = person(campaign)
    given = take_test(campaign, who, right)
    assert (person(campaign).tutorial_at is not None) == passes
    assert why_nothing(campaign, who, NOW) == ("" if passes else "test")
    assert (assign_next(campaign, who, NOW) is not None) == passes
    assert not task_view(campaign, who, given.id).is_editable
    (shown, *_) = items(campaign, given)
    with pytest.raises(NotYoursError, match="no longer be changed"):
        save(campaign, who, given.id, "p", [change(shown, base=1, rating=0)], NOW)
    finish(campaign, who, given.id, NOW)
    assert (assign_next(campaign, who, NOW) is not None) == passes, "finished again, it is what it was"


@pytest.mark.parametrize(
    ("right", "passes"), [((2, 2), True), ((1, 2), True), ((2, 1), True), ((1, 1), False)]
)
@pytest.mark.parametrize("how", ["static", "pool"])
def test_a_test_of_several_tasks_is_passed_or_failed_when_all_are_done(
    make_campaign_anywhere: MakeCampaign, how: str, right: tuple[int, int], passes: bool
) -> None:
    campaign, _ = make_campaign_anywhere("sqm", 1, tutorial=True, pass_mark=0.75, assignment=how)
    insert_tasks(campaign.database, campaign.id, [make_tutorial(campaign.protocol, "en-de")])
    who = person(campaign)
    first = take_test(campaign, who, right[0])
    finish(campaign, who, first.id, NOW)  # twice is once
    assert person(campaign).tutorial_at is None, "half of it says nothing yet"
    assert why_nothing(campaign, who, NOW) == ""
    (half, *_) = find_progress(campaign, NOW).people
    assert not half.is_failed
    assert half.left != 0
    second = take_test(campaign, who, right[1])
    assert second.task != first.task
    assert (person(campaign).tutorial_at is not None) == passes
    assert why_nothing(campaign, who, NOW) == ("" if passes else "test")
    (done, *_) = find_progress(campaign, NOW).people
    assert done.is_failed != passes
    given = assign_next(campaign, who, NOW)
    assert (given is None) != passes
    assert given is None or given.kind == "original"


def test_a_tutorial_of_several_tasks_comes_whole_before_the_work(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1, tutorial=True)
    insert_tasks(campaign.database, campaign.id, [make_tutorial(campaign.protocol, "en-de")])
    who = person(campaign)
    for is_last in (False, True):
        given = take(campaign, who, NOW)
        assert given.kind == "tutorial"
        for shown in items(campaign, given):
            done = Item(segment="1", source="", translations=shown.translations, check=shown.check)
            event = change(shown, kind="complete", state=answer(done).model_dump())
            save(campaign, who, given.id, "p", [event], NOW)
        finish(campaign, who, given.id, NOW)
        assert (person(campaign).tutorial_at is not None) == is_last
    assert take(campaign, who, NOW).kind == "original"


def test_what_was_dealt_to_who_fails_the_test_goes_to_others_and_organisers_see_it(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign("sqm", ["ann", "ben"], tutorial=True, pass_mark=1.0, assignment="static")
    before = {one.name: one for one in find_progress(campaign, NOW).people}
    assert before["ann"].left
    assert before["ben"].left
    ann, ben = person(campaign), person(campaign, 1)
    take_test(campaign, ann, 1)
    take_test(campaign, ben, 2)
    found = find_progress(campaign, NOW)
    failed, passed = found.people[:2]
    assert [one.name for one in found.people if one.is_failed] == ["ann"]
    assert (failed.left, failed.documents) == (0, 0)
    work_off(campaign, ben, NOW)
    assert (find_progress(campaign, NOW).items_left, assign_next(campaign, ann, NOW)) == (0, None)
    assert passed.left == before["ben"].left, "until they ask for more"


def test_a_test_must_be_done_whole_and_a_tutorial_without_a_mark_tells(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("sqm", 1, tutorial=True, pass_mark=0.5)
    given = take(campaign, person(campaign), NOW)
    with pytest.raises(UnfinishedError):
        finish(campaign, person(campaign), given.id, NOW)
    told, _ = make_campaign("sqm", 1, tutorial=True)
    view = task_view(told, person(told), take(told, person(told), NOW).id)
    assert (view.is_test, all(one.says for one in view.items)) == (False, True)
    with pytest.raises(UsageError, match="no tutorial is asked for"):
        make_campaign("sqm", 1, pass_mark=0.5)
