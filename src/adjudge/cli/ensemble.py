"""`adjudge ensemble`: several runs and files as one more annotator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adjudge.cli.failures import MaxFailedOption, check_failures
from adjudge.cli.options import LpOption
from adjudge.cli.output import print_note
from adjudge.cli.scorable import read_judgements, takes_texts
from adjudge.core.wording import read_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.annotation import Record
    from adjudge.core.run import Run
    from adjudge.meta.ensemble.combine import Combined

__all__ = ["command"]


def command(
    members: Annotated[
        list[str], typer.Argument(metavar="[NAME=]RUN|FILE...", help="Two or more, of judges or metrics.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Run directory of the ensemble.")],
    by: Annotated[
        Literal["ranks", "z-scores", "learned", "majority"],
        typer.Option(help="Mean of ranks or z-scores, weights learned on gold, or majority of verdicts."),
    ] = "z-scores",
    within: Annotated[
        Literal["lp", "segment"],
        typer.Option(help="Ranks and z-scores among all of a language pair, or of a segment."),
    ] = "lp",
    gold: Annotated[
        str | None, typer.Option(metavar="[NAME=]FILE|RUN", help="What weights are learned on.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation of learned weights.")] = 10,
    fold_by: Annotated[
        Literal["document", "segment"], typer.Option(help="What stays in one fold.")
    ] = "document",
    seed: Annotated[int, typer.Option(min=0, help="Of the folds.")] = 0,
    tie: Annotated[
        float, typer.Option(min=0, help="Largest difference of scores that is a tie, in a majority.")
    ] = 0.0,
    lp: LpOption = None,
    test_set: Annotated[
        Path | None, typer.Option(help="Texts, where no member is a run, or files have no ids.")
    ] = None,
    max_failed: MaxFailedOption = "1%",
) -> None:
    """Combine runs and files of scores into a run of their ensemble, which every other command reads.

    A translation that any member failed on is a failure of the ensemble; what some were not asked for is
    left out, and said.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.data.load import load
    from adjudge.meta.ensemble.settings import Settings
    from adjudge.meta.evaluation.score_sources import split_scores
    from adjudge.runs.ensemble import ensemble

    allowed = read_share(max_failed)
    lp = None if lp is None else canonical_lp(lp)
    texts = None if test_set is None else load(test_set, lp)
    given = {name: _read(path, lp, test_set) for name, path in split_scores(members).items()}
    truth = {name: _read(path, lp, test_set) for name, path in split_scores([gold] if gold else []).items()}
    found = ensemble(
        given,
        out=out,
        test_set=texts,
        gold=next(iter(truth.items()), None),
        settings=Settings(by=by, within=within, folds=folds, fold_by=fold_by, seed=seed, tie=tie),
    )
    for note in (*found.combined.notes, *_weights(found.combined)):
        print_note(note)
    info = found.run.info
    print_note(f"{info.counts['judged']:,} judged, {info.counts['failed']:,} failed; in {out}")
    print_note(str(info.signature))
    check_failures(info.counts, allowed)


def _read(path: Path, lp: str | None, texts: Path | None) -> Run | Sequence[Record]:
    """Read a run or a file, and keep one language pair if one is chosen."""
    from adjudge.core.run import Run

    judged = read_judgements(path, lp, texts if takes_texts(path) else None)
    if lp is None:
        return judged
    if isinstance(judged, Run):
        return replace(judged, records=tuple(r for r in judged.records if r.lp == lp))
    return [r for r in judged if r.lp == lp]


def _weights(combined: Combined) -> Iterator[str]:
    """What was learned, over all folds."""
    for lp, learned in combined.weights.items():
        each = (
            f"{name} {sum(own) / len(own):.2f} ({min(own):.2f} to {max(own):.2f})"
            for name, own in learned.items()
        )
        yield f"{lp}: weights, mean over folds and range: {', '.join(each)}"
