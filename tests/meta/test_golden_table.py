"""The JSON of `adjudge meta` on public data holds mt-metrics-eval's numbers, as tests/golden has them."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import Asked

pytestmark = pytest.mark.realdata

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mt_metrics_eval.json").read_text())
DEFAULTS = {
    "sys_accuracy": "sys_accuracy",
    "sys_pearson": "sys_pearson",
    "sys_spearman": "sys_spearman",
    "sys_kendall": "sys_kendall",
    "seg_acc_eq": "seg_acc_eq item",
    "seg_pearson": "seg_pearson none",
    "seg_spearman": "seg_spearman none",
    "seg_kendall_b": "seg_kendall_b none",
    "seg_kendall_c": "seg_kendall_c none",
}
TIED = 1e-3  # SPA depends on the order of tied systems; theirs is that of a hash table, ours that of names


def first(value: object) -> float:
    number = value[0] if isinstance(value, list) else value
    assert isinstance(number, float)
    return number


@pytest.mark.parametrize("average", ["item", "sys", "none"])
def test_every_metric_of_a_folder_and_every_file_beside_it(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str], average: str
) -> None:
    wanted = GOLDEN["wmt23 en-de"]["metrics"]
    more = [
        f"--scores={file}={adjudge_data / file}.seg.score" for file in wanted if file.startswith("m-mad/")
    ]
    measures = "seg_pearson,seg_spearman,seg_kendall_b,seg_kendall_c"
    asked = ("meta", adjudge_data / "wmt23", "--lp=en-de", "--gold=mqm", "--format=json", *more)
    rows = Asked(capsys, *asked, f"--measures={measures}", f"--average={average}").json["metrics"]
    for file, values in wanted.items():
        row = rows[file if file.startswith("m-mad/") else Path(file).name]
        for measure in measures.split(","):
            assert row[measure] == pytest.approx(first(values[f"{measure} {average}"]), rel=0, abs=1e-12)


def test_the_usual_table_of_wmt23(adjudge_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = GOLDEN["wmt23 en-de"]
    asked = ("meta", adjudge_data / "wmt23", "--lp=en-de", "--gold=mqm", "--format=json")
    found = Asked(capsys, *asked).json
    assert sorted(found["systems"]) == sorted(wanted["systems"])
    assert sorted(found["excluded"]) == ["refA", "synthetic_ref"]
    assert (found["n_segments"], found["n_all"]) == (460, 557)
    for file, values in wanted["metrics"].items():
        if file.startswith("wmt23/"):
            row = found["metrics"][Path(file).name]
            for key, name in DEFAULTS.items():
                assert row[key] == pytest.approx(first(values[name]), rel=0, abs=1e-12), (file, key)
            assert row["spa"] == pytest.approx(values["spa"], rel=0, abs=TIED)
            assert row["seg_acc_eq_epsilon"] <= values["seg_acc_eq item"][1]
    rounded = Asked(capsys, *asked, "--compat=mtme", "--measures=seg_acc_eq").json["metrics"]
    for file, values in wanted["metrics"].items():
        if file.startswith("wmt23/"):
            row = rounded[Path(file).name]
            assert [row["seg_acc_eq"], row["seg_acc_eq_epsilon"]] == values["seg_acc_eq item"]


def test_the_usual_table_of_ment(adjudge_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((_, wanted),) = GOLDEN["ment zh-en"]["metrics"].items()
    found = Asked(capsys, "meta", adjudge_data / "ment", "--format=json").json
    row = found["metrics"]["RATE-src"]
    for key, name in DEFAULTS.items():
        assert row[key] == pytest.approx(first(wanted[name]), rel=0, abs=1e-12)
    assert row["spa"] == pytest.approx(wanted["spa"], rel=0, abs=1e-12)
    assert row["meta"] == pytest.approx(0.8327068531118168, rel=0, abs=1e-12)
