"""Tasks of a test set: whole documents of one system, of a pair, or of several.

`make_tasks` cuts a test set into them. `Given` holds marks that were made beforehand and fits them to the
text shown. Sources may be images, sounds or films: files beside the test set, which are copied into the
campaign's folder. `insert_copy` makes tasks that show items of another one again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select

from adjudge.campaigns.database import Campaign, item, task
from adjudge.campaigns.items import ITEM_COLUMNS, MEDIA, AnyRow, Expected, Media, Shown, SpanShown
from adjudge.campaigns.settings import Shows
from adjudge.core.frozen import frozen
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Record, grouped
from adjudge.core.segment import INSTRUCTION, Segment, TestSet
from adjudge.errors import DataError
from adjudge.formats.campaign_export import Kind

_SPOKEN: Final = {
    "bare": "translations without a stored annotation, shown without marks",
    "unplaced": "marks without a place in the translation (something missing, or not found), left out",
    "source": "marks in the source, left out because people are shown those of the translation alone",
    "outside": "marks outside of their translation, left out",
    "clipped": "marks that reach beyond the end of their translation, cut there",
    "other": "marks of another text than the translation, left out",
    "severity": "marks of a severity that the protocol does not have, left out",
}


class Given:
    """Marks by translation."""

    def __init__(self, records: Iterable[Record], severities: Sequence[Severity]) -> None:
        self._severities = tuple(severities)
        self._counts: Counter[str] = Counter()
        self._found: dict[tuple[str, str, str], Annotation] = {}
        for record in records:
            if isinstance(record, Annotation):
                first = self._found.setdefault((record.lp, record.segment, record.system), record)
                if first is not record:
                    where = f"segment {record.segment!r} of {record.system}, {record.lp}"
                    both = f"{first.annotator!r} and {record.annotator!r}"
                    raise DataError(
                        f"given marks: {where} has two annotations, by {both}; give one annotator's"
                    )

    def __len__(self) -> int:
        return len(self._found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What did not fit, for people, so far."""
        return tuple(f"{text}: {self._counts[key]}" for key, text in _SPOKEN.items() if self._counts[key])

    def of(self, segment: Segment, system: str) -> list[SpanShown] | None:
        """Marks of one translation in order; None where nobody annotated it."""
        found = self._found.get((segment.lp, segment.segment, system))
        if found is None:
            self._counts["bare"] += 1
            return None
        text = segment.translations[system]
        shown = (self._shown(span, text) for span in found.spans)
        return sorted((span for span in shown if span is not None), key=lambda s: (s["start"], s["end"]))

    def _shown(self, span: ErrorSpan, text: str) -> SpanShown | None:
        severity, start, end = span.severity, span.start, span.end
        if severity == "critical" and severity not in self._severities:
            severity = "major"
        fault = _fault(span, text) if severity in self._severities else "severity"
        if fault or start is None or end is None:
            self._counts[fault] += 1
            return None
        self._counts["clipped"] += end > len(text)
        marked = text[start : min(end, len(text))]
        return {
            "side": "translation",
            "start": start,
            "end": start + len(marked),
            "text": marked,
            "severity": severity,
            "category": span.category,
            "note": span.note,
        }


def _fault(span: ErrorSpan, text: str) -> str:
    """Why a span cannot be shown in a text; empty where it can."""
    if span.side == "source":
        return "source"
    if span.start is None or span.end is None:
        return "unplaced"
    if span.start >= len(text) or span.start == span.end:
        return "outside"
    is_other = span.match == "exact" and span.text and text[span.start : span.end] != span.text
    return "other" if is_other and span.end <= len(text) else ""


FOLDER: Final = "media"

SUFFIXES: Final[Mapping[Media, frozenset[str]]] = {
    "image": frozenset({".gif", ".jpeg", ".jpg", ".png", ".webp"}),  # not .svg: it may hold scripts
    "audio": frozenset({".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav"}),
    "video": frozenset({".mp4", ".webm"}),
}
"""What browsers show of each kind."""


def read_media(segment: Segment) -> tuple[Media, str]:
    """Kind of a segment's source, and its text or the file it names.

    A source that is no text says so in its meta: `{"media": "image", "file": "x.png"}`.
    """
    kind = segment.meta.get("media", "text")
    if kind == "text":
        return "text", segment.source
    file = segment.meta.get("file")
    for known in MEDIA[1:]:
        if kind == known and isinstance(file, str) and PurePosixPath(file).suffix.lower() in SUFFIXES[known]:
            return known, file
    where = f"segment {segment.segment!r} of {segment.lp}"
    wanted = "; ".join(f"{name} ({', '.join(sorted(ends))})" for name, ends in SUFFIXES.items())
    raise DataError(f"{where}: media is one of {wanted}; got media {kind!r} with file {file!r}")


def find_media(segments: Iterable[Segment], folder: Path | None) -> dict[str, Path]:
    """Files that segments name, each once."""
    named: dict[str, Path] = {}
    for segment in segments:
        media, file = read_media(segment)
        if media != "text" and file not in named:
            named[file] = _inside(file, folder, f"segment {segment.segment!r} of {segment.lp}")
    return named


def _inside(file: str, folder: Path | None, where: str) -> Path:
    if folder is None:
        raise DataError(
            f"{where} names the file {file!r}, and no folder of media files was given: add --media DIR"
        )
    if "\0" in file:
        raise DataError(f"{where}: {file!r} is no name of a file")
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(f"{where}: {file!r} lies outside of {str(folder)!r}")
    if not path.is_file():
        raise DataError(f"{where}: there is no file {file!r} in {str(folder)!r}")
    return path


def place_media(named: Mapping[str, Path]) -> dict[str, str]:
    """Address of each file below the campaign's folder, under a name of ours; equal files are one."""
    found = {}
    for file, path in named.items():
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        found[file] = f"{FOLDER}/{digest[:32]}{path.suffix.lower()}"
    return found


def copy_media(named: Mapping[str, Path], places: Mapping[str, str], folder: Path) -> None:
    """Copy files to their places below a folder."""
    for file, path in named.items():
        (folder / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(path, folder / places[file])


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One segment of a task."""

    segment: str
    source: str
    translations: tuple[Shown, ...]
    media: Media = "text"
    check: Expected | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A document of one system, or of several side by side."""

    kind: Kind  # why it is shown
    lp: str  # language pair
    document: str
    systems: tuple[str, ...]  # in the order of each item's translations
    items: tuple[Item, ...]  # the segments in their order
    batch: int | None = None  # number of its document: tasks of one are dealt together
    copy_of: int | None = None  # place in the list of tasks of what a check was made of
    # how many people it needs; 0 for everybody, as a tutorial, or for whom a check is dealt to
    raters: int = 1
    priority: float = 0.0  # higher first


Priorities = Mapping[tuple[str, str, str], float]
"""Language pair, segment and system to how much is to be learned there, such as where metrics disagree."""

Pairs = Collection[tuple[str, str, frozenset[str]]]
"""Language pair, segment, and the two systems that are compared there."""


@frozen
class _Making:
    shows: Shows
    pairs: Pairs | None
    given: Given | None
    priorities: Priorities
    media: Mapping[str, str]


def make_tasks(
    test_set: TestSet,
    shows: Shows,
    *,
    pairs: Pairs | None = None,  # that are compared and no others; None for all
    given: Given | None = None,  # spans marked beforehand; None where the protocol has none
    priorities: Priorities | None = None,
    media: Mapping[str, str] | None = None,
) -> list[Task]:
    """Cut a test set into tasks, in its own order; each is a whole document.

    A segment that a system did not translate is left out of its tasks. Of a pair, segments with identical
    translations are left out, as in FiRE: nobody could prefer one.
    """
    making = _Making(shows=shows, pairs=pairs, given=given, priorities=priorities or {}, media=media or {})
    documents = grouped(((one.lp, one.document or f"#{one.segment}"), one) for one in test_set)
    tasks = [
        task
        for (lp, _), segments in documents.items()
        for systems in _groups(segments, shows)
        if (task := _task(making, lp, segments, systems)) is not None
    ]
    if not tasks:
        wanted = "two systems whose translations differ" if shows == "pair" else "a translation"
        wanted = wanted if pairs is None else "a pair that was asked for"
        raise DataError(f"test set {test_set.name!r} has nothing to judge: no segment has {wanted}")
    return tasks


def _groups(segments: Sequence[Segment], shows: Shows) -> Iterator[tuple[str, ...]]:
    systems = tuple(dict.fromkeys(name for segment in segments for name in segment.translations))
    if shows == "one":
        yield from ((name,) for name in systems)
    elif shows == "pair":
        yield from combinations(systems, 2)
    elif systems:
        yield systems


def _task(making: _Making, lp: str, segments: Iterable[Segment], systems: tuple[str, ...]) -> Task | None:
    chosen = [segment for segment in segments if _is_shown(making, segment, systems)]
    if not chosen:
        return None
    items = tuple(_item(making, segment, systems) for segment in chosen)
    known = [
        making.priorities[key]
        for segment in chosen
        for name in systems
        if (key := (lp, segment.segment, name)) in making.priorities
    ]
    priority = sum(known) / len(known) if known else 0.0
    name = chosen[0].document
    return Task(kind="original", lp=lp, document=name, systems=systems, items=items, priority=priority)


def _is_shown(making: _Making, segment: Segment, systems: Sequence[str]) -> bool:
    texts = [segment.translations[name] for name in systems if segment.has_translation(name)]
    if making.shows != "pair":
        return bool(texts)
    is_asked = making.pairs is None or (segment.lp, segment.segment, frozenset(systems)) in making.pairs
    return is_asked and len(texts) == 2 and texts[0] != texts[1]


def _item(making: _Making, segment: Segment, systems: Sequence[str]) -> Item:
    media, source = read_media(segment)
    if media != "text":
        source = making.media[source]
    told = segment.meta.get(INSTRUCTION)
    shown: list[Shown] = [
        {
            "system": name,
            "text": segment.translations[name],
            "given": None if making.given is None else making.given.of(segment, name),
            "original": None,
        }
        for name in systems
        if segment.has_translation(name)
    ]
    if isinstance(told, str) and told.strip():
        for one in shown:
            one["instruction"] = told
    return Item(segment=segment.segment, source=source, translations=tuple(shown), media=media)


def items_of(connection: Connection, number: int) -> Sequence[AnyRow]:
    """Items of a task, in order."""
    query = select(*ITEM_COLUMNS).where(item.c.task_id == number).order_by(item.c.place)
    return connection.execute(query).all()


def item_values(row: AnyRow, translations: str) -> dict[str, Any]:
    """An item's columns as a copy has them, with translations as JSON; it expects nothing."""
    return {
        "segment": row.segment,
        "media": row.media,
        "source": row.source,
        "translations": translations,
        "check": None,
    }


def insert_copy(
    connection: Connection,
    campaign: Campaign,
    number: int,
    items: Sequence[Mapping[str, Any]],
    *,
    kind: Kind,
    raters: int,
    copy_of: int | None,  # task whose people may not have it; None where they may
) -> int:
    """Append a task with some of another one's items; its id comes back."""
    highest = select(func.max(task.c.number)).where(task.c.campaign_id == campaign.id)
    first = connection.execute(select(task).where(task.c.id == number)).one()
    values = {
        "campaign_id": campaign.id,
        "number": connection.execute(highest).scalar_one() + 1,
        "kind": kind,
        "lp": first.lp,
        "document": first.document,
        "systems": first.systems,
        "copy_of": copy_of,
        "raters": raters,
        "priority": first.priority,
        "is_closed": False,
    }
    added = connection.execute(insert(task).values(**values)).inserted_primary_key
    (created,) = added or (0,)
    connection.execute(
        insert(item), [{"task_id": created, "place": at, **one} for at, one in enumerate(items)]
    )
    return int(created)
