"""The threshold of ties, by gold."""

from dataclasses import replace

import pytest

from adjudge.analysis.preferences import calibrate_ties
from adjudge.core.record import Preference, Verdict
from adjudge.errors import DataError
from tests.scoring.records import preferred


def measured(segment: int, verdict: Verdict, strength: float) -> Preference:
    return replace(preferred("a", "b", verdict, str(segment)), strength=strength)


SAID: tuple[Verdict, ...] = ("E", "E", "A", "B", "A")
TURNED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "E": "E"}
GOLD = [preferred("a", "b", verdict, str(n), annotator="p") for n, verdict in enumerate(SAID)]
JUDGE = [
    measured(0, "A", 0.2),
    measured(1, "B", -0.3),
    measured(2, "A", 0.6),
    measured(3, "B", -0.9),
    measured(4, "B", -0.3),
]


def test_it_is_the_lowest_under_which_most_verdicts_agree() -> None:
    found = calibrate_ties(JUDGE, GOLD)
    assert (found.threshold, found.n, found.tied) == (0.3, 5, 2)
    assert found.before == (2 / 5, 2 / 3, 0.0, 0)
    assert found.after == (4 / 5, 2 / 3, 1.0, 3)


def test_the_pair_may_be_named_the_other_way_round() -> None:
    turned = [replace(g, systems=("b", "a"), verdict=TURNED[g.verdict]) for g in GOLD]
    assert calibrate_ties(JUDGE, turned) == calibrate_ties(JUDGE, GOLD)


def test_a_threshold_that_helps_nobody_is_zero() -> None:
    assert calibrate_ties(JUDGE[2:4], GOLD).threshold == 0.0


def test_equally_strong_verdicts_are_ties_together_or_not_at_all() -> None:
    judge = [measured(0, "A", 0.4), measured(2, "A", 0.4), measured(3, "B", -0.4)]
    assert calibrate_ties(judge, GOLD).threshold == 0.0


def test_of_several_people_the_majority_counts_and_none_is_a_tie() -> None:
    other = [preferred("a", "b", "B", "2", annotator="q")]
    found = calibrate_ties([measured(2, "A", 0.6)], [*GOLD, *other])
    assert (found.tied, found.threshold) == (1, 0.6)


def test_without_strengths_there_is_nothing_to_calibrate() -> None:
    with pytest.raises(DataError, match="--samples, or --strength logprob"):
        calibrate_ties(GOLD, GOLD)
