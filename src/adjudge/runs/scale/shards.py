"""Which segments a part of a run judges, so that several machines can judge one test set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adjudge.core.segment import Segment, TestSet
from adjudge.data.calls import STORE
from adjudge.data.jsonl import read_test_set, write_test_set
from adjudge.data.run_dir import INFO, SHARDS, TEST_SET, read_run_info
from adjudge.errors import UsageError
from adjudge.meta.ranking.schedules import Pair, Schedule
from adjudge.runs.annotators import is_metric
from adjudge.runs.record import refuse_foreign
from adjudge.runs.units import Plan

if TYPE_CHECKING:
    from adjudge.runs.job import Job

__all__ = ["Part", "Shard", "keep_whole", "part_of", "refuse_to_split", "shard_of", "split"]

Shown = tuple[Segment, tuple[Segment, ...]]
"""A segment with those before it that it is shown with."""

_MOST: Final = 100_000
_NO_PAIRS: Mapping[tuple[str, str], tuple[Pair, ...]] = {("", ""): ()}


@dataclass(frozen=True, order=True)
class Shard:
    """One of several parts of a run.

    Args:
        number: from 1.
        of: so many parts there are.

    Raises:
        UsageError: there is no such part.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        """Refuse a part that there is not."""
        if self.of > _MOST:
            raise UsageError(f"--shard: a run can have {_MOST:,} parts, got {self}")
        if not 1 <= self.number <= self.of:
            raise UsageError(f"--shard must be from 1/{self.of} to {self.of}/{self.of}, got {self}")

    def __str__(self) -> str:
        """As `--shard` takes it."""
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read `3/16`.

        Raises:
            UsageError: it is something else.
        """
        number, slash, of = text.partition("/")
        if not (slash and all(part.isascii() and part.isdigit() and len(part) < 10 for part in (number, of))):
            raise UsageError(f"--shard must be the number of a part and of all, such as 3/16; got {text!r}")
        return cls(int(number), int(of))

    @property
    def folder(self) -> str:
        """Name of its run directory in the `shards` of the whole run."""
        return f"{self.number:0{len(str(self.of))}}-of-{self.of}"

    def within(self, out: Path) -> Path:
        """Its run directory in that of the whole run."""
        return out / SHARDS / self.folder


def shard_of(segment: Segment, of: int) -> int:
    """Number of the shard that judges a segment, from 1: a hash of its lp and id, the same everywhere."""
    digest = hashlib.sha256(f"{segment.lp}\0{segment.segment}".encode()).digest()
    return int.from_bytes(digest[:8]) % of + 1


@dataclass(frozen=True, kw_only=True)
class Part(Plan):
    """What one shard judges of a plan.

    Args:
        shard: which.
        shown: its segments; those before them in their documents need not be its own.
        every: the whole test set.
    """

    shard: Shard
    shown: tuple[Shown, ...]
    every: TestSet

    @property
    def whole(self) -> TestSet:
        """The test set that the run is of."""
        return self.every

    def segments(self) -> Iterator[Shown]:
        """Each of its segments with those before it."""
        return iter(self.shown)


def refuse_to_split(job: Job, why: str) -> None:
    """Refuse what cannot be judged in parts.

    Args:
        job: the run.
        why: the option that splits it.

    Raises:
        UsageError: a metric, or pairs that are chosen by what was judged before.
    """
    if is_metric(job.annotator):
        raise UsageError(f"{why}: {job.annotator.name} is a metric, asks no model and scores all at once")
    if job.plan.schedule.kind == "adaptive":
        raise UsageError(f"{why}: --pairs adaptive chooses by what was judged before, in one run")


def split(plan: Plan, of: int) -> list[Part]:
    """Split a plan into so many parts; together they have its units, each of them in one part."""
    shown: list[list[Shown]] = [[] for _ in range(of)]
    for segment, before in plan.segments():
        shown[shard_of(segment, of) - 1].append((segment, before))
    drawn = _drawn(plan) if plan.schedule.in_all is not None else None
    return [
        Part(
            **{name: getattr(plan, name) for name in ("systems", "references", "kind", "criteria")},
            **{name: getattr(plan, name) for name in ("context", "terms", "notes")},
            schedule=plan.schedule if drawn is None else _listed(drawn, own),
            test_set=TestSet(name=plan.whole.name, segments=tuple(segment for segment, _ in own)),
            shard=Shard(number, of),
            shown=tuple(own),
            every=plan.whole,
        )
        for number, own in enumerate(shown, start=1)
    ]


def _drawn(plan: Plan) -> dict[tuple[str, str], list[Pair]]:
    """The pairs of a sample of all segments together, which no part could draw for itself."""
    found: dict[tuple[str, str], list[Pair]] = {}
    for unit in plan:
        a, b = unit.subject.systems
        found.setdefault((unit.subject.lp, unit.subject.segment.segment), []).append((a, b))
    return found


def _listed(drawn: Mapping[tuple[str, str], list[Pair]], own: list[Shown]) -> Schedule:
    keys = [(segment.lp, segment.segment) for segment, _ in own]
    listed = {key: drawn[key] for key in keys if key in drawn}
    return Schedule(kind="listed", listed=listed or _NO_PAIRS)


def part_of(job: Job, shard: Shard) -> Job:
    """The job of one shard: a run directory in that of the whole run, with a store of its own.

    Raises:
        UsageError: it cannot be judged in parts.
    """
    refuse_to_split(job, "--shard")
    return job_of(job, split(job.plan, shard.of)[shard.number - 1])


def job_of(job: Job, part: Part) -> Job:
    """The job of a part; what the store of the whole run knows is not asked for again."""
    return replace(
        job,
        plan=part,
        out=part.shard.within(job.out),
        store=part.shard.within(job.out) / STORE,
        base=job.store,
        settings={**job.settings, "store": STORE, "shard": str(part.shard)},
        signature=job.signature.with_fields(shard=str(part.shard)),
    )


def keep_whole(part: Part, out: Path) -> None:
    """Keep the whole test set in the directory of the whole run, where the parts will be merged.

    Args:
        part: one part.
        out: directory of the whole run.

    Raises:
        UsageError: it holds something else, or a run of another test set.
    """
    refuse_foreign(out)
    if (out / INFO).is_file():
        digest = read_run_info(out).test_set.get("digest")
    elif (out / TEST_SET).is_file():
        digest = read_test_set(out / TEST_SET).digest
    else:
        write_test_set(out / TEST_SET, part.whole)
        return
    if digest != part.whole.digest:
        raise UsageError(f"{out} holds a run of another test set; choose another --out, or the same test set")
