"""The conversation behind one judgement, found without reading the run."""

from decimal import Decimal
from pathlib import Path

import pytest

from adjudge.core.ask import Reply, Usage
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, StoreError
from adjudge.llm.money import shipped_prices
from adjudge.runs.conversation import ReadableRun, _answered
from adjudge.runs.engines import run
from adjudge.store.call_file import Attempt, Exchange, Use
from adjudge.store.traces import Conversations, Trace
from tests.runs.conftest import small_set


@pytest.mark.parametrize("judge", ["gemba-mqm", "fire", "rate"])
def test_it_is_what_a_trace_shows_whatever_was_judged_at_once(judge: str, tmp_path: Path) -> None:
    segments = small_set(12, systems=("A", "B", "CC")).segments
    test_set = TestSet(name="small", segments=(segments[1], segments[11]))  # ids that begin alike
    run(judge, test_set, out=tmp_path / "run")
    trace, conversations = Trace(tmp_path / "run"), Conversations(tmp_path / "run")
    units = list(trace.units())
    assert len(units) == 6
    for unit in units:
        found = conversations.find(unit.segment.lp, unit.segment.segment, unit.systems)
        assert [exchange for exchange, _ in found] == trace.conversation(unit) != []
        assert all(attempt is not None and attempt.model == "builtin/rules" for _, attempt in found)
    trace.close()
    assert conversations.find("en-de", "1", ("nobody",)) == []
    assert conversations.find("en-de", "%", ("A",)) == []
    said = ReadableRun(tmp_path / "run").conversation(units[0].segment, units[0].systems)
    told = conversations.find("en-de", "1", units[0].systems)
    assert [each["stage"] for each in said] == [exchange.use.stage for exchange, _ in told]
    assert all(each["seconds"] is not None and each["time"] and each["price"] == "" for each in said)


def test_without_its_store_a_judge_has_none_and_a_metric_never_had_any(tmp_path: Path) -> None:
    run("gemba-mqm", small_set(1), out=tmp_path / "judge")
    (tmp_path / "judge/calls.sqlite").unlink()
    with pytest.raises(StoreError, match="no call store"):
        Conversations(tmp_path / "judge")
    run("chrf", small_set(1), out=tmp_path / "metric")
    assert Conversations(tmp_path / "metric").find("en-de", "0", ("A",)) == []
    with pytest.raises(DataError):
        Conversations(tmp_path)


@pytest.mark.parametrize(
    ("model", "usage", "price"),
    [
        ("builtin/rules", Usage(), ""),
        ("nobody/nothing", Usage(prompt=1000, completion=10), "price unknown"),
        ("openai/gpt-5-mini", Usage(), "price unknown"),
        ("openai/gpt-5-mini", Usage(prompt=1_000_000), None),
    ],
)
def test_a_call_costs_what_the_table_says_and_never_nothing(
    model: str, usage: Usage, price: str | None
) -> None:
    table = shipped_prices()
    if price is None:
        row = table.find(model)
        assert row is not None
        assert row.prompt > Decimal(0)
        price = f"{row.prompt.normalize():f} {row.currency}"
    attempt = Attempt(b"", "2026-01-02T03:04:05+00:00", 1.5, model=model, usage=usage)
    exchange = Exchange(use=Use(b"", "stage", "role"), reply=Reply(text="x"))
    found = _answered(exchange, attempt, table)
    assert found == {"time": attempt.time, "seconds": 1.5, "asked": model, "price": price}
    assert _answered(exchange, None, table)["seconds"] is None
