"""Whether a judge sees what it judges: signs of blindness in the records of its run.

A judge that always says the same, quotes from nowhere, or counts letters gives numbers like any other. Each
sign here has a limit that hardly any slice of 64 translations crosses of people, of published metrics or of
the rules (`benchmarks/blindness.py`: under 1 in 100). Past one, the judge is unfit, and every number says so
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.ask import CLEAN
from adjudge.core.mqm import DEFAULT_WEIGHTS, find_weights, mqm_score
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.wording import UNFIT, count

__all__ = ["MOST_ALIKE", "MOST_BY_LENGTH", "association", "unfit_note", "why_unfit"]

LEAST: Final = 48
"""Judgements of different translations below which nothing is said."""
LEAST_QUOTED: Final = 20
MOST_ALIKE: Final = 0.98
"""Share of translations that may have one and the same answer, or an end of the scale."""
MOST_BY_LENGTH: Final = 0.93
"""Association of scores with a length, from 0 to 1, that they may have."""
LEAST_SOURCES: Final = 15
"""Different sources below which nothing is said of lengths, which are mostly those of the sources."""
MOST_DOUBTED: Final = 0.5
"""Share of quotations that may stand nowhere, of answers that may need confirming, and of failures."""
MOST_LOST: Final = 0.05
"""Share of judgements that may have failed though the answer said that all is well."""
_LEAST_LOST: Final = 5
_LEAST_LENGTHS: Final = 10
_LEAST_ORDERED: Final = 0.2
_SAMPLE: Final = 600
_SIGNS: Final = {"A": 1.0, "B": -1.0, "E": 0.0}


def why_unfit(run: Run) -> tuple[str, ...]:
    """Signs that a judge does not see what it judges, in words; none for a metric or too few judgements."""
    if run.info.kind != "judge":
        return ()
    asked = [r for r in run.records if not (isinstance(r, Failure) and r.reason == "no_translation")]
    if len(asked) < LEAST:
        return ()
    found = [*_of_replies(run, asked)]
    if not find_protocol(run.info.protocol).has_criteria:  # good translations pass all of many criteria
        found += _of_answers(run)
    return tuple(found)


def unfit_note(name: str, reasons: Sequence[str]) -> tuple[str, ...]:
    """The sentence that stands before every number of a judge that is unfit."""
    return (f"{name}{UNFIT}{'; '.join(reasons)}.",) if reasons else ()


def _of_replies(run: Run, asked: Sequence[Record]) -> Iterator[str]:
    failed = sum(isinstance(record, Failure) for record in asked)
    if failed > MOST_DOUBTED * len(asked):
        yield f"{failed:,} of {count(len(asked), 'judgement')} failed"
    clean = sum(isinstance(record, Failure) and CLEAN in record.detail for record in asked)
    if clean >= _LEAST_LOST and clean > MOST_LOST * len(asked):
        yield f"{clean:,} of {count(failed, 'failure')} said that all is well: the rest scores too low"
    judged = [record for record in asked if not isinstance(record, Failure)]
    confirmed = sum("confirmed" in record.flags for record in judged)
    if len(judged) >= LEAST and confirmed > MOST_DOUBTED * len(judged):
        yield f"{confirmed:,} of {count(len(judged), 'answer')} had words beside them"
    served = [n for n in run.info.signature.fields.get("served", "").split(",") if not n.startswith("#")]
    if len(served) > 1:
        yield f"more than one model answered ({', '.join(served)})"
    quoted = [s for r in judged if isinstance(r, Annotation) for s in r.spans if s.text]
    nowhere = sum(span.match == "unmatched" for span in quoted)
    if len(quoted) >= LEAST_QUOTED and nowhere > MOST_DOUBTED * len(quoted):
        yield f"{nowhere:,} of {count(len(quoted), 'quotation')} stand in neither text"


def _of_answers(run: Run) -> Iterator[str]:
    """What different texts were answered."""
    answers = _answers(run)
    if len(answers) < LEAST:
        return
    what = "pair" if run.info.protocol == "pairwise" else "translation"
    ((said, alike),) = Counter(answer for answer, _ in answers.values()).most_common(1)
    if alike > MOST_ALIKE * len(answers):
        yield f"its answer is the same for {alike:,} of {count(len(answers), what)} ({_in_words(said)})"
        return
    scores = [score for _, score in answers.values()]
    protocol = find_protocol(run.info.protocol)
    ends = sum(score in {protocol.low, protocol.high} for score in scores)
    if ends > MOST_ALIKE * len(answers):
        yield f"{ends:,} of {count(len(answers), 'rating')} are {protocol.low:g} or {protocol.high:g}"
    if len({source for source, *_ in answers}) < LEAST_SOURCES:
        return
    for name, lengths in _lengths(answers).items():
        few = len({*lengths}) < _LEAST_LENGTHS
        found = None if few else association(np.array(scores), np.array(lengths, dtype=float))
        if found is not None and abs(found) > MOST_BY_LENGTH:
            yield f"its scores follow the {name} alone (association {abs(found):.2f})"
            return


def _answers(run: Run) -> dict[tuple[str, ...], tuple[object, float]]:
    """Source and translations that differ, each once, with what was answered and its score."""
    weights = find_weights(run.info.weights or DEFAULT_WEIGHTS)
    segments = {(segment.lp, segment.segment): segment for segment in run.test_set}
    answers: dict[tuple[str, ...], tuple[object, float]] = {}
    for record in run.records:
        segment = segments.get((record.lp, record.segment))
        if segment is None or isinstance(record, Failure):
            continue
        if isinstance(record, Preference):
            first, second = (segment.translations.get(name, "") for name in record.systems)
            if first != second:
                said = record.orders or (record.verdict,)
                answers.setdefault((segment.source, first, second), (said, _SIGNS[record.verdict]))
        else:
            text = segment.translations.get(record.system, "")
            marks = tuple((span.text, span.category, span.severity) for span in record.spans)
            score = mqm_score(record, weights) if record.rating is None else record.rating
            answers.setdefault((segment.source, text), ((record.rating, marks), score))
    return answers


def _lengths(answers: Iterable[tuple[str, ...]]) -> dict[str, list[int]]:
    """Lengths that a score may count; of a pair, by how much the first translation is the longer."""
    found: dict[str, list[int]] = {"length of the translation": [], "words of the translation": []}
    source: list[int] = []
    for text, *translations in answers:
        characters, words = ([size(t) for t in translations] for size in (len, lambda t: len(t.split())))
        for name, (one, *others) in zip(found, (characters, words), strict=True):
            found[name].append(one - sum(others))
        source.append(len(text))
    return {**found, "length of the source": source}


def association(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Goodman and Kruskal's gamma of two lists, from -1 to 1, over the pairs that neither ties.

    None where fewer than one in five pairs are untied. Of long lists every k-th entry is taken.
    """
    step = -(-len(one) // _SAMPLE)
    a, b = (np.sign(x[::step, None] - x[None, ::step]) for x in (one, other))
    product = a * b
    untied = float(np.abs(product).sum())
    return None if untied < _LEAST_ORDERED * product.size else float(product.sum()) / untied


def _in_words(answer: object) -> str:
    match answer:
        case (None | float() | int() as rating, tuple() as spans):
            errors = "no errors" if not spans else f"{count(len(spans), 'error')}, {spans[0][0]!r} first"
            return errors if rating is None else f"{rating:g}" if not spans else f"{rating:g}, {errors}"
        case ("A", "B"):
            return "the one shown first"
        case ("B", "A"):
            return "the one shown second"
        case tuple() as verdicts:
            return ", then ".join(map(str, verdicts))
    return str(answer)
