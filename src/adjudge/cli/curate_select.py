"""`adjudge curate select`: choose the segments that people annotate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from adjudge.cli.options import LpOption
from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.errors import UsageError
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from adjudge.core.segment import TestSet
    from adjudge.curation.selecting import Way
    from adjudge.curation.simulation import Worth
    from adjudge.meta.evaluation.eval_set import EvalSet

__all__ = ["command"]

_BLIND: Final = frozenset({"random", "diversity"})
"""Ways that look at no score."""


def command(
    test_set: Annotated[
        str, typer.Argument(metavar="TEST_SET", help="Folder of mt-metrics-eval or MENT, or any test set.")
    ],
    *,
    budget: Annotated[str, typer.Option(help="Such as 100 or 20%; several by commas with --gold.")] = "20%",
    unit: Annotated[
        Literal["segments", "tokens"], typer.Option(help="Of the budget; tokens are the source's.")
    ] = "segments",
    by: Annotated[
        Literal["variance", "disagreement", "diversity", "combined", "random"],
        typer.Option(help="What is looked at; docs/curate.md."),
    ] = "random",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Test set of the chosen segments.")] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]RUN|FILE", help="A metric or a judge to look at; repeat for more."),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Of the test set's own only these, separated by commas.")
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Say what each way would have been worth, beside chance."),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Random choices, with --gold.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 0,
    lp: LpOption = None,
    form: FormatOption = "table",
) -> None:
    """Choose the segments that people annotate for a budget.

    By what systems are scored differently in, what metrics disagree on, or what brings new n-grams.
    With --gold nothing is chosen: every way is tried on segments that are annotated already, and compared
    with random choices by how well it orders the systems and how far it is off.
    """
    from adjudge.data.load import load
    from adjudge.meta.evaluation.eval_sets import read_eval_set
    from adjudge.meta.evaluation.score_sources import find_own_scores

    if (gold is None) == (out is None):
        raise UsageError(
            "give --out FILE to choose segments, or --gold to see what a choice is worth; one of them"
        )
    if out is not None and (scores or metrics) and by in _BLIND:
        raise UsageError(f"--by {by} looks at no scores: choose variance, disagreement or combined")
    found = read_eval_set(
        test_set,
        lp,
        gold=None if gold is None else [gold],
        scores=find_own_scores(scores or [], [lp]),
        metrics=[name for name in (metrics or "").split(",") if name],
    )
    for note in found.notes:
        print_note(note)
    texts = load(Path(test_set), found.lp)
    wanted = _Wanted(budget=budget, unit=unit, by=by, draws=draws, seed=seed, form=form)
    if out is None:
        _simulate(found, texts, wanted)
    else:
        _choose(found, texts, wanted, out)


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """The options of the same names."""

    budget: str
    unit: str
    by: Way
    draws: int
    seed: int
    form: TableFormat


def _choose(found: EvalSet, texts: TestSet, wanted: _Wanted, out: Path) -> None:
    import numpy as np

    from adjudge.curation.selecting import choose, priorities, read_budget
    from adjudge.data.jsonl import write_test_set

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
    print_result(wanted.form, Table(columns=columns, rows=rows, notes=[note]), data)
    print_note(f"{len(places)} of {len(texts)} segments -> {out}")


def _marked(texts: TestSet, by: str, ranked: Sequence[int]) -> TestSet:
    """The chosen segments in their order, with their rank in `meta`."""
    ranks = {place: rank for rank, place in enumerate(ranked, start=1)}
    segments = [
        replace(segment, meta={**segment.meta, "selected": {"by": by, "rank": ranks[place]}})
        for place, segment in enumerate(texts)
        if place in ranks
    ]
    return replace(texts, segments=tuple(segments))


def _simulate(found: EvalSet, texts: TestSet, wanted: _Wanted) -> None:
    from adjudge.curation.selecting import WAYS
    from adjudge.curation.simulation import simulate

    worths = simulate(
        found,
        [s.source for s in texts],
        wanted.budget.split(","),
        ways=[way for way in WAYS if way not in _lacking(found)],
        by_length=wanted.unit == "tokens",
        draws=wanted.draws,
        seed=wanted.seed,
    )
    (gold,) = found.golds
    told = f"{wanted.draws} random choices, seed {wanted.seed}; budget in {wanted.unit}"
    notes = [
        f"{found.lp}, gold {gold}, {len(found.metrics)} metrics, {told}",
        "beats random: share of random choices with a lower accuracy, equal ones half",
        "nearer: share of them with a larger error of gaps",
    ]
    data = {"lp": found.lp, "gold": gold, "draws": wanted.draws, "seed": wanted.seed, "unit": wanted.unit}
    columns = [">segments", "way", ">length", ">accuracy", ">of random", ">error of means"]
    columns += [">of gaps", ">beats random", ">nearer"]
    table = Table(columns=columns, rows=list(map(_row, worths)), notes=notes)
    print_result(wanted.form, table, {**data, "worth": [asdict(worth) for worth in worths]})


def _lacking(found: EvalSet) -> set[str]:
    """Ways for which there are too few metrics."""
    ways = {"variance": 1, "disagreement": 2}
    return {way for way, needed in ways.items() if len(found.metrics) < needed}


def _row(worth: Worth) -> list[str]:
    between = "" if worth.low is None else f"{worth.low:.3f} to {worth.high:.3f}"
    shares = ["" if share is None else f"{share:.2f}" for share in (worth.beaten, worth.nearer)]
    numbers = (f"{worth.accuracy:.3f}", between, f"{worth.mean_error:.3f}", f"{worth.gap_error:.3f}")
    return [f"{worth.segments:.0f}", worth.way, f"{worth.length:.0%}", *numbers, *shares]
