"""What holds of every judge whose agents work on what others said: HiMATE and M-MAD."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adjudge.formats.read import load
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from adjudge.store.run_directory import read_run
from tests.faults.server import Server
from tests.runs.conftest import check_stops, platform_set

FAULTS = ("empty", "html", "prose", "content null")


def check_told(
    judge: str, server: Server, out: Path, size: int, settings: Mapping[str, str], *, finds: bool
) -> None:
    """A model that finds everything is asked as often as was told, and so is one that finds nothing."""
    options: Any = {"settings": settings, "base_url": server.url, "model": "mock"}
    found = forecast(judge, platform_set(size), **options)
    assert not server.log
    done = run(judge, platform_set(size), out=out, **options)
    assert done.info.counts["judged"] == 2 * size
    assert len(server.log) == (found.calls.max if finds else found.calls.min)
    assert found.calls.min <= found.calls.typical <= found.calls.max


def check_flaky(
    judge: str, server: Server, folder: Path, settings: Mapping[str, str], *, calls: int, apart: int
) -> None:
    """A fault now and then costs a call each, and changes no record.

    Args:
        judge: its name.
        server: whose model finds everything.
        folder: for the runs.
        settings: of the judge.
        calls: that an undisturbed run takes.
        apart: so many good answers stand behind a fault.
    """
    options: Any = {"base_url": server.url, "model": "mock", "concurrency": 1, "settings": settings}
    undisturbed = run(judge, platform_set(1), out=folder / "undisturbed", **options)
    server.fails(*(play for fault in FAULTS for play in (fault, *[None] * apart)), None)
    disturbed = run(judge, platform_set(1), out=folder / "disturbed", **options)
    assert disturbed.records == undisturbed.records
    assert len(server.log) == calls + len(FAULTS)


def check_replayed(judge: str, server: Server, folder: Path, size: int, settings: Mapping[str, str]) -> None:
    """A recorded run gives the same records, and asks nobody."""
    first = run(
        judge, platform_set(size), out=folder / "a", base_url=server.url, model="mock", settings=settings
    )
    asked = len(server.log)
    second = run(
        judge, platform_set(size), out=folder / "b", model=f"replay:{folder / 'a'}", settings=settings
    )
    assert second.records == first.records
    assert len(server.log) == asked
    assert read_run(folder / "b").records == first.records


def check_wmt23(judge: str, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded rules judge public texts, asked as often as was told, and the same after a stop."""
    texts = load(data / "wmt23", lp="en-de")
    test_set = texts.select(systems=texts.systems[:3], limit=3)
    whole = check_stops(
        lambda out: run(judge, test_set, out=out), lambda total: (total // 2,), folder, monkeypatch
    )
    assert whole.info.counts.get("failed", 0) == 0
    told = forecast(judge, test_set)
    assert told.calls.min <= whole.info.calls["asked"] <= told.calls.max
