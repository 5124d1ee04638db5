"""`adjudge campaign analyse`: a folder, an export or an Appraise CSV, whole or half done."""

from pathlib import Path

import pytest

from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import Settings
from adjudge.formats.campaign_export import write_campaign_file
from tests.campaigns.conftest import NOW, make_test_set
from tests.campaigns.work import person, work_off
from tests.cli.calling import Asked
from tests.meta.campaign.campaigns import campaign
from tests.meta.campaign.test_analysis import two_systems


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "small.jsonl"
    write_campaign_file(path, campaign(*two_systems()))
    return path


def analysed(capsys: pytest.CaptureFixture[str], *words: object) -> Asked:
    return Asked(capsys, "campaign", "analyse", *words)


def value(done: Asked, section: str, of: str, measure: str) -> float:
    numbers = done.json["sections"][section]["numbers"]
    (found,) = (n for n in numbers if (n["of"], n["measure"]) == (of, measure))
    return float(found["value"])


@pytest.mark.usefixtures("_one_format")
def test_an_export_is_analysed_and_drawn(
    capsys: pytest.CaptureFixture[str], export: Path, tmp_path: Path
) -> None:
    done = analysed(capsys, export, "--resamples", 20, "--format", "json", "--figures", tmp_path / "figures")
    assert value(done, "profile", "A", "rating") == 77.5
    assert (tmp_path / "figures" / "ranking.rating.svg").is_file()
    table = analysed(capsys, export, "--resamples", 0, "--format", "markdown").out
    assert "**Which systems are better? By rating**" in table


def test_a_campaign_that_is_half_done_is_analysed_from_its_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made, _ = new_campaign(tmp_path / "half", make_test_set("en-de"), Settings(protocol="esa"), 3, now=NOW)
    work_off(made, person(made), NOW)
    made.database.close()
    done = analysed(capsys, tmp_path / "half", "--resamples", 20, "--format", "json")
    assert value(done, "profile", "all", "rating") == 100
    assert done.json["campaign"] == "half"


def test_another_language_pair_leaves_nothing_to_analyse(
    capsys: pytest.CaptureFixture[str], export: Path
) -> None:
    done = analysed(capsys, export, "--lp", "en-cs", "--format", "json")
    assert set(done.json["sections"]) == {"counts", "pace"}


def test_a_csv_without_its_batches_says_what_is_wanted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text("")
    assert "name one with --batches" in analysed(capsys, tmp_path / "scores.csv").err


@pytest.mark.realdata
def test_the_esa_papers_numbers_come_out_of_its_csv(
    capsys: pytest.CaptureFixture[str], adjudge_data: Path
) -> None:
    gold = adjudge_data / "wmt23" / "human-scores" / "en-de.mqm.merged.seg.rating"
    csv = adjudge_data / "esa" / "240315rc5ESA.scores.csv"
    done = analysed(capsys, csv, "--gold", gold, "--resamples", 20, "--format", "json")
    wanted = pytest.approx(0.2271, abs=5e-4)  # the paper leaves fillers out
    assert value(done, "gold", "rating", "Kendall tau-c") == wanted
    assert value(done, "gold", "points", "Kendall tau-c") == pytest.approx(0.1702, abs=5e-4)
    assert value(done, "systems", "with gold", "pairwise accuracy") == pytest.approx(0.9487, abs=1e-4)
    assert value(done, "weights", "all", "best weight") == 4.8
    assert value(done, "features", "major errors", "Pearson with the rating") == pytest.approx(
        -0.52, abs=0.005
    )
