"""MENT's gate: annotators who disagree judge again, and what they cannot agree on is dropped."""

import pytest
from sqlalchemy import select

from adjudge.analysis.study_agreement import segment_agreements
from adjudge.campaigns.again import GateReport, apply_gate
from adjudge.campaigns.answers import finish, save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.database import verdict
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import Person
from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import final_records
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import change, items, person, work_off

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
    return apply_gate(campaign, NOW, actor="test")


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
    assert all(one.passes for one in segment_agreements(r for r in records if isinstance(r, Annotation)))


def test_where_it_is_asked_others_judge_again(make_campaign: MakeCampaign, ment: TestSet) -> None:
    campaign, _ = make_campaign("sqm", 4, redundancy=2, test_set=ment, assignment="pool")
    both(campaign)
    apply_gate(campaign, NOW, actor="test", by_others=True)
    assert both(campaign) == 0
    assert [rate_all(campaign, person(campaign, n), is_second=False) for n in (2, 3)] == [6, 6]
    assert gate(campaign).dropped == 0


@pytest.mark.parametrize(
    ("protocol", "redundancy", "why"), [("mqm", 2, "mqm has none"), ("sqm", 1, "redundancy of 2 or more")]
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
