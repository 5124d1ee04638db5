"""Segments of a large page, compressed within it: a browser takes them apart again without asking anybody.

Blocks of JSON, each compressed on its own (zlib), in base64, which holds no character that markup knows. So
compressing goes on beside describing, on two cores.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Final

import orjson

from adjudge.core.segment import Segment

__all__ = ["is_large", "packed_blocks", "size_of"]

_LARGE: Final = 4_000_000  # characters of texts; a smaller page is plain text that anybody can search
_BLOCK: Final = 1000  # segments
_LEVEL: Final = 3
_LARGEST: Final = 28_000_000  # characters from which the file would not stay below 20 MB
_HIGHEST: Final = 6  # level for these: twice the time for one part in eleven


def size_of(segments: Iterable[Segment]) -> int:
    """Characters of all sources and translations."""
    return sum(len(s.source) + sum(map(len, s.translations.values())) for s in segments)


def is_large(size: int) -> bool:
    """Whether a page of so many characters is packed."""
    return size > _LARGE


def packed_blocks(segments: Iterable[Mapping[str, Any]], size: int = 0) -> Iterator[str]:
    """Blocks of segments as text, in order.

    Args:
        segments: as the script of the page reads them, thin.
        size: characters of their texts.
    """
    rows, level = iter(segments), _HIGHEST if size > _LARGEST else _LEVEL
    with ThreadPoolExecutor(1) as beside:
        blocks = iter(lambda: _json([*islice(rows, _BLOCK)]), b"[]")
        found = [beside.submit(_packed, block, level) for block in blocks]
        for each in found:
            yield each.result()


def _packed(block: bytes, level: int) -> str:
    return base64.b64encode(zlib.compress(block, level)).decode("ascii")


def _json(rows: list[Mapping[str, Any]]) -> bytes:
    """JSON as UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes an escape."""
    try:
        return orjson.dumps(rows)
    except TypeError:
        import json

        return json.dumps(rows, allow_nan=False, separators=(",", ":")).encode("ascii")
