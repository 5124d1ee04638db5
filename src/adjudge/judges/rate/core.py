"""The core agent: a loop of turns in which it calls one tool after the other until it ends the work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from adjudge.core.ask import Ask, Message, Quoted, Reply, Tool
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._subject import judged_texts
from adjudge.judges.rate.actions import Action, make_tools, read_action
from adjudge.judges.rate.briefing import end_message, result_messages, system_message, task_message
from adjudge.judges.rate.comparison import compare
from adjudge.judges.rate.evaluation import Assessment, evaluate
from adjudge.judges.rate.memory import Anchor, Memory
from adjudge.judges.rate.searching import Searching
from adjudge.judges.rate.team import Team

__all__ = ["FAILED", "FORCED", "Core", "Ended", "State"]

FORCED: Final = "forced_finish"
"""Flag of a judgement whose turns were used up."""
FAILED: Final = "tool_failed"
"""Flag of a judgement on whose way a tool gave no usable answer."""
COMPARISON_FAILED: Final = "comparison_failed"
"""Flag of a judgement on whose way a comparison failed: its score may be another than a comparison would
leave."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What the loop knows after a turn.

    Args:
        memory: of the source.
        steps: the tool called in each turn.
        assessment: the last that succeeded.
        suggested: by the last comparison.
        compared: tentative scores that were compared.
        flags: for the annotation.
        error: why the last evaluation failed, where none succeeded.
    """

    memory: Memory
    steps: tuple[str, ...] = ()
    assessment: Assessment | None = None
    suggested: float | None = None
    compared: frozenset[int] = frozenset()
    flags: tuple[str, ...] = ()
    error: AnswerError | None = None

    @property
    def facts(self) -> Mapping[str, object]:
        """What the embedded rules decide by."""
        known = self.assessment
        return {
            "searched": bool(self.memory.notes or self.memory.failed),
            "score": None if known is None else known.score,
            "confidence": None if known is None else known.confidence,
            "suggested": self.suggested,
            "compared": bool(self.compared),
            "cold": not self.memory.has_synthetic,
            "frozen": self.memory.is_frozen,
            "known": "\n".join(note.answer for note in self.memory.notes) or self.memory.briefing,
        }


class Ended(NamedTuple):
    """How the work ended: with an action or with why there is none, and what is known then."""

    action: Action | AnswerError
    state: State


@dataclass(frozen=True, kw_only=True)
class Core:
    """The core agent at work on one translation, or on a source before any is seen.

    Args:
        team: of the judge.
        subject: one translation; for the preparation the source.
        ask: puts questions to models.
        search: the search agent, where it may be sent out.
        name: of what is worked on, for the trace: a system, or the preparation.
        is_preparing: whether this is the preparation.
    """

    team: Team
    subject: Subject
    ask: Ask
    search: Searching | None
    name: str
    is_preparing: bool = False

    async def work(self, memory: Memory) -> Ended:
        """Take turns until the work is ended, or the turns are used up and one reply must end it."""
        state = State(memory=memory)
        tools = self._tools()
        system = system_message(
            self.team, self.subject.lp, tools, is_preparing=self.is_preparing, is_frozen=memory.is_frozen
        )
        task = task_message(self.team, self.subject, memory, is_preparing=self.is_preparing)
        messages = [system, task]
        try:
            while len(state.steps) < self.team.turns:
                action, reply = await self._act(messages, state, tools)
                state = replace(state, steps=(*state.steps, action.tool))
                if action.tool == self._end and self._may_end(state):
                    return Ended(action, state)
                result, state = await self._carry_out(action, state)
                messages += result_messages(self.team, action, reply, result)
            return await self._end_now(messages, state, tools)
        except AnswerError as error:
            return Ended(error, state)

    async def _end_now(self, messages: Sequence[Message], state: State, tools: Sequence[Tool]) -> Ended:
        """After the last turn: nothing can be called but the tool that ends the work."""
        if not self._may_end(state):
            raise state.error or AnswerError("no_answer", f"no evaluation within {self.team.turns} turns")
        last = [tool for tool in tools if tool.name == self._end]
        action, _ = await self._act([*messages, end_message(self.team, self._end)], state, last)
        return Ended(action, replace(state, steps=(*state.steps, action.tool), flags=_with(state, FORCED)))

    async def _act(
        self, messages: Sequence[Message], state: State, tools: Sequence[Tool]
    ) -> tuple[Action, Reply]:
        """One reply of the model, with one action in it."""
        team = self.team
        is_native = team.form == "native"
        offered = [tool.name for tool in tools]
        facts = {"tools": offered, "form": team.form, "anchors": team.has_compare, **state.facts}
        stage = f"{self.name}: turn {len(state.steps) + 1}"
        judged = judged_texts(self.subject)
        answer = await self.ask(
            messages,
            about=team.about(stage, self.subject, "core", "action", **facts),
            read=partial(read_action, tools=tools, scale=team.scale, is_native=is_native, judged=judged),
            tools=tools if is_native else (),
        )
        return answer.value, answer.reply

    @property
    def _end(self) -> str:
        return "prepare" if self.is_preparing else "finish"

    def _may_end(self, state: State) -> bool:
        """A score needs an evaluation that succeeded."""
        return self.is_preparing or state.assessment is not None

    def _tools(self) -> tuple[Tool, ...]:
        names = ["search"] if self.search is not None else []
        if not self.is_preparing:
            names += ["evaluate", *(["compare"] if self.team.has_compare else [])]
        return make_tools(self.team, [*names, self._end], with_anchors=self.team.has_compare)

    # One turn...

    async def _carry_out(self, action: Action, state: State) -> tuple[Quoted | str, State]:
        """The result of a tool, or why there is none; a failure stays within its turn."""
        stage = f"{self.name}: turn {len(state.steps)}"
        if action.tool == "search":
            return await self._search(action, state, stage)
        if action.tool == "compare":
            return await self._compare(action, state, stage)
        if action.tool == "evaluate":
            return await self._evaluate(action, state, stage)
        return self.team.errors["evaluate_first"], state

    async def _search(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
        """What is known already is told again; what is not is looked up."""
        question, memory = action.text("query"), state.memory
        note = memory.find(question)
        if memory.has_failed(question) or self.search is None:
            return self.team.errors["search_again"], state
        if note is None:
            nothing = replace(state, memory=memory.with_failed(question))
            try:
                note = await self.search.find_out(question, stage)
            except AnswerError:
                return self._failed("search", nothing)
            if note is None:
                return self.team.errors["search_failed"], nothing
            state = replace(state, memory=memory.with_note(note))
        return Quoted("result", json.dumps(vars(note), ensure_ascii=False)), state

    async def _evaluate(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
        notes, instruction = action.text("context_notes"), action.text("instruction")
        try:
            found = await evaluate(
                self.team, self.subject, self.ask, stage, notes=notes, instruction=instruction
            )
        except AnswerError as error:
            return self._failed("evaluate", replace(state, error=error))
        return (
            Quoted("result", found.render()),
            replace(state, assessment=found, flags=_with(state, *found.flags), error=None),
        )

    async def _compare(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
        tentative: int = action.arguments["tentative_score"]
        if tentative in state.compared:
            return self.team.errors["compare_again"], state
        memory = self._with_anchors(action, state.memory)
        anchor = memory.nearest(tentative) if memory.has_synthetic else None
        if anchor is None:
            return self.team.errors["anchors_needed"], state
        state = replace(state, memory=memory, compared=state.compared | {tentative})
        notes = action.text("context_notes")
        try:
            found = await compare(
                self.team, self.subject, self.ask, stage, anchor=anchor, tentative=tentative, notes=notes
            )
        except AnswerError as error:
            why = f"{COMPARISON_FAILED}@{error.reason}"
            told, failed = self._failed("compare", state)
            return told, replace(failed, flags=_with(failed, COMPARISON_FAILED, why))
        flags = _with(state, *found.flags)
        return Quoted("result", found.render()), replace(state, suggested=found.suggested, flags=flags)

    def _with_anchors(self, action: Action, memory: Memory) -> Memory:
        """Anchors that the core agent wrote are taken once for a source."""
        low, high = action.text("low_anchor"), action.text("high_anchor")
        if memory.has_synthetic or not (low and high):
            return memory
        scale = self.team.scale
        return memory.with_synthetic(
            Anchor(score=scale.low_anchor, text=low), Anchor(score=scale.high_anchor, text=high)
        )

    def _failed(self, tool: str, state: State) -> tuple[str, State]:
        """What the core agent is told is the same for every reason, so that a store repeats the run."""
        return self.team.errors[f"{tool}_failed"], replace(state, flags=_with(state, FAILED))


def _with(state: State, *flags: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*state.flags, *flags)))
