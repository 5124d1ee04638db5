"""`run`: a judge or a metric over a test set, into a run directory.

`carry_out` hands a job to the engine that it names: this process, batches of a provider, or Ray. The records
of all engines are equal.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from adjudge.analysis.blindness import sight_notes
from adjudge.core.record import Failure
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.core.verb import takes
from adjudge.core.wording import has_too_many_failures, of_all, unfit_first
from adjudge.errors import FailedWarning, FailureReason, UnfitWarning, UsageError, warn
from adjudge.runs.job import Job, RunSettings, prepare, remedy_for
from adjudge.runs.resume import differences
from adjudge.runs.session import Outcome, run_to_end
from adjudge.runs.units import Annotator
from adjudge.store.run_directory import INFO, is_finished, read_run, read_run_info, refuse_changed

Engine = Callable[[Job], Awaitable[Outcome]]

ENGINES: Final[Mapping[str, str]] = {
    "local": "adjudge.runs.run:execute",
    "ray": "adjudge.runs.ray:execute",
    "batch": "adjudge.runs.run:execute_in_batches",
}
"""Name to "module:function" of an `Engine`; it is imported when it is called for."""


async def carry_out(job: Job) -> Outcome:
    """Run a job to its end, with the engine that it names."""
    module, _, function = ENGINES[job.options.engine].partition(":")
    if (done := _only_read(job)) is not None:
        return done
    engine: Engine = getattr(importlib.import_module(module), function)
    return await engine(job)


def _only_read(job: Job) -> Outcome | None:
    """How a run stands that is finished and lies where nothing can be written; None for any other."""
    if not (job.out / INFO).is_file() or os.access(job.out, os.W_OK):
        return None
    info = read_run_info(job.out)
    if not is_finished(job.out, info):
        return None  # who writes it says what is wrong
    if found := differences(info, job.info()):
        raise UsageError(
            f"{job.out} holds another run: {'; '.join(found)}. Choose another --out, or the same settings"
        )
    refuse_changed(job.out, info)
    asked = {"--retry-failed": job.options.retry_failed, "--reparse": job.options.reparse}
    if wanted := [name for name, is_given in asked.items() if is_given]:
        raise UsageError(f"{wanted[0]}: {job.out} cannot be written; copy it to where you may write")
    return Outcome(info=info, notes=(f"{job.out} cannot be written: its records stay as they are",))


@takes(RunSettings)
def run(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set; where it was stopped, it goes on.

    Args:
        judge: judge or metric, also a function under `@adjudge.metric`, or the name of one.
        test_set: as `adjudge.load` reads it, or what it reads it from; None with `source` and `translation`.
        settings: the options of `adjudge run`, by the same names. Without `out` the run is made in memory and
            nothing of it is left on disk; a model that a server answers for needs `out`, or `store`.

    Returns:
        The finished run. Its records hold a `Failure` for each judgement that was not obtained.

    Raises:
        TypeError: a keyword that there is not; names the nearest.
        UsageError: the call itself is wrong, or `out` holds a run with other settings.
        ServerStopError: quota or key; the same call goes on later.
        AdjudgeError: anything else that stops it.

    Warns:
        FailedWarning: a larger share of judgements failed than `max_failed`; the run directory is whole.
        UnfitWarning: the judge does not see what it judges; says why.
    """
    return _warned(*run_to_end(_finished(judge, test_set, settings)))


@takes(RunSettings)
async def arun(judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings) -> Run:
    """Judge a test set, in an event loop of yours; see `run`."""
    return _warned(*await _finished(judge, test_set, settings))


async def _finished(
    judge: Annotator | str, test_set: TestSet | Path | str | None, settings: RunSettings
) -> tuple[Job, Run]:
    if settings.dry_run:
        raise UsageError("a run asks its model: call adjudge.forecast for what it would ask")
    with ExitStack() as rest:
        is_kept = settings.out is not None
        if not is_kept:
            folder = rest.enter_context(tempfile.TemporaryDirectory(prefix="adjudge-"))
            settings = replace(settings, out=Path(folder, "run"))
        job = prepare.by(judge, test_set, settings)
        if not is_kept:
            _refuse_to_forget(job)
        await carry_out(job)
        return job, read_run(job.out, like=job.plan.test_set)


_OF_FOLDER: Final = ("retry_failed", "reparse", "ask_again")


def _refuse_to_forget(job: Job) -> None:
    if given := [name for name in _OF_FOLDER if getattr(job.options, name)]:
        raise UsageError(f"{given[0]} needs a run directory: add out=...")
    if job.models is not None and job.models.is_paid and job.options.store is None:
        raise UsageError(
            f"answers of {job.models.name} cost money or time, and would be lost with the run: give out=..., "
            "a directory for the run, or store=..., a file for the answers alone"
        )


_REASONS: Final = 3  # that a warning names
_EXAMPLE: Final = 200  # characters of the first failure


def _warned(job: Job, done: Run) -> Run:
    info, allowed = done.info, job.options.max_failed
    if has_too_many_failures(info.failed, info.counts["judged"], allowed):
        failures = Counter(info.failures)
        del failures["no_translation"]
        ordered = failures.most_common()
        reasons = [f"{reason} {amount:,}" for reason, amount in ordered[:_REASONS]]
        reasons += ["..."] if len(ordered) > _REASONS else []
        failed = of_all(info.failed, info.failed + info.counts["judged"], "judgement")
        reason = cast("FailureReason", ordered[0][0])
        example = next((r.detail for r in done.records if isinstance(r, Failure) and r.reason == reason), "")
        warn(
            f"{failed} failed, more than max_failed={allowed} allows: {', '.join(reasons)}; "
            f"first {reason}: {' '.join(example.split())[:_EXAMPLE]}. "
            f"This may help: {remedy_for(job.annotator, reason)}. "
            + (
                f"{job.out} keeps everything; retry_failed=True asks again what failed"
                if job.out.exists()
                else "The records of the run say which they are"
            ),
            FailedWarning,
        )
    for note in unfit_first(sight_notes(done))[0]:
        warn(note, UnfitWarning)
    return done
