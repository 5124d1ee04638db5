"""What `meta` keeps in the user's cache folder: the same numbers, or computed again; never others."""

import multiprocessing
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis import kept as kept_module
from adjudge.analysis import meta_settings
from adjudge.analysis.eval_set import ScoreSet
from adjudge.analysis.kept import keeping, kept, kept_path
from adjudge.analysis.meta import Compared, meta
from adjudge.analysis.meta_settings import MetaSettings, measure
from adjudge.cli.meta_command import meta_command
from adjudge.reports.tables import FORMATS
from adjudge.stats.judged import AVERAGES, Floats, Result
from adjudge.stats.measures import MEASURES
from tests.analysis.folders import GOLD, write_folder, write_scores
from tests.stats.scores import score_pairs

Printed = Callable[..., str]
CASES: list[dict[str, Any]] = [
    {},
    {"measures": tuple(MEASURES), "compat": "mtme"},
    {"measures": ("seg_kendall_like", "seg_mae", "seg_pearson"), "average": "sys", "scale": "minmax"},
    {"clusters": True, "significance": 30, "strata": ("domain",), "smallest": 2},
    {
        "intervals": True,
        "significance": 20,
        "by_document": True,
        "segments": "annotated",
        "measures": ("sys_pearson", "seg_acc_eq"),
    },
    {"task": "wmt23", "clusters": True, "significance": 30, "intervals": True, "measures": ("seg_acc_eq",)},
]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    def output(folder: Path, form: Any = "json", **settings: Any) -> str:
        lps = ",".join(path.stem for path in sorted((folder / "sources").iterdir()))
        meta_command(str(folder), lp=lps, settings=MetaSettings(**settings), form=form)
        return "\n".join(capsys.readouterr())

    return output


def set_of(folder: Path, *, seed: int = 0) -> Path:
    """Two language pairs with scores at random, ties and gaps among them."""
    rng = random.Random(seed)
    for lp in ("en-de", "zh-en"):
        write_folder(folder, lp)
        for file in ("human-scores/{}.mqm", "metric-scores/{}/COMET-refA", "metric-scores/{}/QE-src"):
            scores = {s: [rng.choice([None, 0, -1, -2.5, rng.random()]) for _ in range(4)] for s in GOLD}
            write_scores(folder / f"{file.format(lp)}.seg.score", scores)
    return folder


def no_measures(patch: pytest.MonkeyPatch) -> None:
    """From here on nothing is measured or drawn, or the test fails."""

    def fail(*_: object, **__: object) -> Result:
        raise AssertionError("this was to be kept")

    unable = {name: replace(one, function=fail) for name, one in MEASURES.items()}
    patch.setattr(meta_settings, "MEASURES", unable)
    for name in ("draws", "p_values", "differences"):
        patch.setattr(Compared, name, fail)


@pytest.mark.parametrize("settings", CASES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_every_format_is_the_same_with_and_without_what_is_kept(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], seed: int
) -> None:
    folder = set_of(tmp_path / "wmt23", seed=seed)
    plain = {form: printed(folder, form, cache=False, **settings) for form in FORMATS}
    assert not kept_path().exists()
    first = {form: printed(folder, form, **settings) for form in FORMATS}
    no_measures(monkeypatch)
    repeat = {form: printed(folder, form, **settings) for form in FORMATS}
    assert plain == first == repeat


def score_set(name: str, segments: Floats) -> ScoreSet:
    return ScoreSet(name=name, segments=segments, systems=segments[:, 0], range=(-30.0, 1e7))


@given(score_pairs(), st.sampled_from(sorted(MEASURES)), st.sampled_from([None, *AVERAGES]), st.booleans())
def test_a_kept_result_is_the_one_that_was_computed(
    scores: tuple[Floats, Floats], name: str, average: Any, compat: bool
) -> None:
    kept_path().unlink(missing_ok=True)
    settings = MetaSettings(measures=(name,), average=average, compat="mtme" if compat else None)
    gold, metric = (score_set(*side) for side in zip(("gold", "metric"), scores, strict=True))
    found = MEASURES[name]
    options = meta_settings.arguments(name, gold, metric, settings)
    of_systems = found.takes == "systems"
    sides = [side.systems if of_systems else side.segments for side in (gold, metric)]
    wanted = found.function(*sides, **options)
    for _ in range(2):
        with keeping(True):
            result = measure(name, gold, metric, settings)
        assert repr(result) == repr(wanted)
        for field in fields(Result):
            if field.name != "test":
                assert type(getattr(result, field.name)) is type(getattr(wanted, field.name))
        assert repr(result.p) == repr(wanted.p)


def test_whatever_changes_a_number_is_computed_again(tmp_path: Path) -> None:
    """Each change alone: its numbers are those without a cache, though another's are kept."""
    folder = set_of(tmp_path / "wmt23")
    changes: list[dict[str, Any]] = [
        {"average": "item"},
        {"compat": "mtme"},
        {"segments": "annotated"},
        {"exclude": ("B",)},
        {"include_human": True},
        {"measures": ("seg_mae",), "scale": "minmax"},
        {"measures": ("seg_kendall_like",), "threshold": 0.5},
        {"measures": ("seg_pearson",), "average": "item", "macro": False},
        {"clusters": True, "significance": 20},
        {"clusters": True, "significance": 20, "seed": 1},
        {"clusters": True, "significance": 20, "test": "perm-both", "measures": ("seg_pearson",)},
        {"intervals": True, "significance": 20},
        {"intervals": True, "significance": 20, "by_document": True},
    ]
    for change in [{}, *changes, {}]:
        found, wanted = (meta(folder, "en-de,zh-en", cache=cache, **change) for cache in (True, False))
        assert found == wanted
        for name, table in wanted.p_values.items():
            np.testing.assert_array_equal(found.p_values[name], table)
    path = folder / "metric-scores/en-de/QE-src.seg.score"
    path.write_text(path.read_text().replace("None", "7"))
    assert meta(folder, "en-de") == meta(folder, "en-de", cache=False)


def test_another_program_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(make: Callable[[], object]) -> object:
        with keeping(True):
            return kept("step", (), "", make)

    assert found(lambda: 1.0) == found(lambda: 2.0) == 1.0
    monkeypatch.setattr(kept_module, "program_digest", lambda *_: b"a better measure")
    assert found(lambda: 2.0) == 2.0


@pytest.mark.parametrize("seed", range(60))
def test_no_damage_of_the_file_moves_a_number(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Bytes are changed or cut anywhere; the file is as good as new two calls later."""
    folder, path, rng = set_of(tmp_path / "wmt23"), kept_path(), random.Random(seed)
    wanted = printed(folder)
    raw = bytearray(path.read_bytes())
    if seed % 3 == 0:
        raw = raw[: rng.randrange(len(raw))]
    elif seed % 3 == 1:
        for _ in range(rng.choice([1, 20, 2000])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    else:
        start = rng.randrange(len(raw))
        raw[start : start + 5000] = rng.randbytes(len(raw[start : start + 5000]))
    path.write_bytes(raw)
    assert [printed(folder) for _ in range(3)] == [wanted] * 3
    no_measures(monkeypatch)
    assert printed(folder) == wanted


def test_a_file_whose_names_are_no_text_is_made_anew(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite quotes such a name in its message, which then cannot be decoded."""
    folder = set_of(tmp_path / "wmt23")
    wanted, raw = printed(folder), kept_path().read_bytes()
    kept_path().write_bytes(raw.replace(b"tablekeptkept", b"tablek\xffptk\xffpt"))
    assert kept_path().read_bytes() != raw
    assert [printed(folder) for _ in range(2)] == [wanted] * 2
    no_measures(monkeypatch)
    assert printed(folder) == wanted


@pytest.mark.parametrize("table", ["kept (key BLOB PRIMARY KEY, other)", "theirs (a)"])
def test_a_file_of_another_layout_is_made_anew(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    folder = set_of(tmp_path / "wmt23")
    kept_path().parent.mkdir()
    with closing(sqlite3.connect(kept_path())) as connection:
        connection.execute(f"CREATE TABLE {table}")
    wanted = printed(folder)
    no_measures(monkeypatch)
    assert printed(folder) == wanted


def test_a_folder_that_cannot_be_used_is_not_used(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = set_of(tmp_path / "wmt23")
    wanted = printed(folder, cache=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "file" / "below"))
    assert printed(folder) == wanted
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path))
    kept_path().mkdir()
    assert printed(folder) == wanted


def test_a_file_that_somebody_holds_is_not_waited_for_long(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "_PATIENCE", 0.01)
    folder = set_of(tmp_path / "wmt23")
    wanted = printed(folder)
    before = kept_path().read_bytes()
    with closing(sqlite3.connect(kept_path(), isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert printed(folder) == wanted
        assert printed(folder, measures=("seg_tau_13",)) == printed(
            folder, measures=("seg_tau_13",), cache=False
        )
    assert kept_path().read_bytes() == before


def keep_numbers(number: int) -> None:
    """In a process of its own: numbers that only it has, and numbers that all have."""
    for step in [*range(30), *range(1000 * number, 1000 * number + 30)]:
        with keeping(True):
            assert kept("step", (), step, lambda step=step: step) == step  # type: ignore[misc]


def test_several_processes_keep_what_they_find(monkeypatch: pytest.MonkeyPatch) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=keep_numbers, args=(number,)) for number in (1, 2, 3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with keeping(True):
        for step in (*range(30), *range(1000, 1030), *range(2000, 2030), *range(3000, 3030)):
            assert kept("step", (), step, lambda: None) == step


def test_what_was_not_used_for_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "_LIMIT", 200_000)
    sizes = []
    for day in range(12):
        monkeypatch.setattr("time.time", lambda day=day: day * 86_400.0)
        with keeping(True):
            kept("used every day", (), "", lambda: "first")
            for number in range(200):
                kept("once", (), (day, number), lambda: "x" * 200)
        sizes.append(kept_path().stat().st_size)
    assert sizes[0] < sizes[1] < max(sizes) < 300_000
    with keeping(True):
        assert kept("used every day", (), "", lambda: "again") == "first"
        assert kept("once", (), (11, 0), lambda: "gone") != "gone"
        assert kept("once", (), (0, 0), lambda: "gone") == "gone"


def test_what_is_kept_outlives_an_error() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    def find(last: Callable[[], None]) -> object:
        with keeping(True):
            found = kept("step", (), "", lambda: 1.5)
            last()
        return found

    with pytest.raises(ZeroDivisionError):
        find(fail)
    with keeping(True):
        assert kept("step", (), "", lambda: 2.5) == 1.5


def test_the_same_numbers_in_another_order_of_memory_are_another_input() -> None:
    """Sums are taken in the order of memory, and may differ in their last digit."""
    one = np.arange(6.0).reshape(2, 3)
    found = []
    for made, array in (("C", one), ("F", np.asfortranarray(one)), ("copy", one.copy())):
        with keeping(True):
            found.append(kept("step", (array,), "", lambda made=made: made))  # type: ignore[misc]
    assert found == ["C", "F", "C"]
