"""What judges shards in a process of its own, as a local run would: made of a recipe, fed with numbers."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from adjudge.core.run import RunInfo
from adjudge.data.jsonl import read_test_set
from adjudge.data.run_dir import INFO, TEST_SET, read_run_info
from adjudge.errors import (
    AdjudgeError,
    BudgetError,
    DataError,
    ModelError,
    ServerAwayError,
    ServerStopError,
    StoreError,
    UniformFailureError,
    UsageError,
)
from adjudge.llm.models import EMBEDDED, chosen_outside
from adjudge.runs.annotators import Annotator
from adjudge.runs.job import Job, Options, open_again, prepare
from adjudge.runs.local import execute
from adjudge.runs.record import RunDirectory, differences
from adjudge.runs.scale.leased import Call, LeasedCalls, Loans
from adjudge.runs.scale.shards import Part, job_of, split
from adjudge.runs.session import Outcome

__all__ = ["RAISED", "Recipe", "Stopped", "Worker", "recipe_of"]

_PATIENCE: Final = 30.0  # seconds in which whoever held a shard before lets it go
_LOOK: Final = 0.2
RAISED: Final = (
    *(UsageError, DataError, ModelError, BudgetError, StoreError),
    *(ServerStopError, ServerAwayError, UniformFailureError),
)
"""What stops a run, and is told apart by who started it."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a worker makes its job of. No key is in it: that must be where the worker is.

    Args:
        annotator: the judge.
        options: as `runs.job.prepare` takes them.
        info: of the whole run, as the driver opened it.
        out: directory of the whole run.
        folder: that relative paths are relative to.
        shards: into how many the run is split.
    """

    annotator: Annotator
    options: Mapping[str, Any]
    info: RunInfo
    out: Path
    folder: Path
    shards: int


@dataclass(frozen=True)
class Stopped:
    """Why a worker stopped; exceptions themselves would lose their arguments on the way.

    Args:
        kind: name of the exception.
        words: what it says.
    """

    kind: str
    words: str

    @classmethod
    def of(cls, error: BaseException) -> Stopped:
        """Say what it was."""
        return cls(type(error).__name__, str(error) or type(error).__name__)

    def error(self) -> AdjudgeError:
        """The exception again; one that no caller tells from others is a plain one."""
        kind = next((kind for kind in RAISED if kind.__name__ == self.kind), AdjudgeError)
        return kind(self.words)


def recipe_of(job: Job, info: RunInfo, shards: int) -> Recipe:
    """The recipe of a job that is split into so many shards."""
    models = job.options.get("model", ())
    names = [models] if isinstance(models, str) else list(models)
    if all("=" in name.partition("/")[0] for name in names):  # none is for every role: say who that is here
        names.append(chosen_outside() or EMBEDDED)
    left_out = {"engine", "shard", "workers", "progress", "dry"}
    options = {name: value for name, value in job.options.items() if name not in left_out}
    return Recipe(
        annotator=job.annotator,
        options={**options, "model": names},
        info=info,
        out=job.out.absolute(),
        folder=Path.cwd(),
        shards=shards,
    )


class Worker:
    """See the module.

    Args:
        name: as the broker knows it.
        recipe: of the job.
        call: calls the broker.
    """

    def __init__(self, name: str, recipe: Recipe, call: Call) -> None:
        self._name = name
        self._recipe = recipe
        self._call = call
        self._tasks: set[asyncio.Task[Outcome]] = set()
        self._keeping: asyncio.Task[None] | None = None

    async def begin(self) -> Stopped | None:
        """Make the job, and see that it is the driver's."""
        try:
            with suppress(OSError):  # then a path that is relative leads nowhere, and that is said
                os.chdir(self._recipe.folder)
            self._job = await asyncio.to_thread(self._prepare)
            self._parts = split(self._job.plan, self._recipe.shards)
        except AdjudgeError as error:
            stopped = Stopped.of(error)
            return replace(stopped, words=f"on {socket.gethostname()}: {stopped.words}")
        models = self._job.models
        assert models is not None  # noqa: S101 (a metric is refused by the driver)
        self._loans = Loans(self._name, self._call, self._job.budget)
        self._calls = LeasedCalls(self._name, self._call, models)
        self._calls.on_scarce = self._loans.note_scarce
        await self._calls.begin()
        self._keeping = asyncio.create_task(self._calls.keep())
        return None

    def _prepare(self) -> Job:
        recipe = self._recipe
        if not (recipe.out / INFO).is_file() or read_run_info(recipe.out).secret != recipe.info.secret:
            raise UsageError(
                f"{recipe.out} is not the run directory that the driver has; --out must be on a file system "
                "that all nodes see"
            )
        test_set = replace(read_test_set(recipe.out / TEST_SET), name=str(recipe.info.test_set["name"]))
        options = cast("Options", recipe.options)
        job = prepare(recipe.annotator, test_set, recipe.out, **options)
        info = job.info()
        found = differences(recipe.info, info)
        if recipe.info.signature.with_fields(failed="") != info.signature.with_fields(failed="") or found:
            what = "; ".join(found) or f"signature {info.signature}, the driver's {recipe.info.signature}"
            raise UsageError(f"this worker would judge otherwise than the driver: {what}")
        return job

    async def judge(self, number: int) -> Outcome | Stopped:
        """Judge one shard to its end; beside others, if need be."""
        task = asyncio.create_task(self._judge(self._parts[number - 1]))
        self._tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            return Stopped("AdjudgeError", "stopped")
        except Exception as error:  # noqa: BLE001 (whatever it is, the driver must hear of it)
            return Stopped.of(error)
        finally:
            self._tasks.discard(task)

    async def _judge(self, part: Part) -> Outcome:
        job = job_of(self._job, part)
        await _wait_until_free(job.out)
        models = open_again(job)
        job = replace(job, models=models, open_meter=self._loans.open_meter)
        return await execute(job)

    async def load(self) -> dict[str, int]:
        """How it stands with the servers, as `run.json` has it; empty where none was asked."""
        load = self._calls.load
        return load.counts if load.concurrency else {}

    async def stop(self) -> None:
        """Send nothing more; what is under way may come in."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._keeping is not None:
            self._keeping.cancel()


async def _wait_until_free(folder: Path) -> None:
    """Wait until a worker that is being ended has let go of a shard.

    Raises:
        StoreError: somebody else works on it.
    """
    until = asyncio.get_running_loop().time() + _PATIENCE
    while True:
        try:
            with closing(RunDirectory(folder)):
                return
        except StoreError:
            if asyncio.get_running_loop().time() > until:
                raise
        await asyncio.sleep(_LOOK)
