"""Good replies with something broken in them: read as they say, as they were meant, or not at all."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.core.ask import Reply
from adjudge.core.judge import Profile
from adjudge.errors import AnswerError
from adjudge.judges._answers import GEMBA_CATEGORIES, ErrorList, Marked, RatingScale
from adjudge.judges._reading import Reading
from tests.judges.asking import subject
from tests.judges.malformed import VALID

T = TypeVar("T")

JSON = ErrorList(form="json", severities=("major", "minor"), categories=GEMBA_CATEGORIES)
HEADINGS = ErrorList(form="headings", severities=("major", "minor"), categories=GEMBA_CATEGORIES)
STRUCTURE = '{}[]:,"'
JUNK = st.sampled_from(
    [
        *(
            *STRUCTURE,
            "'",
            "\\",
            "“",
            "”",
            "\n",
            " ",
            "0",
            "-",
            "x",
            "`",
            "```",
            "<think>",
            "</think>",
            "null",
        ),
        *('{"errors": []}', "[]", "{", "no-error", "Major:", "\u0000", "\ud800", "...", "//", "NaN", "}]}"),
    ]
)


@st.composite
def mutated(draw: Callable[[st.SearchStrategy[Any]], Any], text: str) -> str:
    """Up to three times: delete, double, move or put in something."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 3) | st.integers(0, 80)))
        piece = text[start:end]
        kind = draw(st.sampled_from(["delete", "double", "cut", "insert", "replace", "move"]))
        if kind == "delete":
            text = text[:start] + text[end:]
        elif kind == "double":
            text = text[:end] + piece + text[end:]
        elif kind == "cut":
            text = text[:start]
        elif kind == "insert":
            text = text[:start] + draw(JUNK) + text[start:]
        elif kind == "replace":
            text = text[:start] + draw(JUNK) + text[end:]
        else:
            rest = text[:start] + text[end:]
            to = draw(st.integers(0, len(rest)))
            text = rest[:to] + piece + rest[to:]
    return text


def read_or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except AnswerError:
        return None


def said(marked: Marked) -> list[tuple[str, str, str]]:
    """Errors as their annotator wrote them, blanks and quotation marks aside."""
    return [(bare(span.text), bare(span.label or str(span.category)), span.severity) for span in marked.spans]


def bare(text: str) -> str:
    return re.sub(r"""[\s"'“”:,.…\\`]""", "", text)


def answer_in(text: str) -> str:
    """What comes after thinking; a text that is JSON as a whole has none."""
    return text if text.startswith("{") else text.partition("</think>")[2] or text


def with_raw_breaks(text: str) -> object:
    """What JSON makes of a text in whose strings line breaks may stand as they are, or None."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def unless_repeated(wrote: list[T], marked: Marked) -> list[T]:
    """What was written, each once where a flag says that an error was repeated."""
    return list(dict.fromkeys(wrote)) if "repeated_errors" in marked.flags else wrote


def strictly(text: str) -> object:
    """What plain JSON makes of a text, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


@settings(max_examples=600)
@given(mutated(VALID["errors-json"]))
def test_a_broken_list_is_read_as_it_says_or_as_it_was_meant(text: str) -> None:
    marked = read_or_none(lambda: JSON.read(Reply(text=text), subject()))
    if marked is None or "..." in text:  # an ellipsis stands for words that the quotation leaves out
        return
    text = answer_in(text)
    literal = strictly(text.strip())
    if literal is None and (literal := with_raw_breaks(text.strip())) is not None:
        assert "normalised" in marked.flags
    if not isinstance(literal, dict):
        assert {"extracted", "normalised", "repaired"} & set(marked.flags)
        first = text.find("{")
        candidates = [strictly(text[first : end.end()]) for end in re.finditer(r"\}", text)]
        literal = next((c for c in candidates if isinstance(c, dict) and "errors" in c), None)
    if literal is None:
        assert {"normalised", "repaired"} & set(marked.flags)
        meant = bare(text)
        for span, category, severity in said(marked):
            assert f"span{span}category{category}severity{severity}" in meant
        return
    wrote = [(bare(e["span"]), bare(e["category"]), e["severity"].strip().lower()) for e in literal["errors"]]
    assert said(marked) == unless_repeated(wrote, marked)


@settings(max_examples=600)
@given(mutated(VALID["errors-json"]))
def test_no_error_is_ever_lost_in_silence(text: str) -> None:
    """Whoever reads fewer errors than the reply has severities would have dropped one."""
    marked = read_or_none(lambda: JSON.read(Reply(text=text), subject()))
    if marked is None or "repeated_errors" in marked.flags or isinstance(strictly(answer_in(text)), dict):
        return  # of valid JSON, keys that stand twice with one value are one
    assert len(marked.spans) == len(re.findall(r"""severity["'“”:\s\\]""", answer_in(text)))


@settings(max_examples=400)
@given(mutated(VALID["errors-headings"]))
def test_broken_headings_are_read_as_they_say_or_not_at_all(text: str) -> None:
    marked = read_or_none(lambda: HEADINGS.read(Reply(text=text), subject()))
    if marked is None:
        return
    text = answer_in(text)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    errors = [line for line in lines if line.lower() not in {"major:", "minor:", "no-error"}]
    if not {"normalised", "extracted"} & set(marked.flags):
        written = [bare(line.replace(" - ", "-")) for line in errors]
        read = [bare(f"{category}-{span}") for span, category, _ in said(marked)]
        assert read == unless_repeated(written, marked)
    assert all(
        bare(span) in bare(text) and bare(category) in bare(text) for span, category, _ in said(marked)
    )


@settings(max_examples=300)
@pytest.mark.parametrize("profile", ["recommended", "paper"])
@given(st.data())
def test_a_broken_rating_is_the_number_that_is_there_or_none(profile: Profile, data: st.DataObject) -> None:
    form = "rating-json" if profile == "recommended" else "rating-number"
    text = data.draw(mutated(VALID[form]))
    rating = read_or_none(lambda: RatingScale(profile=profile).read(Reply(text=text), subject()))
    if rating is not None:
        pattern = r'rating["“”\' ]*\s*:\s*["“”\' ]*(\d+)' if profile == "recommended" else r"\s*(\d+)\s*"
        found = re.findall(pattern, answer_in(text))
        assert set(found) == {str(rating.number)}
        assert 0 <= rating.number <= 100


@settings(max_examples=300)
@given(mutated(VALID["one-step-json"]))
def test_whatever_is_read_of_a_broken_object_is_json_and_was_there(text: str) -> None:
    def flags() -> tuple[str, ...]:
        reading = Reading(Reply(text=text))
        reading.answer("errors", "counts", "score")
        return reading.settle()

    assert {*(read_or_none(flags) or ())} <= {"extracted", "normalised", "repaired"}
