"""Letters of a script that the target language does not use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final

from adjudge.checks.languages import Language
from adjudge.checks.texts import MARKS, MOST_LOOKED, Mark, Texts, letters_of
from adjudge.core.language import script_of

__all__ = ["check_scripts", "uses_latin"]

_LETTERS: Final[Mapping[str, str]] = {
    "Latn": "A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ",
    "Grek": "Ͱ-Ͽἀ-῾",
    "Cyrl": "Ѐ-ԯ",
    "Armn": "Ա-֏",
    "Hebr": "א-ת",
    "Arab": "ء-يٮ-ۓەۮ-ۯۺ-ۿݐ-ݿࢠ-ࣿﭐ-ﷻﹰ-ﻼ",
    "Deva": "ऀ-ॣॲ-ॿ",
    "Beng": "ঀ-ৣ",
    "Guru": "਀-ੴ",
    "Gujr": "ઁ-ૣ",
    "Taml": "ஂ-௣",
    "Telu": "ఀ-ౣ",
    "Knda": "ಀ-ೣ",
    "Mlym": "ഀ-ൣ",
    "Sinh": "ං-ෟ",
    "Thai": "ก-ฺเ-๎",
    "Laoo": "ກ-ໟ",
    "Mymr": "က-ဿ",
    "Geor": "Ⴀ-ჿᲐ-Ჿ",
    "Ethi": "ሀ-ፚ",
    "Khmr": "ក-ៈ",
    "Hang": "ᄀ-ᇿㄱ-ㆎ가-힣",
    "Hira": "ぁ-ゖゝ-ゟ",
    "Kana": "ァ-ヺヽ-ヿㇰ-ㇿｦ-ﾝ",
    "Hani": "々㐀-䶿一-鿿豈-﫿𠀀-𮯯",
}
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}
_WRITTEN_IN_TWO: Final[Mapping[str, tuple[str, ...]]] = {
    "sr": ("Cyrl", "Latn"),
    "kk": ("Cyrl", "Latn"),
    "uz": ("Cyrl", "Latn"),
    "mn": ("Cyrl",),
    "yue": ("Hani",),
}
_SYMBOLS: Final = frozenset("αβγδεθλμπρστφχψωΔΣΩのª" + "º")
"""Letters that stand alone in any text: mathematics, units, shop signs."""

_LATIN_WORDS: Final = re.compile(r"(?<![a-z])[a-z]{3,40}(?:[ \u00a0-]+[a-z]{2,})+")
_MIXED: Final = re.compile(
    rf"(?<!\w)(?:[{_LETTERS['Latn']}]+[{_LETTERS['Cyrl']}]|[{_LETTERS['Cyrl']}]+[{_LETTERS['Latn']}])\w*"
)


def _scripts_of(language: Language) -> tuple[str, ...]:
    """Scripts of a language; none where it is not known."""
    if language.code in _WRITTEN_IN_TWO:
        return _WRITTEN_IN_TWO[language.code]
    script = script_of(language.code)
    return _PARTS.get(script, (script,) if script in _LETTERS else ())


def uses_latin(language: Language) -> bool:
    """Whether a language is written in Latin letters."""
    return "Latn" in _scripts_of(language)


@lru_cache(maxsize=256)
def _foreign(scripts: tuple[str, ...]) -> re.Pattern[str]:
    """Runs of letters of any script but these and Latin."""
    letters = "".join(chars for name, chars in _LETTERS.items() if name not in {*scripts, "Latn"})
    return re.compile(rf"[{letters}](?:[{letters}{MARKS}]|\s(?=[{letters}]))*")


@lru_cache(maxsize=256)
def _own(scripts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(_LETTERS[name] for name in scripts)}]")


def check_scripts(texts: Texts) -> Iterator[Mark]:
    """Find runs in a foreign script, and words of two scripts that look like one."""
    own = _scripts_of(texts.target_language)
    if not own:
        return
    if not texts.translation.isascii():
        for found in islice(_foreign(own).finditer(texts.translation), MOST_LOOKED):
            if mark := _foreign_run(texts, found):
                yield mark
        for found in islice(_MIXED.finditer(texts.translation), MOST_LOOKED):
            if found[0] not in texts.source:
                yield Mark("mixed-script-word", *found.span(), note="letters of two scripts in one word")
    if "Latn" not in own:
        yield from _latin_runs(texts)


def _foreign_run(texts: Texts, found: re.Match[str]) -> Mark | None:
    run = found[0]
    if len(run) == 1 and run in _SYMBOLS:
        return None
    if run not in texts.source:
        return Mark("foreign-script", *found.span(), note=f"not written so in {texts.target_language.code}")
    source_scripts = _scripts_of(texts.source_language)
    if not source_scripts or not _own(source_scripts).match(run) or _is_gloss(texts.translation, found):
        return None  # foreign to the source as well, or the original given in brackets
    return Mark("source-script-left", *found.span(), note="left as it stands in the source")


def _is_gloss(text: str, found: re.Match[str]) -> bool:
    return (
        text[max(0, found.start() - 4) : found.start()].rstrip("\"'“”‘’《「 ").endswith(("(", "（", "["))
        and letters_of(found[0]) <= 8
    )


def _latin_runs(texts: Texts) -> Iterator[Mark]:
    """Several plain Latin words in a row, in a language that does not use Latin letters."""
    source = texts.source.casefold()
    for found in islice(_LATIN_WORDS.finditer(texts.translation), MOST_LOOKED):
        before = texts.translation[max(0, found.start() - 1) : found.start()]
        if before.isalnum() and before.isascii():
            continue  # the end of a name such as iPhone
        rule = "source-script-left" if found[0] in source else "foreign-script"
        yield Mark(rule, *found.span(), note=f"not written so in {texts.target_language.code}")
