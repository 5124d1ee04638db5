"""What a campaign says of the people in it.

Attention: whether they notice damaged translations. Assistance: what they do with spans that were marked
beforehand. Pace: how long a segment takes, and whether they become faster. Drift: who is stricter, and
whether that changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal, NamedTuple

import numpy as np

from adjudge.analysis.preferences import numbered
from adjudge.analysis.study_pieces import (
    Definition,
    Key,
    Mark,
    Number,
    Piece,
    Section,
    counted,
    difference_of,
    final_pieces,
    marks_of,
    mean_by_student,
    over_segments,
    ratio_of,
    score_name,
    share_of,
    slope_of,
    touches,
)
from adjudge.core.frozen import frozen
from adjudge.core.record import ErrorSpan, grouped
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import Submission
from adjudge.stats.bootstrap import NO_INTERVAL, Draws, mean_of
from adjudge.stats.judged import Floats, Result
from adjudge.stats.paired import sign_flip_p_values


@frozen
class Check:
    """One translation and its damaged copy, judged by one person."""

    original: float  # score of the translation; higher is better
    damaged: float  # score of the copy
    original_marks: int  # number of marks in the translation
    marks: Sequence[Mark]
    damage: tuple[int, int]  # first and last character of the copy that may differ, as `damaged_range` has it
    person: str = ""  # who judged both

    def is_found(self, damage: tuple[int, int]) -> bool:
        return any(touches(mark, Mark(*damage)) for mark in self.marks)


def damaged_range(original: str, damaged: str) -> tuple[int, int]:
    """Where a damaged text differs: from its common start with the original to their common end.

    Both ends as the ESA paper takes them, the second one past the damage, so that a mark beside it counts.
    """
    return _alike(original, damaged), len(damaged) - _alike(original[::-1], damaged[::-1])


def exact_damage(damage: tuple[int, int]) -> tuple[int, int]:
    """The same without the character behind it; where nothing was put in, the characters on both sides."""
    first, end = damage
    return (first, end - 1) if end > first else (end - 1, first)


def _alike(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def attention(checks: Sequence[Check], draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """What checks show, as shares of all of them and as means: the ESA paper, table 6.

    `share with the damage marked` is the paper's; `... marked exactly` is without a mark just beside it. The
    score's drop has the p-value of a paired permutation test, two-sided.
    """
    if not checks:
        raise UsageError("attention needs one damaged translation at least, judged along with its original")
    scores = np.array([(check.original, check.damaged) for check in checks], dtype=np.float64)
    marks = np.array([(check.original_marks, len(check.marks)) for check in checks], dtype=np.float64)
    shares = {
        "share with a lower score": scores[:, 1] < scores[:, 0],
        "share with more marks": marks[:, 1] > marks[:, 0],
        "share with the damage marked": np.array([c.is_found(c.damage) for c in checks]),
        "share with the damage marked exactly": np.array(
            [c.is_found(exact_damage(c.damage)) for c in checks]
        ),
    }
    means = {
        "score of the original": scores[:, 0],
        "score of the copy": scores[:, 1],
        "drop of the score": scores[:, 0] - scores[:, 1],
        "marks in the original": marks[:, 0],
        "marks in the copy": marks[:, 1],
    }
    found = {}
    for name, hits in shares.items():
        has_groups = draws.groups is not None
        share = mean_of(hits.astype(np.float64), draws, "") if has_groups else share_of(hits)
        found[name] = share if share.interval is not None else share_of(hits)
    found |= {name: mean_of(values, draws, "") for name, values in means.items()}
    flips = sign_flip_p_values(means["drop of the score"][:, None])
    return found | {"drop of the score": replace(found["drop of the score"], test=partial(float, flips[0]))}


_TITLE: Final = "Do people notice damaged translations?"
_WHOSE: Final[Mapping[str, Definition]] = {
    "share with the damage marked": "paper",
    "share with the damage marked exactly": "mended",
}


def checks_of(pieces: Sequence[Piece]) -> tuple[list[Check], int]:
    """Every damaged copy whose original the same person judged, and how many others there are.

    Of one person's several judgements of the original, the last one counts.
    """
    originals: dict[tuple[str, Key], Piece] = {}
    for piece in sorted(counted(pieces), key=lambda p: p.submission.ended):
        originals[piece.person, piece.key] = piece
    found, alone = [], 0
    for copy in (piece for piece in pieces if piece.submission.kind == "check"):
        first = originals.get((copy.person, copy.key))
        if first is None:
            alone += 1
            continue
        text = copy.submission.originals.get(copy.annotation.system, first.text)
        check = Check(
            original=first.score,
            damaged=copy.score,
            original_marks=len(first.errors),
            marks=copy.marks,
            damage=damaged_range(text, copy.text),
            person=copy.person,
        )
        found.append(check)
    return found, alone


def check_section(pieces: Sequence[Piece], draws: Draws) -> Section:
    """Attention of all together and of each person."""
    checks, alone = checks_of(pieces)
    lost = f"Copies left out, whose originals are not judged by the same person: {alone:,}."
    notes = [lost] if alone else []
    if not checks:
        return Section(name="attention", title=_TITLE, notes=(*notes, "There is no attention check."))
    if score_name(pieces) == "points":
        notes.append("Scores are points of the marked errors, since nothing was rated.")
    return Section(
        name="attention", title=_TITLE, numbers=tuple(_numbers(checks, pieces, draws)), notes=tuple(notes)
    )


def _numbers(checks: Sequence[Check], pieces: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    by_person = grouped((check.person, check) for check in checks)
    groups: dict[str, tuple[Sequence[Check], Draws]] = {
        "all": (checks, replace(draws, groups=numbered([(c.person,) for c in checks])))
    }
    groups |= {person: (own, replace(draws, groups=None)) for person, own in sorted(by_person.items())}
    has_marks = any(piece.has_marks for piece in pieces)
    for who, (own, drawing) in groups.items():
        for measure, result in attention(own, drawing).items():
            if has_marks or "mark" not in measure:
                name = measure.removesuffix(" exactly")
                yield Number(of=who, measure=name, result=result, definition=_WHOSE.get(measure, ""))


Fate = Literal["kept", "changed", "deleted", "added"]
_ASSISTANCE_TITLE: Final = "What do people do with spans that were marked before?"


def fates(given: Sequence[ErrorSpan], spans: Sequence[ErrorSpan]) -> Counter[Fate]:
    """What became of spans that were given, and how many were added.

    Kept: the same place, severity and category. Changed: another span touches it, each one once, in the order
    of the text. What is left of the given ones was deleted, what is left of the others was added.
    """
    rest = list(spans)
    lost = []
    for span in given:
        same = next((other for other in rest if _told(other) == _told(span)), None)
        if same is None:
            lost.append(span)
        else:
            rest.remove(same)
    found: Counter[Fate] = Counter({"kept": len(given) - len(lost)})
    for span in sorted(lost, key=lambda s: s.start or 0):
        near = next((other for other in rest if _is_near(span, other)), None)
        if near is None:
            found["deleted"] += 1
        else:
            found["changed"] += 1
            rest.remove(near)
    found["added"] += len(rest)
    return found


def _told(span: ErrorSpan) -> tuple[object, ...]:
    return span.side, span.start, span.end, span.severity, span.category


def _is_near(one: ErrorSpan, other: ErrorSpan) -> bool:
    if one.side != other.side or (one.start is None) != (other.start is None):
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return True
    return one.start < other.end and other.start < one.end


def assistance_section(pieces: Sequence[Piece], draws: Draws) -> Section:
    """Kept, changed, deleted, added; and with marks given against without: automation bias."""
    kept = [piece for piece in counted(pieces) if piece.submission.kind != "adjudication"]
    helped = [piece for piece in kept if piece.given is not None]
    alone = [piece for piece in kept if piece.submission.kind == "control"]
    if not helped:
        none = ("Nothing was marked beforehand.",)
        return Section(name="assistance", title=_ASSISTANCE_TITLE, notes=none)
    numbers = [*_fate_numbers(helped, draws)]
    note = "Nothing was shown without marks, so that nobody can say what help changed."
    if alone:
        numbers += [*_beside_control(helped, alone, draws), *_bias(helped, alone, draws)]
    notes = () if alone else (note,)
    return Section(name="assistance", title=_ASSISTANCE_TITLE, numbers=tuple(numbers), notes=notes)


def _fate_numbers(helped: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    people = sorted({piece.person for piece in helped})
    for who in ("all", *(people if len(people) > 1 else ())):
        own = [piece for piece in helped if who in {"all", piece.person}]
        counts = [fates(piece.given or (), piece.annotation.spans) for piece in own]
        given = np.array([float(len(piece.given or ())) for piece in own])
        drawing = over_segments(own, draws)
        for fate in ("kept", "changed", "deleted"):
            result = ratio_of(
                np.array([float(c[fate]) for c in counts]), given, drawing, "nothing was marked beforehand"
            )
            yield Number(of=who, measure=f"share of given spans {fate}", result=result)
        result = ratio_of(np.array([float(c["added"]) for c in counts]), np.ones(len(own)), drawing)
        yield Number(of=who, measure="spans added a translation", result=result)


def _beside_control(helped: Sequence[Piece], alone: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    every = [*helped, *alone]
    is_helped = np.arange(len(every)) < len(helped)
    values = {
        score_name(every): [piece.score for piece in every],
        "errors a translation": [float(len(piece.errors)) for piece in every],
        "share without errors": [float(not piece.errors) for piece in every],
    }
    drawing = over_segments(every, draws)
    for measure, known in values.items():
        result = difference_of(np.array(known), is_helped, drawing, "all were shown with marks, or none")
        yield Number(of="with marks less without", measure=measure, result=result)


def _bias(helped: Sequence[Piece], alone: Sequence[Piece], draws: Draws) -> Iterator[Number]:
    given: dict[Key, Sequence[ErrorSpan]] = {piece.key: piece.given or () for piece in helped}
    given |= {piece.key: spans for piece in alone if (spans := piece.withheld) is not None}
    for who, own in (("shown with the marks", helped), ("shown without", alone)):
        known = [piece for piece in own if piece.key in given]
        places = [[m for m in marks_of(given[piece.key]) if m.first is not None] for piece in known]
        marked = [
            sum(any(touches(mark, place) for mark in piece.marks) for place in there)
            for piece, there in zip(known, places, strict=True)
        ]
        hits, of = np.array(marked, dtype=np.float64), np.array(list(map(len, places)), dtype=np.float64)
        result = ratio_of(hits, of, over_segments(known, draws), "of none of them it is known what was given")
        yield Number(of=who, measure="share of given spans marked", result=result)


BREAK: Final = 300.0
"""Seconds; what is longer is a break and no work."""

_WINDOW: Final = 15  # segments that are averaged; who judged fewer is left out
_BINS: Final = 100
_EDGE: Final = slice(5, 10)  # bins at the start, without the first which hold the tutorial's habits


class SpeedUp(NamedTuple):
    """Seconds that a segment takes at the start and at the end; what each hundredth of the work saves."""

    start: float
    end: float
    saved: float


def seconds_between_starts(logins: Sequence[str], starts: Floats) -> Floats:
    """Time from the start of the item before to this one's, of the same login; 0 for the first.

    What the ESA paper calls the time of a segment, since in Appraise half of the items start and end at once.
    A break counts as work, and what is really measured is the item before. Where rows are not in the order of
    their starts, a difference may be negative.

    `logins`: of each item, in the order of work. `starts`: seconds.
    """
    before: dict[str, float] = {}
    found = np.zeros(len(starts))
    for place, (login, start) in enumerate(zip(logins, starts.tolist(), strict=True)):
        found[place] = start - before.get(login, start)
        before[login] = start
    return found


def median_seconds(annotators: Sequence[str], seconds: Floats) -> tuple[float, float]:
    """Median over all items, and the mean of the annotators' medians, which slow people cannot sway."""
    if not len(seconds):
        raise UsageError("a median of times needs one item at least")
    names = np.array(annotators)
    medians = [np.median(seconds[names == name]) for name in dict.fromkeys(annotators)]
    return float(np.median(seconds)), float(np.mean(medians))


def progress_curve(people: Sequence[Floats], *, bins: int = _BINS) -> Floats:
    """Mean seconds of a segment by how much of the work is done.

    Breaks of more than 300 s become the person's median; each person is smoothed by a moving average and
    stretched to the bins; a bin is the mean of all that falls into it, so that who did more weighs more.
    Bins into which nothing falls are left out. The ESA paper, figure 5.

    `people`: of each person, seconds of the segments in the order of work.
    """
    found: list[list[float]] = [[] for _ in range(bins)]
    for seconds in people:
        if len(seconds) < _WINDOW:
            continue
        steady = np.where(seconds > BREAK, np.median(seconds), seconds)
        smooth = np.convolve(steady, np.full(_WINDOW, 1 / _WINDOW), mode="valid")
        for place, value in enumerate(smooth.tolist()):
            found[place * bins // len(smooth)].append(value)
    return np.array([np.mean(values) for values in found if values])


def learned_speed_up(people: Sequence[Floats]) -> SpeedUp:
    """How much faster people become: mean of bins 6 to 10, of bins 91 to 95, and their difference over 100.

    The ESA paper, figure 5, which calls the last one seconds a segment, though it is a hundredth of the work.
    """
    curve = progress_curve(people)
    if len(curve) < _BINS // 4:
        raise UsageError(f"a speed-up needs more segments of one person, got a curve of {len(curve)} points")
    start, end = float(curve[_EDGE].mean()), float(curve[-10:-5].mean())
    return SpeedUp(start, end, (start - end) / _BINS)


_FEWEST: Final = 10  # items of a person of whom a slope is told
_HUNDRED: Final = 100


def seconds_by_person(
    submissions: Sequence[Submission], definition: Definition
) -> dict[str, tuple[list[Submission], Floats]]:
    """Each person's items in the order of work, with the seconds that each took.

    `paper`: from the start of the item before to the start of this one, so that the first one has 0 and a
    pause counts as work. `mended`: the time in which the page was used; where nobody measured that, from one
    start to the next with pauses of more than 300 s replaced by the person's median.
    """
    people = grouped((s.person, s) for s in submissions if s.is_last and s.kind != "tutorial")
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
    notes = [f"Of {without:,} of {len(every):,} items the active time is not known."] * bool(without)
    for language in _languages(every):
        people_of = sorted({s.person for s in every if s.language == language})
        notes.append(f"Who had pages in {language}: {', '.join(people_of)}.")
    title = "How long does a segment take?"
    return Section(name="pace", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _languages(submissions: Iterable[Submission]) -> list[str]:
    return sorted({s.language for s in submissions if s.language})


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
        every = [s for own, _ in people.values() for s in own]
        groups = [(person, own) for person, (_, own) in people.items()] + [
            (f"pages in {language}", seconds[[s.language == language for s in every]])
            for language in _languages(every)
        ]
        for name, own in groups:
            result = Result(value=float(np.median(own)), n=len(own))
            yield Number(of=name, measure="median seconds", result=result, definition=definition)


def _learned(
    people: Mapping[str, tuple[Sequence[Submission], Floats]], definition: Definition
) -> Iterator[Number]:
    seconds = [
        own[[s.kind == "original" for s in done]] if definition == "paper" else own
        for done, own in people.values()
    ]
    n = sum(map(len, seconds))
    if definition == "mended":
        slopes = [
            -_HUNDRED * (slope_of(np.arange(len(own), dtype=np.float64), own, "").value or 0.0)
            for own in seconds
            if len(own) >= _FEWEST
        ]
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


FEWEST: Final = 10
"""Judgements of a person of whom anything is told."""
_TOO_FEW: Final = "too few judgements"


def means_by_system(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Mean score of each system over everybody: what a person's scores are held against."""
    return {system: float(np.mean(values)) for system, values in grouped(scores).items()}


def strictness(above: Sequence[float]) -> tuple[Result, Result]:
    """How far a person's scores lie above others', and by how much that changes in a hundred judgements.

    Least squares with Student's intervals, which take a person's judgements as independent of one another.

    `above`: their scores in the order of work, each less the mean of its system, so that who was shown better
    systems is not milder for it.
    """
    return mean_by_student(above), slope_of(_hundreds(above), np.array(above), _TOO_FEW)


def _hundreds(own: Sequence[object]) -> Floats:
    return np.arange(len(own), dtype=np.float64) / _HUNDRED


def drift_section(pieces: Sequence[Piece]) -> Section:
    """Strictness of each person, and whether they mark more or fewer errors on the way."""
    kept = final_pieces(pieces)
    means = means_by_system((piece.annotation.system, piece.score) for piece in kept)
    people = grouped((piece.person, piece) for piece in kept)
    numbers: list[Number] = []
    few = 0
    for person, own in sorted(people.items()):
        if len(own) < FEWEST:
            few += 1
            continue
        own.sort(key=lambda p: (p.submission.started, p.submission.place))
        what = score_name(own)
        above, change = strictness([piece.score - means[piece.annotation.system] for piece in own])
        numbers.append(Number(of=person, measure=f"{what} above others", result=above))
        numbers.append(Number(of=person, measure=f"change of {what} in 100 translations", result=change))
        if own[0].has_marks:
            slope = slope_of(_hundreds(own), np.array([float(len(p.errors)) for p in own]), _TOO_FEW)
            numbers.append(Number(of=person, measure="change of errors a translation in 100", result=slope))
    notes = [f"People left out, with fewer than {FEWEST} judgements: {few}."] if few else []
    title = "Who is stricter than others, and does it change on the way?"
    return Section(name="drift", title=title, numbers=tuple(numbers), notes=tuple(notes))
