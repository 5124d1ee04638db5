"""Stands in for Ray: actors are objects of this process, their methods tasks of its event loop."""

import asyncio
from collections.abc import Callable
from typing import Any


class RayError(Exception):
    """As `ray.exceptions.RayError`."""


class RayActorError(RayError):
    """As `ray.exceptions.RayActorError`."""


class Method:
    """`actor.method`, whose `remote(...)` can be awaited."""

    def __init__(self, actor: "Actor", name: str) -> None:
        self.actor = actor
        self.name = name

    def remote(self, *arguments: Any, **named: Any) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self.actor._carry_out(self.name, arguments, named))


class Actor:
    """A handle; kill it, and whatever it works on is lost without a word."""

    def __init__(self, thing: Any, dies: Callable[[Any, str], bool]) -> None:
        self._thing = thing
        self._dies = dies
        self._tasks: set[asyncio.Task[Any]] = set()
        self.is_dead = False

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)

    async def _carry_out(self, name: str, arguments: Any, named: Any) -> Any:
        if self.is_dead:
            raise RayActorError("it is dead")
        task = asyncio.ensure_future(getattr(self._thing, name)(*arguments, **named))
        self._tasks.add(task)
        if self._dies(self._thing, name):
            asyncio.get_running_loop().call_later(0.05, self.kill)
        try:
            found = await asyncio.shield(task)
        except asyncio.CancelledError:
            if self.is_dead:
                raise RayActorError("it died") from None
            raise
        finally:
            self._tasks.discard(task)
        if self.is_dead:
            raise RayActorError("it died")
        return found

    def kill(self) -> None:
        self.is_dead = True
        for task in [*self._tasks, *getattr(self._thing, "_tasks", ())]:
            task.cancel()


class FakeRay:
    """The part of Ray that the engine uses.

    Args:
        cpus: of the cluster.
        dies: whether an actor shall die when this method of it is called.
    """

    class exceptions:  # noqa: N801 (as in Ray)
        RayError = RayError
        RayActorError = RayActorError

    def __init__(self, cpus: int = 2, dies: Callable[[Any, str], bool] = lambda thing, name: False) -> None:
        self.cpus = cpus
        self.dies = dies
        self.actors: list[Actor] = []
        self.has_begun = True
        self.inits: list[dict[str, Any]] = []

    def is_initialized(self) -> bool:
        return self.has_begun

    def init(self, **options: Any) -> None:
        self.inits.append(options)
        if options["address"] == "nowhere:6379":
            raise ConnectionError("nobody there")
        self.has_begun = True

    def shutdown(self) -> None:
        self.has_begun = False

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def remote(self, **_: Any) -> Callable[[Callable[..., Any]], Any]:
        def decorate(kind: Callable[..., Any]) -> Any:
            return _Kind(self, kind)

        return decorate

    def kill(self, actor: Actor) -> None:
        actor.kill()


class _Kind:
    def __init__(self, ray: FakeRay, kind: Callable[..., Any]) -> None:
        self.ray = ray
        self.kind = kind

    def remote(self, *arguments: Any) -> Actor:
        actor = Actor(self.kind(*arguments), self.ray.dies)
        self.ray.actors.append(actor)
        return actor
