"""Translations without errors: labels, measures, and what may be published unseen."""

from itertools import product, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from adjudge.analysis.error_free import STARTS, auc, error_free, mcc, publishable, upper_error_bound
from adjudge.core.record import Annotation, Record
from adjudge.errors import AdjudgeError
from tests.analysis.judged import esa, marked, run_of, span
from tests.analysis.records import failed, rated

ERROR = span("old", "major")
GOLD: list[Record] = [
    esa("a", "1", 100),
    esa("a", "2", 85),  # at the threshold is good
    esa("a", "3", 84.9),
    esa("a", "4", 100, ERROR),  # a mark is an error, whatever the rating
    esa("b", "1", 90, span("old", "neutral")),  # a neutral mark is none
    esa("b", "2", 20, ERROR),
]
PRED: list[Record] = [
    esa("a", "1", 95),
    esa("a", "2", 90, ERROR),
    esa("a", "3", 90),
    esa("a", "4", 70),
    esa("b", "1", 99),
    failed("b", segment="2", protocol="esa", lp="de-en"),
]


def test_a_translation_is_free_of_errors_with_no_mark_and_a_good_rating() -> None:
    found = error_free(run_of(PRED, protocol="esa"), GOLD)
    # gold: yes yes no no yes; predicted: yes no yes no yes
    assert (found.n, found.n_gold, found.n_pred, found.failed) == (5, 3, 3, 1)
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.mcc == pytest.approx((2 * 1 - 1 * 1) / 6)
    # free 95, 90, 99 against 90, 70: all higher but for one tie
    assert found.auc == pytest.approx(5.5 / 6)
    assert found.notes == ("1 of 6 translations that gold judged failed in the run: in no number.",)


def test_thresholds_can_be_set_on_both_sides() -> None:
    found = error_free(run_of(PRED, protocol="esa"), GOLD, gold_at_least=95, at_least=96)
    assert (found.n_gold, found.n_pred) == (1, 1)
    assert found.precision == 0


def test_marks_decide_alone_where_nothing_is_rated() -> None:
    gold: list[Record] = [marked("a", "1"), marked("a", "2", ERROR), marked("b", "1")]
    pred = run_of([marked("a", "1"), marked("a", "2", span("lab")), marked("b", "1", ERROR, ERROR)])
    found = error_free(pred, gold)
    assert (found.precision, found.recall) == (1, 0.5)
    assert found.auc == pytest.approx((1 + 0) / 2)  # scores 0, -1, -10
    assert found.notes == (
        "Gold of protocol mqm has no rating: a translation without marks is free of errors.",
        "The run does not rate: its score is minus the points of its errors (mqm-google).",
    )


def test_errors_that_are_only_counted_are_errors() -> None:
    counted = Annotation(
        lp="de-en", segment="1", system="a", annotator="j", protocol="mqm", counts={"minor": 1, "major": 0}
    )
    clean = Annotation(
        lp="de-en", segment="2", system="a", annotator="j", protocol="mqm", counts={"minor": 0}
    )
    assert error_free([counted, clean], [marked("a", "1"), marked("a", "2")]).n_pred == 1


def test_a_score_says_what_is_good_only_where_its_scale_is_known() -> None:
    scores: list[Record] = [
        rated("a", str(i), value, protocol="metric", lp="de-en")
        for i, value in enumerate((0.9, 0.4, 0.7, 0.2), start=1)
    ]
    found = error_free(scores, GOLD)
    assert (found.n_pred, found.precision, found.mcc) == (None, None, None)
    assert found.auc == pytest.approx(3 / 4)
    assert "--at-least" in found.notes[-1]
    assert error_free(scores, GOLD, at_least=0.5).n_pred == 2


ODD: list[tuple[list[Record], dict[str, Any], str]] = [
    ([rated("a", "1", 0.5, protocol="metric", lp="de-en")], {}, "protocol metric has a scale of its own"),
    ([rated("a", "1", 3, protocol="sqm", lp="de-en")], {}, "--gold-at-least"),
    (GOLD, {"risk": 0}, "risk must be greater than 0; got 0"),
    (GOLD, {"confidence": 1.0}, "confidence must be less than 1"),
    (GOLD, {"weights": "none"}, "no weights 'none'"),
    ([], {}, "no translation was judged by both"),
]


@pytest.mark.parametrize(("gold", "options", "message"), ODD)
def test_what_cannot_be_told_is_refused(gold: list[Record], options: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        error_free(PRED, gold, **options)


# Measures...

LABELS = [
    # gold, predicted, MCC
    ("1100", "1100", 1.0),
    ("1100", "0011", -1.0),
    ("1010", "1100", 0.0),
    ("1111", "1100", None),  # one class only
    ("1100", "0000", None),
]


def flags(text: str) -> Any:
    return np.array([c == "1" for c in text])


@pytest.mark.parametrize(("gold", "predicted", "value"), LABELS)
def test_mcc_is_a_correlation_of_labels(gold: str, predicted: str, value: float | None) -> None:
    assert mcc(flags(gold), flags(predicted)) == value


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_mcc_is_pearson(labels: list[tuple[bool, bool]]) -> None:
    gold, predicted = (np.array(column) for column in zip(*labels, strict=True))
    found = mcc(gold, predicted)
    if found is None:
        assert gold.all() or not gold.any() or predicted.all() or not predicted.any()
    else:
        assert found == pytest.approx(np.corrcoef(gold, predicted)[0, 1])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=25))
def test_auc_is_the_chance_that_the_good_one_is_higher(rows: list[tuple[bool, int]]) -> None:
    good = [score for is_free, score in rows if is_free]
    bad = [score for is_free, score in rows if not is_free]
    found = auc(np.array([r[0] for r in rows], dtype=bool), np.array([float(r[1]) for r in rows]))
    if not good or not bad:
        assert found is None
    else:
        wins = sum((g > b) + (g == b) / 2 for g in good for b in bad)
        assert found == pytest.approx(wins / (len(good) * len(bad)))


# Publishing...


@pytest.mark.parametrize(
    ("errors", "n", "bound"),
    [
        (0, 59, 0.0495),  # the rule of three: 3 / n
        (0, 58, 0.0503),
        (1, 100, 0.0466),
        (5, 100, 0.1023),
        (3, 3, 1.0),
    ],
)
def test_the_bound_of_an_error_rate_is_exact(errors: int, n: int, bound: float) -> None:
    found = upper_error_bound(errors, n, 0.95)
    assert found == pytest.approx(bound, abs=1e-4)
    if errors < n:
        assert binom.cdf(errors, n, found) == pytest.approx(0.05)


def test_publishing_ends_with_the_first_doubt() -> None:
    scores = np.array([100.0] * 110 + [90.0] * 90 + [80.0] * 100 + [70.0] * 100)
    is_free = np.ones(400, dtype=bool)
    is_free[[250, 260]] = False  # two errors at 80: 2 of 300
    is_free[310:] = False
    found = publishable(scores, is_free)
    assert (found.least, found.threshold, found.n, found.errors, found.share) == (104, 80.0, 300, 2, 0.75)
    assert found.bound == pytest.approx(upper_error_bound(2, 300, 0.995))
    is_free[[10, 20]] = False  # too many of the best 110, but a later start bears them
    assert publishable(scores, is_free).threshold == 80.0
    is_free[30:40] = False
    assert publishable(scores, is_free).threshold is None


def test_nothing_can_be_published_of_too_few() -> None:
    found = publishable(np.arange(103.0), np.ones(103, dtype=bool))
    assert (found.share, found.threshold, found.bound, found.n) == (0, None, None, 0)
    assert publishable(np.arange(104.0), np.ones(104, dtype=bool)).share == 1
    assert publishable(np.array([]), np.array([], dtype=bool)).share == 0


def test_what_shows_the_risk_again_after_a_doubt_does_not_count() -> None:
    """The errors of the best 1800 of 2000 are just few enough, five more are too many, then comes none."""
    allowed = int(binom.ppf(0.05, 1800, 0.1)) - 1
    is_free = np.ones(2000, dtype=bool)
    is_free[:allowed] = is_free[1800:1805] = False
    assert binom.cdf(allowed, 1800, 0.1) <= 0.05 < binom.cdf(allowed + 1, 1801, 0.1)
    assert binom.cdf(allowed + 5, 2000, 0.1) <= 0.05
    assert publishable(np.arange(2000.0, 0, -1), is_free, risk=0.1, confidence=0.5).n == 1800


@pytest.mark.parametrize(("n", "risk", "confidence"), [(7, 0.5, 0.81), (8, 0.4, 0.6)])
def test_the_chance_to_publish_what_breaks_the_risk_is_as_small_as_promised(
    n: int, risk: float, confidence: float
) -> None:
    """Where each has errors with chance `risk`, all that goes out is at its limit; every outcome counts."""
    chance = 0.0
    for free in product((True, False), repeat=n):
        found = publishable(np.arange(n, 0.0, -1), np.array(free), risk=risk, confidence=confidence)
        if found.threshold is not None:
            chance += risk ** (n - sum(free)) * (1 - risk) ** sum(free)
    assert 0 < chance <= 1 - confidence


@given(
    rows=st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1)), min_size=1, max_size=80),
    rate=st.floats(0, 0.5),
    risk=st.sampled_from([0.2, 0.4, 0.6]),
    confidence=st.sampled_from([0.3, 0.8]),
)
def test_what_is_published_is_shown_at_each_step_from_a_start_that_no_label_chose(
    rows: list[tuple[int, float]], rate: float, risk: float, confidence: float
) -> None:
    scores = np.array([score for score, _ in rows], dtype=float)
    is_free = np.array([luck >= rate for _, luck in rows])
    alone = (1 - confidence) / STARTS
    shown, possible = {}, []
    for score in sorted({*scores.tolist()}, reverse=True):
        above = scores >= score
        n, errors = int(above.sum()), int((~is_free[above]).sum())
        shown[n] = binom.cdf(errors, n, risk) <= alone
        possible += [n] if binom.cdf(0, n, risk) <= alone else []
    runs = [
        list(takewhile(shown.__getitem__, (n for n in possible if n >= len(rows) * start / STARTS)))
        for start in range(STARTS)
    ]
    found = publishable(scores, is_free, risk=risk, confidence=confidence)
    assert found.n == max((n for run in runs for n in run), default=0)


# Real data...


@pytest.mark.realdata
def test_a_metric_of_wmt23_tells_error_free_translations_better_than_chance(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23"
    gold = folder / "human-scores" / "en-de.mqm.merged.seg.rating"
    found = error_free(folder / "metric-scores" / "en-de" / "MetricX-23-QE-src.seg.score", gold)
    assert found.auc is not None
    assert found.auc > 0.7
    chance = error_free(folder / "metric-scores" / "en-de" / "Random-sysname-src.seg.score", gold)
    assert chance.auc is not None
    assert chance.auc < found.auc
