"""Which replies may be read at all."""

import pytest

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError
from adjudge.llm.asking import check_reply, is_same_model


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", ""),
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4o", "GPT-4o"),
        ("anthropic/claude-x", "claude-x"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("mistral-large-latest", "mistral-large-2411"),
        ("meta-llama/Llama-3-8B", "/models/Llama-3-8B/"),
        ("llama3", "llama3:latest"),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
        ("gemini-2.5-flash-preview-05-20", "gemini-2.5-flash-preview-05-20"),
        ("qwen-plus", "qwen-plus-2025-07-28"),
    ],
)
def test_a_date_a_tag_or_a_path_makes_no_other_model(asked: str, served: str) -> None:
    assert is_same_model(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4", "gpt-4o"),
        ("gpt-4", "gpt-5"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("llama3:8b", "llama3:70b"),
        ("Llama-3-8B", "Llama-3-70B"),
        ("deepseek-v3", "deepseek-v3.1"),
        ("mock", "another-model"),
    ],
)
def test_another_size_version_or_date_is_another_model(asked: str, served: str) -> None:
    assert not is_same_model(asked, served)


def test_a_user_may_know_the_name_that_the_server_gives() -> None:
    reply = Reply(text="x", model="deployment-7")
    check_reply(reply, "gpt-4o", "deployment-7")
    check_reply(reply, "gpt-4o", "any")
    with pytest.raises(AnswerError, match="--served-as"):
        check_reply(reply, "gpt-4o", None)
    with pytest.raises(AnswerError, match="model_mismatch"):
        check_reply(reply, "gpt-4o", "deployment-8")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text=""), "empty"),
        (Reply(text=" \n\u3000"), "empty"),
        (Reply(text="", reasoning="hm"), "no_answer"),
        (Reply(text='{"errors": []}', finish="length"), "truncated"),
        (Reply(text='{"errors": []}', finish="content_filter"), "refused"),
        (Reply(text="No.", finish="refused"), "refused"),
    ],
)
def test_what_is_no_answer_is_never_read(reply: Reply, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        check_reply(reply, "m", None)
    assert caught.value.reason == reason
