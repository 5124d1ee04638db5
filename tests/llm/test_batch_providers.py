"""The wire to a provider of batches: where it goes, and for how long it waits for one who is away."""

import io
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adjudge.errors import ModelError, ServerAwayError
from adjudge.llm import batch_providers as wire_module
from adjudge.llm.batch_providers import BatchWire
from adjudge.llm.faults import Patience
from adjudge.llm.providers import PROVIDERS, Endpoint


def wire(url: str, **more: float) -> BatchWire:
    patience = Patience(first_pause=0.001, longest_pause=0.002, **more)  # type: ignore[arg-type]
    endpoint = Endpoint(provider=PROVIDERS["openai"], url=url, model="m", key="k", patience=patience)
    return BatchWire(endpoint, "openai/m")


async def test_a_server_that_was_never_there_is_not_waited_for_long() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        asked = wire(f"http://127.0.0.1:{nobody.getsockname()[1]}/v1", first_wait=0.05)
        began = time.monotonic()
        try:
            with pytest.raises(ServerAwayError, match=r"openai/m: no server at http://.*goes on later"):
                await asked.get("batches/b")
        finally:
            await asked.close()
    assert time.monotonic() - began < 60, "a server that was there is waited for ten times as long"


class Pieces:
    """What a connection brings, in pieces of 10 bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        assert size >= 10
        for start in range(0, len(self.content), 10):
            yield self.content[start : start + 10]


@pytest.mark.parametrize(
    ("content", "too_much"),
    [
        (b"a line\n" * 12, ""),
        (b"a line\n" * 15, "more than 100 bytes"),
        (b"a line\n" + b"x" * 40, "a line of more than 30 bytes"),
    ],
)
async def test_results_are_copied_up_to_so_much_and_no_line_without_end(
    content: bytes, too_much: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "_LONGEST_LINE", 30)
    out = io.BytesIO()
    asked = wire("https://api.openai.com/v1")
    assert await asked._copy(Pieces(content), out, 100) == too_much  # type: ignore[arg-type]
    assert too_much or out.getvalue() == content


@pytest.mark.parametrize(
    "url",
    [
        "https://api.other.com/v1/files/f/content",
        "http://api.openai.com/v1/files/f/content",
        "https://api.openai.com:8443/v1/files/f/content",
        "https://api.openai.com@other.com/v1",
        "//api.openai.com/v1",
    ],
)
async def test_the_key_goes_to_its_own_server_only(url: str, tmp_path: Path) -> None:
    asked = wire("https://api.openai.com/v1")
    with pytest.raises(ModelError, match=r"another server than https://api\.openai\.com"):
        await asked.download(url, tmp_path / "file", 10)
    assert asked._session is None, "nothing was sent"
