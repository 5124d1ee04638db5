"""Models that think before they answer, on servers that count it against the length of a reply."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adjudge.errors import DONE
from adjudge.store.run_directory import read_run_info
from tests.faults.conftest import Command, call, write_set
from tests.faults.server import Server, envelope, judge, status

pytestmark = pytest.mark.usefixtures("_quick")

THOUGHT = 6000  # tokens before an answer
TOO_LONG = (
    "'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum context length is "
    "{context} tokens and your request has 900 input tokens"
)


def thinks(server: Server, tokens: int = THOUGHT, *, context: int = 10**6, tag: str = "") -> None:
    """Answer after so many tokens of thinking, in a field of its own or behind a tag in the text."""
    server.fails(None)

    async def play(request: web.Request, content: str) -> web.StreamResponse:
        most = (await request.json())["max_tokens"]
        if most > context - 900:
            return await status(400, TOO_LONG.format(asked=most, context=context))(request, content)
        is_cut = most < tokens + 100
        said = "" if is_cut else content
        if tag:
            closed = "" if is_cut else f"</{tag}>\n"
            return web.json_response(
                counted(envelope(f"<{tag}>Hm, hm.{closed}{said}", finish=finish(is_cut)), most, tokens)
            )
        message = envelope(said, finish=finish(is_cut), reasoning_content="Hm, hm.")
        return web.json_response(counted(message, most, tokens))

    server.play = lambda number: play


def finish(is_cut: bool) -> str:
    return "length" if is_cut else "stop"


def counted(message: dict[str, Any], most: int, tokens: int) -> dict[str, Any]:
    used = min(most, tokens + 50)
    message["usage"] = {"prompt_tokens": 900, "completion_tokens": used, "total_tokens": 900 + used}
    return message


def qwq(server: Server, tmp_path: Path) -> int:
    test_set = write_set(tmp_path / "set.jsonl", 2)
    wire = ["--base-url", server.url, "--model", "Qwen/QwQ-32B", "--served-as", "any", "--concurrency", "1"]
    return call("run", "gemba-mqm", str(test_set), "--out", str(tmp_path / "run"), *wire)


def counts(tmp_path: Path) -> tuple[int, int]:
    found = read_run_info(tmp_path / "run").counts
    return found["judged"], found["failed"]


@pytest.mark.parametrize("tag", ["", "think"])
def test_a_model_that_thinks_for_long_is_judged_with_by_default(
    server: Server, command: Command, tmp_path: Path, tag: str
) -> None:
    thinks(server, tag=tag)
    assert command("--concurrency", "1") == DONE
    assert counts(tmp_path) == (4, 0)
    asked = [payload["max_tokens"] for payload in server.log]
    assert asked == [2048, *[2048 + 8192] * 4], "cut once; then it is known what the model needs"
    server.log.clear()
    (tmp_path / "run" / "records.jsonl").unlink()
    assert command("--concurrency", "1") == DONE
    assert (counts(tmp_path), server.log) == ((4, 0), [])


def test_a_model_whose_name_says_that_it_thinks_has_the_room_at_once(server: Server, tmp_path: Path) -> None:
    thinks(server)
    assert qwq(server, tmp_path) == DONE
    assert counts(tmp_path) == (4, 0)
    assert {payload["max_tokens"] for payload in server.log} == {2048 + 8192}


def test_a_server_that_allows_fewer_tokens_is_asked_for_fewer(server: Server, tmp_path: Path) -> None:
    thinks(server, 3000, context=8192)
    assert qwq(server, tmp_path) == DONE
    assert counts(tmp_path) == (4, 0)
    asked = [payload["max_tokens"] for payload in server.log]
    assert asked[:2] == [10_240, 5120]
    assert asked.count(10_240) <= 4, "a longer question is not put so again"


def test_where_thinking_takes_all_that_a_server_allows_it_is_said_and_not_tried_for_ever(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thinks(server, context=4096)
    assert command() != DONE
    assert "--max-tokens" in capsys.readouterr().err
    assert len(server.log) <= 4 * 5
    assert max(payload["max_tokens"] for payload in server.log) > 2048


def test_the_user_may_say_how_long_a_reply_may_be(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thinks(server)
    assert command("--max-tokens", "7000") == DONE
    assert counts(tmp_path) == (4, 0)
    assert [payload["max_tokens"] for payload in server.log] == [7000] * 4
    assert "max_tokens:7000" in str(read_run_info(tmp_path / "run").signature)
    server.log.clear()
    assert command("--max-tokens", "mock=6500", "--max-tokens", "7000", out="other") == DONE
    assert [payload["max_tokens"] for payload in server.log] == [6500] * 4
    assert command("--max-tokens", "many", out="third") != DONE
    assert "--max-tokens must be a number of tokens" in capsys.readouterr().err


def answer(payload: dict[str, Any]) -> str:
    system = payload["messages"][0]["content"]
    if '"suspected_gaps"' in system:
        found = {"rationale": "So.", "error_spans": [], "suspected_gaps": []}
        return json.dumps(found | {"score": 3, "confidence": 0.95})
    if "<tool_call>" not in system:
        return judge(payload)
    called = [m for m in payload["messages"] if m["role"] == "assistant"]
    if not called:
        return "First.\n<tool_call>evaluate\n</tool_call>"
    return (
        "Enough.\n<tool_call>finish\n<arg_key>score</arg_key>\n<arg_value>3</arg_value>\n"
        "<arg_key>rationale</arg_key>\n<arg_value>Fine.</arg_value>\n</tool_call>"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "registry.ollama.ai/library/gemma does not support tools"),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
    ],
)
def test_a_server_without_tools_is_asked_in_words_and_the_run_says_so_once(
    server: Server,
    command: Command,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    code: int,
    message: str,
) -> None:
    server.answer = answer
    server.fails(None)
    server.play = lambda number: status(code, message) if server.log[number].get("tools") else None
    assert command("--concurrency", "1", judge="rate") == DONE
    assert counts(tmp_path) == (4, 0)
    offered = [payload for payload in server.log if "tools" in payload]
    assert len(offered) == 1
    assert offered[0]["tool_choice"] == "auto"
    said = capsys.readouterr()
    assert (said.out + said.err).count("takes no tools") == 1
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    assert before.count(b'"tools_in_xml"') == 4
    (tmp_path / "run" / "records.jsonl").unlink()
    server.log.clear()
    assert command("--concurrency", "1", judge="rate") == DONE
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before
    assert len(server.log) <= 1, "only whether it takes tools by now is asked again"
    replay = ["--model", f"replay:{tmp_path / 'run'}"]
    assert call("run", "rate", str(tmp_path / "set.jsonl"), "--out", str(tmp_path / "again"), *replay) == DONE
    assert counts(tmp_path) == (4, 0)


def test_a_server_that_has_taken_tools_is_not_given_up_for_one_fault_that_names_them(
    server: Server, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_ = {"id": "c", "type": "function"}

    async def tooled(request: web.Request, content: str) -> web.StreamResponse:
        called = [m for m in (await request.json())["messages"] if m["role"] == "assistant"]
        given = {"thought": "So.", **({"score": 3, "rationale": "Fine."} if called else {})}
        function = {"name": "finish" if called else "evaluate", "arguments": json.dumps(given)}
        calls = [{**call_, "function": function}]
        return web.json_response(envelope(None, finish="tool_calls", tool_calls=calls))

    server.answer = answer
    server.fails(None)
    fault = status(500, "tool call could not be parsed")
    server.play = lambda number: fault if number == 4 else tooled if server.log[number].get("tools") else None
    assert command("--concurrency", "1", judge="rate") == DONE
    assert counts(tmp_path) == (4, 0)
    said = capsys.readouterr()
    assert "takes no tools" not in said.out + said.err
