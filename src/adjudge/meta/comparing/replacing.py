"""`adjudge.gate`: may a candidate take the baseline's place? Of whatever a user has at hand, paths too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from adjudge.core.annotation import Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.language import canonical_lp
from adjudge.core.run import Run
from adjudge.core.segment import TestSet
from adjudge.data.load import load
from adjudge.errors import UsageError
from adjudge.meta.comparing.compare import chosen_annotator, read_one_annotator
from adjudge.meta.comparing.gate import Gate, GateSettings, gate_scores
from adjudge.meta.comparing.two_systems import Place
from adjudge.meta.judgements import domains_of, read_judgements
from adjudge.scoring.repeats import without_repeats
from adjudge.scoring.score import score

__all__ = ["Judged", "Scoring", "gate", "gate_judged", "gate_test_set", "old_and_new"]

Judged = Run | Sequence[Record]
Scoring = Mapping[str, str | None]
"""Weights, lp and criterion, as `scoring.score` takes them."""


@checks_keywords()
def gate(  # noqa: PLR0913 (what can be asked for; every one but the margin has its default)
    baseline: Judged | Path | str,
    candidate: Judged | Path | str | None = None,
    *,
    margin: float,
    systems: Sequence[str] | None = None,
    lp: str | None = None,
    gold: str | None = None,
    metric: str | None = None,
    test_set: TestSet | Path | str | None = None,
    weights: str | None = None,
    criterion: str | None = None,
    domain_margin: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    by_document: bool | None = None,
    unseen: Literal["scale", "seen"] = "scale",
    scale: tuple[float, float] | None = None,
    more_critical: int = 0,
    critical_alpha: float | None = None,
    max_failed: float = 0.01,
    any_signature: bool = False,
) -> Gate:
    """Say whether a candidate may replace the baseline; see `gate.gate_scores`.

    Args:
        baseline: a run or records of what is in use, or the path of either; a test set with gold or metric.
        candidate: the same of what would replace it; None for a system of the baseline's.
        margin: so much lower a mean is still as good; in the units of the scores.
        systems: the baseline's and the candidate's; needed where there is one source.
        lp: language pair to keep; of a test set with several it must be named.
        gold: of a test set, whose path is `baseline`: the gold, its own or a file, whose scores count.
        metric: of a test set: the metric, its own or a file, whose scores count.
        test_set: texts that say the domains; else a run's own.
        weights: of marked errors; None for those of the run, else `mqm-google`.
        criterion: of preferences; None for the only one, else `overall`.
        domain_margin: margin of each language pair and domain; None for `margin`.
        alpha: chance, at most, of each wrong verdict.
        power: chance to decide that the number of further segments is for.
        by_document: documents vary as wholes; None for documents where they are known.
        unseen: how bad a segment may be that nobody saw: `scale`, as the scores' range allows, where it is
            known; `seen`, as the worst seen.
        scale: lowest and highest score; None for the range that the scores state.
        more_critical: in so many more segments than the baseline the candidate may have critical errors.
        critical_alpha: chance, at most, that critical errors veto a candidate that has no more of them; None
            for alpha.
        max_failed: share of segments that may lack a score on either side.
        any_signature: compare what different judges or settings judged.

    Raises:
        DataError: nothing is judged in both.
        UsageError: no such system, one system as both, scores of different signatures, or a setting out of
            its range.
    """
    settings = GateSettings(
        margin=margin,
        domain_margin=domain_margin,
        alpha=alpha,
        power=power,
        by_document=by_document,
        unseen=unseen,
        scale=scale,
        more_critical=more_critical,
        critical_alpha=critical_alpha,
        max_failed=max_failed,
        any_signature=any_signature,
    )
    paths = [Path(side) for side in (baseline, candidate) if isinstance(side, Path | str)]
    is_one = candidate is None or candidate is baseline or (len(paths) == 2 and paths[0] == paths[1])
    chosen = old_and_new(systems, is_one=is_one)
    if gold is not None or metric is not None:
        is_alone = candidate is None and test_set is None and criterion is None
        if not is_alone or (gold and metric) or not isinstance(baseline, Path | str):
            raise UsageError(
                "gold or metric, one of them, is of a test set: its path is the baseline, and candidate, "
                "test_set and criterion are left out"
            )
        return gate_test_set(Path(baseline), lp, (gold, metric), chosen or (), settings, weights)
    lp = None if lp is None else canonical_lp(lp)
    old = read_judgements(baseline, lp) if isinstance(baseline, Path | str) else baseline
    new = old if candidate is None else candidate
    new = read_judgements(new, lp) if isinstance(new, Path | str) else new
    texts = load(test_set, lp) if isinstance(test_set, Path | str) else test_set
    domains = None if texts is None else {(s.lp, s.segment): s.domain for s in texts}
    scoring = {"weights": weights, "lp": lp, "criterion": criterion}
    return gate_judged((old, new), chosen, scoring, settings=settings, domains=domains)


def old_and_new(systems: Sequence[str] | None, *, is_one: bool) -> Sequence[str] | None:
    """Check the names of the two systems.

    Args:
        systems: the baseline's and the candidate's; None where each side has its own.
        is_one: whether both sides are one run or file.

    Raises:
        UsageError: there are not two, or one is named twice, or none where one run has both.
    """
    if systems is None:
        if is_one:
            raise UsageError("baseline and candidate are one: name both systems with --systems OLD,NEW")
        return None
    if len(systems) != 2:
        got = ",".join(systems)
        raise UsageError(f"--systems takes the baseline's and the candidate's, as OLD,NEW; got {got!r}")
    if is_one and systems[0] == systems[1]:
        raise UsageError(f"--systems names {systems[0]!r} twice: the candidate must be another system")
    return systems


def gate_judged(
    judged: tuple[Judged, Judged],
    systems: Sequence[str] | None,
    scoring: Scoring,
    *,
    settings: GateSettings,
    domains: Mapping[Place, str] | None = None,
) -> Gate:
    """Decide on two runs, or lists of records, or two systems of one.

    Args:
        judged: of the baseline and of the candidate; may be the same.
        systems: of the baseline and of the candidate; None where each side has its own.
        scoring: how they are scored.
        settings: what is asked.
        domains: of segments; None for those that the runs say.
    """
    if domains is None:
        domains = {place: name for each in judged for place, name in domains_of(each)}
    old, new = judged if systems is None else _compared(judged, {*systems})
    candidate, baseline = (score(each, **scoring) for each in (new, old))
    records = [without_repeats(_records(each))[0] for each in (new, old)]
    return gate_scores(
        candidate,
        baseline,
        (records[0], records[1]),
        None if systems is None else (systems[1], systems[0]),
        settings=settings,
        domains=domains,
    )


def gate_test_set(
    path: Path,
    lp: str | None,
    annotators: tuple[str | None, str | None],
    systems: Sequence[str],
    settings: GateSettings,
    weights: str | None = None,
) -> Gate:
    """Decide on the scores that one gold or one metric of a test set gave to two of its systems.

    Args:
        path: of the test set.
        lp: language pair; needed where it has several.
        annotators: the gold and the metric, one of them None.
        systems: of the baseline and of the candidate.
        settings: what is asked.
        weights: of marked errors.
    """
    scores, domains = read_one_annotator(path, lp, *chosen_annotator(*annotators), weights)
    return gate_scores(scores, scores, None, (*reversed(systems),), settings=settings, domains=domains)


def _compared(judged: tuple[Judged, Judged], names: set[str]) -> tuple[Judged, Judged]:
    """What was judged of two systems, so that notes tell of no other.

    Comparisons stay, for their points are of all that was compared. So does everything where one of the two
    is missing: what there is instead will be said.
    """
    if names - {name for each in judged for r in _records(each) for name in r.systems}:
        return judged
    return _kept(judged[0], names), _kept(judged[1], names)


def _kept(judged: Judged, names: set[str]) -> Judged:
    records = tuple(r for r in _records(judged) if r.protocol == "pairwise" or names & {*r.systems})
    return replace(judged, records=records) if isinstance(judged, Run) else records


def _records(judged: Judged) -> Sequence[Record]:
    return judged.records if isinstance(judged, Run) else judged
