"""`adjudge calibrate`, by a run or by gold, and a run with what it wrote."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.record import Preference
from adjudge.core.segment import Segment, TestSet
from adjudge.runs.engines import run
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records, read_run_info
from tests.cli.calling import Ask
from tests.runs.conftest import rewrite_records, small_set

EXAMPLES = str(examples.path("test_set.jsonl"))
FEW = ("--lp", "en-de", "--limit", "6")


def test_a_threshold_is_written_and_named_by_the_run_that_reads_it(ask: Ask) -> None:
    words = ("calibrate", "himate", EXAMPLES, *FEW, "--percentile", "60", "--out", "himate.json")
    asked = ask.done(*words, "--format", "json")
    told = asked.json
    assert told["thresholds"]["en-de"] == json.loads(Path("himate.json").read_text())["thresholds"]["en-de"]
    assert (told["judge"], told["model"], told["percentile"]) == ("himate", "builtin/rules", 60.0)
    assert "use it with: adjudge run himate ... --threshold himate.json" in asked.err
    assert read_run_info(Path("himate.json.run")).settings["judge"]["stages"] == "se+sr"  # type: ignore[index]
    said = ask.done("run", "himate", EXAMPLES, *FEW, "--out", "run", "--threshold", "himate.json").err
    assert "no confidence threshold" not in said
    assert f"|threshold:p60-{told['digest']}|" in str(read_run_info(Path("run")).signature)


def test_a_run_without_a_threshold_says_so_and_what_prompts_share(ask: Ask) -> None:
    err = ask.done("run", "himate", EXAMPLES, *FEW, "--out", "run").err
    assert "every remaining error is discussed" in err
    assert "prompts of stage 1 begin alike: " in err


def test_run_forecast_and_show_say_in_one_line_for_which_language_pairs_there_are_no_examples(
    ask: Ask,
) -> None:
    segments = [
        Segment(segment="1", lp=lp, source="Hi.", translations={"A": "x"}) for lp in ("en-de", "en-fi")
    ]
    write_test_set("two.jsonl", TestSet(name="two", segments=tuple(segments)))
    told = "no worked examples for en-fi: there agents judge by definitions alone"
    for judge in ("himate", "single-agent"):
        for words in (("run", judge, "two.jsonl", "--out", judge), ("forecast", judge, "two.jsonl")):
            assert ask.done(*words).err.count(told) == 1
        for lp, lines in (("en-fi", 1), ("en-de", 0)):
            assert ask.done("show", judge, "--segment", "two.jsonl", "--lp", lp).err.count(told) == lines


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("gemba-mqm", EXAMPLES), 2, "no threshold to calibrate"),
        (("himate", EXAMPLES, "--gold", EXAMPLES), 2, "--gold is for judges of pairs, and himate is none"),
        (("fire", "--gold", EXAMPLES), 2, "with --gold, give the run of fire"),
        (("himate", EXAMPLES, "--percentile", "0"), 2, "percentile must be greater than 0"),
        (("himate", EXAMPLES, "--stagez", "se"), 2, "did you mean --stages"),
        (("himate", EXAMPLES, "--outt", "x"), 2, "did you mean --out?"),
        (("himate", EXAMPLES, "--threshold", "0.3"), 2, "sets that itself: leave --threshold out"),
        (("himate", EXAMPLES, "--stages", "se"), 2, "sets that itself: leave --stages out"),
        (("himate", EXAMPLES, "--stages=se+sr+cd"), 2, "sets that itself: leave --stages out"),
        (("fire", "--gold", EXAMPLES, "--tie-threshold", "1"), 2, "leave --tie-threshold out"),
        (("himate", EXAMPLES, "--lp", "en-de", "--systems", "Alder", "--limit", "1"), 1, "nothing was found"),
    ],
)
def test_what_cannot_be_calibrated_leaves_no_file(
    words: tuple[str, ...], code: int, said: str, ask: Ask
) -> None:
    assert said in ask.refused("calibrate", *words, "--out", "himate.json", code=code)
    assert not Path("himate.json").exists()


def test_it_prints_the_threshold_and_what_it_changes(ask: Ask) -> None:
    run("direct-rank", small_set(3), out="run", settings={"samples": "3"})
    found = [r for r in read_records("run") if isinstance(r, Preference)]
    said = [replace(r, verdict="A", strength=0.2 + 0.3 * n) for n, r in enumerate(found)]
    rewrite_records(Path("run"), said)
    write_records(
        "gold.jsonl",
        [replace(r, annotator="person", verdict="A" if n else "E") for n, r in enumerate(said)],
    )
    words = ("calibrate", "direct-rank", "run", "--gold", "gold.jsonl")
    asked = ask.done(*words, "--lp", "en-de", "--format", "json")
    (one,) = asked.json["criteria"]
    assert (one["n"], one["threshold"], one["after"]["all"]) == (3, 0.2, 1.0)
    assert "adjudge run direct-rank ... --tie-threshold 0.2" in asked.err
    assert "3 comparisons; gold ties 1 of them." in ask.done(*words).out


def test_a_run_that_cannot_be_calibrated_is_refused(ask: Ask) -> None:
    run("direct-rank", small_set(2), out="run")
    run("direct-rank", small_set(2), out="tied", settings={"samples": "2", "tie_threshold": "0.5"})
    preferences = [r for r in read_records("run") if isinstance(r, Preference)]
    write_records("gold.jsonl", [replace(r, annotator="person") for r in preferences])
    gold = ("--gold", "gold.jsonl")
    assert "is a run of direct-rank, not of fire" in ask.refused("calibrate", "fire", "run", *gold)
    said = ask.refused("calibrate", "direct-rank", "run", *gold, code=1)
    assert "--samples, or --strength logprob" in said
    assert "made with tie_threshold 0.5" in ask.refused("calibrate", "direct-rank", "tied", *gold)
