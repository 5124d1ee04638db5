"""The segments of a page as plain data, which its script turns into text, never into markup.

The script reads it from a block of JSON. Places are code points, as in the records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.segment import Segment
from adjudge.errors import UsageError
from adjudge.report.annotators import Annotator

__all__ = ["Key", "iter_segments_data", "merge_segments", "spread_by_translation", "to_script_json"]

Key = tuple[str, str]
"""Language pair and segment id."""
Json = dict[str, Any]

_DIGITS: Final = 4  # of a score, more than are shown
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
    """Describe every segment with all that was said of it, in test-set order, one at a time.

    Args:
        segments: of the page.
        annotators: of the page.
        systems: of the page.
        is_thin: whether judgements that are a score and nothing else, which most are, become three numbers
            each under `scores`: annotator, system, score.
    """
    said = _by_segment(segments, annotators)
    position = {name: index for index, name in enumerate(systems)}
    spreads = spread_by_translation(annotators)
    for segment in segments:
        judgements: list[Json] = []
        bare: list[float | None] | None = [] if is_thin else None
        for by, record in said.pop((segment.lp, segment.segment)):
            if isinstance(record, Annotation):
                _tell(record, segment, (by, position[record.system], annotators[by]), judgements, bare)
            else:
                judgements += ({"by": by, **one} for one in _comparison(record, position))
        yield _segment(segment, systems, (judgements, bare), spreads)


def _by_segment(
    segments: Sequence[Segment], annotators: Sequence[Annotator]
) -> dict[Key, list[tuple[int, Record]]]:
    """What was said of each segment, and by whom."""
    said: dict[Key, list[tuple[int, Record]]] = {(s.lp, s.segment): [] for s in segments}
    for by, annotator in enumerate(annotators):
        for record in annotator.records:
            if (own := said.get((record.lp, record.segment))) is not None:
                own.append((by, record))
    return said


def _tell(
    record: Annotation,
    segment: Segment,
    whose: tuple[int, int, Annotator],
    judgements: list[Json],
    bare: list[float | None] | None,
) -> None:
    """Add an annotation to the judgements, or to the bare scores where those are told apart."""
    by, of, annotator = whose
    score = annotator.segment_scores.get(((record.lp, record.segment), record.system))
    shown = None if score is None else round(score, _DIGITS)
    more = _annotation(record, segment, score)
    if annotator.is_several:
        more["who"] = record.annotator
    if more or bare is None:
        judgements.append({"by": by, "of": of, "score": shown, **more})
    else:
        bare += (by, of, shown)


def _segment(
    segment: Segment,
    systems: Sequence[str],
    judged: tuple[list[Json], list[float | None] | None],
    spreads: Mapping[tuple[Key, str], float],
) -> Json:
    said, bare = judged
    key = (segment.lp, segment.segment)
    entry: Json = {"id": segment.segment, "lp": segment.lp, "source": segment.source}
    entry["texts"] = [segment.translations.get(name) for name in systems]
    if segment.document:
        entry["document"] = segment.document
    if segment.domain:
        entry["domain"] = segment.domain
    if segment.references:
        entry["references"] = dict(segment.references)
    if said or bare:
        entry["said"] = said
    if spreads:
        spread = [round(spreads.get((key, name), 0.0), 2) for name in systems]
        if any(spread):
            entry["spread"] = spread
    if bare:
        entry["scores"] = bare
    return entry


def _comparison(record: Preference | Failure, position: Mapping[str, int]) -> list[Json]:
    """Describe one record; a failure over several systems is one entry for each of them."""
    return [_preference(record, position)] if isinstance(record, Preference) else _failure(record, position)


def _annotation(record: Annotation, segment: Segment, score: float | None) -> Json:
    """What was said beside the score."""
    entry: Json = {}
    if record.rating is not None and record.rating != score:
        entry["rating"] = record.rating
    if record.spans:
        entry["errors"] = [_error(span, segment, record.system) for span in record.spans]
    if record.counts and not record.spans:
        entry["counts"] = {name: amount for name, amount in record.counts.items() if amount}
    if record.flags or record.rationale:
        entry |= _words(record)
    return entry


def _words(record: Annotation | Preference) -> Json:
    """What was said beside the judgement itself."""
    words: Json = {}
    if record.flags:
        words["flags"] = list(record.flags)
    if record.rationale:
        words["rationale"] = record.rationale
    return words


def _preference(record: Preference, position: Mapping[str, int]) -> Json:
    entry: Json = {"pair": [position[name] for name in record.systems], "criterion": record.criterion}
    entry["verdict"] = record.verdict
    if record.is_undecided:
        entry["undecided"] = True
    return entry | _words(record)


def _failure(record: Failure, position: Mapping[str, int]) -> list[Json]:
    why: Json = {"failed": record.reason}
    if record.detail:
        why["detail"] = record.detail
    if record.protocol == "pairwise":
        pair = [position[name] for name in record.systems]
        return [{"pair": pair, "criterion": record.criterion or "", **why}]
    return [{"of": position[name], **why} for name in record.systems]


def _error(span: ErrorSpan, segment: Segment, system: str) -> Json:
    """Describe one error; a place that the text does not have is said to be none."""
    entry: Json = {"severity": span.severity}
    if span.category is not None:
        entry["category"] = span.category
    if span.side == "source":
        entry["side"] = "source"
    text = segment.source if span.side == "source" else segment.translations[system]
    if span.start is not None and span.end is not None and span.end <= len(text):
        entry["at"] = [span.start, span.end]
        if span.match == "ambiguous":
            entry["ambiguous"] = True
    elif span.text:
        entry["quote"] = span.text
    if span.note:
        entry["note"] = span.note
    return entry


def merge_segments(groups: Iterable[Iterable[Segment]]) -> dict[Key, Segment]:
    """Put the segments of several test sets together, in order of first appearance.

    Raises:
        UsageError: two of them have different texts under one name, so that places would not fit.
    """
    merged: dict[Key, Segment] = {}
    for segment in (s for group in groups for s in group):
        key = (segment.lp, segment.segment)
        known = merged.setdefault(key, segment)
        if known is not segment:
            merged[key] = _joined(known, segment)
    return merged


def _joined(one: Segment, other: Segment) -> Segment:
    for name, text in {**other.translations, "": other.source}.items():
        known = one.translations.get(name) if name else one.source
        if known is not None and known != text:
            what = f"translation by {name!r}" if name else "source"
            raise UsageError(
                f"one report shows one test set, but the runs judged two versions of segment "
                f"{one.segment!r} ({one.lp}): its {what} differs; report these runs apart"
            )
    translations = {**one.translations, **other.translations}
    return replace(one, translations=translations, references={**other.references, **one.references})


def spread_by_translation(annotators: Sequence[Annotator]) -> dict[tuple[Key, str], float]:
    """How far annotators disagree on each translation, 0 to 1.

    Each annotator's scores within a language pair become ranks between 0 (worst) and 1 (best), ties in the
    middle, so that scales do not matter; the spread is the distance of the highest and the lowest rank.
    """
    ranks: dict[tuple[Key, str], list[float]] = {}
    scored = [annotator for annotator in annotators if annotator.results]
    for annotator in scored if len(scored) > 1 else ():
        by_lp: dict[str, dict[tuple[Key, str], float]] = {}
        for place, score in annotator.segment_scores.items():
            if score is not None:
                by_lp.setdefault(place[0][0], {})[place] = score
        for scores in by_lp.values():
            known = np.fromiter(scores.values(), float, len(scores))
            ordered = np.sort(known)
            middles = np.searchsorted(ordered, known) + np.searchsorted(ordered, known, side="right")
            for place, middle in zip(scores, (middles / (2 * len(known))).tolist(), strict=True):
                ranks.setdefault(place, []).append(middle)
    return {place: max(own) - min(own) for place, own in ranks.items() if len(own) > 1}
