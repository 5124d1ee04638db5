"""Labels of the MQM data as their files spell them, to the words of `core.typology` and back."""

from __future__ import annotations

from typing import NamedTuple

from adjudge.core.typology import Severity, find_category

__all__ = ["Label", "read_label", "render_label", "render_severity"]


class Label(NamedTuple):
    """A category, and how its file spelled it where that is neither our spelling nor Google's."""

    category: str | None
    label: str | None


def read_label(raw: str) -> Label:
    """Read a category in any year's spelling; one that no year has keeps its spelling and has no category."""
    if not raw:
        return Label(None, None)
    category = find_category(raw)
    ours = category is not None and raw in {category, render_label(category, None)}
    return Label(category, None if ours else raw)


def render_label(category: str | None, label: str | None) -> str:
    """Category as Google's files and `score_mqm` spell it: `Accuracy/Mistranslation`, `Non-translation!`."""
    if label is not None:
        return label
    if category is None:
        return ""
    capitals = "/".join(part[:1].upper() + part[1:] for part in category.split("/"))
    return capitals + "!" if category == "non-translation" else capitals


def render_severity(severity: Severity) -> str:
    """Severity as Google's files spell it."""
    return severity.capitalize()
