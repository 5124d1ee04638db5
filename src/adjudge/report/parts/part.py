"""A part of a page: what it shows in a sentence, then its figures and tables."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.report.figures import Figure
from adjudge.report.tables import Table

__all__ = ["Part", "file_stem"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part.

    Args:
        name: in addresses, such as `agreement`.
        title: its heading.
        finding: what it shows, a sentence without its full stop.
        figures: in page order.
        tables: in page order.
        notes: what a reader must know.
    """

    name: str
    title: str
    finding: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


def file_stem(label: str) -> str:
    """A label as a part of a file's name."""
    kept = "".join(char if char.isalnum() or char in "-_" else "-" for char in label)
    return "-".join(filter(None, kept.split("-")))[:80] or "annotator"
