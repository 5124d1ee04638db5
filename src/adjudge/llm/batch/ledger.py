"""The batches of a run, on disk before anything is sent: a run that was killed picks them up again.

`batches.jsonl` in the run directory has a line for each step of each batch; `batches/` holds what was sent
and what came back, until every answer of it is in the call store.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from adjudge.errors import StoreError, UsageError

__all__ = ["LEDGER", "Batch", "Ending", "Ledger", "key_in", "refuse_open_batches"]

LEDGER: Final = "batches.jsonl"
_FOLDER: Final = "batches"

_KEY: Final = re.compile(rb'"custom_id": ?"([0-9a-f]{64})"')

State = Literal["prepared", "submitted", "fetched", "done"]
Ending = Literal["ended", "expired", "cancelled"]


@dataclass(kw_only=True)
class Batch:
    """One batch.

    Args:
        number: from 1, in this run.
        model: that is asked.
        count: requests.
        prompt: tokens of all prompts at most.
        completion: tokens of all replies at most.
        time: it was prepared, ISO 8601 with offset.
        state: prepared (it may have been sent or not), submitted (it was, and we know its id), fetched (its
            results are here), done (they are in the call store).
        id: the provider's; empty as long as it is not known.
        guessed: whether the id was found and not given, so that the results must tell if it is ours.
        ending: how it ended, once its results are here.
        wrong: ids that were found and turned out to be of others.
    """

    number: int
    model: str
    count: int
    prompt: int = 0
    completion: int = 0
    time: str = ""
    state: State = "prepared"
    id: str = ""
    guessed: bool = False
    ending: Ending = "ended"
    wrong: tuple[str, ...] = ()


class Ledger:
    """All batches of a run."""

    def __init__(self, folder: Path) -> None:
        """Read what there is.

        Args:
            folder: run directory.

        Raises:
            StoreError: it cannot be read.
        """
        self.path = folder / LEDGER
        self.folder = folder / _FOLDER
        self.batches: dict[int, Batch] = {}
        for row in _rows(self.path):
            self._take(row)

    @property
    def open(self) -> list[Batch]:
        """Those that are not done."""
        return [batch for batch in self.batches.values() if batch.state != "done"]

    @property
    def ids(self) -> frozenset[str]:
        """Of every batch that there was."""
        found = {batch.id for batch in self.batches.values()} - {""}
        return frozenset(found.union(*(batch.wrong for batch in self.batches.values())))

    def requests(self, batch: Batch) -> Path:
        """The file that is sent."""
        return self.folder / f"{batch.number}.requests.jsonl"

    def keys(self, batch: Batch) -> set[bytes]:
        """The keys of what is sent.

        Raises:
            StoreError: its file is gone, or was cut.
        """
        path = self.requests(batch)
        after = f"restore it from a copy. Without {self.path} the calls of the batch are sent and paid again"
        try:
            with path.open("rb") as file:
                found = set(map(key_in, file)) - {b""}
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}; {after}") from error
        if len(found) != batch.count:
            raise StoreError(f"{path} is damaged: {len(found)} of {batch.count} calls are in it; {after}")
        return found

    def results(self, batch: Batch, number: int) -> Path:
        """A file that comes back."""
        return self.folder / f"{batch.number}.results-{number}.jsonl"

    def all_results(self, batch: Batch) -> list[Path]:
        """The files that came back."""
        return sorted(self.folder.glob(f"{batch.number}.results-*.jsonl"))

    def next(self, model: str) -> Batch:
        """A batch to be prepared; nothing of it is written yet."""
        self.folder.mkdir(exist_ok=True)
        return Batch(number=max(self.batches, default=0) + 1, model=model, count=0)

    def prepare(self, batch: Batch) -> None:
        """Write down that a batch is about to be sent; its file must be there."""
        batch.time = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self.batches[batch.number] = batch
        self._write(asdict(batch))

    def mark(self, batch: Batch, **changes: object) -> None:
        """Write down what became of a batch, before anything rests on it."""
        self._write({"number": batch.number, **changes})
        for name, value in changes.items():
            setattr(batch, name, value)

    def finish(self, batch: Batch) -> None:
        """Every answer of it is in the call store: its files are not needed any more."""
        self.mark(batch, state="done")
        for path in self.folder.glob(f"{batch.number}.*"):
            path.unlink(missing_ok=True)

    def _take(self, row: dict[str, Any]) -> None:
        try:
            number = int(row["number"])
            before = asdict(self.batches[number]) if number in self.batches else {}
            batch = Batch(**(before | row))
            batch.wrong = tuple(batch.wrong)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self.path} is damaged at {row!r}; restore it from a copy") from error
        self.batches[number] = batch

    def _write(self, row: dict[str, object]) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(orjson.dumps(row) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; nothing was sent") from error


def key_in(line: bytes) -> bytes:
    """The key in a line of questions or results, whatever else it holds; empty where there is none."""
    match = _KEY.search(line)  # a quote within a text is escaped
    return b"" if match is None else bytes.fromhex(match[1].decode())


def _rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a ledger; one that was cut at the end was never acted upon, and is taken off."""
    if not path.is_file():
        return []
    content = path.read_bytes()
    whole, _, torn = content.rpartition(b"\n")
    if torn:
        with path.open("r+b") as file:
            file.truncate(len(content) - len(torn))
    try:
        return [orjson.loads(line) for line in whole.splitlines() if line]
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{path} is damaged: {error}; restore it from a copy") from error


def refuse_open_batches(folder: Path) -> None:
    """Refuse to pay for calls that are in a batch already.

    Args:
        folder: run directory.

    Raises:
        UsageError: some may be.
    """
    if found := Ledger(folder).open:
        names = ", ".join(batch.id or "one that may not have got there" for batch in found)
        raise UsageError(
            f"{folder} has calls in batches ({names}): fetch them with --engine batch, or delete "
            f"{folder / LEDGER}, and they are paid again"
        )
