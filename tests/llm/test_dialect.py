"""Log-probabilities are those of the answer, all of it and nothing else, or the reply is a failure."""

from typing import Any

import pytest

from adjudge.core.ask import Reply, Sampling, TokenLogprob
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import read_logprobs
from adjudge.llm.openai import read_envelope
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Endpoint, Provider
from adjudge.llm.remote import RemoteModel
from tests.faults.server import Server, body, envelope, says, spelled
from tests.llm.conftest import make_request

pytestmark = pytest.mark.usefixtures("_quick")


def tokens(*pieces: str, logprob: float = -0.5, **more: Any) -> list[dict[str, Any]]:
    return [{"token": piece, "logprob": logprob, **more} for piece in pieces]


def read(value: object, text: str) -> tuple[TokenLogprob, ...]:
    return read_logprobs(value, text, Redactor(["canary-4f1d9b7c2e8a6053"]))


@pytest.mark.parametrize(
    ("text", "pieces", "kept"),
    [
        ("yes", ["ye", "s"], 2),
        ("yes", [" yes"], 1),
        ("yes", ["yes", "<|im_end|>"], 1),
        ("yes", ["yes", "</s>"], 1),
        ("yes", ["yes", "<｜end▁of▁sentence｜>", ""], 1),
        ("<b>", ["<b>"], 1),
        ("a <b>", ["a ", "<b>", "</s>"], 2),
        ("", [], 0),
        ("é", ["\ufffd", "\ufffd"], 2),
    ],
)
def test_tokens_that_spell_the_text_are_its_tokens(text: str, pieces: list[str], kept: int) -> None:
    assert len(read(tokens(*pieces), text)) == kept


def test_parts_of_a_character_are_spelled_in_bytes() -> None:
    value = [
        {"token": "\\xf0\\x9f", "logprob": -0.1, "bytes": [0xF0, 0x9F]},
        {"token": "\\x90\\x8e", "logprob": -0.2, "bytes": [0x90, 0x8E]},
    ]
    assert [t.logprob for t in read(value, "🐎")] == [-0.1, -0.2]
    assert len(read([{"token": "a", "logprob": -1, "bytes": None}], "a")) == 1


@pytest.mark.parametrize(
    "pieces", [["ye"], ["yes", "!"], ["no"], ["Let me think", "yes"], ["<think>", "yes"], [], ["</s>"]]
)
def test_tokens_of_other_words_are_refused(pieces: list[str]) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read(tokens(*pieces), "yes")


@pytest.mark.parametrize("number", [-9999.0, -1e308, 0.1, 1, float("-inf"), float("nan"), True, None, "-1"])
def test_what_is_no_log_probability_is_refused_and_nothing_is_made_of_the_rest(number: Any) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read([*tokens("ye"), *tokens("s", logprob=number)], "yes")


def test_tokens_that_spell_the_key_are_dropped() -> None:
    assert read(tokens("canary-4f1d9b7c", "2e8a6053"), "[key]") == ()


def test_a_thinking_models_tokens_must_be_those_of_the_answer() -> None:
    value = envelope("yes", reasoning_content="hm")
    value["choices"][0]["logprobs"] = {"content": tokens("hm", "yes")}
    with pytest.raises(AnswerError, match="logprob"):
        read_envelope(value, Redactor())


# Over the wire...


async def ask(server: Server, provider: Provider = COMPATIBLE, model: str = "mock") -> Reply:
    remote = RemoteModel(Endpoint(provider=provider, url=server.url, model=model))
    try:
        return await remote.reply(make_request(sampling=Sampling(logprobs=True)))
    finally:
        await remote.close()


async def test_log_probabilities_that_were_asked_for_come(server: Server) -> None:
    reply = await ask(server)
    assert "".join(t.token for t in reply.logprobs) == reply.text
    assert {t.logprob for t in reply.logprobs} == {-0.25}


async def test_log_probabilities_of_other_words_are_a_failure_after_two_tries(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.faults.server import FAULTS

    monkeypatch.setitem(FAULTS, "half", body(_with(spelled("yes"), "yes and no")))
    server.fails("half")
    with pytest.raises(AnswerError, match="logprob"):
        await ask(server)
    assert len(server.log) == 2
    monkeypatch.setitem(FAULTS, "no logprobs", says("yes"))
    server.fails("no logprobs")
    assert (await ask(server)).logprobs == ()  # kept as an answer, so that it is not paid again
    server.fails("refusal")
    assert (await ask(server)).finish == "refused"


def _with(logprobs: object, content: str) -> dict[str, Any]:
    value = envelope(content)
    value["choices"][0]["logprobs"] = logprobs
    return value


async def test_of_a_model_that_has_none_they_are_neither_asked_nor_missed(server: Server) -> None:
    for provider, model in (("openai", "o3"), ("glm", "m")):
        assert (await ask(server, PROVIDERS[provider], model)).logprobs == ()
        assert "logprobs" not in server.log[-1]
