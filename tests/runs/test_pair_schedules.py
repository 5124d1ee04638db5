"""Runs of judges of pairs that compare fewer than all pairs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.pair_schedules import ListedPair, write_pairs
from adjudge.core.record import Preference
from adjudge.core.segment import TestSet
from adjudge.errors import ServerStopError, UsageError
from adjudge.formats.read import load
from adjudge.judges.fire import DirectRank
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from adjudge.runs.job import prepare
from tests.runs.conftest import small_set

TEST_SET = small_set(20, systems=("A", "B", "CC", "DDD", "EEEE"))
SCHEDULES: dict[str, dict[str, Any]] = {
    "sampled,3 a segment": {"pairs": "sampled", "pairs_per_segment": 3},
    "sampled,30 in all": {"pairs": "sampled", "pairs_in_all": 30},
    "anchored,CC": {"pairs": "anchored", "anchors": ["CC"]},
    "adaptive,3 a segment": {"pairs": "adaptive", "pairs_per_segment": 3},
}
UNITS = dict(zip(SCHEDULES, (60, 30, 80, 60), strict=True))


class Longer(embedded_rules.RulesModel):
    """Prefers the longer translation; after so many questions it stops the run."""

    left = 10**6

    async def reply(self, request: Request) -> Any:
        type(self).left -= 1
        if self.left < 0:
            raise ServerStopError("quota")
        subject = request.about.subject
        first, second = (len(subject.segment.translations[name]) for name in subject.systems)
        reply = await super().reply(request)
        verdict = "E" if first == second else "A" if first > second else "B"
        return reply.__class__(text=f'{{"analysis": "length", "result": "{verdict}"}}', model=reply.model)


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> type[Longer]:
    monkeypatch.setattr(embedded_rules, "RulesModel", Longer)
    monkeypatch.setattr(Longer, "left", 10**6)
    return Longer


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_run_compares_the_pairs_of_its_schedule_and_says_which(
    tmp_path: Path, longer: type[Longer], name: str
) -> None:
    done = run(DirectRank(), TEST_SET, out=tmp_path / "run", **SCHEDULES[name])
    assert done.info.signature.fields["pairs"] == name
    assert done.info.counts == {"judged": UNITS[name], "failed": 0, "pending": 0}
    places = [(r.segment, r.systems) for r in done.records if isinstance(r, Preference)]
    order = [s.segment for s in TEST_SET]
    assert places == sorted(places, key=lambda place: order.index(place[0]))
    assert len(set(places)) == len(places)
    with pytest.raises(UsageError, match="holds another run: pairs was"):
        run(DirectRank(), TEST_SET, out=tmp_path / "run")


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_run_that_was_stopped_goes_on_with_the_same_pairs_and_pays_none_twice(
    tmp_path: Path, longer: type[Longer], name: str
) -> None:
    whole = run(DirectRank(), TEST_SET, out=tmp_path / "whole", concurrency=7, **SCHEDULES[name])
    longer.left = 37
    with pytest.raises(ServerStopError):
        run(DirectRank(), TEST_SET, out=tmp_path / "run", concurrency=3, **SCHEDULES[name])
    longer.left = 10**6
    done = run(DirectRank(), TEST_SET, out=tmp_path / "run", **SCHEDULES[name])
    assert done.records == whole.records
    assert done.info.calls["asked"] == whole.info.calls["asked"] == 2 * UNITS[name]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_forecast_counts_the_calls_of_the_schedule(longer: type[Longer], name: str) -> None:
    found = forecast(
        DirectRank(), TEST_SET, model="openai/x", base_url="http://localhost:9/v1", **SCHEDULES[name]
    )
    assert found.units == UNITS[name]
    assert found.calls == (2 * UNITS[name],) * 3


def test_an_adaptive_run_asks_most_about_the_systems_that_are_hard_to_tell_apart(
    tmp_path: Path, longer: type[Longer]
) -> None:
    done = run(DirectRank(), TEST_SET, out=tmp_path / "run", pairs="adaptive", pairs_per_segment=2)
    asked = [r.systems for r in done.records if isinstance(r, Preference)]
    later = asked[len(asked) // 2 :]
    assert later.count(("A", "B")) > later.count(("A", "EEEE"))  # A and B are of one length


@pytest.mark.parametrize("lp", ["en-de", "ja-zh"])
def test_a_list_chooses_among_the_pairs_of_a_test_set_in_the_order_of_the_test_set(
    tmp_path: Path, longer: type[Longer], lp: str
) -> None:
    own = [["EEEE", "A"], ["B", "DDD"], ["CC", "B"]]
    segments = tuple(replace(s, lp=lp, meta={"pairs": own}) for s in TEST_SET)
    listed = [
        ListedPair(lp=lp, segment=s.segment, document="", systems=pair)
        for s in segments
        for pair in (("A", "EEEE"), ("CC", "B"), ("A", "B"))
    ]
    write_pairs(tmp_path / "pairs.jsonl", listed)
    chosen, file = TestSet(name="some", segments=segments), tmp_path / "pairs.jsonl"
    done = run(DirectRank(orders="given"), chosen, out=tmp_path / "run", pairs_file=file)
    assert [r.systems for r in done.records] == [("EEEE", "A"), ("CC", "B")] * 20
    notes = prepare(DirectRank(), chosen, pairs_file=file).notes
    assert "20 of 60 pairs are of segments or systems that are not judged" in notes


def test_an_anchor_must_be_a_system() -> None:
    with pytest.raises(UsageError, match="--anchors: en-de has no system 'Z'; it has A, B, CC"):
        forecast(DirectRank(), TEST_SET, pairs="anchored", anchors=["Z"])


@pytest.mark.parametrize("judge", ["gemba-da", "rate", "chrf"])
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"pairs": "sampled"}, "--pairs"),
        ({"pairs": "adaptive", "pairs_per_segment": 1}, "--pairs"),
        ({"pairs_per_segment": 1}, "--pairs-per-segment"),
        ({"pairs_in_all": 1}, "--pairs-in-all"),
        ({"anchors": ["A"]}, "--anchors"),
    ],
)
def test_who_judges_no_pairs_has_none_to_choose(judge: str, options: dict[str, Any], name: str) -> None:
    said = f"^{name}: {judge} does not compare pairs"
    if judge == "rate" and name == "--anchors":
        said = "setting 'anchors' of judge 'rate'"  # it keeps anchors of its own, as on the command line
    with pytest.raises(UsageError, match=said):
        forecast(judge, TEST_SET, **options)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["fire", "direct-rank"])
def test_wmt23_is_compared_offline_and_the_same_again(adjudge_data: Path, tmp_path: Path, name: str) -> None:
    chosen = load(adjudge_data / "wmt23", lp="en-de").select(
        systems=["ONLINE-W", "ONLINE-B", "GPT4-5shot"], limit=6
    )
    options: dict[str, Any] = {"pairs": "adaptive", "pairs_per_segment": 2}
    done = run(name, chosen, out=tmp_path / "run", **options)
    assert done.info.counts["failed"] == done.info.counts["pending"] == 0
    overall = [r for r in done.records if isinstance(r, Preference) and r.criterion == "overall"]
    assert len(overall) == 12
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    (tmp_path / "run" / "records.jsonl").unlink()
    again = run(name, chosen, out=tmp_path / "run", **options)
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before
    assert again.info.calls["asked"] == done.info.calls["asked"]
