"""How many kinds of replies are believed that must not be, and how many fail that say what was asked for."""

import os
from pathlib import Path

import pytest

from tests.judges.kinds import KINDS
from tests.judges.replies import JUDGES, Kind, believed_wrongly, failed_needlessly, read_kinds, share_failed

MOST_FAILED = 0.02
"""Share of good replies that may fail, by weight, of a model that is not held to a schema."""
MOST_FAILED_WITH_SCHEMA = 0.005


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


@pytest.mark.parametrize("form", JUDGES)
def test_few_kinds_of_good_replies_fail(form: str) -> None:
    kinds = [kind for kind in KINDS if kind.form == form]
    failed = failed_needlessly(kinds)
    assert share_failed(kinds, failed) <= MOST_FAILED, failed


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
    assert believed_wrongly(reference()) == []


def test_few_good_replies_of_the_reference_fail() -> None:
    kinds = reference()
    failed = failed_needlessly(kinds)
    assert share_failed(kinds, failed) <= MOST_FAILED, failed
