"""`adjudge curate` as a person types it, offline and with a program of theirs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.analysis.pair_schedules import read_pairs
from adjudge.campaigns.campaign import open_campaign
from adjudge.core.record import Failure, Preference
from adjudge.curation.drafting import AskTranslation
from adjudge.store.json_lines import read_test_set, write_records
from adjudge.store.run_directory import read_records, read_run
from tests.analysis.records import preferred, rated
from tests.campaigns.work import items, person, take
from tests.cli.calling import Ask, call

SET = str(examples.path("test_set.jsonl"))
GOLD = str(examples.path("gold.esa.jsonl"))
MQM = str(examples.path("gold.mqm.jsonl"))


def told(ask: Ask, *arguments: str) -> Any:
    return ask.done(*arguments, "--format", "json").json


def test_drawn_pairs_are_those_that_a_judge_then_compares(ask: Ask) -> None:
    words = ("curate", "pairs", SET, "--lp", "en-de", "--pairs", "24", "--thin", "Dogwood=2", "--seed", "3")
    found = told(ask, *words, "--out", "pairs.jsonl")
    drawn = read_pairs(Path("pairs.jsonl"))
    assert found["pairs"] == len(drawn) == 24
    assert (
        call("run", "direct-rank", SET, "--lp", "en-de", "--pairs-file", "pairs.jsonl", "--out", "run") == 0
    )
    compared = [r for r in read_run("run").records if isinstance(r, Preference)]
    assert {(r.segment, frozenset(r.systems)) for r in compared} == {
        (pair.segment, frozenset(pair.systems)) for pair in drawn
    }
    assert "|pairs:listed," in str(read_run("run").info.signature)


def test_drawn_examples_are_those_that_himate_then_shows(ask: Ask) -> None:
    words = ("curate", "examples", "--from", MQM, "--test-set", SET, "--lp", "en-de", "--out", "shots")
    found = told(ask, *words)
    assert (found["pairs"], found["lacking"]) == (18, {"en-de": ["fluency/inconsistency"]})
    said = ask.done(*words)
    assert "en-de: no example of fluency/inconsistency" in said.out
    assert "18 pairs of examples -> shots; use them with: --prompts shots" in said.err
    lines = Path("shots/examples.jsonl").read_text().splitlines()
    assert len(lines) == 36
    shown = ask.done("show", "himate", "--lp", "en-de", "--prompts", "shots")
    assert json.dumps(json.loads(lines[0])["translation"], ensure_ascii=False) in shown.out
    assert "no worked examples for en-de (fluency.inconsistency): there agents judge" in shown.err
    without = ask.refused(*words[:4], "--lp", "en-de", "--out", "none")
    assert "has no texts; name them with --test-set" in without


def test_a_list_of_pairs_in_the_other_order_is_the_same_run() -> None:
    line = '{"lp": "en-de", "segment": "1", "systems": ["%s", "%s"]}\n'
    Path("one.jsonl").write_text(line % ("Alder", "Birch"))
    Path("two.jsonl").write_text(line % ("Birch", "Alder"))
    words = ("run", "direct-rank", SET, "--lp", "en-de", "--out", "run", "--pairs-file")
    assert call(*words, "one.jsonl") == 0
    assert call(*words, "two.jsonl") == 0
    assert len(read_run("run").records) == 1


def test_listed_pairs_that_are_not_judged_are_told(ask: Ask) -> None:
    line = '{"lp": "en-de", "segment": "%s", "systems": ["Alder", "Birch"]}\n'
    Path("pairs.jsonl").write_text(line % "1" + line % "elsewhere")
    said = ask.done("run", "direct-rank", SET, "--pairs-file", "pairs.jsonl", "--out", "run").err
    assert "1 of 2 pairs is of segments or systems that are not judged" in said
    assert len(read_run("run").records) == 1


def test_segments_are_chosen_by_scores_that_are_there(ask: Ask) -> None:
    assert call("run", "rules", SET, "--lp", "en-de", "--out", "rules") == 0
    words = ("curate", "select", SET, "--lp", "en-de", "--budget", "25%", "--scores", "rules=rules")
    found = told(ask, *words, "--by", "variance", "--out", "few.jsonl")
    few = read_test_set("few.jsonl")
    assert {entry["segment"] for entry in found["segments"]} == {s.segment for s in few}
    assert sorted(s.meta["selected"]["rank"] for s in few) == [1, 2, 3, 4]  # type: ignore[index]
    assert few.systems == read_test_set(SET).systems


def test_the_worth_of_every_way_is_told_beside_chance(ask: Ask) -> None:
    words = ("curate", "select", SET, "--lp", "en-de", "--gold", GOLD, "--budget", "4,50%", "--draws", "50")
    found = told(ask, *words)
    ways = ("random", "diversity", "combined")
    assert [(w["segments"], w["way"]) for w in found["worth"]] == [(n, way) for n in (4, 8) for way in ways]


def people(*verdicts: str) -> list[Preference]:
    return [
        preferred("X", "Y", verdict, str(number), annotator=f"p{person}")  # type: ignore[arg-type]
        for number, said in enumerate(verdicts)
        for person, verdict in enumerate(said)
    ]


def test_verdicts_of_people_become_gold(ask: Ask) -> None:
    write_records("people.jsonl", people("AAA", "AAB", "EEE", "ABE"))
    found = told(ask, "curate", "agreement", "people.jsonl", "--out", "gold.jsonl")
    (overall,) = found["criteria"]
    wanted = {"judged": 4, "split": 1, "ranked": 2, "tied": 1, "easy": 2, "hard": 1}
    assert {name: overall[name] for name in wanted} == wanted
    gold = [r for r in read_records("gold.jsonl") if isinstance(r, Preference)]
    found = [(r.segment, r.verdict, *r.flags) for r in gold]
    assert found == [("0", "A", "easy"), ("1", "A", "hard"), ("2", "E", "easy")]
    assert call("rank", "gold.jsonl", "--method", "copeland") == 0


def test_ratings_go_through_the_gate(ask: Ask) -> None:
    ratings = {"p1": (0, 4), "p2": (1, 4), "p3": (4, 0)}
    records = [
        rated(system, segment, rating, lp="zh-en", annotator=who, protocol="sqm")
        for segment, annotators in (("1", ("p1", "p2")), ("2", ("p1", "p3")))
        for who in annotators
        for system, rating in zip("XY", ratings[who], strict=True)
    ]
    write_records("ratings.jsonl", records)
    unsaid = told(ask, "curate", "agreement", "ratings.jsonl")
    assert [(each["unjudged"], each["failed_share"]) for each in unsaid["lps"]] == [(2, None)]
    two = ("--set", "least_shared=2")
    found = told(ask, "curate", "agreement", "ratings.jsonl", "--out", "passed.jsonl", *two)
    (counted,) = found["lps"]
    wanted = {"segments": 2, "passed": 1, "failed": 1, "failed_share": 0.5}
    assert {name: counted[name] for name in wanted} == wanted
    assert read_records("passed.jsonl") == records[:4]
    assert call("curate", "agreement", "ratings.jsonl", "--threshold", "2") == 2


PROGRAM = """
import json, sys
for line in sys.stdin:
    unit = json.loads(line)
    answer = {"id": unit["id"], "translation": unit["source"].upper()}
    if unit["segment"] == "2":
        answer = {"id": unit["id"], "translation": "  "}
    if unit["segment"] == "3":
        answer = {"id": unit["id"], "error": "refused", "detail": "will not"}
    print(json.dumps(answer))
"""


def test_a_filter_keeps_the_hardest_of_each_domain(ask: Ask) -> None:
    words = ("curate", "filter", SET, "--lp", "en-de", "--top", "6", "--out", "hard.jsonl")
    found = told(ask, *words)
    assert [(d["name"], d["kept"]) for d in found["domains"]] == [("news", 3), ("support", 3)]
    assert found["signature"].startswith("difficulty|model:builtin/rules|")
    kept = read_test_set("hard.jsonl")
    assert len(kept) == 6
    assert all(isinstance(s.meta["difficulty"], dict) for s in kept)
    assert read_run("hard.jsonl.run").info.counts == {"judged": 16, "failed": 0, "pending": 0}


def test_sources_alone_can_be_filtered(ask: Ask) -> None:
    Path("de.txt").write_text("Eins\nZwei!\n", encoding="utf-8")
    words = ("-s", "de.txt", "--lp", "de-en", "--top", "1", "--out", "hard.jsonl")
    assert "no language model judges" in ask.done("curate", "filter", *words).err
    assert [s.source for s in read_test_set("hard.jsonl")] == ["Zwei!"]


@pytest.mark.parametrize("words", [("filter", SET), ("translate", SET)], ids=lambda w: w[0])
def test_a_dry_run_says_what_would_be_asked_and_writes_nothing(words: tuple[str, ...], ask: Ask) -> None:
    model = ("--model", "mock", "--base-url", "http://127.0.0.1:9/v1")
    found = told(ask, "curate", *words, *model, "--out", "x.jsonl", "--dry-run")
    assert found["calls"]["typical"] > 0
    assert list(Path().iterdir()) == []


def test_a_budget_that_is_used_up_ends_with_its_code() -> None:
    model = ("--model", "mock", "--base-url", "http://127.0.0.1:9/v1", "--budget-tokens", "0")
    assert call("curate", "filter", SET, *model, "--out", "x.jsonl") == 4
    assert not Path("x.jsonl").exists()


def test_drafts_are_systems_beside_those_that_were_there(ask: Ask) -> None:
    words = ("curate", "translate", SET, "--lp", "en-de", "--candidates", "5", "--out", "drafts.jsonl")
    assert "|temperature:0.7|" in ask.done(*words).out
    drafts = read_test_set("drafts.jsonl")
    assert drafts.systems[-6:] == ("Dogwood", *(f"rules-{n}" for n in range(1, 6)))
    assert call("run", "gemba-da", "drafts.jsonl", "--systems", "rules-1,Alder", "--out", "run") == 0


def test_drafts_are_edited_by_people(ask: Ask) -> None:
    """From sources to references, as MENT made its own."""
    words = ("--lp", "en-de", "--limit", "4", "--candidates", "3", "--out", "drafts.jsonl")
    assert call("curate", "translate", SET, *words) == 0
    drafts = [f"rules-{number}" for number in (1, 2, 3)]
    options = ("--protocol", "post-edit", "--annotators", "ann", "--systems", ",".join(drafts))
    assert call("campaign", "new", "references", "drafts.jsonl", *options) == 0
    with open_campaign("references") as campaign:
        given = take(campaign, person(campaign), 0.0)
        for shown in items(campaign, given):
            assert sorted(one["system"] for one in shown.translations) == drafts


def test_one_translation_is_drawn_at_temperature_0() -> None:
    assert call("curate", "translate", SET, "--name", "new", "--limit", "2", "--out", "new.jsonl") == 0
    assert read_test_set("new.jsonl").systems[-1] == "new"
    assert read_run("new.jsonl.run").info.settings["judge"] == {
        "temperature": 0.0,
        "prompts": AskTranslation().prompts_digest,
    }


def test_a_program_translates_and_what_it_cannot_is_absent(ask: Ask) -> None:
    Path("upper.py").write_text(PROGRAM, encoding="utf-8")
    program = ("--command", f"{sys.executable} upper.py", "--name", "upper", "--out", "upper.jsonl")
    asked = ask("curate", "translate", SET, "--lp", "en-de", *program, "--format", "json")
    assert asked.code == 3
    (system,) = asked.json["systems"]
    reasons = {"empty": 1, "refused": 1}
    assert system == {"system": "upper", "translated": 14, "failed": 2, "reasons": reasons}
    made = {s.segment: s for s in read_test_set("upper.jsonl")}
    assert made["1"].translations["upper"] == made["1"].source.upper()
    assert "upper" not in made["2"].translations
    assert "upper" not in made["3"].translations
    failures = [r for r in read_run("upper.jsonl.run").records if isinstance(r, Failure)]
    assert [failure.segment for failure in failures] == ["2", "3"]


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('no JSON')", "import os; os._exit(0)"])
def test_a_program_that_does_not_end_well_is_not_believed(program: str) -> None:
    Path("bad.py").write_text(program, encoding="utf-8")
    command = ("--command", f"{sys.executable} bad.py", "--name", "bad")
    assert call("curate", "translate", SET, "--lp", "en-de", *command, "--out", "bad.jsonl") == 3
    assert "bad" not in read_test_set("bad.jsonl").systems


def test_who_translates_with_the_rules_is_told_that_these_copy_the_source(ask: Ask) -> None:
    Path("en.txt").write_text("One.\n")
    said = ask.done("curate", "translate", "-s", "en.txt", "--lp", "en-de", "--out", "new.jsonl").err
    assert "builtin/rules translate nothing: they copy the source behind a mark" in said
    assert "no language model judges" not in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("curate pairs SET --thin Dogwood", 2, "SYSTEM=3"),
        ("curate pairs SET --thin Oak=2", 2, "no system 'Oak'"),
        ("run gemba-mqm SET --pairs-file p.jsonl", 2, "does not compare pairs"),
        ("run fire SET --pairs-file p.jsonl", 2, "none of its pairs"),
        ("run fire SET --pairs listed", 2, "needs a --pairs-file"),
        ("run fire SET --pairs adaptive --pairs-file p.jsonl", 2, "has no effect"),
        ("run fire SET --pairs-file bad.jsonl", 1, "two different names"),
        ("run fire SET --pairs-file twice.jsonl", 1, "compared twice"),
        ("curate select SET --lp en-de --by variance", 2, "needs a metric"),
        ("curate select SET --lp en-de --budget 0", 2, "--budget must be"),
        ("curate select SET --scores GOLD", 2, "--by random looks at no scores"),
        ("curate agreement MQM", 1, "no rating"),
        ("curate translate SET --name Alder", 2, "has 'Alder' already"),
        ("curate translate SET --name a/b", 2, "--name must be"),
        ("curate translate SET --candidates 2 --temperature 0", 2, "temperature above 0"),
        ("curate translate SET --command cat", 2, "--command needs --name"),
        ("curate translate SET --command no-such-program --name x", 2, "no program of that name"),
        ("curate translate SET --command cat --name x --model m", 2, "--model is for models"),
        ("curate translate SET --command cat --name x --max-failed lots", 2, "must be a share such as 1%"),
        ("curate translate SET --max-failed lots", 2, "--max-failed (in Python max_failed) must be a share"),
        ("curate filter SET --top 1 --max-failed lots", 2, "must be a share such as 1% or 0.01, got 'lots'"),
        ("curate filter SET --top 3 --share 0.5", 2, "choose one of them"),
    ],
)
def test_what_cannot_be_is_said_and_writes_nothing(words: str, code: int, said: str, ask: Ask) -> None:
    line = '{"lp": "en-de", "segment": "none", "systems": ["Alder", "Birch"]}\n'
    Path("p.jsonl").write_text(line)
    Path("bad.jsonl").write_text('{"lp": "en-de", "segment": "1", "systems": ["A", "A"]}\n')
    Path("twice.jsonl").write_text(line + line.replace('"Alder", "Birch"', '"Birch", "Alder"'))
    files = {"SET": SET, "GOLD": GOLD, "MQM": MQM}
    given = [files.get(word, word) for word in words.split()]
    assert said in ask.refused(*given, "--out", "x", code=code)
    assert {path.name for path in Path().iterdir()} == {"p.jsonl", "bad.jsonl", "twice.jsonl"}


def test_segments_are_selected_for_a_file_or_to_see_their_worth(ask: Ask) -> None:
    assert "give either --out" in ask.refused("curate", "select", SET, "--lp", "en-de")
