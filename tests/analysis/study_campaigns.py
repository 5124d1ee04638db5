"""Campaigns small enough to count by hand."""

from typing import Any

from adjudge.core.protocol import Severity
from adjudge.core.record import ErrorSpan, Verdict
from adjudge.formats.campaign_export import CampaignFile, Kind, Submission
from adjudge.store.json_lines import span_to_json
from tests.analysis.records import preferred, rated

TEXT = "Das blaue Sofa steht im Garten."
DAMAGED = "Das schnelle Sofa steht im Garten."


def span(start: int, end: int, severity: Severity = "minor") -> ErrorSpan:
    return ErrorSpan(start=start, end=end, severity=severity, text=TEXT[start:end])


def missing(severity: Severity = "minor") -> ErrorSpan:
    return ErrorSpan(severity=severity, category="accuracy/omission", match="unplaced")


def work(
    person: str,
    system: str,
    segment: str,
    rating: float,
    spans: tuple[ErrorSpan, ...] = (),
    *,
    kind: Kind = "original",
    at: float = 0.0,
    active: float | None = None,
    given: tuple[ErrorSpan, ...] | None = None,
    withheld: tuple[ErrorSpan, ...] | None = None,
    is_last: bool = True,
) -> Submission:
    """One person's rating of one translation; `at` is when it began, and 10 seconds later it is done."""
    record = rated(system, segment, rating, annotator=person, protocol="esa", document="d", spans=spans)
    return Submission(
        person=person,
        protocol="esa",
        kind=kind,
        lp="en-de",
        segment=segment,
        document="d",
        records=(record,),
        texts={system: DAMAGED if kind == "check" else TEXT},
        originals={system: TEXT} if kind == "check" else {},
        source="The blue sofa stands in the garden.",
        started=at,
        ended=at + 10,
        active=active,
        given={} if given is None else {system: given},
        is_last=is_last,
        more={} if withheld is None else {"withheld": {system: [span_to_json(one) for one in withheld]}},
    )


def compare(person: str, segment: str, verdict: Verdict, first: str = "A") -> Submission:
    """One person's choice between the systems A and B; `first` stood first on the page."""
    record = preferred("A", "B", verdict, segment, annotator=person)
    texts = {first: "eins", "B" if first == "A" else "A": "zwei"}
    seen: dict[str, Any] = {"lp": "en-de", "segment": segment, "texts": texts}
    return Submission(person=person, protocol="pairwise", kind="original", records=(record,), **seen)


def campaign(*submissions: Submission, protocol: str = "esa", name: str = "small") -> CampaignFile:
    return CampaignFile(name=name, protocol=protocol, submissions=submissions)
