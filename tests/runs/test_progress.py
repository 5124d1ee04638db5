"""How far a run is, read while it is written."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.core.ask import Reply
from adjudge.errors import DataError, FailedWarning
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs import session
from adjudge.runs.progress import read_progress
from tests.runs.conftest import Rater, Scripted, small_set


class Watched(Scripted):
    """Before its last answer it waits until the run has told of all the others."""

    def __init__(self, folder: Path, last: int) -> None:
        super().__init__()
        self.folder = folder
        self.last = last
        self.seen: list[Mapping[str, Any] | None] = []

    async def reply(self, request: Request) -> Reply:
        if request.about.subject.segment.segment == "0" and not self.seen:
            self.seen.append(read_progress(self.folder))
        if request.about.subject.segment.segment == str(self.last):
            while (found := read_progress(self.folder)) is None or found["judged"] != 2 * self.last - 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            self.seen.append(found)
        return await super().reply(request)


def test_a_run_that_is_written_tells_how_far_it_is_and_does_not_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    model = Watched(out, 5)
    model.texts["Satz 3 von B in en-de"] = "no number"
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: model)
    monkeypatch.setattr(session, "_INFO_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # then a run looks four times a second
    with pytest.warns(FailedWarning):
        adjudge.run(Rater(), small_set(6), out=out, concurrency=1)
    first, last = model.seen[0], model.seen[-1]
    assert first is not None
    assert (first["judged"], first["failed"], first["newest"], first["cost"]) == (0, 0, [], "")
    assert last is not None
    assert (last["judged"], last["failed"], last["total"]) == (9, 1, 12)
    assert last["failures"] == {"range": 1}
    assert last["asked"] >= 9
    assert last["seconds"] < 60
    newest = last["newest"]
    assert [(one["segment"], one["systems"]) for one in newest[:3]] == [("4", "B"), ("4", "A"), ("3", "B")]
    assert newest[0]["said"] == "rated 21"
    assert newest[2]["said"].startswith("failed: range wanted a number")
    assert read_progress(out) is None
    assert len(adjudge.read_records(out)) == 12


def test_a_folder_without_a_run_has_no_progress(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"it has no run\.json"):
        read_progress(tmp_path)
