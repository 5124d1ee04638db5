"""The units of work of a run, one after the other and in test-set order, never all at once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from itertools import count as numbers
from pathlib import Path
from typing import Final, Literal, NamedTuple

from adjudge.core.segment import Segment, Subject, Term, TestSet
from adjudge.core.wording import count, form, of_all
from adjudge.data.call_rows import unit_name
from adjudge.data.files import read_lines
from adjudge.errors import DataError, UsageError
from adjudge.meta.ranking.schedules import Place, Schedule, Standings

__all__ = ["Plan", "Slot", "Unit", "UnitKind", "plan_units", "read_terms"]

_SHOWN: Final = 80  # characters of a line that is no term

UnitKind = Literal["translation", "pair", "source"]
"""What is judged at once: one translation, a pair of them, or all translations of a source."""


class Slot(NamedTuple):
    """One judgement that a unit of work owes; it becomes one record.

    Args:
        systems: whose translations it is about.
        criterion: of a comparison; else None.
        missing: what is not there to be judged; empty if all is there.
    """

    systems: tuple[str, ...]
    criterion: str | None
    missing: str


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One unit of work.

    Args:
        index: its place in the run, from 0.
        subject: what is judged; systems without a translation are not among those of a source.
        slots: the judgements that it owes, in the order of the records.
    """

    index: int
    subject: Subject
    slots: tuple[Slot, ...]

    @cached_property
    def name(self) -> str:
        """Under which a store keeps what it used."""
        return unit_name(self.subject.lp, self.subject.segment.segment, self.subject.systems)

    @property
    def is_there(self) -> bool:
        """Whether anything of it is there to be judged."""
        return not all(slot.missing for slot in self.slots)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run will judge.

    Args:
        test_set: the segments.
        systems: of each lp, in order.
        references: the one that is shown, by lp; empty if none is.
        kind: what is judged at once.
        criteria: of comparisons; else empty.
        schedule: which pairs are compared.
        context: how many segments before it in its document a subject brings along.
        terms: the glossary.
        notes: what the user must know of the choice.
    """

    test_set: TestSet
    systems: Mapping[str, tuple[str, ...]]
    references: Mapping[str, str]
    kind: UnitKind = "translation"
    criteria: tuple[str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    context: int = 0
    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Count the judgements."""
        if self.kind == "pair":
            return len(self.criteria) * self.schedule.count(self._places)
        return sum(len(self.systems[s.lp]) for s in self.test_set)

    def __iter__(self) -> Iterator[Unit]:
        """Make one unit after the other; an adaptive schedule as if nothing became known on the way."""
        return chain.from_iterable(self.rounds(Standings()))

    @property
    def whole(self) -> TestSet:
        """The test set that the run is of; a part of a run has only some of its segments."""
        return self.test_set

    def segments(self) -> Iterator[tuple[Segment, tuple[Segment, ...]]]:
        """Each segment with those before it in its document that it is shown with."""
        return with_context(self.test_set, self.context)

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
        return [Place(s.lp, s.segment, self.systems[s.lp]) for s in self.test_set]

    def of_system(self, lp: str, system: str) -> Iterator[Subject]:
        """What there is to judge of one system in one lp."""
        for segment, before in self.segments():
            if segment.lp == lp:
                subject = self._subject(segment, (system,), before)
                if not self._missing(subject, (system,)):
                    yield subject

    def _groups(self, segment: Segment) -> Iterable[tuple[str, ...]]:
        """Which systems' translations of a segment are judged at once."""
        systems = self.systems[segment.lp]
        return (systems,) if self.kind == "source" else zip(systems, strict=True)

    def _unit(self, index: int, subject: Subject) -> Unit:
        slots = tuple(
            Slot(of, criterion, self._missing(subject, of)) for of, criterion in self._owed(subject)
        )
        if self.kind == "source":
            subject = subject.of(*(name for slot in slots if not slot.missing for name in slot.systems))
        return Unit(index=index, subject=subject, slots=slots)

    def _owed(self, subject: Subject) -> Iterator[tuple[tuple[str, ...], str | None]]:
        if self.kind == "pair":
            yield from ((subject.systems, criterion) for criterion in self.criteria)
        else:
            yield from (((system,), None) for system in subject.systems)

    def _subject(self, segment: Segment, systems: tuple[str, ...], before: tuple[Segment, ...]) -> Subject:
        source = segment.source.casefold()
        reference = self.references.get(segment.lp)
        return Subject(
            segment=segment,
            systems=systems,
            reference=None if reference is None else segment.references.get(reference),
            context=before,
            terms=tuple(term for term in self.terms if term.source.casefold() in source),
        )

    def _missing(self, subject: Subject, systems: tuple[str, ...]) -> str:
        for system in systems:
            if system not in subject.segment.translations:
                return f"{system} has no translation of segment {subject.segment.segment}"
        if self.references and subject.reference is None:
            return f"segment {subject.segment.segment} has no reference {self.references[subject.lp]}"
        return ""


def with_context(test_set: TestSet, size: int) -> Iterator[tuple[Segment, tuple[Segment, ...]]]:
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
) -> Plan:
    """Decide what is judged, and which reference is shown.

    Raises:
        UsageError: a reference is needed and it is not clear which, or one is named that nobody is shown;
            or there is nothing to judge.
    """
    if reference is not None and not with_reference:
        raise UsageError(f"--reference {reference}: this method is shown no reference")
    chosen = {lp: _choose(test_set, lp, reference) for lp in test_set.lps} if with_reference else {}
    systems, notes = {}, []
    for lp in test_set.lps:
        names = dict.fromkeys(name for s in test_set if s.lp == lp for name in s.translations)
        if names.pop(chosen.get(lp, ""), "left") is None:
            notes.append(f"{lp}: {chosen[lp]} is the reference and is not judged as a system")
        systems[lp] = tuple(names)
    if not any(systems.values()):
        raise UsageError("; ".join([f"test set {test_set.name!r} has no translation to judge", *notes]))
    if kind == "pair" and max(map(len, systems.values())) < 2:
        (name,) = dict.fromkeys(name for names in systems.values() for name in names)
        raise UsageError(f"a comparison needs two systems, and {test_set.name!r} has {name!r} alone")
    _check_anchors(schedule, systems)
    notes += [*_absent_pairs(schedule, test_set, systems), *_blank(test_set, systems)]
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
    )


def _check_anchors(schedule: Schedule, systems: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse anchors that nobody translated with.

    Raises:
        UsageError: as said.
    """
    for lp, names in systems.items():
        if unknown := [name for name in schedule.anchors if name not in names]:
            raise UsageError(f"--anchors: {lp} has no system {unknown[0]!r}; it has {', '.join(names)}")


def _absent_pairs(
    schedule: Schedule, test_set: TestSet, systems: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Say how many of the listed pairs are of other segments or systems.

    Raises:
        UsageError: all of them are.
    """
    there = {(s.lp, s.segment) for s in test_set}
    listed = [(key, pair) for key, pairs in schedule.listed.items() for pair in pairs]
    absent = sum(key not in there or not {*pair} <= {*systems[key[0]]} for key, pair in listed)
    if listed and absent == len(listed):
        raise UsageError(f"--pairs-file: {test_set.name!r} has none of its pairs")
    if absent:
        pairs = of_all(absent, len(listed), "pair")
        yield f"--pairs-file: {pairs} {form(absent, 'is', 'are')} of segments or systems that are not judged"


def _blank(test_set: TestSet, systems: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Say how many translations have no visible text; they are judged like any other."""
    blank = Counter(
        name
        for segment in test_set
        for name in systems[segment.lp]
        if name in segment.translations and not segment.translations[name].strip()
    )
    if total := blank.total():
        which = ", ".join(f"{name} {number}" for name, number in blank.items())
        yield f"{count(total, 'translation')} {form(total, 'is', 'are')} blank ({which}) and judged as such"


def _choose(test_set: TestSet, lp: str, wanted: str | None) -> str:
    """The reference of an lp."""
    names = list(dict.fromkeys(name for s in test_set if s.lp == lp for name in s.references))
    known = ", ".join(names) or "none"
    if wanted is not None:
        if wanted not in names:
            raise UsageError(f"{lp} of {test_set.name!r} has no reference {wanted!r}; it has {known}")
        return wanted
    if len(names) != 1:
        need = "choose one with --reference" if names else "this method needs one: add it with -r FILE"
        raise UsageError(f"{lp} of {test_set.name!r} has {len(names) or 'no'} references ({known}); {need}")
    return names[0]


def read_terms(path: Path) -> tuple[Term, ...]:
    """Read a glossary: source, a tab, translation; one term a line, empty lines skipped.

    Raises:
        DataError: a line is something else.
    """
    return tuple(_terms(path, read_lines(path)))


def _terms(path: Path, lines: Iterable[str]) -> Iterator[Term]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        source, tab, translation = line.partition("\t")
        if not tab or "\t" in translation or not source.strip() or not translation.strip():
            message = f"a term is its source, a tab and its translation; got {line[:_SHOWN]!r}"
            raise DataError(message, path=path, line=number)
        yield Term(source=source.strip(), translation=translation.strip())
