"""The grammar of replies: what is read, and what is not."""

import json
import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Reply, WordsBesideError
from adjudge.core.protocol import Severity
from adjudge.errors import AnswerError
from adjudge.judges._answers import Listed, read_headings, render_headings
from adjudge.judges._reading import Reading, read_integer

TWO: tuple[Severity, ...] = ("major", "minor")


def value_of(
    text: str, *, judged: tuple[str, ...] = (), is_clean: bool = False
) -> tuple[object, tuple[str, ...]]:
    reading = Reading(Reply(text=text), judged)
    return reading.answer("a"), reading.settle(is_clean=is_clean)


def headed(text: str, *quotes: str) -> list[Listed]:
    reading = Reading(Reply(text=text))
    listed = read_headings(reading.plain(), TWO, reading, lambda quote: quote in quotes)
    reading.settle()
    return listed


def reason_of(text: str, *, is_clean: bool = False) -> str:
    with pytest.raises(AnswerError) as error:
        value_of(text, is_clean=is_clean)
    return error.value.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" 87\n", "87"),
        ("<think>maybe 3</think>\n\n87", "87"),
        ("<Thinking mode='deep'>x</Thinking>87", "87"),
        ("<seed:think>x</seed:think>87", "87"),
        ("◁think▷x◁/think▷87", "87"),
        ("[THINK]x[/THINK]87", "87"),
        ("so it is 3</think>87", "87"),
        ('{"span": "<think>x</think>"}', '{"span": "<think>x</think>"}'),
        ("a < b", "a < b"),
    ],
)
def test_thinking_is_taken_off_and_never_read(text: str, words: str) -> None:
    assert Reading(Reply(text=text)).text == words


def test_thinking_that_the_server_reports_apart_is_not_read() -> None:
    assert Reading(Reply(text="87", reasoning="3")).text == "87"


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nNo.\n</think>\n<think>Yes.</think>\n{}",
        "<think>a <think>b</think> 3</think>{}",
        "<think>the text says </think>{}, but</think>{}",
        "a</think>b</think>{}",
        "So <think>b</think>{}",
        "<think>b {}",
    ],
)
def test_thinking_is_one_closed_block_before_everything(text: str) -> None:
    assert reason_of(text.replace("{}", '{"a": 1}')) in {"parse", "words", "ambiguous", "no_answer"}


@pytest.mark.parametrize(
    ("text", "value", "flags"),
    [
        ('{"a": 1}', {"a": 1}, ()),
        ('\n {"a": [1, {"b": null}]} \n', {"a": [1, {"b": None}]}, ()),
        ('{"a": 2}, no: 1</think>{"a": 1}'[10:], {"a": 1}, ("extracted",)),
        ('<|channel|>analysis<|message|>2?<|end|>{"a": 1}', {"a": 1}, ("extracted",)),
        ('```json\n{"a": 1}\n```', {"a": 1}, ("extracted",)),
        ('\ufeff{"a": 1}', {"a": 1}, ()),
        ('Answer: {"a": "} {"}', {"a": "} {"}, ("extracted",)),
        ('Result: {"A": 1, "error": ""}', {"a": 1}, ("extracted", "normalised")),
        ('{"a": 1, "note": null, "confidence": 0.7}', {"a": 1}, ("normalised",)),
        ('[{"a": 1}]', {"a": 1}, ("normalised",)),
        ('{"a": 1}\n{"a": 1}', {"a": 1}, ("extracted",)),
        ('{"a": 1, "a": 1}', {"a": 1}, ()),
        ('{a: "x"}', {"a": "x"}, ("repaired",)),
        ('{"a": "x" "note": ""}', {"a": "x"}, ("repaired", "normalised")),
        ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}, ("repaired",)),
        ('{"a": "C:\\path \\\' x"}', {"a": "C:\\path ' x"}, ("repaired",)),
        ('{"a": "\\ud83d\\ude00\\u00e4"}', {"a": "😀ä"}, ()),
        ("{'a': 'it's, it isn't'}", {"a": "it's, it isn't"}, ("repaired",)),
        ('### Answer\n\n```json\n{"a": 1}\n```', {"a": 1}, ("extracted",)),
        ('Sure! Here is the JSON: {"a": 1}', {"a": 1}, ("extracted",)),
        ('<|im_start|>assistant\n{"a": 1}<|im_end|>\n</s>', {"a": 1}, ("extracted",)),
        ('{"a": "say "x" now"}', {"a": 'say "x" now'}, ("repaired",)),
        ('{"a": "x\ny"}', {"a": "x\ny"}, ("normalised",)),
        ('So: {"a": "x",}', {"a": "x"}, ("extracted", "repaired")),
    ],
)
def test_one_object_is_read_and_the_rung_is_told(text: str, value: object, flags: tuple[str, ...]) -> None:
    assert value_of(text) == (value, flags)


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 8 7}', '{"a": "x", ...}', '{"a": −5}', '{"a": .5}', '{"a": 05}', '{"a": +5}'),
        *('{"a": 1e}', '{"a": NaN}', '{"a": -Infinity}', '{"a": undefined}', '{"a": x}', '{"a": 1;}'),
        *('{"a": [1,,2]}', '{,"a": 1}', '{"a": "x", dann", "b": 1}', '{"a": ٨}', '{"a": (1)}'),
    ],
)
def test_mending_may_move_punctuation_and_nothing_else(text: str) -> None:
    assert reason_of(text) == "parse"


@pytest.mark.parametrize(
    "text", ['{"a": 1', '{"a": [1]', '{"a": "x', '{"a"', "{", '{"a": [{"b": 1}', '{"a": 1, // and', "[{"]
)
def test_no_bracket_is_ever_invented(text: str) -> None:
    assert reason_of(text) == "truncated"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "ambiguous"),
        ('{"a": 1, "A": 2}', "ambiguous"),
        ('{"a": 1} {"a": 2}', "ambiguous"),
        ('{"a": 1}}', "ambiguous"),
        ('[x] {"a": 1}', "parse"),
        ('{"a": 1, "b": [2]}', "schema"),
        ('{"a": 1, "not judged": ""}', "schema"),
        ('{"a": 1, "note": ["x"]}', "schema"),
        ('{"a": 1, "confidence": 0}', "schema"),
        ('{"b": 1}', "schema"),
        ('{"\\u0061": 1}', "schema"),
        ('{"a": "\\ud800"}', "encoding"),
        ('{"a": "\\u0000"}', "encoding"),
        ("no", "parse"),
    ],
)
def test_what_is_not_one_value_of_the_shape_is_not_read(text: str, reason: str) -> None:
    assert reason_of(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        *('It is this: {"a": 1}', '{"a": 1}.', '{"a": 1} / 100', '// {"a": 1}', '<draft>{"a": 1}</draft>'),
        *('{"a": 1, "note": "x"}', '{"a": 1, "Reason": "x"}', '{"a": 1 /* not sure */}'),
        *('{"a": 1} // not sure', '{\n# a guess\n"a": 1}', 'User: {"a": 1}', '{"a": 1}\n\n请忽略'),
        *('{"a": 1}</think>', 'maybe 2<|end|>{"a": 1}', '<|end|>{"a": 1}'),
        '<think>x</think>no<|end|>{"a": 1}',
    ],
)
@pytest.mark.parametrize("is_clean", [False, True])
def test_any_word_beside_the_value_is_neither_read_nor_overlooked(text: str, is_clean: bool) -> None:
    with pytest.raises(WordsBesideError) as error:
        value_of(text, is_clean=is_clean)
    assert error.value.has_words
    assert error.value.is_clean == is_clean


@pytest.mark.parametrize("text", ['{"a": 1,}', "{'a': 1}", "{a: 1}"])
def test_an_answer_that_all_is_well_is_never_mended(text: str) -> None:
    value_of(text)
    assert reason_of(text, is_clean=True) == "parse"


@pytest.mark.parametrize("text", ['[{"a": 1}]', '{"a": 1}\n{"a": 1}', '"{\\"a\\": 1}"'])
def test_an_answer_that_all_is_well_may_be_wrapped_or_given_twice(text: str) -> None:
    """As any other answer: failures that depend on the verdict would make the mean of the rest wrong."""
    assert value_of(text, is_clean=True) == value_of(text)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *((1, 1), (0, 0), ("1", 1), ("1/100", 1), ("1 %", 1), (2.0, 2), ("10.", 10), (-25.0, None)),
        *((1.0, None), (0.0, None), ("1.0", None), ("1.", None), ("0.00", None), ("1.0 %", None)),
        *((87, 87), (87.0, 87), ("87", 87), (" 87 ", 87), ("87.", 87), ("87 %", 87), ("87%", 87), ("0", 0)),
        *(("87/100", 87), ("87 / 100", 87), ("87 out of 100", 87), ("100", 100), ("87.00", 87)),
        *((87.5, None), ("87.5", None), ("8/10", None), ("87/1000", None), ("1e1", None), ("-0", None)),
        *((True, None), (None, None), ([87], None), ("٨٧", None), ("087", None), (-1, None), (101, None)),
        *(("87 points", None), ("eighty", None), ("", None), ("9" * 5000, None), ("+87", None)),
    ],
    ids=lambda value: ascii(value)[:12],
)
def test_an_integer_is_read_with_its_scale_or_not_at_all(value: object, number: int | None) -> None:
    if number is None:
        with pytest.raises(AnswerError, match="range"):
            read_integer(value, 0, 100, "the rating")
    else:
        assert read_integer(value, 0, 100, "the rating") == number


@pytest.mark.parametrize("unit", ["87%", "87 %", "87.", "87/100", "87.0"])
def test_a_number_with_a_unit_is_a_value_too(unit: str) -> None:
    value, _ = value_of(f'{{"a": {unit}}}')
    assert isinstance(value, dict)
    assert read_integer(value["a"], 0, 100, "a") == 87


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
    reading = Reading(Reply(text=answer), ("other", text))
    assert reading.plain() == answer
    assert ("verdict_in_text" in reading.settle()) == copied


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        '{"a": [' + '{"b": "c" ' * 60,
        " " * 500_000,
        'a - "' * 100_000,
        "\n" * 20_000 + '{"a": 1}' + "\n" * 20_000 + "x",
        "Major:" + "\n" * 20_000 + "Minor:" + "\n" * 20_000,
        "Answer: " * 20_000 + '{"a": 1}',
        "{" + "'a': 1, " * 20_000 + "}",
    ],
    ids=lambda text: ascii(text[:12] + text[-2:]),
)
def test_a_monstrous_reply_is_settled_in_time(text: str) -> None:
    began = time.process_time()
    for read in (value_of, headed):
        with suppress(AnswerError):
            read(text)
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
    if "\\u0000" in text or re.search(r'\\\\[^"]*": ', text):
        with pytest.raises(AnswerError):
            value_of(text)
    else:
        assert value_of(text)[0] == {"a": value}


@given(st.text())
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    for read in (value_of, headed):
        with suppress(AnswerError):
            read(text)


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
    (error,) = headed(text)
    assert error._replace(category=error.category.lower()) == Listed(
        "x", "style/awkward", "major", is_headed=True
    )


def test_a_non_translation_needs_no_quotation() -> None:
    (error,) = headed("Major:\nnon-translation\nMinor:\nno-error")
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
    listed = headed(render_headings(rows, TWO), *quotes)
    came = sorted((error.span, error.category, error.severity) for error in listed)
    assert came == sorted((" ".join(row["span"].split()), row["category"], row["severity"]) for row in rows)
