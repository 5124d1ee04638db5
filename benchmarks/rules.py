"""How well the checks agree with people: false alarms on references, precision by rule, agreement, speed.

Reads WMT23 (MTME folder) and, as texts that no rule was tuned on, MENT and the MQM annotations of TED talks,
from the folder that ADJUDGE_DATA or the first argument names. Prints the tables of docs/benchmark-tables.md.
Precision is measured by halves: the even documents of WMT23 were looked at while the rules were written.
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from page import find_data
from scipy.stats import kendalltau, pearsonr, spearmanr

from adjudge.analysis.segment_scores import score_records
from adjudge.checks import RULES, Finding, find_errors
from adjudge.core.mqm import find_weights
from adjudge.core.record import Annotation
from adjudge.core.segment import TestSet
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.mtme import read_ratings
from adjudge.formats.read import load
from adjudge.formats.score_file import read_score_file
from adjudge.reports.tables import Table, render_table

Key = tuple[str, str]
"""System and segment id."""

Floats = NDArray[np.float64]

OTHERS = ("BLEU-refA", "chrF-refA", "COMET-refA", "CometKiwi-src", "GEMBA-MQM-src")
RATINGS = {"en-de": ("merged",), "zh-en": ("rater1", "rater2")}


def main() -> None:
    """Print everything."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else find_data()
    if folder is None:
        return
    for lp in RATINGS:
        wmt(folder / "wmt23", lp)
    held_out(folder)


def wmt(folder: Path, lp: str) -> None:
    """Every table for one language pair of WMT23."""
    test_set = load(folder, lp)
    gold = by_key(folder / f"human-scores/{lp}.mqm.seg.score", test_set)
    started = time.process_time()
    found = check(test_set)
    seconds = time.process_time() - started
    mean = np.mean([len(text) for s in test_set for text in s.translations.values()])
    print(f"\n## WMT23 {lp}\n")
    print(f"{len(found)} translations of {mean:.0f} characters: {seconds:.1f} s CPU, ", end="")
    print(f"{10_000 * seconds / len(found):.1f} s for 10,000\n")
    show_alarms(found)
    ours = {key: points(findings) for key, findings in found.items()}
    show_systems(gold, ours)
    others = {
        name: by_key(folder / f"metric-scores/{lp}/{name}.seg.score", test_set)
        for name in OTHERS
        if (folder / f"metric-scores/{lp}/{name}.seg.score").exists()
    }
    show_pairs(gold, {"rules": ours, **others})
    annotations = [
        annotation
        for rater in RATINGS[lp]
        for annotation in read_ratings(folder / f"human-scores/{lp}.mqm.{rater}.seg.rating", test_set).records
    ]
    show_precision(found, annotations, test_set)


def check(test_set: TestSet) -> dict[Key, list[Finding]]:
    """Findings of every translation."""
    return {
        (system, s.segment): find_errors(s.source, translation, s.lp)
        for s in test_set
        for system, translation in s.translations.items()
    }


def points(findings: Iterable[Finding]) -> float:
    """The score of the metric `rules`."""
    weights = find_weights("mqm-google")
    return -sum(weights.points(f.span.severity, f.span.category) for f in findings)


def by_key(path: Path, test_set: TestSet) -> dict[Key, float]:
    """Scores of a file that are not missing."""
    table = read_score_file(path, units=len(test_set))
    return {
        (system, segment.segment): float(value)
        for system, row in zip(table.systems, table.values, strict=True)
        for segment, value in zip(test_set, row, strict=True)
        if not np.isnan(value)
    }


def show(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as it stands in the documentation."""
    print(render_table(Table(columns=columns, rows=list(rows)), "markdown"))


def show_alarms(found: Mapping[Key, list[Finding]]) -> None:
    """How often anything is found in the reference and in the systems."""
    rows = []
    for name, is_ours in (("refA", lambda s: s == "refA"), ("systems", lambda s: "ref" not in s)):
        chosen = [findings for (system, _), findings in found.items() if is_ours(system)]
        any_share = np.mean([bool(findings) for findings in chosen])
        bad = np.mean([any(f.span.severity != "minor" for f in findings) for findings in chosen])
        mean = np.mean([len(findings) for findings in chosen])
        rows.append([name, f"{any_share:.1%}", f"{bad:.1%}", f"{mean:.3f}"])
    show([">texts", ">with a finding", ">with a major one", ">findings a text"], rows)


def show_systems(gold: Mapping[Key, float], ours: Mapping[Key, float]) -> None:
    """Agreement with gold by system and pooled."""
    systems = sorted({system for system, _ in gold}, key=lambda s: -mean_of(gold, s))
    order = sorted(systems, key=lambda s: -mean_of(ours, s, gold))
    rows = []
    for system in systems:
        keys = [key for key in gold if key[0] == system]
        a, b = (np.array([scores[key] for key in keys]) for scores in (gold, ours))
        numbers = (*(f"{m:.3f}" for m in measures(a, b)),)
        rows.append([system, f"{a.mean():.2f}", f"{b.mean():.3f}", str(order.index(system) + 1), *numbers])
    a, b = (np.array([scores[key] for key in gold]) for scores in (gold, ours))
    tau, rho = kendalltau(a, b).statistic, spearmanr(a, b).statistic
    rows.append(["pooled", f"{a.mean():.2f}", f"{b.mean():.3f}", "", f"{tau:.3f}", f"{rho:.3f}", ""])
    show(["system", ">gold", ">rules", ">rank", ">Kendall", ">Spearman", ">pairwise"], rows)
    a, b = (np.array([mean_of(scores, s, gold) for s in systems]) for scores in (gold, ours))
    print(f"Systems: Pearson {pearsonr(a, b).statistic:.3f}, pairwise accuracy {pairwise(a, b):.3f}.")
    clean = np.mean([gold[key] == 0 for key in gold if ours[key] == 0])
    silent = np.mean([ours[key] == 0 for key in gold])
    print(f"Nothing is found in {silent:.1%} of the translations; of these people found {clean:.1%} clean.\n")


def mean_of(scores: Mapping[Key, float], system: str, keys: Iterable[Key] | None = None) -> float:
    """Mean of one system over the translations that `keys` has."""
    chosen = [scores[key] for key in (scores if keys is None else keys) if key[0] == system]
    return float(np.mean(chosen))


def measures(gold: Floats, ours: Floats) -> tuple[float, float, float]:
    """Kendall, Spearman, pairwise accuracy."""
    tau, rho = kendalltau(gold, ours).statistic, spearmanr(gold, ours).statistic
    return float(tau), float(rho), pairwise(gold, ours)


def pairwise(gold: Floats, ours: Floats) -> float:
    """Of the pairs that gold tells apart, those in the same order; a tie of ours is half right."""
    upper = np.triu_indices(len(gold), 1)
    told, said = (np.sign(np.subtract.outer(x, x))[upper] for x in (gold, ours))
    chosen = told != 0
    return float(np.mean((1 + told[chosen] * said[chosen]) / 2)) if chosen.any() else float("nan")


def by_source(gold: Mapping[Key, float], scores: Mapping[Key, float]) -> tuple[float, int]:
    """Pairwise accuracy within each source, averaged over sources, and their number."""
    groups = defaultdict(list)
    for key in gold:
        if key in scores and key[0] != "refA":
            groups[key[1]].append(key)
    found = [
        pairwise(np.array([gold[k] for k in keys]), np.array([scores[k] for k in keys]))
        for keys in groups.values()
    ]
    kept = [value for value in found if not np.isnan(value)]
    return float(np.mean(kept)), len(kept)


def show_pairs(gold: Mapping[Key, float], metrics: Mapping[str, Mapping[Key, float]]) -> None:
    """Pairs of translations of one source, references left out."""
    rows = [["a constant", "0.500", ""]]
    for name, scores in metrics.items():
        accuracy, sources = by_source(gold, scores)
        rows.append([name, f"{accuracy:.3f}", str(sources)])
    show(["metric", ">same-source pairwise accuracy", ">sources"], rows)


def show_precision(
    found: Mapping[Key, list[Finding]], annotations: Iterable[Annotation], test_set: TestSet
) -> None:
    """How often people marked something where a rule did, by halves of the documents."""
    documents = {d: n % 2 for n, d in enumerate(dict.fromkeys(s.document for s in test_set))}
    half = {s.segment: documents[s.document] for s in test_set}
    gold = defaultdict(list)
    for annotation in annotations:
        gold[annotation.system, annotation.segment].append(annotation)
    counts: dict[str, list[Counter[bool]]] = {rule: [Counter(), Counter()] for rule in RULES}
    for key, judged in gold.items():
        for finding in found[key]:
            right = any(is_marked(finding, annotation) for annotation in judged)
            counts[finding.rule][half[key[1]]][right] += 1
    rows = [
        [rule, *(cell for half in halves for cell in (str(half.total()), share(half)))]
        for rule, halves in counts.items()
        if any(half.total() for half in halves)
    ]
    show(["rule", ">seen", ">right", ">unseen", ">right"], rows)


def share(counts: Counter[bool]) -> str:
    """How many were right."""
    return f"{counts[True] / counts.total():.2f}" if counts.total() else ""


def is_marked(finding: Finding, annotation: Annotation) -> bool:
    """Whether a person marked something there; for a mark in the source, also any major accuracy error."""
    span = finding.span
    for gold in annotation.spans:
        if None in {gold.start, gold.end, span.start, span.end}:
            continue
        if gold.side == span.side and gold.start <= span.end and span.start <= gold.end:  # type: ignore[operator]
            return True
        accuracy = (gold.category or "").startswith("accuracy") and gold.severity in {"major", "critical"}
        if span.side == "source" and accuracy:
            return True
    return False


def held_out(folder: Path) -> None:
    """Agreement on texts that nobody looked at."""
    ment = load(folder / "ment", "zh-en")
    talks = read_mqm_tsv(folder / "mqm-tsv" / "mqm_ted_zhen.tsv", "zh-en")
    scores = score_records(talks.records, weights="mqm-google")
    print("\n## Texts that no rule was tuned on\n")
    rows = []
    people = {
        "MENT zh-en": (ment, by_key(folder / "ment/human-scores/zh-en.seg.score", ment)),
        "TED zh-en": (
            talks.test_set,
            {(s.system, s.segment): s.score for s in scores.segments if s.score is not None},
        ),
    }
    for name, (test_set, judged) in people.items():
        ours = {key: points(findings) for key, findings in check(test_set).items()}
        gold = {key: value for key, value in judged.items() if key in ours}
        tau, rho, _ = measures(*(np.array([x[key] for key in gold]) for x in (gold, ours)))
        accuracy, sources = by_source(gold, ours)
        rows.append([name, str(len(gold)), f"{tau:.3f}", f"{rho:.3f}", f"{accuracy:.3f}", str(sources)])
    show(["texts", ">translations", ">Kendall", ">Spearman", ">same-source pairwise", ">sources"], rows)


if __name__ == "__main__":
    main()
