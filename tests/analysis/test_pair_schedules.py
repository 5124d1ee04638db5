"""Pairs that are chosen where all are too many."""

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from adjudge.analysis.pair_schedules import ROUND, Pair, Place, Schedule, Standings
from adjudge.core.record import UNDECIDED, Preference, Verdict
from adjudge.errors import UsageError
from tests.analysis.records import preferred as records_preferred

NAMES = ("a", "b", "c", "d", "e")
PLACES = [Place("en-de", str(number), NAMES) for number in range(40)]


def chosen(schedule: Schedule, places: list[Place] = PLACES) -> list[list[Pair]]:
    return list(chain.from_iterable(schedule.rounds(places, Standings())))


def preferred(pair: Pair, verdict: Verdict, segment: str = "0", flags: tuple[str, ...] = ()) -> Preference:
    return replace(records_preferred(*pair, verdict, segment), flags=flags)


@pytest.mark.parametrize(
    ("schedule", "each"),
    [
        (Schedule(), 10),
        (Schedule(kind="sampled", per_segment=3), 3),
        (Schedule(kind="sampled", per_segment=99), 10),
        (Schedule(kind="anchored", anchors=("b",)), 4),
        (Schedule(kind="anchored", anchors=("b", "d")), 7),
        (Schedule(kind="adaptive", per_segment=4), 4),
        (Schedule(kind="adaptive"), 2),
    ],
)
def test_every_segment_has_its_pairs_each_once_and_in_order(schedule: Schedule, each: int) -> None:
    found = chosen(schedule)
    assert len(found) == len(PLACES)
    for pairs, place in zip(found, PLACES, strict=True):
        assert len(pairs) == each
        assert pairs == [pair for pair in place.pairs if pair in pairs]
    assert schedule.count(PLACES) == each * len(PLACES)
    assert chosen(schedule) == found


def test_anchored_pairs_hold_an_anchor() -> None:
    for pairs in chosen(Schedule(kind="anchored", anchors=("c",))):
        assert all("c" in pair for pair in pairs)


def test_a_sample_of_a_segment_does_not_depend_on_the_other_segments() -> None:
    schedule = Schedule(kind="sampled", per_segment=2, seed=3)
    assert chosen(schedule, PLACES[7:9]) == chosen(schedule)[7:9]
    assert chosen(schedule) != chosen(Schedule(kind="sampled", per_segment=2, seed=4))
    assert len({pair for pairs in chosen(schedule) for pair in pairs}) == 10


@pytest.mark.parametrize("wanted", [1, 37, 400, 401])
def test_a_sample_in_all_has_so_many_pairs_if_there_are(wanted: int) -> None:
    schedule = Schedule(kind="sampled", in_all=wanted)
    found = chosen(schedule)
    assert sum(map(len, found)) == schedule.count(PLACES) == min(wanted, 400)


def test_without_verdicts_an_adaptive_schedule_compares_all_pairs_about_equally_often() -> None:
    counts = Counter(chain.from_iterable(chosen(Schedule(kind="adaptive", per_segment=5))[:ROUND]))
    assert set(counts.values()) == {4}
    assert len(counts) == 10


def test_an_adaptive_schedule_turns_to_what_is_least_certain() -> None:
    standings = Standings()
    for number, pair in enumerate(PLACES[0].pairs * 20):  # a and b are alike
        verdict: Verdict = "E" if pair == ("a", "b") else "A"
        standings.add(preferred(pair, verdict, str(number)))
    (first, *_) = Schedule(kind="adaptive", per_segment=1).rounds(PLACES, standings)
    assert Counter(chain.from_iterable(first)).most_common(1)[0][0] == ("a", "b")


def test_a_round_is_chosen_by_the_rounds_before_in_whatever_order_they_came() -> None:
    def play(*, is_reversed: bool) -> list[list[Pair]]:
        standings, found = Standings(), []
        for pairs in Schedule(kind="adaptive", per_segment=2).rounds(PLACES, standings):
            found += (now := list(pairs))
            games = list(chain.from_iterable(now))
            for pair in reversed(games) if is_reversed else games:
                standings.add(preferred(pair, "A" if pair[0] in "ab" else "E"))
        return found

    assert play(is_reversed=False) == play(is_reversed=True)
    assert play(is_reversed=False) != chosen(Schedule(kind="adaptive", per_segment=2))


def test_an_undecided_comparison_says_nothing() -> None:
    one, other = Standings(), Standings()
    for number in range(50):
        one.add(preferred(("a", "b"), "E", str(number), (UNDECIDED,)))
    counts = [2] * len(PLACES)
    assert one.choose(PLACES, counts, 0) == other.choose(PLACES, counts, 0)


def test_language_pairs_are_apart_and_a_lone_system_has_no_pair() -> None:
    of = {"en-de": "ab", "zh-en": "xyz", "de-en": "a"}
    places = [Place(lp, "1", tuple(names)) for lp, names in of.items()]
    assert [len(pairs) for pairs in chosen(Schedule(kind="adaptive", per_segment=3), places)] == [1, 3, 0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "some"}, "must be one of all, sampled"),
        ({"kind": "sampled"}, "needs --pairs-per-segment or --pairs-in-all"),
        ({"kind": "sampled", "per_segment": 1, "in_all": 1}, "and not both"),
        ({"kind": "sampled", "per_segment": 0}, "must be 1 or more, got 0"),
        ({"kind": "anchored"}, "needs --anchors"),
        ({"per_segment": 2}, "--pairs-per-segment has no effect with --pairs all"),
        ({"kind": "adaptive", "in_all": 2}, "--pairs-in-all has no effect with --pairs adaptive"),
        ({"kind": "sampled", "in_all": 2, "anchors": ("a",)}, "--anchors has no effect with --pairs sampled"),
    ],
)
def test_what_contradicts_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Schedule(**settings)
