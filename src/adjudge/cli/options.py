"""Options that several commands share, so that they are spelled and explained once.

`with_options` gives a command an option for each field of its settings. `Command` is every command: which
options its help shows, `--set`, and `adjudge.toml`; `WithSettings` reads a judge's own settings besides.
`print_result` prints results to stdout in the format asked for; everything else goes to stderr.
`check_failures` tells with the exit code that more judgements failed than `--max-failed` allows.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, fields, is_dataclass
from itertools import chain, pairwise
from keyword import iskeyword
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge, Le
from typer.core import TyperCommand, TyperOption

from adjudge.core.language import coded_lp
from adjudge.core.scores import RunInfo
from adjudge.core.verb import Option, option_of
from adjudge.core.wording import SIGHT, has_too_many_failures, nearest, unfit_first
from adjudge.errors import FAILURES, SettingError, UsageError
from adjudge.examples import of_demo
from adjudge.reports.tables import Table, TableFormat, name_invisible, render_table
from adjudge.store.settings_files import settings_files


def existing(paths: Path | list[Path] | None) -> Path | list[Path] | None:
    """Check that the path exists. Used as a typer callback for options that accept a path only."""
    for path in [paths] if isinstance(paths, Path) else paths or []:
        if str(path) != "-" and not path.exists():
            raise UsageError(f"no file or folder {str(path)!r}{of_demo(path)}")
    return paths


TestSetArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[TEST_SET]",
        help="MTME folder, JSONL file, or a name of `adjudge list test-sets`; leave it out with -s and -t.",
        show_default=False,
    ),
]
LpOption = Annotated[
    str | None,
    typer.Option(
        "--lp",
        "-l",
        help="Language pair, such as en-de.",
        callback=lambda lps: None if lps is None else ",".join(map(coded_lp, lps.split(","))),
    ),
]


@contextmanager
def naming_the_nearest(context: typer.Context) -> Iterator[None]:
    """Name the option nearest to a setting that there is not, among those of the command and of the judge.

    A judge's settings are options that only it knows, so that typer cannot do this.
    """
    try:
        yield
    except SettingError as error:
        known = [option for parameter in context.command.params for option in parameter.opts]
        known += [f"--{name.replace('_', '-')}" for name in error.known]
        from adjudge.runs.job import RunSettings

        option = f"--{error.name.replace('_', '-')}"
        if option not in known and error.name.replace("-", "_") in option_fields(RunSettings):
            raise UsageError(f"{error}; {option} is an option of `adjudge run`") from error
        if f"--{error.name}" in known:  # the command has it, and the judge no use for it
            raise
        raise UsageError(f"{error}{nearest(error.name, known, most=1)}") from error


class Without:
    """Fields of settings that are no options of a command: `Annotated[RunSettings, Without("seed")]`."""

    def __init__(self, *names: str) -> None:
        self.names = names


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of its settings, and name each value in the help.

    A parameter whose annotation is a class made with `core.verb.settings` is replaced by the fields of the
    class; options that were left out keep the default of their field. A command that reads files has
    `--from`, too.
    """
    hints = get_type_hints(command, include_extras=True)
    kinds = get_type_hints(command)
    models = {name: kind for name, kind in kinds.items() if isinstance(kind, type) and is_dataclass(kind)}
    files = [name for name, hint in hints.items() if _is_read(hint)]
    for hint in hints.values():
        for said in getattr(hint, "__metadata__", ()):
            if isinstance(said, typer.models.OptionInfo) and said.metavar is None:
                said.metavar = _value_name(_kind_of(hint)[0])
    dropped = {name: _dropped(hints[name]) for name in models}
    parameters: dict[str, inspect.Parameter] = {}
    for parameter in inspect.signature(command).parameters.values():
        own = (
            _options_of(models[parameter.name], dropped[parameter.name])
            if parameter.name in models
            else [parameter.replace(annotation=hints[parameter.name])]
        )
        parameters |= {each.name: each for each in own if each.name not in parameters}
    if files:
        parameters[_FROM.name] = _FROM

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 (whatever typer has read)
        made = {}
        spelled = set()
        for name, model in models.items():
            fields = [field for field in option_fields(model) if field not in dropped[name]]
            chosen = {field: option_name(model, field) for field in fields}
            spelled |= set(chosen.values())
            made[name] = model(**{f: given[word] for f, word in chosen.items() if given[word] is not None})
        form = given.pop(_FROM.name, None)
        with nullcontext() if form is None else _reading_as(form, [given[name] for name in files]):
            command(**{name: value for name, value in given.items() if name not in spelled}, **made)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters.values()]
    )
    run.__annotations__ = {each.name: each.annotation for each in parameters.values()}
    return run


_FROM: Final = inspect.Parameter(
    "from_",
    inspect.Parameter.KEYWORD_ONLY,
    default=typer.Option(
        None, "--from", metavar="FORMAT", help="Format of the input; default: detected from the file."
    ),
    annotation=str | None,
)
_READ: Final = re.compile(r"TEST_SET|\[IN\]|A B|(?:[|\]]|^)FILE")


def _is_read(hint: Any) -> bool:  # noqa: ANN401 (an annotation)
    """Whether a parameter names files that a command reads: an argument, or an option for a run or a file."""
    said = next((each for each in getattr(hint, "__metadata__", ()) if hasattr(each, "metavar")), None)
    is_argument = isinstance(said, typer.models.ArgumentInfo)
    return (
        isinstance(said, typer.models.ParameterInfo)
        and _READ.search(str(said.metavar)) is not None
        and (is_argument or "RUN|" in str(said.metavar))
    )


def _reading_as(form: str, values: Iterable[Any]) -> AbstractContextManager[None]:
    from adjudge.formats.read import reading_as

    words = [str(word) for value in values for word in (value if isinstance(value, list) else [value])]
    return reading_as(form, [path for word in words for path in (word, word.partition("=")[2])])


_HINTS: Final[dict[type[Any], Mapping[str, Any]]] = {}


def _hints(model: type[Any]) -> Mapping[str, Any]:
    return _HINTS.get(model) or _HINTS.setdefault(model, get_type_hints(model, include_extras=True))


def option_fields(model: type[Any]) -> list[str]:
    """Return the fields of settings that are options."""
    known = {field.name: option_of(_hints(model)[field.name]) for field in fields(model)}
    return [name for name, option in known.items() if option is not None and option.kind is not None]


def option_name(model: type[Any], field: str) -> str:
    """Return the name of a field's parameter: the option's spelling, as Python can have it."""
    option = option_of(_hints(model)[field])
    name = field if option is None or not option.name else option.name.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def changed_options(settings: Any, among: Iterable[str]) -> list[str]:  # noqa: ANN401 (any settings)
    """Spell the options whose values are not those of their fields."""
    model = type(settings)
    plain = {field.name: field.default for field in fields(model)}
    names = [name for name in among if getattr(settings, name) != plain[name]]
    return [f"--{option_name(model, name).rstrip('_').replace('_', '-')}" for name in names]


def _dropped(hint: Any) -> tuple[str, ...]:  # noqa: ANN401 (an annotation)
    return next((it.names for it in getattr(hint, "__metadata__", ()) if isinstance(it, Without)), ())


def _options_of(model: type[Any], dropped: Collection[str]) -> Iterator[inspect.Parameter]:
    hints = _hints(model)
    defaults = {field.name: field.default for field in fields(model)}
    for name in option_fields(model):
        if name in dropped:
            continue
        option = option_of(hints[name]) or Option(help="")
        wanted = list[str] if option.repeats else option.kind
        kind, bounds = _kind_of(hints[name]) if wanted is ... else (wanted, {})
        metavar = option.metavar or bounds.pop("metavar", None) or _value_name(kind)
        is_needed = defaults[name] is MISSING
        plain: Any = defaults[name]
        default = plain if isinstance(plain, bool | int | float | str) else None
        if isinstance(plain, tuple):
            default = ",".join(map(str, plain)) or None
        if default is None and not is_needed:
            kind |= None
        word = option.name or name.replace("_", "-")
        words = [f"--{word}/--{option.off}" if option.off else f"--{word}"]
        made = typer.Option(
            ... if is_needed else default,
            *words,
            *([f"--{option.alias}"] if option.alias else []),
            *([f"-{option.short}"] if option.short else []),
            help=option.help,
            metavar=metavar,
            callback=existing if option.exists else None,
            show_default=not option.off and not is_needed,
            **bounds,
        )
        yield inspect.Parameter(
            option_name(model, name), inspect.Parameter.KEYWORD_ONLY, default=made, annotation=kind
        )


def _value_name(kind: Any) -> str:  # noqa: ANN401 (an annotation)
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "N", Path: "PATH"}.get(kind, "NAME")


def _kind_of(hint: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 (an annotation)
    bounds: dict[str, Any] = {}
    while True:
        for each in getattr(hint, "__metadata__", ()):
            bounds |= (
                {"min": each.ge} if isinstance(each, Ge) else {"max": each.le} if isinstance(each, Le) else {}
            )
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif get_origin(hint) in {Union, UnionType}:
            (hint,) = (each for each in get_args(hint) if each is not NoneType)
        else:
            break
    if get_origin(hint) in {Sequence, tuple}:  # one text with commas
        return str, {"metavar": "A,B"}
    return hint, bounds


FormatOption = Annotated[TableFormat, typer.Option("--format", help="Format of the output.")]


_FOR_PEOPLE: Final = frozenset({"table", "markdown", "latex"})


def is_for_people(form: TableFormat) -> bool:
    """Whether people read it: numbers are rounded, and notes stand below them."""
    return form in _FOR_PEOPLE


def print_result(
    form: TableFormat, table: Table, data: Mapping[str, object], notes: Iterable[str] = ()
) -> None:
    """Print one result: the table, or its data as one JSON object."""
    notes = [*notes]
    if form == "json":
        import orjson

        every = dict.fromkeys([*notes, *table.notes])
        told = {key: [note for note in every if words in note] for key, words in SIGHT.items()}
        data = {**{key: found for key, found in told.items() if found}, **data}
        text = orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"
    else:
        text = render_table(table, form)
    sys.stdout.write(name_invisible(text) if sys.stdout.isatty() else text)
    for note in () if is_for_people(form) else chain(*unfit_first(notes)):
        print_note(note)


def print_tables(form: TableFormat, tables: Iterable[Table]) -> None:
    """Print several tables for people, with an empty line between two."""
    for place, table in enumerate(tables):
        if place:
            print()
        print_result(form, table, {})


def print_text(text: str) -> None:
    """Print what a person reads as it is, but for characters that nobody sees."""
    sys.stdout.write(name_invisible(text))


def print_note(text: str) -> None:
    """Tell a person something that is not the result."""
    print(name_invisible(text), file=sys.stderr)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error while something is computed; nothing where that is no terminal.

    A function that takes how many steps are done and how many there are; None where nothing is shown.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def state_words(info: RunInfo) -> str:
    """How many judgements of a run were obtained, how many were not, and why."""
    untranslated = [f"{info.untranslated:,} not translated"] if info.untranslated else []
    reasons = ", ".join(f"{why} {n:,}" for why, n in info.failures.items() if why != "no_translation")
    failed = f"{info.failed:,} failed" + (f" ({reasons})" if reasons else "")
    return ", ".join([f"{info.counts['judged']:,} judged", *untranslated, failed])


def check_failures(info: RunInfo, allowed: float | str) -> None:
    """Leave with an exit code of its own where a larger share of judgements failed.

    `allowed`: share that may fail, such as 0.01 or 1%.
    """
    if has_too_many_failures(info.failed, info.counts["judged"], allowed):
        raise typer.Exit(FAILURES)


def check_sight(notes: Iterable[str]) -> None:
    """Leave with the same exit code where a judge is unfit."""
    if unfit_first(notes)[0]:
        raise typer.Exit(FAILURES)


MOST_SHOWN: Final = 15

_MODEL: Final = "lp source model base-url key-env json-schema concurrency budget dry-run out"
_SHOWN: Final[Mapping[str, str]] = {
    "run": (
        "out lp systems limit source translation reference-file model base-url key-env profile budget dry-run"
    ),
    "forecast": (
        "lp systems limit source translation model base-url profile json-schema prices budget out format"
    ),
    "calibrate": "out gold lp systems limit model base-url key-env concurrency budget percentile format",
    "meta": (
        "lp gold scores metrics measures task average include-human strata intervals clusters figures format"
    ),
    "spans": ("gold rule threshold average by severities confusion lp test-set intervals figure format"),
    "rank": ("lp gold metric weights criterion method test alpha by-document p-values test-set radar format"),
    "power": (
        "lp criterion test-set sd annotator-sd difference segments annotators alpha power by-document format"
    ),
    "compare": "systems gold metric weights lp criterion test by-document holm documents test-set format",
    "thresholds": (
        "gold weights lp criterion bad publish-risk reject-risk delta guarantee by-document together "
        "decisions format"
    ),
    "gate": (
        "baseline candidate systems gold metric margin alpha domain-margin lp max-failed junit summary format"
    ),
    "campaign new": (
        "protocol annotators raters checks tutorial guidelines lp systems limit source "
        "translation database seed"
    ),
    "curate filter": f"{_MODEL} top share format",
    "curate translate": f"{_MODEL} name candidates format",
}
"""Command to the options that its help shows beside --set and --all-options; shorter commands show all."""


class Command(TyperCommand):
    """A command with a help page of a screen, whose options `--set` and `adjudge.toml` give, too."""

    _shows_all = False

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 (typer's own, passed on)
        """Return the parameters; those beyond the help page are hidden in it."""
        params: list[Any] = super().get_params(ctx)
        if ctx.resilient_parsing:  # a shell completes any option
            return params
        shown = self._shown(ctx, params)
        for each in params:
            if each.param_type_name == "option":
                each.hidden = shown is not None and not self._shows_all and _name_of(each) not in shown
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 (the same)
        """Return the words behind the command: `[OPTIONS] JUDGE [TEST_SET]`."""
        params = self.get_params(ctx)
        return ["[OPTIONS]", *(_argument_name(each) for each in params if each.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 (the same)
        """Write the arguments, the options, and how the other options are reached."""
        rows: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for each in self.get_params(ctx):
            if (row := each.get_help_record(ctx)) is not None:
                kind = each.param_type_name
                name = _argument_name(each) if kind == "argument" else row[0]
                rows[kind].append((name, _BOUND.sub("N", row[1])))
        for kind, lines in rows.items():
            if lines:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(lines)
        if not self._shows_all and self._shown(ctx, super().get_params(ctx)) is not None:
            more = [
                ("--set NAME=VALUE", "Set any other option; may be repeated."),
                ("--all-options", "Show every option."),
            ]
            with formatter.section("More options"):
                formatter.write_dl(more)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (the same)
        """Read the arguments, with `--set` as the options that it names, and `adjudge.toml` below them."""
        behind = args.index("--") if "--" in args else len(args)
        if "--all-options" in args[:behind]:
            self._shows_all = True
            args, behind = ["--help"], 1
        options = {
            word.lstrip("-"): each
            for each in self.get_params(ctx)
            for word in (each.opts if each.param_type_name == "option" else ())
        }
        for word in (each.partition("=")[0] for each in args[:behind]):
            if re.match("-[^-].", word) and word[1:] in options:
                raise UsageError(f"{word}: an option of several letters has two dashes, -{word}")
        ahead = [*_expanded(args[:behind], options, takes_any=self._takes_any)]
        words = [*ahead, *args[behind:]]
        if ctx.resilient_parsing:
            return self._parse(ctx, words)
        if {*ctx.help_option_names} & {*ahead}:  # printed here, whatever the files say
            self._parse(ctx, words)
        typed = {word.partition("=")[0] for word in ahead if word.startswith("-")}
        defaults, said = _read_defaults(ctx, options, typed, takes_any=self._takes_any)
        if said:
            print_note(f"adjudge: settings: {'; '.join(said)}")
        return self._parse(ctx, [*defaults, *words])

    _takes_any = False  # also options that the command does not know

    def _parse(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (the same)
        _, stray, given = self.make_parser(ctx).parse_args(list(args))
        if stray:
            self._refuse_listed(ctx, args, stray[0])
        for each, times in Counter(() if ctx.resilient_parsing else given).items():
            if times > 1 and isinstance(each, TyperOption) and not (each.multiple or each.is_flag):
                raise UsageError(f"{each.opts[0]} is given twice; say it once")
        return super().parse_args(ctx, args)

    def _refuse_listed(self, ctx: Any, args: list[str], stray: str) -> None:  # noqa: ANN401 (the same)
        before = args[: args.index(stray)]
        option, *values = before[
            max((at for at, word in enumerate(before) if word[:1] == "-"), default=0) :
        ] or [""]
        if values and any(option in each.opts and each.multiple for each in self.get_params(ctx)):
            raise UsageError(
                f"unexpected argument {stray!r}; {option} is repeated for each value: "
                + " ".join(f"{option} {value}" for value in [*values, stray])
            )

    def _shown(self, ctx: Any, params: list[Any]) -> set[str] | None:  # noqa: ANN401 (the same)
        """Return the names of the options that the help shows; None for all."""
        listed = [p for p in params if p.param_type_name == "option" and p.name != "help"]
        if len(listed) <= MOST_SHOWN:
            return None
        return {*_SHOWN[_path_of(ctx)].split(), "help"}


class WithSettings(Command):
    """A command that leaves the options it does not know, each with its value, in its context's `args`.

    typer alone would leave the options and take their values for its own arguments.
    """

    allow_extra_args = True
    _takes_any = True

    def _parse(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (typer's own, passed on)
        taken = {
            spelling: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for spelling in (*parameter.opts, *parameter.secondary_opts)
            if spelling.startswith("-")
        }
        own, settings = split_settings(args, taken)
        ctx.args = [*super()._parse(ctx, [*own]), *settings]
        test_set, source = ctx.params.get("test_set", own), ctx.params.get("source")
        if test_set is None and not source:
            _refuse_eaten(settings)
        elif source and test_set not in (None, own):
            self._refuse_listed(ctx, own, str(test_set))
        return ctx.args  # type: ignore[no-any-return]


_BOUND: Final = re.compile(r"\bx(?=[<>]=?)")
"""typer's name of a value in its bounds, as in `x>=1`."""


def _argument_name(parameter: Any) -> str:  # noqa: ANN401 (typer's own)
    return str(parameter.metavar or parameter.name.upper())


def _name_of(parameter: Any) -> str:  # noqa: ANN401 (typer's own)
    return str(next(word for word in parameter.opts if word.startswith("--"))).lstrip("-")


def _path_of(ctx: Any) -> str:  # noqa: ANN401 (typer's own)
    return str(ctx.command_path.removeprefix(ctx.find_root().command_path).strip())


def _expanded(words: list[str], options: Mapping[str, Any], *, takes_any: bool) -> Iterator[str]:
    waiting = iter(words)
    for word in waiting:
        option, separator, value = word.partition("=")
        if option != "--set":
            yield word
            continue
        given = value if separator else next(waiting, "")
        name, separator, value = given.partition("=")
        if not separator:
            raise UsageError(f"--set takes NAME=VALUE, such as --set seed=1; got {given!r}")
        yield from _as_words(name, value, options, "--set", takes_any=takes_any)


def _as_words(
    name: str, value: object, options: Mapping[str, Any], where: str, *, takes_any: bool
) -> Iterator[str]:
    name = name.strip().replace("_", "-")
    if name not in options and not takes_any:
        hint = nearest(name, options, most=1) or "; --all-options shows all"
        raise UsageError(f"{where}: there is no option {name!r}{hint}")
    if getattr(options.get(name), "is_flag", False):
        on, off = [f"--{name}"], options[name].secondary_opts[:1]
        words = {"yes": on, "true": on, "no": off, "false": off}
        if (word := str(value).lower()) not in words:
            raise UsageError(f"{where}: {name} is yes or no; got {value!r}")
        yield from words[word]
    else:
        yield f"--{name}={value}"


def _read_defaults(
    ctx: Any,  # noqa: ANN401 (typer's own)
    options: Mapping[str, Any],
    typed: set[str],
    *,
    takes_any: bool,
) -> tuple[list[str], list[str]]:
    words: list[str] = []
    said = []
    above = {name for name, each in options.items() if typed & {*each.opts, *each.secondary_opts}}
    above |= {word.lstrip("-") for word in typed}
    if os.environ.get("ADJUDGE_MODEL"):
        above.add("model")
    has_key_alone = bool(above & {"key-env", "key-file"}) and "base-url" not in above
    for file, table in settings_files():
        from adjudge.llm.credentials import counting

        # What stands in no table is of every command: `llm/model_choice.py` and `llm/money.py` read it.
        of_all = table.keys() & {"model", "prices"} & options.keys()
        own = _table_of(file, table, ctx)
        if has_key_alone and "base-url" in own:
            raise UsageError(f"{file} names a base-url with keys of its own: add --base-url to your key, too")
        names = sorted(counting(own.keys() | of_all, above))
        above |= {*names}
        said += [f"{', '.join(names)} of {file}"] if names else []
        if idle := sorted(own.keys() & {"key-env", "key-file"} - above):
            said.append(f"{idle[0]} of {file} is not used, for no server is named beside it")
        where = f"{file}, [{_path_of(ctx).replace(' ', '.')}]"
        for name in filter(own.__contains__, names):
            values = own[name] if isinstance(own[name], list) else [own[name]]
            if len(values) > 1 and name in options and not options[name].multiple:
                raise UsageError(f"{where}: {name} takes one value; got {len(values)}")
            if name in options and options[name].type_descriptor.annotation in {Path, list[Path]}:
                values = [file.parent / str(value) for value in values]
            for value in values:
                words += _as_words(name, value, options, where, takes_any=takes_any)
    return words, said


def _table_of(file: Path, table: dict[str, Any], ctx: Any) -> dict[str, Any]:  # noqa: ANN401 (typer's own)
    table = {name: value for name, value in table.items() if name not in {"model", "prices"}}
    path, group = _path_of(ctx), ctx.find_root().command
    for word in path.split():
        for name, value in table.items():
            if not isinstance(value, dict):
                raise UsageError(
                    f"{file}: [{name}] must be a table; got {value!r}; options of `adjudge {path}` stand "
                    f"below [{path.replace(' ', '.')}]"
                )
            if name not in group.commands:
                raise UsageError(f"{file}: there is no command {name!r}{nearest(name, group.commands)}")
        table, group = table.get(word, {}), group.commands[word]
    return {name.replace("_", "-"): value for name, value in table.items()}


def _refuse_eaten(settings: list[str]) -> None:
    for option, value in pairwise(settings):
        if option.startswith("--") and "=" not in option and Path(value).exists():
            raise UsageError(
                f"{option} took {value!r} for its value; if it is the TEST_SET, say {option}=yes"
            )


def split_settings(arguments: list[str], taken: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Tell the words of a command from those of settings.

    The words of the command, and those of settings: options that it has not, each with its value. `--` ends
    the settings.
    """
    own: list[str] = []
    settings: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        if word == "--":
            return [*own, word, *reversed(waiting)], settings
        is_setting = word.startswith("--") and word.partition("=")[0] not in taken
        words = settings if is_setting else own
        words.append(word)
        has_value = (
            "=" not in word and not any(word.startswith("--") or word[:2] in taken for word in waiting[-1:])
            if is_setting
            else taken.get(word)
        )
        if has_value and waiting:
            words.append(waiting.pop())
    return own, settings


def read_settings(arguments: list[str]) -> dict[str, str]:
    """Read `--name value`, `--name=value` and `--flag` into settings of the judge."""
    settings: dict[str, str] = {}
    waiting = iter([*arguments, "--"])
    word = next(waiting)
    while word != "--":
        if not word.startswith("--"):
            raise UsageError(f"unexpected argument {word!r}; options start with --")
        name, separator, value = word[2:].partition("=")
        word = next(waiting)
        if not separator:
            value = "true"
            if not word.startswith("--"):
                value, word = word, next(waiting)
        if name.replace("-", "_") in {known.replace("-", "_") for known in settings}:
            raise UsageError(f"--{name} is given twice; say it once")
        settings[name] = value
    return settings
