"""Checks take time linear in their texts, whatever stands in them, and find what they found before."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.checks import find_errors
from adjudge.checks.attacks import find_attacks
from adjudge.checks.dates import Day, _Date
from adjudge.checks.dates import _keys as date_keys
from adjudge.checks.numbers import _keys as telephone_keys
from adjudge.checks.numbers import _Telephone
from adjudge.checks.numerals import match
from adjudge.checks.texts import Ranges

LENGTH = 4_000
SHORT, LONG = 300, 1_200  # lengths whose calls are counted
PLAIN = "The cat slept on the sofa at 9:30."


def text_of(unit: str, length: int = LENGTH) -> str:
    """Repeat a unit up to a length; `#` in it is a number that differs each time."""
    if "#" not in unit:
        return (unit * (length // len(unit) + 1))[:length]
    found, size, number = [], 0, 100
    while size < length:
        found.append(unit.replace("#", str(number)))
        size += len(found[-1])
        number += 1
    return "".join(found)


UNITS = [
    *("\n", " \n", "\r\n", "a ", "a.", '1"', "1'", "1,", "1 ", "12:30 ", "# ", "#.", "$# ", "AB#X ", "X#"),
    *("3.#.2020 ", "#:30 ", "+49 30 #000 ", "Monday, ", "May # ", "{#}", "<a#>", "%(a)0", "%0", "@a# "),
    *("http://a.com/# ", "www.", "a@", "(", "[(", '"', "“", "😀", "e\u0301", "hundred ", "百", "3万", "M"),
    *("the the ", "a b#", "Sentence #. ", "<img/src=//", "{{(", "\x1b]", "\u200ba", "４ａ", "а b", "errors "),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_a_long_text_ends(unit: str) -> None:
    long = text_of(unit)
    other = long[::-1] if unit in {"{#}", "# "} else long + " 7"
    for source, translation in ((PLAIN, long), (long, other)):
        found = find_errors(source, translation, "en-de")
        assert len(found) <= 7_000
    assert find_attacks.__wrapped__(long) is not None


def calls_of(unit: str, length: int) -> int:
    """Calls of functions, those of C included, that all checks of a text make."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    text = text_of(unit, length)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        find_errors(text, text + " 7", "en-de")
        find_attacks.__wrapped__(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_calls_grow_no_faster_than_a_text(unit: str) -> None:
    """4 times the length makes 4 times the calls; 16 times if everything is compared with everything."""
    calls_of(unit, LONG)  # what is read once is read
    assert calls_of(unit, LONG) < 6 * calls_of(unit, SHORT)


days: st.SearchStrategy[Day] = st.tuples(
    st.none() | st.sampled_from([5, 20, 99, 100, 1920, 2020, 2005, 2100]),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(1, 3),
)
dates = st.lists(days, min_size=1, max_size=2).map(lambda found: _Date(0, 1, tuple(found)))


def agree_on_days(one: _Date, other: _Date) -> bool:
    """The definition: the same in all that both say, and something said by both; 20 is 1920 or 2020."""

    def is_same(a: Day, b: Day) -> bool:
        said = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        return bool(said) and all(
            x == y or (min(x, y) < 100 < max(x, y) and x % 100 == y % 100) for x, y in said
        )

    return any(is_same(a, b) for a in one.days for b in other.days)


@given(dates, dates)
def test_keys_of_dates_meet_where_the_dates_agree(one: _Date, other: _Date) -> None:
    assert (not date_keys(one)[0].isdisjoint(date_keys(other)[1])) == agree_on_days(one, other)


@given(st.text("012", min_size=1, max_size=6), st.text("012", min_size=1, max_size=6))
def test_keys_of_telephones_meet_where_one_number_is_the_end_of_the_other(a: str, b: str) -> None:
    one, other = _Telephone(0, 1, a), _Telephone(0, 1, b)
    expected = a.endswith(b.lstrip("0")) or b.endswith(a.lstrip("0"))
    assert (not telephone_keys(one)[0].isdisjoint(telephone_keys(other)[1])) == expected


def test_each_mention_is_looked_at_a_fixed_number_of_times() -> None:
    asked: list[Any] = []

    def keys(telephone: _Telephone) -> tuple[set[str], set[str]]:
        asked.append(telephone)
        return {telephone.digits}, {telephone.digits}

    these = [_Telephone(n, n + 1, str(n)) for n in range(100)]
    those = [_Telephone(n, n + 1, str(n + 50)) for n in range(100)]
    assert len(match(these, those, keys).changed) == 50
    assert len(asked) == 2 * (len(these) + len(those))


spans = st.tuples(st.integers(0, 20), st.integers(1, 5)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(spans, max_size=6), spans)
def test_ranges_touch_what_one_of_them_touches(found: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    start, end = asked
    assert Ranges(found).touch(start, end) == any(start < high and low < end for low, high in found)


def test_a_range_is_asked_for_in_few_steps() -> None:
    class Counted(int):
        steps = 0

        def __lt__(self, other: int) -> bool:
            Counted.steps += 1
            return int(self) < int(other)

    def spans_of_ones() -> Iterator[tuple[int, int]]:
        return ((2 * n, 2 * n + 1) for n in range(10_000))

    ranges = Ranges(spans_of_ones())
    assert ranges.touch(Counted(9_000), Counted(9_001))
    assert 0 < Counted.steps < 20
