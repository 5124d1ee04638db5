"""Members into records: one score or verdict for all that every member judged, a failure for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.annotation import UNDECIDED, Failure, Preference, Record, Verdict
from adjudge.core.wording import form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.meta.ensemble.members import Key, Member, Vote, asked_of_all
from adjudge.meta.ensemble.outcomes import annotation_of, document_of, lost_of, preference_of
from adjudge.meta.ensemble.scales import fold_of_each, grouped, learned_weights, rank_shares, z_scores
from adjudge.meta.ensemble.settings import Settings
from adjudge.meta.measures.result import Floats

__all__ = ["NO_MAJORITY", "Combined", "combine_scores", "combine_verdicts"]

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
    members: Sequence[Member[float]], settings: Settings, gold: Member[float] | None = None
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
        raise UsageError("gold is what weights are learned on: give both gold and `learned`, or neither")
    keys, notes = asked_of_all(members)
    lost = {key: failure for key in keys if (failure := lost_of(members, key)) is not None}
    whole = [key for key in keys if key not in lost]
    numbers: dict[Key, float] = {}
    weights: dict[str, dict[str, tuple[float, ...]]] = {}
    for places in grouped([lp for lp, *_ in whole]):
        part = _Part(keys=[whole[place] for place in places], members=members, settings=settings)
        scores, learned = part.scores(gold)
        numbers |= zip(part.keys, scores.tolist(), strict=True)
        weights |= {part.lp: learned} if learned else {}
        notes += part.constants
    records = (lost.get(key) or annotation_of(members, key, numbers[key]) for key in keys)
    return Combined(records=tuple(records), notes=tuple(notes), weights=weights)


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One language pair: what all members judged."""

    keys: Sequence[Key]
    members: Sequence[Member[float]]
    settings: Settings

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
        groups = grouped([key[: 1 if self.settings.within == "lp" else 2] for key in self.keys])
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
        folds = self._folds()
        if self.settings.within == "segment":  # else its mean and deviation would know every fold
            known = z_scores(known[None], groups)[0]
        weights = learned_weights(scaled, known, folds)
        names = (m.name for m in self.members)
        learned = {name: tuple(own) for name, own in zip(names, weights.T.tolist(), strict=True)}
        return (weights[folds].T * scaled).sum(axis=0), learned

    def _folds(self) -> NDArray[np.int64]:
        units = [segment for _, segment, *_ in self.keys]
        if self.settings.fold_by == "document":
            units = [document_of(self.members, key) for key in self.keys]
            if "" in units:
                raise UsageError("folds of documents need documents, and there are none: --fold-by segment")
        return fold_of_each(units, self.settings.folds, self.settings.seed)


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
