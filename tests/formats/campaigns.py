"""Submissions, items and rows for tests of the formats that hold a campaign."""

from typing import Any

from adjudge.core.record import Annotation, ErrorSpan
from adjudge.formats.campaign_export import Submission

ITEM: dict[str, Any] = {
    "mqm": [],
    "documentID": "doc#A",
    "sourceID": "set",
    "targetID": "set.A",
    "sourceText": "A source",
    "targetText": " a😀c ",
    "itemType": "TGT",
    "_item": "A | 4 | doc",
    "itemID": 1,
    "isCompleteDocument": False,
}
TASK = {"batchNo": 2, "randomSeed": 1, "sourceLanguage": "eng", "targetLanguage": "deu"}
ROW = "engdeu01{batch},set.A,{item},{kind},eng,deu,{score},{document},False,{spans},{start},{end}\n"


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


def row(**values: object) -> str:
    """One row of Appraise's export; `values` in place of the usual ones."""
    usual = {"batch": "02", "item": 1, "kind": "TGT", "score": 50, "document": "doc#A", "spans": "[]"}
    return ROW.format(**{**usual, "start": 10.0, "end": 20.0, **values})
