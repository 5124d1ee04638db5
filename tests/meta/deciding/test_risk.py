import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import adjudge
from adjudge.data.mtme_ratings import read_ratings
from adjudge.data.score_files import read_score_file
from adjudge.errors import UsageError
from adjudge.meta.deciding.labels import bad_by_severity
from adjudge.meta.deciding.risk import Labelled, conformal_bound, labels_needed, shown_bound, sources_needed


def labelled(scores: list[float], bad: list[bool], groups: list[int] | None = None) -> Labelled:
    return Labelled(
        scores=np.array(scores),
        bad=np.array(bad),
        groups=np.array(range(len(scores)) if groups is None else groups),
    )


def drawn(rng: np.random.Generator, sources: int, each: int = 1) -> Labelled:
    """Scores from 0 to 1; the chance to be bad falls from a half to 0: the risk above t is (1 - t) / 4."""
    scores = rng.random((sources, each))
    bad = rng.random((sources, each)) < 0.5 * (1 - scores)
    return labelled(list(scores.ravel()), list(bad.ravel()), list(np.repeat(np.arange(sources), each)))


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


@pytest.mark.parametrize(("sources", "each"), [(150, 1), (600, 1), (150, 6)])
def test_the_promise_of_a_tested_bound_is_kept(sources: int, each: int) -> None:
    rng = np.random.default_rng(3)
    found = [shown_bound(drawn(rng, sources, each), 0.1, 0.1) for _ in range(200)]
    broken = sum(bound is not None and (1 - bound) / 4 > 0.1 for bound in found)
    assert broken <= 200 * 0.1 + 3 * math.sqrt(200 * 0.1 * 0.9)
    if sources == 600:
        assert sum(bound is not None for bound in found) > 100


@pytest.mark.parametrize("each", [1, 5])
def test_the_promise_of_an_average_bound_is_kept(each: int) -> None:
    rng = np.random.default_rng(4)
    bounds = [conformal_bound(drawn(rng, 120, each), 0.1) for _ in range(300)]
    risks = [0.0 if bound is None or bound > 1 else (1 - bound) ** 2 / 4 for bound in bounds]
    assert np.mean(risks) <= 0.1 + 3 * np.std(risks) / math.sqrt(300)
    assert np.mean(risks) > 0.08  # and not by publishing nothing


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
