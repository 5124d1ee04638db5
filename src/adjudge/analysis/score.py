"""`score`: whatever a user has as scores; every verb that compares systems reads its sources here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adjudge.analysis.eval_set import EvalSet, ScoreSet, row_means
from adjudge.analysis.eval_set_files import read_one
from adjudge.analysis.preferences import preferences_of
from adjudge.analysis.segment_scores import DEFAULT_WEIGHTS, score_records
from adjudge.core.mqm import Weights
from adjudge.core.record import Record
from adjudge.core.scores import VERSION, Run, Scores, SegmentScore, Signature, SystemScore
from adjudge.core.segment import TestSet
from adjudge.core.verb import OneAnnotator, Scoring, takes
from adjudge.errors import UsageError
from adjudge.formats.read import Judgements, load, read_judgements

__all__ = ["Place", "Scored", "Source", "domains_of", "is_same_file", "score", "score_judgements", "scored"]

Place = tuple[str, str]
"""Language pair and id of a segment."""

Source = Scores | Judgements | Run | Iterable[Record] | Path | str
"""What scores are taken from, or made of."""


@takes(OneAnnotator)
def score(source: Source, settings: OneAnnotator) -> Scores:
    """Score judgements: errors by weights, preferences into win rates, ratings as they are.

    Args:
        source: a run, records, a data frame, or the path of whatever holds judgements; the path of a test set
            with gold or metric.
        settings: which judgements, and how.

    Raises:
        DataError: nothing to score.
        UsageError: a setting that the source has no use for.
    """
    return scored(source, settings, needed=True).scores


class Scored(NamedTuple):
    """A source and its scores.

    Args:
        scores: of its systems and segments.
        domains: language pair and id of each segment to its domain; empty where no texts are known.
        judgements: that were scored; None for scores, and for those of a test set.
    """

    scores: Scores
    domains: Mapping[Place, str]
    judgements: Judgements | None = None


def scored(
    source: Source, settings: Scoring, *, needed: bool = False, errors_as_preferences: bool = False
) -> Scored:
    """Read a source and score it.

    Args:
        source: as `score` takes it; scores are taken as they are.
        settings: which judgements, and how.
        needed: refuse a test set that the source has no use for.
        errors_as_preferences: with a criterion, score marked errors as the preferences that they make.

    Raises:
        DataError: nothing to score.
        UsageError: a setting that the source has no use for.
    """
    if isinstance(settings, OneAnnotator) and settings.is_of_test_set:
        return _of_test_set(source, settings)
    texts = settings.test_set
    if isinstance(source, Scores):
        for name in ("weights", "lp", "criterion"):
            if getattr(settings, name) is not None:
                raise UsageError(
                    f"these are scores already: give {name} where they are made, score({name}=...)"
                )
        if texts is not None and needed:
            raise UsageError("test_set is for the path of ratings without ids: leave it out with scores")
        return Scored(source, {} if texts is None else domains_of(texts, None))
    judgements = read_judgements(source, settings.lp, texts, needed=needed).warn()
    domains = judgements.domains if texts is None else domains_of(texts, settings.lp)
    made = score_judgements(judgements, settings, errors_as_preferences=errors_as_preferences)
    return Scored(made, domains, judgements)


def score_judgements(
    judgements: Judgements, settings: Scoring, *, errors_as_preferences: bool = False
) -> Scores:
    """Score what was read; see `scored`."""
    judged = judgements.run or judgements.records
    if errors_as_preferences and settings.criterion is not None:
        kept = judgements.of_one_kind(None)
        if kept.has_scores:
            return _errors_as_preferences(kept, settings)
    return score_records(judged, weights=settings.weights, lp=settings.lp, criterion=settings.criterion)


def _errors_as_preferences(judgements: Judgements, settings: Scoring) -> Scores:
    points = settings.weights or judgements.weights or DEFAULT_WEIGHTS
    made = preferences_of(judgements, by_criterion=True, weights=points)
    scores = score_records(made, lp=settings.lp, criterion=settings.criterion)
    within = f"Preferences on {settings.criterion} are made of errors, each annotator's on their own."
    name = points.name if isinstance(points, Weights) else points
    signature = scores.signature.with_fields(weights=name)
    return replace(scores, signature=signature, notes=(*scores.notes, within))


def is_same_file(first: Any, second: Any) -> bool:  # noqa: ANN401 (any source)
    """Whether two sources are one object, or one file however each path is spelled."""
    if isinstance(first, Path | str) and isinstance(second, Path | str):
        return Path(first).resolve() == Path(second).resolve()
    return first is second


def domains_of(texts: TestSet | Path | str, lp: str | None) -> Mapping[Place, str]:
    """Return the domain of each segment of a test set, or of its path."""
    known = load(texts, lp) if isinstance(texts, Path | str) else texts
    return {(s.lp, s.segment): s.domain for s in known}


# Scores that one gold or one metric of a test set gave.


def _of_test_set(source: Source, settings: OneAnnotator) -> Scored:
    if not isinstance(source, str | Path) or isinstance(settings.weights, Weights):
        raise UsageError(
            "gold or metric is of a test set: give the path of the test set, and weights by name"
        )
    kind, name = ("metric", settings.metric) if settings.gold is None else ("gold", settings.gold)
    found = read_one(source, settings.lp, kind, name or "", settings.weights)  # type: ignore[arg-type]
    ((_, one),) = (found.golds or found.metrics).items()
    places = ((found.lp, segment) for segment in found.segments)
    return Scored(_scores(found, one), dict(zip(places, found.domains, strict=True)))


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
