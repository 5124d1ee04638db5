"""What meta-evaluation takes, beside mt-metrics-eval.

    OPENBLAS_NUM_THREADS=1 ADJUDGE_DATA=DIR .venv/bin/python benchmarks/meta.py [--write]

`--write` puts the figures into docs/benchmark-tables.md. The text there says how they are measured.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adjudge.formats.score_file import read_score_file
from adjudge.reports.tables import Table, render_table
from adjudge.stats.acc_eq import Compat, acc_eq
from adjudge.stats.judged import Floats
from adjudge.stats.measures import MEASURES
from adjudge.stats.spa import soft_pairwise_accuracy

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

TITLE = "Meta-evaluation"
INTRODUCTION = """\
`OPENBLAS_NUM_THREADS=1 ADJUDGE_DATA=DIR .venv/bin/python benchmarks/meta.py --write`

CPU time of this process, the best of three, without reading files. Where mt-metrics-eval can be imported it
runs beside, in the same process; else its figures stand in italics, measured once on another machine (one
core, Python 3.11) and good for the order of magnitude. he-en is cut out of zh-en to its size, 13 systems by
820 segments; larger sets are zh-en repeated, with metrics moved a little so that copies do not tie."""

THEIR_PAIR = {"en-de": 8.89 / 36 / 30_360, "he-en": 18.6 / 32 / 63_960, "zh-en": 40.7 / 36 / 123_585}
THEIR_PAIR_OF_ALL = 121.5 / 15_232_440
THEIR_SPA = {"en-de": 0.229 / 32, "zh-en": 1.19 / 32}
THEIR_TABLE = 64.7
METRICS = 32  # of the WMT23 table


class Case(NamedTuple):
    """Gold and metrics of one language pair, systems by segments."""

    name: str
    gold: Floats
    metrics: list[Floats]


def main() -> None:
    """Measure and print."""
    wanted = make_parser(__doc__).parse_args()
    if (data := find_data()) is None:
        return
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("set OPENBLAS_NUM_THREADS=1, or threads that wait are counted", file=sys.stderr)
    en_de, zh_en = (read_case(data, lp) for lp in ("en-de", "zh-en"))
    cases = [en_de, tiled(zh_en, "he-en", 13, 820), zh_en]
    text = "\n\n".join([INTRODUCTION, *(section(cases).strip() for section in SECTIONS)])
    show(TITLE, text, write=wanted.write)


def read_case(data: Path, lp: str) -> Case:
    """Every metric of a language pair, on the segments that gold judged."""
    gold = read_score_file(data / f"wmt23/human-scores/{lp}.mqm.seg.score")
    systems = [s for s in gold.systems if s not in {"refA", "synthetic_ref"}]
    folder, others = data / f"wmt23/metric-scores/{lp}", data / "m-mad"
    files = sorted([*folder.glob("*.seg.score"), *others.glob(f"*_{lp}.seg.score")])
    tables = [gold, *(read_score_file(file) for file in files)]
    scores = [table.values[[table.systems.index(s) for s in systems]] for table in tables]
    judged = ~np.isnan(scores[0]).any(axis=0)
    return Case(lp, scores[0][:, judged], [metric[:, judged] for metric in scores[1:]])


def tiled(case: Case, name: str, systems: int, segments: int) -> Case:
    """Cut or repeat a case to another size."""
    rng = np.random.default_rng(0)

    def fit(scores: Floats) -> Floats:
        rows, columns = (-(-n // old) for n, old in zip((systems, segments), scores.shape, strict=True))
        return np.tile(scores, (rows, columns))[:systems, :segments]

    moved = 1e-3 if segments > case.gold.shape[1] else 0.0
    metrics = [fit(metric) for metric in case.metrics]
    return Case(name, fit(case.gold), [m + moved * rng.standard_normal(m.shape) for m in metrics])


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """CPU time of a piece of work, the best of several."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def has_mtme() -> bool:
    """Whether mt-metrics-eval can be imported; what the package index has under that name cannot do this."""
    return importlib.util.find_spec("mt_metrics_eval") is not None


def mtme_pair_seconds(case: Case, average: str) -> tuple[float, str]:
    """Its CPU time a pair for one metric, and how it is printed: run beside, or as it was measured once."""
    if not has_mtme():
        known = THEIR_PAIR.get(case.name, THEIR_PAIR["zh-en"]) if average == "item" else THEIR_PAIR_OF_ALL
        return known, f"*{known * 1e9:,.0f}*"
    from mt_metrics_eval.stats import KendallWithTiesOpt  # type: ignore[import-not-found, unused-ignore]

    gold, metric = case.gold, case.metrics[0]
    flat = [side.ravel().tolist() for side in (gold, metric)]
    options = {"num_sys": len(gold), "average_by": average, "sample_rate": 1.0}
    value, epsilon, _ = KendallWithTiesOpt(*flat, **options)
    ours = acc_eq(gold, metric, average, compat="mtme")  # type: ignore[arg-type]
    assert (ours.value, ours.epsilon) == (value, epsilon)
    spent = cpu_seconds(partial(KendallWithTiesOpt, *flat, **options), 1) / ours.n
    return spent, f"{spent * 1e9:,.0f}"


# Sections: each gets the three language pairs and gives a piece of the page...


def ties(cases: list[Case]) -> str:
    """acc_eq with calibration, by segment, all metrics of a language pair."""
    larger = [tiled(cases[-1], "15 x 10,000", 15, 10_000), tiled(cases[-1], "45 x 10,000", 45, 10_000)]
    rows = []
    for case in [*cases, *larger]:
        systems, segments = case.gold.shape
        pairs = segments * systems * (systems - 1) // 2
        theirs, told = mtme_pair_seconds(case, "item")
        row = [case.name, str(len(case.metrics)), f"{pairs:,}", told]
        ways: tuple[Compat | None, ...] = (None, "mtme")
        for compat in ways:
            spent = cpu_seconds(partial(all_metrics, case, compat)) / len(case.metrics) / pairs
            row += [f"{spent * 1e9:.0f}", f"{theirs / spent:.0f}"]
        rows.append(row)
    columns = [
        "test set",
        ">metrics",
        ">pairs",
        ">theirs, ns a pair",
        ">exact",
        ">times",
        ">compat",
        ">times",
    ]
    head = "The same by segment, all metrics of a language pair; aims: 200 times, with `compat` 25 times."
    return f"{head}\n\n{render_table(Table(columns=columns, rows=rows), 'markdown')}"


def all_metrics(case: Case, compat: Compat | None) -> None:
    """acc_eq of every metric."""
    for metric in case.metrics:
        acc_eq(case.gold, metric, compat=compat)


def all_pairs(cases: list[Case]) -> str:
    """acc_eq over every pair of translations of a language pair."""
    rows = []
    for case in (cases[0], cases[2]):
        theirs, told = mtme_pair_seconds(case, "none") if case.name == "en-de" else (THEIR_PAIR_OF_ALL, "")
        pairs = case.gold.size * (case.gold.size - 1) // 2
        spent = cpu_seconds(partial(acc_eq, case.gold, case.metrics[0], "none"), 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        ratio = f"{theirs * pairs / spent:.0f}" if told else ""
        rows.append(
            [case.name, f"{pairs:,}", told, f"{spent:.2f}", f"{spent / pairs * 1e9:.0f}", ratio, f"{peak}"]
        )
    columns = ["test set", ">pairs", ">theirs, ns a pair", ">ours, s", ">ns a pair", ">times", ">peak MB"]
    head = """\
Accuracy with ties and its calibration (`seg_acc_eq`), one metric, without averaging. The peak is that of the
whole process so far; mt-metrics-eval holds every pair, 6.8 GB for en-de, and could not be run on zh-en."""
    return f"{head}\n\n{render_table(Table(columns=columns, rows=rows), 'markdown')}"


def soft_accuracy(cases: list[Case]) -> str:
    """SPA of all metrics of a language pair, 1,000 signs."""
    rows = []
    for case in (cases[0], cases[2]):
        of_all = [partial(soft_pairwise_accuracy, case.gold, metric) for metric in case.metrics]
        spent = cpu_seconds(lambda works=of_all: [work() for work in works]) / len(of_all)  # type: ignore[misc]
        theirs = THEIR_SPA[case.name]
        rows.append([case.name, f"*{theirs * 1e3:.1f}*", f"{spent * 1e3:.2f}", f"{theirs / spent:.0f}"])
    columns = ["test set", ">theirs, ms a metric", ">ours", ">times"]
    return f"Soft pairwise accuracy.\n\n{render_table(Table(columns=columns, rows=rows), 'markdown')}"


def whole_table(cases: list[Case]) -> str:
    """The WMT23 table: three language pairs, 32 metrics, four statistics and their mean."""
    spent = cpu_seconds(partial(wmt23, cases))
    times = f"{THEIR_TABLE / spent:.0f} times as much; aim: 40 times"
    return f"""\
The WMT23 table, three language pairs, {METRICS} metrics (those at hand, repeated), four statistics:
{spent:.2f} s, where mt-metrics-eval takes *{THEIR_TABLE}* s, {times}."""


def wmt23(cases: list[Case]) -> list[float]:
    """Mean of the four statistics of every metric, Pearson's r from 0 to 1."""
    found = []
    for case in cases:
        totals = case.gold.mean(axis=1)
        for metric in itertools.islice(itertools.cycle(case.metrics), METRICS):
            systems = totals, metric.mean(axis=1)
            values = [MEASURES[name].function(*systems).value for name in ("sys_accuracy", "sys_pearson")]
            values += [
                MEASURES[name].function(case.gold, metric).value for name in ("seg_acc_eq", "seg_pearson")
            ]
            accuracy, system_r, with_ties, segment_r = (value or 0.0 for value in values)
            found.append((accuracy + (system_r + 1) / 2 + with_ties + (segment_r + 1) / 2) / 4)
    return found


def whole_command(_: list[Case]) -> str:
    """The command, with start and reading."""
    folder = Path(os.environ["ADJUDGE_DATA"]) / "complete/wmt23"
    command = [sys.executable, "-m", "adjudge", "meta", str(folder), "--lp", "en-de,he-en,zh-en"]
    rows = []
    for name, more in (("default", []), ("with --clusters, --metrics primary", PUBLISHED)):
        rows.append([name, f"{child_seconds([*command, *more]):.2f}"])
    head = """\
`adjudge meta complete/wmt23 --lp en-de,he-en,zh-en`, default measures: CPU time of the command with start and
reading."""
    columns = ["measured", ">s"]
    return f"{head}\n\n{render_table(Table(columns=columns, rows=rows), 'markdown')}"


PUBLISHED = ["--clusters", "--metrics", "primary"]


def child_seconds(command: list[str]) -> float:
    """CPU time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 (ourselves)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


SECTIONS: list[Callable[[list[Case]], str]] = [all_pairs, ties, soft_accuracy, whole_table, whole_command]


if __name__ == "__main__":
    main()
