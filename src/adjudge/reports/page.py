"""What stands on a page of a report, put together from runs and gold before any markup.

`make_page` makes a `Page`: a section for each language pair, in it a block for each annotator and the parts
that all annotators share. `run_command` and `page_commands` write the command lines that make runs, rankings
and pages again; `PageSettings` and `ReportSettings` are the options of those who ask for a page.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import numpy as np
from pydantic import SkipValidation

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.eval_set import count_strangers
from adjudge.analysis.rank import RankedSystem
from adjudge.analysis.score import draws_documents
from adjudge.analysis.segment_scores import score_matrix
from adjudge.core.columns import Column
from adjudge.core.frozen import frozen
from adjudge.core.mqm import find_weights
from adjudge.core.record import Failure, Record, grouped
from adjudge.core.scores import CHECKLIST, CardVerdict, Run, RunInfo, card_columns
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import LanguagePair, Mismatched, OfMismatched, Option, Texts, settings
from adjudge.core.wording import count, form, of_all
from adjudge.errors import UsageError, warn
from adjudge.formats.join import put_together
from adjudge.formats.read import Given, Judgements, read_judgements
from adjudge.reports.annotators import (
    Annotator,
    Judged,
    Result,
    beside_gold,
    gold_annotators,
    judged_annotators,
)
from adjudge.reports.figures import (
    Figure,
    count_steps,
    distribution_figure,
    lost_of,
    range_words,
    ranking_figure,
    steps_figure,
)
from adjudge.reports.part_figures import Part, file_stem
from adjudge.reports.parts import (
    agreement_part,
    beside,
    calibration_part,
    cost_part,
    criteria_part,
    errors_part,
    strata_part,
)
from adjudge.reports.segments import (
    UNTRANSLATED,
    Errors,
    Key,
    Verdicts,
    count_errors,
    count_failures,
    count_left_out,
    count_verdicts,
    filter_choices,
    iter_segments_data,
    name_of,
    page_facts,
    page_texts,
    segment_orders,
    warn_of_misfits,
)
from adjudge.reports.tables import CHECKLIST_NOTE, NOTHING, digits_for, interval, number, p_value, table_of
from adjudge.reports.words import axis_words, card_words, finding, headline, lp_words, meaning
from adjudge.stats.bounds import Totals, bounds_of_difference
from adjudge.store.files import uncollected

_BAR: Final = 1000
_MOST_PAIRED: Final = 12  # systems in a matrix of pairs
_SHORT: Final = 150  # letters of a verdict; two lines of a page 1,280 pixels wide hold more
_MOST_FAILURES: Final = 200


@frozen
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


@frozen
class Pair:
    """Two systems of a ranking, as they are printed; the difference is the better one less the other."""

    difference: str
    interval: str
    p: str
    is_significant: bool


@frozen
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
    axis: str = ""
    pairs: Mapping[tuple[str, str], Pair] = field(default_factory=dict)

    @property
    def amounts(self) -> str:
        """How many segments its scores are of, and how many judgements are in none of them."""
        rows = [bar.row for bar in self.bars]
        lost = {why: sum(amounts.values()) for why, amounts in lost_of(rows).items()}
        told = [f"{amount:,} {why}" for why, amount in lost.items() if amount]
        return ", ".join([f"n = {range_words([row.n for row in rows if row.score is not None])}", *told])


@frozen
class Section:
    """One language pair."""

    lp: str
    name: str
    systems: tuple[str, ...]
    segments: int
    blocks: tuple[Block, ...]
    parts: tuple[Part, ...] = ()

    @property
    def trusted(self) -> Block | None:
        """The block that the first chart shows: of gold, else of people, else the first one with scores."""
        scored = [b for b in self.blocks if any(bar.row.score is not None for bar in b.bars)]
        kinds = ("gold", "people")
        own = (b for kind in kinds for b in scored if b.annotator.kind == kind)
        return next(own, next(iter(scored), None))

    @property
    def notes(self) -> dict[str, list[str]]:
        """Notes of its rankings, each once, with the annotators whose ranking has it."""
        found: dict[str, list[str]] = {}
        for block in self.blocks:
            for note in block.notes:
                found.setdefault(note, []).append(block.annotator.label)
        return found


@frozen
class Page:
    """All of a report.

    Its headline has three parts: notes about judges that are unfit, a verdict, and what else must be known.
    """

    title: str
    unfit: tuple[str, ...]
    verdict: str
    more: str
    sections: tuple[Section, ...]
    annotators: tuple[Annotator, ...]
    meanings: tuple[tuple[str, str], ...]
    failures: tuple[tuple[str, Failure], ...]
    failed: int
    untranslated: int
    gold_left_out: int
    left_out: tuple[tuple[str, int], ...]
    of_texts: Sequence[str]
    segments: Mapping[Key, Segment]
    systems: tuple[str, ...]
    facts: Mapping[str, Any]
    choices: Mapping[str, Sequence[tuple[str, str]]]
    orders: Sequence[tuple[str, str]]

    @property
    def headline(self) -> str:
        """The verdict with all that must be known beside it."""
        return " ".join([*self.unfit, "; ".join(filter(None, (self.verdict, self.more)))])

    @property
    def data(self) -> dict[str, Any]:
        """All that its script reads: what holds for the whole page, and every segment."""
        return {**self.facts, "segments": list(self.iter_segments())}

    def iter_segments(self, *, is_thin: bool = False) -> Iterator[dict[str, Any]]:
        """Every segment as its script reads it, one at a time: all may not fit in memory."""
        segments = list(self.segments.values())
        return iter_segments_data(segments, self.annotators, self.systems, is_thin=is_thin)

    def address(self, **wanted: str) -> str:
        """The address of some segments: what the form of the page is to be set to, by its own names.

        A filter that the page has no choices for is left out.
        """
        kept = {name: value for name, value in wanted.items() if self.choices.get(name, True)}
        return "#" + urlencode(kept, errors="surrogatepass")

    @property
    def figures(self) -> list[Figure]:
        return [
            figure
            for section in self.sections
            for drawn in (*(b.figures for b in section.blocks), *(p.figures for p in section.parts))
            for figure in drawn
        ]


@uncollected()
def make_page(
    judged: Sequence[Judged],
    *,
    title: str | None = None,  # of the page; None for the name of the test set
    gold: Judgements | Sequence[Record] = (),
    lp: str | None = None,
    test_set: TestSet | None = None,
    weights: str | None = None,
    mismatched: Mismatched = "refuse",
) -> Page:
    """Put a page together.

    Where runs are among what was judged, the page is about their texts; else about what was judged of the
    texts that files and campaigns bring along. Each of them is an annotator, or one for each protocol.

    `weights`: points of all marked errors, by name or from a file; None for those of each run.
    """
    points = None if weights is None else find_weights(weights)
    if not judged:
        raise UsageError("a report needs at least one run, file of judgements or campaign")
    beside = gold if isinstance(gold, Judgements) else Judgements(name="gold", records=tuple(gold))
    every = [*(read_judgements(each) for each in judged), *([beside] if beside.records else [])]
    if test_set is not None:
        every.append(Judgements(name=test_set.name, records=(), test_set=test_set))
    sides, of_texts = put_together(every, "translations", mismatched, lp)
    gold = sides[len(judged)].records if beside.records else ()
    sight = sight_of(sides[: len(judged)])
    judged = [side.run or side for side in sides[: len(judged)]]
    segments = page_texts(judged, lp, test_set)
    lps = tuple(dict.fromkeys(key[0] for key in segments))
    systems = tuple(dict.fromkeys(name for s in segments.values() for name in s.translations))
    wanted = [record for record in gold if record.lp in lps]
    kept = {key: s.translations for key, s in segments.items()}
    name = " and ".join(dict.fromkeys(name_of(each) for each in judged))
    about = ((r.lp, r.segment, r.systems) for r in gold)
    strangers = count_strangers("gold", about, name, kept) if gold else 0
    golden = gold_annotators(wanted, kept, points, segments.values())
    if strangers:
        are = form(strangers, "is", "are")
        warn(f"{count(strangers, 'gold record')} of translations that no run judged {are} not shown")
    own = judged_annotators(judged, lps, kept, points, segments.values())
    for annotator in (*golden, *(a for a in own if a.info is None)):
        warn_of_misfits(annotator, segments)
    annotators = (*beside_gold(own, golden), *golden)
    sections = tuple(_section(each, list(segments.values()), annotators) for each in lps)
    lost = [(a.label, r) for a in annotators for r in a.records if isinstance(r, Failure)]
    failures = tuple((label, r) for label, r in lost if r.reason != UNTRANSLATED)
    holes = {(r.lp, r.segment, r.systems) for _, r in lost if r.reason == UNTRANSLATED}
    told = headline(
        {(s.lp, b.annotator.label): [bar.row for bar in b.bars] for s in sections for b in s.blocks},
        gold=[annotator.label for annotator in golden],
        few={(lp, a.label): result.ranking.few for a in annotators for lp, result in a.results.items()},
    ) + _part_of_gold(golden, segments)
    verdict, _, more = (told, "", "") if len(told) <= _SHORT else told.partition("; ")
    return Page(
        title=title or name,
        unfit=tuple(sight),
        verdict=verdict,
        more=more,
        sections=sections,
        annotators=annotators,
        meanings=tuple((a.label, meaning(a)) for a in annotators),
        failures=failures[:_MOST_FAILURES],
        failed=len(failures),
        untranslated=len(holes),
        gold_left_out=strangers,
        left_out=count_left_out(judged, own, lps),
        of_texts=of_texts,
        segments=segments,
        systems=systems,
        facts=page_facts(segments, annotators, systems),
        choices=filter_choices(segments, annotators, systems),
        orders=segment_orders(annotators),
    )


def _part_of_gold(gold: Sequence[Annotator], segments: Mapping[Key, Segment]) -> str:
    records = (r for annotator in gold for r in annotator.records if not isinstance(r, Failure))
    judged = len({(r.lp, r.segment) for r in records})
    return (
        f"; gold has {judged:,} of {count(len(segments), 'segment')}"
        if gold and judged < len(segments)
        else ""
    )


def _section(lp: str, segments: Sequence[Segment], annotators: Sequence[Annotator]) -> Section:
    own = [s for s in segments if s.lp == lp]
    systems = tuple(dict.fromkeys(name for s in own for name in s.translations))
    concerned = [a for a in annotators if a.info is not None or a.of_lp(lp)]
    blocks = tuple(_block(lp, a) for a in concerned)
    found = beside(lp, own, concerned)
    made = (
        _scorecards(lp, concerned),
        _checklists(lp, concerned),
        agreement_part(found),
        calibration_part(found),
        cost_part(found),
        strata_part(found),
        criteria_part(found),
        errors_part(lp, {b.annotator.label: b.errors for b in blocks if b.errors is not None}),
    )
    return Section(
        lp=lp,
        name=lp_words(lp),
        systems=systems,
        segments=len(own),
        blocks=blocks,
        parts=tuple(part for part in made if part is not None),
    )


_WHOSE: Final = (Column("system", "its name"), Column("by", "who judged"))


def _scorecards(lp: str, annotators: Sequence[Annotator]) -> Part | None:
    cards = {
        a.label: {s.system: s.card for s in a.results[lp].scores.systems if s.card is not None}
        for a in annotators
        if lp in a.results
    }
    passing = next((w.passing for a in annotators if (w := a.weights_of(lp)) is not None), None)
    if passing is None or not any(cards.values()):
        return None
    rows = [
        SimpleNamespace(system=system, by=label, card=card)
        for label, own in cards.items()
        for system, card in own.items()
    ]
    told = []
    for label, own in cards.items():
        amounts = Counter(card.verdict for card in own.values())
        words = [f"{amounts[v]} {form(amounts[v], *forms)}" for v, forms in _VERDICTS.items() if amounts[v]]
        told += [f"{label}, of {count(len(own), 'scorecard')} {', '.join(words)}"] if own else []
    return Part(
        name="scorecards",
        title="Scorecards",
        finding=f"By {'; by '.join(told)}",
        tables=(table_of([*_WHOSE, *card_columns(passing)], {"": rows}, exact=False),),
        notes=(card_words(passing),),
    )


def _checklists(lp: str, annotators: Sequence[Annotator]) -> Part | None:
    found = [
        (s.system, annotator.label, s.checklist)
        for annotator in annotators
        if lp in annotator.results
        for s in annotator.results[lp].scores.systems
        if s.checklist is not None
    ]
    if not found:
        return None
    told = []
    for by, own in grouped((by, checklist) for _, by, checklist in found).items():
        passed, judged = sum(each.passed for each in own), sum(each.judged for each in own)
        told.append(f"{by}, {of_all(passed, judged, 'verdict')} {form(passed, 'is a pass', 'are passes')}")
    rows = [SimpleNamespace(system=system, by=by, checklist=checklist) for system, by, checklist in found]
    return Part(
        name="checklists",
        title="Checklists",
        finding=f"By {'; by '.join(told)}",
        tables=(table_of([*_WHOSE, *CHECKLIST], {"": rows}, exact=False),),
        notes=(CHECKLIST_NOTE,),
    )


_VERDICTS: Final[Mapping[CardVerdict, tuple[str, str]]] = {
    "pass": ("passes", "pass"),
    "fail": ("fails", "fail"),
    "open": ("is open", "are open"),
}


def _block(lp: str, annotator: Annotator) -> Block:
    result = annotator.results.get(lp)
    if result is None:
        return Block(annotator=annotator, finding=finding([]), failures={})
    records, rows = annotator.of_lp(lp), result.ranking.systems
    bars, ends = _bars(rows, digits_for((r.score for r in rows), (r.interval for r in rows)))
    errors = count_errors(records, [row.system for row in rows])
    return Block(
        annotator=annotator,
        finding=finding(rows, result.ranking.few),
        bars=bars,
        ends=ends,
        signature=str(result.ranking.signature),
        method=result.ranking.method,
        notes=result.ranking.notes,
        errors=errors if errors.total else None,
        failures=count_failures(records),
        verdicts=tuple(count_verdicts(records)),
        figures=_figures(lp, annotator, result),
        axis=axis_words(annotator, result.scores),
        pairs=_pairs(result),
    )


def _pairs(result: Result) -> dict[tuple[str, str], Pair]:
    rows, p_values = result.ranking.systems, result.ranking.p_values
    judged = [row for row in rows if row.score is not None]
    shown = judged[:_MOST_PAIRED] if p_values else []
    if len(shown) < 2:
        return {}
    matrix = score_matrix(result.scores.segments)
    columns = [matrix.systems.index(row.system) for row in judged]
    is_common = np.asarray(~np.isnan(matrix.scores[:, columns]).any(axis=1))
    common = matrix.select(is_common, columns)
    totals = common.totals(by_document=draws_documents(common.documents))
    bounds = {
        (i, j): bounds_of_difference(Totals(sums=totals.sums[:, [i, j]], sizes=totals.sizes[:, [i, j]]))
        for i, j in combinations(range(len(shown)), 2)
    }
    digits = digits_for((b.value for b in bounds.values()), (b.interval for b in bounds.values()))
    return {
        (shown[i].system, shown[j].system): Pair(
            difference=number(bound.value, digits),
            interval=interval(bound.interval, digits),
            p=NOTHING if (p := p_values[i][j]) is None else p_value(p),
            is_significant=shown[j].system in shown[i].better_than,
        )
        for (i, j), bound in bounds.items()
    }


def _bars(rows: Sequence[RankedSystem], digits: int) -> tuple[tuple[Bar, ...], tuple[str, str]]:
    points = [p for r in rows for p in (r.score, *(r.interval or ())) if p is not None]
    low, high = min(points, default=0.0), max(points, default=0.0)
    width = (high - low) or 1.0

    def place(value: float | None) -> float:
        return 0.0 if value is None else round((value - low) / width * _BAR, 1)

    bars = [
        Bar(
            row=row,
            rank=_rank(row),
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


def _rank(row: RankedSystem) -> str:
    return "" if row.best is None else f"{row.best}" if row.best == row.worst else f"{row.best}–{row.worst}"


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
    turns = count_steps(annotator.of_lp(lp))
    return (
        ranking_figure(f"ranking.{stem}", finding(rows, result.ranking.few), rows, what),
        distribution_figure(f"scores.{stem}", scores, what, top=result.scores.range[1], lost=lost_of(rows)),
        *([steps_figure(f"turns.{stem}", turns)] if turns else []),
    )


_SAID_ELSEWHERE: Final = frozenset({"name", "profile", "prompts"})
_OF_THE_RUN: Final = {
    "reference": None,
    "base_url": None,
    "json_schema": "auto",
    "effort": None,
    "context": 0,
    "terms": "",
    "seed": 0,
}
"""Settings that any run has, and what they are where nobody chose."""
_PLACES: Final = {"base_url": "URL", "terms": "FILE"}
"""What stands for a place that is nobody's business but the runner's: a report goes to others."""


_FILES: Final = re.compile(r"(?<=^files):.*", re.DOTALL)
"""The digest that a signature names in place of the folder in which a judge searched."""


def run_command(info: RunInfo, folder: str | None = None) -> str:
    """The `adjudge run` that judges the same test set in the same way.

    `folder`: its directory, whose copy of the test set is judged again; None where it has no place.
    """
    test_set = "TEST_SET" if folder is None else f"{folder.rstrip('/')}/test_set.jsonl"
    again = "RUN" if folder is None else f"{folder.rstrip('/')}-again"
    words = ["adjudge", "run", info.annotator, test_set, "--out", again]
    fields = info.signature.fields
    if info.kind == "judge":
        for name in filter(None, fields.get("model", "").split(";")):
            words += ["--model", name]
        if (profile := fields.get("profile", "recommended")) != "recommended":
            words += ["--profile", profile]
    for name in _mapping(info, info.kind):
        if name in fields and name not in _SAID_ELSEWHERE:  # the signature names what was changed
            words += [f"--{name}", _FILES.sub(":FOLDER", fields[name])]
    references = {*_mapping(info, "reference").values()}
    reference = references.pop() if len(references) == 1 else None  # where all language pairs share it
    settings = dict(info.settings) | {"reference": reference}
    settings |= {name: word for name, word in _PLACES.items() if settings.get(name)}
    for name, default in _OF_THE_RUN.items():
        if (value := settings.get(name)) and value != default:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _mapping(info: RunInfo, key: str) -> Mapping[str, object]:
    found = info.settings.get(key)
    return found if isinstance(found, Mapping) else {}


@settings
class PageSettings:
    """What stands on a page beside the judgements that it is about."""

    gold: Annotated[
        SkipValidation[Given],
        Option(help="Gold judgements: a run, a file or a campaign.", kind=Path, exists=True),
    ] = ()
    test_set: Texts = None
    mismatched: OfMismatched = "refuse"
    title: Annotated[str | None, Option(help="Title of the page; default: the name of the test set.")] = None
    lp: LanguagePair = None
    weights: Annotated[
        str | None,
        Option(
            help="Error weights from `adjudge list weights` or a .toml; default: the run's.",
            metavar="NAME|FILE",
        ),
    ] = None


@settings
class ReportSettings(PageSettings):
    """The same, of a page that is a file."""

    force: Annotated[bool, Option(help="Replace the file if it exists.")] = False


def page_commands(
    command: str, judged: Sequence[Judged], places: Sequence[Path | str], options: Mapping[str, object]
) -> list[str]:
    """The command lines that make the runs, their rankings and a page of them again, each as it stands."""
    names = [str(place) for place in places]
    runs = [run_command(r.info, n) for r, n in zip(judged, names, strict=True) if isinstance(r, Run)]
    ranked = [n for r, n in zip(judged, names, strict=True) if isinstance(r, Run) or not Path(n).is_dir()]
    words = {
        name: [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        for name, value in options.items()
        if value is not None and value != () and (name, value) != ("mismatched", "refuse")
    }
    ranking = [shlex.join(["adjudge", "rank", *ranked, *words.get("lp", ())])] if ranked else []
    return [*runs, *ranking, shlex.join(["adjudge", command, *names, *chain(*words.values())])]
