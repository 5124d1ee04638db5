"""Who gets which tasks, in what order, with which checks and controls among them."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from adjudge.analysis.segment_scores import score_records
from adjudge.campaigns.planning import Plan, disagreement, plan_tasks, share_languages
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


def made(tasks: list[Task], people: int | list[tuple[str, ...]], **settings: Any) -> Plan:
    asked = [()] * people if isinstance(people, int) else people
    return plan_tasks(tasks, CampaignSettings(**{"protocol": "esa-ai", **settings}), asked, copy)


def plan(tasks: list[Task], people: int, **settings: Any) -> list[Task]:
    return made(tasks, people, **settings).tasks


def key(task: Task) -> tuple[str, tuple[str, ...]]:
    return task.document, task.systems


def rows(found: Plan) -> list[list[Task]]:
    """What each person is dealt, in their order."""
    return [
        [found.tasks[number] for number, _ in sorted(row, key=lambda entry: entry[1])] for row in found.dealt
    ]


def segments(row: list[Task], kinds: tuple[str, ...] = ("original",)) -> int:
    return sum(len(task.items) for task in row if task.kind in kinds)


# People, languages and documents...


PAIRS = ("en-de", "he-en", "zh-en", "en-he")


@st.composite
def campaigns(draw: st.DrawFn) -> tuple[list[Task], list[tuple[str, ...]], dict[str, Any]]:
    """Documents of several lengths in several language pairs, people with languages or without, settings."""
    lps = PAIRS[: draw(st.integers(1, 4))]
    systems, raters = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    tasks: list[Task] = []
    for lp in lps:
        for number, size in enumerate(draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))):
            tasks += [
                replace(task, document=f"{lp}/{number}")
                for task in tasks_of(1, systems, segments=size, lp=lp)
            ]
    free = draw(st.integers(raters * len(lps), raters * len(lps) + 5))
    own = st.lists(st.sampled_from(lps), min_size=1, max_size=2, unique=True).map(tuple)
    settings = {
        "raters": raters,
        "checks": draw(st.sampled_from([0.0, 0.12, 0.5])),
        "pairs_of_people": draw(st.booleans()),
        "seed": draw(st.integers(0, 5)),
    }
    return tasks, [*draw(st.lists(own, max_size=4)), *[()] * free], settings


@given(campaigns())
@hypothesis_settings(deadline=None)
def test_the_same_people_judge_all_systems_of_a_document_and_loads_are_alike(
    drawn: tuple[list[Task], list[tuple[str, ...]], dict[str, Any]],
) -> None:
    tasks, people, settings = drawn
    found = made(tasks, people, **settings)
    assert found == made(tasks, people, **settings)
    assert sorted(map(key, (t for t in found.tasks if t.kind == "original"))) == sorted(map(key, tasks))
    raters: dict[str, set[frozenset[int]]] = {}
    of_task: dict[int, set[int]] = {}
    for person, row in enumerate(found.dealt):
        assert len({number for number, _ in row}) == len(row)
        for number, _ in row:
            of_task.setdefault(number, set()).add(person)
    for number, task in enumerate(found.tasks):
        if task.kind == "original":
            raters.setdefault(task.document, set()).add(frozenset(of_task[number]))
    assert all(len(own) == 1 and len(next(iter(own))) == settings["raters"] for own in raters.values())
    for asked, lps, theirs in zip(people, found.lps, rows(found), strict=True):
        assert lps == asked or (not asked and len(lps) == 1)
        assert {task.lp for task in theirs} <= set(lps)
    for lp in {task.lp for task in tasks}:
        sizes = Counter[str]()
        for task in tasks:
            sizes[task.document] += len(task.items) if task.lp == lp else 0
        loads = [
            segments([task for task in theirs if task.lp == lp])
            for lps, theirs in zip(found.lps, rows(found), strict=True)
            if lp in lps
        ]
        assert max(loads) - min(loads) <= max(sizes.values())


@given(campaigns())
@hypothesis_settings(deadline=None)
def test_checks_are_a_share_of_the_segments_of_each_person(
    drawn: tuple[list[Task], list[tuple[str, ...]], dict[str, Any]],
) -> None:
    tasks, people, settings = drawn
    found = made(tasks, people, **settings)
    for row in rows(found):
        checks, originals = segments(row, ("check",)), segments(row)
        most = settings["checks"] / (1 - settings["checks"]) * originals
        assert checks <= max(most, 1.0) + 1e-9
        assert (checks > 0) == bool(settings["checks"] and originals)
        if settings["checks"] == 0.12 and originals >= 25:
            assert 0.08 <= checks / originals <= 0.16
        for place, task in enumerate(row):
            if task.copy_of is not None:
                assert found.tasks[task.copy_of] in row[:place]


def test_a_person_of_two_language_pairs_has_one_share_of_checks_over_both() -> None:
    tasks = [*tasks_of(2, 1, segments=2, lp="en-de"), *tasks_of(2, 1, segments=2, lp="he-en")]
    (row,) = rows(made(tasks, [("en-de", "he-en")], checks=0.12))
    assert (segments(row), segments(row, ("check",))) == (8, 1)


@pytest.mark.parametrize("people", [4, 5])
@pytest.mark.parametrize("together", [False, True])
def test_ten_systems_of_a_source_have_the_same_two_people(people: int, together: bool) -> None:
    found = made(tasks_of(40, 10, segments=1), people, raters=2, pairs_of_people=together)
    by_document: dict[str, list[set[tuple[str, ...]]]] = {}
    for row in rows(found):
        own: dict[str, set[tuple[str, ...]]] = {}
        for task in row:
            own.setdefault(task.document, set()).add(task.systems)
        for document, systems in own.items():
            by_document.setdefault(document, []).append(systems)
    assert len(by_document) == 40
    assert all([len(systems) for systems in own] == [10, 10] for own in by_document.values())
    holders = [{number for number, _ in row} for row in found.dealt]
    sets = {
        frozenset(n for n, own in enumerate(holders) if place in own) for place in range(len(found.tasks))
    }
    assert len(sets) == {4: 2, 5: 5}[people] if together else len(sets) > 5


@pytest.mark.parametrize("assignment", ["pool", "dynamic"])
def test_what_is_dealt_later_is_nobodys_yet(assignment: Any) -> None:
    found = made(tasks_of(2, 3), 2, assignment=assignment, checks=0.2)
    assert found.dealt == [[], []]
    batches = Counter(task.batch for task in found.tasks if task.kind == "original")
    assert [*batches.values()] == ([3, 3] if assignment == "pool" else [1] * 6)
    assert {task.raters for task in found.tasks if task.kind == "check"} == {0}


def test_fewer_people_than_raters_are_refused() -> None:
    for assignment in ("static", "pool"):
        with pytest.raises(UsageError, match="each segment needs 3 raters, and en-de has 2 annotators"):
            plan(tasks_of(2, 2), 2, raters=3, assignment=assignment)


def test_loads_are_even_whatever_is_balanced() -> None:
    for balance in ("documents", "systems"):
        assert {segments(row) for row in rows(made(tasks_of(20, 5), 10, balance=balance))} == {30}


def test_languages_are_shared_by_what_is_to_do_and_kept_where_somebody_has_them() -> None:
    loads = {"en-de": 60, "en-zh": 10, "en-ja": 10}
    assert share_languages(loads, [()] * 6, 1) == [("en-de",), ("en-zh",), ("en-ja",), *[("en-de",)] * 3]
    asked = [("en-zh", "en-ja"), (), ()]
    assert share_languages(loads, asked, 1) == [("en-zh", "en-ja"), ("en-de",), ("en-de",)]
    with pytest.raises(UsageError, match="language pairs are en-de, en-zh, en-ja; somebody has en-fr"):
        share_languages(loads, [("en-fr",)], 1)
    with pytest.raises(UsageError, match=r"needs 1 rater, and en-ja has 0 annotators.*NAME:en-de\+he-en"):
        share_languages(loads, [()] * 2, 1)


# When not everything fits...


def test_what_does_not_fit_is_left_out_by_whole_documents() -> None:
    found = made(tasks_of(20, 4), 4, segments_each=30, balance="documents")
    assert set(Counter(task.document for task in found.tasks).values()) == {4}  # all systems of each
    assert [segments(row) for row in rows(found)] == [24] * 4


def test_or_by_tasks_so_that_every_system_has_as_many() -> None:
    found = made(tasks_of(20, 4), 4, segments_each=30, balance="systems")
    assert set(Counter(task.systems for task in found.tasks).values()) == {10}
    assert len({task.document for task in found.tasks}) > 10
    assert [segments(row) for row in rows(found)] == [30] * 4


@pytest.mark.parametrize("raters", [1, 2])
def test_nobody_is_asked_for_more_segments_than_the_most(raters: int) -> None:
    found = made(tasks_of(50, 2), 4, segments_each=60, raters=raters, checks=0.2)
    each = [segments(row, ("original", "check")) for row in rows(found)]
    assert all(50 <= load <= 60 for load in each)


def test_a_document_longer_than_all_time_is_refused() -> None:
    with pytest.raises(
        UsageError, match="not one document fits into 2 segments for each of 1 person, with 1 rater"
    ):
        plan(tasks_of(2, 1), 1, segments_each=2)


# Checks and controls...


def test_the_share_of_checks_is_of_all_segments_that_a_person_sees() -> None:
    for share, checks in ((0.0, 0), (0.12, 36), (0.5, 264)):
        (row,) = rows(made(tasks_of(44, 2), 1, checks=share))
        assert segments(row, ("check",)) == checks


def test_checks_stand_all_over_a_row_and_not_right_behind_their_originals() -> None:
    found = made(tasks_of(100, 2), 1, checks=0.12, seed=3)
    order = [number for number, _ in sorted(found.dealt[0], key=lambda entry: entry[1])]
    places = [at for at, number in enumerate(order) if found.tasks[number].kind == "check"]
    assert min(places) < 40
    assert max(places) > 180
    distances = [at - order.index(found.tasks[order[at]].copy_of or 0) for at in places]
    assert min(distances[:-2]) >= 2
    assert len(set(distances)) > 4


def test_where_a_task_cannot_be_damaged_another_one_is() -> None:
    def only_first(task: Task, kind: CheckKind, draw: Random) -> Task | None:
        return copy(task, kind, draw) if task.systems == ("s0",) else None

    settings = CampaignSettings(protocol="esa", checks=0.1)
    found = plan_tasks(tasks_of(20, 4), settings, [()], only_first)
    assert {task.systems for task in found.tasks if task.kind == "check"} == {("s0",)}
    assert segments(rows(found)[0], ("check",)) == 26  # a ninth of 240


def test_kinds_of_checks_take_turns() -> None:
    kinds: list[str] = []

    def keep(task: Task, kind: CheckKind, draw: Random) -> Task:
        kinds.append(kind)
        return replace(task, kind="check")

    settings = CampaignSettings(protocol="esa", checks=0.2, check_kinds=("damaged", "missing", "score"))
    plan_tasks(tasks_of(3, 1), settings, [()], keep)
    assert kinds == ["damaged", "missing", "score"]


@pytest.mark.parametrize(
    ("documents", "systems", "people", "share", "controls"),
    [(2, 4, 2, 0.1, 1), (2, 4, 8, 0.25, 2), (2, 4, 2, 0.5, 4), (20, 2, 2, 0.0, 0), (20, 2, 2, 1.0, 40)],
)
def test_batches_large_and_small_have_their_share_of_controls_which_show_nothing_marked(
    documents: int, systems: int, people: int, share: float, controls: int
) -> None:
    planned = plan(tasks_of(documents, systems), people, control=share)
    assert Counter(task.kind for task in planned)["control"] == controls
    for task in planned:
        shown = [(one["given"], one.get("withheld")) for item in task.items for one in item.translations]
        assert shown == [(None, []) if task.kind == "control" else ([], None)] * len(shown)


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


def test_one_metric_or_metrics_of_other_translations_are_refused() -> None:
    with pytest.raises(UsageError, match="needs the scores of two metrics or judges, got 1"):
        disagreement([scores(1, 2)])
    other = score_records([rated("y", "0", 1.0, protocol="metric")])
    with pytest.raises(DataError, match="are they of one test set"):
        disagreement([scores(1, 2), other])
