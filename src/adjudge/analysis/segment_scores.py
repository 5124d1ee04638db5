"""Records as scores: of each translation, document and system, with what a reader must know of them.

Records become judgements, one number or its absence for one translation by one annotator; their means
become scores of segments, documents and systems (`score_records`). A judgement that failed is in no mean.
Functions that end in `_note` say in sentences what a mean does not show. `ScoreMatrix` has the scores as
arrays, segments by systems.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from statistics import stdev
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.blindness import sight_notes
from adjudge.core.frozen import frozen
from adjudge.core.language import of_lp
from adjudge.core.mqm import (
    Weights,
    find_weights,
    mean,
    mqm_range,
    mqm_score,
    unknown_categories_note,
    unused_categories_note,
    weights_of,
)
from adjudge.core.protocol import find_protocol
from adjudge.core.record import (
    SUSPECT,
    Annotation,
    Failure,
    Preference,
    Record,
    Verdict,
    by_pair,
    grouped,
    repeats_note,
    without_repeats,
)
from adjudge.core.scores import (
    VERSION,
    Checklist,
    Run,
    RunInfo,
    Scores,
    SegmentScore,
    Signature,
    Suspects,
    SystemScore,
    all_pass,
    failed_fields,
)
from adjudge.core.segment import ALL_PASS, Segment, read_criteria
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.stats.bounds import Totals
from adjudge.stats.judged import Floats

_POINTS: Final[dict[Verdict, tuple[float, float]]] = {"A": (1.0, 0.0), "B": (0.0, 1.0), "E": (0.5, 0.5)}


def points(preference: Preference) -> tuple[float, float]:
    """What A and B earn: 1 for a win, 0.5 each for a tie, 0 for a loss.

    A system's mean over its comparisons is its win rate, 0 to 1: FiRE's normalised Copeland score
    (equation 2), which also holds where pairs are compared unequally often.
    """
    return _POINTS[preference.verdict]


def undecided_note(preferences: Iterable[Preference]) -> list[str]:
    """Say how many comparisons were left undecided; they earn nobody a point and are in no number."""
    if not (undecided := sum(p.is_undecided for p in preferences)):
        return []
    which = f"{count(undecided, 'comparison')} {form(undecided, 'is', 'are')}"
    return [f"{which} undecided, as the verdict changed with the order: neither wins nor ties, left out."]


_MOST_CRITERIA: Final = 10  # that are named where one is unknown


def choose_criterion(records: Iterable[Record], wanted: str | None) -> str:
    """The criterion to score: the wanted one, the only one, or `overall`."""
    named = [r.criterion for r in records if isinstance(r, Preference | Failure) and r.criterion is not None]
    known = tuple(dict.fromkeys(named)) or ("overall",)
    chosen = wanted or (known[0] if len(known) == 1 else "overall")
    if chosen not in known:
        what = f"there is no criterion {chosen!r}" if wanted else "there is no overall verdict"
        raise UsageError(f"{what} among these preferences; choose one of {', '.join(known)}")
    return chosen


class Judgement(NamedTuple):
    """What one annotator's record is worth for one translation."""

    lp: str  # language pair
    document: str
    segment: str
    system: str  # who made the translation
    annotator: str
    number: float | None  # score of the translation, points of the comparison; None where there is none
    flags: tuple[str, ...] = ()
    # whose translation is missing, so that nobody was asked: its own, or that of the other of a pair; empty
    # where both are there
    missing: Literal["", "own", "other"] = ""
    # standard deviation of the samples that an annotation is made of; None for one sample
    spread: float | None = None

    @property
    def has_failed(self) -> bool:
        """Whether it was asked for and not obtained."""
        return self.number is None and not self.missing


def judgements(
    records: Iterable[Record],
    *,
    number: Callable[[Annotation], float],
    criterion: str | None,  # what was preferred or judged on others is left out; None for all
    texts: Mapping[tuple[str, str], Segment] = MappingProxyType({}),
) -> list[Judgement]:
    """Read every record as judgements, in order. A preference is two, a failure one for each system.

    An undecided comparison is none: it has no points, and nothing failed.
    """
    found: list[Judgement] = []
    seen: set[tuple[str, ...]] = set()
    for record in records:
        if not (criterion is None or record.criterion in {None, criterion}):
            continue
        for key in _keys(record):
            if key in seen:
                systems = " and ".join(filter(None, key[3:5] if record.protocol == "pairwise" else key[3:4]))
                if find_protocol(record.protocol).has_criteria:
                    systems += f" by criterion {record.criterion!r}"
                where = f"segment {record.segment!r} of {record.lp}"
                raise DataError(
                    f"{record.annotator!r} judged {systems} twice on {where}; keep the record that counts"
                )
            seen.add(key)
        found += _judgements_of(record, number, texts.get((record.lp, record.segment)))
    return found


def _keys(record: Record) -> list[tuple[str, ...]]:
    place = (record.annotator, record.lp, record.segment)
    if record.protocol == "pairwise":
        return [(*place, *sorted(record.systems))]
    return [(*place, system, record.criterion or "") for system in record.systems]


def _judgements_of(
    record: Record, number: Callable[[Annotation], float], segment: Segment | None
) -> Iterator[Judgement]:
    place = (record.lp, record.document, record.segment)
    if isinstance(record, Annotation):
        spread = stdev(record.samples) if len(record.samples) > 1 else None
        yield Judgement(*place, record.system, record.annotator, number(record), record.flags, spread=spread)
    elif isinstance(record, Preference):
        if record.is_undecided:
            return
        for system, earned in zip(record.systems, points(record), strict=True):
            yield Judgement(*place, system, record.annotator, earned, record.flags)
    else:
        is_hole = record.reason == "no_translation"
        for system in record.systems:
            is_there = segment is not None and segment.has_translation(system)
            missing: Literal["", "own", "other"] = ("other" if is_there else "own") if is_hole else ""
            yield Judgement(*place, system, record.annotator, None, missing=missing)


# Verdicts on criteria


def by_translation(judged: Iterable[Judgement]) -> list[list[Judgement]]:
    """Put together what one annotator says of one translation by all criteria, in order of appearance."""
    return list(grouped(((j.annotator, j.lp, j.segment, j.system), j) for j in judged).values())


def together(verdicts: Sequence[Judgement]) -> Judgement:
    """Make one judgement, `all_pass`, of the verdicts of one annotator on one translation."""
    flags = tuple(dict.fromkeys(flag for verdict in verdicts for flag in verdict.flags))
    return verdicts[0]._replace(number=all_pass([v.number for v in verdicts]), flags=flags, spread=None)


def checklists(judged: Iterable[Judgement]) -> dict[str, Checklist]:
    """Count the verdicts of each system by all criteria."""
    systems = grouped((own[0].system, [verdict.number for verdict in own]) for own in by_translation(judged))
    return {system: Checklist.of(translations) for system, translations in systems.items()}


def checklists_note(found: Iterable[Checklist], criterion: str | None) -> list[str]:
    """Say what the number of failed judgements does not: of verdicts, or of translations."""
    lists = list(found)
    missing, unsettled = sum(c.missing for c in lists), sum(c.unsettled for c in lists)
    if criterion == ALL_PASS:
        which = of_all(missing, missing + sum(c.judged for c in lists), "verdict")
        return (
            [f"{which} failed, and {form(missing, 'is', 'are')} neither a pass nor a fail."]
            if missing
            else []
        )
    which = of_all(unsettled, unsettled + sum(c.settled for c in lists), "translation")
    lack = f"{which} {form(unsettled, 'has', 'have')} no all-pass value"
    return [f"{lack}: a verdict failed, and no other is a fail."] if unsettled else []


def without_criteria_note(segments: Iterable[Segment], lp: str | None) -> list[str]:
    """Say how many segments of a run have no criteria."""
    kept = of_lp(segments, lp, "the test set")
    if not (without := sum(not read_criteria(segment) for segment in kept)):
        return []
    which = f"{of_all(without, len(kept), 'segment')} {form(without, 'has', 'have')} no criteria"
    return [f"{which} and {form(without, 'is', 'are')} in no number."]


@frozen
class DocumentScore:
    """Mean over the judged segments of one document, translated by one system."""

    lp: str  # language pair
    document: str
    system: str
    score: float | None  # the mean; None where nothing was judged
    n: int  # segments that the mean is over
    failed: int  # segments asked for and not obtained
    untranslated: int = 0  # segments that the system did not translate


def segment_scores(judgements: Iterable[Judgement], *, is_weighted: bool) -> list[SegmentScore]:
    """Score of each translation: the mean over its judgements; None where all failed.

    The document is the first that a record of the segment names. In order of first appearance.
    """
    documents: dict[tuple[str, str], str] = {}
    numbers: dict[tuple[str, str, str], list[float]] = {}
    spreads: dict[tuple[str, str, str], list[float]] = {}
    asked: set[tuple[str, str, str]] = set()
    for lp, document, segment, system, _, value, _, missing, spread in judgements:
        if missing == "other":
            continue
        if not documents.get((lp, segment)):
            documents[lp, segment] = document
        found = numbers.setdefault((lp, segment, system), [])
        if value is not None:
            found.append(value)
        if spread is not None:
            spreads.setdefault((lp, segment, system), []).append(spread)
        if not missing:
            asked.add((lp, segment, system))
    return [
        SegmentScore(
            lp=lp,
            segment=segment,
            system=system,
            score=mean(found),
            document=documents[lp, segment],
            weight=float(len(found)) if is_weighted else 1.0,
            is_untranslated=(lp, segment, system) not in asked,
            spread=mean(spreads.get((lp, segment, system), ())),
        )
        for (lp, segment, system), found in numbers.items()
    ]


def document_scores(segments: Iterable[SegmentScore]) -> list[DocumentScore]:
    """Mean over the judged segments of each document and system, in order of first appearance."""
    found = grouped(((s.lp, s.document, s.system), s) for s in segments)
    return [_document_score(*key, scores) for key, scores in found.items()]


def _document_score(lp: str, document: str, system: str, scores: list[SegmentScore]) -> DocumentScore:
    judged = [s.score for s in scores if s.score is not None]
    untranslated = sum(s.is_untranslated for s in scores)
    return DocumentScore(
        lp=lp,
        document=document,
        system=system,
        score=mean(judged),
        n=len(judged),
        failed=len(scores) - len(judged) - untranslated,
        untranslated=untranslated,
    )


READINGS: Final[Mapping[str, str]] = {
    "extracted": "read out of a longer reply",
    "normalised": "read from another spelling than asked for",
    "confirmed": "confirmed by one more question, since words stood beside the answer",
    "authors_reader": "found by the rule of the authors' code in a reply that is not in the form",
    "comparison_failed": "made though a comparison on the way failed, which may have moved the score",
    "tool_failed": "made though a tool gave no usable answer on the way",
    "tools_in_xml": "made with tools called in XML, since the server takes no tool calls",
    "connection_suspect": "made of answers that may be those of other questions: the server sent too many",
    "samples_missing": "made of fewer samples than were asked for, since some could not be read",
}
"""Flags that say how far a judgement is from a whole reply in the form that was asked for, in the order of
signatures."""

_MOST_NAMES = 3


def untranslated_note(segments: Iterable[SegmentScore]) -> list[str]:
    """Say how many segments each system did not translate."""
    holes = Counter(s.system for s in segments if s.is_untranslated)
    if not holes:
        return []
    which = count(holes.total(), "translation")
    told = ", ".join(f"{number:,} of {system}" for system, number in holes.most_common(_MOST_NAMES))
    more = ", ..." if len(holes) > _MOST_NAMES else ""
    have = form(holes.total(), "is missing", "are missing")
    return [f"{which} {have} ({told}{more}); nobody judged a missing translation, and no mean holds one."]


def failures_note(failed: int, asked: int) -> list[str]:
    if not failed:
        return []
    have = form(failed, "it has no score and is", "they have no score and are")
    return [f"{of_all(failed, asked, 'judgement')} failed; {have} in no mean."]


def pending_note(pending: int) -> list[str]:
    """Say how many judgements an unfinished run lacks."""
    if not pending:
        return []
    which = f"{count(pending, 'judgement')} {form(pending, 'is', 'are')}"
    return [f"{which} still pending: the run is not finished."]


def coverage_note(segments: Iterable[SegmentScore]) -> list[str]:
    """Say so where systems are not judged on the same segments: their means are not comparable."""
    rows = grouped((s.system, s) for s in segments)
    judged = {name: {(s.lp, s.segment) for s in own if s.score is not None} for name, own in rows.items()}
    sets = list(judged.values())
    if all(found == sets[0] for found in sets):
        return []
    common = len(set.intersection(*sets))
    sizes = {system: len(found) for system, found in judged.items()}
    which = f"The systems are not judged on the same segments ({_spread(sizes)}; {common:,} in common)"
    return [f"{which}: compare them with `adjudge rank`, which takes the common segments only."]


def comparisons_note(systems: Iterable[SystemScore]) -> list[str]:
    """Say so where systems are compared unequally often."""
    sizes = {s.system: s.n for s in systems}
    if len(set(sizes.values())) == 1:
        return []
    return [f"The systems are not compared equally often ({_spread(sizes)} comparisons)."]


def _spread(sizes: Mapping[str, int]) -> str:
    if len(sizes) <= _MOST_NAMES:
        return ", ".join(f"{system} {n:,}" for system, n in sizes.items())
    low, high = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    return f"from {sizes[low]:,} for {low} to {sizes[high]:,} for {high}"


def annotators_note(judgements: Sequence[Judgement]) -> list[str]:
    """Say so where some translations were judged by more annotators than others."""
    known: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for j in judgements:
        if j.number is not None:
            known[j.lp, j.segment, j.system].add(j.annotator)
    judged = [len(annotators) for annotators in known.values()]
    if not judged or min(judged) == max(judged):
        return []
    which = f"Each translation was judged by {min(judged)} to {max(judged)} annotators"
    return [f"{which}; its score is the mean over those who judged it."]


def esa_score(annotation: Annotation, weights: Weights | None = None) -> float:
    """The rating, 0 to 100, or with weights minus the points of the spans (0 and below).

    The second is ESA's "spans" variant (ESA paper, section 4): -5 for a major error, -1 for a minor one,
    named `esa-spans`. Higher is better in both.
    """
    if weights is not None:
        return mqm_score(annotation, weights)
    if annotation.rating is None:
        raise DataError(f"{annotation.system} segment {annotation.segment} has no rating")
    return annotation.rating


def find_suspects(
    judged: Sequence[Judgement], score: Callable[[Sequence[Judgement]], Sequence[SystemScore]], share: int
) -> Suspects | None:
    """Count flagged judgements, and score the systems without the segments that have one.

    A flagged segment is left out for every system, so that what is left can still be compared.

    None where nothing is flagged.
    """
    flagged = [j for j in judged if SUSPECT in j.flags]
    if not flagged:
        return None
    segments = {(j.lp, j.segment) for j in flagged}
    alone = sum(any(flag.endswith("@translation") for flag in j.flags) for j in flagged)
    return Suspects(
        judgements=len(flagged) // share,
        asked=len(judged) // share,
        in_translation=alone // share,
        segments=len(segments),
        systems=tuple(score([j for j in judged if (j.lp, j.segment) not in segments])),
    )


def suspects_note(suspects: Suspects | None, systems: Iterable[SystemScore]) -> list[str]:
    """Say how many judgements are flagged, and how much it matters."""
    if suspects is None:
        return []
    flagged = of_all(suspects.judgements, suspects.asked, "judgement")
    which = f"{flagged} {form(suspects.judgements, 'is', 'are')} flagged {SUSPECT}"
    alone = f"{suspects.in_translation} of them for what a translation holds and its source does not"
    without = {s.system: s.score for s in suspects.systems}
    moves = {
        s.system: rest - s.score
        for s in systems
        if s.score is not None and (rest := without.get(s.system)) is not None
    }
    if not moves:
        return [f"{which}, {alone}; no score can be had without their segments ({suspects.segments})."]
    most = max(moves, key=lambda name: abs(moves[name]))
    segments = f"Without their segments ({suspects.segments}) {most} moves most"
    return [f"{which}, {alone}. {segments}, by {moves[most]:+.4g}."]


@frozen
class _Method:
    """How these records become numbers."""

    protocol: str
    weights: Weights | None  # of errors; None where ratings or preferences are scored
    # of the preferences or verdicts that count, `all-pass` for the verdict on all criteria of a segment
    # together; None for all verdicts, and where there is no criterion
    criterion: str | None
    info: RunInfo | None
    # of the run, by language pair and id of the segment; empty where there is none
    texts: Mapping[tuple[str, str], Segment]

    @property
    def number(self) -> Callable[[Annotation], float]:
        if self.protocol == "mqm" and self.weights is not None:
            return partial(mqm_score, weights=self.weights)
        return partial(esa_score, weights=self.weights)

    @property
    def is_pairwise(self) -> bool:
        return self.protocol == "pairwise"

    @property
    def has_criteria(self) -> bool:
        return find_protocol(self.protocol).has_criteria

    def judgements(self, records: Iterable[Record]) -> list[Judgement]:
        if self.criterion == ALL_PASS and self.has_criteria:
            every = judgements(records, number=self.number, criterion=None)
            return [together(verdicts) for verdicts in by_translation(every)]
        return judgements(records, number=self.number, criterion=self.criterion, texts=self.texts)

    @property
    def range(self) -> tuple[float, float]:
        if self.weights is not None:
            return mqm_range(self.weights)
        if self.is_pairwise:
            return (0.0, 1.0)
        bounds = find_protocol(self.protocol) if self.info is None or self.protocol != "metric" else self.info
        low, high = bounds.low, bounds.high
        return (-math.inf if low is None else low, math.inf if high is None else high)

    @property
    def share(self) -> int:
        return 2 if self.is_pairwise else 1

    def corpus_scores(self, lp: str) -> Mapping[str, float]:
        return {} if self.info is None else self.info.corpus_scores.get(lp, {})


def score_records(
    run_or_records: Run | Iterable[Record],
    *,
    weights: str | Weights | None = None,
    lp: str | None = None,
    criterion: str | None = None,
    beside: Sequence[Record] = (),
) -> Scores:
    """Score every translation and every system.

    What is scored depends on the protocol: `mqm` by weights, preferences by points (win 1, tie 0.5), the
    others by their rating; `esa` by its spans where weights are given. Under `criteria` the score of a
    translation is the share of its segment's criteria that it passes, of those whose verdict was read; with
    criterion `all-pass` it is 1 where it passes all of them and 0 where it fails one (`all_pass`).

    - A failed judgement has no score and is in no mean; every system says how many there were.
    - Several annotators of one translation: the mean over each one's score, as WMT does.
    - A marked error whose category adjudge does not know costs what its severity costs; the notes count them.
    - A filler of a batch that its annotator had judged before is left out, and the notes count them.
    - A system's score is the mean over its judged segments; over its comparisons for preferences; for a
      metric with a corpus score (BLEU) that one, `level:corpus` in the signature.
    - Several language pairs: each on its own in `lps`; `systems` is over all of them, and only where
      every language pair has the same systems.

    `weights`: weights or their name; None for those of the run, else those that its records name, else
    `mqm-google`. `criterion`: of preferences, None for the only one, else `overall`; under protocol
    `criteria` the id of one criterion, or `all-pass`, and None for the share of all.
    """
    info = run_or_records.info if isinstance(run_or_records, Run) else None
    records = run_or_records.records if isinstance(run_or_records, Run) else tuple(run_or_records)
    if not records:
        raise DataError("there are no records to score")
    chosen, repeated = without_repeats(of_lp(records, lp, "what was judged"))
    texts = run_or_records.test_set if isinstance(run_or_records, Run) else ()
    method = replace(_method(chosen, info, weights, criterion), texts={(s.lp, s.segment): s for s in texts})
    judged = method.judgements(chosen)
    if not judged:
        raise DataError("there is nothing to score: every comparison is undecided")
    parts = by_pair(judged)
    each = {name: _scores(part, method, method.corpus_scores(name)) for name, part in parts.items()}
    scores = next(iter(each.values())) if len(each) == 1 else _over_all(judged, each, method)
    unknown = (
        []
        if method.weights is None
        else [
            *unknown_categories_note(chosen, method.weights),
            *unused_categories_note(chosen, method.weights),
        ]
    )
    sight = sight_notes(run_or_records, beside) if isinstance(run_or_records, Run) else ()
    notes = (*sight, *scores.notes, *unknown, *repeats_note(repeated))
    scores = replace(scores, notes=notes)
    if method.has_criteria:
        asked = run_or_records.test_set if isinstance(run_or_records, Run) else ()
        return _with_checklists(scores, chosen, method, without_criteria_note(asked, lp))
    return _with_preferences(scores, chosen, method.criterion or "") if method.is_pairwise else scores


def _with_checklists(
    scores: Scores, records: Sequence[Record], method: _Method, notes: Sequence[str]
) -> Scores:
    lps = {
        lp: _with_checklists(part, [r for r in records if r.lp == lp], method, ())
        for lp, part in scores.lps.items()
    }
    scores = replace(scores, lps=lps, notes=(*scores.notes, *notes))
    if method.criterion not in {None, ALL_PASS}:
        return scores
    found = checklists(judgements(records, number=method.number, criterion=None))
    systems = tuple(replace(s, checklist=found[s.system]) for s in scores.systems)
    return replace(
        scores, systems=systems, notes=(*scores.notes, *checklists_note(found.values(), method.criterion))
    )


def _with_preferences(scores: Scores, records: Iterable[Record], criterion: str) -> Scores:
    kept = tuple(r for r in records if isinstance(r, Preference) and r.criterion == criterion)
    lps = {
        lp: replace(part, preferences=tuple(p for p in kept if p.lp == lp)) for lp, part in scores.lps.items()
    }
    return replace(scores, preferences=kept, lps=lps, notes=(*scores.notes, *undecided_note(kept)))


def _method(
    records: Sequence[Record], info: RunInfo | None, weights: str | Weights | None, criterion: str | None
) -> _Method:
    protocol, *others = dict.fromkeys(r.protocol for r in records)
    if others:
        found = ", ".join((protocol, *others))
        raise DataError(f"records of one protocol can be scored together; these are of {found}")
    if protocol == "pairwise":
        criterion = choose_criterion(records, criterion)
    elif find_protocol(protocol).has_criteria:
        known = dict.fromkeys([ALL_PASS, *(r.criterion for r in records if r.criterion is not None)])
        if criterion is not None and criterion not in known:
            first = ", ".join(islice(known, _MOST_CRITERIA))
            more = " ..." if len(known) > _MOST_CRITERIA else ""
            raise UsageError(f"no segment has a criterion {criterion!r}; choose one of {first}{more}")
    elif criterion is not None:
        raise UsageError(f"a criterion chooses among preferences; these records are of protocol {protocol}")
    if weights is not None and not find_protocol(protocol).has_spans:
        raise UsageError(f"weights are for marked errors; records of protocol {protocol} have none")
    if weights is None and protocol == "mqm":
        weights = weights_of(records, None if info is None else info.weights)
    weighed = find_weights(weights) if isinstance(weights, str) else weights
    return _Method(protocol=protocol, weights=weighed, criterion=criterion, info=info, texts={})


def _scores(judged: Sequence[Judgement], method: _Method, corpus: Mapping[str, float]) -> Scores:
    segments = _segment_scores(judged, method)
    holes = Counter(s.system for s in segments if s.is_untranslated)
    systems = [replace(s, untranslated=holes[s.system]) for s in _system_scores(judged, method, segments)]
    suspects = find_suspects(judged, partial(_system_scores, method=method), method.share)
    if corpus:
        systems = [replace(s, score=corpus.get(s.system)) for s in systems]
    annotators = tuple(dict.fromkeys(j.annotator for j in judged))
    if method.info is None:
        name = annotators[0] if len(annotators) == 1 else method.protocol
        signature = Signature(name, {"protocol": method.protocol, "version": VERSION})
    else:
        signature = method.info.signature
    failed, asked = _counts(judged, method)
    chosen = {
        "weights": None if method.weights is None else method.weights.name,
        "criteria" if method.has_criteria else "criterion": method.criterion,
        "level": "corpus" if bool(corpus) else None,
        "annotators": str(len(annotators)) if len(annotators) > 1 else None,
        **failed_fields(asked - failed, {"": failed, "no_translation": len(judged) // method.share - asked}),
        **{flag: f"{number}/{asked}" for flag, number in _readings(judged, method).items()},
    }
    return Scores(
        signature=signature.with_fields(**{key: value for key, value in chosen.items() if value is not None}),
        range=method.range,
        weights=method.weights,
        segments=tuple(segments),
        systems=tuple(systems),
        notes=(
            *untranslated_note(segments),
            *_state_notes(judged, method),
            *suspects_note(suspects, systems),
            *_coverage_notes(segments, systems, method),
        ),
        suspects=suspects,
    )


def _segment_scores(judged: Sequence[Judgement], method: _Method) -> list[SegmentScore]:
    return segment_scores(judged, is_weighted=method.is_pairwise)


def _system_scores(
    judged: Sequence[Judgement], method: _Method, segments: Sequence[SegmentScore] | None = None
) -> list[SystemScore]:
    if method.is_pairwise:
        numbers = [(j.system, j.number) for j in judged]
    else:
        segments = _segment_scores(judged, method) if segments is None else segments
        numbers = [(s.system, s.score) for s in segments]
    own = grouped((judgement.system, judgement) for judgement in judged)
    found = []
    failed = Counter(j.system for j in judged if j.has_failed)
    for system, every in grouped(numbers).items():
        known = [number for number in every if number is not None]
        counts = Counter(flag for each in own.get(system, ()) for flag in READINGS.keys() & set(each.flags))
        spreads = [each.spread for each in own.get(system, ()) if each.spread is not None]
        found.append(
            SystemScore(
                system=system,
                score=mean(known),
                n=len(known),
                failed=failed.get(system, 0),
                readings={flag: counts[flag] for flag in READINGS if counts[flag]},
                spread=mean(spreads),
            )
        )
    return found


def _counts(judged: Sequence[Judgement], method: _Method) -> tuple[int, int]:
    asked = [j for j in judged if not j.missing]
    return sum(j.has_failed for j in asked) // method.share, len(asked) // method.share


def _readings(judged: Sequence[Judgement], method: _Method) -> dict[str, int]:
    counts = {flag: sum(flag in j.flags for j in judged) // method.share for flag in READINGS}
    return {flag: number for flag, number in counts.items() if number}


def _state_notes(judged: Sequence[Judgement], method: _Method) -> list[str]:
    pending = 0 if method.info is None else method.info.counts.get("pending", 0)
    failed, asked = _counts(judged, method)
    read = [
        f"{of_all(number, asked, 'judgement')} {form(number, 'was', 'were')} {READINGS[flag]} (flag {flag})."
        for flag, number in _readings(judged, method).items()
        if number
    ]
    notes = [*failures_note(failed, asked), *read, *pending_note(pending)]
    return notes if method.is_pairwise else [*notes, *annotators_note(judged)]


def _coverage_notes(
    segments: Sequence[SegmentScore], systems: Sequence[SystemScore], method: _Method
) -> list[str]:
    return comparisons_note(systems) if method.is_pairwise else coverage_note(segments)


def _over_all(judged: Sequence[Judgement], each: Mapping[str, Scores], method: _Method) -> Scores:
    whole = _scores(judged, method, {})
    if any(method.corpus_scores(lp) for lp in each):
        reason = "A corpus score is no mean, so there is none over all language pairs"
    elif len({frozenset(s.system for s in scores.systems) for scores in each.values()}) > 1:
        reason = "The language pairs do not have the same systems, so no score is over all of them"
    else:
        return replace(whole, lps=each)
    notes = [*untranslated_note(whole.segments), *_state_notes(judged, method)]
    for lp, scores in each.items():
        found = suspects_note(scores.suspects, scores.systems)
        found += _coverage_notes(scores.segments, scores.systems, method)
        notes += [f"{lp}: {note}" for note in found]
    notes.append(f"{reason}: see each, or choose one with --lp ({', '.join(each)}).")
    return replace(whole, systems=(), lps=each, notes=tuple(notes), suspects=None)


_LARGEST: Final = 1e100  # the square of a sum of them, and a sum of such squares, are still numbers


@frozen
class ScoreMatrix:
    """Scores of several systems."""

    systems: tuple[str, ...]  # columns, in order of first appearance
    documents: tuple[tuple[str, str], ...]  # (lp, document) of each row; the document may be empty
    scores: Floats  # segments by systems; NaN where a judgement is missing
    weights: Floats  # how much each score counts; 0 where it is missing

    def select(self, rows: NDArray[np.bool_], columns: Sequence[int]) -> ScoreMatrix:
        """Keep some segments, and some systems in this order."""
        return ScoreMatrix(
            systems=tuple(self.systems[c] for c in columns),
            documents=tuple(d for d, kept in zip(self.documents, rows, strict=True) if kept),
            scores=self.scores[rows][:, columns],
            weights=self.weights[rows][:, columns],
        )

    def totals(self, *, by_document: bool) -> Totals:
        """Sums by segment or by document. A segment without a document is one of its own."""
        sums = np.nan_to_num(self.scores, nan=0.0) * self.weights
        if not by_document:
            return Totals(sums=sums, sizes=self.weights)
        index = self.document_numbers()
        rows = int(index.max()) + 1
        totals = Totals(sums=np.zeros((rows, sums.shape[1])), sizes=np.zeros((rows, sums.shape[1])))
        np.add.at(totals.sums, index, sums)
        np.add.at(totals.sizes, index, self.weights)
        return totals

    def document_numbers(self) -> NDArray[np.int64]:
        """Number of each row's document, from 0. A segment without a document is one of its own."""
        if not any(document for _, document in self.documents):
            raise UsageError("--by-document needs documents, and these records name none")
        keys = [key if key[1] else (key[0], row) for row, key in enumerate(self.documents)]
        rows = {key: position for position, key in enumerate(dict.fromkeys(keys))}
        return np.array([rows[key] for key in keys])


def score_matrix(segments: Iterable[SegmentScore]) -> ScoreMatrix:
    """Arrange segment scores, rows and columns in order of first appearance."""
    rows: dict[tuple[str, str], int] = {}
    columns: dict[str, int] = {}
    documents: list[tuple[str, str]] = []
    found: list[tuple[int, int, float, float]] = []
    for s in segments:
        row = rows.setdefault((s.lp, s.segment), len(rows))
        column = columns.setdefault(s.system, len(columns))
        if row == len(documents):
            documents.append((s.lp, s.document))
        if s.score is not None:
            if abs(s.score) > _LARGEST:
                raise DataError(
                    f"scores between -{_LARGEST:g} and {_LARGEST:g} can be compared, got {s.score:g} on "
                    f"{s.lp} segment {s.segment}: divide all scores by one number"
                )
            found.append((row, column, s.score, s.weight))
    scores = np.full((len(rows), len(columns)), np.nan)
    weights = np.zeros_like(scores)
    for row, column, score, weight in found:
        scores[row, column], weights[row, column] = score, weight
    return ScoreMatrix(systems=tuple(columns), documents=tuple(documents), scores=scores, weights=weights)
