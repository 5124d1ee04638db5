"""The three stages of HiMATE, and its two tiers of agents.

There is an agent for every subtype of error, and above these one for every core type. `Evaluation` looks for
errors, `Reflection` corrects each error, compares, and says whether there was one, and `Discussion` has the
agent of the core type discuss with an agent that is not sure. A `Found` error goes through all three; a
`Dispute` is what two agents discuss.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeVar

from adjudge.core.ask import About, Answer, Ask, Message, Quoted, Reply, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.language import language_name, script_of, source_language, target_language
from adjudge.core.protocol import SUBTYPES, Severity
from adjudge.core.record import RENORMALISED, ErrorSpan
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._answers import ErrorList, Marked
from adjudge.judges._prompts import (
    Example,
    Parts,
    Prompts,
    judged_texts,
    language_names,
    paragraphs,
    render_around,
    render_example,
    render_texts,
)
from adjudge.judges._reading import Reading, either, object_schema, or_error, shares, shown
from adjudge.judges._samples import TEMPERATURE, readable

# Agents and errors


T = TypeVar("T")
Item = TypeVar("Item", "Found", "Dispute")

MOST: Final = 5
"""Errors that an agent may report for one subtype in the recommended profile."""
SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor", "neutral")


@frozen
class Agent:
    """Who evaluates."""

    role: str  # in the trace, and in `--model ROLE=NAME`
    categories: tuple[str, ...]


def _core(category: str) -> str:
    return category.partition("/")[0]


def _word(category: str) -> str:
    return category.replace("/", ".").replace(" ", "-")


BY_SUBTYPE: Final = tuple(Agent(role=_word(name), categories=(name,)) for name in SUBTYPES)
"""Nineteen, as in the paper."""

BY_CORE: Final = tuple(
    Agent(role=_word(core), categories=tuple(name for name in SUBTYPES if _core(name) == core))
    for core in dict.fromkeys(map(_core, SUBTYPES))
)
"""Five, each for all subtypes of its core type."""

ALONE: Final = Agent(role="", categories=SUBTYPES)
"""One for everything: the paper's single agent."""

COORDINATORS: Final = tuple(f"tier-1.{agent.role}" for agent in BY_CORE)
"""Roles of the tier-1 agents."""


class Found(NamedTuple):
    """One error on its way through the stages."""

    agent: Agent
    # the error, with the agent's reasons as its note and, after its self-reflection, its confidence
    span: ErrorSpan
    corrected: str = ""  # the translation without it; empty before the self-reflection
    # in which version each comparison found it; nothing where the correction changed nothing
    compared: tuple[str, ...] = ()

    @property
    def subtype(self) -> str:
        """Category of the error, one of the agent's."""
        return self.span.category or self.agent.categories[0]

    @property
    def coordinator(self) -> str:
        """Role of the tier-1 agent that is asked when the agent is not sure."""
        return f"tier-1.{_word(_core(self.subtype))}"

    def about(self, stage: str, wants: str, subject: Subject, *, role: str = "", **facts: object) -> About:
        """A question about it: to its agent, unless to another role."""
        span, role = self.span, role or self.agent.role
        own = {"category": self.subtype, "span": span.text, "side": span.side, "found": span.severity}
        return About(judge="himate", stage=stage, subject=subject, role=role, wants=wants, facts=own | facts)


class Stage(NamedTuple):
    """What a stage leaves to the next: the errors that stand, and flags on the way."""

    found: tuple[Found, ...]  # in the order of the agents, then of their answers
    flags: tuple[str, ...] = ()
    # subtype and confidence of every verification, those of dropped errors too
    confidences: tuple[tuple[str, float], ...] = ()


class Dispute(NamedTuple):
    """What the agent of a core type and one that is not sure discuss."""

    claims: tuple[Found, ...]  # all errors that agents reported in one place, the gravest first
    own: tuple[Found, ...]  # those of the core type of which their agents are not sure

    @property
    def agent(self) -> Agent:
        """Who reported the gravest error that is not sure."""
        return self.own[0].agent

    def claim(self, subtype: str | None) -> Found:
        """The error of this subtype that is not sure, or the gravest."""
        return next((one for one in self.own if one.subtype == subtype), self.own[0])


async def in_turn(found: Sequence[Item], work: Callable[[Item], Awaitable[T]]) -> list[T]:
    """Do something about every error; agents at a time, an agent's errors one by one.

    Errors that an agent lists twice in the same words make the same questions, and which of them gets which
    answer must not depend on who answers first.
    """

    async def one_by_one(own: list[Item]) -> list[T]:
        return [await work(one) for one in own]

    owners = [list(own) for _, own in groupby(found, key=lambda one: one.agent.role)]
    return [done for group in await asyncio.gather(*map(one_by_one, owners)) for done in group]


@frozen
class Scope:
    """What agents are told of their error types, from the prompt files."""

    prompts: Prompts
    errors: ErrorList

    def __post_init__(self) -> None:
        """Refuse files that do not define every subtype, or whose examples are not in pairs."""
        defined = tuple(self._definitions())
        if defined != SUBTYPES:
            missing = [name for name in SUBTYPES if name not in defined] or ["them in their order"]
            raise UsageError(f"subtypes.md must have a line '- SUBTYPE: DEFINITION' for {missing[0]}")
        examples = self.prompts.examples()
        for number in range(0, len(examples), 2):
            pair = examples[number : number + 2]
            own, *others = ([error["category"] for error in example.errors] for example in pair)
            if not own or own[0] not in SUBTYPES or len(pair) < 2 or own[0] in others[0]:
                raise UsageError(
                    "examples.jsonl must have its examples in pairs: a translation whose first error is of "
                    "a subtype, then one of the same language pair without an error of that subtype; "
                    f"examples {number + 1} and {number + 2} are no pair"
                )
            if pair[0].lp != pair[1].lp:
                raise UsageError(
                    f"examples {number + 1} and {number + 2} of examples.jsonl are a pair, and have the "
                    f"language pairs {pair[0].lp} and {pair[1].lp}"
                )

    def define(self, category: str) -> str:
        return self._definitions()[category]

    def define_core(self, category: str) -> tuple[str, str]:
        """The definition of a subtype's core type, and those of all its subtypes."""
        cores = _by_name(self.prompts.texts["cores.md"])
        names = [name for name in SUBTYPES if _core(name) == _core(category)]
        return cores[_core(category)], "\n".join(map(self.define, names))

    def render(self, categories: Sequence[str]) -> Parts:
        """What an agent looks for: the definitions of its subtypes."""
        return self.prompts.piece("scope", definitions="\n".join(map(self.define, categories)))

    def examples(self, agent: Agent, lp: str, *, as_authors: bool) -> tuple[Message, ...]:
        """Worked examples of one agent as turns, all in the languages that are judged; none where none are.

        An agent of one subtype sees a translation with an error of another subtype, where it lists nothing,
        then one without errors, and last one with an error of its own. The last two are of one source. The
        authors show two: the error, and the same source without errors. An agent of several subtypes sees an
        error of each, and the first of these sources without any error.
        """
        pairs = [pair for name in agent.categories for pair in self._pairs.get((name, _languages(lp)), ())]
        clean = [replace(one, translation=one.reference, errors=()) for one, _ in pairs if one.reference]
        if len(agent.categories) > 1:
            shown = [*(one for one, _ in pairs), *clean[:1]]
        elif as_authors:
            shown = [*(one for one, _ in pairs), *clean]
        else:
            shown = [*(other for _, other in pairs), *clean, *(one for one, _ in pairs)]
        messages: list[Message] = []
        for one in shown:
            own = [error for error in one.errors if error["category"] in agent.categories]
            messages += render_example(self.prompts, one, self.errors.render_answer(own))
        return tuple(messages)

    def lacking(self, agents: Sequence[Agent], lps: Iterable[str]) -> tuple[str, ...]:
        """A line about the language pairs for which agents have no example; nothing if there is none."""
        found = []
        for lp in lps:
            has = {name for name, languages in self._pairs if languages == _languages(lp)}
            if without := [agent.role for agent in agents if not has.intersection(agent.categories)]:
                some = len(without) < len(agents)
                found.append(f"{lp} ({', '.join(without)})" if some else lp)
        note = (
            f"no worked examples for {', '.join(found)}: there agents judge by definitions alone; "
            "`adjudge curate examples` draws some from annotated translations"
        )
        return (note,) if found else ()

    @cached_property
    def _pairs(self) -> dict[tuple[str, _Languages], list[tuple[Example, Example]]]:
        found: dict[tuple[str, _Languages], list[tuple[Example, Example]]] = {}
        examples = iter(self.prompts.examples())
        for pair in zip(examples, examples, strict=True):
            key = pair[0].errors[0]["category"], _languages(pair[0].lp)
            found.setdefault(key, []).append(pair)
        return found

    def _definitions(self) -> dict[str, str]:
        return _by_name(self.prompts.texts["subtypes.md"])


_Languages = tuple[str, ...]


@cache
def _languages(lp: str) -> _Languages:
    codes = (source_language(lp), target_language(lp))
    return tuple(f"{code.partition('_')[0]}_{script_of(code)}" for code in codes)


def _by_name(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return {line.removeprefix("- ").partition(":")[0]: line for line in lines}


# Subtype evaluation, the first stage


@frozen
class Evaluation:
    """The first stage."""

    scope: Scope  # what the agents know
    agents: Sequence[Agent]
    most: int | None  # errors that an agent may report; None for all of them
    attempts: int  # how often an unreadable answer may be asked for
    texts_last: bool  # whether definitions stand before the texts, or after them as in the paper
    judge: Literal["himate", "single-agent"] = "himate"  # that asks, with the prompt file of its name

    async def run(self, subject: Subject, ask: Ask) -> Stage:
        answers = await asyncio.gather(*(self._evaluate(agent, subject, ask) for agent in self.agents))
        found: list[Found] = []
        flags: list[str] = []
        for agent, marked in zip(self.agents, answers, strict=True):
            found += [Found(agent, span) for span in marked.spans]
            flags += marked.flags
        return Stage(tuple(found), tuple(flags))

    def messages(self, agent: Agent, subject: Subject) -> list[Message]:
        """The task, which all agents share, then what an agent looks for, its examples, and the texts."""
        files = self.scope.prompts
        scope = self.scope.render(agent.categories)
        most = {} if self.most is None else {"most": "one error" if self.most == 1 else f"{self.most} errors"}
        task = files.piece(
            "evaluate" if self.judge == "himate" else "single_agent",
            markers=files.piece("markers"),
            severities=files.piece("severities"),
            **most,
            form=self.scope.errors.render_form(files),
        )
        texts = render_texts(files, subject)
        told, shown = ([task, scope], [texts]) if self.texts_last else ([task], [texts, scope])
        return [
            Message("system", paragraphs(told)),
            *self.scope.examples(agent, subject.lp, as_authors=not self.texts_last),
            Message("user", paragraphs(shown)),
        ]

    async def _evaluate(self, agent: Agent, subject: Subject, ask: Ask) -> Marked:
        errors = self.scope.errors
        about = About(
            judge=self.judge,
            stage="evaluation" if self.judge == "himate" else "errors",
            subject=subject,
            role=agent.role,
            wants="errors",
            facts={**errors.facts, "categories": agent.categories},
        )
        answer = await ask(
            self.messages(agent, subject),
            about=about,
            read=lambda reply: self._own_errors(agent, errors.read(reply, subject)),
            attempts=self.attempts,
            schema=errors.schema,
        )
        return answer.value

    def _own_errors(self, agent: Agent, marked: Marked) -> Marked:
        for span in marked.spans:
            if span.category not in SUBTYPES:
                wanted = either(agent.categories)
                raise AnswerError("label", f"category must be {wanted}, got {shown(span.category)}")
        own = tuple(replace(s, label=None) for s in marked.spans if s.category in agent.categories)
        flags = list(marked.flags)
        if len(own) < len(marked.spans):
            flags.append("other_subtype")
        if self.most is not None and len(own) > self.most:
            flags.append("errors_cut")
            gravest = sorted(own, key=lambda span: SEVERITIES.index(span.severity))[: self.most]
            own = tuple(span for span in own if span in gravest)
        return Marked(own, tuple(flags))


# Self-reflection, the second stage


RESULTS: Final = {"corrected": True, "no difference": False}
"""Of a comparison in the paper: whether the error was there."""
STILL_THERE: Final = "both"
_TOLD: Final = {"corrected": "the original", "no difference": "neither"}  # where the error then is
VERSIONS: Final = ("first", "second", STILL_THERE, "neither")
"""Of a blind comparison: which version has the error."""
CORRECTION_FAILED: Final = "correction_failed"
CORRECTION: Final = object_schema(translation={"type": "string"})


Corrected = tuple[str, tuple[str, ...]]
"""The translation without the error, and the flags of the answer."""


class Verified(NamedTuple):
    """What the comparison came to."""

    stands: bool  # whether there was an error
    flags: tuple[str, ...]
    confidence: float | None = None  # in that; None where the model gives none and nobody needs it
    found: tuple[str, ...] = ()  # in which version an error was found, by each answer


class _Done(NamedTuple):
    """What became of one error in a stage; without `found` it was dropped."""

    found: Found | None
    flags: tuple[str, ...] = ()
    confidence: float | None = None


@frozen
class Reflection:
    """The second stage."""

    scope: Scope  # what the agents know
    # how often an agent compares. Once: its confidence is the probability of the tokens of its decision.
    # Several times, at random: it is the share of answers that agree.
    verifications: int
    measured: bool  # whether the confidence is needed, so that a model that gives none fails
    attempts: int  # how often an unreadable answer may be asked for
    # whether the two versions are compared beside the source, in both orders, by an agent that is not told
    # which one is the correction
    is_blind: bool

    async def run(self, found: Sequence[Found], subject: Subject, ask: Ask) -> Stage:
        """Let every agent look at its errors again."""
        done = await in_turn(found, lambda one: self._reflect(one, subject, ask))
        return Stage(
            tuple(one.found for one in done if one.found is not None),
            tuple(flag for one in done for flag in one.flags),
            tuple(
                (own.subtype, one.confidence)
                for own, one in zip(found, done, strict=True)
                if one.confidence is not None
            ),
        )

    async def _reflect(self, found: Found, subject: Subject, ask: Ask) -> _Done:
        text, flags = await self.correct(found, subject, ask)
        if self.is_blind and is_useless(text, found.span, subject):  # it acquits nobody
            return _Done(found._replace(corrected=text), (*flags, CORRECTION_FAILED))
        if text == subject.translation:  # no difference, and nobody need be asked
            return _Done(None, (*flags, "reflection_dropped"))
        verified = await self.verify(found, text, subject, ask)
        span = replace(found.span, confidence=verified.confidence)
        stands = found._replace(span=span, corrected=text, compared=verified.found)
        flags = (*flags, *verified.flags)
        if not verified.stands:
            return _Done(None, (*flags, "reflection_dropped"), verified.confidence)
        return _Done(stands, flags, verified.confidence)

    async def correct(self, found: Found, subject: Subject, ask: Ask) -> Corrected:
        files = self.scope.prompts
        task = files.piece("correct", markers=files.piece("markers"))
        scope = self.scope.render([found.subtype])
        told = files.piece("error", error=self._error(found))
        texts = render_texts(files, subject)
        system, shown = ([task, scope], [told, texts]) if self.is_blind else ([task], [texts, scope, told])
        answer: Answer[Corrected] = await ask(
            [Message("system", paragraphs(system)), Message("user", paragraphs(shown))],
            about=found.about("correction", "correction", subject),
            read=partial(read_correction, subject=subject),
            attempts=self.attempts,
            schema=CORRECTION,
        )
        return answer.value

    async def verify(self, found: Found, corrected: str, subject: Subject, ask: Ask) -> Verified:
        """Compare both versions, once in each order or several times."""
        compare = partial(self._compare, found, corrected, subject, ask)
        if self.verifications == 1:
            sampling = Sampling(logprobs=True if self.measured else "try")
            first = await compare(sampling)
            return both(first, await compare(sampling, is_turned=True)) if self.is_blind else first
        sampling = Sampling(temperature=TEMPERATURE)
        drawn = await asyncio.gather(
            *(
                or_error(compare(sampling, is_turned=self.is_blind and number % 2 == 1))
                for number in range(self.verifications)
            )
        )
        return agree(readable(drawn), drawn=self.verifications)

    async def _compare(
        self,
        found: Found,
        corrected: str,
        subject: Subject,
        ask: Ask,
        sampling: Sampling,
        *,
        is_turned: bool = False,
    ) -> Verified:
        original = VERSIONS[is_turned]
        results = {name: name in {original, STILL_THERE} for name in VERSIONS} if self.is_blind else RESULTS
        facts = {"corrected": corrected, **({"original": original} if self.is_blind else {})}
        answer: Answer[Verified] = await ask(
            self._blind_messages(found, corrected, subject, is_turned=is_turned)
            if self.is_blind
            else self._told_messages(found, corrected, subject),
            about=found.about(
                "verification", "versions" if self.is_blind else "verification", subject, **facts
            ),
            read=partial(
                read_verification, subject=subject, results=results, measured=sampling.logprobs is True
            ),
            attempts=self.attempts,
            schema=object_schema(result={"type": "string", "enum": list(results)}),
            sampling=sampling,
        )
        where = {original: "the original", VERSIONS[not is_turned]: "the corrected version", **_TOLD}
        return answer.value._replace(found=tuple(where.get(one, one) for one in answer.value.found))

    def _blind_messages(
        self, found: Found, corrected: str, subject: Subject, *, is_turned: bool
    ) -> list[Message]:
        """Which version has an error of the subtype, which is not shown: it would tell them apart."""
        files = self.scope.prompts
        task = files.piece("versions", markers=files.piece("markers"))
        source = Quoted("source", subject.source)
        versions = (corrected, subject.translation) if is_turned else (subject.translation, corrected)
        shown = [
            files.piece(
                "version", label=f"{language_names(subject.lp)['source_language']} source", text=source
            ),
            *(
                files.piece("version", label=f"Version {number}", text=Quoted(f"version-{number}", text))
                for number, text in enumerate(versions, 1)
            ),
        ]
        scope = self.scope.render([found.subtype])
        told = render_around(files, subject, paragraphs(shown))
        return [Message("system", paragraphs([task, scope])), Message("user", told)]

    def _told_messages(self, found: Found, corrected: str, subject: Subject) -> list[Message]:
        files = self.scope.prompts
        original = Quoted("translation", subject.translation)
        mended = Quoted("corrected-translation", corrected)
        label = f"{language_names(subject.lp)['target_language']} translation"
        shown = [
            files.piece("compare", definitions=self.scope.define(found.subtype), error=self._error(found)),
            files.piece("version", label=label, text=original),
            files.piece("version", label="Corrected version", text=mended),
        ]
        system = files.message("system", "verify", markers=files.piece("markers"))
        return [system, Message("user", render_around(files, subject, paragraphs(shown)))]

    def _error(self, found: Found) -> Quoted:
        return Quoted("error", self.scope.errors.render_spans([found.span]), is_json=True)


def is_useless(text: str, span: ErrorSpan, subject: Subject) -> bool:
    """Whether it is a copy, or lacks half of what stands outside the error: under 1 % of corrections do."""
    from rapidfuzz.distance import LCSseq

    outside = len(subject.translation) - (len(span.text) if span.side == "translation" else 0)
    kept = 2 * LCSseq.similarity(text, subject.translation)
    return text in {subject.translation, subject.source} or kept < outside


def both(first: Verified, second: Verified) -> Verified:
    """What two orders come to. Where they differ, the error stands, with the confidence of a toss at most."""
    flags, found = (*first.flags, *second.flags), (*first.found, *second.found)
    known = [one.confidence for one in (first, second) if one.confidence is not None]
    if first.stands == second.stands:
        return Verified(first.stands, flags, sum(known) / 2 if len(known) == 2 else None, found)
    signed = [c if one.stands else 1 - c for one, c in zip((first, second), known, strict=False)]
    confidence = min(0.5, sum(signed) / 2) if len(known) == 2 else None
    return Verified(True, (*flags, "orders_differ"), confidence, found)  # noqa: FBT003 (a field of a tuple)


def agree(read: Sequence[Verified], *, drawn: int) -> Verified:
    """What most answers say, with the share that says so. As many for as against: the error stands."""
    yes = sum(one.stands for one in read)
    no = len(read) - yes
    flags = [flag for one in read for flag in one.flags]
    if len(read) < drawn:
        flags.append("samples_missing")
    found = tuple(place for one in read for place in one.found)
    return Verified(yes >= no, tuple(flags), max(yes, no) / len(read), found)


def read_correction(reply: Reply, subject: Subject) -> Corrected:
    reading = Reading(reply, judged_texts(subject))
    text = reading.answer("translation")["translation"]
    reading.leaf(reading.words(text, "translation"))
    return str(text), reading.settle()


def read_verification(
    reply: Reply, subject: Subject, *, results: Mapping[str, bool], measured: bool
) -> Verified:
    """Read the result of a comparison, and the probability of its tokens where it is needed.

    `measured`: whether log-probabilities are needed.
    """
    reading = Reading(reply, judged_texts(subject))
    names = tuple(results)
    result = reading.label(reading.answer("result")["result"], names, "result")
    if measured and not reply.logprobs:
        raise AnswerError(
            "logprob", "the model gives no log-probabilities; --verifications 5 takes samples instead"
        )
    stands = results[result]
    flags = reading.settle(is_clean=not stands)
    if result == STILL_THERE:
        flags = (*flags, CORRECTION_FAILED)
    if among := shares(reply, names):
        alike = sum(share for name, share in among.items() if results[name] == stands)
        return Verified(stands, (*flags, RENORMALISED), alike, (result,))
    return Verified(stands, flags, confidence_in(reply, result), (result,))


def confidence_in(reply: Reply, result: str) -> float | None:
    """The probability of the tokens that the decision is made of, and of no other; None without any."""
    if not reply.logprobs:
        return None
    spelled = "".join(token.token for token in reply.logprobs)
    first = spelled.rfind(result)
    if first < 0:  # spelled with escapes: the whole answer is the decision
        first, last = 0, len(spelled)
    else:
        last = first + len(result)
    total, end = 0.0, 0
    for token in reply.logprobs:
        begin, end = end, end + len(token.token)
        if begin < last and end > first:
            total += token.logprob
    return math.exp(total)


ROUNDS: Final = 2
"""Of two turns each: four in all, as in the paper."""

TEXT: Final = {"type": "string"}
TRUTH: Final = {"type": "boolean"}
RESPONSE: Final = object_schema(reply=TEXT, agrees=TRUTH)


def opinion_schema(subtypes: Sequence[str]) -> Mapping[str, object]:
    """JSON schema of an expert's verdict; of a place it names one of these subtypes."""
    more = {"subtype": {"type": "string", "enum": list(subtypes)}} if subtypes else {}
    severity = {"type": "string", "enum": list(SEVERITIES)}
    return object_schema(opinion=TEXT, exists=TRUTH, **more, severity=severity)


class Opinion(NamedTuple):
    """What the expert says of an error, or of a place, and then of which subtype the error is."""

    opinion: str
    exists: bool
    severity: Severity
    flags: tuple[str, ...] = ()
    subtype: str | None = None

    @property
    def verdict(self) -> tuple[bool, Severity | None]:
        return self.exists, self.severity if self.exists else None

    @property
    def words(self) -> str:
        more = {} if self.subtype is None else {"subtype": self.subtype}
        said = {"opinion": self.opinion, "exists": self.exists, **more, "severity": self.severity}
        return json.dumps(said, ensure_ascii=False)


class Response(NamedTuple):
    """What the evaluator says to it."""

    reply: str
    agrees: bool
    flags: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return json.dumps({"reply": self.reply, "agrees": self.agrees}, ensure_ascii=False)


Turns = tuple[Opinion | Response, ...]


@frozen
class Discussion:
    """The third stage."""

    scope: Scope  # what the agents know
    # confidence up to which an error of a subtype is discussed; None for all of them
    threshold: Callable[[str], float] | None
    # the expert agrees by saying what the evaluator found, which then stands, as it does without agreement;
    # where the evaluator agrees, the expert's first verdict counts
    as_in_code: bool
    # whether an expert is asked about all that agents reported in one place, and a place has one error, the
    # gravest
    by_place: bool
    language: str  # code of the language that both speak
    attempts: int  # how often an unreadable answer may be asked for

    async def run(self, found: Sequence[Found], subject: Subject, ask: Ask) -> Stage:
        places = find_places(found) if self.by_place else [(one,) for one in found]
        disputes = sorted(
            (dispute for place in places for dispute in self._disputes(place)),
            key=lambda dispute: found.index(dispute.own[0]),
        )
        done = await in_turn(disputes, lambda dispute: self.discuss(dispute, subject, ask))
        flags = ["merged_errors"] if len(places) < len(found) else []
        kept: list[Found] = []
        for place in places:
            stand = [one for one in place if not self.is_unsure(one)]
            settled = zip(disputes, done, strict=True)
            stand += [one.found for dispute, one in settled if dispute.claims is place and one.found]
            kept += sorted(stand, key=_gravity)[:1]
        return Stage(tuple(kept), (*flags, *(flag for one in done for flag in one.flags)))

    def is_unsure(self, found: Found) -> bool:
        confidence = found.span.confidence
        return self.threshold is None or confidence is None or confidence <= self.threshold(found.subtype)

    def _disputes(self, place: tuple[Found, ...]) -> list[Dispute]:
        """One for each core type that has something in this place of which an agent is not sure.

        None where a major error there is sure: it is left, whatever an expert says.
        """
        if any(one.span.severity == "major" and not self.is_unsure(one) for one in place):
            return []
        by_core: dict[str, tuple[Found, ...]] = {}
        for one in filter(self.is_unsure, place):
            by_core[one.coordinator] = (*by_core.get(one.coordinator, ()), one)
        return [Dispute(place, own) for own in by_core.values()]

    async def discuss(self, dispute: Dispute, subject: Subject, ask: Ask) -> _Done:
        """Expert, evaluator, and both once more if they do not agree."""
        turns: Turns = ()
        opinions: list[Opinion] = []
        flags: list[str] = []
        found = dispute.own[0]
        for _ in range(ROUNDS):
            opinion = await self.review(dispute, turns, subject, ask)
            opinions.append(opinion)
            flags += opinion.flags
            if self.as_in_code and opinion.verdict == (True, found.span.severity):
                return _Done(found, tuple(flags))
            response = await self.respond(dispute.claim(opinion.subtype), (*turns, opinion), subject, ask)
            turns = (*turns, opinion, response)
            flags += response.flags
            if response.agrees:
                return _settled(dispute, opinions[0 if self.as_in_code else -1], flags)
        flags.append("no_consensus")
        return _Done(found, tuple(flags)) if self.as_in_code else _settled(dispute, opinions[-1], flags)

    async def review(self, dispute: Dispute, turns: Turns, subject: Subject, ask: Ask) -> Opinion:
        """The tier-1 agent's turn."""
        found = dispute.own[0]
        core, definitions = self.scope.define_core(found.subtype)
        severities = self.scope.prompts.piece("severities")
        words: dict[str, str | Parts] = {"core": core, "definitions": definitions, "severities": severities}
        file, wants = ("review_place", "place") if self.by_place else ("review", "opinion")
        claims = [{"category": one.subtype, "span": one.span.text} for one in dispute.own]
        facts = {"claims": claims} if self.by_place else {}
        subtypes = [name for name in SUBTYPES if self.by_place and _core(name) == _core(found.subtype)]
        answer: Answer[Opinion] = await ask(
            self._messages(file, words, dispute.claims, turns, subject),
            about=found.about("discussion", wants, subject, role=found.coordinator, **facts),
            read=partial(read_opinion, subject=subject, subtypes=subtypes),
            attempts=self.attempts,
            schema=opinion_schema(subtypes),
        )
        return answer.value

    async def respond(self, found: Found, turns: Turns, subject: Subject, ask: Ask) -> Response:
        """The tier-2 agent's turn."""
        said = turns[-1]
        assert isinstance(said, Opinion)  # noqa: S101 (an evaluator answers the expert)
        facts: dict[str, Any] = {"exists": said.exists, "severity": said.severity}
        named = dict.fromkeys((found.subtype, said.subtype or found.subtype))
        words = {"definitions": "\n".join(map(self.scope.define, named))}
        answer: Answer[Response] = await ask(
            self._messages("respond", words, (found,), turns, subject),
            about=found.about("discussion", "response", subject, **facts),
            read=partial(read_response, subject=subject),
            attempts=self.attempts,
            schema=RESPONSE,
        )
        return answer.value

    def _messages(
        self,
        file: str,
        words: Mapping[str, str | Parts],
        claims: Sequence[Found],
        turns: Turns,
        subject: Subject,
    ) -> list[Message]:
        files = self.scope.prompts
        system = files.message(
            "system",
            file,
            markers=files.piece("markers"),
            language=language_name(self.language),
            **words,
        )
        said: list[Parts] = []
        for found in claims:
            error = Quoted("error", self.scope.errors.render_spans([found.span]), is_json=True)
            told = {
                "sure": "not sure" if self.is_unsure(found) else "sure",
                "corrected": Quoted("corrected-translation", found.corrected),
                "found": ", ".join(found.compared) or "(not compared, as the correction changed nothing)",
            }
            said += [files.piece("error", error=error), files.piece("corrected", **told)]
        for turn in turns:
            speaker = "The expert" if isinstance(turn, Opinion) else "The evaluator"
            statement = Quoted("statement", turn.words)
            said.append(files.piece("statement", speaker=speaker, statement=statement))
        texts = render_texts(files, subject)
        return [system, Message("user", paragraphs([*said, texts] if self.by_place else [texts, *said]))]


_SAME: Final = 0.5  # of both spans overlaps: a match in the paper's Appendix E


def find_places(found: Sequence[Found]) -> list[tuple[Found, ...]]:
    """What is reported in one place, the gravest first, then the surest, then by the agents' order.

    An error is in the place of the first one that it overlaps by half of both at least, or, without a place,
    equals in its words, whether another agent reported it or the same.
    """
    places: list[list[Found]] = []
    for one in sorted(found, key=_gravity):
        if (place := next((p for p in places if _is_same_place(one.span, p[0].span)), None)) is None:
            places.append([one])
        else:
            place.append(one)
    return sorted(map(tuple, places), key=lambda place: found.index(place[0]))


def merge(stage: Stage) -> Stage:
    """The gravest error of each place, where no discussion decides."""
    places = find_places(stage.found)
    flags = ("merged_errors",) if len(places) < len(stage.found) else ()
    return Stage(tuple(place[0] for place in places), (*stage.flags, *flags))


def _gravity(found: Found) -> tuple[int, float]:
    return SEVERITIES.index(found.span.severity), -(found.span.confidence or 0.0)


def _is_same_place(one: ErrorSpan, other: ErrorSpan) -> bool:
    if one.side != other.side:
        return False
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return bool(one.text) and one.text == other.text
    longest = max(one.end - one.start, other.end - other.start)
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared >= _SAME * longest > 0


def _settled(dispute: Dispute, opinion: Opinion, flags: Sequence[str]) -> _Done:
    if not opinion.exists:
        return _Done(None, (*flags, "discussion_dropped"))
    found = dispute.claim(opinion.subtype)
    category = opinion.subtype or found.subtype
    if category != found.subtype:
        flags = (*flags, "subtype_changed")
    if opinion.severity not in {one.span.severity for one in dispute.own}:
        flags = (*flags, "severity_changed")
    span = replace(found.span, severity=opinion.severity, note=opinion.opinion, category=category)
    return _Done(found._replace(span=span), tuple(flags))


def read_opinion(reply: Reply, subject: Subject, subtypes: Sequence[str] = ()) -> Opinion:
    """Read the expert's verdict; of a place it names one of these subtypes, with or without the core type."""
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer("opinion", "exists", *(["subtype"] if subtypes else []), "severity")
    exists = reading.truth(said["exists"], "exists")
    short = {name.partition("/")[2]: name for name in subtypes}
    subtype = reading.label(said["subtype"], subtypes, "subtype", short) if subtypes else None
    severity = reading.label(said["severity"], SEVERITIES, "severity")
    if not exists and severity != "neutral":
        raise AnswerError("ambiguous", f"an error that does not exist is {severity}")
    words = reading.words(said["opinion"], "opinion")
    return Opinion(words, exists, severity, reading.settle(is_clean=not exists), subtype)


def read_response(reply: Reply, subject: Subject) -> Response:
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer("reply", "agrees")
    agrees = reading.truth(said["agrees"], "agrees")
    return Response(reading.words(said["reply"], "reply"), agrees, reading.settle())
