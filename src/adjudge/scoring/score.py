"""`score`: the records of a run, a file or a campaign as numbers with a signature."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from adjudge.core.annotation import Annotation, Preference, Record
from adjudge.core.protocol import find_protocol
from adjudge.core.run import Run, RunInfo
from adjudge.core.score import Scores, SegmentScore, Signature, SystemScore
from adjudge.core.typology import Weights, find_weights
from adjudge.core.version import VERSION
from adjudge.errors import DataError, UsageError
from adjudge.scoring.aggregate import failed_by_system, segment_scores, system_scores
from adjudge.scoring.coverage import (
    READINGS,
    annotators_note,
    comparisons_note,
    coverage_note,
    failures_note,
    pending_note,
    readings_note,
)
from adjudge.scoring.esa import esa_score
from adjudge.scoring.judgements import Judgement, judgements
from adjudge.scoring.mqm import mqm_range, mqm_score, unknown_categories_note
from adjudge.scoring.pairwise import choose_criterion, undecided_note
from adjudge.scoring.repeats import repeats_note, without_repeats
from adjudge.scoring.suspects import find_suspects, suspects_note

__all__ = ["DEFAULT_WEIGHTS", "score"]

DEFAULT_WEIGHTS: Final = "mqm-google"
"""Weights of MQM records that come without any."""


@dataclass(frozen=True, kw_only=True)
class _Method:
    """How these records become numbers.

    Args:
        protocol: of all records.
        weights: of errors; None where ratings or preferences are scored.
        criterion: of the preferences that count; None where nothing is compared.
        info: of the run, if it is one.
    """

    protocol: str
    weights: Weights | None
    criterion: str | None
    info: RunInfo | None

    @property
    def number(self) -> Callable[[Annotation], float]:
        """Score of one annotation."""
        if self.protocol == "mqm" and self.weights is not None:
            return partial(mqm_score, weights=self.weights)
        return partial(esa_score, weights=self.weights)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest score."""
        if self.weights is not None:
            return mqm_range(self.weights)
        if self.criterion is not None:
            return (0.0, 1.0)
        bounds = find_protocol(self.protocol) if self.info is None or self.protocol != "metric" else self.info
        low, high = bounds.low, bounds.high
        return (-math.inf if low is None else low, math.inf if high is None else high)

    @property
    def share(self) -> int:
        """Systems that one judgement is of; a comparison is of two."""
        return 1 if self.criterion is None else 2

    def corpus_scores(self, lp: str) -> Mapping[str, float]:
        """System to corpus score; empty where a system's score is the mean of its segments."""
        return {} if self.info is None else self.info.corpus_scores.get(lp, {})


def score(
    run_or_records: Run | Iterable[Record],
    *,
    weights: str | Weights | None = None,
    lp: str | None = None,
    criterion: str | None = None,
) -> Scores:
    """Score every translation and every system.

    What is scored depends on the protocol: `mqm` by weights, preferences by points (win 1, tie 0.5), the
    others by their rating; `esa` by its spans where weights are given.

    - A failed judgement has no score and is in no mean; every system says how many there were.
    - Several annotators of one translation: the mean over each one's score, as WMT does.
    - A marked error whose category adjudge does not know costs what its severity costs; the notes count them.
    - A filler of a batch that its annotator had judged before is left out, and the notes count them.
    - A system's score is the mean over its judged segments; over its comparisons for preferences; for a
      metric with a corpus score (BLEU) that one, `level:corpus` in the signature.
    - Several language pairs: each on its own in `lps`; `systems` is over all of them, and only where
      every language pair has the same systems.

    Args:
        run_or_records: one run, or records of one protocol.
        weights: weights or their name; None for those of the run, else `mqm-google`.
        lp: keep one language pair.
        criterion: of preferences; None for the only one, else `overall`.

    Raises:
        DataError: nothing to score, records of several protocols, or one annotator judging a translation
            twice.
        UsageError: unknown weights, lp or criterion, or one that these records have no use for.
    """
    info = run_or_records.info if isinstance(run_or_records, Run) else None
    records = run_or_records.records if isinstance(run_or_records, Run) else tuple(run_or_records)
    chosen, repeated = without_repeats(_choose(records, lp))
    method = _method(chosen, info, weights, criterion)
    judged = judgements(chosen, number=method.number, criterion=method.criterion)
    if not judged:
        raise DataError("there is nothing to score: every comparison is undecided")
    parts: dict[str, list[Judgement]] = {}
    for judgement in judged:
        parts.setdefault(judgement.lp, []).append(judgement)
    each = {name: _scores(part, method, method.corpus_scores(name)) for name, part in parts.items()}
    scores = next(iter(each.values())) if len(each) == 1 else _over_all(judged, each, method)
    unknown = [] if method.weights is None else unknown_categories_note(chosen)
    scores = replace(scores, notes=(*scores.notes, *unknown, *repeats_note(repeated)))
    return scores if method.criterion is None else _with_preferences(scores, chosen, method.criterion)


def _with_preferences(scores: Scores, records: Iterable[Record], criterion: str) -> Scores:
    """Keep what was scored, from which a ranking can do more than means."""
    kept = tuple(r for r in records if isinstance(r, Preference) and r.criterion == criterion)
    lps = {
        lp: replace(part, preferences=tuple(p for p in kept if p.lp == lp)) for lp, part in scores.lps.items()
    }
    notes = (*scores.notes, *undecided_note(kept))
    return replace(scores, preferences=kept, lps=lps, notes=notes)


def _choose(records: Sequence[Record], lp: str | None) -> list[Record]:
    chosen = [r for r in records if lp is None or r.lp == lp]
    if not records:
        raise DataError("there are no records to score")
    if not chosen:
        known = ", ".join(dict.fromkeys(r.lp for r in records))
        raise UsageError(f"there are no records of lp {lp!r}; there are some of {known}")
    return chosen


def _method(
    records: Sequence[Record], info: RunInfo | None, weights: str | Weights | None, criterion: str | None
) -> _Method:
    protocol, *others = dict.fromkeys(r.protocol for r in records)
    if others:
        found = ", ".join((protocol, *others))
        raise DataError(f"records of one protocol can be scored together; these are of {found}")
    if protocol == "pairwise":
        criterion = choose_criterion(records, criterion)
    elif criterion is not None:
        raise UsageError(f"a criterion chooses among preferences; these records are of protocol {protocol}")
    return _Method(
        protocol=protocol, weights=_weights(protocol, weights, info), criterion=criterion, info=info
    )


def _weights(protocol: str, wanted: str | Weights | None, info: RunInfo | None) -> Weights | None:
    if wanted is not None and not find_protocol(protocol).has_spans:
        raise UsageError(f"weights are for marked errors; records of protocol {protocol} have none")
    if wanted is None and protocol == "mqm":
        wanted = (None if info is None else info.weights) or DEFAULT_WEIGHTS
    return find_weights(wanted) if isinstance(wanted, str) else wanted


def _scores(judged: Sequence[Judgement], method: _Method, corpus: Mapping[str, float]) -> Scores:
    """Score judgements; corpus scores, where there are some, are the scores of the systems."""
    segments = _segment_scores(judged, method)
    systems = _system_scores(judged, method, segments)
    suspects = find_suspects(judged, partial(_system_scores, method=method), method.share)
    if corpus:
        systems = [replace(s, score=corpus.get(s.system)) for s in systems]
    return Scores(
        signature=_signature(judged, method, is_corpus=bool(corpus)),
        range=method.range,
        segments=tuple(segments),
        systems=tuple(systems),
        notes=(
            *_state_notes(judged, method),
            *suspects_note(suspects, systems),
            *_coverage_notes(segments, systems, method),
        ),
        suspects=suspects,
    )


def _segment_scores(judged: Sequence[Judgement], method: _Method) -> list[SegmentScore]:
    return segment_scores(judged, is_weighted=method.criterion is not None)


def _with_readings(systems: Sequence[SystemScore], judged: Sequence[Judgement]) -> list[SystemScore]:
    """Say for each system how its judgements were read; of a comparison both systems have the flag."""
    counts: dict[str, Counter[str]] = {}
    for judgement in judged:
        counts.setdefault(judgement.system, Counter()).update(READINGS.keys() & set(judgement.flags))
    return [
        replace(s, readings={flag: counts[s.system][flag] for flag in READINGS if counts[s.system][flag]})
        if counts.get(s.system)
        else s
        for s in systems
    ]


def _system_scores(
    judged: Sequence[Judgement], method: _Method, segments: Sequence[SegmentScore] | None = None
) -> list[SystemScore]:
    """A system's score is the mean over its comparisons, or over its segments, where given."""
    if method.criterion is not None:
        numbers = [(j.system, j.number) for j in judged]
    else:
        segments = _segment_scores(judged, method) if segments is None else segments
        numbers = [(s.system, s.score) for s in segments]
    return _with_readings(system_scores(numbers, failed_by_system(judged)), judged)


def _counts(judged: Sequence[Judgement], method: _Method) -> tuple[int, int]:
    """Judgements that failed, and all that were asked for."""
    return sum(j.number is None for j in judged) // method.share, len(judged) // method.share


def _readings(judged: Sequence[Judgement], method: _Method) -> dict[str, int]:
    """Judgements by the flags that say how they were read, those that there are."""
    counts = {flag: sum(flag in j.flags for j in judged) // method.share for flag in READINGS}
    return {flag: number for flag, number in counts.items() if number}


def _signature(judged: Sequence[Judgement], method: _Method, *, is_corpus: bool) -> Signature:
    annotators = tuple(dict.fromkeys(j.annotator for j in judged))
    if method.info is None:
        name = annotators[0] if len(annotators) == 1 else method.protocol
        signature = Signature(name, {"protocol": method.protocol, "version": VERSION})
    else:
        signature = method.info.signature
    failed, asked = _counts(judged, method)
    chosen = {
        "weights": None if method.weights is None else method.weights.name,
        "criterion": method.criterion,
        "level": "corpus" if is_corpus else None,
        "annotators": str(len(annotators)) if len(annotators) > 1 else None,
        "failed": f"{failed}/{asked}",
        **{flag: f"{number}/{asked}" for flag, number in _readings(judged, method).items()},
    }
    return signature.with_fields(**{key: value for key, value in chosen.items() if value is not None})


def _state_notes(judged: Sequence[Judgement], method: _Method) -> list[str]:
    """What is missing, and who judged."""
    pending = 0 if method.info is None else method.info.counts.get("pending", 0)
    failed, asked = _counts(judged, method)
    read = readings_note(_readings(judged, method), asked)
    notes = [*failures_note(failed, asked), *read, *pending_note(pending)]
    return notes if method.criterion is not None else [*notes, *annotators_note(judged)]


def _coverage_notes(
    segments: Sequence[SegmentScore], systems: Sequence[SystemScore], method: _Method
) -> list[str]:
    """Whether the means of the systems are over the same segments."""
    return coverage_note(segments) if method.criterion is None else comparisons_note(systems)


def _over_all(judged: Sequence[Judgement], each: Mapping[str, Scores], method: _Method) -> Scores:
    """All language pairs together: systems only where every one has the same, and means at all."""
    whole = _scores(judged, method, {})
    if any(method.corpus_scores(lp) for lp in each):
        reason = "A corpus score is no mean, so there is none over all language pairs"
    elif len({frozenset(s.system for s in scores.systems) for scores in each.values()}) > 1:
        reason = "The language pairs do not have the same systems, so no score is over all of them"
    else:
        return replace(whole, lps=each)
    notes = _state_notes(judged, method)
    for lp, scores in each.items():
        found = suspects_note(scores.suspects, scores.systems)
        found += _coverage_notes(scores.segments, scores.systems, method)
        notes += [f"{lp}: {note}" for note in found]
    notes.append(f"{reason}: see each, or choose one with --lp ({', '.join(each)}).")
    return replace(whole, systems=(), lps=each, notes=tuple(notes), suspects=None)
