"""Who carries a job out: this process, or another engine. Each equals a local run, record for record."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from adjudge.errors import UsageError
from adjudge.runs.job import Job
from adjudge.runs.scale.found import refuse_strangers
from adjudge.runs.scale.shards import Part, keep_whole
from adjudge.runs.session import Outcome

__all__ = ["ENGINES", "Engine", "carry_out"]

Engine = Callable[[Job], Awaitable[Outcome]]

ENGINES: Final[Mapping[str, str]] = {
    "local": "adjudge.runs.local:execute",
    "ray": "adjudge.runs.scale.ray:execute",
    "batch": "adjudge.runs.batch:execute",
}
"""Name to "module:function" of an `Engine`; it is imported when it is called for."""


async def carry_out(job: Job) -> Outcome:
    """Run a job to its end, with the engine that it names.

    Raises:
        UsageError: there is no such engine.
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    if job.engine not in ENGINES:
        raise UsageError(f"--engine must be one of {', '.join(ENGINES)}; got {job.engine!r}")
    module, _, function = ENGINES[job.engine].partition(":")
    if isinstance(job.plan, Part):
        whole = job.out.parent.parent
        keep_whole(job.plan, whole)
        refuse_strangers(whole, job.info(), job.plan.shard)
    else:
        refuse_strangers(job.out, job.info())
    engine: Engine = getattr(importlib.import_module(module), function)
    return await engine(job)
