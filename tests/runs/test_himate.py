"""HiMATE in runs, beside what test_debates.py has of it: refusals, older prompts, and calibration."""

import math
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Failure
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.judges.himate import Himate, Threshold
from adjudge.runs.calibration import acalibrate, for_calibration, percentile_of
from adjudge.runs.engines import run
from adjudge.runs.job import prepare
from adjudge.runs.run import execute
from adjudge.runs.session import run_to_end
from adjudge.store.run_directory import Calibration, read_calibration, read_run, write_calibration
from tests.faults.server import Server, spelled
from tests.runs.conftest import platform_set
from tests.runs.test_debates import himate_model


@pytest.mark.parametrize("wanted", ['{"errors"', '{"translation"', '{"result"', '{"opinion"', '{"reply"'])
def test_a_refusal_at_any_stage_is_a_failure(server: Server, tmp_path: Path, wanted: str) -> None:
    good = himate_model(finds=True)

    def answer(payload: dict[str, Any]) -> str:
        refuses = wanted in payload["messages"][0]["content"]
        return "I'm sorry, but I can't help with that." if refuses else good(payload)

    server.answer = answer
    done = run("himate", platform_set(1), out=tmp_path / "run", base_url=server.url, model="mock")
    assert all(isinstance(record, Failure) and record.reason == "parse" for record in done.records)
    assert len(done.records) == 2


def test_a_run_that_began_with_other_prompts_says_which_version_ends_it_and_opens(tmp_path: Path) -> None:
    done = run("himate", platform_set(1), out=tmp_path / "run")
    info = (tmp_path / "run" / "run.json").read_text("utf-8")
    own = str(done.info.signature.fields["version"])
    older = info.replace(Himate().prompts_digest, "3690af").replace(f"version:{own}", "version:0.0.1")
    (tmp_path / "run" / "run.json").write_text(older, "utf-8")
    with pytest.raises(
        UsageError, match=r"prompts was '?3690af.*Choose another --out.*adjudge 0\.0\.1 began"
    ):
        run("himate", platform_set(1), out=tmp_path / "run")
    assert read_run(tmp_path / "run").records == done.records


@pytest.mark.parametrize(
    ("percentile", "expected"), [(1, 0.1), (20, 0.1), (21, 0.2), (60, 0.3), (61, 0.4), (100, 0.5)]
)
def test_the_percentile_is_one_of_the_numbers(percentile: float, expected: float) -> None:
    assert percentile_of([0.3, 0.1, 0.5, 0.2, 0.4], percentile) == expected


def test_a_calibration_takes_the_percentile_of_every_confidence_by_language_pair(
    tmp_path: Path, server: Server
) -> None:
    server.answer = himate_model(finds=True)
    judge = for_calibration(Himate(most=1, threshold=Threshold(0.1)))
    assert judge == Himate(most=1, stages="se+sr")
    job = prepare(judge, platform_set(2), out=tmp_path / "run", base_url=server.url, model="mock")
    calibration, outcome = run_to_end(acalibrate(job, 60))
    assert (calibration.judge, calibration.confidence) == ("himate", "logprobs, both orders")
    assert calibration.model == "mock"
    (found,) = calibration.thresholds.values()
    assert (found.confidences, found.judged, found.failed) == (4 * 19, 4, 0)
    assert found.threshold == pytest.approx(math.exp(-0.25))  # the word of the decision, see the server
    assert found.below == found.confidences
    cores = {name.partition("/")[0] for name in SUBTYPES}
    pooled = {core: sum(name.startswith(core) for name in SUBTYPES) * 4 for core in cores}
    assert set(found.subtypes) == {name for name in SUBTYPES if pooled[name.partition("/")[0]] >= 20}
    assert {*found.subtypes.values()} == {found.threshold}
    assert outcome.info.counts["judged"] == 4
    asked = len(server.log)
    assert run_to_end(acalibrate(job, 60))[0] == calibration, "a calibration that is taken up ends the same"
    assert len(server.log) == asked
    write_calibration(tmp_path / "himate.json", calibration)
    settings = {"threshold": str(tmp_path / "himate.json"), "most": "1"}
    options: Any = {"base_url": server.url, "model": "mock", "settings": settings}
    done = run("himate", platform_set(2), out=tmp_path / "judged", **options)
    assert f"|threshold:p60-{calibration.digest}|" in str(done.info.signature)
    assert len(server.log) - asked == 4 * 152, "nothing is above the threshold"
    with pytest.raises(UsageError, match="made with model 'mock', this run has 'builtin/rules'"):
        run("himate", platform_set(2), out=tmp_path / "other", settings=settings)


def test_a_threshold_of_plain_probabilities_is_told_from_one_of_shares(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = himate_model(finds=True)
    options: Any = {"base_url": server.url, "model": "mock"}

    def calibrated(name: str) -> Calibration:
        job = prepare(
            for_calibration(Himate(most=1)), platform_set(1), out=tmp_path / f"{name}.run", **options
        )
        calibration, _ = run_to_end(acalibrate(job, 60))
        write_calibration(tmp_path / f"{name}.json", calibration)
        assert run_to_end(acalibrate(job, 60))[0] == calibration
        return calibration

    def told(name: str, out: str) -> list[str]:
        settings = {"most": "1", "threshold": str(tmp_path / f"{name}.json")}
        job = prepare("himate", platform_set(1), out=tmp_path / out, settings=settings, **options)
        return [note for note in run_to_end(execute(job)).notes if "plain" in note]

    assert not calibrated("plain").renormalised
    assert len(told("plain", "unlike")) == 1, "only that the server gives none"

    def shared(content: str) -> dict[str, Any]:
        chosen = spelled(content)["content"]
        return {
            "content": [
                {**one, "top_logprobs": [{"token": one["token"], "logprob": -0.25}]} for one in chosen
            ]
        }

    monkeypatch.setattr("tests.faults.server.spelled", shared)
    assert calibrated("shares").renormalised
    assert told("shares", "shared") == []
    (note,) = told("plain", "mixed")
    assert note.startswith(f"{tmp_path / 'plain.json'} was measured with plain probabilities")
    assert "`adjudge calibrate himate`" in note


def test_thresholds_are_swept_over_a_finished_run_without_a_call(tmp_path: Path, server: Server) -> None:
    server.answer = himate_model(finds=True)
    options: Any = {"base_url": server.url, "model": "mock"}
    done = run("himate", platform_set(1), out=tmp_path / "run", settings={"most": "1"}, **options)
    spans = [span for record in done.records for span in record.spans]  # type: ignore[union-attr]
    assert all(span.confidence == pytest.approx(math.exp(-0.25)) for span in spans)
    asked = len(server.log)
    for threshold, severity in (("0.5", "minor"), ("0.9", "major")):
        swept = run(
            "himate",
            platform_set(1),
            out=tmp_path / threshold,
            model=f"replay:{tmp_path / 'run'}",
            settings={"most": "1", "threshold": threshold},
        )
        assert {s.severity for record in swept.records for s in record.spans} == {severity}  # type: ignore[union-attr]
    assert len(server.log) == asked


def test_the_stages_of_the_papers_ablation_are_replayed_without_a_call(
    tmp_path: Path, server: Server
) -> None:
    server.answer = himate_model(finds=True)
    options: Any = {"base_url": server.url, "model": "mock"}
    run("himate", platform_set(1), out=tmp_path / "full", settings={"most": "1"}, **options)
    asked = len(server.log)
    replays = {}
    for stages in ("se", "se+sr"):
        settings: Any = {"most": "1", "stages": stages}
        replay: Any = {"model": f"replay:{tmp_path / 'full'}", "settings": settings}
        replays[stages] = run("himate", platform_set(1), out=tmp_path / stages, **replay)
    assert len(server.log) == asked
    for stages, replayed in replays.items():
        settings = {"most": "1", "stages": stages}
        fresh = run("himate", platform_set(1), out=tmp_path / f"fresh-{stages}", settings=settings, **options)
        assert replayed.records == fresh.records
        assert replayed.info.counts.get("failed", 0) == 0
    assert len(server.log) > asked


def test_what_cannot_be_calibrated_is_said(tmp_path: Path) -> None:
    from adjudge.judges import load_judge

    with pytest.raises(UsageError, match="gemba-mqm has no threshold to calibrate"):
        for_calibration(load_judge("gemba-mqm"))
    clean = Segment(segment="1", lp="en-de", source="Good morning.", translations={"A": "Guten Morgen."})
    job = prepare(for_calibration(Himate()), TestSet(name="c", segments=(clean,)), out=tmp_path / "run")
    with pytest.raises(DataError, match="nothing was found in 1 translations"):
        run_to_end(acalibrate(job, 60))
    for percentile in (0, -1, 100.1, math.nan):
        with pytest.raises(UsageError, match="percentile must be above 0"):
            run_to_end(acalibrate(job, percentile))


def test_a_model_that_gives_no_log_probabilities_is_refused_before_it_is_paid(tmp_path: Path) -> None:
    options: Any = {"model": "anthropic/claude-x", "dry_run": True}
    for settings in ({"threshold": "0.5"}, {"threshold": "0.5", "agents": "core"}):
        with pytest.raises(UsageError, match=r"claude-x gives no log-probabilities; .*--verifications 5"):
            prepare("himate", platform_set(2), out=tmp_path / "run", settings=settings, **options)
    for settings in ({}, {"threshold": "0.5", "verifications": "5"}):
        prepare("himate", platform_set(2), out=tmp_path / "run", settings=settings, **options)
    mixed: Any = {**options, "model": ["builtin/rules", "tier-1=anthropic/claude-x"]}
    prepare("himate", platform_set(2), out=tmp_path / "run", settings={"threshold": "0.5"}, **mixed)
    job = prepare(for_calibration(Himate()), platform_set(2), out=tmp_path / "run", **options)
    with pytest.raises(UsageError, match="gives no log-probabilities"):
        run_to_end(acalibrate(job, 60))


def test_samples_in_place_of_log_probabilities_are_said_in_the_file(tmp_path: Path) -> None:
    job = prepare(for_calibration(Himate(verifications=3)), platform_set(2), out=tmp_path / "run")
    calibration, _ = run_to_end(acalibrate(job, 60))
    assert calibration.confidence == "samples:3, both orders"
    assert calibration.thresholds["en-de"].threshold == 1.0
    write_calibration(tmp_path / "himate.json", calibration)
    assert read_calibration(tmp_path / "himate.json") == calibration
