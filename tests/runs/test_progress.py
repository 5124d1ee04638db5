"""How far a run is: a line a minute, a bar on a terminal, or nothing."""

import os
import pty
import re
import select
import sys

import pytest

from adjudge.core.ask import Usage
from adjudge.llm.asking import Tally
from adjudge.runs import session as progress_module
from adjudge.runs.session import Progress


def tally() -> Tally:
    return Tally(asked=30, from_store=10, usage=Usage(prompt=1200, completion=34))


def test_elsewhere_a_line_is_said_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(100, shown=True) as shown:
        shown.show(done=10, failed=1, tally=tally())
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress_module, "_LINE_SECONDS", 0.0)
        shown.show(done=10, failed=1, tally=tally())
    said = capsys.readouterr().err
    assert re.fullmatch(r"10/100 1 failed, [\d.]+ calls/s, 1,234 tokens, \d+ min left\n", said)


def test_a_metric_has_neither_calls_nor_tokens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "_LINE_SECONDS", 0.0)
    with Progress(100, shown=True) as shown:
        shown.show(done=10, failed=1, tally=Tally())
    assert re.fullmatch(r"10/100 1 failed, \d+ min left\n", capsys.readouterr().err)


def test_nothing_is_shown_where_nobody_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "_LINE_SECONDS", 0.0)
    with Progress(100, shown=False) as shown:
        shown.show(done=0, failed=0, tally=tally())
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress(100, shown=True) as shown:
            shown.show(done=10, failed=1, tally=tally())
        monkeypatch.undo()
        said = ""
        while "1 failed" not in said and select.select([master], [], [], 5.0)[0]:  # it comes in pieces
            said += os.read(master, 65536).decode(errors="replace")
    os.close(master)
    assert "10/100" in said
    assert "1 failed" in said
