"""What every judge and ablation reaches with the embedded rules: agreement with gold on WMT23 and MENT.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/judges.py [--segments 50] [--write]

No language model judges here: `builtin/rules` cannot read. The table shows that all methods run end to end,
what they ask, and the floor that they start from; it says nothing about which method is better. `--write`
puts it into docs/benchmark-tables.md. The first segments that gold judged for every system are taken.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import adjudge
from adjudge.analysis.ensemble import By, EnsembleSettings
from adjudge.core.record import Annotation
from adjudge.core.scores import VERSION, Run
from adjudge.core.segment import TestSet
from adjudge.errors import AdjudgeError
from adjudge.formats.mtme import read_score_records
from adjudge.formats.read import load
from adjudge.judges import JUDGES
from adjudge.reports.tables import Table, render_table
from adjudge.runs.ensemble_run import ensemble
from adjudge.store.json_lines import write_records, write_test_set
from benchmarks.page import find_data, make_parser, show

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


TITLE = "Judges on the embedded rules"
MODEL = "builtin/rules"
SETS = {
    "wmt23": ("en-de", "human-scores/en-de.mqm.seg.score"),
    "ment": ("zh-en", "human-scores/zh-en.seg.score"),
}
"""Folder to language pair and gold."""

ABLATIONS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "ea-prompt": ({"steps": "1"},),
    "himate": ({"stages": "se"}, {"stages": "se+sr"}, {"agents": "core"}),
    "m-mad": (
        {"partition": "no"},
        {"strategy": "none"},
        {"final_judge": "no"},
        *({"strategy": name} for name in ("deliberation", "interactive-review", "consultancy-review")),
        *({"partition": "no", "strategy": name} for name in ("none", "deliberation")),
        *({"topic": name} for name in ("category", "entirety")),
        {"rounds": "1"},
    ),
    "rate": ({"without": "compare"}, {"anchors": "frozen"}),
    "fire": ({"orders": "given"},),
    "direct-rank": ({"orders": "given"},),
}
"""Judge to the settings that take something from it, or change how it comes to its end."""

ENSEMBLES: tuple[By, ...] = ("ranks", "z-scores", "learned", "majority")
MEASURES = ("sys_accuracy", "sys_pearson", "seg_acc_eq", "seg_pearson", "seg_kendall_b")
HEADINGS = ("sys acc", "sys r", "acc_eq", "seg r", "seg τb")


COMMAND = "`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/judges.py --segments {} --write`"
WORDS = (
    "No language model judges here. `builtin/rules` finds what can be checked without reading, and",
    "answers every role of every method with it: this is the floor under all of them, and no comparison",
    "of methods. It says the same of a text whoever asks, so that debates and reviews change little.",
    "`rules` is what it finds, scored without any method. A row with settings differs from the",
    "recommended profile in these alone. An ensemble is of all judges in that profile: `majority` of all",
    "verdicts, the others of the scores of judges that score, `learned` on the same gold by cross-",
    "validation. Judges of pairs score by comparisons won. `calls` are those for one translation; equal",
    "questions are asked once.",
)


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Part of a test set with its gold, in files of their own."""

    name: str
    test_set: TestSet
    path: Path
    gold: Path

    @property
    def translations(self) -> int:
        """How many are judged."""
        return sum(len(s.translations) for s in self.test_set)


def main() -> None:
    """Judge, compare with gold and print."""
    parser = make_parser(__doc__)
    parser.add_argument("--segments", type=int, default=50, help="of each test set")
    wanted = parser.parse_args()
    if (data := find_data()) is None:
        return
    lines = [COMMAND.format(wanted.segments), "", *WORDS]
    with tempfile.TemporaryDirectory() as folder:
        for name, (lp, gold) in SETS.items():
            texts = prepare(data / name, lp, gold, wanted.segments, Path(folder) / name)
            lines += ["", *tables(texts)]
    text = "\n".join(lines)
    show(TITLE, text, write=wanted.write)


def prepare(source: Path, lp: str, gold: str, segments: int, folder: Path) -> Texts:
    """Write the first segments that gold judged for every system that is no reference."""
    whole = load(source, lp)
    judged = {(r.segment, r.system): r for r in read_score_records(source / gold, whole)}
    systems = [s for s in whole.systems if s not in whole.references and any(k[1] == s for k in judged)]
    kept = [s for s in whole if all((s.segment, system) in judged for system in systems)][:segments]
    part = TestSet(name=source.name, segments=tuple(kept)).select(systems=systems)
    folder.mkdir()
    write_test_set(folder / "test_set.jsonl", part)
    records = [judged[s.segment, system] for s in part for system in systems]
    write_records(folder / "gold.jsonl", [replace(r, annotator="gold") for r in records])
    return Texts(
        name=f"{source.name} {lp}", test_set=part, path=folder / "test_set.jsonl", gold=folder / "gold.jsonl"
    )


def tables(texts: Texts) -> Iterator[str]:
    """One row for each judge, ablation and ensemble."""
    runs = dict(judge_all(texts))
    runs |= ensembles(texts, runs)
    found = adjudge.meta(
        texts.path,
        texts.test_set.lps[0],
        gold=[f"gold={texts.gold}"],
        scores={name: texts.path.parent / name for name in runs},
        measures=MEASURES,
    )
    rows = []
    for metric in found.metrics:
        info = runs[metric.name].info
        values = [metric.results[name].value for name in MEASURES]
        calls = (info.calls.get("asked", 0) + info.calls.get("from_store", 0)) / texts.translations
        rows.append(
            [
                metric.name,
                f"{calls:.2f}" if info.kind == "judge" else "",
                str(info.counts["failed"]),
                *("" if value is None else f"{value:.3f}" for value in values),
            ]
        )
    order = list(runs)
    rows.sort(key=lambda row: order.index(row[0]))
    n, systems = len(texts.test_set), len(texts.test_set.systems)
    chance = found.metrics[0].results["seg_acc_eq"].chance
    known = f"acc_eq of knowing nothing is {chance:.3f}"
    yield f"{texts.name}, version {VERSION}: {n} segments, {systems} systems; {known}."
    yield ""
    columns = ["judge", ">calls", ">failed", *(f">{heading}" for heading in HEADINGS)]
    yield render_table(Table(columns=columns, rows=rows), "markdown").strip()


def judge_all(texts: Texts) -> Iterator[tuple[str, Run]]:
    """Run the rules alone, then every judge and its ablations."""
    yield "rules", adjudge.run("rules", texts.test_set, out=texts.path.parent / "rules")
    for judge in JUDGES:
        for settings in ({}, *ABLATIONS.get(judge, ())):
            name = " ".join([judge, *(f"{key}={value}" for key, value in settings.items())])
            print(f"{texts.name}: {name}", file=sys.stderr)
            out = texts.path.parent / name
            yield name, adjudge.run(judge, texts.test_set, out=out, model=MODEL, settings=settings)


def ensembles(texts: Texts, runs: Mapping[str, Run]) -> Iterator[tuple[str, Run]]:
    """All judges in their recommended profile as one."""
    whole = {name: run for name, run in runs.items() if name in JUDGES}
    scored = {n: run for n, run in whole.items() if any(isinstance(r, Annotation) for r in run.records)}
    gold = ("gold", adjudge.read_records(texts.gold))
    for by in ENSEMBLES:
        name = f"ensemble by {by}"
        fold_by = "document" if all(s.document for s in texts.test_set) else "segment"
        try:
            made = ensemble(
                whole if by == "majority" else scored,
                out=texts.path.parent / name,
                gold=gold if by == "learned" else None,
                settings=EnsembleSettings(by=by, fold_by=fold_by),
            )
        except AdjudgeError as error:
            print(f"{texts.name}: {name}: {error}", file=sys.stderr)
        else:
            yield name, made.run


if __name__ == "__main__":
    main()
