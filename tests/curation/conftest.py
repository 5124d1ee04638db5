"""What the tests of curation share: a small test set, and a loopback server that answers as it is told."""

from collections.abc import Iterator

import pytest

from adjudge.core.segment import Segment, TestSet
from adjudge.llm.retry import Patience
from tests.faults.server import Server, running

__all__ = ["sources"]


def sources(*texts: str, lp: str = "en-de", domains: str = "") -> TestSet:
    """A test set with these sources, and the letters of `domains` as theirs."""
    segments = [
        Segment(
            segment=str(number),
            lp=lp,
            source=text,
            document="d",
            domain=domains[number - 1 : number],
            translations={"A": f"A says {text}", "B": f"B says {text}"},
        )
        for number, text in enumerate(texts, start=1)
    ]
    return TestSet(name="small", segments=tuple(segments))


@pytest.fixture(scope="module")
def _server() -> Iterator[Server]:
    with running(lambda payload: "{}") as server:
        yield server


@pytest.fixture
def server(_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(Patience, "pause", lambda self, tries: 0.002)
    _server.fails(None)
    return _server
