"""What judges ask most for, and how it is read: a list of errors, or one number from 0 to 100.

An `ErrorList` is asked for as a JSON object, or under the papers' headings with one error a line; every error
that is read is placed in its text (`place_errors`). A `RatingScale` asks for an object, or for a bare number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final, Literal, NamedTuple, get_args

from adjudge.core.ask import About, Ask, Message, Reply, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.judge import Profile
from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.protocol import Severity, find_category
from adjudge.core.record import ErrorSpan, Match, Side
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, FailureReason, UsageError
from adjudge.judges._prompts import Form, Parts, Prompts, find_form, judged_texts, render_example
from adjudge.judges._reading import (
    MARKS_ALIKE,
    QUOTES_ALIKE,
    AuthorsReply,
    Reading,
    Rule,
    either,
    flat,
    object_schema,
    or_authors,
    shown,
)

# Errors and their places


_MAY_BE_EMPTY: Final = {"accuracy/omission", "non-translation"}
"""Errors that may have no words to point at."""

_IN_SOURCE: Final = {"accuracy/omission", "source error"}
"""Errors that MQM marks in the source: their words may be missing from the translation."""

MOST_ERRORS: Final = 500
"""Errors that one answer may list; a longer list is a model that does not stop."""
MOST_REPEATS: Final = 10
"""Times that errors of one answer may be listed again."""

_ALIKE: Final = {" ": r"\s+", **{plain: f"[{plain}{marks}]" for plain, marks in MARKS_ALIKE.items()}}
_DOTS: Final = " .…"
_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.{3,}|\[\.{3}\]|\[…\])\s*")
_MARKER: Final = re.compile(r"<</?[a-z][a-z -]*|\$\{?[a-z_]+|\{[a-z_]+\}")
_SEPARATOR: Final = re.compile(r"\s*(?:/|::?|>|→|–|—|\.|\||\(|\s-\s|(?<!non)-)\s*")
_ERROR: Final = re.compile(r"\s+errors?\b", re.IGNORECASE)


class Listed(NamedTuple):
    """One error as an annotator listed it."""

    span: str  # words that were copied
    category: str
    severity: Severity
    side: Side | None = None  # that was named; None where none was
    note: str = ""
    is_headed: bool = False  # whether it stood under a heading, where no side is asked for
    is_quoted: bool = True  # whether the span quotes a text; else it has no place


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


def place_errors(listed: Sequence[Listed], subject: Subject, reading: Reading) -> tuple[ErrorSpan, ...]:
    """Check categories and find every quotation in its text.

    One error listed twice, with no second place for it, is one error (flag `repeated_errors`).
    """
    if len(listed) > MOST_ERRORS:
        raise AnswerError("count", f"{len(listed)} errors were listed, more than {MOST_ERRORS}")
    spans: list[ErrorSpan] = []
    taken: dict[Place, None] = {}
    for error in listed:
        category = _find_category(error.category, reading)
        if category is None:
            raise AnswerError("label", f"{shown(error.category)} is no category of the typology")
        quote = "" if not error.span.strip(_DOTS) and error.span not in subject.translation else error.span
        if error.span.isspace() or (not quote and category not in _MAY_BE_EMPTY):
            raise AnswerError("schema", f"an error of {category} must quote the text, got an empty span")
        reading.flag("normalised", error.category != category or quote != error.span)
        place = Place(error.side or "translation", None, None, "unplaced")
        if quote and error.is_quoted:
            is_open = error.side is None and not error.is_headed
            sought = "source error" if is_open else category
            place = find_place(quote, subject, said=error.side, category=sought, taken=taken)
        if place.match == "unmatched" and _MARKER.search(quote):
            raise AnswerError("schema", f"an error must quote the text, got a marker: {shown(quote)}")
        if place.match == "unmatched" and not reading.reply.is_last:
            raise AnswerError("span", f"{shown(quote)} stands in neither text")
        taken[place] = None
        text = subject.translation if place.side == "translation" else subject.source
        spans.append(
            ErrorSpan(
                start=place.start,
                end=place.end,
                text=quote if place.start is None else text[place.start : place.end],
                severity=error.severity,
                category=category,
                side=place.side,
                match=place.match,
                note=error.note,
                label=None if error.category == category else error.category,
            )
        )
        reading.leaf((flat(quote).strip(" \"'" + _DOTS).lower(), category, error.severity, place.side))
    different = tuple(dict.fromkeys(spans))
    graded = {(span.side, span.start, span.text, span.category, span.severity) for span in different}
    if len({each[:-1] for each in graded if each[2]}) < sum(bool(each[2]) for each in graded):
        raise AnswerError("ambiguous", "one error is listed with two severities")
    if len(spans) - len(different) > MOST_REPEATS:
        raise AnswerError("count", f"the same errors were listed again {len(spans) - len(different)} times")
    reading.flag("repeated_errors", len(different) < len(spans))
    reading.flag("span_unmatched", any(span.match == "unmatched" for span in different))
    return different


def _find_category(label: str, reading: Reading) -> str | None:
    """A category of the typology; None for what has no core type.

    A subtype that no typology has is read as its core type, and as words beside the answer. It may stand in
    the answer that confirms another, though.
    """
    plain = _ERROR.sub("", label.strip().rstrip(".").strip("\"'*`").replace("_", " "))
    core, *rest = (part.strip(" )") for part in _SEPARATOR.split(plain, maxsplit=1))
    for known in (
        label,
        plain,
        *(f"{core}/{subtype}" for part in rest for subtype in (part, part.replace("-", " "))),
    ):
        if category := find_category(known):
            return category
    if rest and reading.reply.way != "leaves":
        reading.beside(label)
    return find_category(core) if rest else None


def find_place(
    quote: str, subject: Subject, *, said: Side | None, category: str | None, taken: Collection[Place]
) -> Place:
    """Find a quotation in the translation or the source.

    The side that the annotator named comes first, the translation where none was named. The other one comes
    second: the translation always, the source only for errors that are marked there.
    """
    first: Side = said or "translation"
    sides: list[Side] = [first]
    if first == "source":
        sides.append("translation")
    elif category in _IN_SOURCE:
        sides.append("source")
    for side in sides:
        text = subject.translation if side == "translation" else subject.source
        found, match = _places(quote, text)
        if len(found) == 1:
            return Place(side, *found[0], match)
        if found:
            used = {(place.start, place.end) for place in taken if place.side == side}
            return Place(side, *next((each for each in found if each not in used), found[0]), "ambiguous")
    return Place(first, None, None, "unmatched")


def _places(quote: str, text: str) -> tuple[list[tuple[int, int]], Match]:
    if found := [(start, start + len(quote)) for start in _occurrences(quote, text)]:
        return found, "exact"
    # Where an answer is no JSON, a model copies a chat token with the escape that its prompt has.
    quote = re.sub(r"(?i)\\u(003c|005b|25c1)", lambda escape: chr(int(escape[1], 16)), quote)
    for pattern in _loosened(quote):
        if found := [match.span(1) for match in pattern.finditer(text)]:
            return found, "normalised"
    parts = [part for part in _ELLIPSIS.split(quote.strip()) if part]
    if len(parts) == 2 and parts[0] in text and parts[1] in text:
        (first, *more), (last, *others) = (_places(part, text)[0] for part in parts)
        if not more and not others and first[1] <= last[0]:
            return [(first[0], last[1])], "normalised"
    return [], "unmatched"


def _occurrences(quote: str, text: str) -> Iterator[int]:
    start = text.find(quote)
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)


def _loosened(quote: str) -> Iterator[re.Pattern[str]]:
    plain = flat(quote)
    spellings = (plain, plain.strip(" \"'"), plain.strip(_DOTS), plain.strip(_DOTS).strip(" \"'.,;:!?()"))
    for flags in (0, re.IGNORECASE):
        for spelling in filter(None, dict.fromkeys(spellings)):
            body = "".join(_ALIKE.get(char) or re.escape(char) for char in spelling)
            yield re.compile(f"(?=({body}))", flags)


# Errors under headings


_QUOTED: Final = r"(?:\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」)"
_SEPARATED: Final = re.compile(
    r"(?P<category>[^\"“”„«»]{1,120}?)(?:\s+[-–—]\s+|\s*:\s+|\s*[-–—→]+\s*(?=[\"“„«]))(?P<rest>\S.*?)"
    rf"(?P<gloss>(?<=[\"”“»」])\s*(?:\([^()]*\)\.?|(?:->|→)\s*{_QUOTED}))?"
)
_QUOTED_LIST: Final = re.compile(rf"{_QUOTED}(?:\s*(?:,|;|and|&)\s*{_QUOTED})*")
_OUTER: Final = re.compile(r"[\"“„«](?P<span>.*)[\"”“»]")
_BULLET: Final = re.compile(r"\A(?:[-*•·–]|[0-9]{1,3}[.)])\s+")
_NO_ERROR: Final = re.compile(r"\(?(?:no[- ]errors?|none)\)?\.?", re.IGNORECASE)
_MARKS: Final = re.compile(r"[\"“”„»«]")


def heading(severity: str) -> str:
    """The line above the errors of one severity."""
    return f"{severity.capitalize()}:"


def render_headings(errors: Sequence[Mapping[str, str]], severities: Sequence[str]) -> str:
    lines = []
    for severity in severities:
        found = [e for e in errors if e["severity"] == severity]
        lines += [heading(severity), *(f'{e["category"]} - "{" ".join(e["span"].split())}"' for e in found)]
        lines += [] if found else ["no-error"]
    return "\n".join(lines)


def read_headings(
    text: str, severities: Sequence[Severity], reading: Reading, stands: Callable[[str], bool]
) -> list[Listed]:
    """Read every heading, once and in any order, with `no-error` or one error a line under each.

    A heading may be bold or a Markdown heading, and a line may be a bullet. A gloss behind a span is words
    beside the answer.
    """
    pattern = re.compile(
        rf"(?:#{{1,6}}\s*)?[*_]{{0,3}}(?P<name>{'|'.join(severities)})(?:[- ]errors?)?"
        r"(?P<end>[*_]{0,3}\s*:?\s*[*_]{0,3})(?P<rest>\s.*)?",
        re.IGNORECASE,
    )
    names = ", ".join(map(heading, severities))
    sections: dict[Severity, list[str]] = {}
    under: list[str] = []
    before = under
    for line in filter(None, map(str.strip, text.split("\n"))):
        match = pattern.fullmatch(line)
        if match is None or not (":" in match["end"] or line.startswith(("#", "*", "_"))):
            under.append(line)
            continue
        severity = next(known for known in severities if known == match["name"].lower())
        if severity in sections:
            raise AnswerError("parse", f"each of the headings {names} must stand once")
        rest = (match["rest"] or "").strip()
        under = sections[severity] = [rest] if rest else []
        reading.flag("normalised", line.lower() != f"{severity}:")
    if len(sections) < len(severities):
        raise AnswerError("parse", f"wanted the headings {names}, got {shown(text)}")
    reading.introduced("\n".join(before))
    reading.flag("normalised", [*sections] != [*severities])
    return [
        error
        for severity in severities
        for error in _read_section(sections[severity], severity, reading, stands)
    ]


def _read_section(
    lines: Sequence[str], severity: Severity, reading: Reading, stands: Callable[[str], bool]
) -> Iterator[Listed]:
    if not lines:
        raise AnswerError("parse", f"nothing stands under {severity}; no errors are written no-error")
    for line in lines:
        plain = _BULLET.sub("", line, count=1).strip()
        plain = plain.strip("*").strip() if plain.startswith("**") and plain.endswith("**") else plain
        if len(lines) == 1 and _NO_ERROR.fullmatch(plain):
            reading.flag("normalised", line.lower() != "no-error")
            return
        reading.flag("normalised", plain != line)
        if find_category(plain) is not None:
            yield Listed("", plain, severity, is_headed=True)
            continue
        match = _SEPARATED.fullmatch(plain)
        category, rest, gloss = map(str.strip, match.groups("")) if match else ("", "", "")
        reading.beside(gloss)
        outer = _OUTER.fullmatch(rest)
        if outer and (stands(outer["span"]) or not _MARKS.search(outer["span"])):
            spans = [outer["span"]]
        elif _QUOTED_LIST.fullmatch(rest):
            spans = [quoted[1:-1].strip() for quoted in re.findall(_QUOTED, rest)]
        elif rest and not _MARKS.search(rest) and stands(rest):
            spans = [rest]
        else:
            raise AnswerError("parse", f'wanted category - "span" under {severity}, got {shown(line)}')
        category = category.strip("*` ")
        as_asked = f'{category} - "{spans[0]}"'
        reading.flag("normalised", plain.translate(QUOTES_ALIKE) != as_asked.translate(QUOTES_ALIKE))
        yield from (Listed(span, category, severity, is_headed=True) for span in spans)


# What is asked for


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
_SIDE_NAMES: Final[Mapping[str, Side]] = {
    **dict.fromkeys(
        (
            *("target", "target language", "tgt", "trg", "mt", "hypothesis", "hyp", "output", "candidate"),
            *(
                "translated",
                "the translation",
                "target side",
                "translation side",
                "target text",
                "translation text",
            ),
        ),
        "translation",
    ),
    **dict.fromkeys(
        ("source language", "src", "original", "the source", "source side", "source text", "source_text"),
        "source",
    ),
}


@frozen
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
        rule: Rule | None = None,
    ) -> Marked:
        """Ask for the errors and read them, the headings also by the authors' rule, if there is one.

        Raises:
            AnswerError: no readable answer.
        """
        answer = await ask(
            messages,
            about=about,
            read=or_authors(partial(self.read, subject=about.subject), rule if self.form != "json" else None),
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

    def read(self, reply: Reply | str, subject: Subject) -> Marked:
        """Read an answer in the form.

        Raises:
            AnswerError: it is not in the form.
        """
        reading = Reading(reply, judged_texts(subject))
        if self.form == "json" or isinstance(reply, AuthorsReply):
            spans = self.read_list(reading.answer("errors", as_list="errors")["errors"], subject, reading)
        else:
            spans = self.read_headings(reading.plain(), subject, reading)
        return Marked(spans, reading.settle(is_clean=not spans))

    def read_headings(self, text: str, subject: Subject, reading: Reading) -> tuple[ErrorSpan, ...]:
        """Read errors under headings.

        Raises:
            AnswerError: parse, or what `place_errors` raises.
        """
        texts = (subject.translation, subject.source)
        listed = read_headings(
            text, self.severities, reading, lambda quote: any(_places(quote, t)[0] for t in texts)
        )
        return place_errors(listed, subject, reading)

    def read_list(self, value: object, subject: Subject, reading: Reading) -> tuple[ErrorSpan, ...]:
        """Read the list of a JSON answer.

        Raises:
            AnswerError: schema, label for an unknown severity or side, or what `place_errors` raises.
        """
        items = reading.items(value, "errors")
        listed = [self._read_error(item, f"error {number}", reading) for number, item in enumerate(items, 1)]
        return place_errors(listed, subject, reading)

    def _read_error(self, value: object, what: str, reading: Reading) -> Listed:
        keys = [key for key in self._keys if key != "side"]
        found = reading.fields(value, keys, what, optional=("side",), is_error=True)
        reading.flag("normalised", found["span"] is None)
        span, category = found["span"] or "", found["category"]
        if not isinstance(span, str) or not isinstance(category, str):
            raise AnswerError("schema", f"{what} must hold texts, got {shown(value)}")
        severity = reading.label(
            found["severity"],
            self.severities,
            "severity",
            {f"{s} {error}": s for s in self.severities for error in ("error", "errors")},
        )
        reading.flag("normalised", "side" not in found)
        return Listed(
            *(span, category, severity),
            reading.label(found["side"], _SIDES, "side", _SIDE_NAMES) if "side" in found else None,
            reading.words(found["note"], f"the note of {what}") if "note" in keys else "",
            is_quoted=found.get("line") != span,
        )

    @property
    def _keys(self) -> tuple[str, ...]:
        return _KEYS if self.explain_in is None else _KEYS_EXPLAINED


# One number


_HIGH: Final = 100
_MAY_BE_OTHER_SCALE: Final = 10
"""A number up to which a label such as `Score: 4` may mean another scale, unless it says its scale."""
_BARE: Final = re.compile(
    r"(?P<label>.*?)(?P<said>(?<![\w.,+−–/-])[0-9][0-9.]*(?P<scale> ?%| ?/ ?[0-9]+| out of [0-9]+)?)",
    re.DOTALL,
)


_RATED: Final = re.compile(r"\{[\s\"']*rating\b", re.IGNORECASE)


class Rating(NamedTuple):
    """The number of one reply, and the flags that go on the annotation."""

    number: int
    flags: tuple[str, ...]


@frozen
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
        return {"form": self.form, "low": 0, "high": _HIGH}

    @property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None for a bare number."""
        if self.form != "json":
            return None
        return object_schema(rating={"type": "integer", "minimum": 0, "maximum": _HIGH})

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

    def read(self, reply: Reply | str, subject: Subject) -> Rating:
        """Read the number; a bare one may have a label before it and its scale behind it, or be JSON.

        Raises:
            AnswerError: anything else; range for what is a number but not one of these.
        """
        reading = Reading(reply, judged_texts(subject))
        label, scale = "", None
        if self.form == "json" or isinstance(reply, AuthorsReply) or _RATED.search(reading.text):
            said = reading.answer("rating")["rating"]
            reading.flag("normalised", self.form != "json")
        else:
            text = reading.plain()
            match = _BARE.fullmatch(text.strip('"'))
            if match is None:
                reason: FailureReason = "range" if text.strip("+-−–.,٫٬_ ").isdigit() else "parse"
                raise AnswerError(reason, f"wanted a number and nothing else, got {shown(text)}")
            label, said, scale = match.groups()
            reading.flag("extracted", said != text)
            reading.introduced(label, is_number=True)
        number = reading.integer(said, 0, _HIGH, "the rating")
        if label and not scale and number <= _MAY_BE_OTHER_SCALE:
            raise AnswerError(
                "parse", f"{shown(reading.text)} may be a number of another scale than 0 to {_HIGH}"
            )
        return Rating(number, reading.settle(is_clean=number == _HIGH))


def may_repeat(one: ErrorSpan, other: ErrorSpan) -> bool:
    """Whether two errors may be one: both have none, or their places overlap or touch."""
    if one is other:
        return False
    if "non-translation" in {one.category, other.category}:
        return True  # it is about the whole text
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return one.side == other.side and one.start == other.start
    return one.side == other.side and one.start <= other.end and other.start <= one.end
