"""Errors under headings, as the papers have them: one heading a severity, `no-error` or one error a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from adjudge.core.typology import find_category
from adjudge.errors import AnswerError
from adjudge.judges._read import shown, unreadable
from adjudge.judges._spans import Listed

__all__ = ["heading", "read_headings", "render_headings"]

_LINE: Final = re.compile(r"(?P<category>[^\"“”]+?)(?: [-–—] [\"“](?P<span>.*)[\"”])?")


def heading(severity: str) -> str:
    """The line above the errors of one severity."""
    return f"{severity.capitalize()}:"


def render_headings(errors: Sequence[Mapping[str, str]], severities: Sequence[str]) -> str:
    """Write errors under headings."""
    lines = []
    for severity in severities:
        found = [e for e in errors if e["severity"] == severity]
        lines += [heading(severity), *(_line(e["category"], e["span"]) for e in found)]
        lines += [] if found else ["no-error"]
    return "\n".join(lines)


def read_headings(text: str, severities: Sequence[str]) -> list[Listed]:
    """Read every heading, once and in order, with `no-error` or one error a line under each.

    Raises:
        AnswerError: parse, or refused where words decline.
    """
    headings = [heading(severity).lower() for severity in severities]
    sections: list[list[str]] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line.lower() in headings:
            if line.lower() != next(iter(headings[len(sections) :]), None):
                raise AnswerError("parse", f"{line!r} must stand once, after {headings[: len(sections)]}")
            sections.append([])
        elif sections:
            sections[-1].append(line)
        else:
            raise unreadable(text, f"the heading {headings[0]!r} first")
    if len(sections) != len(headings):
        raise unreadable(text, f"the headings {', '.join(headings)}")
    return [
        error
        for severity, lines in zip(severities, sections, strict=True)
        for error in _read_section(lines, severity)
    ]


def _read_section(lines: list[str], severity: str) -> list[Listed]:
    if [line.lower() for line in lines] == ["no-error"]:
        return []
    if not lines:
        raise AnswerError("parse", f"nothing stands under {severity}; no errors are written no-error")
    listed = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None or (match["span"] is None and find_category(line) is None):
            raise AnswerError("parse", f'wanted category - "span" under {severity}, got {shown(line)}')
        listed.append(Listed(match["span"] or "", match["category"], severity))
    return listed


def _line(category: str, span: str) -> str:
    return f'{category} - "{" ".join(span.split())}"'
