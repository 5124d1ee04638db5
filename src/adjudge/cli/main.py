"""The `adjudge` command: its commands and groups, how it ends, and what `adjudge --version` says.

A command's file is imported when that command is called, so that `adjudge --help` stays quick. What typer
refuses is told in the words of the other messages: what is wanted, and what came instead.
"""

from __future__ import annotations

import gc
import importlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from typer import BadParameter
from typer.core import TyperGroup

from adjudge.core.extras import missing_extra
from adjudge.core.scores import VERSION, read_build
from adjudge.errors import (
    CLOSED_PIPE,
    ERROR,
    INTERRUPTED,
    AdjudgeError,
    DataWarning,
    FolderWarning,
    UnfitWarning,
    exit_code_of,
)

if TYPE_CHECKING:
    import typer
    from typer.core import TyperCommand

COMMANDS: Final[Mapping[str, str]] = {
    "demo": "Run every step on bundled data, offline, up to a report.",
    "run": "Judge a test set with a judge or a metric; resumes an interrupted run.",
    "calibrate": "Calibrate a judge's threshold: HiMATE's confidence, or the size of a tie.",
    "forecast": "Estimate the calls and the cost of a run; nothing is sent.",
    "score": "Compute scores from the records of a run.",
    "rank": "Rank systems, with intervals and significance clusters.",
    "bias": "Find what judges favour: a position, a length, their own family.",
    "agreement": "Measure how annotators agree, and whether a judge can replace one.",
    "spans": "Compare marked errors with gold: precision, recall, F1 by six matching rules.",
    "meta": "Judge metrics and judges by how well they agree with gold.",
    "compare": "Test which of two systems is better, and by how much.",
    "gate": "Decide in a build whether a candidate may replace the baseline.",
    "thresholds": "Find score cut-offs for publish, post-edit and reject, with a guaranteed risk.",
    "estimate": "Estimate system means from many judge scores and a few human labels.",
    "reproduce": "Compute the tables of a paper again, beside its own numbers.",
    "power": "Compute which difference judgements can show, and how many are needed.",
    "report": "Write one self-contained HTML page about runs.",
    "serve": "Show the report as a local page, with the conversation behind every judgement.",
    "trace": "Show the conversation behind a judgement.",
    "show": "Show the exact messages of a judge; nothing is sent.",
    "new-judge": "Write a package with a judge of your own, its prompts and its test.",
    "align": "Align texts with other line breaks to the segments of the source.",
    "convert": "Convert between every format that adjudge reads.",
    "fetch": "Download a public test set; other commands then take its name.",
    "list": "List judges, metrics, measures, tasks, models, protocols, formats, test sets.",
}
"""Command to its line in `--help`."""

GROUPS: Final[Mapping[str, str]] = {
    "curate": "Build a benchmark: choose sources, translate them, draw pairs, settle verdicts.",
    "campaign": "Have people judge: set a campaign up, serve it, watch it, export it.",
}
"""Group to its line in `--help`."""

GROUP_COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "campaign": {
        "new": "Make a campaign of a test set: tasks, checks, links.",
        "serve": "Serve a campaign to its annotators and its organiser.",
        "status": "Show the progress, each person's work and the expected end.",
        "people": "List who takes part; add people, renew links, shut somebody out.",
        "again": "Ask for a second look, an adjudication or a new annotation.",
        "export": "Write all judgements so far, in any format that can hold them.",
        "import": "Import a campaign from Appraise, Pearmut or a file.",
        "translate": "Translate what annotators read.",
        "backup": "Copy the store to a file, also while it is served.",
        "restore": "Go back to a backup, also in another database.",
        "remove": "Remove a campaign from a database, with a backup.",
        "analyse": "Analyse a campaign, finished or not.",
    },
    "curate": {
        "filter": "Keep the hardest sources; flag personal and offensive ones.",
        "translate": "Translate a test set with a model or a command: systems to judge, or drafts to edit.",
        "pairs": "Draw pairs of translations, balanced over sources and systems.",
        "select": "Choose segments for people to annotate, and evaluate the choice.",
        "examples": "Draw worked examples for himate's agents from translations that people annotated.",
        "agreement": "Settle verdicts by majority with kappa, or gate ratings.",
    },
}
"""Group to its commands with their lines in `--help`."""

_MODULES: Final[Mapping[str, str]] = {
    name: module
    for module, names in {
        "judge_commands": "run forecast show calibrate new-judge",
        "look_commands": "score trace report serve",
        "compare_commands": "rank compare gate power",
        "meta_command": "meta",
        "trust_commands": "spans agreement bias reproduce thresholds estimate",
        "file_commands": "align convert fetch demo list",
        "campaign_setup": "campaign_new campaign_import",
        "people_commands": (
            "campaign_serve campaign_status campaign_people campaign_again campaign_export "
            "campaign_backup campaign_restore campaign_remove campaign_analyse campaign_translate"
        ),
        "build_commands": (
            "curate_filter curate_translate curate_pairs curate_select curate_examples curate_agreement"
        ),
    }.items()
    for name in names.split()
}
"""Command to the module of its function `NAME_command`; `campaign new` is `campaign_new`, `-` is `_`."""

PURPOSES: Final[Mapping[str, str]] = {
    "Start": "demo",
    "Judge": "run forecast show calibrate new-judge",
    "Look": "score report serve trace list",
    "Compare": "rank compare gate power",
    "Trust": "meta spans agreement bias thresholds estimate reproduce",
    "People": "campaign",
    "Build": "curate",
    "Files": "align convert fetch",
}
"""Headings of `adjudge --help` to the commands below them."""

_COMPLETE: Final = "_ADJUDGE_COMPLETE"  # set by the script that --install-completion writes
_WITH_SETTINGS: Final = {"run", "forecast", "show", "calibrate"}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with one of the exit codes of `adjudge.errors`."""
    is_process = arguments is None
    arguments = sys.argv[1:] if arguments is None else arguments
    behind = arguments.index("--") if "--" in arguments else len(arguments)
    of_any = {"--debug", "--accept-changed", "--trust-config"}.intersection(arguments[:behind])
    debug = "--debug" in of_any
    accepted: AbstractContextManager[None] = nullcontext()
    if "--accept-changed" in of_any:
        from adjudge.store.run_directory import accepting_changed

        accepted = accepting_changed()
    arguments = [*(word for word in arguments[:behind] if word not in of_any), *arguments[behind:]]
    try:
        with warnings.catch_warnings():
            for kind in (DataWarning, FolderWarning):
                warnings.simplefilter("always", kind)
            warnings.simplefilter("ignore", UnfitWarning)  # commands print its sentence themselves
            warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
            # Where in the code a warning arose is of no use to a person.
            warnings.showwarning = lambda message, *_, **__: _say(message)
            with ended_from_outside(), accepted:
                if "--trust-config" in of_any:
                    from adjudge.store.settings_files import trust_folder

                    trust_folder()
                try:
                    app = lasting_app(arguments) if is_process else app_for(arguments)
                    app(arguments, prog_name="adjudge")
                finally:
                    sys.stdout.flush()  # here a full disk can still be said in one line
    except OSError as error:
        if debug:
            raise
        _say(f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
        drop_output()
        sys.exit(ERROR)
    except (AdjudgeError, ModuleNotFoundError) as error:
        said = missing_extra(error) if isinstance(error, ModuleNotFoundError) else error
        if debug or said is None:
            raise
        _say(said)
        sys.exit(exit_code_of(said))


def _say(what: object) -> None:
    from adjudge.cli.options import print_note

    print_note(f"adjudge: {what}")


def lasting_app(arguments: list[str]) -> typer.Typer:
    """Build the command line where nothing else is in this process: garbage is never sought in what it takes.

    Imports make no garbage, and looking through them took a twentieth of the time of a short command.
    """
    gc.disable()
    try:
        return app_for(arguments)
    finally:
        gc.freeze()
        gc.enable()


def app_for(arguments: list[str]) -> typer.Typer:
    """Build the command line with the one command imported that the arguments call.

    A shell that completes a command line says in variables what stands there so far.
    """
    asked = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    words = asked.split()[1:] if _COMPLETE in os.environ else arguments
    words = [a for a in words if not a.startswith("-")]
    app = _new_app(add_completion=True)
    app.callback()(_root())
    _add_commands(app, "", COMMANDS, words[:1])
    for name, line in GROUPS.items():
        group = _new_app()
        if words[:1] == [name]:
            _add_commands(group, f"{name}_", GROUP_COMMANDS[name], words[1:2])
        app.add_typer(group, name=name, help=line, short_help=line)
    return app


def _new_app(*, add_completion: bool = False) -> typer.Typer:
    import typer

    return typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _add_commands(app: typer.Typer, prefix: str, commands: Mapping[str, str], called: list[str]) -> None:
    for name, line in commands.items():
        function, kind = _load(prefix + name) if called == [name] else (lambda: None, None)
        app.command(name, short_help=line, cls=kind)(function)


def _load(name: str) -> tuple[Callable[..., None], type[TyperCommand] | None]:
    module = importlib.import_module(f"adjudge.cli.{_MODULES[name]}")
    from adjudge.cli.options import Command, WithSettings, with_options

    return with_options(
        getattr(module, f"{name.replace('-', '_')}_command")
    ), WithSettings if name in _WITH_SETTINGS else Command


def _root() -> Callable[..., None]:
    import typer

    def print_version(wanted: bool) -> None:
        if wanted:
            print(render_version())
            raise typer.Exit

    show = typer.Option(
        False, "--version", callback=print_version, is_eager=True, help="Print the version and the build."
    )

    def root(version: bool = show) -> None:
        """Judge machine translation with people and language models, and know which judge to trust.

        Start with `adjudge demo`. With any command: --debug shows the whole traceback of an error;
        --accept-changed reads runs whose records were changed after the run, too; --trust-config trusts
        adjudge.toml of this folder as it is now.
        """

    return root


_WANTED: Final = "Input should be "
_OUR_OWN: Final = "Value error, "


@contextmanager
def saying_what_came() -> Iterator[None]:
    """Say of a value that is refused what it was, where the words of pydantic do not."""
    try:
        yield
    except BadParameter as error:
        from pydantic import ValidationError

        error.message = (
            f"must be {error.message.removeprefix(_WANTED)}; got {error.__cause__.errors()[0]['input']!r}"
            if error.message.startswith(_WANTED) and isinstance(error.__cause__, ValidationError)
            else error.message.removeprefix(_OUR_OWN)
        )
        raise


RESUMABLE: Final = "stopped; the same command goes on where it stopped"


class Commands(TyperGroup):
    """All commands. typer itself would say nothing of Ctrl-C, nor what a refused value was."""

    def make_context(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 (typer's own, passed on)
        """Read the arguments; `--help` prints here."""
        with ended_from_outside(), saying_what_came():
            return super().make_context(*arguments, **named)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (the same)
        """Read the arguments; the help of a group has all its options, and --all-options prints it."""
        if "--all-options" in takewhile(lambda word: word.startswith("-"), args):
            args = ["--help"]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 (the same)
        """Write the commands, those of `adjudge` itself below what a user does with them."""
        if ctx.parent is not None:
            super().format_commands(ctx, formatter)
            return
        for heading, names in PURPOSES.items():
            rows = [(name, self.commands[name].get_short_help_str(limit=200)) for name in names.split()]
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=12)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (the same)
        """Run the command."""
        with ended_from_outside(), saying_what_came():
            return super().invoke(ctx)


@contextmanager
def ended_from_outside() -> Iterator[None]:
    """Leave with one sentence on Ctrl-C, and without a word where nobody reads any more."""
    try:
        yield
    except KeyboardInterrupt:
        print("adjudge: stopped before it was done", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        drop_output()
        raise SystemExit(CLOSED_PIPE) from None


@contextmanager
def parting(words: str) -> Iterator[None]:
    """On Ctrl-C say what becomes of this work, in place of the one sentence for all."""
    try:
        yield
    except KeyboardInterrupt:
        from adjudge.cli.options import print_note

        print_note(words)
        raise SystemExit(INTERRUPTED) from None


def drop_output() -> None:
    """Forget what cannot be written, or the interpreter would try once more when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


UNKNOWN = "unknown, not installed from a built package"


def render_version() -> str:
    """The version alone on its first line, then one fact a line; no name of a person or of a machine."""
    build = read_build()
    wanted = {re.split(r"[^\w.-]", line, maxsplit=1)[0]: line for line in requires("adjudge") or []}
    libraries = {name: _version_of(name) for name in sorted(wanted.keys() - {"adjudge"})}
    facts = {
        "commit": build.commit or UNKNOWN,
        "lock": f"sha256:{build.lock}" if build.lock else UNKNOWN,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "libraries": ", ".join(
            f"{name} {found}"
            for name, found in libraries.items()
            if found != _MISSING or "extra ==" not in wanted[name]
        ),
    }
    return "\n".join([f"adjudge {VERSION}", *(f"{name}: {value}" for name, value in facts.items())])


_MISSING: Final = "missing"


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _MISSING
