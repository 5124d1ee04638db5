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

from adjudge import examples
from adjudge.cli.judge_commands import _names
from adjudge.judges._prompts import _packaged
from adjudge.llm.embedded_rules import ROLES
from adjudge.runs.units import code_of, load_annotator
from tests.cli.calling import Ask, call

IMPORTS = """import json
from dataclasses import replace
from adjudge.kit import ErrorSpan

def span(severity, end):
    return ErrorSpan(severity=severity, start=3, end=end)

"""
TEST_SET = examples.path("test_set.jsonl")


@pytest.fixture
def mood(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> Iterator[Path]:
    """The package of judge `mood-meter`, installed as far as Python can see."""
    said = ask.done("new-judge", "mood-meter").err
    assert said == "judge mood-meter -> mood-meter; mood-meter/README.md says how to test, show and run it\n"
    package = Path("mood-meter").absolute()
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
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", "tests"]
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=mood, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


@pytest.mark.usefixtures("mood")
def test_every_command_takes_a_judge_of_another_package(ask: Ask) -> None:
    shown = ask.done("show", "mood-meter", "--lp", "en-de")
    assert "Task: rate how natural the translation reads" in shown.out
    assert "[reply]" in shown.out
    assert "--prompts" not in shown.out
    forecast = ask.done("forecast", "mood-meter", TEST_SET, "--lp", "en-de", "--format", "json").json
    assert forecast["calls"] == {"min": 63, "typical": 63, "max": 63}  # one text is not translated
    ask.done(*running("--dry-run"))
    ask.done(*running())
    ask.done(*running("--limit", "2", "--samples", "3", out="s"))
    scores = ask.done("score", "run", "--format", "json").json
    assert {row["n"] for row in scores["systems"].values()} == {15, 16}
    assert "how natural" in ask.done("trace", "run", "--segment", "1", "--system", "Alder").out
    rows = {row["judge"]: row for row in ask.done("list", "judges", "--format", "json").json["judges"]}
    assert rows["mood-meter"]["what_it_does"] == "A rating of how natural a translation reads."
    assert _names("mood") == ["mood-meter"]


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
def test_what_is_wrong_is_said_as_of_a_judge_of_ours(arguments: list[str], said: str, ask: Ask) -> None:
    Path("mine").mkdir()
    Path("mine/sistem.md").touch()
    for verb, *words in (["show"], ["forecast", TEST_SET], ["run", TEST_SET, "--out", "run"]):
        assert said in ask.refused(verb, "mood-meter", *words, "--lp", "en-de", *arguments)


@pytest.mark.usefixtures("mood")
def test_a_misspelt_judge_of_another_package_is_told_the_nearest(ask: Ask) -> None:
    assert "did you mean mood-meter?" in ask.refused("show", "mood-metre")


OF_RECORD = "return annotation_of(self, subject, rating=rating, flags=flags)"
OF_SETTINGS = "prompts: Path | None = None"
OF_QUESTION = "(await ask([system, texts], about=about, read=read, schema=SCHEMA)).value"
MISTAKES = {
    OF_RECORD: (
        ("return replace(RECORD, system='Else')", "gave a record with systems ('Else',), wanted ('"),
        ("return replace(RECORD, segment='99')", "gave a record with segment '99', wanted '"),
        ("return replace(RECORD, annotator='me')", "with annotator 'me', wanted 'mood-meter'"),
        ("return replace(RECORD, protocol='esa')", "with protocol 'esa', wanted 'da-sqm'"),
        ("return replace(RECORD, rating=rating * 2 + 200)", "annotate ended with DataError: a rating"),
        ("return replace(RECORD, rating='good')", "annotate ended with DataError: a rating of da-sqm"),
        ("return replace(RECORD, rating=float('nan'))", "annotate ended with DataError: a rating of"),
        ("return replace(RECORD, rating=None)", "annotate ended with DataError: protocol da-sqm needs"),
        ("return replace(RECORD, protocol='mqm')", "ended with DataError: protocol mqm has no rating"),
        ("return replace(RECORD, flags='odd')", "gave flags 'odd'"),
        (
            "return replace(RECORD, spans=(span('minor', 9999),))",
            "gave an error from 3 to 9999 of a translation",
        ),
        ("return replace(RECORD, spans=(span('grave', 4),))", "DataError: severity must be one of"),
        ("return 1 / 0", "annotate ended with ZeroDivisionError: division by zero (MODULE line "),
        ("return rating", "must give records"),
    ),
    OF_QUESTION: (
        (
            "ask([system, texts], about=about, read=read, schema=SCHEMA).value",
            "annotate ended with AttributeError: 'coroutine' object has no attribute 'value' (MODULE line ",
        ),
        (
            "await ask([system, texts], about=about, read=read, schema=SCHEMA)",
            "annotate ended with TypeError: cannot unpack non-iterable Answer object (MODULE line ",
        ),
    ),
    OF_SETTINGS: (
        (f"{OF_SETTINGS}\n    w = 0.5", "w = 0.5 has no type; a setting is w: TYPE = 0.5"),
        (f"{OF_SETTINGS}\n    w: 'Nothing' = 3", "NameError: name 'Nothing' is not"),
        (f"{OF_SETTINGS}\n    w: float = 'x'", "setting w is <class 'float'>, and its"),
        (f"{OF_SETTINGS}\n    w: int | None = 1.5", "setting w is int | None, and its"),
        (f"{OF_SETTINGS}\n    limit: int = 3", "cannot have a setting 'limit': --limit"),
        (f"{OF_SETTINGS}\n    max_tokens: int = 3", "a setting 'max_tokens': --max-tokens"),
    ),
    "def read_rating(": (
        ("def read_rating[", "cannot be loaded from 'mood_meter:MoodMeterJudge': SyntaxError"),
    ),
    "read=read, schema": (("read=json.loads, schema", "the reader of mood-meter, stage rating, ended with"),),
    "return rating, reading.settle(is_clean=rating == HIGH)": (
        ("return rating, ()", "the reader of mood-meter, stage rating, did not call Reading.settle()"),
        (
            "return reading.settle(is_clean=True)",
            "annotate ended with ValueError: not enough values to unpack",
        ),
    ),
    "flags=flags)": (("flags='odd')", "flags are several words"),),
    "ask([system, texts], ": (
        ("ask(['text'], ", "TypeError: a question is a list of Message, got 'text' (MODULE line "),
    ),
    "async def annotate(self, subject": (
        ("async def annotate(self, other, subject", "ended with TypeError: "),
        ("async def judge(self, subject", "it has none of them"),
    ),
    "def _files(": (("def _pages(", "MoodMeterJudge has no _files: "),),
    "    @cached_property\n": (
        ("    compare = annotate\n    @cached_property\n", "it has compare and annotate"),
    ),
    "[system, texts]": (
        ("[Message('user', (3,))]", "a Message has a tuple of texts and Quoted, got (3,)"),
        ("[Message('user', 'Hi')]", "a Message has a tuple of texts and Quoted, got 'Hi'"),
    ),
    "Calls(1, 1, 1)": (
        ("Calls(3, 2, 1)", "must be Calls(least, typical, most)"),
        ("Calls(1, 1, 'x')", "TypeError: '<=' not supported"),
    ),
    "frozen=True, kw_only=True": (("kw_only=True", "must not change: write @dataclass(frozen=True"),),
    'name: ClassVar[str] = "mood-meter"': (('name: ClassVar[str] = "mood"', "calls itself 'mood'"),),
    "weights: ClassVar[None] = None": (("", "must say its weights"),),
    'message("system", "system"': (('message("system", "extra"', "extra.md is not among the files that"),),
}


@pytest.mark.parametrize("verb", ["show", "run"])
def test_a_mistake_in_the_package_is_said_in_one_line(mood: Path, verb: str, ask: Ask) -> None:
    options = [] if verb == "show" else [TEST_SET, "--out", "run", "--model", "builtin/rules"]
    module = mood / "mood_meter" / "__init__.py"
    text, found = module.read_text(), {}
    for old, mistakes in MISTAKES.items():
        for new, said in mistakes:
            module.write_text(text)
            change(mood, old, new.replace("RECORD", OF_RECORD.removeprefix("return ")))
            *_, line = ask.refused(verb, "mood-meter", *options, "--lp", "en-de").splitlines()
            if said.replace("MODULE", str(module)) not in line or "running event loop" in line:
                found[new] = line
    assert found == {}


def change(mood: Path, old: str, new: str) -> None:
    """Edit the module, as a new process would find it."""
    module = mood / "mood_meter" / "__init__.py"
    text = module.read_text()
    assert old in text
    module.write_text(IMPORTS + text.replace(old, new))
    sys.modules.pop("mood_meter", None)
    importlib.invalidate_caches()
    shutil.rmtree(module.parent / "__pycache__", ignore_errors=True)


def running(*more: str, out: str = "run") -> tuple[object, ...]:
    return ("run", "mood-meter", TEST_SET, "--lp", "en-de", "--out", out, *more)


def test_other_code_is_another_run_and_answers_are_kept(mood: Path, ask: Ask) -> None:
    (code,) = re.findall(r"\|code:(1\+[0-9a-f]{6})\|", ask.done(*running()).err.splitlines()[-1])
    records = Path("run/records.jsonl").read_bytes()
    assert call(*running()) == 0
    change(mood, "rating=rating, flags", "rating=rating // 2, flags")
    said = ask.refused(*running()).splitlines()[-1]
    assert f"run holds another run: code was {code}, now 1+" in said
    assert "the package of mood-meter was changed, and --store run/calls.sqlite keeps its answers" in said
    assert Path("run/records.jsonl").read_bytes() == records
    assert "0 questions asked" in ask.done(*running("--store", "run/calls.sqlite", out="other")).err


def test_a_module_beside_the_judge_is_its_code_too(mood: Path) -> None:
    codes = []
    for words in ("HALF = 2", "HALF = 3"):
        (mood / "mood_meter" / "numbers_of_mine.py").write_text(words)
        change(mood, "LOW, HIGH", "LOW, HIGH")
        codes.append(code_of(load_annotator("mood-meter")))
    assert len({*codes}) == 2
    assert code_of(load_annotator("gemba-mqm")) == ""


def test_a_run_that_judged_nothing_takes_other_settings(
    mood: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(mood, "return annotation_of(", "1 / 0\n        return annotation_of(")
    assert call(*running()) == 2
    change(mood, "        1 / 0\n", "")
    assert "63 judged" in ask.done(*running("--concurrency", "3", "--seed", "4")).err
    assert json.loads(Path("run/run.json").read_text())["settings"]["seed"] == 4
    change(mood, "rating=rating, flags", "rating=rating // 2, flags")
    assert call(*running()) == 2


def test_more_questions_than_calls_are_said(mood: Path, ask: Ask) -> None:
    once, again = "        rating, flags = (", "        await ask([system], about=about, read=read)\n"
    change(mood, once, again + once)
    said = "asked 2 questions for a unit of work, more than the 1 of its `calls`: forecasts are too low"
    assert ask.done(*running()).err.count(f"mood-meter {said}") == 1


def test_a_question_without_the_translation_is_said_once(mood: Path, ask: Ask) -> None:
    change(mood, "render_texts(self._files, subject)", "('The translation is good.',)")
    assert ask.refused(*running(), code=3).count("the question does not depend on the translation") == 1


def test_a_translation_in_plain_words_is_said_once(mood: Path, ask: Ask) -> None:
    change(mood, "render_texts(self._files, subject)", "(f'Translation: {subject.translation}',)")
    assert ask.done(*running()).err.count("use render_texts: a text in plain words can give orders") == 1
    change(mood, "(f'Translation: {subject.translation}',)", "render_texts(self._files, subject)")
    assert "render_texts" not in ask.done(*running(out="other")).err


def test_a_judge_that_is_not_asynchronous_is_told(mood: Path, ask: Ask) -> None:
    change(mood, "async def annotate(", "def annotate(")
    change(mood, f"rating, flags = {OF_QUESTION}", "rating, flags = 50, ()")
    said = ask.refused("show", "mood-meter", "--lp", "en-de")
    assert "object Annotation can't be used in 'await' expression" in said


def test_prompts_of_a_package_that_are_no_utf8_or_missing_are_named(mood: Path, ask: Ask) -> None:
    prompt = mood / "mood_meter" / "prompts" / "mood_meter" / "system.md"
    prompt.write_bytes(b"\xff\xfe rate")
    assert "prompts of package 'mood_meter' in " in ask.refused("show", "mood-meter", "--lp", "en-de")
    prompt.unlink()
    said = ask.refused("show", "mood-meter", "--lp", "en-de")
    assert "package 'mood_meter' has no file prompts/mood_meter/system.md" in said


def test_a_number_that_is_none_is_refused(mood: Path, ask: Ask) -> None:
    change(mood, OF_SETTINGS, f"{OF_SETTINGS}\n    w: float = 0.5")
    show = ("show", "mood-meter", "--lp", "en-de")
    for number in ("nan", "inf", "-inf", "1e999"):
        said = ask.refused(*show, f"--w={number}")
        assert f"setting 'w' of judge 'mood-meter' must be a number, got '{number}'" in said
    ask.done(*show, "--w=1.5")


ALL = """
    def calls_for(self, subject):
        return Calls(1, 1, 1)

    async def annotate_all(self, subject: Subject, ask: Ask) -> list[Annotation]:
        return [annotation_of(self, subject, rating=3) for system in subject.systems]

    @cached_property
"""


def test_a_record_of_one_in_a_judge_of_all_names_the_line(mood: Path, ask: Ask) -> None:
    change(mood, "async def annotate(", "async def _one(")
    change(mood, "    @cached_property\n", ALL)
    show = ("show", "mood-meter", "--lp", "en-de")
    assert "annotate_all ended with ValueError: too many values to unpack" in ask.refused(*show)
    change(mood, "(self, subject, rating=3)", "(self, subject.of(system), rating=3)")
    said = ask.done(*show, "--system", "Alder").err
    assert "all translations of a source together, so that all systems are" in said


def test_a_kind_of_answer_that_the_rules_do_not_know_is_shown_and_forecast(
    mood: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = mood / "mood_meter" / "__init__.py"
    module.write_text(module.read_text().replace('wants="rating"', 'wants="mood"'))
    said = ask.done("show", "mood-meter", "--lp", "en-de").out
    assert "how natural" in said
    assert "[not used] missing: a kind of answer (`wants`) that builtin/rules do not know: mood-meter" in said
    assert call("forecast", "mood-meter", TEST_SET, "--lp", "en-de") == 0
    assert "mood-meter wants 'mood'" in ask.refused(*running(), code=1)
    monkeypatch.setitem(ROLES, "mood", ROLES["rating"])
    assert call(*running("--seed", "2")) == 0


def test_a_bad_name_or_a_folder_that_is_there_is_refused_and_nothing_is_written(
    tmp_path: Path, ask: Ask
) -> None:
    bad = ("", "Mood", "my_judge", "2nd", "mood-", "../mood", "stimmungs-maß", "mood\n")
    told = {
        **dict.fromkeys(bad, "words of small letters and digits"),
        **{name: f"there is a judge or a metric '{name}' already" for name in ("fire", "chrf")},
        **{name: f"Python has a word or a module '{name}' already" for name in ("json", "class")},
        "here": "here exists already; give --out another folder",
    }
    Path("here").mkdir()
    assert [name for name, said in told.items() if said not in ask.refused("new-judge", name)] == []
    assert [*tmp_path.rglob("*")] == [tmp_path / "here"]


def test_the_folder_may_have_another_name() -> None:
    assert call("new-judge", "mood-judge", "--out", Path("a/b")) == 0
    assert "class MoodJudge(" in Path("a/b/mood_judge/__init__.py").read_text()
