"""From a reply to its words: finished, readable, without thinking, and not declining."""

from __future__ import annotations

import json
import re
from typing import Final

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError, FailureReason
from adjudge.judges._refusals import is_refusal

__all__ = ["check_characters", "copied", "echoes", "read_text", "shown", "unreadable"]

_BLOCKED: Final = (
    *("refused", "refusal", "content_filter", "safety"),
    *("recitation", "blocklist", "prohibited_content", "spii"),
)
_CALLED: Final = {"tool_calls", "tool_use", "function_call"}

_THINKING: Final = re.compile(
    r"<(?P<a>/?)(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)(?:\s[^<>]*)?>"
    r"|[◁\[](?P<b>/?)think[▷\]]",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_INVISIBLE: Final = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]*")
_BROKEN: Final = re.compile("[\0\ud800-\udfff]")


def read_text(reply: Reply) -> str:
    """The words of a finished reply, without thinking and without white space around them.

    Raises:
        AnswerError: cut, blocked, empty, a web page, broken characters, or thinking and nothing else.
    """
    if reply.finish != "stop":
        raise AnswerError(_reason_of(reply.finish), f"the model stopped for {reply.finish!r}, not at its end")
    check_characters(reply.text)
    text = _without_thinking(reply.text)
    if _INVISIBLE.fullmatch(text):
        thought = reply.reasoning.strip() or not _INVISIBLE.fullmatch(reply.text)
        raise AnswerError("no_answer" if thought else "empty", "wanted an answer, got no words")
    if _PAGE.match(text):
        raise AnswerError("not_json", f"wanted an answer, got a web page: {shown(text)}")
    return text.strip()


def check_characters(text: str) -> None:
    """Refuse what no file could hold.

    Raises:
        AnswerError: encoding.
    """
    if _BROKEN.search(text):
        raise AnswerError("encoding", f"NUL or half a character in {shown(text)}")


def echoes(answer: str, judged: tuple[str, ...]) -> bool:
    """Whether an answer stands in a text that was judged, word for word: it may be copied from there.

    Bare numbers, which stand in many texts, must be all that one of its lines says.
    """
    flat = " ".join(answer.split())
    if all(len(flat) > len(text) for text in judged):
        return False
    if any(char.isalpha() for char in flat):
        return any(flat in " ".join(text.split()) for text in judged if len(flat) <= len(text))
    return any(flat == " ".join(line.split()) for text in judged for line in text.splitlines())


def copied(answer: str, judged: tuple[str, ...]) -> tuple[str, ...]:
    """The flag of an answer that may be copied from a judged text."""
    return ("verdict_in_text",) if echoes(answer, judged) else ()


def unreadable(text: str, wanted: str) -> AnswerError:
    """The error for words that are not what was asked for: refused if they decline, else parse."""
    return AnswerError("refused" if is_refusal(text) else "parse", f"wanted {wanted}, got {shown(text)}")


def shown(value: object) -> str:
    """The beginning of a value, printable, for an error message."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:80]) + ("" if len(text) <= 80 else "...")


def _reason_of(finish: str) -> FailureReason:
    finish = finish.lower()
    if finish in _BLOCKED:
        return "refused"
    return "no_answer" if finish in _CALLED else "truncated"


def _without_thinking(text: str) -> str:
    """Drop thinking, which comes before an answer. A closing tag alone closes what the prompt opened.

    A text that is JSON as a whole has none: a tag in it stands in a quotation.
    """
    if not _THINKING.search(text) or _is_json(text):
        return text
    depth, kept, position = 0, "", 0
    for tag in _THINKING.finditer(text):
        closing = bool(tag["a"] or tag["b"])
        if depth == 0:
            kept += text[position : tag.start()]
        position = tag.end()
        if closing and depth == 0:
            kept = ""
        elif not closing and depth == 0 and kept.strip():
            raise AnswerError("parse", f"thinking in the middle of an answer: {shown(kept)}")
        else:
            depth += -1 if closing else 1
    if depth:
        raise AnswerError("no_answer", "thinking that does not end")
    return kept + text[position:]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
