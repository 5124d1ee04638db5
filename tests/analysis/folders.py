"""A small folder in the layout of mt-metrics-eval, and a test set of one's own, for tests to change."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from adjudge.core.segment import Segment, TestSet
from adjudge.store.json_lines import write_records, write_test_set
from tests.analysis.records import failed, rated

Scores = Mapping[str, Sequence[float | None]]

SYSTEMS = ("A", "B", "C", "refA")
GOLD: Scores = {
    "A": [-1, -2, None, -4],
    "B": [-2, -1, None, -5],
    "C": [-5, -6, None, -9],
    "refA": [0, 0, None, -1],
}
METRIC: Scores = {"A": [0.9, 0.7, 0.5, 0.4], "B": [0.7, 0.8, 0.6, 0.3], "C": [0.2, 0.1, 0.9, 0.1]}
QE: Scores = {"A": [9, 7, 5, 6], "B": [8, 7, 6, 3], "C": [2, 1, 9, 1], "refA": [9, 9, 9, 9]}


def write_scores(path: Path, scores: Scores) -> Path:
    """Write a score file, `None` where there is no score."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{system}\t{value}\n" for system, values in scores.items() for value in values]
    path.write_text("".join(lines))
    return path


def write_folder(path: Path, lp: str = "en-de") -> Path:
    """Write four segments in two documents, three systems, a reference that was scored, two metrics."""
    outputs = {f"system-outputs/{lp}/{system}.txt": f"{system} 1\n2\n3\n4\n" for system in SYSTEMS}
    files = {
        f"sources/{lp}.txt": "one\ntwo words\nthree words here\none two three four\n",
        f"documents/{lp}.docs": "news\td1\nnews\td1\nchat\td2\nchat\td2\n",
        f"references/{lp}.refA.txt": "a\nb\nc\nd\n",
        **outputs,
    }
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    write_scores(path / f"human-scores/{lp}.mqm.seg.score", GOLD)
    write_scores(path / f"metric-scores/{lp}/COMET-refA.seg.score", METRIC)
    write_scores(path / f"metric-scores/{lp}/QE-src.seg.score", QE)
    return path


def write_own(path: Path, lp: str = "en-de") -> Path:
    """Write the same as a JSONL file, whose segments have ids."""
    segments = [
        Segment(
            segment=f"s{n}",
            lp=lp,
            document=f"d{n // 2}",
            source="word " * (n + 1),
            translations={system: f"{system} {n}" for system in "ABC"},
        )
        for n in range(4)
    ]
    write_test_set(path, TestSet(name="own", segments=tuple(segments)))
    return path


def write_ratings(path: Path, scores: Scores, *, annotator: str = "ann", lp: str = "en-de") -> Path:
    """Write ratings of the JSONL test set as records; None becomes a failure."""
    asked = {"lp": lp, "annotator": annotator, "protocol": "esa"}
    places = [(system, f"s{n}", value) for system, values in scores.items() for n, value in enumerate(values)]
    records = [
        failed(system, segment=segment, **asked) if value is None else rated(system, segment, value, **asked)
        for system, segment, value in places
    ]
    write_records(path, records)
    return path
