"""A recorded store as a model: it answers what was answered before, and asks nobody."""

from __future__ import annotations

from adjudge.core.ask import Reply
from adjudge.data.calls import CallReader
from adjudge.errors import AnswerError, UsageError
from adjudge.llm.identity import Identity
from adjudge.llm.model import Request

__all__ = ["ReplayModel", "find_recorded"]


class ReplayModel:
    """One model of a recorded store; satisfies `llm.model.Model`."""

    def __init__(self, reader: CallReader, identity: Identity) -> None:
        self._reader = reader
        self._identity = identity

    @property
    def name(self) -> str:
        """The recorded model's name: its answers are its answers, whoever repeats them."""
        return self._identity.name

    def close(self) -> None:
        """Close the recorded store."""
        self._reader.close()

    async def reply(self, request: Request) -> Reply:
        """The recorded reply; see `llm.model.Model`."""
        reply = self._reader.find(request.key)
        if reply is None:
            raise AnswerError("missing", f"the recorded store {self._reader.path.name} has no such call")
        return reply


def find_recorded(reader: CallReader, name: str, effort: str | None = None) -> Identity:
    """The model of a store, by its name if there are several, and by its effort if that is given.

    Raises:
        UsageError: there is none of that name, or there are several and none is named.
    """
    recorded = (Identity(**row) for row in reader.models())
    known = {i.name: i for i in recorded if effort is None or i.effort == effort}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        names = ", ".join(known) or "none"
        wanted = f"no model {name!r}" if name else "several models or none"
        raise UsageError(f"{reader.path} has {wanted}; it has {names}: say replay:PATH#MODEL")
    return known[name]
