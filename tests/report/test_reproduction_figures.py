"""A paper's figures, drawn from the cells that were computed."""

from adjudge.reports.campaign_report import reproduction_figures
from adjudge.reproduce.reproduction import Cell, Reproduction


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
