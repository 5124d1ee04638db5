"""Saving: once whatever is sent twice, never over what another page wrote, a reason where refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

import pytest
from sqlalchemy import func, select, update

from adjudge.campaigns.answers import Saved, finish, save, task_view
from adjudge.campaigns.assigning import Assignment, assign_next
from adjudge.campaigns.database import Campaign, Person, answer, event
from adjudge.campaigns.items import ItemShown, text_hash
from adjudge.errors import DataError, NotYoursError
from tests.campaigns.conftest import NOW, SYSTEMS, MakeCampaign
from tests.campaigns.work import (
    answer_all,
    begin,
    change,
    do_one,
    expire,
    finished,
    items,
    person,
    statements_of,
    take,
    work_off,
)

Start = tuple[Campaign, Person, Assignment, ItemShown]


def start(campaign: Campaign) -> Start:
    return campaign, *begin(campaign, NOW)


@pytest.fixture
def begun(campaign: Campaign) -> Start:
    return start(campaign)


def stored(campaign: Campaign, shown: ItemShown) -> dict[str, Any]:
    with campaign.database.reading() as connection:
        row = connection.execute(select(answer).where(answer.c.item_id == shown.id)).one()
    return {**row._mapping, "state": json.loads(row.state)}


def count_events(campaign: Campaign) -> int:
    with campaign.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(event)).scalar_one()


def fates(saved: Saved) -> tuple[int, int, int]:
    return len(saved.saved), len(saved.stale), len(saved.refused)


def test_every_change_gets_a_revision_and_the_newest_is_the_answer(begun: Start) -> None:
    campaign, who, given, shown = begun
    changes = [change(shown, base, rating=base) for base in range(4)]
    saved = save(campaign, who, given.id, "p", changes, NOW)
    assert [one.revision for one in saved.saved] == [1, 2, 3, 4]
    assert [one.complete for one in saved.saved] == [True] * 4
    found = stored(campaign, shown)
    assert (found["revision"], found["state"]["translations"][0]["rating"]) == (4, 3.0)
    assert count_events(campaign) == 4


def test_half_done_work_is_kept_and_is_not_complete(begun: Start) -> None:
    campaign, who, given, shown = begun
    mark = {"id": "m", "start": 0, "end": 2, "text": shown.asked.texts[0][:2], "severity": "major"}
    (one,) = save(campaign, who, given.id, "p", [change(shown, kind="mark", spans=[mark])], NOW).saved
    assert not one.complete
    assert stored(campaign, shown)["state"]["translations"][0]["spans"][0]["text"] == mark["text"]


def test_a_change_sent_twice_counts_once_and_is_answered_the_same(begun: Start) -> None:
    campaign, who, given, shown = begun
    one = change(shown, rating=5)
    both = save(campaign, who, given.id, "p", [one, one], NOW)
    first = replace(both, saved=both.saved[:1])
    assert both.saved == first.saved * 2
    assert save(campaign, who, given.id, "another-page", [one], NOW + 9) == first
    assert (count_events(campaign), stored(campaign, shown)["last_at"]) == (1, NOW)


def test_another_change_under_a_known_id_is_refused(begun: Start) -> None:
    campaign, who, given, shown = begun
    one = change(shown, rating=5)
    save(campaign, who, given.id, "p", [one], NOW)
    (refused,) = save(campaign, who, given.id, "p", [change(shown, 1, name=one.id, rating=6)], NOW).refused
    assert "was saved before, and it was another one" in refused.why
    assert stored(campaign, shown)["state"]["translations"][0]["rating"] == 5


def test_a_page_that_did_not_see_the_newest_change_gets_it_and_writes_nothing(begun: Start) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "first", [change(shown, rating=5)], NOW)
    saved = save(
        campaign, who, given.id, "second", [change(shown, 0, rating=9), change(shown, 1, rating=8)], NOW
    )
    assert fates(saved) == (0, 1, 0)
    assert (saved.stale[0].item, saved.stale[0].revision) == (shown.id, 1)
    assert saved.stale[0].state["translations"][0]["rating"] == 5
    assert count_events(campaign) == 1
    kept = save(campaign, who, given.id, "second", [change(shown, 1, kind="restore", rating=9)], NOW)
    assert (kept.saved[0].revision, stored(campaign, shown)["state"]["translations"][0]["rating"]) == (2, 9)


def test_a_late_time_of_an_older_page_is_no_change_that_a_newer_page_must_know(begun: Start) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "first", [change(shown, rating=5)], NOW)
    left = replace(change(shown, 1, kind="time"), active=3.0)
    assert fates(save(campaign, who, given.id, "first", [left], NOW)) == (1, 0, 0)
    assert fates(save(campaign, who, given.id, "second", [change(shown, 1, rating=7)], NOW)) == (1, 0, 0)
    assert fates(save(campaign, who, given.id, "first", [left], NOW)) == (1, 0, 0), "sent twice, counted once"
    found = stored(campaign, shown)
    assert (found["state"]["translations"][0]["rating"], found["active"]) == (7, 3.0)
    assert found["revision"] == 2
    assert fates(save(campaign, who, given.id, "first", [change(shown, 1, rating=1)], NOW)) == (0, 1, 0)


def test_a_time_tells_nothing_of_what_another_page_wrote(begun: Start) -> None:
    """Its page knows of no newer revision by it, before or after a change."""
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "first", [change(shown, rating=5)], NOW)
    save(campaign, who, given.id, "second", [change(shown, 1, rating=7)], NOW)
    late = replace(change(shown, 1, kind="time"), active=3.0)
    for _ in range(2):
        assert save(campaign, who, given.id, "first", [late], NOW).saved[0].revision == 1
    assert fates(save(campaign, who, given.id, "first", [change(shown, 1, rating=1)], NOW)) == (0, 1, 0)
    assert stored(campaign, shown)["state"]["translations"][0]["rating"] == 7


def test_a_page_need_not_know_the_revisions_of_its_own_changes(begun: Start) -> None:
    campaign, who, given, shown = begun
    for rating in range(3):
        assert save(campaign, who, given.id, "p", [change(shown, 0, rating=rating)], NOW).saved
    assert stored(campaign, shown)["revision"] == 3


def test_a_queue_that_outlived_its_page_is_replayed_in_whole_and_hides_nothing(begun: Start) -> None:
    """The acknowledgement of the first change was lost, and then the page was loaded again."""
    campaign, who, given, shown = begun
    first, second = change(shown, 0, rating=1), change(shown, 0, rating=2)
    save(campaign, who, given.id, "before", [first], NOW)
    saved = save(campaign, who, given.id, "after", [first, second], NOW)
    assert [one.revision for one in saved.saved] == [1, 2]
    save(campaign, who, given.id, "other", [change(shown, 2, rating=7)], NOW)
    late = save(campaign, who, given.id, "after", [first, change(shown, 0, rating=3)], NOW)
    assert fates(late) == (1, 1, 0)
    assert stored(campaign, shown)["state"]["translations"][0]["rating"] == 7


def test_seconds_add_up_and_never_clash(begun: Start) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "one", [change(shown, rating=5, active=3, idle=1)], NOW)
    late = change(shown, 0, kind="time", rating=99, active=2.5)
    assert fates(save(campaign, who, given.id, "two", [late], NOW)) == (1, 0, 0)
    assert fates(save(campaign, who, given.id, "two", [late], NOW)) == (1, 0, 0)
    found = stored(campaign, shown)
    assert (found["active"], found["idle"], found["state"]["translations"][0]["rating"]) == (5.5, 1.0, 5.0)


@pytest.mark.parametrize(("at", "wanted"), [(20.0, 20.0), (-5.0, 60.0), (1e6, 60.0)])
def test_a_clock_that_cannot_be_right_is_not_believed(begun: Start, at: float, wanted: float) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "p", [change(shown, rating=5, at=NOW + at)], NOW + 60)
    found = stored(campaign, shown)
    assert (found["first_at"], found["last_at"]) == (NOW + wanted, NOW + wanted)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hashes": ["0" * 16, "1" * 16]}, "the page shows other texts than this item has"),
        ({"hashes": []}, "the page shows other texts than this item has"),
        ({"state": {"translations": [{"rating": "5"}]}}, "no state of an item: translations.0.rating"),
        ({"item": 10**9}, "has no item 1000000000"),
        ({"id": "a b"}, "a change has an id of 1 to 64 letters"),
        ({"id": ""}, "a change has an id of 1 to 64 letters"),
        ({"kind": "DROP TABLE"}, "a kind of change is a short word"),
        ({"at": float("nan")}, "a time is a finite number"),
        ({"active": float("inf")}, "active lies in 0 to 86400 seconds"),
        ({"idle": -1.0}, "idle lies in 0 to 86400 seconds"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_a_reason(
    begun: Start, changes: dict[str, Any], why: str
) -> None:
    campaign, who, given, shown = begun
    saved = save(campaign, who, given.id, "p", [replace(change(shown, rating=5), **changes)], NOW)
    assert fates(saved) == (0, 0, 1)
    assert why in saved.refused[0].why
    assert count_events(campaign) == 0


def test_a_request_of_too_many_events_or_without_a_page_is_refused(begun: Start) -> None:
    campaign, who, given, shown = begun
    one = change(shown, rating=5)
    with pytest.raises(DataError, match="may have 500 events, this one has 501"):
        save(campaign, who, given.id, "p", [one] * 501, NOW)
    with pytest.raises(DataError, match="a page has an id"):
        save(campaign, who, given.id, "", [one], NOW)


def test_an_mqm_item_is_complete_when_the_person_says_so_and_until_they_take_it_back(
    make_campaign: MakeCampaign,
) -> None:
    campaign, who, given, shown = start(make_campaign("mqm")[0])
    mark = {"id": "m", "start": 0, "end": 2, "text": shown.asked.texts[0][:2], "severity": "major"}
    named = {**mark, "category": "fluency/grammar"}
    steps = [
        ("mark", [named], False),
        ("complete", [named], True),
        ("comment", [named], True),
        ("mark", [mark], False),  # a mark without a category is not finished ...
        ("category", [named], False),  # ... and what was said before it counts no more
        ("complete", [named], True),
        ("reset", [], False),
    ]
    changes = [change(shown, base, kind=kind, spans=spans) for base, (kind, spans, _) in enumerate(steps)]
    saved = save(campaign, who, given.id, "p", changes, NOW)
    assert [one.complete for one in saved.saved] == [wanted for _, _, wanted in steps]


# Whose it is...


def test_nobody_saves_in_a_task_of_another_campaign(make_campaign: MakeCampaign) -> None:
    here, who, given, shown = start(make_campaign()[0])
    there, _ = make_campaign()
    with pytest.raises(NotYoursError):
        save(replace(here, id=here.id + 1), who, given.id, "p", [change(shown, rating=5)], NOW)
    with pytest.raises(NotYoursError):
        save(there, person(there), given.id, "p", [change(shown, rating=5)], NOW)


def test_an_item_of_another_task_is_refused(make_campaign: MakeCampaign) -> None:
    campaign, who, _, shown = start(make_campaign()[0])
    do_one(campaign, who, NOW)
    following = take(campaign, who, NOW)
    (refused,) = save(campaign, who, following.id, "p", [change(shown, rating=5)], NOW).refused
    assert "has no item" in refused.why


def test_a_check_whose_result_was_told_is_not_mended_afterwards(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1, checks=0.4, is_loud=True)
    who = person(campaign)
    while (given := assign_next(campaign, who, NOW)) is not None:
        answer_all(campaign, who, given, NOW)
        notes = finish(campaign, who, given.id, NOW).notes
        assert bool(notes) <= (given.kind == "check")
        if notes:
            break
    assert given is not None
    with pytest.raises(NotYoursError, match="can no longer be changed"):
        save(campaign, who, given.id, "p", [change(items(campaign, given)[0], 1, rating=1)], NOW)


def test_work_after_a_long_pause_takes_the_task_up_again_unless_others_have_it(
    make_campaign_anywhere: MakeCampaign,
) -> None:
    campaign, who, given, shown = start(
        make_campaign_anywhere("esa", 3, assignment="pool", lease_minutes=1, balance="systems")[0]
    )
    later = NOW + 3600
    assert expire(campaign, later) == 2, "the task, and the other system of its document"
    assert save(campaign, who, given.id, "p", [change(shown, rating=5)], later).saved
    assert expire(campaign, later + 59) == 0, "work keeps the task"
    assert expire(campaign, later + 61) == 1
    others = [take(campaign, person(campaign, number), later + 61) for number in (1, 2)]
    assert given.task not in {one.task for one in others}
    assert stored(campaign, shown)["revision"] == 1
    assert given.task in {one.task for one in work_off(campaign, person(campaign, 1), later + 61)}
    with pytest.raises(NotYoursError, match="what you saved of it is kept"):
        save(campaign, who, given.id, "p", [change(shown, 1, rating=6)], later + 62)


# Many at once...


def test_a_hundred_threads_with_one_change_make_one_row(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, who, given, shown = start(make_campaign_anywhere()[0])
    one = change(shown, rating=5)
    with ThreadPoolExecutor(100) as pool:
        work = [pool.submit(save, campaign, who, given.id, f"p{n}", [one], NOW) for n in range(100)]
        assert {done.result().saved[0].revision for done in work} == {1}
    assert (count_events(campaign), stored(campaign, shown)["revision"]) == (1, 1)


def test_of_fifty_pages_with_changes_of_their_own_one_is_saved_and_the_others_are_told(
    make_campaign_anywhere: MakeCampaign,
) -> None:
    campaign, who, given, shown = start(make_campaign_anywhere()[0])
    with ThreadPoolExecutor(50) as pool:
        work = [
            pool.submit(save, campaign, who, given.id, f"p{n}", [change(shown, 0, rating=n)], NOW)
            for n in range(50)
        ]
        found = [fates(done.result()) for done in work]
    assert sorted(found) == [(0, 1, 0)] * 49 + [(1, 0, 0)]
    assert count_events(campaign) == 1


def test_a_save_costs_few_statements(begun: Start) -> None:
    campaign, who, given, shown = begun
    for base in range(3):
        one = change(shown, base, rating=base)
        asked = statements_of(campaign, lambda one=one: save(campaign, who, given.id, "p", [one], NOW))  # type: ignore[misc]
        verbs = [statement.split()[0] for statement in asked]
        assert verbs == ["SELECT", "SELECT", "SELECT", "SELECT", "INSERT", "UPDATE" if base else "INSERT"]


def test_events_are_never_changed(begun: Start) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "p", [change(shown, 0, rating=1)], NOW)
    with campaign.database.reading() as connection:
        before = connection.execute(select(event)).all()
    save(campaign, who, given.id, "p", [change(shown, 1, rating=2)], NOW)
    with campaign.database.reading() as connection:
        after = connection.execute(select(event).order_by(event.c.id)).all()
    assert after[:1] == before
    assert [row.revision for row in after] == [1, 2]


def test_a_state_in_the_store_that_is_damaged_is_said_to_be(begun: Start) -> None:
    campaign, who, given, shown = begun
    save(campaign, who, given.id, "p", [change(shown, 0, rating=1)], NOW)
    with campaign.database.writing() as connection:
        connection.execute(update(answer).values(state="{}"))
    with pytest.raises(DataError, match="no state of an item"):
        save(campaign, who, given.id, "p", [change(shown, 1, rating=2)], NOW)


# What an annotator sees: texts and their own work, never whose translations they are.


@pytest.mark.parametrize(
    "protocol", ["esa", "mqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise", "post-edit"]
)
def test_a_view_is_blind_and_its_hashes_are_of_its_texts(make_campaign: MakeCampaign, protocol: str) -> None:
    campaign, _ = make_campaign(protocol, 1, checks=0.3)
    who = person(campaign)
    while (given := assign_next(campaign, who, NOW)) is not None:
        view = task_view(campaign, who, given.id)
        shown = [(asdict(one), one.state.model_dump()) for one in view.items]
        said = json.dumps([[{**fields, "state": None}, state] for fields, state in shown])
        assert not any(system in said for system in SYSTEMS)
        assert "original" not in said
        assert all(one.says == "" for one in view.items)
        for one in view.items:
            assert list(one.hashes) == [text_hash(text) for text in (one.source, *one.texts)]
        answer_all(campaign, who, given, NOW)
        finish(campaign, who, given.id, NOW)


def test_earlier_tasks_can_be_read_and_changed_again(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1)
    who = person(campaign)
    given = do_one(campaign, who, NOW)
    view = task_view(campaign, who, given.id)
    assert (view.is_done, view.is_editable) == (True, True)
    shown = items(campaign, given)[0]
    assert save(campaign, who, given.id, "later", [change(shown, 1, **finished(campaign))], NOW).saved
    assert task_view(campaign, who, given.id).items[0].revision == 2
