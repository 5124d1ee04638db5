"""Words in every script: what damaged copies exchange."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.campaigns.attention_checks import has_spaces, words_of


@pytest.mark.parametrize(
    ("lp", "spaced"),
    [
        ("en-de", True),
        ("en-ru", True),
        ("en-ar", True),
        ("en-hi", True),
        ("en-ko", True),
        ("en-vi", True),
        ("en-zh", False),
        ("en-zh_TW", False),
        ("en-ja", False),
        ("en-th", False),
        ("en-km", False),
        ("en-lo", False),
        ("en-my", False),
        ("zh-en", True),
    ],
)
def test_languages_are_known_to_put_spaces_or_none(lp: str, spaced: bool) -> None:
    assert has_spaces(lp) is spaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \n ", []),
        ("Ja.", ["Ja."]),
        (" zwei  Wörter ", ["zwei", "Wörter"]),
        ("one\u2028two\u00a0three", ["one", "two", "three"]),
    ],
)
def test_words_stand_between_spaces(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in words_of(text)] == words


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("商店早上九点开门", ["商店", "早上", "九点", "开门"]),
        ("静かな夜。", ["静か", "な夜", "。"]),
        ("很好 OK", ["很好", "OK"]),
        ("กำลัง", ["กำลั", "ง"]),  # am and mai han-akat stay with their consonant
        ("が\u3099き", ["が\u3099き"]),
        ("👨‍👩‍👧‍👦👍🏽好", ["👨‍👩‍👧‍👦👍🏽", "好"]),
        ("🇩🇪🇫🇷🇮🇹", ["🇩🇪🇫🇷", "🇮🇹"]),
    ],
)
def test_without_spaces_short_runs_of_whole_characters_are_words(text: str, runs: list[str]) -> None:
    assert [text[start:end] for start, end in words_of(text, spaced=False)] == runs


@given(st.text(), st.booleans())
def test_words_are_in_order_and_leave_out_nothing_but_spaces(text: str, spaced: bool) -> None:
    words = words_of(text, spaced=spaced)
    assert all(start < end for start, end in words)
    assert all(end <= start for (_, end), (start, _) in pairwise(words))
    assert "".join(text[start:end] for start, end in words) == "".join(text.split())
