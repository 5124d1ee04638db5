"""What the rules call a finding among the categories of a judge."""

from pathlib import Path

import pytest

from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.runs.run import run


@pytest.mark.parametrize("judge", ["himate", "single-agent"])
@pytest.mark.parametrize(
    ("translation", "category"),
    [
        ("", "accuracy/omission"),
        ("The committee approved the new budget yesterday.", "accuracy/untranslated text"),
        ("I'm sorry, but I can't translate this text.", None),
    ],
)
def test_a_non_translation_is_never_clean(
    tmp_path: Path, judge: str, translation: str, category: str | None
) -> None:
    segment = Segment(
        segment="1",
        lp="en-de",
        source="The committee approved the new budget yesterday.",
        translations={"A": translation},
    )
    (record,) = run(judge, TestSet(name="one", segments=(segment,)), out=tmp_path / "run").records
    assert isinstance(record, Annotation)
    assert record.spans
    assert category is None or category in {span.category for span in record.spans}
