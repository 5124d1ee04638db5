import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import adjudge
from adjudge.analysis.gate import (
    Critical,
    Gate,
    GateSettings,
    critical_p_value,
    gate_scores,
    more_segments,
    non_inferiority,
)
from adjudge.analysis.segment_scores import score_records
from adjudge.core.protocol import Severity
from adjudge.core.record import Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.stats.bounds import Totals
from adjudge.store.json_lines import write_records
from tests.analysis.records import error, failed, mqm, rated

RNG = np.random.default_rng(7)
BASE = list(60 + 10 * RNG.random(200))
NOISE = RNG.normal(0, 3, 200)


def ratings(system: str, values: Iterable[float], size: int = 0) -> list[Record]:
    """Ratings of segments, of documents of so many of them."""
    places = enumerate(values)
    return [rated(system, str(n), float(v), document=f"d{n // size}" if size else "") for n, v in places]


def gate(candidate: list[Record], baseline: list[Record], margin: float = 1.0, **settings: object) -> Gate:
    domains, settings = settings.pop("domains", None), {"unseen": "seen"} | settings
    return gate_scores(
        score_records(candidate),
        score_records(baseline),
        (candidate, baseline),
        settings=GateSettings(margin=margin, **settings),  # type: ignore[arg-type]
        domains=domains,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("shift", "margin", "verdict"),
    [
        (0.5, 1.0, "ship"),
        (0.0, 1.0, "ship"),
        (-3.0, 1.0, "do-not-ship"),
        (-1.0, 1.0, "not-enough-data"),
        (0.0, 0.0, "not-enough-data"),
    ],
)
def test_the_verdict_follows_the_bounds(shift: float, margin: float, verdict: str) -> None:
    centred = NOISE - NOISE.mean()
    found = gate(ratings("new", np.array(BASE) + centred + shift), ratings("old", BASE), margin)
    assert found.verdict == verdict
    (row,) = found.rows
    assert (row.found.low > -margin) == (verdict == "ship")
    assert (row.found.high < -margin) == (verdict == "do-not-ship")
    assert (found.candidate.name, found.baseline.name, found.missing) == ("new", "old", 0)


def test_not_enough_data_says_how_much_more_would_do() -> None:
    found = gate(ratings("new", np.array(BASE[:40]) + NOISE[:40]), ratings("old", BASE[:40]), 1.0)
    assert found.verdict == "not-enough-data"
    assert found.rows[0].more is not None
    assert f"{found.rows[0].more:,} more segments would tell" in found.reasons[0]


def test_one_bad_domain_keeps_the_candidate_out() -> None:
    half = {("en-de", str(n)): "law" if n < 100 else "news" for n in range(200)}
    shift = np.where(np.arange(200) < 100, -4.0, 6.0)
    found = gate(ratings("new", np.array(BASE) + NOISE + shift), ratings("old", BASE), domains=half)
    told = {row.name: row.verdict for row in found.rows}
    assert told == {"all": "ship", "law": "do-not-ship", "news": "ship"}
    assert found.verdict == "do-not-ship"
    assert found.reasons[0].startswith("law: worse by more than the margin of 1")


def test_a_domain_may_have_a_margin_of_its_own() -> None:
    half = {("en-de", str(n)): "law" if n < 100 else "news" for n in range(200)}
    new = ratings("new", np.array(BASE) + NOISE)
    found = gate(new, ratings("old", BASE), domain_margin=3.0, domains=half)
    assert [row.margin for row in found.rows] == [1.0, 3.0, 3.0]
    assert found.verdict == "ship"


def test_a_domain_too_small_to_be_tested_is_named() -> None:
    domains = {("en-de", str(n)): "law" if n < 9 else "news" if n < 100 else "chat" for n in range(200)}
    found = gate(ratings("new", np.array(BASE) + 2 + 0.1 * NOISE), ratings("old", BASE), domains=domains)
    assert found.verdict == "ship"
    assert "law is not tested alone: it has fewer than 10 common segments." in found.notes


def marks(system: str, severities: Sequence[Severity | None]) -> list[Record]:
    return [mqm(system, str(n), *([error(s)] if s else [])) for n, s in enumerate(severities)]


@pytest.mark.parametrize(
    ("count", "settings", "verdict"),
    [
        (4, {}, "ship"),  # p = 1/16
        (5, {}, "do-not-ship"),  # p = 1/32
        (5, {"more_critical": 4}, "ship"),
        (1, {"critical_alpha": 0.5}, "do-not-ship"),
    ],
)
def test_more_critical_errors_are_a_veto(count: int, settings: dict[str, float], verdict: str) -> None:
    old = marks("old", ["minor", None, "major"] * 20)
    new = marks("new", [*["critical"] * count, *[None] * (60 - count)])  # type: ignore[list-item]
    found: Any = gate(new, old, 10.0, **settings)
    assert (found.critical.candidate, found.critical.baseline) == (count, 0)
    assert found.critical.new == tuple(f"en-de/{n}" for n in range(count))
    assert found.verdict == verdict
    if verdict == "do-not-ship":
        assert found.reasons[0].startswith(f"Segments with critical errors: candidate {count}, baseline 0,")


def test_critical_errors_of_the_baseline_alone_weigh_against_those_of_the_candidate_alone() -> None:
    def found(first: int, last: int) -> Critical:
        """Critical in the candidate's first nine segments, in the baseline's first and last ones."""
        new: list[Severity | None] = ["critical" if n < 9 else None for n in range(60)]
        old: list[Severity | None] = ["critical" if n < first or n >= 60 - last else None for n in range(60)]
        critical = gate(marks("new", new), marks("old", old), margin=50).critical
        assert critical is not None
        return critical

    many, few = found(2, 8), found(2, 4)
    assert (many.candidate, many.baseline, len(many.new), many.gone, many.p) == (9, 10, 7, 8, 1)
    assert few.gone == 4
    assert few.p == pytest.approx(stats.binom.sf(6, 11, 0.5))


def test_as_many_critical_errors_veto_a_better_candidate_no_oftener_than_alpha() -> None:
    rng, vetoed = np.random.default_rng(1), 0
    for _ in range(2000):
        ours, theirs = rng.random((2, 300)) < 0.02
        vetoed += critical_p_value(ours & ~theirs, theirs & ~ours) <= 0.05
    assert vetoed <= 2000 * 0.05


@pytest.mark.parametrize(("allowed", "rate"), [(0, 0.02), (5, 0.02), (30, 0.001), (30, 0.1)])
def test_critical_errors_that_are_allowed_are_no_veto_oftener_than_alpha(allowed: int, rate: float) -> None:
    rng, vetoed = np.random.default_rng(2), 0
    for _ in range(1000):
        ours, theirs = rng.random(300) < rate + allowed / 300, rng.random(300) < rate
        vetoed += critical_p_value(ours & ~theirs, theirs & ~ours, allowed) <= 0.05
    assert vetoed <= 1000 * 0.05 + 14


def test_critical_errors_of_one_document_are_one_accident() -> None:
    new, gone = np.arange(60) < 6, np.zeros(60, dtype=bool)
    assert critical_p_value(new, gone) == pytest.approx(2**-6)
    assert critical_p_value(new, gone, documents=np.arange(60) // 6) == 0.5


def test_all_segments_are_one_of_the_tests_that_holm_corrects() -> None:
    domains = {("en-de", str(n)): f"d{n % 4}" for n in range(200)}
    centred = NOISE - NOISE.mean()
    error = centred.std(ddof=1) / np.sqrt(200)
    shift = -1 - 1.9 * error
    alone = gate(ratings("new", np.array(BASE) + centred + shift), ratings("old", BASE))
    assert (alone.verdict, alone.rows[0].found.p_worse < 0.05) == ("do-not-ship", True)
    found = gate(ratings("new", np.array(BASE) + centred + shift), ratings("old", BASE), domains=domains)
    assert found.rows[0].verdict == "not-enough-data"


def test_rare_catastrophes_that_no_segment_shows_are_reckoned_with() -> None:
    new, old = marks("new", [None] * 100), marks("old", [None] * 100)
    few, enough = (gate(new, old, margin, unseen="scale", scale=(-25, 0)) for margin in (0.5, 1.0))
    assert (few.verdict, few.settings.scale) == ("not-enough-data", (-25, 0))
    assert few.rows[0].found.p_as_good == pytest.approx((1 - 0.5 / 25) ** 100, abs=0.03)
    assert few.rows[0].more == pytest.approx(3.486 * 25 / 0.5 - 100, abs=2)
    assert enough.verdict == "ship"
    assert enough.rows[0].found.p_as_good == pytest.approx((1 - 1 / 25) ** 100, abs=0.01)
    assert any("one more segment at the end of the scale (-25 to 0)" in note for note in enough.notes)


def test_no_differences_and_no_scale_are_no_proof() -> None:
    found = gate(marks("new", [None] * 100), marks("old", [None] * 100), 1.0)
    assert found.verdict == "not-enough-data"
    assert (found.rows[0].found.p_as_good, found.rows[0].found.p_worse) == (1, 1)
    assert "all differences are equal" in found.reasons[0]


def test_documents_are_the_unit_where_they_are_known() -> None:
    by_document = np.repeat(RNG.normal(0, 6, 20), 10)
    new, old = ratings("new", np.array(BASE) + by_document, 10), ratings("old", BASE, 10)
    whole, apart = gate(new, old), gate(new, old, by_document=False)
    assert (whole.rows[0].found.units, apart.rows[0].found.units) == (20, 200)
    assert whole.rows[0].found.effective < 30
    wide, narrow = (each.rows[0].found.high - each.rows[0].found.low for each in (whole, apart))
    assert wide > 2 * narrow
    assert any("Documents are the unit: 200 segments of 20 documents" in note for note in whole.notes)
    assert whole.method.startswith("unit:document|bounds:student-t+hall+worst-seen|")


def test_a_domain_of_one_document_is_named_and_not_tested() -> None:
    def judged(system: str, shift: float) -> list[Record]:
        return [
            rated(system, str(n), v + shift * NOISE[n], document=f"d{max(0, n // 5 - 10)}")
            for n, v in enumerate(BASE)
        ]

    domains = {("en-de", str(n)): "law" if n < 55 else "news" for n in range(200)}
    found = gate(judged("new", 0.1), judged("old", 0), domains=domains)
    assert [row.name for row in found.rows] == ["all", "news"]
    assert "law is not tested alone: it has one document." in found.notes


def test_scores_outside_of_the_stated_range_are_refused() -> None:
    with pytest.raises(UsageError, match="outside of the range 0 to 50"):
        gate(ratings("new", BASE), ratings("old", BASE), unseen="scale", scale=(0, 50))


def test_where_nobody_marks_critical_errors_the_gate_says_so() -> None:
    found = gate(ratings("new", BASE), ratings("old", BASE))
    assert found.critical is None
    assert any("The critical-error check is off" in note for note in found.notes)


def test_what_failed_is_no_reason_to_ship() -> None:
    lost = [failed("new", segment=str(n)) for n in range(190, 200)]
    new = [*ratings("new", np.array(BASE) + 5)[:190], *lost]
    found = gate(new, ratings("old", BASE))
    assert (found.verdict, found.missing, found.asked) == ("not-enough-data", 10, 200)
    assert (found.candidate.n, found.candidate.failed, found.baseline.failed) == (190, 10, 0)
    assert "10 of 200 segments lack a score on one side" in found.reasons[0]
    assert gate(new, ratings("old", BASE), max_failed=0.05, unseen="scale").verdict == "ship"


def test_what_failed_counts_against_the_share_of_all_segments_however_many_domains_there_are() -> None:
    domains = {("en-de", str(n)): f"d{n % 4}" for n in range(200)}
    lost = [failed("new", segment=str(n)) for n in (197, 198, 199)]
    new = [*ratings("new", np.array(BASE) + 5 + NOISE)[:197], *lost]
    found = gate(new, ratings("old", BASE), domains=domains)
    assert (found.verdict, found.missing) == ("not-enough-data", 3)
    assert gate(new, ratings("old", BASE), domains=domains, max_failed=0.015).verdict == "ship"


@pytest.mark.parametrize(("count", "shift"), [(1, 0), (2, 0), (9, 0), (9, -30)])
def test_a_handful_of_segments_is_not_enough_data(count: int, shift: float) -> None:
    new = np.array(BASE[:count]) + 0.01 * NOISE[:count] + shift
    found = gate(ratings("new", new), ratings("old", BASE[:count]))
    assert found.verdict == "not-enough-data"
    assert found.rows[0].more == 10 - count
    told = f"All segments: a verdict takes 10 that are judged on both sides, got {count}; {10 - count} more "
    assert found.reasons[0].startswith(told)


@pytest.mark.parametrize(
    "settings",
    [
        {"margin": -1},
        {"margin": float("nan")},
        {"margin": 1, "alpha": 0.5},
        {"margin": 1, "more_critical": -1},
        {"margin": 1, "critical_alpha": 0},
        {"margin": 1, "unseen": "never"},
        {"margin": 1, "scale": (1, 1)},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        GateSettings(**settings)  # type: ignore[arg-type]


NONINFERIORITY_RNG = np.random.default_rng(5)


def totals(candidate: list[float], baseline: list[float], sizes: list[float] | None = None) -> Totals:
    weights = np.ones(len(candidate)) if sizes is None else np.array(sizes)
    return Totals(
        sums=np.stack([np.array(candidate) * weights, np.array(baseline) * weights], axis=1),
        sizes=np.stack([weights, weights], axis=1),
    )


numbers = st.lists(
    st.tuples(st.floats(-50, 0, width=16), st.floats(-50, 0, width=16)), min_size=3, max_size=30
)


def test_one_unit_shows_nothing() -> None:
    found = non_inferiority(totals([-1.0], [-2.0]), 3.0)
    assert (found.low, found.high, found.p_as_good, found.p_worse) == (-math.inf, math.inf, 1, 1)
    assert more_segments(found, 1, 3.0) is None


@given(numbers, st.sampled_from([0.0, 0.5, 3.0]))
def test_of_few_segments_it_is_at_least_scipy_s_t_test(
    pairs: list[tuple[float, float]], margin: float
) -> None:
    candidate, baseline = (list(side) for side in zip(*pairs, strict=True))
    gaps = np.array(candidate) - np.array(baseline)
    found = non_inferiority(totals(candidate, baseline), margin)
    assert found.difference == pytest.approx(gaps.mean(), abs=1e-9)
    if gaps.std() < 1e-6:
        return
    expected = stats.ttest_1samp(gaps, -margin, alternative="greater")
    assert found.p_as_good >= expected.pvalue - 1e-9
    assert found.p_worse >= 1 - expected.pvalue - 1e-9
    assert found.low <= expected.confidence_interval(0.95).low + 1e-6


def test_of_many_segments_without_skew_it_is_the_paired_t_test_that_scipy_has() -> None:
    gaps = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    found = non_inferiority(totals(gaps.tolist(), [0.0] * 400), 0.1)
    expected = stats.ttest_1samp(gaps, -0.1, alternative="greater")
    assert found.p_as_good == pytest.approx(expected.pvalue, abs=0.006)
    assert found.low == pytest.approx(expected.confidence_interval(0.95).low, abs=0.006)


@given(numbers, st.floats(0, 5), st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_and_tests_agree(pairs: list[tuple[float, float]], margin: float, alpha: float) -> None:
    candidate, baseline = (list(side) for side in zip(*pairs, strict=True))
    found = non_inferiority(totals(candidate, baseline), margin, alpha=alpha)
    if found.error and abs(found.low + margin) > 1e-9:
        assert (found.p_as_good <= alpha) == (found.low > -margin)
    if found.error and abs(found.high + margin) > 1e-9:
        assert (found.p_worse <= alpha) == (found.high < -margin)


def test_a_margin_between_two_draws_has_a_p_of_exactly_alpha() -> None:
    scores = totals([0.0] * 11 + [-5.0] * 11, [0.0] * 22)
    low = non_inferiority(scores, 0.0).low
    within, beyond = (non_inferiority(scores, -low + step) for step in (1e-6, -1e-6))
    assert within.p_as_good == 0.05 < beyond.p_as_good


def test_documents_of_different_lengths_count_by_their_lengths() -> None:
    found = non_inferiority(totals([1.0, 2.0, 6.0], [1.0, 2.0, 0.0], [4.0, 4.0, 2.0]), 0.0)
    assert found.difference == pytest.approx(12 / 10)
    rest = np.array([-1.2 * 4, -1.2 * 4, 12 - 1.2 * 2]) / (10 / 3)
    assert found.error == pytest.approx(math.sqrt((rest @ rest) / 6))


@pytest.mark.parametrize("shift", [0.0, -1.0, -0.5])
def test_where_all_units_differ_alike_nothing_is_shown_without_a_scale(shift: float) -> None:
    scores = [10.0, 20.0, 30.0, 40.0]
    found = non_inferiority(totals([s + shift for s in scores], scores), 0.5)
    assert (found.error, found.p_as_good, found.p_worse) == (0.0, 1.0, 1.0)
    assert more_segments(found, 4, 0.5) is None


@pytest.mark.parametrize("successes", [0, 3, 20])
def test_of_zeros_and_ones_on_a_scale_the_bound_is_clopper_and_pearsons_or_wider(successes: int) -> None:
    values = [1.0] * successes + [0.0] * (60 - successes)
    found = non_inferiority(totals([-v for v in values], [0.0] * 60), 0.0, scale=(-1.0, 0.0))
    exact = stats.beta.ppf(0.95, successes + 1, 60 - successes)
    assert exact - 0.005 <= -found.low <= exact + 0.035  # wider where Hall's correction sees the skew


def test_so_many_more_segments_do_decide() -> None:
    gaps = NONINFERIORITY_RNG.normal(0.1, 2.0, 100)
    found = non_inferiority(totals(list(gaps), [0.0] * 100), 0.2)
    more = more_segments(found, 100, 0.2)
    assert more is not None
    n, distance = 100 + more, abs(found.difference + 0.2)
    reached = stats.norm.sf(stats.norm.isf(0.05) - distance / (found.error * math.sqrt(100 / n)))
    assert reached == pytest.approx(0.8, abs=0.01)


def test_at_the_margin_itself_no_number_of_segments_decides() -> None:
    found = non_inferiority(totals([1.0, -1.0, 1.0, -1.0], [0.0] * 4), 0.0)
    assert more_segments(found, 4, 0.0) is None


AMOUNT = 60


def replacing_ratings(system: str, shift: float = 0.0) -> list[Record]:
    return [rated(system, str(n), 50 + n % 7 + shift + (n % 3 - 1) * bool(shift)) for n in range(AMOUNT)]


OLD, WORSE = replacing_ratings("old"), replacing_ratings("worse", -10.0)


def test_two_lists_of_records_two_files_and_two_systems_of_one_give_one_verdict(tmp_path: Path) -> None:
    old, worse, both = (tmp_path / f"{name}.jsonl" for name in ("old", "worse", "both"))
    write_records(old, OLD)
    write_records(worse, WORSE)
    write_records(both, [*OLD, *WORSE])
    found = [
        adjudge.gate(OLD, WORSE, margin=1),
        adjudge.gate(old, str(worse), margin=1),
        adjudge.gate(both, margin=1, systems=("old", "worse")),
        adjudge.gate(both, both, margin=1, systems=("old", "worse")),
    ]
    assert {(gate.verdict, gate.candidate.name, gate.baseline.name) for gate in found} == {
        ("do-not-ship", "worse", "old")
    }
    assert len({gate.rows[0].found for gate in found}) == 1


def test_the_domains_of_a_test_set_have_rows_of_their_own() -> None:
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="Hi.", domain="law" if n % 2 else "chat")
        for n in range(AMOUNT)
    )
    texts = TestSet(name="t", segments=segments)
    found = adjudge.gate(OLD, replacing_ratings("new", 0.5), margin=1, test_set=texts)
    assert [row.name for row in found.rows] == ["all", "chat", "law"]


def test_a_filler_brings_no_critical_error() -> None:
    def judged(system: str) -> list[Record]:
        return [mqm(system, str(n), *([error("minor")] if n % 2 else [])) for n in range(AMOUNT)]

    filler = replace(mqm("new", "0", error("critical")), flags=("duplicate",))
    found: Any = adjudge.gate(judged("old"), [filler, *judged("new")], margin=20, scale=(-25, 0))
    assert (found.verdict, found.critical.candidate) == ("ship", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name both systems"),
        ({"systems": ("old", "old")}, "the candidate must be another system"),
        ({"systems": ("old",)}, "as OLD,NEW; got 'old'"),
        ({"systems": ("old", "new"), "metric": "BLEU"}, "gold or metric is of a test set: give the path"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        adjudge.gate(OLD, margin=1, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["test_set", "criterion"])
def test_what_is_for_judgements_is_refused_beside_the_scores_of_a_test_set(option: str) -> None:
    given: Any = {option: "other", "systems": ("old", "new"), "gold": "mqm"}
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')} is for judgements"):
        adjudge.gate("set", margin=1, **given)


def test_weights_and_criteria_are_chosen_as_by_the_command() -> None:
    def judged(system: str, category: str) -> list[Record]:
        return [mqm(system, str(i), error("minor", category)) for i in range(20)]

    old, new = judged("old", "fluency/punctuation"), judged("new", "fluency/grammar")
    google, plain = (adjudge.gate(old, new, margin=0.5, weights=w) for w in (None, "ea-prompt"))
    assert google.rows[0].found.difference == pytest.approx(-0.9)
    assert plain.rows[0].found.difference == 0
    with pytest.raises(UsageError, match="a criterion chooses among preferences"):
        adjudge.gate(old, new, margin=1, criterion="fluency")
