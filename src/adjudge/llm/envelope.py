"""What a server says of an answer beside its words: every key is known, or its value must be harmless.

A dialect names the keys that it reads itself, or that may say anything. Of any other key the value decides:
numbers, ids and times pass; a state must say that the answer is whole; another answer must be the same one;
words are a refusal, or somebody else's. So an envelope that nobody has seen yet is no answer by default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from adjudge.core.ask import Usage
from adjudge.errors import AnswerError
from adjudge.llm.model import Request, render_message

Known = Mapping[str, Any]
"""Keys of a body: None for one that may say anything, else the keys that are known within it."""

SPECIAL: Final = re.compile(r"<[|\w/\uff5c\u2581]+>|")
"""A token with which a model ends, or none."""

_FILTER: Final = re.compile(r"block|flag|filter(?!\w*offset)|moderat|refus|sensitive|guardrail")
_FAULTY: Final = re.compile(
    rf"error|truncat|incomplete|abort|cancel|fail|partial|warning|interrupt|{_FILTER.pattern}"
)
_SOUND: Final = re.compile(
    r"success|succeeded|complete$|completed$|finished$|^(is_)?(ok|done|end|ended|final|last|whole|valid)$"
)
_STATE: Final = re.compile(
    r"status|^state$|finish|stop|reason$|^code$|_code$|^ms?g$|^message$|^detail|^description|_msg$|_message$"
)
_MEASURE: Final = re.compile(
    r"_(at|time|ts|timestamp|ms|us|ns|s|sec|seconds|tokens|count|ids?|index|offset)$"
)
_ANSWER: Final = re.compile(
    r"^(output_?text|parsed|response|transcript|answer|output|result|completion|generated_text|generation|"
    r"reply|prediction|text|content|rating|score|verdict|label)s?$"
)
_WHOLE: Final = frozenset(
    {"", "ok", "success", "succeeded", "complete", "completed", "done", "finished", "true", "200", "0"}
    | {"stop", "stopped", "eos", "eos_token", "eosfound", "end_turn", "stop_sequence", "finish_reason_stop"}
    | {"tool_use", "tool_calls", "none", "null"}
)
"""Words that say that an answer is whole."""
_NO_FAULT: Final = frozenset({"", "none", "null", "no", "false", "0", "ok", "disabled", "auto"})
_BAD: Final = re.compile(
    rf"(^|_|\b)({_FAULTY.pattern}|length|limit|max_|timeout|timed_out|expired|reject|denied|overload|pending|"
    r"in_progress|queued|safety|interven|recitation|prohibited|violat|spii|unsafe|insufficient|unavailable|"
    r"malformed|invalid|unfinished|cut_?off)"
)
"""Words of states that say that an answer is none, under a key that nobody knows."""
_TIME: Final = re.compile(r"[\d\s.,:+TZ/-]+(\s?([munµ]?s|seconds?|tokens?|UTC|GMT|%))?")
_BETWEEN: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_MOST_TOKENS: Final = 300_000  # of an answer with its thinking; models end at 128,000
_FEW_TOKENS: Final = 20_000  # what servers may add to a prompt
_NESTED: Final = 6
_LONGEST: Final = 64  # characters of a word that names a state; what is longer is a seal or a digest
_MOST_KEYS: Final = 1024


class _Kinds(dict[str, str]):
    """Key of an envelope to what its value says of the answer; each key is looked at once."""

    def __missing__(self, key: str) -> str:
        word = _word(key)
        kind = next((kind for kind, said in _OF_KEYS.items() if said.search(word)), "")
        if len(self) < _MOST_KEYS:
            self[key] = kind
        return kind


_OF_KEYS: Final = {
    "filter": _FILTER,
    "faulty": _FAULTY,
    "": _MEASURE,
    "sound": _SOUND,
    "state": _STATE,
    "answer": _ANSWER,
}
_KINDS: Final = _Kinds()


def refuse_counts(usage: Usage, request: Request) -> None:
    """Refuse an answer whose tokens cannot be those of the question and its answer.

    No token is shorter than a byte; servers add some to each message.
    """
    if usage.completion > _MOST_TOKENS:
        raise AnswerError("bad_envelope", f"{usage.completion:,} tokens are counted in one answer")
    if usage.prompt > _FEW_TOKENS:
        said = (render_message(message, request.mark) for message in request.messages)
        sent = len("".join([*said, str((request.schema, request.tools))]).encode(errors="replace"))
        if usage.prompt > sent + _FEW_TOKENS:
            raise AnswerError("bad_envelope", f"{usage.prompt:,} tokens are counted in {sent:,} bytes sent")


def is_filtered(envelope: Mapping[str, object], known: Known, text: str) -> bool:
    """Look at everything that a server says of an answer beside its words.

    Whether a filter has taken something out, or the answer was flagged.
    """
    faults: list[tuple[str, bool]] = []
    _look(envelope, known, text, ("", "", 0), faults)
    if problem := next((path for path, by_filter in faults if not by_filter), None):
        raise AnswerError("bad_envelope", f"{problem[:80]} says not that the reply is whole")
    return bool(faults)


def _look(
    value: Mapping[str, object],
    known: Known,
    text: str,
    within: tuple[str, str, int],
    faults: list[tuple[str, bool]],
) -> int:
    states = 0
    place, around, depth = within
    for key, each in value.items():
        if (below := known.get(key, _UNKNOWN)) is None or each is None or each in ("", [], {}):
            continue
        is_type = around == "state" and key == "type"
        kind = "" if below is not _UNKNOWN else "state" if is_type else _KINDS[key]
        path = f"{place}.{key}" if place else key
        inside, is_sound = 0, True
        for one in each if isinstance(each, list) else [each]:
            if not isinstance(one, dict):
                inside += bool(kind)
                is_sound &= _is_sound(one, kind, key, text)
            elif kind == "answer" and _is_same(one, text):
                inside += 1
            elif depth < _NESTED:
                inside += _look(one, below, text, (path, kind, depth + 1), faults)
            else:
                is_sound = False
        states += inside
        if not is_sound or (kind not in {"", "sound"} and not inside):
            faults.append((path, kind == "filter"))
    return states


_UNKNOWN: Final[Known] = {}


def _is_same(value: object, text: str) -> bool:
    try:
        return value == text or json.loads(text) == value
    except (ValueError, RecursionError):
        return False


def _is_sound(value: object, kind: str, key: str, text: str) -> bool:
    if isinstance(value, list):
        return all(_is_sound(one, kind, key, text) for one in value)
    word = _word(str("" if value is None else value)).strip("_.! ")
    if not word or kind == "answer":
        return not word or _is_same(value, text)
    if kind in {"faulty", "filter"}:
        return word in _NO_FAULT or word.endswith("unspecified")
    is_number = isinstance(value, int | float)
    if kind == "state":
        is_token = type(value) is int and "stop" in key
        return is_token or word in _WHOLE or (isinstance(value, str) and SPECIAL.fullmatch(value) is not None)
    if is_number or kind:
        return not kind or (word not in {"false", "0", "no"} if is_number else word in _WHOLE)
    said = str(value)
    is_one_word = said.isascii() and not any(map(str.isspace, said)) and said[0] not in "{[\"'"
    return _TIME.fullmatch(said) is not None or (is_one_word and not _BAD.search(word[:_LONGEST]))


def _word(text: str) -> str:
    return _BETWEEN.sub("_", text).lower()
