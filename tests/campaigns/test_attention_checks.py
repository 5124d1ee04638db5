"""Words in every script: what damaged copies exchange."""

from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.campaigns.attention_checks import Checks, has_spaces, words_of
from adjudge.campaigns.items import Shown
from adjudge.campaigns.settings import CheckKind, find_campaign_protocol
from adjudge.campaigns.tasks import Item, Task, make_tasks
from tests.campaigns.conftest import TEXTS, make_test_set

# Attention checks: copies whose damage is there, is where it is said to be, and is nowhere else.


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LONG = " ".join(f"word{number}" for number in range(30))


def task_of(texts: Iterable[str], lp: str = "en-de", document: str = "d", **more: Any) -> Task:
    items = tuple(
        Item(segment=f"{document}-{number}", source="Source.", translations=(shown_of(text, **more),))
        for number, text in enumerate(texts)
    )
    return Task(kind="original", lp=lp, document=document, systems=("A",), items=items)


def shown_of(text: str, **more: Any) -> Shown:
    shown: Any = {"system": "A", "text": text, "given": None, "original": None, **more}
    return shown  # type: ignore[no-any-return]


def damage(
    tasks: list[Task], kind: CheckKind = "damaged", protocol: str = "esa", seed: int = 0
) -> Task | None:
    """A damaged copy of the first task."""
    return Checks(tasks, find_campaign_protocol(protocol)).damage(tasks[0], kind, Random(seed))


def damaged(tasks: list[Task], *how: Any, **more: Any) -> Task:
    """A copy of what can be damaged."""
    copy = damage(tasks, *how, **more)
    assert copy is not None
    return copy


def pairs(original: Task, copy: Task) -> list[tuple[str, str, Any]]:
    """Text before, text after and what is expected, of each item."""
    before = [shown["text"] for item in original.items for shown in item.translations]
    after = [shown["text"] for item in copy.items for shown in item.translations]
    return list(zip(before, after, (item.check for item in copy.items), strict=True))


@pytest.mark.parametrize("lp", TEXTS)
def test_words_are_exchanged_in_every_script_at_the_place_that_is_said(lp: str) -> None:
    texts, others = ([row[place] for document in TEXTS[lp] for row in document] for place in (1, 2))
    original = task_of(texts, lp)
    for seed in range(20):
        copy = damaged([original, task_of(others, lp, "e")], seed=seed)
        for before, after, expected in pairs(original, copy):
            (span,) = expected["spans"]
            kept = len(after) - span["end"]
            assert before != after
            assert before[: span["start"]] == after[: span["start"]]
            assert before[len(before) - kept :] == after[span["end"] :]


@given(st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=1, max_size=3), st.integers(0, 99))
def test_any_texts_are_damaged_where_it_is_said_or_not_at_all(
    texts: list[str], others: list[str], seed: int
) -> None:
    original = task_of(texts)
    copy = damage([original, task_of(others, document="e")], seed=seed)
    if copy is None:
        return
    assert (copy.kind, copy.document, copy.systems) == ("check", "d", ("A",))
    for (before, after, expected), item in zip(pairs(original, copy), copy.items, strict=True):
        if expected is None:
            assert before == after
            assert item.translations[0]["original"] is None
            continue
        (span,) = expected["spans"]
        kept = len(after) - span["end"]
        assert before != after
        assert before[: span["start"]] + before[len(before) - kept :] == (
            after[: span["start"]] + after[span["end"] :]
        )
        assert item.translations[0]["original"] == before


def test_two_to_six_words_are_exchanged_for_as_many() -> None:
    original = task_of([LONG])
    counts = set()
    for seed in range(60):
        copy = damaged([original, task_of([LONG.replace("word", "other")], document="e")], seed=seed)
        text = copy.items[0].translations[0]["text"]
        foreign = [word for word in text.split() if word.startswith("other")]
        assert len(text.split()) == 30
        assert text.find(" ".join(foreign)) >= 0  # they stand together
        counts.add(len(foreign))
    assert counts == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("text", ["Ja.", "Ja, ja."])
def test_of_shorter_texts_fewer_are(text: str) -> None:
    copy = damaged([task_of([text]), task_of([LONG], document="e")])
    exchanged = copy.items[0].translations[0]["text"].split()
    assert 1 <= len([word for word in exchanged if word.startswith("word")]) <= len(text.split())


def test_words_come_from_another_document_where_there_is_one() -> None:
    tasks = [
        task_of([LONG, LONG.replace("word", "same")]),
        task_of([LONG.replace("word", "other")], document="e"),
    ]
    for seed in range(20):
        copy = damaged(tasks, seed=seed)
        assert not any("other" not in after for _, after, _ in pairs(tasks[0], copy))


def test_segments_without_text_stay_as_they_are_among_damaged_ones() -> None:
    copy = damaged([task_of(["", LONG]), task_of([LONG.replace("word", "other")], document="e")])
    assert [item.check is None for item in copy.items] == [True, False]


def test_what_has_no_words_or_finds_no_others_cannot_be_damaged() -> None:
    for texts in ([""], ["  "], ["", "\n"]):
        assert damage([task_of(texts), task_of([LONG], document="e")]) is None
    assert damage([task_of([LONG])]) is None, "one text offers no other words"
    assert damage([task_of(["Ja."])], "missing") is None, "of a single word nothing can be left out"


# Other kinds...


@pytest.mark.parametrize("lp", TEXTS)
def test_words_can_be_left_out(lp: str) -> None:
    original = make_tasks(make_test_set(lp), "one")[0]
    copy = damaged([original], "missing")
    for before, after, expected in pairs(original, copy):
        words = [words_of(text, spaced=has_spaces(lp)) for text in (before, after)]
        assert 0 < len(words[1]) < len(words[0])
        assert len(words[0]) - len(words[1]) <= 6
        assert expected["missing"] is True


@pytest.mark.parametrize(
    ("protocol", "rating"), [("esa", [0, 100 / 3]), ("da-sqm", [0, 100 / 3]), ("sqm", [0, 4 / 3])]
)
def test_a_translation_of_another_text_deserves_a_low_rating(protocol: str, rating: list[float]) -> None:
    other = LONG.replace("word", "other")
    copy = damaged([task_of([LONG]), task_of([other], document="e")], "score", protocol)
    assert copy.items[0].translations[0]["text"] == other
    assert copy.items[0].check == {"what": "score", "translation": 0, "rating": pytest.approx(rating)}


@pytest.mark.parametrize(
    ("protocol", "expects"),
    [("esa", {"spans"}), ("mqm", {"spans"}), ("da-sqm", set()), ("sqm", set()), ("post-edit", set())],
)
def test_marks_are_expected_only_where_there_are_marks(protocol: str, expects: set[str]) -> None:
    copy = damaged([task_of([LONG]), task_of([LONG.replace("w", "v")], document="e")], protocol=protocol)
    assert set(copy.items[0].check or ()) == {"what", "translation"} | expects


def test_the_damaged_side_of_a_pair_should_lose() -> None:
    tasks = make_tasks(make_test_set("en-de"), "pair")
    wins = set()
    for seed in range(20):
        copy = damaged(tasks, protocol="pairwise", seed=seed)
        for item in copy.items:
            assert item.check is not None
            side = item.check["translation"]
            originals = [shown["original"] is not None for shown in item.translations]
            assert originals == [side == 0, side == 1]
            assert item.check["verdicts"] == {"overall": "AB"[1 - side]}
            wins.add(side)
    assert wins == {0, 1}


# Spans marked beforehand...


def span_of(text: str, word: str) -> dict[str, Any]:
    start = text.index(word)
    fields = {"side": "translation", "severity": "minor", "category": None, "note": ""}
    return {**fields, "start": start, "end": start + len(word), "text": word}


def test_marks_made_beforehand_move_with_their_text_or_go_with_it() -> None:
    words = LONG.split()
    spans = [span_of(LONG, f"{word} ".strip()) for word in words if word not in {"word1", "word2"}]
    original = task_of([LONG], given=spans)
    for seed in range(30):
        copy = damaged([original, task_of([LONG.replace("word", "different")], document="e")], seed=seed)
        shown = copy.items[0].translations[0]
        assert shown["given"]
        for span in shown["given"]:
            assert shown["text"][span["start"] : span["end"]] == span["text"]
        kept = {word for word in shown["text"].split() if word.startswith("word")}
        assert {span["text"] for span in shown["given"]} == kept - {"word1", "word2"}


def test_the_same_seed_damages_alike() -> None:
    tasks = make_tasks(make_test_set("en-de"), "one")
    assert damage(tasks, seed=3) == damage(tasks, seed=3)
    assert len({repr(damage(tasks, seed=seed)) for seed in range(10)}) > 5


@given(st.text(), st.booleans())
def test_words_are_in_order_and_leave_out_nothing_but_spaces(text: str, spaced: bool) -> None:
    words = words_of(text, spaced=spaced)
    assert all(start < end for start, end in words)
    assert all(end <= start for (_, end), (start, _) in pairwise(words))
    assert "".join(text[start:end] for start, end in words) == "".join(text.split())


def test_languages_are_known_to_put_spaces_or_none() -> None:
    spaced = ["en-de", "en-ru", "en-ar", "en-hi", "en-ko", "en-vi", "zh-en"]
    runs = ["en-zh", "en-zh_TW", "en-ja", "en-th", "en-km", "en-lo", "en-my"]
    assert [lp for lp in spaced + runs if has_spaces(lp)] == spaced


def test_words_stand_between_spaces_or_are_short_runs_of_whole_characters() -> None:
    between = {
        "": [],
        "  \n ": [],
        " zwei  Wörter ": ["zwei", "Wörter"],
        "one\u2028two\u00a0three": ["one", "two", "three"],
    }
    runs = {
        "商店早上九点开门": ["商店", "早上", "九点", "开门"],
        "静かな夜。": ["静か", "な夜", "。"],
        "很好 OK": ["很好", "OK"],
        "กำลัง": ["กำลั", "ง"],  # am and mai han-akat stay with their consonant
        "が\u3099き": ["が\u3099き"],
        "👨‍👩‍👧‍👦👍🏽好": ["👨‍👩‍👧‍👦👍🏽", "好"],
        "🇩🇪🇫🇷🇮🇹": ["🇩🇪🇫🇷", "🇮🇹"],
    }
    assert {text: [text[a:b] for a, b in words_of(text)] for text in between} == between
    assert {text: [text[a:b] for a, b in words_of(text, spaced=False)] for text in runs} == runs
