"""Commands about judges: `adjudge run`, `forecast`, `show`, `calibrate` and `new-judge`."""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from adjudge.cli.main import RESUMABLE, parting
from adjudge.cli.options import (
    FormatOption,
    TestSetArgument,
    Without,
    check_failures,
    check_sight,
    naming_the_nearest,
    print_note,
    print_result,
    print_text,
    read_settings,
    state_words,
)
from adjudge.core.judge import Profile
from adjudge.core.verb import LanguagePair, Name, Option, settings
from adjudge.core.wording import command, count, form
from adjudge.errors import UsageError
from adjudge.formats.read import read_judgements
from adjudge.reports.tables import Table, TableFormat, number
from adjudge.runs.job import CalibrateSettings, ForecastSettings, Lacking, RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.analysis.preferences import TieAgreement
    from adjudge.core.judge import Judge
    from adjudge.core.segment import TestSet
    from adjudge.runs.forecast import Forecast
    from adjudge.runs.job import Job
    from adjudge.runs.session import Outcome
    from adjudge.runs.units import Annotator

_EXAMPLES: Final = 3
_EXAMPLE: Final = 200  # characters


def _names(incomplete: str) -> list[str]:
    from adjudge.judges import JUDGES
    from adjudge.metrics import METRICS
    from adjudge.runs.units import names_in

    names = [*names_in("adjudge.judges", JUDGES), *names_in("adjudge.metrics", METRICS)]
    return [name for name in names if name.startswith(incomplete)]


JudgeArgument = Annotated[
    str,
    typer.Argument(
        metavar="JUDGE|METRIC", help="A name of `adjudge list judges|metrics`.", autocompletion=_names
    ),
]


def run_command(
    ctx: typer.Context,
    *,
    judge: JudgeArgument,
    test_set: TestSetArgument = None,
    options: ForecastSettings,
) -> None:
    """Judge a test set with a judge or a metric; the same command resumes an interrupted run.

    A judge's own settings are options too, such as --steps 1 of ea-prompt; `adjudge show JUDGE` lists them.
    """
    from adjudge.runs.engines import carry_out
    from adjudge.runs.session import run_to_end

    job = make_job(ctx, judge, test_set, options)
    if options.out is None and not options.dry_run:
        raise UsageError("Missing option '--out' / '-o': the run's directory")
    lines = {
        lp: f"{count(len(names), 'system')}: "
        + ", ".join(f"{n} (a reference too)" if n in job.plan.test_set.references else n for n in names)
        for lp, names in job.plan.systems.items()
    }
    are_alike = len(set(lines.values())) == 1
    for line in [*lines.values()][:1] if are_alike else (f"{lp}: {line}" for lp, line in lines.items()):
        print_note(line)
    if options.dry_run:
        print_forecast(job, "table")
        return
    announce(job)
    with parting("stopped; nothing was written" if job.models is None else RESUMABLE):
        outcome = run_to_end(carry_out(job))
    notes: tuple[str, ...] = ()
    if outcome.info.kind == "judge" and not outcome.info.counts["pending"]:
        from adjudge.analysis.blindness import sight_notes
        from adjudge.store.run_directory import read_run

        notes = sight_notes(read_run(job.out, job.plan.test_set))
    for note in notes:
        print_note(note)
    print_summary(job, outcome)
    check_failures(outcome.info, options.max_failed)
    check_sight(notes)


def make_job(
    ctx: typer.Context, judge: Annotator | str, test_set: TestSet | Path | None, options: RunSettings
) -> Job:
    """Make what the options ask for, and tell what a person must know beforehand."""
    from adjudge.runs.job import prepare

    own = read_settings(ctx.args) if isinstance(judge, str) else None
    with naming_the_nearest(ctx):
        job = prepare.by(judge, test_set, replace(options, settings=own, progress=True))
    for note in job.notes:
        print_note(note)
    return job


def print_summary(job: Job, outcome: Outcome) -> None:
    """Tell a person how a session went."""
    from adjudge.llm.money import render_price

    info, tally = outcome.info, outcome.tally
    for note in outcome.notes:
        print_note(note)
    parts = [state_words(info)]
    if outcome.identical:
        parts.append(f"{count(outcome.identical, 'pair')} of one text, not asked")
    if outcome.inconsistent:
        parts.append(f"{count(outcome.inconsistent, 'verdict')} changed with the order")
    if job.models is not None:
        tokens = tally.usage.prompt + tally.usage.completion
        parts.append(count(tally.asked, "question") + " asked")
        if tally.from_store:
            parts.append(count(tally.from_store, "answer") + " taken from the store")
        if tally.shared:
            parts.append(f"{count(tally.shared, 'question')} shared with the same one of another unit")
        parts.append(f"{tokens} tokens")
    if job.prices:
        price = render_price(info.price, info.currency)
        parts.append(price if info.price is None else f"{price} paid in all")
    print_note(f"{', '.join(parts)}, {outcome.seconds:.1f} s -> {job.out}")
    print_lost(info.calls)
    for reason, detail in list(outcome.examples.items())[:_EXAMPLES]:
        print_note(f"first {reason}: {' '.join(detail.split())[:_EXAMPLE]}")
    if outcome.examples:
        print_note(f"`{command('trace', job.out)}` shows them all")
    print_note(str(info.signature))


def print_lost(calls: Mapping[str, int]) -> None:
    """Say of how many calls nobody knows whether they were paid."""
    if lost := calls.get("lost", 0):
        print_note(
            f"{count(lost, 'call')} {form(lost, 'was', 'were')} in flight when the run was killed; "
            f"{form(lost, 'it', 'they')} may have been paid"
        )


_BEGUN_BEFORE_A_RUN: Final = 1000  # judgements; a person waits


def forecast_command(
    ctx: typer.Context,
    *,
    judge: JudgeArgument,
    test_set: TestSetArgument = None,
    options: Annotated[ForecastSettings, Without("dry_run", "max_failed")],
    form: FormatOption = "table",
) -> None:
    """Estimate the calls and the cost of a run. Nothing is sent, and no key is needed.

    The command takes all options of `adjudge run`.
    """
    print_forecast(make_job(ctx, judge, test_set, replace(options, dry_run=True)), form)


def print_forecast(job: Job, form: TableFormat) -> None:
    """Print what a job would ask and cost."""
    from adjudge.llm.asking import CONFIRM
    from adjudge.llm.money import estimate_text, render_price
    from adjudge.runs.forecast import forecast_job
    from adjudge.runs.session import run_to_end

    found = run_to_end(forecast_job(job))
    notes = [str(job.signature)]
    if job.models is not None and job.models.is_paid and job.settings["json_schema"] == "auto":
        used = cast("Mapping[str, str]", job.settings["json_schema_used"])
        notes.append("--json-schema auto: " + ", ".join(f"{how} for {name}" for name, how in used.items()))
    if getattr(job.annotator, "profile", "") == "recommended" and found.calls.typical:
        reply = found.completion.typical / found.calls.typical
        asked = estimate_text(CONFIRM).typical + reply
        notes.append(
            f"a reply with words beside its answer is shown back once, for about {asked:,.0f} tokens and "
            f"{reply:,.0f} of its answer; a server that holds the model to the schema sends none"
        )
    notes += _notes(found)
    price = ["price", "unknown", "unknown", "unknown"]
    if found.price is not None:
        name = f"price, {found.currency}" if found.currency else "price"
        price = [name, *(render_price(part, "") for part in found.price)]
    rows = [
        ["units", "", f"{found.units:,}", ""],
        ["calls", *(f"{count:,}" for count in found.calls)],
        ["prompt tokens", *(f"{count:,}" for count in found.prompt)],
        ["completion tokens", *(f"{count:,}" for count in found.completion)],
        price,
        ["minutes", "", "unknown" if found.seconds is None else f"{found.seconds / 60:,.1f}", ""],
    ]
    print_result(
        form,
        Table(columns=["", ">at least", ">typically", ">at most"], rows=rows, notes=notes),
        found.to_json(),
        notes,
    )


def announce(job: Job) -> None:
    """Say on one line what a run will cost, where it costs anything."""
    from adjudge.runs.forecast import forecast_job
    from adjudge.runs.session import run_to_end

    if not job.prices or job.options.reparse:
        return
    found = run_to_end(forecast_job(job, _BEGUN_BEFORE_A_RUN))
    least, typical, most = found.calls
    calls = f"{typical:,} {form(typical, 'call', 'calls')}" + (
        "" if least == most else f" ({least:,} to {most:,})"
    )
    tokens = f"about {found.prompt.typical + found.completion.typical:,} tokens"
    dated = "" if found.price_date is None else f" at prices of {found.price_date}"
    print_note(f"forecast: {calls}, {tokens}, {_span(found)}{dated}")


def _span(found: Forecast) -> str:
    from adjudge.llm.money import render_price

    if found.price is None:
        return "price unknown"
    least, typical, most = (render_price(price, "") for price in found.price)
    return f"{typical} {found.currency} ({least} to {most})"


def _notes(found: Forecast) -> Iterator[str]:
    if not (found.calls.max or found.stored):
        yield "no model is asked"
        return
    if found.stored:
        yield f"{found.stored:,} answers are kept from before; asking for them is not in these numbers"
    if found.seen:
        yield f"tokens are estimated, and corrected by {found.seen:,} answered calls"
    else:
        yield "tokens are estimated from the scripts of the texts, without a tokenizer"
    if found.seconds is None:
        yield "calls go out in batches, wave by wave; the provider answers a wave within a day"
    if found.price is None:
        yield "the price of the model is not known; --prices FILE tells it"
    elif found.price_date is not None:
        yield f"prices of {found.price_date}"
    yield "answers that cannot be read are asked for again and come on top; nothing was sent"


_MARK: Final = "0123456789abcdef"
_LOOKED_AT: Final = 8


@settings
class ShowSettings:
    """About which translation a judge's messages are shown."""

    segment: Annotated[
        Path | None, Option(help="Test set whose first segment is shown; default: an example.")
    ] = None
    system: Annotated[Name | None, Option(help="System whose translation is judged.")] = None
    lp: LanguagePair = None
    profile: Annotated[Profile, Option(help="Follow our advice, the paper, or the paper's code.")] = (
        "recommended"
    )
    prompts: Annotated[Path | None, Option(help="Folder of your own prompts.")] = None
    differs: Annotated[bool, Option(help="Show in which points the judge differs from its paper.")] = False


def show_command(
    ctx: typer.Context,
    *,
    judge: Annotated[str, typer.Argument(help="A name of `adjudge list judges`.")],
    settings: ShowSettings,
    form: FormatOption = "table",
) -> None:
    """Show every message of a judge about one segment, with the embedded rules in the model's place.

    The digits of the delimiters are drawn anew for every run. Nothing is sent anywhere.
    """
    import asyncio

    from adjudge import examples
    from adjudge.core.segment import TestSet
    from adjudge.formats.read import load
    from adjudge.judges import differences
    from adjudge.llm.model_choice import EMBEDDED, open_model
    from adjudge.llm.providers import Connection
    from adjudge.runs.conversation import exchange_to_json, rehearse, render_exchange
    from adjudge.runs.job import refuse_options
    from adjudge.runs.units import code_of, criteria_of, is_judge, kind_of, load_annotator, plan_units

    with naming_the_nearest(ctx):
        shown = load_annotator(
            judge,
            profile=settings.profile,
            prompts=settings.prompts,
            settings=read_settings(ctx.args),
        )
    if code_of(shown):
        refuse_options(shown)
    if not is_judge(shown):
        raise UsageError(f"{judge} is a metric: it has no messages")
    if settings.differs:
        points = differences(shown)
        rows = [[str(number), point] for number, point in enumerate(points, start=1)]
        print_result(form, Table(columns=["point", "difference"], rows=rows), {"differs": points})
        return
    test_set = load(settings.segment or examples.path("test_set.jsonl"), lp=settings.lp)
    model = open_model(EMBEDDED, Connection()).model
    first = test_set if settings.segment is None else replace(test_set, segments=test_set.segments[:1])
    known = first.systems
    if not known or settings.system not in {None, *known}:
        raise UsageError(
            f"{first.name!r} has no system {settings.system!r}; it has {', '.join(known) or 'none'}"
        )
    plan = plan_units(
        TestSet(name=first.name, segments=first.segments[:_LOOKED_AT]),
        with_reference=shown.with_reference,
        reference=next(iter(first.references), None) if shown.with_reference else None,
        kind=kind_of(shown),
        criteria=criteria_of(shown),
    )
    tries = (
        unit.subject
        for unit in plan
        if unit.is_there and (settings.system is None or settings.system in unit.subject.systems)
    )
    rehearsals = (asyncio.run(rehearse(shown, subject, model)) for subject in tries)
    exchanges = max(  # of our examples, one that every stage speaks of
        rehearsals,
        key=lambda each: (len(each), sum(len(e.reply.text) for e in each if e.reply is not None)),
        default=[],
    )
    if form == "table":
        for number, exchange in enumerate(exchanges, start=1):
            print_text(render_exchange(exchange, number, _MARK) + "\n")
    else:
        rows = [[e.use.stage, e.use.role, "" if e.reply is None else e.reply.text] for e in exchanges]
        data = {"judge": judge, "exchanges": [exchange_to_json(e, _MARK) for e in exchanges]}
        print_result(form, Table(columns=["stage", "role", "reply"], rows=rows), data)
    for note in _notes_on(shown, first, settings):
        print_note(note)
    print_note(f"nothing was sent; the replies are those of {EMBEDDED}, fixed rules")


def _notes_on(judge: Judge, test_set: TestSet, settings: ShowSettings) -> Iterator[str]:
    """What one must know of a judge beside its messages."""
    from adjudge.judges import profile_note
    from adjudge.judges._prompts import VERBATIM
    from adjudge.runs.units import adapter_of, kind_of, options_of

    yield "\n  ".join(["settings:", *options_of(judge)])
    yield f"prompts: {judge.prompts_digest}"
    yield from profile_note(judge)
    if (adapter := adapter_of(judge)) is not None and adapter.is_verbatim:
        yield VERBATIM
    if settings.system is not None and kind_of(judge) == "source":
        yield f"{judge.name} judges all translations of a source together, so that all systems are shown"
    if isinstance(judge, Lacking):
        yield from judge.lacking(test_set.lps)


def calibrate_run(judge: str, run: Path | None, options: CalibrateSettings, form: TableFormat) -> None:
    """Print the threshold under which a run's preferences agree best with gold."""
    from adjudge.analysis.preferences import calibrate_ties, preferences_of
    from adjudge.core.judge import is_pair_judge
    from adjudge.formats.join import put_together
    from adjudge.judges import JUDGES, load_judge
    from adjudge.store.run_directory import read_run_info

    if judge in JUDGES and not is_pair_judge(load_judge(judge)):
        raise UsageError(f"--gold is for judges of pairs, and {judge} is none; leave it out")
    if run is None:
        raise UsageError(f"with --gold, give the run of {judge} in place of TEST_SET")
    info = read_run_info(run)
    if info.annotator != judge:
        raise UsageError(f"{run} is a run of {info.annotator}, not of {judge}")
    if threshold := info.signature.fields.get("tie_threshold"):
        raise UsageError(f"{run} was made with tie_threshold {threshold}; calibrate a run without one")
    both = [
        read_judgements(path, options.lp).warn().of_one_kind(options.lp) for path in (run, options.gold or "")
    ]
    sides, notes = put_together(both, "translations", options.mismatched)
    found = calibrate_ties(*map(preferences_of, sides))
    for note in notes:
        print_note(note)
    rows = [{**vars(one), "before": one.before._asdict(), "after": one.after._asdict()} for one in found]
    cells = [
        [one.criterion, name, f"{threshold:.6g}", *_cells(agreement), held_out]
        for one in found
        for name, threshold, agreement, held_out in (
            ("as they are", 0.0, one.before, ""),
            ("best threshold", one.threshold, one.after, number(one.held_out, 3)),
        )
    ]
    shares = [">agreement", ">on ranked pairs", ">on tied pairs", ">ties", ">both, held out"]
    below = [
        f"{one.criterion}: {one.n} comparisons; gold ties {one.tied} of them"
        + (f"; {one.split} without a majority are left out." if one.split else ".")
        for one in found
    ]
    below.append(
        "The best threshold has the highest mean of the agreements on ranked and on tied pairs; held out: "
        "that mean where the threshold was chosen on other segments."
    )
    table = Table(columns=["criterion", "verdicts", ">threshold", *shares], rows=cells, notes=below)
    print_result(form, table, {"criteria": rows})
    said = ",".join(f"{one.criterion}={one.threshold:.6g}" for one in found)
    is_alone = len(found) == 1 and found[0].criterion == "overall"
    told = said.partition("=")[2] if is_alone else said
    print_note(f"use it with: {command('run', judge, '...', '--tie-threshold', told)}")


def _cells(agreement: TieAgreement) -> list[str]:
    shares = (agreement.all, agreement.ranked, agreement.tied)
    return [*(number(share, 3) for share in shares), str(agreement.ties)]


def calibrate_command(
    ctx: typer.Context,
    *,
    judge: JudgeArgument,
    test_set: TestSetArgument = None,
    options: Annotated[CalibrateSettings, Without("dry_run", "samples", "temperature")],
    form: FormatOption = "table",
) -> None:
    """Find a judge's threshold: HiMATE's for discussion, or that of ties of a judge of pairs.

    For himate: the confidence up to which himate discusses an error, by language pair. TEST_SET is a
    validation set: other texts than those to be judged, about a tenth as many. The command takes the options
    of `adjudge run`. What is asked is kept beside FILE, in FILE.run, and the same command goes on where it
    was stopped.

    For a judge of pairs, such as fire: TEST_SET is a run with measured preferences, and --gold has the
    verdicts of people. Nothing is asked; the --tie-threshold that agrees best with them is printed.
    """
    from adjudge.runs.calibration import acalibrate
    from adjudge.runs.session import run_to_end
    from adjudge.store.run_directory import write_calibration

    if options.gold is not None:
        _refuse(read_settings(ctx.args), "nothing is asked with --gold")
        calibrate_run(judge, test_set, options, form)
        return
    chosen, out = _judge(ctx, judge, options)
    asked = options.without("profile", "prompts", "explain_in")
    folder = out.with_name(f"{out.name}.run")
    job = make_job(ctx, chosen, test_set, replace(asked, out=folder))
    with parting(RESUMABLE):
        calibration, outcome = run_to_end(acalibrate(job, options.percentile))
    write_calibration(out, calibration)
    data = {**asdict(calibration), "digest": calibration.digest}
    rows = [
        [lp, f"{t.threshold:.6g}", f"{t.confidences}", f"{t.below}", f"{t.judged}", f"{t.failed}"]
        for lp, t in calibration.thresholds.items()
    ]
    columns = ["lp", ">threshold", ">confidences", ">not above it", ">judged", ">failed"]
    made = f"{calibration.judge} with {calibration.model}: percentile {calibration.percentile:g}"
    notes = [f"{made} of confidences by {calibration.confidence}; digest {calibration.digest}"]
    notes += [
        f"{lp}: every confidence is {t.threshold:.6g}, so that every error that stands is discussed"
        for lp, t in calibration.thresholds.items()
        if t.below == t.confidences
    ]
    print_result(form, Table(columns=columns, rows=rows, notes=notes), data)
    use = command("run", calibration.judge, "...", "--threshold", out)
    for note in (*outcome.notes, f"use it with: {use}"):
        print_note(note)
    check_failures(outcome.info, options.max_failed)


def _judge(ctx: typer.Context, name: str, options: RunSettings) -> tuple[Judge, Path]:
    from adjudge.runs.calibration import for_calibration
    from adjudge.runs.units import load_annotator

    settings = read_settings(ctx.args)
    if options.explain_in is not None:
        settings["explain-in"] = options.explain_in
    with naming_the_nearest(ctx):
        judge = load_annotator(
            name, profile=options.profile, prompts=options.prompts_folder, settings=settings
        )
    if options.out is None:
        raise UsageError(
            "add --out FILE, the file of the threshold; for a judge of pairs add --gold FILE instead"
        )
    calibrated = for_calibration(judge)
    fields = {name: name.replace("-", "_") for name in settings}
    lost = [name for name, each in fields.items() if getattr(judge, each) != getattr(calibrated, each, None)]
    _refuse(lost, "a calibration sets that itself")
    return calibrated, Path(options.out)


def _refuse(settings: Iterable[str], why: str) -> None:
    """Refuse a setting that would go unheard."""
    for name in settings:
        raise UsageError(f"{why}: leave --{name} out")


_NAME: Final = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")


def new_judge_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the judge, such as my-judge.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder to write; default: NAME.")] = None,
) -> None:
    """Write a package with a judge of your own: the judge, its prompts, its test, a README.

    The package runs unchanged, also offline. Nothing is installed; the README says how to install it.
    """
    from adjudge import examples
    from adjudge.judges import JUDGES
    from adjudge.metrics import METRICS
    from adjudge.runs.units import names_in
    from adjudge.store.files import make_folder

    module, folder = name.replace("-", "_"), out or Path(name)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a judge's name is words of small letters and digits with '-' between them, got {name!r}"
        )
    if name in {*names_in("adjudge.judges", JUDGES), *names_in("adjudge.metrics", METRICS)}:
        raise UsageError(f"there is a judge or a metric {name!r} already; take another name")
    if keyword.iskeyword(module) or find_spec(module) is not None:
        raise UsageError(f"Python has a word or a module {module!r} already; take another name")
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists already; give --out another folder. Nothing was written")
    kind = "".join(word.capitalize() for word in name.split("-")).removesuffix("Judge") + "Judge"
    words = {"my-judge": name, "my_judge": module, "MyJudge": kind}
    template = examples.path("new_judge")
    make_folder(folder)
    for file in sorted(path for path in template.rglob("*") if path.is_file()):
        place, text = (
            re.sub("|".join(words), lambda found: words[found[0]], old)
            for old in (file.relative_to(template).as_posix(), file.read_text("utf-8"))
        )
        (written := folder / place.removesuffix(".txt")).parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, "utf-8", newline="\n")
    print_note(f"judge {name} -> {folder}; {folder / 'README.md'} says how to test, show and run it")
