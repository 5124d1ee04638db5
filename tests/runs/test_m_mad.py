"""M-MAD in runs: offline with the embedded rules, stopped and resumed, recorded, and against a server."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.core.record import Annotation
from adjudge.formats.read import load
from adjudge.judges.m_mad import MMad
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from tests.faults.server import Server
from tests.runs.conftest import check_stops, platform_set
from tests.runs.debates import check_flaky, check_replayed, check_told, check_wmt23

STRATEGIES = ("consensus", "deliberation", "interactive-review", "consultancy-review", "none")
ABLATIONS: list[dict[str, str]] = [
    *({"strategy": strategy} for strategy in STRATEGIES),
    *({"topic": topic} for topic in ("category", "entirety")),
    *({"rounds": rounds} for rounds in ("0", "1", "5")),
    {"partition": "no"},
    {"partition": "no", "strategy": "deliberation", "topic": "entirety", "final-judge": "no"},
    {"final-judge": "no"},
]
KIND = re.compile(r"Your kind is (\w+)")
TEXT = re.compile(r"<<translation [0-9a-f]{16}>>\n(.*)\n<</translation")
LIST = re.compile(r"<<errors [0-9a-f]{16}>>\n(.*)\n<</errors")
CATEGORIES = {
    "accuracy": "accuracy/mistranslation",
    "fluency": "fluency/spelling",
    "terminology": "terminology/inconsistent use",
    "style": "style/awkward",
}


def model(*, finds: bool) -> Callable[[dict[str, Any]], str]:
    """A model that finds one major error of every kind, or none, and whose debaters never agree."""

    def answer(payload: dict[str, Any]) -> str:
        system, question = payload["messages"][0]["content"], payload["messages"][-1]["content"]
        if '{"agreed"' in system:
            return '{"agreed": false}'
        kind = KIND.search(system)
        if kind is not None or "Your kinds are accuracy" in system:
            if not finds:
                return '{"errors": []}'
            category = CATEGORIES[kind[1] if kind else "accuracy"]
            word = json.loads(TEXT.findall(question)[-1]).split()[0]
            error = {"span": word, "category": category, "severity": "major", "side": "translation"}
            return json.dumps({"errors": [error]})
        if "- errors: for every number" in system:
            shown = [error for said in LIST.findall(question) for error in json.loads(said)["errors"]]
            grade = "major" if "You are the supporting side" in question else "minor"
            word = "keep" if "your decision" in system else grade
            if "in which you now place" in system:
                word = "style/awkward" if grade == "major" else "accuracy/addition"
            said = {str(error["number"]): word for error in shown}
            return json.dumps({"statement": "So it is.", "errors": said})
        if "- errors: all errors in your present list" not in system:
            return '{"statement": "Why?"}'
        held = json.loads(LIST.findall(question)[0])["errors"]
        if "You are the opposing side" in question:
            held = [{**error, "severity": "minor"} for error in held]
        return json.dumps({"statement": "So it is.", "errors": held})

    return answer


@pytest.mark.parametrize("settings", ABLATIONS, ids=str)
@pytest.mark.parametrize("finds", [False, True])
def test_a_server_is_asked_as_often_as_was_told(
    server: Server, tmp_path: Path, settings: dict[str, str], *, finds: bool
) -> None:
    server.answer = model(finds=finds)
    check_told("m-mad", server, tmp_path / "run", 3, settings, finds=finds)


def test_a_flaky_server_changes_no_record(server: Server, tmp_path: Path) -> None:
    server.answer = model(finds=True)
    check_flaky("m-mad", server, tmp_path, {}, calls=2 * 29, apart=9)


@pytest.mark.parametrize("role", ["supporter", "supporter.style", "final"])
def test_each_agent_may_have_a_model_of_its_own(server: Server, tmp_path: Path, role: str) -> None:
    server.answer = model(finds=True)
    options: Any = {"base_url": server.url, "model": ["mock", f"{role}=builtin/rules"]}
    done = run("m-mad", platform_set(1), out=tmp_path / "run", **options)
    assert f"{role}=builtin/rules" in str(done.info.signature)
    asked = {"supporter": 4 + 4 + 1, "supporter.style": 4 + 3 * 6 + 1 + 1, "final": 28}[role]
    assert len(server.log) == 2 * asked, "the rules agree with the opponent at once"
    assert done.info.counts["judged"] == 2


# With the embedded rules...


@pytest.mark.parametrize(
    ("profile", "settings"),
    [*(("recommended", one) for one in ABLATIONS), ("paper", {}), ("code", {})],
    ids=str,
)
def test_the_embedded_rules_play_every_role(tmp_path: Path, profile: Any, settings: dict[str, str]) -> None:
    test_set = load(examples.path("test_set.jsonl")).select(limit=3)
    options: Any = {"settings": settings, "profile": profile}
    told = forecast("m-mad", test_set, **options)
    done = run("m-mad", test_set, out=tmp_path / "run", **options)
    assert set(done.info.counts) >= {"judged"}
    assert all(isinstance(record, Annotation) for record in done.records)
    assert told.calls.min <= done.info.calls["asked"] <= told.calls.max


def test_the_rules_debate_only_what_they_find_and_agree_at_once(tmp_path: Path) -> None:
    done = run("m-mad", platform_set(3), out=tmp_path / "run")
    assert all(isinstance(r, Annotation) and [s.text for s in r.spans] for r in done.records)
    assert not any(record.flags for record in done.records if isinstance(record, Annotation))


def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_stops(
        lambda out: run("m-mad", platform_set(3), out=out),
        lambda total: (1, 7, total // 2, total - 1),
        tmp_path,
        monkeypatch,
    )


def test_a_recorded_run_gives_the_same_records_without_a_model(tmp_path: Path, server: Server) -> None:
    server.answer = model(finds=True)
    check_replayed("m-mad", server, tmp_path, 2, {})


@pytest.mark.realdata
def test_wmt23_is_judged_offline_and_the_same_after_a_stop(
    adjudge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_wmt23("m-mad", adjudge_data, tmp_path, monkeypatch)


def test_a_forecast_without_a_model_is_the_judges_bounds_times_the_units() -> None:
    told = forecast("m-mad", platform_set(3), base_url="http://127.0.0.1:9/v1", model="mock")
    assert told.calls == tuple(6 * bound for bound in MMad().calls)
