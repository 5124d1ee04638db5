"""Translations that are none: empty, a copy of the source, another language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adjudge.checks.languages import find_language, known_languages
from adjudge.checks.markup import LINK
from adjudge.checks.scripts import uses_latin
from adjudge.checks.texts import Mark, Ranges, Texts, letters_of, whole

__all__ = ["check_whole"]

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
    """Code of the language whose frequent words fill the translation, if the target's are missing."""
    words = [w.folded for w in texts.translation_words if w.text.islower()]
    own = texts.target_language.function_words
    if not own or len(words) < _WORDS_TO_KNOW or sum(w in own for w in words) > _OWN_SHARE * len(words):
        return None
    shares = {code: sum(w in find_language(code).function_words for w in words) for code in known_languages()}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _OTHER_SHARE * len(words) else None
