"""Which tool was used at which turn: counted, drawn, and on the page."""

from collections import Counter
from pathlib import Path

from adjudge.core.record import Annotation, Failure, Record
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.reports.figures import count_steps, steps_figure
from adjudge.reports.html import report
from adjudge.runs.run import run


def annotation(*steps: str) -> Annotation:
    return Annotation(
        lp="en-de", segment="1", system="A", annotator="rate", protocol="sqm", rating=3, steps=steps
    )


FAILURE = Failure(lp="en-de", segment="1", systems=("A",), annotator="rate", protocol="sqm", reason="parse")
RECORDS: list[Record] = [
    annotation("search", "evaluate", "finish"),
    annotation("evaluate", "finish"),
    annotation("evaluate", "search", "evaluate", "compare", "finish"),
    FAILURE,
]


def test_tools_are_counted_by_turn() -> None:
    assert count_steps(RECORDS) == [
        Counter(evaluate=2, search=1),
        Counter(evaluate=1, finish=1, search=1),
        Counter(finish=1, evaluate=1),
        Counter(compare=1),
        Counter(finish=1),
    ]
    assert count_steps([annotation(), FAILURE]) == []


def test_the_title_says_what_comes_first_and_how_long_it_takes() -> None:
    figure = steps_figure("turns", count_steps(RECORDS))
    assert figure.title == "67 % begin with evaluate; a judgement takes 3.3 turns"
    assert steps_figure("turns", count_steps(RECORDS[1:2])).title.startswith("All begin with evaluate")


def test_every_turn_is_a_bar_as_high_as_its_judgements() -> None:
    drawing = steps_figure("turns", count_steps(RECORDS)).drawing
    (axes,) = drawing.axes
    heights: Counter[float] = Counter()
    for bar in axes.patches:
        heights[round(bar.get_x() + bar.get_width() / 2)] += bar.get_height()  # type: ignore[attr-defined]
    assert heights == {1: 3, 2: 3, 3: 2, 4: 1, 5: 1}
    assert "3 judgements: search 2, evaluate 4, finish 3, compare 1" in drawing.get_supxlabel().replace(
        "\n", " "
    )


def test_the_page_shows_turns_of_judges_that_have_a_choice(tmp_path: Path) -> None:
    segment = Segment(
        segment="1", lp="en-de", source="One, two.", translations={"A": "Eins.", "B": "Eins, zwei."}
    )
    test_set = TestSet(name="small", segments=(segment,))
    for name in ("rate", "gemba-da"):
        done = run(name, test_set, out=tmp_path / name)
        page = report(done, tmp_path / f"{name}.html").read_text()
        assert ("Which tool at which turn" in page) == (name == "rate")
