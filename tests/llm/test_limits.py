"""How fast a server is asked: the arithmetic, and the queue before it. Time is virtual; nobody sleeps."""

import asyncio
import datetime as dt
import email.utils
import random
import time
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adjudge.core.ask import Reply, Usage
from adjudge.errors import ServerStopError
from adjudge.llm.faults import Fault, Patience, fault_of, read_retry_after, retried
from adjudge.llm.limits import Pauses, Share, join, load_of
from adjudge.llm.pacing import (
    Allowance,
    Blame,
    Bucket,
    Pace,
    Sizes,
    Window,
    read_allowances,
    read_wait,
)
from tests.faults.limited import run
from tests.llm.conftest import pause_of, virtual

GOOD = Reply(text="", usage=Usage(prompt=100, completion=20))
AWAY = Fault(consequence="retry", reason="connection", detail="no server", limited=True, is_free=True)
LATE = Fault(consequence="retry", reason="timeout", detail="late")
REFUSALS = [fault_of(status, said) for status, said in ((429, "slow"), (503, "busy"), (529, "overloaded"))]
BROKEN = [
    retried("bad_envelope", "choices is empty", 200),
    *(fault_of(status, "no") for status in (400, 409)),
]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("2m59.56s", 179.56),
        ("1d", 86400),
        ("120µs", 0.00012),
        ("59.8", 59.8),
        (" 7 ", 7),
        ("0", 0),
        *((text, None) for text in ("", "soon", "-1s", "1 s", "1s later", "1e3", "nan", "१s")),
    ],
)
def test_a_duration_is_read_or_it_is_none(text: str, seconds: float | None) -> None:
    assert read_wait(text, None) == (None if seconds is None else pytest.approx(seconds))


OPENAI = {
    "x-ratelimit-limit-requests": "600",
    "x-ratelimit-remaining-requests": "599",
    "x-ratelimit-reset-requests": "100ms",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-tokens": "149000",
    "x-ratelimit-reset-tokens": "6m0s",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-11-20T20:30:01Z",
    "Date": "Fri, 20 Nov 2026 20:30:00 GMT",
}


@pytest.mark.parametrize(
    ("headers", "requests", "tokens"),
    [
        (OPENAI, (600, 599, 0.1), (150000, 149000, 360.0)),
        (ANTHROPIC, (50, 49, 1.0), None),
        (
            ANTHROPIC | {"anthropic-ratelimit-requests-reset": "2026-11-20T21:30:00+01:00"},
            (50, 49, 0.0),
            None,
        ),
        (ANTHROPIC | {"anthropic-ratelimit-requests-reset": "2026-11-20T20:30:01"}, (50, 49, None), None),
        (OPENAI | {"x-ratelimit-reset-requests": "soon"}, (600, 599, None), (150000, 149000, 360.0)),
        (OPENAI | {"x-ratelimit-remaining-requests": "700"}, (600, 600, 0.1), (150000, 149000, 360.0)),
        (OPENAI | {"x-ratelimit-limit-requests": "0"}, None, (150000, 149000, 360.0)),
        (OPENAI | {"x-ratelimit-limit-requests": "-1"}, None, (150000, 149000, 360.0)),
        (OPENAI | {"x-ratelimit-remaining-requests": "many"}, None, (150000, 149000, 360.0)),
        (OPENAI | {"x-ratelimit-limit-tokens": "1e9"}, (600, 599, 0.1), None),
        (OPENAI | {"x-ratelimit-limit-tokens": "9" * 40}, (600, 599, 0.1), None),
        ({}, None, None),
    ],
)
def test_what_headers_say_is_read_and_nonsense_is_as_good_as_nothing(
    headers: Mapping[str, str], requests: tuple[object, ...] | None, tokens: tuple[object, ...] | None
) -> None:
    found = read_allowances(headers)
    for kind, wanted in (("requests", requests), ("tokens", tokens)):
        said = found.get(kind)  # type: ignore[call-overload]
        assert (None if said is None else (said.limit, said.remaining, said.reset)) == wanted


words = st.text(max_size=30) | st.integers(-1, 10**20).map(str) | st.sampled_from([*ANTHROPIC.values()])


@pytest.mark.parametrize("usual", [OPENAI, ANTHROPIC, {}])
@given(odd=st.dictionaries(st.sampled_from([*OPENAI, *ANTHROPIC]), words, max_size=4))
def test_no_header_is_an_error(usual: dict[str, str], odd: dict[str, str]) -> None:
    for said in read_allowances(usual | odd).values():
        assert 0 <= said.remaining <= said.limit
        assert said.reset is None or said.reset >= 0


def test_a_date_to_come_back_at_is_by_the_servers_clock() -> None:
    date, later = "Fri, 20 Nov 2020 20:30:00 GMT", "Fri, 20 Nov 2020 20:31:30 GMT"
    assert read_retry_after(later, None, date) == 90
    assert read_retry_after(date, None, later) == 0
    soon = email.utils.format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=90))
    for odd in ("no date", "Fri, 20 Nov 2020 20:30:00 -0000", "2020-11-20T20:30:00"):  # without a time zone
        assert read_retry_after(soon, None, odd) == pytest.approx(90, abs=5)


def test_the_window_starts_with_twenty_and_doubles_until_the_first_trouble() -> None:
    window = Window(100)
    assert window.size == 20
    for _ in range(500):
        window.answered(0.0, was_full=False)
    assert window.size == 20, "a window that was not full has shown nothing"
    for _ in range(20):
        window.answered(0.0, was_full=True)
    assert window.size == 40


@pytest.mark.parametrize(
    ("times", "size"),
    [
        ([0.0], 80),
        ([0.0, 1.0, 14.9], 80),
        ([0.0, 15.0], 64),
        ([0.0, 15.0, 30.0], 51),
        ([0.0, 15, 29, 30], 51),
    ],
)
def test_trouble_takes_a_fifth_but_not_twice_in_fifteen_seconds(times: list[float], size: int) -> None:
    window = Window(1000)
    while window.size < 100:
        window.answered(-1.0, was_full=True)
    for now in times:
        window.troubled(now)
    assert window.size == size


def test_after_trouble_it_grows_by_a_twentieth_a_round_once_it_has_rested() -> None:
    window = Window(1000)
    window.troubled(0.0)
    assert window.size == 16
    for now, size in ((14.0, 16), (15.0, 16)):
        for _ in range(16):
            window.answered(now, was_full=True)
        assert window.size == size
    for _ in range(4):
        window.answered(16.0, was_full=True)
    assert window.size == 17


def test_a_number_of_calls_that_was_one_too_many_is_not_tried_again_for_five_minutes() -> None:
    window = Window(100)
    window.bounded(0.0, 8)
    for now, size in ((299.0, 8), (300.0, 9)):
        for _ in range(20):
            window.answered(now, was_full=True)
        assert window.size == size


@given(st.integers(1, 300), st.lists(st.tuples(st.booleans(), st.floats(0, 30))))
def test_the_window_stays_between_one_and_its_cap(cap: int, events: list[tuple[bool, float]]) -> None:
    window, now = Window(cap), 0.0
    for is_good, later in events:
        now += later
        window.answered(now, was_full=True) if is_good else window.troubled(now)
        assert 1 <= window.size <= cap


def said(limit: int, remaining: int, reset: float | None) -> Allowance:
    return Allowance(limit=limit, remaining=remaining, reset=reset)


@pytest.mark.parametrize(
    ("allowance", "spent", "opens"),
    [
        (said(600, 300, 30.0), 0, 0.0),  # steadily, 10 a second, 1 % spared
        (said(600, 300, 30.0), 293, 0.0),
        (said(600, 300, 30.0), 294, 0.1),
        (said(600, 300, 30.0), 300, 0.7),
        (said(600, 0, 20.0), 0, 0.233),  # steadily, 30 a second, until another answer says otherwise
        (said(600, 0, 9000.0), 0, 60.0),  # no header is believed for longer than a minute
        (said(600, 0, None), 0, 0.7),  # a minute is what most servers count by
        (said(86400, 0, 86400.0), 0, 60.0),
        (said(2, 0, 0.2), 0, 0.102),
    ],
)
def test_a_bucket_opens_when_there_is_enough_in_it(allowance: Allowance, spent: int, opens: float) -> None:
    bucket = Bucket()
    assert bucket.opens_at(0.0, 1e9) == 0, "nothing is known"
    bucket.learn(0.0, allowance, 0.0, bucket.spent)
    for _ in range(spent):
        bucket.spend(0.0, 1.0)
    assert bucket.opens_at(0.0, 1.0) == pytest.approx(opens, abs=1e-3)


def test_what_comes_back_at_the_end_of_a_minute_is_not_taken_for_steady() -> None:
    bucket = Bucket()
    for now, remaining in ((10.0, 300), (20.0, 100), (40.0, 0), (55.0, 0)):
        bucket.learn(now, said(600, remaining, 60.0 - now), now, bucket.spent)
    assert bucket.opens_at(55.0, 1.0) == 60.0
    assert bucket.left(60.0) == 1.0


def test_what_was_sent_after_a_call_is_taken_off_what_its_answer_says() -> None:
    bucket = Bucket()
    bucket.spend(0.0, 1.0)
    then = bucket.spent
    for _ in range(5):
        bucket.spend(1.0, 1.0)
    bucket.learn(3.0, said(60, 40, 20.0), 0.0, then)
    assert bucket._units(3.0) == 40 - 5 + 3
    bucket.learn(4.0, said(60, 59, 1.0), -1.0, 0.0)
    assert bucket._units(4.0) == 39, "an older call tells nothing new"


def test_a_call_larger_than_the_bucket_waits_until_it_is_full_and_no_longer() -> None:
    bucket = Bucket()
    bucket.learn(0.0, said(100, 50, 30.0), 0.0, 0.0)
    assert bucket.opens_at(0.0, 1000.0) == pytest.approx(30.0)
    bucket.spend(30.0, 1000.0)
    assert bucket._units(30.0) == 0


def test_after_a_minute_without_news_one_call_asks_how_things_are() -> None:
    bucket = Bucket()
    bucket.learn(0.0, said(10, 0, 5000.0), 0.0, 0.0)
    assert bucket.opens_at(60.0, 1.0) == 60
    bucket.spend(60.0, 1.0)
    assert bucket.opens_at(60.0, 1.0) == 120


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["spend", "give_back", "learn"]),
            st.floats(0, 100),
            st.integers(1, 10**6),
            st.integers(0, 10**6),
            st.none() | st.floats(0, 10**5),
        )
    )
)
def test_a_bucket_is_never_negative_and_never_over_its_brim(
    events: list[tuple[str, float, int, int, float]],
) -> None:
    bucket, now = Bucket(), 0.0
    for what, later, limit, count, reset in events:
        now += later
        if what == "learn":
            bucket.learn(
                now, said(limit, min(count, limit), reset), now - later / 2, bucket.spent - count / 2
            )
        elif what == "spend":
            bucket.spend(now, float(count))
        else:
            bucket.spend(now, -float(count))
        assert 0 <= bucket._units(now) <= max(bucket._capacity, 0)
        assert now <= bucket.opens_at(now, float(count)) <= now + 61


def test_what_was_taken_between_two_refusals_is_what_is_allowed() -> None:
    pace = Pace()
    assert pace.opens_at(0.0) == 0
    pace.spend(0.0)
    pace.refused(1.0, 0.0, 1.0)
    for second in range(2, 12):
        pace.spend(float(second))
        pace.spend(float(second))
    pace.spend(12.0)
    pace.refused(12.0, 11.5, 13.0)
    assert pace.rate == pytest.approx(0.95 * 20 / 11)
    assert pace.opens_at(12.0) == 13


def test_of_calls_that_were_refused_together_one_teaches() -> None:
    pace = Pace()
    for _ in range(20):
        pace.spend(0.0)
    pace.refused(0.1, 0.0, 0.1)
    rate = pace.rate
    for _ in range(10):
        pace.refused(0.2, 0.0, 0.2)
    assert pace.rate == rate


def test_a_server_that_still_refuses_has_taken_nothing_and_teaches_nothing() -> None:
    pace = Pace()
    pace.spend(0.0)
    pace.refused(1.0, 0.0, 1.0)
    rate = pace.rate
    for now in (2.0, 4.0, 8.0):
        pace.spend(now)
        pace.refused(now + 0.1, now, now)
    assert pace.rate == rate


def test_the_pace_grows_only_where_it_has_held_calls_back() -> None:
    pace = Pace()
    for now in (0.0, 10.0):
        for _ in range(6):
            pace.spend(now)
        pace.refused(now + 1, now + 0.5, now + 1)
    rate = pace.rate
    assert rate is not None
    for _ in range(1000):
        pace.answered(20.0, 19.0)
    assert pace.rate == rate
    pace.spend(20.0)
    assert pace.opens_at(20.0) > 20
    for _ in range(25):
        pace.answered(21.0, 20.5)
    assert pace.rate == pytest.approx(1.05 * rate)


def test_a_call_is_taken_for_as_large_as_it_may_be_until_one_was_counted() -> None:
    sizes = Sizes()
    assert sizes.guess(300, 2048) == 100 + 2048
    for _ in range(100):
        sizes.learn(400, Usage(prompt=100, completion=50))
    assert sizes.guess(400, 2048) == pytest.approx(150, rel=0.01)
    assert sizes.guess(400, 30) == pytest.approx(130, rel=0.01)
    sizes.learn(400, Usage())
    assert sizes.guess(400, 2048) == pytest.approx(150, rel=0.01), "what was not counted teaches nothing"


def test_a_pause_is_what_the_server_asked_for_and_a_later_one_never_shortens_it() -> None:
    pauses = Pauses(Patience(), 100.0)
    pauses.trouble(100.0, 99.0, 60.0)
    pauses.trouble(101.0, 100.0, 5.0)
    assert pauses.left(101.0) == 59
    assert pauses.asked - pauses.left(130.0) == 30
    assert (pauses.left(160.0), pauses.asked) == (0, 60)


def test_pauses_that_nobody_asked_for_grow_with_each_trouble_and_not_with_each_call() -> None:
    patience = Patience()
    pauses = Pauses(patience, 0.0)
    for _ in range(20):
        pauses.trouble(1.0, 0.5, None)
    assert pauses.left(1.0) <= 0.5
    for now in (2.0, 4.0, 8.0, 16.0, 32.0):
        pauses.trouble(now, now - 0.1, None)
    assert 8 <= pauses.left(32.0) <= 16
    pauses.troubles = 0
    pauses.trouble(100.0, 99.0, None)
    assert pauses.left(100.0) <= 0.5


def open_share(cap: int = 20, where: str = "x", **patience: float) -> Share:
    return join(where, cap, Patience(**patience))  # type: ignore[arg-type]


async def call(
    share: Share, seconds: float = 1.0, outcome: Reply | Fault = GOOD, **headers: str
) -> Reply | Fault:
    async with share.turn(300, 100) as turn:
        await asyncio.sleep(seconds)
        if not (isinstance(outcome, Fault) and outcome.status is None):
            turn.heard(headers)
        return turn.judged(outcome)


def test_the_first_call_goes_alone_for_two_seconds_at_most() -> None:
    async def begun(first: float) -> list[float]:
        share, times = open_share(), []

        async def timed(seconds: float) -> None:
            async with share.turn(1, 1) as turn:
                times.append(asyncio.get_running_loop().time() - 1000)
                await asyncio.sleep(seconds)
                turn.heard({})

        await asyncio.gather(timed(first), timed(1.0), timed(1.0))
        return times

    assert run(begun(0.5)) == [0, 0.5, 0.5]
    assert run(begun(9.0)) == [0, 2, 2]


@virtual
async def test_calls_go_in_the_order_in_which_they_came_and_a_refused_one_keeps_its_place() -> None:
    share, order, refused = open_share(1), [], {3}

    async def one(number: int) -> None:
        place = share.turn(1, 1)
        while True:
            async with place as turn:
                order.append(number)
                await asyncio.sleep(1)
                turn.heard({})
                is_refused = number in refused
                refused.discard(number)
                turn.judged(fault_of(429, "slow", 30.0) if is_refused else GOOD)
            if not is_refused:
                return

    await asyncio.gather(*(one(number) for number in range(8)))
    assert order == [0, 1, 2, 3, 3, 4, 5, 6, 7]


@virtual
async def test_a_pause_that_one_run_was_asked_for_holds_for_every_run_with_that_key() -> None:
    one, two, other = open_share(), open_share(), open_share(where="another key")
    loop = asyncio.get_running_loop()
    await call(one, 0.0, fault_of(429, "slow", 30.0))
    began = loop.time()
    await call(other, 0.0)
    apart = loop.time() - began
    await call(two, 0.0)
    assert (apart, loop.time() - began) == (0.0, 30.0)


@virtual
async def test_a_call_that_was_called_and_has_not_gone_waits_when_a_pause_begins() -> None:
    share, times = open_share(3), []
    loop = asyncio.get_running_loop()
    await call(share, 0.0)

    async def late() -> None:
        async with share.turn(1, 1) as turn:
            times.append(loop.time())
            turn.judged(GOOD)

    async with share.turn(1, 1) as turn:
        tasks = [asyncio.create_task(late()) for _ in range(2)]
        share.limiter._window.cap = 1
        await asyncio.sleep(1)
        share.limiter._window = Window(3)
        share.limiter._pump()
        turn.judged(fault_of(429, "slow", 30.0))
    await asyncio.gather(*tasks)
    assert min(times) >= 1031


@virtual
async def test_a_pause_over_ten_minutes_stops_every_run_that_shares_the_key() -> None:
    one, two = open_share(1), open_share(1)
    first = asyncio.create_task(call(one, 1.0, fault_of(429, "tomorrow", 601.0)))
    waiting = asyncio.create_task(call(two))
    await first
    for task in (waiting, asyncio.create_task(call(two))):
        with pytest.raises(ServerStopError, match="resume later"):
            await task


@virtual
async def test_a_server_that_is_away_is_asked_by_one_call_at_a_time_until_it_is_back() -> None:
    share, loop = open_share(), asyncio.get_running_loop()
    back, flying = loop.time() + 120, 0
    seen: list[int] = []
    await call(share, 0.0)

    async def one() -> None:
        nonlocal flying
        place = share.turn(1, 1)
        while True:
            async with place as turn:
                flying += 1
                seen.append(flying)
                await asyncio.sleep(0.01)
                flying -= 1
                kept = turn.judged(AWAY if loop.time() < back else GOOD)
            if kept is GOOD:
                return
            assert isinstance(kept, Fault)
            assert kept.is_free

    await asyncio.gather(*(one() for _ in range(50)))
    assert seen[:20] == list(range(1, 21)), "on their way already"
    probes = seen[20:-50]
    assert 5 < len(probes) < 20
    assert set(probes) == {1}
    assert loop.time() - back < 31


async def until_it_stops(share: Share) -> tuple[float, str]:
    """Call a server that is away: seconds until that stops the run, and what is said then."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    fault: Reply | Fault = AWAY
    while isinstance(fault, Fault) and fault.consequence == "retry":
        fault = await call(share, 0.0, AWAY)
    assert isinstance(fault, Fault)
    return loop.time() - began, fault.detail


@pytest.mark.parametrize(
    ("was_there", "least", "most", "remedy"),
    [(True, 600, 635, "resume later"), (False, 10, 27, "mend the address")],
)
@virtual
async def test_a_server_that_stays_away_stops_the_run(
    was_there: bool, least: float, most: float, remedy: str
) -> None:
    share = open_share()
    if was_there:
        await call(share)
    seconds, said = await until_it_stops(share)
    assert least < seconds < most
    assert remedy in said


@pytest.mark.parametrize("between", [GOOD, BROKEN[0], None])
@virtual
async def test_a_refusal_costs_no_attempt_where_others_are_taken(between: Reply | Fault | None) -> None:
    """An answer that is broken shows too that there is room."""

    share = open_share()
    if between is not None:
        await call(share)
    refused = asyncio.create_task(call(share, 2.0, REFUSALS[0]))
    await asyncio.sleep(1)
    if between is not None:
        await call(share, 0.1, between)
    fault = await refused
    assert isinstance(fault, Fault)
    assert fault.is_free == (between is not None)


@pytest.mark.parametrize(
    ("fault", "times", "width"),
    [(LATE, 1, 16), *((fault, times, width) for fault in REFUSALS for times, width in ((11, 20), (12, 16)))],
)
@virtual
async def test_trouble_of_many_calls_makes_the_window_smaller(fault: Fault, times: int, width: int) -> None:
    share = open_share()
    await call(share)
    await asyncio.gather(*(call(share, 1.0, fault) for _ in range(times)))
    assert share.limiter.load.concurrency == width
    assert (pause_of(share.limiter) > 0) == (width < 20 and fault is not LATE)


@pytest.mark.parametrize("fault", [*BROKEN, fault_of(500, "no"), *REFUSALS])
@pytest.mark.parametrize("headers", [{}, OPENAI])
@virtual
async def test_broken_answers_of_single_calls_hold_back_nobody(
    fault: Fault, headers: Mapping[str, str]
) -> None:
    share = open_share()
    for place in range(100):
        await call(share, 0.1, fault if place % 10 < 3 and place < 90 else GOOD, **headers)
        assert pause_of(share.limiter) == 0
    load = share.limiter.load
    assert (load.concurrency >= 20, load.waited) == (True, 0)


@virtual
async def test_the_pause_of_a_refused_text_grows_to_two_seconds() -> None:
    share = open_share()
    place, pauses = share.turn(300, 100), []
    for _ in range(6):
        async with place as turn:
            await call(share, 0.1)
            fault = turn.judged(REFUSALS[0])
            assert isinstance(fault, Fault)
            assert fault.wait is not None
            pauses.append(fault.wait)
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0
    assert all(1.0 <= pause <= 2.0 for pause in pauses[2:])


@virtual
async def test_after_a_storm_of_overload_single_texts_hold_back_nobody_again() -> None:
    share = open_share()
    await call(share)
    await asyncio.gather(*(call(share, 1.0, REFUSALS[1]) for _ in range(20)))
    assert pause_of(share.limiter) > 0
    for _ in range(25):
        await call(share, 0.1)
    before = share.limiter.load.waited
    await call(share, 0.1, REFUSALS[1])
    assert share.limiter.load.waited == before


@pytest.mark.parametrize(("part", "sent"), [(1.0, 19), (0.5, 9), (0.25, 4)])
@virtual
async def test_who_has_a_part_of_what_headers_allow_sends_so_much_and_waits(part: float, sent: int) -> None:
    """Each of several processes with one key sees headers that count what all have sent."""
    said = {
        "x-ratelimit-limit-requests": "21",
        "x-ratelimit-remaining-requests": "20",
        "x-ratelimit-reset-requests": "60s",
    }
    share, done = open_share(), 0
    share.limiter.part = part
    await call(share, 0.0, GOOD, **said)

    async def one() -> None:
        nonlocal done
        await call(share, 0.0)
        done += 1

    calls = [asyncio.create_task(one()) for _ in range(40)]
    await asyncio.sleep(1)
    for waiting in calls:
        waiting.cancel()
    assert done == sent


@virtual
async def test_the_lowest_cap_holds_for_all_and_leaves_with_its_owner() -> None:
    wide, narrow = open_share(20), open_share(3)
    assert wide.limiter is narrow.limiter
    assert wide.limiter.load.concurrency == 3
    narrow.leave()
    for _ in range(10):
        await asyncio.gather(*(call(wide) for _ in range(40)))
    assert wide.limiter.load.concurrency == 20
    wide.leave()
    assert open_share(20).limiter is not wide.limiter, "whoever comes later asks anew"


@virtual
async def test_who_leaves_sends_nothing_more_and_the_others_go_on() -> None:
    going, staying = open_share(1), open_share(1)
    tasks = [asyncio.create_task(call(share)) for share in (going, staying, going, staying, going)]
    await asyncio.sleep(0.5)
    going.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [result is GOOD for result in results] == [True, True, False, True, False]
    with pytest.raises(asyncio.CancelledError):
        await call(going)
    with pytest.raises(asyncio.CancelledError):
        await going.sleep(10)


@virtual
async def test_calls_that_are_cancelled_in_the_queue_leave_nothing_behind() -> None:
    share = open_share(2)
    tasks = [asyncio.create_task(call(share)) for _ in range(5000)]
    await asyncio.sleep(1.5)
    for task in tasks[10:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert not share.limiter._queue
    assert share.limiter.load.in_flight == 0


@virtual
async def test_a_jump_of_the_wall_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    share, loop = open_share(), asyncio.get_running_loop()
    await call(share, 0.0, fault_of(429, "slow", 30.0))
    monkeypatch.setattr(time, "time", lambda: 4e9)
    waiting = asyncio.create_task(call(share, 0.0))
    await asyncio.sleep(1)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    await waiting
    assert loop.time() == 1030


@virtual
async def test_how_it_stands_is_said_in_few_words() -> None:
    share, other = open_share(), open_share(5, where="y")
    await call(share, 0.0, fault_of(429, "slow", 30.0))
    one, both = share.limiter.load, load_of([share.limiter, share.limiter, other.limiter])
    assert str(one) == "0 of 16 at a time, the server wants a pause, 30 s left"
    assert both.counts == {"concurrency": 21, "refused": 1, "waited": 0}
    assert str(load_of([])) == "0 of 0 at a time"


OUTCOMES = st.sampled_from(
    ["good", "cancel", "raise", "429", "429 soon", "503", "away", "late", "500", "limits"]
)


@settings(max_examples=150, deadline=None)
@example(1, ["away", "cancel"], 14644)
@given(st.integers(1, 8), st.lists(OUTCOMES, min_size=1, max_size=60), st.integers(0, 2**32))
@virtual
async def test_whatever_happens_nobody_is_forgotten_and_never_are_too_many_on_their_way(
    cap: int, plan: list[str], seed: int
) -> None:
    faults = {
        "429": fault_of(429, "slow"),
        "429 soon": fault_of(429, "slow", 3.0),
        "503": fault_of(503, "busy"),
        "away": AWAY,
        "late": LATE,
        "500": fault_of(500, "no"),
    }

    chance, shares, flying = (
        random.Random(seed),
        [open_share(c, first_wait=600.0) for c in (cap, cap + 1)],
        0,
    )

    async def one(what: str) -> None:
        nonlocal flying
        await asyncio.sleep(chance.random())
        share = chance.choice(shares)
        async with share.turn(chance.randint(1, 999), 100) as turn:
            flying += 1
            assert flying <= cap
            assert flying <= max(turn.share.limiter.load.in_flight, 1)
            try:
                await asyncio.sleep(chance.random() * 5)
                if what == "raise":
                    raise ValueError
                left = chance.randint(0, 4)
                if what == "limits":
                    turn.heard(
                        {"x-ratelimit-limit-requests": "4", "x-ratelimit-remaining-requests": f"{left}"}
                    )
                turn.judged(faults.get(what, GOOD))
            finally:
                flying -= 1

    tasks = [asyncio.create_task(one(what)) for what in plan]
    await asyncio.sleep(chance.random() * 3)
    for task, what in zip(tasks, plan, strict=True):
        if what == "cancel":
            task.cancel()
            await asyncio.sleep(chance.random() / 10)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    allowed = (type(None), asyncio.CancelledError, ValueError)
    assert [result for result in results if not isinstance(result, allowed)] == []
    limiter = shares[0].limiter
    waiting = [
        turn for _, turn, granted in limiter._queue if not granted.done()
    ]  # the next call drops others
    assert (limiter.load.in_flight, waiting) == (0, [])


@pytest.mark.parametrize(
    ("refusals", "headers", "pause"),
    [
        (11, {}, 0),
        (12, {}, 3),
        (1, OPENAI, 0),
        (1, OPENAI | {"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "59s"}, 3),
    ],
)
@virtual
async def test_the_first_refusals_hold_back_single_calls_until_they_are_no_accident(
    refusals: int, headers: Mapping[str, str], pause: float
) -> None:
    share = open_share()
    await call(share, 1.0, GOOD, **headers)
    for _ in range(refusals):
        await call(share, 0.1, fault_of(429, "no", 3.0))
    assert pause_of(share.limiter) == pytest.approx(pause)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("outcomes", "is_crowded"),
    [
        ("r.rr." * 3 + "r....", False),
        ("r.rr." * 4, True),
        ("r" * 11, False),
        ("." * 500 + "r" * 12, True),
        ("r..." * 99 + "rr..", False),
        ("rr....." * 57 + "r", True),
    ],
)
def test_more_refusals_than_chance_explains_are_of_capacity(
    outcomes: str, is_crowded: bool, order: int
) -> None:
    """They count in the order in which calls were sent; refusals may come back in another."""
    blame = Blame()
    refused = [number for number, outcome in enumerate(outcomes) if outcome == "r"]
    pairs = [refused[place : place + 2][::order] for place in range(0, len(refused), 2)]
    found = False
    for number in [number for pair in pairs for number in pair]:
        found = blame.refused(number)
    assert found == is_crowded


def test_refusals_at_a_speed_that_was_taken_before_acquit_it() -> None:
    pace, found, now = Pace(), [], 0.0
    for _ in range(5):
        for _ in range(10):
            now += 1.0
            pace.spend(now)
            pace.opens_at(now)
        found.append(pace.refused(now, now - 0.1, now))
    assert found == [True] * 4 + [False]
