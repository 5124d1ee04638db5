"""Which severity a run gives to what gold marks."""

from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.spans import SpanComparison, severity_confusion, spans
from adjudge.core.protocol import Severity
from adjudge.core.record import ErrorSpan, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import AdjudgeError, DataError, UsageError
from adjudge.formats.mqm_tsv import write_mqm_tsv
from adjudge.formats.mtme import write_ratings
from adjudge.store.json_lines import write_records
from tests.analysis.judged import marked, run_of, span, texts, write_run
from tests.analysis.records import failed, preferred, rated

# Which judgements are compared, in what they count, and what a reader is told.


GOLD: list[Record] = [
    marked("a", "1", span("old lab", "major", "accuracy/mistranslation")),
    marked("a", "2", span("closed"), span("The", "major", "fluency/grammar")),
    marked("b", "1"),
    marked("b", "2", span("alte", side="source")),
]
PRED: list[Record] = [
    marked("a", "1", span("old lab", "minor", "accuracy/mistranslation")),
    marked("a", "2", span("closed today"), span("no such words")),
    failed("b", segment="1", protocol="mqm", lp="de-en"),
    marked("a", "3"),
]

NOWHERE = (
    "1 of 3 marks of the run has no place: em, mp and mpp match them only with one another, w25 and chars "
    "leave them out."
)


def values(found: SpanComparison, place: int = 0) -> tuple[float, ...]:
    score = found.scores[place]
    return score.precision, score.recall, score.f1


def test_only_what_both_judged_is_compared_and_failures_are_counted_beside() -> None:
    found = spans(run_of(PRED), GOLD)
    # pairs: "old lab" in full, "closed" (6 of 12 characters of "closed today"); one quotation is nowhere
    assert values(found) == pytest.approx((1.5 / 3, 2 / 3, 4 / 7))
    (score,) = found.scores
    assert (score.n_gold, score.n_pred, score.n_segments, found.n_segments, found.failed) == (3, 3, 2, 2, 1)
    assert tuple(note for note in found.notes if not note.startswith("Texts")) == (
        "1 of 4 translations that gold judged failed in the run: in no number.",
        "1 of 4 translations that gold judged is not in the run.",
        "1 of 3 translations that the run judged has no gold.",
        NOWHERE,
    )


def test_one_segment_has_no_intervals_and_a_note_says_so() -> None:
    alone, two = (spans(run_of(PRED[:n]), GOLD, resamples=20) for n in (1, 2))
    assert any("no intervals: one of the segments alone" in note for note in alone.notes)
    assert not any("no intervals" in note for note in (*two.notes, *spans(run_of(PRED[:1]), GOLD).notes))


GROUPS: list[tuple[Any, dict[str, tuple[int, int, float]]]] = [
    ("severity", {"major": (2, 0, 0), "minor": (1, 3, 2 * (0.5 / 3) / (1 + 0.5 / 3))}),
    (
        "category",
        {"accuracy/mistranslation": (1, 1, 1), "fluency/grammar": (1, 0, 0), "none": (1, 2, 0.4)},
    ),
    ("side", {"translation": (3, 3, 4 / 7)}),
    ("system", {"a": (3, 3, 4 / 7)}),
    ("lp", {"de-en": (3, 3, 4 / 7)}),
]


@pytest.mark.parametrize(("by", "groups"), GROUPS)
def test_groups_are_compared_with_themselves(by: Any, groups: dict[str, tuple[int, int, float]]) -> None:
    whole, *rows = spans(run_of(PRED), GOLD, by=by).scores
    assert whole.group == ""
    assert {row.group: (row.n_gold, row.n_pred) for row in rows} == {g: v[:2] for g, v in groups.items()}
    assert [row.f1 for row in rows] == pytest.approx([f1 for _, _, f1 in groups.values()])


def test_all_rules_stand_in_one_result() -> None:
    found = spans(run_of(PRED), GOLD, rule="all", threshold=[0.5, 1.0])
    of_words = [("himate", 0.5), ("himate", 1.0)]
    assert [(s.rule, s.threshold) for s in found.scores if s.unit == "words"] == of_words
    assert [s.rule for s in found.scores if s.threshold is None] == ["mpp", "em", "mp", "w25", "chars"]
    # himate: "closed" is one of the two words of "closed today"
    assert values(found, 4) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert values(found, 5) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_words_and_characters_differ() -> None:
    gold: list[Record] = [marked("a", "1", span("old"))]
    pred = run_of([marked("a", "1", span("old lab"))])
    assert values(spans(pred, gold)) == pytest.approx((3 / 7, 1, 0.6))
    assert values(spans(pred, gold, unit="words")) == pytest.approx((1 / 2, 1, 2 / 3))
    # a mark that cuts a word holds the word
    assert values(spans(run_of([marked("a", "1", span("ol"))]), gold, unit="words", rule="em")) == (1, 1, 1)


def test_words_need_the_texts() -> None:
    gold: list[Record] = [marked("a", "1", span("old"))]
    with pytest.raises(DataError, match="words can be compared only with the texts of the marks"):
        spans(gold, gold, unit="words")
    assert values(spans(gold, gold, unit="words", test_set=texts())) == (1, 1, 1)


def test_neutral_marks_count_only_where_they_are_asked_for() -> None:
    gold: list[Record] = [marked("a", "1", span("old", "neutral"))]
    found = spans(run_of(gold), gold)
    assert (found.scores[0].n_gold, values(found)) == (0, (1, 1, 1))
    assert "1 of 1 mark of gold is neutral and left out." in found.notes
    assert any(note.startswith("0 of 0 counts as 1: precision where nothing") for note in found.notes)
    assert spans(run_of(gold), gold, severities=["neutral"]).scores[0].n_gold == 1


def test_each_of_several_annotators_counts_and_one_can_be_kept() -> None:
    gold = [marked("a", "1", span("old"), annotator="one"), marked("a", "1", annotator="two")]
    run = run_of([marked("a", "1", span("old"))])
    found = spans(run, gold)
    assert values(found) == pytest.approx((0.5, 1, 2 / 3))
    note, _ = found.notes
    assert note == (
        "1 of 1 translation was judged several times in gold, by one, two; each judgement counts, "
        "--gold-annotator NAME keeps one."
    )
    assert values(spans(run, gold, gold_annotator="one")) == (1, 1, 1)
    with pytest.raises(UsageError, match="records has no annotator 'three'; it has one, two"):
        spans(run, gold, gold_annotator="three")


def test_marks_of_another_text_are_left_out_and_said() -> None:
    text = Segment(segment="1", lp="de-en", source="", translations={"a": "Quite another text, this."})
    other = TestSet(name="o", segments=(text,))
    gold: list[Record] = [marked("a", "1", span("old")), marked("b", "1", span("old"))]
    run = run_of([marked("a", "1"), marked("b", "1")], other)
    found = spans(run, gold)
    assert found.n_segments == 1
    assert "1 of 2 judgements is left out: gold and the run marked different texts." in found.notes
    with pytest.raises(DataError, match="judged 1 translation both, but marked different texts"):
        spans(run, gold[:1])


def test_intervals_draw_segments_and_hold_the_value() -> None:
    records: list[Record] = [marked(s, str(i), span("old lab")) for i in range(1, 30) for s in "ab"]
    pred: list[Record] = [
        marked(s, str(i), span("old lab" if i % 3 else "The")) for i in range(1, 30) for s in "ab"
    ]
    for average in ("micro", "macro"):
        (score,) = spans(pred, records, average=average, resamples=300, seed=1).scores
        interval: Any = score.intervals["f1"]
        assert interval.low < score.f1 < interval.high
        # both translations of a segment are drawn together: as wide as with one of them
        (one,) = spans(
            [r for r in pred if r.system == "a"],  # type: ignore[union-attr]
            records,
            average=average,
            resamples=300,
            seed=1,
        ).scores
        assert one.intervals["f1"] == pytest.approx(interval)


def test_every_format_is_gold_and_prediction_alike(tmp_path: Path) -> None:
    known = texts()
    judged: list[Record] = [r for r in GOLD if r.lp == "de-en"]
    run = run_of(judged, known)
    records, tsv = tmp_path / "gold.jsonl", tmp_path / "gold.tsv"
    write_records(records, judged)
    write_mqm_tsv(tsv, [*judged], known)
    ratings = tmp_path / "de-en.mqm.seg.rating"
    write_ratings(ratings, judged, known)
    folder = write_run(tmp_path / "run", run)
    for one in (folder, records, tsv, ratings, run, judged):
        for other in (folder, records, tsv, ratings, run, judged):
            found = spans(one, other, lp="de-en", test_set=known)
            assert values(found) == (1, 1, 1), (one, other)
            assert (found.scores[0].n_gold, found.n_segments) == (4, 4)


def test_what_is_odd_in_a_file_is_said(tmp_path: Path) -> None:
    ratings = tmp_path / "de-en.mqm.seg.rating"
    nothing = ErrorSpan(severity="minor", start=3, end=3)
    write_ratings(ratings, [marked("a", "1", nothing)], texts())
    found = spans(run_of([marked("a", "1", nothing)]), ratings)
    assert values(found) == (1, 1, 1)
    note, uncompared = found.notes
    assert note.startswith(f"{ratings}: 1 errors")
    assert "start is end" in note
    assert uncompared == f"Texts could not be compared: {ratings} has none."


def test_marks_without_words_are_left_out_of_rules_that_compare_words(tmp_path: Path) -> None:
    ratings = tmp_path / "de-en.mqm.seg.rating"
    write_ratings(ratings, [marked("a", "1", span("old")), marked("c", "1", span("old"))], texts())
    found = spans(ratings, ratings, test_set=texts(), rule="all")
    assert {s.rule: s.n_segments for s in found.scores}["himate"] == 1
    assert found.n_segments == 2
    assert "1 of 2 translations is left out of himate: marks there come without words." in found.notes
    only_c = spans(ratings, [marked("c", "1", span("old"))], test_set=texts())
    assert values(only_c) == (1, 1, 1)
    with pytest.raises(DataError, match="only with the texts of the marks"):
        spans(ratings, [marked("c", "1", span("old"))], test_set=texts(), rule="himate")


ODD: list[tuple[list[Record], dict[str, Any], str]] = [
    ([rated("a", "1", 90, lp="de-en")], {}, "protocol da-sqm, which marks no errors"),
    ([preferred("a", "b", "A")], {}, "protocol pairwise, which marks no errors"),
    ([failed("a", segment="1", protocol="mqm", lp="de-en")], {}, "records judged 0 translations;"),
    (
        [marked("a", "9")],
        {},
        "no translation was judged by both: records judged 1 translation, such as de-en/9/a",
    ),
    ([], {}, "no translation was judged by both"),
    (PRED, {"lp": "en-de"}, "has no lp 'en-de'; it has de-en"),
    (PRED, {"rule": "f1"}, "no matching rule 'f1'"),
    (PRED, {"threshold": 0.5}, "mpp takes no threshold; it is a setting of himate"),
    (PRED, {"rule": "himate", "threshold": 0.0}, "a threshold lies above 0 and is at most 1"),
    (PRED, {"rule": "himate", "threshold": float("nan")}, "a threshold lies above 0"),
    (PRED, {"rule": "w25", "penalty": 0.5}, "w25 takes no penalty; it is a setting of mpp, em, mp"),
    (PRED, {"penalty": 2}, "severity-penalty must be less than or equal to 1"),
    (PRED, {"weights": {"minor": -1}}, "severity-weights must be greater than or equal to 0"),
    (PRED, {"weights": {"minor": 1}}, "none for major"),
    (
        PRED,
        {"weights": {"light": 1}},
        "severity-weights must be 'neutral', 'minor', 'major' or 'critical'; got 'light'",
    ),
    (PRED, {"severities": []}, "severities must name one or more"),
    (
        PRED,
        {"by": "colour"},
        "by must be 'severity', 'category', 'side', 'system', 'lp', 'domain' or 'length'; got 'colour'",
    ),
    (PRED, {"average": "mean"}, "average must be 'micro' or 'macro'"),
]


@pytest.mark.parametrize(("records", "options", "message"), ODD)
def test_what_cannot_be_compared_is_said(
    records: list[Record], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AdjudgeError, match=message):
        spans(records, GOLD, **options)


@pytest.mark.realdata
def test_two_raters_of_wmt23_agree_as_far_as_they_do(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    one, two = (folder / f"zh-en.mqm.rater{n}.seg.rating" for n in (1, 2))
    found, swapped = spans(one, two, rule="all"), spans(two, one, rule="all")
    assert found.n_segments == 288
    assert (found.scores[0].n_gold, found.scores[0].n_pred) == (827, 607)
    assert {s.rule: round(s.f1, 3) for s in found.scores} == {
        "mpp": 0.427,
        "em": 0.202,
        "mp": 0.526,
        "w25": 0.294,
        "himate": 0.343,
        "chars": 0.315,
    }
    for score, other in zip(found.scores, swapped.scores, strict=True):
        assert score.f1 == pytest.approx(other.f1)
        assert score.precision == pytest.approx(other.recall, abs=2e-3)  # equal F1s of mpp prefer precision
    assert spans(one, one).scores[0].f1 == 1


@pytest.mark.realdata
@pytest.mark.slow
def test_gold_of_wmt23_against_itself_is_perfect_under_every_rule(adjudge_data: Path) -> None:
    gold = adjudge_data / "wmt23" / "human-scores" / "en-de.mqm.merged.seg.rating"
    found = spans(gold, gold, rule="all")
    assert all((s.precision, s.recall, s.f1) == (1, 1, 1) for s in found.scores)
    assert found.scores[0].n_gold == found.scores[0].n_pred > 10_000


CONFUSION_GOLD: list[Record] = [
    marked("a", "1", span("old lab", "major"), span("today", "minor")),
    marked("a", "2", span("closed", "critical")),
    marked("a", "3", span("The", "minor")),
    marked("b", "1", span("lab", "major")),
]
CONFUSION_PRED: list[Record] = [
    marked("a", "1", span("lab", "minor"), span("closed today", "minor")),
    marked("a", "2", span("closed", "critical"), span("closed today", "major")),
    marked("a", "3", span("old", "neutral")),
    failed("b", segment="1", protocol="mqm", lp="de-en"),
]


def test_marks_that_meet_are_counted_by_both_severities_and_the_rest_by_one() -> None:
    found = severity_confusion(run_of(CONFUSION_PRED), CONFUSION_GOLD)
    assert found.counts == {
        ("major", "minor"): 1,
        ("minor", "minor"): 1,
        ("critical", "critical"): 1,  # of two that meet it, the one that shares most
        (None, "major"): 1,
        ("minor", None): 1,  # the neutral mark of the run is none, and stands elsewhere
    }
    assert found.severities == ("critical", "major", "minor")
    assert found.same.value == pytest.approx(2 / 3)
    assert found.same.n == 3
    assert found.kappa.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert (found.n_segments, found.failed) == (3, 1)


def test_neutral_marks_count_where_they_are_asked_for() -> None:
    every: Any = ["neutral", "minor", "major", "critical"]
    found = severity_confusion(run_of(CONFUSION_PRED), CONFUSION_GOLD, severities=every)
    assert found.counts[None, "neutral"] == 1
    assert found.severities[-1] == "neutral"


def test_where_no_mark_meets_another_there_is_no_agreement() -> None:
    found = severity_confusion(run_of([marked("a", "1")]), CONFUSION_GOLD[:1])
    assert found.counts == {("major", None): 1, ("minor", None): 1}
    assert (found.same.value, found.kappa.value) == (None, None)
    assert found.kappa.reason == "no mark of gold meets one of the run"


def test_intervals_draw_whole_segments() -> None:
    given: tuple[Severity, ...] = ("major", "minor", "major", "major")
    gold: list[Record] = [marked("a", str(n), span("lab", "major")) for n in range(1, 5)]
    pred: list[Record] = [marked("a", str(n), span("lab", each)) for n, each in enumerate(given, start=1)]
    found: Any = severity_confusion(run_of(pred), gold, resamples=200)
    assert found.same.value == 0.75
    assert found.same.interval.low < 0.75 < found.same.interval.high


def test_marks_are_compared_by_domain_and_by_length_of_the_source() -> None:
    """Three sources of 3, 12 and 27 tokens: each at the lower end of its bin of HiMATE's table 3."""
    kinds = {"1": ("news", 3), "2": ("social", 12), "3": ("news", 27)}
    segments = tuple(
        Segment(
            segment=name,
            lp="de-en",
            domain=domain,
            source=" ".join(["Wort"] * length),
            translations={"a": "old lab closed"},
        )
        for name, (domain, length) in kinds.items()
    )
    known = TestSet(name="kinds", segments=segments)
    gold = [marked("a", name, ErrorSpan(severity="minor", start=0, end=3, text="old")) for name in kinds]
    said = [gold[0], marked("a", "2"), gold[2]]
    by_length = spans(said, gold, test_set=known, by="length")
    assert [(s.group, s.recall) for s in by_length.scores[1:]] == [
        ("under 12 tokens", 1.0),
        ("12 to 26 tokens", 0.0),
        ("27 tokens and more", 1.0),
    ]
    by_domain = spans(said, gold, test_set=known, by="domain")
    assert [(s.group, s.recall) for s in by_domain.scores[1:]] == [("news", 1.0), ("social", 0.0)]
