"""`meta` as a whole: which systems, which segments, which mean, and what it warns of."""

import json
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from adjudge.analysis.meta import meta
from adjudge.analysis.meta_settings import MetaEvaluation, MetricResults, Options, Settings, named_gold
from adjudge.errors import DataError, UsageError
from adjudge.stats.correlation import pearson
from tests.meta.folders import GOLD, METRIC, QE, write_folder, write_own, write_ratings, write_scores

TASK = """
[lps.en-de]
outliers = ["C"]
include_human = true
[[statistics]]
measure = "sys_accuracy"
pooled = true
[[statistics]]
measure = "seg_pearson"
weight = 3
range = [-1, 1]
"""


def one(found: MetaEvaluation, name: str) -> MetricResults:
    return next(metric for metric in found.metrics if metric.name == name)


def said(found: MetaEvaluation, part: str) -> bool:
    return any(part in note for note in found.notes)


def test_references_are_no_systems_and_the_notes_say_so(tmp_path: Path) -> None:
    found = meta(write_folder(tmp_path / "set"))
    assert found.systems == ("A", "B", "C")
    assert found.excluded == {"refA": "reference that metrics were shown"}
    assert (found.n_segments, found.n_all, found.reference) == (3, 4, "refA")
    assert said(found, "3 systems are compared; left out: refA (reference that metrics were shown).")
    assert said(found, "Gold mqm judged 3 of 4 segments")
    assert [metric.meta for metric in found.metrics] == [None, None]


def test_one_system_alone_is_called_one(tmp_path: Path) -> None:
    found = meta(write_folder(tmp_path / "set"), exclude=["A", "B"])
    assert said(found, "One system is compared; left out: ")
    assert said(found, "One system only: measures that compare systems")
    assert not said(found, "1 systems")


def test_gold_that_ties_all_is_explained(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    write_scores(folder / "human-scores/en-de.mqm.seg.score", {s: [-1] * 4 for s in ("A", "B", "C", "refA")})
    found = meta(folder, measures=["spa", "seg_acc_eq"])
    assert said(found, "Gold mqm gives every translation -1: there is no order to agree with.")
    assert one(found, "QE-src").results["seg_acc_eq"].value == 1
    write_scores(folder / "human-scores/en-de.mqm.seg.score", GOLD)
    assert not said(meta(folder), "no order to agree with")


@pytest.mark.parametrize(
    ("name", "called"),
    [("mqm", "gold mqm"), ("gold.mqm", "gold.mqm"), ("Gold", "Gold"), ("esa-gold", "gold esa-gold")],
)
def test_gold_is_called_gold_once(name: str, called: str) -> None:
    assert named_gold(name) == called


def test_measures_are_over_what_gold_judged_of_the_systems_compared(tmp_path: Path) -> None:
    found = meta(write_folder(tmp_path / "set"), measures=["seg_pearson"])
    gold = np.array([GOLD[s] for s in "ABC"], dtype=float)
    metric = np.array([METRIC[s] for s in "ABC"], dtype=float)
    assert one(found, "COMET-refA").results["seg_pearson"] == pearson(gold, metric)


def test_people_are_compared_on_request_but_never_the_reference_itself(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    assert meta(folder, include_human=True).systems == ("A", "B", "C")
    (folder / "metric-scores/en-de/COMET-refA.seg.score").unlink()
    assert meta(folder, include_human=True).systems == ("A", "B", "C", "refA")
    assert meta(folder).excluded == {"refA": "human translation"}


def test_metrics_with_another_reference_than_the_one_chosen_are_left_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    write_scores(folder / "metric-scores/en-de/COMET-refB.seg.score", QE)
    for kind in ("references/en-de.refB.txt", "system-outputs/en-de/refB.txt"):
        (folder / kind).write_text("1\n2\n3\n4\n")
    found = meta(folder, reference="refB")
    assert [metric.name for metric in found.metrics] == ["COMET-refB", "QE-src"]
    assert said(found, "another reference than refB are left out: COMET-refA.")
    assert len(meta(folder).metrics) == 3
    with pytest.raises(UsageError, match="no metric was shown reference 'refC'; they were shown refA, refB"):
        meta(folder, reference="refC")


def test_systems_are_excluded_by_name(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    assert meta(folder, exclude=["B"]).excluded["B"] == "excluded by name"
    with pytest.raises(UsageError, match="no system 'X' to exclude; there are A, B, C, refA"):
        meta(folder, exclude=["X"])
    with pytest.raises(DataError, match="no system of set en-de is left"):
        meta(folder, exclude=["A", "B", "C"])


def test_a_task_of_ones_own_gives_meta_and_excludes_its_outliers(tmp_path: Path) -> None:
    folder, task = write_folder(tmp_path / "set"), tmp_path / "mine.toml"
    task.write_text(TASK)
    found = meta(folder, task=str(task))
    assert found.systems == ("A", "B")
    row = one(found, "QE-src")
    accuracy, r = (row.results[name].value for name in ("sys_accuracy", "seg_pearson"))
    assert accuracy is not None
    assert r is not None
    assert row.meta == pytest.approx((accuracy + 3 * (r + 1) / 2) / 4, abs=1e-15)
    assert (found.task, meta(folder, task=str(task), include_outliers=True).systems) == (
        "mine",
        ("A", "B", "C"),
    )


def test_meta_is_none_where_a_statistic_has_no_value(tmp_path: Path) -> None:
    folder, task = write_folder(tmp_path / "set"), tmp_path / "mine.toml"
    task.write_text(TASK)
    found = meta(folder, task=str(task), exclude=["B"])
    assert found.metrics[0].meta is None
    assert said(found, "One system only")


def test_several_language_pairs_are_pooled_as_the_task_says(tmp_path: Path) -> None:
    folder, task = write_folder(write_folder(tmp_path / "set"), lp="zh-en"), tmp_path / "mine.toml"
    task.write_text(TASK)
    write_scores(
        folder / "metric-scores/zh-en/QE-src.seg.score", {"A": [1, 1, 1, 2], "B": [2] * 4, "C": [3] * 4}
    )
    found = meta(folder, "en-de,zh-en", task=str(task))
    assert [(part.lp, part.systems) for part in found.parts] == [
        ("en-de", ("A", "B")),
        ("zh-en", ("A", "B", "C")),
    ]
    first, second = (one(part, "QE-src").results for part in found.parts)
    accuracy = (first["sys_accuracy"].value or 0) * 1 + (second["sys_accuracy"].value or 0) * 3
    pearsons = [((part["seg_pearson"].value or 0) + 1) / 2 for part in (first, second)]
    assert one(found, "QE-src").results["sys_accuracy"].value == pytest.approx(accuracy / 4)
    assert one(found, "QE-src").meta == pytest.approx((2 * accuracy / 4 + 3 * sum(pearsons)) / 8)


def test_annotated_only_makes_scores_of_systems_of_what_gold_judged(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    write_scores(folder / "human-scores/en-de.mqm.sys.score", {s: [i] for i, s in enumerate("ABC")})
    whole = one(meta(folder), "QE-src").results["sys_pearson"]
    assert whole.value == pytest.approx(pearson(np.arange(3.0), np.array([27, 24, 13]) / 4).value)
    only = one(meta(folder, segments="annotated"), "QE-src").results["sys_pearson"]
    gold, metric = np.array([-7 / 3, -8 / 3, -20 / 3]), np.array([22 / 3, 6, 4 / 3])
    assert only.value == pytest.approx(pearson(gold, metric).value)


def test_several_golds_stand_side_by_side(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    write_scores(folder / "human-scores/en-de.da.seg.score", QE)
    found = meta(folder, gold=["mqm", "da"])
    assert [part.gold for part in found.parts] == ["mqm", "da"]
    assert (found.metrics, found.has_numbers) == ((), False)


def test_failed_judgements_are_counted_and_have_no_score(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    people = write_ratings(tmp_path / "people.jsonl", {s: [90, 80, 20, 70] for s in "ABC"})
    judge = write_ratings(
        tmp_path / "judge.jsonl", {"A": [9, 8, 2, 7], "B": [9, None, 2, 7], "C": [9, 8, 2, 1]}
    )
    found = meta(path, gold=str(people), scores={"judge": judge}, measures=["seg_pearson"])
    row = one(found, "judge")
    assert (row.failed, row.results["seg_pearson"].n) == (1, 11)
    assert said(found, "judge has 1 failed judgements, which have no score.")
    assert said(found, "judge has no score of 1 of the 12 translations that gold judged")


def test_strata_have_their_n_and_no_numbers_where_it_is_small(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    found = meta(
        folder, strata=["domain", "length"], length_bins=[2, 4], smallest=6, measures=["seg_pearson"]
    )
    assert [(s.kind, s.name, s.n_segments, s.n, bool(s.metrics)) for s in found.strata] == [
        ("domain", "news", 2, 6, True),
        ("domain", "chat", 1, 3, False),
        ("length", "under 2 tokens", 1, 3, False),
        ("length", "2 to 3 tokens", 1, 3, False),
        ("length", "4 tokens and more", 1, 3, False),
    ]
    assert found.strata[1].reason == "3 judged translations, 6 are needed"
    gold = np.array([[GOLD[s][0], GOLD[s][1]] for s in "ABC"], dtype=float)
    metric = np.array([[QE[s][0], QE[s][1]] for s in "ABC"], dtype=float)
    news = found.strata[0].metrics[1].results["seg_pearson"]
    assert news.n == 6
    assert news.value == pytest.approx(pearson(gold, metric).value)


def test_strata_that_the_test_set_does_not_know_are_refused(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    people = write_ratings(tmp_path / "people.jsonl", {s: [90, 80, 20, 70] for s in "ABC"})
    with pytest.raises(UsageError, match="own does not say which domain a segment is of"):
        meta(path, gold=str(people), scores={"people2": people}, strata=["domain"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ["sys_r"]}, "no measure 'sys_r'; there are sys_accuracy"),
        ({"strata": ["genre"]}, "no stratum 'genre'; there are domain, document, length, severity"),
        ({"average": "segment"}, "no average 'segment'"),
        ({"length_bins": [3, 2]}, "bins of length must rise, got 3, 2"),
        ({"smallest": 1}, "a stratum needs 2 translations or more, got 1"),
        ({"task": "wmt20"}, "no task 'wmt20'"),
    ],
)
def test_names_that_there_are_not_are_said(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        meta(write_folder(tmp_path / "set"), **options)  # type: ignore[arg-type]


def test_a_metric_without_a_system_is_warned_of_and_measured_on_the_others(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    short = write_scores(tmp_path / "short.seg.score", {s: METRIC[s] for s in "AB"})
    found = meta(folder, scores={"short": short}, measures=["sys_accuracy"])
    assert said(found, "short has no score of C: its numbers are over 2 of 3 systems, and not comparable")
    assert one(found, "short").results["sys_accuracy"].n == 1


@pytest.mark.realdata
def test_the_means_of_wmt23_are_those_of_mt_metrics_eval(adjudge_data: Path) -> None:
    stem = adjudge_data / "m-mad"
    scores = {name: stem / f"{name}_en-de.seg.score" for name in ("M-MAD", "GEMBA-MQM", "EAPrompt")}
    found = meta(adjudge_data / "wmt23", "en-de", scores=scores)
    assert found.excluded.keys() == {"refA", "synthetic_ref"}
    rounded = {m.name: round(m.meta or 0, 4) for m in found.metrics}
    assert rounded["GEMBA-MQM-src"] == 0.8299
    assert rounded["GEMBA-MQM"] == 0.7862
    assert rounded["M-MAD"] == 0.8226
    both = meta(adjudge_data / "wmt23")  # all language pairs of its task that are there
    assert both.lp == "en-de,zh-en"
    assert round(one(both, "GEMBA-MQM-src").meta or 0, 4) == 0.8084
    assert round(one(both.parts[1], "GEMBA-MQM-src").meta or 0, 4) == 0.7913


@pytest.mark.realdata
def test_the_mean_of_ment_is_that_of_six_statistics(adjudge_data: Path) -> None:
    assert meta(adjudge_data / "ment").metrics[0].meta == pytest.approx(0.8327068531118168, abs=1e-12)
    as_rate = meta(adjudge_data / "ment", task="ment-rate").metrics[0].meta
    assert as_rate == pytest.approx(0.8326740197465131, abs=1e-11)


def test_an_option_that_there_is_not_is_an_error() -> None:
    wrong: dict[str, object] = {"interval": True}
    with pytest.raises(UsageError, match=r"no option 'interval'; there are .*; did you mean intervals"):
        Settings.of(cast("Options", wrong))


def test_one_name_alone_may_be_a_text(tmp_path: Path) -> None:
    found = meta(write_folder(tmp_path / "set"), metrics="QE-src", measures="seg_pearson", exclude="C")
    assert [metric.name for metric in found.metrics] == ["QE-src"]
    assert (found.measures, found.systems) == (("seg_pearson",), ("A", "B"))


def test_an_average_of_the_mean_that_no_column_shows_is_said(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[[statistics]]\nmeasure = "seg_acc_eq"\naverage = "none"\n')
    folder, task = write_folder(tmp_path / "set"), str(tmp_path / "mine.toml")
    note = "meta takes seg_acc_eq with average none; its column has average item."
    assert said(meta(folder, task=task), note)
    assert not said(meta(folder, task=task, average="none"), "meta takes")


def test_what_the_whole_does_not_have_is_said(tmp_path: Path) -> None:
    folder = write_folder(write_folder(tmp_path / "set"), lp="zh-en")
    found = meta(folder, "en-de,zh-en", intervals=True, significance=20)
    assert found.notes[-1] == "Intervals and clusters are of each part only."
    assert not said(meta(folder, "en-de,zh-en"), "of each part only")


def test_scores_that_are_no_path_are_refused(tmp_path: Path) -> None:
    wrong: dict[str, object] = {"scores": {"x": [1, 2, 3]}}
    with pytest.raises(UsageError, match=r"scores of 'x' are the path of a run or a file, or .* got list"):
        meta(write_folder(tmp_path / "set"), **cast("Options", wrong))


def test_a_metric_that_lacks_a_system_which_another_has_is_partial(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    write_scores(folder / "metric-scores/en-de/QE-src.seg.score", {"A": QE["A"], "B": QE["B"]})
    found = meta(folder, clusters=True)
    assert [metric.partial for metric in found.metrics] == [False, True]
    assert not one(found, "QE-src").clusters
    assert said(found, "QE-src has no score of C: its numbers are over 2 of 3 systems")
    assert not one(meta(folder, metrics="QE-src"), "QE-src").partial


def _marked(path: Path) -> str:
    """Gold of the JSONL test set in marks: one more of them with each segment, and system."""
    marks = [
        {"severity": severity, "match": "unplaced"}
        for severity in ("minor", "major", "minor", "major", "major", "minor")
    ]
    rows = [
        {
            "kind": "annotation",
            "lp": "en-de",
            "segment": f"s{n}",
            "system": system,
            "document": "",
            "annotator": "ann",
            "protocol": "mqm",
            "spans": marks[: n + place],
        }
        for place, system in enumerate("ABC")
        for n in range(4)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_weights_are_those_of_marks_beside_ratings_and_are_told(tmp_path: Path) -> None:
    own, gold = write_own(tmp_path / "own.jsonl"), _marked(tmp_path / "marks.jsonl")
    rated = write_ratings(
        tmp_path / "rated.jsonl", {name: [90, 70, 60, 10 + place] for place, name in enumerate("ABC")}
    )
    rated.write_text(rated.read_text().replace('"esa"', '"da-sqm"'))
    shared: Options = {"gold": gold, "scores": {"rated": rated}, "measures": "seg_pearson"}
    weighted: Options = {**shared, "weights": "ea-prompt-published"}
    usual, other = meta(own, **shared), meta(own, **weighted)
    values = [found.metrics[0].results["seg_pearson"].value for found in (usual, other)]
    assert values[0] != values[1]
    assert other.signature.fields["weights"] == "ea-prompt-published"
    assert "weights" not in usual.signature.fields


def test_weights_that_weigh_nothing_are_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    with pytest.raises(UsageError, match="weights are for marked errors, and these have none: mqm, "):
        meta(folder, gold="mqm", weights="gemba")
