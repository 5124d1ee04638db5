"""What stands on a page, put together from runs and gold, before any markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adjudge.core.annotation import Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import UsageError
from adjudge.meta.ranking.rank import RankedSystem
from adjudge.report.annotators import Annotator, Result, beside_gold, gold_annotators, judged_annotators
from adjudge.report.collecting import uncollected
from adjudge.report.figures import Figure, distribution_figure, ranking_figure
from adjudge.report.findings import finding
from adjudge.report.given import Judged
from adjudge.report.headline import headline
from adjudge.report.numbers import digits_for, interval, number
from adjudge.report.parts.agreement import agreement_part
from adjudge.report.parts.beside import beside
from adjudge.report.parts.calibration import calibration_part
from adjudge.report.parts.cost import cost_part
from adjudge.report.parts.criteria import criteria_part
from adjudge.report.parts.errors import errors_part
from adjudge.report.parts.part import Part, file_stem
from adjudge.report.parts.strata import strata_part
from adjudge.report.script_data import filter_choices, page_facts, segment_orders
from adjudge.report.segments import Key, iter_segments_data
from adjudge.report.steps_figure import count_steps, steps_figure
from adjudge.report.tallies import Errors, Verdicts, count_errors, count_failures, count_verdicts
from adjudge.report.texts import count_left_out, name_of, page_texts, warn_of_misfits
from adjudge.report.words import axis_words, lp_words, meaning

__all__ = ["Bar", "Block", "Page", "Section", "make_page"]

_BAR: Final = 1000
_MOST_FAILURES: Final = 200


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A row of a ranking as it is printed; `low`, `mean` and `high` are places on an axis of 1000."""

    row: RankedSystem
    rank: str
    score: str
    interval: str
    low: float
    mean: float
    high: float
    ends_cluster: bool


@dataclass(frozen=True, kw_only=True)
class Block:
    """All that one annotator found on one language pair."""

    annotator: Annotator
    finding: str
    bars: tuple[Bar, ...] = ()
    ends: tuple[str, str] = ("", "")
    signature: str = ""
    method: str = ""
    notes: tuple[str, ...] = ()
    errors: Errors | None = None
    failures: Mapping[str, Counter[str]]
    verdicts: tuple[Verdicts, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """One language pair."""

    lp: str
    name: str
    systems: tuple[str, ...]
    segments: int
    blocks: tuple[Block, ...]
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """All of a report."""

    title: str
    headline: str
    sections: tuple[Section, ...]
    annotators: tuple[Annotator, ...]
    meanings: tuple[tuple[str, str], ...]
    failures: tuple[tuple[str, Failure], ...]
    failed: int
    gold_left_out: int
    left_out: tuple[tuple[str, int], ...]
    segments: Mapping[Key, Segment]
    systems: tuple[str, ...]
    facts: Mapping[str, Any]
    choices: Mapping[str, Sequence[tuple[str, str]]]
    orders: Sequence[tuple[str, str]]

    @property
    def data(self) -> dict[str, Any]:
        """All that its script reads: what holds for the whole page, and every segment."""
        return {**self.facts, "segments": list(self.iter_segments())}

    def iter_segments(self, *, is_thin: bool = False) -> Iterator[dict[str, Any]]:
        """Every segment as its script reads it, one at a time: all may not fit in memory.

        Args:
            is_thin: whether bare scores are numbers, for a page that is packed.
        """
        segments = list(self.segments.values())
        return iter_segments_data(segments, self.annotators, self.systems, is_thin=is_thin)

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in page order."""
        return [
            figure
            for section in self.sections
            for drawn in (*(b.figures for b in section.blocks), *(p.figures for p in section.parts))
            for figure in drawn
        ]


def make_page(
    judged: Sequence[Judged],
    *,
    title: str | None = None,
    gold: Sequence[Record] = (),
    lp: str | None = None,
    test_set: TestSet | None = None,
) -> Page:
    """Put a page together.

    Where runs are among what was judged, the page is about their texts; else about what was judged of the
    texts that files and campaigns bring along. Each of them is an annotator, or one for each protocol.

    Args:
        judged: runs, files and campaigns, all of one test set.
        title: of the page; None for the name of the test set.
        gold: records to show beside them, by which they are measured.
        lp: keep one language pair.
        test_set: texts of files that carry none; what was judged of it is shown beside what the runs judged.

    Raises:
        UsageError: nothing given, no texts, an lp that nothing has, or judgements of different texts.
        DataError: a run with records that do not belong to its test set, or a file without any that do.
    """
    with uncollected():
        return _page(judged, gold, (title, lp), test_set)


def _page(
    judged: Sequence[Judged],
    gold: Sequence[Record],
    chosen: tuple[str | None, str | None],
    test_set: TestSet | None,
) -> Page:
    title, lp = chosen
    if not judged:
        raise UsageError("a report needs at least one run, file of judgements or campaign")
    segments = page_texts(judged, lp, test_set)
    lps = tuple(dict.fromkeys(key[0] for key in segments))
    systems = tuple(dict.fromkeys(name for s in segments.values() for name in s.translations))
    wanted = [record for record in gold if record.lp in lps]
    kept = {key: s.translations for key, s in segments.items()}
    golden = gold_annotators(wanted, kept)
    own = judged_annotators(judged, lps, kept)
    for annotator in (*golden, *(a for a in own if a.info is None)):
        warn_of_misfits(annotator, segments)
    left_out = count_left_out(judged, own, lps)
    annotators = (*beside_gold(own, golden), *golden)
    sections = tuple(_section(name, list(segments.values()), annotators) for name in lps)
    failures = tuple((a.label, r) for a in annotators for r in a.records if isinstance(r, Failure))
    return Page(
        title=title or " and ".join(dict.fromkeys(name_of(each) for each in judged)),
        headline=headline(
            {(s.lp, b.annotator.label): _rows(b) for s in sections for b in s.blocks},
            gold=[annotator.label for annotator in golden],
        )
        + _part_of_gold(golden, segments),
        sections=sections,
        annotators=annotators,
        meanings=tuple((a.label, meaning(a)) for a in annotators),
        failures=failures[:_MOST_FAILURES],
        failed=len(failures),
        gold_left_out=len(wanted) - sum(len(a.records) for a in golden),
        left_out=left_out,
        segments=segments,
        systems=systems,
        facts=page_facts(segments, annotators, systems),
        choices=filter_choices(segments, annotators, systems),
        orders=segment_orders(annotators),
    )


def _part_of_gold(gold: Sequence[Annotator], segments: Mapping[Key, Segment]) -> str:
    """Say how many segments gold has, where it has not all: what it shows, it shows on these."""
    records = (r for annotator in gold for r in annotator.records if not isinstance(r, Failure))
    judged = len({(r.lp, r.segment) for r in records})
    return (
        f"; gold has {judged:,} of {count(len(segments), 'segment')}"
        if gold and judged < len(segments)
        else ""
    )


def _rows(block: Block) -> tuple[RankedSystem, ...]:
    return tuple(bar.row for bar in block.bars)


def _section(lp: str, segments: Sequence[Segment], annotators: Sequence[Annotator]) -> Section:
    own = [s for s in segments if s.lp == lp]
    systems = tuple(dict.fromkeys(name for s in own for name in s.translations))
    concerned = [a for a in annotators if a.info is not None or a.of_lp(lp)]
    blocks = tuple(_block(lp, a) for a in concerned)
    return Section(
        lp=lp,
        name=lp_words(lp),
        systems=systems,
        segments=len(own),
        blocks=blocks,
        parts=_parts(lp, own, concerned, blocks),
    )


def _parts(
    lp: str, segments: Sequence[Segment], annotators: Sequence[Annotator], blocks: Sequence[Block]
) -> tuple[Part, ...]:
    """What annotators show together; only parts that have something to show."""
    found = beside(lp, segments, annotators)
    errors = {b.annotator.label: b.errors for b in blocks if b.errors is not None}
    made = (
        agreement_part(found),
        calibration_part(found),
        cost_part(found),
        strata_part(found),
        criteria_part(found),
        errors_part(lp, errors),
    )
    return tuple(part for part in made if part is not None)


def _block(lp: str, annotator: Annotator) -> Block:
    """What one annotator found; its systems stand best first."""
    result = annotator.results.get(lp)
    if result is None:
        return Block(annotator=annotator, finding=finding([]), failures={})
    records, rows = annotator.of_lp(lp), result.ranking.systems
    bars, ends = _bars(rows, digits_for((r.score for r in rows), (r.interval for r in rows)))
    errors = count_errors(records, [row.system for row in rows])
    return Block(
        annotator=annotator,
        finding=finding(rows),
        bars=bars,
        ends=ends,
        signature=str(result.ranking.signature),
        method=result.ranking.method,
        notes=result.ranking.notes,
        errors=errors if errors.total else None,
        failures=count_failures(records),
        verdicts=tuple(count_verdicts(records)),
        figures=_figures(lp, annotator, result),
    )


def _bars(rows: Sequence[RankedSystem], digits: int) -> tuple[tuple[Bar, ...], tuple[str, str]]:
    """Rows with their places on one axis, and what stands at its ends."""
    points = [p for r in rows for p in (r.score, *(r.interval or ())) if p is not None]
    low, high = min(points, default=0.0), max(points, default=0.0)
    width = (high - low) or 1.0
    ranks = _ranks(rows)

    def place(value: float | None) -> float:
        return 0.0 if value is None else round((value - low) / width * _BAR, 1)

    bars = [
        Bar(
            row=row,
            rank=ranks[index],
            score=number(row.score, digits),
            interval=interval(row.interval, digits),
            low=place(row.interval.low if row.interval else row.score),
            mean=place(row.score),
            high=place(row.interval.high if row.interval else row.score),
            ends_cluster=index + 1 < len(rows) and rows[index + 1].cluster != row.cluster,
        )
        for index, row in enumerate(rows)
    ]
    return tuple(bars), (number(low, digits), number(high, digits))


def _ranks(rows: Sequence[RankedSystem]) -> list[str]:
    """Ranks that each row may have by the tests of its pairs, as in 2–4."""
    return [
        "" if row.best is None else f"{row.best}" if row.best == row.worst else f"{row.best}–{row.worst}"
        for row in rows
    ]


def _figures(lp: str, annotator: Annotator, result: Result) -> tuple[Figure, ...]:
    rows = result.ranking.systems
    if not any(row.score is not None for row in rows):
        return ()
    stem = f"{lp}.{file_stem(annotator.label)}"
    what = axis_words(annotator, result.scores)
    scores: dict[str, list[float]] = {row.system: [] for row in rows}
    for s in result.scores.segments:
        if s.score is not None:
            scores[s.system].append(s.score)
    return (
        ranking_figure(f"ranking.{stem}", finding(rows), rows, what),
        distribution_figure(
            f"scores.{stem}",
            scores,
            what,
            top=result.scores.range[1],
            failed={row.system: row.failed for row in rows},
        ),
        *_steps(lp, stem, annotator),
    )


def _steps(lp: str, stem: str, annotator: Annotator) -> tuple[Figure, ...]:
    """Which tool was used at which turn, by a judge that decides that itself."""
    turns = count_steps(record for record in annotator.records if record.lp == lp)
    return (steps_figure(f"turns.{stem}", turns),) if turns else ()
