"""Tasks of metrics: which statistics they average, which systems they compare, what looks wrong.

A task is a TOML file (`Task`, `list_tasks`). `choose` applies its rules to an eval set, and says why a
system or a metric is left out; `suspicious` names stand-ins for missing scores, missing systems, constant
and reversed scores.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from importlib.resources import files
from itertools import compress
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import numpy as np

from adjudge.analysis.eval_set import EvalSet, ScoreSet
from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp
from adjudge.core.wording import nearest
from adjudge.errors import DataError, UsageError
from adjudge.stats.judged import AVERAGES, Average, Floats
from adjudge.stats.measures import MEASURES
from adjudge.store.files import Fields, read_fields, read_text

Value = TypeVar("Value", float, Floats)

Role = Literal["primary", "baseline", ""]
"""What a metric was in a shared task: a primary submission, a baseline of the organisers, or neither."""


@frozen
class Statistic:
    """One statistic of a task."""

    measure: str
    average: Average | None = None  # of a segment measure; None for the measure's own
    weight: float = 1.0  # in the mean, of each language pair
    # brought to 0..1 before it is averaged; None to average it as it is
    range: tuple[float, float] | None = None
    pooled: bool = False  # over the pairs of systems of all language pairs together

    def scaled(self, value: Value) -> Value:
        """The value, or draws of it, as it enters the mean."""
        if self.range is None:
            return value
        low, high = self.range
        return (value - low) / (high - low)


@frozen
class LpRule:
    """What a task says of one language pair."""

    reference: str | None = None  # that metrics must have been shown, if any; None for whichever they were
    outliers: tuple[str, ...] = ()  # systems that are left out
    include_human: bool = False  # whether references that were scored as systems are compared too
    gold: str | None = None  # where it is not the task's; empty for none
    # whether the year judged it and left it out of the task's mean, so that it must be named
    beside: bool = False
    primary: tuple[str, ...] = ()  # names of metrics that were primary here only, beside the task's


@frozen
class Task:
    """A weighted mean of statistics, and what they are taken over."""

    name: str  # stem of its file
    title: str
    source: str  # where the definition comes from
    statistics: tuple[Statistic, ...]  # at least one
    gold: str | None = None
    system_gold: str | None = None  # gold of the scores of systems, where they are not means of the segments'
    test_sets: tuple[str, ...] = ()  # names of the folders that it is for
    # canonical language pair to its rule; empty for any
    lps: Mapping[str, LpRule] = field(default_factory=dict)
    # names, without references, of the submissions that the year compared, baselines among them; empty where
    # nobody lists them
    primary: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()  # those of them that the organisers ran
    # of a user, whose names must be there; None for a task that we ship: a folder may lack some
    file: Path | None = field(default=None, repr=False, compare=False)

    def role(self, lp: str, metric: str, reference: str) -> Role:
        """What a metric was in that year.

        `metric`: its name, such as `COMET-refA`. `reference`: that it was shown, such as `refA` or `src`.
        """
        base = metric.removesuffix(f"-{reference}") if reference else metric
        if base in self.baselines:
            return "baseline"
        return "primary" if base in {*self.primary, *self.rule(lp).primary} else ""

    def rule(self, lp: str) -> LpRule:
        """What is said of a language pair; nothing special of one that is not named."""
        return self.lps.get(lp, LpRule(gold=self.gold))

    def gold_of(self, lp: str) -> str | None:
        """Name of the gold of a language pair; None where the year published none."""
        gold = self.rule(lp).gold
        return (self.gold if gold is None else gold) or None


@cache
def list_tasks() -> tuple[Task, ...]:
    """Every task that we ship, in order of their names."""
    folder = files("adjudge.analysis") / "task_sets"
    found = (file for file in folder.iterdir() if file.name.endswith(".toml"))
    tasks = (_read(file.read_text(encoding="utf-8"), Path(file.name)) for file in found)
    return tuple(sorted(tasks, key=lambda task: task.name))


def find_task(name: str) -> Task:
    """Task of a name of `adjudge list tasks`, or in a file."""
    known = {task.name: task for task in list_tasks()}
    if name in known:
        return known[name]
    if Path(name).is_file():
        return replace(_read(read_text(Path(name)), Path(name)), file=Path(name))
    raise UsageError(
        f"no task {name!r}, and no such file; there are {', '.join(known)}, or a TOML file of yours"
    )


def task_of(test_set: str, lp: str) -> Task | None:
    """The task that a test set was made for, if that names the language pair."""
    return next((t for t in list_tasks() if test_set in t.test_sets and lp in t.lps), None)


# Names of a file


def check_lps(task: Task, wanted: Iterable[str], there: Collection[str]) -> None:
    """Refuse a language pair that a file of a user has no rule for, and a rule for one that is not there."""
    chosen = [*wanted]
    for lp in chosen if task.lps else ():
        _check_name(task, "lps", "language pair", lp, task.lps)
    for lp in () if chosen else task.lps:
        _check_name(task, f"lps.{lp}", "language pair", lp, there)


def check_metrics(task: Task, there: Collection[str]) -> None:
    """Refuse a submission of a file of a user that is not there."""
    own = {f"lps.{lp}.primary": rule.primary for lp, rule in task.lps.items()}
    for key, names in {"primary": task.primary, "baselines": task.baselines, **own}.items():
        for name in names:
            _check_name(task, key, "metric", name, there)


def check_systems(task: Task, lp: str, references: Collection[str], systems: Collection[str]) -> None:
    """Refuse a reference or an outlier of a file of a user that is not there."""
    rule = task.rule(lp)
    for name in filter(None, (rule.reference,)):
        _check_name(task, f"lps.{lp}.reference", "reference", name, references)
    for name in rule.outliers:
        _check_name(task, f"lps.{lp}.outliers", "system", name, systems)


def _check_name(task: Task, key: str, what: str, name: str, known: Collection[str]) -> None:
    if task.file is not None and name not in known:
        there = ", ".join(sorted(known)) or "none"
        raise DataError(f"{key}: no {what} {name!r}; there are {there}{nearest(name, known)}", path=task.file)


# Reading

_TASK: Final = frozenset(
    {"title", "source", "test_sets", "gold", "system_gold", "lps", "statistics", "primary", "baselines"}
)
_LP: Final = frozenset({"reference", "outliers", "include_human", "gold", "beside", "primary"})
_STATISTIC: Final = frozenset({"measure", "average", "weight", "range", "pooled"})


def _read(text: str, path: Path) -> Task:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"not TOML: {error}", path=path) from error
    fields = read_fields(value, _TASK, "task", path)
    rows = fields.values.get("statistics", [])
    if not isinstance(rows, list):
        fields.fail("statistics are written as [[statistics]]")
    statistics = tuple(_statistic(row, fields) for row in rows)
    if not statistics:
        fields.fail("a task needs at least one [[statistics]]")
    return Task(
        name=path.stem,
        title=fields.text("title", path.stem),
        source=fields.text("source", ""),
        statistics=statistics,
        gold=fields.optional_text("gold"),
        system_gold=fields.optional_text("system_gold"),
        test_sets=fields.texts("test_sets"),
        lps={_lp(lp, fields): _rule(rule, fields) for lp, rule in fields.mapping("lps").items()},
        primary=fields.texts("primary"),
        baselines=fields.texts("baselines"),
    )


def _lp(lp: str, fields: Fields) -> str:
    try:
        return canonical_lp(lp)
    except UsageError as error:
        fields.fail(str(error))


def _rule(value: object, outer: Fields) -> LpRule:
    fields = read_fields(value, _LP, "a language pair of a task", outer.path)
    return LpRule(
        reference=fields.optional_text("reference"),
        outliers=fields.texts("outliers"),
        include_human=_flag(fields, "include_human"),
        gold=fields.optional_text("gold"),
        beside=_flag(fields, "beside"),
        primary=fields.texts("primary"),
    )


def _statistic(row: Any, outer: Fields) -> Statistic:  # noqa: ANN401 (whatever stands in the file)
    fields = read_fields(row, _STATISTIC, "statistic", outer.path)
    name = fields.text("measure")
    if name not in MEASURES:
        fields.fail(f"no measure {name!r}; there are {', '.join(MEASURES)}")
    weight = fields.number("weight")
    if weight is not None and weight <= 0:
        fields.fail(f"'weight' must be above 0, got {weight}")
    pooled = _flag(fields, "pooled")
    if pooled and name != "sys_accuracy":
        fields.fail(f"only sys_accuracy can be pooled over language pairs, got {name}")
    bounds = fields.numbers("range")
    if bounds and not (len(bounds) == 2 and bounds[0] < bounds[1]):
        fields.fail(f"'range' is the lowest and the highest value, got {list(bounds)}")
    return Statistic(
        measure=name,
        average=_average(fields, name),
        weight=1.0 if weight is None else weight,
        range=(bounds[0], bounds[1]) if bounds else None,
        pooled=pooled,
    )


def _average(fields: Fields, measure: str) -> Average | None:
    wanted = fields.optional_text("average")
    if wanted is None:
        return None
    chosen = next((average for average in AVERAGES if average == wanted), None)
    if chosen is None or chosen not in MEASURES[measure].averages:
        takes = ", ".join(MEASURES[measure].averages) or "none at all"
        fields.fail(f"{measure} is averaged by {takes}; got {wanted!r}")
    return chosen


def _flag(fields: Fields, key: str) -> bool:
    value = fields.values.get(key, False)
    if not isinstance(value, bool):
        fields.fail(f"{key!r} must be true or false, got {value!r}")
    return value


@frozen
class Wishes:
    """What a user says of metrics and systems, where it is not what the task says."""

    exclude: Sequence[str] = ()  # systems to leave out by name
    include_human: bool | None = None  # compare references that were scored as systems; None as the task says
    include_outliers: bool = False  # compare the task's outliers
    reference: str | None = None  # of the metrics that were shown one; None as the task says


@frozen
class Choice:
    """What is compared."""

    systems: tuple[str, ...]  # in the order of their names
    excluded: Mapping[str, str]  # system to the reason why it is not compared
    metrics: tuple[str, ...]  # names of those that are compared
    reference: str  # that they were shown; several are separated by commas; empty for none
    notes: tuple[str, ...]  # what was left out


def choose(eval_set: EvalSet, gold: ScoreSet, rule: LpRule, wishes: Wishes) -> Choice:
    """Choose systems and metrics.

    A reference that metrics are shown is never compared as a system: they would see it beside itself. Other
    references are, if the task or the user wants people compared. Systems without gold cannot be.
    """
    reference = wishes.reference or rule.reference
    used = {part for metric in eval_set.metrics.values() for part in references_in(metric.reference)}
    there = used | {*eval_set.shown}
    if wishes.reference is not None and wishes.reference not in {*there, *eval_set.references}:
        known = ", ".join(sorted(there)) or "no reference"
        raise UsageError(f"no metric used reference {wishes.reference!r}; the metrics used {known}")
    shown = {reference} if reference is not None and (reference in there or not there) else used
    metrics = tuple(n for n, m in eval_set.metrics.items() if references_in(m.reference) <= shown)
    others = ", ".join((*(name for name in eval_set.metrics if name not in metrics), *eval_set.unread))
    note = (
        f"Metrics that were shown another reference than {', '.join(sorted(shown))} are left out: {others}."
    )
    standing = shown if reference is None else shown | {reference}
    for name in wishes.exclude:
        if name not in eval_set.systems:
            raise UsageError(f"no system {name!r} to exclude; there are {', '.join(eval_set.systems)}")
    nothing = np.isnan(gold.segments).all(axis=1) & np.isnan(gold.systems)
    people = rule.include_human if wishes.include_human is None else wishes.include_human
    reasons = {
        "excluded by name": set(wishes.exclude),
        "outlier of the task": set() if wishes.include_outliers else set(rule.outliers),
        "reference that metrics were shown": set(eval_set.references) & standing,
        "human translation": set() if people else set(eval_set.references),
        "not judged by gold": set(compress(eval_set.systems, nothing.tolist())),
    }
    excluded = {
        system: reason
        for system in eval_set.systems
        if (reason := next((r for r, names in reasons.items() if system in names), None)) is not None
    }
    systems = tuple(s for s in eval_set.systems if s not in excluded)
    if not systems:
        told = ", ".join(f"{system} ({reason})" for system, reason in excluded.items())
        raise DataError(f"no system of {eval_set.name} {eval_set.lp} is left to compare: {told}")
    return Choice(
        systems=systems,
        excluded=excluded,
        metrics=metrics,
        reference=", ".join(sorted(shown)),
        notes=(note,) if others else (),
    )


def references_in(shown: str) -> set[str]:
    """References that a metric was shown: `refA.refB` are two, `src` is none."""
    return {*shown.split(".")} - {"", "src"}


_FEW: Final = 0.02
"""A value that stands for a failure is seldom: a larger share on the other side of 0 is a scale."""

_FAR: Final = 5.0
"""So many times the spread of the others does a stand-in lie away from them, at the least."""

_ENOUGH: Final = 30
_AGAINST: Final = -0.1
"""Over this many translations chance alone hardly correlates so far below 0."""

_STANDS_IN: Final = (-9999.0, -999.0, -100.0, -99.0, -1.0, 99.0, 100.0, 999.0, 9999.0, 10.0, 0.0)


def suspicious(name: str, metric: ScoreSet, gold: ScoreSet, systems: tuple[str, ...]) -> Iterator[str]:
    """Say what looks wrong, one sentence each. Nothing is changed: numbers are of the scores as they are."""
    known = metric.segments[~np.isnan(metric.segments)]
    if len(known) and np.ptp(known) == 0:
        yield f"{name} gives every translation the score {known[0]:g}: it cannot agree with anything."
        return
    yield from _missing(name, metric, gold, systems)
    for sign, scale in ((1, "penalties, 0 at best"), (-1, "0 and more")):
        beyond = known[np.sign(known) == sign]
        if _stands_in(beyond, known):
            examples = ", ".join(f"{value:+g}" for value in np.unique(beyond)[:3])
            yield (
                f"{name} looks like a scale of {scale}, but {len(beyond)} of {len(known):,} scores are on "
                f"the other side ({examples}): do they stand for failures? They are taken as scores."
            )
    for value in (known.min(), known.max()) if len(known) else ():
        others = known[known != value]
        gap = float(np.abs(others - value).min())
        spread = float(np.ptp(others))
        if value in _STANDS_IN and gap > _FAR * spread > 0:
            times = int((known == value).sum())
            yield (
                f"{name} has the score {value:g} {times} times, far from all others ({others.min():g} to "
                f"{others.max():g}): does it stand for failures? It is taken as a score."
            )
    yield from _fillers(name, metric.segments, gold.segments)
    both = ~np.isnan(metric.segments) & ~np.isnan(gold.segments)
    if both.sum() < _ENOUGH or np.ptp(metric.segments[both]) == 0 or np.ptp(gold.segments[both]) == 0:
        return
    r = float(np.corrcoef(metric.segments[both], gold.segments[both])[0, 1])
    if r < _AGAINST:
        yield (
            f"{name} goes against gold (r {r:.2f} over {int(both.sum()):,} translations): are its scores "
            "errors, of which fewer are better? Higher must be better; negate them."
        )


def _missing(name: str, metric: ScoreSet, gold: ScoreSet, systems: tuple[str, ...]) -> Iterator[str]:
    whole = np.asarray(np.isnan(metric.segments).all(axis=1))
    wanted = ~np.isnan(gold.segments)
    if whole.all() and np.isnan(metric.systems).all():
        yield f"{name} has no score at all of the systems that are compared."
        return
    if whole.all() and wanted.any():
        yield f"{name} has scores of systems only; measures of segments have no value."
        whole = metric.unscored
    if whole.any() and not whole.all():
        lost = ", ".join(s for s, none in zip(systems, whole.tolist(), strict=True) if none)
        left = f"{int((~whole).sum())} of {len(systems)} systems"
        yield (
            f"{name} has no score of {lost}: its numbers are over {left}, and not comparable with those of "
            "metrics that have all."
        )
    if np.isnan(metric.segments).all() or not wanted.any():
        return
    holes = int((wanted & np.isnan(metric.segments))[~whole].sum())
    if holes:
        yield (
            f"{name} has no score of {holes:,} of the {int(wanted[~whole].sum()):,} translations that gold "
            "judged; they are left out of its numbers."
        )


def _stands_in(beyond: Floats, known: Floats) -> bool:
    """Whether scores on the far side of 0 are too few for a scale, or are one number, again and again."""
    if not len(beyond) or 2 * len(beyond) >= len(known):
        return False
    is_one = len(beyond) > 1 and np.ptp(beyond) == 0 and float(beyond[0]).is_integer()
    return is_one or (len(beyond) <= _FEW * len(known) and bool((known == 0).any()))


def _fillers(name: str, metric: Floats, gold: Floats) -> Iterator[str]:
    unjudged = np.isnan(gold).all(axis=0) & ~np.isnan(metric).any(axis=0)
    if len(metric) < 2 or not unjudged.any() or unjudged.all():
        return
    values = metric[:, unjudged]
    same = np.ptp(values, axis=0) == 0
    if same.all() and len(np.unique(values)) == 1:
        yield (
            f"{name} has the score {values[0, 0]:g} for every system in all {int(unjudged.sum())} segments "
            "that gold did not judge: a filler, which moves scores of systems that are over all segments."
        )
