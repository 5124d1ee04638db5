"""Tasks of a test set: whole documents of one system, of a pair, of several."""

import pytest

from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.campaigns.tasks import (
    Task,
    make_tasks,
)
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError
from tests.campaigns.conftest import make_test_set


def made_of(*rows: tuple[str, str, dict[str, str]]) -> TestSet:
    """Document, segment, translations."""
    segments = [
        Segment(segment=segment, lp="en-de", document=document, source="Source.", translations=translations)
        for document, segment, translations in rows
    ]
    return TestSet(name="made", segments=tuple(segments))


def shape(tasks: list[Task]) -> list[tuple[str, str, str]]:
    """Document, systems and segments of each task."""
    return [
        (task.document, "+".join(task.systems), " ".join(item.segment for item in task.items))
        for task in tasks
    ]


def test_only_the_pairs_that_were_asked_for_are_compared() -> None:
    texts = {"A": "a", "B": "b", "C": "c"}
    made = made_of(("d", "1", texts), ("d", "2", texts))
    asked = {
        ("en-de", "1", frozenset("AB")),
        ("en-de", "2", frozenset("AB")),
        ("en-de", "2", frozenset("BC")),
    }
    assert shape(make_tasks(made, "pair", pairs=asked)) == [("d", "A+B", "1 2"), ("d", "B+C", "2")]
    with pytest.raises(DataError, match="no segment has a pair that was asked for"):
        make_tasks(made, "pair", pairs={("en-cs", "1", frozenset("AB"))})


@pytest.mark.parametrize("protocol", NAMES)
def test_every_task_is_a_whole_document(protocol: str) -> None:
    tasks = make_tasks(make_test_set("en-de"), find_campaign_protocol(protocol).shows)
    documents = {"doc-1": "1.1 1.2", "doc-2": "2.1", "doc-3": "3.1 3.2 3.3"}
    assert all(documents[document] == segments for document, _, segments in shape(tasks))
    assert {task.document for task in tasks} == set(documents)


@pytest.mark.parametrize(
    ("shows", "systems"),
    [
        ("one", ["A", "B", "C"]),
        ("pair", ["A+B", "A+C", "B+C"]),
        ("several", ["A+B+C"]),
        ("candidates", ["A+B+C"]),
    ],
)
def test_what_stands_beside_a_source(shows: str, systems: list[str]) -> None:
    three = made_of(("d", "1", {"A": "a", "B": "b", "C": "c"}))
    assert [names for _, names, _ in shape(make_tasks(three, shows))] == systems  # type: ignore[arg-type]


def test_pairs_of_identical_translations_are_dropped() -> None:
    same = made_of(("d", "1", {"A": "x", "B": "x", "C": "c"}), ("d", "2", {"A": "a", "B": "b", "C": "b"}))
    assert shape(make_tasks(same, "pair")) == [("d", "A+B", "2"), ("d", "A+C", "1 2"), ("d", "B+C", "1")]


def test_what_a_system_did_not_translate_is_left_out_and_empty_text_is_not() -> None:
    gaps = made_of(("d", "1", {"A": "", "B": "b"}), ("d", "2", {"B": "b2"}))
    assert shape(make_tasks(gaps, "one")) == [("d", "A", "1"), ("d", "B", "1 2")]
    assert shape(make_tasks(gaps, "pair")) == [("d", "A+B", "1")]
    (several,) = make_tasks(gaps, "several")
    assert [[shown["system"] for shown in item.translations] for item in several.items] == [["A", "B"], ["B"]]


def test_a_segment_without_a_document_stands_alone() -> None:
    loose = made_of(("", "1", {"A": "a"}), ("", "2", {"A": "b"}))
    assert shape(make_tasks(loose, "one")) == [("", "A", "1"), ("", "A", "2")]


def test_documents_of_two_language_pairs_are_two() -> None:
    tasks = make_tasks(make_test_set("en-zh", "en-ja"), "one")
    assert sorted({(task.lp, task.document) for task in tasks}) == [("en-ja", "doc-1"), ("en-zh", "doc-1")]


@pytest.mark.parametrize(
    ("rows", "shows", "wanted"),
    [
        ([], "one", "a translation"),
        ([("d", "1", {})], "several", "a translation"),
        ([("d", "1", {"A": "a"})], "pair", "two systems"),
        ([("d", "1", {"A": "a", "B": "a"})], "pair", "two systems whose translations differ"),
    ],
)
def test_a_test_set_with_nothing_to_judge_is_refused(
    rows: list[tuple[str, str, dict[str, str]]], shows: str, wanted: str
) -> None:
    with pytest.raises(DataError, match=f"'made' has nothing to judge: no segment has {wanted}"):
        make_tasks(made_of(*rows), shows)  # type: ignore[arg-type]


def test_the_priority_of_a_task_is_the_mean_of_what_is_known() -> None:
    two = made_of(("d", "1", {"A": "a", "B": "b"}), ("d", "2", {"A": "a", "B": "b"}))
    known = {("en-de", "1", "A"): 1.0, ("en-de", "2", "A"): 3.0, ("en-de", "1", "B"): 5.0}
    assert [task.priority for task in make_tasks(two, "one", priorities=known)] == [2.0, 5.0]
    assert [task.priority for task in make_tasks(two, "several", priorities=known)] == [3.0]
    assert [task.priority for task in make_tasks(two, "one")] == [0.0, 0.0]
