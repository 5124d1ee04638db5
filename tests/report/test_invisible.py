import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.reports.tables import RANGES, is_invisible, name_invisible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "a[ZWSP]b"),
        ("\u202egnp.exe", "[RLO]gnp.exe"),
        ("\ud800", "[U+D800]"),
        ("\U000e0041", "[U+E0041]"),
        ("\0", "[NUL]"),
        ("👩\u200d🚀", "👩\u200d🚀"),  # one emoji
        ("\u200d", "[ZWJ]"),
        ("می\u200cروم", "می[ZWNJ]روم"),
        ("Größe\t日本\n", "Größe\t日本\n"),
        ("", ""),
    ],
)
def test_what_nobody_sees_is_named(text: str, shown: str) -> None:
    assert name_invisible(text) == shown


@given(st.text())
def test_nothing_invisible_is_left_but_joiners_in_emoji(text: str) -> None:
    assert not [char for char in name_invisible(text) if is_invisible(char) and char != "\u200d"]


def test_ranges_are_in_order_and_apart() -> None:
    flat = [code for pair in RANGES for code in pair]
    assert flat == sorted(flat)
