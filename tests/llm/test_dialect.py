"""Log-probabilities are those of the answer, all of it and nothing else, or the reply is a failure."""

from typing import Any

import pytest
from aiohttp import web

from adjudge.core.ask import Reply, Sampling, TokenLogprob
from adjudge.errors import AnswerError
from adjudge.llm.credentials import Redactor
from adjudge.llm.dialect import read_logprobs
from adjudge.llm.openai import read_envelope
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Provider
from tests.faults.server import Server, body, envelope, says, spelled, status
from tests.llm.conftest import make_request, remote_at

pytestmark = pytest.mark.usefixtures("_quick")


def tokens(*pieces: str, logprob: float = -0.5, **more: Any) -> list[dict[str, Any]]:
    return [{"token": piece, "logprob": logprob, **more} for piece in pieces]


def _with(logprobs: object, content: str, **message: Any) -> dict[str, Any]:
    value = envelope(content, **message)
    value["choices"][0]["logprobs"] = logprobs
    return value


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
        ("yes", ["yes", *["<|im_end|>"] * 8], 1),
        ("é", ["\ufffd", "\ufffd"], 2),
        ("ein é hier", ["ein ", "\ufffd", "\ufffd", " hier"], 4),
        ('{"a":"é"}', ["``", "`json", "\n", '{"a":', '"é"', "}", " ", "```"], 3),
        ('{"a":1}', ["```json", '{"a":', "1}", "```", ""], 2),
        ('{"a": 1}', ["```", "json", "\n{", '"a": 1}\n', "```", "<|end|>"], 2),
        ("```\nyes\n```", ["```", "\n", "yes", "\n```"], 4),
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
    ("text", "pieces"),
    [
        ("yes", ["ye"]),
        ("yes", ["yes", "!"]),
        ("yes", ["no"]),
        ("yes", ["Let me think", "yes"]),
        ("yes", ["<think>", "yes"]),
        ("yes", []),
        ("yes", ["</s>"]),
        ("yes", ["yes", *["<|im_end|>"] * 9]),
        ("yes", ["```", "\nno\n", "```"]),
        ("yes", ["no", "\ufffd"]),
        ("yes", ["\ufffd"]),
        ("né", ["no ", "\ufffd"]),
    ],
)
def test_tokens_of_other_words_are_refused(text: str, pieces: list[str]) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read(tokens(*pieces), text)


@pytest.mark.parametrize("value", ["x", [1], [{"token": "a"}], [{"token": 1, "logprob": -1}]])
def test_what_are_no_tokens_is_refused(value: object) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read(value, "a")


def test_no_log_probabilities_are_no_failure() -> None:
    for nothing in (None, {"content": None}):
        assert read_envelope(_with(nothing, "yes"), Redactor()).logprobs == ()


@pytest.mark.parametrize("number", [-9999.0, -1e308, 0.1, 1, float("-inf"), float("nan"), True, None, "-1"])
def test_what_is_no_log_probability_is_refused_and_nothing_is_made_of_the_rest(number: Any) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read([*tokens("ye"), *tokens("s", logprob=number)], "yes")


def test_alternatives_are_read_and_those_that_could_not_come_left_out() -> None:
    top = [{"token": "yes", "logprob": -0.5}, {"token": "no", "logprob": 1e-9}]
    impossible = [{"token": "maybe", "logprob": number} for number in (-9999.0, None, float("-inf"))]
    (token,) = read(tokens("yes", top_logprobs=[*top, *impossible]), "yes")
    assert token == TokenLogprob("yes", -0.5, (("yes", -0.5), ("no", 0.0)))
    assert read(tokens("yes", top_logprobs=None), "yes") == (TokenLogprob("yes", -0.5),)


@pytest.mark.parametrize(
    "top",
    [
        *("x", {"a": -1}, [1], [None], [{"logprob": -1}], [{"token": 1, "logprob": -1}]),
        *([{"token": "a", "logprob": number}] for number in (0.1, float("nan"), float("inf"), True, "-1")),
    ],
)
def test_what_are_no_alternatives_is_refused(top: Any) -> None:
    with pytest.raises(AnswerError, match="logprob"):
        read(tokens("yes", top_logprobs=top), "yes")


def test_alternatives_that_hold_the_key_are_dropped() -> None:
    top = [{"token": "canary-4f1d9b7c2e8a6053", "logprob": -1.0}]
    assert read(tokens("yes", top_logprobs=top), "yes") == (TokenLogprob("yes", -0.5),)


def test_tokens_that_spell_the_key_are_dropped() -> None:
    assert read(tokens("canary-4f1d9b7c", "2e8a6053"), "[key]") == ()


def test_a_thinking_models_tokens_must_be_those_of_the_answer() -> None:
    value = _with({"content": tokens("hm", "yes")}, "yes", reasoning_content="hm")
    with pytest.raises(AnswerError, match="logprob"):
        read_envelope(value, Redactor())


async def ask(server: Server, provider: Provider = COMPATIBLE, model: str = "mock") -> Reply:
    async with remote_at(server.url, provider=provider, model=model) as remote:
        return await remote.reply(make_request(sampling=Sampling(logprobs=True)))


async def test_log_probabilities_that_were_asked_for_come(server: Server) -> None:
    reply = await ask(server)
    assert "".join(t.token for t in reply.logprobs) == reply.text
    assert {t.logprob for t in reply.logprobs} == {-0.25}


async def test_log_probabilities_of_other_words_are_a_failure_after_two_tries(server: Server) -> None:
    server.fails(body(_with(spelled("yes"), "yes and no")))
    with pytest.raises(AnswerError, match="logprob"):
        await ask(server)
    assert len(server.log) == 2
    server.fails(says("yes"))
    assert (await ask(server)).logprobs == ()  # kept as an answer, so that it is not paid again
    server.fails("refusal")
    assert (await ask(server)).finish == "refused"


@pytest.mark.parametrize(
    ("takes", "sent"),
    [(20, [20]), (5, [20, 5]), (10, [20, 5]), (0, [20, 5, None])],
)
async def test_a_server_that_refuses_alternatives_is_asked_for_fewer(
    server: Server, takes: int, sent: list[int | None]
) -> None:
    too_many = status(400, "Cannot request more than that many top_logprobs")

    async def choose(request: web.Request, content: str) -> web.StreamResponse:
        return await too_many(request, content)

    server.fails(None)
    server.play = lambda number: choose if server.log[number].get("top_logprobs", 0) > takes else None
    async with remote_at(server.url) as remote:
        for _ in range(2):
            reply = await remote.reply(make_request(sampling=Sampling(logprobs=True)))
            assert reply.logprobs
    assert [payload.get("top_logprobs") for payload in server.log] == [*sent, sent[-1]]
    assert all(payload["logprobs"] for payload in server.log)


async def test_alternatives_of_a_long_answer_are_no_body_without_end(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(content: str) -> dict[str, Any]:
        top = [{"token": f"word{n}", "logprob": -5.25, "bytes": [119] * 5} for n in range(20)]
        return {"content": [{**one, "top_logprobs": top} for one in spelled(content)["content"]]}

    monkeypatch.setattr("tests.faults.server.spelled", told)
    server.answer = lambda payload: "word " * 1000 + "end"
    reply = await ask(server)
    assert {len(token.alternatives) for token in reply.logprobs} == {20}


async def test_of_sglang_no_alternatives_are_asked(server: Server) -> None:
    assert (await ask(server, PROVIDERS["sglang"])).logprobs
    assert "top_logprobs" not in server.log[-1]
    assert server.log[-1]["logprobs"] is True


async def test_of_a_model_that_has_none_they_are_neither_asked_nor_missed(server: Server) -> None:
    for provider, model in (("openai", "o3"), ("glm", "m")):
        assert (await ask(server, PROVIDERS[provider], model)).logprobs == ()
        assert "logprobs" not in server.log[-1]
