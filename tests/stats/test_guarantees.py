import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import adjudge
from adjudge.analysis.thresholds import bad_by_severity
from adjudge.errors import UsageError
from adjudge.formats.mtme import read_ratings
from adjudge.formats.score_file import read_score_file
from adjudge.stats.few_labels import (
    Labelled,
    betting_p_value,
    conformal_bound,
    labels_needed,
    shown_bound,
    sources_needed,
)


def labelled(scores: list[float], bad: list[bool], groups: list[int] | None = None) -> Labelled:
    return Labelled(
        scores=np.array(scores),
        bad=np.array(bad),
        groups=np.array(range(len(scores)) if groups is None else groups),
    )


@pytest.mark.parametrize(("risk", "delta", "needed"), [(0.1, 0.05, 29), (0.05, 0.05, 59), (0.5, 0.5, 1)])
def test_so_many_clean_ones_show_a_risk(risk: float, delta: float, needed: int) -> None:
    assert labels_needed(risk, delta) == needed
    assert binom.cdf(0, needed, risk) <= delta < binom.cdf(0, needed - 1, risk)


def test_without_bad_ones_all_may_go_out_once_there_are_enough() -> None:
    enough = sources_needed(0.1, 0.05)
    scores = [float(n) for n in range(enough)]
    assert shown_bound(labelled(scores, [False] * enough), 0.1, 0.05) == 0.0
    assert shown_bound(labelled(scores[1:], [False] * (enough - 1)), 0.1, 0.05) is None


def test_where_all_are_bad_nothing_goes_out() -> None:
    assert shown_bound(labelled(list(map(float, range(200))), [True] * 200), 0.1, 0.05) is None
    assert conformal_bound(labelled(list(map(float, range(200))), [True] * 200), 0.1) == 181.0


@pytest.mark.parametrize(
    ("sources", "each", "risk", "delta"),
    [(8, 1, 0.5, 0.5), (8, 1, 0.5, 0.2), (8, 3, 0.5, 0.3), (9, 2, 0.6, 0.2)],
)
def test_a_tested_bound_rarely_breaks_its_promise(sources: int, each: int, risk: float, delta: float) -> None:
    """Where all of a source is bad with chance `risk`, any bound is at its limit; every outcome counts."""
    scores = [float(n) for n in range(sources * each)]
    groups = [n // each for n in range(sources * each)]
    chance = 0.0
    for bad in product((True, False), repeat=sources):
        given_labels = labelled(scores, [bad[group] for group in groups], groups)
        if shown_bound(given_labels, risk, delta) is not None:
            chance += risk ** sum(bad) * (1 - risk) ** (sources - sum(bad))
    assert 0 < chance <= delta


@pytest.mark.parametrize("level", [0.3, 0.05])
@pytest.mark.parametrize("shares", [(0.0, 1.0), (0.0, 0.5, 1.0), (0.25, 0.5, 0.75)])
def test_a_betting_p_value_is_small_as_rarely_as_it_says(shares: tuple[float, ...], level: float) -> None:
    """Every outcome of six groups whose shares have a mean of exactly the risk."""
    risk = float(np.mean(shares))
    outcomes = [betting_p_value(np.array(each), risk, level) for each in product(shares, repeat=6)]
    for bound in (0.5, 0.3, 0.1, 0.05, 0.02):
        assert np.mean([p <= bound for p in outcomes]) <= bound


def test_betting_shows_a_risk_that_shares_of_small_spread_keep() -> None:
    """Hoeffding's inequality gives exp(-100 KL(0.15 | 0.3)) = 0.003 at best, whatever the spread."""
    rng = np.random.default_rng(0)
    shares = np.clip(rng.normal(0.15, 0.05, 100), 0, 1)
    assert betting_p_value(shares, 0.3, 0.01) < 1e-6
    assert betting_p_value(shares, 0.15, 0.01) > 0.05


def test_several_translations_of_a_source_give_a_cut_off_where_they_are_mixed() -> None:
    """100 sources of 4 translations each; of the best 200, one in eight is bad, the others all are."""
    scores = [float(-n) for n in range(400)]
    bad = [n >= 200 or n % 8 == 0 for n in range(400)]
    found = shown_bound(labelled(scores, bad, [n % 100 for n in range(400)]), 0.3, 0.05)
    assert found is not None
    share = np.mean([b for s, b in zip(scores, bad, strict=True) if s >= found])
    assert share <= 0.3


def test_the_first_bound_that_shows_nothing_ends_the_search() -> None:
    """After 150 good ones and 100 bad ones, thousands of good ones make the share small again."""
    bad = [False] * 150 + [True] * 100 + [False] * 5000
    scores = [float(-n) for n in range(len(bad))]
    assert binom.cdf(100, len(bad), 0.1) < 1e-9
    found: Any = shown_bound(labelled(scores, bad), 0.1, 0.05)
    assert found > -250


@st.composite
def _labels(draw: st.DrawFn) -> Labelled:
    sources = draw(st.integers(2, 12))
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, sources - 1)),
            min_size=sources,
            max_size=30,
        )
    )
    firsts = [(score, bad, group) for group, (score, bad, _) in enumerate(rows[:sources])]
    scores, bad, groups = zip(*firsts, *rows[sources:], strict=True)
    return labelled([float(score) for score in scores], list(bad), list(groups))


@given(labels=_labels(), risk=st.floats(0.05, 0.95))
def test_the_promise_of_an_average_bound_is_kept_for_the_next_source(labels: Labelled, risk: float) -> None:
    """Each source is the next one in turn: their mean loss, whatever they are, is at most the risk."""
    sources = np.unique(labels.groups)
    losses = []
    for source in sources:
        rest, own = labels.groups != source, labels.groups == source
        known = Labelled(scores=labels.scores[rest], bad=labels.bad[rest], groups=labels.groups[rest])
        bound = conformal_bound(known, risk)
        is_out = np.zeros(own.sum(), dtype=bool) if bound is None else labels.scores[own] >= bound
        losses.append((is_out & labels.bad[own]).mean())
    assert np.mean(losses) <= risk + 1e-9


@given(labels=_labels(), risk=st.floats(0.05, 0.95))
def test_an_average_bound_is_the_lowest_that_its_labels_allow(labels: Labelled, risk: float) -> None:
    n = len(np.unique(labels.groups))

    def fits(bound: float) -> bool:
        shares = [
            (labels.bad & (labels.scores >= bound))[labels.groups == group].mean()
            for group in np.unique(labels.groups)
        ]
        return bool((sum(shares) + 1) / (n + 1) <= risk - 1e-9)

    fitting = [score for score in labels.scores.tolist() if fits(score)]
    found: Any = conformal_bound(labels, risk)
    if fitting:
        assert found <= min(fitting)


def test_equal_scores_lie_on_one_side() -> None:
    scores = [5.0] * 50 + [1.0] * 50
    bad = [False] * 50 + [True] * 25 + [False] * 25
    assert conformal_bound(labelled(scores, bad), 0.1) == 5.0


def test_too_few_labels_give_no_average_bound() -> None:
    assert conformal_bound(labelled([1.0] * 8, [False] * 8), 0.1) is None
    assert conformal_bound(labelled([1.0] * 9, [False] * 9), 0.1) == 1.0


@pytest.mark.realdata
def test_the_promise_is_kept_on_gold_of_wmt23(adjudge_data: Path) -> None:
    """Bounds from half of the sources, one translation each; the risk in all translations of the others."""
    wmt23 = adjudge_data / "wmt23"
    gold = read_ratings(
        wmt23 / "human-scores" / "en-de.mqm.merged.seg.rating", adjudge.load(wmt23, lp="en-de")
    )
    bad = bad_by_severity(gold.records, "major")
    table = read_score_file(wmt23 / "metric-scores" / "en-de" / "XCOMET-Ensemble-refA.seg.score")
    rows = np.array([
        (int(unit), value, bad["en-de", unit, system])
        for system, values in zip(table.systems, table.values.tolist(), strict=True)
        for unit, value in zip(table.units, values, strict=True)
        if ("en-de", unit, system) in bad and not math.isnan(value)
    ])  # fmt: skip
    rng, broken, given, average = np.random.default_rng(0), 0, 0, []
    for _ in range(30):
        chosen = rng.choice(np.unique(rows[:, 0]), 230, replace=False)
        of_chosen = np.isin(rows[:, 0], chosen)
        places = [rng.choice(np.flatnonzero(rows[:, 0] == source)) for source in chosen]
        known = labelled(list(rows[places, 1]), list(rows[places, 2] == 1))
        others = rows[~of_chosen]
        bound, on_average = shown_bound(known, 0.3, 0.1), conformal_bound(known, 0.1)
        given += bound is not None
        broken += bound is not None and others[others[:, 1] >= bound, 2].mean() > 0.3
        assert on_average is not None
        average.append(((others[:, 1] >= on_average) & (others[:, 2] == 1)).mean())
    assert given > 20
    assert broken <= 6
    assert np.mean(average) <= 0.11


def test_no_label_is_refused() -> None:
    with pytest.raises(UsageError, match="there is none"):
        labelled([], [])
