"""Every rule on cases made for it: what it must mark, and where it must keep still."""

from collections.abc import Sequence

import pytest

from adjudge.checks import RULES
from tests.checks import characters, kept, marks, numbers, texts
from tests.checks.marked import Case, mark

CASES = [case for module in (characters, numbers, kept, texts, marks) for case in module.CASES.items()]


@pytest.mark.parametrize(
    ("rule", "lp", "source", "translation"),
    [
        pytest.param(rule, *case, id=f"{rule}-{kind}-{number}")
        for rule, both in CASES
        for kind, several in zip(("found", "silent"), both, strict=True)
        for number, case in enumerate(several)
    ],
)
def test_each_rule_marks_exactly_this(rule: str, lp: str, source: str, translation: str) -> None:
    assert mark(rule, lp, source, translation) == (source, translation)


@pytest.mark.parametrize(("rule", "cases"), CASES, ids=[rule for rule, _ in CASES])
def test_a_rule_has_cases_of_both_kinds(rule: str, cases: tuple[Sequence[Case], Sequence[Case]]) -> None:
    found, silent = cases
    assert min(len(found), len(silent)) >= 3
    assert all("⟦" in "".join(case) for case in found)
    assert not any("⟦" in "".join(case) for case in silent)


def test_every_rule_is_tested_and_no_rule_is_made_up() -> None:
    assert sorted(rule for rule, _ in CASES) == sorted(RULES)
