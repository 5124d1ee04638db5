"""Intervals and clusters of a whole table."""

from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.meta import meta
from adjudge.analysis.meta_settings import MetaEvaluation
from adjudge.errors import UsageError
from adjudge.stats.correlation import pearson
from adjudge.stats.paired import holm
from adjudge.stats.resampling import metric_p_values
from tests.meta.folders import write_folder, write_scores

SYSTEMS = ("A", "B", "C")
MEASURES = ("seg_pearson", "seg_acc_eq", "sys_pearson")
TASK = '[[statistics]]\nmeasure = "seg_pearson"\n[[statistics]]\nmeasure = "sys_pearson"\nrange = [-1, 1]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
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
    (tmp_path / "mine.toml").write_text(TASK)
    return path


def judged(folder: Path, **options: object) -> MetaEvaluation:
    task = str(folder.parent / "mine.toml")
    return meta(folder, measures=MEASURES, task=task, **options)  # type: ignore[arg-type]


def test_nothing_is_drawn_unless_asked_for(folder: Path) -> None:
    found = judged(folder)
    assert all(m.clusters == {} and m.meta_interval is None for m in found.metrics)
    assert all(r.interval is None for m in found.metrics for r in m.results.values())
    assert found.p_values == {}


def test_every_value_and_the_mean_have_an_interval_around_them(folder: Path) -> None:
    found = judged(folder, intervals=True, significance=200)
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


def test_twins_share_a_cluster_and_what_knows_nothing_is_behind(folder: Path) -> None:
    found = judged(folder, significance=200)
    clusters = {m.name: m.clusters for m in found.metrics}
    for name in ("seg_pearson", "seg_acc_eq", "meta"):
        assert [clusters[metric][name] for metric in ("good-src", "twin-src", "poor-src")] == [1, 1, 2]
    assert set(found.p_values) == {*MEASURES, "meta"}


def test_p_values_are_those_of_the_test_of_the_measure_and_holm_corrects_what_was_asked(folder: Path) -> None:
    plain, corrected = judged(folder, significance=200), judged(folder, significance=200, holm=True)
    table = plain.p_values["seg_pearson"]
    by_hand = metric_p_values("seg_pearson", *_arrays(folder))
    np.testing.assert_allclose(table, by_hand, atol=0.15)  # other draws
    good, poor, twin = 0, 1, 2
    wanted = holm(np.array([table[good, poor], table[twin, poor]]))
    np.testing.assert_allclose([corrected.p_values["seg_pearson"][i, poor] for i in (good, twin)], wanted)
    assert corrected.signature.fields["correction"] == "holm"


def _arrays(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    from adjudge.analysis.eval_set_files import read_eval_set

    found = read_eval_set(folder)
    return found.golds["mqm"].segments, np.stack([m.segments for m in found.metrics.values()])


def test_the_value_is_not_moved_by_what_is_drawn(folder: Path) -> None:
    gold, metrics = _arrays(folder)
    found = judged(folder, intervals=True, significance=10)
    assert found.metrics[0].results["seg_pearson"].value == pearson(gold, metrics[0]).value


def test_whole_documents_can_be_drawn_for_intervals(folder: Path) -> None:
    one, other = (
        judged(folder, intervals=True, by_document=each).metrics[0].results["seg_pearson"].interval
        for each in (False, True)
    )
    assert one != other
    with pytest.raises(UsageError, match="intervals and clusters: ask for one of them"):
        judged(folder, by_document=True)


def test_clusters_over_documents_are_by_bootstrap_whatever_the_measure(folder: Path) -> None:
    found = judged(folder, clusters=True, by_document=True)
    assert found.signature.fields["units"] == "documents"
    assert any(note.startswith("Clusters: bootstrap over documents, 1,000 draws") for note in found.notes)
    by_segment = judged(folder, clusters=True)
    good, poor = 0, 1
    for name in ("seg_pearson", "seg_acc_eq"):
        assert found.p_values[name][good, poor] < 0.05 < found.p_values[name][poor, good]
    assert found.p_values["sys_pearson"][good, poor] != by_segment.p_values["sys_pearson"][good, poor]


def test_a_correction_of_tests_that_nobody_asked_for_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="ask for clusters"):
        judged(folder, holm=True)


PEARSON = ("seg_pearson", "sys_pearson")


def test_a_test_that_is_named_is_behind_the_clusters(folder: Path) -> None:
    gold, metrics = _arrays(folder)
    for test in ("bootstrap", "williams"):
        found = meta(folder, measures=PEARSON, test=test)
        by_hand = metric_p_values("seg_pearson", gold, metrics, method=test)
        np.testing.assert_array_equal(found.p_values["seg_pearson"], by_hand)
        assert [m.clusters["seg_pearson"] for m in found.metrics] == [1, 2, 1], test
        assert found.signature.fields["test"] == test
    assert "test" not in judged(folder, clusters=True).signature.fields


def test_williams_draws_nothing_and_its_note_says_what_it_believes(folder: Path) -> None:
    found = meta(folder, measures=PEARSON, test="williams", significance=3)
    (note,) = (note for note in found.notes if note.startswith("Clusters:"))
    assert note.startswith("Clusters: Williams' test, for which all scores are independent")
    assert "draws" not in note
    assert not [note for note in found.notes if "No metric can be better" in note and "seg_pearson" in note]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"test": "williams"},
            "^seg_acc_eq has no test williams; those that do: --measures sys_pearson,seg_pearson$",
        ),
        ({"test": "wiliams"}, "no test 'wiliams'.* did you mean williams"),
        ({"test": "perm-both", "by_document": True}, "perm-both cannot draw documents; the bootstrap can"),
    ],
)
def test_a_test_that_there_is_not_is_refused(folder: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judged(folder, **options)


def test_equal_seeds_give_equal_numbers(folder: Path) -> None:
    first, again, other = (judged(folder, intervals=True, seed=seed) for seed in (1, 1, 2))
    assert first.metrics == again.metrics
    assert first.metrics != other.metrics


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"significance": 0}, "1 draw or more"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_draws_that_cannot_be_are_refused(folder: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judged(folder, **options)


def test_one_segment_has_values_and_no_intervals(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            lines = file.read_text().splitlines()
            kept = [lines[n * 30] for n in range(len(lines) // 30)]
            file.write_text("".join(f"{line}\n" for line in kept))
    found = meta(folder, measures=["sys_accuracy", "sys_pearson"], intervals=True, significance=50)
    assert {r.interval for m in found.metrics for r in m.results.values()} == {None}
    assert all(m.results["sys_accuracy"].value is not None for m in found.metrics)
    assert any("no intervals: one of the segments alone" in note for note in found.notes)
