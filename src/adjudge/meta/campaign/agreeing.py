"""Two judgements of the same translations: how alike their scores, their errors and their marks are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, estimate
from adjudge.meta.agreement.kappa import cohen_kappa
from adjudge.meta.agreement.two import error_recall
from adjudge.meta.campaign.marks import (
    SAME,
    Mark,
    covered_share,
    pooled_share,
    repeated_share,
    starts_or_ends_within,
    touches,
)
from adjudge.meta.campaign.numbers import Definition, ratio_of
from adjudge.meta.measures.correlation import kendall_c, pearson
from adjudge.meta.measures.result import Floats, Result

__all__ = [
    "count_errors",
    "error_agreement",
    "mark_agreement",
    "mark_coverage",
    "meets",
    "met_by_both",
    "score_agreement",
]

Severities = Sequence[Sequence[str]]
Marks = Sequence[Sequence[Mark]]

_KINDS: Final[Mapping[str, tuple[str, ...] | None]] = {"any": None, "minor": ("minor",), "major": ("major",)}
_MOST_CELLS: Final = 2**16  # of a table of both scores' different values, which is made for every draw
_FLAT: Final = 1e-12  # share of a sum of squares; scores with less variance are constant
_BLOCK: Final = 2**22  # numbers at a time


def count_errors(severities: Severities, kinds: Sequence[str] | None = None) -> Floats:
    """How many errors of some severities, or of any, each translation has."""
    return np.array([float(len(e) if kinds is None else sum(s in kinds for s in e)) for e in severities])


# Scores...


def score_agreement(first: Floats, second: Floats, draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """Kendall's tau-c and Pearson's r over all translations together. The ESA paper, tables 2 and 4.

    Args:
        first: scores of the translations.
        second: of the same ones.
        draws: of the intervals; those of tau-c are left out where both scores have very many values.
    """
    found = {"Kendall tau-c": kendall_c(first, second), "Pearson": pearson(first, second)}
    drawn = {"Kendall tau-c": _drawn_tau_c, "Pearson": _drawn_pearson}
    return {name: _with_interval(found[name], drawn[name](first, second), draws) for name in found}


def _with_interval(found: Result, statistic: Callable[[Floats], Floats] | None, draws: Draws) -> Result:
    if found.value is None or statistic is None or not draws.resamples:
        return found
    every = np.ones(found.n, dtype=np.bool_)
    return replace(found, interval=estimate(statistic, every, draws, "").interval)


def _drawn_pearson(first: Floats, second: Floats) -> Callable[[Floats], Floats]:
    a, b = first - first.mean(), second - second.mean()
    moments = np.stack([a, b, a * a, b * b, a * b], axis=1)

    def statistic(counts: Floats) -> Floats:
        one, other, square, other_square, both = (counts @ moments / counts.sum(axis=1)[:, None]).T
        spread, other_spread = square - one**2, other_square - other**2
        varies = (spread > _FLAT * square) & (other_spread > _FLAT * other_square)
        found = np.full(len(counts), np.nan)
        below = np.sqrt(np.where(varies, spread * other_spread, 1))
        np.divide(both - one * other, below, out=found, where=varies)
        return found

    return statistic


def _drawn_tau_c(first: Floats, second: Floats) -> Callable[[Floats], Floats] | None:
    """Tau-c of draws from the table of both scores: pairs are counted by cells, not one by one."""
    (a_values, a), (b_values, b) = (np.unique(s, return_inverse=True) for s in (first, second))
    rows, columns = len(a_values), len(b_values)
    if rows * columns > _MOST_CELLS:
        return None
    cell = a * columns + b
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    used = cell[order][starts]

    def statistic(counts: Floats) -> Floats:
        found = []
        for drawn in np.array_split(counts, 1 + counts.shape[0] * rows * columns // _BLOCK):
            tables = np.zeros((len(drawn), rows * columns))
            tables[:, used] = np.add.reduceat(drawn[:, order], starts, axis=1)
            found.append(_tau_c(tables.reshape(-1, rows, columns)))
        return np.concatenate(found)

    return statistic


def _tau_c(tables: Floats) -> Floats:
    """Stuart's tau-c of contingency tables, draws by rows by columns."""
    below = np.zeros((len(tables), tables.shape[1] + 1, tables.shape[2] + 1))
    below[:, 1:, 1:] = tables.cumsum(axis=1).cumsum(axis=2)
    lower_left = below[:, :-1, :-1]
    lower_right = below[:, :-1, -1:] - below[:, :-1, 1:]
    surplus = (tables * (lower_left - lower_right)).sum(axis=(1, 2))
    n = tables.sum(axis=(1, 2))
    values = np.minimum((tables.sum(axis=2) > 0).sum(axis=1), (tables.sum(axis=1) > 0).sum(axis=1))
    whole = n * n * (values - 1)
    found = np.full(len(tables), np.nan)
    np.divide(2 * surplus * values, whole, out=found, where=whole > 0)
    return found


# Errors...


def error_agreement(
    first: Severities, second: Severities, draws: Draws = NO_INTERVAL
) -> Iterator[tuple[str, Definition, Result]]:
    """Whether both marked an error: of any severity, a minor one, a major one.

    As the ESA paper's table 4 has it: the share of translations that both marked or neither did. It calls
    that recall, and where errors are rare chance alone makes it high. Mended: Cohen's kappa of the same.
    """
    for name, kinds in _KINDS.items():
        one, other = count_errors(first, kinds), count_errors(second, kinds)
        yield f"error recall, {name}", "paper", error_recall(one, other, draws)
        kappa = cohen_kappa((one > 0).astype(np.float64), (other > 0).astype(np.float64), draws)
        yield f"error kappa, {name}", "mended", kappa


# Marks...


def meets(one: Mark, other: Mark) -> bool:
    """Whether two marks share a character, or are both without a place; the same whichever comes first."""
    return touches(one, other) or (one.first is None and other.first is None)


def mark_agreement(
    first: Marks, second: Marks, draws: Draws = NO_INTERVAL
) -> Iterator[tuple[str, Definition, Result]]:
    """How many marks of the one meet one alike of the other. The ESA paper, table 5.

    The paper asks it of the first annotator's marks alone, and misses marks that hold another one whole.
    Mended: of the marks of both, by any shared character, with an interval.

    Args:
        first: marks of each translation.
        second: of the same ones.
        draws: of the intervals, over translations.
    """
    for same in SAME:
        if "category" in same and not _has_categories([*first, *second]):
            continue
        n = sum(map(len, first))
        share = repeated_share(first, second, same, starts_or_ends_within)
        yield f"marks met, {same}", "paper", _share(share, n)
        yield f"marks met, {same}", "mended", met_by_both(first, second, draws, same=same)


def met_by_both(
    first: Marks,
    second: Marks,
    draws: Draws = NO_INTERVAL,
    *,
    same: str = "any",
    nothing: str = "nothing was marked",
) -> Result:
    """Share of the marks of both that meet one alike of the other, by any shared character.

    Args:
        first: marks of each translation.
        second: of the same ones.
        draws: of the interval, over translations.
        same: name in `SAME`.
        nothing: why there is no value where there is no mark.
    """
    hits = [
        sum(
            any(meets(one, other) and SAME[same](one, other) for other in others)
            for ones, others in ((a, b), (b, a))
            for one in ones
        )
        for a, b in zip(first, second, strict=True)
    ]
    of = [len(a) + len(b) for a, b in zip(first, second, strict=True)]
    return ratio_of(np.array(hits, float), np.array(of, float), draws, nothing)


def _has_categories(marks: Marks) -> bool:
    return any(mark.category for each in marks for mark in each if mark.first is not None)


def mark_coverage(by: Marks, marked: Marks) -> Iterator[tuple[Definition, Result]]:
    """How much of B's places A touches. The ESA paper, table 3.

    As in the paper: the mean over translations, where one without marks in B counts as covered. Mended: of
    all places together, so that translations without marks count nothing.
    """
    if by:
        yield "paper", _share(covered_share(by, marked), len(by))
    n = sum(len({(b.first, b.last) for b in marks if b.first is not None}) for marks in marked)
    yield "mended", _share(pooled_share(by, marked), n)


def _share(value: float, n: int) -> Result:
    if np.isnan(value):
        return Result(value=None, n=n, reason="nothing was marked")
    return Result(value=value, n=n)
