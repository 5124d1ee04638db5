"""An engine is found by its name, and imported when it is called for."""

import asyncio
import importlib
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.errors import (
    AdjudgeError,
    ServerStopError,
    UsageError,
)
from adjudge.llm.money import Meter
from adjudge.runs import run as run_module
from adjudge.runs import session
from adjudge.runs.job import Job, prepare
from adjudge.runs.resume import RunDirectory
from adjudge.runs.run import execute, run
from adjudge.runs.session import Outcome
from tests.open_files import files_open_in
from tests.runs.conftest import Rater, Scripted, small_set


@pytest.mark.parametrize("name", run_module.ENGINES)
def test_every_engine_is_where_the_table_says(name: str) -> None:
    module, _, function = run_module.ENGINES[name].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_an_unknown_engine_is_refused_before_anything_is_written(tmp_path: Path, model: Scripted) -> None:
    with pytest.raises(UsageError, match=r"--engine must be one of local.*got 'steam'"):
        run(Rater(), small_set(), out=tmp_path / "run", engine="steam")
    assert not (tmp_path / "run").exists()
    assert model.requests == []


def test_the_engine_that_is_named_carries_a_run_out(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried: list[Job] = []

    async def noting(job: Job) -> Outcome:
        carried.append(job)
        return await execute(job)

    monkeypatch.setattr(session, "noting", noting, raising=False)
    monkeypatch.setattr(run_module, "ENGINES", {"noting": "adjudge.runs.session:noting"})
    found = run(Rater(), small_set(), out=tmp_path / "run", engine="noting")
    assert [job.engine for job in carried] == ["noting"]
    assert found.info.counts["judged"] == 12
    assert "noting" not in (tmp_path / "run" / "run.json").read_text(), "no record depends on the engine"


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("trouble", ["other settings", "a lock"])
def test_a_replay_that_cannot_start_holds_no_file(tmp_path: Path, trouble: str) -> None:
    replay, out = f"replay:{tmp_path / 'recorded'}", tmp_path / "out" / "run"
    run(Rater(), small_set(), out=tmp_path / "recorded")
    run(Rater(), small_set(), out=out, model=replay)
    job = prepare(Rater(), small_set(), out, model=replay, seed=int(trouble == "other settings"))
    with closing(RunDirectory(out)) if trouble == "a lock" else nullcontext():
        with pytest.raises(AdjudgeError, match=r"another process|seed"):
            asyncio.run(execute(job))
        assert files_open_in(tmp_path / "recorded") == []


@pytest.mark.usefixtures("model")
def test_models_beside_one_that_cannot_be_opened_hold_no_file(tmp_path: Path) -> None:
    run(Rater(), small_set(), out=tmp_path / "recorded")
    names = [f"replay:{tmp_path / 'recorded'}", "core=nobody/knows"]
    with pytest.raises(UsageError, match="nobody/knows") as refused:
        prepare(Rater(), small_set(), tmp_path / "run", model=names)
    assert refused.tb is not None, "which keeps what was opened until then"
    assert files_open_in(tmp_path) == []


@pytest.mark.usefixtures("model")
def test_a_run_that_cannot_start_lets_its_files_go(tmp_path: Path) -> None:
    def lend_nothing(*_: object) -> Meter:
        raise ServerStopError("the budget is lent to others")

    job = replace(prepare(Rater(), small_set(), tmp_path / "run"), open_meter=lend_nothing)
    with pytest.raises(ServerStopError, match="lent"):
        asyncio.run(execute(job))
    assert files_open_in(tmp_path) == []
