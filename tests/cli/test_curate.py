"""`adjudge curate pairs|select|agreement` as a person types them, and what their files are good for."""

import json
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.record import Annotation, Preference, Verdict
from adjudge.formats.pair_file import read_pairs
from adjudge.store.json_lines import read_records, read_test_set, write_records
from adjudge.store.run_directory import read_run
from tests.cli.calling import call

SET = str(examples.path("test_set.jsonl"))
GOLD = str(examples.path("gold.esa.jsonl"))
MQM = str(examples.path("gold.mqm.jsonl"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADJUDGE_MODEL", raising=False)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert call(*arguments, "--format", "json") == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_drawn_pairs_are_those_that_a_judge_then_compares(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("curate", "pairs", SET, "--lp", "en-de", "--pairs", "24", "--thin", "Dogwood=2", "--seed", "3")
    found = told(capsys, *words, "--out", "pairs.jsonl")
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


def test_a_list_of_pairs_in_the_other_order_is_the_same_run() -> None:
    line = '{"lp": "en-de", "segment": "1", "systems": ["%s", "%s"]}\n'
    Path("one.jsonl").write_text(line % ("Alder", "Birch"))
    Path("two.jsonl").write_text(line % ("Birch", "Alder"))
    words = ("run", "direct-rank", SET, "--lp", "en-de", "--out", "run", "--pairs-file")
    assert call(*words, "one.jsonl") == 0
    assert call(*words, "two.jsonl") == 0
    assert len(read_run("run").records) == 1


def test_listed_pairs_that_are_not_judged_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    line = '{"lp": "en-de", "segment": "%s", "systems": ["Alder", "Birch"]}\n'
    Path("pairs.jsonl").write_text(line % "1" + line % "elsewhere")
    assert call("run", "direct-rank", SET, "--pairs-file", "pairs.jsonl", "--out", "run") == 0
    assert "1 of 2 pairs is of segments or systems that are not judged" in capsys.readouterr().err
    assert len(read_run("run").records) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("curate", "pairs", SET, "--thin", "Dogwood", "--out", "x"), 2, "SYSTEM=3"),
        (("curate", "pairs", SET, "--thin", "Oak=2", "--out", "x"), 2, "no system 'Oak'"),
        (("run", "gemba-mqm", SET, "--pairs-file", "p.jsonl", "--out", "x"), 2, "does not compare pairs"),
        (("run", "fire", SET, "--pairs-file", "p.jsonl", "--out", "x"), 2, "none of its pairs"),
        (("run", "fire", SET, "--pairs", "listed", "--out", "x"), 2, "needs a --pairs-file"),
        (("run", "fire", SET, "--pairs", "adaptive", "--pairs-file", "p.jsonl", "--out", "x"), 2, "no use"),
        (("run", "fire", SET, "--pairs-file", "bad.jsonl", "--out", "x"), 1, "two different names"),
        (("run", "fire", SET, "--pairs-file", "twice.jsonl", "--out", "x"), 1, "compared twice"),
        (("curate", "select", SET, "--lp", "en-de"), 2, "one of them"),
        (("curate", "select", SET, "--lp", "en-de", "--by", "variance", "--out", "x"), 2, "needs a metric"),
        (("curate", "select", SET, "--lp", "en-de", "--budget", "0", "--out", "x"), 2, "--budget must be"),
        (("curate", "select", SET, "--scores", GOLD, "--out", "x"), 2, "--by random looks at no scores"),
        (("curate", "agreement", MQM), 1, "no rating"),
    ],
)
def test_what_cannot_be_is_said(
    words: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = '{"lp": "en-de", "segment": "none", "systems": ["Alder", "Birch"]}\n'
    Path("p.jsonl").write_text(line)
    Path("bad.jsonl").write_text('{"lp": "en-de", "segment": "1", "systems": ["A", "A"]}\n')
    Path("twice.jsonl").write_text(line + line.replace('"Alder", "Birch"', '"Birch", "Alder"'))
    assert call(*words) == code
    assert said in capsys.readouterr().err
    assert not Path("x").exists()


def test_segments_are_chosen_by_scores_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "rules", SET, "--lp", "en-de", "--out", "rules") == 0
    words = ("curate", "select", SET, "--lp", "en-de", "--budget", "25%", "--scores", "rules=rules")
    found = told(capsys, *words, "--by", "variance", "--out", "few.jsonl")
    few = read_test_set("few.jsonl")
    listed = found["segments"]
    assert isinstance(listed, list)
    assert {entry["segment"] for entry in listed} == {s.segment for s in few}
    assert sorted(s.meta["selected"]["rank"] for s in few) == [1, 2, 3, 4]  # type: ignore[index]
    assert few.systems == read_test_set(SET).systems


def test_the_worth_of_every_way_is_told_beside_chance(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("curate", "select", SET, "--lp", "en-de", "--gold", GOLD, "--budget", "4,50%", "--draws", "50")
    found = told(capsys, *words)
    worth = found["worth"]
    assert isinstance(worth, list)
    assert [(w["segments"], w["way"]) for w in worth] == [
        (4, "random"),
        (4, "diversity"),
        (4, "combined"),
        (8, "random"),
        (8, "diversity"),
        (8, "combined"),
    ]


def people(*verdicts: str) -> list[Preference]:
    given: dict[str, Verdict] = {"A": "A", "B": "B", "E": "E"}
    return [
        Preference(
            lp="en-de",
            segment=str(number),
            systems=("X", "Y"),
            annotator=f"p{person}",
            criterion="overall",
            verdict=given[verdict],
        )
        for number, said in enumerate(verdicts)
        for person, verdict in enumerate(said)
    ]


def test_verdicts_of_people_become_gold(capsys: pytest.CaptureFixture[str]) -> None:
    write_records("people.jsonl", people("AAA", "AAB", "EEE", "ABE"))
    found = told(capsys, "curate", "agreement", "people.jsonl", "--out", "gold.jsonl")
    assert isinstance(found["criteria"], list)
    (overall,) = found["criteria"]
    assert {name: overall[name] for name in ("judged", "split", "ranked", "tied", "easy", "hard")} == {
        "judged": 4,
        "split": 1,
        "ranked": 2,
        "tied": 1,
        "easy": 2,
        "hard": 1,
    }
    gold = [r for r in read_records("gold.jsonl") if isinstance(r, Preference)]
    assert [(r.segment, r.verdict, r.flags) for r in gold] == [
        ("0", "A", ("easy",)),
        ("1", "A", ("hard",)),
        ("2", "E", ("easy",)),
    ]
    assert call("rank", "gold.jsonl", "--method", "copeland") == 0


def test_ratings_go_through_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    ratings = {"p1": (0, 4), "p2": (1, 4), "p3": (4, 0)}
    records = [
        Annotation(lp="zh-en", segment=segment, system=system, annotator=who, protocol="sqm", rating=rating)
        for segment, people_ in (("1", ("p1", "p2")), ("2", ("p1", "p3")))
        for who in people_
        for system, rating in zip("XY", ratings[who], strict=True)
    ]
    write_records("ratings.jsonl", records)
    found = told(capsys, "curate", "agreement", "ratings.jsonl", "--out", "passed.jsonl")
    assert isinstance(found["lps"], list)
    (counted,) = found["lps"]
    assert {name: counted[name] for name in ("segments", "passed", "failed", "failed_share")} == {
        "segments": 2,
        "passed": 1,
        "failed": 1,
        "failed_share": 0.5,
    }
    assert read_records("passed.jsonl") == records[:4]
    assert call("curate", "agreement", "ratings.jsonl", "--threshold", "2") == 2
