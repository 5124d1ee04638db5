"""What an annotator's score is worth: the mean score of gold where its own is low, and where it is high."""

from __future__ import annotations

from typing import Final

import numpy as np

from adjudge.core.score import Interval
from adjudge.core.wording import count
from adjudge.meta.evaluation.binned import Bin, binned_means
from adjudge.report.findings import in_words
from adjudge.report.numbers import digits_for, number
from adjudge.report.parts.beside import Beside, Voice
from adjudge.report.parts.figures import curve_figure
from adjudge.report.parts.part import Part, file_stem

__all__ = ["calibration_part"]

_MOST: Final = 8
_METHOD: Final = (
    "Translations in tenths by an annotator’s score, from its lowest to its highest, and the mean score of "
    "{} in each; equal scores stand together. Bars: 95 % intervals over segments."
)
_FEWEST: Final = 20  # translations; with fewer a tenth is one or two


def calibration_part(found: Beside) -> Part | None:
    """Curves of everybody who can be measured by gold or people; None where nobody can."""
    truth = found.truth
    if truth is None:
        return None
    curves = {}
    for voice in found.measured[:_MOST]:
        bins = binned_means(truth.scores, voice.scores)
        if sum(b.n for b in bins) >= _FEWEST and len(bins) > 1:
            curves[voice.label] = (voice, bins)
    if not curves:
        return None
    figures = [
        curve_figure(
            f"calibration.{found.lp}.{file_stem(label)}",
            _title(label, bins, truth),
            bins,
            (label, truth.label),
            same_scale=_is_same_scale(voice, truth),
        )
        for label, (voice, bins) in curves.items()
    ]
    return Part(
        name="calibration",
        title="Calibration",
        finding=_finding({label: bins for label, (_, bins) in curves.items()}, truth),
        figures=tuple(figures),
        notes=(_METHOD.format(truth.label),),
    )


def _is_same_scale(voice: Voice, truth: Voice) -> bool:
    """Whether two score on one scale: marked errors by the same weights, or ratings of one protocol."""
    signatures = [next(iter(v.annotator.results.values())).scores.signature for v in (voice, truth)]
    weights = {signature.fields.get("weights") for signature in signatures}
    same = voice.annotator.protocol == truth.annotator.protocol != "metric"
    return same and voice.range == truth.range and len(weights) == 1


def _title(label: str, bins: list[Bin], truth: Voice) -> str:
    low, high = _ends(bins, truth)
    return f"From the lowest to the highest scores by {label}, {truth.label} goes from {low} to {high}"


def _ends(bins: list[Bin], truth: Voice) -> tuple[str, str]:
    known = truth.scores[~np.isnan(truth.scores)]
    digits = 1 if np.ptp(known) > 5 else digits_for([b.gold for b in bins], [b.interval for b in bins])
    return number(bins[0].gold, digits), number(bins[-1].gold, digits)


def _finding(curves: dict[str, list[Bin]], truth: Voice) -> str:
    """Whose scores tell good translations from bad ones."""
    telling = [label for label, bins in curves.items() if _tells(bins[0].interval, bins[-1].interval)]
    if not telling:
        return f"Nobody’s lowest scores are shown to be worse by {truth.label} than the highest"
    silent = [label for label in curves if label not in telling]
    does = "scores" if len(telling) == 1 else "score"
    lead = f"What {in_words(telling)} {does} lowest is worse by {truth.label} than what is scored highest"
    if not silent:
        return lead
    return f"{lead}; of {in_words(silent)} that is not shown" + (
        "" if len(silent) < 4 else f" ({count(len(silent), 'annotator')})"
    )


def _tells(low: Interval | None, high: Interval | None) -> bool:
    return low is not None and high is not None and low.high < high.low
