"""Who is given what: whole documents, never twice, never to more people than a task needs."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, select, update

from adjudge.campaigns.answers import finish, release, save, task_view
from adjudge.campaigns.assigning import (
    Assignment,
    assign_next,
    assignments,
    count_held_by_others,
)
from adjudge.campaigns.dashboard import find_progress
from adjudge.campaigns.database import Campaign, Person, task
from adjudge.campaigns.items import ItemShown
from adjudge.campaigns.people import add_people, revoke
from adjudge.campaigns.stopping import why_nothing
from adjudge.core.segment import TestSet
from adjudge.errors import NotYoursError, UnfinishedError, UsageError
from tests.campaigns.conftest import NOW, MakeCampaign, grow
from tests.campaigns.work import (
    answer_all,
    change,
    do_one,
    expire,
    items,
    person,
    statements_of,
    take,
    work_off,
)


@pytest.mark.parametrize("how", ["static", "pool", "dynamic"])
@pytest.mark.parametrize(
    "protocol", ["esa", "mqm", "da-sqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise", "post-edit"]
)
def test_everybody_together_do_everything_as_often_as_asked(
    make_campaign: MakeCampaign, how: str, protocol: str
) -> None:
    campaign, _ = make_campaign(protocol, 4, assignment=how, raters=2)
    done = [given.task for number in range(4) for given in work_off(campaign, person(campaign, number), NOW)]
    assert len(done) == 2 * len(set(done)) == (12 if campaign.protocol.shows == "one" else 6)


def test_a_person_has_one_task_at_a_time_and_never_one_twice(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1, assignment="pool")
    who = person(campaign)
    first = take(campaign, who, NOW)
    again = assign_next(campaign, who, NOW + 60)
    assert again == replace(first, leased_until=first.leased_until + 60)
    assert assignments(campaign, who) == (again,)
    done = work_off(campaign, who, NOW)
    assert len({given.task for given in done}) == len(done) == 6
    assert [given.place for given in assignments(campaign, who)] == list(range(6))


def test_an_organiser_is_given_nothing(campaign: Campaign) -> None:
    assert assign_next(campaign, person(campaign, -1), NOW) is None


def test_two_people_see_the_sides_of_a_task_in_orders_of_their_own(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("pairwise", 2, assignment="pool", raters=2)
    seeds: list[dict[int, int]] = []
    for number in range(2):
        done = work_off(campaign, person(campaign, number), NOW)
        seeds.append({given.task: given.seed for given in done})
    assert seeds[0].keys() == seeds[1].keys() != set()
    assert not set(seeds[0].values()) & set(seeds[1].values())


# Leases...


def test_a_task_that_nobody_works_on_goes_to_somebody_else_and_its_answers_stay(
    make_campaign_anywhere: MakeCampaign,
) -> None:
    campaign, _ = make_campaign_anywhere("esa", 2, assignment="pool", lease_minutes=10)
    one, other = person(campaign, 0), person(campaign, 1)
    given = take(campaign, one, NOW)
    shown = items(campaign, given)[0]
    save(campaign, one, given.id, "p", [change(shown, rating=3)], NOW)
    taken = take(campaign, other, NOW + 599)
    assert taken.document != given.document
    answer_all(campaign, other, taken, NOW + 600)
    finish(campaign, other, taken.id, NOW + 600)
    assert given.task in {task.task for task in work_off(campaign, other, NOW + 601)}
    with pytest.raises(NotYoursError, match="not yours any more"):
        finish(campaign, one, given.id, NOW + 602)
    view = task_view(campaign, one, given.id)
    assert view.items[0].state.translations[0].rating == 3


def test_who_goes_on_working_keeps_the_task(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool", lease_minutes=10)
    who = person(campaign)
    given = take(campaign, who, NOW)
    save(campaign, who, given.id, "p", [change(items(campaign, given)[0], rating=3)], NOW + 400)
    assert expire(campaign, NOW + 999) == 0
    assert expire(campaign, NOW + 1001) == 2, "the task, and what else was dealt"


def test_revoking_a_person_frees_their_task_and_ends_their_work(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere("esa", 2, assignment="pool")
    one, other = person(campaign, 0), person(campaign, 1)
    given = take(campaign, one, NOW)
    revoke(campaign, one.id, NOW, actor="test")
    shown = items(campaign, given)[0]
    for step in (
        lambda: assign_next(campaign, one, NOW),
        lambda: save(campaign, one, given.id, "p", [change(shown, rating=5)], NOW),
        lambda: finish(campaign, one, given.id, NOW),
    ):
        with pytest.raises(NotYoursError, match="no access"):
            step()
    assert given.task in {task.task for task in work_off(campaign, other, NOW)}


def test_an_organiser_releases_a_task_and_not_what_was_done(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool")
    one, other = person(campaign, 0), person(campaign, 1)
    given = take(campaign, one, NOW)
    assert release(campaign, given.number, NOW, actor="boss") == 1
    inherited = take(campaign, other, NOW)
    assert inherited.task == given.task
    done = work_off(campaign, one, NOW)[0]
    assert release(campaign, done.number, NOW, actor="boss") == 0
    with pytest.raises(UsageError, match="has no task 999"):
        release(campaign, 999, NOW, actor="boss")


def test_a_task_for_one_person_comes_first_and_to_nobody_else(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool")
    one, other = person(campaign, 0), person(campaign, 1)
    with campaign.database.writing() as connection:
        chosen = connection.execute(select(func.max(task.c.id))).scalar_one()
        connection.execute(update(task).where(task.c.id == chosen).values(only_for=other.id))
    assert chosen not in {given.task for given in work_off(campaign, one, NOW)}
    given = take(campaign, other, NOW)
    assert given.task == chosen


# Finishing...


def test_a_task_is_finished_when_every_item_is(campaign: Campaign) -> None:
    who = person(campaign)
    given = take(campaign, who, NOW)
    with pytest.raises(UnfinishedError, match="segment 1 was not looked at") as refused:
        finish(campaign, who, given.id, NOW)
    assert list(refused.value.todo) == [shown.id for shown in items(campaign, given)]
    answer_all(campaign, who, given, NOW, comment="half done")
    with pytest.raises(UnfinishedError, match="segment 1: a rating is missing"):
        finish(campaign, who, given.id, NOW)
    save(campaign, who, given.id, "page", [change(s, 1, rating=1) for s in items(campaign, given)], NOW)
    assert finish(campaign, who, given.id, NOW).notes == {}
    assert finish(campaign, who, given.id, NOW + 5).assignment == given.id, "twice is once"
    assert assignments(campaign, who)[0].done_at == NOW


@pytest.mark.parametrize("how", ["static", "pool"])
def test_a_check_comes_after_its_original_and_to_the_same_person(
    make_campaign: MakeCampaign, how: str
) -> None:
    campaign, _ = make_campaign("esa", 2, assignment=how, checks=0.3, raters=2)
    with campaign.database.reading() as connection:
        copies = dict(
            connection.execute(select(task.c.id, task.c.copy_of).where(task.c.kind == "check")).all()
        )
    assert copies
    for number in (0, 1):
        done = [given.task for given in work_off(campaign, person(campaign, number), NOW)]
        own = [copy for copy in done if copy in copies]
        assert len(own) == 5, "three sevenths of twelve segments"
        for copy in own:
            assert done.index(copies[copy]) < done.index(copy)


def test_a_check_comes_before_its_original_only_where_that_is_asked_for(make_campaign: MakeCampaign) -> None:
    for is_asked in (False, True):
        campaign, _ = make_campaign(
            "esa", 1, checks=0.5, checks_first=is_asked, test_set=grow(20, "A"), balance="systems"
        )
        with campaign.database.reading() as connection:
            copies = connection.execute(select(task.c.id, task.c.copy_of).where(task.c.kind == "check")).all()
        done = [given.task for given in work_off(campaign, person(campaign), NOW)]
        assert any(done.index(copy) < done.index(original) for copy, original in copies) == is_asked


def test_all_systems_of_a_document_go_to_the_same_people(make_campaign: MakeCampaign) -> None:
    """Four people who take turns, each one task at a time."""
    for how in ("static", "pool"):
        campaign, _ = make_campaign("sqm", 5, assignment=how, raters=2, test_set=grow(6, *"ABCDEFGHIJ"))
        people: dict[str, dict[int, set[str]]] = {}
        at_work = True
        while at_work:
            at_work = False
            for number in range(5):
                if (given := assign_next(campaign, person(campaign, number), NOW)) is None:
                    continue
                at_work = True
                (shown,) = items(campaign, given)
                systems = people.setdefault(shown.segment, {}).setdefault(number, set())
                systems.add(shown.translations[0]["system"])
                answer_all(campaign, person(campaign, number), given, NOW)
                finish(campaign, person(campaign, number), given.id, NOW)
        assert [[len(own) for own in of.values()] for of in people.values()] == [[10, 10]] * 6


def test_nobody_is_given_another_language_pair(make_campaign: MakeCampaign, scripts: TestSet) -> None:
    for how in ("static", "pool"):
        people = {f"p{n}": [lp] for n, lp in enumerate(scripts.lps * 2)}
        campaign, _ = make_campaign("esa", people, assignment=how, raters=2, test_set=scripts)
        for number, (lp,) in enumerate(people.values()):
            done = work_off(campaign, person(campaign, number), NOW)
            assert {given.lp for given in done} == {lp}
        assert find_progress(campaign, NOW).items_left == 0


def test_who_waits_for_others_in_a_pool_is_told_how_many_tasks_they_have(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool")
    take(campaign, person(campaign, 0), NOW)
    work_off(campaign, person(campaign, 1), NOW)
    assert count_held_by_others(campaign, person(campaign, 1)) == 2, (
        "the task and the document's other system"
    )
    work_off(campaign, person(campaign, 0), NOW)
    assert count_held_by_others(campaign, person(campaign, 1)) == 0


def test_somebody_new_gets_a_language_pair_and_its_next_work(
    make_campaign_anywhere: MakeCampaign, scripts: TestSet
) -> None:
    for how in ("static", "pool"):
        people = {"ann": ["en-de"], "ben": [lp for lp in scripts.lps if lp != "en-de"]}
        campaign, _ = make_campaign_anywhere("esa", people, assignment=how, test_set=scripts)
        begun = take(campaign, person(campaign, 0), NOW)
        (link,) = add_people(campaign, ["cleo"], "annotator", NOW, actor="test")
        cleo = person(campaign, -1)
        assert (cleo.name, cleo.lps) == (link.name, ("en-de",))
        done = {given.task for given in work_off(campaign, cleo, NOW)}
        assert done
        assert begun.task not in done
        rest = {given.task for given in work_off(campaign, person(campaign, 0), NOW)}
        assert not done & rest
        assert len(done | rest) == 6
        with pytest.raises(UsageError, match="; got en-fr"):
            add_people(campaign, ["dan"], "annotator", NOW, actor="test", lps=["en-fr"])


def test_a_person_is_told_of_a_loud_check_that_was_missed(make_campaign: MakeCampaign) -> None:
    for is_loud in (True, False):
        campaign, _ = make_campaign("esa", 1, checks=0.4, is_loud=is_loud)
        who, told = person(campaign), []
        while (given := assign_next(campaign, who, NOW)) is not None:
            answer_all(campaign, who, given, NOW)
            told += [note for notes in finish(campaign, who, given.id, NOW).notes.values() for note in notes]
        assert any("words were exchanged" in note for note in told) == is_loud


# The tutorial...


def expected_marks(shown: ItemShown) -> dict[str, Any]:
    """What passes a tutorial's item."""
    check = shown.check or {}
    text, spans = shown.asked.texts[check.get("translation", 0)], []
    for at, wanted in enumerate(check.get("spans", ())):
        place = {key: wanted[key] for key in ("start", "end")}
        said = {"text": text[wanted["start"] : wanted["end"]], "severity": wanted["severity"] or "minor"}
        spans.append({"id": f"t{at}", **place, **said})
    missing = {"severity": "minor", "category": None} if check.get("missing") else None
    return {"rating": sum(check.get("rating", [0, 100])) // 2, "spans": spans, "missing": missing}


def test_the_tutorial_comes_first_and_must_be_passed(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, tutorial=True, assignment="pool")
    who = person(campaign)
    other = take(campaign, person(campaign, 1), NOW)
    assert other.kind == "tutorial"
    kinds = []
    while (given := assign_next(campaign, who, NOW)) is not None:
        kinds.append(given.kind)
        if given.kind == "tutorial":
            answer_all(campaign, who, given, NOW, rating=37)
            with pytest.raises(UnfinishedError, match="not quite yet: segment"):
                finish(campaign, who, given.id, NOW)
            assert person(campaign).tutorial_at is None
            events = [change(shown, 1, **expected_marks(shown)) for shown in items(campaign, given)]
            assert not save(campaign, who, given.id, "page", events, NOW).refused
        else:
            answer_all(campaign, who, given, NOW)
        finish(campaign, who, given.id, NOW)
    count = kinds.count("tutorial")
    assert kinds == ["tutorial"] * count + ["original"] * 4, "the other one has a document"
    assert count
    assert person(campaign).tutorial_at == NOW


# Dynamic...


def given_systems(campaign: Campaign, given: Assignment) -> str:
    return items(campaign, given)[0].translations[0]["system"]


@pytest.mark.parametrize("by", ["ties", "information"])
def test_a_dynamic_assignment_asks_for_the_systems_that_it_knows_least_of(
    make_campaign: MakeCampaign, by: str
) -> None:
    """One system is far below; two are close and, for `information`, one of them varies most."""
    campaign, _ = make_campaign(
        "esa", 1, assignment="dynamic", dynamic_by=by, test_set=grow(40, "clear", "close", "varied")
    )
    who, count = person(campaign), Counter[str]()
    for _ in range(60):
        now = NOW + sum(count.values())
        system = given_systems(campaign, take(campaign, who, now))
        ratings = {"clear": [1, 2], "close": [70, 72], "varied": [50, 93]}[system]
        do_one(campaign, who, now, rating=ratings[count[system] % 2])
        count[system] += 1
    assert count["clear"] <= 5
    assert count["varied"] == 40 if by == "information" else count["close"] >= 15


def test_a_dynamic_assignment_counts_marks_of_categories_of_ones_own(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    """`Tone` is no category that weights know."""
    (tmp_path / "own.toml").write_text('[categories]\n"Tone" = "not ours"\n')
    campaign, _ = make_campaign("mqm", 1, assignment="dynamic", typology=tmp_path / "own.toml")
    who = person(campaign)
    given = take(campaign, who, NOW)
    for shown in items(campaign, given):
        text = shown.asked.texts[0][:1]
        span = {"id": "1", "start": 0, "end": 1, "text": text, "severity": "minor", "category": "Tone"}
        save(campaign, who, given.id, "page", [change(shown, kind="complete", spans=[span])], NOW)
    finish(campaign, who, given.id, NOW)
    assert assign_next(campaign, who, NOW) is not None


def test_where_metrics_disagree_most_comes_first(make_campaign: MakeCampaign) -> None:
    test_set = grow(10, "A", "B")
    campaign, _ = make_campaign(
        "esa",
        1,
        assignment="dynamic",
        dynamic_by="disagreement",
        test_set=test_set,
        priorities={("en-de", str(n), "B"): float(n) for n in range(10)},
    )
    done = work_off(campaign, person(campaign), NOW)
    seen = [(given_systems(campaign, given), items(campaign, given)[0].segment) for given in done]
    assert seen[:9] == [("B", str(n)) for n in range(9, 0, -1)]


def test_many_at_once_spread_over_systems_that_are_known_as_little(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 6, assignment="dynamic", test_set=grow(9, "A", "B", "C"))
    given = [assign_next(campaign, person(campaign, number), NOW) for number in range(6)]
    assert Counter(given_systems(campaign, one) for one in given if one is not None) == {
        "A": 2,
        "B": 2,
        "C": 2,
    }


# Many at once...


@pytest.mark.parametrize("how", ["pool", "dynamic"])
@pytest.mark.parametrize("raters", [1, 3])
def test_many_threads_give_no_place_twice_and_lose_no_task(
    make_campaign_anywhere: MakeCampaign, how: str, raters: int
) -> None:
    campaign, _ = make_campaign_anywhere(
        "sqm", 16, assignment=how, raters=raters, test_set=grow(12, "A", "B")
    )
    ready = Barrier(16)

    def work(who: Person) -> list[int]:
        ready.wait()
        return [given.task for given in work_off(campaign, who, NOW)]

    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(work, [person(campaign, number) for number in range(16)]))
    assert all(len(own) == len(set(own)) for own in done)
    counts = Counter(number for own in done for number in own)
    assert set(counts.values()) == {raters}
    assert len(counts) == 24


# Quick however large the campaign...


def steps_of(campaign: Campaign, work: Callable[[], object]) -> int:
    """Steps of SQLite's machine that some work takes, in hundreds."""
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    with campaign.database._engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
    raw.set_progress_handler(count, 100)
    work()
    raw.set_progress_handler(None, 0)
    return steps[0]


@pytest.mark.parametrize("how", ["static", "pool", "dynamic"])
def test_giving_a_task_costs_the_same_in_a_small_campaign_and_in_a_large_one(
    make_campaign: MakeCampaign, how: str
) -> None:
    costs = []
    for size in (20, 2000):
        campaign, _ = make_campaign("esa", 2, assignment=how, checks=0.1, test_set=grow(size, "A", "B"))
        who = person(campaign)
        do_one(campaign, who, NOW)
        costs.append(steps_of(campaign, lambda c=campaign, w=who: assign_next(c, w, NOW)))  # type: ignore[misc]
    assert costs[1] <= costs[0] * 2 + 5, costs


def test_one_person_in_many_tabs_has_one_task(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere("esa", 2, assignment="pool")
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: take(campaign, person(campaign), NOW).id, range(20)))
    assert len(set(found)) == 1


def test_no_step_of_giving_a_task_reads_a_whole_table(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool", checks=0.1, test_set=grow(50, "A", "B"))
    asked = statements_of(campaign, lambda: work_off(campaign, person(campaign), NOW))
    plans = set()
    with campaign.database.reading() as connection:
        for statement in {text for text in asked if text.startswith(("SELECT", "UPDATE"))}:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")
            plans |= {row[3] for row in rows}
    assert plans
    assert not {plan for plan in plans if plan.startswith("SCAN") and "CONSTANT" not in plan}
    assert any("ix_task_open" in plan for plan in plans)
    assert not {plan for plan in plans if "TEMP B-TREE FOR ORDER BY" in plan and "task" in plan}


@pytest.mark.parametrize("how", ["static", "pool"])
@pytest.mark.parametrize(("protocol", "portion"), [("contrastive-sqm", 4), ("sqm", 4), ("pairwise", 2)])
def test_after_a_days_portion_nobody_begins_anything_until_midnight(
    make_campaign: MakeCampaign, how: Any, protocol: str, portion: int
) -> None:
    campaign, _ = make_campaign(protocol, 1, assignment=how, ratings_a_day=portion)
    who, morning = person(campaign), datetime(2025, 10, 9, 8).astimezone().timestamp()
    days = []
    for day in range(12):
        now = morning + day * 86_400
        done = work_off(campaign, who, now)
        segments = sum(len(items(campaign, given)) for given in done)
        days.append(segments * (2 if protocol == "contrastive-sqm" else 1))
        assert (assign_next(campaign, who, now + 3600)) is None
        if why_nothing(campaign, who, now + 3600) != "tomorrow":
            break
    assert sum(days) == {"pairwise": 6}.get(protocol, 12)
    assert all(portion <= amount < portion + 6 for amount in days[:-1])
    assert len(days) > 1
