"""A judgement that fails in several places fails the same way every time."""

import asyncio
import itertools

import pytest

from adjudge.llm.asking import Quiet


async def question(quiet: Quiet, name: str, seconds: float, *, fails: bool) -> None:
    with quiet:
        await asyncio.sleep(seconds)
        if fails:
            await quiet.wait_turn(("stage", name, b""))
            raise ValueError(name)


@pytest.mark.parametrize("delays", list(itertools.permutations([0.0, 0.01, 0.02])))
async def test_the_failure_raised_first_does_not_depend_on_who_was_fastest(delays: tuple[float, ...]) -> None:
    quiet = Quiet()
    names = ["b", "a", "c"]
    tasks = [question(quiet, n, d, fails=True) for n, d in zip(names, delays, strict=True)]
    with pytest.raises(ValueError, match="a"):
        await asyncio.gather(*tasks)
    quiet.end()


async def test_a_failure_waits_for_questions_that_are_still_open() -> None:
    quiet = Quiet()
    slow = asyncio.create_task(question(quiet, "a", 0.02, fails=False))
    with pytest.raises(ValueError, match="b"):
        await question(quiet, "b", 0, fails=True)
    assert slow.done()


async def test_a_branch_that_goes_on_may_still_ask_before_silence_counts() -> None:
    quiet = Quiet()

    async def branch() -> None:
        await question(quiet, "c1", 0.01, fails=False)
        await asyncio.gather(asyncio.gather(question(quiet, "a2", 0.01, fails=True)))

    with pytest.raises(ValueError, match="a2"):
        await asyncio.gather(question(quiet, "b", 0, fails=True), branch())
    quiet.end()


async def test_a_single_question_that_fails_does_not_wait() -> None:
    quiet = Quiet()
    async with asyncio.timeout(0.5):
        with pytest.raises(ValueError, match="a"):
            await question(quiet, "a", 0, fails=True)


async def test_a_caller_that_catches_a_failure_can_ask_on() -> None:
    quiet = Quiet()

    async def careful() -> str:
        for name in ("a", "b"):
            try:
                await question(quiet, name, 0, fails=True)
            except ValueError:
                continue
        return "done"

    async with asyncio.timeout(0.5):
        assert list(await asyncio.gather(careful(), careful())) == ["done", "done"]


async def test_a_cancelled_question_holds_nobody_up() -> None:
    quiet = Quiet()
    held = asyncio.create_task(question(quiet, "a", 0, fails=True))
    stuck = asyncio.create_task(question(quiet, "b", 60, fails=False))
    await asyncio.sleep(0.01)
    assert not held.done()
    stuck.cancel()
    async with asyncio.timeout(0.5):
        with pytest.raises(ValueError, match="a"):
            await held


async def test_a_unit_whose_questions_are_all_parked_or_failed_is_stopped() -> None:
    quiet = Quiet()

    async def parked() -> None:
        with quiet:
            await quiet.park()

    async def judging() -> None:
        await asyncio.gather(parked(), question(quiet, "a", 0.01, fails=True))

    task = asyncio.create_task(judging())
    quiet.stop_with(task.cancel)
    async with asyncio.timeout(0.5):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert quiet.is_waiting


async def test_a_parked_question_waits_for_those_that_may_still_ask() -> None:
    quiet, stopped = Quiet(), asyncio.Event()
    quiet.stop_with(stopped.set)

    async def parked() -> None:
        with quiet:
            await quiet.park()

    task = asyncio.create_task(parked())
    await question(quiet, "a", 0.02, fails=False)
    assert not stopped.is_set()
    async with asyncio.timeout(0.5):
        await stopped.wait()
    task.cancel()
