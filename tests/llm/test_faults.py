"""Every status number and every shape of error object has its consequence."""

import time
from email.utils import formatdate

import pytest

from adjudge.errors import AnswerError, ServerStopError
from adjudge.llm.faults import (
    Fault,
    Patience,
    Tries,
    fault_of,
    read_error,
    read_retry_after,
    read_retry_delay,
)

GEMINI_LIMIT = (
    "You exceeded your current quota, please check your plan and billing details. Please retry in 36s"
)


@pytest.mark.parametrize(
    ("status", "message", "consequence", "reason"),
    [
        *((status, "", "setting", "server_error") for status in (400, 405, 418)),
        *((status, "", "stop", "server_error") for status in (401, 403)),
        *((status, "", "retry", "server_error") for status in (408, 409, 425, 429, 500, 501, 503, 599)),
        (400, "maximum context length is 8192", "fail", "too_long"),
        (400, "prompt is too long: 210000 tokens", "fail", "too_long"),
        (400, "the request exceeds the available context size", "fail", "too_long"),
        (400, "content_filter: triggered", "fail", "refused"),
        (400, "API key not valid. invalid_api_key", "stop", "server_error"),
        (
            400,
            "400: INVALID_ARGUMENT: API key not valid. Please pass a valid API key.",
            "stop",
            "server_error",
        ),
        (400, "Your credit balance is too low", "stop", "server_error"),
        (402, "Insufficient Balance", "stop", "server_error"),
        (403, "moderation: ['violence']", "fail", "refused"),
        (404, "The model `x` does not exist", "stop", "server_error"),
        (413, "", "fail", "too_long"),
        (422, "unknown field", "setting", "server_error"),
        (429, "insufficient_quota", "stop", "server_error"),
        (429, "billing hard limit reached", "stop", "server_error"),
        (429, "rate_limit_exceeded: billing tier 1 limit per minute", "retry", "server_error"),
        (429, GEMINI_LIMIT, "retry", "server_error"),
        (429, "Request too large for gpt-x: Limit 30000, Requested 40000", "fail", "too_long"),
        (429, "tokens per min: Limit 10,000, Used 0, Requested 12,000", "fail", "too_long"),
        (429, "tokens per min: Limit 10000, Used 9000, Requested 2000", "retry", "server_error"),
        (
            500,
            "The model produced output that does not match the expected peg-native format",
            "retry",
            "parse",
        ),
        (500, "Failed to parse input at pos 9: <tool_call>", "retry", "parse"),
        (529, "overloaded", "retry", "server_error"),
    ],
)
def test_a_status_has_its_consequence(status: int, message: str, consequence: str, reason: str) -> None:
    fault = fault_of(status, message)
    assert (fault.consequence, fault.reason) == (consequence, reason)
    assert str(status) in fault.detail


def test_a_reply_that_the_server_itself_cannot_read_is_asked_for_twice_and_says_nothing_of_tools() -> None:
    fault = fault_of(500, "Failed to parse input at pos 9: <tool_call>")
    assert (fault.tries, fault.names_tools, fault.limited) == (2, False, False)


def test_a_server_that_names_a_time_is_limited_and_not_out_of_quota() -> None:
    fault = fault_of(429, "insufficient_quota", 3.0)
    assert (fault.consequence, fault.wait, fault.limited) == ("retry", 3.0, True)


def test_a_message_is_shown_in_one_line_and_not_in_full() -> None:
    detail = fault_of(500, "a\nb " + "c" * 10_000).detail
    assert detail.startswith("status 500: a b ccc")
    assert len(detail) < 400


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"choices": []}, None),
        ({"error": None, "choices": []}, None),
        ({"error": "", "choices": []}, None),
        ({"error": {"message": "no", "code": 503}}, (503, "503: no")),
        ({"error": {"message": "no", "code": "429"}}, (429, "429: no")),
        ({"error": {"message": "no", "code": "rate_limit_exceeded"}}, (429, "rate_limit_exceeded: no")),
        ({"error": {"message": "no", "type": "insufficient_quota"}}, (429, "insufficient_quota: no")),
        ({"error": {"message": "no", "code": "invalid_api_key"}}, (401, "invalid_api_key: no")),
        ({"error": {"message": "no", "code": "model_not_found"}}, (404, "model_not_found: no")),
        (
            {"error": {"message": "no", "code": "context_length_exceeded"}},
            (400, "context_length_exceeded: no"),
        ),
        ({"error": {"message": "no", "type": "invalid_request_error"}}, (400, "invalid_request_error: no")),
        ({"error": {"message": "no", "code": True}}, (500, "True: no")),
        ({"error": "overloaded"}, (429, "overloaded")),
        ({"error": "who knows"}, (500, "who knows")),
        ({"object": "error", "message": "no", "code": 400}, (400, "400: no")),
        ({"detail": [{"msg": "field required"}]}, (500, "[{'msg': 'field required'}]")),
        ([{"error": {"code": 400, "message": "no", "status": "INVALID"}}], (400, "400: INVALID: no")),
        (
            {"error": {"code": 403, "message": "no", "metadata": {"reasons": ["x"]}}},
            (403, "403: no: moderation: ['x']"),
        ),
        ([], None),
        ("oops", None),
        (87, None),
    ],
)
def test_an_error_object_is_found_wherever_servers_put_it(
    body: object, found: tuple[int, str] | None
) -> None:
    assert read_error(body) == found


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("0", 0), ("7", 7), ("1.5", 1.5), ("86400", 86400), ("-1", None), ("soon", None), ("", None)),
        *(("१", None), ("1e3", None), ("nan", None), (None, None)),
    ],
)
def test_retry_after_is_a_number_or_nothing(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header) == seconds


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"@type": "x"}, {"@type": "RetryInfo", "retryDelay": "36s"}], 36),
        ([{"retryDelay": "0.5s"}], 0.5),
        *(([{"retryDelay": said}], None) for said in ("-1s", "soon", 36, None)),
        *((details, None) for details in (None, "x", ["x"], [])),
    ],
)
def test_a_wait_in_the_details_of_an_error_is_a_number_or_nothing(
    details: object, seconds: float | None
) -> None:
    assert read_retry_delay({"error": {"code": 429, "details": details}}) == seconds
    assert read_retry_delay([details]) is None


def test_retry_after_may_be_a_date_or_milliseconds() -> None:
    assert read_retry_after("1", "250") == 0.25
    wait = read_retry_after(formatdate(time.time() + 60, usegmt=True))
    assert wait is not None
    assert 55 < wait <= 60
    assert read_retry_after(formatdate(time.time() - 60, usegmt=True)) == 0


def server_error(**changes: object) -> Fault:
    return Fault(consequence="retry", reason="server_error", detail="no", **changes)  # type: ignore[arg-type]


def test_pauses_grow_and_are_never_equal() -> None:
    patience = Patience()
    pauses = [patience.pause(n) for n in range(1, 12)]
    for number, pause in enumerate(pauses):
        whole = min(0.5 * 2**number, 30)
        assert whole / 2 <= pause <= whole
    assert len({patience.pause(5) for _ in range(10)}) > 1


def test_a_fault_may_have_fewer_tries_and_different_faults_add_up() -> None:
    tries = Tries(Patience(attempts=4), 60)
    html = Fault(consequence="retry", reason="not_json", detail="html", tries=3)
    for fault in (html, html, server_error()):
        tries.next_pause(fault)
    with pytest.raises(AnswerError, match="not_json"):
        tries.next_pause(html)


def test_wall_time_is_capped_whatever_the_attempts() -> None:
    tries = Tries(Patience(seconds=0), 60)
    with pytest.raises(AnswerError):
        tries.next_pause(server_error())


def test_a_server_that_is_away_costs_no_attempt_until_the_deadline() -> None:
    tries = Tries(Patience(attempts=1), 60)
    for _ in range(5):
        tries.next_pause(server_error(is_free=True))
    with pytest.raises(AnswerError):
        Tries(Patience(), 0).next_pause(server_error(is_free=True))


def test_the_servers_wish_is_granted_up_to_ten_minutes() -> None:
    tries = Tries(Patience(), 60)
    for _ in range(9):
        assert tries.next_pause(server_error(wait=600.0, is_free=True)) == 600
    with pytest.raises(ServerStopError, match="601 s"):
        tries.next_pause(server_error(wait=601.0, is_free=True))


def test_a_wish_to_be_asked_at_once_is_still_a_pause() -> None:
    assert Tries(Patience(), 60).next_pause(server_error(wait=0.0, is_free=True)) > 0.2


def test_a_busy_server_that_names_a_time_has_its_attempts_counted() -> None:
    tries = Tries(Patience(attempts=2), 60)
    assert tries.next_pause(server_error(wait=7.0)) == 7
    with pytest.raises(AnswerError):
        tries.next_pause(server_error(wait=7.0))
