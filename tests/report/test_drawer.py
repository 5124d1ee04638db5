import sys
from concurrent.futures import CancelledError
from dataclasses import replace

import pytest

from adjudge.reports.figures import Figure, distribution_figure
from adjudge.reports.html import Drawer, drawer_for, drawing, drawn, render_page
from adjudge.reports.page import make_page
from tests.report.samples import make_run, many_segments

LONG = replace(
    many_segments(1500),
    segments=tuple(replace(s, source=s.source * 20) for s in many_segments(1500).segments),
)


def figures() -> list[Figure]:
    scores = {"Alder": [1.0, 2.0, 2.0]}
    return [distribution_figure(name, scores, name, top=4.0, failed={}) for name in ("one", "two")]


@pytest.fixture
def without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")


def test_another_process_draws_what_this_one_would() -> None:
    with Drawer() as drawer:
        svgs = [svg.result() for svg in drawer.begin(figures())]
    assert svgs == [figure.render("svg") for figure in figures()]


@pytest.mark.parametrize("executable", ["/nowhere/python", "/bin/false"])
def test_where_no_process_draws_figures_are_drawn_here(
    executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with Drawer() as drawer:
        waiting = drawer.begin(figures())
        svgs = [drawn(figure, svg) for figure, svg in zip(figures(), waiting, strict=True)]
    assert svgs == [figure.render("svg") for figure in figures()]


def test_nothing_is_drawn_once_it_has_ended() -> None:
    with Drawer() as drawer:
        pass
    (svg,) = drawer.begin(figures()[:1])
    with pytest.raises(CancelledError):
        svg.result()


@pytest.mark.parametrize("executable", [sys.executable, "/nowhere/python"])
def test_many_figures_are_drawn_from_both_ends(executable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    many = [figures()[index % 2] for index in range(30)]
    with drawing(many, None) as finish:
        assert finish() == 15 * [figure.render("svg") for figure in figures()]


@pytest.mark.usefixtures("without_python")
def test_a_page_is_the_same_whoever_draws_it() -> None:
    run = make_run(LONG)
    with drawer_for([run]) as drawer:
        assert drawer is not None
        assert render_page(make_page([run]), drawer=drawer) == render_page(make_page([run]))


def test_a_small_page_is_drawn_here() -> None:
    with drawer_for([make_run()]) as drawer:
        assert drawer is None
