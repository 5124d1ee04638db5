from pathlib import Path

import pytest

from adjudge import examples
from adjudge.analysis.preferences import source_of
from adjudge.analysis.rank import Ranking, rank, rank_by_criterion
from adjudge.core.record import Preference, Record
from adjudge.errors import UsageError
from adjudge.reports.figures import radar_figure
from adjudge.store.json_lines import read_records
from tests.scoring.records import preferred


def rankings(records: list[Record]) -> dict[str, Ranking]:
    source = source_of("records", records, "en-de")
    return rank_by_criterion(source, lambda scores: rank(scores, method="copeland", resamples=50))


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
