import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import Segment, Subject, TestSet, read_criteria
from adjudge.errors import DataError, UsageError

ODD = "weiß\u2028ja\r\n\u200f שלום 👩‍👩‍👧 \U000e0041"


def segment(name: str, lp: str = "en-de", **translations: str) -> Segment:
    return Segment(segment=name, lp=lp, source="text", translations=translations)


SET = TestSet(
    name="small",
    segments=(
        segment("1", a="x", b="y"),
        segment("2", a="x"),
        segment("1", "zh-en", b="y", c="z"),
    ),
)


def test_a_test_set_knows_its_lps_and_systems_in_order() -> None:
    assert SET.lps == ("en-de", "zh-en")
    assert SET.systems == ("a", "b", "c")
    assert len(SET) == 3


def test_an_id_may_return_in_another_lp_only() -> None:
    with pytest.raises(DataError, match="segment id '1' occurs twice in en-de of 'twice'"):
        TestSet(name="twice", segments=(segment("1"), segment("1")))


def test_selecting_keeps_an_lp_systems_and_the_first_segments() -> None:
    assert [(s.lp, s.segment) for s in SET.select(limit=1)] == [("en-de", "1"), ("zh-en", "1")]
    chosen = SET.select(lp="en-de", systems=["b"], limit=1)
    assert [(s.segment, dict(s.translations)) for s in chosen] == [("1", {"b": "y"})]


def test_a_missing_translation_is_absent_and_not_empty() -> None:
    assert [dict(s.translations) for s in SET.select(systems=["b"])] == [{"b": "y"}, {}, {"b": "y"}]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"lp": "de-en"}, "no lp 'de-en'; it has en-de, zh-en"),
        ({"systems": ["d"]}, "no system 'd'; it has a"),
    ],
)
def test_choosing_what_is_not_there_names_what_is(choice: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SET.select(**choice)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        segment("1", a="x"),
        segment("2", a="y"),
        segment("1", "de-en", a="y"),
        Segment(segment="1", lp="en-de", source="other", translations={"a": "y"}),
        Segment(segment="1", lp="en-de", source="text", translations={"a": "y"}, references={"a": "r"}),
        Segment(segment="1", lp="en-de", source="text", translations={"a": ODD}),
    ],
)
def test_the_digest_changes_with_every_text_and_id(other: Segment) -> None:
    first = TestSet(name="x", segments=(segment("1", a="y"),))
    assert first.digest != TestSet(name="x", segments=(other,)).digest
    assert first.digest == TestSet(name="another name", segments=(segment("1", a="y"),)).digest


def test_texts_cannot_move_between_fields_under_one_digest() -> None:
    one = TestSet(name="x", segments=(Segment(segment="1", lp="en-de", source="ab", document="c"),))
    two = TestSet(name="x", segments=(Segment(segment="1", lp="en-de", source="b", document="ca"),))
    assert one.digest != two.digest


def test_a_subject_gives_the_texts_that_it_is_about() -> None:
    subject = Subject(segment=segment("7", a=ODD), systems=("a",))
    assert (subject.lp, subject.source, subject.translation) == ("en-de", "text", ODD)
    assert subject.key == "en-de/7/a"
    with pytest.raises(ValueError, match="unpack"):
        _ = Subject(segment=segment("7", a="x", b="y"), systems=("a", "b")).system


def test_a_test_set_without_segments_says_so_when_it_is_asked_for_a_language_pair() -> None:
    with pytest.raises(UsageError, match=r"'t' has no lp 'en-de'; it has no segment$"):
        TestSet(name="t", segments=()).select(lp="en-de")


def with_criteria(*criteria: object) -> Segment:
    return replace(segment("1", a="x"), meta={"criteria": list(criteria)})


def test_a_criterion_is_called_by_its_id_or_by_its_place() -> None:
    found = read_criteria(with_criteria("The pun survives.", {"id": "tone", "text": "It is casual."}, ODD))
    assert found == (("1", "The pun survives."), ("tone", "It is casual."), ("3", ODD))
    assert read_criteria(segment("1")) == ()
    assert read_criteria(with_criteria()) == ()


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5))
def test_a_criterion_may_be_any_text(texts: list[str]) -> None:
    assert [criterion.text for criterion in read_criteria(with_criteria(*texts))] == texts


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ("The pun survives.", "must be a list of texts"),
        ({"id": "x", "text": "y"}, "must be a list of texts"),
        (None, "must be a list of texts"),
        ([3], "a criterion is a text, or an object with id and text; got 3"),
        ([{"text": "y"}], "an object with id and text"),
        ([{"id": "x", "text": "y", "weight": 2}], "an object with id and text"),
        ([" \n"], "texts that say something"),
        ([{"id": "", "text": "y"}], "texts that say something"),
        ([{"id": 1, "text": "y"}], "texts that say something"),
        (["x", {"id": "1", "text": "y"}], "id '1' stands twice"),
        ([{"id": "all-pass", "text": "y"}], "id 'all-pass' means all criteria together"),
    ],
)
def test_criteria_that_cannot_be_read_are_refused_with_their_place(criteria: object, message: str) -> None:
    with pytest.raises(DataError, match=f"the criteria of segment '7' of en-de.*{re.escape(message)}"):
        read_criteria(replace(segment("7"), meta={"criteria": criteria}))


def test_a_test_set_with_other_criteria_is_another_one() -> None:
    digests = {
        TestSet(name="x", segments=(each,)).digest
        for each in (segment("1", a="x"), with_criteria("x"), with_criteria("y"))
    }
    assert len(digests) == 3


def test_a_test_set_says_how_much_it_holds_and_prints_no_texts() -> None:
    texts = {f"S{n}": "x" * 1000 for n in range(8)}
    segments = [
        Segment(segment=str(n), lp=lp, source="y" * 1000, translations=texts)
        for lp in ("en-de", "en-fr")
        for n in range(3)
    ]
    assert repr(TestSet(name="news", segments=tuple(segments))) == (
        "<test set 'news': 6 segments, 2 language pairs: en-de, en-fr, 8 systems: S0, S1, S2, S3, S4, ...>"
    )
    assert repr(TestSet(name="", segments=())) == "<test set '': 0 segments, no language pair, no system>"
