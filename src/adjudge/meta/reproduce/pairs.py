"""FiRE's tables: labels of three people on pairs of translations, and evaluators' verdicts beside them.

The benchmark is `LP/LP-annotation.json`, as FiRE's repository has it: a list of pairs, each with `model1`,
`model2`, and for each criterion `annotation`, how many people gave each label. An evaluator's verdicts are a
file of our records, preferences whose segment is the number of the pair in that list, from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from adjudge.core.annotation import Preference, Record
from adjudge.data.files import read_json, read_text
from adjudge.data.records import read_records
from adjudge.data.shape import Fields
from adjudge.errors import DataError
from adjudge.meta.agreement.estimate import NO_INTERVAL
from adjudge.meta.agreement.kappa import fleiss_kappa
from adjudge.meta.agreement.percentage import MAJORITY, majority, percentage_agreement
from adjudge.meta.measures.result import Floats
from adjudge.meta.ranking.comparisons import VERDICTS
from adjudge.meta.reproduce.inputs import Inputs, MissingInputError
from adjudge.meta.reproduce.papers import Definition

__all__ = ["PAIR_MEASURES", "pair_value"]

PAIR_MEASURES: Final = frozenset({"pairs", "pairs_kappa", "pairs_agreement"})
"""Number of pairs of a subset; Fleiss' kappa of all pairs; agreement with the majority on a subset."""

_LABELS: Final = {"A>B": 1.0, "A≈B": 0.0, "A<B": -1.0}
_CRITERIA: Final = {
    "Faithfulness": "faithfulness",
    "Fluency": "fluency",
    "Consistency of Style": "style",
    "Overall": "overall",
}
"""FiRE's name of a criterion to ours."""

_PEOPLE: Final = 3
_ENDINGS: Final = (".jsonl", ".jsonl.gz", "")


def pair_value(definition: Definition, metric: str, source: str, inputs: Inputs) -> float:
    """Compute a cell about pairs.

    Args:
        definition: whose measure is one of `PAIR_MEASURES`.
        metric: place and stem of an evaluator's records, or a criterion where the definition has none.
        source: name of the input.
        inputs: the files.

    Raises:
        MissingInputError: a file is not there, or has no verdict on the criterion.
        DataError: it is not what it should be.
    """
    (lp,) = definition.lps
    criterion = definition.criterion or metric
    place = inputs.paper.inputs[source].place
    file = inputs.place(place, f"{lp}/{lp}-annotation.json") / lp / f"{lp}-annotation.json"
    if not file.is_file():
        raise MissingInputError(inputs.told(file))
    rows = inputs.content(file, _read_rows)
    gold = np.array([_labels(row, criterion) for row in rows])
    if definition.measure == "pairs":
        return float(_subset(gold, definition.subset).sum())
    if definition.measure == "pairs_kappa":
        return _known(fleiss_kappa(gold).value, f"labels of {criterion} in {inputs.told(file)}")
    evaluator = inputs.file(metric.format(lp=lp), _ENDINGS)
    records = inputs.content(evaluator, read_records)
    verdicts = _verdicts(records, rows, _CRITERIA[criterion], evaluator)
    shares = percentage_agreement(verdicts, gold, [""] * gold.shape[1], NO_INTERVAL)
    found = [s.agreement.value for s in shares if (s.pairs, s.against) == (definition.subset, MAJORITY)]
    wanted = f"verdicts on {criterion} in {metric.format(lp=lp)}{_ENDINGS[0]}"
    return _known(found[0] if found else None, wanted)


def _known(value: float | None, wanted: str) -> float:
    if value is None:
        raise MissingInputError(wanted)
    return value


def _read_rows(file: Path) -> list[Fields]:
    rows = read_json(read_text(file), path=file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError("wanted a list of pairs of translations", path=file)
    return [Fields(row, f"pair {number}", file) for number, row in enumerate(rows, start=1)]


def _labels(row: Fields, criterion: str) -> list[float]:
    """What three people said, in no order."""
    judged: Mapping[str, Any] = row.mapping(criterion)
    counts = judged.get("annotation")
    if not isinstance(counts, dict) or counts.keys() != _LABELS.keys() or not _of_three(counts):
        row.fail(
            f"{criterion!r} needs 'annotation' with {', '.join(_LABELS)} of three people, got {counts!r}"
        )
    return [label for name, label in _LABELS.items() for _ in range(counts[name])]


def _of_three(counts: Mapping[str, Any]) -> bool:
    return all(isinstance(n, int) and n >= 0 for n in counts.values()) and sum(counts.values()) == _PEOPLE


def _subset(gold: Floats, subset: str) -> NDArray[np.bool_]:
    """Which pairs have a majority, and are what the subset says."""
    wanted = majority(gold)
    easy = (gold == gold[:, :1]).all(axis=1)
    chosen = ~np.isnan(wanted)
    marks = {"ranked": np.abs(wanted) == 1, "tied": wanted == 0, "easy": easy, "hard": ~easy}
    for word in subset.split():
        chosen &= marks.get(word, chosen)
    return chosen


def _verdicts(records: Iterable[Record], rows: Sequence[Fields], criterion: str, file: Path) -> Floats:
    """An evaluator's verdict on each pair; NaN where it gave none, or decided nothing.

    Raises:
        DataError: a pair that there is not, or that is of other systems, or stands there twice.
    """
    found: dict[int, float] = {}
    for record in records:
        if not isinstance(record, Preference) or record.criterion != criterion:
            continue
        place = int(record.segment) - 1 if record.segment.isdecimal() else -1
        if not 0 <= place < len(rows):
            raise DataError(f"segment {record.segment!r} is no number from 1 to {len(rows)}", path=file)
        if place in found:
            raise DataError(f"two verdicts on {criterion} of pair {record.segment}", path=file)
        systems = (rows[place].text("model1"), rows[place].text("model2"))
        if sorted(record.systems) != sorted(systems):
            wanted, came = " and ".join(systems), " and ".join(record.systems)
            raise DataError(f"pair {record.segment} is of {wanted}, got {came}", path=file)
        sign = 1 if record.systems == systems else -1
        found[place] = np.nan if record.is_undecided else sign * VERDICTS[record.verdict]
    return np.array([found.get(place, np.nan) for place in range(len(rows))])
