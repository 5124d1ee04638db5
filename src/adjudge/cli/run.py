"""`adjudge run`: judge a test set with a judge or a metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from adjudge.cli.exits import ERROR, FAILURES
from adjudge.cli.options import (
    LimitOption,
    LpOption,
    ReferencesOption,
    SourceOption,
    SystemsOption,
    TestSetArgument,
    TranslationsOption,
    load_chosen,
)
from adjudge.cli.output import print_note
from adjudge.core.judge import Profile
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.runs.job import Job, Options
    from adjudge.runs.session import Outcome

__all__ = ["CONTEXT_SETTINGS", "command"]

CONTEXT_SETTINGS: Final = {"allow_extra_args": True, "ignore_unknown_options": True}


def command(
    context: typer.Context,
    *,
    judge: Annotated[
        str, typer.Argument(metavar="JUDGE|METRIC", help="A name of `adjudge list judges|metrics`.")
    ],
    test_set: TestSetArgument = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Run directory; an interrupted run goes on in it.")
    ] = ...,  # type: ignore[assignment]
    lp: LpOption = None,
    systems: SystemsOption = None,
    limit: LimitOption = None,
    source: SourceOption = None,
    translation: TranslationsOption = None,
    reference_file: ReferencesOption = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="provider/model, or role=provider/model; repeat for roles. `adjudge list models`."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Any OpenAI-compatible server, up to /v1.")] = None,
    key_env: Annotated[str | None, typer.Option(help="Environment variable that holds the key.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="File that holds the key.")] = None,
    served_as: Annotated[
        str | None, typer.Option(help="Name that the server gives the model, if another; `any` for any.")
    ] = None,
    profile: Annotated[
        Profile, typer.Option(help="Our advice, the paper, or the paper's code.")
    ] = "recommended",
    prompts: Annotated[Path | None, typer.Option(help="Folder of prompts in place of ours.")] = None,
    json_schema: Annotated[
        Literal["auto", "on", "off"],
        typer.Option(help="Hold answers to a JSON schema; auto: where it works."),
    ] = "auto",
    concurrency: Annotated[int, typer.Option(min=1, help="Calls at a time.")] = 20,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one attempt.")] = 180.0,
    context_size: Annotated[
        int, typer.Option("--context", min=0, help="Show the N segments before in the document.")
    ] = 0,
    terms: Annotated[Path | None, typer.Option(help="Glossary: source, tab, translation.")] = None,
    reference: Annotated[str | None, typer.Option(help="Reference to show, if there are several.")] = None,
    store: Annotated[Path | None, typer.Option(help="Call store that several runs share.")] = None,
    seed: Annotated[int, typer.Option(help="Of sampling, where the temperature is not 0.")] = 0,
    max_failed: Annotated[str, typer.Option(help="More failures than this end with exit code 3.")] = "1%",
    reparse: Annotated[
        bool, typer.Option("--reparse", help="Read stored answers again, ask nothing.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count units and calls, send nothing.")] = False,
) -> None:
    """Judge a test set with a judge or a metric; the same command goes on where it was stopped.

    A judge's own settings are options too, such as --steps 1; `adjudge show JUDGE` lists them.
    """
    from adjudge.runs.job import prepare
    from adjudge.runs.run import run_to_end
    from adjudge.runs.session import execute

    allowed = read_share(max_failed)
    files = (source, translation, reference_file)
    options: Options = {
        "model": model or [],
        "base_url": base_url,
        "key_env": key_env,
        "key_file": key_file,
        "served_as": served_as,
        "profile": profile,
        "prompts": prompts,
        "settings": read_settings(context.args),
        "json_schema": json_schema,
        "concurrency": concurrency,
        "timeout": timeout,
        "context": context_size,
        "terms": terms,
        "reference": reference,
        "store": store,
        "seed": seed,
        "reparse": reparse,
        "progress": True,
    }
    job = prepare(judge, load_chosen(test_set, lp, files, systems, limit), out, **options)
    for note in job.notes:
        print_note(note)
    if dry_run:
        _print_plan(job)
        return
    try:
        outcome = run_to_end(execute(job))
    except KeyboardInterrupt:  # typer would leave without a word
        print_note("stopped; the same command goes on where it stopped")
        raise typer.Exit(ERROR) from None
    _print_summary(job, outcome)
    failed, judged = outcome.info.counts["failed"], outcome.info.counts["judged"]
    if failed > allowed * (failed + judged):
        raise typer.Exit(FAILURES)


def read_settings(arguments: list[str]) -> dict[str, str]:
    """Read `--name value`, `--name=value` and `--flag` into settings of the judge.

    Raises:
        UsageError: a word that belongs to no option.
    """
    settings: dict[str, str] = {}
    waiting = iter([*arguments, "--"])
    word = next(waiting)
    while word != "--":
        if not word.startswith("--"):
            raise UsageError(f"nothing is known of {word!r}; options start with --")
        name, separator, value = word[2:].partition("=")
        word = next(waiting)
        if not separator:
            value = "true"
            if not word.startswith("--"):
                value, word = word, next(waiting)
        settings[name] = value
    return settings


def read_share(text: str) -> float:
    """Read `1%` or `0.01` as a share.

    Raises:
        UsageError: it is neither.
    """
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--max-failed must be a share such as 1% or 0.01, got {text!r}")
    return share


def _print_plan(job: Job) -> None:
    units = len(job.plan)
    print(f"units\t{units}")
    calls = getattr(job.annotator, "calls", (0, 0, 0))
    for name, count in zip(("min", "typical", "max"), calls, strict=True):
        print(f"calls {name}\t{count * units}")
    print_note(f"{job.signature}\nnothing was sent; re-asked answers come on top")


def _print_summary(job: Job, outcome: Outcome) -> None:
    info, tally = outcome.info, outcome.tally
    for note in outcome.notes:
        print_note(note)
    reasons = ", ".join(f"{reason} {count}" for reason, count in info.failures.items())
    failed = f"{info.counts['failed']} failed" + (f" ({reasons})" if reasons else "")
    parts = [f"{info.counts['judged']} judged", failed]
    if job.models is not None:
        tokens = tally.usage.prompt + tally.usage.completion
        parts += [f"{tally.asked} calls", f"{tally.from_store} from the store", f"{tokens} tokens"]
    print_note(f"{', '.join(parts)}, {outcome.seconds:.1f} s -> {job.out}")
    print_note(str(info.signature))
