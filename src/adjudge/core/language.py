"""Languages and language pairs in whatever spelling a user has: `eng/deu`, `en_US-pt_BR`, `English-German`.

A language is written as its ISO 639-1 code, or 639-3 where it has none, then script and region if they were
given: `de`, `cs_CZ`, `sr_Cyrl_RS`. A language pair is two of them with a hyphen between: `en-cs_CZ`. Names
and codes are CLDR's (docs/decisions/010-babel-for-languages.md). A well-formed code of three letters that
CLDR does not know is taken as it is, since every year's task brings languages that no table has; codes of two
letters are all given away, and another one is a slip. Case and separators have no meaning, and locales of
POSIX (`de_DE.UTF-8`, `sr@latin`) are read, too.

Results stand under the tags of the file that they come from. Two tags are of one language where CLDR's likely
subtags make them equal: `en-zh_Hans` is `en-zh_CN` and `en-zh`, but not `en-zh_TW`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from adjudge.errors import UsageError, warn

if TYPE_CHECKING:
    from babel import Locale

_RIGHT_TO_LEFT: Final = frozenset({
    *("Adlm", "Arab", "Aran", "Armi", "Avst", "Hebr", "Mand", "Mend", "Nkoo", "Nbat", "Palm", "Phli", "Phlp"),
    *("Phnx", "Prti", "Rohg", "Samr", "Syrc", "Syre", "Syrj", "Syrn", "Thaa", "Yezi"),
})  # fmt: skip
"""Scripts written from right to left (Unicode Standard, chapters 9, 10 and 19)."""

_SEPARATOR: Final = re.compile(r"\s*(?:=>|->|[/|>→⇒–—,;:]|\bto\b|\binto\b)\s*")
_SPLIT: Final = re.compile(r"[-_]")
_BETWEEN: Final = re.compile(rf"{_SEPARATOR.pattern}|{_SPLIT.pattern}")
_LOCALE: Final = re.compile(r"[a-z]{2,3}[-_][A-Z]{2}")
"""`en-DE` is English as in Germany to everyone else."""


class _OfPair(Protocol):
    @property
    def lp(self) -> str: ...


P = TypeVar("P", bound=_OfPair)


class _Language(NamedTuple):
    code: str
    script: str = ""
    region: str = ""
    variant: str = ""

    def __str__(self) -> str:
        return "_".join(part for part in self if part)


@lru_cache(maxsize=1024)
def canonical_lp(text: str) -> str:
    """Canonical form of a language pair, such as `en-de`, `en-cs_CZ` or `en-sr_Cyrl_RS`."""
    found = {f"{source}-{target}" for source, target in _readings(text.strip())}
    if len(found) == 1:
        return found.pop()
    if found:
        both = " or ".join(sorted(found))
        raise UsageError(f"language pair {text!r} can be read as {both}; write the one that you mean")
    raise UsageError(
        f"a language pair names two languages, such as 'en-de' or 'en-pt_BR'; got {text!r}{_slip(text)}"
    )


@lru_cache(maxsize=1024)
def lp_in(text: str) -> str | None:
    """Canonical form of a language pair; None where the text names none."""
    try:
        return canonical_lp(text)
    except UsageError:
        return None


@lru_cache(maxsize=1024)
def lp_named(name: str) -> str | None:
    """Canonical form of the language pair that a whole name is, two known codes with a hyphen between.

    None for any other name, such as `tr-en-de`, `base-new` or `en_de`.
    """
    codes = name.split("-")
    return lp_in(name) if len(codes) == 2 and all(_read_code(code, strict=True) for code in codes) else None


@lru_cache(maxsize=1024)
def coded_lp(text: str) -> str:
    """Canonical form of a language pair that a user chose, in codes.

    Files may name languages as they like (`canonical_lp`); a choice by name would not be seen to be one.
    """
    if text.count("-") > 1 and "," in text:
        raise UsageError(f"one language pair is wanted here, such as 'en-de'; got several, {text!r}")
    found, said = canonical_lp(text), text.strip()
    for cut in _BETWEEN.finditer(said):
        source, target = (_read_code(side, strict=False) for side in (said[: cut.start()], said[cut.end() :]))
        if f"{source}-{target}" == found:
            return found
    raise UsageError(f"a language pair is given by its codes: write {found} in place of {text!r}")


@lru_cache(maxsize=1024)
def _slip(text: str) -> str:
    from babel.core import get_global

    codes = (word.lower() for word in re.split(r"[^A-Za-z]+", text) if len(word) == 2)
    unknown = next((code for code in codes if not _is_known(code, "", "")), None)
    if unknown is None:
        return ""
    spoken = get_global("likely_subtags").get(f"und_{unknown.upper()}", "").partition("_")[0]
    meant = f"{spoken} is {language_name(spoken)}" if spoken else "a private one can be qaa to qtz"
    return f": no language has the code {unknown!r}; {meant}"


@lru_cache(maxsize=1024)
def pair_of(source: str, target: str) -> str:
    """Canonical form of the pair of two languages, each in any spelling: `en` and `FR` are `en-fr`."""
    return f"{_language_of(source)}-{_language_of(target)}"


@lru_cache(maxsize=1024)
def _full(code: str) -> _Language:
    from babel.core import get_global

    likely, said = get_global("likely_subtags"), _language_of(code)
    code, script, region, variant = said
    parts = ((code, script, region), (code, region), (code, script), (code,))
    keys = ("_".join(filter(None, part)) for part in parts)
    known = next((likely[key] for key in keys if key in likely), "__").split("_")
    return _Language(code, script or known[1], region or known[2], variant)


def is_same_language(one: str, other: str) -> bool:
    """Whether two tags are of one language: `zh_Hans` and `zh_CN`, but not `zh_TW`."""
    return _full(one) == _full(other)


def _full_pair(lp: str) -> tuple[_Language, ...]:
    return tuple(map(_full, canonical_lp(lp).split("-")))


def lp_among(lp: str | None, there: Iterable[str], where: object) -> str | None:
    """Find a language pair among those that are there, and return it as it is spelled there; None stays None.

    Where a pair stands in two spellings, it is the one that is spelled in the same way, and a warning names
    the other.
    """
    known = list(dict.fromkeys(there))
    if lp is None:
        return lp
    same = [each for each in known if _full_pair(each) == _full_pair(canonical_lp(lp))]
    if same:
        chosen = canonical_lp(lp) if canonical_lp(lp) in same else same[0]
        if others := [each for each in same if each != chosen]:
            warn(f"{where} spells {chosen} also {' and '.join(others)}: what is spelled so is left out")
        return chosen
    raise UsageError(f"{where} has no lp {lp!r}; it has {', '.join(known) or 'no segment'}")


def of_lp(items: Iterable[P], lp: str | None, where: object) -> list[P]:
    """Segments, records or what else has an `lp`: those of one language pair, all of them without one."""
    there = list(items)
    if lp is None:
        return there
    lp = lp_among(lp, (each.lp for each in there), where)
    return [each for each in there if each.lp == lp]


def one_spelling(lps: Iterable[Iterable[str]]) -> list[dict[str, str]]:
    """For each of several inputs, how its language pairs are spelled in the first input that has them."""
    found: list[dict[str, str]] = []
    known: dict[tuple[_Language, ...], str] = {}
    exact: set[str] = set()
    for own in map(set, lps):
        first = {lp: known.get(_full_pair(lp), lp) for lp in own - exact}
        found.append({lp: name for lp, name in first.items() if name not in own})
        exact |= own
        known = {_full_pair(lp): lp for lp in sorted(own, reverse=True)} | known
    return found


def source_language(lp: str) -> str:
    """Language that is translated from, as in `en` of `en-pt_BR`."""
    return canonical_lp(lp).split("-")[0]


@lru_cache(maxsize=1024)
def target_language(lp: str) -> str:
    """Language that is translated into, as in `pt_BR` of `en-pt_BR`."""
    return canonical_lp(lp).split("-")[1]


@lru_cache(maxsize=1024)
def language_name(code: str, speaking: str = "en") -> str:
    """Name of a language, such as `German` or `Serbian (Cyrillic, Serbia)`.

    A code without a name is its own name.
    """
    language, locale = _language_of(code), _locale(speaking)
    names = locale.languages
    if str(language) in names:
        return str(names[str(language)])
    name = names.get(language.code) or names.get(_aliases().get(language.code, ""), language.code)
    script = locale.scripts.get(language.script, language.script)
    region = locale.territories.get(language.region, language.region)
    more = ", ".join(part for part in (script, region) if part)
    return f"{name} ({more})" if more else name


def script_of(code: str) -> str:
    """Script that a language is mostly written in, as ISO 15924 code: `Cyrl` for `ru`; empty if unknown."""
    from babel.core import get_global

    likely = get_global("likely_subtags")
    language, alias = _language_of(code), _aliases().get(code, code)
    known = _language_of(alias)
    if language.script or known.script:
        return language.script or known.script
    keys = (f"{language.code}_{language.region}", language.code, alias, known.code)
    return next((likely[key].split("_")[1] for key in keys if key in likely), "")


def is_right_to_left(code: str) -> bool:
    """Whether a language is written from right to left, as Arabic, Hebrew, Persian and Urdu are."""
    return script_of(code) in _RIGHT_TO_LEFT


_BY_CHARACTER: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
_WITHOUT_BLANKS: Final = frozenset({"th", "lo", "km", "my", "bo", "dz"})


def count_words(text: str, code: str) -> int:
    """Words of a text, as word processors count them: what stands between blanks, each CJK character a word.

    Punctuation that stands alone is no word.
    """
    if _SPLIT.split(code, maxsplit=1)[0] in _WITHOUT_BLANKS:
        raise UsageError(
            f"{language_name(code)} is written without blanks, so that its words are not counted"
        )
    apart = _BY_CHARACTER.sub(" x ", text)
    return sum(any(char.isalnum() for char in word) for word in apart.split())


def _readings(text: str) -> Iterator[tuple[_Language, _Language]]:
    parts = _SEPARATOR.split(text)
    if len(parts) == 2:
        yield from _both(*parts)
        return
    if text.count("-") == 1 and (found := list(_both(*text.split("-")))):
        if not _LOCALE.fullmatch(text):
            yield from found
        return
    for cut in _SPLIT.finditer(text):
        source, target = text[: cut.start()], text[cut.end() :]
        is_plain = text in {text.lower(), text.upper()} or (_is_cased(source) and _is_cased(target))
        if is_plain or ((source + target).isalpha() and not _LOCALE.fullmatch(text)):
            yield from _both(source, target, strict=True)


def _is_cased(text: str) -> bool:
    if not _CODE.fullmatch(text):
        return True
    language, *more = _SPLIT.split(text)
    return language.islower() and all(part.isupper() for part in more if len(part) == 2)


def _both(source: str, target: str, *, strict: bool = False) -> Iterator[tuple[_Language, _Language]]:
    one, other = _read_language(source, strict=strict), _read_language(target, strict=strict)
    if one and other:
        yield one, other


def _language_of(code: str) -> _Language:
    language = _read_language(code)
    if language is None:
        raise UsageError(f"no language code: {code!r}; write it as in 'de', 'pt_BR' or 'sr_Cyrl_RS'")
    return language


def _read_language(text: str, *, strict: bool = False) -> _Language | None:
    text = text.strip()
    return _read_code(text, strict=strict) or _names().get(_fold(text)) or _read_qualified_name(text)


_CODE: Final = re.compile(
    r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?"
    r"(?:[-_]([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?(?:\.[A-Za-z0-9-]+)?(?:@([A-Za-z]+))?"
)
_CURRENCY: Final = "euro"
"""The modifier of a locale of POSIX that says nothing of the language."""


def _read_code(text: str, *, strict: bool) -> _Language | None:
    match = _CODE.fullmatch(text)
    if match is None:
        return None
    code, script, region, variant, modifier = (part or "" for part in match.groups())
    code, script, region = code.lower(), script.title(), region.upper()
    kind, told = _qualifiers().get(_fold(modifier), ("", ""))
    if kind == "script":
        script = script or told
    elif modifier.lower() != _CURRENCY:
        variant = variant or modifier
    if variant and variant.upper() not in _english().variants:
        return None
    if (strict and not _is_known(code, script, region)) or (len(code) == 2 and not _is_known(code, "", "")):
        return None
    alias = _aliases().get(code, "")
    withdrawn = len(code) == 2 and code not in _english().languages
    if alias and "_" not in alias and (len(code) == 3 or withdrawn):
        code = alias  # ISO 639-1 for 639-2 and 639-3 codes, today's code for a withdrawn one
    return _Language(code, script, region, variant.lower())


def _is_known(code: str, script: str, region: str) -> bool:
    english = _english()
    return (
        (code in english.languages or code in _aliases())
        and (not script or script in english.scripts)
        and (not region or region in english.territories)
    )


_QUALIFIED: Final = re.compile(r"(.+?)\s*\((.+)\)")


def _read_qualified_name(text: str) -> _Language | None:
    match = _QUALIFIED.fullmatch(text)
    language = _names().get(_fold(match[1])) if match else None
    if match is None or language is None:
        return None
    for qualifier in match[2].split(","):
        kind, code = _qualifiers().get(_fold(qualifier), ("", ""))
        if not kind:
            return None
        language = language._replace(**{kind: code})
    return language


def _fold(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())


def _english() -> Locale:
    return _locale("en")


@lru_cache(maxsize=64)
def _locale(code: str) -> Locale:
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return Locale("en")


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    from babel.core import get_global

    return dict(get_global("language_aliases"))


@lru_cache(maxsize=1)
def _names() -> dict[str, _Language]:
    found = {}
    for code, name in _english().languages.items():
        language = _read_code(code, strict=False)
        if language is not None and code not in {"mul", "und", "zxx"}:
            found[_fold(name)] = language
    return found


@lru_cache(maxsize=1)
def _qualifiers() -> dict[str, tuple[str, str]]:
    scripts = {_fold(name): ("script", code) for code, name in _english().scripts.items()}
    regions = {_fold(name): ("region", code) for code, name in _english().territories.items()}
    return {**scripts, **regions, "simplified": ("script", "Hans"), "traditional": ("script", "Hant")}
