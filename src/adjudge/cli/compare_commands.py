"""`adjudge power`: what a number of judgements can show, and how many more are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from adjudge.analysis.judgements import domains_known, read_if_taken, read_judgements
from adjudge.cli.inputs import (
    CriterionOption,
    GoldOfSetOption,
    MetricOfSetOption,
    TextsOption,
    WeightsOption,
    refuse_of_judgements,
)
from adjudge.cli.main import DONE, GATE_NO, GATE_UNSURE
from adjudge.cli.options import (
    FormatOption,
    LpOption,
    SeedOption,
    TestDrawsOption,
    UnitOption,
    existing,
    is_for_people,
    print_note,
    print_result,
)
from adjudge.core.scores import listed
from adjudge.errors import UsageError
from adjudge.reports.tables import Table, TableFormat

if TYPE_CHECKING:
    from adjudge.analysis.compare import Comparison, Place, Side, Stratum
    from adjudge.analysis.gate import Gate, GateRow, GateSettings, Verdict
    from adjudge.analysis.power import Plan, Separation
    from adjudge.analysis.preferences import Source
    from adjudge.analysis.rank import Ranking
    from adjudge.core.record import Record
    from adjudge.core.scores import Run, Scores


# `adjudge rank`: systems with intervals, the tests of every pair, ranges of ranks and clusters.


def rank_command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...",
            callback=existing,
            help="Runs, records, MQM TSV or scores; a test set with --gold or --metric.",
        ),
    ],
    *,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    method: Annotated[
        Literal["mean", "copeland", "bradley-terry", "davidson"],
        typer.Option(help="A mean over segments, or points of comparisons: preferences, or pairs of scores."),
    ] = "mean",
    epsilon: Annotated[
        float, typer.Option(help="Largest difference of two scores that is a tie, where pairs are compared.")
    ] = 0.0,
    test: Annotated[
        Literal["permutation", "wilcoxon", "rank-sum", "t"] | None,
        typer.Option(
            help="Of every pair: paired permutation (default), signed-rank, WMT's rank-sum, or Student's t; "
            "bradley-terry and davidson have their own."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="A p-value below this is significant.")] = 0.05,
    resamples: TestDrawsOption = 1000,
    seed: SeedOption = 0,
    by_document: Annotated[
        bool | None,
        typer.Option(
            "--by-document/--by-segment",
            help="Draw and test documents (default where known), or segments as if independent.",
            show_default=False,
        ),
    ] = None,
    p_values: Annotated[
        bool, typer.Option("--p-values", help="Print the p-value of every pair of systems, too.")
    ] = False,
    radar: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw points by criterion, as .pdf, .svg or .png; of one run."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Rank systems by their mean on the segments that all of them were judged on, or by comparisons.

    Each run is a ranking of its own. Comparisons are preferences, or pairs of scores; all of them count.
    Rank is the best and the worst rank that the tests of a system's pairs allow. A line separates clusters:
    every system above it is better than every system below (WMT's rule, one-sided tests). A cluster is no
    statement of equality: two systems of one cluster may differ significantly, as --p-values shows.
    """
    from adjudge.analysis.preferences import source_of
    from adjudge.analysis.rank import rank, score_for_ranking
    from adjudge.core.language import canonical_lp

    ask = partial(
        rank,
        seed=seed,
        resamples=resamples,
        alpha=alpha,
        test=test,
        by_document=by_document,
    )
    lp = None if lp is None else canonical_lp(lp)
    if gold is not None or metric is not None:
        refuse_of_judgements("--gold or --metric", criterion=criterion, test_set=test_set, radar=radar)
        of_set = partial(
            ask, gold=gold, metric=metric, weights=weights, lp=lp, method=method, epsilon=epsilon
        )
        _print({str(path): of_set(path) for path in dict.fromkeys(paths)}, form, p_values=p_values)
        return
    judged = {str(path): read_judgements(path, lp, test_set) for path in dict.fromkeys(paths)}
    rankings = {}
    for name, each in judged.items():
        scores = score_for_ranking(name, each, weights=weights, lp=lp, criterion=criterion)
        rankings[name] = ask(scores, method=method, epsilon=epsilon)
    if radar is not None:
        if len(rankings) > 1:
            raise UsageError(f"--radar draws one run; there are {len(rankings)}")
        ((name, each),) = judged.items()
        _draw_radar(radar, source_of(name, each, lp), ask, method)
    _print(rankings, form, p_values=p_values)


def _draw_radar(path: Path, source: Source, ask: Callable[..., Ranking], method: str) -> None:
    """Draw the points of every system on every criterion.

    Raises:
        UsageError: too few criteria, or no format that the file's name ends in.
    """
    from adjudge.analysis.rank import rank_by_criterion
    from adjudge.reports.figures import figure_format, radar_figure

    figure_format(path)
    rankings = rank_by_criterion(source, partial(ask, method="copeland" if method == "mean" else method))
    radar_figure(path.stem, rankings).write_file(path)
    print_note(f"The radar: {path}")
    if source.has_scores and len(source.annotators) > 1:
        print_note("It compares translations within each annotator; a ranking of scores takes their mean.")


def _print(rankings: dict[str, Ranking], form: TableFormat, *, p_values: bool) -> None:
    """Print one table each; one JSON object; or one file of comma-separated values.

    Args:
        rankings: of each run.
        form: how.
        p_values: print those of the pairs; a file of comma-separated values then has them alone.
    """
    from adjudge.reports.result_tables import p_value_table, ranking_table

    several = len(rankings) > 1
    if is_for_people(form):
        for name, ranking in rankings.items():
            print_result(form, ranking_table(ranking, exact=False, title=name if several else ""), {})
            if p_values:
                print_result(form, p_value_table(ranking, exact=False), {})
        return
    made = p_value_table if p_values else ranking_table
    tables = {name: made(ranking, exact=True) for name, ranking in rankings.items()}
    whole = next(iter(tables.values())) if not several else _one_table(rankings, tables, form)
    data = [{"run": name, **_data(ranking)} for name, ranking in rankings.items()]
    notes = (
        f"{name}: {note}" if several else note for name, ranking in rankings.items() for note in ranking.notes
    )
    print_result(form, whole, {"rankings": data} if several else _data(next(iter(rankings.values()))), notes)


def _one_table(rankings: dict[str, Ranking], tables: dict[str, Table], form: TableFormat) -> Table:
    """Put the rows of several runs into one table, whose numbers must then be comparable.

    Raises:
        UsageError: they are not.
    """
    first, *others = (ranking.signature for ranking in rankings.values())
    columns = {tuple(table.columns) for table in tables.values()}
    if form != "json" and (len(columns) > 1 or not all(first.is_comparable_with(s) for s in others)):
        lines = "\n".join(f"  {name}: {ranking.signature}" for name, ranking in rankings.items())
        raise UsageError(f"--format {form} makes one table, and these signatures must not be mixed:\n{lines}")
    rows = [[name, *row] for name, table in tables.items() for row in table.rows]
    return Table(columns=["run", *columns.pop()], rows=rows)


def _data(ranking: Ranking) -> dict[str, Any]:
    """The result as one JSON object."""
    data: dict[str, Any] = {
        "signature": str(ranking.signature),
        "method": ranking.method,
        "systems": [
            {
                "system": s.system,
                "score": s.score,
                "interval": listed(s.interval),
                "ranks": None if s.best is None else [s.best, s.worst],
                "cluster": s.cluster,
                "n": s.n,
                "failed": s.failed,
                **s.readings,
                **({} if s.strength is None else {"strength": s.strength}),
            }
            for s in ranking.systems
        ],
    }
    if ranking.p_values:
        data["p_values"] = ranking.p_values
    if ranking.cycles:
        data["cycles"] = [{"systems": c.systems, "shares": c.shares} for c in ranking.cycles]
    if ranking.lps:
        data["lps"] = {lp: _data(part) for lp, part in ranking.lps.items()}
    return data


# `adjudge compare`: is one of two systems better, by how much, and how sure is that?


def compare_command(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="A B",
            help="Two runs or files; or one run, file or test set, and then two of its systems.",
            show_default=False,
        ),
    ],
    *,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    systems: Annotated[
        str | None, typer.Option(help="Two systems of one run, or one of each of two: A,B.")
    ] = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    test: Annotated[
        Literal["permutation", "bootstrap", "wilcoxon"],
        typer.Option(help="Of the p-values: of means (permutation, bootstrap) or of ranks."),
    ] = "permutation",
    by_document: UnitOption = None,
    holm: Annotated[bool, typer.Option("--holm", help="Correct the p-values of domains as well.")] = False,
    resamples: TestDrawsOption = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Compare two systems on the segments that both were judged on.

    The difference is the first less the second: above 0, the first is better.
    """
    from adjudge.analysis.compare import ComparisonSettings, compare_scores
    from adjudge.reports.result_tables import comparison_table

    settings = ComparisonSettings(
        test=test, by_document=by_document, correct=holm, resamples=resamples, seed=seed
    )
    named: Sequence[str] | None = None if systems is None else systems.split(",")
    if len(what) == 1 and named is not None:
        what, named = [*what, *named], None
    if gold is not None or metric is not None:
        refuse_of_judgements("--gold or --metric", criterion=criterion, test_set=test_set)
        if len(what) != 3 or named is not None:
            raise UsageError("with --gold or --metric, give TEST_SET SYSTEM SYSTEM")
        first, second, chosen, domains = _of_test_set(what, lp, (gold, metric), weights)
    else:
        first, second, chosen, domains = _of_runs(what, named, (weights, lp, criterion, test_set))
    found = compare_scores(first, second, chosen, settings=settings, domains=domains)
    print_result(
        form, comparison_table(found, exact=not is_for_people(form)), _compare_data(found), found.notes
    )


_Chosen = tuple["Scores", "Scores", "Sequence[str] | None", "Mapping[Place, str]"]


def _of_test_set(
    what: Sequence[str], lp: str | None, annotators: tuple[str | None, str | None], weights: str | None
) -> _Chosen:
    from adjudge.analysis.compare import chosen_annotator, read_one_annotator

    scores, domains = read_one_annotator(Path(what[0]), lp, *chosen_annotator(*annotators), weights)
    return scores, scores, what[1:], domains


def _of_runs(
    what: Sequence[str],
    chosen: Sequence[str] | None,
    reading: tuple[str | None, str | None, str | None, Path | None],
) -> _Chosen:
    """Two sources; or one source and two systems."""
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.core.language import canonical_lp
    from adjudge.formats.convert import find_format
    from adjudge.formats.read import detect

    weights, lp, criterion, texts = reading
    lp = None if lp is None else canonical_lp(lp)
    if len(what) not in {2, 3}:
        raise UsageError(
            f"give two runs or files, or one and two of its systems (`adjudge compare RUN A B`); "
            f"got {' '.join(what)}"
        )
    if len(what) == 3 and chosen is not None:
        raise UsageError("the systems are named twice: after the run, and with --systems")
    paths = [Path(name) for name in (what if len(what) == 2 else what[:1])]
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"no file or folder {str(path)!r}: two systems are named after their run or file"
            )
        if not find_format(detect(path)).has_records:
            raise UsageError(f"{path} is a test set: add --gold or --metric to say whose scores count")
    files = [path.resolve() for path in paths]  # one file under two names is read, and complained of, once
    named = dict(zip(files[::-1], paths[::-1], strict=True))
    found = {file: read_judgements(path, lp, texts) for file, path in named.items()}
    judged = [found[file] for file in files]
    scores = [score(each, weights=weights, lp=lp, criterion=criterion) for each in judged]
    domains = domains_known(judged, paths, lp, texts)
    return scores[0], scores[-1], what[1:] if len(what) == 3 else chosen, domains


def _compare_data(found: Comparison) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "first": _side(found.first),
        "second": _side(found.second),
        **_stratum(found.whole),
        "strata": [{"kind": s.kind, "name": s.name, **_stratum(s)} for s in found.strata],
        "method": found.method,
        "notes": list(found.notes),
    }


def _side(side: Side) -> dict[str, Any]:
    return {"name": side.name, "signature": str(side.signature), "n": side.n, "failed": side.failed}


def _stratum(stratum: Stratum) -> dict[str, Any]:
    found, effect = stratum.difference, stratum.difference.effect
    data: dict[str, Any] = {
        "means": [found.first, found.second],
        "difference": found.value,
        "interval": listed(found.interval),
        "p": found.p,
        "n": stratum.n,
        "units": found.units,
        "effective": found.effective,
        "effect": {
            "d_z": effect.d_z,
            "superiority": effect.superiority,
            "cliff": effect.cliff,
            "wins": effect.wins,
            "ties": effect.ties,
            "losses": effect.losses,
        },
    }
    return data | ({} if stratum.p_holm is None else {"p_holm": stratum.p_holm})


# `adjudge gate`: may the candidate replace the baseline? A verdict for people and for a build.


_CODES: Final[Mapping[Verdict, int]] = {
    "ship": DONE,
    "do-not-ship": GATE_NO,
    "not-enough-data": GATE_UNSURE,
}


def gate_command(
    *,
    baseline: Annotated[
        Path,
        typer.Option(metavar="RUN|FILE|TEST_SET", help="Judgements of what is in use.", show_default=False),
    ],
    candidate: Annotated[
        Path | None,
        typer.Option(metavar="RUN|FILE", help="Of what would replace it; else those of --baseline."),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            min=0,
            help="How much lower the candidate's mean may be, in the scores' units.",
            show_default=False,
        ),
    ],
    alpha: Annotated[float, typer.Option(help="Chance, at most, of each wrong verdict.")] = 0.05,
    systems: Annotated[
        str | None, typer.Option(help="Baseline's system and candidate's, separated by a comma.")
    ] = None,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    domain_margin: Annotated[
        float | None, typer.Option(min=0, help="For each language pair and domain; else as --margin.")
    ] = None,
    more_critical: Annotated[
        int, typer.Option(min=0, metavar="N", help="Segments more with critical errors that are allowed.")
    ] = 0,
    critical_alpha: Annotated[
        float | None, typer.Option(help="Alpha of the test of critical errors; else --alpha.")
    ] = None,
    max_failed: Annotated[
        float, typer.Option(min=0, max=1, help="Share of segments that may lack a score on one side.")
    ] = 0.01,
    power: Annotated[float, typer.Option(help="Chance to decide, for the number of further segments.")] = 0.8,
    any_signature: Annotated[
        bool, typer.Option("--any-signature", help="Compare scores of different judges or settings.")
    ] = False,
    by_document: UnitOption = None,
    unseen: Annotated[
        Literal["scale", "seen"],
        typer.Option(help="How bad a segment nobody saw may be: as the scale allows, or as seen."),
    ] = "scale",
    scale: Annotated[
        str | None,
        typer.Option("--range", metavar="LOW,HIGH", help="Lowest and highest score, if none is stated."),
    ] = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: Annotated[
        Path | None,
        typer.Option("--test-set", metavar="PATH", help="Texts that say the domains; else a run's own."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML, for a build.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also append Markdown, for a pull request.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Say whether a candidate may replace the baseline: ship, do not ship, or not enough data.

    It may, if it is shown not to be worse by the margin, on all segments and in every language pair and
    domain, and not to have more critical errors. Exit code 0: ship; 5: do not ship; 6: not enough data.
    """
    from adjudge.analysis.gate import GateSettings, verdict_words
    from adjudge.reports.result_tables import gate_table, render_junit, render_summary

    settings = GateSettings(
        margin=margin,
        domain_margin=domain_margin,
        alpha=alpha,
        power=power,
        by_document=by_document,
        unseen=unseen,
        scale=_read_range(scale),
        more_critical=more_critical,
        critical_alpha=critical_alpha,
        max_failed=max_failed,
        any_signature=any_signature,
    )
    for path in (junit, summary):
        if path is not None:
            _write(path, "", append=True)  # what cannot be written is said before anything is computed
    paths = (baseline, candidate or baseline)
    if gold is not None or metric is not None:
        refuse_of_judgements("--gold or --metric", criterion=criterion, test_set=test_set)
        found = _gate_of_test_set(paths, systems, lp, (gold, metric, weights), settings)
    else:
        scoring = {"weights": weights, "lp": lp, "criterion": criterion}
        found = _of_judged(paths, systems, scoring, test_set, settings)
    print_result(form, gate_table(found, exact=not is_for_people(form)), _gate_data(found))
    if junit is not None:
        _write(junit, render_junit(found), append=False)
    if summary is not None:
        _write(summary, render_summary(found), append=True)
    if not is_for_people(form):
        print_note(f"{verdict_words(found.verdict).capitalize()}: {' '.join(found.reasons)}")
    raise typer.Exit(_CODES[found.verdict])


def _read_range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise UsageError(
            f"--range takes the lowest and the highest score, as LOW,HIGH; got {text!r}"
        ) from None
    return low, high


def _gate_of_test_set(
    paths: tuple[Path, Path],
    systems: str | None,
    lp: str | None,
    chosen: tuple[str | None, str | None, str | None],
    settings: GateSettings,
) -> Gate:
    """By one gold, or one metric, of a test set; its two systems are named."""
    from adjudge.analysis.gate import gate_test_set, old_and_new

    gold, metric, weights = chosen
    if not _is_one(paths):
        raise UsageError("with --gold or --metric both systems are of one test set: name it as --baseline")
    named = old_and_new(None if systems is None else systems.split(","), is_one=True)
    return gate_test_set(paths[0], lp, (gold, metric), named or (), settings, weights)


def _of_judged(
    paths: tuple[Path, Path],
    systems: str | None,
    scoring: Mapping[str, str | None],
    texts: Path | None,
    settings: GateSettings,
) -> Gate:
    """By what was judged in two runs or files, or in one."""
    from adjudge.analysis.gate import gate_judged, old_and_new
    from adjudge.core.language import canonical_lp

    existing([*paths])
    is_one = _is_one(paths)
    named = old_and_new(None if systems is None else systems.split(","), is_one=is_one)
    lp = None if scoring["lp"] is None else canonical_lp(scoring["lp"])
    old = read_if_taken(paths[0], lp, texts)
    new = old if is_one else read_if_taken(paths[1], lp, texts)
    domains = domains_known((old, new), paths, lp, texts)
    return gate_judged((old, new), named, {**scoring, "lp": lp}, settings=settings, domains=domains)


def _is_one(paths: tuple[Path, Path]) -> bool:
    """Whether both are one file or folder, however each is spelled."""
    return paths[0].resolve() == paths[1].resolve()


def _write(path: Path, text: str, *, append: bool) -> None:
    try:
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _gate_data(found: Gate) -> dict[str, Any]:
    """The result as one JSON object; what it says of all segments stands outside of the rows, too."""
    critical, whole = found.critical, found.rows[0]
    sides = {"candidate": found.candidate, "baseline": found.baseline}
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "difference": whole.found.difference,
        "interval": [whole.found.low, whole.found.high],
        "margin": whole.margin,
        "n": whole.n,
        "needed": None if whole.more is None else whole.n + whole.more,
        **{
            key: {"name": side.name, "signature": str(side.signature), "n": side.n, "failed": side.failed}
            for key, side in sides.items()
        },
        "missing": found.missing,
        "asked": found.asked,
        "alpha": found.settings.alpha,
        "method": found.method,
        "rows": [_row(row) for row in found.rows],
        "critical": None
        if critical is None
        else {
            "candidate": critical.candidate,
            "baseline": critical.baseline,
            "allowed": critical.allowed,
            "new": list(critical.new),
            "gone": critical.gone,
            "p": critical.p,
            "alpha": critical.alpha,
        },
        "notes": list(found.notes),
    }


def _row(row: GateRow) -> dict[str, Any]:
    found = row.found
    return {
        "kind": row.kind,
        "name": row.name,
        "n": row.n,
        "means": [found.candidate, found.baseline],
        "difference": found.difference,
        "bounds": [found.low, found.high],
        "margin": row.margin,
        "p_as_good": found.p_as_good,
        "p_worse": found.p_worse,
        "units": found.units,
        "effective": found.effective,
        "verdict": row.verdict,
        "more": row.more,
    }


def power_command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|FILE [SYSTEM SYSTEM]]",
            help="Judgements at hand, and two of their systems; else --sd says how they vary.",
            show_default=False,
        ),
    ] = None,
    *,
    sd: Annotated[
        float | None,
        typer.Option(help="Without data: spread over segments of the difference of two systems."),
    ] = None,
    annotator_sd: Annotated[
        float, typer.Option(help="Without data: spread of that difference over annotators.")
    ] = 0.0,
    segments: Annotated[
        int | None,
        typer.Option(min=1, help="Segments to be judged; with --difference, else as many as it takes."),
    ] = None,
    annotators: Annotated[int | None, typer.Option(min=1, help="Annotators of each translation.")] = None,
    difference: Annotated[
        float | None, typer.Option(help="Without data: the difference to be found.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Of the two-sided test.")] = 0.05,
    power: Annotated[float, typer.Option(help="Chance to find the difference.")] = 0.8,
    by_document: UnitOption = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    resamples: Annotated[int, typer.Option(min=1, help="Draws of the simulation.")] = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Say the smallest difference that n segments and m annotators show, and how many judgements are needed.

    With judgements at hand: for two systems, or for each system and the next best.
    """
    from adjudge.analysis.power import Plan, SeparationSettings, separations

    if not what:
        if sd is None or (segments is None and difference is None):
            raise UsageError(
                "give judgements (a run or a file), or --sd with --segments, --difference or both"
            )
        reading = {"weights": weights, "lp": lp, "criterion": criterion, "test_set": test_set}
        refuse_of_judgements("--sd", **reading, by_document=by_document)
        if segments is None and not difference:
            raise UsageError("no number of segments shows a difference of 0: give --segments")
        plan = Plan(
            sd=sd,
            annotator_sd=annotator_sd,
            segments=segments or 1,
            annotators=annotators or 1,
            alpha=alpha,
            power=power,
        )
        if segments is None and difference is not None:
            plan = replace(plan, segments=plan.needed_for(difference) or 1)
        _print_plan(plan, difference, form)
        return
    if sd is not None or annotator_sd or difference is not None:
        raise UsageError("--sd, --annotator-sd and --difference stand in for data; leave them out here")
    settings = SeparationSettings(
        segments=segments,
        annotators=annotators,
        alpha=alpha,
        power=power,
        by_document=by_document,
        resamples=resamples,
        seed=seed,
    )
    scores, by_annotator = _read(what, weights, lp, criterion, test_set)
    found = separations(scores, what[1:] or None, settings=settings, by_annotator=by_annotator)
    _print_separations(found, str(scores.signature), form)


def _read(
    what: Sequence[str], weights: str | None, lp: str | None, criterion: str | None, texts: Path | None
) -> tuple[Scores, dict[str, Scores]]:
    """Scores, and those of each annotator alone where there are several."""
    from adjudge.analysis.segment_scores import score_records as score
    from adjudge.core.language import canonical_lp
    from adjudge.core.scores import Run

    if len(what) not in {1, 3}:
        raise UsageError(f"give a run or a file, alone or with two systems; got {len(what)} names")
    path, lp = Path(what[0]), None if lp is None else canonical_lp(lp)
    if not path.exists():
        raise UsageError(f"no file or folder {str(path)!r}")
    judged: Run | Sequence[Record] = read_judgements(path, lp, texts)
    records = judged.records if isinstance(judged, Run) else judged
    apart: dict[str, list[Record]] = {}
    for record in records:
        apart.setdefault(record.annotator, []).append(record)
    whole = score(judged, weights=weights, lp=lp, criterion=criterion)
    if len(apart) == 1:
        return whole, {}
    wanted = {name: [r for r in own if lp in {None, r.lp}] for name, own in apart.items()}
    return whole, {
        name: score(own, weights=weights, criterion=criterion) for name, own in wanted.items() if own
    }


def _print_plan(plan: Plan, difference: float | None, form: TableFormat) -> None:
    from adjudge.reports.result_tables import plan_table

    data: dict[str, Any] = {
        "segments": plan.segments,
        "annotators": plan.annotators,
        "sd": plan.sd,
        "annotator_sd": plan.annotator_sd,
        "alpha": plan.alpha,
        "power": plan.power,
        "detectable": plan.detectable,
    }
    if difference is not None:
        data |= {
            "difference": difference,
            "power_for_difference": plan.power_for(difference),
            "needed": plan.needed_for(difference),
        }
    print_result(form, plan_table(plan, difference, exact=not is_for_people(form)), data)


def _print_separations(found: Sequence[Separation], signature: str, form: TableFormat) -> None:
    from adjudge.reports.result_tables import separation_cautions, separation_table

    data = {"signature": signature, "pairs": [_power_data(row) for row in found]}
    table = separation_table(found, signature, exact=not is_for_people(form))
    print_result(form, table, data, separation_cautions(found))


def _power_data(row: Separation) -> dict[str, Any]:
    return {
        "systems": [row.first, row.second],
        "n": row.n,
        "units": row.units,
        "difference": row.difference,
        "p": row.p,
        "sd": row.plan.sd,
        "annotator_sd": row.annotator_sd,
        "segments": row.plan.segments,
        "annotators": row.plan.annotators,
        "alpha": row.plan.alpha,
        "wanted": row.plan.power,
        "power": row.power,
        "detectable": row.detectable,
        "needed": row.needed,
        "more": row.more,
    }
