"""A second look: other people see what was marked, and what was said before stays."""

from typing import Any

import pytest
from sqlalchemy import select

from adjudge.analysis.study_agreement import segment_agreements
from adjudge.campaigns.again import GateReport, adjudicate, apply_gate, second_pass
from adjudge.campaigns.answers import finish, save, task_view
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.dashboard import find_progress
from adjudge.campaigns.database import Campaign, Person, verdict
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import add_people, people
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
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


@pytest.mark.parametrize("how", ["static", "pool"])
def test_second_looks_stay_within_language_pairs_and_are_counted_as_left(
    make_campaign: MakeCampaign, scripts: TestSet, how: str
) -> None:
    people = {f"{lp} {n}": [lp] for lp in scripts.lps for n in (1, 2)}
    campaign, _ = make_campaign("esa", people, assignment=how, test_set=scripts)
    for number in range(len(people)):
        work_off(campaign, person(campaign, number), NOW, rating=50)
    add_people(campaign, ["judge"], "adjudicator", NOW, actor="test", lps=["en-de"])
    sent = second_pass(campaign, NOW, actor="test")
    assert sent == 16
    left = {one.name: one.left for one in find_progress(campaign, NOW).people if one.role == "annotator"}
    assert sum(number or 0 for number in left.values()) == 22, "segments of both systems"
    for number, (name, (lp,)) in enumerate(people.items()):
        done = work_off(campaign, person(campaign, number), NOW)
        assert {given.lp for given in done} <= {lp}
        assert bool(done) == bool(left[name])
    assert find_progress(campaign, NOW).items_left == 0


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


# MENT's gate: annotators who disagree judge again, and what they cannot agree on is dropped.


SYSTEMS = ("A", "B", "C")
SEGMENTS = ("agreed", "mended", "never")


@pytest.fixture
def ment() -> TestSet:
    """Three sources, three systems each."""
    return TestSet(
        name="ment",
        segments=tuple(
            Segment(segment=s, lp="zh-en", source=s, translations={x: f"{s} {x}" for x in SYSTEMS})
            for s in SEGMENTS
        ),
    )


def rate_all(campaign: Campaign, who: Person, is_second: bool) -> int:
    """Rates by system; the second annotator is contrary on all but `agreed`, and later on `never` alone."""
    done = 0
    while (assigned := assign_next(campaign, who, NOW + done)) is not None:
        contrary = {"never"} if assigned.kind == "again" else {"mended", "never"}
        for shown in items(campaign, assigned):
            rating = SYSTEMS.index(shown.translations[0]["system"])
            if is_second and shown.segment in contrary:
                rating = 4 - rating
            save(campaign, who, assigned.id, "p", [change(shown, rating=rating)], NOW + done)
        finish(campaign, who, assigned.id, NOW + done)
        done += 1
    return done


def both(campaign: Campaign) -> int:
    return sum(rate_all(campaign, person(campaign, n), is_second=n == 1) for n in (0, 1))


def gate(campaign: Campaign) -> GateReport:
    return apply_gate(campaign, NOW, actor="test", least_shared=3)


def test_a_segment_is_sent_out_again_once_and_dropped_when_it_fails_again(
    make_campaign_anywhere: MakeCampaign, ment: TestSet
) -> None:
    campaign, _ = make_campaign_anywhere("sqm", 2, redundancy=2, test_set=ment, assignment="pool")
    assert gate(campaign) == GateReport(segments=3, first=0, failed=0, second=0, dropped=0)
    rate_all(campaign, person(campaign, 0), is_second=False)
    assert gate(campaign).first == 0, "one annotator is not enough"
    rate_all(campaign, person(campaign, 1), is_second=True)
    assert gate(campaign) == GateReport(segments=3, first=3, failed=2, second=0, dropped=0)
    assert gate(campaign) == GateReport(segments=3, first=3, failed=2, second=0, dropped=0)
    assert both(campaign) == 2 * 2 * 3, "two segments of three systems, by two people, sent once"
    report = gate(campaign)
    assert report == GateReport(segments=3, first=3, failed=2, second=2, dropped=1)
    assert report.failed_share == pytest.approx(2 / 3)
    assert report.dropped_share == pytest.approx(1 / 3)
    assert report.dropped_share_of_failed == pytest.approx(1 / 2)
    assert both(campaign) == 0
    with campaign.database.reading() as connection:
        rows = connection.execute(select(verdict.c.segment, verdict.c["pass"], verdict.c.decision)).all()
    assert sorted(tuple(row) for row in rows) == [
        ("agreed", 1, "kept"),
        ("mended", 1, "again"),
        ("mended", 2, "kept"),
        ("never", 1, "again"),
        ("never", 2, "dropped"),
    ]


def test_what_was_dropped_counts_no_more_and_a_second_judgement_replaces_the_first(
    make_campaign: MakeCampaign, ment: TestSet
) -> None:
    campaign, _ = make_campaign("sqm", 2, redundancy=2, test_set=ment, assignment="pool")
    both(campaign)
    gate(campaign)
    both(campaign)
    gate(campaign)
    records, _ = final_records(stream_submissions(campaign))
    assert {record.segment for record in records} == {"agreed", "mended"}
    assert len(records) == 2 * 2 * 3
    annotations = [record for record in records if isinstance(record, Annotation)]
    assert all(one.passes for one in segment_agreements(annotations, least_shared=3))


def test_where_it_is_asked_others_judge_again(make_campaign: MakeCampaign, ment: TestSet) -> None:
    campaign, _ = make_campaign("sqm", 4, redundancy=2, test_set=ment, assignment="pool")
    both(campaign)
    apply_gate(campaign, NOW, actor="test", least_shared=3, by_others=True)
    assert both(campaign) == 0
    assert [rate_all(campaign, person(campaign, n), is_second=False) for n in (2, 3)] == [6, 6]
    assert gate(campaign).dropped == 0


@pytest.mark.parametrize(
    ("protocol", "redundancy", "why"),
    [("mqm", 2, "mqm has none"), ("sqm", 1, "2 raters of each segment or more")],
)
def test_a_gate_needs_ratings_of_two(
    make_campaign: MakeCampaign, protocol: str, redundancy: int, why: str
) -> None:
    campaign, _ = make_campaign(protocol, 2, redundancy=redundancy)
    with pytest.raises(UsageError, match=why):
        gate(campaign)


def test_shares_of_nothing_are_none(make_campaign: MakeCampaign) -> None:
    report = gate(make_campaign("sqm", 2, redundancy=2)[0])
    assert [report.failed_share, report.dropped_share, report.dropped_share_of_failed] == [None] * 3


def test_a_segment_that_one_system_alone_translated_is_left_alone_and_counted(
    make_campaign: MakeCampaign,
) -> None:
    one = Segment(segment="1", lp="zh-en", source="s", translations={"A": "a"})
    campaign, _ = make_campaign("sqm", 2, redundancy=2, test_set=TestSet(name="x", segments=(one,)))
    for number in (0, 1):
        work_off(campaign, person(campaign, number), NOW)
    report = gate(campaign)
    assert (report.segments, report.first, report.unjudged) == (1, 0, 1)
