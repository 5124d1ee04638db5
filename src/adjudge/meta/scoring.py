"""`adjudge.score`: scoring of whatever a user has at hand, a path too; `scoring/` itself reads no files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adjudge.core.annotation import Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.run import Run
from adjudge.core.score import Scores
from adjudge.core.typology import Weights
from adjudge.data.run_dir import read_judged
from adjudge.scoring.score import score as score_judged

__all__ = ["score"]


@checks_keywords()
def score(
    run_or_records: Run | Iterable[Record] | Path | str,
    *,
    weights: str | Weights | None = None,
    lp: str | None = None,
    criterion: str | None = None,
) -> Scores:
    """Score a run, records, or the path of either; see `scoring.score.score`."""
    judged = read_judged(run_or_records) if isinstance(run_or_records, str | Path) else run_or_records
    return score_judged(judged, weights=weights, lp=lp, criterion=criterion)
