"""Which translations are bad, by what people marked or by the scores they gave. Reads no files."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable

from adjudge.core.annotation import Annotation, Record
from adjudge.core.protocol import find_protocol
from adjudge.core.score import Scores
from adjudge.core.typology import SEVERITIES, Severity
from adjudge.errors import UsageError

__all__ = ["Key", "bad_by_score", "bad_by_severity"]

Key = tuple[str, str, str]
"""A translation: language pair, segment, system."""


def bad_by_severity(records: Iterable[Record], severity: Severity) -> dict[Key, bool]:
    """Translations in which half of their annotators, or more, marked an error so grave or graver.

    Raises:
        UsageError: none of them could mark one, so that none would be bad.
    """
    graver = SEVERITIES[SEVERITIES.index(severity) :]
    judged = [r for r in records if isinstance(r, Annotation)]
    could = {
        r.protocol for r in judged if severity in find_protocol(r.protocol).severities or _marks(r, graver)
    }
    if judged and not could:
        of = ", ".join(sorted({r.protocol for r in judged}))
        raise UsageError(
            f"gold marks no {severity} errors, for it is of protocol {of}: say below which score a "
            "translation is bad, --bad NUMBER"
        )
    marked: defaultdict[Key, list[bool]] = defaultdict(list)
    for r in judged:
        if r.protocol in could:
            marked[r.lp, r.segment, r.system].append(_marks(r, graver))
    return {key: 2 * sum(each) >= len(each) for key, each in marked.items()}


def _marks(record: Annotation, severities: Collection[Severity]) -> bool:
    return any(span.severity in severities for span in record.spans) or any(
        record.counts.get(severity, 0) for severity in severities
    )


def bad_by_score(gold: Scores, below: float) -> dict[Key, bool]:
    """Translations whose gold score is lower than a number.

    Raises:
        UsageError: the number lies outside of gold's scale, so that all would be bad, or none.
    """
    found = {(s.lp, s.segment, s.system): s.score for s in gold.segments if s.score is not None}
    low, high = gold.range
    if math.isinf(high):
        high = max(found.values(), default=high) + 0.0  # no minus before a zero
    if not low < below <= high:
        scale = f"{high:g} and below" if math.isinf(low) else f"{low:g} to {high:g}"
        raise UsageError(f"--bad {below:g} lies outside of gold's scores, which are {scale}")
    return {key: score < below for key, score in found.items()}
