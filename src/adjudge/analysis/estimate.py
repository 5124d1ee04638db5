"""Systems' means and differences on gold's scale, from many scores of a judge and few of gold.

The statistics are in `stats.few_labels`; here they get their samples, and systems their ranks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Annotated, Final, Literal

import numpy as np

from adjudge.analysis.eval_set import count_strangers
from adjudge.analysis.preferences import numbered
from adjudge.analysis.score import Place, Source, scored, together
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.record import grouped, rows_by_pair
from adjudge.core.scores import INTERVAL, Interval, Scores, Signature
from adjudge.core.verb import Option, Scoring, Seed, settings, takes
from adjudge.core.wording import count, form, of_sight
from adjudge.errors import DataError, UsageError
from adjudge.stats.few_labels import LEAST, SAFE, Estimate, Sample, Target, estimate_mean

Values = Mapping[Place, float]
Drawn = Literal["segments", "documents"]
"""What was drawn at random for labelling."""


@settings
class EstimateSettings(Scoring):
    """What the intervals are for, and what was drawn."""

    target: Annotated[Target, Option(help="Make intervals for this test set, or for all similar texts.")] = (
        "test-set"
    )
    drawn: Annotated[
        Drawn | None, Option(help="Unit that was drawn for labelling; default: detected from the labels.")
    ] = None
    by_domain: Annotated[bool, Option(help="Treat the labels as drawn from each domain separately.")] = False
    seed: Seed = 0


@frozen
class SystemEstimate:
    """A system, and how far it is ahead of the others."""

    system: str
    mean: Estimate  # on gold's scale
    # of the next best system, on the segments that both have; None for the last, or where there are too few
    # labels
    ahead: Estimate | None
    best: int  # the best rank, from 1, that the intervals of its differences to all others allow
    worst: int
    lp: str = ""  # language pair


def _estimate_columns(of: str, before: str, title: str, plain: str) -> list[Column]:
    around = "95 % interval" if plain else ""
    return [
        Column(
            f"{before}value",
            "by labels and scores, on the labels' scale",
            "score",
            of=f"{of}.value",
            title=title,
        ),
        replace(
            INTERVAL, name=f"{before}interval", of=f"{of}.interval", ends=(f"{before}low", f"{before}high")
        ),
        Column(f"{before}plain", "of the labels alone", "score", of=f"{of}.plain", title=plain),
        replace(
            INTERVAL,
            name=f"{before}plain_interval",
            of=f"{of}.plain_interval",
            title=around,
            ends=(f"{before}plain_low", f"{before}plain_high"),
        ),
        Column(
            f"{before}weight",
            "how much the scores are trusted, from 0",
            "decimal",
            of=f"{of}.weight",
            title="",
        ),
        Column(f"{before}gain", "labels that one of these is worth", "decimal", of=f"{of}.gain", title=""),
    ]


_ESTIMATE: Final = (
    Column("system", "its name"),
    Column("labelled", "segments with a label", "count", of="mean.labelled"),
    Column("scored", "segments with a score", "count", of="mean.scored"),
    *_estimate_columns("mean", "", "mean", "labels alone"),
    *_estimate_columns("ahead", "ahead_", "ahead of the next by", ""),
    Column(
        "ranks",
        "best and worst rank that the intervals of differences allow",
        "rank",
        of=lambda row: (row.best, row.worst),
        title="rank",
        ends=("best_rank", "worst_rank"),
    ),
)


@frozen
class Estimation(Framed):
    """Systems by their means on gold's scale, best first."""

    systems: tuple[SystemEstimate, ...]  # of each language pair, best first
    signature: Signature
    gold: Signature
    settings: EstimateSettings
    # what a reader must know: systems left out, what the intervals hold for, few labels
    notes: tuple[str, ...]

    def groups(self) -> dict[str, list[SystemEstimate]]:
        """The systems of each language pair, best first."""
        return rows_by_pair(self.systems)

    def columns(self) -> list[Column]:
        return [*_ESTIMATE]


@takes(EstimateSettings)
def estimate(source: Source, gold: Source | None, settings: EstimateSettings) -> Estimation:
    """Estimate each system's mean on gold's scale, in each language pair.

    Args:
        source: a judge's scores of all segments: a run, records, a file.
        gold: judgements of some of them by people, drawn at random.
        settings: what the intervals are for.

    Raises:
        DataError: no system has enough labelled segments with a score.
        UsageError: documents or domains were drawn, and none is known.
    """
    if gold is None:
        raise UsageError("estimate corrects scores by judgements of people: give both")
    sides, notes = together([source, gold], settings, "translations")
    judged, labels = (scored(side, settings) for side in sides)
    strata = {**labels.domains, **judged.domains} if settings.by_domain else None
    if settings.by_domain and not strata:
        raise UsageError("--by-domain needs domains: give the test set that says them, --test-set PATH")
    golds = labels.scores.by_pair()
    parts = {
        lp: estimates(own, golds.get(lp, labels.scores), settings=settings, strata=strata)
        for lp, own in judged.scores.by_pair().items()
    }
    if strange := golds.keys() - parts.keys():
        notes.append(f"Labels of {', '.join(sorted(strange))} are left out: nothing is scored there.")
    said = ((f"{lp}: " if len(parts) > 1 else "", note) for lp, part in parts.items() for note in part.notes)
    notes = [*of_sight(judged.scores.notes), *map("".join, said), *notes]
    return Estimation(
        systems=tuple(replace(row, lp=lp) for lp, part in parts.items() for row in part.systems),
        signature=judged.scores.signature_of("mean"),
        gold=labels.scores.signature_of("mean"),
        settings=settings,
        notes=tuple(notes),
    )


def estimates(
    scores: Scores,
    gold: Scores,
    *,
    settings: EstimateSettings | None = None,
    strata: Mapping[Place, str] | None = None,
) -> Estimation:
    """Estimate the mean of each system that both know.

    `strata`: parts of the test set, such as domains, that labels were drawn from separately; None for one
    draw from all of it.
    """
    settings = settings or EstimateSettings()
    known = grouped(((s.lp, s.segment), s.system) for s in scores.segments)
    labels = ((s.lp, s.segment, [s.system]) for s in gold.segments)
    strangers = count_strangers("gold", labels, scores.signature.name, known)
    judged, labelled = _by_system(scores), _by_system(gold)
    design = _Design(scores, gold, strata or {}, settings)
    found, notes = {}, []
    for system in (name for name in judged if name in labelled):
        try:
            mean = design.mean(labelled[system], judged[system])
            interval, plain = (
                None if i is None else Interval(max(i.low, gold.range[0]), min(i.high, gold.range[1]))
                for i in (mean.interval, mean.plain_interval)
            )
            found[system] = replace(mean, interval=interval, plain_interval=plain)
        except UsageError as error:
            notes.append(f"{system} is left out: {error}.")
    if strangers:
        which, are = count(strangers, "label"), form(strangers, "is", "are")
        notes.append(f"{which} of translations that {scores.signature.name} did not judge {are} left out.")
    if not found:
        why = f": {notes[0]}" if notes else ""
        raise DataError(f"no system has {LEAST} segments with both a label and a score{why}")
    ranked = sorted(found, key=lambda name: (-found[name].value, name))
    gaps = {
        pair: design.gap(pair, labelled, judged)
        for pair in (combinations(ranked, 2) if len(ranked) > 1 else ())
    }
    losses, wins = dict.fromkeys(ranked, 0), dict.fromkeys(ranked, 0)
    for (better, worse), gap in gaps.items():
        if gap is not None and gap.interval is not None and gap.interval.low > 0:
            wins[better], losses[worse] = wins[better] + 1, losses[worse] + 1
        elif gap is not None and gap.interval is not None and gap.interval.high < 0:
            wins[worse], losses[better] = wins[worse] + 1, losses[better] + 1
    nexts = {better: gaps[better, worse] for better, worse in pairwise(ranked)}
    rows = [
        SystemEstimate(
            system=name,
            mean=found[name],
            ahead=nexts.get(name),
            best=1 + losses[name],
            worst=len(ranked) - wins[name],
        )
        for name in ranked
    ]
    return Estimation(
        systems=tuple(rows),
        signature=scores.signature_of("mean"),
        gold=gold.signature_of("mean"),
        settings=settings,
        notes=(*notes, *design.notes([row.mean for row in rows])),
    )


def _by_system(scores: Scores) -> dict[str, dict[Place, float]]:
    found: dict[str, dict[Place, float]] = {}
    for s in scores.segments:
        if s.score is not None:
            found.setdefault(s.system, {})[s.lp, s.segment] = s.score
    return found


class _Design:
    """How the labels were drawn, of which segments."""

    def __init__(
        self, scores: Scores, gold: Scores, strata: Mapping[Place, str], settings: EstimateSettings
    ) -> None:
        self.settings, self.strata = settings, strata
        self.documents = {
            (s.lp, s.segment): s.document for part in (gold, scores) for s in part.segments if s.document
        }
        labelled = {(s.lp, s.segment) for s in gold.segments if s.score is not None}
        self.is_whole = {(s.lp, s.segment) for s in scores.segments if s.score is not None} <= labelled
        if settings.drawn == "documents" and not self.documents:
            raise UsageError("--drawn documents needs documents, and these records name none")
        self.by_document = (
            self._are_documents(labelled) if settings.drawn is None else settings.drawn == "documents"
        )

    def _are_documents(self, labelled: set[Place]) -> bool:
        places = self.documents.items()
        segments = grouped(((place[0], document), place in labelled) for place, document in places)
        several = [each for each in segments.values() if len(each) > 1 and any(each)]
        whole = sum(all(each) for each in several)
        return 2 * whole > len(several) and any(not any(each) for each in segments.values())

    def mean(self, labels: Values, scores: Values) -> Estimate:
        places = list(scores)
        documents = _numbers(
            [(lp, self.documents.get((lp, segment)) or (segment,)) for lp, segment in places]
        )
        sample = Sample(
            labels=np.array([labels.get(place, np.nan) for place in places]),
            scores=np.array([scores[place] for place in places]),
            drawn=documents if self.by_document else np.arange(len(places)),
            clusters=documents,
            strata=_numbers([self.strata.get(place, "") for place in places]),
        )
        return estimate_mean(sample, target=self.settings.target, seed=self.settings.seed)

    def gap(
        self, pair: tuple[str, str], labels: Mapping[str, Values], scores: Mapping[str, Values]
    ) -> Estimate | None:
        """Estimate the difference of two systems, segment by segment; None with too few labels."""
        of_labels, of_scores = (
            {
                place: value - each[pair[1]][place]
                for place, value in each[pair[0]].items()
                if place in each[pair[1]]
            }
            for each in (labels, scores)
        )
        try:
            return self.mean(of_labels, of_scores)
        except UsageError:
            return None

    def notes(self, means: Sequence[Estimate]) -> tuple[str, ...]:
        """What a reader must know."""
        target = {
            "test-set": "Intervals are for the mean of this test set, had people judged all of it.",
            "population": "Intervals are for the mean of all texts like those of this test set.",
        }[self.settings.target]
        found = [target]
        within = " in each stratum" if self.strata else ""
        unit = "document" if self.by_document else "segment"
        found.append(f"This holds if the labelled {unit}s were drawn at random{within}.")
        is_known = self.is_whole and self.settings.target == "test-set"
        if is_known:
            found.append("All segments are labelled, so that nothing is estimated.")
        fewest = min(mean.drawn for mean in means)
        if fewest < SAFE and not is_known:
            found.append(
                f"With fewer than {SAFE} labelled {unit}s (here {count(fewest, unit)}), intervals are made "
                "wider than 95 % asks for, to err on the safe side."
            )
        if any(mean.interval is None for mean in means):
            found.append("A system without an interval has labels that all are as its scores predict.")
        return tuple(found)


def _numbers(keys: Sequence[Hashable]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbered(keys), dtype=np.int64)
