"""Who gets which tasks, in what order, with which checks and controls among them."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.segment_scores import score_records
from adjudge.campaigns.planning import batches_of_people, disagreement, plan_tasks
from adjudge.campaigns.settings import CampaignSettings, CheckKind
from adjudge.campaigns.tasks import Item, Task
from adjudge.core.scores import Scores
from adjudge.errors import DataError, UsageError
from tests.analysis.records import failed, rated


def tasks_of(documents: int, systems: int, *, segments: int = 3, lp: str = "en-de") -> list[Task]:
    shown: Any = {"system": "", "text": "t", "given": [], "original": None}
    items = tuple(Item(segment=str(n), source="s", translations=(shown,)) for n in range(segments))
    return [
        Task(kind="original", lp=lp, document=f"d{document}", systems=(f"s{system}",), items=items)
        for document in range(documents)
        for system in range(systems)
    ]


def copy(task: Task, kind: CheckKind, draw: Random) -> Task | None:
    return replace(task, kind="check")


def plan(tasks: list[Task], people: int, **settings: Any) -> list[Task]:
    return plan_tasks(tasks, CampaignSettings(**{"protocol": "esa-ai", **settings}), people, copy)


def key(task: Task) -> tuple[str, tuple[str, ...]]:
    return task.document, task.systems


def rows(planned: list[Task]) -> dict[int | None, list[Task]]:
    found: dict[int | None, list[Task]] = {}
    for task in planned:
        found.setdefault(task.batch, []).append(task)
    return found


# Batches...


@pytest.mark.parametrize(
    ("people", "redundancy", "batches"),
    [(3, 1, [0, 1, 2]), (4, 2, [0, 1, 0, 1]), (5, 2, [0, 1, 0, 1, 0]), (3, 3, [0, 0, 0])],
)
def test_a_batch_is_that_of_as_many_people_as_each_task_needs(
    people: int, redundancy: int, batches: list[int]
) -> None:
    assert batches_of_people(people, CampaignSettings(protocol="esa", redundancy=redundancy)) == batches


@pytest.mark.parametrize("assignment", ["pool", "dynamic"])
def test_without_static_assignment_nobody_has_a_batch(assignment: Any) -> None:
    assert batches_of_people(2, CampaignSettings(protocol="esa", assignment=assignment)) == [None, None]
    assert {task.batch for task in plan(tasks_of(2, 2), 2, assignment=assignment)} == {None}


@pytest.mark.parametrize("assignment", ["static", "pool"])
def test_fewer_people_than_a_task_needs_are_refused(assignment: Any) -> None:
    with pytest.raises(UsageError, match="redundancy of 3 needs as many annotators, got 2"):
        plan(tasks_of(2, 2), 2, redundancy=3, assignment=assignment)


@given(
    size=st.tuples(st.integers(1, 8), st.integers(1, 4)),
    redundancy=st.integers(1, 3),
    more=st.integers(0, 6),
    settings=st.fixed_dictionaries(
        {
            "balance": st.sampled_from(["documents", "systems"]),
            "checks": st.sampled_from([0.0, 0.12, 0.5]),
            "assignment": st.sampled_from(["static", "pool"]),
            "seed": st.integers(0, 9),
        }
    ),
)
def test_every_task_is_planned_once_and_every_check_follows_its_original(
    size: tuple[int, int], redundancy: int, more: int, settings: dict[str, Any]
) -> None:
    tasks = tasks_of(*size)
    planned = plan(tasks, redundancy + more, redundancy=redundancy, **settings)
    originals = [task for task in planned if task.kind == "original"]
    assert sorted(map(key, originals)) == sorted(map(key, tasks))
    assert {task.redundancy for task in planned} == {redundancy}
    for place, task in enumerate(planned):
        assert (task.copy_of is None) == (task.kind == "original")
        if task.copy_of is not None:
            original = planned[task.copy_of]
            assert (key(original), original.kind, original.batch) == (key(task), "original", task.batch)
            assert task.copy_of < place
    assert planned == plan(tasks, redundancy + more, redundancy=redundancy, **settings)


@pytest.mark.parametrize("balance", ["documents", "systems"])
def test_batches_are_even_in_segments_documents_and_systems(balance: Any) -> None:
    found = rows(plan(tasks_of(20, 5), 10, balance=balance))
    assert {len(row) for row in found.values()} == {10}
    for row in found.values():
        assert max(Counter(task.document for task in row).values()) <= (1 if balance == "documents" else 2)
        counts = Counter(task.systems for task in row).values()
        assert max(counts) - min(counts) <= (2 if balance == "documents" else 0)


def test_a_batch_that_more_people_share_is_longer() -> None:
    found = rows(plan(tasks_of(30, 5), 5, redundancy=2))
    assert len(found[0]) == pytest.approx(len(found[1]) * 1.5, abs=2)


def test_documents_of_different_length_make_equal_work() -> None:
    tasks = [task for length in range(1, 21) for task in tasks_of(1, 4, segments=length)]
    tasks = [replace(task, document=f"{place // 4}") for place, task in enumerate(tasks)]
    load = [sum(len(task.items) for task in row) for row in rows(plan(tasks, 4)).values()]
    assert max(load) - min(load) <= 20


def test_each_language_pair_has_batches_of_its_own_by_its_segments() -> None:
    planned = plan([*tasks_of(6, 2, lp="en-de"), *tasks_of(2, 2, lp="en-zh")], 4)
    found = {batch: {task.lp for task in row} for batch, row in rows(planned).items()}
    assert found == {0: {"en-de"}, 1: {"en-de"}, 2: {"en-de"}, 3: {"en-zh"}}


def test_even_the_smallest_language_pair_has_a_batch() -> None:
    tasks = [*tasks_of(60, 2, lp="en-de"), *tasks_of(1, 1, lp="en-zh"), *tasks_of(1, 1, lp="en-ja")]
    found = rows(plan(tasks, 3))
    assert [{task.lp for task in row} for row in found.values()] == [{"en-de"}, {"en-zh"}, {"en-ja"}]


@pytest.mark.parametrize(("people", "assignment"), [(1, "static"), (9, "pool"), (9, "dynamic")])
def test_people_of_one_language_pair_get_no_other(people: int, assignment: Any) -> None:
    with pytest.raises(UsageError, match=r"2 language pairs \(en-de, en-zh\) need a batch each"):
        plan([*tasks_of(2, 2), *tasks_of(2, 2, lp="en-zh")], people, assignment=assignment)


# When not everything fits...


def test_what_does_not_fit_is_left_out_by_whole_documents() -> None:
    planned = plan(tasks_of(20, 4), 4, segments_each=30, balance="documents")
    documents = Counter(task.document for task in planned)
    assert set(documents.values()) == {4}  # all systems of each
    assert sum(len(task.items) for task in planned) == 120


def test_or_by_tasks_so_that_every_system_has_as_many() -> None:
    planned = plan(tasks_of(20, 4), 4, segments_each=30, balance="systems")
    assert set(Counter(task.systems for task in planned).values()) == {10}
    assert len({task.document for task in planned}) > 10
    assert sum(len(task.items) for task in planned) == 120


def test_redundancy_and_checks_take_their_part_of_the_time() -> None:
    planned = plan(tasks_of(50, 2), 4, segments_each=60, redundancy=2, checks=0.2)
    each = {batch: sum(len(task.items) for task in row) for batch, row in rows(planned).items()}
    assert set(each) == {0, 1}
    assert all(50 <= segments <= 66 for segments in each.values())


def test_a_document_longer_than_all_time_is_refused() -> None:
    with pytest.raises(UsageError, match="not one document fits into 2 segments for each of 1 person"):
        plan(tasks_of(2, 1), 1, segments_each=2)


# Checks and controls...


@pytest.mark.parametrize(("share", "checks"), [(0.0, 0), (0.12, 12), (0.5, 88)])
def test_the_share_of_checks_is_of_all_that_a_person_sees(share: float, checks: int) -> None:
    planned = plan(tasks_of(44, 2), 1, checks=share)
    assert Counter(task.kind for task in planned)["check"] == checks


def test_everybody_gets_a_check_where_there_are_any() -> None:
    for row in rows(plan(tasks_of(6, 2), 6, checks=0.05)).values():
        assert Counter(task.kind for task in row) == {"original": 2, "check": 1}


def test_checks_stand_all_over_a_row_and_not_right_behind_their_originals() -> None:
    planned = plan(tasks_of(100, 2), 1, checks=0.12, seed=3)
    places = [place for place, task in enumerate(planned) if task.kind == "check"]
    assert min(places) < 40
    assert max(places) > 180
    distances = [place - (planned[place].copy_of or 0) for place in places]
    assert min(distances) >= 2
    assert len(set(distances)) > 4


def test_a_check_may_come_before_its_original_where_that_is_asked_for() -> None:
    planned = plan(tasks_of(50, 2), 1, checks=0.3, checks_first=True)
    before = [place < (task.copy_of or 0) for place, task in enumerate(planned) if task.kind == "check"]
    assert set(before) == {True, False}


def test_where_a_task_cannot_be_damaged_another_one_is() -> None:
    def only_first(task: Task, kind: CheckKind, draw: Random) -> Task | None:
        return copy(task, kind, draw) if task.systems == ("s0",) else None

    planned = plan_tasks(tasks_of(20, 4), CampaignSettings(protocol="esa", checks=0.1), 1, only_first)
    assert Counter(task.systems for task in planned if task.kind == "check") == {("s0",): 9}


def test_kinds_of_checks_take_turns() -> None:
    kinds: list[str] = []

    def keep(task: Task, kind: CheckKind, draw: Random) -> Task:
        kinds.append(kind)
        return replace(task, kind="check")

    settings = CampaignSettings(protocol="esa", checks=0.2, check_kinds=("damaged", "missing", "score"))
    plan_tasks(tasks_of(12, 1), settings, 1, keep)
    assert kinds == ["damaged", "missing", "score"]


@pytest.mark.parametrize(
    ("people", "share", "controls"), [(2, 0.1, 1), (8, 0.25, 2), (4, 0.05, 1), (2, 0.5, 4)]
)
def test_small_batches_have_their_share_of_controls_together(
    people: int, share: float, controls: int
) -> None:
    planned = plan(tasks_of(2, 4), people, control=share)
    assert Counter(task.kind for task in planned)["control"] == controls


@pytest.mark.parametrize(("share", "controls"), [(0.0, 0), (0.25, 10), (1.0, 40)])
def test_controls_show_nothing_that_was_marked_beforehand(share: float, controls: int) -> None:
    planned = plan(tasks_of(20, 2), 2, control=share)
    kinds = Counter(task.kind for task in planned)
    assert kinds["control"] == controls
    for task in planned:
        given = {repr(shown["given"]) for item in task.items for shown in item.translations}
        assert given == {"None" if task.kind == "control" else "[]"}
        withheld = {repr(shown.get("withheld")) for item in task.items for shown in item.translations}
        assert withheld == {"[]" if task.kind == "control" else "None"}


def test_the_seed_decides_what_is_drawn() -> None:
    plans = {
        tuple(
            (task.document, task.systems, task.kind) for task in plan(tasks_of(9, 3), 3, checks=0.2, seed=s)
        )
        for s in range(5)
    }
    assert len(plans) == 5


def scores(*values: float, scale: float = 1.0) -> Scores:
    records = [rated("x", str(n), value * scale, protocol="metric") for n, value in enumerate(values)]
    return score_records([*records, failed("x", segment="failed", protocol="metric")])


def test_priorities_are_the_spread_of_z_scores_whatever_the_scales() -> None:
    found = disagreement([scores(1, 2, 3), scores(1, 2, 3, scale=100), scores(3, 2, 1)])
    step = 1 / np.std([1, 2, 3])
    assert found == pytest.approx({
        ("en-de", "0", "x"): np.std([-step, -step, step]),
        ("en-de", "1", "x"): 0.0,
        ("en-de", "2", "x"): np.std([step, step, -step]),
    })  # fmt: skip


def test_a_metric_that_says_the_same_of_all_is_in_the_middle() -> None:
    found = disagreement([scores(1, 3), scores(5, 5)])
    assert found["en-de", "0", "x"] == pytest.approx(0.5)


def test_one_metric_cannot_disagree() -> None:
    with pytest.raises(UsageError, match="needs the scores of two metrics or judges, got 1"):
        disagreement([scores(1, 2)])


def test_metrics_of_other_translations_are_refused() -> None:
    other = score_records([rated("y", "0", 1.0, protocol="metric")])
    with pytest.raises(DataError, match="are they of one test set"):
        disagreement([scores(1, 2), other])
