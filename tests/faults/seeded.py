"""Many small runs side by side, each disturbed as its seed says, and what must come of them.

All runs of a case share one event loop and one server. A run is known there by its key, so that each has a
limiter of its own; which of its calls are hit, how often, in which order and after how long, its seed says.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adjudge.core.segment import TestSet
from adjudge.errors import ModelError
from adjudge.formats.read import load
from adjudge.runs.job import prepare
from adjudge.runs.run import execute
from adjudge.store.run_directory import RECORDS
from tests.faults.conftest import write_set
from tests.faults.server import TEXT, Fault, Server, plain

Rows = list[dict[str, Any]]
Choose = Callable[[dict[str, Any]], str | Fault | None]
_MEMORY = Path("/dev/shm")  # noqa: S108 (files of a run are synced; there that takes no time)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder for small files that are soon gone, in memory where there is such a place."""
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def text_of(payload: Mapping[str, Any]) -> str:
    """The translation that a request is about."""
    found = [text for message in payload["messages"] for text in TEXT.findall(str(message["content"]))]
    return str(json.loads(found[-1]))


@dataclass
class Disturbed:
    """What the server does to one run.

    Args:
        seed: in words, for an assertion.
        choose: the fault that hits a request, or None.
        asked: how often each text was asked about.
        answered: good answers by request.
    """

    seed: str
    choose: Choose
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)

    def play(self, payload: dict[str, Any]) -> str | Fault | None:
        self.asked[text_of(payload)] += 1
        fault = self.choose(payload)
        if fault is None:
            self.answered[plain(payload)] += 1
        return fault


class Bench:
    """A server, a test set, and a place for runs.

    Args:
        server: to be disturbed.
        folder: for run directories.
        judge: whose runs they are.
        size: segments.
    """

    def __init__(self, server: Server, folder: Path, judge: str = "gemba-mqm", size: int = 2) -> None:
        self.server = server
        self.folder = folder
        self.judge = judge
        self.test_set: TestSet = load(write_set(folder / "set.jsonl", size))
        self.texts = [text for segment in self.test_set for text in segment.translations.values()]
        self.disturbed: dict[str, Disturbed] = {}
        server.play = self._play
        server.jitter = 0.003

    def _play(self, number: int) -> str | Fault | None:
        name = self.server.headers[number].get("Authorization", "").removeprefix("Bearer ")
        return self.disturbed[name].play(self.server.log[number]) if name in self.disturbed else None

    def join(self, name: str, disturbed: Disturbed) -> None:
        """Let a run be known to the server; its folder and its key have the same name."""
        self.disturbed[f"key-of-{name}"] = disturbed
        (self.folder / f"{name}.key").write_text(f"key-of-{name}")

    async def run(self, name: str, **options: Any) -> Rows:
        """Run or go on; the records."""
        out = self.folder / name
        wire: dict[str, Any] = {"base_url": self.server.url, "model": "mock", "timeout": 60.0, **options}
        await execute(
            prepare(self.judge, self.test_set, out=out, key_file=self.folder / f"{name}.key", **wire)
        )
        return read_rows(out)

    async def undisturbed(self) -> Rows:
        """The records without a fault."""
        self.join("undisturbed", Disturbed("none", lambda payload: None))
        return await self.run("undisturbed")

    async def run_to_the_end(self, name: str, **options: Any) -> tuple[Rows, int]:
        """Run; if the server stops it, heal the server and go on. The records, and how often it stopped."""
        try:
            return await self.run(name, **options), 0
        except ModelError:
            self.disturbed[f"key-of-{name}"].choose = lambda payload: None
            return await self.run(name, **options), 1


def read_rows(out: Path) -> Rows:
    return [json.loads(line) for line in (out / RECORDS).read_text(encoding="utf-8").splitlines()]


def check(rows: Rows, undisturbed: Rows, failing: Mapping[int, str], seed: str) -> None:
    """Every record is that of the undisturbed run, but for those that must be failures with their reason."""
    assert len(rows) == len(undisturbed), seed
    for index, (row, expected) in enumerate(zip(rows, undisturbed, strict=True)):
        if index in failing:
            assert row["kind"] == "failure", f"{seed}: a fault became a number: {row}"
            assert row["reason"] == failing[index], f"{seed}: {row}"
            same = ("lp", "segment", "annotator", "protocol")
            assert [row[key] for key in same] == [expected[key] for key in same], seed
            assert not {"rating", "spans"} & set(row), f"{seed}: {row}"
        else:
            assert row == expected, f"{seed}: record {index}"


def chance_of(*words: object) -> random.Random:
    """A seeded generator of a case."""
    return random.Random(" ".join(map(str, words)))
