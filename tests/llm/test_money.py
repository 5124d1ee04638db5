"""Token estimates: every character has a script, and what tokenizers are known to do is in the bounds."""

import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.core.ask import Message, Quoted, Usage
from adjudge.errors import UsageError
from adjudge.llm.money import (
    RATES,
    Price,
    PriceTable,
    Tokens,
    batch_name,
    estimate_messages,
    estimate_text,
    find_prices,
    read_prices,
    script_of_character,
    shipped_prices,
    with_batches,
)
from adjudge.store.settings_files import trust_folder

# Prices: arithmetic to the last digit, dated rows, the user's table first, and never 0 for unknown.


TODAY = dt.date(2026, 11, 20)


def price(prompt: str = "2.50", completion: str = "10", cached: str | None = "1.25", **more: object) -> Price:
    values: dict[str, object] = {"names": ("a/b",), "as_of": TODAY, "currency": "USD"} | more
    return Price(
        prompt=Decimal(prompt),
        completion=Decimal(completion),
        cached=None if cached is None else Decimal(cached),
        **values,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("usage", "cached", "cost"),
    [
        (Usage(), "1.25", "0"),
        (Usage(prompt=1_000_000), "1.25", "2.50"),
        (Usage(completion=1_000_000), "1.25", "10"),
        (Usage(prompt=1_000_000, cached=1_000_000), "1.25", "1.25"),
        (Usage(prompt=1_000_000, cached=400_000), "1.25", "2.00"),
        (Usage(prompt=1_000_000, cached=400_000), None, "2.50"),
        (Usage(prompt=1, completion=1), "1.25", "0.0000125"),
        (Usage(prompt=3_456_789, completion=123_456, cached=2_000_000), "1.25", "7.3765325"),
        (Usage(prompt=0, cached=5), "1.25", "0"),  # what was kept is part of the prompt, never more
        (Usage(completion=100_000, reasoning=90_000), "1.25", "1"),  # thinking is part of the reply ...
        (Usage(completion=100_000, reasoning=900_000), "1.25", "10"),  # ... or stands beside it
    ],
)
def test_a_price_is_exact(usage: Usage, cached: str | None, cost: str) -> None:
    assert price(cached=cached).cost(usage) == Decimal(cost)


def test_ten_million_small_calls_add_up_without_a_rounding_error() -> None:
    one = price("0.15", "0.60", "0.075").cost(Usage(prompt=1234, completion=56, cached=1024))
    assert one * 10_000_000 == Decimal("1419.00")


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("openai/gpt-4o", "2.50"),
        ("openai/gpt-4o-2024-08-06", "2.50"),
        ("openai/gpt-4o-2024-05-13", "5.00"),
        ("OpenAI/GPT-4o-mini-2024-07-18", "0.15"),
        ("openai/gpt-4.1-nano", "0.10"),
        ("anthropic/claude-sonnet-4-5-20250929", "3.00"),
        ("anthropic/claude-opus-4-6", "5.00"),
        ("gemini/gemini-2.5-flash", "0.30"),
    ],
)
def test_a_shipped_price_is_found_with_and_without_the_date_of_the_model(name: str, prompt: str) -> None:
    found = shipped_prices().find(name, TODAY)
    assert found is not None
    assert found.prompt == Decimal(prompt)
    assert found.currency == "USD"


@pytest.mark.parametrize(
    "name",
    [
        "openai/gpt-4o-audio-preview",
        "openai/gpt-4o-realtime",
        "openai/gpt-7",
        "vllm/gpt-4o",
        "gpt-4o",
        "openrouter/openai/gpt-4o",
        "gemini/gemini-2.5-flash-image",
        "",
    ],
)
def test_a_model_that_no_row_names_has_no_price(name: str) -> None:
    assert shipped_prices().find(name, TODAY) is None


def test_every_shipped_row_says_when_and_where() -> None:
    for row in shipped_prices().rows:
        assert dt.date(2026, 1, 1) <= row.as_of <= TODAY
        assert row.source.startswith("https://")
        assert 0 < row.prompt < row.completion
        assert row.cached is None or row.cached < row.prompt
    seen = [(name, row.as_of) for row in shipped_prices().rows for name in row.names]
    assert len(set(seen)) == len(seen), "no two name the same model on the same day"


def test_the_latest_row_that_holds_already_counts() -> None:
    days = [dt.date(2026, 1, 1), dt.date(2026, 6, 1), dt.date(2027, 1, 1)]
    table = PriceTable(rows=tuple(price(str(n), as_of=day) for n, day in enumerate(days, start=1)))
    found = {
        day: table.find("a/b", dt.date.fromisoformat(day))
        for day in ("2025-05-05", "2026-05-31", "2026-06-01", "2028-01-01")
    }
    assert [row.prompt for row in found.values() if row] == [1, 1, 2, 3]


def test_the_longest_pattern_counts() -> None:
    table = PriceTable(
        rows=(price("9", names=("a/*",)), price("1", names=("a/b*",)), price("2", names=("*",)))
    )
    found = [table.find(name, TODAY) for name in ("a/b1", "a/c", "x")]
    assert [row.prompt for row in found if row] == [1, 9, 2]


OWN = """
currency = "EUR"
[[model]]
names = ["openai/gpt-4o", "mock"]
as_of = 2026-11-01
prompt = 2
completion = 9.99
"""


def test_the_users_own_prices_come_first_and_the_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN)
    table = read_prices(file)
    mine, mock, shipped = (table.find(name, TODAY) for name in ("openai/gpt-4o", "mock", "openai/gpt-4.1"))
    assert mine == mock
    assert (mine and mine.completion, mine and mine.currency, mine and mine.cached) == (
        Decimal("9.99"),
        "EUR",
        None,
    )
    assert shipped is not None
    with pytest.raises(UsageError, match="EUR and USD"):
        find_prices(["mock", "openai/gpt-4.1"], file)


def test_calls_in_batches_cost_what_the_row_says_or_the_table_or_else_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        OWN.replace("EUR", "USD")
        + 'batch = 0.25\n[[model]]\nnames = ["other"]\nas_of = 2026-11-01\nprompt = 1\ncompletion = 1'
    )
    found = with_batches(find_prices(["mock", "other", "openai/gpt-4.1", "nobody"], file))
    used = Usage(prompt=1_000_000, completion=1_000_000)
    costs = {name: None if price is None else price.cost(used) for name, price in found.items()}
    mock, shipped = costs["mock"], costs["openai/gpt-4.1"]
    assert mock is not None
    assert shipped is not None
    assert costs[batch_name("mock")] == mock / 4
    assert costs[batch_name("other")] == costs["other"]
    assert costs[batch_name("openai/gpt-4.1")] == shipped / 2
    assert costs[batch_name("nobody")] is None


def test_prices_may_stand_in_adjudge_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adjudge.toml").write_text("[score]\nlevel = 'seg'\n")
    assert read_prices(None) == shipped_prices()
    (tmp_path / "adjudge.toml").write_text("[prices]\n" + OWN.replace("[[model]]", "[[prices.model]]"))
    with pytest.raises(UsageError, match=r"sets prices\.currency, prices\.model, and you do not trust"):
        read_prices(None)
    trust_folder()
    assert find_prices(["mock", "nobody"], None)["mock"] is not None
    assert find_prices(["nobody"], None) == {"nobody": None}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("prompt = 2", "", "prompt must be a price"),
        ("prompt = 2", "prompt = -1", "at least 0"),
        ("prompt = 2", "prompt = nan", "at least 0"),
        ("prompt = 2", "prompt = true", "prompt must be a price"),
        ("prompt = 2", 'prompt = "2"', "prompt must be a price"),
        ("prompt = 2", "prompt = 2\ncached = 3", "cached must be at most prompt"),
        ("prompt = 2", "prompt = 2\nprices = 3", "got 'prices'"),
        ("prompt = 2", "prompt = 2\nbatch = 1.5", "batch must be a share of the price"),
        ('currency = "EUR"', "batch = -1", "batch must be at least 0"),
        ("as_of = 2026-11-01", "as_of = 'today'", "as_of must be a date"),
        ('"openai/gpt-4o", "mock"', "", "names must be a list"),
        ('currency = "EUR"', "currency = 1", "currency must be a name"),
        ('currency = "EUR"', "models = 1", "known are currency, batch and model"),
        ("[[model]]", "[model]", r"at least one \[\[model\]\]"),
        ("[[model]]", "[[model", "cannot read"),
    ],
)
def test_a_table_that_is_not_as_it_must_be_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN.replace(old, new))
    with pytest.raises(UsageError, match=message):
        read_prices(file)
    with pytest.raises(UsageError, match="cannot read"):
        read_prices(tmp_path / "none.toml")


TEXTS = {
    "en": "The harbour was closed for three days because of the storm, and nobody knew when it would open.",
    "ja": "嵐のために港は三日間閉鎖されていて、いつ再開されるのか誰にも分からなかった。",
}
CHARACTERS_A_TOKEN = {  # averages of mainstream tokenizers over running text, github.com/shisa-ai/shisa-v2
    "en": {
        "GPT-4o": 4.66,
        "Llama 3": 4.59,
        "Qwen 2": 4.47,
        "Gemma 2": 4.47,
        "Mistral Nemo": 4.38,
        "Yi 1.5": 4.19,
    },
    "ja": {
        "Gemma 2": 1.85,
        "Qwen 2": 1.48,
        "Llama 3": 1.45,
        "GPT-4o": 1.39,
        "GPT-4": 1.0,
        "Mistral v0.3": 0.95,
    },
}


@pytest.mark.parametrize("language", TEXTS)
def test_what_tokenizers_make_of_running_text_lies_within_the_bounds(language: str) -> None:
    text, found = TEXTS[language], estimate_text(TEXTS[language])
    for characters in CHARACTERS_A_TOKEN[language].values():
        assert found.low <= len(text) / characters <= found.high
    middle = sorted(CHARACTERS_A_TOKEN[language].values())[3]
    assert found.typical == pytest.approx(len(text) / middle, rel=0.15)


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("aZ \n", "latin"),
        ("éßñřŻẹ", "accented"),
        ("07", "digits"),
        ('.{"<—…“。', "signs"),
        ("αΩἀ", "greek"),
        ("жЯї", "cyrillic"),
        ("אبپ", "semitic"),
        ("अதమ", "indic"),
        ("กခក", "southeast"),
        ("汉㐀𠀀", "han"),
        ("あア", "kana"),
        ("한ᄀㄱ", "hangul"),
        ("😀☃\u0301Ꭰ", "other"),
    ],
)
def test_every_character_counts_as_its_script(characters: str, script: str) -> None:
    assert {script_of_character(c) for c in characters} == {script}


def test_every_code_point_has_a_row() -> None:
    assert {script_of_character(chr(point)) for point in range(0, sys.maxunicode + 1, 7)} <= set(RATES)


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60))
def test_estimates_add_up_and_keep_their_order(one: str, other: str) -> None:
    both = estimate_text(one + other)
    apart = estimate_text(one) + estimate_text(other)
    assert (both.low, both.typical, both.high) == pytest.approx((apart.low, apart.typical, apart.high))
    assert both.low <= both.typical <= both.high
    assert both.high <= 4 * max(len(one) + len(other), 1)


def test_a_prompt_is_counted_whole_delimiters_included() -> None:
    plain = estimate_messages([Message("user", ("Satz",))], "0" * 16)
    quoted = estimate_messages([Message("user", (Quoted("translation", "Satz"),))], "0" * 16)
    two = estimate_messages([Message("system", ("Satz",)), Message("user", ("Satz",))], "0" * 16)
    assert estimate_text("Satz").typical < plain.typical < two.typical < quoted.typical
    assert estimate_messages([], "").low == 0
    assert Tokens(1, 2, 3).times(2) == Tokens(2, 4, 6)
