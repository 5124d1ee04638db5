from dataclasses import replace
from pathlib import Path

import pytest

import adjudge
from adjudge.core.record import Annotation
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.mtme import write_ratings, write_score_records
from adjudge.formats.read import Judgements
from adjudge.reports.annotators import read_judged
from adjudge.reports.page import make_page
from adjudge.store.json_lines import write_records, write_test_set
from tests.analysis.records import rated
from tests.reports.samples import judge_all, judgement, make_run, preferences, small_test_set

TEST_SET = small_test_set(["en-de"])
TWO = small_test_set(["en-de", "zh-en"])


def scored(annotator: str) -> list[Annotation]:
    return [
        rated(system, s.segment, place / 10, annotator=annotator, protocol="metric")
        for s in TEST_SET
        for place, system in enumerate(s.translations)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A test set with a run's records, spans of people, and a metric's scores, each in its own format."""
    write_test_set(tmp_path / "texts.jsonl", TEST_SET)
    spans = [r for r in judge_all(TEST_SET, "rater") if isinstance(r, Annotation)]
    write_ratings(tmp_path / "en-de.people.seg.rating", spans, TEST_SET)
    write_score_records(tmp_path / "en-de.metric.seg.score", scored("metric"), TEST_SET)
    write_records(tmp_path / "pairs.jsonl", preferences(TEST_SET))
    return tmp_path


def test_errors_that_mark_other_words_are_said_of_their_file() -> None:
    right = judgement(TEST_SET.segments[0], "Birch", "rater")
    wrong = replace(right, spans=tuple(replace(s, text="elsewhere") for s in right.spans))
    given = [Judgements(name="spring", records=(right,)), Judgements(name="autumn", records=(wrong,))]
    with pytest.warns(DataWarning, match="1 of 1 errors of autumn mark other words") as told:
        make_page(given, test_set=TEST_SET)
    assert len(told) == 1
    run = make_run(TEST_SET)
    make_page([run], gold=[right])
    with pytest.warns(DataWarning, match="1 of 1 errors of gold mark other words than stand at their place"):
        make_page([run], gold=[wrong])


def test_people_metrics_and_pairs_stand_side_by_side(folder: Path) -> None:
    names = ("en-de.people.seg.rating", "en-de.metric.seg.score", "pairs.jsonl")
    judged = read_judged([folder / name for name in names], test_set=TEST_SET)
    page = make_page(judged, test_set=TEST_SET)
    kinds = {"en-de.people": "people", "metric": "records", "pairs": "records"}
    assert {a.label: a.kind for a in page.annotators} == kinds
    assert len(page.segments) == 2
    assert [len(block.bars) for block in page.sections[0].blocks] == [3, 3, 2]
    assert "A score is the number that its file gives." in dict(page.meanings)["metric"]


def test_lines_without_ids_take_the_texts_of_the_run_beside_them(folder: Path) -> None:
    run = make_run(TEST_SET)
    judged = read_judged([folder / "en-de.metric.seg.score"], beside=run.test_set)
    assert [a.label for a in make_page([run, *judged]).annotators] == ["judge", "metric"]
    given = [run, folder / "en-de.metric.seg.score"]
    out = adjudge.report(given, folder / "p.html", test_set=folder / "texts.jsonl")
    assert "metric" in out.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="say what they are about with --test-set"):
        read_judged([folder / "en-de.metric.seg.score"])


def test_several_protocols_of_a_file_are_several_annotators() -> None:
    given = Judgements(name="autumn", records=(*judge_all(TEST_SET, "anna"), *preferences(TEST_SET, "ben")))
    labels = [a.label for a in make_page([given], test_set=TEST_SET).annotators]
    assert labels == ["autumn (mqm)", "autumn (pairwise)"]


def test_files_of_one_name_are_told_apart() -> None:
    given = Judgements(name="one", records=tuple(judge_all(TEST_SET, "anna")))
    page = make_page([given, replace(given, name="two"), given], test_set=TEST_SET)
    assert [a.label for a in page.annotators] == ["one, file 1", "two", "one, file 3"]


def test_a_file_that_is_gold_too_is_not_measured_by_itself() -> None:
    given = Judgements(name="people", records=tuple(judge_all(TEST_SET, "anna")), test_set=TEST_SET)
    with pytest.warns(DataWarning, match="people holds the judgements of gold, and stands on the page as"):
        page = make_page([make_run(TEST_SET), given], gold=judge_all(TEST_SET, "anna"))
    assert [a.label for a in page.annotators] == ["judge", "gold"]
    assert not page.left_out


def test_only_what_was_judged_of_a_test_set_is_shown() -> None:
    first = TEST_SET.segments[0]
    given = Judgements(name="one", records=(judgement(first, "Alder"), judgement(first, "Birch")))
    page = make_page([given], test_set=TWO)
    assert list(page.segments) == [(first.lp, first.segment)]
    assert page.systems == ("Alder", "Birch")
    assert page.title == "one"


def test_what_no_run_has_a_text_of_is_counted_and_not_shown() -> None:
    foreign = replace(judgement(TEST_SET.segments[0], "Alder", "anna"), segment="elsewhere")
    given = Judgements(name="autumn", records=(*judge_all(TEST_SET, "anna"), foreign))
    page = make_page([make_run(TEST_SET), given])
    assert page.left_out == (("autumn", 1),)
    with pytest.raises(DataError, match="autumn: no judgement is about a translation"):
        make_page([make_run(TEST_SET), replace(given, records=(foreign,))])
    with pytest.raises(DataError, match="autumn has no judgement yet"):
        make_page([make_run(TEST_SET), replace(given, records=())])
    with pytest.raises(DataError, match="autumn has no judgement yet"):
        make_page([Judgements(name="autumn", records=(), test_set=TEST_SET)])


def test_judgements_without_any_text_are_refused() -> None:
    with pytest.raises(UsageError, match="autumn: judgements without texts; say what they are about"):
        make_page([Judgements(name="autumn", records=tuple(judge_all(TEST_SET)))])


@pytest.mark.parametrize(("lp", "amount"), [(None, 6), ("en-de", 6)])
def test_lines_are_of_the_language_pair_that_their_name_says(
    folder: Path, lp: str | None, amount: int
) -> None:
    (named,) = read_judged([folder / "en-de.metric.seg.score"], lp, TWO)
    assert len(named.records) == amount
    (folder / "en-de.metric.seg.score").rename(folder / "bare.seg.score")
    if lp is None:
        with pytest.raises(UsageError, match="its language pair, one of en-de, zh-en: add --lp"):
            read_judged([folder / "bare.seg.score"], lp, TWO)
    else:
        assert len(read_judged([folder / "bare.seg.score"], lp, TWO)[0].records) == amount


def test_texts_alone_are_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="jsonl holds texts and no judgements"):
        read_judged([folder / "texts.jsonl"])
