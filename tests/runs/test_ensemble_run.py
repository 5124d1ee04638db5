import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adjudge import examples
from adjudge.analysis.ensemble import By, EnsembleSettings
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import read_score_records
from adjudge.formats.read import load
from adjudge.reports.html import report
from adjudge.reports.page import run_command
from adjudge.runs.engines import run
from adjudge.runs.ensemble_run import ensemble
from adjudge.store.json_lines import read_records
from tests.analysis.records import failed

LP = "zh-en"


@pytest.fixture(scope="module")
def texts() -> TestSet:
    return load(examples.path("test_set.jsonl"), LP)


@pytest.fixture(scope="module")
def members(texts: TestSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("members")
    return {name: run(name, texts, out=folder / name) for name in ("gemba-mqm", "gemba-da", "chrf", "fire")}


def scorers(members: dict[str, Run]) -> dict[str, Run]:
    return {name: judged for name, judged in members.items() if name != "fire"}


@pytest.mark.parametrize(("by", "low", "high"), [("ranks", 0, 1), ("z-scores", None, None)])
def test_an_ensemble_is_a_run_that_can_be_scored_and_reported(
    by: By, low: float | None, high: float | None, members: dict[str, Run], tmp_path: Path
) -> None:
    made = ensemble(scorers(members), out=tmp_path / "e", settings=EnsembleSettings(by=by)).run
    assert (made.info.kind, made.info.annotator, made.info.protocol) == ("ensemble", "ensemble", "metric")
    assert (made.info.low, made.info.high) == (low, high)
    assert made.info.counts == {"judged": 64, "failed": 0, "pending": 0}
    assert made.test_set.segments == members["chrf"].test_set.segments
    line = str(score_records(made).signature)
    assert line.startswith(f"ensemble|by:{by}|within:lp|members:gemba-mqm,gemba-da,chrf|inputs:")
    assert min(score_records(made).systems, key=lambda s: s.score or 0).system == "Dogwood"
    report([made, members["chrf"]], tmp_path / "page.html")
    assert "made of those of gemba-mqm, gemba-da, chrf" in (tmp_path / "page.html").read_text()


def test_members_of_both_kinds_vote(members: dict[str, Run], tmp_path: Path) -> None:
    made = ensemble(members, out=tmp_path / "e", settings=EnsembleSettings(by="majority")).run
    assert all(isinstance(r, Preference) for r in made.records)
    assert made.info.counts["judged"] == 16 * 6
    assert made.info.protocol == "pairwise"


def test_the_same_call_writes_the_same_records(members: dict[str, Run], tmp_path: Path) -> None:
    def digest() -> str:
        return hashlib.sha256((tmp_path / "e" / "records.jsonl").read_bytes()).hexdigest()

    gold = ("mqm", [r for r in read_records(examples.path("gold.mqm.jsonl")) if r.lp == LP])
    learned = EnsembleSettings(by="learned", folds=4)
    made = ensemble(scorers(members), out=tmp_path / "e", gold=gold, settings=learned)
    before = digest()
    again = ensemble(scorers(members), out=tmp_path / "e", gold=gold, settings=learned)
    assert (digest(), again.run.info.signature) == (before, made.run.info.signature)
    assert again.run.info.settings["learned"] == {
        LP: {name: list(own) for name, own in made.combined.weights[LP].items()}
    }
    fields = again.run.info.signature.fields
    assert (fields["gold"], fields["folds"], fields["fold-by"], fields["seed"]) == (
        "mqm",
        "4",
        "document",
        "0",
    )
    command = run_command(again.run.info)
    assert command.startswith("adjudge ensemble gemba-mqm=RUN gemba-da=RUN chrf=RUN --out RUN --by learned")
    assert "--seed 0" in command
    assert command.endswith("--gold mqm=FILE")


def test_another_member_or_another_judgement_is_another_ensemble(
    members: dict[str, Run], tmp_path: Path
) -> None:
    two = {name: members[name] for name in ("gemba-mqm", "chrf")}
    first = ensemble(two, out=tmp_path / "e").run.info.signature
    changed = [*members["chrf"].records]
    assert isinstance(changed[0], Annotation)
    changed[0] = replace(changed[0], rating=1.5)
    other = ensemble(two | {"chrf": changed}, out=tmp_path / "other").run.info.signature
    assert first.fields["inputs"] != other.fields["inputs"]
    with pytest.raises(UsageError, match="holds another run: members chrf was"):
        ensemble(two | {"chrf": changed}, out=tmp_path / "e")


def test_a_failure_of_a_member_is_counted(members: dict[str, Run], tmp_path: Path) -> None:
    lost = members["chrf"].records[3]
    assert isinstance(lost, Annotation)
    records = [
        failed(lost.system, segment=lost.segment, lp=LP, protocol="metric", annotator="chrf")
        if r is lost
        else r
        for r in members["chrf"].records
    ]
    made = ensemble({"gemba-da": members["gemba-da"], "chrf": records}, out=tmp_path / "e").run
    assert made.info.counts == {"judged": 63, "failed": 1, "pending": 0}
    assert made.info.failures == {"refused": 1}
    assert made.info.signature.fields["failed"] == "1/64"
    (failure,) = [r for r in made.records if isinstance(r, Failure)]
    assert (failure.systems, failure.detail) == ((lost.system,), "chrf: ")


def test_wrong_use_is_said(members: dict[str, Run], texts: TestSet, tmp_path: Path) -> None:
    two = scorers(members)
    with pytest.raises(UsageError, match="two members or more, got 1"):
        ensemble({"chrf": members["chrf"]}, out=tmp_path / "e")
    bare = {name: judged.records for name, judged in two.items()}
    with pytest.raises(UsageError, match="add --test-set"):
        ensemble(bare, out=tmp_path / "e")
    with pytest.raises(DataError, match="no translation of segment"):
        ensemble(bare, out=tmp_path / "e", test_set=texts.select(limit=3))
    with pytest.raises(UsageError, match="learns nothing from gold"):
        ensemble(two, out=tmp_path / "e", gold=("g", bare["chrf"]), settings=EnsembleSettings(by="majority"))
    with pytest.raises(UsageError, match="is for --by majority"):
        ensemble(two, out=tmp_path / "e", settings=EnsembleSettings(tie=1))
    assert not (tmp_path / "e").exists()
    assert ensemble(bare, out=tmp_path / "e", test_set=texts).run.info.counts["judged"] == 64


@pytest.mark.realdata
def test_learned_weights_agree_with_people_better_than_members_of_wmt23(
    adjudge_data: Path, tmp_path: Path
) -> None:
    folder = adjudge_data / "wmt23"
    texts = load(folder, "en-de")
    gold = read_score_records(folder / "human-scores/en-de.mqm.seg.score", texts)
    judged = {
        name: read_score_records(folder / f"metric-scores/en-de/{name}.seg.score", texts)
        for name in ("BLEU-refA", "COMET-refA", "GEMBA-MQM-src")
    }
    made = ensemble(
        judged,
        out=tmp_path / "e",
        test_set=texts,
        gold=("mqm", gold),
        settings=EnsembleSettings(by="learned"),
    ).run
    known = {(r.system, r.segment): r.rating for r in gold}
    asked = {(r.system, r.segment) for r in made.records if isinstance(r, Annotation)} & known.keys()

    def agreement(records: Iterable[Record]) -> float:
        found = {(r.system, r.segment): r.rating for r in records if isinstance(r, Annotation)}
        pairs = np.array([(known[key], found[key]) for key in asked], dtype=float)
        return float(np.corrcoef(pairs.T)[0, 1])

    assert len(asked) == 12 * 460
    assert agreement(made.records) > max(agreement(records) for records in judged.values()) + 0.01
