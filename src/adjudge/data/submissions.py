"""What a campaign exports: every submission of every person, as JSON lines behind one that names it.

A submission is one person's finished work on one item: the records that it comes to, and what only a campaign
knows of them (times, order of work, which text was damaged, which marks a machine made before). Analysis and
every export start from here, whether the campaign was ours or Appraise's or Pearmut's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar, get_args

from adjudge.core.annotation import DUPLICATE, Annotation, ErrorSpan, Preference
from adjudge.core.protocol import is_number
from adjudge.errors import DataError

__all__ = ["FIRST", "KINDS", "PASSES", "SCHEMA", "CampaignFile", "Kind", "Submission", "of_latest_pass"]

SCHEMA: Final = "adjudge-campaign/1"

Kind = Literal["original", "check", "tutorial", "control", "again", "adjudication"]
"""Why an item was shown.

`original`: to be judged. `check`: a damaged copy, to see whether the person reads. `tutorial`: to learn.
`control`: without the spans that others see marked. `again`: a second pass over what was annotated.
`adjudication`: a third person decides between two.
"""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PASSES: Final[Mapping[Kind, int]] = {"original": 0, "control": 0, "again": 1, "adjudication": 2}
"""Kinds that judge translations as they are, and which pass over them each one is: a later one decides."""
FIRST: Final[tuple[Kind, ...]] = tuple(kind for kind, number in PASSES.items() if number == 0)
"""Kinds of the first pass."""

_Said = TypeVar("_Said")


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """One person's finished work on one item of a task.

    Args:
        person: who did it.
        protocol: of the campaign, such as `esa-ai`; the records may have a plainer one (`esa`).
        kind: why it was shown.
        lp: language pair.
        document: id.
        segment: id.
        task: number of the task: a document of one system, or of several side by side.
        item: number of the item within its task, from 0.
        place: how many items the person had finished before this one.
        batch: number of the static batch; None where tasks came from a pool.
        records: what it comes to, one annotation a translation shown, or one preference a criterion; empty
            where a reference was written.
        texts: system to the text that was shown, which in a check is the damaged one.
        source: text that was shown.
        originals: in a check, system to the text before it was damaged.
        given: system to the spans that were marked beforehand; absent where none were asked for.
        chosen: system of the candidate that was edited.
        edited: the text that the person wrote.
        started: first action, seconds since 1970.
        ended: last action.
        active: seconds in which the page was visible and used; None where only start and end are known.
        idle: seconds of longer pauses in between.
        revision: how many changes led to it; 1 where that is unknown.
        is_last: whether the person did not submit this item again later; earlier ones never count.
        more: what a foreign format said besides, carried along for its round trip.

    Raises:
        DataError: an unknown kind, a time that is no number, or it ends before it starts.
    """

    person: str
    protocol: str
    kind: Kind
    lp: str
    segment: str
    document: str = ""
    task: int = 0
    item: int = 0
    place: int = 0
    batch: int | None = None
    records: tuple[Annotation | Preference, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    originals: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, tuple[ErrorSpan, ...]] = field(default_factory=dict)
    chosen: str | None = None
    edited: str | None = None
    started: float = 0.0
    ended: float = 0.0
    active: float | None = None
    idle: float = 0.0
    revision: int = 1
    is_last: bool = True
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no analysis could count."""
        if self.kind not in KINDS:
            raise DataError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        times = {"started": self.started, "ended": self.ended, "active": self.active, "idle": self.idle}
        for name, value in times.items():
            if value is not None and not is_number(value):
                raise DataError(f"{name!r} must be a finite number of seconds, got {value!r}")
        if self.ended < self.started:
            raise DataError(f"a submission cannot end ({self.ended}) before it starts ({self.started})")

    @property
    def is_filler(self) -> bool:
        """Whether it fills up a batch: what the person said of the translation in its own place counts."""
        return any(isinstance(r, Annotation) and DUPLICATE in r.flags for r in self.records)

    @property
    def is_dropped(self) -> bool:
        """Whether the agreement gate dropped its segment, which counts no more."""
        return self.more.get("gate") == "dropped"

    @property
    def reasons(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """System and mark, as JSON, of what a person marked to say why one of two translations is better."""
        found = self.more.get("reasons")
        for system, spans in found.items() if isinstance(found, Mapping) else ():
            yield from ((system, span) for span in spans if isinstance(span, Mapping))


@dataclass(frozen=True, kw_only=True)
class CampaignFile:
    """One campaign's export.

    Args:
        name: of the campaign.
        protocol: of the campaign.
        submissions: all, in the order in which they were finished.
        settings: how the campaign was set up, for people.
    """

    name: str
    protocol: str
    submissions: tuple[Submission, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def of_latest_pass(
    said: Iterable[_Said], kind: Callable[[_Said], Kind], about: Callable[[_Said], Hashable]
) -> list[_Said]:
    """What decides: of all that was judged, what was said in the latest pass over it, in the order given.

    Args:
        said: judgements of kinds in `PASSES`.
        kind: of one.
        about: what one judges.
    """
    listed = list(said)
    passes = [PASSES[kind(one)] for one in listed]
    if not any(passes):  # as mostly: nothing was looked at again
        return listed
    latest: dict[Hashable, int] = {}
    for one, number in zip(listed, passes, strict=True):
        latest[about(one)] = max(number, latest.get(about(one), 0))
    return [one for one, number in zip(listed, passes, strict=True) if number == latest[about(one)]]
