"""Punctuation that the target language does not use, or that the source makes one expect."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from adjudge.checks.languages import Language
from adjudge.checks.markup import LINK
from adjudge.checks.texts import Mark, Ranges, Texts

__all__ = ["check_punctuation"]

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
    """Patterns that apply to a target language: rule, pattern, note."""
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
    """Compare how the two texts end."""
    source, translation = texts.source.rstrip(), texts.translation.rstrip()
    wanted, got = source.rstrip(_CLOSERS)[-1:], translation.rstrip(_CLOSERS)[-1:]
    if not wanted or not got or not texts.target_language.full_stop:
        return
    last = len(translation.rstrip(_CLOSERS))
    question = "?？؟;"
    if wanted in _ENDS and (_is_of_word(got) or got in ",،，、") and len(texts.source_words) > 2:
        rule = "breaks-off" if len(texts.translation_words) >= _LONG else "final-mark-lost"
        yield Mark(rule, _last_word(texts, last), last, note=f"the source ends in {wanted}")
    elif (
        _is_of_word(wanted)
        and got in ".。।"
        and not _ends_in_abbreviation(translation)
        and texts.source_words
    ):
        yield Mark("final-mark-added", last - 1, last, note="the source ends without one")
    elif wanted in "?？؟" and got in ".!。！।…":
        yield Mark("question-lost", last - 1, last, note=f"the source ends in {wanted}")
    elif got in question[:3] and wanted in ".。।":
        yield Mark("question-added", last - 1, last, note=f"the source ends in {wanted}")


def _is_of_word(char: str) -> bool:
    """Whether a character is a letter, a digit or a mark on one."""
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _last_word(texts: Texts, last: int) -> int:
    starts = [w.start for w in texts.translation_words if w.end <= last]
    return starts[-1] if starts else last - 1


def _ends_in_abbreviation(text: str) -> bool:
    return bool(re.search(r"(?:\b\w|\b(?:Inc|Ltd|Co|Jr|Sr|St|etc|usw|bzw|Corp|Mio|Mrd|ca|No|Nr))\.$", text))


def _check_inverted(texts: Texts) -> Iterator[Mark]:
    """Find Spanish questions and exclamations that do not open."""
    if not texts.target_language.inverted_marks:
        return
    for closing, opening in (("?", "¿"), ("!", "¡")):
        if closing in texts.translation and opening not in texts.translation:
            place = texts.translation.index(closing)
            yield Mark("inverted-mark-lost", place, place + 1, note=f"{opening} opens it")
