"""Amounts in sentences, of one and of several."""

import pytest

from adjudge.core.wording import count, form, of_all


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "0 segments"), (1, "1 segment"), (2, "2 segments"), (2000, "2,000 segments")]
)
def test_an_amount_has_its_noun(amount: int, shown: str) -> None:
    assert count(amount, "segment") == shown


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert [count(amount, "person", "people") for amount in (1, 2)] == ["1 person", "2 people"]


def test_of_several_the_noun_goes_with_all_and_the_verb_with_the_part() -> None:
    shown = [f"{of_all(n, 3, 'task')} {form(n, 'is', 'are')} left" for n in (0, 1, 2)]
    assert shown == ["0 of 3 tasks are left", "1 of 3 tasks is left", "2 of 3 tasks are left"]
    assert of_all(1, 1, "task") == "1 of 1 task"
