"""What a file or a folder holds: the one result of every reader, and what every writer is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from adjudge.core.language import lp_among, one_spelling
from adjudge.core.record import Annotation, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.campaign_export import CampaignFile, campaign_test_set, final_records

__all__ = ["Content", "ContentWithTexts", "annotations_among", "content_of", "of_pair", "respelled"]

R_co = TypeVar("R_co", bound=Record, covariant=True)
C = TypeVar("C", bound="Content[Any]")
P = TypeVar("P", bound=Record | Segment)


@dataclass(frozen=True, kw_only=True)
class Content(Generic[R_co]):
    """What was read, or is written.

    Args:
        test_set: texts; None where there are none.
        records: judgements in the order of the file.
        met: what was odd or left out, and how often.
        campaign: who judged what when; None where the file does not say it, or nobody asked for it.
        origin: file that the texts were read from, where judgements can be written into it.
        is_of_metrics: whether its annotators are metrics, over several of which a mean says nothing.
    """

    test_set: TestSet | None = None
    records: Sequence[R_co] = ()
    met: Counter[str] = field(default_factory=Counter)
    campaign: CampaignFile | None = None
    origin: Path | None = None
    is_of_metrics: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What was odd or left out, for people."""
        return tuple(f"{amount:,} {what}" for what, amount in self.met.items())


@dataclass(frozen=True, kw_only=True)
class ContentWithTexts(Content[R_co]):
    """The same of a format that always has texts."""

    test_set: TestSet


def content_of(campaign: CampaignFile) -> Content[Record]:
    """A campaign with its texts and with those of its judgements that count."""
    records, met = final_records(campaign.submissions)
    return Content(test_set=campaign_test_set(campaign), records=records, met=met, campaign=campaign)


def of_pair(content: C, lp: str | None, where: object) -> C:
    """Keep one language pair, all of them without one; judgements spell it as the texts that they are about.

    Args:
        content: what was read.
        lp: the language pair that is wanted.
        where: it was read from, for errors.

    Raises:
        UsageError: nothing is of that pair; names those that are there.
    """
    test_set, records = content.test_set, content.records
    texts = () if test_set is None else test_set.lps
    if records:
        there = dict.fromkeys(record.lp for record in records)
        _, spelled = one_spelling([texts, there])
        records = respelled(records, spelled)
        there = dict.fromkeys(spelled.get(each, each) for each in there)
        lp = lp_among(lp, [*texts, *there], where)
        if lp is not None and there.keys() - {lp}:
            records = tuple(record for record in records if record.lp == lp)
    if test_set is not None and (lp in texts or not records):
        test_set = test_set.select(lp=lp) if texts else test_set
    return replace(content, records=records, test_set=test_set)


def respelled(items: Sequence[P], spelled: Mapping[str, str]) -> Sequence[P]:
    """Segments or records whose language pairs are spelled in another way."""
    if not spelled:
        return items
    return tuple(replace(item, lp=spelled.get(item.lp, item.lp)) for item in items)


def annotations_among(
    records: Iterable[Record], left_out: Counter[str], lp: str | None = None
) -> Iterator[Annotation]:
    """Give the records that a format of annotations can hold, and count the others.

    Args:
        records: of any kind.
        left_out: what the format cannot hold and how often, which is added to.
        lp: the language pair of a format that has one.
    """
    for record in records:
        if lp is not None and record.lp != lp:
            left_out["records of other language pairs"] += 1
        elif isinstance(record, Annotation):
            yield record
        else:
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1
