"""What all agents share: the scale, the prompts, and how a call is described."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from adjudge.core.ask import About, Quoted
from adjudge.core.segment import Subject
from adjudge.errors import UsageError
from adjudge.judges._prompts import Part, Prompts
from adjudge.judges._subject import TEXT_FILES

__all__ = ["FILES", "Form", "Moves", "Scale", "ScaleName", "Team", "notes_part"]

ScaleName = Literal["0-4", "0-100"]
Form = Literal["native", "xml"]
"""How tools are called: as the model's own tool calls, or in the paper's XML."""
Moves = Literal["paper", "code"]
"""How a comparison moves a score, see `comparison.py`."""

FILES: Final = (
    *("core.md", "rules_search.md", "rules_known.md", "rules_compare.md", "rules_anchors.md"),
    *("rules_finish.md", "native.md", "xml.md", "tools.jsonl", "errors.jsonl", "task.md", "memory.md"),
    *("anchors_there.md", "anchors_needed.md"),
    *("prepare.md", "rules_prepare_search.md", "rules_prepare_anchors.md", "source.md", "end_now.md"),
    *("result.md", "evaluate.md", "evaluate_json.md", "evaluate_task.md", "queries.md", "queries_task.md"),
    *("answer.md", "answer_task.md", "compare.md", "compare_task.md"),
    *("texts.md", "pair.md", "verdict_json.md", *TEXT_FILES),
)
"""Prompt files, beside that of the scale."""

_ERRORS: Final = frozenset(
    {"one_tool", "evaluate_first", "search_again", "search_failed", "evaluate_failed"}
    | {"compare_again", "compare_failed", "anchors_needed"}
)
"""What a turn can come to that has no result."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A scale of whole numbers, of which a comparison moves a score by a quarter at most.

    Args:
        high: best score; the worst is 0.
        protocol: of the annotations.
    """

    high: int
    protocol: str
    low: int = 0

    @property
    def step(self) -> float:
        """What a clear win is worth; a narrow one half of it."""
        return (self.high - self.low) / 4

    @property
    def low_anchor(self) -> float:
        """Score of the poor translation that the core agent writes."""
        return self.low + self.step

    @property
    def high_anchor(self) -> float:
        """Score of the excellent one."""
        return float(self.high)

    def clip(self, score: float) -> float:
        """The nearest score on the scale."""
        return min(max(score, float(self.low)), float(self.high))


@dataclass(frozen=True, kw_only=True)
class Team:
    """What the agents of one judge share.

    Args:
        prompts: with `FILES` and `scale.md`.
        scale: of scores.
        form: how tools are called.
        moves: how a comparison moves a score.
        is_constrained: whether answers are held to a schema where a model can be.
        has_search: whether there is a search engine and it is used.
        has_compare: whether translations are compared.
        language: of rationales, as prompts name it; empty for any.
        turns: of the core agent, before it is told to finish.

    Raises:
        UsageError: nothing is told in place of a result that a turn may lack.
    """

    prompts: Prompts
    scale: Scale
    form: Form
    moves: Moves
    is_constrained: bool
    has_search: bool
    has_compare: bool
    language: str
    turns: int

    def __post_init__(self) -> None:
        """Refuse words that would be missing in the middle of a judgement."""
        if missing := sorted(_ERRORS - self.errors.keys()):
            raise UsageError(f"errors.jsonl must have a line with error {missing[0]!r} and its text")

    def about(self, stage: str, subject: Subject, role: str, wants: str, **facts: object) -> About:
        """Which judgement a call serves; the facts are for the embedded rules."""
        scale = {"low": self.scale.low, "high": self.scale.high}
        return About(
            judge="rate", stage=stage, subject=subject, role=role, wants=wants, facts={**scale, **facts}
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """Agents that there are."""
        search = ("search",) if self.has_search else ()
        return "core", *search, "evaluation", *(("comparison",) if self.has_compare else ())

    def schema(self, schema: Mapping[str, object]) -> Mapping[str, object] | None:
        """A schema, where answers are held to one."""
        return schema if self.is_constrained else None

    @cached_property
    def descriptions(self) -> Mapping[tuple[str, str], str]:
        """What tools and their arguments are, by tool and argument; a tool itself has an empty one."""
        rows = _rows(self.prompts, "tools.jsonl", "tool")
        return {(row["tool"], row.get("argument", "")): row["text"] for row in rows}

    @cached_property
    def errors(self) -> Mapping[str, str]:
        """What the core agent is told instead of a result."""
        return {row["error"]: row["text"] for row in _rows(self.prompts, "errors.jsonl", "error")}


def notes_part(notes: str) -> Part:
    """Notes as an agent is shown them."""
    return Quoted("notes", notes) if notes.strip() else "(none)"


def _rows(prompts: Prompts, file: str, key: str) -> list[Any]:
    try:
        rows = [json.loads(line) for line in prompts.texts[file].splitlines() if line.strip()]
        if all(isinstance(row[key], str) and isinstance(row["text"], str) for row in rows):
            return rows
    except (KeyError, TypeError, ValueError):
        pass
    raise UsageError(f"every line of {file} must be a JSON object with {key} and text")
