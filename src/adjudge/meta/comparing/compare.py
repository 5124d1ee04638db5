"""`adjudge.compare`: comparing of whatever a user has at hand, paths too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from adjudge.core.annotation import Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.language import canonical_lp
from adjudge.core.run import Run
from adjudge.core.score import Scores, SegmentScore, Signature, SystemScore
from adjudge.core.segment import TestSet
from adjudge.core.version import VERSION
from adjudge.errors import UsageError
from adjudge.meta.comparing.difference import PairedTest
from adjudge.meta.comparing.two_systems import Comparison, ComparisonSettings, Place, compare_scores
from adjudge.meta.evaluation.eval_set import EvalSet, ScoreSet
from adjudge.meta.evaluation.eval_sets import read_one
from adjudge.meta.evaluation.frame import row_means
from adjudge.meta.judgements import domains_known, read_judgements
from adjudge.scoring.score import score

__all__ = ["chosen_annotator", "compare", "read_one_annotator"]

Source = Scores | Run | Path | str


@checks_keywords()
def compare(  # noqa: PLR0913 (what can be asked for; every one has its default)
    first: Source,
    second: Source | None = None,
    *,
    systems: Sequence[str] | None = None,
    lp: str | None = None,
    gold: str | None = None,
    metric: str | None = None,
    weights: str | None = None,
    criterion: str | None = None,
    test: PairedTest = "permutation",
    by_document: bool | None = None,
    holm: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    test_set: TestSet | Path | str | None = None,
) -> Comparison:
    """Compare two runs, or two systems of one, on the segments that both were judged on.

    Args:
        first: scores, a run, or the path of a run or of records.
        second: the same; None for two systems of the first.
        systems: name of the first system and of the second; needed where there is one source.
        lp: language pair to keep; of a test set with several it must be named.
        gold: of a test set, whose path is `first`: the gold, its own or a file, whose scores count.
        metric: of a test set: the metric, its own or a file, whose scores count.
        weights: of marked errors; None for those of the run, else `mqm-google`.
        criterion: of preferences; None for the only one, else `overall`.
        test: that the p-values are of: `permutation`, `bootstrap` or `wilcoxon`.
        by_document: draw and flip whole documents, whose segments are not independent; None for documents
            where they are known.
        holm: also give corrected p-values of language pairs and domains.
        resamples: draws of the bootstrap, and random sign flips of the permutation test.
        seed: of both.
        test_set: texts, or their path, that say the domains, and that ratings without ids are about; None for
            those of a run, or of the test set that a score file lies in.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, none in common, or a setting out of its range.
    """
    settings = ComparisonSettings(
        test=test, by_document=by_document, correct=holm, resamples=resamples, seed=seed
    )
    if second is None and systems is None:
        raise UsageError("two systems of one run are compared by name: systems=(A, B); or give a second run")
    if gold is not None or metric is not None:
        if second is not None or (gold and metric) or not isinstance(first, Path | str):
            raise UsageError("gold or metric, one of them, is of a test set: give its path and two systems")
        if criterion is not None or test_set is not None:
            raise UsageError("criterion and test_set are for judgements: leave them out with gold or metric")
        of_set, places = read_one_annotator(Path(first), lp, *chosen_annotator(gold, metric), weights)
        return compare_scores(of_set, of_set, systems, settings=settings, domains=places)
    lp = None if lp is None else canonical_lp(lp)
    given = [first] if second is None else [first, second]
    sources = [_read(source, lp, test_set) for source in given]
    paths = [Path(source) for source in given if isinstance(source, Path | str)]
    domains = domains_known(sources, paths, lp, test_set)
    scoring = {"weights": weights, "lp": lp, "criterion": criterion}
    scores = [_scored(source, scoring) for source in sources]
    return compare_scores(scores[0], scores[-1], systems, settings=settings, domains=domains)


def _read(
    source: Source, lp: str | None, texts: TestSet | Path | str | None
) -> Scores | Run | Sequence[Record]:
    return source if isinstance(source, Scores | Run) else read_judgements(source, lp, texts)


def _scored(source: Scores | Run | Sequence[Record], scoring: Mapping[str, str | None]) -> Scores:
    """Score what is no scores yet.

    Raises:
        UsageError: scores, of which nothing can be chosen any more.
    """
    if not isinstance(source, Scores):
        return score(source, **scoring)
    if given := [name for name, value in scoring.items() if value is not None]:
        raise UsageError(
            f"these are scores already: give {given[0]} where they are made, score({given[0]}=...)"
        )
    return source


def chosen_annotator(gold: str | None, metric: str | None) -> tuple[Literal["gold", "metric"], str]:
    """Whose scores of a test set count: what it is, and its name.

    Raises:
        UsageError: both are given.
    """
    if gold is not None and metric is not None:
        raise UsageError("the scores are those of one annotator: give --gold or --metric, not both")
    return ("gold", gold) if gold is not None else ("metric", metric or "")


def read_one_annotator(
    test_set: Path, lp: str | None, kind: Literal["gold", "metric"], name: str, weights: str | None = None
) -> tuple[Scores, Mapping[Place, str]]:
    """Scores that one gold or one metric of a test set gave, and the domain of each segment.

    Raises:
        DataError: a file is not what it should be.
        UsageError: no such language pair, gold or metric.
    """
    found = read_one(test_set, lp, kind, name, weights)
    ((_, one),) = (found.golds or found.metrics).items()
    places = ((found.lp, segment) for segment in found.segments)
    return _scores(found, one), dict(zip(places, found.domains, strict=True))


def _scores(eval_set: EvalSet, one: ScoreSet) -> Scores:
    means, judged = row_means(one.segments), ~np.isnan(one.segments)
    notes = list(eval_set.notes)
    known = ~np.isnan(one.systems) & ~np.isnan(means)
    if not np.allclose(one.systems[known], means[known], rtol=1e-4, atol=1e-6):
        notes.append(f"System scores of {one.name} are no means of its segment scores; the means count here.")
    return Scores(
        signature=Signature(one.name, {"test_set": eval_set.name, "lp": eval_set.lp, "version": VERSION}),
        range=(-math.inf, math.inf),
        segments=tuple(
            SegmentScore(
                lp=eval_set.lp, segment=segment, system=system, score=float(value), document=document
            )
            for system, row in zip(eval_set.systems, one.segments, strict=True)
            for segment, document, value in zip(eval_set.segments, eval_set.documents, row, strict=True)
            if not math.isnan(value)
        ),
        systems=tuple(
            SystemScore(
                system=system,
                score=None if math.isnan(mean) else float(mean),
                n=int(n),
                failed=one.failed.get(system, 0),
            )
            for system, mean, n in zip(eval_set.systems, means, judged.sum(axis=1), strict=True)
        ),
        notes=tuple(notes),
    )
