"""What people's verdicts and ratings come to, once several people judged the same thing.

`settle` makes gold of verdicts by majority, and says how sure it is. `gate_ratings` keeps, of what people
rated, the segments on which they agree (MENT, section 3.4); in a campaign, `campaigns.again` sends out again
what fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import numpy as np
from annotated_types import Ge

from adjudge.analysis.preferences import Comparisons, tabulate
from adjudge.analysis.study_agreement import (
    LEAST_SHARED,
    THRESHOLD,
    SegmentAgreement,
    segment_agreements,
)
from adjudge.core.frozen import frozen
from adjudge.core.record import Annotation, Preference, Record, Verdict, by_pair
from adjudge.core.verb import LanguagePair, OfMismatched, Option, Seed, settings
from adjudge.errors import DataError
from adjudge.stats.agreement_coefficients import MAJORITY, fleiss_kappa, majority
from adjudge.stats.bootstrap import Draws
from adjudge.stats.judged import Result

_LEAST: Final = 2  # people who must have judged a pair: one alone agrees with nobody


@frozen
class Agreed:
    """What people's verdicts on one criterion come to, in one language pair."""

    lp: str  # language pair
    criterion: str
    annotators: int  # people who gave any
    judged: int  # pairs that two people or more judged
    alone: int  # pairs that only one person judged; they are left out of everything
    kappa: Result  # Fleiss' kappa over all that were judged
    split: int  # pairs without a majority, left out from here on
    ranked: int  # pairs whose majority prefers one translation
    tied: int  # pairs whose majority does not
    easy: int
    hard: int
    gold: tuple[Preference, ...]  # the majority's verdict on each pair, flagged `easy` or `hard`

    @property
    def kept(self) -> int:
        return len(self.gold)


@settings
class SettleSettings:
    """How people's judgements are settled."""

    threshold: Annotated[float, Option(help="Correlation that every two raters must reach.")] = THRESHOLD
    least_shared: Annotated[
        int, Ge(2), Option(help="Fewest systems of a segment that both raters rated.")
    ] = LEAST_SHARED
    resamples: Annotated[int, Ge(0), Option(help="Draws of the interval of kappa; 0 for none.")] = 1000
    seed: Seed = 0
    lp: LanguagePair = None
    mismatched: OfMismatched = "refuse"


def settle(records: Iterable[Record], *, resamples: int = 0, seed: int = 0) -> tuple[Agreed, ...]:
    """Settle what people said, by language pair and criterion, in order of first appearance.

    `resamples`: draws of the interval of kappa, whole segments at a time; 0 for none.
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
    words: dict[float, Verdict] = {1.0: "A", 0.0: "E", -1.0: "B"}
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
        gold=tuple(
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
            for unit, verdict, is_easy in zip(table.units, verdicts.tolist(), easy.tolist(), strict=True)
            if verdict == verdict  # noqa: PLR0124 (NaN: no majority)
        ),
    )


@frozen
class Gated:
    """What people's ratings come to, in one language pair."""

    lp: str  # language pair
    segments: int  # all that were rated
    passed: int  # those on which every two people agree
    failed: int  # the others; they are to be rated again, or left out
    undefined: int  # segments with two people one of whom gave all systems one rating
    # segments where no two people rated enough of the same systems; nothing can be said of them
    unjudged: int
    each: tuple[SegmentAgreement, ...]  # agreement of each segment, in order of first appearance

    @property
    def failed_share(self) -> float | None:
        """Of those of which something can be said; 22.2 % in MENT before anything was rated again."""
        decided = self.passed + self.failed
        return self.failed / decided if decided else None


def gate_ratings(
    records: Iterable[Record], threshold: float = THRESHOLD, *, least_shared: int = LEAST_SHARED
) -> tuple[tuple[Gated, ...], list[Annotation]]:
    """Put ratings through the gate.

    What came of each language pair, and the ratings of the segments that passed.
    """
    rated = [r for r in records if isinstance(r, Annotation) and r.rating is not None and r.criterion is None]
    if not rated:
        raise DataError("there is no rating of a translation to put through the gate")
    found = segment_agreements(rated, threshold, least_shared=least_shared)
    passed = {(one.lp, one.segment) for one in found if one.passes}
    kept = [record for record in rated if (record.lp, record.segment) in passed]
    return tuple(_count(lp, each) for lp, each in by_pair(found).items()), kept


def _count(lp: str, found: list[SegmentAgreement]) -> Gated:
    outcomes = [one.passes for one in found]
    return Gated(
        lp=lp,
        segments=len(found),
        passed=outcomes.count(True),
        failed=outcomes.count(False),
        undefined=sum(one.undefined > 0 for one in found),
        unjudged=outcomes.count(None),
        each=tuple(found),
    )
