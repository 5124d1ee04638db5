"""What the tests of models share."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from adjudge.core.ask import About, Message, Quoted, Sampling
from adjudge.core.segment import Segment, Subject
from adjudge.llm.limits import Limiter
from adjudge.llm.model import Request
from tests.faults.limited import run


def make_subject(translation: str = "Guten Morgen", source: str = "Good morning") -> Subject:
    segment = Segment(segment="1", lp="en-de", source=source, translations={"A": translation})
    return Subject(segment=segment, systems=("A",))


def make_request(text: str = "Guten Morgen", **changes: object) -> Request:
    about = About(judge="test", stage="errors", subject=make_subject(text), wants="errors")
    messages = (Message("system", ("Judge.",)), Message("user", ("This: ", Quoted("translation", text))))
    values = {"schema": None, "sampling": Sampling(), "mark": "0" * 16, "key": b"k" * 32} | changes
    return Request(messages=messages, about=about, **values)  # type: ignore[arg-type]


def pause_of(limiter: Limiter) -> float:
    """Seconds for which nothing is sent."""
    return limiter._pauses.left(limiter._clock())


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test where time is virtual and nobody sleeps."""

    @wraps(test)
    def begun(*arguments: Any, **named: Any) -> None:
        run(test(*arguments, **named))

    return begun
