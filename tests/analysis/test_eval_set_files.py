"""Reading eval sets: which systems, segments, golds and metrics there are, and what is odd in them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.eval_set import OwnScores, find_own_scores
from adjudge.analysis.eval_set_files import find_set_lps, known_name, read_eval_set
from adjudge.analysis.meta import meta
from adjudge.analysis.shared_tasks import list_tasks
from adjudge.errors import DataError, UsageError
from tests.analysis.folders import GOLD, METRIC, write_folder, write_own, write_ratings, write_scores


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set")


def own(name: str, path: Path) -> dict[str, OwnScores]:
    return find_own_scores({name: path}, [None])


def test_a_folder_has_systems_in_order_of_their_names_and_metrics_by_their_stems(folder: Path) -> None:
    found = read_eval_set(folder)
    assert (found.name, found.lp, found.systems) == ("set", "en-de", ("A", "B", "C", "refA"))
    assert found.references == ("refA",)
    assert (found.documents, found.domains) == (("d1", "d1", "d2", "d2"), ("news", "news", "chat", "chat"))
    assert found.lengths == (1, 2, 3, 4)
    assert list(found.golds) == ["mqm"]
    assert [(name, m.reference) for name, m in found.metrics.items()] == [
        ("COMET-refA", "refA"),
        ("QE-src", "src"),
    ]


def test_none_is_not_judged_and_a_system_without_a_row_has_no_score(folder: Path) -> None:
    found = read_eval_set(folder)
    np.testing.assert_array_equal(found.golds["mqm"].segments[0], [-1, -2, np.nan, -4])
    assert np.isnan(found.metrics["COMET-refA"].segments[3]).all()
    assert np.isnan(found.metrics["COMET-refA"].systems[3])


def test_scores_of_systems_are_those_of_their_file_else_means_of_judged_segments(folder: Path) -> None:
    write_scores(folder / "metric-scores/en-de/QE-src.sys.score", {"B": [2], "A": [1], "refA": [4], "C": [3]})
    found = read_eval_set(folder)
    np.testing.assert_allclose(found.golds["mqm"].systems, [-7 / 3, -8 / 3, -20 / 3, -1 / 3])
    assert found.metrics["QE-src"].systems.tolist() == [1, 2, 3, 4]


def test_one_of_several_golds_must_be_chosen(folder: Path) -> None:
    write_scores(folder / "human-scores/en-de.da-sqm.seg.score", GOLD)
    with pytest.raises(UsageError, match="set en-de has da-sqm, mqm: choose with --gold"):
        read_eval_set(folder)
    assert list(read_eval_set(folder, preferred="mqm").golds) == ["mqm"]
    assert list(read_eval_set(folder, gold=["da-sqm", "mqm"]).golds) == ["da-sqm", "mqm"]
    with pytest.raises(UsageError, match="no gold 'esa', and there is no such file; it has da-sqm, mqm"):
        read_eval_set(folder, gold=["esa"])


def test_one_of_several_language_pairs_must_be_chosen(folder: Path) -> None:
    folder = write_folder(folder, lp="zh-en")
    assert find_set_lps(folder) == ("en-de", "zh-en")
    with pytest.raises(UsageError, match="2 language pairs: add --lp"):
        read_eval_set(folder)
    assert read_eval_set(folder, "zh-en").lengths == (3, 8, 14, 15)  # characters, for Chinese has no spaces


def test_a_test_set_of_ones_own_works_like_a_folder(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    gold = write_ratings(tmp_path / "people.jsonl", {"A": [90, 80, None, 70], "B": [60, 50, 40, 30]})
    scores = write_scores(tmp_path / "COMET.seg.score", METRIC)
    found = read_eval_set(path, gold=[str(gold)], scores=own("mine", scores))
    np.testing.assert_array_equal(found.golds["people"].segments[0], [90, 80, np.nan, 70])
    assert np.isnan(found.golds["people"].segments[2]).all()
    np.testing.assert_array_equal(found.golds["people"].systems, [80, 45, np.nan])
    assert found.golds["people"].failed == {"A": 1}
    assert found.golds["people"].range == (0.0, 100.0)
    assert found.metrics["mine"].segments[2].tolist() == [0.2, 0.1, 0.9, 0.1]


def test_a_name_may_be_given_to_gold(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    gold = write_ratings(tmp_path / "people.jsonl", {"A": [1, 2, 3, 4]})
    assert list(read_eval_set(path, gold=[f"spring={gold}"]).golds) == ["spring"]


def test_a_test_set_of_ones_own_needs_a_gold(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name the gold: own en-de has none: add --gold FILE"):
        read_eval_set(write_own(tmp_path / "own.jsonl"))


def test_scores_of_other_systems_are_left_out_with_a_word(tmp_path: Path, folder: Path) -> None:
    more = write_scores(tmp_path / "X.seg.score", {**METRIC, "D": [1, 2, 3, 4]})
    found = read_eval_set(folder, scores=own("X", more))
    assert found.notes == (
        "Systems that set does not have, scored by X, are left out: D.",
        f"X: Texts could not be compared: {more} has none.",
    )
    none = write_scores(tmp_path / "Y.seg.score", {"D": [1, 2, 3, 4]})
    with pytest.raises(DataError, match=r"left out: D\. It has A, B, C, refA"):
        read_eval_set(folder, scores=own("Y", none))


def test_records_of_no_known_segment_are_an_error_and_some_are_a_note(tmp_path: Path) -> None:
    path = write_own(tmp_path / "own.jsonl")
    gold = str(write_ratings(tmp_path / "people.jsonl", {"A": [1, 2, 3, 4, 5]}))
    assert read_eval_set(path, gold=[gold]).notes[1:] == (
        "people judges 1 segment that own does not have, such as 's4'; it is left out.",
    )
    other = write_ratings(tmp_path / "other.jsonl", {"A": [1, 2]})
    other.write_text(other.read_text().replace('"s0"', '"t0"').replace('"s1"', '"t1"'))
    with pytest.raises(DataError, match="other judges no system and segment of own"):
        read_eval_set(path, gold=[str(other)])


def test_uneven_files_and_nan_in_files_are_errors(tmp_path: Path, folder: Path) -> None:
    uneven = write_scores(tmp_path / "U.seg.score", {"A": [1, 2, 3]})
    with pytest.raises(DataError, match="3 seg scores a system, where set has 4"):
        read_eval_set(folder, scores=own("U", uneven))
    flat = write_scores(tmp_path / "F.seg.score", {"all": [1, 2, 3, 4] * 3})
    with pytest.raises(DataError, match=r"12 seg scores .* 4: are those of several systems under one name\?"):
        read_eval_set(folder, scores=own("F", flat))
    nan = write_scores(tmp_path / "N.seg.score", {"A": [1, 2, float("nan"), 3]})
    with pytest.raises(DataError, match="plain finite number or None, got 'nan'"):
        read_eval_set(folder, scores=own("N", nan))


def test_two_metrics_of_one_name_are_refused(tmp_path: Path, folder: Path) -> None:
    more = write_scores(tmp_path / "QE-src.seg.score", METRIC)
    with pytest.raises(UsageError, match="two metrics 'QE-src'"):
        read_eval_set(folder, scores=own("QE-src", more))


@pytest.mark.realdata
def test_gold_of_ment_is_called_ment(adjudge_data: Path) -> None:
    found = read_eval_set(adjudge_data / "ment")
    assert (list(found.golds), list(found.metrics)) == (["ment"], ["RATE-src"])
    assert (len(found.systems), len(found.segments)) == (10, 398)
    assert found.golds["ment"].range == (0.0, 4.0)


def test_a_gold_that_is_called_by_its_protocol_has_its_range(folder: Path) -> None:
    write_scores(folder / "human-scores/en-de.da-sqm.seg.score", GOLD)
    found = read_eval_set(folder, gold=["mqm", "da-sqm"])
    assert (found.golds["mqm"].range, found.golds["da-sqm"].range) == (None, (0.0, 100.0))


def test_a_file_without_any_score_is_an_error(tmp_path: Path, folder: Path) -> None:
    nothing = write_scores(tmp_path / "X.seg.score", {"A": [None] * 4})
    with pytest.raises(DataError, match="no score in this file: every line says None"):
        read_eval_set(folder, scores=own("X", nothing))


def test_only_metrics_that_are_wanted_are_read_and_ones_own_always(tmp_path: Path, folder: Path) -> None:
    (folder / "metric-scores/en-de/QE-src.seg.score").write_text("damaged")
    mine = write_scores(tmp_path / "mine.seg.score", METRIC)
    found = read_eval_set(folder, metrics=["COMET-refA"], scores=own("mine", mine))
    assert list(found.metrics) == ["COMET-refA", "mine"]
    assert list(read_eval_set(folder, metrics=["mine"], scores=own("mine", mine)).metrics) == ["mine"]
    with pytest.raises(UsageError, match="no metric 'BLEU'; there are COMET-refA, QE-src, mine"):
        read_eval_set(folder, metrics=["BLEU"], scores=own("mine", mine))


def test_a_system_that_is_not_there_is_said_once_for_all_who_scored_it(folder: Path) -> None:
    (folder / "system-outputs/en-de/B.txt").unlink()
    assert read_eval_set(folder).notes == (
        "Systems that set does not have, scored by mqm, COMET-refA, QE-src, are left out: B.",
    )


def test_translations_that_were_cut_are_said(folder: Path) -> None:
    (folder / "system-outputs/en-de/B.txt").write_text("1\n2\n3")
    (note,) = read_eval_set(folder).notes
    assert "system-outputs/en-de/B.txt has 3 lines, where there are 4 segments" in note


def test_a_folder_of_another_name_is_known_by_its_metrics(tmp_path: Path) -> None:
    task = next(task for task in list_tasks() if task.name == "wmt23")
    for name, metrics in (("wmt23", ()), ("copy", task.primary[:16]), ("mine", task.primary[:15])):
        folder = tmp_path / name
        (folder / "metric-scores/en-de").mkdir(parents=True)
        for kind in ("sources", "human-scores", "system-outputs/en-de"):
            (folder / kind).mkdir(parents=True)
        (folder / "sources/en-de.txt").write_text("a\n")
        for metric in metrics:
            (folder / f"metric-scores/en-de/{metric}-refA.seg.score").write_text("A\t1\n")
    assert [known_name(tmp_path / name) for name in ("wmt23", "copy", "mine")] == ["wmt23", "wmt23", "mine"]


@pytest.mark.realdata
def test_a_copy_under_another_name_gives_the_same_table(adjudge_data: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").symlink_to(tmp_path / "elsewhere")
    shutil.copytree(adjudge_data / "wmt23", tmp_path / "elsewhere")
    one, other = (meta(path, "en-de") for path in (adjudge_data / "wmt23", tmp_path / "copy"))
    assert (one.task, one.systems, one.excluded) == (other.task, other.systems, other.excluded)
    assert [(m.name, m.results, m.meta) for m in one.metrics] == [
        (m.name, m.results, m.meta) for m in other.metrics
    ]
    assert any("is taken for wmt23" in note for note in other.notes)
    assert not any("is taken for" in note for note in one.notes)
