"""A campaign's analysis as tables and figures."""

import csv
import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.study import Analysis, analyse
from adjudge.reports.campaign_report import (
    Subsets,
    analysis_data,
    analysis_rows,
    analysis_tables,
    campaign_figures,
    people_figure,
    reproduction_figures,
    subsets_figure,
)
from adjudge.reports.tables import render_table
from adjudge.reproduce.reproduction import Cell, Reproduction
from adjudge.stats.bootstrap import Draws
from tests.analysis.study_campaigns import campaign, compare, span, work
from tests.analysis.test_study import two_systems


@cache
def small() -> Analysis:
    damaged = [
        work("ann", "A", "0", 20, (span(4, 8),), kind="check"),
        work("ben", "A", "0", 70, kind="check"),
    ]
    return analyse(campaign(*two_systems(), *damaged), draws=Draws(resamples=20))


def test_every_number_stands_in_the_tables_with_its_n() -> None:
    tables = analysis_tables(small())
    titles = [table.title for table in tables]
    assert titles[:3] == [
        "What is there?",
        "Which systems are better? By rating",
        "Which systems are better? By points",
    ]
    cells = {cell for table in tables for row in table.rows for cell in row}
    assert {"as the paper", "mended", "two people", "77.5"} <= cells
    shown = sum(len(t.rows) for t in tables if t.title in {s.title for s in small().sections})
    assert shown == sum(len(section.numbers) for section in small().sections)
    assert "damaged copies" in tables[-1].rows[0][0]
    for form in ("table", "markdown", "latex"):
        assert all(render_table(table, form) for table in tables)


def test_a_number_that_is_none_says_why() -> None:
    found = analyse(campaign(work("ann", "A", "1", 90)), draws=Draws())
    notes = [note for table in analysis_tables(found) for note in table.notes]
    assert "share of minor errors of all, A: none, for no error was marked." in notes


def test_of_many_pairs_of_people_the_tables_show_a_summary_and_programs_get_all() -> None:
    people = [f"p{number:02d}" for number in range(12)]
    submissions = [
        work(person, f"S{place}", segment, 80 - place * 5 + (number * place * 7 + int(segment)) % 11)
        for number, person in enumerate(people)
        for segment in "1234"
        for place in range(6)
    ]
    found = analyse(campaign(*submissions), draws=Draws(resamples=20))
    for name, title, measure in (
        ("annotators", "Do every two annotators order the systems alike?", "Pearson over systems"),
        ("agreement", "Do judgements of the same translation agree?", "Kendall tau-c"),
    ):
        numbers = [n for n in found.section(name).numbers if n.is_of_pair and n.measure == measure]
        values = sorted(number.result.value or 0.0 for number in numbers)
        (table,) = (t for t in analysis_tables(found) if t.title == title)
        rows = {row[0]: row for row in table.rows if row[1] == measure}
        pairs = [who for who in rows if " and " in who]
        assert len(pairs) == 10
        assert float(rows["lowest of pairs"][-3]) == pytest.approx(values[0], abs=0.001)
        assert float(rows["median of pairs"][-3]) == pytest.approx(float(np.median(values)), abs=0.001)
        assert rows["lowest of pairs"][-1] == str(len(numbers))
        shown = [float(rows[who][-3]) for who in pairs]
        assert shown == pytest.approx(values[:10], abs=0.001)
        assert any("--format json" in note for note in table.notes)
        data = analysis_data(found)[0]["sections"][name]["numbers"]
        assert sum(" and " in one["of"] for one in data if one["measure"] == measure) == len(numbers)
    assert sum(" and " in n.of for n in found.section("annotators").numbers) == 2 * 66
    lines = sum(len(table.notes) for table in analysis_tables(found))
    assert lines < 40, "a reason is said once, however many pairs have it"


def test_many_pairs_of_people_without_a_value_are_one_line() -> None:
    people = [f"p{number:02d}" for number in range(12)]
    systems = [f"S{place}" for place in range(6)]
    submissions = [work(person, system, "1", 50) for person in people for system in systems]
    found = analyse(campaign(*submissions), draws=Draws(resamples=20))
    title = "Do every two annotators order the systems alike?"
    (table,) = (table for table in analysis_tables(found) if table.title == title)
    assert [row[0] for row in table.rows] == ["all"]
    assert any(note.startswith("Of 66 pairs of people none has a value.") for note in table.notes)
    assert len(table.notes) < 10


def test_programs_get_one_row_a_number_with_every_digit() -> None:
    text = render_table(analysis_rows(small()), "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    (row,) = (r for r in rows if (r["section"], r["of"], r["measure"]) == ("profile", "B", "rating"))
    assert float(row["value"]) == 57.5
    assert row["n"] == "12"
    assert any(r["section"] == "ranking" and r["measure"] == "cluster rating" for r in rows)
    (data,) = analysis_data(small())
    assert data["rankings"]["rating"]["systems"][0]["system"] == "A"
    assert {n["definition"] for n in data["sections"]["attention"]["numbers"]} == {None, "paper", "mended"}


def test_figures_say_what_they_show(tmp_path: Path) -> None:
    figures = {figure.name: figure for figure in campaign_figures(small())}
    assert {"ranking.rating", "ranking.points", "scores", "twice.two-people", "attention", "drift"} <= set(
        figures
    )
    assert figures["ranking.rating"].title == "A is significantly better than every other system"
    assert figures["twice.two-people"].title.endswith("correlate with r = 1.00")
    assert figures["attention"].title == "Share of damaged copies rated lower: from 0.00 (ben) to 1.00 (ann)"
    assert len(figures["drift"].write(tmp_path)) == 3
    assert (tmp_path / "drift.svg").read_bytes().startswith(b"<?xml")


def test_annotators_have_heat_maps_with_blanks_where_they_share_nothing(tmp_path: Path) -> None:
    shared = {"1": ("ann", "ben"), "2": ("ben", "cem")}
    submissions = [
        work(person, f"S{place}", segment, 80 - place * 5 + (person == "ben") * (place % 2) * 3)
        for segment, people in shared.items()
        for person in people
        for place in range(10)
    ]
    found = analyse(campaign(*submissions), draws=Draws(resamples=20))
    figures = {figure.name: figure for figure in campaign_figures(found)}
    systems = figures["annotators.systems.en-de"]
    assert systems.title.startswith("Annotators' ratings of systems correlate with r from 0.99")
    assert "annotators.segments.en-de" in figures
    systems.write(tmp_path)
    (axes,) = systems.drawing.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ann", "ben", "cem"]
    assert [text.get_text() for text in axes.texts] == [".99"] * 4, "ann and cem share nothing"


def test_comparisons_have_their_rankings_drawn() -> None:
    submissions = [compare("ann", str(n), "A") for n in range(20)]
    found = analyse(campaign(*submissions, protocol="pairwise"), draws=Draws(resamples=20))
    assert [figure.name for figure in campaign_figures(found)] == ["ranking.overall"]


def test_a_crowd_is_drawn_by_its_ends() -> None:
    rows = [row for row in small().section("drift").numbers if "above" in row.measure][:1] * 60
    figure = people_figure("crowd", rows, "score above others")
    assert "20 in the middle left out" in figure.drawing.axes[0].get_xlabel()


def test_a_curve_says_how_many_segments_are_enough() -> None:
    figure = subsets_figure("s", {"": Subsets([10, 20, 30], [0.5, 0.96, 1.0])})
    assert figure.title == "20 of 30 segments order 95 % of the pairs as all do"


# A paper's figures, drawn from the cells that were computed.


def cell(table: str, row: str, column: str, ours: float | None) -> Cell:
    return Cell(table=table, row=row, column=column, paper="", ours=ours, verdict="missing-input", reason="r")


def reproduction(*cells: Cell, paper: str = "esa") -> Reproduction:
    return Reproduction(paper=paper, title="T", source="S", cells=cells, notes=())


CELLS = (
    *(cell("Figure 4", s, "ESA_1", v) for s, v in (("A", 90), ("B", 80), ("cut 1", 85), ("clusters", 2))),
    *(cell("Figure 4", s, "MQM_WMT", v) for s, v in (("A", -1), ("B", -3))),
    *(cell("Figure 9", f"{n} segments", "ESA_1", v) for n, v in ((10, 80.0), (20, 96.0))),
    *(cell("Figure 9", f"{n} segments", "ESA_1, pairs", v) for n, v in ((10, 70.0), (20, None))),
    cell("Figure 9", "mean", "ESA_1", 88.0),
)


def test_systems_and_subsets_are_drawn_from_their_cells() -> None:
    figures = {figure.name: figure for figure in reproduction_figures(reproduction(*CELLS))}
    assert list(figures) == ["figure-4.ESA_1", "figure-9", "figure-9.pairs"]
    assert figures["figure-4.ESA_1"].title == "People order 1 of 1 pair of systems as gold does"
    assert "2 clusters" in figures["figure-4.ESA_1"].drawing.axes[0].get_xlabel()
    assert figures["figure-9"].title == "ESA_1: 20 of 20 segments order 95 % of the pairs as all do"


def test_other_papers_and_missing_files_draw_nothing() -> None:
    assert list(reproduction_figures(reproduction(*CELLS, paper="m-mad"))) == []
    assert list(reproduction_figures(reproduction(cell("Figure 4", "A", "ESA_1", None)))) == []
