"""What was said of a translation as a number, as `meta.campaign` counts it once it is exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adjudge.campaigns.state import OMISSION
from adjudge.campaigns.typology import canonical_category
from adjudge.core.typology import find_weights

if TYPE_CHECKING:
    from adjudge.campaigns.protocols import CampaignProtocol
    from adjudge.campaigns.state import State
    from adjudge.core.typology import Severity

__all__ = ["score_of"]


def score_of(state: State, shown: int, protocol: CampaignProtocol) -> float | None:
    """The rating of a translation, or minus the points of its marks where the protocol rates nothing.

    Args:
        state: of a finished item.
        shown: index of the translation in the order shown.
        protocol: of the campaign.

    Returns:
        None where it was not rated.
    """
    if protocol.scale is not None:
        return state.translations[shown].rating
    weights = find_weights("mqm-google" if protocol.record == "mqm" else "esa-spans")
    return 0.0 - sum(weights.points(*error) for error in _errors(state, shown))


def _errors(state: State, shown: int) -> Iterator[tuple[Severity, str | None]]:
    part = state.translations[shown]
    for span in part.spans:
        yield span.severity, None if span.category is None else canonical_category(span.category)
    if part.missing is not None:
        yield part.missing.severity, canonical_category(part.missing.category or OMISSION)
    if any(state.is_non_translation[shown : shown + 1]):
        yield "major", "non-translation"
