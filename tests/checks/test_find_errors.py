"""What holds of every rule on every text."""

import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.checks import CLEAN_PRECISION, RULES, find_errors
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import CATEGORIES, SEVERITIES
from adjudge.errors import UsageError

LPS = ["en-de", "zh-en", "en-zh", "en-ja", "ja-ko", "ko-en", "en-ar", "ar-he", "he-en", "en-hi", "hi-en"]
LPS += [
    "en-th",
    "th-en",
    "en-ru",
    "ru-uk",
    "de-fr",
    "fr-es",
    "en-cs_CZ",
    "en-sr_Cyrl_RS",
    "en-pt_BR",
    "en-qaa",
]

ALPHABETS = "abcdeHG äßé дЖ 中文的 かナ 한국 العر עבר हिन्दी ไทย"
ODD = "0159٣५ .,;:!?¿…，。！？、؟، \"'„“”«»「」()[]{}<>@#%$€£¥/\\+-&\n\t\r\u2028\u00a0\u200b\ufffd\0\ud800😀"
PHRASES = [
    "https://a.org/x",
    "me@a.org",
    "%d",
    "{name}",
    "<b>",
    "12,345.6",
    "2023年5月3日",
    "May 3, 2023",
    "3:30 p.m.",
]
PHRASES += [
    "+49 30 1234567",
    "五千万",
    "$5 million",
    "Ã¶",
    "&amp;",
    "the the",
    "[PERSON1]",
    "十二",
    "वर्ष",
    "1" * 40,
]
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=ALPHABETS + ODD, max_size=80),
    st.lists(
        st.one_of(st.sampled_from(PHRASES), st.text(alphabet=ALPHABETS + ODD, max_size=8)), max_size=12
    ).map(" ".join),
    st.text(alphabet="ab ", min_size=20, max_size=200),
)


@given(source=TEXTS, translation=TEXTS, lp=st.sampled_from(LPS))
def test_every_finding_stands_in_its_text_word_for_word(source: str, translation: str, lp: str) -> None:
    findings = find_errors(source, translation, lp)
    for finding in findings:
        span, rule = finding.span, RULES[finding.rule]
        text = source if span.side == "source" else translation
        assert span.start is not None
        assert span.end is not None
        assert 0 <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        assert (span.severity, span.category) == (rule.severity, rule.category)
        assert finding.precision == rule.precision
        assert span.match == "exact"
        assert span.note
    assert findings == find_errors(source, translation, lp)
    places = [(f.span.side == "source", f.span.start, f.span.end) for f in findings]
    assert places == sorted(places)
    assert len(set(zip(places, (f.span.severity for f in findings), strict=True))) == len(places)


@given(text=TEXTS, lp=st.sampled_from(LPS))
def test_an_empty_side_is_one_error_or_none(text: str, lp: str) -> None:
    assert {f.rule for f in find_errors(text, "", lp)} <= {"empty-translation"}
    assert all(f.span.side == "translation" for f in find_errors("", text, lp))
    assert not {f.rule for f in find_errors(text, "", lp)} & {f.rule for f in find_errors("", text, lp)}


CLEAN = [
    ("en-de", "The old house by the river was sold in 1998.", "Das alte Haus am Fluss wurde 1998 verkauft."),
    ("en-fr", "She said: “Where are you going?”", "Elle a dit : « Où vas-tu ? »"),
    ("en-ru", "Mr. Ivanov paid $45,000 on May 3.", "Господин Иванов заплатил 45 000 долларов 3 мая."),
    ("zh-en", "他在2019年5月买了三本书。", "He bought three books in May 2019."),
    ("en-zh", "The meeting is on Friday at 3 p.m.", "会议在星期五下午3点举行。"),
    ("en-ja", "It has 12,000 seats (all of them new).", "座席は1万2000席あります（すべて新しいものです）。"),
    ("en-ko", "He lives in Seoul.", "그는 서울에 산다."),
    ("en-ar", "Is the weather good today?", "هل الطقس جيد اليوم؟"),
    ("en-he", "The book was written in 1987.", "הספר נכתב בשנת 1987."),
    ("en-hi", "It will rain on 12 March 2021.", "12 मार्च 2021 को बारिश होगी।"),
    ("en-th", "The weather is good today.", "วันนี้อากาศดีครับ"),
    ("de-en", "Er kam um 15:30 Uhr an.", "He arrived at 3:30 p.m."),
    ("en-es", "How much is it? 5 euros!", "¿Cuánto cuesta? ¡5 euros!"),
    ("en-pl", "He said “yes” twice.", "Powiedział „tak” dwa razy."),
]


@pytest.mark.parametrize(("lp", "source", "translation"), CLEAN)
def test_nothing_is_found_in_a_good_translation(lp: str, source: str, translation: str) -> None:
    assert [(f.rule, f.span.text) for f in find_errors(source, translation, lp)] == []


@pytest.mark.parametrize(("lp", "source", "translation"), CLEAN)
def test_a_text_beside_itself_is_clean_within_a_language_and_a_copy_across(
    lp: str, source: str, translation: str
) -> None:
    target = lp.split("-")[1]
    assert find_errors(translation, translation, f"{target}-{target}") == []
    if source.count(" ") >= 4 or lp == "zh-en":
        assert [f.rule for f in find_errors(source, source, lp)] == ["source-copied"]


def test_a_rule_says_what_a_score_and_a_reader_need() -> None:
    for name, rule in RULES.items():
        assert rule.name == name
        assert rule.category in CATEGORIES, name
        assert rule.severity in SEVERITIES, name
        assert 0 < rule.precision < 1, name
        assert math.isfinite(find_weights("mqm-google").points(rule.severity, rule.category)), name
        assert rule.what, name
        assert rule.seen == 0 or rule.seen >= 10, f"{name}: a precision over fewer findings is no measurement"


def test_a_clean_verdict_has_a_precision_too() -> None:
    assert 0 < CLEAN_PRECISION < 1


def test_a_translation_that_is_none_has_one_error() -> None:
    source = "The weather (12 degrees) will be good tomorrow, he said."
    assert [f.rule for f in find_errors(source, source, "en-de")] == ["source-copied"]


def test_an_error_within_an_error_is_counted_once() -> None:
    source = (
        "He met him. He was born in 1987, when the winter was long and cold and the snow lay high in all the "
    )
    source += "streets of the town. Then he left."
    translation = "Er traf ihn. Dann ging er."
    found = {f.rule for f in find_errors(source, translation, "en-de")}
    assert "sentence-lost" in found
    assert not found & {"number-lost", "too-short"}


def test_no_rule_speaks_without_end() -> None:
    findings = find_errors("x", "( " * 5000, "en-de")
    assert sum(f.rule == "unpaired-bracket" for f in findings) == 100


def test_language_pairs_come_in_any_spelling_and_must_be_pairs() -> None:
    found = find_errors("It has 345 pages.", "Es hat 354 Seiten.", "English-German")
    assert [f.rule for f in found] == ["number-changed"]
    assert found == find_errors("It has 345 pages.", "Es hat 354 Seiten.", "en_US-de_AT")
    with pytest.raises(UsageError, match="two languages"):
        find_errors("a", "b", "german")


def test_a_long_text_takes_no_more_than_its_length_in_time() -> None:
    for text in (
        "a" * 20_000,
        "a " * 10_000,
        "( " * 10_000,
        "1,1 " * 5_000,
        "一二三万" * 5_000,
        "aа" * 10_000,
    ):
        started = time.process_time()
        find_errors(text, text[1:], "en-zh")
        assert time.process_time() - started < 5, f"{text[:4]!r} repeated"


@pytest.mark.realdata
@pytest.mark.parametrize(("lp", "major"), [("en-de", 0.04), ("zh-en", 0.06)])
def test_references_raise_few_false_alarms(adjudge_data: Path, lp: str, major: float) -> None:
    """Of the references of WMT23; those of zh-en are often too short, which people marked too."""

    def lines(path: str) -> list[str]:
        return (adjudge_data / "wmt23" / path).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    pairs = list(zip(lines(f"sources/{lp}.txt"), lines(f"references/{lp}.refA.txt"), strict=True))
    found = [find_errors(source, reference, lp) for source, reference in pairs]
    bad = sum(any(f.span.severity != "minor" for f in findings) for findings in found)
    assert bad / len(pairs) < major
    assert sum(map(bool, found)) / len(pairs) < 0.12


def test_the_documentation_has_every_rule_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    right = {r.name: f"{r.precision:.2f}" + (f" ({r.seen})" if r.seen else "") for r in RULES.values()}
    expected = [
        f"| `{r.name}` | {r.severity} | {r.category} | {right[r.name]} | {r.what} |" for r in RULES.values()
    ]
    assert rows == expected
