"""Names of systems, segments, documents and annotators: what is one name, and what only looks like it.

Two names are one if they are equal in Unicode's form NFC and without blanks around them. Names that differ in
case, in invisible characters, or in letters of another script that look the same are kept apart, and
`look_alikes` tells of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from adjudge.errors import DataError

V = TypeVar("V")

_SCRIPTS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look like those of another one; a word has one of them."""
_LATIN: Final = str.maketrans("авекмнорстухіјѕαβεηικμνορτυχ", "abekmhopctyxijsabehikmvoptyx")
"""Small letters of Cyrillic and Greek, and of Latin those that look like them or like their capitals."""


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: white space, and Unicode's control and format characters."""
    return all(char.isspace() or unicodedata.category(char) in {"Cc", "Cf"} for char in text)


@lru_cache(1 << 16)
def _plain(text: str) -> str:
    name = unicodedata.normalize("NFC", text).strip()
    return "" if is_blank(name) else name


def as_name(text: str, what: str = "name", path: object = None, line: int | None = None) -> str:
    """A name as it is kept: in form NFC, without blanks around it. An empty document is none."""
    if not (name := _plain(text)) and (text or what != "document"):
        raise DataError(f"the {what} is empty: a name was wanted, got {text!a}", path=path, line=line)
    return name


def by_name(
    values: Mapping[str, V], what: str = "system", path: object = None, line: int | None = None
) -> dict[str, V]:
    found = {as_name(text, what, path, line): value for text, value in values.items()}
    if len(found) < len(values):
        names = [as_name(text) for text in values]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the {what} {twice!r} stands twice, spelled in two ways: keep one"
        raise DataError(message, path=path, line=line)
    return found


KEPT: Final[set[str]] = set()
"""Names that were seen and are as they are kept: a file has millions of records, and few names."""


def keep_names(named: object, **kinds: str) -> None:
    """Keep the names of something that is made as `as_name` has them."""
    for field, what in kinds.items():
        said = getattr(named, field)
        if KEPT.issuperset((said,) if isinstance(said, str) else said):
            continue
        if isinstance(said, str):
            kept: object = (name := as_name(said, what))
            KEPT.update({name} - {""})
        elif isinstance(said, Mapping):
            kept = by_name(said, what)
            KEPT.update(kept)
        else:
            kept = tuple(as_name(each, what) for each in said)
        if kept != said:
            object.__setattr__(named, field, kept)


def look_alikes(names: Iterable[str], what: str) -> Iterator[str]:
    """Say which names are apart though they look alike, and which mix scripts within a word."""
    seen: dict[str, str] = {}
    told: set[str] = set()
    every = dict.fromkeys(names)
    for name in every:
        first = seen.setdefault(name.lower() if name.isascii() else _skeleton(name), name)
        if first != name:
            told |= {first, name}
            yield f"two {what}s look alike and are kept apart: {_shown(first)} and {_shown(name)}"
    for name in every:
        if name not in told and not name.isascii() and any(map(_mixes, re.findall(r"[^\W_]+", name))):
            yield f"the {what} {_shown(name)} mixes letters of several scripts in a word"


def _skeleton(name: str) -> str:
    visible = "".join(char for char in name.casefold() if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFC", visible).strip().translate(_LATIN)


def _mixes(word: str) -> bool:
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word if char.isalpha()}
    return len(scripts & _SCRIPTS) > 1


def _shown(name: str) -> str:
    return repr(name) if ascii(name) == repr(name) else f"{name!r} ({name!a})"
