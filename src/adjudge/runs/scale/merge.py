"""Make one run of its shards: records in test-set order, calls in one store, counts that are sums."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from adjudge.core.run import RunInfo
from adjudge.core.score import Signature
from adjudge.core.segment import TestSet
from adjudge.data.call_merge import take_calls
from adjudge.data.call_rows import run_name
from adjudge.data.calls import STORE, CallStore, CallTotals
from adjudge.data.files import write_bytes
from adjudge.data.jsonl import read_test_set
from adjudge.data.run_dir import INFO, RECORDS, SHARDS, TEST_SET, read_run_info
from adjudge.runs.record import RunDirectory
from adjudge.runs.scale.found import Found, find_shards, finished_shards
from adjudge.runs.scale.lines import merged_lines

__all__ = ["Priced", "join", "merge", "so_far", "take_in"]

_OLD: Final = ".merged"

Priced = Callable[[CallTotals], float | None]
"""Price of what a run has asked."""


def merge(out: Path) -> RunInfo:
    """Make one run of all shards that `adjudge run --shard` has judged, and remove them.

    Nobody is asked. It may be done again after any interruption.

    Returns:
        As `run.json` has it.

    Raises:
        UsageError: there are no shards, some are missing or not finished, or they are of different runs.
        StoreError: another process works on one, or a store cannot be written.
        DataError: a file is damaged.
    """
    found = finished_shards(out)
    test_set = replace(read_test_set(out / TEST_SET), name=str(found[0].info.test_set.get("name", "")))
    with closing(RunDirectory(out)) as directory:
        price = _price(read_run_info(out) if (out / INFO).is_file() else None, found)
        info = directory.open(_whole(found), test_set)
        return join(directory, info, test_set, lambda _: price)


def _price(earlier: RunInfo | None, found: Sequence[Found]) -> float | None:
    """What shards have cost, and sessions of the whole run before them; None where one is unknown."""
    if earlier is not None and not earlier.counts.get("pending"):
        return earlier.price  # merged before and not put away, or nothing was left for the shards to ask
    before = (
        0.0 if earlier is None or not earlier.calls else earlier.price
    )  # no calls: by shards alone so far
    prices = [before, *(one.info.price for one in found)]
    return None if None in prices else sum(price for price in prices if price is not None)


def join(
    directory: RunDirectory,
    info: RunInfo,
    test_set: TestSet,
    priced: Priced,
    load: Mapping[str, int] | None = None,
) -> RunInfo:
    """Make one run of shards that are all finished, in its directory.

    Args:
        directory: of the whole run, locked.
        info: of the whole run, as it was opened.
        test_set: the whole.
        priced: price of what the whole run has asked.
        load: how it stood with the servers, where the shards say it each for several of them.

    Returns:
        As `run.json` has it now.

    Raises:
        UsageError: a shard is missing or not finished.
        StoreError: another process works on one, or a store cannot be written.
        DataError: a file is damaged.
    """
    out = directory.path
    found = finished_shards(out)
    _refuse_busy(one.path for one in found)
    store = out / str(info.settings.get("store", STORE))
    write_bytes(out / RECORDS, merged_lines(test_set, [one.path / RECORDS for one in found]))
    totals = _take(store, run_name(info.secret), [(one.path, one.info) for one in found])
    info = replace(_summed(info, [one.info for one in found], totals), price=priced(totals))
    info = info if load is None else replace(info, calls={**info.calls, **load})
    directory.write(info)
    _remove(out)
    return info


def so_far(out: Path, info: RunInfo) -> RunInfo:
    """What `run.json` says of a run whose shards were stopped: what they have judged and lost until then."""
    parts = [read_run_info(path) for _, path in find_shards(out) if (path / INFO).is_file()]
    total = sum(info.counts.values())
    judged, failed = (sum(part.counts.get(state, 0) for part in parts) for state in ("judged", "failed"))
    return replace(
        info,
        signature=info.signature.with_fields(failed=f"{failed}/{judged + failed}"),
        counts={"judged": judged, "failed": failed, "pending": total - judged - failed},
        failures=dict(sorted(_sum(part.failures for part in parts).items())),
    )


def take_in(out: Path, store: Path, run: str) -> None:
    """Take the calls of shards into the store of the whole run, finished or not, and remove the shards.

    Args:
        out: directory of the whole run.
        store: of the whole run.
        run: name of the whole run in it.

    Raises:
        StoreError: another process works on a shard, or a store cannot be written.
    """
    shards = find_shards(out)
    begun = [(path, read_run_info(path)) for _, path in shards if (path / INFO).is_file()]
    if begun:
        _refuse_busy(path for path, _ in begun)
        _take(store, run, begun)
    _remove(out)


def _take(store: Path, run: str, shards: Sequence[tuple[Path, RunInfo]]) -> CallTotals:
    for path, info in shards:
        with closing(RunDirectory(path)):  # one lock at a time: there may be thousands of shards
            if (path / STORE).is_file():
                take_calls(store, run, path / STORE, run_name(info.secret))
    with closing(CallStore(store, run)) as whole:
        whole.sync()  # the shards are removed next
        return whole.totals()


def _refuse_busy(shards: Iterable[Path]) -> None:
    """Refuse to merge what somebody works on.

    Raises:
        StoreError: another process does.
    """
    for path in shards:
        RunDirectory(path).close()


def _remove(out: Path) -> None:
    """Remove shards that are no longer needed; half removed they must not look as if some were missing."""
    shutil.rmtree(out / _OLD, ignore_errors=True)
    if (out / SHARDS).is_dir():
        (out / SHARDS).rename(out / _OLD)
        shutil.rmtree(out / _OLD, ignore_errors=True)


def _whole(found: Sequence[Found]) -> RunInfo:
    """What the run was before its first unit was judged; all shards say the same of it."""
    info = found[0].info
    settings = {name: value for name, value in info.settings.items() if name != "shard"}
    fields = {name: v for name, v in info.signature.fields.items() if name not in {"shard", "served"}}
    pending = sum(sum(one.info.counts.values()) for one in found)
    return replace(
        info,
        settings=settings,
        signature=Signature(info.signature.name, fields),
        counts={"judged": 0, "failed": 0, "pending": pending},
        price=0.0,
    )


def _summed(info: RunInfo, parts: Sequence[RunInfo], totals: CallTotals) -> RunInfo:
    """Counts of the whole run: of its records from the parts, of its calls from the store."""
    counts, failures = _sum(part.counts for part in parts), _sum(part.failures for part in parts)
    calls = _sum(part.calls for part in parts)
    used = calls.get("asked", 0) + calls.get("from_store", 0)
    calls |= {"asked": totals.asked, "attempts": totals.attempts, "from_store": max(used - totals.asked, 0)}
    if "waited" in calls:
        calls["waited"] = max(part.calls.get("waited", 0) for part in parts)
    fields = {"failed": f"{counts['failed']}/{counts['judged'] + counts['failed']}"}
    said = (part.signature.fields.get("served", "").split(",") for part in parts)
    if served := sorted({name for names in said for name in names if name}):
        fields["served"] = ",".join(served)
    usage, times = totals.usage, [part.times for part in parts]
    return replace(
        info,
        signature=info.signature.with_fields(**fields),
        counts=counts,
        failures=dict(sorted(failures.items())),
        calls=calls,
        tokens={
            "prompt": usage.prompt,
            "cached": usage.cached,
            "completion": usage.completion,
            "reasoning": usage.reasoning,
        },
        currency=next((part.currency for part in parts if part.currency), ""),
        times={
            "started": min(filter(None, (info.times.get("started"), *(t.get("started") for t in times)))),
            "finished": max(t.get("finished", "") for t in times),
        },
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)
