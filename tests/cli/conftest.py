from pathlib import Path

import pytest

from tests.cli.calling import Ask


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command writes lies in a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(capsys)
