"""adjudge: people and language models judge machine translation, in one kind of record.

>>> import adjudge
>>> test_set = adjudge.load("test_set.jsonl", lp="en-de")  # doctest: +SKIP

Names are imported when they are first used, so that `import adjudge` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Preference
    from adjudge.core.segment import Segment, TestSet
    from adjudge.data.load import load
    from adjudge.data.records import read_records

__all__ = [
    "AdjudgeError",
    "Annotation",
    "ErrorSpan",
    "Failure",
    "Preference",
    "Segment",
    "TestSet",
    "load",
    "read_records",
]

_HOMES: Final = {
    "Annotation": "adjudge.core.annotation",
    "ErrorSpan": "adjudge.core.annotation",
    "Failure": "adjudge.core.annotation",
    "Preference": "adjudge.core.annotation",
    "Segment": "adjudge.core.segment",
    "TestSet": "adjudge.core.segment",
    "load": "adjudge.data.load",
    "read_records": "adjudge.data.records",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any public name)
    """Import a public name from its home."""
    if name == "__version__":
        from importlib.metadata import version

        return version("adjudge")
    if name not in _HOMES:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
