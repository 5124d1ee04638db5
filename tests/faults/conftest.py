"""What the fault tests share: a server, a test set, and the command line in this process."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from adjudge.cli.main import main
from adjudge.core.segment import Segment, TestSet
from adjudge.llm.pacing import Pace
from adjudge.store.json_lines import write_test_set
from tests.faults.server import Server

KEY = "canary-4f1d9b7c2e8a6053"

Command = Callable[..., int]


@pytest.fixture
def _unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """After refusals without a word of when, calls go out at the rate that was learnt: right, and slow."""
    monkeypatch.setattr(Pace, "opens_at", lambda self, now: now)


def write_set(path: Path, size: int, systems: str = "AB") -> Path:
    """A test set in which every translation is another text."""
    segments = tuple(
        Segment(
            segment=str(number),
            lp="en-de",
            source=f"Sentence {number} about the harbour.",
            translations={
                name: f"{'Satz' if number % 2 else 'Aussage'} {number} von {name}" for name in systems
            },
        )
        for number in range(size)
    )
    write_test_set(path, TestSet(name="small", segments=segments))
    return path


@pytest.fixture
def command(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`adjudge run gemba-mqm` against the server; returns the exit code."""
    monkeypatch.setenv("CANARY_KEY", KEY)
    test_set = write_set(tmp_path / "set.jsonl", 2)

    def run(*options: str, judge: str = "gemba-mqm", out: str = "run") -> int:
        wire = {"--base-url": server.url, "--model": "mock", "--key-env": "CANARY_KEY", "--timeout": "60"}
        where = ("--out", str(tmp_path / out))
        return call("run", judge, str(test_set), *where, *unless_given(wire, options), *options)

    return run


def unless_given(defaults: Mapping[str, str], options: Sequence[str]) -> list[str]:
    """Options with their values, but for those that are given otherwise."""
    return [word for name, value in defaults.items() if name not in options for word in (name, value)]


def call(*arguments: str) -> int:
    """Run the command line in this process; its exit code."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)
