"""Shards judge every unit once, and merged they are the run that was not split, byte for byte."""

import resource
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.pair_schedules import Schedule
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, ServerStopError, StoreError, UsageError
from adjudge.llm import embedded_rules
from adjudge.runs import shards as merging
from adjudge.runs.engines import run
from adjudge.runs.resume import RunDirectory
from adjudge.runs.shards import find_shards, merge
from adjudge.runs.units import Plan, Shard, plan_units, split
from adjudge.store import call_file
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallReader
from adjudge.store.run_directory import read_run, read_run_info, write_run_info
from tests.runs.conftest import Lengths, Rater, Scripted, Stopping, small_set

OF = 3


@pytest.mark.parametrize("text", ["3", "0/3", "4/3", "-1/3", "1/0", "1/3/5", "a/b", "１/３", " 1/3", ""])
def test_a_shard_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--shard must be"):
        Shard.read(text)


def described(plan: Plan) -> list[tuple[object, ...]]:
    return [(u.name, u.slots, tuple(s.segment for s in u.subject.context), u.subject.reference) for u in plan]


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [
        ("translation", Schedule()),
        ("source", Schedule()),
        ("pair", Schedule()),
        ("pair", Schedule(kind="sampled", per_segment=1)),
        ("pair", Schedule(kind="sampled", in_all=7)),
        ("pair", Schedule(kind="anchored", anchors=("B",))),
    ],
)
def test_parts_together_have_every_unit_once(kind: str, schedule: Schedule) -> None:
    plan = plan_units(
        small_set(9, lps=["en-de", "en-zh"], systems=["A", "B", "C"]),
        with_reference=True,
        kind=kind,  # type: ignore[arg-type]
        criteria=("overall", "style") if kind == "pair" else (),
        schedule=schedule,
        context=2,
    )
    parts = split(plan, OF)
    units = [unit for part in parts for unit in described(part)]
    assert sorted(map(repr, units)) == sorted(map(repr, described(plan)))
    assert sum(map(len, parts)) == len(plan)
    assert all([u.index for u in part] == list(range(len(list(part)))) for part in parts)
    assert all(part for part in parts), "every part has something to do"
    segments = [{(u.subject.lp, u.subject.segment.segment) for u in part} for part in parts]
    assert sum(map(len, segments)) == len(set[object]().union(*segments)), "a segment is in one part"


def judge_shards(out: Path, test_set: TestSet, numbers: Sequence[int], **options: object) -> None:
    for number in numbers:
        run(Rater(), test_set, out=out, shard=f"{number}/{OF}", **options)  # type: ignore[arg-type]


def bodies(out: Path) -> bytes:
    return (out / "records.jsonl").read_bytes()


SET = small_set(8, lps=["en-de", "en-zh"])


@pytest.mark.parametrize("options", [{}, {"context": 2}])
def test_merged_shards_are_the_run_that_was_not_split(
    tmp_path: Path, model: Scripted, options: dict[str, int]
) -> None:
    model.texts["Satz 3 von A in en-de"] = "what?"  # a failure among them
    whole = run(Rater(), SET, out=tmp_path / "whole", **options)  # type: ignore[arg-type]
    asked = len(model.requests)
    judge_shards(tmp_path / "split", SET, [2, 3, 1], **options)
    assert len(model.requests) == 2 * asked, "no question was put by two shards"
    part = read_run(tmp_path / "split" / "shards" / "2-of-3")
    assert part.info.signature.fields["shard"] == "2/3"
    info = merge(tmp_path / "split")
    assert bodies(tmp_path / "split") == bodies(tmp_path / "whole")
    assert (str(info.signature), info.counts, info.calls) == (
        str(whole.info.signature),
        whole.info.counts,
        whole.info.calls,
    )
    assert read_run(tmp_path / "split").info == info
    names = [{path.name for path in (tmp_path / name).iterdir()} for name in ("split", "whole")]
    assert names[0] == names[1] - {".records.jsonl.marks"}, "what is merged has no marks, and needs none"
    again = run(Rater(), SET, out=tmp_path / "split", **options)  # type: ignore[arg-type]
    assert len(model.requests) == 2 * asked, "the same command finds everything answered"
    assert (again.info.calls["asked"], bodies(tmp_path / "split")) == (asked, bodies(tmp_path / "whole"))


def test_conversations_are_found_after_merging_whatever_dictionaries_packed_them(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("_SAMPLES", 40), ("_BATCH", 8), ("_DICTIONARY_BYTES", 512)):
        monkeypatch.setattr(call_file, name, size)
    judge_shards(tmp_path, small_set(60), [1, 2, 3])
    info = merge(tmp_path)
    with closing(CallReader(tmp_path / "calls.sqlite")) as reader:
        units = reader.units(run_name(info.secret))
        talks = [reader.conversation(run_name(info.secret), unit) for unit in units]
    assert len(units) == 120
    assert all(talk[0].reply is not None and talk[0].request is not None for talk in talks)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as store:
        assert store.execute("SELECT count(DISTINCT codec) FROM calls").fetchone()[0] > 2, (
            "else it shows nothing"
        )


@pytest.mark.parametrize("step", ["merged_lines", "take_calls", "_summed", "_remove", "rmtree"])
def test_an_interrupted_merge_is_done_again(
    tmp_path: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    whole = run(Rater(), SET, out=tmp_path / "whole")
    judge_shards(tmp_path / "split", SET, [1, 2, 3])
    place = shutil if step == "rmtree" else merging
    real, calls = getattr(place, step), 0

    def breaking(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2 or step in {"merged_lines", "_summed", "_remove"}:
            raise KeyboardInterrupt
        return real(*arguments, **named)

    monkeypatch.setattr(place, step, breaking)
    with pytest.raises(KeyboardInterrupt):
        merge(tmp_path / "split")
    monkeypatch.setattr(place, step, real)
    if step != "rmtree":  # by then all is done
        merge(tmp_path / "split")
    info = read_run_info(tmp_path / "split")
    assert (info.calls, info.counts, info.price) == (whole.info.calls, whole.info.counts, whole.info.price)
    assert bodies(tmp_path / "split") == bodies(tmp_path / "whole")
    with closing(sqlite3.connect(tmp_path / "split" / "calls.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM attempts").fetchone()[0] == info.calls["attempts"]


def test_shards_that_are_missing_or_not_finished_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: Stopping(3))
    monkeypatch.delenv("ADJUDGE_MODEL", raising=False)
    with pytest.raises(UsageError, match="holds no shards"):
        merge(tmp_path)
    with pytest.raises(ServerStopError):
        judge_shards(tmp_path, SET, [2])
    with pytest.raises(UsageError, match=r"3 of 3 shards are not finished: 1, 2, 3\. Run these again"):
        merge(tmp_path)


def test_a_run_without_shard_takes_all_in_and_judges_what_is_left(tmp_path: Path, model: Scripted) -> None:
    whole = run(Rater(), SET, out=tmp_path / "whole")
    asked = len(model.requests)
    judge_shards(tmp_path / "split", SET, [1, 3])
    again = run(Rater(), SET, out=tmp_path / "split")
    assert len(model.requests) == 2 * asked, "what shards asked was not asked again"
    assert bodies(tmp_path / "split") == bodies(tmp_path / "whole")
    assert again.info.calls == whole.info.calls
    assert find_shards(tmp_path / "split") == []


def test_a_shard_asks_nothing_that_the_whole_run_knows(tmp_path: Path, model: Scripted) -> None:
    run(Rater(), SET, out=tmp_path / "split")
    asked = len(model.requests)
    judge_shards(tmp_path / "split", SET, [1, 2, 3])
    assert len(model.requests) == asked
    assert merge(tmp_path / "split").calls["asked"] == asked


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": 7}, r"holds shard 1/3 of another run: seed was 0, now 7\. Choose another --out"),
        ({"context": 1}, "context was 0, now 1"),
        ({"test_set": small_set(4)}, "run of another test set"),
        ({"shard": "1/4"}, r"holds shards of 3 parts, and --shard 1/4 is of 4"),
        ({"judge": "gemba-da"}, r"annotator was rater, now gemba-da\. Choose"),
        ({"shard": None, "seed": 7}, "holds shard 1/3 of another run: seed was 0, now 7"),
    ],
)
def test_a_directory_with_shards_takes_no_part_of_another_run(
    options: dict[str, Any], said: str, tmp_path: Path, model: Scripted
) -> None:
    judge_shards(tmp_path / "a", SET, [1])
    asked = len(model.requests)
    wanted = {"judge": Rater(), "test_set": SET, "shard": "2/3", **options}
    with pytest.raises(UsageError, match=said):
        run(wanted.pop("judge"), wanted.pop("test_set"), out=tmp_path / "a", **wanted)
    assert len(model.requests) == asked
    assert [path.name for path in (tmp_path / "a" / "shards").iterdir()] == ["1-of-3"]
    judge_shards(tmp_path / "a", SET, [1, 2, 3])
    merge(tmp_path / "a")


def test_shards_of_another_version_do_not_mix(tmp_path: Path, model: Scripted) -> None:
    judge_shards(tmp_path, SET, [1])
    info = read_run_info(tmp_path / "shards" / "1-of-3")
    write_run_info(
        tmp_path / "shards" / "1-of-3", replace(info, signature=info.signature.with_fields(version="0.0.1"))
    )
    with pytest.raises(UsageError, match=r"signature was rater\S*\|version:0\.0\.1, now rater"):
        judge_shards(tmp_path, SET, [2])


def test_shards_that_were_copied_together_from_two_runs_are_not_merged(
    tmp_path: Path, model: Scripted
) -> None:
    judge_shards(tmp_path / "a", SET, [1, 2])
    judge_shards(tmp_path / "b", SET, [3], seed=7)
    shutil.copytree(tmp_path / "b/shards/3-of-3", tmp_path / "a/shards/3-of-3")
    with pytest.raises(UsageError, match=r"shards 1/3 and 3/3 are of different runs: seed was 0, now 7"):
        merge(tmp_path / "a")
    shutil.copytree(tmp_path / "b/shards/3-of-3", tmp_path / "a/shards/1-of-4")
    with pytest.raises(UsageError, match=r"shards of 3 and 4 parts"):
        merge(tmp_path / "a")


def test_a_shard_that_is_worked_on_is_not_merged(tmp_path: Path, model: Scripted) -> None:
    judge_shards(tmp_path, SET, [1, 2, 3])
    with (
        closing(RunDirectory(tmp_path / "shards" / "2-of-3")),
        pytest.raises(StoreError, match="another process is working on it"),
    ):
        merge(tmp_path)
    merge(tmp_path)


def test_there_may_be_more_shards_than_files_may_be_open(tmp_path: Path, model: Scripted) -> None:
    of, test_set = 40, small_set(30)
    for number in range(1, of + 1):
        run(Rater(), test_set, out=tmp_path, shard=f"{number}/{of}")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 20, hard))
    try:
        info = merge(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert info.counts["judged"] == 60


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: [*lines, lines[0]], "not this shard's"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "not this shard's"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "not a record"),
    ],
    ids=["foreign", "swapped", "cut"],
)
def test_records_that_were_tampered_with_are_not_merged(
    tmp_path: Path, model: Scripted, spoil: Callable[[list[bytes]], list[bytes]], said: str
) -> None:
    test_set = small_set(12, systems=["A"])
    judge_shards(tmp_path, test_set, [1, 2, 3])
    file = tmp_path / "shards" / "1-of-3" / "records.jsonl"
    file.write_bytes(b"".join(spoil(file.read_bytes().splitlines(keepends=True))))
    with pytest.raises(DataError, match=said):
        merge(tmp_path)
    assert not (tmp_path / "records.jsonl").exists()


def test_an_answer_that_was_damaged_in_the_run_is_mended_by_a_shard(tmp_path: Path, model: Scripted) -> None:
    run(Rater(), SET, out=tmp_path)
    asked = len(model.requests)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as store:
        store.execute("UPDATE calls SET checksum = checksum + 1 WHERE id = 5")
        store.commit()
    judge_shards(tmp_path, SET, [1, 2, 3])
    assert len(model.requests) == asked + 1
    merge(tmp_path)
    run(Rater(), SET, out=tmp_path)
    assert len(model.requests) == asked + 1, "the store is whole again"


def test_what_cannot_be_judged_in_parts_is_refused(tmp_path: Path, model: Scripted) -> None:
    with pytest.raises(UsageError, match="--shard: lengths is a metric"):
        run(Lengths(), SET, out=tmp_path / "a", shard="1/2")
    with pytest.raises(UsageError, match="--shard: --pairs adaptive"):
        run("fire", SET, out=tmp_path / "b", shard="1/2", pairs="adaptive")
    assert not list(tmp_path.iterdir())
