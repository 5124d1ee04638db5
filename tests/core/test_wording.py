"""Amounts in sentences, of one and of several."""

import ast
import re
import shlex

import pytest

from adjudge.cli.main import GROUPS, PURPOSES
from adjudge.core.wording import command, count, form, nearest, of_all
from tests.gauges import MODULES, inside, tree_of


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "0 segments"), (1, "1 segment"), (2, "2 segments"), (2000, "2,000 segments")]
)
def test_an_amount_has_its_noun(amount: int, shown: str) -> None:
    assert count(amount, "segment") == shown


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert [count(amount, "person", "people") for amount in (1, 2)] == ["1 person", "2 people"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("--outt", "; did you mean --out?"),
        ("--langpair", "; did you mean --lp?"),
        ("--conc", "; did you mean --concurrency?"),
        ("--foo", ""),
        ("--steps", ""),
    ],
)
def test_a_name_is_proposed_only_where_it_is_near(name: str, meant: str) -> None:
    assert nearest(name, ["--out", "--lp", "--from", "--pairs", "--systems", "--concurrency"]) == meant


def test_of_several_the_noun_goes_with_all_and_the_verb_with_the_part() -> None:
    shown = [f"{of_all(n, 3, 'task')} {form(n, 'is', 'are')} left" for n in (0, 1, 2)]
    assert shown == ["0 of 3 tasks are left", "1 of 3 tasks is left", "2 of 3 tasks are left"]
    assert of_all(1, 1, "task") == "1 of 1 task"


def test_a_command_to_copy_is_quoted_for_a_shell() -> None:
    told = command("campaign", "serve", "s 10 日本; $HOME")
    assert told == "adjudge campaign serve 's 10 日本; $HOME'"
    assert shlex.split(told) == ["adjudge", "campaign", "serve", "s 10 日本; $HOME"]


VERBS = {*GROUPS, *" ".join(PURPOSES.values()).split()}


def test_no_path_or_name_stands_in_a_command_unquoted() -> None:
    """Whatever is filled into a command that people copy goes through `command`."""
    bare = re.compile(rf"adjudge (?:{'|'.join(sorted(VERBS))}) [^`\n]*\0")
    found = []
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "\0" for part in node.values]
                found += [(inside(path), told) for told in bare.findall("".join(map(str, parts)))]
    assert not found
