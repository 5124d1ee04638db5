"""Which replies may be read at all, whatever a judge would make of their words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from adjudge.core.ask import Reply, Tool
from adjudge.errors import AnswerError, FailureReason

__all__ = ["FINAL", "check_calls", "check_reply", "cut_error", "has_only_thought", "is_same_model"]

FINAL: Final[frozenset[FailureReason]] = frozenset({"model_mismatch", "refused"})
"""Asking again would not help, or would ask until the answer pleases."""

_SHOWN: Final = 120
_HINT: Final = "a lower --effort leaves more of its tokens for the answer"
_VERSION: Final = re.compile(
    r"(?:[-@:](?:latest|preview|exp|free|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{6,8}|\d{3,4}))+$"
)


def check_reply(reply: Reply, model: str, served: str | None) -> None:
    """Refuse a reply that is none.

    Args:
        reply: what came.
        model: the model that was asked for.
        served: the name that the server is known to give it, if another one; `any` for any.

    Raises:
        AnswerError: model_mismatch, refused, truncated, no_answer or empty.
    """
    if served != "any" and not is_same_model(served or model, reply.model):
        raise AnswerError(
            "model_mismatch",
            f"asked {model!r}, answered by {reply.model[:_SHOWN]!r}; if that is right, say --served-as",
        )
    if reply.finish in {"refused", "content_filter"}:
        raise AnswerError("refused", f"{reply.finish}: {reply.text[:_SHOWN]!r}")
    if reply.finish == "length":
        raise AnswerError("truncated", f"cut at {reply.usage.completion or 'max'} tokens")
    if reply.text.strip() or reply.calls:
        return
    if has_only_thought(reply):
        raise AnswerError("no_answer", f"the model thought and did not answer; {_HINT}")
    raise AnswerError("empty", "the reply has no text")


def check_calls(reply: Reply, tools: Iterable[Tool]) -> None:
    """Refuse a call of a tool that was not offered.

    Raises:
        AnswerError: schema.
    """
    if not reply.calls:
        return
    names = {tool.name for tool in tools}
    for call in reply.calls:
        if call.name not in names:
            raise AnswerError(
                "schema", f"no tool {call.name[:_SHOWN]!r} was offered; there is {sorted(names)}"
            )


def cut_error(reply: Reply, tokens: int) -> AnswerError:
    """Why a reply that was cut is none: it may have been thinking to the end."""
    if has_only_thought(reply):
        return AnswerError("no_answer", f"the model thought for all of its {tokens} tokens; {_HINT}")
    return AnswerError("truncated", f"cut at {tokens} tokens")


def has_only_thought(reply: Reply) -> bool:
    """Whether there is thinking and nothing else; where it is not shown, its tokens are all there are."""
    if reply.text.strip() or reply.calls:
        return False
    return bool(reply.reasoning.strip()) or reply.usage.reasoning >= max(reply.usage.completion, 1)


@lru_cache(maxsize=256)
def is_same_model(asked: str, served: str) -> bool:
    """Whether a server's name for itself is the model asked for: same but for path, date and tag.

    Two names with different dates are two models. A server that gives no name is believed.
    """
    if not served:
        return True
    (stem, date), (served_stem, served_date) = _parts(asked), _parts(served)
    return stem == served_stem and (not date or not served_date or date == served_date)


def _parts(name: str) -> tuple[str, str]:
    """Name without path and version, and the digits of the version."""
    last = name.strip().lower().rstrip("/").rpartition("/")[2]
    found = _VERSION.search(last)
    if found is None or found.start() == 0:
        return last, ""
    return last[: found.start()], re.sub(r"\D", "", found[0])
