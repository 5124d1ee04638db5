"""`adjudge score`: the records of a run or a file as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result
from adjudge.cli.scorable import (
    CriterionOption,
    GoldOfSetOption,
    MetricOfSetOption,
    TextsOption,
    WeightsOption,
    read_scores,
    refuse_of_judgements,
    takes_texts,
    texts_of,
)
from adjudge.core.score import listed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.core.score import Scores, SegmentScore

__all__ = ["command"]

Level = Literal["seg", "doc", "sys"]


def command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE",
            callback=existing,
            help="A run, records, MQM TSV or scores; a test set with --gold or --metric.",
        ),
    ],
    *,
    weights: WeightsOption = None,
    level: Annotated[Level, typer.Option(help="Scores of segments, documents or systems.")] = "sys",
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    score_files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write files of mt-metrics-eval: LP/NAME-REF.seg.score..."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Turn records into numbers: errors by weights, preferences into win rates, ratings as they are.

    A failed judgement has no score and is in no mean; each system says how many there were. Intervals
    are 95 % bootstrap intervals over the segments that the system was judged on.
    """
    from adjudge.meta.intervals import with_intervals
    from adjudge.report.score_tables import document_table, segment_table, system_table

    if gold is not None or metric is not None:
        from adjudge.meta.scoring import score

        beside = {"criterion": criterion, "test_set": test_set, "score_files": score_files}
        refuse_of_judgements("--gold or --metric", **beside)
        read = score(path, weights=weights, lp=lp, gold=gold, metric=metric)
    else:
        taken = test_set if score_files is None or takes_texts(path) else None
        read = read_scores(path, weights=weights, lp=lp, criterion=criterion, texts=taken)
    if score_files is not None:
        _write(score_files, read, path, lp, test_set)
    scores = with_intervals(read)
    tables = {"seg": segment_table, "doc": document_table, "sys": system_table}
    table = tables[level](scores, exact=not is_for_people(form))
    print_result(form, table, _data(scores, level), scores.notes)


def _write(folder: Path, scores: Scores, path: Path, lp: str | None, texts: Path | None) -> None:
    """Write score files; the texts are those that are given, or lie with what was scored."""
    from adjudge.report.score_files import write_score_files

    known = texts_of(path, lp, texts)
    if known is None:
        raise UsageError(f"score files have a line for each segment, and {path} has no texts: add --test-set")
    written = write_score_files(folder, scores, known)
    print_note(f"adjudge: {', '.join(map(str, written))}")


def _data(scores: Scores, level: Level) -> dict[str, Any]:
    """The result as one JSON object; a bound that does not exist is null."""
    data: dict[str, Any] = {
        "signature": str(scores.signature),
        "range": scores.range,
        "direction": scores.direction,
        "systems": {
            s.system: {
                "score": s.score,
                "n": s.n,
                "failed": s.failed,
                "interval": listed(s.interval),
                **s.readings,
            }
            for s in scores.systems
        },
    }
    if scores.suspects is not None:
        data["suspects"] = {
            "judgements": scores.suspects.judgements,
            "in_translation": scores.suspects.in_translation,
            "segments": scores.suspects.segments,
            "systems": {
                s.system: {"score": s.score, "n": s.n, "failed": s.failed} for s in scores.suspects.systems
            },
        }
    if level == "seg":
        data["segments"] = _segments(scores.segments, with_lp=bool(scores.lps))
    if level == "doc":
        data["documents"] = _documents(scores)
    if scores.lps:
        data["lps"] = {lp: _data(part, level) for lp, part in scores.lps.items()}
    return data


def _segments(segments: Iterable[SegmentScore], *, with_lp: bool) -> list[dict[str, object]]:
    return [
        {**({"lp": s.lp} if with_lp else {}), "segment": s.segment, "system": s.system, "score": s.score}
        for s in segments
    ]


def _documents(scores: Scores) -> list[dict[str, object]]:
    from adjudge.scoring.aggregate import document_scores

    return [
        {
            **({"lp": d.lp} if scores.lps else {}),
            "document": d.document,
            "system": d.system,
            "score": d.score,
            "n": d.n,
            "failed": d.failed,
        }
        for d in document_scores(scores.segments)
    ]
