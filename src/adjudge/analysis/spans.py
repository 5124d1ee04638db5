"""`spans`: precision, recall and F1 of marked errors against gold, and which severities they are given.

`pair_up` puts together the translations that both gold and a run judged, the only ones on which marks can
be compared. `spans` scores them by the rules of `span_matching`, whole or by severity, category, side,
system, language pair, domain or length; `severity_confusion` counts which severity a run gives to what gold
marks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import numpy as np
from annotated_types import Ge, Le, Lt
from pydantic import BeforeValidator

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.eval_set import length_names, source_lengths
from adjudge.analysis.preferences import numbered
from adjudge.analysis.span_matching import (
    RULES,
    THRESHOLD,
    Average,
    Credit,
    Mark,
    Rule,
    Unit,
    best_pairs,
    find_rule,
    macro,
    mark_of,
    micro,
    quality_intervals,
    shares,
    split_words,
)
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.language import coded_lp, of_lp
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity, find_protocol
from adjudge.core.record import (
    Annotation,
    ErrorSpan,
    Failure,
    Side,
    grouped,
    repeats_note,
    without_repeats,
)
from adjudge.core.scores import INTERVAL, VERSION, Interval, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import (
    LanguagePair,
    Name,
    Names,
    Numbers,
    OfMismatched,
    Option,
    Seed,
    Texts,
    settings,
    split_names,
    takes,
)
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.formats.join import put_together
from adjudge.formats.mtme import find_test_set
from adjudge.formats.read import Given, Judgements, detect, read_judgements
from adjudge.stats.agreement_coefficients import cohen_kappa
from adjudge.stats.bootstrap import Draws, lone_unit_note, mean_of
from adjudge.stats.judged import Result


def _lacks_texts(source: Given) -> bool:
    """Whether this is a file whose lines are about a test set that does not lie beside it."""
    if not isinstance(source, Path | str) or not Path(source).is_file():
        return False
    return detect(Path(source)) in {"mtme-ratings", "mtme-scores"} and find_test_set(Path(source)) is None


class Key(NamedTuple):
    """One translation."""

    lp: str
    segment: str
    system: str


class Both(NamedTuple):
    """One translation as gold and the run judged it, and its texts where they are known."""

    key: Key
    gold: Annotation
    pred: Annotation
    texts: Mapping[Side, str]
    domain: str = ""
    length: str = ""


@frozen
class Paired:
    """What both judged."""

    both: tuple[Both, ...]  # one for each two judgements of a translation; several annotators make several
    failed: int  # translations that gold judged and whose judgement in the run failed
    notes: tuple[str, ...] = ()  # what a reader must know


def pair_up(
    pred: Judgements,
    gold: Judgements,
    *,
    lp: str | None = None,
    annotator: str | None = None,
    gold_annotator: str | None = None,
) -> Paired:
    """Put together what gold and the run say of the same translation, in the order of the run.

    Where several annotators judged a translation, each one of gold is put beside each one of the run. A
    translation whose marks do not stand in the text is left out: gold and run saw different texts.
    """
    lp = None if lp is None else coded_lp(lp)
    pred, repeats = _without_repeats(pred)
    gold, gold_repeats = _without_repeats(gold)
    said = _annotations(pred, lp, annotator)
    golds = _annotations(gold, lp, gold_annotator)
    texts = _Texts(pred.test_set, gold.test_set)
    both = [
        Both(key, g, p, texts.of(key), *texts.kind_of(key))
        for key in said
        if key in golds
        for g in golds[key]
        for p in said[key]
    ]
    fitting = [
        b
        for b in both
        if all(_stands(span, b.texts.get(span.side)) for a in (b.gold, b.pred) for span in a.spans)
    ]
    if not fitting:
        raise DataError(_nothing(pred, gold, said, golds, len(both)))
    failures = [r for r in of_lp(pred.records, lp, pred.name) if isinstance(r, Failure)]
    failed = {Key(r.lp, r.segment, system) for r in failures for system in r.systems}
    failed &= golds.keys() - said.keys()
    notes = [
        *(f"{each.name}: {note.removesuffix('.')}." for each in (pred, gold) for note in each.notes),
        *repeats,
        *gold_repeats,
        *_coverage(pred, gold, said, golds, failed),
    ]
    if lost := len(both) - len(fitting):
        which = f"{of_all(lost, len(both), 'judgement')} {form(lost, 'is', 'are')}"
        notes.append(f"{which} left out: gold and the run marked different texts.")
    return Paired(both=tuple(fitting), failed=len(failed), notes=tuple(dict.fromkeys(notes)))


def keep_common(runs: Mapping[str, Paired]) -> dict[str, Paired]:
    """Keep of several runs the translations that all of them judged, so that their numbers compare."""
    common = set.intersection(*({both.key for both in paired.both} for paired in runs.values()))
    if not common:
        raise DataError(f"no translation was judged by all of {', '.join(runs)} and gold")
    kept = {}
    for name, paired in runs.items():
        both = tuple(b for b in paired.both if b.key in common)
        lost = len(paired.both) - len(both)
        which = f"{of_all(lost, len(paired.both), 'translation')} {form(lost, 'is', 'are')}"
        note = f"{which} left out, since not every run judged {form(lost, 'it', 'them')}."
        kept[name] = replace(paired, both=both, notes=(*paired.notes, *([note] if lost else [])))
    return kept


def signature_of(paired: Paired, settings: Mapping[str, object]) -> Signature:
    """What makes the numbers repeatable: whose judgements were compared, and how."""
    told = {name: str(value) for name, value in settings.items() if value not in {None, ""}}
    failed = f"{paired.failed}/{paired.failed + len({b.key for b in paired.both})}"
    golds = ",".join(dict.fromkeys(b.gold.annotator for b in paired.both))
    name = ",".join(dict.fromkeys(b.pred.annotator for b in paired.both))
    return Signature(name, {"gold": golds, **told, "failed": failed, "version": VERSION})


def _without_repeats(judged: Judgements) -> tuple[Judgements, list[str]]:
    records, repeated = without_repeats(judged.records)
    notes = [f"{judged.name}: {note}" for note in repeats_note(repeated)]
    return replace(judged, records=tuple(records)), notes


def _annotations(judged: Judgements, lp: str | None, annotator: str | None) -> dict[Key, list[Annotation]]:
    there = [r for r in of_lp(judged.records, lp, judged.name) if isinstance(r, Annotation)]
    names = {r.annotator for r in there}
    if annotator is not None and annotator not in names:
        raise UsageError(f"{judged.name} has no annotator {annotator!r}; it has {_some(sorted(names))}")
    chosen = (r for r in there if annotator in {None, r.annotator})
    return grouped((Key(r.lp, r.segment, r.system), r) for r in chosen)


class _Texts:
    """Source and translation of every translation, from whoever knows them."""

    def __init__(self, *test_sets: TestSet | None) -> None:
        self._segments: list[dict[tuple[str, str], Segment]] = [
            {(s.lp, s.segment): s for s in test_set} for test_set in test_sets if test_set is not None
        ]

    def of(self, key: Key) -> Mapping[Side, str]:
        texts: dict[Side, str] = {}
        for segments in self._segments:
            segment = segments.get((key.lp, key.segment))
            if segment is not None:
                texts.setdefault("source", segment.source)
                if key.system in segment.translations:
                    texts.setdefault("translation", segment.translations[key.system])
        return texts

    def kind_of(self, key: Key) -> tuple[str, str]:
        found = [s for segments in self._segments if (s := segments.get((key.lp, key.segment))) is not None]
        domain = next((segment.domain for segment in found if segment.domain), "")
        if not found:
            return domain, ""
        (length,) = source_lengths(found[:1], key.lp)
        return domain, length_names(key.lp, LENGTHS)[bisect_right(LENGTHS, length)]


def _stands(span: ErrorSpan, text: str | None) -> bool:
    if text is None or span.start is None or span.end is None:
        return True
    return span.end <= len(text) and (not span.text or text[span.start : span.end] == span.text)


def _nothing(
    pred: Judgements,
    gold: Judgements,
    said: Mapping[Key, object],
    golds: Mapping[Key, object],
    common: int,
) -> str:
    if common:
        return (
            f"{pred.name} and {gold.name} judged {count(common, 'translation')} both, but marked "
            "different texts: these are not the same translations"
        )
    parts = []
    for judged, keys in ((pred, said), (gold, golds)):
        example = next((f", such as {'/'.join(key)}" for key in keys), "")
        parts.append(f"{judged.name} judged {count(len(keys), 'translation')}{example}")
    return f"no translation was judged by both: {'; '.join(parts)}; lp, segment id and system must be equal"


def _coverage(
    pred: Judgements,
    gold: Judgements,
    said: Mapping[Key, list[Annotation]],
    golds: Mapping[Key, list[Annotation]],
    failed: set[Key],
) -> Iterator[str]:
    if failed:
        which = of_all(len(failed), len(golds), "translation")
        yield f"{which} that gold judged failed in the run: in no number."
    left = len(golds.keys() - said.keys() - failed)
    if left:
        which = of_all(left, len(golds), "translation")
        yield f"{which} that gold judged {form(left, 'is', 'are')} not in the run."
    more = len(said.keys() - golds.keys())
    if more:
        which = of_all(more, len(said), "translation")
        yield f"{which} that the run judged {form(more, 'has', 'have')} no gold."
    for what, judged, keys in (("the run", pred, said), ("gold", gold, golds)):
        common = [key for key in keys if key in said and key in golds]
        several = sum(len(keys[key]) > 1 for key in common)
        if several:
            names = _some(sorted({a.annotator for found in keys.values() for a in found}))
            option = "--annotator" if judged is pred else "--gold-annotator"
            which = f"{of_all(several, len(common), 'translation')} {form(several, 'was', 'were')}"
            kept = f"each judgement counts, {option} NAME keeps one"
            yield f"{which} judged several times in {what}, by {names}; {kept}."


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "none"


Group = Literal["severity", "category", "side", "system", "lp", "domain", "length"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)

_NONE: Final = "none"
LENGTHS: Final = (12, 27)
"""Where a longer source begins, in tokens or characters: HiMATE, table 3."""


class View(NamedTuple):
    """The marks of one translation that are compared."""

    key: Key
    gold: tuple[Mark, ...]
    pred: tuple[Mark, ...]
    domain: str = ""
    length: str = ""


def views_of(
    both: Iterable[Both], unit: Unit, severities: frozenset[Severity], *, by_words: bool
) -> list[View]:
    """Marks of the translations, without those of other severities."""
    views = []
    for b in both:
        sides = [_marks(a, b.texts, unit, severities, by_words=by_words) for a in (b.gold, b.pred)]
        if sides[0] is not None and sides[1] is not None:
            views.append(View(b.key, sides[0], sides[1], b.domain, b.length))
    return views


def _marks(
    annotation: Annotation,
    texts: Mapping[Side, str],
    unit: Unit,
    severities: frozenset[Severity],
    *,
    by_words: bool,
) -> tuple[Mark, ...] | None:
    spans = [s for s in annotation.spans if s.severity in severities]
    if by_words:
        if any(s.start != s.end and not s.text for s in spans):
            return None
        return tuple(mark_of(span, unit) for span in spans)
    if unit == "words" and any(s.start is not None and s.side not in texts for s in spans):
        return None
    words = {side: split_words(text) if unit == "words" else [] for side, text in texts.items()}
    return tuple(mark_of(span, unit, words.get(span.side, ())) for span in spans)


def split_views(views: Sequence[View], by: Group) -> dict[str, list[View]]:
    """Views by group.

    By severity, category or side every translation stays, with the marks of that group on both sides and
    no others: a major error that is predicted as minor is found by neither. By system, lp, domain or length
    (of the source, in the bins of HiMATE's table 3) the translations are split.
    """
    if by in {"domain", "length"}:
        order = _order_of_lengths(views) if by == "length" else None
        kinds = sorted({getattr(view, by) for view in views}, key=order)
        return {name or _NONE: [view for view in views if getattr(view, by) == name] for name in kinds}
    if by in {"system", "lp"}:
        names = dict.fromkeys(getattr(view.key, by) for view in views)
        return {name: [view for view in views if getattr(view.key, by) == name] for name in names}
    found = {_label(mark, by) for view in views for mark in (*view.gold, *view.pred)}
    labels = ["translation", "source", *reversed(SEVERITIES), *CATEGORIES, _NONE]
    return {name: [_only(view, by, name) for view in views] for name in labels if name in found}


def _order_of_lengths(views: Sequence[View]) -> Callable[[str], int]:
    lps = sorted({view.key.lp for view in views})
    names = dict.fromkeys(name for lp in lps for name in length_names(lp, LENGTHS))
    order = {name: place for place, name in enumerate(names)}
    return lambda name: order.get(name, -1)


def _only(view: View, by: Group, name: str) -> View:
    gold, pred = (tuple(m for m in marks if _label(m, by) == name) for marks in (view.gold, view.pred))
    return View(view.key, gold, pred)


def _label(mark: Mark, by: Group) -> str:
    return str(getattr(mark, by) or _NONE)


@settings
class MarkSettings:
    """Whose marks are compared, on which texts, which of them count, and the draws of their intervals."""

    lp: LanguagePair = None
    annotator: Annotated[Name | None, Option(help="Use only this annotator of the run.")] = None
    gold_annotator: Annotated[Name | None, Option(help="Use only this annotator of gold.")] = None
    test_set: Texts = None
    mismatched: OfMismatched = "refuse"
    severities: Annotated[
        Sequence[Severity], BeforeValidator(split_names), Option(help="Severities of the marks to compare.")
    ] = ("minor", "major", "critical")  # neutral marks are no errors
    resamples: Annotated[
        Annotated[int, Ge(1)] | None,
        Option(help="Bootstrap draws for intervals over segments; default: no intervals."),
    ] = None
    seed: Seed = 0


def _read_weights(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        pairs = [part.split("=") for part in value.split(",")]
        return {name.strip(): float(weight) for name, weight in pairs}
    except ValueError:
        raise ValueError("a weight for each severity, such as minor=1,major=5") from None


@settings
class SpanSettings(MarkSettings):
    """How marks of a run are put beside those of gold."""

    rule: Annotated[
        Names, Option(help="Matching rules: mpp, em, mp, w25, himate, chars, or all.", alias="rules")
    ] = ("mpp",)
    threshold: Annotated[
        Numbers | None,
        Option(help="Overlap thresholds of rule himate, 0 to 1; default: 0.5.", metavar="A,B", kind=str),
    ] = None
    average: Annotated[Average, Option(help="Average over marks (micro) or over translations (macro).")] = (
        "micro"
    )
    by: Annotated[
        Group | None, Option(help="Also print a result for each severity, category or other group.")
    ] = None
    unit: Annotated[
        Unit | None, Option(help="Measure marks in characters or words; default: as the rule's source.")
    ] = None
    penalty: Annotated[
        float,
        Ge(0),
        Le(1),
        Option(
            help="Credit lost when two matching spans differ in severity, 0 to 1 (rules em, mp, mpp).",
            name="severity-penalty",
        ),
    ] = 0.0
    weights: Annotated[
        Mapping[Severity, Annotated[float, Ge(0), Lt(math.inf)]] | None,
        BeforeValidator(_read_weights),
        Option(
            help="Weight of each severity in rule mpp, such as minor=1,major=5.",
            name="severity-weights",
            metavar="S=W,...",
            kind=str,
        ),
    ] = None

    def __post_init__(self) -> None:
        if not self.severities:
            raise UsageError(f"severities must name one or more of {', '.join(SEVERITIES)}")
        if not all(0 < threshold <= 1 for threshold in self.thresholds):
            raise UsageError(f"a threshold lies above 0 and is at most 1, got {self.threshold}")
        if self.penalty and self.weights is not None:
            raise UsageError("give either a severity penalty or severity weights, not both")
        for name in ("threshold", "penalty", "weights"):
            if getattr(self, name) and not any(name in rule.takes for rule in self.rules):
                takers = ", ".join(rule.name for rule in RULES.values() if name in rule.takes)
                chosen = ", ".join(rule.name for rule in self.rules)
                raise UsageError(f"{chosen} takes no {name}; it is a setting of {takers}")

    @property
    def rules(self) -> list[Rule]:
        """Rules chosen, each once."""
        if [*self.rule] == ["all"]:
            return [*RULES.values()]
        return [find_rule(name) for name in dict.fromkeys(self.rule)]

    @property
    def thresholds(self) -> tuple[float, ...]:
        given = self.threshold
        return (THRESHOLD,) if given is None else (given,) if isinstance(given, int | float) else tuple(given)

    @property
    def told(self) -> dict[str, object]:
        """What a signature says: what the numbers depend on, and the rows do not say."""
        weights = self.weights or {}
        return {
            "rule": ",".join(rule.name for rule in self.rules),
            "average": self.average,
            "severities": ",".join(self.severities),
            "unit": self.unit,
            "penalty": f"{self.penalty:g}" if self.penalty else None,
            "weights": ",".join(f"{name}={weight:g}" for name, weight in weights.items()),
            "resamples": self.resamples,
            "seed": self.seed if self.resamples else None,
        }

    def variants(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """Settings with which a rule is applied, one after the other."""
        both: dict[str, Any] = {"penalty": self.penalty, "weights": self.weights}
        shared = {name: value for name, value in both.items() if name in rule.takes}
        if "threshold" not in rule.takes:
            yield shared
            return
        for threshold in self.thresholds:
            yield {**shared, "threshold": threshold}


@frozen
class SpanScore:
    """One row: one rule, at one threshold, over one group."""

    rule: str
    threshold: float | None  # of `himate`; None for rules without one
    unit: Unit  # what marks count in
    group: str  # severity, category, side, system or lp; empty for all
    precision: float
    recall: float
    f1: float
    n_gold: int
    n_pred: int  # marks of the run
    n_segments: int  # translations that were compared
    # 95 % bootstrap intervals by name; empty where none were asked for
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)


class SpanRow(NamedTuple):
    """One row of one of several comparisons."""

    run: str
    failed: int
    score: SpanScore


def span_columns(rows: Sequence[SpanRow], by: str = "group") -> list[Column]:
    """The columns of `adjudge spans`; those of runs, thresholds and groups where there are several."""
    has_intervals = any(row.score.intervals for row in rows)
    threshold = Column(
        "threshold", "from which marks match", "count", of="score.threshold", words="{:g}".format, none=""
    )
    return [
        *([Column("run", "its name")] if len({row.run for row in rows}) > 1 else []),
        Column("rule", "name of the rule by which marks match", of="score.rule"),
        *([threshold] if any(row.score.threshold is not None for row in rows) else []),
        *(
            [Column(by, "which marks, or all", of=lambda row: row.score.group or "all")]
            if any(row.score.group for row in rows)
            else []
        ),
        *(column for name in _MEASURED for column in _measured(name, with_intervals=has_intervals)),
        Column("n gold", "marks of gold", "count", of="score.n_gold"),
        Column("n predicted", "marks of the run", "count", of="score.n_pred"),
        Column("translations", "that were compared", "count", of="score.n_segments"),
        Column("failed", "judgements of the run that failed", "count"),
    ]


_MEASURED: Final = {"precision": "score.n_pred", "recall": "score.n_gold", "f1": "score.rule"}
"""Measure to what it has no number without."""


def _measured(name: str, *, with_intervals: bool) -> list[Column]:
    title = name.capitalize() if name == "f1" else name
    needed = Column("", "", of=_MEASURED[name])
    found = [
        Column(title, "0 to 1, higher is better", "decimal", of=f"score.{name}", title=""),
        Column(
            "",
            "0 to 1, higher is better",
            "decimal",
            of=lambda row: getattr(row.score, name) if needed.value(row) else None,
            title=title,
        ),
    ]
    around = replace(INTERVAL, of=f"score.intervals.{name}", ends=(f"{title} low", f"{title} high"))
    return [*found, *([around] if with_intervals else [])]


@frozen
class SpanComparison(Framed):
    """Marks of a run against gold."""

    average: Average  # micro or macro
    scores: tuple[SpanScore, ...]  # rows; each rule, at each threshold, over all and then each group
    n_segments: int  # translations that both judged
    failed: int  # translations that gold judged and whose judgement in the run failed
    signature: Signature  # what makes the numbers repeatable
    notes: tuple[str, ...] = ()  # what a reader must know

    def groups(self) -> dict[str, list[SpanRow]]:
        return {"": [SpanRow("", self.failed, score) for score in self.scores]}

    def columns(self) -> list[Column]:
        return span_columns(self.groups()[""])


@takes(SpanSettings)
def spans(run: Given, gold: Given | None, settings: SpanSettings) -> SpanComparison:
    """Compare the errors that a run marked with those of gold.

    Only translations that both judged count. A failed judgement is in no number; `failed` says how many
    there were. The rules and their edge cases: `analysis.span_matching`.

    Args:
        run: a run, records, or the path of whatever holds marked errors.
        gold: the same.
        settings: how marks are matched and averaged.

    Raises:
        DataError: nothing was judged by both.
        UsageError: a setting out of its range, or that no chosen rule has; records that mark nothing.
    """
    if gold is None:
        raise UsageError("spans compares a run with gold: give both")
    return spans_of_runs({"run": run}, gold, settings)["run"]


def spans_of_runs(
    runs: Mapping[str, Given], gold: Given, settings: SpanSettings
) -> dict[str, SpanComparison]:
    """Compare several runs with gold, on the translations that all of them judged; see `spans`."""
    paired = {name: pair_marks(run, gold, settings) for name, run in runs.items()}
    return {name: _compared(found, settings) for name, found in keep_common(paired).items()}


def pair_marks(run: Given, gold: Given, settings: MarkSettings) -> Paired:
    """Read a run and its gold, and put together what both marked."""
    if settings.test_set is None and _lacks_texts(run):
        truth = read_judgements(gold, settings.lp)
        both = read_judgements(run, settings.lp, beside=truth.test_set), truth
    else:
        pred = read_judgements(run, settings.lp, settings.test_set, needed=False)
        both = pred, read_judgements(gold, settings.lp, settings.test_set, beside=pred.test_set, needed=False)
    judged, notes = put_together(both, "translations", settings.mismatched, settings.lp)
    for one in judged:  # no marks there do not mean no errors
        for protocol in dict.fromkeys(r.protocol for r in one.records if not isinstance(r, Failure)):
            if not find_protocol(protocol).has_spans:
                raise UsageError(f"{one.name} holds judgements of protocol {protocol}, which marks no errors")
    found = pair_up(
        *judged, lp=settings.lp, annotator=settings.annotator, gold_annotator=settings.gold_annotator
    )
    return replace(found, notes=(*sight_of(judged), *found.notes, *notes))


def _compared(paired: Paired, settings: SpanSettings) -> SpanComparison:
    scores = [score for rule in settings.rules for score in _scores(rule, paired, settings)]
    if not scores:
        raise DataError("words can be compared only with the texts of the marks: add --test-set")
    return SpanComparison(
        average=settings.average,
        scores=tuple(scores),
        n_segments=len(paired.both),
        failed=paired.failed,
        signature=signature_of(paired, settings.told),
        notes=(*paired.notes, *_notes(paired, settings, scores)),
    )


def _scores(rule: Rule, paired: Paired, settings: SpanSettings) -> Iterator[SpanScore]:
    unit = settings.unit or rule.unit
    views = views_of(paired.both, unit, frozenset(settings.severities), by_words=rule.compares_words)
    if not views:
        return
    groups = {"": views} | ({} if settings.by is None else split_views(views, settings.by))
    for variant in settings.variants(rule):
        for group, part in groups.items():
            nothing = Credit(0.0, 0.0, 0.0, 0.0)
            credits_ = [rule.credit(v.gold, v.pred, **variant) if v.gold or v.pred else nothing for v in part]
            found = (micro if settings.average == "micro" else macro)(credits_)
            intervals: Mapping[str, Interval | None] = {}
            if settings.resamples:
                segments = [(view.key.lp, view.key.segment) for view in part]
                intervals = quality_intervals(
                    credits_, segments, settings.average, resamples=settings.resamples, seed=settings.seed
                )
            yield SpanScore(
                rule=rule.name,
                threshold=variant.get("threshold"),
                unit=unit,
                group=group,
                precision=found.precision,
                recall=found.recall,
                f1=found.f1,
                n_gold=sum(len(view.gold) for view in part),
                n_pred=sum(len(view.pred) for view in part),
                n_segments=len(part),
                intervals=intervals,
            )


def _notes(paired: Paired, settings: SpanSettings, scores: Sequence[SpanScore]) -> Iterator[str]:
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


def _mark_notes(name: str, marks: Sequence[ErrorSpan], settings: SpanSettings) -> Iterator[str]:
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


_MEETING: Final = "Marks meet where they share something, one-to-one; severity has no part in that."
_NOTHING: Final = "no mark of gold meets one of the run"


@frozen
class Confusion(Framed):
    """Marks of a run beside those of gold."""

    # severity in gold and in the run, to how many marks; None where one side marked nothing
    counts: Mapping[tuple[Severity | None, Severity | None], int]
    severities: tuple[Severity, ...]  # that are marked by either side, the gravest first
    same: Result  # share of marks that both sides marked which have one severity
    kappa: Result  # Cohen's, of their severities
    n_segments: int  # translations that both judged
    failed: int  # translations that gold judged and whose judgement in the run failed
    signature: Signature  # what makes the numbers repeatable
    notes: tuple[str, ...] = ()  # what a reader must know

    def columns(self) -> Sequence[Column]:
        return CONFUSION

    def groups(self) -> dict[str, list[tuple[Severity | None, Severity | None, int]]]:
        """Severity in gold, severity in the run, and how many marks have them."""
        return {"": [(gold, run, n) for (gold, run), n in self.counts.items()]}


CONFUSION: Final = (
    Column("gold", "severity in gold, empty for no mark", of=itemgetter(0)),
    Column("predicted", "severity in the run, empty for no mark", of=itemgetter(1)),
    Column("n", "marks", "count", of=itemgetter(2)),
)
"""The columns of a `Confusion`."""


@takes(MarkSettings)
def severity_confusion(run: Given, gold: Given | None, settings: MarkSettings) -> Confusion:
    """Count which severity a run gives to what gold marks.

    Marks meet as under the rule `mp`: on the same side, where they share anything, one-to-one, and so that
    they share most; marks without a place meet those with the same words. Severity has no part in that. The
    share of equal severities is not corrected for chance, kappa is; both are of marks that meet, with
    intervals over segments.
    """
    if gold is None:
        raise UsageError("severity_confusion compares a run with gold: give both")
    return severity_confusions({"run": run}, gold, settings)["run"]


def severity_confusions(
    runs: Mapping[str, Given], gold: Given, settings: MarkSettings
) -> dict[str, Confusion]:
    """The same of several runs, on the translations that all of them judged."""
    paired = {name: pair_marks(run, gold, settings) for name, run in runs.items()}
    return {name: _counted(found, settings) for name, found in keep_common(paired).items()}


def _counted(paired: Paired, settings: MarkSettings) -> Confusion:
    counts: Counter[tuple[Severity | None, Severity | None]] = Counter()
    met: list[tuple[tuple[str, str], Mark, Mark]] = []
    views = views_of(paired.both, "characters", frozenset(settings.severities), by_words=False)
    for view in views:
        pairs = best_pairs(view.gold, view.pred, lambda one, other: sum(shares(one, other)) / 2)
        met += (((view.key.lp, view.key.segment), *pair) for pair in pairs)
        golds, preds = (Counter(mark.severity for mark in marks) for marks in (view.gold, view.pred))
        for one, other in pairs:
            counts[one.severity, other.severity] += 1
            golds[one.severity] -= 1
            preds[other.severity] -= 1
        counts.update({(severity, None): n for severity, n in golds.items()})
        counts.update({(None, severity): n for severity, n in preds.items()})
    draws = Draws(
        groups=numbered([segment for segment, _, _ in met]),
        resamples=settings.resamples or 0,
        seed=settings.seed,
    )
    codes = np.array([[SEVERITIES.index(m.severity) for m in pair] for _, *pair in met], dtype=np.float64)
    gold, pred = codes.reshape(len(met), 2).T
    kappa = cohen_kappa(gold, pred, draws)
    if not met:
        kappa = replace(kappa, reason=_NOTHING)
    return Confusion(
        counts=+counts,
        severities=tuple(s for s in reversed(SEVERITIES) if any(n and s in key for key, n in counts.items())),
        same=mean_of((gold == pred).astype(np.float64), draws, _NOTHING),
        kappa=kappa,
        n_segments=len(paired.both),
        failed=paired.failed,
        signature=signature_of(
            paired,
            {
                "rule": "mp",
                "severities": ",".join(settings.severities),
                "resamples": settings.resamples,
                "seed": settings.seed if settings.resamples else None,
            },
        ),
        notes=(*paired.notes, _MEETING),
    )
