"""Marks in characters and in words, in every script."""

import pytest

from adjudge.analysis.span_matching import is_same_place, mark_of, overlap, shares, split_words
from adjudge.core.record import ErrorSpan
from tests.meta.spans.shapes import mark, minor, nowhere, source

WORDS = [
    ("go back to the lab", ["go", "back", "to", "the", "lab"]),
    ("  a\tb\u00a0c\u2028d\r\n", ["a", "b", "c", "d"]),
    ("", []),
    ("Don't, 3.5 %!", ["Don", "'", "t", ",", "3", ".", "5", "%", "!"]),
    ("我爱你。OK吗", ["我", "爱", "你", "。", "OK", "吗"]),
    ("カタカナとひらがな", list("カタカナとひらがな")),
    ("한국어 문장", ["한국어", "문장"]),  # Korean sets spaces
    ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # vowel signs belong to their letters
    ("ที่นี่", ["ที่", "นี่"]),
    ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
    ("שלום", ["שלום"]),
    ("e\u0301te\u0301", ["e\u0301te\u0301"]),
    ("👩\u200d👩 ok", ["👩\u200d", "👩", "ok"]),
    ("𠀋𠀌", ["𠀋", "𠀌"]),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_are_split_as_scripts_write_them(text: str, words: list[str]) -> None:
    assert [text[a:b] for a, b in split_words(text)] == words


TOUCHED = [
    # start, end of the span in "the old lab", range in words
    (0, 3, 0, 1),
    (1, 2, 0, 1),
    (2, 5, 0, 2),
    (3, 4, 1, 1),  # white space: nothing, before "old"
    (5, 5, 1, 1),
    (0, 11, 0, 3),
    (11, 11, 3, 3),
]


@pytest.mark.parametrize(("start", "end", "first", "after"), TOUCHED)
def test_a_mark_in_words_holds_what_it_touches(start: int, end: int, first: int, after: int) -> None:
    text = "the old lab"
    span = ErrorSpan(severity="minor", start=start, end=end, text=text[start:end])
    found = mark_of(span, "words", split_words(text))
    assert (found.start, found.end) == (first, after)
    assert found.words == tuple(text[start:end].split())
    assert mark_of(span, "characters")[1:3] == (start, end)


def test_a_mark_without_a_place_keeps_its_words() -> None:
    span = ErrorSpan(severity="major", text="no such words", match="unmatched")
    assert mark_of(span, "words")[1:] == (None, None, "major", None, ("no", "such", "words"))
    assert mark_of(span, "words").length == 0


def test_marks_overlap_on_one_side_only() -> None:
    assert overlap(minor(0, 5), minor(3, 9)) == overlap(minor(3, 9), minor(0, 5)) == 2
    assert overlap(minor(0, 5), minor(5, 9)) == 0
    assert overlap(minor(0, 5), source(0, 5)) == 0
    assert overlap(minor(0, 5), nowhere()) == 0
    assert shares(minor(0, 4), minor(2, 10)) == (0.5, 0.25)
    assert shares(minor(2, 2), minor(0, 9)) == (0, 0)


def test_the_same_place_is_the_same_whatever_its_severity() -> None:
    assert is_same_place(minor(0, 5), mark(0, 5, "critical", category="style"))
    assert is_same_place(minor(2, 2), minor(2, 2))
    assert not is_same_place(minor(2, 2), source(2, 2))
    assert not is_same_place(nowhere("a"), nowhere("b"))
    assert shares(nowhere("a"), nowhere("a")) == (1, 1)
