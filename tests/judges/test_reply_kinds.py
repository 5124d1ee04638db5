"""How many kinds of replies are believed that must not be, and how many fail that say what was asked for."""

import datetime as dt
import os
import random
from pathlib import Path

import pytest

from tests.judges.doubts import cousins, doubts
from tests.judges.kinds import KINDS
from tests.judges.replies import (
    JUDGES,
    Kind,
    Model,
    believed_wrongly,
    failed_needlessly,
    outcome,
    read_kinds,
    share_failed,
    truth,
)

MOST_FAILED = 0.03
"""Share of good replies that may fail, by weight, of a model that is not held to a schema."""
MOST_FAILED_WITH_SCHEMA = 0.005
READ_OTHERWISE = {
    "rating X:05",  # "95%" of a scale to 100 is 95
    "verdict X:08",  # an analysis was asked for, and nobody reads what it says
    "verdict X:21",
}
"""Replies that the reference refuses and the grammar reads."""


def reference() -> list[Kind]:
    """Labelled replies of somebody else, which lie beside the real data."""
    place = os.environ.get("ADJUDGE_DATA")
    path = Path(place or "nowhere").parent / "reference" / "replies.jsonl"
    if not place or not path.is_file():
        pytest.skip("reference/replies.jsonl does not lie beside the folder that ADJUDGE_DATA names")
    return read_kinds(path)


@pytest.mark.parametrize("form", JUDGES)
def test_no_kind_of_reply_that_gives_no_answer_is_believed(form: str) -> None:
    assert believed_wrongly([kind for kind in KINDS if kind.form == form]) == []


def test_few_kinds_of_good_replies_fail() -> None:
    failed = failed_needlessly(KINDS)
    assert share_failed(KINDS, failed) <= MOST_FAILED, failed


def test_hardly_any_good_reply_fails_of_a_model_that_is_held_to_a_schema() -> None:
    kinds = [kind for kind in KINDS if kind.is_constrained]
    failed = failed_needlessly(kinds)
    assert len(kinds) >= 6
    assert share_failed(kinds, failed) <= MOST_FAILED_WITH_SCHEMA, failed


def test_the_table_holds_kinds_of_both_sorts_in_every_form() -> None:
    names = [(kind.form, kind.name) for kind in KINDS]
    assert len(names) == len(set(names))
    assert len(names) >= 300
    for form in JUDGES:
        assert {kind.want for kind in KINDS if kind.form == form} == {"accept", "refuse"}


def test_no_labelled_reply_of_the_reference_is_believed_that_must_not_be() -> None:
    assert {*believed_wrongly(reference())} <= READ_OTHERWISE


def test_few_good_replies_of_the_reference_fail() -> None:
    kinds = reference()
    failed = failed_needlessly(kinds)
    assert share_failed(kinds, failed) <= MOST_FAILED, failed


_FRESH = random.Random(dt.date.today().isoformat())  # noqa: DTZ011 (a day is a day)
ROUNDS = [
    (500, 11),
    *(pytest.param(2000, _FRESH.randrange(10**6), marks=pytest.mark.nightly) for _ in range(5)),
]
"""How many kinds of each sort, from which seed; every night has seeds of its own."""
MOST_BELIEVED = 4
"""Of 2,000 kinds."""
MOST_ASKED_ON = 0.15
"""Share of good replies of a model without a schema, by weight, about which one question more is put."""


@pytest.mark.parametrize(("count", "seed"), ROUNDS)
def test_an_honest_model_is_never_believed_in_doubt(count: int, seed: int) -> None:
    believed = believed_wrongly([*doubts(count, seed)])
    assert len(believed) <= max(1, MOST_BELIEVED * count / 2000), believed


@pytest.mark.parametrize("model", ["yes", "echo"])
@pytest.mark.parametrize(("count", "seed"), ROUNDS)
def test_a_model_that_says_yes_or_echoes_makes_no_doubt_clean(count: int, seed: int, model: Model) -> None:
    truths = truth()
    came = [(kind, outcome(kind, model)) for kind in doubts(count, seed)]
    believed = [
        (kind, one)
        for kind, one in came
        if one.verdict not in (None, truths[kind.form]) and not one.is_by_authors
    ]
    assert all(JUDGES[kind.form][1] != "recommended" for kind, one in came if one.is_by_authors)
    clean = [kind.name for kind, _ in believed if ": clean," in kind.name]
    silent = [kind.name for kind, one in believed if not {"confirmed", "span_unmatched"} & {*one.flags}]
    assert len(clean) + len(silent) <= max(1, MOST_BELIEVED * count / 2000), (clean, silent)


@pytest.mark.parametrize(("count", "seed"), ROUNDS)
def test_few_good_replies_fail_or_need_one_question_more(count: int, seed: int) -> None:
    kinds = [*cousins(count, seed)]
    failed = failed_needlessly(kinds)
    assert share_failed(kinds, failed) <= MOST_FAILED, failed
    asked_on = sum(kind.weight for kind in kinds if outcome(kind).asked > 1)
    assert asked_on / sum(kind.weight for kind in kinds) <= MOST_ASKED_ON
