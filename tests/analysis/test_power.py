import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adjudge.analysis.power import (
    Plan,
    PowerSettings,
    separations,
    simulated_power,
    units_needed,
    variance_parts,
)
from adjudge.analysis.score import scored
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Record
from adjudge.core.verb import OneAnnotator
from adjudge.errors import UsageError
from adjudge.stats.paired import sign_flip_p_values
from tests.analysis.records import rated


def test_the_smallest_difference_is_that_of_a_paired_t_test() -> None:
    plan = Plan(sd=10, segments=400)
    assert plan.detectable == pytest.approx(1.40417, abs=1e-4)  # statsmodels: TTestPower().solve_power
    assert plan.detectable == pytest.approx((1.959964 + 0.841621) * 10 / 20, rel=0.005)
    assert plan.power_for(plan.detectable) == pytest.approx(0.8, abs=1e-6)
    assert plan.needed_for(plan.detectable) == 400
    assert plan.power_for(0) == pytest.approx(0.05)


@pytest.mark.parametrize("units", [6, 15, 40])
def test_a_plan_keeps_its_power_with_few_units(units: int) -> None:
    plan = Plan(sd=1, segments=units)
    drawn = np.random.default_rng(units).normal(plan.detectable, 1, (20_000, units))
    found = np.abs(stats.ttest_1samp(drawn, 0, axis=1).pvalue) < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.01)


def test_a_small_pilot_asks_for_more_and_then_keeps_its_power_on_average() -> None:
    rng = np.random.default_rng(3)
    powers = []
    for _ in range(300):
        sd = float(rng.normal(0, 1, 10).std(ddof=1))
        needed = Plan(sd=sd, segments=1, pilot=10).needed_for(0.5)
        assert needed is not None
        powers.append(Plan(sd=1, segments=needed).power_for(0.5))
    assert np.mean(powers) == pytest.approx(0.8, abs=0.03)
    assert Plan(sd=1, segments=1, pilot=10).needed_for(0.5) > Plan(sd=1, segments=1).needed_for(0.5)  # type: ignore[operator]


def test_documents_are_the_units_of_a_plan_by_document() -> None:
    few, many = (Plan(sd=1, segments=30, per_unit=per) for per in (5, 1))
    assert few.detectable > many.detectable
    assert Plan(sd=1, segments=6, per_unit=5).detectable == math.inf


def test_fewer_than_six_units_never_reach_alpha_by_sign_flips() -> None:
    assert simulated_power(np.ones(5), 5) == 0
    assert units_needed(np.ones(5), resamples=200) == 6


@pytest.mark.parametrize("pilot", [None, 4])
@pytest.mark.parametrize("difference", [1.0, 30.0, 100.0, 1e6])
def test_a_difference_far_above_the_spread_is_surely_found(difference: float, pilot: int | None) -> None:
    plan = Plan(sd=1, segments=16, per_unit=4, pilot=pilot)
    assert plan.power_for(1.0) <= plan.power_for(difference) <= 1
    assert difference < 100 or plan.power_for(difference) > 0.99


def test_annotators_lower_their_own_part_only() -> None:
    one, four, many = (Plan(sd=3, annotator_sd=4, segments=100, annotators=m) for m in (1, 4, 10**9))
    assert one.spread == pytest.approx(5)
    assert four.spread == pytest.approx(math.sqrt(9 + 4))
    assert many.spread == pytest.approx(3)


def test_nothing_varies_or_nothing_differs() -> None:
    still = Plan(sd=0, segments=5)
    assert (still.detectable, still.power_for(0.1), still.needed_for(0.1)) == (0, 1, 1)
    assert Plan(sd=1, segments=5).needed_for(0) is None


@pytest.mark.parametrize(
    "wrong",
    [{"sd": -1}, {"sd": math.nan}, {"segments": 0}, {"annotators": 0}, {"alpha": 0}, {"power": 1}],
)
def test_a_value_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Plan(**({"sd": 1, "segments": 9} | wrong))  # type: ignore[arg-type]


def test_the_parts_of_the_variance_are_found_again() -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(0, 2, (4000, 1)) + rng.normal(0, 3, (4000, 3))
    data[rng.random(data.shape) < 0.2] = math.nan
    found = variance_parts(data)
    assert found == pytest.approx((2, 3), abs=0.1)
    assert variance_parts(data[:, :1]) is None
    assert variance_parts(data[:1]) is None


def test_annotators_who_disagree_at_random_leave_nothing_to_segments() -> None:
    found = variance_parts(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert found == pytest.approx((0, math.sqrt(2)))


def test_simulated_power_is_that_of_the_formula_for_normal_differences() -> None:
    gaps = stats.norm.ppf((np.arange(500) + 0.5) / 500) + 0.2
    plan = Plan(sd=float(gaps.std()), segments=150)
    assert simulated_power(gaps, 150, resamples=4000) == pytest.approx(plan.power_for(0.2), abs=0.03)


def test_simulated_power_is_that_of_the_permutation_test() -> None:
    rng = np.random.default_rng(5)
    gaps = np.concatenate([np.zeros(60), rng.exponential(5, 25) - 1, -rng.exponential(5, 15)])
    drawn = rng.choice(gaps, size=(60, 300))
    p_values = sign_flip_p_values(drawn, resamples=500)
    assert simulated_power(gaps, 60, resamples=4000) == pytest.approx(np.mean(p_values < 0.05), abs=0.08)


def test_the_units_needed_reach_the_power_and_one_per_cent_fewer_hardly_do() -> None:
    gaps = np.random.default_rng(1).normal(0.3, 1, 80)
    needed = units_needed(gaps, resamples=2000)
    assert needed is not None
    assert simulated_power(gaps, needed, resamples=2000) >= 0.8
    assert simulated_power(gaps, needed * 9 // 10, resamples=2000) < 0.8
    plan = Plan(sd=float(gaps.std()), segments=1, pilot=80)
    assert needed == pytest.approx(plan.needed_for(float(gaps.mean())), rel=0.15)


def test_no_difference_is_never_found() -> None:
    assert units_needed(np.array([1.0, -1.0] * 20), resamples=200) is None


RNG = np.random.default_rng(0)
GAPS = RNG.normal(1.5, 10, 60)


def records(annotator: str = "ann", noise: float = 0.0) -> list[Record]:
    """Three systems over 60 segments in 12 documents: b is a little below a, c is 20 below b."""
    rng = np.random.default_rng(len(annotator))
    shifts = {"a": GAPS, "b": np.zeros(60), "c": np.full(60, -20.0)}
    return [
        rated(
            system,
            str(n),
            float(np.clip(50 + shift[n] + noise * rng.normal(), 0, 100)),
            annotator=annotator,
            document=f"d{n // 5}",
        )
        for system, shift in shifts.items()
        for n in range(60)
    ]


def test_each_system_is_told_from_the_next_best() -> None:
    found = separations(score_records(records()), settings=PowerSettings(by_document=False))
    assert [(row.first, row.second) for row in found] == [("a", "b"), ("b", "c")]
    close, far = found
    assert close.difference == pytest.approx(GAPS.mean())
    assert close.plan.sd == pytest.approx(GAPS.std(ddof=1))
    assert close.detectable == pytest.approx(2.8016 * GAPS.std(ddof=1) / np.sqrt(60), rel=0.05)
    assert close.needed is not None
    assert close.needed == pytest.approx(close.plan.needed_for(close.difference), rel=0.2)
    assert close.more == 2 * max(0, close.needed - 60)
    assert (far.more, far.power) == (0, 1)
    assert far.p < 0.01


def test_a_plan_may_have_other_segments() -> None:
    asked = [PowerSettings(segments=n, by_document=False) for n in (15, 60)]
    few, many = (separations(score_records(records()), ("a", "b"), settings=s)[0] for s in asked)
    assert few.detectable == pytest.approx(2 * many.detectable, rel=0.1)
    assert few.detectable > 2 * many.detectable
    assert few.needed == many.needed


def test_what_annotators_bring_is_told_where_there_are_several() -> None:
    apart = {name: records(name, 8.0) for name in ("one", "three")}
    whole = score_records([record for each in apart.values() for record in each])
    alone = {name: score_records(each) for name, each in apart.items()}
    rows = [
        separations(whole, ("a", "b"), settings=PowerSettings(annotators=m), by_annotator=alone)[0]
        for m in (1, 2, 8)
    ]
    assert rows[0].annotator_sd == pytest.approx(8 * np.sqrt(2), rel=0.2)
    assert rows[0].detectable > rows[1].detectable > rows[2].detectable
    assert [row.plan.annotators for row in rows] == [1, 2, 8]
    with pytest.raises(UsageError, match="the effect of more annotators"):
        separations(score_records(records()), ("a", "b"), settings=PowerSettings(annotators=2))


def test_documents_vary_as_wholes_where_they_are_known() -> None:
    (row,) = separations(score_records(records()), ("a", "b"))
    told = PowerSettings(by_document=True)
    assert [row] == list(separations(score_records(records()), ("a", "b"), settings=told))
    assert (row.units, row.plan.per_unit, row.plan.pilot) == (12, 5, 12)
    means = GAPS.reshape(12, 5).mean(axis=1)
    assert row.plan.spread / np.sqrt(60) == pytest.approx(means.std(ddof=1) / np.sqrt(12))
    assert row.n == 60


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (("a", "z"), "there is no system 'z'"),
        (("a", "a"), "'a' was named twice: power needs two different systems"),
        (("a",), "power needs two systems"),
    ],
)
def test_wrong_systems_are_refused(systems: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        separations(score_records(records()), systems)


def test_one_segment_has_no_spread() -> None:
    both = score_records([rated("a", "1", 3.0), rated("b", "1", 2.0)])
    with pytest.raises(UsageError, match="the standard deviation needs two segments"):
        separations(both)


@pytest.mark.realdata
def test_systems_of_wmt23_that_do_not_differ_need_more(adjudge_data: Path) -> None:
    scores, *_ = scored(adjudge_data / "wmt23", OneAnnotator(lp="en-de", gold="mqm"))
    (row,) = separations(scores, ("GPT4-5shot", "ONLINE-W"))
    assert row.p > 0.05
    assert row.needed is not None
    assert row.needed > row.n == 460
    assert row.detectable > abs(row.difference)
