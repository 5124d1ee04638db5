"""Several annotators as one: a score or a verdict for all that every member judged, a failure for the rest.

A member is one run or file, as scores or as votes (`scored`, `voted`). Scores are brought to one scale
(ranks, z-scores) and averaged, or weighted by weights that are learned on gold; verdicts are put to the
vote. Arrays are members by translations, higher is better.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Annotated, Final, Generic, Literal, TypeVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from adjudge.analysis.preferences import OVERALL, preferences_of
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import SUSPECT, UNDECIDED, Annotation, Failure, Preference, Record, Verdict, grouped
from adjudge.core.scores import Run
from adjudge.core.verb import LanguagePair, Option, settings
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import read_judgements
from adjudge.stats.correlation import ranks
from adjudge.stats.judged import Floats

__all__ = [
    "ENSEMBLE",
    "NO_MAJORITY",
    "By",
    "Combined",
    "EnsembleSettings",
    "combine_scores",
    "combine_verdicts",
    "fold_of_each",
    "learned_weights",
    "places_of",
    "rank_shares",
    "scored",
    "voted",
    "z_scores",
]


Vote = Literal["A", "B", "E", "undecided"]
"""A verdict, or that it changed with the order and was kept as that: asked and answered, and for nobody."""

T = TypeVar("T", bound=float | str)

Key = tuple[str, ...]
"""(lp, segment, system), or (lp, segment, A, B, criterion) where systems are compared, A before B."""

_TURNED: Final[Mapping[Vote, Vote]] = {"A": "B", "B": "A", "E": "E", "undecided": "undecided"}


@dataclass(frozen=True, kw_only=True)
class Member(Generic[T]):
    """One run or file of an ensemble.

    Args:
        name: what the ensemble calls it.
        outcomes: a score or a vote for all that it was asked for, or why there is none.
        documents: document of each (lp, segment); empty where it is not known.
        suspicions: (lp, segment, system) to the flags of texts that may be meant for the judge.
    """

    name: str
    outcomes: Mapping[Key, T | Failure]
    documents: Mapping[tuple[str, str], str]
    suspicions: Mapping[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 of all that enters the ensemble."""
        rows = [
            [*key, outcome.reason if isinstance(outcome, Failure) else outcome]
            for key, outcome in sorted(self.outcomes.items(), key=itemgetter(0))
        ]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def scored(name: str, judged: Run | Iterable[Record]) -> Member[float]:
    """Take the score of each translation, as `analysis.segment_scores` computes it; a failure stays one.

    Raises:
        DataError: preferences, or records that cannot be scored.
    """
    judged = judged if isinstance(judged, Run) else tuple(judged)
    records = judged.records if isinstance(judged, Run) else judged
    if any(isinstance(r, Preference) for r in records):
        raise DataError(f"{name} holds preferences, which have no scores: combine them by majority")
    failures = {(r.lp, r.segment, name): r for r in records if isinstance(r, Failure) for name in r.systems}
    segments = score_records(judged).segments
    outcomes: dict[Key, float | Failure] = {
        (s.lp, s.segment, s.system): failures[s.lp, s.segment, s.system] if s.score is None else s.score
        for s in segments
    }
    documents = {(s.lp, s.segment): s.document for s in segments}
    return Member(name=name, outcomes=outcomes, documents=documents, suspicions=_suspicions(records))


def voted(name: str, judged: Run | Iterable[Record], *, tie: float = 0.0) -> Member[Vote]:
    """Take the verdict on each pair: preferences as they are, scores as what they prefer overall.

    Args:
        name: of the member.
        judged: of one annotator where it holds preferences: each member has one vote.
        tie: largest difference of scores that is a tie.

    Raises:
        DataError: several annotators, or one that judged a pair twice on one criterion.
    """
    source = replace(read_judgements(judged), name=name).of_one_kind(None)
    if len(source.annotators) > 1 and not source.has_scores:
        who = ", ".join(source.annotators)
        one = "a member has one vote: `adjudge convert --annotator` splits them"
        raise DataError(f"{name} holds preferences of {who}; {one}")
    records = source.records
    if source.has_scores:  # people who share the work have one score, their mean, and one vote
        records = _means(scored(name, judged))
    found = preferences_of(replace(source, records=records), epsilon=tie)
    criteria = tuple(dict.fromkeys(r.criterion for r in found if r.criterion is not None)) or (OVERALL,)
    outcomes: dict[Key, Vote | Failure] = {}
    for record in found:
        for key, outcome in _votes(record, criteria):
            if key in outcomes:
                where = f"segment {record.segment!r} of {record.lp}"
                raise DataError(f"{name} compares {' and '.join(sorted(record.systems))} twice on {where}")
            outcomes[key] = outcome
    documents = {(r.lp, r.segment): r.document for r in found}
    suspicions = _suspicions(source.records)
    return Member(name=name, outcomes=outcomes, documents=documents, suspicions=suspicions)


def _suspicions(records: Iterable[Record]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """What was flagged as meant for the judge: the word itself, and what was found @where."""
    return {
        (r.lp, r.segment, system): tuple(flag for flag in r.flags if flag == SUSPECT or "@" in flag)
        for r in records
        if not isinstance(r, Failure) and SUSPECT in r.flags
        for system in r.systems
    }


def _means(member: Member[float]) -> tuple[Record, ...]:
    return tuple(
        replace(outcome, annotator=member.name, protocol="metric")
        if isinstance(outcome, Failure)
        else Annotation(
            lp=lp,
            segment=segment,
            system=system,
            annotator=member.name,
            protocol="metric",
            document=member.documents[lp, segment],
            rating=outcome,
        )
        for (lp, segment, system), outcome in member.outcomes.items()
    )


def _votes(record: Preference | Failure, criteria: Sequence[str]) -> Iterable[tuple[Key, Vote | Failure]]:
    """One outcome a criterion; a failure that names none concerns all."""
    first, second = sorted(record.systems)
    pair = (record.lp, record.segment, first, second)
    if isinstance(record, Failure):
        named = criteria if record.criterion is None else (record.criterion,)
        return [((*pair, criterion), record) for criterion in named]
    vote: Vote = "undecided" if record.is_undecided else record.verdict
    return [((*pair, record.criterion), vote if record.systems == (first, second) else _TURNED[vote])]


def asked_of_all(members: Sequence[Member[T]]) -> tuple[list[Key], list[str]]:
    """What every member was asked for, in the order of the first, and what is therefore left out.

    Raises:
        DataError: there is no such translation or pair.
    """
    keys = [key for key in members[0].outcomes if all(key in m.outcomes for m in members)]
    if not keys:
        names = ", ".join(m.name for m in members)
        raise DataError(
            f"no translation was judged by all of {names}: do all have the same segments and systems?"
        )
    notes = [
        f"{m.name}: {count(left, 'judgement')} {form(left, 'is', 'are')} left out, which not all members "
        "were asked for."
        for m in members
        if (left := len(m.outcomes) - len(keys))
    ]
    return keys, notes


ENSEMBLE: Final = "ensemble"


def annotation_of(members: Sequence[Member[float]], key: Key, score: float) -> Annotation:
    """A score, flagged where a member flagged what it judged as meant for judges."""
    lp, segment, system = key
    return Annotation(
        lp=lp,
        segment=segment,
        system=system,
        annotator=ENSEMBLE,
        protocol="metric",
        document=document_of(members, key),
        rating=score,
        flags=_outcomes_suspicions(members, key),
    )


def preference_of(
    members: Sequence[Member[T]], key: Key, verdict: Verdict, flags: tuple[str, ...]
) -> Preference:
    """A verdict with its flags, and those that members gave to texts which are meant for judges."""
    lp, segment, first, second, criterion = key
    return Preference(
        lp=lp,
        segment=segment,
        systems=(first, second),
        annotator=ENSEMBLE,
        criterion=criterion,
        verdict=verdict,
        document=document_of(members, key),
        flags=(*flags, *_outcomes_suspicions(members, key)),
    )


def lost_of(members: Sequence[Member[T]], key: Key) -> Failure | None:
    """The failure of the first member that failed; None where all of them judged."""
    for member in members:
        if isinstance(failed := member.outcomes[key], Failure):
            lp, segment, *systems = key
            criterion = systems.pop() if len(systems) > 1 else None
            return Failure(
                lp=lp,
                segment=segment,
                systems=tuple(systems),
                annotator=ENSEMBLE,
                protocol="metric" if criterion is None else "pairwise",
                reason=failed.reason,
                detail=f"{member.name}: {failed.detail}",
                document=document_of(members, key),
                criterion=criterion,
            )
    return None


def document_of(members: Sequence[Member[T]], key: Key) -> str:
    """The first that a member names."""
    return next((found for m in members if (found := m.documents.get((key[0], key[1])))), "")


def _outcomes_suspicions(members: Sequence[Member[T]], key: Key) -> tuple[str, ...]:
    lp, segment, *systems = key
    found = (m.suspicions.get((lp, segment, system), ()) for m in members for system in systems[:2])
    return tuple(dict.fromkeys(flag for flags in found for flag in flags))


Ints = NDArray[np.int64]

_DIGITS: Final = 10  # so that rounding noise ranks nothing, as in the tests by ranks


def places_of(names: Sequence[Hashable]) -> list[Ints]:
    """Places of each name, in order of first appearance."""
    return [np.array(found) for found in grouped((name, n) for n, name in enumerate(names)).values()]


def rank_shares(scores: Floats, groups: Sequence[Ints]) -> Floats:
    """(rank - 1/2) / n within each group: near 0 for the worst, near 1 for the best; ties share their mean.

    Args:
        scores: members × translations, without gaps.
        groups: places that are ranked together.
    """
    found = np.empty_like(scores)
    for places in groups:
        found[:, places] = (ranks(np.round(scores[:, places], _DIGITS).T).T - 0.5) / len(places)
    return found


def z_scores(scores: Floats, groups: Sequence[Ints]) -> Floats:
    """(score - mean) / standard deviation within each group; 0 where a member scores all of it alike.

    Args:
        scores: members × translations; NaN is left out and stays.
        groups: places that have one mean and one deviation.
    """
    found = np.full_like(scores, np.nan)
    for places in groups:
        for row, values in zip(found, scores, strict=True):
            row[places] = _standardised(values[places])
    return found


def _standardised(values: Floats) -> Floats:
    there = ~np.isnan(values)
    if not there.any():
        return values
    known = np.round(values[there], _DIGITS)
    spread = known.std() if np.ptp(known) else 0.0  # std of equal numbers may be rounding noise
    return np.where(there, 0.0, np.nan) if spread == 0 else (values - known.mean()) / spread


def fold_of_each(units: Sequence[Hashable], folds: int, seed: int) -> Ints:
    """Deal units that stay whole, such as documents, to folds at random and as evenly as can be.

    Args:
        units: unit of each translation.
        folds: number of folds.
        seed: of numpy's default generator.

    Raises:
        DataError: fewer units than folds.
    """
    groups = places_of(units)
    if len(groups) < folds:
        raise DataError(f"{folds} folds need as many units, such as documents; there are {len(groups)}")
    found = np.empty(len(units), dtype=np.int64)
    for place, group in enumerate(np.random.default_rng(seed).permutation(len(groups))):
        found[groups[group]] = place % folds
    return found


def learned_weights(scores: Floats, gold: Floats, folds: Ints) -> Floats:
    """Weights of the members for each fold, learned on all other folds: folds × members, each row sums to 1.

    Least squares without negative weights (Lawson and Hanson), of gold on the scores, both centred on what is
    learned from. No weight is negative, since every member says that higher is better: one that gold
    contradicts gets 0.

    Args:
        scores: members × translations, on one scale, without gaps.
        gold: of each translation; NaN where it has none.
        folds: of each translation, from 0.

    Raises:
        DataError: no gold outside a fold, or none there that any member agrees with.
    """
    from scipy.optimize import nnls

    rows = []
    for fold in range(int(folds.max()) + 1):
        chosen = (folds != fold) & ~np.isnan(gold)
        if not chosen.any():
            raise DataError(f"gold has no judgement outside fold {fold + 1}: take fewer folds, or more gold")
        known, wanted = scores[:, chosen], gold[chosen]
        weights, _ = nnls((known - known.mean(axis=1, keepdims=True)).T, wanted - wanted.mean())
        if not weights.sum() > 0:
            raise DataError(f"no member agrees with gold outside fold {fold + 1}: nothing can be learned")
        rows.append(weights / weights.sum())
    return np.array(rows)


By = Literal["ranks", "z-scores", "learned", "majority"]
Within = Literal["lp", "segment"]
FoldBy = Literal["document", "segment"]


@settings
class EnsembleSettings:
    """How members are combined."""

    by: Annotated[By, Option(help="Combine by mean rank, mean z-score, learned weights or majority.")] = (
        "z-scores"
    )
    within: Annotated[
        Within, Option(help="Compute ranks and z-scores within a language pair or segment.")
    ] = "lp"
    folds: Annotated[int, Ge(2), Option(help="Cross-validation folds for learned weights.")] = 10
    fold_by: Annotated[FoldBy, Option(help="Never split a document, or a segment, between folds.")] = (
        "document"
    )
    seed: Annotated[int, Ge(0), Option(help="Seed of the folds.")] = 0
    tie: Annotated[float, Ge(0), Option(help="Largest score difference that counts as a tie (majority).")] = (
        0.0
    )
    lp: LanguagePair = None

    @property
    def said(self) -> dict[str, str]:
        """The settings that this way of combining uses, by name."""
        used: dict[str, str] = {"by": self.by}
        if self.by == "majority":
            return used | ({"tie": f"{self.tie:g}"} if self.tie else {})
        used["within"] = self.within
        if self.by == "learned":
            used |= {"folds": str(self.folds), "fold-by": self.fold_by, "seed": str(self.seed)}
        return used


NO_MAJORITY: Final = "no_majority"


@dataclass(frozen=True, kw_only=True)
class Combined:
    """What comes out.

    Args:
        records: of annotator `ensemble`, in the order of the first member.
        notes: what a reader must know.
        weights: of learned ensembles, language pair to member to its weight in each fold.
    """

    records: tuple[Record, ...]
    notes: tuple[str, ...] = ()
    weights: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


def combine_scores(
    members: Sequence[Member[float]], settings: EnsembleSettings, gold: Member[float] | None = None
) -> Combined:
    """Combine scores into one a translation; language pairs never meet.

    - Ranks and z-scores are over the translations that every member judged, so that all members are measured
      on the same ones.
    - Weights of a fold were learned on the other folds: no gold of a document has a part in its own score.
    - What any member failed to judge is a failure, and so has no number: a mean over the others would be of
      another ensemble.

    Raises:
        DataError: nothing that all were asked for, or nothing to learn from.
        UsageError: learned without gold, or gold with nothing to learn; documents that there are not.
    """
    if (gold is None) == (settings.by == "learned"):
        raise UsageError("gold is for learned weights only: give both gold and `learned`, or neither")
    keys, notes = asked_of_all(members)
    lost = {key: failure for key in keys if (failure := lost_of(members, key)) is not None}
    whole = [key for key in keys if key not in lost]
    numbers: dict[Key, float] = {}
    weights: dict[str, dict[str, tuple[float, ...]]] = {}
    for places in places_of([lp for lp, *_ in whole]):
        part = _Part(keys=[whole[place] for place in places], members=members, settings=settings)
        scores, learned = part.scores(gold)
        numbers |= zip(part.keys, scores.tolist(), strict=True)
        weights |= {part.lp: learned} if learned else {}
        notes += part.constants
    records = (lost.get(key) or annotation_of(members, key, numbers[key]) for key in keys)
    return Combined(records=tuple(records), notes=tuple(notes), weights=weights)


@dataclass(frozen=True, kw_only=True)
class _Part:
    keys: Sequence[Key]
    members: Sequence[Member[float]]
    settings: EnsembleSettings

    @property
    def lp(self) -> str:
        """Its language pair."""
        return self.keys[0][0]

    @property
    def values(self) -> Floats:
        """Scores, members × translations."""
        return np.array([[m.outcomes[key] for key in self.keys] for m in self.members], dtype=np.float64)

    @property
    def constants(self) -> Iterator[str]:
        """Members that tell nothing apart."""
        for member, row in zip(self.members, self.values, strict=True):
            if len(row) > 1 and np.ptp(row) == 0:
                yield f"{member.name} gives all of {self.lp} the same score, and so adds nothing."

    def scores(self, gold: Member[float] | None) -> tuple[Floats, dict[str, tuple[float, ...]]]:
        """One score a translation, and the weights that were learned."""
        groups = places_of([key[: 1 if self.settings.within == "lp" else 2] for key in self.keys])
        if self.settings.by == "ranks":
            return rank_shares(self.values, groups).mean(axis=0), {}
        scaled = z_scores(self.values, groups)
        if gold is None:
            return scaled.mean(axis=0), {}
        outcomes = [gold.outcomes.get(key) for key in self.keys]
        known = np.array([np.nan if o is None or isinstance(o, Failure) else o for o in outcomes])
        if np.isnan(known).all():
            raise DataError(
                f"{gold.name} judges nothing of {self.lp} that all members judged: nothing to learn"
            )
        units = [segment for _, segment, *_ in self.keys]
        if self.settings.fold_by == "document":
            units = [document_of(self.members, key) for key in self.keys]
            if "" in units:
                raise UsageError("folds of documents need documents, and there are none: --fold-by segment")
        folds = fold_of_each(units, self.settings.folds, self.settings.seed)
        if self.settings.within == "segment":  # else its mean and deviation would know every fold
            known = z_scores(known[None], groups)[0]
        weights = learned_weights(scaled, known, folds)
        names = (m.name for m in self.members)
        learned = {name: tuple(own) for name, own in zip(names, weights.T.tolist(), strict=True)}
        return (weights[folds].T * scaled).sum(axis=0), learned


def combine_verdicts(members: Sequence[Member[Vote]]) -> Combined:
    """Give each pair the verdict that more members gave than any other, on each criterion that all have.

    Without such a verdict it is E, flagged `no_majority`. A member whose verdict changed with the order and
    was kept as that votes for nothing; where all do, the ensemble is undecided too. What any member failed on
    is a failure.

    Raises:
        DataError: no pair and criterion that all were asked for.
    """
    keys, notes = asked_of_all(members)
    records = [lost_of(members, key) or preference_of(members, key, *_majority(members, key)) for key in keys]
    if split := sum(isinstance(r, Preference) and NO_MAJORITY in r.flags for r in records):
        which = of_all(split, len(keys), "pair")
        notes.append(f"{which} {form(split, 'has no majority, and is', 'have no majority, and are')} E.")
    return Combined(records=tuple(records), notes=tuple(notes))


def _majority(members: Sequence[Member[Vote]], key: Key) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and the flag that says why it is E where no verdict led."""
    votes = [vote for m in members if not isinstance(vote := m.outcomes[key], Failure)]
    verdicts: list[Verdict] = [vote for vote in votes if vote != "undecided"]
    counts = Counter(verdicts).most_common(2)
    if not counts:
        return "E", (UNDECIDED,)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return "E", (NO_MAJORITY,)
    return counts[0][0], ()
