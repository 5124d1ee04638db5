"""One session of a run, whoever annotates: its counts, its failures, what it leaves."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adjudge.core.annotation import Failure
from adjudge.core.judge import failure_of
from adjudge.core.run import RunInfo
from adjudge.errors import FailureReason
from adjudge.llm.tally import Tally
from adjudge.runs.job import Job
from adjudge.runs.journal import Journal
from adjudge.runs.progress import Progress
from adjudge.runs.record import RunDirectory, now
from adjudge.runs.units import Slot, Unit
from adjudge.runs.work import Sink

__all__ = ["Outcome", "Session"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a session went.

    Args:
        info: as `run.json` has it now.
        tally: what this session asked.
        seconds: how long it took.
        notes: what the user must know.
        examples: the detail of the first failure of each reason.
        identical: pairs of one text, which are equal and which nobody was asked about.
        inconsistent: verdicts that changed with the order.
    """

    info: RunInfo
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    identical: int = 0
    inconsistent: int = 0


class Session:
    """What judges and metrics have in common: records, counts, progress."""

    def __init__(self, job: Job, directory: RunDirectory, info: RunInfo, journal: Journal) -> None:
        self.job = job
        self.directory = directory
        self.start = info
        self.journal = journal
        self.sink = Sink(journal)
        self.tally = Tally()
        self.began = time.monotonic()
        self.progress = Progress(len(job.plan), shown=job.progress)
        self.examples: dict[str, str] = {}

    def info(self, **changes: object) -> RunInfo:
        """`run.json` as it would be now."""
        sink, total = self.sink, len(self.job.plan)
        pending = total - sink.judged - sink.failed
        failed = f"{sink.failed}/{sink.judged + sink.failed}"
        return replace(
            self.start,
            signature=self.start.signature.with_fields(failed=failed),
            counts={"judged": sink.judged, "failed": sink.failed, "pending": pending},
            failures=dict(sorted(sink.failures.items())),
            **changes,  # type: ignore[arg-type]
        )

    def failure(self, unit: Unit, slot: Slot, reason: FailureReason, detail: str) -> Failure:
        """Here alone an error becomes a failure."""
        subject = unit.subject.of(*slot.systems)
        failure = failure_of(self.job.annotator, subject, reason, detail, slot.criterion)
        self.examples.setdefault(reason, failure.detail)
        return failure

    def finish(self, info: RunInfo) -> RunInfo:
        """Write the records, then the last `run.json`."""
        self.journal.finish()
        info = replace(info, times={**info.times, "finished": now()})
        self.directory.write(info)
        return info

    @property
    def seconds(self) -> float:
        """Since the session began."""
        return time.monotonic() - self.began
