"""Checks of what is said: translations that are none, what is missing, left over, added or repeated.

No translation at all, words of the source left standing, a length that is unusual for the pair, sentences
without a counterpart, names and codes that are missing, repetition, and what a language model says instead
of a translation or around it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple

from adjudge.checks.markup import LINK
from adjudge.checks.texts import (
    MOST_LOOKED,
    Mark,
    Ranges,
    Texts,
    Word,
    find_language,
    known_languages,
    letters_of,
    uses_latin,
    whole,
)

_COPIED_SHARE: Final = 0.8
_COPIED_WORDS: Final = 4
_COPIED_PLAIN: Final = 3  # of a text that is the same throughout
_COPIED_FOREIGN: Final = 2  # the same, where the target language has other letters
_COPIED_LETTERS: Final = 8  # of a script without capitals, where a name cannot be told from other words
_WORDS_TO_KNOW: Final = 8
_OWN_SHARE: Final = 0.04
_OTHER_SHARE: Final = 0.25


def check_whole(texts: Texts) -> Iterator[Mark]:
    """Find a translation that is empty, copied, or in a language nobody asked for."""
    if not texts.translation.strip():
        if texts.source.strip():
            yield Mark("empty-translation", *whole(texts.source), "source", "nothing was translated")
    elif not texts.source.strip():
        if letters_of(texts.translation):
            yield Mark("text-from-nothing", *whole(texts.translation), note="the source is empty")
    elif _is_copied(texts):
        yield Mark("source-copied", *whole(texts.translation), note="this is the source, not a translation")
    elif other := _other_language(texts):
        wanted = texts.target_language.code
        yield Mark(
            "wrong-language", *whole(texts.translation), note=f"looks like {other}, {wanted} was wanted"
        )


def _is_copied(texts: Texts) -> bool:
    if texts.is_within_one_language or len(texts.translation_words) < _COPIED_WORDS:
        return False
    links = Ranges(m.span() for m in LINK.finditer(texts.translation))
    words = [w for w in texts.translation_words if not links.touch(w.start, w.end)]
    plain = [w for w in words if w.text.islower() and len(w.text) > 1]
    copied = sum(w.folded in texts.source_vocabulary for w in plain)
    if len(plain) >= _COPIED_WORDS and copied >= _COPIED_SHARE * len(plain):
        return True
    if texts.source.split() != texts.translation.split():
        return False
    caseless = sum(c.isalpha() and not c.isupper() and not c.islower() for c in texts.translation)
    alike = uses_latin(texts.source_language) == uses_latin(texts.target_language)
    return caseless >= _COPIED_LETTERS or len(plain) >= (_COPIED_PLAIN if alike else _COPIED_FOREIGN)


def _other_language(texts: Texts) -> str | None:
    words = [w.folded for w in texts.translation_words if w.text.islower()]
    own = texts.target_language.function_words
    if not own or len(words) < _WORDS_TO_KNOW or sum(w in own for w in words) > _OWN_SHARE * len(words):
        return None
    shares = {code: sum(w in find_language(code).function_words for w in words) for code in known_languages()}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _OTHER_SHARE * len(words) else None


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
    if sum(w.text[0].isupper() for w in run) >= 2 or sum(_is_plain(texts, w) for w in run) < 2:
        return False
    before = texts.translation[max(0, run[0].start - 2) : run[0].start]
    return not _MARKED.search(before) and not _JOINED.search(texts.translation[run[0].start : run[-1].end])


def _is_plain(texts: Texts, word: Word) -> bool:
    return (
        word.text.islower() and len(word.text) > 2 and word.folded not in texts.target_language.function_words
    )


def _is_left_over(texts: Texts, index: int) -> bool:
    word = texts.translation_words[index]
    if not _is_plain(texts, word) or word.folded not in texts.source_vocabulary:
        return False
    return word.folded in texts.source_language.function_words and not _is_in_name(texts, index)


def _is_in_name(texts: Texts, index: int) -> bool:
    words = texts.translation_words
    beside = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
    return any(w.text[0].isupper() and w.folded in texts.source_vocabulary for w in beside)


_ADDRESS: Final = re.compile(r"https?://\S+|www\.\S+|(?<!\S)[^\s@]{1,64}@\S+|<[^<>\n]{1,80}>")
_DENSE: Final = 0.6
"""Below this scale a script packs so much into a character that Latin letters among it need their own."""

_LATIN: Final = re.compile(r"[ -~]")
_LEAST: Final = 20.0  # characters of English; shorter texts vary too much
_DEVIATION: Final = 0.14
_NOISE: Final = 0.8
_NOISE_DENSE: Final = 1.5
_MOST: Final = 3.0  # standard deviations


def check_length(texts: Texts) -> Iterator[Mark]:
    """Compare the lengths of both texts, each in characters that it would have in English.

    The logarithm of their ratio spreads by a constant and by noise that falls with the length.
    """
    scales = texts.source_language.length or 0.0, texts.target_language.length or 0.0
    if not min(scales):
        return
    source = english_length(_ADDRESS.sub("", texts.source).strip(), scales[0])
    translation = english_length(_ADDRESS.sub("", texts.translation).strip(), scales[1])
    if min(source, translation) < 1 or max(source, translation) < _LEAST:
        return
    noise = _NOISE_DENSE if min(scales) < _DENSE else _NOISE
    z = math.log(translation / source) / math.hypot(_DEVIATION, noise / math.sqrt(source))
    if z < -_MOST:
        yield Mark("too-short", *whole(texts.source), "source", "the translation is much shorter than usual")
    elif z > _MOST:
        yield Mark("too-long", *whole(texts.translation), note="much longer than usual")


def english_length(text: str, scale: float) -> float:
    """Characters that a text would have in English. Latin ones among others count as they are."""
    if scale >= _DENSE:
        return len(text) / scale
    latin = len(_LATIN.findall(text))
    return latin + (len(text) - latin) / scale


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
_SENTENCES_MOST: Final = 40  # sentences; longer texts cost too much
_SENTENCES_LEAST: Final = 12.0  # characters of English; a shorter sentence may be part of another
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
    if not source or not translation or not 2 <= max(len(source), len(translation)) <= _SENTENCES_MOST:
        return
    if len(source) == len(translation) and all(
        _surprise(s.length, t.length) < _LIKELY for s, t in zip(source, translation, strict=True)
    ):
        return  # so alike in length that no other pairing need be looked for
    for pairing in _align(source, translation):
        if not pairing.given and (lost := source[pairing.source]).length >= _SENTENCES_LEAST:
            yield Mark("sentence-lost", lost.start, lost.end, "source", "no counterpart in the translation")
        if not pairing.taken and (added := translation[pairing.translation]).length >= _SENTENCES_LEAST:
            yield Mark("sentence-added", added.start, added.end, note="no counterpart in the source")


def _split(text: str, scale: float) -> list[_Sentence]:
    found = []
    for start, end in pairwise([0, *(m.end() for m in _BREAK.finditer(text)), len(text)]):
        low, high = whole(text[start:end])
        if high > low:
            body = text[start + low : start + high]
            length = english_length(body, scale)
            found.append(_Sentence(start + low, start + high, length, frozenset(_ANCHORS.findall(body))))
    return found


def _align(source: list[_Sentence], translation: list[_Sentence]) -> list[_Pairing]:
    lengths = [[*accumulate((s.length for s in side), initial=0.0)] for side in (source, translation)]
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


def _surprise(one: float, other: float) -> float:
    return _tail(round(abs(other - one) / math.sqrt(_VARIANCE * (one + other) / 2), 1))


@lru_cache(maxsize=4096)
def _tail(deviations: float) -> float:
    chance = math.erfc(deviations / math.sqrt(2))
    return min(-math.log(chance), _UNLIKELIEST) if chance > 0 else _UNLIKELIEST


_CODE: Final = re.compile(
    r"(?<![A-Za-z0-9_@#/.[-])(?=[A-Za-z-]*\d)[A-Za-z]+-?\d[A-Za-z0-9-]*(?![A-Za-z0-9_@/])"
)
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_LATIN_NAME: Final = re.compile(r"(?<![A-Za-z0-9@#/._-])[A-Z][A-Za-z0-9&'’-]*[A-Za-z0-9](?![A-Za-z0-9@/])")


def check_names(texts: Texts) -> Iterator[Mark]:
    """Find what should stand in the translation letter for letter."""
    if not any(map(str.isupper, texts.source)):
        return
    shown, seen = _squeeze(texts.translation), _squeeze(texts.source)
    strange: dict[str, deque[re.Match[str]]] = defaultdict(deque)
    for m in islice(_CODE.finditer(texts.translation), MOST_LOOKED):
        if _squeeze(m[0]) not in seen:
            strange[_letters(m[0])].append(m)
    patterns = [("code-lost", _CODE)]
    if not uses_latin(texts.source_language) and uses_latin(texts.target_language):
        patterns.append(("latin-name-lost", _LATIN_NAME))
    for rule, pattern in patterns:
        there = islice(pattern.finditer(texts.source), MOST_LOOKED)
        lost = {_squeeze(m[0]): m for m in there if _squeeze(m[0]) not in shown}
        for wanted in lost.values():
            if rule == "code-lost" and (alike := strange[_letters(wanted[0])]):
                yield Mark("code-changed", *alike.popleft().span(), note=f"the source has {wanted[0]}")
            else:
                yield Mark(rule, *wanted.span(), "source", "missing in the translation")


def _letters(code: str) -> str:
    found = _LETTERS.match(code)
    return found[0] if found else ""


def _squeeze(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


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
        return self.last - self.first - self.period


def check_repetition(texts: Texts) -> Iterator[Mark]:
    """Find doubled words, loops, and long phrases that come back."""
    words = texts.translation_words
    if not texts.target_language.reduplicates:
        yield from _doubled(texts, words)
    if not _comes_back(words, 2):
        return
    loops = list(_unlike_source(texts, words))
    for loop in loops:
        rule = "endless-repetition" if loop.repeated >= _ENDLESS else "repeated-phrase"
        start, end = words[loop.first + loop.period].start, words[loop.last - 1].end
        yield Mark(rule, start, end, note="the same words again")
    if not loops:
        yield from _echoes(texts, words)


def _doubled(texts: Texts, words: tuple[Word, ...]) -> Iterator[Mark]:
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


def _comes_back(words: tuple[Word, ...], size: int) -> bool:
    folded = [w.folded for w in words]
    runs = Counter(zip(*(folded[start:] for start in range(size)), strict=False))
    return max(runs.values(), default=0) > 1


def _unlike_source(texts: Texts, words: tuple[Word, ...]) -> Iterator[_Loop]:
    source = texts.source_words
    allowed = max((loop.repeated for loop in _loops(source)), default=0) if _comes_back(source, 2) else 0
    for loop in _loops(words):
        said = {w.folded for w in words[loop.first : loop.last]}
        if loop.repeated > allowed and not said <= texts.source_vocabulary:
            yield loop


def _loops(words: tuple[Word, ...]) -> Iterator[_Loop]:
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
    if len(words) < 2 * _ECHO or _comes_back(texts.source_words, 3):
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


_REFUSAL: Final = re.compile(
    r"\bas an? (?:AI|artificial intelligence|language model|AI language model)\b"
    r"|\bI(?:'m| am) (?:sorry|unable)\b[^.!?]{0,40}\b(?:cannot|can't|not able|unable|translat|assist|help)"
    r"|\bI (?:cannot|can't|can not) (?:translate|assist|help with|fulfil|comply|provide)\b"
    r"|\bals (?:KI|Sprachmodell|KI-Sprachmodell|künstliche Intelligenz)\b"
    r"|\b(?:ich kann|kann ich)\b[^.!?]{0,40}\bnicht (?:übersetzen|erfüllen|nachkommen)\b"
    r"|\ben tant (?:que modèle|qu'(?:IA|assistant))\b|\bje ne peux pas (?:traduire|répondre à cette)\b"
    r"|\bcomo (?:modelo de lenguaje|IA|asistente)\b|\bno puedo (?:traducir|ayudar con)\b"
    r"|作为(?:一个)?(?:人工智能|AI|语言模型)|(?:抱歉|对不起)，?我(?:无法|不能)(?:翻译|提供|满足|协助)"
    r"|(?:翻訳|お手伝い)(?:することは)?できません|言語モデルとして"
    r"|как (?:языковая модель|искусственный интеллект)|я не могу (?:перевести|выполнить)"
    r"|بصفتي (?:مساعد|نموذج)|لا يمكنني (?:ترجمة|تلبية|المساعدة)",
    re.IGNORECASE,
)
_WORD: Final = "translation|übersetzung|traduction|traducción|traduzione|tradução|перевод|译文|翻译|翻訳"
_PREAMBLE: Final = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|okay)[,!.:]\s*)?(?:here(?:'s| is)|this is)\s+(?:the|your|a|my)\s+"
    r"(?:\w+\s+){0,3}translation[^\n:]{0,40}[:.]"
    rf"|\A\s*(?:\w+ )?(?:{_WORD})\s?[:：]"
    rf"|\A\s*(?:hier ist|voici|aquí está|ecco|以下是|これは)[^\n:：]{{0,40}}(?:{_WORD})[^\n:：]{{0,20}}[:：]",
    re.IGNORECASE,
)
_NOTE: Final = re.compile(
    r"\n[^\S\n]*[(\[*]*(?:translator's note|note|anmerkung|hinweis|remarque|nota|注|примечание)\b"
    r"[^\n:：]{0,40}[:：][^\n]*",
    re.IGNORECASE,
)


def check_refusal(texts: Texts) -> Iterator[Mark]:
    """Find a model that declines, unless the source speaks so."""
    if _REFUSAL.search(texts.translation) and not _REFUSAL.search(texts.source):
        yield Mark("refusal", *whole(texts.translation), note="a model declines; this is no translation")


def check_chatter(texts: Texts) -> Iterator[Mark]:
    """Find announcements of the translation and notes below it, unless the source has the like."""
    for pattern in (_PREAMBLE, _NOTE):
        found = pattern.search(texts.translation)
        if found and not pattern.search(texts.source):
            start, end = whole(found[0])
            note = "a model speaks of its translation"
            yield Mark("chatter", found.start() + start, found.start() + end, note=note)
