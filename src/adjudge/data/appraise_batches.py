"""Appraise's batches: JSON, a list of tasks with about a hundred items each, with which a campaign starts.

An item is a translation to rate. Those of one document stand together; a damaged copy (`BAD`) has `#badN`
after its document and the words of the original but a few. Item numbers were unique in a batch; newer batches
number the lines of the test set, for every system and copy anew, and name systems in the target alone. So the
key of an item is batch, number, document, target and kind.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast, get_args

from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.data.appraise import Kind
from adjudge.data.files import read_json_file, write_text
from adjudge.data.shape import Fields, read_fields
from adjudge.errors import DataError

__all__ = [
    "ITEMS",
    "SEGMENT",
    "Batch",
    "BatchItem",
    "batches_test_set",
    "item_to_json",
    "named_items",
    "read_batches",
    "write_batches",
]

ITEMS: Final = "appraise items"
"""Key of `Segment.meta`: system to the [batch, item, document] where its translation was shown."""
SEGMENT: Final = "segmentID"
"""Key of `BatchItem.more`: id of the segment, in batches that we write and whose line does not say it."""

_ITEM_KEYS: Final = frozenset({
    *("itemID", "itemType", "documentID", "sourceID", "targetID", "sourceText", "targetText"),
    *("isCompleteDocument", "mqm", "_item"),
})  # fmt: skip
_MARKS: Final = re.compile(r"(#(bad|duplicate)[0-9]*)+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchItem:
    """One translation as it is shown.

    Args:
        number: within the batch.
        kind: whether it was damaged.
        document: `DOC#SYSTEM` or `DOC`, with its marks.
        source_id: name of the test set, or what begins with it.
        target: test set and system, parted by a point, or the system alone.
        source: text; may be HTML.
        translation: text that people see and mark.
        is_complete: whether it is a whole document.
        marked_before: spans given beforehand, or a tutorial's instruction, as the file has them.
        origin: `SYSTEM | LINE | DOCUMENT` of the test set, lines counted from 0; None where nothing says it.
        is_absent: keys that the file does not have, though it could.
        more: keys of other campaigns, such as context, carried along.
    """

    number: int
    kind: Kind
    document: str
    source_id: str
    target: str
    source: str
    translation: str
    is_complete: bool = False
    marked_before: object = ()
    origin: str | None = None
    is_absent: frozenset[str] = frozenset()
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """Who made the translation: `ONLINE-A` of `wmt23.ONLINE-A`, and all of `Claude-3.5`."""
        test_set, _, system = self.target.partition(".")
        return system if system and self.source_id.replace(".", "-").startswith(test_set) else self.target

    @property
    def text_id(self) -> str:
        """Id of the document alone."""
        return _MARKS.sub("", self.document).removesuffix(f"#{self.system}")

    @property
    def is_tutorial(self) -> bool:
        """Whether it belongs to the tutorial."""
        return "tutorial" in self.document

    @property
    def is_duplicate(self) -> bool:
        """Whether it fills the batch up with what stands in another one, too."""
        return "#duplicate" in self.document

    @property
    def line(self) -> int | None:
        """Line in the test set, from 0; None where nothing says it."""
        parts = (self.origin or "").split(" | ")
        return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else None


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One task.

    Args:
        items: in the order in which they are shown.
        task: what the campaign says of it: batchNo, sourceLanguage and others.
    """

    items: tuple[BatchItem, ...]
    task: Mapping[str, Any] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Of the batch, from 1."""
        return int(self.task["batchNo"])

    @property
    def lp(self) -> str:
        """Language pair."""
        return canonical_lp(f"{self.task['sourceLanguage']}-{self.task['targetLanguage']}")


def read_batches(path: Path | str) -> tuple[Batch, ...]:
    """Read batches.

    Raises:
        DataError: it is not what Appraise reads; says which item.
    """
    path = Path(path)
    found = read_json_file(path)
    if not isinstance(found, list) or not found:
        raise DataError("wanted a list of batches", path=path)
    return tuple(_read_batch(values, number, path) for number, values in enumerate(found, start=1))


def _read_batch(values: object, number: int, path: Path) -> Batch:
    fields = read_fields(values, frozenset({"items", "task"}), f"batch {number}", path, None)
    items, task = fields.values.get("items"), fields.mapping("task")
    if not isinstance(items, list):
        fields.fail(f"'items' must be a list, got {items!r}")
    known = Fields(task, f"task of batch {number}", path)
    if known.whole("batchNo") is None:
        known.fail("'batchNo' is missing")
    known.text("sourceLanguage"), known.text("targetLanguage")
    names = (f"item {place} of batch {number}" for place in range(1, len(items) + 1))
    read = [_read_item(item, name, path) for item, name in zip(items, names, strict=True)]
    keys = Counter((item.number, item.document, item.target, item.kind) for item in read)
    if twice := [key for key, count in keys.items() if count > 1]:
        fields.fail(f"item {twice[0][0]} of document {twice[0][1]!r} stands in it twice")
    return Batch(items=tuple(read), task=task)


def _read_item(values: object, what: str, path: Path) -> BatchItem:
    if not isinstance(values, dict):
        raise DataError(f"{what} must be a JSON object, got {values!r}", path=path)
    fields = Fields(values, what, path)
    number, kind = fields.whole("itemID"), fields.text("itemType")
    if number is None or kind not in get_args(Kind):
        fields.fail(f"wanted a number as 'itemID' and TGT or BAD as 'itemType', got {number!r} and {kind!r}")
    return BatchItem(
        number=number,
        kind=cast("Kind", kind),
        document=fields.text("documentID"),
        source_id=fields.text("sourceID"),
        target=fields.text("targetID"),
        source=fields.text("sourceText"),
        translation=fields.text("targetText"),
        is_complete=fields.values.get("isCompleteDocument") is True,
        marked_before=fields.values.get("mqm", ()),
        origin=fields.optional_text("_item"),
        is_absent=frozenset({"mqm", "_item", "isCompleteDocument"} - values.keys()),
        more={key: value for key, value in values.items() if key not in _ITEM_KEYS},
    )


def write_batches(path: Path | str, batches: Iterable[Batch]) -> None:
    """Write batches with everything that `read_batches` found in them.

    Raises:
        DataError: they cannot be written.
    """
    values = [{"items": [*map(item_to_json, batch.items)], "task": dict(batch.task)} for batch in batches]
    write_text(Path(path), [json.dumps(values, indent=2)])


def item_to_json(item: BatchItem) -> dict[str, object]:
    """The JSON object of an item."""
    values: dict[str, object] = {
        "mqm": item.marked_before,
        "documentID": item.document,
        "sourceID": item.source_id,
        "targetID": item.target,
        "sourceText": item.source,
        "targetText": item.translation,
        "itemType": item.kind,
        "_item": item.origin,
        "itemID": item.number,
        "isCompleteDocument": item.is_complete,
    }
    return {key: value for key, value in values.items() if key not in item.is_absent} | dict(item.more)


# As a test set...


def batches_test_set(batches: Sequence[Batch], name: str) -> TestSet:
    """The translations that batches show, without tutorials and damaged ones.

    A segment's id is its line in the test set, from 1, where the batches say it; else `DOCUMENT:PLACE`. Its
    meta says under `ITEMS` where each system's translation was shown.

    Args:
        batches: of one campaign.
        name: of the test set.

    Raises:
        DataError: a segment has different sources or translations in different places.
    """
    found: dict[tuple[str, str], Segment] = {}
    for batch, item, named in named_items(batches):
        if item.kind == "TGT" and not item.is_tutorial:
            seen = found.get((batch.lp, named))
            found[batch.lp, named] = _with(seen, batch, item, named)
    return TestSet(name=name, segments=tuple(sorted(found.values(), key=_order)))


def named_items(batches: Iterable[Batch]) -> Iterator[tuple[Batch, BatchItem, str]]:
    """Items of batches and the ids of their segments: as said, the line, from 1, or else `DOCUMENT:PLACE`.

    A place is that of a source in its document, in the order shown, since a document may go on in another
    batch; a source that stands in it several times has as many places.
    """
    places: defaultdict[tuple[str, str], dict[tuple[str, int], int]] = defaultdict(dict)
    for batch in batches:
        times: Counter[tuple[str, str, str]] = Counter()
        for item in batch.items:
            source = (item.document, item.target, item.source)
            times[source] += 1
            known = places[batch.lp, item.text_id]
            place = known.setdefault((item.source, times[source]), len(known) + 1)
            named = f"{item.text_id}:{place}" if item.line is None else str(item.line + 1)
            yield batch, item, str(item.more.get(SEGMENT, named))


def _order(segment: Segment) -> tuple[str, int, str]:
    """By line where there is one; where not, all are 0 and stay in the order in which they were shown."""
    return segment.lp, int(segment.segment) if segment.segment.isdecimal() else 0, ""


def _with(seen: Segment | None, batch: Batch, item: BatchItem, named: str) -> Segment:
    shown: dict[str, list[list[object]]] = cast("Any", seen.meta[ITEMS]) if seen else {}
    translations = dict(seen.translations) if seen else {}
    same = translations.setdefault(item.system, item.translation) == item.translation
    if not same or (seen is not None and seen.source != item.source):
        what = f"item {item.number} of batch {batch.number}"
        raise DataError(f"{what} shows segment {named} with another text than an item before")
    here = [batch.number, item.number, item.document]
    return Segment(
        segment=named,
        lp=batch.lp,
        source=item.source,
        translations=translations,
        document=item.text_id,
        meta={ITEMS: {**shown, item.system: [*shown.get(item.system, []), here]}},
    )
