"""Programs as users write them, for type checkers: every verb, record, judge and metric by its public name.

`make lint` has mypy and pyright read them; `tests/test_public_names.py` says that none is left out.
"""

# pyright: basic, reportUnnecessaryTypeIgnoreComment=true

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import adjudge
from adjudge import AdjudgeError, rank
from adjudge.analysis.estimate import Estimation
from adjudge.analysis.power import Power
from adjudge.analysis.rank import Ranking
from adjudge.core.record import Record
from adjudge.core.scores import Run, Scores

__all__ = ["compared", "judged", "lengths", "made", "misspelt", "written"]


async def judged(folder: Path) -> Sequence[Record]:
    """A test set, forecast and judged."""
    test_set = assert_type(adjudge.load(folder, lp="en-de"), adjudge.TestSet)
    judge = adjudge.judges.GembaMqm(profile="paper")
    # pyright alone: a class variable is no property of a protocol to it
    adjudge.forecast(judge, test_set, model="builtin/rules")  # pyright: ignore[reportArgumentType]
    run = assert_type(
        adjudge.run(judge, test_set, model="builtin/rules", out=folder),  # pyright: ignore[reportArgumentType]
        Run,
    )
    assert_type(await adjudge.arun("gemba-da", test_set, out=folder), Run)
    adjudge.run(adjudge.metric(len_ratio), test_set)
    adjudge.report(run, folder / "report.html")
    adjudge.align(test_set, {"A": folder / "a.txt"})
    return [*run.records, *adjudge.read_records(folder / "records.jsonl")]


@adjudge.metric(range=(0, None), batch=64)
def lengths(translations: Sequence[str]) -> Sequence[float]:
    """A metric of the user's own."""
    return [*map(len, translations)]


def len_ratio(source: str, translation: str) -> float:
    """Another, made a metric later."""
    return len(translation) / len(source)


def compared(run: Run, gold: Path) -> Ranking:
    """A run, scored, compared and held to gold."""
    scores = assert_type(adjudge.score(run, lp="en-de"), Scores)
    adjudge.compare(scores, systems="A,B")
    adjudge.gate(run, gold, margin=1.0)
    assert_type(adjudge.power(run, systems="A,B"), Power)
    assert_type(adjudge.power(sd=8.0, difference=1.0), Power)
    assert_type(adjudge.estimate(run, gold), Estimation)
    adjudge.meta(gold, "en-de")
    adjudge.spans(run, gold)
    adjudge.bias(run)
    return assert_type(rank(scores, method="mean"), Ranking)


def written() -> Sequence[object]:
    """Records of the user's own."""
    try:
        segment = adjudge.Segment(segment="1", lp="en-de", source="One.", translations={"A": "Eins."})
    except AdjudgeError:
        return ()
    span = adjudge.ErrorSpan(severity="minor")
    return (
        segment,
        span,
        adjudge.Annotation,
        adjudge.Failure,
        adjudge.Preference,
        adjudge.__version__,
        adjudge.FailedWarning,
    )


def made() -> Sequence[object]:
    """Every judge and metric."""
    return (
        adjudge.judges.Criteria(),
        adjudge.judges.DirectRank(),
        adjudge.judges.EaPrompt(),
        adjudge.judges.Fire(),
        adjudge.judges.GembaDa(),
        adjudge.judges.GembaEsa(),
        adjudge.judges.GembaMqm(profile="paper"),
        adjudge.judges.GembaSqm(),
        adjudge.judges.GembaV2(),
        adjudge.judges.Himate(),
        adjudge.judges.MMad(),
        adjudge.judges.Rate(),
        adjudge.judges.SingleAgent(),
        adjudge.judges.load_judge("fire"),
        adjudge.metrics.Bleu(lowercase=True),
        adjudge.metrics.Bridge,
        adjudge.metrics.Chrf(),
        adjudge.metrics.ChrfPlusPlus(),
        adjudge.metrics.Rules(),
        adjudge.metrics.SpBleu(),
        adjudge.metrics.Ter(),
        adjudge.metrics.load_metric("bleu"),
    )


def misspelt() -> Sequence[object]:
    """Names that there are not: a checker that lets one pass reports an ignore without use."""
    return (
        adjudge.rnak,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        adjudge.judges.GembaMmq,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        adjudge.metrics.Blue,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    )
