"""`adjudge run`, `forecast`, `show` and `trace` as a user calls them."""

import inspect
import json
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.cli.options import read_settings, split_settings
from adjudge.core.record import Annotation
from adjudge.core.wording import count, read_share
from adjudge.errors import UsageError
from adjudge.formats.read import load
from adjudge.judges import JUDGES, load_judge
from adjudge.llm import search
from adjudge.llm.faults import Patience
from adjudge.runs import session
from adjudge.runs.resume import Entry
from adjudge.runs.session import Sink
from adjudge.runs.units import Unit
from adjudge.store.run_directory import read_records, read_run_info
from tests.cli.calling import Ask, call

EXAMPLES = str(examples.path("test_set.jsonl"))
FEW = ("--lp", "en-de", "--limit", "2")


def few(judge: str, *options: object, out: str = "first") -> tuple[object, ...]:
    return ("run", judge, EXAMPLES, *FEW, "--out", out, *options)


def test_without_a_model_the_rules_judge_and_that_is_said(ask: Ask) -> None:
    said = ask.done(*few("gemba-mqm"))
    assert "no language model judges" in said.err
    assert re.search(r"8 judged, 0 failed, 8 questions asked, 0 tokens, \d+\.\d s -> first", said.err)
    assert "gemba-mqm|model:builtin/rules|" in said.err
    assert said.out == ""
    assert "0 questions asked, 8 answers taken from the store, 0 tokens" in ask.done(*few("gemba-mqm")).err


def test_a_dry_run_counts_and_sends_nothing(tmp_path: Path, ask: Ask) -> None:
    said = ask.done(*few("gemba-esa", "--dry-run", "--model", "vllm/x")).out
    assert re.search(r"units +8\b", said)
    assert re.search(r"calls +16 +16 +16\b", said)
    assert "nothing was sent" in said
    assert ask.done("run", "gemba-esa", EXAMPLES, *FEW, "--dry-run", "--model", "vllm/x").out == said
    assert not list(tmp_path.iterdir())
    told = ask.refused("run", "gemba-esa", EXAMPLES, *FEW, "--model", "vllm/x")
    assert "Missing option '--out' / '-o'" in told


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        ("own", "tried for own"),
        ("vllm/x", "on for vllm/x"),
        ("ollama/x", "on for ollama/x"),
        ("deepseek/x", "off for deepseek/x"),
    ],
)
def test_a_dry_run_says_what_is_chosen_for_the_schema(model: str, chosen: str, ask: Ask) -> None:
    wire = ["--base-url", "http://127.0.0.1:9/v1"] if model == "own" else []
    said = ask.done(*few("gemba-mqm", "--dry-run", "--model", model, *wire)).out
    assert f"--json-schema auto: {chosen}" in said
    told = ask.done(*few("gemba-mqm", "--dry-run", "--model", model, *wire, "--json-schema", "off")).out
    assert "--json-schema" not in told


def test_a_judges_own_settings_are_options(ask: Ask) -> None:
    assert "|steps:1|" in ask.done(*few("ea-prompt", "--steps", "1")).err
    settings = read_run_info("first").settings
    assert settings["judge"]["steps"] == 1  # type: ignore[index]
    assert settings["json_schema_used"] == {"builtin/rules": "off"}


LINES = "chrf -s lines.txt --lp en-de -o first"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("m-mad --capped SET -o first", "took 'SET' for its value; if it is the TEST_SET, say --capped=yes"),
        ("gemba-mqm SET --outt first", "no setting 'outt'; it has explain_in; did you mean --out?"),
        ("gemba-mqm SET -lp en-de", "-lp: an option of several letters has two dashes, --lp"),
        ("gemba-mqm SET --langpair en-de", "did you mean --lp?"),
        ("gemba-mqm SET --set foo=1", "has no setting 'foo'; it has explain_in\n"),
        ("gemba-mqm SET --settings 1", "has no setting 'settings'; it has explain_in\n"),
        ("gemba-mqm SET -o first --search files:lines.txt", "no setting 'search'"),
        ("ea-prompt SET -o first --stepps 1", "no setting 'stepps'; it has steps"),
        ("ea-prompt SET -o first --stepps 1", "did you mean --steps?"),
        ("ea-prompt SET -o first --sytems=Alder", "did you mean --systems?"),
        ("ea-prompt SET -o first --base_url http://localhost:1/v1", "did you mean --base-url?"),
        ("ea-prompt SET -o first --steps many", "steps"),
        ("ea-prompt SET -o first --temperature 0.7", "ea-prompt takes none: add samples"),
        ("ea-prompt SET -o first --workers 2", "--workers is for --engine ray"),
        ("ea-prompt SET -o first --timeout inf", "--timeout must be a number of seconds above 0, got inf"),
        ("ea-prompt SET -o first --max-failed lots", "--max-failed"),
        ("ea-prompt SET -o first --model nobody/x", "no model 'nobody/x'"),
        ("ea-prompt SET -o first --reference refA", "no reference"),
        ("ea-prompt SET -o first extra", "'extra'"),
        ("ea-prompt SET -o first --systems Nobody", "no system 'Nobody'"),
        ("ea-prompt SET -o first --model ''", "--model names no model"),
        ("ea-prompt SET -o first --model judge=", "--model judge= names no model"),
        ("ea-prompt SET -o first -s source.txt", "not both"),
        ("ea-prompt SET -o first -t ours.txt", "not both"),
        ("fire SET -o first --anchors frozen --pairs anchored", "has no system 'frozen'"),
        ("rate SET -o first --search files:nowhere", "no such folder"),
        ("chrff SET -o first", "no judge and no metric 'chrff'; there are the judges gemba-mqm, "),
        ("chrff SET -o first", "and the metrics bleu, chrf, "),
        ("chrff SET -o first", "; did you mean chrf?"),
        ("gemba-mqn SET -o first", "; did you mean gemba-mqm?"),
        ("x SET -o first", "bridge; one of your own counts once it is installed, or with --plugin FILE\n"),
        ("chrf SET -o first --context 2", "--context: chrf is a metric and reads one translation at a time"),
        ("chrf SET -o first --terms lines.txt", "--terms: chrf is a metric"),
        ("chrf SET -o first --model vllm/x", "--model: chrf is a metric and asks no model"),
        ("chrf SET -o first --base-url http://localhost:1/v1", "--base-url: chrf is a metric"),
        ("chrf -o first -t lines.txt", "add -s FILE"),
        ("chrf -o first -r lines.txt", "add -s FILE"),
        (f"{LINES} -t =lines.txt", "a translation is given as NAME=FILE or FILE, got '=lines.txt'"),
        (f"{LINES} -t A=", "a translation is given as NAME=FILE or FILE, got 'A='"),
        (f"{LINES} -t ' =lines.txt'", "a translation is given as NAME=FILE or FILE, got ' =lines.txt'"),
        (f"{LINES} -t lines.txt -r lines.txt", "lines is the reference and is not judged as a system"),
        (f"{LINES} -t lines.txt b.txt", "-t is repeated for each value: -t lines.txt -t b.txt\n"),
        (f"{LINES} -t lines.txt b.txt c.txt", "each value: -t lines.txt -t b.txt -t c.txt\n"),
    ],
)
def test_a_run_that_cannot_be_says_what_there_is_and_writes_nothing(words: str, said: str, ask: Ask) -> None:
    Path("SET").write_bytes(Path(EXAMPLES).read_bytes())
    Path("lines.txt").write_text("a\tb\n")
    assert said in ask.refused("run", *shlex.split(words))
    assert not Path("first").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chrf",), "is a metric"),
        (("nobody",), "nobody"),
        (("gemba-mqm", "--system", "Nobody"), "no system 'Nobody'"),
        (("gemba-mqm", "--stepps", "1"), "no setting 'stepps'"),
        (("gemba-mqm", "--terms", "x.tsv"), "--terms is an option of `adjudge run`"),
    ],
)
def test_what_cannot_be_shown_is_refused(words: tuple[str, ...], said: str, ask: Ask) -> None:
    told = ask.refused("show", *words)
    assert said in told
    assert "did you mean --term" not in told


def test_several_files_behind_one_option_of_another_command_are_told_how_they_are_given(ask: Ask) -> None:
    for name in "ab":
        Path(f"{name}.txt").write_text("One line.\n")
    words = ("--scores", "a.txt", "b.txt", "-l", "en-de")
    assert "--scores is repeated for each value: --scores a.txt" in ask.refused("meta", EXAMPLES, *words)


@pytest.mark.parametrize("options", [(), ("--base-url", "http://localhost:1/v1"), ("--key-env", "SOME_KEY")])
def test_a_judge_without_a_model_judges_nothing(
    options: tuple[str, ...], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADJUDGE_MODEL")
    for words in (("run", "himate", EXAMPLES, "--out", "first"), ("forecast", "himate", EXAMPLES)):
        said = ask.refused(*words, *options)
        assert "a judge needs a model: add --model provider/model" in said
        assert "--model builtin/rules has fixed rules answer" in said
    assert not Path("first").exists()
    assert call("run", "chrf", EXAMPLES, "--out", "metric") == 0  # a metric asks none


def test_a_directory_of_another_run_is_refused(ask: Ask) -> None:
    assert call(*few("gemba-mqm")) == 0
    assert "context was 0, now 1" in ask.refused(*few("gemba-mqm", "--context", "1"))


def test_what_differs_from_another_run_is_named_and_nothing_else(ask: Ask) -> None:
    assert call(*few("rules")) == 0
    said = ask.refused(*few("rules", "--min-precision", "0.5"))
    assert "holds another run: metric min_precision was 0.0, now 0.5. Choose" in said


def test_where_long_settings_differ_is_shown(ask: Ask) -> None:
    long = "a" * 200
    bridge = ("run", "bridge", EXAMPLES, "--out", "first", "--command", "cat", "--max-failed", "100%")
    assert call(*bridge, "--name", f"{long}b") == 0
    said = ask.refused(*bridge, "--name", f"{long}c")
    assert re.search(r"annotator was \.\.\.a+b, now \.\.\.a+c", said)
    assert long not in said


def test_what_is_taken_as_a_system_is_said_first(ask: Ask) -> None:
    assert "4 systems: Alder, Birch, Cedar, Dogwood" in ask.done(*few("gemba-mqm")).err.splitlines()
    references = {"refA": "gut", "refB": "besser"}
    segment = {"segment": "1", "lp": "en-de", "source": "good", "references": references}
    segment |= {"translations": references | {"Ours": "schlecht"}}
    segments = [segment, segment | {"lp": "en-cs", "translations": {"Ours": "dobrý"}}]
    Path("set.jsonl").write_text("".join(json.dumps(s) + "\n" for s in segments))
    said = ask.done("run", "chrf", "set.jsonl", "--reference", "refA", "--out", "second").err.splitlines()
    assert "en-de: 2 systems: refB (a reference too), Ours" in said
    assert "en-cs: 1 system: Ours" in said


def test_a_lock_that_cannot_be_made_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    said = ask.refused(*few("gemba-mqm"), code=1)
    assert "cannot write the run first: unable to open database file" in said


@pytest.mark.parametrize(
    ("judge", "said"),
    [("chrf", "stopped; nothing was written"), ("gemba-da", "stopped; the same command goes on where")],
)
def test_a_signal_stops_between_blocks_and_says_what_is_left(
    monkeypatch: pytest.MonkeyPatch, ask: Ask, judge: str, said: str
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
    assert said in ask.refused("run", judge, EXAMPLES, "--lp", "en-de", "--out", "first", code=130)
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


def test_line_aligned_files_suffice() -> None:
    Path("src.txt").write_text("Good morning.\nGood night.\n")
    Path("ours.txt").write_text("Guten Morgen.\nGute Nacht.\n")
    Path("ref.txt").write_text("Guten Morgen!\nGute Nacht!\n")
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
def test_a_setting_has_its_value_wherever_it_stands(words: tuple[str, ...], kind: str) -> None:
    Path("src.txt").write_text("Good morning.\n")
    Path("ours.txt").write_text("Guten Morgen.\n")
    lines = ("-s", "src.txt", "-tours.txt", "--lp", "en-de")
    files = lines if kind == "lines" else (EXAMPLES, "--lp=en-de", "--limit", "1")
    given = [part for word in words for part in (files if word == "FILES" else (word,))]
    assert call("run", *given, "--out", "first") == 0
    judge = read_run_info("first").settings["judge"]
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


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ("", {}),
        ("--steps=1 --rounds 3", {"steps": "1", "rounds": "3"}),
        ("--with-reference --steps 2", {"with-reference": "true", "steps": "2"}),
        ("--steps 2 --with-reference", {"with-reference": "true", "steps": "2"}),
        ("--threshold -0.5", {"threshold": "-0.5"}),
        ("--empty=", {"empty": ""}),
        ("--steps 1 --steps 2", "is given twice"),
        ("--tie-x=1 --tie_x=1", "is given twice"),
        ("word", "'word'"),
        ("--steps 1 2", "'2'"),
        ("-x", "'-x'"),
    ],
)
def test_unknown_options_are_read_as_settings(arguments: str, settings: dict[str, str] | str) -> None:
    if isinstance(settings, dict):
        assert read_settings(arguments.split()) == settings
    else:
        with pytest.raises(UsageError, match=settings):
            read_settings(arguments.split())


def test_a_share_is_a_percentage_or_a_fraction() -> None:
    shares = {"1%": 0.01, "0.5": 0.5, "0": 0, "100%": 1, "12.5%": 0.125}
    assert {text: read_share(text) for text in shares} == shares
    for text in ("", "%", "-1%", "101%", "2", "nan", "one"):
        with pytest.raises(UsageError, match="--max-failed"):
            read_share(text)


def test_a_run_of_pairs_counts_pairs_of_one_text(tmp_path: Path, ask: Ask) -> None:
    lines = {"source.txt": "One.\nTwo.\n", "a.txt": "Eins.\nZwei.\n", "b.txt": "Eins.\nZwo.\n"}
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    files = ("-s", "source.txt", "-t", "a.txt", "-t", "b.txt", "--lp", "en-de")
    said = ask.done("run", "direct-rank", *files, "--out", "pairs").err
    assert "2 judged, 0 failed, 1 pair of one text, not asked, 2 questions asked" in said


def test_a_trace_lists_what_was_judged_and_shows_a_conversation(ask: Ask) -> None:
    ask.done(*few("gemba-mqm"))
    rows = [line.split("\t") for line in ask.done("trace", "first", "--format", "tsv").out.splitlines()]
    assert rows[0] == ["lp", "segment", "system", "state", "calls", "detail"]
    assert [row[3:5] for row in rows[1:]] == [["judged", "1"]] * 8
    lp, segment, system = rows[1][:3]
    one = ("trace", "first", "--segment", segment, "--system", system)
    said = ask.done(*one).out
    assert said.startswith(f"{lp}, segment {segment}, {system}: judged\n")
    for part in ("── 1. errors ──", "[system]", "[user]", "[reply] builtin/rules, stop", "<<translation "):
        assert part in said
    (unit,) = ask.done(*one, "--format", "json").json["units"]
    assert unit["state"] == "judged"
    assert unit["exchanges"][0]["reply"]["finish"] == "stop"
    ask.done(*few("chrf", out="metric"))  # it has a list and no conversation
    assert len(ask.done("trace", "metric", "--format", "tsv").out.splitlines()) == 9


def test_a_trace_of_what_is_not_there_says_what_is(ask: Ask) -> None:
    assert call(*few("gemba-mqm")) == 0
    for options, said in (
        (["--segment", "99"], "such judgement: no segment '99'; there are 1, 2"),
        (["--system", "Elm"], "such judgement: no system 'Elm'; there are Alder, Birch, Cedar, Dogwood"),
        (["--lp", "eng-fra"], "lp 'en-fr'; it has en-de"),
    ):
        assert f"first has no {said}\n" in ask.refused("trace", "first", *options)
    assert call("trace", "first", "--lp", "eng-deu") == 0


def test_calls_that_systems_share_are_said_to_be_those_of_the_source(ask: Ask) -> None:
    for judge, is_shared in (("gemba-mqm", False), ("rate", True)):
        assert call("run", judge, EXAMPLES, "--lp", "en-de", "--limit", "1", "--out", judge) == 0
        assert ("its systems were judged together" in ask.done("trace", judge).err) == is_shared


def test_failures_come_first_with_their_reasons(ask: Ask) -> None:
    lines = Path(EXAMPLES).read_text(encoding="utf-8").splitlines()
    first, second = (json.loads(line) for line in [line for line in lines if '"en-de"' in line][:2])
    second["translations"].pop(next(iter(first["translations"])))
    Path("gap.jsonl").write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    assert call("run", "gemba-mqm", "gap.jsonl", "--out", "first", "--max-failed", "50%") == 0
    assert ask.done("trace", "first", "--format", "csv").out.splitlines()[1].split(",")[3] == "not translated"
    name = next(iter(first["translations"]))
    said = ask.done("trace", "first", "--segment", second["segment"], "--system", name).out
    assert f"{name}: not translated: {name} has no translation of segment" in said


def test_a_judge_shows_every_message_and_its_schema_and_sends_nothing(ask: Ask) -> None:
    said = ask.done("show", "gemba-esa", "--lp", "en-de")
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
def test_a_judge_says_in_how_many_points_it_differs_from_its_paper_and_in_which(judge: str, ask: Ask) -> None:
    points = ask.done("show", judge, "--differs", "--format", "json").json["differs"]
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
    for verb, more in ("run", ("--out", str(Path("run")))), ("forecast", ()):
        assert line in ask.done(verb, judge, EXAMPLES, *asked, *more).err.splitlines()
    assert line in ask.done("show", judge, "--profile", "paper").err.splitlines()


def test_a_judge_shows_the_segment_and_the_settings_of_the_user(ask: Ask) -> None:
    segment = {"segment": "7", "lp": "en-de", "source": "Hello", "translations": {"X": "Hi", "Y": "Servus"}}
    Path("one.jsonl").write_text(json.dumps(segment) + "\n")
    one = ("--segment", "one.jsonl", "--system", "Y", "--steps", "1", "--format", "json")
    said = ask.done("show", "ea-prompt", *one)
    (exchange,) = said.json["exchanges"]
    assert '"Servus"' in exchange["messages"][-1]["content"]
    assert "--steps 1 (of: 1, 2)" in said.err


def test_a_judge_searches_with_what_it_is_given(ask: Ask) -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text("The first night tram.")
    assert "|search:files:" in ask.done(*few("rate", "--search", "files:notes")).err
    assert "The first night tram." in ask.done("trace", "first", "--segment", "1").out


# Options that many judges share, wherever they stand on the line.


@pytest.mark.parametrize("before", [True, False])
def test_samples_are_counted_and_signed(before: bool) -> None:
    options = ("--samples", "3", "--temperature", "0.5")
    words = (*options, EXAMPLES) if before else (EXAMPLES, *options)
    assert call("run", "gemba-esa", *words, *FEW, "--out", "out") == 0
    info = read_run_info(Path("out"))
    assert "|samples:3|temperature:0.5|" in str(info.signature)
    records = read_records("out")
    assert all(isinstance(record, Annotation) and len(record.samples) == 3 for record in records)


def test_a_limit_is_of_each_language_pair(ask: Ask) -> None:
    told = ask.done("forecast", "gemba-da", EXAMPLES, "--limit", "1", "--format", "json")
    lps = load(EXAMPLES).lps
    assert f"the first 1 segment of each of {len(lps)} language pairs: {', '.join(lps)}" in told.err
    assert json.loads(told.out)["units"] == sum(len(s.translations) for s in load(EXAMPLES).select(limit=1))


def test_a_forecast_counts_samples(ask: Ask) -> None:
    forecast = ask.done("forecast", "gemba-esa", "--samples", "5", EXAMPLES, *FEW, "--format", "json").json
    assert set(forecast["calls"].values()) == {forecast["units"] * 2 * 5}


def test_errors_are_explained(ask: Ask) -> None:
    assert "explain_in:fr" in ask.done(*few("gemba-mqm", "--explain-in", "fr")).err
    notes = [s.note for r in read_records("first") if isinstance(r, Annotation) for s in r.spans]
    assert notes
    assert all(notes)


def test_look_ups_that_failed_are_told_at_the_end_and_tried_again_by_the_same_command(
    monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.setattr(search, "_PATIENCE", Patience(attempts=1, first_wait=0.01, longest_wait=0.01))
    one = ("--lp", "en-de", "--limit", "1")
    for _ in range(2):
        words = ("run", "rate", EXAMPLES, *one, "--search", "http://127.0.0.1:9/find", "--out", "away")
        said = next(line for line in ask.done(*words).err.splitlines() if "look-up" in line)
        queries = sum(isinstance(r, Annotation) and "search" in r.steps for r in read_records("away"))
        assert queries
        assert re.match(
            rf"look-ups that failed: [a-z_]+ {queries}; the judge went on without.*; first: .", said
        )
    Path("notes.md").write_text("Apples are fruit.")
    told = ask.done("run", "rate", EXAMPLES, *one, "--search", "files:notes.md", "--out", "near").err
    assert "look-up" not in told


def test_a_bridge_is_run_by_a_command_line(ask: Ask) -> None:
    Path("same.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'score': 1}))\n"
    )
    words = ("--command", shlex.join([sys.executable, "same.py"]), "--name", "same", "--range", "0..1")
    assert call("run", "bridge", EXAMPLES, *FEW, *words, "--out", "out") == 0
    assert read_run_info(Path("out")).annotator == "same"
    Path("same.py").write_text("raise SystemExit('no weights')")
    said = ask.refused("run", "bridge", EXAMPLES, *FEW, *words, "--out", "again", code=3)
    assert "first server_error: the command ended with exit status 1; it said: no weights" in said


def settings_shown(ask: Ask, *words: str) -> list[str]:
    return [line.strip() for line in ask.done("show", *words).err.splitlines() if line.startswith("  --")]


def test_settings_stand_with_values_and_choices(ask: Ask) -> None:
    assert settings_shown(ask, "m-mad", "--rounds", "1", "--capped") == [
        "--profile recommended (of: recommended, paper, code)",
        "--strategy consensus (of: consensus, deliberation, interactive-review, consultancy-review, none)",
        "--topic severity (of: severity, category, entirety)",
        "--rounds 1",
        "--partition yes (of: yes, no)",
        "--final-judge yes (of: yes, no)",
        "--capped yes (of: yes, no)",
        "--explain-in: not set",
    ]
    assert "--orders: not set (of: both, given, random)" in settings_shown(ask, "fire")


def test_how_samples_are_drawn_is_shown(ask: Ask) -> None:
    shown = settings_shown(ask, "direct-rank", "--samples", "3", "--tie-threshold", "0.4")
    assert {"--samples 3", "--temperature 0.7", "--tie-threshold 0.4"} <= set(shown)
    assert len({line.split()[0].rstrip(":") for line in shown}) == len(shown)


def test_what_is_shown_can_be_given(ask: Ask) -> None:
    for name in JUDGES:
        shown = [line.split() for line in settings_shown(ask, name)]
        given = {words[0].removeprefix("--"): words[1] for words in shown if not words[0].endswith(":")}
        profile = given.pop("profile", "recommended")
        judge = load_judge(name, profile=profile, settings=given)  # type: ignore[arg-type] # it is one of PROFILES
        assert judge == load_judge(name), name
