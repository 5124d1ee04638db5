"""Texts with their errors marked, as HTML that stands alone: no script, no stylesheet, nothing to load.

Every text is escaped, and characters that nobody sees are shown as small marks. What is said with colour is
said with the kind of line and with words too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from adjudge.core.annotation import ErrorSpan
from adjudge.core.typology import SEVERITIES
from adjudge.report.invisible import is_invisible, name_invisible, name_of

__all__ = ["plain", "render_marked", "span_words"]

_LINES: Final = {
    "neutral": "background:#eeeeee;color:#111;text-decoration:underline dotted 2px #888",
    "minor": "background:#e6f0fa;color:#111;text-decoration:underline solid 1px #3f88d6",
    "major": "background:#fde5d4;color:#111;text-decoration:underline solid 3px #d05a10",
    "critical": "background:#f3cfe0;color:#111;text-decoration:underline double 3px #c0408a",
}
_FRAME: Final = "border:1px solid;border-radius:2px;font-size:70%;padding:0 2px;opacity:.8"
_HERE: Final = "\u2038"  # a caret, where something is missing
_JOINER: Final = "\u200d"
_EMOJI: Final = "\U0001f000"


def plain(text: str) -> str:
    """Text as HTML, whatever it says; what nobody sees is named."""
    return escape(name_invisible(text))


def span_words(span: ErrorSpan) -> str:
    """What is wrong, in words."""
    words = [span.severity, *([span.category] if span.category else []), *([span.note] if span.note else [])]
    return ": ".join(words)


def render_marked(text: str, spans: Sequence[ErrorSpan], lang: str = "") -> str:
    """A text with its errors underlined.

    Args:
        text: of one side.
        spans: errors of that side; those without a place in it are left out here.
        lang: its language, as a page names it; empty where unknown.

    Returns:
        An element in whatever direction the text has.
    """
    placed = [
        (max(s.start, 0), min(s.end, len(text)), s)
        for s in spans
        if s.start is not None and s.end is not None
    ]
    edges = sorted({0, len(text), *(start for start, _, _ in placed), *(end for _, end, _ in placed)})
    pieces = "".join(_pieces(text, edges, placed))
    spoken = f' lang="{escape(lang)}"' if lang else ""
    return f'<span dir="auto"{spoken} style="unicode-bidi:isolate;white-space:pre-wrap">{pieces}</span>'


def _pieces(text: str, edges: list[int], placed: list[tuple[int, int, ErrorSpan]]) -> Iterator[str]:
    """The text cut where a span begins or ends."""
    for place, start in enumerate(edges):
        yield from (_marked(_HERE, [s]) for at, end, s in placed if at == end == start)
        if place + 1 < len(edges):
            end = edges[place + 1]
            over = [s for first, last, s in placed if first <= start and end <= last and first < last]
            shown = _shown(text[start:end])
            yield _marked(shown, over) if over else shown


def _marked(shown: str, over: list[ErrorSpan]) -> str:
    """A piece that one or more errors cover, in the line of the worst."""
    worst = max(over, key=lambda span: SEVERITIES.index(span.severity))
    words = plain("; ".join(map(span_words, over)))
    return f'<span title="{words}" style="{_LINES[worst.severity]}">{shown}</span>'


def _shown(text: str) -> str:
    """Escaped, with the names of characters that nobody sees in small frames."""
    return "".join(
        _framed(text, place) if is_invisible(char) else escape(char) for place, char in enumerate(text)
    )


def _framed(text: str, place: int) -> str:
    """The name of an invisible character; a joiner inside an emoji is left alone."""
    char = text[place]
    if char == _JOINER and text[place + 1 : place + 2] >= _EMOJI:
        return char
    return f'<span style="{_FRAME}">{escape(name_of(char))}</span>'
