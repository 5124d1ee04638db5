"""A help page of a screen, `--set`, and `adjudge.toml`: the other options are reached by their names."""

import re
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.cli import options
from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, PURPOSES
from tests.cli.calling import ALL, Ask, parameters_of

GOLD = str(examples.path("gold.mqm.jsonl"))
TEST_SET = str(examples.path("test_set.jsonl"))


def listed(page: str) -> list[str]:
    """Options that a help page shows, without --help."""
    lines = page.rsplit("Options:", maxsplit=1)[-1].splitlines()
    starts = [line.split()[:2] for line in lines if line[:2] == "  " and line[2:3] == "-"]
    return [words[0].rstrip(",") for words in starts if words[0] not in {"-h,", "--help"}]


OF_CAMPAIGNS = "serve status people again export backup restore move remove translate"
WITHOUT_FILES = {"demo", "new-judge", "trace", "show", "fetch", "list", "reproduce"} | {
    f"campaign {name}" for name in OF_CAMPAIGNS.split()
}
"""Commands that read no file of a user's, or a run, a campaign or a paper alone."""


def test_a_help_page_shows_at_most_fifteen_options_of_all_and_takes_formats_where_files_are_read(
    ask: Ask,
) -> None:
    wrong = {}
    for words in ALL:
        shown = listed(ask.done(*words, "--help").out)
        page = ask.done(*words, "--help", "--all-options").out
        whole, (usage, _, rest) = listed(page), page.partition("\n\n")
        right = {
            "few": len(shown) <= options.MOST_SHOWN,
            "more": ("--all-options" in shown) == (len(whole) > options.MOST_SHOWN),
            "of all": set(shown) - {"--set", "--all-options"} <= set(whole),
            "format": ("--from" in whole) == (" ".join(words) not in WITHOUT_FILES),
            "usage": usage.startswith(f"Usage: adjudge {' '.join(words)} [OPTIONS]"),
            "plain usage": not {*"{}<>"} & {*usage},
            "plain values": not re.search(r"<\w|\bx[<>]=", rest),
        }
        wrong[words] = [rule for rule, holds in right.items() if not holds]
    assert {words: rules for words, rules in wrong.items() if rules} == {}


NO_NOUNS = {"As", "For", "How", "Instead:", "Its", "Of", "So", "What", "Where", "Who", "With"}


def test_a_line_of_help_begins_with_a_verb_or_a_noun() -> None:
    lines = [(words, str(each.help or "")) for words in ALL for each in parameters_of(words)]
    assert [line for line in lines if line[1].partition(" ")[0] in NO_NOUNS or "; else" in line[1]] == []


def test_the_table_of_shown_options_names_options_of_long_commands() -> None:
    for path, shown in options._SHOWN.items():
        parameters = parameters_of(tuple(path.split()))
        there = {options._name_of(p) for p in parameters if p.param_type_name == "option"}
        assert len(there) > options.MOST_SHOWN, path
        assert set(shown.split()) <= there, path
        assert len(shown.split()) <= options.MOST_SHOWN - 2, path


def test_groups_of_commands_take_all_options_too(ask: Ask) -> None:
    for words in ((), *((group,) for group in GROUP_COMMANDS)):
        page = ask.done(*words, "--help").out
        assert ask(*words, "--all-options").out == page
        assert ask(*words, "--help", "--all-options").out == page


def test_every_command_stands_below_one_heading_of_the_first_page(ask: Ask) -> None:
    named = [name for names in PURPOSES.values() for name in names.split()]
    assert sorted(named) == sorted([*COMMANDS, *GROUP_COMMANDS])
    page = ask.done("--help").out
    assert all(f"\n{heading}:\n" in page for heading in PURPOSES)


@pytest.mark.parametrize(
    "command",
    [
        "rank gold.csv",
        "score gold.csv",
        "convert gold.csv out.jsonl --to records",
        "report gold.csv --out page.html",
        "agreement gold.csv",
        "bias gold.csv",
        "gate --baseline gold.csv --systems Alder,Birch --margin 1",
        "meta gold.csv",
    ],
)
def test_a_format_is_said_of_what_a_command_reads(command: str, ask: Ask) -> None:
    Path("gold.csv").write_bytes(Path(GOLD).read_bytes())
    words = (*command.split(), "--from")
    asked = ask(*words, "mtme")
    assert (asked.code == 0, "gold.csv" in asked.err, "no known format" in asked.err) == (False, True, False)
    assert ask.refused(*words, "wmt26-task1") == "adjudge: wmt26-task1 is written, not read\n"
    assert "no format 'xyz'; there are run" in ask.refused(*words, "xyz")


def score(ask: Ask, *words: str) -> Any:
    return ask.done("score", GOLD, "--lp", "en-de", "--format", "json", *words).json


def test_set_is_the_option_that_it_names(ask: Ask) -> None:
    wanted = score(ask, "--weights", "mqm-google", "--level", "seg")
    assert score(ask, "--set", "weights=mqm-google", "--set=level=seg") == wanted
    assert wanted != score(ask)


def test_a_switch_is_set_by_yes_or_no(ask: Ask) -> None:
    words = ("rank", GOLD, "--lp", "en-de", "--format", "json", "--resamples", "20")
    assert ask(*words, "--set", "by-document=no").json == ask(*words, "--by-segment").json
    assert ask(*words, "--set", "by-document=yes").json == ask(*words, "--by-document").json
    assert ask(*words, "--set", "by-document=maybe").code == 2


def test_settings_of_a_judge_are_set_too(ask: Ask) -> None:
    words = ("show", "himate", "--lp", "en-de")
    assert ask.done(*words, "--set", "agents=core").out == ask(*words, "--agents", "core").out
    assert ask(*words, "--set", "agants=core").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--set wieghts=mqm-google", "--set: there is no option 'wieghts'; did you mean weights?"),
        ("--set weights", "--set takes NAME=VALUE"),
        ("--set level=no-such", "'no-such'"),
        ("--lp en-cs", "is given twice; say it once"),
        ("-l en-de", "is given twice; say it once"),
        ("--set lp=en-cs", "is given twice; say it once"),
        ("--set level=seg --level sys", "is given twice; say it once"),
    ],
)
def test_what_cannot_be_set_is_refused(words: str, said: str, ask: Ask) -> None:
    assert said in ask.refused("score", GOLD, "--lp", "en-de", *words.split())


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
        ('from = "records"\n', "options of `adjudge score` stand below [score]"),
        ("seed = 1\n", "options of `adjudge score` stand below [score]"),
        ('[[rank]]\nlevel = "seg"\n', "options of `adjudge score` stand below [score]"),
    ],
)
def test_what_the_file_cannot_mean_is_refused(text: str, said: str, ask: Ask) -> None:
    Path("adjudge.toml").write_text(text)
    assert said in ask.refused("score", GOLD, "--lp", "en-de", "--trust-config")


def test_a_default_in_the_table_of_a_group_is_refused(ask: Ask) -> None:
    Path("adjudge.toml").write_text("[campaign]\nseed = 1\n")
    said = ask.refused("campaign", "new", "out", TEST_SET, "--lp", "en-de", "--trust-config")
    assert "[seed] must be a table; got 1; options of `adjudge campaign new` stand below" in said


def test_a_file_of_the_folder_gives_defaults_that_the_command_line_overrides(ask: Ask) -> None:
    wanted, other = score(ask, "--level", "seg"), score(ask)
    Path("adjudge.toml").write_text('[score]\nlevel = "seg"\n')
    assert score(ask) == wanted
    assert score(ask, "--level", "sys") == other


def test_an_option_that_repeats_is_given_as_often_as_wanted(ask: Ask) -> None:
    for name in "sab":
        Path(f"{name}.txt").write_text("Hello.\n")
    words = ("-s", "s.txt", "-t", "a.txt", "-t", "b.txt", "--lp", "en-de", "--to", "jsonl", "-")
    ask.done("convert", *words)
