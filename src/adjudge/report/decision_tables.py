"""Cut-offs with their promise, and estimates from few labels, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adjudge.meta.deciding.estimates import SystemEstimate
from adjudge.meta.deciding.few_labels import Estimate
from adjudge.meta.deciding.thresholds import Band, Cut, Thresholds
from adjudge.report.numbers import NOTHING, digits_for, exact_cells, interval, number, rank_range, whole
from adjudge.report.tables import Table

__all__ = ["estimate_table", "guarantees", "threshold_table"]

_EXACT_CUTS = ("bound", "n", "wrong", "low", "high")
_MOST_DIGITS = 15
_EXACT_ESTIMATE = ("value", "low", "high", "plain", "plain_low", "plain_high", "weight", "gain")


def threshold_table(found: Thresholds, *, exact: bool) -> Table:
    """One row for all translations, then one for each language pair and each domain.

    Args:
        found: the cut-offs.
        exact: full precision and no notes, for programs.
    """
    if exact:
        cuts = [f">{side}_{name}" for side in ("publish", "reject") for name in _EXACT_CUTS]
        shares = [">published", ">post_edited", ">rejected"]
        columns = ["kind", "name", ">n", ">sources", ">bad", *cuts, *shares]
        return Table(columns=columns, rows=[_exact_band(band) for band in found.bands])
    digits = _digits_apart(found.bands)
    columns = [
        *("translations", ">labelled", ">bad", ">publish from", ">bad of them", ">95 % interval"),
        *(">reject to", ">good of them", ">95 % interval", ">published", ">post-edited", ">rejected"),
    ]
    return Table(
        columns=columns,
        rows=[_band(band, digits) for band in found.bands],
        rules=frozenset({0}) if len(found.bands) > 1 else frozenset(),
        notes=[*guarantees(found), found.signature, *found.notes],
    )


def _digits_apart(bands: Sequence[Band]) -> int:
    """Digits after the point, with which the two cut-offs of a band look the same only if they are."""
    both = [(band.publish.bound, band.reject.bound) for band in bands]
    digits = digits_for((bound for pair in both for bound in pair), [])
    apart = [(a, b) for a, b in both if a != b]
    while digits < _MOST_DIGITS and any(number(a, digits) == number(b, digits) for a, b in apart):
        digits += 1
    return digits


def guarantees(found: Thresholds) -> Iterator[str]:
    """What the cut-offs promise, in words."""
    s = found.settings
    yield f"Bad: {found.bad}."
    publish, reject, sure = (_percent(share) for share in (s.publish_risk, s.reject_risk, 1 - s.delta))
    if s.guarantee == "tested":
        each = "all of it" if s.together else "each"
        yield (
            f"With a chance of {sure} {each}: at most {publish} of what is published is bad, and at most "
            f"{reject} of what is rejected is good."
        )
    else:
        yield (
            f"On average: at most {publish} of all translations are published and bad, and at most {reject} "
            "are rejected and good."
        )
    yield "This holds for translations like the labelled ones, judged by the same judge in the same settings."


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _band(band: Band, digits: int) -> list[str]:
    shares = [f"{100 * share:.0f} %" for share in band.shares.values()]
    return [
        *(band.name, whole(band.n), whole(band.bad)),
        *_cut(band.publish, digits),
        *_cut(band.reject, digits),
        *shares,
    ]


def _cut(cut: Cut, digits: int) -> list[str]:
    if cut.interval is None:
        return [number(cut.bound, digits), NOTHING, NOTHING]
    span = f"{100 * cut.interval.low:.1f} to {100 * cut.interval.high:.1f} %"
    return [number(cut.bound, digits), f"{cut.wrong} of {cut.n}", span]


def _exact_band(band: Band) -> list[str]:
    cuts: list[str] = []
    for cut in (band.publish, band.reject):
        low, high = cut.interval or (None, None)
        cuts += exact_cells(cut.bound, cut.n, cut.wrong, low, high)
    counts = (str(band.n), str(band.sources), str(band.bad))
    return [band.kind, band.name, *counts, *cuts, *map(repr, band.shares.values())]


def estimate_table(rows: Sequence[SystemEstimate], notes: Sequence[str], *, exact: bool) -> Table:
    """One row a system, best first: its mean from labels and scores, from labels alone, and its lead.

    Args:
        rows: the estimates.
        notes: what a reader must know.
        exact: full precision and no notes, for programs.
    """
    if exact:
        leads = [f">ahead_{name}" for name in _EXACT_ESTIMATE]
        columns = ["system", ">labelled", ">scored", *(f">{name}" for name in _EXACT_ESTIMATE), *leads]
        columns += [">best_rank", ">worst_rank"]
        return Table(columns=columns, rows=[_exact_system(row) for row in rows])
    means = [row.mean.value for row in rows]
    digits = digits_for(means, [row.mean.interval for row in rows])
    columns = [
        *("system", ">rank", ">mean", ">95 % interval", ">labels alone", ">95 % interval", ">worth labels"),
        *(">labelled", ">scored", ">ahead of the next by", ">95 % interval"),
    ]
    explained = (
        "Worth labels: so many labels alone would have given as narrow an interval. Rank: those that the "
        "intervals of the differences of two systems allow."
    )
    return Table(columns=columns, rows=[_system(row, digits) for row in rows], notes=[explained, *notes])


def _system(row: SystemEstimate, digits: int) -> list[str]:
    mean, ahead = row.mean, row.ahead
    return [
        row.system,
        rank_range(row.best, row.worst),
        number(mean.value, digits),
        interval(mean.interval, digits),
        number(mean.plain, digits),
        interval(mean.plain_interval, digits),
        whole(round(mean.gain * mean.labelled)),
        whole(mean.labelled),
        whole(mean.scored),
        NOTHING if ahead is None else number(ahead.value, digits),
        NOTHING if ahead is None else interval(ahead.interval, digits),
    ]


def _exact_system(row: SystemEstimate) -> list[str]:
    counts = [str(row.mean.labelled), str(row.mean.scored)]
    ahead = [""] * len(_EXACT_ESTIMATE) if row.ahead is None else _exact(row.ahead)
    return [row.system, *counts, *_exact(row.mean), *ahead, str(row.best), str(row.worst)]


def _exact(found: Estimate) -> list[str]:
    spans = (*(found.interval or (None, None)), found.plain, *(found.plain_interval or (None, None)))
    return exact_cells(found.value, *spans, found.weight, found.gain)
