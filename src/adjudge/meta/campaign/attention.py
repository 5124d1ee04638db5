"""Attention checks: do people rate a damaged translation lower, mark more in it, and mark the damage?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from adjudge.errors import UsageError
from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, mean_of
from adjudge.meta.campaign.marks import Mark, touches
from adjudge.meta.campaign.numbers import share_of
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.paired import sign_flip_p_values

__all__ = ["Check", "attention", "damaged_range", "exact_damage"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One translation and its damaged copy, judged by one person.

    Args:
        original: score of the translation; higher is better.
        damaged: score of the copy.
        original_marks: number of marks in the translation.
        marks: in the copy.
        damage: first and last character of the copy that may differ, as `damaged_range` has it.
        person: who judged both.
    """

    original: float
    damaged: float
    original_marks: int
    marks: Sequence[Mark]
    damage: tuple[int, int]
    person: str = ""

    def is_found(self, damage: tuple[int, int]) -> bool:
        """Whether a mark touches the damage."""
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
    """How many characters two texts share at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def attention(checks: Sequence[Check], draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """What checks show, as shares of all of them and as means: the ESA paper, table 6.

    `share with the damage marked` is the paper's; `... marked exactly` is without a mark just beside it. The
    score's drop has the p-value of a paired permutation test, two-sided.

    Args:
        checks: one or more.
        draws: of the intervals of means. Shares have Wilson's, or the draws' where these draw groups: people,
            whose checks resemble one another.

    Raises:
        UsageError: there is no check.
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
    found = {name: _share(hits.astype(np.float64), draws) for name, hits in shares.items()}
    found |= {name: mean_of(values, draws, "") for name, values in means.items()}
    flips = sign_flip_p_values(means["drop of the score"][:, None])
    return found | {"drop of the score": replace(found["drop of the score"], test=partial(float, flips[0]))}


def _share(hits: Floats, draws: Draws) -> Result:
    drawn = mean_of(hits, draws, "") if draws.groups is not None else None
    return drawn if drawn is not None and drawn.interval is not None else share_of(hits > 0)
