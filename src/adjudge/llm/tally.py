"""What a session has asked so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from adjudge.core.ask import Reply, Usage
from adjudge.errors import AnswerError

__all__ = ["Tally", "Trail"]


class Trail(NamedTuple):
    """What one unit of work asked.

    Args:
        calls: of models and search engines, those that brought nothing included.
        answered: calls of models that brought an answer, stored or paid.
        roles: that asked a model.
        served: names that servers gave themselves, where they are not the names asked for.
        unfound: whether it went on without the results of a query.
    """

    calls: int = 0
    answered: int = 0
    roles: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    unfound: bool = False


@dataclass
class Tally:
    """What one session has done so far.

    Args:
        asked: calls put to a model.
        from_store: calls that were answered before.
        usage: tokens of the calls that were asked.
        served: names that servers gave themselves, where they are not the names asked for.
        roles: roles that asked.
        searched: queries that were put to a search engine.
        unfound: queries that a unit of work needed and has no results of, by the reason.
        first_unfound: the detail of the first of them.
        masked: stored answers with a mark in place of a key that their question does not have.
    """

    asked: int = 0
    from_store: int = 0
    usage: Usage = field(default_factory=Usage)
    served: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    searched: int = 0
    unfound: Counter[str] = field(default_factory=Counter)
    first_unfound: str = ""
    masked: int = 0

    def add(self, reply: Reply) -> None:
        """Count an answer that was paid."""
        self.asked += 1
        self.usage += reply.usage

    def add_trail(self, trail: Trail) -> None:
        """Remember who asked and who answered for one unit of work."""
        self.roles.update(trail.roles)
        self.served.update(trail.served)

    def add_unfound(self, error: AnswerError) -> None:
        """Count a query whose judge goes on without results."""
        self.first_unfound = self.first_unfound or error.detail
        self.unfound[error.reason] += 1
