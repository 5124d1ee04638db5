"""Runs in which every translation is judged several times."""

from pathlib import Path

import pytest

from adjudge.analysis.score import score
from adjudge.analysis.segment_scores import score_records
from adjudge.core.ask import Reply
from adjudge.core.record import Annotation, Failure
from adjudge.errors import ServerStopError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.reports.result_tables import segment_table
from adjudge.reports.tables import render_table
from adjudge.runs.engines import run
from adjudge.store.run_directory import read_run
from tests.runs.conftest import small_set


class Drawn:
    """Rates by the index of the sample; says nothing readable about B, and stops after so many replies."""

    name = "builtin/rules"

    def __init__(self) -> None:
        self.left = 10_000
        self.asked: list[tuple[int, int, float]] = []

    async def reply(self, request: Request) -> Reply:
        if not self.left:
            raise ServerStopError("no more")
        self.left -= 1
        self.asked.append((request.sample, request.again, request.sampling.temperature))
        bad = request.about.subject.system == "B" and request.sample > 0
        if request.about.wants == "errors":
            return Reply(text="well" if bad else '{"errors": []}', model=self.name)
        return Reply(text="well" if bad else f'{{"rating": {70 + 10 * request.sample}}}', model=self.name)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    model = Drawn()
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: model)
    return model


def test_samples_are_calls_of_their_own_and_stand_in_the_signature(tmp_path: Path, drawn: Drawn) -> None:
    done = run("gemba-da", small_set(1, systems=["A"]), out=tmp_path / "run", settings={"samples": "3"})
    (record,) = done.records
    assert isinstance(record, Annotation)
    assert (record.rating, list(record.samples)) == (80, [70, 80, 90])
    assert drawn.asked == [(0, 0, 0.7), (1, 0, 0.7), (2, 0, 0.7)]
    assert "|samples:3|temperature:0.7|" in str(done.info.signature)
    assert done.info.calls["asked"] == 3
    assert done.info.settings["judge"] == {
        "profile": "recommended",
        "with_reference": False,
        "prompts": done.info.signature.fields["prompts"],
        "samples": 3,
        "temperature": 0.7,
    }
    assert read_run(tmp_path / "run") == done


def test_too_few_readable_samples_are_a_failure_and_no_number(tmp_path: Path, drawn: Drawn) -> None:
    done = run("gemba-da", small_set(1), out=tmp_path / "run", settings={"samples": "3"})
    failure = done.records[1]
    assert isinstance(failure, Failure)
    assert failure.reason == "parse"
    assert "1 of 3 samples could be read" in failure.detail
    assert [again for _, again, _ in drawn.asked[-4:]] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("judge", "settings"), [("gemba-da", {"samples": "3"}), ("gemba-esa", {"samples": "3"}), ("gemba-v2", {})]
)
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    judge: str, settings: dict[str, str], tmp_path: Path, drawn: Drawn
) -> None:
    whole = run(judge, small_set(2), out=tmp_path / "whole", settings=settings)
    total = len(drawn.asked)
    drawn.left = total // 2
    with pytest.raises(ServerStopError):
        run(judge, small_set(2), out=tmp_path / "stopped", settings=settings)
    drawn.left = total
    resumed = run(judge, small_set(2), out=tmp_path / "stopped", settings=settings)
    assert resumed.records == whole.records
    assert len(drawn.asked) == 2 * total


def test_gemba_v2_says_how_it_draws_and_that_no_score_is_above_0(tmp_path: Path, drawn: Drawn) -> None:
    done = run("gemba-v2", small_set(1, systems=["A"]), out=tmp_path / "run")
    assert "|samples:10|temperature:0.7|" in str(done.info.signature)
    scores = score_records(done)
    assert scores.range == (float("-inf"), 0.0)
    assert scores.systems[0].score == 0.0


def test_the_spread_of_the_samples_stands_beside_the_score(tmp_path: Path, drawn: Drawn) -> None:
    run("gemba-da", small_set(2, systems=["A"]), out=tmp_path / "run", settings={"samples": "3"})
    (one,) = score(tmp_path / "run").systems
    assert (one.score, one.spread) == (80, 10)
    assert [row.spread for row in score(tmp_path / "run").segments] == [10, 10]
    assert score(tmp_path / "run").to_dict()["spread"] == [10]
    assert "10.00" in render_table(segment_table(score(tmp_path / "run"), exact=False), "csv")
    run("gemba-da", small_set(2, systems=["A"]), out=tmp_path / "once")
    assert "spread" not in score(tmp_path / "once").to_dict()
