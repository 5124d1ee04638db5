"""The results of batches that are here and were not read yet: found by the key of their question."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from adjudge.errors import AnswerError
from adjudge.llm.batch.dialect import BatchDialect, Item, read_key
from adjudge.llm.batch.ledger import key_in
from adjudge.llm.body import read_json_body, refuse_duplicate_keys
from adjudge.llm.faults import Fault, retried

__all__ = ["Found", "Results"]

_LONGEST: Final = 2 << 20  # bytes of a line; a body of 1 MB and what stands around it


class _Place(NamedTuple):
    path: Path
    start: int
    length: int


@dataclass
class Found:
    """What some files held.

    Args:
        lines: of questions of ours.
        unknown: lines of questions that nobody asked.
        torn: lines that are no JSON, as where a file was cut.
        twice: questions with two different results.
    """

    lines: int = 0
    unknown: int = 0
    torn: int = 0
    twice: int = 0

    def __str__(self) -> str:
        """What is odd about them; empty where nothing is."""
        odd = {
            "results of no question of ours": self.unknown,
            "lines that cannot be read": self.torn,
            "questions with two results": self.twice,
        }
        return ", ".join(f"{number} {what}" for what, number in odd.items() if number)


class Results:
    """Results by key; the lines stay on disk."""

    def __init__(self, dialect: BatchDialect) -> None:
        self._dialect = dialect
        self._places: dict[bytes, _Place | Fault] = {}

    def __contains__(self, key: bytes) -> bool:
        """Whether there is a result that was not read."""
        return key in self._places

    def add(self, path: Path, wanted: Container[bytes], found: Found) -> None:
        """Find the lines of a file.

        Args:
            path: of the file.
            wanted: keys that were sent.
            found: is counted up.
        """
        start = 0
        with path.open("rb") as file:
            while line := file.readline():
                if line.strip():
                    self._add(line, _Place(path, start, len(line)), wanted, found)
                start += len(line)

    def add_missing(self, keys: set[bytes], fault: Fault) -> int:
        """Say what became of the questions that have no result; how many there are."""
        missing = [key for key in keys if key not in self._places]
        self._places.update(dict.fromkeys(missing, fault))
        return len(missing)

    def drop(self, keys: set[bytes]) -> None:
        """Forget what nobody asked for."""
        for key in keys:
            self._places.pop(key, None)

    def take(self, key: bytes, *, strictly: bool) -> Item | None:
        """The result of a question, once; None where there is none.

        Args:
            key: of the question.
            strictly: refuse a line in which one object gives a key two values.
        """
        place = self._places.pop(key, None)
        if place is None or isinstance(place, Fault):
            return None if place is None else Item(fault=place)
        try:
            line = _line_at(place)
            if strictly:
                refuse_duplicate_keys(line)
            return self._dialect.read(_object(line))
        except AnswerError as error:
            return Item(fault=retried(error.reason, error.detail))

    def _add(self, line: bytes, place: _Place, wanted: Container[bytes], found: Found) -> None:
        try:
            value = _object(line)
        except AnswerError as error:
            found.torn += 1
            if error.reason == "encoding" and (said := key_in(line)) in wanted:
                self._places.setdefault(said, retried(error.reason, error.detail))
            return
        key = read_key(value)
        if key is None or key not in wanted:
            found.unknown += 1
            return
        before = self._places.get(key)
        if before is None:
            found.lines += 1
            self._places[key] = place
        elif isinstance(before, Fault) or _said(_object(_line_at(before))) != _said(value):
            found.twice += 1
            self._places[key] = retried("ambiguous", "the batch brought two different results")


def _line_at(place: _Place) -> bytes:
    with place.path.open("rb") as file:
        file.seek(place.start)
        return file.read(place.length)


def _object(line: bytes) -> dict[str, Any]:
    """A line as a JSON object.

    Raises:
        AnswerError: it is none.
    """
    if len(line) > _LONGEST:
        raise AnswerError("oversize", f"a line of results is longer than {_LONGEST} bytes")
    value = read_json_body(line)
    if not isinstance(value, dict):
        raise AnswerError("bad_envelope", "a line of results is no object")
    return value


def _said(value: dict[str, Any]) -> list[object]:
    """What a line says of its question, without the ids that the provider gives each line."""
    response = value.get("response")
    if isinstance(response, dict):
        return [response.get("status_code"), response.get("body"), value.get("error")]
    return [value.get("result"), value.get("error")]
