"""Every judge on public test sets with the embedded rules, and one table of them all."""

from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.analysis.meta import meta
from adjudge.core.record import Failure
from adjudge.core.segment import TestSet
from adjudge.formats.read import load
from adjudge.judges import JUDGES
from adjudge.runs.engines import run

SETS = {"wmt23": ("en-de", "mqm"), "ment": ("zh-en", "ment")}


def with_criteria(part: TestSet) -> TestSet:
    meta = {"criteria": ["No number is lost.", {"id": "whole", "text": "No sentence is left out."}]}
    return replace(part, segments=tuple(replace(s, meta={**s.meta, **meta}) for s in part))


@pytest.mark.realdata
@pytest.mark.parametrize("name", SETS)
def test_every_judge_judges_and_is_judged(name: str, adjudge_data: Path, tmp_path: Path) -> None:
    lp, gold = SETS[name]
    texts = load(adjudge_data / name, lp)
    systems = [s for s in texts.systems if s not in texts.references][:3]
    part = with_criteria(texts.select(systems=systems, limit=4))
    for judge in JUDGES:
        made = run(judge, part, out=tmp_path / judge, model="builtin/rules")
        assert not [r for r in made.records if isinstance(r, Failure)], judge
        assert made.info.counts["judged"] == len(made.records) > 0
        again = run(judge, part, out=tmp_path / judge, model="builtin/rules")
        assert again.records == made.records
        assert again.info.calls["asked"] == made.info.calls["asked"]
    found = meta(
        adjudge_data / name,
        lp,
        gold=[gold],
        scores={judge: tmp_path / judge for judge in JUDGES},
        metrics=list(JUDGES),
        measures=["seg_kendall_b"],
    )
    assert [m.name for m in sorted(found.metrics, key=lambda m: list(JUDGES).index(m.name))] == list(JUDGES)
    judged = {m.name: m.n for m in found.metrics}
    assert len(set(judged.values())) == 1
    assert 0 < judged["fire"] <= 12
