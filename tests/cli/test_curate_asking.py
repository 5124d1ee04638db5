"""`adjudge curate filter|translate|classify` as a person types them, offline and with a program of theirs."""

import json
import sys
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.campaigns.campaign import open_campaign
from adjudge.core.record import Annotation, Failure
from adjudge.store.json_lines import read_records, read_test_set
from adjudge.store.run_directory import read_run
from tests.campaigns.work import items, person, take
from tests.cli.calling import call

SET = str(examples.path("test_set.jsonl"))
MARKS = str(examples.path("gold.esa.jsonl"))

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


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADJUDGE_MODEL", raising=False)


def test_a_filter_keeps_the_hardest_of_each_domain(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "curate",
        "filter",
        SET,
        "--lp",
        "en-de",
        "--top",
        "6",
        "--out",
        "hard.jsonl",
        "--format",
        "json",
    )
    assert call(*words) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(d["name"], d["kept"]) for d in told["domains"]] == [("news", 3), ("support", 3)]
    assert told["signature"].startswith("difficulty|model:builtin/rules|")
    kept = read_test_set("hard.jsonl")
    assert len(kept) == 6
    assert all(isinstance(s.meta["difficulty"], dict) for s in kept)
    assert read_run("hard.jsonl.run").info.counts == {"judged": 16, "failed": 0, "pending": 0}


@pytest.mark.parametrize(
    "words",
    [
        ("filter", SET, "--top", "1"),
        ("translate", SET),
        ("translate", SET, "--command", "cat", "--name", "Cat"),
        ("classify", SET, "--records", MARKS),
    ],
    ids=str,
)
def test_a_share_of_failures_that_is_none_is_refused_before_anything_is_asked(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("curate", *words, "--out", "new.jsonl", "--max-failed", "lots") == 2
    assert "--max-failed must be a share such as 1% or 0.01, got 'lots'" in capsys.readouterr().err
    assert not Path("new.jsonl.run").exists()


def test_sources_alone_can_be_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    Path("de.txt").write_text("Eins\nZwei!\n", encoding="utf-8")
    assert call("curate", "filter", "-s", "de.txt", "--lp", "de-en", "--top", "1", "--out", "hard.jsonl") == 0
    assert [s.source for s in read_test_set("hard.jsonl")] == ["Zwei!"]
    assert "no language model judges" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("filter", SET), ("translate", SET), ("classify", SET, "--records", MARKS)], ids=lambda w: w[0]
)
def test_a_dry_run_says_what_would_be_asked_and_writes_nothing(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", "mock", "--base-url", "http://127.0.0.1:9/v1")
    assert call("curate", *words, *model, "--out", "x.jsonl", "--dry-run", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["calls"]["typical"] > 0
    assert list(Path().iterdir()) == []


def test_a_budget_that_is_used_up_ends_with_its_code() -> None:
    model = ("--model", "mock", "--base-url", "http://127.0.0.1:9/v1", "--budget-tokens", "0")
    assert call("curate", "filter", SET, *model, "--out", "x.jsonl") == 4
    assert not Path("x.jsonl").exists()


def test_drafts_are_systems_beside_those_that_were_there(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("curate", "translate", SET, "--lp", "en-de", "--candidates", "5", "--out", "drafts.jsonl")
    assert call(*words) == 0
    drafts = read_test_set("drafts.jsonl")
    assert drafts.systems[-6:] == ("Dogwood", *(f"rules-{n}" for n in range(1, 6)))
    assert "|temperature:0.7|" in capsys.readouterr().out
    assert call("run", "gemba-da", "drafts.jsonl", "--systems", "rules-1,Alder", "--out", "run") == 0


def test_drafts_are_edited_by_people(capsys: pytest.CaptureFixture[str]) -> None:
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
    assert read_run("new.jsonl.run").info.settings["judge"] == {"temperature": 0.0, "prompts": _digest()}


def _digest() -> str:
    from adjudge.curation.drafting import AskTranslation

    return AskTranslation().prompts_digest


def test_a_program_translates_and_what_it_cannot_is_absent(capsys: pytest.CaptureFixture[str]) -> None:
    Path("upper.py").write_text(PROGRAM, encoding="utf-8")
    program = ("--command", f"{sys.executable} upper.py", "--name", "upper")
    words = (
        "curate",
        "translate",
        SET,
        "--lp",
        "en-de",
        *program,
        "--out",
        "upper.jsonl",
        "--format",
        "json",
    )
    assert call(*words) == 3
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert system == {
        "system": "upper",
        "translated": 14,
        "failed": 2,
        "reasons": {"empty": 1, "refused": 1},
    }
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("translate", SET, "--name", "Alder"), "has 'Alder' already"),
        (("translate", SET, "--name", "a/b"), "--name must be"),
        (("translate", SET, "--candidates", "2", "--temperature", "0"), "temperature above 0"),
        (("translate", SET, "--command", "cat"), "--command needs --name"),
        (("translate", SET, "--command", "no-such-program", "--name", "x"), "no program of that name"),
        (("translate", SET, "--command", "cat", "--name", "x", "--model", "m"), "--model is for models"),
        (("filter", SET, "--top", "3", "--share", "0.5"), "choose one of them"),
        (("classify", SET, "--records", "none.jsonl"), "no file or folder"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_asked(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("curate", *words, "--out", "x.jsonl") == 2
    assert said in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_marked_errors_get_a_category_and_can_then_be_ranked_by_criterion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("curate", "classify", SET, "--records", MARKS, "--out", "esa.jsonl", "--format", "json")
    assert call(*words) == 0
    told = json.loads(capsys.readouterr().out)
    before, after = read_records(MARKS), read_records("esa.jsonl")
    assert len(after) == len(before)
    spans = [s for r in after if isinstance(r, Annotation) for s in r.spans]
    assert sum(told["categories"].values()) == len(spans)
    assert all(span.category for span in spans)
    assert [s.start for s in spans] == [s.start for r in before if isinstance(r, Annotation) for s in r.spans]
