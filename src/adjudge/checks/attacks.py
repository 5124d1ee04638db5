"""Texts that look as if they were written to sway whoever judges them.

The detectors flag, and that is all: no text is altered, no judgement dropped, no score moved. Who writes with
them in view gets past them; docs/benchmark-tables.md says how many attacks of ours they find, and how many
clean translations they flag.
"""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from adjudge.core.record import SUSPECT

_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_FLAG: Final = re.compile(  # England, Scotland and Wales, the only emoji that Unicode spells with tags
    "(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)

_NOTHING: Final = "\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
_RUN: Final = re.compile(f"[{_NOTHING}\u200e\u200f\u00ad]{{3,}}")
_JOINED: Final = "A-Za-z\u00c0-\u024f\u0370-\u0588\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7a30-9 "
_AMID: Final = re.compile(f"(?<=[{_JOINED}])[{_NOTHING}]+(?=[{_JOINED}])")
_MOST_AMID: Final = 3
"""As many as a page copied from the web has in a sentence of a script that needs none."""

_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SELECTED: Final = re.compile(
    f"[{_SELECTORS}]{{2,}}"
    f"|(?<=[A-Za-z\u00c0-\u058f.,;:!?])[{_SELECTORS}]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)

_OVERRIDE: Final = re.compile("[\u202d\u202e]+")
_EMBEDDING: Final = re.compile("[\u202a-\u202c\u2066-\u2069]+")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")

_CONTROL: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufff9-\ufffb\ud800-\udfff]+",
    re.DOTALL,
)
_ANY: Final = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad{_NOTHING}{_SELECTORS}\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Everything that a detector looks for: most texts have none of it."""


def find_hidden(text: str) -> Iterator[tuple[str, int, int]]:
    """Detector and place of everything that is hidden."""
    if not _ANY.search(text):
        return
    flags = {flag.start() for flag in _FLAG.finditer(text)}
    yield from (found for found in _each("hidden_tags", _TAGS, text) if found[1] not in flags)
    yield from _each("zero_width", _RUN, text)
    amid = list(_AMID.finditer(text))
    if len(amid) > _MOST_AMID:
        yield "zero_width", amid[0].start(), amid[-1].end()
    yield from _each("variation_selectors", _SELECTED, text)
    yield from _each("bidi_control", _OVERRIDE, text)
    if not _RIGHT_TO_LEFT.search(text):
        yield from _each("bidi_control", _EMBEDDING, text)
    yield from _each("control_character", _CONTROL, text)


def _each(name: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int, int]]:
    return ((name, *found.span()) for found in pattern.finditer(text))


_SHORTEST: Final = 16
_BASE64: Final = re.compile(rf"(?<![\w+/=%-])[A-Za-z0-9+/_-]{{{_SHORTEST},}}={{0,2}}(?![\w+/%-])")
_HEXADECIMAL: Final = re.compile(
    r"(?<![0-9A-Fa-f])(?:0x)?[2-7c-e][0-9A-Fa-f][ ,:]?(?:(?:0x)?[0-9A-Fa-f]{2}[ ,:]?){11,}"
)
_ESCAPES: Final = re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}){4,}|(?:&#x?[0-9A-Fa-f]{1,6};){6,}")
_BINARY: Final = re.compile(r"(?:\b[01]{8}\b ?){6,}")
_SOME_DIGITS: Final = re.compile(r"[0-9A-Fa-fx ,:]{8}")
"""Stands in every third character of all that is hexadecimal or binary: in few texts."""

_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_TURNED: Final = _SMALL[13:] + _SMALL[:13]
_ROT13: Final = str.maketrans(_SMALL + _SMALL.upper(), _TURNED + _TURNED.upper())
ROTATED: Final = frozenset(
    {"vtaber", "qvfertneq", "sbetrg", "vafgehpgvba", "genafyngvba", "cresrpg", "reebef"}
)
"""Strings without any of which no rotated text is looked at."""
_LEET: Final = re.compile(r"(?<=[A-Za-z])[013457@$][A-Za-z]")
_LETTERS: Final = str.maketrans("013457@$", "oieastas")
_SPACED: Final = re.compile(r"(?<!\S)(?:[A-Za-z][ ._-]){9,}[A-Za-z](?!\S)")
_SOME_SPACED: Final = re.compile(r"[ ._-][A-Za-z][ ._-][A-Za-z][ ._-]")
"""Stands in all that is spaced out, and is found to be missing in a third of the time."""

_LOOK_ALIKE: Final = str.maketrans(
    "асеорхуіѕјԁԛԝһӏАВЕКМНОРСТХІЅЈοανρτικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aceopxyisjdqwhlABEKMHOPCTXISJoavptikABEZHIKMNOPTYX",
)
_MIXED: Final = re.compile(r"[A-Za-z][Ѐ-ԯͰ-Ͽ]|[Ѐ-ԯͰ-Ͽ][A-Za-z]")
_STYLED: Final = re.compile(
    "[\uff01-\uff5e]{6,}|[\u24b6-\u24e9]{4,}|[\U0001d400-\U0001d7ff]{4,}|[\U0001f130-\U0001f189]{4,}"
    "|(?:[\uff01-\uff5e\U0001d400-\U0001d7ff]+\\s?){4,}"
)
_STRANGE: Final = re.compile(
    "[\u0370-\u052f\u24b6-\u24e9\uff01-\uff5e\U0001d400-\U0001d7ff\U0001f130-\U0001f189]"
)

WITHIN_WORDS: Final = {"leet": _LEET}
"""What stands within one word, by name."""

Find = Callable[[str], bool]


def find_disguises(text: str, possible: set[str], is_plain_attack: Find) -> Iterator[tuple[str, int, int]]:
    """Detector and place of what is an attack once it is written plainly."""
    if (not possible.isdisjoint(ROTATED) and is_plain_attack(text.translate(_ROT13))) or (
        "leet" in possible and _LEET.search(text) and is_plain_attack(text.translate(_LETTERS))
    ):
        yield "disguise", 0, len(text)
    elif _SOME_SPACED.search(text) and (spaced := _SPACED.search(text)):
        yield ("disguise", *spaced.span())
    elif not text.isascii() and _STRANGE.search(text):
        yield from _folded(text, is_plain_attack)


def _folded(text: str, is_plain_attack: Find) -> Iterator[tuple[str, int, int]]:
    styled = _STYLED.search(text)
    if styled and is_plain_attack(unicodedata.normalize("NFKC", text)):
        yield ("disguise", *styled.span())
    elif (mixed := _MIXED.search(text)) and is_plain_attack(text.translate(_LOOK_ALIKE)):
        yield ("disguise", *mixed.span())


def find_encoded(text: str, words: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and place of words that are encoded; `words` are those of the text in small letters."""
    if "\\" in text or "&#" in text:
        yield from (("encoded_text", *found.span()) for found in _ESCAPES.finditer(text))
    if max(map(len, words), default=0) >= _SHORTEST:
        for found in _BASE64.finditer(text):
            if _is_message(_decoded(found[0])):
                yield ("encoded_text", *found.span())
    if not _SOME_DIGITS.search(text[::3]):
        return
    yield from (("encoded_text", *found.span()) for found in _BINARY.finditer(text))
    for found in _HEXADECIMAL.finditer(text):
        digits = re.sub(r"0x|[ ,:]", "", found[0])
        if _is_message(bytes.fromhex(digits[: len(digits) // 2 * 2])):
            yield ("encoded_text", *found.span())


def _decoded(word: str) -> bytes:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return b""


def _is_message(raw: bytes) -> bool:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return (
        len(text) >= 10 and text.isprintable() and (" " in text.strip() or not text.isascii() or "{" in text)
    )


class _Form(NamedTuple):
    detector: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]


_SAME: Final = re.compile(r"(\S)\1{79,}|[^\S\n]{60,}|\n{48,}")
_STEP: Final = 32
_SAMPLE: Final = 16
"""In every run of 48 lies a sample of 16 that begins at a multiple of 32: few texts are searched for runs."""

_BLOCK: Final = 512
_FEWEST: Final = 0.1
"""Share of different threes of characters below which a block says the same again and again."""


def find_forms(text: str, lowered: str, possible: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and place of all that is written so."""
    if possible.isdisjoint(form_needles()):
        return
    for detector, needles, pattern in _forms():
        if any(needle in possible and needle in lowered for needle in needles):
            yield from ((detector, *found.span()) for found in pattern.finditer(text))


@lru_cache(maxsize=1)
def _forms() -> tuple[_Form, ...]:
    table = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
    return tuple(
        _Form(detector, tuple(form["needles"]), re.compile(form["pattern"], re.IGNORECASE | re.MULTILINE))
        for detector, forms in table.items()
        for form in forms
    )


@lru_cache(maxsize=1)
def form_needles() -> frozenset[str]:
    """Strings in small letters without any of which no text is written in one of the forms."""
    return frozenset(needle for form in _forms() for needle in form.needles)


def find_padding(text: str) -> Iterator[tuple[str, int, int]]:
    """Detector and place of what says the same again and again, or nothing."""
    for i in range(0, len(text) - _SAMPLE + 1, _STEP):
        if text[i] == text[i + 1] and text[i : i + _SAMPLE] == text[i] * _SAMPLE:
            yield from (("padding", *found.span()) for found in _SAME.finditer(text))
            break
    for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
        block = text[start : start + _BLOCK]
        if len({block[i : i + 3] for i in range(_BLOCK - 2)}) < _FEWEST * _BLOCK:
            yield "padding", start, start + _BLOCK


_MOST = 65_536
_LONGEST = 40  # a longer word is a sentence of a script without spaces: it will not come again


class Needles:
    """Strings that are looked for in text after text.

    A string stands in a text only if its longest piece without white space stands in a word of the text. What
    a word holds is remembered, so that a text of known words costs one look each and not one for each string.
    """

    def __init__(self, needles: Iterable[str], patterns: Mapping[str, re.Pattern[str]] | None = None) -> None:
        self._patterns = dict(patterns or {})
        pieces = {needle: max(needle.split(), key=len, default="") for needle in needles}
        self._always = frozenset(needle for needle, piece in pieces.items() if not piece)
        self._pieces: dict[int, dict[str, list[str]]] = {}
        for needle, piece in sorted(pieces.items(), key=lambda pair: len(pair[1])):
            if piece:
                self._pieces.setdefault(len(piece), {}).setdefault(piece, []).append(needle)
        self._clean: set[str] = set()
        self._known: dict[str, frozenset[str]] = {}

    def possible(self, words: set[str]) -> set[str]:
        """The strings that a text may hold: all that it does hold, and seldom another."""
        found = set(self._always)
        for word in words - self._clean:
            found |= self._known.get(word) or self._look(word)
        return found

    def _look(self, word: str) -> frozenset[str]:
        pieces = self._pieces_of(word) if len(word) <= _LONGEST else self._pieces_in(word)
        names = (name for name, pattern in self._patterns.items() if pattern.search(word))
        held = frozenset((*pieces, *names))
        if len(word) > _LONGEST:
            return held
        if len(self._known) + len(self._clean) >= _MOST:
            self._known.clear()
            self._clean.clear()
        if held:
            self._known[word] = held
        else:
            self._clean.add(word)
        return held

    def _pieces_of(self, word: str) -> Iterator[str]:
        for length, pieces in self._pieces.items():
            for start in range(len(word) - length + 1):
                yield from pieces.get(word[start : start + length], ())

    def _pieces_in(self, word: str) -> Iterator[str]:
        for pieces in self._pieces.values():
            for piece, needles in pieces.items():
                if piece in word:
                    yield from needles


_SENTENCE: Final = re.compile(r"[^.!?。！？؟।\n]+[!！]?")
_ALPHABET: Final = re.compile(r"[a-zà-ɏа-яёіїєґ]", re.IGNORECASE)
_BEYOND_LATIN: Final = re.compile(r"[^\x00-\u024f]")
_HIGHEST: Final = "\U0010ffff"


class _Condition(NamedTuple):
    """What one kind of order holds."""

    # of each group, how its stems begin, in small letters; quick to look for
    begins: tuple[tuple[str, ...], ...]
    groups: tuple[tuple[str, ...], ...]  # the stems themselves


def order_needles() -> Iterable[str]:
    """Beginnings of stems, in small letters, without any of which no text gives an order."""
    return _stems(_HIGHEST)


def find_orders(text: str, lowered: str, possible: set[str]) -> Iterator[tuple[str, int, int]]:
    """Detector and places of the sentences that give orders to a judge."""
    beyond_ascii = _HIGHEST if _BEYOND_LATIN.search(text) else "\u024f"
    stems = _stems("\x7f" if text.isascii() else beyond_ascii)
    held = [stem for stem in possible & stems.keys() if stem in lowered]
    for condition in dict.fromkeys(condition for stem in held for condition in stems[stem]):
        if all(any(stem in lowered for stem in group) for group in condition.begins):
            for sentence in _SENTENCE.finditer(text):
                if all(_compiled(group).search(sentence[0]) for group in condition.groups):
                    yield "instruction", *sentence.span()


@lru_cache(maxsize=3)
def _stems(highest: str) -> Mapping[str, list[_Condition]]:
    table = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
    found: dict[str, list[_Condition]] = {}
    for groups in (groups for kinds in table.values() for groups in kinds.values()):
        possible = [tuple(stem for stem in group if max(stem) <= highest) for group in groups]
        if all(possible):
            begins = tuple(tuple(map(_beginning, group)) for group in possible)
            condition = _Condition(begins, tuple(possible))
            for stem in begins[0]:
                found.setdefault(stem, []).append(condition)
    return found


def _beginning(stem: str) -> str:
    optional = re.match(r"[^\\\[\](){}?*+.|^]*", stem)
    plain = optional[0] if optional else ""
    return plain[:-1] if stem[len(plain) : len(plain) + 1] in {"?", "*"} else plain


@cache
def _compiled(stems: tuple[str, ...]) -> re.Pattern[str]:
    starts = (rf"(?<![^\W\d_]){stem}" if _ALPHABET.match(stem) else stem for stem in stems)
    return re.compile("|".join(starts), re.IGNORECASE)


DETECTORS: Final[Mapping[str, str]] = {
    "hidden_tags": "tag characters, a second ASCII that nobody sees; those of flags are left alone",
    "zero_width": "characters without width in a row, or strewn about in a script that needs none",
    "variation_selectors": "selectors of variants in a row, or after what has no variants",
    "bidi_control": "an override of the direction, or an embedding in a text with one direction only",
    "control_character": "NUL, terminal sequences and other controls, half surrogate pairs",
    "chat_token": "tokens of chat templates",
    "fake_turn": "a turn of a conversation, such as a line that begins with Assistant:",
    "verdict": "a verdict or a rating in the form of an answer, such as a JSON object with errors",
    "answer_form": "headings, fences or thinking as answers have them",
    "tool_call": "a call of a tool",
    "marker": "markers that open or close a text",
    "instruction": "an order to a judge, in fourteen languages",
    "active_content": "what a page would load or run: scripts, remote images, comments",
    "template": "what a template or an interpreter would fill in or run",
    "padding": "the same again and again, or empty space without end",
    "encoded_text": "words in base64, hexadecimal, binary or escapes",
    "disguise": "one of the above in look-alike, full-width, rotated, spaced or leet letters",
}
"""Detector to what it finds; measured false flags are in docs/benchmark-tables.md."""


class Suspicion(NamedTuple):
    """Something that a detector found."""

    detector: str
    start: int  # first code point
    end: int  # one past the last


@lru_cache(maxsize=2048)
def find_attacks(text: str) -> tuple[Suspicion, ...]:
    """Everything suspicious in one text, in the order of the text. The same text gives the same."""
    lowered = text.lower()
    words = set(lowered.split())
    possible = _needles().possible(words)
    plain = _find_plain(text, lowered, possible)
    found = {*plain, *find_hidden(text), *find_encoded(text, words)}
    if not plain:
        found.update(find_disguises(text, possible, _is_plain_attack))
    return tuple(Suspicion(*one) for one in sorted(found, key=lambda one: (one[1], one[2], one[0])))


def attack_flags(source: str, translations: Iterable[str], around: Iterable[str] = ()) -> tuple[str, ...]:
    """Flags of a judgement: `injection_suspect`, then each detector with the text that it found something in.

    A source that holds an order is translated faithfully by a translation that holds it too, which must not
    be held against it: that is `instruction@both`. `instruction@translation` stands in the translation alone.

    Flags in the order of `DETECTORS`; none for texts without suspicion.
    """
    in_source, in_translations, in_context = _names((source,)), _names(translations), _names(around)
    if not (in_source or in_translations or in_context):
        return ()
    flags = [SUSPECT]
    for name in DETECTORS:
        if name in in_source or name in in_translations:
            place = "both" if name in in_source and name in in_translations else None
            flags.append(f"{name}@{place or ('source' if name in in_source else 'translation')}")
        if name in in_context:
            flags.append(f"{name}@context")
    return tuple(flags)


def _names(texts: Iterable[str]) -> set[str]:
    return {one.detector for text in texts for one in find_attacks(text)}


@lru_cache(maxsize=1)
def _needles() -> Needles:
    return Needles((*form_needles(), *order_needles(), *ROTATED), WITHIN_WORDS)


def _find_plain(text: str, lowered: str, possible: set[str]) -> list[tuple[str, int, int]]:
    found = [*find_forms(text, lowered, possible), *find_orders(text, lowered, possible)] if possible else []
    found += find_padding(text)
    return found


def _is_plain_attack(text: str) -> bool:
    lowered = text.lower()
    return bool(_find_plain(text, lowered, _needles().possible(set(lowered.split()))))
