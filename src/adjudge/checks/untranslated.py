"""Words of the source that still stand in a translation into a language of the same script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from adjudge.checks.scripts import uses_latin
from adjudge.checks.texts import Mark, Texts, Word

__all__ = ["check_untranslated"]

_MARKED: Final = re.compile(r"[\"“„«»‘'#@</_]\s?$")
_JOINED: Final = re.compile(r"\w[._/@]\w|#|:\w+:")


def check_untranslated(texts: Texts) -> Iterator[Mark]:
    """Find runs of source words, and single ones that the target language surely does not have."""
    if texts.is_within_one_language or not (
        uses_latin(texts.source_language) and uses_latin(texts.target_language)
    ):
        return
    taken: set[int] = set()
    for first, last in _runs(texts):
        words = texts.translation_words
        taken.update(range(first, last))
        yield Mark(
            "untranslated-run",
            words[first].start,
            words[last - 1].end,
            note="left as it stands in the source",
        )
    for index, word in enumerate(texts.translation_words):
        if index not in taken and _is_left_over(texts, index):
            yield Mark("untranslated-word", word.start, word.end, note="left as it stands in the source")


def _runs(texts: Texts) -> Iterator[tuple[int, int]]:
    """Ranges of words that follow each other in the source too, with two plain ones among them."""
    follows = {(a.folded, b.folded) for a, b in pairwise(texts.source_words)}
    words = texts.translation_words
    first = 0
    while first < len(words) - 1:
        last = first
        while last + 1 < len(words) and (words[last].folded, words[last + 1].folded) in follows:
            last += 1
        if last > first and _is_left_standing(texts, words[first : last + 1]):
            yield first, last + 1
        first = last + 1


def _is_left_standing(texts: Texts, run: tuple[Word, ...]) -> bool:
    """Whether a run is neither a title nor a quotation nor markup."""
    if sum(w.text[0].isupper() for w in run) >= 2 or sum(_is_plain(texts, w) for w in run) < 2:
        return False
    before = texts.translation[max(0, run[0].start - 2) : run[0].start]
    return not _MARKED.search(before) and not _JOINED.search(texts.translation[run[0].start : run[-1].end])


def _is_plain(texts: Texts, word: Word) -> bool:
    """Whether a word is no name and, as far as we know, no word of the target language."""
    return (
        word.text.islower() and len(word.text) > 2 and word.folded not in texts.target_language.function_words
    )


def _is_left_over(texts: Texts, index: int) -> bool:
    word = texts.translation_words[index]
    if not _is_plain(texts, word) or word.folded not in texts.source_vocabulary:
        return False
    return word.folded in texts.source_language.function_words and not _is_in_name(texts, index)


def _is_in_name(texts: Texts, index: int) -> bool:
    """Whether a capitalised word of the source stands on either side, as in a title."""
    words = texts.translation_words
    beside = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
    return any(w.text[0].isupper() and w.folded in texts.source_vocabulary for w in beside)
