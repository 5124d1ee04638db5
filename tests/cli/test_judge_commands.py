"""`adjudge show` lists a judge's settings as a command line spells them."""

import inspect
import json
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.cli.main import main
from adjudge.cli.options import read_settings, split_settings
from adjudge.core.record import Annotation
from adjudge.core.wording import count, read_share
from adjudge.errors import UsageError
from adjudge.formats.read import load
from adjudge.judges import JUDGES, load_judge
from adjudge.judges._prompts import _packaged
from adjudge.llm import search
from adjudge.llm.faults import Patience
from adjudge.runs import session
from adjudge.runs.resume import Entry
from adjudge.runs.session import Sink
from adjudge.runs.units import Unit
from adjudge.store.run_directory import read_records, read_run_info
from tests.cli.calling import call

# `adjudge run`, `show` and `trace` as a user calls them.


EXAMPLES = str(examples.path("test_set.jsonl"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_run(*options: str, judge: str = "gemba-mqm") -> int:
    return call("run", judge, EXAMPLES, "--lp", "en-de", "--limit", "2", *options)


# run...


def test_a_switch_that_took_the_test_set_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "m-mad", "--capped", EXAMPLES, "--out", "first") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"--capped took {EXAMPLES!r} for its value; if it is the TEST_SET, say --capped=yes" in said


def test_without_a_model_the_rules_judge_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    said = capsys.readouterr()
    assert "no language model judges" in said.err
    assert re.search(r"8 judged, 0 failed, 8 questions asked, 0 tokens, \d+\.\d s -> first", said.err)
    assert "gemba-mqm|model:builtin/rules|" in said.err
    assert said.out == ""
    assert run_run("--out", "first") == 0
    assert "0 questions asked, 8 answers taken from the store, 0 tokens" in capsys.readouterr().err


def test_a_dry_run_counts_and_sends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first", "--dry-run", "--model", "vllm/x", judge="gemba-esa") == 0
    said = capsys.readouterr().out
    assert re.search(r"units +8\b", said)
    assert re.search(r"calls +16 +16 +16\b", said)
    assert "nothing was sent" in said
    assert run_run("--dry-run", "--model", "vllm/x", judge="gemba-esa") == 0
    assert capsys.readouterr().out == said
    assert not list(tmp_path.iterdir())
    assert run_run("--model", "vllm/x", judge="gemba-esa") == 2
    assert "Missing option '--out' / '-o'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--outt", "first"], "no setting 'outt'; it has explain_in; did you mean --out?"),
        (["-lp", "en-de"], "-lp: an option of several letters has two dashes, --lp"),
        (["--langpair", "en-de"], "did you mean --lp?"),
        (["--set", "foo=1"], "has no setting 'foo'; it has explain_in\n"),
        (["--steps", "1"], "has no setting 'steps'; it has explain_in\n"),
        (["--settings", "1"], "has no setting 'settings'; it has explain_in\n"),
    ],
)
def test_an_option_that_there_is_not_is_told_before_one_that_is_missing(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "gemba-mqm", EXAMPLES, *options) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("files", [["b.txt"], ["b.txt", "c.txt"]])
def test_several_systems_behind_one_option_are_told_how_they_are_given(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("source.txt", "a.txt", *files):
        (tmp_path / name).write_text("One line.\n")
    assert call("run", "chrf", "-s", "source.txt", "-t", "a.txt", *files, "-o", "first") == 2
    said = " ".join(f"-t {name}" for name in ["a.txt", *files])
    assert f"-t is repeated for each value: {said}\n" in capsys.readouterr().err
    assert call("meta", EXAMPLES, "--scores", "a.txt", *files, "-l", "en-de") == 2
    assert "--scores is repeated for each value: --scores a.txt" in capsys.readouterr().err


def test_an_option_of_another_command_is_named_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", "gemba-mqm", "--terms", "x.tsv") == 2
    said = capsys.readouterr().err
    assert "--terms is an option of `adjudge run`" in said
    assert "did you mean" not in said


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        ("own", "tried for own"),
        ("vllm/x", "on for vllm/x"),
        ("ollama/x", "on for ollama/x"),
        ("deepseek/x", "off for deepseek/x"),
    ],
)
def test_a_dry_run_says_what_is_chosen_for_the_schema(
    model: str, chosen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wire = ["--base-url", "http://127.0.0.1:9/v1"] if model == "own" else []
    assert run_run("--out", "first", "--dry-run", "--model", model, *wire) == 0
    assert f"--json-schema auto: {chosen}" in capsys.readouterr().out
    assert run_run("--out", "first", "--dry-run", "--model", model, *wire, "--json-schema", "off") == 0
    assert "--json-schema" not in capsys.readouterr().out


def test_a_run_keeps_what_was_chosen_for_the_schema() -> None:
    assert run_run("--out", "first") == 0
    assert read_run_info("first").settings["json_schema_used"] == {"builtin/rules": "off"}


def test_a_judges_own_settings_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first", "--steps", "1", judge="ea-prompt") == 0
    assert "|steps:1|" in capsys.readouterr().err
    assert read_run_info("first").settings["judge"]["steps"] == 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stepps", "1"], "no setting 'stepps'; it has steps"),
        (["--stepps", "1"], "did you mean --steps?"),
        (["--sytems", "Alder"], "no setting 'sytems'; it has steps"),
        (["--sytems=Alder"], "did you mean --systems?"),
        (["--base_url", "http://localhost:1/v1"], "did you mean --base-url?"),
        (["--steps", "many"], "steps"),
        (["--search", "wikipedia"], "no setting 'search'; it has steps, with_reference, explain_in\n"),
        (["--temperature", "0.7"], "ea-prompt takes none: add samples"),
        (["--workers", "2"], "--workers is for --engine ray"),
        (["--timeout", "inf"], "--timeout must be a number of seconds above 0, got inf"),
        (["--max-failed", "lots"], "--max-failed"),
        (["--model", "nobody/x"], "no model 'nobody/x'"),
        (["--reference", "refA"], "no reference"),
        (["extra"], "'extra'"),
        (["--systems", "Nobody"], "no system 'Nobody'"),
        (["--model", ""], "--model names no model"),
        (["--model", "judge="], "--model judge= names no model"),
        (["-s", "source.txt"], "not both"),
        (["-t", "ours.txt"], "not both"),
    ],
)
def test_a_wrong_option_is_a_usage_error_that_says_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert run_run("--out", "first", *options, judge="ea-prompt") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "first").exists()


@pytest.mark.parametrize(
    "options",
    [[], ["--base-url", "http://localhost:1/v1"], ["--key-env", "SOME_KEY"], ["--served-as", "any"]],
)
def test_a_judge_without_a_model_judges_nothing(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADJUDGE_MODEL")
    for verb in ("run", "forecast"):
        words = ("--out", "first") if verb == "run" else ()
        assert call(verb, "himate", EXAMPLES, *words, *options) == 2
        said = capsys.readouterr()
        assert "a judge needs a model: add --model provider/model" in said.err
        assert "--model builtin/rules has fixed rules answer" in said.err
        assert not said.out
    assert not (tmp_path / "first").exists()
    assert call("run", "chrf", EXAMPLES, "--out", "metric") == 0  # a metric asks none


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chrff", "no judge and no metric 'chrff'; there are the judges gemba-mqm, "),
        ("chrff", "and the metrics bleu, chrf, "),
        ("chrff", "; did you mean chrf?"),
        ("gemba-mqn", "; did you mean gemba-mqm?"),
        ("x", "bridge; one of your own counts once it is installed, or with --plugin FILE\n"),
    ],
)
def test_a_name_that_nobody_has_is_told_beside_those_that_there_are(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_run("--out", "first", judge=name) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--context", "--terms"])
def test_a_metric_is_shown_no_more_than_its_translation(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "2").write_text("cat\tKatze\n")
    assert run_run("--out", "first", option, "2", judge="chrf") == 2
    assert f"{option}: chrf is a metric and reads one translation at a time" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["=lines.txt", "A=", " =lines.txt"])
def test_a_system_has_a_name_and_a_file(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lines.txt").write_text("a\n")
    lines = ("-s", "lines.txt", "--lp", "en-de", "--out", "first")
    assert call("run", "chrf", *lines, "-t", given) == 2
    assert f"a translation is given as NAME=FILE or FILE, got '{given}'" in capsys.readouterr().err


def test_a_system_that_is_the_reference_leaves_nothing_to_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lines.txt").write_text("a\n")
    lines = ("-s", "lines.txt", "--lp", "en-de", "--out", "first")
    assert call("run", "chrf", *lines, "-t", "lines.txt", "-r", "lines.txt") == 2
    assert "lines is the reference and is not judged as a system" in capsys.readouterr().err


def test_a_directory_of_another_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    assert run_run("--out", "first", "--context", "1") == 2
    assert "context was 0, now 1" in capsys.readouterr().err


def test_what_differs_from_another_run_is_named_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first", judge="rules") == 0
    capsys.readouterr()
    assert run_run("--out", "first", "--min-precision", "0.5", judge="rules") == 2
    assert "holds another run: metric min_precision was 0.0, now 0.5. Choose" in capsys.readouterr().err


def test_where_long_settings_differ_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    long = "a" * 200
    bridge = ("run", "bridge", EXAMPLES, "--out", "first", "--command", "cat", "--max-failed", "100%")
    assert call(*bridge, "--name", f"{long}b") == 0
    capsys.readouterr()
    assert call(*bridge, "--name", f"{long}c") == 2
    said = capsys.readouterr().err
    assert re.search(r"annotator was \.\.\.a+b, now \.\.\.a+c", said)
    assert long not in said


@pytest.mark.parametrize("options", [("--model", "vllm/x"), ("--base-url", "http://localhost:1/v1")])
def test_a_metric_asks_no_model(capsys: pytest.CaptureFixture[str], options: tuple[str, str]) -> None:
    assert run_run("--out", "first", *options, judge="chrf") == 2
    assert f"{options[0]}: chrf is a metric and asks no model" in capsys.readouterr().err


def test_what_is_taken_as_a_system_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    assert "4 systems: Alder, Birch, Cedar, Dogwood" in capsys.readouterr().err.splitlines()
    references = {"refA": "gut", "refB": "besser"}
    segment = {"segment": "1", "lp": "en-de", "source": "good", "references": references}
    segment |= {"translations": references | {"Ours": "schlecht"}}
    segments = [segment, segment | {"lp": "en-cs", "translations": {"Ours": "dobrý"}}]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(s) + "\n" for s in segments))
    assert call("run", "chrf", "set.jsonl", "--reference", "refA", "--out", "second") == 0
    said = capsys.readouterr().err.splitlines()
    assert "en-de: 2 systems: refB (a reference too), Ours" in said
    assert "en-cs: 1 system: Ours" in said


@pytest.mark.parametrize("files", [("-t", "ours.txt"), ("-r", "ref.txt")])
def test_files_without_their_source_are_a_usage_error(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str]
) -> None:
    assert call("run", "chrf", *files, "--out", "first") == 2
    assert "add -s FILE" in capsys.readouterr().err


def test_a_lock_that_cannot_be_made_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    assert run_run("--out", "first") == 1
    assert "cannot write the run first: unable to open database file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("judge", "said"),
    [("chrf", "stopped; nothing was written"), ("gemba-da", "stopped; the same command goes on where")],
)
def test_a_signal_stops_between_blocks_and_says_what_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], judge: str, said: str
) -> None:
    add = Sink.add
    added: list[Unit] = []

    def interrupted(sink: Sink, unit: Unit, entry: Entry) -> None:
        added.append(unit)
        if len(added) == 2:
            signal.raise_signal(signal.SIGTERM)
        add(sink, unit, entry)

    monkeypatch.setattr(Sink, "add", interrupted)
    monkeypatch.setattr(session, "_BLOCK", 4)
    assert call("run", judge, EXAMPLES, "--lp", "en-de", "--out", "first") == 130
    assert said in capsys.readouterr().err
    assert len(added) < sum(read_run_info("first").counts.values())
    assert not Path("first/records.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_behind_the_output_is_said_in_one_line() -> None:
    program = "from adjudge.cli.main import main; main(['list', 'models'])"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "adjudge: No space left on device\n")


def test_line_aligned_files_suffice(tmp_path: Path) -> None:
    (tmp_path / "src.txt").write_text("Good morning.\nGood night.\n")
    (tmp_path / "ours.txt").write_text("Guten Morgen.\nGute Nacht.\n")
    (tmp_path / "ref.txt").write_text("Guten Morgen!\nGute Nacht!\n")
    files = ("-s", "src.txt", "-t", "ours.txt", "-r", "refA=ref.txt", "--lp", "en-de")
    assert call("run", "chrf", *files, "--out", "first") == 0
    assert [getattr(r, "system", "") for r in read_records("first")] == ["ours", "ours"]


@pytest.mark.parametrize(
    "words",
    [
        ("m-mad", "--rounds", "1", "FILES"),
        ("--rounds", "1", "m-mad", "FILES"),
        ("m-mad", "--rounds=1", "FILES"),
        ("m-mad", "FILES", "--capped", "--rounds", "1"),
        ("m-mad", "FILES", "--rounds", "1", "--capped"),
    ],
)
@pytest.mark.parametrize("kind", ["lines", "jsonl"])
def test_a_setting_has_its_value_wherever_it_stands(
    words: tuple[str, ...], kind: str, tmp_path: Path
) -> None:
    (tmp_path / "src.txt").write_text("Good morning.\n")
    (tmp_path / "ours.txt").write_text("Guten Morgen.\n")
    lines = ("-s", "src.txt", "-tours.txt", "--lp", "en-de")
    files = lines if kind == "lines" else (EXAMPLES, "--lp=en-de", "--limit", "1")
    given = [part for word in words for part in (files if word == "FILES" else (word,))]
    assert call("run", *given, "--out", "first") == 0
    judge = read_run_info(Path("first")).settings["judge"]
    assert isinstance(judge, dict)
    assert (judge["rounds"], judge["capped"]) == (1, "--capped" in words)


def test_what_follows_a_setting_on_its_own_is_read_by_the_command() -> None:
    taken = {"--out": True, "-o": True, "--dry-run": False}
    words = ["m-mad", "--capped", "-oq", "--low", "-0.5", "--dry-run", "set", "--x", "--", "--y", "z"]
    assert split_settings(words, taken) == (
        ["m-mad", "-oq", "--dry-run", "set", "--", "--y", "z"],
        ["--capped", "--low", "-0.5", "--x"],
    )
    assert split_settings(["--out", "--x", "--z=1", "s"], taken) == (["--out", "--x", "s"], ["--z=1"])


@pytest.mark.parametrize("arguments", [["--steps", "1", "--steps", "2"], ["--tie-x=1", "--tie_x=1"]])
def test_a_setting_that_is_given_twice_is_refused(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="is given twice"):
        read_settings(arguments)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ([], {}),
        (["--steps", "1"], {"steps": "1"}),
        (["--steps=1", "--rounds", "3"], {"steps": "1", "rounds": "3"}),
        (["--with-reference"], {"with-reference": "true"}),
        (["--with-reference", "--steps", "2"], {"with-reference": "true", "steps": "2"}),
        (["--threshold", "-0.5"], {"threshold": "-0.5"}),
        (["--empty="], {"empty": ""}),
    ],
)
def test_unknown_options_are_read_as_settings(arguments: list[str], settings: dict[str, str]) -> None:
    assert read_settings(arguments) == settings


@pytest.mark.parametrize("arguments", [["word"], ["--steps", "1", "2"], ["-x"]])
def test_a_word_that_belongs_to_no_option_is_refused(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        read_settings(arguments)


@pytest.mark.parametrize(
    ("text", "share"), [("1%", 0.01), ("0.5", 0.5), ("0", 0), ("100%", 1), ("12.5%", 0.125)]
)
def test_a_share_is_a_percentage_or_a_fraction(text: str, share: float) -> None:
    assert read_share(text) == share


@pytest.mark.parametrize("text", ["", "%", "-1%", "101%", "2", "nan", "one"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--max-failed"):
        read_share(text)


def test_a_run_of_pairs_counts_pairs_of_one_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {"source.txt": "One.\nTwo.\n", "a.txt": "Eins.\nZwei.\n", "b.txt": "Eins.\nZwo.\n"}
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    files = ("-s", "source.txt", "-t", "a.txt", "-t", "b.txt", "--lp", "en-de")
    assert call("run", "direct-rank", *files, "--out", "pairs") == 0
    assert "2 judged, 0 failed, 1 pair of one text, not asked, 2 questions asked" in capsys.readouterr().err


# trace...


def test_a_trace_lists_what_was_judged_and_shows_a_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    assert call("trace", "first", "--format", "tsv") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["lp", "segment", "system", "state", "calls", "detail"]
    assert [row[3:5] for row in rows[1:]] == [["judged", "1"]] * 8
    lp, segment, system = rows[1][:3]
    capsys.readouterr()
    assert call("trace", "first", "--segment", segment, "--system", system) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{lp}, segment {segment}, {system}: judged\n")
    for part in ("── 1. errors ──", "[system]", "[user]", "[reply] builtin/rules, stop", "<<translation "):
        assert part in said
    assert call("trace", "first", "--segment", segment, "--system", system, "--format", "json") == 0
    (unit,) = json.loads(capsys.readouterr().out)["units"]
    assert unit["state"] == "judged"
    assert unit["exchanges"][0]["reply"]["finish"] == "stop"


def test_a_trace_of_what_is_not_there_says_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    capsys.readouterr()
    for options, said in (
        (["--segment", "99"], "such judgement: no segment '99'; there are 1, 2"),
        (["--system", "Elm"], "such judgement: no system 'Elm'; there are Alder, Birch, Cedar, Dogwood"),
        (["--lp", "eng-fra"], "lp 'en-fr'; it has en-de"),
    ):
        assert call("trace", "first", *options) == 2
        assert f"first has no {said}\n" in capsys.readouterr().err
    assert call("trace", "first", "--lp", "eng-deu") == 0


def test_calls_that_systems_share_are_said_to_be_those_of_the_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for judge, is_shared in (("gemba-mqm", False), ("rate", True)):
        assert call("run", judge, EXAMPLES, "--lp", "en-de", "--limit", "1", "--out", judge) == 0
        capsys.readouterr()
        assert call("trace", judge) == 0
        assert ("its systems were judged together" in capsys.readouterr().err) == is_shared


def test_failures_come_first_with_their_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path(EXAMPLES).read_text(encoding="utf-8").splitlines()
    first, second = (json.loads(line) for line in [line for line in lines if '"en-de"' in line][:2])
    second["translations"].pop(next(iter(first["translations"])))
    (tmp_path / "gap.jsonl").write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    assert call("run", "gemba-mqm", "gap.jsonl", "--out", "first", "--max-failed", "50%") == 0
    capsys.readouterr()
    assert call("trace", "first", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines()[1].split(",")[3] == "not translated"
    name = next(iter(first["translations"]))
    assert call("trace", "first", "--segment", second["segment"], "--system", name) == 0
    assert f"{name}: not translated: {name} has no translation of segment" in capsys.readouterr().out


def test_a_metric_has_a_list_and_no_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first", judge="chrf") == 0
    capsys.readouterr()
    assert call("trace", "first", "--format", "tsv") == 0
    assert len(capsys.readouterr().out.splitlines()) == 9


def test_what_was_not_judged_cannot_be_traced(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "first") == 0
    assert call("trace", "first", "--segment", "none") == 2
    assert call("trace", "nowhere") == 2


# show...


def test_a_judge_shows_every_message_and_its_schema_and_sends_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("show", "gemba-esa", "--lp", "en-de") == 0
    said = capsys.readouterr()
    assert re.findall(r"── (\d)\. (\w+) ──", said.out) == [("1", "errors"), ("2", "rating")]
    for part in (
        "[system]",
        "[schema of the answer]",
        "<<source 0123456789abcdef>>",
        "[reply] builtin/rules",
    ):
        assert part in said.out
    assert "nothing was sent" in said.err


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_says_in_how_many_points_it_differs_from_its_paper_and_in_which(
    judge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("show", judge, "--differs", "--format", "json") == 0
    points = json.loads(capsys.readouterr().out)["differs"]
    source = Path(inspect.getfile(type(load_judge(judge)))).read_text(encoding="utf-8")
    listed = source.split('\n"""\n')[0].partition("\nDiffers")[2]
    assert len(points) == max(map(int, re.findall(r"^ {2,9}(\d+)\. ", listed, re.MULTILINE)))
    assert " ".join(points).split() == re.sub(r"(?:^|\n) {1,9}\d+\. ", " ", listed).split()
    line = (
        f"profile paper of {judge}, which differs from its paper in up to {count(len(points), 'point')}: "
        f"adjudge show {judge} --differs"
    )
    without = ("--without", "search") if judge == "rate" else ()
    asked = ("--lp", "en-de", "--limit", "1", "--profile", "paper", *without)
    for verb, more in ("run", ("--out", str(tmp_path / "run"))), ("forecast", ()):
        assert call(verb, judge, EXAMPLES, *asked, *more) == 0
        assert line in capsys.readouterr().err.splitlines()
    assert call("show", judge, "--profile", "paper") == 0
    assert line in capsys.readouterr().err.splitlines()


def test_a_judge_shows_the_segment_and_the_settings_of_the_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = {
        "segment": "7",
        "lp": "en-de",
        "source": "Hello",
        "translations": {"X": "Hallo", "Y": "Servus"},
    }
    (tmp_path / "one.jsonl").write_text(json.dumps(segment) + "\n")
    assert (
        call(
            "show", "ea-prompt", "--segment", "one.jsonl", "--system", "Y", "--steps", "1", "--format", "json"
        )
        == 0
    )
    said = capsys.readouterr()
    (exchange,) = json.loads(said.out)["exchanges"]
    assert '"Servus"' in exchange["messages"][-1]["content"]
    assert "--steps 1 (of: 1, 2)" in said.err


THEIRS = """
from dataclasses import dataclass
from typing import ClassVar

from adjudge.core.ask import About
from adjudge.core.judge import Calls
from adjudge.judges._prompts import Prompted, load_prompts


@dataclass(frozen=True, kw_only=True)
class Theirs(Prompted):
    name: ClassVar[str] = "theirs"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)
    roles: ClassVar[tuple[str, ...]] = ("",)
    profile: str = "recommended"

    @property
    def _files(self):
        return load_prompts("theirs", ("system.md", "markers.md"), None, package=__package__)

    async def annotate(self, subject, ask):
        about = About(judge="theirs", stage="mood", subject=subject, wants="mood")
        said = self._files.message("user", "system", markers=self._files.piece("markers"))
        return (await ask([said], about=about, read=lambda reply: reply)).value
"""


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A judge in a package of its own, with prompts of its own and no shared ones."""
    package = tmp_path / "their_package"
    (package / "prompts" / "theirs").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "judge.py").write_text(THEIRS)
    (package / "prompts" / "theirs" / "system.md").write_text("In which mood is it? $markers")
    entry = "[adjudge.judges]\ntheirs = their_package.judge:Theirs\n"
    (tmp_path / "theirs-1.dist-info").mkdir()
    (tmp_path / "theirs-1.dist-info" / "entry_points.txt").write_text(entry)
    (tmp_path / "theirs-1.dist-info" / "METADATA").write_text("Name: theirs\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    _packaged.cache_clear()
    yield package
    for module in ("their_package.judge", "their_package"):
        sys.modules.pop(module, None)


@pytest.mark.usefixtures("theirs")
def test_a_judge_that_wants_what_no_rule_gives_shows_what_it_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", "theirs", "--lp", "en-de") == 0
    said = capsys.readouterr().out
    assert "In which mood is it? Each text" in said
    assert (
        "[not used] missing: a kind of answer (`wants`) that builtin/rules do not know: theirs wants 'mood'"
        in said
    )


def test_a_file_that_no_package_has_is_named(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (theirs / "prompts" / "theirs" / "system.md").unlink()
    assert call("show", "theirs", "--lp", "en-de") == 2
    assert "package 'their_package' has no file prompts/theirs/system.md" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chrf"], "is a metric"),
        (["nobody"], "nobody"),
        (["gemba-mqm", "--system", "Nobody"], "no system 'Nobody'"),
        (["gemba-mqm", "--stepps", "1"], "no setting 'stepps'"),
    ],
)
def test_what_cannot_be_shown_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert call("show", *arguments) == 2
    assert said in capsys.readouterr().err


def test_anchors_are_systems_of_pairs_or_a_setting_of_the_judge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_run("--out", "frozen", "--anchors", "frozen", judge="rate") == 0
    assert "|anchors:frozen|" in capsys.readouterr().err
    assert run_run("--out", "pairs", "--anchors", "frozen", "--pairs", "anchored", judge="fire") == 2
    assert "has no system 'frozen'" in capsys.readouterr().err


def test_a_judge_searches_with_what_it_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The first night tram.")
    assert run_run("--out", "r", "--search", "files:notes", judge="rate") == 0
    assert "|search:files:" in capsys.readouterr().err
    assert call("trace", "r", "--segment", "1") == 0
    assert "The first night tram." in capsys.readouterr().out
    assert run_run("--out", "other", "--search", "files:notes") == 2
    assert "judge 'gemba-mqm' has no setting 'search'" in capsys.readouterr().err
    assert run_run("--out", "other", "--search", "files:nowhere", judge="rate") == 2
    assert "no such folder" in capsys.readouterr().err


# Options that many judges share, wherever they stand on the line.


FEW = ("--lp", "en-de", "--limit", "2")


@pytest.fixture(autouse=True)
def _samples_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("before", [True, False])
def test_samples_are_counted_and_signed(before: bool) -> None:
    options = ("--samples", "3", "--temperature", "0.5")
    words = (*options, EXAMPLES) if before else (EXAMPLES, *options)
    assert call("run", "gemba-esa", *words, *FEW, "--out", "out") == 0
    info = read_run_info(Path("out"))
    assert "|samples:3|temperature:0.5|" in str(info.signature)
    records = read_records(Path("out"))
    assert all(isinstance(record, Annotation) and len(record.samples) == 3 for record in records)


def test_a_limit_is_of_each_language_pair(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("forecast", "gemba-da", EXAMPLES, "--limit", "1", "--format", "json") == 0
    told = capsys.readouterr()
    lps = load(EXAMPLES).lps
    assert f"the first 1 segment of each of {len(lps)} language pairs: {', '.join(lps)}" in told.err
    assert json.loads(told.out)["units"] == sum(len(s.translations) for s in load(EXAMPLES).select(limit=1))


def test_a_forecast_counts_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("forecast", "gemba-esa", "--samples", "5", EXAMPLES, *FEW, "--format", "json") == 0
    forecast = json.loads(capsys.readouterr().out)
    assert set(forecast["calls"].values()) == {forecast["units"] * 2 * 5}


def test_errors_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "gemba-mqm", "--explain-in", "fr", EXAMPLES, "--lp", "en-de", "--out", "out") == 0
    spans = [
        span
        for record in read_records(Path("out"))
        if isinstance(record, Annotation)
        for span in record.spans
    ]
    assert spans
    assert all(span.note for span in spans)
    assert "explain_in:fr" in capsys.readouterr().err


def test_look_ups_that_failed_are_told_at_the_end_and_tried_again_by_the_same_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search, "_PATIENCE", Patience(attempts=1, first_wait=0.01, longest_wait=0.01))
    one = ("--lp", "en-de", "--limit", "1")
    for _ in range(2):
        words = ("run", "rate", EXAMPLES, *one, "--search", "http://127.0.0.1:9/find", "--out", "away")
        assert call(*words) == 0
        said = next(line for line in capsys.readouterr().err.splitlines() if "look-up" in line)
        queries = sum(isinstance(r, Annotation) and "search" in r.steps for r in read_records(Path("away")))
        assert queries
        assert re.match(
            rf"look-ups that failed: [a-z_]+ {queries}; the judge went on without.*; first: .", said
        )
    Path("notes.md").write_text("Apples are fruit.")
    assert call("run", "rate", EXAMPLES, *one, "--search", "files:notes.md", "--out", "near") == 0
    assert "look-up" not in capsys.readouterr().err


def test_a_bridge_is_run_by_a_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("same.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'score': 1}))\n"
    )
    words = ("--command", shlex.join([sys.executable, "same.py"]), "--name", "same", "--range", "0..1")
    assert call("run", "bridge", EXAMPLES, *FEW, *words, "--out", "out") == 0
    assert read_run_info(Path("out")).annotator == "same"
    Path("same.py").write_text("raise SystemExit('no weights')")
    assert call("run", "bridge", EXAMPLES, *FEW, *words, "--out", "again") == 3
    assert "first server_error: the command ended with exit status 1; it said: no weights" in (
        capsys.readouterr().err
    )


def settings_shown(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    with pytest.raises(SystemExit) as end:
        main(["show", *words])
    assert end.value.code == 0
    return [line.strip() for line in capsys.readouterr().err.splitlines() if line.startswith("  --")]


def test_settings_stand_with_values_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert settings_shown(capsys, "m-mad", "--rounds", "1", "--capped") == [
        "--profile recommended (of: recommended, paper, code)",
        "--strategy consensus (of: consensus, deliberation, interactive-review, consultancy-review, none)",
        "--topic severity (of: severity, category, entirety)",
        "--rounds 1",
        "--partition yes (of: yes, no)",
        "--final-judge yes (of: yes, no)",
        "--capped yes (of: yes, no)",
        "--explain-in: not set",
    ]
    assert "--orders: not set (of: both, given, random)" in settings_shown(capsys, "fire")


def test_how_samples_are_drawn_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = settings_shown(capsys, "direct-rank", "--samples", "3", "--tie-threshold", "0.4")
    assert {"--samples 3", "--temperature 0.7", "--tie-threshold 0.4"} <= set(shown)
    assert len({line.split()[0].rstrip(":") for line in shown}) == len(shown)


@pytest.mark.parametrize("name", JUDGES)
def test_what_is_shown_can_be_given(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [line.split() for line in settings_shown(capsys, name)]
    given = {words[0].removeprefix("--"): words[1] for words in shown if not words[0].endswith(":")}
    profile = given.pop("profile", "recommended")
    judge = load_judge(name, profile=profile, settings=given)  # type: ignore[arg-type] # it is one of PROFILES
    assert judge == load_judge(name)
