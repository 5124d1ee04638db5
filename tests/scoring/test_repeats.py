from dataclasses import replace

import pytest

from adjudge.analysis.segment_scores import score_records, without_repeats
from adjudge.core.record import Annotation, Record
from adjudge.errors import DataError
from tests.scoring.records import failed, preferred, rated

NOTE = (
    "{} were repeated: the same annotator had judged the translation before (flag duplicate). "
    "The first judgement counts."
)


def again(record: Annotation) -> Annotation:
    return replace(record, flags=("duplicate",))


FIRST = rated("a", "1", 80)
OTHERS = [rated("a", "2", 60), rated("b", "1", 50), rated("b", "2", 50)]


@pytest.mark.parametrize(
    "records",
    [[FIRST, again(rated("a", "1", 0)), *OTHERS], [again(rated("a", "1", 0)), FIRST, *OTHERS]],
    ids=["oldest first", "newest first"],
)
def test_of_a_repeated_item_the_judgement_without_the_flag_counts(records: list[Annotation]) -> None:
    assert without_repeats(records) == ([FIRST, *OTHERS], 1)
    scores = score_records(records)
    assert {s.system: s.score for s in scores.systems} == {"a": 70, "b": 50}
    assert NOTE.format("1 judgement").replace("were", "was") in scores.notes


def test_a_filler_that_stands_alone_counts_and_of_several_the_first() -> None:
    alone = again(FIRST)
    assert without_repeats([alone, again(rated("a", "1", 0)), *OTHERS]) == ([alone, *OTHERS], 1)
    assert without_repeats([alone, *OTHERS]) == ([alone, *OTHERS], 0)


def test_a_filler_that_somebody_else_judged_is_a_second_opinion() -> None:
    records = [FIRST, again(rated("a", "1", 0, annotator="ben"))]
    assert without_repeats(records) == (records, 0)
    assert score_records(records).systems[0].score == 40


def test_everything_else_stays() -> None:
    records: list[Record] = [
        FIRST,
        failed("b", segment="1"),
        preferred("a", "b", "A", segment="1"),
        again(FIRST),
    ]
    assert without_repeats(records) == (records[:3], 1)


def test_a_second_judgement_without_the_flag_is_still_an_error() -> None:
    with pytest.raises(DataError, match="judged a twice"):
        score_records([FIRST, FIRST, again(FIRST)])


def test_several_language_pairs_say_it_once() -> None:
    french = rated("a", "1", 10, lp="en-fr")
    scores = score_records([FIRST, again(FIRST), french, again(french)])
    assert scores.notes.count(NOTE.format("2 judgements")) == 1
    assert scores.lps["en-fr"].notes == ()
