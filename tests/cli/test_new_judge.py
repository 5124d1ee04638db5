"""The package that `adjudge new-judge` writes: its own test passes, and every command takes its judge."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import adjudge
from adjudge import examples
from adjudge.cli.judge_commands import _names
from adjudge.judges._prompts import _packaged
from tests.cli.calling import call

TEST_SET = examples.path("test_set.jsonl")


@pytest.fixture
def mood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Path]:
    """The package of judge `mood-meter`, installed as far as Python can see."""
    monkeypatch.chdir(tmp_path)
    assert call("new-judge", "mood-meter") == 0
    said = capsys.readouterr().err
    assert said == "judge mood-meter -> mood-meter; mood-meter/README.md says how to test, show and run it\n"
    package = tmp_path / "mood-meter"
    (installed := package / "mood_meter-1.dist-info").mkdir()
    (installed / "entry_points.txt").write_text("[adjudge.judges]\nmood-meter = mood_meter:MoodMeterJudge\n")
    (installed / "METADATA").write_text("Name: mood-meter\nVersion: 1\n")
    monkeypatch.syspath_prepend(package)
    _packaged.cache_clear()
    yield package
    sys.modules.pop("mood_meter", None)


def test_the_package_is_whole_and_named_throughout(mood: Path) -> None:
    files = {path.relative_to(mood).as_posix(): path for path in mood.rglob("*") if path.is_file()}
    wanted = {"README.md", "pyproject.toml", "mood_meter/__init__.py", "tests/test_mood_meter.py"}
    assert wanted | {"mood_meter/prompts/mood_meter/system.md"} == {
        name for name in files if "dist-info" not in name
    }
    assert not [
        name for name, file in files.items() if "my-judge" in (text := file.read_text()) or "my_judge" in text
    ]
    entry = '[project.entry-points."adjudge.judges"]\nmood-meter = "mood_meter:MoodMeterJudge"\n'
    assert entry in (mood / "pyproject.toml").read_text()


def test_the_package_passes_its_own_test(mood: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
        "tests",
    ]
    done = subprocess.run(command, cwd=mood, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


@pytest.mark.usefixtures("mood")
def test_every_command_takes_a_judge_of_another_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", "mood-meter", "--lp", "en-de") == 0
    shown = capsys.readouterr()
    assert "Task: rate how natural the translation reads" in shown.out
    assert "[reply]" in shown.out
    assert "--prompts" not in shown.out
    assert call("forecast", "mood-meter", TEST_SET, "--lp", "en-de", "--format", "json") == 0
    forecast = json.loads(capsys.readouterr().out)
    assert forecast["calls"] == {"min": 63, "typical": 63, "max": 63}  # one text is not translated
    assert call("run", "mood-meter", TEST_SET, "--lp", "en-de", "--dry-run") == 0
    assert call("run", "mood-meter", TEST_SET, "--lp", "en-de", "--out", "run") == 0
    assert (
        call("run", "mood-meter", TEST_SET, "--lp", "en-de", "--limit", "2", "--samples", "3", "--out", "s")
        == 0
    )
    capsys.readouterr()
    assert call("score", "run", "--format", "json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert {row["n"] for row in scores["systems"].values()} == {15, 16}
    assert call("trace", "run", "--segment", "1", "--system", "Alder") == 0
    assert "how natural" in capsys.readouterr().out
    assert call("list", "judges", "--format", "json") == 0
    rows = {row["judge"]: row for row in json.loads(capsys.readouterr().out)["judges"]}
    assert rows["mood-meter"]["what_it_does"] == "A rating of how natural a translation reads."
    assert _names("mood") == ["mood-meter"]


@pytest.mark.usefixtures("mood")
def test_a_judge_of_another_package_runs_from_python(tmp_path: Path) -> None:
    run = adjudge.run(
        "mood-meter", TEST_SET, lp="en-de", limit=2, out=tmp_path / "run", model="builtin/rules"
    )
    assert len(run.records) == 8
    assert {record.annotator for record in run.records} == {"mood-meter"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "1"], "judge 'mood-meter' has no setting 'steps'; it has none"),
        (["--profile", "papers"], "--profile"),
        (["--prompts", "mine"], "mine has sistem.md; this judge's files are "),
        (["--prompts", "nowhere"], "prompts must be a folder, got 'nowhere'"),
    ],
)
@pytest.mark.usefixtures("mood")
def test_what_is_wrong_is_said_as_of_a_judge_of_ours(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").mkdir()
    (Path("mine") / "sistem.md").touch()
    for command in (["show"], ["forecast"], ["run", "--out", "run"]):
        verb, *more = command
        texts = [] if verb == "show" else [str(TEST_SET)]
        assert call(verb, "mood-meter", *texts, *more, "--lp", "en-de", *arguments) == 2
        assert said in capsys.readouterr().err


@pytest.mark.usefixtures("mood")
def test_a_misspelt_judge_of_another_package_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", "mood-metre") == 2
    assert "did you mean mood-meter?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "def read_rating(",
            "def read_rating[",
            "cannot be loaded from 'mood_meter:MoodMeterJudge': SyntaxError",
        ),
        (
            "read=read, schema",
            "read=json.loads, schema",
            "the reader of mood-meter, stage rating, ended with",
        ),
        (
            "return annotation_of(self, subject, rating=rating, flags=flags)",
            "return rating",
            "must give records",
        ),
        ('name: ClassVar[str] = "mood-meter"', 'name: ClassVar[str] = "mood"', "calls itself 'mood'"),
        ("weights: ClassVar[None] = None", "", "must say its weights"),
        (
            'message("system", "system"',
            'message("system", "extra"',
            "extra.md is not among the files that",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["show", "run"])
def test_a_mistake_in_the_package_is_said_in_one_line(
    mood: Path, verb: str, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = mood / "mood_meter" / "__init__.py"
    text = module.read_text()
    assert old in text
    module.write_text("import json\n" + text.replace(old, new))
    options = [] if verb == "show" else [str(TEST_SET), "--out", "run", "--model", "builtin/rules"]
    assert call(verb, "mood-meter", *options, "--lp", "en-de") == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_kind_of_answer_that_the_rules_do_not_know_is_shown_and_forecast(
    mood: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = mood / "mood_meter" / "__init__.py"
    module.write_text(module.read_text().replace('wants="rating"', 'wants="mood"'))
    assert call("show", "mood-meter", "--lp", "en-de") == 0
    said = capsys.readouterr().out
    assert "how natural" in said
    assert "mood-meter wants 'mood'" in said
    assert call("forecast", "mood-meter", TEST_SET, "--lp", "en-de") == 0
    assert call("run", "mood-meter", TEST_SET, "--lp", "en-de", "--out", "run") == 1
    assert "mood-meter wants 'mood'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "words of small letters and digits"),
        ("Mood", "words of small letters and digits"),
        ("my_judge", "words of small letters and digits"),
        ("2nd", "words of small letters and digits"),
        ("mood-", "words of small letters and digits"),
        ("../mood", "words of small letters and digits"),
        ("stimmungs-maß", "words of small letters and digits"),
        ("mood\n", "words of small letters and digits"),
        ("fire", "there is a judge or a metric 'fire' already"),
        ("chrf", "there is a judge or a metric 'chrf' already"),
        ("json", "Python has a word or a module 'json' already"),
        ("class", "Python has a word or a module 'class' already"),
        ("here", "here exists already; give --out another folder"),
    ],
)
def test_a_bad_name_or_a_folder_that_is_there_is_refused_and_nothing_is_written(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    assert call("new-judge", name) == 2
    assert said in capsys.readouterr().err
    assert [*tmp_path.rglob("*")] == [tmp_path / "here"]


def test_a_judge_that_is_not_installed_is_not_there_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("new-judge", "sky-high") == 0
    assert call("show", "sky-high") == 2
    assert "one of your own counts once it is installed" in capsys.readouterr().err


def test_the_folder_may_have_another_name(tmp_path: Path) -> None:
    assert call("new-judge", "mood-judge", "--out", tmp_path / "a" / "b") == 0
    assert "class MoodJudge(" in (tmp_path / "a" / "b" / "mood_judge" / "__init__.py").read_text()
