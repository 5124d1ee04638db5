"""`adjudge run`: judge a test set with a judge or a metric."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from adjudge.cli.failures import MaxFailedOption, check_failures
from adjudge.cli.options import (
    LimitOption,
    LpOption,
    ReferencesOption,
    SourceOption,
    SystemsOption,
    TestSetArgument,
    TranslationsOption,
    existing,
    naming_the_nearest,
)
from adjudge.cli.output import print_note
from adjudge.cli.settings import WithSettings, read_settings
from adjudge.cli.stops import RESUMABLE, parting
from adjudge.core.judge import Profile
from adjudge.core.wording import read_share

if TYPE_CHECKING:
    from adjudge.core.segment import TestSet
    from adjudge.runs.job import Job
    from adjudge.runs.session import Outcome

__all__ = ["WithSettings", "command", "load_named", "make_job", "print_summary"]

_OWN: Final = frozenset({"judge", "test_set", "out", "context", "context_size", "dry_run", "form"})
"""Parameters of the command that are no options of `adjudge.run`, or have another name there."""

_OF_TEXTS: Final = frozenset({"lp", "systems", "limit", "source", "translation", "reference_file"})
_EXAMPLES: Final = 3
_EXAMPLE: Final = 200  # characters


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
    key_file: Annotated[Path | None, typer.Option(callback=existing, help="File that holds the key.")] = None,
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
    effort: Annotated[
        Literal["low", "medium", "high"] | None,
        typer.Option(help="How much the model thinks, where it can be told; docs/models.md."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Calls at a time at most; fewer where the server wants it.")
    ] = 20,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one attempt.")] = 180.0,
    context_size: Annotated[
        int, typer.Option("--context", min=0, help="Show the N segments before in the document.")
    ] = 0,
    terms: Annotated[
        Path | None, typer.Option(callback=existing, help="Glossary: source, tab, translation.")
    ] = None,
    pairs: Annotated[
        Literal["all", "sampled", "anchored", "adaptive", "listed"],
        typer.Option(help="Pairs that a judge of pairs compares: all, or fewer; docs/judges-fire.md."),
    ] = "all",
    pairs_per_segment: Annotated[int | None, typer.Option(help="Pairs sampled of each segment.")] = None,
    pairs_in_all: Annotated[int | None, typer.Option(help="Pairs sampled of all segments.")] = None,
    pairs_file: Annotated[
        Path | None, typer.Option(callback=existing, help="Pairs of `adjudge curate pairs`, and no others.")
    ] = None,
    anchors: Annotated[
        str | None,
        typer.Option(help="Systems that pairs are made with, by commas; of rate: growing or frozen."),
    ] = None,
    reference: Annotated[str | None, typer.Option(help="Reference to show, if there are several.")] = None,
    store: Annotated[Path | None, typer.Option(help="Call store that several runs share.")] = None,
    seed: Annotated[int, typer.Option(help="Of sampling, where the temperature is not 0.")] = 0,
    samples: Annotated[
        int | None, typer.Option(help="Judge each translation so often, and keep what most agree on.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="At which samples are drawn.")] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Of a judge that searches: files:DIR, http:URL, wikipedia...; docs/search.md.",
        ),
    ] = None,
    search_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the search engine's key.")
    ] = None,
    explain_in: Annotated[
        str | None, typer.Option(metavar="LANG", help="Explain each error in this language, such as de.")
    ] = None,
    max_failed: MaxFailedOption = "1%",
    reparse: Annotated[
        bool, typer.Option("--reparse", help="Read stored answers again, ask nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what failed; keep what was answered.")
    ] = False,
    prices: Annotated[
        Path | None,
        typer.Option(callback=existing, help="Your own prices, a TOML file; docs/forecast.md."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Stop before the run directory has cost more, such as 2.50.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(min=0, help="Stop before it has used more tokens.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Judge part 3 of 16 only: 3/16; then `adjudge merge OUT`. docs/scale-out.md."),
    ] = None,
    engine: Annotated[
        Literal["local", "ray", "batch"],
        typer.Option(
            help="Who carries it out: this process; Ray (docs/scale-out.md); the provider's batches "
            "(docs/batch.md)."
        ),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Of engine ray; one for each CPU of its cluster otherwise.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="As `adjudge forecast`: send nothing.")] = False,
) -> None:
    """Judge a test set with a judge or a metric; the same command goes on where it was stopped.

    A judge's own settings are options too, such as --steps 1; `adjudge show JUDGE` lists them.
    """
    values = dict(locals())
    from adjudge.cli.forecast import announce, print_forecast
    from adjudge.runs.engines import carry_out
    from adjudge.runs.run import run_to_end

    allowed = read_share(max_failed)
    job = make_job(values, out, dry=dry_run)
    for line in _systems(job):
        print_note(line)
    if dry_run:
        print_forecast(job, "table")
        return
    announce(job)
    with parting("stopped; nothing was written" if job.models is None else RESUMABLE):
        outcome = run_to_end(carry_out(job))
    print_summary(job, outcome)
    check_failures(outcome.info.counts, allowed)


def _systems(job: Job) -> Iterator[str]:
    """What is taken as a system; in some test sets references are. By language pair where these differ."""
    from adjudge.core.wording import count

    plan = job.plan
    lines = {
        lp: count(len(names), "system")
        + ": "
        + ", ".join(f"{n} (a reference too)" if n in plan.test_set.references else n for n in names)
        for lp, names in plan.systems.items()
    }
    if len(set(lines.values())) == 1:
        yield next(iter(lines.values()))
    else:
        yield from (f"{lp}: {line}" for lp, line in lines.items())


def make_job(values: Mapping[str, Any], out: Path, *, dry: bool, given: TestSet | None = None) -> Job:
    """Make what the options ask for, and tell what a person must know beforehand.

    Args:
        values: of every parameter of `command`, by name.
        out: run directory.
        dry: nothing will be sent.
        given: test set in place of the one that the options name.

    Raises:
        UsageError: something is unknown, unclear or contradicts.
    """
    from adjudge.runs.job import prepare
    from adjudge.runs.options import OF_NAMED, RunOptions, choose, keywords

    judge = values["judge"]
    options = {name: values[name] for name in keywords() - _OWN if values.get(name) is not None}
    options |= {"settings": read_settings(values["context"].args), "context": values["context_size"]}
    if not isinstance(judge, str):  # made of these options already
        options = {name: value for name, value in options.items() if name not in OF_NAMED}
    if given is not None:
        options = {name: value for name, value in options.items() if name not in _OF_TEXTS}
    test_set = values["test_set"] if given is None else given
    with naming_the_nearest(values["context"]):
        chosen, rest = choose(judge, test_set, cast("RunOptions", options))
        rest["dry"], rest["progress"] = dry, True
        job = prepare(judge, chosen, out, **rest)
    for note in job.notes:
        print_note(note)
    return job


def load_named(values: Mapping[str, Any]) -> TestSet:
    """The test set that the options name, with what was chosen of it.

    Raises:
        UsageError: it is not clear which.
    """
    from adjudge.data.load import load_chosen

    files = (values["source"], values["translation"], values["reference_file"])
    return load_chosen(values["test_set"], values["lp"], files, values["systems"], values["limit"])


def print_summary(job: Job, outcome: Outcome) -> None:
    """Tell a person how a session went."""
    from adjudge.core.wording import count
    from adjudge.llm.budget import render_price

    info, tally = outcome.info, outcome.tally
    for note in outcome.notes:
        print_note(note)
    reasons = ", ".join(f"{reason} {count}" for reason, count in info.failures.items())
    failed = f"{info.counts['failed']} failed" + (f" ({reasons})" if reasons else "")
    parts = [f"{info.counts['judged']} judged", failed]
    if outcome.identical:
        parts.append(f"{count(outcome.identical, 'pair')} of one text, not asked")
    if outcome.inconsistent:
        parts.append(f"{count(outcome.inconsistent, 'verdict')} changed with the order")
    if job.models is not None:
        tokens = tally.usage.prompt + tally.usage.completion
        parts.append(count(tally.asked, "question") + " asked")
        if tally.from_store:
            parts.append(count(tally.from_store, "answer") + " taken from the store")
        parts.append(f"{tokens} tokens")
    if job.prices:
        price = render_price(info.price, info.currency)
        parts.append(price if info.price is None else f"{price} paid in all")
    print_note(f"{', '.join(parts)}, {outcome.seconds:.1f} s -> {job.out}")
    for reason, detail in list(outcome.examples.items())[:_EXAMPLES]:
        print_note(f"first {reason}: {' '.join(detail.split())[:_EXAMPLE]}")
    if outcome.examples:
        print_note(f"`adjudge trace {shlex.quote(str(job.out))}` shows them all")
    print_note(str(info.signature))
