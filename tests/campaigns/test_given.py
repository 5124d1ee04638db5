"""Spans marked beforehand are made to fit the text shown, and what did not fit is said."""

from typing import Any

import pytest

from adjudge.campaigns.tasks import Given
from adjudge.core.record import Annotation, ErrorSpan, Failure
from adjudge.core.segment import Segment
from adjudge.errors import DataError, DataWarning, UsageError
from tests.campaigns.conftest import MakeCampaign

TEXT = "Der Hund 🐕 schläft."
SEGMENT = Segment(segment="1", lp="en-de", source="The dog sleeps.", translations={"A": TEXT, "B": TEXT})


def annotation(*spans: ErrorSpan, **more: Any) -> Annotation:
    fields = {"lp": "en-de", "segment": "1", "system": "A", "annotator": "gemba", "protocol": "mqm", **more}
    return Annotation(spans=spans, **fields)


def span(start: int | None, end: int | None, **more: Any) -> ErrorSpan:
    return ErrorSpan(start=start, end=end, **{"severity": "minor", "text": "", **more})


OF_THE_SOURCE = "marks in the source, left out because people are shown those of the translation alone: 1"
WITHOUT_A_PLACE = "marks without a place in the translation (something missing, or not found), left out: 1"


@pytest.mark.parametrize(
    ("marked", "shown", "said"),
    [
        (span(4, 8, text="Hund"), (4, 8, "Hund", "minor"), ()),
        (span(9, 10, text="🐕", severity="major"), (9, 10, "🐕", "major"), ()),
        (span(4, 8, severity="critical"), (4, 8, "Hund", "major"), ()),
        (
            span(11, 99, text="schläft. Und"),
            (11, 19, "schläft.", "minor"),
            ("marks that reach beyond the end of their translation, cut there: 1",),
        ),
        (span(19, 21), None, ("marks outside of their translation, left out: 1",)),
        (span(4, 4), None, ("marks outside of their translation, left out: 1",)),
        (span(4, 8, text="Katz"), None, ("marks of another text than the translation, left out: 1",)),
        (span(4, 8, text="hund", match="normalised"), (4, 8, "Hund", "minor"), ()),
        (span(0, 3, side="source"), None, (OF_THE_SOURCE,)),
        (span(None, None, match="unplaced"), None, (WITHOUT_A_PLACE,)),
        (span(None, None, match="unmatched", text="Hnd"), None, (WITHOUT_A_PLACE,)),
        (
            span(4, 8, severity="neutral"),
            None,
            ("marks of a severity that the protocol does not have, left out: 1",),
        ),
    ],
)
def test_a_mark_is_shown_or_left_out_with_a_word(
    marked: ErrorSpan, shown: tuple[int, int, str, str] | None, said: tuple[str, ...]
) -> None:
    given = Given([annotation(marked)], ("minor", "major"))
    found = given.of(SEGMENT, "A")
    assert found is not None
    fields = [(s["start"], s["end"], s["text"], s["severity"]) for s in found]
    assert fields == ([] if shown is None else [shown])
    assert given.warnings == said


def test_clean_is_not_the_same_as_never_annotated() -> None:
    given = Given([annotation()], ("minor",))
    assert given.of(SEGMENT, "A") == []
    assert given.of(SEGMENT, "B") is None
    assert given.warnings == ("translations without a stored annotation, shown without marks: 1",)


def test_marks_stand_in_order() -> None:
    given = Given([annotation(span(9, 10), span(0, 8), span(0, 3))], ("minor",))
    assert [(s["start"], s["end"]) for s in given.of(SEGMENT, "A") or ()] == [(0, 3), (0, 8), (9, 10)]


def test_failures_annotate_nothing() -> None:
    failure = Failure(
        lp="en-de", segment="1", systems=("A",), annotator="x", protocol="mqm", reason="empty", detail=""
    )
    assert len(Given([failure], ("minor",))) == 0


def test_two_annotators_of_one_translation_are_refused() -> None:
    with pytest.raises(DataError, match="'gemba' and 'other'; give one annotator's"):
        Given([annotation(), annotation(annotator="other")], ("minor",))


def test_a_campaign_says_what_did_not_fit(make_campaign: MakeCampaign) -> None:
    records = [annotation(span(0, 999), segment="1.1", system="Alder")]
    with pytest.warns(DataWarning) as told:
        make_campaign("esa-ai", given=records)
    assert [str(one.message) for one in told] == [
        "translations without a stored annotation, shown without marks: 11",
        "marks that reach beyond the end of their translation, cut there: 1",
    ]


@pytest.mark.parametrize(("protocol", "given"), [("esa-ai", None), ("esa-ai", []), ("esa", [annotation()])])
def test_given_spans_go_with_esa_ai_alone(make_campaign: MakeCampaign, protocol: str, given: Any) -> None:
    with pytest.raises(UsageError, match="marked beforehand"):
        make_campaign(protocol, given=given)
