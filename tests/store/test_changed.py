"""Records that are not those that the run wrote: refused wherever a run is read, unless that is accepted."""

import hashlib
import json
import re
from pathlib import Path

import pytest

import adjudge
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import read_judgements
from adjudge.store.json_lines import write_test_set
from adjudge.store.run_directory import INFO, RECORDS, accepting_changed, read_run, read_run_info
from tests.cli.calling import call
from tests.runs.conftest import small_set

TWO = small_set(3, ("en-de", "en-da"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_test_set("set.jsonl", TWO)
    adjudge.run("chrf", TWO, out="run")


def change(folder: str = "run") -> bytes:
    """Change one digit of one rating; what stood there."""
    file = Path(folder, RECORDS)
    before = file.read_bytes()
    found = re.search(rb'"rating":(\d)', before)
    assert found is not None
    at = found.start(1)
    file.write_bytes(before[:at] + (b"1" if found[1] != b"1" else b"2") + before[at + 1 :])
    return before


def digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def test_a_run_says_the_digest_of_its_records() -> None:
    assert read_run_info("run").records_digest == digest(f"run/{RECORDS}")
    adjudge.run("chrf", TWO, out="run")
    assert read_run_info("run").records_digest == digest(f"run/{RECORDS}")
    assert len(read_run("run").records) == len(adjudge.read_records(f"run/{RECORDS}")) == 12


READERS = {
    "rank run": "rank",
    f"rank run/{RECORDS}": "rank",
    "score run --lp en-de": "score",
    "compare run A B --lp en-da": "compare",
    "gate --baseline whole --candidate run --systems A,A --margin 1": "gate",
    "agreement run whole": "agreement",
    "meta set.jsonl --lp en-de --gold whole --scores c=run": "meta",
    "bias run": "bias",
    "power run --lp en-de": "power",
    "report run --out page.html": "report",
    "trace run": "trace",
    "convert run out.jsonl --to records": "convert",
    "run chrf run --out again": "run",
}


@pytest.mark.parametrize("words", READERS)
def test_a_changed_digit_is_refused_by_every_verb_and_taken_where_that_is_said(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    adjudge.run("chrf", TWO, out="whole")
    change()
    capsys.readouterr()
    assert call(*words.split()) == 2
    assert capsys.readouterr().err == (
        f"adjudge: run/{RECORDS} was changed after the run: its SHA-256 is not that in run.json; the same "
        "`adjudge run` command makes it anew from the stored answers, --accept-changed goes on with it as it "
        "is\n"
    )
    assert call(*words.split(), "--accept-changed") not in {1, 2}
    said = capsys.readouterr()
    assert call(*words.split()) == 2, "accepted once is not accepted for ever"
    assert said.err.count(f"run/{RECORDS} was changed after the run") == 1
    assert "--accept-changed takes it as it is" in said.err
    if words.startswith(("rank run ", "score", "compare", "power")):
        assert "changed:records" in said.out
    if words.startswith("meta"):
        assert "c: The records were changed after the run." in said.out


def test_python_refuses_it_too_and_can_accept_it() -> None:
    change()
    for read in (read_run, read_judgements, adjudge.read_records, adjudge.rank):
        with pytest.raises(UsageError, match="was changed after the run"):
            read("run")
    with accepting_changed():
        with pytest.warns(DataWarning, match="was changed after the run"):
            assert read_run("run").info.signature.fields["changed"] == "records"
        assert len(read_judgements("run").records) == 12  # it was said already
    with pytest.raises(UsageError, match="was changed after the run"):
        read_run("run")


def test_a_record_that_is_gone_is_missed_although_the_change_was_accepted() -> None:
    lines = Path("run", RECORDS).read_bytes().splitlines(keepends=True)
    Path("run", RECORDS).write_bytes(b"".join(lines[1:]))
    with (
        accepting_changed(),
        pytest.warns(DataWarning),
        pytest.raises(DataError, match="records are missing"),
    ):
        read_run("run")


@pytest.mark.parametrize("lost", ["", None])
def test_a_finished_run_without_a_digest_is_no_whole_one(lost: str | None) -> None:
    told = json.loads(Path("run", INFO).read_text())
    del told["records_digest"]
    Path("run", INFO).write_text(json.dumps(told if lost is None else told | {"records_digest": lost}))
    wanted = DataError if lost is None else UsageError
    with pytest.raises(wanted, match="'records_digest' is missing" if lost is None else "was changed"):
        read_run("run")


def test_the_same_command_makes_changed_records_anew_and_says_so() -> None:
    before = change()
    with pytest.warns(DataWarning, match="was changed after the run, and is made anew"):
        adjudge.run("chrf", TWO, out="run")
    assert Path("run", RECORDS).read_bytes() == before
    assert len(read_run("run").records) == 12


def test_answers_make_the_changed_records_of_a_judge_anew() -> None:
    done = adjudge.run("gemba-mqm", small_set(), out="judged", model="builtin/rules")
    file = Path("judged", RECORDS)
    before = file.read_bytes()
    file.write_bytes(before.replace(b'"segment":"1"', b'"segment":"2"', 1))
    with pytest.warns(DataWarning, match="is made anew"):
        again = adjudge.run("gemba-mqm", small_set(), out="judged", model="builtin/rules")
    assert (file.read_bytes(), again.info.calls) == (before, done.info.calls)


def test_a_run_that_breaks_off_at_its_end_seems_under_way_and_not_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("adjudge.runs.resume.RunDirectory.finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            adjudge.run("chrf", TWO, out="run")
    assert "finished" not in read_run_info("run").times
    assert len(read_run("run").records) == 12
    change()
    read_run("run")  # nothing says what it should be
    adjudge.run("chrf", TWO, out="run")
    assert "finished" in read_run_info("run").times


def test_a_finished_run_that_cannot_be_written_is_refused_like_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change()
    monkeypatch.setattr("adjudge.runs.engines.os.access", lambda *_: False)
    with pytest.raises(UsageError, match="was changed after the run"):
        adjudge.run("chrf", TWO, out="run")
