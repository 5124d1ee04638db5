"""What people marked and rated: errors a translation, severities, ratings, and what goes along with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, mean_of
from adjudge.meta.campaign.agreeing import count_errors
from adjudge.meta.campaign.numbers import ratio_of
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats, Result

__all__ = ["bins_of", "error_profile", "features_of_ratings", "token_counts"]

_BINS: Final = 10


def error_profile(severities: Sequence[Sequence[str]], draws: Draws = NO_INTERVAL) -> dict[str, Result]:
    """Errors a translation, share of minor and of major ones, share of translations without any.

    The ESA paper, table 1: a critical error is a major one, and what is neither is in neither share.
    """
    minor = count_errors(severities, ("minor",))
    major = count_errors(severities, ("major", "critical"))
    every = count_errors(severities)
    return {
        "errors a translation": mean_of(every, draws, "nothing was judged"),
        "share of minor errors": ratio_of(minor, minor + major, draws, "no error was marked"),
        "share of major errors": ratio_of(major, minor + major, draws, "no error was marked"),
        "share without errors": mean_of((every == 0).astype(np.float64), draws, "nothing was judged"),
    }


def bins_of(values: Floats, low: float, high: float) -> Iterator[tuple[str, int]]:
    """How many ratings lie in each tenth of the scale; the last one holds the best rating. Figure 3."""
    amounts, edges = np.histogram(values, bins=_BINS, range=(low, high))
    for place, amount in enumerate(amounts.tolist()):
        yield f"{edges[place]:g} to {edges[place + 1]:g}", amount


def token_counts(texts: Sequence[str]) -> Floats:
    """Words of each text, split at white space."""
    return np.array([float(len(text.split())) for text in texts])


def features_of_ratings(
    ratings: Floats,
    lengths: Mapping[str, Floats],
    severities: Sequence[Sequence[str]],
    missing: Floats,
) -> dict[str, Result]:
    """Pearson of ratings with lengths and errors, plain and for each token. The ESA paper, table 7.

    Args:
        ratings: of each translation.
        lengths: `source` and `target` to the tokens of each.
        severities: of the errors of each.
        missing: how often each was said to lack something.
    """
    errors = {
        "minor": count_errors(severities, ("minor",)),
        "major": count_errors(severities, ("major",)),
        "missing": missing,
    }
    tokens = np.maximum(lengths["target"], 1)
    features = {f"{name} tokens": values for name, values in lengths.items()}
    features |= {f"{name} errors": values for name, values in errors.items()}
    features |= {f"{name} errors a token": values / tokens for name, values in errors.items()}
    return {name: pearson(ratings, values) for name, values in features.items()}
