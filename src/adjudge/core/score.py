"""Numbers and the signature that makes each of them repeatable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from adjudge.core.annotation import Preference

__all__ = ["Interval", "Scores", "SegmentScore", "Signature", "Suspects", "SystemScore", "listed"]


_COUNTS: Final = frozenset({"failed", "extracted", "normalised", "comparison_failed"})
"""Fields that count judgements, and say nothing about how they were made."""


@dataclass(frozen=True)
class Signature:
    """The line under every number, sacrebleu style: `gemba-mqm|model:openai/gpt-x|...|version:0.1.0`.

    Args:
        name: the judge, metric or annotator.
        fields: key to value, in print order.
    """

    name: str
    fields: Mapping[str, str]

    def __str__(self) -> str:
        """Render the line; `|` and line breaks inside a value are percent-encoded."""
        return "|".join(
            [_escape(self.name), *(f"{key}:{_escape(value)}" for key, value in self.fields.items())]
        )

    @classmethod
    def read(cls, line: str) -> Signature:
        """Read a line back."""
        name, *pairs = line.split("|")
        split = (pair.partition(":") for pair in pairs)
        return cls(_unescape(name), {key: _unescape(value) for key, _, value in split})

    def with_fields(self, **fields: str) -> Signature:
        """Add or replace fields; new ones stand before `version`."""
        merged = {**self.fields, **fields}
        version = merged.pop("version", None)
        return Signature(self.name, merged if version is None else {**merged, "version": version})

    def is_comparable_with(self, other: Signature) -> bool:
        """Whether numbers of both may stand in one column: all but the counts of judgements is equal."""
        return self._without_counts() == other._without_counts()

    def _without_counts(self) -> Signature:
        return Signature(self.name, {k: v for k, v in self.fields.items() if k not in _COUNTS})


def _escape(value: str) -> str:
    for char, code in (("%", "%25"), ("|", "%7C"), ("\n", "%0A"), ("\r", "%0D")):
        value = value.replace(char, code)
    return value


def _unescape(value: str) -> str:
    for char, code in (("\r", "%0D"), ("\n", "%0A"), ("|", "%7C"), ("%", "%25")):
        value = value.replace(code, char)
    return value


class Interval(NamedTuple):
    """A two-sided interval, in the units of its score."""

    low: float
    high: float


def listed(interval: Interval | None) -> list[float] | None:
    """An interval as JSON has it: its two ends, or null."""
    return None if interval is None else [interval.low, interval.high]


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class SegmentScore:
    """Score of one translation; None where its judgement failed.

    `weight` is how much it counts in the mean of its system: the comparisons behind it where preferences
    are scored, else 1.
    """

    lp: str
    segment: str
    system: str
    score: float | None
    document: str = ""
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class SystemScore:
    """Mean over the judged segments of one system.

    Args:
        system: its name.
        score: the mean; None where nothing was judged.
        n: segments that the mean is over; comparisons where preferences are scored.
        failed: judgements asked for and not obtained; segments, where there is one annotator.
        interval: interval of the mean, where one was computed.
        readings: judgements by the flag that says how they were read, such as `extracted`; only those that
        there are.
    """

    system: str
    score: float | None
    n: int
    failed: int
    interval: Interval | None = None
    readings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """Judgements that are flagged because of what may be meant for the judge in their texts.

    Args:
        judgements: how many there are.
        asked: of how many.
        in_translation: those of them with something in a translation that its source does not hold.
        segments: how many segments have one.
        systems: scores over the other segments.
    """

    judgements: int
    asked: int
    in_translation: int
    segments: int
    systems: tuple[SystemScore, ...]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """All numbers of one annotator under one signature. Higher is better.

    Args:
        signature: of every number in here.
        range: lowest and highest possible score; infinite where there is no bound.
        segments: one per translation asked for, in test-set order, failed ones included.
        systems: one per system, over all its segments in here. Empty where several language pairs have
            not the same systems: a mean over all of them would compare what cannot be compared.
        notes: what a reader must know: failures, unequal coverage, pending judgements.
        lps: each language pair on its own, where there are several; else empty.
        suspects: flagged judgements, and the scores without them; None where none is flagged, or where
            nothing is over all language pairs.
        preferences: that were scored, on the one criterion; empty where translations were.
    """

    signature: Signature
    range: tuple[float, float]
    segments: tuple[SegmentScore, ...]
    systems: tuple[SystemScore, ...]
    direction: str = "higher is better"
    notes: tuple[str, ...] = ()
    lps: Mapping[str, Scores] = field(default_factory=dict)
    suspects: Suspects | None = None
    preferences: tuple[Preference, ...] = ()
