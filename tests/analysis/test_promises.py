"""What `score`, `rank`, `compare` and `gate` promise, simulated on made-up documents."""

import math

import numpy as np
import pytest

from benchmarks.coverage import GUARANTEES, Population, rare_catastrophes, remembering

DRAWS = 100


@pytest.fixture(scope="module")
def population() -> Population:
    """Four systems, 120 documents of one to eight segments that go wrong together, few of them badly."""
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(120), rng.integers(1, 9, 120))
    hard = rng.gamma(0.3, 4, (4, 120))[:, documents]
    return Population(name="made up", scores=-hard - rng.gamma(0.5, 2, hard.shape), documents=documents)


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("score", 12),
        ("score", 100),
        ("compare", 12),
        ("compare", 100),
        ("gate", 12),
        ("gate", 100),
        ("gate-skew", 40),
    ],
)
def test_what_is_promised_holds_for_skewed_documents(population: Population, name: str, units: int) -> None:
    guarantee, _ = GUARANTEES[name]
    with remembering():
        found = [one for one in guarantee(population, units, DRAWS) if not math.isnan(one.promised)]
    for one in found:
        beyond = one.promised - one.found if one.promised > 0.5 else one.found - one.promised
        noise = math.sqrt(0.05 * 0.95 / DRAWS)
        assert beyond <= 0.02 + 3 * noise, one
        if one.promised > 0.5:
            assert one.found < 1, "an interval that always holds says nothing"


def test_holm_keeps_all_systems_apart_from_false_claims(population: Population) -> None:
    """Four equal systems: by chance alone some pair differs often, and corrected hardly ever."""
    guarantee, _ = GUARANTEES["rank"]
    with remembering():
        found = {one.what: one.found for one in guarantee(population, 40, DRAWS)}
    equal = "some wrong `better than`, all systems equal"
    assert found[f"rank --holm: {equal}"] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / DRAWS)
    assert found[f"rank: {equal}"] > found[f"rank --holm: {equal}"]
    assert found["rank --holm: all ranges of ranks hold at once"] >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / DRAWS)


def test_catastrophes_that_half_of_the_samples_do_not_show_do_not_ship() -> None:
    (found,) = rare_catastrophes(
        Population(name="", scores=np.zeros((2, 1)), documents=np.zeros(1, int)), 70, 40
    )
    assert found.found == 0
