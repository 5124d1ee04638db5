"""Random sequences of faults over whole runs: the records are those of a run without them, or failures."""

import asyncio
import os
import random
from typing import Any

import pytest

from tests.faults.seeded import Bench, Disturbed, Rows, chance_of, quick_folder
from tests.faults.server import FAULTS, Fault, Server
from tests.faults.test_cases import TABLE

pytestmark = pytest.mark.usefixtures("_quick", "_unpaced")

KILLS = int(os.environ.get("ADJUDGE_CHAOS_KILLS", "0"))
SCHEDULES = int(os.environ.get("ADJUDGE_CHAOS_SCHEDULES", "20000" if KILLS >= 1000 else "200"))
TOGETHER = 20
SLOW = {"stall", "drip", "endless"}
FREE = {"429 soon"}
STOPPING = ["401", "404", "429 quota", "429 tomorrow", "error 200 quota"]
FAILED = {
    row.fault: row.reason
    for row in TABLE
    if row.reason and isinstance(row.fault, str) and row.number not in {7, 39}  # a wrong setting in the end
}
FAILING = sorted(FAILED.keys() - SLOW)


class Schedule:
    """Faults in the order that a seed says, whatever call they meet.

    Args:
        chance: of the seed.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._share = chance.choice([0.05, 0.2, 0.5, 0.8])
        self._faults = chance.sample(FAILING, chance.randint(1, 12)) + sorted(FREE)
        if chance.random() < 0.3:
            self._faults.append(chance.choice(STOPPING))
        self.played: list[str] = []

    def __call__(self, payload: dict[str, Any]) -> str | Fault | None:
        if self._chance.random() > self._share:
            return None
        self.played.append(self._chance.choice(self._faults))
        return self.played[-1]


@pytest.mark.parametrize("name", ["gemba-mqm", "gemba-esa", "gemba-da", "ea-prompt"])
async def test_whatever_the_schedule_no_fault_becomes_a_number(server: Server, name: str) -> None:
    with quick_folder() as folder:
        bench = Bench(server, folder, judge=name, size=3)
        undisturbed = await bench.undisturbed()
        for first in range(0, SCHEDULES // 4, TOGETHER):
            seeds = range(first, min(first + TOGETHER, SCHEDULES // 4))
            await asyncio.gather(*(one(bench, undisturbed, seed) for seed in seeds))


async def one(bench: Bench, undisturbed: Rows, seed: int) -> None:
    """One schedule; a run that it stops goes on when the server is well again."""
    chance = chance_of("schedule", bench.judge, seed)
    schedule, name = Schedule(chance), f"run{seed}"
    disturbed = Disturbed(f"schedule {seed} of {bench.judge}", schedule)
    bench.join(name, disturbed)
    rows, _ = await bench.run_to_the_end(name, concurrency=chance.randint(1, 8))
    said = f"{disturbed.seed}: {schedule.played}"
    reasons = {FAILED[played] for played in schedule.played if played in FAILED} | {"server_error"}
    if "unknown severity" in schedule.played:
        reasons.add("schema")  # a list of errors is no answer to a question for a number
    assert len(rows) == len(undisturbed), said
    for row, expected in zip(rows, undisturbed, strict=True):
        if row["kind"] == "failure":
            assert row["reason"] in reasons, f"{said}: {row}"
        else:
            assert row == expected, said
    assert set(disturbed.answered.values()) <= {1}, f"{said}: a good answer was asked for again"


def test_the_schedules_know_every_fault_that_fails() -> None:
    assert set(FAILING) <= set(FAULTS)
