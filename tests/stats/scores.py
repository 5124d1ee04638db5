"""Small arrays of scores with ties and gaps, and the plain ways to walk through them."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adjudge.stats.judged import Average, Floats

Both = tuple[Floats, Floats]
"""Scores of gold and of a metric."""
averages = st.sampled_from(["item", "sys", "none"])
_cells = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.1, 0.2, 0.3, 0.1 + 0.2, 1e-9, -7.5, 1e6]),
    st.floats(-4, 4, allow_subnormal=False),
    st.just(math.nan),
)


@st.composite
def score_pairs(draw: st.DrawFn, systems: int = 5, segments: int = 5) -> tuple[Floats, Floats]:
    """Gold and metric, systems by segments."""
    shape = (draw(st.integers(1, systems)), draw(st.integers(1, segments)))
    gold = draw(arrays.arrays(np.float64, shape, elements=st.one_of(st.integers(-2, 1).map(float), _cells)))
    return gold, draw(arrays.arrays(np.float64, shape, elements=_cells))


def groups(gold: Floats, metric: Floats, average: Average) -> list[list[tuple[float, float]]]:
    """Scores that both have, group by group."""
    cells = [list(zip(*rows, strict=True)) for rows in zip(gold.tolist(), metric.tolist(), strict=True)]
    if average == "item":
        cells = [list(column) for column in zip(*cells, strict=True)]
    elif average == "none":
        cells = [[cell for row in cells for cell in row]]
    return [[cell for cell in group if not any(map(math.isnan, cell))] for group in cells]


def pairs(group: list[tuple[float, float]]) -> Iterator[tuple[float, float, float]]:
    """Difference in gold, in the metric, and its size, of every pair of a group."""
    for (g1, m1), (g2, m2) in itertools.combinations(group, 2):
        yield g1 - g2, m1 - m2, abs(m1 - m2)
