"""A command as its user calls it, and what it says."""

import csv
import io
import json
from typing import Any

import pytest

from adjudge.cli.main import main


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
