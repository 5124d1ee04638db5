"""Token estimates: every character has a script, and what tokenizers are known to do is in the bounds."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.core.ask import Message, Quoted
from adjudge.llm.money import RATES, Tokens, estimate_messages, estimate_text, script_of_character

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
