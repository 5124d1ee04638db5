"""`meta` with a test set, gold and scores that are in memory: the numbers of the same things in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge import examples
from adjudge.core.record import Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.stats.judged import Floats

GOLD_FILE, OTHER_FILE = str(examples.path("gold.mqm.jsonl")), str(examples.path("gold.esa.jsonl"))


def as_array(test_set: TestSet, records: Sequence[Record]) -> Floats:
    """Systems by segments, in the order of the test set."""
    scores = {(s.system, s.segment): s.score for s in adjudge.score(records, lp="en-de").segments}
    rows = [[scores[system, s.segment] for s in test_set] for system in test_set.systems]
    return np.array(rows, dtype=np.float64)


def as_frame(records: Sequence[Record]) -> pl.DataFrame:
    segments = adjudge.score(records, lp="en-de").segments
    return pl.DataFrame([{"system": s.system, "segment": s.segment, "score": s.score} for s in segments])


@pytest.mark.parametrize("kind", ["array", "list of records", "polars", "pandas", "by language pair"])
def test_scores_in_memory_give_the_numbers_of_their_file(kind: str) -> None:
    test_set = adjudge.load(examples.path("test_set.jsonl"), lp="en-de")
    other, gold = adjudge.read_records(OTHER_FILE), adjudge.read_records(GOLD_FILE)
    ways: dict[str, Any] = {
        "array": lambda: as_array(test_set, other),
        "list of records": lambda: other,
        "polars": lambda: as_frame(other),
        "pandas": lambda: as_frame(other).to_pandas(),
        "by language pair": lambda: {"en-de": as_array(test_set, other)},
    }
    given = ways[kind]()
    read = adjudge.meta(
        examples.path("test_set.jsonl"), "en-de", gold=f"g={GOLD_FILE}", scores=[f"m={OTHER_FILE}"]
    )
    for golds in ({"g": gold}, {"g": GOLD_FILE}, {"g": as_frame(gold)}):
        held = adjudge.meta(test_set, gold=golds, scores={"m": given})
        assert held.metrics[0].results == read.metrics[0].results
        assert (held.gold, held.n_segments) == (read.gold, read.n_segments)
    assert adjudge.meta(test_set, gold=gold, scores={"m": given}).gold == "gold"


def test_a_run_in_memory_keeps_its_weights_and_its_failures(tmp_path: Path) -> None:
    test_set = adjudge.load(examples.path("test_set.jsonl"), lp="en-de").select(systems=["Alder", "Birch"])
    kept = adjudge.run("gemba-mqm", test_set, out=tmp_path / "run", max_failed=1)
    read = adjudge.meta(test_set, gold={"g": GOLD_FILE}, scores={"m": tmp_path / "run"})
    held = adjudge.meta(test_set.to_polars(), gold={"g": GOLD_FILE}, scores={"m": kept})
    assert held.metrics == read.metrics


@given(seed=st.integers(0, 2**32 - 1), holes=st.integers(0, 8))
@settings(max_examples=15)
def test_an_array_is_read_by_the_order_of_the_test_set(seed: int, holes: int) -> None:
    draw = np.random.default_rng(seed)
    systems = [f"s{n}" for n in draw.permutation(4)]
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="a", translations=dict.fromkeys(systems, "b"))
        for n in range(7)
    )
    test_set = TestSet(name="t", segments=segments)
    gold, scores = draw.normal(size=(2, 4, 7))
    scores.flat[draw.choice(28, holes, replace=False)] = np.nan
    found = adjudge.meta(test_set, gold=gold, scores={"m": scores}, measures="seg_pearson", average="none")
    (metric,) = found.metrics
    kept = ~np.isnan(scores)
    assert metric.n == kept.sum()
    assert metric.failed == holes
    expected = np.corrcoef(gold[kept], scores[kept])[0, 1]
    assert metric.results["seg_pearson"].value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("array", "error", "words"),
    [
        (np.zeros((16, 4)), UsageError, "must be an array of 4 systems by 16 segments.*got one of 16 by 4"),
        (np.zeros(3), UsageError, "got one of 3"),
        (np.full((4, 16), np.nan), DataError, "have no number"),
        (np.full((4, 16), np.inf), DataError, "have infinity"),
        (3, UsageError, "judgements are wanted"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(array: Any, error: type[Exception], words: str) -> None:
    test_set = adjudge.load(examples.path("test_set.jsonl"), lp="en-de")
    with pytest.raises(error, match=words):
        adjudge.meta(test_set, gold=GOLD_FILE, scores={"m": array})
