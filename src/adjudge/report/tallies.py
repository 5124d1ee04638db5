"""How many errors of which kind, and what was not obtained and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adjudge.core.annotation import Annotation, Failure, Preference, Record
from adjudge.core.typology import CATEGORIES, SEVERITIES, Severity
from adjudge.meta.ranking.comparisons import in_order_of_names

__all__ = ["Errors", "Verdicts", "count_errors", "count_failures", "count_verdicts"]

_UNDECIDED: Final = "\0undecided"  # no name of a system


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Errors of one annotator on one language pair.

    Args:
        systems: in the order of the page.
        judged: system to annotations.
        clean: system to annotations without any error.
        severities: severity to system to errors; only severities that occur or that a reader expects.
        categories: category to system to errors, in the order of the typology; empty where none were asked.
    """

    systems: tuple[str, ...]
    judged: Mapping[str, int]
    clean: Mapping[str, int]
    severities: Mapping[Severity, Mapping[str, int]]
    categories: Mapping[str, Mapping[str, int]]

    @property
    def total(self) -> int:
        """Errors of all systems."""
        return sum(sum(counts.values()) for counts in self.severities.values())

    @property
    def most(self) -> int:
        """Errors of one category by one system, where there are most."""
        return max((max(counts.values()) for counts in self.categories.values()), default=0)

    def of_system(self, system: str) -> int:
        """Errors of one system."""
        return sum(counts[system] for counts in self.severities.values())


def count_errors(records: Iterable[Record], systems: Sequence[str]) -> Errors:
    """Count the errors of annotations; failures have none and are not among the judged."""
    judged: Counter[str] = Counter()
    clean: Counter[str] = Counter()
    severities: dict[Severity, Counter[str]] = {severity: Counter() for severity in SEVERITIES}
    categories: dict[str, Counter[str]] = {}
    for record in records:
        if not isinstance(record, Annotation):
            continue
        system = record.system
        judged[system] += 1
        for span in record.spans:
            severities[span.severity][system] += 1
            if span.category is not None:
                categories.setdefault(span.category, Counter())[system] += 1
        if record.spans:
            continue
        clean[system] += not any(record.counts.values())
        for severity, amount in record.counts.items():  # where a method only counts, take its count
            severities[severity][system] += amount
    return Errors(
        systems=tuple(systems),
        judged=judged,
        clean=clean,
        severities={s: counts for s, counts in severities.items() if counts or s in {"minor", "major"}},
        categories={name: categories[name] for name in CATEGORIES if name in categories},
    )


def count_failures(records: Iterable[Record]) -> dict[str, Counter[str]]:
    """Failures by reason and system, most frequent reason first.

    A failure over several systems counts for each of them.
    """
    reasons: dict[str, Counter[str]] = {}
    for record in records:
        if isinstance(record, Failure):
            reasons.setdefault(record.reason, Counter()).update(record.systems)
    return dict(sorted(reasons.items(), key=lambda item: (-item[1].total(), item[0])))


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Preferences between two systems on one criterion.

    Args:
        pair: the systems A and B.
        criterion: what was asked about.
        a: how often A was preferred.
        b: how often B was preferred.
        equal: how often neither was.
        undecided: how often the verdict changed with the order and was kept as that.
    """

    pair: tuple[str, str]
    criterion: str
    a: int
    b: int
    equal: int
    undecided: int = 0


def count_verdicts(records: Iterable[Record]) -> list[Verdicts]:
    """Count preferences by pair and criterion, whichever of the two was called A."""
    found: dict[tuple[tuple[str, str], str], Counter[str]] = {}
    for record in records:
        if isinstance(record, Preference):
            first, second, verdict = in_order_of_names(record)
            winner = _UNDECIDED if record.is_undecided else {1.0: first, -1.0: second, 0.0: ""}[verdict]
            found.setdefault(((first, second), record.criterion), Counter())[winner] += 1
    return [
        Verdicts(
            pair=pair,
            criterion=criterion,
            a=wins[pair[0]],
            b=wins[pair[1]],
            equal=wins[""],
            undecided=wins[_UNDECIDED],
        )
        for (pair, criterion), wins in found.items()
    ]
