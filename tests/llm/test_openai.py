"""Every type in a body is checked before a word of it is believed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Reply, Usage
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import read_json_body
from adjudge.llm.openai import read_envelope, read_usage
from adjudge.llm.providers import PROVIDERS
from tests.faults.server import envelope


def read(value: object, **options: Any) -> Reply:
    return read_envelope(value, Redactor(), **options)


UNKNOWN: list[object] = [
    *(None, "", "banana", 1, ["stop"], {}, True),
    *("stop: x", "tool_calls", "FUNCTION_CALL", "function_call_filter: MALFORMED"),
]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        *((word, "bad_envelope") for word in UNKNOWN),
        *((word, "server_error") for word in ("error", "network_error", "insufficient_system_resource")),
    ],
)
def test_an_end_that_we_do_not_know_or_that_is_a_fault_is_not_trusted(word: object, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        read(envelope("x", finish=word))


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thinking_that_comes_apart_is_kept_apart(key: str) -> None:
    reply = read(envelope("answer", **{key: "thought"}))
    assert (reply.text, reply.reasoning) == ("answer", "thought")
    odd: Any = {key: [{"x": 1}]}
    assert read(envelope("answer", **odd)).reasoning == "", "an odd shape spoils no answer"


def test_a_refusal_field_is_a_refusal_whatever_the_rest_says() -> None:
    reply = read(envelope('{"errors": []}', refusal="No."))
    assert (reply.finish, reply.text) == ("refused", "No.")
    with pytest.raises(AnswerError, match="bad_envelope"):
        read(envelope("x", refusal=1))


def test_parts_of_text_are_joined_and_a_part_of_another_type_is_refused_by_its_name() -> None:
    parts = [{"type": "thinking", "thinking": [{"text": "hm"}]}, *({"type": "text", "text": t} for t in "ab")]
    for name in ("mistral", "openai"):
        reply = read(envelope(parts), provider=PROVIDERS[name])
        assert (reply.text, reply.reasoning) == ("ab", "hm")
    with pytest.raises(AnswerError, match="one of type 'image_url'"):
        read(envelope([*parts, {"type": "image_url"}]))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(prompt=10, completion=2)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 8}, Usage(prompt=10)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(prompt=10, cached=8)),
        (
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}},
            Usage(completion=9, reasoning=7),
        ),
        (
            {
                "prompt_tokens": 20,
                "completion_tokens": 7,
                "total_tokens": 30,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(prompt=20, completion=10, reasoning=3),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": 0, "total_tokens": 81},
            Usage(prompt=20, completion=61),
        ),
        ({"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 5}, Usage(prompt=20, completion=7)),
        ({"completion_tokens": 7, "total_tokens": 90}, Usage(completion=7)),
        ({"prompt_tokens": -1, "completion_tokens": 2.5}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": "3"}, Usage()),
        ({"prompt_tokens": 2**60, "prompt_tokens_details": None}, Usage()),
    ],
)
def test_tokens_are_whole_numbers_or_unknown(usage: object, expected: Usage) -> None:
    assert read_usage(usage) == expected


def test_each_server_counts_what_it_had_kept_in_its_own_place() -> None:
    usage = {"prompt_tokens": 10, "prompt_cache_hit_tokens": 8}
    assert read_usage(usage, PROVIDERS["deepseek"].cached) == Usage(prompt=10, cached=8)


def test_numbers_that_json_does_not_have_are_refused() -> None:
    for number in (b"NaN", b"Infinity", b"-Infinity"):
        with pytest.raises(AnswerError, match="bad_envelope"):
            read_json_body(b'{"logprob": ' + number + b"}")
    with pytest.raises(AnswerError, match="bad_envelope"):
        read_json_body(b'{"logprob": 1e999}')


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_an_answer_error(body: bytes) -> None:
    reason = None
    try:
        read_json_body(body)
    except AnswerError as error:
        reason = error.reason
    assert reason in {None, "not_json", "encoding", "bad_envelope"}
