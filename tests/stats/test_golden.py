"""The measures equal mt-metrics-eval's on public data; the figures are in tests/golden."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.formats.score_file import read_score_file
from adjudge.stats.acc_eq import acc_eq
from adjudge.stats.correlation import tau_23
from adjudge.stats.judged import Floats, Result
from adjudge.stats.measures import MEASURES
from adjudge.stats.spa import soft_pairwise_accuracy
from tests.cli.calling import Asked

pytestmark = pytest.mark.realdata

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mt_metrics_eval.json").read_text())
GOLD = {"wmt23 en-de": "wmt23/human-scores/en-de.mqm", "ment zh-en": "ment/human-scores/zh-en"}
CASES = [
    (test_set, file, key)
    for test_set in GOLD
    for file, values in GOLDEN[test_set]["metrics"].items()
    for key in values
    if key.split(" ")[-1] in {key, "none", "item", "sys"}
]


def read(file: Path, systems: list[str]) -> Floats:
    table = read_score_file(file)
    return table.values[[table.systems.index(system) for system in systems]]


def scores(folder: Path, test_set: str, file: str, level: str) -> tuple[Floats, Floats]:
    systems = GOLDEN[test_set]["systems"]
    gold, metric = (read(folder / f"{stem}.{level}.score", systems) for stem in (GOLD[test_set], file))
    return (gold[:, 0], metric[:, 0]) if level == "sys" else (gold, metric)


def measured(folder: Path, test_set: str, file: str, key: str) -> Result:
    name, *average = key.split(" ")
    measure = MEASURES[name]
    level = "sys" if measure.takes == "systems" else "seg"
    return measure.function(*scores(folder, test_set, file, level), *average)


@pytest.mark.parametrize(("test_set", "file", "key"), CASES)
def test_a_measure_is_mt_metrics_eval_s(adjudge_data: Path, test_set: str, file: str, key: str) -> None:
    wanted: Any = GOLDEN[test_set]["metrics"][file][key]
    value, *rest = wanted if isinstance(wanted, list) else [wanted]
    found: Any = measured(adjudge_data, test_set, file, key)
    assert found.value == pytest.approx(value, rel=0, abs=1e-12)
    if "acc_eq" in key:  # ours is the smallest of equally good ones
        assert found.epsilon <= rest[0]
    elif found.groups is not None and rest:
        assert found.groups == rest[0]
    elif rest:
        assert found.p == pytest.approx(rest[0], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("file", GOLDEN["wmt23 en-de"]["metrics"])
def test_compat_is_mt_metrics_eval_s_to_the_last_bit(adjudge_data: Path, file: str) -> None:
    found = acc_eq(*scores(adjudge_data, "wmt23 en-de", file, "seg"), compat="mtme")
    assert [found.value, found.epsilon] == GOLDEN["wmt23 en-de"]["metrics"][file]["seg_acc_eq item"]


@pytest.mark.parametrize("file", GOLDEN["wmt23 en-de"]["metrics"])
def test_tau_23_is_calibrated_as_theirs(adjudge_data: Path, file: str) -> None:
    found = tau_23(*scores(adjudge_data, "wmt23 en-de", file, "seg"), epsilon=None)
    wanted = GOLDEN["wmt23 en-de"]["metrics"][file]["seg_tau_23 item calibrated"]
    assert found.value == pytest.approx(wanted, rel=0, abs=1e-12)


@pytest.mark.parametrize(("test_set", "file", "key"), [c for c in CASES if c[2].startswith("seg_acc_eq")])
def test_without_ties_it_is_theirs_too(adjudge_data: Path, test_set: str, file: str, key: str) -> None:
    average = key.removeprefix("seg_acc_eq ")
    found = acc_eq(*scores(adjudge_data, test_set, file, "seg"), average, epsilon=0.0)  # type: ignore[arg-type]
    wanted = GOLDEN[test_set]["metrics"][file][f"{key} at 0"]
    assert found.value == pytest.approx(wanted, rel=0, abs=1e-12)


@pytest.mark.parametrize("file", GOLDEN["seg_acc_eq none"])
def test_all_pairs_of_a_language_pair_are_compared(adjudge_data: Path, file: str) -> None:
    lp = "zh-en" if "zh-en" in file else "en-de"
    path = adjudge_data / f"wmt23/human-scores/{lp}.mqm.seg.score"
    systems = [s for s in read_score_file(path).systems if s not in {"refA", "synthetic_ref"}]
    gold, metric = read(path, systems), read(adjudge_data / f"{file}.seg.score", systems)
    found = acc_eq(gold, metric, "none")
    value, epsilon = GOLDEN["seg_acc_eq none"][file]
    assert found.value == pytest.approx(value, rel=0, abs=1e-10)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-3)
    assert found.n == {"en-de": 15232440, "zh-en": 155840685}[lp]


@pytest.mark.parametrize(("key", "step"), [("spa", 1), ("spa reversed", -1)])
def test_spa_depends_on_the_order_of_systems_that_tie(adjudge_data: Path, key: str, step: int) -> None:
    metrics = GOLDEN["ment zh-en"]["metrics"]
    for file in metrics:
        gold, metric = scores(adjudge_data, "ment zh-en", file, "seg")
        found = soft_pairwise_accuracy(gold[::step], metric[::step])
        assert found.value == pytest.approx(metrics[file][key], rel=0, abs=1e-12)
        totals = soft_pairwise_accuracy(*(x[::step].sum(axis=1, keepdims=True) for x in (gold, metric)))
        assert totals.value == pytest.approx(
            metrics[file][key.replace("spa", "spa of totals")], rel=0, abs=1e-12
        )


def test_gold_and_metric_are_read() -> None:
    assert len(CASES) == 18 * 19 + 11
    assert not np.isnan([GOLDEN[t]["metrics"][f][k] for t, f, k in CASES if k == "spa"]).any()


pytestmark = pytest.mark.realdata

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
