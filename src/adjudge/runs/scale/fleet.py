"""The driver's side of a run on Ray: workers are fed with shards until all are judged, whoever dies."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from adjudge.errors import AdjudgeError
from adjudge.runs.scale.broker import Broker
from adjudge.runs.scale.worker import Recipe, Stopped, Worker
from adjudge.runs.session import Outcome

__all__ = ["Fleet"]

_AT_ONCE: Final = 2  # shards that a worker judges at a time, so that the end of one is no idle time
_LIVES: Final = 3  # deaths of workers over one shard, after which it is the shard's doing
_GRACE: Final = 10.0  # seconds for answers that are under way when a run is stopped


@dataclass
class Fleet:
    """Workers, their broker, and what they have still to do.

    Args:
        ray: the library.
        recipe: of the job.
        names: of the workers.
        broker: handle of the actor.
        on_done: is called with the outcome of each shard.
        outcomes: of the shards that are done, by number.
    """

    ray: Any
    recipe: Recipe
    names: Sequence[str]
    broker: Any
    on_done: Callable[[Outcome], None]
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with every shard to be judged."""
        self._left = deque(range(1, self.recipe.shards + 1))
        self._deaths: Counter[int] = Counter()
        self._workers: dict[str, Any] = {}
        self.loads: dict[str, dict[str, int]] = {}

    async def run(self) -> dict[int, Outcome]:
        """Judge all shards.

        Returns:
            Outcome of each, by number.

        Raises:
            AdjudgeError: something stopped a worker; the others were stopped too.
        """
        lanes = [asyncio.create_task(self._serve(name)) for name in self.names]
        try:
            done, _ = await asyncio.wait(lanes, return_when=asyncio.FIRST_EXCEPTION)
            for lane in done:
                lane.result()
        except self.ray.exceptions.RayError as error:
            raise AdjudgeError(
                f"Ray failed; what was answered is stored, the same command goes on. Ray says: {error}"
            ) from error
        finally:
            await self.stop(lanes)
        return self.outcomes

    async def _serve(self, name: str) -> None:
        """Have one worker judge until nothing is left; one that dies has a successor."""
        while self._left:
            worker = self._workers[name] = self._start(name)
            try:
                await self._employ(name, worker)
            except self.ray.exceptions.RayActorError:
                self.ray.kill(worker)  # it may only be out of reach
                await self.broker.bury.remote(name)

    async def _employ(self, name: str, worker: Any) -> None:  # noqa: ANN401 (Ray has no type for it)
        if (stopped := await worker.begin.remote()) is not None:
            raise stopped.error()
        feeds = [asyncio.create_task(self._feed(worker)) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*feeds)
        finally:
            for feed in feeds:
                feed.cancel()
            await asyncio.gather(*feeds, return_exceptions=True)
        self.loads[name] = await worker.load.remote()

    def _start(self, name: str) -> Any:  # noqa: ANN401 (Ray has no type for it)
        actor = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RayWorker)
        return actor.remote(name, self.recipe, self.broker)

    async def _feed(self, worker: Any) -> None:  # noqa: ANN401 (the same)
        while self._left:
            number = self._left.popleft()
            try:
                outcome = await worker.judge.remote(number)
            except self.ray.exceptions.RayActorError as error:
                self._left.appendleft(number)
                self._count_death(number, error)
                raise
            except asyncio.CancelledError:
                self._left.appendleft(number)
                raise
            if isinstance(outcome, Stopped):
                raise outcome.error()
            self.outcomes[number] = outcome
            self.on_done(outcome)

    def _count_death(self, number: int, error: Exception) -> None:
        self._deaths[number] += 1
        if self._deaths[number] >= _LIVES:
            raise AdjudgeError(
                f"shard {number} of {self.recipe.shards}: {_LIVES} workers died over it, of memory perhaps; "
                f"what was answered is stored, the same command goes on. Ray says: {error}"
            ) from error

    async def stop(self, lanes: Sequence[asyncio.Task[None]]) -> None:
        """End all workers; answers that are under way may come in.

        Args:
            lanes: tasks that feed them.
        """
        for lane in lanes:
            lane.cancel()
        stopping = [worker.stop.remote() for worker in self._workers.values()]
        with suppress(Exception):
            async with asyncio.timeout(_GRACE):
                await asyncio.gather(*stopping, return_exceptions=True)
        for worker in self._workers.values():
            self.ray.kill(worker)
        await asyncio.gather(*lanes, return_exceptions=True)


class RayWorker(Worker):
    """A worker whose broker is an actor."""

    def __init__(self, name: str, recipe: Recipe, broker: Any) -> None:  # noqa: ANN401 (Ray has no type for it)
        async def call(method: str, *arguments: object, **named: object) -> Any:  # noqa: ANN401 (any answer)
            return await getattr(broker, method).remote(*arguments, **named)

        super().__init__(name, recipe, call)


class RayBroker(Broker):
    """A broker that is an actor."""
