"""A run from Python says when more of it failed than may, and keeps what it has."""

import asyncio
import warnings
from pathlib import Path

import pytest

import adjudge
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.store.run_directory import read_run
from tests.runs.conftest import Rater, Scripted

MANY = 10


def judged(out: Path, model: Scripted, failed: int, max_failed: float, *, in_loop: bool = False) -> Run:
    """Ten translations, the first of which get replies that are no number."""
    model.texts |= {f"Satz {n}.": "no number" for n in range(failed)}
    segments = (
        Segment(segment=str(n), lp="en-de", source=f"One {n}.", translations={"A": f"Satz {n}."})
        for n in range(MANY)
    )
    test_set = TestSet(name="ten", segments=tuple(segments))
    if not in_loop:
        return adjudge.run(Rater(), test_set, out=out, max_failed=max_failed)

    async def judge() -> Run:
        return await adjudge.arun(Rater(), test_set, out=out, max_failed=max_failed)

    return asyncio.run(judge())


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize(("failed", "max_failed"), [(1, 0.01), (6, 0.5), (MANY, 0.01), (1, 0.0)])
def test_more_failures_than_may_be_are_a_warning_and_the_run_is_kept(
    failed: int, max_failed: float, in_loop: bool, tmp_path: Path, model: Scripted
) -> None:
    with pytest.warns(adjudge.FailedWarning) as said:
        done = judged(tmp_path / "run", model, failed, max_failed, in_loop=in_loop)
    (warning,) = said
    text = str(warning.message)
    assert text.startswith(f"{failed} of {MANY} judgements failed")
    for part in (
        f"max_failed={max_failed}",
        f"range {failed}; first range: ",
        "no number",
        "--json-schema",
        "retry_failed=True",
    ):
        assert part in text
    assert str(tmp_path / "run") in text
    assert warning.filename == __file__
    assert done.info.counts["failed"] == failed
    assert read_run(tmp_path / "run").records == done.records


@pytest.mark.parametrize(("failed", "max_failed"), [(0, 0.0), (1, 0.1), (5, 0.5), (MANY, 1.0)])
def test_no_more_failures_than_may_be_are_no_warning(
    failed: int, max_failed: float, tmp_path: Path, model: Scripted
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged(tmp_path / "run", model, failed, max_failed).info.counts["failed"] == failed


def test_a_warning_that_is_an_error_leaves_a_whole_run(tmp_path: Path, model: Scripted) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(adjudge.FailedWarning):
            judged(tmp_path / "run", model, MANY, 0.01)
    assert len(read_run(tmp_path / "run").records) == MANY
