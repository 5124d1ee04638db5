"""A command as its user calls it, and what it says."""

import csv
import io
import json
from typing import Any

import pytest
from typer.main import get_command

from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, app_for, main
from adjudge.errors import USAGE

ALL = [(name,) for name in COMMANDS] + [(g, name) for g, names in GROUP_COMMANDS.items() for name in names]
"""The words of each command."""


def parameters_of(words: tuple[str, ...]) -> Any:
    """What a command takes, as typer has it."""
    found: Any = get_command(app_for([*words]))
    for word in words:
        found = found.commands[word]
    return found.params


def call(*arguments: object) -> int:
    """Call a command; returns its exit code."""
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return int(end.value.code or 0)


class Asked:
    """What a command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.code = call(*arguments)
        self.out, self.err = capsys.readouterr()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))


class Ask:
    """Calls commands."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> Asked:
        self._capsys.readouterr()  # what was printed before
        return Asked(self._capsys, *words)

    def done(self, *words: object) -> Asked:
        """What it prints where all goes well."""
        asked = self(*words)
        assert asked.code == 0, asked.err
        return asked

    def refused(self, *words: object, code: int = USAGE) -> str:
        """What it says where it ends with this code."""
        asked = self(*words)
        assert asked.code == code, asked.err
        return asked.err
