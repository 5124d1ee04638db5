from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.bias import position_bias
from adjudge.core.record import Preference, Verdict
from adjudge.stats.bootstrap import Draws
from tests.scoring.records import preferred

NONE = Draws()
Orders = tuple[Verdict, Verdict]
FIRST: Orders = ("A", "B")
SAME: Orders = ("A", "A")


def asked(*orders: Orders) -> list[Preference]:
    return [replace(preferred("a", "b", "E", str(i)), orders=pair) for i, pair in enumerate(orders)]


def test_who_always_chooses_the_first_is_never_consistent() -> None:
    """A in the first place wins; then B stands first and wins: mapped back, A and B."""
    found = position_bias(asked(*[FIRST] * 8), NONE)
    assert (found.consistency.value, found.first.value, found.second.value, found.tie.value) == (0, 1, 0, 0)
    assert found.lean.value == 1
    assert found.lean.p == pytest.approx(2 / 2**8)


def test_who_looks_at_the_translations_only_is_consistent_and_fair() -> None:
    found = position_bias(asked(("A", "A"), ("B", "B"), ("E", "E")), NONE)
    assert (found.consistency.value, found.lean.value, found.lean.p) == (1, 0, 1)
    assert [found.first.value, found.second.value, found.tie.value] == [pytest.approx(1 / 3)] * 3


def test_what_was_asked_once_says_nothing() -> None:
    found = position_bias([preferred("a", "b", "A"), *asked(("A", "A"))], NONE)
    assert found.n == 1
    nothing = position_bias([preferred("a", "b", "A")], Draws(resamples=10))
    assert nothing.n == 0
    assert {nothing.consistency.value, nothing.first.value, nothing.lean.value, nothing.lean.p} == {None}
    assert nothing.tie.reason == "nothing was asked in both orders"


verdict: st.SearchStrategy[Verdict] = st.sampled_from(["A", "B", "E"])


@given(st.lists(st.tuples(verdict, verdict), min_size=1, max_size=20))
def test_consistency_and_fairness_equal_their_definitions(orders: list[tuple[Verdict, Verdict]]) -> None:
    found = position_bias(asked(*orders), NONE)
    n = len(orders)
    swapped = {"A": "B", "B": "A", "E": "E"}
    shown = [choice for one, two in orders for choice in (one, swapped[two])]  # as the judge answered
    assert found.consistency.value == pytest.approx(sum(one == two for one, two in orders) / n)
    for result, choice in ((found.first, "A"), (found.second, "B"), (found.tie, "E")):
        assert result.value == pytest.approx(shown.count(choice) / (2 * n))
    primacy, recency = orders.count(("A", "B")), orders.count(("B", "A"))
    assert found.lean.value == pytest.approx((primacy - recency) / n)


def test_the_pairs_of_a_segment_are_drawn_together() -> None:
    apart = asked(*[FIRST, SAME] * 10)
    together = [replace(p, segment=str(int(p.segment) // 10), systems=("a", f"b{p.segment}")) for p in apart]
    wide, narrow = (position_bias(p, Draws(resamples=200)).consistency.interval for p in (apart, together))
    assert wide is not None
    assert narrow is not None
    assert narrow.high - narrow.low == 0  # both segments have half of each
    assert wide.low < 0.5 < wide.high


def test_the_p_of_a_lean_counts_segments_as_its_interval_does() -> None:
    """Sixty comparisons of three segments, all won by the first place: three draws of a coin, not sixty."""
    alone = asked(*[FIRST] * 60)
    together = [replace(p, segment=str(int(p.segment) % 3), systems=("a", f"b{p.segment}")) for p in alone]
    found = position_bias(together, NONE)
    assert found.lean.p == pytest.approx(2 / 2**3)
    assert position_bias(alone, NONE).lean.p == pytest.approx(2 / 2**60)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7))
def test_the_p_of_a_lean_is_that_of_all_sign_vectors(sums: list[int]) -> None:
    orders = [
        replace(preferred("a", f"b{k}", "E", str(i)), orders=FIRST if total > 0 else FIRST[::-1])
        for i, total in enumerate(sums)
        for k in range(abs(total))
    ]
    if not orders:
        return
    signs = np.array(list(product((1, -1), repeat=len(sums))))
    wanted = np.mean(np.abs(signs @ np.array(sums)) >= abs(sum(sums)))
    assert position_bias(orders, NONE).lean.p == pytest.approx(wanted)
