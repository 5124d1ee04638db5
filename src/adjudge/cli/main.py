"""The `adjudge` command.

A command's file is imported when that command is called, so that `adjudge --help` stays quick.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from adjudge.cli.exits import ERROR, exit_code_of
from adjudge.errors import AdjudgeError, DataWarning

if TYPE_CHECKING:
    import typer
    from typer.core import TyperCommand

__all__ = ["COMMANDS", "GROUPS", "main"]

COMMANDS: Final[Mapping[str, str]] = {
    "demo": "The whole story on bundled data, offline; ends with a report.",
    "run": "Judge a test set with a judge or a metric; resumes where it stopped.",
    "merge": "Make one run of the shards that several machines judged.",
    "ensemble": "Combine runs and files of scores into one more annotator.",
    "calibrate": "Find how sure HiMATE must be of what it does not discuss.",
    "forecast": "Say what a run would ask and cost; nothing is sent.",
    "score": "Turn the records of a run into numbers.",
    "rank": "Rank systems, with intervals and significance clusters.",
    "bias": "Find what judges favour: a position, a length, their own family.",
    "agreement": "Say how annotators agree, and whether a judge may stand in for one.",
    "spans": "Compare marked errors with gold: precision, recall, F1 by six matching rules.",
    "meta": "Judge metrics and judges by how well they agree with gold.",
    "compare": "Say whether one of two systems is better, by how much and how surely.",
    "gate": "Say whether a candidate may replace the baseline, for a build.",
    "thresholds": "Find from which score on to publish, with a stated risk.",
    "estimate": "Estimate systems by many scores of a judge and few of people.",
    "reproduce": "Compute the tables of a paper again, beside its own numbers.",
    "power": "Say what a number of judgements can show, and how many more are needed.",
    "report": "Write one self-contained HTML page about runs.",
    "serve": "Show the report as a local page, with the conversation behind every judgement.",
    "trace": "Show the conversation behind a judgement.",
    "show": "Show the exact messages of a judge; nothing is sent.",
    "convert": "Convert between every format that adjudge reads.",
    "fetch": "Download a public test set; its name is a test set from then on.",
    "list": "List judges, metrics, measures, tasks, models, protocols, formats, test sets.",
}
"""Command to its line in `--help`. Its function `command` stands in `cli/NAME.py` (list: `cli/list_.py`)."""

GROUPS: Final[Mapping[str, str]] = {
    "curate": "Build a benchmark: choose sources, translate them, choose pairs, settle what people said.",
    "campaign": "Have people judge: set a campaign up, serve it, watch it, export it.",
}
"""Group to its line in `--help`. `cli/NAME.py` has its own `COMMANDS`, whose functions stand in
`cli/NAME_COMMAND.py`."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with one of the exit codes of `cli.exits`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    from adjudge.cli.stops import drop_output, ended_from_outside

    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _show_warning
            with ended_from_outside():
                try:
                    app_for(arguments)(arguments, prog_name="adjudge")
                finally:
                    sys.stdout.flush()  # here a full disk can still be said in one line
    except OSError as error:
        if debug:
            raise
        _say(f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
        drop_output()
        sys.exit(ERROR)
    except AdjudgeError as error:
        if debug:
            raise
        _say(error)
        sys.exit(exit_code_of(error))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """One line for a person; where in the code it arose is of no use to one."""
    _say(message)


def _say(what: object) -> None:
    """One line on stderr; the names in it may be anything, and a terminal obeys some of it."""
    from adjudge.cli.output import print_note

    print_note(f"adjudge: {what}")


def app_for(arguments: list[str]) -> typer.Typer:
    """Build the command line with the one command imported that the arguments call."""
    words = [a for a in arguments if not a.startswith("-")]
    app = _new_app()
    app.callback()(_root())
    _add_commands(app, "", COMMANDS, words[:1])
    for name, line in GROUPS.items():
        group = _new_app()
        if words[:1] == [name]:
            commands = importlib.import_module(f"adjudge.cli.{name}").COMMANDS
            _add_commands(group, f"{name}_", commands, words[1:2])
        app.add_typer(group, name=name, help=line, short_help=line)
    return app


def _new_app() -> typer.Typer:
    import typer

    from adjudge.cli.stops import Commands

    return typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _add_commands(app: typer.Typer, prefix: str, commands: Mapping[str, str], called: list[str]) -> None:
    """Add all, with the one imported that is called; the others need no more than their line."""
    for name, line in commands.items():
        function, kind = _load(prefix + name) if called == [name] else (_not_called, None)
        app.command(name, short_help=line, cls=kind)(function)


def _load(name: str) -> tuple[Callable[..., None], type[TyperCommand] | None]:
    """Import a command; a file whose command takes settings of a judge has `WithSettings`."""
    module = importlib.import_module(f"adjudge.cli.{'list_' if name == 'list' else name}")
    return module.command, getattr(module, "WithSettings", None)


def _not_called() -> None:
    """Stand in for a command that this call only lists."""


def _root() -> Callable[..., None]:
    """Make what `adjudge` does before any command."""
    import typer

    def print_version(wanted: bool) -> None:
        if wanted:
            from adjudge.cli.version import render_version

            print(render_version())
            raise typer.Exit

    show = typer.Option(
        False, "--version", callback=print_version, is_eager=True, help="Print the version and the build."
    )

    def root(version: bool = show) -> None:
        """Judge machine translation with people and language models, and know which judge to trust.

        Start with `adjudge demo`. Add --debug to any command for the whole traceback of an error.
        """

    return root
