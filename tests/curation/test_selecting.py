"""Segments are chosen by what is known before anybody annotates; their worth is told beside chance."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.eval_set import EvalSet, ScoreSet
from adjudge.analysis.eval_set_files import read_eval_set
from adjudge.curation.selecting import WAYS, SelectSettings, Way, choose, priorities, read_budget, simulate
from adjudge.errors import DataError, UsageError
from adjudge.stats.judged import Floats

NAN = float("nan")


def scored(name: str, segments: list[list[float]]) -> ScoreSet:
    scores = np.array(segments)
    return ScoreSet(name=name, segments=scores, systems=np.nanmean(scores, axis=1))


def eval_set(
    metrics: list[list[list[float]]], gold: list[list[float]] | None = None, references: tuple[str, ...] = ()
) -> EvalSet:
    size = len((gold or metrics[0])[0])
    return EvalSet(
        name="made",
        lp="en-de",
        systems=tuple("ABCD"[: len(gold or metrics[0])]),
        segments=tuple(map(str, range(size))),
        documents=("",) * size,
        domains=("",) * size,
        lengths=tuple(range(1, size + 1)),
        golds={} if gold is None else {"gold": scored("gold", gold)},
        metrics={f"m{n}": scored(f"m{n}", scores) for n, scores in enumerate(metrics)},
        references=references,
    )


def ranked(values: Floats) -> list[int]:
    return [int(place) for place in np.argsort(-values, kind="stable")]


@pytest.mark.parametrize(
    ("way", "metrics", "references", "wanted"),
    [
        ("variance", [[[0, 5, 1], [0, -5, 2]]], (), [1, 2, 0]),
        # the mean square of 0, 5.2 is below that of 0, 0, 6; their sums over one less would not be
        ("variance", [[[0, 0], [5.2, 0], [NAN, 6]]], (), [1, 0]),
        ("variance", [[[0, 1, 0], [0, 0, 0], [99, 0, -99]]], ("C",), [1, 0, 2]),
        ("disagreement", [[[1, 2, 3], [1, 2, 3]], [[1, 2, -3], [1, 2, -3]]], (), [2, 1, 0]),
    ],
    ids=["differ most", "missing system", "reference", "metrics differ"],
)
def test_the_segment_that_a_way_wants_comes_first(
    way: Way, metrics: list[list[list[float]]], references: tuple[str, ...], wanted: list[int]
) -> None:
    found = priorities(eval_set(metrics, references=references), [*"abc"][: len(wanted)], way)
    assert ranked(found)[0] == wanted[0]
    assert way != "variance" or ranked(found) == wanted


def test_the_scale_of_a_metric_does_not_matter() -> None:
    small = [[0.1, 0.9, 0.4], [0.2, 0.1, 0.3]]
    large = [[1000 * value - 7 for value in row] for row in small]
    other = [[3.0, 1.0, 2.0], [1.0, 1.0, 5.0]]
    ways: tuple[Way, ...] = ("variance", "disagreement")
    for way in ways:
        one = priorities(eval_set([small, other]), ["a", "b", "c"], way)
        two = priorities(eval_set([large, other]), ["a", "b", "c"], way)
        assert one == pytest.approx(two)


def test_diversity_takes_the_source_with_most_new_n_grams_next() -> None:
    sources = ["a b c d", "a b c", "x y", "a b c d", ""]
    assert ranked(priorities(eval_set([[[0] * 5]]), sources, "diversity")) == [0, 2, 1, 3, 4]


def greedy(grams: list[set[str]]) -> list[int]:
    """The plain way, quadratic."""
    left, order = list(range(len(grams))), []
    seen: set[str] = set()
    while left:
        best = max(left, key=lambda place: (len(grams[place] - seen), -place))
        left.remove(best)
        order.append(best)
        seen |= grams[best]
    return order


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12))
def test_diversity_is_the_plain_greedy_choice(words: list[list[str]]) -> None:
    sources = [" ".join(each) for each in words]
    grams = [{*each, *(f"{a} {b}" for a, b in pairwise(each))} for each in words]
    assert ranked(priorities(eval_set([[[0] * len(words)]]), sources, "diversity")) == greedy(grams)


def test_what_no_metric_scored_comes_last() -> None:
    found = eval_set([[[NAN, 1, 1], [NAN, 1, 2]]])
    values = priorities(found, ["a", "b", "c"], "variance")
    assert choose(values, 3, np.ones(3)) == [0, 1, 2]
    assert choose(values, 2, np.ones(3)) == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1), st.integers(0, 60))
def test_a_choice_never_costs_more_than_the_budget_and_leaves_nothing_that_it_could_pay(
    units: list[tuple[int, int]], budget: int
) -> None:
    wanted, costs = (np.array(column, dtype=np.float64) for column in zip(*units, strict=True))
    chosen = choose(wanted, budget, costs)
    left = budget - costs[chosen].sum()
    assert left >= 0
    assert all(costs[place] > left for place in set(range(len(units))) - set(chosen))


def test_a_budget_is_a_number_or_a_share() -> None:
    wanted = {"5": 5, "50%": 10, "100%": 20, "20": 20}
    assert {text: read_budget(text, 20) for text in wanted} == wanted
    for text in ("", "0", "21", "-1", "1.5", "110%", "nan%", "inf%", "x", "0%"):
        with pytest.raises(UsageError, match="--budget must be"):
            read_budget(text, 20)


@pytest.mark.parametrize(("way", "metrics"), [("variance", 0), ("disagreement", 1)])
def test_a_way_without_its_metrics_says_what_it_needs(way: Way, metrics: int) -> None:
    found = eval_set([[[0, 1], [1, 0]]] * metrics, [[0, 1], [1, 0]])
    with pytest.raises(UsageError, match="metric"):
        priorities(found, ["a", "b"], way)


GOLD: list[list[float]] = [[3, 0, 3, 3], [2, 9, 2, 2]]


def test_worth_by_hand() -> None:
    # metrics differ most in segment 1, which alone puts B first; over all B has 3.75 and A 2.25
    found = eval_set([[[0, 5, 0, 0], [0, -5, 0, 0]]], GOLD)
    random, variance = simulate(found, ["a"] * 4, SelectSettings(budget="1", draws=4000), ways=["variance"])
    assert variance.accuracy == 1.0
    assert variance.mean_error == pytest.approx((2.25 + 5.25) / 2)
    assert variance.gap_error == pytest.approx(7.5)
    assert variance.length == pytest.approx(2 / 10)
    assert random.accuracy == pytest.approx(0.25, abs=0.03)
    assert variance.beaten == pytest.approx(0.75 + 0.25 / 2, abs=0.03)
    assert variance.nearer == 0.0


def test_all_segments_are_worth_all() -> None:
    found = eval_set([[[0, 5, 0, 0], [0, -5, 0, 0]]], GOLD)
    for worth in simulate(
        found, ["a"] * 4, SelectSettings(budget="100%", draws=10), ways=["variance", "diversity"]
    ):
        assert (worth.accuracy, worth.mean_error, worth.gap_error, worth.length) == (1, 0, 0, 1)


def test_a_budget_of_tokens_pays_for_tokens() -> None:
    found = eval_set([[[0, 5, 0, 4], [0, -5, 0, -4]]], GOLD)
    random, variance = simulate(
        found, ["a"] * 4, SelectSettings(budget="4", unit="tokens", draws=500), ways=["variance"]
    )
    assert variance.segments == 2
    assert variance.length == pytest.approx(3 / 10)
    assert random.length <= 4 / 10


def test_gold_without_two_systems_on_common_segments_is_refused() -> None:
    with pytest.raises(DataError, match="two of each are needed"):
        simulate(eval_set([], [[1, NAN], [NAN, 2]]), ["a", "b"], SelectSettings(budget="1"), ways=[])


def test_a_seed_decides_the_random_choices() -> None:
    found = eval_set([], GOLD)
    one, again, other = (
        simulate(found, ["a"] * 4, SelectSettings(budget="2", draws=50, seed=s), ways=[]) for s in (1, 1, 2)
    )
    assert one == again
    assert one != other


@pytest.mark.realdata
def test_on_wmt23_what_is_chosen_for_its_difficulty_estimates_means_worse_than_chance(
    adjudge_data: Path,
) -> None:
    names = ["chrF-refA", "COMET-refA", "MetricX-23-QE-src"]
    found = read_eval_set(adjudge_data / "wmt23", "en-de", gold=["mqm"], metrics=names)
    sources = (adjudge_data / "wmt23" / "sources" / "en-de.txt").read_text(encoding="utf-8").split("\n")[:-1]
    random, *others = simulate(found, sources, SelectSettings(budget="20%", draws=200))
    assert len(others) == len(WAYS) - 1
    assert all(worth.gap_error > random.gap_error for worth in others)
    assert 0.9 < random.accuracy < 1
