import html
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import write_ratings
from adjudge.reports.page import run_command
from adjudge.store.json_lines import read_test_set, write_records, write_test_set
from adjudge.store.run_directory import read_run, write_run_info
from tests.reports.samples import judge_all, make_run, small_test_set


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", *map(str, arguments)])
    return int(ended.value.code or 0)


def write_run(folder: Path, run: Run) -> Path:
    folder.mkdir()
    write_run_info(folder, run.info)
    write_test_set(folder / "test_set.jsonl", run.test_set)
    write_records(folder / "records.jsonl", run.records)
    return folder


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "one", make_run())


def test_a_report_is_written_and_its_finding_told(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "page.html"
    assert call(run_folder, "--out", out, "--title", "The ferries") == 0
    text = out.read_text(encoding="utf-8")
    assert ">The ferries</p>" in text
    printed = capsys.readouterr()
    assert printed.out == ""
    headline = re.findall(r"<h1>(.*?)</h1>", text)[0]
    new = f"adjudge: new folder {out.parent}, for {out}\n"
    assert printed.err == f"{new}{headline}.\nThe report: {out}\n"


def test_the_headline_is_about_all_rankings_of_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = Path(adjudge.__file__).parent / "examples"
    texts, out = tmp_path / "texts.jsonl", tmp_path / "page.html"
    both = [one for one in read_test_set(examples / "test_set.jsonl") if one.lp in {"en-de", "zh-en"}]
    write_test_set(texts, TestSet(name="both", segments=tuple(both)))
    assert call(examples / "gold.mqm.jsonl", "--test-set", texts, "--out", out) == 0
    headline = "Alder is significantly better than every other system in en-de, none in zh-en"
    (shown,) = re.findall("<h1>(.*?)</h1>", out.read_text("utf-8"))
    assert re.sub("<.*?>", "", shown) == headline
    assert f"{headline}.\n" in capsys.readouterr().err


def test_a_page_says_how_to_make_it_again(run_folder: Path, tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "page.html"
    write_records(gold, judge_all(small_test_set(), "rater"))
    assert call(run_folder, "--gold", gold, "--lp", "en-de", "--out", out) == 0
    text = out.read_text(encoding="utf-8")
    assert (
        f"adjudge run judge {run_folder}/test_set.jsonl --out {run_folder}-again --model openai/gpt-x" in text
    )
    assert f"adjudge rank {run_folder} --lp en-de" in text
    assert f"adjudge report {run_folder} --gold {gold} --lp en-de --out {out} --force" in text


def test_gold_of_nothing_on_the_page_is_refused_in_the_words_of_meta(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, out, one = tmp_path / "gold.jsonl", tmp_path / "page.html", ("--lp", "en-de")
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
        write_records(gold, records)
        words = f"gold judges no system and segment of test_set: {culprits}"
        assert call(run_folder, "--gold", gold, *one, "--out", out) == 1
        assert words in capsys.readouterr().err
        assert not out.exists()
        with pytest.raises(DataError, match=re.escape(words)):
            adjudge.meta(run_folder / "test_set.jsonl", "en-de", gold=f"gold={gold}", metrics=())
    write_records(gold, [replace(r, lp="en-fr") for r in own])
    assert call(run_folder, "--gold", gold, *one, "--out", out) == 1
    assert "gold judges en-fr; en-de of test_set was wanted" in capsys.readouterr().err


def test_gold_of_which_a_part_is_not_on_the_page_is_warned_of_once(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.jsonl"
    first, *rest = judge_all(small_test_set(), "rater")
    write_records(gold, [replace(first, segment="other"), *rest])
    assert call(run_folder, "--gold", gold, "--out", tmp_path / "page.html") == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "gold record" in line]
    assert told == ["adjudge: 1 gold record of translations that no run judged is not shown"]


def test_a_file_that_exists_is_not_replaced_unasked(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    out.write_text("mine")
    assert call(run_folder, "--out", out) == 2
    assert out.read_text() == "mine"
    assert "--force replaces it" in capsys.readouterr().err
    assert call(run_folder, "--out", out, "--force") == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_figures_are_written_for_papers(run_folder: Path, tmp_path: Path) -> None:
    assert call(run_folder, "--lp", "en-de", "--out", tmp_path / "p.html", "--figures", tmp_path / "f") == 0
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == [
        f"{kind}.en-de.judge.{form}"
        for kind in ("criteria", "ranking", "scores")
        for form in ("pdf", "png", "svg")
    ]


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, "--out", tmp_path / "page.html") == 1
    assert "no known format: looked for run.json (run)" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_two_runs_are_two_annotators(run_folder: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "two", make_run(model="local/llama"))
    assert call(run_folder, other, "--lp", "en-de", "--out", tmp_path / "page.html") == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "judge, openai/gpt-x" in text
    assert "judge, local/llama" in text


@pytest.mark.parametrize("other", ["one", "two/../one", "link", "one/records.jsonl"])
@pytest.mark.parametrize(
    "words",
    [
        "report",
        "rank",
        "compare",
        "agreement",
        "bias",
        "spans --gold {0}",
        "meta {1} --scores",
    ],
)
def test_one_run_is_not_counted_as_two(
    words: str, other: str, run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two").mkdir()
    (tmp_path / "link").symlink_to(run_folder)
    command, *given = words.format(run_folder, run_folder / "test_set.jsonl").split()
    again = f"b={tmp_path / other}" if command == "meta" else str(tmp_path / other)
    given = [*given, str(run_folder), *(["--scores"] if command == "meta" else []), again]
    with pytest.raises(SystemExit) as ended:
        main([command, *given])
    path = tmp_path / other
    told = f"{path} is given twice" if path == run_folder else f"{run_folder} and {path} are one"
    assert (ended.value.code, capsys.readouterr().err) == (
        2,
        f"adjudge: {told}: give each run and each file once\n",
    )


def test_one_run_in_memory_is_not_counted_as_two(tmp_path: Path) -> None:
    run = make_run()
    with pytest.raises(UsageError, match="one Run is given twice"):
        adjudge.report([run, run], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_command_is_that_of_the_run(run_folder: Path, tmp_path: Path) -> None:
    """Each model of a role, and the reference where there are several."""
    texts = small_test_set(["en-de"])
    two = [replace(s, references={"refA": s.source, "refB": s.source}) for s in texts]
    models = ("builtin/rules", "rating=builtin/rules")
    judged = adjudge.run("gemba-esa", texts, out=tmp_path / "judged", model=models)
    assert "--model builtin/rules --model rating=builtin/rules" in run_command(judged.info)
    metric = adjudge.run(
        "chrf", TestSet(name="two", segments=tuple(two)), out=tmp_path / "chrf", reference="refB"
    )
    assert run_command(metric.info).endswith("--reference refB")
    assert "--reference" not in run_command(judged.info)


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


def test_a_command_says_folder_for_files_that_were_searched() -> None:
    info = make_run(model="a/x").info
    searched = replace(
        info,
        signature=info.signature.with_fields(search="files:ab12cd"),
        settings={"judge": {"search": "files:x"}},
    )
    assert run_command(searched).endswith("--model a/x --search files:FOLDER")


def test_gold_is_read_from_error_spans_of_people_too(run_folder: Path, tmp_path: Path) -> None:
    texts = small_test_set(["en-de"])
    write_test_set(tmp_path / "texts.jsonl", texts)
    gold, out = tmp_path / "people.seg.rating", tmp_path / "page.html"
    write_ratings(gold, [r for r in judge_all(texts, "rater") if isinstance(r, Annotation)], texts)
    for given in ((), ("--test-set", tmp_path / "texts.jsonl")):  # the run has the texts too
        assert call(run_folder, "--gold", gold, *given, "--lp", "en-de", "--out", out, "--force") == 0
        assert ">gold<" in out.read_text(encoding="utf-8")


def test_score_rank_and_report_take_paths_of_runs_and_records(run_folder: Path, tmp_path: Path) -> None:
    run = read_run(run_folder)
    for given in (run_folder, str(run_folder)):
        assert adjudge.score(given, lp="en-de") == adjudge.score(run, lp="en-de")
        assert adjudge.rank(given) == adjudge.rank(run) == adjudge.rank(adjudge.score(run))
    write_records(tmp_path / "gold.jsonl", gold := judge_all(small_test_set(), "rater"))
    assert adjudge.score(tmp_path / "gold.jsonl") == adjudge.score(gold)
    one: dict[str, Any] = {"lp": "en-de", "force": True}
    first = adjudge.report(run, tmp_path / "1.html", gold=gold, **one).read_text(encoding="utf-8")
    named = adjudge.report(str(run_folder), tmp_path / "2.html", gold=str(tmp_path / "gold.jsonl"), **one)
    told = named.read_text(encoding="utf-8")
    listed = adjudge.report([run_folder], tmp_path / "2.html", gold=tmp_path / "gold.jsonl", **one)
    again = re.compile(r'(?<=<section id="again").*?</pre>', re.DOTALL)
    assert told == listed.read_text(encoding="utf-8")
    assert again.sub("", first) == again.sub("", told)


def test_the_last_command_of_a_page_makes_the_same_page(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records("gold.jsonl", judge_all(small_test_set(["en-de"]), "rater"))
    assert (
        call(run_folder, "--gold", "gold.jsonl", "--lp", "en-de", "--out", "1.html", "--title", "Two words")
        == 0
    )
    adjudge.report(run_folder, "2.html", gold="gold.jsonl", lp="en-de", title="Two words")
    for name in ("1.html", "2.html"):
        written = Path(name).read_text(encoding="utf-8")
        (commands,) = re.findall(r"<pre>(.*?)</pre>", written, re.DOTALL)
        program, _, *words = shlex.split(html.unescape(commands).splitlines()[-1])
        assert program == "adjudge"
        assert call(*words) == 0
        assert Path(name).read_text(encoding="utf-8") == written


def test_a_page_that_exists_is_kept_unless_forced_in_python_too(run_folder: Path, tmp_path: Path) -> None:
    (out := tmp_path / "page.html").write_text("mine")
    with pytest.raises(UsageError, match=r"page\.html exists; force=True replaces it"):
        adjudge.report(run_folder, out)
    assert out.read_text() == "mine"
