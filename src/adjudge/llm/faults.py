"""What a server's refusal means, and how often a call is tried again.

`fault_of` reads a refusal by its status number and by the words of its error object. A fault has one of four
consequences: the call is made again, the judgement fails with a reason, the run stops and can be resumed, or
the setting is wrong and the run stops once several calls agree. `Patience` limits how often and for how long
one call is tried; `Tries` counts.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from dataclasses import field
from typing import Any, Final, Literal

from adjudge.core.ask import Usage
from adjudge.core.frozen import frozen
from adjudge.errors import AnswerError, FailureReason, ServerAwayError
from adjudge.llm.pacing import read_wait

Consequence = Literal["retry", "fail", "stop", "setting"]

_LONGEST_MESSAGE: Final = 300
_TOO_LONG: Final = re.compile(
    r"context[_ ]length|maximum context|context window|too many (input )?tokens|prompt is too long"
    r"|input is too long|reduce the length|longer than the maximum|exceeds? the (available )?context"
    r"|string_above_max_length|request_too_large|request (is )?too large",
    re.IGNORECASE,
)
_REQUESTED: Final = re.compile(
    r"\blimit:? *(\d[\d,]{0,11})\b.{0,40}?\brequested:? *(\d[\d,]{0,11})\b", re.IGNORECASE | re.DOTALL
)
"""What a server allows in a minute, and what one call wants of it."""
_REFUSED: Final = re.compile(
    r"content[_ ]filter|content management policy|content_policy|responsible ?ai|moderation|flagged"
    r"|data_inspection_failed|inappropriate content",
    re.IGNORECASE,
)
_QUOTA: Final = re.compile(
    r"insufficient[_ ](?:user[_ ])?(quota|balance|funds|credit)|billing|credit balance|out of credits"
    r"|no credits|exceeded your current quota|account.{0,20}(suspended|deactivated|overdue)|arrear",
    re.IGNORECASE,
)
_SOON: Final = re.compile(
    r"(retry|try again) (in|after)|per[ _](minute|second|min\b)|rate.?limit", re.IGNORECASE
)
_KEY: Final = re.compile(
    r"(invalid|incorrect|missing|expired)[_ ]api[_ ]?key|api[_ ]?key[_ ](not[_ ]valid|invalid|expired)"
    r"|authentication|unauthori",
    re.IGNORECASE,
)
_NO_MODEL: Final = re.compile(
    r"model[_ ]not[_ ]found|model.{0,80}does not exist|unknown model", re.IGNORECASE
)
_SCHEMA: Final = re.compile(
    r"response[_ ]?format|json[_ ]?(mode|schema|object)|guided[_ ]?(json|decoding|grammar)|grammar"
    r"|structured[_ ]?(output|decoding|generation)|constrained[_ ]?(decoding|sampling)|extra_forbidden"
    r"|extra[_ ](fields?|inputs?|properties)( are| is)?[_ ](not[_ ](permitted|allowed)|forbidden)"
    r"|additional properties are not allowed"
    r"|(unknown|unrecogni[sz]ed|unsupported|unexpected|invalid)( \w+)? "
    r"(field|parameter|argument|key|property)",
    re.IGNORECASE,
)
"""What servers say that do not know the JSON schema of a request; it may be said of something else, too."""
_LENGTH: Final = re.compile(
    r"max[_ ]?((completion|output|new)[_ ]?)?tokens|completion tokens|output tokens|in the completion"
    r"|(maximum|model.?s|max) context|context (length|window|size)|token count exceeds",
    re.IGNORECASE,
)
"""What servers say that cannot write a reply as long as it may be."""
_TOOLS: Final = re.compile(
    r"tool[_ -]?(choice|call|use)|function[_ -]?call|tools? (param|are|is)\b|support.{0,20}\btools?\b"
    r"|\btools?\b.{0,20}support",
    re.IGNORECASE,
)
"""What servers say that cannot be offered tools."""
_UNREADABLE: Final = re.compile(
    r"output that does not match the expected|failed to parse input at", re.IGNORECASE
)
"""What llama.cpp's server says of a reply that it wrote and cannot read, mostly since it was cut."""
_RATE: Final = re.compile(r"rate[_ ]?limit|too many requests|overloaded|resource[_ ]exhausted", re.IGNORECASE)


_TRIES: Final[dict[FailureReason, int]] = {
    "timeout": 3,
    "not_json": 3,
    "bad_envelope": 2,
    "count": 2,
    "logprob": 2,
    "parse": 2,
    "schema": 2,
    "ambiguous": 2,
    "encoding": 1,
    "oversize": 1,
}
"""Calls in all for faults that seldom pass by themselves."""


@frozen
class Fault:
    """One answer that is none."""

    consequence: Consequence
    reason: FailureReason  # of the failure, once it comes to one
    detail: str  # status and message, redacted
    status: int | None = None  # HTTP status, None where there was none
    wait: float | None = None  # seconds that the server asked us to wait
    limited: bool = False  # whether the server has too much to do or is away, so that all calls should pause
    # how often the call may be made in all because of such faults; None for the general limit
    tries: int | None = None
    # whether trying again costs no attempt: the server has asked for it, or never had the call
    is_free: bool = False
    usage: Usage = field(default_factory=Usage)  # tokens that the server counted all the same
    body: bytes | None = None  # what came, where it was no text
    names_schema: bool = False  # whether the request may be refused for its JSON schema
    names_length: bool = False  # whether it may be refused for the length that its reply may have
    names_tools: bool = False  # whether it may be refused for the tools that it offers
    names_logprobs: bool = False  # whether it may be refused for the log-probabilities that it asks for


def retried(reason: FailureReason, detail: str, status: int | None = None, **more: Any) -> Fault:  # noqa: ANN401
    """A fault after which the call is made again, as often as that may help; `more` are fields of it."""
    return Fault(
        consequence="retry", reason=reason, detail=detail, status=status, tries=_TRIES.get(reason), **more
    )


def fault_of(status: int, message: str, wait: float | None = None) -> Fault:
    """Class of a fault. `wait`: seconds of its Retry-After header."""
    shown = " ".join(message.split())[:_LONGEST_MESSAGE]
    consequence, reason = _class_of(status, message, asks_to_wait=wait is not None)
    is_retried = consequence == "retry"
    is_request = status in {400, 404, 422, 501} and reason == "server_error"
    return Fault(
        consequence=consequence,
        reason=reason,
        detail=f"status {status}" + (f": {shown}" if shown else ""),
        status=status,
        wait=wait if is_retried else None,
        tries=_TRIES.get(reason) if is_retried else None,
        limited=is_retried and status in {429, 503, 529},
        is_free=is_retried and status == 429 and wait is not None,
        names_schema=is_request and _SCHEMA.search(message) is not None,
        names_logprobs=status in {400, 404, 422, 501} and "logprob" in message.lower(),
        names_tools=status in {400, 404, 422, 500, 501}
        and reason == "server_error"
        and _TOOLS.search(message) is not None,
        names_length=status in {400, 422} and _LENGTH.search(message) is not None,
    )


def _class_of(status: int, message: str, *, asks_to_wait: bool) -> tuple[Consequence, FailureReason]:
    if status == 413 or (status in {400, 422} and _TOO_LONG.search(message)):
        return "fail", "too_long"
    if status == 429 and _never_fits(message):
        return "fail", "too_long"
    if status in {400, 403, 422, 451} and _REFUSED.search(message):
        return "fail", "refused"
    if _is_stop(status, message, asks_to_wait=asks_to_wait):
        return "stop", "server_error"
    if status in {408, 409, 425, 429} or status >= 500:
        return "retry", "parse" if status == 500 and _UNREADABLE.search(message) else "server_error"
    return "setting", "server_error"


def _never_fits(message: str) -> bool:
    """Whether one call wants more than the server allows at once, so that waiting does not help."""
    if re.search(r"request (is )?too large", message, re.IGNORECASE):
        return True
    found = _REQUESTED.search(message)
    return found is not None and int(found[2].replace(",", "")) > int(found[1].replace(",", ""))


def _is_stop(status: int, message: str, *, asks_to_wait: bool) -> bool:
    """Whether no call would get an answer: no key, no money, no such model."""
    if status == 429:
        return not asks_to_wait and bool(_QUOTA.search(message)) and not _SOON.search(message)
    if status == 400:
        return bool(_KEY.search(message) or _QUOTA.search(message))
    return status in {401, 402, 403, 404, 407}


def read_error(value: object) -> tuple[int, str] | None:
    """Status and words of an error object, wherever servers put it; None if the body holds none.

    An error object that came with status 200 is classed by its code, a number or a word.
    """
    if isinstance(value, list) and len(value) == 1:  # Gemini's compatible endpoint
        value = value[0]
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if error is None and "choices" not in value and (value.get("object") == "error" or "message" in value):
        error = value
    if error is None and "choices" not in value and "detail" in value:
        error = {"message": str(value["detail"])}
    if error is None or error in ({}, "", []) or error is False:
        return None
    if not isinstance(error, dict):
        return _status_of(str(error), None), str(error)
    words = [str(error[key]) for key in ("code", "type", "status", "message") if error.get(key) is not None]
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and metadata.get("reasons"):
        words.append(f"moderation: {metadata['reasons']}")
    message = ": ".join(words)
    return _status_of(message, error.get("code")), message


def _status_of(message: str, code: object) -> int:
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599:
        return code
    if isinstance(code, str) and re.fullmatch(r"[45]\d\d", code):
        return int(code)
    for pattern, status in ((_QUOTA, 429), (_KEY, 401), (_NO_MODEL, 404), (_RATE, 429)):
        if pattern.search(message):
            return status
    if _TOO_LONG.search(message) or _REFUSED.search(message) or "invalid_request" in message:
        return 400
    return 500


def read_retry_delay(value: object) -> float | None:
    """Seconds that Gemini asks to wait in the details of an error object; None if it does not."""
    error = value.get("error") if isinstance(value, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        said = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(said, str):
            return read_wait(said, None)
    return None


def read_retry_after(
    value: str | None, milliseconds: str | None = None, date: str | None = None
) -> float | None:
    """Seconds of a Retry-After header, given as a number or as a date; None for anything else."""
    if milliseconds is not None and (seconds := read_wait(f"{milliseconds.strip()}ms", None)) is not None:
        return seconds
    return None if value is None else read_wait(value, date)


@frozen
class Patience:
    """Limits of trying again. Attempts and wall time are both capped."""

    attempts: int = 6  # calls in all, where the fault says nothing else
    first_pause: float = 0.5  # seconds; doubled each time, with jitter
    longest_pause: float = 30.0  # seconds
    # seconds that a server may ask for, or be away, before the run is rather stopped
    longest_wait: float = 600.0
    # seconds that a server may be away which was never there; its address may be wrong
    first_wait: float = 10.0
    seconds: float = 1800.0  # of one call with all its tries
    settings: int = 3  # so many refusals in the same words, and no answer between them, mean a wrong setting

    def pause(self, tries: int) -> float:
        """Seconds before the next try: exponential, with jitter so that calls do not come back together."""
        whole: float = min(self.first_pause * 2 ** min(tries - 1, 16), self.longest_pause)
        return whole * random.uniform(0.5, 1.0)


class Tries:
    """The tries of one call. `deadline`: seconds in which a server that is away must come back."""

    def __init__(self, patience: Patience, deadline: float) -> None:
        self._patience = patience
        self._deadline = deadline
        self._began = time.monotonic()
        self._told: float | None = None
        self._counts: Counter[FailureReason] = Counter()
        self._free = 0

    def next_pause(self, fault: Fault) -> float:
        """Seconds before the call may be made again because of this fault."""
        now = time.monotonic()
        if fault.wait is not None:
            # Wait as the server says, up to a limit after which the run is better parked.
            self._told = now if self._told is None else self._told
            longest = self._patience.longest_wait
            if fault.wait > longest or now - self._told > longest:
                raise ServerAwayError(
                    f"{fault.detail}; the server asks to wait {fault.wait:.0f} s more: resume later"
                )
            if not fault.is_free:
                self._counts[fault.reason] += 1
                if self._counts.total() >= self._patience.attempts:
                    raise AnswerError(fault.reason, fault.detail)
            return max(fault.wait, self._patience.pause(1))
        elapsed = now - self._began
        if fault.is_free:
            self._free += 1
            is_over = elapsed >= self._deadline
        else:
            self._counts[fault.reason] += 1
            most = fault.tries or self._patience.attempts
            tried = self._counts.total()
            is_over = self._counts[fault.reason] >= most or tried >= self._patience.attempts
        if is_over or elapsed >= self._patience.seconds:
            raise AnswerError(fault.reason, fault.detail)
        return self._patience.pause(self._counts.total() + self._free)
