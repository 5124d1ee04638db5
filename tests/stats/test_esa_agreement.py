"""Agreement as the ESA paper measures it (table 4), from the raw files of its campaigns."""

from pathlib import Path

import numpy as np
import pytest

from adjudge.reproduce.esa_tables import Study
from adjudge.stats.agreement_coefficients import error_recall
from adjudge.stats.correlation import kendall_c, pearson

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def study(adjudge_data: Path) -> Study:
    return Study(adjudge_data / "esa", adjudge_data / "wmt23", str)


@pytest.mark.parametrize(
    ("first", "second", "tau", "r", "recall"),
    [
        ("ESA_1", "ESA_again", 0.1488, 0.4029, (69.58, 70.66, 82.64)),
        ("MQM", "MQM_again", 0.1091, 0.1892, (61.91, 66.22, 82.10)),
        ("ESA_1", "ESA_2", 0.2538, 0.4821, (66.62, 67.70, 84.79)),
    ],
)
def test_the_numbers_of_the_paper_come_out(
    first: str, second: str, tau: float, r: float, recall: tuple[float, ...], study: Study
) -> None:
    assert len(study.again) == 743
    one, two = (study.scores(name, study.again) for name in (first, second))
    assert kendall_c(one, two).value == pytest.approx(tau, abs=5.1e-5)
    assert pearson(one, two).value == pytest.approx(r, abs=5.1e-5)
    for kinds, wanted in zip(({"minor", "major", "undecided"}, {"minor"}, {"major"}), recall, strict=True):
        a, b = (
            np.array([float(sum(s in kinds for s in found)) for found in study.severities(name, study.again)])
            for name in (first, second)
        )
        assert 100 * (error_recall(a, b).value or 0) == pytest.approx(wanted, abs=0.0051)
