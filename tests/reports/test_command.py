import html
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import write_ratings
from adjudge.reports.page import run_command
from adjudge.store.json_lines import read_test_set, write_records, write_test_set
from adjudge.store.run_directory import read_run, write_run_info
from tests.cli.calling import Ask
from tests.reports.samples import judge_all, make_run, small_test_set


def write_run(folder: Path, run: Run) -> Path:
    folder.mkdir()
    write_run_info(folder, run.info)
    write_test_set(folder / "test_set.jsonl", run.test_set)
    write_records(folder / "records.jsonl", run.records)
    return folder


@pytest.fixture(autouse=True)
def _one(_elsewhere: None) -> None:
    write_run(Path("one"), make_run())


def page() -> str:
    return Path("page.html").read_text(encoding="utf-8")


def test_a_report_is_written_and_its_finding_told(ask: Ask) -> None:
    printed = ask.done("report", "one", "--out", "new/page.html", "--title", "The ferries")
    text = Path("new/page.html").read_text(encoding="utf-8")
    assert ">The ferries</p>" in text
    assert printed.out == ""
    (headline,) = re.findall(r"<h1>(.*?)</h1>", text)
    new = "adjudge: new folder new, for new/page.html\n"
    assert printed.err == f"{new}{headline}.\nThe report: new/page.html\n"


def test_the_headline_is_about_all_rankings_of_a_page(ask: Ask) -> None:
    examples = Path(adjudge.__file__).parent / "examples"
    both = [one for one in read_test_set(examples / "test_set.jsonl") if one.lp in {"en-de", "zh-en"}]
    write_test_set("texts.jsonl", TestSet(name="both", segments=tuple(both)))
    words = ("--test-set", "texts.jsonl", "--out", "page.html")
    headline = "Alder is significantly better than every other system in en-de, none in zh-en"
    assert f"{headline}.\n" in ask.done("report", examples / "gold.mqm.jsonl", *words).err
    (shown,) = re.findall("<h1>(.*?)</h1>", page())
    assert re.sub("<.*?>", "", shown) == headline


def test_a_page_says_how_to_make_it_again(ask: Ask) -> None:
    write_records("gold.jsonl", judge_all(small_test_set(), "rater"))
    ask.done("report", "one", "--gold", "gold.jsonl", "--lp", "en-de", "--out", "page.html")
    for command in (
        "adjudge run judge one/test_set.jsonl --out one-again --model openai/gpt-x",
        "adjudge rank one --lp en-de",
        "adjudge report one --gold gold.jsonl --lp en-de --out page.html --force",
    ):
        assert command in page()


def test_gold_of_nothing_on_the_page_is_refused_in_the_words_of_meta(ask: Ask) -> None:
    report = ("report", "one", "--gold", "gold.jsonl", "--lp", "en-de", "--out", "page.html")
    own = judge_all(small_test_set(["en-de"]), "rater")
    others: dict[str, list[Record]] = {
        "Systems that test_set does not have, scored by gold, are left out: alder, birch, cedar.": [
            replace(r, system=r.system.lower()) for r in own if isinstance(r, Annotation)
        ],
        "gold judges 2 segments that test_set does not have, such as '1-en-de-0'; they are left out.": [
            replace(r, segment=f"1-{r.segment}") for r in own
        ],
    }
    for culprits, records in others.items():
        write_records("gold.jsonl", records)
        words = f"gold judges no system and segment of test_set: {culprits}"
        assert words in ask.refused(*report, code=1)
        assert not Path("page.html").exists()
        with pytest.raises(DataError, match=re.escape(words)):
            adjudge.meta("one/test_set.jsonl", "en-de", gold="gold=gold.jsonl", metrics=())
    write_records("gold.jsonl", [replace(r, lp="en-fr") for r in own])
    assert "gold judges en-fr; en-de of test_set was wanted" in ask.refused(*report, code=1)


def test_gold_of_which_a_part_is_not_on_the_page_is_warned_of_once(ask: Ask) -> None:
    first, *rest = judge_all(small_test_set(), "rater")
    write_records("gold.jsonl", [replace(first, segment="other"), *rest])
    said = ask.done("report", "one", "--gold", "gold.jsonl", "--out", "page.html").err.splitlines()
    told = [line for line in said if "gold record" in line]
    assert told == ["adjudge: 1 gold record of translations that no run judged is not shown"]


def test_a_file_that_exists_is_not_replaced_unasked(ask: Ask) -> None:
    Path("page.html").write_text("mine")
    assert "--force replaces it" in ask.refused("report", "one", "--out", "page.html")
    with pytest.raises(UsageError, match=r"page\.html exists; force=True replaces it"):
        adjudge.report("one", "page.html")
    assert page() == "mine"
    ask.done("report", "one", "--out", "page.html", "--force")
    assert page().startswith("<!doctype html>")


def test_figures_are_written_for_papers(ask: Ask) -> None:
    ask.done("report", "one", "--lp", "en-de", "--out", "page.html", "--figures", "f")
    kinds, forms = ("criteria", "ranking", "scores"), ("pdf", "png", "svg")
    names = {f"{kind}.en-de.judge.{form}" for kind in kinds for form in forms}
    assert {path.name for path in Path("f").iterdir()} == names


def test_two_runs_are_two_annotators(ask: Ask) -> None:
    write_run(Path("two"), make_run(model="local/llama"))
    ask.done("report", "one", "two", "--lp", "en-de", "--out", "page.html")
    assert "judge, openai/gpt-x" in page()
    assert "judge, local/llama" in page()


@pytest.mark.parametrize("other", ["one", "two/../one", "link", "one/records.jsonl"])
def test_one_run_is_not_counted_as_two(other: str, ask: Ask) -> None:
    Path("two").mkdir()
    Path("link").symlink_to("one")
    told = "one is given twice" if other == "one" else f"one and {other} are one"
    for command in (
        f"report one {other}",
        f"rank one {other}",
        f"compare one {other}",
        f"agreement one {other}",
        f"bias one {other}",
        f"spans --gold one one {other}",
        f"meta one/test_set.jsonl --scores one --scores b={other}",
    ):
        assert ask.refused(*command.split()) == f"adjudge: {told}: give each run and each file once\n"


def test_one_run_in_memory_is_not_counted_as_two() -> None:
    run = make_run()
    with pytest.raises(UsageError, match="one Run is given twice"):
        adjudge.report([run, run], "page.html")
    assert not Path("page.html").exists()


def test_a_command_is_that_of_the_run() -> None:
    """Each model of a role, the reference where there are several, and a folder that was searched."""
    texts = small_test_set(["en-de"])
    models = ("builtin/rules", "rating=builtin/rules")
    judged = run_command(adjudge.run("gemba-esa", texts, out="judged", model=models).info)
    assert "--model builtin/rules --model rating=builtin/rules" in judged
    assert "--reference" not in judged
    two = [replace(s, references={"refA": s.source, "refB": s.source}) for s in texts]
    metric = adjudge.run("chrf", TestSet(name="two", segments=tuple(two)), out="chrf", reference="refB")
    assert run_command(metric.info).endswith("--reference refB")
    info = make_run(model="a/x").info
    signature = info.signature.with_fields(search="files:ab12cd")
    searched = replace(info, signature=signature, settings={"judge": {"search": "files:x"}})
    assert run_command(searched).endswith("--model a/x --search files:FOLDER")


def test_a_command_names_what_was_changed() -> None:
    info = make_run(model="a/x;core=b/y").info
    fields = {"profile": "paper", "rounds": "5"}
    changed = replace(
        info,
        signature=info.signature.with_fields(**fields),
        settings={
            "judge": {"name": "judge", "rounds": 5, "kept": 1},
            "context": 2,
            "seed": 7,
            "terms": "ab12cd",
            "base_url": "http://localhost:8000/v1",
            "json_schema": "off",
            "effort": "low",
            "reference": {"en-de": "refB", "en-cs": "refB"},
        },
    )
    assert run_command(changed) == (
        "adjudge run judge TEST_SET --out RUN --model a/x --model core=b/y --profile paper --rounds 5 "
        "--reference refB --base-url URL --json-schema off --effort low "
        "--context 2 --terms FILE --seed 7"
    )


def test_gold_is_read_from_error_spans_of_people_too(ask: Ask) -> None:
    texts = small_test_set(["en-de"])
    write_test_set("texts.jsonl", texts)
    gold = Path("people.seg.rating")
    write_ratings(gold, [r for r in judge_all(texts, "rater") if isinstance(r, Annotation)], texts)
    words = ("report", "one", "--gold", gold, "--lp", "en-de", "--out", "page.html", "--force")
    for given in ((), ("--test-set", "texts.jsonl")):  # the run has the texts too
        ask.done(*words, *given)
        assert ">gold<" in page()


def test_score_rank_and_report_take_paths_of_runs_and_records() -> None:
    run = read_run("one")
    for given in (Path("one"), "one"):
        assert adjudge.score(given, lp="en-de") == adjudge.score(run, lp="en-de")
        assert adjudge.rank(given) == adjudge.rank(run) == adjudge.rank(adjudge.score(run))
    write_records("gold.jsonl", gold := judge_all(small_test_set(), "rater"))
    assert adjudge.score("gold.jsonl") == adjudge.score(gold)
    one: dict[str, Any] = {"lp": "en-de", "force": True}
    first = adjudge.report(run, "1.html", gold=gold, **one).read_text(encoding="utf-8")
    told = adjudge.report("one", "2.html", gold="gold.jsonl", **one).read_text(encoding="utf-8")
    listed = adjudge.report([Path("one")], "2.html", gold=Path("gold.jsonl"), **one)
    again = re.compile(r'(?<=<section id="again").*?</pre>', re.DOTALL)
    assert told == listed.read_text(encoding="utf-8")
    assert again.sub("", first) == again.sub("", told)


def test_the_last_command_of_a_page_makes_the_same_page(ask: Ask) -> None:
    write_records("gold.jsonl", judge_all(small_test_set(["en-de"]), "rater"))
    words = ("--gold", "gold.jsonl", "--lp", "en-de", "--out", "1.html", "--title", "Two words")
    ask.done("report", "one", *words)
    adjudge.report("one", "2.html", gold="gold.jsonl", lp="en-de", title="Two words")
    for name in ("1.html", "2.html"):
        written = Path(name).read_text(encoding="utf-8")
        (commands,) = re.findall(r"<pre>(.*?)</pre>", written, re.DOTALL)
        program, *command = shlex.split(html.unescape(commands).splitlines()[-1])
        assert program == "adjudge"
        ask.done(*command)
        assert Path(name).read_text(encoding="utf-8") == written
