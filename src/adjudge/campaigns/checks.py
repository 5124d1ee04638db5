"""Attention checks: copies of documents with damage that nobody who reads can miss.

As in the ESA campaigns, two to six words of each segment are exchanged for words of another translation of
the test set, at the same place. Besides: words left out, and whole translations of another text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from adjudge.campaigns.protocols import CampaignProtocol
from adjudge.campaigns.settings import CheckKind
from adjudge.campaigns.shown import Expected, Shown, SpanShown
from adjudge.campaigns.tasks import Item, Task
from adjudge.campaigns.words import has_spaces, words_of

__all__ = ["Checks"]

_Words = list[tuple[int, int]]

_FEWEST, _MOST = 2, 6
_TRIES: Final = 20
_LOW: Final = 1 / 3  # of the scale: a translation of another text deserves no more


@dataclass(frozen=True, kw_only=True)
class _Damage:
    """A range of the text before, and what stands there now."""

    start: int
    end: int
    text: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]


class Checks:
    """Makes damaged copies.

    Args:
        tasks: all of the campaign; other words are taken from their translations.
        protocol: says what a check can expect.
    """

    def __init__(self, tasks: Iterable[Task], protocol: CampaignProtocol) -> None:
        self._protocol = protocol
        donors: dict[str, dict[tuple[str, str, str], None]] = {}
        for task in tasks:
            texts = donors.setdefault(task.lp, {})
            for item in task.items:
                texts |= {(task.document, item.segment, shown["text"]): None for shown in item.translations}
        self._texts = {lp: tuple(found) for lp, found in donors.items()}

    def damage(self, task: Task, kind: CheckKind, draw: Random) -> Task | None:
        """Copy a task with one system's translations damaged; None where none of them can be."""
        system = draw.choice(task.systems)
        items = tuple(self._damaged(item, task, system, kind, draw) for item in task.items)
        if all(item.check is None for item in items):
            return None
        return replace(task, kind="check", items=items, priority=task.priority)

    def _damaged(self, item: Item, task: Task, system: str, kind: CheckKind, draw: Random) -> Item:
        found = [place for place, shown in enumerate(item.translations) if shown["system"] == system]
        if not found:
            return item
        (place,) = found
        text = item.translations[place]["text"]
        damage = self._draw(text, item, task, kind, draw)
        if damage is None or damage.apply(text) == text:
            return item
        shown = _show(item.translations[place], damage)
        rest = (*item.translations[:place], shown, *item.translations[place + 1 :])
        return replace(item, translations=rest, check=self._expected(kind, place, damage))

    def _draw(self, text: str, item: Item, task: Task, kind: CheckKind, draw: Random) -> _Damage | None:
        words = words_of(text, spaced=has_spaces(task.lp))
        if kind == "missing":
            return _left_out(words, draw)
        others = self._others(item, task, text, draw)
        if kind == "score":
            other = next((other for other in others if other.strip()), None)
            return None if other is None else _Damage(start=0, end=len(text), text=other)
        return _exchanged(text, words, others, draw, spaced=has_spaces(task.lp))

    def _others(self, item: Item, task: Task, text: str, draw: Random) -> list[str]:
        """Translations of other texts, drawn; of another document where there is one."""
        texts = self._texts[task.lp]
        drawn = draw.sample(texts, min(_TRIES, len(texts)))
        found = [entry for entry in drawn if entry[1] != item.segment and entry[2] != text]
        found.sort(key=lambda entry: bool(task.document) and entry[0] == task.document)
        return [other for _, _, other in found]

    def _expected(self, kind: CheckKind, place: int, damage: _Damage) -> Expected:
        expected: Expected = {"what": kind, "translation": place}
        if kind == "damaged" and self._protocol.shows != "pair" and self._protocol.severities:
            end = damage.start + len(damage.text)
            expected["spans"] = [{"start": damage.start, "end": end, "severity": None}]
        elif kind == "missing":
            expected["missing"] = True
        elif kind == "score" and (scale := self._protocol.scale) is not None:
            expected["rating"] = [scale.low, scale.low + (scale.high - scale.low) * _LOW]
        if "overall" in self._protocol.criteria:
            expected["verdicts"] = {"overall": "B" if place == 0 else "A"}
        return expected


def _left_out(words: _Words, draw: Random) -> _Damage | None:
    """Leave words out with the spaces after them; one word at least stays."""
    count = min(draw.randint(_FEWEST, _MOST), len(words) - 1)
    if count < 1:
        return None
    first = draw.randrange(len(words) - count)
    return _Damage(start=words[first][0], end=words[first + count][0], text="")


def _exchanged(text: str, words: _Words, others: list[str], draw: Random, *, spaced: bool) -> _Damage | None:
    """Exchange words for equally many of another text; fewer where this one or all others are shorter."""
    count = min(draw.randint(_FEWEST, _MOST), len(words))
    best, most = None, 0
    for other in others:
        theirs = words_of(other, spaced=spaced)
        size = min(count, len(theirs))
        if size > most and (found := _exchange(text, words, other, theirs, size, draw)) is not None:
            best, most = found, size
        if most == count:
            break
    return best


def _exchange(
    text: str, words: _Words, other: str, theirs: _Words, size: int, draw: Random
) -> _Damage | None:
    """So many words for as many of one other text; None where the same ones are drawn again and again."""
    for _ in range(_TRIES):
        first, at = draw.randrange(len(words) - size + 1), draw.randrange(len(theirs) - size + 1)
        start, end = words[first][0], words[first + size - 1][1]
        taken = other[theirs[at][0] : theirs[at + size - 1][1]]
        if taken != text[start:end]:
            return _Damage(start=start, end=end, text=taken)
    return None


def _show(shown: Shown, damage: _Damage) -> Shown:
    given = shown["given"]
    return {
        **shown,
        "text": damage.apply(shown["text"]),
        "original": shown["text"],
        "given": None if given is None else [moved for span in given if (moved := _moved(span, damage))],
    }


def _moved(span: SpanShown, damage: _Damage) -> SpanShown | None:
    """A span given before where its text stands now; None where it was damaged."""
    start, end = span["start"], span["end"]
    if start is None or end is None or end <= damage.start:
        return span
    if start < damage.end:
        return None
    by = len(damage.text) - (damage.end - damage.start)
    return {**span, "start": start + by, "end": end + by}
