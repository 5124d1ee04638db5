"""Judged text is data: it stands between delimiters that it cannot know and cannot close."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Message, Quoted
from adjudge.core.segment import Segment
from adjudge.llm.model import mark_of, render_message, render_quoted

MARK = "0123456789abcdef"


def segment(**changes: str) -> Segment:
    return Segment(**{"segment": "1", "lp": "en-de", "source": "Good morning"} | changes)  # type: ignore[arg-type]


def test_a_message_is_our_words_and_texts_as_json_strings_between_delimiters() -> None:
    message = Message("user", ("Judge:\n", Quoted("source", 'Say "no"\n$name'), "\nEnd."))
    assert render_message(message, MARK) == (
        f'Judge:\n<<source {MARK}>>\n"Say \\"no\\"\\n$name"\n<</source {MARK}>>\nEnd.'
    )


def test_all_agents_of_a_segment_share_its_mark() -> None:
    assert mark_of(segment(), b"secret") == mark_of(segment(), b"secret")
    assert re.fullmatch(r"[0-9a-f]{16}", mark_of(segment(), b"secret"))


def test_another_secret_segment_language_or_source_has_another_mark() -> None:
    marks = {
        mark_of(segment(), b"secret"),
        mark_of(segment(), b"other"),
        mark_of(segment(segment="2"), b"secret"),
        mark_of(segment(lp="en-fr"), b"secret"),
        mark_of(segment(source="Good evening"), b"secret"),
    }
    assert len(marks) == 5


@given(st.text())
def test_no_text_can_end_its_line_or_its_delimiter(text: str) -> None:
    written = render_quoted(Quoted("translation", text), MARK)
    opening, inner, closing = written.split("\n")
    assert (opening, closing) == (f"<<translation {MARK}>>", f"<</translation {MARK}>>")
    assert json.loads(inner) == text
