"""A run directory: what was asked, of what, and what came out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import Failure, Preference, Record
from adjudge.core.scores import RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import INFO, RECORDS, TEST_SET, read_run, read_run_info, write_run_info

INFO_OF_RUN = RunInfo(
    signature=Signature("m-mad", {"model": "a|b%", "version": "0.1.0"}),
    kind="judge",
    annotator="m-mad",
    protocol="mqm",
    weights="m-mad",
    settings={"rounds": 3, "nested": {"a": [1, None]}},
    test_set={"name": "wmt23", "segments": 557},
    counts={"judged": 3, "failed": 1},
    failures={"empty": 1},
    calls={"asked": 4},
    tokens={"prompt": 10},
    price=0.25,
    currency="EUR",
    times={"started": "2026-11-20T10:00:00+00:00"},
    corpus_scores={"en-de": {"A": 31.5}},
    secret="0f",
)


def test_what_a_run_was_comes_back_as_it_was_written(tmp_path: Path) -> None:
    for info in (INFO_OF_RUN, replace(INFO_OF_RUN, price=None, weights=None, corpus_scores={})):
        write_run_info(tmp_path, info)
        assert read_run_info(tmp_path) == info
        told = json.loads((tmp_path / INFO).read_text())
        assert told["signature"] == "m-mad|model:a%7Cb%25|version:0.1.0", "one line for people"


def test_a_run_is_read_with_its_test_set_and_records(tmp_path: Path) -> None:
    test_set = TestSet(name="wmt23", segments=(Segment(segment="1", lp="en-de", source="a"),))
    failure = Failure(
        lp="en-de", segment="1", systems=("A",), annotator="m-mad", protocol="mqm", reason="empty"
    )
    info = replace(INFO_OF_RUN, counts={"judged": 0, "failed": 1})
    write_run_info(tmp_path, info)
    write_test_set(tmp_path / TEST_SET, test_set)
    write_records(tmp_path / RECORDS, [failure])
    run = read_run(tmp_path)
    assert (run.info, run.test_set, run.records) == (info, test_set, (failure,))


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_run_whose_records_are_not_those_counted_is_refused(tmp_path: Path, kept: int) -> None:
    test_set = TestSet(name="wmt23", segments=(Segment(segment="1", lp="en-de", source="a"),))
    compared: list[Record] = [
        Preference(
            lp="en-de", segment="1", systems=("A", "B"), annotator="j", criterion=criterion, verdict="A"
        )
        for criterion in ("fluency", "overall")
    ]
    failure = Failure(
        lp="en-de", segment="1", systems=("A", "C"), annotator="j", protocol="pairwise", reason="empty"
    )
    write_run_info(tmp_path, replace(INFO_OF_RUN, counts={"judged": 2, "failed": 1, "pending": 0}))
    write_test_set(tmp_path / TEST_SET, test_set)
    write_records(tmp_path / RECORDS, [*compared, failure])
    assert len(read_run(tmp_path).records) == 3
    write_records(tmp_path / RECORDS, [*compared, failure][:kept])
    with pytest.raises(DataError, match=r"judged and 0 failed, where run\.json counts 2 judged and 1 failed"):
        read_run(tmp_path)


def test_a_folder_that_is_no_whole_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"not a run directory: it has no run\.json"):
        read_run(tmp_path)
    write_run_info(tmp_path, INFO_OF_RUN)
    with pytest.raises(DataError, match="not finished: run the same `adjudge run` command again"):
        read_run(tmp_path)
    (tmp_path / INFO).write_text((tmp_path / INFO).read_text()[:100])
    with pytest.raises(DataError, match="not JSON"):
        read_run_info(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema_version must be 1, got 2"),
        ({"schema_version": None}, "schema_version must be 1, got None"),
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"kind": "human"}, "'kind' must be judge, metric; got 'human'"),
        ({"counts": {"judged": "3"}}, "'judged' must be a whole number"),
        ({"price": "cheap"}, "'price' must be a number"),
        ({"corpus_scores": {"en-de": {"A": None}}}, "'A' must be a number, got null"),
        ({"corpus_scores": {"en-de": 3}}, "'en-de' must be an object"),
        ({"times": {"started": 3}}, "'times' must hold texts"),
    ],
)
def test_a_damaged_run_json_is_an_error(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_run_info(tmp_path, INFO_OF_RUN)
    value = json.loads((tmp_path / INFO).read_text())
    (tmp_path / INFO).write_text(json.dumps({**value, **change}))
    with pytest.raises(DataError, match=message):
        read_run_info(tmp_path)
