"""The organiser's numbers while people judge: systems first, then progress, then people."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as store_event

from adjudge.analysis.study import analyse
from adjudge.analysis.study_pieces import final_pieces, pieces_of
from adjudge.campaigns import dashboard as dashboard_module
from adjudge.campaigns.again import apply_gate, second_pass
from adjudge.campaigns.answers import finish, release, save
from adjudge.campaigns.assigning import Assignment, assign_next
from adjudge.campaigns.attention_checks import checks_noticed
from adjudge.campaigns.dashboard import (
    OwnProgress,
    PersonProgress,
    Resting,
    dashboard,
    find_own_progress,
    find_progress,
    watched,
)
from adjudge.campaigns.database import Campaign
from adjudge.campaigns.exporting import export_campaign, stream_submissions
from adjudge.campaigns.items import ItemShown
from adjudge.campaigns.people import revoke
from adjudge.core.segment import TestSet
from tests.campaigns.conftest import NOW, SYSTEMS, MakeCampaign, grow
from tests.campaigns.work import answer_all, change, expire, items, person, take, work_off

LATER = 1000.0


def rate_all(campaign: Campaign, number: int, ratings: dict[str, float], now: float) -> int:
    """Rate every translation that is left for a person; a little more in each segment. How many tasks."""
    done: list[int] = []

    def rate(shown: ItemShown) -> dict[str, Any]:
        done.append(shown.id)
        return {"rating": ratings[shown.translations[0]["system"]] + (len(done) - 1) % 3, "active": 20.0}

    return len(work_off(campaign, person(campaign, number), now, rate))


def test_before_the_first_answer_nothing_is_claimed(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2)
    found = dashboard(campaign, NOW)
    assert (found["rankings"], found["unjudged"]) == ([], ["en-de"])
    assert found["agreement"] == []
    assert [one["name"] for one in found["people"]] == ["annotator-1", "annotator-2", "organiser"]
    json.dumps(found)


def test_systems_that_differ_are_told_apart_and_ranked(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=1, test_set=grow(12, *SYSTEMS))
    assert rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW) == 24
    (systems,) = dashboard(campaign, NOW)["rankings"]
    assert [(row["system"], row["n"], row["best"], row["worst"]) for row in systems["rows"]] == [
        ("Birch", 12, 1, 1),
        ("Alder", 12, 2, 2),
    ]
    assert (systems["pairs"], systems["apart"], systems["open"], systems["is_over"]) == (1, 1, [], True)


def test_systems_that_are_alike_stay_tied_and_say_how_much_more_they_need(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign(annotators=1, test_set=grow(12, *SYSTEMS))
    rate_all(campaign, 0, {"Alder": 70, "Birch": 70}, NOW)
    (systems,) = dashboard(campaign, NOW)["rankings"]
    assert {(row["best"], row["worst"]) for row in systems["rows"]} == {(1, 2)}
    (pair,) = systems["open"]
    assert (pair["state"], pair["n"]) == ("tied", 12)
    assert pair["needed"] is None or pair["needed"] > 0


def test_numbers_move_with_each_answer_and_are_as_new_as_the_store(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1, test_set=grow(3, *SYSTEMS))
    only = person(campaign)
    given = take(campaign, only, NOW)
    (shown,) = items(campaign, given)
    first = change(shown, rating=10, at=NOW)
    save(campaign, only, given.id, "page", [first], NOW)
    (row,) = dashboard(campaign, NOW + LATER)["rankings"][0]["rows"]
    assert (row["mean"], row["n"]) == (10, 1)
    save(campaign, only, given.id, "page", [change(shown, 1, rating=90, at=NOW)], NOW)
    assert dashboard(campaign, NOW + 2 * LATER)["rankings"][0]["rows"][0]["mean"] == 90
    withdrawn = change(shown, 2, kind="undo", rating=None, at=NOW)
    save(campaign, only, given.id, "page", [withdrawn], NOW)
    assert dashboard(campaign, NOW + 3 * LATER)["rankings"] == []


def test_who_asks_at_once_gets_the_last_numbers(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1)
    asked: list[str] = []
    made = dashboard(campaign, NOW)
    store_event.listen(campaign.database._engine, "before_cursor_execute", lambda *a: asked.append(a[2]))
    assert dashboard(campaign, NOW) is made
    assert asked == []
    assert dashboard(campaign, NOW + LATER) is not made
    assert dashboard(campaign, NOW)["now"] == NOW  # a clock that went back


def test_people_are_told_by_checks_agreement_strictness_and_speed(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, raters=2, test_set=grow(6, *SYSTEMS))
    rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW)
    rate_all(campaign, 1, {"Alder": 40, "Birch": 70}, NOW)
    revoke(campaign, person(campaign, 1).id, NOW, actor="test")
    found = dashboard(campaign, NOW + LATER)
    ann, ben, organiser = found["people"]
    (of_ann,), (of_ben,) = ann["judged"], ben["judged"]
    assert of_ann["above"]["value"] == pytest.approx(5)
    assert of_ben["above"]["value"] == pytest.approx(-5)
    assert (of_ann["lp"], of_ann["seconds"], of_ann["usual_seconds"]) == ("en-de", 20, 20)
    assert (ann["items"], ben["is_revoked"], organiser["judged"]) == (12, True, [])
    scores, marks = found["agreement"]
    assert scores["value"] == pytest.approx(of_ann["agreement"]["value"])
    assert scores["n"] == 12
    assert marks["reason"] == "nothing is marked yet"


@pytest.mark.parametrize(
    "protocol", ["mqm", "da-sqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise", "post-edit"]
)
def test_every_protocol_has_its_dashboard(protocol: str, make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(protocol, annotators=1)
    work_off(campaign, person(campaign), NOW)
    found = dashboard(campaign, NOW)
    criteria = campaign.protocol.criteria or ("",)
    rows = [] if protocol == "post-edit" else [2] * len(criteria)
    assert [len(one["rows"]) for one in found["rankings"]] == rows
    assert found["progress"]["items_done"] == found["progress"]["items"] > 0
    json.dumps(found, allow_nan=False)


def test_a_verdict_is_a_point_for_the_system_behind_the_side(make_campaign: MakeCampaign) -> None:
    """Everybody says A, whatever it is: each system wins as often as it stood first."""
    campaign, _ = make_campaign("pairwise", annotators=1, test_set=grow(20, *SYSTEMS))
    work_off(campaign, person(campaign), NOW)
    rows = dashboard(campaign, NOW)["rankings"][0]["rows"]
    assert sum(row["mean"] for row in rows) == pytest.approx(1)
    (criterion, *_) = campaign.protocol.criteria
    firsts = [one.system for one in watched(campaign).seen if one.criterion == criterion]
    assert {row["system"]: row["mean"] for row in rows} == {
        name: pytest.approx(firsts.count(name) / 20) for name in ("Alder", "Birch")
    }


def test_each_language_pair_has_its_ranking_and_what_nobody_judged_has_none(
    make_campaign_anywhere: MakeCampaign, scripts: TestSet
) -> None:
    campaign, _ = make_campaign_anywhere(annotators=6, test_set=scripts)
    work = [(person(campaign, number), take(campaign, person(campaign, number), NOW)) for number in (0, 1)]
    for who, given in work:
        answer_all(campaign, who, given, NOW, rating=50)
    judged = {given.lp for _, given in work}
    assert len(judged) == 2
    found = dashboard(campaign, NOW)
    assert {one["lp"] for one in found["rankings"]} == judged
    assert set(found["unjudged"]) == set(campaign.settings.lps) - judged
    counted = {one["lp"]: one["n"] for one in found["rankings"]}
    units = {one.unit for one in watched(campaign).seen}
    assert counted == {lp: sum(unit[0] == lp for unit in units) for lp in judged}
    assert all(row["n"] for one in found["rankings"] for row in one["rows"])
    progress = find_progress(campaign, NOW)
    assert {lp for lp, done in progress.done_by_lp.items() if done} == judged
    assert {one["lp"]: one["done"] for one in found["rankings"]} == {
        lp: progress.done_by_lp[lp] for lp in judged
    }


def test_comparisons_agree_by_criterion_as_in_the_analysis(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("pairwise", annotators=3, raters=3, test_set=grow(24, *SYSTEMS))
    assert dashboard(campaign, NOW)["agreement"] == []
    for number in range(3):
        turns = count()

        def decide(_: ItemShown, number: int = number, turns: Iterator[int] = turns) -> dict[str, Any]:
            turn, criteria = next(turns), campaign.protocol.criteria
            return {"verdicts": {name: "AEB"[(turn + n * number) % 3] for n, name in enumerate(criteria)}}

        work_off(campaign, person(campaign, number), NOW, decide)
    found = dashboard(campaign, NOW + LATER)
    criteria = list(campaign.protocol.criteria)
    assert [(one["lp"], one["criterion"], one["n"]) for one in found["rankings"]] == [
        ("en-de", name, 24) for name in criteria
    ]
    told = {f"{one['criterion']}: {one['name']}": (one["value"], one["n"]) for one in found["agreement"]}
    numbers = analyse(export_campaign(campaign)).section("agreement").numbers
    assert told == {one.measure: (one.result.value, one.result.n) for one in numbers if one.of == "all"}
    assert {f"{name}: Fleiss kappa" for name in criteria} <= told.keys()
    assert [one["items"] for one in found["people"]] == [24, 24, 24, 0]


OWN = '[categories]\n"Punctuation" = "marks between words"\n"Tone" = "not ours"\n'


def test_marks_cost_on_the_dashboard_what_they_cost_in_the_analysis(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    """Categories of one's own count as the nearest of ours; a non-translation costs more than any mark."""
    (tmp_path / "own.toml").write_text(OWN)
    campaign, _ = make_campaign(
        "mqm", annotators=1, test_set=grow(2, *SYSTEMS), typology=tmp_path / "own.toml"
    )
    turns = count()

    def mark(shown: ItemShown) -> dict[str, Any]:
        turn, first = next(turns), {"start": 0, "end": 1, "text": shown.asked.texts[0][:1]}
        marks = [
            {"id": category, "severity": severity, "category": category, **first}
            for category, severity in (("Punctuation", "minor"), ("Tone", "major"))
        ]
        return {"spans": marks[: turn % 3], "is_non_translation": [turn == 3]}

    work_off(campaign, person(campaign), NOW, mark)
    analysed = {p.key: p.score for p in final_pieces(pieces_of(stream_submissions(campaign)))}
    assert sorted(analysed.values()) == [pytest.approx(points) for points in (-25, -5.1, -0.1, 0)]
    assert {(*one.unit, one.system): one.score for one in watched(campaign).seen} == analysed


def test_what_the_gate_dropped_is_not_on_the_dashboard(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, raters=2, assignment="pool", test_set=grow(1, *SYSTEMS))
    for again in (False, True):
        rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW)
        rate_all(campaign, 1, {"Alder": 80, "Birch": 50}, NOW)
        assert apply_gate(campaign, NOW, actor="test", least_shared=2).dropped == again
        rankings = dashboard(campaign, NOW + LATER * (1 + again))["rankings"]
        assert [len(one["rows"]) for one in rankings] == ([] if again else [2])


# Progress: what is done and to do, who did it how fast and how carefully, and when it ends.


HOUR = 3600.0


def of(campaign: Campaign, name: str, now: float = NOW) -> PersonProgress:
    return next(one for one in find_progress(campaign, now).people if one.name == name)


def test_a_new_campaign_has_everything_to_do_and_no_forecast(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2, raters=2)
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


def test_the_pace_ends_with_the_work(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1)
    work_off(campaign, person(campaign), NOW)
    soon, later = (find_progress(campaign, NOW + hours * HOUR) for hours in (2, 500))
    last = max(one.last_at or 0 for one in soon.people)
    assert soon.items_left == 0
    assert soon.an_hour == later.an_hour == pytest.approx(12 / (last - NOW) * HOUR)
    assert soon.ends_at == later.ends_at == last


def test_tutorials_are_no_work(make_campaign: MakeCampaign) -> None:
    found = find_progress(make_campaign(annotators=1, tutorial=True)[0], NOW)
    assert (found.tasks, found.items) == (6, 12)


def said_of(shown: ItemShown, *, notices: bool) -> dict[str, Any]:
    """Of what is damaged, mark the damage, or rate it low where nothing is marked."""
    protocol, check = shown.asked.protocol, (shown.check or {}) if notices else {}
    scale = protocol.scale
    said: dict[str, Any] = {} if scale is None else {"rating": scale.high}
    if check and not protocol.severities:
        return {"rating": None if scale is None else scale.low}
    parts = [dict(said) for _ in shown.translations]
    category = "accuracy/addition" if protocol.name == "mqm" else None
    for span in check.get("spans", []):
        at = check["translation"]
        text = shown.translations[at]["text"][span["start"] : span["end"]]
        mark = {"id": "c1", "start": span["start"], "end": span["end"], "text": text}
        parts[at]["spans"] = [mark | {"severity": "minor", "category": category}]
    verdicts = dict.fromkeys(protocol.criteria, "E") | check.get("verdicts", {})
    return {"state": {"translations": parts, **({"verdicts": verdicts} if protocol.criteria else {})}}


@pytest.mark.parametrize(
    "protocol", ["esa", "mqm", "da-sqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise"]
)
def test_checks_that_were_noticed_are_counted_with_an_interval(
    protocol: str, make_campaign: MakeCampaign
) -> None:
    campaign, _ = make_campaign(protocol, annotators=1, checks=0.3)
    only = person(campaign)
    work_off(campaign, only, NOW, partial(said_of, notices=True))
    found = of(campaign, only.name)
    assert found.checks == found.passed > 0
    assert checks_noticed(campaign, only) == [True] * found.checks
    assert checks_noticed(campaign, person(campaign, -1)) == []
    assert found.interval is not None
    assert 0 < found.interval.low < 1 == found.interval.high


@pytest.mark.parametrize("protocol", ["esa", "da-sqm"])
def test_checks_that_were_not_noticed_are_not_passed(protocol: str, make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(protocol, annotators=1, checks=0.3)
    work_off(campaign, person(campaign), NOW, partial(said_of, notices=False))
    found = of(campaign, person(campaign).name)
    assert (found.checks > 0, found.passed) == (True, 0)
    assert found.interval is not None
    assert found.interval.low == 0


# What is costly rests ten times as long as it took.


def test_what_took_long_is_made_again_later(make_campaign: MakeCampaign) -> None:
    (one, _), (other, _) = make_campaign(), make_campaign()
    work, made = [0.0], []

    def make(campaign: object, now: float) -> float:
        work[0] += 3
        made.append((campaign, now))
        return now

    resting = Resting(make, lambda: work[0])
    assert resting.of(one, 100) == resting.of(one, 100) == 100
    assert resting.of(other, 100) == 100, "each campaign has its own"
    assert resting.of(one, 101) == 101, "the first one counts as nothing: it imports libraries"
    assert [resting.of(one, now) for now in (102, 131)] == [101, 101]
    assert resting.of(one, 132) == 132
    assert resting.of(one, 50) == 50, "a clock that was set back keeps nothing for ever"
    assert made == [(one, 100), (other, 100), (one, 101), (one, 132), (one, 50)]


# The answers that a dashboard keeps in memory: those of an export, as new as the store.


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
    assert [row["mean"] for row in found["rankings"][0]["rows"]] == [31]
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
    campaign, _ = make_campaign(annotators=3, raters=2, assignment="pool")
    for number in (0, 1):
        work_off(campaign, person(campaign, number), NOW)
    assert second_pass(campaign, NOW, actor="test") == 12
    work_off(campaign, person(campaign, 2), NOW)
    rows = dashboard(campaign, NOW + 9e6)["rankings"][0]["rows"]
    final = final_pieces(pieces_of(stream_submissions(campaign)))
    assert len(final) == 12
    counts = {row["system"]: row["n"] for row in rows}
    assert counts == {name: sum(p.annotation.system == name for p in final) for name in counts}
    (third,) = (one for one in dashboard(campaign, NOW + 9e7)["people"] if one["name"] == "annotator-3")
    assert third["judged"][0]["above"]["n"] == 12
