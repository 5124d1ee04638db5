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
from tests.analysis.records import preferred

ROWS = [
    RankedSystem(system="Alder", score=-1.2, interval=Interval(-1.9, -0.5), cluster=1, n=40, failed=0),
    RankedSystem(system="<b>$x$ & أرز\u202e", score=-3.0, interval=None, cluster=2, n=40, failed=2),
    RankedSystem(system="Cedar", score=None, interval=None, cluster=None, n=0, failed=40),
]
SCORES = {"Alder": [0.0, 0.0, 0.0, -5.0], "Birch": [0.0, -1.0, -6.0, -25.0]}


@cache
def figures() -> list[str]:
    """Both figures as they stand in one page."""
    one = ranking_figure("ranking.en-de.x", "Alder leads; Birch is last", ROWS, "score, higher is better")
    other = distribution_figure(
        "scores.en-de.x", SCORES, "score, higher is better", top=0.0, lost={"failed": {"Birch": 3}}
    )
    return [str(page_svg(one, "one")), str(page_svg(other, "other"))]


@pytest.mark.parametrize("figure", [0, 1])
def test_a_figure_in_a_page_has_nothing_that_the_policy_refuses(figure: int) -> None:
    svg = figures()[figure]
    assert svg.startswith("<svg ")
    assert not re.search(r"\sstyle=|<style|<script|<!DOCTYPE|<\?xml|<metadata|ns0:|xlink", svg)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", svg)


@pytest.mark.parametrize("figure", [0, 1])
def test_a_figure_in_a_page_follows_its_theme(figure: int) -> None:
    svg = figures()[figure]
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg))
    assert not used - {"#ffffff"}, "a colour that COLOURS does not map"
    assert "accent" in svg
    assert "font-family" not in svg


def test_figures_of_one_page_share_no_identifier() -> None:
    one, other = (re.findall(r'\sid="([^"]+)"', svg) for svg in figures())
    assert len(set(one)) == len(one)
    assert not set(one) & set(other)
    for svg, known in zip(figures(), (one, other), strict=True):
        assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)) <= {(i, "") for i in known} | {
            ("", i) for i in known
        }


def test_a_name_is_text_whatever_it_looks_like() -> None:
    svg = figures()[0]
    assert "&lt;b&gt;$x$ &amp; أرز[RLO]" in svg
    assert ">Cedar<" not in svg  # nothing of it was judged


def test_a_figure_is_the_same_however_often_it_is_written() -> None:
    figure = ranking_figure("ranking.en-de.x", "Alder leads", ROWS, "score")
    assert figure.render("svg") == figure.render("svg")


def test_the_same_figure_has_the_same_bytes(tmp_path: Path) -> None:
    def drawn() -> list[bytes]:
        figure = ranking_figure("r", "Alder leads", ROWS, "score")
        return [path.read_bytes() for path in figure.write(tmp_path)]

    first = drawn()
    assert first == drawn()
    assert [data[:4] for data in first] == [b"%PDF", b"<?xm", b"\x89PNG"]
    assert sorted(path.suffix[1:] for path in tmp_path.iterdir()) == sorted(FILE_FORMATS)


def test_one_file_is_written_in_the_format_of_its_name(tmp_path: Path) -> None:
    figure = ranking_figure("r", "Alder leads", ROWS, "score")
    figure.write_file(tmp_path / "new" / "r.PNG")
    assert (tmp_path / "new" / "r.PNG").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UsageError, match=r"ends in \.pdf, \.svg, \.png; got"):
        figure.write_file(tmp_path / "r.gif")


@pytest.mark.parametrize(
    ("scores", "top", "title"),
    [
        (SCORES, 0.0, "Alder gets the best score in 75 % of its segments, Birch in 25 %"),
        ({"Alder": [0.0]}, 0.0, "Alder gets the best score in 100 % of its segments"),
        (
            {"Alder": [90.0, 88.0], "Birch": [60.0, 64.0]},
            100.0,
            "The median score of Alder is 89.0, that of Birch 62.0",
        ),
        ({"Alder": [0.5, 0.25]}, float("inf"), "The median score of Alder is 0.38"),
        (
            {"Alder": [87.0, 87.0], "Birch": [87.0]},
            100.0,
            "All judged segments have the same score, 87.0",
        ),
        (
            {"Alder": [87.0, 87.0, 90.0], "Birch": [87.0]},
            100.0,
            "The median score is 87.0 for both systems",
        ),
        (
            {"Birch": [91.0], "Alder": [91.0], "Cedar": [80.0], "Dogwood": [60.0], "Elm": [60.0]},
            100.0,
            "The median score of Birch and Alder is 91.0, that of Dogwood and Elm 60.0",
        ),
        (
            {"Birch": [0.0, -1.0], "Alder": [0.0, -2.0], "Cedar": [-1.0]},
            0.0,
            "Birch and Alder get the best score in 50 % of their segments, Cedar in 0 %",
        ),
        ({"Alder": [0.0], "Birch": []}, 0.0, "Alder gets the best score in 100 % of its segments"),
    ],
)
def test_the_title_of_a_distribution_says_the_finding(
    scores: dict[str, list[float]], top: float, title: str
) -> None:
    assert distribution_figure("d", scores, "score", top=top, lost={"failed": {}}).title == title


@pytest.mark.parametrize("title", ["GEMBA-MQM-MAX agrees WWWW MMMM WWWW " * 3, "thin little letters " * 7])
def test_a_title_is_no_wider_than_its_drawing(title: str) -> None:
    drawing = ranking_figure("r", title, ROWS, "score").drawing
    drawing.draw_without_rendering()
    (words,) = (text for text in drawing.texts if text.get_fontweight() == "bold")
    assert words.get_window_extent().x1 <= drawing.bbox.width


def test_equal_scores_have_a_distribution_too() -> None:
    svg = str(
        page_svg(distribution_figure("d", {"A": [3.0, 3.0]}, "score", top=4.0, lost={"failed": {}}), "d")
    )
    assert "median 3.00" in svg


def test_figures_and_pages_have_the_same_colours() -> None:
    from adjudge.reports.html import _style

    light = _style().split("@media")[0]
    assert {name: colour for colour, name in COLOURS.items()} == {
        name: re.search(rf"--{name}: (#[0-9a-f]{{6}});", light)[1]  # type: ignore[index]
        for name in COLOURS.values()
    }


def test_the_columns_of_a_profile_do_not_run_into_each_other() -> None:
    shares = {"A name of 20 letters": {"accuracy": 0.6, "terminology": 0.3, "fluency": 0.05, "style": 0.05}}
    shares["A name of 20 letters"]["terminology of it"] = 0.0
    drawing = bars_figure("errors", "Title", shares, "share").drawing
    drawing.draw_without_rendering()
    titles = [axes._left_title.get_window_extent() for axes in drawing.axes]  # type: ignore[attr-defined]
    assert all(one.x1 < other.x0 for one, other in pairwise(titles))


def test_a_long_name_leaves_room_for_the_drawing() -> None:
    svg = str(
        page_svg(
            distribution_figure("d", {"Long" * 40: [1.0, 2.0]}, "score", top=4.0, lost={"failed": {}}), "d"
        )
    )
    assert "LongLongLongLongLongLon…" in svg


def test_a_figure_says_how_many_segments_and_failures_stand_behind_it() -> None:
    ranking, spread = figures()
    assert ">n = 40 each, failed: &lt;b&gt;$x$ &amp; أرز[RLO] 2, Cedar 40</text>" in ranking
    assert ">n = 4 each, failed: Birch 3</text>" in spread
    uneven = distribution_figure("d", {"A": [1.0], "B": [1.0, 2.0]}, "score", top=9.0, lost={"failed": {}})
    assert ">n = 1 to 2 each, failed: none</text>" in str(page_svg(uneven, "d"))


def systems_of(names: list[str]) -> list[RankedSystem]:
    return [
        RankedSystem(system=name, score=0.5, interval=Interval(0.4, 0.6), cluster=1, n=40, failed=3)
        for name in names
    ]


def long_figures(letter: str) -> dict[str, Figure]:
    names = [f"{letter * (30 if letter == 'i' else 12)} {place}" for place in range(4)]
    words = f"mean score by {letter * 40}, {letter * 15} {letter * 25}; higher is better; lines: intervals"
    signature = Signature("test", {})
    rankings = {
        criterion: Ranking(signature=signature, method="copeland", systems=tuple(systems_of(names)))
        for criterion in (f"{letter * 12} one", f"{letter * 12} two", "style")
    }
    two = {name: {f"{letter * 9} {n}": 0.25 for n in range(4)} for name in names}
    interval = Interval(0.4, 0.6)
    bins = [Bin(score=x, percentile=50, gold=x, n=10, interval=None) for x in (1.0, 2.0)]
    return {
        "ranking": ranking_figure("x", words, systems_of(names), words),
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
    assert list(rankings(read_records(examples.path("gold.mqm.jsonl")))) == [
        "faithfulness",
        "fluency",
        "style",
    ]


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


def test_an_odd_number_of_systems_leaves_a_place_empty(tmp_path: Path) -> None:
    records = [r for r in read_records(examples.path("gold.pairwise.jsonl")) if isinstance(r, Preference)]
    figure = radar_figure("radar", rankings([r for r in records if "Cedar" not in r.systems]))
    assert len(figure.drawing.axes) == 3
    figure.write_file(tmp_path / "radar.png")
    assert (tmp_path / "radar.png").stat().st_size > 10_000


# Which tool was used at which turn: counted, drawn, and on the page.


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
