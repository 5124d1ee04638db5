"""The package that `adjudge new-judge` writes: its own test passes, and every command takes its judge."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import adjudge
from adjudge import examples
from adjudge.cli.judge_commands import _names
from adjudge.judges._prompts import _packaged
from adjudge.llm.embedded_rules import ROLES
from adjudge.runs.units import code_of, load_annotator
from tests.cli.calling import call

IMPORTS = "from dataclasses import replace\nfrom adjudge.kit import ErrorSpan\n"
RECORD = ("return annotation_of(self, subject, rating=rating, flags=flags)",)
SETTING = "prompts: Path | None = None\n    "
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
            "return rating, reading.settle(is_clean=rating == HIGH)",
            "return rating, ()",
            "the reader of mood-meter, stage rating, did not call Reading.settle()",
        ),
        (*RECORD, "return replace(RECORD, system='Else')", "gave a record with systems ('Else',), wanted ('"),
        (*RECORD, "return replace(RECORD, segment='99')", "gave a record with segment '99', wanted '"),
        (*RECORD, "return replace(RECORD, annotator='me')", "with annotator 'me', wanted 'mood-meter'"),
        (*RECORD, "return replace(RECORD, protocol='esa')", "with protocol 'esa', wanted 'da-sqm'"),
        (
            *RECORD,
            "return replace(RECORD, rating=rating * 2 + 200)",
            "annotate ended with DataError: a rating",
        ),
        (
            *RECORD,
            "return replace(RECORD, rating='good')",
            "annotate ended with DataError: a rating of da-sqm",
        ),
        (
            *RECORD,
            "return replace(RECORD, rating=float('nan'))",
            "annotate ended with DataError: a rating of",
        ),
        (
            *RECORD,
            "return replace(RECORD, rating=None)",
            "annotate ended with DataError: protocol da-sqm needs",
        ),
        (
            *RECORD,
            "return replace(RECORD, protocol='mqm')",
            "ended with DataError: protocol mqm has no rating",
        ),
        (*RECORD, "return replace(RECORD, flags='odd')", "gave flags 'odd'"),
        (
            *RECORD,
            "return replace(RECORD, spans=(ErrorSpan(severity='minor', start=3, end=9999),))",
            "annotate gave an error from 3 to 9999 of a translation of ",
        ),
        (
            *RECORD,
            "return replace(RECORD, spans=(ErrorSpan(severity='grave', start=3, end=4),))",
            "annotate ended with DataError: severity must be one of",
        ),
        (*RECORD, "return 1 / 0", "annotate ended with ZeroDivisionError: division by zero (MODULE line "),
        ("flags=flags)", "flags='odd')", "flags are several words"),
        (
            "(await ask([system, texts], about=about, read=read, schema=SCHEMA)).value",
            "ask([system, texts], about=about, read=read, schema=SCHEMA).value",
            "annotate ended with AttributeError: 'coroutine' object has no attribute 'value' (MODULE line ",
        ),
        (
            "(await ask([system, texts], about=about, read=read, schema=SCHEMA)).value",
            "await ask([system, texts], about=about, read=read, schema=SCHEMA)",
            "annotate ended with TypeError: cannot unpack non-iterable Answer object (MODULE line ",
        ),
        (
            "ask([system, texts], ",
            "ask(['text'], ",
            "annotate ended with TypeError: a question is a list of Message, got 'text' (MODULE line ",
        ),
        (
            "async def annotate(self, subject",
            "async def annotate(self, other, subject",
            "ended with TypeError: ",
        ),
        (
            "return rating, reading.settle(",
            "return reading.settle(",
            "annotate ended with ValueError: not enough values to unpack",
        ),
        ("def _files(", "def _pages(", "MoodMeterJudge has no _files: "),
        (
            "    @cached_property\n",
            "    compare = annotate\n    @cached_property\n",
            "it has compare and annotate",
        ),
        ("[system, texts]", "[Message('user', (3,))]", "a Message has a tuple of texts and Quoted, got (3,)"),
        ("[system, texts]", "[Message('user', 'Hi')]", "a Message has a tuple of texts and Quoted, got 'Hi'"),
        ("Calls(1, 1, 1)", "Calls(3, 2, 1)", "must be Calls(least, typical, most)"),
        ("Calls(1, 1, 1)", "Calls(1, 1, 'x')", "TypeError: '<=' not supported"),
        ("async def annotate(", "async def judge(", "it has none of them"),
        ("frozen=True, kw_only=True", "kw_only=True", "must not change: write @dataclass(frozen=True"),
        (
            "prompts: Path | None = None",
            SETTING + "w = 0.5",
            "w = 0.5 has no type; a setting is w: TYPE = 0.5",
        ),
        ("prompts: Path | None = None", SETTING + "w: 'Nothing' = 3", "NameError: name 'Nothing' is not"),
        ("prompts: Path | None = None", SETTING + "w: float = 'x'", "setting w is <class 'float'>, and its"),
        ("prompts: Path | None = None", SETTING + "w: int | None = 1.5", "setting w is int | None, and its"),
        ("prompts: Path | None = None", SETTING + "limit: int = 3", "cannot have a setting 'limit': --limit"),
        (
            "prompts: Path | None = None",
            SETTING + "max_tokens: int = 3",
            "a setting 'max_tokens': --max-tokens",
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
    new = new.replace("RECORD", "annotation_of(self, subject, rating=rating, flags=flags)")
    module.write_text("import json\n" + IMPORTS + text.replace(old, new))
    options = [] if verb == "show" else [str(TEST_SET), "--out", "run", "--model", "builtin/rules"]
    assert call(verb, "mood-meter", *options, "--lp", "en-de") == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert said.replace("MODULE", str(module)) in line
    assert "running event loop" not in line


def change(mood: Path, old: str, new: str) -> None:
    """Edit the module, as a new process would find it."""
    module = mood / "mood_meter" / "__init__.py"
    text = module.read_text()
    assert old in text
    module.write_text(IMPORTS + text.replace(old, new))
    sys.modules.pop("mood_meter", None)
    importlib.invalidate_caches()
    shutil.rmtree(module.parent / "__pycache__", ignore_errors=True)


def run_mood(*more: str, out: str = "run") -> int:
    return call("run", "mood-meter", str(TEST_SET), "--lp", "en-de", "--out", out, *more)


def test_other_code_is_another_run_and_answers_are_kept(
    mood: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_mood() == 0
    signature = capsys.readouterr().err.splitlines()[-1]
    (code,) = re.findall(r"\|code:(1\+[0-9a-f]{6})\|", signature)
    records = Path("run/records.jsonl").read_bytes()
    assert run_mood() == 0
    change(mood, "rating=rating, flags", "rating=rating // 2, flags")
    capsys.readouterr()
    assert run_mood() == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"run holds another run: code was {code}, now 1+" in said
    assert "the package of mood-meter was changed, and --store run/calls.sqlite keeps its answers" in said
    assert Path("run/records.jsonl").read_bytes() == records
    assert run_mood("--store", "run/calls.sqlite", out="other") == 0
    assert "0 questions asked" in capsys.readouterr().err


def test_a_module_beside_the_judge_is_its_code_too(mood: Path) -> None:
    codes = []
    for words in ("HALF = 2", "HALF = 3"):
        (mood / "mood_meter" / "numbers_of_mine.py").write_text(words)
        change(mood, "LOW, HIGH", "LOW, HIGH")
        codes.append(code_of(load_annotator("mood-meter")))
    assert len({*codes}) == 2
    assert code_of(load_annotator("gemba-mqm")) == ""


def test_a_run_that_judged_nothing_takes_other_settings(
    mood: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(mood, "return annotation_of(", "1 / 0\n        return annotation_of(")
    assert run_mood() == 2
    change(mood, "        1 / 0\n", "")
    assert run_mood("--concurrency", "3", "--seed", "4") == 0
    assert "63 judged" in capsys.readouterr().err
    assert json.loads(Path("run/run.json").read_text())["settings"]["seed"] == 4
    change(mood, "rating=rating, flags", "rating=rating // 2, flags")
    assert run_mood() == 2


def test_more_questions_than_calls_are_said(mood: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(
        mood,
        "        rating, flags = (",
        "        await ask([system], about=about, read=read)\n        rating, flags = (",
    )
    assert run_mood() == 0
    said = "asked 2 questions for a unit of work, more than the 1 of its `calls`: forecasts are too low"
    assert capsys.readouterr().err.count(f"mood-meter {said}") == 1


def test_a_question_without_the_translation_is_said_once(
    mood: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(mood, "render_texts(self._files, subject)", "('The translation is good.',)")
    assert run_mood() == 3  # whoever answers sees nothing, and answers all alike
    assert capsys.readouterr().err.count("the question does not depend on the translation") == 1


def test_a_translation_in_plain_words_is_said_once(mood: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(mood, "render_texts(self._files, subject)", "(f'Translation: {subject.translation}',)")
    assert run_mood() == 0
    assert capsys.readouterr().err.count("use render_texts: a text in plain words can give orders") == 1
    change(mood, "(f'Translation: {subject.translation}',)", "render_texts(self._files, subject)")
    assert run_mood(out="other") == 0
    assert "render_texts" not in capsys.readouterr().err


def test_a_judge_that_is_not_asynchronous_is_told(mood: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(mood, "async def annotate(", "def annotate(")
    text = (mood / "mood_meter" / "__init__.py").read_text()
    (mood / "mood_meter" / "__init__.py").write_text(
        re.sub(r"rating, flags = \(await ask.*", "rating, flags = 50, ()", text)
    )
    assert call("show", "mood-meter", "--lp", "en-de") == 2
    assert "object Annotation can't be used in 'await' expression" in capsys.readouterr().err


def test_prompts_of_a_package_that_are_no_utf8_are_named(
    mood: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mood / "mood_meter" / "prompts" / "mood_meter" / "system.md").write_bytes(b"\xff\xfe rate")
    assert call("show", "mood-meter", "--lp", "en-de") == 2
    assert "prompts of package 'mood_meter' in " in capsys.readouterr().err


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
def test_a_number_that_is_none_is_refused(
    mood: Path, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(mood, "prompts: Path | None = None", SETTING + "w: float = 0.5")
    assert call("show", "mood-meter", f"--w={number}", "--lp", "en-de") == 2
    assert f"setting 'w' of judge 'mood-meter' must be a number, got '{number}'" in capsys.readouterr().err
    assert call("show", "mood-meter", "--w=1.5", "--lp", "en-de") == 0


ALL = """
    def calls_for(self, subject):
        return Calls(1, 1, 1)

    async def annotate_all(self, subject: Subject, ask: Ask) -> list[Annotation]:
        return [annotation_of(self, subject, rating=3) for system in subject.systems]

    @cached_property
"""


def test_a_record_of_one_in_a_judge_of_all_names_the_line(
    mood: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(mood, "async def annotate(", "async def _one(")
    change(mood, "    @cached_property\n", ALL)
    assert call("show", "mood-meter", "--lp", "en-de") == 2
    assert "annotate_all ended with ValueError: too many values to unpack" in capsys.readouterr().err
    change(mood, "(self, subject, rating=3)", "(self, subject.of(system), rating=3)")
    assert call("show", "mood-meter", "--lp", "en-de", "--system", "Alder") == 0
    assert "all translations of a source together, so that all systems are" in capsys.readouterr().err


def test_a_kind_of_answer_that_the_rules_do_not_know_is_shown_and_forecast(
    mood: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
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
    monkeypatch.setitem(ROLES, "mood", ROLES["rating"])
    assert run_mood("--seed", "2") == 0


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
