"""A folder above what a command writes is named where it was missing: a typing error may have named it."""

from pathlib import Path

import pytest

import adjudge
from adjudge import examples
from adjudge.cli.file_commands import story
from adjudge.errors import FolderWarning
from tests.cli.calling import Ask

FILES = {
    "SET": str(examples.path("test_set.jsonl")),
    "GOLD": str(examples.path("gold.mqm.jsonl")),
    "ESA": str(examples.path("gold.esa.jsonl")),
    "PAIRS": str(examples.path("gold.pairwise.jsonl")),
}
LP = " --lp en-de"

WRITES = {
    "run": "run chrf SET --out NEW" + LP,
    "run of a judge": "run gemba-mqm SET --limit 2 --out NEW" + LP,
    "store of a run": "run gemba-mqm SET --limit 2 --out run-N --store NEW" + LP,
    "file": "convert GOLD NEW --test-set SET --to mqm-tsv" + LP,
    "folder of mt-metrics-eval": "convert SET NEW --to mtme" + LP,
    "folder of MENT": "convert SET NEW --to ment" + LP,
    "report": "report GOLD --test-set SET --out NEW" + LP,
    "figures of a report": "report GOLD --test-set SET --out report-N.html --figures NEW" + LP,
    "figures of meta": "meta SET --gold mqm=GOLD --scores ESA --figures NEW" + LP,
    "figure of rank": "rank PAIRS --resamples 20 --radar NEW.svg" + LP,
    "figure of spans": "spans GOLD --gold GOLD --figure NEW.svg" + LP,
    "files of scores": "score GOLD --test-set SET --score-files NEW" + LP,
    "campaign": "campaign new NEW SET -n 1" + LP,
    "examples": "curate examples --from GOLD --test-set SET --out NEW" + LP,
    "package of a judge": "new-judge mood-meter --out NEW",
}


def told(ask: Ask, what: str, new: str, number: int) -> list[str]:
    """What a command says of new folders."""
    words = WRITES[what].replace("NEW", new).replace("-N", f"-{number}")
    for name, file in FILES.items():
        words = words.replace(name, file)
    asked = ask.done(*words.split())
    assert "new folder" not in asked.out
    return [line for line in asked.err.splitlines() if "new folder" in line]


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.usefixtures("_one_format")
def test_a_missing_folder_is_named_once_and_one_that_is_there_is_not(what: str, ask: Ask) -> None:
    end = ".svg" if "NEW.svg" in WRITES[what] else ""
    said = told(ask, what, "rusn/more/first", 1)
    assert said == [f"adjudge: new folder rusn, for rusn/more/first{end}"]
    assert Path(f"rusn/more/first{end}").exists()
    assert told(ask, what, "rusn/more/second", 2) == []
    assert told(ask, what, "third", 3) == []


def test_a_result_in_json_has_no_word_of_it(ask: Ask) -> None:
    words = f"{WRITES['examples'].replace('NEW', 'rusn/first')} --format json".split()
    asked, again = (ask(*(FILES.get(word, word) for word in words)) for _ in range(2))
    assert asked.err.startswith("adjudge: new folder rusn, for rusn/first\n")
    assert asked.json == again.json
    assert "new folder" not in again.err


def test_the_demo_says_it_once_for_all_its_steps(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    runs = [step for step in story(Path("tries/demo")) if step[1][:2] == ["run", "chrf"]]
    monkeypatch.setattr("adjudge.cli.file_commands.story", lambda out: runs)
    asked = ask("demo", "--out", "tries/demo")
    assert Path("tries/demo/runs/chrf").is_dir()
    assert asked.err.startswith("adjudge: new folder tries, for tries/demo\n")
    assert asked.err.count("new folder") == 1


def test_a_program_is_warned_at_its_own_line() -> None:
    out = Path("rusn/first")
    with pytest.warns(FolderWarning) as caught:
        adjudge.run("chrf", FILES["SET"], lp="en-de", out=out)
    assert [str(w.message) for w in caught] == [f"new folder {out.parent}, for {out}"]
    assert caught[0].filename == __file__
