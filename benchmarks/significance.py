"""What it takes to test metrics against each other, all pairs, and to draw their measures again.

    OPENBLAS_NUM_THREADS=1 ADJUDGE_DATA=DIR .venv/bin/python benchmarks/significance.py [--write]

`--write` puts the figures into docs/benchmark-tables.md.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import numpy as np

from adjudge.reports.tables import Table, render_table
from adjudge.stats.judged import Floats
from adjudge.stats.measures import MEASURES
from adjudge.stats.paired import significance_ranks
from adjudge.stats.resampling import Drawing, default_method, measure_draws, metric_p_values

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.meta import METRICS, Case, read_case  # noqa: E402 (found by the line above)
from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

TITLE = "Significance of metrics"
INTRODUCTION = """\
`OPENBLAS_NUM_THREADS=1 ADJUDGE_DATA=DIR .venv/bin/python benchmarks/significance.py --write`

CPU seconds, one core, 32 metrics of WMT23 (those at hand, repeated with noise), reading not counted. *Ranks*:
values, p-values of all 496 pairs at k = 1,000 and clusters. *Draws*: 1,000 bootstrap values of every metric.
mt-metrics-eval needs of the order of 20 CPU hours for the ranks of its WMT23 measures (extrapolated)."""
NAMES = (
    *("sys_accuracy", "sys_pearson", "sys_spearman", "sys_kendall", "spa"),
    *("seg_acc_eq", "seg_pearson", "seg_spearman", "seg_kendall_b", "seg_kendall_c"),
)


def main() -> None:
    """Measure and print."""
    wanted = make_parser(__doc__).parse_args()
    if (data := find_data()) is None:
        return
    text = f"{INTRODUCTION}\n\n{table([read_case(data, lp) for lp in ('en-de', 'zh-en')])}"
    show(TITLE, text, write=wanted.write)


def table(cases: list[Case]) -> str:
    """One row a measure, and the sum."""
    stacks = [stack(case) for case in cases]
    warm_up(cases[0].gold, stacks[0])
    rows, totals = [], np.zeros(2 * len(cases))
    for name in NAMES:
        spent = [f(name, c.gold, s) for c, s in zip(cases, stacks, strict=True) for f in (ranks, draws)]
        totals += spent
        rows.append([f"`{name}`", default_method(name), *(f"{seconds:.2f}" for seconds in spent)])
    rows.append(["all", "", *(f"{seconds:.1f}" for seconds in totals)])
    columns = ["measure", "test", *(f">{c.name} {what}" for c in cases for what in ("ranks", "draws"))]
    return render_table(Table(columns=columns, rows=rows), "markdown")


def stack(case: Case) -> Floats:
    """As many metrics as the task has; copies are moved so that none equals another."""
    rng = np.random.default_rng(0)
    cycled = list(itertools.islice(itertools.cycle(case.metrics), METRICS))
    return np.stack(
        [m + rng.normal(0, 0.1 * m.std(), m.shape) * (n >= len(case.metrics)) for n, m in enumerate(cycled)]
    )


def warm_up(gold: Floats, metrics: Floats) -> None:
    """Import what is imported late."""
    for name in NAMES:
        ranks(name, gold[:, :20], metrics[:2, :, :20])


def ranks(name: str, gold: Floats, metrics: Floats) -> float:
    """CPU time of values, p-values and ranks."""
    began = time.process_time()
    if MEASURES[name].takes == "systems":
        gold, metrics = gold.mean(axis=1), metrics.mean(axis=2)
    values = [MEASURES[name].function(gold, metric).value for metric in metrics]
    found = significance_ranks(values, metric_p_values(name, gold, metrics, Drawing(resamples=1000)), 0.05)
    assert found.count(None) == 0
    return time.process_time() - began


def draws(name: str, gold: Floats, metrics: Floats) -> float:
    """CPU time of the bootstrap."""
    began = time.process_time()
    assert measure_draws(name, gold, metrics).shape == (1000, len(metrics))
    return time.process_time() - began


if __name__ == "__main__":
    main()
