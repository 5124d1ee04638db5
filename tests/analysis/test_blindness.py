"""A judge that does not see what it judges is named before every number; one that sees never is."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge import examples
from adjudge.analysis.blindness import association, why_unfit
from adjudge.analysis.gate import GateSettings, gate
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Annotation
from adjudge.core.wording import UNFIT
from adjudge.formats.read import load
from adjudge.runs.engines import run
from adjudge.store.run_directory import read_records
from tests.faults.conftest import call
from tests.faults.server import TEXT, Server, body, envelope

Answer = Callable[[dict[str, Any]], str]
REPLY = re.compile(r"<<reply [0-9a-f]{16}>>\n(.*)\n")
FOUR = load(examples.path("test_set.jsonl"), lp="en-de")
"""Sixteen segments of four systems: 64 translations."""


def translation(payload: dict[str, Any]) -> str:
    return str(json.loads(TEXT.findall(payload["messages"][-1]["content"])[-1]))


def listed(*spans: str) -> str:
    error = {"category": "accuracy/mistranslation", "severity": "major", "side": "translation"}
    return json.dumps({"errors": [{"span": span, **error} for span in spans]})


def lengthy(payload: dict[str, Any]) -> str:
    return json.dumps({"rating": min(100, len(translation(payload)) // 2)})


BLIND: dict[str, tuple[str, Answer, str]] = {
    "constant rating": (
        "gemba-da",
        lambda payload: '{"rating": 87}',
        r"same for 6\d of 6\d translations \(score 87\)",
    ),
    "always the best": ("gemba-da", lambda payload: '{"rating": 100}', r"the same for .* \(score 100\)"),
    "always clean": ("gemba-mqm", lambda payload: '{"errors": []}', r"the same for .* \(score 0\)"),
    "one error": (
        "gemba-mqm",
        lambda payload: listed("Hamster"),
        r"6\d of 6\d quotations stand in neither text",
    ),
    "from nowhere": (
        "gemba-mqm",
        lambda payload: listed(translation(payload)[::-1], "Hamster"),
        r"12\d of 12\d quotations stand in neither text",
    ),
    "length": ("gemba-da", lengthy, r"its scores follow the length of the translation alone"),
    "words": (
        "gemba-da",
        lambda payload: json.dumps({"rating": max(1, 95 - len(translation(payload).split()))}),
        r"follow the (words|length) of the translation alone",
    ),
    "ends": (
        "gemba-da",
        lambda payload: json.dumps({"rating": 100 * (hash(translation(payload)) % 2)}),
        r"6\d of 6\d ratings are 0 or 100",
    ),
}


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_judge_is_named(name: str, server: Server, tmp_path: Path) -> None:
    judge, answer, why = BLIND[name]
    server.answer = answer
    done = run(judge, FOUR, out=tmp_path / "run", base_url=server.url, model="mock")
    (reason, *_), _ = why_unfit(done)
    assert re.search(why, reason), reason
    assert UNFIT in score_records(done).notes[0]


@pytest.mark.parametrize("judge", ["gemba-mqm", "gemba-da", "gemba-esa", "ea-prompt", "direct-rank", "fire"])
def test_the_rules_are_never_named(judge: str, tmp_path: Path) -> None:
    for lp in ("en-de", "zh-en", "en-ar"):
        texts = load(examples.path("test_set.jsonl"), lp=lp)
        assert why_unfit(run(judge, texts, out=tmp_path / lp, model="builtin/rules")) == ([], [])


def test_a_perfect_model_is_never_named(server: Server, tmp_path: Path) -> None:
    records = read_records(examples.path("gold.mqm.jsonl"))
    gold = {(r.segment, r.system): r for r in records if isinstance(r, Annotation) and r.lp == "en-de"}
    at = {s.translations[name]: (s.segment, name) for s in FOUR.segments for name in s.translations}

    def answer(payload: dict[str, Any]) -> str:
        return listed(*(span.text for span in gold[at[translation(payload)]].spans))

    server.answer = answer
    assert why_unfit(run("gemba-mqm", FOUR, out=tmp_path / "run", base_url=server.url, model="mock")) == (
        [],
        [],
    )


def test_a_judge_of_pairs_that_always_takes_the_first_is_named(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: '{"analysis": "It is.", "result": "A"}'
    done = run("direct-rank", FOUR, out=tmp_path / "first", base_url=server.url, model="mock")
    (reason,), _ = why_unfit(done)
    assert re.fullmatch(r"its answer is the same for (\d+) of \1 pairs \(the one shown first\)", reason), (
        reason
    )


def test_failures_that_depend_on_the_verdict_are_named(server: Server, tmp_path: Path) -> None:
    """A model that adds a sentence, and confirms all: errors count, and no answer without errors does."""

    def answer(payload: dict[str, Any]) -> str:
        if not (texts := TEXT.findall(payload["messages"][-1]["content"])):
            reply = json.loads(REPLY.findall(payload["messages"][-1]["content"])[0])
            return json.dumps({"verdict": json.loads(reply.partition("\n")[2])})
        first = json.loads(texts[-1]).split()[0]
        return "I looked closely.\n" + listed(*([first] if len(first) > 3 else []))

    server.answer = answer
    done = run("gemba-mqm", FOUR, out=tmp_path / "run", base_url=server.url, model="mock", max_failed=1)
    assert 5 < done.info.counts["failed"] < 60
    assert any(re.match(r"(\d+) of \1 failures said that all is well", why) for why in why_unfit(done)[0])


def test_what_was_confirmed_is_read_again_from_the_store_alone(server: Server, tmp_path: Path) -> None:
    def answer(payload: dict[str, Any]) -> str:
        if "translation" not in (asked := payload["messages"][-1]["content"]):
            return '{"verdict": {"rating": 66}}'
        return "Well. " + json.dumps({"rating": 66}) if len(asked) % 2 else '{"rating": 71}'

    server.answer = answer
    options: Any = {"base_url": server.url, "model": "mock", "out": tmp_path / "run"}
    done, asked = run("gemba-da", FOUR, **options), len(server.log)
    assert 0 < sum("confirmed" in r.flags for r in done.records if isinstance(r, Annotation)) < 64
    again = run("gemba-da", FOUR, reparse=True, **options)
    assert (again.records, len(server.log)) == (done.records, asked)


def test_programs_are_told_too(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.answer = lambda payload: '{"rating": 87}'
    run("gemba-da", FOUR, out=tmp_path / "run", base_url=server.url, model="mock")
    for command in ("score", "rank"):
        call(command, str(tmp_path / "run"), "--format", "json")
        found = json.loads(capsys.readouterr().out)
        assert [UNFIT in reason for reason in found["unfit"]] == [True]
    run("gemba-da", FOUR, out=tmp_path / "rules", model="builtin/rules")
    capsys.readouterr()
    call("score", str(tmp_path / "rules"), "--format", "json")
    assert "unfit" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("names", [("mock", "other"), ("mock", "mock-2026-11-01"), ("mock",)])
def test_two_models_under_one_name_are_named(server: Server, tmp_path: Path, names: tuple[str, ...]) -> None:
    server.play = lambda number: body(
        envelope(json.dumps({"rating": 1 + number * 37 % 98}), model=names[number * len(names) // 64])
    )
    options: Any = {"base_url": server.url, "model": "mock", "served_as": "any", "concurrency": 1}
    why, _ = why_unfit(run("gemba-da", FOUR, out=tmp_path / "run", **options))
    said = f"more than one model answered ({', '.join(names)})"
    assert (said in why) == (len(names) > 1)


def test_every_command_says_it_first(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda payload: '{"rating": 87}'
    out, texts = tmp_path / "run", str(examples.path("test_set.jsonl"))
    options = ("--lp", "en-de", "--base-url", server.url, "--model", "mock", "--out", str(out))
    call("run", "gemba-da", texts, *options)
    said = capsys.readouterr().err
    assert said.index(UNFIT) < said.index(" judged, ")
    for line in (("score", str(out)), ("rank", str(out)), ("rank", str(out), "--format", "markdown")):
        call(*line)
        assert UNFIT in capsys.readouterr().out.splitlines()[0]
    systems = sorted(FOUR.segments[0].translations)[:2]
    call("compare", str(out), *systems)
    assert UNFIT in capsys.readouterr().out.splitlines()[0]
    call("report", str(out), "--out", str(tmp_path / "report.html"))
    title = re.search("<title>(.*?)</title>", (tmp_path / "report.html").read_text())
    assert title is not None
    assert UNFIT in title[1]
    found = gate.by(out, None, GateSettings(systems=(systems[1], systems[0]), margin=1.0))
    assert (found.verdict, UNFIT in found.reasons[0]) == ("not-enough-data", True)


GOLD = str(examples.path("gold.esa.jsonl"))
TEXTS = str(examples.path("test_set.jsonl"))
ONE, OTHER = sorted(FOUR.segments[0].translations)[:2]
VERBS = {
    "score": "score RUN",
    "rank": "rank RUN",
    "compare": f"compare RUN {ONE} {OTHER}",
    "gate": f"gate --baseline RUN --systems {ONE},{OTHER} --margin 1",
    "power": "power RUN",
    "agreement": f"agreement {GOLD} --judge RUN --lp en-de",
    "bias": f"bias RUN --gold {GOLD} --lp en-de",
    "estimate": f"estimate RUN --gold {GOLD} --lp en-de",
    "thresholds": f"thresholds RUN --gold {GOLD} --lp en-de --bad 80",
    "spans": f"spans RUN --gold {examples.path('gold.mqm.jsonl')} --lp en-de",
    "meta": f"meta {TEXTS} --lp en-de --gold {GOLD} --scores RUN",
    "select": f"curate select {TEXTS} --lp en-de --gold {GOLD} --scores RUN --budget 50%",
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_it(
    verb: str, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(payload: dict[str, Any]) -> str:
        return listed(*(f"Hamster {place}" for place in range(len(translation(payload)) % 5)))

    def whole(payload: dict[str, Any]) -> str:
        return listed(translation(payload))

    server.answer = nowhere if verb == "select" else whole  # variance is refused where there is none
    out = tmp_path / "run"
    call(
        "run",
        "gemba-mqm",
        TEXTS,
        "--lp",
        "en-de",
        "--base-url",
        server.url,
        "--model",
        "mock",
        "--out",
        str(out),
    )
    capsys.readouterr()
    line = [word.replace("RUN", str(out)) for word in VERBS[verb].split()]
    code = call(*line)
    assert UNFIT in capsys.readouterr().out
    assert code == {"rank": 3, "gate": 6}.get(verb, 0)
    call(*line, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert [UNFIT in note for note in found["unfit"]] == [True]


def test_few_judgements_say_nothing(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: '{"rating": 87}'
    few = load(examples.path("test_set.jsonl"), lp="en-de")
    done = run(
        "gemba-da",
        type(few)(name="few", segments=few.segments[:5]),
        out=tmp_path / "r",
        base_url=server.url,
        model="mock",
    )
    assert why_unfit(done) == ([], [])


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([4, 3, 2, 1], [10, 20, 30, 40], -1.0),
        ([1, 1, 2, 2], [1, 2, 3, 4], 1.0),
        ([1, 3, 2, 4], [1, 2, 3, 4], 4 / 6),
        ([1, 1, 1, 1], [1, 2, 3, 4], None),
    ],
)
def test_the_association_of_two_lists(one: list[float], other: list[float], found: float | None) -> None:
    assert association(np.array(one, float), np.array(other, float)) == (
        None if found is None else pytest.approx(found)
    )
