"""The ESA paper's tables and figures from its campaigns' raw files."""

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from adjudge.analysis.study_pieces import Mark
from adjudge.core.record import ErrorSpan
from adjudge.formats.appraise import AppraiseSpan
from adjudge.reproduce.esa_tables import marks_of_appraise, marks_of_wmt, points_of
from adjudge.reproduce.reproduction import Cell, Reproduction, reproduce

GOLDEN = Path(__file__).parents[1] / "golden" / "esa.tsv"
"""Each entry of what the paper's numbers were found to be, independently: one or several cells."""


def golden() -> list[dict[str, str]]:
    return list(csv.DictReader(GOLDEN.read_text().splitlines(), delimiter="\t"))


def by_place(found: Reproduction) -> Mapping[tuple[str, str, str], Cell]:
    return {(cell.table, cell.row, cell.column): cell for cell in found.cells}


@pytest.fixture(scope="module")
def paper(adjudge_data: Path) -> Mapping[tuple[str, str, str], Cell]:
    return by_place(reproduce("esa", adjudge_data))


@pytest.mark.realdata
def test_every_number_comes_out_within_its_tolerance(paper: Mapping[tuple[str, str, str], Cell]) -> None:
    wrong = []
    for line in golden():
        cell = paper[line["table"], line["row"], line["column"]]
        wanted, tolerance = float(line["value"]), float(line["tolerance"])
        if cell.ours is None or abs(cell.ours - wanted) > tolerance + 1e-9:
            wrong.append((cell, wanted))
    assert not wrong
    assert len({line["entry"] for line in golden()}) == 147


@pytest.mark.realdata
def test_what_is_not_the_papers_has_a_reason(paper: Mapping[tuple[str, str, str], Cell]) -> None:
    for cell in paper.values():
        assert (cell.verdict == "match") == (not cell.reason), cell
        assert "we know no reason" not in cell.reason, cell
        assert cell.verdict != "missing-input" or cell.is_unprinted or cell.ours is None
    differing = {(c.table, c.row) for c in paper.values() if c.verdict == "differs" and c.table != "Figure 6"}
    assert differing == {
        ("Set-up", "documents"),
        ("Set-up", "shared translations"),
        ("Set-up", "MQM_WMT of 0, shared"),
        ("Set-up", "refA, fluency and style, shared"),
        ("Section 6.3", "MQM_WMT"),
        ("Figure 5", "ESA"),
    }
    assert paper["Figure 5", "ESA", "saved"].reason.endswith("; this gives 0.17")
    wanted = {c.reason for c in paper.values() if c.ours is None and not c.reason.startswith("wanted: cut")}
    assert wanted == {"wanted: wmt23/human-scores/zh-en.da-sqm.seg.score"}


def test_without_files_every_cell_says_which_one_it_wants(tmp_path: Path) -> None:
    found = reproduce("esa", tmp_path)
    assert {cell.reason for cell in found.cells} == {"wanted: esa/240315rc5ESA.scores.csv"}
    (tmp_path / "esa").mkdir()
    (tmp_path / "wmt23").mkdir()
    reasons = {cell.reason for cell in reproduce("esa", tmp_path).cells}
    assert "wanted: esa/batches_wmt23_en-de_esa.json" in reasons
    assert all(reason.startswith("wanted: ") for reason in reasons)


def test_points_are_the_papers_punctuation_is_cheap_and_undecided_free() -> None:
    kinds = {"minor": -1, "major": -5, "critical": -25, "undecided": 0}
    for severity, points in kinds.items():
        assert points_of([AppraiseSpan(start=0, end=1, severity=severity)]) == points
    comma = AppraiseSpan(
        start=0, end=0, severity="major", error_type=("Linguistic conventions", "Punctuation")
    )
    assert points_of([comma, comma]) == pytest.approx(-0.2)


def test_marks_are_as_the_paper_has_them_or_exact() -> None:
    comma = AppraiseSpan(
        start=3, end=3, severity="minor", error_type=("Linguistic conventions", "Punctuation")
    )
    assert marks_of_appraise([comma]) == (Mark(3, 3, "minor", "linguistic conventions", "punctuation"),)
    assert marks_of_appraise([comma], exact=True) == (Mark(3, 3, "minor", "fluency", "punctuation"),)
    spans = [
        ErrorSpan(start=3, end=5, severity="major", category="accuracy/omission", side="source"),
        ErrorSpan(start=3, end=5, severity="minor"),
    ]
    published = marks_of_wmt(spans, as_published=True, with_source=True)
    exact = marks_of_wmt(spans, as_published=False, with_source=False)
    assert [(mark.first, mark.last) for mark in published] == [(3, 5), (3, 5)]
    assert [(mark.first, mark.last) for mark in exact] == [(None, None), (3, 4)]


@pytest.mark.realdata
def test_clusters_do_not_hang_on_the_rule_but_on_the_test(paper: Mapping[tuple[str, str, str], Cell]) -> None:
    rules = ("clusters", "clusters, rank sums as WMT", "clusters, signed ranks")
    found = {
        name: tuple(paper["Figure 4", rule, name].ours for rule in rules)
        for name in ("DA_WMT", "ESA_1", "ESA_1_spans", "MQM", "MQM_WMT")
    }
    assert found == {
        "DA_WMT": (3, 3, 3),
        "ESA_1": (2, 2, 3),
        "ESA_1_spans": (2, 2, 3),
        "MQM": (2, 2, 2),
        "MQM_WMT": (3, 3, 3),
    }
