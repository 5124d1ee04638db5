"""A second look: other people see what was marked, and what was said before stays."""

from typing import Any

import pytest

from adjudge.campaigns.again import adjudicate, second_pass
from adjudge.campaigns.answers import finish, save, task_view
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import Person, add_people, people
from adjudge.core.record import Annotation
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import final_records
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import answer_all, change, items, person, take, work_off


def mark_all(campaign: Campaign, who: Person, place: int, **more: Any) -> int:
    """Mark one character of everything."""
    done = 0
    while (given := assign_next(campaign, who, NOW)) is not None:
        for shown in items(campaign, given):
            text = shown.asked.texts[0]
            span = {"id": "m", "start": place, "end": place + 1, "text": text[place], "severity": "minor"}
            event = change(shown, rating=50, spans=[span], **more)
            assert save(campaign, who, given.id, "p", [event], NOW).saved
        finish(campaign, who, given.id, NOW)
        done += 1
    return done


@pytest.fixture
def judged(make_campaign: MakeCampaign) -> Campaign:
    """Two people each marked all six tasks, the first one the first character, the other the second."""
    campaign, _ = make_campaign("esa", 2, redundancy=2, assignment="pool")
    mark_all(campaign, person(campaign, 0), 0, missing={"severity": "major", "category": None})
    mark_all(campaign, person(campaign, 1), 1)
    add_people(campaign, ["third"], "annotator", NOW, actor="test")
    return campaign


def by_name(campaign: Campaign, name: str) -> Person:
    return next(one for one in people(campaign) if one.name == name)


def test_another_person_sees_the_marks_of_each_and_can_keep_change_and_delete_them(judged: Campaign) -> None:
    assert second_pass(judged, NOW, actor="test") == 12
    third = by_name(judged, "third")
    given = take(judged, third, NOW)
    view = task_view(judged, third, given.id)
    part = view.items[0].state.translations[0]
    assert [(span.start, span.given) for span in part.spans] == [(0, 0)]
    assert part.missing is not None
    assert part.rating is None, "ratings are given freely"
    for shown in items(judged, given):
        event = change(shown, rating=80, spans=[], removed=[0], missing=None)
        assert save(judged, third, given.id, "p", [event], NOW).saved
    finish(judged, third, given.id, NOW)
    found = [one for one in stream_submissions(judged) if one.kind == "again"]
    assert found
    for one in found:
        ((_, (placed, nowhere)),) = one.given.items()
        assert (placed.start, placed.end, nowhere.match) == (0, 1, "unplaced")
        (record,) = one.records
        assert isinstance(record, Annotation)
        assert record.spans == ()


def test_nobody_looks_again_at_a_task_that_they_did(judged: Campaign) -> None:
    second_pass(judged, NOW, actor="test")
    assert assign_next(judged, person(judged, 0), NOW) is None
    assert len(work_off(judged, by_name(judged, "third"), NOW)) == 12


def test_a_second_pass_is_sent_but_once_and_what_was_finished_since_follows(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign("mqm", 1, assignment="pool")
    who = person(campaign)
    given = take(campaign, who, NOW)
    answer_all(campaign, who, given, NOW)
    assert second_pass(campaign, NOW, actor="test") == 0, "nothing is finished yet"
    finish(campaign, who, given.id, NOW)
    assert [second_pass(campaign, NOW, actor="test") for _ in range(2)] == [1, 0]
    work_off(campaign, who, NOW)
    assert second_pass(campaign, NOW, actor="test", numbers=[given.number]) == 0
    assert second_pass(campaign, NOW, actor="test") == 5


def test_a_second_pass_replaces_what_was_said_and_the_first_is_kept(judged: Campaign) -> None:
    before = list(stream_submissions(judged))
    second_pass(judged, NOW, actor="test")
    work_off(judged, by_name(judged, "third"), NOW + 60, rating=99)
    after = list(stream_submissions(judged))
    assert after[: len(before)] == before
    records, _ = final_records(after)
    assert {record.annotator for record in records} == {"third"}


def test_an_adjudicator_sees_the_marks_of_both_each_once(judged: Campaign) -> None:
    with pytest.raises(UsageError, match="this campaign has none"):
        adjudicate(judged, NOW, actor="test")
    add_people(judged, ["judge"], "adjudicator", NOW, actor="test")
    assert adjudicate(judged, NOW, actor="test") == 6
    assert adjudicate(judged, NOW, actor="test") == 0
    assert assign_next(judged, by_name(judged, "third"), NOW) is None, "only adjudicators decide"
    judge = by_name(judged, "judge")
    given = take(judged, judge, NOW)
    assert given.kind == "adjudication"
    for shown in task_view(judged, judge, given.id).items:
        assert [(span.start, span.end) for span in shown.state.translations[0].spans] == [(0, 1), (1, 2)]
    work_off(judged, judge, NOW + 60)
    records, _ = final_records(stream_submissions(judged))
    assert {record.annotator for record in records} == {"judge"}


def test_marks_alike_stay_one(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, redundancy=2, assignment="pool")
    for number in (0, 1):
        mark_all(campaign, person(campaign, number), 0)
    add_people(campaign, ["judge"], "adjudicator", NOW, actor="test")
    adjudicate(campaign, NOW, actor="test")
    judge = by_name(campaign, "judge")
    given = take(campaign, judge, NOW)
    assert all(
        len(one.state.translations[0].spans) == 1 for one in task_view(campaign, judge, given.id).items
    )


@pytest.mark.parametrize("protocol", ["sqm", "da-sqm"])
def test_where_nothing_is_marked_there_is_nothing_to_look_at_again(
    make_campaign: MakeCampaign, protocol: str
) -> None:
    campaign, _ = make_campaign(protocol, 1)
    with pytest.raises(UsageError, match=r"marked or edited is looked at again, and .* does neither"):
        second_pass(campaign, NOW, actor="test")


def test_sides_are_mapped_back_before_marks_are_given(make_campaign: MakeCampaign) -> None:
    """In a comparison the next person may see the pair the other way round."""
    campaign, _ = make_campaign("contrastive-esa", 2, assignment="pool")
    who, other = person(campaign, 0), person(campaign, 1)
    while (given := assign_next(campaign, who, NOW)) is not None:
        for shown in items(campaign, given):
            parts = [
                {
                    "rating": 1,
                    "spans": [{"id": "x", "start": 0, "end": 2, "text": text[:2], "severity": "major"}],
                }
                for text in shown.asked.texts
            ]
            assert save(
                campaign, who, given.id, "p", [change(shown, state={"translations": parts})], NOW
            ).saved
        finish(campaign, who, given.id, NOW)
    second_pass(campaign, NOW, actor="test")
    seen = 0
    while (given := assign_next(campaign, other, NOW)) is not None:
        for one in task_view(campaign, other, given.id).items:
            for text, part in zip(one.texts, one.state.translations, strict=True):
                assert [span.text for span in part.spans] == [text[:2]]
                seen += 1
        answer_all(campaign, other, given, NOW)
        finish(campaign, other, given.id, NOW)
    assert seen == 12


def test_an_edited_draft_is_reviewed_as_one_more_draft(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("post-edit", 2, assignment="pool")
    first, second = person(campaign, 0), person(campaign, 1)
    work_off(campaign, first, NOW, chosen=0, edited="A better text.")
    tasks = second_pass(campaign, NOW, actor="test")
    assert tasks > 0
    assert second_pass(campaign, NOW, actor="test") == 0
    given = take(campaign, second, NOW)
    shown = items(campaign, given)
    assert all("A better text." in one.asked.texts for one in shown)
    for one in shown:
        place = one.asked.texts.index("A better text.")
        event = change(one, chosen=place, edited="A text that is better still.")
        assert save(campaign, second, given.id, "p", [event], NOW).saved
    finish(campaign, second, given.id, NOW)
    reviewed = [one for one in stream_submissions(campaign) if one.kind == "again"]
    assert [(one.chosen, one.edited) for one in reviewed] == [
        ("edited 1", "A text that is better still.") for _ in shown
    ]
    assert all(one.texts["edited 1"] == "A better text." for one in reviewed)
