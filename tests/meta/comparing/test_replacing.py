"""`adjudge.gate`: the verdict of the command, from Python."""

from dataclasses import replace
from pathlib import Path

import pytest

import adjudge
from adjudge.core.record import Record
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import UsageError
from adjudge.store.json_lines import write_records
from tests.scoring.records import error, mqm, rated

AMOUNT = 60


def ratings(system: str, shift: float = 0.0) -> list[Record]:
    return [rated(system, str(n), 50 + n % 7 + shift + (n % 3 - 1) * bool(shift)) for n in range(AMOUNT)]


OLD, WORSE = ratings("old"), ratings("worse", -10.0)


def test_two_lists_of_records_two_files_and_two_systems_of_one_give_one_verdict(tmp_path: Path) -> None:
    old, worse, both = (tmp_path / f"{name}.jsonl" for name in ("old", "worse", "both"))
    write_records(old, OLD)
    write_records(worse, WORSE)
    write_records(both, [*OLD, *WORSE])
    found = [
        adjudge.gate(OLD, WORSE, margin=1),
        adjudge.gate(old, str(worse), margin=1),
        adjudge.gate(both, margin=1, systems=("old", "worse")),
        adjudge.gate(both, both, margin=1, systems=("old", "worse")),
    ]
    assert {(gate.verdict, gate.candidate.name, gate.baseline.name) for gate in found} == {
        ("do-not-ship", "worse", "old")
    }
    assert len({gate.rows[0].found for gate in found}) == 1


def test_the_domains_of_a_test_set_have_rows_of_their_own() -> None:
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="Hi.", domain="law" if n % 2 else "chat")
        for n in range(AMOUNT)
    )
    texts = TestSet(name="t", segments=segments)
    found = adjudge.gate(OLD, ratings("new", 0.5), margin=1, test_set=texts)
    assert [row.name for row in found.rows] == ["all", "chat", "law"]


def test_a_filler_brings_no_critical_error() -> None:
    def judged(system: str) -> list[Record]:
        return [mqm(system, str(n), *([error("minor")] if n % 2 else [])) for n in range(AMOUNT)]

    filler = replace(mqm("new", "0", error("critical")), flags=("duplicate",))
    found = adjudge.gate(judged("old"), [filler, *judged("new")], margin=20, scale=(-25, 0))
    assert found.critical is not None
    assert (found.verdict, found.critical.candidate) == ("ship", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name both systems"),
        ({"systems": ("old", "old")}, "the candidate must be another system"),
        ({"systems": ("old",)}, "as OLD,NEW; got 'old'"),
        (
            {"systems": ("old", "new"), "metric": "BLEU"},
            "one of them, is of a test set: its path is the baseline",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        adjudge.gate(OLD, margin=1, **options)  # type: ignore[arg-type]


def test_texts_beside_the_scores_of_a_test_set_are_refused() -> None:
    with pytest.raises(UsageError, match="is of a test set: its path is the baseline"):
        adjudge.gate("set", systems=("old", "new"), margin=1, gold="mqm", test_set="other")


def test_weights_and_criteria_are_chosen_as_by_the_command() -> None:
    def judged(system: str, category: str) -> list[Record]:
        return [mqm(system, str(i), error("minor", category)) for i in range(20)]

    old, new = judged("old", "fluency/punctuation"), judged("new", "fluency/grammar")
    google, plain = (adjudge.gate(old, new, margin=0.5, weights=w) for w in (None, "ea-prompt"))
    assert google.rows[0].found.difference == pytest.approx(-0.9)
    assert plain.rows[0].found.difference == 0
    with pytest.raises(UsageError, match="a criterion chooses among preferences"):
        adjudge.gate(old, new, margin=1, criterion="fluency")


def test_a_criterion_beside_the_scores_of_a_test_set_is_refused() -> None:
    with pytest.raises(UsageError, match="test_set and criterion are left out"):
        adjudge.gate("set", systems=("old", "new"), margin=1, gold="mqm", criterion="fluency")
