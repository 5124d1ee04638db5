"""A help page of a screen, `--set`, and `adjudge.toml`: the other options are reached by their names."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from adjudge import examples
from adjudge.cli import options
from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, PURPOSES, app_for, main

ALL = [(name,) for name in COMMANDS] + [(g, name) for g, names in GROUP_COMMANDS.items() for name in names]
GOLD = str(examples.path("gold.mqm.jsonl"))
TEST_SET = str(examples.path("test_set.jsonl"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str, str]:
    code: Any = 0
    try:
        main(list(words))
    except SystemExit as left:
        code = left.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def listed(page: str) -> list[str]:
    """Options that a help page shows, without --help."""
    lines = page.rsplit("Options:", maxsplit=1)[-1].splitlines()
    starts = [line.split()[:2] for line in lines if line[:2] == "  " and line[2:3] == "-"]
    return [words[0].rstrip(",") for words in starts if words[0] not in {"-h,", "--help"}]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_help_page_shows_at_most_fifteen_options(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, page, _ = told(capsys, *words, "--help")
    assert code == 0
    assert len(listed(page)) <= options.MOST_SHOWN
    whole = listed(told(capsys, *words, "--all-options")[1])
    assert ("--all-options" in listed(page)) == (len(whole) > options.MOST_SHOWN)
    assert set(listed(page)) - {"--set", "--all-options"} <= set(whole)


WITHOUT_FILES = {
    ("demo",),
    ("new-judge",),
    ("trace",),
    ("show",),
    ("fetch",),
    ("list",),
    ("reproduce",),
} | {
    ("campaign", name)
    for name in (
        "serve",
        "status",
        "people",
        "again",
        "export",
        "backup",
        "restore",
        "move",
        "remove",
        "translate",
    )
}
"""Commands that read no file of a user's, or a run, a campaign or a paper alone."""


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_that_reads_files_takes_their_format(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = listed(told(capsys, *words, "--all-options")[1])
    assert ("--from" in whole) == (words not in WITHOUT_FILES)


@pytest.mark.parametrize(
    "command", ["rank", "score", "convert", "report", "agreement", "bias", "gate", "meta"]
)
def test_a_format_is_said_of_what_a_command_reads(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.csv").write_bytes(Path(GOLD).read_bytes())
    words = {
        "convert": ("gold.csv", "out.jsonl", "--to", "records"),
        "report": ("gold.csv", "--out", "page.html"),
        "gate": ("--baseline", "gold.csv", "--systems", "Alder,Birch", "--margin", "1"),
    }.get(command, ("gold.csv",))
    code, _, err = told(capsys, command, *words, "--from", "mtme")
    assert code != 0
    assert "gold.csv" in err
    assert "no known format" not in err
    code, _, err = told(capsys, command, *words, "--from", "wmt26-task1")
    assert (code, err) == (2, "adjudge: wmt26-task1 is written, not read\n")
    code, _, err = told(capsys, command, *words, "--from", "xyz")
    assert code == 2
    assert "no format 'xyz'; there are run" in err


def test_every_command_stands_below_one_heading() -> None:
    named = [name for names in PURPOSES.values() for name in names.split()]
    assert sorted(named) == sorted([*COMMANDS, *GROUP_COMMANDS])


def test_the_help_of_adjudge_says_what_a_user_does(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = told(capsys, "--help")
    assert all(f"\n{heading}:\n" in page for heading in PURPOSES)


def score(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code, out, err = told(capsys, "score", GOLD, "--lp", "en-de", "--format", "json", *words)
    assert code == 0, err
    return json.loads(out)


def test_set_is_the_option_that_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = score(capsys, "--weights", "mqm-google", "--level", "seg")
    assert score(capsys, "--set", "weights=mqm-google", "--set=level=seg") == wanted
    assert wanted != score(capsys)


def test_a_switch_is_set_by_yes_or_no(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("rank", GOLD, "--lp", "en-de", "--format", "json", "--resamples", "20")
    by_segment = told(capsys, *words, "--by-segment")
    assert told(capsys, *words, "--set", "by-document=no") == by_segment
    assert told(capsys, *words, "--set", "by-document=yes") == told(capsys, *words, "--by-document")
    assert told(capsys, *words, "--set", "by-document=maybe")[0] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "wieghts=mqm-google"), "--set: there is no option 'wieghts'; did you mean weights?"),
        (("--set", "weights"), "--set takes NAME=VALUE"),
        (("--set", "level=no-such"), "'no-such'"),
    ],
)
def test_what_cannot_be_set_is_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = told(capsys, "score", GOLD, "--lp", "en-de", *words)
    assert (code, said in err) == (2, True), err


def test_settings_of_a_judge_are_set_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", "himate", TEST_SET, "--lp", "en-de")
    assert told(capsys, *words, "--set", "agents=core") == told(capsys, *words, "--agents", "core")
    assert told(capsys, *words, "--set", "agants=core")[0] == 2


def test_a_file_of_the_folder_gives_defaults_that_the_command_line_overrides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted, other = score(capsys, "--level", "seg"), score(capsys)
    Path("adjudge.toml").write_text('[score]\nlevel = "seg"\n')
    assert score(capsys) == wanted
    assert score(capsys, "--level", "sys") == other


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[score]\nlevle = 'seg'\n",
            "adjudge.toml, [score]: there is no option 'levle'; did you mean level?",
        ),
        ("[score]\nlevel = 'no-such'\n", "no-such"),
        ("score = 3\n", "adjudge.toml: [score] must be a table; got 3"),
        ("[score\n", "cannot read adjudge.toml"),
    ],
)
def test_what_the_file_cannot_mean_is_refused(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("adjudge.toml").write_text(text)
    code, _, err = told(capsys, "score", GOLD, "--lp", "en-de", "--trust-config")
    assert (code, said in err) == (2, True), err


def test_the_table_of_shown_options_names_options_of_long_commands() -> None:
    for path, shown in options._SHOWN.items():
        command: Any = get_command(app_for(path.split()))
        for word in path.split():
            command = command.commands[word]
        there = {options._name_of(p) for p in command.params if p.param_type_name == "option"}
        assert len(there) > options.MOST_SHOWN, path
        assert set(shown.split()) <= there, path
        assert len(shown.split()) <= options.MOST_SHOWN - 2, path


@pytest.mark.parametrize(
    "words",
    [
        ("--lp", "en-de", "--lp", "en-cs"),
        ("-l", "en-de", "--lp=en-de"),
        ("--lp", "en-de", "--set", "lp=en-cs"),
        ("--lp", "en-de", "--set", "level=seg", "--level", "sys"),
    ],
)
def test_an_option_of_one_value_is_given_once(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = told(capsys, "score", GOLD, *words)
    assert (code, "is given twice; say it once" in err) == (2, True), err


def test_an_option_that_repeats_is_given_as_often_as_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    for name in "sab":
        Path(f"{name}.txt").write_text("Hello.\n")
    words = ("-s", "s.txt", "-t", "a.txt", "-t", "b.txt", "--lp", "en-de", "--to", "jsonl", "-")
    assert told(capsys, "convert", *words)[0] == 0


@pytest.mark.parametrize("text", ['from = "records"\n', "seed = 1\n", '[[score]]\nlevel = "seg"\n'])
def test_a_default_in_no_table_of_a_command_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("adjudge.toml").write_text(text)
    code, _, err = told(capsys, "rank", GOLD, "--lp", "en-de", "--trust-config")
    assert (code, "must be a table" in err and "`adjudge rank` stand below [rank]" in err) == (2, True), err


def test_a_default_in_the_table_of_a_group_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("adjudge.toml").write_text("[campaign]\nseed = 1\n")
    code, _, err = told(capsys, "campaign", "new", "out", TEST_SET, "--lp", "en-de", "--trust-config")
    assert (code, "[seed] must be a table; got 1; options of `adjudge campaign new` stand below" in err) == (
        2,
        True,
    ), err


@pytest.mark.parametrize("words", [(), *((group,) for group in GROUP_COMMANDS)], ids=" ".join)
def test_a_group_takes_all_options_too(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, *words, "--help")
    assert page[0] == 0
    assert told(capsys, *words, "--all-options") == page
    assert told(capsys, *words, "--help", "--all-options") == page


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_help_page_names_values_plainly(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    page = told(capsys, *words, "--help", "--all-options")[1]
    usage, _, rest = page.partition("\n\n")
    assert usage.startswith(f"Usage: adjudge {' '.join(words)} [OPTIONS]")
    assert not {*"{}<>"} & {*usage}
    assert not re.search(r"<\w|\bx[<>]=", rest)


NO_NOUNS = frozenset(("As", "For", "How", "Instead:", "Its", "Of", "So", "What", "Where", "Who", "With"))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_line_of_help_begins_with_a_verb_or_a_noun(words: tuple[str, ...]) -> None:
    command: Any = get_command(app_for([*words]))
    for word in words:
        command = command.commands[word]
    for parameter in command.params:
        first = str(parameter.help or "").partition(" ")[0]
        assert first not in NO_NOUNS
        assert "; else" not in str(parameter.help)
