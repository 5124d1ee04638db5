"""Stage 3, collaborative discussion: the agent of the core type and the agent that is not sure."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeVar

from adjudge.core.ask import About, Answer, Ask, Message, Quoted, Reply, Sampling
from adjudge.core.language import language_name
from adjudge.core.record import ErrorSpan
from adjudge.core.segment import Subject
from adjudge.core.typology import SUBTYPES, Severity
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._answers import ErrorList, Marked, either
from adjudge.judges._json import object_schema, read_object, read_reasons, read_truth
from adjudge.judges._prompts import (
    Parts,
    Prompts,
    joined,
    judged_texts,
    language_names,
    render_example,
    render_texts,
)
from adjudge.judges._replies import check_characters, shown
from adjudge.judges._samples import TEMPERATURE, readable

__all__ = [
    "BY_CORE",
    "BY_SUBTYPE",
    "COORDINATORS",
    "ROUNDS",
    "SEVERITIES",
    "Agent",
    "Discussion",
    "Evaluation",
    "Reflection",
    "Scope",
    "Stage",
]


# HiMATE's two tiers: an agent for every subtype of error, and above them one for every core type.


T = TypeVar("T")

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor", "neutral")
_EXAMPLES: Final = 2  # of each subtype


@dataclass(frozen=True, kw_only=True)
class Agent:
    """Who evaluates.

    Args:
        role: in the trace, and in `--model ROLE=NAME`.
        categories: that it is responsible for.
    """

    role: str
    categories: tuple[str, ...]


def _core(category: str) -> str:
    return category.partition("/")[0]


def _word(category: str) -> str:
    """A category as a role: `accuracy.untranslated-text`."""
    return category.replace("/", ".").replace(" ", "-")


BY_SUBTYPE: Final = tuple(Agent(role=_word(name), categories=(name,)) for name in SUBTYPES)
"""Nineteen, as in the paper."""

BY_CORE: Final = tuple(
    Agent(role=_word(core), categories=tuple(name for name in SUBTYPES if _core(name) == core))
    for core in dict.fromkeys(map(_core, SUBTYPES))
)
"""Five, each for all subtypes of its core type."""

COORDINATORS: Final = tuple(f"tier-1.{agent.role}" for agent in BY_CORE)
"""Roles of the tier-1 agents."""


class Found(NamedTuple):
    """One error on its way through the stages.

    Args:
        agent: who found it.
        span: the error, with the agent's reasons as its note.
        confidence: how sure the agent is after its self-reflection, from 0 to 1; None where nobody asks.
    """

    agent: Agent
    span: ErrorSpan
    confidence: float | None = None

    @property
    def subtype(self) -> str:
        """Category of the error, one of the agent's."""
        return self.span.category or self.agent.categories[0]

    @property
    def coordinator(self) -> str:
        """Role of the tier-1 agent that is asked when the agent is not sure."""
        return f"tier-1.{_word(_core(self.subtype))}"


class Stage(NamedTuple):
    """What a stage leaves to the next: the errors that stand, and flags on the way.

    Args:
        found: in the order of the agents, then of their answers.
        flags: of all answers.
        confidences: of every verification, those of dropped errors too.
    """

    found: tuple[Found, ...]
    flags: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()


async def in_turn(found: Sequence[Found], work: Callable[[Found], Awaitable[T]]) -> list[T]:
    """Do something about every error; agents at a time, an agent's errors one by one.

    Errors that an agent lists twice in the same words make the same questions, and which of them gets which
    answer must not depend on who answers first.
    """

    async def one_by_one(own: list[Found]) -> list[T]:
        return [await work(one) for one in own]

    owners = [list(own) for _, own in groupby(found, key=lambda one: one.agent.role)]
    return [done for group in await asyncio.gather(*map(one_by_one, owners)) for done in group]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What agents are told of their error types, from the prompt files.

    Raises:
        UsageError: a definition or an example is missing.
    """

    prompts: Prompts
    errors: ErrorList

    def __post_init__(self) -> None:
        """Refuse files that do not speak of every subtype."""
        defined = tuple(self._definitions())
        if defined != SUBTYPES:
            missing = [name for name in SUBTYPES if name not in defined] or ["them in their order"]
            raise UsageError(f"subtypes.md must have a line '- SUBTYPE: DEFINITION' for {missing[0]}")
        if (count := len(self.prompts.examples())) != _EXAMPLES * len(SUBTYPES):
            raise UsageError(
                f"examples.jsonl must have {_EXAMPLES} lines for each of {len(SUBTYPES)} subtypes, in the "
                f"order of subtypes.md; it has {count}"
            )

    def define(self, category: str, *, whole_core: bool = False) -> str:
        """The definition of a subtype, or of all that share its core type."""
        lines = self._definitions()
        names = [n for n in SUBTYPES if _core(n) == _core(category)] if whole_core else [category]
        return "\n".join(lines[name] for name in names)

    def render(self, agent: Agent) -> Parts:
        """Definitions and worked examples of one agent; of an agent with many subtypes one example each."""
        definitions = "\n".join(self.define(name) for name in agent.categories)
        count = _EXAMPLES if len(agent.categories) == 1 else 1
        shown = "\n\n".join(self._example(name, index) for name in agent.categories for index in range(count))
        return (
            *self.prompts.piece("scope", definitions=definitions),
            "\n\n",
            *self.prompts.piece("examples", examples=shown),
        )

    def _example(self, category: str, index: int) -> str:
        example = self.prompts.examples()[_EXAMPLES * SUBTYPES.index(category) + index]
        question, answer = render_example(self.prompts, example, self.errors.render_answer(example.errors))
        return "".join(map(str, (*question.parts, "\n", *answer.parts)))

    def _definitions(self) -> dict[str, str]:
        lines = [line for line in self.prompts.texts["subtypes.md"].splitlines() if line.strip()]
        return {line.removeprefix("- ").partition(":")[0]: line for line in lines}


# Stage 1, subtype evaluation: each agent looks for the errors it is responsible for.


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The first stage.

    Args:
        scope: what the agents know.
        agents: who evaluates.
        most: errors that an agent may report.
        attempts: how often an unreadable answer may be asked for.
    """

    scope: Scope
    agents: Sequence[Agent]
    most: int
    attempts: int

    async def run(self, subject: Subject, ask: Ask) -> Stage:
        """Ask all agents."""
        answers = await asyncio.gather(*(self._evaluate(agent, subject, ask) for agent in self.agents))
        found: list[Found] = []
        flags: list[str] = []
        for agent, marked in zip(self.agents, answers, strict=True):
            found += [Found(agent, span) for span in marked.spans]
            flags += marked.flags
        return Stage(tuple(found), tuple(flags))

    def messages(self, agent: Agent, subject: Subject) -> list[Message]:
        """What all agents share stands first, the texts second, and what one of them is to look for last."""
        files = self.scope.prompts
        system = files.message(
            "system",
            "evaluate",
            markers=files.piece("markers"),
            most="one error" if self.most == 1 else f"{self.most} errors",
            form=self.scope.errors.render_form(files),
        )
        texts = render_texts(files, subject)
        return [system, Message("user", joined((*texts, "\n\n", *self.scope.render(agent))))]

    async def _evaluate(self, agent: Agent, subject: Subject, ask: Ask) -> Marked:
        errors = self.scope.errors
        about = About(
            judge="himate",
            stage="evaluation",
            subject=subject,
            role=agent.role,
            wants="errors",
            facts={**errors.facts, "categories": agent.categories},
        )
        answer = await ask(
            self.messages(agent, subject),
            about=about,
            read=lambda reply: self._own(agent, errors.read(reply, subject)),
            attempts=self.attempts,
            schema=errors.schema,
        )
        return answer.value

    def _own(self, agent: Agent, marked: Marked) -> Marked:
        """Leave out what the agent itself calls another subtype, and what is more than it may report.

        Raises:
            AnswerError: label for an error that belongs to no subtype.
        """
        for span in marked.spans:
            if span.category not in SUBTYPES:
                wanted = either(agent.categories)
                raise AnswerError("label", f"category must be {wanted}, got {shown(span.category)}")
        own = tuple(replace(s, label=None) for s in marked.spans if s.category in agent.categories)
        flags = list(marked.flags)
        if len(own) < len(marked.spans):
            flags.append("other_subtype")
        if len(own) > self.most:
            flags.append("errors_cut")
        return Marked(own[: self.most], tuple(flags))


# Stage 2, self-reflection: each agent corrects its error, compares, and says whether there was one.


Result = Literal["corrected", "no difference"]
RESULTS: Final[tuple[Result, ...]] = ("corrected", "no difference")
CORRECTION: Final = object_schema(translation={"type": "string"})
VERIFICATION: Final = object_schema(result={"type": "string", "enum": list(RESULTS)})


class Corrected(NamedTuple):
    """The translation without the error, and the flags of the answer."""

    text: str
    flags: tuple[str, ...]


class Verified(NamedTuple):
    """What the comparison came to.

    Args:
        result: whether there was an error.
        flags: of the answer.
        confidence: in the result; None where nobody needs it.
    """

    result: Result
    flags: tuple[str, ...]
    confidence: float | None = None


class _Reflected(NamedTuple):
    found: Found | None
    flags: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """The second stage.

    Args:
        scope: what the agents know.
        verifications: how often an agent compares. Once: its confidence is the probability of its answer's
            tokens. Several times, at random: it is the share of answers that agree.
        measured: whether the confidence is needed.
        attempts: how often an unreadable answer may be asked for.
    """

    scope: Scope
    verifications: int
    measured: bool
    attempts: int

    async def run(self, found: Sequence[Found], subject: Subject, ask: Ask) -> Stage:
        """Let every agent look at its errors again."""
        done = await in_turn(found, lambda one: self._reflect(one, subject, ask))
        return Stage(
            tuple(one.found for one in done if one.found is not None),
            tuple(flag for one in done for flag in one.flags),
            tuple(one.confidence for one in done if one.confidence is not None),
        )

    async def _reflect(self, found: Found, subject: Subject, ask: Ask) -> _Reflected:
        corrected = await self.correct(found, subject, ask)
        if corrected.text == subject.translation:  # no difference, and nobody need be asked
            return _Reflected(None, corrected.flags)
        verified = await self.verify(found, corrected.text, subject, ask)
        stands = found._replace(confidence=verified.confidence) if verified.result == "corrected" else None
        return _Reflected(stands, (*corrected.flags, *verified.flags), verified.confidence)

    async def correct(self, found: Found, subject: Subject, ask: Ask) -> Corrected:
        """Correct the error."""
        files = self.scope.prompts
        system = files.message("system", "correct", markers=files.piece("markers"))
        told = files.piece("error", error=self._error(found))
        scope = files.piece("scope", definitions=self.scope.define(found.subtype))
        texts = render_texts(files, subject)
        answer: Answer[Corrected] = await ask(
            [system, Message("user", joined((*texts, "\n\n", *scope, "\n\n", *told)))],
            about=self._about("correction", found, subject),
            read=partial(read_correction, subject=subject),
            attempts=self.attempts,
            schema=CORRECTION,
        )
        return answer.value

    async def verify(self, found: Found, corrected: str, subject: Subject, ask: Ask) -> Verified:
        """Compare both versions, once or several times."""
        if self.verifications == 1:
            sampling = Sampling(logprobs=self.measured)
            return await self._compare(found, corrected, subject, ask, sampling)
        sampling = Sampling(temperature=TEMPERATURE)
        drawn = await asyncio.gather(
            *(self._draw(found, corrected, subject, ask, sampling) for _ in range(self.verifications))
        )
        return agree(readable(drawn), drawn=self.verifications)

    async def _draw(
        self, found: Found, corrected: str, subject: Subject, ask: Ask, sampling: Sampling
    ) -> Verified | AnswerError:
        try:
            return await self._compare(found, corrected, subject, ask, sampling)
        except AnswerError as error:
            return error

    async def _compare(
        self, found: Found, corrected: str, subject: Subject, ask: Ask, sampling: Sampling
    ) -> Verified:
        files = self.scope.prompts
        system = files.message("system", "verify", markers=files.piece("markers"))
        told = files.piece(
            "compare",
            definitions=self.scope.define(found.subtype),
            error=self._error(found),
            target_language=language_names(subject.lp)["target_language"],
            translation=Quoted("translation", subject.translation),
            corrected=Quoted("corrected-translation", corrected),
        )
        answer: Answer[Verified] = await ask(
            [system, Message("user", told)],
            about=self._about("verification", found, subject, corrected=corrected),
            read=partial(read_verification, subject=subject, measured=sampling.logprobs),
            attempts=self.attempts,
            schema=VERIFICATION,
            sampling=sampling,
        )
        return answer.value

    def _error(self, found: Found) -> Quoted:
        return Quoted("error", self.scope.errors.render_spans([found.span]))

    def _about(self, stage: str, found: Found, subject: Subject, **more: object) -> About:
        facts = {"category": found.subtype, "span": found.span.text, "side": found.span.side, **more}
        role = found.agent.role
        return About(judge="himate", stage=stage, subject=subject, role=role, wants=stage, facts=facts)


def agree(read: Sequence[Verified], *, drawn: int) -> Verified:
    """What most answers say, with the share that says so. As many for as against: the error stands."""
    yes = sum(one.result == "corrected" for one in read)
    no = len(read) - yes
    flags = [flag for one in read for flag in one.flags]
    if len(read) < drawn:
        flags.append("samples_missing")
    return Verified("corrected" if yes >= no else "no difference", tuple(flags), max(yes, no) / len(read))


def read_correction(reply: Reply, subject: Subject) -> Corrected:
    """Read a corrected translation.

    Raises:
        AnswerError: there is none.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("translation",))
    text = reading.value["translation"]
    if not isinstance(text, str) or not text.strip():
        raise AnswerError("schema", f"translation must be a text, got {shown(text)}")
    check_characters(text)
    return Corrected(text, reading.flags)


def read_verification(reply: Reply, subject: Subject, *, measured: bool) -> Verified:
    """Read the result of a comparison, and the probability of its tokens where it is needed.

    Raises:
        AnswerError: it is none of the two; logprob where it is needed and did not come.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("result",))
    said = reading.value["result"]
    result = next((known for known in RESULTS if known == said), None)
    if result is None:
        raise AnswerError("label", f"result must be {' or '.join(RESULTS)}, got {shown(said)}")
    if not measured:
        return Verified(result, reading.flags)
    if not reply.logprobs:
        raise AnswerError(
            "logprob", "the model gives no log-probabilities; --verifications 5 takes samples instead"
        )
    return Verified(result, reading.flags, math.exp(math.fsum(token.logprob for token in reply.logprobs)))


ROUNDS: Final = 2
"""Of two turns each: four in all, as in the paper."""

TEXT: Final = {"type": "string"}
TRUTH: Final = {"type": "boolean"}
OPINION: Final = object_schema(
    opinion=TEXT, exists=TRUTH, severity={"type": "string", "enum": list(SEVERITIES)}
)
RESPONSE: Final = object_schema(reply=TEXT, agrees=TRUTH)


class Opinion(NamedTuple):
    """What the expert says of an error."""

    opinion: str
    exists: bool
    severity: Severity
    flags: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As the other one reads it."""
        said = {"opinion": self.opinion, "exists": self.exists, "severity": self.severity}
        return json.dumps(said, ensure_ascii=False)


class Response(NamedTuple):
    """What the evaluator says to it."""

    reply: str
    agrees: bool
    flags: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As the other one reads it."""
        return json.dumps({"reply": self.reply, "agrees": self.agrees}, ensure_ascii=False)


Turns = tuple[Opinion | Response, ...]


class _Settled(NamedTuple):
    found: Found | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Discussion:
    """The third stage.

    Args:
        scope: what the agents know.
        threshold: confidence below which an error is discussed; None for all of them.
        as_in_code: on agreement the expert's first verdict counts; without, what the evaluator found.
        language: code of the language that both speak.
        attempts: how often an unreadable answer may be asked for.
    """

    scope: Scope
    threshold: float | None
    as_in_code: bool
    language: str
    attempts: int

    async def run(self, found: Sequence[Found], subject: Subject, ask: Ask) -> Stage:
        """Discuss what is not sure."""
        done = await in_turn(found, lambda one: self._settle(one, subject, ask))
        return Stage(
            tuple(one.found for one in done if one.found is not None),
            tuple(flag for one in done for flag in one.flags),
        )

    def is_unsure(self, found: Found) -> bool:
        """Whether it is to be discussed."""
        return self.threshold is None or found.confidence is None or found.confidence < self.threshold

    async def _settle(self, found: Found, subject: Subject, ask: Ask) -> _Settled:
        return await self.discuss(found, subject, ask) if self.is_unsure(found) else _Settled(found)

    async def discuss(self, found: Found, subject: Subject, ask: Ask) -> _Settled:
        """Expert, evaluator, and both once more if they do not agree."""
        turns: Turns = ()
        opinions: list[Opinion] = []
        flags: list[str] = []
        for _ in range(ROUNDS):
            opinion = await self.review(found, turns, subject, ask)
            response = await self.respond(found, (*turns, opinion), subject, ask)
            turns = (*turns, opinion, response)
            opinions.append(opinion)
            flags += [*opinion.flags, *response.flags]
            if response.agrees:
                return _settled(found, opinions[0] if self.as_in_code else opinion, flags)
        flags.append("no_consensus")
        return _Settled(found, tuple(flags)) if self.as_in_code else _settled(found, opinions[-1], flags)

    async def review(self, found: Found, turns: Turns, subject: Subject, ask: Ask) -> Opinion:
        """The tier-1 agent's turn."""
        definitions = self.scope.define(found.subtype, whole_core=True)
        answer: Answer[Opinion] = await ask(
            self._messages("review", definitions, found, turns, subject),
            about=self._about("opinion", found.coordinator, found, subject),
            read=partial(read_opinion, subject=subject),
            attempts=self.attempts,
            schema=OPINION,
        )
        return answer.value

    async def respond(self, found: Found, turns: Turns, subject: Subject, ask: Ask) -> Response:
        """The tier-2 agent's turn."""
        definitions = self.scope.define(found.subtype)
        said = turns[-1]
        facts = {"exists": said.exists, "severity": said.severity} if isinstance(said, Opinion) else {}
        answer: Answer[Response] = await ask(
            self._messages("respond", definitions, found, turns, subject),
            about=self._about("response", found.agent.role, found, subject, **facts),
            read=partial(read_response, subject=subject),
            attempts=self.attempts,
            schema=RESPONSE,
        )
        return answer.value

    def _messages(
        self, file: str, definitions: str, found: Found, turns: Turns, subject: Subject
    ) -> list[Message]:
        files = self.scope.prompts
        system = files.message(
            "system",
            file,
            markers=files.piece("markers"),
            definitions=definitions,
            language=language_name(self.language),
        )
        error = Quoted("error", self.scope.errors.render_spans([found.span]))
        shown_parts: Parts = (*render_texts(files, subject), "\n\n", *files.piece("error", error=error))
        for turn in turns:
            speaker = "The expert" if isinstance(turn, Opinion) else "The evaluator"
            statement = Quoted("statement", turn.words)
            shown_parts += ("\n\n", *files.piece("statement", speaker=speaker, statement=statement))
        return [system, Message("user", joined(shown_parts))]

    def _about(self, wants: str, role: str, found: Found, subject: Subject, **more: object) -> About:
        span = found.span
        facts = {"category": found.subtype, "span": span.text, "side": span.side, "found": span.severity}
        return About(
            judge="himate",
            stage="discussion",
            subject=subject,
            role=role,
            wants=wants,
            facts={**facts, **more},
        )


def _settled(found: Found, opinion: Opinion, flags: Sequence[str]) -> _Settled:
    if not opinion.exists:
        return _Settled(None, tuple(flags))
    span = replace(found.span, severity=opinion.severity, note=opinion.opinion)
    return _Settled(found._replace(span=span), tuple(flags))


def read_opinion(reply: Reply, subject: Subject) -> Opinion:
    """Read the expert's verdict.

    Raises:
        AnswerError: reasons, existence or severity are missing or not in their form.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("opinion", "exists", "severity"))
    said = reading.value
    severity = next((known for known in SEVERITIES if known == said["severity"]), None)
    if severity is None:
        raise AnswerError("label", f"severity must be {either(SEVERITIES)}, got {shown(said['severity'])}")
    return Opinion(
        read_reasons(said["opinion"], "opinion"),
        read_truth(said["exists"], "exists"),
        severity,
        reading.flags,
    )


def read_response(reply: Reply, subject: Subject) -> Response:
    """Read whether the evaluator agrees.

    Raises:
        AnswerError: it is not said, or without reasons.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("reply", "agrees"))
    said = reading.value
    return Response(read_reasons(said["reply"], "reply"), read_truth(said["agrees"], "agrees"), reading.flags)
