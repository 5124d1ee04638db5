"""Language pairs in every spelling that users have."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.language import (
    canonical_lp,
    coded_lp,
    count_words,
    is_right_to_left,
    language_name,
    script_of,
    source_language,
    target_language,
)
from adjudge.errors import UsageError


@pytest.mark.parametrize(
    ("spelling", "lp"),
    [
        ("en-de", "en-de"),
        (" en-de\n", "en-de"),
        ("en_de", "en-de"),
        ("EN-DE", "en-de"),
        ("eng/deu", "en-de"),
        ("eng-deu", "en-de"),
        ("ger-fre", "de-fr"),
        ("en>de", "en-de"),
        ("en -> de", "en-de"),
        ("en→de", "en-de"),
        ("en–de", "en-de"),
        ("English-German", "en-de"),
        ("english to german", "en-de"),
        ("English to Norwegian Bokmal", "en-nb"),
        ("English-Serbo-Croatian", "en-sh"),
        ("Chinese (Traditional)/English", "zh_Hant-en"),
        ("Simplified Chinese-English", "zh_Hans-en"),
        ("English-Portuguese (Brazil)", "en-pt_BR"),
        ("English-Brazilian Portuguese", "en-pt_BR"),
        ("en-de_DE", "en-de_DE"),
        ("en-cs_CZ", "en-cs_CZ"),
        ("en-sr_Cyrl_RS", "en-sr_Cyrl_RS"),
        ("en-es_419", "en-es_419"),
        ("eng_Latn-deu_Latn", "en_Latn-de_Latn"),
        ("sr-Latn-RS-en", "sr_Latn_RS-en"),
        ("en-US-pt-BR", "en_US-pt_BR"),
        ("en-us-pt-br", "en_US-pt_BR"),
        ("en-pt-BR", "en-pt_BR"),
        ("zh-TW-de", "zh_TW-de"),
        ("iw-en", "he-en"),
        ("cmn-eng", "zh-en"),
        ("no-en", "no-en"),
        ("tl-en", "tl-en"),
        ("en-bho", "en-bho"),
        ("en-qaa", "en-qaa"),  # for private use
        ("ain-szl", "ain-szl"),
    ],
)
def test_every_spelling_has_one_canonical_form(spelling: str, lp: str) -> None:
    assert canonical_lp(spelling) == lp
    assert canonical_lp(lp) == lp


@pytest.mark.parametrize(
    "text", ["", "-", "en", "en-", "-de", "en--de", "ende", "en-de_", "Englisch-Deutsch"]
)
def test_what_names_no_two_languages_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names two languages"):
        canonical_lp(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("en-xx", "no language has the code 'xx'; a private one can be qaa to qtz"),
        ("xx-yy", "no language has the code 'xx'"),
        ("jp-en", "no language has the code 'jp'; ja is Japanese"),
        ("en>cz", "no language has the code 'cz'; cs is Czech"),
        ("en-cn_CN", "no language has the code 'cn'; zh is Chinese"),
    ],
)
def test_a_code_that_no_language_has_is_refused_with_what_may_be_meant(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        canonical_lp(text)


@pytest.mark.parametrize("locale", ["pt_BR", "de-AT", "ja-JP"])
def test_one_language_with_its_region_is_no_pair(locale: str) -> None:
    with pytest.raises(UsageError, match="names two languages"):
        canonical_lp(locale)


@pytest.mark.parametrize(
    ("text", "both"), [("en-de-fr", "en-de_FR or en_DE-fr"), ("en-pt-br", "en-pt_BR or en_PT-br")]
)
def test_what_can_be_read_in_two_ways_is_refused_with_both(text: str, both: str) -> None:
    with pytest.raises(UsageError, match=both):
        canonical_lp(text)


@given(st.text(max_size=20))
def test_any_text_is_a_stable_pair_or_a_usage_error(text: str) -> None:
    try:
        lp = canonical_lp(text)
    except UsageError:
        return
    assert canonical_lp(lp) == lp


def test_the_two_languages_of_a_pair() -> None:
    assert source_language("eng/srp") == "en"
    assert target_language("en-sr_Cyrl_RS") == "sr_Cyrl_RS"


@pytest.mark.parametrize(
    ("code", "name", "script", "right_to_left"),
    [
        ("de", "German", "Latn", False),
        ("deu", "German", "Latn", False),
        ("pt_BR", "Brazilian Portuguese", "Latn", False),
        ("sr_Cyrl_RS", "Serbian (Cyrillic, Serbia)", "Cyrl", False),
        ("sh", "Serbo-Croatian", "Latn", False),
        ("ru", "Russian", "Cyrl", False),
        ("zh_TW", "Chinese (Taiwan)", "Hant", False),
        ("ja", "Japanese", "Jpan", False),
        ("ar", "Arabic", "Arab", True),
        ("ar_EG", "Arabic (Egypt)", "Arab", True),
        ("he", "Hebrew", "Hebr", True),
        ("ur", "Urdu", "Arab", True),
        ("prs", "Dari", "Arab", True),
        ("dv", "Divehi", "Thaa", True),
        ("az", "Azerbaijani", "Latn", False),
        ("az_IR", "Azerbaijani (Iran)", "Arab", True),
        ("qaa", "qaa", "", False),
    ],
)
def test_a_language_has_a_name_a_script_and_a_direction(
    code: str, name: str, script: str, right_to_left: bool
) -> None:
    assert language_name(code) == name
    assert script_of(code) == script
    assert is_right_to_left(code) is right_to_left


def test_a_name_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no language code: 'en-de-fr'"):
        language_name("en-de-fr")


def test_the_tables_are_loaded_only_when_a_language_is_read() -> None:
    code = "import sys, adjudge.core.language; sys.exit('babel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "en", 0),
        ("Don't stop, now - e.g. at 10%!", "en", 6),
        ("我喜欢NLP，真的。", "zh", 6),
        ("東京へ行く", "ja", 5),
        ("나는 학교에 간다.", "ko", 3),
        ("مرحبا بالعالم !", "ar", 2),
        ("one\u2028two\r\nthree", "en", 3),
        ("👍 🎉", "en", 0),
    ],
)
def test_words_are_counted_as_word_processors_do(text: str, code: str, words: int) -> None:
    assert count_words(text, code) == words


@pytest.mark.parametrize("text", ["en-de,zh-en", "en-de, zh-en", "en-de,zh-en,en-cs"])
def test_several_language_pairs_are_not_read_as_one(text: str) -> None:
    with pytest.raises(UsageError, match="one language pair is wanted here"):
        coded_lp(text)
