"""RATE in runs: against a server whose answers depend on all that it is shown, stopped, recorded, offline."""

import hashlib
import json
import random
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adjudge import examples
from adjudge.core.record import Annotation, Failure
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import SettingError, UsageError
from adjudge.formats.read import load
from adjudge.llm import search
from adjudge.llm.faults import Patience
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from adjudge.store.run_directory import read_run
from adjudge.store.traces import Trace
from tests.faults.server import Server, envelope, plain
from tests.runs.conftest import check_stops

SYSTEMS = ("A", "B", "C", "D")
NOTES = "# Fish\n\nA red herring leads people astray.\n\n# Plums\n\nPlum duff is a pudding.\n"


def small(size: int = 2, systems: tuple[str, ...] = SYSTEMS) -> TestSet:
    """Idioms, and systems that translate each in another way, in the order that is wanted."""
    segments = tuple(
        Segment(
            segment=str(n),
            lp="en-de",
            source=f"A red herring, number {n}.",
            translations={name: f"Ein {name}-Hering, Nummer {n}." for name in systems},
        )
        for n in range(size)
    )
    return TestSet(name="small", segments=segments)


@pytest.fixture
def notes(tmp_path: Path) -> str:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "idioms.md").write_text(NOTES)
    return f"files:{folder}"


def drawn(payload: dict[str, Any]) -> int:
    return int(hashlib.sha256(plain(payload).encode()).hexdigest()[:8], 16)


def answer(payload: dict[str, Any]) -> str:
    """Any readable answer; which one, depends on every word of the question."""
    number = drawn(payload)
    system = payload["messages"][0]["content"]
    if payload.get("tools"):
        return json.dumps(choose(payload, number))
    if '"suspected_gaps"' in system:
        found = {"rationale": f"r{number}", "error_spans": [], "suspected_gaps": []}
        return json.dumps(found | {"score": number % 5, "confidence": number % 10 / 10})
    if '"queries"' in system:
        return json.dumps({"queries": [{"query": f"red herring {number % 3}", "recency": None}]})
    if '"reasoning"' in system:
        return json.dumps({"reasoning": "r", "answer": f"a{number}"})
    return json.dumps({"analysis": f"n{number}", "result": "ABE"[number % 3]})


def choose(payload: dict[str, Any], number: int) -> dict[str, Any]:
    """A tool call: at least one evaluation, then whatever comes, then the end."""
    offered = [tool["function"]["name"] for tool in payload["tools"]]
    called = [m["tool_calls"][0]["function"]["name"] for m in payload["messages"] if m.get("tool_calls")]
    anchors = {"low_anchor": f"low {number}", "high_anchor": f"high {number}"}
    if "search" in offered and "search" not in called and number % 2:
        return {"tool": "search", "query": f"q{number % 4}"}
    if "prepare" in offered:
        return {"tool": "prepare", "context_notes": f"p{number}", **anchors}
    if "evaluate" not in called and "evaluate" in offered:
        return {"tool": "evaluate", "context_notes": f"c{number}"}
    if "compare" in offered and called.count("compare") < number % 3:
        return {"tool": "compare", "tentative_score": number % 5, "context_notes": "", **anchors}
    return {"tool": "finish", "score": number % 9 / 2, "rationale": f"f{number}"}


async def tooled(request: web.Request, content: str) -> web.StreamResponse:
    """A good answer; one that names a tool as a tool call."""
    value = json.loads(content)
    if "tool" not in value:
        return web.json_response(envelope(content))
    function = {"name": value.pop("tool"), "arguments": json.dumps({"thought": "So.", **value})}
    return web.json_response(
        envelope(
            None, finish="tool_calls", tool_calls=[{"id": "c1", "type": "function", "function": function}]
        )
    )


@pytest.fixture
def server(server: Server) -> Server:
    server.answer = answer
    server.play = lambda number: tooled
    return server


def scores(done: Run) -> dict[tuple[str, str], float | None]:
    assert not [r for r in done.records if isinstance(r, Failure)]
    return {(r.segment, r.system): r.rating for r in done.records if isinstance(r, Annotation)}


def judge(server: Server, test_set: TestSet, out: Path, engine: str = "none", **settings: str) -> Run:
    options: Any = {"base_url": server.url, "model": "mock"}
    return run("rate", test_set, out=out, settings={"search": engine, **settings}, **options)


@pytest.mark.parametrize("has_engine", [False, True])
def test_with_frozen_anchors_neither_order_nor_company_moves_a_score(
    server: Server, tmp_path: Path, notes: str, *, has_engine: bool
) -> None:
    engine = notes if has_engine else "none"
    whole = judge(server, small(), tmp_path / "whole", engine, anchors="frozen")
    wanted = scores(whole)
    assert len(set(wanted.values())) > 2, "the answers differ"
    rng = random.Random(7)
    groups = [*rng.sample([*permutations(SYSTEMS)], 4), *permutations("BD"), ("C",), tuple("DAC")]
    for place, systems in enumerate(groups):
        done = judge(server, small(systems=systems), tmp_path / str(place), engine, anchors="frozen")
        assert scores(done) == {key: value for key, value in wanted.items() if key[1] in systems}


def test_with_growing_anchors_they_do(server: Server, tmp_path: Path) -> None:
    """Otherwise the test above would find nothing."""
    wanted = scores(judge(server, small(), tmp_path / "whole", order="given"))
    turned = scores(judge(server, small(systems=SYSTEMS[::-1]), tmp_path / "turned", order="given"))
    alone = scores(judge(server, small(systems=("D",)), tmp_path / "alone", order="given"))
    assert turned != wanted
    assert any(wanted[key] != value for key, value in alone.items())


def test_a_drawn_order_does_not_follow_the_test_set(server: Server, tmp_path: Path) -> None:
    one = judge(server, small(), tmp_path / "one")
    other = judge(server, small(systems=SYSTEMS[::-1]), tmp_path / "other")
    assert scores(one) == scores(other)
    assert "order_seed:0" in str(one.info.signature)
    assert scores(judge(server, small(), tmp_path / "third", **{"order-seed": "5"})) != scores(one)


def prepare(payload: dict[str, Any]) -> str:
    """The end of a preparation, with as many anchors as are wanted."""
    wanted = payload["tools"][-1]["function"]["parameters"]["required"]
    return json.dumps({"tool": "prepare", **{name: "x" for name in wanted if name != "thought"}})


def dearest(payload: dict[str, Any]) -> str:
    """Nothing but searches after one evaluation, or comparisons where there is no search."""
    if not payload.get("tools"):
        return answer(payload)
    offered = [tool["function"]["name"] for tool in payload["tools"]]
    called = [m["tool_calls"][0]["function"]["name"] for m in payload["messages"] if m.get("tool_calls")]
    if offered == ["finish"]:
        return json.dumps({"tool": "finish", "score": 2, "rationale": "r"})
    if offered == ["prepare"]:
        return prepare(payload)
    if "search" in offered and ("evaluate" in called or "prepare" in offered):
        return json.dumps({"tool": "search", "query": f"q{drawn(payload)}"})
    if "compare" in offered and 0 < len(called) <= 5:
        compared = {
            "tentative_score": len(called) - 1,
            "context_notes": f"n{len(called)}",
            "low_anchor": "l",
            "high_anchor": "h",
        }
        return json.dumps({"tool": "compare", **compared})
    return json.dumps({"tool": "evaluate", "instruction": f"i{len(called)}"})


def quickest(payload: dict[str, Any]) -> str:
    if not payload.get("tools"):
        return answer(payload)
    offered = [tool["function"]["name"] for tool in payload["tools"]]
    called = [m for m in payload["messages"] if m.get("tool_calls")]
    if "prepare" in offered:
        return prepare(payload)
    if not called:
        return json.dumps({"tool": "evaluate"})
    return json.dumps({"tool": "finish", "score": 2, "rationale": "r"})


ABLATIONS: list[dict[str, str]] = [
    {},
    {"without": "search"},
    {"without": "compare"},
    {"without": "both"},
    {"anchors": "frozen"},
    {"anchors": "frozen", "without": "compare"},
    {"anchors": "frozen", "without": "both"},
    {"turns": "3"},
]


@pytest.mark.parametrize("settings", ABLATIONS, ids=str)
@pytest.mark.parametrize("has_engine", [False, True])
def test_a_server_is_asked_as_often_as_was_told(
    server: Server, tmp_path: Path, notes: str, settings: dict[str, str], *, has_engine: bool
) -> None:
    if has_engine and settings.get("without") in {"search", "both"}:
        with pytest.raises(UsageError, match="contradict"):
            judge(server, small(), tmp_path / "run", notes, **settings)
        return
    engine = notes if has_engine else "none"
    options: Any = {"base_url": server.url, "model": "mock", "settings": {"search": engine, **settings}}
    found = forecast("rate", small(), **options)
    assert not server.log
    server.answer = quickest
    judge(server, small(), tmp_path / "quick", engine, **settings)
    assert len(server.log) == found.calls.min
    server.log.clear()
    server.answer = dearest
    done = judge(server, small(), tmp_path / "dear", engine, **settings)
    assert len(server.log) == found.calls.max
    assert done.info.counts == {"judged": 8, "failed": 0, "pending": 0}
    assert done.info.calls["asked"] == len(server.log)


def test_searches_are_counted_apart_from_calls(server: Server, tmp_path: Path, notes: str) -> None:
    server.answer = dearest
    done = judge(server, small(1, ("A",)), tmp_path / "run", notes)
    assert done.info.calls["asked"] == len(server.log) == 30
    assert 1 <= done.info.calls["searched"] <= 9
    assert not forecast(
        "rate",
        small(1, ("A",)),
        out=tmp_path / "run",
        base_url=server.url,
        model="mock",
        settings={"search": notes},
    ).calls.max


@pytest.mark.parametrize("anchors", ["growing", "frozen"])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    tmp_path: Path, notes: str, monkeypatch: pytest.MonkeyPatch, anchors: str
) -> None:
    options: Any = {"settings": {"search": notes, "anchors": anchors}}
    check_stops(
        lambda out: run("rate", small(), out=out, **options),
        lambda total: (1, 7, total // 2, total - 1),
        tmp_path,
        monkeypatch,
    )


def test_another_machine_repeats_a_run_without_model_engine_or_notes(
    server: Server, tmp_path: Path, notes: str
) -> None:
    first = judge(server, small(), tmp_path / "a", notes)
    asked = len(server.log)
    shutil.rmtree(notes.removeprefix("files:"))
    place = tmp_path / "a"
    second = run(
        "rate", small(), out=tmp_path / "b", model=f"replay:{place}", settings={"search": f"recorded:{place}"}
    )
    assert second.records == first.records
    assert str(second.info.signature) == str(first.info.signature)
    assert len(server.log) == asked
    assert read_run(tmp_path / "b").records == first.records


def test_a_run_says_with_what_it_searched(server: Server, tmp_path: Path, notes: str) -> None:
    without = judge(server, small(1), tmp_path / "without")
    assert "|search:none|" in str(without.info.signature)
    done = judge(server, small(1), tmp_path / "with", notes)
    name = done.info.signature.fields["search"]
    assert name.startswith("files:")
    assert notes not in str(done.info.signature)
    (Path(notes.removeprefix("files:")) / "more.md").write_text("More.")
    with pytest.raises(UsageError, match=f"judge search was {name}, now files:"):
        judge(server, small(1), tmp_path / "with", notes)


def test_a_trace_shows_turns_tools_and_what_the_engine_found(tmp_path: Path, notes: str) -> None:
    done = run("rate", small(1), out=tmp_path / "run", settings={"search": notes})
    trace = Trace(tmp_path / "run")
    units = list(trace.units())
    told = {unit.systems[0]: trace.conversation(unit) for unit in units}
    first = next(r.system for r in done.records if isinstance(r, Annotation) and "search" in r.steps)
    said = [(e.use.stage, e.use.role) for e in told[first]]
    assert said[:5] == [
        (f"{first}: turn 1", "core"),
        (f"{first}: turn 1", "search"),
        ("search", "engine"),
        (f"{first}: turn 1", "search"),
        (f"{first}: turn 2", "core"),
    ]
    engine = told[first][2]
    assert engine.reply is not None
    assert "astray" in engine.reply.text
    assert all(e.use.stage.startswith(f"{s}: ") for s in told if s != first for e in told[s])
    trace.close()


def test_an_engine_that_is_away_leaves_the_run_going(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = Patience(attempts=2, first_pause=0.01, first_wait=0.05, longest_wait=0.1)
    monkeypatch.setattr(search, "_PATIENCE", patience)
    server.answer = dearest
    done = judge(server, small(1, ("A",)), tmp_path / "run", "http://127.0.0.1:9/find")
    (record,) = done.records
    assert isinstance(record, Annotation)
    assert "tool_failed" in record.flags
    assert record.steps == ("evaluate", *["search"] * 9, "finish")
    again = run(
        "rate",
        small(1, ("A",)),
        out=tmp_path / "again",
        model=f"replay:{tmp_path / 'run'}",
        settings={"search": "http://127.0.0.1:9/find"},
    )
    assert again.records == done.records


def test_a_flaky_server_changes_no_record(server: Server, tmp_path: Path) -> None:
    undisturbed = judge(server, small(1), tmp_path / "undisturbed")
    faults = iter(["500", "empty", "html", "reset", "429 soon"] * 2)
    server.play = lambda number: next(faults, tooled) if number % 3 == 1 else tooled
    disturbed = judge(server, small(1), tmp_path / "disturbed")
    assert disturbed.records == undisturbed.records


@pytest.mark.parametrize("role", ["core", "evaluation", "comparison", "search"])
def test_each_agent_may_have_a_model_of_its_own(
    server: Server, tmp_path: Path, notes: str, role: str
) -> None:
    options: Any = {"base_url": server.url, "model": ["mock", f"{role}=builtin/rules"]}
    done = run("rate", small(1), out=tmp_path / "run", settings={"search": notes}, **options)
    assert done.info.counts["judged"] == 4
    asked = {str(payload["messages"][0]["content"])[:30] for payload in server.log}
    begins = {"core": "You lead", "evaluation": "You rate", "comparison": "You compare", "search": "You turn"}
    assert not [words for words in asked if words.startswith(begins[role])]
    assert len(asked) >= 2


def test_only_judges_that_search_take_an_engine(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="has no setting 'search'"):
        run("gemba-da", small(1), out=tmp_path / "a", settings={"search": "files:x"})
    with pytest.raises(UsageError, match="does not search"):
        run("gemba-da", small(1), out=tmp_path / "b", search_key_env="KEY")
    with pytest.raises(UsageError, match="no search engine 'bing'"):
        run("rate", small(1), out=tmp_path / "c", settings={"search": "bing"})


def test_a_forecast_asks_neither_model_nor_engine(server: Server, tmp_path: Path) -> None:
    options: Any = {"base_url": server.url, "model": "mock"}
    found = forecast("rate", small(), settings={"search": "http://127.0.0.1:9/find"}, **options)
    assert found.calls == (2 * 4 * 3, 2 * 4 * 9, 2 * 4 * 30)
    assert not server.log


def test_samples_begin_anew_and_share_what_the_engine_found(
    server: Server, tmp_path: Path, notes: str
) -> None:
    options: Any = {"base_url": server.url, "model": "mock"}
    settings = {"search": notes, "samples": "3"}
    server.answer = dearest
    told = forecast("rate", small(1, ("A",)), settings=settings, **options)
    done = run("rate", small(1, ("A",)), out=tmp_path / "run", settings=settings, **options)
    (record,) = done.records
    assert isinstance(record, Annotation)
    assert (record.rating, record.samples) == (2, (2, 2, 2))
    assert len(server.log) == told.calls.max == 90
    assert done.info.calls["searched"] <= 3
    assert "|search:files:" in str(done.info.signature)
    assert "|samples:3|" in str(done.info.signature)


@pytest.mark.parametrize("profile", ["recommended", "paper", "code"])
@pytest.mark.parametrize("settings", [*ABLATIONS, {"scale": "0-100"}, {"tools": "xml"}], ids=str)
def test_the_embedded_rules_drive_the_loop(
    tmp_path: Path, notes: str, profile: Any, settings: dict[str, str]
) -> None:
    test_set = load(examples.path("test_set.jsonl")).select(limit=3)
    engine = {} if settings.get("without") in {"search", "both"} else {"search": notes}
    options: Any = {"settings": {**engine, **settings}, "profile": profile}
    told = forecast("rate", test_set, **options)
    done = run("rate", test_set, out=tmp_path / "run", **options)
    assert done.info.counts["failed"] == 0
    assert done.info.calls["asked"] <= told.calls.max
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    run("rate", test_set, out=tmp_path / "run", **options)
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before
    used = {step for r in done.records if isinstance(r, Annotation) for step in r.steps}
    wanted = {"evaluate", "finish"} | ({"search"} if engine and "anchors" not in settings else set())
    assert used - {"compare"} == wanted


@pytest.mark.realdata
@pytest.mark.parametrize(("folder", "lp"), [("wmt23", "en-de"), ("ment", "zh-en")])
def test_real_test_sets_are_judged_offline_and_the_same_after_a_stop(
    adjudge_data: Path, tmp_path: Path, notes: str, monkeypatch: pytest.MonkeyPatch, folder: str, lp: str
) -> None:
    test_set = load(adjudge_data / folder, lp=lp).select(limit=3)
    options: Any = {"settings": {"search": notes}}
    whole = check_stops(
        lambda out: run("rate", test_set, out=out, **options), lambda _: (100,), tmp_path, monkeypatch
    )
    assert whole.info.counts["failed"] == 0
