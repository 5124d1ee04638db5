from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from adjudge.analysis.gate import Gate, GateSettings, critical_p_value, gate_scores
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Record
from adjudge.core.typology import Severity
from adjudge.errors import UsageError
from tests.scoring.records import error, failed, mqm, rated

RNG = np.random.default_rng(7)
BASE = list(60 + 10 * RNG.random(200))
NOISE = RNG.normal(0, 3, 200)


def ratings(system: str, values: Iterable[float]) -> list[Record]:
    return [rated(system, str(n), float(value)) for n, value in enumerate(values)]


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
    assert [(row.name, row.verdict) for row in found.rows] == [
        ("all", "ship"),
        ("law", "do-not-ship"),
        ("news", "ship"),
    ]
    assert found.verdict == "do-not-ship"
    assert found.reasons[0].startswith("law: worse by more than the margin of 1")


def test_a_domain_may_have_a_margin_of_its_own() -> None:
    half = {("en-de", str(n)): "law" if n < 100 else "news" for n in range(200)}
    found = gate(
        ratings("new", np.array(BASE) + NOISE), ratings("old", BASE), domain_margin=3.0, domains=half
    )
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
def test_critical_errors_are_a_veto_where_it_is_shown_that_there_are_more(
    count: int, settings: dict[str, float], verdict: str
) -> None:
    old = marks("old", ["minor", None, "major"] * 20)
    new = marks("new", [*["critical"] * count, *[None] * (60 - count)])  # type: ignore[list-item]
    found = gate(new, old, 10.0, **settings)
    assert found.critical is not None
    assert (found.critical.candidate, found.critical.baseline) == (count, 0)
    assert found.critical.new == tuple(f"en-de/{n}" for n in range(count))
    assert found.verdict == verdict
    if verdict == "do-not-ship":
        assert found.reasons[0].startswith(f"Segments with critical errors: candidate {count}, baseline 0,")


def test_as_many_critical_errors_veto_a_better_candidate_no_oftener_than_alpha() -> None:
    rng, vetoed = np.random.default_rng(1), 0
    for _ in range(2000):
        ours, theirs = rng.random((2, 300)) < 0.02
        vetoed += critical_p_value(ours & ~theirs, theirs & ~ours) <= 0.05
    assert vetoed <= 2000 * 0.05


@pytest.mark.parametrize(("allowed", "rate"), [(0, 0.02), (5, 0.02), (30, 0.001), (30, 0.1)])
def test_more_critical_errors_up_to_those_allowed_are_no_veto_oftener_than_alpha(
    allowed: int, rate: float
) -> None:
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
    def judged(system: str, values: Iterable[float]) -> list[Record]:
        return [rated(system, str(n), v, document=f"d{n // 10}") for n, v in enumerate(values)]

    by_document = np.repeat(RNG.normal(0, 6, 20), 10)
    new, old = judged("new", (np.array(BASE) + by_document).tolist()), judged("old", BASE)
    whole, apart = gate(new, old), gate(new, old, by_document=False)
    assert (whole.rows[0].found.units, apart.rows[0].found.units) == (20, 200)
    assert whole.rows[0].found.effective < 30
    assert whole.rows[0].found.high - whole.rows[0].found.low > 2 * (
        apart.rows[0].found.high - apart.rows[0].found.low
    )
    assert any(
        note.startswith("Documents are the unit: 200 segments of 20 documents") for note in whole.notes
    )
    assert whole.method.startswith("unit:document|bounds:student-t+bootstrap-t+worst-seen|")


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
    assert any("Critical errors veto nothing here" in note for note in found.notes)


def test_what_failed_is_no_reason_to_ship() -> None:
    new = [
        *ratings("new", np.array(BASE) + 5)[:190],
        *(failed("new", segment=str(n)) for n in range(190, 200)),
    ]
    found = gate(new, ratings("old", BASE))
    assert (found.verdict, found.missing, found.asked) == ("not-enough-data", 10, 200)
    assert "10 of 200 segments lack a score on one side" in found.reasons[0]
    assert gate(new, ratings("old", BASE), max_failed=0.05, unseen="scale").verdict == "ship"


@pytest.mark.parametrize("count", [1, 2, 9])
def test_a_handful_of_segments_is_not_enough_data(count: int) -> None:
    found = gate(ratings("new", np.array(BASE[:count]) + 0.01 * NOISE[:count]), ratings("old", BASE[:count]))
    assert found.verdict == "not-enough-data"
    assert found.rows[0].more == 10 - count
    told = f"All segments: a verdict takes 10 that are judged on both sides, got {count}; {10 - count} more "
    assert found.reasons[0].startswith(told)


def test_what_is_far_worse_takes_ten_segments_too() -> None:
    worse = gate(ratings("new", np.array(BASE[:9]) - 30), ratings("old", BASE[:9]))
    assert worse.verdict == "not-enough-data"


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
