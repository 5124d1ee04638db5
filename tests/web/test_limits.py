"""How often a secret may be guessed, and how generously saves are limited."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from adjudge.errors import AccessError
from adjudge.web.security import Guesses, TooOftenError, Window, network_of


def guess(
    guesses: Guesses, address: str, now: float, cookie: str | None = None, *, is_guessable: bool = True
) -> str:
    def enter() -> str:
        if cookie is None:
            raise AccessError("wrong")
        return cookie

    try:
        return guesses.attempt(address, now, enter, is_guessable=is_guessable)
    except AccessError:
        return "wrong"
    except TooOftenError as error:
        return f"wait {error.seconds:g}"


def test_the_eleventh_wrong_secret_of_a_minute_is_not_looked_at() -> None:
    guesses = Guesses()
    assert [guess(guesses, "192.0.2.1", float(second)) for second in range(10)] == ["wrong"] * 10
    assert guess(guesses, "192.0.2.1", 10.0, "cookie") == "wait 50"
    assert guess(guesses, "192.0.2.1", 59.0, "cookie") == "wait 1"
    assert guess(guesses, "192.0.2.1", 60.0, "cookie") == "cookie"


def test_many_addresses_together_get_no_more_guesses_than_one() -> None:
    guesses = Guesses()
    assert [guess(guesses, f"192.0.2.{n}", 0.0) for n in range(10)] == ["wrong"] * 10
    assert guess(guesses, "192.0.2.99", 1.0) == "wait 59"


def test_who_is_wrong_at_many_addresses_shuts_nobody_with_a_link_out() -> None:
    guesses = Guesses()
    assert [guess(guesses, f"192.0.2.{n}", 0.0, is_guessable=False) for n in range(10)] == ["wrong"] * 10
    assert guess(guesses, "192.0.2.99", 1.0, "cookie", is_guessable=False) == "cookie"
    assert guess(guesses, "192.0.2.99", 1.0, "cookie", is_guessable=True) == "wait 59"
    assert guess(guesses, "192.0.2.98", 1.0, is_guessable=False) == "wait 59"
    assert guess(guesses, "192.0.2.97", 60.0, is_guessable=False) == "wrong", "later ones did not prolong it"


def test_right_secrets_are_not_limited() -> None:
    guesses = Guesses()
    assert {guess(guesses, "192.0.2.1", 0.0, "cookie") for _ in range(300)} == {"cookie"}


def test_guesses_sent_at_once_are_counted_like_others() -> None:
    guesses = Guesses()
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda _: guess(guesses, "192.0.2.1", 0.0), range(100)))
    assert done.count("wrong") == 10


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    window = Window(most=1, seconds=60.0)
    assert window.take("a", 1000.0) == 0
    assert window.take("a", 10.0) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("unix", "unix", True),
    ],
)
def test_one_customer_of_a_provider_is_one_guesser(one: str, other: str, *, same: bool) -> None:
    assert (network_of(one) == network_of(other)) == same


def test_keys_do_not_fill_the_memory() -> None:
    window = Window(most=1, seconds=60.0)
    for number in range(10_001):
        window.count(str(number), 0.0)
    assert window.wait("0", 1.0) == 0
    assert window.wait("10000", 1.0) == 59


def test_each_key_has_its_own_window() -> None:
    window = Window(most=2, seconds=1.0)
    assert [window.take(key, 0.0) for key in "aabab"] == [0, 0, 0, 1, 0]
