"""Items that fill up a batch: one person judges a translation again, and the first judgement counts."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.core.annotation import DUPLICATE, Annotation, Record
from adjudge.core.wording import count, form

__all__ = ["repeats_note", "without_repeats"]


def without_repeats(records: Sequence[Record]) -> tuple[list[Record], int]:
    """Leave out fillers whose translation the same annotator judged in its own place.

    Files have them in any order, so the judgement without the flag is the first; of fillers alone, the first
    one. What somebody else judged is a second opinion, and stays.

    Returns:
        Also how many were left out.
    """
    fillers = [r for r in records if isinstance(r, Annotation) and DUPLICATE in r.flags]
    if not fillers:
        return [*records], 0
    marked = set(map(id, fillers))
    judged = {_key(r) for r in records if isinstance(r, Annotation) and id(r) not in marked}
    for filler in fillers:
        if _key(filler) not in judged:
            judged.add(_key(filler))
            marked.remove(id(filler))
    kept = [r for r in records if id(r) not in marked]
    return kept, len(records) - len(kept)


def _key(record: Annotation) -> tuple[str, str, str, str]:
    return record.annotator, record.lp, record.segment, record.system


def repeats_note(repeated: int) -> list[str]:
    """Say how many judgements were left out."""
    if not repeated:
        return []
    which = f"{count(repeated, 'judgement')} {form(repeated, 'was', 'were')}"
    why = "the same annotator had judged the translation before (flag duplicate)"
    return [f"{which} repeated: {why}. The first judgement counts."]
