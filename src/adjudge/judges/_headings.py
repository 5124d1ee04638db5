"""Errors under headings, as the papers have them: one heading a severity, `no-error` or one error a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from adjudge.core.typology import find_category
from adjudge.errors import AnswerError
from adjudge.judges._prose import LEAD_IN, check_around, check_reasons, unwrap
from adjudge.judges._read import shown, unreadable
from adjudge.judges._spans import Listed

__all__ = ["Headed", "heading", "read_headings", "render_headings"]

_CATEGORY: Final = re.compile(
    r"(?P<category>[^\"“”„«»]{1,120}?)(?:\s+[-–—]\s+|\s*:\s+|\s*[-–—→]+\s*(?=[\"“„«]))(?P<rest>\S.*)"
)
_QUOTED: Final = re.compile(
    r"\"(?P<a>[^\"]+)\"|“(?P<b>[^”]+)”|„(?P<c>[^“”]+)[“”]|«\s?(?P<d>[^»]+?)\s?»|「(?P<e>[^」]+)」|(?<!\w)'(?P<f>[^']+)'(?!\w)"
)
_OUTER: Final = re.compile(r"[\"“„«](?P<span>.*)[\"”“»]")
_BETWEEN: Final = re.compile(r"\s*(?:,|;|and|&)\s*")
_BULLET: Final = re.compile(r"\A(?:[-*•·–]|[0-9]{1,3}[.)])\s+")
_NO_ERROR: Final = re.compile(r"\(?no[- ]errors?\)?\.?", re.IGNORECASE)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:fine|acceptable|correct|ok|okay|no error|not an error|no mistake|not wrong|not a|never "
    r"mind|ignore|nothing"
    r"|wait|no,|opposite|wrong here|exceeded|disregard|scratch that|actually|would|if|tokens)\b|\bno,",
    re.IGNORECASE,
)


class Headed(NamedTuple):
    """The errors of a reply with headings, and how it was read: `extracted`, `normalised`."""

    listed: list[Listed]
    flags: tuple[str, ...]


class _Section(NamedTuple):
    """What stands under a heading; empty lines are kept, since what follows one may be a note."""

    severity: str
    lines: list[str]


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


def read_headings(
    text: str, severities: Sequence[str], stands: Callable[[str], bool] = lambda _: False
) -> Headed:
    """Read every heading, once and in any order, with `no-error` or one error a line under each.

    A heading may be bold or a Markdown heading, a line may be a bullet, and a span may be followed by a
    gloss. Behind
    a blank line at the end, and before the first heading, prose may stand if there is an error (`_prose`).

    Args:
        text: of the reply.
        severities: of the headings.
        stands: whether a quotation stands in a text that is judged.

    Raises:
        AnswerError: parse, or refused where words decline.
    """
    inner = unwrap(text)
    before, sections, is_plain = _split(inner.text, severities)
    names = ", ".join(map(heading, severities))
    if not sections:
        raise unreadable(text, f"the headings {names}")
    if len({section.severity for section in sections}) < len(sections):
        raise AnswerError("parse", f"each of the headings {names} must stand once")
    if len(sections) != len(severities):
        raise unreadable(text, f"the headings {names}")
    is_ordered = [section.severity for section in sections] == list(severities)
    after = _cut_note(sections[-1])
    found = {section.severity: _read_section(section, stands) for section in sections}
    listed = [error for severity in severities for error in found[severity]]
    if before and not LEAD_IN.fullmatch(" ".join(before.split())):
        check_around(before, "", "around" if listed else "clean", "the list of errors")
    check_around("", after, "around" if listed else "clean", "the list of errors")
    is_normalised = not (is_plain and is_ordered) or any(error.is_normalised for error in listed)
    extracted = ("extracted",) if inner.is_wrapped or before or after else ()
    return Headed(listed, (*extracted, *(("normalised",) if is_normalised else ())))


def _split(text: str, severities: Sequence[str]) -> tuple[str, list[_Section], bool]:
    """Words before the first heading, the sections, and whether all is spelled as asked."""
    names = "|".join(severities)
    pattern = re.compile(
        rf"(?:#{{1,6}}\s*)?[*_]{{0,3}}(?P<name>{names})(?:[- "
        rf"]errors?)?(?P<end>[*_]{{0,3}}\s*:?\s*[*_]{{0,3}})"
        r"(?P<rest>\s.*)?",
        re.IGNORECASE,
    )
    before: list[str] = []
    sections: list[_Section] = []
    is_plain = True
    for line in map(str.strip, text.split("\n")):
        match = pattern.fullmatch(line)
        is_heading = match is not None and (":" in match["end"] or line.startswith(("#", "*", "_")))
        if match is None or not is_heading:
            (sections[-1].lines if sections else before).append(line)
            continue
        rest = (match["rest"] or "").strip()
        sections.append(_Section(match["name"].lower(), [rest] if rest else []))
        is_plain = is_plain and line.lower() == f"{match['name'].lower()}:"
    is_plain = is_plain and all(
        not _NO_ERROR.fullmatch(_bare(line)) or line.lower() == "no-error"
        for s in sections
        for line in s.lines
    )
    return "\n".join(before).strip(), sections, is_plain


def _cut_note(section: _Section) -> str:
    """Cut what stands behind a blank line off the last section, unless it is more of its list."""
    lines = section.lines
    while lines and not lines[-1]:
        lines.pop()
    for place, line in enumerate(lines):
        if not line and any(lines[:place]) and not any(_is_listed(each) for each in lines[place:]):
            note = "\n".join(lines[place:])
            del lines[place:]
            return "\n" + note
    return ""


def _is_listed(line: str) -> bool:
    """Whether a line is an error or says that there is none."""
    match = _CATEGORY.fullmatch(_bare(line))
    return bool(_NO_ERROR.fullmatch(_bare(line))) or (match is not None and "/" in match["category"])


def _bare(line: str) -> str:
    """A line without its bullet and its emphasis."""
    line = _BULLET.sub("", line, count=1).strip()
    return line.strip("*").strip() if line.startswith("**") and line.endswith("**") else line


def _read_section(section: _Section, stands: Callable[[str], bool]) -> list[Listed]:
    lines = [line for line in section.lines if line]
    if len(lines) == 1 and _NO_ERROR.fullmatch(_bare(lines[0])):
        return []
    if not lines:
        raise AnswerError("parse", f"nothing stands under {section.severity}; no errors are written no-error")
    return [error for line in lines for error in _read_line(line, section.severity, stands)]


def _read_line(line: str, severity: str, stands: Callable[[str], bool]) -> list[Listed]:
    """The errors of one line: one, or several spans of one category."""
    plain = _bare(line)
    is_bulleted = plain != line
    if find_category(plain) is not None:
        return [Listed("", plain, severity, is_normalised=is_bulleted)]
    match = _CATEGORY.fullmatch(plain)
    if match is None:
        raise _unlisted(line, severity)
    category, rest = match["category"].strip("*` "), match["rest"].strip()
    outer = _OUTER.fullmatch(rest)
    if outer and (stands(outer["span"]) or not _QUOTED_INSIDE.search(outer["span"])):
        is_straight = rest[0] in '"“' and f'{category} - "' in plain.replace("“", '"')
        return [Listed(outer["span"], category, severity, is_normalised=is_bulleted or not is_straight)]
    quoted = list(_QUOTED.finditer(rest))
    if quoted and quoted[0].start() == 0:
        return _read_quoted(rest, quoted, category, severity)
    if not _QUOTED_INSIDE.match(rest) and stands(rest):
        return [Listed(rest, category, severity, is_normalised=True)]
    raise _unlisted(line, severity)


_NO_GLOSS: Final = re.compile(r"[][{}`<\\]")
_QUOTED_INSIDE: Final = re.compile(r"[\"“”„»«]")


def _read_quoted(rest: str, quoted: list[re.Match[str]], category: str, severity: str) -> list[Listed]:
    """Spans in quotation marks with a comma between them, or one span and a gloss."""
    last = 0
    for one, following in pairwise(quoted):
        if not _BETWEEN.fullmatch(rest[one.end() : following.start()]):
            break
        last += 1
    gloss = rest[quoted[last].end() :].strip(" -–—:,;.()→>")
    check_reasons(gloss, "an error")
    behind = rest[quoted[last].end() :][:1]
    if gloss and (behind not in " ,;:(.-–—→" or _NO_GLOSS.search(gloss)):
        raise _unlisted(rest, severity)
    if _TAKEN_BACK.search(_QUOTED.sub(" ", gloss)):
        raise AnswerError("parse", f"words behind an error may take it back: {shown(gloss)}")
    spans = [next(filter(None, match.groups())) for match in quoted[: last + 1]]
    return [Listed(span, category, severity, note=gloss, is_normalised=True) for span in spans]


def _unlisted(line: str, severity: str) -> AnswerError:
    return unreadable(line, f'category - "span" under {severity}')


def _line(category: str, span: str) -> str:
    return f'{category} - "{" ".join(span.split())}"'
