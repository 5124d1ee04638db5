"""Punctuation, quotes, brackets, white space and capitals that the target language writes otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from adjudge.checks.markup import LINK
from adjudge.checks.texts import Language, Mark, Ranges, Texts

_HAN: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HALF_WIDTH: Final = re.compile(rf"(?<=[{_HAN}])[,;:!?](?!\d)|(?<=[{_HAN}])\.(?=\s|$|[{_HAN}])(?!\.)")
_FULL_WIDTH: Final = re.compile(r"[，。；：！？、（）【】《》「」『』]+")
_LONG: Final = 40  # words; a text of this length without a final mark was cut
_ENDS: Final = ".!?…。！？।۔؟။။։።"
_CLOSERS: Final = "\"'”“’»«)）]】」』›"
_SPACE_BEFORE: Final = re.compile(
    r"(?<=\w)[ \u00a0][,;.:!?](?=\s|$)(?!\.\.)|(?<=\()[ ](?=\w)|(?<=\w)[ ](?=\)(?!\w))"
)
_SPLIT_NUMBER: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:, \d{3}(?!\d)|\. \d{1,2}(?=[ %]))")
_FRENCH_TIGHT: Final = re.compile(r"(?<=[^\W\d_])(?:[;?!]+(?=\s|$)|:(?=\s))|«(?=\w)|(?<=\w)»")
_DOUBLE: Final = re.compile(r"(?<![,;:.!?]),,(?![,])|(?<!\.)\.\.(?!\.)|[,;:][.](?!\d)|[.;:],(?!\d)(?<!\w\.,)")
_GLUED: Final = re.compile(
    r"(?<=[a-zà-ÿа-џ]{2})[,;!?](?=[^\W\d_]{2})|(?<=[a-zà-ÿа-џ]{3})\.(?=[A-ZÀ-ÝА-ЯЁІЇЄ][a-zà-ÿа-џ])"
)
_FINAL_ABBREVIATION: Final = re.compile(
    r"(?:\b\w|\b(?:Inc|Ltd|Co|Jr|Sr|St|etc|usw|bzw|Corp|Mio|Mrd|ca|No|Nr))\.$"
)


def check_punctuation(texts: Texts) -> Iterator[Mark]:
    """Find marks of the wrong kind, in the wrong place, or missing at the end."""
    links = Ranges(m.span() for m in LINK.finditer(texts.translation))
    for rule, pattern, note in _patterns(texts.target_language):
        if rule in {
            "space-before-mark",
            "doubled-mark",
            "no-space-after-mark",
            "split-number",
        } and pattern.search(texts.source):
            continue
        for found in pattern.finditer(texts.translation):
            if not links.touch(*found.span()):
                yield Mark(rule, *found.span(), note=note)
    yield from _check_end(texts)
    yield from _check_inverted(texts)


@lru_cache(maxsize=256)
def _patterns(language: Language) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    found = []
    if language.full_width:
        found.append(("half-width-mark", _HALF_WIDTH, "full-width punctuation stands here"))
    elif language.code != "ko":
        found.append(("full-width-mark", _FULL_WIDTH, "full-width punctuation is not used here"))
    if language.commas:
        letters = "\u0621-\u064a\u066e-\u06d3"
        pattern = re.compile(rf"(?<=[{letters}])\s?[,;?](?=\s|$|[{letters}])")
        found.append(("latin-mark", pattern, f"{' '.join(language.commas)} are used here"))
    if language.code == "fr":
        found.append(("french-space", _FRENCH_TIGHT, "a space stands here in French"))
    else:
        found.append(("space-before-mark", _SPACE_BEFORE, "no space stands before it"))
    found += [
        ("doubled-mark", _DOUBLE, "one mark too many"),
        ("no-space-after-mark", _GLUED, "a space follows it"),
        ("split-number", _SPLIT_NUMBER, "a number has no spaces"),
    ]
    return tuple(found)


def _check_end(texts: Texts) -> Iterator[Mark]:
    source, translation = texts.source.rstrip(), texts.translation.rstrip()
    wanted, got = source.rstrip(_CLOSERS)[-1:], translation.rstrip(_CLOSERS)[-1:]
    if not wanted or not got or not texts.target_language.full_stop:
        return
    last = len(translation.rstrip(_CLOSERS))
    question = "?？؟;"
    if wanted in _ENDS and (_is_of_word(got) or got in ",،，、") and len(texts.source_words) > 2:
        rule = "breaks-off" if len(texts.translation_words) >= _LONG else "final-mark-lost"
        starts = [w.start for w in texts.translation_words if w.end <= last]
        yield Mark(rule, starts[-1] if starts else last - 1, last, note=f"the source ends in {wanted}")
    elif (
        _is_of_word(wanted)
        and got in ".。।"
        and not _FINAL_ABBREVIATION.search(translation)
        and texts.source_words
    ):
        yield Mark("final-mark-added", last - 1, last, note="the source ends without one")
    elif wanted in "?？؟" and got in ".!。！।…":
        yield Mark("question-lost", last - 1, last, note=f"the source ends in {wanted}")
    elif got in question[:3] and wanted in ".。।":
        yield Mark("question-added", last - 1, last, note=f"the source ends in {wanted}")


def _is_of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _check_inverted(texts: Texts) -> Iterator[Mark]:
    if not texts.target_language.inverted_marks:
        return
    for closing, opening in (("?", "¿"), ("!", "¡")):
        if closing in texts.translation and opening not in texts.translation:
            place = texts.translation.index(closing)
            yield Mark("inverted-mark-lost", place, place + 1, note=f"{opening} opens it")


_QUOTES_DOUBLE: Final = '"“”„‟«»「」『』'
_MARK: Final = re.compile(rf"[{_QUOTES_DOUBLE}]")
_INCHES: Final = re.compile(r"\d['’./½]*\s?\"")


def check_quotes(texts: Texts) -> Iterator[Mark]:
    """Find the odd one out of an odd number, and opening marks that the target language does not use."""
    marks = _marks(texts.translation)
    if len(marks) % 2 and len(_marks(texts.source)) % 2 == 0:
        place = _odd_one(texts.translation, marks)
        yield Mark("unpaired-quote", place, place + 1, note="no partner in the translation")
    pattern = _foreign(texts.target_language)
    for found in pattern.finditer(texts.translation) if pattern and marks else ():
        opening, closing = texts.target_language.quotes[0]
        yield Mark("quote-style", *found.span(), note=f"{opening}...{closing} is used here")


def _marks(text: str) -> list[int]:
    found = [m.start() for m in _MARK.finditer(text)]
    inches = {m.end() - 1 for m in _INCHES.finditer(text)} if len(found) % 2 else set()
    return [place for place in found if place not in inches]


def _odd_one(text: str, marks: list[int]) -> int:
    waiting: int | None = None
    for place in marks:
        is_opening = place == 0 or text[place - 1].isspace() or text[place - 1] in "([{（【—–-/"
        if is_opening and waiting is not None:
            return waiting
        if not is_opening and waiting is None:
            return place
        waiting = place if is_opening else None
    return marks[-1] if waiting is None else waiting


@lru_cache(maxsize=256)
def _foreign(language: Language) -> re.Pattern[str] | None:
    own = {opening for opening, _ in language.quotes}
    if not own:
        return None
    foreign = "".join(mark for mark in "“„«»" if mark not in own)
    return re.compile(rf'(?:(?<=[\s(\[])|^)[{foreign}"](?=\w)')


_OPENS: Final = dict(zip(")]}】》」』〕", "([{【《「『〔", strict=True))
_CLOSES: Final = {opening: closing for closing, opening in _OPENS.items()}
_ALIKE: Final = str.maketrans("（）［］", "()[]")
"""Chinese texts mix both widths within one pair."""

_LIST_ITEM: Final = re.compile(r"(?:(?<=\s)|^)[\w.]{1,3}\Z")
_SMILEY: Final = re.compile(r"(?<!\w)[:;=][-'^o]?[()]+|\(\^|\^\)|¯\\_")


def check_brackets(texts: Texts) -> Iterator[Mark]:
    """Find unpaired ones of a kind that the source has only in pairs."""
    alone = _unpaired(texts.translation)
    if not alone:
        return
    in_source = {_kind(char) for _, char in _unpaired(texts.source)}
    for place, char in alone:
        if _kind(char) not in in_source:
            yield Mark("unpaired-bracket", place, place + 1, note="no partner in the translation")


def _kind(char: str) -> str:
    return _OPENS.get(char, char)


def _unpaired(text: str) -> list[tuple[int, str]]:
    text = text.translate(_ALIKE)
    smileys = {place for found in _SMILEY.finditer(text) for place in range(*found.span())}
    waiting: dict[str, list[int]] = {opening: [] for opening in _CLOSES}
    alone = []
    for place, char in enumerate(text):
        if place in smileys:
            continue
        if char in _CLOSES:
            waiting[char].append(place)
        elif char in _OPENS:
            if waiting[_OPENS[char]]:
                waiting[_OPENS[char]].pop()
            elif char != ")" or not _LIST_ITEM.search(text[max(0, place - 6) : place]):
                alone.append((place, char))
    return sorted(alone + [(place, char) for char, places in waiting.items() for place in places])


_START: Final = re.compile(r"\s+\S+")
_END: Final = re.compile(r"\S+\s+\Z")
_SPACING_DOUBLE: Final = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")


def check_spacing(texts: Texts) -> Iterator[Mark]:
    """Find white space at the ends, marked with the word that it touches, and doubled spaces."""
    text, source = texts.translation, texts.source
    if (found := _START.match(text)) and not source[:1].isspace():
        yield Mark("space-at-start", *found.span(), note="the source starts without")
    if (
        text[-1:].isspace()
        and not source[-1:].isspace()
        and (found := _END.search(text, _start_of_last_word(text)))
    ):
        yield Mark("space-at-end", *found.span(), note="the source ends without")
    if not _SPACING_DOUBLE.search(source):
        for found in _SPACING_DOUBLE.finditer(text):
            yield Mark("doubled-space", *found.span(), note="one space is enough")


def _start_of_last_word(text: str) -> int:
    words = text.rsplit(maxsplit=1)
    return len(text.rstrip()) - len(words[-1]) if words else 0


_CAPITALS_START: Final = re.compile(r"[\"'“”„«‘]*([^\W\d_]+)")
_AFTER: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]{3,40})[.!?] [\"“„«]?([^\W\d_]{2,})")
_LONE_I: Final = re.compile(r"(?<=\s)i(?=\s|'[a-z])")
_ABBREVIATIONS: Final = frozenset(
    {"etc", "usw", "chr", "bzw", "approx", "corp", "inc", "ltd", "dept", "abs", "bspw", "evtl", "ggf"}
)


def check_capitals(texts: Texts) -> Iterator[Mark]:
    """Find small letters at the start of the text and of its sentences, and a small English I."""
    first = _CAPITALS_START.match(texts.translation)
    wanted = next((char for char in texts.source if char.isalpha()), "")
    if first and _is_small(first[1]) and wanted and not _is_small(wanted):
        yield Mark("small-letter", *first.span(1), note="a sentence starts here")
    if any(_has_small_second(found) for found in _AFTER.finditer(texts.source)):
        return
    for found in _AFTER.finditer(texts.translation):
        if _has_small_second(found):
            yield Mark("small-letter", *found.span(2), note="a sentence starts here")
    if texts.target_language.code == "en":
        for found in _LONE_I.finditer(texts.translation):
            yield Mark("small-letter", *found.span(), note="I is written with a capital")


def _is_small(word: str) -> bool:
    return word.islower() and word[0].title() != word[0]


def _has_small_second(found: re.Match[str]) -> bool:
    return _is_small(found[2]) and found[1].casefold() not in _ABBREVIATIONS
