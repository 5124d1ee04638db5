"""Attention checks: copies of documents with damage that nobody who reads can miss.

`Checks` makes the copies: words exchanged or left out, or a translation of another text. `words_of` finds
words in any script. `noticed_by_person` tells from the store whether people noticed what was damaged.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise, takewhile
from random import Random
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, select

from adjudge.campaigns.database import Campaign, Person, answer, assignment, item, task
from adjudge.campaigns.items import ITEM_COLUMNS, Expected, Shown, SpanShown, feedback, read_item, read_state
from adjudge.campaigns.settings import CampaignProtocol, CheckKind
from adjudge.campaigns.tasks import Item, Task
from adjudge.core.frozen import frozen
from adjudge.core.language import script_of, target_language

_WITHOUT_SPACES: Final = frozenset({
    *("Bopo", "Hani", "Hans", "Hant", "Hira", "Jpan", "Kana", "Khmr", "Laoo", "Lana", "Mymr", "Talu", "Thai"),
    "Tibt",
})  # fmt: skip
"""Scripts that put no spaces between words (Unicode Standard Annex 14)."""

_RUN: Final = 2  # characters of what counts as a word there: the commonest length of one in Chinese
_WORD: Final = re.compile(r"\S+")
_JOINER: Final = "\u200d"


@cache
def has_spaces(lp: str) -> bool:
    """Whether the target language of a pair puts spaces between its words."""
    return script_of(target_language(lp)) not in _WITHOUT_SPACES


def words_of(text: str, *, spaced: bool = True) -> list[tuple[int, int]]:
    """Half-open ranges of the words of a text; without spaces, of short runs of visible characters."""
    found = [match.span() for match in _WORD.finditer(text)]
    return found if spaced else [run for start, end in found for run in _runs(text, start, end)]


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    edges = [at for at in range(start, end) if at == start or not _is_joined(text, at)]
    yield from pairwise([*edges[::_RUN], end])


def _is_joined(text: str, at: int) -> bool:
    """Whether a code point is no character of its own: mark, joined emoji, skin tone, half a flag."""
    char, before = text[at], text[at - 1]
    if unicodedata.category(char).startswith("M") or _JOINER in {char, before}:
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or char == "\u0e33":  # Thai am is written onto what is before it
        return True
    return _is_regional(char) and sum(1 for _ in takewhile(_is_regional, reversed(text[:at]))) % 2 == 1


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


_Words = list[tuple[int, int]]

_FEWEST, _MOST = 2, 6
_TRIES: Final = 20
_LOW: Final = 1 / 3  # of the scale: a translation of another text deserves no more


@frozen
class _Damage:
    """A range of the text before, and what stands there now."""

    start: int
    end: int
    text: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]


class Checks:
    """Makes damaged copies."""

    def __init__(self, tasks: Iterable[Task], protocol: CampaignProtocol) -> None:
        self._protocol = protocol
        donors: dict[str, dict[tuple[str, str, str], None]] = {}
        for each in tasks:
            texts = donors.setdefault(each.lp, {})
            for one in each.items:
                texts |= {(each.document, one.segment, shown["text"]): None for shown in one.translations}
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
        return replace(item, translations=rest, check=expected)

    def _draw(self, text: str, item: Item, task: Task, kind: CheckKind, draw: Random) -> _Damage | None:
        words = words_of(text, spaced=has_spaces(task.lp))
        if kind == "missing":
            count = min(draw.randint(_FEWEST, _MOST), len(words) - 1)
            if count < 1:
                return None
            first = draw.randrange(len(words) - count)
            return _Damage(start=words[first][0], end=words[first + count][0], text="")
        texts = self._texts[task.lp]
        drawn = draw.sample(texts, min(_TRIES, len(texts)))
        found = [entry for entry in drawn if entry[1] != item.segment and entry[2] != text]
        found.sort(key=lambda entry: bool(task.document) and entry[0] == task.document)
        others = [other for _, _, other in found]
        if kind == "score":
            other = next((other for other in others if other.strip()), None)
            return None if other is None else _Damage(start=0, end=len(text), text=other)
        return _exchanged(text, words, others, draw, spaced=has_spaces(task.lp))


def _exchanged(text: str, words: _Words, others: list[str], draw: Random, *, spaced: bool) -> _Damage | None:
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


def checks_noticed(campaign: Campaign, person: Person) -> list[bool]:
    """Of each attention check that a person finished, whether they noticed the damage."""
    with campaign.database.reading() as connection:
        return noticed_by_person(connection, campaign, assignment.c.person_id == person.id)[person.id]


def noticed_by_person(
    connection: Connection, campaign: Campaign, *chosen: ColumnElement[bool]
) -> defaultdict[int, list[bool]]:
    """The same of everybody, or of who is chosen, by their ids; nothing of who met no check."""
    theirs, first, before = assignment.alias("theirs"), item.alias("first"), answer.alias("before")
    of_original = and_(theirs.c.task_id == task.c.copy_of, theirs.c.person_id == assignment.c.person_id)
    said_before = and_(before.c.assignment_id == theirs.c.id, before.c.item_id == first.c.id)
    is_check = and_(task.c.kind == "check", item.c.check.is_not(None), answer.c.is_complete)
    checks: Select[Any] = (
        select(
            *ITEM_COLUMNS,
            assignment.c.person_id,
            assignment.c.seed,
            answer.c.state,
            before.c.state.label("before"),
        )
        .select_from(answer)
        .join(assignment, answer.c.assignment_id == assignment.c.id)
        .join(task, assignment.c.task_id == task.c.id)
        .join(item, answer.c.item_id == item.c.id)
        .outerjoin(theirs, of_original)
        .outerjoin(first, and_(first.c.task_id == task.c.copy_of, first.c.segment == item.c.segment))
        .outerjoin(before, said_before)
        .where(task.c.campaign_id == campaign.id, is_check, *chosen)
    )
    found: defaultdict[int, list[bool]] = defaultdict(list)
    for row in connection.execute(checks):
        found[row.person_id].append(_is_noticed(campaign, row))
    return found


def _is_noticed(campaign: Campaign, row: Row[Any]) -> bool:
    shown, state = read_item(campaign, row, row.seed), read_state(row.state)
    if shown.check is None:
        return False
    if campaign.protocol.severities or "rating" in shown.check or row.before is None:
        return not feedback(state, shown.check)
    rating, before = (said.translations[0].rating for said in (state, read_state(row.before)))
    return rating is not None and before is not None and rating < before
