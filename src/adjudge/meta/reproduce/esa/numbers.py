"""The numbers of the ESA paper by the names that `papers/esa.toml` has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from adjudge.meta.reproduce.esa.figures import (
    distributions,
    major_weights,
    rankings,
    speed,
    subset_consistency,
    times,
    wmt_systems,
)
from adjudge.meta.reproduce.esa.study import Study
from adjudge.meta.reproduce.esa.tables import (
    Numbers,
    attention_checks,
    correlations_of_features,
    counts,
    coverage,
    protocols,
    repeated_errors,
    score_with_gold,
    segment_agreement,
)
from adjudge.meta.reproduce.inputs import Inputs, MissingInputError
from adjudge.meta.reproduce.papers import Definition

__all__ = ["CAMPAIGN_MEASURES", "campaign_value"]

_WMT: Final = ("en-de.mqm", "en-de.da-sqm", "zh-en.mqm", "zh-en.da-sqm")

CAMPAIGN_MEASURES: Final[Mapping[str, Callable[[Study], Numbers]]] = {
    "campaign_counts": counts,
    "campaign_protocols": protocols,
    "campaign_tau_c": score_with_gold,
    "campaign_coverage": coverage,
    "campaign_agreement": segment_agreement,
    "campaign_repeated_errors": repeated_errors,
    "campaign_attention": attention_checks,
    "campaign_features": correlations_of_features,
    "campaign_distributions": distributions,
    "campaign_rankings": rankings,
    "campaign_speed": speed,
    "campaign_times": times,
    "campaign_major_weights": major_weights,
    "campaign_subsets": subset_consistency,
    **{f"campaign_{name}": partial(wmt_systems, name=name) for name in _WMT},
}
"""What a measure computes: all numbers of one table or figure at once."""


def campaign_value(definition: Definition, row: str, source: str, inputs: Inputs) -> float:
    """Compute a cell about the campaigns.

    Args:
        definition: whose measure is one of `CAMPAIGN_MEASURES`; its criterion names the column.
        row: name of the row.
        source: name of the input; beside its place stands WMT23's test set.
        inputs: the files.

    Raises:
        MissingInputError: a file is not there, or there is no such number.
        DataError: a file is not what it should be.
    """
    place = inputs.paper.inputs[source].place
    folder = inputs.place(place, "240315rc5ESA.scores.csv")

    def study(_: Path) -> Study:
        return Study(folder, inputs.place("wmt23", "human-scores/en-de.mqm.seg.score"), inputs.told)

    def numbers(_: Path) -> Numbers:
        return CAMPAIGN_MEASURES[definition.measure](inputs.content(folder, study))

    found = inputs.content(folder / definition.measure, numbers)
    if (row, str(definition.criterion)) not in found:
        raise MissingInputError(f"{row} of {definition.criterion}, which the definition does not give")
    return found[row, str(definition.criterion)]
