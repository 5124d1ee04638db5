"""A run looks for garbage seldom, and leaves the collector as it was."""

import gc
from collections.abc import Iterator

import pytest

from adjudge.runs.session import rare_collections


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_run_looks_seldom_and_then_as_before() -> None:
    with rare_collections():
        assert gc.get_threshold() == (50_000, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_run_that_stops_leaves_it_as_before() -> None:
    with pytest.raises(RuntimeError), rare_collections():
        raise RuntimeError
    assert gc.get_threshold() == (700, 10, 10)


def test_of_runs_that_overlap_the_last_brings_back_what_was_before_the_first() -> None:
    one, other = rare_collections(), rare_collections()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 50_000
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [0, 100_000])
def test_who_looks_less_often_or_never_keeps_that(chosen: int) -> None:
    gc.set_threshold(chosen, 10, 10)
    with rare_collections():
        assert gc.get_threshold()[0] == chosen
    assert gc.get_threshold()[0] == chosen
