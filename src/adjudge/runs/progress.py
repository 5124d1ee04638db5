"""How far a run is, read while it is written: `read_progress` takes no lock, and the run waits for nobody.

Counts and failures are those of `run.json`, which a run writes every ten seconds; calls and their price are
counted in its call store, and the newest judgements are the last lines of its records.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.record import Failure, Preference, Record
from adjudge.core.scores import RunInfo
from adjudge.errors import StoreError
from adjudge.llm.money import Meter, read_prices
from adjudge.runs.resume import PART
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallReader, find_store
from adjudge.store.json_lines import record_from_json
from adjudge.store.run_directory import INFO, is_finished, read_run_info

__all__ = ["read_progress"]

_NEWEST: Final = 10
_TAIL: Final = 2**18  # bytes of the records that are read


def read_progress(path: Path) -> Mapping[str, object] | None:
    """Read how far a run is.

    Returns:
        For a page: `name`, `annotator`, `judged`, `failed` and `total` (0 where not counted yet), `failures`
        (reason to count), `asked` (calls), `cost` in words, `written` (when `run.json` was, as a person reads
        it), `seconds` since then, `newest` (lp, segment, systems and what was said, newest first). None where
        the run is finished.

    Raises:
        DataError: it is no run directory.
        UsageError: prices in `adjudge.toml` that cannot be read.
    """
    info = read_run_info(path)
    if is_finished(path, info):
        return None
    changed = (path / INFO).stat().st_mtime
    asked, cost = _paid(path, info)
    return {
        "name": path.resolve().name,
        "annotator": info.annotator,
        "judged": info.counts.get("judged", 0),
        "failed": info.counts.get("failed", 0),
        "total": sum(info.counts.get(state, 0) for state in ("judged", "failed", "pending")),
        "failures": dict(sorted(info.failures.items(), key=lambda item: -item[1])),
        "asked": asked,
        "cost": cost,
        "written": f"{dt.datetime.fromtimestamp(changed, dt.UTC):%H:%M:%S} UTC",
        "seconds": time.time() - changed,
        "newest": [
            {"lp": r.lp, "segment": r.segment, "systems": ", ".join(r.systems), "said": _words(r)}
            for r in _newest(path / PART)
        ],
    }


def _paid(path: Path, info: RunInfo) -> tuple[int, str]:
    """Calls that were answered, and what all cost; nothing is known of a store that is not there yet."""
    try:
        with closing(CallReader(find_store(path))) as reader:
            totals = reader.totals(run_name(info.secret))
    except StoreError:
        return 0, ""
    spent = {name: each for name, each in totals.spent.items() if not name.startswith("builtin/")}
    table = read_prices(None)
    return totals.asked, Meter(
        {name: table.find(name) for name in spent}, before=spent
    ).words if spent else ""


def _newest(path: Path) -> list[Record]:
    """The last records that are whole, newest first."""
    lines: list[bytes] = []
    with suppress(FileNotFoundError), path.open("rb") as file:
        start = max(0, path.stat().st_size - _TAIL)
        file.seek(start)
        lines = file.read().split(b"\n")[1 if start else 0 : -1]
    return [record_from_json(orjson.loads(line)) for line in lines[: -_NEWEST - 1 : -1]]


def _words(record: Record) -> str:
    if isinstance(record, Failure):
        return f"failed: {record.reason} {record.detail}"
    if isinstance(record, Preference):
        return f"{record.criterion}: {record.verdict}"
    severities = Counter(span.severity for span in record.spans)
    errors = [f"{amount} {severity}" for severity, amount in severities.items()]
    rating = [f"rated {record.rating:g}"] if record.rating is not None else []
    return ", ".join([*rating, *errors]) or "no error"
