"""One number from 0 to 100 as judges ask for it and read it: in a JSON object, or bare."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import islice, pairwise
from typing import Final, Literal, NamedTuple, get_args

from adjudge.core.ask import About, Ask, Message, Reply, Sampling
from adjudge.core.judge import Profile
from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.protocol import Severity, find_category, find_severity
from adjudge.core.record import ErrorSpan, Match, Side
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._json import Reading, object_schema, pick_keys, read_object, read_whole_number
from adjudge.judges._prompts import Form, Parts, Prompts, find_form, judged_texts, render_example
from adjudge.judges._replies import (
    LEAD_IN,
    Trust,
    check_around,
    check_reasons,
    copied,
    read_text,
    shown,
    unreadable,
    unwrap,
)

__all__ = [
    "GEMBA_CATEGORIES",
    "ErrorList",
    "Listed",
    "Marked",
    "Rating",
    "RatingScale",
    "check_scale",
    "either",
    "errors_trust",
    "find_place",
    "place_errors",
    "read_headings",
    "render_headings",
    "stands_in",
]


# From listed errors to spans: labels checked, and every quotation in its place, in code points.


_MAY_BE_EMPTY: Final = {"accuracy/omission", "non-translation"}
"""Errors that may have no words to point at."""

_IN_SOURCE: Final = {"accuracy/omission", "source error"}
"""Errors that MQM marks in the source: their words may be missing from the translation."""

_NO_CORE: Final = {"other", "non-translation", "source error", "instruction fault"}

MOST_ERRORS: Final = 500
"""Errors that one answer may list; a longer list is a model that does not stop."""
MOST_REPEATS: Final = 10
"""Times that errors of one answer may be listed again."""

_QUOTES: Final = str.maketrans("“”„‟«»″「」『』〝〞＂‘’‚‛‹›′`´＇‐‑‒–—−", '"' * 14 + "'" * 10 + "-" * 6)
_DOTS: Final = " .…"
_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.{3,}|\[\.{3}\]|\[…\])\s*")
_MARKER: Final = re.compile(r"<</?[a-z][a-z -]*|\$\{?[a-z_]+|\{[a-z_]+\}")
_SEPARATOR: Final = re.compile(r"\s*(?:/|::?|>|→|–|—|\.|\||\(|\s-\s|(?<!non)-)\s*")
_OTHER_CORE: Final = re.compile(
    r"\b(?:accuracy|fluency|terminology|style|locale|non-translation|no[- ]error|none)\b", re.IGNORECASE
)
_ERROR: Final = re.compile(r"\s+errors?\b", re.IGNORECASE)
_WAYS: Final[tuple[Match, ...]] = ("exact", "normalised")
_SPACE: Final = re.compile(r"\s+")


class Listed(NamedTuple):
    """One error as an annotator listed it. Text forms do not say the side.

    Args:
        span: words that were copied.
        category: as it was spelled.
        severity: as it was spelled.
        side: that was named.
        note: explanation.
        is_normalised: whether something about it had to be normalised to be read.
        is_side_open: whether the side was left out where it is asked for, so that both texts are searched.
    """

    span: str
    category: str
    severity: str
    side: Side | None = None
    note: str = ""
    is_normalised: bool = False
    is_side_open: bool = False


class Marked(NamedTuple):
    """The errors of one reply with their places, and the flags that go on the annotation."""

    spans: tuple[ErrorSpan, ...]
    flags: tuple[str, ...]


class Place(NamedTuple):
    """Where a quotation stands; no offsets where it stands nowhere."""

    side: Side
    start: int | None
    end: int | None
    match: Match


def place_errors(
    listed: Sequence[Listed], subject: Subject, severities: Sequence[Severity], flags: tuple[str, ...] = ()
) -> Marked:
    """Check labels and find every quotation in its text.

    One error listed twice, with no second place for it, is one error (flag `repeated_errors`).

    Raises:
        AnswerError: label for a severity or a category that nobody asked for or knows; schema for an error
            that points at nothing and must point at something; count for more than `MOST_ERRORS`, or for one
            error
            more than `MOST_REPEATS` times too often; refused for words that decline in place of a quotation.
    """
    if len(listed) > MOST_ERRORS:
        raise AnswerError("count", f"{len(listed)} errors were listed, more than {MOST_ERRORS}")
    spans: dict[ErrorSpan, None] = {}
    taken: dict[Place, None] = {}
    repeats, is_normalised = 0, False
    for error in listed:
        severity, category = _find_severity(error.severity), _find_category(error.category)
        if severity is None or severity not in severities:
            raise AnswerError("label", f"severity must be {either(severities)}; got {shown(error.severity)}")
        if category is None:
            raise AnswerError("label", f"{shown(error.category)} is no category of the typology")
        quote = "" if not error.span.strip(_DOTS) and error.span not in subject.translation else error.span
        if not quote and category not in _MAY_BE_EMPTY:
            raise AnswerError("schema", f"an error of {category} must quote the text, got an empty span")
        place = _place(error._replace(span=quote), subject, category, taken)
        span = _span(error, place, severity, category, subject)
        is_normalised = is_normalised or error.is_normalised or _is_respelled(error, severity, category)
        if span in spans:
            repeats += 1
        spans[span] = taken[place] = None
    if repeats > MOST_REPEATS:
        raise AnswerError("count", f"the same errors were listed again {repeats} times")
    unmatched = any(span.match == "unmatched" for span in spans)
    found = (
        *(flag for flag in flags if flag != "normalised"),
        *(["normalised"] if is_normalised or "normalised" in flags else []),
        *(["repeated_errors"] if repeats else []),
        *(["span_unmatched"] if unmatched else []),
    )
    return Marked(tuple(spans), found)


def stands_in(subject: Subject) -> Callable[[str], bool]:
    """Whether a quotation stands in the translation or the source of a subject."""
    return lambda quote: any(_first_places(quote, text)[0] for text in (subject.translation, subject.source))


def _is_respelled(error: Listed, severity: str, category: str) -> bool:
    return error.severity != severity or error.category != category


def _find_severity(label: str) -> Severity | None:
    """A severity, also as `major error`."""
    return find_severity(_ERROR.sub("", label.strip().rstrip(".")))


def _find_category(label: str) -> str | None:
    """A category of the typology; of an unknown subtype its core type, where that is clear."""
    plain = _ERROR.sub("", label.strip().rstrip(".").strip("\"'*`").replace("_", " "))
    for known in (label, plain):
        if category := find_category(known):
            return category
    parts = [part.strip() for part in _SEPARATOR.split(plain, maxsplit=1)]
    if len(parts) < 2 or not any(map(str.isalnum, parts[1])):
        return None
    core = find_category(parts[0])
    if core is None or "/" in core or core in _NO_CORE or _OTHER_CORE.search(parts[1]):
        return None
    for subtype in (parts[1], parts[1].replace("-", " ")):
        if category := find_category(f"{core}/{subtype}"):
            return category
    return core


def either(names: Sequence[str]) -> str:
    """Names as an English choice."""
    return " or ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} or {names[-1]}"


def find_place(
    quote: str, subject: Subject, *, said: Side | None, category: str | None, taken: Collection[Place]
) -> Place:
    """Find a quotation in the translation or the source.

    The side that the annotator named comes first, the translation where none was named. The other one comes
    second: the translation always, the source only for errors that are marked there.

    Args:
        quote: words that the annotator copied, not empty.
        subject: whose translation and source are searched.
        said: side that the annotator named.
        category: of the error.
        taken: places of the annotator's earlier errors.
    """
    first: Side = said or "translation"
    sides: list[Side] = [first]
    if first == "source":
        sides.append("translation")
    elif category in _IN_SOURCE:
        sides.append("source")
    for side in sides:
        text = subject.translation if side == "translation" else subject.source
        found, match = _first_places(quote, text)
        if len(found) == 1:
            return Place(side, *found[0], match)
        if found:
            used = {(place.start, place.end) for place in taken if place.side == side}
            free = next((place for place in _all_places(quote, text, match) if place not in used), found[0])
            return Place(side, *free, "ambiguous")
    return Place(first, None, None, "unmatched")


def _first_places(quote: str, text: str) -> tuple[list[tuple[int, int]], Match]:
    """The first two places of a quotation: as it is, else with its spelling made equal."""
    for match in _WAYS:
        if found := list(islice(_all_places(quote, text, match), 2)):
            return found, match
    if place := _around_ellipsis(quote, text):
        return [place], "normalised"
    return [], "unmatched"


def _all_places(quote: str, text: str, match: Match) -> Iterator[tuple[int, int]]:
    """Every place of a quotation, overlapping ones too, found one by one."""
    if match == "exact":
        yield from ((start, start + len(quote)) for start in _occurrences(quote, text))
        return
    flat, origin = _flat(text)
    for wanted in _loosened(quote):
        is_found = False
        for start in _occurrences(wanted, flat):
            is_found = True
            yield origin[start], origin[start + len(wanted) - 1] + 1
        if is_found:
            return


def _loosened(quote: str) -> Iterator[str]:
    """A quotation as it may stand in a flat text, each spelling looser than the one before."""
    flat = _flat(quote)[0].strip()
    spellings = (flat, flat.strip(" \"'"), flat.strip(_DOTS), flat.strip(_DOTS).strip(" \"'.,;:!?()"))
    yield from filter(None, dict.fromkeys(spellings))


def _around_ellipsis(quote: str, text: str) -> tuple[int, int] | None:
    """The place of words with an ellipsis between them, if each part stands in the text once."""
    parts = [part.strip() for part in _ELLIPSIS.split(_flat(quote)[0])]
    if len(parts) != 2 or not all(parts):
        return None
    flat, origin = _flat(text)
    first, last = ([*islice(_occurrences(part, flat), 2)] for part in parts)
    if len(first) != 1 or len(last) != 1 or first[0] + len(parts[0]) > last[0]:
        return None
    return origin[first[0]], origin[last[0] + len(parts[1]) - 1] + 1


def _occurrences(quote: str, text: str) -> Iterator[int]:
    start = text.find(quote)
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)


@lru_cache(maxsize=16)
def _flat(text: str) -> tuple[str, list[int]]:
    """The text with one blank for white space and straight quotation marks, and each character's origin."""
    flat: list[str] = []
    origin: list[int] = []
    position = 0
    for space in [*_SPACE.finditer(text), None]:
        end = len(text) if space is None else space.start()
        flat.append(text[position:end].translate(_QUOTES))
        origin += range(position, end)
        if space is not None:
            flat.append(" ")
            origin.append(space.start())
            position = space.end()
    return "".join(flat), origin


def _place(error: Listed, subject: Subject, category: str, taken: Collection[Place]) -> Place:
    if not error.span:
        return Place(error.side or "translation", None, None, "unplaced")
    place = find_place(
        *(error.span, subject),
        said=error.side,
        category="source error" if error.is_side_open else category,
        taken=taken,
    )
    if place.match == "unmatched":
        if _MARKER.search(error.span):
            raise AnswerError("schema", f"an error must quote the text, got a marker: {shown(error.span)}")
        check_reasons(error.span, "an error")
    return place


def _span(error: Listed, place: Place, severity: Severity, category: str, subject: Subject) -> ErrorSpan:
    text = subject.translation if place.side == "translation" else subject.source
    return ErrorSpan(
        start=place.start,
        end=place.end,
        text=error.span if place.start is None else text[place.start : place.end],
        severity=severity,
        category=category,
        side=place.side,
        match=place.match,
        note=error.note,
        label=None if error.category == category else error.category,
    )


# Errors under headings, as the papers have them: one heading a severity, `no-error` or one error a line.


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


_NAMED_CATEGORY: Final = re.compile(r"\w[\w -]*/[ \w-]*\w|[\w /-]+(?= *[-–—:] *[\"“„«])")
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
    named = (found[0].split() for found in _NAMED_CATEGORY.finditer(gloss))
    if any(find_category(" ".join(words[at:])) for words in named for at in range(len(words))):
        raise AnswerError("parse", f"several errors stand on one line: {shown(rest)}")
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


# Errors as judges ask for them and read them: a JSON object, or headings with one error a line.


GEMBA_CATEGORIES: Final = (
    *("accuracy/addition", "accuracy/mistranslation", "accuracy/omission", "accuracy/untranslated text"),
    *("fluency/character encoding", "fluency/grammar", "fluency/inconsistency"),
    *("fluency/punctuation", "fluency/register", "fluency/spelling"),
    *("style/awkward", "terminology/inappropriate for context", "terminology/inconsistent use"),
    *("non-translation", "other"),
)
"""What GEMBA offers, and the judges that follow it: MQM without locale conventions."""

_KEYS: Final = ("span", "category", "severity", "side")
_KEYS_EXPLAINED: Final = ("span", "note", "category", "severity", "side")
_SAMPLING: Final = Sampling()
_SIDES: Final[tuple[Side, ...]] = get_args(Side)
_SIDE_NAMES: Final[Mapping[Side, Collection[str]]] = {
    "translation": (
        *("translation", "target", "target language", "tgt", "trg", "mt", "hypothesis", "hyp", "output"),
        *("candidate", "translated", "the translation", "target side", "translation side"),
    ),
    "source": ("source", "source language", "src", "original", "the source", "source side"),
}


@dataclass(frozen=True, kw_only=True)
class ErrorList:
    """How one judge asks for errors.

    Args:
        form: of the answer.
        severities: that may be given, in the order of the headings.
        categories: that are offered. Any other of the typology is accepted too; an unknown one never is.
        explain_in: code of the language in which each error is explained; None for no explanations.

    Raises:
        UsageError: no such language, or explanations where the form has no place for them.
    """

    form: Form
    severities: tuple[Severity, ...]
    categories: tuple[str, ...]
    explain_in: str | None = None

    def __post_init__(self) -> None:
        """Refuse explanations that nobody could read."""
        if self.explain_in is None:
            return
        if self.form != "json":
            raise UsageError("explain_in is for the recommended profile: the papers' headings have no notes")
        language_name(self.explain_in)

    @classmethod
    def of(
        cls,
        profile: Profile,
        severities: tuple[Severity, ...],
        explain_in: str | None,
        categories: tuple[str, ...] = GEMBA_CATEGORIES,
    ) -> ErrorList:
        """In the form of a profile."""
        return cls(
            form=find_form(profile), severities=severities, categories=categories, explain_in=explain_in
        )

    @property
    def file(self) -> str:
        """Prompt file that describes the form."""
        return f"errors_{self.form}.md" if self.explain_in is None else "errors_json_explained.md"

    @property
    def example_files(self) -> tuple[str, ...]:
        """Prompt files with worked examples."""
        return ("examples.jsonl",) if self.explain_in is None else ("examples.jsonl", "notes.jsonl")

    @cached_property
    def facts(self) -> Mapping[str, object]:
        """What the embedded model needs to know."""
        facts = {"form": self.form, "severities": self.severities, "categories": self.categories}
        return facts if self.explain_in is None else {**facts, "explain_in": self.explain_in}

    @cached_property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None for headings."""
        if self.form != "json":
            return None
        return object_schema(errors=self.list_schema)

    @cached_property
    def list_schema(self) -> Mapping[str, object]:
        """JSON schema of the list alone."""
        error = object_schema(
            span={"type": "string"},
            **({} if self.explain_in is None else {"note": {"type": "string"}}),
            category={"type": "string", "enum": list(self.categories)},
            severity={"type": "string", "enum": list(self.severities)},
            side={"type": "string", "enum": list(_SIDES)},
        )
        return {"type": "array", "items": error}

    async def put(
        self,
        messages: Sequence[Message],
        about: About,
        ask: Ask,
        *,
        attempts: int = 2,
        sampling: Sampling = _SAMPLING,
    ) -> Marked:
        """Ask for the errors and read them.

        Raises:
            AnswerError: no readable answer.
        """
        answer = await ask(
            messages,
            about=about,
            read=partial(self.read, subject=about.subject),
            attempts=attempts,
            schema=self.schema,
            sampling=sampling,
        )
        return answer.value

    def about(self, judge: str, subject: Subject) -> About:
        """What a question for errors is about."""
        return About(judge=judge, stage="errors", subject=subject, wants="errors", facts=self.facts)

    def render_system(self, prompts: Prompts, file: str = "system") -> Message:
        """What to do, how texts are marked off, how to answer."""
        return prompts.message(
            "system", file, markers=prompts.piece("markers"), form=self.render_form(prompts)
        )

    def render_opening(self, prompts: Prompts, file: str = "system") -> tuple[Message, ...]:
        """What every unit is told: what to do, then all worked examples."""
        shots = (render_example(prompts, e, self.render_answer(e.errors)) for e in prompts.examples())
        return (self.render_system(prompts, file), *(message for shot in shots for message in shot))

    def render_form(self, prompts: Prompts, file: str | None = None) -> Parts:
        """Say how to answer; `file` is a prompt file that asks for more than the list."""
        name = (file or self.file).removesuffix(".md")
        if self.explain_in is not None:
            language = language_name(self.explain_in)
            return prompts.piece(name, severities=either(self.severities), language=language)
        if self.form == "json":
            return prompts.piece(name, severities=either(self.severities))
        return prompts.piece(name, headings="\n".join(map(heading, self.severities)))

    def render_answer(self, errors: Sequence[Mapping[str, str]]) -> str:
        """Write an answer in the form, as an annotator would."""
        if self.form == "json":
            return json.dumps(
                {"errors": [{key: e[key] for key in self._keys} for e in errors]}, ensure_ascii=False
            )
        return render_headings(errors, self.severities)

    def render_spans(self, spans: Sequence[ErrorSpan]) -> str:
        """Write errors that were read in the form."""
        return self.render_answer(
            [
                {
                    "span": s.text,
                    "note": s.note,
                    "category": s.category or "other",
                    "severity": s.severity,
                    "side": s.side,
                }
                for s in spans
            ]
        )

    def read(self, reply: Reply, subject: Subject) -> Marked:
        """Read an answer in the form.

        Raises:
            AnswerError: it is not in the form.
        """
        judged = judged_texts(subject)
        if self.form == "json":
            reading = read_object(
                reply,
                judged=judged,
                keys=("errors",),
                trust=errors_trust,
                repair=True,
                what="the list of errors",
            )
            if reading.is_mended:
                return self._read_mended(reading, subject)
            return self._read_object(reading, subject)
        text = read_text(reply)
        headed = read_headings(text, self.severities, stands_in(subject))
        flags = (*copied(text, judged), *headed.flags)
        return place_errors(headed.listed, subject, self.severities, flags)

    def _read_object(self, reading: Reading, subject: Subject) -> Marked:
        return place_errors(self.read_list(reading.value["errors"]), subject, self.severities, reading.flags)

    def _read_mended(self, reading: Reading, subject: Subject) -> Marked:
        """Refuse what mending may have made up: a clean verdict, or a quotation that stands nowhere."""
        try:
            marked = self._read_object(reading, subject)
        except AnswerError as error:
            raise AnswerError("parse", f"broken JSON; mended, it is refused for {error}") from None
        if not marked.spans or {"span_unmatched", "normalised", "repeated_errors"} & {*marked.flags}:
            raise AnswerError("parse", "broken JSON, and what is left of it proves no error in the text")
        return marked

    def read_list(self, value: object) -> list[Listed]:
        """Check the list of a JSON answer.

        Raises:
            AnswerError: schema, or label for an unknown side.
        """
        if not isinstance(value, list):
            raise AnswerError("schema", f"errors must be a list, got {shown(value)}")
        return [_read_error(item, self._keys, f"error {number}") for number, item in enumerate(value, 1)]

    @property
    def _keys(self) -> tuple[str, ...]:
        return _KEYS if self.explain_in is None else _KEYS_EXPLAINED


def errors_trust(value: Mapping[str, object]) -> Trust:
    """Words may stand around a list with errors in it, and around no other."""
    return "around" if value["errors"] and isinstance(value["errors"], list) else "clean"


def _read_error(value: object, keys: tuple[str, ...], what: str) -> Listed:
    needed = tuple(key for key in keys if key != "side")
    fields = pick_keys(value, needed, what, optional=("side",))
    for words in fields.dropped.values():
        if isinstance(words, str):
            check_reasons(words, what)
    error = {key: "" if key == "span" and item is None else item for key, item in fields.values.items()}
    texts = {key: text for key, text in error.items() if isinstance(text, str)}
    if len(texts) < len(error):
        raise AnswerError("schema", f"{what} must hold texts, got {shown(value)}")
    if not texts.get("note", "given").strip():
        raise AnswerError("schema", f"{what} must be explained, got an empty note")
    check_reasons(texts.get("note", ""), what)
    side = _read_side(texts["side"]) if "side" in texts else None
    return Listed(
        *(texts["span"], texts["category"], texts["severity"], side, texts.get("note", "")),
        is_normalised=bool(fields.dropped) or texts.get("side") != side or fields.values["span"] is None,
        is_side_open=side is None,
    )


def _read_side(words: str) -> Side:
    """The text that an error is marked in, by any of its names.

    Raises:
        AnswerError: label.
    """
    folded = " ".join(words.lower().replace("_", " ").replace("-", " ").split()).removesuffix(" text")
    side = next((side for side, names in _SIDE_NAMES.items() if folded in names), None)
    if side is None:
        raise AnswerError("label", f"side must be translation or source, got {shown(words)}")
    return side


_LOW: Final = 0
_HIGH: Final = 100
_BARE: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_MAY_BE_OTHER_SCALE: Final = 10
_LABELLED: Final = re.compile(r"\A[^\W\d_]")
"""A number behind words, such as `Score: 4`, of which nobody knows the scale where it is small."""
_CERTAINTY: Final = re.compile(r"confidence|certainty|probability")
_SCALE_KEY: Final = re.compile(r"scale|max|range|out_?of|best|worst|unit")
_STATED: Final = re.compile(
    r"([0-9]+(?:\.[0-9]+)?) ?(?:/|out of|of|von|sur|de|su|z|из) ?([0-9]+)|"
    r"\b(?:rating|score|rate it|bewertung|note|nota)\b[^0-9.]{0,12}([0-9]+(?:\.[0-9]+)?)|\b([0-9]+) "
    r"(?:points?|stars?)\b",
    re.IGNORECASE,
)
_LIKE_A_NUMBER: Final = re.compile(
    r"[+\-−–]?\s*(?:[.,٫٬_]*\d[\d.,٫٬_]*(?:e[+-]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE
)


class Rating(NamedTuple):
    """The number of one reply, and the flags that go on the annotation."""

    number: int
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RatingScale:
    """How one judge asks for a rating.

    Args:
        profile: the recommended one has JSON, the others the bare number of the papers.
    """

    profile: Profile

    @property
    def form(self) -> Literal["json", "number"]:
        """Form of the answer."""
        return "json" if find_form(self.profile) == "json" else "number"

    @property
    def file(self) -> str:
        """Prompt file that describes the form."""
        return f"rating_{self.form}.md"

    @property
    def facts(self) -> Mapping[str, object]:
        """What the embedded model needs to know."""
        return {"form": self.form, "low": _LOW, "high": _HIGH}

    @property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None for a bare number."""
        if self.form != "json":
            return None
        return object_schema(rating={"type": "integer", "minimum": _LOW, "maximum": _HIGH})

    def render_system(self, prompts: Prompts, name: str, subject: Subject) -> Message:
        """The system message: what the scale means, and how to answer."""
        return prompts.message(
            "system",
            name,
            source_language=language_name(source_language(subject.lp)),
            target_language=language_name(target_language(subject.lp)),
            markers=prompts.piece("markers"),
            form=prompts.piece(f"rating_{self.form}"),
        )

    def read(self, reply: Reply, subject: Subject) -> Rating:
        """Read the number; a bare one in ASCII digits.

        The best and the worst rating are read from a whole reply or a known wrapper alone: models write 100
        to repeat
        the scale, and 0 where they have nothing to rate.

        Raises:
            AnswerError: anything else; range for what is a number but not one of these.
        """
        judged = judged_texts(subject)
        if self.form == "json":
            reading = read_object(reply, judged=judged, keys=("rating",), trust=_trust, what="the rating")
            number = read_whole_number(reading.value["rating"], _LOW, _HIGH, "the rating")
            check_scale(number, reading.dropped)
            return Rating(number, reading.flags)
        return _read_bare(read_text(reply), judged)


def check_scale(number: int, dropped: Mapping[str, object], high: int = _HIGH) -> None:
    """Refuse a number beside which the same object has another number, or another scale.

    Args:
        number: that was read.
        dropped: what stood beside it.
        high: highest number of the scale that was asked for.

    Raises:
        AnswerError: ambiguous.
    """
    for key, value in dropped.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and value not in (number, high) and not _CERTAINTY.search(key.lower()):
            raise AnswerError("ambiguous", f"beside {number} stands {shown(key)}: {shown(value)}")
        if isinstance(value, str):
            stated = {float(group) for m in _STATED.finditer(value) for group in m.groups() if group}
            if stated - {float(number), float(high)}:
                raise AnswerError("ambiguous", f"beside {number} stands another number in {shown(value)}")
            if _SCALE_KEY.search(key.lower()) and not set(re.findall(r"\d+", value)) <= {"0", "1", str(high)}:
                raise AnswerError("ambiguous", f"beside {number} stands another scale: {shown(value)}")


def _trust(value: Mapping[str, object]) -> Trust:
    number = value["rating"]
    return "after" if isinstance(number, int | float) and _LOW < number < _HIGH else "alone"


def _read_bare(text: str, judged: tuple[str, ...]) -> Rating:
    inner = unwrap(text, starts="0123456789")
    first, _, after = inner.text.partition("\n")
    first = first.rstrip()
    spelled = first[1:-1] if len(first) > 2 and first[0] == first[-1] == '"' else first
    spelled = unwrap(spelled).text.removesuffix("%").rstrip()
    if not _BARE.fullmatch(spelled) or int(spelled) > _HIGH:
        if _LIKE_A_NUMBER.fullmatch(text):
            raise AnswerError("range", f"wanted a whole number from {_LOW} to {_HIGH}, got {shown(text)}")
        raise unreadable(text, "a number and nothing else")
    number = int(spelled)
    if _LABELLED.search(text) and number <= _MAY_BE_OTHER_SCALE:
        raise AnswerError("parse", f"{shown(text)} may be a number of another scale than {_LOW} to {_HIGH}")
    check_around("", "\n" + after, "after" if _LOW < number < _HIGH else "alone", "the rating")
    extracted = inner.is_wrapped or bool(after.strip())
    flags = (*(["extracted"] if extracted else []), *(["normalised"] if spelled != first else []))
    return Rating(number, (*copied(spelled if extracted else text, judged), *flags))
