"""`ensemble`: runs and files of judges, metrics and people as one more run. Nobody is asked anything."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from adjudge.analysis.ensemble import (
    ENSEMBLE,
    Combined,
    EnsembleSettings,
    combine_scores,
    combine_verdicts,
    scored,
    voted,
)
from adjudge.core.record import Failure, Record
from adjudge.core.scores import VERSION, Run, RunInfo, Signature, failed_fields
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.runs.resume import RunDirectory, describe_test_set, now
from adjudge.store.json_lines import write_records
from adjudge.store.run_directory import RECORDS, read_run

__all__ = ["ensemble"]

Judged = Run | Iterable[Record]
_Inputs = Mapping[str, Mapping[str, str]]
"""`members`, and where weights are learned `gold`: name to digest."""

_FEWEST: Final = 2
_SHOWN: Final = 8  # digits of a digest in a signature


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """A run, and how it came about.

    Args:
        run: of annotator `ensemble`.
        combined: with its notes, and the weights that were learned.
    """

    run: Run
    combined: Combined


def ensemble(
    members: Mapping[str, Judged],
    *,
    out: Path | str,
    test_set: TestSet | None = None,
    gold: tuple[str, Judged] | None = None,
    settings: EnsembleSettings | None = None,
) -> Ensemble:
    """Combine what several annotators judged into a run directory; the same call writes the same records.

    Args:
        members: name to run or records.
        out: run directory.
        test_set: texts; those of the first run where left out.
        gold: name and records that weights are learned on.
        settings: how members are combined; means of z-scores if left out.

    Raises:
        UsageError: fewer than two members, no texts, settings that contradict, or `out` holds another run.
        DataError: records that cannot be combined, or that are not about the test set.
    """
    settings = settings or EnsembleSettings()
    if len(members) < _FEWEST:
        raise UsageError(f"an ensemble needs two members or more, got {len(members)}")
    members = {name: _of_lp(judged, settings.lp) for name, judged in members.items()}
    gold = None if gold is None else (gold[0], _of_lp(gold[1], settings.lp))
    texts = test_set or next((j.test_set for j in members.values() if isinstance(j, Run)), None)
    if texts is None:
        raise UsageError("no member is a run, so the texts are unknown: add --test-set")
    combined, inputs = _combine(members, gold, settings)
    chosen = _judged_part(texts, combined.records)
    info = _info(combined, inputs, settings, chosen)
    with closing(RunDirectory(Path(out))) as directory:
        info = directory.open(info, chosen)
        write_records(directory.path / RECORDS, combined.records)
        directory.write(replace(info, times={**info.times, "finished": now()}))
    return Ensemble(run=read_run(out), combined=combined)


def _of_lp(judged: Judged, lp: str | None) -> Run | tuple[Record, ...]:
    records = judged.records if isinstance(judged, Run) else tuple(judged)
    kept = tuple(r for r in records if lp in {None, r.lp})
    return replace(judged, records=kept) if isinstance(judged, Run) else kept


def _combine(
    members: Mapping[str, Judged], gold: tuple[str, Judged] | None, settings: EnsembleSettings
) -> tuple[Combined, _Inputs]:
    """The records, and what they were made of."""
    if settings.by == "majority":
        if gold is not None:
            raise UsageError("a majority learns nothing from gold: leave --gold out, or choose --by learned")
        voters = [voted(name, judged, tie=settings.tie) for name, judged in members.items()]
        return combine_verdicts(voters), {"members": {voter.name: voter.digest for voter in voters}}
    if settings.tie:
        raise UsageError("--tie is for --by majority")
    found = [scored(name, judged) for name, judged in members.items()]
    truth = None if gold is None else scored(*gold)
    inputs = {"members": {m.name: m.digest for m in found}}
    if truth is not None:
        inputs["gold"] = {truth.name: truth.digest}
    return combine_scores(found, settings, truth), inputs


def _judged_part(texts: TestSet, records: Iterable[Record]) -> TestSet:
    """The segments and systems that the ensemble was asked for.

    Raises:
        DataError: the texts lack one of them.
    """
    asked: dict[tuple[str, str], set[str]] = {}
    for r in records:
        asked.setdefault((r.lp, r.segment), set()).update(r.systems)
    kept = [
        replace(s, translations={n: t for n, t in s.translations.items() if n in asked[s.lp, s.segment]})
        for s in texts
        if (s.lp, s.segment) in asked
    ]
    there = {((s.lp, s.segment), system) for s in kept for system in s.translations}
    for key, systems in asked.items():
        for system in sorted(systems):
            if (key, system) not in there:
                what = f"translation of segment {key[1]!r} of {key[0]} by {system!r}"
                raise DataError(f"{texts.name} has no {what}, which all members judged")
    return TestSet(name=texts.name, segments=tuple(kept))


def _info(combined: Combined, inputs: _Inputs, settings: EnsembleSettings, test_set: TestSet) -> RunInfo:
    records = combined.records
    reasons: Counter[str] = Counter(r.reason for r in records if isinstance(r, Failure))
    failed = reasons.total()
    whole = hashlib.sha256(json.dumps(inputs).encode())
    fields = {
        **settings.said,
        **{kind: ",".join(names) for kind, names in inputs.items()},
        "inputs": whole.hexdigest()[:_SHOWN],
        **failed_fields(len(records) - failed, reasons),
        "version": VERSION,
    }
    is_ranked = settings.by == "ranks"
    return RunInfo(
        signature=Signature(ENSEMBLE, fields),
        kind="ensemble",
        annotator=ENSEMBLE,
        protocol=records[0].protocol,
        low=0.0 if is_ranked else None,
        high=1.0 if is_ranked else None,
        settings={"ensemble": settings.said, **inputs, "learned": combined.weights},
        test_set=describe_test_set(test_set, {lp: test_set.select(lp=lp).systems for lp in test_set.lps}),
        counts={"judged": len(records) - failed, "failed": failed, "pending": 0},
        failures=dict(sorted(reasons.items())),
        price=0.0,
    )
