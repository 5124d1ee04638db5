"""`adjudge curate agreement`: settle what people said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.core.score import listed
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.annotation import Record
    from adjudge.curation.agreement import Agreed
    from adjudge.curation.gating import Gated

__all__ = ["command"]


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", callback=existing, help="Records of people: verdicts, or ratings."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Records to write: the majority's verdicts, or what passed."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Of ratings: correlation that every two people must reach.")
    ] = 0.7,
    resamples: Annotated[int, typer.Option(min=0, help="Draws of the interval of kappa; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of those draws.")] = 0,
    lp: LpOption = None,
    form: FormatOption = "table",
) -> None:
    """Settle people's verdicts as FiRE did: kappa, then the majority; pairs without one are dropped.

    Pairs are ranked or tied by the majority, easy where all people agree, and hard where they do not.
    Records without verdicts are ratings, and go through the gate of MENT: a segment fails where any two
    people's ratings of its systems correlate less than --threshold.
    """
    from adjudge.cli.scorable import read_source
    from adjudge.core.annotation import Preference
    from adjudge.core.language import canonical_lp

    wanted = None if lp is None else canonical_lp(lp)
    records = [record for file in files for record in read_source(file, wanted, None).records]
    if any(isinstance(record, Preference) for record in records):
        _settle(records, out, resamples, seed, form)
    else:
        _gate(records, out, threshold, form)


def _gate(records: Sequence[Record], out: Path | None, threshold: float, form: TableFormat) -> None:
    from adjudge.curation.gating import gate_ratings
    from adjudge.data.records import write_records

    found, kept = gate_ratings(records, threshold)
    data = {"threshold": threshold, "lps": [_gated(each) for each in found]}
    print_result(form, _gate_table(found, threshold), data)
    if out is not None:
        write_records(out, kept)
        print_note(f"{len(kept)} ratings of segments that passed -> {out}")


def _gate_table(found: Sequence[Gated], threshold: float) -> Table:
    rows = [
        [
            *map(str, (g.lp, g.segments, g.passed, g.failed, g.undefined, g.unjudged)),
            "" if g.failed_share is None else f"{g.failed_share:.1%}",
        ]
        for g in found
    ]
    columns = ["lp", ">segments", ">passed", ">failed", ">undefined", ">unjudged", ">failed share"]
    notes = [
        f"failed: two people correlate less than {threshold:g} over its systems, or one rated all alike",
        "unjudged: no two people rated two systems of it; such segments do not pass",
    ]
    return Table(columns=columns, rows=rows, notes=notes)


def _gated(gated: Gated) -> dict[str, object]:
    names = ("lp", "segments", "passed", "failed", "undefined", "unjudged", "failed_share")
    each = [
        {"segment": one.segment, "pairs": one.pairs, "lowest": one.lowest, "passes": one.passes}
        for one in gated.each
    ]
    return {name: getattr(gated, name) for name in names} | {"each": each}


def _settle(
    records: Sequence[Record], out: Path | None, resamples: int, seed: int, form: TableFormat
) -> None:
    from adjudge.curation.agreement import settle
    from adjudge.data.records import write_records

    found = settle(records, resamples=resamples, seed=seed)
    print_result(form, _table(found), {"criteria": [_data(agreed) for agreed in found]})
    if out is not None:
        gold = [preference for agreed in found for preference in agreed.gold]
        write_records(out, gold)
        print_note(f"{len(gold)} verdicts -> {out}")


def _table(found: Sequence[Agreed]) -> Table:
    counts = [">people", ">judged", ">kappa", ">95 %", ">split", ">kept"]
    columns = ["lp", "criterion", *counts, ">ranked", ">tied", ">easy", ">hard"]
    notes = ["kappa: Fleiss', over all that were judged; split: pairs without a majority, dropped after it"]
    if alone := sum(agreed.alone for agreed in found):
        notes.append(f"{alone} pairs that only one person judged are left out")
    return Table(columns=columns, rows=list(map(_row, found)), notes=notes)


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
