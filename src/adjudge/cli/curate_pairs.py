"""`adjudge curate pairs`: draw pairs of translations to be compared."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import (
    LimitOption,
    LpOption,
    ReferencesOption,
    SourceOption,
    SystemsOption,
    TestSetArgument,
    TranslationsOption,
)
from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.errors import UsageError
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.curation.pairs import PairSample

__all__ = ["command"]


def command(
    test_set: TestSetArgument = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Pairs to write, one JSON object a line.")],
    pairs: Annotated[
        int | None, typer.Option(min=1, help="Draw so many of each language pair; else all.")
    ] = None,
    thin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM=FACTOR", help="Draw pairs of a weak system more rarely by a factor; repeat."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    lp: LpOption = None,
    systems: SystemsOption = None,
    limit: LimitOption = None,
    source: SourceOption = None,
    translation: TranslationsOption = None,
    reference_file: ReferencesOption = None,
    form: FormatOption = "table",
) -> None:
    """Draw pairs of translations as FiRE did: even over systems and sources, none of one text.

    The pairs go to `adjudge run JUDGE --pairs-file FILE`, or to people: `adjudge campaign new --pairs-file`.
    """
    from adjudge.curation.pairs import draw_pairs
    from adjudge.data.load import load_chosen
    from adjudge.data.pair_files import write_pairs

    chosen = load_chosen(test_set, lp, (source, translation, reference_file), systems, limit)
    sample = draw_pairs(chosen, pairs, thin=dict(map(_factor, thin or [])), seed=seed)
    write_pairs(out, sample.pairs)
    rows = [asdict(composition) for composition in sample.compositions]
    data = {"seed": seed, "out": str(out), "pairs": len(sample.pairs), "compositions": rows}
    data["sources"] = {name: {str(n): k for n, k in each.items()} for name, each in sample.sources.items()}
    print_result(form, _table(sample, seed), data)
    print_note(f"{len(sample.pairs)} pairs -> {out}")


def _factor(text: str) -> tuple[str, float]:
    name, equals, factor = text.rpartition("=")
    try:
        return name, float(factor if equals else "")
    except ValueError:
        raise UsageError(f"--thin must look like SYSTEM=3, got {text!r}") from None


def _table(sample: PairSample, seed: int) -> Table:
    rows = [[c.lp, *c.systems, f"{c.there}", f"{c.identical}", f"{c.drawn}"] for c in sample.compositions]
    notes = [
        f"{lp}: sources by their number of pairs: " + ", ".join(f"{k} with {n}" for n, k in each.items())
        for lp, each in sample.sources.items()
    ]
    columns = ["lp", "first", "second", ">sources", ">identical", ">drawn"]
    return Table(columns=columns, rows=rows, notes=[*notes, f"seed {seed}"])
