"""A recorded store as a model: it answers what was answered before, and asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

from adjudge.core.ask import Reply
from adjudge.data.calls import CallReader, find_store
from adjudge.errors import AnswerError, UsageError
from adjudge.llm.identity import Identity
from adjudge.llm.model import Request
from adjudge.llm.search_results import is_search

__all__ = ["ReplayModel", "open_recorded"]

Kind = Literal["model", "search engine"]
_FORMS: Final[Mapping[Kind, str]] = {
    "model": "replay:PATH#MODEL",
    "search engine": "recorded:PATH#ENGINE, without search/",
}


class ReplayModel:
    """One model of a recorded store, which it opens once it is asked; satisfies `llm.model.Model`."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self._path = path
        self._identity = identity
        self._reader: CallReader | None = None

    @property
    def name(self) -> str:
        """The recorded model's name: its answers are its answers, whoever repeats them."""
        return self._identity.name

    def close(self) -> None:
        """Close the recorded store."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    async def reply(self, request: Request) -> Reply:
        """The recorded reply; see `llm.model.Model`."""
        if self._reader is None:
            self._reader = CallReader(self._path)
        reply = self._reader.find(request.key)
        if reply is None:
            raise AnswerError("missing", f"the recorded store {self._path.name} has no such call")
        return reply


def open_recorded(
    path: Path, name: str, effort: str | None = None, *, kind: Kind = "model"
) -> tuple[Identity, ReplayModel]:
    """Find the model or search engine of a store or run, by its name if there are several, and by its effort.

    Raises:
        DataError: the run cannot be read.
        StoreError: there is no store.
        UsageError: there is none of that name, or there are several and none is named.
    """
    store = find_store(path)
    with closing(CallReader(store)) as reader:
        identity = _find(reader, name, effort, kind)
    return identity, ReplayModel(store, identity)


def _find(reader: CallReader, name: str, effort: str | None, kind: Kind) -> Identity:
    recorded = (Identity(**row) for row in reader.models())
    ours = [i for i in recorded if is_search(i.name) == (kind == "search engine")]
    known = {i.name: i for i in ours if effort is None or i.effort == effort}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        names = ", ".join(known) or "none"
        wanted = f"no {kind} {name!r}" if name else f"several {kind}s or none"
        raise UsageError(f"{reader.path} has {wanted}; it has {names}: say {_FORMS[kind]}")
    return known[name]
