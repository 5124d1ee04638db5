"""adjudge: people and language models judge machine translation, in one kind of record.

>>> import adjudge
>>> test_set = adjudge.load("test_set.jsonl", lp="en-de")  # doctest: +SKIP

Names are imported when they are first used, so that `import adjudge` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from adjudge import core

if TYPE_CHECKING:
    from adjudge import judges, metrics
    from adjudge.analysis.align import align
    from adjudge.analysis.bias import bias
    from adjudge.analysis.compare import compare
    from adjudge.analysis.estimate import estimate
    from adjudge.analysis.gate import gate
    from adjudge.analysis.meta import meta
    from adjudge.analysis.power import power
    from adjudge.analysis.rank import rank
    from adjudge.analysis.score import score
    from adjudge.analysis.spans import spans
    from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference
    from adjudge.core.segment import Segment, TestSet
    from adjudge.errors import AdjudgeError, FailedWarning
    from adjudge.formats.read import load
    from adjudge.metrics.function import metric
    from adjudge.reports.html import report
    from adjudge.runs.engines import arun, run
    from adjudge.runs.forecast import forecast
    from adjudge.store.run_directory import read_records

    __version__: str

__all__ = [
    "AdjudgeError",
    "Annotation",
    "ErrorSpan",
    "FailedWarning",
    "Failure",
    "Preference",
    "Segment",
    "TestSet",
    "align",
    "arun",
    "bias",
    "compare",
    "estimate",
    "forecast",
    "gate",
    "judges",
    "load",
    "meta",
    "metric",
    "metrics",
    "power",
    "rank",
    "read_records",
    "report",
    "run",
    "score",
    "spans",
]

_HOMES: Final = {
    name: home
    for home, names in {
        "analysis.align": "align",
        "analysis.bias": "bias",
        "analysis.compare": "compare",
        "analysis.estimate": "estimate",
        "analysis.gate": "gate",
        "analysis.meta": "meta",
        "analysis.power": "power",
        "analysis.rank": "rank",
        "analysis.score": "score",
        "analysis.spans": "spans",
        "core.record": "Annotation ErrorSpan Failure Preference",
        "core.segment": "Segment TestSet",
        "errors": "AdjudgeError FailedWarning",
        "formats.read": "load",
        "metrics.function": "metric",
        "reports.html": "report",
        "runs.engines": "arun run",
        "runs.forecast": "forecast",
        "store.run_directory": "read_records",
    }.items()
    for name in names.split()
}
"""Name to the module that has it. A test holds it to `__all__` and to what type checkers are told."""

core.renderer = lambda: importlib.import_module("adjudge.reports.notebook")

if not TYPE_CHECKING:  # a type checker knows every name from above, and reports any other

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from adjudge.core.scores import VERSION

            return VERSION
        if name in {"judges", "metrics"}:
            return importlib.import_module(f"adjudge.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
        return getattr(importlib.import_module(f"adjudge.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
