"""The public files, read in whole: counts that were measured on them, and the way there and back."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.core.mqm import find_weights
from adjudge.core.segment import TestSet
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.mqm_tsv import read_mqm_tsv, write_mqm_tsv
from adjudge.formats.mtme import find_score_files, find_test_set, read_ratings, write_ratings
from adjudge.formats.read import detect, load, read_content
from adjudge.formats.score_file import read_score_file

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="session")
def wmt23(adjudge_data: Path) -> Path:
    return adjudge_data / "wmt23"


@pytest.mark.parametrize(
    ("lp", "sizes", "domains"),
    [
        ("en-de", (557, 14, 192), {"social": 212, "news": 139, "speech": 113, "user_review": 93}),
        ("zh-en", (1976, 17, 179), {"news": 763, "user_review": 726, "manuals": 487}),
    ],
)
def test_wmt23_is_read_and_written_byte_for_byte(
    wmt23: Path, tmp_path: Path, lp: str, sizes: tuple[int, int, int], domains: dict[str, int]
) -> None:
    test_set, (_, systems, _) = load(wmt23, lp), sizes
    assert (len(test_set), len(test_set.systems), len({s.document for s in test_set})) == sizes
    assert Counter(s.domain for s in test_set) == domains
    assert {"refA", "synthetic_ref"} <= set(test_set.systems) & set(test_set.references)
    assert all(len(s.translations) == systems for s in test_set)
    assert not write_content(tmp_path / "out", "mtme", Content(test_set=test_set))
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) == 2 + systems + 2
    for path in written:
        assert path.read_bytes() == (wmt23 / path.relative_to(tmp_path / "out")).read_bytes()


def test_every_score_file_of_wmt23_fits_its_test_set(wmt23: Path) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for lp in ("en-de", "zh-en"):
        test_set = load(wmt23, lp)
        units = {"seg": len(test_set), "sys": 1, "domain": len({s.domain for s in test_set})}
        for file in find_score_files(wmt23, lp):
            table = read_score_file(file.path, units=units[file.level])
            assert set(table.systems) <= set(test_set.systems)
            found[lp, file.level] += 1
    en_de = {("en-de", level): 26 for level in ("seg", "sys", "domain")}
    assert found == en_de | {("zh-en", "seg"): 9, ("zh-en", "sys"): 9, ("zh-en", "domain"): 1}


def test_gold_has_fewer_systems_than_outputs_and_says_none_where_nobody_looked(wmt23: Path) -> None:
    gold = read_score_file(wmt23 / "human-scores" / "en-de.mqm.seg.score")
    assert gold.values.shape == (13, 557)
    assert int(np.isnan(gold.values).all(axis=0).sum()) == 97
    assert read_score_file(wmt23 / "human-scores" / "zh-en.mqm.seg.score").values.shape == (16, 1976)
    gemba = read_score_file(wmt23 / "metric-scores" / "en-de" / "GEMBA-MQM-src.seg.score")
    assert not np.isnan(gemba.values).any()


@pytest.mark.parametrize(
    ("name", "lines", "sizes", "empty"),
    [
        ("en-de.mqm.merged", 7798, (5980, 19569, 1334), 17),
        ("zh-en.mqm.rater1", 33592, (2592, 5536, 270), 9),
        ("zh-en.mqm.rater2", 33592, (2720, 6413, 639), 0),
    ],
)
def test_error_spans_of_wmt23_are_read_and_written_without_loss(
    wmt23: Path, tmp_path: Path, name: str, lines: int, sizes: tuple[int, int, int], empty: int
) -> None:
    path = wmt23 / "human-scores" / f"{name}.seg.rating"
    test_set = find_test_set(path)
    assert test_set is not None
    file = read_ratings(path, test_set)
    spans = [span for record in file.records for span in record.spans]
    assert (len(file.records), len(spans), sum(span.side == "source" for span in spans)) == sizes
    met = {"errors recorded without marked words (start is end), which count all the same": empty}
    assert file.met == (met if empty else {})
    assert not [span for span in spans if span.category is None]

    assert not write_ratings(tmp_path / path.name, file.records, test_set)
    before, after = (_lines_by_system(p) for p in (path, tmp_path / path.name))
    assert before == after
    assert sum(map(len, before.values())) == lines


def _lines_by_system(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for line in path.read_text().splitlines():
        system, _, rating = line.partition("\t")
        found.setdefault(system, []).append(None if rating == "None" else json.loads(rating))
    return found


def test_the_spans_of_wmt23_add_up_to_its_scores(wmt23: Path) -> None:
    """Reading, offsets, labels and weights at once: 5,980 sums of errors, negated."""
    path = wmt23 / "human-scores" / "en-de.mqm.merged.seg.rating"
    test_set = find_test_set(path)
    assert test_set is not None
    gold = read_score_file(wmt23 / "human-scores" / "en-de.mqm.seg.score")
    weights = find_weights("mqm-google")
    compared = 0
    for record in read_ratings(path, test_set).records:
        if record.system in gold.systems:
            points = sum(weights.points(span.severity, span.category) for span in record.spans)
            value = gold.values[gold.systems.index(record.system), int(record.segment) - 1]
            assert -points == pytest.approx(value, abs=1e-9)
            compared += 1
    assert compared == 5980


def test_ment_is_read_and_written_byte_for_byte(adjudge_data: Path, tmp_path: Path) -> None:
    path = adjudge_data / "ment"
    assert detect(path) == "ment"
    test_set = load(path)
    assert (test_set.lps, len(test_set), len(test_set.systems)) == (("zh-en",), 398, 10)
    assert any("\n" in s.source for s in test_set)
    assert not write_content(tmp_path / "out", "ment", Content(test_set=test_set))
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert file.read_bytes() == (path / file.relative_to(tmp_path / "out")).read_bytes()


@pytest.mark.parametrize("folder", ["human-scores", "metric-scores/zh-en"])
def test_the_system_scores_of_ment_are_sums_not_means(adjudge_data: Path, folder: str) -> None:
    (segments,) = (adjudge_data / "ment" / folder).glob("*.seg.score")
    (systems,) = (adjudge_data / "ment" / folder).glob("*.sys.score")
    scores, sums = read_score_file(segments, units=398), read_score_file(systems)
    assert scores.values.size == 3980
    assert scores.systems == sums.systems
    assert scores.values.min() >= 0
    assert scores.values.max() <= 4
    np.testing.assert_allclose(scores.values.sum(axis=1), sums.values[:, 0], rtol=1e-12)


def test_the_published_scores_of_other_judges_are_read(adjudge_data: Path) -> None:
    for path in (adjudge_data / "m-mad").glob("*.seg.score"):
        assert read_score_file(path).values.shape[1] == 557


@pytest.mark.parametrize(
    ("name", "sizes", "sides", "met"),
    [
        (
            "mqm_newstest2020_ende.source-errors",
            (872, 841),
            {"translation": 793, "unplaced": 79},
            {
                "marks beside a repetition of the same words": 92,
                "translations of which a rater has another text or source, marks carried over": 56,
                "marks with white space at an edge": 61,
                "segments whose docSegId is not their place in this file, and is not kept": 123,
            },
        ),
        (
            "mqm_ted_zhen",
            (5618, 7935),
            {"translation": 5269, "source": 349},
            {
                "marks with white space at an edge": 49,
                "marks beside a repetition of the same words": 7,
                "tags without a partner": 1,
            },
        ),
    ],
)
def test_mqm_files_are_read_with_their_traps_and_written_without_loss(
    adjudge_data: Path, tmp_path: Path, name: str, sizes: tuple[int, int], sides: Any, met: dict[str, int]
) -> None:
    lp = "en-de" if "ende" in name else "zh-en"
    file = read_mqm_tsv(adjudge_data / "mqm-tsv" / f"{name}.tsv", lp)
    spans = [span for record in file.records for span in record.spans]
    assert (len(spans), len(file.records)) == sizes
    assert Counter("unplaced" if s.start is None else s.side for s in spans) == sides
    assert file.met == met
    assert not [span for span in spans if span.category is None]
    texts = {(s.segment, system): text for s in file.test_set for system, text in s.translations.items()}
    for record in file.records:
        for span in record.spans:
            if span.side == "translation" and span.start is not None:
                assert texts[record.segment, record.system][span.start : span.end] == span.text

    assert not write_mqm_tsv(tmp_path / "out.tsv", file.records, file.test_set)
    again = read_mqm_tsv(tmp_path / "out.tsv", lp)
    assert again.records == file.records
    assert again.test_set.segments == file.test_set.segments


def test_the_quotes_of_2020_are_taken_off(adjudge_data: Path) -> None:
    file = read_mqm_tsv(adjudge_data / "mqm-tsv" / "mqm_newstest2020_ende.source-errors.tsv", "en-de")
    sources = [s.source for s in file.test_set]
    assert len(sources) == 129
    assert len([source for source in sources if source.startswith('"')]) > 30
    assert not [source for source in sources if '""' in source]


def test_published_averages_have_none_where_nobody_looked(adjudge_data: Path) -> None:
    table = read_score_file(adjudge_data / "mqm-tsv" / "mqm_ted_zhen.avg_seg_scores.tsv")
    assert table.values.shape == (15, 843)
    assert int(np.isnan(table.values).sum()) == 4710
    assert np.nanmax(table.values) == 0


def test_public_files_go_through_records_and_back(wmt23: Path, tmp_path: Path) -> None:
    path = wmt23 / "human-scores" / "en-de.da-sqm.seg.score"
    content = read_content(path, protocol="da-sqm")
    assert isinstance(content.test_set, TestSet)
    write_content(tmp_path / "r.jsonl", "records", content)
    back = read_content(tmp_path / "r.jsonl", test_set=content.test_set)
    write_content(tmp_path / path.name, "mtme-scores", back)
    first, second = read_score_file(path), read_score_file(tmp_path / path.name)
    order = [first.systems.index(system) for system in second.systems]
    np.testing.assert_array_equal(second.values, first.values[order])
    assert len(content.records or ()) == int((~np.isnan(first.values)).sum())
