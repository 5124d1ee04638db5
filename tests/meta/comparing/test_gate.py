from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from adjudge.core.annotation import Record
from adjudge.core.typology import Severity
from adjudge.errors import UsageError
from adjudge.meta.comparing.gate import Gate, GateSettings, gate_scores
from adjudge.scoring.score import score
from tests.scoring.records import error, failed, mqm, rated

RNG = np.random.default_rng(7)
BASE = list(60 + 10 * RNG.random(200))
NOISE = RNG.normal(0, 3, 200)


def ratings(system: str, values: Iterable[float]) -> list[Record]:
    return [rated(system, str(n), float(value)) for n, value in enumerate(values)]


def gate(candidate: list[Record], baseline: list[Record], margin: float = 1.0, **settings: object) -> Gate:
    domains = settings.pop("domains", None)
    return gate_scores(
        score(candidate),
        score(baseline),
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
    found = gate(ratings("new", np.array(BASE) + 2), ratings("old", BASE), domains=domains)
    assert found.verdict == "ship"
    assert "law is not tested alone: it has fewer than 10 common segments." in found.notes


def marks(system: str, severities: Sequence[Severity | None]) -> list[Record]:
    return [mqm(system, str(n), *([error(s)] if s else [])) for n, s in enumerate(severities)]


@pytest.mark.parametrize(("allowed", "verdict"), [(0, "do-not-ship"), (1, "ship")])
def test_a_new_critical_error_is_a_veto_unless_it_is_allowed(allowed: int, verdict: str) -> None:
    old = marks("old", ["minor", None, "major"] * 20)
    new = marks("new", ["critical", *[None] * 59])
    found = gate(new, old, 5.0, more_critical=allowed)
    assert found.critical is not None
    assert (found.critical.candidate, found.critical.baseline, found.critical.new) == (1, 0, ("en-de/0",))
    assert found.verdict == verdict
    if allowed == 0:
        assert found.reasons[0] == (
            "Segments with critical errors: candidate 1, baseline 0, allowed 0; new: en-de/0."
        )


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
    assert gate(new, ratings("old", BASE), max_failed=0.05).verdict == "ship"


@pytest.mark.parametrize("count", [1, 2, 9])
def test_a_handful_of_segments_is_not_enough_data(count: int) -> None:
    found = gate(ratings("new", BASE[:count]), ratings("old", BASE[:count]))
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
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        GateSettings(**settings)  # type: ignore[arg-type]
