"""Which severity a run gives to the errors that gold marks, and what either side alone marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Unpack

import numpy as np

from adjudge.core.annotation import Record
from adjudge.core.run import Run
from adjudge.core.score import Signature
from adjudge.core.typology import SEVERITIES, Severity
from adjudge.meta.agreement.estimate import Draws, mean_of
from adjudge.meta.agreement.kappa import cohen_kappa
from adjudge.meta.measures.result import Result
from adjudge.meta.ranking.comparisons import numbered
from adjudge.meta.spans.compare import pair_marks
from adjudge.meta.spans.marks import Mark, shares
from adjudge.meta.spans.matching import best_pairs
from adjudge.meta.spans.pairing import Paired, keep_common, signature_of
from adjudge.meta.spans.settings import MarkOptions, Settings
from adjudge.meta.spans.views import views_of

__all__ = ["Confusion", "severity_confusion", "severity_confusions"]

_RULE: Final = "mp"
_TOLD: Final = ("rule", "severities", "resamples", "seed")
_MEETING: Final = "Marks meet where they share something, one-to-one; severity has no part in that."
_NOTHING: Final = "no mark of gold meets one of the run"


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Marks of a run beside those of gold.

    Args:
        counts: severity in gold and in the run, to how many marks; None where one side marked nothing.
        severities: that are marked by either side, the gravest first.
        same: share of marks that both sides marked which have one severity.
        kappa: Cohen's, of their severities.
        n_segments: translations that both judged.
        failed: translations that gold judged and whose judgement in the run failed.
        signature: what makes the numbers repeatable.
        notes: what a reader must know.
    """

    counts: Mapping[tuple[Severity | None, Severity | None], int]
    severities: tuple[Severity, ...]
    same: Result
    kappa: Result
    n_segments: int
    failed: int
    signature: Signature
    notes: tuple[str, ...] = ()


def severity_confusion(
    run: Run | Iterable[Record] | Path | str,
    gold: Run | Iterable[Record] | Path | str,
    **options: Unpack[MarkOptions],
) -> Confusion:
    """Count which severity a run gives to what gold marks.

    Marks meet as under the rule `mp`: on the same side, where they share anything, one-to-one, and so that
    they share most; marks without a place meet those with the same words. Severity has no part in that. The
    share of equal severities is not corrected for chance, kappa is; both are of marks that meet, with
    intervals over segments.

    Args:
        run: a run or its directory, records or their file, an MQM TSV, or a `.seg.rating`.
        gold: the same.
        options: as `MarkOptions` describes them.

    Raises:
        DataError: nothing was judged by both.
        UsageError: a setting out of its range; records that mark nothing.
    """
    (found,) = severity_confusions({"run": run}, gold, **options).values()
    return found


def severity_confusions(
    runs: Mapping[str, Run | Iterable[Record] | Path | str],
    gold: Run | Iterable[Record] | Path | str,
    **options: Unpack[MarkOptions],
) -> dict[str, Confusion]:
    """The same of several runs, on the translations that all of them judged."""
    settings = Settings(**options, rule=_RULE)
    paired = {name: pair_marks(run, gold, settings) for name, run in runs.items()}
    return {name: _counted(found, settings) for name, found in keep_common(paired).items()}


def _counted(paired: Paired, settings: Settings) -> Confusion:
    counts: Counter[tuple[Severity | None, Severity | None]] = Counter()
    met: list[tuple[tuple[str, str], Mark, Mark]] = []
    views = views_of(paired.both, "characters", frozenset(settings.severities), by_words=False)
    for view in views:
        pairs = best_pairs(view.gold, view.pred, _shared)
        met += (((view.key.lp, view.key.segment), *pair) for pair in pairs)
        golds, preds = (Counter(mark.severity for mark in marks) for marks in (view.gold, view.pred))
        for one, other in pairs:
            counts[one.severity, other.severity] += 1
            golds[one.severity] -= 1
            preds[other.severity] -= 1
        counts.update({(severity, None): n for severity, n in golds.items()})
        counts.update({(None, severity): n for severity, n in preds.items()})
    return Confusion(
        counts=+counts,
        severities=tuple(s for s in reversed(SEVERITIES) if any(n and s in key for key, n in counts.items())),
        **_agreement(met, settings),
        n_segments=len(paired.both),
        failed=paired.failed,
        signature=signature_of(paired, {name: settings.told[name] for name in _TOLD}),
        notes=(*paired.notes, _MEETING),
    )


def _shared(one: Mark, other: Mark) -> float:
    return sum(shares(one, other)) / 2


def _agreement(met: Sequence[tuple[tuple[str, str], Mark, Mark]], settings: Settings) -> dict[str, Result]:
    """Share of equal severities, and kappa, of the marks that meet."""
    draws = Draws(
        groups=numbered([segment for segment, _, _ in met]), resamples=settings.resamples, seed=settings.seed
    )
    codes = np.array([[SEVERITIES.index(m.severity) for m in pair] for _, *pair in met], dtype=np.float64)
    gold, pred = codes.reshape(len(met), 2).T
    kappa = cohen_kappa(gold, pred, draws)
    if not met:
        kappa = replace(kappa, reason=_NOTHING)
    return {"same": mean_of((gold == pred).astype(np.float64), draws, _NOTHING), "kappa": kappa}
