"""Progress: what is done and to do, who did it how fast and how carefully, and when it ends."""

from pathlib import Path
from typing import Any

import pytest

from adjudge.campaigns.answers import finish, save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.attention_checks import checks_noticed
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.dashboard import OwnProgress, PersonProgress, find_own_progress, find_progress
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.people import people, revoke
from adjudge.campaigns.settings import Settings
from adjudge.core.segment import TestSet
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import answer_all, change, items, person, take, work_off

HOUR = 3600.0


def of(campaign: Campaign, name: str, now: float = NOW) -> PersonProgress:
    return next(one for one in find_progress(campaign, now).people if one.name == name)


def test_a_new_campaign_has_everything_to_do_and_no_forecast(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2, redundancy=2)
    found = find_progress(campaign, NOW)
    assert (found.tasks, found.tasks_done, found.under_way) == (12, 0, 0)
    assert (found.items, found.items_done, found.items_left) == (24, 0, 24)
    assert found.kinds == {"original": 6}
    assert (found.active, found.active_left, found.an_hour, found.ends_at) == (0, None, None, None)
    assert [(one.name, one.role, one.left, one.seconds_each) for one in found.people] == [
        ("annotator-1", "annotator", 12, None),
        ("annotator-2", "annotator", 12, None),
        ("organiser", "organiser", None, None),
    ]


def test_work_is_counted_person_by_person(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2)
    first = person(campaign)
    given = take(campaign, first, NOW)
    shown = items(campaign, given)
    for place, one in enumerate(shown):
        event = change(one, rating=80, at=NOW + place, active=5.0, idle=2.0)
        save(campaign, first, given.id, "page", [event], NOW + place)
    under_way = find_progress(campaign, NOW + 10)
    assert (under_way.under_way, under_way.tasks_done, under_way.items_done) == (1, 0, len(shown))
    finish(campaign, first, given.id, NOW + 10)
    found = find_progress(campaign, NOW + 10)
    assert (found.under_way, found.tasks_done, found.items_left) == (0, 1, 12 - len(shown))
    mine = found.people[0]
    assert (mine.tasks, mine.items, mine.active, mine.idle, mine.seconds_each) == (
        *(1, len(shown)),
        *(5.0 * len(shown), 2.0 * len(shown), 5.0),
    )
    assert (mine.first_at, mine.last_at) == (NOW, NOW + len(shown) - 1)
    assert found.active_left == 5.0 * (12 - len(shown))


def test_half_an_item_is_not_an_item(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1)
    only = person(campaign)
    given = take(campaign, only, NOW)
    save(campaign, only, given.id, "page", [change(items(campaign, given)[0], kind="mark")], NOW)
    assert (find_progress(campaign, NOW).items_done, of(campaign, only.name).left) == (0, 12)


def test_what_is_left_of_a_batch_is_that_persons(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2)
    before = [of(campaign, name).left for name in ("annotator-1", "annotator-2")]
    assert sum(left or 0 for left in before) == 12
    work_off(campaign, person(campaign), NOW)
    assert [of(campaign, name).left for name in ("annotator-1", "annotator-2")] == [0, before[1]]


def test_a_pool_has_nothing_left_for_one_person_alone(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, assignment="pool")
    assert of(campaign, "annotator-1").left is None
    assert find_own_progress(campaign, person(campaign)) == OwnProgress(done=0, left=None)


def test_people_are_told_of_their_own_work_what_the_organiser_is_told(
    make_campaign_anywhere: MakeCampaign,
) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2, checks=0.3)
    given = take(campaign, person(campaign), NOW)
    answer_all(campaign, person(campaign), given, NOW)
    work_off(campaign, person(campaign, 1), NOW)
    told = [find_own_progress(campaign, person(campaign, number)) for number in (0, 1)]
    found = find_progress(campaign, NOW).people[:2]
    assert told == [OwnProgress(done=one.items, left=one.left) for one in found]
    assert told[0].done == len(items(campaign, given))
    assert told[1].left == 0


def test_the_end_is_forecast_from_the_last_day(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2)
    done = work_off(campaign, person(campaign), NOW)
    finished = find_progress(campaign, NOW).items_done
    assert len(done) > 0
    found = find_progress(campaign, NOW + 2 * HOUR)
    assert found.an_hour == pytest.approx(finished / 2)
    assert found.ends_at == pytest.approx(NOW + 2 * HOUR + found.items_left / (finished / 2) * HOUR)
    assert find_progress(campaign, NOW + 50 * HOUR).ends_at is None


def test_tutorials_are_no_work(tmp_path: Path, small: TestSet) -> None:
    campaign, _ = new_campaign(tmp_path / "c", small, Settings(protocol="esa", tutorial=True), 1, now=NOW)
    found = find_progress(campaign, NOW)
    campaign.database.close()
    assert (found.tasks, found.items) == (6, 12)


def test_who_was_revoked_is_named_as_such_and_their_half_done_tasks_are_to_do(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign(annotators=2, assignment="pool")
    first = person(campaign)
    given = take(campaign, first, NOW)
    answer_all(campaign, first, given, NOW)
    assert find_progress(campaign, NOW).items_done > 0
    revoke(campaign, first.id, NOW, actor="test")
    assert find_progress(campaign, NOW).items_done == 0
    assert of(campaign, first.name).is_revoked


@pytest.mark.parametrize("protocol", ["esa", "mqm", "da-sqm", "sqm", "contrastive-esa", "pairwise"])
def test_checks_that_were_noticed_are_counted_with_an_interval(
    protocol: str, make_campaign: MakeCampaign
) -> None:
    campaign, _ = make_campaign(protocol, annotators=1, checks=0.3)
    only = person(campaign)
    work_off_noticing(campaign, notices=True)
    found = of(campaign, only.name)
    assert found.checks == found.passed > 0
    assert checks_noticed(campaign, only) == [True] * found.checks
    assert checks_noticed(campaign, person(campaign, -1)) == []
    assert found.interval is not None
    assert 0 < found.interval.low < 1 == found.interval.high


@pytest.mark.parametrize("protocol", ["esa", "da-sqm"])
def test_checks_that_were_not_noticed_are_not_passed(protocol: str, make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(protocol, annotators=1, checks=0.3)
    work_off_noticing(campaign, notices=False)
    found = of(campaign, people(campaign)[0].name)
    assert (found.checks > 0, found.passed) == (True, 0)
    assert found.interval is not None
    assert found.interval.low == 0


def work_off_noticing(campaign: Campaign, *, notices: bool) -> None:
    """Do everything; of what is damaged, mark the damage, or rate it low where nothing is marked."""
    only, now = person(campaign), NOW
    while (given := assign_next(campaign, only, now)) is not None:
        for shown in items(campaign, given):
            event = change(shown, kind="complete", at=now, **said_of(campaign, shown, notices))
            assert save(campaign, only, given.id, "page", [event], now).saved
        finish(campaign, only, given.id, now)
        now += 60


def said_of(campaign: Campaign, shown: Any, notices: bool) -> dict[str, Any]:
    protocol = campaign.protocol
    said: dict[str, Any] = {} if protocol.scale is None else {"rating": protocol.scale.high}
    check = shown.check if notices else None
    if protocol.criteria:
        verdicts = dict.fromkeys(protocol.criteria, "E") | (check or {}).get("verdicts", {})
        return {"state": {"translations": [{}, {}], "verdicts": verdicts} | spans_of(shown, check, 2, said)}
    if check is None:
        return said
    if not protocol.severities:
        return {"rating": protocol.scale.low if protocol.scale else None}
    return {"state": spans_of(shown, check, len(shown.translations), said)}


def spans_of(shown: Any, check: Any, count: int, said: dict[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [dict(said) for _ in range(count)]
    for wanted in (check or {}).get("spans", []):
        at = check["translation"]
        text = shown.translations[at]["text"][wanted["start"] : wanted["end"]]
        category = "accuracy/addition" if not said and count == 1 else None
        parts[at]["spans"] = [
            {"id": "c1", "start": wanted["start"], "end": wanted["end"], "text": text}
            | {"severity": "minor", "category": category}
        ]
    return {"translations": parts}
