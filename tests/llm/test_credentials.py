"""Keys come from the environment or a file, and nothing that is said repeats one."""

from pathlib import Path

import pytest

from adjudge.errors import AdjudgeError, ModelError, UsageError
from adjudge.llm.credentials import Redactor, check_address, read_key

KEY = "canary/key+1234567890"


def test_a_key_comes_from_a_variable_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_key(None, None, default="OPENAI_API_KEY") == "", "where none is needed"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert read_key(None, None, default="OPENAI_API_KEY", needed=True) == KEY
    monkeypatch.setenv("MY_KEY", f" {KEY[::-1]}\n")
    assert read_key("MY_KEY", None, default="OPENAI_API_KEY") == KEY[::-1]
    (tmp_path / "key").write_text(KEY + "\n")
    assert read_key(None, tmp_path / "key") == KEY


@pytest.mark.parametrize("variable", ["MISSING", None])
def test_a_key_that_is_missing_is_said_with_the_name_of_its_variable(variable: str | None) -> None:
    with pytest.raises(ModelError, match=variable or "OPENAI_API_KEY"):
        read_key(variable, None, default="OPENAI_API_KEY", needed=True)


@pytest.mark.parametrize("value", ["sk-canary1234567890", "gsk_canary1234567890", "canary key", "a" * 80])
def test_a_key_given_in_place_of_a_name_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_key(value, None)
    assert value not in str(caught.value)


@pytest.mark.parametrize("value", ["two words", "schlüssel", "line\nbreak", ""])
def test_what_can_be_no_key_is_refused_and_not_repeated(tmp_path: Path, value: str) -> None:
    (tmp_path / "key").write_text(value, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        read_key(None, tmp_path / "key")
    assert not value or value not in str(caught.value)


def test_two_places_for_one_key_contradict_and_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_key("MY_KEY", tmp_path / "key")
    with pytest.raises(ModelError, match="FileNotFoundError"):
        read_key(None, tmp_path / "key")


def test_keys_of_ours_and_of_anybody_are_taken_out_of_errors() -> None:
    errors = [
        f"Incorrect API key provided: {KEY}",
        "header was canary%2Fkey%2B1234567890",
        r"canary\/key+1234567890",
        "Authorization: Bearer canary-of-another",
        "authorization='canary-of-another'",
        "api_key=canary-of-another",
        '"api-key": "canary-of-another"',
        "key sk-canaryofanother12",
        "AIzacanaryofanother",
        "eyJcanaryofanother.eyJcanary.sig",
    ]
    assert [said for said in errors if "canary" in Redactor([KEY]).error(said)] == []


def test_what_a_model_says_keeps_everything_but_the_key() -> None:
    said = f"bearer of bad news: api_key: value {KEY}."
    assert Redactor([KEY]).text(said) == "bearer of bad news: api_key: value [key]."


DUMMIES = (
    *("test", "none", "x", "ollama", "dummy", "EMPTY", "e", "k", "local", "no-key-required", "not-needed"),
    *("your-api-key-goes-here", "xxxxxxxxxxxxxxxxxxxxxxxxxxxx", "placeholder", "<your-openai-api-key>"),
)


@pytest.mark.parametrize("key", DUMMIES)
def test_a_placeholder_is_a_word_and_stays_in_replies_and_in_errors(key: str) -> None:
    said = f"extra {key} word: mock, the key {key!r} is empty"
    redactor = Redactor([key])
    assert redactor.text(said) == redactor.error(said) == said
    assert redactor.raw(said.encode()) == said.encode()


@pytest.mark.parametrize("key", ["a7Kq92Lm", "gateway-7291-team"])
def test_a_short_key_is_taken_out_of_errors_and_left_in_what_a_model_wrote(key: str) -> None:
    assert Redactor([key]).error(f"wrong key {key}") == "wrong key [key]"
    assert Redactor([key]).text(f"wrong key {key}") == f"wrong key {key}"


@pytest.mark.parametrize(
    "key", [KEY, "canary-4f1d9b7c2e8a6053", "abcdefghijklmnopqrst", "sk-proj-canary0123456789"]
)
def test_a_key_of_twenty_characters_is_taken_out_of_everything(key: str) -> None:
    redactor = Redactor([key])
    assert redactor.text(f"it is {key}.") == redactor.error(f"it is {key}.") == "it is [key]."
    assert redactor.raw(f"\xff {key}".encode()) == "\xff [key]".encode()


def test_without_a_key_nothing_is_taken_out() -> None:
    assert Redactor([""]).text("as it is") == "as it is"


@pytest.mark.parametrize(
    ("address", "complete"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1"),
        ("http://localhost:8000/", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("https://host/openai/v1/chat/completions", "https://host/openai/v1"),
        ("https://host/v1?api-version=2026-01", "https://host/v1?api-version=2026-01"),
        (" http://[::1]:8000/v1 ", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_completed(address: str, complete: str) -> None:
    assert check_address(address) == complete


@pytest.mark.parametrize(
    "address",
    [
        "http://me:canary@host/v1",
        "http://canary@host/v1",
        "http://host/v1?key=canary",
        "http://host/v1?access_token=canary",
        "http://host/v1?sig=canary",
        "http://me:canary@host:port/v1",
    ],
)
def test_an_address_with_credentials_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(AdjudgeError) as caught:
        check_address(address)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "", "http://host:0/v1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError):
        check_address(address)
