from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.compare import read_one_annotator
from adjudge.analysis.power import SeparationSettings, separations
from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Record
from adjudge.errors import UsageError
from tests.scoring.records import rated

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
    found = separations(score_records(records()), settings=SeparationSettings(by_document=False))
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
    (few,) = separations(
        score_records(records()), ("a", "b"), settings=SeparationSettings(segments=15, by_document=False)
    )
    (many,) = separations(
        score_records(records()), ("a", "b"), settings=SeparationSettings(segments=60, by_document=False)
    )
    assert few.detectable == pytest.approx(2 * many.detectable, rel=0.1)
    assert few.detectable > 2 * many.detectable
    assert few.needed == many.needed


def test_what_annotators_bring_is_told_where_there_are_several() -> None:
    apart = {name: records(name, 8.0) for name in ("one", "three")}
    whole = score_records([record for each in apart.values() for record in each])
    alone = {name: score_records(each) for name, each in apart.items()}
    rows = [
        separations(whole, ("a", "b"), settings=SeparationSettings(annotators=m), by_annotator=alone)[0]
        for m in (1, 2, 8)
    ]
    assert rows[0].annotator_sd == pytest.approx(8 * np.sqrt(2), rel=0.2)
    assert rows[0].detectable > rows[1].detectable > rows[2].detectable
    assert [row.plan.annotators for row in rows] == [1, 2, 8]
    with pytest.raises(UsageError, match="what more annotators bring"):
        separations(score_records(records()), ("a", "b"), settings=SeparationSettings(annotators=2))


def test_documents_vary_as_wholes_where_they_are_known() -> None:
    (row,) = separations(score_records(records()), ("a", "b"))
    assert (
        row
        == separations(score_records(records()), ("a", "b"), settings=SeparationSettings(by_document=True))[0]
    )
    assert (row.units, row.plan.per_unit, row.plan.pilot) == (12, 5, 12)
    means = GAPS.reshape(12, 5).mean(axis=1)
    assert row.plan.spread / np.sqrt(60) == pytest.approx(means.std(ddof=1) / np.sqrt(12))
    assert row.n == 60


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (("a", "z"), "there is no system 'z'"),
        (("a", "a"), "'a' cannot be told from itself"),
        (("a",), "told apart"),
    ],
)
def test_wrong_systems_are_refused(systems: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        separations(score_records(records()), systems)


def test_one_segment_has_no_spread() -> None:
    both = score_records([rated("a", "1", 3.0), rated("b", "1", 2.0)])
    with pytest.raises(UsageError, match="a spread needs two segments"):
        separations(both)


@pytest.mark.realdata
def test_systems_of_wmt23_that_do_not_differ_need_more(adjudge_data: Path) -> None:
    scores, _ = read_one_annotator(adjudge_data / "wmt23", "en-de", "gold", "mqm")
    (row,) = separations(scores, ("GPT4-5shot", "ONLINE-W"))
    assert row.p > 0.05
    assert row.needed is not None
    assert row.needed > row.n == 460
    assert row.detectable > abs(row.difference)
