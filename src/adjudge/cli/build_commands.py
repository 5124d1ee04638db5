"""Commands that build test sets: `adjudge curate`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from adjudge.cli.judge_commands import make_job, print_summary
from adjudge.cli.main import RESUMABLE, parting
from adjudge.cli.options import (
    FormatOption,
    TestSetArgument,
    Without,
    changed_options,
    check_failures,
    existing,
    print_note,
    print_result,
)
from adjudge.core.scores import listed
from adjudge.core.wording import of_sight
from adjudge.curation.drafting import DraftSettings
from adjudge.curation.drawing import DrawSettings, ExampleSettings
from adjudge.curation.selecting import SelectSettings, Worth
from adjudge.curation.settling import Agreed, Gated, SettleSettings
from adjudge.curation.sources import FilterSettings
from adjudge.errors import UsageError
from adjudge.formats.read import TextSettings
from adjudge.reports.tables import Table, TableFormat
from adjudge.runs.job import ForecastSettings, RunSettings

if TYPE_CHECKING:
    from adjudge.analysis.eval_set import EvalSet
    from adjudge.core.record import Record
    from adjudge.core.segment import TestSet
    from adjudge.curation.questions import Gathered, Question


def curate_agreement_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", callback=existing, help="Human records: verdicts or ratings."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Records to write: majority verdicts, or ratings that passed."),
    ] = None,
    settings: SettleSettings,
    form: FormatOption = "table",
) -> None:
    """Settle people's verdicts as FiRE did: kappa, then the majority; pairs without one are dropped.

    Pairs are ranked or tied by the majority, easy where all people agree, and hard where they do not.
    Records without verdicts are ratings, and go through the gate of MENT: a segment fails where any two
    people's ratings of its systems correlate less than --threshold.
    """
    from adjudge.core.record import Preference
    from adjudge.formats.join import put_together
    from adjudge.formats.read import read_judgements

    given = [read_judgements(file, settings.lp).warn().of_one_kind(settings.lp) for file in files]
    read, notes = put_together(given, "translations", settings.mismatched)
    for note in notes:
        print_note(note)
    records = [record for each in read for record in each.records]
    if any(isinstance(record, Preference) for record in records):
        _settle(records, out, settings, form)
    else:
        from adjudge.curation.settling import gate_ratings
        from adjudge.store.json_lines import write_records

        found, kept = gate_ratings(records, settings.threshold, least_shared=settings.least_shared)
        data = {"threshold": settings.threshold, "least_shared": settings.least_shared}
        print_result(form, _gate_table(found, settings), data | {"lps": [_gated(each) for each in found]})
        if out is not None:
            write_records(out, kept)
            print_note(f"{len(kept)} ratings of segments that passed -> {out}")


def _gate_table(found: Sequence[Gated], settings: SettleSettings) -> Table:
    rows = [
        [
            *map(str, (g.lp, g.segments, g.passed, g.failed, g.undefined, g.unjudged)),
            "" if g.failed_share is None else f"{g.failed_share:.1%}",
        ]
        for g in found
    ]
    columns = ["lp", ">segments", ">passed", ">failed", ">undefined", ">unjudged", ">failed share"]
    notes = [
        f"failed: two people correlate below {settings.threshold:g} over its systems, or one rated all alike",
        f"unjudged: no two people rated {settings.least_shared} of its systems; such segments do not pass",
    ]
    return Table(columns=columns, rows=rows, notes=notes)


def _gated(gated: Gated) -> dict[str, object]:
    names = ("lp", "segments", "passed", "failed", "undefined", "unjudged", "failed_share")
    each = [
        {"segment": one.segment, "pairs": one.pairs, "lowest": one.lowest, "passes": one.passes}
        for one in gated.each
    ]
    return {name: getattr(gated, name) for name in names} | {"each": each}


def _settle(records: Sequence[Record], out: Path | None, settings: SettleSettings, form: TableFormat) -> None:
    from adjudge.curation.settling import settle
    from adjudge.store.json_lines import write_records

    found = settle(records, resamples=settings.resamples, seed=settings.seed)
    counts = [">people", ">judged", ">kappa", ">95 %", ">split", ">kept"]
    columns = ["lp", "criterion", *counts, ">ranked", ">tied", ">easy", ">hard"]
    notes = ["kappa: Fleiss', over all that were judged; split: pairs without a majority, dropped after it"]
    if alone := sum(agreed.alone for agreed in found):
        notes.append(f"{alone} pairs that only one person judged are left out")
    table = Table(columns=columns, rows=list(map(_row, found)), notes=notes)
    print_result(form, table, {"criteria": [_data(agreed) for agreed in found]})
    if out is not None:
        gold = [preference for agreed in found for preference in agreed.gold]
        write_records(out, gold)
        print_note(f"{len(gold)} verdicts -> {out}")


def _row(agreed: Agreed) -> list[str]:
    kappa, interval = agreed.kappa.value, agreed.kappa.interval
    shown = "" if kappa is None else f"{kappa:.2f}"
    between = "" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}"
    counts = (agreed.split, agreed.kept, agreed.ranked, agreed.tied, agreed.easy, agreed.hard)
    return [
        *(agreed.lp, agreed.criterion, f"{agreed.annotators}", f"{agreed.judged}", shown, between),
        *map(str, counts),
    ]


def _data(agreed: Agreed) -> dict[str, object]:
    names = ("lp", "criterion", "annotators", "judged", "alone", "split", "kept", "ranked", "tied")
    found: dict[str, object] = {name: getattr(agreed, name) for name in (*names, "easy", "hard")}
    found["kappa"] = agreed.kappa.value
    found["kappa_interval"] = listed(agreed.kappa.interval)
    found["reason"] = agreed.kappa.reason or None
    return found


T = TypeVar("T")

OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="Test set to write; FILE.run keeps the model's answers.")
]
_NOT_HERE: Final = (
    *("out", "reference", "profile", "samples", "temperature", "search", "search_key_env", "explain_in"),
    *("pairs", "pairs_per_segment", "pairs_in_all", "pairs_file", "anchors", "engine", "workers"),
)
"""Settings of a run that a question of curation has no use for."""


def ask(
    ctx: typer.Context,
    question: Question[T],
    asked: TestSet,
    options: RunSettings,
    form: TableFormat = "table",
) -> Gathered[T]:
    """Put a question of each segment, or say what that would cost; then leave."""
    from adjudge.cli.judge_commands import announce, print_forecast
    from adjudge.curation.questions import gather
    from adjudge.runs.session import run_to_end

    of_texts = ("lp", "systems", "limit", "source", "translation", "reference_file")
    job = make_job(ctx, question, asked, options.without("prompts", *of_texts))
    if options.dry_run:
        print_forecast(job, form)
        raise typer.Exit
    announce(job)
    with parting(RESUMABLE):
        gathered = run_to_end(gather(job, question))
    print_summary(job, gathered.outcome)
    return gathered


def run_folder(out: Path) -> Path:
    """Where it is kept what was asked for a file."""
    return out.with_name(f"{out.name}.run")


def curate_examples_command(
    *,
    annotations: Annotated[
        Path,
        typer.Option("--from", metavar="FILE", callback=existing, help="Human error marks with categories."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write, for `--prompts` of himate.")
    ],
    settings: ExampleSettings,
    form: FormatOption = "table",
) -> None:
    """Draw worked examples for each of himate's agents from translations that people annotated.

    Each subtype gets a translation with such an error, one with only another error (of the same source if
    possible), and one of that source without any error. Agents of which
    nobody marked an error have none, and judge without.
    """
    from adjudge.curation.drawing import draw_examples, write_examples

    sample = draw_examples.by(annotations, settings)
    write_examples(out, sample)
    lacking = {lp: list(names) for lp, names in sample.lacking.items()}
    left_out = {"too_long": sample.too_long, "unfit": sample.unfit}
    data = {
        "seed": settings.seed,
        "out": str(out),
        "pairs": len(sample.pairs),
        "lacking": lacking,
        **left_out,
    }
    rows = []
    for pair in sample.pairs:
        error, other = pair.error, pair.other
        own = next(e for e in error.annotation.spans if e.category == pair.category)
        against = ", ".join(dict.fromkeys(str(e.category) for e in other.annotation.spans))
        flags = (other.segment.source == error.segment.source, bool(pair.clean))
        where = [error.segment.segment, error.annotation.system, own.severity, against]
        rows.append([pair.category, error.segment.lp, *where, *("yes" if flag else "no" for flag in flags)])
    notes = [f"{lp}: no example of {', '.join(names)}" for lp, names in sample.lacking.items() if names]
    notes.append(
        f"left out: {sample.too_long} translations of more than {settings.longest} characters, and "
        f"{sample.unfit} annotations with an error that has no subtype, severity or place of its own"
    )
    columns = ["agent", "lp", "segment", "system", "severity", "beside", "same source", "clean"]
    print_result(form, Table(columns=columns, rows=rows, notes=[*notes, f"seed {settings.seed}"]), data)
    use = shlex.join(["--prompts", str(out)])
    print_note(f"{len(sample.pairs)} pairs of examples -> {out}; use them with: {use}")


def curate_filter_command(
    ctx: typer.Context,
    *,
    test_set: TestSetArgument = None,
    out: OutOption,
    settings: FilterSettings,
    options: Annotated[ForecastSettings, Without(*_NOT_HERE, "terms", "systems", "translation")],
    form: FormatOption = "table",
) -> None:
    """Keep the sources that are hardest to translate, as MENT did before anything was translated.

    A model says from 1 (word for word will do) to 10 (only a new text can do the same) how hard each source
    is, and why. Personal and offensive content is flagged. What failed has no score and is not kept.
    """
    from adjudge.curation.questions import blank
    from adjudge.curation.sources import PLACE, AskDifficulty, keep_hardest
    from adjudge.store.json_lines import write_test_set

    texts = options.load(test_set)
    question = AskDifficulty(prompts=options.prompts_folder)
    gathered = ask(ctx, question, blank(texts, [PLACE]), replace(options, out=run_folder(out)), form)
    kept = keep_hardest(texts, gathered.found, settings)
    write_test_set(out, kept.test_set)
    signature = str(gathered.outcome.info.signature)
    data = {"signature": signature, "out": str(out), "domains": [asdict(domain) for domain in kept.domains]}
    rows = [
        [
            *(d.lp, d.name or "all"),
            *map(str, (d.sources, d.rated, d.failed, d.personal, d.offensive, d.kept)),
            "" if d.mean is None else f"{d.mean:.2f}",
            "" if d.easiest is None else f"{d.easiest}",
        ]
        for d in kept.domains
    ]
    counts = [">sources", ">rated", ">failed", ">personal", ">offensive", ">kept"]
    columns = ["lp", "domain", *counts, ">mean difficulty", ">easiest kept"]
    print_result(form, Table(columns=columns, rows=rows, notes=[signature]), data)
    print_note(f"{len(kept.test_set)} sources -> {out}")
    check_failures(gathered.outcome.info, options.max_failed)


def curate_pairs_command(
    test_set: TestSetArgument = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="File of pairs to write, one JSON object a line.")],
    settings: DrawSettings,
    texts: TextSettings,
    form: FormatOption = "table",
) -> None:
    """Draw pairs of translations as FiRE did: even over systems and sources, none of one text.

    The pairs go to `adjudge run JUDGE --pairs-file FILE`, or to people: `adjudge campaign new --pairs-file`.
    """
    from adjudge.analysis.pair_schedules import write_pairs
    from adjudge.curation.drawing import draw_pairs

    sample = draw_pairs.by(texts.load(test_set), settings)
    write_pairs(out, sample.pairs)
    rows = [asdict(composition) for composition in sample.compositions]
    data = {"seed": settings.seed, "out": str(out), "pairs": len(sample.pairs), "compositions": rows}
    data["sources"] = {name: {str(n): k for n, k in each.items()} for name, each in sample.sources.items()}
    cells = [[c.lp, *c.systems, f"{c.there}", f"{c.identical}", f"{c.drawn}"] for c in sample.compositions]
    notes = [
        f"{lp}: sources by their number of pairs: " + ", ".join(f"{k} with {n}" for n, k in each.items())
        for lp, each in sample.sources.items()
    ]
    columns = ["lp", "first", "second", ">sources", ">identical", ">drawn"]
    notes.append(f"seed {settings.seed}")
    print_result(form, Table(columns=columns, rows=cells, notes=notes), data)
    print_note(f"{len(sample.pairs)} pairs -> {out}")


_BLIND: Final = frozenset({"random", "diversity"})
"""Ways that look at no score."""


def curate_select_command(
    test_set: Annotated[
        str, typer.Argument(metavar="TEST_SET", help="Test set, such as a folder of mt-metrics-eval or MENT.")
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Test set of the chosen segments.")] = None,
    settings: SelectSettings,
    form: FormatOption = "table",
) -> None:
    """Choose the segments that people annotate for a budget.

    Take the segments where the scores of systems vary, where metrics disagree, or whose n-grams are new.
    With --gold nothing is chosen: every way is tried on segments that are annotated already, and compared
    with random choices by how well it orders the systems and how far its means are from those of all.
    """
    from adjudge.analysis.eval_set import find_own_scores
    from adjudge.analysis.eval_set_files import read_eval_set
    from adjudge.formats.read import load

    if (settings.gold is None) == (out is None):
        raise UsageError("give either --out FILE to choose segments, or --gold to evaluate a choice")
    if out is not None and (settings.scores or settings.metrics) and settings.by in _BLIND:
        raise UsageError(f"--by {settings.by} looks at no scores: choose variance, disagreement or combined")
    found = read_eval_set(
        test_set,
        settings.lp,
        gold=None if settings.gold is None else [settings.gold],
        scores=find_own_scores(settings.scores, [settings.lp]),
        metrics=settings.metrics or (),
        mismatched=settings.mismatched,
    )
    for note in found.notes:
        print_note(note)
    texts = load(Path(test_set), found.lp)
    if out is None:
        from adjudge.curation.selecting import WAYS, simulate

        needed = {"variance": 1, "disagreement": 2}  # metrics
        ways = [way for way in WAYS if len(found.metrics) >= needed.get(way, 0)]
        worths = simulate(found, [s.source for s in texts], settings, ways=ways)
        (gold,) = found.golds
        told = f"{settings.draws} random choices, seed {settings.seed}; budget in {settings.unit}"
        notes = [
            *of_sight(found.notes),
            f"{found.lp}, gold {gold}, {len(found.metrics)} metrics, {told}",
            "beats random: share of random choices with a lower accuracy, equal ones half",
            "nearer: share of them with a larger error of gaps",
        ]
        data = {
            "lp": found.lp,
            "gold": gold,
            "draws": settings.draws,
            "seed": settings.seed,
            "unit": settings.unit,
        }
        columns = [">segments", "way", ">length", ">accuracy", ">of random", ">error of means"]
        columns += [">of gaps", ">beats random", ">nearer"]
        table = Table(columns=columns, rows=list(map(_select_row, worths)), notes=notes)
        print_result(form, table, {**data, "worth": [asdict(worth) for worth in worths]})
    else:
        _choose(found, texts, settings, out, form)


def _choose(found: EvalSet, texts: TestSet, wanted: SelectSettings, out: Path, form: TableFormat) -> None:
    import numpy as np

    from adjudge.curation.selecting import choose, priorities, read_budget
    from adjudge.store.json_lines import write_test_set

    values = priorities(found, [s.source for s in texts], wanted.by, seed=wanted.seed)
    costs = np.array(found.lengths if wanted.unit == "tokens" else [1] * len(texts), dtype=np.float64)
    places = choose(values, read_budget(wanted.budget, float(costs.sum())), costs)
    ranked = sorted(places, key=lambda place: -values[place])
    write_test_set(out, _marked(texts, wanted.by, ranked))
    of = "" if wanted.by in _BLIND else f" of {', '.join(found.metrics) or 'no metric'}"
    note = f"{found.lp}, by {wanted.by}{of}; budget in {wanted.unit}, seed {wanted.seed}"
    rows, listed = [], []
    for rank, place in enumerate(ranked, start=1):
        segment, value = texts.segments[place], float(values[place])
        rows.append([f"{rank}", segment.segment, segment.document, f"{value:.4g}"])
        listed.append({"segment": segment.segment, "value": value})
    data = {"lp": found.lp, "by": wanted.by, "metrics": list(found.metrics), "segments": listed}
    columns = [">rank", "segment", "document", ">value"]
    print_result(form, Table(columns=columns, rows=rows, notes=[*of_sight(found.notes), note]), data)
    print_note(f"{len(places)} of {len(texts)} segments -> {out}")


def _marked(texts: TestSet, by: str, ranked: Sequence[int]) -> TestSet:
    ranks = {place: rank for rank, place in enumerate(ranked, start=1)}
    segments = [
        replace(segment, meta={**segment.meta, "selected": {"by": by, "rank": ranks[place]}})
        for place, segment in enumerate(texts)
        if place in ranks
    ]
    return replace(texts, segments=tuple(segments))


def _select_row(worth: Worth) -> list[str]:
    between = "" if worth.low is None else f"{worth.low:.3f} to {worth.high:.3f}"
    shares = ["" if share is None else f"{share:.2f}" for share in (worth.beaten, worth.nearer)]
    numbers = (f"{worth.accuracy:.3f}", between, f"{worth.mean_error:.3f}", f"{worth.gap_error:.3f}")
    return [f"{worth.segments:.0f}", worth.way, f"{worth.length:.0%}", *numbers, *shares]


_WARM = 0.7


def curate_translate_command(
    ctx: typer.Context,
    *,
    test_set: TestSetArgument = None,
    out: OutOption,
    draft: DraftSettings,
    options: Annotated[ForecastSettings, Without(*_NOT_HERE)],
    form: FormatOption = "table",
) -> None:
    """Translate a test set: one more system, or several drafts of which people edit the best (MENT has five).

    The systems that it has stay. What failed is absent, never an empty text, and is counted.
    """
    from adjudge.curation.drafting import AskTranslation, candidate_names, check_names, with_translations
    from adjudge.curation.questions import blank
    from adjudge.store.json_lines import write_test_set

    options = replace(options, out=run_folder(out))
    texts = options.load(test_set)
    candidates = draft.candidates
    names = candidate_names(draft.name or _system_name(options, draft.command), candidates)
    check_names(texts, names)
    asked = blank(texts, names)
    if draft.command is None:
        warmth = draft.temperature
        if warmth is None:
            warmth = _WARM if candidates > 1 else 0.0
        if candidates > 1 and not warmth:
            raise UsageError(
                "--candidates above 1 needs a temperature above 0, else all candidates would be equal"
            )
        question = AskTranslation(temperature=warmth, prompts=options.prompts_folder)
        gathered = ask(ctx, question, asked, options, form)
    else:
        if draft.temperature is not None:
            raise UsageError("--temperature is for models: leave it out with --command")
        gathered = _by_command(draft.command, asked, options)
    write_test_set(out, with_translations(texts, gathered.found, names))
    signature = str(gathered.outcome.info.signature)
    rows: list[dict[str, Any]] = []
    for name in names:
        reasons = Counter(failure.reason for failure in gathered.failures if failure.systems == (name,))
        failed = reasons.total()
        row = {"system": name, "translated": len(asked) - failed, "failed": failed, "reasons": dict(reasons)}
        rows.append(row)
    data = {"signature": signature, "out": str(out), "systems": rows}
    cells = [
        [
            *(row["system"], f"{row['translated']}", f"{row['failed']}"),
            ", ".join(f"{reason} {number}" for reason, number in row["reasons"].items()),
        ]
        for row in rows
    ]
    columns = ["system", ">translated", ">failed", "reasons"]
    print_result(form, Table(columns=columns, rows=cells, notes=[signature]), data)
    print_note(f"{len(texts)} segments with {', '.join(names)} -> {out}")
    check_failures(gathered.outcome.info, options.max_failed)


def _system_name(options: RunSettings, command: str | None) -> str:
    if command is not None:
        raise UsageError("--command needs --name, the name of the system")
    from adjudge.llm.model_choice import chosen_outside

    model = next((name for name in options.model if "=" not in name), None) or chosen_outside()
    return (model or "").rpartition("/")[2].replace(":", "-")


def _by_command(command: str, asked: TestSet, options: RunSettings) -> Gathered[str]:
    from adjudge.core.record import Failure
    from adjudge.curation.drafting import CommandTranslator
    from adjudge.curation.questions import Gathered
    from adjudge.runs.job import prepare
    from adjudge.runs.run import execute
    from adjudge.runs.session import run_to_end
    from adjudge.store.run_directory import read_run

    if for_models := changed_options(options, ("model", "prompts")):
        raise UsageError(f"{for_models[0]} is for models: leave it out with --command")
    if options.dry_run:
        raise UsageError("--dry-run is for models: leave it out with --command")
    translator = CommandTranslator(command=command)
    job = prepare(translator, asked, out=options.out, progress=True)
    with parting("stopped; nothing was written"):
        outcome = run_to_end(execute(job))
    failures = tuple(r for r in read_run(job.out).records if isinstance(r, Failure))
    for failure in failures[:1]:
        print_note(f"first {failure.reason}: {' '.join(failure.detail.split())[:200]}")
    return Gathered(found=translator.found, failures=failures, outcome=outcome)
