"""How well a part of the segments ranks systems as all of them do."""

from __future__ import annotations

import numpy as np

from adjudge.errors import UsageError
from adjudge.meta.measures.result import Floats

__all__ = ["subset_agreement"]


def subset_agreement(
    scores: Floats, size: int, draws: int = 1000, seed: int = 0, *, as_paper: bool = False
) -> float:
    """Mean share of pairs of systems that random segments order as all segments do.

    agreement = mean over draws of |{i < j: sign(s_i - s_j) = sign(m_i - m_j)}| / |{i < j}|

    m: means over all segments; s: over the drawn ones, without replacement, at most all of them. A tie among
    the drawn ones is wrong. The ESA paper's figure 9 differs in two ways, which `as_paper` follows: each
    system's pair with itself counts, and always agrees, so that 13 systems start from 7.7 % and not from 0;
    and of tied systems the first one is ahead.

    Args:
        scores: systems by segments, without gaps.
        size: segments in a draw.
        draws: how many.
        seed: of the draws.
        as_paper: whether to count as the paper does.

    Raises:
        UsageError: fewer than two systems, or a gap.
    """
    systems, segments = scores.shape
    if systems < 2 or np.isnan(scores).any():
        raise UsageError(f"a subset's ranking needs two systems and every score, got {systems} systems")
    rng = np.random.default_rng(seed)
    chosen = np.zeros((segments, draws))
    for draw in range(draws):
        chosen[rng.permutation(segments)[:size], draw] = 1.0
    means = scores @ chosen / min(size, segments)
    whole = scores.mean(axis=1)
    first, second = np.triu_indices(systems, 1)
    signs = np.sign(np.round(means[first] - means[second], 10))  # rounding noise is no order
    order = np.sign(whole[first] - whole[second])[:, None]
    if not as_paper:
        return float((signs == order).mean())
    right = float(((signs >= 0) == (order >= 0)).mean())
    return float((systems + 2 * right * len(first)) / systems**2)
