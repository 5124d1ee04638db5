"""The organiser's numbers while people judge: systems first, then progress, then people."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as store_event
from sqlalchemy import select

from adjudge.analysis.study_pieces import final_pieces, pieces_of
from adjudge.campaigns.again import apply_gate
from adjudge.campaigns.answers import finish, save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.dashboard import dashboard, watched
from adjudge.campaigns.database import task
from adjudge.campaigns.exporting import stream_submissions
from adjudge.campaigns.people import revoke
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import change, items, person, take, work_off

LATER = 1000.0


def many(segments: int) -> TestSet:
    """Two systems on as many segments, one a document."""
    found = tuple(
        Segment(
            segment=str(n),
            lp="en-de",
            document=f"d{n}",
            source="A.",
            translations={"Alder": f"Eins {n}.", "Birch": f"Zwei {n}."},
        )
        for n in range(segments)
    )
    return TestSet(name="many", segments=found)


def rate_all(campaign: Campaign, number: int, ratings: dict[str, float], now: float, **more: Any) -> int:
    """Rate every translation that is left for a person; a little more in each segment. How many tasks."""
    who, done = person(campaign, number), 0
    while (given := assign_next(campaign, who, now)) is not None:
        with campaign.database.reading() as connection:
            row = connection.execute(select(task).where(task.c.id == given.task)).one()
        (system,) = json.loads(row.systems)
        for shown in items(campaign, given):
            rating = ratings[system] + done % 3
            event = change(shown, rating=rating, at=now, active=20.0, **more)
            save(campaign, who, given.id, "page", [event], now)
        finish(campaign, who, given.id, now)
        done += 1
    return done


def test_before_the_first_answer_nothing_is_claimed(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=2)
    found = dashboard(campaign, NOW)
    assert found["systems"] == {
        "rows": [],
        "pairs": 0,
        "apart": 0,
        "open": [],
        "is_over": False,
        "done": 0.0,
    }
    assert found["agreement"] == []
    assert [one["name"] for one in found["people"]] == ["annotator-1", "annotator-2", "organiser"]
    json.dumps(found)


def test_systems_that_differ_are_told_apart_and_ranked(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere(annotators=1, test_set=many(12))
    assert rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW) == 24
    systems = dashboard(campaign, NOW)["systems"]
    assert [(row["system"], row["n"], row["best"], row["worst"]) for row in systems["rows"]] == [
        ("Birch", 12, 1, 1),
        ("Alder", 12, 2, 2),
    ]
    assert (systems["pairs"], systems["apart"], systems["open"], systems["is_over"]) == (1, 1, [], True)


def test_systems_that_are_alike_stay_tied_and_say_how_much_more_they_need(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign(annotators=1, test_set=many(12))
    rate_all(campaign, 0, {"Alder": 70, "Birch": 70}, NOW)
    systems = dashboard(campaign, NOW)["systems"]
    assert {(row["best"], row["worst"]) for row in systems["rows"]} == {(1, 2)}
    (pair,) = systems["open"]
    assert (pair["state"], pair["n"]) == ("tied", 12)
    assert pair["needed"] is None or pair["needed"] > 0


def test_numbers_move_with_each_answer_and_are_as_new_as_the_store(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1, test_set=many(3))
    only = person(campaign)
    given = take(campaign, only, NOW)
    (shown,) = items(campaign, given)
    first = change(shown, rating=10, at=NOW)
    save(campaign, only, given.id, "page", [first], NOW)
    (row,) = dashboard(campaign, NOW + LATER)["systems"]["rows"]
    assert (row["mean"], row["n"]) == (10, 1)
    save(campaign, only, given.id, "page", [change(shown, 1, rating=90, at=NOW)], NOW)
    assert dashboard(campaign, NOW + 2 * LATER)["systems"]["rows"][0]["mean"] == 90
    withdrawn = change(shown, 2, kind="undo", rating=None, at=NOW)
    save(campaign, only, given.id, "page", [withdrawn], NOW)
    assert dashboard(campaign, NOW + 3 * LATER)["systems"]["rows"] == []


def test_who_asks_at_once_gets_the_last_numbers(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=1)
    asked: list[str] = []
    made = dashboard(campaign, NOW)
    store_event.listen(campaign.database._engine, "before_cursor_execute", lambda *a: asked.append(a[2]))
    assert dashboard(campaign, NOW) is made
    assert asked == []
    assert dashboard(campaign, NOW + LATER) is not made
    assert dashboard(campaign, NOW)["now"] == NOW  # a clock that went back


def test_only_what_changed_is_read_again(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, test_set=many(4))
    rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW)
    before = dict(watched(campaign).answers)
    rate_all(campaign, 1, {"Alder": 50, "Birch": 80}, NOW)
    after = watched(campaign).answers
    assert before.items() <= after.items()
    assert len(after) == 8


def test_people_are_told_by_checks_agreement_strictness_and_speed(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, redundancy=2, test_set=many(6))
    rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW)
    rate_all(campaign, 1, {"Alder": 40, "Birch": 70}, NOW)
    revoke(campaign, person(campaign, 1).id, NOW, actor="test")
    found = dashboard(campaign, NOW + LATER)
    ann, ben, organiser = found["people"]
    assert ann["above"]["value"] == pytest.approx(5)
    assert ben["above"]["value"] == pytest.approx(-5)
    assert (ann["seconds"], ann["items"], ben["is_revoked"], organiser["seconds"]) == (20, 12, True, None)
    scores, marks = found["agreement"]
    assert scores["value"] == pytest.approx(ann["agreement"]["value"])
    assert scores["n"] == 12
    assert marks["reason"] == "nothing is marked yet"


@pytest.mark.parametrize(
    ("protocol", "rows"),
    [("mqm", 2), ("da-sqm", 2), ("sqm", 2), ("contrastive-esa", 2), ("pairwise", 2), ("post-edit", 0)],
)
def test_every_protocol_has_its_dashboard(protocol: str, rows: int, make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(protocol, annotators=1)
    work_off(campaign, person(campaign), NOW)
    found = dashboard(campaign, NOW)
    assert len(found["systems"]["rows"]) == rows
    assert found["progress"]["items_done"] == found["progress"]["items"] > 0
    json.dumps(found, allow_nan=False)


def test_a_verdict_is_a_point_for_the_system_behind_the_side(make_campaign: MakeCampaign) -> None:
    """Everybody says A, whatever it is: each system wins as often as it stood first."""
    campaign, _ = make_campaign("pairwise", annotators=1, test_set=many(20))
    work_off(campaign, person(campaign), NOW)
    rows = dashboard(campaign, NOW)["systems"]["rows"]
    assert sum(row["mean"] for row in rows) == pytest.approx(1)
    firsts = [one.system for one in watched(campaign).seen]
    assert {row["system"]: row["mean"] for row in rows} == {
        name: pytest.approx(firsts.count(name) / 20) for name in ("Alder", "Birch")
    }


OWN = '[categories]\n"Punctuation" = "marks between words"\n"Tone" = "not ours"\n'


def mark(category: str, severity: str) -> dict[str, Any]:
    """A mark of the first letter."""
    return {"id": category, "start": 0, "end": 1, "text": "", "severity": severity, "category": category}


def test_marks_cost_on_the_dashboard_what_they_cost_in_the_analysis(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    """Categories of one's own count as the nearest of ours; a non-translation costs more than any mark."""
    (tmp_path / "own.toml").write_text(OWN)
    campaign, _ = make_campaign("mqm", annotators=1, test_set=many(2), typology=tmp_path / "own.toml")
    only, said = person(campaign), 0
    while (given := assign_next(campaign, only, NOW)) is not None:
        for shown in items(campaign, given):
            marks = [mark("Punctuation", "minor"), mark("Tone", "major")][: said % 3]
            spans = [one | {"text": shown.asked.texts[0][:1]} for one in marks]
            event = change(shown, kind="complete", spans=spans, is_non_translation=[said == 3])
            assert save(campaign, only, given.id, "page", [event], NOW).refused == ()
            said += 1
        finish(campaign, only, given.id, NOW)
    analysed = {p.key: p.score for p in final_pieces(pieces_of(stream_submissions(campaign)))}
    assert sorted(analysed.values()) == [pytest.approx(points) for points in (-25, -5.1, -0.1, 0)]
    assert {(*one.unit, one.system): one.score for one in watched(campaign).seen} == analysed


def test_what_the_gate_dropped_is_not_on_the_dashboard(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(annotators=2, redundancy=2, assignment="pool", test_set=many(1))
    for again in (False, True):
        rate_all(campaign, 0, {"Alder": 50, "Birch": 80}, NOW)
        rate_all(campaign, 1, {"Alder": 80, "Birch": 50}, NOW)
        assert apply_gate(campaign, NOW, actor="test").dropped == again
        rows = dashboard(campaign, NOW + LATER * (1 + again))["systems"]["rows"]
        assert len(rows) == (0 if again else 2)
