"""A judge that does not see what it judges is named before every number; one that sees never is."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from adjudge import examples
from adjudge.analysis.blindness import association, sight_notes, why_unfit
from adjudge.analysis.rank import rank
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run, RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import UNFIT, UNSEEN
from adjudge.errors import UnfitWarning
from adjudge.formats.read import load
from adjudge.runs.engines import run
from adjudge.store.json_lines import write_test_set
from adjudge.store.run_directory import read_records
from tests.analysis.records import preferred
from tests.analysis.records import rated as records_rated
from tests.faults.conftest import call
from tests.faults.server import TEXT, Server, body, envelope

Capsys = pytest.CaptureFixture[str]

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


def test_programs_are_told_nothing_of_a_fit_judge(tmp_path: Path, capsys: Capsys) -> None:
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


def test_every_command_says_it_first(server: Server, tmp_path: Path, capsys: Capsys) -> None:
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
    title: Any = re.search("<title>(.*?)</title>", (tmp_path / "report.html").read_text())
    assert UNFIT in title[1]


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
def test_every_verb_says_it(verb: str, server: Server, tmp_path: Path, capsys: Capsys) -> None:
    def nowhere(payload: dict[str, Any]) -> str:
        return listed(*(f"Hamster {place}" for place in range(len(translation(payload)) % 5)))

    def whole(payload: dict[str, Any]) -> str:
        return listed(translation(payload))

    server.answer = nowhere if verb == "select" else whole  # variance is refused where there is none
    out = tmp_path / "run"
    call("run", "gemba-mqm", TEXTS, *f"--lp en-de --base-url {server.url} --model mock --out {out}".split())
    capsys.readouterr()
    line = [word.replace("RUN", str(out)) for word in VERBS[verb].split()]
    code = call(*line)
    assert UNFIT in capsys.readouterr().out
    assert code == {"rank": 3, "gate": 6}.get(verb, 0)
    call(*line, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert [UNFIT in note for note in found["unfit"]] == [True]


Mode = Callable[[int, np.random.Generator], Any]
MODES: dict[str, tuple[Mode, str]] = {
    "one score": (lambda n, _: np.full(n, 73.0), r"its score is the same for (\d+) of \1 translations"),
    "97 % one rating": (
        lambda n, chance: np.where(chance.random(n) < 0.97, 80.0, chance.integers(0, 100, n)),
        r"its score is the same for 1\d\d of 1\d\d translations",
    ),
    "drift": (
        lambda n, chance: np.clip(99 - 70 * np.arange(n) / n + chance.normal(0, 4, n), 0, 100),
        "drift with the number of the call",
    ),
    "cycle of two": (lambda n, _: 60.0 + np.arange(n) % 2 * 30, "its score is the same (every|within)"),
    "cycle of five": (lambda n, _: 50.0 + np.arange(n) % 5 * 10, "its score is the same every 5 calls"),
    "noisy cycle of five": (
        lambda n, chance: 50.0 + np.arange(n) % 5 * 10 + chance.integers(0, 10, n),
        "its scores come back every 5 calls",
    ),
    "one score for a source": (
        lambda n, _: np.repeat([float(place * 37 % 101) for place in range(n)], 4)[:n],
        "those of the sources, whatever the system",
    ),
}


def rated(scores: Any, segments: Sequence[Segment]) -> Run:
    """A judge's ratings of all translations, in the order of the calls."""
    at = [(s, system) for s in segments for system in s.translations]
    records = [
        records_rated(system, s.segment, float(score), lp=s.lp, document=s.document, annotator="gemba-da")
        for (s, system), score in zip(at, scores, strict=True)
    ]
    return run_of("gemba-da", "da-sqm", segments, records)


def run_of(judge: str, protocol: str, segments: Sequence[Segment], records: Sequence[Record]) -> Run:
    info = RunInfo(signature=Signature(judge, {}), kind="judge", annotator=judge, protocol=protocol)
    return Run(info=info, test_set=TestSet(name="made", segments=tuple(segments)), records=tuple(records))


def segments_of(lp: str, chance: np.random.Generator, systems: int = 4) -> list[Segment]:
    """Thirty segments whose translations are drawn from the words of real ones, and all differ."""
    real = load(TEXTS, lp=lp)
    words = [word for s in real.segments for text in s.translations.values() for word in text.split()]
    sources = [word for s in real.segments for word in s.source.split()]

    def drawn(known: list[str]) -> str:
        return " ".join(chance.choice(known, chance.integers(4, 30)))

    return [
        Segment(
            lp=lp,
            document=f"document {place // 5}",
            segment=str(place),
            source=drawn(sources),
            translations={f"system {name}": drawn(words) for name in range(systems)},
        )
        for place in range(120 // systems)
    ]


@pytest.mark.parametrize("lp", ["en-de", "zh-en", "en-ar"])
@pytest.mark.parametrize("name", MODES)
def test_scores_that_no_text_moves_are_named(name: str, lp: str) -> None:
    chance = np.random.default_rng([*name.encode(), *lp.encode()])
    judge, why = MODES[name]
    segments = segments_of(lp, chance)
    done = rated(judge(120, chance), segments)
    unfit, unseen = why_unfit(done)
    assert re.search(why, " ".join([*unfit, *unseen])), (unfit, unseen)
    # people who see that the translations differ make it unfit, however little the rules find
    people = rated(chance.integers(0, 101, 120), segments).records
    gold = [replace(record, annotator="people") for record in people if isinstance(record, Annotation)]
    assert re.search(why, " ".join(why_unfit(done, gold)[0]))
    assert why_unfit(rated(chance.integers(0, 101, 120), segments)) == ([], [])


@pytest.mark.parametrize("lp", ["en-de", "zh-en"])
def test_a_constant_judge_is_not_shown_to_see(
    lp: str, server: Server, tmp_path: Path, capsys: Capsys
) -> None:
    """The rules find nothing in one word and full stop that the source has too."""
    chance = np.random.default_rng(3)
    source, text = ("这是第 {} 号。", "This is number {}.") if lp == "zh-en" else ("Room {}.", "Zimmer {}.")
    segments = [
        Segment(
            lp=lp, segment=f"{place}", source=source.format(number), translations={"one": text.format(number)}
        )
        for place, number in enumerate(chance.choice(9000, 60, replace=False) + 1000)
    ]
    done = rated(np.full(60, 90.0), segments)
    assert why_unfit(done)[0] == []
    assert UNSEEN in score_records(done).notes[0]
    write_test_set(tmp_path / "texts.jsonl", done.test_set)
    server.answer = lambda payload: '{"rating": 90}'
    options = ("--base-url", server.url, "--model", "mock", "--out", str(tmp_path / "run"))
    assert call("run", "gemba-da", str(tmp_path / "texts.jsonl"), *options) == 0
    assert UNSEEN in capsys.readouterr().err
    assert call("score", str(tmp_path / "run")) == 0
    assert UNSEEN in capsys.readouterr().out
    people = tmp_path / f"{lp}.people.seg.score"
    people.write_text("".join(f"one\t{place % 40}\n" for place in range(60)))
    for words in (["score"], ["meta", str(tmp_path / "texts.jsonl"), "--gold", str(people), "--scores"]):
        assert call(*words, str(tmp_path / "run"), "--format", "json") == 0
        found = json.loads(capsys.readouterr().out)
        (told,) = found["unfit" if "meta" in words else "not_shown_to_see"]  # gold shows that they differ
        assert "its score is the same for 60 of 60 translations" in told


@pytest.mark.parametrize(
    ("few", "told"),
    [
        (0, "60 of 60 translations (score 90), and nothing shows that the translations differ."),
        (1, "(score 90), and 1 judgement by others cannot show that they differ (48 can)."),
        (47, "and 47 judgements by others cannot show that they differ (48 can)."),
        (48, "is unfit, because its score is the same for 60 of 60 translations (score 90)."),
    ],
)
def test_gold_that_is_too_small_to_show_anything_is_counted(few: int, told: str) -> None:
    segments = [
        Segment(lp="en-de", segment=f"{n}", source=f"Room {n}.", translations={"one": f"Zimmer {n}."})
        for n in range(1000, 1060)
    ]
    people = [record for record in rated(np.arange(60.0), segments).records if isinstance(record, Annotation)]
    gold = [replace(record, annotator="people") for record in people[:few]]
    (note,) = sight_notes(rated(np.full(60, 90.0), segments), gold)
    assert note.endswith(told)


def test_a_run_of_an_unfit_judge_ends_with_code_3_and_a_warning(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: '{"rating": 87}'
    options: Any = {"out": tmp_path / "run", "base_url": server.url, "model": "mock"}
    with pytest.warns(UnfitWarning, match="gemba-da is unfit, because"):
        done = run("gemba-da", FOUR, **options)
    with pytest.warns(UnfitWarning, match="gemba-da is unfit, because"):
        rank(done)
    line = ("--lp", "en-de", "--base-url", server.url, "--model", "mock", "--out", str(tmp_path / "run"))
    assert call("run", "gemba-da", TEXTS, *line) == 3
    assert call("rank", str(tmp_path / "run")) == 3
    assert call("score", str(tmp_path / "run")) == 0


@pytest.mark.parametrize("lp", ["en-de", "zh-en", "en-ar"])
@pytest.mark.parametrize(
    ("share", "by_length", "why"),
    [
        (0.96, False, r"\d+ of \d+ answers chose the one shown first"),
        (0.87, True, r"the longer translation wins in \d+ of \d+ pairs"),
        (0.5, True, ""),
        (0.6, False, ""),
    ],
)
def test_pairs_that_place_or_length_decide_are_named(
    lp: str, share: float, by_length: bool, why: str
) -> None:
    chance = np.random.default_rng([int(100 * share), *lp.encode()])
    segments = segments_of(lp, chance)
    records = []
    for segment in segments:
        for one, other in list(combinations(segment.translations, 2))[:4]:
            longer = "AB"[len(segment.translations[one]) < len(segment.translations[other])]
            said = [
                wanted if is_so else "AB"[wanted == "A"]
                for wanted, is_so in zip(
                    longer * 2 if by_length else "AB", chance.random(2) < share, strict=True
                )
            ]
            orders = (said[0], said[0]) if by_length else tuple(said)
            verdict: Any = orders[0] if orders[0] == orders[1] else "E"
            made = preferred(one, other, verdict, segment.segment, annotator="direct-rank", lp=lp)
            records.append(replace(made, orders=cast("Any", orders)))
    unfit, unseen = why_unfit(run_of("direct-rank", "pairwise", segments, records))
    assert unseen == []
    assert [bool(re.fullmatch(why, reason)) for reason in unfit] == [True] * bool(why), unfit


def test_few_judgements_say_nothing(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: '{"rating": 87}'
    few = TestSet(name="few", segments=FOUR.segments[:5])
    done = run("gemba-da", few, out=tmp_path / "r", base_url=server.url, model="mock")
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
