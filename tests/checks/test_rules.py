"""Every rule on cases made for it: what it must mark, and where it must keep still."""

from adjudge.checks import RULES
from tests.checks import characters, kept, marks, numbers, texts
from tests.checks.marked import mark

CASES = [case for module in (characters, numbers, kept, texts, marks) for case in module.CASES.items()]


def test_each_rule_marks_exactly_this() -> None:
    cases = [(rule, *case) for rule, both in CASES for several in both for case in several]
    wrong = {case: found for case in cases if (found := mark(*case)) != case[2:]}
    assert not wrong


def test_a_rule_has_cases_of_both_kinds() -> None:
    for rule, (found, silent) in CASES:
        assert min(len(found), len(silent)) >= 3, rule
        assert all("⟦" in "".join(case) for case in found), rule
        assert not any("⟦" in "".join(case) for case in silent), rule


def test_every_rule_is_tested_and_no_rule_is_made_up() -> None:
    assert sorted(rule for rule, _ in CASES) == sorted(RULES)
