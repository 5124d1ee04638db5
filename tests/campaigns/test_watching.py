"""The answers that a dashboard keeps in memory: those of an export, as new as the store."""

from collections.abc import Callable

import pytest

from adjudge.analysis.study_pieces import final_pieces, pieces_of
from adjudge.campaigns import dashboard as dashboard_module
from adjudge.campaigns.again import second_pass
from adjudge.campaigns.answers import release, save
from adjudge.campaigns.assigning import Assignment, assign_next
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.dashboard import dashboard, find_progress, watched
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import revoke
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import change, expire, items, person, work_off

GiveBack = Callable[[Campaign, Assignment], object]
WAYS: dict[str, GiveBack] = {
    "released": lambda campaign, given: release(campaign, given.number, NOW, actor="test"),
    "overdue": lambda campaign, given: expire(campaign, given.leased_until + 1),
    "revoked": lambda campaign, _: revoke(campaign, person(campaign).id, NOW, actor="test"),
}


def scores(campaign: Campaign) -> list[tuple[str, float]]:
    """System and score of everything in memory."""
    return sorted((one.system, one.score) for one in watched(campaign).seen)


def exported(campaign: Campaign) -> list[tuple[str, float]]:
    """The same of an export."""
    pieces = pieces_of(stream_submissions(campaign))
    return sorted((piece.annotation.system, piece.score) for piece in pieces)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_finished_counts_when_its_task_is_given_back(
    way: str, make_campaign_anywhere: MakeCampaign
) -> None:
    """Its place is to be filled again, and what was finished is counted beside that."""
    campaign, _ = make_campaign_anywhere(annotators=2, assignment="pool", balance="systems")
    who = person(campaign)
    given = assign_next(campaign, who, NOW)
    assert given is not None
    first = items(campaign, given)[0]
    save(campaign, who, given.id, "page", [change(first, rating=31)], NOW)
    before = scores(campaign)
    assert [score for _, score in before] == [31]
    WAYS[way](campaign, given)
    assert scores(campaign) == before == exported(campaign)
    found = dashboard(campaign, NOW)
    assert [row["mean"] for row in found["systems"]["rows"]] == [31]
    progress = find_progress(campaign, NOW)
    assert (progress.items_done, progress.items_given_back, progress.items_left) == (0, 1, 12)
    assert found["progress"]["items_given_back"] == 1
    work_off(campaign, person(campaign, 1), NOW + 9e6, rating=62)
    assert scores(campaign) == exported(campaign)
    assert len(scores(campaign)) == 13


def test_more_changes_than_are_asked_for_by_number_are_all_read(
    make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _ = make_campaign(annotators=2)
    work_off(campaign, person(campaign, 0), NOW)
    watched(campaign)
    monkeypatch.setattr(dashboard_module, "_MOST_CHANGED", 1)
    work_off(campaign, person(campaign, 1), NOW)
    assert scores(campaign) == exported(campaign)


def test_who_looks_twice_at_a_translation_has_one_last_word_as_in_the_analysis(
    make_campaign: MakeCampaign,
) -> None:
    """What two people marked is looked at again apart, perhaps by one and the same person."""
    campaign, _ = make_campaign(annotators=3, redundancy=2, assignment="pool")
    for number in (0, 1):
        work_off(campaign, person(campaign, number), NOW)
    assert second_pass(campaign, NOW, actor="test") == 12
    work_off(campaign, person(campaign, 2), NOW)
    rows = dashboard(campaign, NOW + 9e6)["systems"]["rows"]
    final = final_pieces(pieces_of(stream_submissions(campaign)))
    assert len(final) == 12
    counts = {row["system"]: row["n"] for row in rows}
    assert counts == {name: sum(p.annotation.system == name for p in final) for name in counts}
    (third,) = (one for one in dashboard(campaign, NOW + 9e7)["people"] if one["name"] == "annotator-3")
    assert third["above"]["n"] == 12
