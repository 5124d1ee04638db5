"""The two native dialects: what is sent, and what an answer in them means."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Message, Quoted, Reply, Sampling, TokenLogprob, Tool, ToolCall, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import Dialect, read_json_body, refuse_duplicate_keys
from adjudge.llm.faults import Fault
from adjudge.llm.providers import PROVIDERS, Endpoint
from adjudge.llm.wire import Wire, open_dialect
from tests.faults.dialects import anthropic, gemini
from tests.faults.server import envelope
from tests.llm.conftest import make_request

CANARY = "canary-4f1d9b7c2e8a6053"
SCHEMA = {
    "type": "object",
    "properties": {"rating": {"type": "integer", "minimum": 0}, "minimum": {"type": "string"}},
    "required": ["rating"],
    "additionalProperties": False,
}
SEARCH = Tool(name="search", description="Look something up.", parameters=SCHEMA)
GOOD = {"openai": envelope, "anthropic": anthropic, "gemini": gemini}


def dialect(provider: str, model: str = "m", **changes: Any) -> Dialect:
    row = PROVIDERS[provider]
    return open_dialect(Endpoint(provider=row, url=row.base_url, model=model, **changes))


def payload(provider: str, model: str = "m", asked: Any = None, **changes: Any) -> dict[str, Any]:
    sent: dict[str, Any] = orjson.loads(
        orjson.dumps(dialect(provider, model, **changes).payload(asked or make_request()))
    )
    return sent


def read(provider: str, value: object, asked: Any = None, **changes: Any) -> Reply:
    return dialect(provider, **changes).read(value, asked or make_request(), Redactor([CANARY]))


def test_anthropic_gets_the_systems_words_apart_and_its_own_headers() -> None:
    assert payload("anthropic", "claude-haiku-4-5", make_request("Ja\u2028")) == {
        "model": "claude-haiku-4-5",
        "max_tokens": 2048,
        "system": "Judge.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "text",
                        "text": "This: <<translation 0000000000000000>>\n"
                        '"Ja\u2028"\n<</translation 0000000000000000>>',
                    }
                ],
            }
        ],
        "temperature": 0.0,
    }
    one = dialect("anthropic", key="k")
    assert one.address == "https://api.anthropic.com/v1/messages"
    assert one.headers() == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    assert dialect("anthropic").headers() == {"anthropic-version": "2023-06-01"}


def test_gemini_gets_parts_and_the_model_in_the_address() -> None:
    sent = payload("gemini", "gemini-2.5-flash", make_request(sampling=Sampling(temperature=1.0), seed=7))
    assert sent["systemInstruction"] == {"parts": [{"text": "Judge."}]}
    assert [turn["role"] for turn in sent["contents"]] == ["user"]
    assert sent["generationConfig"] == {
        "candidateCount": 1,
        "maxOutputTokens": 2048,
        "temperature": 1.0,
        "seed": 7,
    }
    one = dialect("gemini", "gemini-2.5-flash", key="k")
    base = "https://generativelanguage.googleapis.com/v1beta"
    assert one.address == f"{base}/models/gemini-2.5-flash:generateContent"
    assert dialect("gemini", "tunedModels/a b?c").address == f"{base}/tunedModels/a%20b%3Fc:generateContent"
    assert one.headers() == {"x-goog-api-key": "k"}
    assert dialect("gemini").headers() == {}


@pytest.mark.parametrize(
    ("model", "has_temperature"),
    [
        *(("claude-haiku-4-5", True), ("claude-sonnet-4-6", True), ("claude-opus-4-6", True)),
        *(("claude-opus-4-7", False), ("claude-opus-5", False), ("claude-sonnet-5", False)),
        *(("claude-opus-5-5", False), ("claude-fable-5-1", False), ("claude-sonnet-4-20250514", True)),
    ],
)
def test_models_without_a_temperature_are_sent_none(model: str, *, has_temperature: bool) -> None:
    assert ("temperature" in payload("anthropic", model)) == has_temperature


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        (
            "anthropic",
            "claude-opus-5",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        ),
        (
            "anthropic",
            "claude-sonnet-4-6",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        ),
        ("anthropic", "claude-haiku-4-5", {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        ("openai", "gpt-5.4", {"reasoning_effort": "medium"}),
        ("vllm", "openai/gpt-oss-20b", {"reasoning_effort": "medium"}),
    ],
)
def test_effort_is_said_in_the_words_of_the_model(provider: str, model: str, sent: dict[str, Any]) -> None:
    found = payload(provider, model, effort="medium")
    assert sent.items() <= found.items()
    assert "thinking" not in payload(provider, model)
    if provider == "anthropic":
        assert "temperature" not in found


def test_effort_is_a_level_for_gemini_3_and_tokens_for_gemini_2() -> None:
    level = payload("gemini", "gemini-3-flash", effort="low")["generationConfig"]["thinkingConfig"]
    assert level == {"thinkingLevel": "low", "includeThoughts": True}
    tokens = payload("gemini", "gemini-2.5-pro", effort="high")["generationConfig"]["thinkingConfig"]
    assert tokens == {"thinkingBudget": 24_576, "includeThoughts": True}


def test_a_schema_is_an_output_format_or_for_older_models_a_tool() -> None:
    asked = make_request(schema=SCHEMA)
    assert "output_config" not in payload("anthropic", "claude-opus-5", asked)
    sent = payload("anthropic", "claude-opus-5", asked, constrained=True, effort="low")
    form = sent["output_config"]["format"]
    assert sent["output_config"]["effort"] == "low"
    assert form["type"] == "json_schema"
    assert form["schema"]["properties"] == {"rating": {"type": "integer"}, "minimum": {"type": "string"}}
    old = payload("anthropic", "claude-opus-4-1", asked, constrained=True)
    assert old["tool_choice"] == {"type": "tool", "name": "answer"}
    assert [tool["input_schema"] for tool in old["tools"]] == [SCHEMA]
    thinking = payload("anthropic", "claude-opus-4-1", asked, constrained=True, effort="low")
    assert not {"tools", "tool_choice", "output_config"} & thinking.keys()
    config = payload("gemini", "gemini-3-flash", asked, constrained=True)["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == SCHEMA


def test_log_probabilities_are_asked_for_only_where_there_are_any() -> None:
    asked = make_request(sampling=Sampling(logprobs=True))
    assert "responseLogprobs" not in payload("gemini", "gemini-2.5-flash", asked)["generationConfig"]
    assert "logprobs" not in payload("openai", "gpt-5.4", asked)
    assert payload("openai", "gpt-4o", asked)["logprobs"] is True


def test_an_answer_of_anthropic_is_its_text_and_all_its_prompt_tokens_are_counted() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Let me see", "signature": "s"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "{}"},
        {"type": "text", "text": " "},
    ]
    reply = read("anthropic", anthropic(blocks))
    assert (reply.text, reply.reasoning, reply.model, reply.finish) == ("{} ", "Let me see", "mock", "stop")
    assert reply.usage == Usage(prompt=100, completion=20, cached=40, reasoning=5)


def test_an_answer_of_gemini_is_its_text_and_thinking_is_paid_too() -> None:
    parts = [{"text": "Let me see", "thought": True}, {"text": "{"}, {"text": "}", "thoughtSignature": "s"}]
    reply = read("gemini", gemini(parts))
    assert (reply.text, reply.reasoning, reply.model, reply.finish) == ("{}", "Let me see", "mock", "stop")
    assert reply.usage == Usage(prompt=100, completion=20, cached=40, reasoning=5)


STOPPED_OF = {
    "openai": ["stop", "STOP", "eos", "end_turn"],
    "anthropic": ["end_turn", "stop_sequence"],
    "gemini": ["STOP"],
}
CUT_OF = {
    "openai": ["length", "model_length", "MAX_TOKENS"],
    "anthropic": ["max_tokens", "model_context_window_exceeded"],
    "gemini": ["MAX_TOKENS"],
}
FILTERED_OF = {
    "openai": ["content_filter", "sensitive", "SPII", "content_filter: PROHIBITED_CONTENT"],
    "gemini": [
        *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
    ],
}


@pytest.mark.parametrize(
    ("words", "finish"),
    [
        (STOPPED_OF, "stop"),
        (CUT_OF, "length"),
        (FILTERED_OF, "content_filter"),
        ({"anthropic": ["refusal"]}, "refused"),
    ],
)
def test_a_servers_word_for_its_end_becomes_ours(words: dict[str, list[str]], finish: str) -> None:
    name = {"openai": "finish", "anthropic": "stop_reason", "gemini": "finish"}
    for provider, theirs in words.items():
        found = {w: read(provider, GOOD[provider]("x", **{name[provider]: w})).finish for w in theirs}
        assert found == dict.fromkeys(theirs, finish)


@pytest.mark.parametrize(
    ("provider", "value", "reason"),
    [
        ("anthropic", anthropic("x", stop_reason="pause_turn"), "bad_envelope"),
        ("anthropic", anthropic("x", stop_reason=None), "bad_envelope"),
        ("anthropic", anthropic([{"type": "server_tool_use"}]), "bad_envelope"),
        ("anthropic", anthropic("x\0"), "encoding"),
        ("gemini", gemini("x", finish="OTHER"), "server_error"),
        *(
            ("gemini", gemini("x", finish=word), "bad_envelope")
            for word in ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "FINISH_REASON_UNSPECIFIED", 1)
        ),
        ("gemini", gemini([{"executableCode": {}}]), "bad_envelope"),
        ("gemini", gemini([{"text": "x", "functionCall": "y"}]), "bad_envelope"),
        ("gemini", {"promptFeedback": {}}, "bad_envelope"),
        ("gemini", gemini("x", candidates=[{}, {}]), "count"),
        ("gemini", gemini("x\0"), "encoding"),
    ],
)
def test_what_is_no_answer_is_a_failure_with_its_reason(provider: str, value: object, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read(provider, value)
    assert caught.value.reason == reason


def test_a_prompt_that_gemini_blocks_is_refused_and_a_cut_reply_may_have_no_parts() -> None:
    blocked = read("gemini", {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "mock"})
    assert (blocked.finish, blocked.text) == ("refused", "the prompt was blocked: SAFETY")
    cut = {"candidates": [{"finishReason": "MAX_TOKENS"}], "modelVersion": "mock"}
    assert read("gemini", cut).finish == "length"
    assert read("gemini", gemini(None)).text == ""


def test_an_answer_that_came_as_a_tool_is_text_again() -> None:
    asked = make_request(schema=SCHEMA)
    block = {"type": "tool_use", "id": "t", "name": "answer", "input": {"rating": 87}}
    old: dict[str, Any] = {"model": "claude-opus-4-1", "constrained": True}
    reply = read("anthropic", anthropic([block], stop_reason="tool_use"), asked, **old)
    assert (reply.text, reply.calls) == ('{"rating":87}', ())
    assert read("anthropic", anthropic("No."), asked, **old).text == "No."
    with pytest.raises(AnswerError, match="ambiguous"):
        read("anthropic", anthropic([block, block | {"id": "u"}]), asked, **old)


@pytest.mark.parametrize(("twice", "reason"), [("87", None), ("12", "ambiguous")])
def test_an_answer_that_came_as_a_tool_gives_no_key_two_values(twice: str, reason: str | None) -> None:
    block = {"type": "tool_use", "id": "t", "name": "answer", "input": {"rating": 87}}
    body = json.dumps(anthropic([block], stop_reason="tool_use"))
    raw = body.replace('{"rating": 87}', f'{{"rating": 87, "rating": {twice}}}').encode()
    row = PROVIDERS["anthropic"]
    one = Endpoint(provider=row, url=row.base_url, model="claude-opus-4-1", constrained=True)
    found = Wire(one).read(raw, make_request(schema=SCHEMA))
    assert (found.reason if isinstance(found, Fault) else None) == reason


def test_geminis_log_probabilities_are_read_and_checked() -> None:
    good = gemini("yes")
    chosen = [{"token": "ye", "logProbability": -0.5}, {"token": "s", "logProbability": -0.25}]
    good["candidates"][0]["logprobsResult"] = {"chosenCandidates": chosen}
    assert read("gemini", good).logprobs == (TokenLogprob("ye", -0.5), TokenLogprob("s", -0.25))
    top = [{"candidates": [one, {"token": "no", "logProbability": -2.0}]} for one in chosen]
    good["candidates"][0]["logprobsResult"] = {"chosenCandidates": chosen, "topCandidates": top}
    assert read("gemini", good).logprobs[1] == TokenLogprob("s", -0.25, (("s", -0.25), ("no", -2.0)))
    good["candidates"][0]["logprobsResult"] = {"chosenCandidates": chosen, "topCandidates": top[:1]}
    with pytest.raises(AnswerError, match="logprob"):
        read("gemini", good)
    for bad in ([chosen[0]], [{"token": "yes"}], "x", None):
        good["candidates"][0]["logprobsResult"] = {"chosenCandidates": bad}
        with pytest.raises(AnswerError, match="logprob"):
            read("gemini", good)


def test_a_key_is_taken_out_of_whatever_an_answer_says() -> None:
    call = {"type": "tool_use", "id": CANARY, "name": "search", "input": {CANARY: [CANARY]}}
    said = [{"type": "thinking", "thinking": CANARY}, {"type": "text", "text": CANARY}, call]
    reply = read("anthropic", anthropic(said, model=CANARY), make_request(tools=(SEARCH,)))
    assert reply.calls[0].state
    assert "canary" not in repr(reply)
    parts = [{"text": CANARY}, {"functionCall": {"name": CANARY, "args": {"q": CANARY}}}]
    assert "canary" not in repr(read("gemini", gemini(parts), make_request(tools=(SEARCH,))))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "content",
                    "type",
                    "text",
                    "stop_reason",
                    "candidates",
                    "parts",
                    "finishReason",
                    "functionCall",
                    "choices",
                    "message",
                    "finish_reason",
                    "error",
                    "usage",
                ]
            )
            | st.text(),
            inner,
        )
    ),
)


@pytest.mark.parametrize("text", ['{"a": ' * 200_000 + "1" + "}" * 200_000, "9" * 5000, '{"a": 1, "a": 2}'])
def test_json_that_no_reader_should_be_given_is_refused_and_breaks_nothing(text: str) -> None:
    with pytest.raises(AnswerError, match=r"parse|ambiguous"):
        refuse_duplicate_keys(text)


@pytest.mark.parametrize("provider", GOOD)
@given(value=JSON, part=JSON)
def test_any_json_is_a_reply_or_an_answer_error(provider: str, value: object, part: object) -> None:
    one = dialect(provider)
    asked = make_request(tools=(SEARCH,))
    for body in (value, GOOD[provider](value), GOOD[provider]([part])):
        one.usage(body)
        try:
            reply = one.read(body, asked, Redactor())
        except AnswerError:
            continue
        assert isinstance(reply.text, str)


@pytest.mark.parametrize("provider", GOOD)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_text_comes_through_as_it_was_said(provider: str, text: str) -> None:
    body = read_json_body(json.dumps(GOOD[provider](text)).encode())
    assert dialect(provider).read(body, make_request(), Redactor()).text == text


CONVERSATION = (
    Message("system", ("Judge.",)),
    Message("user", ("Go.",)),
    Message(
        "assistant",
        ("I look.",),
        (
            ToolCall(id="a", name="search", arguments={"q": "Hafen"}, state="STATE"),
            ToolCall(id="b", name="search", arguments={}),
        ),
    ),
    Message("tool", ("found: ", Quoted("note", "Ü")), (ToolCall(id="a", name="search", arguments={}),)),
    Message("tool", ("nothing",), (ToolCall(id="b", name="search", arguments={}),)),
)
FOUND = 'found: <<note 0>>\n"Ü"\n<</note 0>>'


def conversation(state: str) -> Any:
    from dataclasses import replace

    calls = CONVERSATION[2].calls
    said = replace(CONVERSATION[2], calls=(replace(calls[0], state=state), calls[1]))
    messages = (*CONVERSATION[:2], said, *CONVERSATION[3:])
    return replace(make_request(tools=(SEARCH,), mark="0"), messages=messages)


def test_tools_and_their_results_in_the_chat_dialect() -> None:
    sent = payload("deepseek", asked=conversation("hm"))
    assert sent["tools"][0]["function"] == {
        "name": "search",
        "description": "Look something up.",
        "parameters": SCHEMA,
    }
    assert sent["messages"][2:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q":"Hafen"}'}},
                {"id": "b", "type": "function", "function": {"name": "search", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": FOUND},
        {"role": "tool", "tool_call_id": "b", "content": "nothing"},
    ]
    assert "reasoning_content" not in payload("openai", asked=conversation("hm"))["messages"][2]


def test_tools_and_their_results_in_anthropics_dialect() -> None:
    sealed = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    sent = payload("anthropic", asked=conversation(json.dumps(sealed)))
    assert sent["tools"] == [{"name": "search", "description": "Look something up.", "input_schema": SCHEMA}]
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                *sealed,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "Hafen"}},
                {"type": "tool_use", "id": "b", "name": "search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": FOUND},
                {"type": "tool_result", "tool_use_id": "b", "content": "nothing"},
            ],
        },
    ]


def test_tools_and_their_results_in_geminis_dialect() -> None:
    sent = payload("gemini", asked=conversation("seal"))
    assert sent["tools"] == [
        {
            "functionDeclarations": [
                {"name": "search", "description": "Look something up.", "parametersJsonSchema": SCHEMA}
            ]
        }
    ]
    assert sent["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {
                    "functionCall": {"id": "a", "name": "search", "args": {"q": "Hafen"}},
                    "thoughtSignature": "seal",
                },
                {"functionCall": {"id": "b", "name": "search", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "search", "response": {"result": FOUND}}},
                {"functionResponse": {"id": "b", "name": "search", "response": {"result": "nothing"}}},
            ],
        },
    ]


def chat(calls: object, content: object = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": calls, "reasoning_content": "hm"}
    return {"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}]}


def function(arguments: object, id_: object = "a", name: object = "search") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("provider", "value", "state"),
    [
        ("openai", chat([function('{"q": "Hafen"}')]), ""),
        ("deepseek", chat([function('{"q": "Hafen"}')], "I look."), "hm"),
        (
            "anthropic",
            anthropic(
                [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "Hafen"}},
                ],
                stop_reason="tool_use",
            ),
            '[{"type":"thinking","thinking":"hm","signature":"s"}]',
        ),
        (
            "gemini",
            gemini(
                [
                    {
                        "functionCall": {"id": "a", "name": "search", "args": {"q": "Hafen"}},
                        "thoughtSignature": "s",
                    }
                ]
            ),
            "s",
        ),
    ],
)
def test_a_call_is_read_in_every_dialect_and_only_where_tools_were_offered(
    provider: str, value: object, state: str
) -> None:
    reply = read(provider, value, make_request(tools=(SEARCH,)))
    assert reply.calls == (ToolCall(id="a", name="search", arguments={"q": "Hafen"}, state=state),)
    assert reply.finish == "stop"
    with pytest.raises(AnswerError, match="none was offered"):
        read(provider, value)


def test_calls_without_ids_are_numbered_and_go_back_without_them() -> None:
    value = gemini([{"functionCall": {"name": "search"}}, {"functionCall": {"name": "search", "args": {}}}])
    reply = read("gemini", value, make_request(tools=(SEARCH,)))
    assert [(call.id, call.arguments) for call in reply.calls] == [("call-1", {}), ("call-2", {})]
    said = make_request(tools=(SEARCH,))
    object.__setattr__(said, "messages", (Message("assistant", (), reply.calls),))
    parts = payload("gemini", asked=said)["contents"][0]["parts"]
    assert parts == [{"functionCall": {"name": "search", "args": {}}}] * 2


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([function("{")], "parse"),
        ([function("NaN")], "parse"),
        ([function('{"a": 1, "a": 2}')], "ambiguous"),
        ([function('{"a": 1, "a": true}')], "ambiguous"),
        ([function("[]")], "schema"),
        ([function("[" * 100 + "]" * 100)], "schema"),
        ([function('{"a":' * 100 + "1" + "}" * 100)], "schema"),
        ([function({"q": "x"})], "parse"),
        ([function("{}", id_="")], "bad_envelope"),
        ([function("{}", id_=None)], "bad_envelope"),
        ([function("{}", name=7)], "bad_envelope"),
        ([function('{"a": 1}'), function('{"a": 2}')], "ambiguous"),
        ([function('{"a": "\\u0000"}')], "encoding"),
        (["x"], "bad_envelope"),
        ("x", "bad_envelope"),
    ],
)
def test_a_call_that_cannot_be_read_strictly_is_a_failure(calls: object, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read("openai", chat(calls), make_request(tools=(SEARCH,)))
    assert caught.value.reason == reason


def cut_chat() -> dict[str, Any]:
    value = chat([function('{"q": "Ha')])
    value["choices"][0] |= {
        "finish_reason": "length",
        "logprobs": {"content": [{"token": "x", "logprob": -1}]},
    }
    return value


@pytest.mark.parametrize(
    ("provider", "value"),
    [
        ("openai", cut_chat()),
        (
            "anthropic",
            anthropic([{"type": "tool_use", "id": "a", "name": "search"}], stop_reason="max_tokens"),
        ),
        ("gemini", gemini([{"functionCall": {"id": "a"}}], finish="MAX_TOKENS")),
    ],
)
def test_a_call_that_was_cut_is_asked_for_with_more_room_and_not_read(provider: str, value: object) -> None:
    reply = read(provider, value, make_request(tools=(SEARCH,)))
    assert (reply.finish, reply.calls, reply.logprobs) == ("length", (), ())


def test_one_call_that_stands_there_twice_is_one() -> None:
    twice = [function('{"a": 1}'), function('{"a": 1}'), function('{"a": 1}', id_="b"), function("", id_="c")]
    calls = read("openai", chat(twice), make_request(tools=(SEARCH,))).calls
    assert [(call.id, call.arguments) for call in calls] == [("a", {"a": 1}), ("b", {"a": 1}), ("c", {})]


def test_words_before_which_a_reply_ends() -> None:
    asked = make_request(sampling=Sampling(stop=("\n", "END")))
    assert payload("anthropic", "claude-haiku-4-5", asked)["stop_sequences"] == ["\n", "END"]
    assert payload("gemini", "gemini-2.5-flash", asked)["generationConfig"]["stopSequences"] == ["\n", "END"]
    assert payload("openai", "gpt-4o", asked)["stop"] == ["\n", "END"]
    assert "stop" not in payload("openai", "gpt-4o")
