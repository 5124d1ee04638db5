r"""How judged text is written into a message: as data, between delimiters that it cannot know.

    <<source 0123456789abcdef>>
    "the text as a JSON string"
    <</source 0123456789abcdef>>

The hexadecimal digits are an HMAC of the segment under the run's secret: a translation that tries to close
its delimiter, and to give orders after it, would have to guess them. All agents of a segment share them, and
with them the prefix that a server may keep.
"""

from __future__ import annotations

import hmac
import json

from adjudge.core.ask import Message, Quoted
from adjudge.core.segment import Segment

__all__ = ["mark_of", "render_message", "render_quoted"]


def mark_of(segment: Segment, secret: bytes) -> str:
    """Sixteen hexadecimal digits for the delimiters of a segment."""
    said = json.dumps([segment.lp, segment.segment, segment.source]).encode()
    return hmac.digest(secret, said, "sha256").hex()[:16]


def render_message(message: Message, mark: str) -> str:
    """Write one message out; our words as they are, quoted texts between delimiters."""
    return "".join(part if isinstance(part, str) else render_quoted(part, mark) for part in message.parts)


def render_quoted(quoted: Quoted, mark: str) -> str:
    """Write one quoted text between its delimiters."""
    text = json.dumps(quoted.text, ensure_ascii=False)
    return f"<<{quoted.name} {mark}>>\n{text}\n<</{quoted.name} {mark}>>"
