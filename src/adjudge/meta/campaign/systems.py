"""Systems by people's judgements: the ranking, beside gold, and how few segments would have done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from adjudge.core.score import Scores
from adjudge.errors import AdjudgeError
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.campaign.cuts import cluster_cuts
from adjudge.meta.campaign.numbers import Definition, Number, Section
from adjudge.meta.campaign.pieces import Key, Piece, by_translation, final_pieces, matrix_of
from adjudge.meta.campaign.subsets import subset_agreement
from adjudge.meta.measures.correlation import spearman
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.measures.system import pairwise_accuracy
from adjudge.meta.ranking.rank import rank
from adjudge.meta.ranking.ranked import Ranking
from adjudge.scoring.score import score

__all__ = [
    "Beside",
    "ranked",
    "scores_of",
    "subset_section",
    "subset_sizes",
    "system_section",
    "systems_beside",
]

_STEPS: Final = 10
_LEAST: Final = 5  # segments of the smallest part
_LEAST_DRAWS: Final = 100


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Systems' means by people and by gold, over the translations that both judged.

    Args:
        systems: names.
        ours: means of each.
        gold: of the same ones.
        cuts: of the paper, on our scale.
        n: segments that every system has.
    """

    systems: tuple[str, ...]
    ours: Floats
    gold: Floats
    cuts: tuple[float, ...]
    n: int


def scores_of(pieces: Sequence[Piece], *, by_points: bool = False) -> Scores:
    """Scores as `adjudge score` has them; by points, those of the marked errors."""
    kept = final_pieces(pieces)
    is_mqm = bool(kept) and kept[0].annotation.protocol == "mqm"
    weights = kept[0].weights if kept and (by_points or is_mqm) else None
    return score([piece.annotation for piece in kept], weights=weights)


def ranked(pieces: Sequence[Piece], draws: Draws) -> tuple[dict[str, Ranking], list[str]]:
    """Rankings by rating and by points, and why there is none where there is none."""
    kept = final_pieces(pieces)
    if not kept:
        return {}, ["No translation is judged yet."]
    names = {"": False}
    if kept[0].rating is not None and kept[0].has_marks:
        names = {"rating": False, "points": True}
    found, notes = {}, []
    for name, by_points in names.items():
        try:
            found[name] = rank(
                scores_of(kept, by_points=by_points), resamples=max(1, draws.resamples), seed=draws.seed
            )
        except AdjudgeError as error:
            notes.append(f"No ranking{f' by {name}' if name else ''}: {error}.")
    return found, list(dict.fromkeys(notes))


def systems_beside(pieces: Sequence[Piece], gold: Mapping[Key, float]) -> Beside | None:
    """Means by people and by gold; None with fewer than two systems or nothing judged by both."""
    groups = by_translation(piece for piece in final_pieces(pieces) if piece.key in gold)
    firsts = [group[0] for group in groups.values()]
    means = [float(np.mean([piece.score for piece in group])) for group in groups.values()]
    systems, ours, _ = matrix_of(firsts, means)
    _, theirs, _ = matrix_of(firsts, [gold[key] for key in groups])
    if len(systems) < 2 or not ours.shape[1]:
        return None
    return Beside(
        systems=systems,
        ours=ours.mean(axis=1),
        gold=theirs.mean(axis=1),
        cuts=tuple(cluster_cuts(ours)),
        n=ours.shape[1],
    )


def system_section(pieces: Sequence[Piece], beside: Beside | None) -> Section:
    """Clusters as the paper cuts them, and the order of systems beside gold's. The ESA paper, figure 4."""
    title = "Which systems differ?"
    kept = final_pieces(pieces)
    _, matrix, dropped = matrix_of(kept, [piece.score for piece in kept])
    notes = []
    if dropped:
        notes.append(f"Segments left out, not judged for every system: {dropped:,}.")
    if matrix.shape[0] < 2 or not matrix.shape[1]:
        return Section(
            name="systems", title=title, notes=(*notes, "No two systems are judged on the same segments.")
        )
    cuts = len(cluster_cuts(matrix)) + 1
    clusters = Result(value=float(cuts), n=matrix.shape[1])
    numbers = [Number(of="all", measure="clusters by rank sums", result=clusters, definition="paper")]
    if beside is not None:
        for measure, result in _order(beside).items():
            numbers.append(Number(of="with gold", measure=measure, result=result))
    return Section(name="systems", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _order(beside: Beside) -> dict[str, Result]:
    return {
        "Spearman of systems": spearman(beside.gold, beside.ours),
        "pairwise accuracy": pairwise_accuracy(beside.gold, beside.ours),
    }


# How few segments would do...


def subset_sizes(segments: int) -> list[int]:
    """Ten sizes up to all segments; none below five segments."""
    return sorted({round(segments * step / _STEPS) for step in range(1, _STEPS + 1)} - set(range(_LEAST)))


SubsetCurves = Mapping[Definition, tuple[Sequence[int], Sequence[float]]]
"""Whose definition to sizes of subsets, and the share of pairs of systems that each orders as all do."""


def subset_section(pieces: Sequence[Piece], draws: Draws) -> tuple[Section, SubsetCurves]:
    """How well some of the segments rank the systems as all of them do. The ESA paper, figure 9."""
    title = "How few segments would have ranked the systems so?"
    kept = final_pieces(pieces)
    _, matrix, dropped = matrix_of(kept, [piece.score for piece in kept])
    sizes = subset_sizes(matrix.shape[1])
    if matrix.shape[0] < 2 or len(sizes) < 2:
        few = "Too few segments are judged for every system."
        return Section(name="subsets", title=title, notes=(few,)), {}
    curves: dict[Definition, tuple[Sequence[int], Sequence[float]]] = {}
    numbers: list[Number] = []
    definitions: tuple[Definition, ...] = ("paper", "mended")
    for definition in definitions:
        is_paper = definition == "paper"
        amount = max(_LEAST_DRAWS, draws.resamples)
        curve = [subset_agreement(matrix, n, amount, draws.seed, as_paper=is_paper) for n in sizes]
        numbers += _curve_numbers(sizes, curve, definition)
        curves[definition] = sizes, curve
    lost = f"Segments left out, not judged for every system: {dropped:,}."
    notes = (lost,) if dropped else ()
    return Section(name="subsets", title=title, numbers=tuple(numbers), notes=notes), curves


def _curve_numbers(sizes: Sequence[int], curve: Sequence[float], definition: Definition) -> Iterator[Number]:
    measure = "pairs of systems ordered alike"
    for size, share in zip(sizes, curve, strict=True):
        result = Result(value=share, n=size)
        yield Number(of=f"{size} segments", measure=measure, result=result, definition=definition)
    mean = Result(value=float(np.mean(curve)), n=sizes[-1])
    yield Number(of="mean of all sizes", measure=measure, result=mean, definition=definition)
