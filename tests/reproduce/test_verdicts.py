"""What the tables of M-MAD and RATE come to on the authors' own files."""

from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.eval_set_files import read_one
from adjudge.reproduce.reproduction import Cell, Reproduction, reproduce
from adjudge.stats.measures import MEASURES

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def m_mad(adjudge_data: Path) -> Reproduction:
    return reproduce("m-mad", adjudge_data)


@pytest.fixture(scope="module")
def rate(adjudge_data: Path) -> Reproduction:
    return reproduce("rate", adjudge_data)


def differing(found: Reproduction) -> dict[tuple[str, str, str], Cell]:
    return {(c.table, c.row, c.column): c for c in found.cells if c.verdict not in {"match", "missing-input"}}


def test_all_of_m_mad_that_can_be_computed_matches_but_one_misprint(m_mad: Reproduction) -> None:
    counts = m_mad.counts
    assert counts["match"] >= 111
    ((place, cell),) = differing(m_mad).items()
    assert place == ("Table 2", "XCOMET-Ensemble", "en-de seg Pearson")
    assert (cell.paper, cell.verdict) == ("0.675", "differs")
    assert cell.ours == pytest.approx(0.69532, abs=5e-6)
    assert "misprint" in cell.reason


def test_every_metric_of_en_de_is_computed(m_mad: Reproduction) -> None:
    en_de = [c for c in m_mad.cells if c.table == "Table 2" and c.column.startswith("en-de")]
    assert len(en_de) == 14 * 4
    assert {c.verdict for c in en_de} == {"match", "differs"}


def test_what_is_not_at_hand_is_named(m_mad: Reproduction) -> None:
    missing = {(c.row, c.column): c.reason for c in m_mad.cells if c.verdict == "missing-input"}
    wanted = "wanted: wmt23/metric-scores/zh-en/MaTESe-refA.seg.score"
    assert missing["MaTESe", "zh-en seg Acc-t"] == wanted
    assert missing["M-MAD (Ours)", "zh-en seg Acc-t"] == "wanted: m-mad/M-MAD_zh-en.seg.score"


def test_rates_numbers_that_are_not_what_they_are_called(rate: Reproduction) -> None:
    found = differing(rate)
    acc_t = found["Table 3", "RATE (Ours)", "zh-en seg Acc-t"]
    assert acc_t.ours == pytest.approx(61.9542155220547, abs=1e-10)
    assert acc_t.reason.endswith("this gives 61.9")
    spa = found["Table 7", "RATE (Ours)", "zh-en SPA"]
    assert spa.ours == pytest.approx(97.08222, abs=1e-5)
    assert spa.reason.endswith("this gives 100.0")
    copied = found["Table 5", "MetricX-23-QE", "seg Acc-t"]
    assert copied.ours == pytest.approx(59.644, abs=1e-3)
    assert copied.reason.endswith("this gives 60.3")
    assert found["Table 5", "MetricX-23-QE", "sys r"].ours == pytest.approx(96.864, abs=1e-3)
    assert {cell.verdict for cell in found.values()} == {"differs"}
    assert {table for table, _, _ in found} == {f"Table {n}" for n in (3, 5, 7, 9, 10, 11)}


def test_one_segment_too_many_explains_every_figure_of_the_domains(rate: Reproduction) -> None:
    domains = [
        c
        for c in rate.cells
        if c.table in {"Table 8", "Table 9", "Table 10", "Table 11"}
        and c.row == "RATE (Ours)"
        and c.column.startswith("zh-en")
    ]
    assert len(domains) == 4 * 6
    for cell in domains:
        assert cell.verdict == "match" or cell.reason.endswith(f"this gives {cell.paper}"), cell


def test_the_means_of_zh_en_and_all_other_cells_match(rate: Reproduction) -> None:
    verdicts = {(c.table, c.row, c.column): c.verdict for c in rate.cells}
    assert verdicts["Table 4", "RATE", "zh-en meta"] == "match"
    assert verdicts["Table 6", "RATE, GPT-4o", "zh-en meta"] == "match"
    table_5 = [c for c in rate.cells if c.table == "Table 5" and c.row != "RATE (Ours)"]
    assert [c.verdict for c in table_5].count("match") == 30
    assert len(table_5) == 32


def test_sums_of_systems_as_one_segment_are_exactly_1(adjudge_data: Path) -> None:
    folder = adjudge_data / "ment"
    gold = next(iter(read_one(folder, "zh-en", "gold", "ment").golds.values())).systems
    metric = next(iter(read_one(folder, "zh-en", "metric", "RATE-src").metrics.values())).systems
    assert MEASURES["spa"].function(gold[:, None], metric[:, None]).value == 1.0


def test_gemba_da_of_en_de_orders_segments_against_gold(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23"
    file = adjudge_data / "m-mad/GEMBA-DA_en-de.seg.score"
    gold = next(iter(read_one(folder, "en-de", "gold", "mqm").golds.values()))
    metric = next(iter(read_one(folder, "en-de", "metric", str(file)).metrics.values()))
    judged = ~np.isnan(gold.segments) & ~np.isnan(metric.segments)
    segments = np.corrcoef(gold.segments[judged], metric.segments[judged])[0, 1]
    both = ~np.isnan(gold.systems) & ~np.isnan(metric.systems)
    assert segments == pytest.approx(-0.175, abs=0.01)
    assert np.corrcoef(gold.systems[both], metric.systems[both])[0, 1] > 0.9
