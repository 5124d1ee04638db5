import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.analysis.rank import RankedSystem, Ranking, RankSettings, rank_by_criterion
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.scores import Interval, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.formats.read import read_judgements
from adjudge.reports.figures import (
    COLOURS,
    FILE_FORMATS,
    Figure,
    count_steps,
    distribution_figure,
    figure_style,
    page_svg,
    radar_figure,
    ranking_figure,
    steps_figure,
)
from adjudge.reports.html import report
from adjudge.reports.part_figures import (
    Bin,
    Dot,
    Point,
    bars_figure,
    cost_figure,
    curve_figure,
    dots_figure,
    matrix_figure,
)
from adjudge.runs.engines import run
from adjudge.store.run_directory import read_records
from tests.analysis.records import preferred, rated

ROWS = [
    RankedSystem(system="Alder", score=-1.2, interval=Interval(-1.9, -0.5), cluster=1, n=40, failed=0),
    RankedSystem(system="<b>$x$ & أرز\u202e", score=-3.0, interval=None, cluster=2, n=40, failed=2),
    RankedSystem(system="Cedar", score=None, interval=None, cluster=None, n=0, failed=40),
]
SCORES = {"Alder": [0.0, 0.0, 0.0, -5.0], "Birch": [0.0, -1.0, -6.0, -25.0]}


def spread(scores: dict[str, list[float]], top: float, **failed: int) -> Figure:
    return distribution_figure("d", scores, "score, higher is better", top=top, lost={"failed": failed})


@cache
def figures() -> list[str]:
    """Both figures as they stand in one page."""
    one = ranking_figure("ranking.en-de.x", "Alder leads; Birch is last", ROWS, "score, higher is better")
    return [str(page_svg(one, "one")), str(page_svg(spread(SCORES, 0.0, Birch=3), "other"))]


def test_a_figure_in_a_page_follows_its_theme_and_has_nothing_that_the_policy_refuses() -> None:
    for svg in figures():
        assert svg.startswith("<svg ")
        assert not re.search(r"\sstyle=|<style|<script|<!DOCTYPE|<\?xml|<metadata|ns0:|xlink", svg)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", svg)
        used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg))
        assert not used - {"#ffffff"}, "a colour that COLOURS does not map"
        assert "accent" in svg
        assert "font-family" not in svg


def test_figures_of_one_page_share_no_identifier() -> None:
    one, other = (re.findall(r'\sid="([^"]+)"', svg) for svg in figures())
    assert len(set(one)) == len(one)
    assert not set(one) & set(other)
    for svg, known in zip(figures(), (one, other), strict=True):
        links = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
        assert {a or b for a, b in links} <= {*known}


def test_a_name_is_text_whatever_it_looks_like() -> None:
    svg = figures()[0]
    assert "&lt;b&gt;$x$ &amp; أرز[RLO]" in svg
    assert ">Cedar<" not in svg  # nothing of it was judged


def test_the_same_figure_has_the_same_bytes(tmp_path: Path) -> None:
    def drawn() -> list[bytes]:
        figure = ranking_figure("r", "Alder leads", ROWS, "score")
        return [path.read_bytes() for path in figure.write(tmp_path)]

    first = drawn()
    assert first == drawn()
    assert [data[:4] for data in first] == [b"%PDF", b"<?xm", b"\x89PNG"]
    assert sorted(path.suffix[1:] for path in tmp_path.iterdir()) == sorted(FILE_FORMATS)


def test_one_file_is_written_in_the_format_of_its_name() -> None:
    figure = ranking_figure("r", "Alder leads", ROWS, "score")
    figure.write_file(Path("new/r.PNG"))
    assert Path("new/r.PNG").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UsageError, match=r"ends in \.pdf, \.svg, \.png; got"):
        figure.write_file(Path("r.gif"))


@pytest.mark.parametrize(
    ("scores", "top", "title"),
    [
        (SCORES, 0.0, "Alder gets the best score in 75 % of its segments, Birch in 25 %"),
        ({"A": [0.0]}, 0.0, "A gets the best score in 100 % of its segments"),
        ({"A": [0.0], "B": []}, 0.0, "A gets the best score in 100 % of its segments"),
        ({"A": [90.0, 88.0], "B": [60.0, 64.0]}, 100.0, "The median score of A is 89.0, that of B 62.0"),
        ({"A": [0.5, 0.25]}, float("inf"), "The median score of A is 0.38"),
        ({"A": [87.0, 87.0], "B": [87.0]}, 100.0, "All judged segments have the same score, 87.0"),
        ({"A": [87.0, 87.0, 90.0], "B": [87.0]}, 100.0, "The median score is 87.0 for both systems"),
        (
            {"B": [91.0], "A": [91.0], "C": [80.0], "D": [60.0], "E": [60.0]},
            100.0,
            "The median score of B and A is 91.0, that of D and E 60.0",
        ),
        (
            {"B": [0.0, -1.0], "A": [0.0, -2.0], "C": [-1.0]},
            0.0,
            "B and A get the best score in 50 % of their segments, C in 0 %",
        ),
    ],
)
def test_the_title_of_a_distribution_says_the_finding(
    scores: dict[str, list[float]], top: float, title: str
) -> None:
    assert spread(scores, top).title == title


@pytest.mark.parametrize("title", ["GEMBA-MQM-MAX agrees WWWW MMMM WWWW " * 3, "thin little letters " * 7])
def test_a_title_is_no_wider_than_its_drawing(title: str) -> None:
    drawing = ranking_figure("r", title, ROWS, "score").drawing
    drawing.draw_without_rendering()
    (words,) = (text for text in drawing.texts if text.get_fontweight() == "bold")
    assert words.get_window_extent().x1 <= drawing.bbox.width


def test_figures_and_pages_have_the_same_colours() -> None:
    from adjudge.reports.html import _style

    light = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", _style().split("@media")[0]))
    assert {name: light[name] for name in COLOURS.values()} == {n: colour for colour, n in COLOURS.items()}


def test_the_columns_of_a_profile_do_not_run_into_each_other() -> None:
    shares = {"accuracy": 0.6, "terminology": 0.3, "fluency": 0.05, "style": 0.05, "terminology of it": 0.0}
    drawing = bars_figure("errors", "Title", {"A name of 20 letters": shares}, "share").drawing
    drawing.draw_without_rendering()
    titles = [axes._left_title.get_window_extent() for axes in drawing.axes]  # type: ignore[attr-defined]
    assert all(one.x1 < other.x0 for one, other in pairwise(titles))


def test_equal_scores_and_a_long_name_leave_room_for_the_drawing() -> None:
    assert "median 3.00" in str(page_svg(spread({"A": [3.0, 3.0]}, 4.0), "d"))
    assert "LongLongLongLongLongLon…" in str(page_svg(spread({"Long" * 40: [1.0, 2.0]}, 4.0), "d"))


def test_a_figure_says_how_many_segments_and_failures_stand_behind_it() -> None:
    ranking, scores = figures()
    assert ">n = 40 each, failed: &lt;b&gt;$x$ &amp; أرز[RLO] 2, Cedar 40</text>" in ranking
    assert ">n = 4 each, failed: Birch 3</text>" in scores
    uneven = spread({"A": [1.0], "B": [1.0, 2.0]}, 9.0)
    assert ">n = 1 to 2 each, failed: none</text>" in str(page_svg(uneven, "d"))


def long_figures(letter: str) -> dict[str, Figure]:
    names = [f"{letter * (30 if letter == 'i' else 12)} {place}" for place in range(4)]
    words = f"mean score by {letter * 40}, {letter * 15} {letter * 25}; higher is better; lines: intervals"
    systems = tuple(
        RankedSystem(system=name, score=0.5, interval=Interval(0.4, 0.6), cluster=1, n=40, failed=3)
        for name in names
    )
    ranking = Ranking(signature=Signature("test", {}), method="copeland", systems=systems)
    rankings = dict.fromkeys((f"{letter * 12} one", f"{letter * 12} two", "style"), ranking)
    two = {name: {f"{letter * 9} {n}": 0.25 for n in range(4)} for name in names}
    interval = Interval(0.4, 0.6)
    bins = [Bin(score=x, percentile=50, gold=x, n=10, interval=None) for x in (1.0, 2.0)]
    return {
        "ranking": ranking_figure("x", words, systems, words),
        "spread": distribution_figure(
            "x", {n: [1.0, 2.0] for n in names}, words, top=9.0, lost={"failed": dict.fromkeys(names, 3)}
        ),
        "radar": radar_figure("x", rankings),
        "steps": steps_figure("x", [{f"tool_{letter * 4}_{n}": 3 for n in range(8)}]),
        "matrix": matrix_figure("x", words, names, {(names[0], names[1]): 0.5}, words),
        "curve": curve_figure("x", words, bins, (names[0], names[1]), same_scale=True),
        "cost": cost_figure(
            "x", words, [Point(label=n, cost=1.0, value=0.5, interval=None) for n in names], (words, "tau")
        ),
        "dots": dots_figure(
            "x", words, [Dot(group=n, label=n, value=0.5, interval=interval, n=3) for n in names], words
        ),
        "bars": bars_figure("x", words, two, words),
    }


@pytest.mark.parametrize("letter", ["i", "W", "語"])
def test_captions_and_names_of_every_length_stand_within_the_figure(letter: str) -> None:
    for kind, figure in long_figures(letter).items():
        drawing = figure.drawing
        with figure_style():
            drawing.draw_without_rendering()
        texts = [*drawing.texts]
        for axes in drawing.axes:
            texts += [axes.title, axes.xaxis.label, *(axes.texts if kind == "radar" else ())]
        for text in texts:
            if text.get_text():
                extent = text.get_window_extent()
                assert extent.x0 >= 0, (kind, text.get_text())
                assert extent.x1 <= drawing.bbox.x1, (kind, text.get_text())


def rankings(records: list[Record]) -> dict[str, Ranking]:
    judgements = read_judgements(records).of_one_kind("en-de")
    return rank_by_criterion(judgements, RankSettings(method="copeland", resamples=50))


def test_every_system_has_a_panel_with_its_points_on_each_criterion() -> None:
    made = rankings(read_records(examples.path("gold.pairwise.jsonl")))
    assert list(made) == ["faithfulness", "fluency", "style"]
    drawing = radar_figure("radar", made).drawing
    panels = {axes.get_title(): [text.get_text() for text in axes.texts] for axes in drawing.axes}
    assert set(panels) == {"Alder", "Birch", "Cedar", "Dogwood"}
    points = {s.system: s.score for s in made["fluency"].systems}
    for system, words in panels.items():
        assert f"fluency\n{points[system]:.2f}" in words


def test_marked_errors_have_a_radar_too() -> None:
    made = rankings(read_records(examples.path("gold.mqm.jsonl")))
    assert list(made) == ["faithfulness", "fluency", "style"]


def test_the_title_says_which_system_is_best_on_what() -> None:
    records: list[Record] = [
        preferred(*pair, "A", str(i), criterion=criterion)
        for criterion, pair in {"x": ("a", "b"), "y": ("a", "b"), "z": ("b", "a")}.items()
        for i in range(8)
    ]
    assert radar_figure("radar", rankings(records)).title == "a is best on x and y; b is best on z"
    level: list[Record] = [preferred("a", "b", "E", str(i), criterion=c) for c in "xyz" for i in range(8)]
    told = "o system is significantly better than all others on x, y and z"
    assert radar_figure("radar", rankings(level)).title == f"N{told}"
    own = radar_figure("radar", rankings(level), by="people").title
    assert own == f"By people, n{told}"


def test_two_criteria_make_no_radar() -> None:
    records = [preferred("a", "b", "A", criterion=criterion) for criterion in ("style", "fluency")]
    with pytest.raises(UsageError, match="needs 3 criteria or more; records has style, fluency"):
        rankings([*records])


def test_an_odd_number_of_systems_leaves_a_place_empty() -> None:
    records = [r for r in read_records(examples.path("gold.pairwise.jsonl")) if isinstance(r, Preference)]
    figure = radar_figure("radar", rankings([r for r in records if "Cedar" not in r.systems]))
    assert len(figure.drawing.axes) == 3
    figure.write_file(Path("radar.png"))
    assert Path("radar.png").stat().st_size > 10_000


# Which tool was used at which turn: counted, drawn, and on the page.


def turns(*steps: str) -> Annotation:
    return rated("A", "1", 3, annotator="rate", protocol="sqm", steps=steps)


FAILURE = Failure(lp="en-de", segment="1", systems=("A",), annotator="rate", protocol="sqm", reason="parse")
RECORDS: list[Record] = [
    turns("search", "evaluate", "finish"),
    turns("evaluate", "finish"),
    turns("evaluate", "search", "evaluate", "compare", "finish"),
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
    assert count_steps([turns(), FAILURE]) == []


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
    told = drawing.get_supxlabel().replace("\n", " ")
    assert "3 judgements: search 2, evaluate 4, finish 3, compare 1" in told


def test_the_page_shows_turns_of_judges_that_have_a_choice(tmp_path: Path) -> None:
    texts = {"A": "Eins.", "B": "Eins, zwei."}
    segment = Segment(segment="1", lp="en-de", source="One, two.", translations=texts)
    test_set = TestSet(name="small", segments=(segment,))
    for name in ("rate", "gemba-da"):
        done = run(name, test_set, out=tmp_path / name)
        page = report(done, tmp_path / f"{name}.html").read_text()
        assert ("Which tool at which turn" in page) == (name == "rate")
