"""Tokens of a prompt beside its messages: schemas, and tools that a model is offered."""

from collections.abc import Iterator
from typing import cast

import pytest

from adjudge.core.ask import About, Message, Reply, Sampling, Tool, Usage
from adjudge.llm.model import Request, stored_request
from adjudge.llm.model_choice import Models, open_models
from adjudge.llm.providers import Connection
from adjudge.runs.forecast import Experience, learn
from adjudge.store.call_file import StoredRequest
from adjudge.store.calls import CallReader
from tests.judges.asking import subject

ABOUT = About(judge="rate", stage="core", subject=subject(), wants="rating")
SEARCH = Tool(
    name="search",
    description="Look a name or a term up. " * 40,
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def request(*tools: Tool) -> Request:
    messages = (Message("user", ("Judge this translation.",)),)
    return Request(messages=messages, about=ABOUT, schema=None, sampling=Sampling(), tools=tools)


def test_tools_are_part_of_the_prompt() -> None:
    reply = Reply(text="90")
    bare, _ = Experience().estimate("vllm/x", request(), reply)
    one, _ = Experience().estimate("vllm/x", request(SEARCH), reply)
    two, _ = Experience().estimate("vllm/x", request(SEARCH, SEARCH), reply)
    words = len(SEARCH.description.split())
    assert one.typical - bare.typical > words
    assert bare.low < one.low < one.typical < one.high
    assert one.typical < two.typical


class Recorded:
    """What `learn` asks a store for."""

    def __init__(self, asked: StoredRequest, prompt: int) -> None:
        self.asked, self.prompt = asked, prompt

    def answered(self, most: int) -> Iterator[tuple[StoredRequest, Reply]]:
        for _ in range(min(most, 20)):
            yield self.asked, Reply(text="90", usage=Usage(prompt=self.prompt, completion=3))

    def seconds(self) -> float:
        return 1.0


@pytest.fixture
def models() -> Models:
    return open_models(["vllm/x"], Connection())


def test_what_a_server_counts_for_tools_is_not_added_twice(models: Models) -> None:
    asked = stored_request(models.default.identity, request(SEARCH))
    seen = learn(cast("CallReader", Recorded(asked, prompt=700)), models)
    prompt, _ = seen.estimate("vllm/x", request(SEARCH), Reply(text="90"))
    assert prompt.typical == pytest.approx(700)
