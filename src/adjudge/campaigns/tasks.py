"""Tasks of a test set: whole documents of one system, of a pair, or of several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from adjudge.campaigns.given import Given
from adjudge.campaigns.media import read_media
from adjudge.campaigns.protocols import Shows
from adjudge.campaigns.shown import Expected, Media, Shown
from adjudge.core.segment import Segment, TestSet
from adjudge.data.submissions import Kind
from adjudge.errors import DataError

__all__ = ["Item", "Pairs", "Priorities", "Task", "make_tasks"]


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
    """A document of one system, or of several side by side.

    Args:
        kind: why it is shown.
        lp: language pair.
        document: id.
        systems: in the order of each item's translations.
        items: the segments in their order.
        batch: of a static assignment.
        copy_of: place in the list of tasks of what a check was made of.
        redundancy: how many people it needs; 0 for everybody, as a tutorial.
        priority: higher first.
    """

    kind: Kind
    lp: str
    document: str
    systems: tuple[str, ...]
    items: tuple[Item, ...]
    batch: int | None = None
    copy_of: int | None = None
    redundancy: int = 1
    priority: float = 0.0


Priorities = Mapping[tuple[str, str, str], float]
"""Language pair, segment and system to how much is to be learned there, such as where metrics disagree."""

Pairs = Collection[tuple[str, str, frozenset[str]]]
"""Language pair, segment, and the two systems that are compared there."""


@dataclass(frozen=True, kw_only=True)
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
    pairs: Pairs | None = None,
    given: Given | None = None,
    priorities: Priorities | None = None,
    media: Mapping[str, str] | None = None,
) -> list[Task]:
    """Cut a test set into tasks, in its own order; each is a whole document.

    A segment that a system did not translate is left out of its tasks. Of a pair, segments with identical
    translations are left out, as in FiRE: nobody could prefer one.

    Args:
        test_set: what is judged.
        shows: what stands beside a source.
        pairs: that are compared and no others; None for all.
        given: spans marked beforehand; None where the protocol has none.
        priorities: see `Priorities`; a task's is the mean of what is known of it.
        media: file that a segment names to its address below the campaign's folder.

    Raises:
        DataError: there is nothing to judge.
    """
    making = _Making(shows=shows, pairs=pairs, given=given, priorities=priorities or {}, media=media or {})
    tasks = [
        task
        for (lp, _), segments in _documents(test_set).items()
        for systems in _groups(segments, shows)
        if (task := _task(making, lp, segments, systems)) is not None
    ]
    if not tasks:
        wanted = "two systems whose translations differ" if shows == "pair" else "a translation"
        wanted = wanted if pairs is None else "a pair that was asked for"
        raise DataError(f"test set {test_set.name!r} has nothing to judge: no segment has {wanted}")
    return tasks


def _documents(test_set: TestSet) -> dict[tuple[str, str], list[Segment]]:
    """Segments by document; one without a document stands alone."""
    found: dict[tuple[str, str], list[Segment]] = {}
    for segment in test_set:
        found.setdefault((segment.lp, segment.document or f"#{segment.segment}"), []).append(segment)
    return found


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
    texts = [segment.translations[name] for name in systems if name in segment.translations]
    if making.shows != "pair":
        return bool(texts)
    is_asked = making.pairs is None or (segment.lp, segment.segment, frozenset(systems)) in making.pairs
    return is_asked and len(texts) == 2 and texts[0] != texts[1]


def _item(making: _Making, segment: Segment, systems: Sequence[str]) -> Item:
    media, source = read_media(segment)
    if media != "text":
        source = making.media[source]
    shown: list[Shown] = [
        {
            "system": name,
            "text": segment.translations[name],
            "given": None if making.given is None else making.given.of(segment, name),
            "original": None,
        }
        for name in systems
        if name in segment.translations
    ]
    return Item(segment=segment.segment, source=source, translations=tuple(shown), media=media)
