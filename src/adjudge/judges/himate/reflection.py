"""Stage 2, self-reflection: each agent corrects its error, compares, and says whether there was one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

from adjudge.core.ask import About, Answer, Ask, Message, Quoted, Reply, Sampling
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._fields import object_schema
from adjudge.judges._json import read_object
from adjudge.judges._prompts import joined
from adjudge.judges._read import check_characters, shown
from adjudge.judges._samples import TEMPERATURE, readable
from adjudge.judges._subject import judged_texts, language_names, render_texts
from adjudge.judges.himate.agents import Found, Scope, Stage, in_turn

__all__ = ["Reflection"]

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
