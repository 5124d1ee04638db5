"""What a file or a folder holds: the one result of every reader, and what every writer is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from adjudge.core.frozen import frozen
from adjudge.core.language import lp_among, one_spelling
from adjudge.core.names import look_alikes
from adjudge.core.protocol import Severity, find_protocol, find_severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError, warn
from adjudge.formats.campaign_export import UNDECIDED_MARK, CampaignFile, campaign_test_set, final_records

R_co = TypeVar("R_co", bound=Record, covariant=True)
P = TypeVar("P", bound=Record | Segment)


@frozen
class Content(Generic[R_co]):
    """What was read, or is written."""

    test_set: TestSet | None = None  # texts; None where there are none
    records: Sequence[R_co] = ()  # judgements in the order of the file
    met: Counter[str] = field(default_factory=Counter)  # what was odd or left out, and how often
    # who judged what when; None where the file does not say it, or nobody asked for it
    campaign: CampaignFile | None = None
    origin: Path | None = None  # file that the texts were read from, where judgements can be written into it
    # whether its annotators are metrics, over several of which a mean says nothing
    is_of_metrics: bool = False
    is_unnamed: bool = False  # whether nothing in the file names its annotator, who is called by the file

    @property
    def notes(self) -> tuple[str, ...]:
        """What was odd or left out, for people."""
        return tuple(f"{amount:,} {what}" for what, amount in self.met.items())


@frozen
class ContentWithTexts(Content[R_co]):
    """The same of a format that always has texts."""

    test_set: TestSet


def content_of(campaign: CampaignFile) -> Content[Record]:
    """A campaign with its texts and with those of its judgements that count."""
    records, met = final_records(campaign.submissions)
    return Content(test_set=campaign_test_set(campaign), records=records, met=met, campaign=campaign)


def as_read(content: Content[Any], lp: str | None, where: object) -> Content[Any]:
    """What was read, or one language pair of it; warns of its names.

    Judgements spell their language pair as the texts that they are about.

    `lp`: the language pair that is wanted; None for all of them.
    """
    test_set, records = content.test_set, content.records
    texts = () if test_set is None else test_set.lps
    own = dict.fromkeys(map(attrgetter("lp"), records))
    _, spelled = one_spelling([texts, own])
    own = dict.fromkeys(spelled.get(each, each) for each in own)
    lp = lp_among(lp, [*texts, *own], where) if texts or own else None
    if spelled or (lp is not None and own.keys() - {lp}):
        records = tuple(record for record in respelled(records, spelled) if lp in {None, record.lp})
    if test_set is not None and lp in texts:
        test_set = test_set.select(lp=lp)
    warn_of_names(where, test_set, records)
    return replace(content, records=records, test_set=test_set)


def respelled(items: Iterable[P], spelled: Mapping[str, str]) -> tuple[P, ...]:
    """Segments or records whose language pairs are spelled in another way."""
    return tuple(replace(item, lp=spelled[item.lp]) if item.lp in spelled else item for item in items)


def warn_of_names(where: object, texts: Iterable[Segment] | None, records: Iterable[Record]) -> None:
    """Warn of names that look like one and are two, or that mix scripts.

    A segment that is named by its own text is none that somebody has named.
    """
    segments, judged = tuple(texts or ()), tuple(records)
    unnamed = {s.segment for s in segments if s.source and s.source in s.segment}
    found = {
        "system": chain(*(s.translations for s in segments), *_each("systems", judged)),
        "segment": (name for name in _each("segment", segments, judged) if name not in unnamed),
        "document": _each("document", segments, judged),
        "annotator": _each("annotator", judged),
    }
    for kind, names in found.items():
        if told := list(look_alikes(names, kind)):
            warn(f"{where}: {'; '.join(told[:3])}{f'; and {len(told) - 3} more' if len(told) > 3 else ''}")


def _each(kind: str, *named: Iterable[object]) -> dict[Any, None]:
    return dict.fromkeys(map(attrgetter(kind), chain(*named)))


def annotations_among(
    records: Iterable[Record], left_out: Counter[str], lp: str | None = None, *, by_marks: bool = False
) -> Iterator[Annotation]:
    """Give the records that a format of annotations can hold, and count the others."""
    for record in records:
        if lp is not None and record.lp != lp:
            left_out["records of other language pairs"] += 1
        elif by_marks and isinstance(record, Annotation) and not _is_told_by_marks(record):
            left_out["judgements that do not mark their errors"] += 1
        elif isinstance(record, Annotation):
            yield record
        else:
            left_out["failures" if isinstance(record, Failure) else "preferences"] += 1


def _is_told_by_marks(record: Annotation) -> bool:
    marks_all = find_protocol(record.protocol).has_spans and not any(record.counts.values())
    return bool(record.spans) or marks_all


def by_translation(
    records: Iterable[Record],
    left_out: Counter[str],
    what: str,
    lp: str | None = None,
    *,
    by_marks: bool = False,
) -> dict[tuple[str, str, str], Annotation]:
    """The annotations of `annotations_among`, by language pair, segment and system."""
    found: dict[tuple[str, str, str], Annotation] = {}
    for record in annotations_among(records, left_out, lp, by_marks=by_marks):
        if (first := found.setdefault((record.lp, record.segment, record.system), record)) is not record:
            raise UsageError(
                f"segment {record.segment!r} by {record.system!r} was judged twice, by {first.annotator!r} "
                f"and {record.annotator!r}; {what} holds one judgement: choose one with --annotator"
            )
    return found


def placed(text: str | None, start: int | None, end: int | None, **said: Any) -> ErrorSpan:  # noqa: ANN401 (its fields)
    """Make an error of a mark, with the words at its place; it has none without start and end."""
    if start is None or end is None:
        return ErrorSpan(match="unplaced", **said)
    return ErrorSpan(start=start, end=end, text=(text or "")[start:end], **said)


def read_severity(said: object) -> tuple[Severity, str]:
    """Severity of a mark that people made, and its note; one that was being removed is neutral."""
    severity = find_severity(said) if isinstance(said, str) else None
    if severity is None and said != UNDECIDED_MARK:
        raise DataError(f"a severity must be minor, major, critical or undecided, got {said!r}")
    return severity or "neutral", "" if severity else UNDECIDED_MARK
