"""What holds of every judge whose agents work on what others said: HiMATE and M-MAD.

In runs: offline with the embedded rules, stopped and resumed, recorded, and against a server.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Annotation
from adjudge.formats.read import load
from adjudge.judges.m_mad import MMad
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from adjudge.store.run_directory import read_run
from tests.faults.server import Server
from tests.runs.conftest import check_stops, platform_set

Model = Callable[[dict[str, Any]], str]
TEXT = re.compile(r"<<translation [0-9a-f]{16}>>\n(.*)\n<</translation")
SUBTYPE = re.compile(r"You are responsible for:\n- ([^:\n]+):")


def own_place(number: int, question: str) -> tuple[str, str]:
    """Two characters for each agent, in one text or the other: errors in one place would be one."""
    side, place = ("translation", number) if number < 11 else ("source", number - 11)
    text = json.loads(re.findall(rf"<<{side} [0-9a-f]{{16}}>>\n(.*)\n<</{side}", question)[-1])
    return text[2 * place : 2 * place + 2], side


def himate_model(*, finds: bool) -> Callable[[dict[str, Any]], str]:
    """A model whose agents find one error each, or none; the evaluator never agrees with the expert."""

    def answer(payload: dict[str, Any]) -> str:
        system, question = (payload["messages"][n]["content"] for n in (0, -1))
        if '{"errors"' in system:
            subtype = SUBTYPE.findall(system)[-1]
            span, side = own_place(SUBTYPES.index(subtype), question)
            error = {"span": span, "note": "So.", "category": subtype, "severity": "minor", "side": side}
            return json.dumps({"errors": [error] if finds else []})
        if '{"translation"' in system:
            return json.dumps({"translation": json.loads(TEXT.findall(question)[-1]) + " Besser."})
        if '{"result"' in system:
            is_turned = re.findall(r"<<version-1 [0-9a-f]{16}>>\n(.*)", question)[-1].endswith(' Besser."')
            return json.dumps({"result": "second" if is_turned else "first"})
        if '{"opinion"' in system:
            named = re.findall(r'"category": "([^"]+)"', question)
            reported = next(name for name in named if f"- {name}:" in system)
            said = {"opinion": "So it is.", "exists": True, "subtype": reported, "severity": "major"}
            return json.dumps(said)
        return '{"reply": "No.", "agrees": false}'

    return answer


KIND = re.compile(r"Your kind is (\w+)")


LIST = re.compile(r"<<errors [0-9a-f]{16}>>\n(.*)\n<</errors")


CATEGORIES = {
    "accuracy": "accuracy/mistranslation",
    "fluency": "fluency/spelling",
    "terminology": "terminology/inconsistent use",
    "style": "style/awkward",
}


def m_mad_model(*, finds: bool) -> Callable[[dict[str, Any]], str]:
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


STRATEGIES = ("consensus", "deliberation", "interactive-review", "consultancy-review", "none")
MODELS: dict[str, Callable[..., Model]] = {"himate": himate_model, "m-mad": m_mad_model}
ABLATIONS: dict[str, list[dict[str, str]]] = {
    "himate": [
        {"most": "1"},
        {"most": "1", "stages": "se"},
        {"most": "1", "stages": "se+sr"},
        {"most": "1", "stages": "se+sr", "verifications": "3"},
        {"most": "1", "verifications": "3"},
        {"most": "1", "threshold": "1"},
    ],
    "m-mad": [
        *({"strategy": strategy} for strategy in STRATEGIES),
        *({"topic": topic} for topic in ("category", "entirety")),
        *({"rounds": rounds} for rounds in ("0", "1", "5")),
        {"partition": "no"},
        {"partition": "no", "strategy": "deliberation", "topic": "entirety", "final-judge": "no"},
        {"final-judge": "no"},
    ],
}
EACH = [(judge, settings) for judge, found in ABLATIONS.items() for settings in found]
CALLS = {"himate": 152, "m-mad": 29}
"""Of a translation, where the model finds all it can."""
FAULTS = ("empty", "html", "prose", "content null")


@pytest.mark.parametrize(("judge", "settings"), EACH, ids=str)
@pytest.mark.parametrize("finds", [False, True])
def test_a_server_is_asked_as_often_as_was_told(
    server: Server, tmp_path: Path, judge: str, settings: dict[str, str], *, finds: bool
) -> None:
    """A model that finds everything is asked as often as was told, and so is one that finds nothing."""
    server.answer = MODELS[judge](finds=finds)
    test_set = platform_set(2 if judge == "himate" else 3)
    options: Any = {"settings": settings, "base_url": server.url, "model": "mock"}
    found = forecast(judge, test_set, **options)
    assert not server.log
    done = run(judge, test_set, out=tmp_path / "run", **options)
    assert done.info.counts["judged"] == 2 * len(test_set)
    assert len(server.log) == (found.calls.max if finds else found.calls.min)
    assert found.calls.min <= found.calls.typical <= found.calls.max


@pytest.mark.parametrize(("judge", "settings", "apart"), [("himate", {"most": "1"}, 29), ("m-mad", {}, 9)])
def test_a_flaky_server_changes_no_record(
    server: Server, tmp_path: Path, judge: str, settings: dict[str, str], apart: int
) -> None:
    """A fault now and then, behind which so many good answers stand, costs a call each."""
    server.answer = MODELS[judge](finds=True)
    options: Any = {"base_url": server.url, "model": "mock", "concurrency": 1, "settings": settings}
    undisturbed = run(judge, platform_set(1), out=tmp_path / "undisturbed", **options)
    server.fails(*(play for fault in FAULTS for play in (fault, *[None] * apart)), None)
    disturbed = run(judge, platform_set(1), out=tmp_path / "disturbed", **options)
    assert disturbed.records == undisturbed.records
    assert len(server.log) == 2 * CALLS[judge] + len(FAULTS)


# Calls of two translations whose agent is the mock; the rules agree with the opponent at once.
@pytest.mark.parametrize(
    ("judge", "role", "asked"),
    [
        ("himate", "tier-1", 152 - 2 * 19),
        ("himate", "accuracy", None),
        ("himate", "accuracy.omission", None),
        ("m-mad", "supporter", 4 + 4 + 1),
        ("m-mad", "supporter.style", 4 + 3 * 6 + 1 + 1),
        ("m-mad", "final", 28),
    ],
)
def test_each_agent_may_have_a_model_of_its_own(
    server: Server, tmp_path: Path, judge: str, role: str, asked: int | None
) -> None:
    server.answer = MODELS[judge](finds=True)
    settings = {"most": "1"} if judge == "himate" else {}
    options: Any = {"base_url": server.url, "model": ["mock", f"{role}=builtin/rules"], "settings": settings}
    done = run(judge, platform_set(1), out=tmp_path / "run", **options)
    assert f"{role}=builtin/rules" in str(done.info.signature)
    assert done.info.counts["judged"] == 2
    assert len(server.log) < 2 * CALLS[judge]
    assert asked is None or len(server.log) == 2 * asked


@pytest.mark.parametrize(
    ("judge", "profile", "settings"),
    [
        *((judge, "recommended", settings) for judge, settings in EACH),
        *(("himate", "recommended", settings) for settings in ({}, {"agents": "core"}, {"explain-in": "de"})),
        *((judge, profile, {}) for judge in MODELS for profile in ("paper", "code")),
    ],
    ids=str,
)
def test_the_embedded_rules_play_every_role(
    tmp_path: Path, judge: str, profile: Any, settings: dict[str, str]
) -> None:
    test_set = load(examples.path("test_set.jsonl")).select(limit=3)
    options: Any = {"settings": settings, "profile": profile}
    told = forecast(judge, test_set, **options)
    done = run(judge, test_set, out=tmp_path / "run", **options)
    assert all(isinstance(record, Annotation) for record in done.records)
    assert told.calls.min <= done.info.calls["asked"] <= told.calls.max


@pytest.mark.parametrize(("judge", "size", "early"), [("himate", 2, 40), ("m-mad", 3, 7)])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str, size: int, early: int
) -> None:
    check_stops(
        lambda out: run(judge, platform_set(size), out=out),
        lambda total: (1, early, total // 2, total - 1),
        tmp_path,
        monkeypatch,
    )


@pytest.mark.parametrize(("judge", "size", "settings"), [("himate", 1, {"most": "1"}), ("m-mad", 2, {})])
def test_a_recorded_run_gives_the_same_records_without_a_model(
    tmp_path: Path, server: Server, judge: str, size: int, settings: dict[str, str]
) -> None:
    server.answer = MODELS[judge](finds=True)
    options: Any = {"base_url": server.url, "model": "mock", "settings": settings}
    first = run(judge, platform_set(size), out=tmp_path / "a", **options)
    asked = len(server.log)
    replay: Any = {"model": f"replay:{tmp_path / 'a'}", "settings": settings}
    assert run(judge, platform_set(size), out=tmp_path / "b", **replay).records == first.records
    assert len(server.log) == asked
    assert read_run(tmp_path / "b").records == first.records


@pytest.mark.realdata
@pytest.mark.parametrize("judge", MODELS)
def test_wmt23_is_judged_offline_and_the_same_after_a_stop(
    adjudge_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: str
) -> None:
    texts = load(adjudge_data / "wmt23", lp="en-de")
    test_set = texts.select(systems=texts.systems[:3], limit=3)
    whole = check_stops(
        lambda out: run(judge, test_set, out=out), lambda total: (total // 2,), tmp_path, monkeypatch
    )
    assert whole.info.counts.get("failed", 0) == 0
    told = forecast(judge, test_set)
    assert told.calls.min <= whole.info.calls["asked"] <= told.calls.max


def test_the_rules_debate_only_what_they_find_and_agree_at_once(tmp_path: Path) -> None:
    done = run("m-mad", platform_set(3), out=tmp_path / "run")
    assert all(isinstance(r, Annotation) and [s.text for s in r.spans] for r in done.records)
    assert not any(record.flags for record in done.records if isinstance(record, Annotation))


def test_a_forecast_without_a_model_is_the_judges_bounds_times_the_units() -> None:
    told = forecast("m-mad", platform_set(3), base_url="http://127.0.0.1:9/v1", model="mock")
    assert told.calls == tuple(6 * bound for bound in MMad().calls)
