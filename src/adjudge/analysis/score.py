"""`adjudge.score`: scoring of whatever a user has at hand, a path too; `scoring/` itself reads no files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adjudge.analysis.compare import chosen_annotator, read_one_annotator
from adjudge.analysis.judgements import read_scores, refuse_texts
from adjudge.analysis.segment_scores import score_records as score_judged
from adjudge.core.judge import checks_keywords
from adjudge.core.record import Record
from adjudge.core.scores import Run, Scores
from adjudge.core.segment import TestSet
from adjudge.core.typology import Weights
from adjudge.errors import UsageError

__all__ = ["score"]


@checks_keywords()
def score(  # noqa: PLR0913 (what can be asked for; every one has its default)
    run_or_records: Run | Iterable[Record] | Path | str,
    *,
    weights: str | Weights | None = None,
    lp: str | None = None,
    criterion: str | None = None,
    gold: str | None = None,
    metric: str | None = None,
    test_set: TestSet | Path | str | None = None,
) -> Scores:
    """Score a run, records, or the path of whatever holds judgements, as `score_records` does.

    Args:
        run_or_records: what was judged; the path of a test set with gold or metric.
        weights: of marked errors, or their name; None for those of the run, else `mqm-google`.
        lp: language pair to keep.
        criterion: of preferences.
        gold: of a test set: the gold, its own or a file, whose scores are wanted.
        metric: the same of a metric.
        test_set: texts, or their path, that ratings without ids are about; for the path of such a file.

    Raises:
        DataError: nothing to score.
        UsageError: an option that what is scored has no use for.
    """
    if gold is not None or metric is not None:
        if (
            not isinstance(run_or_records, str | Path)
            or criterion is not None
            or test_set is not None
            or isinstance(weights, Weights)
        ):
            raise UsageError(
                "gold or metric is of a test set: give its path, weights by name, "
                "no criterion and no test_set"
            )
        return read_one_annotator(Path(str(run_or_records)), lp, *chosen_annotator(gold, metric), weights)[0]
    if isinstance(run_or_records, str | Path):
        return read_scores(run_or_records, weights=weights, lp=lp, criterion=criterion, texts=test_set)
    refuse_texts(test_set)
    return score_judged(run_or_records, weights=weights, lp=lp, criterion=criterion)
