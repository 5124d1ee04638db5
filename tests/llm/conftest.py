"""What the tests of models share."""

from collections.abc import Iterator

import pytest

from adjudge.core.ask import About, Message, Quoted, Sampling
from adjudge.core.segment import Segment, Subject
from adjudge.llm.model import Request
from adjudge.llm.retry import Patience
from tests.faults.server import Server, running


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def server(_server: Server) -> Server:
    """A server that behaves, until a test says what it plays."""
    _server.fails(None)
    return _server


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits as long as a user should."""
    monkeypatch.setattr(Patience, "pause", lambda self, tries: 0.002)


def make_subject(translation: str = "Guten Morgen", source: str = "Good morning") -> Subject:
    segment = Segment(segment="1", lp="en-de", source=source, translations={"A": translation})
    return Subject(segment=segment, systems=("A",))


def make_request(text: str = "Guten Morgen", **changes: object) -> Request:
    about = About(judge="test", stage="errors", subject=make_subject(text), wants="errors")
    messages = (Message("system", ("Judge.",)), Message("user", ("This: ", Quoted("translation", text))))
    values = {"schema": None, "sampling": Sampling(), "mark": "0" * 16, "key": b"k" * 32} | changes
    return Request(messages=messages, about=about, **values)  # type: ignore[arg-type]
