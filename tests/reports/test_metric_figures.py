"""Figures of meta-evaluations: what they say, and where labels stand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.meta import meta
from adjudge.reports.figures import Box, Figure, place_labels, spread_heights
from adjudge.reports.metric_figures import meta_figures
from adjudge.reports.metric_tables import meta_tables
from tests.analysis.folders import write_folder, write_scores


def figures(folder: Path) -> dict[str, Figure]:
    return {figure.name: figure for figure in meta_figures(meta(folder))}


def test_every_metric_has_a_scatter_and_a_calibration_and_all_have_a_matrix() -> None:
    found = figures(write_folder(Path("set")))
    kinds, names = ("scatter", "calibration"), ("COMET-refA", "QE-src")
    of_each = {f"{kind}.en-de.mqm.{name}" for kind in kinds for name in names}
    assert set(found) == of_each | {"correlations.en-de.mqm"}
    (axes,) = found["scatter.en-de.mqm.QE-src"].drawing.axes
    assert [text.get_text() for text in axes.texts] == ["A", "B", "C"]
    assert found["scatter.en-de.mqm.QE-src"].title == "QE-src orders 3 of 3 pairs of systems as mqm does"
    title = found["correlations.en-de.mqm"].title
    assert title.startswith("COMET-refA and QE-src agree with each other at r 0.")
    assert found["calibration.en-de.mqm.COMET-refA"].title == (
        "From the worst to the best tenth by COMET-refA, mqm goes from −7.5 to −1.0"
    )


def test_a_constant_metric_has_a_scatter_and_nothing_else() -> None:
    folder = write_folder(Path("set"))
    write_scores(folder / "metric-scores/en-de/QE-src.seg.score", {s: [1] * 4 for s in "ABC"})
    kinds = {name.replace(".en-de.mqm", "") for name in figures(folder)}
    assert kinds == {"scatter.COMET-refA", "scatter.QE-src", "calibration.COMET-refA"}


@pytest.mark.parametrize("constant", [0.0, 0.1, -25.0])
def test_the_labels_of_a_constant_metric_stand_within_the_axes(constant: float) -> None:
    folder, names = write_folder(Path("set")), [f"System number {n}" for n in range(8)]
    for name in names:
        (folder / f"system-outputs/en-de/{name}.txt").write_text("1\n2\n3\n4\n")
    write_scores(folder / "human-scores/en-de.mqm.seg.score", {s: [-n] * 4 for n, s in enumerate(names)})
    write_scores(folder / "metric-scores/en-de/QE-src.seg.score", {s: [constant] * 4 for s in names})
    figure = figures(folder)["scatter.en-de.mqm.QE-src"]
    drawing = figure.drawing
    (axes,) = drawing.axes
    drawing.draw_without_rendering()
    frame = axes.get_window_extent()
    assert len(axes.texts) == 8
    for text in axes.texts:
        box = text.get_window_extent()
        assert frame.x0 - 1 <= box.x0 < box.x1 <= frame.x1 + 1  # pixels
        assert frame.y0 - 1 <= box.y0 < box.y1 <= frame.y1 + 1
    low, high = axes.get_ylim()
    assert (low + high) / 2 == pytest.approx(constant)


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_figures_are_written_in_every_format_twice_alike(form: str) -> None:
    folder = write_folder(Path("set"))
    first, again = (figures(folder)["correlations.en-de.mqm"].render(form) for _ in range(2))
    assert len(first) > 1000
    assert first == again or form == "svg"  # matplotlib draws ids of clip paths at random


def test_labels_stand_apart_where_there_is_room() -> None:
    points = [(50.0, 50.0), (52.0, 51.0), (48.0, 49.0), (50.0, 52.0)]
    boxes = place_labels(points, [(20.0, 6.0)] * 4, Box(0, 0, 100, 100), 3.0)
    assert all(a.shared(b) == 0 for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_a_label_at_the_edge_stands_inside() -> None:
    (box,) = place_labels([(98.0, 50.0)], [(20.0, 6.0)], Box(0, 0, 100, 100), 3.0)
    assert box.right <= 98


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_spread_heights_keep_their_order_and_their_distance(heights: list[float]) -> None:
    placed = np.array(spread_heights(heights, 0.1))
    order = np.argsort(heights, kind="stable")
    assert (np.diff(placed[order]) >= 0.1 - 1e-9).all()
    assert (placed >= np.array(heights)).all()


def test_a_dotted_line_and_shades_are_explained() -> None:
    drawn = figures(write_folder(Path("set")))
    drawings = [figure.drawing for figure in drawn.values()]
    texts = [d.get_supxlabel() for d in drawings] + [a.get_xlabel() for d in drawings for a in d.axes]
    said = [text.replace("\n", " ") for text in texts]
    assert any("dotted: mqm itself" in text for text in said)
    assert any("white is 0 or less, darkest is 1" in text for text in said)


def test_metrics_stand_in_the_order_of_the_table_also_where_less_is_better() -> None:
    folder = write_folder(Path("set"))
    for first in ("seg_mae", "sys_accuracy"):
        found = meta(folder, measures=[first, "seg_pearson"], scale="minmax", task="")
        (table,) = meta_tables(found)
        names = [figure.name.rpartition(".")[2] for figure in meta_figures(found) if "scatter" in figure.name]
        assert names == [row[0] for row in table.rows], first


@pytest.mark.parametrize("gold", ["mqm", "a-name-of-gold-that-is-rather-long-as-campaigns-have-them"])
def test_every_caption_stands_within_its_figure(gold: str) -> None:
    folder = write_folder(Path("set"))
    (folder / "human-scores/en-de.mqm.seg.score").rename(folder / f"human-scores/en-de.{gold}.seg.score")
    for figure in meta_figures(meta(folder, gold=gold)):
        drawing = figure.drawing
        drawing.draw_without_rendering()
        texts = [*drawing.texts, *(axes.xaxis.label for axes in drawing.axes)]
        for extent in (text.get_window_extent() for text in texts if text.get_text()):
            assert extent.x0 >= 0, figure.name
            assert extent.x1 <= drawing.bbox.x1, figure.name
