"""What identifies a person is found by its form and its check digits, and what only looks like it is not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.curation.sources import find_private

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


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_other_numbers_and_names_are_left_alone(text: str) -> None:
    assert find_private(text) == ()


@given(st.text(), st.text())
def test_places_are_ordered_and_never_overlap_in_any_text(before: str, after: str) -> None:
    text = f"{before} a@b.org {after}"
    places = find_private(text)
    assert all(0 <= p.start < p.end <= len(text) for p in places)
    assert all(one.end <= two.start for one, two in pairwise(places))
