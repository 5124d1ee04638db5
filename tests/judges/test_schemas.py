"""Schemas that engines take: whatever one of them allows is read, or refused with a reason."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher
from outlines_core import json_schema

from adjudge.core.ask import About, Answer, Message, Query, Reply, Sampling, Snippet, Tool
from adjudge.core.judge import PROFILES, Profile, is_criteria_judge
from adjudge.core.segment import Segment, Subject
from adjudge.curation.drafting import AskTranslation
from adjudge.curation.sources import AskDifficulty
from adjudge.errors import FAILURE_REASONS, AnswerError
from adjudge.judges import JUDGES, load_judge
from adjudge.llm.anthropic import AnthropicDialect
from adjudge.llm.embedded_rules import RulesModel
from adjudge.llm.model import Request
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.runs.units import judge_subject

T = TypeVar("T")
Schema = Mapping[str, Any]

SEGMENT = Segment(
    segment="1",
    lp="en-de",
    source="The ticket costs €54,000 in 2024, he said.",
    translations={
        "A": "Die die Karte kostet €54.000 in 2023 , sagte er",
        "B": "Die Karte kostet 54.000 €, sagte er.",
    },
    meta={"criteria": ["The price is 54,000 euros."]},
)
BOTH = Subject(segment=SEGMENT, systems=("A", "B"))
SETTINGS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "ea-prompt": ({}, {"steps": "1"}),
    "gemba-mqm": ({}, {"explain-in": "fr"}),
    "m-mad": ({}, {"strategy": "interactive-review"}),
    "rate": ({"search": "files:x"}, {"scale": "0-100", "anchors": "frozen", "search": "files:x"}),
}


class Put(NamedTuple):
    """One question with a schema: where it comes from, and how its answer is read."""

    judge: str
    wants: str
    schema: Schema
    read: Callable[[Reply], object]


class Playing:
    """An `ask` that the embedded rules answer, and that keeps every question."""

    def __init__(self, judge: str, profile: Profile = "recommended") -> None:
        self.judge = judge
        self.profile = profile
        self.shown: list[tuple[str, tuple[Message, ...]]] = []
        self.put: list[Put] = []
        self.tools: list[Tool] = []

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Schema | None = None,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        self.tools += tools
        self.shown.append((about.wants, tuple(messages)))
        if schema is not None:
            self.put.append(Put(self.judge, about.wants, schema, read))
        asked = Request(
            messages=tuple(messages), about=about, schema=schema, sampling=sampling, tools=tuple(tools)
        )
        reply = await RulesModel().reply(asked)
        self.saw(about, read, reply)
        return Answer(value=read(reply), reply=reply)

    def saw(self, about: About, read: Callable[[Reply], object], reply: Reply) -> None:
        """What else is to be done with a reply before it is read."""

    async def search(self, query: Query) -> Sequence[Snippet]:
        return [Snippet(title="Tickets", text=f"About {query.text}.")]


async def play(both: Subject) -> list[Playing]:
    """Let the rules play every judge, so that every stage is reached, and put the questions of curation."""
    found = []
    for name in JUDGES:
        for profile in PROFILES:
            for chosen in SETTINGS.get(name, ({},)):
                if chosen.get("explain-in") and profile != "recommended":
                    continue
                judge = load_judge(name, profile=profile, settings=chosen)
                asked = Playing(name, profile)
                is_single = hasattr(judge, "annotate") or is_criteria_judge(judge)
                subject = both.of("A") if is_single else both
                await judge_subject(judge, subject, asked, asked if "search" in chosen else None)
                found.append(asked)
    for question in (AskDifficulty(), AskTranslation()):
        asked = Playing(question.name)
        await question.obtain(both.of("A"), asked)
        found.append(asked)
    return found


@cache
def played() -> list[Playing]:
    return asyncio.run(play(BOTH))


@cache
def questions() -> dict[str, Put]:
    """One of each schema of each stage, by a name for it."""
    kinds: dict[tuple[str, str, str], Put] = {}
    for asked in played():
        for put in asked.put:
            kinds.setdefault((put.judge, put.wants, json.dumps(put.schema)), put)
    numbers: dict[tuple[str, str], int] = {}
    named = {}
    for (judge, wants, _), put in kinds.items():
        numbers[judge, wants] = number = numbers.get((judge, wants), 0) + 1
        named[f"{judge} {wants} {number}"] = put
    return named


@pytest.fixture(params=[*questions()])
def put(request: pytest.FixtureRequest) -> Put:
    return questions()[request.param]


def test_every_judge_has_a_schema_for_what_it_asks() -> None:
    assert {put.judge for put in questions().values()} == {*JUDGES, "difficulty", "translate"}
    wanted = {(put.judge, put.wants) for put in questions().values()}
    stages = ("errors", "correction", "verification", "versions", "opinion", "place", "response")
    assert {("himate", stage) for stage in stages} <= wanted
    assert {("rate", stage) for stage in ("assessment", "verdict", "queries", "answer")} <= wanted


def nodes(schema: object) -> Iterator[Schema]:
    """A schema and all schemas in it."""
    if isinstance(schema, dict):
        if "type" in schema or "enum" in schema or "anyOf" in schema:
            yield schema
        for inner in schema.values():
            yield from nodes(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from nodes(inner)


LIMITS = {"minimum", "maximum"}
"""Anthropic refuses these, and is sent none of them."""


def check_strict(schema: object) -> None:
    """OpenAI's strict subset, which Gemini's structured outputs take, too."""
    for node in nodes(schema):
        assert node.keys() <= {
            *("type", "enum", "properties", "required", "additionalProperties", "items", "description"),
            *LIMITS,
        }, node
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == [*node["properties"]]
        if node.get("type") == "array":
            assert "items" in node


def test_a_schema_keeps_to_what_every_provider_takes(put: Put) -> None:
    check_strict(put.schema)
    assert put.schema["type"] == "object"
    endpoint = Endpoint(
        provider=PROVIDERS["anthropic"], url="http://host/v1", model="claude-sonnet-5", constrained=True
    )
    about = About(judge=put.judge, stage="", subject=BOTH, wants=put.wants)
    message = Message("user", ("Judge.",))
    asked = Request(messages=(message,), about=about, schema=put.schema, sampling=Sampling())
    sent = AnthropicDialect(endpoint).payload(asked)["output_config"]["format"]["schema"]
    assert sent["properties"].keys() == put.schema["properties"].keys()
    assert not LIMITS & {key for node in nodes(sent) for key in node}


def test_tools_keep_to_it_too() -> None:
    tools = {tool.name: tool for asked in played() for tool in asked.tools}
    assert {"search", "evaluate", "compare", "finish", "prepare"} <= tools.keys()
    for tool in tools.values():
        text = json.dumps(tool.parameters)
        assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(text))
        re.compile(json_schema.build_regex_from_schema(text))


def test_the_engines_behind_vllm_and_sglang_compile_it(put: Put) -> None:
    text = json.dumps(put.schema)
    assert not LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(text))
    re.compile(json_schema.build_regex_from_schema(text))


TEXTS = st.text(max_size=12) | st.sampled_from(
    [SEGMENT.source, "die", "none", *SEGMENT.translations.values()]
)


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """Every value that a schema of the strict subset allows. (hypothesis-jsonschema draws no objects.)"""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if isinstance(schema["type"], list):
        return st.one_of([values({**schema, "type": kind}) for kind in schema["type"]])
    low, high = schema.get("minimum"), schema.get("maximum")
    kinds: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "object": lambda: st.fixed_dictionaries(
            {name: values(inner) for name, inner in schema["properties"].items()}
        ),
        "array": lambda: st.lists(values(schema["items"]), max_size=4),
        "string": lambda: TEXTS,
        "integer": lambda: st.integers(low, high),
        "number": lambda: st.floats(low, high, allow_nan=False, allow_infinity=False),
        "boolean": st.booleans,
        "null": st.none,
    }
    return kinds[schema["type"]]()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # which is the same for all examples
@given(data=st.data())
def test_whatever_a_schema_allows_is_read_or_refused_with_a_reason(put: Put, data: st.DataObject) -> None:
    value = data.draw(values(put.schema))
    refused = refusal(put, Reply(text=json.dumps(value, ensure_ascii=data.draw(st.booleans()))))
    if refused is not None:
        assert refused.reason in set(FAILURE_REASONS) - {"parse", "not_json"}, refused
        assert refused.detail.strip()


def refusal(put: Put, reply: Reply) -> AnswerError | None:
    try:
        put.read(reply)
    except AnswerError as error:
        return error
    return None
