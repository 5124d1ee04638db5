"""What a file or a folder holds: the one result of every reader, and what every writer is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from adjudge.core.record import Record
from adjudge.core.segment import TestSet
from adjudge.formats.campaign_export import CampaignFile, campaign_test_set, final_records

__all__ = ["Content", "ContentWithTexts", "content_of"]

R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Content(Generic[R_co]):
    """What was read, or is written.

    Args:
        test_set: texts; None where there are none.
        records: judgements in the order of the file.
        met: what was odd or left out, and how often.
        campaign: who judged what when; None where the file does not say it, or nobody asked for it.
        origin: file that the texts were read from, where judgements can be written into it.
    """

    test_set: TestSet | None = None
    records: Sequence[R_co] = ()
    met: Counter[str] = field(default_factory=Counter)
    campaign: CampaignFile | None = None
    origin: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ContentWithTexts(Content[R_co]):
    """The same of a format that always has texts."""

    test_set: TestSet


def content_of(campaign: CampaignFile) -> Content[Record]:
    """A campaign with its texts and with those of its judgements that count."""
    records, met = final_records(campaign.submissions)
    return Content(test_set=campaign_test_set(campaign), records=records, met=met, campaign=campaign)
