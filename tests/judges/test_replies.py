"""From a reply to its words, and from its words to JSON."""

import json
import math
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError
from adjudge.judges._answers import read_headings, render_headings
from adjudge.judges._json import Reading, read_object
from adjudge.judges._replies import echoes, is_refusal, read_text

TWO = ("major", "minor")


def read(text: str, *, repair: bool = True, judged: tuple[str, ...] = ()) -> Reading:
    return read_object(Reply(text=text), judged=judged, keys=("a",), trust=lambda _: "around", repair=repair)


def value_of(
    text: str, *, repair: bool = True, judged: tuple[str, ...] = ()
) -> tuple[object, tuple[str, ...]]:
    reading = read(text, repair=repair, judged=judged)
    return reading.value, reading.flags


def read_headings_of(reply: Reply) -> object:
    return read_headings(read_text(reply), TWO)


def reason_of(text: str, *, repair: bool = True, judged: tuple[str, ...] = ()) -> str:
    with pytest.raises(AnswerError) as error:
        read(text, repair=repair, judged=judged)
    return error.value.reason


# Words...


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" 87\n", "87"),
        ("<think>maybe 3</think>87", "87"),
        ("<think>maybe 3</think>\n\n87", "87"),
        ("<think></think>87", "87"),
        ("<think>\nNo.\n</think>\n<think>Yes.</think>\n87", "87"),
        ("<Thinking mode='deep'>x</Thinking>87", "87"),
        ("<seed:think>x</seed:think>87", "87"),
        ("◁think▷x◁/think▷87", "87"),
        ("[THINK]x[/THINK]87", "87"),
        ("so it is 3</think>87", "87"),
        ("a</think>b</think>87", "87"),
        ("<think>a <think>b</think> 3</think>87", "87"),
        ("<think>the text says </think>100, but</think>87", "87"),
        ('{"span": "<think>x</think>"}', '{"span": "<think>x</think>"}'),
        ("a < b", "a < b"),
    ],
)
def test_thinking_is_taken_off_and_never_read(text: str, words: str) -> None:
    assert read_text(Reply(text=text)) == words


def test_thinking_that_the_server_reports_apart_is_not_read() -> None:
    assert read_text(Reply(text="87", reasoning="3")) == "87"


@pytest.mark.parametrize(
    "prose",
    [
        "The translation is correct.",
        "I cannot find any errors.",
        "I can't see any problem with it.",
        "I could not detect a mistranslation.",
        "Ich kann keine Fehler feststellen.",
        "No puede ser mejor.",
        'The words "Es tut mir leid" are a good translation of "I\'m sorry, I can\'t help".',
        "„Ich kann das nicht“ ist richtig übersetzt.",
        "",
        "x" * 10_000 + " I'm sorry, I can't help.",
    ],
)
def test_praise_and_reports_are_no_refusals(prose: str) -> None:
    assert not is_refusal(prose)


# One object...


@pytest.mark.parametrize(
    ("text", "value", "flags"),
    [
        ('{"a": 1}', {"a": 1}, ()),
        ('\n {"a": [1, {"b": null}]} \n', {"a": [1, {"b": None}]}, ()),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}, ()),
        ('```json\n{"a": 1}\n```', {"a": 1}, ("extracted",)),
        ('```\n{"a": 1}\n```\n', {"a": 1}, ("extracted",)),
        ('Here it is: {"a": 1}', {"a": 1}, ("extracted",)),
        ('It is this. {"a": 1} That is all.', {"a": 1}, ("extracted",)),
        ('\ufeff{"a": 1}', {"a": 1}, ("extracted",)),
        ('{"a": "{b}"}', {"a": "{b}"}, ()),
        ('Note this. {"a": "} {"}', {"a": "} {"}, ("extracted",)),
        ('Result: {"A": 1, "b": 2}', {"a": 1}, ("extracted", "normalised")),
        ('{"a": 1, "b": [2]}', {"a": 1}, ("normalised",)),
        ('"{\\"a\\": 1}"', {"a": 1}, ("extracted",)),
        ('[{"a": 1}]', {"a": 1}, ("normalised",)),
        ('{"a": 1}\n{"a": 1}', {"a": 1}, ("extracted",)),
        ('{"a": 1, "a": 1}', {"a": 1}, ()),
        ('{"a": "x",}', {"a": "x"}, ("repaired",)),
        ("{'a': 'x'}", {"a": "x"}, ("repaired",)),
        ('{a: "x"}', {"a": "x"}, ("repaired",)),
        ("{“a”: “x”}", {"a": "x"}, ("repaired",)),
        ('{"a": "x" "b": "y"}', {"a": "x"}, ("repaired", "normalised")),
        ('{"a": "say "x" now"}', {"a": 'say "x" now'}, ("repaired",)),
        ('{"a": "x\ny"}', {"a": "x\ny"}, ("normalised",)),
        ('So: {"a": "x",}', {"a": "x"}, ("extracted", "repaired")),
    ],
)
def test_the_one_object_is_read_and_the_rung_is_told(
    text: str, value: object, flags: tuple[str, ...]
) -> None:
    assert value_of(text) == (value, flags)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 8 7}',
        '{"a" []}',
        '{"a": 1, /* b */ "c": 2}',
        '{"a": "x", ...}',
        '{"a": "x" "a": "y"}',
        '{"a": −5}',
        '{"a": 5%}',
        '{"a": .5}',
        '{"a": 05}',
    ],
)
def test_mending_may_move_punctuation_and_nothing_else(text: str) -> None:
    assert reason_of(text) == "parse"


@pytest.mark.parametrize("text", ['{"a": 8 7}', '{"a": 87', "{a: 87}", '{"a": 87 "b": 1}', "{'a': 87"])
def test_numbers_are_not_mended_beyond_commas_and_quotation_marks(text: str) -> None:
    assert reason_of(text, repair=False) in {"parse", "truncated"}


@pytest.mark.parametrize(
    "text", ['{"a": 1e999}', '{"a": NaN}', '{"a": -Infinity}', '{"a": ' + "9" * 5000 + "}"]
)
def test_numbers_that_are_none_come_out_as_not_finite(text: str) -> None:
    value, _ = value_of(text)
    assert isinstance(value, dict)
    assert not math.isfinite(value["a"])


def test_an_answer_that_equals_a_verdict_in_the_text_is_flagged_and_used() -> None:
    assert value_of('{"a": 1}', judged=('Er sagte {"a": 1}.',)) == ({"a": 1}, ("verdict_in_text",))


@pytest.mark.parametrize(
    ("answer", "text", "copied"),
    [
        ("100", "100", True),
        ("100", "Sehr gut.\n 100 \nDanke.", True),
        ("100", "Es kostet 100 Euro.", False),
        ("0, 0", "x\n0,  0", True),
        ("1, 2", "Kapitel 1, 2 und 3", False),
        ("Major: 0\nMinor: 0", "gut Major: 0 Minor: 0 gut", True),
        ("Major: 0\nMinor: 0", "gut", False),
    ],
)
def test_bare_numbers_are_copied_only_from_a_line_of_their_own(answer: str, text: str, copied: bool) -> None:
    assert echoes(answer, ("other", text)) == copied


def test_an_object_quoted_from_the_text_is_no_answer() -> None:
    assert reason_of('It says { "a": 1 } there', judged=('Er sagte {\n"a": 1 }.',)) == "ambiguous"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{" * 200_000,
        '{"a":' * 100_000,
        "[1, " * 60 + "x " * 100_000,
        '{"a": "' * 60 + "x " * 100_000,
        '{"a": [' + '{"b": "c" ' * 60,
        "<think>" * 50_000,
        "</think>" * 50_000,
        "9" * 500_000,
        "9" * 500_000 + "x",
        " " * 500_000,
        '"' * 200_000,
        "I can " * 100_000,
        'a - "' * 100_000,
        "<?xml " * 100_000,
        "\n" * 20_000,
        "\n" * 20_000 + '{"a": 1}' + "\n" * 20_000 + "x",
        "Major:" + "\n" * 20_000 + "Minor:" + "\n" * 20_000,
        "Answer: " * 20_000 + '{"a": 1}',
        "```" * 50_000,
        "' " * 50_000,
        "{" + "'a': 1, " * 20_000 + "}",
    ],
    ids=lambda text: ascii(text[:12] + text[-2:]),
)
def test_a_monstrous_reply_is_settled_in_time(text: str) -> None:
    began = time.process_time()
    for read_ in (lambda reply: read(reply.text), read_headings_of):
        with suppress(AnswerError):
            read_(Reply(text=text))
    assert time.process_time() - began < 30  # a reader that looks back at every character takes hours


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text("abc"), json_values, max_size=3))
def test_every_json_object_is_read_as_it_is_or_holds_a_nul(value: dict[str, object]) -> None:
    text = json.dumps({"a": value})
    if "\\u0000" in text:
        with pytest.raises(AnswerError):
            value_of(text)
    else:
        assert value_of(text)[0] == {"a": value}


@given(st.text())
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    for repair in (True, False):
        with suppress(AnswerError):
            read(text, repair=repair)


# Headings...


@pytest.mark.parametrize(
    "text",
    [
        'Major:\nstyle/awkward - "x"\nMinor:\nno-error',
        'major:\n\nStyle/Awkward - "x"  \n\nMINOR:\nNo-Error\n',
        "Major:\r\nstyle/awkward - “x”\r\nMinor:\r\nno-error\r\n",
        'Major:\nstyle/awkward – "x"\nMinor:\nno-error',
    ],
)
def test_headings_are_read(text: str) -> None:
    ((span, category, severity, side, note, _, _),) = read_headings(text, TWO).listed
    assert (span, category.lower(), severity, side, note) == ("x", "style/awkward", "major", None, "")


def test_a_quotation_with_quotation_marks_is_read_whole() -> None:
    said = 'he said "no" - "ever"'
    text = f'Major:\nno-error\nMinor:\nstyle/awkward - "{said}"'
    (error,) = read_headings(text, TWO, lambda quote: quote == said).listed
    assert error.span == said


def test_a_non_translation_needs_no_quotation() -> None:
    (error,) = read_headings("Major:\nnon-translation\nMinor:\nno-error", TWO).listed
    assert (error.span, error.category) == ("", "non-translation")


error_rows = st.builds(
    lambda span, category, severity: {"span": span, "category": category, "severity": severity},
    st.text("ab \"'-–:“” no-error", min_size=1, max_size=12).map(str.strip).filter(bool),
    st.sampled_from(["style/awkward", "fluency/spelling", "other"]),
    st.sampled_from(TWO),
)


@given(st.lists(error_rows, max_size=4))
def test_what_is_written_under_headings_is_read_back(rows: list[dict[str, str]]) -> None:
    quotes = {" ".join(row["span"].split()) for row in rows}
    listed = read_headings(render_headings(rows, TWO), TWO, quotes.__contains__).listed
    came = sorted((error.span, error.category, error.severity) for error in listed)
    assert came == sorted((" ".join(row["span"].split()), row["category"], row["severity"]) for row in rows)
