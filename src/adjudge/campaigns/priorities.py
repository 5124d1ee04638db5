"""Where metrics disagree most: translations that people should see first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.score import Scores
from adjudge.errors import DataError, UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.tasks import Priorities

__all__ = ["disagreement"]

_Key = tuple[str, str, str]


def disagreement(metrics: Sequence[Scores]) -> Priorities:
    """Spread of each translation's scores: the standard deviation over metrics of its z-scores.

    Scores are standardised by metric, over all translations that it scored, so that scales do not matter.
    Translations that fewer than two metrics scored are left out: nothing is known of them.

    Args:
        metrics: two or more.

    Raises:
        UsageError: fewer than two metrics.
        DataError: no translation has two scores.
    """
    if len(metrics) < 2:
        raise UsageError(f"disagreement needs the scores of two metrics or judges, got {len(metrics)}")
    found: defaultdict[_Key, list[float]] = defaultdict(list)
    for scores in metrics:
        for key, value in _standardised(scores).items():
            found[key].append(value)
    spreads = {key: float(np.std(values)) for key, values in found.items() if len(values) > 1}
    if not spreads:
        raise DataError("no translation is scored by two of the metrics: are they of one test set?")
    return spreads


def _standardised(scores: Scores) -> dict[_Key, float]:
    known = {(s.lp, s.segment, s.system): s.score for s in scores.segments if s.score is not None}
    values = np.array(list(known.values()))
    spread = float(values.std()) if len(values) else 0.0
    standard = (values - values.mean()) / spread if spread else np.zeros(len(values))
    return dict(zip(known, standard.tolist(), strict=True))
