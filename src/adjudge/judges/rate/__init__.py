"""
RATE: a core agent that searches, evaluates and compares until it trusts a score, for all systems of a source.

Paper    Tian et al., Beyond Literal Mapping: Benchmarking and Improving Non-Literal Translation Evaluation
Code     BITHLP/RATE, agentic/ (core_agent.py, comparison_agent.py, utils.py)
Prompt   prompts/rate, in our own words; tools, rules and scale are those of the paper's figures 15 to 20
Differs  1. Tools are the model's own tool calls where it has them, with the reasoning as their first argument
            (recommended); profiles paper and code use the paper's XML form, as does a model without tools,
            and one whose server refuses them (the run says so, and each record: `tools_in_xml`).
            An XML call must be the only one, at the end, and not stand in a judged text; the code takes the
            first one anywhere. Of several native calls the first is carried out, the others are told so.
         2. Texts are no arguments: tools know source and translation, so that no agent can alter them, and
            everything that an agent is shown and others wrote is quoted data. Notes, instruction and memory
            stand before source and translation (recommended); behind them, as in the paper's evaluation, in
            profiles paper and code. Context and glossary are shown where the user gives them.
         3. The order of systems is drawn (recommended) with order_seed, which the signature names; profiles
            paper and code judge in the order given. With anchors=frozen (ours) a preparation searches and
            writes both anchors from the source alone, and is only read after: scores then depend neither on
            the order of systems nor on which of them are there.
         4. A score needs an evaluation that succeeded: finishing before is refused, and without one the
            judgement has failed. After ten turns one reply must finish, as in the paper; then it has failed.
            A final score that is further than a step of the scale from all scores of its evaluations and
            comparisons is flagged `score_mismatch`; it stays the core agent's.
         5. A reply that is no action uses up its turn, as in the code, and the agent is shown what is wrong
            in it. Arguments that a tool does not take are ignored, as in the code (`arguments_ignored`). If a
            model declines, or its reply was cut, there is no judgement. A tool that fails (no reply, an
            unreadable one, an engine that is away) is an error result of its turn, flagged `tool_failed`; the
            paper names it as its limitation that the evaluation starts anew.
            The result is the same whatever the reason, so that a stored run repeats.
         6. A comparison that is refused or cannot be read is such a failure and leaves the score as it is,
            flagged `comparison_failed` and, with the reason, `comparison_failed@refused`; the code takes it
            for a tie, which moves the score. Moves are the paper's from the tentative score, but losing to an
            anchor with a higher score leaves it as it is, as winning over one with a lower score does (moves
            guarded; ours, after the code, which so keeps a 3 that loses to an ideal 4). Profile paper has the
            paper's (moves=paper). Profile code moves from the anchor's score, and only from its wrong side
            (moves=code). Of two anchors equally near the lower one is taken. An anchor that is the same
            text is equal, and nobody is asked, flagged `identical`.
         7. The rules that can be kept are kept, not only told: a query is put once for a source, a score
            compared once, synthetic anchors are taken with the first comparison of a source and fill the
            scores that no finished translation has. The code tells the model, and believes it.
         8. Without a search engine the tool is not offered, and the signature says search:none; profiles
            paper and code then want without=search to be said. At most three queries a search; where
            nothing is found no model is asked to sum it up. The agent that writes the queries is shown the
            source, and the agent that compares the notes that the core agent passes on; the authors send the
            query alone, and the whole memory.
         9. scale=0-100 puts the same scale in hundredths: a step of a comparison is 25. Scores are the core
            agent's, halves and all; wrong spans inform it and stay in the trace, for they have no severity.
        10. without=search, compare or both are the paper's ablations. A failed system does not fail others.
            Systems with the same translation are judged once; the code judges each, and may score it twice.
            The evaluation and comparison agents write reasons before score and winner, the paper's behind.
        11. An answer is the whole reply, or stands in a known wrapper (`extracted`). Words beside it, or in a
            field that nobody asked for, are asked about in the recommended profile. In the others the code's
            rule reads evaluations and comparisons (flag `authors_reader`): the first fence "json", whatever
            stands around it, without the fields that nobody asked for.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final, Literal

from adjudge.core.ask import NO_ENGINE, Ask, Message, Quoted, Reply, SearchEngine, Tool
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.language import language_name
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, NoToolsError, UsageError
from adjudge.judges._prompts import Prompted, Prompts, judged_texts, load_prompts
from adjudge.judges.rate.agents import (
    FILES,
    Action,
    Anchor,
    Assessment,
    Form,
    Memory,
    Moves,
    Scale,
    ScaleName,
    Searching,
    Team,
    WrongCallError,
    compare,
    end_message,
    evaluate,
    make_tools,
    read_action,
    result_messages,
    system_message,
    task_message,
)

__all__ = ["Rate"]


FAILED: Final = "tool_failed"
"""Flag of a judgement on whose way a tool gave no usable answer."""
COMPARISON_FAILED: Final = "comparison_failed"
"""Flag of a judgement on whose way a comparison failed, which might have moved its score."""


_UNUSABLE: Final = frozenset(
    {"ambiguous", "count", "empty", "label", "no_answer", "parse", "range", "schema"}
)
"""Reasons for which a reply is no action, so that the agent may take another turn."""


@frozen
class State:
    """What the loop knows after a turn."""

    memory: Memory
    steps: tuple[str, ...] = ()  # the tool called in each turn
    assessment: Assessment | None = None  # the last that succeeded
    suggested: float | None = None  # by the last comparison
    compared: frozenset[int] = frozenset()  # tentative scores that were compared
    flags: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()  # of evaluations and comparisons
    error: AnswerError | None = None  # why the last evaluation failed, where none succeeded

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


Ended = tuple[Action | AnswerError, State]
"""How the work ended: with an action or with why there is none, and what is known then."""


@frozen
class Core:
    """The core agent at work on one translation, or on a source before any is seen."""

    team: Team
    subject: Subject  # one translation; for the preparation the source
    ask: Ask  # puts questions to models
    search: Searching | None  # the search agent, where it may be sent out
    name: str  # of what is worked on, for the trace: a system, or the preparation
    is_preparing: bool = False

    async def work(self, memory: Memory) -> Ended:
        """Take turns until the work is ended, or the turns are used up and one reply must end it."""
        state = State(memory=memory)
        names = ["search"] if self.search is not None else []
        if not self.is_preparing:
            names += ["evaluate", *(["compare"] if self.team.has_compare else [])]
        tools = make_tools(self.team, [*names, self._end], with_anchors=self.team.has_compare)
        system = system_message(
            self.team, self.subject.lp, tools, is_preparing=self.is_preparing, is_frozen=memory.is_frozen
        )
        task = task_message(self.team, self.subject, memory, is_preparing=self.is_preparing)
        messages = [system, task]
        try:
            while len(state.steps) < self.team.turns:
                try:
                    action, reply = await self._act(messages, state, tools, attempts=1)
                except AnswerError as error:
                    if error.reason not in _UNUSABLE:
                        raise
                    state = replace(
                        state,
                        steps=(*state.steps, "unusable"),
                        flags=_with(state, FAILED),
                        error=None if self._may_end(state) else error,
                    )
                    told = self.team.errors["unusable"]
                    if isinstance(error, WrongCallError):
                        problem = Quoted("problem", error.detail)
                        messages += result_messages(self.team, error.reply, f"{told}\n", problem)
                    else:
                        messages.append(Message("user", (told,)))
                    continue
                state = replace(state, steps=(*state.steps, action.tool), flags=_with(state, *action.flags))
                if action.tool == self._end and self._may_end(state):
                    return action, state
                result, state = await self._carry_out(action, state)
                messages += result_messages(self.team, reply, result, tool=action.tool)
            if not self._may_end(state):
                raise state.error or AnswerError("no_answer", f"no evaluation within {self.team.turns} turns")
            last = [tool for tool in tools if tool.name == self._end]
            action, _ = await self._act([*messages, end_message(self.team, self._end)], state, last)
            flags = _with(state, "forced_finish", *action.flags)
            return action, replace(state, steps=(*state.steps, action.tool), flags=flags)
        except NoToolsError:
            raise
        except AnswerError as error:
            return error, state

    async def _act(
        self, messages: Sequence[Message], state: State, tools: Sequence[Tool], *, attempts: int = 2
    ) -> tuple[Action, Reply]:
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
            attempts=attempts,
            tools=tools if is_native else (),
        )
        return answer.value, answer.reply

    @property
    def _end(self) -> str:
        return "prepare" if self.is_preparing else "finish"

    def _may_end(self, state: State) -> bool:
        return self.is_preparing or state.assessment is not None

    # One turn...

    async def _carry_out(self, action: Action, state: State) -> tuple[Quoted | str, State]:
        """The result of a tool, or why there is none; a failure stays within its turn."""
        tools = {"search": self._search, "compare": self._compare, "evaluate": self._evaluate}
        if action.tool not in tools:
            return self.team.errors["evaluate_first"], state
        return await tools[action.tool](action, state, f"{self.name}: turn {len(state.steps)}")

    async def _search(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
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
        return Quoted("result", json.dumps(vars(note), ensure_ascii=False), is_json=True), state

    async def _evaluate(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
        notes, instruction = action.text("context_notes"), action.text("instruction")
        try:
            found = await evaluate(
                self.team, self.subject, self.ask, stage, notes=notes, instruction=instruction
            )
        except AnswerError as error:
            return self._failed("evaluate", replace(state, error=error))
        return (
            Quoted("result", found.render(), is_json=True),
            replace(
                state,
                assessment=found,
                flags=_with(state, *found.flags),
                scores=(*state.scores, found.score),
                error=None,
            ),
        )

    async def _compare(self, action: Action, state: State, stage: str) -> tuple[Quoted | str, State]:
        tentative: int = action.arguments["tentative_score"]
        if tentative in state.compared:
            return self.team.errors["compare_again"], state
        memory, scale = state.memory, self.team.scale
        low, high = action.text("low_anchor"), action.text("high_anchor")
        if low and high and not memory.has_synthetic:  # the core agent writes them once for a source
            memory = memory.with_synthetic(
                Anchor(score=scale.low_anchor, text=low), Anchor(score=scale.high_anchor, text=high)
            )
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
        return Quoted("result", found.render(), is_json=True), replace(
            state, suggested=found.suggested, flags=flags, scores=(*state.scores, found.suggested)
        )

    def _failed(self, tool: str, state: State) -> tuple[str, State]:
        """What the core agent is told is the same for every reason, so that a store repeats the run."""
        return self.team.errors[f"{tool}_failed"], replace(state, flags=_with(state, FAILED))


def _with(state: State, *flags: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*state.flags, *flags)))


_SCALES: Final = {"0-4": Scale(high=4, protocol="sqm"), "0-100": Scale(high=100, protocol="da-sqm")}

Order = Literal["given", "random"]
Tools = Literal["auto", "native", "xml"]


@frozen
class Rate(Prompted):
    """A core agent over search, evaluation and comparison, for all systems of a source."""

    name: ClassVar[str] = "rate"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    search: str = NO_ENGINE
    order: Order | None = None
    order_seed: int = 0
    anchors: Literal["growing", "frozen"] = "growing"
    without: Literal["none", "search", "compare", "both"] = "none"
    moves: Moves | None = None
    tools: Tools | None = None
    scale: ScaleName = "0-4"
    turns: int = 10
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.turns < 2:
            raise UsageError(f"turns must be 2 or more, got {self.turns}: to evaluate and to finish")
        if self.search != NO_ENGINE and self.without in {"search", "both"}:
            raise UsageError(f"--search {self.search} and --without {self.without} contradict each other")
        if self._order == "given" and (self.order_seed or self.order == "random"):
            raise UsageError("order given or anchors frozen, and a drawn order, contradict each other")
        if self.moves is not None and not self._team.has_compare:
            raise UsageError(f"--moves {self.moves} and --without {self.without} contradict each other")

    async def annotate_all(
        self, subject: Subject, ask: Ask, engine: SearchEngine | None = None
    ) -> Sequence[Annotation | AnswerError]:
        """Judge the systems of a source one after the other, each with what the ones before left behind.

        Systems with the same translation get the judgement of the first of them. A server that takes no tools
        is asked in the XML form, which their flags say, since the signature was made before.
        """
        try:
            return await self._judge_all(subject, ask, engine)
        except NoToolsError:
            if self._form == "xml":
                raise
            found = await replace(self, tools="xml").annotate_all(subject, ask, engine)
        return [
            one if isinstance(one, AnswerError) else replace(one, flags=(*one.flags, "tools_in_xml"))
            for one in found
        ]

    async def _judge_all(
        self, subject: Subject, ask: Ask, engine: SearchEngine | None
    ) -> Sequence[Annotation | AnswerError]:
        searching = None
        if engine is not None and self._team.has_search:
            searching = Searching(team=self._team, subject=subject, ask=ask, engine=engine)
        found: dict[str, Annotation | AnswerError] = {}
        if self.anchors == "frozen":
            memory = await self.prepare(subject, ask, searching)
            firsts = {subject.segment.translations[system]: system for system in reversed(subject.systems)}
            judged = await asyncio.gather(
                *(self.judge(subject.of(system), memory, ask, None) for system in firsts.values())
            )
            outcomes = [outcome for outcome, _ in judged]
            found.update(zip(firsts, outcomes, strict=True))
        else:
            memory = Memory()
            for system in self.ordered(subject):
                text = subject.segment.translations[system]
                if text not in found:
                    found[text], memory = await self.judge(subject.of(system), memory, ask, searching)
        return [
            outcome if isinstance(outcome, AnswerError) else replace(outcome, system=system)
            for system in subject.systems
            for outcome in [found[subject.segment.translations[system]]]
        ]

    async def prepare(self, subject: Subject, ask: Ask, searching: Searching | None) -> Memory:
        """What is known of a source before any translation is seen, and only read from then on.

        Raises:
            AnswerError: the preparation did not come to its end.
        """
        team, memory = self._team, Memory()
        if team.has_search or team.has_compare:
            core = Core(
                team=team, subject=subject, ask=ask, search=searching, name="preparation", is_preparing=True
            )
            action, state = await core.work(memory)
            if isinstance(action, AnswerError):
                raise action
            memory = replace(state.memory, briefing=action.text("context_notes"))
            if team.has_compare:
                memory = memory.with_synthetic(
                    Anchor(score=team.scale.low_anchor, text=action.text("low_anchor")),
                    Anchor(score=team.scale.high_anchor, text=action.text("high_anchor")),
                )
        return replace(memory, is_frozen=True)

    async def judge(
        self, subject: Subject, memory: Memory, ask: Ask, searching: Searching | None
    ) -> tuple[Annotation | AnswerError, Memory]:
        """Judge one translation; what became known, and itself as an anchor, go into the memory."""
        core = Core(team=self._team, subject=subject, ask=ask, search=searching, name=subject.system)
        action, state = await core.work(memory)
        if isinstance(action, AnswerError):
            return action, state.memory
        score: float = action.arguments["score"]
        if min(abs(score - one) for one in state.scores) > self._team.scale.step:
            state = replace(state, flags=_with(state, "score_mismatch"))
        annotation = annotation_of(
            self,
            subject,
            rating=score,
            rationale=action.text("rationale"),
            flags=state.flags,
            steps=state.steps,
        )
        return annotation, state.memory.with_anchor(Anchor(score=score, text=subject.translation))

    def ordered(self, subject: Subject) -> tuple[str, ...]:
        """The systems as they are judged; a drawn order keeps two systems so whoever else is there."""
        if self._order == "given":
            return subject.systems
        place = f"{self.order_seed}/{subject.lp}/{subject.segment.segment}"
        return tuple(sorted(subject.systems, key=lambda name: random.Random(f"{place}/{name}").random()))

    @property
    def _order(self) -> Order:
        if self.anchors == "frozen":
            return "given"
        return self.order or ("random" if self.profile == "recommended" else "given")

    def fitted(self, *, search: str, takes_tools: bool) -> Rate:
        """With the engine as it was opened, and the form of tool calls that the model can do."""
        if self.tools == "native" and not takes_tools:
            raise UsageError("--tools native: the model of role core takes no tools; say --tools xml")
        if search == NO_ENGINE and self.profile != "recommended" and self.without not in {"search", "both"}:
            raise UsageError(
                f"rate --profile {self.profile} searches: name an engine with --search, or say --without "
                "search for the ablation of the paper's table 4"
            )
        form: Tools = self._form if takes_tools or self.tools == "xml" else "xml"
        return replace(self, search=search, tools=form)

    @property
    def _form(self) -> Form:
        wanted = self.tools or ("native" if self.profile == "recommended" else "xml")
        return "xml" if wanted == "xml" else "native"

    @property
    def roles(self) -> tuple[str, ...]:
        """Agents that it can ask under its settings."""
        return self._team.roles

    @property
    def said(self) -> tuple[str, ...]:
        """Settings that the signature always names."""
        return ("search", "order_seed") if self._order == "random" else ("search",)

    @property
    def protocol(self) -> str:
        """By the scale."""
        return _SCALES[self.scale].protocol

    @property
    def calls(self) -> Calls:
        """For a source with one translation."""
        return self._calls_for(1)

    def calls_for(self, subject: Subject) -> Calls:
        """For the different translations of a source; queries to the engine are no calls."""
        return self._calls_for(len({subject.segment.translations[system] for system in subject.systems}))

    def _calls_for(self, systems: int) -> Calls:
        searches, compares = self._team.has_search, self._team.has_compare
        if self.anchors == "growing":
            each = self._calls(searches=searches, compares=compares)
            return Calls(*(systems * count for count in each))
        each = self._calls(searches=False, compares=compares)
        ahead = Calls(1, 4, 3 * self.turns + 1) if searches else Calls(*[int(compares)] * 3)
        return Calls(*(first + systems * count for first, count in zip(ahead, each, strict=True)))

    def _calls(self, *, searches: bool, compares: bool) -> Calls:
        """For one translation: a turn is one call and those of its tool, two for a search or a comparison.

        One turn at least evaluates, and no score is compared twice.
        """
        scores = self._team.scale.high + 1 if compares else 0
        dear = self.turns - 1 if searches else min(self.turns - 1, scores)
        return Calls(3, 3 + 3 * searches + 3 * compares, 2 * self.turns + 1 + dear)

    @cached_property
    def _team(self) -> Team:
        usual: Mapping[Profile, Moves] = {"recommended": "guarded", "paper": "paper", "code": "code"}
        return Team(
            prompts=self._files,
            scale=_SCALES[self.scale],
            form=self._form,
            moves=self.moves or usual[self.profile],
            is_constrained=self.profile == "recommended",
            has_search=self.search != NO_ENGINE and self.without not in {"search", "both"},
            has_compare=self.without not in {"compare", "both"},
            language="" if self.explain_in is None else f" in {language_name(self.explain_in)}",
            turns=self.turns,
            texts_last=self.profile == "recommended",
        )

    @cached_property
    def _files(self) -> Prompts:
        scale = "scale_4.md" if self.scale == "0-4" else "scale_100.md"
        files = load_prompts("rate", (*FILES, scale), self.prompts)
        return Prompts(texts={**files.texts, "scale.md": files.texts[scale]})
