"""Means by translation, document and system. A judgement that failed is in none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adjudge.core.score import SegmentScore, SystemScore
from adjudge.scoring.judgements import Judgement
from adjudge.scoring.means import mean

__all__ = ["DocumentScore", "document_scores", "failed_by_system", "segment_scores", "system_scores"]


@dataclass(frozen=True, kw_only=True)
class DocumentScore:
    """Mean over the judged segments of one document, translated by one system.

    Args:
        lp: language pair.
        document: its id.
        system: who translated it.
        score: the mean; None where nothing was judged.
        n: segments that the mean is over.
        failed: segments asked for and not obtained.
    """

    lp: str
    document: str
    system: str
    score: float | None
    n: int
    failed: int


def segment_scores(judgements: Iterable[Judgement], *, is_weighted: bool) -> list[SegmentScore]:
    """Score of each translation: the mean over its judgements; None where all failed.

    The document is the first that a record of the segment names. In order of first appearance.

    Args:
        judgements: of any number of segments and systems.
        is_weighted: whether a score weighs as much as it has judgements (comparisons do), or 1.
    """
    documents: dict[tuple[str, str], str] = {}
    numbers: dict[tuple[str, str, str], list[float]] = {}
    for lp, document, segment, system, _, value, _ in judgements:
        if not documents.get((lp, segment)):
            documents[lp, segment] = document
        found = numbers.setdefault((lp, segment, system), [])
        if value is not None:
            found.append(value)
    return [
        SegmentScore(
            lp=lp,
            segment=segment,
            system=system,
            score=mean(found),
            document=documents[lp, segment],
            weight=float(len(found)) if is_weighted else 1.0,
        )
        for (lp, segment, system), found in numbers.items()
    ]


def document_scores(segments: Iterable[SegmentScore]) -> list[DocumentScore]:
    """Mean over the judged segments of each document and system, in order of first appearance."""
    grouped: dict[tuple[str, str, str], list[float | None]] = {}
    for s in segments:
        grouped.setdefault((s.lp, s.document, s.system), []).append(s.score)
    return [_document_score(*key, scores) for key, scores in grouped.items()]


def _document_score(lp: str, document: str, system: str, scores: list[float | None]) -> DocumentScore:
    judged = [score for score in scores if score is not None]
    return DocumentScore(
        lp=lp,
        document=document,
        system=system,
        score=mean(judged),
        n=len(judged),
        failed=len(scores) - len(judged),
    )


def system_scores(
    numbers: Iterable[tuple[str, float | None]], failed: Mapping[str, int]
) -> list[SystemScore]:
    """Mean of each system, in order of first appearance.

    Args:
        numbers: system and the score of one of its segments, or what it earned in one comparison.
        failed: system to judgements asked for and not obtained.
    """
    grouped: dict[str, list[float]] = {}
    for system, number in numbers:
        found = grouped.setdefault(system, [])
        if number is not None:
            found.append(number)
    return [
        SystemScore(system=system, score=mean(found), n=len(found), failed=failed.get(system, 0))
        for system, found in grouped.items()
    ]


def failed_by_system(judgements: Iterable[Judgement]) -> Counter[str]:
    """Count each system's failed judgements."""
    return Counter(j.system for j in judgements if j.number is None)
