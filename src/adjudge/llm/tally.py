"""What a session has asked so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from adjudge.core.ask import Reply, Usage
from adjudge.errors import AnswerError

__all__ = ["Tally"]


@dataclass
class Tally:
    """What one session has done so far.

    Args:
        asked: calls put to a model.
        from_store: calls that were answered before.
        usage: tokens of the calls that were asked.
        served: replies by the name that the server gave itself, where it is not the name asked for.
        roles: roles that asked.
        searched: queries that were put to a search engine.
        unfound: queries that a unit of work needed and has no results of, by the reason.
        first_unfound: the detail of the first of them.
    """

    asked: int = 0
    from_store: int = 0
    usage: Usage = field(default_factory=Usage)
    served: Counter[str] = field(default_factory=Counter)
    roles: set[str] = field(default_factory=set)
    searched: int = 0
    unfound: Counter[str] = field(default_factory=Counter)
    first_unfound: str = ""

    def add(self, reply: Reply) -> None:
        """Count an answer that was paid."""
        self.asked += 1
        self.usage += reply.usage

    def add_unfound(self, error: AnswerError) -> None:
        """Count a query whose judge goes on without results."""
        self.first_unfound = self.first_unfound or error.detail
        self.unfound[error.reason] += 1
