"""Sentences that one text has and the other has not, found by aligning their lengths.

Gale and Church, A Program for Aligning Sentences in Bilingual Corpora (1993): a translation is about as long
as its source times a constant of the pair, so that the cheapest pairing of sentences in order leaves over
those without a counterpart. Ours adds what stands the same in both: numbers and names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from adjudge.checks.length import english_length
from adjudge.checks.texts import Mark, Texts, whole

__all__ = ["check_sentences"]

_VARIANCE: Final = 7.0
"""Variance of the length difference per character (Gale and Church: 6.8)."""

_PENALTY: Final = (
    (1, 1, 0.0),
    (1, 0, 7.5),
    (0, 1, 7.5),
    (2, 2, 4.4),
    *((1, n, 1.2 + n / 2) for n in range(2, 8)),
    *((n, 1, 1.2 + n / 2) for n in range(2, 5)),
)
"""Cost of pairing so many sentences with so many, in nats; a Chinese sentence often becomes several."""

_SHARED: Final = 2.0  # nats that a number or name on both sides is worth
_MOST_SHARED: Final = 2
_UNLIKELIEST: Final = 25.0  # nats
_LIKELY: Final = 3.0  # nats
_MOST: Final = 40  # sentences; longer texts cost too much
_LEAST: Final = 12.0  # characters of English; a shorter sentence may be part of another
_BREAK: Final = re.compile(
    r"(?<=[.!?…])[\"'”“’»)\]]*\s+(?=[^a-zа-я\s])|(?<=[。！？])[”’」』）]*\s*|\n+|(?<=[।۔؟])\s+"
)
_ANCHORS: Final = re.compile(r"\d+|[A-Z][A-Za-z]{3,}|\[[A-Z]+\d+\]")


class _Sentence(NamedTuple):
    start: int
    end: int
    length: float
    anchors: frozenset[str]


class _Pairing(NamedTuple):
    """So many sentences from `source` on stand for so many from `translation` on."""

    source: int
    translation: int
    taken: int
    given: int


def check_sentences(texts: Texts) -> Iterator[Mark]:
    """Find sentences without a counterpart."""
    scales = texts.source_language.length, texts.target_language.length
    if not scales[0] or not scales[1]:
        return
    source, translation = _split(texts.source, scales[0]), _split(texts.translation, scales[1])
    if not source or not translation or not 2 <= max(len(source), len(translation)) <= _MOST:
        return
    if len(source) == len(translation) and all(map(_is_likely, source, translation)):
        return
    for pairing in _align(source, translation):
        if not pairing.given and (lost := source[pairing.source]).length >= _LEAST:
            yield Mark("sentence-lost", lost.start, lost.end, "source", "no counterpart in the translation")
        if not pairing.taken and (added := translation[pairing.translation]).length >= _LEAST:
            yield Mark("sentence-added", added.start, added.end, note="no counterpart in the source")


def _is_likely(source: _Sentence, translation: _Sentence) -> bool:
    """Whether two sentences are so alike in length that no other pairing need be looked for."""
    return _surprise(source.length, translation.length) < _LIKELY


def _split(text: str, scale: float) -> list[_Sentence]:
    """Sentences with their length in characters of English."""
    found = []
    for start, end in pairwise([0, *(m.end() for m in _BREAK.finditer(text)), len(text)]):
        low, high = whole(text[start:end])
        if high > low:
            body = text[start + low : start + high]
            length = english_length(body, scale)
            found.append(_Sentence(start + low, start + high, length, frozenset(_ANCHORS.findall(body))))
    return found


def _align(source: list[_Sentence], translation: list[_Sentence]) -> list[_Pairing]:
    """Cheapest pairing of all sentences, in order."""
    lengths = _sums([s.length for s in source]), _sums([t.length for t in translation])
    shared = [[len(s.anchors & t.anchors) for t in translation] for s in source]
    best = {(0, 0): (0.0, 0, 0)}
    for i in range(len(source) + 1):
        for j in range(len(translation) + 1):
            for taken, given, penalty in _PENALTY:
                before = best.get((i - taken, j - given))
                if before is None:
                    continue
                cost = before[0] + penalty
                if taken and given:
                    one = lengths[0][i] - lengths[0][i - taken]
                    other = lengths[1][j] - lengths[1][j - given]
                    anchors = sum(shared[k][n] for k in range(i - taken, i) for n in range(j - given, j))
                    cost += _surprise(one, other) - _SHARED * min(anchors, _MOST_SHARED)
                if (i, j) not in best or cost < best[i, j][0]:
                    best[i, j] = (cost, taken, given)
    path, i, j = [], len(source), len(translation)
    while i or j:
        _, taken, given = best[i, j]
        i, j = i - taken, j - given
        path.append(_Pairing(i, j, taken, given))
    return path[::-1]


def _sums(lengths: list[float]) -> list[float]:
    return [0.0, *accumulate(lengths)]


def _surprise(one: float, other: float) -> float:
    """Negative logarithm of the chance that the lengths of a true pair differ by so much."""
    return _tail(round(abs(other - one) / math.sqrt(_VARIANCE * (one + other) / 2), 1))


@lru_cache(maxsize=4096)
def _tail(deviations: float) -> float:
    chance = math.erfc(deviations / math.sqrt(2))
    return min(-math.log(chance), _UNLIKELIEST) if chance > 0 else _UNLIKELIEST
