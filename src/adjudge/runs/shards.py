"""The shards in the directory of a run, each a run of its own, and the one run they are merged into.

A merged run has its records in test-set order, its calls in one store, and counts that are sums.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from adjudge.core.scores import RunInfo, Signature, failed_fields
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.runs.resume import RunDirectory, differences, refuse_foreign
from adjudge.runs.units import Part, Shard, shard_of
from adjudge.store.call_file import STORE, run_name
from adjudge.store.calls import CallStore, CallTotals, take_calls
from adjudge.store.files import make_folder, write_bytes
from adjudge.store.json_lines import read_test_set, write_test_set
from adjudge.store.run_directory import (
    ANSWERS,
    INFO,
    RECORDS,
    SHARDS,
    TEST_SET,
    AnswerKeys,
    is_finished,
    read_answer_keys,
    read_run_info,
)

__all__ = [
    "find_shards",
    "join",
    "keep_whole",
    "merge",
    "refuse_strangers",
    "so_far",
    "take_in",
]


def keep_whole(part: Part, out: Path) -> None:
    """Keep the whole test set in the directory of the whole run, where the parts will be merged.

    Args:
        part: one part.
        out: directory of the whole run.

    Raises:
        UsageError: it holds something else, or a run of another test set.
    """
    refuse_foreign(out)
    if (out / INFO).is_file():
        digest = read_run_info(out).test_set.get("digest")
    elif (out / TEST_SET).is_file():
        digest = read_test_set(out / TEST_SET).digest
    else:
        make_folder(out)
        write_test_set(out / TEST_SET, part.whole)
        return
    if digest != part.whole.digest:
        raise UsageError(f"{out} holds a run of another test set; choose another --out, or the same test set")


_OF_A_PART: Final = ("failed", "untranslated", "shard", "served")
"""Fields of a signature that parts may differ in."""
_SHOWN: Final = 10  # numbers of shards in a message


@dataclass(frozen=True)
class Found:
    """One shard that is there."""

    shard: Shard
    path: Path
    info: RunInfo

    @property
    def is_finished(self) -> bool:
        """Whether it was judged to its end."""
        return is_finished(self.path, self.info)


def find_shards(out: Path) -> list[tuple[Shard, Path]]:
    """The shards in the directory of a run, by number.

    Raises:
        UsageError: they are of two ways to split the run.
    """
    folder = out / SHARDS
    if not folder.is_dir():
        return []
    names = (path.name for path in folder.iterdir())
    shards = sorted(Shard.read(name.replace("-of-", "/")) for name in names if "-of-" in name)
    if len(ways := sorted({shard.of for shard in shards})) > 1:
        said = " and ".join(map(str, ways))
        raise UsageError(f"{folder} holds shards of {said} parts: remove those that are not wanted")
    return [(shard, shard.within(out)) for shard in shards]


def finished_shards(out: Path) -> list[Found]:
    """All shards of a run, each finished, and all of one run.

    Raises:
        UsageError: they are not.
    """
    shards = find_shards(out)
    if not shards:
        raise UsageError(f"{out / SHARDS} holds no shards: make them with `adjudge run ... --shard 1/16`")
    found = [Found(shard, path, read_run_info(path)) for shard, path in shards if (path / INFO).is_file()]
    finished = {one.shard.number for one in found if one.is_finished}
    of = shards[0][0].of
    if left := [number for number in range(1, of + 1) if number not in finished]:
        said = ", ".join(map(str, left[:_SHOWN])) + (", ..." if len(left) > _SHOWN else "")
        raise UsageError(
            f"{len(left)} of {of} shards are not finished: {said}. Run these again with --shard; "
            "the same command without --shard takes all in and judges what is left"
        )
    first = found[0]
    for other in found[1:]:
        if what := _difference(first.info, other.info):
            raise UsageError(f"shards {first.shard} and {other.shard} are of different runs: {what}")
    return found


def refuse_strangers(out: Path, info: RunInfo, shard: Shard | None = None) -> None:
    """Refuse to judge a run in a directory that holds shards of another one, before anything is asked.

    One shard is compared, since it was itself compared with one that was there before it.

    Args:
        out: directory of the whole run.
        info: of the run, or of the shard that is to be judged.
        shard: that one; it may go on where it was stopped.

    Raises:
        UsageError: they are of another run, or of another way to split it; says what differs.
    """
    shards = find_shards(out)
    if shards and shard is not None and shards[0][0].of != shard.of:
        raise UsageError(
            f"{out} holds shards of {shards[0][0].of} parts, and --shard {shard} is of {shard.of}: "
            "choose another --out, or as many parts"
        )
    others = ((one, path) for one, path in shards if one != shard and (path / INFO).is_file())
    if (first := next(others, None)) and (what := _difference(read_run_info(first[1]), info)):
        raise UsageError(
            f"{out} holds shard {first[0]} of another run: {what}. Choose another --out, or the same settings"
        )


def _difference(before: RunInfo, after: RunInfo) -> str:
    """What parts of different runs differ in; empty where they may be of one."""
    if found := differences(before, after):
        return "; ".join(found)
    old, new = (str(_without_part(info.signature)) for info in (before, after))
    return f"signature was {old}, now {new}" if old != new else ""


def _without_part(signature: Signature) -> Signature:
    return Signature(signature.name, {k: v for k, v in signature.fields.items() if k not in _OF_A_PART})


def merged_lines(test_set: TestSet, files: Sequence[Path]) -> Iterator[bytes]:
    """Every line of every shard, in the order of the test set.

    Args:
        test_set: the whole.
        files: records of every shard by its number, each in the order of the test set.

    Raises:
        DataError: a line is no record, of another shard, or not in order.
    """
    ahead = [_Lines(file) for file in files]
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
    # Without calls the run was judged by shards alone so far.
    before = 0.0 if earlier is None or not earlier.calls else earlier.price
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
    totals = _take(out, store, run_name(info.secret), [(one.path, one.info) for one in found])
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
    failures = dict(sorted(_sum(part.failures for part in parts).items()))
    return replace(
        info,
        signature=info.signature.with_fields(**failed_fields(judged, failures)),
        counts={"judged": judged, "failed": failed, "pending": total - judged - failed},
        failures=failures,
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
    if shards := find_shards(out):
        begun = [(path, read_run_info(path)) for _, path in shards if (path / INFO).is_file()]
        _refuse_busy(path for path, _ in begun)
        _take(out, store, run, begun)
    _remove(out)


def _take(out: Path, store: Path, run: str, shards: Sequence[tuple[Path, RunInfo]]) -> CallTotals:
    for path, info in shards:
        with closing(RunDirectory(path)):  # one lock at a time: there may be thousands of shards
            if (path / STORE).is_file():
                take_calls(store, run, path / STORE, run_name(info.secret))
            if (path / ANSWERS).is_file():
                with closing(AnswerKeys(out)) as kept:
                    kept.add(read_answer_keys(path))
    with closing(CallStore(store, run)) as whole:
        whole.count_lost()
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
    if totals.lost:
        calls["lost"] = totals.lost
    if "waited" in calls:
        calls["waited"] = max(part.calls.get("waited", 0) for part in parts)
    fields = failed_fields(counts["judged"], failures)
    said = (part.signature.fields.get("served", "").split(",") for part in parts)
    if served := sorted({name for names in said for name in names if name}):
        fields["served"] = ",".join(served)
    times = [part.times for part in parts]
    return replace(
        info,
        signature=info.signature.with_fields(**fields),
        counts=counts,
        failures=dict(sorted(failures.items())),
        calls=calls,
        tokens=totals.usage.counts,
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
