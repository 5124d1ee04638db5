"""`adjudge.spans`: precision, recall and F1 of marked errors against gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from adjudge.core.annotation import ErrorSpan, Failure, Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.protocol import find_protocol
from adjudge.core.run import Run
from adjudge.core.score import Interval, Signature
from adjudge.core.wording import form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.meta.bootstrap import lone_unit_note
from adjudge.meta.spans.credit import Average, Credit, macro, micro
from adjudge.meta.spans.intervals import quality_intervals
from adjudge.meta.spans.marks import Unit
from adjudge.meta.spans.pairing import Paired, keep_common, pair_up, signature_of
from adjudge.meta.spans.reading import Judged, read_both
from adjudge.meta.spans.rules import Rule
from adjudge.meta.spans.settings import Settings, SpanOptions
from adjudge.meta.spans.views import View, split_views, views_of

__all__ = ["SpanComparison", "SpanScore", "pair_marks", "spans", "spans_of_runs"]


@dataclass(frozen=True, kw_only=True)
class SpanScore:
    """One row: one rule, at one threshold, over one group.

    Args:
        rule: its name.
        threshold: of `himate`; None for rules without one.
        unit: what marks count in.
        group: severity, category, side, system or lp; empty for all.
        precision: 0 to 1.
        recall: 0 to 1.
        f1: 0 to 1.
        n_gold: marks of gold.
        n_pred: marks of the run.
        n_segments: translations that were compared.
        intervals: 95 % bootstrap intervals by name; empty where none were asked for.
    """

    rule: str
    threshold: float | None
    unit: Unit
    group: str
    precision: float
    recall: float
    f1: float
    n_gold: int
    n_pred: int
    n_segments: int
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SpanComparison:
    """Marks of a run against gold.

    Args:
        average: micro or macro.
        scores: rows; each rule, at each threshold, over all and then each group.
        n_segments: translations that both judged.
        failed: translations that gold judged and whose judgement in the run failed.
        signature: what makes the numbers repeatable.
        notes: what a reader must know.
    """

    average: Average
    scores: tuple[SpanScore, ...]
    n_segments: int
    failed: int
    signature: Signature
    notes: tuple[str, ...] = ()


@checks_keywords(SpanOptions)
def spans(
    run: Run | Iterable[Record] | Path | str,
    gold: Run | Iterable[Record] | Path | str,
    **options: Unpack[SpanOptions],
) -> SpanComparison:
    """Compare the errors that a run marked with those of gold.

    Only translations that both judged count. A failed judgement is in no number; `failed` says how many
    there were. The rules and their edge cases: `meta.spans.by_mark` and `meta.spans.by_character`.

    Args:
        run: a run or its directory, records or their file, an MQM TSV, or a `.seg.rating`.
        gold: the same.
        options: as `SpanOptions` describes them.

    Raises:
        DataError: nothing was judged by both.
        UsageError: a setting out of its range, or that no chosen rule has; records that mark nothing.
    """
    (found,) = spans_of_runs({"run": run}, gold, **options).values()
    return found


def spans_of_runs(
    runs: Mapping[str, Run | Iterable[Record] | Path | str],
    gold: Run | Iterable[Record] | Path | str,
    **options: Unpack[SpanOptions],
) -> dict[str, SpanComparison]:
    """Compare several runs with gold, on the translations that all of them judged; see `spans`."""
    settings = Settings(**options)
    paired = {name: pair_marks(run, gold, settings) for name, run in runs.items()}
    return {name: _compared(found, settings) for name, found in keep_common(paired).items()}


def pair_marks(
    run: Run | Iterable[Record] | Path | str, gold: Run | Iterable[Record] | Path | str, settings: Settings
) -> Paired:
    """Read a run and its gold, and put together what both marked.

    Raises:
        DataError: nothing was judged by both.
        UsageError: judgements that mark no errors.
    """
    judged = read_both(run, gold, lp=settings.lp, test_set=settings.test_set)
    for one in judged:
        _check_protocols(one)
    return pair_up(
        *judged, lp=settings.lp, annotator=settings.annotator, gold_annotator=settings.gold_annotator
    )


def _compared(paired: Paired, settings: Settings) -> SpanComparison:
    scores = [score for rule in settings.rules for score in _scores(rule, paired, settings)]
    if not scores:
        raise DataError("no text of the marks is known, and words were to be compared: add --test-set")
    return SpanComparison(
        average=settings.average,
        scores=tuple(scores),
        n_segments=len(paired.both),
        failed=paired.failed,
        signature=signature_of(paired, settings.told),
        notes=(*paired.notes, *_notes(paired, settings, scores)),
    )


def _check_protocols(judged: Judged) -> None:
    """Refuse judgements that mark nothing: no marks there do not mean no errors."""
    for protocol in dict.fromkeys(r.protocol for r in judged.records if not isinstance(r, Failure)):
        if not find_protocol(protocol).has_spans:
            raise UsageError(f"{judged.name} holds judgements of protocol {protocol}, which marks no errors")


def _scores(rule: Rule, paired: Paired, settings: Settings) -> Iterator[SpanScore]:
    """Rows of one rule: at each threshold, over all and then each group."""
    unit = settings.unit or rule.unit
    views = views_of(paired.both, unit, frozenset(settings.severities), by_words=rule.compares_words)
    if not views:
        return
    groups = {"": views} | ({} if settings.by is None else split_views(views, settings.by))
    for variant in settings.variants(rule):
        for group, part in groups.items():
            yield _score(rule, unit, variant, group, part, settings)


def _score(
    rule: Rule, unit: Unit, variant: Mapping[str, Any], group: str, views: Sequence[View], settings: Settings
) -> SpanScore:
    credits_ = [_credit(rule, view, variant) for view in views]
    found = (micro if settings.average == "micro" else macro)(credits_)
    intervals: Mapping[str, Interval | None] = {}
    if settings.resamples:
        segments = [(view.key.lp, view.key.segment) for view in views]
        intervals = quality_intervals(
            credits_, segments, settings.average, resamples=settings.resamples, seed=settings.seed
        )
    return SpanScore(
        rule=rule.name,
        threshold=variant.get("threshold"),
        unit=unit,
        group=group,
        precision=found.precision,
        recall=found.recall,
        f1=found.f1,
        n_gold=sum(len(view.gold) for view in views),
        n_pred=sum(len(view.pred) for view in views),
        n_segments=len(views),
        intervals=intervals,
    )


def _credit(rule: Rule, view: View, variant: Mapping[str, Any]) -> Credit:
    if not view.gold and not view.pred:
        return Credit(0.0, 0.0, 0.0, 0.0)
    return rule.credit(view.gold, view.pred, **variant)


def _notes(paired: Paired, settings: Settings, scores: Sequence[SpanScore]) -> Iterator[str]:
    """Say what the numbers do not show."""
    lps = dict.fromkeys(both.key.lp for both in paired.both)
    if len(lps) > 1 and settings.by != "lp":
        yield f"All of {', '.join(lps)} together; --lp keeps one, --by lp shows each."
    for name, side in (("gold", [b.gold for b in paired.both]), ("the run", [b.pred for b in paired.both])):
        yield from _mark_notes(name, [span for a in side for span in a.spans], settings)
    if any(s.n_gold == 0 or s.n_pred == 0 for s in scores):
        yield "0 of 0 counts as 1: precision where nothing is predicted, recall where gold marks nothing."
    if settings.resamples:
        yield from lone_unit_note(len({(both.key.lp, both.key.segment) for both in paired.both}), "segments")
    n = len(paired.both)
    for rule, kept in dict.fromkeys((s.rule, s.n_segments) for s in scores if not s.group):
        if kept < n:
            which = f"{of_all(n - kept, n, 'translation')} {form(n - kept, 'is', 'are')}"
            yield f"{which} left out of {rule}: marks there come without words."


def _mark_notes(name: str, marks: Sequence[ErrorSpan], settings: Settings) -> Iterator[str]:
    counted = [span for span in marks if span.severity in settings.severities]
    if len(counted) < len(marks):
        left = ", ".join(dict.fromkeys(s.severity for s in marks if s.severity not in settings.severities))
        lost = len(marks) - len(counted)
        which = f"{of_all(lost, len(marks), 'mark')} of {name} {form(lost, 'is', 'are')}"
        yield f"{which} {left} and left out."
    if unplaced := sum(span.start is None for span in counted):
        rules = "em, mp and mpp match them only with one another, w25 and chars leave them out"
        which = f"{of_all(unplaced, len(counted), 'mark')} of {name} {form(unplaced, 'has', 'have')}"
        yield f"{which} no place: {rules}."
