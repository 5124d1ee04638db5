"""Cut-offs as a person reads them."""

from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.thresholds import Band, Cut, Thresholds, ThresholdSettings
from adjudge.reports.result_tables import threshold_table


def cut(bound: float | None) -> Cut:
    return Cut(bound=bound, n=0, wrong=0, interval=None)


def shown(publish: float | None, reject: float | None) -> tuple[str, str]:
    shares = {"publish": 0.2, "post-edit": 0.5, "reject": 0.3}
    band = Band(
        name="all",
        kind="all",
        n=100,
        sources=100,
        bad=10,
        publish=cut(publish),
        reject=cut(reject),
        shares=shares,  # type: ignore[arg-type]
    )
    found = Thresholds(bands=(band,), settings=ThresholdSettings(), bad="any error", signature="j", notes=())
    (row,) = threshold_table(found, exact=False).rows
    return row[3], row[6]


@given(
    scores=st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2, unique=True),
    digits=st.integers(0, 9),
)
def test_two_cut_offs_never_look_the_same(scores: list[int], digits: int) -> None:
    publish, reject = (score / 10**digits for score in scores)
    first, second = shown(publish, reject)
    assert first != second


def test_a_cut_off_has_no_more_digits_than_it_takes() -> None:
    assert shown(0.8312, 0.8309) == ("0.8312", "0.8309")
    assert shown(0.83123, 0.83119) == ("0.83123", "0.83119")
    assert shown(81.25, 40.5) == ("81.2", "40.5")
    assert shown(81.25, 81.25) == ("81.2", "81.2")
    assert shown(None, 40.5) == ("–", "40.5")
