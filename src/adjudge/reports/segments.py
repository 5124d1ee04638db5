"""The segments of a page: which they are, what was said of them as plain data, and what was counted.

`page_texts` finds the texts that a page shows, and refuses judgements that are not about them. The script of
a page reads the rest from a block of JSON and turns it into text, never into markup; places are code points,
as in the records. `count_errors`, `count_failures` and `count_verdicts` count for the tables of a page, and
`render_marked` underlines errors in a text where there is no script, as in notebooks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from typing import Any, Final

import numpy as np

from adjudge.analysis.preferences import in_order_of_names
from adjudge.core.frozen import frozen
from adjudge.core.language import is_right_to_left, language_name, lp_among, source_language, target_language
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record, grouped
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet, read_criteria
from adjudge.errors import DataError, UsageError, warn
from adjudge.formats.read import Judgements
from adjudge.reports.annotators import Annotator, Judged, shown_records, shown_texts
from adjudge.reports.tables import NAMES, RANGES, is_invisible, name_invisible
from adjudge.reports.tables import name_of as tables_name_of
from adjudge.reports.words import FAILURES, lp_words

Key = tuple[str, str]
"""Language pair and segment id."""
Json = dict[str, Any]

_DIGITS: Final = 4  # of a score, more than are shown
UNTRANSLATED: Final = "no_translation"
_UNSAFE: Final = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def to_script_json(data: object) -> str:
    r"""Write JSON that can stand inside a script element, whatever the texts in it say.

    `<`, `>` and `&` become `\u003c` and the like, so that no text can end the element or open a comment;
    surrogates that stand alone become escapes too, so that the file stays UTF-8.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def iter_segments_data(
    segments: Sequence[Segment],
    annotators: Sequence[Annotator],
    systems: Sequence[str],
    *,
    is_thin: bool = False,
) -> Iterator[Json]:
    """Describe every segment with all that was said of it, in test-set order, one at a time."""
    said = _by_segment(segments, annotators)
    position = {name: index for index, name in enumerate(systems)}
    spreads = spread_by_translation(annotators)
    for segment in segments:
        judgements: list[Json] = []
        bare: list[float | None] = []
        told: set[tuple[int, str]] = set()
        for by, record in said.pop((segment.lp, segment.segment)):
            if isinstance(record, Annotation):
                of, is_first = position[record.system], (by, record.system) not in told
                entry = _annotation(record, segment, annotators[by], is_first=is_first)
                told.add((by, record.system))
                if is_thin and len(entry) == 1:  # the score alone
                    bare += (by, of, entry["score"])
                else:
                    judgements.append({"by": by, "of": of, **entry})
            elif isinstance(record, Preference):
                judgements.append(
                    {
                        "by": by,
                        "pair": [position[name] for name in record.systems],
                        "criterion": record.criterion,
                        "verdict": record.verdict,
                        **_known(undecided=record.is_undecided),
                        **_words(record),
                    }
                )
            else:
                judgements += ({"by": by, **one} for one in _failure(record, segment, position))
        yield _segment(segment, systems, (judgements, bare), spreads)


def _by_segment(
    segments: Sequence[Segment], annotators: Sequence[Annotator]
) -> dict[Key, list[tuple[int, Record]]]:
    said: dict[Key, list[tuple[int, Record]]] = {(s.lp, s.segment): [] for s in segments}
    for by, annotator in enumerate(annotators):
        for record in annotator.records:
            if (own := said.get((record.lp, record.segment))) is not None:
                own.append((by, record))
    return said


def _annotation(record: Annotation, segment: Segment, annotator: Annotator, *, is_first: bool) -> Json:
    score = annotator.segment_scores.get(((record.lp, record.segment), record.system))
    shown = None if score is None else round(score, _DIGITS)
    if record.criterion is not None:
        score_of_all = {"score": shown} if is_first and shown is not None else {}
        who = {"who": record.annotator} if annotator.is_several else {}
        verdict = {"criterion": _criterion(segment, record), "passed": record.rating == 1}
        return verdict | score_of_all | who | _words(record)
    entry: Json = {"score": shown}
    if record.rating is not None and record.rating != score:
        entry["rating"] = record.rating
    if record.spans:
        entry["errors"] = [_error(span, segment, record.system) for span in record.spans]
    elif record.counts:
        entry["counts"] = {name: amount for name, amount in record.counts.items() if amount}
    if record.flags or record.rationale:
        entry |= _words(record)
    if annotator.is_several:
        entry["who"] = record.annotator
    return entry


def _criterion(segment: Segment, record: Annotation | Failure) -> str:
    texts = [each.text for each in read_criteria(segment) if each.id == record.criterion]
    return ": ".join([record.criterion or "", *texts])


def _segment(
    segment: Segment,
    systems: Sequence[str],
    judged: tuple[list[Json], list[float | None]],
    spreads: Mapping[tuple[Key, str], float],
) -> Json:
    said, bare = judged
    key = (segment.lp, segment.segment)
    spread = [round(spreads.get((key, name), 0.0), 2) for name in systems]
    return {
        "id": segment.segment,
        "lp": segment.lp,
        "source": segment.source,
        "texts": [segment.translations.get(name) for name in systems],
        **_known(document=segment.document, domain=segment.domain, references=dict(segment.references)),
        **({"said": said} if said or bare else {}),
        **_known(spread=spread if any(spread) else None, scores=bare),
    }


def _known(**facts: object) -> Json:
    """Of some facts those that say something, so that the data of a page stay small."""
    return {name: value for name, value in facts.items() if value}


def _words(record: Annotation | Preference) -> Json:
    return _known(flags=list(record.flags), rationale=record.rationale)


def _failure(record: Failure, segment: Segment, position: Mapping[str, int]) -> list[Json]:
    why = {"failed": record.reason, **_known(detail=record.detail)}
    if record.protocol == "pairwise":
        pair = [position[name] for name in record.systems]
        return [{"pair": pair, "criterion": record.criterion or "", **why}]
    on = {} if record.criterion is None else {"criterion": _criterion(segment, record)}
    return [{"of": position[name], **on, **why} for name in record.systems]


def _error(span: ErrorSpan, segment: Segment, system: str) -> Json:
    """Describe one error; a place that the text does not have is said to be none."""
    in_source = span.side == "source"
    text = segment.source if in_source else segment.translations[system]
    has_place = span.start is not None and span.end is not None and span.end <= len(text)
    return _known(
        severity=span.severity,
        category=span.category,
        side="source" if in_source else None,
        at=[span.start, span.end] if has_place else None,
        ambiguous=has_place and span.match == "ambiguous",
        quote=None if has_place else span.text,
        note=span.note,
    )


def merge_segments(groups: Iterable[Iterable[Segment]]) -> dict[Key, Segment]:
    """Put the segments of several test sets together, in order of first appearance."""
    merged: dict[Key, Segment] = {}
    for segment in (s for group in groups for s in group):
        key = (segment.lp, segment.segment)
        known = merged.setdefault(key, segment)
        if known is not segment:
            merged[key] = replace(
                known,
                translations={**known.translations, **segment.translations},
                references={**segment.references, **known.references},
            )
    return merged


def spread_by_translation(annotators: Sequence[Annotator]) -> dict[tuple[Key, str], float]:
    """How far annotators disagree on each translation, 0 to 1.

    Each annotator's scores within a language pair become ranks between 0 (worst) and 1 (best), ties in the
    middle, so that scales do not matter; the spread is the distance of the highest and the lowest rank.
    """
    ranks: dict[tuple[Key, str], list[float]] = {}
    scored = [annotator for annotator in annotators if annotator.results]
    for annotator in scored if len(scored) > 1 else ():
        known_scores = annotator.segment_scores.items()
        by_lp = grouped((p[0][0], (p, score)) for p, score in known_scores if score is not None)
        for scores in map(dict, by_lp.values()):
            known = np.fromiter(scores.values(), float, len(scores))
            ordered = np.sort(known)
            middles = np.searchsorted(ordered, known) + np.searchsorted(ordered, known, side="right")
            for place, middle in zip(scores, (middles / (2 * len(known))).tolist(), strict=True):
                ranks.setdefault(place, []).append(middle)
    return {place: max(own) - min(own) for place, own in ranks.items() if len(own) > 1}


def page_texts(judged: Sequence[Judged], lp: str | None, test_set: TestSet | None) -> dict[Key, Segment]:
    """Every segment that a page shows, in order of first appearance.

    The texts of the runs, if there are any; else those that files and campaigns bring along, and of those
    what was judged. Of a test set that was chosen, what was judged comes besides.

    `test_set`: that was chosen; else None.
    """
    runs = [each for each in judged if isinstance(each, Run)]
    files = [each for each in judged if isinstance(each, Judgements)]
    groups: list[Iterable[Segment]] = [run.test_set for run in runs]
    if not runs:
        groups += [shown_texts(f.records, f.test_set) for f in files if f.test_set is not None]
    if test_set is not None:
        groups.append(shown_texts((r for f in files for r in f.records), test_set))
    every = _with_holes(merge_segments(groups), judged)
    if not every and not runs:
        for file in files:
            _refuse_unjudged(file)
        names = ", ".join(name_of(each) for each in judged)
        raise UsageError(f"{names}: judgements without texts; say what they are about with --test-set")
    known = tuple(dict.fromkeys(key[0] for key in every))
    lp = lp_among(lp, known, "what was judged")
    segments = {key: s for key, s in every.items() if lp in {None, key[0]}}
    for run in runs:
        _check_run(run, segments)
    for file in files:
        _refuse_unjudged(file)
        kept = {key: segment.translations for key, segment in every.items()}
        if not any(shown_records(file.records, kept)):
            hint = "is it of the same test set? --test-set adds its texts"
            raise DataError(f"{file.name}: no judgement is about a translation that the report shows; {hint}")
    return segments


def _with_holes(segments: dict[Key, Segment], judged: Sequence[Judged]) -> dict[Key, Segment]:
    """Give each translation that is missing a blank text, so that a page has a place to say so."""
    for record in (r for each in judged for r in each.records if isinstance(r, Failure)):
        key = (record.lp, record.segment)
        if record.reason == UNTRANSLATED and key in segments:
            blank = dict.fromkeys(record.systems, "")
            segments[key] = replace(segments[key], translations=blank | dict(segments[key].translations))
    return segments


def name_of(judged: Judged) -> str:
    """What a page calls the texts of a run or file."""
    if isinstance(judged, Run):
        return judged.test_set.name
    return judged.name if judged.test_set is None else judged.test_set.name


def _check_run(run: Run, segments: Mapping[Key, Segment]) -> None:
    """Refuse records of translations that the run's test set does not have."""
    lps = {key[0] for key in segments}
    for record in (r for r in run.records if r.lp in lps):
        segment = segments.get((record.lp, record.segment))
        known = {} if segment is None else segment.translations
        for name in record.systems:
            if name not in known:
                what = f"{name} on segment {record.segment!r} of {record.lp}"
                raise DataError(f"the run of {run.info.annotator} judged {what}, which its test set lacks")


def _refuse_unjudged(file: Judgements) -> None:
    if not file.records:
        raise DataError(f"{file.name} has no judgement yet")


def count_left_out(
    judged: Sequence[Judged], shown: Sequence[Annotator], lps: Collection[str]
) -> tuple[tuple[str, int], ...]:
    """Name of each file, and how many of its records are of translations that the page does not show."""
    kept = Counter(id(record) for annotator in shown for record in annotator.records)
    lost = [
        (file.name, sum(record.lp in lps and id(record) not in kept for record in file.records))
        for file in judged
        if isinstance(file, Judgements)
    ]
    return tuple((name, amount) for name, amount in lost if amount)


def warn_of_misfits(annotator: Annotator, segments: Mapping[Key, Segment]) -> None:
    """Warn where errors mark other words than stand there: they were marked in other texts."""
    misfits = total = 0
    for record in (r for r in annotator.records if isinstance(r, Annotation)):
        segment = segments[record.lp, record.segment]
        for span in (s for s in record.spans if s.start is not None and s.text):
            text = segment.source if span.side == "source" else segment.translations[record.system]
            total += 1
            misfits += text[span.start : span.end] != span.text
    if misfits:
        told = f"{misfits} of {total} errors of {annotator.label} mark other words than stand at their place"
        others = "gold and runs" if annotator.kind == "gold" else "it and the others"
        warn(f"{told}: {others} may have different texts")


_UNDECIDED: Final = "\0undecided"  # no name of a system


@frozen
class Errors:
    """Errors of one annotator on one language pair."""

    systems: tuple[str, ...]  # in the order of the page
    judged: Mapping[str, int]  # system to annotations
    clean: Mapping[str, int]  # system to annotations without any error
    # severity to system to errors; only severities that occur or that a reader expects
    severities: Mapping[Severity, Mapping[str, int]]
    # category to system to errors, in the order of the typology; empty where none were asked
    categories: Mapping[str, Mapping[str, int]]

    @property
    def total(self) -> int:
        return sum(sum(counts.values()) for counts in self.severities.values())

    @property
    def most(self) -> int:
        """Errors of one category by one system, where there are most."""
        return max((max(counts.values()) for counts in self.categories.values()), default=0)

    def of_system(self, system: str) -> int:
        return sum(counts[system] for counts in self.severities.values())


def count_errors(records: Iterable[Record], systems: Sequence[str]) -> Errors:
    """Count the errors of annotations; failures have none and are not among the judged."""
    judged: Counter[str] = Counter()
    clean: Counter[str] = Counter()
    severities: dict[Severity, Counter[str]] = {severity: Counter() for severity in SEVERITIES}
    categories: dict[str, Counter[str]] = {}
    for record in records:
        if not isinstance(record, Annotation):
            continue
        system = record.system
        judged[system] += 1
        for span in record.spans:
            severities[span.severity][system] += 1
            if span.category is not None:
                categories.setdefault(span.category, Counter())[system] += 1
        if record.spans:
            continue
        clean[system] += not any(record.counts.values())
        for severity, amount in record.counts.items():  # where a method only counts, take its count
            severities[severity][system] += amount
    return Errors(
        systems=tuple(systems),
        judged=judged,
        clean=clean,
        severities={s: counts for s, counts in severities.items() if counts or s in {"minor", "major"}},
        categories={name: categories[name] for name in CATEGORIES if name in categories},
    )


def count_failures(records: Iterable[Record]) -> dict[str, Counter[str]]:
    """Failures by reason and system, most frequent reason first, without translations that are missing.

    A failure over several systems counts for each of them.
    """
    reasons: dict[str, Counter[str]] = {}
    for record in records:
        if isinstance(record, Failure) and record.reason != UNTRANSLATED:
            reasons.setdefault(record.reason, Counter()).update(record.systems)
    return dict(sorted(reasons.items(), key=lambda item: (-item[1].total(), item[0])))


@frozen
class Verdicts:
    """Preferences between two systems on one criterion."""

    pair: tuple[str, str]
    criterion: str  # what was asked about
    a: int  # how often A was preferred
    b: int  # how often B was preferred
    equal: int  # how often neither was
    undecided: int = 0  # how often the verdict changed with the order and was kept as that


def count_verdicts(records: Iterable[Record]) -> list[Verdicts]:
    """Count preferences by pair and criterion, whichever of the two was called A."""
    found: dict[tuple[tuple[str, str], str], Counter[str]] = {}
    for record in records:
        if isinstance(record, Preference):
            first, second, verdict = in_order_of_names(record)
            winner = _UNDECIDED if record.is_undecided else {1.0: first, -1.0: second, 0.0: ""}[verdict]
            found.setdefault(((first, second), record.criterion), Counter())[winner] += 1
    return [
        Verdicts(
            pair=pair,
            criterion=criterion,
            a=wins[pair[0]],
            b=wins[pair[1]],
            equal=wins[""],
            undecided=wins[_UNDECIDED],
        )
        for (pair, criterion), wins in found.items()
    ]


_LINES: Final = {
    "neutral": "background:#eeeeee;color:#111;text-decoration:underline dotted 2px #888",
    "minor": "background:#e6f0fa;color:#111;text-decoration:underline solid 1px #3f88d6",
    "major": "background:#fde5d4;color:#111;text-decoration:underline solid 3px #d05a10",
    "critical": "background:#f3cfe0;color:#111;text-decoration:underline double 3px #c0408a",
}
_FRAME: Final = "border:1px solid;border-radius:2px;font-size:70%;padding:0 2px;opacity:.8"
_HERE: Final = "\u2038"  # a caret, where something is missing
_JOINER: Final = "\u200d"
_EMOJI: Final = "\U0001f000"


def plain(text: str) -> str:
    """Text as HTML, whatever it says; what nobody sees is named."""
    return escape(name_invisible(text))


def span_words(span: ErrorSpan) -> str:
    words = [span.severity, *([span.category] if span.category else []), *([span.note] if span.note else [])]
    return ": ".join(words)


def render_marked(text: str, spans: Sequence[ErrorSpan], lang: str = "") -> str:
    """A text with its errors underlined.

    An element in whatever direction the text has. `lang`: its language, as a page names it; empty where
    unknown.
    """
    placed = [
        (max(s.start, 0), min(s.end, len(text)), s)
        for s in spans
        if s.start is not None and s.end is not None
    ]
    edges = sorted({0, len(text), *(start for start, _, _ in placed), *(end for _, end, _ in placed)})
    pieces = "".join(_pieces(text, edges, placed))
    spoken = f' lang="{escape(lang)}"' if lang else ""
    return f'<span dir="auto"{spoken} style="unicode-bidi:isolate;white-space:pre-wrap">{pieces}</span>'


def _pieces(text: str, edges: list[int], placed: list[tuple[int, int, ErrorSpan]]) -> Iterator[str]:
    for place, start in enumerate(edges):
        yield from (_marked(_HERE, [s]) for at, end, s in placed if at == end == start)
        if place + 1 < len(edges):
            end = edges[place + 1]
            over = [s for first, last, s in placed if first <= start and end <= last and first < last]
            piece = text[start:end]
            shown = "".join(
                _framed(piece, at) if is_invisible(char) else escape(char) for at, char in enumerate(piece)
            )
            yield _marked(shown, over) if over else shown


def _marked(shown: str, over: list[ErrorSpan]) -> str:
    worst = max(over, key=lambda span: SEVERITIES.index(span.severity))
    words = plain("; ".join(map(span_words, over)))
    return f'<span title="{words}" style="{_LINES[worst.severity]}">{shown}</span>'


def _framed(text: str, place: int) -> str:
    char = text[place]
    if char == _JOINER and text[place + 1 : place + 2] >= _EMOJI:
        return char
    return f'<span style="{_FRAME}">{escape(tables_name_of(char))}</span>'


_APART: Final = 0.5
"""Spread of ranks from which annotators are said to disagree on a translation."""
_ONE_IN: Final = 10
"""Of so many segments, they are said to disagree on one: many annotators are half apart on nearly all."""


def page_facts(
    segments: Mapping[Key, Segment], annotators: Sequence[Annotator], systems: Sequence[str]
) -> dict[str, Any]:
    """Everything that the script needs but the segments themselves; plain JSON types only."""
    return {
        "lps": {
            lp: {"source": _language(source_language(lp)), "target": _language(target_language(lp))}
            for lp in dict.fromkeys(lp for lp, _ in segments)
        },
        "systems": list(systems),
        "annotators": [
            {"label": a.label, "digits": _segment_digits(a), "marks": _marks(a)} for a in annotators
        ],
        "reasons": FAILURES,
        "invisible": {"ranges": RANGES, "names": NAMES},
        "apart": _apart(segments, annotators),
        "domains": _several(s.domain for s in segments.values()),
    }


def _apart(segments: Mapping[Key, Segment], annotators: Sequence[Annotator]) -> float:
    """From which spread on annotators disagree: half of the ranks, or more where many would be."""
    widest = dict.fromkeys(segments, 0.0)
    for (key, _), spread in spread_by_translation(annotators).items():
        widest[key] = max(widest[key], spread)
    ordered = sorted(widest.values(), reverse=True)
    return max(_APART, round(ordered[len(ordered) // _ONE_IN], 2)) if ordered else _APART


def _language(code: str) -> dict[str, str]:
    direction = "rtl" if is_right_to_left(code) else "ltr"
    return {"lang": code.replace("_", "-"), "dir": direction, "name": language_name(code)}


def _segment_digits(annotator: Annotator) -> int:
    scores = [score for score in annotator.segment_scores.values() if score is not None]
    if scores and max(map(abs, scores)) <= 1 and any(score % 1 for score in scores):
        return 3
    return next((d for d in (0, 1) if all(abs(s - round(s, d)) < 1e-9 for s in scores)), 2)


def _marks(annotator: Annotator) -> bool:
    return any(isinstance(r, Annotation) and (r.spans or r.counts) for r in annotator.records)


def filter_choices(
    segments: Mapping[Key, Segment], annotators: Sequence[Annotator], systems: Sequence[str]
) -> dict[str, list[tuple[str, str]]]:
    """What each filter offers: the word that the script knows it by, and the one that is read.

    A filter that would offer nothing to choose stays empty.
    """
    annotations = [r for a in annotators for r in a.records if isinstance(r, Annotation)]
    spans = [span for r in annotations for span in r.spans]
    counted: set[str] = {name for r in annotations if r.counts and not r.spans for name in r.counts}
    severities, categories = (
        counted.union(span.severity for span in spans),
        {span.category or "" for span in spans},
    )
    cores = [(name.split("/", 1)[0], name) for name in CATEGORIES if name in categories]
    marking = [annotator for annotator in annotators if _marks(annotator)]
    is_choir = len(marking) > 1 or any(annotator.is_several for annotator in marking)
    lps = {lp: lp_words(lp) for lp, _ in segments}
    domains = _several(s.domain for s in segments.values())
    return {
        "lp": list(lps.items()) if len(lps) > 1 else [],
        "system": _numbered(systems) if len(systems) > 1 else [],
        "against": _numbered(systems) if len(systems) > 1 else [],
        "annotator": _numbered(a.label for a in annotators) if len(annotators) > 1 else [],
        "severity": [(name, name) for name in SEVERITIES if name in severities],
        "category": [(name, name) for name in dict.fromkeys(chain(*cores))],  # types before their subtypes
        "domain": [(value, words or "none") for value, words in _numbered(domains)],
        "view": [("over", "over one another")] if is_choir else [],
    }


def _numbered(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names that the script knows by their position, for they may hold anything."""
    return [(str(index), name) for index, name in enumerate(names)]


def segment_orders(annotators: Sequence[Annotator]) -> list[tuple[str, str]]:
    """The orders in which segments can be shown, each with the word that the script knows it by."""
    orders = [("", "as in the test set")]
    for index, annotator in enumerate(annotators):
        if annotator.results:
            orders += [
                (f"low:{index}", f"lowest score first, {annotator.label}"),
                (f"high:{index}", f"highest score first, {annotator.label}"),
                (f"gap:{index}", f"largest difference of the two systems first, {annotator.label}"),
            ]
    return [*orders, ("spread:", "largest disagreement first")] if len(annotators) > 1 else orders


def _several(values: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(values))
    return found if len(found) > 1 else ()
