"""A model that knows gold: every judge and profile must give gold's order back."""

from functools import cache
from pathlib import Path

import pytest

import adjudge
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.record import Failure
from adjudge.core.segment import TestSet
from adjudge.formats.read import load, read_judgements
from adjudge.judges import JUDGES
from adjudge.store.json_lines import write_records, write_test_set
from benchmarks.gold_model import knowing

SYSTEMS = 12
SEGMENTS = 20
LEAST = 0.88
LEAST_OF = {
    ("gemba-mqm", "recommended"): 0.87,  # its scores end at -25
    ("gemba-mqm", "paper"): 0.87,
    ("gemba-mqm", "code"): 0.87,
    ("himate", "paper"): 0.82,  # equation 4 has one error of each subtype, and paragraphs have more
    ("himate", "code"): 0.82,
    ("fire", "recommended"): 0.85,  # its overall verdict is what more criteria say, not how much is wrong
    ("fire", "paper"): 0.85,
    ("fire", "code"): 0.85,
}
"""What a judge cannot give back whoever is asked."""


@cache
def sample(data: Path) -> TestSet:
    """The first segments that gold judged for every system: 240 translations."""
    folder = data / "wmt23"
    gold = read_judgements(folder / "human-scores/en-de.mqm.merged.seg.rating", "en-de", texts=folder)
    judged = {(r.segment, r.system) for r in gold.records}  # type: ignore[union-attr]
    whole = load(folder, "en-de")
    systems = sorted({system for _, system in judged} - set(whole.references))[:SYSTEMS]
    kept = [s for s in whole if all((s.segment, system) in judged for system in systems)][:SEGMENTS]
    return TestSet(name="sample", segments=tuple(kept)).select(systems=systems)


@pytest.mark.realdata
@pytest.mark.parametrize(
    "profile", [pytest.param(p, marks=[pytest.mark.nightly] * (p != "recommended")) for p in PROFILES]
)
@pytest.mark.parametrize("judge", sorted(set(JUDGES) - {"criteria"}))  # which asks of rules, not of errors
def test_it_gives_golds_order_back_through_every_judge(
    adjudge_data: Path, tmp_path: Path, judge: str, profile: Profile
) -> None:
    folder = adjudge_data / "wmt23"
    test_set = sample(adjudge_data)
    assert sum(len(s.translations) for s in test_set) == SYSTEMS * SEGMENTS
    wanted = {(s.segment, system) for s in test_set for system in s.translations}
    rated = read_judgements(folder / "human-scores/en-de.mqm.merged.seg.rating", "en-de", texts=folder)
    gold = [r for r in rated.records if (r.segment, r.system) in wanted]  # type: ignore[union-attr]
    settings = {"without": "search"} if judge == "rate" and profile != "recommended" else {}
    with knowing(test_set, gold):
        done = adjudge.run(judge, test_set, out=tmp_path / "run", profile=profile, settings=settings)
    failed = [record for record in done.records if isinstance(record, Failure)]
    assert not failed
    write_test_set(tmp_path / "test_set.jsonl", test_set)
    write_records(tmp_path / "gold.jsonl", gold)
    found = adjudge.meta(
        tmp_path / "test_set.jsonl",
        "en-de",
        gold=[f"gold={tmp_path / 'gold.jsonl'}"],
        scores={judge: tmp_path / "run"},
        measures=("seg_acc_eq",),
    )
    acc_eq = found.metrics[0].results["seg_acc_eq"].value
    assert acc_eq is not None
    assert acc_eq >= LEAST_OF.get((judge, profile), LEAST)
