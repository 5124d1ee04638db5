"""
RATE: a core agent that searches, evaluates and compares until it trusts a score, for all systems of a source.

Paper    Tian et al., Beyond Literal Mapping: Benchmarking and Improving Non-Literal Translation Evaluation
Code     BITHLP/RATE, agentic/ (core_agent.py, comparison_agent.py, utils.py)
Prompt   prompts/rate, in our own words; tools, rules and scale are those of the paper's figures 15 to 20
Differs  1. Tools are the model's own tool calls where it has them, with the reasoning as their first argument
            (recommended); profiles paper and code use the paper's XML form, as does a model without tools.
            An XML call must be the only one, at the end, and not stand in a judged text; the code takes the
            first one anywhere. Of several native calls the first is carried out, the others are told so.
         2. Texts are no arguments: tools know source and translation, so that no agent can alter them, and
            everything that an agent is shown and others wrote is quoted data.
         3. The order of systems is drawn (recommended) with order_seed, which the signature names; profiles
            paper and code judge in the order given. With anchors=frozen (ours) a preparation searches and
            writes both anchors from the source alone, and is only read after: scores then depend neither on
            the order of systems nor on which of them are there.
         4. A score needs an evaluation that succeeded: finishing before is refused, and without one the
            judgement has failed. After ten turns one reply must finish, as in the paper; then it has failed.
         5. A tool that fails (no reply, an unreadable one, an engine that is away) is an error result of its
            turn, flagged `tool_failed`; the paper names it as its limitation that the evaluation starts anew.
            The result is the same whatever the reason, so that a stored run repeats.
         6. A comparison that is refused or cannot be read is such a failure and leaves the score as it is,
            flagged `comparison_failed` and, with the reason, `comparison_failed@refused`; the code takes it
            for a tie, which moves the score. Moves are the paper's from the tentative score; moves=code
            (profile code) are from the anchor's score, and only from its wrong side. Of two
            anchors equally near the lower one is taken.
         7. The rules that can be kept are kept, not only told: a query is put once for a source, a score
            compared once, synthetic anchors are taken with the first comparison of a source and fill the
            scores that no finished translation has. The code tells the model, and believes it.
         8. Without a search engine the tool is not offered, and the signature says search:none. At most
            three queries a search; where nothing is found no model is asked to sum it up.
         9. scale=0-100 puts the same scale in hundredths: a step of a comparison is 25. Scores are the core
            agent's, halves and all; wrong spans inform it and stay in the trace, for they have no severity.
        10. without=search, compare or both are the paper's ablations. A failed system does not fail others.
        11. An answer is the whole reply, or stands in a known wrapper (`extracted`); sentences without a
            number may follow an evaluation behind a line break, unless its score is an end of the scale.
            Fields that nobody asked for are dropped, unless one of them is another number or declines.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, Literal

from adjudge.core.annotation import Annotation
from adjudge.core.ask import Ask
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.language import language_name
from adjudge.core.search import NO_ENGINE, SearchEngine
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._prompts import Prompts, load_prompts
from adjudge.judges.rate.core import Core
from adjudge.judges.rate.memory import Anchor, Memory
from adjudge.judges.rate.searching import Searching
from adjudge.judges.rate.team import FILES, Form, Moves, Scale, ScaleName, Team

__all__ = ["Rate"]

_SCALES: Final = {"0-4": Scale(high=4, protocol="sqm"), "0-100": Scale(high=100, protocol="da-sqm")}
_PREPARATION: Final = "preparation"

Order = Literal["given", "random"]
Tools = Literal["auto", "native", "xml"]


@dataclass(frozen=True, kw_only=True)
class Rate:
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
        """Refuse fewer than two turns, and settings that do nothing beside others."""
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
        """Judge the systems of a source one after the other, each with what the ones before left behind."""
        searching = None
        if engine is not None and self._team.has_search:
            searching = Searching(team=self._team, subject=subject, ask=ask, engine=engine)
        if self.anchors == "frozen":
            memory = await self.prepare(subject, ask, searching)
            return await asyncio.gather(
                *(self._judge_apart(subject.of(s), ask, memory) for s in subject.systems)
            )
        memory, found = Memory(), {}
        for system in self.ordered(subject):
            found[system], memory = await self.judge(subject.of(system), memory, ask, searching)
        return [found[system] for system in subject.systems]

    async def prepare(self, subject: Subject, ask: Ask, searching: Searching | None) -> Memory:
        """What is known of a source before any translation is seen, and only read from then on.

        Raises:
            AnswerError: the preparation did not come to its end.
        """
        team, memory = self._team, Memory()
        if team.has_search or team.has_compare:
            core = Core(
                team=team, subject=subject, ask=ask, search=searching, name=_PREPARATION, is_preparing=True
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
        annotation = annotation_of(
            self,
            subject,
            rating=score,
            rationale=action.text("rationale"),
            flags=state.flags,
            steps=state.steps,
        )
        return annotation, state.memory.with_anchor(Anchor(score=score, text=subject.translation))

    async def _judge_apart(self, subject: Subject, ask: Ask, memory: Memory) -> Annotation | AnswerError:
        outcome, _ = await self.judge(subject, memory, ask, None)
        return outcome

    def ordered(self, subject: Subject) -> tuple[str, ...]:
        """The systems as they are judged; a drawn order keeps two systems so whoever else is there."""
        if self._order == "given":
            return subject.systems
        place = f"{self.order_seed}/{subject.lp}/{subject.segment.segment}"
        return tuple(sorted(subject.systems, key=lambda name: random.Random(f"{place}/{name}").random()))

    @property
    def _order(self) -> Order:
        """The paper judges in the order given; a frozen memory makes all orders one."""
        if self.anchors == "frozen":
            return "given"
        return self.order or ("random" if self.profile == "recommended" else "given")

    def fitted(self, *, search: str, takes_tools: bool) -> Rate:
        """With the engine as it was opened, and the form of tool calls that the model can do."""
        if self.tools == "native" and not takes_tools:
            raise UsageError("--tools native: the model of role core takes no tools; say --tools xml")
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
        return self.calls_for(1)

    def calls_for(self, systems: int) -> Calls:
        """For a source with so many translations; queries to the engine are no calls."""
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

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._files.digest

    @cached_property
    def _team(self) -> Team:
        moves: Moves = self.moves or ("code" if self.profile == "code" else "paper")
        return Team(
            prompts=self._files,
            scale=_SCALES[self.scale],
            form=self._form,
            moves=moves,
            is_constrained=self.profile == "recommended",
            has_search=self.search != NO_ENGINE and self.without not in {"search", "both"},
            has_compare=self.without not in {"compare", "both"},
            language="" if self.explain_in is None else language_name(self.explain_in),
            turns=self.turns,
        )

    @cached_property
    def _files(self) -> Prompts:
        scale = "scale_4.md" if self.scale == "0-4" else "scale_100.md"
        files = load_prompts("rate", (*FILES, scale), self.prompts)
        return Prompts(texts={**files.texts, "scale.md": files.texts[scale]})
