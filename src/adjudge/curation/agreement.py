"""What people's verdicts come to: gold by majority, and how sure it is.

FiRE, section 3.2, tables 1 and 18: kappa over all pairs first; then pairs without a majority, such as
those with three different verdicts of three people, are left out. Of the others, a pair is ranked or tied
by its majority, easy where all people agree, and hard where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from adjudge.core.annotation import Preference, Record, Verdict
from adjudge.errors import DataError
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.agreement.kappa import fleiss_kappa
from adjudge.meta.agreement.percentage import MAJORITY, majority
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.ranking.comparisons import Comparisons, tabulate

__all__ = ["Agreed", "settle"]

_LEAST: Final = 2  # people who must have judged a pair: one alone agrees with nobody


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """What people's verdicts on one criterion come to, in one language pair.

    Args:
        lp: language pair.
        criterion: of the verdicts.
        annotators: people who gave any.
        judged: pairs that two people or more judged.
        alone: pairs that only one person judged; they are left out of everything.
        kappa: Fleiss' kappa over all that were judged.
        split: pairs without a majority, left out from here on.
        ranked: pairs whose majority prefers one translation.
        tied: pairs whose majority does not.
        easy: pairs on which all agree.
        hard: the others.
        gold: the majority's verdict on each pair, flagged `easy` or `hard`.
    """

    lp: str
    criterion: str
    annotators: int
    judged: int
    alone: int
    kappa: Result
    split: int
    ranked: int
    tied: int
    easy: int
    hard: int
    gold: tuple[Preference, ...]

    @property
    def kept(self) -> int:
        """Pairs with a majority."""
        return len(self.gold)


def settle(records: Iterable[Record], *, resamples: int = 0, seed: int = 0) -> tuple[Agreed, ...]:
    """Settle what people said, by language pair and criterion, in order of first appearance.

    Args:
        records: of all people; what is no preference is left out.
        resamples: draws of the interval of kappa, whole segments at a time; 0 for none.
        seed: of those draws.

    Raises:
        DataError: no preference, or one person compared a pair twice.
    """
    preferences = [record for record in records if isinstance(record, Preference)]
    if not preferences:
        raise DataError("there is no preference to settle")
    kinds = dict.fromkeys((p.lp, p.criterion) for p in preferences)
    return tuple(
        _settle(lp, tabulate((p for p in preferences if p.lp == lp), criterion), resamples, seed)
        for lp, criterion in kinds
    )


def _settle(lp: str, table: Comparisons, resamples: int, seed: int) -> Agreed:
    labels = table.labels
    judged = (~np.isnan(labels)).sum(axis=1)
    several = judged >= _LEAST
    said = np.where(several[:, None], labels, np.nan)
    verdicts = majority(said)
    settled = ~np.isnan(verdicts)
    is_missing = np.isnan(said)
    easy = settled & (np.where(is_missing, -2, said).max(axis=1) == np.where(is_missing, 2, said).min(axis=1))
    return Agreed(
        lp=lp,
        criterion=table.criterion,
        annotators=len(table.annotators),
        judged=int(several.sum()),
        alone=int((judged == 1).sum()),
        kappa=fleiss_kappa(said, Draws(groups=table.segments, resamples=resamples, seed=seed)),
        split=int((several & ~settled).sum()),
        ranked=int((np.abs(verdicts[settled]) == 1).sum()),
        tied=int((verdicts[settled] == 0).sum()),
        easy=int(easy.sum()),
        hard=int((settled & ~easy).sum()),
        gold=tuple(_gold(table, verdicts, easy.tolist())),
    )


def _gold(table: Comparisons, verdicts: Floats, easy: Sequence[bool]) -> list[Preference]:
    words: dict[float, Verdict] = {1.0: "A", 0.0: "E", -1.0: "B"}
    return [
        Preference(
            lp=unit.lp,
            segment=unit.segment,
            document=unit.document,
            systems=(unit.first, unit.second),
            annotator=MAJORITY,
            criterion=table.criterion,
            verdict=words[verdict],
            flags=("easy" if is_easy else "hard",),
        )
        for unit, verdict, is_easy in zip(table.units, verdicts.tolist(), easy, strict=True)
        if verdict == verdict  # noqa: PLR0124 (NaN: no majority)
    ]
