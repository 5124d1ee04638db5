"""What a run judges: its annotator, the plan of its units in test-set order, and the parts of a plan.

Units are made one after the other, never all at once. `load_annotator` finds a judge or a metric by its name
and `signature_of` says what a signature tells of it. `judge_subject` puts a judge to one unit of work,
whatever kind of judge it is. `split` divides a plan by segments.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import hashlib
import inspect
import marshal
import re
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from itertools import chain, filterfalse, repeat
from itertools import count as numbers
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeGuard

from adjudge.analysis.pair_schedules import Pair, Place, Schedule, Standings
from adjudge.core.ask import Ask, SearchEngine
from adjudge.core.frozen import frozen
from adjudge.core.judge import (
    Calls,
    Judge,
    Metric,
    Profile,
    choices_of,
    is_criteria_judge,
    is_pair_judge,
    is_searching_judge,
    is_source_judge,
)
from adjudge.core.names import is_blank
from adjudge.core.record import Annotation, Preference
from adjudge.core.scores import VERSION, Signature
from adjudge.core.segment import Segment, Subject, Term, TestSet, listed_pairs, read_criteria
from adjudge.core.wording import command, form, nearest, of_all
from adjudge.errors import (
    AdjudgeError,
    AnswerError,
    DataError,
    FailureReason,
    SettingError,
    UsageError,
    blamed,
)
from adjudge.judges._prompts import Adapter, find_adapter
from adjudge.judges._samples import Sampled
from adjudge.llm.model import NotYetError
from adjudge.store.call_file import unit_name
from adjudge.store.files import read_lines

_SHOWN: Final = 80  # characters of a line that is no term

UnitKind = Literal["translation", "criteria", "pair", "source"]
"""What is judged at once: one translation, one by each criterion of its segment, a pair of them, or all
translations of a source."""


class Missing(NamedTuple):
    """Why a judgement cannot be asked for: reason and detail of the failure in its place."""

    reason: FailureReason
    detail: str


class Slot(NamedTuple):
    """One judgement that a unit of work owes; it becomes one record."""

    systems: tuple[str, ...]  # whose translations it is about
    criterion: str | None  # of a comparison, or id of one of the segment; else None
    missing: Missing | None  # what is not there to be judged; None if all is there


@frozen
class Unit:
    """One unit of work."""

    index: int  # its place in the run, from 0
    subject: Subject  # what is judged; systems without a translation are not among those of a source
    slots: tuple[Slot, ...]  # the judgements that it owes, in the order of the records

    @cached_property
    def name(self) -> str:
        """Under which a store keeps what it used."""
        return unit_name(self.subject.lp, self.subject.segment.segment, self.subject.systems)

    @property
    def is_there(self) -> bool:
        """Whether anything of it is there to be judged."""
        return not all(slot.missing for slot in self.slots)


Shown = tuple[Segment, tuple[Segment, ...]]
"""A segment with those before it that it is shown with."""


@frozen
class Plan:
    """What a run will judge."""

    test_set: TestSet
    systems: Mapping[str, tuple[str, ...]]  # of each lp, in order
    references: Mapping[str, str]  # the one that is shown, by lp; empty if none is
    kind: UnitKind = "translation"  # what is judged at once
    criteria: tuple[str, ...] = ()  # of comparisons; else empty
    schedule: Schedule = field(default_factory=Schedule)  # which pairs are compared
    context: int = 0  # how many segments before it in its document a subject brings along
    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()  # what the user must know of the choice
    needs_translation: bool = True  # whether a translation is judged, and not a source alone
    # whether a translation of a blank source fails; what compares it with a reference alone needs none
    needs_source: bool = True
    # of a part of a plan, its segments with those before them, which need not be its own
    shown: tuple[Shown, ...] | None = None

    def __len__(self) -> int:
        if self.kind == "pair":
            return len(self.criteria) * self.schedule.count(self._places)
        if self.kind == "criteria":
            return sum(len(_asked_of(s, self.systems)) * len(read_criteria(s)) for s in self.test_set)
        return sum(len(_asked_of(s, self.systems)) for s in self.test_set)

    def __iter__(self) -> Iterator[Unit]:
        return chain.from_iterable(self.rounds(Standings()))

    def segments(self) -> Iterator[Shown]:
        """Each segment with those before it in its document that it is shown with."""
        return with_context(self.test_set, self.context) if self.shown is None else iter(self.shown)

    def rounds(self, standings: Standings) -> Iterator[Iterator[Unit]]:
        """Make the units in rounds, mostly one; each is chosen by what is known when it is asked for."""
        segments = self.segments()
        index = numbers()
        if self.kind != "pair":
            yield (
                self._unit(next(index), self._subject(segment, systems, before))
                for segment, before in segments
                for systems in self._groups(segment)
            )
            return
        for pairs in self.schedule.rounds(self._places, standings):
            yield (
                self._unit(next(index), self._subject(segment, pair, before))
                for chosen, (segment, before) in zip(pairs, segments, strict=False)
                for pair in chosen
            )

    @property
    def _places(self) -> list[Place]:
        return _places(self.test_set, self.systems)

    def of_system(self, lp: str, system: str) -> Iterator[Subject]:
        for segment, before in self.segments():
            if segment.lp == lp:
                subject = self._subject(segment, (system,), before)
                if not self._missing(subject, (system,)):
                    yield subject

    def _groups(self, segment: Segment) -> Iterable[tuple[str, ...]]:
        systems = _asked_of(segment, self.systems)
        if not systems or (self.kind == "criteria" and not read_criteria(segment)):
            return ()
        return (systems,) if self.kind == "source" else zip(systems, strict=True)

    def _unit(self, index: int, subject: Subject) -> Unit:
        slots = tuple(
            Slot(of, criterion, self._missing(subject, of))
            for of, criterion in owed_of(self.kind, subject, self.criteria)
        )
        if self.kind == "source":
            subject = subject.of(*(name for slot in slots if not slot.missing for name in slot.systems))
        return Unit(index=index, subject=subject, slots=slots)

    def _subject(self, segment: Segment, systems: tuple[str, ...], before: tuple[Segment, ...]) -> Subject:
        source = segment.source.casefold()
        reference = self.references.get(segment.lp, "")
        return Subject(
            segment=segment,
            systems=systems,
            reference=segment.references[reference] if segment.has_reference(reference) else None,
            context=before,
            terms=tuple(term for term in self.terms if term.source.casefold() in source),
        )

    def _missing(self, subject: Subject, systems: tuple[str, ...]) -> Missing | None:
        segment = subject.segment
        lacking = [system for system in systems if not segment.has_translation(system)]
        if lacking and self.needs_translation:
            who = f"{' and '.join(lacking)} {form(len(lacking), 'has', 'have')}"
            return Missing("no_translation", f"{who} no translation of segment {segment.segment}")
        if self.references and subject.reference is None:
            name = self.references[subject.lp]
            return Missing("missing", f"segment {segment.segment} has no reference called {name}")
        is_all_blank = self.needs_translation and all(is_blank(segment.translations[s]) for s in systems)
        if self.needs_source and is_blank(segment.source) and not is_all_blank:
            return Missing("missing", f"segment {segment.segment} has no source")
        return None


def _places(test_set: TestSet, systems: Mapping[str, tuple[str, ...]]) -> list[Place]:
    return [Place(s.lp, s.segment, systems[s.lp], listed_pairs(s)) for s in test_set]


def _asked_of(segment: Segment, systems: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if (pairs := listed_pairs(segment)) is None:
        return systems[segment.lp]
    return tuple(name for name in systems[segment.lp] if any(name in pair for pair in pairs))


Owed = tuple[tuple[str, ...], str | None]
"""The systems that a judgement is about, and its criterion."""


def owed_of(kind: UnitKind, subject: Subject, criteria: tuple[str, ...]) -> list[Owed]:
    """The judgements that one unit of work owes, in order."""
    if kind == "pair":
        return [(subject.systems, criterion) for criterion in criteria]
    if kind == "criteria":
        return [(subject.systems, criterion.id) for criterion in read_criteria(subject.segment)]
    return list(zip(zip(subject.systems, strict=True), repeat(None)))


def with_context(test_set: TestSet, size: int) -> Iterator[Shown]:
    """Each segment with up to `size` segments before it in its document."""
    before: deque[Segment] = deque(maxlen=size)
    for segment in test_set:
        if before and (segment.document, segment.lp) != (before[-1].document, before[-1].lp):
            before.clear()
        yield segment, tuple(before)
        if segment.document:
            before.append(segment)


def plan_units(  # noqa: PLR0913 (all that decides what is judged)
    test_set: TestSet,
    *,
    with_reference: bool,
    reference: str | None = None,
    kind: UnitKind = "translation",
    criteria: tuple[str, ...] = (),
    schedule: Schedule = Schedule(),  # noqa: B008 (frozen)
    context: int = 0,
    terms: tuple[Term, ...] = (),
    needs_translation: bool = True,
    needs_source: bool = True,
) -> Plan:
    """Decide what is judged, and which reference is shown."""
    if reference is not None and not with_reference:
        raise UsageError(f"--reference {reference}: this method is shown no reference")
    chosen = {lp: _choose(test_set, lp, reference) for lp in test_set.lps} if with_reference else {}
    named: dict[str, dict[str, None]] = {}
    for segment in test_set:
        named.setdefault(segment.lp, {}).update(dict.fromkeys(segment.translations))
    systems, notes = {}, []
    for lp, names in named.items():
        if names.pop(chosen.get(lp, ""), "left") is None:
            notes.append(f"{lp}: {chosen[lp]} is the reference and is not judged as a system")
        systems[lp] = tuple(names)
    asked, holes = 0, Counter[str]()
    for segment in test_set:
        own = _asked_of(segment, systems)
        asked += len(own)
        if needs_translation:
            holes.update(filterfalse(segment.has_translation, own))
    if not asked:
        raise UsageError("; ".join([f"test set {test_set.name!r} has no translation to judge", *notes]))
    if kind == "pair" and max(map(len, systems.values())) < 2:
        (name,) = dict.fromkeys(name for names in systems.values() for name in names)
        raise UsageError(f"a comparison needs two systems, and {test_set.name!r} has {name!r} alone")
    if schedule.anchors:
        _check_anchors(schedule, systems)
    without = sum(not read_criteria(segment) for segment in test_set) if kind == "criteria" else 0
    if without == len(test_set):
        raise UsageError(
            f"no segment of {test_set.name!r} has criteria: put them into the meta of its segments, such as "
            '"meta": {"criteria": ["The pun must survive."]}, or into a column called criteria'
        )
    if without:
        segments = of_all(without, len(test_set), "segment")
        no, judged = form(without, "has", "have"), form(without, "is", "are")
        notes.append(f"{segments} {no} no criteria and {judged} not judged")
    notes += _absent_pairs(schedule, _places(test_set, systems), test_set.name) if schedule.listed else []
    if holes.total() == asked:
        notes.append("nothing is translated, and nothing is judged")
    if holes:
        which = ", ".join(f"{number:,} of {name}" for name, number in holes.items())
        missing = f"{of_all(holes.total(), asked, 'translation')} {form(holes.total(), 'is', 'are')} missing"
        notes.append(f"{missing} ({which}) and judged by nobody")
    return Plan(
        test_set=test_set,
        systems=systems,
        references=chosen,
        kind=kind,
        criteria=criteria,
        schedule=schedule,
        context=context,
        terms=terms,
        notes=tuple(notes),
        needs_translation=needs_translation,
        needs_source=needs_source,
    )


def _check_anchors(schedule: Schedule, systems: Mapping[str, tuple[str, ...]]) -> None:
    for lp, names in systems.items():
        if unknown := [name for name in schedule.anchors if name not in names]:
            raise UsageError(f"--anchors: {lp} has no system {unknown[0]!r}; it has {', '.join(names)}")


def _absent_pairs(schedule: Schedule, places: Iterable[Place], name: str) -> Iterator[str]:
    listed = sum(map(len, schedule.listed.values()))
    absent = listed - schedule.count(places)
    if absent == listed:
        raise UsageError(
            f"{name!r}: none of its pairs, or of --pairs-file, is of segments and systems judged"
        )
    if absent:
        pairs = of_all(absent, listed, "pair")
        yield f"{pairs} {form(absent, 'is', 'are')} of segments or systems that are not judged"


def _choose(test_set: TestSet, lp: str, wanted: str | None) -> str:
    names = list(dict.fromkeys(name for s in test_set if s.lp == lp for name in s.references))
    known = ", ".join(names) or "none"
    if wanted is not None:
        if wanted not in names:
            raise UsageError(f"{lp} of {test_set.name!r} has no reference {wanted!r}; it has {known}")
        return wanted
    if len(names) != 1:
        need = (
            "choose one with --reference"
            if names
            else "this method needs one: add it to the test set, or with -r FILE to files"
        )
        raise UsageError(f"{lp} of {test_set.name!r} has {len(names) or 'no'} references ({known}); {need}")
    return names[0]


def read_terms(path: Path) -> tuple[Term, ...]:
    """Read a glossary: source and translation, with a tab between; one term a line, empty lines skipped.

    A file whose name ends in `.csv` has two columns with a comma between, and quoted cells.
    """
    lines = read_lines(path)
    if not path.name.lower().endswith(".csv") or any("\t" in line for line in lines):
        return tuple(_terms(path, lines))
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            cells = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise DataError(f"not CSV: {error}", path=path, line=number) from error
        if len(cells) > 2:
            raise DataError(f"a glossary has two columns, got {line[:_SHOWN]!r}", path=path, line=number)
        found.append("\t".join(cells))
    return tuple(_terms(path, found))


def _terms(path: Path, lines: Iterable[str]) -> Iterator[Term]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        source, tab, translation = line.partition("\t")
        if not tab or "\t" in translation or not source.strip() or not translation.strip():
            between = "a comma" if path.name.lower().endswith(".csv") else "a tab"
            message = f"a term is its source, {between} and its translation; got {line[:_SHOWN]!r}"
            raise DataError(message, path=path, line=number)
        yield Term(source=source.strip(), translation=translation.strip())


Annotator = Judge | Metric
_IDENTITY = frozenset({"name", "profile", "prompts"})  # said elsewhere in the signature
_SAID = frozenset({"samples", "temperature"})


_NEURAL: Final = ("comet", "metricx", "bleurt", "bertscore", "unite", "kiwi")
"""Words in names of metrics that a bridge starts."""


def load_annotator(
    name: str,
    *,
    profile: Profile = "recommended",
    prompts: Path | None = None,
    settings: Mapping[str, str] | None = None,
    plugin: Path | None = None,
) -> Annotator:
    """Load a judge or a metric by its name; `plugin` is a file whose functions may be metrics."""
    from adjudge.judges import JUDGES, load_judge
    from adjudge.metrics import METRICS, load_metric

    functions: Mapping[str, Annotator] = {}
    if plugin is not None:
        from adjudge.metrics.function import read_plugin

        functions = read_plugin(plugin)
    if taken := functions.keys() & JUDGES.keys():
        raise UsageError(f"{min(taken)!r} is a judge of ours; give the function another name=")
    if name in JUDGES:
        return load_judge(name, profile=profile, prompts=prompts, settings=settings or {})
    judges, metrics = names_in("adjudge.judges", JUDGES), names_in("adjudge.metrics", METRICS)
    metrics = [*dict.fromkeys((*functions, *metrics))]
    if name not in {*judges, *metrics}:
        if any(word in name.casefold() for word in _NEURAL):
            bridge = command("run", "bridge", "--command", "PROGRAM", "--name", name)
            raise UsageError(
                f"{name} runs in an environment of its own: {bridge}; docs/bridge.md has the programs of "
                "COMET and MetricX. Scores that are there already are read by score, rank and meta as they "
                "are"
            )
        raise UsageError(
            f"no judge and no metric {name!r}; there are the judges {', '.join(judges)}, and the metrics "
            f"{', '.join(metrics)}"
            + (
                nearest(name, [*judges, *metrics], most=1)
                or "; one of your own counts once it is installed, or with --plugin FILE"
            )
        )
    if name not in metrics:
        return load_judge(name, profile=profile, prompts=prompts, settings=settings or {})
    if prompts is not None or profile != "recommended":
        raise UsageError(f"{name} is a metric: it has neither prompts nor profiles")
    if name in functions:
        if settings:
            raise SettingError(f"metric {name!r}", next(iter(settings)), ())
        return functions[name]
    return load_metric(name, settings or {})


def names_in(group: str, ours: Mapping[str, str]) -> list[str]:
    """Return the names of ours, then of those that other packages bring in an entry point group."""
    return [*dict.fromkeys((*ours, *(entry.name for entry in entry_points(group=group))))]


def is_metric(annotator: Annotator) -> TypeGuard[Metric]:
    return hasattr(annotator, "corpus_score")


def is_judge(annotator: Annotator) -> TypeGuard[Judge]:
    return not is_metric(annotator)


def code_of(annotator: Annotator) -> str:
    """Version and digest of the code of another package, for its signature; empty for what is ours.

    The version of its distribution, where it is in one, `+`, and six hexadecimal digits over the Python files
    of its package; of a module in no package over that, of a class without a file over its source. Of a
    function, over its source, its file and what that imports of its own folder; where there is no source,
    over its bytecode.
    """
    make = type(annotator.judge if isinstance(annotator, Sampled) else annotator)
    if make.__module__.startswith("adjudge.metrics."):
        from adjudge.metrics.function import FunctionMetric

        return _code_of_function(annotator.function) if isinstance(annotator, FunctionMetric) else ""
    return "" if make.__module__.startswith("adjudge.") else _code_of(make)


@cache
def _code_of_function(function: Callable[..., Any]) -> str:
    source = marshal.dumps(function.__code__.replace(co_filename="", co_firstlineno=1))
    with suppress(OSError, TypeError, SyntaxError):
        file = Path(inspect.getsourcefile(function) or "")
        files = [file.resolve(), *_files_beside(file.resolve())] if file.is_file() else []
        source = inspect.getsource(function).encode() + b"".join(each.read_bytes() for each in files)
    return hashlib.sha256(source + _bound_values(function)).hexdigest()[:6]


def _files_beside(file: Path) -> list[Path]:
    found: dict[Path, None] = {}
    todo = [file]
    for here in todo:
        for node in ast.walk(ast.parse(here.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
            else:
                continue
            level = node.level if isinstance(node, ast.ImportFrom) else 0
            base = here.parents[level - 1] if level else file.parent
            for parts in (name.strip(".").split(".") for name in names):
                for end in range(1, len(parts) + 1):
                    place = base.joinpath(*parts[:end])
                    for each in (Path(f"{place}.py"), place / "__init__.py"):
                        if each.is_file() and each not in {file, *found}:
                            found[each] = None
                            todo.append(each)
    return sorted(found)


def _bound_values(function: Callable[..., Any]) -> bytes:
    held = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    bound = {**held, "": (function.__defaults__, function.__kwdefaults__)}
    if bound == {"": (None, None)}:
        return b""
    plain = re.sub(r" at 0x[0-9a-f]+", "", repr(sorted(bound.items())))  # where an object lies tells nothing
    return plain.encode()


@cache
def _code_of(make: type[Any]) -> str:
    top = make.__module__.partition(".")[0]
    room: Any = sys.modules.get(top)
    digest = hashlib.sha256()
    if folders := sorted({*getattr(room, "__path__", ())}):
        found = (
            (path, path.relative_to(folder)) for folder in folders for path in Path(folder).rglob("*.py")
        )
        for path, place in sorted(found, key=itemgetter(1)):
            digest.update(place.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    elif file := getattr(room, "__file__", None):
        digest.update(Path(file).read_bytes())
    else:
        with suppress(OSError, TypeError):
            digest.update(inspect.getsource(make).encode())
    groups = (entry_points(group=f"adjudge.{kind}s") for kind in ("judge", "metric"))
    entries = (e for group in groups for e in group if e.module.partition(".")[0] == top)
    versions = [f"{entry.dist.version}+" for entry in entries if entry.dist is not None]
    return "".join(versions[:1]) + digest.hexdigest()[:6]


def settings_of(annotator: Annotator) -> dict[str, object]:
    """Every setting with its value, as `run.json` keeps it."""
    if isinstance(annotator, Sampled):
        names = [f.name for f in dataclasses.fields(annotator) if f.name != "judge"]
        drawn = {name: _plain(value) for name in names if (value := getattr(annotator, name)) is not None}
        return settings_of(annotator.judge) | drawn
    thing: Any = annotator
    fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    found = {f.name: _plain(getattr(thing, f.name)) for f in fields if f.init}
    if "prompts" in found and is_judge(annotator):
        found["prompts"] = annotator.prompts_digest  # the folder may move; its content may not
    return found


def options_of(judge: Judge) -> list[str]:
    """Every setting as an option with its value, and what else may be given where there is a choice."""
    kinds = [type(judge.judge), type(judge)] if isinstance(judge, Sampled) else [type(judge)]
    choices = {name: found for kind in kinds for name, found in choices_of(kind).items()}
    lines = []
    for name, value in settings_of(judge).items():
        if name != "prompts":
            option = "--" + name.replace("_", "-")
            given = f"{option}: not set" if value is None else f"{option} {_text(value)}"
            lines.append(given + (f" (of: {', '.join(choices[name])})" if name in choices else ""))
    return lines


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _changed_settings(annotator: Annotator) -> dict[str, str]:
    now = settings_of(annotator)
    said = _SAID | frozenset(getattr(annotator, "said", ()))
    if isinstance(annotator, Sampled):
        annotator = annotator.judge
    profile = {"profile": now["profile"]} if "profile" in now else {}
    make: Callable[..., Annotator] = type(annotator)
    try:
        default = settings_of(make(**profile))
    except TypeError:  # a judge from outside with a setting that has no default
        default = {}
    return {
        name: _text(value)
        for name, value in now.items()
        if name not in _IDENTITY and (name in said or name not in default or default[name] != value)
    }


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def signature_of(
    annotator: Annotator,
    *,
    reference: str,
    lps: tuple[str, ...],
    extra: Mapping[str, str],
    model: str = "",
    seed: int | None = None,
) -> Signature:
    """The signature of a run in which nothing failed yet."""
    fields: dict[str, str] = {}
    if is_metric(annotator):
        fields["ref"] = reference
        settings = {lp: annotator.settings(lp) for lp in lps}
        for name in dict.fromkeys(name for own in settings.values() for name in own):
            values = {lp: own[name] for lp, own in settings.items() if name in own}
            same = len(set(values.values())) == 1 and len(values) == len(settings)
            parts = [next(iter(values.values()))] if same else [f"{lp}={v}" for lp, v in values.items()]
            fields[name] = ",".join(parts)
    if is_judge(annotator):
        fields |= {"model": model, "prompts": annotator.prompts_digest, "profile": annotator.profile}
        fields |= {"ref": reference, **_changed_settings(annotator)}
    fields |= extra
    if annotator.weights is not None:
        fields["weights"] = annotator.weights
    fields["failed"] = "0/0"
    if seed is not None:
        fields["seed"] = str(seed)
    return Signature(annotator.name, {**fields, "version": VERSION})


Outcome = Annotation | Preference | AnswerError
"""A judgement, or why there is none."""

_METHODS: Final[Mapping[UnitKind, str]] = {
    "pair": "compare",
    "source": "annotate_all",
    "criteria": "check",
    "translation": "annotate",
}
"""What is judged at once to the method of its judge, who has one of them."""


def kind_of(annotator: Annotator) -> UnitKind:
    """What it judges at once."""
    if is_metric(annotator):
        return "pair" if annotator.protocol == "pairwise" else "translation"
    found = [*filter(partial(hasattr, annotator), _METHODS.values())]
    for kind, method in _METHODS.items():
        if found == [method]:
            return kind
    raise UsageError(
        f"judge {annotator.name!r} must have one of annotate (a translation), check (its criteria), compare "
        f"(a pair) and annotate_all (a source); it has {' and '.join(found) or 'none of them'}"
    )


def criteria_of(annotator: Annotator) -> tuple[str, ...]:
    """What it compares on; empty for one that does not compare."""
    if is_judge(annotator):
        return annotator.criteria if is_pair_judge(annotator) else ()
    return (getattr(annotator, "criterion", "overall"),) if annotator.protocol == "pairwise" else ()


def calls_of(judge: Judge, subject: Subject) -> Calls:
    """Calls that one unit of work takes."""
    if not (is_source_judge(judge) or is_criteria_judge(judge)):
        return judge.calls
    try:
        least, typical, most = judge.calls_for(subject)
        is_sound = 0 <= least <= typical <= most
    except Exception as error:
        if not code_of(judge) or isinstance(error, AdjudgeError):
            raise
        raise UsageError(f"judge {judge.name!r}: calls_for ended with {blamed(error)}") from error
    if not is_sound:
        raise UsageError(f"judge {judge.name!r}: calls_for must give Calls(least, typical, most)")
    return Calls(least, typical, most)


async def judge_subject(
    judge: Judge, subject: Subject, ask: Ask, engine: SearchEngine | None = None
) -> Sequence[Outcome]:
    """Put the questions of one unit of work; one outcome for each judgement that it owes, in order."""
    kind = kind_of(judge)
    method = _METHODS[kind]
    more = (engine,) if is_searching_judge(judge) else ()
    judging: Callable[..., Awaitable[Any]] = getattr(judge, method)
    try:
        found = await judging(subject, ask, *more)
    except (AnswerError, UsageError, NotYetError):
        raise
    except Exception as error:
        if not code_of(judge) or (isinstance(error, AdjudgeError) and not isinstance(error, DataError)):
            raise
        if inspect.iscoroutine(forgotten := getattr(error, "obj", None)):
            forgotten.close()  # it is not awaited any more, and Python need not say so
        raise UsageError(f"judge {judge.name!r}: {method} ended with {blamed(error)}") from error
    return _checked_outcomes(judge, kind, subject, [found] if kind == "translation" else found)


def _checked_outcomes(judge: Judge, kind: UnitKind, subject: Subject, found: object) -> Sequence[Outcome]:
    if not isinstance(found, Sequence) or not all(isinstance(one, Outcome) for one in found):
        raise UsageError(
            f"judge {judge.name!r} must give records, which annotation_of and preference_of make: annotate "
            f"one, the other methods a list, with an AnswerError in place of one; it gave {found!r:.80}"
        )
    owed, method = owed_of(kind, subject, criteria_of(judge)), _METHODS[kind]
    if len(found) != len(owed):
        raise UsageError(f"{judge.name} owes {len(owed)} judgements of {subject.key}, gave {len(found)}")
    who = (("annotator", judge.name), ("protocol", judge.protocol))
    place = (("lp", subject.lp), ("segment", subject.segment.segment))
    for record, (systems, criterion) in zip(found, owed, strict=True):
        if isinstance(record, AnswerError):
            continue
        if not isinstance(record.flags, tuple) or not all(isinstance(flag, str) for flag in record.flags):
            raise UsageError(
                f"judge {judge.name!r}: {method} gave flags {record.flags!r}, wanted a tuple of words"
            )
        for name, wanted in (*who, *place, ("systems", systems), ("criterion", criterion)):
            if (given := getattr(record, name)) != wanted:
                raise UsageError(
                    f"judge {judge.name!r}: {method} gave a record with {name} {given!r}, wanted {wanted!r} "
                    f"(segment {subject.segment.segment!r} of {subject.lp})"
                )
        if isinstance(record, Annotation):
            _check_spans(judge, method, subject, record)
    return found


def _check_spans(judge: Judge, method: str, subject: Subject, record: Annotation) -> None:
    texts = {"source": subject.source, "translation": subject.segment.translations.get(record.system, "")}
    for span in record.spans:
        if span.end is not None and span.end > len(texts[span.side]):
            raise UsageError(
                f"judge {judge.name!r}: {method} gave an error from {span.start} to {span.end} of a "
                f"{span.side} of {len(texts[span.side])} characters (segment {subject.segment.segment!r} of "
                f"{subject.lp}, system {record.system!r})"
            )


_NO_PAIRS: Mapping[tuple[str, str], tuple[Pair, ...]] = {("", ""): ()}


def shard_of(segment: Segment, of: int) -> int:
    """Index of the part that has a segment: a hash of its lp and id, the same everywhere."""
    digest = hashlib.sha256(f"{segment.lp}\0{segment.segment}".encode()).digest()
    return int.from_bytes(digest[:8]) % of


def split(plan: Plan, of: int) -> list[Plan]:
    """Split a plan into so many parts; together they have its units, each of them in one part."""
    shown: list[list[Shown]] = [[] for _ in range(of)]
    for segment, before in plan.segments():
        shown[shard_of(segment, of)].append((segment, before))
    drawn = _drawn_pairs(plan) if plan.schedule.in_all is not None else None
    return [
        replace(
            plan,
            test_set=replace(plan.test_set, segments=tuple(segment for segment, _ in own)),
            schedule=plan.schedule if drawn is None else _schedule_of_segments(drawn, own),
            shown=tuple(own),
        )
        for own in shown
    ]


def _drawn_pairs(plan: Plan) -> dict[tuple[str, str], list[Pair]]:
    found: dict[tuple[str, str], list[Pair]] = {}
    for unit in plan:
        a, b = unit.subject.systems
        found.setdefault((unit.subject.lp, unit.subject.segment.segment), []).append((a, b))
    return found


def _schedule_of_segments(drawn: Mapping[tuple[str, str], list[Pair]], own: list[Shown]) -> Schedule:
    keys = [(segment.lp, segment.segment) for segment, _ in own]
    listed = {key: drawn[key] for key in keys if key in drawn}
    return Schedule(kind="listed", listed=listed or _NO_PAIRS)


def adapter_of(annotator: Annotator) -> Adapter | None:
    """The adapter in the folder of the user's prompts, also of a judge that is asked several times."""
    prompts = getattr(annotator.judge if isinstance(annotator, Sampled) else annotator, "prompts", None)
    return None if prompts is None else find_adapter(prompts)
