"""What the tests of curation share: a small test set, and a loopback server that answers as it is told."""

import pytest

from adjudge.core.segment import Segment, TestSet
from tests.faults.server import Server

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


@pytest.fixture
def server(server: Server, _quick: None) -> Server:
    server.answer = lambda payload: "{}"
    return server
