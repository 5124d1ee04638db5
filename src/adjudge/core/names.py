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

__all__ = ["KEPT", "as_name", "by_name", "is_blank", "keep_names", "look_alikes", "name_at"]

V = TypeVar("V")

_SCRIPTS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts with letters that look like those of another one; a word has one of them."""
_LATIN: Final = str.maketrans("авекмнорстухіјѕαβεηικμνορτυχ", "abekmhopctyxijsabehikmvoptyx")
"""Small letters of Cyrillic and Greek, and of Latin those that look like them or like their capitals."""


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: white space, and Unicode's control and format characters."""
    return all(char.isspace() or unicodedata.category(char) in {"Cc", "Cf"} for char in text)


@lru_cache(1 << 16)
def as_name(text: str, what: str = "name") -> str:
    """A name as it is kept: in form NFC, without blanks around it.

    Args:
        text: as somebody wrote it.
        what: is named, for errors.

    Raises:
        DataError: a reader sees nothing of it.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if is_blank(name):
        raise DataError(f"the {what} is empty: a name was wanted, got {text!a}")
    return name


def by_name(values: Mapping[str, V], what: str = "system") -> dict[str, V]:
    """What is said of each name.

    Raises:
        DataError: a name is empty, or two are one.
    """
    found: dict[str, V] = {}
    for text, value in values.items():
        if (name := as_name(text, what)) in found:
            raise DataError(f"the {what} {name!r} stands twice, spelled in two ways: keep one")
        found[name] = value
    return found


def name_at(text: str, what: str, path: object, line: int | None) -> str:
    """The same as `as_name`, of what stands in a line of a file; an empty document is none.

    Raises:
        DataError: a reader sees nothing of it; says where.
    """
    try:
        return as_name(text, what) if text or what != "document" else text
    except DataError as error:
        raise DataError(error.message, path=path, line=line) from None


KEPT: Final[set[str]] = set()
"""Names that were seen and are as they are kept: a file has millions of records, and few names."""


def keep_names(named: object, *kinds: str) -> None:
    """Keep the names of something that is made as `as_name` has them; an empty document is none."""
    for kind in kinds:
        text: str = getattr(named, kind)
        if (name := name_at(text, kind, None, None)) != text:
            object.__setattr__(named, kind, name)
        KEPT.update({name} - {""})


def look_alikes(names: Iterable[str], what: str) -> Iterator[str]:
    """Say which names are apart though they look alike, and which mix scripts within a word."""
    seen: dict[str, str] = {}
    told: set[str] = set()
    for name in dict.fromkeys(names):
        first = seen.setdefault(name.lower() if name.isascii() else _skeleton(name), name)
        if first != name:
            told |= {first, name}
            yield f"two {what}s look alike and are kept apart: {_shown(first)} and {_shown(name)}"
    for name in dict.fromkeys(names):
        if name not in told and not name.isascii() and any(map(_mixes, re.findall(r"[^\W_]+", name))):
            yield f"the {what} {_shown(name)} mixes letters of several scripts in a word"


def _skeleton(name: str) -> str:
    """What names that look alike have in common."""
    visible = "".join(char for char in name.casefold() if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFC", visible).strip().translate(_LATIN)


def _mixes(word: str) -> bool:
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word if char.isalpha()}
    return len(scripts & _SCRIPTS) > 1


def _shown(name: str) -> str:
    return repr(name) if ascii(name) == repr(name) else f"{name!r} ({name!a})"
