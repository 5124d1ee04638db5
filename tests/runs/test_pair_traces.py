"""Traces of runs that compare."""

from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.core.ask import Reply
from adjudge.core.record import Preference
from adjudge.errors import ServerStopError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.store.run_directory import read_records
from adjudge.store.traces import Trace
from tests.runs.conftest import small_set

THREE = small_set(2, systems=("A", "B", "CC"))


def test_every_pair_is_a_unit_with_the_calls_of_all_criteria(tmp_path: Path) -> None:
    run("fire", THREE, out=tmp_path / "run")
    trace = Trace(tmp_path / "run")
    units = list(trace.units())
    assert [(u.segment.segment, u.systems, u.state, u.calls) for u in units] == [
        (segment, pair, "judged", 6) for segment in "01" for pair in (("A", "B"), ("A", "CC"), ("B", "CC"))
    ]
    assert {exchange.use.role for exchange in trace.conversation(units[0])} == {
        "faithfulness",
        "fluency",
        "style",
    }
    trace.close()


def test_a_pair_of_which_one_criterion_failed_is_shown_as_failed(tmp_path: Path) -> None:
    class Silent(embedded_rules.RulesModel):
        async def reply(self, request: Request) -> Reply:
            said = await super().reply(request)
            return replace(said, text="the first") if request.about.role == "style" else said

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_rules, "RulesModel", Silent)
        run("fire", small_set(1), out=tmp_path / "run")
    first, *_ = read_records(tmp_path / "run")
    assert isinstance(first, Preference)
    trace = Trace(tmp_path / "run")
    (unit,) = trace.units()
    trace.close()
    assert (unit.state, unit.reason) == ("failed", "parse")


def test_the_pairs_of_a_run_that_was_stopped_are_pending(tmp_path: Path) -> None:
    class Stopped(embedded_rules.RulesModel):
        async def reply(self, request: Request) -> Reply:
            raise ServerStopError("quota")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_rules, "RulesModel", Stopped)
        with pytest.raises(ServerStopError):
            run("direct-rank", small_set(1, systems=("A", "B", "CC")), out=tmp_path / "run")
    trace = Trace(tmp_path / "run")
    states = [(u.systems, u.state) for u in trace.units()]
    trace.close()
    assert states == [(("A", "B"), "pending"), (("A", "CC"), "pending"), (("B", "CC"), "pending")]
