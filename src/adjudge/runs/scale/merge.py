"""Make one run of its shards: records in test-set order, calls in one store, counts that are sums."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.run import RunInfo
from adjudge.core.score import Signature
from adjudge.core.segment import TestSet
from adjudge.data.call_merge import take_calls
from adjudge.data.call_rows import run_name
from adjudge.data.calls import STORE, CallStore, CallTotals
from adjudge.data.files import write_bytes
from adjudge.data.jsonl import read_test_set
from adjudge.data.run_dir import INFO, RECORDS, SHARDS, TEST_SET, read_run_info
from adjudge.errors import DataError, UsageError
from adjudge.runs.record import RunDirectory, differences
from adjudge.runs.scale.shards import Shard, shard_of

__all__ = ["Priced", "find_shards", "join", "merge", "so_far", "take_in"]

_OLD: Final = ".merged"
_OF_A_PART: Final = ("failed", "shard", "served")  # fields of a signature that parts may differ in
_SHOWN: Final = 10  # numbers of shards in a message

Priced = Callable[[CallTotals], float | None]
"""Price of what a run has asked."""


@dataclass(frozen=True)
class _Found:
    """One shard that is there."""

    shard: Shard
    path: Path
    info: RunInfo

    @property
    def is_finished(self) -> bool:
        """Whether it was judged to its end."""
        return not self.info.counts.get("pending") and (self.path / RECORDS).is_file()


def find_shards(out: Path) -> list[tuple[Shard, Path]]:
    """The shards in the directory of a run, by number.

    Raises:
        UsageError: they are of two ways to split the run.
    """
    folder = out / SHARDS
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    shards = sorted(Shard.read(name.replace("-of-", "/")) for name in names if "-of-" in name)
    if len(ways := sorted({shard.of for shard in shards})) > 1:
        said = " and ".join(map(str, ways))
        raise UsageError(f"{folder} holds shards of {said} parts: remove those that are not wanted")
    return [(shard, shard.within(out)) for shard in shards]


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
    found = _complete(out)
    test_set = replace(read_test_set(out / TEST_SET), name=str(found[0].info.test_set.get("name", "")))
    with closing(RunDirectory(out)) as directory:
        price = _price(read_run_info(out) if (out / INFO).is_file() else None, found)
        info = directory.open(_whole(found), test_set)
        return join(directory, info, test_set, lambda _: price)


def _price(earlier: RunInfo | None, found: Sequence[_Found]) -> float | None:
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
    found = _complete(out)
    _refuse_busy(one.path for one in found)
    store = out / str(info.settings.get("store", STORE))
    write_bytes(out / RECORDS, _lines(test_set, found))
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


def _complete(out: Path) -> list[_Found]:
    """All shards of a run, each finished, and all of one run.

    Raises:
        UsageError: they are not.
    """
    shards = find_shards(out)
    if not shards:
        raise UsageError(f"{out / SHARDS} holds no shards: make them with `adjudge run ... --shard 1/16`")
    found = [_Found(shard, path, read_run_info(path)) for shard, path in shards if (path / INFO).is_file()]
    finished = {one.shard.number for one in found if one.is_finished}
    of = shards[0][0].of
    if left := [number for number in range(1, of + 1) if number not in finished]:
        said = ", ".join(map(str, left[:_SHOWN])) + (", ..." if len(left) > _SHOWN else "")
        raise UsageError(
            f"{len(left)} of {of} shards are not finished: {said}. Run these again with --shard; "
            "the same command without --shard takes all in and judges what is left"
        )
    _refuse_strangers(found)
    return found


def _refuse_strangers(found: Sequence[_Found]) -> None:
    first = found[0]
    for one in found[1:]:
        differing = differences(first.info, one.info)
        signatures = [str(_without_part(info.signature)) for info in (first.info, one.info)]
        if differing or signatures[0] != signatures[1]:
            what = "; ".join(differing) or f"signature was {signatures[0]}, now {signatures[1]}"
            raise UsageError(f"shards {first.shard} and {one.shard} are of different runs: {what}")


def _without_part(signature: Signature) -> Signature:
    return Signature(signature.name, {k: v for k, v in signature.fields.items() if k not in _OF_A_PART})


def _whole(found: Sequence[_Found]) -> RunInfo:
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


def _lines(test_set: TestSet, found: Sequence[_Found]) -> Iterator[bytes]:
    """Every line of every shard, in the order of the test set; each shard's lines are in that order."""
    ahead = [_Lines(one.path / RECORDS) for one in found]
    for segment in test_set:
        yield from ahead[shard_of(segment, len(ahead)) - 1].of((segment.lp, segment.segment))
    for lines in ahead:
        lines.check_end()


class _Lines:
    """The lines of one file of records, one segment after the other.

    The file is opened for each, since there may be more shards than a process may have files open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._number = 1

    def of(self, key: tuple[str, str]) -> list[bytes]:
        """The lines of a segment."""
        found = []
        with self._path.open("rb") as file:
            file.seek(self._place)
            while (line := file.readline()) and self._key(line) == key:
                found.append(line)
                self._place += len(line)
                self._number += 1
        return found

    def _key(self, line: bytes) -> tuple[object, object]:
        try:
            value = orjson.loads(line)
            return value["lp"], value["segment"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError("not a record", path=self._path, line=self._number) from error

    def check_end(self) -> None:
        """Refuse what belongs to no segment of the shard.

        Raises:
            DataError: there is a line left.
        """
        if self._place < self._path.stat().st_size:
            message = "a record of a segment that is not this shard's, or that is not in order"
            raise DataError(message, path=self._path, line=self._number)


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
