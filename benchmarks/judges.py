"""Every judge on fixed samples of WMT23, MENT and FiRE-MT: agreement, failures, calls, tokens, price.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/judges.py --model provider/model [--segments 50] [--write]
    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/judges.py --model gold

Every judge and profile is run on the first segments that gold judged for every system, and one table made:
what whoever has a model runs and publishes. `gold` is a scripted model that knows gold, so that its table
says what each judge loses by itself. Runs are kept in --out, and the same command goes on with them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import adjudge
from adjudge.analysis.preferences import tabulate
from adjudge.core.judge import PROFILES, Profile, is_criteria_judge, is_pair_judge
from adjudge.core.record import Annotation, Preference
from adjudge.core.scores import VERSION, Run
from adjudge.core.segment import TestSet
from adjudge.formats.fire_mt import read_fire
from adjudge.formats.mtme import read_score_records
from adjudge.formats.read import Judgements, load, read_judgements
from adjudge.judges import JUDGES, load_judge
from adjudge.reports.tables import Table, render_table
from adjudge.store.json_lines import write_records, write_test_set

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.gold_model import knowing  # noqa: E402 (found by the line above)
from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

MODEL = "builtin/rules"
SETS = {
    "wmt23": ("en-de", "human-scores/en-de.mqm.seg.score"),
    "ment": ("zh-en", "human-scores/zh-en.seg.score"),
}
"""Folder to language pair and gold."""

WITHOUT_CRITERIA = [judge for judge in JUDGES if not is_criteria_judge(load_judge(judge))]
"""Judges of what these test sets have; none of their segments has criteria."""

COMMAND = "`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/judges.py --model {} --segments {}`"


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
    parser.add_argument(
        "--model", required=True, help="provider/model, or gold: a scripted model that knows it"
    )
    parser.add_argument("--base-url", help="any OpenAI-compatible server, up to /v1")
    parser.add_argument("--judges", help="some of them, by commas")
    parser.add_argument("--out", type=Path, help="folder of the runs; a temporary one if left out")
    wanted = parser.parse_args()
    if (data := find_data()) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(compare_profiles(data, wanted, wanted.out or Path(folder)))
    show(f"Judges with {wanted.model}", text, write=wanted.write)


COLUMNS = [
    *("judge", "profile", ">calls", ">tokens", ">price", ">hours", ">judged", "failed"),
    *(">acc_eq", ">SPA", ">F1 (mpp)", ">ranked", ">tied"),
]
SHARES = (
    "F1 is that of marked errors by rule mpp; ranked and tied: agreement of a judge of pairs with the",
    "majority of people, on pairs that they rank and on those that they tie. Calls and tokens are those",
    "for one translation or pair. A number that a judge or a test set does not give is left out.",
)


def compare_profiles(data: Path, wanted: argparse.Namespace, folder: Path) -> Iterator[str]:
    """One table for each test set, a row for each judge and profile."""
    judges = wanted.judges.split(",") if wanted.judges else [*WITHOUT_CRITERIA]
    yield COMMAND.format(wanted.model, wanted.segments)
    yield ""
    yield from SHARES
    folder.mkdir(parents=True, exist_ok=True)
    for name, (lp, gold) in SETS.items():
        if not (data / name / gold).is_file():
            continue
        texts = prepare(data / name, lp, gold, wanted.segments, folder / name)
        marks = data / name / "human-scores" / f"{lp}.mqm.merged.seg.rating"
        rated = read_judgements(marks, lp, texts=data / name) if marks.is_file() else None
        yield from compared(texts, judges, wanted, rated)
    if (data / "fire-mt").is_dir():
        for path in sorted((data / "fire-mt").glob("*/*-annotation.json")):
            yield from compared(pairs_of(path, wanted.segments, folder), judges, wanted, None)


def pairs_of(path: Path, segments: int, folder: Path) -> Texts:
    """The first pairs of FiRE's benchmark, with the majorities of people."""
    found = read_fire(path)
    part = found.test_set.select(limit=segments)
    kept = {segment.segment for segment in part}
    place = folder / path.stem
    place.mkdir(exist_ok=True)
    write_test_set(place / "test_set.jsonl", part)
    write_records(place / "gold.jsonl", [r for r in found.records if r.segment in kept])
    return Texts(name=path.stem, test_set=part, path=place / "test_set.jsonl", gold=place / "gold.jsonl")


def compared(
    texts: Texts, judges: Sequence[str], wanted: argparse.Namespace, rated: Judgements | None
) -> Iterator[str]:
    """The table of one test set."""
    of_pairs = any(isinstance(r, Preference) for r in adjudge.read_records(texts.gold))
    rows = []
    for judge in judges:
        if of_pairs and not is_pair_judge(load_judge(judge)):
            continue
        for profile in PROFILES:
            print(f"{texts.name}: {judge} {profile}", file=sys.stderr)
            run = judged(texts, judge, profile, wanted, rated)
            rows.append([judge, profile, *costs(run), *agreement_with(texts, run, rated, judge)])
    yield ""
    size = f"{len(texts.test_set)} segments, {texts.translations} translations"
    yield f"{texts.name}, version {VERSION}: {size}."
    yield ""
    yield render_table(Table(columns=COLUMNS, rows=rows), "markdown").strip()


def judged(
    texts: Texts, judge: str, profile: Profile, wanted: argparse.Namespace, rated: Judgements | None
) -> Run:
    """One run; one that was stopped goes on."""
    out = texts.path.parent / f"{judge} {profile} {wanted.model.replace('/', '-')}"
    settings = {"without": "search"} if judge == "rate" and profile != "recommended" else {}
    if wanted.model != "gold":
        options = {"model": wanted.model, "base_url": wanted.base_url}
        return adjudge.run(judge, texts.test_set, out=out, profile=profile, settings=settings, **options)
    gold = adjudge.read_records(texts.gold) if rated is None else rated.records
    with knowing(texts.test_set, gold):
        return adjudge.run(judge, texts.test_set, out=out, model=MODEL, profile=profile, settings=settings)


def costs(run: Run) -> list[str]:
    """What a run asked, cost and took, and what failed."""
    info = run.info
    units = max(sum(info.counts.values()), 1)
    started, finished = (datetime.fromisoformat(info.times[name]) for name in ("started", "finished"))
    calls = info.calls.get("asked", 0) + info.calls.get("from_store", 0)
    tokens = info.tokens.get("prompt", 0) + info.tokens.get("completion", 0)
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(info.failures.items()))
    return [
        f"{calls / units:.1f}",
        f"{tokens / units:,.0f}" if tokens else "",
        "" if info.price is None or not tokens else f"{info.price:.2f} {info.currency}",
        f"{(finished - started).total_seconds() / 3600:.2f}",
        str(info.counts.get("judged", 0)),
        reasons or "0",
    ]


def agreement_with(texts: Texts, run: Run, rated: Judgements | None, judge: str) -> list[str]:
    """What a run reaches; empty where judge or gold do not give it."""
    gold = adjudge.read_records(texts.gold)
    if any(isinstance(r, Preference) for r in gold):
        said, right = (tabulate(records, "overall") for records in (run.records, gold))
        known = dict(zip(right.units, right.labels[:, 0], strict=True))
        both = [
            (label, known[unit])
            for unit, label in zip(said.units, said.labels[:, 0], strict=True)
            if unit in known
        ]
        ranked = [label == wanted for label, wanted in both if wanted]
        tied = [label == wanted for label, wanted in both if not wanted]
        return ["", "", "", *(f"{sum(same) / len(same):.3f}" if same else "" for same in (ranked, tied))]
    out = texts.path.parent / "judged.jsonl"
    write_records(out, run.records)
    found = adjudge.meta(
        texts.path,
        texts.test_set.lps[0],
        gold=[f"gold={texts.gold}"],
        scores={judge: out},
        measures=("seg_acc_eq", "spa"),
    )
    values = [found.metrics[0].results[name].value for name in ("seg_acc_eq", "spa")]
    marks = [r for r in run.records if isinstance(r, Annotation)]
    if rated is not None and run.info.weights is not None and marks:
        wanted = {(r.segment, r.system) for r in marks}
        right = [r for r in rated.records if isinstance(r, Annotation) and (r.segment, r.system) in wanted]
        values.append(adjudge.spans(marks, right).scores[0].f1)
    shown = ["" if value is None else f"{value:.3f}" for value in values]
    return [*shown, *[""] * (5 - len(shown))]


def prepare(source: Path, lp: str, gold: str, segments: int, folder: Path) -> Texts:
    """Write the first segments that gold judged for every system that is no reference."""
    whole = load(source, lp)
    judged = {(r.segment, r.system): r for r in read_score_records(source / gold, whole)}
    systems = [s for s in whole.systems if s not in whole.references and any(k[1] == s for k in judged)]
    kept = [s for s in whole if all((s.segment, system) in judged for system in systems)][:segments]
    part = TestSet(name=source.name, segments=tuple(kept)).select(systems=systems)
    folder.mkdir(exist_ok=True)
    write_test_set(folder / "test_set.jsonl", part)
    records = [judged[s.segment, system] for s in part for system in systems]
    write_records(folder / "gold.jsonl", [replace(r, annotator="gold") for r in records])
    return Texts(
        name=f"{source.name} {lp}", test_set=part, path=folder / "test_set.jsonl", gold=folder / "gold.jsonl"
    )


if __name__ == "__main__":
    main()
