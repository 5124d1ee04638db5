"""Programs that say which of two translations is better."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.rank import rank
from adjudge.core.record import Failure, Preference
from adjudge.errors import UsageError
from adjudge.metrics.bridge import Bridge
from adjudge.runs.engines import run
from tests.runs.conftest import small_set

LONGER = """
for u in units:
    a, b = map(len, u["translations"])
    answer(id=u["id"], verdict="E" if a == b else "A" if a > b else "B", strength=(a - b) / max(a, b))
"""


def bridge(folder: Path, body: str, **settings: Any) -> Bridge:
    script = folder / "script.py"
    script.write_text(
        "import json, sys\nunits = [json.loads(line) for line in sys.stdin]\n"
        "def answer(**fields): print(json.dumps(fields))\n" + body
    )
    return Bridge(command=(sys.executable, "-S", str(script)), name="mine", protocol="pairwise", **settings)


def test_every_pair_is_given_and_its_verdict_kept(tmp_path: Path) -> None:
    metric = bridge(tmp_path, LONGER, criterion="length")
    done = run(metric, small_set(2, systems=("A", "B", "CC")), out=tmp_path / "run")
    preferences = [r for r in done.records if isinstance(r, Preference)]
    assert [(p.segment, p.systems, p.verdict) for p in preferences] == [
        (segment, pair, verdict)
        for segment in "01"
        for pair, verdict in ((("A", "B"), "E"), (("A", "CC"), "B"), (("B", "CC"), "B"))
    ]
    assert {(p.annotator, p.criterion, p.protocol) for p in preferences} == {("mine", "length", "pairwise")}
    assert preferences[0].strength == 0
    assert done.info.counts == {"judged": 6, "failed": 0, "pending": 0}
    best, *_ = rank(done, method="copeland", resamples=10).systems
    assert (best.system, best.score) == ("CC", 1.0)


def test_the_program_is_given_both_texts_and_names(tmp_path: Path) -> None:
    kept = tmp_path / "units.json"
    body = f"open({str(kept)!r}, 'w').write(json.dumps(units))\n" + LONGER
    run(bridge(tmp_path, body, with_reference=True), small_set(1), out=tmp_path / "run")
    (unit,) = json.loads(kept.read_text())
    assert unit == {
        "id": "u1",
        "lp": "en-de",
        "document": "doc0",
        "segment": "0",
        "systems": ["A", "B"],
        "source": "Sentence 0 of the bank.",
        "translations": ["Satz 0 von A in en-de", "Satz 0 von B in en-de"],
        "reference": "Referenz 0",
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("verdict='C'", "label"),
        ("verdict=None", "label"),
        ("verdict=['A']", "label"),
        ("score=1", "schema"),
        ("verdict='A', score=1", "schema"),
        ("verdict='A', strength=1.5", "range"),
        ("verdict='A', strength=float('nan')", "range"),
        ("verdict='A', strength='high'", "range"),
        ("verdict='A', rationale=3", "schema"),
        ("error='too_long'", "too_long"),
    ],
)
def test_what_is_no_verdict_is_a_failure_of_its_pair_alone(tmp_path: Path, fields: str, reason: str) -> None:
    said = f"dict(verdict='B') if u['segment'] == '0' else dict({fields})"
    body = f"for u in units: answer(id=u['id'], **({said}))"
    first, second = run(bridge(tmp_path, body), small_set(2), out=tmp_path / "run").records
    assert isinstance(first, Preference)
    assert isinstance(second, Failure)
    assert (first.verdict, second.reason, second.systems, second.criterion) == (
        "B",
        reason,
        ("A", "B"),
        "overall",
    )


def test_pairs_may_be_sampled_but_not_adapted(tmp_path: Path) -> None:
    metric, test_set = bridge(tmp_path, LONGER), small_set(4, systems=("A", "B", "CC"))
    done = run(metric, test_set, out=tmp_path / "run", pairs="sampled", pairs_per_segment=1)
    assert len(done.records) == 4
    with pytest.raises(UsageError, match="--pairs adaptive is for judges; mine is a metric"):
        run(metric, test_set, out=tmp_path / "other", pairs="adaptive")


def test_a_criterion_is_for_pairs() -> None:
    with pytest.raises(UsageError, match="a criterion is for protocol pairwise"):
        Bridge(command="x", criterion="style")
