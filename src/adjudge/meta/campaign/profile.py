"""What people marked and rated: errors a translation, severities, ratings, and what goes along with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from adjudge.core.protocol import find_protocol
from adjudge.meta.agreement.estimate import NO_INTERVAL, Draws, mean_of
from adjudge.meta.campaign.agreeing import count_errors
from adjudge.meta.campaign.numbers import Number, Section, ratio_of
from adjudge.meta.campaign.pieces import Piece, has_marks
from adjudge.meta.measures.correlation import pearson
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.ranking.comparisons import numbered

__all__ = [
    "bins_of",
    "error_profile",
    "feature_section",
    "features_of_ratings",
    "profile_section",
    "token_counts",
]

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


# Sections...


def profile_section(final: Sequence[Piece], draws: Draws) -> Section:
    """Ratings, points and errors, of all and of each system. The ESA paper, table 1 and figure 3."""
    numbers: list[Number] = []
    systems = sorted({piece.annotation.system for piece in final})
    for who in ("all", *systems):
        own = [piece for piece in final if who in {"all", piece.annotation.system}]
        drawing = replace(draws, groups=numbered([piece.key[:2] for piece in own]))
        numbers += [Number(of=who, measure=m, result=r) for m, r in _means(own, drawing).items()]
    numbers += _bins(final)
    notes = () if final else ("Nothing is judged yet.",)
    return Section(name="profile", title="What do people mark and rate?", numbers=tuple(numbers), notes=notes)


def _means(own: Sequence[Piece], draws: Draws) -> dict[str, Result]:
    found: dict[str, Result] = {}
    if own and own[0].rating is not None:
        found["rating"] = mean_of(np.array([p.score for p in own]), draws, "nothing was judged")
    if has_marks(own):
        found["points"] = mean_of(np.array([p.points for p in own]), draws, "nothing was judged")
        found |= error_profile([p.severities for p in own], draws)
    return found


def _bins(final: Sequence[Piece]) -> Iterator[Number]:
    protocol = find_protocol(final[0].annotation.protocol) if final else None
    if protocol is not None and protocol.low is not None and protocol.high is not None:
        ratings = np.array([piece.score for piece in final])
        for words, amount in bins_of(ratings, protocol.low, protocol.high):
            result = Result(value=amount / len(final), n=len(final))
            yield Number(of="all", measure=f"share rated {words}", result=result)


def feature_section(final: Sequence[Piece]) -> Section:
    """Ratings beside lengths and errors. The ESA paper, table 7."""
    lengths = {
        "source": token_counts([piece.submission.source for piece in final]),
        "target": token_counts([piece.text for piece in final]),
    }
    ratings = np.array([piece.score for piece in final])
    missing = [float(sum(s.start is None for s in piece.errors)) for piece in final]
    found = features_of_ratings(ratings, lengths, [p.severities for p in final], np.array(missing))
    numbers = [Number(of=name, measure="Pearson with the rating", result=r) for name, r in found.items()]
    notes = ("Tokens are split at white space, which Chinese, Japanese and Thai do not have.",)
    return Section(
        name="features", title="What goes along with the rating?", numbers=tuple(numbers), notes=notes
    )
