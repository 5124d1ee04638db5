"""What each member of an ensemble says of each translation or pair, and what all of them were asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Final, Generic, Literal, TypeVar

from adjudge.core.annotation import SUSPECT, Annotation, Failure, Preference, Record
from adjudge.core.run import Run
from adjudge.core.wording import count, form
from adjudge.errors import DataError
from adjudge.meta.agreement.sources import preferences_of, source_of
from adjudge.meta.ranking.preferences import OVERALL
from adjudge.scoring.score import score

__all__ = ["Key", "Member", "Vote", "asked_of_all", "scored", "voted"]

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
        rows = [[*key, _plain(outcome)] for key, outcome in sorted(self.outcomes.items(), key=itemgetter(0))]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _plain(outcome: float | str | Failure) -> float | str:
    return outcome.reason if isinstance(outcome, Failure) else outcome


def scored(name: str, judged: Run | Iterable[Record]) -> Member[float]:
    """Take the score of each translation, as `scoring.score` computes it; a failure stays one.

    Raises:
        DataError: preferences, or records that cannot be scored.
    """
    judged = judged if isinstance(judged, Run) else tuple(judged)
    records = judged.records if isinstance(judged, Run) else judged
    if any(isinstance(r, Preference) for r in records):
        raise DataError(f"{name} holds preferences, which have no scores: combine them by majority")
    failures = {(r.lp, r.segment, name): r for r in records if isinstance(r, Failure) for name in r.systems}
    segments = score(judged).segments
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
    source = source_of(name, judged)
    if len(source.annotators) > 1 and not source.has_scores:
        who = ", ".join(source.annotators)
        one = "a member has one vote: `adjudge convert --annotator` splits them"
        raise DataError(f"{name} holds preferences of {who}; {one}")
    records = source.records
    if source.has_scores:  # people who share the work have one score, their mean, and one vote
        records = _means(scored(name, judged))
    found = preferences_of(source_of(name, records), epsilon=tie)
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
    """Scores of a member as records of one annotator."""
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
    is_turned = record.systems != (first, second)
    return [((*pair, record.criterion), _TURNED[vote] if is_turned else vote)]


def asked_of_all(members: Sequence[Member[T]]) -> tuple[list[Key], list[str]]:
    """What every member was asked for, in the order of the first, and what is therefore left out.

    Raises:
        DataError: there is no such translation or pair.
    """
    keys = [key for key in members[0].outcomes if all(key in m.outcomes for m in members)]
    if not keys:
        names = ", ".join(m.name for m in members)
        raise DataError(
            f"nothing was judged by all of {names}: are they about the same segments and systems?"
        )
    notes = [
        f"{m.name}: {count(left, 'judgement')} {form(left, 'is', 'are')} left out, which not all members "
        "were asked for."
        for m in members
        if (left := len(m.outcomes) - len(keys))
    ]
    return keys, notes
