"""Exit codes: what is not there is wrong use (2), what cannot be used an error (1); and `--version`."""

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.cli import main as main_module
from adjudge.cli.main import UNKNOWN, render_version
from adjudge.core.ask import Reply
from adjudge.core.scores import VERSION, Build, read_build
from adjudge.errors import ModelError, ServerAwayError, ServerStopError, StoreError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from tests.cli.calling import Ask, call

TEXTS = str(examples.path("test_set.jsonl"))
GOLD = str(examples.path("gold.mqm.jsonl"))


JUDGED = ("run", "gemba-mqm", TEXTS, "--lp", "en-de", "--limit", "1", "--out", "judged")
NOWHERE = """
run gemba-mqm nowhere --out new
run gemba-mqm TEXTS --out new --terms nowhere
run gemba-mqm TEXTS --out new --prices nowhere
run gemba-mqm TEXTS --out new --prompts nowhere
run gemba-mqm TEXTS --out new --model openai/x --key-file nowhere
run gemba-mqm TEXTS --out new --model replay:nowhere
run chrf --lp en-de --out new -s nowhere
run chrf --lp en-de --out new -s TEXTS -t A=nowhere
run chrf --lp en-de --out new -s TEXTS -t TEXTS -r nowhere
forecast gemba-mqm nowhere
forecast gemba-mqm TEXTS --terms nowhere
score nowhere
rank GOLD nowhere
report nowhere
report judged --gold nowhere
trace nowhere
show gemba-mqm --segment nowhere
show gemba-mqm --prompts nowhere
convert nowhere - --to jsonl
convert GOLD - --to records --test-set nowhere
convert -s nowhere - --to jsonl --lp en-de
thresholds nowhere --gold GOLD
thresholds GOLD --gold nowhere
estimate nowhere --gold GOLD
estimate GOLD --gold nowhere
campaign status nowhere
campaign people nowhere
campaign export nowhere new
"""
DAMAGED = """
run gemba-mqm broken.jsonl --out new
run gemba-mqm TEXTS --out new --terms broken.jsonl
score broken.jsonl
score TEXTS
rank broken.jsonl
report broken.jsonl
report judged --gold broken.jsonl
trace broken.jsonl
convert broken.jsonl - --to jsonl
"""
NAMELESS = """
run gemba-mqm TEXTS --out new --lp en-fr
run gemba-mqm TEXTS --out new --systems Nobody
run nobody TEXTS --out new
run gemba-mqm TEXTS --out new --model nobody/x
run gemba-mqm TEXTS
run gemba-mqm --out new
score judged --lp en-fr
score judged --weights none
rank judged --lp en-fr
report judged --lp en-fr
trace judged --lp en-fr
trace judged --lp ende
trace judged --system Nobody
trace judged --segment none
show gemba-mqm --lp en-fr
show gemba-mqm --system Nobody
show chrf
convert TEXTS - --to jsonl --lp en-fr
list nothing
nothing
"""


def said_of(ask: Ask, commands: str) -> dict[str, tuple[int, list[str]]]:
    """Of each command its code, and the lines that it says."""
    ask.done(*JUDGED)
    Path("broken.jsonl").write_text('{"lp": \n')
    found = {}
    for command in commands.strip().splitlines():
        asked = ask(*({"TEXTS": TEXTS, "GOLD": GOLD}.get(word, word) for word in command.split()))
        found[command] = (asked.code, asked.err.splitlines())
        assert not Path("new").exists(), command
    return found


def test_a_path_that_leads_nowhere_is_wrong_use(ask: Ask) -> None:
    found = said_of(ask, NOWHERE)
    assert {
        c: end for c, end in found.items() if end[0] != 2 or ["nowhere" in x for x in end[1]] != [True]
    } == {}


def test_a_file_that_is_damaged_or_another_kind_is_an_error(ask: Ask) -> None:
    found = said_of(ask, DAMAGED)
    assert {command: end for command, end in found.items() if end[0] != 1 or len(end[1]) != 1} == {}


def test_a_name_that_nothing_has_is_wrong_use(ask: Ask) -> None:
    found = said_of(ask, NAMELESS)
    assert {command: end for command, end in found.items() if end[0] != 2 or not end[1]} == {}


RUN = ("run", "gemba-mqm", TEXTS, "--out", "new")
FEW = (*RUN, "--lp", "en-de", "--limit", "1")
NO_BUDGET = ("--model", "x", "--base-url", "http://127.0.0.1:9/v1", "--budget-tokens", "0")
GATE = ("gate", "--baseline", GOLD, "--lp", "en-de", "--margin", "1", "--systems")


@pytest.mark.parametrize(
    ("code", "arguments", "said"),
    [
        (0, FEW, None),
        (0, (*FEW, "--max-failed", "100%"), "nothing that can be read"),
        (0, (*GATE, "Dogwood,Alder"), None),
        (1, ("score", TEXTS), None),
        (1, FEW, ModelError("no such model")),
        (1, FEW, StoreError("no room")),
        (2, ("score", "nowhere"), None),
        (2, (*FEW, "--max-failed", "2"), None),
        (3, FEW, "nothing that can be read"),
        (3, (*FEW, "--max-failed", "99%"), "nothing that can be read"),
        (4, (*FEW, *NO_BUDGET), None),
        (5, (*GATE, "Alder,Dogwood"), None),
        (6, (*GATE, "Alder,Birch"), None),
        (7, FEW, ServerStopError("no money left")),
        (7, FEW, ServerAwayError("nobody there")),
        (7, RUN, "nothing that can be read"),  # the first 20 units
    ],
)
def test_each_end_of_a_command_has_its_code(
    code: int, arguments: tuple[str, ...], said: str | Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`said`: what the model answers, where it is not the embedded rules that do."""

    class Model:
        name = "builtin/rules"

        async def reply(self, request: Request) -> Reply:
            if isinstance(said, Exception):
                raise said
            return Reply(text=str(said), model=self.name)

    if said is not None:
        monkeypatch.setattr(embedded_rules, "RulesModel", Model)
    assert call(*arguments) == code


def test_the_demo_ends_with_the_code_of_the_step_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(embedded_rules.RulesModel):
        async def reply(self, request: Request) -> Reply:
            found = await super().reply(request)
            return replace(found, text="") if request.about.subject.systems[0] == "Alder" else found

    monkeypatch.setattr(embedded_rules, "RulesModel", Forgetful)
    assert call("demo", "--out", "demo") == 3
    assert not Path("demo/report.html").exists()


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("adjudge.reports.page.make_page", ("report", "judged")),
        ("adjudge.analysis.rank.rank_scores", ("rank", "judged")),
        ("adjudge.formats.convert.write_content", ("convert", TEXTS, "-", "--to", "jsonl")),
        ("adjudge.analysis.score.score_records", ("demo",)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_ctrl_c_is_answered_with_one_sentence(
    place: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert call(*JUDGED) == 0
    monkeypatch.setattr(place, interrupt)
    assert ask.refused(*arguments, code=130).splitlines()[-1] == "adjudge: stopped before it was done"


@pytest.mark.parametrize(
    "arguments", [("convert", TEXTS, "-", "--to", "jsonl"), ("list", "judges"), ("--help",)]
)
def test_a_reader_who_has_enough_ends_a_command_quietly(arguments: tuple[str, ...]) -> None:
    """As `cat` ends before `head`: with the code that shells give to a closed pipe, and without a word."""
    program = [sys.executable, "-m", "adjudge", *arguments]
    reads, writes = os.pipe()
    os.close(reads)
    try:
        ended = subprocess.run(program, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writes)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("forecast gemba-mqm TEXTS --budgte 1", "--budget"),
        ("show gemba-mqm --sytem Alder", "--system"),
        ("score GOLD --wieghts gemba", "--weights"),
        ("raport judged", "report"),
        ("gate --baseline GOLD --margin nan", "must be greater than or equal to 0; got 'nan'"),
        ("run gemba-mqm TEXTS --limit 0", "must be greater than or equal to 1; got '0'"),
        ("run gemba-mqm TEXTS --limit x", "unable to parse string as an integer; got 'x'"),
        ("campaign new z TEXTS --checks 0.9", "must be less than or equal to 0.5; got '0.9'"),
        ("rank GOLD --method nope", "Invalid value for '--method': 'nope' is not one of"),
    ],
)
def test_of_what_is_misspelt_the_nearest_is_named_and_of_a_value_what_there_is(
    words: str, told: str, ask: Ask
) -> None:
    assert told in ask.refused(*words.replace("TEXTS", TEXTS).replace("GOLD", GOLD).split())


def test_where_no_option_is_near_none_is_named(ask: Ask) -> None:
    assert "did you mean" not in ask.refused("show", "gemba-mqm", "--zzz", "1")


def test_the_help_of_run_has_the_reference_that_a_message_asks_for(ask: Ask) -> None:
    assert "-r, --reference-file" in ask.done("run", "--help").out


def test_calls_of_a_judge_are_said_for_what_it_judges_at_once(ask: Ask) -> None:
    judges = ask.done("list", "judges", "--format", "json").json["judges"]
    calls = {row["judge"]: row["calls"] for row in judges}
    assert calls["gemba-mqm"] == "1 a translation"
    assert (calls["fire"], calls["direct-rank"]) == ("6 a pair", "2 a pair")
    assert calls["rate"].endswith(" a translation of a source")


# One file that is spelled in two ways is one file: what is odd in it is said once.


HEADING = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
ODD = "12 segments whose docSegId is not their place in this file"


@pytest.fixture
def spellings() -> tuple[Path, Path]:
    path = Path("gold.tsv")
    rows = [
        f"{system}\td:en-de\t{n}\t{n}\tr\tHello {n}\t<v>Hallo</v> {n}\tFluency/Grammar\tMinor\n"
        for n in range(12)
        for system in ("old", "new")
    ]
    path.write_text(HEADING + "".join(rows))
    Path("sub").mkdir()
    return path, Path("sub/../gold.tsv")


def test_compare_says_once_what_is_odd(spellings: tuple[Path, Path], ask: Ask) -> None:
    asked = ask.done("compare", *spellings, "--systems", "old,new", "--format", "json")
    assert asked.err.count(ODD) == 1
    assert [asked.json[side]["name"] for side in ("first", "second")] == ["old", "new"]


def test_gate_says_it_once_and_asks_for_both_systems(spellings: tuple[Path, Path], ask: Ask) -> None:
    sides = ("gate", "--baseline", spellings[0], "--candidate", spellings[1], "--margin", 1)
    asked = ask(*sides, "--systems", "old,new", "--format", "json")
    assert asked.err.count(ODD) == 1
    assert asked.json["n"] == 12
    assert "baseline and candidate are one: name both systems" in ask(*sides).err


def test_the_first_line_is_the_version_alone(ask: Ask) -> None:
    assert ask.done("--version").out.splitlines()[0] == f"adjudge {VERSION}"


def test_no_person_and_no_machine_is_named() -> None:
    assert platform.python_version() in facts()["python"]
    said = render_version()
    assert not [name for name in (str(Path.home()), socket.gethostname()) if name in said]


def facts() -> dict[str, str]:
    return dict(line.split(": ", 1) for line in render_version().splitlines()[1:])


def test_a_built_package_says_its_commit_and_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    built = Build(commit="c0ffee+", lock="ab12")
    for build, told in ((built, ("c0ffee+", "sha256:ab12")), (Build(), (UNKNOWN, UNKNOWN))):
        monkeypatch.setattr(main_module, "read_build", lambda build=build: build)
        assert (facts()["commit"], facts()["lock"]) == told


def test_the_build_is_read_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Callable[[str], Path] = lambda _: tmp_path  # noqa: E731
    monkeypatch.setattr("adjudge.core.scores.files", folder)
    assert read_build() == Build()
    (tmp_path / "build.json").write_text(json.dumps({"commit": None, "lock": "ab12"}))
    assert read_build() == Build(lock="ab12")


def test_libraries_are_those_of_the_core_and_of_the_extras_that_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def names() -> set[str]:
        return {library.split()[0] for library in facts()["libraries"].split(", ")}

    assert {"numpy", "aiohttp", "pydantic", "psycopg", "lxml"} <= names()
    assert not {"adjudge", "pytest"} & names()
    assert "missing" not in facts()["libraries"]

    def version(name: str) -> str:
        if name in {"numpy", "psycopg"}:
            raise PackageNotFoundError
        return "1"

    monkeypatch.setattr(main_module, "version", version)
    assert "psycopg" not in names()
    assert "numpy missing" in facts()["libraries"]
