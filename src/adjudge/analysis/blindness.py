"""Whether a judge sees what it judges: signs of blindness in the records of its run.

A judge that always says the same, quotes from nowhere, or counts letters gives numbers like any other. Each
sign here has a limit that hardly any slice of 120 scores crosses of people or of published metrics
(`benchmarks/blindness.py`: under 1 in 100). Past one, the judge is unfit, and every number says so first.

Little spread is no blindness by itself, for the translations may be equally good. A judge whose scores hardly
differ is unfit where other judgements of the same texts do differ, or where the rules find gross faults in
some of them. Else it is not shown to see, which is said as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.checks import find_errors
from adjudge.core.ask import CLEAN
from adjudge.core.mqm import DEFAULT_WEIGHTS, Weights, find_weights, mqm_score
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.wording import UNFIT, UNSEEN, count
from adjudge.formats.read import Judgements

Floats = NDArray[np.float64]
Classes = NDArray[np.int64]
Values = Floats | Classes

LEAST: Final = 48
"""Judgements of different translations below which nothing is said."""
LEAST_ORDERED: Final = 80
"""Judgements below which nothing is said of their order, and of the place and length of the winners."""
LEAST_QUOTED: Final = 20
MOST_ALIKE: Final = 0.93
"""Share of scores that may be the most common one of their class: of all, of a system, of every k-th call."""
MOST_PAIRS_ALIKE: Final = 0.98
"""Share of pairs that may have one and the same answer, and of ratings that may be an end of the scale."""
MOST_EVIDENT: Final = 0.9
"""The same share up to which other judgements show that the quality differs."""
MOST_BY_SOURCE: Final = 0.97
"""Share of the variance of scores that may lie between sources, and not between systems of a source."""
MOST_BY_LENGTH: Final = 0.93
"""Association of scores with a length, from 0 to 1, that they may have."""
MOST_BY_CALL: Final = 0.65
"""Association of scores with the number of the call that they may have."""
MOST_BY_CYCLE: Final = 0.3
"""Share of the variance of scores that a cycle of calls may explain."""
MOST_FIRST: Final = 0.85
"""Share of answers on pairs that may choose the translation shown first, or second."""
MOST_LONGER: Final = 0.82
"""Association of the winner with the longer translation, among pairs of the same two systems (Yule's Q)."""
LEAST_SOURCES: Final = 15
"""Different sources below which nothing is said of lengths, which are mostly those of the sources."""
MOST_DOUBTED: Final = 0.5
"""Share of quotations that may stand nowhere, of answers that may need confirming, and of failures."""
MOST_LOST: Final = 0.05
"""Share of judgements that may have failed though the answer said that all is well."""
_LEAST_LOST: Final = 5
_LEAST_LENGTHS: Final = 10
_LEAST_CLASS: Final = 8  # answers of a class, on average
_LEAST_UNTIED: Final = 0.2
_LONGEST_CYCLE: Final = 8
_SAMPLE: Final = 600
_MOST: Final = 10_000  # answers that are looked at, the first ones, so that a run of millions is as quick
_VERDICTS: Final = {"A": 1.0, "B": -1.0, "E": 0.0}
_RULES: Final = "builtin/rules"


class Answers(NamedTuple):
    """What was answered about different texts, each once, in the order of the calls."""

    places: list[tuple[str, str, tuple[str, ...]]]  # language pair, segment and systems
    texts: list[tuple[str, ...]]  # source and translations
    said: list[tuple[str, ...]]  # of a pair the verdict of each order; else nothing
    scores: Floats  # of the answers; of a pair 1 where the first won, -1 where the second did, 0 for a tie


class Sign(NamedTuple):
    """A sign of blindness."""

    reason: str
    # where scores hardly differ, the classes within which they do not; else None
    classes: Classes | None = None


def sight_notes(run: Run, beside: Sequence[Record] = ()) -> tuple[str, ...]:
    """The sentence that stands before every number of a judge that is unfit, or not shown to see."""
    unfit, unseen = why_unfit(run, beside)
    told = "; ".join(unfit or unseen)
    return (f"{run.info.annotator}{UNFIT if unfit else UNSEEN}{told}.",) if told else ()


def sight_of(sides: Iterable[Judgements]) -> list[str]:
    """The same sentences of all runs among inputs, each once."""
    return [*dict.fromkeys(note for s in sides if s.run for note in sight_notes(s.run, s.beside))]


def why_unfit(run: Run, beside: Sequence[Record] = ()) -> tuple[list[str], list[str]]:
    """Return why a judge is unfit, and why it is not shown to see; nothing for few judgements or a metric."""
    asked = [r for r in run.records if not (isinstance(r, Failure) and r.reason == "no_translation")]
    unfit: list[str] = []
    unseen: list[str] = []
    if run.info.kind != "judge" or len(asked) < LEAST:
        return unfit, unseen
    failed = sum(isinstance(record, Failure) for record in asked)
    if failed > MOST_DOUBTED * len(asked):
        unfit.append(f"{failed:,} of {count(len(asked), 'judgement')} failed")
    clean = sum(isinstance(record, Failure) and CLEAN in record.detail for record in asked)
    if clean >= _LEAST_LOST and clean > MOST_LOST * len(asked):
        unfit.append(
            f"{clean:,} of {count(failed, 'failure')} said that all is well: the rest scores too low"
        )
    judged = [record for record in asked if not isinstance(record, Failure)]
    confirmed = sum("confirmed" in record.flags for record in judged)
    if len(judged) >= LEAST and confirmed > MOST_DOUBTED * len(judged):
        unfit.append(f"{confirmed:,} of {count(len(judged), 'answer')} had words beside them")
    served = [n for n in run.info.signature.fields.get("served", "").split(",") if not n.startswith("#")]
    if len(served) > 1:
        unfit.append(f"more than one model answered ({', '.join(served)})")
    quoted = [s for r in judged if isinstance(r, Annotation) for s in r.spans if s.text]
    nowhere = sum(span.match == "unmatched" for span in quoted)
    if len(quoted) >= LEAST_QUOTED and nowhere > MOST_DOUBTED * len(quoted):
        unfit.append(f"{nowhere:,} of {count(len(quoted), 'quotation')} stand in neither text")
    protocol = find_protocol(run.info.protocol)
    if protocol.has_criteria:  # good translations pass all of many criteria
        return unfit, unseen
    answers = _answers(run)
    for sign in signs(answers, (protocol.low, protocol.high)):
        few = None if sign.classes is None else _evidence(sign.classes, answers, beside)
        if few is None:
            unfit.append(sign.reason)
        elif _RULES not in run.info.signature.fields.get("model", ""):  # it is known how the rules see
            cannot = f"{count(few, 'judgement')} by others cannot show that they differ ({LEAST} can)"
            none = "nothing shows that the translations differ"
            unseen.append(f"{sign.reason}, and {cannot if few else none}")
    return unfit, unseen


def signs(answers: Answers, ends: Sequence[float | None] = ()) -> Iterator[Sign]:
    """Signs in answers to different texts."""
    n, scores = len(answers.scores), answers.scores.tolist()
    if n < LEAST:
        return
    is_paired = len(answers.texts[0]) > 2
    if little := (_pairs_alike if is_paired else _little_spread)(answers):
        yield little
        return
    if (at_ends := sum(score in ends for score in scores)) > MOST_PAIRS_ALIKE * n:
        yield Sign(f"{at_ends:,} of {count(n, 'rating')} are {ends[0]:g} or {ends[1]:g}")
    if n >= LEAST_ORDERED:
        yield from (_of_places if is_paired else _of_order)(answers)
    if len({source for source, *_ in answers.texts}) < LEAST_SOURCES:
        return
    for name, lengths in _lengths(answers.texts).items():
        few = len({*lengths}) < _LEAST_LENGTHS
        found = None if few else association(answers.scores, np.array(lengths, dtype=float))
        if found is not None and abs(found) > MOST_BY_LENGTH:
            yield Sign(f"its scores follow the {name} alone (association {abs(found):.2f})")
            return


def _pairs_alike(answers: Answers) -> Sign | None:
    ((said, alike),) = Counter(answers.said).most_common(1)
    n = len(answers.said)
    is_place = said in (("A", "B"), ("B", "A"))  # the systems have no part in it
    is_of_two = len({systems for *_, systems in answers.places}) < 2  # of which one may always be the better
    if alike <= MOST_PAIRS_ALIKE * n or (is_of_two and not is_place and "E" not in said):
        return None
    told = f"the one shown {'first' if said[0] == 'A' else 'second'}" if is_place else ", then ".join(said)
    reason = f"its answer is the same for {alike:,} of {count(n, 'pair')} ({told})"
    return Sign(reason, None if is_place else np.zeros(n, dtype=np.int64))


def _little_spread(answers: Answers) -> Sign | None:
    n, scores = len(answers.scores), _codes(answers.scores.tolist())
    calls = np.arange(n)
    cycles = {f" every {k} calls": calls % k for k in range(2, _LONGEST_CYCLE + 1)}
    systems = _codes(systems for *_, systems in answers.places)
    for within, classes in {"": 0 * calls, " within a system": systems, **cycles}.items():
        same = _alike(classes, scores)
        if n >= _LEAST_CLASS * (classes.max() + 1) and same > MOST_ALIKE * n:
            median = "" if within else f" (score {np.median(answers.scores) + 0:g})"
            told = f"{same:,} of {count(n, 'translation')}{median}"
            return Sign(f"its score is the same{within} for {told}", classes)
    return None


def _of_order(answers: Answers) -> Iterator[Sign]:
    calls, systems = np.arange(len(answers.scores)), _codes(systems for *_, systems in answers.places)
    if abs(association(answers.scores, calls) or 0) > MOST_BY_CALL:
        yield Sign("its scores drift with the number of the call")
        return
    ordered = np.sort(answers.scores)
    ranks = (np.searchsorted(ordered, answers.scores) + np.searchsorted(ordered, answers.scores, "right")) / 2
    sources = _codes((lp, text[0]) for (lp, *_), text in zip(answers.places, answers.texts, strict=True))
    several = np.bincount(sources)[sources] > 1
    if several.sum() >= LEAST and _explained(ranks[several], sources[several]) > MOST_BY_SOURCE:
        yield Sign("its scores are those of the sources, whatever the system", sources)
    ranks -= _means(ranks, systems)  # each system comes back after as many calls as there are systems
    for k in range(2, _LONGEST_CYCLE + 1):
        if _explained(ranks, calls % k) > MOST_BY_CYCLE:
            yield Sign(f"its scores come back every {k} calls")
            return


def _of_places(answers: Answers) -> Iterator[Sign]:
    asked = [said for said in answers.said if len(said) == 2]
    for which, place in ("first", "AB"), ("second", "BA"):
        chosen = sum(verdict == at for said in asked for verdict, at in zip(said, place, strict=True))
        if len(asked) >= LEAST_ORDERED and chosen > MOST_FIRST * 2 * len(asked):
            yield Sign(f"{chosen:,} of {count(2 * len(asked), 'answer')} chose the one shown {which}")
    longer = np.sign([len(one) - len(other) for _, one, other in answers.texts])
    systems = _codes((lp, systems) for lp, *_, systems in answers.places)  # the better one may be wordy
    if (association(answers.scores, longer, systems) or 0) > MOST_LONGER:
        wins = Counter((answers.scores * longer).tolist())
        yield Sign(f"the longer translation wins in {wins[1]:,} of {count(wins[1] + wins[-1], 'pair')}")


def _evidence(classes: Classes, answers: Answers, beside: Iterable[Record]) -> int | None:
    """How many judgements another annotator has where they are too few to show whether translations differ.

    None where others', or the rules, differ within the classes in which the scores hardly do.
    """
    at = {place: i for i, place in enumerate(answers.places)}
    others: dict[str, Floats] = defaultdict(lambda: np.full(len(at), np.nan))
    for record in beside:
        i = at.get((record.lp, record.segment, record.systems))
        if i is not None and not isinstance(record, Failure):
            others[record.annotator][i] = _score(record, find_weights(DEFAULT_WEIGHTS))
    for i in range(0, len(at), -(-len(at) // _SAMPLE)):
        lp, (source, *translations) = answers.places[i][0], answers.texts[i]
        found = [{f.span.severity for f in find_errors(source, text, lp)} for text in translations]
        others[_RULES][i] = np.subtract.reduce([bool(each - {"neutral", "minor"}) * 1.0 for each in found])
    most_of_few = 0
    for values in others.values():
        there = ~np.isnan(values)
        n = int(there.sum())
        if n < LEAST:
            most_of_few = max(most_of_few, n)
        elif _alike(classes[there], _codes(values[there].tolist())) <= MOST_EVIDENT * n:
            return None
    return most_of_few


def _codes(values: Iterable[object]) -> Classes:
    known: dict[object, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _alike(classes: Classes, codes: Classes) -> int:
    most: Counter[int] = Counter()
    for (of, _), times in Counter(zip(classes.tolist(), codes.tolist(), strict=True)).items():
        most[of] = max(most[of], times)
    return most.total()


def _means(values: Floats, classes: Classes) -> Floats:
    return np.asarray((np.bincount(classes, values) / np.maximum(1, np.bincount(classes)))[classes])


def _explained(values: Floats, classes: Classes) -> float:
    values = values - values.mean()
    return float((_means(values, classes) ** 2).sum() / max(1.0, (values**2).sum()))


def _answers(run: Run) -> Answers:
    weights = find_weights(run.info.weights or DEFAULT_WEIGHTS)
    segments = {(segment.lp, segment.segment): segment for segment in run.test_set}
    found: dict[tuple[str, ...], Annotation | Preference] = {}
    for record in run.records:
        segment = segments.get((record.lp, record.segment))
        if segment is None or isinstance(record, Failure):
            continue
        if len(found) == _MOST:
            break
        texts = tuple(segment.translations.get(name, "") for name in record.systems)
        if len(texts) < 2 or texts[0] != texts[1]:
            found.setdefault((segment.source, *texts), record)
    return Answers(
        places=[(r.lp, r.segment, r.systems) for r in found.values()],
        texts=[*found],
        said=[r.orders or (r.verdict,) if isinstance(r, Preference) else () for r in found.values()],
        scores=np.array([_score(r, weights) for r in found.values()]),
    )


def _score(record: Annotation | Preference, weights: Weights) -> float:
    if isinstance(record, Preference):
        return _VERDICTS[record.verdict]
    return mqm_score(record, weights) if record.rating is None else record.rating


def _lengths(texts: Iterable[tuple[str, ...]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"length of the translation": [], "words of the translation": []}
    source: list[int] = []
    for text, *translations in texts:
        characters, words = ([size(t) for t in translations] for size in (len, lambda t: len(t.split())))
        for name, (one, *others) in zip(found, (characters, words), strict=True):
            found[name].append(one - sum(others))
        source.append(len(text))
    return {**found, "length of the source": source}


def association(one: Values, other: Values, classes: Classes | None = None) -> float | None:
    """Goodman and Kruskal's gamma of two lists, from -1 to 1, over the pairs of one class that neither ties.

    None where fewer than one in five of these pairs are untied. Of long lists every k-th entry is taken.
    """
    step = -(-len(one) // _SAMPLE)
    a, b = (np.sign(x[::step, None] - x[None, ::step]) for x in (one, other))
    product = a * b
    size = product.size
    if classes is not None:
        together = classes[::step, None] == classes[None, ::step]
        product, size = product * together, int(together.sum())
    untied = float(np.abs(product).sum())
    return None if untied < _LEAST_UNTIED * size else float(product.sum()) / untied
