"""`reproduce`: a paper's tables beside ours, with a verdict for each cell.

Each cell claims a measure, computed by the same functions as `adjudge meta` (`value_of`). Some are about
FiRE's pairs: labels of three people on pairs of translations, and evaluators' verdicts beside them
(`pair_value`). Others are about marked errors: F1 of a run's marks against gold's, by HiMATE's matching rule
(`mark_value`). `esa_tables` has those of the ESA paper's campaigns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.eval_set import EvalSet, ScoreSet, find_own_scores, row_means
from adjudge.analysis.meta_settings import MetaSettings, mean_of_statistics, measure, task_statistics, within
from adjudge.analysis.preferences import VERDICTS as PREFERENCES_VERDICTS
from adjudge.analysis.preferences import preferences_of
from adjudge.analysis.segment_scores import score_records
from adjudge.analysis.shared_tasks import Task, find_task
from adjudge.analysis.spans import spans
from adjudge.core.frozen import frozen
from adjudge.core.record import Preference
from adjudge.core.scores import VERSION, Signature
from adjudge.errors import DataError, UsageError
from adjudge.formats.fire_mt import CRITERIA, FirePair, read_fire_pairs
from adjudge.formats.mtme import read_mtme
from adjudge.formats.read import Judgements, read_judgements
from adjudge.reproduce.esa_tables import CAMPAIGN_MEASURES, campaign_value, known
from adjudge.reproduce.paper_tables import (
    COUNT,
    EMPTY,
    META,
    UNPRINTED,
    Definition,
    Inputs,
    MissingInputError,
    Paper,
    PaperTable,
    Reason,
    Row,
    read_paper,
)
from adjudge.stats.agreement_coefficients import MAJORITY, fleiss_kappa, majority, percentage_agreement
from adjudge.stats.bootstrap import NO_INTERVAL
from adjudge.stats.judged import Floats, Result

PAIR_MEASURES: Final = frozenset({"pairs", "pairs_kappa", "pairs_agreement", "pairs_score"})
"""Number of pairs of a subset; Fleiss' kappa of all pairs; agreement with the majority on a subset; points of
a system (win 1, tie 0.5), the mean over its comparisons."""

_ENDINGS: Final = (".jsonl", ".jsonl.gz", "")


def pair_value(definition: Definition, metric: str, source: str, inputs: Inputs) -> float:
    """Compute a cell about pairs."""
    (lp,) = definition.lps
    criterion = definition.criterion or metric
    if definition.measure == "pairs_score":
        return _points(definition, metric, lp, CRITERIA[criterion], inputs)
    file, pairs = _benchmark(definition, source, inputs)
    gold = np.array([_labels(pair, criterion, file) for pair in pairs])
    if definition.measure == "pairs":
        return float(_subset(gold, definition.subset).sum())
    if definition.measure == "pairs_kappa":
        return _known(fleiss_kappa(gold).value, f"labels of {criterion} in {inputs.told(file)}")
    verdicts = _said(definition, metric, lp, pairs, inputs)
    if definition.judged_by:
        judged = ~np.isnan(_said(definition, definition.judged_by, lp, pairs, inputs))
        gold, verdicts = gold[judged], verdicts[judged]
    shares = percentage_agreement(verdicts, gold, [""] * gold.shape[1], NO_INTERVAL)
    found = [s.agreement.value for s in shares if (s.pairs, s.against) == (definition.subset, MAJORITY)]
    told = inputs.told(inputs.file(metric, lp, _ENDINGS))
    return _known(found[0] if found else None, f"verdicts on {criterion} in {told}")


def _points(definition: Definition, system: str, lp: str, criterion: str, inputs: Inputs) -> float:
    file = inputs.file(definition.judged_by, lp, _ENDINGS)
    said = inputs.content(file, lambda path: read_judgements(path, lp, needed=False), lp).records
    chosen = [r for r in said if isinstance(r, Preference) and (r.lp, r.criterion) == (lp, criterion)]
    found = {s.system: s.score for s in score_records(chosen).systems} if chosen else {}
    return _known(found.get(system), f"verdicts on {criterion} of {system} in {inputs.told(file)}")


def _benchmark(definition: Definition, source: str, inputs: Inputs) -> tuple[Path, Sequence[FirePair]]:
    (lp,) = definition.lps
    place = inputs.paper.inputs[source].place
    file = inputs.place(place, f"{lp}/{lp}-annotation.json") / lp / f"{lp}-annotation.json"
    if not file.is_file():
        raise MissingInputError(inputs.told(file))
    return file, inputs.content(file, read_fire_pairs)


def _said(definition: Definition, metric: str, lp: str, pairs: Sequence[FirePair], inputs: Inputs) -> Floats:
    file = inputs.file(metric, lp, _ENDINGS)

    def read() -> Floats:
        said = inputs.content(file, lambda path: read_judgements(path, lp, needed=False), lp)
        by_criterion = any(r.protocol == "mqm" for r in said.records)
        records = (r for r in preferences_of(said, by_criterion=by_criterion) if r.lp == lp)
        criterion = CRITERIA[str(definition.criterion)]
        found: dict[int, float] = {}
        for record in records:
            if not isinstance(record, Preference) or record.criterion != criterion:
                continue
            place = int(record.segment) - 1 if record.segment.isdecimal() else -1
            if not 0 <= place < len(pairs):
                raise DataError(f"segment {record.segment!r} is no number from 1 to {len(pairs)}", path=file)
            if place in found:
                raise DataError(f"two verdicts on {criterion} of pair {record.segment}", path=file)
            systems = pairs[place].systems
            if sorted(record.systems) != sorted(systems):
                wanted, came = " and ".join(systems), " and ".join(record.systems)
                raise DataError(f"pair {record.segment} is of {wanted}, got {came}", path=file)
            sign = 1 if record.systems == systems else -1
            found[place] = np.nan if record.is_undecided else sign * PREFERENCES_VERDICTS[record.verdict]
        return np.array([found.get(place, np.nan) for place in range(len(pairs))])

    return inputs.read(metric, read)


def _known(value: float | None, wanted: str) -> float:
    if value is None:
        raise MissingInputError(wanted)
    return value


def _labels(pair: FirePair, criterion: str, file: Path) -> list[float]:
    if criterion not in pair.verdicts:
        raise DataError(f"pair {pair.number} has nothing on {criterion!r}", path=file)
    return [PREFERENCES_VERDICTS[verdict] for verdict in pair.verdicts[criterion]]


def _subset(gold: Floats, subset: str) -> NDArray[np.bool_]:
    wanted = majority(gold)
    easy = (gold == gold[:, :1]).all(axis=1)
    chosen = ~np.isnan(wanted)
    marks = {"ranked": np.abs(wanted) == 1, "tied": wanted == 0, "easy": easy, "hard": ~easy}
    for word in subset.split():
        chosen &= marks.get(word, chosen)
    return chosen


MARK_MEASURES: Final = frozenset({"span_f1"})


def mark_value(
    definition: Definition, metric: str, source: str, segments: Collection[str], inputs: Inputs
) -> float:
    """Compute F1 of marked errors at the definition's threshold."""
    (lp,) = definition.lps
    side = inputs.side(source, lp)
    folder = side.folder / "human-scores"
    stem = f"{lp}.{side.gold.name}"
    merged = folder / f"{stem}.merged.seg.rating"
    there = [merged] if merged.is_file() else sorted(folder.glob(f"{stem}*.seg.rating"))
    if len(there) != 1:
        raise MissingInputError(inputs.told(merged))
    gold = there[0]
    run = inputs.file(metric, lp, _ENDINGS)
    texts = inputs.content(side.folder / "sources" / f"{lp}.txt", lambda _: read_mtme(side.folder, lp))
    sides = []
    for file in (run, gold):
        judged: Judgements = inputs.content(
            file, lambda path: read_judgements(path, lp, texts, needed=False), lp
        )
        kept = [
            r
            for r in judged.records
            if not isinstance(r, Preference)
            and r.segment in segments
            and set(r.systems) <= set(side.eval_set.systems)
        ]
        if not kept:
            raise MissingInputError(f"judgements of the column's segments in {inputs.told(file)}")
        sides.append(kept)
    marked = partial(spans, *sides, rule="himate", threshold=definition.threshold, lp=lp, test_set=texts)
    return inputs.read(metric, marked).scores[0].f1


def value_of(definition: Definition, metric: str, source: str, inputs: Inputs) -> float:
    """Compute what a cell claims."""
    metric = definition.metric or metric
    if definition.measure in PAIR_MEASURES:
        return pair_value(definition, metric, source, inputs)
    if definition.measure in CAMPAIGN_MEASURES:
        return campaign_value(definition, metric, source, inputs)
    if definition.measure in MARK_MEASURES:
        (lp,) = definition.lps
        kept = np.flatnonzero(_kept(definition, lp, source, inputs).all(axis=0))
        segments = {inputs.side(source, lp).eval_set.segments[place] for place in kept}
        return mark_value(definition, metric, source, segments, inputs)
    if definition.measure == COUNT:
        judged = [
            (_kept(definition, lp, source, inputs), inputs.side(source, lp).gold) for lp in metric.split()
        ]
        return float(sum((kept & ~np.isnan(gold.segments)).sum() for kept, gold in judged))
    if definition.measure == META:
        return _meta(definition, metric, source, inputs)
    (lp,) = definition.lps
    gold, scores = _scores(definition, metric, lp, source, inputs)
    settings = MetaSettings(scale=definition.scale)
    return known(measure(definition.measure, gold, scores, settings, definition.average))


def _meta(definition: Definition, metric: str, source: str, inputs: Inputs) -> float:
    name = definition.task or inputs.paper.inputs[source].task
    task = find_task(str(name))
    parts = []
    for lp in definition.lps:
        gold, scores = _scores(definition, metric, lp, source, inputs)
        parts.append(task_statistics(task, gold, scores, MetaSettings(), {}))
    if definition.rounded is None:
        return _mean(task, parts)
    return float(np.mean([round(_mean(task, [part]), definition.rounded) for part in parts]))


def _mean(task: Task, parts: list[tuple[Result, ...]]) -> float:
    value = mean_of_statistics(task, parts)
    if value is None:
        reasons = [result.reason for part in parts for result in part if result.value is None]
        raise MissingInputError(f"no value: {reasons[0]}")
    return value


def _scores(
    definition: Definition, metric: str, lp: str, source: str, inputs: Inputs
) -> tuple[ScoreSet, ScoreSet]:
    side = inputs.side(source, lp)
    gold, scores = side.gold, inputs.metric(source, lp, metric)
    kept = _kept(definition, lp, source, inputs)
    if not kept.all():
        if definition.is_of_systems and not _are_means(scores):
            raise MissingInputError(
                f"scores of systems on these segments alone; {scores.name} has those of its whole corpus, "
                "which are no means of segments"
            )
        cells: Floats = np.where(kept, gold.segments, np.nan)
        gold, scores = within(gold, cells), within(scores, cells)
    return (_of_totals(gold), _of_totals(scores)) if definition.totals else (gold, scores)


def _kept(definition: Definition, lp: str, source: str, inputs: Inputs) -> NDArray[np.bool_]:
    """Which translations the definition is about, systems by segments."""
    side = inputs.side(source, lp)
    kept = np.broadcast_to(_columns(definition, side.eval_set), side.gold.segments.shape)
    if definition.judged_by:
        kept = kept & ~np.isnan(inputs.metric(source, lp, definition.judged_by).segments)
    return kept


def _are_means(scores: ScoreSet) -> bool:
    means = row_means(scores.segments)
    sums = means * (~np.isnan(scores.segments)).sum(axis=1)
    return any(np.allclose(scores.systems, own, rtol=_PUBLISHED, equal_nan=True) for own in (means, sums))


_PUBLISHED: Final = 1e-4
"""Relative difference by which a published mean may be rounded."""


def _columns(definition: Definition, eval_set: EvalSet) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    kept = np.ones(len(eval_set.segments), dtype=np.bool_)
    if (lines := definition.segments) is not None:
        first, last = lines[eval_set.lp] if isinstance(lines, Mapping) else lines
        kept &= (np.arange(len(kept)) >= first - 1) & (np.arange(len(kept)) < last)
    if definition.domain is not None:
        kept &= np.array(eval_set.domains) == definition.domain
    if definition.lengths is not None:
        shortest, too_long = definition.lengths
        lengths = np.array(eval_set.lengths)
        kept &= (lengths >= shortest) & (lengths < too_long)
    if not kept.any():
        raise MissingInputError(f"segments of {eval_set.name} {eval_set.lp} that the column is about")
    return kept


def _of_totals(scores: ScoreSet) -> ScoreSet:
    return replace(scores, segments=scores.systems[:, None])


Verdict = Literal["match", "rounding", "differs", "missing-input"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


_NOISE: Final = 10  # digits; what lies beyond them is no reason to round a half up or down
_UNPRINTED: Final = "no number of the paper to compare"


@frozen
class Cell:
    """One number of a paper beside ours."""

    table: str  # such as `Table 2`
    row: str
    column: str
    paper: str  # as printed; empty where the paper prints none
    ours: float | None  # on the same scale, with every digit; None where an input is missing
    # `match`: ours is the paper's, rounded as that is printed. `rounding`: they are less than one unit of the
    # last digit apart, for no reason but rounding. `differs`. `missing-input`: there are no two numbers to
    # compare, since a file is missing or we have none of the paper.
    verdict: Verdict
    reason: str = ""  # empty for a match; else why, or which file is wanted

    @property
    def is_unprinted(self) -> bool:
        """Whether the paper prints no number, and ours stands alone."""
        return not self.paper


@frozen
class Reproduction:
    """A paper's tables, cell by cell."""

    paper: str
    title: str
    source: str
    cells: tuple[Cell, ...]  # by table, row and column, in the paper's order
    notes: tuple[str, ...]  # what a reader must know of the paper, and of the files that were read

    @property
    def counts(self) -> Mapping[Verdict, int]:
        found = Counter(cell.verdict for cell in self.cells)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def signature(self) -> Signature:
        return Signature("reproduce", {"paper": self.paper, "version": VERSION})


def reproduce(paper: str | Paper, data: Path | str, add: Sequence[str] = ()) -> Reproduction:
    """Compute the tables of a paper again, as far as their inputs are there."""
    described = read_paper(paper) if isinstance(paper, str) else paper
    data = Path(data)
    if not data.is_dir():
        raise UsageError(f"no folder {str(data)!r}: --data names the one with the paper's inputs")
    lps = [lp for t in described.tables for definition in t.columns.values() for lp in definition.lps]
    own = find_own_scores(add, [*dict.fromkeys(lps)])
    inputs = Inputs(data, described, {f"+{name}": scores for name, scores in own.items()})
    shown = [
        _Printed(table=table, row=row, column=column, claimed=claimed, text=text)
        for printed_table in described.tables
        for table in _with_own(printed_table, inputs)
        for row in table.rows
        for (column, claimed), text in zip(table.columns.items(), row.cells, strict=True)
        if text != EMPTY
    ]
    cells = [_cell(each, inputs) for each in shown]
    for name, scores in own.items():
        if all(cell.ours is None for cell in cells if cell.row == name):
            has = {
                record.lp
                for lp, file in scores.files.items()
                for record in read_judgements(file, lp, needed=False).records  # refuses a damaged file
            }
            rows = [each for each in shown if each.row.name == name]
            why = "none of its tables compares judges"
            if rows:
                why = _cell(min(rows, key=lambda row: not has.issuperset(row.claimed.lps)), inputs).reason
            raise UsageError(f"{name} can stand in no table of {described.name}: {why}")
    return Reproduction(
        paper=described.name,
        title=described.title,
        source=described.source,
        cells=tuple(cells),
        notes=(*described.notes, *inputs.notes),
    )


def _with_own(table: PaperTable, inputs: Inputs) -> Iterator[PaperTable]:
    if not inputs.own or any(c.measure in _ROWS_ARE_NO_JUDGES for c in table.columns.values()):
        yield table
        return
    added = {
        key: Row(name=key[1:], metric=key, cells=(UNPRINTED,) * len(table.columns)) for key in inputs.own
    }
    if taken := {row.name for row in table.rows} & {row.name for row in added.values()}:
        raise UsageError(f"{table.name} has a row {min(taken)!r}: call yours by another name, NAME=RUN")
    yield replace(table, rows=(*table.rows, *added.values()))
    for key, row in added.items():
        partly = {
            name: replace(definition, judged_by=key)
            for name, definition in table.columns.items()
            if 0 < (share := _judged(definition, key, table.input, inputs))[0] < share[1]
        }
        rows = [replace(r, cells=(UNPRINTED,) * len(partly)) for r in (*table.rows, row)]
        if partly:
            yield replace(table, name=_part(table.name, row.name), columns=partly, rows=tuple(rows))


_ROWS_ARE_NO_JUDGES: Final = CAMPAIGN_MEASURES.keys() | PAIR_MEASURES - {"pairs_agreement"} | {COUNT}


def _part(table: str, name: str) -> str:
    return f"{table}, on what {name} judged"


def _judged(definition: Definition, metric: str, source: str, inputs: Inputs) -> tuple[int, int]:
    found = [0, 0]
    try:
        for lp in definition.lps:
            if definition.measure in PAIR_MEASURES:
                file, pairs = _benchmark(definition, source, inputs)
                gold = np.array([_labels(pair, str(definition.criterion), file) for pair in pairs])
                wanted = _subset(gold, definition.subset)
                judged = ~np.isnan(_said(definition, metric, lp, pairs, inputs))
            else:
                wanted = _kept(definition, lp, source, inputs)
                if not definition.is_of_systems:
                    wanted = wanted & ~np.isnan(inputs.side(source, lp).gold.segments)
                judged = ~np.isnan(inputs.metric(source, lp, metric).segments)
            found = [found[0] + int((wanted & judged).sum()), found[1] + int(wanted.sum())]
    except MissingInputError:
        return 0, 0
    return found[0], found[1]


@frozen
class _Printed:
    table: PaperTable
    row: Row
    column: str
    claimed: Definition
    text: str

    def value(self, definition: Definition, inputs: Inputs) -> float:
        found = value_of(definition, self.row.metric, self.table.input, inputs)
        return found * 100 if self.table.percent else found

    def is_met_by(self, value: float) -> bool:
        return Decimal(printed(value, self.text)) == Decimal(self.text)

    def is_near(self, value: float) -> bool:
        return abs(round(value - float(self.text), _NOISE)) < float(_unit(self.text))


def _cell(theirs: _Printed, inputs: Inputs) -> Cell:
    text = "" if theirs.text == UNPRINTED else theirs.text
    cell = partial(Cell, table=theirs.table.name, row=theirs.row.name, column=theirs.column, paper=text)
    is_own = theirs.row.metric in inputs.own
    try:
        if is_own and not theirs.claimed.judged_by:
            _refuse_part(theirs, inputs)
        ours = theirs.value(theirs.claimed, inputs)
    except MissingInputError as missing:
        return cell(ours=None, verdict="missing-input", reason=f"wanted: {missing}")
    if is_own:
        return cell(ours=ours, verdict="missing-input", reason="no row of the paper")
    place = theirs.table.name, theirs.row.name, theirs.column
    reason = next((reason for reason in inputs.paper.reasons if reason.applies(*place)), None)
    if not text:
        why = _UNPRINTED if reason is None else f"{_UNPRINTED}; ours: {reason.text}"
        return cell(ours=ours, verdict="missing-input", reason=why)
    if theirs.is_met_by(ours):
        return cell(ours=ours, verdict="match")
    by_rounding = theirs.is_near(ours) and (reason is None or reason.rounding)
    verdict: Verdict = "rounding" if by_rounding else "differs"
    if reason is None:
        return cell(
            ours=ours,
            verdict=verdict,
            reason="less than one unit of the last digit apart" if by_rounding else "we know no reason",
        )
    return cell(ours=ours, verdict=verdict, reason=f"{reason.text}{_proof(reason, theirs, inputs)}")


def _refuse_part(theirs: _Printed, inputs: Inputs) -> None:
    judged, wanted = _judged(theirs.claimed, theirs.row.metric, theirs.table.input, inputs)
    if judged < wanted:
        beside = f", see {_part(theirs.table.name, theirs.row.name)}" if judged else ""
        raise MissingInputError(f"{wanted:,} judgements; it has {judged:,}{beside}")


def _proof(reason: Reason, theirs: _Printed, inputs: Inputs) -> str:
    definition = reason.definition(theirs.claimed)
    if definition is None:
        return ""
    try:
        value = theirs.value(definition, inputs)
    except MissingInputError as missing:
        return f"; to see it, {missing} is wanted"
    return f"; {'this' if theirs.is_met_by(value) else 'but that'} gives {printed(value, theirs.text)}"


def _unit(text: str) -> Decimal:
    return Decimal(1).scaleb(int(Decimal(text).as_tuple().exponent))


def printed(value: float, like: str) -> str:
    """A number with as many digits after the point as another one is printed with; halves go up."""
    return str(Decimal(repr(round(value, _NOISE))).quantize(_unit(like), ROUND_HALF_UP))
