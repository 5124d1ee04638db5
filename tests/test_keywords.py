"""Python has the options of the command line by the same names, and refuses what there is not."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import adjudge
from adjudge.cli.main import app_for
from adjudge.errors import UsageError
from tests.runs.conftest import Rater, Scripted, model, small_set

__all__ = ["model"]  # a fixture

NOT_IN_PYTHON = {
    "format": "a function returns an object; `adjudge.reports` and its tables render it",
    "dry-run": "`adjudge.forecast` does that",
    "figures": "figures are drawn from the result with `adjudge.reports`",
    "figure": "figures are drawn from the result with `adjudge.reports`",
    "from": "`adjudge.formats.read.reading_as` says it of a path, and `load` has `form`",
    "radar": "figures are drawn from the result with `adjudge.reports`",
    "junit": "the verdict is rendered with `adjudge.reports.result_tables.render_junit`",
    "summary": "the verdict is rendered with `adjudge.reports.result_tables.render_summary`",
    "score-files": "`adjudge.formats.score_file.write_score_files` writes the result",
    "level": "`Scores` has segments, documents and systems together",
}
"""Options that no function needs, with the reason."""

NOT_OF = {
    "rank": {
        "p-values": "it is of the printed table: a `Ranking` has the `p_values` of all pairs, always",
    },
    "gate": {"range": "`scale`, a pair of numbers: `range` is a function of Python's own"},
    "spans": {
        "confusion": "another result: `adjudge.analysis.spans.severity_confusion`",
        "severity-penalty": "`penalty`: there is no other one",
        "severity-weights": "`weights`: there are no other ones",
        "intervals": "`resamples` above 0 asks for intervals",
    },
}
"""Options that one function has not, with the reason."""

VERBS = (
    "run",
    "arun",
    "forecast",
    "score",
    "rank",
    "compare",
    "gate",
    "power",
    "meta",
    "spans",
    "bias",
    "estimate",
    "report",
)


def function_of(verb: str) -> Callable[..., Any]:
    found: Any = getattr(adjudge, verb)
    return found  # type: ignore[no-any-return]


def options_of(verb: str) -> set[str]:
    app: Any = app_for(["run" if verb == "arun" else verb])
    command: Any = typer.main.get_command(app)
    command = command.commands["run" if verb == "arun" else verb]
    params = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    return {p.opts[0].removeprefix("--").removeprefix("exclude-") for p in params}


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_has_every_option_of_its_command_by_the_same_name(verb: str) -> None:
    known = {name.replace("_", "-") for name in function_of(verb).__keywords__}  # type: ignore[attr-defined]
    assert options_of(verb) - known - {*NOT_IN_PYTHON} - {*NOT_OF.get(verb, ())} == set()


def test_every_exception_is_of_an_option_that_there_is() -> None:
    there = {verb: options_of(verb) for verb in VERBS}
    assert {*NOT_IN_PYTHON} <= set().union(*there.values())
    assert all({*names} <= there[verb] for verb, names in NOT_OF.items())


@pytest.mark.parametrize("verb", [*VERBS, "load", "read_records"])
def test_an_unknown_keyword_is_refused_by_name(verb: str) -> None:
    with pytest.raises(TypeError, match=r"has no keyword 'bogus'"):
        function_of(verb)(bogus=1)


@pytest.mark.parametrize(
    ("verb", "wrong", "right"),
    [
        ("run", "buget", "budget"),
        ("run", "sampels", "samples"),
        ("arun", "sistems", "systems"),
        ("forecast", "limits", "limit"),
        ("rank", "sed", "seed"),
        ("meta", "measure", "measures"),
        ("spans", "rules", "rule"),
    ],
)
def test_a_keyword_that_is_mistyped_is_named_as_it_is_spelled(verb: str, wrong: str, right: str) -> None:
    with pytest.raises(TypeError, match=f"'{wrong}'; did you mean {right}\\?"):
        function_of(verb)(**{wrong: 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": -1}, "limit must be greater than or equal to 1; got -1"),
        ({"limit": "3"}, "limit must be a valid integer.*; got '3'"),
        ({"systems": 5}, "systems must be .*; got 5"),
        ({"systems": ["C"]}, "has no system 'C'"),
        ({"concurrency": 0}, "concurrency must be greater"),
        ({"json_schema": "maybe"}, "json_schema must be 'auto', 'on' or 'off'; got 'maybe'"),
        ({"max_failed": 2}, "--max-failed .*must be a share"),
        ({"samples": 3}, "samples is for a judge given by its name"),
        ({"profile": "paper"}, "profile is for a judge given by its name"),
        ({"source": "a.txt"}, "not both"),
        ({"lp": "de-en"}, "has no lp"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused(options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        adjudge.run(Rater(), small_set(), out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("systems", [["A"], ("A",), "A"])
def test_python_judges_only_what_was_chosen(systems: Any, tmp_path: Path, model: Scripted) -> None:
    done = adjudge.run(Rater(), small_set(), out=tmp_path / "run", limit=3, systems=systems)
    assert [(r.segment, r.system) for r in done.records] == [("0", "A"), ("1", "A"), ("2", "A")]  # type: ignore[union-attr]


def test_a_forecast_is_of_what_was_chosen() -> None:
    assert adjudge.forecast(Rater(), small_set(), limit=3, systems=["A"]).units == 3


def test_line_aligned_files_need_no_test_set_in_python(tmp_path: Path) -> None:
    for name, text in {"src": "Good day.", "mt": "Guten Tag.", "ref": "Guten Tag!"}.items():
        (tmp_path / name).write_text(f"{text}\n")
    files = {
        "source": tmp_path / "src",
        "translation": f"A={tmp_path / 'mt'}",
        "reference_file": [f"r={tmp_path / 'ref'}"],
    }
    done = adjudge.run("chrf", lp="en-de", out=tmp_path / "run", **files)  # type: ignore[arg-type]
    assert [r.system for r in done.records] == ["A"]  # type: ignore[union-attr]


def test_settings_of_many_judges_are_keywords(tmp_path: Path) -> None:
    found = adjudge.forecast("gemba-da", small_set(), samples=3, temperature=0.5, limit=2)
    assert found.calls.typical == 12


def test_a_value_too_many_is_told_to_be_named() -> None:
    with pytest.raises(TypeError, match=r"compare\(\) takes first, second; the others by name:.* systems=,"):
        adjudge.compare("run", "A", "B")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", VERBS)
def test_help_shows_types_as_people_write_them(name: str) -> None:
    signature = str(inspect.signature(getattr(adjudge, name)))
    for word in ("Annotated", "Option", "adjudge.", "pathlib", "typing", " at 0x", "PosixPath"):
        assert word not in signature
    assert name not in VERBS[:1] or "out: Path | str | None = None" in signature
