"""What identifies a person is found by its form and its check digits, and what only looks like it is not."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import TestSet
from adjudge.curation.questions import Key
from adjudge.curation.sources import PLACE, Difficulty, FilterSettings, find_private, keep_hardest, quotas
from adjudge.errors import UsageError
from tests.curation.conftest import sources

# The hardest sources are kept, of each domain its share, and what failed is never among them.


def rated(test_set: TestSet, scores: list[int | None], **said: bool) -> dict[Key, Difficulty]:
    flags = {"personal": False, "offensive": False} | said
    return {
        Key(segment.lp, segment.segment, PLACE): Difficulty(score=score, reasons="so", **flags)
        for segment, score in zip(test_set, scores, strict=True)
        if score is not None
    }


def kept(scores: list[int | None], domains: str = "", **keeping: object) -> list[str]:
    test_set = sources(*(f"text {n}" for n in range(len(scores))), domains=domains)
    settings: FilterSettings = FilterSettings(**keeping)  # type: ignore[arg-type]
    return [s.segment for s in keep_hardest(test_set, rated(test_set, scores), settings).test_set]


@pytest.mark.parametrize(
    ("scores", "domains", "keeping", "wanted"),
    [
        ([1, 9, 3, 8], "", {"top": 2}, ["2", "4"]),
        ([1, 9, 3, 8], "", {}, ["1", "2", "3", "4"]),
        ([1, None, 3, None], "", {"top": 4}, ["1", "3"]),
        ([1, 9, 3, 8], "", {"share": 0.25}, ["2"]),
        ([1, 9, 3, 8], "", {"top": 4, "least": 3}, ["2", "3", "4"]),
        ([9, 8, 7, 1], "aabb", {"top": 2}, ["1", "3"]),
        ([9, 8, 7, 1], "aabb", {"top": 2, "strata": "none"}, ["1", "2"]),
        ([9, 8, 7, 1], "aaab", {"top": 3, "least": 5}, ["1", "2", "3"]),
    ],
)
def test_the_hardest_are_kept(
    scores: list[int | None], domains: str, keeping: dict[str, object], wanted: list[str]
) -> None:
    assert kept(scores, domains, **keeping) == wanted


def test_which_of_equally_hard_sources_are_kept_is_drawn_and_repeatable() -> None:
    drawn = Counter(name for seed in range(200) for name in kept([5, 5, 5, 5], top=1, seed=seed))
    assert set(drawn) == {"1", "2", "3", "4"}
    assert min(drawn.values()) > 20
    assert kept([5, 5, 5, 5], top=1, seed=7) == kept([5, 5, 5, 5], top=1, seed=7)


def test_personal_and_offensive_sources_are_marked_or_dropped_and_counted() -> None:
    test_set = sources("mail a@b.org", "plain", "rude")
    found = rated(test_set, [5, 5, 5])
    key = Key("en-de", "3", PLACE)
    found[key] = Difficulty(score=9, reasons="so", personal=False, offensive=True)
    marked = keep_hardest(test_set, found, FilterSettings())
    assert [s.meta["difficulty"] for s in marked.test_set] == [
        {"score": 5, "reasons": "so", "personal": True, "private": ["e-mail"]},
        {"score": 5, "reasons": "so"},
        {"score": 9, "reasons": "so", "offensive": True},
    ]
    dropped = keep_hardest(test_set, found, FilterSettings(flagged="drop"))
    assert [s.segment for s in dropped.test_set] == ["2"]
    for result in (marked, dropped):
        (domain,) = result.domains
        assert (domain.sources, domain.personal, domain.offensive) == (3, 1, 1)


def test_failed_sources_are_counted_and_lower_no_mean() -> None:
    test_set = sources("one", "two", "three")
    (domain,) = keep_hardest(test_set, rated(test_set, [8, None, 4]), FilterSettings(top=1)).domains
    assert (domain.rated, domain.failed, domain.kept, domain.mean, domain.easiest) == (2, 1, 1, 6.0, 8)


def test_nothing_left_is_said() -> None:
    with pytest.raises(UsageError, match="no source is kept"):
        kept([None, None], top=1)


@pytest.mark.parametrize("wrong", [{"top": 1, "share": 0.5}, {"top": 0}, {"share": 0.0}, {"share": 1.5}])
def test_bounds_that_contradict_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        FilterSettings(**wrong)  # type: ignore[arg-type]


groups = st.dictionaries(
    st.sampled_from("abcdef"), st.tuples(st.integers(1, 50), st.integers(0, 50)), min_size=1
)


@given(groups, st.integers(0, 200))
def test_quotas_give_what_is_wanted_or_all_there_is(of: dict[str, tuple[int, int]], wanted: int) -> None:
    there = {name: min(size, fit) for name, (size, fit) in of.items()}
    found = quotas({name: size for name, (size, _) in of.items()}, there, wanted)
    assert sum(found.values()) == min(wanted, sum(there.values()))
    assert all(found[name] <= there[name] for name in found)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1), st.data())
def test_quotas_are_proportional_to_less_than_one(sizes: dict[str, int], data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, sum(sizes.values())))
    found = quotas(sizes, sizes, wanted)
    assert all(abs(found[n] - wanted * sizes[n] / sum(sizes.values())) < 1 for n in sizes)


FOUND = [
    ("write to jo.smith+x@mail.example.org today", "e-mail", "jo.smith+x@mail.example.org"),
    ("пишите на иван@почта.рф!", "e-mail", "иван@почта.рф"),
    ("IBAN DE89 3704 0044 0532 0130 00 please", "iban", "DE89 3704 0044 0532 0130 00"),
    ("GB29NWBK60161331926819", "iban", "GB29NWBK60161331926819"),
    ("card 4111 1111 1111 1111 expires", "card", "4111 1111 1111 1111"),
    ("378282246310005", "card", "378282246310005"),
    ("my passport no. C01X00T47.", "id", "C01X00T47"),
    ("SSN: 078-05-1120", "id", "078-05-1120"),
    ("身份证号 11010519491231002X。", "id", "11010519491231002X"),
    ("паспорт номер 45 08 123456", "id", "45 08 123456"),
    ("ring +49 (0)30 1234 5678 now", "phone", "+49 (0)30 1234 5678"),
    ("(555) 010-4477", "phone", "(555) 010-4477"),
    ("我的手机13800138000", "phone", "13800138000"),
    ("Tel. 030 1234567", "phone", "030 1234567"),
]


@pytest.mark.parametrize(("text", "kind", "marked"), FOUND)
def test_an_identity_is_found_where_it_stands(text: str, kind: str, marked: str) -> None:
    (place,) = find_private(text)
    assert (place.kind, text[place.start : place.end]) == (kind, marked)


def test_other_numbers_and_names_are_left_alone() -> None:
    texts = [
        "",
        "@user and #tag",
        "2026-11-22 at 10:45",
        "DE89 3704 0044 0532 0130 01 has wrong check digits",
        "4111 1111 1111 1112 fails Luhn",
        "0000 0000 0000 0000",
        "11010519491231002X1",
        "110105194912310021",
        "1,234,567,890 people",
        "€ 1.250.000,00",
        "the ISBN 978-3-16-148410-0",
        "pages 100-200",
        "a passport for 3 people",
        "version 3.11.4",
    ]
    assert not [text for text in texts if find_private(text)]


@given(st.text(), st.text())
def test_places_are_ordered_and_never_overlap_in_any_text(before: str, after: str) -> None:
    text = f"{before} a@b.org {after}"
    places = find_private(text)
    assert all(0 <= p.start < p.end <= len(text) for p in places)
    assert all(one.end <= two.start for one, two in pairwise(places))
