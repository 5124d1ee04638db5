"""Comparisons of marked errors as JSON."""

from __future__ import annotations

from typing import Any

from adjudge.core.score import listed
from adjudge.meta.measures.result import Result
from adjudge.meta.spans.compare import SpanComparison, SpanScore
from adjudge.meta.spans.confusion import Confusion
from adjudge.meta.spans.error_free import ErrorFree

__all__ = ["confusion_data", "error_free_data", "span_data"]


def span_data(comparison: SpanComparison, by: str | None) -> dict[str, Any]:
    """One comparison: one row is the object itself, several rows stand in it."""
    shared = {"average": comparison.average, "failed": comparison.failed}
    whole = [score for score in comparison.scores if not score.group]
    if len(whole) > 1:
        return {**shared, "scores": [_row(score) for score in comparison.scores], **_said(comparison)}
    data = {**_row(whole[0]), **shared}
    if by is not None:
        data |= {"by": by, "groups": {s.group: _row(s) for s in comparison.scores if s.group}}
    return {**data, **_said(comparison)}


def _said(found: SpanComparison | ErrorFree | Confusion) -> dict[str, Any]:
    """What is said beside the numbers."""
    return {"signature": str(found.signature), "notes": list(found.notes)}


def _row(score: SpanScore) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rule": score.rule,
        "threshold": score.threshold,
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "n_gold": score.n_gold,
        "n_pred": score.n_pred,
        "n_segments": score.n_segments,
        "unit": score.unit,
    }
    if score.group:
        data["group"] = score.group
    if score.intervals:
        data["intervals"] = {name: listed(found) for name, found in score.intervals.items()}
    return data


def error_free_data(found: ErrorFree) -> dict[str, Any]:
    """How well a run tells which translations have no errors."""
    names = ("precision", "recall", "f1", "mcc", "auc", "n_gold", "n_pred", "n", "failed")
    share = found.publishable
    kept = ("risk", "confidence", "share", "threshold", "n", "errors", "bound", "least")
    return {
        **{name: getattr(found, name) for name in names},
        "publishable": {name: getattr(share, name) for name in kept},
        **_said(found),
    }


def confusion_data(found: Confusion) -> dict[str, Any]:
    """Which severity a run gives to what gold marks; null where one side marked nothing."""
    return {
        "counts": [{"gold": gold, "run": run, "n": n} for (gold, run), n in found.counts.items()],
        "same": _result(found.same),
        "kappa": _result(found.kappa),
        "n_segments": found.n_segments,
        "failed": found.failed,
        **_said(found),
    }


def _result(found: Result) -> dict[str, Any]:
    return {"value": found.value, "interval": listed(found.interval), "n": found.n}
