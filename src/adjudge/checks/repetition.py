"""Words and phrases that stand twice where the source has them once."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from adjudge.checks.texts import Mark, Texts, Word

__all__ = ["check_repetition"]

_LONGEST: Final = 60  # words in a phrase that follows itself
_ENDLESS: Final = 20  # words repeated at once
_ECHO: Final = 6  # words in a row that come back with others in between


class _Loop(NamedTuple):
    """A phrase that follows itself: where it starts, its words, and one past the last repeated word."""

    first: int
    period: int
    last: int

    @property
    def repeated(self) -> int:
        """Words that were said before."""
        return self.last - self.first - self.period


def check_repetition(texts: Texts) -> Iterator[Mark]:
    """Find doubled words, loops, and long phrases that come back."""
    words = texts.translation_words
    if not texts.target_language.reduplicates:
        yield from _doubled(texts, words)
    if not _has_repeated_pair(words):
        return
    loops = list(_unlike_source(texts, words))
    for loop in loops:
        rule = "endless-repetition" if loop.repeated >= _ENDLESS else "repeated-phrase"
        start, end = words[loop.first + loop.period].start, words[loop.last - 1].end
        yield Mark(rule, start, end, note="the same words again")
    if not loops:
        yield from _echoes(texts, words)


def _doubled(texts: Texts, words: tuple[Word, ...]) -> Iterator[Mark]:
    """Words that stand twice, where the language has no reason to and the source does nothing of the kind."""
    target = texts.target_language
    if any(a.folded == b.folded for a, b in pairwise(texts.source_words)):
        return
    for a, b in pairwise(words):
        if a.folded != b.folded or len(a.text) < 2 or not b.text.islower() or a.folded in target.doubled:
            continue
        is_noun_and_verb = target.code == "de" and a.start > 0 and a.text[0].isupper()  # Spiele spiele
        if texts.translation[a.end : b.start].strip(" \u00a0") or is_noun_and_verb:
            continue
        yield Mark("doubled-word", a.start, b.end, note="the word stands twice")


def _has_repeated_pair(words: tuple[Word, ...]) -> bool:
    pairs = Counter((a.folded, b.folded) for a, b in pairwise(words))
    return max(pairs.values(), default=0) > 1


def _unlike_source(texts: Texts, words: tuple[Word, ...]) -> Iterator[_Loop]:
    """Loops longer than any of the source, and not of words that the source gives as a gloss."""
    source = texts.source_words
    allowed = max((loop.repeated for loop in _loops(source)), default=0) if _has_repeated_pair(source) else 0
    for loop in _loops(words):
        said = {w.folded for w in words[loop.first : loop.last]}
        if loop.repeated > allowed and not said <= texts.source_vocabulary:
            yield loop


def _loops(words: tuple[Word, ...]) -> Iterator[_Loop]:
    """Phrases that follow themselves at once: a word five times, two words three times, four words twice."""
    places = defaultdict(list)
    for index, word in enumerate(words):
        places[word.folded].append(index)
    folded = [w.folded for w in words]
    first = 0
    while first < len(words):
        loop = _loop_at(folded, first, places[folded[first]])
        if loop:
            yield loop
        first = loop.last if loop else first + 1


def _loop_at(folded: list[str], first: int, places: list[int]) -> _Loop | None:
    """The loop that starts here, if one does.

    Args:
        folded: words of the text.
        first: where it would start.
        places: where its first word stands.
    """
    if len(places) == 1:
        return None
    for second in places[bisect_right(places, first) : bisect_right(places, first + _LONGEST)]:
        period = second - first
        last = second
        while last < len(folded) and folded[last] == folded[last - period]:
            last += 1
        repeated = last - second
        if repeated >= max(2 * period, 4) or repeated >= period >= 4:
            return _Loop(first, period, last)
    return None


def _echoes(texts: Texts, words: tuple[Word, ...]) -> Iterator[Mark]:
    """Long phrases that come back later, where nothing comes back in the source."""
    if len(words) < 2 * _ECHO or _comes_back(texts.source_words):
        return
    seen: dict[tuple[str, ...], int] = {}
    folded = [w.folded for w in words]
    index = 0
    while index <= len(words) - _ECHO:
        earlier = seen.setdefault(tuple(folded[index : index + _ECHO]), index)
        if earlier + _ECHO > index:
            index += 1
            continue
        last = index + _ECHO
        while last < len(words) and folded[last] == folded[earlier + last - index]:
            last += 1
        yield Mark("repeated-phrase", words[index].start, words[last - 1].end, note="the same words again")
        index = last


def _comes_back(words: tuple[Word, ...]) -> bool:
    """Whether three words in a row stand twice in a text."""
    folded = [w.folded for w in words]
    triples = Counter(zip(folded, folded[1:], folded[2:], strict=False))
    return max(triples.values(), default=0) > 1
