from dataclasses import replace

import numpy as np
import pytest

from adjudge.analysis.preferences import tabulate
from adjudge.core.record import Record
from adjudge.errors import DataError
from tests.scoring.records import failed, preferred, rated


def test_verdicts_are_arranged_whichever_way_round_the_pair_was() -> None:
    records = [
        preferred("a", "b", "A"),
        preferred("b", "a", "A", annotator="other"),
        preferred("a", "b", "E", "2", annotator="other"),
    ]
    found = tabulate(records, "overall")
    assert found.annotators == ("ann", "other")
    assert [u[:4] for u in found.units] == [("en-de", "1", "a", "b"), ("en-de", "2", "a", "b")]
    np.testing.assert_array_equal(found.labels, [[1, -1], [np.nan, 0]])
    assert not np.signbit(found.labels[1, 1])
    assert found.segments == [0, 1]


def test_failures_are_counted_and_other_criteria_left_out() -> None:
    records: list[Record] = [
        preferred("a", "b", "A", criterion="style"),
        failed("a", "b", segment="1", protocol="pairwise", criterion="overall"),
        failed("a", "c", segment="1", protocol="pairwise"),
        failed("a", "b", segment="1", protocol="pairwise", criterion="style"),
        rated("a", "1", 3),
    ]
    found = tabulate(records, "overall")
    assert (found.units, found.failed) == ((), {"ann": 2})
    assert found.failed_of == {"a": 2, "b": 1, "c": 1}
    assert found.systems == ("a", "b", "c")


def test_a_pair_compared_twice_by_one_annotator_is_an_error() -> None:
    with pytest.raises(DataError, match="'ann' compared b and a twice on segment '1' of en-de for overall"):
        tabulate([preferred("a", "b", "A"), preferred("b", "a", "B")], "overall")


def test_a_segment_without_a_document_is_a_document_of_its_own() -> None:
    records = [
        replace(preferred("a", "b", "A", "1"), document="d"),
        replace(preferred("a", "b", "A", "2"), document="d"),
        preferred("a", "b", "A", "3"),
        preferred("a", "b", "A", "4"),
    ]
    assert tabulate(records, "overall").documents == [0, 0, 1, 2]
