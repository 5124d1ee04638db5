"""`run`: a judge or a metric over a test set, into a run directory.

Resuming is doing it again: judges are deterministic given their answers, so a run that is started anew walks
through its store and asks only what is missing.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, Unpack

from adjudge.core.keywords import checks_keywords
from adjudge.core.run import Run
from adjudge.core.segment import TestSet
from adjudge.data.run_dir import read_run
from adjudge.errors import UsageError
from adjudge.runs.annotators import Annotator
from adjudge.runs.engines import carry_out
from adjudge.runs.job import prepare
from adjudge.runs.options import RunOptions, choose

__all__ = ["arun", "run", "run_to_end"]

T = TypeVar("T")


@checks_keywords(RunOptions)
def run(
    judge: Annotator | str,
    test_set: TestSet | Path | str | None = None,
    *,
    out: Path | str,
    **options: Unpack[RunOptions],
) -> Run:
    """Judge a test set; where it was stopped, it goes on.

    Args:
        judge: judge or metric, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from; None with `source` and `translation`.
        out: run directory.
        options: as `RunOptions` describes them; the command line has the same by the same names.

    Returns:
        The finished run. Its records hold a `Failure` for each judgement that was not obtained.

    Raises:
        TypeError: a keyword that there is not; names the nearest.
        UsageError: the call itself is wrong, or `out` holds a run with other settings.
        ServerStopError: quota or key; the same call goes on later.
        AdjudgeError: anything else that stops it.
    """
    return run_to_end(arun(judge, test_set, out=out, **options))


@checks_keywords(RunOptions)
async def arun(
    judge: Annotator | str,
    test_set: TestSet | Path | str | None = None,
    *,
    out: Path | str,
    **options: Unpack[RunOptions],
) -> Run:
    """Judge a test set, in an event loop of yours; see `run`."""
    if options.get("dry"):
        raise UsageError("a run asks its model: call adjudge.forecast for what it would ask")
    chosen, rest = choose(judge, test_set, options)
    job = prepare(judge, chosen, out, **rest)
    await carry_out(job)
    return read_run(job.out, like=job.plan.test_set)


def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, be it called from a notebook, which has a loop of its own.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM, after everything was put away.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(coroutine)
    done: list[Callable[[], T]] = []
    thread = threading.Thread(target=lambda: done.append(_outcome(coroutine)), name="run")
    thread.start()
    thread.join()
    return done[0]()


def _outcome(coroutine: Coroutine[Any, Any, T]) -> Callable[[], T]:
    try:
        value = asyncio.run(coroutine)
    except BaseException as error:  # noqa: BLE001 (raised again in the thread that waits)
        raised = error

        def fail() -> T:
            raise raised

        return fail
    return lambda: value


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    async def stoppable() -> T:
        task = asyncio.current_task()
        if task is not None and threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):  # Windows has no such signal
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await coroutine

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
