"""Marks for tests, short to write."""

from adjudge.analysis.span_matching import Mark
from adjudge.core.protocol import Severity
from adjudge.core.record import Side


def mark(
    start: int | None,
    end: int | None,
    severity: Severity = "minor",
    *,
    side: Side = "translation",
    category: str | None = None,
    words: str = "",
) -> Mark:
    return Mark(side, start, end, severity, category, tuple(words.split()))


def minor(start: int, end: int) -> Mark:
    return mark(start, end)


def major(start: int, end: int) -> Mark:
    return mark(start, end, "major")


def source(start: int, end: int) -> Mark:
    return mark(start, end, side="source")


def nowhere(words: str = "", severity: Severity = "minor") -> Mark:
    return mark(None, None, severity, words=words)


def said(words: str) -> Mark:
    """A mark whose words matter and whose place does not."""
    return mark(0, len(words), words=words)
