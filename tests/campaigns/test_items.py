"""What a person may say of an item, what is refused and why, and what is still to do."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.campaigns.items import Asked, faults, first_state, lacks, read_state, shown_order, text_hash
from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.errors import DataError

SOURCE = "Der Hund 🐕 schläft."
TEXT = "The dog 👨‍👩‍👧 sleeps."


def asked(name: str = "esa", *texts: str, **given: Any) -> Asked:
    return Asked(protocol=find_campaign_protocol(name), source=SOURCE, texts=texts or (TEXT,), **given)


def half_steps() -> Asked:
    what = asked("sqm")
    assert what.protocol.scale is not None
    return replace(what, protocol=replace(what.protocol, scale=replace(what.protocol.scale, step=0.5)))


def mark(start: int, end: int, text: str | None = None, **fields: Any) -> dict[str, Any]:
    shown = SOURCE if fields.get("side") == "source" else TEXT
    said = shown[start:end] if text is None else text
    return {"id": "c1", "start": start, "end": end, "text": said, "severity": "minor", **fields}


def one(**part: Any) -> dict[str, Any]:
    return {"translations": [part]}


RATING, EMPTY = "a rating is missing", "the reference is empty"
GIVEN = [[{"start": 0, "end": 3, "text": "The", "severity": "minor", "category": "fluency/grammar"}]]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_said_yet_has_no_faults_and_is_not_finished(name: str) -> None:
    texts = (TEXT, "A dog.") if find_campaign_protocol(name).shows != "one" else (TEXT,)
    what = asked(name, *texts)
    assert faults(first_state(what), what) == []
    assert lacks(first_state(what), what, is_declared=False)


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        (asked(), one(rating=0, spans=[mark(4, 7)])),
        (asked(), one(rating=100.0, spans=[mark(4, 7), mark(5, 9, id="c2", severity="major")])),
        (asked(), one(missing={"severity": "major"})),
        (asked(), one(spans=[mark(8, 13)])),
        (asked(instruction="Be brief."), one(instruction_fault="major")),
        (half_steps(), one(rating=2.5)),
        (asked("mqm"), one(spans=[mark(0, 3, category="fluency/grammar", severity="critical")])),
        (asked("mqm"), one(spans=[mark(0, 3, side="source", category="accuracy/omission")])),
        (asked("mqm"), one(spans=[mark(0, 3)])),
        (asked("mqm"), {**one(), "is_non_translation": [True]}),
        (asked("esa-ai", given=GIVEN), one(spans=[mark(0, 7, given=0, category="fluency/grammar")])),
        (asked("esa-ai", given=GIVEN), one(removed=[0])),
        (asked("pairwise", TEXT, "x"), {"translations": [{}, {}], "verdicts": {"fluency": "E"}}),
        (asked("post-edit", TEXT, "x"), {"translations": [{}, {}], "chosen": 1, "edited": "A dog."}),
    ],
)
def test_what_a_person_can_say_is_accepted(what: Asked, fields: dict[str, Any]) -> None:
    assert faults(read_state(fields), what) == []


@pytest.mark.parametrize(
    ("what", "fields", "why"),
    [
        (asked(), {"translations": []}, "the state has 0 translations, and 1 are shown"),
        (asked(), one(spans=[mark(4, 7, "dig")]), "from 4 to 7 the text reads 'dog', the mark says 'dig'"),
        (asked(), one(spans=[mark(4, 99, "dog")]), "does not lie in a text of 21 characters"),
        (asked(), one(spans=[mark(4, 4)]), "a mark from 4 to 4 does not lie"),
        (asked(), one(spans=[mark(0, 3, severity="critical")]), "one of minor, major; got critical"),
        (asked(), one(spans=[mark(0, 3, side="source")]), "esa marks nothing in the source"),
        (asked(), one(spans=[mark(0, 3, category="fluency/grammar")]), "no category 'fluency/grammar' here"),
        (asked(), one(spans=[mark(0, 3), mark(0, 3)]), "two marks have the same id"),
        (asked(), one(spans=[mark(0, 1, id=f"c{i}") for i in range(201)]), "200 marks, this one has 201"),
        (asked(), one(rating=101), "a rating lies in 0 to 100, got 101"),
        (asked(), one(rating=50.5), "ratings have steps of 1, got 50.5"),
        (asked("mqm"), one(rating=50), "mqm has no rating, got 50"),
        (asked("da-sqm"), one(spans=[mark(0, 3)]), "da-sqm marks nothing"),
        (asked("da-sqm"), one(missing={"severity": "minor"}), "da-sqm has no mark for what is missing"),
        (asked(), one(instruction_fault="minor"), "no instruction here"),
        (asked("da-sqm", instruction="Be brief."), one(instruction_fault="minor"), "no instruction here"),
        (asked(instruction="Be brief."), one(instruction_fault="critical"), "minor, major; got critical"),
        (asked(), one(removed=[0]), "0 marks were there beforehand"),
        (asked("esa-ai", given=GIVEN), one(spans=[mark(0, 3, given=0)], removed=[0]), "once or removed once"),
        (asked("esa-ai", given=GIVEN), one(removed=[-1]), "1 marks were there beforehand"),
        (asked(), {**one(), "verdicts": {"overall": "A"}}, "esa does not ask for overall"),
        (asked(), {**one(), "chosen": 0}, "in esa no draft is chosen or edited"),
        (asked("post-edit", TEXT), {**one(), "chosen": 1}, "1 drafts are shown, and number 1 was chosen"),
        (asked("post-edit", TEXT), {**one(), "edited": "é" * 50_001}, "may have 100,000 bytes"),
        (asked(), {**one(), "comment": "é" * 10_001}, "20,000 bytes, this one has 20,002"),
        (asked(), {**one(), "is_non_translation": [True]}, "esa does not know non-translations"),
        (asked("mqm"), {**one(), "is_non_translation": [True, False]}, "1 translations are shown, 2 are"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_reason(what: Asked, fields: dict[str, Any], why: str) -> None:
    (found,) = faults(read_state(fields), what)
    assert why in found


@pytest.mark.parametrize(
    ("what", "fields", "is_declared", "todo"),
    [
        (asked(), one(), False, [RATING]),
        (asked(), one(rating=0), False, []),
        (asked("contrastive-esa", TEXT, "x"), {"translations": [{"rating": 1}, {}]}, False, [RATING]),
        (asked("mqm"), one(), False, ["it is not said that all errors are marked"]),
        (asked("mqm"), one(), True, []),
        (asked("mqm"), one(spans=[mark(0, 3)]), True, ["'The' has no category"]),
        (asked("mqm"), one(missing={"severity": "minor"}), True, ["what is missing has no category"]),
        (asked("pairwise", TEXT, "x"), {"translations": [{}, {}], "verdicts": dict.fromkeys(("faithfulness",
            "fluency", "style"), "A")}, False, ["overall is not decided"]),
        (asked("post-edit", TEXT), {**one(), "edited": " \n"}, False, ["no draft is chosen", EMPTY]),
        (asked("post-edit", TEXT), {**one(), "chosen": 0, "edited": TEXT}, False, []),
    ],
)  # fmt: skip
def test_an_item_is_finished_when_the_protocol_has_all_it_asks_for(
    what: Asked, fields: dict[str, Any], is_declared: bool, todo: list[str]
) -> None:
    assert lacks(read_state(fields), what, is_declared=is_declared) == todo


def test_what_is_no_state_is_refused() -> None:
    parts: list[dict[str, Any]] = [
        *[{"rating": rating} for rating in (float("nan"), float("inf"), "50", True)],
        {"missing": [{"severity": "minor"}, {"severity": "minor"}]},
        {"spans": [mark(0, 3, severity="awful")]},
        {"spans": [mark(0, 3, id="")]},
        {"spans": [{**mark(0, 3), "start": 0.0}]},
        {"spans": [{**mark(0, 3), "text": "\ud800"}]},
    ]
    more: list[dict[str, Any]] = [{"verdicts": {"overall": "C"}}, {"comment": "\udfff"}, {"admin": True}]
    states: list[Any] = [one(**part) for part in parts] + [{"translations": [], **each} for each in more]
    for state in [*states, None, [], "{", "[" * 5000, {}, '{"translations": [{"rating": NaN}]}']:
        with pytest.raises(DataError, match="no state of an item"):
            read_state(state)


def test_spans_marked_beforehand_stand_at_first() -> None:
    what = asked("esa-ai", given=GIVEN)
    (span,) = first_state(what).translations[0].spans
    assert (span.start, span.end, span.text, span.given, span.category) == (0, 3, "The", 0, "fluency/grammar")
    assert faults(first_state(what), what) == []


def test_hashes_are_of_the_texts_shown_and_the_source_comes_first() -> None:
    assert asked("pairwise", TEXT, "x").hashes == [text_hash(SOURCE), text_hash(TEXT), text_hash("x")]
    assert text_hash("") == "e3b0c44298fc1c14"
    assert text_hash("\ud800") != text_hash("")


def test_the_order_of_sides_never_changes() -> None:
    """Golden: a store that is opened in ten years shows what it showed."""
    orders = [shown_order(seed, item, 3) for seed in (0, 1) for item in (1, 2, 3)]
    assert orders == GOLDEN_ORDERS


GOLDEN_ORDERS = [(1, 0, 2), (0, 1, 2), (2, 0, 1), (2, 1, 0), (2, 0, 1), (2, 1, 0)]


def test_each_side_is_first_about_as_often() -> None:
    first = [shown_order(7, item, 2)[0] for item in range(2000)]
    assert 900 < sum(first) < 1100


@given(seed=st.integers(), item=st.integers(), count=st.integers(0, 12))
def test_an_order_has_every_translation_once(seed: int, item: int, count: int) -> None:
    assert sorted(shown_order(seed, item, count)) == list(range(count))


@given(text=st.text(st.characters(codec="utf-8"), min_size=1), data=st.data())
def test_a_mark_of_any_text_counts_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    fields = one(spans=[mark(start, end, text[start:end])])
    assert faults(read_state(fields), asked("esa", text)) == []
    assert faults(read_state(read_state(fields).model_dump_json()), asked("esa", text)) == []
