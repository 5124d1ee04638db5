"""adjudge: people and language models judge machine translation, in one kind of record.

>>> import adjudge
>>> test_set = adjudge.load("test_set.jsonl", lp="en-de")  # doctest: +SKIP

Names are imported when they are first used, so that `import adjudge` stays quick.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Final

from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge import judges, metrics
    from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Preference
    from adjudge.core.segment import Segment, TestSet
    from adjudge.data.load import load
    from adjudge.data.records import read_records
    from adjudge.meta.bias.biases import bias
    from adjudge.meta.comparing.compare import compare
    from adjudge.meta.comparing.replacing import gate
    from adjudge.meta.evaluation.meta import meta
    from adjudge.meta.ranking.rank import rank
    from adjudge.meta.scoring import score
    from adjudge.meta.spans.compare import spans
    from adjudge.report.html import report
    from adjudge.runs.forecast import forecast
    from adjudge.runs.run import arun, run

__all__ = [
    "AdjudgeError",
    "Annotation",
    "ErrorSpan",
    "Failure",
    "Preference",
    "Segment",
    "TestSet",
    "arun",
    "bias",
    "compare",
    "forecast",
    "gate",
    "judges",
    "load",
    "meta",
    "metrics",
    "rank",
    "read_records",
    "report",
    "run",
    "score",
    "spans",
]

_HOMES: Final = {
    "Annotation": "core.annotation",
    "ErrorSpan": "core.annotation",
    "Failure": "core.annotation",
    "Preference": "core.annotation",
    "Segment": "core.segment",
    "TestSet": "core.segment",
    "arun": "runs.run",
    "bias": "meta.bias.biases",
    "compare": "meta.comparing.compare",
    "forecast": "runs.forecast",
    "gate": "meta.comparing.replacing",
    "load": "data.load",
    "rank": "meta.ranking.rank",
    "read_records": "data.records",
    "run": "runs.run",
    "score": "meta.scoring",
    "spans": "meta.spans.compare",
}
_ROOMS: Final = {"judges", "meta", "metrics", "report"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any public name)
    """Import a public name from its home."""
    if name == "__version__":
        from adjudge.core.version import VERSION

        return VERSION
    if name in _ROOMS:
        return importlib.import_module(f"adjudge.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    return getattr(importlib.import_module(f"adjudge.{_HOMES[name]}"), name)


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 (IPython's, which we do not import)
    """Have a notebook show runs, records and results as HTML: `%load_ext adjudge`; see docs/notebooks.md."""
    from adjudge.report.notebook import register

    register(shell)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    load_ipython_extension(_shell)
