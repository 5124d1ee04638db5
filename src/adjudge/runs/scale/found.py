"""The shards that lie in a run directory: which are finished, and whether they are of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adjudge.core.run import RunInfo
from adjudge.core.score import Signature
from adjudge.data.run_dir import INFO, SHARDS, is_finished, read_run_info
from adjudge.errors import UsageError
from adjudge.runs.record import differences
from adjudge.runs.scale.shards import Shard

__all__ = ["Found", "find_shards", "finished_shards", "refuse_strangers"]

_OF_A_PART: Final = ("failed", "shard", "served")  # fields of a signature that parts may differ in
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
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
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
    _refuse_mixed(found)
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


def _refuse_mixed(found: Sequence[Found]) -> None:
    first = found[0]
    for one in found[1:]:
        if what := _difference(first.info, one.info):
            raise UsageError(f"shards {first.shard} and {one.shard} are of different runs: {what}")


def _difference(before: RunInfo, after: RunInfo) -> str:
    """What parts of different runs differ in; empty where they may be of one."""
    if found := differences(before, after):
        return "; ".join(found)
    old, new = (str(_without_part(info.signature)) for info in (before, after))
    return f"signature was {old}, now {new}" if old != new else ""


def _without_part(signature: Signature) -> Signature:
    return Signature(signature.name, {k: v for k, v in signature.fields.items() if k not in _OF_A_PART})
