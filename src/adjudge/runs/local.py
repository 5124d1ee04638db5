"""The engine that judges in this process."""

from __future__ import annotations

from contextlib import closing

from adjudge.data.call_rows import run_name
from adjudge.errors import UsageError
from adjudge.runs.annotators import is_judge, is_metric
from adjudge.runs.garbage import rare_collections
from adjudge.runs.job import Job
from adjudge.runs.journal import Journal, Kept, basis_of
from adjudge.runs.judge_session import JudgeSession
from adjudge.runs.metric_session import MetricSession
from adjudge.runs.record import RunDirectory
from adjudge.runs.scale.merge import take_in
from adjudge.runs.session import Outcome

__all__ = ["execute"]


async def execute(job: Job, session: type[JudgeSession] | None = None) -> Outcome:
    """Run a job to its end.

    Args:
        job: ready to go.
        session: of a judge, where it is not the usual one.

    Raises:
        AdjudgeError: something stopped it; what was answered is stored, the same job goes on from there.
    """
    with rare_collections(), closing(RunDirectory(job.out)) as directory:
        info = directory.open(job.info(), job.plan.test_set)
        take_in(job.out, job.store, run_name(info.secret))
        basis = basis_of(job.annotator)
        with closing(Kept(job.out, basis)) as kept, closing(Journal(job.out, basis)) as journal:
            if is_judge(job.annotator) and job.models is not None:
                asking = (session or JudgeSession)(job, directory, info, journal, kept)
                return await asking.run(job.annotator, job.models)
            if is_metric(job.annotator):
                return await MetricSession(job, directory, info, journal).run(job.annotator)
            raise UsageError(f"{job.annotator.name} is a judge and has no model to ask")
