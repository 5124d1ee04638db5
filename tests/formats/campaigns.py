"""Submissions for tests of the formats that hold a campaign."""

from typing import Any

from adjudge.core.record import Annotation, ErrorSpan
from adjudge.formats.campaign_export import Submission


def submission(
    person: str, task: int, system: str, text: str, *spans: ErrorSpan, **fields: Any
) -> Submission:
    """One translation, marked and rated; `fields` in place of the usual ones."""
    record = Annotation(
        lp="en-de",
        segment="3",
        system=system,
        annotator=person,
        protocol="esa",
        document="d",
        rating=60.0,
        spans=spans,
    )
    usual: dict[str, Any] = {"lp": "en-de", "segment": "3", "document": "d", "source": "A sofa"}
    usual |= {"person": person, "protocol": "esa", "kind": "original", "task": task, "records": (record,)}
    usual |= {"texts": {system: text}, "started": 10.0 * task, "ended": 10.0 * task + 5}
    return Submission(**{**usual, **fields})
