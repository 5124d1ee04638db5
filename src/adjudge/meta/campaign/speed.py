"""How long people take, and whether they become faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from adjudge.data.submissions import Submission
from adjudge.errors import UsageError
from adjudge.meta.campaign.numbers import Definition, Number, Section, mean_by_student, slope_of
from adjudge.meta.campaign.pace import BREAK, learned_speed_up, median_seconds, seconds_between_starts
from adjudge.meta.measures.result import Floats, Result

__all__ = ["pace_section", "seconds_by_person"]

_FEWEST: Final = 10  # items of a person of whom a slope is told
_HUNDRED: Final = 100


def seconds_by_person(
    submissions: Sequence[Submission], definition: Definition
) -> dict[str, tuple[list[Submission], Floats]]:
    """Each person's items in the order of work, with the seconds that each took.

    `paper`: from the start of the item before to the start of this one, so that the first one has 0 and a
    pause counts as work. `mended`: the time in which the page was used; where nobody measured that, from one
    start to the next with pauses of more than 300 s replaced by the person's median.

    Args:
        submissions: of a campaign; the last ones of each item, without tutorials, are counted.
        definition: whose.
    """
    people: dict[str, list[Submission]] = {}
    for submission in submissions:
        if submission.is_last and submission.kind != "tutorial":
            people.setdefault(submission.person, []).append(submission)
    found = {}
    for person, own in sorted(people.items()):
        own.sort(key=lambda s: (s.started, s.place))
        between = seconds_between_starts([person] * len(own), np.array([s.started for s in own]))
        found[person] = (own, between if definition == "paper" else _worked(own, between))
    return found


def _worked(own: Sequence[Submission], between: Floats) -> Floats:
    usual = float(np.median(between[1:])) if len(between) > 1 else 0.0
    steady = np.where((between > BREAK) | (np.arange(len(between)) == 0), usual, between)
    active = np.array([np.nan if s.active is None else s.active for s in own], dtype=np.float64)
    return np.where(np.isnan(active), steady, active)


def pace_section(submissions: Sequence[Submission]) -> Section:
    """Medians of all and of each person, and what is learned on the way."""
    numbers: list[Number] = []
    known = seconds_by_person(submissions, "mended")
    for definition in ("paper", "mended"):
        people = seconds_by_person(submissions, definition)
        numbers += _medians(people, definition)
        numbers += _learned(people, definition)
    every = [s for own, _ in known.values() for s in own]
    without = sum(s.active is None for s in every)
    notes = []
    if without:
        notes.append(f"Of {without:,} of {len(every):,} items the active time is not known.")
    return Section(
        name="pace", title="How long does a segment take?", numbers=tuple(numbers), notes=tuple(notes)
    )


def _medians(
    people: Mapping[str, tuple[Sequence[Submission], Floats]], definition: Definition
) -> Iterator[Number]:
    if not people:
        return
    names = [person for person, (own, _) in people.items() for _ in own]
    seconds = np.concatenate([seconds for _, seconds in people.values()])
    medians = [float(np.median(own)) for _, own in people.values()]
    result = Result(value=median_seconds(names, seconds)[0], n=len(seconds))
    yield Number(of="all", measure="median seconds", result=result, definition=definition)
    yield Number(
        of="all", measure="mean of people's medians", result=mean_by_student(medians), definition=definition
    )
    if definition == "mended":
        for person, (_, own) in people.items():
            result = Result(value=float(np.median(own)), n=len(own))
            yield Number(of=person, measure="median seconds", result=result, definition=definition)


def _learned(
    people: Mapping[str, tuple[Sequence[Submission], Floats]], definition: Definition
) -> Iterator[Number]:
    seconds = [
        own[[s.kind == "original" for s in done]] if definition == "paper" else own
        for done, own in people.values()
    ]
    n = sum(map(len, seconds))
    if definition == "mended":
        slopes = [_slope(own) for own in seconds if len(own) >= _FEWEST]
        result = mean_by_student(slopes, f"nobody did {_FEWEST} items")
        yield Number(of="all", measure="seconds saved in 100 segments", result=result, definition=definition)
        return
    try:
        seen = learned_speed_up(seconds)
    except UsageError as error:
        result = Result(value=None, n=n, reason=str(error))
        yield Number(
            of="all", measure="seconds saved a hundredth of the work", result=result, definition=definition
        )
        return
    values = {
        "seconds at the start": seen.start,
        "seconds at the end": seen.end,
        "seconds saved a hundredth of the work": seen.saved,
    }
    for measure, value in values.items():
        yield Number(of="all", measure=measure, result=Result(value=value, n=n), definition=definition)


def _slope(seconds: Floats) -> float:
    """Seconds saved in a hundred items, by least squares."""
    return -_HUNDRED * (slope_of(np.arange(len(seconds), dtype=np.float64), seconds, "").value or 0.0)
