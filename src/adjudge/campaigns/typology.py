"""Categories of errors that an annotator chooses from: ours, or a file's."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from adjudge.core.typology import CATEGORIES, find_category
from adjudge.data.files import read_text
from adjudge.errors import DataError

__all__ = ["OURS", "canonical_category", "read_typology"]

_NOT_CHOSEN: Final = frozenset({"non-translation"})  # said of a whole translation, not of a mark

OURS: Final[Mapping[str, str]] = {
    name: means for name, means in CATEGORIES.items() if name not in _NOT_CHOSEN
}
"""Category to what it means: all of `core.typology` but `non-translation`."""
_MOST: Final = 200
_LONGEST: Final = 100


def read_typology(path: Path) -> dict[str, str]:
    """Read categories of one's own: a TOML table `categories` of `"kind/subkind" = "what it means"`.

    Raises:
        DataError: it is no such file.
    """
    try:
        categories = tomllib.loads(read_text(path)).get("categories")
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"no TOML: {error}", path=path) from error
    if not isinstance(categories, dict) or not 0 < len(categories) <= _MOST:
        raise DataError(f"wanted a table [categories] of 1 to {_MOST} entries", path=path)
    for name, means in categories.items():
        if not isinstance(means, str) or not name.strip() or len(name) > _LONGEST or name.count("/") > 1:
            raise DataError(
                f'wanted "kind" or "kind/subkind" = "what it means", got {name!r} = {means!r}', path=path
            )
    return dict(categories)


def canonical_category(name: str) -> str:
    """Category of `core.typology` that a category of one's own is counted as; `other` where none fits."""
    kind = name.partition("/")[0]
    return find_category(name) or find_category(kind) or "other"
