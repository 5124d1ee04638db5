"""No judged text makes a control token of llama.cpp's tokenizer, whose model knows those of all templates.

`make real-server` installs the server and runs this.
"""

import json
import random
from contextlib import closing
from http.client import HTTPConnection

import pytest

pytest.importorskip("gguf", reason="llama.cpp's server is not installed: `make real-server` installs it")

from adjudge.core.ask import Message, Quoted
from adjudge.llm.model import render_message
from tests.llm.chat_tokens import ALL_TOKENS, CHAT_TOKENS, WORDS
from tests.real_server.serve import RealServer
from tests.real_server.tiny_model import BYTES

pytestmark = pytest.mark.slow

MARK = "0123456789abcdef"


def drawn(count: int) -> list[str]:
    """Texts of several scripts with tokens of all templates between and within their words."""
    draw = random.Random(7)
    texts = [
        draw.choices([*WORDS, *ALL_TOKENS, " ", "<", "[", "\\"], k=draw.randint(3, 12)) for _ in range(count)
    ]
    return ["".join([*text, token]) for text, token in zip(texts, ALL_TOKENS * count, strict=False)]


def post(real: RealServer, path: str, **body: object) -> dict[str, object]:
    with closing(HTTPConnection(real.address.removeprefix("http://"), timeout=60)) as connection:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        found: dict[str, object] = json.load(connection.getresponse())
    return found


def special(real: RealServer, content: str) -> int:
    """Tokens of a text that are no bytes."""
    tokens = post(real, "/tokenize", content=content, parse_special=True)["tokens"]
    assert isinstance(tokens, list)
    return sum(token >= BYTES for token in tokens)


def test_no_judged_text_makes_a_control_token(real: RealServer) -> None:
    texts = drawn(200)
    for template, tokens in CHAT_TOKENS.items():
        assert any(token in text for token in tokens for text in texts), template
    for text in texts:
        listed = json.dumps({"errors": [{"span": text}]}, ensure_ascii=False)
        for quoted in (Quoted("translation", text), Quoted("errors", listed, is_json=True)):
            written = quoted.render(MARK)
            assert special(real, written) == 0, text
            read = json.loads(written.split("\n")[1])
            assert read == (json.loads(listed) if quoted.is_json else text)
    assert all(special(real, json.dumps(text, ensure_ascii=False)) for text in texts), (
        "JSON alone leaves them"
    )


def test_each_token_is_one_token_where_a_text_is_sent_as_it_is(real: RealServer) -> None:
    assert {token: special(real, token) for token in ALL_TOKENS if "<<" not in token} == dict.fromkeys(
        (token for token in ALL_TOKENS if "<<" not in token), 1
    )


@pytest.mark.parametrize("token", ["<|end|>", "</s>", "[/INST]", "<｜User｜>"])
def test_a_prompt_with_chat_tokens_has_as_many_tokens_as_one_with_other_marks(
    real: RealServer, token: str
) -> None:
    def counted(text: str) -> int:
        content = render_message(Message("user", ("Judge:\n", Quoted("source", text))), MARK)
        reply = post(
            real, "/v1/chat/completions", messages=[{"role": "user", "content": content}], max_tokens=1
        )
        usage = reply["usage"]
        assert isinstance(usage, dict)
        return int(usage["prompt_tokens"])

    harmless = token.replace("<", "\x01").replace("[", "\x01")  # JSON writes it with six characters, too
    assert counted("Halt." + token * 3) == counted("Halt." + harmless * 3)
