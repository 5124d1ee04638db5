"""What several judgements agree on."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import ErrorSpan
from adjudge.core.typology import SEVERITIES, Severity
from adjudge.judges._samples import middle, vote

TEXT = "one two three four five six seven eight nine ten"


def at(start: int, end: int, severity: Severity = "major", category: str | None = "other") -> ErrorSpan:
    return ErrorSpan(start=start, end=end, text=TEXT[start:end], severity=severity, category=category)


def nowhere(text: str = "", category: str = "accuracy/omission") -> ErrorSpan:
    return ErrorSpan(
        text=text, severity="minor", category=category, match="unmatched" if text else "unplaced"
    )


def in_source(start: int, end: int) -> ErrorSpan:
    return ErrorSpan(start=start, end=end, severity="major", side="source")


A, B, C = at(0, 3), at(4, 7), at(8, 13)


@pytest.mark.parametrize(
    ("samples", "agreed"),
    [
        ([], []),
        ([[], [], []], []),
        ([[A], [A], []], [A]),
        ([[A], [], []], []),
        ([[A], []], []),  # half is not more than half
        ([[A], [A]], [A]),
        ([[B, A], [A, B], [C]], [A, B]),
        ([[A], [B], [C]], []),
        ([[at(0, 5)], [at(2, 7)], [at(4, 9)]], [at(2, 7)]),  # the one in the middle overlaps both
        ([[at(0, 48)], [A], [A]], [A]),  # the place that fits the others best
        ([[at(0, 48)], [A, B], [A, B]], [A, B]),  # one wide span is one vote, for one error
        ([[at(0, 48)], [A, B], [A]], [A]),
        ([[A, A], [A, A], [A]], [A, A]),  # two errors in one place need two votes each
        ([[A, A], [A], [A]], [A]),
        ([[in_source(0, 3)], [A], []], []),  # the same offsets on the other side are another place
        ([[in_source(0, 3)], [in_source(1, 3)], []], [in_source(0, 3)]),
        ([[nowhere()], [nowhere()], []], [nowhere()]),
        ([[nowhere()], [nowhere(category="non-translation")], []], []),
        ([[nowhere("x  y")], [nowhere("x y", "other")], []], [nowhere("x  y")]),
        ([[nowhere("x")], [nowhere("y")], []], []),
        ([[nowhere(), C], [nowhere(), C], [A]], [C, nowhere()]),
        ([[at(3, 3)], [at(3, 3)], []], [at(3, 3)]),
        ([[at(0, 3)], [at(3, 6)], []], []),  # touching is not overlapping
    ],
)
def test_an_error_counts_when_more_than_half_mark_it(
    samples: Sequence[Sequence[ErrorSpan]], agreed: Sequence[ErrorSpan]
) -> None:
    assert list(vote(samples)) == list(agreed)


@pytest.mark.parametrize(
    ("severities", "agreed"),
    [
        (("minor", "major", "major"), "major"),
        (("minor", "minor", "critical"), "minor"),
        (("minor", "major", "critical"), "major"),
        (("minor", "major"), "minor"),
        (("neutral", "critical", "critical", "minor", "minor"), "minor"),
    ],
)
def test_the_severity_is_the_majority_or_the_middle(
    severities: tuple[Severity, ...], agreed: Severity
) -> None:
    (span,) = vote([[at(0, 3, severity)] for severity in severities])
    assert span.severity == agreed


def test_the_category_is_the_most_frequent_and_its_place_is_kept() -> None:
    style, grammar = "style/awkward", "fluency/grammar"
    samples = [[at(0, 3, category=style)], [at(0, 7, category=grammar)], [at(1, 7, category=grammar)]]
    (span,) = vote(samples)
    assert (span.category, span.start, span.end) == (grammar, 0, 7)


@pytest.mark.parametrize(
    ("numbers", "reached"), [([1], 1), ([1, 3], 1), ([0, 2, 5], 2), ([5, 0, 2], 2), ([1, 2, 3, 4], 2)]
)
def test_the_middle_is_what_more_than_half_reach(numbers: list[int], reached: int) -> None:
    assert middle(numbers) == reached
    assert 2 * sum(number >= reached for number in numbers) > len(numbers)


SPANS = st.builds(
    lambda start, length, severity: at(start, start + length, severity),
    st.integers(0, 20),
    st.integers(1, 6),
    st.sampled_from(SEVERITIES),
)


@given(st.lists(SPANS, max_size=5), st.integers(1, 5))
def test_samples_that_all_say_the_same_agree_on_it(spans: list[ErrorSpan], times: int) -> None:
    places = sorted((s.start, s.end) for s in spans)
    assert sorted((s.start, s.end) for s in vote([spans] * times)) == places


@given(st.lists(st.lists(SPANS, max_size=4), min_size=1, max_size=5))
def test_no_more_errors_are_agreed_on_than_votes_allow(samples: list[list[ErrorSpan]]) -> None:
    agreed = vote(samples)
    assert len(agreed) * len(samples) <= 2 * sum(map(len, samples))
    assert all(any(span.start == s.start for spans in samples for s in spans) for span in agreed)
