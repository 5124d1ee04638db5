"""A command as its user calls it, and what it says."""

import csv
import io
import json
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.errors import USAGE


def call(*arguments: object) -> int:
    """Call a command; returns its exit code."""
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return int(end.value.code or 0)


class Asked:
    """What a command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        capsys.readouterr()
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
