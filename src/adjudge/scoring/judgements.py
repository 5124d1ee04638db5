"""Records as judgements: one number, or its absence, for one translation by one annotator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from adjudge.core.annotation import Annotation, Preference, Record
from adjudge.errors import DataError
from adjudge.scoring.pairwise import points

__all__ = ["Judgement", "judgements"]


class Judgement(NamedTuple):
    """What one annotator's record is worth for one translation.

    Args:
        lp: language pair.
        document: document id.
        segment: segment id.
        system: who made the translation.
        annotator: who judged it, or was asked to.
        number: score of the translation, points of the comparison; None where the judgement failed.
        flags: of the record.
    """

    lp: str
    document: str
    segment: str
    system: str
    annotator: str
    number: float | None
    flags: tuple[str, ...] = ()


def judgements(
    records: Iterable[Record], *, number: Callable[[Annotation], float], criterion: str | None
) -> list[Judgement]:
    """Read every record as judgements, in order. A preference is two, a failure one for each system.

    An undecided comparison is none: it has no points, and nothing failed.

    Args:
        records: of one protocol.
        number: score of an annotation.
        criterion: preferences on others are left out; None where nothing is compared.

    Raises:
        DataError: one annotator judged a translation, or a pair on this criterion, twice.
    """
    found: list[Judgement] = []
    seen: set[tuple[str, ...]] = set()
    for record in records:
        if not _is_on(record, criterion):
            continue
        for key in _keys(record, pairwise=criterion is not None):
            if key in seen:
                raise DataError(_twice(record, key))
            seen.add(key)
        found += _judgements_of(record, number)
    return found


def _is_on(record: Record, criterion: str | None) -> bool:
    if isinstance(record, Annotation):
        return True
    return record.criterion in {None, criterion}


def _keys(record: Record, *, pairwise: bool) -> list[tuple[str, ...]]:
    """What may be judged once by one annotator: each translation, or the pair in either order."""
    place = (record.annotator, record.lp, record.segment)
    if pairwise:
        return [(*place, *sorted(record.systems))]
    return [(*place, system) for system in record.systems]


def _twice(record: Record, key: tuple[str, ...]) -> str:
    systems = " and ".join(key[3:])
    where = f"segment {record.segment!r} of {record.lp}"
    return f"{record.annotator!r} judged {systems} twice on {where}; keep the record that counts"


def _judgements_of(record: Record, number: Callable[[Annotation], float]) -> Iterator[Judgement]:
    place = (record.lp, record.document, record.segment)
    if isinstance(record, Annotation):
        yield Judgement(*place, record.system, record.annotator, number(record), record.flags)
    elif isinstance(record, Preference):
        if record.is_undecided:
            return
        for system, earned in zip(record.systems, points(record), strict=True):
            yield Judgement(*place, system, record.annotator, earned, record.flags)
    else:
        for system in record.systems:
            yield Judgement(*place, system, record.annotator, None)
