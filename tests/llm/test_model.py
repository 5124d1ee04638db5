"""Two calls are one exactly if nothing that reaches the model differs."""

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import About, Message, Quoted, Sampling, ToolCall
from adjudge.core.segment import Segment
from adjudge.llm.model import Identity, call_key, mark_of, question_digest, render_message
from adjudge.store.call_file import message_to_json
from tests.llm.chat_tokens import ALL_TOKENS, HONEST, WORDS
from tests.llm.conftest import make_request, make_subject

# Judged text is data: it stands between delimiters that it cannot know and cannot close.


MARK = "0123456789abcdef"


def segment(**changes: str) -> Segment:
    return Segment(**{"segment": "1", "lp": "en-de", "source": "Good morning"} | changes)  # type: ignore[arg-type]


def test_a_message_is_our_words_and_texts_as_json_strings_between_delimiters() -> None:
    message = Message("user", ("Judge:\n", Quoted("source", 'Say "no"\n$name'), "\nEnd."))
    assert render_message(message, MARK) == (
        f'Judge:\n<<source {MARK}>>\n"Say \\"no\\"\\n$name"\n<</source {MARK}>>\nEnd.'
    )


def test_another_secret_segment_language_or_source_has_another_mark() -> None:
    marks = {
        mark_of(segment(), b"secret"),
        mark_of(segment(), b"other"),
        mark_of(segment(segment="2"), b"secret"),
        mark_of(segment(lp="en-fr"), b"secret"),
        mark_of(segment(source="Good evening"), b"secret"),
    }
    assert len(marks) == 5
    assert mark_of(segment(), b"secret") in marks, "all agents of a segment share its mark"
    assert all(re.fullmatch(r"[0-9a-f]{16}", mark) for mark in marks)


@given(st.text())
def test_no_text_can_end_its_line_or_its_delimiter(text: str) -> None:
    written = Quoted("translation", text).render(MARK)
    opening, inner, closing = written.split("\n")
    assert (opening, closing) == (f"<<translation {MARK}>>", f"<</translation {MARK}>>")
    assert json.loads(inner) == text


TEXT = st.lists(st.sampled_from((*ALL_TOKENS, *WORDS, *HONEST)) | st.text(max_size=9), max_size=9).map(
    "".join
)


@given(TEXT)
def test_a_text_comes_back_whatever_chat_tokens_it_holds_and_none_is_left(text: str) -> None:
    listed = json.dumps({"errors": [{"span": text}]}, ensure_ascii=False)
    for quoted, read in ((Quoted("source", text), text), (Quoted("errors", listed, is_json=True), None)):
        _, inner, _ = quoted.render(MARK).split("\n")
        assert not [token for token in ALL_TOKENS if token in inner]
        assert json.loads(inner) == (json.loads(listed) if read is None else read)


@pytest.mark.parametrize("token", ALL_TOKENS)
def test_a_chat_token_is_written_with_one_escape(token: str) -> None:
    written = Quoted("source", f"Halt. {token} 港").render(MARK).split("\n")[1]
    assert token not in written
    assert json.loads(written) == f"Halt. {token} 港"
    assert written.count("\\u") <= 2, "as little as possible is spelled in another way"


@pytest.mark.parametrize("text", HONEST)
def test_tags_and_brackets_of_honest_texts_are_written_as_they_are(text: str) -> None:
    assert Quoted("source", text).render(MARK).split("\n")[1] == json.dumps(text, ensure_ascii=False)


MODEL = Identity(endpoint="openai", model="gpt-x")


def test_the_key_of_a_call_never_changes() -> None:
    """A change here makes every stored call be paid again: it must be meant."""
    assert call_key(MODEL, make_request()).hex() == GOLDEN


OURS = (Message("system", ("Judge.",)), Message("user", ("Ä",)), Message("assistant", ("{}",)))
CALLED = Message("assistant", ("x",), (ToolCall(id="1", name="f", arguments={"b": 1, "a": 2}),))
JUDGED = Message("user", ("Text: ", Quoted("source", "\u2028 ß")))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        OURS[:1],
        OURS,
        (*OURS, JUDGED),
        (JUDGED, *OURS),
        (*OURS, CALLED, *OURS),
        (CALLED,),
        (OURS[0],) * 70,
    ],
)
def test_the_digest_is_that_of_the_whole_list_whatever_was_asked_before(
    messages: tuple[Message, ...],
) -> None:
    for number in range(2):
        identity = Identity(endpoint="openai", model=f"gpt-{number}", constrained=bool(number))
        request = replace(make_request(schema={"b": 1, "a": 2}), messages=messages)
        schema = {"a": 2, "b": 1} if number else None
        whole = ["openai", f"gpt-{number}", [message_to_json(m) for m in messages], schema, None]
        plain = orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)
        for _ in range(2):
            assert question_digest(identity, request) == hashlib.sha256(plain).digest()


GOLDEN = "5931ea5babc916f915367223db4aa5c16585b247b06add8717daa471a8848ce9"


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", ("Judge.",)),)},
        {"messages": (Message("system", ("Judge.", Quoted("translation", "x"))),)},
        {"messages": (Message("system", ("Judge.", Quoted("source", "x"))),)},
        {"sampling": Sampling(temperature=1)},
        {"sampling": Sampling(max_tokens=1)},
        {"sampling": Sampling(logprobs=True)},
        {"sample": 1},
        {"again": 1},
    ],
)
def test_what_reaches_the_model_makes_another_call(change: dict[str, Any]) -> None:
    plain = make_request()
    assert call_key(MODEL, replace(plain, **change)) != call_key(MODEL, plain)


@pytest.mark.parametrize(
    "change",
    [
        {"mark": "f" * 16},
        {"key": b""},
        {"seed": 7},
        {"schema": {"type": "object"}},
        {"about": About(judge="other", stage="x", subject=make_subject(), wants="rating", role="r")},
    ],
)
def test_what_does_not_reach_the_model_makes_none(change: dict[str, Any]) -> None:
    plain = make_request()
    assert call_key(MODEL, replace(plain, **change)) == call_key(MODEL, plain)


def test_models_endpoints_and_schemas_that_are_sent_make_another_call() -> None:
    plain = make_request(schema={"type": "object"})
    keys = {
        call_key(identity, plain)
        for identity in (
            MODEL,
            replace(MODEL, model="gpt-y"),
            replace(MODEL, endpoint="vllm"),
            replace(MODEL, constrained=True),
        )
    }
    assert len(keys) == 4


def test_a_seed_counts_where_it_is_sent_and_something_is_drawn() -> None:
    seeded = replace(MODEL, seeded=True)
    drawn = make_request(sampling=Sampling(temperature=1))
    assert call_key(seeded, drawn) != call_key(seeded, replace(drawn, seed=7))
    assert call_key(MODEL, drawn) == call_key(MODEL, replace(drawn, seed=7))


def test_the_embedded_model_answers_by_what_a_call_is_about() -> None:
    embedded = Identity(endpoint="builtin", model="rules", reads_about=True)
    plain = make_request()
    other = replace(plain, about=replace(plain.about, facts={"low": 0, "names": frozenset({"b", "a"})}))
    again = replace(plain, about=replace(plain.about, facts={"low": 0, "names": frozenset({"a", "b"})}))
    assert call_key(embedded, other) != call_key(embedded, plain)
    assert call_key(embedded, other) == call_key(embedded, again)


@pytest.mark.parametrize(
    ("endpoint", "name"), [("openai", "openai/m"), ("builtin", "builtin/m"), ("compatible", "m")]
)
def test_a_model_has_the_name_that_the_user_gave_it(endpoint: str, name: str) -> None:
    assert Identity(endpoint=endpoint, model="m").name == name
