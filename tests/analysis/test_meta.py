"""`meta` as a whole: which systems, which segments, which mean, and what it warns of."""

import json
import re
import shutil
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest

from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.eval_set_files import read_eval_set
from adjudge.analysis.meta import meta, out_of_reach
from adjudge.analysis.meta_settings import MetaEvaluation, MetaSettings, MetricResults, named_gold
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import find_score_files
from adjudge.reports.metric_tables import best_first, meta_tables
from adjudge.stats.correlation import pearson
from adjudge.stats.judged import Result
from adjudge.stats.paired import deciding_draws, holm, monte_carlo_bounds
from adjudge.stats.resampling import metric_p_values
from adjudge.store.json_lines import write_records
from tests.analysis.folders import (
    GOLD,
    METRIC,
    QE,
    Scores,
    write_folder,
    write_own,
    write_ratings,
    write_scores,
)
from tests.analysis.records import error, mqm

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set")


def write_task(folder: Path, text: str) -> Path:
    path = folder.parent / "mine.toml"
    path.write_text(text)
    return path


def one(found: MetaEvaluation, name: str) -> MetricResults:
    return next(metric for metric in found.metrics if metric.name == name)


def said(found: MetaEvaluation, part: str) -> bool:
    return any(part in note for note in found.notes)


def test_references_are_no_systems_and_the_notes_say_so(folder: Path) -> None:
    found = meta(folder)
    assert found.systems == ("A", "B", "C")
    assert (found.n_segments, found.n_all, found.reference) == (3, 4, "refA")
    assert said(found, "3 systems are compared; left out: refA (reference that metrics were shown).")
    assert found.excluded == {"refA": "reference that metrics were shown"}
    assert said(found, "Gold mqm judged 3 of 4 segments")
    assert [metric.meta for metric in found.metrics] == [None, None]


def test_gold_that_ties_all_is_explained(folder: Path) -> None:
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


def test_measures_are_over_what_gold_judged_of_the_systems_compared(folder: Path) -> None:
    found = meta(folder, measures=["seg_pearson"])
    gold = np.array([GOLD[s] for s in "ABC"], dtype=float)
    metric = np.array([METRIC[s] for s in "ABC"], dtype=float)
    assert one(found, "COMET-refA").results["seg_pearson"] == pearson(gold, metric)


def test_people_are_compared_on_request_but_never_the_reference_itself(folder: Path) -> None:
    assert meta(folder, include_human=True).systems == ("A", "B", "C")
    (folder / "metric-scores/en-de/COMET-refA.seg.score").unlink()
    assert meta(folder, include_human=True).systems == ("A", "B", "C", "refA")
    assert meta(folder).excluded == {"refA": "human translation"}


def test_metrics_with_another_reference_than_the_one_chosen_are_left_out(folder: Path) -> None:
    write_scores(folder / "metric-scores/en-de/COMET-refB.seg.score", QE)
    for kind in ("references/en-de.refB.txt", "system-outputs/en-de/refB.txt"):
        (folder / kind).write_text("1\n2\n3\n4\n")
    found = meta(folder, reference="refB")
    assert [metric.name for metric in found.metrics] == ["COMET-refB", "QE-src"]
    assert said(found, "another reference than refB are left out: COMET-refA.")
    assert len(meta(folder).metrics) == 3
    with pytest.raises(UsageError, match="no metric used reference 'refC'; the metrics used refA, refB"):
        meta(folder, reference="refC")


def test_systems_are_excluded_by_name(folder: Path) -> None:
    assert meta(folder, exclude="B").excluded["B"] == "excluded by name"
    with pytest.raises(UsageError, match="no system 'X' to exclude; there are A, B, C, refA"):
        meta(folder, exclude=["X"])
    with pytest.raises(DataError, match="no system of set en-de is left"):
        meta(folder, exclude=["A", "B", "C"])


def test_a_task_of_ones_own_gives_meta_and_excludes_its_outliers(folder: Path) -> None:
    task = write_task(folder, TASK)
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


@pytest.mark.parametrize(
    ("old", "new", "lp", "message"),
    [
        ("", 'primary = ["QEE"]', None, "primary: no metric 'QEE'; there are COMET, QE; did you mean QE"),
        ("", 'baselines = ["BLEW"]', None, "baselines: no metric 'BLEW'; there are COMET, QE"),
        ("-de]", '-de]\nprimary = ["COMMET"]', None, "lps.en-de.primary: no metric 'COMMET'; there"),
        ("-de]", '-de]\nreference = "refC"', None, "lps.en-de.reference: no reference 'refC'; there"),
        ('["C"]', '["D"]', None, "lps.en-de.outliers: no system 'D'; there are A, B, C, refA"),
        ("en-de", "en-he", "en-de", "lps: no language pair 'en-de'; there are en-he; did you mean en-he"),
        ("en-de", "en-he", None, "lps.en-he: no language pair 'en-he'; there are en-de; did you mean en-de"),
    ],
)
def test_a_task_file_names_what_is_there(
    old: str, new: str, lp: str | None, message: str, folder: Path
) -> None:
    task = write_task(folder, TASK.replace(old, new, 1) if old else f"{new}\n{TASK}")
    with pytest.raises(DataError) as caught:
        meta(folder, lp, task=str(task))
    assert message in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_meta_is_none_where_a_statistic_has_no_value(folder: Path) -> None:
    task = write_task(folder, TASK)
    found = meta(folder, task=str(task), exclude=["B"])
    assert found.metrics[0].meta is None
    assert said(found, "One system is compared; left out: ")
    assert said(found, "One system only: measures that compare systems")
    assert not said(found, "1 systems")


def test_several_language_pairs_are_pooled_as_the_task_says(tmp_path: Path, folder: Path) -> None:
    folder, task = write_folder(folder, lp="zh-en"), tmp_path / "mine.toml"
    task.write_text(TASK + "[lps.zh-en]\n")
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


def test_annotated_only_makes_scores_of_systems_of_what_gold_judged(folder: Path) -> None:
    write_scores(folder / "human-scores/en-de.mqm.sys.score", {s: [i] for i, s in enumerate("ABC")})
    whole = one(meta(folder), "QE-src").results["sys_pearson"]
    assert whole.value == pytest.approx(pearson(np.arange(3.0), np.array([27, 24, 13]) / 4).value)
    only = one(meta(folder, segments="annotated"), "QE-src").results["sys_pearson"]
    gold, metric = np.array([-7 / 3, -8 / 3, -20 / 3]), np.array([22 / 3, 6, 4 / 3])
    assert only.value == pytest.approx(pearson(gold, metric).value)


def test_several_golds_stand_side_by_side(folder: Path) -> None:
    write_scores(folder / "human-scores/en-de.da.seg.score", QE)
    found = meta(folder, gold=["mqm", "da"])
    assert [part.gold for part in found.parts] == ["mqm", "da"]
    assert (found.metrics, found.has_numbers) == ((), False)


def write_two_pairs(tmp_path: Path) -> tuple[Path, dict[str, Path]]:
    """A folder of two language pairs, and a gold of each under one name."""
    folder = write_folder(write_folder(tmp_path / "set"), "zh-en")
    other = {system: values[::-1] for system, values in GOLD.items()}
    return folder, {
        "en-de": write_scores(tmp_path / "golds" / "en-de" / "own.seg.score", GOLD),
        "zh-en": write_scores(tmp_path / "golds" / "zh-en" / "own.seg.score", other),
    }


@pytest.mark.parametrize("named", ["mine={}", "{}"])
def test_a_gold_is_of_the_language_pair_that_its_folder_says(tmp_path: Path, named: str) -> None:
    folder, golds = write_two_pairs(tmp_path)
    found = meta(folder, "en-de,zh-en", gold=[named.format(path) for path in golds.values()])
    for part, (lp, path) in zip(found.parts, golds.items(), strict=True):
        assert part.lp == lp
        alone = meta(folder, lp, gold=[named.format(path)])
        assert part.metrics == alone.metrics
    with pytest.raises(UsageError, match="none of the golds is of zh-en"):
        meta(folder, "en-de,zh-en", gold=[str(golds["en-de"])])
    with pytest.raises(UsageError, match="two golds 'mine' of en-de"):
        meta(folder, "en-de", gold=[f"mine={golds['en-de']}"] * 2)
    assert meta(folder, "en-de", gold=[str(golds["en-de"])]).people == ()  # gold under another name
    assert [row.name for row in meta(folder, "zh-en", gold=[str(golds["zh-en"])]).people] == ["mqm"]


def test_failed_judgements_are_counted_and_have_no_score(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    people = write_ratings(tmp_path / "people.jsonl", {s: [90, 80, 20, 70] for s in "ABC"})
    given: Scores = {"A": [9, 8, 2, 7], "B": [9, None, 2, 7], "C": [9, 8, 2, 1]}
    judge = write_ratings(tmp_path / "judge.jsonl", given)
    found = meta(path, gold=str(people), scores={"judge": judge}, measures=["seg_pearson"])
    row = one(found, "judge")
    assert (row.failed, row.results["seg_pearson"].n) == (1, 11)
    assert said(found, "judge has 1 failed judgements, which have no score.")
    assert said(found, "judge has no score of 1 of the 12 translations that gold judged")


def test_failed_judgements_of_all_language_pairs_are_counted_together(tmp_path: Path, folder: Path) -> None:
    folder = write_folder(folder, lp="zh-en")
    whole, gaps = [9, 8, 2, 7], [None, 8, None, 7]
    rows = [
        write_ratings(
            tmp_path / f"{lp}.jsonl", {"A": whole, "B": of_b, "C": [9, None, 2, 1]}, lp=lp
        ).read_text()
        for lp, of_b in (("en-de", whole), ("zh-en", gaps))
    ]
    judge = tmp_path / "judge.jsonl"
    judge.write_text(re.sub(r'"segment": ?"s(.)"', lambda m: f'"segment":"{int(m[1]) + 1}"', "".join(rows)))
    found = meta(folder, "en-de,zh-en", scores={"judge": judge})
    assert [one(part, "judge").failed for part in found.parts] == [1, 3]
    assert one(found, "judge").failed == 4


def test_strata_have_their_n_and_no_numbers_where_it_is_small(folder: Path) -> None:
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


NO_WILLIAMS = "^seg_acc_eq has no test williams; those that do: --measures sys_pearson,seg_pearson$"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ["sys_r"]}, "no measure 'sys_r'; there are sys_accuracy"),
        ({"strata": ["genre"]}, "strata must be 'domain', 'document', 'length' or 'severity'; got 'genre'"),
        ({"average": "segment"}, "average must be 'item', 'sys' or 'none'; got 'segment'"),
        ({"length_bins": [3, 2]}, "bins of length must rise, got 3, 2"),
        ({"smallest": 1}, "smallest must be greater than or equal to 2; got 1"),
        ({"task": "wmt18"}, "no task 'wmt18', and no such file; there are ment, ment-rate, wmt19"),
        ({"better": "X"}, "no system 'X' whose translations are right; there are A, B, C, refA"),
        ({"better": "A", "gold": "mqm"}, "better and gold exclude each other: leave out gold"),
        ({"weights": "gemba"}, "weights need marked errors, and these inputs have none: mqm, "),
        ({"measures": "seg_acc_eq,seg_pearson,sys_pearson", "test": "williams"}, NO_WILLIAMS),
        ({"test": "wiliams"}, "got 'wiliams'; did you mean williams"),
        ({"test": "perm-both", "by_document": True}, "perm-both cannot draw documents; the bootstrap can"),
        ({"by_document": True}, "intervals and clusters only: ask for one of them"),
        ({"holm": True}, "ask for clusters"),
        ({"macro": False, "clusters": True}, "weight all groups equally"),
        ({"macro": False, "measures": "spa"}, r"takes a macro; one that does: --measures seg_pearson,"),
        ({"significance": 0}, "greater than or equal to 1; got 0"),
        ({"alpha": 1.0}, "alpha must be less than 1"),
        ({"seed": -1}, "greater than or equal to 0; got -1"),
        ({"metrics": "primary"}, "set en-de, which has no task, does not list"),
        ({"scores": {"x": [1, 2]}}, "scores of 'x': judgements are wanted.* got list"),
        ({"scores": {"x": "nowhere"}}, "no run and no file at 'nowhere'"),
        ({"scores": {"x": {"en-de": "nowhere"}}}, "no run and no file at 'nowhere'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(folder: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        meta(folder, **options)  # type: ignore[arg-type]


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


def test_an_average_of_the_mean_that_no_column_shows_is_said(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "mine.toml").write_text('[[statistics]]\nmeasure = "seg_acc_eq"\naverage = "none"\n')
    task = str(tmp_path / "mine.toml")
    note = "meta takes seg_acc_eq with average none; its column has average item."
    assert said(meta(folder, task=task), note)
    assert not said(meta(folder, task=task, average="none"), "meta takes")


def test_what_the_whole_does_not_have_is_said(folder: Path) -> None:
    folder = write_folder(folder, lp="zh-en")
    found = meta(folder, "en-de,zh-en", intervals=True, significance=20)
    assert "Intervals are of each part only." in found.notes
    assert found.notes[-1].startswith("Clusters of the whole (sys_accuracy): scores of each measure and")
    by_document = meta(folder, "en-de,zh-en", intervals=True, significance=20, by_document=True)
    assert by_document.notes[-1] == "Intervals and clusters are of each part only."
    assert not said(meta(folder, "en-de,zh-en"), "of each part only")


BLOCK = "[[statistics]]"


def known_clusters(adjudge_data: Path) -> Any:
    """Values, places and p-values of mt-metrics-eval's own test of the mean of seven tasks of WMT23."""
    return json.loads((adjudge_data.parent / "reference/mtme-wmt23-clusters.json").read_text("utf-8"))


def seven_tasks(adjudge_data: Path, tmp_path: Path, k: int, seed: int = 0) -> MetaEvaluation:
    """Ours of the same: WMT23 without acc_eq."""
    head, *statistics = (files("adjudge.analysis") / "task_sets/wmt23.toml").read_text("utf-8").split(BLOCK)
    task = tmp_path / "seven.toml"
    task.write_text(BLOCK.join([head, *(one for one in statistics if "acc_eq" not in one)]), "utf-8")
    return meta(
        adjudge_data / "complete/wmt23",
        "en-de,he-en,zh-en",
        task=str(task),
        metrics=[name.removesuffix("[noref]") for name in known_clusters(adjudge_data)["joint"]],
        measures=["sys_accuracy", "sys_pearson", "seg_pearson"],
        significance=k,
        seed=seed,
    )


def differing(order: list[str], one: dict[str, int], other: dict[str, int]) -> list[str]:
    """Metrics where one ranking opens a cluster and the other does not, but for what shifts behind these."""
    found, is_together = [], True
    for above, metric in pairwise(order):
        opens = one[above] != one[metric], other[above] != other[metric]
        if is_together and opens[0] != opens[1]:
            found.append(metric)
        is_together = opens[0] == opens[1] and (is_together or opens[0])
    return found


def deciding(found: MetaEvaluation, measure: str, metric: str) -> float:
    """The p-value that decides whether a cluster opens at a metric: the smallest of the one above it."""
    order = ordered(found, measure)
    place = [row.name for row in order].index(metric)
    at = [found.metrics.index(row) for row in order]
    last = order[place - 1].clusters[measure]
    above = [n for n in at[:place] if found.metrics[n].clusters[measure] == last]
    return float(found.p_values[measure][above, at[place]].min())


def ordered(found: MetaEvaluation, measure: str) -> list[MetricResults]:
    """Metrics by a measure, or by `meta`, the best first."""
    values = {m.name: m.meta if measure == "meta" else m.results[measure].value for m in found.metrics}
    return sorted(found.metrics, key=lambda row: -(values[row.name] or 0))


@pytest.mark.realdata
def test_the_means_of_the_32_primaries_of_wmt23_are_those_of_mt_metrics_eval(adjudge_data: Path) -> None:
    known = json.loads((adjudge_data.parent / "reference/mtme-wmt23-joint.json").read_text("utf-8"))["meta"]
    found = meta(
        adjudge_data / "complete/wmt23", "en-de,he-en,zh-en", metrics="primary", measures=["sys_accuracy"]
    )
    ours = {row.name.removesuffix("-src"): row.meta for row in best_first(found.metrics, ["meta"])}
    theirs = {name.removesuffix("[noref]"): value for name, value in known.items()}
    assert [*ours] == [*theirs]
    assert ours == pytest.approx(theirs, abs=1e-12)
    roles = [row.role for row in found.metrics]
    assert (roles.count("primary"), roles.count("baseline")) == (18, 14)


@pytest.mark.realdata
@pytest.mark.parametrize("k", [1000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_the_clusters_of_all_pairs_are_those_of_mt_metrics_eval(
    adjudge_data: Path, tmp_path: Path, k: int
) -> None:
    """Values of each task and of their mean, their clusters, and the joint p-values."""
    known = known_clusters(adjudge_data)
    found = seven_tasks(adjudge_data, tmp_path, k)
    parts = {part.lp: part for part in found.parts}
    for task, theirs in [("joint", known["joint"]), *known["tasks"].items()]:
        lp, *words = task.split()
        ours, measure = parts.get(lp, found), "_".join(words) or "meta"
        names = {row.base.removesuffix("-src"): row for row in ours.metrics}
        rows = [names[name.removesuffix("[noref]")] for name in theirs]
        values = [row.meta if measure == "meta" else row.results[measure].value for row in rows]
        assert values == pytest.approx([value for value, _ in theirs.values()], abs=1e-12)
        places = {row.name: int(place) for row, (_, place) in zip(rows, theirs.values(), strict=True)}
        clusters = {row.name: row.clusters[measure] for row in rows}
        for metric in differing([row.name for row in rows], clusters, places):
            assert 0.02 <= deciding(ours, measure, metric) <= 0.08, (task, metric)
    order = [name.removesuffix("[noref]") for name in known["joint"]]
    upper = np.triu_indices(len(order), 1)
    p, q = table_of(found, "meta", order)[upper], np.array(known["p"])[upper]
    each = [table_of(found, "sys_accuracy", order)]
    each += [table_of(part, name, order) for part in found.parts for name in ("sys_pearson", "seg_pearson")]
    # That tool stops a task's test after 100 draws if p is below .02 or above .5, and repeats these.
    theirs = np.mean(
        [np.where((t[upper] < 0.02) | (t[upper] > 0.5), 1 / 100, 1 / 1000) for t in each], axis=0
    )
    spread = np.maximum(p * (1 - p), 1e-3) / k + np.maximum(q * (1 - q), 1e-3) * theirs
    z = np.abs(p - q) / np.sqrt(spread)
    assert z.max() < 4
    assert np.sqrt((z**2).mean()) < 1


def table_of(found: MetaEvaluation, measure: str, names: list[str]) -> np.ndarray:
    """P-values of a measure, metrics in an order of their names without what they were shown."""
    at = {row.base.removesuffix("-src"): place for place, row in enumerate(found.metrics)}
    order = [at[name] for name in names]
    return found.p_values[measure][np.ix_(order, order)]


@pytest.mark.realdata
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.nightly) for n in (2, 3, 4))])
def test_seeds_differ_where_a_boundary_is_open_alone(adjudge_data: Path, tmp_path: Path, seed: int) -> None:
    one, other = (seven_tasks(adjudge_data, tmp_path, 200, n) for n in (0, seed))
    opened = 0
    for ours, theirs in ((one, other), *zip(one.parts, other.parts, strict=True)):
        for measure in ours.p_values:
            sides = [{row.name: row for row in side.metrics} for side in (ours, theirs)]
            clusters = [{name: row.clusters[measure] for name, row in side.items()} for side in sides]
            marked = {name for side in sides for name, row in side.items() if measure in row.open_clusters}
            order = [row.name for row in ordered(ours, measure)]
            assert {*differing(order, *clusters)} <= marked
            opened += len(marked)
    assert 0 < opened < 60  # of 15 boundaries in each of 14 columns


def test_a_metric_that_lacks_a_system_which_another_has_is_partial(folder: Path) -> None:
    task = write_task(folder, TASK.replace('outliers = ["C"]', ""))
    write_scores(folder / "metric-scores/en-de/QE-src.seg.score", {"A": QE["A"], "B": QE["B"]})
    found = meta(folder, clusters=True, task=str(task))
    assert [metric.partial for metric in found.metrics] == [False, True]
    assert one(found, "COMET-refA").average_rank is not None
    part = one(found, "QE-src")
    assert (part.clusters, part.average_rank, part.results["sys_accuracy"].n) == ({}, None, 1)
    assert said(found, "QE-src has no score of C: its numbers are over 2 of 3 systems, and not comparable")
    assert not one(meta(folder, metrics="QE-src"), "QE-src").partial


def _marked(path: Path) -> str:
    """Gold of the JSONL test set in marks: one more of them with each segment, and system."""
    marks = [error(severity) for severity in ("minor", "major", "minor", "major", "major", "minor")]
    places = [(place, system, n) for place, system in enumerate("ABC") for n in range(4)]
    write_records(path, [mqm(system, f"s{n}", *marks[: n + place]) for place, system, n in places])
    return str(path)


def test_weights_are_those_of_marks_beside_ratings_and_are_told(tmp_path: Path) -> None:
    own, gold = write_own(tmp_path / "own.jsonl"), _marked(tmp_path / "marks.jsonl")
    rated = write_ratings(
        tmp_path / "rated.jsonl", {name: [90, 70, 60, 10 + place] for place, name in enumerate("ABC")}
    )
    rated.write_text(rated.read_text().replace('"esa"', '"da-sqm"'))
    shared: dict[str, Any] = {"gold": gold, "scores": {"rated": rated}, "measures": "seg_pearson"}
    weighted: dict[str, Any] = {**shared, "weights": "ea-prompt-published"}
    usual, other = meta(own, **shared), meta(own, **weighted)
    values = [found.metrics[0].results["seg_pearson"].value for found in (usual, other)]
    assert values[0] != values[1]
    assert other.signature.fields["weights"] == "ea-prompt-published"
    assert "weights" not in usual.signature.fields


MEASURES = ("sys_accuracy", "seg_pearson", "seg_acc_eq")


def notes(systems: int, metrics: int, **options: object) -> list[str]:
    """Notes for so many systems of fifty segments, and metrics whose values all differ."""
    rng = np.random.default_rng(0)
    segments = rng.normal(size=(systems, 50))
    gold = ScoreSet(name="gold", segments=segments, systems=segments.mean(axis=1))
    settings = MetaSettings(measures=MEASURES, clusters=True, **options)  # type: ignore[arg-type]
    rows = [
        MetricResults(name=f"m{i}", results={n: Result(value=i / metrics, n=1) for n in MEASURES})
        for i in range(metrics)
    ]
    return list(out_of_reach(rows, gold, settings))


def test_holm_over_many_metrics_needs_more_draws_and_the_note_says_how_many() -> None:
    drawn = next(note for note in notes(12, 24, holm=True) if "seg_pearson" in note)
    assert "with 1,000 draws the smallest possible p, corrected for 276 tests, is 0.28; it " in drawn
    assert drawn.endswith("takes 5,519 draws or more.")
    assert not [n for n in notes(12, 24, holm=True, significance=5519) if "seg_pearson" in n]
    assert [n for n in notes(12, 24, holm=True, significance=5518) if "seg_pearson" in n]


@pytest.mark.parametrize("draws", [3, 7, 15])
def test_no_cluster_of_a_test_over_all_swaps_is_open_and_more_draws_may_decide(
    folder: Path, draws: int
) -> None:
    for name, sign in {"Best": 1, "Worst": -1}.items():
        scores = {s: [None if v is None else sign * v for v in values] for s, values in GOLD.items()}
        write_scores(folder / f"metric-scores/en-de/{name}-src.seg.score", scores)
    found = meta(folder, measures=["sys_accuracy", "seg_pearson"], significance=draws)
    assert "sys_accuracy" not in {name for metric in found.metrics for name in metric.open_clusters}
    for note in found.notes:
        if note.startswith("Open (marked ?)"):
            assert note.endswith(f"--significance {max(104, 10 * draws)}.")
            assert "sys_accuracy" not in note


@pytest.mark.parametrize(("alpha", "draws"), [(0.05, 104), (0.01, 528)])
def test_so_many_draws_without_a_hit_decide_and_one_less_does_not(alpha: float, draws: int) -> None:
    assert deciding_draws(alpha) == draws
    for n in (draws - 1, draws):
        _, high = monte_carlo_bounds(np.array([1 / (n + 1)]), n)
        assert bool(high[0] <= alpha) == (n == draws)


def test_swaps_of_few_systems_are_never_enough() -> None:
    swapped = next(n for n in notes(12, 24, holm=True, significance=9999) if "sys_accuracy" in n)
    assert "12 scores can be swapped in 4,096 ways" in swapped
    assert "is 0.067; more draws do not help." in swapped
    assert "sys_accuracy" in notes(4, 2)[0]


@pytest.mark.parametrize("options", [{}, {"holm": True}])
def test_nothing_is_said_of_tests_that_can_reject(options: dict[str, bool]) -> None:
    assert notes(12, 3, **options) == []


SYSTEMS = ("A", "B", "C")
SURENESS_MEASURES = ("seg_pearson", "seg_acc_eq", "sys_pearson")
SURENESS_TASK = (
    '[[statistics]]\nmeasure = "seg_pearson"\n[[statistics]]\nmeasure = "sys_pearson"\nrange = [-1, 1]\n'
)


@pytest.fixture
def thirty(tmp_path: Path) -> Path:
    """Thirty segments of fifteen documents; a metric that knows gold, its twin, and one that does not."""
    path, rng = write_folder(tmp_path / "set"), np.random.default_rng(1)
    n = 30
    gold = rng.normal(size=(3, n)).round(2) + np.array([[0.0], [1.0], [2.0]])
    for name in (
        "sources/en-de.txt",
        "references/en-de.refA.txt",
        *(f"system-outputs/en-de/{s}.txt" for s in SYSTEMS),
    ):
        (path / name).write_text("x\n" * n)
    (path / "documents/en-de.docs").write_text("".join(f"news\td{i // 2}\n" for i in range(n)))
    (path / "system-outputs/en-de/refA.txt").unlink()
    good = gold + rng.normal(size=(3, n)) * 0.1
    values = {"good": good, "twin": good, "poor": rng.normal(size=(3, n))}
    for old in (path / "metric-scores/en-de").iterdir():
        old.unlink()
    write_scores(path / "human-scores/en-de.mqm.seg.score", dict(zip(SYSTEMS, gold.tolist(), strict=True)))
    for name, scores in values.items():
        file = path / f"metric-scores/en-de/{name}-src.seg.score"
        write_scores(file, dict(zip(SYSTEMS, scores.tolist(), strict=True)))
    (tmp_path / "mine.toml").write_text(SURENESS_TASK)
    return path


def judged(thirty: Path, **options: object) -> MetaEvaluation:
    task = str(thirty.parent / "mine.toml")
    return meta(thirty, measures=SURENESS_MEASURES, task=task, **options)  # type: ignore[arg-type]


def test_nothing_is_drawn_unless_asked_for(thirty: Path) -> None:
    found = judged(thirty)
    assert all(m.clusters == {} and m.meta_interval is None for m in found.metrics)
    assert all(r.interval is None for m in found.metrics for r in m.results.values())
    assert found.p_values == {}


def test_every_value_and_the_mean_have_an_interval_around_them(thirty: Path) -> None:
    found = judged(thirty, intervals=True, significance=200)
    gold, metrics = _arrays(thirty)
    assert found.metrics[0].results["seg_pearson"].value == pearson(gold, metrics[0]).value
    for row in found.metrics:
        assert row.meta is not None
        assert row.meta_interval is not None
        assert row.meta_interval.low <= row.meta <= row.meta_interval.high
        for result in row.results.values():
            assert result.interval is not None
            assert result.value is not None
            assert result.interval.low - 0.02 <= result.value <= result.interval.high + 0.02
    good, poor = found.metrics[0], found.metrics[1]
    assert (good.name, poor.name) == ("good-src", "poor-src")
    width = [i.high - i.low for m in (good, poor) if (i := m.results["seg_pearson"].interval) is not None]
    assert width[0] < width[1]


def test_twins_share_a_cluster_and_what_knows_nothing_is_behind(thirty: Path) -> None:
    found = judged(thirty, significance=200)
    clusters = {m.name: m.clusters for m in found.metrics}
    for name in ("seg_pearson", "seg_acc_eq", "meta"):
        assert [clusters[metric][name] for metric in ("good-src", "twin-src", "poor-src")] == [1, 1, 2]
    assert set(found.p_values) == {*SURENESS_MEASURES, "meta"}


def test_draws_that_do_not_decide_are_told_with_what_to_do(thirty: Path) -> None:
    found = judged(thirty, significance=40)  # p is 1/41, and the interval of it reaches .12
    (note,) = [note for note in found.notes if note.startswith("Open")]
    assert note.endswith("more draws may decide: --significance 400.")
    (poor,) = [m for m in found.metrics if m.open_clusters]
    assert (poor.name, "seg_pearson" in poor.open_clusters, "seg_acc_eq" in poor.open_clusters) == (
        "poor-src",
        True,
        False,  # is exact
    )
    rows = found.to_dict()
    assert dict(zip(rows["metric"], rows["seg_pearson_open"], strict=True))["poor-src"] == 1
    assert not any(m.open_clusters for m in judged(thirty, significance=200).metrics)
    corrected = judged(thirty, significance=200, holm=True)  # twice the p-value, and twice its interval
    assert one(corrected, "poor-src").open_clusters == ("seg_pearson", "meta")


def test_p_values_are_those_of_the_test_of_the_measure_and_holm_corrects_what_was_asked(thirty: Path) -> None:
    plain, corrected = judged(thirty, significance=200), judged(thirty, significance=200, holm=True)
    table = plain.p_values["seg_pearson"]
    by_hand = metric_p_values("seg_pearson", *_arrays(thirty))
    np.testing.assert_allclose(table, by_hand, atol=0.15)  # other draws
    good, poor, twin = 0, 1, 2
    wanted = holm(np.array([table[good, poor], table[twin, poor]]))
    np.testing.assert_allclose([corrected.p_values["seg_pearson"][i, poor] for i in (good, twin)], wanted)
    assert corrected.signature.fields["correction"] == "holm"


def _arrays(thirty: Path) -> tuple[np.ndarray, np.ndarray]:
    found = read_eval_set(thirty)
    return found.golds["mqm"].segments, np.stack([m.segments for m in found.metrics.values()])


def test_whole_documents_can_be_drawn_for_intervals(thirty: Path) -> None:
    one, other = (
        judged(thirty, intervals=True, by_document=each).metrics[0].results["seg_pearson"].interval
        for each in (False, True)
    )
    assert one != other


def test_clusters_over_documents_are_by_bootstrap_whatever_the_measure(thirty: Path) -> None:
    found = judged(thirty, clusters=True, by_document=True)
    assert found.signature.fields["units"] == "documents"
    assert any(note.startswith("Clusters: bootstrap over documents, 1,000 draws") for note in found.notes)
    by_segment = judged(thirty, clusters=True)
    good, poor = 0, 1
    for name in ("seg_pearson", "seg_acc_eq"):
        assert found.p_values[name][good, poor] < 0.05 < found.p_values[name][poor, good]
    assert found.p_values["sys_pearson"][good, poor] != by_segment.p_values["sys_pearson"][good, poor]


PEARSON = ("seg_pearson", "sys_pearson")


def test_a_test_that_is_named_is_behind_the_clusters(thirty: Path) -> None:
    gold, metrics = _arrays(thirty)
    for test in ("bootstrap", "williams"):
        found = meta(thirty, measures=PEARSON, test=test)
        by_hand = metric_p_values("seg_pearson", gold, metrics, method=test)
        np.testing.assert_array_equal(found.p_values["seg_pearson"], by_hand)
        assert [m.clusters["seg_pearson"] for m in found.metrics] == [1, 2, 1], test
        assert found.signature.fields["test"] == test
    assert "test" not in judged(thirty, clusters=True).signature.fields


def test_williams_draws_nothing_and_its_note_says_what_it_believes(thirty: Path) -> None:
    found = meta(thirty, measures=PEARSON, test="williams", significance=3)
    (note,) = (note for note in found.notes if note.startswith("Clusters:"))
    assert note.startswith("Clusters: Williams' test, for which all scores are independent")
    assert "draws" not in note
    assert not [note for note in found.notes if "No metric can be better" in note and "seg_pearson" in note]


def test_equal_seeds_give_equal_numbers(thirty: Path) -> None:
    first, again, other = (judged(thirty, intervals=True, seed=seed) for seed in (1, 1, 2))
    assert first.metrics == again.metrics
    assert first.metrics != other.metrics


def test_one_segment_has_values_and_no_intervals(thirty: Path) -> None:
    for file in thirty.rglob("*"):
        if file.is_file():
            lines = file.read_text().splitlines()
            kept = [lines[n * 30] for n in range(len(lines) // 30)]
            file.write_text("".join(f"{line}\n" for line in kept))
    found = meta(thirty, measures=["sys_accuracy", "sys_pearson"], intervals=True, significance=50)
    assert {r.interval for m in found.metrics for r in m.results.values()} == {None}
    assert all(m.results["sys_accuracy"].value is not None for m in found.metrics)
    assert any("no intervals: one of the segments alone" in note for note in found.notes)


PAIRS = ["en-de", "he-en", "zh-en"]
OTHER = {**METRIC, "refA": [0.1, 0.2, 0.3, 0.4]}


@pytest.fixture
def wmt23(tmp_path: Path) -> Path:
    """WMT23 in small: COMET is shown refA in two language pairs; in he-en refB, the task's, and refA."""
    folder = tmp_path / "wmt23"
    for lp in PAIRS:
        write_folder(folder, lp)
    write_scores(folder / "human-scores/he-en.mqm.seg.score", {**GOLD, "refB": [-1, -1, None, -1]})
    for kind in ("references/he-en.refB.txt", "system-outputs/he-en/refB.txt"):
        (folder / kind).write_text("1\n2\n3\n4\n")
    write_scores(folder / "metric-scores/he-en/COMET-refA.seg.score", QE)
    write_scores(folder / "metric-scores/he-en/COMET-refB.seg.score", OTHER)
    return folder


def shown(found: MetaEvaluation) -> dict[str, list[str]]:
    return {part.lp: [metric.name for metric in part.metrics] for part in found.parts}


def names(found: MetaEvaluation) -> list[str]:
    return [metric.name for metric in found.metrics]


def test_a_metric_is_one_across_the_references_of_the_language_pairs(wmt23: Path) -> None:
    found = meta(wmt23, PAIRS)
    assert shown(found) == {
        "en-de": ["COMET-refA", "QE-src"],
        "he-en": ["COMET-refB", "QE-src"],
        "zh-en": ["COMET-refA", "QE-src"],
    }
    assert names(found) == ["COMET", "QE-src"]
    told = "they were shown refA in en-de and zh-en, refB in he-en."
    assert [n.endswith(told) for n in found.notes if n.startswith("Metrics with a reference are joined")] == [
        True
    ]
    each = [next(m for m in part.metrics if m.base == "COMET") for part in found.parts]
    accuracies = [metric.results["sys_accuracy"] for metric in each]
    right = sum(round((result.value or 0) * result.n) for result in accuracies)
    assert found.metrics[0].results["sys_accuracy"].value == right / sum(result.n for result in accuracies)
    statistics = [[result.value or 0 for result in metric.statistics] for metric in each]
    rest = sum((row[1] + 1) / 2 + (row[2] + 1) / 2 + row[3] for row in statistics)
    pooled = found.metrics[0].results["sys_accuracy"].value
    assert found.metrics[0].meta == pytest.approx((3 * pooled + rest) / 12, abs=1e-12)


def test_without_a_reference_of_a_task_the_same_name_comes_first(wmt23: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(wmt23, plain)
    found = meta(plain, PAIRS)
    assert names(found) == ["COMET-refA", "QE-src"]
    assert any("not in the whole: COMET-refB." in note for note in found.notes)


@pytest.mark.parametrize(
    ("metrics", "wanted"),
    [(["COMET"], ["COMET"]), (["QE-src"], ["QE-src"]), (["COMET", "QE-src"], ["COMET", "QE-src"])],
)
def test_a_name_without_reference_is_each_pair_s(wmt23: Path, metrics: list[str], wanted: list[str]) -> None:
    found = meta(wmt23, PAIRS, metrics=metrics)
    assert names(found) == wanted
    of_all = meta(wmt23, PAIRS)
    assert [m.meta for m in found.metrics] == [m.meta for m in of_all.metrics if m.name in wanted]


@pytest.mark.parametrize("lps", [PAIRS, ["he-en"]])
def test_a_metric_never_moves_a_language_pair_to_another_reference(wmt23: Path, lps: list[str]) -> None:
    with pytest.raises(UsageError, match="metrics that were shown refB, and COMET-refA was not: name COMET"):
        meta(wmt23, lps, metrics="COMET-refA")
    found = meta(wmt23, "he-en", metrics="COMET-refA", reference="refA")
    assert (names(found), found.reference) == (["COMET-refA"], "refA")


def test_metrics_without_reference_alone_keep_the_references_that_are_compared(wmt23: Path) -> None:
    assert meta(wmt23, "he-en", metrics="QE-src").systems == meta(wmt23, "he-en").systems


def write_pairs(folder: Path, *names: str, form: str = "{lp}/{name}.seg.score") -> Path:
    for lp, scores in zip(PAIRS, (METRIC, OTHER, QE), strict=True):
        for name in names:
            write_scores(folder / form.format(lp=lp, name=name), scores)
    return folder


@pytest.mark.parametrize(
    "form", ["{lp}/{name}.seg.score", "{lp}.{name}.seg.score", "metric-scores/{lp}/{name}.seg.score"]
)
def test_a_folder_holds_scores_of_each_language_pair(wmt23: Path, tmp_path: Path, form: str) -> None:
    folder = write_pairs(tmp_path / "own", "mine-src", "my-other", form=form)
    found = meta(wmt23, PAIRS, scores=[str(folder)], metrics="QE-src")
    assert names(found) == ["QE-src", "mine-src", "my-other"]
    assert all(part == ["QE-src", "mine-src", "my-other"] for part in shown(found).values())
    alone = meta(wmt23, "he-en", scores=[str(folder)])
    assert names(alone) == ["COMET-refB", "QE-src", "mine-src", "my-other"]


def test_a_folder_of_one_metric_may_be_given_a_name(wmt23: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "own", "mine-src")
    assert names(meta(wmt23, PAIRS, scores=[f"new={folder}"])) == ["COMET", "QE-src", "new"]
    write_pairs(folder, "other-src")
    with pytest.raises(UsageError, match="two files hold the scores of 'new' for en-de"):
        meta(wmt23, PAIRS, scores=[f"new={folder}"])


def test_references_in_a_folder_are_joined_as_those_of_the_test_set(wmt23: Path, tmp_path: Path) -> None:
    for lp, reference in zip(PAIRS, ("refA", "refB", "refA"), strict=True):
        write_scores(tmp_path / f"own/{lp}/mine-{reference}.seg.score", METRIC)
    write_scores(tmp_path / "own/he-en/mine-refA.seg.score", QE)
    found = meta(wmt23, PAIRS, scores=[str(tmp_path / "own")])
    assert names(found) == ["COMET", "QE-src", "mine"]
    assert shown(found)["he-en"] == ["COMET-refB", "QE-src", "mine-refB"]


def test_a_name_is_given_once_for_each_language_pair(wmt23: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "own", "mine")
    files = [f"mine={folder / lp / 'mine.seg.score'}" for lp in PAIRS]
    found = meta(wmt23, PAIRS, scores=files)
    assert names(found) == ["COMET", "QE-src", "mine"]
    by_lp = {lp: folder / lp / "mine.seg.score" for lp in PAIRS}
    assert meta(wmt23, PAIRS, scores={"mine": by_lp}).metrics == found.metrics
    with pytest.raises(UsageError, match=r"mine\.seg\.score is given twice: give each run"):
        meta(wmt23, PAIRS, scores=[*files, files[0]])


def test_a_score_file_that_does_not_say_its_language_pair_is_refused(wmt23: Path, tmp_path: Path) -> None:
    path = write_scores(tmp_path / "mine.seg.score", METRIC)
    with pytest.raises(UsageError, match=r"language pair: begin its name with one \(en-de.mine"):
        meta(wmt23, PAIRS, scores=[str(path)])
    assert names(meta(wmt23, "en-de", scores=[str(path)])) == ["COMET-refA", "QE-src", "mine"]


def test_one_file_of_records_holds_all_language_pairs_or_some(wmt23: Path, tmp_path: Path) -> None:
    rows = []
    for lp in PAIRS:
        written = write_ratings(tmp_path / "one.jsonl", {"A": [9, 8, 7, 6], "B": [7, 5, 4, 3]}, lp=lp)
        rows += [json.loads(line) for line in written.read_text().splitlines()]
    for row in rows:
        row["segment"] = str(int(row["segment"][1:]) + 1)
    (path := tmp_path / "judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert names(meta(wmt23, PAIRS, scores=[f"mine={path}"])) == ["COMET", "QE-src", "mine"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row["lp"] != "zh-en"))
    found = meta(wmt23, PAIRS, scores=[f"mine={path}"])
    assert names(found) == ["COMET", "QE-src"]
    assert any("not in the whole: mine." in note for note in found.notes)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row["lp"] == "en-de"))
    with pytest.raises(DataError, match="mine has no score of he-en, zh-en"):
        meta(wmt23, ["he-en", "zh-en"], scores=[f"mine={path}"])


def test_a_folder_without_scores_is_refused(wmt23: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"empty is no run, and no \.seg\.score or"):
        meta(wmt23, PAIRS, scores=[f"x={tmp_path / 'empty'}"])


@pytest.mark.realdata
def test_the_three_pairs_of_wmt23_rank_every_metric_with_a_reference(
    adjudge_data: Path, tmp_path: Path
) -> None:
    """he-en, which the data lacks, is zh-en under another name, with refB in place of refA."""
    folder = tmp_path / "wmt23"
    real = adjudge_data / "wmt23"
    for kind in ("sources", "documents", "references", "human-scores"):
        (folder / kind).mkdir(parents=True)
        for file in (real / kind).iterdir():
            copy(file, folder / kind / file.name)
            if file.name.startswith("zh-en"):
                renamed = file.name.replace("zh-en", "he-en").replace("refA", "refB")
                copy(file, folder / kind / renamed)
    for lp in PAIRS:
        for kind in ("system-outputs", "metric-scores"):
            (folder / kind / lp).mkdir(parents=True)
            for file in (real / kind / lp.replace("he", "zh")).iterdir():
                name = file.name.replace("refA", "refB") if lp == "he-en" else file.name
                copy(file, folder / kind / lp / name)
    for lp, reference in zip(PAIRS[1:], ("refB", "refA"), strict=True):
        qe, *_ = (
            f for f in find_score_files(folder, lp) if f.name == "XCOMET-QE-Ensemble" and f.level == "seg"
        )
        copy(qe.path, folder / "metric-scores" / lp / f"XCOMET-Ensemble-{reference}.seg.score")
    found = meta(folder, PAIRS, measures=["sys_accuracy"])
    with_reference = {"BERTscore", "BLEU", "COMET", "MetricX-23", "XCOMET-Ensemble", "chrF"}
    without = {"CometKiwi-src", "GEMBA-MQM-src", "XCOMET-QE-Ensemble-src"}
    assert sorted(names(found)) == sorted(with_reference | without)
    assert best_first(found.metrics, found.measures)[0].name == "XCOMET-Ensemble"


def test_scores_of_systems_come_from_the_gold_that_the_task_names_for_them(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "wmt19")
    human = folder / "human-scores"
    (human / "en-de.mqm.seg.score").rename(human / "en-de.wmt-raw.seg.score")
    alone: Any = meta(folder)
    (human / "en-de.wmt-z.sys.score").write_text("A\t-0.5\nB\t0.25\nC\t0.75\n")
    found: Any = meta(folder)
    assert (found.task, found.gold) == ("wmt19", "wmt-raw")
    assert found.scores.golds["wmt-raw"].systems.tolist() == [-0.5, 0.25, 0.75]
    assert np.array_equal(
        found.scores.golds["wmt-raw"].segments, alone.scores.golds["wmt-raw"].segments, equal_nan=True
    )
    assert said(found, "Gold scores of systems are wmt-z, of segments wmt-raw")
    assert not said(alone, "Gold scores of systems")


def test_documents_are_compared_by_the_means_of_their_segments(folder: Path) -> None:
    found = meta(folder, level="document", measures=["sys_pearson", "seg_pearson"])
    gold = np.array([[-1.5, -4], [-1.5, -5], [-5.5, -9]])
    metric = np.array([[0.8, 0.45], [0.75, 0.45], [0.15, 0.5]])
    assert one(found, "COMET-refA").results["seg_pearson"].value == pytest.approx(
        np.corrcoef(gold.ravel(), metric.ravel())[0, 1], abs=1e-15
    )
    assert (found.n_segments, found.n_all, one(found, "QE-src").n) == (2, 2, 6)
    assert one(found, "QE-src").results["sys_pearson"] == one(meta(folder), "QE-src").results["sys_pearson"]
    assert said(found, "Measures of segments compare documents, 2 of them")
    assert found.settings["level"] == "document"
    judged = meta(folder, level="document", segments="annotated", measures=["seg_pearson"])
    metric[:, 1] = [0.4, 0.3, 0.1]  # gold did not judge the third segment
    assert one(judged, "COMET-refA").results["seg_pearson"].value == pytest.approx(
        np.corrcoef(gold.ravel(), metric.ravel())[0, 1], abs=1e-15
    )


def test_groups_of_an_average_weigh_by_their_scores_on_request(folder: Path) -> None:
    changed = {**GOLD, "A": [-1, None, None, -5]}
    write_scores(folder / "human-scores/en-de.mqm.seg.score", changed)
    found = meta(folder, measures=["seg_pearson"], average="sys", macro=False)
    gold, metric = (np.array([side[s] for s in "ABC"], dtype=float) for side in (changed, METRIC))
    known = ~np.isnan(gold)
    each = [(np.corrcoef(g[k], m[k])[0, 1], k.sum()) for g, m, k in zip(gold, metric, known, strict=True)]
    expected = sum(r * n for r, n in each) / sum(n for _, n in each)
    assert one(found, "COMET-refA").results["seg_pearson"].value == pytest.approx(expected, abs=1e-12)
    assert (found.settings["macro"], said(found, "weigh each segment, or system, by")) == ("false", True)


def test_a_level_that_the_test_set_does_not_know_is_refused(folder: Path) -> None:
    assert said(meta(folder, level="domain"), "compare domains, 2 of them")
    (folder / "documents/en-de.docs").unlink()
    with pytest.raises(UsageError, match="does not name the domain of each segment"):
        meta(folder, level="domain")
    with pytest.raises(UsageError, match="does not name the domain of each segment"):
        meta(folder, strata=["domain"])


def test_a_task_has_no_mean_over_documents(folder: Path) -> None:
    task = write_task(folder, TASK)
    found = meta(folder, task=str(task), level="document")
    assert (found.task, one(found, "QE-src").meta, one(found, "QE-src").average_rank) == ("", None, None)
    assert found.excluded["C"] == meta(folder, task=str(task)).excluded["C"]


def test_references_and_outliers_are_the_year_s_with_every_gold_and_without_one(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "wmt23")
    human = folder / "human-scores"
    (human / "en-de.mqm.seg.score").rename(human / "en-de.mine.seg.score")
    found = meta(folder, measures="seg_pearson")
    assert (found.gold, found.task, found.reference) == ("mine", "", "refA")
    assert not said(found, "Metrics with a reference are joined")
    write_folder(folder, "en-he")
    write_scores(folder / "metric-scores/en-he/COMET-refB.seg.score", METRIC)
    for kind in ("references/en-he.refB.txt", "system-outputs/en-he/refB.txt"):
        (folder / kind).write_text("1\n2\n3\n4\n")
    found = meta(folder, "en-he", measures="seg_pearson")  # whose gold nobody published
    assert (found.gold, found.task, found.reference) == ("mqm", "", "refB")
    assert [metric.name for metric in found.metrics] == ["COMET-refB", "QE-src"]


def test_places_by_the_statistics_of_a_task_are_averaged(tmp_path: Path, folder: Path) -> None:
    from scipy.stats import rankdata

    task = tmp_path / "mine.toml"
    for name, scale in (("Same-src", 2), ("Worse-src", -1)):
        scores = {s: [None if v is None else scale * v for v in values] for s, values in QE.items()}
        write_scores(folder / f"metric-scores/en-de/{name}.seg.score", scores)
    task.write_text(TASK.replace('outliers = ["C"]', ""))
    found = meta(folder, task=str(task))
    columns = [[m.statistics[n].value for m in found.metrics] for n in range(2)]
    places = [rankdata(-np.round(np.array(column, dtype=float), 12), method="min") for column in columns]
    expected = (places[0] + 3 * places[1]) / 4
    assert [m.average_rank for m in found.metrics] == pytest.approx(expected)
    assert one(found, "Same-src").average_rank == one(found, "QE-src").average_rank


def test_only_primary_submissions_and_ones_own_scores_are_kept(tmp_path: Path, folder: Path) -> None:
    task, own = tmp_path / "mine.toml", tmp_path / "own.seg.score"
    write_scores(own, METRIC)
    task.write_text('primary = ["QE", "BLEU"]\nbaselines = ["BLEU"]\n' + TASK)
    write_scores(folder / "metric-scores/en-de/BLEU-refA.seg.score", METRIC)
    found = meta(folder, task=str(task), metrics="primary", scores={"mine": own})
    assert [m.name for m in found.metrics] == ["BLEU-refA", "QE-src", "mine"]
    assert [m.role for m in found.metrics] == ["baseline", "primary", ""]
    assert said(found, "1 metrics were neither primary submissions nor baselines")
    assert said(found, "Baselines of the task: BLEU-refA.")
    every = meta(folder, task=str(task), scores={"mine": own})
    assert said(every, "2 of 4 metrics here were not compared in the task, and take part in places")
    with pytest.raises(UsageError, match="name no other metric with it"):
        meta(folder, task=str(task), metrics="primary,COMET")
    task.write_text(TASK)
    with pytest.raises(UsageError, match="task mine does not list primary submissions"):
        meta(folder, task=str(task), metrics="primary")


DA: dict[str, list[float | None]] = {"A": [90, 80, None, 70], "B": [80, None, 60, 50], "C": [10, 20, 30, 40]}


def test_a_second_annotation_by_people_stands_below_the_metrics(tmp_path: Path, folder: Path) -> None:
    from adjudge.cli.meta_command import _data

    task = tmp_path / "mine.toml"
    human = folder / "human-scores"
    write_scores(human / "en-de.da-sqm.seg.score", DA)
    for same in ("mqm-z", "mqm-raw", "da-merged"):  # no second annotation
        write_scores(human / f"en-de.{same}.seg.score", DA)
    write_scores(human / "en-de.only-systems.sys.score", {"A": [1], "B": [2], "C": [3]})
    task.write_text(TASK.replace('outliers = ["C"]', ""))
    found = meta(folder, gold="mqm", task=str(task), significance=20)
    (people,) = found.people
    gold, da = (np.array([side[s] for s in "ABC"], dtype=float) for side in (GOLD, DA))
    both = ~np.isnan(gold) & ~np.isnan(da)
    r = np.corrcoef(gold[both], da[both])[0, 1]
    assert people.results["seg_pearson"].value == pytest.approx(r, abs=1e-12)
    assert (people.name, people.n, people.clusters, people.average_rank) == ("da-sqm", both.sum(), {}, None)
    assert people.meta is not None
    alone = meta(folder, gold="mqm", task=str(task), significance=20, people=False)
    assert (alone.people, alone.metrics) == ((), found.metrics)  # places and clusters are the same
    assert alone.p_values.keys() == found.p_values.keys()
    assert said(found, "People: da-sqm, another annotation")
    assert not said(alone, "People:")
    assert found.to_dict()["metric"] == ["COMET-refA", "QE-src", "people: da-sqm"]
    (table,) = meta_tables(found)
    assert [row[0] for row in table.rows][-1] == "people: da-sqm"
    assert len(table.rows) - 1 not in {row for row, _ in table.best}
    assert [*_data(found)["people"]] == ["da-sqm"]
    assert [*_data(found)["metrics"]] == ["COMET-refA", "QE-src"]
    primary = tmp_path / "primary.toml"
    primary.write_text('primary = ["QE"]\n' + task.read_text())
    only = meta(folder, gold="mqm", task=str(primary), metrics="primary")
    assert ([m.name for m in only.metrics], [p.name for p in only.people]) == (["QE-src"], ["da-sqm"])


def test_people_are_in_the_whole_where_every_language_pair_has_them(folder: Path) -> None:
    folder = write_folder(folder, "zh-en")
    write_scores(folder / "human-scores/en-de.da-sqm.seg.score", DA)
    one_of_two = meta(folder, "en-de,zh-en", gold="mqm")
    assert ([len(part.people) for part in one_of_two.parts], one_of_two.people) == ([1, 0], ())
    write_scores(folder / "human-scores/zh-en.da-sqm.seg.score", DA)
    (people,) = meta(folder, "en-de,zh-en", gold="mqm").people
    assert (people.name, people.n) == ("da-sqm", 2 * one_of_two.parts[0].people[0].n)
    document = meta(folder, "en-de", gold="mqm", level="document", measures="seg_pearson").people[0]
    units = [
        [np.nanmean(np.array(side[s], dtype=float)[c]) for s in "ABC" for c in ([0, 1], [2, 3])]
        for side in (GOLD, DA)
    ]
    assert document.results["seg_pearson"].value == pytest.approx(np.corrcoef(units)[0, 1], abs=1e-12)


RATED = {
    "ann": {"A": [90, 80, 70, 60], "B": [50, 40, 30, 20], "C": [10, 30, 50, 10]},
    "bob": {"A": [70, 90, 60], "B": [20, 60, 40], "C": [15, 25, 30]},
    "cem": {"A": [60], "B": [70], "C": [5]},
}
"""Ratings by three people of segments s0 to s3: three judged the first, two the second and third."""


def write_raters(path: Path) -> Path:
    texts = [write_ratings(path, scores, annotator=rater).read_text() for rater, scores in RATED.items()]
    path.write_text("".join(texts))
    return path


def test_one_rater_is_compared_with_the_others_and_not_with_gold_of_that_rater(tmp_path: Path) -> None:
    test_set, gold = write_own(tmp_path / "own.jsonl"), write_raters(tmp_path / "gold.jsonl")
    judge = write_ratings(tmp_path / "judge.jsonl", RATED["ann"], annotator="judge")
    measures = "seg_pearson,sys_pearson"
    ask: dict[str, Any] = {"gold": str(gold), "scores": {"judge": judge}, "measures": measures}
    found = meta(test_set, **ask)
    ann, bob, cem = (np.array([scores[s] for s in "ABC"], dtype=float) for scores in RATED.values())
    # raters take turns: ann, then bob, then ann; the others' mean never holds the one set apart
    apart = np.stack([ann[:, 0], bob[:, 1], ann[:, 2]])
    others = np.stack([(bob[:, 0] + cem[:, 0]) / 2, ann[:, 1], bob[:, 2]])
    (row,) = found.people
    assert (row.name, row.n, row.clusters, row.average_rank) == ("one rater", 9, {}, None)
    for name, sides in (
        ("seg_pearson", (apart.ravel(), others.ravel())),
        ("sys_pearson", (apart.mean(axis=0), others.mean(axis=0))),
    ):
        assert row.results[name].value == pytest.approx(np.corrcoef(*sides)[0, 1], abs=1e-12)
    assert said(found, "over the 9 that two or more people judged; 3 others of this gold are left out")
    assert [row[0] for row in meta_tables(found)[0].rows][-1] == "people: one rater"
    alone = meta(test_set, **ask, people=False)
    assert (alone.people, alone.metrics) == ((), found.metrics)
    assert not said(alone, "People:")
    fewer = meta(test_set, **ask, exclude=["C"]).people[0]
    assert fewer.n == 6
    document = meta(test_set, **ask, level="document").people[0]
    units = [[side[:2].mean(axis=0), side[2]] for side in (apart, others)]  # d0 is s0 and s1, d1 is s2
    assert document.results["seg_pearson"].value == pytest.approx(
        np.corrcoef(np.reshape(units, (2, -1)))[0, 1], abs=1e-12
    )


def test_raters_who_share_no_translation_and_one_rater_are_no_people(tmp_path: Path) -> None:
    test_set, gold = write_own(tmp_path / "own.jsonl"), tmp_path / "gold.jsonl"
    first = write_ratings(gold, {"A": [90, 80], "B": [50, 40]}).read_text()
    second = write_ratings(gold, {"C": [10, 30]}, annotator="bob").read_text()
    failed = write_ratings(gold, {"A": [None, None]}, annotator="cem").read_text()
    judge = write_ratings(tmp_path / "judge.jsonl", RATED["ann"], annotator="judge")
    for text in (first, first + second, first + second + failed):
        gold.write_text(text)
        found = meta(test_set, gold=str(gold), scores={"judge": judge}, measures="seg_pearson")
        assert found.people == ()
        assert not said(found, "People:")


def test_rating_files_of_a_folder_are_its_raters(tmp_path: Path, folder: Path) -> None:

    def write(name: str, majors: dict[str, list[int | None]]) -> None:
        error = {"start": 0, "end": 1, "category": "", "severity": "major", "is_source_error": False}
        lines = [
            f"{system}\tNone" if n is None else f"{system}\t{json.dumps({'errors': [error] * n})}"
            for system, numbers in majors.items()
            for n in numbers
        ]
        (folder / f"human-scores/en-de.{name}.seg.rating").write_text("\n".join(lines) + "\n")

    one_of = {"A": [0, 1, None, None], "B": [2, 1, None, 1], "C": [3, 2, None, 5]}
    two_of = {"A": [1, 1, None, 3], "B": [3, 0, None, 1], "C": [1, 4, None, None]}
    write("mqm.merged", one_of)
    assert meta(folder, gold="mqm").people == ()
    write("mqm.rater1", one_of)
    assert meta(folder, gold="mqm").people == ()  # what is merged holds the same judgements
    write("mqm.rater2", two_of)
    (row,) = meta(folder, gold="mqm", measures="seg_pearson").people
    sides = np.array([[0, 2, 3, 1, 0, 4, 1], [1, 3, 1, 1, 1, 2, 1]])  # rater1 of segment 1, 2 of 2, 1 of 4
    assert row.results["seg_pearson"].value == pytest.approx(np.corrcoef(sides[0], sides[1])[0, 1], abs=1e-12)
    assert (row.name, row.n) == ("one rater", 7)
    gold = write_scores(tmp_path / "en-de.mine.seg.score", GOLD)
    assert meta(folder, gold=[f"mqm={gold}"], people=True).people == ()  # a gold of one's own


@pytest.mark.realdata
def test_raters_of_published_mqm_and_their_gold(adjudge_data: Path) -> None:
    found = meta(adjudge_data / "wmt23", "zh-en", metrics=["COMET", "BLEU"], measures=["seg_pearson"])
    assert [(row.name, row.n) for row in found.people] == [("one rater", 270)]
    assert said(found, "17,385 others of this gold are left out")
    for name, lp, shared in (
        ("mqm_newstest2020_ende.source-errors.tsv", "en-de", 109),
        ("mqm_ted_zhen.tsv", "zh-en", 0),
    ):
        read = read_eval_set(adjudge_data / "mqm-tsv" / name, lp, people=True)
        (gold,) = read.golds.values()
        assert (gold.raters is not None) == bool(shared)
        if gold.raters is not None:
            assert all(np.count_nonzero(~np.isnan(side.segments)) == shared for side in gold.raters)


@pytest.mark.realdata
def test_direct_assessment_is_the_people_of_wmt23(adjudge_data: Path) -> None:
    from scipy.stats import pearsonr

    folder = adjudge_data / "complete/wmt23"
    found = meta(folder, metrics="primary", measures=["seg_pearson"])
    assert [[row.name for row in part.people] for part in found.parts] == [["da-sqm"], [], ["da-sqm"]]
    part = found.parts[2]
    sides: list[list[str]] = []
    for gold in ("mqm", "da-sqm"):
        text = (folder / f"human-scores/zh-en.{gold}.seg.score").read_text("utf-8")
        lines = [line.split() for line in text.splitlines()]
        sides.append([score for wanted in part.systems for system, score in lines if system == wanted])
    both = [(float(g), float(d)) for g, d in zip(*sides, strict=True) if "None" not in {g, d}]
    assert part.people[0].n == len(both)
    assert part.people[0].results["seg_pearson"].value == pytest.approx(
        pearsonr(*zip(*both, strict=True)).statistic, abs=1e-12
    )


@pytest.mark.realdata
def test_calibrated_tau_is_twice_calibrated_accuracy_less_one(adjudge_data: Path) -> None:
    found = meta(
        adjudge_data / "wmt23",
        "en-de",
        gold="mqm",
        metrics=["COMET", "BLEU"],
        measures=["seg_acc_eq", "seg_tau_23_calibrated"],
        significance=100,
    )
    for metric in found.metrics:
        accuracy, tau = (metric.results[n].value for n in ("seg_acc_eq", "seg_tau_23_calibrated"))
        assert accuracy is not None
        assert tau == pytest.approx(2 * accuracy - 1, abs=1e-15)
    assert np.array_equal(found.p_values["seg_acc_eq"], found.p_values["seg_tau_23_calibrated"])


def test_contrastive_accuracy_is_the_share_of_right_preferences(tmp_path: Path, folder: Path) -> None:
    found = meta(folder, better="A")
    metric = {s: np.array(METRIC[s], dtype=float) for s in "ABC"}
    right = [metric["A"] > metric[s] for s in "BC"]
    result = one(found, "COMET-refA").results["seg_contrastive"]
    assert result.value == pytest.approx(np.mean(right))
    assert (result.n, found.gold, found.measures) == (12, "A right", ("seg_contrastive",))
    flat = write_scores(tmp_path / "f.seg.score", dict.fromkeys("ABC", [1] * 4))
    ties = meta(folder, better="A", scores={"flat": flat})
    assert one(ties, "flat").results["seg_contrastive"].value == 0


@pytest.mark.realdata
def test_a_challenge_set_of_wmt25_is_measured(adjudge_data: Path) -> None:
    mteval = adjudge_data / "wmt25/mteval"
    scores = {n: mteval / f"returned/condrift/{n}.tsv" for n in ("MetricX-25", "sentinel-src")}
    found = meta(mteval / "submitted/condrift", "en-zh", better="hyp-1", scores=scores)
    values = {m.name: m.results["seg_contrastive"].value for m in found.metrics}
    rows = [
        line.split("\t") for line in (mteval / "returned/condrift/MetricX-25.tsv").read_text().split("\n")
    ]
    known = {(r[1], r[5]): float(r[8]) for r in rows[1:] if len(r) > 8 and r[2:4] == ["en", "zh"]}
    ids = {segment for segment, _ in known}
    expected = np.mean([known[s, "hyp-1"] > known[s, f"hyp-{n}"] for s in ids for n in (2, 3, 4)])
    assert values["MetricX-25"] == pytest.approx(expected)
    assert (values["sentinel-src"] or 0) < 0.1  # it sees the source only, and ties nearly everything
