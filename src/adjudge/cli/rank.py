"""`adjudge rank`: systems with intervals, the tests of every pair, ranges of ranks and clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.options import LpOption, SeedOption, TestDrawsOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result
from adjudge.cli.scorable import (
    CriterionOption,
    GoldOfSetOption,
    MetricOfSetOption,
    TextsOption,
    WeightsOption,
    read_judgements,
    refuse_of_judgements,
)
from adjudge.core.score import listed
from adjudge.errors import UsageError
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from adjudge.meta.agreement.sources import Source
    from adjudge.meta.ranking.rank import Ranking

__all__ = ["command"]


def command(
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
    from adjudge.core.language import canonical_lp
    from adjudge.meta.agreement.sources import source_of
    from adjudge.meta.ranking.criterion_ranking import score_for_ranking
    from adjudge.meta.ranking.rank import rank

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
    from adjudge.meta.ranking.criterion_ranking import rank_by_criterion
    from adjudge.report.figures import figure_format
    from adjudge.report.radar_figure import radar_figure

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
    from adjudge.report.score_tables import p_value_table, ranking_table

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
