"""Errors that several judgements of one translation agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from adjudge.core.annotation import ErrorSpan
from adjudge.core.typology import SEVERITIES

__all__ = ["middle", "vote"]


def vote(samples: Sequence[Sequence[ErrorSpan]]) -> tuple[ErrorSpan, ...]:
    """The errors that more than half of the samples mark, in the order of the text.

    A sample supports an error if it has a span that overlaps it on the same side; errors without a place
    support each other if they quote the same words, or quote none and are of one category. Each span
    supports one error only, so that two errors in one place need twice the votes.

    - The error with the most supporters is settled first, each sample giving the span that fits best.
    - Category: the most frequent one. Place: of the spans of that category, the one that overlaps the
      others best. Severity: the worst that more than half of the supporters call at least so severe; that
      is the majority's, where there is one.
    """
    marked = [(sample, span) for sample, spans in enumerate(samples) for span in spans]
    ballot = _Ballot(marked)
    agreed = []
    while group := ballot.strongest(more_than=len(samples) / 2):
        agreed.append(ballot.settle(group))
        ballot.remove(group)
    return tuple(sorted(agreed, key=_order))


def middle(numbers: Sequence[int]) -> int:
    """The largest number that more than half of the samples reach: the median, the lower one of two."""
    return sorted(numbers)[(len(numbers) - 1) // 2]


class _Ballot:
    """All spans by number, how well each two fit, and which of them still have a vote."""

    def __init__(self, marked: Sequence[tuple[int, ErrorSpan]]) -> None:
        self._free = set(range(len(marked)))
        self._sample = [sample for sample, _ in marked]
        self._span = [span for _, span in marked]
        self._fit: list[dict[int, float]] = [{} for _ in marked]
        for one in range(len(marked)):
            for other in range(one, len(marked)):
                if fit := _overlap(self._span[one], self._span[other]):
                    self._fit[one][other] = self._fit[other][one] = fit
        self._groups = {centre: self._group(centre) for centre in range(len(marked))}

    def strongest(self, *, more_than: float) -> list[int]:
        """The spans of the error that most samples support; empty if no error has enough of them."""
        groups = [group for group in self._groups.values() if len(group) > more_than]
        return max(groups, key=lambda group: (len(group), self._tightness(group[0], group)), default=[])

    def remove(self, group: Sequence[int]) -> None:
        """Take the votes of an error that is settled; whoever was near it looks for others."""
        self._free -= set(group)
        near = {centre for one in group for centre in self._fit[one]}
        for centre in near & self._groups.keys():
            if centre in self._free:
                self._groups[centre] = self._group(centre)
            else:
                del self._groups[centre]

    def settle(self, group: Sequence[int]) -> ErrorSpan:
        """One span for all of a group."""
        counts = Counter(self._span[one].category for one in group)
        most = max(counts.values())
        best = sorted(group, key=lambda one: -self._tightness(one, group))
        chosen = next(self._span[one] for one in best if counts[self._span[one].category] == most)
        severities = [SEVERITIES.index(self._span[one].severity) for one in group]
        return replace(chosen, severity=SEVERITIES[middle(severities)])

    def _group(self, centre: int) -> list[int]:
        """A span, and of every other sample the one that supports it best."""
        best: dict[int, int] = {}
        for other in sorted(self._fit[centre].keys() & self._free, key=lambda one: self._rank(centre, one)):
            best[self._sample[other]] = other
        best.pop(self._sample[centre])
        return [centre, *best.values()]

    def _rank(self, centre: int, other: int) -> tuple[bool, float, int]:
        """Same category first, then the better fit, then the earlier one; the best comes last."""
        same = self._span[other].category == self._span[centre].category
        return (same, self._fit[centre][other], -other)

    def _tightness(self, centre: int, group: Sequence[int]) -> float:
        return sum(self._fit[centre].get(other, 0.0) for other in group)


def _overlap(one: ErrorSpan, other: ErrorSpan) -> float:
    """Shared characters by all characters of both; 1 for the same place, 0 for different ones."""
    if one.side != other.side:
        return 0.0
    if one.start is None or one.end is None or other.start is None or other.end is None:
        if one.start is not None or other.start is not None:
            return 0.0
        same_words = " ".join(one.text.split()) == " ".join(other.text.split())
        return float(same_words and (bool(one.text.strip()) or one.category == other.category))
    if (one.start, one.end) == (other.start, other.end):
        return 1.0
    shared = min(one.end, other.end) - max(one.start, other.start)
    return max(0, shared) / (max(one.end, other.end) - min(one.start, other.start))


def _order(span: ErrorSpan) -> tuple[bool, bool, int]:
    """Translation before source, by place, errors without one last."""
    return (span.start is None, span.side == "source", span.start or 0)
