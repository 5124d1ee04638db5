from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from adjudge.analysis.segment_scores import score_records
from adjudge.analysis.thresholds import (
    ThresholdSettings,
    bad_by_score,
    bad_by_severity,
    decide,
    find_thresholds,
)
from adjudge.core.record import Record
from adjudge.errors import DataError, UsageError
from tests.analysis.records import error, failed, mqm, rated

RNG = np.random.default_rng(0)
SCORES = RNG.permutation(400) / 4.0  # 0 to 99.75
CHANCE = np.where(SCORES > 60, 0.005, np.where(SCORES > 30, 0.5, 0.99))
BAD = RNG.random(400) < CHANCE


def judged(count: int = 400, lp: str = "en-de") -> list[Record]:
    return [rated("x", str(n), float(SCORES[n]), lp=lp) for n in range(count)]


def labels(count: int = 400, lp: str = "en-de") -> dict[tuple[str, str, str], bool]:
    return {(lp, str(n), "x"): bool(BAD[n]) for n in range(count)}


def found(bad: dict[tuple[str, str, str], bool], records: list[Record], **settings: object) -> Any:
    domains = settings.pop("domains", None)
    made = ThresholdSettings(**settings)  # type: ignore[arg-type]
    return find_thresholds(score_records(records), bad, "bad", settings=made, domains=domains)  # type: ignore[arg-type]


def test_what_is_published_and_rejected_keeps_within_the_risks() -> None:
    (band,) = found(labels(), judged(), publish_risk=0.05, reject_risk=0.1).bands
    assert 20 < band.reject.bound < band.publish.bound < 65
    above = band.publish.bound <= SCORES
    assert (band.publish.n, band.publish.wrong) == (above.sum(), BAD[above].sum())
    assert band.publish.interval.low <= band.publish.wrong / band.publish.n <= band.publish.interval.high
    assert sum(band.shares.values()) == pytest.approx(1)
    assert band.shares["publish"] == pytest.approx(above.mean())


def test_the_risk_of_unlabelled_translations_is_kept_too() -> None:
    (band,) = found(labels(200), judged(), publish_risk=0.1, delta=0.01).bands
    assert band.n == 200
    unseen = (band.publish.bound <= SCORES) & (np.arange(400) >= 200)
    assert CHANCE[unseen].mean() <= 0.1


def test_where_few_labels_show_nothing_it_says_how_many_would() -> None:
    done = found(labels(30), judged(), publish_risk=0.05)
    assert done.bands[0].publish.bound is None
    assert done.bands[0].shares["publish"] == 0
    assert any("takes 80 labelled sources at least, and there are 30." in note for note in done.notes)


def test_language_pairs_and_domains_have_bounds_of_their_own() -> None:
    bad = labels() | labels(300, "zh-en")
    domains = {("en-de", str(n)): "law" if n % 2 else "chat" for n in range(400)}
    done = found(bad, judged() + judged(300, "zh-en"), domains=domains)
    assert [(b.kind, b.name, b.n) for b in done.bands] == [
        ("all", "all", 700),
        ("lp", "en-de", 400),
        ("lp", "zh-en", 300),
        ("domain", "chat", 200),
        ("domain", "law", 200),
    ]


def test_a_translation_that_may_go_out_is_never_rejected() -> None:
    clean = dict.fromkeys(labels(), False)
    (band,) = found(clean, judged(), reject_risk=0.999).bands
    assert band.publish.bound == SCORES.min()
    assert band.reject.bound is None or band.reject.bound < band.publish.bound


def test_on_average_needs_fewer_labels_and_promises_something_else() -> None:
    done = found(labels(40), judged(), guarantee="average", publish_risk=0.1)
    assert done.bands[0].publish.bound is not None


@pytest.mark.parametrize(("value", "decision"), [(60.0, "publish"), (59.9, "post-edit"), (30.0, "reject")])
def test_bounds_belong_to_their_side(value: float, decision: str) -> None:
    assert decide(value, 60.0, 30.0) == decision
    assert decide(value, None, None) == "post-edit"


def test_bad_is_what_half_of_the_annotators_marked_so() -> None:
    records = [
        mqm("x", "1", error("major"), annotator="a"),
        mqm("x", "1", annotator="b"),
        mqm("x", "2", error("minor"), annotator="a"),
        mqm("x", "3", error("critical"), annotator="a"),
        mqm("x", "3", annotator="b"),
        mqm("x", "3", annotator="c"),
    ]
    assert bad_by_severity(records, "major") == {
        ("en-de", "1", "x"): True,
        ("en-de", "2", "x"): False,
        ("en-de", "3", "x"): False,
    }


def test_a_score_on_the_bound_is_not_below_it() -> None:
    gold = score_records([rated("a", str(n), n) for n in (49, 50, 51)])
    assert list(bad_by_score(gold, 50).values()) == [True, False, False]


def test_gold_of_a_protocol_without_such_errors_is_refused() -> None:
    scored = [rated("x", "1", -3.0, protocol="metric"), rated("x", "2", 0.0, protocol="metric")]
    with pytest.raises(UsageError, match=r"no major errors, for it is of protocol metric: .*--bad NUMBER"):
        bad_by_severity(scored, "major")
    with pytest.raises(UsageError, match="marks no critical errors, for it is of protocol esa"):
        bad_by_severity([rated("x", "1", 40.0, protocol="esa")], "critical")
    told = bad_by_severity([*scored, mqm("x", "3")], "major")
    assert told == {("en-de", "3", "x"): False}, "who could mark none has found nothing clean"


@pytest.mark.parametrize(
    ("records", "below", "scale"),
    [
        ([mqm("x", "1")], 66, "66 lies outside of gold's scores, which are 0 and below"),
        ([rated("x", "1", 40.0)], 101, "101 lies outside of gold's scores, which are 0 to 100"),
        ([rated("x", "1", 40.0)], 0, "0 lies outside of gold's scores, which are 0 to 100"),
        ([rated("x", "1", -0.0, protocol="metric")], 5, "5 lies outside of gold's scores, which are 0 and"),
    ],
)
def test_a_score_outside_of_the_scale_is_refused(records: list[Record], below: float, scale: str) -> None:
    with pytest.raises(UsageError, match=f"--bad {scale}"):
        bad_by_score(score_records(records), below)


@pytest.mark.parametrize(("is_bad", "which"), [(False, "None"), (True, "Every one")])
def test_labels_that_are_all_alike_are_named(is_bad: bool, which: str) -> None:
    notes = found(dict.fromkeys(labels(), is_bad), judged()).notes
    assert notes[0].startswith(f"{which} of the labelled translations is bad")


def test_where_no_domains_are_known_it_says_so() -> None:
    note = "No domains are known, and none has cut-offs: give the test set that says them."
    assert note in found(labels(), judged()).notes
    assert note not in found(labels(), judged(), domains={("en-de", "1"): "law"}).notes


def test_a_failed_judgement_of_gold_is_no_label() -> None:
    gold = score_records([rated("x", "1", 40.0), rated("x", "2", 80.0), failed("x", segment="3")])
    assert bad_by_score(gold, 66) == {("en-de", "1", "x"): True, ("en-de", "2", "x"): False}


def test_a_labelled_translation_whose_judgement_failed_is_counted() -> None:
    records = [*judged(399), failed("x", segment="399")]
    notes = found(labels(), records).notes
    assert any(note.startswith("1 labelled translation has no score") for note in notes)


def test_labels_of_another_test_set_are_refused() -> None:
    with pytest.raises(DataError, match="are both of one test set"):
        found({("en-de", "a", "y"): True}, judged())


@pytest.mark.parametrize("name", ["publish_risk", "reject_risk", "delta"])
def test_a_risk_is_a_share(name: str) -> None:
    with pytest.raises(UsageError, match="must be less than 1; got 1"):
        ThresholdSettings(**{name: 1.0})  # type: ignore[arg-type]


def of_documents(count: int = 400, size: int = 4) -> list[Record]:
    return [rated("x", str(n), float(SCORES[n]), document=str(n // size)) for n in range(count)]


def test_documents_are_groups_where_that_is_asked_for() -> None:
    apart = found(labels(), of_documents(), publish_risk=0.2)
    assert (apart.bands[0].sources, apart.bands[0].n) == (400, 400)
    assert any("if documents were drawn for labelling, add --by-document" in note for note in apart.notes)
    whole = found(labels(), of_documents(), publish_risk=0.2, by_document=True)
    assert (whole.bands[0].sources, whole.bands[0].n) == (100, 400)
    assert any("Translations of one document are not independent" in note for note in whole.notes)
    assert not any("--by-document" in note for note in whole.notes)
    one, other = apart.bands[0].publish.bound, whole.bands[0].publish.bound
    assert other is None or other >= one
    with pytest.raises(UsageError, match="these scores name none"):
        found(labels(), judged(), by_document=True)


def test_all_guarantees_hold_together_where_that_is_asked_for() -> None:
    """Two bands beside all, of two cut-offs each: six promises share delta."""
    domains = {("en-de", str(n)): "news" if n % 2 else "chat" for n in range(400)}
    each = found(labels(), judged(), publish_risk=0.2, domains=domains)
    whole = found(labels(), judged(), publish_risk=0.2, domains=domains, together=True)
    strict = found(labels(), judged(), publish_risk=0.2, domains=domains, delta=0.05 / 6)
    assert len(each.bands) == 3
    assert [band.publish for band in whole.bands] == [band.publish for band in strict.bands]
    assert whole.bands[0].publish.n < each.bands[0].publish.n
    assert whole.settings.delta == 0.05
    with pytest.raises(UsageError, match="together is for tested guarantees"):
        found(labels(), judged(), guarantee="average", together=True)


def test_the_interval_of_a_cut_off_counts_sources_and_not_translations() -> None:
    """Four translations of a source that are all alike are worth one."""
    same: list[Record] = [rated(name, str(n), float(SCORES[n])) for name in "wxyz" for n in range(200)]
    bad = {("en-de", str(n), name): bool(BAD[n]) for name in "wxyz" for n in range(200)}
    (four,) = found(bad, same, publish_risk=0.3).bands
    (one,) = found(labels(200), judged(200), publish_risk=0.3).bands
    shares = binomtest(one.publish.wrong, one.publish.n).proportion_ci(0.95, method="exact")
    assert one.publish.interval == pytest.approx((shares.low, shares.high))
    n = sum(SCORES[:200] >= four.publish.bound)
    wrong = int(BAD[:200][SCORES[:200] >= four.publish.bound].sum())
    alike = binomtest(wrong, int(n)).proportion_ci(0.95, method="exact")
    assert four.publish.interval == pytest.approx((alike.low, alike.high), abs=0.01)
