"""Scores as the score files of mt-metrics-eval, which metrics tasks take and other tools read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.data.score_files import Level, ScoreTable, write_score_file
from adjudge.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adjudge.core.score import Scores, Signature
    from adjudge.core.segment import Segment, TestSet

__all__ = ["write_score_files"]


def write_score_files(folder: Path, scores: Scores, test_set: TestSet) -> list[Path]:
    """Write `LP/NAME-REF.{seg,sys}.score` and, where the texts have them, those of documents and domains.

    Lines follow the test set: its systems in their order, of each all segments, `None` where there is no
    score. REF is the reference that was shown, `all` for several, `src` for none. Systems have the scores
    that `adjudge score` prints, which of BLEU are no means; documents and domains have means over what was
    judged.

    Args:
        folder: such as `metric-scores` of a folder of mt-metrics-eval.
        scores: of one annotator.
        test_set: every segment that a file has a line for.

    Returns:
        The files.

    Raises:
        UsageError: one of the files is there already, or the annotator's name is none of a file.
        DataError: a segment that was scored is not in the test set.
    """
    lps = scores.lps or {segment.lp: scores for segment in scores.segments}
    tables = {
        folder / lp / f"{_stem(scores.signature)}.{table.level}.score": table
        for lp, part in lps.items()
        for table in _tables(part, [segment for segment in test_set if segment.lp == lp])
    }
    if there := [path for path in tables if path.exists()]:
        raise UsageError(f"{there[0]} is there already: remove it, or name another folder")
    for path, table in tables.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_score_file(path, table)
    return list(tables)


def _stem(signature: Signature) -> str:
    """NAME-REF, as the signature has them."""
    shown = signature.fields.get("ref", "src")
    stem = f"{signature.name}-{'all' if ',' in shown else shown}"
    if Path(stem).name != stem:
        raise UsageError(f"{signature.name!r} cannot be the name of a file; choose what has another name")
    return stem


def _tables(scores: Scores, segments: Sequence[Segment]) -> Iterator[ScoreTable]:
    """Every level of one language pair."""
    import numpy as np

    judged = dict.fromkeys(s.system for s in scores.segments)
    known = dict.fromkeys(name for segment in segments for name in segment.translations)
    systems = tuple(name for name in known | judged if name in judged)
    place_of = {segment.segment: place for place, segment in enumerate(segments)}
    values = np.full((len(systems), len(place_of)), np.nan)
    for s in scores.segments:
        if s.segment not in place_of:
            raise DataError(f"the test set has no segment {s.segment!r} of {s.lp}, which was scored")
        values[systems.index(s.system), place_of[s.segment]] = np.nan if s.score is None else s.score
    yield ScoreTable(level="seg", systems=systems, units=tuple(place_of), values=values)
    of_system = {s.system: s.score for s in scores.systems}
    means = [[np.nan if (score := of_system[name]) is None else score] for name in systems]
    yield ScoreTable(level="sys", systems=systems, units=("",), values=np.array(means))
    kinds: dict[Level, list[str]] = {
        "doc": [segment.document for segment in segments],
        "domain": [segment.domain for segment in segments],
    }
    for level, names in kinds.items():
        if all(names):
            units = tuple(dict.fromkeys(names))
            yield ScoreTable(level=level, systems=systems, units=units, values=_means(values, names, units))


def _means(values: NDArray[np.float64], names: Sequence[str], units: Sequence[str]) -> NDArray[np.float64]:
    """Systems by units, means over what was judged; NaN where nothing was."""
    import numpy as np

    columns = [values[:, np.array(names) == unit] for unit in units]
    n = [(~np.isnan(column)).sum(axis=1) for column in columns]
    sums = [np.nansum(column, axis=1) for column in columns]
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing was judged
        return np.stack([total / count for total, count in zip(sums, n, strict=True)], axis=1)
