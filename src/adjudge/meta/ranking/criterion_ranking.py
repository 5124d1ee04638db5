"""Rankings by criterion: what one of them is made of, and one of each, as a radar shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from adjudge.core.annotation import Record
from adjudge.core.language import canonical_lp
from adjudge.core.run import Run
from adjudge.core.score import Scores
from adjudge.errors import UsageError
from adjudge.meta.agreement.sources import Source, criteria_of, preferences_of, source_of
from adjudge.meta.ranking.preferences import OVERALL
from adjudge.meta.ranking.ranked import Ranking
from adjudge.scoring.score import DEFAULT_WEIGHTS, score

__all__ = ["rank_by_criterion", "score_for_ranking"]

_FEWEST: Final = 3  # fewer make no surface


def score_for_ranking(
    name: str,
    judged: Run | Iterable[Record],
    *,
    weights: str | None = None,
    lp: str | None = None,
    criterion: str | None = None,
) -> Scores:
    """Score as `scoring.score.score` does, but with a criterion marked errors as the preferences they make.

    Args:
        name: of the run or file.
        judged: what it holds.
        weights: name of the weights of marked errors; None for those of the run, else `mqm-google`.
        lp: language pair to keep.
        criterion: of preferences, or top category of marked MQM errors.

    Raises:
        DataError: nothing to score.
        UsageError: unknown weights, lp or criterion, or one that these records have no use for.
    """
    lp = None if lp is None else canonical_lp(lp)
    judged = judged if isinstance(judged, Run) else tuple(judged)
    source = source_of(name, judged)
    if criterion is None or not source.has_scores:
        return score(judged, weights=weights, lp=lp, criterion=criterion)
    points = weights or source.weights or DEFAULT_WEIGHTS
    made = preferences_of(replace(source, weights=points), by_criterion=True)
    scores = score(made, lp=lp, criterion=criterion)
    within = f"Preferences on {criterion} are made of errors, each annotator's on their own."
    signature = scores.signature.with_fields(weights=points)
    return replace(scores, signature=signature, notes=(*scores.notes, within))


def rank_by_criterion(source: Source, rank: Callable[..., Ranking]) -> dict[str, Ranking]:
    """Rank the systems on each criterion of preferences, or of marked MQM errors (`preferences`).

    `overall` is left out where there are three others.

    Args:
        source: one run or file.
        rank: `meta.ranking.rank.rank` with its settings, a method of comparisons among them.

    Raises:
        UsageError: there are fewer than three criteria.
    """
    made = preferences_of(source, by_criterion=source.has_scores)
    criteria = criteria_of(made)
    others = [c for c in criteria if c != OVERALL]
    chosen = others if len(others) >= _FEWEST else criteria
    if len(chosen) < _FEWEST:
        found = ", ".join(chosen) or "none"
        raise UsageError(f"a radar needs {_FEWEST} criteria or more; {source.name} has {found}")
    return {criterion: rank(score(made, criterion=criterion)) for criterion in chosen}
